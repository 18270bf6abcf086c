"""Keeping the results of a plan up to date: what did not change is reused, what did is computed from there on.

Every piece of the plan (see `algebra.pieces`) has an *edge*: the time before which its content can never change again.
Up to the edge a result is kept, from the edge on it may be computed anew. What changed in the operands gives, for every
entity, a *front*: the time from which its content may differ from before. A piece whose operands have a column in
common is computed for the entities that have a front, from there on; others are computed from the edge on.

RTECinc (Tsilionis, Artikis and Paliouras, "Incremental event calculus for run-time reasoning", JAIR 2022) deletes and
adds single points by delta rules, and makes intervals of them again (recogniseSimpleFluent, Algorithm 1). Here the rest
of an entity's line takes the place of single points: finding them costs as much as passing over the line.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from eventide.algebra import nodes as n
from eventide.algebra.nodes import TIME
from eventide.algebra.pieces import Piece, leaves_of
from eventide.engine.budget import OverBudget
from eventide.engine.changes import Carry, Kept, Marks, SimpleFluent, reported, simple_fluent
from eventide.engine.exchange import Arrived
from eventide.engine.executor import Executor
from eventide.engine.fronts import NEVER, Front
from eventide.engine.loading import Store
from eventide.engine.operators import Result
from eventide.engine.readers import Early, Late, Part, Whole
from eventide.engine.relation import Relation, Rows, Space, move, pack_rows, unpack
from eventide.engine.retained import Batch, Delta, Retained, delta_of
from eventide.engine.upkeep import PLAIN, Maintained, Upkeep, leaf_name, longest_asked
from eventide.kernels.arrays import Array
from eventide.kernels.intervals import difference, union
from eventide.kernels.merging import lower
from eventide.kernels.sorting import is_sorted

Evaluation = Literal["auto", "full", "keys", "ranges"]
EVALUATIONS = ("auto", "full", "keys", "ranges")
_MOST_PART = 0.35  # with more of the facts in the affected part, everything is computed


@dataclass(frozen=True)
class Saved:
    """What a fluent with deadlines keeps besides its intervals: what is carried over its edge, and its points since."""

    carry: Carry
    marks: Marks
    due: int
    """When the first deadline that runs on fires."""


@dataclass(frozen=True)
class State:
    """Everything a session knows after a query time. Times inside are offsets on the timeline."""

    inputs: dict[str, Retained]
    relations: dict[str, Relation] = field(default_factory=dict)
    points: dict[str, Rows] = field(default_factory=dict)
    fired: dict[str, Rows] = field(default_factory=dict)
    tables: dict[str, Rows] = field(default_factory=dict)
    settled: dict[str, Rows] = field(default_factory=dict)
    saved: dict[str, Saved] = field(default_factory=dict)
    edges: dict[str, int] = field(default_factory=dict)
    query: int | None = None
    sizes: dict[str, int] = field(default_factory=dict)
    """How many intervals of each result there were when it was last forgotten what is settled."""
    floors: dict[str, int] = field(default_factory=dict)
    """For pieces that came when the rules were changed (`engine.swap`): before which time nothing is known of them."""


class Update:
    """One step: from a state and changed inputs to the next state."""

    def __init__(self, plan: Maintained, old: State, space: Space, store: Store, operations: Mapping[str, Batch],
                 low: int, edge: int, ties: str, horizon: int | None, evaluation: Evaluation,
                 news: Mapping[str, Arrived] | None = None, fresh: frozenset[str] = frozenset(),
                 forgotten: frozenset[str] = frozenset()) -> None:
        self.plan, self.old, self.space, self.operations, self.low = plan, old, space, operations, low
        self.fresh = fresh  # the pieces that have no content yet
        self.forgotten = forgotten  # inputs whose facts were given up since the last step
        self.deltas: dict[str, Delta] = {}
        self.news = news or {}
        self.unmatched = 0
        self._news: dict[str, tuple[Batch, Batch]] = {}
        self._most_new = False
        self.edge, self.evaluation = edge, evaluation
        self.edges: dict[str, int] = {}
        self.sizes = dict(old.sizes)
        self.changed_tables: set[str] = set()
        self.relations: dict[str, Relation] = {}
        self.points: dict[str, Rows] = {}
        self.fired: dict[str, Rows] = {}
        self.tables: dict[str, Rows] = {}
        self.settled: dict[str, Rows] = {}
        self.saved: dict[str, Saved] = {}
        self.choices: dict[str, str] = {}
        self.shown: dict[str, Result] = {}
        self.before: dict[str, Result] = {}
        self.moved: dict[str, tuple[Rows, Rows]] = {}
        self.all_tables = store.tables | store.given
        self.whole = Whole(space, self.shown, {}, self.all_tables, ties, store)
        self.whole.use(plan.index)
        self.whole.horizon = horizon
        self.fronts: dict[str, Array] = {}
        self._lowest: dict[str, int] = {}
        self._late: dict[int, Late] = {}
        self._parts: dict[str, list[Part]] = {}
        self._shares: dict[str, float] = {}

    # -- edges: what is settled ---------------------------------------------------------------------------------------

    def find_edges(self) -> dict[str, int]:
        """Before which time each result can never change again."""
        tick = self.space.timeline.tick
        for name in self.plan.inputs:
            self.edges[name] = self.edge
        for name in self.plan.imports:
            found = self.news.get(name)
            self.edges[name] = 0 if found is None else max(self.space.timeline.inside(found.edge), 0)
        for upkeep in self.plan.upkeep:
            # the start of an interval happens a tick before it
            edge = min([self.edges[name] - (tick if name in upkeep.bounds else 0) for name in upkeep.reads],
                       default=self.edge)
            if upkeep.reason is not None or self.old.query is None:
                edge = 0
            elif upkeep.piece.kind == "whole":
                edge = min(edge, self._whole_edge(upkeep.piece.body, edge))
            elif self._unborn(upkeep):
                edge = min(edge, self.space.timeline.begin - tick)
            if upkeep.piece.name in self.fresh:
                edge = 0
            edge = max(edge, self.old.edges.get(upkeep.piece.name, 0))
            for name in upkeep.piece.names:
                self.edges[name] = self.edges[f"fired {name}"] = edge
        return self.edges

    def _unborn(self, upkeep: Upkeep) -> bool:
        """Whether a piece has initial values that had not begun at the last query time."""
        if not upkeep.initial or self.old.query is None:
            return False
        timeline = self.space.timeline
        return max(timeline.begin, self.old.floors.get(upkeep.piece.name, 0)) > timeline.inside(self.old.query)

    def _whole_edge(self, body: n.Node, edge: int) -> int:
        """The start of the first interval whose fate is not settled yet.

        For Allen relations this keeps what RTEC_A's windowing keeps (Algorithm 9 of Mantenoglou's thesis), and more:
        for all entities together, back to where no interval of either side goes on.
        """
        spans = [self._times(leaf.name) for leaf in leaves_of(body) if isinstance(leaf, n.Fluent)]
        if isinstance(body, n.Allen) and body.relation == "before":
            if self.whole.horizon is None:
                return 0
            edge -= self.whole.horizon
        if isinstance(body, n.Lasting):
            limit = longest_asked(body, self.whole)
            if limit is not None and self.old.query is not None:  # what was known to last longer is settled
                starts, ends = spans[0]
                known = min(edge, self.space.timeline.inside(self.old.query))
                open_ = (ends >= edge) & (known - starts <= limit)
                return int(starts[open_].min(initial=edge))
        while True:
            low = min(int(starts[ends >= edge].min(initial=edge)) for starts, ends in spans)
            if low >= edge:
                return edge
            edge = low

    def _times(self, name: str) -> tuple[Array, Array]:
        relation = self.old.relations.get(name)
        if relation is None:
            return np.empty(0, np.int64), np.empty(0, np.int64)
        mask = self.space.timeline.mask
        return relation.intervals.starts & mask, relation.intervals.ends & mask

    def _needs(self) -> dict[str, int]:
        """From when on each result is still read, or may still change."""
        needs = dict(self.edges)
        for upkeep in self.plan.upkeep:
            edge = self.edges[upkeep.piece.name] - self.space.timeline.tick * (2 if upkeep.piece.kind == "runs" else 1)
            if isinstance(upkeep.piece.body, n.Allen) and upkeep.piece.body.relation == "before":
                edge -= self.whole.horizon or 0  # a target may have its source there
            for name in upkeep.reads:
                needs[name] = min(needs.get(name, edge), edge)
        for name in self.plan.built:
            if name in needs:
                needs[name] -= 2 * self.space.timeline.tick
        return needs

    # -- one step -----------------------------------------------------------------------------------------------------

    def run(self) -> State:
        """Evaluate every piece and give the new state."""
        self.find_edges()
        needs = self._needs()
        self._settle_tables()
        self._forget(needs)
        inputs = {name: self._applied(name, kept, needs[name]) for name, kept in self.old.inputs.items()}
        self._find_deltas(inputs)
        self.whole.inputs = {name: kept for name, kept in inputs.items()
                             if kept.kind != "interval" and name not in self.plan.built}
        for name in sorted(inputs, key=lambda name: name not in self.whole.inputs):  # fronts of plain facts come first
            self._input(name, inputs[name])
        for name, leaf in self.plan.imports.items():
            came, went = self.news[name].results(self.space) if name in self.news else (None, None)
            (self._import if leaf.sort == "intervals" else self._import_points)(name, leaf.fields, came, went)
        for upkeep in self.plan.upkeep:
            try:
                self.whole.measured(upkeep.piece.body, self._brought_up, upkeep)
            except OverBudget as problem:
                raise problem.of(upkeep.piece.names) from None
        return State(inputs, self.relations, self.points, self.fired, self.tables, self.settled, self.saved,
                     {p.name: self.edges[p.name] for p in self.plan.pieces}, self.space.timeline.until, self.sizes,
                     self.old.floors)

    def _applied(self, name: str, kept: Retained, need: int) -> Retained:
        """An input without what is settled, with what came and without what went."""
        origin = self.space.timeline.origin
        kept = kept.without(need + origin)
        operations = self.operations.get(name)
        if operations is not None:
            kept, added, removed, missed = kept.apply(operations, self.low)
            self.unmatched += missed
            if len(added) or len(removed):
                self._news[name] = (added, removed)
        return kept

    def _find_deltas(self, inputs: Mapping[str, Retained]) -> None:
        """Where facts came or went; if most are new, it does not matter where."""
        new, total = sum(len(added) for added, _ in self._news.values()), sum(map(len, inputs.values()))
        self._most_new = self.evaluation == "auto" and new > _MOST_PART * total
        if self.forgotten:
            self._most_new = True
            self.deltas |= dict.fromkeys(self.forgotten, _ANYWHERE)
        for name, parts in self._news.items():
            self.deltas[name] = _ANYWHERE if self._most_new else delta_of(
                inputs[name].fields, parts, self.space.timeline.origin)

    def _forget(self, needs: dict[str, int]) -> None:
        """What is still held of the results before: the base for the new ones."""
        mask = self.space.timeline.mask
        self._held: dict[str, Relation] = {}
        self._held_points: dict[str, Rows] = {}
        for name, relation in self.old.relations.items():
            kept = self._held[name] = Relation(self.space, relation.fields, relation.intervals)
            if 7 * len(kept) > 8 * self.sizes.setdefault(name, 64):  # forgetting in small pieces would cost too much
                kept = self._held[name] = kept.where((kept.intervals.ends & mask) >= needs.get(name, 0))
                self.sizes[name] = max(len(kept), 64)
        for name, rows in (*self.old.points.items(), *((f"fired {f}", rows) for f, rows in self.old.fired.items())):
            self._held_points[name] = _kept_since(rows, needs.get(name, 0))

    def _input(self, name: str, kept: Retained) -> None:
        if name in self.whole.inputs:
            self._lower(name, self.deltas.get(name))
            return
        if any(f.type == n.UNUSED for f in kept.fields):
            return  # no rule asks for it
        held = self._held.get(name)
        runs = kept.kind != "interval"
        if held is not None and name not in self.deltas and not runs:
            self._define(name, held, held)
            return
        new, part = Front(self.edge).spliced(self.space, held, kept.relation(self.space))
        self._define(name, held, new, part=part)

    def _import(self, name: str, fields: n.Fields, came: Result | None, went: Result | None) -> None:
        """A result that is kept up to date elsewhere, with what came of it and without what went."""
        none = Relation.nothing(self.space, fields)
        held = self._held.get(name)
        come, gone = (found if isinstance(found, Relation) else none for found in (came, went))
        if held is not None and not len(come) and not len(gone):
            self._define(name, held, held)
            return
        left = difference((none if held is None else held).intervals, gone.intervals, trusted=True)
        new = Relation(self.space, fields, union(left, come.intervals, trusted=True))
        self._define(name, held, new, part=(gone, come))

    def _import_points(self, name: str, fields: n.Fields, came: Result | None, went: Result | None) -> None:
        come, gone = (np.unique(pack_rows(self.space, rows, fields, timed=True)) if isinstance(rows, Rows) else _NONE
                      for rows in (came, went))
        old = self._held_points.get(name)
        before = _NONE if old is None else pack_rows(self.space, old, fields, timed=True)
        rows = self._points(fields, np.union1d(np.setdiff1d(before, gone, assume_unique=True), come))
        if name.startswith("fired "):
            self.fired[name.removeprefix("fired ")] = rows
        else:
            self.points[name] = rows
        self._show(name, rows, _both_deltas(self._points(fields, come), self._points(fields, gone)))

    def _define(self, name: str, old: Relation | None, new: Relation, shown: Relation | None = None,
                was: Relation | None = None, part: tuple[Relation, Relation] | None = None) -> None:
        """Keep a relation, show it (or what is reported of it) to its readers, and find where it changed.

        `part`: the old and new rows among which the changes are.
        """
        self.relations[name] = new
        visible = new if shown is None else shown
        before = was if was is not None else old
        delta = None
        if before is None:
            before = Relation.nothing(self.space, new.fields)
        if new is not old and self._everything(name):
            delta = None if visible.intervals == before.intervals else _ANYWHERE
        elif new is not old:
            delta = self._changed(*(part or (before, visible)))
        self.before[name] = before
        self._show(name, visible, self._woken(name, visible, delta))

    def _everything(self, name: str) -> bool:
        """Whether all pieces that read a result are computed whole: then it does not matter where it changed."""
        return name not in self.plan.bounds and all(
            self._whole_type(type_) for type_, _ in self.plan.splits.get(name, ()))

    def _changed(self, old: Relation, new: Relation) -> Delta | None:
        """Where the content of two relations differs (the paper's I+ and I-)."""
        gone = difference(old.intervals, new.intervals, trusted=True)
        come = difference(new.intervals, old.intervals, trusted=True)
        starts = np.concatenate((gone.starts, come.starts))
        if starts.shape[0] == 0:
            return None
        columns = unpack(self.space, new.fields, starts)
        # the start of an interval happens one tick before it, its end at its last point
        time = (starts & self.space.timeline.mask) - self.space.timeline.tick
        return Delta(tuple(columns[f.name] for f in new.fields), time)

    def _awake(self, name: str) -> bool:
        """Whether a start or an end that was known before happens now."""
        return self._woken(name, self._held[name], None) is not None

    def _woken(self, name: str, relation: Relation, delta: Delta | None) -> Delta | None:
        """Starts and ends that were known before and happen now."""
        if name not in self.plan.bounds or self.old.query is None:
            return delta
        timeline = self.space.timeline
        last, now = timeline.inside(self.old.query), timeline.inside(timeline.until)
        starts, ends = relation.intervals.starts & timeline.mask, relation.intervals.ends & timeline.mask
        near = ((starts > last) & (starts - timeline.tick <= now)) | ((ends - timeline.tick > last) & (
            ends - timeline.tick <= now))
        if not near.any():
            return delta
        woken = relation.where(near)
        times = [np.full(len(woken), last, np.int64)] + ([] if delta is None else [delta.time])
        columns = unpack(self.space, woken.fields, woken.intervals.starts)
        parts = [[columns[f.name] for f in woken.fields]] + ([] if delta is None else [list(delta.columns)])  # type: ignore[list-item]
        return Delta(tuple(np.concatenate([p[i] for p in parts]) for i in range(len(woken.fields))),  # type: ignore[misc]
                     np.concatenate(times))

    def _show(self, name: str, result: Result, delta: Delta | None) -> None:
        """Let the pieces that follow read a result; what changed in it lowers the fronts."""
        self.shown[name] = result
        if name.startswith("fired ") and isinstance(result, Rows):
            self.whole.fired[name.removeprefix("fired ")] = result
        self._lower(name, delta)

    def _lower(self, name: str, delta: Delta | None) -> None:
        if delta is None or not len(delta):
            self.deltas.pop(name, None)
            return
        self.deltas[name] = delta
        if delta is _ANYWHERE:
            return
        tick = self.space.timeline.tick
        time = np.maximum(delta.time // tick * tick, 0)
        for type_, position in self.plan.splits.get(name, ()):
            front = self._front(type_)
            codes = delta.columns[position]
            assert codes is not None
            if lower(front, codes, time, trusted=True):
                self._parts.pop(type_, None)
                self._lowest[type_] = min(self._lowest.get(type_, int(NEVER)), int(time.min()))

    def _brought_up(self, upkeep: Upkeep) -> Relation | None:
        """Bring a piece up to date; of a simple fluent that was computed, everything that is held of it now."""
        self._piece(upkeep)
        piece = upkeep.piece
        return self.relations[piece.name] if piece.kind == "inertia" and self.choices[piece.name] != "reuse" else None

    def _piece(self, upkeep: Upkeep) -> None:
        piece = upkeep.piece
        first = self.old.query is None or piece.name in self.fresh
        dirty = first or not upkeep.reads.isdisjoint(self.deltas) or not upkeep.tables.isdisjoint(self.changed_tables)
        dirty = dirty or self._unborn(upkeep) or self._due(upkeep)
        if piece.kind == "rows":
            self._rows(piece, dirty)
        elif piece.kind == "cycle":
            if dirty or any(self._awake(name) for name in upkeep.bounds.intersection(piece.names)):
                self._cycle(upkeep)
            else:
                self._reuse(piece)
        elif not dirty:
            self._reuse(piece)
        elif piece.kind == "points":
            self._events(upkeep)
        elif piece.kind == "inertia":
            self._inertia(upkeep)
        else:
            self._intervals(upkeep)

    def _due(self, upkeep: Upkeep) -> bool:
        """Whether a piece changes because time goes on: a deadline, a duration, a run of points that ends."""
        timeline = self.space.timeline
        now = timeline.inside(timeline.until)
        if any(self.old.saved[name].due <= now for name in upkeep.piece.names if name in self.old.saved):
            return True
        body = upkeep.piece.body
        if self.old.query is None or not (upkeep.piece.kind == "runs" or isinstance(body, n.Lasting)):
            return False
        starts, ends = self._times(upkeep.piece.name if not isinstance(body, n.Lasting) else leaf_name(body.child))
        open_ = starts[ends == timeline.mask]
        if not isinstance(body, n.Lasting) or body.rows is not None:
            return bool(open_.shape[0])
        limit = longest_asked(body, self.whole)
        lasted, lasts = timeline.inside(self.old.query) - open_, now - open_
        return limit is None or bool(((lasted <= limit) & (lasts >= limit)).any())

    def _reuse(self, piece: Piece) -> None:
        """Nothing that the piece reads has changed."""
        self.choices[piece.name] = "reuse"
        for definition in piece.definitions:
            name = definition.name
            if definition.body.sort == "points":
                self.points[name] = self._held_points[name]
                self._show(name, self.points[name], None)
                continue
            held = self._held[name]
            self._define_inertia(name, definition.body, held, held)
            fired = self._held_points.get(f"fired {name}")
            if fired is not None:
                self.fired[name] = fired
                self._show(f"fired {name}", fired, None)
            if name in self.old.saved:  # its edge stays where it was, too
                self.saved[name] = self.old.saved[name]
                self.edges[name] = self.old.edges[piece.name]
        if piece.names[0] in self.saved:
            self.edges[piece.name] = self.old.edges[piece.name]

    def _define_inertia(self, name: str, body: n.Node, old: Relation | None, new: Relation,
                        part: tuple[Relation, Relation] | None = None) -> None:
        """As `_define`; of a simple fluent only the declared values are shown."""
        if not isinstance(body, n.Inertia) or body.reported is None:
            self._define(name, old, new, part=part)
            return
        part = None if part is None else (reported(body, part[0]), reported(body, part[1]))
        self._define(name, old, new, reported(body, new), None if old is None else reported(body, old), part)

    # -- the affected part --------------------------------------------------------------------------------------------

    def _part(self, upkeep: Upkeep) -> Part | None:
        """The executor for the affected entities of a piece; None if everything is to be computed."""
        name = upkeep.piece.name
        if upkeep.column is None or name in self.fresh or self._whole_type(upkeep.column.type):
            return None
        if upkeep.reason is not None and not upkeep.tables.isdisjoint(self.changed_tables):
            return None
        if self._unborn(upkeep):
            return None
        front = self._front(upkeep.column.type)
        if self.evaluation == "keys":
            front = np.where(front < NEVER, self.edges[name], NEVER)
        if self.evaluation == "keys" or name in self.old.floors:
            part = Part(self.whole, np.maximum(front, self.old.edges.get(name, 0)), self.shown)
            if name in self.old.floors:
                part.floor, part.floors = self.old.floors[name], self.old.floors
            part.positions.update(upkeep.positions)
            return part
        known = self._parts.setdefault(upkeep.column.type, [])
        # a front may come from what reaches back further than this piece: what that reads was forgotten before its edge
        edge = self.edges[name] if self._lowest.get(upkeep.column.type, NEVER) < self.edges[name] else 0
        part = next((p for p in known if p.edge == edge and p.fits(upkeep.positions)), None)  # type: ignore[assignment]
        if part is None:
            part = Part(self.whole, np.maximum(front, edge) if edge else front, self.shown)
            part.edge = edge
            known.append(part)
        part.positions.update(upkeep.positions)
        return part

    def _all(self, name: str) -> Executor:
        """The executor for all entities of a piece: of one that came lately, it reads what is after its floor."""
        floor = self.old.floors.get(name)
        if floor is None:
            return self.whole
        if floor not in self._late:
            self._late[floor] = Late(self.whole, floor, self.old.floors, self.shown)
        return self._late[floor]

    def _front_of(self, upkeep: Upkeep, part: Part | None) -> Front:
        """From when on a piece is computed: from its edge, or from the fronts of the affected entities."""
        return Front(self.edges[upkeep.piece.name]) if part is None else Front(part.front, upkeep.column)

    def _front(self, type_: str) -> Array:
        front = self.fronts.get(type_)
        if front is None:
            front = self.fronts[type_] = np.full(1 << self.space.width(type_), NEVER)
        return front

    def _whole_type(self, type_: str) -> bool:
        """Whether so much is affected that everything is computed. It is decided when the facts are known."""
        if self.evaluation != "auto" or self.old.query is None or self._most_new:
            return self._most_new or self.evaluation == "full" or self.old.query is None
        known = self._shares.get(type_)
        if known is None:
            front, total, affected = self._front(type_), 0, 0
            inputs = self.whole.inputs if not self.deltas.keys().isdisjoint(self.whole.inputs) else {}
            for name, kept in inputs.items():
                for split, position in self.plan.splits.get(name, ()):
                    if split == type_:
                        few, many = kept.share(self.space, kept.fields[position].name, front)
                        affected, total = affected + few, total + many
            known = self._shares[type_] = affected / total if total else 0.0
        return known > _MOST_PART

    # -- pieces -------------------------------------------------------------------------------------------------------

    def _intervals(self, upkeep: Upkeep) -> None:
        piece = upkeep.piece
        part = self._part(upkeep) if piece.kind == "local" else None
        self.choices[piece.name] = "full" if part is None else "part"
        run = self._all(piece.name) if part is None else part
        found = run.relation_of(piece.body)
        old = self._held.get(piece.name)
        if old is not None and found.fields != old.fields:
            found = found.project(old.fields)
        new, changed = self._front_of(upkeep, part).spliced(self.space, old, found)
        self._define(piece.name, old, new, part=changed)

    def _events(self, upkeep: Upkeep) -> None:
        name = upkeep.piece.name
        part = self._part(upkeep)
        self.choices[name] = "full" if part is None else "part"
        found = (self._all(name) if part is None else part).rows_of(upkeep.piece.body)
        new, delta = self._spliced_points(name, self._held_points.get(name), found, self._front_of(upkeep, part))
        self.points[name] = new
        self._show(name, new, delta)

    def _spliced_points(self, name: str, old: Rows | None, found: Rows, front: Front) -> tuple[Rows, Delta | None]:
        fields, found = found.fields, found.where(front.since(found))
        if old is None:
            rows = self.whole.distinct_rows(found)
            self.moved[name] = (rows, rows.take(_NONE))
            return rows, _points_delta(rows)
        new = np.unique(pack_rows(self.space, found, fields, timed=True))
        before = pack_rows(self.space, old.rename(fields), fields, timed=True)
        again = front.since(old)
        merged = self._points(fields, np.union1d(before[~again], new))
        come, gone = (self._points(fields, np.setdiff1d(a, b, assume_unique=True))
                      for a, b in ((new, before[again]), (before[again], new)))
        self.moved[name] = (come, gone)
        return merged, _both_deltas(come, gone)

    def _points(self, fields: n.Fields, packed: Array) -> Rows:
        columns = unpack(self.space, fields, packed)
        columns[TIME] = packed & self.space.timeline.mask
        return Rows(fields, columns, int(packed.shape[0]), timed=True)

    def _inertia(self, upkeep: Upkeep) -> None:
        node = upkeep.piece.body
        assert isinstance(node, n.Inertia)
        name = upkeep.piece.name
        part = self._part(upkeep)
        self.choices[name] = "full" if part is None else "part"
        front = self._front_of(upkeep, part)
        run = self._all(name) if part is None else part
        found = simple_fluent(node, self.space, run.rows_of, run.ties, self._kept(node, name, front))
        self._take_in(node, name, front, found)

    def _kept(self, node: n.Inertia, name: str, front: Front) -> Kept | None:
        """What a simple fluent goes on from."""
        if self.old.query is None or (name in self.fresh and name not in self._held):
            return None
        floor = self.old.floors.get(name)
        begin = floor if floor is not None and self.space.timeline.begin <= floor else None
        if node.delays:
            saved = self._moved(node, name)
            marks = saved.marks
            rows = self._points(node.fields[:-1], marks.points)
            stay = ~front.since(rows)
            self.saved[name] = saved
            return Kept(front.since, saved.carry, marks.where(stay), begin)
        held = self._held[name]
        return Kept(front.since, self._carried(held.where(front.crossed_by(held))), begin=begin)

    def _carried(self, held: Relation) -> Carry:
        value = held.fields[-1]
        points = move(self.space, held.fields, held.fields[:-1], held.intervals.starts)
        codes = held.codes(value.name)
        if not is_sorted(points):
            sorting = np.argsort(points, kind="stable")
            points, codes = points[sorting], codes[sorting]
        return Carry.of(points, codes)

    def _moved(self, node: n.Inertia, name: str) -> Saved:
        """What a fluent with deadlines keeps, with everything before its new edge worked into what is carried."""
        saved, edge = self.old.saved[name], self.edges[name]
        marks, timeline = saved.marks, self.space.timeline
        early = (marks.points & timeline.mask) < edge
        if edge <= self.old.edges.get(name, 0):
            return saved
        until = replace(timeline, until=edge - timeline.tick + timeline.origin)
        settled = Kept(lambda rows: np.zeros(rows.length, np.bool_), saved.carry, marks.where(early))
        found = simple_fluent(replace(node, changes=(), initial=()), Space(self.space.domains, until),
                              self.whole.rows_of, self.whole.ties, settled)
        carry = saved.carry if found.left is None else found.left
        return Saved(carry, marks.where(~early), saved.due)

    def _take_in(self, node: n.Inertia, name: str, front: Front, answer: SimpleFluent) -> None:
        """The intervals of a simple fluent that were found, with what was known before."""
        found, fired, marks, left = answer.relation, answer.fired, answer.marks, answer.left
        held = self._held.get(name)
        new, part = found, None
        if held is not None:
            past, rest = held.split((Front(self.edges[name]) if node.delays else front).over(held))
            new = Relation(self.space, found.fields, union(past.intervals, found.intervals, trusted=True))
            part = (rest, found)
        if node.delays:
            carry = self.saved[name].carry if name in self.saved else Carry.of(_NONE, _NONE)
            empty = Marks(_NONE, np.empty(0, np.uint32), (), ())
            waiting = _NONE if left is None else left.waiting & self.space.timeline.mask
            self.saved[name] = Saved(carry, empty if marks is None else marks, int(waiting.min(initial=NEVER)))
            before = self._held_points.get(f"fired {name}")
            rows, delta = self._spliced_points(f"fired {name}", before, fired, Front(self.edges[name]))
            self.fired[name] = rows
            self._show(f"fired {name}", rows, delta)
        self._define_inertia(name, node, held, new, part)

    def _cycle(self, upkeep: Upkeep) -> None:
        piece = upkeep.piece
        self.choices[piece.name] = "full"
        front, run = Front(self.edges[piece.name]), self._all(piece.name)
        for definition in piece.definitions:
            if isinstance(definition.body, n.Inertia):
                kept = self._kept(definition.body, definition.name, front)
                if kept is not None:
                    run.kept[definition.name] = kept
        run.settle(n.Stratum(0, piece.definitions, cyclic=True))
        results = {name: run.results.pop(name) for name in piece.names}
        for definition in piece.definitions:
            name, body, result = definition.name, definition.body, results[definition.name]
            if isinstance(body, n.Inertia):
                self._take_in(body, name, front, run.found[name])
            elif isinstance(result, Relation):
                old = self._held.get(name)
                edge = max(self.edges[piece.name], self.old.floors.get(name, 0))
                new, part = Front(edge).spliced(self.space, old, result)
                self._define(name, old, new, part=part)
            else:
                rows, delta = self._spliced_points(name, self._held_points.get(name), result, front)
                self.points[name] = rows
                self._show(name, rows, delta)
            run.forget(name)

    # -- rows that the input fills ------------------------------------------------------------------------------------

    def _rows(self, piece: Piece, dirty: bool) -> None:
        """The rows that settled facts gave, and those of the facts that are held."""
        name, old = piece.name, self.old.tables.get(piece.name)
        settled = self.settled.get(name)
        if not dirty and old is not None:
            self.tables[name] = self.all_tables[name] = old
            return
        found = self._all(name).rows_of(piece.body)
        if settled is not None:
            found = _both(settled.rename(found.fields), found)
        new = self.whole.distinct_rows(found)
        self.tables[name] = self.all_tables[name] = new
        if old is None or not np.array_equal(pack_rows(self.space, old, old.fields),
                                             pack_rows(self.space, new, new.fields)):
            self.changed_tables.add(name)

    def _settle_tables(self) -> None:
        """Remember the rows of facts that can no longer be taken back."""
        if self.old.query is None:
            return
        tables = [p for p in self.plan.pieces if p.kind == "rows"]
        moved = [p for p in tables if p.name not in self.old.settled or self.edges[p.name] > self.old.edges[p.name]]
        self.settled = {p.name: self.old.settled[p.name] for p in tables if p not in moved}
        if not moved:
            return
        shown: dict[str, Result] = {name: kept.rows(self.space) for name, kept in self.old.inputs.items()
                                    if kept.kind != "interval" and name not in self.plan.built}
        for name, relation in self.old.relations.items():
            body = self.plan.bodies.get(name)
            shown[name] = reported(body, relation) if isinstance(body, n.Inertia) else relation
        shown |= self.old.points
        shown |= {f"fired {name}": rows for name, rows in self.old.fired.items()}
        for piece in moved:
            found = Early(self.whole, self.old.floors.get(piece.name, 0), self.edges[piece.name], shown,
                          self.old.tables).rows_of(piece.body)
            settled = self.old.settled.get(piece.name)
            if settled is not None:
                found = _both(settled.rename(found.fields), found)
            self.settled[piece.name] = self.whole.distinct_rows(found)


_NONE = np.empty(0, np.int64)
_ANYWHERE = Delta((), np.zeros(1, np.int64))  # it changed, and nobody asks where


def _kept_since(rows: Rows, time: int) -> Rows:
    """Points from a time on; those before are not held by them."""
    kept = rows.where(rows.time >= time)
    if kept is rows:
        return rows
    columns = {name: kept.column(name) for name in (*(f.name for f in rows.fields if f.type != n.UNUSED), TIME)}
    return Rows(rows.fields, columns, kept.length, timed=True)


def _points_delta(rows: Rows) -> Delta:
    columns = tuple(None if f.type in PLAIN else rows.column(f.name) for f in rows.fields)
    return Delta(columns, rows.time)


def _both_deltas(come: Rows, gone: Rows) -> Delta | None:
    """Where points came or went, if any did."""
    if not come.length and not gone.length:
        return None
    deltas = [_points_delta(rows) for rows in (come, gone)]
    columns = tuple(None if a is None or b is None else np.concatenate((a, b))
                    for a, b in zip(deltas[0].columns, deltas[1].columns, strict=True))
    return Delta(columns, np.concatenate([d.time for d in deltas]))


def _both(first: Rows, second: Rows) -> Rows:
    """The rows of two tables without time."""
    columns = {f.name: np.concatenate((first.column(f.name), second.column(f.name))) for f in second.fields
               if f.type != n.UNUSED}
    return Rows(second.fields, columns, first.length + second.length, timed=False)
