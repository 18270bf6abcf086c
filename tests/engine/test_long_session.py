"""A session that goes on for long: what it holds does not grow, and its changes add up to the batch answer."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pyarrow as pa

import eventide as ev
from eventide.engine.session import Session
from eventide.formats.facts import Facts, chosen
from eventide.signals import disturbed

RULES = """
initiatedAt(moving(V)=true, T) :- happensAt(go(V), T).
terminatedAt(moving(V)=true, T) :- happensAt(halt(V), T).
initiatedAt(load(V)=full, T) :- happensAt(loaded(V), T), \\+ holdsAt(moving(V)=true, T).
initiatedAt(load(V)=empty, T) :- happensAt(unloaded(V), T).
initiatedAt(watched(V)=true, T) :- happensAt(start(load(V)=full), T).
fi(watched(V)=true, watched(V)=false, 15).
p(watched(V)=true).
holdsFor(carrying(V)=true, I) :-
    holdsFor(moving(V)=true, Moving), holdsFor(load(V)=full, Full), intersect_all([Moving, Full], I).
holdsFor(longHaul(V)=true, I) :- holdsFor(carrying(V)=true, Carrying), intDurGreater(Carrying, 8, I).
holdsFor(idle(V)=true, I) :-
    holdsFor(load(V)=empty, Empty), holdsFor(moving(V)=true, Moving), relative_complement_all(Empty, [Moving], I).
"""
STEP, WINDOW, STEPS, VEHICLES = 5, 60, 400, 2


def stream(program: ev.Program) -> Facts:
    """About one fact of each vehicle in a step; some come late, some are moved or taken back, all within the window."""
    rng = np.random.default_rng(1)
    number = STEPS * VEHICLES
    facts = program.read(pa.table({
        "time": np.sort(rng.integers(1, STEPS * STEP + 1, number)),
        "event": np.array(["go", "halt", "loaded", "unloaded"])[rng.integers(0, 4, number)],
        "vehicle": np.array([f"v{i}" for i in range(VEHICLES)])[rng.integers(0, VEHICLES, number)]}))
    facts = disturbed(facts, delayed=0.2, revised=0.05, retracted=0.05, unit=3)
    return replace(facts, tables={
        key: replace(table, arrival=np.minimum(table.arrival, table.time + WINDOW - 2 * STEP))
        for key, table in facts.tables.items()})


def held(session: Session) -> Counter[str]:
    """How many rows a session holds, by sort."""
    state = session._state
    saved = [part for s in state.saved.values() for part in (s.carry.points, s.carry.waiting, s.marks.points)]
    return Counter(
        facts=sum(len(kept.facts) for kept in state.inputs.values()),
        waiting=sum(len(batch) for kept in state.inputs.values() for batch in kept.waiting),
        intervals=sum(len(relation) for relation in state.relations.values()),
        points=sum(rows.length for rows in (*state.points.values(), *state.fired.values())),
        tables=sum(rows.length for rows in (*state.tables.values(), *state.settled.values())),
        saved=sum(len(part) for part in saved))


def rows_of(table: pa.Table) -> list[tuple[object, ...]]:
    return list(zip(*(table[name].to_pylist() for name in ("fluent", "args", "value", "start", "end")), strict=True))


def test_a_long_session_holds_no_more_than_a_short_one() -> None:
    program = ev.parse(RULES)
    facts = stream(program)
    session = program.session(window=WINDOW, start=0)
    found: Counter[tuple[object, ...]] = Counter()
    sizes: list[Counter[str]] = []
    for step in range(1, STEPS + 1):
        now = step * STEP
        session.insert(replace(facts, tables={
            key: chosen(table, (table.arrival > now - STEP) & (table.arrival <= now))
            for key, table in facts.tables.items()}))
        changes = session.advance(now)
        found.update(rows_of(changes.added))
        found.subtract(rows_of(changes.removed))
        sizes.append(held(session))
    assert session.counts.too_late == session.counts.unmatched == 0
    assert set(found.values()) <= {0, 1}
    expected = program.run(facts, start=0, end=STEPS * STEP).to_arrow()
    assert {row for row, times in found.items() if times} == set(rows_of(expected))
    for sort in sizes[0]:
        early, later = (max(s[sort] for s in part) for part in (sizes[30:STEPS // 2], sizes[STEPS // 2:]))
        assert later <= 1.2 * early + 5, sort
