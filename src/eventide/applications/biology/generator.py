"""Initial levels of the feedback loops: the loops have no other input."""

from __future__ import annotations

import numpy as np

from eventide.applications.streams import Columns, Stream, event

# The highest level of each variable; the lowest is 0.
LOOPS = {"immune": {"h": 2, "s": 2}, "phage": {"cI": 2, "cro": 3, "cII": 1, "n": 1}}


def initial(levels: dict[str, int]) -> Stream:
    """The events that begin a run with the given levels.

    >>> initial({"h": 0, "s": 1})["init"]["level"].tolist()
    [0, 1]
    """
    time = np.zeros(len(levels), np.int64)
    return {"init": event(time, variable=np.array(list(levels)), level=np.array(list(levels.values())))}


def generate_immune(entities: int = 1, seed: int = 0) -> Stream:
    """Random initial levels of the immune response; there is one loop, so `entities` has no effect."""
    return initial(_random("immune", seed))


def generate_phage(entities: int = 1, seed: int = 0) -> Stream:
    """Random initial levels of the phage infection; there is one loop, so `entities` has no effect."""
    return initial(_random("phage", seed))


def background(entities: int = 1) -> dict[str, Columns]:
    """No relations: levels, delays and targets are part of the rules."""
    return {}


def _random(loop: str, seed: int) -> dict[str, int]:
    rng = np.random.default_rng(seed)
    return {variable: int(rng.integers(0, highest + 1)) for variable, highest in LOOPS[loop].items()}
