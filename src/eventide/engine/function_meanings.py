"""What Python functions do, as short texts that are equal for functions that do the same. Nothing is called here."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from hashlib import blake2b
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np


def digest(*parts: object) -> str:
    """A short text that stands for others."""
    found = blake2b(digest_size=16)
    for part in parts:
        data = str(part).encode()
        found.update(len(data).to_bytes(8, "little") + data)
    return found.hexdigest()


def code_of(function: Callable[..., Any]) -> str:
    """What a function does: its code, and the values that it begins with, closes over, or finds in its module.

    Functions that it calls count as far as they are of the same module, others by their own code. A value of which
    nothing can be told is like itself only.

    >>> def above(limit):
    ...     return lambda speed: speed > limit
    >>> code_of(above(5)) == code_of(above(5)), code_of(above(5)) == code_of(above(7))
    (True, False)
    """
    inner = function
    while isinstance(inner, partial):
        inner = inner.func
    return digest(_Teller(getattr(inner, "__module__", None)).told(function))


class _Teller:
    """Writes down functions and values, each of them once."""

    def __init__(self, module: str | None) -> None:
        self._module = module
        self._seen: dict[int, tuple[int, object]] = {}

    def told(self, found: object) -> object:
        """A value as something whose text tells it from others."""
        if found is None or isinstance(found, bool | int | float | complex | str | bytes):
            return f"{type(found).__name__} {found!r}"
        if isinstance(found, ModuleType | type):
            return f"{getattr(found, '__module__', '')} {found.__name__}"
        if id(found) in self._seen:
            return f"number {self._seen[id(found)][0]}"
        self._seen[id(found)] = len(self._seen), found
        return [type(found).__name__, *self._parts(found)]

    def _parts(self, found: object) -> Iterator[object]:
        match found:
            case CodeType():
                yield [found.co_code.hex(), found.co_names, found.co_freevars]
                yield list(map(self.told, found.co_consts))
            case FunctionType():
                yield from map(self.told, (found.__code__, found.__defaults__, found.__kwdefaults__))
                yield [self.told(_content(cell)) for cell in found.__closure__ or ()]
                if found.__module__ == self._module:
                    yield [(name, self.told(found.__globals__[name])) for name in sorted(_names(found.__code__))
                           if name in found.__globals__]
            case MethodType():
                yield from map(self.told, (found.__func__, found.__self__))
            case partial():
                yield from map(self.told, (found.func, found.args, found.keywords))
            case list() | tuple():
                yield list(map(self.told, found))
            case set() | frozenset():  # whose order is another one in each process
                yield sorted(str(_Teller(self._module).told(value)) for value in found)
            case Mapping():
                yield [(self.told(key), self.told(value)) for key, value in found.items()]
            case np.ndarray() if not found.dtype.hasobject:
                yield [str(found.dtype), found.shape, digest(found.tobytes().hex())]
            case _:
                yield from self._other(found)

    def _other(self, found: object) -> Iterator[object]:
        """Something of which only its class and what it is saved as can be told."""
        yield getattr(type(found), "__qualname__", "")
        if isinstance(inner := getattr(found, "__wrapped__", None), FunctionType):
            yield self.told(inner)
            return
        calls = [vars(kind)["__call__"] for kind in type(found).__mro__ if "__call__" in vars(kind)]
        yield [self.told(call) for call in calls if isinstance(call, FunctionType)]
        if type(found).__module__ == self._module and hasattr(found, "__dict__"):
            yield self.told(vars(found))
            return
        try:
            yield digest(pickle.dumps(found).hex())
        except Exception:  # whatever its own code says when it cannot be saved
            yield object.__repr__(found)


def _content(cell: Any) -> object:
    """What a function closes over; None before it is there."""
    try:
        return cell.cell_contents
    except ValueError:
        return None


def _names(code: CodeType) -> set[str]:
    """The names in a function and in those inside it."""
    inside = (_names(constant) for constant in code.co_consts if isinstance(constant, CodeType))
    return set(code.co_names).union(*inside)
