"""A synthetic stream of public vehicles: stops, in-vehicle sensors and manoeuvres."""

from __future__ import annotations

import numpy as np

from eventide.applications.streams import Columns, Stream, alternating, event, interval, moments

HORIZON = 10_000
STOPS, CHANGES, MANOEUVRES = 20, 8, 6
STATUS = np.array(["early", "scheduled", "late"])
LEVELS = np.array(["low", "high"])
TEMPERATURES = np.array(["very_cold", "cold", "normal", "warm", "very_warm"])
DEGREES = {
    "sharp_turn": np.array(["sharp", "very_sharp"]),
    "abrupt_acceleration": np.array(["abrupt", "very_abrupt"]),
    "abrupt_deceleration": np.array(["abrupt", "very_abrupt"]),
}


def generate(entities: int = 100, seed: int = 0) -> Stream:
    """About 80 rows for each of `entities` buses within 10000 time-points."""
    rng = np.random.default_rng(seed)
    key, begin, end = alternating(rng, entities, STOPS, HORIZON)
    vehicle = {"vehicle": key, "type": np.full(key.size, "bus")}
    stop = np.char.add("0", rng.integers(1000, 10_000, key.size).astype(str))
    stream: Stream = {
        "stop_enter": event(begin, **vehicle, stop=stop, status=STATUS[rng.integers(0, 3, key.size)]),
        "stop_leave": event(end, **vehicle, stop=stop, status=STATUS[rng.integers(0, 3, key.size)]),
    }
    for name, values in (
        ("passenger_density_change", LEVELS),
        ("noise_level_change", LEVELS),
        ("internal_temperature_change", TEMPERATURES),
    ):
        time = moments(rng, entities, CHANGES, HORIZON).ravel()
        stream[name] = event(
            time,
            vehicle=np.repeat(np.arange(entities), CHANGES),
            type=np.full(time.size, "bus"),
            level=values[rng.integers(0, values.size, time.size)],
        )
    for name, degrees in DEGREES.items():
        key, begin, _ = alternating(rng, entities, MANOEUVRES, HORIZON // 20)
        begin = begin * 20
        end = begin + rng.integers(1, 20, begin.size)
        degree = degrees[rng.integers(0, 2, key.size)]
        stream[name] = interval(begin, end, degree, vehicle=key, type=np.full(key.size, "bus"))
    return stream


def background(entities: int = 100) -> dict[str, Columns]:
    """No relations: vehicles and types are collected from the stream."""
    return {}
