"""The interval algebra against sets of time-points."""

from __future__ import annotations

from functools import reduce
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.kernels.oracles import KEYS, MASK, SHIFT, array, from_set, interval_lists, pairs, points_of

from eventide.errors import ArrayError
from eventide.kernels import intervals as ki
from eventide.kernels.arrays import Intervals, check_intervals, empty

MAX = np.iinfo(np.int64).max
WRONG = Intervals(array([0, 4]), array([4, 5]))
TIMES = st.integers(-2, MASK + 2)


def key_of(point: int) -> int:
    return point >> SHIFT


@given(interval_lists(), interval_lists())
def test_union_intersection_difference(a: Intervals, b: Intervals) -> None:
    p, q = points_of(a), points_of(b)
    assert ki.union(a, b) == from_set(p | q)
    assert ki.intersect(a, b) == from_set(p & q)
    assert ki.difference(a, b) == from_set(p - q)
    assert ki.complement(a, b) == from_set(q - p)


@given(interval_lists(keys=(0,)), interval_lists(keys=(0,)))
def test_one_key(a: Intervals, b: Intervals) -> None:
    test_union_intersection_difference.hypothesis.inner_test(a, b)  # type: ignore[attr-defined]


@given(interval_lists())
def test_with_nothing_and_with_itself(a: Intervals) -> None:
    nothing = empty()
    assert ki.union(a, nothing) == ki.union(nothing, a) == ki.union(a, a) == a
    assert ki.intersect(a, nothing) == ki.intersect(nothing, a) == nothing
    assert ki.difference(a, nothing) == ki.intersect(a, a) == a
    assert ki.difference(nothing, a) == ki.difference(a, a) == nothing


@given(st.lists(interval_lists(), max_size=5))
def test_of_many_lists(lists: list[Intervals]) -> None:
    sets = [points_of(a) for a in lists]
    assert ki.union_all(lists) == from_set(set().union(*sets))
    if lists:
        assert ki.intersect_all(lists) == from_set(reduce(set.intersection, sets))


def test_intersection_of_no_lists() -> None:
    with pytest.raises(ArrayError, match="lists: the intersection of no lists"):
        ki.intersect_all([])


@given(interval_lists(), interval_lists(), st.sampled_from([0, 1, 8]))
def test_difference_of_few_and_many(a: Intervals, b: Intervals, run: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ki, "_LONG_RUN", run)
        assert ki.difference(a, b) == from_set(points_of(a) - points_of(b))


@given(interval_lists(), st.randoms(use_true_random=False))
def test_coalesce_of_overlapping_pieces(a: Intervals, random: object) -> None:
    pieces: list[tuple[int, int]] = []
    for s, e in pairs(a):
        cuts = sorted({s, e, *(random.randint(s, e) for _ in range(3))})  # type: ignore[attr-defined]
        pieces += pairwise(cuts)
        pieces.append((s, random.randint(s + 1, e)))  # type: ignore[attr-defined]
    pieces.sort(key=lambda piece: piece[0])
    assert ki.coalesce(array(s for s, _ in pieces), array(e for _, e in pieces)) == a


def test_coalesce_refuses() -> None:
    with pytest.raises(ArrayError, match="starts: not sorted at index 1"):
        ki.coalesce(array([3, 1]), array([4, 2]))
    with pytest.raises(ArrayError, match="ends: has 1 elements, starts has 2"):
        ki.coalesce(array([3, 4]), array([4]))
    with pytest.raises(ArrayError, match="starts: start is not before end at index 1"):
        ki.coalesce(array([3, 4]), array([4, 4]))


@given(interval_lists(), TIMES, TIMES)
def test_clip(a: Intervals, low: int, high: int) -> None:
    assert ki.clip(a, low, high, SHIFT) == from_set(p for p in points_of(a) if low <= (p & MASK) < high)


@given(interval_lists(), TIMES, TIMES)
def test_by_length(a: Intervals, amount: int, until: int) -> None:
    def length(s: int, e: int) -> int:
        return (until if e & MASK == MASK else e & MASK) - (s & MASK)

    until = max(until, -1)
    longer = ki.longer_than(a, amount, until, SHIFT)
    shorter = ki.shorter_than(a, amount, until, SHIFT)
    until = min(until, MASK)
    assert pairs(longer) == [(s, e) for s, e in pairs(a) if length(s, e) > amount]
    assert pairs(shorter) == [(s, e) for s, e in pairs(a) if length(s, e) < amount]


@given(interval_lists(), interval_lists(), st.data())
def test_joins_between_keys(a: Intervals, b: Intervals, data: st.DataObject) -> None:
    bases = array(data.draw(st.sampled_from(KEYS)) << SHIFT for _ in range(len(a)))
    inside = points_of(b)
    rows: list[tuple[int, int, int]] = []
    left: set[int] = set()
    for i, (s, e) in enumerate(pairs(a)):
        hits = {p for p in range(s, e) if (int(bases[i]) | (p & MASK)) in inside}
        rows += [(i, *pair) for pair in pairs(from_set(hits))]
        left |= set(range(s, e)) - hits
    index, starts, ends = ki.intersect_at(a, bases, b, SHIFT)
    assert list(zip(index.tolist(), starts.tolist(), ends.tolist(), strict=True)) == rows
    assert ki.difference_at(a, bases, b, SHIFT) == from_set(left)
    trusted = ki.intersect_at(a, bases, b, SHIFT, trusted=True)
    assert [part.tolist() for part in trusted] == [index.tolist(), starts.tolist(), ends.tolist()]


def test_join_of_a_list_in_any_order() -> None:
    a = Intervals(array([6, 1, 1]), array([9, 5, 5]))
    b = Intervals(array([64 + 2, 64 + 7, 128 + 3]), array([64 + 3, 64 + 9, 128 + 63]))
    index, starts, ends = ki.intersect_at(a, array([64, 128, 64]), b, SHIFT)
    assert (index.tolist(), starts.tolist(), ends.tolist()) == ([0, 1, 2], [7, 3, 2], [9, 5, 3])


@pytest.mark.parametrize("size", [1, 2, 3, 10, 100])
def test_galloping_reaches_everything(size: int) -> None:
    """Looking up keys forwards, backwards and at random finds the same."""
    b = Intervals(np.arange(size) * 64 + 5, np.arange(size) * 64 + 7)
    for keys in (np.arange(size), np.arange(size)[::-1].copy(), np.random.default_rng(1).permutation(size)):
        a = Intervals(np.arange(size) * 64, np.arange(size) * 64 + 63)
        index, starts, _ = ki.intersect_at(a, keys * 64, b, SHIFT)
        assert index.tolist() == list(range(size))
        assert starts.tolist() == (a.starts + 5).tolist()


@given(interval_lists(), st.lists(st.sampled_from(KEYS), max_size=8))
def test_expand(b: Intervals, sources: list[int]) -> None:
    targets = array((3 * i + 1) << SHIFT for i in range(len(sources)))
    expected = [
        ((3 * i + 1 << SHIFT) + (s & MASK), (3 * i + 1 << SHIFT) + (e & MASK))
        for i, key in enumerate(sources)
        for s, e in pairs(b)
        if key_of(s) == key
    ]
    result = ki.expand(targets, array(key << SHIFT for key in sources), b, SHIFT)
    assert pairs(result) == expected
    check_intervals("result", result)


def test_joins_refuse() -> None:
    a = Intervals(array([1]), array([5]))
    with pytest.raises(ArrayError, match="bases: expected a key at time 0"):
        ki.intersect_at(a, array([65]), a, SHIFT)
    with pytest.raises(ArrayError, match="bases: has 0 elements, a has 1"):
        ki.difference_at(a, array([]), a, SHIFT)
    with pytest.raises(ArrayError, match="targets: repeated point at index 1"):
        ki.expand(array([64, 64]), array([0, 0]), a, SHIFT)
    with pytest.raises(ArrayError, match=r"sources: expected a key at time 0 .* at index 1"):
        ki.expand(array([0, 64]), array([0, -64]), a, SHIFT)
    with pytest.raises(ArrayError, match=r"a\.starts: start is not before end at index 0"):
        ki.intersect_at(Intervals(array([5]), array([5])), array([0]), a, SHIFT)


def test_the_whole_range_of_int64() -> None:
    """One key of 62 bits and the key above it, whose open end is the largest int64 there is."""
    shift = 62
    top = 1 << shift
    a = Intervals(array([0, top]), array([top - 1, MAX]))
    b = Intervals(array([5, top + 5]), array([7, MAX]))
    assert ki.union(a, b) == a
    assert ki.intersect(a, b) == b
    assert pairs(ki.difference(a, b)) == [(0, 5), (7, top - 1), (top, top + 5)]
    assert pairs(ki.complement(b, a)) == [(0, 5), (7, top - 1), (top, top + 5)]
    assert pairs(ki.clip(a, 3, 9, shift)) == [(3, 9), (top + 3, top + 9)]
    assert ki.clip(a, 0, top - 1, shift) == a
    assert pairs(ki.longer_than(b, 2, top - 2, shift)) == [(top + 5, MAX)]
    assert pairs(ki.shorter_than(b, 3, top - 2, shift)) == [(5, 7)]
    index, starts, ends = ki.intersect_at(a, array([top, 0]), b, shift)
    assert (index.tolist(), starts.tolist(), ends.tolist()) == ([0, 1], [5, top + 5], [top - 1, top + 7])


@pytest.mark.parametrize("verb", [ki.union, ki.intersect, ki.difference, ki.complement])
def test_binary_verbs_check_both_arguments(verb: object) -> None:
    right = Intervals(array([1]), array([5]))
    with pytest.raises(ArrayError, match=r"a\.starts: .* at index 1"):
        verb(WRONG, right)  # type: ignore[operator]
    with pytest.raises(ArrayError, match=r"(b|bounds)\.starts: .* at index 1"):
        verb(right, WRONG)  # type: ignore[operator]


def test_other_verbs_check_theirs() -> None:
    right = Intervals(array([1]), array([5]))
    with pytest.raises(ArrayError, match=r"lists\[1\]\.starts"):
        ki.union_all([right, WRONG])
    with pytest.raises(ArrayError, match=r"a\.starts"):
        ki.clip(WRONG, 0, 5, SHIFT)
    with pytest.raises(ArrayError, match=r"a\.starts"):
        ki.longer_than(WRONG, 0, 5, SHIFT)
