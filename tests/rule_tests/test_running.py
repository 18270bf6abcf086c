"""Tests of rules as they run: what passes, what fails with which difference, in every language."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eventide.applications import APPLICATIONS
from eventide.errors import InputError
from eventide.rule_tests.reading import read_tests
from eventide.rule_tests.reading import tests_in as read
from eventide.rule_tests.running import Outcome, Tests
from eventide.rule_tests.stretches import common, united, without

RULES = """
initiatedAt(rich(X)=true, T) :- happensAt(win(X), T).
terminatedAt(rich(X)=true, T) :- happensAt(lose(X), T), holdsAt(rich(X)=true, T).
happensAt(alarm(X), T) :- happensAt(lose(X), T).
collectIntervals(near(_, _)=true).
holdsFor(meet(X, Y)=true, I) :- holdsFor(near(X, Y)=true, I).
initiatedAt(owe(pay(X, Y), Z)=true, T) :- happensAt(ask(pay(X, Y), Z), T).
"""
SHIPPED = sorted(path for app in APPLICATIONS.values() for path in app.rules.parent.glob("*.ectest"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the rules."""
    made = tmp_path_factory.mktemp("rules")
    (made / "rules.ec").write_text(RULES)
    (made / "rules.lars").write_text("b(X) :- a(X) [3].")
    (made / "rules.mtl").write_text("Near(X) :- <>-[0,1] Seen(X).")
    return made


def outcome(folder: Path, lines: str, program: str = "rules.ec") -> Outcome:
    """What comes of one test."""
    text = f"program {program}\ntest \"t\"\n{lines}"
    found, = Tests(read(text, str(folder / "t.ectest"))).run()
    return found


def told(folder: Path, lines: str, program: str = "rules.ec") -> list[str]:
    """The lines that say how a test fails, without places."""
    found = outcome(folder, lines, program)
    return [line.partition(" (")[0] if line.endswith(")") and ".ectest" in line else line.strip()
            for one in found.differences for line in one.lines()]


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.parent.name)
def test_the_rules_that_are_shipped_pass_their_tests(path: Path) -> None:
    outcomes = Tests(read_tests(path)).run()
    assert outcomes
    assert [line for found in outcomes for one in found.differences for line in one.lines()] == []


def test_tests_are_shipped() -> None:
    assert {path.parent.name for path in SHIPPED} >= {"toy", "activity", "maritime"}


def test_a_difference_says_what_is_missing_and_what_is_too_much(folder: Path) -> None:
    assert told(folder, "given\n 3 win(a)\n 10 lose(a)\nthen\n rich(a)=true [2, 9)\n") == [
        "rich(a)=true: the intervals differ", "expected  [2, 9)", "found     [4, 11)",
        "- missing   [2, 4)", "+ too much  [9, 11)"]


def test_the_place_of_a_difference_is_its_line(folder: Path) -> None:
    found = outcome(folder, "given\n 3 win(a)\nthen\n rich(b)=true [4, inf)\n")
    assert [(one.span.line, one.message) for one in found.differences if one.span] == [(6, "it does not hold at all")]


@pytest.mark.parametrize(("then", "passes"), [
    ("then\n rich(a)=true [4, 11)", True),
    ("then\n rich(a)=true [4, 10]", True),
    ("then\n rich(a)=true [4, 8), [8, 11)", True),  # adjacent ones are one
    ("then\n rich(a)=true [4, 8)\n rich(a)=true [8, 11)", True),  # lines about the same belong together
    ("then\n rich(a)=true [4, inf)", False),
    ("then\n rich(a)=true never", False),
    ("then\n rich(c)=true never", True),
    ("then\n alarm(a) 10", True),
    ("then\n alarm(a) 10, 12", False),
    ("then only\n rich(a)=true [4, 11)", False),
    ("then only\n rich(a)=true [4, 11)\n rich(b)=true [6, inf)", True),
    ("then only\n alarm(a) 10", True),
    ("then only\n rich(_)=true [4, 11)", False),
    ("then at least\n rich(a)=true [5, 7), 9", True),
    ("then at least\n rich(a)=true [5, 12)", False),
    ("then at least\n rich(_)=true [5, 12)", True),
    ("then at least\n rich(c)=true", False),
    ("then at least\n rich(a)=true", True),
    ("then not\n rich(a)=true [0, 4), 11", True),
    ("then not\n rich(a)=true 4", False),
    ("then not\n rich(_)=true 20", False),
    ("then not\n rich(c)=true", True),
    ("then not\n alarm(_) [0, 10)", True),
])
def test_what_a_then_means(folder: Path, then: str, passes: bool) -> None:
    assert outcome(folder, f"given\n 3 win(a)\n 5 win(b)\n 10 lose(a)\nat 20\n{then}\n").passed is passes


def test_each_query_time_sees_what_has_arrived(folder: Path) -> None:
    lines = "given\n 3 win(a)\n 10 lose(a) arrives 25\n 15 win(b) retracted 22\n"
    assert outcome(folder, lines + """
at 9, 20
then
  rich(a)=true [4, inf)
at 24
then only
  rich(a)=true [4, inf)
at 25
then only
  rich(a)=true [4, 11)
""").passed


def test_a_fact_that_is_too_late_for_the_window_is_counted(folder: Path) -> None:
    found = outcome(folder, "window 10\ngiven\n 3 win(a)\n 10 lose(a) arrives 25\nat 9, 19, 29\nthen\n"
                            " rich(a)=true [4, 11)\n")
    assert not found.passed
    assert found.late == {"lose(_)": 1}


def test_intervals_events_and_nested_arguments(folder: Path) -> None:
    assert outcome(folder, """
given
  [3, 9) near(a, 'B 1')=true
  5 ask(pay(a, 2), 3.5)
at 20
then only
  meet(a, 'B 1')=true [3, 9)
  owe(pay(a, 2), 3.5)=true [6, inf)
""").passed


@pytest.mark.parametrize(("lines", "code"), [
    ("given\n 3 won(a)\nthen\n rich(a)=true never\n", "unknown-fact"),
    ("given\n 3 win(a, b)\nthen\n rich(a)=true never\n", "unknown-fact"),
    ("given\n 3 rich(a)=true\nthen\n rich(a)=true never\n", "unknown-fact"),
    ("given\n 3 win(X)\nthen\n rich(a)=true never\n", "fact-with-variable"),
    ("given\n 3 win(a)=true\nthen\n rich(a)=true never\n", "value-of-event"),
    ("given\n [3, 9) near(a, b)\nthen\n rich(a)=true never\n", "no-value"),
    ("given\n 3 near(a, b)=true\nthen\n rich(a)=true never\n", "wrong-time"),
    ("given\n [3, 5) win(a)\nthen\n rich(a)=true never\n", "wrong-time"),
    ("given\n 3 win(a\nthen\n rich(a)=true never\n", "missing-bracket"),
    ("then\n reich(a)=true never\n", "not-derived"),
    ("then\n rich(a, b)=true never\n", "not-derived"),
    ("then\n rich(a) never\n", "no-value"),
    ("then\n alarm(a)=true never\n", "value-of-event"),
    ("then\n rich(a)=true, rich(b)=true never\n", "two-on-a-line"),
    ("then not\n rich(a)=ture\n", "unknown-value"),
    ("given\n 3 0.5::win(a)\nthen\n rich(a)=true never\n", "uncertain-fact"),
    ("given\n [3, inf) near(a, b)=true\nthen\n rich(a)=true never\n", "no-end"),
])
def test_lines_that_do_not_fit_the_program(folder: Path, lines: str, code: str) -> None:
    with pytest.raises(InputError) as raised:
        outcome(folder, lines)
    problem = raised.value.diagnostics[0]
    assert (problem.code, problem.hint is not None) == (code, True)
    assert problem.span is not None
    assert problem.span.line == 4


@pytest.mark.parametrize(("lines", "program", "expected"), [
    ("given\n 2 ab(x)\nthen\n b(x) never\n", "rules.lars", ("unknown-fact", 4, 4)),
    ("given\n 2 a(x, y)\nthen\n b(x) never\n", "rules.lars", ("unknown-fact", 4, 4)),
    ("then\n b(x, y) never\n", "rules.lars", ("not-derived", 4, 2)),
    ("given\n 2 Sene(x)\nthen\n Near(x) never\n", "rules.mtl", ("unknown-fact", 4, 4)),
    ("given\n 2 Seen(x, y)\nthen\n Near(x) never\n", "rules.mtl", ("unknown-fact", 4, 4)),
    ("given\n 2 Seen(x\nthen\n Near(x) never\n", "rules.mtl", ("bad-fact", 4, 4)),
    ("given\n 2 Seen(x) arrives 3\nthen\n Near(x) never\n", "rules.mtl", ("no-arrival", 4, 4)),
    ("then\n Near(x, y) never\n", "rules.mtl", ("not-derived", 4, 2)),
    ("given\n 3 win(a\nthen\n rich(a)=true never\n", "rules.ec", ("missing-bracket", 4, 10)),
    ("then\n rich(a)=true [4, 8)\n rich(a)=true [7, 9)\n", "rules.ec", ("contradiction", 5, 2)),
    ("then\n rich(a)=true [4, 8)\n rich(a)=true never\n", "rules.ec", ("contradiction", 5, 2)),
    ("start 10\nat 5\nthen\n rich(a)=true never\n", "rules.ec", ("before-start", 2, 1)),
])
def test_problems_have_their_places(folder: Path, lines: str, program: str, expected: tuple[str, int, int]) -> None:
    with pytest.raises(InputError) as raised:
        outcome(folder, lines, program)
    problem = raised.value.diagnostics[0]
    assert problem.span is not None and problem.hint
    assert (problem.code, problem.span.line, problem.span.column) == expected
    assert "line 1," not in problem.hint


def test_every_line_that_does_not_fit_is_told(folder: Path) -> None:
    with pytest.raises(InputError) as raised:
        outcome(folder, "given\n 3 won(a)\n 4 win(X)\nthen\n reich(a)=true never\n rich(a)=ture 3\n")
    assert [problem.code for problem in raised.value.diagnostics] == [
        "unknown-fact", "fact-with-variable", "not-derived", "unknown-value"]


def test_a_fact_of_a_name_that_is_derived(folder: Path) -> None:
    with pytest.raises(InputError, match="the program derives rich itself"):
        outcome(folder, "given\n 3 rich(a, true)\nthen\n rich(a)=true never\n")


def test_a_program_with_probabilities(folder: Path) -> None:
    (folder / "likely.ec").write_text("0.8::initiatedAt(rich(X)=true, T) :- happensAt(win(X), T).\n")
    with pytest.raises(InputError, match="tests are of certain rules") as raised:
        outcome(folder, "given\n 3 win(a)\nthen\n rich(a)=true never\n", "likely.ec")
    assert raised.value.diagnostics[0].span and raised.value.diagnostics[0].span.line == 1
    assert "likely.ec:1:1 has one" in str(raised.value)


def test_a_program_that_is_not_there(folder: Path) -> None:
    with pytest.raises(InputError, match=r"there is no .*gone\.ec"):
        outcome(folder, "then\n f=true 3\n", "gone.ec")


def test_lars(folder: Path) -> None:
    lines = "given\n 2 a(x)\n 9 a(y)\nat 4\nthen\n b(x) [2, inf)\nat 20\nthen only\n b(x) [2, 6)\n b(y) [9, 13)\n"
    assert told(folder, lines, "rules.lars") == []
    assert told(folder, "given\n 2 a(x)\nat 9\nthen not\n b(_) 5\n", "rules.lars")[0] == \
        "b(x) at 9: it holds, and should not"
    with pytest.raises(InputError, match="windows stand in the rules"):
        outcome(folder, "window 9\ngiven\n 2 a(x)\nthen\n b(x) never\n", "rules.lars")


def test_dense_time(folder: Path) -> None:
    lines = "given\n 2 Seen(x)\n (3, 7/2] Seen(y)\nthen only\n Near(x) [2, 3]\n Near(y) (3, 9/2]\n"
    assert told(folder, lines, "rules.mtl") == []
    assert told(folder, "given\n 2 Seen(x)\nthen\n Near(x) [2, 3)\n", "rules.mtl") == [
        "Near(x): the intervals differ", "expected  [2, 3)", "found     [2, 3]", "+ too much  [3, 3]"]


STRETCHES = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 1), st.integers(0, 9), st.integers(0, 1)).map(
    lambda each: ((each[0], each[1]), (each[2], each[3]))), max_size=4)


@given(STRETCHES, STRETCHES)
def test_sets_of_time_against_sets_of_cuts(left: list, right: list) -> None:  # type: ignore[type-arg]
    def cells(stretches: list) -> set[tuple[int, int]]:  # type: ignore[type-arg]
        return {(time, side) for time in range(10) for side in (0, 1)
                if any(start <= (time, side) < end for start, end in stretches)}

    assert cells(united(left)) == cells(left)
    assert all(one[1] < other[0] for one, other in zip(united(left), united(left)[1:], strict=False))
    assert cells(without(left, right)) == cells(left) - cells(right)
    assert cells(common(left, right)) == cells(left) & cells(right)


def test_recursion_without_end_needs_a_query_time(folder: Path) -> None:
    (folder / "ticks.mtl").write_text("Tick(X) :- <>-[1,1] Tick(X).\nTick(X) :- Start(X).\n")
    given = "given\n 0 Start(a)\n"
    assert outcome(folder, given + "at 5/2\nthen only\n Tick(a) 0, 1, 2\n", "ticks.mtl").passed
    with pytest.raises(InputError, match="the test does not say up to when") as raised:
        outcome(folder, given + "then at least\n Tick(a) 3\n", "ticks.mtl")
    assert [(problem.code, problem.span and problem.span.line) for problem in raised.value.diagnostics] == [
        ("no-time", 2)]
