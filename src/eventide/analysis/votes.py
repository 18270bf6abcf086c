"""Rules with weights: their votes decide the changes of a fluent. Not for rules with a probability."""

from __future__ import annotations

from collections.abc import Sequence

from eventide.algebra import nodes as n
from eventide.analysis.model import Clause, Model
from eventide.syntax.terms import Variable


def is_weighted(model: Model, template: str) -> bool:
    """Whether a rule of the fluent has a weight."""
    return any(clause.weight is not None for clause in model.about(template))


def is_objection(clause: Clause) -> bool:
    """Whether a rule votes against every change of its kind: it has no conditions, and its weight is not positive.

    Such a rule says what the others need: it counts where one of them applies.
    """
    names = [leaf for leaf in clause.arguments if isinstance(leaf, Variable)]
    return (clause.weight is not None and clause.weight <= 0 and not clause.body
            and len(set(names)) == len(clause.arguments))


def voted(model: Model, value: n.Field, changes: Sequence[n.Change],
          numbers: Sequence[int]) -> tuple[list[n.Change], list[int]]:
    """The changes of a fluent whose rules have weights: one for each kind and value, where the votes are for it.

    `changes` are those of single clauses with these `numbers`; each result has the number of its first clause. An
    initiation is stronger than a termination of the same value at the same point, as the equations of
    `learning.inference` have it. If a rule computes its value, all points have the value as a column.
    """
    clauses = {clause.number: clause for clause in model.clauses}
    known = [(clauses[number], change) for number, change in zip(numbers, changes, strict=True)]
    for clause, change in known:
        if change.every:
            model.report("error", "weight-without-value", "a fluent whose rules have weights cannot be terminated "
                         "whatever its value", clause.span, "write a rule for each value")
    known = [(clause, change) for clause, change in known if not change.every]
    template = next((clause.template for clause, _ in known), None)
    against = [clause for clause in model.about(template) if is_objection(clause)]
    if any(change.value is None for _, change in known):
        known = [(clause, with_value(change, value)) for clause, change in known]
        for clause in against:
            model.report("error", "weight-here", "a rule without conditions has no vote where another one computes its "
                         "value", clause.span, "write constants for values")
    found: list[tuple[int, n.Change]] = []
    for each in dict.fromkeys(change.value for _, change in known):
        begins = [(clause, change) for clause, change in known if (change.value, change.kind) == (each, "initiated")]
        ends = [(clause, change) for clause, change in known if (change.value, change.kind) == (each, "terminated")]
        needs = {kind: [clause for clause in against if (clause.value, clause.kind) == (each, kind)]
                 for kind in ("initiated", "terminated")}
        begun = _vote(begins, needs["initiated"]) if begins else None
        if begun is not None:
            found.append((begins[0][0].number, n.Change("initiated", begun, each)))
        if ends:
            ended = _vote(ends, needs["terminated"])
            points = ended if begun is None else n.Without(ended, begun)
            found.append((ends[0][0].number, n.Change("terminated", points, each)))
    return [change for _, change in found], [number for number, _ in found]


def with_value(change: n.Change, value: n.Field) -> n.Change:
    """The change with its value as the last column of its points."""
    return change if change.value is None else n.Change(change.kind, n.Attach(change.points, value, change.value), None)


def _vote(rules: Sequence[tuple[Clause, n.Change]], against: Sequence[Clause]) -> n.Node:
    """Where rules vote for a change. Clauses of one rule are alternatives, and have one vote."""
    points: dict[int, list[n.Node]] = {}
    weights: dict[int, float | None] = {}
    for clause, change in rules:
        points.setdefault(clause.rule, []).append(change.points)
        weights[clause.rule] = clause.weight
    options = tuple(nodes[0] if len(nodes) == 1 else n.Union(tuple(nodes)) for nodes in points.values())
    if any(weight is not None for weight in weights.values()):
        everywhere = tuple((sum(rule < clause.rule for rule in points), clause.weight or 0.0) for clause in against)
        return n.Vote(options, tuple(weights.values()), everywhere)
    return options[0] if len(options) == 1 else n.Union(options)
