"""Synthetic streams as columns, and their RTEC-form CSV. What is in the columns is each generator's matter.

A stream is a dict from the name of an event or input fluent to its columns, in the order of the CSV form: `arrival`
and `time` (or `start`, `end`), for fluents `value`, then the arguments.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

Columns = dict[str, np.ndarray]
Stream = dict[str, Columns]


def row_count(stream: Stream) -> int:
    """The number of rows of all tables together."""
    return sum(len(columns["arrival"]) for columns in stream.values())


def event(time: np.ndarray, arrival: np.ndarray | None = None, **arguments: np.ndarray) -> Columns:
    """The columns of an event; without `arrival` it arrives when it occurs.

    >>> sorted(event(np.array([3, 5]), vessel=np.array([1, 2])))
    ['arrival', 'time', 'vessel']
    """
    return {"arrival": time if arrival is None else arrival, "time": time, **arguments}


def interval(start: np.ndarray, end: np.ndarray, value: str | np.ndarray, **arguments: np.ndarray) -> Columns:
    """The columns of an input fluent that arrives as intervals `[start, end)`, each known when it ends."""
    return {"arrival": end, "start": start, "end": end, "value": filled(value, len(start)), **arguments}


def points(time: np.ndarray, value: str | np.ndarray, **arguments: np.ndarray) -> Columns:
    """The columns of an input fluent that arrives as single time-points."""
    return {"arrival": time, "time": time, "value": filled(value, len(time)), **arguments}


def filled(value: str | np.ndarray, length: int) -> np.ndarray:
    """A column: `value` itself, or a word repeated."""
    return np.full(length, value) if isinstance(value, str) else value


def stack(tables: list[Columns]) -> Columns:
    """Tables with the same columns, one below the other."""
    return {name: np.concatenate([table[name] for table in tables]) for name in tables[0]}


def by_arrival(columns: Columns) -> Columns:
    """The rows in order of arrival, those that arrive together in the order given."""
    order = np.argsort(columns["arrival"], kind="stable")
    return {name: column[order] for name, column in columns.items()}


def write_csv(stream: Stream, path: str | Path) -> int:
    """Write the stream to one RTEC-form file, sorted by arrival; returns the number of rows."""
    lines = [_lines(name, columns) for name, columns in stream.items() if len(columns["arrival"])]
    arrival = [columns["arrival"] for columns in stream.values() if len(columns["arrival"])]
    if not lines:
        Path(path).write_bytes(b"")
        return 0
    order = np.argsort(np.concatenate(arrival), kind="stable")
    text = pa.chunked_array(lines).combine_chunks()
    block = 1 << 20
    with open(path, "wb") as file:
        for first in range(0, len(order), block):
            part = text.take(pa.array(order[first : first + block]))
            offsets = np.frombuffer(part.buffers()[1], np.int64)
            file.write(part.buffers()[2][: int(offsets[len(part)])])
    return len(order)


def write_background(tables: Mapping[str, Columns], directory: str | Path) -> dict[str, Path]:
    """Write each relation to `directory/NAME.csv` with a header; returns the paths by name."""
    folder = Path(directory)
    folder.mkdir(parents=True, exist_ok=True)
    paths = {name: folder / f"{name}.csv" for name in tables}
    for name, columns in tables.items():
        pyarrow.csv.write_csv(pa.table({key: pa.array(column) for key, column in columns.items()}), paths[name])
    return paths


def _lines(name: str, columns: Columns) -> pa.Array:
    """One text per row, `name|arrival|…` with the line end."""
    fields = [_text(pa.array(column)) for column in columns.values()]
    joined = pc.binary_join_element_wise(_word(name), *fields, _word("|"))
    return pc.binary_join_element_wise(joined, _word("\n"), _word(""))


def _text(column: pa.Array) -> pa.Array:
    """The column as text; a float keeps its decimal point (`511.0`), so that it is read as a float again."""
    text = column.cast(pa.large_string())
    if not pa.types.is_floating(column.type):
        return text
    whole = pc.invert(pc.match_substring_regex(text, "[^0-9-]"))
    return pc.binary_join_element_wise(text, pc.if_else(whole, _word(".0"), _word("")), _word(""))


def _word(text: str) -> pa.Scalar:
    return pa.scalar(text, pa.large_string())


def alternating(
    rng: np.random.Generator, entities: int, pairs: int, horizon: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For each entity `pairs` periods that do not touch: the entity's number, the begin and the end of each period.

    >>> key, begin, end = alternating(np.random.default_rng(0), 2, 3, 100)
    >>> key.tolist(), bool((begin < end).all()), bool((end[:2] < begin[1:3]).all())
    ([0, 0, 0, 1, 1, 1], True, True)
    """
    time = moments(rng, entities, 2 * pairs, horizon)
    return np.repeat(np.arange(entities), pairs), time[:, ::2].ravel(), time[:, 1::2].ravel()


def moments(rng: np.random.Generator, entities: int, count: int, horizon: int) -> np.ndarray:
    """`count` different time-points of 1 … horizon per entity, in increasing order, one row per entity."""
    time = np.sort(rng.integers(1, horizon - count + 2, (entities, count)), axis=1)
    return time + np.arange(count)
