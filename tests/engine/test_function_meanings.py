"""Texts of Python functions: equal for functions that do the same, and others for those that do not."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import numba
import numpy as np
import pytest

from eventide.engine.function_meanings import code_of

LIMIT = [5]


class Above:
    def __init__(self, limit: Any) -> None:
        self.limit = limit

    def __call__(self, speed: Any) -> Any:
        return speed > self.limit

    def method(self, speed: Any) -> Any:
        return speed > self.limit


def closed(limit: Any) -> Callable[[Any], Any]:
    return lambda speed: speed > limit


def default(limit: Any) -> Callable[[Any], Any]:
    def above(speed: Any, *, limit: Any = limit) -> Any:
        return speed > limit
    return above


def written(limit: int) -> Callable[[Any], Any]:
    namespace: dict[str, Any] = {}
    exec(f"def above(speed):\n    # {limit} or more\n    return any(s > {limit} for s in speed)", namespace)
    return namespace["above"]  # type: ignore[no-any-return]


def more(limit: Any, speed: Any) -> Any:
    return speed > limit


def of_module(speed: Any) -> Any:
    return _of_module(speed)


def _of_module(speed: Any) -> Any:
    return speed > LIMIT[0] or of_module


MADE: dict[str, Callable[[Any], Any]] = {
    "closed": closed, "default": default, "written": written, "partial": lambda limit: partial(more, limit),
    "object": Above, "method": lambda limit: Above(limit).method, "compiled": lambda limit: numba.njit(closed(limit)),
    "array": lambda limit: closed(np.array([limit] * 2000 + [1])), "set": lambda limit: closed({"a", "b", limit}),
    "dict": lambda limit: closed({"a": [limit]}), "function": lambda limit: closed(closed(limit)),
}


@pytest.mark.parametrize("name", MADE)
def test_functions_differ_by_what_they_hold(name: str) -> None:
    make = MADE[name]
    assert code_of(make(5)) == code_of(make(5)) != code_of(make(7))


def test_what_a_function_finds_in_its_module_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    before = code_of(of_module)
    assert code_of(of_module) == before
    monkeypatch.setattr(sys.modules[__name__], "LIMIT", [7])
    assert code_of(of_module) != before


def test_what_nothing_can_be_told_of_is_like_itself_only() -> None:
    with open(os.devnull) as one, open(os.devnull) as other:
        assert code_of(closed(one)) == code_of(closed(one)) != code_of(closed(other))


def test_it_is_the_same_in_another_process() -> None:
    """Sets have another order there."""
    text = "from eventide.engine.function_meanings import code_of\n" \
        "print(code_of(lambda word, known=frozenset('abcdefgh'): word in {'a', 'b', 'c', 'd'} | known))"
    found = {subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True,
                            env=os.environ | {"PYTHONHASHSEED": seed}).stdout for seed in ("1", "2")}
    assert len(found) == 1
