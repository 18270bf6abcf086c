"""Pass: which predicates depend on each other, and which of them on their own negation."""

from __future__ import annotations

from eventide.analysis.graphs import components, is_cycle
from eventide.analysis.lars.model import Component, LarsModel, Way, signature
from eventide.syntax.diagnostics import Span
from eventide.syntax.lars_trees import Predicate


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
        way: Way = "columnar"
        if inside:
            (reader, read), span = inside[0]
            loop = (reader, *_path(read, reader, reads, key, names))
            shown = " → ".join(signature(predicate) for predicate in loop)
            model.report("info", "negative-loop", f"{signature(reader)} depends on its own negation: {shown}", span,
                         "it is evaluated by answer sets and may have any number of answers; --models chooses")
        if inside or any(name in several for member in members for name in reads[member]):
            way = "answer sets"
            several.update(members)
        model.components.append(Component(tuple(names[member] for member in members), way,
                                          is_cycle(members, reads), loop))


def _path(start: Predicate, goal: Predicate, reads: dict[str, dict[str, None]], key: dict[Predicate, str],
          names: dict[str, Predicate]) -> list[Predicate]:
    """The shortest way from one predicate to another along what they read, both included."""
    before: dict[str, str | None] = {key[start]: None}
    queue = [key[start]]
    for name in queue:
        if name == key[goal]:
            break
        for following in reads[name]:
            if following not in before:
                before[following] = name
                queue.append(following)
    path: list[Predicate] = []
    at: str | None = key[goal]
    while at is not None:
        path.append(names[at])
        at = before[at]
    return path[::-1]
