"""Strategies of Hypothesis drawn from a number: the random programs of property tests, one for each number."""

from __future__ import annotations

import random
from typing import Any, TypeVar

from hypothesis.errors import StopTest
from hypothesis.internal.conjecture.data import ConjectureData
from hypothesis.internal.conjecture.providers import PrimitiveProvider
from hypothesis.strategies import SearchStrategy

Drawn = TypeVar("Drawn")


class Chance(PrimitiveProvider):
    """Every choice by `random`. Those of Hypothesis depend on what modules happen to be loaded."""

    lifetime = "test_case"

    def __init__(self, conjecturedata: Any, /, rng: random.Random) -> None:
        super().__init__(conjecturedata)
        self.rng = rng

    def draw_boolean(self, p: float = 0.5) -> bool:
        return self.rng.random() < p

    def draw_integer(self, min_value: int | None = None, max_value: int | None = None, **_: Any) -> int:
        assert min_value is not None and max_value is not None
        return self.rng.randint(min_value, max_value)

    def draw_float(self, **_: Any) -> float:
        raise NotImplementedError

    def draw_string(self, *_: Any, **__: Any) -> str:
        raise NotImplementedError

    def draw_bytes(self, *_: Any, **__: Any) -> bytes:
        raise NotImplementedError


def drawn(strategy: SearchStrategy[Drawn], rng: random.Random) -> Drawn:
    """One value of a strategy."""
    while True:
        try:
            return ConjectureData(random=rng, provider=Chance, provider_kw={"rng": rng}).draw(strategy)
        except StopTest:  # what a strategy filters out
            continue
