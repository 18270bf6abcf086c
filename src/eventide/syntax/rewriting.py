"""Variables inside trees: which there are, and new numbers for the anonymous ones after a clause was rewritten."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from typing import Any, TypeVar

from eventide.syntax.diagnostics import Span
from eventide.syntax.terms import Variable

Node = TypeVar("Node")


def variables_in(node: object) -> Iterator[Variable]:
    """The variables of a tree or a tuple of trees in the order they are written, with repetition."""
    return (part for part in parts_in(node) if isinstance(part, Variable))


def parts_in(node: object) -> Iterator[object]:
    """The nodes of a tree or a tuple of trees in the order they are written; what is inside variables is left out."""
    stack = [node]
    while stack:
        part = stack.pop()
        if isinstance(part, tuple):
            stack.extend(reversed(part))
            continue
        kind = type(part)
        names = _PARTS[kind] if kind in _PARTS else _PARTS.setdefault(kind, _parts(kind))
        if names is not None:
            yield part
            stack.extend([getattr(part, name) for name in names])


_PARTS: dict[type, tuple[str, ...] | None] = {}


def _parts(kind: type) -> tuple[str, ...] | None:
    """The fields of a kind of node that may have nodes, from the last to the first; None if it is no node."""
    if not is_dataclass(kind) or kind is Span:
        return None
    inside = () if kind is Variable else tuple(each.name for each in fields(kind) if each.name != "span")
    return inside[::-1]


def renumbered(node: Node) -> Node:
    """The tree with its anonymous variables numbered as they are written, as the reader would number them."""
    found = list(variables_in(node))
    named = {variable.name for variable in found if not variable.anonymous}
    numbers: dict[str, str] = {}
    free = (name for count in range(1, len(found) + len(named) + 1) if (name := f"_{count}") not in named)
    for variable in found:
        if variable.anonymous and variable.name not in numbers:
            numbers[variable.name] = next(free)
    return _renamed(node, lambda name: numbers[name]) if numbers else node


def with_fresh_anonymous(node: Node) -> Node:
    """A copy whose anonymous variables are others than the original's."""
    copy: Node = _renamed(node, lambda name: f"{name}'")
    return copy


def _renamed(node: Any, rename: Callable[[str], str]) -> Any:
    if isinstance(node, Variable):
        return Variable(rename(node.name), True, node.span) if node.anonymous else node
    if isinstance(node, tuple):
        return tuple(_renamed(part, rename) for part in node)
    if is_dataclass(node) and not isinstance(node, type | Span):
        return type(node)(*(_renamed(getattr(node, each.name), rename) for each in fields(node)))
    return node
