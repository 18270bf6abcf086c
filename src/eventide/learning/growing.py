"""Theories with long bodies, for what `induction` does not enumerate. Greedy, but each step has its exact cost.

Rules are made from the data up, as in Golem (Muggleton and Feng, "Efficient induction of logic programs", 1990): a body
begins with all that is true where a state is wrong, and is reduced to what that has in common with other wrong states,
one after the other, as long as the theory then costs less. Then conditions are left out or added one by one, as long as
that pays. While rules are collected, false states cost more (`STRICT`), lest one that is wrong now and then takes the
place of two that are right; later all cost what they cost. Two conditions that only help together are not found.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from eventide.kernels.arrays import Array, Mask
from eventide.kernels.enumeration import each_cost
from eventide.kernels.runs import CLEARED, FREE, SET
from eventide.kernels.votes import hold
from eventide.learning.induction import Body, Rule, Search, Task, cost_of, fires_at, mistakes_of, size_of, with_rules

STRICT = 4
"""How many times as much a false state costs while rules are collected: a step must be right in four of five cases."""
SEEDS = 3
"""Kinds of wrong states, the most frequent first, that a rule is made for, to take the best of these rules."""
OTHERS = 63
"""Kinds of wrong states that a body may be reduced by."""
_SHARE = 10  # of the effort of a search, for one theory


def grown(task: Task, search: Search, rules: Sequence[Rule], start: Sequence[Rule] = (),
          anew: bool = True) -> tuple[list[Rule], int]:
    """The cheapest theory that grows from a start, and `anew` from the terminations of `rules` and from one always.

    What has more mistakes than `rules` once its own are collected is not followed further.

    >>> from eventide.learning.signatures import chunk_of, signatures_of
    >>> columns = np.array([[1, 1, 1, 1, 0], [1, 1, 1, 0, 1], [1, 1, 0, 1, 1]], bool)
    >>> after = np.array([1, 1, 0, 0, 0], np.int8)
    >>> found = signatures_of([chunk_of(columns, np.zeros(5, bool), after, np.array([0]), 5)], [0], [True])
    >>> every = np.ones((1, 3), bool)
    >>> task = Task(found, found.truths([0, 1, 2]), np.ones(3, np.int64), (every, every))
    >>> grown(task, Search(literal_cost=0), ())[0]
    [Rule(initiates=False, body=()), Rule(initiates=True, body=(0, 1, 2))]
    """
    begins = [(list(start), False)] if start else []
    if anew:
        terminations = [rule for rule in rules if not rule.initiates]
        always = [Rule(False, ())] if task.bottoms[0].shape[0] else []
        begins += [(terminations, True)] * (terminations != always) + [(always, True)]
    best: tuple[list[Rule], int] | None = None
    most = mistakes_of(task, rules, search)
    for theory, collects in begins:
        if collects:
            strict = _Growing(task, replace(search, false_cost=STRICT * search.false_cost), theory)
            while strict.make():
                pass
            theory = strict.rules
            if mistakes_of(task, theory, search) > most:
                continue
        growing = _Growing(task, search, theory)
        growing.improve()
        if best is None or growing.cost < best[1]:
            best = growing.rules, growing.cost
    return best or ([], cost_of(task, [], search))


class _Growing:
    """Rules that grow, within an effort: one unit for each run and 64 theories."""

    def __init__(self, task: Task, search: Search, rules: Sequence[Rule]) -> None:
        self.task, self.search = task, search
        self.rules, self.cost = list(rules), cost_of(task, rules, search)
        self.left = search.effort // _SHARE
        self.lacking = ~task.truths

    def improve(self) -> None:
        """Let rules grow and shrink, make new ones and leave out others, as long as that pays."""
        while self._each() | self.make():
            pass

    def _each(self) -> bool:
        """Let each rule grow and shrink, given the others, or leave it out."""
        improved = False
        for rule in self.rules.copy():
            rest = [each for each in self.rules if each != rule]
            place = _Place(self, rest, rule.initiates)
            improved |= self._take(rest, [place.polished(rule.body)]) | self._without(rest)
        return improved

    def _without(self, rest: list[Rule]) -> bool:
        cost = cost_of(self.task, rest, self.search)
        if len(rest) == len(self.rules) or cost > self.cost:
            return False
        self.rules, self.cost = rest, cost
        return True

    def make(self) -> bool:
        """Make a rule for what is wrong most often, if one pays."""
        if len(self.rules) >= self.search.most_rules or self.left <= 0:
            return False
        found = []
        for initiates, signatures in self._wrong():
            place = _Place(self, self.rules, initiates)
            found += [place.polished(place.common(seed, signatures[:OTHERS])) for seed in signatures[:SEEDS].tolist()]
        return self._take(self.rules, found)

    def _take(self, rest: Sequence[Rule], found: Iterable[tuple[Rule, int]]) -> bool:
        """Have the best of these rules with the rest, if that costs less."""
        rule, cost = min(found, key=lambda each: each[1], default=(None, self.cost))
        if rule is None or cost >= self.cost or rule in rest or len(rule.body) > self.search.grown:
            return False
        self.rules, self.cost = [*rest, rule], cost
        return True

    def _wrong(self) -> Iterable[tuple[bool, Array]]:
        """The signatures after which states are missed, and those after which they are false, the most first."""
        task, signatures = self.task, self.task.signatures
        forced = with_rules(task, self.rules)[signatures.steps]
        states, _ = hold(np.stack([forced != FREE, forced == SET]), signatures.offsets, signatures.before)
        after = (forced == SET) | (states & (forced != CLEARED))
        for initiates, wrong in ((True, signatures.ups * ~after), (False, signatures.downs * after)):
            if task.bottoms[initiates].shape[0]:
                number = np.bincount(signatures.steps, wrong, task.truths.shape[1])
                yield initiates, np.argsort(-number, kind="stable")[: np.count_nonzero(number)]


class _Place:
    """Where a rule may be put: what the others do and cost, and whether it initiates."""

    def __init__(self, growing: _Growing, rest: Sequence[Rule], initiates: bool) -> None:
        self.growing, self.task, self.initiates = growing, growing.task, initiates
        self.bottoms = self.task.bottoms[initiates]
        self.runs = self.task.runs(growing.search, with_rules(self.task, rest))
        self.literal_cost = growing.search.literal_cost
        self.fixed = (1 + sum(size_of(rule, self.task.sizes) for rule in rest)) * self.literal_cost

    def costs(self, fires: Mask, sizes: Array) -> Array:
        """What the theory costs with a rule that fires like this and has so many literals, for each of several."""
        self.growing.left -= (fires.shape[0] // 64 + 1) * self.runs.signatures.shape[0]
        never = np.zeros((1, fires.shape[1]), np.bool_)
        found = each_cost(self.runs, *((fires, never) if self.initiates else (never, fires)))
        return found + sizes * self.literal_cost + self.fixed

    def common(self, seed: int, others: Array) -> Body:
        """What is true at the seed and at as many of the others as it pays for; literals do not count yet."""
        truths = self.task.truths
        allowed = self.bottoms[np.argmax((self.bottoms & truths[:, seed]).sum(axis=1))]
        body, cost = truths[:, seed] & allowed, None
        while self.growing.left > 0:
            bodies = np.concatenate([body[None], np.unique(body & truths[:, others].T, axis=0)])
            fires = np.array([~self.growing.lacking[each].any(axis=0) for each in bodies])
            known = self.costs(fires, np.zeros(bodies.shape[0], np.int64))
            best = int(np.argmin(known))
            if cost is not None and known[best] >= cost:
                break
            body, cost = bodies[best], int(known[best])
        return tuple(np.flatnonzero(body).tolist())

    def polished(self, body: Body) -> tuple[Rule, int]:
        """The rule that a body becomes if conditions are left out and added as long as that pays, and what it costs."""
        truths, sizes = self.task.truths, self.task.sizes
        cost = int(self.costs(fires_at(truths, body)[None], sizes[list(body)].sum())[0])
        while self.growing.left > 0:
            own = np.array(body, np.int64)
            missing = self.growing.lacking[own]
            number = missing.sum(axis=0)
            less = (number == 0) | ((number == 1) & missing)
            possible = np.logical_or.reduce(self.bottoms[self.bottoms[:, own].all(axis=1)], axis=0)
            possible[own] = False
            new = np.flatnonzero(possible) if own.shape[0] < self.growing.search.grown else own[:0]
            changes = np.concatenate([-sizes[own], sizes[new]])
            if not changes.shape[0]:
                break
            known = self.costs(np.concatenate([less, (number == 0) & truths[new]]), sizes[own].sum() + changes)
            best = int(np.argmin(known))
            if known[best] >= cost:
                break
            cost = int(known[best])
            body = (*body[:best], *body[best + 1 :]) if best < len(body) else (*body, int(new[best - len(body)]))
        return Rule(self.initiates, tuple(sorted(body))), cost
