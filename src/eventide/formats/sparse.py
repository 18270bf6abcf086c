"""Arrow arrays and lists of Python values to columns with gaps. Knows types, not what a column means."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from eventide.formats.expected import ColumnType, TimeUnit
from eventide.formats.facts import Coded, Column, Value, coded, column_of
from eventide.formats.ticks import ticks_of

Mask = npt.NDArray[np.bool_]
Raw: TypeAlias = "pa.Array | list[object]"


class UnsupportedType(Exception):
    """A column has a type that arguments cannot have; the message names it."""


@dataclass(frozen=True, slots=True)
class Sparse:
    """A column and the rows where it has no value; the column holds some filler there."""

    column: Column
    missing: Mask

    def __len__(self) -> int:
        return int(self.missing.shape[0])


def flat(column: pa.ChunkedArray) -> pa.Array:
    """A column in pieces as one array."""
    if pa.types.is_dictionary(column.type):
        column = column.unify_dictionaries()
    if column.num_chunks == 0:
        return pa.nulls(0, column.type)
    return column.chunk(0) if column.num_chunks == 1 else pa.concat_arrays(column.chunks)


def sparse_of(raw: Raw, unit: TimeUnit | None = None) -> Sparse:
    """The column of an array: booleans become the atoms true and false, NaN counts as no value."""
    if isinstance(raw, list):
        return _of_values(raw)
    kind = raw.type
    missing = np.asarray(raw.is_null())
    if pa.types.is_dictionary(kind):
        values = sparse_of(raw.dictionary, unit)
        codes = raw.indices.fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
        if not len(values):
            return Sparse(np.zeros(len(raw), np.int64), missing)
        return Sparse(_looked_up(values.column, codes), missing | values.missing[codes])
    if pa.types.is_null(kind):
        return Sparse(np.zeros(len(raw), np.int64), missing)
    if pa.types.is_integer(kind) and kind != pa.uint64():
        return Sparse(raw.fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64), missing)
    if pa.types.is_floating(kind):
        numbers = raw.cast(pa.float64()).fill_null(0.0).to_numpy(zero_copy_only=False)
        return Sparse(numbers, missing | np.isnan(numbers))
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return _of_texts(raw.cast(pa.large_string()).dictionary_encode(), missing)
    if pa.types.is_boolean(kind) or pa.types.is_decimal(kind) or kind == pa.uint64():
        return _of_values(raw.to_pylist())
    if pa.types.is_temporal(kind) and unit is not None and not pa.types.is_time(kind):
        ticks = ticks_of(raw, unit)
        if not ticks.wrong:
            return Sparse(ticks.values, ticks.missing)
    hint = "; declare time_unit to read it as ticks" if pa.types.is_temporal(kind) else ""
    raise UnsupportedType(f"type {kind}, expected numbers or text{hint}")


def _of_texts(encoded: pa.DictionaryArray, missing: Mask) -> Sparse:
    if not len(encoded.dictionary):
        return Sparse(np.zeros(len(encoded), np.int64), missing)
    codes = encoded.indices.fill_null(0).to_numpy(zero_copy_only=False).astype(np.int32)
    return Sparse(Coded(codes, tuple(encoded.dictionary.to_pylist())), missing)


def _looked_up(values: Column, codes: npt.NDArray[np.integer]) -> Column:
    return coded(values.codes[codes], values.values) if isinstance(values, Coded) else values[codes]


def _of_values(raw: list[object]) -> Sparse:
    values: list[Value] = []
    missing = np.zeros(len(raw), np.bool_)
    filler: Value | None = None
    for row, value in enumerate(raw):
        if isinstance(value, bool):
            value = "true" if value else "false"
        elif isinstance(value, Decimal):
            value = int(value) if value == value.to_integral_value() else float(value)
        if value is None or value != value:
            missing[row] = True
            values.append(0)
        elif isinstance(value, (int, float, str)):
            values.append(value)
            filler = value if filler is None else filler
        else:
            raise UnsupportedType(f"a {type(value).__name__} in row {row + 1}, expected numbers or text")
    if filler is not None:  # a filler of the column's own type keeps the column narrow
        for row in np.flatnonzero(missing).tolist():
            values[row] = filler
    return Sparse(column_of(values), missing)


def retyped(sparse: Sparse, wanted: ColumnType) -> tuple[Sparse, Mask]:
    """The column with the wanted type, and the rows whose value has no such form."""
    convert = CONVERSIONS[wanted]
    column = sparse.column
    if not isinstance(column, Coded):
        if wanted == "float":
            return Sparse(column.astype(np.float64), sparse.missing), np.zeros(len(sparse), np.bool_)
        distinct, codes = np.unique(column, return_inverse=True)
        column = Coded(codes.astype(np.int32), tuple(distinct.tolist()))
    values = [convert(value) for value in column.values]
    filler = next((v for v in values if v is not None), 0)
    no_value = np.array([v is None for v in values], np.bool_)[column.codes]
    typed = column_of([filler if v is None else v for v in values])
    return Sparse(_looked_up(typed, column.codes), sparse.missing), no_value & ~sparse.missing


def _to_int(value: Value) -> Value | None:
    try:
        return int(value) if not isinstance(value, float) or value.is_integer() else None
    except ValueError:
        return None


def _to_float(value: Value) -> Value | None:
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if number == number else None


def _to_text(value: Value) -> Value | None:
    return value if isinstance(value, str) else repr(value)


CONVERSIONS: dict[ColumnType, Callable[[Value], Value | None]] = {"int": _to_int, "float": _to_float, "text": _to_text}
