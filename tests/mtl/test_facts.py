"""Reading facts of DatalogMTL: every form gives the same exact facts, and every mistake is told at its place."""

from __future__ import annotations

import gzip
import json
from fractions import Fraction
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import eventide as ev
from eventide.errors import InputError
from eventide.formats.facts import column_values
from eventide.formats.files import text_of
from eventide.mtl.cells import EVER, NEVER, DenseFacts
from eventide.mtl.fact_lines import Fact, fact_in, read_lines
from eventide.mtl.facts import facts_in, read_facts


def listed(dense: DenseFacts) -> list[Fact]:
    """The facts of columns one by one, in order of their lines."""
    found = []
    for table in dense.facts:
        assert table.rows is not None and table.end is not None
        columns = [column_values(column) for column in table.args]
        for row, (line, start, end) in enumerate(zip(table.rows.tolist(), table.time.tolist(), table.end.tolist(),
                                                     strict=True)):
            left = None if start == EVER else Fraction(start // 2, dense.denominator)
            right = None if end == NEVER else Fraction(end // 2, dense.denominator)
            args = tuple(column[row] for column in columns)
            found.append((line, Fact(table.name, args, left, left is not None and start % 2 == 0,
                                     right, right is not None and end % 2 == 1)))
    return [fact for _, fact in sorted(found, key=lambda pair: pair[0])]


# -- lines -------------------------------------------------------------------------------------------------------------

BLANKS = st.sampled_from(["", "", "", " ", "\t"])
WORDS = st.one_of(st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,9}", fullmatch=True), st.integers(-9999, 9999).map(str),
                  st.sampled_from(["-2.50", "0.1", "007", "1e5", "a-b", "New York", "é", "'a,b'", '"it""s"', "1.",
                                   "123456789012345678901", "-", "3.14159265358979312345"]))
NUMBERS = st.one_of(st.integers(-50, 50).map(str), st.sampled_from(["0.5", "1/3", "-7/2", "2.250", "+3", "6/4"]))


@st.composite
def lines(draw: st.DrawFn) -> str:
    """A line with one fact, spelt in one of many ways; some intervals are empty."""
    name = draw(st.sampled_from(["P", "Q", "short_stop", "T2"]))
    gap = draw(BLANKS)
    args = draw(st.lists(WORDS, max_size=3))
    atom = f"{name}({gap}{f'{gap},{gap}'.join(args)}{gap})" if args else name
    low, high = draw(st.one_of(NUMBERS, st.just("-inf"))), draw(st.one_of(NUMBERS, st.just("inf")))
    time = draw(st.sampled_from([
        f"{draw(st.sampled_from('[('))}{gap}{low},{gap}{high}{draw(st.sampled_from('])'))}", f"[{draw(NUMBERS)}]",
        draw(NUMBERS)]))
    end = draw(st.sampled_from(["", "", ".", " % so", "\r"]))
    return f"{gap}{atom}{gap}@{gap}{time}{gap}{end}"


@given(st.lists(lines(), max_size=12))
def test_columns_hold_what_the_lines_say_one_by_one(drawn: list[str]) -> None:
    expected = []
    for line in drawn:
        try:
            expected.append(fact_in(line.removesuffix("\r")))
        except Exception as problem:
            assert getattr(problem, "code", "") == "empty-interval"
    for compiled in (True, False):
        dense = read_lines(text_of("x.facts", "\n".join(drawn).encode()), compiled=compiled)
        assert listed(dense) == expected
        assert dense.facts.bad_count == len(drawn) - len(expected)
        assert dense.facts.rows_read == len(drawn)


@given(st.text("P(a)@[1,2/0.5inf'% \n-+é\r", max_size=30))
def test_any_text_is_read_or_refused(text: str) -> None:
    slow, fast = (read_lines(text_of("x.facts", text.encode()), compiled=compiled) for compiled in (False, True))
    assert listed(slow) == listed(fast)
    assert slow.facts.bad == fast.facts.bad
    assert len(fast) + fast.bad_count == fast.facts.rows_read == slow.facts.rows_read


def test_own_and_meteors_spelling() -> None:
    own = facts_in("P(a,b)@[0,1/2)\nP(a,b)@[3,3]\nScope@[0,inf)\nP(c,d)@(-inf,2]")
    meteor = facts_in("P( a , b )@[0,0.5)\nP(a,b)@3\nScope@[0, inf]\nP(c,d)@(-inf,2.0]")
    assert listed(own) == listed(meteor)
    assert listed(facts_in("P@[3]")) == listed(facts_in("P@3")) == [Fact("P", (), Fraction(3), True, Fraction(3), True)]


def test_times_stay_exact_and_share_the_smallest_denominator() -> None:
    dense = facts_in("P@[1/3,0.50]\nP@(2,9/12)\nP@7", bad_rows="skip")
    assert dense.denominator == 6
    assert [(f.left, f.right) for f in listed(dense)] == [(Fraction(1, 3), Fraction(1, 2)), (Fraction(7), Fraction(7))]


@pytest.mark.parametrize(("line", "code", "column", "message"), [
    ("P(a)@", "bad-time", 6, "nothing is no time"),
    ("P(a)", "bad-fact", 5, "expected @"),
    ("P(a,)@3", "bad-fact", 5, "expected an argument"),
    ("P(a@3", "bad-fact", 4, "expected , or )"),
    ("P(f(a))@3", "bad-fact", 4, "expected , or )"),
    ("(a)@3", "bad-fact", 1, "name of a predicate"),
    ("P@[.5,1]", "bad-time", 4, ".5 is no time"),
    ("P@[1e3,1]", "bad-time", 4, "1e3 is no time"),
    ("P@[1/0,1]", "bad-time", 4, "denominator 0"),
    ("P@inf", "bad-time", 3, "finite"),
    ("P@[inf,3]", "bad-time", 4, "wrong side"),
    ("P@[3,1]", "empty-interval", 3, "no time lies in [3,1]"),
    ("P@[3,3)", "empty-interval", 3, "no time lies in [3,3)"),
    ("P@[3;4]", "bad-time", 4, "3;4 is no time"),
    ("P@[3,4", "bad-fact", 7, "expected ] or )"),
    ("P@3 Q@4", "bad-fact", 5, "the end of the line"),
    ("P@99999999999999999999", "time-overflow", 3, "does not fit"),
    ("P@1/99999999999999999999", "time-overflow", 3, "does not fit"),
])
def test_a_bad_line_is_told_with_its_place(line: str, code: str, column: int, message: str) -> None:
    with pytest.raises(InputError) as caught:
        facts_in(f"P@1\n\n{line}\n", "x.facts")
    problem, = caught.value.diagnostics
    assert problem.span is not None
    assert (problem.code, problem.span.source, problem.span.line, problem.span.column) == (code, "x.facts", 3, column)
    assert message in problem.message and problem.hint


def test_times_that_fit_alone_but_not_together() -> None:
    with pytest.raises(InputError, match=r"<text>:2:1.*60 bits together") as caught:
        facts_in(f"P@1/3\nP@{10**18 - 1}\n")
    assert caught.value.diagnostics[0].code == "time-overflow"
    with pytest.raises(InputError, match="60 bits together"):
        facts_in("\n".join(f"P@1/{prime}" for prime in (1000003, 1000033, 1000037, 1000039)))


def test_skipped_lines_are_counted_and_written(tmp_path: Path) -> None:
    (tmp_path / "x.facts").write_text("P(a)@1\nP(b)\nP(c)@2\n")
    dense = read_facts(tmp_path / "x.facts", bad_rows="skip", bad_file=tmp_path / "bad.csv")
    assert len(dense) == 2 and dense.facts.bad_count == 1
    written = (tmp_path / "bad.csv").read_text().splitlines()[1]
    assert written.endswith(",2,5,expected @ and a time behind the atom,P(b)")


def test_a_packed_file_and_several_files_on_one_grid(tmp_path: Path) -> None:
    (tmp_path / "a.facts.gz").write_bytes(gzip.compress(b"P(a)@[0,1/2)\n"))
    (tmp_path / "b.facts").write_text("P(a)@[0,1/3)\nQ@1\n")
    dense = read_facts([tmp_path / "a.facts.gz", tmp_path / "b.facts"])
    assert dense.denominator == 6
    assert dense.facts.tables["P", 1].end.tolist() == [6, 4]
    assert dense.facts.tables["P", 1].place(1) == (str(tmp_path / "b.facts"), 1)


def test_facts_that_no_rule_reads_are_noted_with_a_guess() -> None:
    dense = read_facts(facts_in("Positon(a)@1\nP(a,b)@2\nP(a)@3"), known={("Position", 1), ("P", 1)})
    notes = {note.message: note.hint for note in dense.facts.notes}
    assert notes == {"no rule reads Positon/1: 1 fact": "did you mean Position?",
                     "no rule reads P/2: 1 fact": "the rules have P/1"}


# -- tables ------------------------------------------------------------------------------------------------------------

ROWS = "event,start,end,left,right,node,signal\n" \
       "Mon,0,7/2,closed,closed,n1,s\nMon,0.5,,open,,n2,s\nMon,-inf,2,,closed,n3,7\nUp,1,2,,,n1,\n"
SAME = "Mon(n1,s)@[0,7/2]\nMon(n2,s)@(0.5,inf)\nMon(n3,'7')@(-inf,2]\nUp(n1)@[1,2)"


def test_every_kind_of_table_says_the_same(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(ROWS)
    header, *rows = [line.split(",") for line in ROWS.splitlines()]
    objects = [{name: cell or None for name, cell in zip(header, row, strict=True)} for row in rows]
    (tmp_path / "t.jsonl").write_text("\n".join(map(json.dumps, objects)))
    table = pa.table({name: [row[name] for row in objects] for name in header})
    pq.write_table(table, tmp_path / "t.parquet")
    expected = sorted(listed(facts_in(SAME)), key=repr)
    for source in (tmp_path / "t.csv", tmp_path / "t.jsonl", tmp_path / "t.parquet", table, table.to_pandas()):
        assert sorted(listed(read_facts(source)), key=repr) == expected, source


def test_points_and_tables_of_one_predicate() -> None:
    point = pa.table({"time": [3, 4], "vehicle": ["v1", "v2"]})
    assert listed(read_facts({"Pos": point})) == listed(facts_in("Pos(v1)@3\nPos(v2)@4"))
    exact = pa.table({"time": [0.1, 0.5], "event": ["P", "P"]})
    assert read_facts(exact).denominator == 10


def test_a_folder_of_tables(tmp_path: Path) -> None:
    (tmp_path / "P.csv").write_text("time,key\n1/2,a\n")
    (tmp_path / "Other.csv").write_text("time,key\n1,b\n")
    assert listed(read_facts(tmp_path, known={("P", 1)})) == listed(facts_in("P(a)@1/2"))
    assert len(read_facts(tmp_path)) == 2
    with pytest.raises(InputError, match="the folder holds no event that the program knows"):
        read_facts(tmp_path, known={("Q", 1)})


def test_what_results_say_can_be_read_again() -> None:
    table = pa.table({"fluent": ["R", "R", "S"], "args": ["a|1|2|3|4|5|6|7|8|9", "b|2.5", ""], "value": ["", "", ""],
                      "start": ["0", "-inf", "1/3"], "end": ["1", "2", None], "left": ["closed", "open", "open"],
                      "right": ["open", "closed", "open"]})
    assert listed(read_facts(table)) == listed(facts_in(
        "R(a,1,2,3,4,5,6,7,8,9)@[0,1)\nR(b,2.5)@(-inf,2]\nS@(1/3,inf)"))


def test_results_of_the_event_calculus_are_facts_too(tmp_path: Path) -> None:
    (tmp_path / "out.csv").write_text("fluent,args,value,start,end\nlocation,ann,pub,9,21\nlocation,ann,home,21,\n")
    assert listed(read_facts(tmp_path / "out.csv")) == listed(facts_in(
        "location(ann,pub)@[9,21)\nlocation(ann,home)@[21,inf)"))


def test_arrival_and_op_stay_beside_their_facts() -> None:
    table = pa.table({"event": ["P", "P"], "start": ["0", "1"], "end": ["1", "2"], "arrival": ["5/2", None],
                      "op": ["+", "-"], "key": ["a", "b"]})
    found = read_facts(table).facts.tables["P", 1]
    assert found.arrival.tolist() == [10, 4] and found.op.tolist() == [1, -1]


def test_dates_need_a_unit(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("event,time,key\nP,1970-01-01T00:01:00,a\n")
    assert read_facts(tmp_path / "t.csv", time_unit="s").facts.tables["P", 1].time.tolist() == [120]
    with pytest.raises(InputError, match="is no time"):
        read_facts(tmp_path / "t.csv")


@pytest.mark.parametrize(("text", "code", "place", "message"), [
    ("event,start,end,key\nP,3,1,a\n", "empty-interval", (2, 5), "no time lies between 3 and 1"),
    ("event,start,end,key\nP,3,3,a\n", "empty-interval", (2, 5), "no time lies between 3 and 3"),
    ("event,start,end,left,key\nP,3,4,half,a\n", "bad-side", (2, 7), "neither closed nor open"),
    ("event,start,end,key\nP,x,4,a\n", "bad-time", (2, 3), "start: x is no time"),
    ("event,time,key\nP,,a\n", "empty-field", (2, 3), "time is empty"),
    ("event,end,key\nP,1,a\n", "missing-column", (1, 1), "no column time or start"),
    ("event,start,key\nP,1,a\n", "missing-column", (1, 1), "no column end"),
    ("event,time,start,end,key\nP,1,2,3,a\n", "two-times", (1, 1), "a column time and a column start"),
    ("event,time,end,key\nP,1,3,a\n", "two-times", (1, 1), "a column time and a column end"),
])
def test_a_bad_row_is_told_with_its_place(text: str, code: str, place: tuple[int, int], message: str,
                                          tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(InputError) as caught:
        read_facts(tmp_path / "t.csv")
    problem, = caught.value.diagnostics
    assert problem.span is not None
    assert (problem.code, (problem.span.line, problem.span.column)) == (code, place)
    assert message in problem.message and problem.hint


def test_good_rows_beside_bad_ones(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("event,start,end,key\nP,1,2,a\nP,2,1,b\n,1,2,c\nP,3,4,d\n")
    dense = read_facts(tmp_path / "t.csv", bad_rows="skip")
    assert [fact.args for fact in listed(dense)] == [("a",), ("d",)]
    assert [row.diagnostic.span.line for row in dense.facts.bad if row.diagnostic.span] == [3, 4]
    assert dense.facts.rows_read == 4


def test_other_objects_and_endings_are_refused() -> None:
    with pytest.raises(InputError, match="cannot read facts from a int"):
        read_facts(3)
    with pytest.raises(InputError, match=r"known endings: \.facts"):
        read_facts("x.txt")
    with pytest.raises(InputError, match=r"ev\.mtl\.facts_in\(text\)"):
        read_facts(["P(a)@3"])
    assert len(ev.mtl.facts_in("P(a)@3")) == 1
