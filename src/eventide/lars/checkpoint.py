"""LARS sessions as bytes and back: the facts that still matter, those that wait, and the rows that are open.

They are JSON, sealed as `engine.sealing` does. A session that goes on sees its facts again, so its windows show what
they showed.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from eventide.engine.sealing import digest_of, sealed, unsealed
from eventide.lars.values import Value
from eventide.syntax.lars_trees import LarsTree
from eventide.syntax.terms import Number

KIND = b"eventide lars session "
VERSION = b"1 "
Fact = tuple[int, str, tuple[Value, ...]]
Open = tuple[str, tuple[Value, ...], int | None, int]
"""A row that is open: predicate, arguments, number of the answer stream, start."""


@dataclass(frozen=True)
class Snapshot:
    """What a session was made with, and what it has become."""

    program: str
    options: Mapping[str, Any]
    query_time: int
    kept: list[Fact]
    waiting: list[Fact]
    rows: list[Open]
    late: int = 0
    present: tuple[tuple[str, int], ...] = ()
    """The predicates that facts and rules both gave so far."""


def fingerprint(tree: LarsTree) -> str:
    """What makes two programs the same for a saved session."""
    return digest_of(str(tree).encode())


def to_bytes(snapshot: Snapshot) -> bytes:
    """A snapshot as bytes.

    >>> state = to_bytes(Snapshot("p", {}, 3, [(1, "p", ("a", 2))], [], [("h", (), None, 1)]))
    >>> from_bytes(state).kept
    [(1, 'p', ('a', 2))]
    """
    data = json.dumps({
        "program": snapshot.program, "options": dict(snapshot.options), "query_time": snapshot.query_time,
        "kept": [(time, name, _plain(row)) for time, name, row in snapshot.kept],
        "waiting": [(time, name, _plain(row)) for time, name, row in snapshot.waiting],
        "rows": [(name, _plain(row), model, start) for name, row, model, start in snapshot.rows],
        "late": snapshot.late, "present": snapshot.present}).encode()
    return sealed(KIND + VERSION, data)


def from_bytes(state: bytes) -> Snapshot:
    """The snapshot in some bytes; InputError if they are none, damaged, or of another version."""
    other = isinstance(state, bytes) and state.startswith(KIND)
    found = json.loads(unsealed(state, KIND + VERSION, "the session was saved by another version of Eventide"
                                if other else "this is no saved LARS session"))
    return Snapshot(
        found["program"], found["options"], found["query_time"], _facts(found["kept"]), _facts(found["waiting"]),
        [(name, _row(row), model, start) for name, row, model, start in found["rows"]], found["late"],
        tuple((name, arity) for name, arity in found["present"]))


def _plain(row: Iterable[Value]) -> list[Any]:
    """JSON keeps the difference between 1 and 1.0."""
    return [value.value if isinstance(value, Number) else value for value in row]


def _row(values: Iterable[Any]) -> tuple[Value, ...]:
    return tuple(Number(value) if isinstance(value, float) else value for value in values)


def _facts(rows: Iterable[Any]) -> list[Fact]:
    return [(time, name, _row(row)) for time, name, row in rows]
