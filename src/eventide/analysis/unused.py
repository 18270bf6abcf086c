"""Pass: rules and results that can never come to anything; they are reported, not removed."""

from __future__ import annotations

import difflib

from eventide.algebra.nodes import Inertia
from eventide.analysis.compiler import EVERY
from eventide.analysis.entities import references
from eventide.analysis.model import Model
from eventide.analysis.patterns import name_of, pair_leaves
from eventide.syntax.terms import Variable
from eventide.syntax.trees import BackgroundClause, Boundary, Condition, Declaration, Holds, HoldsFor, Not, Rule


def find_unused(model: Model) -> None:
    """Warn about fluents that nothing initiates, and about conditions on values that no rule gives."""
    values = values_of(model)
    begun = {clause.template for clause in model.of_kind("initiated", "initial")}
    for stratum in model.plan.strata:
        for definition in stratum.definitions:
            body, template = definition.body, definition.name.removeprefix(EVERY)
            if isinstance(body, Inertia) and not body.initial and template not in begun:
                clause = model.about(template)[0]
                other = next((t for t in begun if name_of(t) == name_of(template)), None)
                near = difflib.get_close_matches(name_of(template), sorted({name_of(t) for t in begun}), 1, 0.8)
                model.report("warning", "never-initiated", f"nothing initiates {template}, so it never holds",
                             clause.span, f"{other} is initiated: check the number of arguments and their nesting"
                             if other is not None else f"did you mean {near[0]}?" if near else
                             "add an initiatedAt rule")
    _terminations(model, values)
    _delays(model, values)
    _repetitions(model)
    for clause in model.clauses:
        _values(model, clause.body, values)
        for kind, template, span in references(clause.body):
            if kind == "f" and template not in values and template not in model.inputs:
                model.report("warning", "never-initiated", f"nothing initiates {template}", span,
                             "add an initiatedAt rule")


def values_of(model: Model) -> dict[str, set[str] | None]:
    """The values that rules give each fluent; None if facts tell them."""
    values: dict[str, set[str] | None] = {}
    for clause in model.of_kind("initiated", "initial", "delay", "static", "runs"):
        head = clause.value if clause.target is None else clause.target
        known = values.setdefault(clause.template, set())
        if known is None or isinstance(head, Variable):
            values[clause.template] = None
        else:
            known.add(str(head))
    return values


def _terminations(model: Model, values: dict[str, set[str] | None]) -> None:
    """Terminations of values that no rule gives."""
    for clause in model.of_kind("terminated"):
        known = values.get(clause.template)
        if known and not isinstance(clause.value, Variable) and str(clause.value) not in known and \
                not model.about(clause.template, "grounding"):
            model.report("warning", "unknown-value", f"no rule gives {clause.template} the value {clause.value}, so "
                         "there is nothing to terminate", clause.span, f"its values are {', '.join(sorted(known))}")


def _delays(model: Model, values: dict[str, set[str] | None]) -> None:
    """Delays from values that no rule gives, and postponements of values that have no delay."""
    sources = {(clause.template, str(clause.value)) for clause in model.of_kind("delay")}
    for clause in model.of_kind("delay"):
        known = values.get(clause.template)
        if known is not None and str(clause.value) not in known:
            model.report("warning", "unknown-value", f"no rule gives {clause.template} the value {clause.value}",
                         clause.span, f"its values are {', '.join(sorted(known))}")
    for clause in model.of_kind("postponable"):
        if not isinstance(clause.value, Variable) and (clause.template, str(clause.value)) not in sources:
            model.report("warning", "postpones-nothing", f"{clause.template}={clause.value} has no delay to postpone",
                         clause.span, "add fi(F=V, F=W, Delay), or remove this line")


def _repetitions(model: Model) -> None:
    """Rules that stand twice in the program, events and fluents defined in two ways."""
    seen: dict[Rule, Rule] = {}
    for rule in model.rules:
        if isinstance(rule, BackgroundClause | Declaration):
            continue
        first = seen.setdefault(rule, rule)
        if first is not rule and first.span is not None:
            model.report("warning", "duplicate-rule", f"this rule stands in {first.span} already", rule.span,
                         "remove one of them")


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
