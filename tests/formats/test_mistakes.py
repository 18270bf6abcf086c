"""Wrong input: each mistake is reported with file, line, column, what was expected and, where it helps, a hint."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from eventide.errors import InputError
from eventide.formats import facts_from, read_background, read_events
from eventide.formats.facts import Kind

KINDS: dict[str, Kind] = {"e": "event", "p": "point", "i": "interval", "velocity": "event"}

# a file's name and text; then line, column, code and a part of the message
MISTAKES: list[tuple[str, str, int, int, str, str]] = [
    ("a.csv", "e|1|1|a\nveloctiy|2|2|7\n", 2, 1, "unknown-name", "the program does not know veloctiy"),
    ("a.csv", "e|1|1|a\n\ne|2||b\n", 3, 5, "empty-field", "field 3 is empty"),
    ("a.csv", "e|1|1|a|\n", 1, 9, "empty-field", "field 5 is empty"),
    ("a.csv", "e|1|1|a\ne|1\n", 2, 4, "missing-field", "expected name|arrival|occurrence|arguments…, got 2 fields"),
    ("a.csv", "p|1|1\n", 1, 6, "missing-field", "a fluent given by points"),
    ("a.csv", "i|1|1|5\n", 1, 8, "missing-field", "expected name|arrival|start|end|value|arguments…"),
    ("a.csv", "e|1|1|a\ne|1|1|a\ne|1|1|a|b\n", 3, 9, "wrong-arity", "e has 2 arguments here, expected 1 argument"),
    ("a.csv", "e|1|1|a|b\ne|1|1|a|b\ne|1|1|é\n", 3, 8, "wrong-arity", "e has 1 argument here, expected 2 arguments"),
    ("a.csv", "e|1|1|a\ne|1|x5|b\n", 2, 5, "bad-time", "occurrence is 'x5', expected a whole number"),
    ("a.csv", "e|1.5|1|a\n", 1, 3, "bad-time", "arrival is '1.5'"),
    ("a.csv", "i|1|1|later|true|a\n", 1, 7, "bad-time", "end is 'later'"),
    ("a.csv", "e|1|9223372036854775808|a\n", 1, 5, "time-overflow", "9223372036854775808 does not fit 64 bits"),
    ("a.csv", "i|9|5|5|true|a\n", 1, 7, "empty-interval", "the interval ends at 5, not after its start 5"),
    ("a.csv", "e;1;1;a\n", 1, 1, "unknown-form", "neither a header nor a row in RTEC's form"),
    ("b.csv", "time,event,x\n1,e,a\n2,speed,a\n", 3, 3, "unknown-name", "the program does not know speed"),
    ("b.csv", "time,event,x\n1,e,a\n2,e\n", 3, 1, "ragged-row", "the row has 2 fields, the header 3"),
    ("b.csv", 'time,event,x\n1,e,"a,\nb"\nsoon,e,a\n', 4, 1, "bad-time", "time is 'soon', which is not a whole number"),
    ("b.csv", "event,time,x\ne,1,a\ne,,a\n", 3, 3, "empty-field", "time is empty"),
    ("b.csv", "time,event,x\n1,,a\n", 2, 3, "empty-field", "event is empty"),
    ("b.csv", "time,event,x,y\n1,e,,a\n", 2, 5, "empty-field", "argument x is empty"),
    ("b.csv", "time,event,x,y\n1,e,a,b\n2,e,a,b\n3,e,c,\n", 4, 7, "wrong-arity", "e has 1 argument here, expected 2"),
    ("b.csv", "time,event,x\n99999999999999999999,e,a\n", 2, 1, "time-overflow", "does not fit 64 bits"),
    ("b.csv", "time,event,x\n2024-01-01,e,a\n", 2, 1, "bad-time", "no unit of time is declared"),
    ("b.csv", "time,event,probability,x\n1,e,1.5,a\n", 2, 5, "bad-probability", "not a number from 0 to 1"),
    ("b.csv", "time,event,x,op\n1,e,a,?\n", 2, 7, "bad-op", "op is neither + nor -"),
    ("b.csv", "time,event,value,x\n1,p,,a\n", 2, 5, "wrong-kind", "value is empty, but p is a fluent given by points"),
    ("b.csv", "time,event,value,x\n1,p,1,a\n2,e,3,a\n", 3, 5, "wrong-kind", "value is not empty, but e is an event"),
    ("b.csv", "time,event,x\n1,p,a\n", 1, 1, "missing-column", "there is no column value"),
    ("b.csv", "time,event,end,value,x\n5,i,5,true,a\n", 2, 5, "empty-interval", "the interval ends at 5"),
    ("b.csv", "time,evnt,x\n1,e,a\n", 1, 1, "missing-column", "no column event; the columns are time, evnt, x"),
    ("b.csv", "event,when,x\ne,1,a\n", 1, 1, "unknown-form", "neither a header"),
    ("b.csv", "time,event,x,x\n1,e,a,b\n", 1, 4, "repeated-column", "two columns are called 'x'"),
    ("b.csv", 'time,event,x\n1,e,a\n2,e,"b\n3,e,c\n', 3, 5, "bad-csv", "the quotation mark is never closed"),
    ("c.jsonl", '{"time": 1, "event": "e"}\n{"time": 2, "event" "e"}\n', 2, 21, "bad-json", "no JSON"),
    ("c.jsonl", "[1, 2]\n", 1, 1, "bad-json", "the line is no JSON object"),
    ("c.jsonl", '{"time": true, "event": "e"}\n', 1, 2, "bad-time", "time is 'True'"),
    ("c.jsonl", '{"time": 1, "event": "e", "x": [1]}\n', 1, 1, "bad-json", "x is a list or an object"),
    ("d.txt", "e|1|1|a\n", 1, 1, "unknown-ending", "the ending does not say what the file is"),
    ("d.parquet", "e|1|1|a\n", 1, 1, "broken-file", "no Parquet file"),
    ("d.arrow", "e|1|1|a\n", 1, 1, "broken-file", "no Arrow file"),
]


def first_problem(read: Callable[[], object]) -> tuple[str, int, int, str, str, str | None]:
    with pytest.raises(InputError) as caught:
        read()
    problem = caught.value.diagnostics[0]
    assert problem.span is not None and problem.message in str(caught.value)
    return problem.span.source, problem.span.line, problem.span.column, problem.code, problem.message, problem.hint


@pytest.mark.parametrize(("file", "text", "line", "column", "code", "message"), MISTAKES)
def test_a_mistake_is_reported_at_its_place(
    file: str, text: str, line: int, column: int, code: str, message: str, tmp_path: Path
) -> None:
    path = tmp_path / file
    path.write_text(text, encoding="utf-8")
    found = first_problem(lambda: read_events(path, KINDS.get))
    assert found[:4] == (str(path), line, column, code) and message in found[4]


def test_names_are_corrected(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("veloctiy|2|2|7\n")
    assert first_problem(lambda: read_events(path, KINDS.get, names=KINDS))[5] == "did you mean velocity?"


@pytest.mark.parametrize(("text", "hint"), [
    ("timestamp,who\n5,ann\n", "rename the column timestamp to time"),
    ("Time,who\n5,ann\n", "rename the column Time to time"),
    ("time;who\n5;ann\n", "separate the fields by commas, not by ';'"),
    ("time\twho\n5\tann\n", "separate the fields by commas, not by tabs"),
    ("when,who\n5,ann\n", "rename the column with the times"),
    ("time,who\n14/06/2025,ann\n", "times are whole numbers, or dates such as 2025-06-14 08:10:00 with a unit "
                                     '(--time-unit s, or time_unit="s")'),
])
def test_a_table_of_ones_own_as_it_comes(text: str, hint: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_text(text)
    assert first_problem(lambda: read_events(f"e={path}", KINDS.get, time_unit="s"))[5] == hint


def test_few_names_are_told(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("sensor|2|2|7\n")
    hint = first_problem(lambda: read_events(path, KINDS.get, names=KINDS))[5]
    assert hint is not None and hint.endswith("it reads e, i, p, velocity")


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    absent = first_problem(lambda: read_events(tmp_path / "no.csv", KINDS.get))
    assert absent[3] == "cannot-read" and "No such file" in absent[4]
    assert "does not exist" in (first_problem(lambda: read_events(tmp_path / "no" / "a.csv", KINDS.get))[5] or "")
    assert first_problem(lambda: read_events(tmp_path / "no.parquet", KINDS.get))[3] == "cannot-read"


def test_a_truncated_or_damaged_gzip(tmp_path: Path) -> None:
    packed = gzip.compress("".join(f"e|{i}|{i}|{i * 7919}\n" for i in range(5000)).encode())
    path = tmp_path / "a.csv.gz"
    path.write_bytes(packed[: len(packed) // 2])
    _, line, _, code, message, hint = first_problem(lambda: read_events(path, KINDS.get))
    assert code == "broken-gzip" and 1 < line < 5000 and "cut off" in message and "again" in (hint or "")
    path.write_bytes(b"e|1|1|a\n")
    assert first_problem(lambda: read_events(path, KINDS.get))[3] == "broken-gzip"


def test_bytes_that_are_not_utf_8(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes("e|1|1|é\ne|2|2|é".encode() + b"\xe9\n")
    assert first_problem(lambda: read_events(path, KINDS.get))[1:4] == (2, 8, "not-utf-8")
    path.write_bytes("e|1|1|a\n".encode("utf-16"))
    assert "UTF-16" in first_problem(lambda: read_events(path, KINDS.get))[4]


def test_bad_rows_can_be_skipped_and_kept(tmp_path: Path) -> None:
    path, kept = tmp_path / "a.csv", tmp_path / "bad.csv"
    path.write_text('e|1|1|a\nx|2|2|"b"\ne|3|3\ne|4|4|d\n')
    facts = read_events(path, KINDS.get, bad_rows="skip", bad_file=kept)
    assert facts.tables["e", 1].time.tolist() == [1, 4]
    assert (facts.bad_count, facts.rows_read, [b.text for b in facts.bad]) == (2, 4, ['x|2|2|"b"', "e|3|3"])
    assert kept.read_text().splitlines()[:2] == [
        "file,line,column,problem,row", f'{path},2,1,the program does not know x,"x|2|2|""b"""',
    ]


def test_many_bad_rows_are_summed_up(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("x|1|1\n" * 500)
    with pytest.raises(InputError, match="and 480 more bad rows") as caught:
        read_events(path, KINDS.get)
    assert len(caught.value.diagnostics) == 20


def test_declared_types_are_kept_to(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("e|1|1|2\ne|2|2|2.5\ne|3|3|fast\n")
    found = first_problem(lambda: read_events(path, KINDS.get, column_types={"e/1": "float"}))
    assert found[1:5] == (3, 7, "wrong-type", "'fast' is no float, as this column is declared")
    path.write_text("time,event,x\n1,e,2\n2,e,b\n")
    assert first_problem(lambda: read_events(path, KINDS.get, column_types={"x": "int"}))[1:4] == (3, 5, "wrong-type")


def test_settings_and_sources_that_do_not_exist() -> None:
    with pytest.raises(InputError, match="bad_rows is 'ignore'"):
        read_events([], KINDS.get, bad_rows="ignore")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="time_unit is 'h'"):
        read_events([], KINDS.get, time_unit="h")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="the type of column x is 'number'"):
        read_events([], KINDS.get, column_types={"x": "number"})  # type: ignore[dict-item]
    with pytest.raises(InputError, match="cannot read events from a int"):
        facts_from(7, KINDS.get)


def test_types_that_arguments_cannot_have(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"time": [1], "x": [[1, 2]]}), path)
    found = first_problem(lambda: read_events(f"e={path}", KINDS.get))
    assert found[1:4] == (1, 2, "unsupported-type") and "list" in found[4]


def test_background_needs_every_argument(tmp_path: Path) -> None:
    path = tmp_path / "port.csv"
    path.write_text("id,name\n1,Brest\n2,\n")
    assert first_problem(lambda: read_background(f"port={path}"))[1:5] == (3, 3, "empty-field", "name is empty")
    assert first_problem(lambda: read_background("port=ports.doc"))[3] == "unknown-ending"


@pytest.mark.parametrize("mark, name", [(";", "semicolons"), ("\t", "tabs")])
def test_other_separators_get_a_hint(mark: str, name: str, tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_text("time,event,x\n1,e,a\n".replace(",", mark))
    with pytest.raises(InputError, match=f"the fields are separated by {name}; expected commas"):
        read_events(file, KINDS.get)


def test_column_types_of_columns_that_there_are_not(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_text("time,event,code\n1,e,7\n")
    with pytest.raises(InputError, match="names the column cod, which there is not; did you mean code"):
        read_events(file, KINDS.get, column_types={"cod": "text"})
    file.write_text("e|1|1|7\n")
    assert read_events(file, KINDS.get, column_types={"e/1": "int"}).rows_read == 1
    with pytest.raises(InputError, match="names the column f/1, which there is not; the columns are none"):
        read_events(file, KINDS.get, column_types={"f/1": "int"})
