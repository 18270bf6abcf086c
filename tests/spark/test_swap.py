"""Streams whose rules are changed: buckets give what one session gives that changes its rules at the same time."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.effort import examples
from tests.engine.running import facts_of
from tests.engine.session_cases import SessionCase, batch_of, session_cases
from tests.engine.test_swap import THEN, two_programs
from tests.spark.configured import Configured
from tests.spark.flows import Given, Local, Row, rows_of
from tests.spark.test_flow import units_of

import eventide as ev
from eventide.spark.buckets import Bucket, CertainBucket
from eventide.spark.config import Log, load_config
from eventide.spark.failures import ServiceError
from eventide.spark.flow import Flow, flow_of
from eventide.spark.operations import Figures, Reporter
from eventide.spark.remembered import last_batch
from eventide.spark.running import Stream, prepare
from eventide.spark.swap import following
from eventide.spark.units import CHANGES, table_of

LOWER = """
initiatedAt(slow(V)=true, T) :- happensAt(slows(V), T).
terminatedAt(slow(V)=true, T) :- happensAt(speeds(V), T).
"""
PAIRS = """
collectIntervals(near(_,_)=true).
holdsFor(meet(A, B)=true, I) :-
    holdsFor(near(A, B)=true, I0), holdsFor(slow(A)=true, I1), holdsFor(slow(B)=true, I2), {}([I0, I1, I2], I).
"""


class Buckets:
    """The buckets of a stream, through batches; the flow may change between two."""

    def __init__(self, flow: Flow) -> None:
        self.flow = flow
        self._buckets: dict[tuple[int, int], Bucket] = {}
        self.tables: list[pa.Table] = []

    def process(self, batch: Sequence[Given]) -> None:
        flow = self.flow
        rows = [row for unit, facts in batch for row in flow.read(facts, unit)]
        for stage in range(1, flow.last + 1):
            random.Random(0).shuffle(rows)
            for place in ((stage, number) for number in range(flow.buckets)):
                bucket = self._buckets.get(place) or flow.bucket(*place)
                if bucket.flow is not flow:
                    assert isinstance(bucket, CertainBucket)
                    bucket = bucket.flow.restored(*place, bucket.save())
                    assert isinstance(bucket, CertainBucket)
                    bucket = bucket.successor(flow)
                self._buckets[place] = bucket
                rows.extend(bucket.process([part for *to, part in rows if tuple(to) == place]))
            rows = [row for row in rows if row[0] > stage]
        self.tables += [table_of(part) for _, kind, part in rows if kind == CHANGES]


def in_one_session(old: ev.Program, new: ev.Program, batches: Sequence[Sequence[Given]], moment: int,
                   options: dict[str, Any]) -> list[Row]:
    """What one session tells that changes its rules before a batch."""
    from eventide.results import emitted

    local = Local(old, **options)
    rows = []
    units = [(number, unit) for number, batch in enumerate(batches) for unit in batch]

    def given() -> Any:
        swapped = False
        for number, unit in units:
            if number >= moment and not swapped:
                local.session.swap(new)
                swapped = True
            yield unit

    for _, changes in local.queries(given()):
        rows.append(emitted(local.session, changes, "changes"))
    return rows_of(rows)


def compare(texts: tuple[str, str], batches: Sequence[Sequence[Given]], moment: int, options: dict[str, Any],
            buckets: int) -> bool:
    """Whether the stream could go on; then its rows are those of one session."""
    old, new = map(ev.parse, texts)
    first = flow_of(old, buckets=buckets, **options)
    try:
        second = following(first, flow_of(new, buckets=buckets, **options))
    except ServiceError as error:
        assert "cannot go on with these rules" in str(error)
        return False
    stream = Buckets(first)
    for number, batch in enumerate(batches):
        stream.flow = second if number >= moment else first
        stream.process(batch)
    assert rows_of(stream.tables) == in_one_session(old, new, batches, moment, options)
    return True


@examples(1 / 2)
@given(data=st.data())
def test_buckets_give_what_one_session_gives(data: st.DataObject) -> None:
    family = data.draw(st.sampled_from(("hierarchies", "statics", "durations", "delays", "pairs", "mixed", "domains")))
    case = data.draw(session_cases(two_programs(family)))
    case = SessionCase(case.text, case.options, case.steps, case.with_arrivals, True)
    units = units_of([batch_of(case, step.operations) for step in case.steps])
    window = case.options["window"] or 25
    options = {**case.options, "window": window, "step": data.draw(st.sampled_from((4 * case.options["tick"], 8)))}
    first, second = case.text.split(THEN)
    if data.draw(st.booleans()):
        second = first + "happensAt(another(X), T) :- happensAt(e1(X), T).\n"
    compare((first, second), [[unit] for unit in units], data.draw(st.integers(1, max(1, len(units) - 1))), options,
            data.draw(st.sampled_from((1, 2, 3))))


def traffic(seed: int) -> list[list[Given]]:
    """Batches of vessels that are slow and near each other."""
    rng = random.Random(seed)
    parts = []
    for number in range(6):
        rows: list[Any] = []
        for _ in range(30):
            time = number * 10 + rng.randrange(10)
            one, other = rng.sample([f"v{i}" for i in range(5)], 2)
            rows.append(rng.choice((("event", "slows", (one,), time), ("event", "speeds", (one,), time),
                                    ("interval", "near", (one, other), "true", time, time + 4))))
        parts.append(facts_of((fact, None) for fact in rows))
    return [[unit] for unit in units_of(parts)]


CHANGED = {
    "meetings by another rule": (LOWER + PAIRS.format("intersect_all"), LOWER + PAIRS.format("union_all")),
    "another lower rule": (LOWER + PAIRS.format("intersect_all"),
                           LOWER.replace("speeds(V), T)", "speeds(V), T), \\+ happensAt(slows(V), T)")
                           + PAIRS.format("intersect_all")),
    "another name below": (LOWER + PAIRS.format("intersect_all"),
                           (LOWER + PAIRS.format("intersect_all")).replace("slow(", "calm(")),
    "no meetings": (LOWER + PAIRS.format("intersect_all"), LOWER + "collectIntervals(near(_,_)=true)."),
}


@pytest.mark.parametrize("name", CHANGED)
@pytest.mark.parametrize("moment", [1, 3])
def test_results_that_later_stages_read(name: str, moment: int) -> None:
    old, new = CHANGED[name]
    batches = traffic(seed=moment)
    assert compare((old, new), batches, moment, {"window": 20, "step": 5, "start": 0}, buckets=3) == (
        name != "no meetings")


SIMPLE = """
initiatedAt(f(X)=true, T) :- happensAt(a(X), T).
terminatedAt(f(X)=true, T) :- happensAt(b(X), T).
initiatedAt(h(X)=true, T) :- happensAt(c(X), T).
terminatedAt(h(X)=true, T) :- happensAt(d(X), T).
"""
BEFORE = SIMPLE.replace("f(", "g(") + """
holdsFor(f(X)=true, I) :- holdsFor(g(X)=true, J), holdsFor(h(X)=true, K), before(J, K, source, I).
"""


def test_final_rows_are_told_once_also_where_other_rules_settle_later() -> None:
    """What `f` is by the new rules is final eight time-points later; rows that were over before the window stay."""
    parts = [facts_of((("event", name, ("x",), 5 * number + place), None) for place, name in enumerate("abcd", 1))
             for number in range(10)]
    flows = [flow_of(ev.parse(text), buckets=2, window=10, step=5, start=0, emit="final", horizon=8)
             for text in (SIMPLE, BEFORE)]
    stream = Buckets(flows[0])
    for number, unit in enumerate(units_of(parts)):
        if number == 4:
            stream.flow = following(*flows)
        stream.process([unit])
    told = [(row["fluent"], row["query_time"], row["start"]) for table in stream.tables for row in table.to_pylist()]
    assert [row for row in sorted(told) if row[0] != "h"] == [
        *(("f", query, start) for query, start in ((10, 2), (15, 7), (30, 12), (35, 17), (40, 22), (45, 27))),
        ("g", 20, 7), *(("g", query, query - 8) for query in range(20, 50, 5))]


REFUSED: dict[str, tuple[str, str, str]] = {
    "more stages": (LOWER, LOWER + PAIRS.format("intersect_all"), "stages, one after the other"),
    "an argument": ("initiatedAt(f(X)=true, T) :- happensAt(e(X, _), T).",
                    "initiatedAt(f(X)=true, T) :- happensAt(e(X, P), T), P > 1.", "read argument 2 of e"),
    "an owner": ("initiatedAt(f(X)=true, T) :- happensAt(e(X, _), T), happensAt(d(X), T).",
                 "initiatedAt(f(X)=true, T) :- happensAt(e(_, X), T), happensAt(d(X), T).", "needed by other entities"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_would_have_to_move_is_refused(name: str) -> None:
    old, new, reason = REFUSED[name]
    flows = [flow_of(ev.parse(text), buckets=2, window=10) for text in (old, new)]
    with pytest.raises(ServiceError, match=reason):
        following(*flows)


# -- on Spark ----------------------------------------------------------------------------------------------------------

RULES = """
initiatedAt(rich(X)=true, T) :- happensAt(win(X), T).
terminatedAt(rich(X)=true, T) :- happensAt(lose(X), T).
"""
MORE = RULES + "initiatedAt(lucky(X)=true, T) :- happensAt(win(X), T).\n"
FILES = ("win|3|3|ann\nwin|13|13|bob\nlose|15|15|ann\n", "win|28|28|ann\nlose|31|31|bob\nwin|34|34|bob\n",
         "win|47|47|ann\nlose|52|52|ann\nwin|61|61|cid\n")


def told_locally(files: Sequence[str], moment: int, folder: Path) -> list[Row]:
    """What one session tells that changes its rules after so many files."""
    old, new = ev.parse(RULES), ev.parse(MORE)
    units = []
    for number, text in enumerate(files):
        path = folder / f"local{number}.csv"
        path.write_text(text)
        units.append(old.read(str(path)))
    return in_one_session(old, new, [[unit] for unit in units_of(units)], moment,
                          {"window": 40, "step": 10, "start": 0})


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.usefixtures("spark")
def test_a_stream_goes_on_with_changed_rules(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A batch that was begun and not finished belongs to the old rules, whose rows may be with a sink."""
    stream = Configured(tmp_path, RULES)
    for text in FILES[:2]:
        stream.feed(text)
    assert stream.run() == 0
    (tmp_path / "rules.ec").write_text(MORE)
    stream.feed(FILES[2])
    capsys.readouterr()
    assert stream.run("--once") == 1
    assert "the rules of lucky(_) are new" in (said := capsys.readouterr().err) and "--reload" in said
    commits = tmp_path / "state" / "spark" / "commits"
    (commits / "1").unlink()  # as if it had been killed before the end of the batch
    (commits / ".1.crc").unlink(missing_ok=True)
    assert stream.run("--once", "--reload") == 0
    assert "the stream goes on with changed rules" in capsys.readouterr().err
    assert sorted(stream.out(), key=repr) == told_locally(FILES, 2, tmp_path)
    assert stream.run("--check") == 0  # now the rules are these


@pytest.mark.spark
def test_rules_are_changed_between_two_batches(spark: Any, tmp_path: Path) -> None:
    stream = Configured(tmp_path, RULES)
    for text in FILES[:2]:
        stream.feed(text)
    running = Stream(prepare(load_config(stream.config)), Reporter(Log(), quiet=True), Figures(), spark=spark)
    asked = 0

    def changed() -> Any:
        """Wrong rules first, then others; when the third file has been processed it is enough."""
        nonlocal asked
        done = last_batch(tmp_path / "state")
        if done == 1 and asked == 0:
            asked = 1
            (tmp_path / "rules.ec").write_text(RULES.replace("lose(X)", "lose(_)"))
            return prepare(load_config(stream.config))
        if done == 1 and asked == 1:
            asked = 2
            (tmp_path / "rules.ec").write_text(MORE)
            return prepare(load_config(stream.config))
        if done == 1 and asked == 2:
            asked = 3
            stream.feed(FILES[2])
        if done >= 2:
            running.stop()
        return None

    running.run(changed=changed)
    assert asked == 3
    assert sorted(stream.out(), key=repr) == told_locally(FILES, 2, tmp_path)
