"""Cases of the catalogue of mistakes, read from text files; a case is added without writing Python.

    === what is wrong
    --- rules.ec            a file of the case; `--- events.csv.gz cut` is packed and then cut off
    initiatedAt(…
    --- command             optional: without it `run` if there is an events.csv, otherwise `check`
    run rules.ec --events events.csv --window 5
    --- expect
    1                       the exit code
    error code rules.ec:1:9 part of the message | part of the hint

Every diagnostic has one line, and no line matches two. Where no place or code is known, `-` stands for it.
"""

from __future__ import annotations

import gzip
import json
import shlex
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "cases"


@dataclass(frozen=True)
class Expected:
    """What one diagnostic must be."""

    severity: str
    code: str
    place: str
    message: str
    hint: str

    def matches(self, found: dict[str, Any]) -> bool:
        """Whether a diagnostic is the expected one."""
        return (self.severity == found["severity"] and self.code == (found.get("code") or "-")
                and self.place == place_of(found) and self.message in found["message"]
                and (self.hint in (found["hint"] or "") if self.hint else not found["hint"]))


@dataclass
class Case:
    """A mistake: files, a command, and what must be said about it."""

    title: str
    files: dict[str, str] = field(default_factory=dict)
    command: str = ""
    code: int = 0
    expected: list[Expected] = field(default_factory=list)

    @property
    def arguments(self) -> list[str]:
        """The command line of the case, with machine-readable messages."""
        events = [name for name in self.files if name.startswith("events.")]
        command = self.command or (f"run rules.ec --events {events[0]}" if events else "check rules.ec")
        return [*shlex.split(command), "--json"]

    def write(self, folder: Path) -> None:
        """Put the files of the case into a folder."""
        for title, text in self.files.items():
            name, _, how = title.partition(" ")
            data = text.encode()
            if name.endswith(".gz"):
                data = gzip.compress(data, mtime=0)
            (folder / name).write_bytes(data[:-12] if how == "cut" else data)


def place_of(found: dict[str, Any]) -> str:
    """File, line and column of a diagnostic."""
    return f"{found['file']}:{found['line']}:{found['column']}" if found.get("file") else "-"


def line_of(found: dict[str, Any]) -> str:
    """A diagnostic as it is written in a case."""
    hint = f" | {found['hint']}" if found["hint"] else ""
    return f"{found['severity']} {found.get('code') or '-'} {place_of(found)} {found['message']}{hint}"


def diagnostics(out: str, err: str) -> list[dict[str, Any]]:
    """The diagnostics among the messages: those of `check` on standard output, all others on standard error."""
    found = [json.loads(line) for line in err.splitlines()]
    if out.startswith('{"diagnostics"'):
        found += json.loads(out)["diagnostics"]
    return [row for row in found if "hint" in row]


def cases() -> list[Case]:
    """All cases of the folder."""
    return [_case(path, block) for path in sorted(FOLDER.glob("*.txt"))
            for block in path.read_text(encoding="utf-8").split("=== ")[1:]]


def _case(path: Path, block: str) -> Case:
    title, _, rest = block.partition("\n")
    case = Case(f"{path.stem}: {title.strip()}")
    for section in f"\n{rest}".split("\n--- ")[1:]:
        name, _, text = section.partition("\n")
        if name == "command":
            case.command = text.strip()
        elif name == "expect":
            code, *lines = text.strip().splitlines()
            case.code = int(code)
            case.expected = [_expected(line) for line in lines]
        else:
            case.files[name.strip()] = f"{text}\n" if text and not text.endswith("\n") else text
    return case


def _expected(line: str) -> Expected:
    severity, code, place, text = line.split(" ", 3)
    message, _, hint = text.partition(" | ")
    return Expected(severity, code, place, message.strip(), hint.strip())
