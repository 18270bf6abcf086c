"""Scenes of the open sea. Each adds its vessels to the stage and tells what it stages; `slot` keeps scenes apart."""

from __future__ import annotations

from eventide.applications.maritime.courses import BEYOND, course_of, leave, turn, zigzag
from eventide.applications.maritime.region import BOXES
from eventide.applications.maritime.staging import HORIZON, Stage
from eventide.applications.maritime.tracks import KNOT, Track

EAST, WEST = 90.0, 270.0
CELL = 4.2
FAR_CELLS = 6
NEAR_EACH_OTHER = 0.5


def strip(slot: int) -> float:
    """The y of a strip of open sea that belongs to one scene."""
    return -66.0 + 3.2 * slot


def coming(x: float, y: float, knots: float, time: int) -> Track:
    """A vessel that comes from the west and is at a place at a time."""
    track = Track((x - knots * KNOT * time, y))
    track.reach((x, y), time)
    return track


def lane(stage: Stage, slot: int) -> None:
    """A merchant vessel passes on its lane; one in nine reports positions that are not its own now and then."""
    stage.vessel(stage.pick("cargo", "cargo", "tanker"), _passing(stage, slot), spoofed=slot % 9 == 0)


def dark(stage: Stage, slot: int) -> None:
    """A merchant vessel on its lane is silent for a while: a gap."""
    track = _passing(stage, slot)
    start = stage.moment(3000, 14_000)
    track.mute((start, start + stage.moment(2700, 4500)))
    stage.vessel(stage.pick("cargo", "tanker"), track)


def _passing(stage: Stage, slot: int) -> Track:
    north = slot % 2 == 0
    x = stage.between(-46.5, -44.0) if north else stage.between(-51.0, -48.5)
    y = stage.between(-150, 20) * (1 if north else -1)
    track, knots = Track((x, y)), stage.between(10, 14)
    while track.now < HORIZON:
        x += stage.between(-0.2, 0.2)
        y += stage.between(12, 30) * (1 if north else -1)
        track.sail((x, y), knots)
    track.steer(course_of(track), knots, BEYOND)
    return track


def transfer(stage: Stage, slot: int) -> None:
    """Two vessels lie side by side and move slowly: a rendez-vous; the longer ones loiter as well."""
    long = slot % 3 > 0
    lag, together = (stage.moment(600, 900), stage.moment(3000, 4800)) if long else (300, stage.moment(700, 900))
    _alongside(stage, slot, lag, together, silent=None)


def dark_transfer(stage: Stage, slot: int) -> None:
    """The same, and one of the two is silent while they lie together: a suspicious rendez-vous."""
    _alongside(stage, slot, 600, 4500, silent=(600, stage.moment(2700, 3100)))


def _alongside(stage: Stage, slot: int, lag: int, together: int, silent: tuple[int, int] | None) -> None:
    y, x, slow = strip(slot), stage.between(-75, -64), stage.between(2.2, 3.2)
    meet = stage.moment(4500, 9000)
    first = coming(x, y, stage.between(9, 11), meet - lag)
    one = first.steer(EAST, slow, lag + together)
    second = coming(x + slow * KNOT * lag, y + 0.08, stage.between(9, 11), meet)
    two = second.steer(EAST, slow, together + stage.moment(400, 600))
    first.steer(180.0, 6.0, 150)
    second.steer(0.0, 6.0, 150)
    for track in (first, second):
        leave(track, WEST, stage.between(9, 11))
    if silent:
        first.mute((meet + silent[0], meet + silent[0] + silent[1]))
    pair = (stage.vessel("tanker", first), stage.vessel(stage.pick("tanker", "cargo"), second))
    if two[1] - two[0] > 1800:
        stage.tell("loitering", pair[1], two)
    if silent:
        gap = first.silences[0]
        stage.tell("suspiciousRendezVous", pair, gap)
        stage.tell("rendezVous", pair, (two[0], gap[0]))
        stage.tell("rendezVous", pair, (gap[1], one[1]))
        return
    if one[1] - one[0] > 1800:
        stage.tell("loitering", pair[0], one)
    stage.tell("rendezVous", pair, (two[0], one[1]))


def loiterer(stage: Stage, slot: int) -> None:
    """A vessel moves slowly to and fro, or lies still, for long."""
    x, y = stage.between(-75, -64), strip(slot)
    track = coming(x, y, stage.between(9, 11), stage.moment(3000, 9000))
    start = track.now
    if slot % 3 == 0:
        track.stay(stage.moment(2700, 5000))
    else:
        zigzag(stage, track, (x - 1.2, x + 1.2, y - 0.9, y + 0.9), stage.between(2.2, 3.0),
               start + stage.moment(2700, 6000), legs=(300, 700))
    end = track.now
    if slot % 3:
        turn(track, WEST, 6.0)
    track.steer(WEST, stage.between(9, 11), HORIZON + BEYOND - track.now)
    stage.tell("loitering", stage.vessel(stage.pick("cargo", "tanker"), track), (start, end))


def drifter(stage: Stage, slot: int) -> None:
    """A vessel is carried sideways, slowly: it drifts, and loiters as well."""
    track = coming(stage.between(-75, -64), strip(slot), stage.between(9, 11), stage.moment(3000, 10_000))
    span = track.steer(stage.between(50, 130), stage.between(1.6, 2.2), stage.moment(2400, 4800))
    track.slant(span, stage.between(60, 110) * float(stage.rng.choice((-1, 1))))
    leave(track, WEST, stage.between(9, 11))
    vessel = stage.vessel(stage.pick("cargo", "tanker"), track)
    stage.tell("drifting", vessel, span)
    stage.tell("loitering", vessel, span)


def emergency(stage: Stage, slot: int) -> None:
    """A tug holds a drifting vessel for a while."""
    begin, hold, drift = stage.moment(4000, 8000), stage.moment(1000, 1250), stage.between(1.7, 2.2)
    x, y, course = stage.between(-75, -64), strip(slot), stage.between(75, 105)
    ship = coming(x, y, stage.between(9, 11), begin)
    span = ship.steer(course, drift, 900 + hold + 1000)
    ship.slant(span, stage.between(60, 110))
    there = ship.where(begin + 900)
    leave(ship, WEST, 8.5)
    tug = coming(there[0] - 1.0, there[1] + 1.3, 9.5, begin + 500)
    tug.reach((there[0], there[1] + 0.06), begin + 900)
    held = tug.steer(course, drift, hold)
    tug.steer(0.0, 8.0, 200)
    leave(tug, WEST, 9.6)
    vessel, helper = stage.vessel("cargo", ship), stage.vessel("tug", tug)
    stage.tell("drifting", vessel, span)
    stage.tell("loitering", vessel, span)
    stage.tell("tugging", (vessel, helper), held)
    stage.tell("driftingWhileTugging", (vessel, helper), span)


def tow(stage: Stage, slot: int) -> None:
    """A tug takes a vessel in tow and lets it go hours later."""
    y, knots = strip(slot), stage.between(6.8, 8.0)
    begin = stage.moment(2400, 5400)
    end = begin + stage.moment(5400, 9000)
    ship = Track((-58.0 - KNOT * (knots * end + 10.0 * (HORIZON - end)), y))
    ship.steer(EAST, knots, end)
    ship.steer(EAST, 10.0, HORIZON + BEYOND - end)
    tug = Track((ship.start[0] + 0.12, y - 1.3))
    for time, ahead, aside in ((begin - 600, 0.12, -1.3), (begin, 0.12, -0.04), (end, 0.12, -0.04),
                               (end + 600, 0.0, -1.3)):
        x, _ = ship.where(time)
        tug.reach((x + ahead, y + aside), time)
    tug.steer(EAST, 8.0, HORIZON + BEYOND - tug.now)
    pair = stage.vessel(stage.pick("cargo", "tanker"), ship), stage.vessel("tug", tug)
    stage.tell("tugging", pair, (begin, end), tolerance=300)


def overtaking(stage: Stage, slot: int) -> None:
    """A vessel that is too fast runs up to another one and slows down only beside it: danger of a collision."""
    beside = stage.moment(6000, 9000)
    x, y, fast, usual = stage.between(-75, -64), strip(slot), 16.8, 14.3
    slow = coming(x, y + 0.1, usual, beside)
    slow.steer(EAST, usual, 900)
    quick = coming(x, y, fast, beside)
    quick.steer(EAST, usual, 900)
    slow.steer(0.0, 10.0, 150)
    quick.steer(180.0, 10.0, 150)
    for track in (slow, quick):
        leave(track, WEST, stage.between(10, 12))
    near = round((NEAR_EACH_OTHER**2 - 0.1**2) ** 0.5 / ((fast - usual) * KNOT))
    pair = stage.vessel("cargo", slow), stage.vessel("cargo", quick)
    stage.tell("collisionDanger", pair, (beside - near, beside), tolerance=60)


def trawler(stage: Stage, slot: int) -> None:
    """A fishing vessel tows its net to and fro in a fishing area, at a speed at which it loiters as well."""
    west, _, south, _ = BOXES["fishing"][slot % 3]
    number = slot // 3
    columns = FAR_CELLS if slot % 3 == 2 else 3
    x, y = west + CELL * (number % columns + 0.45), south + CELL * (number // columns + 0.55)
    track = Track((x, y))
    knots = stage.between(3.0, 4.3)
    track.steer(stage.between(0, 360), knots, 150)
    begin = track.now
    end = HORIZON if slot % 2 else stage.moment(9000, 16_000)
    zigzag(stage, track, (x - 1.6, x + 1.6, y - 1.6, y + 1.6), knots, end)
    if end < HORIZON:
        leave(track, WEST, stage.between(10.2, 11.5))
    else:
        track.steer(course_of(track), knots, BEYOND)
        end = HORIZON
    vessel = stage.vessel("fishing", track)
    stage.tell("trawling", vessel, (begin, end))
    stage.tell("loitering", vessel, (0, end))
