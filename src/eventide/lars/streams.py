"""LARS streams: `.jsonl` files of `{"time": t, "facts": [...]}`, lists of them, and the usual tables, as Facts.

Facts of predicates that a program does not read are kept: windows of tuples count them. Within a time-point facts
arrive in the order in which they stand in their file, and files in the order in which they are given.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from eventide.engine.loading import NEVER, without_retractions
from eventide.errors import InputError
from eventide.formats import facts_from
from eventide.formats.facts import BadRow, Facts, FactTable, Ints, Value, chosen, column_of, column_values, merged
from eventide.formats.files import Text, read_text
from eventide.formats.problems import BadRows, diagnostic, input_error, printable, settled
from eventide.formats.unreadable import problem_of
from eventide.syntax.diagnostics import Diagnostic, Span
from eventide.syntax.lars import parse
from eventide.syntax.terms import Atom, Number, arguments_of, functor_of

_PLAIN = re.compile(r"\s*([a-z]\w*)\s*(?:\((.*)\))?\s*\.?\s*\Z", re.ASCII)
_ARGUMENT = re.compile(r"\s*(?:(-?[0-9]{1,18})|([a-z]\w*)|\"([^\"\\\n]*)\")\s*(,|\Z)", re.ASCII)
LATEST = 2**62
LISTED = "<stream>"
"""The source of facts that were given as a list."""
MOST_ARGUMENTS = 64


def read(events: object, *, bad_rows: BadRows = "fail", bad_file: str | os.PathLike[str] | None = None,
         **options: Any) -> Facts:
    """The facts of streams and tables; `options` say how tables are read.

    >>> facts = read([(1, ["p(a)", "s"]), (4, ["p(b)"])])
    >>> {key: table.time.tolist() for key, table in facts.tables.items()}
    {('p', 1): [1, 4], ('s', 0): [1]}
    """
    for name in options:
        if name not in ("column_types", "time_unit"):
            windows = ": the windows stand in the rules" if name in ("window", "step") else ""
            raise InputError(f"LARS has no option {name}{windows}")
    if isinstance(events, Facts):
        return events
    sources = list(events) if isinstance(events, list | tuple) and not _is_stream(events) else [events]
    parts = []
    for source in sources:
        if _is_stream(source):
            parts.append(_of_items(((i, item) for i, item in enumerate(source, 1)), LISTED))  # type: ignore[arg-type]
        elif isinstance(source, str | os.PathLike) and (text := _stream_text(os.fspath(source))) is not None:
            parts.append(_of_items(_lines(text), text.source, text.broken))
        else:
            parts.append(facts_from(source, lambda name: "event", arities=lambda name: range(MOST_ARGUMENTS),
                                    bad_rows="skip", **options))
    return settled(_from_zero_on(_as_if_on_time(merged(parts))), bad_rows, bad_file)


def arrival_numbers(facts: Facts) -> dict[tuple[str, int], Ints]:
    """When each fact arrives among all of them: by time, then by source, then by place in the source. Counts from 0.

    >>> facts = read([(1, ["p(a)", "s", "p(b)"]), (0, ["s"])])
    >>> {key: numbers.tolist() for key, numbers in arrival_numbers(facts).items()}
    {('p', 1): [1, 3], ('s', 0): [2, 0]}
    """
    tables = facts.tables
    sources: dict[str, int] = {}
    time, source, row = [], [], []
    for table in tables.values():
        time.append(table.time)
        ranks = np.zeros(len(table), np.int64)
        for name, first in table.origins:
            ranks[first:] = sources.setdefault(name, len(sources))
        source.append(ranks)
        row.append(np.arange(len(table)) if table.rows is None else table.rows)
    if not time:
        return {}
    order = np.lexsort([np.concatenate(row), np.concatenate(source), np.concatenate(time)])
    numbers = np.empty(len(order), np.int64)
    numbers[order] = np.arange(len(order))
    ends = np.cumsum([len(table) for table in tables.values()]).tolist()
    return {key: numbers[end - len(table):end] for (key, table), end in zip(tables.items(), ends, strict=True)}


def in_order(facts: Facts) -> Iterator[tuple[int, str, tuple[Value, ...]]]:
    """The facts one by one in order of arrival: time, predicate, arguments."""
    found: list[tuple[int, int, str, tuple[Value, ...]]] = []
    for key, numbers in arrival_numbers(facts).items():
        table = facts.tables[key]
        args = [column_values(column) for column in table.args]
        rows = zip(*args, strict=True) if args else [()] * len(table)
        found.extend(zip(numbers.tolist(), table.time.tolist(), [table.name] * len(table), rows, strict=True))
    found.sort(key=lambda fact: fact[0])
    for _, time, name, row in found:
        yield time, name, row


def lines_of(source: str) -> dict[int, list[tuple[int, Sequence[str]]]] | None:
    """The lines of a file of time-points, each with its facts, by time; None for all other sources."""
    text = _stream_text(source) if os.path.exists(source) else None
    if text is None:
        return None
    found: dict[int, list[tuple[int, Sequence[str]]]] = {}
    for line, item in _lines(text):
        entry = _entry(item)
        if entry is not None:
            found.setdefault(entry[0], []).append((line, entry[1]))
    return found


def fact_of(text: str) -> tuple[str, tuple[Value, ...]] | None:
    """A fact as its name and arguments; None if the text is none.

    >>> fact_of('speed("StreetA", 9)'), fact_of("s"), fact_of("p(X)")
    (('speed', ('StreetA', 9)), ('s', ()), None)
    """
    plain = _PLAIN.match(text)
    if plain is not None:
        args = () if plain[2] is None else _plain_arguments(plain[2])
        if args is not None:
            return plain[1], args
    parsed = parse(text.rstrip().rstrip(".") + ".")
    if parsed.diagnostics or parsed.tree.rules or len(parsed.tree.facts) != 1:
        return None
    (atom,) = parsed.tree.facts
    values = tuple(arg.value if isinstance(arg, Number) else arg.name for arg in arguments_of(atom)
                   if isinstance(arg, Number | Atom))
    return functor_of(atom)[0], values


def _plain_arguments(text: str) -> tuple[Value, ...] | None:
    """Whole numbers, words and quoted words, which most facts have; None for whatever needs the reader of programs."""
    values: list[Value] = []
    at = 0
    while True:
        found = _ARGUMENT.match(text, at)
        if found is None:
            return None
        number, word, quoted, more = found.groups()
        values.append(int(number) if number is not None else word if word is not None else quoted)
        if not more:
            return tuple(values)
        at = found.end()


def _is_stream(source: object) -> bool:
    """Whether a list is a stream: pairs of a time and facts, or objects with both."""
    if not isinstance(source, list | tuple) or not source:
        return isinstance(source, list) and not source
    first = source[0]
    if isinstance(first, Mapping):
        return "time" in first and "facts" in first
    return isinstance(first, list | tuple) and len(first) == 2 and isinstance(first[0], int)


def _stream_text(path: str) -> Text | None:
    """The text of a `.jsonl` file if its first line is a time-point with facts, None for every other file."""
    if not path.removesuffix(".gz").endswith(".jsonl") or ("=" in path and not os.path.exists(path)):
        return None
    text = read_text(path, by_line=True)
    try:
        first = json.loads(text.first_line() or "{}")
    except ValueError:
        return None
    return text if isinstance(first, dict) and "facts" in first and "time" in first else None


def _lines(text: Text) -> Iterator[tuple[int, object]]:
    for number, line in enumerate(text.piece(text.start, text.stop).split("\n"), 1):
        if line.strip():
            try:
                yield number, json.loads(line)
            except ValueError:
                yield number, line


def _of_items(items: Iterable[tuple[int, object]], source: str, broken: Iterable[BadRow] = ()) -> Facts:
    """The facts of time-points, in order; a fact that stands twice at one time-point counts once."""
    times: dict[tuple[str, int], list[int]] = {}
    rows: dict[tuple[str, int], list[int]] = {}
    columns: dict[tuple[str, int], list[tuple[Value, ...]]] = {}
    known: dict[str, tuple[str, tuple[Value, ...]] | None] = {}
    bad = list(broken)
    seen: set[tuple[int, str]] = set()
    count = 0
    for line, item in items:
        entry = _entry(item)
        if entry is None:
            bad.append(BadRow(diagnostic("bad-time-point", "not a time-point with facts", source, line,
                                         hint='write {"time": 3, "facts": ["p(a)", "s"]}'), str(item)))
            continue
        time, texts = entry
        if time < 0:
            bad.append(BadRow(diagnostic("negative-time", f"the time is {time}; LARS begins at 0", source, line,
                                         hint="add the same number to all times"), str(item)))
            continue
        for text in texts:
            if isinstance(text, str) and text not in known:
                known[text] = fact_of(text)
            fact = known[text] if isinstance(text, str) else None
            values = () if fact is None else fact[1]
            problem = next((each for value in values if (each := problem_of(value)) is not None), None)
            if problem is not None:
                bad.append(BadRow(diagnostic(problem.code, f"a value is {problem.message}", source, line,
                                             hint=problem.hint), printable(str(item))))
            elif fact is None:
                bad.append(BadRow(diagnostic("bad-fact", f"{text!r} is no fact", source, line,
                                             hint="a fact is a name with values: p(a,3) or street(\"High Street\")"),
                                  printable(str(item))))
            elif (time, text) not in seen:
                seen.add((time, text))
                key = fact[0], len(fact[1])
                count += 1
                times.setdefault(key, []).append(time)
                rows.setdefault(key, []).append(count)
                columns.setdefault(key, []).append(fact[1])
    tables = {}
    for key, found in times.items():
        args = tuple(column_of(column) for column in zip(*columns[key], strict=True)) if key[1] else ()
        tables[key] = FactTable(key[0], "event", np.array(found, np.int64), args,
                                rows=np.array(rows[key], np.int64), origins=((source, 0),))
    return Facts(tables, tuple(bad), len(bad), count + len(bad))


def _entry(item: object) -> tuple[int, Sequence[str]] | None:
    if isinstance(item, Mapping):
        item = (item.get("time"), item.get("facts"))
    if not isinstance(item, list | tuple) or len(item) != 2:
        return None
    time, texts = item
    whole = isinstance(time, int) and not isinstance(time, bool) and abs(time) < LATEST
    return (time, texts) if whole and isinstance(texts, list | tuple) else None


def _as_if_on_time(facts: Facts) -> Facts:
    """Facts that are not taken back, each counted when it occurs; what is not used of them is noted."""
    notes = list(facts.notes)
    for column, meaning in (("arrival", "when facts arrive: each counts when it occurs"),
                            ("probability", "the probabilities of facts: they are certain")):
        table = next((table for table in facts if getattr(table, column) is not None), None)
        if table is not None:
            notes.append(Diagnostic("info", f"{column}-unused", f"LARS does not use {meaning}",
                                    Span(table.source, 1, 1, 1, 2)))
    tables = {}
    for key, table in facts.tables.items():
        if table.op is not None:
            inserted, removed, _ = without_retractions(table)
            table = chosen(inserted, np.flatnonzero(removed == NEVER))
        tables[key] = replace(table, arrival=None, probability=None, op=None)
    return replace(facts, tables=tables, notes=tuple(notes))


def _from_zero_on(facts: Facts) -> Facts:
    """The same facts; time begins at 0, and an earlier one is an error."""
    for table in facts:
        if len(table) and int(table.time.min()) < 0:
            row = int(np.argmin(table.time))
            source, line = table.place(row)
            raise input_error("negative-time", f"{table.name} has the time {int(table.time[row])}; LARS begins at 0",
                              source, max(line, 1), hint="add the same number to all times")
    return facts
