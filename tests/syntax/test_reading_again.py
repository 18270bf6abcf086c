"""A text that is read again after an edit gives what reading it anew gives, places included."""

from __future__ import annotations

from dataclasses import asdict

from hypothesis import given
from hypothesis import strategies as st

from eventide.syntax.reader import Reading, read_clauses

PIECES = ("port(brest).", "p(X) :- q(X).", "\n", " ", ".", "% note\n", "p(", "'a b'", "q :- r", ",", "X", "/* c", "*/",
          "3.5", "s(1, 'it''s').", "'", "h(Y)\n    :- holdsAt(f(Y)=true, T).\n")


@given(st.lists(st.sampled_from(PIECES), max_size=12),
       st.lists(st.tuples(st.integers(0, 80), st.integers(0, 12), st.lists(st.sampled_from(PIECES), max_size=3)),
                min_size=1, max_size=6))
def test_edits(pieces: list[str], edits: list[tuple[int, int, list[str]]]) -> None:
    known, text = Reading(), "".join(pieces)
    read_clauses(text, "rules.ec", known)
    for begin, removed, added in edits:
        text = text[:begin] + "".join(added) + text[begin + removed :]
        clauses, problems = read_clauses(text, "rules.ec", known)
        anew, problems_anew = read_clauses(text, "rules.ec")
        assert [asdict(clause) for clause in clauses] == [asdict(clause) for clause in anew]
        assert problems == problems_anew


def test_another_file_is_read_anew() -> None:
    known = Reading()
    read_clauses("p(a). p(b).", "one.ec", known)
    clauses, _ = read_clauses("p(a). p(b).", "two.ec", known)
    assert {clause.span.source for clause in clauses if clause.span is not None} == {"two.ec"}


def test_what_is_not_read_again_is_the_same_clause() -> None:
    known = Reading()
    first, _ = read_clauses("p(a). p(b). p(c).", "rules.ec", known)
    second, _ = read_clauses("p(a). p(b). p(d).", "rules.ec", known)
    assert [one is other for one, other in zip(first, second, strict=True)] == [True, True, False]
