"""Rules as long as rules may be work everywhere; longer ones are refused with a message, and no sooner."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.engine.running import facts_of

import eventide as ev
from eventide.syntax.sizes import MOST_CONDITIONS

FACTS = facts_of([(("event", "e", (1, 5), 3), None)])
BEGIN = "initiatedAt(q(X)=true, T) :- happensAt(e(X, V), T).\n"

CONDITIONS = {
    "events": "happensAt(e(X, V{0}), T)", "fluents": "holdsAt(q(X)=W{0}, T)",
    "negations": "\\+ happensAt(z(X, {0}), T)", "comparisons": "V > -{0}",
    "computations": "N{0} is V + 1", "tables": "k(X, V)",
}


def rule(condition: str, count: int) -> str:
    conditions = ",\n".join(condition.format(number) for number in range(count - 1))
    return f"{BEGIN}k(1, 5).\ninitiatedAt(f(X)=true, T) :- happensAt(e(X, V), T),\n{conditions}."


@pytest.mark.parametrize("condition", CONDITIONS.values(), ids=CONDITIONS)
def test_as_long_as_may_be(condition: str) -> None:
    program = ev.parse(rule(condition, MOST_CONDITIONS))
    assert not [each for each in program.check() if each.severity == "error"]
    assert program.explain_plan()
    wanted = set() if "holdsAt" in condition else {"f"}
    assert {row["fluent"] for row in program.run(FACTS, start=0, end=9).to_arrow().to_pylist()} == {"q", *wanted}
    program.run(FACTS, start=0, end=9, probabilistic=True)
    session = program.session(window=5, start=0)
    session.insert(FACTS)
    session.advance(to=4)
    session = program.restore(session.save())
    session.advance(to=8)
    assert set(session.answer().to_pydict()["fluent"]) == {"q", *wanted}


@pytest.mark.parametrize("count", [MOST_CONDITIONS + 1, 400, 2000])
@pytest.mark.parametrize("condition", CONDITIONS.values(), ids=CONDITIONS)
def test_longer(condition: str, count: int) -> None:
    problem, = [each for each in ev.parse(rule(condition, count)).check() if each.severity == "error"]
    assert (problem.code, problem.message) == ("too-many-conditions", "this rule has more than 200 conditions")
    assert problem.span is not None and problem.span.line == MOST_CONDITIONS + 3


@pytest.mark.parametrize("operation", ["intersect_all([{}], I)", "relative_complement_all(I0, [{}], I)"])
def test_long_operations(operation: str) -> None:
    def text(count: int) -> str:
        lists = "".join(f"holdsFor(q(X)=true, I{number}), " for number in range(count))
        return f"{BEGIN}holdsFor(f(X)=true, I) :- {lists}" + \
            operation.format(", ".join(f"I{number}" for number in range(count))) + "."

    assert not [each for each in ev.parse(text(MOST_CONDITIONS)).check() if each.severity == "error"]
    assert [each.code for each in ev.parse(text(400)).check() if each.severity == "error"] == ["too-many-conditions"]


def test_a_union_may_be_of_any_length() -> None:
    lists = ", ".join(f"holdsFor(q(X)=true, I{number})" for number in range(1000))
    union = f"union_all([{', '.join(f'I{number}' for number in range(1000))}], I)"
    rows = ev.parse(f"{BEGIN}holdsFor(f(X)=true, I) :- {lists}, {union}.").run(FACTS, start=0, end=9).to_arrow()
    assert {row["fluent"] for row in rows.to_pylist()} == {"q", "f"}


@pytest.mark.parametrize(("ending", "begin", "condition"), [
    (".mtl", "R(X) :- P(X)", "<>-[0,{0}] P(X)"), (".lars", "r(X) :- p(X)", "not q{0}(X)"),
    (".lars", "r(X) :- p(X)", "p(X) [{0}]"),
])
def test_other_languages(ending: str, begin: str, condition: str, tmp_path: Path) -> None:
    def loaded(count: int) -> Any:
        file = tmp_path / f"rules{ending}"
        file.write_text(f"{begin}, {', '.join(condition.format(number) for number in range(1, count))}.")
        return ev.load(file)

    facts = tmp_path / ("facts.facts" if ending == ".mtl" else "facts.jsonl")
    facts.write_text("P(a)@3\n" if ending == ".mtl" else '{"time":3,"facts":["p(a)"]}\n')
    rows = loaded(MOST_CONDITIONS).run(facts).to_arrow().to_pylist()
    assert {row["fluent"].lower() for row in rows} == {"r"}
    for count in (MOST_CONDITIONS + 1, 3000):
        assert [each.code for each in loaded(count).check() if each.severity == "error"] == ["too-many-conditions"]


@pytest.mark.parametrize("term", ["f(" * 3000 + "a" + ")" * 3000, "[" * 3000 + "]" * 3000, "1" + " + 1" * 3000,
                                  "- " * 3000 + "1", "(" * 3000 + "a" + ")" * 3000],
                         ids=["compound", "list", "sum", "signs", "parentheses"])
def test_deep_terms(term: str) -> None:
    for text in (f"q({term}).", f"initiatedAt(f(X)=true, T) :- happensAt(e(X, V), T), V > {term}.",
                 f"initiatedAt(f(X)={term}, T) :- happensAt(e(X, V), T)."):
        assert len([each for each in ev.parse(text).check() if each.severity == "error"]) == 1
