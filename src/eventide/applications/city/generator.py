"""A synthetic day in a city: areas with sensors of traffic and parking, events that fill some of them, and the air.

Time-points are minutes. All sensors report at multiples of ten, so that what belongs together meets.
"""

from __future__ import annotations

import numpy as np

from eventide.applications.streams import Columns, Stream, event

DAY, STEP = 1440, 10
EVENTS, LENGTH = 2, 12
CLOSED, CROWD, UNKNOWN = 0.01, 0.3, 0.01


def generate(entities: int = 20, seed: int = 0) -> Stream:
    """About 245 rows for each of `entities` areas within a day.

    Two events of two hours in each area take places to park and slow the traffic down; some roads are closed
    nevertheless. A few readings come from areas that nobody knows.
    """
    rng = np.random.default_rng(seed)
    slot = np.arange(DAY // STEP)
    time = np.broadcast_to((slot + 1) * STEP, (entities, slot.size))
    begins = rng.integers(0, slot.size - LENGTH, (entities, EVENTS))
    busy = ((slot >= begins[..., None]) & (slot < begins[..., None] + LENGTH)).any(axis=1)
    rush = np.exp(-(((slot - 48) / 8.0) ** 2)) + np.exp(-(((slot - 102) / 10.0) ** 2))
    usual = rng.uniform(35, 60, (entities, 1)) * (1 - 0.5 * rush)
    speed = usual * np.where(busy, 0.55, 1.0) + rng.normal(0, 4, time.shape)
    free = rng.uniform(40, 150, (entities, 1)) * np.where(busy, 0.25, 1.0) * rng.uniform(0.6, 1.0, time.shape)
    closed, crowded = rng.random(time.shape) < CLOSED, busy & (rng.random(time.shape) < CROWD)
    names = _areas(entities)
    area = np.broadcast_to(names[:, None], time.shape)
    shown = np.where(rng.random(time.shape) < UNKNOWN, "elsewhere", area)
    half = np.broadcast_to(slot % 2 == 0, time.shape) | busy
    hours = np.arange(1, DAY // 60 + 1) * 60
    level = np.rint(30 + 30 * rush[hours // STEP - 1] + rng.normal(0, 8, hours.size)).clip(0).astype(np.int64)
    stream = {
        "culturalEvent": event(time[busy], area=area[busy]),
        "parkingCapacity": event(time[half], area=shown[half], capacity=np.rint(free[half]).astype(np.int64)),
        "averageSpeed": event(time.ravel(), area=shown.ravel(), speed=np.rint(speed.clip(3)).astype(np.int64).ravel()),
        "closedRoad": event(time[closed], area=area[closed]),
        "crowdedEvent": event(time[crowded], area=area[crowded]),
    }
    return {**stream, "pollution": event(hours, level=level)}


def background(entities: int = 20) -> dict[str, Columns]:
    """The relation area."""
    return {"area": {"area": _areas(entities)}}


def _areas(entities: int) -> np.ndarray:
    return np.char.add("street", np.arange(1, entities + 1).astype(str))
