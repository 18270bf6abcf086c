"""Recursion through time and through data: least fixpoints, and where they are cut when they would not end."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import eventide as ev
from eventide.engine import deltas
from eventide.errors import ProgramError
from eventide.mtl.facts import facts_in
from eventide.mtl.materialisation import Materialisation
from eventide.mtl.program import MtlProgram, result_of


def materialised(rules: str, facts: str, horizon: str | None = None) -> Materialisation:
    program: MtlProgram = ev.parse(rules, language="mtl")
    return program.materialisation(facts_in(facts), horizon=horizon).run()


def timeline(run: Materialisation) -> dict[str, list[str]]:
    return result_of(run, list(run.compiled.model.defined)).timeline()


ENDING = {
    "P :- <>-[1,1] P, Scope.": ("P@0\nScope@[0,3]", ["[0,0]", "[1,1]", "[2,2]", "[3,3]"]),
    "P :- []-(0,1) P.": ("P@[0,1)", ["[0,1]"]),
    "P :- <>-[0,inf) P.": ("P@3", ["[3,inf)"]),
    "P :- <>-[1,1] P.": ("P@[0,inf)", ["[0,inf)"]),
    "P :- <>-[0,0] P. P :- A since[0,1] P, not B.": ("A@[0,5]\nP@1\nB@3", ["[1,3)", "(3,5]"]),
    "P :- Q, Scope. Q :- <>-[1,2] P.": ("P@0\nScope@[0,3]", ["[0,0]", "[1,3]"]),
}


@pytest.mark.parametrize("rules", ENDING)
def test_what_ends_is_followed_to_its_end(rules: str) -> None:
    facts, expected = ENDING[rules]
    run = materialised(rules, facts)
    assert timeline(run)["P"] == expected
    assert (run.cut, run.until) == ([], None)


ENDLESS = {
    "P :- <>-[1,1] P.": ("P@0\nA@3", ["[0,0]", "[1,1]", "[2,2]", "[3,3]", "[4,4]"], "4"),
    "P :- <>-[1,2] P.": ("P@(0,1/2)", ["(0,1/2)", "(1,5/2]"], "5/2"),
    "P :- []-[1/2,1] P.": ("P@[0,1]", ["[0,2]"], "2"),
    "[]+[3,3] P :- P, On. On :- <>-[1,inf) S.": ("P@2\nS@0", ["[2,2]", "[5,5]"], "5"),
    "P :- Q. Q :- <>-[1,1] P.": ("P@0", ["[0,0]", "[1,1]"], "1"),
}


@pytest.mark.parametrize("rules", ENDLESS)
def test_what_does_not_end_is_cut_and_told(rules: str) -> None:
    facts, expected, until = ENDLESS[rules]
    run = materialised(f"{rules} Other :- A.", facts)
    assert timeline(run)["P"] == expected
    assert run.until == (Fraction(until) if run.cut else None)
    assert run.cut


def test_a_horizon_that_is_asked_for_is_no_cut() -> None:
    run = materialised("P :- <>-[1,1] P.", "P@0", horizon="5/2")
    assert timeline(run) == {"P": ["[0,0]", "[1,1]", "[2,2]"]}
    assert (run.cut, run.until) == ([], Fraction(5, 2))


def test_everything_is_cut_where_a_part_is() -> None:
    run = materialised("P :- <>-[1,1] P. Q :- <>-[0,9] A. R :- A, not P.", "P@0\nA@[0,2]")
    assert run.until == 11
    assert timeline(run)["Q"] == ["[0,11]"]
    run = materialised("P :- <>-[1,1] P. Q :- <>-[0,inf) A.", "P@0\nA@[0,2]")
    assert timeline(run)["Q"] == ["[0,3]"]


def test_closure_over_links_that_come_and_go() -> None:
    rules = "Path(X,Y) :- Link(X,Y). Path(X,Z) :- Path(X,Y), Path(Y,Z)."
    facts = "Link(a,b)@[0,5]\nLink(b,c)@[2,8)\nLink(c,a)@(3,9]"
    found = timeline(materialised(rules, facts))
    assert found["Path(a,c)"] == ["[2,5]"]
    assert found["Path(a,a)"] == found["Path(c,c)"] == ["(3,5]"]


def test_values_are_computed_in_a_cycle_up_to_their_bound() -> None:
    run = materialised("N(Y) :- <>-[1,1] N(X), Y = X + 1, Y < 4.", "N(1)@[0,1/2)", horizon="9")
    assert timeline(run) == {"N(1)": ["[0,1/2)"], "N(2)": ["[1,3/2)"], "N(3)": ["[2,5/2)"]}


def test_values_without_bound_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deltas, "MOST_ROUNDS", 500)
    program: MtlProgram = ev.parse("N(Y) :- N(X), Y = X + 1.", language="mtl")
    with pytest.raises(ProgramError, match="computes values without end") as error:
        program.run(facts_in("N(1)@0"))
    assert str(error.value.diagnostics[0].span) == "<text>:1:1"


@given(st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from("abcd"), st.integers(0, 8), st.integers(0, 4)),
                max_size=8))
def test_what_is_new_alone_gives_what_everything_gives(links: list[tuple[str, str, int, int]]) -> None:
    """Semi-naive evaluation against repeating everything until nothing changes."""
    rules = """Path(X,Y) :- Link(X,Y). Path(X,Z) :- Path(X,Y), <>-[0,1] Path(Y,Z), Scope.
               Safe(X) :- []-[0,2] Path(X,_). Seen(X) :- Safe(X) since[0,3] Path(X,Y), Scope. Path(X,X) :- Seen(X)."""
    facts = "\n".join(["Scope@[0,12]", *(f"Link({x},{y})@[{low},{low + size}]" for x, y, low, size in links)])
    quick = timeline(materialised(rules, facts))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(deltas.CycleShape, "can_only_grow", property(lambda self: False, lambda self, value: None),
                      raising=False)
        assert timeline(materialised(rules, facts)) == quick
