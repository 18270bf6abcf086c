"""Areas: the grid against exact tests, events against a walk over each track, areas that are made."""

from __future__ import annotations

import pickle

import numpy as np
import pyarrow as pa
import pytest
import shapely
from hypothesis import given
from hypothesis import strategies as st
from tests.signals.test_proximity import positions

from eventide.errors import InputError
from eventide.kernels.trajectories import metres
from eventide.signals.areas import Area, Areas, area_events, dissolved, misplaced, near_coast, near_lines, near_points
from eventide.signals.grid import Grid

Crossing = tuple[str, int, int, str]


def stars(seed: int, number: int, spread: float) -> list[shapely.Polygon]:
    """Polygons with many corners, some with a hole, of different sizes, some overlapping."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(number):
        angle = np.sort(rng.uniform(0, 2 * np.pi, rng.integers(3, 40)))
        reach = rng.uniform(0.3, 1.0, len(angle)) * rng.choice([0.01, 0.3, 2.0])
        center = rng.uniform(-spread, spread, 2)
        star = shapely.Polygon(center + np.column_stack([np.cos(angle), np.sin(angle)]) * reach[:, None])
        star = shapely.make_valid(star).buffer(0)
        if rng.random() < 0.3:
            star = star.difference(shapely.Point(*center).buffer(reach.min() / 2))
        if not star.is_empty:
            found.append(star)
    return found


@pytest.mark.parametrize(("seed", "number", "spread"), [(1, 30, 3.0), (2, 200, 60.0), (3, 1, 0.01)])
def test_the_grid_finds_what_exact_tests_find(seed: int, number: int, spread: float) -> None:
    shapes = stars(seed, number, spread)
    rng = np.random.default_rng(seed + 100)
    corners = np.concatenate([shapely.get_coordinates(shape) for shape in shapes])
    near = corners[rng.integers(0, len(corners), 3000)] + rng.normal(0, 0.01, (3000, 2))
    anywhere = rng.uniform(-1.2 * spread, 1.2 * spread, (3000, 2))
    places = np.concatenate([near, corners, anywhere, [[500, 1], [1, np.nan]]])
    lon, lat = np.ascontiguousarray(places[:, 0]), np.ascontiguousarray(places[:, 1])
    row, shape = Grid.of(shapes).locate(lon, lat)
    inside = [np.flatnonzero(shapely.intersects_xy(polygon, lon, lat)).tolist() for polygon in shapes]
    expected = [(r, k) for k, rows in enumerate(inside) for r in rows]
    assert list(zip(row.tolist(), shape.tolist(), strict=True)) == sorted(expected)


def test_most_places_need_no_exact_test() -> None:
    grid = Grid.of([shapely.Point(0, 0).buffer(5)])
    assert (grid.entries & 1).mean() > 0.97


def test_no_areas_hold_nothing() -> None:
    assert area_events(positions((1, [(0, 0.0, 0.0)])), Areas.of([]))["entersArea"].num_rows == 0


# -- events ------------------------------------------------------------------------------------------------------------

SQUARES = Areas.of([Area("a", "fishing", shapely.box(0, 0, 2, 2)), Area("b", "natura", shapely.box(1, 0, 3, 2)),
                    Area("c", "fishing", shapely.box(5, 0, 6, 2))])


def walked(table: pa.Table, areas: Areas, gap: int) -> list[Crossing]:
    """What happens, report by report."""
    found, before, vessel, last = [], set(), None, 0
    for row in table.to_pylist():
        place = shapely.Point(row["lon"], row["lat"])
        now = {area.name for area in areas if shapely.intersects(area.shape, place)}
        if row["vessel"] != vessel or row["time"] - last > gap:
            before = set()
        found += [("entersArea", row["vessel"], row["time"] - 1, name) for name in now - before]
        found += [("leavesArea", row["vessel"], row["time"], name) for name in before - now]
        before, vessel, last = now, row["vessel"], row["time"]
    return sorted(found)


def crossings(found: dict[str, pa.Table]) -> list[Crossing]:
    return sorted((name, row["vessel"], row["time"], row["area"]) for name, table in found.items()
                  for row in table.to_pylist())


reports = st.lists(st.tuples(st.sampled_from([10, 60, 61, 300]), st.sampled_from([-1.0, 0.0, 0.5, 1.5, 2.5, 4.0, 5.5])),
                   min_size=1, max_size=8)


@given(st.lists(reports, max_size=4))
def test_events_are_what_each_report_says(tracks: list[list[tuple[int, float]]]) -> None:
    table = positions(*((vessel, list(zip(np.cumsum([gap for gap, _ in track]).tolist(), [lon for _, lon in track],
                                          [1.0] * len(track), strict=True))) for vessel, track in enumerate(tracks)))
    assert crossings(area_events(table, SQUARES, gap=60)) == walked(table, SQUARES, 60)


def test_after_a_gap_a_vessel_enters_again() -> None:
    table = positions((4, [(0, 5.5, 1.0), (600, 5.5, 1.0), (1201, 5.5, 1.0), (1300, 9.0, 1.0)]))
    assert crossings(area_events(table, SQUARES)) == [
        ("entersArea", 4, -1, "c"), ("entersArea", 4, 1200, "c"), ("leavesArea", 4, 1300, "c")]


def test_areas_travel() -> None:
    table = positions((4, [(0, 5.5, 1.0), (600, 0.5, 1.0)]))
    sent = pickle.loads(pickle.dumps(SQUARES))
    assert crossings(area_events(table, sent)) == crossings(area_events(table, SQUARES))
    assert SQUARES.table().to_pylist()[0] == {"area": "a", "area_type": "fishing"}


# -- making areas ------------------------------------------------------------------------------------------------------


def test_areas_of_one_kind_that_meet_are_one() -> None:
    boxes = [("p", "port", (0, 0, 1, 1)), ("q", "port", (1, 0, 2, 1)), ("r", "port", (5, 0, 6, 1)),
             ("s", "coast", (0, 0, 1, 1)), ("t", "port", (6, 1, 7, 2))]
    found = dissolved(Areas.of(Area(name, kind, shapely.box(*box)) for name, kind, box in boxes))
    assert [(area.name, area.kind, shapely.area(area.shape)) for area in found] == [
        ("p", "port", 2.0), ("r", "port", 1.0), ("s", "coast", 1.0), ("t", "port", 1.0)]


def test_names_are_told_apart() -> None:
    port = near_points(["x", "x"], [0, 1], [0, 0], 100, "port")
    assert [area.name for area in port + port[:1]] == ["x", "x_2", "x_3"]


@pytest.mark.parametrize("lat", [0.0, 48.0, -70.0])
def test_around_a_point_it_is_a_circle_on_the_globe(lat: float) -> None:
    corners = shapely.get_coordinates(near_points(["x"], [5.0], [lat], 2000, "port")[0].shape)
    assert np.allclose([metres(5.0, lat, x, y) for x, y in corners], 2000, rtol=0.01)


def test_along_a_line() -> None:
    area = near_lines("x", "coast", [np.array([[0.0, 60.0], [1.0, 60.0], [1.0, 61.0]])], 5000)
    for lon, lat, inside in [(0.5, 60.044, True), (0.5, 60.046, False), (1.08, 60.5, True), (1.1, 60.5, False)]:
        assert shapely.intersects_xy(area.shape, lon, lat) == inside


def test_near_the_coast() -> None:
    coast = near_coast((-6.0, 47.5, -3.5, 49.0), 5000, "nearCoast5k")
    for lon, lat, inside in [(-4.49, 48.38, True), (-5.8, 48.0, False), (-4.0, 48.5, True)]:
        assert shapely.intersects_xy(coast.shape, lon, lat) == inside
    assert shapely.area(near_coast((-6.0, 47.5, -3.5, 49.0), 300).shape) < shapely.area(coast.shape)


def test_a_wrong_distance_is_told() -> None:
    with pytest.raises(InputError, match="metres"):
        near_points(["x"], [0], [0], 0, "port")


def test_areas_elsewhere_are_told() -> None:
    assert misplaced(SQUARES, (1.0, 1.0, 9.0, 9.0)) is None
    assert misplaced(SQUARES, (50.0, 50.0, 51.0, 51.0)) == "no area is where the positions are"
