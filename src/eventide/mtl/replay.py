"""All facts of a file handed to a session in the order of their arrival: what changes at each query time."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pyarrow as pa

from eventide.errors import EventideError
from eventide.formats.facts import Ints, chosen
from eventide.mtl.cells import EVER, NEVER, DenseFacts
from eventide.mtl.session import MtlChanges, MtlSession
from eventide.results import with_signs


def replayed(session: MtlSession, facts: DenseFacts, step: Fraction, until: Fraction | None) -> Iterator[MtlChanges]:
    """The changes at each query time: `step` after the first fact, and so on until the last one is over.

    A fact arrives when it begins, unless it says when.
    """
    if step <= 0:
        raise EventideError(f"the step is {step}; it must be more than 0")
    tables = {key: (replace(table, origins=(), rows=None), table.time if table.arrival is None else table.arrival)
              for key, table in facts.facts.tables.items() if len(table)}
    cells = _finite([side for table, arrival in tables.values() for side in (table.time, table.end, arrival)
                     if side is not None])
    first, last = (Fraction(int(side) // 2, facts.denominator) for side in
                   ((cells.min(), cells.max()) if cells.shape[0] else (0, 0)))
    last = last if until is None else until
    query, sent = first, None
    while sent is None or query < last:
        query = min(query + step, last)
        steps = query * facts.denominator
        upto = 2 * math.floor(steps) + (1 if steps.denominator == 1 else 2)
        parts = {key: chosen(table, np.flatnonzero((arrival < upto) & (arrival >= (EVER if sent is None else sent))))
                 for key, (table, arrival) in tables.items()}
        session.insert(DenseFacts(replace(facts.facts, tables={k: t for k, t in parts.items() if len(t)}, bad=()),
                                  facts.denominator))
        sent = upto
        yield session.advance(query)


def _finite(sides: list[Ints]) -> Ints:
    every: Ints = np.concatenate([np.empty(0, np.int64), *sides])
    found: Ints = every[(every != EVER) & (every != NEVER)]
    return found


def signed(changes: MtlChanges) -> pa.Table:
    """What came (`+`) and went (`-`) at a query time, with that time before it."""
    return at_query(with_signs(changes.removed, changes.added), changes.query_time, 0)


def at_query(table: pa.Table, query: Fraction, place: int) -> pa.Table:
    """Rows with their query time as one of the columns."""
    return table.add_column(place, "query_time", pa.array([str(query)] * len(table), pa.string()))
