"""Answers as tables: the text of arguments, nested ones too, of values and of open ends."""

from __future__ import annotations

import numpy as np
import pytest
from tests.engine.world import World, fields

from eventide.algebra import nodes as n
from eventide.engine.answers import arguments, events_table, intervals_table
from eventide.engine.relation import Relation, Rows


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
