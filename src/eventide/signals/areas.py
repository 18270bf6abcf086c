"""Areas with a name and a kind, and the events of vessels that come into them and leave them. Reads no file.

`entersArea(Vessel, Area)` happens a second before the first report inside: the vessel was there by then, and what
happens at that report, as a stop, happens inside. `leavesArea(Vessel, Area)` happens at the first report outside.
The border is inside. A silence longer than `gap` ends what is known: after it a vessel enters anew whatever area it is
in, and leaves none, since rules end `withinArea` when a gap begins.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, overload

import numpy as np
import pyarrow as pa
import shapely

from eventide.errors import InputError
from eventide.kernels.meetings import METRES_PER_DEGREE
from eventide.kernels.spatial import crossings
from eventide.signals.coast import Box, Line, coast_lines, land_rings
from eventide.signals.grid import Grid
from eventide.signals.positions import Ints
from eventide.signals.proximity import checked_tracks

CROSSING = pa.schema([("time", pa.int64()), ("vessel", pa.int64()), ("area", pa.string())])
AREA_KINDS = pa.schema([("area", pa.string()), ("area_type", pa.string())])
_PIECE = 32  # points of a line that are widened together


@dataclass(frozen=True, eq=False)
class Area:
    """A polygon, or several, in degrees: longitude, then latitude.

    >>> import shapely
    >>> Area("bank", "fishing", shapely.box(-4.6, 48.1, -4.4, 48.3)).shape.bounds
    (-4.6, 48.1, -4.4, 48.3)
    """

    name: str
    kind: str
    shape: Any


@dataclass(frozen=True, eq=False)
class Areas(Sequence[Area]):
    """Areas with different names, and where they are.

    >>> port = Area("Brest", "nearPorts", shapely.box(-4.6, 48.3, -4.3, 48.4))
    >>> areas = Areas.of([port]) + near_points(["Roscoff"], [-3.97], [48.72], 2000, "nearPorts")
    >>> [area.name for area in areas], areas.kinds
    (['Brest', 'Roscoff'], ('nearPorts',))
    """

    areas: tuple[Area, ...]

    @staticmethod
    def of(areas: Iterable[Area]) -> Areas:
        """The areas; one whose name is taken already gets a number behind it."""
        taken: set[str] = set()
        named = []
        for area in areas:
            name, number = area.name, 1
            while name in taken:
                number += 1
                name = f"{area.name}_{number}"
            taken.add(name)
            named.append(area if name == area.name else Area(name, area.kind, area.shape))
        return Areas(tuple(named))

    @cached_property
    def grid(self) -> Grid:
        """The index of the areas, made when it is first needed."""
        return Grid.of([area.shape for area in self.areas])

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds that occur, in order."""
        return tuple(sorted({area.kind for area in self.areas}))

    def table(self) -> pa.Table:
        """Names and kinds, as the rules' background relation has them."""
        return pa.table([[area.name for area in self.areas], [area.kind for area in self.areas]], schema=AREA_KINDS)

    def __add__(self, other: Areas) -> Areas:
        return Areas.of((*self.areas, *other.areas))

    def __len__(self) -> int:
        return len(self.areas)

    @overload
    def __getitem__(self, index: int) -> Area: ...

    @overload
    def __getitem__(self, index: slice) -> Areas: ...

    def __getitem__(self, index: int | slice) -> Area | Areas:
        return Areas(self.areas[index]) if isinstance(index, slice) else self.areas[index]


# -- events ------------------------------------------------------------------------------------------------------------


def area_events(positions: pa.Table, areas: Areas, *, gap: int = 600) -> dict[str, pa.Table]:
    """`entersArea` and `leavesArea` of cleaned positions: tables of `time`, `vessel`, `area`, by vessel and time.

    >>> track = pa.table({"vessel": [7] * 3, "time": [0, 60, 120], "lon": [0.0, 2.0, 4.0], "lat": [1.0] * 3})
    >>> found = area_events(track, Areas.of([Area("bank", "fishing", shapely.box(1, 0, 3, 2))]))
    >>> found["entersArea"].to_pylist(), found["leavesArea"]["time"].to_pylist()
    ([{'time': 59, 'vessel': 7, 'area': 'bank'}], [120])
    """
    tracks = checked_tracks(positions)
    names = pa.array([area.name for area in areas], pa.string())
    row, area = areas.grid.locate(tracks.lon, tracks.lat)
    row, area, enters = crossings(tracks.vessel, tracks.time, row, area, gap)

    def table(chosen: Any, before: int) -> pa.Table:
        rows: Ints = row[chosen]
        columns = [tracks.time[rows] - before, tracks.vessel[rows], names.take(pa.array(area[chosen]))]
        return pa.table([pa.array(column) for column in columns], schema=CROSSING)

    return {"entersArea": table(enters, 1), "leavesArea": table(~enters, 0)}


def misplaced(areas: Areas, box: Box) -> str | None:
    """What is wrong if no area is where the positions are: a sentence, or None.

    >>> areas = Areas.of([Area("bank", "fishing", shapely.box(48, -5, 49, -4))])
    >>> misplaced(areas, (-6.0, 47.0, -3.0, 50.0))
    'no area is where the positions are; with longitude and latitude exchanged they would be'
    """
    if not len(areas):
        return None
    west, south, east, north = np.array([shapely.bounds(area.shape) for area in areas]).T
    if ((west <= box[2]) & (east >= box[0]) & (south <= box[3]) & (north >= box[1])).any():
        return None
    if ((south <= box[2]) & (north >= box[0]) & (west <= box[3]) & (east >= box[1])).any():
        return "no area is where the positions are; with longitude and latitude exchanged they would be"
    return "no area is where the positions are"


# -- making areas ------------------------------------------------------------------------------------------------------


def dissolved(areas: Areas) -> Areas:
    """Areas of one kind that touch or overlap as one area, with the name of the first of them.

    Rules often know kinds only: leaving one of two areas of a kind that overlap would end `withinArea` though the
    vessel is still in the other one.

    >>> two = near_points(["a", "b"], [-4.49, -4.50], [48.38, 48.38], 2000, "nearPorts")
    >>> dissolved(two).table()["area"].to_pylist()
    ['a']
    """
    found: list[tuple[int, Area]] = []
    for kind in areas.kinds:
        numbers = np.array([number for number, area in enumerate(areas) if area.kind == kind])
        shapes = np.array([areas[number].shape for number in numbers], object)
        wholes = shapely.get_parts(shapely.union_all(shapes))
        parts, owner = shapely.get_parts(shapes, return_index=True)
        # a point inside a part is inside the whole that the part became
        part, whole = shapely.STRtree(wholes).query(shapely.point_on_surface(parts), predicate="intersects")
        first = np.full(len(wholes), len(areas))
        np.minimum.at(first, whole, numbers[owner[part]])
        found += [(number, Area(areas[number].name, kind, wholes[k])) for k, number in enumerate(first.tolist())]
    return Areas.of(area for _, area in sorted(found, key=lambda pair: pair[0]))


def near_points(names: Sequence[str], lon: Sequence[float], lat: Sequence[float], metres: float, kind: str) -> Areas:
    """Circles around points, such as ports: polygons of 64 corners, right to a hundredth of the distance.

    >>> near_points(["Brest"], [-4.49], [48.38], 2000, "nearPorts").table().to_pylist()
    [{'area': 'Brest', 'area_type': 'nearPorts'}]
    """
    _check(metres)
    return Areas.of(Area(name, kind, _widened(np.array([[x, y]]), metres))
                    for name, x, y in zip(names, lon, lat, strict=True))


def near_lines(name: str, kind: str, lines: Iterable[Line], metres: float) -> Area:
    """Everything within so many metres of lines, as one area."""
    _check(metres)
    return Area(name, kind, shapely.union_all([_widened(piece, metres) for line in lines for piece in _cut(line)]))


def near_coast(box: Box, metres: float = 300.0, kind: str = "nearCoast") -> Area:
    """The land and everything within so many metres of the coast, in a box, after the outline that comes along.

    The outline is right to about a kilometre: enough for maps and demonstrations. Bring your own for more.

    >>> near_coast((-5.0, 48.0, -4.0, 49.0)).kind
    'nearCoast'
    """
    _check(metres)
    up = metres / METRES_PER_DEGREE
    across = up / max(np.cos(np.radians(max(abs(box[1]), abs(box[3])))), 0.01)
    around = (max(box[0] - across, -180.0), max(box[1] - up, -90.0), min(box[2] + across, 180.0),
              min(box[3] + up, 90.0))
    near = near_lines(kind, kind, coast_lines(around), metres).shape
    return Area(kind, kind, shapely.intersection(shapely.union_all([near, *_land(around)]), shapely.box(*box)))


def _land(box: Box) -> Iterator[Any]:
    frame = shapely.box(*box)
    for ring in land_rings():
        if ring[0, 0] != ring[-1, 0]:  # around the pole
            ring = np.concatenate([ring, [[ring[-1, 0], -90.0], [ring[0, 0], -90.0]]])
        for turn in (-360.0, 0.0, 360.0):
            moved = ring + np.array([turn, 0.0])
            low, high = moved.min(axis=0), moved.max(axis=0)
            if low[0] <= box[2] and high[0] >= box[0] and low[1] <= box[3] and high[1] >= box[1]:
                yield shapely.intersection(shapely.make_valid(shapely.Polygon(moved)), frame)


def _cut(line: Line) -> Iterator[Line]:
    """A line in pieces that are short enough to be widened on a plane."""
    for low in range(0, max(len(line) - 1, 1), _PIECE):
        yield line[low : low + _PIECE + 1]


def _widened(line: Line, metres: float) -> Any:
    """A line with room on all sides, on the plane that touches the globe at its middle."""
    middle = (line[:, 1].min() + line[:, 1].max()) / 2
    cosine = max(float(np.cos(np.radians(middle))), 0.01)
    flat = line * (cosine, 1.0)
    shape = shapely.Point(flat[0]) if len(flat) == 1 else shapely.LineString(flat)
    room = shapely.buffer(shape, metres / METRES_PER_DEGREE, quad_segs=16)
    return shapely.transform(room, lambda points: points / (cosine, 1.0))


def _check(metres: float) -> None:
    if not 0 < metres < 1_000_000:
        raise InputError(f"a distance of {metres!r} metres; expected one above 0")
