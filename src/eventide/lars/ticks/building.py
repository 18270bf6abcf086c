"""The nodes of a plan, made for evaluation by changes. Runs nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from eventide.algebra import nodes as n
from eventide.lars.columnar import Compiled, name_of
from eventide.lars.ticks.relational import Agenda, Counted, Joined, Mapped, Node, Without, picker, places_of
from eventide.lars.ticks.rows import Row, tester, value_function
from eventide.lars.ticks.windows import Aged, Covered, Instants, LastFacts, Recent, Spread, Stamped, Steady
from eventide.lars.values import value_of
from eventide.lars.windows import ARRIVALS
from eventide.syntax.terms import arguments_of


class Builder:
    """Makes nodes, operands before what reads them; equal plans are one node."""

    def __init__(self, compiled: Compiled, agenda: Agenda) -> None:
        self.compiled, self.agenda = compiled, agenda
        self.nodes: list[Node] = []
        self.named: dict[str, Node] = {}
        """What is known under the names of inputs and definitions."""
        self.statics: list[tuple[Node, list[Row]]] = []
        """Rows that always hold, and are told at the first time-point."""
        self._built: dict[int, tuple[n.Node, Node]] = {}

    def add(self, node: Node) -> Node:
        """One more node."""
        node.number = len(self.nodes)
        self.nodes.append(node)
        return node

    def node(self, node: n.Node) -> Node:
        """The node of a plan; equal ones are one."""
        known = self._built.get(id(node))
        if known is None:  # with the plan beside it, so that the id stays its own
            known = self._built[id(node)] = node, self._build(node)
        return known[1]

    def _static(self, rows: list[Row]) -> Node:
        node = self.add(Node([]))
        self.statics.append((node, rows))
        return node

    def _build(self, node: n.Node) -> Node:
        match node:
            case n.Unit():
                return self._static([()])
            case n.Table(name):
                facts = next(f for p, f in self.compiled.background.items() if name_of(p) == name)
                return self._static(list(dict.fromkeys(tuple(map(value_of, arguments_of(fact))) for fact in facts)))
            case n.Events(name) | n.Fluent(name):
                return self.named[name] if name in self.named else self.add(Node([]))
            case n.Always(child) | n.Rename(child):
                return self.node(child)
            case n.Select() | n.Equal() | n.Same() | n.Compute() | n.Attach() | n.Copy():
                return self.add(Mapped(self.node(node.child), _function(node), points=node.sort == "points"))
            case n.Project(child):
                pick = picker(places_of(child.fields, node.columns))
                return self.add(Counted([self.node(child)], [pick], points=node.sort == "points"))
            case n.Union(children):
                picks = [picker(places_of(child.fields, n.names(node.fields))) for child in children]
                return self.add(Counted([self.node(c) for c in children], picks, points=node.sort == "points"))
            case n.Join(left, right):
                return self.add(Joined(self.node(left), self.node(right), node))
            case n.Without(left, right):
                return self.add(Without(self.node(left), self.node(right), node))
            case _:
                return self.add(self._window(node))

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
        return LastFacts(self.node(inner.child), self.named[ARRIVALS], group, inner.size, narrow,
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
