"""A synthetic committee that proposes, seconds, votes, closes ballots and declares outcomes, in blocks of ten points.

More data are more sessions one after the other: every chair is liable for every motion, so committees side by side
would be one larger committee.
"""

from __future__ import annotations

import math

import numpy as np

from eventide.applications.streams import Columns, Stream, event, stack

AGENTS, MOTIONS, BLOCKS = 1000, 10, 10
# When in the block, which event, which group sends it, messages per member of the group, the further argument.
PLAN = (
    (0, "propose", "both", 1.3, None),
    (1, "propose", "voters", 0.2, None),
    (2, "close_ballot", "both", 0.1, None),
    (3, "second", "both", 1.8, None),
    (4, "vote", "voters", 2.3, "aye"),
    (4, "vote", "voters", 2.4, "nay"),
    (6, "vote", "voters", 2.8, "aye"),
    (6, "vote", "voters", 2.7, "nay"),
    (7, "close_ballot", "chairs", 0.4, None),
    (8, "declare", "chairs", 1.5, "not_carried"),
    (9, "declare", "chairs", 1.3, "carried"),
)


def generate(entities: int = 1, seed: int = 0) -> Stream:
    """About 100,000 rows for each of `entities` sessions of 1000 agents and ten motions, 100 time-points a session."""
    rng = np.random.default_rng(seed)
    agents = np.arange(AGENTS)
    groups = {"chairs": agents[agents % 10 == 0], "voters": agents[agents % 11 > 0]}
    groups["both"] = np.intersect1d(groups["chairs"], groups["voters"])
    tables: dict[str, list[Columns]] = {}
    for offset, name, group, factor, argument in PLAN:
        members = groups[group]
        count = math.ceil(round(factor * members.size, 9))
        size = entities * BLOCKS * count
        columns = event(
            np.repeat(np.arange(entities * BLOCKS) * 10 + offset, count),
            agent=members[rng.integers(0, members.size, size)],
            motion=rng.integers(1, MOTIONS + 1, size),
        )
        if argument is not None:
            columns["choice"] = np.full(size, argument)
        tables.setdefault(name, []).append(columns)
    return {name: stack(parts) for name, parts in tables.items()}


def background(entities: int = 1) -> dict[str, Columns]:
    """The relation motion: three of the ten motions are followed, whatever the number of sessions."""
    motion = np.arange(1, MOTIONS + 1)
    followed = np.isin(motion, [3, 6, 9])
    return {"motion": {"motion": motion, "queried": np.where(followed, "yes", "no")}}
