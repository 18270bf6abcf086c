"""The sea of the generated traffic: a coast that runs from south to north, ports on it, and areas before it.

Places are kilometres east and north of an origin on the coast, so that the open sea has negative x. The coast of the
first region follows the western coast of Jutland; more regions are copies of it elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from eventide.applications.maritime.tracks import Floats, Place

LON, LAT = 8.12, 56.15
KM_NORTH, KM_EAST = 110.9, 111.32
COAST = np.array([(8.08, 55.56), (8.16, 55.70), (8.17, 55.82), (8.11, 56.00), (8.105, 56.15), (8.115, 56.37),
                  (8.11, 56.52), (8.20, 56.70)])
COLUMNS, STEP = 50, 7.0
PORTS = (-16.6, 24.4, 61.0)
PORT_RADIUS, PORT_ROOM = 3.0, 4.5
NEAR, NEAR_5K = 0.5, 5.0
SOUTHERN_END = -60.0
BOXES = {
    "anchorage": [(-17.0, -11.0, -2.0, 11.0), (-17.0, -11.0, 37.0, 50.0)],
    "fishing": [(-40.0, -19.0, -14.0, 17.0), (-40.0, -19.0, 27.0, 58.0), (-86.0, -58.0, 72.0, 96.0)],
    "natura": [(-17.0, -11.0, -52.0, -30.0)],
}
Box = tuple[float, float, float, float]
"""West, east, south and north end."""


@dataclass(frozen=True)
class Region:
    """One sea; `number` says which of the copies it is."""

    number: int = 0

    @property
    def origin(self) -> tuple[float, float]:
        """Longitude and latitude of the place (0, 0)."""
        column, row = self.number % COLUMNS, self.number // COLUMNS
        return (LON - STEP * column + 180.0) % 360.0 - 180.0, LAT - STEP * row

    def degrees(self, places: npt.ArrayLike) -> tuple[Floats, Floats]:
        """Longitudes and latitudes of places."""
        x, y = np.asarray(places, float).reshape(-1, 2).T
        lon, lat = self.origin
        north = lat + y / KM_NORTH
        return lon + x / (KM_EAST * np.cos(np.radians(north))), north

    @cached_property
    def _coast(self) -> tuple[Floats, Floats]:
        north = (COAST[:, 1] - LAT) * KM_NORTH
        return (COAST[:, 0] - LON) * KM_EAST * np.cos(np.radians(COAST[:, 1])), north

    def coast(self, y: float) -> float:
        """The x of the coast."""
        x, north = self._coast
        return float(np.interp(y, north, x))

    def port(self, number: int) -> Place:
        """The middle of a port."""
        y = PORTS[number % len(PORTS)]
        return self.coast(y), y

    def port_of(self, place: Place) -> int | None:
        """The port near which a place lies."""
        for number in range(len(PORTS)):
            x, y = self.port(number)
            if np.hypot(place[0] - x, place[1] - y) < PORT_RADIUS:
                return number
        return None

    def shores(self) -> list[tuple[float, float]]:
        """From where to where the coast runs between the ports."""
        ends = [SOUTHERN_END + PORT_ROOM, *(y for port in PORTS for y in (port - PORT_ROOM, port + PORT_ROOM))]
        return list(zip(ends[:-1:2], ends[1::2], strict=True))

    @cached_property
    def areas(self) -> dict[str, tuple[str, list[Place]]]:
        """The corners of all areas by name, with their kind."""
        found: dict[str, tuple[str, list[Place]]] = {}

        def add(kind: str, corners: list[Place]) -> None:
            number = sum(other == kind for other, _ in found.values()) + 1
            found[f"{kind}_{number}" if not self.number else f"{kind}_{self.number}_{number}"] = (kind, corners)

        angles = np.linspace(0, 2 * np.pi, 48, endpoint=False)
        for x, y in map(self.port, range(len(PORTS))):
            add("nearPorts", [(x + PORT_RADIUS * float(np.cos(a)), y + PORT_RADIUS * float(np.sin(a))) for a in angles])
        for kind, width in (("nearCoast", NEAR), ("nearCoast5k", NEAR_5K)):
            for low, high in self.shores():
                line = [(self.coast(y), float(y)) for y in np.linspace(low, high, 60)]
                add(kind, [*line, *((x - width, y) for x, y in reversed(line))])
        for kind, boxes in BOXES.items():
            for west, east, south, north in boxes:
                add(kind, [(west, south), (east, south), (east, north), (west, north)])
        return found

    def features(self) -> list[dict[str, Any]]:
        """The areas as features of GeoJSON."""
        return [_feature(name, kind, *self.degrees([*corners, corners[0]]))
                for name, (kind, corners) in self.areas.items()]


def _feature(name: str, kind: str, lon: Floats, lat: Floats) -> dict[str, Any]:
    ring = [[round(float(x), 6), round(float(y), 6)] for x, y in zip(lon, lat, strict=True)]
    return {"type": "Feature", "properties": {"name": name, "kind": kind},
            "geometry": {"type": "Polygon", "coordinates": [ring]}}
