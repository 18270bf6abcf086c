"""Files of tests as text: what a line means, and a problem at its place for each that means nothing."""

from __future__ import annotations

from fractions import Fraction

import pytest

from eventide.errors import InputError
from eventide.rule_tests.reading import tests_in as read

HEAD = "program rules.ec\n"
TEST = HEAD + 'test "t"\n'


def problem(text: str) -> tuple[str, int, int]:
    """The code, line and column of the first problem of a text."""
    with pytest.raises(InputError) as raised:
        read(text, "t.ectest")
    found = raised.value.diagnostics[0]
    assert found.hint
    assert found.span is not None
    return found.code, found.span.line, found.span.column


def hint(text: str) -> str:
    """What is suggested first."""
    with pytest.raises(InputError) as raised:
        read(text, "t.ectest")
    return raised.value.diagnostics[0].hint or ""


@pytest.mark.parametrize(("line", "meant"), [
    ("win(ann) 3", "3 win(ann)"), ("win(ann)@3", "3 win(ann)"), ("win(ann) at 3", "3 win(ann)"),
    ("happensAt(win(ann, 2), 3)", "3 win(ann, 2)"), ("3: win(ann)", "3 win(ann)"), ("3, win(ann)", "3 win(ann)"),
    ("10:30 win(ann)", "not times of day"), ("win(ann)", "facts are lines such as"),
])
def test_how_a_fact_is_written_is_suggested(line: str, meant: str) -> None:
    assert meant in hint(f"{TEST}given\n  {line}\n")


@pytest.mark.parametrize(("line", "meant"), [
    ("rich(ann)=true [4, ∞)", "rich(ann)=true [4, inf)"), ("rich(ann)=true [(4, 6)]", "rich(ann)=true [4, 6)"),
    ("holdsFor(rich(ann)=true, [(4, inf)])", "write `rich(ann)=true [4, inf)`"),
    ("rich(ann)=true from 4 to 6", "rich(ann)=true [4, 6)"), ("not rich(ann)=true", "`then not`"),
    ("rich(ann)=true", "add the intervals"),
])
def test_how_an_expectation_is_written_is_suggested(line: str, meant: str) -> None:
    assert meant in hint(f"{TEST}then\n  {line}\n")


@pytest.mark.parametrize(("word", "meant"), [("expect", "then"), ("when", "given"), ("Events:", "given")])
def test_words_of_other_tools_are_taken_for_ours(word: str, meant: str) -> None:
    assert hint(f"{TEST}{word}\n") == f"did you mean {meant}?"
    assert hint(f"{TEST}given\n  3 win(ann)\n{word}\n") == f"did you mean {meant}?"


def test_everything_that_can_stand_in_a_file() -> None:
    file = read("""\
% a comment
program rules.ec          # another
background types=types.csv
background
    price('100 %', 1).    % the one in quotes stays
window 50

given
    1  wake(ann)

test "first: 100 % sure"
  tick 2
  given
    [3, 9)   near(a, b)=true
    10 lose(ann)  arrives 12  retracted 20
  at 10, 20
  then
    rich(ann)=true [4, 11), [15, inf)
  then at least
    rich(ann)=true 5
  at 30
  then not
    rich(_)=true
    poor(_)=true never
  then only
    rich(ann) = true never
""", "t.ectest")
    assert (file.program, file.background, file.facts.strip()) == (
        "rules.ec", ("types=types.csv",), "price('100 %', 1).")
    assert file.facts.count("\n") == 4  # at its own line
    test, = file.tests
    assert test.name == "first: 100 % sure"
    assert test.settings == {"window": 50, "tick": 2}
    assert [(fact.text, fact.when, fact.is_point, fact.arrives, fact.retracted) for fact in test.given] == [
        ("wake(ann)", ((1, 0), (2, 0)), True, None, None),
        ("near(a, b)=true", ((3, 0), (9, 0)), False, None, None),
        ("lose(ann)", ((10, 0), (11, 0)), True, 12, 20)]
    assert test.at == (10, 20, 30)
    assert [(then.mode, then.at, [(line.text, line.when) for line in then.lines]) for then in test.then] == [
        ("exactly", (10, 20), [("rich(ann)=true", (((4, 0), (11, 0)), ((15, 0), (float("inf"), 0))))]),
        ("at least", (10, 20), [("rich(ann)=true", (((5, 0), (6, 0)),))]),
        ("not", (30,), [("rich(_)=true", None), ("poor(_)=true", None)]),
        ("only", (30,), [("rich(ann) = true", ())])]
    assert test.then[1].lines[0].span.line == 20


def test_closed_ends_and_dense_time() -> None:
    whole = read(TEST + "then\n f=true [3, 5]\n", "t").tests[0].then[0].lines[0].when
    dense = read(TEST.replace(".ec", ".mtl") + "then\n P (1/2, 5]\n", "t").tests[0].then[0].lines[0].when
    assert whole == (((3, 0), (6, 0)),)
    assert dense == (((Fraction(1, 2), 1), (5, 1)),)


@pytest.mark.parametrize(("text", "expected"), [
    ("", ("no-program", 1, 1)),
    (HEAD, ("no-tests", 1, 1)),
    ("program\n", ("no-program", 1, 1)),
    (HEAD + "program b.ec\n", ("two-programs", 2, 1)),
    (HEAD + "tests \"t\"\n", ("unknown-line", 2, 1)),
    (HEAD + "then\n", ("outside-a-test", 2, 1)),
    (HEAD + "at 3\n", ("outside-a-test", 2, 1)),
    (HEAD + "test\n", ("test-without-name", 2, 1)),
    (TEST, ("nothing-expected", 2, 1)),
    (TEST + 'then\n f=true 3\ntest "t"\n', ("test-named-twice", 5, 6)),
    (TEST + "background x.ec\n", ("late-background", 3, 1)),
    (TEST + "window ten\n", ("bad-setting", 3, 8)),
    (TEST + "window 0\n", ("bad-setting", 3, 8)),
    (TEST + "ties none\n", ("bad-setting", 3, 6)),
    (TEST + "given 3 win(ann)\n", ("words-too-many", 3, 7)),
    (TEST + "given\n  win(ann) 3\n", ("not-a-fact", 4, 3)),
    (TEST + "given\n  3 win(ann) arrives 2\n", ("arrives-too-early", 4, 14)),
    (TEST + "given\n  3 win(ann) retracted 2\n", ("retracted-too-early", 4, 14)),
    (TEST + "given\n  [5, 5) near(a,b)=true\n", ("empty-interval", 4, 3)),
    (TEST + "at\n", ("no-time", 3, 1)),
    (TEST + "at soon\n", ("not-a-time", 3, 4)),
    (TEST + "at 5, 5\n", ("times-not-ascending", 3, 4)),
    (TEST + "at 1/2\n", ("not-a-time", 3, 4)),
    (TEST + "then perhaps\n", ("unknown-then", 3, 6)),
    (TEST + "then\n  rich(ann)=true\n", ("no-interval", 4, 3)),
    (TEST + "then\n  rich(ann)=true 5\nat 9\n", ("nothing-expected", 2, 1)),
    (TEST + "then\n  rich(ann)=true [4, 11).\n", ("full-stop", 4, 25)),
    (TEST + "then\n  rich(ann)=true [4, 11), [9, inf)\n", ("overlapping", 4, 3)),
    (TEST + "given\n  3 win(ann).\n", ("full-stop", 4, 13)),
    (TEST + "then\n  speed(ann)=2.5 [4, 11).\n", ("full-stop", 4, 25)),
    (TEST + "then\n  rich(ann)=true [4, 11),\n", ("full-stop", 4, 25)),
    (TEST + "given\n  3 win(ann);\n", ("full-stop", 4, 13)),
    (TEST + f"given\n  {1 << 62} win(ann)\n", ("out-of-range", 4, 3)),
    (TEST + f"given\n  3 win(ann) arrives {1 << 62}\n", ("out-of-range", 4, 22)),
    (TEST + f"at {1 << 62}\n", ("out-of-range", 3, 4)),
    (TEST + f"window {1 << 62}\n", ("out-of-range", 3, 8)),
    (TEST + "then at least\n  rich(ann)=true never\n", ("never-at-least", 4, 18)),
])
def test_what_is_wrong_is_told_at_its_place(text: str, expected: tuple[str, int, int]) -> None:
    assert problem(text) == expected


def test_every_problem_is_told() -> None:
    with pytest.raises(InputError) as raised:
        read(TEST + "given\n  win(ann)\n  lose(ann)\nat x\n", "t.ectest")
    assert [found.span.line for found in raised.value.diagnostics if found.span] == [4, 5, 6]


@pytest.mark.parametrize(("text", "expected"), [
    (TEST.replace("test", "tset") + "given\n 3 win(ann)\nthen\n f=true 3\n", [("unknown-line", 2)]),
    ("Program rules.ec\nTest \"t\"\ngiven:\n 3 win(ann)\nthen\n f=true 3\n",
     [("unknown-line", 1), ("unknown-line", 2), ("unknown-line", 3)]),
    (TEST + "givn\n 3 win(ann)\nthne\n f=true 3\n", [("unknown-line", 3), ("unknown-line", 5)]),
    (TEST + "given\n 3 win(ann)\nThen only\n f=true 3\n", [("unknown-line", 5)]),
    ("initiatedAt(f=true, T) :-\n  happensAt(e, T).\n\n% rules\n", [("unknown-line", 1)]),
    (HEAD + "given 3 win(ann)\n 4 win(ann)\ntest \"t\"\nthen onyl\n f=true 3\n f=true [2, 5)\n",
     [("words-too-many", 2), ("unknown-then", 5)]),
    (TEST + "at 5\nthen\n f=true 3\ntest \"t\"\nat 5\nthen\n f=true 3\ntest\nat 5\nthen\n f=true 3\n",
     [("test-named-twice", 6), ("test-without-name", 10)]),
    (TEST + "background\n price(tea, 1).\nthen\n f=true 3\n", [("late-background", 3)]),
])
def test_a_keyword_that_is_spelt_wrong_is_told_once(text: str, expected: list[tuple[str, int]]) -> None:
    """What follows it is no problem of its own."""
    with pytest.raises(InputError) as raised:
        read(text, "t.ectest")
    assert [(found.code, found.span.line) for found in raised.value.diagnostics if found.span] == expected


def test_tabs_and_line_ends_mean_nothing() -> None:
    plain = read(TEST + "given\n 3 win(ann)\nat 10, 20\nthen only\n f=true [4, 11)\n", "t")
    other = read("program\trules.ec\r\ntest\t\"t\"\r\n\tgiven\r\n\t\t3\twin(ann)\r\nat\t10,\t20\r\n"
                 "\tthen\tonly\r\n\tf=true\t[4,\t11)\r\n", "t")
    assert (other.program, other.tests[0].at, other.tests[0].then[0].mode) == ("rules.ec", (10, 20), "only")
    assert other.tests[0].then[0].lines[0].when == plain.tests[0].then[0].lines[0].when
    assert read('program "rules.ec"\ntest "t"\nthen\n f=true 3\n', "t").program == "rules.ec"
