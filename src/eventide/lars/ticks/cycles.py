"""Rules that read each other at one time-point: their least fixpoint, kept from one time-point to the next.

As long as rows only come, the cycle goes on from what it has (semi-naive evaluation). Where a row goes that it read, or
one comes whose absence it read, it is found anew: what supports itself must not stay.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from eventide.algebra import nodes as n
from eventide.lars.ticks.building import Builder
from eventide.lars.ticks.relational import NOTHING, Delta, Node
from eventide.lars.ticks.rows import Row

if TYPE_CHECKING:
    from eventide.lars.ticks.machine import Machine

_ABOUT_NOW = (n.Fluent, n.Select, n.Equal, n.Same, n.Attach, n.Copy, n.Rename, n.Project, n.Join, n.Without, n.Union)


class Dependence:
    """Which nodes of a stratum read what it defines."""

    def __init__(self, stratum: n.Stratum) -> None:
        self.names = {definition.name for definition in stratum.definitions}
        self._known: dict[int, bool] = {}

    def __call__(self, node: n.Node) -> bool:
        known = self._known.get(id(node))
        if known is None:
            known = self._known[id(node)] = (isinstance(node, n.Fluent) and node.name in self.names) or any(
                self(child) for child in n.children_of(node))
        return known


def can_go_on(stratum: n.Stratum) -> bool:
    """Whether all that depends on the cycle itself is about now, and has no values that are computed without end."""
    depends = Dependence(stratum)
    inside = [node for node in n.nodes_in(*(d.body for d in stratum.definitions)) if depends(node)]
    return all(isinstance(node, _ABOUT_NOW) and node.sort == "intervals"
               and not (isinstance(node, n.Without) and depends(node.right)) for node in inside)


class Inner:
    """How the nodes of a cycle are made: `outer` are the nodes that it reads, each of which gets a leaf inside."""

    def __init__(self, machine: Machine, stratum: n.Stratum) -> None:
        self.machine, self.stratum, self.depends = machine, stratum, Dependence(stratum)
        self.outer: list[Node] = []
        self.denied: set[int] = set()
        """The places of those whose absence is read."""
        plans = n.nodes_in(*(d.body for d in stratum.definitions))
        for node in [node for node in plans if self.depends(node)]:
            for child in n.children_of(node):
                if not self.depends(child):
                    place = self._place(machine.node(child))
                    if isinstance(node, n.Without) and child is node.right:
                        self.denied.add(place)
        for definition in stratum.definitions:  # a rule that does not read the cycle
            if not self.depends(definition.body):
                self._place(machine.node(definition.body))

    def _place(self, node: Node) -> int:
        if node not in self.outer:
            self.outer.append(node)
        return self.outer.index(node)

    def made(self) -> Fresh:
        """All nodes anew."""
        return Fresh(self)


class Fresh(Builder):
    """The nodes of a cycle that has not begun; `leaves` stand for what it reads, `loops` for what it defines."""

    def __init__(self, inner: Inner) -> None:
        super().__init__(inner.machine.compiled, inner.machine.agenda)
        self.inner = inner
        self.leaves = [self.add(Node([])) for _ in inner.outer]
        self.loops = {name: self.add(Node([])) for name in sorted(inner.depends.names)}
        self.named.update(self.loops)
        self.bodies = {d.name: self.node(d.body) for d in inner.stratum.definitions}

    def node(self, node: n.Node) -> Node:
        if not self.inner.depends(node):
            return self.leaves[self.inner.outer.index(self.inner.machine.node(node))]
        return super().node(node)

    def grow(self, news: list[list[Row]], rows: dict[str, set[Row]], t: int) -> dict[str, list[Row]]:
        """Go round until nothing comes; adds to the rows of each definition and gives those that came."""
        found: dict[str, list[Row]] = {name: [] for name in rows}
        for leaf, came in zip(self.leaves, news, strict=True):
            leaf.delta, leaf.touched = (came, []), bool(came)
        while any(leaf.touched for leaf in (*self.leaves, *self.loops.values())):
            for node in self.nodes:
                if node.operands and any(operand.touched for operand in node.operands):
                    node.step(t)
                    node.touched = node.has_news()
            round_ = {name: [row for row in body.delta[0] if row not in rows[name]]
                      for name, body in self.bodies.items()}
            for node in self.nodes:
                node.delta, node.touched = NOTHING, False
            for name, came in round_.items():
                rows[name].update(came)
                found[name] += came
                self.loops[name].delta, self.loops[name].touched = (came, []), bool(came)
        return found


class Cycle(Node):
    """The definitions of a cyclic stratum; `found` has what came and went of each."""

    def __init__(self, inner: Inner) -> None:
        super().__init__(inner.outer)
        self.inner = inner
        self.found: dict[str, Delta] = {}
        self._known: list[set[Row]] = [set() for _ in inner.outer]
        self._fresh: Fresh | None = None
        self._rows: dict[str, set[Row]] = {name: set() for name in inner.depends.names}

    def step(self, t: int) -> None:
        for known, node in zip(self._known, self.operands, strict=True):
            known.difference_update(node.delta[1])
            known.update(node.delta[0])
        anew = self._fresh is None or any(node.delta[1] or (place in self.inner.denied and node.delta[0])
                                          for place, node in enumerate(self.operands))
        if self._fresh is not None and not anew:
            grown = self._fresh.grow([node.delta[0] for node in self.operands], self._rows, t)
            self.found = {name: (came, []) for name, came in grown.items()}
            return
        before, self._rows = self._rows, {name: set() for name in self._rows}
        self._fresh = self.inner.made()
        self._fresh.grow([list(known) for known in self._known], self._rows, t)
        self.found = {name: ([row for row in rows if row not in before[name]],
                             [row for row in before[name] if row not in rows]) for name, rows in self._rows.items()}

    def has_news(self) -> bool:
        return any(came or went for came, went in self.found.values())


class Found(Node):
    """One definition of a cycle, for those who read it."""

    def __init__(self, cycle: Cycle, name: str) -> None:
        super().__init__([cycle])
        self.cycle, self.name = cycle, name

    def step(self, t: int) -> None:
        self.delta = self.cycle.found[self.name]
