"""Tracks of many vessels as whole columns: faults of reports, jumps, critical points. Knows no tables and no files.

Columns are sorted by vessel; every loop goes over all vessels in one pass and allocates only for vessels with faults.
Loops that ask whether a place can be reached need its distance: `metres`, on a sphere.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from eventide.kernels.arrays import Array, jit

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.uint8]
Flags = npt.NDArray[np.uint16]

RADIUS = 6_371_008.8  # metres: the mean radius of the earth
KNOT = 1852.0 / 3600.0  # metres per second
_RADIANS = np.pi / 180.0

# What may be wrong with a report. The order is that of the checks: a report has the first fault that is found.
FINE, NO_VESSEL, OTHER_STATION, CLOCK, NO_PLACE, PLACE, SPEED, DUPLICATE, JUMP = range(9)

# What may happen at a report, one bit each.
GAP_START, GAP_END, STOP_START, STOP_END, SLOW_START, SLOW_END = 1, 2, 4, 8, 16, 32
SPEED_START, SPEED_END, TURN = 64, 128, 256
LAST = 512  # the last report of its vessel
_SHIFT = 7  # how far the bits of ends are moved that are due if nothing more is heard after the last report

BACK = 64  # over how many reports of a vessel to look back for the one that the next can follow


@jit
def metres(lon: Any, lat: Any, to_lon: Any, to_lat: Any) -> Any:
    """The distance of two places on the sphere, by the haversine formula.

    >>> round(metres(0.0, 0.0, 0.0, 1.0) / 1000)
    111
    """
    up = np.sin((to_lat - lat) * (_RADIANS / 2))
    across = np.sin((to_lon - lon) * (_RADIANS / 2))
    half = up * up + np.cos(lat * _RADIANS) * np.cos(to_lat * _RADIANS) * across * across
    return 2 * RADIUS * np.arcsin(min(1.0, np.sqrt(half)))


@jit
def bearing(lon: Any, lat: Any, to_lon: Any, to_lat: Any) -> Any:
    """The direction from one place to another at the first of them, in degrees from north.

    >>> bearing(10.0, 0.0, 11.0, 0.0)
    90.0
    """
    across = (to_lon - lon) * _RADIANS
    a, b = lat * _RADIANS, to_lat * _RADIANS
    east = np.sin(across) * np.cos(b)
    north = np.cos(a) * np.sin(b) - np.sin(a) * np.cos(b) * np.cos(across)
    return (np.arctan2(east, north) / _RADIANS) % 360.0


# ---------------------------------------------------------------- faults of single reports


@jit
def station(vessel: int) -> int:
    """What a number of the maritime mobile service stands for: FINE for a vessel, else the fault.

    Vessels have nine digits and begin with the three of a country, 201 to 775; craft of a parent ship with 98 and the
    country. 111 are aircraft, 970 to 979 distress beacons, 99 aids to navigation, one or two zeros stations ashore.
    Numbers that installers leave in (one digit repeated, 123456789) belong to nobody.

    >>> station(219014000), station(992191000) == OTHER_STATION, station(123456789) == NO_VESSEL
    (0, True, True)
    """
    if vessel % 111_111_111 == 0 or vessel == 123_456_789 or vessel == 987_654_321 or vessel <= 0:
        return NO_VESSEL
    if 201_000_000 <= vessel < 776_000_000 or 982_010_000 <= vessel < 987_760_000:
        return FINE
    if 2_010_000 <= vessel < 7_760_000 or 20_100_000 <= vessel < 77_600_000:
        return OTHER_STATION
    if vessel // 1_000_000 == 111 or 970_000_000 <= vessel < 980_000_000 or vessel // 10_000_000 == 99:
        return OTHER_STATION
    return NO_VESSEL


@jit
def _row_faults(vessel, time, lon, lat, speed, any_vessel, earliest, latest, fastest, found):  # type: ignore[no-untyped-def]
    last, of_last = np.int64(-1), NO_VESSEL
    for i in range(vessel.shape[0]):
        if vessel[i] != last:
            last = vessel[i]
            of_last = (FINE if last > 0 else NO_VESSEL) if any_vessel else station(last)
        x, y, v = lon[i], lat[i], speed[i]
        fault = of_last
        if fault == FINE:
            if not earliest <= time[i] <= latest:
                fault = CLOCK
            elif not (x == x and y == y) or x == 181.0 or y == 91.0:
                fault = NO_PLACE
            elif not (-180.0 <= x <= 180.0 and -90.0 <= y <= 90.0) or (abs(x) < 1e-4 and abs(y) < 1e-4):
                fault = PLACE
            elif v < 0.0 or v > fastest:
                fault = SPEED
        found[i] = fault


def row_faults(vessel: Array, time: Array, lon: Floats, lat: Floats, speed: Floats, *, any_vessel: bool, earliest: int,
               latest: int, fastest: float) -> Codes:
    """The fault of every report that shows in the report alone; FINE where there is none. One pass."""
    found = np.empty(vessel.shape[0], np.uint8)
    _row_faults(vessel, time, lon, lat, speed, any_vessel, earliest, latest, fastest, found)
    return found


# ---------------------------------------------------------------- order


@jit
def _grouped(codes, faults, starts, order):  # type: ignore[no-untyped-def]
    for i in range(codes.shape[0]):
        if faults[i] == FINE:
            starts[codes[i] + 1] += 1
    for k in range(1, starts.shape[0]):
        starts[k] += starts[k - 1]
    for i in range(codes.shape[0]):
        if faults[i] == FINE:
            order[starts[codes[i]]] = i
            starts[codes[i]] += 1
    for k in range(starts.shape[0] - 1, 0, -1):  # each start has moved to its end
        starts[k] = starts[k - 1]
    starts[0] = 0


def grouped(codes: Array, number: int, faults: Codes) -> tuple[Array, Array]:
    """The rows without fault by code, in their own order, and where each of so many codes begins. O(n).

    >>> order, starts = grouped(np.array([1, 0, 1]), 2, np.zeros(3, np.uint8))
    >>> order.tolist(), starts.tolist()
    ([1, 0, 2], [0, 1, 3])
    """
    starts = np.zeros(number + 1, np.int64)
    order = np.empty(int(np.count_nonzero(faults == FINE)), np.int64)
    _grouped(codes, faults, starts, order)
    return order, starts


# ---------------------------------------------------------------- faults that show beside other reports


@jit
def _leads(a, b, time, lon, lat, by_place, fastest, slack):  # type: ignore[no-untyped-def]
    """Whether a report may follow another: no earlier than `slack` before it, or near enough to be reached."""
    if not by_place:
        return time[b] >= time[a] - slack
    across = abs(lon[b] - lon[a])
    across = min(across, 360.0 - across)
    limit = fastest * KNOT * abs(time[b] - time[a]) + slack
    if (across + abs(lat[b] - lat[a])) * (_RADIANS * RADIUS) <= limit:  # no way is longer than along two sides
        return True
    return metres(lon[a], lat[a], lon[b], lat[b]) <= limit


@jit
def _outside(rows, time, lon, lat, by_place, fastest, slack, least, fault, faults):  # type: ignore[no-untyped-def]
    """Mark the reports of a vessel that are not on its longest track.

    A track is a chain of reports each of which may follow the one before. The one with most reports is kept, if it has
    at least the share `least` of them all. For each report the best one to follow is sought among the last `BACK`, and
    the end of the longest track so far.
    """
    n = rows.shape[0]
    k = 1
    while k < n and _leads(rows[k - 1], rows[k], time, lon, lat, by_place, fastest, slack):
        k += 1
    if k >= n:
        return
    length = np.empty(n, np.int64)
    before = np.empty(n, np.int64)
    best = 0
    for k in range(n):
        length[k], before[k] = 0, -1
        for j in range(k - 1, max(-1, k - 1 - BACK), -1):
            if length[j] > length[k] and _leads(rows[j], rows[k], time, lon, lat, by_place, fastest, slack):
                length[k], before[k] = length[j], j
        if length[best] > length[k] and k > 0 and _leads(rows[best], rows[k], time, lon, lat, by_place, fastest, slack):
            length[k], before[k] = length[best], best
        length[k] += 1
        if length[k] > length[best]:
            best = k
    if length[best] < least * n:
        return
    k = best
    for j in range(n - 1, -1, -1):
        if j == k:
            k = before[k]
        else:
            faults[rows[j]] = fault


@jit
def _sort_by_time(rows, time):  # type: ignore[no-untyped-def]
    """Sort rows by time, equal times in the order they have; almost sorted ones cost little."""
    moves, budget = 0, 8 * rows.shape[0]
    for k in range(1, rows.shape[0]):
        row = rows[k]
        j = k
        while j > 0 and time[rows[j - 1]] > time[row]:
            rows[j] = rows[j - 1]
            j -= 1
        rows[j] = row
        moves += k - j
        if moves > budget:
            rows[:] = rows[np.argsort(time[rows], kind="mergesort")]
            return


@jit
def _settle(order, starts, time, lon, lat, disorder, least, fastest, slack, faults, kept):  # type: ignore[no-untyped-def]
    used = 0
    for vessel in range(starts.shape[0] - 1):
        rows = order[starts[vessel]:starts[vessel + 1]]
        if rows.shape[0] > 1:
            if disorder >= 0:
                _outside(rows, time, lon, lat, False, fastest, disorder, least, CLOCK, faults)
            count = 0
            for k in range(rows.shape[0]):
                if faults[rows[k]] == FINE:
                    rows[count] = rows[k]
                    count += 1
            rows = rows[:count]
            _sort_by_time(rows, time)
            count = 1
            for k in range(1, rows.shape[0]):
                if time[rows[k]] == time[rows[count - 1]]:
                    faults[rows[k]] = DUPLICATE
                else:
                    rows[count] = rows[k]
                    count += 1
            rows = rows[:count]
            _outside(rows, time, lon, lat, True, fastest, slack, 0.0, JUMP, faults)
        for k in range(rows.shape[0]):
            if faults[rows[k]] == FINE:
                kept[used] = rows[k]
                used += 1
    return used


def settle(order: Array, starts: Array, time: Array, lon: Floats, lat: Floats, faults: Codes, *, disorder: int,
           least: float, fastest: float, slack: float) -> Array:
    """The good reports by vessel and time; what is wrong with the others is written to `faults`.

    `order` and `starts` are those of `grouped`, and are used up. Three checks, one after the other: clocks that go back
    by more than `disorder` in the order of the rows (if at least the share `least` of the vessel's reports is in
    order; a negative `disorder` checks nothing), reports at one time, and places that a vessel with the speed
    `fastest` cannot reach within `slack` metres.
    """
    kept = np.empty(order.shape[0], np.int64)
    used = _settle(order, starts, time, lon, lat, disorder, least, fastest, slack, faults, kept)
    return kept[:used]


@jit
def _unknowns(speed, course, heading, counts):  # type: ignore[no-untyped-def]
    for i in range(speed.shape[0]):
        if speed[i] >= 102.25:  # 102.3: not available
            speed[i] = np.nan
        if not 0.0 <= course[i] < 360.0:
            if course[i] == course[i] and course[i] != 360.0:
                counts[0] += 1
            course[i] = np.nan
        if not 0.0 <= heading[i] < 360.0:
            if heading[i] == 360.0:
                heading[i] = 0.0
            else:
                if heading[i] == heading[i] and heading[i] != 511.0:
                    counts[1] += 1
                heading[i] = 511.0


def unknowns(speed: Floats, course: Floats, heading: Floats) -> tuple[int, int]:
    """Write NaN, and 511 for headings, over values that mean "not available", and over courses and headings that there
    cannot be; how many courses and headings the latter were."""
    counts = np.zeros(2, np.int64)
    _unknowns(speed, course, heading, counts)
    return int(counts[0]), int(counts[1])


# ---------------------------------------------------------------- critical points


@jit
def _fill(vessel, time, lon, lat, gap, speed, course):  # type: ignore[no-untyped-def]
    for i in range(1, vessel.shape[0]):
        if speed[i] == speed[i] and course[i] == course[i]:
            continue
        silence = time[i] - time[i - 1]
        if vessel[i] != vessel[i - 1] or silence > gap:
            continue
        way = metres(lon[i - 1], lat[i - 1], lon[i], lat[i])
        if speed[i] != speed[i]:
            speed[i] = way / silence / KNOT
        if course[i] != course[i]:
            course[i] = bearing(lon[i - 1], lat[i - 1], lon[i], lat[i]) if way > 10.0 else course[i - 1]


def fill(vessel: Array, time: Array, lon: Floats, lat: Floats, gap: int, speed: Floats, course: Floats) -> None:
    """Write what follows from the report before, unless it is older than `gap`, over unknown speeds and courses.

    Within 10 metres of it the course is the one before.
    """
    _fill(vessel, time, lon, lat, gap, speed, course)


@jit
def _critical(vessel, time, speed, course, gap, stop, stop_leave, slow, slow_leave, ratio, step, memory, turn,  # type: ignore[no-untyped-def]
              turn_speed, flags):
    stopped = crawling = changing = False
    mean = ahead = np.nan
    n = vessel.shape[0]
    for i in range(n):
        fresh = i == 0 or vessel[i] != vessel[i - 1]
        silence = 0 if fresh else time[i] - time[i - 1]
        if silence > gap or (fresh and i > 0):
            ends = (STOP_END if stopped else 0) | (SLOW_END if crawling else 0) | (SPEED_END if changing else 0)
            if fresh:
                flags[i - 1] |= LAST | (ends << _SHIFT)
            else:
                flags[i - 1] |= GAP_START | ends
                flags[i] |= GAP_END
            stopped = crawling = changing = False
            mean = ahead = np.nan
        v, c = speed[i], course[i]
        if v != v:
            continue
        found = 0
        if stopped and v > stop_leave:
            stopped = False
            found |= STOP_END
        elif not stopped and v <= stop:
            stopped = True
            found |= STOP_START
        if crawling and (stopped or v > slow_leave):
            crawling = False
            found |= SLOW_END
        elif not crawling and not stopped and v <= slow:
            crawling = True
            found |= SLOW_START
        if mean != mean:
            mean = v
        else:
            away = abs(v - mean)
            if changing and away <= max(ratio * mean, step) / 2:
                changing = False
                found |= SPEED_END
            elif not changing and away > ratio * mean and away > step:
                changing = True
                found |= SPEED_START
            mean += (1.0 - np.exp(-silence / memory)) * (v - mean)
        if v >= turn_speed and c == c:
            if ahead != ahead:
                ahead = c
            elif abs((c - ahead + 180.0) % 360.0 - 180.0) > turn:
                ahead = c
                found |= TURN
        flags[i] |= found
    if n > 0:
        ends = (STOP_END if stopped else 0) | (SLOW_END if crawling else 0) | (SPEED_END if changing else 0)
        flags[n - 1] |= LAST | (ends << _SHIFT)


def critical(vessel: Array, time: Array, speed: Floats, course: Floats, *, gap: int, stop: float, stop_leave: float,
             slow: float, slow_leave: float, ratio: float, step: float, memory: float, turn: float,
             turn_speed: float) -> Flags:
    """What happens at each report of tracks sorted by vessel and time, as bits. One pass.

    A silence longer than `gap` ends everything that was going on, at the last report before it. The last report of each
    vessel has `LAST`, and `silenced` tells what ends there if the vessel stays silent.
    """
    flags = np.zeros(vessel.shape[0], np.uint16)
    _critical(vessel, time, speed, course, gap, stop, stop_leave, slow, slow_leave, ratio, step, memory, turn,
              turn_speed, flags)
    return flags


def silenced(flags: Flags) -> Flags:
    """What happens at last reports after which there is silence, as bits.

    >>> silenced(np.array([LAST | STOP_END << 7], np.uint16)).tolist() == [GAP_START | STOP_END]
    True
    """
    ends = np.uint16(STOP_END | SLOW_END | SPEED_END)
    return ((flags >> np.uint16(_SHIFT)) & ends) | np.uint16(GAP_START)


def warm() -> None:
    """Compile every loop, or load it from the cache."""
    ones, codes = np.ones(2, np.int64), np.zeros(2, np.int64)
    lon: Any = np.ones(2)
    faults = row_faults(ones, ones, lon, lon, lon, any_vessel=True, earliest=0, latest=9, fastest=9.0)
    order, starts = grouped(codes, 1, faults)
    settle(order, starts, ones, lon, lon, faults, disorder=1, least=0.5, fastest=1.0, slack=1.0)
    unknowns(lon, lon.copy(), lon.copy())
    fill(ones, ones, lon, lon, 1, lon.copy(), lon.copy())
    critical(ones, ones, lon, lon, gap=1, stop=1.0, stop_leave=1.0, slow=1.0, slow_leave=1.0, ratio=1.0, step=1.0,
             memory=1.0, turn=1.0, turn_speed=1.0)
