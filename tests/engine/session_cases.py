"""Random sessions: programs of every family, and streams of insertions and retractions in batches with query times."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import accumulate, groupby, pairwise
from typing import Any, NamedTuple, Protocol

import numpy as np
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy
from tests.engine.running import facts_of
from tests.oracle.programs import (
    COMPLEMENT,
    DURATION,
    ENTITIES,
    FAMILIES,
    UNION,
    Case,
    Fluent,
    Sketch,
    arrivals,
    sketch,
)
from tests.oracle.sessions import Operation, time_points
from tests.oracle.store import Fact

from eventide.engine.relation import first_point
from eventide.formats.facts import Facts

MOST_FACTS = 24


class Step(NamedTuple):
    """Operations that are given to a session, and the query time it then advances to."""

    operations: tuple[Operation, ...]
    query: int


@dataclass(frozen=True)
class SessionCase:
    """A program, the options of its session, and the steps of the session.

    `with_arrivals`: the facts say when they arrive; otherwise that is when they are given.
    `signed`: a batch says by its column `op` what is retracted; otherwise `insert` and `retract` are called in turn.
    """

    text: str
    options: dict[str, Any]
    steps: tuple[Step, ...]
    with_arrivals: bool = True
    signed: bool = False


class Receiver(Protocol):
    """What takes facts in."""

    def insert(self, batch: Facts) -> None: ...

    def retract(self, batch: Facts) -> None: ...


def give(session: Receiver, case: SessionCase, operations: tuple[Operation, ...]) -> None:
    """Hand operations to a session in the way the case asks for."""
    if case.signed:
        session.insert(batch_of(case, operations))
        return
    for sign, group in groupby(operations, key=lambda o: o.sign):
        (session.insert if sign > 0 else session.retract)(batch_of(case, tuple(group)))


def batch_of(case: SessionCase, operations: tuple[Operation, ...]) -> Facts:
    """Operations as fact tables, with the columns `arrival` and `op` where the case has them."""
    tables = {}
    for key, table in facts_of((o.fact, o.arrival) for o in operations).tables.items():
        signs = [o.sign for o in operations if (o.fact[1], len(o.fact[2])) == key]
        tables[key] = replace(table, arrival=table.arrival if case.with_arrivals else None,
                              op=np.array(signs, np.int8) if case.signed else None)
    return Facts(tables)


# Programs


class DynamicSketch(Sketch):
    """A program whose domain only some of its inputs fill."""

    def declarations(self, text: str) -> str:
        lines = super().declarations(text).splitlines(keepends=True)
        filling = [line for line in lines if line.startswith("grounding")]
        left_out = self.draw(st.sets(st.sampled_from(filling), max_size=len(filling) - 1)) if filling else set()
        return "".join(line for line in lines if line not in left_out)


@st.composite
def domains(draw: DrawFn) -> Case:
    """A dynamic domain with `initially` and complements over it, and entities that appear late."""
    program = DynamicSketch(draw, draw(st.sampled_from((1, 1, 5))), "dynamic")
    for _ in range(draw(st.integers(1, 2))):
        program.simple()
    if program.chance():
        program.located()
    for _ in range(draw(st.integers(1, 2))):
        program.static(COMPLEMENT + UNION[:3])
    if program.chance():
        program.simple()
    case = program.finish()
    first_seen = {entity: draw(st.sampled_from((0, 10, 25))) for entity in ENTITIES}
    return case._replace(facts=[fact for fact in case.facts
                                if time_points(fact)[0] >= max(first_seen.get(arg, 0) for arg in fact[2])])


@st.composite
def inputs(draw: DrawFn) -> Case:
    """Interval inputs and point fluents: as conditions, by their starts and ends, and in interval operations."""
    program = sketch(draw)
    program.fluents += [Fluent(name, 1, ("true",), False) for name in ("in1", "in2", "pt")]
    for _ in range(draw(st.integers(0, 2))):
        program.simple()
    for _ in range(draw(st.integers(0, 2))):
        program.static(UNION + DURATION + (COMPLEMENT if program.domain else []))
    program.static_pair()
    return program.finish()


SESSION_FAMILIES: dict[str, SearchStrategy[Case]] = FAMILIES | {"domains": domains(), "inputs": inputs()}

# Streams

HISTORIES = {"once": "+", "twice": "++", "retracted": "+-", "revised": "+r", "back": "+-+", "never": "-",
             "unknown": "-+", "again": "+--"}
"""What happens to a fact in turn; `r` retracts it and inserts a changed one."""
LIKELY = [*(["once"] * 5), *HISTORIES, "retracted", "revised"]


def options_of(case: Case, window: int | None, first_query: int) -> SearchStrategy[dict[str, Any]]:
    """The options of a session. Initial values begin at or before its first query time."""
    middle = max(0, case.start + first_query) // 2 // case.tick * case.tick
    return st.fixed_dictionaries({"window": st.just(window), "start": st.just(case.start), "tick": st.just(case.tick),
                                  "initially_at": st.sampled_from((0, 0, middle)),
                                  "ties": st.sampled_from(("termination", "termination", "initiation"))})


@st.composite
def session_cases(draw: DrawFn, family: str | SearchStrategy[Case]) -> SessionCase:
    """Facts that come late, too late, twice or too early, are revised or retracted; any window, any query times."""
    case = draw(SESSION_FAMILIES[family] if isinstance(family, str) else family)
    aligned = st.integers(1, 6).map(lambda k: 5 * k * case.tick)
    window = draw(st.one_of(aligned, st.integers(1, 30), aligned, st.integers(1, 30), st.none()))
    queries = draw(query_times(case, window))
    given: list[list[Operation]] = [[] for _ in queries]
    for fact in case.facts[:MOST_FACTS]:
        moments = st.sampled_from(arrivals_of(fact, window, queries))
        delays = st.sampled_from((0, 0, 0, 0, 1, -1))
        for sign in HISTORIES[draw(st.sampled_from(LIKELY))]:
            arrival = draw(moments)
            natural = next((i for i, query in enumerate(queries) if query >= arrival), len(queries) - 1)
            batch = given[min(max(natural + draw(delays), 0), len(queries) - 1)]
            batch.append(Operation(fact, arrival, 1 if sign == "+" else -1))
            if sign == "r":
                batch.append(Operation(draw(st.sampled_from(changed(fact, case.tick))), arrival, 1))
    steps = tuple(Step(tuple(operations), query) for operations, query in zip(given, queries, strict=True))
    options = draw(options_of(case, window, queries[0]))
    return SessionCase(f"{case.text}\n{case.background}", options, steps, draw(st.booleans()), draw(st.booleans()))


@st.composite
def query_times(draw: DrawFn, case: Case, window: int | None) -> list[int]:
    """Up to six query times: a step below, at or above the window; or irregular, also the same time twice."""
    if draw(st.booleans()):
        step = draw(st.sampled_from((4, 8, 12, window or 16, (window or 8) + 4)))
        steps = [max(step, case.tick)] * draw(st.integers(2, 6))
    else:
        first = draw(st.integers(case.tick, 16))
        steps = [first, *draw(st.lists(st.sampled_from((0, 1, 3, 5, 8, 10, 15)), min_size=1, max_size=5))]
    return list(accumulate(steps, initial=case.start))[1:]


def arrivals_of(fact: Fact, window: int | None, queries: list[int]) -> list[int]:
    """Arrivals on time, early and late, and those that put the fact on the edges of the window."""
    points = time_points(fact)
    first, last = points[0], points[-1]
    seen = [query for query in queries if query >= first]
    edges = [] if window is None else [
        *[query for query in seen if last > query - window][-1:],
        *[query for query in seen if last <= query - window][:1],
        *[query for query in seen if first <= query - window < last][:1],
    ]
    return [first, first, first + 2, first + 9, first - 3, *edges]


def changed(fact: Fact, tick: int) -> list[Fact]:
    """Revisions of a fact: another entity, another time, another end."""
    kind, name, args, *rest = fact
    other = ENTITIES[(ENTITIES.index(args[0]) + 1) % len(ENTITIES)]
    revisions = [(kind, name, (other, *args[1:]), *rest), (*fact[:-1], fact[-1] + tick)]
    if kind == "interval":
        revisions.append((*fact[:-2], fact[-2] - tick, fact[-1]))
    return revisions


@st.composite
def regular_cases(draw: DrawFn, family: str, timely: bool) -> SessionCase:
    """Facts that are only inserted, at query times with one step; `timely`: while they are inside the window."""
    case = draw(SESSION_FAMILIES[family])
    window = draw(st.integers(1, 6)) * 5 * case.tick
    step = min(window, draw(st.integers(1, 4)) * 4 * case.tick)
    queries = [case.start + step * (i + 1) for i in range(draw(st.integers(2, 6)))]
    facts = case.facts[:MOST_FACTS]
    if timely:
        first = first_point(case.start + 1, case.tick)
        # of others no time-point is inside
        facts = [fact for fact in facts if fact[0] != "interval" or fact[5] is None or fact[5] > first]
        timed = draw(arrivals(facts, window, step, case.start))
    else:
        timed = [(fact, draw(st.sampled_from(arrivals_of(fact, window, queries)))) for fact in facts]
    edges = [min([case.start, *(arrival - 1 for _, arrival in timed)]), *queries]
    steps = tuple(
        Step(tuple(Operation(fact, arrival, 1) for fact, arrival in timed if before < arrival <= query), query)
        for before, query in pairwise(edges))
    return SessionCase(f"{case.text}\n{case.background}", draw(options_of(case, window, queries[0])), steps)
