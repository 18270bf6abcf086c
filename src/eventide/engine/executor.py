"""Runs a plan on one machine: each node once, results kept by node; cycles are repeated until nothing changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np

import eventide.engine.stamps  # noqa: F401 - registers its operators
from eventide.algebra import nodes as n
from eventide.algebra.nodes import TIME
from eventide.engine.budget import OverBudget, in_use
from eventide.engine.changes import Kept, SimpleFluent
from eventide.engine.deltas import CycleShape, GrowingCycle
from eventide.engine.operators import OPERATORS, Result
from eventide.engine.profile import active
from eventide.engine.relation import (
    Relation,
    Rows,
    Space,
    distinct,
    pack_rows,
    unpack,
)
from eventide.errors import RuleError
from eventide.kernels.arrays import Intervals

MOST_ROUNDS = 100_000
Found = TypeVar("Found")


class PlanIndex:
    """What a plan's shape says, found once: the operands of every node, and how many nodes read each."""

    def __init__(self, plan: n.Plan) -> None:
        self.plan = plan
        self.children: dict[int, tuple[int, ...]] = {}
        self.uses: dict[int, int] = {}
        for cyclic in (False, True):  # what a cycle reads counts once more, so that it is kept
            for node in n.nodes_in(*(d.body for s in plan.strata if s.cyclic or not cyclic for d in s.definitions)):
                operands = tuple(map(id, n.children_of(node)))
                self.children[id(node)] = operands
                for child in operands:
                    self.uses[child] = self.uses.get(child, 0) + 1
        self._shapes: dict[int, CycleShape] = {}

    def shape(self, stratum: n.Stratum) -> CycleShape:
        """The shape of a cycle."""
        known = self._shapes.get(id(stratum.definitions))  # the shape holds them, so that the id stays theirs
        if known is None:
            known = self._shapes[id(stratum.definitions)] = CycleShape(stratum.definitions)
        return known


class Executor:
    """Evaluates the definitions of a plan over input facts; `results` holds what has been defined so far."""

    def __init__(self, space: Space, inputs: Mapping[str, Result], tables: Mapping[str, Rows],
                 ties: str = "termination", functions: Mapping[str, Callable[..., Any]] | None = None) -> None:
        self.space = space
        self.ties = ties
        self.results: dict[str, Result] = dict(inputs)
        self.tables = tables
        self.functions = functions or {}
        self.horizon: int | None = None
        self.beyond = 0
        """How many intervals have a partner for `before` beyond the horizon only."""
        self.limit: int | None = None
        """Up to where cycles that can only grow are followed, as an offset on the timeline; None: as far as they go."""
        self.cut: set[str] = set()
        """Definitions of which something beyond the limit was left out."""
        self.grown: list[tuple[str, Intervals]] | None = None
        """What came to cycles that can only grow, in the order in which it came; None: nobody asks for it."""
        self.fired: dict[str, Rows] = {}
        self.kept: dict[str, Kept] = {}
        self.found: dict[str, SimpleFluent] = {}
        self._memo: dict[int, Result] = {}
        self.selected: dict[tuple[Any, ...], Relation] = {}
        self._readers: dict[str, list[n.Node]] = {}
        self._index = PlanIndex(n.Plan(()))
        self._uses: dict[int, int] = {}
        self._settling = False
        self._reads: dict[int, frozenset[str]] = {}
        self._profile, self._meter = active(), in_use()

    def run(self, plan: n.Plan, progress: Callable[[n.Stratum], None] | None = None,
            index: PlanIndex | None = None) -> None:
        """Evaluate every stratum in order; an `index` of the plan made before saves making it anew."""
        self.use(index or PlanIndex(plan))
        for stratum in plan.strata:
            try:
                if stratum.cyclic:
                    self.settle(stratum)
                else:
                    for definition in stratum.definitions:
                        self._define(definition)
            except OverBudget as problem:
                raise problem.of([definition.name for definition in stratum.definitions]) from None
            if progress is not None:
                progress(stratum)

    def use(self, index: PlanIndex) -> None:
        """Forget the result of a node when all nodes that read it have been evaluated."""
        self._index, self._uses = index, dict(index.uses)
        if self._profile is not None:
            self._profile.knows(index.plan)

    def _define(self, definition: n.Definition) -> bool:
        """Evaluate a definition; says whether its result changed."""
        value = self.evaluate(definition.body)
        if not self._settling:
            self._memo.pop(id(definition.body), None)
        if isinstance(value, Rows):
            value = self.distinct_rows(value)
        old = self.results.get(definition.name)
        self.results[definition.name] = value
        return not _equal(self.space, old, value)

    def settle(self, stratum: n.Stratum) -> None:
        """Repeat a cycle until nothing changes, each time only what reads something that changed.

        Effects at T show after T only, so the fixpoint is unique (the component is locally stratified by time) and
        every round settles at least one more time-point. RTEC∘ asks time-point by time-point instead and caches the
        answers (holdsAt and holdsAtEC: Algorithms 1 and 2 of Mantenoglou's thesis).
        """
        shape = self._index.shape(stratum)
        if shape.can_only_grow:
            self._settling = True
            GrowingCycle(self, shape).settle()
            self._settling = False
            return
        members = [definition.name for definition in stratum.definitions]
        reads: dict[str, frozenset[str]] = {}
        for definition in stratum.definitions:
            self.results[definition.name] = self.nothing(definition.body)
            if definition.body.sort == "intervals":
                self.fired[definition.name] = self.no_rows(definition.body.fields, timed=True)
            reads[definition.name] = self._reads_of(definition.body)
        span = (self.space.timeline.until - self.space.timeline.start) // self.space.timeline.tick
        limit = min(MOST_ROUNDS, 4 * max(span, 1) * len(members) + 16)
        due = set(members)
        self._settling = True
        for _ in range(limit):
            for definition in stratum.definitions:
                if definition.name not in due:
                    continue
                due.discard(definition.name)
                fired = self.fired.get(definition.name)
                if self._define(definition) or not _equal(self.space, fired, self.fired.get(definition.name)):
                    self.forget(definition.name)
                    due.update(name for name in members if definition.name in reads[name])
            if not due:
                self._settling = False
                return
        raise RuleError("no-fixpoint", f"the cycle through {', '.join(sorted(members))} does not settle: it depends on "
                        "itself at the same time-point", "let one of its effects come later, or bound its values",
                        sorted(members))

    def forget(self, name: str) -> None:
        """Drop what was computed from a result that changed."""
        for node in self._readers.pop(name, ()):
            self._memo.pop(id(node), None)
        for key in [k for k in self.selected if k[0] == name]:
            del self.selected[key]

    def _reads_of(self, node: n.Node) -> frozenset[str]:
        known = self._reads.get(id(node))
        if known is None:
            below = [self._reads_of(child) for child in n.children_of(node)]
            own = frozenset((node.name,)) if isinstance(node, n.Fluent | n.Events | n.Fired) else frozenset()
            known = self._reads[id(node)] = own.union(*below)
        return known

    def evaluate(self, node: n.Node) -> Result:
        """The rows, points or intervals of a node."""
        known = self._memo.get(id(node))
        if known is None:
            known = self._memo[id(node)] = self.measured(node, OPERATORS[type(node)], self, node)
            if self._settling:
                for name in self._reads_of(node):
                    self._readers.setdefault(name, []).append(node)
            else:
                self._release(node)
        return known

    def measured(self, node: n.Node, function: Callable[..., Found], *arguments: object) -> Found:
        """What a function gives; where a profile is filled, its time counts as that of the node."""
        try:
            found = function(*arguments) if self._profile is None else \
                self._profile.measured(node, function, *arguments)
            if self._meter is not None:
                self._meter.take(found.length if isinstance(found, Rows) else len(found) if isinstance(
                    found, Relation) else 0)
        except OverBudget as problem:
            problem.node = problem.node or node
            raise
        return found

    def apply(self, node: n.Node, operands: dict[int, Result]) -> Result:
        """A node over operands (by their ids) that are given instead of evaluated."""
        memo, selected = self._memo, self.selected
        self._memo, self.selected = operands, {}
        try:
            return self.measured(node, OPERATORS[type(node)], self, node)
        finally:
            self._memo, self.selected = memo, selected

    def known_before(self, name: str) -> Relation | None:
        """What is known of a growing cycle's definition before it is evaluated."""
        return None

    def in_stretch(self, found: Intervals) -> Intervals:
        """What of the intervals of a growing cycle lies in the stretch of time that is evaluated."""
        return found

    def leaf(self, node: n.Events | n.Fluent | n.Fired) -> Result | None:
        """What is known under the name of a leaf."""
        return self.fired.get(node.name) if isinstance(node, n.Fired) else self.results.get(node.name)

    def reading(self, node: n.Events | n.Fluent | n.Fired) -> tuple[str, int | None]:
        """What of a result a leaf reads: leaves for which this is equal read the same rows."""
        return node.name, None

    def rows_of(self, node: n.Node) -> Rows:
        """The rows or points of a node."""
        result = self.evaluate(node)
        assert isinstance(result, Rows)
        return result

    def relation_of(self, node: n.Node) -> Relation:
        """The intervals of a node."""
        result = self.evaluate(node)
        assert isinstance(result, Relation)
        return result

    def _release(self, node: n.Node) -> None:
        """Forget the operands that nothing else will read."""
        uses = self._uses
        for child in self._index.children.get(id(node), ()):
            uses[child] -= 1
            if uses[child] == 0:
                self._memo.pop(child, None)

    def no_rows(self, fields: n.Fields, *, timed: bool) -> Rows:
        columns = {field.name: np.empty(0, np.int64) for field in fields}
        return Rows(fields, columns | ({TIME: np.empty(0, np.int64)} if timed else {}), 0, timed=timed)

    def nothing(self, node: n.Node) -> Result:
        if node.sort == "intervals":
            return Relation.nothing(self.space, node.fields)
        return self.no_rows(node.fields, timed=node.sort == "points")

    def distinct_rows(self, rows: Rows) -> Rows:
        packed = distinct(pack_rows(self.space, rows, rows.fields, timed=rows.timed))
        columns = unpack(self.space, rows.fields, packed)
        if rows.timed:
            columns[TIME] = packed & self.space.timeline.mask
        return Rows(rows.fields, columns, int(packed.shape[0]), timed=rows.timed)


def _equal(space: Space, old: Result | None, new: Result | None) -> bool:
    if old is None or new is None:
        return old is new
    if isinstance(old, Relation) and isinstance(new, Relation):
        return old.intervals == new.intervals
    assert isinstance(old, Rows) and isinstance(new, Rows)
    if old.length != new.length:
        return False
    return bool(np.array_equal(pack_rows(space, old, old.fields, timed=old.timed),
                               pack_rows(space, new, new.fields, timed=new.timed)))
