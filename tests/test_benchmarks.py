"""The benchmarks run, at sizes that measure nothing, and say what they claim in the form that `--json` promises."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

from eventide.cli.bench import benchmarks, load
from eventide.cli.main import main as command

SMALL = {
    "kernels": ["--size", "2000"],
    "formats": ["--size", "2000"],
    "event_calculus": ["--size", "2000", "--only", "rtec"],
    "signals": ["--size", "4000", "--vessels", "20"],
    "probability": ["--size", "4000", "--long", "5000", "--scenes", "1", "--means", "1", "--seeds", "1",
                    "--videos", "1", "20", "22", "--vessels", "40", "--stations", "9"],
    "spark": ["--size", "2000", "--only", "overhead"],
    "mtl": ["--scale", "0.01", "--densities", "1", "10"],
    "lars": ["--scale", "0.01", "--runs", "1", "--readings", "2000", "--points", "100"],
    "editor": ["--edits", "2"],
    "learning": ["--only", "definitions", "--points", "150"],
    "users": ["--only", "starting", "--only", "staged", "--seeds", "1", "--vessels", "30"],
    "incremental": ["--scale", "0.001", "--windows", "1", "2", "--shares", "5", "--hours", "5"],
}
QUICK = {"event_calculus", "formats"}  # one of an engine, one of files


def test_every_benchmark_is_tried() -> None:
    assert set(benchmarks()) == set(SMALL)


@pytest.mark.parametrize("name", [pytest.param(name, marks=() if name in QUICK else pytest.mark.slow)
                                  for name in sorted(SMALL)])
def test_it_runs(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    main = load(benchmarks()[name])
    capsys.readouterr()
    assert not main([*SMALL[name], "--json"])
    claims = json.loads(capsys.readouterr().out)
    assert claims
    assert all(set(c) == {"claim", "value", "unit", "target", "rival", "ratio", "holds"} for c in claims)
    if name != "spark":  # whose every run starts Spark several times
        assert not main(SMALL[name])
        assert claims[0]["claim"].partition(",")[0] in capsys.readouterr().out


@pytest.mark.slow
def test_a_page_keeps_what_was_measured_before(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    small = ["--size", "2000", "--page", str(page)]
    assert command(["-q", "bench", "formats", *small]) == 0
    assert command(["-q", "bench", "kernels", *small]) == 0
    text = page.read_text(encoding="utf-8")
    known = json.loads(page.with_suffix(".json").read_text(encoding="utf-8"))
    assert set(known) == {"formats", "kernels"}
    for name, each in known.items():
        assert f"## {name}" in text
        assert all(str(claim["claim"]) in text for claim in each["claims"])
        assert (tmp_path / "images" / f"benchmark-{name}.svg").is_file()


def test_one_benchmark_that_fails_leaves_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                                                    capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "page.md"
    _pretend(monkeypatch, {"formats": 1})
    assert command(["bench", "--page", str(page)]) == 1
    told = capsys.readouterr().err
    assert f"the benchmark formats failed; {page} keeps what it had of it" in told
    assert f"error: formats: see above; measure again with eventide bench NAME --page {page}" in told
    assert set(json.loads(page.with_suffix(".json").read_text(encoding="utf-8"))) == set(SMALL) - {"formats"}


def test_what_was_measured_stays_when_it_is_interrupted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = tmp_path / "page.md"
    _pretend(monkeypatch, {"formats": None})
    assert command(["-q", "bench", "--page", str(page)]) == 130
    before = list(benchmarks())[:list(benchmarks()).index("formats")]
    assert list(json.loads(page.with_suffix(".json").read_text(encoding="utf-8"))) == before


def test_a_page_is_measured_at_the_size_of_the_claims(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = tmp_path / "page.md"
    called = _pretend(monkeypatch, {})
    assert command(["-q", "bench", "--page", str(page)]) == 0
    assert "--full" in called["spark"]
    assert (tmp_path / "images" / "curve.svg").is_file()
    assert "![The curve](images/curve.svg)" in page.read_text(encoding="utf-8")
    assert command(["-q", "bench", "spark", "--size", "9", "--page", str(page)]) == 0
    assert called["spark"] == ["--size", "9", "--json"]


def _pretend(monkeypatch: pytest.MonkeyPatch, codes: dict[str, int | None]) -> dict[str, list[str]]:
    """Runs no benchmark: each has one claim, and the exit code given (None: it is interrupted); tells the options."""
    called: dict[str, list[str]] = {}

    def run(arguments: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        name, given = arguments[5], arguments[6:]
        called[name] = given
        if codes.get(name, 0) is None:
            raise KeyboardInterrupt
        if "--plots" in given:
            Path(given[given.index("--plots") + 1], "curve.svg").write_text("<svg><title>The curve</title></svg>")
        claim = {"claim": f"{name} is fast", "value": 2, "unit": "s", "target": 1, "rival": "our limit", "ratio": 2.0,
                 "holds": False}
        return subprocess.CompletedProcess(arguments, codes.get(name, 0) or 0, json.dumps([claim]))

    # The command's own view of the module: whoever else starts processes, such as to describe the machine, still does.
    monkeypatch.setattr("eventide.cli.bench.subprocess", SimpleNamespace(run=run, PIPE=subprocess.PIPE))
    return called
