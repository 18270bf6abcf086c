"""Every way to run a program, as entries of one table: from a case to what it says at which query times."""

from __future__ import annotations

import contextlib
import io
import json
import random
import re
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
import pyarrow as pa
from tests.engine.running import facts_of
from tests.oracle.sessions import Operation, time_points
from tests.oracle.store import Fact
from tests.spark.flows import streamed, units_of

import eventide as ev
from eventide.cli import follow
from eventide.engine.recognition import Settings
from eventide.formats import tail
from eventide.formats.facts import Facts, merged
from eventide.spark.batch import partitioning_of
from eventide.spark.flow import flow_of
from eventide.spark.parts import packed
from eventide.spark.tasks import Job

from .cases import Case, jsonl_of
from .programs import with_names
from .reference import Question, Reference, Rows, clipped, in_order

SAMPLED = 2
"""At how many query times before the last an answer is compared with the interpreter's."""


class Said(NamedTuple):
    """What a path said, and what it was asked; `window` if the answer is the part inside of the window. Questions and
    rows are those of the language."""

    question: Any
    rows: tuple[Any, ...]
    late: int | None = None
    window: tuple[int, int] | None = None


Run = Callable[[Case], Iterator[Said]]
RunMany = Callable[[Sequence[Case]], list[list[Said]]]


@dataclass(frozen=True)
class Path_:
    """A way to run programs: what it is in each language that has it."""

    name: str
    runs: dict[str, Run] = field(default_factory=dict)
    together: dict[str, RunMany] = field(default_factory=dict)
    """Many cases at once, where starting takes longer than running; with an error if one of them has one."""

    @property
    def slow(self) -> bool:
        """Whether it runs only where it is asked for."""
        return not self.runs


PATHS: dict[str, Path_] = {}


def path(language: str) -> Callable[[Run], Run]:
    """Enter a function in the table of paths: its name is that of the path."""
    def enter(function: Run) -> Run:
        PATHS.setdefault(function.__name__, Path_(function.__name__)).runs[language] = function
        return function
    return enter


def path_of_many(language: str) -> Callable[[RunMany], RunMany]:
    """The same for a function of many cases."""
    def enter(function: RunMany) -> RunMany:
        PATHS.setdefault(function.__name__, Path_(function.__name__)).together[language] = function
        return function
    return enter


@lru_cache(maxsize=4)
def parsed(text: str) -> ev.Program:
    """A program, which several paths use."""
    return ev.parse(text)


# -- what paths share --------------------------------------------------------------------------------------------------


def rows_of(table: Iterable[dict[str, Any]]) -> Rows:
    """Rows of the interface as `fluent(args)=value`, start, end."""
    return in_order((label(row), row["start"], row["end"]) for row in table)


def label(row: dict[str, Any]) -> str:
    args = str(row["args"]).replace("|", ",")
    value = f"={row['value']}" if row["value"] != "" else ""
    return f"{row['fluent']}({args}){value}" if args else f"{row['fluent']}{value}"


def tables_of(operations: Sequence[Operation]) -> Facts:
    """Operations as fact tables with arrivals and signs."""
    found = {}
    for key, table in facts_of((o.fact, o.arrival) for o in operations).tables.items():
        signs = [o.sign for o in operations if (o.fact[1], len(o.fact[2])) == key]
        found[key] = replace(table, op=np.array(signs, np.int8))
    return Facts(found)


def once(case: Case, ties: str | None = None) -> Question:
    """The answer over all facts at the end, whenever they came."""
    options = case.options
    return Question(None, (options.end,), options.end, options.start, ties or options.ties)


def net_facts(case: Case) -> Facts:
    """What is left of the facts in the end."""
    return facts_of((fact, None) for fact in once_facts(case))


def once_facts(case: Case) -> list[Fact]:
    """The same as plain facts."""
    return sorted(Reference(case).counted(once(case)).facts, key=repr)


def sampled(queries: Sequence[int], case: Case) -> list[int]:
    """The query times at which answers are compared: the last, and some before."""
    rng = random.Random(case.seed)
    earlier = sorted(set(queries[:-1]))
    return [*sorted(rng.sample(earlier, min(SAMPLED, len(earlier)))), queries[-1]]


def common(case: Case) -> dict[str, Any]:
    options = case.options
    return {"start": options.start, "tick": options.tick, "ties": options.ties, "initially_at": options.initially_at}


class Held:
    """What changes add up to."""

    def __init__(self) -> None:
        self.rows: set[tuple[Any, ...]] = set()

    def apply(self, removed: Rows, added: Rows) -> None:
        """Only what is there can go, and only what is not can come."""
        gone, come = set(removed), set(added)
        if len(gone) < len(removed) or len(come) < len(added):
            raise Inconsistent("a row came or went twice at one query time")
        if not gone <= self.rows:
            raise Inconsistent(f"went without having been there: {sorted(gone - self.rows, key=repr)}")
        if come & (self.rows - gone):
            raise Inconsistent(f"came although it was there: {sorted(come & self.rows, key=repr)}")
        self.rows = self.rows - gone | come

    @property
    def answer(self) -> Rows:
        return in_order(self.rows)


class Inconsistent(AssertionError):
    """What a path says contradicts itself."""


# -- one machine -------------------------------------------------------------------------------------------------------


@path("ec")
def one(case: Case) -> Iterator[Said]:
    """One window over everything."""
    result = parsed(case.text).run(net_facts(case), end=case.options.end, **common(case))
    yield Said(once(case), rows_of(result.to_arrow().to_pylist()))


def windowed(case: Case, window: int, step: int) -> tuple[int, ...] | None:
    """The query times of a run in windows; without a start they begin a tick before the first fact."""
    options = case.options
    first = options.start
    if first is None:
        times = [time_points(o.fact)[0] for o in case.operations]
        if not times:
            return None
        first = min(times) - options.tick
    if options.end < first:
        return None
    queries = [first + step]
    while queries[-1] < options.end:
        queries.append(queries[-1] + step)
    return tuple(queries)


@path("ec")
def windows(case: Case) -> Iterator[Said]:
    """Windows: the timeline at the end."""
    yield from in_windows(case, case.options.window, case.options.step)


@path("ec")
def steps(case: Case) -> Iterator[Said]:
    """Every time-point is a query time, in the window of the case."""
    yield from in_windows(case, case.options.window, case.options.tick)


def in_windows(case: Case, window: int, step: int) -> Iterator[Said]:
    options = case.options
    queries = windowed(case, window, step)
    if queries is None:
        return
    result = parsed(case.text).run(tables_of(case.operations), end=options.end, window=window, step=step,
                                     **common(case))
    question = Question(window, queries, queries[-1], options.start, options.ties, options.end)
    yield Said(question, rows_of(result.to_arrow().to_pylist()), result.counts.too_late)


@path("ec")
def shown(case: Case) -> Iterator[Said]:
    """Windows: what each of them shows."""
    options = case.options
    queries = windowed(case, options.window, options.step)
    if queries is None:
        return
    result = parsed(case.text).run(tables_of(case.operations), end=options.end, window=options.window,
                                     step=options.step, emit="windows", **common(case))
    table = result.to_arrow().to_pylist()
    for query in sampled(queries, case):
        question = Question(options.window, queries, query, options.start, options.ties, options.end)
        rows = rows_of(row for row in table if row["query_time"] == query)
        yield Said(question, rows, None, (query - options.window + 1, query + 1))


@path("ec")
def session(case: Case) -> Iterator[Said]:
    """A session in batches, saved and restored; its changes must add up."""
    options = case.options
    program = parsed(case.text)
    current = program.session(window=options.window, evaluation=options.evaluation, **common(case))  # type: ignore[call-overload]
    held, late, waiting = Held(), 0, list(case.operations)
    asked = sampled(options.queries, case)
    for place, query in enumerate(options.queries):
        until = options.queries[place + 1] if place + 1 < len(options.queries) else query
        batch = [o for o in waiting if o.arrival <= (until if early(o, waiting) else query)]
        waiting = [o for o in waiting if o not in batch]
        if batch:
            current.insert(tables_of(batch))
        if query in options.saves:
            current = ev.parse(case.text).restore(current.save())
        changes = current.advance(to=query)
        late += changes.late.num_rows
        held.apply(rows_of(changes.removed.to_pylist()), rows_of(changes.added.to_pylist()))
        last = place + 1 == len(options.queries) or options.queries[place + 1] > query
        if query in asked and last:
            question = Question(options.window, options.queries, query, options.start, options.ties)
            yield Said(question, held.answer, late)


def early(operation: Operation, others: Sequence[Operation]) -> bool:
    """Whether a session is given an operation a batch before it arrives; those that arrive together stay in order."""
    together = [o for o in others if o.arrival == operation.arrival and o.fact == operation.fact]
    return len(together) == 1 and zlib.crc32(repr(operation).encode()) % 4 == 0


@path("ec")
def followed(case: Case) -> Iterator[Said]:
    """`--follow`, as the command does it, from standard input."""
    options = case.options
    if options.start is None or not case.operations:
        return
    lines = sorted(case.operations, key=lambda o: o.arrival)
    news = max(max(o.arrival, *ends_of(o)) for o in lines)
    queries = []
    query = options.start + options.step
    while query < news + options.step:
        queries.append(query)
        query += options.step
    if not queries:
        return
    settings = Settings(options.window, options.step, options.start, None, options.tick, options.initially_at,
                        options.ties)
    with tempfile.TemporaryDirectory() as folder:
        source, out = Path(folder) / "in.jsonl", Path(folder) / "out.jsonl"
        source.write_text(jsonl_of(lines), encoding="utf-8")
        with (source.open() as stream, patch.object(sys, "stdin", stream),
              patch.object(tail, "_PIECE", options.pieces), contextlib.redirect_stderr(io.StringIO())):
            follow.Following(parsed(case.text), follow.Options(settings, "changes"), "-", out, None).run(0)
        told = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    held = Held()
    for query in queries:
        now = [row for row in told if row["query_time"] == query]
        held.apply(*(rows_of(row for row in now if row["change"] == sign) for sign in "-+"))
    last = Question(options.window, tuple(queries), queries[-1], options.start, options.ties)
    yield Said(last, held.answer)


def ends_of(operation: Operation) -> tuple[int, ...]:
    """The time of a fact, as a stream sees it."""
    return (time_points(operation.fact)[0],)


# -- Spark, without Spark ----------------------------------------------------------------------------------------------


@path("ec")
def buckets(case: Case) -> Iterator[Said]:
    """The stages of a batch on Spark, in this process."""
    options = case.options
    program = parsed(case.text)
    facts, start = net_facts(case), options.start
    if start is None:  # as a run on Spark does, before anything else
        start = min([options.end, *(time_points(fact)[0] for fact in once_facts(case))]) - options.tick
    job = Job(program, partitioning_of(program), options.buckets,
              Settings(None, None, start, options.end, options.tick, options.initially_at, options.ties))
    nothing = pa.record_batch([pa.array([0])], names=["id"])
    rows = list(parts(job.reading(iter([nothing]), lambda batch: facts)))
    rows += [(stage, bucket, b"") for stage in range(1, job.last + 1) for bucket in range(options.buckets)]
    for stage in range(1, job.last):
        now, rows = [row for row in rows if row[0] == stage], [row for row in rows if row[0] > stage]
        for bucket in range(options.buckets):
            rows += parts(job.staging((packed(*row) for row in now if row[1] == bucket), stage))
    found = []
    for bucket in range(options.buckets):  # results of earlier stages pass through the first
        given = [packed(*row) for row in rows if (row[1] if row[0] == job.last else 0) == bucket]
        found += [row for batch in job.finishing(iter(given)) for row in batch.to_pylist()]
    yield Said(once(case), rows_of(found))


def parts(batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[int, int, bytes]]:
    """Packed rows: stage, bucket, part."""
    for batch in batches:
        yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)


@path("ec")
def flow(case: Case) -> Iterator[Said]:
    """The buckets of a stream on Spark, in this process, with batches and restarts."""
    options = case.options
    if options.start is None or not case.operations:
        return
    program, rng = parsed(case.text), random.Random(case.seed)
    shared = flow_of(program, buckets=options.buckets, window=options.window, step=options.step, **common(case))
    lines = sorted(case.operations, key=lambda o: o.arrival)
    edges = sorted(rng.randrange(len(lines) + 1) for _ in range(rng.choice((0, 1, 4))))
    units = units_of([tables_of(lines[low:high]) for low, high in zip([0, *edges], [*edges, len(lines)], strict=True)])
    ends = sorted({rng.randrange(1, len(units) + 1) for _ in range(2)})
    batches = [units[low:high] for low, high in zip([0, *ends], [*ends, len(units)], strict=True)]
    found = streamed(shared, batches, lambda: rng.random() < 0.3, rng)
    queries, clock = [], lines[-1].arrival
    query = options.start + options.step
    while clock > query:
        queries.append(query)
        query += options.step
    if not queries:
        return
    held = Held()
    for query in queries:
        now = [dict(zip(("query_time", "change", "fluent", "args", "value", "start", "end"), row, strict=True))
               for row in found.rows if row[0] == query]
        held.apply(*(rows_of(row for row in now if row["change"] == sign) for sign in "-+"))
    yield Said(Question(options.window, tuple(queries), queries[-1], options.start, options.ties), held.answer,
               len(found.late))


# -- the same in other words -------------------------------------------------------------------------------------------


@path("ec")
def certain(case: Case) -> Iterator[Said]:
    """Probabilities: facts with 1, and among them others with 0."""
    options = case.options
    question = replace_ties(once(case))
    facts = net_facts(case)
    decoys = facts_of((shifted_fact(fact, 3 * options.tick), None) for fact, _ in case.facts)
    both = {}
    for key in {**facts.tables, **decoys.tables}:
        found = [replace(tables.tables[key], probability=np.full(len(tables.tables[key]), value), arrival=None)
                 for tables, value in ((facts, 1.0), (decoys, 0.0)) if key in tables.tables]
        both[key] = found
    tables = [Facts({key: found[place]}) for key, found in both.items() for place in range(len(found))]
    result = parsed(case.text).run(merged(tables), end=options.end, start=options.start, tick=options.tick,
                                   initially_at=options.initially_at, probabilistic=True)
    rows = [row for row in result.to_arrow().to_pylist() if row["probability"] > 0]
    if any(row["probability"] != 1 for row in rows):
        raise Inconsistent(f"a probability between 0 and 1: {[row for row in rows if row['probability'] != 1]}")
    yield Said(question, rows_of(rows))


def replace_ties(question: Question) -> Question:
    return replace(question, ties="initiation")


def shifted_fact(fact: Fact, by: int) -> Fact:
    """A fact at another time."""
    if fact[0] == "interval":
        return (*fact[:4], fact[4] + by, None if fact[5] is None else fact[5] + by)
    return (*fact[:-1], fact[-1] + by)  # type: ignore[return-value,operator]


@path("ec")
def permuted(case: Case) -> Iterator[Said]:
    """Facts and rules in another order."""
    rng = random.Random(case.seed)
    clauses, facts = list(case.clauses), [fact for fact in once_facts(case)]
    rng.shuffle(clauses)
    rng.shuffle(facts)
    program = ev.parse("\n".join(clauses))
    result = program.run(facts_of((fact, None) for fact in facts), end=case.options.end, **common(case))
    yield Said(once(case), rows_of(result.to_arrow().to_pylist()))


@path("ec")
def shifted(case: Case) -> Iterator[Said]:
    """Everything at another time; rules that compute with the time say something else then."""
    options = case.options
    if any(re.search(r"\bT (mod|>)|\+ T\b|[SE] (>=|=<|<|>) |, \d+\)", clause) for clause in case.clauses):
        return
    by = options.tick * random.Random(case.seed).choice((7, -50, 1_000_000, -3_000_000_000, 1_700_000_000_000))
    facts = facts_of((shifted_fact(fact, by), None) for fact in once_facts(case))
    start = None if options.start is None else options.start + by
    result = parsed(case.text).run(facts, end=options.end + by, start=start, tick=options.tick, ties=options.ties,
                                   initially_at=options.initially_at + by)
    rows = [{**row, "start": row["start"] - by, "end": None if row["end"] is None else row["end"] - by}
            for row in result.to_arrow().to_pylist()]
    yield Said(once(case), rows_of(rows))


@path("ec")
def renamed(case: Case) -> Iterator[Said]:
    """Predicates have other names."""
    facts = [(fact[0], with_names(fact[1], other_name), *fact[2:]) for fact in once_facts(case)]
    program = ev.parse(with_names(case.text, other_name))
    result = program.run(facts_of((fact, None) for fact in facts), end=case.options.end,  # type: ignore[misc]
                         **common(case))
    rows = [{**row, "fluent": first_name(row["fluent"])} for row in result.to_arrow().to_pylist()]
    yield Said(once(case), rows_of(rows))


def other_name(name: str) -> str:
    """Another name, which comes elsewhere in the order of names."""
    return f"q_{name[::-1]}"


def first_name(name: str) -> str:
    """The name that became this one."""
    return name[2:][::-1] if name.startswith("q_") else name


IRRELEVANT = """
initiatedAt(noise_a(X)=true, T) :- happensAt(noise_e(X, _), T), \\+ holdsAt(noise_b(X)=true, T).
terminatedAt(noise_a(X)=true, T) :- happensAt(noise_e(_, X), T).
initiatedAt(noise_b(X)=true, T) :- happensAt(noise_e(Y, X), T), holdsAt(noise_a(Y)=true, T).
holdsFor(noise_c(X)=true, I) :- holdsFor(noise_a(X)=true, I0), intDurGreater(I0, 3, I).
"""


@path("ec")
def among_others(case: Case) -> Iterator[Said]:
    """Rules and facts that have nothing to do with it are there too, about the same entities."""
    rng = random.Random(case.seed)
    facts = once_facts(case)
    known = sorted({arg for fact in facts for arg in fact[2]}, key=repr) or ["q"]
    noise: list[Fact] = [("event", "noise_e", (rng.choice(known), rng.choice(known)), rng.randrange(-20, 60))
                         for _ in range(12)]
    result = ev.parse(case.text + IRRELEVANT).run(facts_of((fact, None) for fact in [*facts, *noise]),
                                                  end=case.options.end, **common_with_start(case))
    rows = [row for row in result.to_arrow().to_pylist() if not row["fluent"].startswith("noise_")]
    yield Said(once(case), rows_of(rows))


def common_with_start(case: Case) -> dict[str, Any]:
    """The options of a run that begins where it would without further facts."""
    found = common(case)
    if found["start"] is None:
        found["start"] = min([0, *(time_points(o.fact)[0] for o in case.operations)]) - 100 * case.options.tick
    return found


def expected(said: Said, rows: Rows) -> Rows:
    """The answer to a question, in the form that was asked for."""
    return rows if said.window is None else clipped(rows, *said.window)
