"""The coast outline that ships with the package."""

from __future__ import annotations

import numpy as np
import pytest
import shapely

from eventide.errors import InputError
from eventide.signals.coast import FILE, coast_lines, land_rings, packed_rings


def test_it_is_small_and_says_where_it_is_from() -> None:
    assert FILE.stat().st_size < 300_000
    assert "public domain" in (FILE.parent / "README.md").read_text(encoding="utf-8")


def test_lines_are_on_the_globe_and_in_small_steps() -> None:
    lines = coast_lines()
    points = np.concatenate(lines)
    assert len(points) > 100_000
    assert np.abs(points[:, 0]).max() <= 180 and np.abs(points[:, 1]).max() <= 90
    for line in lines:  # none runs along or across the edge of the map; ice shelves have long edges
        steps = np.abs(np.diff(line[:, 0]))[np.abs(line[1:, 1]) < 65]
        assert steps.max(initial=0) < 3


@pytest.mark.parametrize(("lon", "lat", "land"), [
    (2.35, 48.85, True), (-5.5, 48.0, False), (-74.9, 40.7, True), (-40.0, 30.0, False), (18.5, 57.4, True),
    (19.5, 56.5, False), (133.9, -25.0, True)])
def test_known_places_are_on_the_right_side(lon: float, lat: float, land: bool) -> None:
    inside = 0
    for ring in land_rings():
        for turn in (-360, 0, 360):
            if (ring.min(axis=0) <= (lon + turn, lat)).all() and ((lon + turn, lat) <= ring.max(axis=0)).all():
                inside += bool(shapely.intersects_xy(shapely.make_valid(shapely.Polygon(ring)), lon + turn, lat))
    assert (inside % 2 == 1) is land


def test_a_box_holds_what_meets_it() -> None:
    box = (-5.5, 47.7, -4.0, 48.8)
    found = coast_lines(box)
    everything = shapely.union_all([shapely.LineString(line) for line in coast_lines((-20, 30, 20, 60))])
    frame = shapely.box(*box)
    part = shapely.union_all([shapely.LineString(line) for line in found])
    assert found and shapely.equals(shapely.intersection(everything, frame), shapely.intersection(part, frame))


def test_a_wrong_box_is_told() -> None:
    with pytest.raises(InputError, match="west, south, east, north"):
        coast_lines((10, 50, 5, 55))


def test_packing_drops_what_rounding_makes_equal() -> None:
    ring = np.array([[0, 0], [0.0001, 0], [1, 0], [1, 1], [0, 0]])
    assert packed_rings([ring]) == packed_rings([ring[[0, 2, 3, 4]]])
