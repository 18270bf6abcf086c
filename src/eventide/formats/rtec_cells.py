"""Cells of RTEC's CSV form to typed columns. Knows kinds and spans, not names and layouts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from eventide.formats.facts import Column, Ints, Value, coded
from eventide.formats.rtec_scan import (
    FLOAT,
    INT,
    LENGTH_BITS,
    LENGTH_MASK,
    LONG_FLOAT,
    LONG_INT,
    TEXT,
    Bytes,
    code_cells,
    fill_slots,
    rows_by_group,
)

Codes = npt.NDArray[np.int32]


@dataclass(slots=True)
class Cells:
    """One column: a kind and a value per row, and the kinds that occur, as bits."""

    kinds: Bytes
    values: Ints
    seen: int

    def taken(self, rows: npt.NDArray[np.bool_]) -> Cells:
        """The rows where the mask is set."""
        kinds = self.kinds[rows]
        return Cells(kinds, self.values[rows], int(np.bitwise_or.reduce(kinds)) if kinds.shape[0] else 0)


def joined(parts: list[Cells]) -> Cells:
    """The pieces of a column as one."""
    if len(parts) == 1:
        return parts[0]
    seen = int(np.bitwise_or.reduce([p.seen for p in parts]))
    return Cells(np.concatenate([p.kinds for p in parts]), np.concatenate([p.values for p in parts]), seen)


def _spans(data: Bytes, packed: Ints) -> list[bytes]:
    lengths = (packed & LENGTH_MASK).tolist()
    return [data[o : o + n].tobytes() for o, n in zip((packed >> LENGTH_BITS).tolist(), lengths, strict=True)]


def resolve_long(data: Bytes, cells: Cells) -> None:
    """Give numbers with many digits their value, in place; integers beyond int64 stay LONG_INT."""
    if cells.seen & LONG_FLOAT:
        rows = np.flatnonzero(cells.kinds == LONG_FLOAT)
        # Arrow rounds correctly and is many times faster than float() on each field
        numbers = pa.array(_spans(data, cells.values[rows]), pa.binary()).cast(pa.string()).cast(pa.float64())
        cells.values[rows] = numbers.to_numpy().view(np.int64)
        cells.kinds[rows] = FLOAT
    if cells.seen & LONG_INT:
        for row in np.flatnonzero(cells.kinds == LONG_INT).tolist():
            number = int(_spans(data, cells.values[row : row + 1])[0])
            if -(2**63) <= number < 2**63:
                cells.values[row] = number
                cells.kinds[row] = INT
    if cells.seen & (LONG_INT | LONG_FLOAT):
        cells.seen = int(np.bitwise_or.reduce(cells.kinds))


def cell_codes(data: Bytes, kinds: Bytes, values: Ints) -> tuple[Codes, Bytes, Ints]:
    """A code per cell, and kind and value of each distinct cell in order of appearance."""
    codes = np.empty(values.shape[0], np.int32)
    room = 1024
    slots = np.full(2 * room, -1, np.int32)
    hashes, entry_kinds = np.empty(room, np.uint64), np.empty(room, np.uint8)
    entry_values = np.empty(room, np.int64)
    done = count = 0
    while True:
        done, count = code_cells(
            data, kinds, values, done, slots, hashes, entry_kinds, entry_values, count, codes
        )
        if done == values.shape[0]:
            return codes, entry_kinds[:count], entry_values[:count]
        hashes = np.concatenate([hashes, np.empty(3 * room, np.uint64)])
        entry_kinds = np.concatenate([entry_kinds, np.empty(3 * room, np.uint8)])
        entry_values = np.concatenate([entry_values, np.empty(3 * room, np.int64)])
        room *= 4
        slots = np.full(2 * room, -1, np.int32)
        fill_slots(hashes, count, slots)


def cell_column(data: Bytes, cells: Cells) -> Column:
    """The column of the cells: integers, floats, or for anything else a dictionary with the exact values."""
    if cells.seen in (0, INT):
        return cells.values
    if cells.seen == FLOAT:
        return cells.values.view(np.float64)
    codes, kinds, values = cell_codes(data, cells.kinds, cells.values)
    return coded(codes, [python_value(data, k, v) for k, v in zip(kinds.tolist(), values, strict=True)])


def python_value(data: Bytes, kind: int, value: np.int64) -> Value:
    """The value of one cell."""
    if kind == INT:
        return int(value)
    if kind == FLOAT:
        return float(value.view(np.float64))
    text = _spans(data, np.array([value]))[0].decode()
    return text if kind == TEXT else int(text)


def group_rows(data: Bytes, names: Ints, name_kinds: Bytes, sizes: Ints) -> tuple[Ints, Ints, Bytes, Ints, Ints]:
    """Rows grouped by name cell and number of fields.

    Returns the rows ordered by group, the groups' offsets in it, and each group's name (kind and value) and size.
    """
    name_codes, kinds, values = cell_codes(data, name_kinds, names)
    pairs = (name_codes.astype(np.int64) << 32) | sizes
    groups, _, group_pairs = cell_codes(data, np.full(pairs.shape[0], INT, np.uint8), pairs)
    offsets = np.zeros(group_pairs.shape[0] + 1, np.int64)
    order = np.empty(pairs.shape[0], np.int64)
    rows_by_group(groups, offsets, order)
    owners = group_pairs >> 32
    return order, offsets, kinds[owners], values[owners], group_pairs & 0xFFFFFFFF
