"""Budgets: what multiplies rows is stopped before it does, and the error names the rule and the operator."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

import eventide as ev
from eventide.cli.main import main
from eventide.engine.budget import budget, bytes_of, resident
from eventide.errors import InputError, RuleError
from eventide.formats.facts import Facts

BODY = "happensAt(e(A), T), happensAt(e(B), T), happensAt(e(C), T)"
TRIPLES = f"initiatedAt(f(A,B,C)=true, T) :- {BODY}."
MANY = pa.table({"time": [1] * 1000, "event": ["e"] * 1000, "x": [f"v{i}" for i in range(1000)]})


def as_session() -> object:
    session = ev.parse(TRIPLES).session(window=10)
    session.insert(MANY)
    return session.advance(5)


WAYS: dict[str, Callable[[], object]] = {
    "run": lambda: ev.parse(TRIPLES).run(MANY),
    "windows": lambda: ev.parse(TRIPLES).run(MANY, window=10, step=5),
    "session": as_session,
    "mtl": lambda: ev.parse("f(A,B,C) :- e(A), e(B), e(C).", language="mtl").run(
        ev.mtl.facts_in("\n".join(f"e(v{i})@1" for i in range(1000)))),
    "lars": lambda: ev.parse("f(A,B,C) :- e(A), e(B), e(C).", language="lars").run(MANY),
}


@pytest.mark.parametrize("way", WAYS)
def test_what_would_not_fit_is_not_begun(way: str) -> None:
    said = r"f.* would need 1,000,000,000 rows, about 30 GB; the limit is 1 GB"
    with pytest.raises(ev.EventideError, match=said), budget(memory="1 GB"):
        WAYS[way]()
    assert resident() < 2 << 30


@pytest.mark.parametrize(("limits", "said"), [
    ({"rows": 10_000}, "would need 1,000,000 rows; the limit is 10,000 rows"),
    ({"seconds": 1e-9}, "would need more time; the limit is 1e-09 seconds")])
def test_rows_and_time(limits: dict[str, float], said: str) -> None:
    with pytest.raises(ev.EventideError, match=said), budget(**limits):  # type: ignore[arg-type]
        WAYS["run"]()


def test_a_session_that_went_over_its_budget_is_as_before() -> None:
    session = ev.parse(TRIPLES).session(window=100)
    session.insert(MANY)
    with pytest.raises(RuleError, match="would need"), budget(rows=10_000):
        session.advance(5)
    session.retract(MANY.slice(3))
    assert session.advance(5).added.num_rows == 27


def test_what_is_no_budget() -> None:
    assert (bytes_of("1.5 GB"), bytes_of(7), bytes_of("7")) == (3 << 29, 7, 7)
    for limits, said in (({"memory": "3 apples"}, "expected a number of bytes"), ({"rows": 0}, "must be more than 0")):
        with pytest.raises(InputError, match=said), budget(**limits):  # type: ignore[arg-type]
            pass
    assert len(ev.parse(TRIPLES).run(Facts())) == 0


def test_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "rules.ec").write_text(TRIPLES)
    (tmp_path / "events.csv").write_text("".join(f"e|1|1|v{i}\n" for i in range(100)))
    command = ["run", str(tmp_path / "rules.ec"), "--events", str(tmp_path / "events.csv")]
    assert main([*command, "--max-rows", "5000"]) == 1
    printed = capsys.readouterr()
    assert "rules.ec:1:1: error: f(_,_,_) at 'at the same time' would need 10,000 rows" in printed.err
    assert "--max-rows" in printed.err and printed.out == ""
    assert main([*command, "--max-rows", "2000000", "--max-memory", "8GB", "--max-seconds", "600"]) == 0
    assert main([*command, "--max-rows", "2000000", "--engine", "spark"]) == 2


def test_a_device_is_no_file_of_facts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "rules.ec").write_text(TRIPLES)
    (tmp_path / "zero.csv").symlink_to("/dev/zero")
    assert main(["run", str(tmp_path / "rules.ec"), "--events", str(tmp_path / "zero.csv")]) == 1
    assert "a device, which has no end" in capsys.readouterr().err
    assert main(["run", str(tmp_path / "rules.ec"), "--events", "/dev/zero"]) == 1
