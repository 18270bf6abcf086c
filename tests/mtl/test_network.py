"""The network of monitors gives the reference answers; what its generator makes is read as it was meant."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Callable, Iterable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.oracle.mtl import Model
from tests.oracle.mtl_text import fact_of, rules_of

import eventide as ev
from eventide.applications.network import RULES
from eventide.applications.network.demo import run as demonstrate
from eventide.applications.network.generator import UNIT, generate, write_facts
from eventide.mtl.facts import facts_in

Locate = Callable[[str], Path]
DERIVED = {"recent", "steady", "flags", "monitors"}


def facts_of_ticks(rows: Iterable[str], unit: int) -> str:
    """Rows in ticks as facts: even ticks are instants, odd ones the gaps between them."""
    lines = []
    for row in rows:
        name, _, *fields = row.strip().split("|")
        if name == "signal":
            lines.append(f"signal({fields[1]})@{Fraction(int(fields[0]), unit)}")
            continue
        start, end = int(fields[0]), int(fields[1]) - 1
        assert start % 2 == end % 2 == 0
        lines.append(f"{name}({','.join(fields[3:])})@[{Fraction(start, unit)},{Fraction(end, unit)}]")
    return "\n".join(lines)


def in_ticks(row: dict[str, Any], unit: int) -> tuple[str, str, int, int]:
    """A row of a result in ticks."""
    start, end = Fraction(row["start"]) * unit, Fraction(row["end"]) * unit
    return row["fluent"], row["args"], int(start) + (row["left"] == "open"), int(end) + (row["right"] == "closed")


@pytest.mark.parametrize(("name", "packed", "unit"), [("example", "", 2), ("stress", ".gz", 20)])
def test_the_reference_answers(name: str, packed: str, unit: int, shared_data: Locate, tmp_path: Path) -> None:
    folder = shared_data("data/applications/network")
    path = folder / f"{name}_input.csv{packed}"
    with (gzip.open if packed else open)(path, "rt", encoding="utf-8") as text:
        (tmp_path / "network.facts").write_text(facts_of_ticks(text, unit))
    result = ev.load(RULES).run(tmp_path / "network.facts")
    found = {in_ticks(row, unit) for row in result.to_arrow().to_pylist()}
    with (folder / f"{name}_golden.csv").open(newline="") as text:
        wanted = {(r["fluent"], r["args"], int(r["start"]), int(r["end"])) for r in csv.DictReader(text)}
    assert found == wanted


def test_the_worked_example() -> None:
    facts = """\
node(n1)@[0,40]\nnode(n2)@[0,40]\nassigned(n1,s)@[0,7]\nconnected(n2,n1)@[0,40]\nconnected(n1,n2)@[10,40]
signal(s)@0\nsignal(s)@2\nsignal(s)@4\nsignal(s)@6\nsignal(s)@7\nsignal(s)@9\nsignal(s)@12"""
    result = ev.load(RULES).run(facts_in(facts))
    assert result.timeline() == {
        "flags(n1,s)": ["[4,7]", "[10,11]"], "flags(n2,s)": ["[4,11]"], "monitors(n1,s)": ["[0,7]", "[10,14]"],
        "monitors(n2,s)": ["[4,14]"], "recent(s)": ["[0,11]", "[12,14]"], "steady(s)": ["[4,11]"]}


def test_a_generated_network_by_definition(tmp_path: Path) -> None:
    write_facts(generate(nodes=3, signals=2, units=12, seed=5), tmp_path / "network.facts")
    lines = (tmp_path / "network.facts").read_text().splitlines()
    rules = "\n".join(line for line in RULES.read_text().splitlines() if not line.startswith("%"))
    model = Model(rules_of(rules), [fact_of(line) for line in lines], Fraction(20)).intervals()
    expected = {atom: spans for atom, spans in model.items() if atom.partition("(")[0] in DERIVED}
    assert {atom.partition("(")[0] for atom in expected} == DERIVED
    assert ev.load(RULES).run(tmp_path / "network.facts").timeline() == expected


def test_the_generator() -> None:
    one, same, other = generate(seed=3), generate(seed=3), generate(seed=4)
    assert all(np.array_equal(column, same[name][key]) for name, columns in one.items()
               for key, column in columns.items())
    assert not np.array_equal(one["signal"]["start"][:100], other["signal"]["start"][:100])
    assert len(one["signal"]["start"]) == pytest.approx(1.1 * 20 * 600, rel=0.1)
    for columns in one.values():
        assert (columns["start"] <= columns["end"]).all() and columns["end"].max() <= 600 * UNIT
    gaps = np.diff(one["signal"]["start"][one["signal"]["signal"] == "s0"])
    assert gaps.max() > 2 * UNIT > np.median(gaps), "some pauses are too long to be steady, most are not"


@pytest.mark.spark
@pytest.mark.usefixtures("spark")
def test_the_demonstration(tmp_path: Path) -> None:
    told: list[str] = []

    class Say:
        def __call__(self, text: str) -> None:
            told.append(text)

        def begin(self, title: str) -> None:
            assert title

    demonstrate(tmp_path, Say(), nodes=5, signals=4, units=40)
    local = ev.load(tmp_path / "network.mtl").run(tmp_path / "network.facts")
    local.write(tmp_path / "local.csv")
    assert (tmp_path / "intervals.csv").read_text() == (tmp_path / "local.csv").read_text()
    assert "A network of monitors" in (tmp_path / "report.html").read_text()
    assert f"{len(local):,} maximal intervals" in "\n".join(told)
    assert told[-1].endswith("eventide run network.mtl --events network.facts -o intervals.csv")
