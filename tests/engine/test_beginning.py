"""A session without a start has no beginning: which facts count depends on the window alone."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from tests.oracle.sessions import rows_of

import eventide as ev
from eventide.errors import ProgramError

RICH = """
initiatedAt(rich(X)=true, T) :- happensAt(win(X), T).
terminatedAt(rich(X)=true, T) :- happensAt(lose(X), T).
"""
HUNGRY = "initiatedAt(fed(X)=true, T) :- happensAt(win(X), T). fi(fed(X)=true, fed(X)=false, 4).\n"
GLAD = "initiatedAt(glad(X)=true, T) :- happensAt(end(rich(X)=true), T), holdsAt(fed(X)=false, T).\n"


def facts(*rows: tuple[int, str, str]) -> pa.Table:
    return pa.table(dict(zip(("time", "event", "who"), zip(*rows, strict=True), strict=True)))


def certain(table: pa.Table) -> list[tuple[Any, ...]]:
    return rows_of(table.select(["fluent", "args", "value", "start", "end"]))


@pytest.mark.parametrize("uncertain", [False, True])
@pytest.mark.parametrize("window", [100, None])
def test_a_late_fact_that_is_older_than_all_before_counts_inside_the_window(window: int | None,
                                                                            uncertain: bool) -> None:
    program = ev.parse(RICH)
    session = program.session(window=window, probabilistic=True) if uncertain else program.session(window=window)
    session.insert(facts((50, "win", "ann")))
    session.advance(60)
    session.insert(facts((40, "win", "bob"), (45, "lose", "ann")))
    changes = session.advance(70)
    assert certain(changes.added) == [("rich", "bob", "true", 41, None)]
    assert (changes.late.num_rows, changes.removed.num_rows, session.counts.before_start) == (0, 0, 0)


@pytest.mark.parametrize("uncertain", [False, True])
def test_what_the_window_has_left_behind_is_late_and_not_before_a_start(uncertain: bool) -> None:
    program = ev.parse(RICH)
    session = program.session(window=100, probabilistic=True) if uncertain else program.session(window=100)
    session.insert(facts((50, "win", "ann")))
    session.advance(60)
    session.insert(facts((-90, "win", "bob")))
    changes = session.advance(70)
    assert changes.late["start"].to_pylist() == [-90]
    assert (session.counts.too_late, session.counts.before_start) == (1, 0)


@pytest.mark.parametrize("save", [False, True])
def test_without_a_window_time_goes_back_as_far_as_facts_do(save: bool) -> None:
    program = ev.parse(RICH + HUNGRY + GLAD)
    given = [(50, "win", "ann"), (55, "lose", "ann"), (40, "win", "bob"), (-5_000, "win", "cid"),
             (-4_980, "lose", "cid"), (45, "lose", "bob"), (-10**12, "win", "dan"), (46, "lose", "dan")]
    session = program.session()
    held: set[tuple[Any, ...]] = set()
    for number, fact in enumerate(given):
        session.insert(facts(fact))
        changes = session.advance(60 + number // 2)
        held = (held - set(rows_of(changes.removed))) | set(rows_of(changes.added))
        assert held == set(rows_of(program.run(facts(*given[:number + 1]), end=60 + number // 2).to_arrow()))
        if save:
            session = program.restore(session.save())


@pytest.mark.parametrize("rules", [
    "initially(rich(ann)=true).\n" + RICH,
    "grounding(poor(X)=true) :- person(X). person(ann).\n" + RICH +
    "holdsFor(poor(X)=true, I) :- holdsFor(rich(X)=true, J), complement_all([J], I).\n"])
def test_rules_that_ask_for_the_beginning_need_one(rules: str) -> None:
    program = ev.parse(rules)
    with pytest.raises(ProgramError, match=r"no-start[\s\S]*give the start"):
        program.session(window=10)
    with pytest.raises(ProgramError, match=r"no-start"):
        program.session()
    assert program.session(window=10, start=0).advance(5).added.num_rows == 1
    assert len(program.run(facts((3, "lose", "ann")), window=10, step=5))  # a run knows its first fact


def test_a_piece_with_a_deadline_is_reused_when_time_moves_back() -> None:
    program = ev.parse(HUNGRY + "initiatedAt(lost(X)=true, T) :- happensAt(lose(X), T).\n")
    session = program.session()
    session.advance(10)
    session.insert(facts((5, "lose", "ann")))
    assert certain(session.advance(20).added) == [("lost", "ann", "true", 6, None)]
    session.insert(facts((2, "lose", "bob")))
    assert certain(session.advance(21).added) == [("lost", "bob", "true", 3, None)]


@pytest.mark.parametrize("window", [10, None])
def test_an_advance_that_was_refused_leaves_the_beginning_where_it_was(window: int | None) -> None:
    session = ev.parse(RICH).session(window=window)
    session.insert(facts((5, "win", "ann")))
    with pytest.raises(ev.EventideError, match="62 bits"):
        session.advance(-2**63)
    assert certain(session.advance(6).added) == [("rich", "ann", "true", 6, None)]


@pytest.mark.parametrize(("options", "said"), [
    ({"window": 2.5}, "window is 2.5; expected a whole number"), ({"start": "0"}, "start is '0'"),
    ({"horizon": -1}, "must not be negative"), ({"ties": "x"}, "expected one of")])
def test_options_that_are_no_numbers(options: dict[str, Any], said: str) -> None:
    with pytest.raises(ev.EventideError, match=said):
        ev.parse(RICH).session(**options)
    with pytest.raises(ev.EventideError, match=r"to is 1.7; expected a whole number"):
        ev.parse(RICH).session().advance(1.7)  # type: ignore[arg-type]
