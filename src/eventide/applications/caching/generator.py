"""Synthetic readings of alpha, in phases: high, medium, low, or free; after Ticker's generator of the same scenario."""

from __future__ import annotations

import random

from eventide.applications.time_points import TimePoint

MODES = ("high", "mid", "low", "free")


def generate(points: int = 1000, window: int = 20, seed: int = 0) -> list[TimePoint]:
    """One reading at each time-point; a phase lasts twice the window, its kind is drawn.

    >>> generate(3, seed=1) == generate(3, seed=1)
    True
    """
    rng = random.Random(seed)
    mode = "free"
    stream: list[TimePoint] = []
    for time in range(points):
        if time % (2 * window) == 1:
            mode = rng.choice(MODES)
        value = 18 + rng.randrange(13) if mode == "high" else 12 + rng.randrange(6) if mode == "mid" \
            else rng.randrange(12)
        stream.append((time, [f"alpha({value})"]))
    return stream


def with_reports(stream: list[TimePoint], every: int = 97) -> list[TimePoint]:
    """The stream, and now and then the report that the favourites have changed.

    >>> with_reports([(0, ["alpha(3)"]), (1, ["alpha(4)"])], every=1)[1]
    (1, ['alpha(4)', 'favouritesChanged'])
    """
    return [(time, [*facts, "favouritesChanged"] if time and time % every == 0 else facts) for time, facts in stream]
