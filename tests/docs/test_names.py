"""What pages name is there: files of the source, modules, commands, options, environment variables.

What stands between backticks counts, and commands in blocks that are not run: those that never end, or need a screen.
All other snippets are run (`test_snippets`).
"""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer
from tests.docs.generated import ROOT, pages
from tests.docs.snippets import blocks

from eventide.analysis.passes import PASSES
from eventide.cli.main import build_app

PAGES = [*pages(), ROOT / "CHANGELOG.md"]
NAMES = [str(page.relative_to(ROOT)) for page in PAGES]
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`([^`\n]+)`")
FILE = re.compile(r"[\w/.-]+\.(?:py|toml|js)|(?:src|docs|tests|benchmarks|scripts|editors)/[\w/.-]+|[a-z_]+/")
EXAMPLES = {"languages.toml"}  # files of readers
OTHERS = {"--help", "-m", "-P", "--archives"}  # of every command, of pytest, Python and spark-submit


def code_of(page: Path) -> Iterator[str]:
    """What stands between backticks in the text of a page, and the commands that are only shown."""
    text = page.read_text(encoding="utf-8")
    yield from (" ".join(found.split()) for found in CODE.findall(FENCE.sub("", text)))
    for block in blocks(text):
        if block.language in ("", "sh"):
            for line in block.text.splitlines():
                command = line.rpartition(" | ")[2].removeprefix("$ ").partition(" #")[0]
                if command.startswith(("eventide ", "./eventide ")):
                    yield command


@cache
def commands() -> dict[str, set[str]]:
    """The options of each command."""
    group: Any = typer.main.get_command(build_app())

    def options(command: Any) -> set[str]:
        return {name for param in command.params for name in (*param.opts, *param.secondary_opts)}

    return {"": options(group)} | {name: options(command) for name, command in group.commands.items()}


@cache
def options_of_benchmarks() -> set[str]:
    """The options that benchmarks read themselves."""
    return {call.args[0].value for path in (ROOT / "benchmarks").glob("*.py")
            for call in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "add_argument"
            and isinstance(call.args[0], ast.Constant)}


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_files_are_there(page: Path) -> None:
    roots = (ROOT, ROOT / "src" / "eventide", ROOT / "docs", page.parent, ROOT / "src")
    named = [name for name in code_of(page) if FILE.fullmatch(name) and name not in EXAMPLES]
    assert [name for name in named if not any((root / name).exists() for root in roots)] == []


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_modules_and_what_is_in_them(page: Path) -> None:
    for name in code_of(page):
        found = re.match(r"(?:eventide|ev)(?:\.\w+)+", name)
        if found and not FILE.fullmatch(name):
            assert resolved(found[0].replace("ev.", "eventide.", 1) if name.startswith("ev.") else found[0]), name


def options_of_tests() -> set[str]:
    """What `./eventide test` understands beside the options of pytest."""
    text = (ROOT / "tests" / "conftest.py").read_text(encoding="utf-8")
    return set(re.findall(r'addoption\("(--[\w-]+)"', text))


def resolved(name: str) -> bool:
    """Whether a dotted name is a module, or something in one."""
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        try:
            found: object = importlib.import_module(".".join(parts[:length]))
        except ModuleNotFoundError:
            continue
        for part in parts[length:]:
            if not hasattr(found, part):
                return False
            found = getattr(found, part)
        return True
    return False


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_commands_and_options(page: Path) -> None:
    known = {option for options in commands().values() for option in options} | OTHERS
    for name in code_of(page):
        found = re.match(r"(?:\./)?eventide ([a-z][a-z-]*)\b", name)
        command = found[1] if found else None
        assert command is None or command in commands() or command == "test", name
        allowed = known if command is None else commands().get(command, known) | commands()[""] | OTHERS
        if command in (None, "bench"):
            allowed = allowed | options_of_benchmarks()
        if command in (None, "test"):
            allowed = allowed | options_of_tests()
        assert [option for option in re.findall(r"(?<![\w-])--[a-z][\w-]*", name) if option not in allowed] == [], name


def test_the_passes_are_listed_in_order() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\d+\. `(\w+)`:", page.partition("The passes of")[2].partition("```")[0], re.MULTILINE)
    assert listed == [each.__name__ for each in PASSES]


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_environment_variables(page: Path) -> None:
    read = "".join(path.read_text(encoding="utf-8") for folder in ("src", "tests", "scripts")
                   for path in (ROOT / folder).rglob("*.py")) + (ROOT / "eventide").read_text(encoding="utf-8")
    for name in code_of(page):
        assert all(variable in read for variable in re.findall(r"EVENTIDE_\w+", name)), name
