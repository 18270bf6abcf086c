"""Disturbed streams: exact shares, seeds, the law of delays, nothing lost, and what a program makes of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import eventide as ev
from eventide.errors import InputError
from eventide.formats import facts_from
from eventide.formats.facts import Facts, column_values
from eventide.signals import delayed, disturbed, duplicated, retracted, revised

RULES = """
collectIntervals(shift(_)=true).
initiatedAt(busy(X)=true, T) :- happensAt(call(X), T), holdsAt(shift(X)=true, T).
terminatedAt(busy(X)=true, T) :- happensAt(hang_up(X), T).
"""
KINDS = {"call": "event", "hang_up": "event", "shift": "interval"}
EVERY: list[Callable[..., Any]] = [delayed, retracted, revised, duplicated]
shares = st.sampled_from([0.0, 0.05, 0.3, 0.5, 1.0])


def events(count: int) -> pa.Table:
    """As many facts, all different: calls, ends of calls, and periods."""
    time = np.arange(count) * 7 % 101
    return pa.table({
        "time": time, "event": np.array(["shift", "call", "hang_up"])[np.arange(count) % 3],
        "end": pa.array(time + 5, mask=np.arange(count) % 3 != 0),
        "value": pa.array(["true"] * count, mask=np.arange(count) % 3 != 0), "who": np.arange(count) // 3,
    })


def read(table: pa.Table) -> Facts:
    """The table as a program with these declarations reads it."""
    return facts_from(table, KINDS.get)  # type: ignore[arg-type]


def rows(stream: Facts | pa.Table) -> list[tuple[object, ...]]:
    """Fact, arrival and operation of each row."""
    found: list[tuple[object, ...]] = []
    for table in (stream if isinstance(stream, Facts) else read(stream)):
        columns = [table.time.tolist(), *(column_values(a) for a in table.args)]
        columns += [] if table.end is None else [table.end.tolist()]
        arrival = table.time if table.arrival is None else table.arrival
        op = np.ones(len(table)) if table.op is None else table.op
        found += [((table.name, *fact), a, o)
                  for fact, a, o in zip(zip(*columns, strict=True), arrival.tolist(), op.tolist(), strict=True)]
    return found


def standing(stream: Facts | pa.Table) -> set[object]:
    """The facts that stand when every row has arrived, in order."""
    found: set[object] = set()
    for fact, _, op in sorted(rows(stream), key=lambda row: row[1]):  # type: ignore[arg-type, return-value]
        (found.add if op == 1 else found.discard)(fact)
    return found


def test_a_share_of_the_facts_of_all_kinds_is_delayed() -> None:
    facts = read(events(1000))
    late = [fact for fact, arrival, _ in rows(delayed(facts, 0.05, unit=10)) if arrival != fact[1]]  # type: ignore[index]
    assert len(late) == 50
    assert {fact[0] for fact in late} == set(KINDS)  # type: ignore[index]


@pytest.mark.parametrize("share, number", [(0.0, 0), (0.001, 0), (0.05, 5), (0.8, 80), (1.0, 100)])
def test_shares_are_exact(share: float, number: int) -> None:
    table = events(100)
    late = delayed(table, share)
    assert int(np.sum(late["arrival"].to_numpy() > late["time"].to_numpy())) == number
    assert retracted(table, share).num_rows == duplicated(table, share).num_rows == 100 + number
    assert revised(table, share).num_rows == 100 + 2 * number


@pytest.mark.parametrize("unit", [1, 10, 3600])
def test_delays_follow_the_gamma_law(unit: int) -> None:
    count = 200_000
    time = np.arange(count)
    late = delayed(pa.table({"time": time}), 0.8, unit=unit, seed=5)
    delays = (late["arrival"].to_numpy() - late["time"].to_numpy()) / unit
    delays = delays[delays > 0]
    assert delays.shape[0] == 160_000
    rounding = 0.5 / unit  # rounding up adds half a time-point on average
    error = 2 * np.sqrt(2) / np.sqrt(160_000)
    assert abs(delays.mean() - 4.0 - rounding) < 4 * error
    assert abs(delays.std() - 2 * np.sqrt(2)) < 0.05
    for longest in (2, 4, 8):  # the distribution function of Gamma(2, 2)
        assert abs(np.mean(delays <= longest) - (1 - (1 + longest / 2) * np.exp(-longest / 2))) < 0.005


def test_other_laws() -> None:
    late = delayed(pa.table({"time": np.zeros(100_000, np.int64)}), 1.0, unit=100, shape=1.0, scale=3.0)
    assert abs(np.mean(late["arrival"].to_numpy()) - 300) < 5


@pytest.mark.parametrize("change", EVERY)
def test_seeds(change: Callable[..., Any]) -> None:
    table = events(200)
    once, again, other = (change(table, 0.3, unit=5, seed=seed) for seed in (3, 3, 4))
    assert once.equals(again)
    assert not once.equals(other)
    assert rows(change(read(table), 0.3, unit=5, seed=3)) == rows(change(read(table), 0.3, unit=5, seed=3))


def test_the_draws_are_the_same_everywhere() -> None:
    table = pa.table({"time": [10, 20, 30, 40]})
    noisy = disturbed(table, delayed=0.5, duplicated=0.25, revised=0.25, retracted=0.25, unit=5, seed=1)
    assert list(zip(*noisy.to_pydict().values(), strict=True)) == [
        (10, 10, "+"), (30, 35, "+"), (40, 40, "+"), (20, 50, "+"), (20, 69, "-"), (30, 74, "+"), (30, 104, "-"),
        (27, 104, "+")]


def test_one_share_does_not_change_what_another_chooses() -> None:
    table = events(100)
    alone = {row for row in rows(retracted(table, 0.2)) if row[2] == -1}
    beside = {row[0] for row in rows(disturbed(table, delayed=0.4, duplicated=0.3, retracted=0.2)) if row[2] == -1}
    assert {row[0] for row in alone} == beside


@given(count=st.integers(0, 60), late=shares, again=shares, seed=st.integers(0, 99), unit=st.integers(1, 50),
       as_facts=st.booleans())
def test_delays_and_repetitions_lose_nothing(
    count: int, late: float, again: float, seed: int, unit: int, as_facts: bool
) -> None:
    table = events(count)
    noisy = disturbed(read(table) if as_facts else table, delayed=late, duplicated=again, seed=seed, unit=unit)
    assert standing(noisy) == standing(table)
    assert all(arrival >= fact[1] and op == 1 for fact, arrival, op in rows(noisy))  # type: ignore[index, operator]


@given(count=st.integers(0, 60), late=shares, again=shares, other=shares, gone=shares, seed=st.integers(0, 99),
       shift=st.integers(1, 9), as_facts=st.booleans())
def test_what_stands_is_what_was_not_retracted_in_its_revised_form(
    count: int, late: float, again: float, other: float, gone: float, seed: int, shift: int, as_facts: bool
) -> None:
    table = events(count)
    stream = read(table) if as_facts else table
    noisy = disturbed(stream, delayed=late, duplicated=again, revised=other, retracted=gone, seed=seed, unit=3,
                      shift=shift)
    stood, stand = standing(table), standing(noisy)
    assert len(stand) == count - round(gone * count)
    assert len(rows(noisy)) == count + round(again * count) + 2 * round(other * count) + round(gone * count)
    before = {_who(fact): fact[1] for fact in stood}  # type: ignore[index]
    distances = [fact[1] - before[_who(fact)] for fact in stand]  # type: ignore[index]
    assert all(abs(distance) <= 3 * shift for distance in distances)
    most = round(other * count)
    assert most - round(gone * count) <= sum(distance != 0 for distance in distances) <= most
    lengths = {fact[-1] - fact[1] for fact in stand if fact[0] == "shift"}  # type: ignore[index, operator]
    assert lengths <= {5}


def _who(fact: Any) -> tuple[object, object]:
    """What stays of a fact when it is moved."""
    return fact[0], fact[2]


@given(count=st.integers(1, 40), seed=st.integers(0, 99))
def test_operations_come_in_order_and_after_what_they_are_about(count: int, seed: int) -> None:
    noisy = disturbed(events(count), delayed=0.5, duplicated=0.5, revised=0.5, retracted=0.5, seed=seed, unit=4)
    arrival = noisy["arrival"].to_numpy()
    assert (np.diff(arrival) >= 0).all()
    seen: dict[object, int] = {}
    for row in noisy.to_pylist():
        fact = (row["event"], row["who"], row["time"])
        assert row["arrival"] >= row["time"]
        if row.get("op") == "-":
            assert seen[fact] < row["arrival"]
        seen[fact] = row["arrival"]


def test_given_arrivals_and_retractions_stay() -> None:
    table = pa.table({"time": [1, 1, 9], "arrival": [4, 6, None], "op": ["+", "-", None], "event": ["call"] * 3})
    assert disturbed(table).to_pydict() == {
        "time": [1, 1, 9], "arrival": [4, 6, 9], "op": ["+", "-", "+"], "event": ["call"] * 3}
    assert retracted(table, 1.0)["op"].to_pylist().count("-") == 3
    late = delayed(table, 1.0)
    assert (np.sort(late["arrival"].to_numpy()) > [4, 6, 9]).all()


def test_facts_keep_their_columns_and_tables() -> None:
    table = events(9).append_column("probability", pa.array([0.5] * 9))
    facts = read(table)
    noisy = duplicated(facts, 1.0)
    assert noisy.tables.keys() == facts.tables.keys()
    assert [len(t) for t in noisy] == [6, 6, 6]
    assert all(t.op is None and t.probability is not None and t.source == "<Table>" for t in noisy)
    assert len(disturbed(Facts(), delayed=1.0)) == 0


@pytest.mark.parametrize("options, message", [
    ({"delayed": 1.5}, "delayed is 1.5; expected a share from 0 to 1"),
    ({"retracted": -0.1}, "retracted is -0.1; expected a share"),
    ({"revised": float("nan")}, "revised is nan; expected a share"),
    ({"duplicated": "half"}, "duplicated is 'half'; expected a share"),
    ({"unit": 0}, "unit is 0; expected a whole number from 1 on"),
    ({"unit": 0.5}, "unit is 0.5; expected a whole number"),
    ({"seed": -1}, "seed is -1; expected a whole number from 0 on"),
    ({"shift": 0}, "shift is 0; expected a whole number from 1 on"),
    ({"shape": 0}, "shape is 0; expected a number above 0"),
    ({"scale": float("inf")}, "scale is inf; expected a number above 0"),
    ({"delayed": 1.0, "unit": 2**62}, "leave 64 bits"),
    ({"revised": 1.0, "shift": 2**62, "unit": 4}, "leave 64 bits"),
])
def test_wrong_numbers(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        disturbed(events(5), **options)


def test_wrong_tables() -> None:
    with pytest.raises(InputError, match="cannot disturb a list; expected facts or a pyarrow table"):
        disturbed([1, 2])
    with pytest.raises(InputError, match="no column time; the columns are times, event"):
        disturbed(pa.table({"times": [1], "event": ["a"]}))
    with pytest.raises(InputError, match="time is 'noon', which is not a whole number"):
        disturbed(pa.table({"time": ["3", "noon"]}))
    with pytest.raises(InputError, match="op is neither"):
        disturbed(pa.table({"time": [3], "op": ["x"]}))


def test_dates_need_a_unit() -> None:
    table = pa.table({"time": ["1970-01-01T00:01:00", "1970-01-01T00:02:00"]})
    with pytest.raises(InputError, match="no unit of time is declared"):
        delayed(table, 0.5)
    assert sorted(delayed(table, 0.5, time_unit="s")["time"].to_pylist()) == [60, 120]


def test_a_column_end_that_is_no_time_is_left_alone() -> None:
    table = pa.table({"time": [5], "end": ["north"]})
    assert set(revised(table, 1.0)["end"].to_pylist()) == {"north"}


def final(changes: pa.Table) -> set[tuple[object, ...]]:
    """What stands after all changes."""
    found: set[tuple[object, ...]] = set()
    for row in sorted(changes.to_pylist(), key=lambda row: (row["query_time"], row["change"] == "+")):
        interval = row["fluent"], row["args"], row["start"], row["end"]
        (found.add if row["change"] == "+" else found.remove)(interval)
    return found


@given(seed=st.integers(0, 99), late=shares, again=shares, step=st.integers(10, 60))
def test_a_large_window_ends_with_the_undisturbed_answer(seed: int, late: float, again: float, step: int) -> None:
    program = ev.parse(RULES)
    facts = program.read(calls())
    noisy = disturbed(facts, delayed=late, duplicated=again, unit=5, seed=seed)
    answer = {tuple(row[name] for name in ("fluent", "args", "start", "end"))
              for row in program.run(facts).to_arrow().to_pylist()}
    changes = program.run(noisy, window=10_000, step=step, emit="changes")
    assert final(changes.to_arrow()) == answer
    assert changes.counts.too_late == changes.counts.unmatched == 0


@given(seed=st.integers(0, 99), other=shares, gone=shares)
def test_revisions_and_retractions_end_with_the_answer_over_what_stands(seed: int, other: float, gone: float) -> None:
    program = ev.parse(RULES)
    noisy = disturbed(calls(), delayed=0.3, revised=other, retracted=gone, duplicated=0.3, unit=5, seed=seed)
    left = {(row["event"], row["who"], row["time"], row["end"], row["value"]): None for row in noisy.to_pylist()}
    for row in noisy.to_pylist():
        fact = row["event"], row["who"], row["time"], row["end"], row["value"]
        left.pop(fact, None)
        if row.get("op", "+") == "+":
            left[fact] = None
    names = ("event", "who", "time", "end", "value")
    types = {"event": pa.string(), "who": pa.int64(), "time": pa.int64(), "end": pa.int64(), "value": pa.string()}
    plain = pa.table({n: pa.array([fact[i] for fact in left], types[n]) for i, n in enumerate(names)})
    settings = {"start": -100, "end": 10_000, "window": 20_000}
    assert program.run(noisy, **settings).timeline() == program.run(plain, **settings).timeline()  # type: ignore[arg-type]


def calls() -> pa.Table:
    """Shifts of five people, with calls in and out of them."""
    rng = np.random.default_rng(2)
    who, time = rng.integers(0, 5, 60), np.sort(rng.integers(0, 200, 60))
    event = np.array(["call", "hang_up", "shift"])[rng.integers(0, 3, 60)]
    shift = event == "shift"
    return pa.table({"time": time, "event": event, "end": pa.array(time + 40, mask=~shift),
                     "value": pa.array(["true"] * 60, mask=~shift), "who": who})
