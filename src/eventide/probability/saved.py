"""Recognisers as bytes and back: a header in JSON and plain arrays, sealed as `engine.sealing` does."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from eventide.engine.sealing import packed, sealed, unpacked, unsealed
from eventide.errors import InputError
from eventide.kernels.maximal_probability import SCALE, Streams
from eventide.probability.durations import Durations
from eventide.probability.intervals import Recogniser
from eventide.probability.ragged import Ragged

MAGIC = b"eventide recogniser 1 "
_ROWS = ("_stream", "_origin", "_last", "_before")


def to_bytes(recogniser: Recogniser) -> bytes:
    """What `Recogniser.save` gives."""
    known = recogniser.durations
    header = {
        "threshold": recogniser.threshold, "memory": recogniser.memory, "resolver": recogniser.resolver,
        "durations": None if known is None else [known.mean, known.deviation, known.counts],
        "batch": recogniser.batch, "seed": recogniser.seed, "step": recogniser.step, "gaps": recogniser.gaps,
        "forget": recogniser.forget, "names": recogniser.names, "keys": recogniser.keys,
        "rows": [recogniser._row_of[key] for key in recogniser.keys],
    }
    arrays: dict[str, Any] = {name: getattr(recogniser, name) for name in _ROWS}
    arrays |= {f"streams.{name}": column for name, column in recogniser._streams._asdict().items()}
    every = np.arange(recogniser._stream.shape[0])
    for name, lists in _lists(recogniser).items():
        arrays[f"{name}.size"] = lists.size
        arrays |= {f"{name}.{column}": values for column, values in lists.of(every).items()}
    try:
        return sealed(MAGIC, packed(header, arrays))
    except TypeError as error:
        raise InputError(f"names of streams must be numbers or texts to be saved: {error}") from error


def from_bytes(state: bytes) -> Recogniser:
    """What `Recogniser.restore` gives."""
    with unpacked(unsealed(state, MAGIC, "these bytes are no saved recogniser of this version", "recogniser")) as (
            header, arrays):
        durations = header["durations"]
        if durations is not None:
            mean, deviation, counts = durations
            durations = Durations(mean, deviation, tuple((length, count) for length, count in counts))
        found = Recogniser(
            Fraction(header["threshold"], SCALE), header["memory"], durations, resolver=header["resolver"],
            batch=header["batch"], seed=header["seed"], step=header["step"], gaps=header["gaps"],
            forget=header["forget"])
        found.names = None if header["names"] is None else tuple(header["names"])
        found.keys = [tuple(key) for key in header["keys"]]
        found._number_of = {key: number for number, key in enumerate(found.keys)}
        found._row_of = dict(zip(found.keys, header["rows"], strict=True))
        for name in _ROWS:
            setattr(found, name, arrays[name])
        found._streams = Streams(*(arrays[f"streams.{name}"] for name in Streams._fields))
        every = np.arange(found._stream.shape[0])
        for name, lists in _lists(found).items():
            lists.add(every.shape[0])
            lists.append(every, arrays[f"{name}.size"], {c: arrays[f"{name}.{c}"] for c in lists.columns})
    return found


def _lists(recogniser: Recogniser) -> dict[str, Ragged]:
    return {"supports": recogniser._supports, "found": recogniser._found}
