"""Position reports from files: tables of any provider, by the names of their columns, and NMEA lines. Cleans nothing.

Values that say "not available" come as they are; `cleaning` knows them.
"""

from __future__ import annotations

import os
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv

from eventide.errors import InputError
from eventide.formats.files import Text, missing, read_text, text_of
from eventide.formats.problems import SHOWN, BadRows, diagnostic, input_error
from eventide.formats.sparse import flat
from eventide.formats.table_files import file_table
from eventide.kernels.joins import factorize
from eventide.signals.columns import (
    NULLS,
    TimeForm,
    decimals,
    seconds,
    shape_of,
    time_form,
    wholes,
    wrong_numbers,
    wrong_times,
)
from eventide.signals.layouts import SPEED_UNITS, Layout, layout_of, settled, split
from eventide.signals.nmea import is_nmea, read_nmea
from eventide.signals.positions import NO_HEADING, NO_VESSEL, VESSELS, Tracks, empty_positions
from eventide.signals.ship_types import UNKNOWN, ship_class
from eventide.syntax.diagnostics import Diagnostic

_TEXTS = pa.dictionary(pa.int32(), pa.binary())
_ABSENT = {"speed": np.nan, "course": np.nan, "heading": NO_HEADING, "lon": np.nan, "lat": np.nan}
Paths = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]


@dataclass(frozen=True, slots=True)
class Reports:
    """What files say: `positions` in the order of the rows, and `vessels`, one row each.

    `layouts` tells how each file was understood. `bad` rows could not be read; the first of them are `problems`.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = os.path.join(folder, "feed.csv")
    ...     with open(file, "w") as out:
    ...         _ = out.write("mmsi,time,lon,lat\\n219014000,0,10,55\\n")
    ...     reports = read_positions(file)
    >>> reports.bad, reports.positions.num_rows, list(reports.layouts.values())
    (0, 1, ['ais'])
    """

    positions: pa.Table
    vessels: pa.Table
    layouts: dict[str, str] = field(default_factory=dict)
    bad: int = 0
    problems: tuple[Diagnostic, ...] = ()


def read_positions(paths: Paths, *, preset: str | None = None,
                   mapping: Mapping[str, str] | str | os.PathLike[str] | None = None, bad_rows: BadRows = "fail",
                   ) -> Reports:
    """The reports of files: CSV (also in gzip or zip), Parquet, Arrow, JSON lines, NMEA lines with times.

    The columns are found by their names. A `preset` (marinecadastre, dma, ais, eventide) or a `mapping` (a dict or a
    TOML file, see `Layout`) says what they are where that is not enough. A value that is no number or no time raises
    InputError with its place; with `bad_rows="skip"` it counts as missing. Damaged NMEA lines are always counted.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = os.path.join(folder, "feed.csv")
    ...     with open(file, "w") as out:
    ...         _ = out.write("MMSI;Time;Latitude;Longitude;SOG\\n219014000;2022-01-03T00:00:00Z;55,5;10,5;123\\n")
    ...     found = read_positions(file, mapping={"speed_unit": "tenths"})
    >>> found.positions.to_pylist()[0]["lat"], found.positions.to_pylist()[0]["speed"]
    (55.5, 12.3)
    """
    layout = layout_of(preset, mapping)
    listed = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    parts = [part for path in listed for part in _file(os.fspath(path), layout, bad_rows)]
    if len(parts) == 1:
        return parts[0]
    return joined(parts)


def joined(parts: Sequence[Reports]) -> Reports:
    """Reports one after the other; of a vessel that is described twice the later description holds."""
    vessels = pa.concat_tables([part.vessels for part in parts] or [VESSELS.empty_table()])
    return Reports(
        pa.concat_tables([part.positions for part in parts] or [empty_positions()]).combine_chunks(),
        _described(*(flat(vessels[name]) for name in VESSELS.names)),
        {file: layout for part in parts for file, layout in part.layouts.items()},
        sum(part.bad for part in parts), tuple(p for part in parts for p in part.problems)[:SHOWN],
    )


def _file(path: str, layout: Layout | None, bad_rows: BadRows) -> Iterator[Reports]:
    plain = path.lower().removesuffix(".gz")
    if plain.endswith(".zip"):
        for text in _members(path):
            yield _text(text, layout, bad_rows)
    elif plain.endswith((".parquet", ".arrow", ".feather", ".jsonl")):
        yield _typed(path, layout, bad_rows)
    else:
        yield _text(read_text(path, any_bytes=True), layout, bad_rows)


def _members(path: str) -> Iterator[Text]:
    """The files in a zip, except what systems add to it."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = [i.filename for i in archive.infolist() if not i.is_dir() and "__MACOSX" not in i.filename]
            if not names:
                raise input_error("empty-zip", "there is no file in the archive", path, hint="is it the right one?")
            for name in names:
                yield text_of(f"{path}/{name}", archive.read(name), any_bytes=True)
    except OSError as error:
        raise missing(path, error) from error
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        hint = "copy or download the file again; `unzip -t FILE` checks it"
        raise input_error("broken-zip", f"the zip file is damaged or cut off ({error})", path, hint=hint) from error


def _text(text: Text, layout: Layout | None, bad_rows: BadRows) -> Reports:
    line = text.first_line()
    if not line.strip():
        raise input_error("empty-file", "the file is empty", text.source, hint="expected a header and position reports")
    if is_nmea(line):
        found = read_nmea(text)
        arrays = [pa.array(found.static[name], kind) for name, kind in zip(VESSELS.names, VESSELS.types, strict=True)]
        return Reports(found.positions(), _described(*arrays), {text.source: "NMEA"}, found.bad, tuple(found.problems))
    chosen, header, known = settled(layout, line, text.source)
    return _Csv(text, chosen, header, bad_rows).reports(known)


# -- tables that are text ----------------------------------------------------------------------------------------------


class _Csv:
    """A CSV whose layout is known."""

    def __init__(self, text: Text, layout: Layout, header: list[str], bad_rows: BadRows) -> None:
        self.text, self.layout, self.header, self.skip = text, layout, header, bad_rows == "skip"
        self.places = {key: header.index(name) for key, name in layout.columns().items()}
        self.ragged: list[Any] = []
        example = self._example()
        self.decimal = layout.decimal or self._decimal(example)
        self.times = self._times(example)

    def reports(self, known: str) -> Reports:
        """What the table says."""
        kinds = {key: pa.float64() for key in self.places} | {"vessel": pa.int64(), "time": self.times.kind}
        kinds |= {key: _TEXTS for key in ("type", "name") if key in self.places}
        bad = 0
        problems: list[Diagnostic] = []
        try:
            table = self._parsed(kinds)
        except pa.ArrowInvalid:
            table, bad, problems = self._one_by_one(kinds)
        if self.ragged:
            bad += len(self.ragged)
            problems += [self._ragged(row) for row in self.ragged[:SHOWN]]
            if not self.skip:
                raise _failed(problems, bad)
        return _reports(table, self.layout, self.times, self.text.source, known, bad, tuple(problems))

    def _example(self) -> dict[str, str]:
        """The values of the first row that has a time."""
        found: dict[str, str] = {}
        body = self.text.piece(self.text.start, min(self.text.stop, self.text.start + (1 << 16)))
        lines = [line for line in body.split("\n") if line.strip()]
        for line in lines[1:]:
            fields = split(line.rstrip("\r"), self.layout.separator or ",")
            if len(fields) == len(self.header):
                found = {key: fields[place] for key, place in self.places.items()}
                if found["time"] not in NULLS:
                    break
        return found

    def _decimal(self, example: Mapping[str, str]) -> str:
        commas = [key for key in ("lon", "lat") if "," in example.get(key, "") and "." not in example.get(key, "")]
        return "," if commas and self.layout.separator != "," else "."

    def _times(self, example: Mapping[str, str]) -> TimeForm:
        first = example.get("time", "0")
        form = time_form(self.layout.time_format, first)
        if form is None:
            hint = 'say how times are written: time_format = "%d.%m.%Y %H:%M" in a mapping'
            raise input_error("unknown-times", f"the time {first!r} is in no form that is known", self.text.source, 2,
                              hint=hint)
        return form

    def _parsed(self, kinds: Mapping[str, pa.DataType]) -> pa.Table:
        names = [f"{place}" for place in range(len(self.header))]
        for key, place in self.places.items():
            names[place] = key
        self.ragged = []
        quoted = self.text.count(b'"') > 0
        body = self.text.piece(self.text.start, self.text.start + 4096)
        blank = next((i for i, line in enumerate(body.split("\n")) if line.strip()), 0)
        parsers = [self.times.pattern] if self.times.pattern else [pacsv.ISO8601]
        try:
            return pacsv.read_csv(
                pa.BufferReader(pa.py_buffer(self.text.data[self.text.start : self.text.stop])),
                pacsv.ReadOptions(use_threads=False, column_names=names, skip_rows=blank + 1, block_size=1 << 22),
                pacsv.ParseOptions(delimiter=self.layout.separator, newlines_in_values=quoted,
                                   invalid_row_handler=self._on_ragged),
                pacsv.ConvertOptions(column_types=dict(kinds), include_columns=list(kinds), null_values=NULLS,
                                     strings_can_be_null=True, check_utf8=False, decimal_point=self.decimal,
                                     timestamp_parsers=parsers),
            )
        except pa.ArrowInvalid as error:
            if "Empty CSV" in str(error):
                return pa.table({key: pa.array([], kind) for key, kind in kinds.items()})
            raise

    def _on_ragged(self, row: Any) -> str:
        self.ragged.append(row)
        return "skip"

    def _ragged(self, row: Any) -> Diagnostic:
        message = f"the row has {row.actual_columns} fields, the header {row.expected_columns}"
        hint = "write empty fields for missing values; quote fields that contain the separator"
        return diagnostic("ragged-row", message, self.text.source, int(row.number or 1), hint=hint)

    def _one_by_one(self, kinds: Mapping[str, pa.DataType]) -> tuple[pa.Table, int, list[Diagnostic]]:
        """The table when some value is not what its column holds: such values are problems, and missing."""
        try:
            texts = self._parsed({key: kind if kind == _TEXTS else pa.string() for key, kind in kinds.items()})
        except pa.ArrowInvalid as error:
            hint = "is a quotation mark not closed?"
            raise input_error("bad-csv", f"the table cannot be read: {error}", self.text.source, hint=hint) from error
        columns, bad, problems = {}, np.zeros(texts.num_rows, np.bool_), []
        for key, kind in kinds.items():
            column = texts[key].combine_chunks()
            if kind != _TEXTS:
                wrong = wrong_times(column, self.times) if key == "time" else wrong_numbers(column, self.decimal)
                bad |= wrong
                problems += [self._wrong(key, row, column[row].as_py()) for row in np.flatnonzero(wrong)[:SHOWN]]
                column = self._cast(key, pc.if_else(pa.array(wrong), pa.scalar(None, pa.string()), column))
            columns[key] = column
        problems.sort(key=lambda problem: problem.span.line if problem.span else 0)
        if bad.any() and not self.skip:
            raise _failed(problems, int(bad.sum()))
        return pa.table(columns), int(bad.sum()), problems[:SHOWN]

    def _cast(self, key: str, column: pa.Array) -> pa.Array:
        column = pc.utf8_trim_whitespace(column)
        if key != "time":
            return pc.replace_substring(column, self.decimal, ".").cast(pa.float64())
        if self.times.pattern is not None:
            return pc.strptime(column, format=self.times.pattern, unit="s")
        return column.cast(self.times.kind if pa.types.is_timestamp(self.times.kind) else pa.float64())

    def _wrong(self, key: str, row: int, value: str) -> Diagnostic:
        line, name = row + 2, self.header[self.places[key]]
        if key == "time":
            first = self._example().get("time", "")
            message = f"{name} is {value!r}, which is no time as the others are ({self.times.name}, first {first!r})"
            other = shape_of(value)
            hint = "write all times in one form" + ("" if other == "none that is known" else f"; this one is {other}")
            return diagnostic("mixed-times", message, self.text.source, line, self.places[key] + 1, hint=hint)
        message = f"{name} is {value!r}, which is no number"
        other = {".": ",", ",": "."}[self.decimal]
        hint = f'if {other} is meant as the decimal mark, write decimal = "{other}" in a mapping' if other in value \
            else "correct it, or name the right column in a mapping"
        return diagnostic("no-number", message, self.text.source, line, self.places[key] + 1, hint=hint)


def _failed(problems: Sequence[Diagnostic], bad: int) -> InputError:
    """One problem tells what is wrong; the others are of its kind."""
    error = InputError(problems[0].render(), problems[:1])
    rest = f"{bad - 1} more row{'' if bad == 2 else 's'} cannot be read; " if bad > 1 else ""
    note = f"{rest}nothing was read; skip what cannot be read with --bad-rows skip (bad_rows=\"skip\")"
    error.add_note(note)
    return error


# -- tables with types -------------------------------------------------------------------------------------------------


def _typed(path: str, layout: Layout | None, bad_rows: BadRows) -> Reports:
    found = file_table(path, {})
    header = '","'.join(name.replace('"', '""') for name in found.columns)
    chosen, _, known = settled(replace(layout, separator=",") if layout else None, f'"{header}"', path)
    columns: dict[str, Any] = {}
    times = TimeForm("seconds since 1970", pa.int64())
    for key, name in chosen.columns().items():
        raw = found.columns[name]
        column = pa.array(raw) if isinstance(raw, list) else raw
        if key in ("type", "name"):
            column = column.cast(pa.string()).cast(pa.binary()).dictionary_encode()
        elif key == "time":
            times, column = _typed_times(column, chosen, path)
        elif pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
            wrong = wrong_numbers(column)
            if wrong.any():
                row = int(wrong.argmax())
                raise input_error("no-number", f"{name} is {column[row].as_py()!r}, which is no number", path, row + 1)
            column = column.cast(pa.float64())
        columns[key] = column
    return _reports(pa.table(columns), chosen, times, path, known, 0, ())


def _typed_times(column: Any, layout: Layout, path: str) -> tuple[TimeForm, Any]:
    if pa.types.is_timestamp(column.type):
        return TimeForm("timestamps", column.type), column
    first = next((str(value) for value in column[:1000].to_pylist() if value is not None), "0")
    form = time_form(layout.time_format, first)
    if form is None:
        hint = 'say how times are written: time_format = "%d.%m.%Y %H:%M" in a mapping'
        raise input_error("unknown-times", f"the time {first!r} is in no form that is known", path, 1, hint=hint)
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        wrong = wrong_times(column, form)
        if wrong.any():
            row = int(wrong.argmax())
            message = f"{layout.time} is {column[row].as_py()!r}, which is no time as the others are ({form.name})"
            raise input_error("mixed-times", message, path, row + 1, hint="write all times in one form")
        column = pc.strptime(column, format=form.pattern, unit="s") if form.pattern else column.cast(form.kind)
    return form, column


# -- tables that are read ----------------------------------------------------------------------------------------------


def _reports(table: pa.Table, layout: Layout, times: TimeForm, source: str, known: str, bad: int,
             problems: tuple[Diagnostic, ...]) -> Reports:
    vessel = wholes(table["vessel"], NO_VESSEL)
    factors = {"speed": SPEED_UNITS[layout.speed_unit]}
    numbers = {name: decimals(table[name], absent, factors.get(name, 1.0)) if name in table.column_names
               else np.full(table.num_rows, absent) for name, absent in _ABSENT.items()}
    tracks = Tracks(vessel, seconds(table["time"], times), **numbers)
    static = [flat(table[name]) if name in table.column_names else None for name in ("type", "draught", "name")]
    return Reports(tracks.table(), _described(pa.array(vessel), *static), {source: known}, bad, problems)


def described(table: pa.Table) -> pa.Table:
    """The vessels of a table of positions that has columns about them; none if it has not.

    >>> described(pa.table({"vessel": [7, 7], "type": ["52", None]})).to_pylist()[0]["type"]
    'tug'
    """
    if not {"type", "draught", "name"} & set(table.column_names):
        return VESSELS.empty_table()
    static = [flat(table[name]) if name in table.column_names else None for name in ("type", "draught", "name")]
    return _described(flat(table["vessel"]).fill_null(NO_VESSEL), *static)


def _described(vessel: pa.Array, type_: Any, draught: Any, name: Any) -> pa.Table:
    """One row per vessel, by number; of several descriptions the last that says something."""
    codes, vessels = factorize(np.ascontiguousarray(vessel.to_numpy()))
    order = np.argsort(vessels)
    order = order[vessels[order] != NO_VESSEL]
    types = _words(codes, len(vessels), type_, lambda word: ship_class(word))
    names = _words(codes, len(vessels), name, lambda word: word.strip() or None)
    depths = np.full(len(vessels), np.nan)
    if draught is not None:
        values = decimals(pa.chunked_array([draught]), np.nan)
        said = values > 0
        depths[codes[said]] = values[said]
    columns = [pa.array(vessels[order]), types.fill_null(UNKNOWN).take(pa.array(order)), pa.array(depths[order]),
               names.take(pa.array(order))]
    return pa.table(columns, schema=VESSELS)


def _words(codes: Any, number: int, column: Any, meaning: Any) -> pa.Array:
    """What the texts of a column mean, by vessel."""
    if column is None:
        return pa.nulls(number, pa.string())
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    means = [meaning(_decoded(value)) for value in column.dictionary.to_pylist()]
    said = np.array([each not in (None, UNKNOWN) for each in means] + [False])
    words = column.indices.fill_null(len(means)).to_numpy()
    rows = said[words]
    last = np.full(number, len(means), np.int64)
    last[codes[rows]] = words[rows]
    return pa.array([*means, None], pa.string()).take(pa.array(last))


def _decoded(value: bytes | str) -> str:
    if isinstance(value, str):
        return value
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        return value.decode("latin-1")
