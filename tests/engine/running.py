"""How the tests run programs: facts as plain tuples in, intervals by `fluent(args)=value` out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from tests.oracle.store import Fact

import eventide as ev
from eventide.formats.facts import Facts, FactTable, column_of

Timelines = dict[str, list[tuple[int, int | None]]]


def facts_of(facts: Iterable[tuple[Fact, int | None]]) -> Facts:
    """Plain facts with their arrivals (None: arrives when it occurs) as fact tables."""
    groups: dict[tuple[str, int], list[tuple[Fact, int | None]]] = {}
    for fact, arrival in facts:
        groups.setdefault((fact[1], len(fact[2])), []).append((fact, arrival))
    return Facts({key: _table(key[0], rows) for key, rows in groups.items()})


def _table(name: str, rows: Sequence[tuple[Fact, int | None]]) -> FactTable:
    kind = rows[0][0][0]
    facts = [fact for fact, _ in rows]
    args = tuple(column_of([fact[2][i] for fact in facts]) for i in range(len(facts[0][2])))
    times = [fact[3] if kind == "event" else fact[4] for fact in facts]
    arrival = [time if at is None else at for time, (_, at) in zip(times, rows, strict=True)]
    return FactTable(
        name, kind, np.array(times, np.int64), args,
        end=np.array([fact[5] for fact in facts], np.int64) if kind == "interval" else None,
        value=column_of([fact[3] for fact in facts]) if kind != "event" else None,
        arrival=np.array(arrival, np.int64))


def shown(rows: list[dict[str, object]]) -> tuple[Timelines, list[tuple[str, str, int]]]:
    """Result rows as timelines of fluents and a list of events."""
    fluents: Timelines = {}
    events = []
    for row in rows:
        args = str(row["args"]).replace("|", ",")
        if row["value"] == "":
            events.append((str(row["fluent"]), args, int(str(row["start"]))))
        else:
            fluents.setdefault(f"{row['fluent']}({args})={row['value']}", []).append((row["start"], row["end"]))  # type: ignore[arg-type]
    return fluents, events


def timelines(program: ev.Program, facts: Facts, **options: object) -> tuple[Timelines, list[tuple[str, str, int]]]:
    """The one-window answer of a program."""
    return shown(program.run(facts, **options).to_arrow().to_pylist())  # type: ignore[arg-type]


def answer(rules: str, *events: tuple[object, ...], **options: object) -> dict[str, list[tuple[int, int | None]]]:
    """The timelines of a program over events written as (name, arguments…, time).

    >>> answer("initiatedAt(on(X)=true, T) :- happensAt(go(X), T).", ("go", "ann", 5))
    {'on(ann)=true': [(6, None)]}
    """
    facts = facts_of((("event", name, tuple(args), time), None) for name, *args, time in events)  # type: ignore[misc]
    return timelines(ev.parse(rules), facts, **options)[0]
