"""Sessions over uncertain facts as bytes and back: a header in JSON and arrays, sealed as `engine.sealing` does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields, replace
from typing import Any

import numpy as np

from eventide.algebra import nodes as n
from eventide.engine.checkpoint import plain_term, refill
from eventide.engine.recognition import Counts, Settings
from eventide.engine.relation import Rows
from eventide.engine.retained import Batch
from eventide.engine.sealing import Aside, packed, sealed, unpacked, unsealed
from eventide.errors import InputError
from eventide.probability.durations import Durations
from eventide.probability.intervals import Recogniser
from eventide.probability.recognition import Uncertainty
from eventide.probability.retained import Waiting
from eventide.probability.session import Carried, Rules, UncertainSession
from eventide.probability.stretches import Stretches

MAGIC = b"eventide uncertain session 2 "
_BATCH = tuple(each.name for each in fields(Batch) if each.name not in ("columns", "ordered"))
_STRETCHES = tuple(each.name for each in fields(Stretches))


class _Writer(Aside):
    """Puts arrays aside; what it returns is JSON that names them by number."""

    def columns(self, columns: Mapping[str, Any]) -> dict[str, int | None]:
        return {name: self.array(values) for name, values in columns.items()}

    def batch(self, batch: Batch | None) -> dict[str, Any] | None:
        return None if batch is None else {"columns": self.columns(batch.columns),
                                           **{name: self.array(getattr(batch, name)) for name in _BATCH}}

    def rows(self, rows: Rows) -> dict[str, Any]:
        own = [f for f in rows.fields if f.type != n.UNUSED]
        return {"fields": [(f.name, f.type) for f in rows.fields], "length": rows.length,
                "columns": self.columns({f.name: rows.column(f.name) for f in own})}

    def stretches(self, stretches: Stretches) -> dict[str, int | None]:
        return {name: self.array(getattr(stretches, name)) for name in _STRETCHES}


def to_bytes(session: UncertainSession) -> bytes:
    """What `UncertainSession.save` gives."""
    out = _Writer()
    past, online, book = session.past, session.maximal, session.book
    header: dict[str, Any] = {
        "program": session.fingerprint, "settings": asdict(session.settings),
        "counts": asdict(session.counts), "start": session.start, "query_time": session.query_time,
        "fluents": None if session.fluents is None else list(session.fluents), "edge": past.edge,
        "threshold": None if session.uncertainty.threshold is None else str(session.uncertainty.threshold),
        "domains": {name: domain.values for name, domain in sorted(session.store.domains.items())},
        "inputs": {name: {"facts": out.batch(kept.facts), "waiting": [out.batch(each.batch) for each in kept.waiting]}
                   for name, kept in session.inputs.items()},
        "held": {name: [out.rows(rows), out.array(chances)] for name, (rows, chances) in past.held.items()},
        "known": [[number, out.rows(rows)] for number, rows in past.known.items()],
        "book": {"size": book.size, "numbers": [out.array(numbers) for numbers in book.numbers],
                 "codes": [[out.array(column) for column in columns] for columns in book.codes]},
        "stretches": out.stretches(session.stretches), "shown": out.stretches(session.shown), "online": None,
    }
    if online is not None:
        known = online.recogniser.durations
        header["online"] = {
            "recogniser": out.array(np.frombuffer(online.recogniser.save(), np.uint8)),
            "memory": online.recogniser.memory, "origins": out.array(online.origins),
            "durations": None if known is None else [known.mean, known.deviation, known.counts]}
    return sealed(MAGIC, packed(header, out.arrays, plain_term))


class _Reader:
    def __init__(self, arrays: Any) -> None:
        self._arrays = arrays

    def array(self, number: int | None) -> Any:
        return None if number is None else self._arrays[str(number)]

    def columns(self, given: Mapping[str, int]) -> dict[str, Any]:
        return {name: self.array(number) for name, number in given.items()}

    def batch(self, given: Mapping[str, Any]) -> Batch:
        return Batch(self.columns(given["columns"]), **{name: self.array(given[name]) for name in _BATCH})

    def rows(self, given: Mapping[str, Any]) -> Rows:
        return Rows(tuple(n.Field(name, type_) for name, type_ in given["fields"]), self.columns(given["columns"]),
                    given["length"], timed=False)

    def stretches(self, given: Mapping[str, int]) -> Stretches:
        return Stretches(**self.columns(given))


def from_bytes(program: Rules, state: bytes) -> UncertainSession:
    """What `Program.restore` gives."""
    content = unsealed(state, MAGIC, "the session was saved by another version of Eventide; restore it with that one, "
                       "or begin a new session")
    with unpacked(content) as (header, arrays):
        if header["program"] != program.fingerprint:
            raise InputError("the session was saved with other rules or other background than this program's; restore "
                             "it with the program that saved it, or begin a new session")
        found = _session(program, header, _Reader(arrays))
        found.fingerprint = header["program"]
        return found


def _session(program: Rules, header: dict[str, Any], read: _Reader) -> UncertainSession:
    online = header["online"] or {"memory": None, "durations": None}
    durations = online["durations"]
    if durations is not None:
        mean, deviation, counts = durations
        durations = Durations(mean, deviation, tuple((length, count) for length, count in counts))
    found = UncertainSession(program, Settings(**header["settings"]), Uncertainty("marginal", header["threshold"]),
                             header["fluents"], online["memory"], durations)
    for domain in found.store.domains.values():
        domain.open()
    refill(found.store, header["domains"])
    found.counts, found.start, found.query_time = Counts(**header["counts"]), header["start"], header["query_time"]
    found.inputs = {name: replace(kept, facts=read.batch(given["facts"]) if given["facts"] else None,
                                  waiting=tuple(Waiting.of(read.batch(each)) for each in given["waiting"]))
                    for name, kept in found.inputs.items() for given in (header["inputs"][name],)}
    found.past = Carried(header["edge"],
                         {name: (read.rows(rows), read.array(chances)) for name, (rows, chances)
                          in header["held"].items()}, {number: read.rows(rows) for number, rows in header["known"]})
    book = header["book"]
    found.book.size, found.book.numbers = book["size"], [read.array(numbers) for numbers in book["numbers"]]
    found.book.codes = [tuple(read.array(column) for column in columns) for columns in book["codes"]]
    found.stretches, found.shown = read.stretches(header["stretches"]), read.stretches(header["shown"])
    if found.maximal is not None:
        found.maximal.recogniser = Recogniser.restore(read.array(online["recogniser"]).tobytes())
        found.maximal.origins = read.array(online["origins"])
    return found
