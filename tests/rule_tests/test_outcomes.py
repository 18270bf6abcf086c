"""Outcomes of conditions against the slow interpreter: a condition was true if an event with the conditions up to it
happens, false if one happens in which it is negated."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from tests.effort import examples
from tests.engine.running import facts_of
from tests.oracle.interpreter import evaluate
from tests.oracle.programs import FAMILIES, LAST, Case

import eventide as ev
from eventide.analysis.model import Clause
from eventide.analysis.patterns import variables_in
from eventide.engine.recognition import Settings
from eventide.rule_tests.coverage import Coverage
from eventide.rule_tests.probes import Probes
from eventide.syntax.event_calculus import parse
from eventide.syntax.printer import condition_text
from eventide.syntax.trees import Condition, Is


def event(name: str, clause: Clause, conditions: list[str]) -> str:
    """A rule for an event that happens where all conditions are true."""
    return f"happensAt({name}, {clause.time}) :- {', '.join(conditions)}.".replace("#", "_")


def rules_for(probes: Probes) -> dict[str, str]:
    """For every condition of a rule about time-points, events of its outcomes, by name; those that can be written."""
    found: dict[str, str] = {}
    for clause in probes.model.of_kind("initiated", "terminated", "event"):
        before: list[str] = []
        known: set[str] = set()
        tried = [trial.condition for trial in probes.trials[clause.number]]
        named = [condition for condition in clause.body if isinstance(condition, Is) and condition not in tried]
        for number, trial in enumerate(probes.trials[clause.number]):
            if not isinstance(trial.condition, Condition):
                break  # a count is no condition that can be written by itself
            for condition in [each for each in named if known >= set(variables_in(each.expression))]:
                named.remove(condition)  # it names a value, which is no trial
                before.append(condition_text(condition))
                known |= set(variables_in(condition))
            text = condition_text(trial.condition)
            name = f"probe{clause.number}x{number}"
            found[f"{name}t"] = event(f"{name}t", clause, [*before, text])
            if trial.false is not None:
                found[f"{name}f"] = event(f"{name}f", clause, [*before, f"\\+ ({text})"])
            before.append(text)
            known |= set(variables_in(trial.condition))
    return found


def sound(text: str, rules: dict[str, str]) -> dict[str, str]:
    """The rules that may be added to a text: in some, nothing binds a variable that a domain bound in the clause."""
    first = text.count("\n") + 1
    problems = ev.parse(text + "\n".join(rules.values())).check()
    wrong = {problem.span.line - first for problem in problems if problem.span and problem.severity == "error"}
    kept = {name: rule for number, (name, rule) in enumerate(rules.items()) if number not in wrong}
    return kept if kept == rules else sound(text, kept)


POINTWISE = ("hierarchies", "values", "pairs", "cycles", "outputs", "mixed")
few = examples(1 / 5)


@few
@given(case=st.sampled_from(POINTWISE).flatmap(FAMILIES.__getitem__))
def test_outcomes(case: Case) -> None:
    text = f"{case.text}\n{case.background}\n"
    program = ev.parse(text)
    probes = Probes(program.model)
    rules = sound(text, rules_for(probes))
    answer = evaluate(parse(text + "\n".join(rules.values())).rules, case.facts, start=case.start, until=LAST,
                      tick=case.tick)
    happened = {name for name, _, _ in answer.events}
    run = program.recognition(facts_of((fact, None) for fact in case.facts),
                              Settings(start=case.start, end=LAST, tick=case.tick)).run()
    for clause in probes.model.of_kind("initiated", "terminated", "event"):
        for number, (_, true, false) in enumerate(probes.outcomes(run, clause.number)):
            name = f"probe{clause.number}x{number}"
            if f"{name}t" in rules:
                assert (true > 0) == (f"{name}t" in happened), rules[f"{name}t"]
            if f"{name}f" in rules:
                assert (bool(false)) == (f"{name}f" in happened), rules[f"{name}f"]


@few
@given(case=st.sampled_from(sorted(FAMILIES)).flatmap(FAMILIES.__getitem__))
def test_a_rule_that_fires_had_all_conditions_true(case: Case) -> None:
    program = ev.parse(f"{case.text}\n{case.background}")
    coverage = Coverage(program)
    run = program.recognition(facts_of((fact, None) for fact in case.facts),
                              Settings(start=case.start, end=LAST, tick=case.tick))
    coverage.count(run.run())
    for rule in coverage.rules.values():
        pointwise = not rule.title.startswith(("static", "delay"))
        if rule.times and len(rule.fired) == 1 and pointwise:
            assert all(one.true for one in rule.conditions.values())
        assert all(one.true >= 0 and one.false >= 0 for one in rule.conditions.values())
