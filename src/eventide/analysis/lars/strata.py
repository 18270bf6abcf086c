"""Pass: which predicates depend on each other, and which of them on their own negation."""

from __future__ import annotations

from eventide.analysis.graphs import components, is_cycle, way
from eventide.analysis.lars.model import Component, LarsModel, Way
from eventide.syntax.diagnostics import Span
from eventide.syntax.lars_trees import Predicate
from eventide.syntax.terms import template_of


def find_components(model: LarsModel) -> None:
    """Put the derived predicates into components, lower ones first, and say how each is evaluated."""
    names = {f"{name}/{arity}": (name, arity) for name, arity in model.derived}
    key = {predicate: name for name, predicate in names.items()}
    reads: dict[str, dict[str, None]] = {name: {} for name in names}
    negated: dict[tuple[Predicate, Predicate], Span | None] = {}
    for rule in model.tree.rules:
        if rule.head is None:
            continue
        for literal in rule.literals:
            if literal.predicate in key:
                reads[key[rule.head.predicate]][key[literal.predicate]] = None
                if literal.negated:
                    negated.setdefault((rule.head.predicate, literal.predicate), literal.span)
    several: set[str] = set()
    for members in components(reads):
        inside = [(pair, span) for pair, span in negated.items() if key[pair[0]] in members and key[pair[1]] in members]
        loop: tuple[Predicate, ...] = ()
        evaluation: Way = "columnar"
        if inside:
            (reader, read), span = inside[0]
            loop = (reader, *(names[name] for name in way(reads, key[read], key[reader])))
            shown = " → ".join(template_of(*predicate) for predicate in loop)
            model.report("info", "negative-loop", f"{template_of(*reader)} depends on its own negation: {shown}", span,
                         "it is evaluated by answer sets and may have any number of answers; --models chooses")
        if inside or any(name in several for member in members for name in reads[member]):
            evaluation = "answer sets"
            several.update(members)
        model.components.append(Component(tuple(names[member] for member in members), evaluation,
                                          is_cycle(members, reads), loop))
