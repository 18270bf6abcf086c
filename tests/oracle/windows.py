"""The answers of a program at each query time of a run with windows, whole and clipped to the window."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from eventide.syntax import trees

from .interpreter import Answer, evaluate
from .store import Fact, Ties
from .timeline import Grid


@dataclass(frozen=True)
class WindowAnswer:
    """The answer at a query time: `whole`, and `clipped` to `[q-window+1, q+1)` as RTEC prints it."""

    whole: Answer
    clipped: Answer


def query_times(start: int, end: int, step: int) -> list[int]:
    """`start+step`, `start+2*step`, … until the end is covered."""
    times = [start + step]
    while times[-1] < end:
        times.append(times[-1] + step)
    return times


def evaluate_windows(
    rules: Sequence[trees.Rule],
    facts: Iterable[tuple[Fact, int]],
    window: int,
    step: int,
    start: int,
    end: int,
    *,
    tick: int = 1,
    initially_at: int = 0,
    ties: Ties = "termination",
) -> dict[int, WindowAnswer]:
    """Per query time q the one-window answer over the facts, given with their arrivals, that have arrived by q.

    A fact is too late if its time has left the window at the first query time that sees it; an interval that
    straddles the window then counts with its part inside, and waits where that part begins after the query time.
    Facts that arrive after `end` are not read.
    """
    queries = query_times(start, end, step)
    accepted = [(kept, arrival) for fact, arrival in facts if arrival <= end
                for kept in on_time(fact, [q for q in queries if q >= arrival], window, start, Grid(tick))]
    answers = {}
    for query in queries:
        seen = [fact for fact, arrival in accepted if arrival <= query]
        whole = evaluate(rules, seen, start=start, until=query, tick=tick, initially_at=initially_at, ties=ties)
        answers[query] = WindowAnswer(whole, clip(whole, query, window))
    return answers


def on_time(fact: Fact, queries: Sequence[int], window: int, start: int, grid: Grid) -> list[Fact]:
    """What counts of a fact at the first query time that sees it: all, none, or the rest of an interval."""
    if fact[0] != "interval":
        return [fact] if fact[3 if fact[0] == "event" else 4] > queries[0] - window else []
    kind, name, args, value, first, end = fact
    for query in queries:
        forgotten = query - window
        begin = first if first > forgotten else int(grid.next(forgotten))
        if end is not None and begin >= end:
            return []
        if first > max(forgotten, start) or grid.next(max(forgotten, start)) <= query:
            return [(kind, name, args, value, begin, end)]
    return []


def clip(answer: Answer, query: int, window: int) -> Answer:
    """The part of an answer inside `[query-window+1, query+1)`; an open interval ends at `query+1`."""
    low, high = query - window + 1, query + 1
    fluents = {}
    for pair, periods in answer.fluents.items():
        cut = [(max(s, low), high if e is None else min(e, high)) for s, e in periods]
        kept: list[tuple[int, int | None]] = [(s, e) for s, e in cut if s < e]
        if kept:
            fluents[pair] = kept
    return Answer(fluents, [event for event in answer.events if low <= event[2] < high])
