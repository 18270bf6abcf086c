"""Signatures and runs: what theories cost on them is what they cost row by row; batches join; instances merge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from eventide.kernels.enumeration import theory_costs
from eventide.learning.counts import next_labels
from eventide.learning.signatures import Chunk, Signatures, chunk_of, forced_by, signatures_of

Truths = np.ndarray[Any, Any]


@dataclass
class Stream:
    """Columns, labels and states of instances, as arrays: columns by instances by points."""

    columns: Truths
    labels: Truths

    def chunks(self, cuts: list[int]) -> list[Chunk]:
        """The batches between the cuts."""
        found = []
        points = self.labels.shape[1]
        for low, high in zip([0, *cuts], [*cuts, points], strict=True):
            labels = np.ascontiguousarray(self.labels[:, low:high]).reshape(-1)
            offsets = np.arange(self.labels.shape[0] + 1) * (high - low)
            after = self.labels[:, high] if high < points else None
            columns = np.ascontiguousarray(self.columns[:, :, low:high].reshape(self.columns.shape[0], -1))
            found.append(chunk_of(columns, labels, next_labels(labels, offsets, after),
                                  np.arange(self.labels.shape[0]) + 5, high - low))
        return found

    def mistakes(self, sets: int, clears: int, before: Truths) -> int:
        """One row after the other: the wrong states if column `sets` initiates and column `clears` terminates."""
        wrong = 0
        for i, state in enumerate(before.tolist()):
            for t in range(self.labels.shape[1] - 1):
                state = bool(self.columns[sets, i, t]) or (state and not self.columns[clears, i, t])
                wrong += state != self.labels[i, t + 1]
        return wrong


@st.composite
def streams(draw: st.DrawFn, columns: int | None = None) -> Stream:
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    number = draw(st.sampled_from([1, 3, 8, 64, 70])) if columns is None else columns
    shape = draw(st.integers(1, 5)), draw(st.integers(2, 14))
    slow = random.random((number, *shape)) < draw(st.sampled_from([0.05, 0.3]))
    return Stream(slow, random.random(shape) < 0.5)


@given(streams(), st.data())
def test_costs_on_runs_are_those_on_rows(stream: Stream, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.sets(st.integers(1, stream.labels.shape[1] - 1), max_size=3)))
    begins = data.draw(st.booleans())
    found = signatures_of(stream.chunks(cuts), [0] * (len(cuts) + 1), [begins] + [False] * len(cuts))
    columns = list(range(min(stream.columns.shape[0], 4)))
    truths = found.truths(columns)
    costs = theory_costs(found.runs(np.zeros(truths.shape[1], np.int8)), truths, truths)
    before = np.zeros(stream.labels.shape[0], bool) if begins else stream.labels[:, 0]
    assert costs.tolist() == [[stream.mistakes(i, t, before) for t in columns] for i in columns]


@given(st.lists(streams(columns=3), min_size=1, max_size=3))
def test_streams_add_up(parts: list[Stream]) -> None:
    chunks = [chunk for part in parts for chunk in part.chunks([1])]
    numbers = [i for i in range(len(parts)) for _ in range(2)]
    found = signatures_of(chunks, numbers, [True, False] * len(parts))
    truths = found.truths([0, 1])
    costs = theory_costs(found.runs(np.zeros(truths.shape[1], np.int8)), truths, truths)
    assert costs[0, 1] == sum(part.mistakes(0, 1, np.zeros(part.labels.shape[0], bool)) for part in parts)
    assert found.truths([~0]).tolist() == (~truths[:1]).tolist()


def test_equal_instances_are_one_and_long_spells_are_short() -> None:
    stream = Stream(np.tile(np.arange(100) // 25 % 2 == 0, (2, 6, 1)), np.zeros((6, 100), bool))
    found = signatures_of(stream.chunks([40]), [0, 0], [True, False])
    assert found.steps.tolist() == [1, 0, 1, 0]
    assert found.downs.tolist() == [150, 150, 150, 144]


def test_nothing_is_compressed_to_nothing() -> None:
    found = signatures_of([Stream(np.zeros((2, 0, 3), bool), np.zeros((0, 3), bool)).chunks([])[0]], [0], [True])
    assert isinstance(found, Signatures)
    assert found.steps.size == 0
    assert theory_costs(found.runs(np.zeros(0, np.int8)), np.zeros((1, 0), bool), np.zeros((1, 0), bool)) == [[0]]
    assert forced_by(np.zeros((2, 0), bool)).size == 0
