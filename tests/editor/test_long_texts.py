"""Long rule files: for each fluent its own rules are looked at, not all; else typing in such a file is no pleasure."""

from __future__ import annotations

import pytest

from eventide.analysis.model import Clause, ClauseKind, Model
from eventide.editor.checking import Checker
from eventide.program import parse


def rules(count: int) -> str:
    """As many fluents, each with a value that the one before it has, delays and groundings."""
    return "".join(
        f"initiatedAt(f{i}(X)=true, T) :- happensAt(e{i}(X), T), holdsAt(f{max(i - 1, 0)}(X)=true, T).\n"
        f"terminatedAt(f{i}(X)=true, T) :- happensAt(g{i}(X), T).\nfi(f{i}(X)=true, f{i}(X)=false, 5).\n"
        f"grounding(f{i}(X)=true) :- thing(X).\n" for i in range(count))


def test_all_rules_are_gone_through_as_often_for_many_fluents_as_for_few(monkeypatch: pytest.MonkeyPatch) -> None:
    through: list[tuple[ClauseKind, ...]] = []
    whole = Model.of_kind

    def counted(model: Model, *kinds: ClauseKind) -> list[Clause]:
        through.append(kinds)
        return whole(model, *kinds)

    monkeypatch.setattr(Model, "of_kind", counted)
    times = []
    for count in (10, 40):
        through.clear()
        checked = Checker().check("text", rules(count), "ec")
        assert [problem.code for problem in checked.problems if problem.severity == "error"] == []
        times.append(len(through))
    assert times[0] == times[1]


def test_the_clauses_about_a_fluent_are_those_of_its_template() -> None:
    model = parse(rules(5)).model
    for clause in model.clauses:
        assert model.about(clause.template) == [each for each in model.clauses if each.template == clause.template]
        assert clause in model.about(clause.template, clause.kind)
    assert model.about("nothing(_)") == []
