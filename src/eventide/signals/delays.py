"""Delays, repetitions, revisions and retractions for facts and Arrow tables. What happens is in disturbance.py.

Every function takes the facts that a program reads (`program.read(…)`) or an Arrow table with a column `time`, and
gives back the same sort, its rows in order of arrival. Equal seeds give equal answers.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar, cast

import numpy as np
import pyarrow as pa

from eventide.errors import InputError
from eventide.formats.expected import Expected, TimeUnit
from eventide.formats.facts import Facts, FactTable, chosen
from eventide.formats.problems import SHOWN, input_error
from eventide.formats.sparse import Raw
from eventide.formats.table_files import arrow_table
from eventide.formats.tables import Table, table_facts
from eventide.formats.ticks import ticks_of
from eventide.signals.disturbance import Disturbance, Feed, summed

Stream = TypeVar("Stream")  # Facts, or a table of pyarrow, whose types are not known


def disturbed(
    facts: Stream, *, delayed: float = 0.0, retracted: float = 0.0, revised: float = 0.0, duplicated: float = 0.0,
    unit: int = 1, seed: int = 1, shape: float = 2.0, scale: float = 2.0, shift: int = 1,
    time_unit: TimeUnit | None = None,
) -> Stream:
    """The facts as a bad network brings them: shares are delayed, repeated, revised and retracted, in this order.

    Exactly the given shares (from 0 to 1, rounded) are chosen, uniformly and independently of each other. A delay is a
    draw of a Gamma distribution with `shape` and `scale` times `unit`, rounded up; it counts from when the fact would
    have arrived. A repetition, a revision and a retraction come such a delay after the last news of the fact. A
    revision retracts the fact and inserts it moved by 1 to `shift` times `unit` time-points; periods keep their length.
    A fact that is revised and retracted loses its revised form. Retractions among the given facts may be delayed like
    all rows, nothing else happens to them.

    >>> table = pa.table({"time": [1, 2, 3, 4], "event": ["go", "go", "stop", "go"]})
    >>> disturbed(table, delayed=0.5, unit=10, seed=3).select(["event", "time", "arrival"]).to_pylist()[2:]
    [{'event': 'go', 'time': 1, 'arrival': 22}, {'event': 'stop', 'time': 3, 'arrival': 32}]
    """
    disturbance = Disturbance(delayed=delayed, retracted=retracted, revised=revised, duplicated=duplicated, unit=unit,
                              seed=seed, shape=shape, scale=scale, shift=shift)
    if isinstance(facts, Facts):
        return cast(Stream, _disturbed_facts(facts, disturbance))
    if isinstance(facts, pa.Table):
        return cast(Stream, disturbed_table(plain_table(arrow_table(facts, "<table>"), time_unit), disturbance))
    raise InputError(f"cannot disturb a {type(facts).__name__}; expected facts or a pyarrow table")


def delayed(facts: Stream, share: float, unit: int = 1, seed: int = 1, **options: Any) -> Stream:
    """The facts with a share of them late; `options` as of `disturbed`.

    >>> events = pa.table({"time": [1, 5, 9, 12], "who": ["ann", "bob", "cid", "dot"]})
    >>> late = delayed(events, 0.5, unit=3)
    >>> late["arrival"].to_pylist(), late["who"].to_pylist()
    ([1, 12, 12, 23], ['ann', 'cid', 'dot', 'bob'])
    """
    return disturbed(facts, delayed=share, unit=unit, seed=seed, **options)


def retracted(facts: Stream, share: float, unit: int = 1, seed: int = 1, **options: Any) -> Stream:
    """The facts, a share of them retracted later; `options` as of `disturbed`.

    >>> events = pa.table({"time": [1, 5, 9, 12], "who": ["ann", "bob", "cid", "dot"]})
    >>> retracted(events, 0.25)["op"].to_pylist()
    ['+', '+', '+', '-', '+']
    """
    return disturbed(facts, retracted=share, unit=unit, seed=seed, **options)


def revised(facts: Stream, share: float, unit: int = 1, seed: int = 1, **options: Any) -> Stream:
    """The facts, a share of them later replaced by ones at another time; `options` as of `disturbed`.

    >>> events = pa.table({"time": [1, 5, 9, 12], "who": ["ann", "bob", "cid", "dot"]})
    >>> revised(events, 0.25).slice(4).select(["time", "op", "who"]).to_pylist()
    [{'time': 9, 'op': '-', 'who': 'cid'}, {'time': 8, 'op': '+', 'who': 'cid'}]
    """
    return disturbed(facts, revised=share, unit=unit, seed=seed, **options)


def duplicated(facts: Stream, share: float, seed: int = 1, unit: int = 1, **options: Any) -> Stream:
    """The facts, a share of them arriving once more; `options` as of `disturbed`.

    >>> events = pa.table({"time": [1, 5, 9, 12], "who": ["ann", "bob", "cid", "dot"]})
    >>> duplicated(events, 0.25)["who"].to_pylist()
    ['ann', 'bob', 'cid', 'dot', 'cid']
    """
    return disturbed(facts, duplicated=share, unit=unit, seed=seed, **options)


def _disturbed_facts(facts: Facts, disturbance: Disturbance) -> Facts:
    """The choice is over the facts of all tables together."""
    tables = list(facts)
    if not tables:
        return facts
    feed = disturbance.of(Feed.of(
        np.concatenate([t.time for t in tables]),
        np.concatenate([t.time if t.arrival is None else t.arrival for t in tables]),
        np.concatenate([np.ones(len(t), np.int8) if t.op is None else t.op for t in tables]),
    ))
    owner = np.repeat(np.arange(len(tables)), [len(t) for t in tables])[feed.fact]
    first = np.cumsum([0, *(len(t) for t in tables)])
    found = {}
    for number, (key, table) in enumerate(facts.tables.items()):
        rows = owner == number
        found[key] = _rows_of(table, replace(feed, fact=feed.fact[rows] - first[number], moved=feed.moved[rows],
                                             arrival=feed.arrival[rows], op=feed.op[rows]))
    return replace(facts, tables=found)


def _rows_of(table: FactTable, feed: Feed) -> FactTable:
    taken = chosen(table, feed.fact)
    return replace(
        taken, time=summed(taken.time, feed.moved), end=None if taken.end is None else summed(taken.end, feed.moved),
        arrival=feed.arrival, op=None if table.op is None and (feed.op > 0).all() else feed.op,
        origins=((table.source, 0),) if table.origins else (),
    )


def plain_table(table: Table, time_unit: TimeUnit | None = None) -> pa.Table:
    """A table of facts with whole numbers as times and, where it has the column, `+` and `-` as `op`.

    A column `end` of whole numbers is the end of periods. InputError names the rows whose times or operations are none.
    """
    known = {name: raw for name, raw in table.columns.items() if name in ("time", "arrival", "op")}
    checked = replace(table, columns=known if "time" in known else table.columns)
    facts = table_facts(checked, Expected(lambda name: "event", time_unit=time_unit), "fact", SHOWN)
    if facts.bad_count:
        problems = [row.diagnostic for row in facts.bad]
        raise InputError("\n".join(problem.render() for problem in problems), problems)
    read = facts.tables.get(("fact", 0), FactTable("fact", "event", np.zeros(0, np.int64)))
    columns = {"time": pa.array(read.time)}
    if read.arrival is not None:
        columns["arrival"] = pa.array(read.arrival)
    if read.op is not None:
        columns["op"] = _signs(read.op)
    for name, raw in table.columns.items():
        if name not in known:
            columns[name] = _array(table.source, name, raw)
    if "end" in columns:
        ends = ticks_of(columns["end"], time_unit)
        if not ends.wrong:
            columns["end"] = pa.array(ends.values, mask=ends.missing)
    return pa.table(columns)


def disturbed_table(table: pa.Table, disturbance: Disturbance) -> pa.Table:
    """A plain table disturbed: its rows in order of arrival, with the columns `arrival` and, where needed, `op`."""
    times = table["time"].to_numpy()
    arrival = table["arrival"].to_numpy() if "arrival" in table.column_names else None
    op = None
    if "op" in table.column_names:
        op = np.where(np.asarray(table["op"].to_numpy(zero_copy_only=False) == "+"), 1, -1).astype(np.int8)
    feed = disturbance.of(Feed.of(times, arrival, op))
    taken = table.take(pa.array(feed.fact))
    columns = {"time": pa.array(summed(times[feed.fact], feed.moved)), "arrival": pa.array(feed.arrival)}
    if op is not None or (feed.op < 0).any():
        columns["op"] = _signs(feed.op)
    columns |= {name: taken[name] for name in table.column_names if name not in ("time", "arrival", "op")}
    if "end" in columns and columns["end"].type == pa.int64():
        missing = columns["end"].is_null().to_numpy(zero_copy_only=False)
        ends = columns["end"].fill_null(0).to_numpy()
        columns["end"] = pa.array(summed(ends, feed.moved), mask=missing)
    return pa.table(columns)


def _signs(op: Any) -> pa.Array:
    return pa.DictionaryArray.from_arrays(pa.array((op < 0).astype(np.int8)), pa.array(["+", "-"])).dictionary_decode()


def _array(source: str, name: str, raw: Raw) -> pa.Array:
    if not isinstance(raw, list):
        return raw
    try:
        return pa.array(raw)
    except (pa.ArrowException, OverflowError) as error:
        hint = "write all values of a column as numbers of 64 bits, or all as text"
        raise input_error("mixed-column", f"the values of column {name} have no common type", source, hint=hint
                          ) from error
