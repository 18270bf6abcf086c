"""Why input fluents and statically determined fluents hold: facts and operands that cover a stretch of time."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from operator import itemgetter
from typing import TypeVar

import numpy as np

from eventide.algebra import nodes as n
from eventide.analysis.model import Clause, Rejected
from eventide.analysis.patterns import flatten, pair_leaves, substitute
from eventide.analysis.statics import is_atemporal
from eventide.explanation.following import StaticFollower, head_binding
from eventide.explanation.proof import Reason
from eventide.explanation.proving import Covers, Leaves, Proving, pair_text, when
from eventide.explanation.simple import SimpleProofs
from eventide.explanation.wording import worded
from eventide.explanation.worlds import Binding, Interval, Stretch, World
from eventide.kernels.allen import allen
from eventide.kernels.arrays import Intervals
from eventide.syntax.terms import Number, Term, Variable
from eventide.syntax.trees import Allen, Call, FindAll, Guard, Happens, Holds, HoldsFor, IntervalOperation, Not

Item = TypeVar("Item")


@dataclass(frozen=True)
class Gives:
    """A holdsFor rule gives, with these values of its variables, a stretch that covers `[low, high)`."""

    clause: Clause
    binding: tuple[tuple[str, Term], ...]
    low: int
    high: int | None

    def __str__(self) -> str:
        return f"a rule for {self.clause.template} {when(self.low, self.high).replace('holds', 'gives', 1)}"

    def holds_in(self, world: World) -> bool:
        """Whether it does so there."""
        follower, result = _followed(world, self.clause, dict(self.binding))
        return follower is not None and any(
            interval.stretch.covers(self.low, self.high) for interval in world.intervals(result, dict(self.binding)))


def _followed(world: World, clause: Clause, bound: Binding) -> tuple[StaticFollower | None, n.Node]:
    """A rule with its head bound, and the plan of its result."""
    follower = StaticFollower(world.case, clause, bound)
    try:
        return follower, follower.relation()
    except Rejected:
        return None, n.Unit()


def cover(low: int, high: int | None, options: Iterable[tuple[Stretch, Item]]) -> list[tuple[int, int | None, Item]]:
    """Few of the options that together cover `[low, high)`, and what each of them is needed for; none if all do not.

    >>> cover(0, 9, [(Stretch(0, 4), "a"), (Stretch(0, 5), "b"), (Stretch(4, None), "c")])
    [(0, 5, 'b'), (5, 9, 'c')]
    """
    waiting = sorted(options, key=lambda option: option[0].start)
    found: list[tuple[int, int | None, Item]] = []
    at: int | None = low
    while at is not None and (high is None or at < high):
        reach: int | None = at
        best: Item | None = None
        for stretch, item in waiting:
            if stretch.start <= at and (stretch.end is None or reach is None or stretch.end > reach):
                if reach is None:
                    continue
                reach, best = stretch.end, item
        if best is None:
            return []
        until = reach if high is None else high if reach is None else min(reach, high)
        found.append((at, until, best))
        at = until
    return found


class Prover(SimpleProofs):
    """All proofs of one world."""

    # -- inputs -------------------------------------------------------------------------------------------------------

    def given(self, template: str, leaves: Leaves, low: int, high: int | None, begins: bool, ends: bool) -> Proving:
        """An input fluent: the facts that cover a stretch."""
        world = self.world
        if template in self.case.run.built:
            first = min(low, world.timeline.until) - self.tick
            last = None if high is None else high + self.tick
            found = [(world.span_of(id_)[0], id_) for id_ in world.facts_like(template, leaves, first, last)]
            ids = self._chain(found, low, high)
        else:
            spans = [(Stretch(*world.span_of(id_)), id_) for id_ in world.facts_like(template, leaves, low, high)]
            # what goes on beyond the run is known by its last facts, even where it is asked for only from there on
            beyond = high if high is not None else max(low, world.timeline.until) + 1
            ids = [id_ for _, _, id_ in cover(low, beyond, spans)]
        facts = tuple(map(self.fact, ids))
        if not facts:
            return self.unknown(f"{pair_text(template, leaves)} {when(low, high)}")
        self.say(Covers(template, leaves, low, high))
        if len(facts) == 1:
            return facts[0]
        return Reason("holds", f"{pair_text(template, leaves)} {when(low, high)}", facts)
        yield

    def _chain(self, points: Iterable[tuple[int, Item]], low: int, high: int | None) -> list[Item]:
        """Few of the points that intervals are built from, such that one of their own covers `[low, high)`; none if
        all do not. The next is at most a tick away, and the last counts up to the grid, or beyond the end of the run.
        """
        options = sorted(points, key=itemgetter(0))
        times = [time for time, _ in options]
        found: list[Item] = []
        place = bisect_right(times, low) - 1
        while place >= 0:
            time, item = options[place]
            found.append(item)
            if time == self.world.timeline.until or (high is not None and self.after(time) >= high):
                return found
            following = bisect_right(times, time + self.tick) - 1
            place = following if times[following] > time else -1
        return []

    def after(self, time: int) -> int:
        """The time-point of the grid after a time."""
        return self.world.time((time - self.world.timeline.origin) // self.tick * self.tick + self.tick)

    # -- rules --------------------------------------------------------------------------------------------------------

    def static(self, template: str, leaves: Leaves, low: int, high: int | None, begins: bool, ends: bool) -> Proving:
        """A statically determined fluent: rules whose intervals cover a stretch."""
        options: list[tuple[Stretch, tuple[Clause, StaticFollower | None, Binding]]] = []
        for original in self.model.of_kind("static", "runs"):
            clause = self.case.compiler.folded(original) if original.template == template else None
            bound = None if clause is None else head_binding(clause, leaves)
            if clause is None or bound is None:
                continue
            if clause.kind == "runs":
                options += [(stretch, (original, None, bound)) for stretch in self._runs(clause, leaves)]
                continue
            follower, result = _followed(self.world, clause, bound)
            if follower is not None:
                options += [(found.stretch, (original, follower, dict(bound) | dict(found.binding)))
                            for found in self.agreed(result, bound)]
        reasons: list[Reason] = []
        pieces = cover(low, high, options)
        for number, (begin, end, (original, follower, binding)) in enumerate(pieces):
            first, last = begins and number == 0, ends and number == len(pieces) - 1
            reasons.append((yield self._rule(original, follower, binding, leaves, begin, end, first, last)))
        self.say(Covers(template, leaves, low, high))
        if not reasons:
            return self.unknown(f"{pair_text(template, leaves)} {when(low, high)}")
        return Reason("holds", f"{pair_text(template, leaves)} {when(low, high)}", tuple(reasons),
                      time=low if high == low + 1 else None, interval=(low, high),
                      level=max((level for name, level in self.model.levels.items()
                                 if name.startswith(f"{template}=")), default=None))

    def _runs(self, clause: Clause, leaves: Leaves) -> list[Stretch]:
        node = n.Runs(n.Project(self.case.compiler.sources.event(clause.body[0].event), self._names(clause)))  # type: ignore[union-attr]
        bound = head_binding(clause, leaves) or {}
        return [interval.stretch for interval in self.agreed(node, bound)]

    def _names(self, clause: Clause) -> tuple[str, ...]:
        return tuple(leaf.name for leaf in clause.leaves if isinstance(leaf, Variable))

    def _rule(self, original: Clause, follower: StaticFollower | None, binding: Binding, leaves: Leaves, low: int,
              high: int | None, begins: bool, ends: bool) -> Proving:
        clause = self.case.compiler.folded(original)
        assert clause is not None
        reasons: list[Reason] = []
        if follower is None:
            reasons = yield from self._points_between(clause, binding, low, high)
        else:
            self.say(Gives(clause, tuple(binding.items()), low, high))
            assert isinstance(clause.interval, Variable)
            reasons.append((yield self._list(follower, clause.interval.name, binding, low, high, begins, ends)))
            for condition in clause.body:
                reason = yield self._restriction(follower, condition, binding)  # type: ignore[arg-type]
                reasons += [reason] if reason is not None else []
        declared = yield self.declared(clause, binding)
        reasons += [declared] if declared is not None else []
        return self.rule(original, tuple(reasons), binding)

    def _points_between(self, clause: Clause, binding: Binding, low: int, high: int | None) -> Proving:
        """The points of an event that a stretch is built from."""
        condition = clause.body[0]
        assert isinstance(condition, Happens)
        template, leaves = flatten(substitute(condition.event, binding))
        node = self.case.compiler.sources.event(substitute(condition.event, binding))
        rows = self.world.evaluate(node)
        times = [(time, time) for time in set(map(self.world.time, rows.time.tolist()))]  # type: ignore[union-attr]
        reasons: list[Reason] = []
        for time in self._chain(times, low, high):
            reasons.append((yield self.happening(template, leaves, time)))
        return reasons

    def _restriction(self, follower: StaticFollower, condition: object, binding: Binding) -> Proving:
        """A condition that is no interval operation: background, tests, guards. None for all others."""
        match condition:
            case Call() | Not() if is_atemporal(condition):
                return (yield self.condition(condition, follower.clause, binding, 0))
            case Guard(interval, True) | Not((Guard(interval, False),)):
                return (yield self._some(follower, interval.name, binding))
            case Holds(pair, Number(time)):
                template, leaves = pair_leaves(substitute(pair, binding))
                return (yield self._pattern(template, leaves, int(time), int(time) + 1, False, False))
            case Guard() | Not():
                return Reason("absence", worded(condition))
        return None

    # -- interval variables -------------------------------------------------------------------------------------------

    def agreed(self, node: n.Node, binding: Binding | None = None) -> list[Interval]:
        """The intervals of a node, as far as they are so in all the data."""
        found = self.world.intervals(node, binding)
        if self.world is self.case.whole or not found:
            return found
        there = self.case.whole.intervals(node, binding)
        common = [(one.binding, one.stretch.common(other.stretch)) for one in found for other in there
                  if one.binding == other.binding]
        return [Interval(values, stretch) for values, stretch in common if stretch is not None]

    def _found(self, follower: StaticFollower, name: str, binding: Binding) -> list[Interval]:
        return self.agreed(follower.lists[name], binding)

    def _own(self, follower: StaticFollower, name: str, binding: Binding) -> list[Interval]:
        """The intervals of this world: where they count as a whole, parts of them say nothing."""
        return self.world.intervals(follower.lists[name], binding)

    def _some(self, follower: StaticFollower, name: str, binding: Binding) -> Proving:
        """Any interval of a list that must not be empty."""
        found = self._found(follower, name, binding)
        if not found:
            return self.unknown(f"{name} \\= []")
        start = found[0].stretch.start
        return (yield self._list(follower, name, binding, start, start + 1, False, False))

    def _list(self, follower: StaticFollower, name: str, binding: Binding, low: int, high: int | None, begins: bool,
              ends: bool) -> Proving:
        """Why an interval variable covers a stretch."""
        condition = substitute(follower.origins[name], binding)
        match condition:
            case HoldsFor(pair):
                return (yield self._pattern(*pair_leaves(pair), low, high, begins, ends))
            case IntervalOperation():
                reasons = yield from self._operands(follower, condition, binding, low, high, begins, ends)
            case Allen():
                reasons = yield from self._allen(follower, condition, binding, low, high)
            case FindAll():
                goal = condition.goals[0]
                assert isinstance(goal, Call)
                items = goal.predicate.args[1]  # type: ignore[union-attr]
                reasons = yield from self._whole(follower, items, binding, low, high)
            case _:
                return self.unknown(worded(condition))
        text = f"{worded(condition)}: {name} {when(low, high)}"
        return Reason("test", text, tuple(reasons), interval=(low, high)) if reasons else self.unknown(text)

    def _pattern(self, template: str, leaves: Leaves, low: int, high: int | None, begins: bool, ends: bool) -> Proving:
        """A fluent, some of whose arguments may be open: those instances that cover a stretch."""
        node = self.case.compiler.sources.fluent(template, leaves)
        pieces = cover(low, high, [(found.stretch, found) for found in self.agreed(node)])
        reasons: list[Reason] = []
        for begin, end, found in pieces:
            ground = substitute(leaves, dict(found.binding))
            first = begins and begin == low and found.stretch.start == low
            last = ends and end == high and found.stretch.end == high
            reasons.append((yield self.holding(template, ground, begin, end, begins=first, ends=last)))
        if len(reasons) == 1:
            return reasons[0]
        text = f"{pair_text(template, leaves)} {when(low, high)}"
        return Reason("holds", text, tuple(reasons)) if reasons else self.unknown(text)

    def _operands(self, follower: StaticFollower, condition: IntervalOperation, binding: Binding, low: int,
                  high: int | None, begins: bool, ends: bool) -> Proving:
        def stretches(term: Term) -> list[Interval]:
            assert isinstance(term, Variable)
            return self._found(follower, term.name, binding)

        reasons: list[Reason] = []
        operation, base = condition.operation, condition.base
        if operation in ("longer", "shorter"):
            assert base is not None
            return (yield from self._whole(follower, base, binding, low, high))
        if operation in ("union", "same"):
            terms = condition.inputs if base is None else (base,)
            options = [(found.stretch, (term, found.stretch)) for term in terms for found in stretches(term)]
            for begin, end, (term, stretch) in cover(low, high, options):
                reasons.append((yield self._list(follower, term.name, binding, begin, end,  # type: ignore[union-attr]
                                                 begins and stretch.start == low, ends and stretch.end == high)))
            return reasons
        positive = condition.inputs if operation == "intersect" else () if base is None else (base,)
        begun, over = not begins, not ends
        for term in positive:
            for found in stretches(term):
                start, end = found.stretch
                if found.stretch.covers(low, high):
                    first, last = not begun and start == low, not over and end == high
                    begun, over = begun or first, over or last
                    reasons.append((yield self._list(follower, term.name, binding, low, high, first, last)))  # type: ignore[union-attr]
        if operation == "intersect":
            return reasons
        for term in condition.inputs:  # what is taken away decides where the rest begins and ends
            for found in stretches(term):
                start, end = found.stretch
                if not begun and end == low:
                    begun = True
                    reasons.append((yield self._list(follower, term.name, binding, low - 1, low, False, True)))  # type: ignore[union-attr]
                if not over and start == high:
                    over = True
                    reasons.append((yield self._list(follower, term.name, binding, start, start + 1, True, False)))  # type: ignore[union-attr]
        inner = ", ".join(str(term) for term in condition.inputs)
        return [*reasons, Reason("absence", f"not in {inner}")]

    def _whole(self, follower: StaticFollower, term: Term, binding: Binding, low: int, high: int | None) -> Proving:
        """Intervals that count as a whole, such as those that last long enough."""
        assert isinstance(term, Variable)
        reasons: list[Reason] = []
        pieces = [(found.stretch, found.stretch) for found in self._own(follower, term.name, binding)]
        for _, _, (start, end) in cover(low, high, pieces):
            reasons.append((yield self._list(follower, term.name, binding, start, end, True, end is not None)))
        return reasons

    def _allen(self, follower: StaticFollower, condition: Allen, binding: Binding, low: int,
               high: int | None) -> Proving:
        """Pairs of intervals in the relation: those of the first list, and of the second, that give a stretch."""
        assert isinstance(condition.source, Variable) and isinstance(condition.target, Variable)
        sources = [found.stretch for found in self._own(follower, condition.source.name, binding)]
        targets = [found.stretch for found in self._own(follower, condition.target.name, binding)]
        options: list[tuple[Stretch, tuple[Stretch, Stretch]]] = []
        for first in sources:
            for second in targets:
                if self.related(condition.relation, first, second):
                    sides = {"source": (first,), "target": (second,), "complement": (first,),
                             "inverse_complement": (second,)}.get(condition.mode, (first, second))
                    options += [(side, (first, second)) for side in sides]
        reasons: list[Reason] = []
        shown: set[tuple[str, Stretch]] = set()
        for _, _, pair in cover(low, high, options):
            for name, (start, end) in zip((condition.source.name, condition.target.name), pair, strict=True):
                if (name, Stretch(start, end)) not in shown:
                    shown.add((name, Stretch(start, end)))
                    reasons.append((yield self._list(follower, name, binding, start, end, True, end is not None)))
        return reasons

    def related(self, relation: str, first: Stretch, second: Stretch) -> bool:
        """Whether two intervals are in an Allen relation."""
        shift, mask = 62, (1 << 62) - 1

        def one(stretch: Stretch) -> Intervals:
            inside = self.world.timeline.inside
            end = mask if stretch.end is None else inside(stretch.end)
            return Intervals(np.array([inside(stretch.start)]), np.array([end]))

        found = allen(relation, "source", one(first), one(second), shift, self.tick, trusted=True)
        return len(found) > 0

