"""Cycles of interval definitions that can only grow: repeated with what is new alone (semi-naive evaluation).

For DatalogMTL this is the materialisation of MeTeoR (Wang, Hu, Wałęga and Cuenca Grau, AAAI 2022).

Every operator in such a cycle is monotone, so new intervals of its operands give new intervals of its result, and
nothing is ever taken back. Dilation, joins and selections of what is new are all that is new of them; erosion and
`Since` look at whole intervals, so those that what is new has enlarged are looked at again.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

import numpy as np

from eventide.algebra import nodes as n
from eventide.engine.relation import Relation, Rows
from eventide.errors import RuleError
from eventide.kernels.arrays import Intervals
from eventide.kernels.intervals import clip, difference, difference_at, union, union_all

if TYPE_CHECKING:
    from eventide.engine.executor import Executor
    from eventide.engine.operators import Result

MOST_ROUNDS = 10_000
"""How often a cycle that computes values may go round; without computed values there are only so many."""
_FEW, _MANY = 8, 4096
"""Intervals that are so many times fewer than many others are looked up among them; else both are walked through."""
_ONE_BY_ONE = (n.Equal, n.Same, n.Select, n.Compute, n.Attach, n.Copy, n.Rename, n.Project, n.Keys, n.Spread,
               n.Instants, n.Aged, n.Stamped, n.Recent)
_MONOTONE = (*_ONE_BY_ONE, n.Fluent, n.Join, n.Without, n.Union, n.Shifted, n.Since, n.Covered)


class CycleShape:
    """What the definitions of a cycle that can only grow say, found once: which parts change, and who reads them."""

    def __init__(self, definitions: tuple[n.Definition, ...]) -> None:
        self.definitions = definitions
        self.bodies = {definition.name: definition.body for definition in definitions}
        self._depends: dict[int, bool] = {}
        self.parts = {name: [part for part in _parts(body) if self.is_dependent(part)]
                      for name, body in self.bodies.items()}
        self.readers = {name: [other for other, parts in self.parts.items() if any(
            name in n.references_of(part) for part in parts)] for name in self.bodies}
        inside = [node for node in n.nodes_in(*self.bodies.values()) if self.is_dependent(node)]
        self.computes = any(isinstance(node, n.Compute) for node in inside)
        self.can_only_grow = all(
            isinstance(body, n.Union) and body.sort == "intervals" for body in self.bodies.values()) and all(
            isinstance(node, _MONOTONE) and not (isinstance(node, n.Without) and self.is_dependent(node.right))
            for node in inside)
        whole = [operand for node in inside for operand in self._read_whole(node)]
        self.sums = {id(node): node for node in whole if self.is_dependent(node) and not isinstance(node, n.Fluent)}
        """Nodes of which everything so far is asked for."""

    def is_dependent(self, node: n.Node) -> bool:
        """Whether a node reads something that the cycle defines."""
        known = self._depends.get(id(node))
        if known is None:
            known = self._depends[id(node)] = (isinstance(node, n.Fluent) and node.name in self.bodies) or any(
                self.is_dependent(child) for child in n.children_of(node))
        return known

    def _read_whole(self, node: n.Node) -> tuple[n.Node, ...]:
        """The operands of a node of which it needs more than what is new."""
        if isinstance(node, n.Join | n.Since):
            both = self.is_dependent(node.left) and self.is_dependent(node.right)
            return (node.left, node.right) if both else (node.left,) if isinstance(node, n.Since) else ()
        erodes = isinstance(node, n.Shifted) and node.kind == "erode"
        return (node.child,) if isinstance(node, n.Covered) or erodes else ()  # type: ignore[union-attr]


def _parts(body: n.Node) -> tuple[n.Node, ...]:
    return body.children if isinstance(body, n.Union) else (body,)


class _Heap:
    """What is known of a definition, as lists of intervals of growing lengths: adding a few to many costs little."""

    def __init__(self, known: Relation) -> None:
        timeline = known.space.timeline
        self._mask, self._shift = np.int64(timeline.mask), timeline.shift
        self._lists = [known.intervals]

    def without_known(self, found: Intervals) -> Intervals:
        """What of some intervals is not known yet."""
        for known in self._lists:
            if max(_MANY, _FEW * len(found)) < len(known):
                found = difference_at(found, found.starts & ~self._mask, known, self._shift, trusted=True)
            else:
                found = difference(found, known, trusted=True)
        return found

    def add(self, new: Intervals) -> None:
        """Take in intervals that are not known yet; lists of about one length become one."""
        while self._lists and len(self._lists[-1]) < 2 * len(new):
            new = union(self._lists.pop(), new, trusted=True)
        self._lists.append(new)

    def whole(self) -> Intervals:
        """Everything that is known, as maximal intervals."""
        if len(self._lists) > 1:
            self._lists = [union_all(self._lists, trusted=True)]
        return self._lists[0]


class GrowingCycle:
    """One cycle on its way to its least fixpoint, over the results that an executor holds."""

    def __init__(self, run: Executor, shape: CycleShape) -> None:
        self._run, self._shape = run, shape
        self._is_dependent = shape.is_dependent
        self._new: dict[str, dict[str, Relation]] = {name: {} for name in shape.bodies}
        """For each definition, what is new of the others since it was last looked at."""
        self._known: dict[str, _Heap] = {}
        self._sum: dict[int, Result] = {}
        self._done: dict[int, Result | None] = {}
        """What is new of the nodes of the definition at hand."""

    def settle(self) -> None:
        """Repeat until nothing is new; RuleError if computed values go on for ever."""
        run, bodies = self._run, self._shape.bodies
        for name, body in bodies.items():
            before = run.results[name] = run.known_before(name) or Relation.nothing(run.space, body.fields)
            self._known[name] = _Heap(before)
        first = {name: run.relation_of(body) for name, body in bodies.items()}
        self._sum = {number: run.evaluate(node) for number, node in self._shape.sums.items()}
        for name in bodies:
            run.forget(name)
        for name, relation in first.items():
            self._add(name, relation.intervals)
        rounds = 0
        while any(self._new.values()):
            rounds += 1
            if rounds > MOST_ROUNDS and self._shape.computes:
                names = sorted(bodies)
                raise RuleError("no-fixpoint", f"the cycle through {', '.join(names)} computes values without end",
                                "bound the values with a comparison", names)
            for name in bodies:
                if self._new[name]:
                    self._advance(name)
        for name in bodies:
            run.results[name] = self._all_of(name)

    def _all_of(self, name: str) -> Relation:
        """Everything that is known of a definition."""
        return Relation(self._run.space, self._shape.bodies[name].fields, self._known[name].whole())

    def _advance(self, name: str) -> None:
        """Look at a definition again, with what is new for it."""
        news, self._new[name] = self._new[name], {}
        self._done = {}
        found: list[Intervals] = []
        for part in self._shape.parts[name]:
            delta = self._delta(part, news)
            if delta is not None:
                assert isinstance(delta, Relation)
                found.append(delta.intervals)
        if found:
            self._add(name, union_all(found, trusted=True))

    def _add(self, name: str, found: Intervals) -> None:
        """Note what of some intervals is new, up to the executor's limit, and tell those who read it."""
        run = self._run
        new = self._known[name].without_known(run.in_stretch(found))
        if run.limit is not None and len(new):
            new = self._cut(name, new, run.limit)
        if not len(new):
            return
        if run.grown is not None:
            run.grown.append((name, new))
        self._known[name].add(new)
        for reader in self._shape.readers[name]:
            known = self._new[reader].get(name)
            merged = new if known is None else union(known.intervals, new, trusted=True)
            self._new[reader][name] = Relation(run.space, self._shape.bodies[name].fields, merged)

    def _cut(self, name: str, new: Intervals, limit: int) -> Intervals:
        """What of new intervals begins before the limit; finite ends beyond it are cut there."""
        mask = np.int64(self._run.space.timeline.mask)
        ends = new.ends & mask
        over = (ends > limit) & ((ends < mask) | (new.starts & mask >= limit))
        if not over.any():
            return new
        self._run.cut.add(name)
        kept = clip(Intervals(new.starts[over], new.ends[over]), 0, limit, self._run.space.timeline.shift, trusted=True)
        return union(Intervals(new.starts[~over], new.ends[~over]), kept, trusted=True)

    # -- what is new of a node --------------------------------------------------------------------------------

    def _whole(self, node: n.Node) -> Result:
        """Everything that is known of a node."""
        if not self._is_dependent(node):
            return self._run.evaluate(node)
        if isinstance(node, n.Fluent):
            return self._all_of(node.name).rename(node.fields)
        return self._sum[id(node)]

    def _delta(self, node: n.Node, news: dict[str, Relation]) -> Result | None:
        """What is new of a node, and perhaps something known; None if nothing is."""
        if not self._is_dependent(node):
            return None
        if id(node) in self._done:
            return self._done[id(node)]
        found = self._found(node, news)
        if found is not None and not (len(found) if isinstance(found, Relation) else found.length):
            found = None
        if found is not None and id(node) in self._sum:
            self._sum[id(node)] = self._united(self._sum[id(node)], found)
        self._done[id(node)] = found
        return found

    def _found(self, node: n.Node, news: dict[str, Relation]) -> Result | None:
        apply = self._run.apply
        if isinstance(node, n.Fluent):
            known = news.get(node.name)
            return None if known is None else known.rename(node.fields)
        if isinstance(node, _ONE_BY_ONE):
            new = self._delta(node.child, news)
            return None if new is None else apply(node, {id(node.child): new})
        if isinstance(node, n.Shifted):
            new = self._delta(node.child, news)
            if new is None or node.kind != "erode":
                return None if new is None else apply(node, {id(node.child): new})
            return apply(node, {id(node.child): _enlarged(self._whole(node.child), new)})
        if isinstance(node, n.Union):
            found = [new for child in node.children if (new := self._delta(child, news)) is not None]
            return reduce(self._united, found) if found else None
        if isinstance(node, n.Covered):  # a new mark may complete a window of old ones
            return None if self._delta(node.child, news) is None else apply(
                node, {id(node.child): self._whole(node.child)})
        if isinstance(node, n.Without):
            new = self._delta(node.left, news)
            return None if new is None else apply(node, {id(node.left): new, id(node.right): self._whole(node.right)})
        assert isinstance(node, n.Join | n.Since)
        if node.left is node.right:
            return self._both_sides(node, news)
        left, right = self._delta(node.left, news), self._delta(node.right, news)
        parts: list[Result] = []
        if left is not None:
            if isinstance(node, n.Since):
                left = _enlarged(self._whole(node.left), left)
            parts.append(apply(node, {id(node.left): left, id(node.right): self._whole(node.right)}))
        if right is not None:
            parts.append(apply(node, {id(node.left): self._whole(node.left), id(node.right): right}))
        return None if not parts else parts[0] if len(parts) == 1 else self._united(*parts)

    def _both_sides(self, node: n.Join | n.Since, news: dict[str, Relation]) -> Result | None:
        """A node whose operands are one: with itself a join is what it is, and `Since` looks at whole intervals."""
        new = self._delta(node.left, news)
        if new is None or isinstance(node, n.Join):
            return new
        return self._run.apply(node, {id(node.left): _enlarged(self._whole(node.left), new)})

    def _united(self, a: Result, b: Result) -> Result:
        if isinstance(a, Rows):
            assert isinstance(b, Rows)
            names = n.names(a.fields)
            columns = {name: np.concatenate([a.column(name), b.column(name)]) for name in names}
            return self._run.distinct_rows(Rows(a.fields, columns, a.length + b.length, timed=False))
        assert isinstance(b, Relation)
        return Relation(a.space, a.fields, union(a.intervals, b.project(a.fields).intervals, trusted=True))


def _enlarged(whole: Result, new: Result) -> Relation:
    """The intervals of the whole that hold something new."""
    assert isinstance(whole, Relation) and isinstance(new, Relation)
    inside = np.searchsorted(whole.intervals.starts, new.project(whole.fields).intervals.starts, side="right") - 1
    chosen = np.unique(inside)
    return Relation(whole.space, whole.fields, Intervals(whole.intervals.starts[chosen], whole.intervals.ends[chosen]))
