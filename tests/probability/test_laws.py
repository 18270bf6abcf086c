"""What holds for every stream, threshold and batch, against the slow forms; probabilities are decimals, often equal."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.probability import oracle

from eventide.kernels.support_sets import _uniform
from eventide.probability import Durations, Recogniser, intervals
from eventide.probability.points import points_of

UNIT = oracle.UNIT
Case = tuple[list[int], int]
NAMES = ("name", "number", "time", "probability")


@st.composite
def streams(draw: st.DrawFn, longest: int = 40) -> Case:
    """Probabilities and a threshold in units: few decimals, so that sums are often equal; or all fifteen."""
    digits = draw(st.sampled_from([1, 1, 2, 3, 15]))
    grid = 10**digits
    values = st.integers(0, grid) if draw(st.booleans()) else st.sampled_from([0, grid // 2, grid // 5, grid])
    probs = draw(st.lists(values, max_size=longest))
    threshold = draw(st.sampled_from([5, 7, 9, 3, 0, 10])) * UNIT // 10
    return [p * (UNIT // grid) for p in probs], draw(st.sampled_from([threshold, UNIT // 3]))


def cut(draw: st.DrawFn, n: int) -> list[int]:
    """Sizes of batches that make up a stream."""
    ends = sorted(draw(st.sets(st.integers(1, n - 1), max_size=6))) if n > 1 else []
    return [b - a for a, b in zip([0, *ends], [*ends, n], strict=True) if b > a]


def doubles(probs: list[int]) -> list[float]:
    return [p / UNIT for p in probs]


def text(threshold: int) -> str:
    return f"{threshold // UNIT}.{threshold % UNIT:015d}"


@given(streams(16))
def test_piec_is_brute_force(case: Case) -> None:
    probs, threshold = case
    found = intervals(doubles(probs), text(threshold))
    assert found.pairs() == oracle.brute_force(probs, threshold)
    means = [sum(probs[s:e]) / (e - s) / UNIT for s, e in found.pairs()]
    assert np.allclose(found.probability, means, rtol=0, atol=1e-12)
    best = intervals(doubles(probs), text(threshold), credible=True)
    assert best.pairs() == oracle.credible(found.pairs(), probs)


@given(streams(), st.data())
def test_any_batching_of_opiec_is_piec(case: Case, data: st.DataObject) -> None:
    probs, threshold = case
    stream = Recogniser(text(threshold))
    told: set[tuple[int, int]] = set()
    first = 0
    for size in data.draw(st.composite(cut)(len(probs))):
        changes = stream.advance(doubles(probs[first : first + size]))
        first += size
        assert told >= set(changes.removed.pairs())
        told = told - set(changes.removed.pairs()) | set(changes.added.pairs())
        assert sorted(told) == intervals(doubles(probs[:first]), text(threshold)).pairs()
    expected, support, _ = oracle.online(probs, threshold, [len(probs)] if probs else [])
    assert stream.intervals().pairs() == expected
    if probs:
        assert [time for time, _ in stream.support()] == support


BOUNDED = {
    "thesis": (None, "thesis"), "thesis, durations": ((6, 2), "thesis"), "thesis, equal durations": ((4, 0), "thesis"),
    "published": (None, "published"), "published, durations": ((6, 2), "published"), "fifo": (None, "fifo"),
}


def slow(name: str, memory: int, threshold: int, seed: int) -> oracle.Resolve:
    """The slow form of a resolver."""
    durations, resolver = BOUNDED[name]
    if resolver == "fifo":
        return oracle.oldest
    if durations is None:
        return oracle.by_range(memory, plain=resolver == "published")
    if resolver == "published":
        bins = Durations(*durations).bins(memory)
        return oracle.by_bins((bins * (memory // len(bins) + 1))[:memory], threshold / UNIT)
    return oracle.by_duration(memory, *durations, lambda now, point: _uniform(np.uint64(seed), now, point))


@given(streams(), st.sampled_from([{}, {"memory": 3}, {"memory": 4, "durations": (6, 2), "forget": True}]), st.data())
def test_a_look_ahead_changes_nothing(case: Case, options: dict[str, Any], data: st.DataObject) -> None:
    """What is seen is what would come; then the streams are as they were, whoever began meanwhile."""
    probs, threshold = case
    stream = Recogniser(text(threshold), **options)
    whole = Recogniser(text(threshold), **{**options, "forget": False})
    first = 0
    for size in data.draw(st.composite(cut)(len(probs))):
        part = doubles(probs[first : first + size])
        before = stream.save()
        ahead = points_of({"a": part, f"new{first}": part[::-1]})
        seen = stream.peek(ahead)
        assert stream.save() == before
        given = Recogniser.restore(before)
        given.forget = False
        given.take(ahead)
        assert list(seen) == list(given.intervals())
        for each in (stream, whole):
            each.take(points_of({"a": part}))
        first += size
    held = list(whole.intervals())
    assert [row for row in stream.intervals() if row not in held] == []
    assert options.get("forget") or list(stream.intervals()) == held


@pytest.mark.parametrize("name", BOUNDED)
@given(case=streams(), memory=st.integers(0, 6), batch=st.integers(1, 9), seed=st.integers(0, 5), data=st.data())
def test_bounded(name: str, case: Case, memory: int, batch: int, seed: int, data: st.DataObject) -> None:
    """As the slow form; only qualifying, un-nested intervals covered by PIEC's; never more memory than allowed."""
    probs, threshold = case
    durations, resolver = BOUNDED[name]
    options: dict[str, Any] = {"durations": durations, "resolver": resolver, "batch": batch, "seed": seed}
    stream = Recogniser(text(threshold), memory, **options)
    calls = data.draw(st.composite(cut)(len(probs)))
    first = 0
    batches: list[int] = []
    for size in calls:
        stream.advance(doubles(probs[first : first + size]))
        first += size
        batches += [batch] * (size // batch) + [size % batch] * (size % batch > 0)
        assert len(stream.support()) <= memory
    found = stream.intervals().pairs()
    resolve = slow(name, memory, threshold, seed) if memory else None
    expected, support, _ = oracle.online(probs, threshold, batches, memory, resolve)
    assert found == expected
    assert not probs or [time for time, _ in stream.support()] == support
    assert all(sum(probs[s:e]) >= threshold * (e - s) for s, e in found)
    assert all(a[0] < b[0] and a[1] < b[1] for a, b in pairwise(found))
    covered = {t for s, e in intervals(doubles(probs), text(threshold)).pairs() for t in range(s, e)}
    assert covered >= {t for s, e in found for t in range(s, e)}


@pytest.mark.parametrize("name", ["unbounded", *BOUNDED])
@given(case=streams(), memory=st.integers(0, 6), batch=st.integers(1, 4), data=st.data())
def test_saved_and_restored(name: str, case: Case, memory: int, batch: int, data: st.DataObject) -> None:
    """Saving between calls changes nothing: not the changes told, not the intervals, not the bytes."""
    probs, threshold = case
    options: dict[str, Any] = {}
    if name != "unbounded":
        durations, resolver = BOUNDED[name]
        options = {"memory": memory, "durations": durations, "resolver": resolver, "batch": batch, "seed": 3,
                   "forget": data.draw(st.booleans())}
    one, other = Recogniser(text(threshold), **options), Recogniser(text(threshold), **options)
    first = 0
    for size in data.draw(st.composite(cut)(len(probs))):
        part = doubles(probs[first : first + size])
        first += size
        other = Recogniser.restore(other.save())
        for a, b in zip(one.advance(part), other.advance(part), strict=True):
            assert list(a) == list(b)
    assert one.save() == other.save()
    assert list(one.intervals()) == list(other.intervals())


@given(st.lists(streams(25), min_size=1, max_size=5), st.integers(0, 4), st.sampled_from(sorted(BOUNDED)), st.data())
def test_streams_do_not_disturb_one_another(
    cases: list[Case], memory: int, name: str, data: st.DataObject
) -> None:
    """Many streams in one table, rows in any order, give what each gives alone; so do those that come in parts."""
    durations, resolver = BOUNDED[name]
    options: dict[str, Any] = {"memory": memory, "durations": durations, "resolver": resolver, "seed": 1}
    for kind in ({}, options):
        alone = {("s", i): intervals(doubles(probs), 0.5, **kind) for i, (probs, _) in enumerate(cases)}
        expected = sorted((*key, s, e) for key, found in alone.items() for s, e in found.pairs())
        rows = [("s", i, t, p) for i, (probs, _) in enumerate(cases) for t, p in enumerate(doubles(probs))]
        shuffled = data.draw(st.permutations(rows)) if rows else []

        def columns(some: list[tuple[str, int, int, float]]) -> dict[str, list[Any]]:
            return {name: [row[at] for row in some] for at, name in enumerate(NAMES)}

        if rows:
            assert sorted(row[:4] for row in intervals(columns(shuffled), 0.5, step=1, **kind)) == expected
        stream = Recogniser(0.5, **kind)
        middle = data.draw(st.integers(0, 25))
        for some in ([row for row in rows if row[2] < middle], [row for row in rows if row[2] >= middle]):
            if some:
                stream.advance(columns(some))
        assert sorted(row[:4] for row in stream.intervals()) == expected


@given(streams(60), st.integers(0, 3))
def test_forgetting_loses_nothing_that_was_told(case: Case, memory: int) -> None:
    probs, threshold = case
    stream = Recogniser(text(threshold), memory, forget=True)
    told: set[tuple[int, int]] = set()
    for p in doubles(probs):
        changes = stream.advance([p])
        told = told - set(changes.removed.pairs()) | set(changes.added.pairs())
    assert sorted(told) == intervals(doubles(probs), text(threshold), memory).pairs()


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="too much data for loops that are not compiled")
def test_long_streams_are_exact() -> None:
    """Sums far beyond 64 bits in units: a million zeros, then just enough, or one unit too little."""
    zeros = [0.0] * 1_000_000
    enough = intervals([*zeros, *[1.0] * 1_000_000], "0.5").pairs()
    assert enough == [(0, 2_000_000)]
    short = intervals([*zeros, *[1.0] * 999_999, 0.999999999999999], "0.5").pairs()
    assert short == [(1, 2_000_000)]


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="too much data for loops that are not compiled")
def test_memory_stays_within_bounds_over_long_streams() -> None:
    stream = Recogniser(0.5, 4, (20, 5), forget=True)
    generator = np.random.default_rng(1)
    for _ in range(20):
        stream.advance(generator.integers(0, 101, 5000) / 100)
        assert len(stream.support()) <= 4
        assert len(stream.intervals()) < 100
