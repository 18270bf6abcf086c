"""A synthetic stream of critical events of vessels, with the schema of AIS data reduced to critical points."""

from __future__ import annotations

import numpy as np

from eventide.applications.streams import Columns, Stream, alternating, event, interval, moments

HORIZON = 43_200
REPORTS, TURNS, PHASES = 180, 24, 12
PERIODS = {"gap": 1, "stop": 3, "slow_motion": 4, "change_in_speed": 8}
VISITS, MEETINGS = 5, 3
FIRST = 200_000_000

KINDS = np.array(["anchorage", "fishing", "natura", "nearCoast", "nearCoast5k", "nearPorts"])
AREAS_PER_KIND = 20
TYPES = {
    "fishing": (4.0, 12.0, 7.0),
    "cargo": (8.0, 16.0, 11.5),
    "tanker": (7.0, 15.0, 11.0),
    "passenger": (6.0, 22.0, 14.0),
    "tug": (2.0, 11.0, 7.0),
    "pilotvessel": (4.0, 24.0, 15.0),
    "sar": (3.0, 26.0, 16.0),
    "pleasurecraft": (2.5, 18.0, 9.0),
}
SPEEDS = np.array([0.0, 0.2, 2.0, 4.0, 6.5, 10.0, 13.0, 19.0])


def generate(entities: int = 100, seed: int = 0) -> Stream:
    """About 250 rows for each of `entities` vessels within half a day (43200 s).

    Speeds and courses change by phases; one report in ten has a heading far from the course, one in twenty none.
    Turns fall into a quarter of the time. Fishing vessels keep to fishing areas and moderate speeds. Vessels come near
    others of their group of six.
    """
    rng = np.random.default_rng(seed)
    stream: Stream = {}
    for name, count in PERIODS.items():
        key, begin, end = alternating(rng, entities, count, HORIZON)
        stream[f"{name}_start"] = event(begin, vessel=FIRST + key)
        stream[f"{name}_end"] = event(end, vessel=FIRST + key)
    turns = moments(rng, entities, TURNS, HORIZON // 4) + rng.integers(0, 3 * HORIZON // 4, (entities, 1))
    stream["change_in_heading"] = event(turns.ravel(), vessel=FIRST + np.repeat(np.arange(entities), TURNS))
    key, begin, end = alternating(rng, entities, VISITS, HORIZON)
    kind = np.where(_fishing(key) & (rng.random(key.size) < 0.7), 1, rng.integers(0, KINDS.size, key.size))
    area = _area_names()[kind * AREAS_PER_KIND + rng.integers(0, AREAS_PER_KIND, key.size)]
    stream["entersArea"] = event(begin, vessel=FIRST + key, area=area)
    stream["leavesArea"] = event(end, vessel=FIRST + key, area=area)
    stream["velocity"] = _velocity(rng, entities)
    stream["proximity"] = _proximity(rng, entities)
    return stream


def background(entities: int = 100) -> dict[str, Columns]:
    """The relations vessel, typeSpeed and areaType for the vessels of `generate(entities)`."""
    types, speeds = np.array(list(TYPES)), np.array(list(TYPES.values()))
    number = np.arange(entities)
    return {
        "vessel": {"vessel": FIRST + number, "type": types[number % types.size], "draught": number % 90 / 10},
        "typeSpeed": {"type": types, "min": speeds[:, 0], "max": speeds[:, 1], "average": speeds[:, 2]},
        "areaType": {"area": _area_names(), "kind": np.repeat(KINDS, AREAS_PER_KIND)},
    }


def _velocity(rng: np.random.Generator, entities: int) -> Columns:
    time = moments(rng, entities, REPORTS, HORIZON)
    phase = time * PHASES // (HORIZON + 1)
    row = np.arange(entities)[:, None]
    usual = np.where(_fishing(row), rng.integers(2, 5, (entities, PHASES)), rng.integers(0, 8, (entities, PHASES)))
    speed = SPEEDS[usual[row, phase]]
    speed = np.maximum(speed + rng.normal(0, 0.4, time.shape) * (speed > 0), 0.0)
    course = (rng.uniform(0, 360, (entities, PHASES))[row, phase] + rng.normal(0, 3, time.shape)) % 360
    aside = np.where(rng.random(time.shape) < 0.1, rng.uniform(45, 120, time.shape), rng.normal(0, 5, time.shape))
    heading = np.where(rng.random(time.shape) < 0.05, 511.0, np.floor((course + aside) % 360))
    return event(
        time.ravel(),
        vessel=FIRST + np.repeat(np.arange(entities), REPORTS),
        speed=np.round(speed, 1).ravel(),
        course=np.round(course, 1).ravel(),
        heading=heading.ravel(),
    )


def _proximity(rng: np.random.Generator, entities: int) -> Columns:
    number = np.arange(entities)
    first = np.concatenate([number, number])
    second = np.concatenate([number + 1, number + 2])
    inside = (second < entities) & (first // 6 == second // 6)
    first, second = first[inside], second[inside]
    key, begin, end = alternating(rng, first.size, MEETINGS, HORIZON)
    return interval(begin, end, "true", vessel1=FIRST + first[key], vessel2=FIRST + second[key])


def _fishing(number: np.ndarray) -> np.ndarray:
    fishing: np.ndarray = number % len(TYPES) == 0
    return fishing


def _area_names() -> np.ndarray:
    number = np.tile(np.arange(AREAS_PER_KIND), KINDS.size).astype(str)
    return np.char.add(np.char.add(np.repeat(KINDS, AREAS_PER_KIND), "_"), number)
