"""The traffic at sea: what its script promises is what its reports show, and what is staged is recognised."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from eventide.applications.maritime.pipeline import background, facts, program
from eventide.applications.maritime.reporting import COLUMNS
from eventide.applications.maritime.scoring import score
from eventide.applications.maritime.staging import HORIZON
from eventide.applications.maritime.traffic import EPOCH, PER_REGION, SCENES, Traffic, programme, traffic
from eventide.signals.ais import read_positions
from eventide.signals.area_files import read_areas
from eventide.signals.areas import Areas
from eventide.signals.cleaning import clean
from eventide.signals.proximity import proximity

SEEDS = range(5)
STAGED = {
    "gap", "stopped", "underWay", "highSpeedNearCoast", "drifting", "anchoredOrMoored", "tugging", "rendezVous",
    "trawling", "inSAR", "loitering", "pilotOps", "suspiciousRendezVous", "collisionDanger", "dangerNearCoast",
    "driftingWhileTugging", "fishingTripInArea", "fishingTripTrawling", "stoppedWithinArea", "anchoredFarFromPorts",
    "anchoredNearPorts",
}


@pytest.fixture(scope="module")
def full() -> Traffic:
    """The traffic of a full region."""
    return traffic()


def test_the_seed_decides_the_traffic() -> None:
    one, same, other = traffic(40, seed=3), traffic(40, seed=3), traffic(40, seed=4)
    assert one.positions.equals(same.positions)
    assert one.truth().equals(same.truth())
    assert not one.positions.equals(other.positions)


@pytest.mark.parametrize("vessels", [1, 2, 41, 300, 350])
def test_there_are_as_many_vessels_as_asked_for(vessels: int) -> None:
    found = traffic(vessels, seed=1)
    assert found.vessels.num_rows == vessels == len(set(found.vessels["vessel"].to_pylist()))
    assert set(found.positions["mmsi"].to_pylist()) >= set(found.vessels["vessel"].to_pylist())


def test_a_full_region_has_every_scene() -> None:
    assert sum(scene.vessels * scene.times for scene in SCENES) == PER_REGION
    assert Counter(scene for scene, _ in programme(PER_REGION)) == {scene: scene.times for scene in SCENES}


def test_every_situation_is_staged_with_vessels_of_the_traffic(full: Traffic) -> None:
    assert {staged.fluent for staged in full.situations} == STAGED
    vessels = set(full.vessels["vessel"].to_pylist())
    for staged in full.situations:
        own = [argument for argument in staged.args if isinstance(argument, int)]
        assert set(own) <= vessels
        assert own == sorted(own)
        assert EPOCH <= staged.start < EPOCH + HORIZON
        assert staged.end is None or staged.start < staged.end < EPOCH + HORIZON


def test_no_message_is_sent_in_a_gap(full: Traffic) -> None:
    cleaned = clean(_positions(full)).positions
    for staged in full.situations:
        if staged.fluent == "gap":
            times = cleaned.filter(pc.equal(cleaned["vessel"], staged.args[0]))["time"].to_numpy()
            assert not ((times >= staged.start) & (times < (staged.end or EPOCH + HORIZON))).any()


def test_vessels_that_meet_are_near_each_other(full: Traffic) -> None:
    near = proximity(clean(_positions(full)).positions).to_pylist()
    pairs: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for row in near:
        pairs.setdefault((row["vessel1"], row["vessel2"]), []).append((row["time"], row["end"]))
    met = [staged for staged in full.situations if staged.fluent in ("rendezVous", "pilotOps", "suspiciousRendezVous")]
    assert met
    for staged in met:
        low, high = staged.start + staged.tolerance, (staged.end or EPOCH + HORIZON) - staged.tolerance
        assert any(start <= low and high <= end for start, end in pairs[staged.args])  # type: ignore[index]


def test_reports_that_cannot_be_true_are_found(full: Traffic) -> None:
    found = clean(_positions(full))
    assert {"duplicate", "no_place", "vessel", "speed", "time", "jump"} <= set(found.counts)
    assert 0.003 < sum(found.counts.values()) / found.read < 0.02


def test_the_files_are_read_back(tmp_path: Path, full: Traffic) -> None:
    paths = full.write(tmp_path)
    read = read_positions(paths["positions"], preset="ais")
    assert read.positions.num_rows == full.positions.num_rows
    assert full.positions.column_names == list(COLUMNS)
    kinds = dict(zip(read.vessels["vessel"].to_pylist(), read.vessels["type"].to_pylist(), strict=True))
    assert {kinds[row["vessel"]] == row["type"] for row in full.vessels.to_pylist()} == {True}
    areas = read_areas(paths["areas"])
    assert len(areas) == len(json.loads(paths["areas"].read_text())["features"])
    assert set(areas.kinds) == {"anchorage", "fishing", "natura", "nearCoast", "nearCoast5k", "nearPorts"}


@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_staged_is_recognised(seed: int, tmp_path: Path) -> None:
    """From raw reports to situations; nothing in between knows what was staged."""
    staged = traffic(seed=seed)
    areas = read_areas(staged.write(tmp_path)["areas"])
    found = program(staged.vessels, areas).run(facts(clean(_positions(staged)).positions, areas)).to_arrow()
    scores = score(found, staged.truth(), EPOCH + HORIZON)
    assert {one.fluent for one in scores} == STAGED
    assert [one for one in scores if one.recall < 0.95 or one.precision < 0.95] == []


def test_situations_that_are_shifted_are_not_found(full: Traffic, tmp_path: Path) -> None:
    """The score is not kind: truth against itself is perfect, against itself an hour later it is not."""
    truth = full.truth()
    assert all(one.recall == one.precision == 1 for one in score(truth, truth, EPOCH + HORIZON))
    later = truth.set_column(3, "start", pc.add(truth["start"], 3600)).set_column(4, "end", pc.add(truth["end"], 3600))
    shifted = {one.fluent: one for one in score(later, truth, EPOCH + HORIZON)}
    for fluent in ("rendezVous", "pilotOps", "highSpeedNearCoast", "collisionDanger", "stoppedWithinArea"):
        assert shifted[fluent].recall < 0.5
        assert shifted[fluent].precision < 0.5


def test_vessels_of_unknown_draught_have_a_type_in_the_rules() -> None:
    vessels = pa.table({"vessel": [7, 8, 9], "type": ["tug", "cargo", "sar"], "draught": [None, float("nan"), 4.5]})
    relation = background(vessels, Areas.of([]))["vessel"]
    assert relation.to_pydict() == {"vessel": [7, 8, 9], "type": ["tug", "cargo", "sar"], "draught": [0.0, 0.0, 4.5]}


def _positions(found: Traffic) -> pa.Table:
    """The reports in the columns of `signals`."""
    names = {"vessel": "mmsi", "time": "time", "lon": "lon", "lat": "lat", "speed": "sog", "course": "cog",
             "heading": "heading"}
    return pa.table({name: found.positions[column] for name, column in names.items()})


def test_no_rest_in_port_is_about_as_long_as_a_mooring_must_be(full: Traffic) -> None:
    lengths = np.array([(staged.end or EPOCH + HORIZON) - staged.start for staged in full.situations
                        if staged.fluent == "stopped" and staged.value == "nearPorts"])
    assert (np.abs(lengths - 1800) > 300).all()
