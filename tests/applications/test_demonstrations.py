"""The demonstrations end to end, on Spark, with fewer entities: what they tell and what they leave."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pyarrow.csv
import pyarrow.parquet
import pytest

from eventide.applications import APPLICATIONS
from eventide.applications.activity import demo as activity_demo
from eventide.applications.demonstration import Show, Source, demonstrate, generated, richest, shared_data
from eventide.applications.maritime import demo as maritime_demo
from eventide.cli.demo import DEMOS
from eventide.program import load

FEW = {"toy": 20, "netbill": 1, "city": 5, "activity": 2}
TRIED = [pytest.param(name, marks=pytest.mark.slow if name != "toy" else ()) for name in FEW]


class Told:
    """Keeps what is told."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.begun: list[str] = []

    def __call__(self, text: str) -> None:
        self.texts.append(text)

    def begin(self, title: str) -> None:
        self.begun.append(title)


@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize("name", TRIED)
def test_a_domain(name: str, tmp_path: Path) -> None:
    application, told = APPLICATIONS[name], Told()
    demonstrate(Show(application, generated(application, FEW[name], "entities"), "A few", tmp_path, "entity"), told)
    tables = [f"{path.stem}={path}" for path in (tmp_path / "background").glob("*.csv")]
    local = load(tmp_path / "rules.ec", background=tables).run(
        tmp_path / "events.csv", start=application.start, tick=application.tick)
    local.write(tmp_path / "local.csv")
    assert (tmp_path / "intervals.csv").read_text() == (tmp_path / "local.csv").read_text()
    assert pyarrow.parquet.read_table(tmp_path / "intervals.parquet").num_rows == len(local)
    assert f"{len(local):,} maximal intervals from {local.counts.facts:,} facts" in "\n".join(told.texts)
    assert "A few" in (tmp_path / "report.html").read_text()
    assert len(told.begun) == 5
    assert "to do the same by hand" in told.texts[-1]


@pytest.mark.slow
def test_six_hours_at_sea(spark: Any, tmp_path: Path) -> None:
    told = Told()
    work = maritime_demo.run(tmp_path, told, vessels=80, seed=2)
    assert not spark.sparkContext._jsc.sc().isStopped()  # a session that was there stays
    assert [one for one in work.scores if one.recall < 0.95 or one.precision < 0.95] == []
    assert {"rendezVous", "trawling", "tugging", "inSAR", "gap"} <= {one.fluent for one in work.scores}
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {"positions.csv", "vessels.csv", "areas.geojson", "truth.csv", "facts", "background", "rules.ec",
                    "intervals.csv", "intervals.parquet", "report.html"}
    with (tmp_path / "intervals.csv").open(newline="") as text:
        rows = list(csv.DictReader(text))
    assert len(rows) == work.intervals.num_rows
    assert len(told.begun) == len(maritime_demo.STAGES) == len(work.took)
    closing = told.texts[-1]
    assert all(name in closing for name in ("recall", "precision", "seconds", *work.took))
    tables = [f"{path.stem}={path}" for path in (tmp_path / "background").glob("*.csv")]
    facts = [f"{path.stem}={path}" for path in (tmp_path / "facts").glob("*.parquet")]
    again = load(tmp_path / "rules.ec", background=tables).run(facts)
    assert len(again) == len(rows)


def test_every_listed_demonstration_is_there() -> None:
    from importlib import import_module

    for module, shows in DEMOS.values():
        assert callable(import_module(module).run)
        assert shows


def test_videos_are_taken_where_they_are(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in activity_demo.VIDEOS:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    shown: list[Source] = []
    monkeypatch.setattr(activity_demo, "demonstrate", lambda show, say: shown.append(show.source(tmp_path)))
    monkeypatch.setenv("EVENTIDE_SHARED", str(tmp_path))
    activity_demo.run(tmp_path, Told())
    assert shown[0].events == [tmp_path / name for name in activity_demo.VIDEOS]
    monkeypatch.setenv("EVENTIDE_SHARED", str(tmp_path / "nothing"))
    assert shared_data(activity_demo.VIDEOS[0]) is None
    activity_demo.run(tmp_path, Told())
    assert shown[1].events == [tmp_path / "events.csv"]


def test_the_richest_entity_has_most_fluents() -> None:
    rows: list[dict[str, object]] = [{"fluent": "a", "args": "x|y"}, {"fluent": "b", "args": "y"},
                                     {"fluent": "c", "args": "x"}, {"fluent": "d", "args": "x"}]
    assert richest(rows, ()) == "x"
    assert richest(rows, ("a", "b")) == "y"
