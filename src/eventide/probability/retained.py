"""The uncertain facts of one input that a session holds, coded: those that wait for their time, and those that count.

Unlike certain facts (`engine.retained`), equal ones are several observations, unless they come with `+` and `-`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from eventide.algebra.nodes import NUMBER, Fields
from eventide.engine.loading import Store, Stream, key_of, side_by_side, sorting
from eventide.engine.relation import Values
from eventide.engine.retained import Batch, batch_of, joined
from eventide.engine.session import LATE
from eventide.formats.facts import FactTable
from eventide.kernels.arrays import Array, Mask

Floats = npt.NDArray[np.float64]
CHANCE, PLAIN = "probability", "plain"
"""Two further columns: how probable a fact is, and whether it is one more observation of an equal one."""


class Waiting(NamedTuple):
    """Operations in the order in which they take part, and when each does."""

    batch: Batch
    due: Array

    @staticmethod
    def of(batch: Batch) -> Waiting:
        """A batch as it was handed in."""
        assert batch.arrival is not None
        due = np.maximum(batch.time, batch.arrival)
        if (due[1:] >= due[:-1]).all():
            return Waiting(batch, due)
        order = np.argsort(due, kind="stable")  # operations on one fact stay in their order
        return Waiting(batch.take(order), due[order])

    def until(self, query: int) -> int:
        """How many take part by a query time."""
        return int(np.searchsorted(self.due, query, "right"))

    def part(self, part: slice) -> Waiting:
        """Some of them."""
        return Waiting(self.batch.take(part), self.due[part])


@dataclass(frozen=True)
class Input:
    """The facts of one input. `time` and `end` of a fact say when it counts, `named` what it was inserted as."""

    name: str
    kind: str
    fields: Fields
    counted: bool = False
    """Whether rules count these facts: then equal ones are one."""
    facts: Batch | None = None
    waiting: tuple[Waiting, ...] = ()

    def __len__(self) -> int:
        return sum(len(each.batch) for each in self.waiting) + (0 if self.facts is None else len(self.facts))

    def coded(self, store: Store, table: FactTable, copies: Mask | None, *, retract: bool) -> Batch:
        """Facts in the codes of a store; `copies` are counted elsewhere."""
        batch = batch_of(store, self.fields, self.kind, table, retract=retract)
        count = len(batch)
        chance = np.ones(count) if table.probability is None else table.probability
        plain = np.full(count, table.op is None and not retract and not self.counted)
        return replace(
            batch, columns=batch.columns | {CHANCE: chance, PLAIN: plain},
            arrival=batch.time if batch.arrival is None else batch.arrival, copies=copies,
            retracts=np.zeros(count, np.bool_) if batch.retracts is None else batch.retracts)

    def handed(self, batch: Batch) -> Input:
        """The input with operations that wait."""
        return replace(self, waiting=(*self.waiting, Waiting.of(batch)))

    def due(self, query: int) -> tuple[Input, Batch | None]:
        """Without the operations that take part at a query time, and these, in order of arrival."""
        taken, left = [], []
        for each in self.waiting:
            at = each.until(query)
            if at:
                taken.append(each.batch if at == len(each.batch) else each.batch.take(slice(0, at)))
            if at < len(each.batch):
                left.append(each.part(slice(at, None)) if at else each)
        if not taken:
            return self, None
        return replace(self, waiting=tuple(left)), _in_order(taken)

    def applied(self, operations: Batch, low: int) -> tuple[Input, int]:
        """The facts after operations on them, none too late, and how many retractions found nothing.

        Of an interval that reaches back before `low`, only the part from there on is taken back. What is left of it is
        no longer the fact itself.
        """
        assert operations.retracts is not None
        retracts, old = operations.retracts, 0 if self.facts is None else len(self.facts)
        added = replace(operations, arrival=None, retracts=None, copies=None)
        if not retracts.any() and operations.columns[PLAIN].all():
            return replace(self, facts=added if self.facts is None else joined(self.facts, added)), 0
        every = added if self.facts is None else joined(self.facts, added)
        goes, unmatched = _after(every, old, retracts)
        if every.end is None:
            return replace(self, facts=every.take(~goes)), unmatched
        cut = goes & (every.time < low)
        cut[old:] = False
        assert every.named is not None and every.named_end is not None
        facts = replace(every, end=np.where(cut, low, every.end), named=np.where(cut, every.time, every.named),
                        named_end=np.where(cut, low, every.named_end))
        return replace(self, facts=facts.take(~goes | cut)), unmatched

    def since(self, edge: int) -> Input:
        """The input without facts that were over before a time."""
        if self.facts is None:
            return self
        over = (self.facts.time + 1 if self.facts.end is None else self.facts.end) <= edge
        return self if not over.any() else replace(self, facts=self.facts.take(~over))

    def stream(self) -> Stream | None:
        """The facts as they count, in the order that rules like best."""
        facts = self.facts
        if facts is None or not len(facts):
            return None
        key = key_of(self.fields)
        permutation = sorting(None if key is None else facts.columns[key], facts.time)
        facts = facts if permutation is None else facts.take(permutation)
        columns: dict[str, Values] = {f.name: facts.columns[f.name] for f in self.fields if f.name in facts.columns}
        chance = facts.columns[CHANCE]
        return Stream(self.name, self.kind, self.fields, columns, facts.time, facts.end, None, None,
                      None if (chance == 1).all() else chance)

    def listed(self, rows: Batch, store: Store) -> pa.Table:
        """Facts as a table for people."""
        texts: list[list[str]] = []
        for f in self.fields:
            if f.name not in rows.columns:
                texts.append(["_"] * len(rows))
            elif f.type == NUMBER:
                texts.append([repr(value) for value in rows.columns[f.name].tolist()])
            else:
                texts.append([store.domains[f.type].texts[code] for code in rows.columns[f.name].tolist()])
        value = texts.pop() if self.kind != "event" else [""] * len(rows)
        retracts = np.zeros(len(rows), np.bool_) if rows.retracts is None else rows.retracts
        return pa.table({
            "fact": [self.name.partition("(")[0]] * len(rows), "value": value,
            "args": ["|".join(row) for row in zip(*texts, strict=True)] if texts else [""] * len(rows),
            "start": rows.time if rows.named is None else rows.named,
            "end": rows.time + 1 if rows.named_end is None else rows.named_end,
            "change": np.where(retracts, "-", "+").tolist()}).select(LATE.names).cast(LATE)


def _in_order(batches: Iterable[Batch]) -> Batch:
    """Operations of several batches in order of arrival; those that arrive together, as they were handed in."""
    whole: Batch | None = None
    for batch in batches:
        full = replace(batch, copies=np.zeros(len(batch), np.bool_) if batch.copies is None else batch.copies)
        whole = full if whole is None else joined(whole, full)
    assert whole is not None and whole.arrival is not None
    if (whole.arrival[1:] >= whole.arrival[:-1]).all():
        return whole
    return whole.take(np.argsort(whole.arrival, kind="stable"))


def _after(every: Batch, old: int, retracts: Mask) -> tuple[Mask, int]:
    """Which rows are not there after operations, the rows from `old` on; and how many retractions found nothing.

    Of each fact only what follows its last retraction counts: every plain insertion, and of others the first, if
    nothing is there.
    """
    same = replace(every, columns={name: values for name, values in every.columns.items()
                                   if name not in (CHANCE, PLAIN)}).identity()
    permutation, repeated = side_by_side(same, np.arange(len(every)))
    takes = np.zeros(len(every), np.bool_)
    takes[old:] = retracts
    takes = takes[permutation]
    place = np.arange(len(every))
    first = np.maximum.accumulate(np.where(repeated, 0, place))
    fact = np.cumsum(~repeated) - 1
    last = np.maximum.reduceat(np.where(takes, place, -1), np.flatnonzero(~repeated))[fact]
    begins = place == np.maximum(last + 1, first)
    stays = (place > last) & (begins | (permutation < old) | every.columns[PLAIN][permutation])
    goes = np.empty(len(every), np.bool_)
    goes[permutation] = ~stays
    alone = ~repeated
    alone[1:] |= takes[:-1]
    return goes, int((takes & alone).sum())
