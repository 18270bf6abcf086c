"""How near a rule of a DatalogMTL program came to giving an atom: its conditions in the order in which they were tried,
with the best values of its variables, and which of them held."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from eventide.analysis.mtl.safety import bound_in, target_of
from eventide.analysis.patterns import substitute
from eventide.explanation.metric_facts import Args
from eventide.explanation.metric_formulas import where
from eventide.explanation.metric_time import Stretch
from eventide.explanation.metric_worlds import Binding, MetricWorld, Ways, head_binding
from eventide.mtl.cells import EVER, NEVER
from eventide.syntax.mtl_trees import Compare, Condition, Not, variables_in
from eventide.syntax.terms import Term

_TRIED = 12  # so many ways to go on are compared


@dataclass(frozen=True)
class MetricAttempt:
    """A rule as it came nearest, at a cell. The first condition that is False failed first; None were not tried."""

    number: int
    binding: Binding
    at: Stretch
    steps: tuple[tuple[Condition, bool | None], ...]

    @property
    def satisfied(self) -> int:
        """How many conditions held."""
        return sum(held is True for _, held in self.steps)


def attempt(world: MetricWorld, number: int, args: Args, at: Stretch) -> MetricAttempt | None:
    """The best attempt of a rule to give an atom at a cell; None if its head is about others."""
    bound = head_binding(world.model, number, args)
    rule = world.model.rules[number]
    if bound is None:
        return None
    window = at
    for operator in rule.operators:
        window = world.reach(operator.range).back_from(window)
    steps = _ordered(rule.body, bound)
    reached, found = 0, None
    while reached < len(steps):
        ways = world.together(number, steps[:reached + 1], bound)
        rows = _nearest(ways, window)
        if not rows:
            break
        reached, found = reached + 1, (ways, rows)
    tries: list[tuple[Mapping[str, Term], Stretch]] = [(bound, last_instant(window))]
    if found is not None:
        ways, rows = found
        common = [(row, ways.stretch(row).common(window)) for row in rows]
        tries = [(ways.binding(row), last_instant(part)) for row, part in common if part is not None]
    best: MetricAttempt | None = None
    for binding, now in tries:
        known: list[tuple[Condition, bool | None]] = [(step, True) for step in steps[:reached]]
        for place, step in enumerate(steps[reached:]):
            held = False if place == 0 else _holds(world, number, step, binding, now)
            known.append((step, held))
        tried = MetricAttempt(number, binding, now, tuple(known))
        if best is None or tried.satisfied > best.satisfied:
            best = tried
    return best


def _ordered(body: Sequence[Condition], bound: Binding) -> list[Condition]:
    """The conditions in the order in which they are tried: tests as soon as their variables are known, of the others
    first what shares a variable with what is known."""
    rest, order, known = list(body), list[Condition](), set[str]()
    while rest:
        ready = [c for c in rest if isinstance(c, Not | Compare) and _is_ready(c, known)]
        others = [c for c in rest if not isinstance(c, Not | Compare)]
        near = [c for c in others if any(v.name in known or v.name in bound for v in variables_in(c))]
        following: Condition = [*ready, *near, *others][0]
        rest.remove(following)
        order.append(following)
        known |= {v.name for v in variables_in(following)} if isinstance(following, Compare) else \
            set() if isinstance(following, Not) else bound_in(following)
    return order


def _is_ready(test: Not | Compare, known: set[str]) -> bool:
    names = {v.name for v in variables_in(test) if not v.anonymous}
    return names <= known or (isinstance(test, Compare) and target_of(test, known) is not None)


def _nearest(ways: Ways, window: Stretch) -> list[int]:
    """The rows that meet a window, those that last longest first."""
    rows = ways.within(window)
    order: list[int] = rows[np.argsort(-np.minimum(ways.ends[rows], window.end), kind="stable")][:_TRIED].tolist()
    return order


def _holds(world: MetricWorld, number: int, step: Condition, binding: Binding, at: Stretch) -> bool | None:
    """Whether a condition holds at a cell, for some value of what is not known; None if it cannot be tried."""
    ground = substitute(step, binding)
    if isinstance(ground, Compare):
        return None if any(True for _ in variables_in(ground)) else len(world.together(number, (ground,), {})) > 0
    if isinstance(ground, Not):
        is_ready = all(v.anonymous for v in variables_in(ground))
        return not where(world, number, ground.formula, at) if is_ready else None
    return len(where(world, number, ground, at)) > 0


def last_instant(stretch: Stretch) -> Stretch:
    """The last instant of a stretch, or the gap of the grid that it is; of one without end the first cell."""
    if stretch.end == NEVER:
        start = 0 if stretch.start == EVER else stretch.start
    else:
        start = stretch.end - 1
        start -= start % 2 == 1 and start > stretch.start
    return Stretch(start, start + 1)
