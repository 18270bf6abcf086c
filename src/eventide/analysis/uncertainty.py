"""What probabilistic recognition cannot do yet, and what it alone can do, as diagnostics at the rules."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from eventide.analysis.entities import references
from eventide.analysis.model import Clause, Model, part_name
from eventide.syntax.diagnostics import Diagnostic, Span
from eventide.syntax.terms import Number
from eventide.syntax.trees import Allen, Body, FindAll, Guard, Holds, IntervalOperation, Length, Not

_HINT = "ask for fluents that do without it (eventide run: --fluents), or leave out the probabilities"
_DURATIONS = "conditions on durations"
_WITHOUT = "leave the condition out, ask for intervals (--threshold), and choose the long ones from the result"


def without_probabilities(model: Model, needed: Collection[str]) -> list[Diagnostic]:
    """The rules of the definitions that are needed, as far as they have no meaning over uncertain facts yet."""
    found = [Diagnostic("error", "not-probabilistic", f"{what} have no probabilities yet", span,
                        _WITHOUT if what == _DURATIONS else _HINT)
             for clause in model.clauses if _definition(clause) in needed for what, span in _refused(clause)]
    for cycle in (cycle for cycle in model.cycles if not set(cycle).isdisjoint(needed)):
        clauses = [c for c in model.of_kind("initiated", "terminated", "static", "event") if c.template in cycle]
        reading = [c for c in clauses if any(template in cycle for _, template, _ in references(c.body))]
        place = next((c.span for c in [*reading, *clauses]), None)
        what = f"{cycle[0]} depends on itself" if len(cycle) == 1 else f"{', '.join(cycle)} depend on each other"
        found.append(Diagnostic("error", "uncertain-cycle", f"{what}: cycles have no probabilities yet", place, _HINT))
    return list(dict.fromkeys(found))


def _definition(clause: Clause) -> str:
    """The name of the definition that a clause is part of."""
    return part_name(clause.template, clause.leaves) if clause.kind in ("static", "runs") else clause.template


def uncertain_rules(model: Model) -> list[Diagnostic]:
    """The rules with a probability, which count for nothing but probabilistic recognition."""
    return [Diagnostic("error", "uncertain-rule", "this rule has a probability", clause.span,
                       "run it with --probabilistic (probabilistic=True), or take the probability away")
            for clause in model.clauses if clause.probability is not None]


def _refused(clause: Clause) -> Iterator[tuple[str, Span | None]]:
    if clause.kind in ("delay", "postponable"):
        yield "delayed effects (fi/3, p/1)", clause.span
    if clause.weight is not None:
        yield "rules with a weight", clause.span
    yield from _conditions(clause.body, clause.span)


def _conditions(body: Body, otherwise: Span | None) -> Iterator[tuple[str, Span | None]]:
    for condition in body:
        span = condition.span or otherwise
        match condition:
            case Allen():
                yield "Allen relations", span
            case Guard():
                yield "tests whether a list of intervals is empty", span
            case FindAll() | Length():
                yield "findall and length", span
            case IntervalOperation("longer" | "shorter"):
                yield _DURATIONS, span
            case Holds(time=Number()):
                yield "conditions about a fixed time-point", span
            case Not(goals):
                yield from _conditions(goals, span)
