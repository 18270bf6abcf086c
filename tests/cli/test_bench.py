"""`eventide bench`: finds benchmarks, passes options on, joins their claims."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from eventide.cli import bench
from eventide.cli.main import main

SOURCE = '''"""Measures {name}.

More about it.
"""
import json


def main(argv):
    if "--json" in argv:
        print(json.dumps([{{"claim": "{name}", "value": 1.5}}]))
    else:
        print("{name}", *argv)
'''


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with the benchmarks `one` and `two`."""
    folder = tmp_path / "benchmarks"
    folder.mkdir()
    for name in ("one", "two", "_helper"):
        (folder / f"{name}.py").write_text(SOURCE.format(name=name))
    monkeypatch.setattr(bench, "__file__", str(tmp_path / "src" / "eventide" / "cli" / "bench.py"))
    return folder


@pytest.mark.usefixtures("folder")
class TestBench:
    def test_list(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["bench", "--list"]) == 0
        assert [line.split() for line in capsys.readouterr().out.splitlines()] == [
            ["one", "Measures", "one."],
            ["two", "Measures", "two."],
        ]

    def test_one_with_an_option_of_its_own(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["bench", "one", "--size", "10"]) == 0
        assert capsys.readouterr().out == "one --size 10\n"

    def test_all(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["bench"]) == 0
        assert capsys.readouterr().out == "one\ntwo\n"

    def test_json_is_one_list_of_all_claims(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["bench", "--json"]) == 0
        assert [row["claim"] for row in json.loads(capsys.readouterr().out)] == ["one", "two"]

    def test_an_unknown_name_is_wrong_usage(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["bench", "three"]) == 2
        assert "'three'; there are: one, two" in capsys.readouterr().err


def test_without_a_checkout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(bench, "__file__", str(tmp_path / "a" / "b" / "c" / "bench.py"))
    assert main(["bench"]) == 1
    assert "checkout" in capsys.readouterr().err


def test_the_code_of_a_benchmark_is_the_code_of_bench(folder: Path) -> None:
    (folder / "one.py").write_text("def main(argv):\n    return 1\n")
    assert main(["bench", "one"]) == 1
