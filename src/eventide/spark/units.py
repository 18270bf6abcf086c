"""What travels between the buckets of a stream: units of facts, news of results, clocks, tables. Evaluates nothing."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from eventide.engine.exchange import News
from eventide.formats.facts import FactTable

if TYPE_CHECKING:
    from eventide.spark.flow import Flow

CHANGES, LATE, COUNTS, BAD = range(4)
"""The kinds of results, in the place of the bucket."""
SWAPPED = -(1 << 63)
"""In the place of a query time: news of results as they are, for buckets whose rules have been changed."""
Row = tuple[int, int, bytes]
"""Stage, bucket or kind of result, and what is packed."""
Given = tuple[FactTable, bool | npt.NDArray[np.bool_]]
"""Facts, and which of them are counted elsewhere."""
Told = dict[str, list[News]]
"""What buckets of earlier stages say of their results."""


class Unit(NamedTuple):
    """Facts that come together: a key that orders units as text, and the first and last time of the facts."""

    key: str
    first: int | None
    last: int | None


@dataclass(frozen=True)
class Clock:
    """How far a bucket is: the start of the run, the greatest time it was told of, how many query times are behind."""

    start: int | None = None
    time: int | None = None
    queries: int = 0

    def after(self, unit: Unit, flow: Flow) -> Clock:
        """The clock when a unit has been seen."""
        if unit.first is None or unit.last is None:
            return self
        start = unit.first - flow.tick - flow.delay if self.start is None else self.start
        return replace(self, start=start, time=unit.last if self.time is None else max(self.time, unit.last))

    def query(self, flow: Flow) -> int | None:
        """The next query time, if the clock has passed it by the delay."""
        return self.coming(flow) if self.left(flow) > 0 else None

    def coming(self, flow: Flow) -> int:
        """The next query time."""
        assert self.start is not None
        return self.start + (self.queries + 1) * flow.step

    def left(self, flow: Flow) -> int:
        """How many query times the clock has passed and the bucket has not."""
        if self.start is None or self.time is None:
            return 0
        return max(-((self.start - self.time + flow.delay) // flow.step) - 1 - self.queries, 0)


class FactsPart(NamedTuple):
    """The facts of a unit for a bucket."""

    unit: Unit
    content: dict[str, Given]


class NewsPart(NamedTuple):
    """What came and went in one bucket of a stage, query time by query time."""

    stage: int
    bucket: int
    content: list[tuple[int, Told]]


def packed(part: FactsPart | NewsPart) -> bytes:
    """A part on its way."""
    return pickle.dumps(part, protocol=5)


def unpacked(part: bytes) -> FactsPart | NewsPart:
    """The part that was packed."""
    found: FactsPart | NewsPart = pickle.loads(part)
    return found


def in_order(parts: Iterable[FactsPart]) -> Iterator[tuple[Unit, list[dict[str, Given]]]]:
    """The units of a batch in order; what came of one unit in several parts is one."""
    found: dict[str, list[FactsPart]] = {}
    for part in parts:
        found.setdefault(part.unit.key, []).append(part)
    for key in sorted(found):
        firsts = [part.unit.first for part in found[key] if part.unit.first is not None]
        lasts = [part.unit.last for part in found[key] if part.unit.last is not None]
        yield (Unit(key, min(firsts, default=None), max(lasts, default=None)), [part.content for part in found[key]])


def by_query(parts: Iterable[NewsPart]) -> dict[int, Told]:
    """What earlier stages tell, by query time and relation."""
    found: dict[int, Told] = {}
    for part in parts:
        for query, content in part.content:
            for name, news in content.items():
                found.setdefault(query, {}).setdefault(name, []).extend(news)
    return found


def written(table: pa.Table) -> bytes:
    """A table as an Arrow stream, with plain texts."""
    for place, found in enumerate(table.schema):
        if pa.types.is_dictionary(found.type):
            table = table.set_column(place, found.name, table[found.name].cast(found.type.value_type))
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    whole: bytes = sink.getvalue().to_pybytes()
    return whole


def table_of(part: bytes) -> pa.Table:
    """The table that `written` made a result of."""
    return pa.ipc.open_stream(part).read_all()
