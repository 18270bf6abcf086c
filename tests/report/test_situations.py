"""Results to coded columns: every form of a result gives the intervals that a slow reading of it gives."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.report.samples import Row, sample, table_of

import eventide as ev
from eventide.errors import InputError
from eventide.formats import write_intervals
from eventide.report.payload import rows_of
from eventide.report.situations import Situations, read_situations
from eventide.report.summary import by_entity, by_fluent
from eventide.report.times import duration_text, marks, time_text, unit_of

names = st.sampled_from(["f", "g", "h"])
args = st.sampled_from(["", "a", "b", "a|b", "b|c", "c|a"])
moments = st.integers(-20, 40)


@st.composite
def rows(draw: st.DrawFn) -> list[Row]:
    found: list[Row] = []
    for _ in range(draw(st.integers(0, 25))):
        start, length = draw(moments), draw(st.integers(1, 12) | st.none())
        value = draw(st.sampled_from(["true", "x"]))
        found.append((draw(names), draw(args), value, start, None if length is None else start + length))
    return found


def listed(found: Situations) -> list[Row]:
    """The intervals as rows, with their own times."""
    return [(fluent, who, value, int(start) + found.origin, None if np.isinf(end) else int(end) + found.origin)
            for fluent, who, value, start, end in
            zip(found.fluent.texts, found.args.texts, found.value.texts, found.start, found.end, strict=True)]


def in_order(found: list[Row]) -> list[Row]:
    return sorted(found, key=lambda row: (*row[:4], row[4] is None, row[4] or 0))


@given(rows())
def test_rows_stay_what_they_are(found: list[Row]) -> None:
    assert in_order(listed(read_situations(table_of(found)))) == in_order(found)


@given(rows())
def test_windows_are_united(found: list[Row]) -> None:
    table = table_of(found).append_column("query_time", pa.array([0] * len(found), pa.int64()))
    points: dict[tuple[str, str, str], set[int]] = {}
    for *key, start, end in found:
        points.setdefault(tuple(key), set()).update(range(start, 99 if end is None else end))
    expected: list[Row] = []
    for (fluent, who, value), covered in points.items():
        for start in sorted(at for at in covered if at - 1 not in covered):
            end = next(at for at in range(start, 101) if at not in covered)
            expected.append((fluent, who, value, start, None if end == 99 else end))
    assert in_order(listed(read_situations(table))) == in_order(expected)


@given(rows(), rows())
def test_changes_add_up(came: list[Row], went: list[Row]) -> None:
    came = list(dict.fromkeys(came))
    gone = [row for row in dict.fromkeys(went + came[::2]) if row in came]
    table = table_of(came + gone).append_column("change", pa.array(["+"] * len(came) + ["-"] * len(gone)))
    assert in_order(listed(read_situations(table))) == in_order([row for row in came if row not in gone])


@given(rows())
def test_no_two_intervals_of_a_row_overlap(found: list[Row]) -> None:
    united = read_situations(table_of(found).append_column("query_time", pa.array([0] * len(found), pa.int64())))
    which = rows_of(united)[0]
    for row in set(which.tolist()):
        inside = sorted((united.start[at], united.end[at]) for at in np.flatnonzero(which == row))
        assert all(before[1] <= after[0] for before, after in pairwise(inside))


@given(rows())
def test_totals(found: list[Row]) -> None:
    situations = read_situations(table_of(found))
    first, last = situations.known()
    end_of_all = last + situations.origin
    for total in by_fluent(situations, first, last):
        own = [row for row in found if row[0] == total.name]
        lengths = [(end_of_all if end is None else end) - start for *_, start, end in own]
        assert (total.intervals, total.others, total.duration, total.longest, total.still_open) == (
            len(own), len({row[1] for row in own}), sum(lengths), max(lengths), sum(row[4] is None for row in own))
    leading = {row[1].split("|")[0] for row in found} - {""}
    totals = {total.name: total for total in by_entity(situations, first, last, ["c"])}
    named = {part for row in found for part in row[1].split("|")}
    assert set(totals) == leading | (named & {"c"})
    for name, total in totals.items():
        own = [row for row in found if name in row[1].split("|")]
        assert (total.intervals, total.others) == (len(own), len({row[0] for row in own}))


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_files_of_every_kind(tmp_path: Path, ending: str) -> None:
    expected = in_order(sample().rows)
    file = tmp_path / f"result.{ending}"
    write_intervals(table_of(expected), file)
    assert in_order(listed(read_situations(file))) == expected
    other = tmp_path / f"other.{ending}"
    write_intervals(table_of([("z", "", "true", 3, None)]), other)
    assert len(read_situations([file, other])) == len(expected) + 1


def test_what_a_run_gave_back(tmp_path: Path) -> None:
    events = tmp_path / "events.csv"
    events.write_text("time,event,who\n5,win,ann\n8,lose,ann\n9,win,bob\n")
    program = ev.parse("initiatedAt(rich(X)=true, T) :- happensAt(win(X), T).\n"
                       "terminatedAt(rich(X)=true, T) :- happensAt(lose(X), T).")
    found = read_situations(program.run(events))
    assert listed(found) == [("rich", "ann", "true", 6, 9), ("rich", "bob", "true", 10, None)]


def test_exact_times_and_models() -> None:
    table = pa.table({"fluent": ["p", "p"], "args": ["a", "a"], "value": ["", ""], "start": ["1/3", "-inf"],
                      "end": ["7/3", "inf"], "model": ["1", "2"]})
    found = read_situations(table)
    assert found.args.names == ("a|model 1", "a|model 2")
    assert found.start.tolist() == [float(Fraction(1, 3)), -np.inf] and found.end.tolist() == [7 / 3, np.inf]


def test_only_some_fluents() -> None:
    table = table_of([("rich", "a", "true", 1, 2), ("happy", "a", "true", 1, 2)])
    assert read_situations(table, ["rich"]).fluent.names == ("rich",)
    with pytest.raises(InputError, match=r"no fluent 'ritch'; did you mean rich\?"):
        read_situations(table, ["ritch"])


def test_wrong_results() -> None:
    with pytest.raises(InputError, match="no column end"):
        read_situations(pa.table({"fluent": ["f"], "args": ["a"], "value": ["v"], "start": [1]}))
    with pytest.raises(InputError, match="start is 'soon', which is no time"):
        read_situations(pa.table({"fluent": ["f"], "args": ["a"], "value": ["v"], "start": ["soon"], "end": ["9"]}))
    with pytest.raises(InputError, match="not a int"):
        read_situations(5)


def test_times_as_people_read_them() -> None:
    assert unit_of(1.6e9, 1.7e9) == "s" and unit_of(1.6e12, 1.7e12) == "ms" and unit_of(0, 1.7e9) == "number"
    assert unit_of(1.6e9, 1.7e9, "number") == "number"
    assert time_text(float("inf"), 0, "s") == "open" and time_text(1e20, 0, "s") == "100000000000000000000"
    assert [duration_text(seconds, "s") for seconds in (0.5, 59, 60, 3600, 90_061)] == [
        "0.5 s", "59 s", "1 min", "1 h", "1 d 1 h"]
    assert [text for _, text in marks(0, 172_800, 1_641_168_000, "s", 4)] == [
        "2022-01-03", "12:00", "2022-01-04", "12:00", "2022-01-05"]


@given(st.integers(0, 10**6), st.integers(1, 10**7), st.integers(2, 12), st.sampled_from(["number", "s", "ms"]))
def test_marks_lie_inside_and_are_apart(first: int, length: int, about: int, unit: str) -> None:
    found = [at for at, _ in marks(first, first + length, 1_641_168_000, unit, about)]  # type: ignore[arg-type]
    assert all(first <= at <= first + length for at in found)
    assert len(found) <= 2 * about + 2 and found == sorted(set(found))
