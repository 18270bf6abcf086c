"""Programs over uncertain facts: what is refused and where, thresholds, and facts that have no probability."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.probability.series import probability_at

import eventide as ev
from eventide.errors import InputError, ProgramError

RICH = """
initiatedAt(rich(X)=true, T) :- happensAt(win(X), T).
terminatedAt(rich(X)=true, T) :- happensAt(lose(X), T).
"""


def wins(*rows: tuple[int, str, float | None]) -> pa.Table:
    times, names, chances = zip(*rows, strict=True)
    return pa.table({"time": times, "event": names, "x": ["ann"] * len(rows),
                     "probability": pa.array(chances, pa.float64())})


@pytest.mark.parametrize(("rules", "line", "code", "word"), [
    ("fi(rich(X)=true, rich(X)=false, 5).\ngrounding(rich(X)=V) :- p(X), member(V, [true, false]).\np(ann).", 4,
     "not-probabilistic", "delayed effects"),
    ("holdsFor(f(X)=true, I) :- holdsFor(rich(X)=true, J), intDurGreater(J, 5, I).", 4, "not-probabilistic",
     "durations"),
    ("holdsFor(f(X)=true, I) :- holdsFor(rich(X)=true, I), I \\= [].", 4, "not-probabilistic", "empty"),
    ("initiatedAt(f(X)=true, T) :- happensAt(win(X), T), findall(Y, happensAt(lose(Y), T), L), length(L, 2).", 4,
     "not-probabilistic", "findall"),
    ("initiatedAt(g(X)=true, T) :- happensAt(win(X), T), \\+ holdsAt(g(X)=true, T).", 4, "uncertain-cycle", "itself"),
    ("initiatedAt(g(X)=true, T) :- happensAt(win(X), T), \\+ holdsAt(h(X)=true, T).\n"
     "initiatedAt(h(X)=true, T) :- happensAt(lose(X), T), holdsAt(g(X)=true, T).", 4, "uncertain-cycle", "each other"),
    ("holdsFor(f(X)=true, I) :- holdsFor(rich(X)=true, A), holdsFor(old(X)=true, B), allen(before, A, B, union, I).\n"
     "collectIntervals(old(_)=true).", 4, "not-probabilistic", "Allen"),
])
def test_what_has_no_probabilities_is_refused_at_the_rule(rules: str, line: int, code: str, word: str) -> None:
    program = ev.parse(RICH + rules.replace("member(V, [true, false])", "v(V)") + "\nv(true). v(false).")
    with pytest.raises(ProgramError) as caught:
        program.run(wins((1, "win", 0.5)), probabilistic=True)
    problem = caught.value.diagnostics[0]
    assert (problem.code, problem.span.line if problem.span else 0) == (code, line)
    assert word in problem.message


def test_rules_that_nothing_wanted_needs_are_no_obstacle() -> None:
    rules = RICH + "holdsFor(long(X)=true, I) :- holdsFor(rich(X)=true, J), intDurGreater(J, 5, I)."
    result = ev.parse(rules).run(wins((1, "win", 0.5)), probabilistic=True, fluents=["rich"])
    assert result.to_arrow()["probability"].to_pylist() == [0.5]


def test_rules_with_probabilities_need_probabilistic_recognition() -> None:
    program = ev.parse("0.5::" + RICH.strip())
    assert program.check() == []
    assert program.bounds()["rich(_)"].text
    for call in (lambda: program.run(wins((1, "win", 0.5))), lambda: program.session(), lambda: program.run(
            wins((1, "win", 0.5)), window=5)):
        with pytest.raises(ProgramError, match="this rule has a probability"):
            call()


@pytest.mark.parametrize(("options", "message"), [
    ({"threshold": 0.5}, "probabilistic=True"), ({"history": "exact"}, "probabilistic=True"),
    ({"probabilistic": True, "history": "none"}, "known are marginal and exact"),
    ({"probabilistic": True, "threshold": 1.5}, "from 0 to 1"),
    ({"probabilistic": True, "horizon": 5}, "Allen relations"),
])
def test_options_that_make_no_sense(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        ev.parse(RICH).run(wins((1, "win", 0.5)), **options)


@pytest.mark.parametrize("wrong", [-0.1, 1.1, float("nan"), float("inf")])
def test_what_is_no_probability_is_an_error_with_its_row(wrong: float) -> None:
    with pytest.raises(InputError, match="not a number from 0 to 1") as caught:
        ev.parse(RICH).run(wins((1, "win", 0.5), (2, "win", wrong)), probabilistic=True)
    span = caught.value.diagnostics[0].span
    assert span is not None and span.line == 2


def test_a_fact_without_probability_is_certain() -> None:
    result = ev.parse(RICH).run(wins((1, "win", None), (3, "lose", 0.25)), probabilistic=True)
    assert probability_at(result, "rich", "true", 2, "ann") == 1
    assert probability_at(result, "rich", "true", 4, "ann") == 0.75


def test_a_rule_has_one_chance_for_each_grounding() -> None:
    rules = "0.5::initiatedAt(f(X)=true, T) :- happensAt(see(X, Y), T), happensAt(like(Y), T)."
    facts = pa.table({"time": [1] * 5, "event": ["see", "see", "see", "like", "like"],
                      "x": ["a", "a", "a", "b", "c"], "y": ["b", "b", "c", None, None]})
    result = ev.parse(rules).run(facts, probabilistic=True)
    assert probability_at(result, "f", "true", 2, "a") == 0.75  # b, seen twice, is one grounding


def test_input_fluents_have_probabilities() -> None:
    rules = """collectIntervals(near(_)=true). points(calm(_)=true). buildFromPoints(calm(_)=true).
        initiatedAt(f(X)=true, T) :- happensAt(ring(X), T), holdsAt(near(X)=true, T), \\+ holdsAt(calm(X)=true, T)."""
    facts = {"ring": pa.table({"time": [5], "x": ["a"]}),
             "near": pa.table({"time": [1, 4], "end": [9, 7], "value": ["true"] * 2, "x": ["a"] * 2,
                               "probability": [0.5, 0.4]}),
             "calm": pa.table({"time": [4, 5], "value": ["true"] * 2, "x": ["a"] * 2, "probability": [0.9, 0.25]})}
    result = ev.parse(rules).run(facts, probabilistic=True, history="exact")
    assert probability_at(result, "f", "true", 6, "a") == pytest.approx((1 - 0.5 * 0.6) * 0.75)


@given(st.lists(st.tuples(st.integers(1, 30), st.booleans(), st.sampled_from([0.1, 0.3, 0.5, 0.8, 1.0])), min_size=1,
                max_size=12), st.sampled_from(["0.3", "0.5", "0.7", "0.9"]), st.sampled_from([1, 3]))
def test_a_threshold_gives_the_maximal_intervals_of_the_points(rows: list[tuple[int, bool, float]], threshold: str,
                                                               tick: int) -> None:
    facts = wins(*((tick * time, "win" if begins else "lose", p) for time, begins, p in rows))
    program, end = ev.parse(RICH), 40 * tick
    runs = program.run(facts, probabilistic=True, tick=tick, end=end).to_arrow().to_pylist()
    found = program.run(facts, probabilistic=True, tick=tick, end=end, threshold=threshold).to_arrow().to_pylist()
    if not runs:
        assert found == []
        return
    first = runs[0]["start"]
    last = max(end + 1 if run["end"] is None else run["end"] for run in runs)
    times = np.arange(first, last, tick)
    points = np.zeros(times.shape[0])
    for run in runs:
        points[(times >= run["start"]) & (times < (last if run["end"] is None else run["end"]))] = run["probability"]
    expected = [(first + tick * low, first + tick * high, mean)
                for low, high, mean in ev.probability.intervals(points, threshold)]
    closed = last if runs[-1]["end"] is not None else first + tick * times.shape[0]
    ours = [(row["start"], closed if row["end"] is None else row["end"], row["probability"]) for row in found]
    assert [row[:2] for row in ours] == [row[:2] for row in expected if row[2] > 0]
    assert np.allclose([row[2] for row in ours], [row[2] for row in expected if row[2] > 0], rtol=0, atol=1e-12)
