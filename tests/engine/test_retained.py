"""What a session holds of an input, against a set of time-points per fact."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.engine.running import facts_of
from tests.oracle.sessions import time_points
from tests.oracle.store import Fact

from eventide.engine.loading import Store
from eventide.engine.relation import Space, Timeline
from eventide.engine.retained import Batch, Retained, batch_of, joined

Held = set[tuple[object, ...]]
SHAPES = {"event": ("thing", "number", "unused"), "point": ("thing", "number", "unused", "value"),
          "interval": ("thing", "number", "unused", "value")}
KINDS = pytest.mark.parametrize("kind", sorted(SHAPES))


class Op(NamedTuple):
    """A fact that is inserted (+1) or retracted (-1)."""

    fact: Fact
    sign: int = 1
    arrival: int | None = None


class Input:
    """An input with the store that its facts are coded in."""

    def __init__(self, kind: str, *, counted: bool = False, types: tuple[str, ...] | None = None) -> None:
        self.store = Store()
        self.kept = Retained.nothing("f", kind, types or SHAPES[kind], counted=counted)

    def batch(self, *ops: Op, low: int = 0) -> Batch:
        """Operations as a batch, intervals with their part from `low` on; arrivals and signs where there are any."""
        table, = facts_of((op.fact, op.arrival) for op in ops)
        signs = np.array([op.sign for op in ops], np.int8)
        table = replace(table, op=signs if (signs < 0).any() else None,
                        arrival=None if all(op.arrival is None for op in ops) else table.arrival)
        found = batch_of(self.store, self.kept.fields, self.kept.kind, table)
        return found if found.end is None else replace(found, time=np.maximum(found.time, low))

    def apply(self, *ops: Op, low: int = 0) -> tuple[Held, Held, int]:
        """What came, what went, and how many retractions found nothing."""
        self.kept, added, removed, unmatched = self.kept.apply(self.batch(*ops, low=low), low)
        return self.shown(added), self.shown(removed), unmatched

    def rows(self, batch: Batch) -> list[tuple[object, ...]]:
        """Rows with their values, time and end."""
        columns: list[list[object]] = []
        for f in self.kept.fields:
            if f.name in batch.columns:
                codes = batch.columns[f.name].tolist()
                columns.append(codes if f.type == "number" else [self.store.domains[f.type].values[c] for c in codes])
        ends = batch.time + 1 if batch.end is None else batch.end
        return list(zip(*columns, batch.time.tolist(), ends.tolist(), strict=True))

    def shown(self, batch: Batch) -> Held:
        """The time-points of rows, with what rules read of them; words are no numbers, so they are None."""
        return {(*(None if v != v else v for v in row), t) for *row, start, end in self.rows(batch)
                for t in range(start, end)}

    @property
    def held(self) -> Held:
        return self.shown(self.kept.merged().facts)

    def space(self, until: int = 60) -> Space:
        for domain in self.store.domains.values():
            domain.fix(1)
        return Space(self.store.domains, Timeline.covering(-20, 80, tick=1, start=-10, until=until, initially_at=0))


class Model:
    """The same by sets of time-points."""

    def __init__(self) -> None:
        self.held: dict[Fact, set[int]] = defaultdict(set)

    def apply(self, ops: list[Op], low: int) -> tuple[set[Fact], int]:
        """The facts that an operation touched, and how many retractions found nothing."""
        unmatched = 0
        for op in ops:
            inside = {t for t in time_points(op.fact) if t >= low or op.fact[0] != "interval"}
            if op.sign > 0:
                self.held[op.fact] |= inside
            else:
                unmatched += not self.held[op.fact] & inside
                self.held[op.fact] -= inside
        return {op.fact for op in ops}, unmatched

    @property
    def shown(self) -> Held:
        return {row for fact, points in self.held.items() for row in read(fact, points)}


def read(fact: Fact, points: set[int]) -> Held:
    """What rules read of a fact: not the third argument, and no words in the place of numbers."""
    name, number, _ = fact[2]
    values = () if fact[0] == "event" else (fact[3],)
    return {(name, None if isinstance(number, str) else number, *values, t) for t in points}


def fact(kind: str, name: str, time: int, *, number: object = 1, unread: object = 0, value: str = "true",
         end: int | None = None) -> Fact:
    args = (name, number, unread)
    if kind == "event":
        return (kind, "f", args, time)  # type: ignore[return-value]
    return (kind, "f", args, value, time, *([end or time + 5] if kind == "interval" else []))  # type: ignore[return-value]


def event(name: str, time: int, **more: Any) -> Fact:
    return fact("event", name, time, **more)


def facts(kind: str) -> st.SearchStrategy[Fact]:
    """Few facts, so that they meet again."""
    return st.builds(lambda name, time, number, unread, length, value: fact(
        kind, name, time, number=number, unread=unread, value=value, end=time + length),
        st.sampled_from("ab"), st.integers(0, 8), st.sampled_from([1, 2.5, "x", "y"]),
        st.sampled_from([0, 7, 8.5, "u"]), st.integers(1, 8), st.sampled_from(["on", "off"]))


def inside(op: Op, low: int) -> bool:
    """Whether an operation is not too late."""
    return time_points(op.fact)[-1] >= low


@KINDS
@pytest.mark.parametrize("counted", [False, True])
@given(data=st.data())
def test_insertions_and_retractions(kind: str, counted: bool, data: st.DataObject) -> None:
    known = data.draw(st.lists(facts(kind), min_size=1, max_size=4))
    chosen = st.one_of(st.sampled_from(known), facts(kind))
    ops = st.lists(st.builds(Op, chosen, st.sampled_from([1, 1, -1]), st.none()), min_size=1, max_size=8)
    given_, model, low = Input(kind, counted=counted), Model(), 0
    for batch in data.draw(st.lists(ops, min_size=1, max_size=6)):
        low += data.draw(st.sampled_from([0, 0, 1, 3]))
        batch = [op for op in batch if inside(op, low)]
        if not batch:
            continue
        before = model.shown
        touched, unmatched = model.apply(batch, low)
        came, went, missed = given_.apply(*batch, low=low)
        after = model.shown
        assert given_.held == after
        assert missed == unmatched
        about = {row for f in touched for row in read(f, set(time_points(f)))}
        assert after - before <= came <= after & about, "what is new came, nothing comes that is not there"
        assert before - after <= went <= before & about, "what is missing went, nothing goes that was not there"
        if counted and kind != "interval":
            assert len(given_.kept) == sum(bool(points) for points in model.held.values()), "each fact is one row"


@given(st.lists(st.tuples(st.integers(0, 40), st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 50)),
                                                       min_size=1, max_size=60)), max_size=5))
def test_rows_are_in_order_whenever_they_came(batches: list[tuple[int, list[tuple[str, int]]]]) -> None:
    """Those that came lately may be kept apart, but what is read is one list in order."""
    given_ = Input("event")
    came = []
    for _, batch in batches:
        given_.apply(*(Op(event(*row)) for row in batch))
        came += batch
        for part in (given_.kept.facts, given_.kept.recent):
            keys = [] if part is None else list(zip(given_.kept._key(part).tolist(), part.time.tolist(), strict=True))
            assert keys == sorted(keys)
    assert len(given_.kept) == len(came)
    if not came:
        return
    space = given_.space()
    front = np.full(1 << space.width("thing"), 1 << 62)
    limits = {name: time for time, rows in batches for name, _ in rows}
    for name, time in limits.items():
        front[given_.store.domains["thing"].find(name)] = time - space.timeline.origin
    chosen = given_.kept.affected(space, "f.0", front)
    names = [given_.store.domains["thing"].values[code] for code in chosen.column("f.0").tolist()]
    found = list(zip(names, (chosen.time + space.timeline.origin).tolist(), strict=True))
    assert sorted(found) == sorted((name, time) for name, time in came if time >= limits[name])
    assert given_.kept.share(space, "f.0", front) == (len(found), len(came))
    rows = given_.kept.rows(space)
    assert given_.kept.recent is None and given_.kept.rows(space) is rows
    codes = rows.column("f.0").tolist()
    assert list(zip(codes, rows.time.tolist(), strict=True)) == sorted(zip(codes, rows.time.tolist(), strict=True))
    assert sorted((rows.time + space.timeline.origin).tolist()) == sorted(time for _, time in came)


@KINDS
@given(data=st.data())
def test_facts_wait_until_they_occur_and_arrive(kind: str, data: st.DataObject) -> None:
    """What is taken out has the effect of what came, in order of arrival."""
    arrivals = data.draw(st.booleans(), "arrivals")
    op = st.builds(Op, facts(kind), st.sampled_from([1, -1]), st.integers(0, 20) if arrivals else st.none())
    given_ = Input(kind)
    waiting: list[Op] = []
    for query in sorted(data.draw(st.lists(st.integers(0, 20), max_size=5))):
        for ops in data.draw(st.lists(st.lists(op, min_size=1, max_size=4), max_size=2)):
            given_.kept.hand_in(given_.batch(*ops))
            waiting += ops
        ready = [o for o in waiting if max(time_points(o.fact)[0], o.arrival or 0) <= query]
        waiting = [o for o in waiting if o not in ready]
        due = given_.kept.due(query)
        ready.sort(key=lambda o: time_points(o.fact)[0] if o.arrival is None else o.arrival)
        assert (0 if due is None else len(due)) == len(ready)
        assert sum(len(batch) for batch in given_.kept.waiting) == len(waiting)
        if due is not None:
            slow, fast = Model(), given_.kept.apply(due, 0)
            slow.apply(ready, 0)
            assert given_.shown(fast[0].merged().facts) == slow.shown


# One by one


def test_a_duplicate_is_one_fact() -> None:
    given_ = Input("event")
    given_.apply(Op(event("a", 3)), Op(event("a", 3)))
    assert given_.apply(Op(event("a", 3), -1)) == (set(), {("a", 1, 3)}, 0)
    assert given_.held == set() and len(given_.kept) == 0
    assert given_.apply(Op(event("a", 3), -1)) == (set(), set(), 1)


def test_a_revision_replaces_a_fact() -> None:
    given_ = Input("event")
    given_.apply(Op(event("a", 3)), Op(event("b", 3)))
    assert given_.apply(Op(event("a", 3), -1), Op(event("a", 5))) == ({("a", 1, 5)}, {("a", 1, 3)}, 0)
    assert given_.held == {("b", 1, 3), ("a", 1, 5)}


def test_the_last_operation_on_a_fact_decides() -> None:
    given_ = Input("event")
    up, down = Op(event("a", 3)), Op(event("a", 3), -1)
    assert given_.apply(up, down) == (set(), set(), 0)
    assert given_.apply(down, up) == ({("a", 1, 3)}, set(), 1)
    assert given_.apply(down, up) == ({("a", 1, 3)}, {("a", 1, 3)}, 0), "it went and came again"
    assert given_.apply(down, down, up, down) == (set(), {("a", 1, 3)}, 1)


@pytest.mark.parametrize("unread", [(0, 1), (1, 1.0), ("u", "v"), (0, "u"), (-1, 1), (1.5, 2.5), ("1", 1)])
def test_facts_that_differ_only_in_what_no_rule_reads(unread: tuple[object, object]) -> None:
    given_ = Input("event")
    first, second = (event("a", 3, unread=value) for value in unread)
    given_.apply(Op(first))
    given_.apply(Op(second))
    assert given_.apply(Op(first, -1)) == (set(), {("a", 1, 3)}, 0)
    assert given_.held == {("a", 1, 3)}, "the other one is still there"
    assert given_.apply(Op(first, -1))[2] == 1
    assert given_.apply(Op(second, -1))[2] == 0 and given_.held == set()


def test_words_among_numbers_are_apart() -> None:
    given_ = Input("event")
    given_.apply(Op(event("a", 3, number="x")), Op(event("a", 3, number=2)))
    assert given_.apply(Op(event("a", 3, number="y"), -1))[2] == 1
    assert given_.apply(Op(event("a", 3, number="x"), -1)) == (set(), {("a", None, 3)}, 0)
    assert given_.held == {("a", 2, 3)}


def test_whole_and_real_numbers_meet() -> None:
    given_ = Input("event")
    given_.apply(Op(event("a", 3, number=2)))
    given_.apply(Op(event("a", 4, number=2.5)))
    assert given_.apply(Op(event("a", 3, number=2), -1))[2] == 0
    assert given_.held == {("a", 2.5, 4)}


def test_large_numbers_stay_apart_beside_real_ones() -> None:
    given_ = Input("event")
    given_.apply(Op(event("a", 3, number=2**53)), Op(event("a", 3, number=2**53 + 1)))
    given_.apply(Op(event("b", 4, number=2.5)))
    given_.apply(Op(event("a", 3, number=2**53 + 1), -1))
    assert len(given_.kept) == 2


def test_an_interval_is_retracted_from_the_window_on() -> None:
    given_ = Input("interval")
    long = fact("interval", "a", 2, end=30)
    given_.apply(Op(long))
    came, went, unmatched = given_.apply(Op(long, -1), low=11)
    assert (came, unmatched) == (set(), 0) and {row[-1] for row in went} == set(range(11, 30))
    assert {row[-1] for row in given_.held} == set(range(2, 11))
    assert given_.apply(Op(long, -1), low=12)[2] == 1, "what is left of it is no longer the fact"
    assert {row[-1] for row in given_.apply(Op(long), low=16)[0]} == set(range(16, 30))
    assert {row[-1] for row in given_.held} == {*range(2, 11), *range(16, 30)}
    assert given_.apply(Op(long, -1), low=20)[2] == 0
    assert {row[-1] for row in given_.held} == {*range(2, 11), *range(16, 20)}


def test_intervals_that_came_late_and_whole_are_one_fact() -> None:
    given_ = Input("interval")
    long = fact("interval", "a", 2, end=30)
    given_.apply(Op(long))
    given_.apply(Op(long), low=9)
    assert given_.apply(Op(long, -1), low=9)[2] == 0
    assert {row[-1] for row in given_.held} == set(range(2, 9))


def test_counted_facts_are_one_row_each() -> None:
    given_ = Input("event", counted=True)
    assert given_.apply(Op(event("a", 3)), Op(event("a", 3)))[0] == {("a", 1, 3)}
    assert given_.apply(Op(event("a", 3)), Op(event("a", 3, unread=1))) == ({("a", 1, 3)}, set(), 0)
    assert len(given_.kept) == 2
    assert given_.apply(Op(event("a", 3))) == (set(), set(), 0)
    assert len(given_.kept) == 2


def test_few_facts_among_many_are_merged_later() -> None:
    given_ = Input("event")
    given_.apply(*(Op(event("ab"[t % 2], t)) for t in range(100)))
    assert given_.kept.recent is None
    given_.apply(*(Op(event("c", t)) for t in range(5)))
    given_.apply(Op(event("a", 50, unread=3)))
    assert given_.kept.recent is not None and len(given_.kept.recent) == 6 and len(given_.kept) == 106
    assert given_.apply(Op(event("c", 4), -1))[2] == 0, "they are found all the same"
    assert given_.kept.recent is None and len(given_.kept) == 105


def test_intervals_are_merged_at_once() -> None:
    given_ = Input("interval", types=("thing", "code", "code", "value"))
    given_.apply(*(Op(fact("interval", "a", time, end=time + 3)) for time in range(-13, 47, 6)))
    given_.apply(Op(fact("interval", "a", 1, end=6)))
    assert given_.kept.recent is None and len(given_.kept) == 11
    space = given_.space(until=40)
    spans = given_.kept.relation(space).intervals
    ends = [(t & space.timeline.mask) + space.timeline.origin for t in (spans.starts, spans.ends)]
    assert list(zip(*(t.tolist() for t in ends), strict=True)) == [
        (0, 8), (11, 14), (17, 20), (23, 26), (29, 32), (35, 38), (41, 44)]


def test_what_is_settled_is_forgotten_when_it_is_much() -> None:
    given_ = Input("event")
    given_.apply(*(Op(event("a", t)) for t in range(70)))
    kept = given_.kept.without(10)
    assert kept.facts.time.tolist() == list(range(10, 70)) and kept.size == 64
    assert kept.without(30) is kept, "there cannot be many"
    given_.kept = kept
    given_.apply(*(Op(event("b", t)) for t in range(70, 91)))
    kept = given_.kept.without(30)
    assert len(kept) == 61 and kept.merged().facts.time.min() == 30
    given_.kept = kept
    given_.apply(*(Op(event("b", t)) for t in range(100, 140)))
    given_.apply(*(Op(event("b", t)) for t in range(140, 150)))
    assert given_.kept.recent is not None
    kept = given_.kept.without(0)
    assert len(kept) == 111 and kept.size == 111
    kept = replace(kept, size=0).without(130)
    assert sorted(kept.merged().facts.time.tolist()) == list(range(130, 150))


def test_an_interval_is_kept_while_its_end_counts() -> None:
    given_ = Input("interval")
    given_.apply(*(Op(fact("interval", "a", t, end=t + 3)) for t in range(10)))
    assert given_.kept.without(8).facts.end is not None
    assert given_.kept.without(8).facts.time.tolist() == [5, 6, 7, 8, 9]
    assert given_.kept.without(3).facts is given_.kept.facts


def test_inputs_that_rules_read_no_column_of() -> None:
    given_ = Input("event", types=("unused", "number", "unused"))
    assert given_.kept.key is None
    given_.apply(Op(event("b", 7)), Op(event("a", 3)))
    given_.apply(Op(event("b", 5)))
    assert given_.kept.merged().facts.time.tolist() == [3, 5, 7]
    assert given_.apply(Op(event("a", 5), -1))[2] == 1
    assert given_.apply(Op(event("b", 5), -1))[2] == 0
    assert given_.held == {(1, 3), (1, 7)}


def test_times_far_apart_are_sorted_too() -> None:
    given_ = Input("event")
    given_.apply(Op(event("b", 2**61)), Op(event("a", 2**61)), Op(event("b", -(2**61))))
    assert [row[:3:2] for row in given_.rows(given_.kept.merged().facts)] == [
        ("b", -(2**61)), ("b", 2**61), ("a", 2**61)]


def test_nothing_at_all() -> None:
    given_ = Input("interval")
    assert given_.kept.due(5) is None and len(given_.kept) == 0
    none = given_.batch(Op(fact("interval", "a", 3))).take(slice(0))
    assert (none.ready, none.oldest) == (0, 0)
    kept, added, removed, unmatched = given_.kept.apply(none, 0)
    assert (len(kept), len(added), len(removed), unmatched) == (0, 0, 0, 0)
    assert len(joined(none, none)) == 0
