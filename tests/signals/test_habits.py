"""What positions say of themselves: the usual interval, the gap limit, the period; and proximity without rest."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import shapely
from hypothesis import given
from hypothesis import strategies as st

from eventide.signals import Area, Areas, clean, read_positions
from eventide.signals.habits import Habits, habits, habits_table
from eventide.signals.proximity import PROXIMITY
from eventide.signals.resting import RESTS, rests, without_rests


def _positions(rows: list[tuple[int, int]]) -> pa.Table:
    rows = sorted(set(rows))
    return pa.table({"vessel": [v for v, _ in rows], "time": [t for _, t in rows],
                     "lon": [v * 0.1 for v, _ in rows], "lat": [t / 1000 for _, t in rows]})


ROWS = st.lists(st.tuples(st.integers(1, 4), st.integers(0, 20_000)), max_size=40)


@given(ROWS)
def test_habits_of_parts_are_those_of_the_whole(rows: list[tuple[int, int]]) -> None:
    whole = habits([habits_table(_positions(rows))])
    parts = habits([habits_table(_positions([row for row in rows if row[0] % 2 == part])) for part in (0, 1)])
    for name in ("intervals", "occurs", "minutes", "reports"):
        assert getattr(parts, name).tolist() == getattr(whole, name).tolist()
    assert parts.box == whole.box
    assert int(whole.reports.sum()) == len(set(rows))


@given(ROWS, st.sampled_from([0.1, 0.5, 0.9, 1.0]))
def test_the_usual_interval(rows: list[tuple[int, int]], share: float) -> None:
    by_vessel = {v: sorted({t for w, t in rows if w == v}) for v, _ in rows}
    steps = sorted(b - a for times in by_vessel.values() for a, b in pairwise(times))
    found = habits([habits_table(_positions(rows))]).usual(share)
    if not steps:
        assert found is None
    else:
        assert found == next(step for step in steps if sum(s <= step for s in steps) >= share * len(steps))


def _habits(times: np.ndarray[tuple[int], np.dtype[np.int64]]) -> Habits:
    minutes, reports = np.unique(times // 60, return_counts=True)
    return Habits(np.zeros(0, np.int64), np.zeros(0, np.int64), minutes, reports, None)


def test_a_few_reports_that_lie_apart_are_no_part_of_the_period() -> None:
    hour = np.arange(0, 3600, 10)
    assert _habits(np.append(hour, [90_000, 90_010])).period(600) == (0, 3599)
    assert _habits(np.append(hour, [4000, 4100])).period(600) == (0, 4139)  # not apart
    assert _habits(np.append(hour, hour + 90_000)).period(600) == (0, 93_599)  # not few
    assert _habits(np.zeros(0, np.int64)).period(600) is None


def test_the_gap_limit_follows_from_the_intervals() -> None:
    none = np.zeros(0, np.int64)
    assert Habits(none, none, none, none, None).gap() == 600
    for seconds, gap in ((10, 600), (200, 600), (201, 660), (3600, 10_800)):
        assert Habits(np.array([seconds]), np.array([9]), none, none, None).gap() == gap


@pytest.mark.parametrize(("file", "gap", "outside"), [("us_2022-01-03", 600, 350), ("baltic_2018-04-01", 4320, 0)])
def test_recorded_traffic(file: str, gap: int, outside: int, shared_data: Callable[[str], Path]) -> None:
    positions = clean(read_positions(shared_data(f"data/ais/{file}.csv.gz")).positions).positions
    found = habits([habits_table(positions)])
    assert found.gap() == gap
    first, last = found.period(gap) or (0, 0)
    time = positions["time"].to_numpy()
    assert int(((time < first) | (time > last)).sum()) == outside


# -- rest --------------------------------------------------------------------------------------------------------------


def test_a_rest_is_slow_and_in_an_area() -> None:
    quay = Areas.of([Area("quay", "nearPorts", shapely.box(0, 0, 1, 1))])
    track = pa.table({"vessel": [1] * 6 + [2, 3], "time": [0, 10, 5000, 5010, 5020, 5030, 0, 0],
                      "lon": [0.5] * 5 + [2.0, 0.5, 0.5], "lat": [0.5] * 8,
                      "speed": [0.0, 1.0, 0.2, 4.0, 0.0, 0.0, 0.1, np.nan]})
    assert rests(track, quay).to_pylist() == [
        {"vessel": 1, "time": 0, "end": 5001}, {"vessel": 1, "time": 5020, "end": 5021},
        {"vessel": 2, "time": 0, "end": 1}]
    assert rests(track, Areas.of([])).num_rows == 0


SPANS = st.lists(st.tuples(st.integers(0, 30), st.integers(1, 8)), max_size=5)


def _apart(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Spans one behind the other: distances and lengths added up."""
    found, at = [], 0
    for distance, length in spans:
        found.append((at + distance, at + distance + length))
        at += distance + length + 1
    return found


@given(st.lists(SPANS, min_size=3, max_size=3), st.dictionaries(st.sampled_from([(1, 2), (1, 3), (2, 3)]), SPANS))
def test_proximity_without_rest(rest: list[list[tuple[int, int]]], near: dict[tuple[int, int], list[tuple[int, int]]],
                                ) -> None:
    resting = {vessel: _apart(spans) for vessel, spans in enumerate(rest, 1)}
    periods = [(low, high, one, two) for (one, two), spans in near.items() for low, high in _apart(spans)]
    table = pa.table([[p[0] for p in periods], [p[1] for p in periods], ["true"] * len(periods),
                      [p[2] for p in periods], [p[3] for p in periods]], schema=PROXIMITY)
    rows = [(vessel, *span) for vessel, spans in resting.items() for span in spans]
    found = without_rests(table, pa.table([list(column) for column in zip(*rows, strict=True)] if rows else [[]] * 3,
                                          schema=RESTS))

    def rested(vessel: int, time: int) -> bool:
        return any(low <= time < high for low, high in resting[vessel])

    expected = {(one, two, time) for low, high, one, two in periods for time in range(low, high)
                if not (rested(one, time) and rested(two, time))}
    kept = [(row["vessel1"], row["vessel2"], time) for row in found.to_pylist()
            for time in range(row["time"], row["end"])]
    assert len(kept) == len(set(kept)) and set(kept) == expected
    assert all(row["time"] < row["end"] for row in found.to_pylist())
