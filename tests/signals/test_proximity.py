"""Proximity of two vessels, against a walk over every second of every pair."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from eventide.errors import InputError
from eventide.kernels.meetings import METRES_PER_DEGREE, Meetings, meetings, pieces, whole_meetings
from eventide.kernels.spreading import spread
from eventide.signals.positions import Tracks, tracks_of
from eventide.signals.proximity import Nearness, proximity

Period = tuple[int, int, int, int]
NEARNESS = Nearness(metres=500, gap=30, bridge=100)


def positions(*tracks: tuple[int, list[tuple[int, float, float]]]) -> pa.Table:
    """Reports of vessels: `(vessel, [(time, lon, lat), …])`."""
    rows = [(vessel, *report) for vessel, reports in tracks for report in reports]
    columns = zip(*rows, strict=True) if rows else ((), (), (), ())
    kinds = (pa.int64(), pa.int64(), pa.float64(), pa.float64())
    return pa.table([pa.array(column, kind) for column, kind in zip(columns, kinds, strict=True)],
                    names=["vessel", "time", "lon", "lat"])


def periods(table: pa.Table) -> list[Period]:
    return list(zip(*(table[name].to_pylist() for name in ("vessel1", "vessel2", "time", "end")), strict=True))


def metres_north(metres: float) -> float:
    return metres / METRES_PER_DEGREE


# -- the oracle --------------------------------------------------------------------------------------------------------


@dataclass
class Place:
    lon: float
    lat: float
    middle: float  # twice the mean latitude of the piece that the place is on
    known: bool


def place_at(reports: list[tuple[int, float, float]], t: int, nearness: Nearness) -> Place | None:
    """Where a vessel is at a second, if that is known or can be guessed."""
    for k, (time, lon, lat) in enumerate(reports):
        after = reports[k + 1] if k + 1 < len(reports) else None
        silence = after[0] - time if after else math.inf
        if after and silence <= nearness.bridge and (time <= t < after[0]):
            if t == time and silence > nearness.gap:
                before = reports[k - 1] if k and time - reports[k - 1][0] <= nearness.gap else None
                return Place(lon, lat, (before[2] + lat) if before else lat + after[2], True)
            share = (t - time) / silence
            turn = (after[1] - lon + 540) % 360 - 180
            return Place(lon + turn * share, lat + (after[2] - lat) * share, lat + after[2], silence <= nearness.gap)
        if t == time:
            before = reports[k - 1] if k and time - reports[k - 1][0] <= nearness.gap else None
            return Place(lon, lat, (before[2] if before else lat) + lat, True)
    return None


def distance(a: Place, b: Place) -> float:
    across = ((b.lon - a.lon + 540) % 360 - 180) * math.cos(math.radians((a.middle + b.middle) / 4))
    return METRES_PER_DEGREE * math.hypot(across, b.lat - a.lat)


def slow_proximity(tracks: dict[int, list[tuple[int, float, float]]], nearness: Nearness) -> Iterator[Period]:
    """Every pair, every second; of seconds in a row those between the first and the last that are known."""
    times = [report[0] for reports in tracks.values() for report in reports]
    for one, two in combinations(sorted(tracks), 2):
        run: list[tuple[int, bool]] = []
        for t in range(min(times), max(times) + 2):
            a, b = (place_at(tracks[vessel], t, nearness) for vessel in (one, two))
            near = a is not None and b is not None and distance(a, b)
            if near is not False:
                assume(abs(near - nearness.metres) > 1e-6)  # rounding may decide either way
            if near is not False and near <= nearness.metres:
                run.append((t, a.known and b.known))
                continue
            sure = [second for second, known in run if known]
            if sure:
                yield one, two, sure[0], sure[-1] + 1
            run = []


corners = st.sampled_from([(0.0, 0.0), (179.995, 60.0), (-5.0, 48.0), (10.0, -75.0), (-179.999, 0.0)])
steps = st.integers(-8, 8).map(lambda k: k * 0.0017)
gaps = st.sampled_from([1, 2, 7, 20, 30, 31, 60, 99, 100, 101, 150])


@st.composite
def fleets(draw: st.DrawFn) -> dict[int, list[tuple[int, float, float]]]:
    lon, lat = draw(corners)
    fleet = {}
    for vessel in draw(st.lists(st.integers(1, 9), min_size=2, max_size=4, unique=True)):
        time = draw(st.integers(0, 60))
        reports = []
        for _ in range(draw(st.integers(1, 6))):
            x = (lon + draw(steps) + 540) % 360 - 180
            reports.append((time, x, lat + draw(steps)))
            time += draw(gaps)
        fleet[vessel] = reports
    return dict(sorted(fleet.items()))


@given(fleets())
def test_it_is_what_every_second_says(fleet: dict[int, list[tuple[int, float, float]]]) -> None:
    expected = list(slow_proximity(fleet, NEARNESS))
    assert periods(proximity(positions(*fleet.items()), NEARNESS)) == expected


# -- slices and buckets change nothing ---------------------------------------------------------------------------------


def found(tracks: Tracks, rows: np.ndarray, codes: np.ndarray, metres: float, length: int | None = None) -> Meetings:
    return meetings(tracks.vessel[rows], tracks.time[rows], tracks.lon[rows], tracks.lat[rows], codes, metres, length)


def as_rows(whole: Meetings) -> list[Period]:
    return list(zip(whole.one.tolist(), whole.two.tolist(), whole.start.tolist(), whole.end.tolist(), strict=True))


def crowd(seed: int, vessels: int, lon: float, lat: float) -> Tracks:
    """Vessels that wander in a few square kilometres, with silences."""
    rng = np.random.default_rng(seed)
    tracks = []
    for vessel in range(vessels):
        silence = rng.choice([5, 10, 60, 700, 5000], 60, p=[0.4, 0.4, 0.15, 0.04, 0.01])
        path = np.cumsum(rng.normal(0, 0.001, (60, 2)), axis=0) + rng.uniform(-0.05, 0.05, 2)
        times = (rng.integers(0, 500) + silence.cumsum()).tolist()
        tracks.append((vessel + 1, [(t, (lon + x + 540) % 360 - 180, lat + y)
                                    for t, (x, y) in zip(times, path.tolist(), strict=True)]))
    return tracks_of(positions(*tracks))


@pytest.mark.parametrize("corner", [(3.0, 51.0), (179.98, -17.0), (20.0, 78.0)])
def test_slices_and_buckets_change_nothing(corner: tuple[float, float]) -> None:
    tracks = crowd(7, 60, *corner)
    codes = pieces(tracks.vessel, tracks.time, 600, 7200)
    everything = np.arange(len(tracks))
    expected = as_rows(whole_meetings(found(tracks, everything, codes, 500)))
    assert len(expected) > 30
    for length in (1, 13, 100, 5000, 10**6):
        assert as_rows(whole_meetings(found(tracks, everything, codes, 500, length))) == expected
    for buckets, chunk, degrees in ((1, 3600, 0.25), (5, 600, 0.02), (64, 100, 0.1)):
        offsets, rows, own = spread(tracks.time, tracks.lon, tracks.lat, codes, 500, buckets, chunk=chunk,
                                    degrees=degrees)
        parts = [found(tracks, rows[low:high], own[low:high], 500)
                 for low, high in pairwise(offsets)]
        joined = Meetings(*(np.concatenate([getattr(part, name) for part in parts])
                            for name in ("one", "two", "start", "end", "sure")))
        assert as_rows(whole_meetings(joined)) == expected


# -- cases -------------------------------------------------------------------------------------------------------------


def silent_beside(silence: int) -> pa.Table:
    """Vessel 1 lies still and reports every minute; vessel 2, 100 m away, is silent for a while."""
    still = [(t, 0.0, 0.0) for t in range(0, 20_001, 60)]
    other = [(t, 0.0, metres_north(100)) for t in (*range(0, 1201, 60), *range(1200 + silence, 20_001, 60))]
    return positions((1, still), (2, other))


def test_a_dropout_does_not_split() -> None:
    assert len(periods(proximity(silent_beside(600)))) == 1


def test_a_silence_between_two_meetings_is_bridged() -> None:
    assert len(periods(proximity(silent_beside(7200)))) == 1


def test_a_silence_that_is_too_long_is_not() -> None:
    assert next((start, end) for *_, start, end in periods(proximity(silent_beside(7201)))) == (0, 1201)


def test_a_guess_alone_is_nothing() -> None:
    """Vessel 2 is seen far away on both sides of vessel 1, and may have passed it in between."""
    still = [(t, 0.0, 0.0) for t in range(0, 4001, 50)]
    assert periods(proximity(positions((1, still), (2, [(0, -0.2, 0.0), (3000, 0.2, 0.0)])))) == []


def test_who_was_seen_apart_meanwhile_is_not_bridged() -> None:
    still = [(t, 0.0, 0.0) for t in (0, 5000)]
    away = [(t, 0.0, metres_north(metres)) for t, metres in ((0, 100), (500, 4000), (4500, 4000), (5000, 100))]
    found = periods(proximity(positions((1, still), (2, away)), Nearness(gap=600)))
    assert found == [(1, 2, 0, 1), (1, 2, 5000, 5001)]


def test_one_report_each_at_the_same_second() -> None:
    assert periods(proximity(positions((1, [(7, 0.0, 0.0)]), (2, [(7, 0.0, 0.001)])))) == [(1, 2, 7, 8)]


def test_across_the_date_line() -> None:
    reports = [(5, [(0, 179.999, 0.0), (60, -179.999, 0.0)]), (9, [(0, -179.999, 0.0), (60, -179.999, 0.0)])]
    assert periods(proximity(positions(*reports))) == [(5, 9, 0, 61)]


def test_it_is_the_distance_on_the_globe() -> None:
    """490 m and 510 m to the east, at many latitudes."""
    for lat in (-80.0, -33.0, 0.0, 59.9, 85.0):
        for metres, near in ((497.0, True), (503.0, False)):
            lon = metres_north(metres) / math.cos(math.radians(lat))
            table = positions((1, [(0, 0.0, lat), (60, 0.0, lat)]), (2, [(0, lon, lat), (60, lon, lat)]))
            assert bool(periods(proximity(table))) is near


def test_nothing_gives_nothing() -> None:
    assert proximity(positions()).num_rows == 0


@pytest.mark.parametrize(("reports", "words"), [
    ([(1, [(5, 0.0, 0.0), (5, 0.0, 0.0)])], "row 2 .* out of order"),
    ([(2, [(5, 0.0, 0.0)]), (1, [(5, 0.0, 0.0)])], "row 2 .* out of order"),
    ([(1, [(5, 0.0, math.nan)])], "row 1 .* no place")])
def test_what_is_not_cleaned_is_told(reports: list[tuple[int, list[tuple[int, float, float]]]], words: str) -> None:
    with pytest.raises(InputError, match=words):
        proximity(positions(*reports))


@pytest.mark.parametrize("wrong", [{"metres": 0}, {"metres": -1}, {"gap": 0}, {"gap": 100, "bridge": 50}])
def test_wrong_settings_are_told(wrong: dict[str, float]) -> None:
    with pytest.raises(InputError, match="expected"):
        Nearness(**wrong)
