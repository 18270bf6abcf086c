"""A synthetic stream of commercial vehicles; a part of the rows may arrive late."""

from __future__ import annotations

import numpy as np

from eventide.applications.streams import Columns, Stream, alternating, by_arrival, event, moments

HORIZON = 14_400
REPORTS, FUEL, STANDS = 100, 30, 6
MANOEUVRES = {"acceleration": 6, "braking": 6, "cornering": 6, "ice": 2, "closeToGas": 8}
MEAN_DELAY = 8 * 3600
# Usual top speed in km/h (none for one type) and tank in litres.
TYPES: dict[str, tuple[float | None, int]] = {
    "Van": (41.5, 70),
    "Truck": (46.25, 90),
    "Truck 3,5 t": (38.0, 60),
    "Fridge truck": (61.5, 120),
    "Ambulance": (42.0, 80),
    "Bus": (43.0, 0),
    "Tanker truck": (None, 0),
}


def generate(entities: int = 100, seed: int = 0, late: float = 0.0) -> Stream:
    """About 170 rows for each of `entities` vehicles within four hours.

    A share `late` of the rows arrives late, by 8 hours on average.
    """
    rng = np.random.default_rng(seed)
    names = _vehicles(entities)
    number = np.arange(entities)
    stream: Stream = {}

    def add(name: str, key: np.ndarray, time: np.ndarray, **arguments: np.ndarray) -> None:
        delay = np.where(rng.random(time.size) < late, rng.exponential(MEAN_DELAY, time.size), 0.0)
        stream[name] = by_arrival(event(time, time + delay.astype(np.int64), vehicle=names[key], **arguments))

    time = moments(rng, entities, REPORTS, HORIZON)
    cruise = rng.uniform(20, 70, (entities, 10))[number[:, None], time * 10 // (HORIZON + 1)]
    speed = np.round(np.maximum(cruise + rng.normal(0, 5, time.shape), 1.0), 1)
    add("moving", np.repeat(number, REPORTS), time.ravel(), speed=speed.ravel())
    time = moments(rng, entities, FUEL, HORIZON)
    level = (rng.uniform(0, 120, (entities, 1)) - np.cumsum(rng.uniform(0, 4, time.shape), axis=1)) % 120
    add("fuelLevel", np.repeat(number, FUEL), time.ravel(), level=np.round(level, 1).ravel())
    key, begin, end = alternating(rng, entities, STANDS, HORIZON)
    add("stopped", key, begin)
    add("notMoving", key, end)
    for name, count in MANOEUVRES.items():
        add(name, np.repeat(number, count), moments(rng, entities, count, HORIZON).ravel())
    return stream


def background(entities: int = 100) -> dict[str, Columns]:
    """The relations vehicleType, speedLimit and tankSize for the vehicles of `generate(entities)`."""
    types = np.array(list(TYPES))
    limits = {name: limit for name, (limit, _) in TYPES.items() if limit is not None}
    return {
        "vehicleType": {"vehicle": _vehicles(entities), "type": types[np.arange(entities) % types.size]},
        "speedLimit": {"type": np.array(list(limits)), "limit": np.array(list(limits.values()))},
        "tankSize": {"type": types, "litres": np.array([tank for _, tank in TYPES.values()])},
    }


def _vehicles(entities: int) -> np.ndarray:
    number = np.arange(entities)
    return np.char.add(np.char.add((number + 100).astype(str), "_"), (number % 97 + 10).astype(str))
