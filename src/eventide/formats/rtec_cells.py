"""Cells of RTEC's CSV form to typed columns. Knows kinds and spans, not names and layouts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from eventide.formats.facts import Coded, Column, Ints, Value, coded
from eventide.formats.rtec_scan import (
    FLOAT,
    INT,
    LENGTH_MASK,
    LONG_FLOAT,
    LONG_INT,
    TEXT,
    Bytes,
    code_cells,
    copy_spans,
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


def _texts(data: Bytes, spans: Ints) -> pa.LargeStringArray:
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(spans & LENGTH_MASK)])
    texts = np.empty(int(offsets[-1]), np.uint8)
    copy_spans(data, spans, offsets, texts)
    return pa.LargeStringArray.from_buffers(spans.shape[0], pa.py_buffer(offsets), pa.py_buffer(texts))


def resolve_long(data: Bytes, cells: Cells) -> None:
    """Give numbers with many digits their value, in place; integers beyond int64 stay LONG_INT."""
    if cells.seen & LONG_FLOAT:
        rows = np.flatnonzero(cells.kinds == LONG_FLOAT)
        # Arrow rounds correctly and is many times faster than float() on each field
        cells.values[rows] = _texts(data, cells.values[rows]).cast(pa.float64()).to_numpy().view(np.int64)
        cells.kinds[rows] = FLOAT
    if cells.seen & LONG_INT:
        rows = np.flatnonzero(cells.kinds == LONG_INT)
        for row, text in zip(rows.tolist(), _texts(data, cells.values[rows]).to_pylist(), strict=True):
            if -(2**63) <= int(text) < 2**63:
                cells.values[row] = int(text)
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
    distinct = python_values(data, kinds, values)
    # integers beyond int64 were told apart by their spelling
    return coded(codes, distinct) if cells.seen & LONG_INT else Coded(codes, tuple(distinct))


def python_values(data: Bytes, kinds: Bytes, values: Ints) -> list[Value]:
    """The values of cells as Python has them."""
    found = np.empty(kinds.shape[0], np.object_)
    found[kinds == INT] = values[kinds == INT].tolist()
    found[kinds == FLOAT] = values[kinds == FLOAT].view(np.float64).tolist()
    found[kinds == TEXT] = _texts(data, values[kinds == TEXT]).to_pylist()
    found[kinds == LONG_INT] = [int(text) for text in _texts(data, values[kinds == LONG_INT]).to_pylist()]
    listed: list[Value] = found.tolist()
    return listed


def group_rows(data: Bytes, names: Ints, name_kinds: Bytes, sizes: Ints) -> tuple[Ints, Ints, list[str], list[int]]:
    """Rows grouped by name and number of fields; a name that is no text counts as empty.

    Returns the rows ordered by group, the groups' offsets in it, and each group's name and number of fields.
    """
    name_codes, kinds, values = cell_codes(data, name_kinds, names)
    texts_only = np.where(kinds == TEXT, kinds, np.uint8(0))
    spelled = [name if isinstance(name, str) else "" for name in python_values(data, texts_only, values)]
    pairs = (name_codes.astype(np.int64) << 32) | sizes
    groups, _, group_pairs = cell_codes(data, np.full(pairs.shape[0], INT, np.uint8), pairs)
    offsets = np.zeros(group_pairs.shape[0] + 1, np.int64)
    order = np.empty(pairs.shape[0], np.int64)
    rows_by_group(groups, offsets, order)
    group_names = [spelled[owner] for owner in (group_pairs >> 32).tolist()]
    return order, offsets, group_names, (group_pairs & 0xFFFFFFFF).tolist()
