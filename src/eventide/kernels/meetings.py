"""When two of many vessels are near each other: what each covers in a slice of time, cells, pairs, whole periods.

Columns of reports; those of a vessel follow each other, sorted by time. Between two reports a vessel moves evenly from
one place to the other; every whole second of a track belongs to exactly one such piece. Knows no tables and no files.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from eventide.kernels.arrays import Array, jit
from eventide.kernels.sorting import sort_with_order
from eventide.kernels.trajectories import RADIUS

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.uint8]
METRES_PER_DEGREE = RADIUS * math.pi / 180.0

# What a report begins, one bit each: a piece to the next report over which the vessel is known, or only guessed; the
# known piece ends with the next report's own second; a single second that no known piece holds.
KNOWN, GUESSED, CLOSED, ALONE = 1, 2, 4, 8

SLACK = 1.0 + 1e-9  # boxes are a little larger than rounding can make them wrong
_LEAST_COSINE = 0.01  # nearer to the poles, cells get no narrower


# -- pieces of tracks --------------------------------------------------------------------------------------------------


@jit
def _pieces(vessel, time, gap, bridge, codes):  # type: ignore[no-untyped-def]
    n = vessel.shape[0]
    reached = False  # whether a known piece leads to report i
    for i in range(n):
        code = 0
        known = False
        if i + 1 < n and vessel[i + 1] == vessel[i]:
            silence = time[i + 1] - time[i]
            known = silence <= gap
            if known:
                code = KNOWN
                onward = i + 2 < n and vessel[i + 2] == vessel[i] and time[i + 2] - time[i + 1] <= gap
                if not onward:
                    code |= CLOSED
            elif silence <= bridge:
                code = GUESSED
        if not known and not reached:
            code |= ALONE
        codes[i] = code
        reached = known


def pieces(vessel: Array, time: Array, gap: int, bridge: int) -> Codes:
    """What each report begins: a piece up to the next one, known if that comes within `gap`, guessed within `bridge`.

    >>> pieces(np.array([1, 1, 1, 2]), np.array([0, 10, 500, 0]), 60, 600).tolist()
    [5, 2, 8, 8]
    """
    codes = np.empty(vessel.shape[0], np.uint8)
    _pieces(vessel, time, gap, bridge, codes)
    return codes


@jit
def _segments(vessel, time, codes, at, first, last, sure):  # type: ignore[no-untyped-def]
    used = 0
    for i in range(vessel.shape[0]):
        code = codes[i]
        if code & ALONE:
            at[used] = i
            first[used] = time[i]
            last[used] = time[i]
            sure[used] = True
            used += 1
        if code & (KNOWN | GUESSED):
            known = (code & KNOWN) != 0
            at[used] = i
            first[used] = time[i] if known else time[i] + 1
            last[used] = time[i + 1] if code & CLOSED else time[i + 1] - 1
            sure[used] = known
            used += first[used] <= last[used]
    return used


@jit
def turned(degrees: float) -> float:
    """A difference of longitudes the short way round."""
    if degrees > 180.0:
        return degrees - 360.0
    if degrees < -180.0:
        return degrees + 360.0
    return degrees


@jit
def _place(time, lon, lat, codes, i, t):  # type: ignore[no-untyped-def]
    """Where the vessel of report i is at a second of the piece that begins with it."""
    if t == time[i] or not codes[i] & (KNOWN | GUESSED):
        return lon[i], lat[i]
    share = (t - time[i]) / (time[i + 1] - time[i])
    return lon[i] + turned(lon[i + 1] - lon[i]) * share, lat[i] + (lat[i + 1] - lat[i]) * share


# -- boxes: what a vessel covers in a slice of time -------------------------------------------------------------------


@jit
def _count_boxes(vessel, at, first, last, origin, length):  # type: ignore[no-untyped-def]
    count = 0
    owner = np.int64(-1)
    current = np.int64(-1)
    for k in range(at.shape[0]):
        low = (first[k] - origin) // length
        high = (last[k] - origin) // length
        if k > 0 and vessel[at[k]] == owner and low == current:
            low += 1
        count += high - low + 1
        owner = vessel[at[k]]
        current = high
    return count


@jit
def _boxes(vessel, time, lon, lat, codes, at, first, last, origin, length, when, begin, end, box):  # type: ignore[no-untyped-def]
    used = -1
    owner = np.int64(-1)
    current = np.int64(-1)
    for k in range(at.shape[0]):
        i = at[k]
        low = (first[k] - origin) // length
        high = (last[k] - origin) // length
        for s in range(low, high + 1):
            a = max(first[k], origin + s * length)
            b = min(last[k], origin + (s + 1) * length - 1)
            x, y = _place(time, lon, lat, codes, i, a)
            if used < 0 or s != current or vessel[i] != owner or k == 0:
                used += 1
                owner = vessel[i]
                current = s
                when[used] = s
                begin[used] = k
                box[used, 0] = x
                box[used, 1] = y
                box[used, 2] = x
                box[used, 3] = y
            end[used] = k
            for step in range(2):
                if step == 1:
                    if a == b:
                        break
                    x, y = _place(time, lon, lat, codes, i, b)
                x = box[used, 0] + turned(x - box[used, 0])
                box[used, 0] = min(box[used, 0], x)
                box[used, 1] = min(box[used, 1], y)
                box[used, 2] = max(box[used, 2], x)
                box[used, 3] = max(box[used, 3], y)


@jit
def _widen(box: Any, metres: float) -> None:
    """Boxes with room on all sides."""
    up = metres / METRES_PER_DEGREE * SLACK
    for k in range(box.shape[0]):
        pole = min(90.0, max(abs(box[k, 1]), abs(box[k, 3])))
        across = up / max(math.cos(pole * math.pi / 180.0), 1e-6)
        box[k, 0] -= across
        box[k, 1] -= up
        box[k, 2] += across
        box[k, 3] += up


# -- cells: which boxes may meet ---------------------------------------------------------------------------------------


@jit
def _row_of(lat: float, per_degree: float, rows: int) -> int:
    return min(max(np.int64(math.floor((lat + 90.0) * per_degree)), 0), rows - 1)


@jit
def _column_of(lon: float, columns: int) -> int:
    """The column, which is below 0 or beyond the last where the longitude is."""
    return np.int64(math.floor((lon + 180.0) * columns / 360.0))


@jit
def _cells(box, when, per_degree, columns, row_bits, column_bits, keys, owners):  # type: ignore[no-untyped-def]
    used = 0
    room = keys.shape[0]
    rows = columns.shape[0]
    for k in range(box.shape[0]):
        for row in range(_row_of(box[k, 1], per_degree, rows), _row_of(box[k, 3], per_degree, rows) + 1):
            number = columns[row]
            low = _column_of(box[k, 0], number)
            high = min(_column_of(box[k, 2], number), low + number - 1)
            for column in range(low, high + 1):
                if used < room:
                    keys[used] = (when[k] << row_bits | row) << column_bits | column % number
                    owners[used] = k
                used += 1
    return used


@jit
def _meets_here(box, i, j, row, column, per_degree, columns):  # type: ignore[no-untyped-def]
    """Whether two boxes overlap and this cell is the south-western one that both cover, so that a pair has one cell."""
    if box[i, 1] > box[j, 3] or box[j, 1] > box[i, 3]:
        return False
    turn = 0
    apart = box[i, 0] - box[j, 0]
    if apart > 180.0:
        turn = 1
    elif apart < -180.0:
        turn = -1
    west = box[j, 0] + 360.0 * turn
    if box[i, 0] > box[j, 2] + 360.0 * turn or west > box[i, 2]:
        return False
    rows = columns.shape[0]
    if row != max(_row_of(box[i, 1], per_degree, rows), _row_of(box[j, 1], per_degree, rows)):
        return False
    number = columns[row]
    mine = _column_of(box[i, 0], number)
    other = _column_of(box[j, 0], number) + turn * number
    return max(mine, other) % number == column


# -- pairs -------------------------------------------------------------------------------------------------------------


@jit
def _near(time, lon, lat, codes, i, j, base, low, high, metres):  # type: ignore[no-untyped-def]
    """The first and last second of low..high at which the vessels on pieces i and j are near; first > last: none.

    The distance is that on a plane that touches the globe between the pieces; its square is a quadratic in the time
    since `base`. Its roots give the seconds up to rounding, which is settled by asking at the seconds themselves.
    """
    to_i = i + 1 if codes[i] & (KNOWN | GUESSED) else i
    to_j = j + 1 if codes[j] & (KNOWN | GUESSED) else j
    up = METRES_PER_DEGREE
    across = up * math.cos((lat[i] + lat[to_i] + lat[j] + lat[to_j]) * (math.pi / 720.0))
    lon_i, lat_i = _place(time, lon, lat, codes, i, base)
    lon_j, lat_j = _place(time, lon, lat, codes, j, base)
    speed_i = 1.0 / (time[to_i] - time[i]) if to_i > i and time[to_i] > time[i] else 0.0
    speed_j = 1.0 / (time[to_j] - time[j]) if to_j > j and time[to_j] > time[j] else 0.0
    x = turned(lon_j - lon_i) * across
    y = (lat_j - lat_i) * up
    vx = (turned(lon[to_j] - lon[j]) * speed_j - turned(lon[to_i] - lon[i]) * speed_i) * across
    vy = ((lat[to_j] - lat[j]) * speed_j - (lat[to_i] - lat[i]) * speed_i) * up
    limit = metres * metres
    a = vx * vx + vy * vy
    if a < 1e-18:  # neither comes nor goes by a millimetre in a month
        return (low, high) if x * x + y * y <= limit else (low, low - 1)
    b = x * vx + y * vy
    root = math.sqrt(max(b * b - a * (x * x + y * y - limit), 0.0))
    bottom = float(low - base)
    top = float(high - base)
    begin = math.ceil(min(max((-b - root) / a, bottom), top + 1.0))
    end = math.floor(max(min((-b + root) / a, top), bottom - 1.0))
    while begin > bottom and (x + vx * (begin - 1)) ** 2 + (y + vy * (begin - 1)) ** 2 <= limit:
        begin -= 1
    while begin <= min(end, top) and (x + vx * begin) ** 2 + (y + vy * begin) ** 2 > limit:
        begin += 1
    end = max(end, begin - 1)
    while end < top and (x + vx * (end + 1)) ** 2 + (y + vy * (end + 1)) ** 2 <= limit:
        end += 1
    while end >= begin and (x + vx * end) ** 2 + (y + vy * end) ** 2 > limit:
        end -= 1
    return base + np.int64(begin), base + np.int64(end)


@jit
def _meetings(  # type: ignore[no-untyped-def]
    vessel, time, lon, lat, codes, at, first, last, sure, metres, origin, length, begin, end, box,
    keys, owners, per_degree, columns, row_bits, column_bits, out, out_sure,
):  # fmt: skip
    used = 0
    room = out.shape[0]
    low = 0
    n = keys.shape[0]
    while low < n:
        key = keys[low]
        high = low + 1
        while high < n and keys[high] == key:
            high += 1
        column = key & ((1 << column_bits) - 1)
        row = (key >> column_bits) & ((1 << row_bits) - 1)
        bottom = origin + (key >> (row_bits + column_bits)) * length
        top = bottom + length - 1
        for g in range(low, high):
            i = owners[g]
            for h in range(g + 1, high):
                j = owners[h]
                one = vessel[at[begin[i]]]
                two = vessel[at[begin[j]]]
                if one == two or not _meets_here(box, i, j, row, column, per_degree, columns):
                    continue
                p, stop_p, q, stop_q = begin[i], end[i], begin[j], end[j]
                if two < one:
                    one, two = two, one
                    p, stop_p, q, stop_q = q, stop_q, p, stop_p
                new = True
                while p <= stop_p and q <= stop_q:
                    base = max(first[p], first[q])
                    a = max(base, bottom)
                    b = min(min(last[p], last[q]), top)
                    if a <= b:
                        a, b = _near(time, lon, lat, codes, at[p], at[q], base, a, b, metres)
                    if a <= b:
                        both = sure[p] and sure[q]
                        if not new and used <= room and out[used - 1, 3] == a and out_sure[used - 1] == both:
                            out[used - 1, 3] = b + 1
                        else:
                            if used < room:
                                out[used, 0] = one
                                out[used, 1] = two
                                out[used, 2] = a
                                out[used, 3] = b + 1
                                out_sure[used] = both
                            used += 1
                            new = False
                    if last[p] <= last[q]:
                        p += 1
                        if last[p - 1] == last[q]:
                            q += 1
                    else:
                        q += 1
        low = high
    return used


@dataclass(frozen=True, slots=True)
class Meetings:
    """Periods `[start, end)` in which two vessels are near, `one` the smaller number; `sure` where both are known."""

    one: Array
    two: Array
    start: Array
    end: Array
    sure: npt.NDArray[np.bool_]

    def __len__(self) -> int:
        return int(self.one.shape[0])


def meetings(vessel: Array, time: Array, lon: Floats, lat: Floats, codes: Codes, metres: float,
             length: int | None = None) -> Meetings:
    """When two vessels are within so many metres, in no order; a long meeting may come in several parts that touch.

    `codes` are those of `pieces`; the reports of a vessel follow each other. Slices of `length` seconds decide how much
    work it is, not what is found. What a vessel covers in a slice, widened by half the distance, is put into all cells
    that it touches; only boxes in one cell are compared. O(n log n + pairs of boxes that overlap).
    """
    at, first, last, sure = _segments_of(vessel, time, codes)
    if at.shape[0] == 0:
        return _no_meetings()
    origin = int(first.min())
    length = length or slice_length(first, last)
    number = _count_boxes(vessel, at, first, last, origin, length)
    when, begin, end = (np.empty(number, np.int64) for _ in range(3))
    box = np.empty((number, 4))
    _boxes(vessel, time, lon, lat, codes, at, first, last, origin, length, when, begin, end, box)
    _widen(box, metres / 2)
    per_degree, columns = _grid(max(2 * metres, 100.0), int(when.max()))
    row_bits, column_bits = int(columns.shape[0]).bit_length(), int(columns.max()).bit_length()
    keys, owners = _cells_of(box, when, per_degree, columns, row_bits, column_bits)
    keys, order = sort_with_order(keys)
    owners = owners[order]
    room = max(1024, number)
    while True:
        out, out_sure = np.empty((room, 4), np.int64), np.empty(room, np.bool_)
        used = _meetings(vessel, time, lon, lat, codes, at, first, last, sure, float(metres), origin, length, begin,
                         end, box, keys, owners, per_degree, columns, row_bits, column_bits, out, out_sure)
        if used <= room:
            one, two, start, stop = (np.ascontiguousarray(out[:used, k]) for k in range(4))
            return Meetings(one, two, start, stop, out_sure[:used])
        room = used


def slice_length(first: Array, last: Array) -> int:
    """Seconds of a slice in which a vessel has a few pieces on average."""
    return int(np.clip(4 * (last - first + 1).mean(), 60, 900))


def _segments_of(vessel: Array, time: Array, codes: Codes) -> tuple[Array, Array, Array, npt.NDArray[np.bool_]]:
    room = 2 * vessel.shape[0] + 1
    at, first, last = (np.empty(room, np.int64) for _ in range(3))
    sure = np.empty(room, np.bool_)
    used = _segments(vessel, time, codes, at, first, last, sure)
    return at[:used], first[:used], last[:used], sure[:used]


def _grid(metres: float, slices: int) -> tuple[float, Array]:
    """Rows per degree and the columns of each row, in cells of so many metres, or larger if a key would not fit."""
    while True:
        per_degree = METRES_PER_DEGREE / metres
        rows = math.ceil(180.0 * per_degree)
        middle = (np.arange(rows) + 0.5) / per_degree - 90.0
        cosine = np.maximum(np.cos(np.radians(np.minimum(np.abs(middle), 90.0))), _LEAST_COSINE)
        columns = np.maximum(360.0 * per_degree * cosine, 1.0).astype(np.int64)
        if slices.bit_length() + rows.bit_length() + int(columns.max()).bit_length() <= 63:
            return per_degree, columns
        metres *= 2


def _cells_of(box: Any, when: Array, per_degree: float, columns: Array, row_bits: int, column_bits: int,
              ) -> tuple[Array, Array]:
    room = 4 * box.shape[0]
    while True:
        keys, owners = np.empty(room, np.int64), np.empty(room, np.int64)
        used = _cells(box, when, per_degree, columns, row_bits, column_bits, keys, owners)
        if used <= room:
            return keys[:used], owners[:used]
        room = used


def _no_meetings() -> Meetings:
    nothing = np.zeros(0, np.int64)
    return Meetings(nothing, nothing, nothing, nothing, np.zeros(0, np.bool_))


# -- whole periods -----------------------------------------------------------------------------------------------------


@jit
def _whole(one, two, start, end, sure, order, out):  # type: ignore[no-untyped-def]
    used = 0
    begun = False  # whether the run of touching parts has a sure one
    open_ = False
    last = np.int64(0)
    for n in range(order.shape[0]):
        k = order[n]
        before = order[n - 1]
        if not open_ or one[k] != one[before] or two[k] != two[before] or start[k] > last:
            used += open_ and begun
            open_ = True
            begun = False
            last = end[k]
        last = max(last, end[k])
        if sure[k]:
            if not begun:
                begun = True
                out[used, 0] = one[k]
                out[used, 1] = two[k]
                out[used, 2] = start[k]
                out[used, 3] = end[k]
            out[used, 3] = max(out[used, 3], end[k])
    return used + (open_ and begun)


def whole_meetings(parts: Meetings) -> Meetings:
    """The maximal periods, by vessels and time: parts that overlap or touch are one. O(n log n).

    A guess never begins or ends a period: of parts that touch, those count that lie between sure ones.

    >>> sure = np.array([True, False, True, False])
    >>> parts = Meetings(*np.array([[1] * 4, [2] * 4, [0, 5, 9, 12], [5, 9, 12, 20]]), sure)
    >>> found = whole_meetings(parts)
    >>> found.start.tolist(), found.end.tolist()
    ([0], [12])
    """
    order = np.lexsort((parts.start, parts.two, parts.one))
    out = np.empty((len(parts), 4), np.int64)
    used = _whole(parts.one, parts.two, parts.start, parts.end, parts.sure, order, out)
    one, two, start, end = (np.ascontiguousarray(out[:used, k]) for k in range(4))
    return Meetings(one, two, start, end, np.ones(used, np.bool_))
