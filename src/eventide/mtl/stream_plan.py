"""A plan for streams: metric operators read named results, so that it is known what to hold of each, and how long.

This is the normal form of the paper on stream reasoning in DatalogMTL (Proposition 6), on plans instead of rules:
whatever stands under an operator and is not a predicate becomes a definition of its own.

A `since` without end would look back for ever. It is made to look at itself instead: `A since[0,inf) B` is the least N
with N = `A since[0,inf) (B or (A and N))`, of which only the present state is needed; with a lower bound l it is
`[]-(0,l) A` and `<>-[l,l] (B or (A and N))`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

from eventide.algebra import nodes as n
from eventide.algebra.sharing import Sharing

ROW_BY_ROW = (n.Equal, n.Same, n.Select, n.Compute, n.Attach, n.Copy, n.Rename, n.Project)
Part = Literal["#", "^"]


def part_of(name: str, part: Part) -> str:
    """The name of a part of what is held of a predicate: `#` often enough within a time, `^` when it first held."""
    return f"{part} {name}"


@dataclass
class Look:
    """How a predicate is looked at, in cells; -1 where it is not."""

    exact: int = -1
    """How far back by `[]-` and `since`, and by `<>-` where there are no #-facts."""
    least: int = 0
    """The shortest range of a `[]-` that looks; 0 where every moment counts."""
    sometime: int = -1
    """How far back by `<>-`, where there are #-facts."""
    gap: int | None = None
    """The shortest range of such a `<>-`: holes that are shorter than it are never seen."""
    ever: int = -1
    """From how far back on it is asked for at any time in the past."""

    def back(self, cells: int, least: int) -> None:
        """Note that all intervals not shorter than `least` are looked at."""
        self.least = least if self.exact < 0 else min(self.least, least)
        self.exact = max(self.exact, cells)

    def back_sometime(self, cells: int, length: int) -> None:
        """Note that a `<>-` with a range of this length looks."""
        self.gap = length if self.gap is None else min(self.gap, length)
        self.sometime = max(self.sometime, cells)


@dataclass(frozen=True)
class StreamPlan:
    """A plan in which operators read named results, and how each of these is looked at."""

    plan: n.Plan
    looks: dict[str, Look]
    hashed: bool

    @property
    def reach(self) -> int:
        """How many cells back anything is looked at."""
        return max((max(look.exact, look.sometime, look.ever) for look in self.looks.values()), default=0)


def stream_plan(plan: n.Plan, *, hashed: bool) -> StreamPlan:
    """The plan for streams; with `hashed`, what `<>-` sees is read from #-facts where it is past."""
    return _Normal(plan, hashed).result()


@dataclass
class _Normal:
    source: n.Plan
    hashed: bool
    looks: dict[str, Look] = field(default_factory=dict)
    known: dict[n.Node, n.Node] = field(default_factory=dict)
    states: dict[n.Since, n.Fluent] = field(default_factory=dict)
    named: int = 0
    fresh: list[n.Definition] = field(default_factory=list)

    def result(self) -> StreamPlan:
        strata: list[n.Stratum] = []
        for stratum in self.source.strata:
            self.fresh = []
            definitions = [n.Definition(d.name, self.written(d.body)) for d in stratum.definitions]
            # unions, so that a cycle is seen to grow only
            fresh = [n.Definition(d.name, n.Union((d.body,))) for d in self.fresh]
            strata += _arranged([*fresh, *definitions], stratum)
        return StreamPlan(Sharing().plan(n.Plan(tuple(strata))), self.looks, self.hashed)

    def written(self, node: n.Node) -> n.Node:
        """The node with operators over names only."""
        match node:
            case n.Shifted():
                return self._metric(node)
            case n.Since(high=None):
                return self._endless(node)
            case n.Since():
                left, right = self._named(node.left), self._keyed(node.right)
                assert node.high is not None
                self._look_back(node.high, left, right)
                return replace(node, left=left, right=right)
            case n.Join() | n.Without():
                return replace(node, left=self.written(node.left), right=self.written(node.right))
            case n.Union():
                return replace(node, children=tuple(self.written(child) for child in node.children))
        if isinstance(node, (*ROW_BY_ROW, n.Always)):
            return replace(node, child=self.written(node.child))
        assert not any(n.children_of(node)), f"{type(node).__name__} is not an operator of DatalogMTL"
        return node

    def _metric(self, node: n.Shifted) -> n.Node:
        child = self._named(node.child)
        look = self._looked(child)
        if node.kind == "dilate" and node.high is None:
            look.ever = max(look.ever, node.low)
            return self._also(node, child, "^")
        far = node.low if node.high is None else node.high
        if node.kind == "dilate" and self.hashed:
            look.back_sometime(far, far - node.low)
            return self._also(node, child, "#")
        look.back(far, far - node.low if node.kind == "erode" else 0)
        return replace(node, child=child)

    def _also(self, node: n.Shifted, child: n.Node, part: Part) -> n.Node:
        """`<>-` over what is new, and over what is held in another form: it distributes over union."""
        return n.Union((replace(node, child=child), replace(node, child=_renamed(child, part))))

    def _endless(self, node: n.Since) -> n.Node:
        left, right = self._named(node.left), self._keyed(node.right)
        inner = n.Since(left, right, 0, None, node.low_open)
        state = self.states.get(inner) or n.Fluent(self._new_name(), right.fields, valued=False)
        begun = n.Union((right, n.Join(state, left)))
        if inner not in self.states:
            self.states[inner] = state
            self.fresh.append(n.Definition(state.name, replace(inner, right=begun)))
            self._look_back(1, left, begun)  # the cell before the present one: the state that is carried on
        if node.low == 0:
            return state
        self._look_back(node.low, left, begun)
        moved = n.Shifted(state if node.low_open else begun, "dilate", node.low, node.low, dense=True)
        held = n.Shifted(left, "erode", 0, node.low, low_open=True, high_open=not node.low_open, dense=True)
        return n.Join(moved, held)

    def _keyed(self, node: n.Node) -> n.Node:
        """The right side of a `since`; where the left side binds variables of its own, its keys are joined."""
        if isinstance(node, n.Join) and isinstance(node.right, n.Keys):
            return n.Join(self._named(node.left), n.Keys(self._named(node.right.child)))
        return self._named(node)

    def _look_back(self, cells: int, *operands: n.Node) -> None:
        """Every moment of the operands counts, so many cells back."""
        for name in {name for operand in operands for name in n.references_of(operand)}:
            self.looks.setdefault(name, Look()).back(cells, 0)

    def _named(self, node: n.Node) -> n.Node:
        """The node itself if it is a predicate, row by row; otherwise a name for it."""
        if _leaf(node) is not None:
            return node
        if node not in self.known:
            body = self.written(node)
            if _leaf(body) is None:
                name = self._new_name()
                self.fresh.append(n.Definition(name, body))
                body = n.Fluent(name, node.fields, valued=False)
            self.known[node] = body
        return self.known[node]

    def _new_name(self) -> str:
        self.named += 1
        return f"part {self.named}"

    def _looked(self, node: n.Node) -> Look:
        leaf = _leaf(node)
        assert leaf is not None
        return self.looks.setdefault(leaf.name, Look())


def _leaf(node: n.Node) -> n.Fluent | None:
    while isinstance(node, ROW_BY_ROW):
        node = node.child
    return node if isinstance(node, n.Fluent) else None


def _renamed(node: n.Node, part: Part) -> n.Node:
    """The same rows of another part of the predicate."""
    if isinstance(node, n.Fluent):
        return replace(node, name=part_of(node.name, part))
    assert isinstance(node, ROW_BY_ROW)
    return replace(node, child=_renamed(node.child, part))


def _arranged(definitions: list[n.Definition], stratum: n.Stratum) -> list[n.Stratum]:
    """The definitions in an order in which all is known before it is read; those of a cycle together."""
    reads = {d.name: set(n.references_of(d.body)) for d in definitions}
    bodies = {d.name: d for d in definitions}
    below: dict[str, set[str]] = {}
    for name in reads:
        found: set[str] = set()
        todo = [name]
        while todo:
            new = reads[todo.pop()] & bodies.keys() - found
            found |= new
            todo += new
        below[name] = found
    result: list[n.Stratum] = []
    placed: set[str] = set()
    for name in sorted(bodies, key=lambda each: len(below[each] - _together(each, below))):
        if name in placed:
            continue
        members = _together(name, below)
        placed |= members
        chosen = tuple(d for d in definitions if d.name in members)
        result.append(n.Stratum(stratum.level, chosen, name in below[name]))
    return result


def _together(name: str, below: dict[str, set[str]]) -> set[str]:
    """The definitions that depend on one another with this one, itself included."""
    return {name} | {other for other in below[name] if name in below[other]}
