"""The dependency graph of a program as data, DOT and JSON: what each result is computed from, by level."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass

from eventide.analysis.model import Clause, Model, may_match, part_name
from eventide.analysis.patterns import fill, flatten, leaf_count, name_of, pair_leaves
from eventide.syntax.terms import Term
from eventide.syntax.trees import Body, Boundary, Changed, FindAll, Happens, Holds, HoldsFor, Not

COLOURS = {"input event": "#e8f1fb", "input fluent": "#dff3f0", "simple fluent": "#fff6dd",
           "statically determined fluent": "#f3e9fb", "event": "#fdeae3", "facts of the program": "#dff3f0",
           "conclusion": "#fff6dd", "conclusion by answer sets": "#f3e9fb", "contradiction": "#fdeae3"}


@dataclass(frozen=True)
class Box:
    """An input or a result. Inputs have level 0; boxes that depend on one another have the number of their cycle."""

    name: str
    label: str
    kind: str
    level: int
    cycle: int | None = None
    weights: dict[str, list[float | None]] | None = None
    """The weights of its rules by the change they vote for, if they have some; None for a rule that decides alone."""


@dataclass(frozen=True)
class Graph:
    """Boxes, and arrows (as pairs of names) from what is read to what is computed from it."""

    boxes: tuple[Box, ...]
    arrows: tuple[tuple[str, str], ...]

    def inside_cycle(self, arrow: tuple[str, str]) -> bool:
        """Whether an arrow is part of a cycle."""
        cycles = {box.name: box.cycle for box in self.boxes}
        return cycles[arrow[0]] is not None and cycles[arrow[0]] == cycles[arrow[1]]


def dependency_graph(model: Model) -> Graph:
    """The graph of an analysed program.

    >>> import eventide as ev
    >>> graph = dependency_graph(ev.parse("initiatedAt(rich(X)=true, T) :- happensAt(win(X), T).").model)
    >>> graph.arrows
    (('win(_)', 'rich(_)'),)
    """
    results = {output.definition: output for output in model.outputs}
    cycles = {name: number for number, cycle in enumerate(model.cycles, 1) for name in cycle}
    boxes: dict[str, Box] = {}
    for template, kind in model.inputs.items():
        slot = "e" if kind == "event" else "f"
        label = signature(template, domains(model, slot, template))
        boxes[template] = Box(template, label, "input event" if slot == "e" else "input fluent", 0)
    parts = [output.template for output in results.values()]
    for name, output in results.items():
        slot = "e" if output.kind == "event" else "f"
        label = signature(output.template, domains(model, slot, output.template))
        if output.value is not None and parts.count(output.template) > 1:
            label += f"={output.value}"
        shown = "event" if slot == "e" else "simple fluent" if name == output.template else \
            "statically determined fluent"
        weights = weights_of(model, output.template) if shown == "simple fluent" else {}
        if weights:
            label += f" · vote of {sum(map(len, weights.values()))}"
        boxes[name] = Box(name, label, shown, model.levels.get(name, 1), cycles.get(name), weights or None)
    arrows: dict[tuple[str, str], None] = {}
    for clause in model.of_kind("initiated", "terminated", "static", "runs", "event", "initial", "delay"):
        target = _defined_by(clause)
        for template, leaves in _read(clause.body):
            for source in _sources(model, template, leaves, boxes):
                if target in boxes:
                    arrows[source, target] = None
    return Graph(tuple(sorted(boxes.values(), key=lambda box: (box.level, box.label))), tuple(sorted(arrows)))


def weights_of(model: Model, template: str) -> dict[str, list[float | None]]:
    """The weights of a fluent's rules by the change they vote for; nothing if no rule has one.

    >>> import eventide as ev
    >>> weights_of(ev.parse("weight(2)::initiatedAt(rich(X)=true, T) :- happensAt(win(X), T).").model, "rich(_)")
    {'initiated': [2.0]}
    """
    rules = {clause.rule: clause for clause in model.of_kind("initiated", "terminated") if clause.template == template}
    found: dict[str, list[float | None]] = {}
    for clause in rules.values():
        found.setdefault(clause.kind, []).append(clause.weight)
    return found if any(clause.weight is not None for clause in rules.values()) else {}


def _defined_by(clause: Clause) -> str:
    if clause.kind in ("static", "runs"):
        return part_name(clause.template, clause.leaves)
    return clause.template


def _read(body: Body) -> Iterator[tuple[str, tuple[Term, ...]]]:
    """The events and fluents that conditions ask for: templates and leaves, of fluents the value last."""
    for condition in body:
        match condition:
            case Happens(event):
                yield flatten(event)
            case Holds(pair) | Boundary(_, pair) | Changed(_, pair) | HoldsFor(pair):
                yield pair_leaves(pair)
            case Not(goals) | FindAll(_, goals):
                yield from _read(goals)


def _sources(model: Model, template: str, leaves: tuple[Term, ...], boxes: dict[str, Box]) -> list[str]:
    """The boxes that a condition reads: the event or fluent itself, and the parts of the fluent it may mean."""
    parts = [name for name, heads in model.parts.get(template, {}).items() if may_match(heads, leaves)]
    return [name for name in (template, *parts) if name in boxes]


def domains(model: Model, kind: str, template: str) -> list[str]:
    """The domain of each argument of an event (`e`) or fluent (`f`)."""
    return [model.types.get((kind, template, i), "unused") for i in range(leaf_count(template))]


def signature(template: str, keys: list[str]) -> str:
    """A template with the domains of its arguments.

    >>> signature("withinArea(_,_)", ["vessel", "area"])
    'withinArea(vessel, area)'
    """
    arguments = fill(template, ["_" if key == "unused" else key for key in keys])
    return f"{name_of(template)}({', '.join(arguments)})" if arguments else name_of(template)


def to_json(graph: Graph) -> str:
    """The graph as JSON: `boxes` with their levels and cycles, and `arrows`."""
    arrows = [{"from": a, "to": b, "cycle": graph.inside_cycle((a, b))} for a, b in graph.arrows]
    boxes = [{name: value for name, value in asdict(box).items() if name != "weights" or value is not None}
             for box in graph.boxes]
    return json.dumps({"boxes": boxes, "arrows": arrows}, indent=1) + "\n"


def to_dot(graph: Graph) -> str:
    """The graph in the language of Graphviz, inputs at the bottom."""
    lines = ["digraph eventide {", "  rankdir=BT;", '  node [shape=box, style="rounded,filled", fontname="monospace"];']
    for level in sorted({box.level for box in graph.boxes}):
        lines.append("  { rank=same;")
        for box in graph.boxes:
            if box.level == level:
                mark = ', color="#c0392b", penwidth=2' if box.cycle is not None else ""
                lines.append(f'    {_quoted(box.name)} [label={_quoted(box.label)}, fillcolor="{COLOURS[box.kind]}"'
                             f"{mark}];")
        lines.append("  }")
    for source, target in graph.arrows:
        mark = ' [color="#c0392b", constraint=false]' if graph.inside_cycle((source, target)) else ""
        lines.append(f"  {_quoted(source)} -> {_quoted(target)}{mark};")
    return "\n".join([*lines, "}", ""])


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
