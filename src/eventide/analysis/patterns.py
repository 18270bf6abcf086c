"""Names and patterns of terms: templates of nested arguments, substitution, unification, fresh variables."""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from operator import attrgetter, is_
from typing import Any, TypeVar, get_args

from eventide.syntax.remembering import Remembered
from eventide.syntax.terms import Atom, Compound, ListTerm, Number, Term, Variable
from eventide.syntax.trees import Condition, FluentValue

Tree = TypeVar("Tree")
Substitution = Mapping[str, Term]
_fresh = itertools.count(1)
_LEAF = re.compile(r"(?<![^(,])_(?![^),])")


_PLAIN = re.compile(r"(str|bool|int|float|Span|None|Literal\[[^\]]*\])( \| (int|float|None))*")
"""The types, as they are written, of fields without variables inside."""


@functools.cache
def _fields(kind: type) -> tuple[tuple[int, str], ...]:
    """The numbers and names of the fields of a tree's class that may have variables inside."""
    if kind in (Atom, Number) or not is_dataclass(kind):
        return ()
    return tuple((at, f.name) for at, f in enumerate(fields(kind)) if not _PLAIN.fullmatch(str(f.type)))


@functools.cache
def _all_fields(kind: type) -> Callable[[Any], tuple[Any, ...]]:
    """What gives the values of all fields of a tree, in the order in which its class takes them."""
    return attrgetter(*(f.name for f in fields(kind)))


def flatten(term: Term) -> tuple[str, tuple[Term, ...]]:
    """The template of a term and its leaves: `per(ask(C, M), x)` is `per(ask(_,_),_)` with leaves C, M, x.

    Fluents and events are known by their template, so that nested arguments become plain columns.
    """
    return _flattened(term) if isinstance(term, Compound) else (str(term), ())


def _flat(term: Compound) -> tuple[str, tuple[Term, ...]]:
    parts = [_inner(argument) for argument in term.args]
    return f"{term.functor}({','.join(p for p, _ in parts)})", tuple(leaf for _, ls in parts for leaf in ls)


_flattened = Remembered(_flat)


def _inner(term: Term) -> tuple[str, tuple[Term, ...]]:
    return _flat(term) if isinstance(term, Compound) else ("_", (term,))


def name_of(template: str) -> str:
    """The functor of a template."""
    return template.partition("(")[0]


def leaf_count(template: str) -> int:
    """How many leaves a template has."""
    _, _, inner = template.partition("(")
    return len(_LEAF.findall(inner[:-1])) if inner else 0


def fill(template: str, leaves: Sequence[str]) -> list[str]:
    """The outer arguments of a template as text, with its leaves filled in.

    >>> fill("per(ask(_,_),_)", ["4", "5", "x"])
    ['ask(4,5)', 'x']
    """
    _, _, inner = template.partition("(")
    if not inner:
        return []
    supply = iter(leaves)
    return [_LEAF.sub(lambda _: next(supply), piece) for piece in _outer(inner[:-1])]


def _outer(inner: str) -> list[str]:
    """An argument list split at its outer commas."""
    pieces, depth, begin = [], 0, 0
    for i, c in enumerate(inner):
        depth += (c == "(") - (c == ")")
        if c == "," and depth == 0:
            pieces.append(inner[begin:i])
            begin = i + 1
    return [*pieces, inner[begin:]]


def substitute(tree: Tree, bindings: Substitution) -> Tree:
    """A copy of a term, condition or tuple of them with variables replaced, also those in what replaces them."""
    return _mapped(tree, functools.partial(_replaced, bindings)) if bindings else tree  # type: ignore[no-any-return]


def _replaced(bindings: Substitution, variable: Variable) -> Term:
    found = bindings.get(variable.name)
    if found is None or found == variable:
        return variable
    return _mapped(found, functools.partial(_replaced, bindings))  # type: ignore[no-any-return]


def rename(tree: Tree, names: Mapping[str, Variable]) -> Tree:
    """The tree with variables renamed, all at once (a new name may equal another old one)."""
    return _mapped(tree, lambda variable: names.get(variable.name, variable))  # type: ignore[no-any-return]


def _mapped(tree: Any, function: Callable[[Variable], Term]) -> Any:
    """A copy of a tree with the function applied to each of its variables; parts that stay the same are not copied."""
    kind: Any = type(tree)
    if kind is Variable:
        found = function(tree)
        return tree if found == tree else found
    if kind is tuple:
        items = [_mapped(item, function) for item in tree]
        return tree if all(map(is_, items, tree)) else tuple(items)
    changed: list[Any] | None = None
    for at, name in _fields(kind):
        old = getattr(tree, name)
        new = _mapped(old, function)
        if new is not old:
            changed = changed or list(_all_fields(kind)(tree))
            changed[at] = new
    return kind(*changed) if changed else tree


def variables_in(tree: Any) -> list[str]:
    """The names of the variables of any tree, in order, with repetition."""
    found: list[str] = []
    _gather(tree, found)
    return found


def _gather(tree: Any, found: list[str]) -> None:
    kind: Any = type(tree)
    if kind is Variable:
        found.append(tree.name)
    elif kind is tuple:
        for item in tree:
            if type(item) is Variable:
                found.append(item.name)
            else:
                _gather(item, found)
    elif kind in _CONDITIONS:
        found += _variables_inside(tree)
    else:
        for _, name in _fields(kind):
            _gather(getattr(tree, name), found)


def _inside(tree: Any) -> list[str]:
    found: list[str] = []
    kind: Any = type(tree)
    for _, name in _fields(kind):
        _gather(getattr(tree, name), found)
    return found


_CONDITIONS = frozenset(get_args(Condition))
_variables_inside = Remembered(_inside)


def fresh(tree: Tree) -> Tree:
    """The tree with all variables renamed to names that occur nowhere else."""
    number = next(_fresh)
    bindings = {name: Variable(f"{name}#{number}") for name in dict.fromkeys(variables_in(tree))}
    return substitute(tree, bindings)


def unify(left: Term, right: Term, bindings: dict[str, Term]) -> bool:
    """Make two terms equal by binding variables; False if they cannot be."""
    left, right = _walk(left, bindings), _walk(right, bindings)
    if isinstance(left, Variable):
        if left != right:
            bindings[left.name] = right
        return True
    if isinstance(right, Variable):
        bindings[right.name] = left
        return True
    if isinstance(left, Compound) and isinstance(right, Compound):
        return (left.functor == right.functor and len(left.args) == len(right.args)
                and all(unify(a, b, bindings) for a, b in zip(left.args, right.args, strict=True)))
    if isinstance(left, ListTerm) and isinstance(right, ListTerm):
        return left == right
    return left == right


def _walk(term: Term, bindings: Mapping[str, Term]) -> Term:
    while isinstance(term, Variable) and term.name in bindings:
        term = bindings[term.name]
    return term


def pair_leaves(pair: FluentValue) -> tuple[str, tuple[Term, ...]]:
    """The template of a fluent, and its leaves followed by the value."""
    template, leaves = flatten(pair.fluent)
    return template, (*leaves, pair.value)
