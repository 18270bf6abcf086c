"""The facts of an explanation: few of all facts, whose replay alone gives the same interval, and none of them idle.

A set of facts explains a claim if (a) the engine derives the claim from them alone, and (b) what the proof from them
says is so in all the data: rules that are said to apply do, fluents that are said to hold do. Without (b), a negative
condition could be met by leaving out the facts that contradict it. A set is minimal if no fact of it can be left out.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import numpy as np

from eventide.algebra import nodes as n
from eventide.engine.relation import Rows
from eventide.explanation.fewer import MANY, Fewer
from eventide.explanation.proof import Reason
from eventide.explanation.proving import Check, Covers, Leaves, Unsound
from eventide.explanation.statics import Prover
from eventide.explanation.worlds import Case, FactId, Stretch, World
from eventide.syntax.terms import is_ground

_LONG = 200


@dataclass(frozen=True)
class Claim:
    """What is to be explained: a maximal interval of a fluent, or an event at a time-point (`stretch` None)."""

    template: str
    leaves: Leaves
    at: int
    stretch: Stretch | None

    def holds_in(self, world: World) -> bool:
        """Whether a world has the same interval, or the event."""
        if self.stretch is None:
            return self.at in times_in(world, self.template, self.leaves)
        return self.stretch in stretches_in(world, self.template, self.leaves)

    def proof_in(self, world: World, *, strict: bool = False, few: bool = False) -> tuple[Reason, Prover]:
        """The proof from the facts of a world, and who found it; with `strict`, of nothing that is not so in all, with
        `few`, from few of the answers that are counted."""
        prover = Prover(world.case, world, strict=strict, few=few)
        if self.stretch is None:
            return prover.prove(prover.happening(self.template, self.leaves, self.at)), prover
        start, end = self.stretch
        goal = prover.holding(self.template, self.leaves, start, end, begins=True, ends=end is not None)
        return prover.prove(goal), prover


def stretches_in(world: World, template: str, leaves: Leaves) -> list[Stretch]:
    """The maximal intervals of a fluent and a value; of one that comes as points, these."""
    if world.case.model.is_point_event(template):
        points = world.case.compiler.sources.point_fluent(template, leaves)
        return [Stretch(time, time + 1) for time in _times(world, points)]
    node = world.case.compiler.sources.fluent(template, leaves)
    return [interval.stretch for interval in world.intervals(node)]


def times_in(world: World, template: str, leaves: Leaves) -> list[int]:
    """The times at which an event happens."""
    node = world.case.compiler.sources.scan(lambda fields: n.Events(template, fields), "e", template, leaves)
    return _times(world, node)


def _times(world: World, node: n.Node) -> list[int]:
    rows = world.evaluate(node)
    assert isinstance(rows, Rows)
    return sorted(set(map(world.time, rows.time.tolist())))


def cost_of(case: Case, count: int) -> int:
    """What a run over so many facts counts for: a cycle settles time-point by time-point, so long ones count for more.

    A chain of thousands of states is still explained, but not reduced for hours.
    """
    return 1 + (count // _LONG if any(stratum.cyclic for stratum in case.run.plan.strata) else 0)


class Reduction(Fewer):
    """Finds a minimal set of facts for a claim; `replays` counts the runs that this took, long ones several times."""

    def __init__(self, case: Case, claim: Claim) -> None:
        super().__init__()
        self.case, self.claim = case, claim

    def gives(self, facts: Sequence[FactId]) -> bool:
        """Whether the claim follows from some facts alone."""
        self.replays += cost_of(self.case, len(facts))
        return self.claim.holds_in(self.case.world(facts))

    def untrue(self, facts: Sequence[FactId]) -> Check | None:
        """The first thing that the proof from some facts says, and that is not so in all the data."""
        try:
            self.claim.proof_in(self.case.world(facts), strict=True)
        except Unsound as end:
            return end.check
        return None

    def is_sound(self, facts: Sequence[FactId]) -> bool:
        """Whether what the proof from some facts says is so in all the data."""
        return self.untrue(facts) is None

    def explains(self, facts: Sequence[FactId]) -> bool:
        """Whether some facts explain the claim."""
        return self.gives(facts) and self.is_sound(facts)

    def minimal(self) -> tuple[list[FactId], bool]:
        """A set that explains the claim, and whether it is known to be minimal; the facts of a proof are tried first,
        and of those that it counts few."""
        _, prover = self.claim.proof_in(self.case.whole, few=True)
        core, counted = list(prover.used), set(prover.counted)

        def with_all_answers() -> list[FactId]:
            _, full = self.claim.proof_in(self.case.whole)
            counted.update(full.counted)
            return list(full.used)

        kept = set(core)
        stages: list[Callable[[], list[FactId]]] = [list, with_all_answers, self._related, lambda: self.case.all_facts]
        for more in stages:
            if more is with_all_answers and not prover.left_out:
                continue
            rest = [fact for fact in more() if fact not in kept]
            if not self.gives(core + rest):
                continue
            missing = self.in_pieces(rest, lambda fewer: self.gives(core + fewer))
            few = self._few_counted(missing + core, counted)
            found = self.without_idle(few, self.gives)
            if self.is_sound(found):
                return self._done(found)
            if self.is_sound(few):
                return self._done(self.without_idle(few, self.explains))
            for facts in (self._repaired(few), core + rest):
                if self.explains(facts):
                    return self._done(self.without_idle(facts, self.explains))
        return core, False

    def _repaired(self, facts: list[FactId]) -> list[FactId]:
        """Some facts, and those that end what would hold too long without them: as often as the proof needs it."""
        for _ in range(MANY):
            check = self.untrue(facts)
            more = [fact for fact in self._ended(check) if fact not in facts] if isinstance(check, Covers) else []
            if not more:
                break
            facts = facts + more
        return facts

    def _ended(self, check: Covers) -> list[FactId]:
        """The facts by which a simple fluent ended in all the data, before it began as a proof says that it held."""
        prover = Prover(self.case, self.case.whole)
        if check.template not in self.case.compiler.sources.simple or not all(map(is_ground, check.leaves)):
            return []
        starts = [start for start, _ in prover.stretches(check.template, check.leaves)
                  if check.low < start and (check.high is None or start < check.high)]
        if starts:
            prover.prove(prover.not_holding(check.template, check.leaves, prover.before(starts[-1])))
        return list(prover.used)

    def _few_counted(self, core: list[FactId], counted: Collection[FactId]) -> list[FactId]:
        """The core with one, two, four and so on of the facts that were counted: as soon as it explains the claim.

        Counts may have thousands of answers, and few may be enough; large sets would take long to reduce.
        """
        some = [fact for fact in core if fact in counted]
        rest = [fact for fact in core if fact not in counted]
        size = 0
        while size < len(some) and self.may_go_on:
            if self.explains(rest + some[:size]):
                return rest + some[:size]
            size = max(2 * size, 1)
        return core

    def _done(self, facts: list[FactId]) -> tuple[list[FactId], bool]:
        return facts, self.may_go_on

    def _related(self) -> list[FactId]:
        """The facts that are about an entity of the claim."""
        found: list[FactId] = []
        world = self.case.whole
        for name, stream in self.case.streams.items():
            mask = np.zeros(len(stream), np.bool_)
            for field in stream.fields:
                known = field.type != n.NUMBER and field.name in stream.columns
                for leaf in self.claim.leaves if known else ():
                    code = world.code(leaf, field.type)
                    if code is not None:
                        mask |= stream.columns[field.name] == code
            found += [(name, int(place)) for place in np.flatnonzero(mask)]
        return found
