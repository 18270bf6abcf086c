"""Synthetic markets of consumers and merchants that negotiate, pay and deliver, in blocks of ten time-points."""

from __future__ import annotations

import math

import numpy as np

from eventide.applications.streams import Columns, Stream, event, stack

AGENTS, BLOCKS, PRICE = 40, 10, 10
# Roles go by the agent's number modulo 2 and 3, so that this distance keeps them from market to market.
AGENT_STEP = 42
# When in the block, which event, goods, messages per member of the group, the sending group, the receiving group.
PLAN = (
    (0, "request_quote", "book", 0.5, "consumers", "merchants"),
    (0, "request_quote", "book", 0.2, "others", "merchants"),
    (0, "request_quote", "book", 0.1, "merchants", "merchants"),
    (1, "present_quote", "book", 5.0, "merchants", "consumers"),
    (1, "present_quote", "book", 0.3, "merchants", "others"),
    (1, "present_quote", "book", 0.1, "others", "consumers"),
    (2, "present_quote", "music", 13.0, "merchants", "consumers"),
    (2, "present_quote", "music", 1.3, "merchants", "others"),
    (2, "present_quote", "music", 1.1, "others", "consumers"),
    (3, "request_quote", "music", 1.3, "consumers", "merchants"),
    (3, "request_quote", "music", 1.2, "others", "merchants"),
    (3, "request_quote", "music", 1.1, "merchants", "merchants"),
    (6, "accept_quote", "book", 2.0, "consumers", "merchants"),
    (6, "accept_quote", "music", 4.0, "consumers", "merchants"),
    (6, "accept_quote", "book", 0.3, "others", "merchants"),
    (6, "accept_quote", "music", 4.3, "others", "merchants"),
    (7, "send_EPO", "book", 0.5, "consumers", None),
    (7, "send_EPO", "music", 4.5, "consumers", None),
    (8, "send_goods", "book", 0.5, "merchants", None),
    (8, "send_goods", "music", 4.5, "merchants", None),
)


def generate(entities: int = 1, seed: int = 0) -> Stream:
    """About 9,000 rows for each of `entities` markets of 40 agents, times 0 … 98."""
    rng = np.random.default_rng(seed)
    agents = np.arange(AGENTS)
    consumer, merchant = agents % 3 > 0, agents % 2 == 0
    groups = {"consumers": agents[consumer], "merchants": agents[merchant], "others": agents[~consumer & ~merchant]}
    tables: dict[str, list[Columns]] = {}
    for offset, name, goods, factor, senders, receivers in PLAN:
        members = groups[senders]
        count = math.ceil(round(factor * members.size, 9))
        size = entities * BLOCKS * count
        market = np.repeat(np.arange(entities), BLOCKS * count) * AGENT_STEP
        block = np.tile(np.repeat(np.arange(BLOCKS), count), entities)
        columns = event(block * 10 + offset, sender=market + members[rng.integers(0, members.size, size)])
        if receivers is None:
            columns["server"] = np.full(size, "iServer")
        else:
            columns["receiver"] = market + groups[receivers][rng.integers(0, groups[receivers].size, size)]
        columns["goods"] = np.full(size, goods)
        if name in ("present_quote", "send_EPO"):
            columns["price"] = np.full(size, PRICE)
        if name == "send_goods":
            columns |= {"package": np.full(size, "key"), "key": np.full(size, "dec")}
        tables.setdefault(name, []).append(columns)
    return {name: stack(parts) for name, parts in tables.items()}


def background(entities: int = 1) -> dict[str, Columns]:
    """The relation goods, the same for all markets."""
    return {"goods": {"goods": np.array(["book", "music"]), "price": np.array([PRICE, PRICE])}}
