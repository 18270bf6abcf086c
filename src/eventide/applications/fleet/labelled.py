"""Vehicles whose dangerous driving is labelled by the rules of this application: not by people, and not of the world.

Each vehicle is a stream, its points are the times of its own rows. Whether it is speeding is given, as the rules below
dangerous driving have it; `reports` are its rows about speed and fuel. The labels can be learnt exactly.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files

import numpy as np

from eventide.applications import APPLICATIONS
from eventide.applications.labelled import Labelled, definition_of, fact_table, holding, points_inside, recognised

MODES = files(__package__).joinpath("dangerous.modes").read_text(encoding="utf-8")
DEFINITION = """
initiatedAt(dangerousDriving(V)=true,T) :- happensAt(acceleration(V),T), holdsAt(overSpeeding(V)=true,T).
initiatedAt(dangerousDriving(V)=true,T) :- happensAt(braking(V),T), holdsAt(overSpeeding(V)=true,T).
initiatedAt(dangerousDriving(V)=true,T) :- happensAt(cornering(V),T), holdsAt(overSpeeding(V)=true,T).
initiatedAt(dangerousDriving(V)=true,T) :- happensAt(ice(V),T), holdsAt(overSpeeding(V)=true,T).
terminatedAt(dangerousDriving(V)=true,T) :- happensAt(notMoving(V),T).
terminatedAt(dangerousDriving(V)=true,T) :- happensAt(stopped(V),T).
"""
_EVENTS = ("acceleration", "braking", "cornering", "ice", "closeToGas", "stopped", "notMoving")
_FLUENTS = ("dangerousDriving", "overSpeeding")
_Parts = Iterator[tuple[str, tuple[str, ...], np.ndarray]]


def generate(vehicles: int = 50, seed: int = 0, noise: float = 0.0) -> Labelled:
    """Four hours of `vehicles` vehicles, a share `noise` of the labels wrong.

    >>> data = generate(vehicles=5)
    >>> len(data.examples().streams), len(data.labels.columns[0])
    (5, 232)
    """
    stream, intervals = recognised(APPLICATIONS["fleet"], vehicles, seed, _FLUENTS)
    times = {name: _by_vehicle(columns["vehicle"], columns["time"]) for name, columns in stream.items()}
    points = {vehicle: np.unique(np.concatenate([each[vehicle] for each in times.values() if vehicle in each]))
              for vehicle in sorted({vehicle for each in times.values() for vehicle in each})}

    def happening(*names: str) -> _Parts:
        for vehicle in points:
            found = [times[name][vehicle] for name in names if vehicle in times[name]]
            yield vehicle, (vehicle,), np.unique(np.concatenate([points[vehicle][:0], *found]))

    def held(fluent: str) -> _Parts:
        periods = holding(intervals, fluent, "true")
        for vehicle, at in points.items():
            yield vehicle, (vehicle,), points_inside(at, periods.get((vehicle,)))

    tables = [fact_table(f"happensAt({name}(+vehicle),+time)", happening(name)) for name in _EVENTS]
    tables.append(fact_table("happensAt(reports(+vehicle),+time)", happening("moving", "fuelLevel")))
    tables.append(fact_table("holdsAt(overSpeeding(+vehicle)=true,+time)", held("overSpeeding")))
    labels = fact_table("holdsAt(dangerousDriving(+vehicle)=true,+time)", held("dangerousDriving"))
    data = Labelled(MODES, tuple(tables), labels, labels, definition_of(DEFINITION))
    return data.with_noise(noise, seed) if noise else data


def _by_vehicle(vehicles: np.ndarray, times: np.ndarray) -> dict[str, np.ndarray]:
    order = np.lexsort((times, vehicles))
    names, firsts = np.unique(vehicles[order], return_index=True)
    return dict(zip(names.tolist(), np.split(times[order], firsts[1:]), strict=True))
