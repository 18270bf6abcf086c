"""What a session must hold, told before it runs; and that it holds no more."""

from __future__ import annotations

import pyarrow as pa
import pytest

import eventide as ev

BASE = """
initiatedAt(on(X)=true, T) :- happensAt(go(X), T).
terminatedAt(on(X)=true, T) :- happensAt(halt(X), T).
initiatedAt(hot(X)=true, T) :- happensAt(heat(X), T).
terminatedAt(hot(X)=true, T) :- happensAt(cool(X), T).
"""
DURATION = "holdsFor(long(X)=true, I) :- holdsFor(on(X)=true, I1), intDurGreater(I1, 1800, I).\n"
OPEN = "the window, and all since the start of the longest interval still open"


def texts(rules: str, horizon: int | None = None, **options: object) -> dict[str, str]:
    """What is held of each input and result of a program."""
    program = ev.parse(BASE + rules, **options)  # type: ignore[arg-type]
    return {name: bound.text for name, bound in program.bounds(horizon).items()}


def test_most_need_the_window_alone() -> None:
    found = ev.parse(BASE + "holdsFor(both(X)=true, I) :- holdsFor(on(X)=true, I1), holdsFor(hot(X)=true, I2), "
                     "intersect_all([I1, I2], I).").bounds()
    assert {(bound.text, bound.limit, bound.why) for bound in found.values()} == {("the window", 0, "")}
    assert list(found) == ["go(_)", "halt(_)", "heat(_)", "cool(_)", "on(_)", "hot(_)", "both(_)=true"]


def test_a_duration() -> None:
    bound = ev.parse(BASE + DURATION).bounds()["long(_)=true"]
    assert bound.text == "the window and the last 1800 before it (a duration is asked for)"
    assert (bound.limit, bound.why) == (1800, "a duration is asked for")


def test_durations_add_up_and_say_where_they_are_asked_for() -> None:
    found = texts(DURATION + "initiatedAt(late(X)=true, T) :- happensAt(start(long(X)=true), T).\n"
                  "terminatedAt(late(X)=true, T) :- happensAt(go(X), T).\n"
                  "holdsFor(longer(X)=true, I) :- holdsFor(late(X)=true, I1), intDurLess(I1, 200, I).\n")
    assert found["late(_)"] == "the window and the last 1800 before it (for long(_)=true: a duration is asked for)"
    assert found["longer(_)=true"] == "the window and the last 2000 before it (a duration is asked for)"
    assert found["hot(_)"] == "the window"


def test_what_a_reader_needs_is_held_for_it() -> None:
    found = texts(DURATION + "initiatedAt(late(X)=true, T) :- happensAt(start(long(X)=true), T), "
                  "happensAt(heat(X), T).")
    assert found["heat(_)"] == "the window and the last 1800 before it (for long(_)=true: a duration is asked for)"


def test_allen_relations() -> None:
    rules = "holdsFor(r(X)=true, I) :- holdsFor(on(X)=true, I1), holdsFor(hot(X)=true, I2), {}(I1, I2, source, I)."
    assert texts(rules.format("overlaps"))["r(_)=true"] == f"{OPEN} (Allen relations compare whole intervals)"
    assert texts(rules.format("before"))["r(_)=true"] == "everything (`before` has no horizon; give one)"
    assert texts(rules.format("before"), horizon=60)["r(_)=true"] == \
        f"{OPEN}, and 60 before that (Allen relations compare whole intervals)"


def test_ends_of_intervals() -> None:
    found = texts("holdsFor(r(X)=true, I) :- holdsFor(on(X)=true, J), findall((S,E), (member((S,E), J), S > 5), I).")
    assert found["r(_)=true"] == f"{OPEN} (the ends of whole intervals are compared)"


DYNAMIC = "dynamicDomain(thing(_)).\ngrounding(go(X)) :- thing(X).\ngrounding(idle(X)=true) :- thing(X).\n"


@pytest.mark.parametrize("rule", ["initially(idle(_)=true).\nterminatedAt(idle(X)=true, T) :- happensAt(heat(X), T).",
                                  "holdsFor(idle(X)=true, I) :- holdsFor(on(X)=true, J), complement_all([J], I)."])
def test_entities_that_may_appear_late(rule: str) -> None:
    program = ev.parse(DYNAMIC + "initiatedAt(on(X)=true, T) :- happensAt(go(X), T).\n" + rule + "\n"
                       "initiatedAt(seen(X)=true, T) :- happensAt(end(idle(X)=true), T).\n")
    found = program.bounds()
    idle = next(bound for name, bound in found.items() if name.startswith("idle"))
    assert idle.text.startswith("everything (") and "thing/1" in idle.text
    assert idle.limit is None
    assert found["seen(_)"].why.startswith("for idle(_)")


def test_what_is_told_bounds_what_is_held() -> None:
    """A session over a steady stream holds a small part of it, however long it goes on."""
    program = ev.parse(BASE + DURATION.replace("1800", "30"))
    session = program.session(window=50)
    sizes = []
    for query in range(50, 12_000, 50):
        times = list(range(query - 50, query, 5))
        events = ["go" if time % 20 < 10 else "halt" for time in times]
        session.insert(pa.table({"time": times, "event": events, "who": [f"v{time % 3}" for time in times]}))
        session.advance(to=query)
        memory = session.memory().table
        sizes.append(sum(memory["rows"].to_pylist()))
    assert session.counts.facts == 2390
    assert max(sizes) < 500
