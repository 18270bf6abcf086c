"""Results on dense time: exact texts, the order of the interface, the same in every file, and readable again."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import given
from hypothesis import strategies as st
from tests.mtl.test_facts import listed

from eventide.engine.recognition import Counts
from eventide.formats.results import sorted_columns
from eventide.mtl.cells import EVER, NEVER
from eventide.mtl.facts import facts_in, read_facts
from eventide.mtl.results import MtlResult, joined_tables, predicate_table, rationals

CELLS = st.lists(st.integers(-1000, 1000), min_size=1, max_size=20)


@given(CELLS, st.integers(1, 60))
def test_texts_of_times_are_the_reduced_fractions(cells: list[int], denominator: int) -> None:
    assert rationals(np.array(cells), denominator).to_pylist() == [str(Fraction(c // 2, denominator)) for c in cells]


BIG = st.fractions(max_denominator=10**20)
SMALL = st.fractions(-20, 20, max_denominator=12)


@given(st.lists(st.one_of(st.none(), st.just("-inf"), st.one_of(SMALL, BIG).map(str)), max_size=12))
def test_times_are_in_order_however_they_are_written(times: list[str | None]) -> None:
    def moment(time: str | None) -> tuple[int, Fraction]:
        return (1, Fraction(0)) if time is None else (-1, Fraction(0)) if time == "-inf" else (0, Fraction(time))

    rows = len(times)
    table = pa.table({"fluent": ["P"] * rows, "args": [""] * rows, "value": [""] * rows,
                      "start": pa.array(times, pa.string()), "end": ["1"] * rows})
    found = sorted_columns(table)["start"].to_pylist()
    assert found == sorted(times, key=moment)


def result_of(text: str) -> MtlResult:
    """Facts as a result: what is said of them must be what was read."""
    dense = facts_in(text)
    tables = []
    for table in dense.facts:
        args = [pa.array([str(value) for value in column.values]).take(pa.array(column.codes)) for column in table.args]
        joined = pa.array(["|".join(row) for row in zip(*(a.to_pylist() for a in args), strict=True)]
                          if args else [""] * len(table))
        tables.append(predicate_table(table.name, joined, table.time, table.end, dense.denominator))
    return MtlResult(joined_tables(tables), Counts())


TEXT = "P(b)@[1/3,10]\nP(a)@(10,inf)\nP(a)@[2,2]\nP(a)@(-inf,1/2)\nQ(a,c)@(0,1]\nP(a)@[9,9.5]\nScope@[0,1]"


def test_rows_are_in_the_order_of_the_interface(tmp_path: Path) -> None:
    result_of(TEXT).write(tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == """\
fluent,args,value,start,end,left,right
P,a,,-inf,1/2,open,open
P,a,,2,2,closed,closed
P,a,,9,19/2,closed,closed
P,a,,10,,open,open
P,b,,1/3,10,closed,closed
Q,a|c,,0,1,open,closed
Scope,,,0,1,closed,closed
"""


def test_every_file_can_be_read_again(tmp_path: Path) -> None:
    result = result_of(TEXT)
    expected = sorted(listed(facts_in(TEXT)), key=repr)
    for ending in ("csv", "jsonl", "parquet"):
        path = tmp_path / f"out.{ending}"
        result.write(path)
        assert sorted(listed(read_facts(path)), key=repr) == expected
    assert pq.read_table(tmp_path / "out.parquet").schema.names == [
        "fluent", "args", "value", "start", "end", "left", "right"]


def test_the_face_of_a_result() -> None:
    result = result_of(TEXT)
    assert result.timeline()["P(a)"] == ["(-inf,1/2)", "[2,2]", "[9,19/2]", "(10,inf)"]
    assert result["Q"].timeline() == {"Q(a,c)": ["(0,1]"]}
    assert len(result) == 7 and "P,a,,2,2,closed,closed" in repr(result)
    assert result.to_pandas()["start"].tolist()[:2] == ["-inf", "2"]
    assert result.holds("Q(a, c)", 1) and not result.holds("Q(a,c)", 0)
    assert result.holds("P(a)", "19/2") and not result.holds("P(a)", 10)
    assert result.holds("P(a)", -5) and not result.holds("P(a)", "1/2") and result.holds("Scope", Fraction(1, 3))


def test_nothing_found_has_the_same_columns() -> None:
    empty = MtlResult(joined_tables([]), Counts())
    assert empty.to_arrow().column_names == ["fluent", "args", "value", "start", "end", "left", "right"]
    nothing = np.array([EVER]), np.array([NEVER])
    assert MtlResult(predicate_table("P", pa.array([""]), *nothing, 1), Counts()).timeline() == {"P": ["(-inf,inf)"]}
