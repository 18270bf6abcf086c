"""Why an atom of a LARS program holds at a time: the smallest sets of facts that it follows from.

These are the environments of its node in the network of truth maintenance (J. de Kleer, "An assumption-based TMS",
1986), as `lars.contexts` has them. Nothing is derived here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from eventide.analysis.patterns import unify
from eventide.errors import InputError
from eventide.explanation.proof import AppliedRule, Fact, Kind, Proof, Reason
from eventide.explanation.worlds import cell
from eventide.formats.facts import Facts
from eventide.formats.problems import suggestion
from eventide.lars.contexts import Conflict, Contexts
from eventide.lars.contexts import Reason as Environment
from eventide.lars.grounding import Row
from eventide.lars.maintained import Fact as LarsFact
from eventide.lars.program import LarsProgram
from eventide.lars.streams import LISTED, fact_of, lines_of
from eventide.lars.values import ground_atom, ground_text, python_value, term_of, value_of
from eventide.syntax.lars_trees import Comparison, Head, Rule, argument_text
from eventide.syntax.lars_trees import Element as Part
from eventide.syntax.terms import Term, arguments_of, functor_of


def explain_environments(program: LarsProgram, events: object, atom: str, at: int, **options: Any) -> Proof:
    """The smallest sets of facts from which an atom follows at a time, the shortest first, and what contradicts them.

    >>> import eventide as ev
    >>> program = ev.parse("free :- closed [9]. jam :- slow [9]. :- free, jam.", language="lars")
    >>> print(explain_environments(program, [(1, ["closed"]), (2, ["slow"])], "jam", at=2))
    jam holds at 2 in 1 of 2 contexts
    ├─ environment 1: slow@2
    │  └─ slow at 2
    └─ not all facts can be believed together: closed@1, slow@2 contradict each other (:- free, jam.)
       ├─ closed at 1
       └─ slow at 2
    <BLANKLINE>
    2 facts of the input
    """
    known = fact_of(atom.rstrip().rstrip("."))
    if known is None:
        raise InputError(f"{atom!r} is no atom; write p(a) or p(a,3)")
    name, row = known[0], tuple(map(python_value, known[1]))
    predicates = {*(rule.head.predicate for rule in program.tree.rules if rule.head), *program.model.inputs,
                  *map(functor_of, program.tree.facts)}
    if (name, len(row)) not in predicates:
        names = sorted({other for other, _ in predicates})
        same = [_pattern(*predicate) for predicate in sorted(predicates) if predicate[0] == name]
        hint = f"known is {' and '.join(same)}" if same else suggestion(name, names) or f"known are {', '.join(names)}"
        raise InputError(f"the program knows no {_pattern(name, len(row))}; {hint}")
    read = program.read(events, **options)
    contexts = program.contexts(read, at=at)
    places = _Places(read)
    text = ground_text(name, row)
    found = contexts.why(name, row)
    maximal = contexts.maximal()
    there = sum((name, row, at) in context.certain for context in maximal)
    is_input = any((fact.name, fact.row, fact.time) == (name, row, at) for fact in contexts.session.facts())
    holds = bool(maximal) and (there == len(maximal) or is_input)
    some = 0 < there < len(maximal)
    if maximal and not holds and not some:  # what speaks for it is outweighed in every context
        found = []
    reasons = [_environment(number, one, places) for number, one in enumerate(found, 1)] or \
        _Without(program, contexts, places, at).reasons(name, row)
    if not holds and not some:
        others = {other for context in maximal for predicate, other, time in context.certain
                  if (predicate, time) == (name, at) and other != row and list(map(str, other)) == list(map(str, row))}
        reasons += [Reason("note", f"{ground_text(name, other)} holds: what is in quotes is text, not a number")
                    for other in sorted(others, key=str)]
    conflicts = [] if holds or not found else _conflicts(contexts, found)
    reasons += [_conflict(conflict, places) for conflict in conflicts]
    claim = f"{text} {'holds' if holds or some else 'does not hold'} at {at}"
    first = "the first " if len(maximal) == contexts.limit else ""
    if some or first:
        claim += f" in {there} of {first}{len(maximal)} contexts"
    reason = Reason("holds", claim, tuple(reasons), holds or some, at)
    facts = [fact for one in found for fact in one.facts] + [fact for one in conflicts for fact in one.facts]
    return Proof(text, at, holds or some, reason, tuple(dict.fromkeys(map(places.fact, facts))), run={"end": at})


class _Places:
    """Where the facts of a stream stand."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self._lines: dict[str, dict[int, list[tuple[int, Sequence[str]]]] | None] = {}

    def fact(self, known: LarsFact) -> Fact:
        """A fact with its file and row."""
        table = self.facts.tables.get((known.name, len(known.row)))
        for place in () if table is None else np.flatnonzero(table.time == known.time).tolist():
            assert table is not None
            args = tuple(cell(column, place) for column in table.args)
            if tuple(map(python_value, args)) == known.row:
                source, row = self._place(known, *table.place(place))
                return Fact(known.name, args, time=known.time, source=source, row=row)
        return Fact(known.name, known.row, time=known.time)

    def _place(self, known: LarsFact, source: str, row: int) -> tuple[str, int]:
        """The source and the row of a fact; in a file of time-points the line on which it stands first."""
        if source == LISTED:
            return "", 0
        if source not in self._lines:
            self._lines[source] = lines_of(source)
        lines = self._lines[source]
        if lines is None:
            return source, row
        here = (line for line, texts in lines.get(known.time, ()) for found in map(fact_of, texts)
                if found and (found[0], tuple(map(python_value, found[1]))) == (known.name, known.row))
        return source, next(here, 0)

    def leaf(self, known: LarsFact) -> Reason:
        """A fact as a reason."""
        fact = self.fact(known)
        return Reason("fact", f"{fact} at {fact.time}", time=fact.time, fact=fact)


def _pattern(name: str, arity: int) -> str:
    return f"{name}({','.join('_' * arity)})" if arity else name


def _environment(number: int, found: Environment, places: _Places) -> Reason:
    absent = [Reason("absence", f"{text} does not hold") for text in found.absent]
    return Reason("choice", f"environment {number}: {found}", (*map(places.leaf, found.facts), *absent))


class _Without:
    """Why an atom does not hold: the rules that could conclude it, and the condition of each that fails first."""

    def __init__(self, program: LarsProgram, contexts: Contexts, places: _Places, at: int) -> None:
        self.rules, self.contexts, self.places, self.at = program.tree.rules, contexts, places, at
        self._heads = {rule.head.predicate for rule in self.rules if rule.head is not None}
        self._asked: set[tuple[str, Row]] = set()

    def reasons(self, name: str, row: Row) -> list[Reason]:
        """The rules, those that came nearest first."""
        self._asked.add((name, row))
        found = [reason for number, rule in enumerate(self.rules)
                 if rule.head is not None and (reason := self._rule(number, rule, rule.head, name, row)) is not None]
        found.sort(key=lambda reason: sum(part.holds is not True for part in reason.reasons))
        return found or [Reason("absence", "it is no fact that a window shows, and no rule concludes it", holds=False)]

    def _rule(self, number: int, rule: Rule, head: Head, name: str, row: Row) -> Reason | None:
        """How near a rule came; None if its head is about others."""
        terms, values = arguments_of(head.atom), row
        if head.time is not None:
            terms, values = (*terms, head.time), (*row, self.at)
        bound: dict[str, Term] = {}
        if head.predicate != (name, len(row)) or not all(
                unify(own, term_of(value), bound) for own, value in zip(terms, values, strict=True)):
            return None
        binding, parts = self.contexts.session.grounder.nearest(
            number, {variable: value_of(term) for variable, term in bound.items()})
        conditions: list[Reason] = []
        failed = False
        for part, held in parts:
            fails = not failed and (held is False or self._is_outweighed(part))
            text = f"{part} fails first" if fails else str(part)
            kind: Kind = "test" if isinstance(part, Comparison) else "absence" if part.negated else "holds"
            conditions.append(Reason(kind, text, self._why(part) if fails else (), False if fails else
                                     None if failed else held))
            failed |= fails
        if not failed:
            conditions.append(Reason("note", "these conditions hold, but in no context together", holds=False))
        shown = {variable: argument_text(term_of(value)) for variable, value in binding.items()
                 if variable.isidentifier() and not variable.startswith("_")}
        return Reason("rule", "a rule that could conclude it", tuple(conditions), False,
                      rule=AppliedRule(str(rule), rule.span), bindings=shown)

    def _is_outweighed(self, part: Part) -> bool:
        """Whether something that rules conclude now, as far as facts go, is in no context."""
        if isinstance(part, Comparison) or part.negated or part.modality != "now" or part.predicate not in self._heads:
            return False
        name, row = ground_atom(part.atom)
        return not any((name, row, self.at) in context.certain for context in self.contexts.maximal())

    def _why(self, part: Part) -> tuple[Reason, ...]:
        """Why a part failed, where it is about what rules conclude now."""
        if isinstance(part, Comparison) or part.modality != "now" or any(part.variables()):
            return ()
        name, row = ground_atom(part.atom)
        if part.negated:
            return tuple(_environment(number, one, self.places)
                         for number, one in enumerate(self.contexts.why(name, row), 1))
        if part.predicate not in self._heads or (name, row) in self._asked:
            return ()
        return tuple(self.reasons(name, row))


def _conflicts(contexts: Contexts, found: list[Environment]) -> list[Conflict]:
    """What cannot be believed together: of the facts of the environments, if there is such a conflict."""
    if contexts.is_consistent():
        return []
    own = {fact for one in found for fact in one.facts}
    conflicts = contexts.conflicts()
    return [conflict for conflict in conflicts if own & set(conflict.facts)] or conflicts


def _conflict(conflict: Conflict, places: _Places) -> Reason:
    why = f" contradict each other ({'; '.join(map(str, conflict.violations))})" if conflict.violations else ""
    return Reason("note", f"not all facts can be believed together: {conflict}{why}",
                  tuple(map(places.leaf, conflict.facts)))
