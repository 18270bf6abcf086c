"""The command line's frame: help, version, exit codes, `-q` and `--json`."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from eventide.cli import main as cli
from eventide.cli.messages import messages
from eventide.errors import EventideError, ProgramError
from eventide.syntax.diagnostics import Diagnostic, Span


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], None]], None]:
    """Makes a function the one command of the program, `probe`."""

    def install(function: Callable[[], None]) -> None:
        monkeypatch.setattr(cli, "COMMANDS", ("probe",))
        monkeypatch.setitem(sys.modules, "eventide.cli.probe", SimpleNamespace(probe=function))  # type: ignore[arg-type]

    return install


def test_help_lists_the_commands(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["--help"]) == 0
    printed = capsys.readouterr().out
    assert all(name.replace("_", "-") in printed for name in cli.COMMANDS)


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_the_help_of_every_command_has_an_example(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([name.replace("_", "-"), "--help"]) == 0
    assert f"eventide {name.replace('_', '-')}" in capsys.readouterr().out.partition("Example")[2]


def test_no_command_shows_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([]) == 0
    assert "Usage: eventide" in capsys.readouterr().out


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["--version"]) == 0
    assert capsys.readouterr().out == "eventide 0.1.0\n"
    assert cli.main(["--json", "--version"]) == 0
    assert json.loads(capsys.readouterr().out) == {"version": "0.1.0"}


@pytest.mark.parametrize("arguments", [["frobnicate"], ["--frobnicate"], ["demo", "--frobnicate"], ["demo", "a", "b"]])
def test_wrong_usage_is_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(arguments) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("error: ")
    assert "--help" in printed.err


def test_wrong_usage_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["demo", "--frobnicate", "--json"]) == 2
    assert json.loads(capsys.readouterr().err)["severity"] == "error"


def test_an_unknown_command_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["--json", "nothing-known"]) == 2
    assert json.loads(capsys.readouterr().err)["severity"] == "error"


def test_an_error_is_one_message_and_1(command: Callable[..., None], capsys: pytest.CaptureFixture[str]) -> None:
    def probe() -> None:
        raise EventideError("nothing to read")

    command(probe)
    assert cli.main(["probe"]) == 1
    assert capsys.readouterr().err == "error: nothing to read\n"


def test_diagnostics_show_the_line_and_a_caret(
    command: Callable[..., None], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "rules.ec"
    file.write_text("one.\ntwo(X.\n")
    problem = Diagnostic("error", "syntax", "a bracket is open", Span(str(file), 2, 4, 2, 5), "close it")

    def probe() -> None:
        raise ProgramError("2 problems", [problem, Diagnostic("warning", "odd", "no place")])

    command(probe)
    assert cli.main(["probe"]) == 1
    assert capsys.readouterr().err.splitlines() == [
        f"{file}:2:4: error: a bracket is open [syntax]",
        "    two(X.",
        "       ^",
        "    hint: close it",
        "warning: no place [odd]",
    ]
    assert cli.main(["probe", "--json"]) == 1
    rows = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert [row["code"] for row in rows] == ["syntax", "odd"]
    assert rows[0]["line"] == 2


def test_a_missing_file_is_1(command: Callable[..., None], capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    def probe() -> None:
        (tmp_path / "absent.csv").read_text()

    command(probe)
    assert cli.main(["probe"]) == 1
    assert capsys.readouterr().err == f"error: {tmp_path / 'absent.csv'}: No such file or directory\n"


def test_a_defect_says_so_and_shows_its_traceback(
    command: Callable[..., None], capsys: pytest.CaptureFixture[str]
) -> None:
    def probe() -> None:
        raise ZeroDivisionError("oops")

    command(probe)
    assert cli.main(["probe"]) == 1
    printed = capsys.readouterr().err
    assert printed.startswith("error: internal error: ZeroDivisionError: oops")
    assert "Traceback" in printed


def test_interrupted_is_130(command: Callable[..., None], capsys: pytest.CaptureFixture[str]) -> None:
    def probe() -> None:
        raise KeyboardInterrupt

    command(probe)
    assert cli.main(["probe"]) == 130
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [["-q", "probe"], ["probe", "-q"], ["--quiet", "probe", "-q"]])
def test_quiet_before_and_behind_the_command(
    arguments: list[str], command: Callable[..., None], capsys: pytest.CaptureFixture[str]
) -> None:
    def probe() -> None:
        messages.say("working")
        messages.result([1], "one")

    command(probe)
    assert cli.main(arguments) == 0
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == ("one\n", "")
    assert cli.main(["probe"]) == 0
    assert capsys.readouterr().err == "working\n"


@pytest.mark.parametrize("arguments", [["--json", "probe"], ["probe", "--json"]])
def test_json_before_and_behind_the_command(
    arguments: list[str], command: Callable[..., None], capsys: pytest.CaptureFixture[str]
) -> None:
    def probe() -> None:
        messages.say("working")
        messages.result([1], "one")

    command(probe)
    assert cli.main(arguments) == 0
    printed = capsys.readouterr()
    assert json.loads(printed.out) == [1]
    assert json.loads(printed.err) == {"severity": "info", "message": "working"}


def test_help_loads_nothing_heavy() -> None:
    program = (
        "import sys; from eventide.cli.main import main; main(['--help'])\n"
        "sys.exit(', '.join({'numba', 'numpy', 'pyspark', 'pyarrow', 'pandas', 'networkx'} & set(sys.modules)) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"loaded: {done.stderr}"


def test_a_closed_pipe_is_quiet() -> None:
    program = (
        "import sys; from eventide.cli import main as cli; from types import SimpleNamespace\n"
        "def probe() -> None:\n"
        "    for _ in range(100_000): print('line')\n"
        "cli.COMMANDS = ('probe',); sys.modules['eventide.cli.probe'] = SimpleNamespace(probe=probe)\n"
        "sys.exit(cli.main(['probe']))"
    )
    child = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert child.stdout is not None and child.stderr is not None
    assert child.stdout.readline() == "line\n"
    child.stdout.close()
    assert child.stderr.read() == ""
    child.stderr.close()
    assert child.wait() == 0


def test_control_c_is_quiet_and_130() -> None:
    program = (
        "import sys, time; from eventide.cli import main as cli; from types import SimpleNamespace\n"
        "def probe() -> None: print('started', flush=True); time.sleep(60)\n"
        "cli.COMMANDS = ('probe',); sys.modules['eventide.cli.probe'] = SimpleNamespace(probe=probe)\n"
        "sys.exit(cli.main(['probe']))"
    )
    child = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert child.stdout is not None
    assert child.stdout.readline() == "started\n"
    child.send_signal(signal.SIGINT)
    assert child.communicate()[1] == "error: interrupted\n"
    assert child.returncode == 130
