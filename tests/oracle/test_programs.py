"""The random programs are valid, and the oracle's answers to them obey laws that need no second opinion."""

from __future__ import annotations

import itertools
import random
from collections import defaultdict

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.effort import examples

from .interpreter import evaluate
from .programs import FAMILIES, LAST, Case, arrivals, hierarchies
from .rows import rules_of
from .timeline import INF, Intervals, merge
from .windows import clip, evaluate_windows

UNTIL = 60
QUICK = settings(examples(1 / 2), suppress_health_check=list(HealthCheck))


@pytest.mark.parametrize("family", FAMILIES)
def test_answers_are_maximal_and_need_no_order(family: str) -> None:
    """Intervals are maximal, sorted and on the grid, and the order of rules and facts does not matter."""

    @QUICK
    @given(FAMILIES[family], st.randoms(use_true_random=False))
    def check(case: Case, chance: random.Random) -> None:
        assert len(case.facts) <= 60
        rules = rules_of(case.text, case.background)
        answer = evaluate(rules, case.facts, start=case.start, until=UNTIL, tick=case.tick)
        for periods in answer.fluents.values():
            ends: Intervals = [(s, INF if e is None else e) for s, e in periods]
            assert ends == merge(ends)
            assert all(s % case.tick == 0 and (e == INF or e % case.tick == 0) for s, e in ends)
        facts = list(case.facts)
        chance.shuffle(rules)
        chance.shuffle(facts)
        assert evaluate(rules, facts, start=case.start, until=UNTIL, tick=case.tick) == answer

    check()


@pytest.mark.parametrize("family", ["hierarchies", "values", "delays", "cycles"])
def test_at_most_one_value_of_a_simple_fluent_holds(family: str) -> None:
    @QUICK
    @given(FAMILIES[family])
    def check(case: Case) -> None:
        answer = evaluate(rules_of(case.text, case.background), case.facts, start=case.start, until=UNTIL,
                          tick=case.tick)
        held: dict[str, Intervals] = defaultdict(list)
        for pair, periods in answer.fluents.items():
            held[pair.rpartition("=")[0]] += [(s, INF if e is None else e) for s, e in periods]
        for together in held.values():
            ordered = sorted(together)
            assert all(end <= start for (_, end), (start, _) in itertools.pairwise(ordered))

    check()


@QUICK
@given(hierarchies())
def test_a_fluent_that_follows_start_and_end_is_the_same(case: Case) -> None:
    """Save for what holds initially, whose start lies before the run."""
    text = case.text + """
    initiatedAt(copy(X)=true,T) :- happensAt(start(f0(X)=V),T).
    terminatedAt(copy(X)=true,T) :- happensAt(end(f0(X)=V),T), \\+ happensAt(start(f0(X)=_),T).
    holdsFor(any(X)=true,I) :- holdsFor(f0(X)=_,I).
    """
    lines = [line for line in text.splitlines() if not line.startswith("initially")]
    answer = evaluate(rules_of("\n".join(lines), case.background), case.facts, start=case.start, until=UNTIL,
                      tick=case.tick).fluents
    for entity in "abc":
        assert answer.get(f"copy({entity})=true", []) == answer.get(f"any({entity})=true", [])


@QUICK
@given(FAMILIES["mixed"], st.data())
def test_windows_are_transparent(case: Case, data: st.DataObject) -> None:
    """If every fact arrives in time, the last window shows the one-window answer over all facts."""
    window = case.tick * data.draw(st.integers(2, 4)) * 4
    step = window // data.draw(st.sampled_from((1, 2)))
    facts = data.draw(arrivals(case.facts, window, step, case.start))
    rules = rules_of(case.text, case.background)
    end = case.start + step * (1 + (LAST + window) // step)
    answers = evaluate_windows(rules, facts, window, step, case.start, end, tick=case.tick)
    last = max(answers)
    whole = evaluate(rules, case.facts, start=case.start, until=last, tick=case.tick)
    assert answers[last].whole == whole
    assert answers[last].clipped == clip(whole, last, window)
