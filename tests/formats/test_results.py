"""Results on disk: columns, order and text are those of the interface, and a file is whole or absent."""

from __future__ import annotations

import csv
import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eventide.errors import InputError
from eventide.formats import results as module
from eventide.formats import write_intervals


def table(rows: list[tuple[object, ...]]) -> pa.Table:
    names = ["fluent", "args", "value", "start", "end"]
    types = [pa.string(), pa.string(), pa.string(), pa.int64(), pa.int64()]
    columns = list(zip(*rows, strict=True)) if rows else [[]] * 5
    return pa.table({n: pa.array(list(c), t) for n, c, t in zip(names, columns, types, strict=True)})


ROWS: list[tuple[object, ...]] = [
    ("g", "a", "true", 10, 12), ("f", "b", "true", 10, None), ("f", "b", "true", 9, 11), ("f", "b", "true", 10, 90),
    ("f", "a|close(3,x)", "1.5", -5, 3), ("f", 'say "hi"', "", 1, 2),
]
CSV = '''fluent,args,value,start,end
f,"a|close(3,x)",1.5,-5,3
f,b,true,9,11
f,b,true,10,90
f,b,true,10,
f,"say ""hi""",,1,2
g,a,true,10,12
'''


def test_csv_is_sorted_with_open_ends_last(tmp_path: Path) -> None:
    write_intervals(table(ROWS), tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == CSV
    assert [p.name for p in tmp_path.iterdir()] == ["out.csv"]


def test_json_and_parquet_hold_the_same_rows(tmp_path: Path) -> None:
    write_intervals(table(ROWS), tmp_path / "out.jsonl")
    write_intervals(table(ROWS), tmp_path / "out.parquet")
    lines = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert lines == pq.read_table(tmp_path / "out.parquet").to_pylist()
    assert lines[0] == {"fluent": "f", "args": "a|close(3,x)", "value": "1.5", "start": -5, "end": 3}
    assert lines[3]["end"] is None
    assert [str(f.type) for f in pq.read_schema(tmp_path / "out.parquet")] == ["string"] * 3 + ["int64"] * 2


def test_columns_of_windows_and_changes_come_first(tmp_path: Path) -> None:
    given_rows = table(ROWS[:2]).append_column("change", [["+", "-"]]).append_column("query_time", [[100, 20]])
    write_intervals(given_rows.append_column("probability", [[0.1, 1.0]]), tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text().splitlines() == [
        "query_time,change,fluent,args,value,start,end,probability",
        "20,-,f,b,true,10,,1.0",
        "100,+,g,a,true,10,12,0.1",
    ]


def test_floats_print_in_their_shortest_exact_form(tmp_path: Path) -> None:
    rows = table(ROWS[:3]).set_column(2, "value", pa.array([0.1, 1e22, 2.0]))
    write_intervals(rows, tmp_path / "out.csv")
    assert [r["value"] for r in csv.DictReader((tmp_path / "out.csv").open())] == ["1e+22", "2.0", "0.1"]


def test_rational_times_sort_as_numbers(tmp_path: Path) -> None:
    rows = pa.table({"fluent": ["p"] * 4, "args": ["a"] * 4, "value": ["true"] * 4, "start": ["10", "7/3", "-inf", "9"],
                     "end": ["11", "5/2", "0", None], "left": ["closed"] * 4, "right": ["open"] * 4})
    write_intervals(rows, tmp_path / "out.csv")
    assert [r["start"] for r in csv.DictReader((tmp_path / "out.csv").open())] == ["-inf", "7/3", "9", "10"]
    assert Fraction("7/3") < 9


def test_no_rows(tmp_path: Path) -> None:
    for ending in (".csv", ".jsonl", ".parquet"):
        write_intervals(table([]), tmp_path / f"out{ending}")
    assert (tmp_path / "out.csv").read_text() == "fluent,args,value,start,end\n"
    assert (tmp_path / "out.jsonl").read_text() == ""
    assert pq.read_table(tmp_path / "out.parquet").num_rows == 0


texts = st.text(st.characters(codec="utf-8"), max_size=4)
times = st.integers(-(2**63), 2**63 - 1) | st.integers(-3, 3)


@given(st.lists(st.tuples(texts, texts, texts, times, st.none() | times)), st.booleans())
def test_rows_come_back_in_order(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str, str, int, int | None]], coded: bool
) -> None:
    folder = tmp_path_factory.mktemp("results")
    wanted = sorted(rows, key=lambda r: (*r[:4], r[4] is None, r[4] or 0))
    given_rows = table(list(rows))
    if coded:
        given_rows = given_rows.set_column(1, "args", given_rows["args"].dictionary_encode())
    for ending in ("csv", "jsonl", "parquet"):
        write_intervals(given_rows, folder / f"out.{ending}")
    assert [tuple(r.values()) for r in pq.read_table(folder / "out.parquet").to_pylist()] == wanted
    lines = (folder / "out.jsonl").read_text(encoding="utf-8").split("\n")[:-1]
    assert [tuple(json.loads(line).values()) for line in lines] == wanted
    with (folder / "out.csv").open(newline="", encoding="utf-8") as file:
        assert list(csv.reader(file))[1:] == [[*r[:3], str(r[3]), "" if r[4] is None else str(r[4])] for r in wanted]


def test_targets_that_cannot_be_written(tmp_path: Path) -> None:
    for path, code, hint in (
        (tmp_path / "out.xlsx", "unknown-ending", ".csv, .parquet, .jsonl"),
        (tmp_path / "no" / "out.csv", "missing-folder", "mkdir -p"),
    ):
        with pytest.raises(InputError) as caught:
            write_intervals(table(ROWS), path)
        problem = caught.value.diagnostics[0]
        assert problem.code == code and problem.span.source == str(path) and hint in (problem.hint or "")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(InputError, match="this is a folder"):
        write_intervals(table(ROWS), tmp_path / "folder.csv")
    with pytest.raises(InputError, match="end is missing"):
        write_intervals(table(ROWS).drop_columns(["end"]), tmp_path / "out.csv")


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError(28, "No space left on device"), MemoryError])
def test_an_interruption_leaves_the_old_file(
    error: BaseException, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "out.csv"
    target.write_text("old")

    def fail(columns: object, out: object) -> None:
        out.write(b"half")  # type: ignore[attr-defined]
        raise error

    monkeypatch.setitem(module.WRITERS, ".csv", fail)
    with pytest.raises((KeyboardInterrupt, InputError, MemoryError)):
        write_intervals(table(ROWS), target)
    assert [(p.name, p.read_text()) for p in tmp_path.iterdir()] == [("out.csv", "old")]


def test_many_rows_are_written_in_order(tmp_path: Path) -> None:
    rng, n = np.random.default_rng(1), 50_000
    start = rng.integers(0, 10**6, n)
    ids = pa.array([str(i) for i in range(20_000)])
    rows = pa.table({
        "fluent": pa.array(["stopped", "gap", "trawling"]).take(pa.array(rng.integers(0, 3, n))),
        "args": ids.take(pa.array(rng.integers(0, 20_000, n))), "value": pa.array(["true"] * n),
        "start": start, "end": pa.array(start + 5, mask=rng.random(n) < 0.1),
    })
    write_intervals(rows, tmp_path / "out.csv")
    with (tmp_path / "out.csv").open(newline="") as text:
        found = [(r["fluent"], r["args"], r["value"], int(r["start"]), int(r["end"] or 10**9))
                 for r in csv.DictReader(text)]
    assert len(found) == n and found == sorted(found)
