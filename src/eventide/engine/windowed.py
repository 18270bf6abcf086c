"""Runs over windows: facts that are all known are handed to a session as they arrive, query time by query time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from eventide.engine.recognition import Counts, Extent, Settings
from eventide.engine.retained import Batch
from eventide.engine.session import Changes, Session
from eventide.kernels.arrays import Array


class WindowedRun:
    """A session over facts that are known from the beginning; going through it gives the changes at each query time."""

    def __init__(self, session: Session, facts: object, settings: Settings) -> None:
        self.session = session
        batches = {name: rows for name, rows in session.coded(facts).items() if len(rows)}
        times = [t for rows in batches.values() for t in (rows.time, rows.end) if t is not None]
        span = (min(int(t.min()) for t in times), max(int(t.max()) for t in times)) if times else None
        due = {name: _due(rows) for name, rows in batches.items()}
        self.extent = Extent.of(settings, span, max((int(d.max()) for d in due.values()), default=None))
        session.start = self.extent.start
        self._batches: dict[str, tuple[Batch, Array]] = {}
        for name, rows in batches.items():
            inside = due[name] <= self.extent.end
            session.counts.after_end += len(rows) - int(inside.sum())
            order = np.argsort(due[name], kind="stable")
            order = order[inside[order]]
            self._batches[name] = rows.take(order), due[name][order]

    @property
    def counts(self) -> Counts:
        """What was seen and left out so far."""
        counts = self.session.counts
        return replace(counts, facts=counts.facts + counts.after_end)

    def __iter__(self) -> Iterator[Changes]:
        done = dict.fromkeys(self._batches, 0)
        for query in self.extent.query_times():
            for name, (rows, due) in self._batches.items():
                until = int(np.searchsorted(due, query, side="right"))
                if until > done[name]:
                    self.session.accept({name: rows.take(slice(done[name], until))})
                    done[name] = until
            yield self.session.advance(to=query)


def _due(rows: Batch) -> Array:
    """From when on each fact takes part: when it has occurred and arrived."""
    return rows.time if rows.arrival is None else np.maximum(rows.time, rows.arrival)
