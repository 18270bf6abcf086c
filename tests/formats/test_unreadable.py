"""Values that cannot be read are bad rows with their place, in every format and language; the others are facts."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import eventide as ev
from eventide.errors import InputError
from eventide.formats.files import text_of
from eventide.spark.records import Piece, piece_facts

RULES = "initiatedAt(f(X)=true, T) :- happensAt(e(X, V), T), V > 3."
BIG = 2**63
GOOD = [{"time": 1, "event": "e", "x": "a", "v": 5}, {"time": 9, "event": "e", "x": "c", "v": 7}]
HEAD = b"time,event,x,v\n1,e,a,5\n"
OBJECT = json.dumps(GOOD[0]).encode() + b"\n"

FILES = {
    "a number in RTEC's form": ("a.csv", b"e|1|1|a|5\ne|2|2|b|%d\ne|9|9|c|7\n" % BIG, 2, 9, "value-overflow"),
    "a negative one": ("a.csv", b"e|1|1|a|5\ne|2|2|b|-%d\ne|9|9|c|7\n" % (BIG + 1), 2, 9, "value-overflow"),
    "no UTF-8": ("a.csv", b"e|1|1|a|5\ne|2|2|\xc3\xa9\xff|9\ne|9|9|c|7\n", 2, 8, "not-utf-8"),
    "NUL": ("a.csv", b"e|1|1|a|5\ne|2|2|b\0|9\ne|9|9|c|7\n", 2, 8, "bad-text"),
    "the first row": ("a.csv", b"e|2|2|\xff|9\ne|1|1|a|5\ne|9|9|c|7\n", 1, 7, "not-utf-8"),
    "a number below a header": ("a.csv", HEAD + b"2,e,b,%d\n9,e,c,7\n" % BIG, 3, 7, "value-overflow"),
    "no UTF-8 below a header": ("a.csv", HEAD + b"2,e,\xff,9\n9,e,c,7\n", 3, 5, "not-utf-8"),
    "a number in JSON": ("a.jsonl", OBJECT + b'{"time":2,"event":"e","x":"b","v":%d}\n' % BIG, 2, 31, "value-overflow"),
    "half a character in JSON": ("a.jsonl", OBJECT + b'{"time":2,"event":"e","x":"\\ud800","v":9}\n', 2, 23,
                                 "bad-text"),
    "NUL in JSON": ("a.jsonl", OBJECT + b'{"time":2,"event":"e","x":"\\u0000","v":9}\n', 2, 23, "bad-text"),
    "no UTF-8 in JSON": ("a.jsonl", OBJECT + b'{"time":2,"event":"e","x":"\xff","v":9}\n', 2, 28, "not-utf-8"),
    "half a character in a name": ("a.jsonl", OBJECT + b'{"time":2,"event":"\\ud800","x":"b","v":9}\n', 2, 11,
                                   "unknown-name"),
}


def begun(source: object, **options: Any) -> set[str]:
    """Whom the rules are about."""
    return {row["args"] for row in ev.parse(RULES).run(source, **options).to_arrow().to_pylist()}


@pytest.mark.parametrize(("name", "content", "line", "column", "code"), FILES.values(), ids=FILES)
def test_files(name: str, content: bytes, line: int, column: int, code: str, tmp_path: Path) -> None:
    file, bad = tmp_path / name, tmp_path / "bad.csv"
    file.write_bytes(content)
    with pytest.raises(InputError) as caught:
        begun(file)
    assert f"{name}:{line}:{column}: error: " in str(caught.value) and f"[{code}]" in str(caught.value)
    assert begun(file, bad_rows="skip", bad_file=bad) == ({"a", "c"} if name == "a.csv" else {"a"})
    with bad.open(encoding="utf-8", newline="") as rows:
        assert [row["line"] for row in csv.DictReader(rows)] == [str(line)]


TABLES = {
    "unsigned": pa.table({"time": [1, 2], "event": ["e", "e"], "x": ["a", "b"], "v": pa.array([5, BIG], pa.uint64())}),
    "decimal": pa.table({"time": [1, 2], "event": ["e", "e"], "x": ["a", "b"],
                         "v": pa.array([5, BIG], pa.decimal128(38, 0))}),
    "NUL": pa.table({"time": [1, 2], "event": ["e", "e"], "x": ["a", "b\0"], "v": [5, 6]}),
    "pandas": pd.DataFrame([GOOD[0], {**GOOD[1], "v": BIG}]),
    "half a character": pd.DataFrame([GOOD[0], {**GOOD[1], "x": "\ud800"}]),
}


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_tables(table: Any, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r":2:\d: error: .*(value-overflow|bad-text)"):
        begun(table)
    assert begun(table, bad_rows="skip") == {"a"}
    if isinstance(table, pa.Table):
        pq.write_table(table, tmp_path / "a.parquet")
        assert begun(tmp_path / "a.parquet", bad_rows="skip") == {"a"}


def test_an_identifier_of_many_digits_can_be_read_as_text(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(f"e|1|1|{BIG}|5\n")
    (tmp_path / "b.csv").write_text(f"time,event,x,v\n1,e,{BIG},5\n")
    assert begun(tmp_path / "a.csv", column_types={"e/1": "text"}) == {str(BIG)}
    assert begun(tmp_path / "b.csv", column_types={"x": "text"}) == {str(BIG)}


def test_a_header_or_a_record_of_several_lines_that_is_no_text_is_an_error(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    for content in (b"time,event,x\xff,v\n1,e,a,5\n", HEAD + b'2,e,"b\n\xff",9\n'):
        file.write_bytes(content)
        with pytest.raises(InputError, match="byte 0xff is not UTF-8"):
            begun(file, bad_rows="skip")


@pytest.mark.parametrize("form", ["json", "rtec"])
def test_messages_of_a_stream(form: str) -> None:
    """What a Spark stream reads: the poisoned messages are bad records, with their numbers."""
    lines = [line for name, content, *_ in FILES.values() for line in content.split(b"\n")[:-1]
             if (name == "a.jsonl") == (form == "json") and line[:1] in (b"{", b"e")]
    facts = piece_facts(Piece(b"\n".join(lines) + b"\n", form, "feed", 11),
                        lambda source: ev.parse(RULES).read(source, bad_rows="skip"))
    assert len(facts) + facts.bad_count == len(lines) and facts.bad_count == 5
    for row in facts.bad:
        assert row.diagnostic.span is not None and row.diagnostic.span.line > 10
        (row.text + row.diagnostic.message).encode()


def test_lines_that_are_no_text_leave_their_numbers_to_the_others() -> None:
    text = text_of("feed", b"a\n\xff\nb\0\nc\n", by_line=True)
    assert text.piece(text.start, text.stop) == "a\n\n\nc\n"
    assert [row.diagnostic.span.line for row in text.broken if row.diagnostic.span] == [2, 3]


def test_background_tables() -> None:
    with pytest.raises(InputError, match="a is 9223372036854775808, which does not fit 64 bits"):
        ev.parse("initiatedAt(f(X)=true, T) :- happensAt(e(X), T), q(X).",
                 background=[{"q": pa.table({"a": pa.array([1, BIG], pa.uint64())})}])


@pytest.mark.parametrize("ending", [".mtl", ".lars"])
def test_other_languages(ending: str, tmp_path: Path) -> None:
    rules, facts = tmp_path / f"rules{ending}", tmp_path / ("a.facts" if ending == ".mtl" else "a.jsonl")
    rules.write_text("R(X) :- P(X, V), V > 3." if ending == ".mtl" else "r(X) :- p(X, V), V > 3.")
    lines = [b"P(a,5)@1", b"P(b,%d)@2" % BIG, b"P(\xff,9)@2", b"P(c,7)@9"] if ending == ".mtl" else [
        b'{"time":1,"facts":["p(a,5)"]}', b'{"time":2,"facts":["p(b,%d)"]}' % BIG,
        b'{"time":2,"facts":["p(\\"\\ud800\\",9)"]}', b'{"time":9,"facts":["p(c,7)"]}']
    for more in (0, 4000):  # long texts of facts have a reader of their own
        facts.write_bytes(b"\n".join(lines + [lines[0]] * more) + b"\n")
        program: Any = ev.load(rules)
        with pytest.raises(InputError, match=r":2:\d+: error: "):
            program.run(facts)
        rows = program.run(facts, bad_rows="skip").to_arrow().to_pylist()
        assert {row["args"] for row in rows} == {"a", "c"}


@pytest.mark.parametrize("rule", [
    f"q({BIG}).", f"q(-{BIG + 1}).", f"initiatedAt(f(X)={BIG}, T) :- happensAt(e(X), T).",
    f"initiatedAt(f(X)=true, T) :- happensAt(e(X, V), T), V > {BIG}."])
def test_integers_of_rules(rule: str) -> None:
    problem, = ev.parse(rule).check()
    assert (problem.code, problem.message) == ("bad-number", "the integer does not fit 64 bits")
    assert problem.span is not None and str(BIG)[:-1] in rule[problem.span.column - 1:problem.span.end_column]
