"""What the analysis of LARS programs says: safety, components, slips, and what others answer differently."""

from __future__ import annotations

import pytest

import eventide as ev
from eventide.lars.program import LarsProgram


def parse(text: str) -> LarsProgram:
    program: LarsProgram = ev.parse(text, language="lars")
    return program


@pytest.mark.parametrize(("text", "problems"), [
    ("h(X,Y) :- p(X), q.", [("unsafe-variable", 5, "Y of the head")]),
    ("h at T :- p(X).", [("unsafe-variable", 6, "T of the head")]),
    ("h at T+1 :- p(X).", [("unsafe-variable", 6, "T of the head")]),
    ("h(X+1) :- q.", [("unsafe-variable", 3, "X of the head")]),
    ("h :- p(X), not q(X,Y) [3].", [("unsafe-variable", 20, "Y of 'not q'")]),
    ("h :- s, not q at T [3].", [("unsafe-variable", 18, "T of 'not q'")]),
    ("h :- p(X), not q(_).", [("unsafe-variable", 18, "'_' in a negated atom")]),
    ("h :- p(X), Y < X.", [("unsafe-variable", 12, "Y of a comparison")]),
    (":- p(X), Y != X.", [("unsafe-variable", 10, "Y of a comparison")]),
    ("h(Z) :- p(X), Y = X + 1, Z = Y * 2.", []),
    ("h(Y) :- p(X), X + 1 = Y.", []),
    ("h :- p(X), X < big.", [("word-compared", 12, "'big' is a word")]),
    ("alarm(X) :- hot(X). h :- alrm(X) [3].", [("similar-name", 26, "did you mean alarm?")]),
    ("a(X) :- p(X). h :- a(X,Y).", [("other-arity", 20, "a(_,_) is an input, while a(_) is concluded")]),
    ("a :- p. h :- a [3 #].", [("tuples-of-conclusions", 14, "only input facts are counted")]),
    ("a :- p. a :- p.", [("duplicate-rule", 9, "already")]),
])
def test_problems(text: str, problems: list[tuple[str, int, str]]) -> None:
    found = [d for d in parse(text).check() if d.severity != "info"]
    assert [(d.code, d.span.column if d.span else 0) for d in found] == [problem[:2] for problem in problems]
    for problem, (_, _, part) in zip(found, problems, strict=True):
        assert part in problem.message and problem.hint


@pytest.mark.parametrize(("text", "components"), [
    ("b :- a [2]. c :- b [2], not d. d :- a.", [("b", "columnar"), ("d", "columnar"), ("c", "columnar")]),
    ("r(X,Y) :- e(X,Y) [3]. r(X,Z) :- r(X,Y), e(Y,Z) [3].", [("r", "columnar")]),
    ("a :- s, not b. b :- s, not a. c :- a. d :- s.",
     [("a b", "answer sets"), ("c", "answer sets"), ("d", "columnar")]),
    ("a :- s [2], not a.", [("a", "answer sets")]),
    ("on at T :- t at T [1], not off at T [1]. off at T :- t at T [1], not on at T [1].", [("on off", "answer sets")]),
    ("a :- b. b :- a. a :- s [1], not c. c :- s.", [("c", "columnar"), ("a b", "columnar")]),
])
def test_components(text: str, components: list[tuple[str, str]]) -> None:
    found = parse(text).model.components
    assert [(" ".join(name for name, _ in one.predicates), one.way) for one in found] == components


def test_a_loop_through_negation_is_told_with_its_way() -> None:
    (problem,) = parse("a :- not b [3], s. b :- c. c :- not a.").check()
    assert (problem.severity, problem.code) == ("info", "negative-loop")
    assert "a → b → c → a" in problem.message and "--models" in (problem.hint or "")


@pytest.mark.parametrize(("text", "parts"), [
    ("% language: ticker\nh :- a at 3 [5].", ["as a variable"]),
    ("% language: ticker\nh :- a(2.5) [5].", ["by its hash"]),
    ("% language: ticker\nh :- a at T.", ["without a window"]),
    ("% language: ticker\nh :- a at T [3], b at U [3].", ["two different times", "two different times"]),
    ("% language: ticker\nh :- car(C) [3]. car(1).", ["facts of the program"]),
    ("% language: ticker\nh :- a(T) [3], b at T [3].", ["number of tuples"]),
    ("h(X) :- time_win(3,0,1,diamond(p(X,b)))", ["constants and repeated variables"]),
    ("h(X) :- box(p(X)) and not(q(X))", ["as soon as any such atom"]),
    ("h(X) :- tuple_win(3,diamond(p(X)))", ["whole time-points"]),
    ("h(X) :- h(Y) and box(p(X,Y))", ["does not end on recursion"]),
    ("h :- a at 3 [5], b(2.5) [5], c at T.", []),
])
def test_what_others_answer_differently(text: str, parts: list[str]) -> None:
    found = [d for d in parse(text).check() if d.code in ("ticker-differs", "laser-differs")]
    assert len(found) == len(parts)
    for problem, part in zip(found, parts, strict=True):
        assert part in problem.message and problem.severity == "info"


def test_nothing_runs_with_errors() -> None:
    with pytest.raises(ev.EventideError, match="nothing binds the variable Y"):
        parse("h(Y) :- p(X).").run([])
