"""Statically determined fluents that combine lists about different entities."""

from __future__ import annotations

import pyarrow as pa
import pytest
from tests.engine.running import answer

import eventide as ev

INPUTS = "collectIntervals(near(_,_)=true).\ncollectIntervals(in(_)=true).\ncollectIntervals(out(_)=true).\n"


def run(rules: str, rows: list[tuple[str, str, str | None, int, int]]) -> dict[str, list[tuple[int, int | None]]]:
    """Rows are (fluent, first argument, second argument or None, start, end)."""
    table = pa.table({"time": [r[3] for r in rows], "end": [r[4] for r in rows], "event": [r[0] for r in rows],
                      "value": ["true"] * len(rows), "a": [r[1] for r in rows], "b": [r[2] for r in rows]})
    return ev.parse(INPUTS + rules).run(table, start=0, end=100).timeline()


def test_a_list_about_nobody_counts_for_every_entity_the_rule_reads() -> None:
    rules = """
        holdsFor(left(X)=true, I) :-
            holdsFor(in(X)=true, I1), holdsFor(near(_, _)=true, I2), holdsFor(out(X)=true, I3),
            union_all([I1, I2], J), relative_complement_all(J, [I3], I).
    """
    rows = [("out", "a", None, 5, 8), ("near", "b", "c", 3, 20)]
    assert run(rules, rows) == {"left(a)=true": [(3, 5), (8, 20)]}


def test_background_links_the_entities() -> None:
    rules = """
        next(a, b). next(b, c).
        holdsFor(either(X)=true, I) :-
            holdsFor(in(X)=true, I1), next(X, Y), holdsFor(in(Y)=true, I2), union_all([I1, I2], I).
    """
    assert run(rules, [("in", "b", None, 2, 4)]) == {"either(a)=true": [(2, 4)], "either(b)=true": [(2, 4)]}


def test_a_pair_minus_what_one_of_them_does() -> None:
    rules = """
        holdsFor(alone(X, Y)=true, I) :-
            holdsFor(near(X, Y)=true, I0), holdsFor(in(X)=true, I1), holdsFor(in(Y)=true, I2),
            union_all([I1, I2], J), relative_complement_all(I0, [J], I).
    """
    rows = [("near", "a", "b", 2, 20), ("in", "a", None, 4, 6), ("in", "b", None, 5, 9)]
    assert run(rules, rows) == {"alone(a,b)=true": [(2, 4), (9, 20)]}


def test_a_guard_keeps_entities_with_or_without_intervals() -> None:
    rules = """
        holdsFor(with(X)=true, I) :- holdsFor(in(X)=true, I), holdsFor(out(X)=true, I2), I2 \\= [].
        holdsFor(lacking(X)=true, I) :- holdsFor(in(X)=true, I), holdsFor(out(X)=true, I2), I2 = [].
    """
    rows = [("in", "a", None, 2, 5), ("in", "b", None, 3, 6), ("out", "a", None, 9, 11)]
    assert run(rules, rows) == {"with(a)=true": [(2, 5)], "lacking(b)=true": [(3, 6)]}


def test_rules_for_different_constants_may_build_on_each_other() -> None:
    rules = """
        holdsFor(within(X, 1)=true, I) :- holdsFor(in(X)=true, I).
        holdsFor(within(X, 2)=true, I) :-
            holdsFor(within(X, 1)=true, I1), holdsFor(out(X)=true, I2), union_all([I1, I2], I).
        holdsFor(some(X)=true, I) :- holdsFor(within(X, _)=true, I).
    """
    rows = [("in", "a", None, 2, 5), ("out", "a", None, 9, 11)]
    assert run(rules, rows) == {"within(a,1)=true": [(2, 5)], "within(a,2)=true": [(2, 5), (9, 11)],
                                "some(a)=true": [(2, 5), (9, 11)]}


@pytest.mark.parametrize("options", [{}, {"window": 40, "step": 3}, {"window": 5, "step": 5}])
def test_rules_with_a_constant_and_with_a_variable_are_united_in_what_is_reported(options: dict[str, int]) -> None:
    rules = """
    initiatedAt(g(X)=true, T) :- happensAt(e2(X), T).
    terminatedAt(g(X)=true, T) :- happensAt(e3(X), T).
    initiatedAt(f(X)=V, T) :- happensAt(n(X, V), T).
    holdsFor(s(a)=low, I) :- holdsFor(g(_)=true, I).
    holdsFor(s(X)=V, I) :- holdsFor(f(X)=V, I).
    """
    given = [("e2", "b", 0), ("n", "a", "low", 1), ("n", "a", "high", 9), ("n", "c", "low", 2), ("e3", "b", 20)]
    found = answer(rules, *given, start=-1, end=30, **options)
    assert {name: spans for name, spans in found.items() if name.startswith("s(")} == {
        "s(a)=low": [(1, 21)], "s(a)=high": [(10, None)], "s(c)=low": [(3, None)]}
