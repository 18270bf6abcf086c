"""Arithmetic without a value, such as a division by zero: the row's condition fails, the others are not touched."""

from __future__ import annotations

import pyarrow as pa
import pytest

import eventide as ev

EVENTS = pa.table({"time": [1, 2, 3], "event": ["m"] * 3, "who": ["a", "b", "c"], "x": [6, 6, 0], "y": [3, 0, 0]})


@pytest.mark.parametrize(("condition", "who"), [
    ("X / Y > 1", "a"), ("X // Y =:= 2", "a"), ("X mod Y =:= 0", "a"), ("X / Y =\\= 7", "a"),
    ("Z is X / Y, Z >= 0", "a"), ("Z is floor(X / Y), Z > 0", "a"), ("\\+ X / Y > 1", "bc"), ("sqrt(X - 6) < 1", "ab"),
])
def test_the_row_fails(condition: str, who: str) -> None:
    found = ev.parse(f"initiatedAt(f(P)=true, T) :- happensAt(m(P, X, Y), T), {condition}.").run(EVENTS).timeline()
    assert set(found) == {f"f({name})=true" for name in who}


def test_a_value_is_computed_only_where_there_is_one() -> None:
    found = ev.parse("initiatedAt(f(P)=Z, T) :- happensAt(m(P, X, Y), T), Z is X // Y.").run(EVENTS).timeline()
    assert list(found) == ["f(a)=2"]
