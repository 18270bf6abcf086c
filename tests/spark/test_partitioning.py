"""Which definitions are evaluated where, and what is sent: the planner on small programs."""

from __future__ import annotations

import textwrap

import pytest

import eventide as ev
from eventide.spark.batch import partitioning_of
from eventide.spark.partitioning import to_text

SINGLE = """
    initiatedAt(rich(X)=true, T) :- happensAt(win(X), T).
    terminatedAt(rich(X)=true, T) :- happensAt(lose(X), T).
    initiatedAt(at(X)=P, T) :- happensAt(go(X, P), T).
    holdsFor(happy(X)=true, I) :- holdsFor(rich(X)=true, I1), holdsFor(at(X)=pub, I2), union_all([I1, I2], I).
"""
PAIRS = """
    collectIntervals(near(_,_)=true).
    initiatedAt(slow(V)=true, T) :- happensAt(slows(V), T).
    holdsFor(meet(A,B)=true, I) :-
        holdsFor(near(A,B)=true, I0), holdsFor(slow(A)=true, I1), holdsFor(slow(B)=true, I2),
        intersect_all([I0,I1,I2], I).
"""


def stages(rules: str) -> str:
    return to_text(partitioning_of(ev.parse(textwrap.dedent(rules))))


def test_rules_about_single_entities_need_one_shuffle() -> None:
    assert stages(SINGLE) == textwrap.dedent("""\
        reading
          send win(_) by argument 1 to stage 1
          send lose(_) by argument 1 to stage 1
          send go(_,_) by argument 1 to stage 1
        stage 1
          rich(_) by X
          at(_) by X
          happy(_)=true by X""")


def test_intervals_of_one_entity_go_to_where_the_pair_lives() -> None:
    assert stages(PAIRS) == textwrap.dedent("""\
        reading
          send slows(_) by argument 1 to stage 1
          send near(_,_) by argument 1 to stage 2
          ask by near(_,_), argument 2 for the bucket of argument 1, at stage 1
        stage 1
          slow(_) by V
          send slow(_) by argument 1 to stage 2
          send slow(_) by argument 1 to those that asked by near(_,_), to stage 2
        stage 2
          meet(_,_)=true by A""")


def test_what_asks_for_anybody_has_everybody_sent() -> None:
    found = stages("""
        initiatedAt(alone(X)=true, T) :- happensAt(e(X), T), \\+ happensAt(go(_), T).""")
    assert "send e(_) by argument 1 to stage 1" in found and "send go(_) to all buckets to stage 1" in found


def test_counts_of_others_have_everybody_sent() -> None:
    found = stages("""
        initiatedAt(crowd(X)=true, T) :- happensAt(e(X), T), findall(Z, happensAt(go(Z), T), L), length(L, N), N > 2.
    """)
    assert "send e(_) by argument 1 to stage 1" in found and "send go(_) to all buckets to stage 1" in found


@pytest.mark.parametrize(("rules", "reason"), [
    ("initiatedAt(alone(X)=true, T) :- happensAt(e(X), T), \\+ happensAt(e(_), T).",
     "every row of it depends on e(_) of all entities"),
    ("initiatedAt(open=true, T) :- happensAt(e(_), T).", "no argument of it names an entity"),
    ("initiatedAt(a(X)=true, T) :- happensAt(e(X), T), next(X, Y), \\+ holdsAt(a(Y)=true, T).\nnext(a, b).",
     "keeps the cycle within one entity"),
])
def test_what_cannot_be_spread_runs_in_one_bucket_and_says_why(rules: str, reason: str) -> None:
    spread = partitioning_of(ev.parse(rules))
    assert [problem.code for problem in spread.diagnostics] == ["one-bucket"]
    assert reason in spread.diagnostics[0].message
    assert set(spread.stages[1].owners.values()) == {None}


def test_a_cycle_within_an_entity_is_spread() -> None:
    found = partitioning_of(ev.parse("""
        initiatedAt(a(X)=true, T) :- happensAt(e(X,_), T), \\+ holdsAt(b(X,_)=true, T).
        initiatedAt(b(X,Y)=true, T) :- happensAt(e(X,Y), T), holdsAt(a(X)=true, T)."""))
    assert not found.diagnostics and found.stages[1].owners == {"a(_)": 0, "b(_,_)": 0}


def test_a_cycle_between_entities_is_not() -> None:
    found = partitioning_of(ev.parse("""
        initiatedAt(a(X)=true, T) :- happensAt(e(X,Y), T), \\+ holdsAt(b(Y)=true, T).
        initiatedAt(b(X)=true, T) :- happensAt(f(X), T), holdsAt(a(X)=true, T)."""))
    assert [problem.code for problem in found.diagnostics] == ["one-bucket"]
    assert "keeps the cycle within one entity" in found.diagnostics[0].message


def test_windows_have_the_facts_of_partners_copied() -> None:
    assert partitioning_of(ev.parse(SINGLE), windows=True) == partitioning_of(ev.parse(SINGLE))
    assert to_text(partitioning_of(ev.parse(textwrap.dedent(PAIRS)), windows=True)) == textwrap.dedent("""\
        reading
          send near(_,_) by argument 1 to stage 2
          send slows(_) by argument 1 to stage 2
          send slows(_) by argument 1 to stage 1
          ask by near(_,_), argument 2 for the bucket of argument 1, at stage 1
        stage 1
          send slows(_) by argument 1 to those that asked by near(_,_), to stage 2
        stage 2
          slow(_) by V
          meet(_,_)=true by A""")


def test_windows_that_need_everything_everywhere_are_one_bucket() -> None:
    rules = """
        initiatedAt(a(X)=true, T) :- happensAt(e(X), T).
        initiatedAt(b(X)=true, T) :- happensAt(e(X), T), \\+ holdsAt(a(_)=true, T)."""
    assert partitioning_of(ev.parse(rules)).stages[2].owners == {"b(_)": 0}
    found = partitioning_of(ev.parse(rules), windows=True)
    assert [problem.code for problem in found.diagnostics] == ["one-bucket"]
    assert "every bucket would need all facts of e(_)" in found.diagnostics[0].message
    assert set(found.stages[1].owners.values()) == {None}
