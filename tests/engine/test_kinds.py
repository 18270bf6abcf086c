"""Tests of what a value is, in columns with numbers and words: every form of file gives the same answer."""

from __future__ import annotations

from pathlib import Path

import pytest

import eventide as ev

FILES = {
    "a.csv": "time,event,room,v\n8,report,a,7\n9,report,b,ok\n10,report,c,2\n",
    "rtec.csv": "report|8|8|a|7\nreport|9|9|b|ok\nreport|10|10|c|2\n",
    "a.jsonl": '{"time": 8, "event": "report", "room": "a", "v": 7}\n'
               '{"time": 9, "event": "report", "room": "b", "v": "ok"}\n'
               '{"time": 10, "event": "report", "room": "c", "v": 2}\n',
}
REPORT = "initiatedAt(f(X)=true, T) :- happensAt(report(X, V), T), "


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize(("test", "rooms"), [
    ("number(V)", "ac"), ("atom(V)", "b"), ("integer(V)", "ac"), ("float(V)", ""), ("\\+ number(V)", "b"),
    ("number(V), V > 5", "a"), ("V \\= ok, V > 5", "a"), ("(number(V), !, V > 5 ; V = ok)", "ab"),
    ("(atom(V) -> V = ok ; V < 5)", "bc"),
])
def test_a_column_with_numbers_and_words(file: str, test: str, rooms: str, tmp_path: Path) -> None:
    (tmp_path / file).write_text(FILES[file])
    found = ev.parse(f"{REPORT}{test}.").run(tmp_path / file).timeline()
    assert sorted(found) == [f"f({room})=true" for room in rooms]


def test_equal_numbers_that_are_written_differently_are_one_value(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("time,event,room,v\n8,report,a,7\n9,report,b,ok\n10,report,c,07\n")
    found = ev.parse("initiatedAt(f(V)=true, T) :- happensAt(report(X, V), T), number(V).").run(tmp_path / "a.csv")
    assert found.timeline() == {"f(7)=true": [(9, None)]}
