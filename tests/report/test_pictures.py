"""Timelines for papers and terminals: what is drawn is what holds, and names stay names."""

from __future__ import annotations

import struct
import xml.etree.ElementTree as ET
import zlib

import numpy as np
import numpy.typing as npt
from hypothesis import given
from hypothesis import strategies as st
from tests.report.samples import Row, sample, table_of

from eventide.report.glyphs import shortened, width_of
from eventide.report.picture import timeline_picture
from eventide.report.png import to_png
from eventide.report.rows import grouped_rows
from eventide.report.shapes import PALETTE, Box, Picture, Stroke, Wedge, Words
from eventide.report.situations import read_situations
from eventide.report.svg import to_svg
from eventide.report.text import timeline_text

SPACE = "{http://www.w3.org/2000/svg}"
SMALL: list[Row] = [("rich", "ann", "true", 0, 50), ("rich", "bob", "true", 60, None), ("at", "ann", "pub", 20, 80)]


def pixels(data: bytes) -> npt.NDArray[np.uint8]:
    """The pixels of a PNG without filters."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    parts: dict[bytes, bytes] = {}
    at = 8
    while at < len(data):
        (size,), kind = struct.unpack(">I", data[at : at + 4]), data[at + 4 : at + 8]
        parts[kind] = data[at + 8 : at + 8 + size]
        assert zlib.crc32(kind + parts[kind]) == struct.unpack(">I", data[at + 8 + size : at + 12 + size])[0]
        at += 12 + size
    width, height = struct.unpack(">II", parts[b"IHDR"][:8])
    lines = np.frombuffer(zlib.decompress(parts[b"IDAT"]), np.uint8).reshape(height, 1 + width * 3)
    assert not lines[:, 0].any()
    return lines[:, 1:].reshape(height, width, 3)


def test_bars_lie_where_their_times_are() -> None:
    picture = timeline_picture(read_situations(table_of(SMALL)), "number", width=1000)
    bars = [shape for shape in picture.shapes if isinstance(shape, Box) and shape.height > 10]
    places = {shape.text: shape.x for shape in picture.shapes if isinstance(shape, Words)}
    scale = (places["60"] - places["20"]) / 40
    at, ann, bob = sorted(bars, key=lambda bar: bar.y)
    assert abs(at.width - 60 * scale) < 0.1 and abs(ann.width - 50 * scale) < 0.1 and abs(bob.width - 20 * scale) < 0.1
    assert abs(at.x - ann.x - 20 * scale) < 0.1
    assert sum(isinstance(shape, Wedge) for shape in picture.shapes) == 1  # one is open


def test_svg_is_a_document_and_holds_every_name() -> None:
    evil = "</text><script>alert(1)</script>&\x00"
    found = read_situations(table_of([*SMALL, (evil, evil, evil, 0, 99)]))
    root = ET.fromstring(to_svg(timeline_picture(found, "number", evil, width=2000)))
    texts = [element.text for element in root.iter(f"{SPACE}text")]
    assert evil.replace("\x00", "\ufffd") in texts and "rich" in texts and "ann" in texts
    assert not list(root.iter(f"{SPACE}script"))


def test_png_shows_the_bars_in_their_colours() -> None:
    picture = timeline_picture(read_situations(table_of(SMALL)), "number", "A title")
    found = pixels(to_png(picture))
    assert found.shape == (round(picture.height * 2), round(picture.width * 2), 3)
    for bar in (shape for shape in picture.shapes if isinstance(shape, Box) and shape.height > 10):
        inside = found[round(2 * bar.y) + 3 : round(2 * (bar.y + bar.height)) - 3,
                       round(2 * bar.x) + 70 : round(2 * (bar.x + bar.width)) - 6]
        colour = [int(bar.fill[at : at + 2], 16) for at in (1, 3, 5)]
        assert (inside == colour).all(axis=2).mean() > 0.99
    assert (found[20:40, 28:200] < 100).all(axis=2).any()  # the title


def test_png_paints_shapes_exactly_inside_and_not_at_all_outside() -> None:
    picture = Picture(40, 40, "shapes", [
        Box(5, 5, 10, 10, PALETTE[0]), Box(20, 5, 10, 10, "#ffffff", 3, "#000000"),
        Stroke(((5, 25), (15, 25), (15, 35)), "#000000", 2), Wedge(((20, 20), (36, 20), (28, 36)), PALETTE[1])])
    found = pixels(to_png(picture)).astype(int)
    assert (found[10:30, 10:30] == [0, 0x72, 0xB2]).all() and (found[:9] == 255).all() and (found[:, :7] == 255).all()
    assert (found[20, 40] < 140).all() and (found[20, 50] == 255).all()
    assert (found[50, 20] == 0).all() and (found[60, 30] == 0).all() and (found[60, 20] == 255).all()
    assert (found[46, 56] == [0xD5, 0x5E, 0]).all() and (found[70, 44] == 255).all()


def test_letters() -> None:
    assert width_of("") == 0 and width_of("abc", "bold") > width_of("abc")
    assert width_of("漢é") > 0 and shortened("abc", 1.0) == ""
    assert shortened("a longer text", 40.0).endswith("…") and width_of(shortened("a longer text", 40.0)) <= 40


@given(st.lists(st.integers(1, 30), min_size=1, max_size=6), st.integers(1, 80))
def test_rows_are_shared_out(sizes: list[int], most: int) -> None:
    rows: list[Row] = [(f"f{fluent}", f"a{at:02}", "true", 0, 5) for fluent, size in enumerate(sizes)
                       for at in range(size)]
    groups = grouped_rows(read_situations(table_of(rows)), most)
    assert [len(group.rows) + group.left_out for group in groups] == sizes
    assert all(group.rows for group in groups)
    shown = sum(len(group.rows) for group in groups)
    assert shown <= max(most, len(sizes)) and (shown == sum(sizes) or shown >= min(most, sum(sizes)))


def test_text_has_the_asked_width_and_every_row() -> None:
    found = read_situations(sample(situations=60).table)
    text = timeline_text(found, "s", width=90, most=1000)
    lines = text.splitlines()
    assert all(len(line) <= 90 for line in lines[:-2])
    assert len(lines) == 2 + len({(row[0], row[1], row[2]) for row in sample(situations=60).rows})
    assert lines[-1].startswith(f"{len(found)} intervals, 2022-01-03 ")


def test_text_marks_what_holds_when() -> None:
    lines = timeline_text(read_situations(table_of(SMALL)), "number", width=80 + 12).splitlines()
    rich = next(line for line in lines if line.startswith("rich ann"))
    bar = rich[rich.index("█"):]
    assert abs(bar.count("█") / 80 - 50 / 80) < 0.03 and bar.startswith("█" * 40)
    assert next(line for line in lines if line.startswith("rich bob")).endswith("▶")
    assert any(line.startswith("at ann=pub") for line in lines)


def test_text_obeys_no_terminal_codes() -> None:
    text = timeline_text(read_situations(table_of([("f\x1b[31m", "a\nb", "true", 0, 5)])), "number")
    assert "\x1b" not in text and text.count("\n") == 3


def test_nothing_recognised() -> None:
    nothing = read_situations(table_of([]))
    assert timeline_text(nothing, "number") == "nothing was recognised\n"
    assert "Nothing was recognised." in to_svg(timeline_picture(nothing, "number"))
    assert pixels(to_png(timeline_picture(nothing, "number"))).shape[1] == 1920
