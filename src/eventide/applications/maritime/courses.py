"""Ways that scenes have in common: zigzag in a box, a turn without standing still, a mooring of clear length."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from eventide.applications.maritime.region import Box
from eventide.applications.maritime.staging import HORIZON, MOORED, Stage, rests
from eventide.applications.maritime.tracks import KNOT, Place, Track

SHARPEST = 90.0
CLEAR = 350
BEYOND = 600


def course_of(track: Track) -> float:
    """The course of the last leg, in degrees."""
    (x0, y0), (x1, y1) = track.places[-2:]
    return float(np.degrees(np.arctan2(x1 - x0, y1 - y0))) % 360


def turned(a: float, b: float) -> float:
    """The turn from one course to another, to the right positive.

    >>> turned(350, 20), turned(20, 350)
    (30.0, -30.0)
    """
    return (b - a + 180.0) % 360.0 - 180.0


def turn(track: Track, course: float, knots: float) -> None:
    """Come round to within a right angle of a course by turns that keep the vessel moving."""
    while abs(turned(course_of(track), course)) > SHARPEST:
        side = np.sign(turned(course_of(track), course))
        track.steer(course_of(track) + side * SHARPEST, knots, 110)


def leave(track: Track, course: float, knots: float) -> None:
    """Turn to a course and keep it until after the data end."""
    turn(track, course, 6.0)
    track.steer(course, knots, max(HORIZON - track.now, 0) + BEYOND)


def zigzag(stage: Stage, track: Track, box: Box, knots: float, until: int, legs: tuple[int, int] = (500, 1000)) -> None:
    """Leg after leg inside a box, with turns of 50 to 90 degrees between them."""
    middle = (box[0] + box[1]) / 2, (box[2] + box[3]) / 2
    while track.now < until:
        here = course_of(track)
        found: list[tuple[float, float, int]] = []
        for attempt in range(40):
            seconds = int(stage.moment(*legs) * (1 - attempt / 60))
            course = here + stage.rng.choice((-1, 1)) * stage.between(50, SHARPEST)
            place = _ahead(track.place, course, knots, seconds)
            found.append((float(np.hypot(place[0] - middle[0], place[1] - middle[1])), course, seconds))
            if box[0] < place[0] < box[1] and box[2] < place[1] < box[3]:
                found = found[-1:]
                break
        _, course, seconds = min(found)
        rest = until - track.now
        track.steer(course, knots, rest if rest - seconds < legs[0] // 2 else seconds)


def _ahead(place: Place, course: float, knots: float, seconds: int) -> Place:
    far = knots * KNOT * seconds
    return place[0] + far * float(np.sin(np.radians(course))), place[1] + far * float(np.cos(np.radians(course)))


def clear(build: Callable[[], Track]) -> Track:
    """A track none of whose rests is about as long as a mooring must be: each is one, or is none, beyond doubt."""
    for _ in range(200):
        track = build()
        spans = [min(end, HORIZON) - start for start, end in rests(track) if start < HORIZON]
        if all(abs(length - MOORED) > CLEAR for length in spans):
            return track
    raise AssertionError("no track has rests of clear length")
