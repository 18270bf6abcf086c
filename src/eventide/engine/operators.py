"""The operators of the algebra on rows and relations: one function per node, looked up by its class."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from eventide.algebra import nodes as n
from eventide.algebra.nodes import TIME
from eventide.engine.changes import reported, simple_fluent
from eventide.engine.domains import value_of
from eventide.engine.expressions import call_function, computed, numbers, test
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
    append_field,
    from_unsorted,
    pack_rows,
    pack_with,
    runs_of,
    unpack,
)
from eventide.errors import RuleError
from eventide.kernels.allen import allen
from eventide.kernels.arrays import Intervals
from eventide.kernels.dense import OperatorCells
from eventide.kernels.dense_since import since_cells
from eventide.kernels.intervals import clip, difference, intersect, longer_than, shorter_than, union, union_all
from eventide.kernels.metric import dilate, erode, shift_by
from eventide.kernels.stab import ends_of, stab_any, starts_of

if TYPE_CHECKING:
    from eventide.engine.executor import Executor

Result = Rows | Relation
Operator = Callable[["Executor", Any], Result]
Function = TypeVar("Function", bound=Callable[..., Result])
OPERATORS: dict[type, Operator] = {}
_MODES = {"complement": "relative_complement", "inverse_complement": "relative_complement_inverse"}


def operator(kind: type) -> Callable[[Function], Function]:
    """Register the function that evaluates a kind of node."""
    def register(function: Function) -> Function:
        OPERATORS[kind] = function
        return function

    return register


@operator(n.Table)
def _table(run: Executor, node: n.Table) -> Result:
    known = run.tables.get(node.name)
    return run.no_rows(node.fields, timed=False) if known is None else known.rename(node.fields)


@operator(n.Unit)
def _unit(run: Executor, node: n.Unit) -> Result:
    return Rows((), {}, 1, timed=False)


@operator(n.Events)
def _events(run: Executor, node: n.Events) -> Result:
    known = run.leaf(node)
    if known is None:
        return run.no_rows(node.fields, timed=True)
    assert isinstance(known, Rows)
    return known.rename(node.fields)


@operator(n.Fluent)
def _fluent(run: Executor, node: n.Fluent) -> Result:
    known = run.leaf(node)
    if known is None:
        return Relation.nothing(run.space, node.fields)
    assert isinstance(known, Relation)
    return known.rename(node.fields)


@operator(n.Fired)
def _fired(run: Executor, node: n.Fired) -> Result:
    known = run.leaf(node)
    return run.no_rows(node.fields, timed=True) if known is None else known.rename(node.fields)


@operator(n.Equal)
def _equal(run: Executor, node: n.Equal) -> Result:
    child = run.evaluate(node.child)
    if isinstance(child, Relation):
        return _equal_relation(run, node, child)
    type_ = child.type(node.column)
    column = child.column(node.column)
    value = value_of(node.value)
    if type_ == n.NUMBER:
        same_kind = isinstance(value, int) == (column.dtype.kind == "i")
        wanted = isinstance(value, int | float) and same_kind
        return child.where(column == value) if wanted else child.take(np.empty(0, np.int64))
    return child.where(column == run.space.domains[type_].find(value))


def _equal_relation(run: Executor, node: n.Equal, child: Relation) -> Relation:
    field = next(f for f in child.fields if f.name == node.column)
    code = run.space.domains[field.type].find(value_of(node.value))
    if code < 0:
        return Relation.nothing(run.space, child.fields)
    if isinstance(node.child, n.Fluent):
        key = (*run.reading(node.child), n.names(child.fields).index(node.column), code)
        if key not in run.selected:
            run.selected[key] = child.where(child.codes(node.column) == code)
        return run.selected[key].rename(child.fields)
    return child.where(child.codes(node.column) == code)


@operator(n.Same)
def _same(run: Executor, node: n.Same) -> Result:
    child = run.evaluate(node.child)
    if isinstance(child, Relation):
        return child.where(child.codes(node.left) == child.codes(node.right))
    return child.where(child.column(node.left) == child.column(node.right))


@operator(n.Select)
def _select(run: Executor, node: n.Select) -> Result:
    child = run.evaluate(node.child)
    rows = child.rows() if isinstance(child, Relation) else child
    return child.where(test(node.test, rows, run.space))


@operator(n.Compute)
def _compute(run: Executor, node: n.Compute) -> Result:
    child = run.evaluate(node.child)
    rows = child.rows() if isinstance(child, Relation) else child
    domain = None if node.field.type == n.NUMBER else run.space.domains[node.field.type]
    values, defined = computed(node.expression, rows, run.space, domain)
    if not defined.all():  # a division by zero: `is` has no answer there
        child, rows = child.where(defined), rows.where(defined)
    extended = rows.extend([(node.field, values)])
    if not isinstance(child, Relation):
        return extended
    fields = extended.fields
    starts, ends = (pack_with(run.space, extended, fields, g & run.space.timeline.mask)
                    for g in (child.intervals.starts, child.intervals.ends))
    return from_unsorted(run.space, fields, starts, ends)


@operator(n.Function)
def _function(run: Executor, node: n.Function) -> Result:
    child = run.evaluate(node.child)
    rows = child.rows() if isinstance(child, Relation) else child
    found = call_function(run.functions[node.name], node.name, node.inputs, len(node.outputs), rows, run.space)
    if not node.outputs:
        return child.where(found[0])
    columns = [(field, values if field.type == n.NUMBER else run.space.domains[field.type].encode_numbers(values))
               for field, values in zip(node.outputs, found, strict=True)]
    extended = rows.extend(columns)
    assert not isinstance(child, Relation), "functions compute on rows and points"
    return extended


@operator(n.Uncertain)
def _uncertain(run: Executor, node: n.Uncertain) -> Result:
    raise RuleError("uncertain-rule", "a rule has a probability", "run the program with --probabilistic")


@operator(n.Attach)
def _attach(run: Executor, node: n.Attach) -> Result:
    child = run.evaluate(node.child)
    code = run.space.domains[node.field.type].code(value_of(node.value))
    if isinstance(child, Rows):
        return child.extend([(node.field, np.broadcast_to(np.int64(code), (child.length,)))])
    starts, ends = (append_field(run.space, node.fields, g, code)
                    for g in (child.intervals.starts, child.intervals.ends))
    return from_unsorted(run.space, node.fields, starts, ends, injective=True)


@operator(n.Copy)
def _copy(run: Executor, node: n.Copy) -> Result:
    child = run.evaluate(node.child)
    if isinstance(child, Rows):
        return child.extend([(node.field, child.column(node.column))])
    rows = child.rows().extend([(node.field, child.codes(node.column))])
    starts, ends = (pack_with(run.space, rows, node.fields, g & run.space.timeline.mask)
                    for g in (child.intervals.starts, child.intervals.ends))
    return from_unsorted(run.space, node.fields, starts, ends, injective=True)


@operator(n.Rename)
def _rename(run: Executor, node: n.Rename) -> Result:
    return run.evaluate(node.child).rename(node.fields)


@operator(n.Project)
def _project(run: Executor, node: n.Project) -> Result:
    child = run.evaluate(node.child)
    if isinstance(child, Rows):
        return child.keep(node.fields)
    if not (isinstance(node.child, n.Equal) and isinstance(node.child.child, n.Fluent)):
        return child.project(node.fields)
    # the intervals of one value are read by many rules, each with its own names
    known = n.names(child.fields)
    kept = tuple(known.index(column) for column in node.columns)
    key = (*run.reading(node.child.child), known.index(node.child.column), node.child.value, kept)
    if key not in run.selected:
        run.selected[key] = child.project(node.fields)
    return run.selected[key].rename(node.fields)


@operator(n.Join)
def _join(run: Executor, node: n.Join) -> Result:
    left, right = run.evaluate(node.left), run.evaluate(node.right)
    match left, right:
        case Relation(), Relation():
            return intersect_relations(left, right)
        case Rows(timed=True), Relation():
            return during(run.space, left, right)
        case Relation(), Rows(timed=True):
            return during(run.space, right, left).keep(node.fields)
        case Relation(), Rows():
            return widen(left, right)
        case Rows(), Relation():
            return widen(right, left).project(node.fields)
        case _:
            assert isinstance(left, Rows) and isinstance(right, Rows)
            return join_rows(run.space, left, right)


@operator(n.Without)
def _without(run: Executor, node: n.Without) -> Result:
    left, right = run.evaluate(node.left), run.evaluate(node.right)
    match left, right:
        case Relation(), Relation():
            return difference_relations(left, right)
        case Relation(), Rows():
            return left.where(~rows_with_match(run.space, left.rows(), right))
        case Rows(timed=True), Relation():
            return left.where(~inside(run.space, left, right))
        case Rows(), Relation():
            return left.where(~rows_with_match(run.space, left, right.rows()))
        case _:
            assert isinstance(left, Rows) and isinstance(right, Rows)
            return left.where(~rows_with_match(run.space, left, right))


@operator(n.Union)
def _united(run: Executor, node: n.Union) -> Result:
    if node.sort == "intervals":
        relations = [run.relation_of(child) for child in node.children]
        aligned = [child.project(_like(node.fields, child.fields)).intervals for child in relations]
        return Relation(run.space, node.fields, union_all(aligned, trusted=True))
    children = [run.rows_of(child) for child in node.children]
    timed = node.sort == "points"
    names = [field.name for field in node.fields if field.type != n.UNUSED] + ([TIME] if timed else [])
    columns = {name: np.concatenate([child.column(name) for child in children]) for name in names}
    return Rows(node.fields, columns, sum(child.length for child in children), timed=timed)


@operator(n.Vote)
def _vote(run: Executor, node: n.Vote) -> Result:
    children = [run.rows_of(child) for child in node.children]
    points = [np.unique(pack_rows(run.space, rows, _like(node.fields, rows.fields), timed=True)) for rows in children]
    every, places = np.unique(np.concatenate(points), return_inverse=True)
    sums, low = np.zeros(every.shape[0]), 0
    for number in range(len(points) + 1):  # in the order of the rules, so that sums round as in learning
        for before, weight in node.everywhere:
            if before == number:
                sums += weight
        if number < len(points):
            own, each = points[number], node.weights[number]
            sums[places[low : low + own.shape[0]]] += np.inf if each is None else each
            low += own.shape[0]
    chosen = every[sums > 0]
    columns = unpack(run.space, node.fields, chosen) | {TIME: chosen & run.space.timeline.mask}
    return Rows(node.fields, columns, int(chosen.shape[0]), timed=True)


@operator(n.Number)
def _numbered(run: Executor, node: n.Number) -> Result:
    child = run.rows_of(node.child)
    return child.extend([(n.Field(node.column, n.NUMBER), np.arange(child.length))])


@operator(n.Count)
def _count(run: Executor, node: n.Count) -> Result:
    child, inner = run.rows_of(node.child), run.rows_of(node.inner)
    counts = np.zeros(child.length, np.int64)
    found = np.bincount(inner.column(node.number), minlength=0) if inner.length else counts[:0]
    ids = child.column(node.number)
    at = ids < found.shape[0]
    counts[at] = found[ids[at]]
    if node.field.type != n.NUMBER:
        counts = run.space.domains[node.field.type].encode_numbers(counts)
    return child.extend([(node.field, counts)])


@operator(n.Boundaries)
def _boundaries(run: Executor, node: n.Boundaries) -> Result:
    child = run.relation_of(node.child)
    timeline = run.space.timeline
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
    columns = unpack(run.space, child.fields, points)
    columns[TIME] = time
    return Rows(child.fields, columns, int(points.shape[0]), timed=True)


@operator(n.Runs)
def _runs(run: Executor, node: n.Runs) -> Result:
    return runs_of(run.space, run.rows_of(node.child))


@operator(n.Keys)
def _keys(run: Executor, node: n.Keys) -> Result:
    child = run.relation_of(node.child)
    keys = child.keys()
    return Rows(child.fields, unpack(run.space, child.fields, keys), int(keys.shape[0]), timed=False)


@operator(n.At)
def _at(run: Executor, node: n.At) -> Result:
    child = run.relation_of(node.child)
    keys = child.keys()
    time = run.space.timeline.inside(node.time)
    if not 0 <= time < run.space.timeline.mask:
        keys = keys[:0]
    else:
        keys = keys[stab_any(keys | np.int64(time), child.intervals)]
    return Rows(child.fields, unpack(run.space, child.fields, keys), int(keys.shape[0]), timed=False)


@operator(n.Timeless)
def _timeless(run: Executor, node: n.Timeless) -> Result:
    return run.distinct_rows(run.rows_of(node.child).keep(node.fields, timed=False))


@operator(n.Always)
def _always(run: Executor, node: n.Always) -> Result:
    timeline = run.space.timeline
    begin = timeline.inside(timeline.start)
    first = begin // timeline.tick * timeline.tick + timeline.tick
    return relation_of_rows(run.space, run.rows_of(node.child), node.fields, first)


@operator(n.Lasting)
def _lasting(run: Executor, node: n.Lasting) -> Result:
    child = run.relation_of(node.child)
    timeline = run.space.timeline
    rows = child.rows()
    if node.rows is not None:
        rows = rows.extend([(n.Field("#", n.NUMBER), np.arange(len(child)))])
        rows = join_rows(run.space, rows, run.rows_of(node.rows))
        child = Relation(run.space, child.fields, Intervals(child.intervals.starts[rows.column("#")],
                                                             child.intervals.ends[rows.column("#")]))
    amount = numbers(node.amount, rows, run.space)
    until = timeline.inside(timeline.until)
    if np.ndim(amount) == 0 and float(amount).is_integer():
        kernel = longer_than if node.comparison == "longer" else shorter_than
        return Relation(run.space, child.fields,
                        kernel(child.intervals, int(amount), until, timeline.shift, trusted=True))
    starts = child.intervals.starts & timeline.mask
    ends = child.intervals.ends & timeline.mask
    lasting = np.where(ends == timeline.mask, until, ends) - starts
    return child.where(lasting > amount if node.comparison == "longer" else lasting < amount)


@operator(n.Spans)
def _spans(run: Executor, node: n.Spans) -> Result:
    child = run.relation_of(node.child)
    timeline = run.space.timeline
    starts, ends = child.intervals.starts & timeline.mask, child.intervals.ends & timeline.mask
    rows = child.rows().extend([
        (n.Field(node.start, n.NUMBER), starts + timeline.origin),
        (n.Field(node.end, n.NUMBER), np.where(ends == timeline.mask, np.inf, ends + timeline.origin))])
    return child.where(test(node.test, rows, run.space))


@operator(n.Allen)
def _allen(run: Executor, node: n.Allen) -> Result:
    source, target = run.relation_of(node.source), run.relation_of(node.target)
    timeline = run.space.timeline
    target = target.project(source.fields)
    mode = _MODES.get(node.mode, node.mode)
    if node.relation == "before" and run.horizon is not None:
        return _before_within(run, run.horizon, mode, source, target)
    found = allen(node.relation, mode, source.intervals, target.intervals, timeline.shift, timeline.tick,
                  trusted=True)
    return Relation(run.space, source.fields, found)


def _before_within(run: Executor, horizon: int, mode: str, source: Relation, target: Relation) -> Relation:
    """As `before`, but a target begins at most `horizon` after the source ends."""
    mask = np.int64(run.space.timeline.mask)
    ends, starts = source.intervals.ends, target.intervals.starts
    closed = (ends & mask) != mask
    following = np.searchsorted(starts, ends)
    preceding = np.searchsorted(ends, starts, side="right") - 1
    next_start = np.append(starts, np.int64(-1))[following]
    last_end = np.append(ends, np.int64(-1))[preceding]
    later = closed & (next_start >= 0) & (next_start | mask == ends | mask)
    earlier = (last_end >= 0) & (last_end | mask == starts | mask)
    near, recent = later & (next_start - ends <= horizon), earlier & (starts - last_end <= horizon)
    run.beyond += int(np.count_nonzero(later & ~near)) + int(np.count_nonzero(earlier & ~recent))
    ours, theirs = source.where(near), target.where(recent)
    if mode in ("source", "target"):
        return ours if mode == "source" else theirs
    if mode == "relative_complement_inverse":
        ours, theirs, mode = theirs, ours, "relative_complement"
    combine = {"union": union, "intersection": intersect, "relative_complement": difference}[mode]
    return Relation(run.space, source.fields, combine(ours.intervals, theirs.intervals, trusted=True))


@operator(n.Shifted)
def _shifted(run: Executor, node: n.Shifted) -> Result:
    child = run.relation_of(node.child)
    shift = run.space.timeline.shift
    if node.kind == "shift":
        moved = shift_by(child.intervals, node.low, shift)
    else:
        verb = dilate if node.kind == "dilate" else erode
        moved = verb(child.intervals, node.low, node.high, shift, low_open=node.low_open, high_open=node.high_open,
                     pinned=node.dense, trusted=True)
    return Relation(run.space, child.fields, moved)


@operator(n.Since)
def _since(run: Executor, node: n.Since) -> Result:
    left, right = run.relation_of(node.left), run.relation_of(node.right)
    if len(left.fields) < len(right.fields):
        keys = right.keys()
        left = widen(left, Rows(right.fields, unpack(run.space, right.fields, keys), int(keys.shape[0]), timed=False))
    bounds = OperatorCells(node.low, node.high, node.low_open, node.high_open)
    found = since_cells(left.project(right.fields).intervals, right.intervals, bounds, run.space.timeline.shift,
                        trusted=True)
    return Relation(run.space, right.fields, found)


@operator(n.Slice)
def _slice(run: Executor, node: n.Slice) -> Result:
    child = run.relation_of(node.child)
    timeline = run.space.timeline
    cut = clip(child.intervals, timeline.inside(node.low), timeline.inside(node.high), timeline.shift)
    return Relation(run.space, child.fields, cut)


@operator(n.Inertia)
def _inertia(run: Executor, node: n.Inertia) -> Result:
    found = simple_fluent(node, run.space, run.rows_of, run.ties, run.kept.get(node.name))
    run.fired[node.name] = found.fired
    run.found[node.name] = found
    return reported(node, found.relation)


def _like(wanted: n.Fields, fields: n.Fields) -> n.Fields:
    """The fields in the wanted order (by name)."""
    known = {field.name: field for field in fields}
    return tuple(known[field.name] for field in wanted)
