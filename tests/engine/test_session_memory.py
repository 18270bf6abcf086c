"""What a session holds, as a table."""

from __future__ import annotations

import pyarrow as pa

import eventide as ev

RULES = """
initiatedAt(rich(X)=true, T) :- happensAt(win(X), T).
terminatedAt(rich(X)=true, T) :- happensAt(lose(X), T).
holdsFor(happy(X)=true, I) :- holdsFor(rich(X)=true, I1), intDurGreater(I1, 5, I).
happensAt(party(X), T) :- happensAt(start(happy(X)=true), T).
"""


def wins(*times: int) -> pa.Table:
    """One event `win` of each person."""
    return pa.table({"time": times, "event": ["win"] * len(times), "who": [f"p{time}" for time in times]})


def test_inputs_results_and_what_waits() -> None:
    session = ev.parse(RULES).session(window=20)
    session.insert(wins(3, 4, 50))
    session.advance(to=20)
    rows = [(row["name"], row["kind"], row["rows"], row["since"]) for row in session.memory().table.to_pylist()]
    assert rows == [("win(_)", "input", 2, 3), ("win(_)", "waiting", 1, 50), ("lose(_)", "input", 0, None),
                    ("rich(_)", "fluent", 2, 4), ("happy(_)=true", "parts", 4, 4), ("happy(_)=true", "fluent", 2, 4),
                    ("party(_)", "event", 2, 3), ("all values", "values", 5, None)]


def test_bytes_are_those_of_the_arrays() -> None:
    session = ev.parse(RULES).session()
    session.insert(wins(3, 4))
    session.advance(to=20)
    memory = session.memory()
    sizes = {(row["name"], row["kind"]): row["bytes"] for row in memory.table.to_pylist()}
    assert sizes["win(_)", "input"] == sizes["rich(_)", "fluent"] == sizes["party(_)", "event"] == 2 * 2 * 8
    assert memory.total == sum(sizes.values())


def test_intervals_of_the_input_count_once() -> None:
    program = ev.parse("collectIntervals(near(_)=true).\nholdsFor(f(X)=true, I) :- holdsFor(near(X)=true, I).")
    session = program.session()
    assert [row["name"] for row in session.memory().table.to_pylist()] == ["near(_)", "all values"]
    session.advance(to=5)
    assert [(row["name"], row["kind"]) for row in session.memory().table.to_pylist()] == [
        ("near(_)", "input"), ("f(_)=true", "fluent"), ("all values", "values")]


def test_deadlines_and_domains_are_with_their_fluents() -> None:
    session = ev.parse("dynamicDomain(thing(_)).\ngrounding(go(X)) :- thing(X).\ngrounding(f(X)=on) :- thing(X).\n"
                       "grounding(f(X)=off) :- thing(X).\ninitially(f(_)=on).\n"
                       "initiatedAt(f(X)=on, T) :- happensAt(go(X), T).\nfi(f(X)=on, f(X)=off, 9).").session(start=0)
    session.insert(pa.table({"time": [2], "event": ["go"], "who": ["a"]}))
    session.advance(to=5)
    kinds = {(row["name"], row["kind"]) for row in session.memory().table.to_pylist()}
    assert kinds == {("go(_)", "input"), ("f(_)", "fluent"), ("f(_)", "parts"), ("all values", "values")}


def test_as_text() -> None:
    session = ev.parse(RULES).session()
    session.insert(wins(3, 4))
    session.advance(to=20)
    lines = str(session.memory()).splitlines()
    assert lines[0].split() == ["name", "kind", "rows", "bytes", "since"]
    assert lines[1] == "win(_)         input      2     32      3"
    assert lines[-1].split() == ["total", f"{session.memory().total:,}"]
    assert not any(line.endswith(" ") for line in lines)
