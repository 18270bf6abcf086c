"""Why a fluent changed between two query times: what came and went, no more of it than is needed."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.effort import examples

import eventide as ev
from eventide.cli.main import main
from eventide.errors import InputError
from eventide.explanation.changes import explain_change
from eventide.explanation.pages import proof_page

RULES = """
initiatedAt(f(X)=true, T) :- happensAt(a(X), T).
terminatedAt(f(X)=true, T) :- happensAt(b(X), T), \\+ happensAt(c(X), T).
fi(f(X)=true, f(X)=false, 15).
"""
Row = tuple[str, str, int, int, str]
FIRST, LAST = 12, 20


def table(rows: list[Row]) -> pa.Table:
    """Events (name, entity, time, arrival, + or -)."""
    names = ("event", "who", "time", "arrival", "op")
    return pa.table({name: [row[i] for row in rows] for i, name in enumerate(names)})


def answer(rows: list[Row], at: int, seen: int) -> set[tuple[int, int | None]]:
    """The intervals of f(x)=true at a time over the operations that have arrived and occurred by another one."""
    known = [row for row in rows if max(row[2], row[3]) <= seen]
    if not known:
        return set()
    result = ev.parse(RULES).run(table(known), start=0, end=at).to_arrow().to_pylist()
    return {(r["start"], r["end"]) for r in result if (r["args"], r["value"]) == ("x", "true")}


@st.composite
def streams(draw: st.DrawFn) -> list[Row]:
    rows: list[Row] = []
    for name, who, time in draw(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("xxy"), st.integers(1, 20)),
                                         min_size=1, max_size=8, unique=True)):
        arrival = time + draw(st.sampled_from((0, 0, 3, 9)))
        rows.append((name, who, time, arrival, "+"))
        if draw(st.integers(0, 3)) == 0:
            rows.append((name, who, time, arrival + draw(st.sampled_from((1, 6))), "-"))
    return rows


@examples(1 / 4)
@given(streams())
def test_what_is_told_makes_the_change_and_nothing_less_does(rows: list[Row]) -> None:
    assume_start = [("a", "z", 1, 1, "+")]
    proof = explain_change(ev.parse(RULES), table(rows + assume_start), "f(x)=true", (FIRST, LAST), start=0)
    was, now = answer(rows, FIRST, FIRST), answer(rows, LAST, LAST)
    assert proof.holds == (was != now)
    if not proof.holds:
        return
    told = {(r.fact.name, r.fact.args[0], r.fact.time): "taken back" in r.claim
            for r in proof.reason.reasons if r.kind == "needed" and r.fact is not None}

    def replayed(without: tuple[str, str, int] | None = None) -> set[tuple[int, int | None]]:
        """The facts of the first query time, and of what came or went since only what is told."""
        facts = {row[:3] for row in present(rows, FIRST)}
        for fact, taken_back in told.items():
            if fact != without:
                facts = facts - {fact} if taken_back else facts | {fact}
        return answer([(*fact, fact[2], "+") for fact in sorted(facts)], LAST, LAST)

    assert replayed() == now
    assert proof.minimal
    for fact in told:
        assert replayed(fact) != now


def present(rows: list[Row], seen: int) -> list[Row]:
    """The facts that are there: the last operation on each counts."""
    last: dict[tuple[str, str, int], Row] = {}
    for row in sorted((row for row in rows if max(row[2], row[3]) <= seen), key=lambda row: row[3]):
        last[row[:3]] = row
    return [row for row in last.values() if row[4] == "+"]


def test_time_alone() -> None:
    rows = [("a", "x", 3, 3, "+"), ("a", "y", 14, 14, "+")]
    proof = explain_change(ev.parse(RULES), table(rows), "f(x)=true", (FIRST, LAST), start=0)
    assert proof.facts == () and "time went on" in str(proof)
    assert "it held from 4 on, it holds during [4, 19)" in str(proof)


def test_events_far_apart() -> None:
    """Their times are asked for once: a stream in seconds since 1970 has billions of others."""
    program = ev.parse("happensAt(e(X), T) :- happensAt(a(X), T), \\+ happensAt(b(X), T).")
    rows = [("a", "x", 1, 1, "+"), ("a", "x", 10**9, 2 * 10**9, "+"), ("b", "x", 5, 5, "+")]
    proof = explain_change(program, table(rows), "e(x)", (10, 2 * 10**9))
    changed = "e(x) changed between 10 and 2000000000: it happened at 1, it happens at 1, at 1000000000\n"
    assert str(proof).startswith(changed)
    assert [fact.time for fact in proof.facts] == [10**9]
    before = explain_change(program, table([("b", "x", 1, 1, "+"), ("a", "x", 9, 9, "+")]), "e(x)", (2, 9))
    assert "it never happened, it happens at 9" in str(before) and "it would never happen" in str(before)


def test_what_is_the_same_because_it_is_nowhere() -> None:
    proof = explain_change(ev.parse(RULES), table([("a", "anna", 3, 3, "+")]), "f(ana)=true", (5, 6))
    assert not proof.holds and "ana occurs in no fact and in no rule; did you mean anna?" in str(proof)


def test_what_begins_at_the_second_query_time_is_shown_to_hold() -> None:
    proof = explain_change(ev.parse(RULES), table([("a", "y", 3, 3, "+"), ("a", "x", 9, 9, "+")]), "f(x)=true", (5, 9))
    assert "it held nowhere, it holds from 10 on" in str(proof)
    assert proof.reason.reasons[-1].claim == "f(x)=true holds at 10, from 10 on"


def test_a_fact_that_was_taken_back() -> None:
    rows = [("a", "x", 3, 3, "+"), ("a", "x", 3, 13, "-"), ("a", "x", 5, 6, "+")]
    proof = explain_change(ev.parse(RULES), table(rows), "f(x)=true", (FIRST, 14), start=0)
    assert "<title>f(x)=true between 12 and 14</title>" in proof_page(proof)
    assert "a(x) at 3 was taken back at 13 by <Table>, row 2: without that, it would hold from 4 on" in str(proof)


def test_wrong_questions() -> None:
    program, events = ev.parse(RULES), table([("a", "x", 3, 3, "+")])
    with pytest.raises(InputError, match="must be before the second"):
        explain_change(program, events, "f(x)=true", (5, 5))
    with pytest.raises(InputError, match="before the start of the run"):
        explain_change(program, events, "f(x)=true", (-5, 5))
    with pytest.raises(InputError, match="knows no g"):
        explain_change(program, events, "g(x)=true", (3, 5))
    assert not explain_change(program, events, "f(x)=true", (5, 6)).holds


def test_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The other kinds of questions: a change, a probability, an atom of LARS; and what does not go together."""
    (tmp_path / "rules.ec").write_text("initiatedAt(rich(X)=true, T) :- happensAt(win(X), T).")
    (tmp_path / "events.csv").write_text("time,event,who,probability\n3,win,ann,0.4\n")
    (tmp_path / "jam.lars").write_text("jam :- slow [9].")
    (tmp_path / "slow.jsonl").write_text('{"time": 2, "facts": ["slow"]}\n')
    rich = ["explain", str(tmp_path / "rules.ec"), "--events", str(tmp_path / "events.csv"), "--fluent", "rich(ann)"]
    assert main([*rich, "--between", "2", "7"]) == 0
    assert "came at 3" in capsys.readouterr().out
    assert main([*rich, "--at", "7", "--probabilistic"]) == 0
    assert "the most probable explanation  (probability 0.4)" in capsys.readouterr().out
    assert main(["explain", str(tmp_path / "jam.lars"), "--events", str(tmp_path / "slow.jsonl"), "--fluent", "jam",
                 "--at", "4"]) == 0
    assert "environment 1: slow@2" in capsys.readouterr().out
    assert main(rich) == main([*rich, "--at", "7", "--between", "2", "7"]) == 2
    assert main([*rich, "--between", "2", "7", "--probabilistic"]) == 2
