"""Headed CSV, JSON lines, Parquet, Arrow and tables in memory all give the same facts."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eventide.errors import InputError
from eventide.formats import Facts, column_values, facts_from, read_background, read_events
from eventide.formats.facts import Coded, Kind, Value, column_of, concat_columns, take

KINDS: dict[str, Kind] = {"enters": "event", "speed": "event", "mode": "point", "near": "interval"}


def plain(facts: Facts) -> dict[tuple[str, int], list[list[Value]]]:
    """The tables as lists: times, ends, values, arguments."""
    found = {}
    for key, t in facts.tables.items():
        columns: list[list[Value]] = [t.time.tolist()]
        columns += [t.end.tolist()] if t.end is not None else []
        found[key] = columns + [column_values(c) for c in ([t.value] if t.value is not None else []) + list(t.args)]
    return found


EVENTS = pa.table({
    "time": [1, 2, 3], "event": ["enters", "speed", "enters"], "vessel": [7, 8, 9], "what": ["port, old", "x", 'a"b'],
    "knots": [None, 1.5, None],
})
WANTED = {("enters", 2): [[1, 3], [7, 9], ["port, old", 'a"b']], ("speed", 3): [[2], [8], ["x"], [1.5]]}


def write_csv(table: pa.Table, path: Path) -> None:
    frame = io.StringIO()
    writer = csv.writer(frame)
    writer.writerow(table.column_names)
    writer.writerows([["" if v is None else v for v in row.values()] for row in table.to_pylist()])
    path.write_text(frame.getvalue(), newline="")


def write_jsonl(table: pa.Table, path: Path) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in table.to_pylist()))


WRITERS: dict[str, Callable[[pa.Table, Path], None]] = {
    "csv": write_csv, "jsonl": write_jsonl, "parquet": pq.write_table, "feather": feather.write_feather,
    "arrow": lambda table, path: path.write_bytes(_stream(table)),
}


def _stream(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()


@pytest.mark.parametrize("ending", WRITERS)
def test_every_file_format_gives_the_same_facts(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"events.{ending}"
    WRITERS[ending](EVENTS, path)
    assert plain(read_events(path, KINDS.get)) == WANTED


@pytest.mark.parametrize("convert", [lambda t: t, lambda t: t.to_pandas(), pl.from_arrow])
def test_every_table_in_memory_gives_the_same_facts(convert: Callable[[pa.Table], object]) -> None:
    assert plain(facts_from(convert(EVENTS), KINDS.get)) == WANTED


def test_a_table_per_name(tmp_path: Path) -> None:
    path = tmp_path / "e.csv"
    path.write_text("vessel,time,value\n7,1,2\n8,2,3\n")
    assert plain(read_events([f"enters={path}"], KINDS.get)) == {("enters", 2): [[1, 2], [7, 8], [2, 3]]}
    assert plain(read_events([f"mode={path}"], KINDS.get)) == {("mode", 1): [[1, 2], [2, 3], [7, 8]]}
    frames = {"enters": pd.DataFrame({"time": [1], "v": ["a"]}), "speed": pl.DataFrame({"time": [2], "v": [1.5]})}
    assert plain(facts_from(frames, KINDS.get)) == {("enters", 1): [[1], ["a"]], ("speed", 1): [[2], [1.5]]}


def test_events_points_and_intervals_in_one_table(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("time,event,end,value,v\n1,enters,,,7\n2,mode,,fast,7\n3,near,9,true,7\n")
    assert plain(read_events(path, KINDS.get)) == {
        ("enters", 1): [[1], [7]], ("mode", 1): [[2], ["fast"], [7]], ("near", 1): [[3], [9], ["true"], [7]],
    }


def test_optional_columns(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("time,event,v,arrival,probability,op\n1,enters,7,5,0.25,+\n2,enters,8,,,-\n")
    table = read_events(path, KINDS.get).tables["enters", 1]
    assert table.arrival is not None and table.probability is not None and table.op is not None
    assert (table.arrival.tolist(), table.probability.tolist(), table.op.tolist()) == ([5, 2], [0.25, 1.0], [1, -1])


@pytest.mark.parametrize(("fields", "values"), [
    (["1", "02"], [1, 2]), (["1", "2.5"], [1.0, 2.5]), (["1", "x"], ["1", "x"]), (["true", "false"], ["true", "false"]),
    (["2024-01-01", "2024-01-02"], ["2024-01-01", "2024-01-02"]), (["12:30:00", "x"], ["12:30:00", "x"]),
    (["12:30:00", "12:31:00"], ["12:30:00", "12:31:00"]), (["1e3", "2"], [1000.0, 2.0]), (['"1"', "x"], ["1", "x"]),
    (["9223372036854775807", "1"], [2**63 - 1, 1]), (["NA", "null"], ["NA", "null"]),
])
def test_headed_csv_is_typed_by_column(fields: list[str], values: list[Value], tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("time,event,x\n" + "".join(f"{i},enters,{f}\n" for i, f in enumerate(fields)))
    found = column_values(read_events(path, KINDS.get).tables["enters", 1].args[0])
    assert found == values and list(map(type, found)) == list(map(type, values))


def test_column_types_override(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("time,event,x,y\n1,enters,007,1\n")
    args = read_events(path, KINDS.get, column_types={"x": "text", "y": "float"}).tables["enters", 2].args
    assert [column_values(a) for a in args] == [["007"], [1.0]]
    path.write_text("speed|1|1|7\nspeed|2|2|7.5\n")
    table = read_events(path, KINDS.get, column_types={"speed/1": "float"}).tables["speed", 1]
    assert column_values(table.args[0]) == [7.0, 7.5]


MOMENT = datetime(2024, 5, 1, 12, 0, 0, tzinfo=UTC)
SECONDS = 1714564800


TEXTS = ["2024-05-01T12:00:00", "2024-05-01 12:00:00", "2024-05-01T14:00:00+02:00", f"{SECONDS}"]


@pytest.mark.parametrize("text", TEXTS)
def test_datetimes_in_text_become_ticks(text: str, tmp_path: Path) -> None:
    for file, rows in (("a.csv", f"time,event,v\n{text},enters,7\n"),
                       ("a.jsonl", json.dumps({"time": text, "event": "enters", "v": 7}) + "\n")):
        (tmp_path / file).write_text(rows)
        assert read_events(tmp_path / file, KINDS.get, time_unit="s").tables["enters", 1].time.tolist() == [SECONDS]


@pytest.mark.parametrize("kind", [pa.timestamp("s"), pa.timestamp("ns"), pa.timestamp("us", "Europe/Paris")])
def test_datetimes_in_columns_become_ticks(kind: pa.DataType) -> None:
    zone = UTC if kind.tz is None else timezone(timedelta(hours=2))
    moment = MOMENT.replace(tzinfo=None) if kind.tz is None else MOMENT.astimezone(zone)
    table = pa.table({"time": pa.array([moment], kind), "v": [1]})
    for unit, factor in (("s", 1), ("ms", 1000), ("us", 10**6), ("ns", 10**9)):
        facts = facts_from({"enters": table}, KINDS.get, time_unit=unit)  # type: ignore[arg-type]
        assert facts.tables["enters", 1].time.tolist() == [SECONDS * factor]


def test_parts_smaller_than_the_unit_are_bad_rows() -> None:
    table = pa.table({"time": pa.array([SECONDS * 1000 + 5], pa.timestamp("ms")), "v": [1]})
    with pytest.raises(InputError, match="smaller than the unit"):
        facts_from({"enters": table}, KINDS.get, time_unit="s")


def test_several_inputs_are_one(tmp_path: Path) -> None:
    one, two = tmp_path / "a.csv", tmp_path / "b.csv"
    one.write_text("enters|1|1|7|x\nenters|2|2|8|y\n")
    two.write_text("time,event,v,area\n3,enters,9,y\n4,enters,10,z\n")
    table = read_events([one, two], KINDS.get).tables["enters", 2]
    assert [column_values(a) for a in table.args] == [[7, 8, 9, 10], ["x", "y", "y", "z"]]
    assert table.args[1].values == ("x", "y", "z")  # type: ignore[union-attr]
    assert [table.place(i) for i in (0, 1, 2, 3)] == [(str(one), 1), (str(one), 2), (str(two), 2), (str(two), 3)]
    assert table.arrival is not None and table.arrival.tolist() == [1, 2, 3, 4]


def test_arities_of_the_program_allow_several_shapes(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("enters|1|1|7\nenters|2|2|8|y\n")
    assert set(read_events(path, KINDS.get, arities=lambda name: {1, 2}).tables) == {("enters", 1), ("enters", 2)}


def test_empty_inputs_have_no_facts(tmp_path: Path) -> None:
    for file, text in (("a.csv", ""), ("b.csv", "time,event,x\n"), ("c.jsonl", ""), ("d.csv", "\n\n")):
        (tmp_path / file).write_text(text)
    assert len(read_events([tmp_path / "a.csv", tmp_path / "b.csv", tmp_path / "d.csv"], KINDS.get)) == 0


def test_background(tmp_path: Path) -> None:
    path = tmp_path / "vesselType.csv"
    path.write_text("vessel,type\n7,tug\n8,cargo\n")
    for spec in (path, f"vesselType={path}", {"vesselType": pl.read_csv(path)}):
        relation, = read_background(spec)
        assert (relation.name, relation.column_names) == ("vesselType", ("vessel", "type"))
        assert [column_values(c) for c in relation.columns] == [[7, 8], ["tug", "cargo"]]


values = st.one_of(st.integers(-(2**70), 2**70), st.floats(allow_nan=False), st.text(max_size=3), st.integers(0, 3))


def exact(found: list[Value]) -> list[tuple[type, str]]:
    return [(type(v), repr(v)) for v in found]


@given(st.lists(values), st.lists(values), st.data())
def test_columns_keep_values_exactly(first: list[Value], second: list[Value], data: st.DataObject) -> None:
    a, b = column_of(first), column_of(second)
    assert exact(column_values(a)) == exact(first)
    assert exact(column_values(concat_columns([a, b]))) == exact(first + second)
    rows = data.draw(st.lists(st.integers(0, len(first) - 1))) if first else []
    part = take(a, np.array(rows, np.int64))
    assert exact(column_values(part)) == exact([first[i] for i in rows])
    if isinstance(part, Coded):
        assert set(part.codes.tolist()) == set(range(len(part.values)))


whole = st.integers(-(2**63), 2**63 - 1)
texts = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), min_size=1, max_size=5)


@given(st.lists(st.tuples(whole, whole, texts.map("_{}".format)), min_size=1))
def test_csv_and_json_round_trip(tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[int, int, str]]) -> None:
    folder = tmp_path_factory.mktemp("round")
    with (folder / "a.csv").open("w", newline="", encoding="utf-8") as out:
        csv.writer(out).writerows([("time", "event", "n", "text"), *((t, "speed", n, x) for t, n, x in rows)])
    (folder / "a.jsonl").write_text("".join(
        json.dumps({"time": t, "event": "speed", "n": n, "text": x}) + "\n" for t, n, x in rows
    ))
    for file in ("a.csv", "a.jsonl"):
        found = plain(read_events(folder / file, KINDS.get))["speed", 2]
        assert [list(c) for c in zip(*rows, strict=True)] == found
