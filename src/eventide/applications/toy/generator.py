"""Synthetic days of people: moves, lottery wins and lost wallets."""

from __future__ import annotations

import numpy as np

from eventide.applications.streams import Columns, Stream, event, moments

MOVES, CHANGES, HORIZON = 12, 8, 1000
PLACES = np.array(["home", "pub", "work"])


def generate(entities: int = 100, seed: int = 0) -> Stream:
    """Twenty events for each of `entities` people within 1000 time-points.

    >>> {name: len(columns["time"]) for name, columns in generate(entities=2).items()}
    {'go_to': 24, 'win_lottery': 8, 'lose_wallet': 8}
    """
    rng = np.random.default_rng(seed)
    people = np.char.add("person", np.arange(entities).astype(str))
    moves = moments(rng, entities, MOVES, HORIZON).ravel()
    fortunes = moments(rng, entities, CHANGES, HORIZON)
    half = CHANGES // 2
    return {
        "go_to": event(moves, person=np.repeat(people, MOVES), place=PLACES[rng.integers(0, 3, moves.size)]),
        "win_lottery": event(fortunes[:, ::2].ravel(), person=np.repeat(people, half)),
        "lose_wallet": event(fortunes[:, 1::2].ravel(), person=np.repeat(people, half)),
    }


def background(entities: int = 100) -> dict[str, Columns]:
    """No relations: the places are part of the rules."""
    return {}
