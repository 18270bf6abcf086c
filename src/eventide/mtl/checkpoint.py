"""Sessions of DatalogMTL as bytes and back: a header in JSON and plain arrays, sealed as `engine.sealing` does."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from fractions import Fraction
from typing import Any

import numpy as np

from eventide.algebra.nodes import Field
from eventide.engine.checkpoint import plain_term, value_from
from eventide.engine.domains import Domain
from eventide.engine.recognition import Counts
from eventide.engine.sealing import Aside, digest_of, packed, sealed, unpacked, unsealed
from eventide.errors import InputError
from eventide.kernels.arrays import Array
from eventide.mtl.session import MtlSession
from eventide.mtl.stepping import Held, Piece

MAGIC = b"eventide metric session 1 "


def fingerprint(session: MtlSession) -> str:
    """What makes two programs the same for a saved session: their rules, and the types of their predicates."""
    model = session.reasoner.model
    known = [[str(rule) for rule in model.rules], sorted((*key, type_) for key, type_ in model.types.items())]
    return digest_of(json.dumps(known).encode())


class _Writer(Aside):
    """Puts arrays aside; what it returns is JSON that names them by number."""

    def array(self, values: Array) -> int | None:
        return super().array(values.astype(np.int64, copy=False))

    def piece(self, piece: Piece) -> dict[str, Any]:
        return {"fields": [(f.name, f.type) for f in piece.fields], "columns": [self.array(c) for c in piece.columns],
                "starts": self.array(piece.starts), "ends": self.array(piece.ends)}

    def pieces(self, pieces: Mapping[str, Piece]) -> dict[str, Any]:
        return {name: self.piece(piece) for name, piece in pieces.items()}


def to_bytes(session: MtlSession) -> bytes:
    """What `MtlSession.save` gives."""
    out = _Writer()
    reasoner = session.reasoner
    header = {
        "program": fingerprint(session), "wanted": list(reasoner.wanted), "variant": reasoner.variant,
        "forced": reasoner.forced, "delay": None if session.delay is None else str(session.delay),
        "denominator": reasoner.denominator, "counts": asdict(session.counts),
        "query_time": None if session.query_time is None else str(session.query_time),
        "domains": {name: domain.values for name, domain in sorted(reasoner.store.domains.items())},
        "states": [[held.upto, out.pieces(held.pieces())] for held in session.states],
        "facts": out.pieces(session.facts), "shown": out.pieces(session.shown),
        "waiting": [{name: [out.piece(piece), out.array(signs)] for name, (piece, signs) in operations.items()}
                    for operations in session.waiting],
    }
    return sealed(MAGIC, packed(header, out.arrays, plain_term))


class _Reader:
    """The arrays of a saved session, each checked so far that nothing can be led astray."""

    def __init__(self, arrays: Any, domains: Mapping[str, Domain]) -> None:
        self._arrays, self._domains = arrays, domains

    def array(self, number: int, length: int | None = None) -> Array:
        values: Array = self._arrays[str(number)]
        if values.dtype != np.int64 or values.ndim != 1 or (length is not None and values.shape[0] != length):
            raise ValueError(f"array {number} is of another kind or length")
        return values

    def piece(self, given: Mapping[str, Any]) -> Piece:
        starts = self.array(given["starts"])
        fields = tuple(Field(str(name), str(type_)) for name, type_ in given["fields"])
        columns = tuple(self.array(number, starts.shape[0]) for number in given["columns"])
        for field, codes in zip(fields, columns, strict=True):
            if codes.size and not 0 <= codes.min() <= codes.max() < len(self._domains[field.type]):
                raise ValueError(f"unknown values in {field.name}")
        ends = self.array(given["ends"], starts.shape[0])
        if (ends <= starts).any():
            raise ValueError("empty intervals")
        return Piece(fields, columns, starts, ends)

    def pieces(self, given: Mapping[str, Any]) -> dict[str, Piece]:
        return {str(name): self.piece(piece) for name, piece in given.items()}


def from_bytes(state: bytes, session: Callable[..., MtlSession]) -> MtlSession:
    """What `MtlProgram.restore` gives; `session` makes a new one with the given options."""
    content = unsealed(state, MAGIC, "this is no saved session of a DatalogMTL program")
    try:
        with unpacked(content) as (header, arrays):
            return _restored(header, arrays, session)
    except (AssertionError, AttributeError, KeyError, TypeError, ValueError) as error:
        raise InputError("the content of the saved session is not as it should be "
                         f"({type(error).__name__}: {error})") from None


def _restored(header: dict[str, Any], arrays: Any, session: Callable[..., MtlSession]) -> MtlSession:
    delay = None if header["delay"] is None else Fraction(header["delay"])
    found = session(delay=delay, variant=header["variant"] if header["forced"] else "auto", wanted=header["wanted"])
    if header["program"] != fingerprint(found):
        raise InputError("the session was saved with other rules than this program's; restore it with the program that "
                         "saved it, or begin a new session")
    domains = found.reasoner.store.domains
    for name, values in header["domains"].items():
        domains[name].codes([value_from(value) for value in values])
        if len(domains[name]) != len(values):
            raise ValueError(f"other values of {name}")
    found.reasoner.refine(int(header["denominator"]))
    read = _Reader(arrays, domains)
    found.states = [Held(upto, loose=read.pieces(pieces)) for upto, pieces in header["states"]]
    found.facts, found.shown = read.pieces(header["facts"]), read.pieces(header["shown"])
    found.waiting = [{name: (read.piece(piece), read.array(signs)) for name, (piece, signs) in operations.items()}
                     for operations in header["waiting"]]
    found.counts = Counts(**header["counts"])
    found.query_time = None if header["query_time"] is None else Fraction(header["query_time"])
    return found
