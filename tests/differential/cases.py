"""A case: a program, what is done to it, and the options it runs with; as a value, and as a folder of small files."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from tests.oracle.sessions import Operation
from tests.oracle.store import Fact

OPTIONS, OPERATIONS = "case.json", "operations.jsonl"


@dataclass(frozen=True)
class Options:
    """How a program of the Event Calculus is run. Window and step are those of every path with windows; `queries` are
    those of a session."""

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

    def simpler(self, operations: Sequence[Operation]) -> Iterator[Options]:
        """Plainer options."""
        for name, plain in {"saves": (), "evaluation": "auto", "pieces": 1 << 20, "ties": "termination",
                            "initially_at": 0, "buckets": 1}.items():
            if getattr(self, name) != plain:
                yield replace(self, **{name: plain})  # type: ignore[arg-type]
        for queries in shorter(self.queries):
            yield replace(self, queries=queries)
        if self.buckets > 2:
            yield replace(self, buckets=2)
        if self.window < self.end:
            yield replace(self, window=self.end + self.tick)
        if self.step != self.window:
            yield replace(self, step=self.window)
        latest = max([0, *(operation.arrival for operation in operations)])
        if latest < self.end and self.queries:
            for end in (latest, (latest + self.end) // 2, self.end - self.tick):
                if end < self.end:
                    yield replace(self, end=end, queries=tuple(q for q in self.queries if q <= end) or (end,))


def shorter(queries: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Query times without one of them, which is not the last."""
    for place in range(len(queries) - 1):
        yield queries[:place] + queries[place + 1:]


@dataclass(frozen=True)
class Case:
    """Clauses one by one, and operations in the order in which they are handed in: so a part of it is a case too."""

    language: str
    seed: int
    clauses: tuple[str, ...]
    operations: tuple[Operation, ...]
    options: Any
    """Of the type that the language has for them."""

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


def read_case(folder: Path, options_of: Mapping[str, Callable[..., Any]]) -> Case:
    """The case that was written to a folder; for each language, the type of its options."""
    rest = json.loads((folder / OPTIONS).read_text(encoding="utf-8"))
    options: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value
                               for name, value in rest["options"].items()}
    text = next(folder.glob("rules.*")).read_text(encoding="utf-8")
    rows = (folder / OPERATIONS).read_text(encoding="utf-8").splitlines()
    return Case(rest["language"], rest["seed"], tuple(text.splitlines()),
                tuple(operation_of(json.loads(row)) for row in rows), options_of[rest["language"]](**options))


def jsonl_of(operations: Iterable[Operation]) -> str:
    """Operations as the text of a `.jsonl` file."""
    return "".join(f"{json.dumps(row_of(operation), ensure_ascii=False)}\n" for operation in operations)


def row_of(operation: Operation) -> dict[str, Any]:
    """An operation as an object of a `.jsonl` file. Facts are text where the language has its text for them."""
    if isinstance(operation.fact, str):
        return {"op": "+" if operation.sign > 0 else "-", "arrival": operation.arrival, "fact": operation.fact}
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
    if "fact" in row:
        return Operation(row["fact"], row["arrival"], 1 if row["op"] == "+" else -1)
    args = tuple(value for key, value in row.items() if key.startswith("x"))
    fact: Any
    if "end" in row:
        fact = ("interval", row["event"], args, row["value"], row["time"], row["end"])
    elif "value" in row:
        fact = ("point", row["event"], args, row["value"], row["time"])
    else:
        fact = ("event", row["event"], args, row["time"])
    return Operation(fact, row["arrival"], 1 if row["op"] == "+" else -1)
