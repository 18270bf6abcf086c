"""`eventide run|report` on DatalogMTL programs: what is told beside the answer, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from eventide.cli.main import main


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "tick.mtl").write_text("Tick(X) :- <>-[1,1] Tick(X).\nSeen(X) :- Tick(X).\n")
    (tmp_path / "tick.facts").write_text("Tick(c)@1/3\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_stream_says_where_a_recursion_without_end_was_left(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for options in ([], ["--step", "1/2"], ["--variant", "algorithm-1"]):
        assert main(["run", "tick.mtl", "--events", "tick.facts", *options]) == 0
        told = capsys.readouterr()
        assert "the recursion through Tick" in told.err and "all is told up to 4/3" in told.err
        assert "Seen,c,,4/3,4/3,closed,closed" in told.out
    assert main(["run", "tick.mtl", "--events", "tick.facts", "--step", "1", "--horizon", "3"]) == 0
    assert "recursion" not in capsys.readouterr().err


def test_too_many_times_to_answer_at(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "tick.facts").write_text("Tick(c)@0\nTick(c)@5\n")
    assert main(["run", "tick.mtl", "--events", "tick.facts", "--at", "every:1/1000000000000"]) == 1
    assert "at every 1/1000000000000 these are 5,000,000,000,000 times in one step" in capsys.readouterr().err


def test_a_report_of_rational_times(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "tick.mtl", "--events", "tick.facts", "--horizon", "7/2", "-o", "out.csv", "-q"]) == 0
    assert main(["report", "out.csv", "-o", "-"]) == 0
    assert "8 intervals, 0.333333 to 3.333333" in capsys.readouterr().out
    assert main(["report", "out.csv", "-o", "out.html"]) == 0
    assert "0.333333 to 3.333333" in (folder / "out.html").read_text()


def test_streams_on_spark_say_what_to_do_instead(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "events").mkdir()
    (folder / "stream.toml").write_text("""
[source]
kind = "files"
path = "events"
[rules]
program = "tick.mtl"
[window]
window = 20
[checkpoint]
path = "state"
[[sink]]
kind = "console"
""")
    assert main(["stream", "stream.toml", "--check"]) == 1
    told = capsys.readouterr().err
    assert "streams on Spark are for the Event Calculus" in told and "--step N --emit changes" in told
    assert not (folder / "state").exists()


@pytest.mark.parametrize(("options", "told"), [
    (["--at", "noon"], "Invalid value for '--at': 'noon' says no times"),
    (["--at", "every:0"], "Invalid value for '--at': answers are asked for at every 0"),
    (["--step", "0"], "Invalid value for --step: the step is 0"),
    (["--step", "-1/2"], "Invalid value for --step: the step is -1/2"),
])
def test_options_without_a_meaning_are_wrong_usage(options: list[str], told: str, folder: Path,
                                                   capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "tick.mtl", "--events", "absent.facts", *options]) == 2
    assert told in capsys.readouterr().err
