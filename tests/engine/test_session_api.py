"""What a session says when it is used wrongly, and that nothing is lost then."""

from __future__ import annotations

from typing import Any

import pytest
from tests.engine.running import facts_of
from tests.oracle.sessions import rows_of

import eventide as ev
from eventide.errors import RangeError
from eventide.formats.facts import Facts

RULES = """
initiatedAt(on(X)=true, T) :- happensAt(up(X), T).
terminatedAt(on(X)=true, T) :- happensAt(down(X), T).
"""


def events(*given: tuple[Any, ...]) -> Facts:
    """Events as (name, arguments…, time)."""
    return facts_of([(("event", name, tuple(args), time), None) for name, *args, time in given])


@pytest.mark.parametrize(("options", "message"), [
    ({"tick": 0}, "the tick is 0; it must be at least 1"),
    ({"window": 0}, "the window is 0; it must be at least 1"),
    ({"evaluation": "some"}, "evaluation is 'some'; known are auto, full, keys, ranges"),
])
def test_options_that_make_no_sense(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ev.EventideError, match=message):
        ev.parse(RULES).session(**options)


def test_times_that_do_not_fit() -> None:
    session = ev.parse(RULES).session()
    with pytest.raises(RangeError, match="less than 62 bits"):
        session.insert(events(("up", "a", 1 << 62)))
    session.insert(events(("up", "a", 3)))
    assert rows_of(session.advance(5).added) == [("on", "a", "true", 4, None)]


def test_the_time_of_queries_never_goes_back() -> None:
    session = ev.parse(RULES).session(start=0)
    with pytest.raises(ev.EventideError, match="cannot advance to -1: the session starts at 0"):
        session.advance(-1)
    session.insert(events(("up", "a", 3)))
    session.advance(5)
    session.insert(events(("down", "a", 4)))
    with pytest.raises(ev.EventideError, match="cannot advance to 4: the session is at 5 already"):
        session.advance(4)
    changes = session.advance(5)
    assert rows_of(changes.added) == [("on", "a", "true", 4, 5)]
    assert rows_of(changes.removed) == [("on", "a", "true", 4, None)]


def test_before_the_first_query_time_there_is_no_answer() -> None:
    session = ev.parse(RULES).session(window=10)
    session.insert(events(("up", "a", 3)))
    assert session.answer().num_rows == session.window_answer().num_rows == 0


def test_a_counter_goes_on_from_one_query_time_to_the_next() -> None:
    program = ev.parse("""
        initiatedAt(count(X)=M, T) :- happensAt(add(X), T), holdsAt(count(X)=N, T), M is N + 1.
        initiatedAt(count(X)=0, T) :- happensAt(begin(X), T).
    """)
    session = program.session(start=0, window=5)
    session.insert(events(("begin", "a", 1), ("add", "a", 2), ("add", "a", 3), ("add", "a", 7)))
    assert ("count", "a", "2", 4, None) in rows_of(session.advance(5).added)
    assert rows_of(session.advance(8).added) == [("count", "a", "2", 4, 8), ("count", "a", "3", 8, None)]


def test_what_a_function_of_the_user_breaks_is_not_lost() -> None:
    broken = [True]

    def small(column: Any) -> Any:
        if broken[0]:
            raise KeyboardInterrupt
        return column < 5

    program = ev.parse("initiatedAt(on(X)=true, T) :- happensAt(up(X, N), T), small(N).", predicates={"small": small})
    session = program.session(start=0, window=10)
    session.insert(events(("up", "a", 3, 3), ("up", "b", 7, 3), ("up", "c", 3, -4)))
    with pytest.raises(KeyboardInterrupt):
        session.advance(5)
    assert (session.counts.queries, session.counts.before_start, session.query_time) == (0, 0, None)
    broken[0] = False
    assert rows_of(session.advance(5).added) == [("on", "a", "true", 4, None)]
    assert (session.counts.queries, session.counts.before_start) == (1, 1)


def test_a_result_may_outgrow_its_bits_again_and_again() -> None:
    """Computed values need more and more codes; what is held moves to wider layouts."""
    program = ev.parse("initiatedAt(last(X)=M, T) :- happensAt(see(X, N), T), M is N * 3.")
    session = program.session(start=0, window=20)
    held: set[Any] = set()
    for step in range(1, 40):
        session.insert(events(("see", f"v{step % 7}", 100 * step, step)))
        changes = session.advance(step)
        held = held - set(rows_of(changes.removed)) | set(rows_of(changes.added))
    facts = events(*(("see", f"v{step % 7}", 100 * step, step) for step in range(1, 40)))
    assert held == set(rows_of(program.run(facts, start=0, end=39).to_arrow()))


def test_an_initial_value_that_a_late_event_initiates_too() -> None:
    """The event comes after the initial value was taken in; its deadline counts all the same."""
    program = ev.parse("""
        initiatedAt(d(X)=on, T) :- happensAt(e(X), T).
        fi(d(X)=on, d(X)=off, 2).
        grounding(d(X)=on) :- dom(X).
        grounding(d(X)=off) :- dom(X).
        initially(d(_)=on).
        dom(a).
    """)
    session = program.session(start=-1, window=10, initially_at=1)
    assert rows_of(session.advance(3).added) == [("d", "a", "on", 1, None)]
    session.insert(events(("e", "a", 0)))
    assert set(rows_of(session.advance(7).added)) == {("d", "a", "on", 1, 3), ("d", "a", "off", 3, None)}
