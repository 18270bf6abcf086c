"""Allen relations against the definitions taken pair by pair, and RTEC's own micro cases by their tags."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.kernels import state_oracles as oracle

from eventide.errors import ArrayError
from eventide.kernels.allen import MODES, RELATIONS, allen, allen_pairs, allen_sweep
from eventide.kernels.arrays import EMPTY, Intervals

SHIFT = 5
MASK = (1 << SHIFT) - 1
TOP = ((2**63 - 1) >> SHIFT) - 3  # moves keys 0 ... 3 to the highest ones
Rows = list[tuple[int, int]]


def ints(values: object) -> np.ndarray:
    return np.array(values, np.int64)


def intervals(rows: Rows, base: int = 0) -> Intervals:
    return Intervals(ints([start + base for start, _ in rows]), ints([end + base for _, end in rows]))


@st.composite
def lists(draw: st.DrawFn, tick: int) -> Rows:
    """A normal-form list over up to four keys, on the grid of the tick, some of its intervals open."""
    rows: Rows = []
    for key in range(4):
        bounds = sorted(draw(st.sets(st.integers(0, (MASK - 1) // tick), max_size=8)))
        for start, end in zip(bounds[::2], bounds[1::2], strict=False):
            rows.append(((key << SHIFT) + start * tick, (key << SHIFT) + end * tick))
        if len(bounds) % 2:
            rows.append(((key << SHIFT) + bounds[-1] * tick, (key << SHIFT) + MASK))
    return rows


pairs_of_lists = st.integers(1, 3).flatmap(lambda tick: st.tuples(st.just(tick), lists(tick), lists(tick)))


@given(pairs_of_lists, st.sampled_from([0, TOP << SHIFT]))
def test_the_sweep_finds_who_takes_part_in_each_relation(case, base):
    tick, source, target = case
    s_flags, t_flags = allen_sweep(intervals(source, base), intervals(target, base), SHIFT, tick)
    for bit, name in enumerate(RELATIONS):
        pairs = oracle.related(name, source, target, SHIFT, tick)
        assert {k for k, flags in enumerate(s_flags) if flags >> bit & 1} == {a for a, _ in pairs}, name
        assert {k for k, flags in enumerate(t_flags) if flags >> bit & 1} == {b for _, b in pairs}, name
    assert (s_flags < 128).all() and (t_flags < 128).all()


@given(pairs_of_lists, st.sampled_from(RELATIONS), st.sampled_from([0, TOP << SHIFT]))
def test_compact_pairs_are_all_pairs(case, name, base):
    tick, source, target = case
    index, low, high = allen_pairs(name, intervals(source, base), intervals(target, base), SHIFT, tick)
    ranges = zip(index.tolist(), low.tolist(), high.tolist(), strict=True)
    found = [(a, b) for a, first, stop in ranges for b in range(first, stop)]
    assert sorted(found) == found and set(found) == oracle.related(name, source, target, SHIFT, tick)
    assert (low < high).all() and len(index) <= len(source)


@given(pairs_of_lists, st.sampled_from(RELATIONS), st.sampled_from(MODES))
def test_modes_are_set_algebra(case, name, mode):
    tick, source, target = case
    pairs = oracle.related(name, source, target, SHIFT, tick)
    ours = oracle.cover(source[a] for a in {a for a, _ in pairs})
    theirs = oracle.cover(target[b] for b in {b for _, b in pairs})
    expected = {
        "source": ours,
        "target": theirs,
        "union": ours | theirs,
        "intersection": ours & theirs,
        "relative_complement": ours - theirs,
        "relative_complement_inverse": theirs - ours,
    }[mode]
    found = allen(name, mode, intervals(source), intervals(target), SHIFT, tick)
    assert list(zip(found.starts.tolist(), found.ends.tolist(), strict=True)) == oracle.maximal(expected)


# ------------------------------------------------------------------------------------------------ RTEC's micro cases

A01_SOURCE = [(2, 6), (8, 10), (12, 15), (18, 20)]
A01_TARGET = [(5, 7), (8, 12), (14, 17), (18, 20), (25, 27)]
A01 = {
    "before": A01_SOURCE,
    "meets": [(2, 6), (12, 15)],
    "starts": [(8, 10)],
    "finishes": [],
    "during": [],
    "overlaps": [],
    "equal": [(18, 20)],
}


@pytest.mark.parametrize("name", RELATIONS)
def test_a01(name):
    found = allen(name, "source", intervals(A01_SOURCE), intervals(A01_TARGET), SHIFT)
    assert list(zip(found.starts.tolist(), found.ends.tolist(), strict=True)) == A01[name]


INF = MASK
DEFINITIONS = {  # case: source, target, the relation of the pair
    "A04 adjacent counts as before": ((2, 6), (6, 8), "before"),
    "before": ((2, 6), (9, 11), "before"),
    "A04b sharing one point is meets": ((2, 6), (5, 8), "meets"),
    "one point cannot meet": ((5, 6), (5, 8), "starts"),
    "meets a target of one point": ((2, 6), (5, 6), "meets"),
    "starts": ((2, 6), (2, 8), "starts"),
    "starts an open one": ((2, 6), (2, INF), "starts"),
    "finishes": ((4, 8), (2, 8), "finishes"),
    "finishes, both open": ((4, INF), (2, INF), "finishes"),
    "during": ((4, 6), (2, 8), "during"),
    "A07s during, not overlaps": ((8, 13), (3, 18), "during"),
    "during an open one": ((4, 6), (2, INF), "during"),
    "overlaps": ((2, 7), (5, 9), "overlaps"),
    "overlaps an open one": ((2, 7), (5, INF), "overlaps"),
    "equal": ((2, 6), (2, 6), "equal"),
    "equal, both open": ((2, INF), (2, INF), "equal"),
    "an open source overlaps nothing": ((2, INF), (5, INF), None),
    "an open source contains": ((2, INF), (5, 9), None),
    "contains": ((2, 9), (5, 7), None),
    "started by": ((2, 9), (2, 7), None),
    "after": ((8, 9), (2, 7), None),
}


@pytest.mark.parametrize("case", DEFINITIONS)
def test_definition(case):
    i, j, expected = DEFINITIONS[case]
    flags, back = allen_sweep(intervals([i]), intervals([j]), SHIFT)
    wanted = 0 if expected is None else 1 << RELATIONS.index(expected)
    assert flags.tolist() == back.tolist() == [wanted]
    assert [name for name in RELATIONS if len(allen_pairs(name, intervals([i]), intervals([j]), SHIFT)[0])] == (
        [] if expected is None else [expected]
    )


def test_maritime_worked_example():
    shift = 14
    tugging = proximity = intervals([(1100, 1600)])
    assert allen("equal", "source", tugging, proximity, shift) == proximity
    assert len(allen("starts", "source", tugging, proximity, shift)) == 0
    assert len(allen("finishes", "source", tugging, proximity, shift)) == 0
    stopped, within = intervals([(2501, 3001)]), intervals([(2001, 4001)])
    assert allen("during", "source", stopped, within, shift) == stopped
    below, under_way = intervals([(201, 5001)]), intervals([(201, 7001)])
    assert allen("starts", "source", below, under_way, shift) == below
    normal = intervals([(5001, 7001)])
    assert len(allen("meets", "union", below, normal, shift)) == 0
    assert allen("before", "union", below, normal, shift) == under_way


def test_relations_do_not_cross_keys():
    first, second = intervals([(2, 6), (8, MASK)]), intervals([((1 << SHIFT) + 7, (1 << SHIFT) + 9)])
    for a, b in ((first, second), (second, first)):
        flags, back = allen_sweep(a, b, SHIFT)
        assert not flags.any() and not back.any()


def test_nothing_in_nothing_out():
    some = intervals([(2, 6)])
    for a, b in ((EMPTY, EMPTY), (some, EMPTY), (EMPTY, some)):
        flags, back = allen_sweep(a, b, SHIFT)
        assert (flags.tolist(), back.tolist()) == ([0] * len(a), [0] * len(b))
        for name in RELATIONS:
            assert all(len(part) == 0 for part in allen_pairs(name, a, b, SHIFT))
            assert len(allen(name, "union", a, b, SHIFT)) == 0


def test_bad_arguments_name_the_argument_and_the_place():
    good, bad = intervals([(1, 3)]), intervals([(1, 3), (3, 5)])
    cases = [
        (lambda: allen_sweep(bad, good, SHIFT), "source.starts", 1),
        (lambda: allen_sweep(good, bad, SHIFT), "target.starts", 1),
        (lambda: allen_sweep(good, good, 0), "shift", None),
        (lambda: allen_sweep(good, good, SHIFT, 0), "tick", None),
        (lambda: allen_pairs("after", good, good, SHIFT), "relation", None),
        (lambda: allen("before", "lhs", good, good, SHIFT), "mode", None),
    ]
    for call, argument, index in cases:
        with pytest.raises(ArrayError) as error:
            call()
        assert (error.value.argument, error.value.index) == (argument, index)
