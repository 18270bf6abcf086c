"""Scenes along the coast. `slot` keeps scenes apart."""

from __future__ import annotations

from eventide.applications.maritime.courses import BEYOND, leave, zigzag
from eventide.applications.maritime.region import Box
from eventide.applications.maritime.staging import HORIZON, Stage
from eventide.applications.maritime.tracks import Track

SHORE, BEACH = 6.0, 0.25
LEGS = (150, 400)


def shore(stage: Stage, slot: int) -> tuple[float, float]:
    """From where to where a stretch of coast runs that belongs to one scene."""
    starts = [low + SHORE * number for low, high in stage.region.shores()
              for number in range(int((high - low) // SHORE))]
    low = starts[slot % len(starts)]
    return low + 0.5, low + SHORE - 0.5


def cruiser(stage: Stage, slot: int) -> None:
    """A yacht sails to and fro off the coast."""
    y = -50.0 + 5.0 * (slot % 22)
    track = Track((-6.4, y))
    knots = stage.between(6.5, 9)
    track.steer(stage.between(0, 360), knots, 120)
    zigzag(stage, track, (-7.4, -5.4, y - 2.4, y + 2.4), knots, HORIZON + BEYOND, legs=LEGS)
    stage.vessel(stage.pick("pleasurecraft", "sailingvessel"), track, "B", spoofed=slot % 9 == 2)


def speeder(stage: Stage, slot: int) -> None:
    """A motor boat runs along the beach at high speed."""
    low, high = shore(stage, slot)
    track = _off_the_beach(stage, low, high, stage.moment(3000, 14_000))
    _along_the_beach(stage, track, low, high, stage.between(19, 25))
    _out(stage, track, high, 12.0)
    vessel = stage.vessel("pleasurecraft", track, "B")
    for span in stage.inside(track, "nearCoast"):
        stage.tell("highSpeedNearCoast", vessel, span, tolerance=120)


def reckless(stage: Stage, slot: int) -> None:
    """A motor boat runs along the beach at high speed, breaks out to the side, and drifts."""
    low, high = shore(stage, slot)
    track = _off_the_beach(stage, low, high, stage.moment(3000, 12_000))
    _along_the_beach(stage, track, low, high - 1.5, stage.between(19, 25))
    skid = track.sail((stage.region.coast(high - 0.4) - BEACH, high - 0.4), 11.0)
    drift = track.steer(0.0, 1.3, stage.moment(700, 1000))
    span = skid[0], drift[1]
    track.slant(span, stage.between(60, 100))
    track.sail((stage.region.coast(track.place[1]) - 1.0, track.place[1] + 0.2), 3.5)
    _out(stage, track, high, 8.0)
    vessel = stage.vessel("pleasurecraft", track)
    fast = stage.inside(track, "nearCoast")[0][0], skid[1]
    stage.tell("highSpeedNearCoast", vessel, fast, tolerance=120)
    stage.tell("drifting", vessel, span, tolerance=120)
    stage.tell("dangerNearCoast", vessel, (fast[0], span[1]), tolerance=120)


def _off_the_beach(stage: Stage, low: float, high: float, until: int) -> Track:
    """A boat off the beach, later at the southern end of its stretch of it."""
    x = stage.region.coast(low)
    track = Track((x - 2.5, (low + high) / 2))
    track.steer(stage.between(0, 360), 9.0, 120)
    zigzag(stage, track, _box(stage, low, high), 9.0, until, legs=LEGS)
    track.sail((x - 1.5, low), 9.0)
    track.sail((x - BEACH, low + 0.3), 12.0)
    return track


def _along_the_beach(stage: Stage, track: Track, low: float, high: float, knots: float) -> None:
    steps = max(2, round(high - low))
    for number in range(1, steps + 1):
        y = low + 0.3 + (high - low - 0.3) * number / steps
        track.sail((stage.region.coast(y) - BEACH, y), knots)


def _out(stage: Stage, track: Track, high: float, knots: float) -> None:
    track.sail((stage.region.coast(high) - 2.0, track.place[1] + 0.2), knots)
    zigzag(stage, track, _box(stage, high - 5.0, high), 9.0, HORIZON, legs=LEGS)
    leave(track, 270.0, 9.0)


def _box(stage: Stage, low: float, high: float) -> Box:
    x = min(stage.region.coast(low), stage.region.coast(high))
    return x - 4.5, x - 1.3, low, high
