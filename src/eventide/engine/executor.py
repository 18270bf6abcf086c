"""Runs a plan on one machine: each node once, results kept by node; cycles are repeated until nothing changes."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from functools import singledispatchmethod
from typing import Any

import numpy as np

from eventide.algebra import nodes as n
from eventide.algebra.nodes import TIME
from eventide.engine.changes import simple_fluent
from eventide.engine.domains import value_of
from eventide.engine.expressions import call_function, numbers, test
from eventide.engine.joins import (
    difference_relations,
    during,
    inside,
    intersect_relations,
    join_rows,
    relation_of_rows,
    rows_with_match,
    widen,
)
from eventide.engine.relation import (
    Relation,
    Rows,
    Space,
    distinct,
    from_unsorted,
    pack_rows,
    pack_with,
    runs_of,
    unpack,
)
from eventide.errors import RuleError
from eventide.kernels.allen import allen
from eventide.kernels.arrays import Intervals
from eventide.kernels.intervals import clip, longer_than, shorter_than, union_all
from eventide.kernels.metric import dilate, erode, shift_by
from eventide.kernels.stab import ends_of, stab_any, starts_of

Result = Rows | Relation
MOST_ROUNDS = 100_000
_MODES = {"complement": "relative_complement", "inverse_complement": "relative_complement_inverse"}


class PlanIndex:
    """What a plan's shape says, found once: the operands of every node, and how many nodes read each."""

    def __init__(self, plan: n.Plan) -> None:
        self.children: dict[int, tuple[int, ...]] = {}
        self.uses: dict[int, int] = {}
        for cyclic in (False, True):  # what a cycle reads counts once more, so that it is kept
            seen: set[int] = set()
            stack = [d.body for s in plan.strata if s.cyclic or not cyclic for d in s.definitions]
            while stack:
                node = stack.pop()
                if id(node) not in seen:
                    seen.add(id(node))
                    operands = list(n.children_of(node))
                    self.children[id(node)] = tuple(map(id, operands))
                    for child in operands:
                        self.uses[id(child)] = self.uses.get(id(child), 0) + 1
                    stack.extend(operands)


class Executor:
    """Evaluates the definitions of a plan over input facts; `results` holds what has been defined so far."""

    def __init__(self, space: Space, inputs: Mapping[str, Result], tables: Mapping[str, Rows],
                 ties: str = "termination", functions: Mapping[str, Callable[..., Any]] | None = None) -> None:
        self.space = space
        self.ties = ties
        self.results: dict[str, Result] = dict(inputs)
        self.tables = tables
        self.functions = functions or {}
        self.fired: dict[str, Rows] = {}
        self._memo: dict[int, Result] = {}
        self._selected: dict[tuple[Any, ...], Relation] = {}
        self._readers: dict[str, list[n.Node]] = {}
        self._index = PlanIndex(n.Plan(()))
        self._uses: dict[int, int] = {}
        self._settling = False
        self._reads: dict[int, frozenset[str]] = {}

    def run(self, plan: n.Plan, progress: Callable[[n.Stratum], None] | None = None,
            index: PlanIndex | None = None) -> None:
        """Evaluate every stratum in order; an `index` of the plan made before saves making it anew."""
        self._index = index or PlanIndex(plan)
        self._uses = dict(self._index.uses)
        for stratum in plan.strata:
            if stratum.cyclic:
                self._settle(stratum)
            else:
                for definition in stratum.definitions:
                    self._define(definition)
            if progress is not None:
                progress(stratum)

    def _define(self, definition: n.Definition) -> bool:
        """Evaluate a definition; says whether its result changed."""
        value = self.evaluate(definition.body)
        if not self._settling:
            self._memo.pop(id(definition.body), None)
        if isinstance(value, Rows):
            value = self._distinct(value)
        old = self.results.get(definition.name)
        self.results[definition.name] = value
        return not _equal(self.space, old, value)

    def _settle(self, stratum: n.Stratum) -> None:
        """Repeat a cycle until nothing changes, each time only what reads something that changed.

        Effects at T show after T only, so the fixpoint is unique (the component is locally stratified by time) and
        every round settles at least one more time-point.
        """
        members = [definition.name for definition in stratum.definitions]
        reads: dict[str, frozenset[str]] = {}
        for definition in stratum.definitions:
            self.results[definition.name] = self._nothing(definition.body)
            if definition.body.sort == "intervals":
                self.fired[definition.name] = self._no_rows(definition.body.fields, timed=True)
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
                    self._forget(definition.name)
                    due.update(name for name in members if definition.name in reads[name])
            if not due:
                self._settling = False
                return
        raise RuleError("no-fixpoint", f"the cycle through {', '.join(sorted(members))} does not settle: it depends on "
                        "itself at the same time-point", "let one of its effects come later, or bound its values",
                        sorted(members))

    def _forget(self, name: str) -> None:
        """Drop what was computed from a result that changed."""
        for node in self._readers.pop(name, ()):
            self._memo.pop(id(node), None)
        for key in [k for k in self._selected if k[0] == name]:
            del self._selected[key]

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
            # the method itself: binding it anew for every node would cost more than small nodes do
            known = self._memo[id(node)] = _METHODS(type(node))(self, node)
            if self._settling:
                for name in self._reads_of(node):
                    self._readers.setdefault(name, []).append(node)
            else:
                self._release(node)
        return known

    def _rows(self, node: n.Node) -> Rows:
        """The rows or points of a node."""
        result = self.evaluate(node)
        assert isinstance(result, Rows)
        return result

    def _relation(self, node: n.Node) -> Relation:
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

    def _no_rows(self, fields: n.Fields, *, timed: bool) -> Rows:
        columns = {field.name: np.empty(0, np.int64) for field in fields}
        return Rows(fields, columns | ({TIME: np.empty(0, np.int64)} if timed else {}), 0, timed=timed)

    def _nothing(self, node: n.Node) -> Result:
        if node.sort == "intervals":
            return Relation.nothing(self.space, node.fields)
        return self._no_rows(node.fields, timed=node.sort == "points")

    def _distinct(self, rows: Rows) -> Rows:
        packed = distinct(pack_rows(self.space, rows, rows.fields, timed=rows.timed))
        columns = unpack(self.space, rows.fields, packed)
        if rows.timed:
            columns[TIME] = packed & self.space.timeline.mask
        return Rows(rows.fields, columns, int(packed.shape[0]), timed=rows.timed)

    @singledispatchmethod
    def _compute(self, node: Any) -> Result:
        raise TypeError(f"no rule to execute {type(node).__name__}")

    @_compute.register
    def _(self, node: n.Table) -> Result:
        known = self.tables.get(node.name)
        return self._no_rows(node.fields, timed=False) if known is None else known.rename(node.fields)

    @_compute.register
    def _(self, node: n.Unit) -> Result:
        return Rows((), {}, 1, timed=False)

    @_compute.register
    def _(self, node: n.Events) -> Result:
        known = self.results.get(node.name)
        if known is None:
            return self._no_rows(node.fields, timed=True)
        assert isinstance(known, Rows)
        return known.rename(node.fields)

    @_compute.register
    def _(self, node: n.Fluent) -> Result:
        known = self.results.get(node.name)
        if known is None:
            return Relation.nothing(self.space, node.fields)
        assert isinstance(known, Relation)
        return known.rename(node.fields)

    @_compute.register
    def _(self, node: n.Fired) -> Result:
        known = self.fired.get(node.name)
        return self._no_rows(node.fields, timed=True) if known is None else known.rename(node.fields)

    @_compute.register
    def _(self, node: n.Equal) -> Result:
        child = self.evaluate(node.child)
        if isinstance(child, Relation):
            return self._equal_relation(node, child)
        type_ = child.type(node.column)
        column = child.column(node.column)
        value = value_of(node.value)
        if type_ == n.NUMBER:
            same_kind = isinstance(value, int) == (column.dtype.kind == "i")
            wanted = isinstance(value, int | float) and same_kind
            return child.where(column == value) if wanted else child.take(np.empty(0, np.int64))
        return child.where(column == self.space.domains[type_].find(value))

    def _equal_relation(self, node: n.Equal, child: Relation) -> Relation:
        field = next(f for f in child.fields if f.name == node.column)
        code = self.space.domains[field.type].find(value_of(node.value))
        if code < 0:
            return Relation.nothing(self.space, child.fields)
        if isinstance(node.child, n.Fluent):
            key = (node.child.name, n.names(child.fields).index(node.column), code)
            if key not in self._selected:
                self._selected[key] = child.where(child.codes(node.column) == code)
            return self._selected[key].rename(child.fields)
        return child.where(child.codes(node.column) == code)

    @_compute.register
    def _(self, node: n.Same) -> Result:
        child = self.evaluate(node.child)
        if isinstance(child, Relation):
            return child.where(child.codes(node.left) == child.codes(node.right))
        return child.where(child.column(node.left) == child.column(node.right))

    @_compute.register
    def _(self, node: n.Select) -> Result:
        child = self.evaluate(node.child)
        rows = child.rows() if isinstance(child, Relation) else child
        return child.where(test(node.test, rows, self.space))

    @_compute.register
    def _(self, node: n.Compute) -> Result:
        child = self.evaluate(node.child)
        rows = child.rows() if isinstance(child, Relation) else child
        values = np.broadcast_to(np.asarray(numbers(node.expression, rows, self.space)), (rows.length,))
        if values.dtype.kind == "f" and np.isnan(values).any():  # a division by zero: `is` has no answer there
            defined = ~np.isnan(values)
            child, rows = child.where(defined), rows.where(defined)
            # again without those rows: integers stay integers
            values = np.broadcast_to(np.asarray(numbers(node.expression, rows, self.space)), (rows.length,))
        if values.dtype.kind == "b" or values.dtype.kind == "u":
            values = values.astype(np.int64)
        if node.field.type != n.NUMBER:
            values = self.space.domains[node.field.type].encode_numbers(np.ascontiguousarray(values))
        extended = rows.extend([(node.field, values)])
        if not isinstance(child, Relation):
            return extended
        fields = extended.fields
        starts, ends = (pack_with(self.space, extended, fields, g & self.space.timeline.mask)
                        for g in (child.intervals.starts, child.intervals.ends))
        return from_unsorted(self.space, fields, starts, ends)

    @_compute.register
    def _(self, node: n.Function) -> Result:
        child = self.evaluate(node.child)
        rows = child.rows() if isinstance(child, Relation) else child
        found = call_function(self.functions[node.name], node.name, node.inputs, len(node.outputs), rows, self.space)
        if not node.outputs:
            return child.where(found[0])
        columns = [(field, values if field.type == n.NUMBER else self.space.domains[field.type].encode_numbers(values))
                   for field, values in zip(node.outputs, found, strict=True)]
        extended = rows.extend(columns)
        assert not isinstance(child, Relation), "functions compute on rows and points"
        return extended

    @_compute.register
    def _(self, node: n.Attach) -> Result:
        child = self.evaluate(node.child)
        code = self.space.domains[node.field.type].code(value_of(node.value))
        if isinstance(child, Rows):
            return child.extend([(node.field, np.broadcast_to(np.int64(code), (child.length,)))])
        fields = node.fields
        width, timeline = self.space.width(node.field.type), self.space.timeline
        self.space.shifts(fields)
        if width == 0:
            return Relation(self.space, fields, child.intervals)
        mask = np.int64(timeline.mask)
        starts, ends = (((g & ~mask) << width) | np.int64(code << timeline.shift) | (g & mask)
                        for g in (child.intervals.starts, child.intervals.ends))
        return Relation(self.space, fields, Intervals(starts, ends))

    @_compute.register
    def _(self, node: n.Copy) -> Result:
        child = self.evaluate(node.child)
        if isinstance(child, Rows):
            return child.extend([(node.field, child.column(node.column))])
        rows = child.rows().extend([(node.field, child.codes(node.column))])
        starts, ends = (pack_with(self.space, rows, node.fields, g & self.space.timeline.mask)
                        for g in (child.intervals.starts, child.intervals.ends))
        return from_unsorted(self.space, node.fields, starts, ends, injective=True)

    @_compute.register
    def _(self, node: n.Rename) -> Result:
        return self.evaluate(node.child).rename(node.fields)

    @_compute.register
    def _(self, node: n.Project) -> Result:
        child = self.evaluate(node.child)
        if isinstance(child, Rows):
            return child.keep(node.fields)
        if not (isinstance(node.child, n.Equal) and isinstance(node.child.child, n.Fluent)):
            return child.project(node.fields)
        # the intervals of one value are read by many rules, each with its own names
        known = n.names(child.fields)
        kept = tuple(known.index(column) for column in node.columns)
        key = (node.child.child.name, known.index(node.child.column), node.child.value, kept)
        if key not in self._selected:
            self._selected[key] = child.project(node.fields)
        return self._selected[key].rename(node.fields)

    @_compute.register
    def _(self, node: n.Join) -> Result:
        left, right = self.evaluate(node.left), self.evaluate(node.right)
        match left, right:
            case Relation(), Relation():
                return intersect_relations(left, right)
            case Rows(timed=True), Relation():
                return during(self.space, left, right)
            case Relation(), Rows(timed=True):
                return during(self.space, right, left).keep(node.fields)
            case Relation(), Rows():
                return widen(left, right)
            case Rows(), Relation():
                return widen(right, left).project(node.fields)
            case _:
                assert isinstance(left, Rows) and isinstance(right, Rows)
                return join_rows(self.space, left, right)

    @_compute.register
    def _(self, node: n.Without) -> Result:
        left, right = self.evaluate(node.left), self.evaluate(node.right)
        match left, right:
            case Relation(), Relation():
                return difference_relations(left, right)
            case Relation(), Rows():
                return left.where(~rows_with_match(self.space, left.rows(), right))
            case Rows(timed=True), Relation():
                return left.where(~inside(self.space, left, right))
            case Rows(), Relation():
                return left.where(~rows_with_match(self.space, left, right.rows()))
            case _:
                assert isinstance(left, Rows) and isinstance(right, Rows)
                return left.where(~rows_with_match(self.space, left, right))

    @_compute.register
    def _(self, node: n.Union) -> Result:
        if node.sort == "intervals":
            relations = [self._relation(child) for child in node.children]
            aligned = [child.project(_like(node.fields, child.fields)).intervals for child in relations]
            return Relation(self.space, node.fields, union_all(aligned, trusted=True))
        children = [self._rows(child) for child in node.children]
        timed = node.sort == "points"
        names = [field.name for field in node.fields if field.type != n.UNUSED] + ([TIME] if timed else [])
        columns = {name: np.concatenate([child.column(name) for child in children]) for name in names}
        return Rows(node.fields, columns, sum(child.length for child in children), timed=timed)

    @_compute.register
    def _(self, node: n.Number) -> Result:
        child = self._rows(node.child)
        return child.extend([(n.Field(node.column, n.NUMBER), np.arange(child.length))])

    @_compute.register
    def _(self, node: n.Count) -> Result:
        child, inner = self._rows(node.child), self._rows(node.inner)
        counts = np.zeros(child.length, np.int64)
        found = np.bincount(inner.column(node.number), minlength=0) if inner.length else counts[:0]
        ids = child.column(node.number)
        at = ids < found.shape[0]
        counts[at] = found[ids[at]]
        if node.field.type != n.NUMBER:
            counts = self.space.domains[node.field.type].encode_numbers(counts)
        return child.extend([(node.field, counts)])

    @_compute.register
    def _(self, node: n.Boundaries) -> Result:
        child = self._relation(node.child)
        timeline = self.space.timeline
        if node.kind == "end":
            points = ends_of(child.intervals, timeline.tick, timeline.shift)
        elif node.kind == "start":
            points = starts_of(child.intervals, timeline.tick, timeline.shift)
        else:
            points = child.intervals.starts
        time = points & timeline.mask
        # what holds at the run's first time-point begins there: its start is at the run's own start
        visible = (time >= timeline.inside(timeline.start)) & (time <= timeline.inside(timeline.until))
        if not visible.all():
            points, time = points[visible], time[visible]
        columns = unpack(self.space, child.fields, points)
        columns[TIME] = time
        return Rows(child.fields, columns, int(points.shape[0]), timed=True)

    @_compute.register
    def _(self, node: n.Runs) -> Result:
        return runs_of(self.space, self._rows(node.child))

    @_compute.register
    def _(self, node: n.Keys) -> Result:
        child = self._relation(node.child)
        keys = child.keys()
        return Rows(child.fields, unpack(self.space, child.fields, keys), int(keys.shape[0]), timed=False)

    @_compute.register
    def _(self, node: n.At) -> Result:
        child = self._relation(node.child)
        keys = child.keys()
        time = self.space.timeline.inside(node.time)
        if not 0 <= time < self.space.timeline.mask:
            keys = keys[:0]
        else:
            keys = keys[stab_any(keys | np.int64(time), child.intervals)]
        return Rows(child.fields, unpack(self.space, child.fields, keys), int(keys.shape[0]), timed=False)

    @_compute.register
    def _(self, node: n.Timeless) -> Result:
        return self._distinct(self._rows(node.child).keep(node.fields, timed=False))

    @_compute.register
    def _(self, node: n.Always) -> Result:
        timeline = self.space.timeline
        begin = timeline.inside(timeline.start)
        first = begin // timeline.tick * timeline.tick + timeline.tick
        return relation_of_rows(self.space, self._rows(node.child), node.fields, first)

    @_compute.register
    def _(self, node: n.Lasting) -> Result:
        child = self._relation(node.child)
        timeline = self.space.timeline
        rows = child.rows()
        if node.rows is not None:
            rows = rows.extend([(n.Field("#", n.NUMBER), np.arange(len(child)))])
            rows = join_rows(self.space, rows, self._rows(node.rows))
            child = Relation(self.space, child.fields, Intervals(child.intervals.starts[rows.column("#")],
                                                                 child.intervals.ends[rows.column("#")]))
        amount = numbers(node.amount, rows, self.space)
        until = timeline.inside(timeline.until)
        if np.ndim(amount) == 0 and float(amount).is_integer():
            kernel = longer_than if node.comparison == "longer" else shorter_than
            return Relation(self.space, child.fields,
                            kernel(child.intervals, int(amount), until, timeline.shift, trusted=True))
        starts = child.intervals.starts & timeline.mask
        ends = child.intervals.ends & timeline.mask
        lasting = np.where(ends == timeline.mask, until, ends) - starts
        return child.where(lasting > amount if node.comparison == "longer" else lasting < amount)

    @_compute.register
    def _(self, node: n.Spans) -> Result:
        child = self._relation(node.child)
        timeline = self.space.timeline
        starts, ends = child.intervals.starts & timeline.mask, child.intervals.ends & timeline.mask
        rows = child.rows().extend([
            (n.Field(node.start, n.NUMBER), starts + timeline.origin),
            (n.Field(node.end, n.NUMBER), np.where(ends == timeline.mask, np.inf, ends + timeline.origin))])
        return child.where(test(node.test, rows, self.space))

    @_compute.register
    def _(self, node: n.Allen) -> Result:
        source, target = self._relation(node.source), self._relation(node.target)
        timeline = self.space.timeline
        target = target.project(source.fields)
        mode = _MODES.get(node.mode, node.mode)
        found = allen(node.relation, mode, source.intervals, target.intervals, timeline.shift, timeline.tick,
                      trusted=True)
        return Relation(self.space, source.fields, found)

    @_compute.register
    def _(self, node: n.Shifted) -> Result:
        child = self._relation(node.child)
        shift = self.space.timeline.shift
        if node.kind == "shift":
            moved = shift_by(child.intervals, node.low, shift)
        else:
            moved = (dilate if node.kind == "dilate" else erode)(child.intervals, node.low, node.high, shift)
        return Relation(self.space, child.fields, moved)

    @_compute.register
    def _(self, node: n.Slice) -> Result:
        child = self._relation(node.child)
        timeline = self.space.timeline
        cut = clip(child.intervals, timeline.inside(node.low), timeline.inside(node.high), timeline.shift)
        return Relation(self.space, child.fields, cut)

    @_compute.register
    def _(self, node: n.Inertia) -> Result:
        found = simple_fluent(node, self.space, self._rows, self.ties)
        self.fired[node.name] = found.fired
        return found.relation


def _like(wanted: n.Fields, fields: n.Fields) -> n.Fields:
    """The fields in the wanted order (by name)."""
    known = {field.name: field for field in fields}
    return tuple(known[field.name] for field in wanted)


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


_METHODS: Callable[[Any], Callable[[Executor, Any], Result]] = functools.cache(
    Executor.__dict__["_compute"].dispatcher.dispatch)
