"""`eventide demo`: lists demonstrations, numbers their steps, leaves their files in one folder."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from eventide.cli import demo
from eventide.cli.main import main
from eventide.errors import InputError


@pytest.fixture
def sample(monkeypatch: pytest.MonkeyPatch) -> None:
    """A demonstration called `sample` in the place of the real ones."""

    def run(out: Path, say: Callable[[str], None]) -> None:
        say("read 3 events")
        (out / "result.csv").write_text("fluent\n")
        say("recognised 1 interval")

    monkeypatch.setattr(demo, "DEMOS", {"sample": ("sample_demo", "three events")})
    monkeypatch.setitem(sys.modules, "sample_demo", SimpleNamespace(run=run))  # type: ignore[arg-type]


@pytest.mark.usefixtures("sample")
class TestDemo:
    def test_steps_are_numbered_and_files_left_in_the_folder(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        out = tmp_path / "new" / "folder"
        assert main(["demo", "sample", "--out", str(out)]) == 0
        assert capsys.readouterr().out == "1. read 3 events\n2. recognised 1 interval\n"
        assert [path.name for path in out.iterdir()] == ["result.csv"]

    def test_without_a_folder_it_makes_its_own(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.chdir(tmp_path)
        assert main(["-q", "demo", "sample"]) == 0
        assert (tmp_path / "eventide-demo" / "sample" / "result.csv").is_file()
        assert capsys.readouterr().out == ""

    def test_list(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["demo", "--list"]) == 0
        assert capsys.readouterr().out.split() == ["sample", "three", "events"]
        assert main(["demo", "--list", "--json"]) == 0
        assert json.loads(capsys.readouterr().out) == [{"name": "sample", "shows": "three events"}]

    def test_an_unknown_name_is_wrong_usage(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["demo", "nope"]) == 2
        assert "'nope'; there are: sample" in capsys.readouterr().err


    def test_what_is_wrong_leaves_no_empty_folder(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def run(out: Path, say: Callable[[str], None]) -> None:
            raise InputError("the data are broken")

        monkeypatch.setitem(sys.modules, "sample_demo", SimpleNamespace(run=run))  # type: ignore[arg-type]
        assert main(["demo", "sample", "--out", str(tmp_path / "new" / "folder")]) == 1
        assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("options", "code", "told"), [
    (["--positions", "absent.csv"], 1, "absent.csv:1:1: error: cannot read the file"),
    (["--positions", "there.csv", "--areas", "absent.csv"], 1, "absent.csv:1:1: error: cannot read the file"),
    (["--positions", "there.csv", "--preset", "dna"], 2, "there is no preset 'dna'"),
])
def test_files_are_looked_for_before_anything_is_started(
    options: list[str], code: int, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(demo, "import_module", None)
    (tmp_path / "there.csv").touch()
    assert main(["demo", "maritime", *options]) == code
    assert told in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["there.csv"]


def test_the_default_is_one_of_the_list() -> None:
    assert demo.DEFAULT in demo.DEMOS


@pytest.mark.slow
@pytest.mark.usefixtures("spark")
def test_a_demonstration_can_be_repeated_by_hand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["demo", "toy", "--out", str(tmp_path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    steps = [line.split(".")[0] for line in lines if line[:1].isdigit()]
    assert steps == [str(number) for number in range(1, len(steps) + 1)]
    assert any("█" in line for line in lines)
    first = (tmp_path / "intervals.csv").read_bytes()
    assert len(first.splitlines()) > 10_000
    assert (tmp_path / "intervals.parquet").is_file()
    monkeypatch.chdir(tmp_path)
    assert main(["-q", *lines[-1].split()[1:]]) == 0
    assert (tmp_path / "intervals.csv").read_bytes() == first
