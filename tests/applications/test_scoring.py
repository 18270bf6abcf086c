"""Scores against the slow way, second by second; and scripts of vessels."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from eventide.applications.maritime.scoring import SHARE, Score, score
from eventide.applications.maritime.tracks import EASE, KNOT, Track, joined, without

LAST = 60
spans = st.tuples(st.integers(0, LAST - 2), st.integers(1, 30)).map(lambda two: (two[0], min(sum(two), LAST)))
rows = st.lists(st.tuples(st.sampled_from(["f", "g"]), st.sampled_from(["1", "1|2"]), spans), max_size=8)


def table(found: list[tuple[str, str, tuple[int, int]]], **more: int) -> pa.Table:
    """Rows of a result; an end at the last second is open."""
    return pa.table({
        "fluent": pa.array([fluent for fluent, _, _ in found], pa.string()),
        "args": pa.array([args for _, args, _ in found], pa.string()),
        "value": pa.array(["true"] * len(found), pa.string()),
        "start": pa.array([start for _, _, (start, _) in found], pa.int64()),
        "end": pa.array([None if end == LAST else end for _, _, (_, end) in found], pa.int64()),
        **{name: pa.array([value] * len(found), pa.int64()) for name, value in more.items()},
    })


@given(rows, rows, st.integers(0, 4))
def test_scores_are_those_of_counting_seconds(
    recognised: list[tuple[str, str, tuple[int, int]]], staged: list[tuple[str, str, tuple[int, int]]], tolerance: int
) -> None:
    def seconds(found: list[tuple[str, str, tuple[int, int]]], fluent: str, args: str, wider: int = 0) -> set[int]:
        return {t for name, own, (a, b) in found if (name, own) == (fluent, args) for t in range(a - wider, b + wider)}

    expected = []
    for fluent in sorted({name for name, _, _ in staged}):
        asked = found = right = number = 0
        for name, args, (start, end) in staged:
            core = set(range(start + tolerance, end - tolerance))
            if name == fluent and core:
                asked += 1
                found += len(core & seconds(recognised, fluent, args)) >= SHARE * len(core)
        for name, args, (start, end) in recognised:
            if name == fluent:
                number += 1
                right += len(set(range(start, end)) & seconds(staged, fluent, args, tolerance)) >= SHARE * (end - start)
        expected.append(Score(fluent, asked, found, number, right))
    assert score(table(recognised), table(staged, tolerance=tolerance), LAST) == expected


@given(st.lists(spans, max_size=6), st.lists(spans, max_size=6))
def test_spans_are_sets_of_seconds(some: list[tuple[int, int]], others: list[tuple[int, int]]) -> None:
    def points(found: list[tuple[int, int]]) -> set[int]:
        return {t for a, b in found for t in range(a, b)}

    whole = joined(some)
    assert points(whole) == points(some)
    assert all(a[1] < b[0] for a, b in pairwise(whole))
    assert points(without(whole, others)) == points(some) - points(others)


legs = st.lists(st.tuples(st.floats(0, 360), st.floats(0.6, 20), st.integers(200, 900)), min_size=1, max_size=5)


@given(legs)
def test_a_track_goes_where_its_script_says_with_rounded_corners(script: list[tuple[float, float, int]]) -> None:
    track = Track((3.0, -2.0))
    for course, knots, length in script:
        track.steer(course, knots, length)
    time = np.arange(0, track.now + 1, 10.0)
    eased, velocity = track.eased(time)
    fastest = max(knots for _, knots, _ in script)
    assert np.hypot(*(eased - track.at(time)).T).max() <= fastest * KNOT * EASE
    assert np.hypot(*velocity.T).max() <= fastest + 1e-6
    # between corners it is exactly where the script says, at the scripted speed
    begin = 0
    for _, knots, length in script:
        inside = (time >= begin + EASE) & (time <= begin + length - EASE)
        assert np.allclose(eased[inside], track.at(time[inside]))
        assert np.allclose(np.hypot(*velocity[inside].T), knots)
        begin += length
    assert track.moving() == [(0, track.now)]
