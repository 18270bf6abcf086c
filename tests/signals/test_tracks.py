"""Cleaning and critical points: what each rule means, and the kernels against the slow way on random tracks."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.signals.track_oracles import Report, cleaned, events

from eventide.errors import InputError
from eventide.signals import Cleaning, Thresholds, clean, critical_points
from eventide.signals.critical import BITS
from eventide.signals.positions import POSITIONS

SHIP = 219_014_000
LATEST = 10_000_000


def table(reports: list[Report]) -> pa.Table:
    """Reports as a table of positions."""
    return pa.table({name: [getattr(report, name) for report in reports] for name in POSITIONS.names}, POSITIONS)


def sailing(number: int, *, vessel: int = SHIP, start: int = 0, every: int = 60, speed: float = 10.0) -> list[Report]:
    """A vessel on its way to the east."""
    step = speed * 1852 / 3600 * every / 111_195
    return [Report(vessel, start + k * every, 5 + k * step, 0.1, speed, 90.0, 90.0) for k in range(number)]


def reasons(reports: list[Report], **settings: Any) -> dict[int, str]:
    """The time of each rejected report with its reason."""
    found = clean(table(reports), Cleaning(latest=LATEST, **settings))
    return dict(zip(found.rejected["time"].to_pylist(), found.rejected["reason"].to_pylist(), strict=True))


# -- cleaning ----------------------------------------------------------------------------------------------------------

WRONG = {
    "vessel": [dict(vessel=0), dict(vessel=123_456_789), dict(vessel=333_333_333), dict(vessel=200_999_999),
               dict(vessel=1_219_014_000), dict(vessel=-5)],
    "station": [dict(vessel=2_191_000), dict(vessel=992_191_000), dict(vessel=111_219_500), dict(vessel=970_010_203)],
    "time": [dict(time=-1), dict(time=LATEST + 1)],
    "no_place": [dict(lon=181.0), dict(lat=91.0), dict(lon=math.nan)],
    "place": [dict(lon=180.5), dict(lat=-90.5), dict(lon=0.0, lat=0.0)],
    "speed": [dict(speed=80.1), dict(speed=-1.0), dict(speed=102.2)],
}


@pytest.mark.parametrize(("reason", "change"), [(reason, change) for reason, all_ in WRONG.items() for change in all_])
def test_single_reports(reason: str, change: dict[str, Any]) -> None:
    found = clean(table([replace(Report(SHIP, 5, 10.0, 55.0, 7.0), **change)]), Cleaning(latest=LATEST))
    assert found.counts == {reason: 1}
    assert found.rejected["reason"].to_pylist() == [reason]
    assert found.positions.num_rows == 0 and found.read == 1


def test_what_is_not_available_is_unknown_and_no_fault() -> None:
    odd = [Report(SHIP, 5, 10.0, 55.0, 102.3, 360.0, 511.0), Report(SHIP, 65, 10.0, 55.0, 1.0, 400.0, 361.0)]
    found = clean(table(odd))
    assert found.counts == {}
    assert np.isnan(found.positions["speed"].to_numpy()).tolist() == [True, False]
    assert np.isnan(found.positions["course"].to_numpy()).all()
    assert found.positions["heading"].to_pylist() == [511.0, 511.0]
    assert found.unknown == {"course": 1, "heading": 1}


def test_any_vessel() -> None:
    assert reasons([Report(7, 5, 10.0, 55.0)], any_vessel=True) == {}


def test_of_two_reports_at_one_time_the_first_stays() -> None:
    track = sailing(3)
    again = replace(track[1], speed=3.0)
    found = clean(table([*track, again]))
    assert found.counts == {"duplicate": 1}
    assert found.rejected["speed"].to_pylist() == [3.0]


def test_a_spoofed_piece_goes_however_long() -> None:
    track = sailing(60)
    spoofed = [replace(r, lat=40.0) if 20 <= k < 40 else r for k, r in enumerate(track)]
    assert reasons(spoofed) == {r.time: "jump" for r in track[20:40]}


def test_a_wrong_first_report_does_not_condemn_the_track() -> None:
    track = sailing(10)
    assert reasons([replace(track[0], lat=40.0), *track[1:]]) == {0: "jump"}


def test_of_two_vessels_with_one_number_one_stays() -> None:
    one = sailing(30)
    other = [replace(r, time=r.time + 30, lat=50.0) for r in sailing(20)]
    mixed = sorted([*one, *other], key=lambda r: r.time)
    assert reasons(mixed) == {r.time: "jump" for r in other}


def test_a_spoofed_report_that_could_be_reached_after_a_silence() -> None:
    track = [*sailing(20), *(replace(r, time=r.time + 50_000) for r in sailing(20))]
    track[20] = replace(track[20], lat=2.0)
    assert reasons(track) == {track[20].time: "jump"}


def test_a_far_place_can_be_reached_in_time() -> None:
    assert reasons([Report(SHIP, 0, 5.0, 50.0), Report(SHIP, 86_400, 10.0, 50.0)]) == {}


def test_the_date_line_is_no_jump() -> None:
    assert reasons([Report(SHIP, 0, 179.999, 50.0), Report(SHIP, 60, -179.999, 50.0)]) == {}


@pytest.mark.parametrize("wrong", [-7200, 50_000])
def test_a_clock_that_goes_wrong_and_comes_back(wrong: int) -> None:
    track = sailing(20, start=100_000, speed=0.0)
    track[10] = replace(track[10], time=track[10].time + wrong)
    assert reasons(track) == {track[10].time: "time"}
    assert reasons(track, disorder=None) == {}


def test_rows_in_no_order_are_sorted() -> None:
    track = sailing(40, every=300)
    mixed = random.Random(1).sample(track, len(track))
    found = clean(table(mixed), Cleaning(latest=LATEST))
    assert found.counts == {} and found.positions.equals(table(track))


def test_reports_a_little_late_are_sorted() -> None:
    track = sailing(40)
    for k in range(0, 40, 4):
        track[k], track[k + 3] = track[k + 3], track[k]
    found = clean(table(track))
    assert found.counts == {} and found.positions.equals(table(sorted(track, key=lambda r: r.time)))


PLACES = st.sampled_from([0.0, 5.0, 5.001, 5.01, 5.3, 30.0, 91.0, 180.0, 181.0, -180.0])
REPORTS = st.lists(st.builds(
    Report, st.sampled_from([SHIP, SHIP + 1, 7, 992_191_000]), st.one_of(st.integers(0, 40), st.integers(0, 4000)),
    PLACES, PLACES, st.sampled_from([0.0, 9.0, 81.0, 102.3, math.nan])), max_size=30)


@given(REPORTS, st.sampled_from([None, 0, 30, 600]), st.booleans())
def test_cleaning_like_the_slow_way(reports: list[Report], disorder: int | None, any_vessel: bool) -> None:
    settings = Cleaning(disorder=disorder, any_vessel=any_vessel, latest=3900)
    good, wrong = cleaned(reports, settings, 3900)
    found = clean(table(reports), settings)
    places = [(r.vessel, r.time, r.lon, r.lat) for r in reports]
    rows = [tuple(row[name] for name in POSITIONS.names[:4]) for row in found.positions.to_pylist()]
    assert rows == [places[n] for n in good]
    assert found.rejected["reason"].to_pylist() == [wrong[n] for n in sorted(wrong)]
    assert found.positions.num_rows + sum(found.counts.values()) == len(reports)


def test_settings_that_cannot_be() -> None:
    for wrong in (dict(max_speed=0.0), dict(slack=-1.0), dict(disorder=-1), dict(earliest=5, latest=4)):
        with pytest.raises(InputError):
            Cleaning(**wrong)  # type: ignore[arg-type]


# -- critical points ---------------------------------------------------------------------------------------------------


def happened(reports: list[Report], until: int | None = None, **thresholds: Any) -> dict[str, list[int]]:
    """The times of events, by name, of those that happened."""
    found = critical_points(table(reports), Thresholds(**thresholds), until=until)
    return {name: found[name]["time"].to_pylist() for name in BITS if found[name].num_rows}


def at_speeds(*speeds: float, every: int = 60) -> list[Report]:
    """Reports with these speeds, on one course."""
    return [Report(SHIP, k * every, 5.0, 50.0, speed, 90.0, 90.0) for k, speed in enumerate(speeds)]


def test_a_stop_lasts_through_swinging_at_anchor() -> None:
    found = happened(at_speeds(12, 12, 0.4, 0.9, 0.0, 1.0, 0.6, 1.1, 12, 12), speed_ratio=100.0)
    assert found == {"stop_start": [120], "stop_end": [420], "slow_motion_start": [420], "slow_motion_end": [480]}


def test_slow_motion_and_stop_follow_each_other_without_a_hole() -> None:
    found = happened(at_speeds(9, 4, 0.1, 0.1, 3, 9), speed_ratio=100.0)
    assert found["slow_motion_end"] == [120, 300] and found["stop_start"] == [120]
    assert found["stop_end"] == [240] and found["slow_motion_start"] == [60, 240]


def test_a_gap_ends_what_goes_on_and_it_begins_anew() -> None:
    track = [*at_speeds(0.1, 0.1), *(replace(r, time=r.time + 5000) for r in at_speeds(0.1, 9))]
    found = happened(track, speed_ratio=100.0)
    assert found == {"stop_start": [0, 5000], "stop_end": [60, 5060], "gap_start": [60], "gap_end": [5000]}


def test_silence_at_the_end_is_a_gap_without_end() -> None:
    track = at_speeds(3, 3)
    assert "gap_start" not in happened(track) and "gap_start" not in happened(track, until=660)
    found = happened(track, until=661)
    assert found == {"slow_motion_start": [0], "slow_motion_end": [60], "gap_start": [60]}


def test_other_vessels_tell_when_the_end_is() -> None:
    track = [*at_speeds(9, 9), *(replace(r, vessel=SHIP + 1, time=r.time + 5000) for r in at_speeds(9, 9))]
    assert happened(track) == {"gap_start": [60]}


def test_change_in_speed_until_the_speed_is_steady() -> None:
    found = happened(at_speeds(12, 12.5, 11.8, 6, 6, 6, 6, 6, 6))
    assert found["change_in_speed_start"] == [180]
    assert len(found["change_in_speed_end"]) == 1 and 240 < found["change_in_speed_end"][0] <= 480


def test_sharp_and_slow_turns() -> None:
    courses = [10, 350, 345, 340, 335, 330, 325, 320, 320]
    track = [replace(r, course=float(c)) for r, c in zip(at_speeds(*[9] * 9), courses, strict=True)]
    assert happened(track) == {"change_in_heading": [60, 300]}
    drifting = [replace(r, speed=0.7) for r in track]
    assert "change_in_heading" not in happened(drifting)


def test_unknown_speeds_and_courses_follow_from_places() -> None:
    track = [replace(r, speed=math.nan, course=math.nan) for r in sailing(3)]
    velocity = critical_points(table(track))["velocity"].to_pylist()
    assert [row["time"] for row in velocity] == [60, 120]
    assert velocity[0]["speed"] == pytest.approx(10, abs=0.05)
    assert velocity[0]["course"] == pytest.approx(90, abs=0.1)


def test_a_velocity_without_course_has_the_heading() -> None:
    track = [replace(at_speeds(9)[0], course=math.nan, heading=h, vessel=SHIP + k) for k, h in enumerate([77.0, 511.0])]
    velocity = critical_points(table(track))["velocity"].to_pylist()
    assert [(row["course"], row["heading"]) for row in velocity] == [(77.0, 77.0), (0.0, 511.0)]


def test_positions_out_of_order_are_refused() -> None:
    with pytest.raises(InputError, match="row 2 of the positions is out of order"):
        critical_points(table(sailing(3)[::-1]))


def test_no_positions() -> None:
    assert {name: found.num_rows for name, found in critical_points(table([])).items()} == dict.fromkeys(
        [*BITS, "velocity", "coord"], 0)
    assert clean(table([])).read == 0


def test_thresholds_that_cannot_be() -> None:
    for wrong in (dict(gap=0), dict(stop_speed=2.0), dict(turn=-1.0), dict(slow_speed=6.0)):
        with pytest.raises(InputError):
            Thresholds(**wrong)  # type: ignore[arg-type]


MOVES = st.lists(st.tuples(
    st.sampled_from([SHIP, SHIP + 1, SHIP + 5]), st.sampled_from([1, 10, 60, 599, 600, 601, 5000]),
    st.sampled_from([0.0, 0.5, 0.6, 1.0, 1.1, 3.0, 5.0, 5.4, 5.6, 7.0, 9.0, 14.0]),
    st.sampled_from([0.0, 5.0, 14.0, 20.0, 175.0, 190.0, 352.0])), max_size=60)


@given(MOVES, st.integers(0, 8000))
def test_critical_points_like_the_slow_way(moves: list[tuple[int, int, float, float]], after: int) -> None:
    reports, times = [], dict.fromkeys([SHIP, SHIP + 1, SHIP + 5], 0)
    for vessel, later, speed, course in moves:
        times[vessel] += later
        reports.append(Report(vessel, times[vessel], 5.0, 50.0, speed, course))
    reports.sort(key=lambda r: (r.vessel, r.time))
    until = max(times.values()) + after
    found = critical_points(table(reports), until=until)
    plain = sorted((name, row["time"], row["vessel"]) for name in BITS for row in found[name].to_pylist())
    assert plain == events(reports, Thresholds(), until)
    assert found["velocity"].num_rows == found["coord"].num_rows == len(reports)
