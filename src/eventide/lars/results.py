"""Answers of LARS programs as tables: maximal intervals of time-points at which atoms are concluded, per answer stream.

The columns are those of all results. `value` is empty for what is concluded of now; what is known at t of an earlier
time-point has that in `value` (only if asked for), and contradictions that are flagged have their rule. Programs with
several answer streams have a column `model`: the number of the answer stream, empty for what is in all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from eventide.algebra.nodes import STAMP
from eventide.engine.answers import SCHEMA, arguments, intervals_table
from eventide.engine.recognition import Counts
from eventide.engine.relation import Relation, unpack
from eventide.kernels.arrays import Array
from eventide.lars.answer_sets import Answer, Point
from eventide.lars.splitting import GIVEN
from eventide.results import Result
from eventide.syntax.lars_trees import Predicate
from eventide.syntax.terms import template_of

if TYPE_CHECKING:
    from eventide.lars.contexts import Conflict

MODELS = SCHEMA.append(pa.field("model", pa.int64()))
_SHOWN = 3
FLAG = "⊥"
"""The name under which contradictions are reported, and begin in programs that flag them."""


@dataclass(frozen=True, slots=True)
class NoAnswer:
    """Time-points `start` … `end` - 1 have no answer stream, and why: the rules, with values where they are known."""

    start: int
    end: int
    reasons: tuple[str, ...]

    def __str__(self) -> str:
        points = f"at {self.start}" if self.end == self.start + 1 else f"from {self.start} to {self.end - 1}"
        more = f"; and {len(self.reasons) - _SHOWN} more" if len(self.reasons) > _SHOWN else ""
        return f"no answer stream {points}: {'; '.join(self.reasons[:_SHOWN])}{more}"


class LarsResult(Result):
    """The rows of a run, and what was special: time-points without an answer stream, and with several.

    `several` are stretches of time-points with how many answer streams they have, if all were asked for; `conflicts`
    are those that truth maintenance met.
    """

    def __init__(self, table: pa.Table, counts: Counts, no_answer: Sequence[NoAnswer] = (),
                 several: Sequence[tuple[int, int, int]] = (), conflicts: Sequence[Conflict] = ()) -> None:
        super().__init__(table, counts)
        self.no_answer = list(no_answer)
        self.several = list(several)
        self.conflicts = list(conflicts)


def now_table(relation: Relation, predicate: Predicate) -> pa.Table:
    """When atoms of a predicate hold."""
    return intervals_table(relation, template_of(*predicate), relation.fields, "", None)


def known_table(relation: Relation, predicate: Predicate) -> pa.Table:
    """When atoms of a predicate are known of an earlier time-point, which is the relation's last column."""
    space, line = relation.space, relation.space.timeline
    keys, stamp = relation.fields[:-1], relation.fields[-1]
    assert stamp.type == STAMP
    columns = unpack(space, relation.fields, relation.intervals.starts)
    about = columns[stamp.name] + line.origin
    starts = np.maximum((relation.intervals.starts & line.mask) + line.origin, about + 1)
    ends = relation.intervals.ends & line.mask
    is_open = ends == line.mask
    kept = (starts < ends + line.origin) & ~(is_open & (starts > line.until))
    length = len(relation)
    name = pa.DictionaryArray.from_arrays(np.zeros(length, np.int32), pa.array([predicate[0]]))
    args = arguments(template_of(*predicate), keys, columns, space, length)
    table = pa.table([name, args, pa.array(about).cast(pa.string()), pa.array(starts),
                      pa.array(ends + line.origin, mask=is_open)], schema=SCHEMA)
    return table.filter(pa.array(kept))


@dataclass
class Collected:
    """Answers one after the other become rows: an atom that goes on from one to the next is one interval."""

    end: int
    at: bool = False
    wanted: frozenset[Predicate] | None = None
    several: list[tuple[int, int, int]] = field(default_factory=list)
    earlier: dict[Point, None] = field(default_factory=dict)
    """What is given at a time-point, which later ones know."""
    _open: dict[tuple[Point, int | None], int] = field(default_factory=dict)
    _rows: list[tuple[Point, int | None, int, int]] = field(default_factory=list)

    def add(self, answer: Answer) -> None:
        """The next answer, which begins where the last one ended."""
        holding: set[tuple[Point, int | None]] = set()
        for number, model in ((None, answer.certain), *enumerate(answer.models, 1)):
            for point in model:
                key = self._key(point, number, answer.start)
                if key is not None and (key[0], None) not in holding:  # an atom that is given may be concluded too
                    holding.add(key)
        for key in [key for key in self._open if key not in holding]:
            self._rows.append((*key, self._open.pop(key), answer.start))
        for key in holding:
            self._open.setdefault(key, answer.start)
        if answer.count is not None and answer.count != 1:
            if self.several and self.several[-1][1:] == (answer.start, answer.count):
                self.several[-1] = (self.several[-1][0], answer.end, answer.count)
            else:
                self.several.append((answer.start, answer.end, answer.count))

    def _key(self, point: Point, model: int | None, t: int) -> tuple[Point, int | None] | None:
        if point.name.startswith(GIVEN):
            point = Point(point.name.removeprefix(GIVEN), point.row, point.time)
        if self.wanted is not None and (point.name, len(point.row)) not in self.wanted:
            return None
        if point.time is None or point.time == t:
            return Point(point.name, point.row, None), model
        return (point, model) if self.at else None

    def table(self) -> pa.Table:
        """All rows; what holds at the end is open."""
        rows = [*self._rows, *((*key, start, self.end + 1) for key, start in self._open.items())]
        if self.earlier:
            rows = [row for row in rows if row[0] not in self.earlier]
            rows += [(point, None, point.time + 1, self.end + 1) for point in self.earlier
                     if point.time is not None and point.time < self.end]
        return rows_table([(point, model, start, None if end > self.end else end) for point, model, start, end in rows])


def rows_table(rows: Sequence[tuple[Point, int | None, int, int | None]]) -> pa.Table:
    """Atoms with the number of their answer stream (None: all), start and end (None: open)."""
    return pa.table([
        pa.array([point.name for point, *_ in rows], pa.string()).dictionary_encode().cast(SCHEMA.field(0).type),
        pa.array(["|".join(map(str, point.row)) for point, *_ in rows], pa.string()),
        pa.array(["" if point.time is None else str(point.time) for point, *_ in rows], pa.string()),
        pa.array([start for *_, start, _ in rows], pa.int64()), pa.array([end for *_, end in rows], pa.int64()),
        pa.array([model for _, model, *_ in rows], pa.int64())], schema=MODELS)


def with_models(table: pa.Table) -> pa.Table:
    """Rows that are in all answer streams, with the column that says so."""
    return table.append_column(MODELS.field("model"), pa.nulls(table.num_rows, pa.int64()))


def merged_gaps(gaps: Iterable[NoAnswer]) -> list[NoAnswer]:
    """Stretches without an answer, in order and apart; overlapping ones are cut at each other's ends."""
    edges: dict[int, list[tuple[int, str]]] = {}
    for gap in gaps:
        for reason in gap.reasons:
            edges.setdefault(gap.start, []).append((1, reason))
            edges.setdefault(gap.end, []).append((-1, reason))
    active: dict[str, int] = {}
    result: list[NoAnswer] = []
    for low, high in pairwise(sorted(edges)):
        for step, reason in edges[low]:
            active[reason] = active.get(reason, 0) + step
            if not active[reason]:
                del active[reason]
        reasons = tuple(sorted(active))
        if reasons and result and result[-1].end == low and result[-1].reasons == reasons:
            result[-1] = NoAnswer(result[-1].start, high, reasons)
        elif reasons:
            result.append(NoAnswer(low, high, reasons))
    return result


def without_gaps(table: pa.Table, gaps: Sequence[NoAnswer], end: int) -> pa.Table:
    """The rows cut at time-points without an answer stream.

    >>> row = pa.table([["p"], ["a"], [""], [2], [None]], names=SCHEMA.names).cast(SCHEMA)
    >>> without_gaps(row, [NoAnswer(4, 6, ())], 9).select(["start", "end"]).to_pylist()
    [{'start': 2, 'end': 4}, {'start': 6, 'end': None}]
    """
    if not gaps or not table.num_rows:
        return table
    low: Array = np.array([gap.start for gap in gaps], np.int64)
    high: Array = np.array([gap.end for gap in gaps], np.int64)
    starts = table["start"].to_numpy()
    is_open = table["end"].is_null().to_numpy()
    ends = table["end"].fill_null(end + 1).to_numpy()
    first, last = np.searchsorted(high, starts, "right"), np.searchsorted(low, ends, "left")
    pieces = np.maximum(last - first, 0) + 1
    row = np.repeat(np.arange(table.num_rows), pieces)
    number = np.arange(row.shape[0]) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    before, after = first[row] + number - 1, first[row] + number
    begin = np.where(number == 0, starts[row], high[np.clip(before, 0, len(high) - 1)])
    stop = np.where(number == pieces[row] - 1, ends[row], low[np.clip(after, 0, len(low) - 1)])
    kept = begin < stop
    row, begin, stop = row[kept], begin[kept], stop[kept]
    cut = table.take(pa.array(row))
    place = table.schema.get_field_index("start")
    cut = cut.set_column(place, "start", pa.array(begin))
    return cut.set_column(place + 1, "end", pa.array(stop, mask=is_open[row] & (stop == end + 1)))
