"""A new user's way: the commands of the README and of the tutorial, as they stand there, from nothing to a report.

By default in the environment of the tests. With EVENTIDE_PROFILE=large in an empty clone with an empty environment,
set up by the wrapper, as on a machine that has nothing but Python.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from tests.docs.generated import ROOT
from tests.docs.snippets import blocks
from tests.effort import profile

TUTORIAL = ROOT / "docs" / "tutorial" / "first-recognition.md"
LARGE = profile() == "large"


def commands(page: Path, folder: Path) -> list[str]:
    """The commands of a page in order; the files that it shows are written to the folder."""
    found = []
    for block in blocks(page.read_text(encoding="utf-8")):
        if "." in block.title and "=" not in block.title:
            (folder / block.title).write_text(block.text, encoding="utf-8")
        if block.language == "console":
            found += re.findall(r"^\$ (.+)$", block.text, re.MULTILINE)
    return found


@pytest.fixture(scope="module")
def eventide(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Sequence[str], Path, dict[str, str]]]:
    """How the command is called, the Python that has it, and the environment of both."""
    if not LARGE:
        yield (sys.executable, "-m", "eventide"), Path(sys.executable), dict(os.environ)
        return
    folder = tmp_path_factory.mktemp("new user")
    began = time.monotonic()
    subprocess.run(["git", "clone", "-q", str(ROOT), str(folder / "eventide")], check=True)
    kept = {name: value for name, value in os.environ.items() if name.startswith("PIP_")}
    environ = {**kept, "HOME": str(folder), "PATH": os.environ["PATH"]}
    setup = next(block.text for block in blocks(TUTORIAL.read_text(encoding="utf-8")) if block.language == "sh")
    done = subprocess.run(["sh", "-e", "-c", f'{setup}\nprintf "\\n%s" "$PATH"'], cwd=folder / "eventide", env=environ,
                          stdout=subprocess.PIPE, text=True, check=True)
    environ["PATH"] = done.stdout.splitlines()[-1]
    print(f"set up after {time.monotonic() - began:.0f} s")
    yield ("eventide",), folder / "eventide" / ".venv" / "bin" / "python", environ


def test_from_an_empty_folder_to_a_report(eventide: tuple[Sequence[str], Path, dict[str, str]], tmp_path: Path) -> None:
    program, _, environ = eventide
    began = time.monotonic()
    for command in commands(ROOT / "README.md", tmp_path) + commands(TUTORIAL, tmp_path):
        words = shlex.split(command)
        if words[0] == "eventide":
            done = subprocess.run([*program, *words[1:]], cwd=tmp_path, env=environ, capture_output=True, text=True,
                                  check=False)
            assert done.returncode == 0, f"$ {command}\n{done.stdout}{done.stderr}"
    print(f"{time.monotonic() - began:.0f} s")
    report = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "danger" in report and "ann|press" in report
    assert "danger,ann|press,true,1749888901," in (tmp_path / "found.csv").read_text(encoding="utf-8")


def test_what_is_set_up_first_is_told() -> None:
    (setup,) = [block.text for block in blocks(TUTORIAL.read_text(encoding="utf-8")) if block.language == "sh"]
    assert re.findall(r"^[^#]+(?<! )", setup, re.MULTILINE) == ["./eventide --version", 'export PATH="$PWD:$PATH"']


def test_the_same_in_python(eventide: tuple[Sequence[str], Path, dict[str, str]], tmp_path: Path) -> None:
    _, python, environ = eventide
    commands(TUTORIAL, tmp_path)
    code = "\n".join(block.text for block in blocks(TUTORIAL.read_text(encoding="utf-8")) if block.language == "python")
    (tmp_path / "tutorial.py").write_text(code, encoding="utf-8")
    done = subprocess.run([str(python), "tutorial.py"], cwd=tmp_path, env=environ, capture_output=True, text=True,
                          check=False)
    assert done.returncode == 0, done.stderr
    assert "danger(ann,press)=true [(16, 22)]" in done.stdout
