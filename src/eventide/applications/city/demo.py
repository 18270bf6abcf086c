"""The demonstration `city`: a day of roads and air in Aarhus (CityBench) where it is at hand, else a generated day.

Nobody measured events, parking and closed roads beside the roads of Aarhus: of the situations, those of roads and air
remain. The generated day has them all.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow.compute as pc
import pyarrow.parquet

from eventide.applications import APPLICATIONS
from eventide.applications.demonstration import Say, Show, Source, demonstrate, generated, shared_data
from eventide.applications.streams import event, write_background, write_csv

SHOWN = ("limitedParking", "congestedRoad", "congestedRoadActivity", "freeRoadActivity", "contradiction",
         "poorAirQuality", "limitedAccessArea", "increaseSecurity")
TRAFFIC, AIR = "data/citybench/traffic.parquet", "data/citybench/pollution_57_sensors.parquet"
MONDAY = 1_407_110_400
"""The fourth of August 2014, 0:00 UTC."""
DAY = 86_400


def run(out: Path, say: Say) -> None:
    """Leave the events, the rules, the recognised intervals and a report in `out`; `say` tells each step."""
    city = APPLICATIONS["city"]
    source = _aarhus if shared_data(TRAFFIC) and shared_data(AIR) else generated(city, 100, "areas")
    demonstrate(Show(city, source, "A day in a city", out, "area", SHOWN), say)


def _aarhus(out: Path) -> Source:
    """The readings of one day, in minutes; a road without vehicles has no speed, the air has one level an hour."""
    roads, air = (_day(shared_data(path)) for path in (TRAFFIC, AIR))
    roads = roads.filter(pc.greater(roads["vehicles"], 0)).sort_by("time")
    sensor = np.char.add("road", roads["sensor"].to_numpy().astype(str))
    hour, number = np.unique((air["time"].to_numpy() - MONDAY) // 3600 * 60, return_inverse=True)
    level = np.bincount(number, air["particulates"].to_numpy()) / np.bincount(number)
    stream = {
        "averageSpeed": event((roads["time"].to_numpy() - MONDAY) // 60 + 1, area=sensor,
                              speed=roads["speed"].to_numpy().astype(np.int64)),
        "pollution": event(hour + 1, level=np.rint(level).astype(np.int64)),
    }
    events = out / "events.csv"
    rows = write_csv(stream, events)
    areas = write_background({"area": {"area": np.unique(sensor)}}, out / "background")
    return Source([events], areas, f"{rows:,} readings of {len(np.unique(sensor))} roads in Aarhus and of the air on "
                  f"one day: {events}")


def _day(path: Path | None) -> pyarrow.Table:
    return pyarrow.parquet.read_table(path, filters=[("time", ">=", MONDAY), ("time", "<", MONDAY + DAY)])
