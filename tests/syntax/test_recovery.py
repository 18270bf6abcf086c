"""Errors never lose other clauses, deep or long texts never exhaust the stack, and time stays linear."""

from __future__ import annotations

import pytest
from tests.syntax.golden import cases

from eventide.syntax.event_calculus import parse
from eventide.syntax.reader import MAX_DEPTH, read_clauses

# A comment that is open takes the rest of the text, and after a comma the next line is one more condition.
BROKEN = [line for case in cases("syntax_errors") if "/*" not in case.text
          for line in case.text.splitlines()[:1] if not line.endswith(",")]


@pytest.mark.parametrize("broken", BROKEN)
def test_a_broken_clause_costs_only_itself(broken: str) -> None:
    good = "before(a).\n", "\nafter(b).\nlast(c) :- after(X).\n"
    clauses, problems = read_clauses(good[0] + broken + good[1], "text")
    heads = [str(clause.head) for clause in clauses]
    assert heads[0] == "before(a)" and heads[-2:] == ["after(b)", "last(c)"]
    assert len(problems) == 1 and problems[0].span is not None and problems[0].span.line in (2, 3)


@pytest.mark.parametrize("text", [
    "f(" * 5000 + "a" + ")" * 5000 + ".", "(" * 5000 + "a" + ")" * 5000 + ".", "[" * 5000 + "]" * 5000 + ".",
    "a :- " + "\\+ " * 5000 + "b.", "a :- X is " + "- " * 5000 + "1.", "a :- X is " + "1 + " * 5000 + "1.",
    "a :- X = " + "2 ^ " * 5000 + "2.", "a :- " + "b -> " * 5000 + "c.", "f((" + "a, " * 5000 + "b)).",
    "a :- " + "(b -> c ; " * 60 + "d" + ")" * 60 + ".", "a :- " + "(" * 30 + "b" + " -> c ; d)" * 30 + ".",
    "a :- " + "b -> c ; " * 5000 + "d.", "f(" * 5000, "[" * 5000, "'" * 5001, "f(" + "-" * 5000 + "1).",
    f"f({'9' * 5000}).", f"f(0x{'f' * 5000}).", f"f('\\x{'f' * 5000}\\').",
])
def test_deep_nesting_and_huge_numbers_are_errors_and_nothing_worse(text: str) -> None:
    program = parse(text + "\nok(a).")
    assert [problem.severity for problem in program.diagnostics].count("error") >= 1


@pytest.mark.parametrize("text", [
    "a :- " + "b(X), " * 5000 + "c.", "a :- " + "b ; " * 5000 + "c.", "a([" + "x, " * 5000 + "y]).",
    "a(" + "x, " * 5000 + "y).", "a :- " + "(" * (MAX_DEPTH - 20) + "b" + ")" * (MAX_DEPTH - 20) + ".",
])
def test_long_but_flat_clauses_are_read(text: str) -> None:
    program = parse(text)
    assert program.diagnostics == () and len(program.rules) == 1


@pytest.mark.parametrize("line", [
    "f(a", "f('a", "a :- b :- c", "a\n", "/", "(", "a :-", "'\\''", "f(a).g", ".", "a,\nb :-", "x. /", "%", '"\\"',
    "a\n:-", "0'", "1'", "\\", "f(a,\n", "'\\x", "a -> ",
])
def test_long_broken_texts_come_to_an_end(line: str) -> None:
    """A reader that looked back at every step would need hours for this."""
    program = parse(line * 16000)
    assert len(program.rules) <= 16000


def test_a_background_file_of_facts_is_read() -> None:
    text = "\n".join(f"vesselType({number}, tug)." for number in range(20_000))
    program = parse(text)
    assert len(program.rules) == 20_000 and not program.diagnostics


def test_plain_facts_have_exact_places() -> None:
    fact = parse("\n  speed(v1, -3.5, 'a b').").rules[0].head  # type: ignore[union-attr]
    places = [(arg.span.line, arg.span.column, arg.span.end_column) for arg in fact.args]  # type: ignore
    assert places == [(2, 9, 11), (2, 13, 17), (2, 19, 24)]


def test_line_ends_of_every_kind_count_as_in_the_rendered_text() -> None:
    for end in ("\n", "\r\n", "\r"):
        text = f"f(a).{end}% note{end}g(b) h.{end}"
        problem = parse(text).diagnostics[0]
        assert problem.span is not None and (problem.span.line, problem.span.column) == (3, 6)
        assert "g(b) h." in problem.render(text)
