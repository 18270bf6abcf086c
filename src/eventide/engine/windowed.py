"""Runs over windows: facts that are all known are handed to a session as they arrive, query time by query time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from eventide.engine.recognition import Counts, Extent, Settings
from eventide.engine.retained import Batch
from eventide.engine.session import Changes, Session
from eventide.kernels.arrays import Array


class Queue:
    """Coded facts in the order in which they take part: from when they have occurred and arrived."""

    def __init__(self, batches: Mapping[str, Batch]) -> None:
        self._batches: dict[str, tuple[Batch, Array]] = {}
        self._done: dict[str, int] = {}
        for name, rows in batches.items():
            if len(rows):
                due = rows.time if rows.arrival is None else np.maximum(rows.time, rows.arrival)
                order = np.argsort(due, kind="stable")
                self._batches[name], self._done[name] = (rows.take(order), due[order]), 0

    @property
    def last(self) -> int | None:
        """When the last fact takes part."""
        return max((int(due[-1]) for _, due in self._batches.values()), default=None)

    def number(self, query: int) -> int:
        """How many facts take part by a query time."""
        return sum(int(np.searchsorted(due, query, side="right")) for _, due in self._batches.values())

    def until(self, query: int | None) -> Iterator[dict[str, Batch]]:
        """The facts that take part by a query time (or all that are left), without those that were given before."""
        for name, (rows, due) in self._batches.items():
            until = len(rows) if query is None else int(np.searchsorted(due, query, side="right"))
            done, self._done[name] = self._done[name], until
            if until > done:
                yield {name: rows.take(slice(done, until))}


class WindowedRun:
    """A session over facts that are known from the beginning; going through it gives the changes at each query time."""

    def __init__(self, session: Session, facts: object, settings: Settings) -> None:
        self.session = session
        batches = {name: rows for name, rows in session.coded(facts).items() if len(rows)}
        times = [t for rows in batches.values() for t in (rows.time, rows.end) if t is not None]
        span = (min(int(t.min()) for t in times), max(int(t.max()) for t in times)) if times else None
        self._queue = Queue(batches)
        self.extent = Extent.of(settings, span, self._queue.last)
        session.start = self.extent.start
        session.counts.after_end += sum(map(len, batches.values())) - self._queue.number(self.extent.end)

    @property
    def counts(self) -> Counts:
        """What was seen and left out so far."""
        counts = self.session.counts
        return replace(counts, facts=counts.facts + counts.after_end)

    def __iter__(self) -> Iterator[Changes]:
        for query in self.extent.query_times():
            for batches in self._queue.until(min(query, self.extent.end)):
                self.session.accept(batches)
            yield self.session.advance(to=query)
