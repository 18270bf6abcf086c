"""Pass: rules and results that can never come to anything; they are reported, not removed."""

from __future__ import annotations

from eventide.algebra.nodes import Inertia
from eventide.analysis.entities import references
from eventide.analysis.model import Model
from eventide.analysis.patterns import pair_leaves
from eventide.syntax.terms import Variable
from eventide.syntax.trees import Boundary, Condition, Holds, HoldsFor, Not


def find_unused(model: Model) -> None:
    """Warn about fluents that nothing initiates, and about conditions on values that no rule gives."""
    values: dict[str, set[str] | None] = {}
    for clause in model.of_kind("initiated", "initial", "delay", "static", "runs"):
        heads = [clause.value] + ([clause.target] if clause.target is not None else [])
        known = values.setdefault(clause.template, set())
        if known is None or any(isinstance(head, Variable) for head in heads):
            values[clause.template] = None
        else:
            known.update(str(head) for head in heads)
    for stratum in model.plan.strata:
        for definition in stratum.definitions:
            body = definition.body
            if isinstance(body, Inertia) and not body.initial and all(c.kind == "terminated" for c in body.changes):
                clause = next(c for c in model.clauses if c.template == definition.name)
                model.report("warning", "never-initiated", f"nothing initiates {definition.name}, so it never holds",
                             clause.span, "add an initiatedAt rule")
    for clause in model.clauses:
        _values(model, clause.body, values)
        for kind, template, span in references(clause.body):
            if kind == "f" and template not in values and template not in model.inputs:
                model.report("warning", "never-initiated", f"nothing initiates {template}", span,
                             "add an initiatedAt rule")


def _values(model: Model, body: tuple[Condition, ...], values: dict[str, set[str] | None]) -> None:
    for condition in body:
        if isinstance(condition, Not):
            _values(model, condition.goals, values)
        elif isinstance(condition, Holds | HoldsFor | Boundary):
            template, leaves = pair_leaves(condition.pair)
            known = values.get(template)
            value = leaves[-1]
            if known and not isinstance(value, Variable) and str(value) not in known:
                model.report("warning", "unknown-value", f"no rule gives {template} the value {value}", condition.span,
                             f"its values are {', '.join(sorted(known))}")
