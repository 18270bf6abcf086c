"""Files of events, disturbed and written again: tables with named columns, and RTEC's form. Needs no program."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from eventide.errors import InputError
from eventide.formats.events import is_headed, split_name
from eventide.formats.expected import TimeUnit
from eventide.formats.facts import Ints
from eventide.formats.files import Text, read_text
from eventide.formats.headed_csv import csv_table
from eventide.formats.problems import SHOWN, diagnostic, input_error
from eventide.formats.result_order import text_column
from eventide.formats.results import whole_file, writer_for
from eventide.formats.table_files import file_table
from eventide.signals.delays import disturbed_table, plain_table
from eventide.signals.disturbance import Disturbance, Feed
from eventide.signals.label_noise import LabelNoise, noisy_table

_ROW = r"(?s)^(?P<name>[^|]+\|)(?P<arrival>-?[0-9]+)(?P<rest>\|.+)$"
_PIECE = 1 << 18


@dataclass(frozen=True, slots=True)
class Summary:
    """How many rows were read and written, and when the last of them arrives (None if there is none)."""

    read: int
    written: int
    last: int | None


def disturb_files(
    paths: Sequence[str | os.PathLike[str]], out: str | os.PathLike[str], disturbance: Disturbance,
    time_unit: TimeUnit | None = None, noise: LabelNoise | None = None,
) -> Summary:
    """Disturb the rows of all files together and write them in order of arrival, whole or not at all.

    Tables (headed CSV, JSON lines, Parquet, Arrow) must have the same columns and are written as `.csv`, `.jsonl` or
    `.parquet`. Rows in RTEC's form stay as they are but for their arrival; they can only be delayed and repeated.
    With `noise`, activities become uncertain before anything else happens to them.
    """
    target = Path(out)
    write = writer_for(target)
    sources = [_source(os.fspath(path)) for path in paths]
    texts = [source for source in sources if isinstance(source, Text)]
    if texts and len(texts) < len(sources):
        raise InputError("some files are in RTEC's form and some have named columns; disturb them one by one")
    if texts and noise is not None:
        hint = "write the facts as a table with a header: time,event,value,arguments…"
        message = "rows in RTEC's form cannot be uncertain: they have no column probability"
        raise input_error("no-probability-column", message, texts[0].source, hint=hint)
    if texts:
        return _disturb_rtec(texts, target, disturbance)
    tables = [plain_table(csv_table(source[1], {}) if source[1] else file_table(source[0], {}), time_unit)
              for source in sources if not isinstance(source, Text)]
    whole = _together(tables, [os.fspath(path) for path in paths])
    table = disturbed_table(whole if noise is None else noisy_table(whole, noise), disturbance)
    columns = {name: _writable(table[name], target.suffix) for name in table.column_names}
    with whole_file(target) as file:
        write([columns], file)
    return Summary(whole.num_rows, table.num_rows, pc.max(table["arrival"]).as_py())


def _source(path: str) -> Text | tuple[str, Text | None]:
    """The text of a file in RTEC's form, or the path of a table, with its text where it is a CSV."""
    name, file = split_name(path)
    if name is not None:
        hint = f"give the file alone, {file}; the name is needed again when the program runs"
        raise input_error("named-file", "the table of one event needs no name here", path, hint=hint)
    if not path.removesuffix(".gz").endswith(".csv"):
        return path, None
    text = read_text(path)
    return (path, text) if is_headed(text) else text


def _together(tables: Sequence[pa.Table], paths: Sequence[str]) -> pa.Table:
    """One table below the other; arguments are told by their order, so that it must be the same."""
    names = {name for table in tables for name in table.column_names}
    for table, path in zip(tables, paths, strict=True):
        if _arguments(table) != _arguments(tables[0]):
            hint = "disturb them one by one, each with its own -o"
            raise input_error("other-columns", f"the columns differ from those of {paths[0]}", path, hint=hint)
    if "arrival" in names:
        tables = [t if "arrival" in t.column_names else t.append_column("arrival", t["time"]) for t in tables]
    if "op" in names:
        tables = [t if "op" in t.column_names else t.append_column("op", pa.repeat("+", t.num_rows)) for t in tables]
    try:
        return pa.concat_tables(tables, promote_options="permissive")
    except pa.ArrowException as error:
        raise InputError(f"the columns of the files have different types: {error}") from error


def _arguments(table: pa.Table) -> list[str]:
    return [name for name in table.column_names if name not in ("time", "arrival", "op")]


def _writable(column: pa.ChunkedArray, ending: str) -> pa.Array:
    number = pa.types.is_integer(column.type) or pa.types.is_floating(column.type)
    return column.combine_chunks() if number or ending == ".parquet" else text_column(column)


def _disturb_rtec(texts: Sequence[Text], target: Path, disturbance: Disturbance) -> Summary:
    if disturbance.retracted or disturbance.revised:
        hint = "write the events as a table with a header: time,event,arguments…"
        message = "rows in RTEC's form cannot be retracted or revised: they have no column op"
        raise input_error("no-op-column", message, texts[0].source, hint=hint)
    if target.suffix != ".csv":
        message = "rows in RTEC's form are written as .csv"
        raise input_error("unknown-ending", message, str(target), hint="use -o OUT.csv")
    rows = pa.chunked_array([_rows(text) for text in texts]).combine_chunks()
    name, arrival, rest = (pc.struct_field(rows, i) for i in range(3))
    times = arrival.to_numpy()
    feed = disturbance.of(Feed.of(times))
    with whole_file(target) as file:
        for low in range(0, feed.fact.shape[0], _PIECE):
            taken = pa.array(feed.fact[low : low + _PIECE])
            arrivals = pa.array(feed.arrival[low : low + _PIECE]).cast(pa.large_string())
            lines = pc.binary_join_element_wise(name.take(taken), arrivals, rest.take(taken),
                                                pa.scalar("", pa.large_string()))
            file.write(lines.buffers()[2])
    return Summary(len(rows), feed.fact.shape[0], int(feed.arrival[-1]) if len(rows) else None)


def _rows(text: Text) -> pa.StructArray:
    """The rows of a text as `name|`, arrival, and the rest with its line end."""
    ends = np.flatnonzero(text.data[text.start : text.stop] == 10) + 1
    offsets: Ints = np.concatenate([np.zeros(1, np.int64), ends])
    body = pa.py_buffer(text.data[text.start : text.stop])
    lines = pa.LargeStringArray.from_buffers(ends.shape[0], pa.py_buffer(offsets), body)
    filled = pc.not_equal(pc.utf8_trim(lines, "\r\n"), pa.scalar("", pa.large_string()))
    numbers = np.flatnonzero(filled.to_numpy(zero_copy_only=False)) + 1
    parts = pc.extract_regex(lines.filter(filled), _ROW)
    wrong = numbers[parts.is_null().to_numpy(zero_copy_only=False)]
    if wrong.shape[0]:
        hint = "expected name|arrival|occurrence|…, with a whole number as arrival"
        problems = [diagnostic("bad-row", "this is no row in RTEC's form", text.source, line, hint=hint)
                    for line in wrong[:SHOWN].tolist()]
        raise InputError("\n".join(problem.render() for problem in problems), problems)
    try:
        arrival = pc.struct_field(parts, 1).cast(pa.int64())
    except pa.ArrowInvalid as error:
        raise input_error("time-overflow", f"an arrival does not fit 64 bits: {error}", text.source) from error
    return pa.StructArray.from_arrays([pc.struct_field(parts, 0), arrival, pc.struct_field(parts, 2)],
                                      ["name", "arrival", "rest"])
