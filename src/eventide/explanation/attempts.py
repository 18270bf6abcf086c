"""How near a rule came to applying: with the best values of its variables, which conditions held and which failed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from eventide.algebra import nodes as n
from eventide.analysis.bodies import Step, Tally
from eventide.analysis.model import Clause, Rejected
from eventide.engine.domains import GrowthError
from eventide.engine.relation import Rows
from eventide.explanation.following import Follower, head_binding
from eventide.explanation.proving import Leaves
from eventide.explanation.worlds import Binding, World
from eventide.syntax.terms import Term
from eventide.syntax.trees import Compare, Function, Is, Not

_TRIED = 12  # so many ways to go on are compared


@dataclass(frozen=True)
class Attempt:
    """A rule as it came nearest: its conditions in the order in which they were tried, and what became of each.

    `time` is None where nothing says when. The first condition that is False is the one that failed first; None are
    conditions that could not be tried.
    """

    clause: Clause
    binding: Mapping[str, Term]
    time: int | None
    steps: tuple[tuple[Step, bool | None], ...]

    @property
    def satisfied(self) -> int:
        """How many conditions held."""
        return sum(held is True for _, held in self.steps)

    @property
    def applies(self) -> bool:
        """Whether all conditions held."""
        return self.satisfied == len(self.steps)


def attempt(world: World, clause: Clause, leaves: Leaves, low: int | None, high: int) -> Attempt | None:
    """The best attempt of a rule to apply to a head at a time in `[low, high)`; None if its head is about others."""
    bound = head_binding(clause, leaves)
    follower = Follower(world.case, clause)
    seeded = None if bound is None else world.seed(bound, follower.types(list(bound)))
    if bound is None or seeded is None:
        return None
    node, seed = seeded
    try:
        steps = follower.steps(clause.body, node)
    except Rejected:
        return None
    run, rows, reached = world.runner(seed), seed, 0
    for _, step_node in steps:
        try:
            found = run.evaluate(step_node)
        except GrowthError:
            break
        assert isinstance(found, Rows)
        found = _within(world, found, low, high)
        if not found.length:
            break
        rows, reached = found, reached + 1
    best: Attempt | None = None
    for place in _nearest(rows):
        binding = {**bound, **world.binding(rows, place)}
        time = world.time(rows.time[place]) if rows.timed else None
        known: list[tuple[Step, bool | None]] = [(step, True) for step, _ in steps[:reached]]
        for number, (step, _) in enumerate(steps[reached:]):
            held = False if number == 0 else holds(world, clause, step, binding, time)
            known.append((step, held))
        tried = Attempt(clause, binding, time, tuple(known))
        if best is None or tried.satisfied > best.satisfied:
            best = tried
    return best


def _within(world: World, rows: Rows, low: int | None, high: int) -> Rows:
    if not rows.timed:
        return rows
    mask = rows.time < world.timeline.inside(high)
    if low is not None:
        mask &= rows.time >= world.timeline.inside(low)
    return rows.where(mask)


def _nearest(rows: Rows) -> list[int]:
    """The last rows in time, the very last first."""
    if not rows.timed:
        return list(range(min(rows.length, _TRIED)))
    order: list[int] = np.argsort(rows.time, kind="stable")[::-1][:_TRIED].tolist()
    return order


def holds(world: World, clause: Clause, step: Step, binding: Binding, time: int | None) -> bool | None:
    """Whether a condition holds with some variables bound; None if it cannot be tried yet."""
    follower = Follower(world.case, clause)
    computes = isinstance(step, Compare | Is | Function | Not | Tally) or follower.is_test(step)
    known = {name: term for name, term in binding.items() if computes or follower.type(name) != n.NUMBER}
    if isinstance(step, Not | Tally) and not follower.may_be_tried(step, known, time):
        return None
    seeded = world.seed(known, follower.types(list(known)), time, numbers=computes)
    if seeded is None:
        return None
    try:
        node = follower.steps((step,), seeded[0])[-1][1]  # type: ignore[arg-type]
        rows = world.runner(seeded[1]).evaluate(node)
    except (Rejected, GrowthError):
        return None
    assert isinstance(rows, Rows)
    return rows.length > 0

