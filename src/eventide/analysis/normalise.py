"""Pass: every rule becomes clauses in normal form; declarations say what the inputs are."""

from __future__ import annotations

from dataclasses import replace

from eventide.analysis.inline import Inliner
from eventide.analysis.knowledge import Knowledge, calls_in, list_name
from eventide.analysis.model import Clause, ClauseKind, Model, are_plain, time_number
from eventide.analysis.patterns import flatten, pair_leaves, substitute, variables_in
from eventide.analysis.relations import choose_relations
from eventide.analysis.types import table_name
from eventide.syntax.sizes import too_long
from eventide.syntax.terms import Atom, Term, Variable, functor_of
from eventide.syntax.trees import (
    BackgroundClause,
    Body,
    Boundary,
    Call,
    Changed,
    ChangeRule,
    Compare,
    Condition,
    Declaration,
    DelayRule,
    EventRule,
    FindAll,
    FluentValue,
    Function,
    Grounding,
    Happens,
    Holds,
    HoldsFor,
    InitialRule,
    IntervalOperation,
    Is,
    Not,
    Postponable,
    Rule,
    StaticRule,
)

_NOTHING = Atom("true")


def normalise(model: Model) -> None:
    """Fill `clauses`, `knowledge`, `dynamic` and the declared part of `inputs`."""
    model.knowledge = Knowledge.of([r for r in model.rules if isinstance(r, BackgroundClause)])
    model.knowledge.functions = model.functions
    model.knowledge.dynamic = {functor_of(rule.subject) for rule in model.rules
                               if isinstance(rule, Declaration) and rule.name == "dynamicDomain"
                               and not isinstance(rule.subject, FluentValue)}
    bodies = [rule.body for rule in model.rules if not isinstance(rule, BackgroundClause | Declaration)]
    choose_relations(model.knowledge, bodies)
    _add_lists(model)
    inliner = Inliner(model.knowledge)
    model.inlined.begin(model.knowledge)
    for rule in model.rules:
        if isinstance(rule, Declaration):
            _declare(model, rule)
        elif not isinstance(rule, BackgroundClause):
            _add(model, inliner, rule)
    _add_relations(model, inliner)
    model.diagnostics.extend(model.knowledge.diagnostics)


def _add_lists(model: Model) -> None:
    """The lists of `member` that are tables."""
    for items in model.knowledge.tabled:
        model.knowledge.facts[list_name(items), 1] = [(item,) for item in items]


def _add_relations(model: Model, inliner: Inliner) -> None:
    """The clauses of the relations that rules ask for, and of those that these ask for."""
    added: set[tuple[str, int]] = set()
    for clause in model.clauses:  # those that are added here come by too
        for predicate in dict.fromkeys(functor_of(call.predicate) for call in calls_in(clause.body)):
            if predicate not in model.knowledge.relations or predicate in added:
                continue
            added.add(predicate)
            for span, head, body in inliner.relation(predicate):
                long = too_long(((_size(each), each.span) for each in body), span)
                if long is not None:
                    model.diagnostics.append(long)
                    break
                number = len(model.clauses)
                model.clauses.append(Clause(number, "background", table_name(predicate), head, body, span=span))


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
        long = too_long(((_size(each), each.span) for each in solved), rule.span)
        if long is not None:
            model.diagnostics.append(long)
            return
        if not are_plain(model, leaves, rule.span):
            continue
        model.clauses.append(_clause(model, kind, template, leaves, solved, third, fourth, rule, first))


def _size(condition: Condition) -> int:
    """As how many conditions one counts: how much deeper it makes the plan of its rule."""
    match condition:
        case HoldsFor():
            return 0  # it only names what operations combine
        case IntervalOperation(inputs=inputs):
            return max(1, len(inputs) * (condition.operation != "union"))
        case Not(goals) | FindAll(_, goals):
            return 1 if _is_test(condition) else sum(map(_size, goals)) + 4 * (len(goals) > 1)
    return 1


def _is_test(condition: Condition) -> bool:
    """Whether a condition compares what is bound, so that it is one test whatever its length."""
    return isinstance(condition, Compare) or (isinstance(condition, Not) and all(map(_is_test, condition.goals)))


def _clause(model: Model, kind: ClauseKind, template: str, leaves: tuple[Term, ...], body: Body, third: Term,
            fourth: Term, rule: Rule, first: int) -> Clause:
    number = len(model.clauses)
    if kind in ("initiated", "terminated", "event"):
        leaves, body = _with_time_as_value(leaves, body, third)
        return Clause(number, kind, template, leaves, body, time=third, span=rule.span,
                      probability=_probability(rule),
                      weight=rule.weight if isinstance(rule, ChangeRule) else None, rule=first)
    if kind == "static":
        return Clause(number, kind, template, leaves, body, interval=third, span=rule.span)
    if kind == "delay":
        return Clause(number, kind, template, leaves, body, delay=third, target=fourth, span=rule.span)
    return Clause(number, kind, template, leaves, body, span=rule.span, probability=_probability(rule))


def _with_time_as_value(leaves: tuple[Term, ...], body: Body, time: Term) -> tuple[tuple[Term, ...], Body]:
    """Where the rule's time is an argument, a value or a term that is compared, a variable that has it as a number."""
    if not isinstance(time, Variable):
        return leaves, body
    number = Variable(time_number(time.name), span=time.span)
    read = substitute(leaves, {time.name: number}), tuple(_without_time(c, time.name, number) for c in body)
    if number.name not in variables_in(read):
        return leaves, body
    return read[0], (*read[1], Is(number, time, body[0].span if body else time.span))


def _without_time(condition: Condition, time: str, number: Variable) -> Condition:
    """A condition with the number where the time is neither the time of the condition nor computed with."""
    match condition:
        case Happens(event):
            return replace(condition, event=substitute(event, {time: number}))
        case Holds(pair) | Boundary(_, pair) | Changed(_, pair):
            return replace(condition, pair=substitute(pair, {time: number}))
        case Compare() if not condition.arithmetic:
            return substitute(condition, {time: number})
        case Call() | Function():
            return substitute(condition, {time: number})
        case Not(goals) | FindAll(_, goals):
            return replace(condition, goals=tuple(_without_time(goal, time, number) for goal in goals))
    return condition


def _probability(rule: Rule) -> float | None:
    return rule.probability if isinstance(rule, ChangeRule | EventRule | InitialRule) else None
