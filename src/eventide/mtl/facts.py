"""The one door for facts of DatalogMTL: `.facts`, tables of intervals, tables in memory. Their forms live beside it."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from dataclasses import replace

from eventide.errors import InputError
from eventide.formats.events import ENDINGS, split_name, tables_in
from eventide.formats.expected import ColumnType, TimeUnit
from eventide.formats.facts import Facts
from eventide.formats.files import Text, read_text, text_of
from eventide.formats.problems import SHOWN, BadRows, input_error, settled, suggestion
from eventide.formats.table_files import file_table, memory_table
from eventide.mtl.cells import DenseFacts, merged_dense
from eventide.mtl.fact_lines import read_lines
from eventide.mtl.fact_tables import EXACT, interval_facts
from eventide.syntax.diagnostics import Diagnostic, Span

LINES = (".facts", ".facts.gz")
_TEXTS: dict[str, ColumnType] = dict.fromkeys(EXACT, "text")


def read_facts(source: object, *, known: Collection[tuple[str, int]] | None = None, bad_rows: BadRows = "fail",
               bad_file: str | os.PathLike[str] | None = None, time_unit: TimeUnit | None = None) -> DenseFacts:
    """The facts of a path, a pyarrow, pandas, polars or Spark table, a dict of those by name, or a list of them all.

    A path ends in `.facts` (one fact per line) or is a table as in `fact_tables`; both may be packed with gzip. In a
    folder, files are tables that are called after their predicates. A line that is no fact raises InputError, or with
    `bad_rows="skip"` is counted and written to `bad_file`. Facts of predicates that are not among the `known` (names
    and numbers of arguments) are noted: no rule reads them.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("w", suffix=".facts") as file:
    ...     _ = file.write("P(a)@[0,1/3)\\nP(b)@2\\n")
    ...     file.flush()
    ...     found = read_facts(file.name)
    >>> found.denominator, found.facts.tables["P", 1].time.tolist(), found.facts.tables["P", 1].end.tolist()
    (3, [0, 12], [2, 13])
    """
    if bad_rows not in ("fail", "skip"):
        raise InputError(f"bad_rows is {bad_rows!r}, expected 'fail' or 'skip'")
    if time_unit not in (None, "s", "ms", "us", "ns"):
        raise InputError(f"time_unit is {time_unit!r}, expected 's', 'ms', 'us' or 'ns'")
    limit = SHOWN if bad_rows == "fail" else None
    names = None if known is None else {name for name, _ in known}
    found = merged_dense(_parts(source, limit, time_unit, None, names))
    facts = settled(found.facts, bad_rows, bad_file)
    notes = (*facts.notes, *_unread(facts, known)) if known is not None else facts.notes
    return replace(found, facts=replace(facts, notes=notes))


def facts_in(text: str, source: str = "<text>", *, bad_rows: BadRows = "fail") -> DenseFacts:
    """The facts of a text, one per line.

    >>> len(facts_in("P(a)@[0,1/3)\\nP(b)@2"))
    2
    """
    return read_facts(text_of(source, text.encode("utf-8", "surrogatepass"), by_line=True), bad_rows=bad_rows)


def _parts(source: object, limit: int | None, unit: TimeUnit | None, name: str | None,
           known: Collection[str] | None) -> list[DenseFacts]:
    if isinstance(source, DenseFacts):
        return [source]
    if isinstance(source, Text):
        return [read_lines(source, limit)]
    if isinstance(source, str | os.PathLike):
        if name is None and os.path.isdir(source):
            files = tables_in(source, lambda table: known is None or table in known)
            return [_file(path, limit, unit, table) for table, path in files.items()]
        return [_file(os.fspath(source), limit, unit, name)]
    if isinstance(source, Mapping):
        return [part for key, each in source.items() for part in _parts(each, limit, unit, str(key), known)]
    if isinstance(source, list | tuple):
        return [part for each in source for part in _parts(each, limit, unit, name, known)]
    table = memory_table(source, f"<{name or type(source).__name__}>")
    if table is None:
        expected = "a path, a pyarrow, pandas, polars or Spark table, or a dict of tables by predicate"
        raise InputError(f"cannot read facts from a {type(source).__name__}; expected {expected}")
    return [interval_facts(table, name, unit, limit)]


def _file(path: str, limit: int | None, unit: TimeUnit | None, name: str | None) -> DenseFacts:
    if name is None:
        name, path = split_name(path)
    if name is None and path.endswith(LINES):
        return read_lines(read_text(path, by_line=True), limit)
    if not path.endswith(ENDINGS):
        hint = "facts in a text are ev.mtl.facts_in(text)" if "@" in path else \
            f"known endings: {', '.join((*LINES, *ENDINGS))}"
        raise input_error("unknown-ending", "the ending does not say what the file is", path, hint=hint)
    return interval_facts(file_table(path, _TEXTS), name, unit, limit)


def _unread(facts: Facts, known: Collection[tuple[str, int]]) -> list[Diagnostic]:
    """Notes on facts that no rule reads: some of them are misspelt."""
    notes = []
    names = sorted({name for name, _ in known})
    for (name, arity), table in facts.tables.items():
        if (name, arity) not in known:
            source, line = table.place(0)
            hint = suggestion(name, names) if name not in names else next(
                f"the rules have {name}/{other}" for known_name, other in sorted(known) if known_name == name)
            message = f"no rule reads {name}/{arity}: {len(table)} fact{'' if len(table) == 1 else 's'}"
            notes.append(Diagnostic("info", "unread-facts", message, Span(source, line, 1, line, 2), hint))
    return notes
