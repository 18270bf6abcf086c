"""Confidence by distance from base stations."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from tests.signals.test_proximity import positions

from eventide.errors import InputError
from eventide.kernels.spatial import nearest
from eventide.kernels.trajectories import metres
from eventide.signals.noise import SMOOTH, STRONG, Stations, confidence, stations_along, with_confidence

BRITTANY = (-6.0, 47.0, -2.0, 49.0)


def test_the_nearest_of_all() -> None:
    rng = np.random.default_rng(4)
    lon, lat, to_lon, to_lat = (rng.uniform(-high, high, n) for high, n in ((180, 300), (89, 300), (180, 20), (89, 20)))
    expected = [min(metres(x, y, a, b) for a, b in zip(to_lon, to_lat, strict=True))
                for x, y in zip(lon, lat, strict=True)]
    assert np.allclose(nearest(lon, lat, to_lon, to_lat), expected)


@pytest.mark.parametrize("c", [SMOOTH, STRONG])
def test_the_formula_of_the_thesis(c: float) -> None:
    x = np.array([0.0, c / 3, c, 9 * c, 1e6])
    assert np.allclose(confidence(x, c), 1 - x / (x + c))
    assert np.allclose(confidence(x, c)[:4], [1, 0.75, 0.5, 0.1])


def test_strong_noise_leaves_less() -> None:
    x = np.linspace(1, 1e5, 50)
    assert (confidence(x, STRONG) < confidence(x, SMOOTH)).all()


def test_facts_get_the_confidence_of_their_reports() -> None:
    station = Stations(np.array([0.0]), np.array([0.0]))
    table = positions((1, [(0, 0.0, 0.0), (100, 0.0, 1.0)]), (2, [(50, 0.0, 0.5), (60, 0.0, 0.7)]))
    sure = {lat: float(confidence(nearest(np.zeros(1), np.array([lat]), np.zeros(1), np.zeros(1)), SMOOTH)[0])
            for lat in (0.0, 0.5, 0.7, 1.0)}
    facts = {"stop_start": pa.table({"time": [0, 99, 100, 10**6, 1], "vessel": [1, 1, 1, 1, 2]}),
             "proximity": pa.table({"time": [50, 100], "end": [60, 110], "vessel1": [1, 1], "vessel2": [2, 2]})}
    found = with_confidence(facts, table, station)
    assert found["stop_start"]["probability"].to_pylist() == [sure[0.0], sure[0.0], sure[1.0], sure[1.0], sure[0.5]]
    assert found["proximity"]["probability"].to_pylist() == [sure[0.5], sure[1.0]]
    assert found["proximity"].column_names == ["time", "end", "vessel1", "vessel2", "probability"]


def test_equal_seeds_give_equal_stations() -> None:
    one, two, other = (stations_along(BRITTANY, seed=seed) for seed in (5, 5, 6))
    assert np.array_equal(one.lon, two.lon) and np.array_equal(one.lat, two.lat)
    assert not np.array_equal(one.lon, other.lon)
    assert len(one.lon) > 3
    for k in range(len(one.lon)):
        rest = np.arange(len(one.lon)) != k
        assert nearest(one.lon[k : k + 1], one.lat[k : k + 1], one.lon[rest], one.lat[rest])[0] >= 49_999


@pytest.mark.parametrize("call", [
    lambda: confidence(np.zeros(1), 0), lambda: Stations(np.zeros(0), np.zeros(0)),
    lambda: Stations(np.array([500.0]), np.zeros(1)), lambda: stations_along((-40.0, 30.0, -39.0, 31.0)),
    lambda: with_confidence({"x": pa.table({"time": [1]})}, positions((1, [(0, 0.0, 0.0)])),
                            Stations(np.zeros(1), np.zeros(1))),
    lambda: with_confidence({"x": pa.table({"time": [1], "vessel": [9]})}, positions((1, [(0, 0.0, 0.0)])),
                            Stations(np.zeros(1), np.zeros(1))),
])
def test_what_cannot_be_is_told(call: object) -> None:
    with pytest.raises(InputError):
        call()  # type: ignore[operator]
