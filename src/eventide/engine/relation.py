"""The two tables of the engine: the temporal relation (rows with maximal intervals) and plain or timed rows.

A relation is one sorted list of intervals on the flat timeline: the codes of its columns are bit fields above the
time, so that all keys lie on one line and the kernels need not know them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from eventide.algebra.nodes import STAMP, TIME, Field, Fields, names
from eventide.engine.tuples import Domains, Tuples
from eventide.errors import RangeError
from eventide.kernels.arrays import Array, Intervals, Mask, empty
from eventide.kernels.intervals import coalesce
from eventide.kernels.packing import field as bits
from eventide.kernels.packing import repack
from eventide.kernels.sorting import is_sorted, order, sort_points, unique
from eventide.kernels.stab import from_points

WORD = 63
Values = npt.NDArray[Any]  # the cells of a column: codes or integers (int64), or floats (float64)


@dataclass(frozen=True, slots=True)
class Timeline:
    """How time is laid out in a run: `origin` is time-point 0 of the low `shift` bits; the last cell means open."""

    origin: int
    shift: int
    tick: int
    start: int
    until: int
    initially_at: int = 0

    @property
    def mask(self) -> int:
        return (1 << self.shift) - 1

    @property
    def begin(self) -> int:
        """Where initial values begin, as an offset."""
        late = self.start > self.initially_at
        return self.inside(first_point(self.start + 1, self.tick) if late else self.initially_at)

    @staticmethod
    def covering(low: int, high: int, *, tick: int, start: int, until: int, initially_at: int = 0) -> Timeline:
        """The narrowest timeline for the time-points low … high, a tick to spare on both sides."""
        origin = (low // tick - 2) * tick
        shift = (high - origin + 3 * tick + 1).bit_length()
        if shift > WORD - 1:
            raise RangeError(f"times from {low} to {high} span more than 62 bits; declare a coarser unit of time")
        return Timeline(origin, shift, tick, start, until, initially_at)

    def inside(self, time: int) -> int:
        """A time as the offset that is stored."""
        return time - self.origin


class TimelineGrowth(Exception):
    """Something will happen so much later than the present that the timeline has no room for it."""

    def __init__(self, ahead: int) -> None:
        super().__init__(f"the timeline must reach {ahead} beyond the present")
        self.ahead = ahead


def first_point(time: int, tick: int) -> int:
    """The first time-point that is not before a time."""
    return -(-time // tick) * tick


def start_before(time: int, tick: int) -> int:
    """A start for which a time is inside: a tick before the first time-point from there on."""
    return first_point(time, tick) - tick


class Space:
    """The domains and the timeline of a run: how rows are packed into points.

    The codes of a key lie side by side above the time. Where that would be too wide, a key is the number of its tuple:
    then its width is that of how many tuples there are.
    """

    packed: ClassVar[int] = WORD
    """How wide points may be whose codes lie side by side."""

    def __init__(self, domains: Domains, timeline: Timeline) -> None:
        self.domains = domains
        self.timeline = timeline
        self._widths = {name: domain.width for name, domain in domains.items()} | {STAMP: timeline.shift}
        self._layouts: dict[int, tuple[Fields, Layout]] = {}
        self._by_types: dict[tuple[str, ...], Layout] = {}

    def width(self, type_: str) -> int:
        """The bits of a column of a type."""
        width = self._widths.get(type_)
        if width is None:  # it stays what it is now, whatever comes of the domain
            width = self._widths[type_] = self.domains[type_].width
        assert width is not None, f"domain {type_} has no layout yet"
        return width

    def layout(self, fields: Fields) -> Layout:
        """How rows with these columns are packed."""
        known = self._layouts.get(id(fields))  # with the fields beside it, so that the id stays theirs
        if known is not None:
            return known[1]
        types = tuple([field.type for field in fields])
        layout = self._by_types.get(types)
        if layout is None:
            layout = self._by_types[types] = self._layout(types)
        self._layouts[id(fields)] = fields, layout
        return layout

    def _layout(self, types: tuple[str, ...]) -> Layout:
        at = self.timeline.shift
        shifts = []
        widths = tuple(map(self.width, types))
        for width in reversed(widths):
            shifts.append(at)
            at += width
        if at > self.packed and len(types) > 1:
            return Layout((self.timeline.shift,), (), types, self.domains.tuples)
        if at > WORD:
            raise self._too_wide(f"{len(self.domains[types[0]])} values" if types[0] in self.domains else "time-points")
        return Layout(tuple(reversed(shifts)), widths)

    def _too_wide(self, what: str) -> RangeError:
        return RangeError(f"{what} and a time of {self.timeline.shift} bits need together more than {WORD} bits; "
                          "shorten the time span, or declare a coarser unit of time")

    def pack(self, fields: Fields, columns: Sequence[Values], length: int, time: Array | None = None) -> Array:
        """The points of rows, given by columns: the fields in order, then the time (0 if there is none)."""
        layout = self.layout(fields)
        if layout.numbered:
            tuples = self.domains.tuples
            numbers = tuples.number(layout.types, [np.ascontiguousarray(np.broadcast_to(column, (length,)))
                                                   for column in columns])
            if tuples.count(layout.types) > 1 << (WORD - self.timeline.shift):
                raise self._too_wide(f"{tuples.count(layout.types)} combinations of values")
            packed = numbers << np.int64(self.timeline.shift)
            return packed if time is None else packed | time
        found = time
        for column, shift, width in zip(columns, layout.shifts, layout.widths, strict=True):
            if width:
                part = np.left_shift(column, shift, dtype=np.int64)
                found = part if found is None else np.bitwise_or(found, part)
        return np.zeros(length, np.int64) if found is None else found

    def unpack(self, fields: Fields, points: Array) -> list[Values]:
        """The columns of packed points."""
        layout = self.layout(fields)
        if layout.numbered:
            return list(self.domains.tuples.columns(layout.types, points >> np.int64(self.timeline.shift)))
        return [bits(points, shift, width) for shift, width in zip(layout.shifts, layout.widths, strict=True)]

    def key_bits(self, fields: Fields) -> int:
        """How wide the keys of rows with these columns may be."""
        layout = self.layout(fields)
        return WORD - self.timeline.shift if layout.numbered else sum(layout.widths)

    def by_key(self, fields: Fields, place: int, values: Array) -> tuple[int, int, Array]:
        """Values by the codes of a column as values by a part of a packed point: its lowest bit, its width, the values.
        """
        layout = self.layout(fields)
        if not layout.numbered:
            return layout.shifts[place], layout.widths[place], values
        number = self.domains.tuples.count(layout.types)
        width = max(number - 1, 0).bit_length()
        found = np.zeros(1 << width, np.int64)
        found[:number] = values[self.domains.tuples.columns(layout.types, np.arange(number))[place]]
        return self.timeline.shift, width, found


class Layout:
    """How far left each column of a key is, and how wide; or the types of the tuples whose numbers are the keys."""

    __slots__ = ("key", "numbered", "shifts", "types", "widths")

    def __init__(self, shifts: tuple[int, ...], widths: tuple[int, ...], types: tuple[str, ...] = (),
                 tuples: Tuples | None = None) -> None:
        self.shifts, self.widths, self.types = shifts, widths, types
        self.numbered = bool(types)
        self.key = shifts, widths, types, tuples
        """Where this is equal, so are packed points."""


class Rows:
    """Rows with named columns: domain codes (int64) or numbers; points have the column `@` for time.

    Columns are gathered when they are read: a filter keeps an index into its parent.
    """

    __slots__ = ("_alias", "_defined", "_distinct", "_gathered", "_index", "_packed", "_parent", "_roots", "fields",
                 "length", "timed")

    def __init__(self, fields: Fields, columns: Mapping[str, Values], length: int, *, timed: bool,
                 parent: Rows | None = None, index: Array | None = None,
                 alias: Mapping[str, str] | None = None) -> None:
        self.fields = fields
        self.length = length
        self.timed = timed
        self._defined = columns
        self._gathered: dict[str, Values] = {}
        self._parent = parent
        self._index = index
        self._alias: Mapping[str, str] = alias or {}
        self._distinct: dict[int, bool] = {}
        self._packed: dict[tuple[object, ...], Array] = {}
        self._roots: dict[tuple[str, ...], tuple[Rows, Array | None, tuple[str, ...]]] = {}

    def column(self, name: str) -> Values:
        """The values of a column."""
        found = self._defined.get(name)
        if found is None:
            found = self._gathered.get(name)
        if found is None:
            assert self._parent is not None, f"no column {name}"
            found = self._parent.column(self._alias.get(name, name))
            if self._index is not None:
                found = found.take(self._index, mode="clip")  # the index is in range: no check per element
            self._gathered[name] = found
        return found

    def root(self, names: tuple[str, ...]) -> tuple[Rows, Array | None, tuple[str, ...]]:
        """The rows that these columns come from unchanged, which of them these are (None: all), their names there."""
        if self._parent is None or any(name in self._defined for name in names):
            return self, None, names  # not remembered: rows that hold themselves would live on
        known = self._roots.get(names)
        if known is None:
            above = tuple(self._alias.get(name, name) for name in names)
            rows, index, there = self._parent.root(above)
            if self._index is not None:
                index = self._index if index is None else index.take(self._index, mode="clip")
            known = self._roots[names] = (rows, index, there)
        return known

    def is_distinct(self, packed: Array) -> bool:
        """Whether the packed points of these rows are sorted and distinct (found out once)."""
        known = self._distinct.get(id(packed))
        if known is None:
            known = self._distinct[id(packed)] = is_sorted(packed, distinct=True)
        return known

    @property
    def own_bytes(self) -> int:
        """The bytes of the columns that these rows hold themselves, and of their places among other rows."""
        return sum(values.nbytes for values in self._defined.values()) + (
            0 if self._index is None else self._index.nbytes)

    @property
    def time(self) -> Array:
        """The time-points, relative to the timeline's origin."""
        return self.column(TIME)

    def type(self, name: str) -> str:
        """The type of a column."""
        return next(field.type for field in self.fields if field.name == name)

    def take(self, index: Array) -> Rows:
        """The rows at these positions."""
        return Rows(self.fields, {}, int(index.shape[0]), timed=self.timed, parent=self, index=index)

    def where(self, mask: Mask) -> Rows:
        """The rows where the mask is set."""
        if mask.all():
            return self
        return self.take(np.flatnonzero(mask))

    def extend(self, new: Sequence[tuple[Field, Values]]) -> Rows:
        """The same rows with more columns."""
        fields = self.fields + tuple(field for field, _ in new)
        return Rows(fields, {field.name: values for field, values in new}, self.length, timed=self.timed, parent=self)

    def keep(self, fields: Fields, *, timed: bool | None = None) -> Rows:
        """The same rows with fewer columns."""
        return Rows(fields, {}, self.length, timed=self.timed if timed is None else timed, parent=self)

    def rename(self, fields: Fields) -> Rows:
        """The same columns under other names, position by position."""
        if fields == self.fields:
            return self
        alias = {new.name: old.name for new, old in zip(fields, self.fields, strict=True)}
        return Rows(fields, {}, self.length, timed=self.timed, parent=self, alias=alias)


def pack_rows(space: Space, rows: Rows, fields: Fields, *, timed: bool = False) -> Array:
    """The packed points of rows: the fields in order, then their time (or 0); packed where the columns come from."""
    root, index, there = rows.root((*names(fields), TIME) if timed else names(fields))
    key = (there, space.layout(fields).key)
    packed = root._packed.get(key)
    if packed is None:
        if index is not None and 8 * index.shape[0] < root.length:
            return pack_with(space, rows, fields, rows.time if timed else None)
        renamed = tuple(Field(name, field.type) for name, field in zip(there, fields, strict=False))
        packed = root._packed[key] = pack_with(space, root, renamed, root.time if timed else None)
    return packed if index is None else packed.take(index, mode="clip")


def pack_with(space: Space, rows: Rows, fields: Fields, time: Array | None) -> Array:
    """The packed points of rows with the given times (0 if there are none)."""
    return space.pack(fields, [rows.column(field.name) for field in fields], rows.length, time)


def append_field(space: Space, fields: Fields, points: Array, codes: Array | int) -> Array:
    """Packed points with the last of `fields` put in between the others and the time; in general no longer sorted."""
    old, new, timeline = space.layout(fields[:-1]), space.layout(fields), space.timeline
    mask = np.int64(timeline.mask)
    if old.numbered or new.numbered:
        columns = [*space.unpack(fields[:-1], points), np.asarray(codes)]
        return space.pack(fields, columns, points.shape[0], points & mask)
    width = new.widths[-1]
    if width == 0:
        return points
    return ((points & ~mask) << width) | (codes << np.int64(timeline.shift)) | (points & mask)


def unpack(space: Space, fields: Fields, packed: Array) -> dict[str, Values]:
    """The codes of the fields of packed points."""
    return dict(zip(names(fields), space.unpack(fields, packed), strict=True))


class Relation:
    """The temporal relation: fields, and the maximal intervals of every row on the flat timeline."""

    __slots__ = ("fields", "intervals", "space")

    def __init__(self, space: Space, fields: Fields, intervals: Intervals) -> None:
        self.space = space
        self.fields = fields
        self.intervals = intervals

    def __len__(self) -> int:
        return len(self.intervals)

    @staticmethod
    def nothing(space: Space, fields: Fields) -> Relation:
        """The relation without rows."""
        return Relation(space, fields, empty())

    def rename(self, fields: Fields) -> Relation:
        """The same relation under other names, position by position."""
        return self if fields == self.fields else Relation(self.space, fields, self.intervals)

    def codes(self, name: str) -> Array:
        """The codes of a column, one per interval."""
        place, layout = names(self.fields).index(name), self.space.layout(self.fields)
        if layout.numbered:
            return self.space.unpack(self.fields, self.intervals.starts)[place]
        return bits(self.intervals.starts, layout.shifts[place], layout.widths[place])

    def rows(self) -> Rows:
        """One row per interval, without time."""
        return Rows(self.fields, unpack(self.space, self.fields, self.intervals.starts), len(self), timed=False)

    def keys(self) -> Array:
        """The distinct keys, packed with time 0, ascending."""
        shift = self.space.timeline.shift
        return unique(self.intervals.starts >> shift << shift, trusted=True)

    def where(self, mask: Mask) -> Relation:
        """The intervals where the mask is set."""
        if mask.all():
            return self
        return Relation(self.space, self.fields, Intervals(self.intervals.starts[mask], self.intervals.ends[mask]))

    def split(self, mask: Mask) -> tuple[Relation, Relation]:
        """The intervals where the mask is set, and the others."""
        parts = (self.intervals.starts, self.intervals.ends)
        return tuple(Relation(self.space, self.fields, Intervals(*(part[index] for part in parts)))  # type: ignore[return-value]
                     for index in (np.flatnonzero(mask), np.flatnonzero(~mask)))

    def project(self, fields: Fields) -> Relation:
        """Some columns, in any order; intervals of rows that become equal are united."""
        if fields == self.fields:
            return self
        starts, ends = (move(self.space, self.fields, fields, p) for p in (self.intervals.starts, self.intervals.ends))
        return from_unsorted(self.space, fields, starts, ends, injective=len(fields) == len(self.fields))


def move(space: Space, old: Fields, new: Fields, points: Array) -> Array:
    """Packed points with their fields moved (or dropped); the time stays."""
    was, now = space.layout(old), space.layout(new)
    place = {name: number for number, name in enumerate(names(old))}
    order_ = [place[name] for name in names(new)]
    if was.numbered or now.numbered:
        columns = space.unpack(old, points)
        return space.pack(new, [columns[number] for number in order_], points.shape[0],
                          points & np.int64(space.timeline.mask))
    return repack(points, [*zip(was.shifts, was.widths, strict=True), (0, space.timeline.shift)], [*order_, len(old)])


def from_unsorted(space: Space, fields: Fields, starts: Array, ends: Array, *, injective: bool = False) -> Relation:
    """A relation from intervals in any order; overlapping and touching ones are united."""
    if not is_sorted(starts):
        permutation = order(starts)
        starts, ends = starts[permutation], ends[permutation]
    if injective:
        return Relation(space, fields, Intervals(starts, ends))
    return Relation(space, fields, coalesce(starts, ends))


def distinct(points: Array) -> Array:
    """The distinct points, ascending (the array itself if they are so already)."""
    return points if is_sorted(points, distinct=True) else unique(sort_points(points), trusted=True)


def runs_of(space: Space, rows: Rows) -> Relation:
    """Points to intervals: points of a row at most one tick apart are one interval, which ends a tick after the last
    (and is open if that is the end of the run)."""
    timeline = space.timeline
    points = distinct(pack_rows(space, rows, rows.fields, timed=True))
    last = timeline.inside(timeline.until) // timeline.tick * timeline.tick
    found = from_points(points, timeline.tick, timeline.tick, timeline.shift, until=last, trusted=True)
    if timeline.tick > 1:  # a run ends at the first point of the grid after its last point
        time = found.ends & timeline.mask
        snapped = (time - timeline.tick) // timeline.tick * timeline.tick + timeline.tick
        ends = np.where(time == timeline.mask, found.ends, found.ends - time + snapped)
        found = Intervals(found.starts, ends)
    return Relation(space, rows.fields, found)
