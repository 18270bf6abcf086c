"""One step of a stream: from what is held up to a cell to what is known up to a later one (Algorithm 1, lines 9–13).

Times are cells of one grid. In the forward-propagating fragment truth at t depends on nothing later, so a step derives
in its own stretch only; what lies before it is held as far as the operators of the plan look back (`stream_plan`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from eventide.algebra import nodes as n
from eventide.engine.domains import GrowthError, more_room
from eventide.engine.executor import Executor, PlanIndex
from eventide.engine.loading import Store
from eventide.engine.relation import Relation, Rows, Space, Timeline, Values, from_unsorted, pack_with, unpack
from eventide.errors import RangeError
from eventide.kernels.arrays import Array, Intervals
from eventide.kernels.intervals import clip, union
from eventide.mtl.cells import EVER, MOST, NEVER
from eventide.mtl.hashes import bridged, first_cells, kept_from, long_or_running
from eventide.mtl.stream_plan import Part, StreamPlan, part_of


@dataclass(frozen=True)
class Piece:
    """Rows with intervals of cells, independent of any layout: codes by position, starts and ends."""

    fields: n.Fields
    columns: tuple[Values, ...]
    starts: Array
    ends: Array

    def __len__(self) -> int:
        return int(self.starts.shape[0])

    @property
    def last(self) -> int:
        """The last finite end, or `EVER`."""
        last = int(self.ends.max(initial=EVER))
        return last if last != NEVER else int(self.ends[self.ends != NEVER].max(initial=EVER))

    def take(self, index: Array | slice) -> Piece:
        """Some of the rows."""
        return Piece(self.fields, tuple(c[index] for c in self.columns), self.starts[index], self.ends[index])

    def finer(self, factor: int) -> Piece:
        """The same on a grid whose steps are `factor` times smaller."""
        return Piece(self.fields, self.columns, _finer(self.starts, factor), _finer(self.ends, factor))

    def since(self, cell: int) -> Piece:
        """What lies at or after a cell."""
        kept = self.take(np.flatnonzero(self.ends > cell))
        return replace(kept, starts=np.maximum(kept.starts, cell))

    def until(self, cell: int) -> Piece:
        """What lies before a cell."""
        kept = self.take(np.flatnonzero(self.starts < cell))
        return replace(kept, ends=np.minimum(kept.ends, cell))


def joined(pieces: Sequence[Piece]) -> Piece:
    """The rows of pieces with the same columns, one behind the other."""
    if len(pieces) == 1:
        return pieces[0]
    columns = tuple(np.concatenate(parts) for parts in zip(*(p.columns for p in pieces), strict=True))
    return Piece(pieces[0].fields, columns, np.concatenate([p.starts for p in pieces]),
                 np.concatenate([p.ends for p in pieces]))


def finer_cell(cell: int, factor: int) -> int:
    """A cell as it is numbered on a grid whose steps are `factor` times smaller."""
    return 2 * factor * (cell >> 1) + (cell & 1)


def _finer(cells: Array, factor: int) -> Array:
    finite = (cells != EVER) & (cells != NEVER)
    if (np.abs(cells[finite]) >= 2 * MOST // factor).any():
        raise RangeError("the times of the stream do not fit 60 bits on the finer grid; use a coarser unit of time")
    return np.where(finite, 2 * factor * (cells >> 1) + (cells & 1), cells)


@dataclass(frozen=True)
class Held:
    """What is held of a stream: everything is known before the cell `upto` (None: nothing yet)."""

    upto: int | None = None
    parts: Mapping[str, Relation] = field(default_factory=dict)
    """By name: intervals of the window (W), `# name` #-facts, `^ name` when each atom first held (H)."""
    space: Space | None = None
    loose: Mapping[str, Piece] = field(default_factory=dict)
    """The same without a layout, where there is none yet."""

    @property
    def size(self) -> int:
        """How many elements are held."""
        return sum(map(len, self.parts.values())) + sum(map(len, self.loose.values()))

    def pieces(self) -> dict[str, Piece]:
        """What is held, independent of any layout."""
        return dict(self.loose) if self.space is None else {name: piece_of(p) for name, p in self.parts.items()}

    def finer(self, factor: int) -> Held:
        """The same on a grid whose steps are `factor` times smaller."""
        upto = None if self.upto is None else finer_cell(self.upto, factor)
        return Held(upto, loose={name: piece.finer(factor) for name, piece in self.pieces().items()})


@dataclass(frozen=True)
class Step:
    """What a step found: intervals inside it by definition, what is held after it, and the most held during it."""

    low: int | None
    upto: int
    found: Mapping[str, Relation]
    held: Held
    peak: int


class Stepper:
    """Moves what is held of a stream on. Facts are coded in the domains of `store`."""

    def __init__(self, plan: StreamPlan, store: Store, inputs: Collection[str], wanted: Collection[str],
                 open_types: Collection[str] = (), *, carry: bool = True) -> None:
        """`carry`: facts that go on after a step are held; otherwise their rest is given again."""
        self.plan, self.store, self.inputs, self.wanted, self.carry = plan, store, inputs, wanted, carry
        self.open_types = set(open_types)
        self._index = PlanIndex(plan.plan)
        self._space: Space | None = None
        self._spare = 1

    def step(self, held: Held, given: Mapping[str, Piece], upto: int) -> Step:
        """Derive everything before the cell `upto`; `given` are the facts that begin since the last step."""
        while True:
            space = self._laid_out(held, given, upto)
            parts = held.parts
            if held.space is not space:
                parts = {name: laid(space, piece) for name, piece in held.pieces().items()}
            try:
                return self._derived(space, parts, held.upto, given, upto)
            except GrowthError as growth:
                self._spare = more_room(self._spare, growth)
                self.open_types.add(str(growth))
                self._space = None

    def _laid_out(self, held: Held, given: Mapping[str, Piece], upto: int) -> Space:
        """A layout in which the window, the step, and all values fit; the last one if it still does."""
        domains = self.store.domains
        widths = {name: max(len(d) - 1, 0).bit_length() + (self._spare if name in self.open_types else 0)
                  for name, d in domains.items()}
        if held.upto is None:
            first = [int(np.where(p.starts == EVER, p.ends, p.starts).min()) for p in given.values() if len(p)]
            low = min([upto, *first])
        else:
            low = held.upto
        low -= 2 * self.plan.reach + 2
        high = max([upto, *(piece.last for piece in given.values())])
        old = self._space
        if old is not None and old.timeline.origin < low and high - old.timeline.origin + 2 < old.timeline.mask and \
                all(width <= old.width(name) for name, width in widths.items()):
            for name, domain in domains.items():
                domain.lay_out(old.width(name))
            return old
        for name, domain in domains.items():
            domain.lay_out(max(widths[name], domain.width or 0))
        high = max([high, *(piece.last for piece in held.pieces().values())])
        origin = (low - 2) // 2 * 2
        needed = (high - origin + 2).bit_length()
        shift = max(needed, min(needed + 4, 40))  # room to go on without moving
        self._space = Space(domains, Timeline(origin, shift, 1, origin - 1, upto))
        return self._space

    def _derived(self, space: Space, parts: Mapping[str, Relation], before: int | None, given: Mapping[str, Piece],
                 upto: int) -> Step:
        origin, shift = space.timeline.origin, space.timeline.shift
        low, high = 0 if before is None else before - origin, upto - origin
        results = dict(parts)
        for name, piece in given.items():
            if len(piece):
                results[name] = _united(results.get(name), laid(space, piece))
        run = _StepExecutor(space, results, self.store, low, high)
        run.run(self.plan.plan, index=self._index)
        known = {name: result for name, result in run.results.items() if isinstance(result, Relation)}
        found = {name: _cut(known[name], low, high) for name in self.wanted if name in known}
        kept = self._compacted(known, high, shift)
        return Step(before, upto, found, Held(upto, kept, space), sum(map(len, known.values())))

    def _compacted(self, known: Mapping[str, Relation], high: int, shift: int) -> dict[str, Relation]:
        """What must be held after the cell `high` (Tables 3 and 5)."""
        kept: dict[str, Relation] = {}
        if not self.carry:
            known = {name: _cut(part, 0, high) if name in self.inputs else part for name, part in known.items()}

        def keep(name: str, like: Relation, intervals: Intervals) -> None:
            if len(intervals):
                kept[name] = Relation(like.space, like.fields, intervals)

        for name, look in self.plan.looks.items():
            relation = known.get(name)
            often, ever = _with_part(known, name, "#"), _with_part(known, name, "^")
            if look.sometime >= 0 and often is not None:
                near = kept_from(often.intervals, high - look.sometime, shift)
                keep(part_of(name, "#"), often, bridged(near, look.gap or 0, shift))
            if look.ever >= 0 and ever is not None:
                keep(part_of(name, "^"), ever, first_cells(ever.intervals, shift))
            if relation is not None and look.exact >= 0:
                near = kept_from(relation.intervals, high - look.exact, shift)
                keep(name, relation, long_or_running(near, look.least, high, shift) if self.plan.hashed else near)
        for name in self.inputs if self.carry else ():
            if name in known and name not in kept:
                keep(name, known[name], kept_from(known[name].intervals, high, shift))
        return kept


class _StepExecutor(Executor):
    """Evaluates a plan inside one stretch of time; what was known before is there already."""

    def __init__(self, space: Space, known: Mapping[str, Relation], store: Store, low: int, high: int) -> None:
        super().__init__(space, known, store.tables, functions=store.functions)
        self._past = known
        self._low, self._high = low, high

    def _define(self, definition: n.Definition) -> bool:
        value = self.relation_of(definition.body)
        self._memo.pop(id(definition.body), None)
        new = Relation(self.space, value.fields, self.in_stretch(value.intervals))
        self.results[definition.name] = _united(self._past.get(definition.name), new)
        return True

    def known_before(self, name: str) -> Relation | None:
        return self._past.get(name)

    def in_stretch(self, found: Intervals) -> Intervals:
        return clip(found, self._low, self._high, self.space.timeline.shift, trusted=True)


def _with_part(known: Mapping[str, Relation], name: str, part: Part) -> Relation | None:
    """What is known of a predicate, together with what is held of it in another form."""
    whole, other = known.get(name), known.get(part_of(name, part))
    return other if whole is None else _united(other, whole)


def _united(a: Relation | None, b: Relation) -> Relation:
    if a is None or not len(a):
        return b
    return Relation(b.space, b.fields, union(a.intervals, b.intervals, trusted=True))


def _cut(a: Relation, low: int, high: int) -> Relation:
    return Relation(a.space, a.fields, clip(a.intervals, low, high, a.space.timeline.shift, trusted=True))


def laid(space: Space, piece: Piece) -> Relation:
    """Rows with intervals in a layout; what begins before it begins counts from its first finite cell."""
    origin, mask = space.timeline.origin, space.timeline.mask
    rows = Rows(piece.fields, {f.name: c for f, c in zip(piece.fields, piece.columns, strict=True)}, len(piece),
                timed=False)
    starts, ends = piece.starts, piece.ends
    if int(starts.min(initial=NEVER)) > origin and int(ends.max(initial=EVER)) <= origin + mask:
        starts, ends = starts - origin, ends - origin
    else:
        ever, never = starts == EVER, ends == NEVER
        starts = np.where(ever, 0, np.maximum(np.where(ever, origin, starts) - origin, 1))
        ends = np.where(never, mask, np.clip(np.where(never, origin, ends) - origin, 2, mask))
    return from_unsorted(space, piece.fields, pack_with(space, rows, piece.fields, starts),
                         pack_with(space, rows, piece.fields, ends))


def piece_of(relation: Relation) -> Piece:
    """The rows of a relation, independent of its layout."""
    space, mask, origin = relation.space, relation.space.timeline.mask, relation.space.timeline.origin
    columns = unpack(space, relation.fields, relation.intervals.starts)
    starts, ends = relation.intervals.starts & mask, relation.intervals.ends & mask
    return Piece(relation.fields, tuple(columns[f.name] for f in relation.fields),
                 np.where(starts == 0, EVER, starts + origin), np.where(ends == mask, NEVER, ends + origin))
