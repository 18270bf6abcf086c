"""Learners: definitions found again, batches tested before they are used, the same rules always, a trace in words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from eventide.applications.activity.labelled import CHANGED, MEETING, SEVERAL, generate
from eventide.applications.labelled import Labelled, modes_of
from eventide.errors import EventideError
from eventide.learning.clauses import clause_of
from eventide.learning.columns import layout_of
from eventide.learning.counts import rule_counts
from eventide.learning.examples import Batch, Examples, examples_of, table
from eventide.learning.induction import induce
from eventide.learning.inference import Carried, firing, infer
from eventide.learning.learner import Learner, Report
from eventide.learning.modes import read_modes
from eventide.learning.settings import Settings
from eventide.learning.subsumption import are_equivalent
from eventide.learning.theory import WeightedRule
from eventide.syntax.terms import functor_of

Truths = np.ndarray[Any, Any]


@pytest.fixture(scope="module")
def meetings() -> Labelled:
    return generate(persons=3, points=150, streams=3, seed=1)


def learnt(data: Labelled, settings: Settings | None = None, size: int = 50) -> tuple[Learner, list[Report]]:
    learner = Learner(modes_of(data.modes), settings=settings)
    return learner, [learner.partial_fit(batch) for batch in data.examples().batches(size)]


@pytest.mark.parametrize("definition", [MEETING, SEVERAL])
@pytest.mark.parametrize("noise", [0.0, 0.05])
def test_definitions_are_found_again(definition: str, noise: float) -> None:
    data = generate(persons=4, points=300, streams=4, definition=definition, noise=noise)
    learner, reports = learnt(data, size=100)
    assert len(learner.rules) == len(data.definition)
    for clause in data.definition:
        assert any(are_equivalent(clause, rule.clause) for rule in learner.rules)
    wrong = found = 0
    for batch in data.examples(clean=True).batches(1000):
        holds = learner.predict(batch)
        wrong, found = wrong + np.count_nonzero(holds != batch.labels), found + np.count_nonzero(holds)
    assert wrong == 0
    assert found > 500
    if not noise:
        assert sum(report.mistakes for report in reports[len(reports) // 2:]) == 0


def states(rules: tuple[WeightedRule, ...], examples: Examples, batch: Batch, before: Truths) -> Any:
    """What weighted rules say of a batch, from their clauses."""
    layout = layout_of([rule.clause for rule in rules], examples)
    return infer(firing(layout.columns(batch), layout.bodies), layout.initiates,
                 np.array([rule.weight for rule in rules], float), batch.offsets, before)


@pytest.mark.parametrize("settings", [Settings(), Settings.paper(), Settings(carry="labels"), Settings(memory=2),
                                      Settings.paper(inference="algorithm1", carry="nothing")])
def test_batches_are_tested_before_they_are_used(meetings: Labelled, settings: Settings) -> None:
    """Each report is that of the rules as they were before the batch, and states go on as the settings say."""
    examples, learner, carried = meetings.examples(), Learner(modes_of(meetings.modes), settings=settings), Carried()
    total = 0
    for batch in examples.batches(50):
        rules = learner.rules
        if settings.inference == "algorithm1":
            rules = tuple(rule for rule in rules if rule.weight > 0)
        if batch.begins:
            carried.reset()
        before = carried.take(batch.instances)
        holds = states(rules, examples, batch, before).holds
        report = learner.partial_fit(batch)
        assert (report.tp, report.fp, report.fn) == tuple(np.count_nonzero(each) for each in (
            holds & batch.labels, holds & ~batch.labels, ~holds & batch.labels))
        total += report.tp
        rules = tuple(rule for rule in learner.rules if settings.inference != "algorithm1" or rule.weight > 0)
        found = states(rules, examples, batch, before)
        after = found.after
        if settings.carry == "labels":
            last = batch.offsets[1:] - 1
            after = found.on[1, last] | (batch.labels[last] & ~found.on[0, last])
        carried.put(batch.instances, np.zeros_like(after) if settings.carry == "nothing" else after)
    assert total > 50


@pytest.mark.parametrize("settings", [Settings(), Settings.paper(), Settings.oled(), Settings(drift=True)])
def test_the_same_batches_give_the_same_rules_and_the_same_story(meetings: Labelled, settings: Settings) -> None:
    (one, first), (two, second) = (learnt(meetings, settings) for _ in range(2))
    assert one.rules == two.rules
    assert list(map(str, one.trace)) == list(map(str, two.trace))
    assert [(r.tp, r.fp, r.fn) for r in first] == [(r.tp, r.fp, r.fn) for r in second]


def test_counts_and_weights_are_those_of_all_that_was_seen(meetings: Labelled) -> None:
    learner, _ = learnt(meetings)
    examples = meetings.examples()
    layout = layout_of([rule.clause for rule in learner.rules], examples)
    parts = []
    for batch in examples.batches(50):
        fires = firing(layout.columns(batch), layout.bodies)
        parts.append(rule_counts(fires, fires, layout.initiates, batch.following()))
    for number, rule in enumerate(learner.rules):
        assert (rule.tp, rule.fp) == tuple(sum(int(part[i][number]) for part in parts) for i in (0, 1))
        assert rule.weight == pytest.approx(np.log((rule.tp + 1) / (rule.fp + 1)))
        assert rule.precision == rule.tp / (rule.tp + rule.fp)
        assert rule.support > 0


def test_the_story_tells_of_every_rule(meetings: Labelled) -> None:
    for settings in (Settings(), Settings.paper(), Settings.oled(), Settings(prune_precision=0.9, prune_after=20)):
        learner, reports = learnt(meetings, settings)
        theory: list[Any] = []
        for step in learner.trace:
            if step.kind == "added":
                theory.append(step.rule)
            elif step.kind == "dropped":
                theory.remove(step.rule)
            elif step.kind == "specialised":
                theory[theory.index(step.parent)] = step.rule
            assert str(step).startswith(f"batch {step.batch}: {step.kind} ")
            assert step.reason
        assert sorted(map(str, theory)) == sorted(str(rule.clause) for rule in learner.rules)
        assert [step for report in reports for step in report.steps] == learner.trace


def test_rules_of_the_paper_are_weighed_and_specialised(meetings: Labelled) -> None:
    learner, reports = learnt(meetings, Settings.paper())
    assert {"added", "specialised"} <= {step.kind for step in learner.trace}
    assert len({rule.weight for rule in learner.rules}) > 1
    assert any("more than the" in step.reason and "that chance allows" in step.reason for step in learner.trace)
    assert sum(report.tp for report in reports) > sum(report.fp for report in reports)
    unweighted = learnt(meetings, Settings.paper(specialise=False))[0]
    assert all(step.kind != "specialised" for step in unweighted.trace)


def test_oled_begins_with_rules_without_conditions(meetings: Labelled) -> None:
    learner, reports = learnt(meetings, Settings.oled())
    begun = [step for step in learner.trace if step.kind == "added"]
    assert begun
    assert all(step.rule is not None and not step.rule.body for step in begun)
    assert reports[0].tp == reports[0].fp == 0
    assert sum(report.tp for report in reports) > 0
    assert all(rule.weight == 1.0 for rule in learner.rules)


def test_poor_rules_are_dropped(meetings: Labelled) -> None:
    learner, _ = learnt(meetings, Settings.oled(prune_precision=0.6, prune_after=5))
    dropped = [step for step in learner.trace if "less than 60%" in step.reason]
    assert dropped
    assert all(rule.tp + rule.fp < 5 or rule.precision >= 0.6 for rule in learner.rules if rule.clause.body)


def test_predictions_go_their_own_way_through_streams(meetings: Labelled) -> None:
    examples = meetings.examples()
    (one, _), (two, _) = learnt(meetings), learnt(meetings)
    whole = [two.predict(batch).reshape(-1, 150) for batch in examples.batches(150)]
    parts = [one.predict(batch).reshape(-1, 50) for batch in examples.batches(50)]
    for i, expected in enumerate(whole):
        assert np.concatenate(parts[3 * i : 3 * i + 3], axis=1).tolist() == expected.tolist()
    before = [rule.weight for rule in one.rules]
    one.partial_fit(next(examples.batches(50)))
    two.partial_fit(next(examples.batches(50)))
    assert one.rules == two.rules
    assert len(before) == len(one.rules)
    with pytest.raises(EventideError, match="nothing was learnt yet"):
        Learner(modes_of(meetings.modes)).predict(next(examples.batches(5)))


GREETINGS, _ = read_modes("""
modeh(initiatedAt(glad(+person),+time))
modeh(terminatedAt(glad(+person),+time))
modeb(happensAt(greet(+person,-person),+time))
modeb(happensAt(sing(+person),+time))
modeb(happensAt(rain(+person),+time))
examplePattern(holdsAt(glad(+person),+time))
""")


def greetings() -> Iterator[Batch]:
    """One is glad after greeting somebody who sings, until it rains."""
    random = np.random.default_rng(5)
    people, points = np.array(["ann", "bob", "cy", "di"]), 300
    greets = random.random((4, 4, points)) < 0.1
    sings, rains = random.random((4, points)) < 0.3, random.random((4, points)) < 0.1
    glad = np.zeros((4, points), bool)
    for t in range(points - 1):
        glad[:, t + 1] = (greets[:, :, t] & sings[:, t]).any(axis=1) | (glad[:, t] & ~rains[:, t])
    who, whom, at = np.nonzero(greets)
    tables = [table("happensAt(greet(+person,-person),+time)", people[who], people[whom], at)]
    for name, truths in (("sing", sings), ("rain", rains)):
        who, at = np.nonzero(truths)
        tables.append(table(f"happensAt({name}(+person),+time)", people[who], at))
    who, at = np.nonzero(glad)
    return examples_of(GREETINGS, tables, table("holdsAt(glad(+person),+time)", people[who], at)).batches(60)


def test_conditions_about_others_are_learnt() -> None:
    learner = Learner(GREETINGS)
    reports = [learner.partial_fit(batch) for batch in greetings()]
    expected = [clause_of("initiatedAt(glad(X),T) :- happensAt(greet(X,Y),T), happensAt(sing(Y),T)."),
                clause_of("terminatedAt(glad(X),T) :- happensAt(rain(X),T).")]
    assert len(learner.rules) == 2
    assert all(any(are_equivalent(clause, rule.clause) for rule in learner.rules) for clause in expected)
    assert reports[-1].mistakes == 0


@pytest.mark.parametrize("settings", [Settings(), Settings.paper(), Settings.oled()])
def test_rules_are_parts_of_the_bottom_rules_that_are_given(settings: Settings) -> None:
    """Lucky after a six and a seven: no bottom rule has both, so no rule has. Kinds of changes have their own."""
    random = np.random.default_rng(8)
    seen = {name: random.random(400) < 0.5 for name in ("six", "seven", "rain")}
    lucky = np.flatnonzero(seen["six"] & seen["seven"]) + 1
    tables = [table(f"happensAt({name}(+person),+time)", ["ann"] * int(each.sum()), np.flatnonzero(each))
              for name, each in seen.items()] + [table("time(+time)", range(401))]
    labels = table("holdsAt(lucky(+person),+time)", ["ann"] * len(lucky), lucky)
    heads = "modeh(initiatedAt(lucky(+person),+time))\nmodeh(terminatedAt(lucky(+person),+time))\n"
    bottoms = {"apart": [{"six", "rain"}, {"seven"}], "together": [{"six", "seven", "rain"}]}
    found = {}
    for name, several in bottoms.items():
        rules = [f"<bottom>initiatedAt(lucky(P),T) :- {', '.join(f'happensAt({each}(P),T)' for each in sorted(body))}"
                 "<bottom>" for body in several]
        modes, problems = read_modes("\n".join([heads, *rules, "<bottom>terminatedAt(lucky(P),T) :- "
                                                "not happensAt(six(P),T)<bottom>"]))
        assert not problems
        learner = Learner(modes, settings=settings)
        for batch in examples_of(modes, tables, labels).batches(100):
            learner.partial_fit(batch)
        found[name] = learner.rules
        for rule in learner.rules:
            own = {str(functor_of(each.atom.args[0])[0]) for each in rule.clause.body}  # type: ignore[union-attr]
            assert any(own <= body for body in (several if rule.initiates else [{"six"}])), rule.clause
    if settings == Settings():
        assert {len(rule.clause.body) for rule in found["together"] if rule.initiates} == {2}
        assert found["apart"]


DICE, _ = read_modes("""
modeh(initiatedAt(lucky(+person),+time))
modeh(terminatedAt(lucky(+person),+time))
modeb(happensAt(six(+person),+time))
modeb(not happensAt(six(+person),+time))
""")


def test_f1_asks_for_rules_where_the_fewest_mistakes_are_those_of_none() -> None:
    """After a six one is lucky in four of ten cases: to say so is wrong more often than right."""
    random = np.random.default_rng(2)
    sixes = np.flatnonzero(random.random(500) < 0.2)
    lucky = sixes[random.random(sixes.shape[0]) < 0.4] + 1
    tables = [table("happensAt(six(+person),+time)", ["ann"] * len(sixes), sixes), table("time(+time)", range(501))]
    labels = table("holdsAt(lucky(+person),+time)", ["ann"] * len(lucky), lucky)
    rules = {}
    for objective in ("mistakes", "f1"):
        learner = Learner(DICE, settings=Settings().with_(objective=objective))
        for batch in examples_of(DICE, tables, labels).batches(100):
            learner.partial_fit(batch)
        learner.revise()
        rules[objective] = [str(rule.clause) for rule in learner.rules]
    assert rules["mistakes"] == []
    assert "initiatedAt(lucky(X), T) :- happensAt(six(X), T)." in rules["f1"]


def test_revisions_that_use_up_their_effort_become_rare(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a definition changes and nothing is forgotten, no theory is good any more, and each is tried for longer."""
    data = generate(persons=3, points=300, later=CHANGED)
    calls: dict[bool, int] = {}
    for spent in (False, True):
        def revised(*given: Any, spent: bool = spent, **options: Any) -> Any:
            calls[spent] = calls.get(spent, 0) + 1
            return replace(induce(*given, **options), spent=spent)

        monkeypatch.setattr("eventide.learning.learner.induce", revised)
        learner = Learner(modes_of(data.modes), settings=Settings().with_(grown=0))
        for batch in data.examples().batches(25):
            learner.partial_fit(batch)
    assert 2 < calls[True] < calls[False] - 2


@pytest.mark.parametrize(("changes", "problem"), [
    ({"method": "woded"}, "method is one of woled, oled, not 'woded'"),
    ({"memory": 0}, "memory is at least 1"), ({"ties": 2.0}, "ties lies between 0 and 1"),
    ({"hoeffding_delta": 0.0}, "hoeffding_delta lies between"), ({"literal_costs": 2}, "did you mean 'literal_cost'"),
    ({"literal_cost": 1 << 62}, "at most 1000000000"), ({"effort": 10**30}, "effort is at most"),
    ({"conflicts": 1 << 31}, "conflicts is at most"), ({"thresholds": 1 << 40}, "thresholds is at most 4096"),
])
def test_wrong_settings_are_told(changes: dict[str, Any], problem: str) -> None:
    with pytest.raises(EventideError, match=problem):
        Settings().with_(**changes)


@pytest.mark.parametrize("settings", [Settings(), Settings.paper(), Settings.oled()])
def test_no_label_is_learnt_from_before_it_was_tested(meetings: Labelled, settings: Settings) -> None:
    """What is learnt from a batch is the same whatever is labelled at the point that follows it."""
    learners = [Learner(modes_of(meetings.modes), settings=settings) for _ in range(2)]
    peeked = 0
    for batch in meetings.examples().batches(5):
        peeked += batch.after is not None
        for learner, after in zip(learners, (batch.after, None if batch.after is None else ~batch.after), strict=True):
            learner.partial_fit(replace(batch, after=after))
        assert learners[0].rules == learners[1].rules
    assert peeked > 20
    assert learners[0].rules


@pytest.mark.parametrize("size", [1, 2, 3, 40])
def test_what_holds_of_things_that_the_next_batch_does_not_name_counts(size: int) -> None:
    """A batch is judged by all labels at the next point, also where no fact is about those who are labelled."""
    modes = modes_of("modeh(initiatedAt(rich(+p),+time))\nmodeh(terminatedAt(rich(+p),+time))\n"
                     "modeb(happensAt(win(+p),+time))\nmodeb(happensAt(lose(+p),+time))\n")
    turns = [(who, turn + at) for turn in range(0, 80, 8) for who, at in (("ann", 0), ("bob", 4))]
    wins = table("happensAt(win(+p),+time)", *zip(*turns, strict=True))
    loses = table("happensAt(lose(+p),+time)", *zip(*((who, time + 6) for who, time in turns), strict=True))
    rich = table("holdsAt(rich(+p),+time)", *zip(*((who, time + at) for who, time in turns for at in (2, 4, 6)),
                                                  strict=True))
    examples, learner = examples_of(modes, [wins, loses], rich), Learner(modes)
    for batch in examples.batches(size):
        learner.partial_fit(batch)
    (wins_make_rich,) = (rule for rule in learner.rules if rule.initiates)
    assert str(wins_make_rich.clause) == "initiatedAt(rich(X), T) :- happensAt(win(X), T)."
    assert (wins_make_rich.tp, wins_make_rich.fp) == (20, 0)
