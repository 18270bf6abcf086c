"""Buckets between batches: whatever is lost from memory, the state store brings it back."""

from __future__ import annotations

import multiprocessing
import sys
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.effort import examples
from tests.spark.configured import RULES

import eventide as ev
from eventide.spark import state
from eventide.spark.failures import ServiceError
from eventide.spark.flow import Flow, flow_of
from eventide.spark.state import Head, Held, Key, processed
from eventide.spark.units import Unit

KEY: Key = ("stream", 1, 0)


class Memory:
    """A state store that is a dict."""

    def __init__(self) -> None:
        self.first: bytes | None = None
        self.slices: dict[int, bytes] = {}

    def head(self) -> bytes | None:
        return self.first

    def set_head(self, data: bytes) -> None:
        self.first = data

    def get(self, number: int) -> bytes | None:
        return self.slices.get(number)

    def put(self, number: int, data: bytes) -> None:
        assert number not in self.slices
        self.slices[number] = data

    def drop(self, number: int) -> None:
        del self.slices[number]


def flow(**options: Any) -> Flow:
    return flow_of(ev.parse(RULES), buckets=1, window=20, step=5, start=0, **options)


def parts(plan: Flow, number: int) -> list[bytes]:
    """The parts of a batch: one unit with a few facts."""
    times = [number * 4 + i % 3 + 1 for i in range(4)]
    facts = plan.program.read(pa.table({
        "time": times, "event": ["win" if (number + i) % 3 else "lose" for i in range(4)],
        "who": [f"p{i}" for i in range(4)]}))
    return [part for _, _, part in plan.read(facts, Unit(f"{number:03d}", number * 4, number * 4 + 3))]


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state, "SLICE", 100)
    monkeypatch.setattr(state, "LEAST", 600)


@pytest.mark.usefixtures("small")
@examples(1 / 4)
@given(st.lists(st.booleans(), min_size=1, max_size=8))
def test_what_is_lost_is_built_again(losses: list[bool]) -> None:
    """A worker that dies before a batch changes nothing: the rows are those of one that lives."""
    plan, store, held = flow(), Memory(), Held()
    steady = plan.bucket(1, 0)
    for number, lost in enumerate(losses):
        if lost and number:
            held.take(plan, KEY, Head.of(store.first))  # and it is gone
        rows, head = processed(plan, KEY, parts(plan, number), store, held)
        assert rows == steady.process(parts(plan, number))
        assert sorted(store.slices) == list(range(head.low, head.high))


@pytest.mark.usefixtures("small")
def test_the_store_stays_small() -> None:
    plan, store, held = flow(), Memory(), Held()
    sizes = []
    for number in range(60):
        processed(plan, KEY, parts(plan, number), store, held)
        sizes.append(sum(map(len, store.slices.values())))
    assert max(sizes[30:]) <= 1.5 * max(sizes[:30])


def test_a_bucket_that_is_ahead_of_the_store_is_not_used() -> None:
    """The batch failed after the bucket had processed it: the store has the state before."""
    plan, store, held = flow(), Memory(), Held()
    processed(plan, KEY, parts(plan, 0), store, held)
    before, slices = store.first, dict(store.slices)
    lost, _ = processed(plan, KEY, parts(plan, 1), store, held)
    store.first, store.slices = before, slices
    again, _ = processed(plan, KEY, parts(plan, 1), store, held)
    assert again == lost


def _have(plan: Flow, store: Memory, line: Any) -> None:
    held = Held()
    processed(plan, KEY, parts(plan, 0), store, held)
    line.send((store.first, store.slices))
    line.recv()


@pytest.mark.skipif(sys.platform != "linux", reason="workers hand over buckets on Linux only")
def test_another_worker_hands_over(monkeypatch: pytest.MonkeyPatch) -> None:
    plan, store = flow(), Memory()
    here, there = multiprocessing.Pipe()
    worker = multiprocessing.get_context("spawn").Process(target=_have, args=(plan, store, there))
    worker.start()
    try:
        assert here.poll(60), "the other worker never began"
        store.first, store.slices = here.recv()
        monkeypatch.setattr(state, "_rebuilt", lambda *_: pytest.fail("it was built from the store"))
        rows, _ = processed(plan, KEY, parts(plan, 1), store, Held())
        steady = plan.bucket(1, 0)
        steady.process(parts(plan, 0))
        assert rows == steady.process(parts(plan, 1))
    finally:
        here.send(None)
        worker.join()


def test_a_holder_that_is_gone() -> None:
    head = Head(mark=b"m" * 16, holder=b"h" * 16)
    assert Held().take(flow(), KEY, head) is None


@pytest.mark.usefixtures("small")
def test_a_store_that_lacks_something() -> None:
    plan, store = flow(), Memory()
    held = Held()
    processed(plan, KEY, parts(plan, 0), store, held)
    held.take(plan, KEY, Head.of(store.first))
    del store.slices[min(store.slices)]
    with pytest.raises(ServiceError, match="broken"):
        processed(plan, KEY, parts(plan, 1), store, Held())
    store.first = b"something else"
    with pytest.raises(ServiceError, match="another version"):
        processed(plan, KEY, parts(plan, 1), store, Held())
