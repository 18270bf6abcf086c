"""The reference answers: all streams, thresholds, memories and batch sizes."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest
from tests.conftest import shared_folder

from eventide.probability import Durations, MaximalIntervals, intervals

FOLDER = "golden/probability"
NAMES = sorted(path.name.removesuffix(".json.gz")
               for path in ((shared_folder() or Path()) / FOLDER / "intervals").glob("*.json.gz"))
Locate = Callable[[str], Path]


def golden(shared_data: Locate, name: str) -> dict[str, Any]:
    with gzip.open(shared_data(f"{FOLDER}/intervals/{name}.json.gz"), "rt") as file:
        found: dict[str, Any] = json.load(file)
    return found


def closed(found: MaximalIntervals) -> list[list[int]]:
    return np.stack((found.points[:, 0], found.points[:, 1] - 1), 1).tolist()


def check(found: MaximalIntervals, expected: list[list[float]]) -> None:
    assert closed(found) == [row[:2] for row in expected]
    assert np.allclose(found.probability, [row[2] for row in expected], rtol=0, atol=1e-9)


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="too much data for loops that are not compiled")
@pytest.mark.parametrize("name", NAMES)
def test_stream(name: str, shared_data: Locate) -> None:
    case = golden(shared_data, name)
    probs = np.loadtxt(shared_data(f"{FOLDER}/streams/{name}.csv.gz"), delimiter=",", skiprows=1, usecols=1, ndmin=1)
    for threshold, answers in case["results"].items():
        whole = intervals(probs, threshold)
        assert closed(whole) == answers["exact_decimal"]["pmis"]
        check(whole, answers["PIEC"]["pmis"])
        for key, answer in answers.items():
            if "_batch" not in key:
                continue
            kind, batch, memory = key.split("_")
            bounded = memory != "unbounded"
            durations = None
            if kind == "oPIECbd":
                durations = Durations(answers["bd_durations"]["mu"], answers["bd_durations"]["sigma"])
                assert durations.samples() == answers["bd_durations"]["samples"]
                assert [list(each) for each in durations.bins(int(memory[2:]))] == answer["bins"]
            options: dict[str, Any] = {"batch": int(batch[5:])}
            if bounded:
                options |= {"memory": int(memory[2:]), "durations": durations,
                            "resolver": "fifo" if kind == "naiveFIFO" else "published"}
            expected = answers["PIEC"] if answer["pmis"] == "same as PIEC" else answer
            check(intervals(probs, threshold, **options), expected["pmis"])
            credible = intervals(probs, threshold, credible=True, **options)
            assert closed(credible) == [row[:2] for row in expected["credible"]], key


def test_times_of_the_input(shared_data: Locate) -> None:
    """A stream with its own times: intervals are [start, end) in them."""
    name = "pre40_moving_id4_id5"
    case = golden(shared_data, name)
    found = intervals({"time": [case["t0"] + case["step"] * i for i in range(case["n"])],
                       "probability": np.loadtxt(shared_data(f"{FOLDER}/streams/{name}.csv.gz"), delimiter=",",
                                                 skiprows=1, usecols=1)}, 0.7)
    expected = [(case["t0"] + case["step"] * s, case["t0"] + case["step"] * (e + 1))
                for s, e in case["results"]["0.7"]["exact_decimal"]["pmis"]]
    assert found.pairs() == expected
