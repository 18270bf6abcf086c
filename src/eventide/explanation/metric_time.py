"""Stretches of dense time as ranges of cells: what metric operators make of them, and what of the past they need.

On the grid 1/d the instant k/d is cell 2k, the gap behind it 2k+1 (`kernels.dense`); nothing changes inside a cell.
Here are few stretches at a time, as proofs name them; the engine has the same operators for whole columns.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Literal, NamedTuple

from eventide.mtl.cells import EVER, NEVER
from eventide.mtl.results import interval_text
from eventide.syntax.mtl_trees import Range

Side = Literal["closed", "open"]


class Stretch(NamedTuple):
    """The cells `[start, end)`; `EVER` and `NEVER` are infinite."""

    start: int
    end: int

    def common(self, other: Stretch) -> Stretch | None:
        """What it has in common with another one."""
        found = Stretch(max(self.start, other.start), min(self.end, other.end))
        return found if found.start < found.end else None

    def covers(self, other: Stretch) -> bool:
        """Whether all of another one lies in it."""
        return self.start <= other.start and other.end <= self.end


ALL = Stretch(EVER, NEVER)


class Reach(NamedTuple):
    """How far an operator looks, in cells: even bounds (`high` None: without end), and which are left out."""

    low: int
    high: int | None
    low_open: bool
    high_open: bool

    @staticmethod
    def of(range_: Range, denominator: int) -> Reach:
        """The range of an operator on the grid 1/`denominator`."""
        low = int(2 * denominator * range_.low)
        high = None if range_.high is None else int(2 * denominator * range_.high)
        return Reach(low, high, not range_.low_closed, high is not None and not range_.high_closed)

    def dilated(self, known: Stretch) -> Stretch:
        """Where `<>-` over a stretch holds."""
        start, end = known
        if start != EVER:
            start += self.low + (self.low_open and start % 2 == 0)
        if self.high is None:
            return Stretch(start, NEVER)
        return Stretch(start, end if end == NEVER else end + self.high - (self.high_open and end % 2 == 1))

    def eroded(self, known: Stretch) -> Stretch | None:
        """Where `[]-` over a maximal stretch holds; None for nowhere."""
        start, end = known
        if self.high is None and start != EVER:
            return None
        if start != EVER and self.high is not None:
            start += self.high - (self.high_open and start % 2 == 1)
        if end != NEVER:
            end += self.low + (self.low_open and end % 2 == 0)
        return Stretch(start, end) if start < end else None

    def back_from(self, now: Stretch) -> Stretch:
        """All that is looked at from somewhere in a stretch."""
        start, end = now
        if self.high is None:
            start = EVER
        elif start != EVER:
            start += (self.high_open and start % 2 == 0) - self.high
        return Stretch(start, end if end == NEVER else end - self.low - (self.low_open and end % 2 == 1))

    def witness(self, known: Stretch, now: Stretch) -> Stretch:
        """A short part of a stretch whose dilation covers another one, which that of the whole covers."""
        start, end = known
        if now.start != EVER:
            start = min(now.start - self.low, (NEVER if end == NEVER else end) - 1)
            start -= self.low_open and start == now.start - self.low and start % 2 == 0
        if self.high is None:
            return Stretch(start, start + 1 if start != EVER else end)
        if now.end != NEVER:
            least = EVER if start == EVER else start + 1
            end = max(now.end - self.high, least)
            end += self.high_open and end == now.end - self.high and end % 2 == 1
        return Stretch(start, end)

    def without_now(self) -> Reach:
        """The same without the present."""
        return self._replace(low_open=True) if self.low == 0 else self


def since(reach: Reach, left: Sequence[Stretch], right: Sequence[Stretch]) -> Iterable[tuple[Stretch, Stretch | None]]:
    """Where `left since right` holds: pieces of it, each with the part of `right` that it looks back to.

    That part is None where `right` holds now and nothing else is asked for. Between two different instants `left` must
    hold at all others, so both may stand where a stretch of it ends without holding it.
    """
    for second in right:
        if reach.low == 0 and not reach.low_open:
            yield second, None
        if reach.high == 0:
            continue
        for place in range(bisect_left(left, second.start, key=lambda first: first.end), len(left)):
            if left[place].start > second.end:
                break
            around = closure(left[place])
            seen = second.common(around)
            found = None if seen is None else reach.without_now().dilated(seen).common(around)
            if found is not None:
                yield found, seen


def closure(stretch: Stretch) -> Stretch:
    """A stretch with both of its ends."""
    start, end = stretch
    return Stretch(start if start == EVER else start - start % 2, end if end == NEVER else end + (end + 1) % 2)


def between(seen: Stretch, now: Stretch) -> Stretch | None:
    """Where the left side of `since` is asked for between what was seen and now; None for nowhere."""
    start = seen.start if seen.start == EVER else seen.start | 1
    end = now.end if now.end == NEVER else now.end - now.end % 2
    return Stretch(start, end) if start < end else None


def joined(stretches: Iterable[Stretch]) -> list[Stretch]:
    """Stretches that overlap or touch as one, in order."""
    found: list[Stretch] = []
    for stretch in sorted(stretches):
        if found and stretch.start <= found[-1].end:
            found[-1] = Stretch(found[-1].start, max(found[-1].end, stretch.end))
        else:
            found.append(stretch)
    return found


def gaps(stretches: Sequence[Stretch], within: Stretch) -> list[Stretch]:
    """What of a stretch some others, in order and apart, leave free."""
    found, at = [], within.start
    for stretch in stretches:
        if at < stretch.start and at < within.end:
            found.append(Stretch(at, min(stretch.start, within.end)))
        at = max(at, stretch.end)
    return [*found, Stretch(at, within.end)] if at < within.end else found


def common_parts(a: Sequence[Stretch], b: Sequence[Stretch]) -> list[Stretch]:
    """What two lists of stretches, each in order and apart, have in common."""
    found: list[Stretch] = []
    place = 0
    for one in a:
        while place < len(b) and b[place].end <= one.start:
            place += 1
        at = place
        while at < len(b) and b[at].start < one.end:
            found.append(Stretch(max(one.start, b[at].start), min(one.end, b[at].end)))
            at += 1
    return found


class Clock(NamedTuple):
    """Cells as times, on the grid 1/`denominator`."""

    denominator: int

    def cell(self, time: Fraction) -> int:
        """The cell of an instant, which is on the grid."""
        return int(2 * self.denominator * time)

    def bounds(self, stretch: Stretch) -> tuple[Fraction | Literal["-inf"], Fraction | None]:
        """The ends as times; None is infinity."""
        start, end = stretch
        return ("-inf" if start == EVER else Fraction(start // 2, self.denominator),
                None if end == NEVER else Fraction(end // 2, self.denominator))

    def sides(self, stretch: Stretch) -> tuple[Side, Side]:
        """Whether the stretch holds its ends."""
        start, end = stretch
        return ("open" if start == EVER or start % 2 else "closed",
                "open" if end == NEVER or end % 2 == 0 else "closed")

    def text(self, stretch: Stretch) -> str:
        """A stretch as people write it; an instant is its time.

        >>> Clock(2).text(Stretch(6, 7)), Clock(2).text(Stretch(7, 12)), Clock(2).text(Stretch(7, NEVER))
        ('3/2', '(3/2,3)', '(3/2,inf)')
        """
        low, high = self.bounds(stretch)
        if low == high:
            return str(low)
        return interval_text(str(low), None if high is None else str(high), *self.sides(stretch))

    def when(self, stretch: Stretch) -> str:
        """When something is so, as proofs say it.

        >>> Clock(1).when(Stretch(6, 7)), Clock(1).when(Stretch(7, 12)), Clock(1).when(ALL)
        ('at 3', 'during (3,6)', 'at all times')
        """
        if stretch == ALL:
            return "at all times"
        low, high = self.bounds(stretch)
        return f"{'at' if low == high else 'during'} {self.text(stretch)}"

    def given(self, stretch: Stretch) -> str:
        """For when a fact is given, as proofs say it.

        >>> Clock(1).given(Stretch(6, 7)), Clock(1).given(Stretch(7, 12))
        ('at 3', 'for (3,6)')
        """
        return self.when(stretch).replace("during ", "for ")
