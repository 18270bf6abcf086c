"""What keeping answers up to date costs when facts come late, against computing every window anew.

Generated maritime and fleet streams, a share of the facts delayed by Gamma(2, 2) with a mean of 8 steps, windows of 1
to 16 steps. All times are CPU times of one step, the median over the same steps, measured in turn:

* session: `advance` in a session whose window is full; handing in the facts of the step is measured apart.
* A: from scratch, from the window's facts in order of arrival: coding and sorting them, and reasoning about everything
  in the window with what is carried into it, as RTEC does. Without what is carried in, the answers would be others.
* B: the same reasoning on facts that are coded and sorted already; new facts are merged in, as every method must.

The reasoning of both is that of a session that always computes everything. Nothing makes tables of the answers. The
shares of A count handing in, since A codes its facts too; those of B do not. Not measured: reading files, many cores.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import TypeVar

import numpy as np
import pyarrow as pa

import eventide as ev
from _claims import Claim, claim, show
from eventide.applications import APPLICATIONS
from eventide.applications.fleet import generator as fleet
from eventide.applications.maritime import generator as maritime
from eventide.applications.streams import Stream, stack
from eventide.engine.incremental import Evaluation
from eventide.engine.recognition import Settings
from eventide.engine.retained import Retained
from eventide.engine.session import Session
from eventide.formats.facts import Coded, Column, Facts, FactTable, chosen
from eventide.signals import delayed

WINDOWS, SHARES, TOUCHED = (1, 2, 4, 8, 16), (5, 10, 20, 40, 80), (1, 5, 25)
WARM, MEASURED = 4, 7
# the time that the generator covers, steps in that time, facts per step:
# in 16 steps 1.4 million facts, as of all European seas in 16 hours; 50 of a vessel, 170 of a vehicle, as in the paper
STREAMS = {"maritime": (maritime.HORIZON, 80, 88_000), "fleet": (fleet.HORIZON, 16, 90_000)}
ENTITIES = {"proximity": 2}  # how many of the first arguments are entities, if not one
HOUR = 3600
Value = TypeVar("Value")


def generated(name: str, entities: int, until: int) -> Stream:
    """A stream of an application that goes on until a time: what the generator makes, several times in succession."""
    horizon = STREAMS[name][0]
    parts = [moved(APPLICATIONS[name].generate(entities, seed=1 + turn), turn * horizon)
             for turn in range(-(-until // horizon))]
    whole = {event: stack([part[event] for part in parts]) for event in parts[0]}
    return {event: {column: values[columns["arrival"] <= until] for column, values in columns.items()}
            for event, columns in whole.items()}


def tables_of(stream: Stream) -> dict[str, pa.Table]:
    """The stream as a program reads it from memory: what has a start and an end has its start as time."""
    return {event: pa.table({"time" if name == "start" else name: values for name, values in columns.items()})
            for event, columns in stream.items()}


def moved(stream: Stream, by: int) -> Stream:
    """The stream at another time."""
    times = ("arrival", "time", "start", "end")
    return {event: {name: values + by if name in times else values for name, values in columns.items()}
            for event, columns in stream.items()}


def program_of(name: str, entities: int) -> ev.Program:
    """An application's rules with the background of so many entities."""
    tables = {table: pa.table(dict(columns)) for table, columns in APPLICATIONS[name].background(entities).items()}
    return ev.load(APPLICATIONS[name].rules, background=[tables])


@dataclass(frozen=True)
class Feed:
    """A program, its facts in order of arrival, and the length of a step."""

    program: ev.Program
    facts: Facts
    step: int

    @staticmethod
    def of(name: str, scale: float, steps: int) -> Feed:
        """A stream of so many steps; every fact arrives when it is known."""
        horizon, turns, facts = STREAMS[name]
        entities = APPLICATIONS[name].entities_for(round(facts * turns * scale))
        stream = generated(name, entities, steps * horizon // turns)
        program = program_of(name, entities)
        return Feed(program, program.read(tables_of(stream)), horizon // turns)

    def delayed(self, percent: int, unit: int) -> Feed:
        """The feed with a part of the facts late."""
        return replace(self, facts=delayed(self.facts, percent / 100, unit=unit, seed=1))

    def arriving(self, step: int) -> Facts:
        """The facts that arrive in a step."""
        return _where(self.facts, lambda t: (_arrival(t) > (step - 1) * self.step) & (_arrival(t) <= step * self.step))

    def seen(self, step: int, window: int) -> Facts:
        """The facts of the last `window` steps that have arrived at the end of a step."""
        now, low = step * self.step, (step - window) * self.step
        return _where(self.facts, lambda t: (_arrival(t) <= now) & (_last(t) > low))

    def session(self, window: int, steps: int = 0, evaluation: Evaluation = "auto") -> Session:
        """A session with a window of so many steps, brought up to date for the first `steps` of the feed."""
        session = self.program.session(window=window * self.step, start=0, evaluation=evaluation)
        for step in range(1, steps + 1):
            session.insert(self.arriving(step))
            session.advance(step * self.step)
        return session


def _arrival(table: FactTable) -> np.ndarray:
    return table.time if table.arrival is None else table.arrival


def _last(table: FactTable) -> np.ndarray:
    return table.time if table.end is None else table.end - 1


def _where(facts: Facts, rows: Callable[[FactTable], np.ndarray]) -> Facts:
    return replace(facts, tables={key: chosen(table, rows(table)) for key, table in facts.tables.items()})


def taken(act: Callable[[], Value]) -> tuple[float, Value]:
    """The CPU seconds of a call, and what it gives."""
    begin = time.process_time()
    value = act()
    return time.process_time() - begin, value


@dataclass(frozen=True)
class Costs:
    """Milliseconds of a step: bringing the session up to date, handing facts in, and the two baselines."""

    advance: float
    insert: float
    anew: float
    sorted: float

    @property
    def of_anew(self) -> float:
        """Percent of A; A codes its facts, so handing in counts."""
        return 100 * (self.advance + self.insert) / self.anew

    @property
    def of_sorted(self) -> float:
        """Percent of B."""
        return 100 * self.advance / self.sorted


class Merging:
    """The CPU seconds that sessions spend on merging and forgetting facts, while it is entered."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._inside = False

    def _watched(self, method: Callable[..., Value]) -> Callable[..., Value]:
        def watched(*given: object) -> Value:
            if self._inside:
                return method(*given)
            self._inside, begin = True, time.process_time()
            try:
                return method(*given)
            finally:
                self._inside = False
                self.seconds += time.process_time() - begin

        return watched

    def __enter__(self) -> Merging:
        self._kept = {name: getattr(Retained, name) for name in ("apply", "merged", "without")}
        for name, method in self._kept.items():
            setattr(Retained, name, self._watched(method))
        return self

    def __exit__(self, *_: object) -> None:
        for name, method in self._kept.items():
            setattr(Retained, name, method)


def costs(feed: Feed, window: int, most: int, only: Callable[[FactTable], np.ndarray] | None = None) -> Costs:
    """Costs in a full window; of the facts that arrive then, `only` some may count."""
    begin = most + WARM
    session, whole = feed.session(window, begin), feed.session(window, begin, "full")
    if only is not None:
        late = begin * feed.step
        feed = replace(feed, facts=_where(feed.facts, lambda t: (_arrival(t) <= late) | only(t)))
    rows = [_step(feed, session, whole, begin + 1 + number, window) for number in range(MEASURED)]
    return Costs(*(1e3 * median(column) for column in zip(*rows, strict=True)))


def _step(feed: Feed, session: Session, whole: Session, step: int, window: int) -> tuple[float, float, float, float]:
    """The CPU seconds of one step."""
    query, new, facts = step * feed.step, feed.arriving(step), feed.seen(step, window)
    insert, _ = taken(lambda: session.insert(new))
    advance, _ = taken(lambda: session.advance(query))
    settings = Settings(start=query - window * feed.step, end=query)

    loading, _ = taken(lambda: feed.program.recognition(facts, settings).accepted())
    whole.insert(new)
    with Merging() as merging:
        everything, _ = taken(lambda: whole.advance(query))
    return advance, insert, loading + everything - merging.seconds, everything


def grid(options: argparse.Namespace) -> list[Claim]:
    """Every window with every share, for both applications."""
    claims = []
    most = max(options.windows)
    for name in STREAMS:
        feed = Feed.of(name, options.scale, most + WARM + MEASURED)
        cells: dict[tuple[int, int], Costs] = {}
        for share in options.shares:
            late = feed.delayed(share, unit=most * feed.step // 8)
            for window in options.windows:
                cells[window, share] = costs(late, window, most)
        if not options.json:
            print(_shown(name, options.windows, options.shares, cells), flush=True)
        claims += _grid_claims(name, options.windows, options.shares, cells, cellwise=options.json)
    return claims


def _shown(name: str, windows: Sequence[int], shares: Sequence[int], cells: dict[tuple[int, int], Costs]) -> str:
    """The cells as text."""
    lines = [f"{name}: ms of a step (and of handing in), % of A, % of B",
             "window " + "".join(f"{f'{share} % delayed':>29}" for share in shares)]
    for window in windows:
        row = [cells[window, share] for share in shares]
        lines.append(f"{window:6} " + "".join(
            f"{c.advance:10.1f} ({c.insert:4.1f}) {c.of_anew:4.0f} % {c.of_sorted:4.0f} %" for c in row))
    return "\n".join(lines)


def _grid_claims(name: str, windows: Sequence[int], shares: Sequence[int], cells: dict[tuple[int, int], Costs],
                 *, cellwise: bool) -> list[Claim]:
    def of_sorted(what: str, cell: Costs) -> Claim:
        return claim(f"{name}, {what}", round(cell.of_sorted, 1), "% of B", 115, f"B {cell.sorted:.1f} ms",
                     round(cell.of_sorted / 100, 2), cell.of_sorted <= 115)

    most, least = max(windows), min(shares)
    largest, smallest = cells[most, least], cells[min(windows), least]
    claims = [claim(f"{name}, {most} steps, {least} % delayed", round(largest.of_anew, 1), "% of A", 40,
                    f"A {largest.anew:.1f} ms", round(largest.of_anew / 100, 2), largest.of_anew <= 40)]
    if cellwise:
        claims += [of_sorted(f"{window} steps, {share} % delayed", cell) for (window, share), cell in cells.items()]
    (window, share), worst = max(cells.items(), key=lambda item: item[1].of_sorted)
    claims.append(of_sorted(f"the worst cell ({window} steps, {share} % delayed)", worst))
    steps = most / min(windows)
    growth = largest.advance / smallest.advance / steps
    if steps > 1:
        claims.append(claim(f"{name}, growth from {min(windows)} to {most} steps", round(growth * steps, 2),
                            "x the time", round(1.3 * steps, 1), f"{smallest.advance:.1f} ms", round(growth, 2),
                            growth <= 1.3))
    return claims


def touched(options: argparse.Namespace) -> list[Claim]:
    """Steps in which only some entities have new facts, and one in which nothing is new."""
    claims = []
    window = max(options.windows)
    for name in STREAMS:
        feed = Feed.of(name, options.scale, window + WARM + MEASURED)
        feed = feed.delayed(min(options.shares), unit=window * feed.step // 8)
        for percent in TOUCHED:
            cell = costs(feed, window, window, _of_some(feed.facts, percent))
            target = 40 if percent <= 5 else None
            claims.append(claim(f"{name}, {window} steps, {percent} % of the keys touched", round(cell.of_sorted, 1),
                                "% of B", target, f"B {cell.sorted:.1f} ms", round(cell.of_sorted / 100, 2),
                                None if target is None else cell.of_sorted <= target))
        if name == "maritime":
            claims.append(_idle(feed, window))
    return claims


def _idle(feed: Feed, window: int) -> Claim:
    """The next time-points with nothing new, in a full window."""
    session = feed.session(window, window + WARM)
    now = (window + WARM) * feed.step
    took = 1e3 * median(taken(lambda to=now + turn: session.advance(to))[0] for turn in range(1, MEASURED + 1))
    return claim(f"maritime, {window} steps, nothing new at the next time-point", round(took, 2), "ms", 2, "our limit",
                 round(took / 2, 2), took <= 2)


def _of_some(facts: Facts, percent: int) -> Callable[[FactTable], np.ndarray]:
    """Whether all entities of a fact are among a percentage of them, drawn at random."""
    known = np.array(sorted({value for table in facts for value in _distinct(table.args[0])}))
    number = max(1, round(len(known) * percent / 100))
    drawn = set(np.random.default_rng(1).choice(known, number, replace=False).tolist())

    def rows(table: FactTable) -> np.ndarray:
        return np.logical_and.reduce([_among(c, drawn) for c in table.args[:ENTITIES.get(table.name, 1)]])

    return rows


def _distinct(column: Column) -> list[object]:
    return list(column.values) if isinstance(column, Coded) else np.unique(column).tolist()


def _among(column: Column, values: set[object]) -> np.ndarray:
    if isinstance(column, Coded):
        return np.array([value in values for value in column.values], np.bool_)[column.codes]
    return np.isin(column, list(values))


def day(options: argparse.Namespace) -> list[Claim]:
    """A day of vessels in one session: what it holds does not grow, and its changes add up to the answer."""
    entities, step, window, steps = max(6, round(1000 * options.scale)), HOUR // 6, 2 * HOUR, 6 * options.hours
    program = program_of("maritime", entities)
    facts = program.read(tables_of(generated("maritime", entities, steps * step)))
    feed = Feed(program, facts, step).delayed(5, unit=window // 8)
    session, sizes = feed.session(window // step), []
    for number in range(1, steps + 1):
        session.insert(feed.arriving(number))
        session.advance(number * step)
        sizes.append(resident())
    if not options.json:
        print("MB after each hour: " + " ".join(f"{size:.0f}" for size in sizes[5::6]), flush=True)
    slope = 6 * float(np.polyfit(np.arange(24, steps), sizes[24:], 1)[0])
    differing = _differing(feed, window, steps)
    name = f"{options.hours} hours of {entities:,} vessels, {len(facts):,} facts"
    return [
        claim(f"{name}, the most memory", round(max(sizes), 1), "MB", None, "the whole process", None, None),
        claim(f"{name}, growth of memory after 4 hours", round(slope, 2), "MB per hour", 1, "our limit",
              round(slope, 2), slope <= 1),
        claim(f"{name}, rows that differ from one window over all facts", differing, "rows", 0, "batch", None,
              differing == 0),
    ]


def _differing(feed: Feed, window: int, steps: int) -> int:
    """How many rows differ between the changes of a session, added up, and one window over the facts that count."""
    session = feed.session(window // feed.step)
    rows: Counter[tuple[object, ...]] = Counter()
    for number in range(1, steps + 1):
        session.insert(feed.arriving(number))
        changes = session.advance(number * feed.step)
        rows.update(rows_of(changes.added))
        rows.subtract(rows_of(changes.removed))
    recognition = feed.program.recognition(_counted(feed, window), Settings(start=0, end=steps * feed.step))
    rows.subtract(rows_of(recognition.answer(recognition.execute(recognition.accepted(), recognition.end))))
    return sum(map(abs, rows.values()))


def _counted(feed: Feed, window: int) -> Facts:
    """The facts that are not too late for the first query time after their arrival, periods with their part in time."""

    def low(facts: FactTable) -> np.ndarray:
        return -(-_arrival(facts) // feed.step) * feed.step - window + 1

    kept = _where(feed.facts, lambda facts: _last(facts) >= low(facts))
    return replace(kept, tables={
        key: facts if facts.end is None else replace(facts, time=np.maximum(facts.time, low(facts)))
        for key, facts in kept.tables.items()})


def rows_of(table: pa.Table) -> list[tuple[object, ...]]:
    """The rows of an answer."""
    return list(zip(*(table[name].to_pylist() for name in ("fluent", "args", "value", "start", "end")), strict=True))


def resident() -> float:
    """The memory that this process uses, in MB; where the system does not tell, the most that it has used."""
    status = Path("/proc/self/statm")
    if status.exists():
        return int(status.read_text().split()[1]) * resource.getpagesize() / 1e6
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    parser.add_argument("--scale", type=float, default=1.0, help="so many times the usual number of entities")
    parser.add_argument("--windows", type=int, nargs="+", default=WINDOWS, help="windows, in steps")
    parser.add_argument("--shares", type=int, nargs="+", default=SHARES, help="percentages of delayed facts")
    parser.add_argument("--hours", type=int, default=24, help="how long the day is (24, at least 5)")
    groups = {"grid": grid, "touched": touched, "day": day}
    parser.add_argument("--only", choices=tuple(groups), help="one group of claims")
    options = parser.parse_args(argv)
    return show((measure(options) for name, measure in groups.items() if options.only in (None, name)),
                as_json=options.json)


if __name__ == "__main__":
    raise SystemExit(main())
