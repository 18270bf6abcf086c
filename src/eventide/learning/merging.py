"""Learners that were trained apart, on streams of their own, become one. What it means, and nothing about where.

All have the same settings and the same language. What they remember is put together. Rules that are θ-equivalent are
one rule: its counts, those of its refinements and its squared gradients are sums, its bottom rules those of all. Its
weight follows from the sums (`weighting="counts"`), or is the mean of its weights, each counted by the groundings
behind it (`adagrad`). Then

- with `induction="revise"` the partial theory that costs least on all that is remembered is revised on it, as after any
  batch, and rules are counted anew there: as long as nothing is forgotten, what one learner would count that saw all;
- otherwise the theory has the rules of all. A rule is counted where it was, and not in streams whose learner lacked it.

The order of the learners does not matter, but for the order of the trace.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from eventide.errors import EventideError
from eventide.learning.induction import Body, Rule, mistakes_of, size_of
from eventide.learning.inference import Carried
from eventide.learning.language import Language
from eventide.learning.subsumption import are_equivalent
from eventide.learning.theory import HeldRule

if TYPE_CHECKING:
    from eventide.learning.learner import Learner


def merge(learner: Learner, others: Sequence[Learner]) -> None:
    """Let a learner take over what others have learnt from other streams. All streams end with it."""
    parts = [each for each in (learner, *others) if each.language is not None]
    if not parts or parts == [learner]:
        return
    language = _common_language(parts)
    learner.language = language
    _remember(learner, [each for each in others if each.language is not None])
    theories = [[rule.rule for rule in each._rules] for each in parts]
    known = united(language, [each._rules for each in parts])
    learner._rules = sorted(dict.fromkeys(known.values()), key=lambda rule: (not rule.initiates, rule.body))
    if learner.settings.method == "woled" and learner.settings.induction == "revise":
        _revise(learner, [{known[rule].rule for rule in theory} for theory in theories])
    if learner.settings.method == "woled" and learner.settings.weighting == "counts":
        for rule in learner._rules:
            rule.weight = learner._odds(rule.tp, rule.fp)
    learner._prune()


def _revise(learner: Learner, theories: Sequence[set[Rule]]) -> None:
    """Begin with the theory that costs least on what is remembered; of equals, with that of the lowest conditions."""
    task, search = learner._task(learner._memory.signatures(), None), learner.settings.search

    def cost(theory: Sequence[tuple[bool, Body]]) -> int:
        rules = [Rule(*each) for each in theory]
        return mistakes_of(task, rules, search) + search.literal_cost * sum(size_of(each, task.sizes) for each in rules)

    best = min(sorted({tuple(sorted((rule.initiates, rule.body) for rule in theory)) for theory in theories}), key=cost)
    learner._rules = [rule for rule in learner._rules if (rule.initiates, rule.body) in best]
    learner.revise()
    for rule in learner._rules:
        rule.tp, rule.fp = learner._counted(rule.rule, task)


def _common_language(learners: Sequence[Learner]) -> Language:
    """The language of all; EventideError unless they have one, and the same settings."""
    first = learners[0].language
    assert first is not None
    for each in learners[1:]:
        if each.settings != learners[0].settings:
            raise EventideError("learners with different settings cannot be merged")
        assert each.language is not None
        if (each.language.conditions, each.language.heads) != (first.conditions, first.heads):
            raise EventideError("learners whose rules may have different conditions cannot be merged; give all of them "
                                "the language of the whole data: Learner(modes, language=...)")
    return first


def _remember(learner: Learner, others: Sequence[Learner]) -> None:
    """Put together what is remembered, told and counted; nothing is forgotten here."""
    for other in others:
        memory = learner._memory
        memory.chunks += other._memory.chunks
        memory.streams += [learner._streams + number for number in other._memory.streams]
        memory.begins += other._memory.begins
        learner._streams += other._streams
        learner.batches += other.batches
        learner.trace += other.trace
        learner._debt += other._debt
    learner._state, learner._test_state = Carried(), Carried()


def united(language: Language, theories: Sequence[Sequence[HeldRule]]) -> dict[Rule, HeldRule]:
    """For each rule of the theories the rule that it becomes: one for all that are equivalent, with their counts."""
    groups: list[list[HeldRule]] = []
    known: dict[Rule, int] = {}
    for held in (rule for theory in theories for rule in theory):
        if held.rule not in known:
            clause = language.clause(held.initiates, held.body)
            same = (number for number, (first, *_) in enumerate(groups) if first.initiates == held.initiates
                    and are_equivalent(language.clause(first.initiates, first.body), clause))
            known[held.rule] = next(same, len(groups))
            if known[held.rule] == len(groups):
                groups.append([])
        groups[known[held.rule]].append(held)
    found = [_united(rules) for rules in groups]
    return {rule: found[number] for rule, number in known.items()}


def _united(rules: list[HeldRule]) -> HeldRule:
    """One rule that several learners have; its weight is the mean by groundings."""
    rules = sorted(rules, key=lambda rule: (rule.body, rule.weight, rule.tp, rule.fp))  # floats add up in one order
    behind = np.array([rule.tp + rule.fp for rule in rules], np.float64)
    weights = np.array([rule.weight for rule in rules])
    found = replace(rules[0], weight=float(np.average(weights, weights=behind if behind.any() else None)),
                    squares=sum(rule.squares for rule in rules))
    for name in ("tp", "fp", "seen", "parent_tp", "parent_fp"):
        setattr(found, name, sum(getattr(rule, name) for rule in rules))
    found.refined_tp = np.sum([rule.refined_tp for rule in rules], axis=0)
    found.refined_fp = np.sum([rule.refined_fp for rule in rules], axis=0)
    found.support = np.unique(np.concatenate([rule.support.reshape(-1, rule.conditions) for rule in rules]), axis=0)
    return found
