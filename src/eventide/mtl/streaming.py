"""DatalogMTL over a stream, a step at a time: Algorithm 1 of Wałęga, Kaminski and Cuenca Grau (AAAI 2019), and its
variant with #-facts, whose memory does not grow with the density of the data. Facts that come late are for `session`.

Differences from the printed algorithm, none of which changes the answer: a step may take in many time points at once
(`points` stops at each, as printed); `[]-` closes the ends that an open range leaves closed; a hole as long as the
shortest range is not bridged; history is the time at which an atom first held; and what is held, and which holes are
bridged, is told by the operators that look at a predicate, not by the whole program.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pyarrow as pa

from eventide.analysis.patterns import name_of
from eventide.errors import EventideError
from eventide.kernels.arrays import Array
from eventide.mtl.cells import EVER, NEVER, DenseFacts
from eventide.mtl.grid import FOREVER, Extent, extents
from eventide.mtl.materialisation import Compiled
from eventide.mtl.operations import applied, by_start, opened
from eventide.mtl.reasoning import Choice, Reasoner, at_times
from eventide.mtl.stepping import Held, Piece, Step, piece_of

Times = Sequence[Fraction | int | str]
MANY = 2048
"""How many facts a step takes in, where nothing is said of steps; more where more than half as many are held."""

MOST_MOMENTS = 1 << 27
"""At how many times answers may be asked for in one step: a gigabyte of them."""


@dataclass(frozen=True)
class Moments:
    """The discrete set of times that answers are asked for: data points, multiples of a number, or given times."""

    kind: str = "points"
    every: Fraction = Fraction(1)
    times: tuple[Fraction, ...] = ()

    @staticmethod
    def of(text: str | Times) -> Moments:
        """From `points`, `every:N`, or times as a list or separated by commas.

        >>> Moments.of("every:1/2").every, Moments.of("1,7/3").times
        (Fraction(1, 2), (Fraction(1, 1), Fraction(7, 3)))
        """
        if text == "points":
            return Moments()
        try:
            if isinstance(text, str) and text.startswith("every:"):
                every = Fraction(text.removeprefix("every:"))
                if every <= 0:
                    raise EventideError(f"answers are asked for at every {every}; it must be more than 0")
                return Moments("every", every)
            given = text.split(",") if isinstance(text, str) else text
            return Moments("times", times=tuple(sorted({Fraction(time) for time in given})))
        except (ValueError, ZeroDivisionError, TypeError) as error:
            raise EventideError(f"{text!r} says no times; write points, every:1/2, or times such as 1,7/3") from error

    @property
    def numbers(self) -> tuple[Fraction, ...]:
        """The numbers that the grid must have."""
        return (self.every,) if self.kind == "every" else self.times


@dataclass(frozen=True)
class StreamReport:
    """How a program was run over a stream."""

    variant: str
    reason: str
    step: Fraction | None
    """How long a step was; None: as long as it took to have facts enough, or from one time of them to the next."""
    steps: int
    facts: int
    peak: int
    """The most elements in memory at any moment, those of the step at hand included (|W ∪ H|)."""
    held: int
    """The most elements in memory between two steps."""

    def __str__(self) -> str:
        how = "with #-facts" if self.variant == "hash" else "by Algorithm 1"
        size = "" if self.step is None else f" of {self.step}"
        return (f"{_counted(self.facts, 'fact')} in {_counted(self.steps, 'step')}{size}, {how} ({self.reason}); at "
                f"most {_counted(self.peak, 'element')} in memory, {self.held:,} between steps")


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


class Streaming:
    """A program over facts in order of time; iterate over the steps, or ask for the whole answer."""

    def __init__(self, compiled: Compiled, facts: DenseFacts, wanted: Sequence[str], *, step: Fraction | None = None,
                 points: bool = False, variant: Choice = "auto", at: Moments | None = None,
                 end: Fraction | None = None) -> None:
        if step is not None and step <= 0:
            raise EventideError(f"the step is {step}; it must be more than 0")
        self.reasoner = Reasoner(compiled, wanted, variant, facts.denominator)
        self.points, self.at = points, at
        self.length = step
        for number in (*(n for n in (step, end) if n is not None), *(at.numbers if at is not None else ())):
            self.reasoner.refine(number.denominator)
        small = points or step is not None  # then sorting once is cheaper than sorting in every step
        self._facts = {name: by_start(applied(None, piece, signs)[0] if (signs < 0).any() else piece, then_by_key=small)
                       for name, (piece, signs) in self.reasoner.coded(facts).items()}
        self._number = sum(map(len, self._facts.values()))
        self._instants = self._event_cells()
        self._starts = np.sort(np.concatenate([np.empty(0, np.int64), *(p.starts for p in self._facts.values())]))
        self.endless: list[str] = []
        """The predicates of cycles that may go on for ever, where no end was given: the run stops after a while."""
        self._whole = end is None and at is None
        self._last = self.reasoner.cell(end) if end is not None else self._furthest()
        self._steps = self._peak = self._held = 0

    def _furthest(self) -> int:
        """The instant up to which a run goes that was given no end: later nothing changes, or nothing is asked for."""
        last = int(self._instants[-1]) if self._instants.size else 0
        if self.at is not None:
            return max([last, *(self.reasoner.cell(time) for time in self.at.times)])
        inputs = {name: Extent(FOREVER if (piece.ends == NEVER).any() else last, last)
                  for name, piece in self._facts.items() if len(piece)}
        limit = last + self.reasoner.cell(self.reasoner.memory.window)
        known, endless = extents(self.reasoner.plan, inputs, limit + 1)
        self.endless = sorted({name_of(name) for name in endless if name in self.reasoner.model.defined})
        self._whole = not endless
        furthest = max([last, *(int(e.last) for e in known.values() if -FOREVER < e.last < FOREVER)])
        return limit if endless else furthest // 2 * 2 + 4

    def _event_cells(self) -> Array:
        """The instants at which facts begin or end, ascending."""
        cells = [side[(side != EVER) & (side != NEVER)] for p in self._facts.values() for side in (p.starts, p.ends)]
        return np.unique(np.concatenate([np.empty(0, np.int64), *cells]) >> 1 << 1)

    def __iter__(self) -> Iterator[Step]:
        """The steps in order, each with what it found."""
        held = Held()
        self._steps = self._peak = self._held = 0
        sent = dict.fromkeys(self._facts, 0)
        now: int | None = None
        while now is None or now < self._last:
            now = self._after(now, held.size)
            given: dict[str, Piece] = {}
            for name, piece in self._facts.items():
                until = int(np.searchsorted(piece.starts, now, "right"))
                given[name] = piece.take(slice(sent[name], until))
                sent[name] = until
            step = self.reasoner.step(held, given, now + 1)
            held = step.held
            self._steps += 1
            self._peak, self._held = max(self._peak, step.peak), max(self._held, held.size)
            yield step

    def _after(self, now: int | None, held: int) -> int:
        """The instant at which the next step ends; at the latest, the end of the run."""
        first = int(self._instants[0]) if self._instants.size else self._last
        if now is None and self.points:
            return min(first, self._last)
        now = first if now is None else now
        after = self._last
        if self.length is not None:
            after = now + self.reasoner.cell(self.length)
        elif not self.points:  # as many facts as are worth the effort: what is held is looked at in every step
            index = int(np.searchsorted(self._starts, now, "right")) + max(MANY, 2 * held)
            after = (int(self._starts[index]) + 1) // 2 * 2 if index < self._starts.size else after
        if self.points:
            following = int(np.searchsorted(self._instants, now, "right"))
            after = min(after, int(self._instants[following])) if following < self._instants.size else after
        return min(after, self._last)

    def moments(self, step: Step) -> Array:
        """The cells of a step at which answers are asked for."""
        assert self.at is not None
        if self.at.kind == "points":
            cells = self._instants
        elif self.at.kind == "times":
            cells = np.array([self.reasoner.cell(time) for time in self.at.times], np.int64)
        else:
            every = self.reasoner.cell(self.at.every)
            first = int(self._instants[0]) if step.low is None and self._instants.size else step.low or 0
            if (asked := (step.upto - first) // every) > MOST_MOMENTS:
                raise EventideError(f"at every {self.at.every} these are {asked:,} times in one step; ask at fewer "
                                    "times, or take shorter steps")
            return np.arange(-(-first // every) * every, step.upto, every)
        first, last = np.searchsorted(cells, [EVER if step.low is None else step.low, step.upto])
        return cells[first:last]

    def answers(self) -> Iterator[tuple[Fraction, pa.Table]]:
        """Per step: up to which time, and what holds in it (at the moments asked for, or as intervals)."""
        for step in self:
            yield self.reasoner.time(step.upto), self.reasoner.table(self._found(step))

    def _found(self, step: Step) -> dict[str, Piece]:
        if self.at is None:
            return {name: piece_of(relation) for name, relation in step.found.items() if len(relation)}
        cells = self.moments(step)
        return {name: at_times(relation, cells) for name, relation in step.found.items() if len(relation)}

    def table(self) -> pa.Table:
        """The answer of the whole stream: maximal intervals up to its end, or the moments asked for."""
        parts: dict[str, list[Piece]] = {name: [] for name in self.reasoner.wanted}
        for step in self:
            for name, piece in self._found(step).items():
                parts[name].append(piece)
        found = {name: self.reasoner.maximal(pieces) for name, pieces in parts.items() if pieces}
        if self._whole:  # what holds where nothing changes any more holds for ever
            found = {name: opened(piece, self._last + 1) for name, piece in found.items()}
        return self.reasoner.table(found)

    @property
    def until(self) -> Fraction | None:
        """Up to where the answer is right and complete; None: everywhere."""
        return None if self._whole else self.reasoner.time(self._last)

    @property
    def report(self) -> StreamReport:
        """How the last pass over the stream went."""
        reason = "as asked for" if self.reasoner.forced else self.reasoner.memory.reason
        return StreamReport(self.reasoner.variant, reason, self.length, self._steps, self._number, self._peak,
                            self._held)
