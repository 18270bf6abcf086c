"""When formulas without variables hold in a world of facts, and how stretches of time are covered piece by piece."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

from eventide.engine.domains import value_of
from eventide.explanation.metric_facts import Args
from eventide.explanation.metric_time import Stretch, common_parts, gaps, joined, since
from eventide.explanation.metric_worlds import MetricWorld
from eventide.syntax.mtl_trees import Compare, Condition, Formula, Holds, Metric, Not, Since, variables_in

Payload = TypeVar("Payload")


def args_of(atom: Holds) -> Args:
    """The arguments of an atom without variables."""
    return tuple(map(value_of, atom.arguments))


def where(world: MetricWorld, number: int, formula: Formula, window: Stretch,
          before: int | None = None) -> list[Stretch]:
    """When a formula of a rule holds, as far as a window shows it and it was derived before a place in the derivation.

    Variables that it still has stand for any value.
    """
    if any(True for _ in variables_in(formula)):
        ways = world.formula(number, formula)
        return common_parts(joined(ways.stretch(row) for row in ways.within(window).tolist()), [window])
    match formula:
        case Holds():
            return world.times(formula.template, args_of(formula)).within(window, before)
        case Metric(_, range_, child):
            reach = world.reach(range_)
            known = where(world, number, child, reach.back_from(window), before)
            found = map(reach.dilated if formula.operator == "<>-" else reach.eroded, known)
            return common_parts(joined(stretch for stretch in found if stretch is not None), [window])
        case Since(_, range_, left, right):
            reach = world.reach(range_)
            back = reach.back_from(window)
            second = where(world, number, right, back, before)
            first = where(world, number, left, Stretch(back.start, window.end), before)
            return common_parts(joined(piece for piece, _ in since(reach, first, second)), [window])


def where_all(world: MetricWorld, number: int, body: Iterable[Condition], window: Stretch,
              before: int | None = None) -> list[Stretch]:
    """When conditions without variables hold together; comparisons are known to hold."""
    found = [window]
    for condition in body:
        if isinstance(condition, Not):
            found = common_parts(found, gaps(where(world, number, condition.formula, window), window))
        elif not isinstance(condition, Compare):
            found = common_parts(found, where(world, number, condition, window, before))
    return found


def covered(now: Stretch, pieces: Iterable[tuple[Stretch, Payload]]) -> Iterator[tuple[Stretch, Payload]]:
    """A stretch covered by few of some pieces, each as far as it is needed: always the one that lasts longest.

    >>> [text for _, text in covered(Stretch(2, 9), [(Stretch(0, 4), "a"), (Stretch(1, 5), "b"), (Stretch(4, 9), "c")])]
    ['b', 'c']
    """
    rest = sorted(pieces, key=lambda pair: pair[0].start)
    place, at = 0, now.start
    best: tuple[Stretch, Payload] | None = None
    while at < now.end:
        while place < len(rest) and rest[place][0].start <= at:
            if best is None or rest[place][0].end > best[0].end:
                best = rest[place]
            place += 1
        if best is None or best[0].end <= at:
            return
        yield Stretch(at, min(best[0].end, now.end)), best[1]
        at = best[0].end
