"""Facts to streams: coding, order, repetitions, intervals cut to the run."""

from __future__ import annotations

import numpy as np
import pytest

from eventide.engine.loading import Store, as_inputs, distinct_facts, encode, load_stream, load_table, time_range
from eventide.engine.relation import Relation, Rows, Space, Timeline
from eventide.formats.facts import FactTable, column_of


def table(kind: str, times: list[int], *args: list[object], **more: object) -> FactTable:
    columns = tuple(column_of(values) for values in args)  # type: ignore[arg-type]
    return FactTable("e", kind, np.array(times, np.int64), columns, **more)  # type: ignore[arg-type]


def space_of(store: Store, **clock: int) -> Space:
    for domain in store.domains.values():
        domain.fix()
    return Space(store.domains, Timeline.covering(0, 100, **{"tick": 1, "start": 0, "until": 50} | clock))


def test_columns_as_codes_as_numbers_and_not_at_all() -> None:
    store = Store()
    names, mixed = column_of(["ann", "bob", "ann"]), column_of([1, 2.5, "x"])
    assert encode(names, "person", store).tolist() == [0, 1, 0]  # type: ignore[union-attr]
    assert encode(column_of([7, 8]), "person", store).tolist() == [2, 3]  # type: ignore[union-attr]
    assert store.domain("person").values == ["ann", "bob", 7, 8]
    assert np.array_equal(encode(mixed, "number", store), [1.0, 2.5, np.nan], equal_nan=True)  # type: ignore[arg-type]
    assert encode(column_of([7, 8]), "number", store).tolist() == [7, 8]  # type: ignore[union-attr]
    assert encode(names, "unused", store) is None


def test_small_integers_of_a_dictionary_column_stay_integers() -> None:
    coded = column_of([3, "x"])
    only = type(coded)(np.array([0, 0], np.int32), (3,))  # type: ignore[call-arg, arg-type]
    assert encode(only, "number", Store()).dtype == np.int64  # type: ignore[union-attr]


def test_a_stream_is_in_order_of_its_entity_and_time() -> None:
    store = Store()
    load_stream(store, "e", "event", ["number", "person"],
                table("event", [5, 9, 1, 3], [10, 20, 30, 40], ["bob", "ann", "bob", "ann"]))
    stream = store.streams["e"]
    assert stream.time.tolist() == [1, 5, 3, 9]
    assert stream.columns["e.0"].tolist() == [30, 10, 40, 20]


@pytest.mark.parametrize("types", [["person"], ["unused"]])
def test_times_far_apart_are_ordered_too(types: list[str]) -> None:
    store = Store()
    load_stream(store, "e", "event", types, table("event", [2**61, 0, -(2**61)], ["ann", "ann", "ann"]))
    assert store.streams["e"].time.tolist() == [-(2**61), 0, 2**61]


def test_a_stream_without_facts() -> None:
    store = Store()
    load_stream(store, "e", "event", ["person"], None)
    load_stream(store, "i", "interval", ["person", "value"], None)
    assert len(store.streams["e"]) == 0 and store.streams["i"].end is not None
    assert time_range(store.streams.values()) is None


def test_the_range_of_times_includes_ends() -> None:
    store = Store()
    load_stream(store, "e", "event", ["person"], table("event", [5], ["ann"]))
    load_stream(store, "i", "interval", ["person", "value"],
                table("interval", [7], ["ann"], end=np.array([30]), value=column_of(["true"])))
    assert time_range(store.streams.values()) == (5, 30)


def test_repeated_facts_are_one_and_the_first_arrival_stays() -> None:
    repeated = table("event", [5, 5, 5, 6], ["ann", "ann", "bob", "ann"], arrival=np.array([9, 7, 5, 6]))
    kept = distinct_facts(repeated)
    assert kept.time.tolist() == [5, 5, 6]
    assert kept.arrival is not None and sorted(kept.arrival.tolist()) == [5, 6, 7]
    single = table("event", [1, 2], ["ann", "ann"])
    assert distinct_facts(single) is single


def test_background_tables() -> None:
    store = Store()
    load_table(store, "size/2", ["person", "unused"], [column_of(["ann"]), column_of([3])], 1)
    assert store.tables["size/2"].column("size/2.0").tolist() == [0]


def test_events_outside_the_run_are_left_out() -> None:
    store = Store()
    load_stream(store, "e", "event", ["person"], table("event", [10, 11, 20, 21], ["ann"] * 4))
    space = space_of(store, start=10, until=20)
    rows = as_inputs(space, store.streams, frozenset())["e"]
    assert isinstance(rows, Rows)
    assert (rows.time + space.timeline.origin).tolist() == [11, 20]


def test_points_become_intervals_where_that_is_declared() -> None:
    store = Store()
    load_stream(store, "p", "point", ["person", "value"],
                table("point", [3, 4, 9], ["ann"] * 3, value=column_of(["up"] * 3)))
    space = space_of(store)
    assert isinstance(as_inputs(space, store.streams, frozenset())["p"], Rows)
    built = as_inputs(space, store.streams, frozenset({"p"}))["p"]
    assert isinstance(built, Relation)
    assert ((built.intervals.starts & space.timeline.mask) + space.timeline.origin).tolist() == [3, 9]


def test_intervals_are_cut_to_the_run() -> None:
    store = Store()
    spans = [(-20, -5), (-3, 6), (5, 9), (8, 8), (40, 70), (60, 80)]
    load_stream(store, "i", "interval", ["person", "value"],
                table("interval", [s for s, _ in spans], ["ann"] * 6, end=np.array([e for _, e in spans]),
                      value=column_of(["true"] * 6)))
    space = Space(store.domains, Timeline.covering(-20, 100, tick=1, start=0, until=50))
    for domain in store.domains.values():
        domain.fix()
    found = as_inputs(space, store.streams, frozenset())["i"]
    assert isinstance(found, Relation)
    timeline = space.timeline
    assert ((found.intervals.starts & timeline.mask) + timeline.origin).tolist() == [1, 40]
    assert ((found.intervals.ends & timeline.mask) + timeline.origin).tolist() == [9, 70]
