"""What may come in, and what is said about input that may not."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import eventide as ev
from eventide.errors import InputError
from eventide.probability import Durations, Recogniser, intervals

PROBS = [0.0, 0.5, 0.7, 0.9, 0.4, 0.1]
COLUMNS: dict[str, list[Any]] = {"time": [1, 2, 3, 4, 5, 6], "who": ["a"] * 6, "probability": PROBS}
PAIRS = [(1, 6), (2, 7)]


@pytest.mark.parametrize("source", [
    COLUMNS, pa.table(COLUMNS), pd.DataFrame(COLUMNS), pl.DataFrame(COLUMNS), pa.table(COLUMNS).to_batches()[0],
])
def test_tables(source: object) -> None:
    found = ev.probability.intervals(source, threshold=0.5)
    assert found.pairs() == PAIRS
    assert list(found) == [("a", 1, 6, 0.5), ("a", 2, 7, 0.52)]
    assert found.to_arrow().to_pylist()[0] == {
        "fluent": "situation", "args": "a", "value": "true", "start": 1, "end": 6, "probability": 0.5}


def test_the_call_of_the_interface() -> None:
    assert ev.probability.intervals(PROBS, threshold=0.5, memory=50, durations=(411, 22)).pairs() == [(0, 5), (1, 6)]


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "jsonl", "parquet", "arrow"])
def test_files(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"probs.{ending}"
    frame = pl.DataFrame(COLUMNS)
    if ending == "csv.gz":
        frame.to_pandas().to_csv(path, index=False)
    else:
        write = {"csv": frame.write_csv, "jsonl": frame.write_ndjson, "parquet": frame.write_parquet,
                 "arrow": frame.write_ipc}[ending]
        write(path)
    assert intervals(path, threshold=0.5).pairs() == PAIRS


@pytest.mark.parametrize("probs", [[], np.empty(0), {}, {"a": []}, {"time": [], "probability": []}])
def test_nothing(probs: object) -> None:
    assert intervals(probs).pairs() == []
    assert Recogniser(memory=3).advance(probs).added.pairs() == []


def test_columns_of_results_name_streams() -> None:
    found = intervals({"fluent": ["f", "g"], "args": ["a|b", "c"], "value": ["v", "true"], "time": [4, 4],
                       "prob": [1.0, 0.5]})
    assert found.to_arrow().select(["fluent", "args", "value"]).to_pylist() == [
        {"fluent": "f", "args": "a|b", "value": "v"}, {"fluent": "g", "args": "c", "value": "true"}]


@pytest.mark.parametrize(("threshold", "pairs"), [
    (0.7, [(0, 2)]), ("0.7", [(0, 2)]), (Decimal("0.7"), [(0, 2)]), (Fraction(7, 10), [(0, 2)]), (1, [(1, 2)]),
    (0, [(0, 3)]), (np.float64(0.7), [(0, 2)]),
])
def test_thresholds(threshold: Any, pairs: list[tuple[int, int]]) -> None:
    assert intervals([0.4, 1.0, 0.0], threshold).pairs() == pairs


def test_thirds_are_thirds() -> None:
    assert intervals([1.0, 1.0, 0.0], 2 / 3).pairs() == [(0, 3)]
    assert intervals([0.5, 0.499999999999999], 0.5).pairs() == [(0, 1)]


@pytest.mark.parametrize(("columns", "options", "words"), [
    ({"probability": [0.5, 1.5]}, {}, ["1.5 is no probability", "0 to 1", ":2:"]),
    ({"probability": [0.5, -0.1]}, {}, ["-0.1 is no probability", ":2:"]),
    ({"probability": [0.5, float("nan")]}, {}, ["nan is no probability"]),
    ({"probability": [0.5, None]}, {}, ["there is no probability"]),
    ({"probability": ["0.5", "much"]}, {}, [":2:", "much is no probability"]),
    ({"probability": [True, False]}, {}, ["True is no probability"]),
    ({"time": [3, 3]}, {}, ["time-point 3 has a probability already", "keep one row"]),
    ({"time": [3, None]}, {}, ["no time"]),
    ({"time": [1.5, 2.0]}, {}, ["1.5 is not a whole number"]),
    ({"time": [3, 6]}, {"step": 1}, ["before time-point 6 2 are missing", "hold", "zero", "split"]),
    ({"time": [3, 6]}, {"step": 2}, ["is 3 after the one before it", "--step"]),
    ({"time": [0, 2**40]}, {"step": 1, "gaps": "hold"}, ["with all gaps filled", "--gaps split"]),
    ({"time": None}, {}, ["there is no column time", "there are: probability"]),
    ({}, {"threshold": 1.5}, ["threshold is 1.5", "0 to 1"]),
    ({}, {"threshold": "high"}, ["threshold is high"]),
    ({}, {"threshold": float("nan")}, ["threshold is nan"]),
    ({}, {"memory": -1}, ["memory is -1"]),
    ({}, {"memory": 5, "batch": 0}, ["batch is 0"]),
    ({}, {"durations": (4, 1)}, ["give a memory"]),
    ({}, {"memory": 5, "durations": (0, 1)}, ["no durations with mean 0"]),
    ({}, {"memory": 5, "durations": (4,)}, ["(411, 22)"]),
    ({}, {"memory": 5, "durations": (4, 1), "resolver": "fifo"}, ["fifo makes no use of durations"]),
    ({}, {"memory": 5, "resolver": "best"}, ["known are thesis, published and fifo"]),
    ({}, {"gaps": "ignore"}, ["known are fail, hold, zero and split"]),
])
def test_wrong(columns: dict[str, Any], options: dict[str, Any], words: list[str]) -> None:
    given = {name: values for name, values in ({"time": [3, 4], "probability": [0.5, 0.5]} | columns).items()
             if values is not None}
    with pytest.raises(InputError) as raised:
        intervals(given, **options)
    for word in words:
        assert word in str(raised.value)


@pytest.mark.parametrize("source", ["probs.txt", "absent.csv", 7, [[0.5]], ["x"], {"a": "word"}])
def test_no_probabilities_at_all(source: object) -> None:
    with pytest.raises(InputError):
        intervals(source)


def test_lists_name_the_point() -> None:
    with pytest.raises(InputError, match=r"point 1 of b: 2\.0 is no probability"):
        intervals({"a": [0.5], "b": [0.1, 2.0]})


GAP = {"time": [0, 10, 40, 50], "probability": [0.6, 0.6, 0.9, 0.3]}


@pytest.mark.parametrize(("gaps", "pairs"), [
    ("hold", [(0, 60)]), ("zero", [(0, 20), (40, 60)]), ("split", [(0, 20), (40, 60)]),
])
def test_gaps(gaps: Any, pairs: list[tuple[int, int]]) -> None:
    assert intervals(GAP, 0.55, gaps=gaps).pairs() == pairs
    stream = Recogniser(0.55, step=10, gaps=gaps)
    for i in range(4):  # the same when each point comes alone
        stream.advance({name: values[i : i + 1] for name, values in GAP.items()})
    assert stream.intervals().pairs() == pairs
    assert Recogniser.restore(stream.save()).intervals().pairs() == pairs


def test_late_points() -> None:
    stream = Recogniser(0.5)
    stream.advance({"time": [5], "probability": [0.5]})
    state = stream.save()
    with pytest.raises(InputError, match="time-point 5 comes too late: the stream is at 5"):
        stream.advance({"time": [5], "probability": [0.7]})
    with pytest.raises(InputError, match="named by nothing so far, and now by who"):
        stream.advance({"time": [6], "who": ["a"], "probability": [0.7]})
    assert stream.save() == state


def test_streams_by_name() -> None:
    stream = Recogniser(0.5)
    stream.advance({"a": [0.5], "b": [0.1]})
    stream.advance({"c": [1.0], "a": [0.4]})
    assert [row[:3] for row in stream.intervals()] == [("a", 0, 1), ("c", 0, 1)]
    assert [time for time, _ in stream.support("b")] == [0]
    with pytest.raises(InputError, match="there is no stream"):
        stream.support("d")


def test_times_as_dates() -> None:
    found = intervals({"time": pd.to_datetime(["2024-01-01T00:00:00", "2024-01-01T00:00:01"]),
                       "probability": [0.5, 0.6]}, time_unit="s")
    assert found.pairs() == [(1704067200, 1704067202)]


def test_saved_bytes_are_checked() -> None:
    state = Recogniser(0.5, 3, (5, 2)).save()
    with pytest.raises(InputError, match="no saved recogniser"):
        Recogniser.restore(b"something else")
    with pytest.raises(InputError, match="damaged"):
        Recogniser.restore(state[:-1])


def test_durations_are_stored(tmp_path: Path) -> None:
    known = Durations.of([5, 5, 3, 9])
    known.save(tmp_path / "durations.json")
    assert Durations.load(tmp_path / "durations.json") == known
    path = str(tmp_path / "durations.json")
    assert list(intervals(PROBS * 9, memory=3, durations=path)) == list(intervals(PROBS * 9, memory=3, durations=known))
    (tmp_path / "other.json").write_text("[]")
    for name in ("other.json", "absent.json"):
        with pytest.raises(InputError):
            Durations.load(tmp_path / name)
    with pytest.raises(InputError, match="can be learned from"):
        Durations.of([])
