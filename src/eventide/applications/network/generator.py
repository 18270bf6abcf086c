"""A synthetic network: signals with pauses, connections that come and go, nodes that fail. Times in tenths of units."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from eventide.applications.streams import Columns, alternating

UNIT = 10
"""Ticks of the columns in one time unit of the rules."""
NEIGHBOURS, FAILURES, ASSIGNMENTS = 2, 2, 4
LONGEST = 40 * UNIT
"""No node is assigned a signal for longer; what goes on is passed on by neighbours."""
_DENSE, _PAUSE, _PAUSES = (1, 15), (21, 90), 0.03


def generate(nodes: int = 20, signals: int = 20, units: int = 600, seed: int = 0) -> dict[str, Columns]:
    """The closed intervals `start` … `end` of each input, in ticks; about 1.1 readings per signal and unit.

    >>> facts = generate(nodes=4, signals=2, units=50)
    >>> sorted(facts), bool((facts["signal"]["start"] == facts["signal"]["end"]).all())
    (['assigned', 'connected', 'node', 'signal'], True)
    """
    rng = np.random.default_rng(seed)
    last = units * UNIT
    names, words = _named("n", nodes), _named("s", signals)
    reading, sender = _readings(rng, signals, last)
    up, begin, end = _up(rng, nodes, last)
    receivers = np.repeat(np.arange(nodes), NEIGHBOURS)
    senders = (receivers + rng.integers(1, max(nodes, 2), receivers.size)) % nodes
    link, joined, parted = _up(rng, receivers.size, last)
    watched, begun, over = alternating(rng, signals, ASSIGNMENTS, last)
    return {
        "node": {"start": begin, "end": end, "node": names[up]},
        "connected": {"start": joined, "end": parted, "receiver": names[receivers[link]],
                      "sender": names[senders[link]]},
        "assigned": {"start": begun, "end": np.minimum(over, begun + LONGEST),
                     "node": names[rng.integers(0, nodes, watched.size)], "signal": words[watched]},
        "signal": {"start": reading, "end": reading, "signal": words[sender]},
    }


def write_facts(facts: dict[str, Columns], path: str | Path) -> int:
    """Write the facts as `.facts`, one per line; returns how many there are."""
    lines = [line for name, columns in facts.items() for line in _lines(name, columns)]
    Path(path).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return len(lines)


def _named(letter: str, count: int) -> np.ndarray:
    return np.char.add(letter, np.arange(count).astype(str))


def _readings(rng: np.random.Generator, signals: int, last: int) -> tuple[np.ndarray, np.ndarray]:
    """Times of readings and their signals: dense for a while, then a pause, and again."""
    most = last // 4 + 1  # gaps are more than twice as long on average
    gaps = rng.integers(*_DENSE, (signals, most), endpoint=True)
    pauses = rng.random((signals, most)) < _PAUSES
    gaps[pauses] = rng.integers(*_PAUSE, int(pauses.sum()), endpoint=True)
    times = np.cumsum(gaps, axis=1) - gaps[:, :1]
    kept = times <= last
    sender, _ = np.nonzero(kept)
    order = np.argsort(times[kept], kind="stable")
    return times[kept][order], sender[order]


def _up(rng: np.random.Generator, count: int, last: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Who is up when: from the beginning to the end, but for a few failures each."""
    _, down, back = alternating(rng, count, FAILURES, last - 1)
    begin = np.column_stack([np.zeros(count, np.int64), back.reshape(count, -1)])
    end = np.column_stack([down.reshape(count, -1), np.full(count, last)])
    return np.repeat(np.arange(count), FAILURES + 1), begin.ravel(), end.ravel()


def _lines(name: str, columns: Columns) -> list[str]:
    arguments = [pa.array(column) for key, column in columns.items() if key not in ("start", "end")]
    atoms = pc.binary_join_element_wise(*arguments, ",")
    start, end = columns["start"], columns["end"]
    if (start == end).all():
        times = _units(start)
    else:
        times = pc.binary_join_element_wise("[", _units(start), ",", _units(end), "]", "")
    lines: list[str] = pc.binary_join_element_wise(name, "(", atoms, ")@", times, "").to_pylist()
    return lines


def _units(ticks: np.ndarray) -> pa.Array:
    whole, tenths = (pa.array(part).cast(pa.string()) for part in np.divmod(ticks, UNIT))
    return pc.if_else(pc.equal(tenths, "0"), whole, pc.binary_join_element_wise(whole, tenths, "."))
