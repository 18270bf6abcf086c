"""The byte loop behind `.facts`: plain lines to cells and bounds. Lines that are not plain are left to `fact_lines`.

A plain line is `Name@TIME` or `Name(arg,…)@TIME` with words and short numbers, where TIME is a number or an interval.
Arguments become cells as in `formats.rtec_scan`; a bound becomes a numerator and a denominator in lowest terms.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from eventide.formats.facts import Ints
from eventide.formats.rtec_scan import FLOAT, INT, LENGTH_BITS, LENGTH_MASK, TEXT, Bytes
from eventide.kernels.arrays import jit

LEFT_OPEN, RIGHT_OPEN, NO_LEFT, NO_RIGHT, PLAIN = 1, 2, 4, 8, 16

_TAB, _NEWLINE, _RETURN, _SPACE, _QUOTE, _COMMENT, _TICK = 9, 10, 13, 32, 34, 37, 39
_OPEN, _CLOSE, _PLUS, _COMMA, _MINUS, _DOT, _SLASH, _AT, _LEFT, _RIGHT = 40, 41, 43, 44, 45, 46, 47, 64, 91, 93
_EXACT = 9007199254740992  # up to 2**53 a float holds every integer


@jit
def _after_blanks(data: Bytes, p: np.uintp) -> np.uintp:
    while data[p] == _SPACE or data[p] == _TAB or data[p] == _RETURN:
        p += np.uintp(1)
    return p


@jit
def _digits(data: Bytes, p: np.uintp, number: np.uint64) -> tuple[np.uintp, np.uint64]:
    digit = np.uint8(data[p] - np.uint8(48))
    while digit < 10:
        number = number * np.uint64(10) + np.uint64(digit)
        p += np.uintp(1)
        digit = np.uint8(data[p] - np.uint8(48))
    return p, number


@jit
def _lowest(top: np.uint64, bottom: np.uint64) -> tuple[int, int]:
    a, b = top, bottom
    while b:
        a, b = b, a % b
    return np.int64(top // a), np.int64(bottom // a)  # type: ignore[return-value]


@jit
def _bound(data: Bytes, p: np.uintp) -> tuple[np.uintp, int, int, int]:
    """Where a bound ends, its numerator and denominator, and 1 if it is read, -1 or 2 at an infinity, 0 otherwise."""
    one = np.uintp(1)
    start = p
    minus = data[p] == _MINUS
    if minus or data[p] == _PLUS:
        p += one
    if data[p] == 105 and data[p + one] == 110 and data[p + np.uintp(2)] == 102:  # inf
        return p + np.uintp(3), 0, 1, -1 if minus else 2
    first = p
    p, number = _digits(data, p, np.uint64(0))
    size = p - first
    bottom = np.uint64(1)
    if size == 0:
        return start, 0, 1, 0
    if data[p] == _DOT and np.uint8(data[p + one] - np.uint8(48)) < 10:
        begin = p + one
        p, number = _digits(data, begin, number)
        size += p - begin
        if size < 19:
            for _ in range(p - begin):
                bottom *= np.uint64(10)
    elif data[p] == _SLASH:
        begin = p + one
        p, bottom = _digits(data, begin, np.uint64(0))
        size = max(size, p - begin)
    if size > 18 or bottom == 0:
        return start, 0, 1, 0
    top, under = _lowest(number, bottom)
    return p, -top if minus else top, under, 1


@jit
def _in_order(left: int, under: int, right: int, below: int, closed: bool) -> bool:
    """Whether some time lies between two bounds; False also where that is not seen without wide products."""
    if under != below:
        if max(abs(left), abs(right), under, below) > 2147483647:
            return False
        left, right = left * below, right * under
    return left < right or (left == right and closed)


@jit
def _cell(
    data: Bytes, start: np.uintp, stop: np.uintp, cell: np.uintp, powers: npt.NDArray[np.float64], kinds: Bytes,
    values: Ints, floats: npt.NDArray[np.float64],
) -> bool:  # fmt: skip
    """The word or number `data[start:stop]` as a cell; False for a number with many digits."""
    one = np.uintp(1)
    minus = data[start] == _MINUS
    first = start + one if minus else start
    p, number = _digits(data, first, np.uint64(0))
    digits, decimals = p - first, np.uintp(0)
    if digits > 0 and data[p] == _DOT and p + one < stop:
        begin = p + one
        p, number = _digits(data, begin, number)
        decimals = p - begin
    if p != stop or digits == 0:
        kinds[cell] = TEXT
        values[cell] = np.int64(start << np.uintp(LENGTH_BITS) | (stop - start))
        return bool(stop - start < LENGTH_MASK)
    if digits + decimals > 18 or (decimals > 0 and number > np.uint64(_EXACT)):
        return False
    if decimals == 0:
        kinds[cell] = INT
        values[cell] = -np.int64(number) if minus else np.int64(number)
    else:
        kinds[cell] = FLOAT
        size = np.float64(number) / powers[decimals]
        floats[cell] = -size if minus else size
    return True


@jit
def scan(
    data: Bytes, low: int, high: int, powers: npt.NDArray[np.float64], kinds: Bytes, values: Ints,
    floats: npt.NDArray[np.float64], row_line: Ints, row_start: Ints, row_name: Ints, row_cell: Ints, bounds: Ints,
    flags: Bytes,
) -> int:  # fmt: skip
    """The rows of the lines in `data[low:high]`, which ends with a line end; comments are no rows. O(bytes).

    `bounds` has four rows: numerators and denominators of the left and of the right bounds. Without `PLAIN`
    in its flags a row has a line and a start only. Returns the number of rows.
    """
    p = np.uintp(low)
    stop = np.uintp(high)
    one = np.uintp(1)
    cell = np.uintp(0)
    row = 0
    line = 0
    while p < stop:
        line += 1
        begin = p
        p = _after_blanks(data, p)
        if data[p] != _NEWLINE and data[p] != _COMMENT:
            row_line[row] = line
            row_start[row] = np.int64(begin)
            row_cell[row] = np.int64(cell)
            flag = 0
            start = p
            letter = np.uint8((data[p] | np.uint8(32)) - np.uint8(97))
            while letter < 26 or data[p] == 95 or np.uint8(data[p] - np.uint8(48)) < 10:
                p += one
                letter = np.uint8((data[p] | np.uint8(32)) - np.uint8(97))
            row_name[row] = np.int64(start << np.uintp(LENGTH_BITS) | (p - start))
            size = p - start
            plain = bool(0 < size < LENGTH_MASK) and bool(np.uint8(data[start] - np.uint8(48)) >= 10)
            p = _after_blanks(data, p)
            if plain and data[p] == _OPEN:
                while plain:
                    p = _after_blanks(data, p + one)
                    start = p
                    c = data[p]
                    while (c != _COMMA and c != _CLOSE and c != _NEWLINE and c != _OPEN and c != _QUOTE and c != _TICK
                           and c != _AT and c != _COMMENT and c != _LEFT and c != _RIGHT):
                        p += one
                        c = data[p]
                    end = p
                    while end > start and (data[end - one] == _SPACE or data[end - one] == _TAB):
                        end -= one
                    plain = bool(c == _COMMA or c == _CLOSE) and bool(end > start) and _cell(  # noqa: SIM109
                        data, start, end, cell, powers, kinds, values, floats)
                    cell += np.uintp(plain)
                    if c != _COMMA:
                        break
                p = _after_blanks(data, p + one) if plain else p
            plain = plain and bool(data[p] == _AT)
            if plain:
                p = _after_blanks(data, p + one)
                c = data[p]
                whole = bool(c == _LEFT or c == _OPEN)  # noqa: SIM109 - compiled
                if whole:
                    flag |= LEFT_OPEN if c == _OPEN else 0
                    p = _after_blanks(data, p + one)
                p, top, bottom, read = _bound(data, p)
                bounds[0, row] = top
                bounds[1, row] = bottom
                plain = read == 1 or (read == -1 and whole)
                flag |= NO_LEFT if read == -1 else 0
                p = _after_blanks(data, p)
                if plain and whole and data[p] == _COMMA:
                    p, top, bottom, read = _bound(data, _after_blanks(data, p + one))
                    plain = read == 1 or read == 2
                    flag |= NO_RIGHT if read == 2 else 0
                    p = _after_blanks(data, p)
                else:
                    plain = plain and read == 1
                bounds[2, row] = top
                bounds[3, row] = bottom
                if plain and whole:
                    plain = bool(data[p] == _RIGHT or data[p] == _CLOSE)
                    flag |= RIGHT_OPEN if data[p] == _CLOSE else 0
                    p = _after_blanks(data, p + one)
                if plain and data[p] == _DOT:
                    p = _after_blanks(data, p + one)
                endless = flag & (NO_LEFT | NO_RIGHT) != 0
                closed = flag & (LEFT_OPEN | RIGHT_OPEN) == 0
                plain = plain and bool(data[p] == _NEWLINE) and (endless or _in_order(
                    bounds[0, row], bounds[1, row], top, bottom, closed))
            if plain:
                flag |= PLAIN
            else:
                cell = np.uintp(row_cell[row])
            flags[row] = flag
            row += 1
        while data[p] != _NEWLINE:
            p += one
        p += one
    row_cell[row] = np.int64(cell)
    return row
