"""The evaluation on the CAVIAR videos: its streams, folds and scores, on a few of them."""

from __future__ import annotations

import argparse
import gzip
import xml.etree.ElementTree as ET
from collections.abc import Callable
from csv import DictReader
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from eventide.cli.bench import benchmarks, load
from eventide.probability import intervals
from eventide.signals.label_noise import LabelNoise

VIDEOS = (1, 20, 22, 27, 28, 29)  # the last three are one


@pytest.fixture(scope="module")
def evaluation() -> Any:
    """The module of the evaluation; loading the benchmark makes its neighbours known."""
    load(benchmarks()["probability"])
    import _evaluation  # type: ignore[import-not-found]

    return _evaluation


@pytest.fixture(scope="module")
def scenes(evaluation: Any) -> Any:
    found = evaluation.caviar(videos=VIDEOS)
    return found if found is not None else pytest.skip("no CAVIAR videos")


def rows(path: Path) -> list[dict[str, str]]:
    with gzip.open(path, "rt") as file:
        return list(DictReader(file))


def test_the_labels_are_all_there(scenes: Any, shared_data: Callable[[str], Path]) -> None:
    videos = {"wk1gt": 1, "mwt2gt": 20, "ms3ggt": 22, "fomdgt1": 27, "fomdgt2": 28, "fomdgt3": 29}
    labels = rows(shared_data("data/caviar/labels_pairframes.csv.gz"))
    for fluent, truth in scenes.truth.items():
        expected = {(row["video"], row["frame"], *sorted((row["id1"], row["id2"]))) for row in labels
                    if row["label_situation"] == fluent and row["video"] in videos}
        assert truth.sum() + scenes.missed[fluent] == len(expected)
        by_video = {video: sum(row[0] == video for row in expected) for video in videos}
        owner = np.repeat(scenes.videos, np.diff(scenes.offsets))
        assert {video: int(truth[owner == number - 1].sum()) for video, number in videos.items()} == by_video


def test_streams_are_of_pairs_that_are_both_tracked(scenes: Any, shared_data: Callable[[str], Path]) -> None:
    seen = [(row["frame"], row["id"]) for row in rows(shared_data("data/caviar/sde_objframes.csv.gz"))
            if row["video"] == "wk1gt"]
    frames = {who: {int(frame) for frame, other in seen if other == who} for _, who in seen}
    for number, pair in enumerate(scenes.pairs):
        if pair.startswith("v01_"):
            one, other = (name.removeprefix("v01_") for name in pair.split("|"))
            mine = scenes.places[scenes.offsets[number] : scenes.offsets[number + 1]] % (1 << 40)
            assert mine.tolist() == sorted(frames[one] & frames[other])


def test_annotations_of_one_video_share_a_fold(scenes: Any) -> None:
    for fold in scenes.folds.values():
        assert len(set(fold[np.isin(scenes.videos, (26, 27, 28))].tolist())) == 1
        for video in set(scenes.videos.tolist()):
            assert len(set(fold[scenes.videos == video].tolist())) == 1
    assert len(set(scenes.folds["moving"].tolist())) > 1


def test_nothing_holds_on_into_the_next_video(evaluation: Any, scenes: Any) -> None:
    alone = evaluation.caviar(videos=VIDEOS[1:2])
    both, one = (evaluation.Trial(each, None) for each in (scenes, alone))
    for fluent in evaluation.FLUENTS:
        mine = np.repeat(scenes.videos == 19, np.diff(scenes.offsets))
        assert np.array_equal(both.points[fluent].probs[mine], one.points[fluent].probs)
        assert set(np.unique(one.points[fluent].probs)) <= {0.0, 1.0}  # no noise: crisp
    assert one.points["moving"].probs.any()


def test_each_way_marks_what_it_should(evaluation: Any, scenes: Any) -> None:
    trial = evaluation.Trial(scenes, LabelNoise(kind="strong"))
    points = trial.points["meeting"]
    assert np.array_equal(trial.point_based("meeting", 0.5), points.probs >= 0.5)
    expected = np.zeros(points.probs.shape[0], np.bool_)
    for low, high in zip(scenes.offsets[:-1], scenes.offsets[1:], strict=True):
        for start, end in intervals(points.probs[low:high], 0.5, credible=True).pairs():
            expected[low + start : low + end] = True
    assert np.array_equal(trial.piec("meeting", 0.5), expected)
    assert expected.any() and (expected != trial.point_based("meeting", 0.5)).any()
    for way in (trial.ranges, trial.durations):
        assert np.array_equal(way("meeting", 0.5, 100_000), expected)  # nothing is ever forgotten
        assert evaluation.agreement(way("meeting", 0.5, 0), expected) < 1


def test_durations_come_from_other_folds(evaluation: Any, scenes: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    trial = evaluation.Trial(scenes, LabelNoise(kind="strong"))
    learned: list[list[int]] = []

    class Spy(evaluation.Durations):  # type: ignore[misc]
        @classmethod
        def of(cls, lengths: Any) -> Any:
            learned.append(sorted(lengths))
            return super().of(lengths)

    monkeypatch.setattr(evaluation, "Durations", Spy)
    trial.durations("moving", 0.5, 20)
    exact = trial.exact("moving", 0.5)
    owners = [scenes.folds["moving"][scenes.number_of[exact.keys[stream][0]]] for stream in exact.stream.tolist()]
    lengths = (exact.points[:, 1] - exact.points[:, 0]).tolist()
    expected = [sorted(n for n, fold in zip(lengths, owners, strict=True) if fold != test) for test in range(5)]
    assert learned == [each for each in expected if each]
    assert any(each != sorted(lengths) for each in learned)


def test_scores(evaluation: Any) -> None:
    assert evaluation.Score(3, 4, 8).f1 == pytest.approx(0.5)
    assert evaluation.Score(0, 0, 0).f1 == 1
    assert evaluation.Score(0, 5, 0).f1 == 0


def test_pictures(scenes: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main = load(benchmarks()["probability"])
    assert not main(["--only", "evaluation", "--videos", "1", "22", "--means", "1", "--seeds", "1", "--plots",
                     str(tmp_path)])
    assert "meeting, strong noise, mean 1, threshold 0.5: intervals" in capsys.readouterr().out
    for name, curves, panels in (("thresholds", 4, 6), ("memory", 4, 6), ("agreement", 2, 6), ("meeting", 4, 2),
                                 ("times", 2, 1)):
        assert curves_in(tmp_path / f"evaluation-{name}.svg") == curves + panels * curves  # the legend, and each panel
    ET.fromstring((tmp_path / "evaluation-snapshot.svg").read_text())


def curves_in(path: Path) -> int:
    lines = ET.fromstring(path.read_text()).iter("{http://www.w3.org/2000/svg}polyline")
    return sum(line.get("stroke-width") == "2" for line in lines)


def test_streams_of_what_is_possible(evaluation: Any, scenes: Any) -> None:
    """They have no impossible frames before the first possible one and behind the last; the marks are in place."""
    noise = LabelNoise(kind="smooth")
    whole, trimmed = evaluation.Trial(scenes, noise), evaluation.Trial(scenes, noise, trimmed=True)
    probs = whole.points["meeting"].probs
    expected = np.zeros(probs.shape[0], np.bool_)
    for low, high in zip(scenes.offsets[:-1], scenes.offsets[1:], strict=True):
        possible = low + np.flatnonzero(probs[low:high] > 1e-5)
        if possible.shape[0]:
            for start, end in intervals(probs[possible[0] : possible[-1] + 1], 0.5, credible=True).pairs():
                expected[possible[0] + start : possible[0] + end] = True
    assert np.array_equal(trimmed.piec("meeting", 0.5), expected)
    assert (expected != whole.piec("meeting", 0.5)).any()
    assert np.array_equal(trimmed.durations("meeting", 0.5, 100_000), expected)


def test_a_snapshot_shows_what_differs(evaluation: Any) -> None:
    import _charts  # type: ignore[import-not-found]

    picture = _charts.compared([("one", ([(0, 5)], [(5, 6)], [(8, 10)]))], 0, 10, "title")
    bars = [(shape.fill, shape.width) for shape in picture.shapes if isinstance(shape, _charts.Box)][3:]
    unit = 2.6 * _charts.WIDTH / 10
    assert bars == [(_charts.SAME, pytest.approx(5 * unit)), (_charts.MORE, pytest.approx(unit)),
                    (_charts.LESS, pytest.approx(2 * unit))]


def test_absent_videos(evaluation: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import _evaluation_claims  # type: ignore[import-not-found]

    monkeypatch.setenv("EVENTIDE_SHARED", str(tmp_path))
    options = argparse.Namespace(labels="situation", frames="possible", videos=None)
    assert list(_evaluation_claims.evaluation(options, needed=False)) == []
    with pytest.raises(Exception, match="CAVIAR videos are not here"):
        list(_evaluation_claims.evaluation(options, needed=True))
