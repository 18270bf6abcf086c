"""RTEC's CSV form: the fast reader gives exactly what the obvious one gives, rows and bad rows alike."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.formats.slow_rtec import slow_rtec

from eventide.formats import rtec_csv
from eventide.formats.expected import Expected
from eventide.formats.facts import Facts, FactTable, Kind, Value, column_values
from eventide.formats.files import checked_text, read_text
from eventide.formats.rtec_csv import read_rtec

KINDS: dict[str, Kind] = {
    "e": "event", "go_to": "event", "a_name_that_is_longer_than_8": "event", "é": "event", "p": "point",
    "i": "interval",
}


def fast(text: str, declared: Callable[[str], Kind | None] = KINDS.get) -> Facts:
    raw = text.encode()
    data = np.zeros(len(raw) + 32, np.uint8)
    data[: len(raw)] = np.frombuffer(raw, np.uint8)
    return read_rtec(checked_text("text", data, len(raw)), Expected(declared))


def exact(value: Value) -> tuple[type, str]:
    return type(value), repr(value)


def rows_of(table: FactTable) -> list[tuple[int, tuple[tuple[type, str], ...]]]:
    assert table.rows is not None and table.arrival is not None
    columns = [table.arrival.tolist(), table.time.tolist()]
    columns += [table.end.tolist()] if table.end is not None else []
    columns += [column_values(table.value)] if table.value is not None else []
    columns += [column_values(a) for a in table.args]
    rows = [tuple(map(exact, row)) for row in zip(*columns, strict=True)]
    return list(zip(table.rows.tolist(), rows, strict=True))


def assert_same(text: str, declared: Callable[[str], Kind | None] = KINDS.get) -> None:
    found, wanted = fast(text, declared), slow_rtec(text, declared)
    assert [(b.diagnostic.span.line, b.diagnostic.code) for b in found.bad if b.diagnostic.span] == wanted.bad
    assert {key: rows_of(t) for key, t in found.tables.items()} == {
        key: [(line, tuple(map(exact, row))) for line, row in rows] for key, rows in wanted.rows.items()
    }


digits = st.text("0123456789", min_size=1, max_size=25)
numbers = st.one_of(
    st.integers(-5, 5).map(str), st.integers(-(2**70), 2**70).map(str), digits, digits.map("-{}".format),
    st.tuples(digits, digits).map(".".join), st.tuples(digits, digits).map(lambda d: "-" + ".".join(d)),
    st.floats(-1e6, 1e6).map(lambda x: f"{x:.17f}"),
)
fields = st.one_of(
    numbers, st.text("0123456789-.", max_size=6), st.sampled_from(["a", "true", "1e5", "1-2", "+3", "-", " x ", ""]),
    st.text(st.characters(codec="utf-8", exclude_characters="|\n\r"), max_size=20), st.just("x\r"),
)
times = st.one_of(st.integers(-9, 99).map(str), fields)
rows = st.tuples(
    st.one_of(st.sampled_from(sorted(KINDS)), fields), st.lists(times, max_size=3), st.lists(fields, max_size=3)
).map(lambda r: "|".join([r[0], *r[1], *r[2]]))
regular = st.tuples(st.sampled_from(["e|1|2", "p|1|2"]), numbers, fields.filter(bool)).map("|".join)


@given(st.lists(st.tuples(st.one_of(rows, regular), st.sampled_from(["\n", "\n", "\r\n", "\n\n"]))), st.booleans())
@example([("e|1|2|003|1.50|-7|1e5", "\n"), ("e|1|2|3|1.5|-7|a", "\r\n")], True)
@example([("e|1|2|-0.0|0.0", "\n"), ("e|1|2|0.0|-0", "\n")], False)
def test_the_fast_reader_equals_the_obvious_one(lines: list[tuple[str, str]], last_newline: bool) -> None:
    text = "".join(row + end for row, end in lines)
    assert_same(text if last_newline else text.removesuffix("\n"))


@given(st.lists(st.one_of(rows, regular), max_size=20), st.integers(1, 60))
def test_pieces_do_not_show(lines: list[str], size: int) -> None:
    text = "\n".join(lines)
    before = rtec_csv.PIECE
    try:
        rtec_csv.PIECE = size
        assert_same(text)
    finally:
        rtec_csv.PIECE = before


@given(st.lists(st.from_regex(r"-?[0-9]{1,20}\.[0-9]{1,25}", fullmatch=True), min_size=1))
def test_floats_round_correctly(texts: list[str]) -> None:
    table = fast("".join(f"e|1|1|{t}\n" for t in texts)).tables["e", 1]
    assert [repr(v) for v in column_values(table.args[0])] == [repr(float(t)) for t in texts]


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="|\n\r"), min_size=1), min_size=1, max_size=40))
def test_texts_are_told_apart(texts: list[str]) -> None:
    assert_same("".join(f"e|1|1|{t}|{t[::-1]}\n" for t in texts))


def test_many_distinct_texts_and_numbers() -> None:
    table = fast("".join(f"e|{i}|{i}|id{i}|{i if i % 2 else i / 2}\n" for i in range(20_000))).tables["e", 2]
    assert column_values(table.args[0]) == [f"id{i}" for i in range(20_000)]
    assert [exact(v) for v in column_values(table.args[1])[:3]] == [exact(0.0), exact(1), exact(1.0)]


def test_columns_are_as_narrow_as_their_values() -> None:
    table = fast("e|1|1|3|1.5|x|7\ne|2|2|003|2.50|y|7.0\n").tables["e", 4]
    assert [getattr(a, "dtype", None) for a in table.args] == [np.int64, np.float64, None, None]
    assert column_values(table.args[0]) == [3, 3] and [exact(v) for v in column_values(table.args[3])] == [
        (int, "7"), (float, "7.0"),
    ]


def test_the_three_layouts() -> None:
    facts = fast("e|5|4|a\np|5|4|true|a\ni|9|4|8|low|a\n")
    event, point, interval = facts.tables["e", 1], facts.tables["p", 1], facts.tables["i", 1]
    assert (event.arrival.tolist(), event.time.tolist(), event.value, event.end) == ([5], [4], None, None)
    assert (point.time.tolist(), column_values(point.value), point.end) == ([4], ["true"], None)
    assert (interval.time.tolist(), interval.end.tolist(), column_values(interval.value)) == ([4], [8], ["low"])


def test_an_unsorted_file_is_read_and_noted() -> None:
    facts = fast("e|5|5|a\ne|7|7|a\ne|6|6|a\n")
    assert facts.tables["e", 1].time.tolist() == [5, 7, 6]
    assert [(n.severity, n.code, n.span.line) for n in facts.notes] == [("info", "unsorted-file", 3)]


def test_a_byte_order_mark_and_gzip(tmp_path: Path) -> None:
    plain, packed = tmp_path / "a.csv", tmp_path / "b.csv.gz"
    plain.write_bytes(b"\xef\xbb\xbfe|1|1|a\n")
    packed.write_bytes(gzip.compress(b"e|1|1|a\n") + gzip.compress(b"e|2|2|b\n"))
    assert len(read_rtec(read_text(plain), Expected(KINDS.get))) == 1
    assert read_rtec(read_text(packed), Expected(KINDS.get)).tables["e", 1].time.tolist() == [1, 2]


FLUENTS: dict[str, Kind] = dict.fromkeys(
    ["appearance", "orientation", "coord", "abrupt", "active", "inactive", "running", "walking"], "point"
) | dict.fromkeys(["abrupt_acceleration", "abrupt_deceleration", "sharp_turn", "proximity"], "interval")  # type: ignore[assignment]
FILES = [
    "caviar/appearance", "caviar/movementB", "ctm/abrupt_acceleration", "ctm/abrupt_deceleration", "ctm/sharp_turn",
    "ctm/internal_temperature_change", "ctm/noise_level_change", "ctm/passenger_density_change", "ctm/stop_enter_leave",
    "maritime/maritime_synthetic", "netbill/negotiation-40-1", "netbill/netbill-1000", "netbill/netbill-8000",
    "netbill/netbill-32000", "voting/voting", "toy/toy_data",
]
LARGE = ("caviar/appearance", "caviar/movementB", "netbill/netbill-32000", "voting/voting")


@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.slow if name in LARGE else ())
                                  for name in FILES])
def test_rtecs_own_data(name: str, shared_data: Callable[[str], Path]) -> None:
    path = shared_data(f"data/rtec/{name}.csv" + ("" if name.startswith("toy") else ".gz"))
    text = gzip.decompress(path.read_bytes()).decode() if path.suffix == ".gz" else path.read_text()
    assert_same(text, lambda n: FLUENTS.get(n, "event"))
    facts = read_rtec(read_text(path), Expected(lambda n: FLUENTS.get(n, "event")))
    assert facts.bad_count == 0 and len(facts) == facts.rows_read == len(text.splitlines())
