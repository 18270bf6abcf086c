"""Areas and proximity on Spark: the same answers as on one machine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import shapely
from tests.signals.test_proximity import crowd

from eventide.errors import InputError
from eventide.signals.areas import Area, Areas, area_events
from eventide.signals.positions import Tracks
from eventide.signals.proximity import Nearness, proximity
from eventide.spark.spatial import (
    PIECES,
    AreaStep,
    PieceStep,
    _Finding,
    _joining,
    _piece_parts,
    areas_on_spark,
    periods_of,
    proximity_on_spark,
)

pytestmark = pytest.mark.spark
AREAS = Areas.of([Area("west", "natura", shapely.box(2.9, 50.9, 2.98, 51.1)),
                  Area("disc", "fishing", shapely.Point(3.01, 51.0).buffer(0.02))])


@pytest.fixture(scope="module")
def tracks() -> Tracks:
    """A crowd whose vessels cross cells of a quarter of a degree, and the edges of hours."""
    return crowd(11, 80, 3.0, 51.0)


@pytest.fixture
def frame(spark: Any, tracks: Tracks, tmp_path: Path) -> Any:
    """Its reports out of order, in several files."""
    order = np.random.default_rng(5).permutation(len(tracks))
    table = tracks.table().take(pa.array(order))
    for k in range(3):
        pq.write_table(table.slice(k * 1700, 1700), tmp_path / f"{k}.parquet")
    return spark.read.parquet(str(tmp_path))


def rows(table: pa.Table) -> list[tuple[Any, ...]]:
    return sorted(tuple(row.values()) for row in table.to_pylist())


@pytest.mark.parametrize("buckets", [1, 2, pytest.param(7, marks=pytest.mark.slow)])
def test_proximity(frame: Any, tracks: Tracks, buckets: int) -> None:
    expected = rows(proximity(tracks.table()))
    assert len(expected) > 30
    assert rows(proximity_on_spark(frame, buckets=buckets).toArrow()) == expected


def test_proximity_of_other_settings(frame: Any, tracks: Tracks) -> None:
    nearness = Nearness(metres=2000, gap=60, bridge=600)
    assert rows(proximity_on_spark(frame, nearness).toArrow()) == rows(proximity(tracks.table(), nearness))


@pytest.mark.parametrize("buckets", [1, 3])
def test_areas(frame: Any, tracks: Tracks, buckets: int) -> None:
    expected = sorted((name, *row) for name, table in area_events(tracks.table(), AREAS).items() for row in rows(table))
    assert len(expected) > 50
    assert rows(areas_on_spark(frame, AREAS, buckets=buckets).toArrow()) == expected


def test_steps_on_buckets_of_vessels(spark: Any, tracks: Tracks) -> None:
    """The steps as `positions_on_spark` takes them: vessels in two buckets, tables held packed."""
    table, nearness = tracks.table(), Nearness()
    pieces, areas = PieceStep(nearness, 4), AreaStep(AREAS)
    held, crossings = [], []
    for odd in (0, 1):
        some = table.filter(pa.array(tracks.vessel % 2 == odd))
        out = pa.BufferOutputStream()
        part = pieces(some)[PIECES]
        with pa.ipc.new_stream(out, part.schema) as writer:
            writer.write_table(part)
        held.append((bytearray(out.getvalue()),))
        crossings += [(name, *row) for name, found in areas(some).items() for row in rows(found)]
    found = periods_of(spark.createDataFrame(held, "part binary"), nearness, 4)
    assert rows(found.toArrow()) == rows(proximity(table))
    assert sorted(crossings) == sorted((name, *row) for name, events in area_events(table, AREAS).items()
                                       for row in rows(events))
    assert set(areas.schemas) == {"entersArea", "leavesArea"} and not pieces.schemas


def test_no_positions(spark: Any) -> None:
    nothing = spark.createDataFrame([], "vessel bigint, time bigint, lon double, lat double")
    assert proximity_on_spark(nothing).toArrow().num_rows == 0
    assert areas_on_spark(nothing, AREAS).toArrow().num_rows == 0


def test_a_missing_column(spark: Any) -> None:
    with pytest.raises(InputError, match="no column lat"):
        proximity_on_spark(spark.createDataFrame([], "vessel bigint, time bigint, lon double"))


def test_slices_cut_no_piece(tracks: Tracks) -> None:
    """Pieces held in slices of a few rows, which come in any order."""
    nearness, found = Nearness(), PieceStep(Nearness(), 3)(tracks.table())[PIECES]
    batches = [batch for low in range(0, found.num_rows, 7) for batch in _piece_parts(found.slice(low, 7))]
    parts = []
    for bucket in range(3):
        own = [batch for batch in reversed(batches) if batch["bucket"][0].as_py() == bucket]
        parts += list(_Finding(nearness.metres, 1)(iter(own)))
    assert rows(pa.Table.from_batches(_joining(iter(parts)))) == rows(proximity(tracks.table()))
