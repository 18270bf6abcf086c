"""Pass: every rule becomes clauses in normal form; declarations say what the inputs are."""

from __future__ import annotations

from eventide.analysis.inline import Inliner, Knowledge
from eventide.analysis.model import Clause, ClauseKind, Model, are_plain
from eventide.analysis.patterns import flatten, pair_leaves
from eventide.syntax.terms import Atom, Term, Variable, functor_of
from eventide.syntax.trees import (
    BackgroundClause,
    Body,
    ChangeRule,
    Declaration,
    DelayRule,
    EventRule,
    FluentValue,
    Grounding,
    Happens,
    InitialRule,
    Postponable,
    Rule,
    StaticRule,
)

_NOTHING = Atom("true")


def normalise(model: Model) -> None:
    """Fill `clauses`, `knowledge`, `dynamic` and the declared part of `inputs`."""
    model.knowledge = Knowledge.of([r for r in model.rules if isinstance(r, BackgroundClause)])
    model.knowledge.functions = model.functions
    inliner = Inliner(model.knowledge)
    model.inlined.begin(model.knowledge)
    for rule in model.rules:
        if isinstance(rule, Declaration):
            _declare(model, rule)
        elif not isinstance(rule, BackgroundClause):
            _add(model, inliner, rule)
    model.diagnostics.extend(model.knowledge.diagnostics)


def _declare(model: Model, rule: Declaration) -> None:
    if rule.name == "dynamicDomain" and not isinstance(rule.subject, FluentValue):
        model.dynamic.add(functor_of(rule.subject))
        return
    if not isinstance(rule.subject, FluentValue):
        return
    template, leaves = pair_leaves(rule.subject)
    if rule.name == "collectIntervals":
        model.inputs[template] = "interval"
    elif rule.name == "points":
        model.inputs[template] = "point"
    elif rule.name == "buildFromPoints" and rule.rest:
        body = (Happens(rule.rest[0], Variable("T"), rule.span),)
        model.clauses.append(Clause(len(model.clauses), "runs", template, leaves, body, time=Variable("T"),
                                    span=rule.span))
    elif rule.name == "buildFromPoints":
        model.inputs[template] = "point"
        model.types[("build", template, 0)] = "declared"


def _add(model: Model, inliner: Inliner, rule: Rule) -> None:
    kind: ClauseKind
    match rule:
        case ChangeRule(kind, pair, time, body):
            terms: tuple[Term, ...] = (pair.fluent, pair.value, time, _NOTHING)
        case StaticRule(pair, interval, body):
            kind, terms = "static", (pair.fluent, pair.value, interval, _NOTHING)
        case EventRule(event, time, body):
            kind, terms = "event", (event, _NOTHING, time, _NOTHING)
        case InitialRule(pair, body):
            kind, terms = "initial", (pair.fluent, pair.value, _NOTHING, _NOTHING)
        case DelayRule(source, target, delay, body):
            if source.fluent != target.fluent:
                model.report("warning", "delay-changes-fluent",
                             f"fi/3 must lead from one value of a fluent to another; {source.fluent} and "
                             f"{target.fluent} differ, so this one does nothing", rule.span,
                             "use the same fluent with the same arguments on both sides")
                return
            kind, terms = "delay", (source.fluent, source.value, delay, target.value)
        case Postponable(pair, body):
            kind, terms = "postponable", (pair.fluent, pair.value, _NOTHING, _NOTHING)
        case Grounding(FluentValue() as pair, body):
            kind, terms = "grounding", (pair.fluent, pair.value, _NOTHING, _NOTHING)
        case Grounding(subject, body):
            kind, terms = "event_grounding", (subject, _NOTHING, _NOTHING, _NOTHING)  # type: ignore[assignment]
        case _:
            return
    first = len(model.clauses)
    for (fluent, value, third, fourth), solved in model.inlined.alternatives(rule, inliner, terms, body):
        template, leaves = flatten(fluent)
        if kind not in ("event", "event_grounding"):
            leaves = (*leaves, value)
        if not are_plain(model, leaves, rule.span):
            continue
        model.clauses.append(_clause(model, kind, template, leaves, solved, third, fourth, rule, first))


def _clause(model: Model, kind: ClauseKind, template: str, leaves: tuple[Term, ...], body: Body, third: Term,
            fourth: Term, rule: Rule, first: int) -> Clause:
    number = len(model.clauses)
    if kind in ("initiated", "terminated", "event"):
        return Clause(number, kind, template, leaves, body, time=third, span=rule.span,
                      probability=_probability(rule),
                      weight=rule.weight if isinstance(rule, ChangeRule) else None, rule=first)
    if kind == "static":
        return Clause(number, kind, template, leaves, body, interval=third, span=rule.span)
    if kind == "delay":
        return Clause(number, kind, template, leaves, body, delay=third, target=fourth, span=rule.span)
    return Clause(number, kind, template, leaves, body, span=rule.span, probability=_probability(rule))


def _probability(rule: Rule) -> float | None:
    return rule.probability if isinstance(rule, ChangeRule | EventRule | InitialRule) else None
