"""Pass: arguments that the rules compute with, and words given to them. The data are checked when they are read."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from eventide.algebra.expressions import CONSTANTS
from eventide.analysis.knowledge import FACTS
from eventide.analysis.model import BUILT_IN_TESTS, Clause, Model
from eventide.analysis.patterns import variables_in
from eventide.analysis.types import Slot, head_slots, slots_of
from eventide.syntax.diagnostics import Span
from eventide.syntax.terms import Atom, Variable, functor_of
from eventide.syntax.trees import Body, Call, Compare, FindAll, Is, Not

_NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?")


def find_clashes(model: Model) -> None:
    """Fill `numeric`, and warn where a rule or a fact gives a word to an argument that must be a number.

    A variable that is also tested otherwise, or that two conditions share, may hold words that never get as far.
    """
    for clause in model.clauses:
        _find_numeric(model, clause)
    relations, known = model.of_kind("background"), -1
    while known < len(model.numeric):  # what is asked of a relation is asked of what it is made of
        known = len(model.numeric)
        for clause in relations:
            _find_numeric(model, clause)
    for clause in model.of_kind("initiated", "initial", "delay", "static", "event"):
        _words_of_rule(model, clause)
    for (name, arity), facts in model.knowledge.facts.items():
        for i in range(arity):
            slot = ("t", f"{name}/{arity}", i)
            word = next((fact[i] for fact in facts if slot in model.numeric and _is_word(fact[i])), None)
            if word is not None:
                shown = f"{name.removesuffix(FACTS)}/{arity}"
                model.report("warning", "type-clash", f"argument {i + 1} of {shown} is used as a number here, "
                             f"but a fact has {_shown(word)}", model.numeric[slot], _hint(word))


def _find_numeric(model: Model, clause: Clause) -> None:
    """Add the arguments of the conditions of a clause that it computes with."""
    needed = dict(_computed(clause.body)) | dict.fromkeys(variables_in(clause.delay), clause.span)
    if clause.kind == "background":
        needed |= {leaf.name: model.numeric[slot] for slot, leaf in head_slots(clause)
                   if isinstance(leaf, Variable) and slot in model.numeric}
    tested = set(_tested(clause.body))
    slots = [pair for condition in clause.body for pair in slots_of(condition)]
    shared = Counter(leaf.name for _, leaf in slots if isinstance(leaf, Variable))
    for slot, leaf in slots:
        if isinstance(leaf, Variable) and leaf.name in needed and leaf.name not in tested and \
                shared[leaf.name] == 1:
            model.numeric.setdefault(slot, needed[leaf.name])


def numbers_among_words(model: Model) -> set[Slot]:
    """The arguments that some rule computes with or asks whether they are numbers, though they may be words too."""
    found = set()
    for clause in model.clauses:
        names = dict(_computed(clause.body)).keys() | set(_kinds(clause.body)) | set(variables_in(clause.delay))
        slots = (pair for condition in clause.body for pair in slots_of(condition))
        found |= {slot for slot, leaf in slots if isinstance(leaf, Variable) and leaf.name in names}
    return found


def _words_of_rule(model: Model, clause: Clause) -> None:
    for slot, leaf in head_slots(clause):
        if slot in model.numeric and _is_word(leaf):
            what = "value" if slot[0] == "f" and slot[2] == len(clause.leaves) - 1 else f"argument {slot[2] + 1}"
            model.report("warning", "type-clash", f"the {what} of {clause.template} is used as a number here, but a "
                         f"rule gives it {_shown(leaf)}", model.numeric[slot], _hint(leaf))


def _shown(word: object) -> str:
    return f"'{word}' in quotes" if is_number(str(word)) else str(word)


def _hint(word: object) -> str:
    if is_number(str(word)):
        return f"write {word} without quotes"
    return f"the comparison fails for {word}; test it before with number(X), or X \\= {word}"


def is_number(name: str) -> bool:
    """Whether a word is a number in quotes.

    >>> is_number("5"), is_number("-2.5"), is_number("a5")
    (True, True, False)
    """
    return _NUMBER.fullmatch(name) is not None


def _is_word(term: object) -> bool:
    return isinstance(term, Atom) and term.name not in CONSTANTS


def _computed(body: Body) -> Iterator[tuple[str, Span | None]]:
    """The variables of arithmetic, and where they are used."""
    for condition in body:
        if isinstance(condition, Compare) and condition.arithmetic:
            yield from ((name, condition.span) for name in variables_in((condition.left, condition.right)))
        elif isinstance(condition, Is):
            yield from ((name, condition.span) for name in variables_in(condition.expression))
        elif isinstance(condition, Not | FindAll):
            yield from _computed(condition.goals)


def _kinds(body: Body) -> Iterator[str]:
    """The variables that are asked whether they are numbers."""
    for condition in body:
        if isinstance(condition, Call) and functor_of(condition.predicate) in BUILT_IN_TESTS:
            yield from variables_in(condition.predicate)
        elif isinstance(condition, Not | FindAll):
            yield from _kinds(condition.goals)


def _tested(body: Body) -> Iterator[str]:
    """The variables of tests that tell words from numbers."""
    for condition in body:
        if isinstance(condition, Compare) and not condition.arithmetic:
            yield from variables_in((condition.left, condition.right))
        elif isinstance(condition, Call) and functor_of(condition.predicate) in BUILT_IN_TESTS:
            yield from variables_in(condition.predicate)
        elif isinstance(condition, Not | FindAll):
            yield from _tested(condition.goals)
