"""`eventide graph`: the picture as SVG, PNG, HTML, DOT and JSON; nothing overlaps, names escaped, cycles marked."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from itertools import pairwise
from pathlib import Path

import pytest

from eventide.applications import APPLICATIONS
from eventide.cli.main import main
from eventide.program import load, parse
from eventide.report.graph import dependency_graph, to_dot
from eventide.report.graph_picture import graph_picture
from eventide.report.graph_svg import to_html, to_svg
from eventide.report.layout import GAP, HEIGHT, ROW, laid_out
from eventide.report.shapes import Wedge, Words

RULES = """initiatedAt(rich(X)=true, T) :- happensAt(win(X), T).
holdsFor(happy(X)=true, I) :- holdsFor(rich(X)=true, I1), intDurGreater(I1, 5, I).
"""
SPACE = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    """A program of two levels."""
    file = tmp_path / "rules.ec"
    file.write_text(RULES)
    return file


def test_json(rules: Path, tmp_path: Path) -> None:
    assert main(["graph", str(rules), "-o", str(tmp_path / "g.json")]) == 0
    found = json.loads((tmp_path / "g.json").read_text())
    assert [(box["label"], box["level"], box["kind"]) for box in found["boxes"]] == [
        ("win(x)", 0, "input event"), ("rich(x)", 1, "simple fluent"), ("happy(x)", 2, "statically determined fluent")]
    assert [(arrow["from"], arrow["to"]) for arrow in found["arrows"]] == [
        ("rich(_)", "happy(_)=true"), ("win(_)", "rich(_)")]


def test_dot(rules: Path, tmp_path: Path) -> None:
    assert main(["graph", str(rules), "-o", str(tmp_path / "g.dot")]) == 0
    text = (tmp_path / "g.dot").read_text()
    assert text.startswith("digraph") and '"win(_)" -> "rich(_)";' in text


def test_stages_on_spark(rules: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["graph", str(rules), "--spark", "-o", str(tmp_path / "g.json")]) == 0
    found = json.loads((tmp_path / "g.json").read_text())
    assert [box["label"] for box in found["boxes"]] == ["win(x)", "rich(x) · stage 1, by X", "happy(x) · stage 1, by X"]
    assert "  send win(_) by argument 1 to stage 1\n" in capsys.readouterr().err


def test_svg_has_inputs_at_the_bottom(rules: Path, tmp_path: Path) -> None:
    assert main(["graph", str(rules), "-o", str(tmp_path / "g.svg")]) == 0
    root = ET.parse(tmp_path / "g.svg").getroot()
    heights = {text.text: float(text.attrib["y"]) for text in root.iter(f"{SPACE}text") if "text-anchor" in text.attrib}
    assert heights["happy(x)"] < heights["rich(x)"] < heights["win(x)"]


def test_html_needs_nothing_else(rules: Path, tmp_path: Path) -> None:
    assert main(["graph", str(rules), "-o", str(tmp_path / "g.html")]) == 0
    text = (tmp_path / "g.html").read_text()
    assert "<svg" in text and "happy(x)" in text
    assert "src=" not in text and "href=" not in text and "@import" not in text


def test_png_is_painted(rules: Path, tmp_path: Path) -> None:
    assert main(["graph", str(rules), "-o", str(tmp_path / "g.png")]) == 0
    assert (tmp_path / "g.png").read_bytes().startswith(b"\x89PNG")
    drawn = graph_picture(dependency_graph(load(str(rules)).model))
    texts = {shape.text for shape in drawn.shapes if isinstance(shape, Words)}
    assert {"win(x)", "rich(x)", "happy(x)", "inputs", "level 1", "level 2"} <= texts
    assert sum(isinstance(shape, Wedge) for shape in drawn.shapes) == 2


def test_wrong_usage_and_wrong_rules(rules: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["graph", str(rules), "-o", str(tmp_path / "g.gif")]) == 2
    assert main(["graph", str(rules)]) == 2
    rules.write_text("initiatedAt(f(X)=true, T) :- holdsAt(g(X)=true, T).")
    capsys.readouterr()
    assert main(["graph", str(rules), "-o", str(tmp_path / "g.svg")]) == 1
    assert capsys.readouterr().err.count("error: ") == 1
    assert not (tmp_path / "g.svg").exists()
    assert main(["graph", str(rules.parent / "absent.ec"), "-o", str(tmp_path / "g.svg")]) == 1


@pytest.mark.parametrize("name", sorted(APPLICATIONS))
def test_no_two_boxes_overlap(name: str) -> None:
    graph = dependency_graph(load(APPLICATIONS[name].rules).model)
    layout = laid_out(graph)
    assert {box.name for box in graph.boxes} <= set(layout.x)
    assert HEIGHT < ROW
    for row in layout.rows:
        for left, right in pairwise(row):
            gap = layout.x[right] - layout.x[left] - (layout.widths[left] + layout.widths[right]) / 2
            assert gap > GAP - 0.01
    assert min(layout.x[item] - layout.widths[item] / 2 for item in layout.x) >= 0
    ET.fromstring(to_svg(graph))


@pytest.mark.parametrize("name", sorted(APPLICATIONS))
def test_arrows_lead_upwards_but_in_cycles(name: str) -> None:
    graph = dependency_graph(load(APPLICATIONS[name].rules).model)
    levels = {box.name: box.level for box in graph.boxes}
    for source, target in graph.arrows:
        assert levels[source] < levels[target] or graph.inside_cycle((source, target)), (source, target)


def test_cycles_are_marked() -> None:
    graph = dependency_graph(load(APPLICATIONS["netbill"].rules).model)
    assert {box.label.partition("(")[0] for box in graph.boxes if box.cycle} == {"contract", "obl", "suspended"}
    assert 'class="box cycle"' in to_svg(graph) and 'class="arrow cycle"' in to_svg(graph)
    assert 'color="#c0392b"' in to_dot(graph)


def test_names_are_escaped() -> None:
    program = parse("""initiatedAt('<b>&"x'(X)=true, T) :- happensAt('a"\\\\b</script>'(X), T).""")
    graph = dependency_graph(program.model)
    assert "&lt;b&gt;&amp;" in to_svg(graph)
    ET.fromstring(to_svg(graph))
    assert "</script>'" not in to_html(graph, "<title>") and "<title>&lt;title&gt;" in to_html(graph, "<title>")
    assert '\\"' in to_dot(graph)


def test_a_program_without_rules_is_an_empty_picture(tmp_path: Path) -> None:
    (tmp_path / "empty.ec").write_text("")
    assert main(["graph", str(tmp_path / "empty.ec"), "-o", str(tmp_path / "g.svg")]) == 0
