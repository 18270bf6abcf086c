"""Rows of batches, compressed for the search of rules: signatures and runs. Exact for rules, not for single groundings.

What rules do at a row depends on the truth of the conditions there only: its signature. Over successive points of one
instance with the same signature the state is constant from the second on, so that they are one step, a run; its labels
are counted. Instances with the same runs merge. A memory of batches joins the runs of each instance along its stream.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from eventide.kernels.arrays import Array, Mask, Words
from eventide.kernels.runs import CLEARED, FREE, SET, Forced, Runs
from eventide.learning.counts import Judgements


@dataclass(frozen=True, slots=True, eq=False)
class Chunk:
    """The runs of one batch, those of an instance side by side."""

    words: Words
    """For each run the truth of the columns, 64 in a word."""
    instances: Array
    ups: Array
    """How many labels after the points of the run hold."""
    downs: Array
    first: Mask
    """For each run the label at its first point."""


@dataclass(frozen=True, slots=True, eq=False)
class Signatures:
    """What rules can tell apart: the distinct truths of columns, and the runs through them with their labels."""

    words: Words
    """The truth of the columns, 64 in a word, for each signature."""
    offsets: Array
    """Sequence j has the runs `offsets[j] .. offsets[j+1]`."""
    before: Mask
    steps: Array
    ups: Array
    downs: Array

    def truths(self, conditions: Sequence[int]) -> Mask:
        """Where each condition is true, a row for each; `~c` is the denial of column c.

        >>> found = Signatures(np.array([[2], [3]], np.uint64), *[np.empty(0, np.int64)] * 5)
        >>> found.truths([0, ~1]).astype(int).tolist()
        [[0, 1], [0, 0]]
        """
        return truths_of(self.words, conditions)

    def runs(self, forced: Forced, on_cost: int = 1, off_cost: int = 1) -> Runs:
        """The runs with what wrong states cost, for `kernels.enumeration`."""
        on_costs, off_costs = self.downs * np.int64(on_cost), self.ups * np.int64(off_cost)
        return Runs(self.offsets, self.before, self.steps, on_costs, off_costs, forced)


def truths_of(words: Words, conditions: Sequence[int]) -> Mask:
    """Where each condition is true among rows of packed columns, a row for each; `~c` is the denial of column c.

    >>> truths_of(np.array([[2], [3]], np.uint64), [0, ~1]).astype(int).tolist()
    [[0, 1], [0, 0]]
    """
    numbers = np.array(conditions, np.int64)
    columns = np.where(numbers < 0, ~numbers, numbers)
    bits = (words[:, columns >> 6] >> (columns & 63).astype(np.uint64)) & np.uint64(1)
    return np.ascontiguousarray((bits.astype(np.bool_) ^ (numbers < 0)).T)


def forced_by(on: Mask) -> Forced:
    """What rules do that set and clear, from two rows: where they clear and where they set.

    >>> forced_by(np.array([[1, 1, 0], [0, 1, 0]], bool)).tolist()
    [1, 2, 0]
    """
    return np.where(on[1], SET, np.where(on[0], CLEARED, FREE)).astype(np.int8)


def chunk_of(columns: Mask, labels: Mask, following: Judgements, instances: Array, points: int) -> Chunk:
    """The runs of a batch: rows are instances by points, `columns` has a row for each column.

    >>> columns = np.array([[1, 1, 0, 0, 0, 0]], bool)
    >>> found = chunk_of(columns, np.zeros(6, bool), np.array([1, 1, 1, 0, 0, -1], np.int8), np.array([4, 7]), 3)
    >>> found.instances.tolist(), found.ups.tolist(), found.downs.tolist()
    ([4, 4, 7], [2, 1, 0], [0, 0, 2])
    """
    rows = labels.shape[0]
    words = _packed(columns, rows)
    new = np.ones(rows, np.bool_)
    new[1:] = (words[1:] != words[:-1]).any(axis=1)
    new[::max(points, 1)] = True
    starts = np.flatnonzero(new)
    if not rows:
        return Chunk(words, starts, starts, starts, labels)
    ups, downs = (np.add.reduceat((following == wanted).astype(np.int64), starts) for wanted in (1, 0))
    return Chunk(words[starts], instances[starts // points], ups, downs, labels[starts])


def signatures_of(chunks: Sequence[Chunk], streams: Sequence[int], begins: Sequence[bool]) -> Signatures:
    """The batches' runs, joined along the instances of each stream; `streams` numbers the stream of each batch.

    An instance does not hold before its first run, but where the first batch of a stream does not begin it (`begins`):
    there it is as labelled.
    """
    sizes = [chunk.instances.shape[0] for chunk in chunks]
    stream = np.repeat(np.array(streams, np.int64), sizes)
    opened = {number: flag for number, flag in reversed(list(zip(streams, begins, strict=True)))}
    firsts = {number: at for at, number in reversed(list(enumerate(streams)))}
    cut = np.repeat(np.array([firsts[number] == at and not opened[number] for at, number in enumerate(streams)],
                             np.bool_), sizes)
    instances, ups, downs, first = (np.concatenate([getattr(chunk, name) for chunk in chunks])
                                    for name in ("instances", "ups", "downs", "first"))
    words = np.concatenate([chunk.words for chunk in chunks])
    order = np.lexsort((instances, stream))  # stable: batches stay in order
    instances, stream, words = instances[order], stream[order], words[order]
    starts = np.ones(instances.shape[0], np.bool_)
    starts[1:] = (instances[1:] != instances[:-1]) | (stream[1:] != stream[:-1])
    new = starts.copy()
    new[1:] |= (words[1:] != words[:-1]).any(axis=1)
    at = np.flatnonzero(new)
    if not at.size:
        return Signatures(words, np.zeros(1, np.int64), np.zeros(0, np.bool_), at, ups, downs)
    ups, downs = np.add.reduceat(ups[order], at), np.add.reduceat(downs[order], at)
    distinct, steps = _numbered(words[at])
    begin = np.flatnonzero(starts[at])
    before = (first & cut)[order][at][begin]
    return _merged(Signatures(distinct, np.append(begin, at.shape[0]), before, steps, ups, downs))


@dataclass(slots=True, eq=False)
class Memory:
    """The last batches, compressed."""

    chunks: list[Chunk] = field(default_factory=list)
    streams: list[int] = field(default_factory=list)
    begins: list[bool] = field(default_factory=list)

    def add(self, chunk: Chunk, stream: int, begins: bool, opening: Array, most: int) -> Chunk | None:
        """Remember a batch, and `most` in all; `opening` are the instances that hold at its first point.

        These judge the last points of the batch before, which are given back: also of instances without rows here.
        """
        late = None
        if self.chunks and not begins and self.streams[-1] == stream:
            self.chunks[-1], late = _judged(self.chunks[-1], opening)
        self.chunks.append(chunk)
        self.streams.append(stream)
        self.begins.append(begins)
        self.keep(most)
        return late

    def keep(self, most: int) -> None:
        """Forget all but the last batches."""
        for kept in (self.chunks, self.streams, self.begins):
            del kept[: max(len(kept) - most, 0)]

    def signatures(self) -> Signatures:
        """All that is remembered."""
        return signatures_of(self.chunks, self.streams, self.begins)


def _judged(chunk: Chunk, holding: Array) -> tuple[Chunk, Chunk]:
    """A batch whose last points are judged by the instances that hold at the next, and these points alone."""
    last = np.flatnonzero(np.diff(chunk.instances, append=-1))
    ups = np.isin(chunk.instances[last], holding).astype(np.int64)
    late = Chunk(chunk.words[last], chunk.instances[last], ups, 1 - ups, chunk.first[last])
    added = np.zeros((2, chunk.instances.shape[0]), np.int64)
    added[:, last] = late.ups, late.downs
    return replace(chunk, ups=chunk.ups + added[0], downs=chunk.downs + added[1]), late


def _merged(found: Signatures) -> Signatures:
    """One sequence for all that have the same steps and state before, with their labels added."""
    groups: dict[tuple[bool, bytes], int] = {}
    lengths, kept = np.diff(found.offsets), list[int]()
    owner = np.empty(lengths.shape[0], np.int64)
    for j, (low, high) in enumerate(zip(found.offsets[:-1].tolist(), found.offsets[1:].tolist(), strict=True)):
        owner[j] = groups.setdefault((bool(found.before[j]), found.steps[low:high].tobytes()), len(groups))
        if owner[j] == len(kept):
            kept.append(j)
    offsets = np.concatenate([[0], np.cumsum(lengths[kept])]).astype(np.int64)
    inside = np.arange(found.steps.shape[0]) - np.repeat(found.offsets[:-1], lengths)
    place = np.repeat(offsets[owner], lengths) + inside
    steps = np.empty(int(offsets[-1]), np.int64)
    steps[place] = found.steps
    ups, downs = (np.bincount(place, weights, steps.shape[0]).astype(np.int64) for weights in (found.ups, found.downs))
    return Signatures(found.words, offsets, found.before[kept], steps, ups, downs)


def _packed(columns: Mask, rows: int) -> Words:
    """The truth of all columns at each row, 64 in a word."""
    words = max((columns.shape[0] + 63) // 64, 1)
    packed = np.zeros((rows, words * 8), np.uint8)
    bits = np.packbits(columns, axis=0, bitorder="little")
    packed[:, : bits.shape[0]] = bits.T
    return packed.view(np.uint64)


def _numbered(words: Words) -> tuple[Words, Array]:
    """The distinct rows, ascending, and the number of each."""
    if words.shape[1] == 1:
        distinct, numbers = np.unique(words[:, 0], return_inverse=True)
        return distinct[:, None], numbers.astype(np.int64)
    distinct, numbers = np.unique(words, axis=0, return_inverse=True)
    return distinct, numbers.reshape(-1).astype(np.int64)
