"""Synthetic requests, caches, levels and failures in the network of content retrieval; after Ticker's generators.

`sparse` is its scenario B1, `dense` B2. Where both are silent or their code contradicts their text, the code counts: a
node that fails in `dense` never comes back.
"""

from __future__ import annotations

import random

from eventide.applications.time_points import TimePoint

NODES, LEVELS = 11, 3


def sparse(points: int = 1000, window: int = 20, items: int = 1, seed: int = 0) -> list[TimePoint]:
    """Few facts: about three at a time-point with a window of 20, fewer with longer windows.

    >>> round(sum(len(facts) for _, facts in sparse(1000)) / 1000)
    3
    """
    rng = random.Random(seed)
    level = 1 - (1 - 3 / window) * (1 - 2 / window)
    stream: list[TimePoint] = []
    for time in range(points):
        facts = [f"req({item},{rng.randrange(NODES)})" for item in range(1, items + 1) if rng.random() < 0.1]
        if rng.random() < 0.1:
            facts.append(f"cache({rng.randint(1, items)},{rng.randrange(NODES)})")
        facts += [f"qLev({node},{rng.randrange(LEVELS)})" for node in range(NODES) if rng.random() < level]
        if rng.random() < 0.1:
            facts.append(f"down({rng.randrange(NODES)})")
        stream.append((time, facts))
    return stream


def dense(points: int = 1000, window: int = 20, items: int = 1, seed: int = 0) -> list[TimePoint]:
    """Many facts: about eight at a time-point, and more and more nodes that are down.

    >>> {fact.partition("(")[0] for _, facts in dense(200) for fact in facts} == {"req", "cache", "qLev", "down"}
    True
    """
    rng = random.Random(seed)
    levels = [rng.randrange(LEVELS) for _ in range(NODES)]
    failing: dict[int, float] = {}
    stream: list[TimePoint] = []
    for time in range(points):
        facts = []
        for item in range(1, items + 1):
            if rng.random() < 0.5:
                facts += [f"req({item},{rng.randrange(NODES)})" for _ in range(3)]
        facts += [f"cache({rng.randint(1, items)},{rng.randrange(NODES)})" for _ in range(3)]
        for node in range(NODES):
            if rng.random() < 0.25:
                if rng.random() >= 0.9:
                    levels[node] = rng.randrange(LEVELS)
                facts.append(f"qLev({node},{levels[node]})")
        if rng.random() < 1 / window:
            failing.setdefault(rng.randrange(NODES), time + 1.5 * window)
        facts += [f"down({node})" for node, since in sorted(failing.items()) if since <= time]
        stream.append((time, list(dict.fromkeys(facts))))
    return stream
