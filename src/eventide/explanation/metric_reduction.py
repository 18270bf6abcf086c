"""The facts of an explanation of a DatalogMTL program: few of all facts that give the same interval, none of them idle.

A set of facts explains that an atom holds during a maximal interval if (a) a run over them alone gives this interval
with the same ends, and (b) all of it has a proof from them that denies nothing that is so in all the data. Without
(b), `not …` could be met by leaving out the facts that contradict it. A set is minimal if no fact can be left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from eventide.analysis.patterns import substitute
from eventide.explanation.fewer import MANY, Fewer
from eventide.explanation.metric_cases import MetricCase
from eventide.explanation.metric_facts import Args, FactId
from eventide.explanation.metric_formulas import where
from eventide.explanation.metric_proving import Denial, MetricProver
from eventide.explanation.metric_time import Stretch
from eventide.explanation.metric_worlds import MetricWorld
from eventide.mtl.cells import EVER, NEVER
from eventide.syntax.mtl_trees import Formula

_LONG = 5000
"""A run over so many facts counts for one more."""


@dataclass(frozen=True)
class MetricClaim:
    """What is to be explained: that an atom holds during a maximal interval."""

    template: str
    args: Args
    stretch: Stretch

    def holds_in(self, world: MetricWorld) -> bool:
        """Whether a world has the same interval."""
        return world.times(self.template, self.args).around(some_cell(self.stretch)) == self.stretch

    def is_sure_in(self, world: MetricWorld) -> bool:
        """Whether all of it follows there without denying what is so in all the data."""
        named = MetricProver(world, sure=True).named(self.template)
        found = world.times(named, self.args).around(some_cell(self.stretch))
        return found is not None and found.covers(self.stretch)


class MetricReduction(Fewer):
    """Finds a minimal set of facts for a claim."""

    def __init__(self, case: MetricCase, claim: MetricClaim) -> None:
        super().__init__()
        self.case, self.claim = case, claim

    def explains(self, facts: Sequence[FactId]) -> bool:
        """Whether some facts explain the claim."""
        self.replays += 1 + len(facts) // _LONG
        world = self.case.world(facts)
        return self.claim.holds_in(world) and self.claim.is_sure_in(world)

    def minimal(self) -> tuple[list[FactId], bool]:
        """A set that explains the claim, and whether it is known to be minimal; a proof's facts are tried first."""
        prover = MetricProver(self.case.whole)
        prover.prove(self.claim.template, self.claim.args, self.claim.stretch)
        core = list(prover.used)
        if self.case.uncertain:
            core = self._repaired(prover)
        if not self.explains(core):
            kept = set(core)
            rest = [fact for fact in self._that_can_matter() if fact not in kept]
            if not self.explains(core + rest):
                return core, False
            core += self.in_pieces(rest, lambda fewer: self.explains(core + fewer))
        found = self.without_idle(core, self.explains)
        return found, self.may_go_on

    def _that_can_matter(self) -> list[FactId]:
        """The facts that begin before the interval has ended: later ones change nothing in it."""
        last = self.claim.stretch.end
        return [fact for fact in self.case.rows.ids if self.case.rows.span_of(fact).start <= last]

    def _repaired(self, prover: MetricProver) -> list[FactId]:
        """The facts of a proof from all facts, and of proofs of what must not be denied: neither in the proof nor where
        the interval would go on without them."""
        for _ in range(MANY):
            known = len(prover.used)
            self.replays += 1
            world = self.case.world(prover.used)
            for wrong in self._wrong_in(world, list(prover.denials)):
                for number, formula, now in self._so_in(self.case.whole, wrong):
                    prover.prove_formula(number, formula, now)
            if len(prover.used) == known:
                break
        return list(prover.used)

    def _wrong_in(self, world: MetricWorld, denials: list[Denial]) -> Iterator[Denial]:
        """What proofs in a world deny, in order to derive what is not so in all the data."""
        prover = MetricProver(world)
        for denial in denials:
            for number, formula, now in self._so_in(world, denial):
                prover.prove_formula(number, formula, now)
        found = world.times(self.claim.template, self.claim.args).around(some_cell(self.claim.stretch))
        start, end = self.claim.stretch
        if found is not None and found.start < start:
            prover.prove(self.claim.template, self.claim.args, Stretch(start - 1, start))
        if found is not None and found.end > end:
            prover.prove(self.claim.template, self.claim.args, Stretch(end, end + 1))
        yield from prover.denials

    def _so_in(self, world: MetricWorld, denial: Denial) -> Iterator[tuple[int, Formula, Stretch]]:
        """When something that is denied holds in a world, with values for all of its variables."""
        for stretch in where(world, denial.number, denial.formula, denial.now):
            at = stretch.start
            while at < stretch.end:
                formula, last = instance(world, denial.number, denial.formula, at)
                now = Stretch(at, min(last, stretch.end))
                yield denial.number, formula, now
                at = now.end


def instance(world: MetricWorld, number: int, formula: Formula, at: int) -> tuple[Formula, int]:
    """A formula that holds at a cell with values for its variables that hold longest, and the end of that."""
    ways = world.formula(number, formula)
    rows = ways.within(Stretch(at, at + 1))
    row = int(rows[ways.ends[rows].argmax()])
    return substitute(formula, ways.binding(row)), int(ways.ends[row])


def some_cell(stretch: Stretch) -> int:
    """A cell of a stretch."""
    if stretch.start != EVER:
        return stretch.start
    return 0 if stretch.end == NEVER else stretch.end - 1
