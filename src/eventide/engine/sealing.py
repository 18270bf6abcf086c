"""Saved state as bytes: a line that names it, with a digest, then the content. What is saved, others know.

Nothing of the bytes is ever executed, and nothing of them is read before their digest is right.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from hashlib import blake2b
from typing import Any

import numpy as np

from eventide.errors import InputError


def digest_of(content: bytes) -> str:
    """What tells contents apart."""
    return blake2b(content, digest_size=16).hexdigest()


def sealed(magic: bytes, content: bytes) -> bytes:
    """The content behind its line; `magic` names the kind and its version, and ends with a space.

    >>> unsealed(sealed(b"eventide diary 1 ", b"rain"), b"eventide diary 1 ", "this is no diary")
    b'rain'
    """
    return magic + digest_of(content).encode() + b"\n" + content


def unsealed(state: bytes, magic: bytes, otherwise: str, what: str = "session") -> bytes:
    """The content; InputError if the state is no bytes, of another kind (it says `otherwise`), or damaged."""
    if not isinstance(state, bytes | bytearray | memoryview):
        raise InputError(f"a saved {what} is bytes, as {what}.save() gives them, not a {type(state).__name__}")
    line, _, content = bytes(state).partition(b"\n")
    if not line.startswith(magic):
        raise InputError(otherwise)
    if line[len(magic):] != digest_of(content).encode():
        raise InputError(f"the saved {what} is damaged: its digest is wrong; take an older one")
    return content


def packed(header: object, arrays: Mapping[str, Any], default: Callable[[object], Any] | None = None) -> bytes:
    """A header, as JSON, and arrays by name; `default` makes JSON of what is none.

    >>> with unpacked(packed({"size": 2}, {"0": np.array([3, 5])})) as (header, arrays):
    ...     header["size"], arrays["0"].tolist()
    (2, [3, 5])
    """
    body = io.BytesIO()
    text = np.frombuffer(json.dumps(header, default=default).encode(), np.uint8)
    np.savez(body, header=text, **arrays)
    return body.getvalue()


@contextmanager
def unpacked(content: bytes) -> Iterator[tuple[dict[str, Any], Mapping[str, Any]]]:
    """The header and the arrays of what `packed` gave."""
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        yield json.loads(arrays["header"].tobytes()), arrays


class Aside:
    """Puts arrays aside; what it returns for one is its number, for a header."""

    def __init__(self) -> None:
        self._arrays: list[Any] = []

    def array(self, values: Any) -> int | None:
        """The number of an array; None stays None."""
        if values is None:
            return None
        self._arrays.append(np.ascontiguousarray(values))
        return len(self._arrays) - 1

    @property
    def arrays(self) -> dict[str, Any]:
        """All of them, by their numbers as texts."""
        return {str(number): array for number, array in enumerate(self._arrays)}
