"""A stage of a flow as an operator of Spark.

For every stage the driver starts a process that only asks which state is kept, and a task is told everything anew. So
this module is light: what does the work is imported, and the flow unpacked, when there are rows.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Mapping
from functools import cached_property, lru_cache
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from pyspark import cloudpickle
from pyspark.sql.streaming.stateful_processor import StatefulProcessor
from pyspark.sql.types import Row

if TYPE_CHECKING:
    from eventide.spark.flow import Flow
    from eventide.spark.state import Held

STATE, READ = 4, 5
"""Further kinds of results: how many bytes a bucket has in the state store; how many facts and bad records came."""


@lru_cache
def labels(buckets: int) -> tuple[int, ...]:
    """A number for each bucket, such that Spark spreads them evenly over as many partitions, or a divisor of that.

    >>> labels(4)
    (12, 6, 2, 0)
    """
    found: dict[int, int] = {}
    number = 0
    while len(found) < buckets:
        found.setdefault(_spark_hash(number) % buckets, number)
        number += 1
    return tuple(found[bucket] for bucket in range(buckets))


def _spark_hash(number: int) -> int:
    """The hash by which Spark sends an int to a partition: Murmur3 with the seed 42."""
    def turned(word: int, bits: int) -> int:
        return (word << bits | word >> (32 - bits)) & 0xFFFF_FFFF

    mixed = turned(number * 0xCC9E_2D51 & 0xFFFF_FFFF, 15) * 0x1B87_3593 & 0xFFFF_FFFF
    mixed = (turned(mixed ^ 42, 13) * 5 + 0xE654_6B64 & 0xFFFF_FFFF) ^ 4
    mixed = (mixed ^ mixed >> 16) * 0x85EB_CA6B & 0xFFFF_FFFF
    mixed = (mixed ^ mixed >> 13) * 0xC2B2_AE35 & 0xFFFF_FFFF
    mixed ^= mixed >> 16
    return mixed - (mixed >> 31 << 32)


class Shipped:
    """A flow on its way to tasks: each worker unpacks it once, however many tasks it gets."""

    def __init__(self, flow: Flow) -> None:
        self._data: bytes = cloudpickle.dumps(flow)  # type: ignore[no-untyped-call]
        self._digest = blake2b(self._data, digest_size=16).digest()

    @cached_property
    def flow(self) -> Flow:
        """The flow."""
        known = _FLOWS.get(self._digest)
        if known is None:
            while len(_FLOWS) >= _FLOWS_AT_ONCE:
                _FLOWS.pop(next(iter(_FLOWS)))
            known = _FLOWS[self._digest] = pickle.loads(self._data)
        return known

    @property
    def data(self) -> bytes:
        """The flow as bytes."""
        return self._data

    def __getstate__(self) -> dict[str, bytes]:
        return {"_data": self._data, "_digest": self._digest}


_FLOWS_AT_ONCE = 4
_FLOWS: dict[bytes, Flow] = {}


@lru_cache(maxsize=1)
def _held() -> Held:
    from eventide.spark.state import Held

    return Held()


class Stage(StatefulProcessor):
    """One stage of a flow as an operator of Spark."""

    def __init__(self, shipped: Shipped, stage: int, stream_id: str, limits: Mapping[str, Any]) -> None:
        self._shipped, self._stage, self._stream, self._limits = shipped, stage, stream_id, limits

    def init(self, handle: Any) -> None:
        """Name what is kept of a bucket."""
        self._slices = _Slices(handle.getValueState("head", "data binary"),
                               handle.getMapState("slices", "number long", "data binary"))

    def handleInputRows(self, key: Any, rows: Iterator[Row], timerValues: Any) -> Iterator[Row]:
        """One bucket through one batch."""
        from eventide.engine.budget import budget
        from eventide.spark.state import processed

        flow = self._shipped.flow
        parts: list[bytes] = []
        number = 0
        for _, stage, bucket, part in rows:
            if stage == self._stage:
                parts.append(bytes(part))
                number = bucket
            else:
                yield Row(key=key[0], stage=stage, bucket=bucket, part=part)
        if parts:
            own = labels(flow.buckets)
            with budget(**self._limits):
                found, head = processed(flow, (self._stream, self._stage, number), parts, self._slices, _held())
            found.append((flow.last + 1, STATE, (head.snapshot + head.journal).to_bytes(8, "little")))
            for stage, bucket, part in found:
                yield Row(key=own[bucket] if stage <= flow.last else key[0], stage=stage, bucket=bucket, part=part)

    def close(self) -> None:
        """Nothing is open."""


class _Slices:
    """The slices of the bucket at hand, in Spark's state store."""

    def __init__(self, head: Any, slices: Any) -> None:
        self._head, self._slices = head, slices

    def head(self) -> bytes | None:
        found = self._head.get()
        return None if found is None else bytes(found[0])

    def set_head(self, data: bytes) -> None:
        self._head.update((data,))

    def get(self, number: int) -> bytes | None:
        found = self._slices.getValue((number,))
        return None if found is None else bytes(found[0])

    def put(self, number: int, data: bytes) -> None:
        self._slices.updateValue((number,), (data,))

    def drop(self, number: int) -> None:
        self._slices.removeKey((number,))
