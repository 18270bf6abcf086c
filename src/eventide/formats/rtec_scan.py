"""The byte loops behind RTEC's CSV form: fields to typed cells, cells to codes. Knows no names and no messages.

A cell is a kind (one of the bits below) and an int64: the integer itself, the bits of the float, or for text the packed
place `offset << 24 | length` in the buffer. Numbers follow `-?digits(.digits)?`; everything else is text.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba import config, types
from numba.extending import intrinsic

from eventide.formats.facts import Ints
from eventide.kernels.arrays import jit

Bytes = npt.NDArray[np.uint8]

INT, FLOAT, TEXT, EMPTY, LONG_INT, LONG_FLOAT, TOO_LONG = 1, 2, 4, 8, 16, 32, 64
SPANS = TEXT | LONG_INT | LONG_FLOAT
LENGTH_BITS = 24
LENGTH_MASK = (1 << LENGTH_BITS) - 1
PADDING = 16
POWERS = np.array([10.0**k for k in range(23)])  # exact: 5**22 < 2**53

_BAR, _NEWLINE, _RETURN, _MINUS, _DOT = 124, 10, 13, 45, 46


def _load_word(_context: Any, data: Any, index: Any) -> Any:
    """The eight bytes from `data[index]` on as one uint64; the buffer must be padded."""
    signature = types.uint64(data, index)

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        array = context.make_array(sig.args[0])(context, builder, args[0])
        place = builder.bitcast(builder.gep(array.data, [args[1]]), ir.PointerType(ir.IntType(64)))
        return builder.load(place, align=1)

    return signature, generate


def _word_from_bytes(data: Bytes, index: int) -> np.uint64:
    return np.uint64(data[int(index) : int(index) + 8].view(np.uint64)[0])


_word: Any = _word_from_bytes if getattr(config, "DISABLE_JIT", 0) else intrinsic(_load_word)


@jit
def count_marks(data: Bytes, low: int, high: int) -> tuple[int, int]:
    """Line ends and field separators of a piece of the buffer."""
    lines = 0
    bars = 0
    for i in range(low, high):
        lines += data[i] == _NEWLINE
        bars += data[i] == _BAR
    return lines, bars


@jit
def tokenize(
    data: Bytes, low: int, high: int, line: int, powers: npt.NDArray[np.float64], kinds: Bytes, values: Ints,
    floats: npt.NDArray[np.float64], row_cell: Ints, row_start: Ints, row_line: Ints, row_flags: Bytes,
) -> tuple[int, int]:
    """Cells and rows of the lines in `data[low:high]`, which ends with a line end. O(bytes), one pass.

    `floats` is the same memory as `values`. Blank lines are no rows. Returns the rows found and the next line number.
    """
    p = np.uintp(low)
    stop = np.uintp(high)
    one = np.uintp(1)
    cell = np.uintp(0)
    row = np.uintp(0)
    while p < stop:
        if data[p] == _NEWLINE or (data[p] == _RETURN and data[p + one] == _NEWLINE):
            p += one if data[p] == _NEWLINE else np.uintp(2)
            line += 1
            continue
        row_start[row] = np.int64(p)
        row_cell[row] = np.int64(cell)
        row_line[row] = line
        flags = np.uint8(0)
        while True:
            start = p
            c = data[p]
            minus = c == _MINUS
            if minus:
                p += one
                c = data[p]
            mantissa = np.uint64(0)
            first = p
            digit = np.uint8(c - np.uint8(48))
            while digit < 10:
                mantissa = mantissa * np.uint64(10) + np.uint64(digit)
                p += one
                c = data[p]
                digit = np.uint8(c - np.uint8(48))
            digits = p - first
            decimals = np.uintp(0)
            number = bool(digits > 0)
            pointed = number and bool(c == _DOT)
            if pointed:
                p += one
                first = p
                c = data[p]
                digit = np.uint8(c - np.uint8(48))
                while digit < 10:
                    mantissa = mantissa * np.uint64(10) + np.uint64(digit)
                    p += one
                    c = data[p]
                    digit = np.uint8(c - np.uint8(48))
                decimals = p - first
                digits += decimals
                number = bool(decimals > 0)
            if c != _BAR and c != _NEWLINE and not (c == _RETURN and data[p + one] == _NEWLINE):
                number = False
                while c != _BAR and c != _NEWLINE:
                    p += one
                    c = data[p]
            end = p
            if c == _RETURN:  # a number before \r\n
                p += one
                c = data[p]
            elif c == _NEWLINE and end > start and data[end - one] == _RETURN:
                end -= one
            length = end - start
            kind = np.uint8(TEXT)
            if number and digits < 19 and not pointed:
                kind = np.uint8(INT)
                values[cell] = -np.int64(mantissa) if minus else np.int64(mantissa)
            elif number and digits < 19 and decimals < 23 and mantissa <= np.uint64(9007199254740992):
                kind = np.uint8(FLOAT)
                size = np.float64(mantissa) / powers[decimals]
                floats[cell] = -size if minus else size
            else:
                if length == 0:
                    kind = np.uint8(EMPTY)
                elif length > LENGTH_MASK:
                    kind = np.uint8(TOO_LONG)
                    length = np.uintp(LENGTH_MASK)
                elif number and digits < 4000:  # Python reads no longer integers
                    kind = np.uint8(LONG_FLOAT if pointed else LONG_INT)
                values[cell] = np.int64(start << np.uintp(LENGTH_BITS) | length)
            kinds[cell] = kind
            flags |= kind
            cell += one
            p += one
            if c == _NEWLINE:
                break
        row_flags[row] = flags
        row += one
        line += 1
    row_cell[row] = np.int64(cell)
    return int(row), line


@jit
def _mixed(h: np.uint64) -> np.uint64:
    h ^= h >> np.uint64(32)
    h *= np.uint64(0xD6E8FEB86659FD93)
    return h ^ (h >> np.uint64(32))


@jit
def code_cells(
    data: Bytes, kinds: Bytes, values: Ints, begin: int, slots: npt.NDArray[np.int32], hashes: npt.NDArray[np.uint64],
    entry_kinds: Bytes, entry_values: Ints, count: int, codes: npt.NDArray[np.int32],
) -> tuple[int, int]:
    """Number the distinct cells in order of appearance, by open addressing. O(cells) expected.

    Stops when the entries are full. Returns the cells done and the entries used; the caller grows and resumes.
    """
    mask = np.uint64(slots.shape[0] - 1)
    seven = np.uint64(7)
    for i in range(begin, values.shape[0]):
        kind = kinds[i]
        value = values[i]
        offset = np.uint64(value) >> np.uint64(LENGTH_BITS)
        length = np.uint64(value) & np.uint64(LENGTH_MASK)
        tail = np.uint64((np.uint64(1) << (np.uint64(8) * (length & seven))) - np.uint64(1))
        if kind & SPANS:
            h = length
            whole = length & ~seven
            for j in range(np.uint64(0), whole, np.uint64(8)):
                h = _mixed(h ^ _word(data, offset + j))
            h = _mixed(h ^ (_word(data, offset + whole) & tail))
        else:
            h = _mixed(_mixed(np.uint64(value)) + np.uint64(kind))
        slot = h & mask
        while True:
            code = slots[slot]
            if code < 0:
                if count == hashes.shape[0]:
                    return i, count
                slots[slot] = count
                hashes[count] = h
                entry_kinds[count] = kind
                entry_values[count] = value
                code = np.int32(count)
                count += 1
                break
            if hashes[code] == h and entry_kinds[code] == kind:
                known = entry_values[code]
                if known == value:
                    break
                if kind & SPANS and (np.uint64(known) & np.uint64(LENGTH_MASK)) == length:
                    other = np.uint64(known) >> np.uint64(LENGTH_BITS)
                    whole = length & ~seven
                    same = (_word(data, offset + whole) ^ _word(data, other + whole)) & tail == np.uint64(0)
                    for j in range(np.uint64(0), whole, np.uint64(8)):
                        same &= _word(data, offset + j) == _word(data, other + j)
                    if same:
                        break
            slot = (slot + np.uint64(1)) & mask
        codes[i] = code
    return values.shape[0], count


@jit
def fill_slots(hashes: npt.NDArray[np.uint64], count: int, slots: npt.NDArray[np.int32]) -> None:
    """Place the known entries in a larger, empty table."""
    mask = np.uint64(slots.shape[0] - 1)
    for code in range(count):
        slot = hashes[code] & mask
        while slots[slot] >= 0:
            slot = (slot + np.uint64(1)) & mask
        slots[slot] = code


@jit
def copy_spans(data: Bytes, spans: Ints, offsets: Ints, out: Bytes) -> None:
    """The texts of the spans one after the other; text i goes to `out[offsets[i]:offsets[i+1]]`."""
    for i in range(spans.shape[0]):
        begin = (spans[i] >> LENGTH_BITS) - offsets[i]
        for at in range(offsets[i], offsets[i + 1]):
            out[at] = data[begin + at]


@jit
def rows_by_group(groups: npt.NDArray[np.int32], offsets: Ints, order: Ints) -> None:
    """Stable counting sort: `order[offsets[g]:offsets[g+1]]` are the rows of group g. `offsets` is zero on entry."""
    for g in groups:
        offsets[g + 1] += 1
    for g in range(1, offsets.shape[0]):
        offsets[g] += offsets[g - 1]
    for i in range(groups.shape[0]):
        g = groups[i]
        order[offsets[g]] = i
        offsets[g] += 1
    for g in range(offsets.shape[0] - 1, 0, -1):
        offsets[g] = offsets[g - 1]
    offsets[0] = 0


@jit
def gather(first_cells: Ints, j: int, kinds: Bytes, values: Ints, out_kinds: Bytes, out_values: Ints) -> int:
    """Column j of the rows that begin at `first_cells`; returns the kinds that occur, as bits."""
    seen = np.uint8(0)
    for i in range(first_cells.shape[0]):
        cell = first_cells[i] + j
        out_kinds[i] = kinds[cell]
        out_values[i] = values[cell]
        seen |= kinds[cell]
    return int(seen)
