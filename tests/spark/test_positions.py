"""Positions on Spark give what they give on one machine, whatever the buckets and however the input is cut."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.effort import profile

import eventide as ev
from eventide.errors import EventideError
from eventide.signals import Cleaning, clean, critical_points, read_positions
from eventide.spark.positions import SparkSignals, positions_on_spark

pytestmark = pytest.mark.spark
RULES = """
initiatedAt(stopped(V)=true, T) :- happensAt(stop_start(V), T).
terminatedAt(stopped(V)=true, T) :- happensAt(stop_end(V), T).
"""


class Counting:
    """A step: how many reports each bucket has."""

    schemas: Mapping[str, pa.Schema] = {"bucket": pa.schema([("reports", pa.int64())])}

    def __call__(self, positions: pa.Table) -> Mapping[str, pa.Table]:
        return {"bucket": pa.table({"reports": [positions.num_rows]})}


@pytest.fixture(scope="module")
def feed(shared_data: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Recorded positions; a quick run takes the first of them."""
    whole = shared_data("data/ais/us_2022-01-03.csv.gz")
    if profile() != "quick":
        return whole
    part = tmp_path_factory.mktemp("feed") / "first.csv"
    with gzip.open(whole, "rt") as lines:
        part.write_text("".join(islice(lines, 25_001)))
    return part


@pytest.fixture(scope="module")
def by_file(feed: Path, spark: Any) -> Iterator[SparkSignals]:
    found = positions_on_spark(feed, spark=spark, buckets=3, steps=[Counting()])
    yield found
    found.release()


def plain(table: pa.Table) -> list[str]:
    return sorted(map(repr, table.to_pylist()))


def test_the_same_as_on_one_machine(by_file: SparkSignals, feed: Path) -> None:
    reports = read_positions(feed)
    here = clean(reports.positions)
    assert by_file.counts == here.counts and by_file.unknown == here.unknown and by_file.read == here.read
    assert plain(by_file.rejected.toArrow()) == plain(here.rejected)
    assert by_file.positions.count() == here.positions.num_rows
    assert plain(by_file.vessels.toArrow()) == plain(reports.vessels)
    facts = critical_points(here.positions)
    assert set(facts) | {"bucket"} == set(by_file.facts)
    for name in ("gap_start", "stop_end", "change_in_speed_end", "change_in_heading", "coord"):
        assert plain(by_file.facts[name].toArrow()) == plain(facts[name]), name
    assert by_file.facts["velocity"].count() == facts["velocity"].num_rows


def test_steps_see_the_cleaned_positions_of_a_bucket(by_file: SparkSignals) -> None:
    numbers = [row.reports for row in by_file.facts["bucket"].collect()]
    assert len(numbers) == 3 and sum(numbers) == by_file.read - sum(by_file.counts.values())


@pytest.mark.slow
def test_a_data_frame_in_pieces_and_a_run(feed: Path, spark: Any, tmp_path: Path) -> None:
    reports = read_positions(feed).positions.slice(0, 20_000)
    path = tmp_path / "feed.parquet"
    pq.write_table(reports, path, row_group_size=3000)
    found = positions_on_spark(spark.read.parquet(str(path)), spark=spark, buckets=2, cleaning=Cleaning())
    facts = critical_points(clean(reports).positions)
    by_path = positions_on_spark(path, spark=spark, buckets=3)
    assert by_path.counts == found.counts and by_path.read == 20_000
    assert plain(by_path.facts["gap_start"].toArrow()) == plain(facts["gap_start"])
    by_path.release()
    program = ev.parse(RULES)
    there = ev.spark.run(program, {name: found.facts[name] for name in ("stop_start", "stop_end")}, spark=spark)
    here = program.run({name: facts[name] for name in ("stop_start", "stop_end")})
    assert plain(there.toArrow()) == plain(here.to_arrow())
    found.release()


def test_a_folder_of_facts(feed: Path, spark: Any, tmp_path: Path) -> None:
    facts = critical_points(clean(read_positions(feed).positions.slice(0, 5000)).positions)
    for name, table in facts.items():
        pq.write_table(table, tmp_path / f"{name}.parquet")
    program = ev.parse(RULES)
    assert plain(ev.spark.run(program, tmp_path, spark=spark).toArrow()) == plain(program.run(tmp_path).to_arrow())


def test_what_is_wrong_is_told_in_one_message(spark: Any, tmp_path: Path) -> None:
    path = tmp_path / "feed.csv"
    path.write_text("mmsi,time,lat\n1,2,3\n")
    with pytest.raises(EventideError, match="no column lon; the columns are mmsi, time, lat"):
        positions_on_spark(path, spark=spark)
    frame = spark.createDataFrame([(1, 2, 3.0)], "vessel long, time long, lat double")
    with pytest.raises(EventideError, match="no column lon"):
        positions_on_spark(frame, spark=spark)
