"""A stream of uncertain facts on one bucket of entities: units of facts in, changes with probabilities out.

What a row owes to which facts cannot be sent to other buckets. So there is one stage: a bucket gets all facts that its
entities need, and tells nobody.
"""

from __future__ import annotations

import pickle
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from eventide.probability.session import UncertainSession
from eventide.results import emitted, with_query
from eventide.spark.buckets import Bucket, Out, facts_of
from eventide.spark.units import Clock, Given, Told, Unit

if TYPE_CHECKING:
    from eventide.spark.flow import Flow


class UncertainBucket(Bucket):
    """A bucket over uncertain facts."""

    def __init__(self, flow: Flow, stage: int, number: int, session: UncertainSession, clock: Clock) -> None:
        super().__init__(flow, stage, number, clock)
        self.session: UncertainSession = session
        session.prepare = self._owned.fill

    def _go_through(self, unit: Unit, contents: Sequence[Mapping[str, Given]],
                    news: Mapping[int, Told], out: Out) -> None:
        for content in contents:
            copies = {name: np.broadcast_to(np.bool_(given), len(table)) if isinstance(given, bool) else given
                      for name, (table, given) in content.items()}
            out.events += self.session.accept(facts_of(content), copies)
        self._see(unit)
        for query in self._queries():
            changes = self.session.advance(query)
            out.answer(query, changes.late, with_query(changes.settled, query) if self.flow.emit == "final"
                       else emitted(self.session, changes, "changes"))

    def save(self) -> bytes:
        """Everything the bucket is, as bytes."""
        return pickle.dumps((self.clock, self.session.save()), protocol=5)
