"""Rule files with weights: what `Program.run` finds with them is what the learner predicts; writing and reading."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from benchmarks._caviar import caviar, hand_written
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.executors import OnSpark, Run
from tests.learning.test_columns import FACTS, clauses

import eventide as ev
from eventide.explanation.asking import explain
from eventide.learning.clauses import Clause, Literal, clause_of
from eventide.learning.examples import Examples, examples_of, table
from eventide.learning.inference import MODES as INFERENCES
from eventide.learning.modes import read_modes
from eventide.learning.prediction import facts_of, predicted
from eventide.learning.results import Theory, WeightedClause, read_rules, rules_text
from eventide.syntax.terms import Compound, functor_of

MODES = """
modeh(initiatedAt(meet(+person,+person),+time))
modeh(terminatedAt(meet(+person,+person),+time))
modeb(happensAt(walk(+person),+time))
modeb(happensAt(greet(+person,-person),+time))
modeb(near(+person,+person,#dist,+time))
modeb(far(+person,+person,#dist,+time))
modeb(role(+person,#role))
examplePattern(holdsAt(meet(+person,+person),+time))
comparisonPredicate(near(+person,+person,#dist,+time), lessThan, comparison_term_position(3))
comparisonPredicate(far(+person,+person,#dist,+time), greaterThan, comparison_term_position(3))
"""
Facts = dict[str, list[tuple[Any, ...]]]
WEIGHTS = st.sampled_from([-2.0, -1.0, -0.30000000000000004, 0.0, 0.1, 0.2, 1.0, 1e-5, 3.5])
RULES = st.lists(st.builds(WeightedClause, clauses(), WEIGHTS), min_size=1, max_size=5)


def examples_with(facts: Facts, irreflexive: bool = False) -> Examples:
    modes, problems = read_modes(MODES + ("irreflexive(meet)\n" if irreflexive else ""))
    assert not problems
    tables = [table(shape, *(zip(*rows, strict=True) if rows else [[]] * sum(map(shape.count, "+-#"))))
              for shape, rows in facts.items()]
    labels = table("holdsAt(meet(+person,+person),+time)", ["ann"], ["bob"], [1])
    return examples_of(modes, tables, labels)


def program_of(text: str, examples: Examples) -> ev.Program:
    _, timeless = facts_of(examples)
    program = ev.parse(text, background=[{name: tables[0]} for name, tables in timeless.items()])
    assert [problem for problem in program.check() if problem.severity == "error"] == [], text
    return program


def rows_of(found: pa.Table) -> list[tuple[Any, ...]]:
    return sorted(((row["args"], row["start"], row["end"]) for row in found.to_pylist() if row["fluent"] == "meet"),
                  key=str)


def has_facts(events: dict[str, list[pa.Table]]) -> bool:
    return any(len(each) for tables in events.values() for each in tables)


@given(FACTS, RULES, st.booleans(), st.sampled_from(INFERENCES))
def test_a_run_finds_what_the_learner_predicts(facts: Facts, rules: list[WeightedClause], irreflexive: bool,
                                               inference: Any) -> None:
    examples = examples_with(facts, irreflexive)
    text = rules_text([Theory(rules, examples, inference)])
    expected = rows_of(predicted(rules, examples, inference=inference))
    events, _ = facts_of(examples)
    if has_facts(events):
        assert rows_of(program_of(text, examples).run(events).to_arrow()) == expected, text
    else:
        assert not expected


def with_arguments_bound(rule: WeightedClause) -> WeightedClause:
    """The rule with conditions that name its arguments, if it initiates."""
    name, (fluent, time) = rule.clause.head.functor, rule.clause.head.args  # type: ignore[union-attr]
    walks = [Literal(Compound("happensAt", (Compound("walk", (each,)), time))) for each in fluent.args]  # type: ignore[union-attr]
    return WeightedClause(Clause(rule.clause.head, (*rule.clause.body, *walks)), rule.weight) \
        if name == "initiatedAt" else rule


@settings(max_examples=25)
@given(FACTS, RULES, st.integers(1, 5), st.booleans())
def test_windows_and_sessions_find_it_too(facts: Facts, rules: list[WeightedClause], step: int, restored: bool) -> None:
    """As long as no rule asks for all things that are known: what is not known yet is not asked for."""
    examples, rules = examples_with(facts), [with_arguments_bound(rule) for rule in rules]
    text = rules_text([Theory(rules, examples)])
    assert "dynamicDomain" not in text
    events, _ = facts_of(examples)
    assume(has_facts(events))
    expected, program = rows_of(predicted(rules, examples)), program_of(text, examples)
    assert rows_of(program.run(events, window=step + 1, step=step).to_arrow()) == expected, text
    session, found = program.session(window=3), dict[str, Any]()
    for time in range(7):
        now = {name: [each.filter(pc.equal(each["time"], time)) for each in tables] for name, tables in events.items()}
        if has_facts(now):
            session.insert(now)
        changes = session.advance(to=time)
        for row in changes.removed.to_pylist():
            del found[str(row)]
        found |= {str(row): row for row in changes.added.to_pylist()}
        if restored:
            session = program.restore(session.save())
    kept = [row for row in found.values() if row["fluent"] == "meet"]
    assert sorted(((row["args"], row["start"], row["end"]) for row in kept), key=str) == expected, text


@given(FACTS, RULES, st.booleans())
def test_rules_are_read_as_they_were_written(facts: Facts, rules: list[WeightedClause], irreflexive: bool) -> None:
    examples = examples_with(facts, irreflexive)
    wanted = rules if any(functor_of(rule.clause.head)[0] == "initiatedAt" for rule in rules) else []
    found = read_rules(rules_text([Theory(rules, examples)]), examples)
    assert [plain(rule) for rule in found] == [plain(rule) for rule in wanted]


def plain(rule: WeightedClause) -> str:
    return f"{rule.weight!r} {rule.clause}"


def test_votes_are_explained() -> None:
    rules = """weight(2.5)::initiatedAt(hot(X)=true, T) :- happensAt(up(X), T).
        weight(-3)::initiatedAt(hot(X)=true, T) :- happensAt(drill(X), T).
        weight(-0.5)::initiatedAt(hot(X)=true, T).
        weight(1)::terminatedAt(hot(X)=true, T) :- happensAt(up(X), T).
        weight(1)::terminatedAt(hot(X)=true, T) :- happensAt(down(X), T)."""
    events = pa.table({"time": [2, 4, 6, 6], "event": ["up", "down", "up", "drill"], "what": ["a"] * 4})
    program = ev.parse(rules)
    assert program.run(events).timeline() == {"hot(a)=true": [(3, 5)]}
    why = str(explain(program, events, "hot(a)=true", at=3))
    assert "weight(2.5)::initiatedAt" in why and "weight(-3)" not in why and "is terminated at 4" in why
    why_not = str(explain(program, events, "hot(a)=true", at=7))
    assert "it is not initiated at 6: the weights of its rules have the sum -1" in why_not and "weight(-3)" in why_not


@pytest.mark.spark
def test_spark_finds_it_too(spark: Any, tmp_path: Path) -> None:
    facts: Facts = {
        "happensAt(walk(+person),+time)": [("ann", 1), ("bob", 1), ("cy", 2), ("ann", 4), ("bob", 9)],
        "happensAt(greet(+person,-person),+time)": [("ann", "bob", 1), ("cy", "ann", 2), ("ann", "bob", 7)],
        "near(+person,+person,#dist,+time)": [("ann", "bob", 2, 1), ("ann", "bob", 1, 4), ("ann", "bob", 3, 9)]}
    rules = [WeightedClause(clause_of(text), weight) for weight, text in (
        (2.0, "initiatedAt(meet(X,Y),T) :- happensAt(greet(X,Y),T)."),
        (-2.5, "initiatedAt(meet(X,Y),T) :- happensAt(greet(X,Y),T), not happensAt(walk(X),T), near(_,_,_,T)."),
        (0.1, "terminatedAt(meet(X,Y),T) :- not near(X,Y,2,T)."),
        (-0.2, "terminatedAt(meet(X,Y),T) :- happensAt(greet(Z,X),T)."))]
    examples = examples_with(facts)
    program, (events, _) = program_of(rules_text([Theory(rules, examples)]), examples), facts_of(examples)
    for name, (only,) in events.items():
        pq.write_table(only, tmp_path / f"{name}.parquet")
    run = Run(program, [Path(f"{name}={tmp_path / name}.parquet") for name in events], {"fluents": ["meet"]})
    expected = rows_of(predicted(rules, examples))
    assert len(expected) > 1
    (rows,) = OnSpark(spark).answers({0: run}).values()
    assert sorted(((row["args"], row["start"], row["end"]) for row in rows), key=str) == expected


def test_hand_written_rules_on_videos(shared_data: Callable[[str], Path]) -> None:
    """The rules of CAVIAR's authors, with weights that change nothing, in every third video."""
    shared_data("data/caviar")
    videos = caviar("moving")
    assert videos is not None
    rules = [WeightedClause(clause, 0.5) for clause in hand_written("moving")]
    program = ev.parse(rules_text([Theory(rules, videos.examples)]))
    expected = predicted(rules, videos.examples).to_pylist()
    for video in videos.examples.streams[::3]:
        found = program.run(facts_of(videos.examples, video)[0], fluents=["moving"]).to_arrow().to_pylist()
        assert [(row["args"], row["start"], row["end"]) for row in found] == [
            (row["args"], row["start"], row["end"]) for row in expected if row["stream"] == str(video)]
