"""Answers as tables: the text of arguments, nested ones too, of values and of open ends."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.effort import examples
from tests.engine.running import facts_of as input_facts
from tests.engine.world import World, fields
from tests.oracle.programs import FAMILIES, Case

import eventide as ev
from eventide.algebra import nodes as n
from eventide.engine.answers import arguments, events_table, intervals_table
from eventide.engine.domains import text_of
from eventide.engine.relation import Relation, Rows
from eventide.formats.facts import column_values


@pytest.fixture
def world() -> World:
    return World()


def texts(world: World, template: str, shape: str, *rows: tuple[object, ...]) -> list[str]:
    executor = world.executor()
    codes = {f.name: world.domains[f.type].codes(row[i] for row in rows)  # type: ignore[misc]
             for i, f in enumerate(fields(shape))}
    return arguments(template, fields(shape), codes, executor.space, len(rows)).to_pylist()  # type: ignore[no-any-return]


@pytest.mark.parametrize("template, shape, row, expected", [
    ("on(_)", "X", ("ann",), "ann"),
    ("near(_,_)", "X Y", ("ann", "bob"), "ann|bob"),
    ("near(pair(_,_),_)", "X Y Z", ("ann", "bob", 3), "pair(ann,bob)|3"),
    ("at(place(_))", "X", (2.0,), "place(2.0)"),
    ("alarm", "", (), ""),
])
def test_arguments(world: World, template: str, shape: str, row: tuple[object, ...], expected: str) -> None:
    assert texts(world, template, shape, row) == [expected]


def test_intervals_with_a_column_of_values(world: World) -> None:
    node = world.intervals("X V:value", [("ann", 1.5, 3, 7), ("bob", "lo", 4, None)])
    relation = world.executor().evaluate(node)
    assert isinstance(relation, Relation)
    rows = intervals_table(relation, "speed(_)", relation.fields, None, None).to_pylist()
    assert rows == [
        {"fluent": "speed", "args": "ann", "value": "1.5", "start": 3, "end": 7},
        {"fluent": "speed", "args": "bob", "value": "lo", "start": 4, "end": None}]
    low = [world.domains["value"].find("lo")]
    assert intervals_table(relation, "speed(_)", relation.fields, None, low)["args"].to_pylist() == ["bob"]


def test_intervals_with_one_fixed_value(world: World) -> None:
    node = world.intervals("X", [("ann", 3, 7)])
    relation = world.executor().evaluate(node)
    assert isinstance(relation, Relation)
    assert intervals_table(relation, "in(_)", relation.fields, "true", None).to_pylist() == [
        {"fluent": "in", "args": "ann", "value": "true", "start": 3, "end": 7}]


def test_events_last_one_time_point(world: World) -> None:
    node = world.points("X", [("ann", 5)])
    executor = world.executor()
    rows = executor.evaluate(node)
    assert isinstance(rows, Rows)
    assert events_table(rows, "met(_)", executor.space).to_pylist() == [
        {"fluent": "met", "args": "ann", "value": "", "start": 5, "end": 6}]
    assert np.array_equal(rows.time, [5 - world.timeline.origin])
    assert n.names(rows.fields) == ("X",)


FOREVER = 10**9
LISTED = """
grounding(at(X)=home) :- person(X).
grounding(at(X)=work) :- person(X).
person(ann).
initiatedAt(at(X)=V, T) :- happensAt(go(X, V), T).
initiatedAt(near(X, 1.5)=true, T) :- happensAt(meet(X, Y), T).
"""
MET = [("event", "go", ("ann", "work"), 2), ("event", "go", ("ann", "sea"), 5), ("event", "go", ("ann", "home"), 8),
       ("event", "meet", ("ann", "bob"), 3), ("event", "meet", ("bob", 2), 4)]


def check_facts(text: str, facts: list[object]) -> None:
    """What is derived as facts is what a run reports, row for row."""
    program, given = ev.parse(text), input_facts((fact, None) for fact in facts)
    names = program.fluents
    expected = program.run(given, fluents=names).to_arrow().to_pylist()
    found = []
    for table in program.derived(given, names, FOREVER):
        for row, time in enumerate(table.time.tolist()):
            end = time + 1 if table.end is None else int(table.end[row])
            value = "" if table.value is None else text_of(column_values(table.value)[row])
            texts = [text_of(column_values(each)[row]) for each in table.args]
            found.append((table.name, "|".join(texts), value, time, None if end == FOREVER else end))
    assert sorted(found, key=repr) == sorted((tuple(row.values()) for row in expected), key=repr)


def test_as_facts_only_listed_values_count() -> None:
    check_facts(LISTED, MET)  # type: ignore[arg-type]


def test_as_facts_nested_arguments_are_columns() -> None:
    program = ev.parse("happensAt(met(pair(Y, X)), T) :- happensAt(meet(X, Y), T).")
    (table,) = program.derived(input_facts([(MET[-1], None)]), ["met"], FOREVER)  # type: ignore[list-item]
    assert [column_values(each) for each in table.args] == [[2], ["bob"]]


@pytest.mark.parametrize("family", sorted(FAMILIES))
@examples(1 / 10)
@given(data=st.data())
def test_as_facts_they_are_what_a_run_reports(family: str, data: st.DataObject) -> None:
    case: Case = data.draw(FAMILIES[family])
    check_facts(case.text + "\n" + case.background, list(case.facts))
