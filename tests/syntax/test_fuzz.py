"""Any text gives rules and diagnostics, never an exception: random text, random tokens and mutated programs."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.syntax.golden import cases

from eventide.syntax.event_calculus import ParsedProgram, parse
from eventide.syntax.printer import to_text

PROGRAMS = [case.text for case in cases("rules", "mistakes", "terms", "syntax_errors")]
TOKENS = ["initiatedAt", "holdsFor", "happensAt", "start", "f", "X", "T", "_", "I", "(", ")", "[", "]", "|", ",", ".",
          "\n", " ", ":-", "->", ";", "\\+", "not ", "=", "\\=", "==", "is ", "<", "-", "+", "1", "2.5", "'q'", "'",
          '"', "/*", "*/", "%", "!", "[]", "union_all", "allen", "before", "findall", "length", "0'", "\\", "{",
          "true", "fail", "(f(X)=true, T)", ". ", "dynamic ", "mod "]
SETTINGS = settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def check(text: str) -> ParsedProgram:
    """What every text must give: diagnostics inside the text that can be shown, and rules that can be printed."""
    program = parse(text)
    lines = text.splitlines()
    for problem in program.diagnostics:
        assert problem.span is not None and problem.hint and problem.code
        assert 1 <= problem.span.line <= len(lines) + 1 and problem.span.column >= 1
        assert (problem.span.end_line, problem.span.end_column) > (problem.span.line, problem.span.column)
        assert problem.render(text) and problem.as_dict()
    for rule in program.rules:
        again = parse(to_text(rule))
        assert again.rules == (rule,), (to_text(rule), again)
    return program


@SETTINGS
@given(st.text(max_size=200))
def test_random_text(text: str) -> None:
    check(text)


@SETTINGS
@given(st.lists(st.sampled_from(TOKENS), max_size=40).map("".join))
def test_random_tokens(text: str) -> None:
    check(text)


@SETTINGS
@given(st.lists(st.sampled_from(TOKENS), max_size=15).map("".join))
def test_random_bodies(text: str) -> None:
    check(f"initiatedAt(f(X)=true, T) :- happensAt(e(X), T), {text}.")
    check(f"holdsFor(g=true, I) :- holdsFor(f(X)=true, I1), {text}.")


@st.composite
def mutated(draw: st.DrawFn) -> str:
    """A program with a few cuts, insertions and repetitions."""
    text = draw(st.sampled_from(PROGRAMS))
    for _ in range(draw(st.integers(1, 4))):
        at, width = draw(st.integers(0, len(text))), draw(st.integers(0, 12))
        piece = draw(st.sampled_from([*TOKENS, "", text[at : at + width] * 2]))
        text = text[:at] + piece + text[at + width :]
    return text


@SETTINGS
@given(mutated())
def test_mutated_programs(text: str) -> None:
    check(text)
