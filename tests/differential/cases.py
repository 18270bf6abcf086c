"""A case: a program, what is done to it, and the options it runs with; as a value, and as a folder of small files."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from tests.oracle.sessions import Operation
from tests.oracle.store import Fact

OPTIONS, OPERATIONS = "case.json", "operations.jsonl"


@dataclass(frozen=True)
class Options:
    """How a case is run. Window and step are those of every path with windows; `queries` are those of a session."""

    start: int | None
    end: int
    window: int
    step: int
    queries: tuple[int, ...]
    tick: int = 1
    ties: str = "termination"
    initially_at: int = 0
    saves: tuple[int, ...] = ()
    """The query times before which a session is saved and restored."""
    pieces: int = 1 << 20
    """How many bytes of a followed stream are read at once."""
    buckets: int = 2
    evaluation: str = "auto"


@dataclass(frozen=True)
class Case:
    """Clauses one by one, and operations in the order in which they are handed in: so a part of it is a case too."""

    language: str
    seed: int
    clauses: tuple[str, ...]
    operations: tuple[Operation, ...]
    options: Options

    @property
    def text(self) -> str:
        """The program."""
        return "".join(f"{clause}\n" for clause in self.clauses)

    def with_options(self, **changed: Any) -> Case:
        """The same case with other options."""
        return replace(self, options=replace(self.options, **changed))

    @property
    def facts(self) -> list[tuple[Fact, int]]:
        """What is inserted, with its arrival."""
        return [(operation.fact, operation.arrival) for operation in self.operations if operation.sign > 0]


def write_case(case: Case, folder: Path, ending: str, **notes: Any) -> None:
    """Write a case as files that the command line reads too: the rules, the operations, and the rest."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"rules{ending}").write_text(case.text, encoding="utf-8")
    (folder / OPERATIONS).write_text(jsonl_of(case.operations), encoding="utf-8")
    rest = {"language": case.language, "seed": case.seed, **notes, "options": asdict(case.options)}
    (folder / OPTIONS).write_text(f"{json.dumps(rest, indent=1)}\n", encoding="utf-8")


def read_case(folder: Path, clauses_of: Callable[[str], Iterable[str]] = str.splitlines) -> Case:
    """The case that was written to a folder."""
    rest = json.loads((folder / OPTIONS).read_text(encoding="utf-8"))
    options: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value
                               for name, value in rest["options"].items()}
    text = next(folder.glob("rules.*")).read_text(encoding="utf-8")
    rows = (folder / OPERATIONS).read_text(encoding="utf-8").splitlines()
    return Case(rest["language"], rest["seed"], tuple(clauses_of(text)),
                tuple(operation_of(json.loads(row)) for row in rows), Options(**options))


def jsonl_of(operations: Iterable[Operation]) -> str:
    """Operations as the text of a `.jsonl` file."""
    return "".join(f"{json.dumps(row_of(operation), ensure_ascii=False)}\n" for operation in operations)


def row_of(operation: Operation) -> dict[str, Any]:
    """An operation as an object of a `.jsonl` file."""
    kind, name, args, *rest = operation.fact
    row: dict[str, Any] = {"op": "+" if operation.sign > 0 else "-", "arrival": operation.arrival}
    row |= {"time": rest[0] if kind == "event" else rest[1], "event": name}
    if kind == "interval":
        row["end"] = rest[2]
    if kind != "event":
        row["value"] = rest[0]
    return row | {f"x{place}": value for place, value in enumerate(args, 1)}


def operation_of(row: dict[str, Any]) -> Operation:
    """The operation that was written as an object."""
    args = tuple(value for key, value in row.items() if key.startswith("x"))
    fact: Any
    if "end" in row:
        fact = ("interval", row["event"], args, row["value"], row["time"], row["end"])
    elif "value" in row:
        fact = ("point", row["event"], args, row["value"], row["time"])
    else:
        fact = ("event", row["event"], args, row["time"])
    return Operation(fact, row["arrival"], 1 if row["op"] == "+" else -1)
