"""The row order of results: times as numbers, an open end last, the rest as text. Writes nothing."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from eventide.formats.facts import Ints
from eventide.formats.sparse import flat

TIMES = ("query_time", "start", "end")
TEXTS = ("change", "fluent", "args", "value")
_ROOM = 2**62


def text_column(column: pa.ChunkedArray) -> pa.DictionaryArray:
    """A column as texts with a dictionary of distinct texts; floats in their shortest exact form."""
    array = flat(column)
    if pa.types.is_string(array.type) or pa.types.is_large_string(array.type):
        return array.dictionary_encode()
    encoded = array if pa.types.is_dictionary(array.type) else array.dictionary_encode()
    texts = encoded.dictionary
    if not (pa.types.is_string(texts.type) or pa.types.is_large_string(texts.type)):
        texts = pa.array([_text(value) for value in texts.to_pylist()], pa.string())
        encoded = pa.DictionaryArray.from_arrays(encoded.indices, texts)
    if pc.count_distinct(texts, "all").as_py() < len(texts):
        return encoded.dictionary_decode().dictionary_encode()
    return encoded


def _text(value: object) -> str | None:
    if value is None:
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value) if isinstance(value, float) else str(value)


def row_order(columns: dict[str, pa.Array]) -> Ints | None:
    """The rows in order, by all columns from left to right; None if they are in order already.

    Columns become ranks, and ranks are packed into as few 64-bit keys as they fit: one sort instead of seven.
    """
    keys: list[Ints] = []
    room = 0
    for name, column in columns.items():
        ranks, count = _time_ranks(column) if name in TIMES else _ranks(column)
        if room and room * count < _ROOM:
            keys[-1] = keys[-1] * count + ranks
            room *= count
        else:
            keys.append(ranks)
            room = count
    if not keys or keys[0].shape[0] < 2 or _in_order(keys):
        return None
    if len(keys) == 1:
        return np.argsort(keys[0], kind="stable")
    return np.lexsort(keys[::-1])


def _in_order(keys: list[Ints]) -> bool:
    undecided = np.ones(keys[0].shape[0] - 1, np.bool_)
    for key in keys:
        if (undecided & (key[1:] < key[:-1])).any():
            return False
        undecided &= key[1:] == key[:-1]
    return True


def _time_ranks(column: pa.Array) -> tuple[Ints, int]:
    """Ranks of times; no time counts as later than all."""
    if pa.types.is_dictionary(column.type):
        return _ranks_by_moment(column)
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        return _ranks_by_moment(column.dictionary_encode())
    absent = np.asarray(column.is_null())
    times = column.cast(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False)
    known = times[~absent]
    if not known.shape[0]:
        return np.zeros(len(column), np.int64), 1
    low, high = int(known.min()), int(known.max())
    if high - low >= _ROOM:
        distinct, ranks = np.unique(times, return_inverse=True)
        return np.where(absent, distinct.shape[0], ranks).astype(np.int64), distinct.shape[0] + 1
    return np.where(absent, high - low + 1, times - low), high - low + 2


def _moment(text: str | None) -> tuple[int, Fraction]:
    if text in (None, "", "inf"):
        return 1, Fraction(0)
    return (-1, Fraction(0)) if text == "-inf" else (0, Fraction(text or 0))


def _ranks(column: pa.Array) -> tuple[Ints, int]:
    if not pa.types.is_dictionary(column.type):
        distinct, codes = np.unique(column.fill_null(0).to_numpy(zero_copy_only=False), return_inverse=True)
        return codes.astype(np.int64), max(1, distinct.shape[0])
    texts = column.dictionary.fill_null("")
    order = pc.sort_indices(texts).to_numpy()  # UTF-8 bytes sort like code points
    ranks = np.empty(len(texts) + 1, np.int64)
    # no text sorts like an empty one, which is the first if there is one
    low = 0 if len(texts) and texts[int(order[0])].as_py() == "" else 1
    ranks[order] = np.arange(low, len(texts) + low)
    ranks[-1] = 0
    return _of_rows(column, ranks), len(texts) + low


def _ranks_by_moment(column: pa.DictionaryArray) -> tuple[Ints, int]:
    scaled = _scaled(column.dictionary)
    if scaled is not None:
        distinct, ranks = np.unique(np.append(scaled, _ROOM), return_inverse=True)
        return _of_rows(column, ranks.astype(np.int64)), distinct.shape[0]
    moments = [_moment(text) for text in [*column.dictionary.to_pylist(), None]]
    place = {moment: rank for rank, moment in enumerate(sorted(set(moments)))}
    return _of_rows(column, np.array([place[m] for m in moments], np.int64)), len(place)


def _scaled(texts: pa.Array) -> Ints | None:
    """Integers in the order of times such as `7`, `7/3`, `-inf` and none; None if they do not fit 62 bits."""
    fields = pc.extract_regex(texts.cast(pa.string()), r"^(?P<top>-?[0-9]{1,18})(?:/(?P<under>[0-9]{1,18}))?$")
    top, under = (pc.struct_field(fields, at) for at in (0, 1))
    absent, ever = np.asarray(texts.is_null()), np.asarray(pc.equal(texts, "-inf").fill_null(False))
    if (np.asarray(top.is_null()) & ~absent & ~ever).any():
        return None
    whole = pc.or_kleene(under.is_null(), pc.equal(under, ""))
    tops = top.fill_null("0").cast(pa.int64()).to_numpy()
    unders = pc.if_else(whole, "1", under).fill_null("1").cast(pa.int64()).to_numpy()
    shared = math.lcm(*np.unique(unders).tolist())
    if shared == 0 or shared >= _ROOM or (np.abs(tops) >= _ROOM // (shared // unders)).any():
        return None
    return np.where(absent, _ROOM, np.where(ever, -_ROOM, tops * (shared // unders)))


def _of_rows(column: pa.DictionaryArray, ranks: Ints) -> Ints:
    """The rank of each row's text; the last rank stands for no text."""
    codes: Ints = column.indices.cast(pa.int64()).fill_null(len(ranks) - 1).to_numpy(zero_copy_only=False)
    return ranks[codes]
