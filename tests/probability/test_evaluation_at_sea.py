"""The evaluation on generated traffic at sea: streams of pairs, reports that are believed by distance, folds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from tests.probability.test_evaluation import curves_in

from eventide.applications.maritime.staging import HORIZON
from eventide.applications.maritime.traffic import EPOCH, traffic
from eventide.cli.bench import benchmarks, load

VESSELS = 60


@pytest.fixture(scope="module")
def sea() -> Any:
    """The module of the evaluation; loading the benchmark makes its neighbours known."""
    load(benchmarks()["probability"])
    import _evaluation_sea  # type: ignore[import-not-found]

    return _evaluation_sea


@pytest.fixture(scope="module")
def scenes(sea: Any) -> Any:
    return sea.sea(VESSELS)


def test_periods_are_cut_at_the_reports_of_both(sea: Any) -> None:
    proximity = pa.table({"time": [10, 5], "end": [20, 30], "value": ["true"] * 2, "vessel1": [1, 2],
                          "vessel2": [2, 3]})
    positions = pa.table({"vessel": [1, 2, 1, 2, 3, 1, 2], "time": [10, 12, 15, 15, 19, 20, 30]})
    pieces = sea.by_report(proximity, positions).to_pylist()
    assert [(row["vessel1"], row["time"], row["end"]) for row in pieces] == [
        (1, 10, 12), (1, 12, 15), (1, 15, 20), (2, 5, 12), (2, 12, 15), (2, 15, 19), (2, 19, 30)]


def test_what_was_staged_is_true(scenes: Any) -> None:
    staged = [each for each in traffic(VESSELS, 1).situations if each.fluent in ("rendezVous", "tugging")]
    for fluent, truth in scenes.truth.items():
        expected = sum((each.end or EPOCH + HORIZON) - each.start for each in staged if each.fluent == fluent)
        assert truth.sum() == expected > 0
    assert scenes.places.shape[0] == scenes.offsets[-1]
    assert (np.diff(scenes.places) > 0).all()


def test_vessels_of_one_fold_are_in_no_other(scenes: Any) -> None:
    for fold in scenes.folds.values():
        of: dict[str, set[int]] = {}
        for pair, number in zip(scenes.pairs, fold.tolist(), strict=True):
            for vessel in pair.split("|"):
                of.setdefault(vessel, set()).add(number)
        assert all(len(folds) == 1 for folds in of.values())
        assert len(set(fold.tolist())) > 1


def test_farther_stations_make_reports_less_sure(sea: Any, scenes: Any) -> None:
    certain = sea.Trial(scenes, None)
    assert set(np.unique(certain.points["tugging"].probs)) <= {0.0, 1.0}
    near, far, again = (sea.Trial(scenes, sea.Confidence(10_000.0, per, 1)) for per in (9.0, 100.0, 9.0))
    for fluent in scenes.truth:
        sure, less = near.points[fluent].probs, far.points[fluent].probs
        assert 0 < less.sum() < sure.sum() < certain.points[fluent].probs.size
        assert np.array_equal(sure, again.points[fluent].probs)


@pytest.mark.slow
def test_claims_and_pictures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main = load(benchmarks()["probability"])
    assert not main(["--only", "sea", "--vessels", "40", "--seeds", "1", "--stations", "9", "--plots", str(tmp_path)])
    out = capsys.readouterr().out
    assert "rendezVous, strong noise, a station for 9 km2, threshold 0.5: intervals" in out
    assert curves_in(tmp_path / "evaluation-sea.svg") == 2 + 4 * 2
