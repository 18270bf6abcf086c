"""A whole plan at one time-point after the other: builds its nodes, hands them facts, and tells what comes and goes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from eventide.lars.columnar import Compiled, name_of
from eventide.lars.ticks.building import Builder
from eventide.lars.ticks.cycles import Cycle, Found, Inner, can_go_on
from eventide.lars.ticks.relational import NOTHING, Agenda, Node
from eventide.lars.ticks.rows import Row
from eventide.lars.windows import ARRIVALS
from eventide.syntax.lars_trees import Predicate

Key = Predicate | str
"""A derived predicate, or the name of a contradiction."""
Event = tuple[Literal[1, -1], Key, Row]


def by_changes(compiled: Compiled) -> bool:
    """Whether a program can be evaluated by what changes: cycles of rules must be about now, and compute nothing."""
    return all(can_go_on(stratum) for stratum in compiled.plan.strata if stratum.cyclic)


class Machine(Builder):
    """A compiled program at a time-point; the first one to come is 0."""

    def __init__(self, compiled: Compiled) -> None:
        super().__init__(compiled, Agenda())
        self._arrived = 0
        self._touched: list[Node] = []
        self.inputs = {name_of(p): p for p, parts in compiled.parts.items() if any(
            part.kind == "points" and part.name == name_of(p) for part in parts)}
        for name in (*self.inputs, ARRIVALS):
            self.named[name] = self.add(Node([]))
        for stratum in compiled.plan.strata:
            if stratum.cyclic:
                cycle = Cycle(Inner(self, stratum))
                self.add(cycle)
                for definition in stratum.definitions:
                    self.named[definition.name] = self.add(Found(cycle, definition.name))
            else:
                for definition in stratum.definitions:
                    self.named[definition.name] = self.node(definition.body)
        self.told: list[tuple[Key, Node]] = []
        for predicate in compiled.derived:
            view = compiled.now(predicate)
            if view is not None:
                self.told.append((predicate, self.node(view)))
        self.told += [(name, self.named[name]) for name in compiled.contradictions if name in self.named]

    # -- running ------------------------------------------------------------------------------------------------------

    def due(self) -> int | None:
        """The next time-point at which something changes though no fact comes."""
        return 0 if self.statics else self.agenda.next()

    def step(self, t: int, facts: Iterable[tuple[Predicate, Row]]) -> list[Event]:
        """What comes and goes at a time-point, which must be later than the last one and not after the next due."""
        for node in self._touched:
            node.points, node.delta, node.touched = [], NOTHING, False
        self._touched = []
        for node, rows in self.statics:
            self._tell(node, [], rows)
        self.statics = []
        self._hand_in(facts)
        due = self.agenda.pop(t)
        for node in self.nodes:
            if node.operands and (node.number in due or any(operand.touched for operand in node.operands)):
                node.step(t)
                if node.has_news():
                    node.touched = True
                    self._touched.append(node)
        events: list[Event] = []
        for key, node in self.told:
            if node.touched:
                events += [(-1, key, row) for row in node.delta[1]]
                events += [(1, key, row) for row in node.delta[0]]
        return events

    def _hand_in(self, facts: Iterable[tuple[Predicate, Row]]) -> None:
        arrived: dict[str, list[Row]] = {}
        count = 0
        for predicate, row in facts:
            name = name_of(predicate)
            if name in self.inputs:
                place = (self._arrived + count,) if predicate in self.compiled.ranked else ()
                arrived.setdefault(name, []).append(row + place)
            count += 1
        self._arrived += count
        for name, rows in arrived.items():
            self._tell(self.named[name], rows, [])
        if count and self.compiled.counts_tuples:
            self._tell(self.named[ARRIVALS], [()] * count, [])

    def _tell(self, node: Node, points: list[Row], rows: list[Row]) -> None:
        node.points, node.delta, node.touched = points, (rows, []), True
        self._touched.append(node)
