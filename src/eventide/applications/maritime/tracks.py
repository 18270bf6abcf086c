"""The script of one vessel: straight legs one behind the other, in kilometres and seconds, and where it is when.

A leg has one speed and one course. Between legs the vessel turns and changes its speed within `EASE` seconds on either
side, because its place at a time is the mean of the scripted places around that time.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Place = tuple[float, float]
Span = tuple[int, int]

KNOT = 1.852 / 3600
"""One knot in kilometres a second."""
EASE = 45.0
STILL = 0.5


@dataclass
class Track:
    """The way of a vessel, written leg by leg; times are whole seconds.

    >>> track = Track((0.0, 0.0))
    >>> track.sail((1.852, 0.0), 10.0), track.stay(60), track.now
    ((0, 360), (360, 420), 420)
    """

    start: Place
    times: list[int] = field(default_factory=lambda: [0])
    places: list[Place] = field(default_factory=list)
    silences: list[Span] = field(default_factory=list)
    slants: list[tuple[int, int, float]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.places = [self.start]

    @property
    def now(self) -> int:
        """When the script so far ends."""
        return self.times[-1]

    @property
    def place(self) -> Place:
        """Where the script so far ends."""
        return self.places[-1]

    def sail(self, place: Place, knots: float) -> Span:
        """A leg to a place; from when to when."""
        far = float(np.hypot(place[0] - self.place[0], place[1] - self.place[1]))
        return self._leg(place, max(1, round(far / (knots * KNOT))))

    def steer(self, course: float, knots: float, seconds: int) -> Span:
        """A leg of some duration on a course."""
        far, angle = knots * KNOT * seconds, np.radians(course)
        return self._leg((self.place[0] + far * float(np.sin(angle)), self.place[1] + far * float(np.cos(angle))),
                         seconds)

    def reach(self, place: Place, time: int) -> Span:
        """A leg to a place, at which the vessel is at the time."""
        return self._leg(place, time - self.now)

    def stay(self, seconds: int) -> Span:
        """Standing still for a while."""
        return self._leg(self.place, seconds)

    def _leg(self, place: Place, seconds: int) -> Span:
        self.times.append(self.now + seconds)
        self.places.append(place)
        return self.times[-2], self.times[-1]

    def mute(self, span: Span) -> None:
        """No message is sent within the span."""
        self.silences.append(span)

    def slant(self, span: Span, angle: float) -> None:
        """Within the span the bow points so many degrees to the right of the course."""
        self.slants.append((*span, angle))

    def where(self, time: int) -> Place:
        """The scripted place at a time."""
        x, y = self.at(np.array([float(time)]))[0]
        return float(x), float(y)

    def at(self, time: Floats) -> Floats:
        """The scripted places at the times, corners included: an array of two columns."""
        return np.column_stack([np.interp(time, self.times, axis) for axis in np.array(self.places).T])

    def eased(self, time: Floats) -> tuple[Floats, Floats]:
        """Places and velocities (in knots, to the east and to the north) at the times, with corners rounded."""
        knots, places = self._extended()
        step = np.diff(knots)[:, None]
        velocity = np.diff(places, axis=0) / step
        sums = np.vstack([np.zeros((1, 2)), np.cumsum((places[1:] + places[:-1]) / 2 * step, axis=0)])
        before, after = (_integral(time + side, knots, places, velocity, sums) for side in (-EASE, EASE))
        return (after[1] - before[1]) / (2 * EASE), (after[0] - before[0]) / (2 * EASE * KNOT)

    def heading(self, time: Floats, course: Floats) -> Floats:
        """Where the bow points, for the courses at the times."""
        found = course.copy()
        for start, end, angle in self.slants:
            found[(time >= start) & (time < end)] += angle
        return found % 360

    def moving(self) -> list[Span]:
        """The longest spans in which every leg moves and messages are sent."""
        places = np.array(self.places)
        far = np.hypot(*np.diff(places, axis=0).T)
        spans = [(a, b) for a, b, km in zip(self.times[:-1], self.times[1:], far, strict=True)
                 if b > a and km > STILL * KNOT * (b - a)]
        return without(joined(spans), self.silences)

    def _extended(self) -> tuple[Floats, Floats]:
        """The knots of the script, with its first and last leg made longer so that the ends need no rule."""
        times, places = np.array(self.times, float), np.array(self.places)
        first, last = ((places[i + 1] - places[i]) / (times[i + 1] - times[i]) for i in (0, len(times) - 2))
        more = 2 * EASE
        return (np.concatenate([[times[0] - more], times, [times[-1] + more]]),
                np.vstack([places[0] - first * more, places, places[-1] + last * more]))


def _integral(time: Floats, knots: Floats, places: Floats, velocity: Floats, sums: Floats) -> tuple[Floats, Floats]:
    """The scripted places at the times, and their integral since the first knot."""
    leg = np.clip(np.searchsorted(knots, time, side="right") - 1, 0, len(velocity) - 1)
    rest = (time - knots[leg])[:, None]
    place = places[leg] + velocity[leg] * rest
    return place, sums[leg] + (places[leg] + place) / 2 * rest


def joined(spans: list[Span]) -> list[Span]:
    """Spans in order of time, those that touch made one.

    >>> joined([(0, 5), (5, 7), (9, 10)])
    [(0, 7), (9, 10)]
    """
    found: list[Span] = []
    for start, end in sorted(spans):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found


def without(spans: list[Span], others: list[Span]) -> list[Span]:
    """What is left of the spans outside the others.

    >>> without([(0, 10)], [(2, 3), (8, 12)])
    [(0, 2), (3, 8)]
    """
    for low, high in others:
        parts = [((a, min(b, low)), (max(a, high), b)) for a, b in spans]
        spans = [(a, b) for pair in parts for a, b in pair if a < b]
    return spans
