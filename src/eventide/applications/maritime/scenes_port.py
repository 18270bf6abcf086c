"""Scenes that begin or end in a port, and at the anchorages. `slot` keeps scenes apart."""

from __future__ import annotations

from eventide.applications.maritime.courses import BEYOND, clear, course_of, leave, zigzag
from eventide.applications.maritime.region import BOXES, PORTS
from eventide.applications.maritime.scenes_sea import CELL, WEST
from eventide.applications.maritime.staging import AT_REST, HORIZON, Stage
from eventide.applications.maritime.tracks import KNOT, Place, Track

OFFING, STATION, EXIT = -42.2, -13.0, -4.0
KINDS = ("cargo", "fishing", "fishing", "tug", "tanker", "passenger", "sar", "pilotvessel", "pleasurecraft")


def moored(stage: Stage, slot: int) -> None:
    """A vessel lies at its berth all the time."""
    track = Track(stage.berth(slot))
    track.stay(HORIZON + BEYOND)
    kind = KINDS[slot % len(KINDS)]
    stage.vessel(kind, track, "B" if kind == "pleasurecraft" else "A", spoofed=slot % 9 == 1)


def silent_berth(stage: Stage, slot: int) -> None:
    """A vessel at a berth of its own is silent for a while: a gap near a port."""
    x, y = stage.region.port(slot)
    track = Track((x - 0.4, y + (2.4 if slot // len(PORTS) % 2 else -2.4)))
    track.stay(HORIZON + BEYOND)
    start = stage.moment(4000, 9000)
    track.mute((start, start + stage.moment(3000, 5000)))
    stage.vessel("cargo", track)


def ferry(stage: Stage, slot: int) -> None:
    """A ferry goes to and fro between two ports on a schedule."""
    ports = (slot % 2, slot % 2 + 1)
    quays = [stage.berth(port) for port in ports]

    def build() -> Track:
        here = slot // 2 % 2
        track, knots = Track(quays[here]), stage.between(15.5, 18)
        track.stay(stage.moment(900, 5000))
        while track.now < HORIZON:
            here = 1 - here
            x = -8.0 if here else -9.6
            track.sail((x, track.place[1]), knots)
            track.sail((x, quays[here][1]), knots)
            track.sail(quays[here], knots)
            track.stay(stage.moment(2300, 3000))
        track.stay(BEYOND)
        return track

    stage.vessel("passenger", clear(build))


def arriving(place: Place, knots: float, time: int) -> Track:
    """A vessel that comes along the offing, turns to the coast, and is at a place at a time."""
    left = time - round((place[0] - OFFING) / (knots * KNOT))
    track = Track((OFFING, place[1] - knots * KNOT * left))
    track.reach((OFFING, place[1]), left)
    track.reach(place, time)
    return track


def anchored(stage: Stage, slot: int) -> None:
    """A vessel lies at anchor all the time, or comes and goes again."""
    west, _, south, _ = BOXES["anchorage"][slot % 2]
    number = slot // 2
    place = west + 1.2 + 1.8 * (number % 3), south + 1.2 + 1.8 * (number // 3)
    passing = slot % 4 > 1
    if passing:
        track = arriving(place, 11.0, stage.moment(5400, 7000))
        span = track.stay(stage.moment(3000, 7000))
        track.sail((OFFING - 0.6, place[1]), 10.5)
        leave(track, 0.0, 10.5)
    else:
        track = Track(place)
        span = track.stay(HORIZON + BEYOND)
    vessel = stage.vessel(stage.pick("tanker", "cargo"), track)
    stage.tell("anchoredOrMoored", vessel, span)
    stage.tell("anchoredFarFromPorts", vessel, span)
    if passing:
        stage.tell("stoppedWithinArea", vessel, span, also="anchorage")


def pilot(stage: Stage, slot: int) -> None:
    """A pilot boat goes out to two merchant vessels and lies beside each, both slow, before they go into port."""
    port = slot % len(PORTS)
    y = PORTS[port] + (1.3 if slot // len(PORTS) % 2 else -1.3)
    first = stage.moment(6200, 6700)
    jetty = stage.region.port(port)[0] - 1.5, y
    boat = Track(jetty)
    ships, spans = [], []
    for meet in (first, first + stage.moment(7300, 7800)):
        ship = arriving((STATION, y), 10.0, meet - 120)
        beside = stage.moment(700, 950)
        ship.steer(90.0, 3.5, beside + 240)
        (x, _), (later, _) = ship.where(meet), ship.where(meet + beside)
        out = round((boat.place[0] - x) / (12.0 * KNOT)) + 240
        boat.stay(meet - out - boat.now)
        boat.reach((x - 0.3, y + 0.6), meet - 120)
        boat.reach((x, y + 0.07), meet)
        boat.reach((later, y + 0.07), meet + beside)
        boat.steer(0.0, 8.0, 120)
        boat.sail(jetty, 12.0)
        ship.sail(stage.berth(port), 8.5)
        ship.stay(HORIZON + BEYOND - ship.now)
        ships.append(ship)
        spans.append((meet, meet + beside))
    boat.stay(HORIZON + BEYOND - boat.now)
    vessel = stage.vessel("pilotvessel", boat)
    for ship, span in zip(ships, spans, strict=True):
        stage.tell("pilotOps", (vessel, stage.vessel(stage.pick("cargo", "tanker"), ship)), span)


def rescue(stage: Stage, slot: int) -> None:
    """A rescue vessel goes out, searches a field line by line, and comes back: search and rescue all the way."""
    port = slot % len(PORTS)
    side = 1.0 if slot // len(PORTS) % 2 else -1.0
    quay, exit_ = stage.berth(port), (EXIT, PORTS[port])
    track = Track(quay)
    track.stay(stage.moment(2300, 5000))
    begin = track.now
    track.sail(exit_, 14.0)
    x, near, far = -10.5, PORTS[port] + side * 5.5, PORTS[port] + side * 8.5
    track.sail((x, near), 14.0)
    lines = 2 * stage.moment(4, 6)
    for line in range(lines):
        track.sail((x - 0.5 * line, far if line % 2 == 0 else near), 10.0)
        if line < lines - 1:
            track.sail((x - 0.5 * line - 0.5, track.place[1]), 10.0)
    track.sail((x + 0.5, near), 14.0)
    track.sail(exit_, 14.0)
    track.sail(quay, 14.0)
    end = track.now
    track.stay(HORIZON + BEYOND - end)
    stage.tell("inSAR", stage.vessel("sar", track), (begin, end))


def trip(stage: Stage, slot: int) -> None:
    """A fishing vessel goes from port to a fishing area, trawls there, and comes back: a fishing trip."""
    area = slot % 2
    west, _, south, _ = BOXES["fishing"][area]
    number = slot // 2
    x, y = west + CELL * (3.45 + number % 2), south + CELL * (number // 2 + 0.55)
    port = min(range(len(PORTS)), key=lambda which: abs(PORTS[which] - y))
    quay = stage.berth(port)
    track = Track(quay)
    track.stay(stage.moment(900, 1350))
    track.sail((x, y), stage.between(10.2, 11.5))
    begin, knots = track.now, stage.between(3.0, 4.3)
    zigzag(stage, track, (x - 1.6, x + 1.6, y - 1.6, y + 1.6), knots, begin + stage.moment(4800, 5800))
    end = track.now
    track.steer(course_of(track) + 90.0 if course_of(track) < 180 else course_of(track) - 90.0, 10.5, 110)
    track.sail(quay, 10.5)
    track.stay(HORIZON + BEYOND - track.now)
    vessel = stage.vessel("fishing", track)
    stage.tell("trawling", vessel, (begin, end))
    stage.tell("loitering", vessel, (begin, end))
    visits = stage.inside(track, "nearPorts")
    for span in (*visits, *stage.inside(track, "fishing")):
        stage.tell("fishingTripInArea", vessel, span)
    for span in (*visits, (begin, end)):
        stage.tell("fishingTripTrawling", vessel, span)


def reserve(stage: Stage, slot: int) -> None:
    """A small vessel stops in a nature reserve for a while."""
    west, east, south, _ = BOXES["natura"][0]
    low = south + 0.5 + 3.5 * (slot % 6)
    box = (west + 0.5, east - 0.5, low, low + 3.0)
    track = Track(((west + east) / 2, low + 1.5))
    knots = stage.between(7.5, 9)
    track.steer(stage.between(0, 360), knots, 120)
    zigzag(stage, track, box, knots, stage.moment(3000, 12_000), legs=(200, 450))
    span = track.stay(stage.moment(1100, 1400))
    track.steer(WEST if track.place[0] > -14 else 90.0, knots, 200)
    zigzag(stage, track, box, knots, HORIZON + BEYOND, legs=(200, 450))
    vessel = stage.vessel(stage.pick("pleasurecraft", "fishing"), track, "B")
    stage.tell("stoppedWithinArea", vessel, span, also="natura", tolerance=AT_REST)
