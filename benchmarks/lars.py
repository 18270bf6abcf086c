"""How fast LARS is: Ticker's two scenarios, Laser's programs, and traffic readings through the rules of a city.

The rivals' figures are their CPU times on a machine of the same kind, recorded, without starting up, and for Laser
without making its stream. Ours are CPU times of this process, the least of some runs, without starting up but with
compiling the program, from facts in memory to answers. *As a whole* evaluates all time-points at once; *as a stream*
hands in the facts of one time-point and advances to it, again and again, as Ticker does.

The caching scenario has one answer stream and is evaluated by columns, or by changes as a stream; content retrieval has
several, and one of them is asked for. Laser's programs are its own, on streams like its own; where the number of
conclusions does not depend on chance, ours must be the same. Traffic readings are those of Aarhus where they are at
hand. Not measured: reading files (but for one line that says so), several cores.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator, Sequence
from statistics import median
from typing import Any

import numpy as np
import pyarrow.parquet

import eventide as ev
from _claims import Claim, at_most, claim, show
from _lars_data import LASER, LASER_RECORDED, MINUTE, TICKER_RECORDED, TRAFFIC, Readings, Tables, readings
from eventide.applications import caching, content
from eventide.applications.caching import generator as alphas
from eventide.applications.city import LARS as CITY
from eventide.applications.content import generator as requests
from eventide.applications.demonstration import shared_data
from eventide.applications.time_points import TimePoint, with_window
from eventide.formats.facts import FactTable, column_values
from eventide.lars.columnar import compile_tree
from eventide.lars.evaluation import Answers, Evaluation
from eventide.lars.streams import read
from eventide.lars.values import ground_text, python_value
from eventide.syntax.lars import parse
from eventide.syntax.lars_trees import LarsTree

GROUPS = ("caching", "content", "laser", "city", "flat")
TIMES = 20
FLAT = 1.25


def least(call: Callable[[], object], runs: int) -> float:
    """The CPU seconds of a call, the least of some."""
    found = []
    for _ in range(runs):
        begin = time.process_time()
        call()
        found.append(time.process_time() - begin)
    return min(found)


def recorded(file: str, row: Callable[[dict[str, Any]], Any], otherwise: Sequence[Any]) -> list[Any]:
    """What was recorded of a rival, from the file where it is at hand."""
    path = shared_data(f"golden/lars/{file}")
    if path is None:
        return list(otherwise)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    return [row(line) for line in lines if "done" not in line]


def scaled(points: int, scale: float) -> int:
    """So many time-points instead; what a time-point costs is compared."""
    return max(20, round(points * scale))


# -- Ticker's scenarios -----------------------------------------------------------------------------------------------


def scenario(instance: str, window: int, points: int) -> tuple[str, list[TimePoint]]:
    """The rules of a scenario with a window, and its stream."""
    if instance.startswith("caching"):
        path = caching.RULES if instance == "cachingTime" else caching.TUPLES
        rules = with_window(path, window).replace("[21 #]", f"[{window + 1} #]")
        return rules, alphas.generate(points, window, seed=1)
    rules = with_window(content.RULES, window) + content.NETWORK.read_text(encoding="utf-8")
    return rules, (requests.sparse if instance == "content1" else requests.dense)(points, window, seed=1)


def as_a_stream(rules: str, stream: Sequence[TimePoint]) -> list[float]:
    """The CPU seconds of every time-point, compiling counted with the first."""
    found = []
    begin = time.process_time()
    session = ev.parse(rules, language="lars").session()
    for moment, facts in stream:
        session.insert([(moment, facts)])
        session.advance(to=moment)
        found.append(time.process_time() - begin)
        begin = time.process_time()
    return found


def with_contexts(rules: str, stream: Sequence[TimePoint]) -> list[float]:
    """The CPU seconds of every time-point with truth maintenance, the answers counted."""
    session = ev.parse(rules, language="lars").context_session()
    found = []
    for moment, facts in stream:
        begin = time.process_time()
        session.insert([(moment, facts)])
        session.advance(to=moment).context()
        found.append(time.process_time() - begin)
    return found


def against_ticker(instances: Sequence[str], runs: int, scale: float) -> Iterator[Claim]:
    """Milliseconds per time-point of a stream, and all time-points at once."""
    rows = recorded("ticker_timings.jsonl", lambda r: (r["inst"], r["winsize"], r["tp"], r["ms_per_tp"]),
                    TICKER_RECORDED)
    whole: list[tuple[float, str]] = []
    for instance, window, points, rival in rows:
        if instance not in instances:
            continue
        points = scaled(points, scale)
        rules, stream = scenario(instance, window, points)
        as_a_stream(rules, stream[:50])  # a warm-up run, as in Ticker's protocol
        ev.parse(rules, language="lars").run(stream[:50])
        title = f"{instance}, window {window}, {points} time-points"
        mean = 1e3 * min(sum(as_a_stream(rules, stream)) for _ in range(runs)) / points
        yield claim(f"{title}, as a stream", round(mean, 3), "ms/time-point", round(rival / TIMES, 3),
                    f"Ticker {rival} ms", round(rival / mean, 1), mean <= rival / TIMES)
        facts = read(stream)
        taken = least(lambda rules=rules, facts=facts, points=points: ev.parse(  # type: ignore[misc]
            rules, language="lars").run(facts, end=points - 1), runs)
        whole.append((rival * points / 1e3 / taken, title))
    ratio, title = min(whole)
    yield claim(f"the slowest as a whole: {title}", round(ratio, 1), "times", TIMES, "Ticker", round(ratio, 1),
                ratio >= TIMES)


# -- Laser's programs -------------------------------------------------------------------------------------------------


def answered(tree: LarsTree, tables: Tables, end: int) -> Answers:
    """All answers, those about earlier time-points too, as Laser gives them."""
    answers = Evaluation(compile_tree(tree, list(tables))).run(tables, end)
    for predicate in answers.compiled.derived:
        answers.now(predicate)
        if any(rule.head is not None and rule.head.predicate == predicate and rule.head.time is not None
               for rule in tree.rules):
            answers.at(predicate)
    return answers


def conclusions(answers: Answers) -> int:
    """How many atoms hold, summed over the time-points."""
    total = 0
    for predicate in answers.compiled.derived:
        relation = answers.now(predicate)
        line = relation.space.timeline
        ends = relation.intervals.ends & line.mask
        lasting = np.where(ends == line.mask, answers.end + 1, ends) - (relation.intervals.starts & line.mask)
        total += int(lasting.sum())
    return total


def time_points(tables: Tables, points: int) -> list[TimePoint]:
    """The facts of tables as text, time-point by time-point."""
    stream: list[TimePoint] = [(moment, []) for moment in range(points)]
    for (name, _), table in tables.items():
        for moment, *row in zip(table.time.tolist(), *map(column_values, table.args), strict=True):
            stream[moment][1].append(ground_text(name, tuple(map(python_value, row))))
    return stream


def against_laser(runs: int, scale: float) -> Iterator[Claim]:
    """Triples per second, one line per recorded run."""
    rows = recorded("laser_timings.jsonl", lambda r: (
        r["exp"], r["win"], r["triples"], r["timepoints"], round(r["total_s"] - r["gen_s"], 3), r["derived"]),
        LASER_RECORDED)
    for name, window, triples, points, rival, derived in rows:
        experiment = LASER[name]
        rival, points = rival * scaled(points, scale) / points, scaled(points, scale)
        tree, tables = parse(experiment.rules.replace("{n}", str(window))).tree, experiment.stream(triples, points)
        answered(tree, tables, points - 1)  # a warm-up run
        taken = least(lambda tree=tree, tables=tables, points=points: answered(tree, tables, points - 1),  # type: ignore[misc]
                      runs)
        title = f"{experiment.title}, window {window}, {triples} triples"
        if experiment.certain and scale == 1:
            found = conclusions(answered(tree, tables, points - 1))
            assert found == derived, f"{title}: {found} conclusions, not {derived}"
        speed, theirs = triples * points / taken, triples * points / rival
        yield claim(title, round(speed), "triples/s", round(TIMES * theirs), f"Laser {round(theirs):,}/s",
                    round(speed / theirs, 1), speed >= TIMES * theirs)
        if (window, triples) == (20, 200):  # 200 triples one by one are what changes at each time-point
            stream = time_points(tables, points)
            speed = triples * points / min(sum(as_a_stream(str(tree), stream)) for _ in range(runs))
            yield claim(f"{title}, as a stream", round(speed), "triples/s", None, f"Laser {round(theirs):,}/s",
                        round(speed / theirs, 1), None)


# -- a city -----------------------------------------------------------------------------------------------------------


def city_tree(roads: Sequence[int]) -> LarsTree:
    """The rules of the city with its roads as areas."""
    return parse(CITY.read_text(encoding="utf-8") + "\n".join(f"area({road})." for road in roads)).tree


def through_the_city(tree: LarsTree, given: Readings) -> int:
    """Evaluate; how many intervals there are."""
    facts = {("averageSpeed", 2): FactTable("averageSpeed", "event", given.time, (given.road, given.speed))}
    others = [("culturalEvent", 1), ("parkingCapacity", 2), ("closedRoad", 1), ("pollution", 1), ("crowdedEvent", 1)]
    answers = Evaluation(compile_tree(tree, [*facts, *others])).run(facts, int(given.time.max()))
    return sum(len(answers.now(predicate)) for predicate in answers.compiled.derived)


def city(count: int, runs: int) -> Iterator[Claim]:
    """Readings per second through the rules, and with reading the file."""
    given = readings(count)
    tree = city_tree(np.unique(given.road).tolist())
    through_the_city(tree, readings(1000))  # a warm-up run
    taken = least(lambda: through_the_city(tree, given), runs)
    speed = count / taken / 1e6
    yield claim(f"the city rules, {count:,} {given.told}", round(speed, 2), "million readings/s", 1, "our limit",
                round(speed, 1), speed >= 1)
    path = shared_data(TRAFFIC)
    if path is not None and given.told != "generated readings":
        program = ev.parse(CITY.read_text(encoding="utf-8"), language="lars", background=[
            {"area": pyarrow.table({"area": np.unique(given.road)})}])

        def from_file() -> None:
            table = pyarrow.parquet.read_table(path, columns=["time", "sensor", "speed"]).slice(0, count)
            minutes = (table["time"].to_numpy() - table["time"].to_numpy().min()) // MINUTE
            program.run({"averageSpeed": pyarrow.table({"time": minutes, "area": table["sensor"].cast("int64"),
                                                        "speed": table["speed"].cast("int64")})})

        speed = count / least(from_file, 1) / 1e6
        yield claim("the same from a Parquet file to a table of intervals", round(speed, 2), "million readings/s", 1,
                    "our limit", round(speed, 1), speed >= 1)


# -- as time goes on --------------------------------------------------------------------------------------------------


def flat(points: int) -> Iterator[Claim]:
    """The median cost of a time-point in the last quarter of a stream, against the second one."""
    for instance, share in (("cachingTime", 1), ("cachingTuple", 1), ("content1", 4), ("content2", 4)):
        yield _later(instance, as_a_stream(*scenario(instance, 60, points // share)))
    yield _later("cachingTime with truth maintenance", with_contexts(*scenario("cachingTime", 60, points // 4)))


def _later(title: str, costs: Sequence[float]) -> Claim:
    length = len(costs)
    early, late = (median(costs[length * k // 4:length * (k + 1) // 4]) for k in (1, 3))
    return at_most(f"{title}, the cost of a time-point, last quarter of {length:,} to the second", late / early,
                   "times", FLAT)


def measured(options: argparse.Namespace) -> Iterator[list[Claim]]:
    """The groups that were asked for."""
    for name in options.only or GROUPS:
        if name in ("caching", "content"):
            instances = ["cachingTime", "cachingTuple"] if name == "caching" else ["content1", "content2"]
            yield list(against_ticker(instances, options.runs, options.scale))
        elif name == "laser":
            yield list(against_laser(options.runs, options.scale))
        elif name == "city":
            yield list(city(options.readings, options.runs))
        else:
            yield list(flat(options.points))


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="a list of claims instead of tables")
    parser.add_argument("--only", choices=GROUPS, action="append", help="some of the groups")
    parser.add_argument("--runs", type=int, default=3, help="the least of so many runs counts")
    parser.add_argument("--scale", type=float, default=1.0, help="the share of the rivals' time-points")
    parser.add_argument("--readings", type=int, default=5_000_000, help="readings through the rules of the city")
    parser.add_argument("--points", type=int, default=8_000, help="time-points of the long streams")
    options = parser.parse_args(arguments)
    return show(measured(options), as_json=options.json)


if __name__ == "__main__":
    raise SystemExit(main())
