"""Point probabilities: a plan over uncertain facts, every row with the formula that makes it so.

The plan is the one that crisp recognition runs (`engine.executor`); here every uncertain fact is possible, and what a
row owes to which facts is carried along as a literal (Prob-EC: Skarlatidis et al., "A probabilistic logic programming
event calculus", 2015; the semantics is that of ProbLog). Negation takes no row away but adds a negative literal.
Background, comparisons and domains stay certain.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

import numpy as np
import numpy.typing as npt

from eventide.algebra import nodes as n
from eventide.algebra.nodes import TIME
from eventide.engine.changes import reported
from eventide.engine.domains import value_of
from eventide.engine.executor import Executor, PlanIndex
from eventide.engine.joins import join_rows, relation_of_rows, rows_with_match, split
from eventide.engine.loading import Stream, side_by_side
from eventide.engine.operators import OPERATORS, Result
from eventide.engine.relation import Rows, Space, append_field, distinct, move, pack_rows, pack_with, unpack
from eventide.errors import RuleError
from eventide.kernels.arrays import Array
from eventide.kernels.formulas import persist
from eventide.kernels.joins import contains, join
from eventide.kernels.sorting import is_sorted, sort_points, sort_with_order, unique
from eventide.probability.circuits import Circuits, Histories
from eventide.probability.formulas import FALSE, TRUE, Formulas, certain
from eventide.probability.ragged import spans
from eventide.probability.segments import (
    LITERAL,
    Segments,
    always,
    any_by_key,
    attached,
    boundaries,
    copied,
    difference,
    disjoint,
    during,
    from_rows,
    intersection,
    literals,
    nothing,
    outside,
    union,
    widened,
    with_literals,
)
from eventide.syntax.terms import Term

Floats = npt.NDArray[np.float64]
History = Literal["marginal", "exact"]
Operator = Callable[["UncertainExecutor", Any], Result]
Function = TypeVar("Function", bound=Callable[..., Result])
LIKE_CRISP = (n.Equal, n.Same, n.Select, n.Function, n.Rename, n.Project, n.Number, n.Keys, n.Timeless, n.Table, n.Unit)
"""Nodes that need no other operator: they choose rows, or have no formulas."""
UNCERTAIN: dict[type, Operator] = {kind: OPERATORS[kind] for kind in LIKE_CRISP}


def operator(kind: type) -> Callable[[Function], Function]:
    """Register the function that evaluates a kind of node over uncertain rows."""
    def register(function: Function) -> Function:
        UNCERTAIN[kind] = function
        return function

    return register


@dataclass
class Past:
    """What a window knows of the time before it, and what is to be known of it later.

    `carried` has the values of simple fluents at `edge`, the first time-point of the window, with their probabilities;
    `known` the rows of domains that the input fills, by node. An evaluation leaves all values of simple fluents in
    `held`, and adds to `known`.
    """

    edge: int | None = None
    initial: bool = True
    """Whether values of `initially` begin in this window."""
    carried: Mapping[str, tuple[Rows, Floats]] = field(default_factory=dict)
    known: dict[int, Rows] = field(default_factory=dict)
    held: dict[str, Segments] = field(default_factory=dict)


class UncertainExecutor(Executor):
    """Evaluates a plan over rows with formulas.

    With the history `marginal` a simple fluent is, between two of its changes, one chance of its own (its marginal
    probability); with `exact` it is the formula over all that led to it.
    """

    def __init__(self, space: Space, inputs: Mapping[str, Result], tables: Mapping[str, Rows], formulas: Formulas,
                 functions: Mapping[str, Callable[..., Any]], history: History = "marginal") -> None:
        super().__init__(space, inputs, tables, "initiation", functions)
        self.formulas = formulas
        self.history = history
        self.entered: frozenset[str] | None = None
        """The fluents whose beginnings or ends something asks for."""
        self.circuits = Circuits(formulas)
        self.past: Past | None = None
        self.applied: list[tuple[int, Array, Rows]] | None = None
        """Where it is a list: the rules with a probability, the chances that are theirs, and the rows of these."""

    def run(self, plan: n.Plan, progress: Callable[[n.Stratum], None] | None = None,
            index: PlanIndex | None = None) -> None:
        """Evaluate every stratum in order."""
        if self.entered is None:
            self.entered = asked_for_bounds(plan)
        super().run(plan, progress, index)

    def settle(self, stratum: n.Stratum) -> None:
        """Cycles have no probabilities here."""
        names = sorted(definition.name for definition in stratum.definitions)
        raise RuleError("uncertain-cycle", f"{', '.join(names)} depend on each other, which has no probabilities yet",
                        "take one of the rules out of the cycle, or run it without --probabilistic", names)

    def evaluate(self, node: n.Node) -> Result:
        """The rows, points or stretches of a node."""
        known = self._memo.get(id(node))
        if known is None:
            found = UNCERTAIN.get(type(node))
            if found is None and node.sort == "rows":
                found = OPERATORS[type(node)]
            if found is None:
                raise RuleError("not-probabilistic", f"'{type(node).__name__.lower()}' has no probabilities yet",
                                "run the program without --probabilistic")
            known = self._memo[id(node)] = self.measured(node, found, self, node)
            self._release(node)
        return known

    def _define(self, definition: n.Definition) -> bool:
        value = self.evaluate(definition.body)
        self._memo.pop(id(definition.body), None)
        if isinstance(value, Rows):
            value = self._distinct(value)
        self.results[definition.name] = value
        return True

    def _distinct(self, rows: Rows) -> Rows:
        """An event once for each time-point, with any of the rows that make it so."""
        points, found = any_by_key(self.formulas, pack_rows(self.space, rows, rows.fields, timed=True), literals(rows))
        columns = unpack(self.space, rows.fields, points)
        columns |= {TIME: points & self.space.timeline.mask, LITERAL: found}
        return Rows(rows.fields, columns, int(points.shape[0]), timed=True)

    def no_rows(self, fields: n.Fields, *, timed: bool) -> Rows:
        """No rows, with literals if they have times."""
        rows = super().no_rows(fields, timed=timed)
        return Rows(fields, {LITERAL: np.empty(0, np.int64)}, 0, timed=timed, parent=rows) if timed else rows

    def segments_of(self, node: n.Node) -> Segments:
        """The stretches of a node."""
        result = self.evaluate(node)
        assert isinstance(result, Segments)
        return result

    def probabilities(self, found: Array, what: str) -> Floats:
        """The probabilities of literals; `what` they are about is named in errors."""
        if self.history == "exact":
            return Histories(self.formulas).probabilities(found, what)
        return self.circuits.probabilities(found, what)


def inputs_of(space: Space, streams: Mapping[str, Stream], built: frozenset[str], formulas: Formulas
              ) -> dict[str, Result]:
    """The facts within (start, until], each with a chance of its own where it has a probability below 1."""
    timeline = space.timeline
    result: dict[str, Result] = {}
    for name, stream in streams.items():
        probability = np.ones(len(stream)) if stream.probability is None else stream.probability
        first = timeline.start // timeline.tick * timeline.tick + timeline.tick
        last = stream.time if stream.end is None else np.maximum(stream.end - 1, stream.time)
        after = timeline.start + 1 if stream.end is None else first
        inside = (last >= after) & (stream.time <= timeline.until) & (probability > 0)
        chosen = slice(None) if inside.all() else inside
        columns = {each: values[chosen] for each, values in stream.columns.items()}
        time = stream.time[chosen]
        found = certain(time.shape[0]) if stream.probability is None else formulas.chances(probability[chosen], time)
        if stream.end is not None:
            rows = Rows(stream.fields, columns, int(time.shape[0]), timed=False)
            starts = pack_with(space, rows, stream.fields, np.maximum(time, first) - timeline.origin)
            ends = np.minimum(stream.end[chosen] - timeline.origin, timeline.mask)
            result[name] = disjoint(space, stream.fields, formulas, starts,
                                    pack_with(space, rows, stream.fields, ends), found)
            continue
        columns |= {TIME: time - timeline.origin, LITERAL: found}
        rows = Rows(stream.fields, columns, int(time.shape[0]), timed=True)
        result[name] = from_rows(space, formulas, rows) if name in built else rows
    return result


# -- leaves -----------------------------------------------------------------------------------------------------------


@operator(n.Events)
def _events(run: UncertainExecutor, node: n.Events) -> Result:
    known = run.leaf(node)
    return run.no_rows(node.fields, timed=True) if known is None else known.rename(node.fields)


@operator(n.Fluent)
def _fluent(run: UncertainExecutor, node: n.Fluent) -> Result:
    known = run.leaf(node)
    return nothing(run.space, node.fields, run.formulas) if known is None else known.rename(node.fields)


@operator(n.Always)
def _always(run: UncertainExecutor, node: n.Always) -> Result:
    timeline = run.space.timeline
    first = timeline.inside(timeline.start) // timeline.tick * timeline.tick + timeline.tick
    relation = relation_of_rows(run.space, run.rows_of(node.child), node.fields, first)
    return always(run.space, run.formulas, relation)


@operator(n.Runs)
def _runs(run: UncertainExecutor, node: n.Runs) -> Result:
    return from_rows(run.space, run.formulas, run.rows_of(node.child))


@operator(n.Boundaries)
def _boundaries(run: UncertainExecutor, node: n.Boundaries) -> Result:
    rows = boundaries(run.segments_of(node.child), node.kind)
    if run.past is None or run.past.edge is None:
        return rows
    return rows.where(rows.time >= run.space.timeline.inside(run.past.edge))  # what was before is in what is carried


@operator(n.Keys)
@operator(n.Timeless)
def _domain(run: UncertainExecutor, node: n.Keys | n.Timeless) -> Result:
    """Everyone that the input mentions; in a window also those that it mentioned before."""
    rows = OPERATORS[type(node)](run, node)
    if run.past is None:
        return rows
    assert isinstance(rows, Rows)
    before = run.past.known.get(id(node))
    if before is not None:
        points = np.concatenate([pack_rows(run.space, each, node.fields) for each in (before, rows)])
        points = unique(sort_points(points), trusted=True)
        rows = Rows(node.fields, unpack(run.space, node.fields, points), int(points.shape[0]), timed=False)
    run.past.known[id(node)] = rows
    return rows


# -- columns ----------------------------------------------------------------------------------------------------------


@operator(n.Compute)
def _compute(run: UncertainExecutor, node: n.Compute) -> Result:
    if node.sort == "intervals":
        raise RuleError("not-probabilistic", "arithmetic on intervals has no probabilities yet",
                        "compute in an initiatedAt rule instead")
    return OPERATORS[n.Compute](run, node)


@operator(n.Attach)
def _attach(run: UncertainExecutor, node: n.Attach) -> Result:
    if node.sort != "intervals":
        return OPERATORS[n.Attach](run, node)
    code = run.space.domains[node.field.type].code(value_of(node.value))
    return attached(run.segments_of(node.child), node.fields, code)


@operator(n.Copy)
def _copy(run: UncertainExecutor, node: n.Copy) -> Result:
    if node.sort != "intervals":
        return OPERATORS[n.Copy](run, node)
    return copied(run.segments_of(node.child), node.field, node.column)


@operator(n.Uncertain)
def _uncertain(run: UncertainExecutor, node: n.Uncertain) -> Result:
    """One chance for each grounding of the rule, however many facts make it possible."""
    rows = run.rows_of(node.child)
    time = rows.time if rows.timed else np.full(rows.length, run.space.timeline.begin)
    columns = [rows.column(field.name) for field in rows.fields if field.type != n.UNUSED]
    permutation, repeated = side_by_side([*columns, time], np.arange(rows.length))
    distinct = rows.take(permutation[~repeated])
    own = run.formulas.chances(np.full(distinct.length, node.probability),
                               time[permutation[~repeated]] + run.space.timeline.origin)
    if run.applied is not None:
        run.applied.append((node.rule, own, distinct))
    if rows.timed:
        offsets = np.append(np.flatnonzero(~repeated), rows.length)
        own = run.formulas.both(run.formulas.any_of(offsets, literals(rows)[permutation]), own)
    return with_literals(distinct, own)


# -- joins ------------------------------------------------------------------------------------------------------------


@operator(n.Join)
def _join(run: UncertainExecutor, node: n.Join) -> Result:
    left, right = run.evaluate(node.left), run.evaluate(node.right)
    match left, right:
        case Segments(), Segments():
            return intersection(left, right)
        case Rows(timed=True), Segments():
            return during(left, right)
        case Segments(), Rows(timed=True):
            return during(right, left).keep(node.fields)
        case Segments(), Rows():
            return widened(left, right)
        case Rows(), Segments():
            return widened(right, left).project(node.fields)
        case _:
            assert isinstance(left, Rows) and isinstance(right, Rows)
            return _join_points(run, left, right)


def _join_points(run: UncertainExecutor, left: Rows, right: Rows) -> Rows:
    if not (left.timed and right.timed) or (literals(right) == TRUE).all():
        return join_rows(run.space, left, right)
    other = n.Field("~right", n.NUMBER)
    pairs = join_rows(run.space, left, right.extend([(other, literals(right))]))
    found = run.formulas.both(literals(pairs), pairs.column(other.name))
    fields = tuple(field for field in pairs.fields if field != other)
    return with_literals(pairs.keep(fields), found)


@operator(n.Without)
def _without(run: UncertainExecutor, node: n.Without) -> Result:
    left, right = run.evaluate(node.left), run.evaluate(node.right)
    match left, right:
        case Segments(), Segments():
            return difference(left, right)
        case Segments(), Rows():
            return left.where(~rows_with_match(run.space, left.rows(), right))
        case Rows(timed=True), Segments():
            return outside(left, right)
        case Rows(timed=True), Rows(timed=True):
            return _without_points(run, left, right)
        case _:
            return OPERATORS[n.Without](run, node)


def _without_points(run: UncertainExecutor, left: Rows, right: Rows) -> Rows:
    if not left.length or not right.length:
        return left
    common, _ = split(left.fields, right.fields)
    keys, found = any_by_key(run.formulas, pack_rows(run.space, right, common, timed=True), literals(right))
    at, matched = join(pack_rows(run.space, left, common, timed=True), keys)
    negated = certain(left.length)
    negated[at] = -found[matched]
    return with_literals(left, run.formulas.both(literals(left), negated))


@operator(n.Union)
def _union(run: UncertainExecutor, node: n.Union) -> Result:
    if node.sort == "rows":
        return OPERATORS[n.Union](run, node)
    if node.sort == "intervals":
        return union([run.segments_of(child) for child in node.children], node.fields)
    children = [run.rows_of(child) for child in node.children]
    names = [*(field.name for field in node.fields if field.type != n.UNUSED), TIME, LITERAL]
    columns = {name: np.concatenate([child.column(name) for child in children]) for name in names}
    return Rows(node.fields, columns, sum(child.length for child in children), timed=True)


@operator(n.Count)
def _count(run: UncertainExecutor, node: n.Count) -> Result:
    """A negated conjunction is compiled as "no answer": whatever answer is possible must not be one."""
    child = run.rows_of(node.child)
    if not child.timed:  # background knowledge is certain
        return OPERATORS[n.Count](run, node)
    inner = run.rows_of(node.inner)
    ids = child.column(node.number)
    negated = certain(child.length)
    if child.length and inner.length:
        numbers, found = any_by_key(run.formulas, inner.column(node.number), literals(inner))
        table = certain(1 + max(int(ids.max()), int(numbers[-1])))
        table[numbers] = -found
        negated = table[ids]
    none = child.extend([(node.field, np.zeros(child.length, np.int64))])
    return with_literals(none, run.formulas.both(literals(child), negated))


# -- inertia ----------------------------------------------------------------------------------------------------------


@operator(n.Inertia)
def _inertia(run: UncertainExecutor, node: n.Inertia) -> Result:
    segments = _Simple(run, node).segments()
    if run.past is not None:
        run.past.held[node.name] = segments
    return reported(node, segments)


class _Simple:
    """A simple fluent: what begins and ends each of its values at which points, and what that comes to."""

    def __init__(self, run: UncertainExecutor, node: n.Inertia) -> None:
        self.run, self.node, self.space, self.formulas = run, node, run.space, run.formulas
        self.timeline = run.space.timeline
        self.arguments = node.fields[:-1]
        self.value = node.fields[-1]
        if node.delays or any(change.states for change in node.changes):
            kind = "delayed effects" if node.delays else "a rule about the fluent's own value"
            raise RuleError("not-probabilistic", f"{node.name} has {kind}, which has no probabilities yet",
                            "run the program without --probabilistic", [node.name])

    def _points(self, rows: Rows, value: Term | None) -> Array:
        """Points of rows on the grid, with their value where there is one."""
        tick = self.timeline.tick
        time = rows.time if tick == 1 else rows.time // tick * tick
        if value is None:
            return pack_with(self.space, rows, rows.fields, time)
        code = self.space.domains[self.value.type].code(value_of(value))
        return append_field(self.space, self.node.fields, pack_with(self.space, rows, self.arguments, time), code)

    def _carried(self, past: Past) -> list[tuple[Array, Array]]:
        """The values at the edge of the window, which begin with it."""
        if past.edge is None or self.node.name not in past.carried:
            return []
        rows, probability = past.carried[self.node.name]
        before = past.edge - self.timeline.tick
        points = pack_rows(self.space, rows, self.node.fields) | np.int64(self.timeline.inside(before))
        return [(points, self.formulas.chances(probability, before))]

    def _initial(self) -> list[tuple[Array, Array]]:
        begin = self.timeline.begin
        result = [] if self.run.past is None else self._carried(self.run.past)
        if begin > self.timeline.inside(self.timeline.until) or not (self.run.past is None or self.run.past.initial):
            return result
        for node in self.node.initial:
            rows = self.run.rows_of(node)
            if self.node.domain is not None:
                rows = rows.where(rows_with_match(self.space, rows, self.run.rows_of(self.node.domain)))
            chance = any(isinstance(each, n.Uncertain) for each in n.nodes_in(node))
            points = pack_rows(self.space, rows, self.node.fields) | np.int64(begin - self.timeline.tick)
            result.append((points, literals(rows) if chance else certain(rows.length)))
        return result

    def _changes(self) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
        """The distinct points `arguments, value, time` at which a value may begin, and those at which it may end."""
        begun = self._initial()
        ended: list[tuple[Array, Array]] = []
        every: list[tuple[Array, Array]] = []
        for change in self.node.changes:
            rows = self.run.rows_of(change.points)
            if change.every:
                every.append((self._points(rows, None), literals(rows)))
            else:
                pair = (self._points(rows, change.value), literals(rows))
                (begun if change.kind == "initiated" else ended).append(pair)
        points, found = any_by_key(self.formulas, *_joined(begun))
        shift = self.timeline.shift
        tracks = unique(points >> shift << shift, trusted=True)
        if ended:
            breaks, broken = _joined(ended)
            known = contains(breaks >> shift << shift, tracks)
            ended = [(breaks[known], broken[known])]
        for breaks, broken in every:
            spread, at = self._spread(tracks, breaks)
            ended.append((spread, broken[at]))
        if len(distinct(self._without_value(tracks))) < len(tracks):
            spread, at = self._spread(tracks, self._without_value(points))
            another = spread != points[at]  # the beginning of a value ends the others
            ended.append((spread[another], found[at[another]]))
        return (points, found), any_by_key(self.formulas, *_joined(ended))

    def _without_value(self, points: Array) -> Array:
        return move(self.space, self.node.fields, self.arguments, points)

    def _spread(self, tracks: Array, points: Array) -> tuple[Array, Array]:
        """Points of arguments alone, once for each value that these ever have, and which point each is."""
        mask = np.int64(self.timeline.mask)
        keys = self._without_value(tracks)
        if not is_sorted(keys):
            keys, permutation = sort_with_order(keys)
            tracks = tracks[permutation]
        low = np.searchsorted(keys, points & ~mask, "left")
        count = np.searchsorted(keys, points & ~mask, "right") - low
        at = np.repeat(np.arange(points.shape[0]), count)
        return tracks[spans(low, count)] | points[at] & mask, at

    def segments(self) -> Segments:
        """The stretches of every value between its changes."""
        (begun, begins), (ended, ends) = self._changes()
        points = begun if not ended.shape[0] else unique(sort_points(np.concatenate((begun, ended))), trusted=True)
        initiated, broken = (np.full(points.shape[0], FALSE, np.int64) for _ in range(2))
        initiated[np.searchsorted(points, begun)] = begins
        broken[np.searchsorted(points, ended)] = ends
        mask, tick = np.int64(self.timeline.mask), self.timeline.tick
        same = points[1:] | mask == points[:-1] | mask
        until = points | mask
        until[:-1][same] = points[1:][same] + tick
        if self.run.history == "exact":
            held = self._over_time(points, initiated, broken)
        else:
            held = self._marginals(points, initiated, broken)
        entry = None
        if self.run.entered and self.node.name in self.run.entered and self.run.history == "marginal":
            before = np.full(points.shape[0], FALSE, np.int64)
            before[1:][same] = held[:-1][same]
            entry = self.formulas.either(initiated, self.formulas.both(before, -broken))
        found = Segments(self.space, self.node.fields, self.formulas, points + tick, until, held, entry)
        return _coalesced(found.where(held != FALSE))

    def _marginals(self, points: Array, initiated: Array, broken: Array) -> Array:
        run, shift = self.run, self.timeline.shift
        begins = run.probabilities(initiated, self.node.name)
        stays = run.probabilities(self.formulas.both(-initiated, -broken), self.node.name)
        held = persist(points, shift, begins, stays)
        return self.formulas.chances(held, (points & self.timeline.mask) + self.timeline.origin)

    def _over_time(self, points: Array, initiated: Array, broken: Array) -> Array:
        """The formulas of the whole history, one change of every key after the other."""
        shift = self.timeline.shift
        held = np.empty(points.shape[0], np.int64)
        first = np.ones(points.shape[0], np.bool_)
        first[1:] = points[1:] >> shift != points[:-1] >> shift
        at = np.flatnonzero(first)
        before = np.full(at.shape[0], FALSE, np.int64)
        while at.shape[0]:
            before = held[at] = self.formulas.either(initiated[at], self.formulas.both(before, -broken[at]))
            going = at + 1 < points.shape[0]
            going[going] = ~first[at[going] + 1]
            at, before = at[going] + 1, before[going]
        return held


def _coalesced(segments: Segments) -> Segments:
    """Neighbouring stretches that hold for certain as one."""
    sure = segments.literal == TRUE
    again = (segments.ends[:-1] == segments.starts[1:]) & sure[1:] & sure[:-1]
    if not again.any():
        return segments
    last = np.append(~again, True)
    kept = segments.take(np.flatnonzero(np.append(True, ~again)))
    return Segments(kept.space, kept.fields, kept.formulas, kept.starts, segments.ends[last], kept.literal,
                    kept.own_entry)


def _joined(pairs: list[tuple[Array, Array]]) -> tuple[Array, Array]:
    none = np.empty(0, np.int64)
    points, found = zip(*pairs, strict=True) if pairs else ((none,), (none,))
    return np.concatenate(points), np.concatenate(found)


# -- what reads what --------------------------------------------------------------------------------------------------


def asked_for_bounds(plan: n.Plan) -> frozenset[str]:
    """The results whose beginnings or ends decide something, directly or through others."""
    bodies = {definition.name: definition.body for stratum in plan.strata for definition in stratum.definitions}
    asked: set[str] = set()
    todo = [name for body in bodies.values() for node in n.nodes_in(body) if isinstance(node, n.Boundaries)
            for name in n.references_of(node)]
    while todo:
        name = todo.pop()
        if name not in asked:
            asked.add(name)
            if name in bodies and not isinstance(bodies[name], n.Inertia):
                todo.extend(n.references_of(bodies[name]))
    return frozenset(asked)


def differing(plan: n.Plan, inputs: Mapping[str, str], uncertain: Callable[[str], bool]) -> list[str]:
    """The results for which marginal and exact histories can differ.

    They can where a simple fluent reads what has a history (another simple fluent, an uncertain interval, a beginning
    or an end), where other results read several such things, and above all of these.
    """
    pasts: dict[str, frozenset[str]] = {name: frozenset((name,)) if kind == "interval" and uncertain(name)
                                        else frozenset() for name, kind in inputs.items()}
    moved: set[str] = set()
    found: list[str] = []
    for stratum in plan.strata:
        for definition in stratum.definitions:
            name, body = definition.name, definition.body
            read = {each for each in n.references_of(body)}
            past = frozenset().union(*(pasts.get(each, frozenset()) for each in read))
            bounds = any(isinstance(node, n.Boundaries) for node in n.nodes_in(body)) or bool(read & moved)
            simple = isinstance(body, n.Inertia)
            differs = bool(past or bounds) if simple else len(past) > 1 or (bool(past) and bounds)
            if differs or read & set(found):
                found.append(name)
            if bounds and not simple:
                moved.add(name)
            pasts[name] = frozenset((name,)) if simple else past
    return found
