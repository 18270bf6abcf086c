"""A whole plan at one time-point after the other: builds its nodes, hands them facts, and tells what comes and goes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Literal

from eventide.algebra import nodes as n
from eventide.lars.columnar import Compiled, name_of
from eventide.lars.ticks.relational import NOTHING, Agenda, Counted, Joined, Mapped, Node, Without, picker, places_of
from eventide.lars.ticks.rows import Row, tester, value_function
from eventide.lars.ticks.windows import Aged, Covered, Instants, LastFacts, Recent, Spread, Stamped, Steady
from eventide.lars.values import value_of
from eventide.lars.windows import ARRIVALS
from eventide.syntax.lars_trees import Predicate
from eventide.syntax.terms import arguments_of

Key = Predicate | str
"""A derived predicate, or the name of a contradiction."""
Event = tuple[Literal[1, -1], Key, Row]


class Machine:
    """A compiled program without cycles, at a time-point; the first one to come is 0."""

    def __init__(self, compiled: Compiled) -> None:
        self.compiled = compiled
        self.agenda = Agenda()
        self.nodes: list[Node] = []
        self._built: dict[int, Node] = {}
        self._named: dict[str, Node] = {}
        self._statics: list[tuple[Node, list[Row]]] = []
        self._arrived = 0
        self._touched: list[Node] = []
        self.inputs = {name_of(p): p for p, parts in compiled.parts.items() if any(
            part.kind == "points" and part.name == name_of(p) for part in parts)}
        for name in (*self.inputs, ARRIVALS):
            self._named[name] = self._add(Node([]))
        for stratum in compiled.plan.strata:
            assert not stratum.cyclic, "cycles are not evaluated by changes"
            for definition in stratum.definitions:
                self._named[definition.name] = self.node(definition.body)
        self.told: list[tuple[Key, Node]] = []
        for predicate in compiled.derived:
            view = compiled.now(predicate)
            if view is not None:
                self.told.append((predicate, self.node(view)))
        self.told += [(name, self._named[name]) for name in compiled.contradictions if name in self._named]

    # -- running ------------------------------------------------------------------------------------------------------

    def due(self) -> int | None:
        """The next time-point at which something changes though no fact comes."""
        return 0 if self._statics else self.agenda.next()

    def step(self, t: int, facts: Iterable[tuple[Predicate, Row]]) -> list[Event]:
        """What comes and goes at a time-point, which must be later than the last one and not after the next due."""
        for node in self._touched:
            node.points, node.delta, node.touched = [], NOTHING, False
        self._touched = []
        for node, rows in self._statics:
            self._tell(node, [], rows)
        self._statics = []
        self._hand_in(facts)
        due = self.agenda.pop(t)
        for node in self.nodes:
            if node.operands and (node.number in due or any(operand.touched for operand in node.operands)):
                node.step(t)
                if node.points or node.delta[0] or node.delta[1]:
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
            self._tell(self._named[name], rows, [])
        if count and self.compiled.counts_tuples:
            self._tell(self._named[ARRIVALS], [()] * count, [])

    def _tell(self, node: Node, points: list[Row], rows: list[Row]) -> None:
        node.points, node.delta, node.touched = points, (rows, []), True
        self._touched.append(node)

    # -- building -----------------------------------------------------------------------------------------------------

    def _add(self, node: Node) -> Node:
        node.number = len(self.nodes)
        self.nodes.append(node)
        return node

    def node(self, node: n.Node) -> Node:
        """The node of a plan; equal ones are one."""
        known = self._built.get(id(node))
        if known is None:
            known = self._built[id(node)] = self._build(node)
        return known

    def _static(self, rows: list[Row]) -> Node:
        node = self._add(Node([]))
        self._statics.append((node, rows))
        return node

    def _build(self, node: n.Node) -> Node:
        match node:
            case n.Unit():
                return self._static([()])
            case n.Table(name):
                facts = next(f for p, f in self.compiled.background.items() if name_of(p) == name)
                return self._static(list(dict.fromkeys(tuple(map(value_of, arguments_of(fact))) for fact in facts)))
            case n.Events(name) | n.Fluent(name):
                return self._named[name] if name in self._named else self._add(Node([]))
            case n.Always(child) | n.Rename(child):
                return self.node(child)
            case n.Select() | n.Equal() | n.Same() | n.Compute() | n.Attach() | n.Copy():
                return self._add(Mapped(self.node(node.child), _function(node), points=node.sort == "points"))
            case n.Project(child):
                pick = picker(places_of(child.fields, node.columns))
                return self._add(Counted([self.node(child)], [pick], points=node.sort == "points"))
            case n.Union(children):
                picks = [picker(places_of(child.fields, n.names(node.fields))) for child in children]
                return self._add(Counted([self.node(c) for c in children], picks, points=node.sort == "points"))
            case n.Join(left, right):
                return self._add(Joined(self.node(left), self.node(right), node))
            case n.Without(left, right):
                return self._add(Without(self.node(left), self.node(right), node))
            case _:
                return self._add(self._window(node))

    def _window(self, node: n.Node) -> Node:
        match node:
            case n.Spread(until=str()):
                return self._last_facts(node)
            case n.Spread(child, size, stamp):
                return Spread(self.node(child), size, stamp is not None, self.agenda)
            case n.Steady(child, size):
                return Steady(self.node(child), size, self.agenda)
            case n.Instants(child):
                return Instants(self.node(child), self.agenda)
            case n.Aged(child, stamp, size):
                return Aged(self.node(child), places_of(child.fields, [stamp])[0], size, self.agenda)
            case n.Stamped(child, _, expression):
                return Stamped(self.node(child), value_function(expression, _columns(child.fields)), self.agenda)
            case n.Recent(child, arrivals):
                return Recent(self.node(child), self.node(arrivals), node)
            case n.Covered(child, arrivals=arrivals):
                return Covered(self.node(child), None if arrivals is None else self.node(arrivals), node, self.agenda)
        raise TypeError(f"{type(node).__name__} is not evaluated by changes")

    def _last_facts(self, node: n.Spread) -> Node:
        """Facts by rank: what the plan does between counting and keeping them becomes one function."""
        steps: list[Callable[[Row, int], Row | None]] = []
        kept = [name for name in n.names(node.child.fields) if name != node.until]
        pick = picker(places_of(node.child.fields, kept))
        inner = node.child
        while not isinstance(inner, n.Departures):
            steps.append(_function(inner))
            inner = inner.child  # type: ignore[union-attr]
        steps.reverse()

        def narrow(fact: Row, t: int) -> Row | None:
            row: Row | None = (*fact, 0)  # in place of the time at which it leaves
            for step in steps:
                row = step(row, t)  # type: ignore[arg-type]
                if row is None:
                    return None
            return pick(row)  # type: ignore[arg-type]

        group = None if inner.by is None else picker(places_of(inner.child.fields, inner.by))
        return LastFacts(self.node(inner.child), self._named[ARRIVALS], group, inner.size, narrow,
                         node.stamp is not None)


def _columns(fields: n.Fields) -> Mapping[str, int]:
    return {field.name: place for place, field in enumerate(fields)}


def _function(node: n.Node) -> Callable[[Row, int], Row | None]:
    """What a node does to one row; None: it is dropped."""
    match node:
        case n.Select(child, expression):
            passes = tester(expression, _columns(child.fields))
            return lambda row, t: row if passes(row, t) else None
        case n.Equal(child, column, term):
            place, value = places_of(child.fields, [column])[0], value_of(term)
            return lambda row, t: row if row[place] == value else None
        case n.Same(child, left, right):
            one, other = places_of(child.fields, [left, right])
            return lambda row, t: row if row[one] == row[other] else None
        case n.Compute(child, _, expression):
            compute = value_function(expression, _columns(child.fields))
            return lambda row, t: None if (found := compute(row, t)) is None else (*row, found)
        case n.Attach(_, _, term):
            attached = (value_of(term),)
            return lambda row, t: row + attached
        case n.Copy(child, _, column):
            copied = places_of(child.fields, [column])[0]
            return lambda row, t: (*row, row[copied])
        case n.Project(child, columns):
            pick = picker(places_of(child.fields, columns))
            return lambda row, t: pick(row)
    raise TypeError(f"{type(node).__name__} does not change rows one by one")
