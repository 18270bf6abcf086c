"""The one door for facts: files of every known format, or tables in memory, to Facts. The formats live beside it."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from eventide.errors import InputError
from eventide.formats.expected import Arities, ColumnType, Declared, Expected, TimeUnit, check_time_unit
from eventide.formats.facts import Facts, chosen, merged, moved
from eventide.formats.files import Text, missing, read_text
from eventide.formats.headed_csv import csv_table
from eventide.formats.problems import SHOWN, BadRows, input_error, settled
from eventide.formats.rtec_csv import read_rtec
from eventide.formats.table_files import file_table, json_tables, memory_table
from eventide.formats.tables import table_facts

FilePath = str | os.PathLike[str]
ENDINGS = (".csv", ".csv.gz", ".jsonl", ".jsonl.gz", ".parquet", ".arrow", ".feather")
_NAMED = re.compile(r"([A-Za-z_]\w*)=(.+)", re.DOTALL)


def read_events(
    paths: FilePath | Iterable[FilePath],
    declared: Declared,
    *,
    bad_rows: BadRows = "fail",
    bad_file: FilePath | None = None,
    arities: Arities | None = None,
    names: Collection[str] = (),
    derived: Collection[str] = (),
    column_types: Mapping[str, ColumnType] | None = None,
    time_unit: TimeUnit | None = None,
) -> Facts:
    """The facts of files: RTEC's form, headed CSV, JSON lines, Parquet, Arrow; `NAME=FILE` is the table of one name.

    Of a folder, every file that is called after a name that is known is the table of that name.
    `declared(name)` says what a name is in the program, None if it is unknown; `arities(name)` how many arguments it
    may have (default: as many as most of its rows), `names` are offered as corrections, and those that are `derived`
    cannot be read. A row that is no fact
    raises InputError, or with `bad_rows="skip"` is counted and written to `bad_file`. `column_types` overrides the
    type of columns by name (RTEC's form: `name/position`); datetimes need a `time_unit`.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "toy.csv"
    ...     _ = file.write_text("go_to|9|9|chris|work\\ngo_to|17|17|chris|pub\\n")
    ...     facts = read_events(file, lambda name: "event")
    >>> table = facts.tables["go_to", 2]
    >>> table.time.tolist(), table.args[1].values
    ([9, 17], ('work', 'pub'))
    """
    listed = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    return facts_from(listed, declared, bad_rows=bad_rows, bad_file=bad_file, arities=arities, names=names,
                      derived=derived, column_types=column_types, time_unit=time_unit)


def facts_from(
    source: object,
    declared: Declared,
    *,
    bad_rows: BadRows = "fail",
    bad_file: FilePath | None = None,
    arities: Arities | None = None,
    names: Collection[str] = (),
    derived: Collection[str] = (),
    column_types: Mapping[str, ColumnType] | None = None,
    time_unit: TimeUnit | None = None,
) -> Facts:
    """The facts of a path, a pyarrow, pandas, polars or Spark table, a dict of those by event, or a list of these."""
    if bad_rows not in ("fail", "skip"):
        raise InputError(f"bad_rows is {bad_rows!r}, expected 'fail' or 'skip'")
    check_time_unit(time_unit)
    for column, kind in (column_types or {}).items():
        if kind not in ("int", "float", "text"):
            raise InputError(f"the type of column {column} is {kind!r}, expected 'int', 'float' or 'text'")
    expected = Expected(declared, arities, names, derived, column_types or {}, time_unit)
    limit = SHOWN if bad_rows == "fail" else None
    parts = _parts(source, expected, limit, None)
    expected.check_columns()
    return settled(merged(parts), bad_rows, bad_file)


def _parts(source: object, expected: Expected, limit: int | None, name: str | None) -> list[Facts]:
    if isinstance(source, Facts):
        return [source]
    if isinstance(source, Text):
        return [_piece(source, expected, limit)]
    if isinstance(source, (str, os.PathLike)):
        if name is None and os.path.isdir(source):
            files = tables_in(source, lambda table: expected.declared(table) is not None)
            return [_file(path, expected, limit, table) for table, path in files.items()]
        return [_file(os.fspath(source), expected, limit, name)]
    if isinstance(source, Mapping):
        return [part for key, each in source.items() for part in _parts(each, expected, limit, str(key))]
    if isinstance(source, (list, tuple)):
        return [part for each in source for part in _parts(each, expected, limit, name)]
    table = memory_table(source, f"<{name or type(source).__name__}>")
    if table is None:
        known = "a path, a pyarrow, pandas, polars or Spark table, or a dict of tables by event name"
        raise InputError(f"cannot read events from a {type(source).__name__}; expected {known}")
    return [table_facts(table, expected, name, limit)]


def tables_in(folder: FilePath, known: Callable[[str], bool]) -> dict[str, str]:
    """The files of a folder by the names of the events they hold, as far as a program knows them."""
    try:
        found = {entry.name.partition(".")[0]: entry.path for entry in os.scandir(folder)
                 if entry.is_file() and entry.name.endswith(ENDINGS) and not entry.name.startswith(".")}
    except OSError as error:
        raise missing(os.fspath(folder), error) from error
    chosen = {name: found[name] for name in sorted(found) if known(name)}
    if not chosen:
        held = f"it has {', '.join(sorted(found))}" if found else f"it has no file with one of {', '.join(ENDINGS)}"
        raise input_error("no-tables", f"the folder holds no event that the program knows; {held}", os.fspath(folder),
                          hint="a file in it is the table of one event, and called after it: stop_start.parquet")
    return chosen


def split_name(path: str) -> tuple[str | None, str]:
    """Name and file of `NAME=FILE`; no name if it is just a file.

    >>> split_name("velocity=data/v.parquet")
    ('velocity', 'data/v.parquet')
    """
    named = _NAMED.fullmatch(path)
    return (named[1], named[2]) if named and not Path(path).exists() else (None, path)


def _file(path: str, expected: Expected, limit: int | None, name: str | None) -> Facts:
    if name is None:
        name, path = split_name(path)
    if not path.endswith(ENDINGS):
        hint = f"known endings: {', '.join(ENDINGS)}"
        raise input_error("unknown-ending", "the ending does not say what the file is", path, hint=hint)
    if name is None and path.removesuffix(".gz").endswith(".csv"):
        text = read_text(path, by_line=True)
        if not is_headed(text):
            return read_rtec(text, expected, limit)
        return table_facts(csv_table(text, expected.column_types), expected, None, limit)
    return table_facts(file_table(path, expected.column_types), expected, name, limit)


def _piece(text: Text, expected: Expected, limit: int | None) -> Facts:
    """The facts of a piece of a text that grows; values are typed one by one, since others are not known yet."""
    if text.form == "rtec":
        facts = read_rtec(text, expected, limit)
    elif text.form == "json":
        facts = _in_order([table_facts(table, expected, None, limit) for table in json_tables(text)], text.source)
    else:
        facts = table_facts(csv_table(text, expected.column_types, by_value=True), expected, None, limit)
    return moved(facts, text.above)


def _in_order(parts: list[Facts], source: str) -> Facts:
    """The facts of one text that was read as several tables, in the order of its lines."""
    if len(parts) == 1:
        return parts[0]
    facts = merged(parts, exact=True)
    tables = {key: replace(chosen(table, np.argsort(table.rows, kind="stable")), origins=((source, 0),))
              for key, table in facts.tables.items() if table.rows is not None}
    return replace(facts, tables=tables)


_TIMES = ("timestamp", "t", "ts", "datetime", "date", "when", "occurrence", "start")
_EVENTS = ("event_type", "eventtype", "event_name", "type", "name", "kind", "activity", "action")
_NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?")


def _instead_of_header(fields: Sequence[str]) -> str | None:
    """What is wrong with the names of columns, if they show it.

    >>> _instead_of_header(["Timestamp", "event", "who"]), _instead_of_header(["Time", "Event"])
    ('the header has no column time: rename Timestamp to time', 'names of columns are written small: time, event')
    """
    small = [field.lower() for field in fields]
    if len(fields) > 1 and _NUMBER.fullmatch(fields[0]):
        row = ["time", "event", *(f"argument{at}" for at in range(1, len(fields) - 1))]
        return f"the header is missing: add a first line such as {','.join(row)}"
    if "time" in small:
        return f"names of columns are written small: {', '.join(small)}"
    times = [field for field in fields if field.lower() in _TIMES]
    events = [field for field in fields if field.lower() in _EVENTS]
    if not (times and ("event" in small or events)):
        return "the header has no column time" if "event" in small else None
    renamed = f"rename {times[0]} to time" + ("" if "event" in small else f", {events[0]} to event")
    return f"the header has no column time: {renamed}"


def is_headed(text: Text) -> bool:
    """Whether a CSV begins with a header; RTEC's form has none. A text without rows counts as RTEC's form."""
    line = text.first_line()
    fields = [field.strip().strip('"') for field in line.split(",")]
    if "time" in fields and "|" not in fields[0]:
        return True
    if "|" in line or not line:
        return False
    if text.broken and not text.piece(text.start, text.stop).split("\n")[0].strip():
        problem = text.broken[0].diagnostic  # of the header, as it seems
        raise InputError(problem.render(), [problem])
    instead = _instead_of_header(fields)
    for mark, name in ((";", "semicolons"), ("\t", "tabs")):
        if "time" in [field.strip().strip('"') for field in line.split(mark)]:
            instead = f"the fields are separated by {name}; expected commas"
    raise input_error("unknown-form", "the first line is neither a header nor a row in RTEC's form", text.source,
                      hint="expected a header with the columns time, event and arguments, or rows "
                      "name|arrival|occurrence|arguments…" if instead is None else instead)
