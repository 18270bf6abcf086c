"""The benchmarks run, at sizes that measure nothing, and say what they claim in the form that `--json` promises."""

from __future__ import annotations

import json

import pytest

from eventide.cli.bench import benchmarks, load

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
    "incremental": ["--scale", "0.001", "--windows", "1", "2", "--shares", "5", "--hours", "5"],
}


def test_every_benchmark_is_tried() -> None:
    assert set(benchmarks()) == set(SMALL)


@pytest.mark.parametrize("name", sorted(SMALL))
def test_it_runs(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    main = load(benchmarks()[name])
    capsys.readouterr()
    assert not main([*SMALL[name], "--json"])
    claims = json.loads(capsys.readouterr().out)
    assert claims
    assert all(set(c) == {"claim", "value", "unit", "target", "rival", "ratio", "holds"} for c in claims)
    if name != "spark":  # whose every run starts Spark several times, and whose table is that of the others
        assert not main(SMALL[name])
        assert claims[0]["claim"].partition(",")[0] in capsys.readouterr().out
