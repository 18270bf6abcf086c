"""The example of every command runs as it stands in the reference and in `--help`, in a shell and an empty folder."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.docs.generated import ROOT
from tests.docs.snippets import blocks

from eventide.cli.main import COMMANDS, main

# As they are told by --help, where lines are not longer than a terminal is wide, and end with nothing but themselves.
WIDTH = 80
EXAMPLES = {block.text.split("eventide ")[-1].split()[0]: block.text
            for block in blocks((ROOT / "docs" / "reference" / "command-line.md").read_text(encoding="utf-8"))
            if block.language == "sh"}
MARKS = {"demo": (pytest.mark.spark, pytest.mark.slow), "stream": (pytest.mark.spark, pytest.mark.slow)}
LARGE = {"bench"}  # takes minutes; tests/test_benchmarks.py runs all benchmarks small


@pytest.mark.parametrize("command", [pytest.param(name, marks=MARKS.get(name, ()))
                                     for name in EXAMPLES if name not in LARGE])
def test_example(command: str, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    shim = tmp_path / "bin" / "eventide"
    shim.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m eventide "$@"\n')
    shim.chmod(0o755)
    work = tmp_path / "work"
    work.mkdir()
    environ = {**os.environ, "PATH": f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(["sh", "-e", "-c", EXAMPLES[command]], cwd=work, env=environ, capture_output=True, text=True,
                          check=False)
    assert done.returncode == 0, f"{done.stdout}{done.stderr}"


def test_every_command_has_one() -> None:
    assert set(EXAMPLES) == {name.replace("_", "-") for name in COMMANDS}


@pytest.mark.parametrize("command", EXAMPLES)
def test_help_has_the_example_as_it_stands(command: str, capsys: pytest.CaptureFixture[str],
                                           monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(WIDTH))
    assert main([command, "--help"]) == 0
    shown = [line.strip().removeprefix("Example: ") for line in capsys.readouterr().out.splitlines()]
    lines = EXAMPLES[command].splitlines()
    assert lines[0] in shown
    first = shown.index(lines[0])
    assert shown[first:first + len(lines)] == lines
    assert not any(line.endswith("\\") for line in lines), "what is copied from a terminal has spaces at its end"
