"""`eventide run --follow --reload`: rules that change while a stream is followed, and between two starts."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from eventide.cli.main import main
from eventide.cli.reload import Reload

RULES = """
initiatedAt(rich(X)=true, T) :- happensAt(win(X), T).
terminatedAt(rich(X)=true, T) :- happensAt(lose(X), T).
"""
MORE = f"{RULES}initiatedAt(lucky(X)=true, T) :- happensAt(win(X), T).\n"
FIRST, SECOND = "win|3|3|ann\nwin|8|8|bob\nwin|14|14|bob\n", "lose|23|23|ann\nwin|34|34|ann\n"
TOLD = """query_time,change,fluent,args,value,start,end
10,+,rich,ann,true,4,
10,+,rich,bob,true,9,
20,+,lucky,ann,true,4,
20,+,lucky,bob,true,9,
30,+,rich,ann,true,4,24
30,-,rich,ann,true,4,
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "rules.ec").write_text(RULES)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def follow(*more: str, events: str = "-") -> int:
    return main(["run", "rules.ec", "--events", events, "--follow", "--reload", "--window", "40", "--step", "10",
                 "--start", "0", "-o", "out.csv", *more])


def feed(monkeypatch: pytest.MonkeyPatch, *pieces: str | Callable[[], object]) -> None:
    """Let standard input bring these pieces; what can be called is done before the next one is read."""
    def read(file: int, size: int) -> bytes:
        for piece in rest:
            if isinstance(piece, str):
                return piece.encode()
            piece()
        return b""

    rest: Iterator[str | Callable[[], object]] = iter(pieces)
    monkeypatch.setattr("eventide.formats.tail.os.read", read)
    monkeypatch.setattr("sys.stdin", open(os.devnull))  # noqa: SIM115


def rules(text: str, seconds_ago: float = 10) -> Callable[[], object]:
    """What writes the rules, as if that were a while ago."""
    def write() -> None:
        Path("rules.ec").write_text(text)
        changed = time.time() - seconds_ago
        os.utime("rules.ec", (changed, changed))

    return write


def test_rules_that_change_on_the_way(folder: Path, monkeypatch: pytest.MonkeyPatch,
                                      capsys: pytest.CaptureFixture[str]) -> None:
    """What the new rules say of the window is told at the query time that follows."""
    feed(monkeypatch, FIRST, rules(MORE), "win|15|15|bob\n", SECOND)
    assert follow() == 0
    assert (folder / "out.csv").read_text().startswith(TOLD)
    assert "the rules were read again; kept: rich(_); rebuilt: lucky(_)" in capsys.readouterr().err


def test_warnings_about_changed_rules(folder: Path, monkeypatch: pytest.MonkeyPatch,
                                      capsys: pytest.CaptureFixture[str]) -> None:
    idle = "terminatedAt(poor(X)=true, T) :- happensAt(win(X), T).\n"
    feed(monkeypatch, FIRST, rules(MORE + idle), "win|15|15|bob\n", SECOND)
    assert follow() == 0
    assert "1 warning about the rules; `eventide check` shows them" in capsys.readouterr().err


def test_a_folder_with_an_equals_sign(tmp_path: Path) -> None:
    """What stands before the sign is a name where a table is named, and nowhere else."""
    files = tmp_path / "site=athens" / "rules.ec", tmp_path / "types.csv"
    files[0].parent.mkdir()
    for file in files:
        file.write_text("old")
        os.utime(file, (1, 1))
    found = Reload(lambda: "loaded", str(files[0]), [f"type={files[1]}"])
    for file in files:
        assert found.loaded() is None
        file.write_text("new")
        os.utime(file, (2, 2))
        assert found.loaded() == "loaded"


def test_a_signal_is_enough(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    feed(monkeypatch, FIRST, lambda: os.kill(os.getpid(), signal.SIGHUP), "win|15|15|bob\n", SECOND)
    assert follow() == 0
    assert "the rules were read again; kept: rich(_)" in capsys.readouterr().err


def test_rules_that_are_wrong_leave_the_old_ones(folder: Path, monkeypatch: pytest.MonkeyPatch,
                                                 capsys: pytest.CaptureFixture[str]) -> None:
    feed(monkeypatch, FIRST, rules("initiatedAt(rich(X)=true, T) :- happensAt(win(X)."), "win|15|15|bob\n",
         rules(MORE), "win|16|16|bob\n", SECOND)
    assert follow() == 0
    told = capsys.readouterr().err
    assert "the changed rules are not taken over, the old ones stay: rules.ec:1" in told
    assert (folder / "out.csv").read_text().startswith(TOLD)


def test_rules_that_are_being_written_are_not_read_yet(folder: Path, monkeypatch: pytest.MonkeyPatch,
                                                        capsys: pytest.CaptureFixture[str]) -> None:
    """An editor may empty a file, and then write it: what is there between the two is no set of rules."""
    half = RULES.splitlines(keepends=True)[1]
    monkeypatch.setattr("eventide.cli.reload.SETTLED", 3600)
    feed(monkeypatch, FIRST, rules(half, seconds_ago=0), "win|15|15|bob\n", rules(MORE, seconds_ago=7200),
         "win|16|16|bob\n", SECOND)
    assert follow() == 0
    assert (folder / "out.csv").read_text().startswith(TOLD)
    assert capsys.readouterr().err.count("the rules were read again") == 1


@pytest.mark.parametrize("text", ["", " \n"])
def test_a_file_without_rules_does_not_end_everything(text: str, folder: Path, monkeypatch: pytest.MonkeyPatch,
                                                      capsys: pytest.CaptureFixture[str]) -> None:
    feed(monkeypatch, FIRST, rules(text), "win|15|15|bob\n", rules(MORE), "win|16|16|bob\n", SECOND)
    assert follow() == 0
    assert "the old ones stay: rules.ec:1:1: error: the file is empty" in capsys.readouterr().err
    assert (folder / "out.csv").read_text().startswith(TOLD)


def test_a_file_that_cannot_be_read_does_not_end_everything(folder: Path, monkeypatch: pytest.MonkeyPatch,
                                                            capsys: pytest.CaptureFixture[str]) -> None:
    closed = []

    def guarded(read: Callable[..., object]) -> Callable[..., object]:
        def either(path: Path, *options: object, **more: object) -> object:
            if closed and path.name == "rules.ec":
                raise PermissionError(13, "Permission denied", str(path))
            return read(path, *options, **more)
        return either

    for name in ("read_text", "read_bytes"):
        monkeypatch.setattr(Path, name, guarded(getattr(Path, name)))
    feed(monkeypatch, FIRST, lambda: (rules(RULES, seconds_ago=20)(), closed.append(1)), "win|15|15|bob\n",
         lambda: (closed.clear(), rules(MORE)()), "win|16|16|bob\n", SECOND)
    assert follow() == 0
    assert "the old ones stay: rules.ec:1:1: error: cannot read the file: Permission denied" in capsys.readouterr().err
    assert (folder / "out.csv").read_text().startswith(TOLD)


def test_rules_that_change_between_two_starts(folder: Path, capsys: pytest.CaptureFixture[str],
                                              monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(seconds: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("eventide.cli.follow.sleep", interrupted)
    (folder / "events.csv").write_text(FIRST)
    assert follow("--state", "state", events="events.csv") == 130
    (folder / "rules.ec").write_text(MORE)
    (folder / "events.csv").write_text(FIRST + SECOND)
    assert "were read again" not in capsys.readouterr().err
    assert follow("--state", "state", events="events.csv") == 130
    assert "the rules were read again; kept: rich(_); rebuilt: lucky(_)" in capsys.readouterr().err
    assert (folder / "out.csv").read_text() == TOLD


def test_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "rules.ec", "--events", "events.csv", "--reload"]) == 2
    assert "needs --follow" in capsys.readouterr().err
    for other, text in (("rules.mtl", "B(X) :- A(X)."), ("rules.lars", "b(X) :- a(X) [3].")):
        Path(other).write_text(text)
        assert main(["run", other, "--events", "events.csv", "--reload"]) == 2
        assert "nothing is followed" in capsys.readouterr().err
    assert follow("--probabilistic") == 2
    assert "uncertain" in capsys.readouterr().err
