"""The dependency graph of a LARS program: inputs and facts at the bottom, what follows from them by level."""

from __future__ import annotations

from eventide.analysis.lars.model import LarsModel
from eventide.report.graph import Box, Graph
from eventide.syntax.lars_trees import Predicate, Rule
from eventide.syntax.terms import template_of


def lars_graph(model: LarsModel) -> Graph:
    """The graph of an analysed program; what is evaluated by answer sets has a kind of its own.

    >>> import eventide as ev
    >>> program = ev.parse("high at T :- alpha(V) at T [2], V > 17. lfu :- high always [2].", language="lars")
    >>> [(box.name, box.level) for box in lars_graph(program.model).boxes]
    [('alpha(_)', 0), ('high', 1), ('lfu', 2)]
    """
    boxes: dict[Predicate, Box] = {}
    for predicate in model.inputs:
        boxes[predicate] = Box(template_of(*predicate), template_of(*predicate), "input event", 0)
    for predicate in model.background:
        boxes[predicate] = Box(template_of(*predicate), template_of(*predicate), "facts of the program", 0)
    for number, component in enumerate(model.components, 1):
        below = [boxes[literal.predicate].level for rule in model.rules_of(component) for literal in rule.literals
                 if literal.predicate in boxes]
        kind = "conclusion" if component.way == "columnar" else "conclusion by answer sets"
        for predicate in component.predicates:
            boxes[predicate] = Box(template_of(*predicate), template_of(*predicate), kind, 1 + max(below, default=0),
                                   number if component.recursive else None)
    arrows = {(boxes[literal.predicate].name, boxes[rule.head.predicate].name): None
              for rule in model.tree.rules if rule.head is not None for literal in rule.literals}
    contradictions = [_contradiction(rule, number, boxes) for number, rule in enumerate(
        (rule for rule in model.tree.rules if rule.head is None), 1)]
    arrows |= {(boxes[literal.predicate].name, box.name): None for box, rule in contradictions
               for literal in rule.literals}
    found = [*boxes.values(), *(box for box, _ in contradictions)]
    return Graph(tuple(sorted(found, key=lambda box: (box.level, box.label))), tuple(sorted(arrows)))


def _contradiction(rule: Rule, number: int, boxes: dict[Predicate, Box]) -> tuple[Box, Rule]:
    level = 1 + max((boxes[literal.predicate].level for literal in rule.literals), default=0)
    return Box(f"contradiction {number}", f"contradiction {number}", "contradiction", level), rule
