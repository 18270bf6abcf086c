"""Tables to mini-batches: points, streams, instances and labels against a slow reading of the same rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eventide.errors import EventideError
from eventide.learning.counts import UNKNOWN
from eventide.learning.examples import Examples, Table, examples_of, table
from eventide.learning.modes import read_modes

WALK, ROLE = "happensAt(walk(+person),+time)", "role(+person,#role)"
CLOSE, MEET = "close(+person,+person,#dist,+time)", "holdsAt(meet(+person,+person),+time)"
TEXT = f"""
modeh(initiatedAt(meet(+person,+person),+time))
modeb({WALK})
modeb({CLOSE})
comparisonPredicate({CLOSE}, lessThan, comparison_term_position(3))
"""
MODES, _ = read_modes(TEXT)
DISTINCT, PROBLEMS = read_modes(TEXT + "irreflexive(meet)")

VIDEO, PERSON, TIME = st.sampled_from(["v2", "v1", "v3"]), st.sampled_from("abc"), st.sampled_from([3, 4, 7, 20, -5])
WALKS = st.lists(st.tuples(VIDEO, PERSON, TIME), max_size=12)
PAIRS = st.lists(st.tuples(VIDEO, PERSON, PERSON, TIME), max_size=12)


def filled(shape: str, rows: list[tuple[Any, ...]]) -> Table:
    """A table of rows that begin with the stream."""
    streams, *columns = zip(*rows, strict=True) if rows else [[]] * (1 + sum(map(shape.count, "+-#")))
    return table(shape, *columns, streams=streams)


def examples(walks: list[tuple[Any, ...]], closes: list[tuple[Any, ...]], labels: list[tuple[Any, ...]],
             distinct: bool = False) -> Examples:
    near = [(video, a, b, 1.5, t) for video, a, b, t in closes]
    return examples_of(DISTINCT if distinct else MODES, [filled(WALK, walks), filled(CLOSE, near)],
                       filled(MEET, labels))


@given(WALKS, PAIRS, PAIRS, st.integers(1, 4), st.booleans())
def test_batches_are_what_a_slow_reading_of_the_rows_gives(
        walks: list[tuple[Any, ...]], closes: list[tuple[Any, ...]], labels: list[tuple[Any, ...]], size: int,
        distinct: bool) -> None:
    found = examples(walks, closes, labels, distinct)
    batches = iter(found.batches(size))
    counted = 0
    for video in dict.fromkeys(row[0] for row in [*walks, *closes]):
        points = sorted({row[-1] for row in [*walks, *closes] if row[0] == video})
        for low in range(0, len(points), size):
            batch, times = next(batches), points[low : low + size]
            assert (batch.stream, batch.begins, batch.times.tolist()) == (video, low == 0, times)
            people = sorted({name for row in [*walks, *closes] if row[0] == video and row[-1] in times
                             for name in row[1:-1]})
            pairs = [(a, b) for a in people for b in people if a != b or not distinct]
            assert list(map(tuple, found.domains["person"][batch.arguments].tolist())) == pairs
            true = {row[1:] for row in labels if row[0] == video}
            assert batch.labels.tolist() == [(a, b, t) in true for a, b in pairs for t in times]
            after = points[low + size : low + size + 1]
            assert batch.following().tolist() == [
                int((a, b, t) in true) if t is not None else UNKNOWN
                for a, b in pairs for t in [*times[1:], *(after or [None])]]
            assert batch.outside == sum(t in times and (a, b) not in pairs for a, b, t in true)
            counted += int(np.count_nonzero(batch.labels)) + batch.outside
            assert batch.offsets.tolist() == [i * len(times) for i in range(len(pairs) + 1)]
            for facts, rows in zip(batch.facts, (walks, closes), strict=True):
                here = sorted((times.index(row[-1]), row[1]) for row in rows if row[0] == video and row[-1] in times)
                assert facts.points is not None
                names = found.domains["person"][facts.codes[0]].tolist() if rows else []
                assert sorted(zip(facts.points.tolist(), names, strict=True)) == here
    assert next(batches, None) is None
    assert counted + found.unobserved == len(set(labels))


def test_a_fluent_can_be_declared_irreflexive() -> None:
    assert PROBLEMS == []


@given(WALKS, st.integers(1, 3))
def test_an_instance_has_one_number_in_all_batches(walks: list[tuple[Any, ...]], size: int) -> None:
    numbers: dict[int, tuple[int, ...]] = {}
    for batch in examples(walks, [], []).batches(size):
        assert (np.diff(batch.instances) > 0).all()
        for number, arguments in zip(batch.instances.tolist(), batch.arguments.tolist(), strict=True):
            assert numbers.setdefault(number, tuple(arguments)) == tuple(arguments)
    assert len(set(numbers.values())) == len(numbers)


def test_streams_can_be_chosen_and_ordered() -> None:
    found = examples([("v2", "a", 1), ("v1", "a", 1), ("v1", "b", 2), ("v3", "a", 9)], [], [])
    assert found.streams == ("v2", "v1", "v3")
    assert [(batch.stream, batch.begins) for batch in found.batches(1, ["v3", "v1"])] == [
        ("v3", True), ("v1", True), ("v1", False)]
    with pytest.raises(EventideError, match="there is no stream 'v9'; known are v2, v1, v3"):
        list(found.batches(1, ["v9"]))
    with pytest.raises(EventideError, match="at least one point, not 0"):
        list(found.batches(0))


def test_facts_without_time_are_in_every_batch_and_name_no_one_new() -> None:
    found = examples_of(MODES, [table(WALK, ["a", "b"], [1, 2]), table(ROLE, ["a", "z"], ["host", "guest"])],
                        table(MEET, [], [], []))
    for batch in found.batches(1):
        assert len(batch.instances) == 1
        assert len(batch.facts[1].codes[0]) == 2


def test_things_of_a_type_that_only_facts_without_time_name_are_all_there() -> None:
    modes, _ = read_modes("modeh(initiatedAt(within(+person,+area),+time))")
    found = examples_of(modes, [table(WALK, ["a"], [1]), table("area(+area)", ["port", "bay"])],
                        table("holdsAt(within(+person,+area),+time)", ["a"], ["bay"], [1]))
    (batch,) = found.batches(5)
    assert found.domains["area"][batch.arguments[:, 1]].tolist() == ["bay", "port"]
    assert batch.labels.tolist() == [True, False]


def test_a_fluent_may_have_no_arguments() -> None:
    modes, _ = read_modes("modeh(initiatedAt(alarm,+time))")
    found = examples_of(modes, [table(WALK, ["a", "b"], [1, 6])], table("holdsAt(alarm,+time)", [6]))
    (batch,) = found.batches(5)
    assert (batch.labels.tolist(), batch.following().tolist()) == ([False, True], [1, UNKNOWN])


@pytest.mark.parametrize(("tables", "labels", "problem"), [
    ([(WALK, ["a"], [1])], (CLOSE, ["a"], ["b"], [1.0], [1]), "labels are of the shape close"),
    ([(WALK, ["a"], [1.5])], (MEET, [], [], []), "times are whole numbers, not floats"),
    ([(WALK, ["a"], [1]), (ROLE, [4], ["x"])], (MEET, [], [], []), "person has text and whole numbers"),
    ([(CLOSE, ["a"], ["b"], ["near"], [1])], (MEET, [], [], []), "#dist is compared, so it has numbers"),
    ([("before(+time,+time)", [1], [2])], (MEET, [], [], []), "2 places of the type time"),
])
def test_wrong_tables_are_told(tables: list[Any], labels: Any, problem: str) -> None:
    with pytest.raises(EventideError, match=problem):
        examples_of(MODES, [table(*each) for each in tables], table(*labels))


def test_wrong_columns_are_told() -> None:
    with pytest.raises(EventideError, match="differ in length"):
        table(WALK, ["a", "b"], [1])
    with pytest.raises(EventideError, match=r"\+time: expected text, whole numbers or finite floats"):
        table(WALK, ["a", "b"], [1, None])
    with pytest.raises(EventideError, match="finite"):
        table(CLOSE, ["a"], ["b"], [float("nan")], [1])
    with pytest.raises(EventideError, match="whole numbers"):
        table(WALK, ["a"], np.array([1 << 63], np.uint64))
    with pytest.raises(EventideError, match="has no places"):
        table("rain")
    with pytest.raises(EventideError, match="got 2 dimensions"):
        table(WALK, [["a"]], [1])
    with pytest.raises(EventideError, match="says nothing of streams"):
        examples_of(MODES, [table(WALK, ["a"], [1], streams=["v1"])], table(MEET, ["a"], ["b"], [1]))
    with pytest.raises(EventideError, match="has streams but no time"):
        examples_of(MODES, [table(ROLE, ["a"], ["host"], streams=["v1"])], table(MEET, [], [], []))
    with pytest.raises(EventideError, match="by text, others by numbers"):
        examples_of(MODES, [table(WALK, ["a"], [1], streams=["v1"])], table(MEET, ["a"], ["b"], [1], streams=[1]))
