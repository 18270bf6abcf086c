"""Sessions over uncertain facts as bytes and back: a line with a digest, then a header in JSON and plain arrays.

Nothing of the bytes is ever executed, and nothing of them is read before their digest is right.
"""

from __future__ import annotations

import io
import json
from dataclasses import asdict
from hashlib import blake2b
from typing import Any

import numpy as np
import pyarrow as pa

from eventide.engine.checkpoint import plain_term, value_from
from eventide.engine.recognition import Counts, Settings
from eventide.errors import InputError
from eventide.formats.facts import Coded, Column, FactTable
from eventide.probability.durations import Durations
from eventide.probability.intervals import Recogniser
from eventide.probability.recognition import Uncertainty
from eventide.probability.session import Carried, Kept, Rules, UncertainSession

MAGIC = b"eventide uncertain session 1 "
_ARRAYS = ("time", "end", "arrival", "probability", "op", "rows")


class _Writer:
    """Puts arrays aside; what it returns is JSON that names them by number."""

    def __init__(self) -> None:
        self.arrays: list[Any] = []

    def array(self, values: Any) -> int | None:
        if values is None:
            return None
        self.arrays.append(np.ascontiguousarray(values))
        return len(self.arrays) - 1

    def column(self, column: Column | None) -> Any:
        if isinstance(column, Coded):
            return {"codes": self.array(column.codes), "values": list(column.values)}
        return self.array(column)

    def facts(self, table: FactTable) -> dict[str, Any]:
        arrays = {name: self.array(getattr(table, name)) for name in _ARRAYS}
        return {"name": table.name, "kind": table.kind, "args": [self.column(column) for column in table.args],
                "value": self.column(table.value), "by_column": table.by_column, **arrays}

    def bytes(self, content: bytes) -> int | None:
        return self.array(np.frombuffer(content, np.uint8))

    def table(self, table: pa.Table) -> int | None:
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, table.schema) as stream:
            stream.write_table(table)
        return self.bytes(sink.getvalue().to_pybytes())


def to_bytes(session: UncertainSession) -> bytes:
    """What `UncertainSession.save` gives."""
    out = _Writer()
    past, online = session.past, session.maximal
    header: dict[str, Any] = {
        "program": session.program.fingerprint, "settings": asdict(session.settings),
        "counts": asdict(session.counts), "start": session.start, "query_time": session.query_time,
        "fluents": None if session.fluents is None else list(session.fluents), "edge": past.edge,
        "threshold": None if session.uncertainty.threshold is None else str(session.uncertainty.threshold),
        "waiting": [[*key, [out.facts(table) for table in tables]] for key, tables in session.waiting.items()],
        "facts": [[*key, out.facts(kept.table), out.array(kept.first), out.array(kept.last)]
                  for key, kept in session.facts.items()],
        "held": {name: out.facts(table) for name, table in past.held.items()},
        "known": [[number, out.facts(table)] for number, table in past.known.items()],
        "stretches": out.table(session.stretches), "shown": out.table(session.shown), "online": None,
    }
    if online is not None:
        known = online.recogniser.durations
        header["online"] = {
            "recogniser": out.bytes(online.recogniser.save()), "memory": online.recogniser.memory,
            "durations": None if known is None else [known.mean, known.deviation, known.counts],
            "origins": [[*key, origin] for key, origin in online.origins.items()]}
    body = io.BytesIO()
    text = np.frombuffer(json.dumps(header, default=plain_term).encode(), np.uint8)
    np.savez(body, header=text, **{str(number): array for number, array in enumerate(out.arrays)})
    content = body.getvalue()
    return MAGIC + blake2b(content, digest_size=16).hexdigest().encode() + b"\n" + content


class _Reader:
    def __init__(self, arrays: Any) -> None:
        self._arrays = arrays

    def array(self, number: int | None) -> Any:
        return None if number is None else self._arrays[str(number)]

    def column(self, given: Any) -> Any:
        if isinstance(given, dict):
            values: tuple[Any, ...] = tuple(value_from(value) for value in given["values"])
            return Coded(self.array(given["codes"]), values)
        return self.array(given)

    def facts(self, given: dict[str, Any]) -> FactTable:
        arrays = {name: self.array(given[name]) for name in _ARRAYS}
        return FactTable(given["name"], given["kind"], args=tuple(self.column(column) for column in given["args"]),
                         value=self.column(given["value"]), by_column=given["by_column"], **arrays)

    def table(self, number: int) -> pa.Table:
        return pa.ipc.open_stream(pa.py_buffer(self.array(number).tobytes())).read_all()


def from_bytes(program: Rules, state: bytes) -> UncertainSession:
    """What `Program.restore` gives."""
    line, _, content = bytes(state).partition(b"\n")
    if line[len(MAGIC):] != blake2b(content, digest_size=16).hexdigest().encode():
        raise InputError("the saved session is damaged: its digest is wrong; take an older one")
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        header = json.loads(arrays["header"].tobytes())
        if header["program"] != program.fingerprint:
            raise InputError("the session was saved with other rules or other background than this program's; restore "
                             "it with the program that saved it, or begin a new session")
        return _session(program, header, _Reader(arrays))


def _session(program: Rules, header: dict[str, Any], read: _Reader) -> UncertainSession:
    online = header["online"] or {"memory": None, "durations": None}
    durations = online["durations"]
    if durations is not None:
        mean, deviation, counts = durations
        durations = Durations(mean, deviation, tuple((length, count) for length, count in counts))
    found = UncertainSession(program, Settings(**header["settings"]), Uncertainty("marginal", header["threshold"]),
                             header["fluents"], online["memory"], durations)
    found.counts, found.start, found.query_time = Counts(**header["counts"]), header["start"], header["query_time"]
    found.waiting = {(name, arity): [read.facts(table) for table in tables]
                     for name, arity, tables in header["waiting"]}
    found.facts = {(name, arity): Kept(read.facts(table), read.array(first), read.array(last))
                   for name, arity, table, first, last in header["facts"]}
    found.past = Carried(header["edge"], {name: read.facts(table) for name, table in header["held"].items()},
                         {number: read.facts(table) for number, table in header["known"]})
    found.stretches, found.shown = read.table(header["stretches"]), read.table(header["shown"])
    if found.maximal is not None:
        found.maximal.recogniser = Recogniser.restore(read.array(online["recogniser"]).tobytes())
        found.maximal.origins = {tuple(key): origin for *key, origin in online["origins"]}
    return found
