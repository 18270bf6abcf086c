"""Pass: what is input and what is derived. A name that nothing defines and that looks like a known one is an error."""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from eventide.analysis.graphs import components, is_cycle
from eventide.analysis.model import Clause, Model
from eventide.analysis.patterns import flatten, name_of, pair_leaves
from eventide.syntax.diagnostics import Span
from eventide.syntax.terms import Atom, Compound, Variable
from eventide.syntax.trees import (
    Boundary,
    Changed,
    Condition,
    Declaration,
    FindAll,
    Happens,
    Holds,
    HoldsFor,
    Not,
)


def references(body: tuple[Condition, ...]) -> Iterator[tuple[str, str, Span | None]]:
    """The events (`e`) and fluents (`f`) a body mentions: kind, template, place."""
    for condition in body:
        match condition:
            case Happens(event):
                yield "e", flatten(event)[0], condition.span
            case Holds(pair) | Boundary(_, pair) | Changed(_, pair) | HoldsFor(pair):
                yield "f", pair_leaves(pair)[0], condition.span
            case Not(goals) | FindAll(_, goals):
                yield from references(goals)


def find_entities(model: Model) -> None:
    """Complete `inputs`: events and fluents that only occur in bodies, declarations and groundings."""
    heads = {c.template: c for c in model.of_kind("initiated", "terminated", "initial", "delay", "static", "runs")}
    events = {c.template: c for c in model.of_kind("event")}
    derived = set(events)
    declared = set(model.inputs)
    for template in heads.keys() & derived:
        model.report("error", "event-and-fluent", f"{template} is defined as an event and as a fluent",
                     events[template].span, "give one of them another name")
    for clause in model.of_kind("event_grounding"):
        if clause.template in heads:
            model.report("warning", "missing-value", f"{clause.template} is a fluent: this is about an event of that "
                         "name", clause.span, f"write the fluent with its value, as in {clause.template}=true")
        if clause.template not in derived and clause.template not in model.inputs:
            model.inputs[clause.template] = "event"
    for clause in model.clauses:
        for kind, template, span in references(clause.body):
            if kind == "e" and template not in derived:
                _input_event(model, template, span, heads)
            elif kind == "f" and (template in derived or model.inputs.get(template) == "event"):
                if template not in heads:
                    model.report("error", "event-as-fluent", f"{template} is an event, but used as a fluent", span,
                                 f"ask for it with happensAt({template}, T)")
            elif kind == "f" and template not in heads and template not in model.inputs:
                _input_fluent(model, template, span, heads, declared)
    for clause in model.of_kind("grounding"):
        if clause.template not in heads and clause.template not in model.inputs:
            model.inputs[clause.template] = "interval"
    for template, kind in list(model.inputs.items()):
        if template in heads and kind != "event":
            _both(model, template, heads[template])
    _two_ways(model)
    _several_sizes(model)
    _undeclared(model)


def _two_ways(model: Model) -> None:
    """A value of a fluent is given by changes or by intervals, not by both."""
    simple = {(c.template, str(c.value)) for c in model.of_kind("initiated", "initial")}
    for clause in model.of_kind("static", "runs"):
        shared = [value for template, value in sorted(simple)
                  if template == clause.template and (isinstance(clause.value, Variable) or value == str(clause.value))]
        if shared:
            model.report("error", "duplicate-definition", f"{clause.template}={shared[0]} is defined by holdsFor "
                         "and by initiatedAt", clause.span,
                         "give one of the two another name, and unite them by union_all")


def _several_sizes(model: Model) -> None:
    """Input events of one name that differ in their number of arguments are different events."""
    names: dict[str, list[str]] = {}
    for template, kind in model.inputs.items():
        if kind == "event":
            names.setdefault(name_of(template), []).append(template)
    for clause in model.clauses:
        for reference, template, span in references(clause.body):
            same = names.get(name_of(template), []) if reference == "e" else []
            if len(same) > 1 and template != same[0]:
                model.report("warning", "several-arities", f"{template} and {same[0]} are different events", span,
                             "use the same number of arguments where the same event is meant")


def _undeclared(model: Model) -> None:
    """An event that no inputEntity names, and nearly one that is named but that no rule reads, is a slip."""
    subjects = [rule.subject for rule in model.rules if isinstance(rule, Declaration) and rule.name == "inputEntity"]
    named = {flatten(subject)[0] for subject in subjects if isinstance(subject, Atom | Compound)}
    used = [each for clause in model.clauses for each in references(clause.body) if each[0] == "e"] if named else []
    unread = named - {template for _, template, _ in used}
    for _, template, span in used if unread else ():
        if template not in named and model.inputs.get(template) == "event":
            names = {name_of(each): each for each in sorted(unread)}
            near = difflib.get_close_matches(name_of(template), names, 1, 0.8)
            if near:
                model.report("warning", "similar-name", f"no inputEntity declares {template}", span,
                             f"did you mean {names[near[0]]}, which is declared and in no rule?")


def find_components(model: Model) -> None:
    """Fill `component`: for every derived entity, the number of the cycle it is in (0: in none)."""
    reads: dict[str, set[str]] = {}
    for clause in model.clauses:
        if clause.kind not in ("grounding", "event_grounding"):
            reads.setdefault(clause.template, set()).update(template for _, template, _ in references(clause.body))
    for number, members in enumerate(components(reads), 1):
        model.component.update(dict.fromkeys(members, number if is_cycle(members, reads) else 0))


def _input_event(model: Model, template: str, span: Span | None, heads: dict[str, Clause]) -> None:
    if model.inputs.get(template, "event") != "event":
        model.report("error", "fluent-as-event", f"{template} is a fluent, but used as an event", span,
                     "use holdsAt(F=V, T), or happensAt(start(F=V), T)")
        return
    if template in heads:
        model.report("error", "fluent-as-event", f"{template} is a fluent, but used as an event", span,
                     f"write happensAt(start({template}=…), T), or holdsAt({template}=…, T)")
        return
    model.inputs.setdefault(template, "event")


def _input_fluent(model: Model, template: str, span: Span | None, heads: dict[str, Clause], declared: set[str]) -> None:
    known = {t: None for t in (*heads, *declared)}
    name = name_of(template)
    same = [t for t in known if name_of(t) == name]
    if same:
        model.report("error", "wrong-arity", f"no fluent {template}; {', '.join(same)} exists", span,
                     "check the number of arguments and their nesting")
        return
    close = difflib.get_close_matches(name, {name_of(t) for t in known}, 1, 0.75)
    if close:
        model.report("error", "unknown-fluent", f"no rule and no declaration defines the fluent {template}", span,
                     f"did you mean {close[0]}? (an input fluent needs collectIntervals({template}=…))")
        return
    model.report("warning", "undeclared-input", f"{template} has no rule: it is taken as an input fluent", span,
                 f"declare collectIntervals({template}=…) or buildFromPoints({template}=…)")
    model.inputs[template] = "interval"


def _both(model: Model, template: str, clause: Clause) -> None:
    model.report("error", "input-with-rules", f"{template} is declared as input and has rules too", clause.span,
                 "rename one of them")
