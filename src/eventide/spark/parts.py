"""Rows on their way between stages: which bucket an entity belongs to, and many rows packed into one binary value."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from zlib import crc32

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from eventide.engine.exchange import joined
from eventide.formats.facts import Coded, Column, FactTable, chosen

SCHEMA = pa.schema([("stage", pa.int32()), ("bucket", pa.int32()), ("part", pa.binary())])
DDL = "stage int, bucket int, part binary"
Ints = npt.NDArray[np.int64]
Content = dict[str, FactTable]
"""Rows by the name of their relation. Of derived fluents the value is the last argument, an open end is `OPEN`."""


def buckets_of(column: Column, number: int) -> Ints:
    """The bucket of every row, out of so many; equal values are in one bucket, whatever holds them.

    >>> buckets_of(np.array([7, 8, 7]), 4).tolist() == buckets_of(Coded(np.array([0, 1, 0]), (7, 8)), 4).tolist()
    True
    """
    if isinstance(column, Coded):
        return buckets_of_values(column.values, number)[column.codes]
    return _mixed(column.view(np.uint64), number)


def buckets_of_values(values: Sequence[object], number: int) -> Ints:
    """The buckets of ground values: integers and floats by their bits, everything else by its text."""
    return _mixed(np.fromiter(map(_bits, values), np.uint64, len(values)), number)


def _bits(value: object) -> int:
    if isinstance(value, int):
        return value & 0xFFFF_FFFF_FFFF_FFFF
    if isinstance(value, float):
        return int(np.float64(value).view(np.uint64))
    return crc32(str(value).encode())


def _mixed(bits: npt.NDArray[np.uint64], number: int) -> Ints:
    # the finaliser of SplitMix64: neighbouring numbers go to different buckets
    mixed = bits * np.uint64(0x9E37_79B9_7F4A_7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58_476D_1CE4_E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D0_49BB_1331_11EB)
    return ((mixed ^ (mixed >> np.uint64(31))) % np.uint64(number)).astype(np.int64)


def column_at(table: FactTable, place: int) -> Column:
    """An argument of facts by its place; the value of a fluent follows its arguments."""
    if place < len(table.args):
        return table.args[place]
    assert table.value is not None
    return table.value


def bare(table: FactTable) -> FactTable:
    """Facts without what only messages need."""
    return replace(table, rows=None, origins=(), probability=None)


def numbered(table: FactTable, first: int) -> FactTable:
    """Facts with their probabilities, and numbers that tell them apart wherever they are sent."""
    return replace(table, rows=np.arange(first, first + len(table)), origins=())


def without_copies(table: FactTable) -> FactTable:
    """Numbered facts once each, in the order of their numbers: a bucket may get one in several ways."""
    assert table.rows is not None
    numbers, rows = np.unique(table.rows, return_index=True)
    same = len(numbers) == len(table) and bool((np.diff(rows) > 0).all())
    return replace(table if same else chosen(table, rows), rows=None)


def split(table: FactTable, buckets: Ints, rows: Ints | None = None) -> Iterator[tuple[int, FactTable]]:
    """The rows of each bucket; with `rows`, the bucket of each of these."""
    order = np.argsort(buckets, kind="stable")
    found, firsts = np.unique(buckets[order], return_index=True)
    taken = order if rows is None else rows[order]
    for bucket, part in zip(found.tolist(), np.split(taken, firsts[1:]), strict=False):
        yield bucket, chosen(table, part)


class Outbox:
    """What leaves a task: rows by stage, bucket and relation."""

    def __init__(self) -> None:
        self._parts: dict[tuple[int, int], dict[str, list[FactTable]]] = {}

    def add(self, stage: int, bucket: int, relation: str, table: FactTable) -> None:
        """Put rows in."""
        if len(table):
            self._parts.setdefault((stage, bucket), {}).setdefault(relation, []).append(table)

    def batches(self) -> Iterator[pa.RecordBatch]:
        """One packed row per stage and bucket."""
        for (stage, bucket), relations in self._parts.items():
            content = {name: joined(tables) for name, tables in relations.items()}
            yield packed(stage, bucket, pickle.dumps(content, protocol=5))


def packed(stage: int, bucket: int, part: bytes) -> pa.RecordBatch:
    """One row that travels."""
    return pa.record_batch([pa.array([stage], pa.int32()), pa.array([bucket], pa.int32()),
                            pa.array([part], pa.binary())], schema=SCHEMA)


def unpacked(parts: Iterable[bytes]) -> Content:
    """The rows of packed values, by relation."""
    found: dict[str, list[FactTable]] = {}
    for part in parts:
        content: Content = pickle.loads(part)
        for name, table in content.items():
            found.setdefault(name, []).append(table)
    return {name: joined(tables) for name, tables in found.items()}
