"""Sessions of DatalogMTL: facts come and go in any order; at each query time, the changes of what is recognised.

Everything is recomputed from the last state that no change has touched: truth at t depends on nothing later, so a
state of long ago (what `stepping` holds) and the facts since then give the present exactly. States are kept at query
times and, with a delay, at the time before which no fact is accepted any more; before that nothing can change.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pyarrow as pa

from eventide.engine.answers import CameAndWent, Tables
from eventide.engine.recognition import Counts
from eventide.errors import EventideError
from eventide.kernels.arrays import Array
from eventide.mtl.cells import DenseFacts
from eventide.mtl.materialisation import Compiled
from eventide.mtl.operations import applied, differing, given, opened
from eventide.mtl.reasoning import Choice, Reasoner
from eventide.mtl.stepping import Held, Piece, Step, piece_of

MOST_STATES = 8
"""How many states a session keeps to go back to; of many, every other one is forgotten."""


class MtlChanges(CameAndWent):
    """What is new at a query time: rows that came and went, and facts that were too late to count."""

    def __init__(self, query_time: Fraction, since: Fraction | None, tables: Tables, late: pa.Table) -> None:
        super().__init__(tables)
        self.query_time = query_time
        self.since = since
        """The time after which everything was computed anew; None: from the beginning."""
        self.late = late
        """Facts that came after the delay: the columns of results, and `change`."""


class MtlSession:
    """A DatalogMTL program over a stream. Make one with `program.session(...)`.

    >>> import eventide as ev
    >>> session = ev.parse("Late(X) :- <>-[2,3] Sent(X).", language="mtl").session()
    >>> session.insert(ev.mtl.facts_in("Sent(a)@1"))
    >>> session.advance(to=5).added.select(["args", "start", "end"]).to_pylist()
    [{'args': 'a', 'start': '3', 'end': '4'}]
    >>> session.retract(ev.mtl.facts_in("Sent(a)@1"))
    >>> session.advance(to=6).removed.num_rows
    1
    """

    def __init__(self, compiled: Compiled, wanted: Sequence[str], read: Callable[[object], DenseFacts], *,
                 delay: Fraction | None = None, variant: Choice = "auto") -> None:
        if delay is not None and delay < 0:
            raise EventideError(f"the delay is {delay}; it must not be negative")
        self.delay = delay
        self.reasoner = Reasoner(compiled, wanted, variant, 1 if delay is None else delay.denominator, carry=False)
        self.counts = Counts()
        self.query_time: Fraction | None = None
        self.states: list[Held] = [Held()]
        """The states to go back to, oldest first; before the oldest nothing changes any more."""
        self.facts: dict[str, Piece] = {}
        self.waiting: list[dict[str, tuple[Piece, Array]]] = []
        """Operations in order, by input: facts, and +1 or -1 for each."""
        self.shown: dict[str, Piece] = {}
        self._read = read

    @property
    def upto(self) -> int | None:
        """The cell before which everything is known."""
        return self.states[-1].upto

    # -- facts --------------------------------------------------------------------------------------------------------

    def insert(self, batch: object) -> None:
        """Hand in facts; they take part from the next query time on that is not before they begin."""
        self._hand_in(batch, 1)

    def retract(self, batch: object) -> None:
        """Take facts back, each as it was inserted."""
        self._hand_in(batch, -1)

    def _hand_in(self, batch: object, sign: int) -> None:
        facts = self._read(batch)
        self._refine(facts.denominator)
        found = self.reasoner.coded(facts)
        if found:
            self.waiting.append({name: (piece, sign * signs) for name, (piece, signs) in found.items()})
            self.counts.facts += sum(len(piece) for piece, _ in found.values())

    def _refine(self, denominator: int) -> None:
        """Go over to a finer grid if these times need one."""
        factor = self.reasoner.refine(denominator)
        if factor > 1:
            self.states = [held.finer(factor) for held in self.states]
            self.facts = {name: piece.finer(factor) for name, piece in self.facts.items()}
            self.shown = {name: piece.finer(factor) for name, piece in self.shown.items()}
            self.waiting = [{name: (piece.finer(factor), signs) for name, (piece, signs) in operations.items()}
                            for operations in self.waiting]

    # -- query times --------------------------------------------------------------------------------------------------

    def advance(self, to: Fraction | int | str) -> MtlChanges:
        """Bring everything up to date at a query time; say what changed since the last one."""
        query = Fraction(to)
        if self.query_time is not None and query < self.query_time:
            raise EventideError(f"cannot advance to {query}: the session is at {self.query_time} already")
        self._refine(query.denominator)
        upto = self.reasoner.cell(query) + 1
        facts, first, late, counts = self._applied()
        kept = [held for held in self.states if held.upto is None or first is None or held.upto <= first]
        since = kept[-1].upto
        found: dict[str, list[Piece]] = {name: [] for name in self.reasoner.wanted}
        accepted = None if self.delay is None else self.reasoner.cell(query - self.delay) + 1
        for cell in sorted({upto} if accepted is None else {accepted, upto}):
            if since is None or cell > since:
                step = self._stepped(kept[-1], facts, cell)
                kept.append(step.held)
                for name, relation in step.found.items():
                    found[name].append(piece_of(relation))
        new = {name: self._extended(name, pieces, since) for name, pieces in found.items()}
        changes = MtlChanges(query, None if since is None else self.reasoner.time(since),
                             self._difference(self.shown, self.upto, new, upto, since), late)
        states = self._still_needed(kept, facts, accepted)
        counts.queries += 1
        self.facts, self.waiting, self.counts, self.states, self.query_time = facts, [], counts, states, query
        oldest = states[0].upto
        if oldest is not None:
            self.facts = {name: piece.take(np.flatnonzero(piece.ends > oldest)) for name, piece in facts.items()}
            new = {name: piece.take(np.flatnonzero(piece.ends >= oldest)) for name, piece in new.items()}
        self.shown = new
        return changes

    def _applied(self) -> tuple[dict[str, Piece], int | None, pa.Table, Counts]:
        """The facts after all operations, the first cell they change, and those that were too late."""
        facts = dict(self.facts)
        counts = replace(self.counts, late_by_name=dict(self.counts.late_by_name))
        oldest = self.states[0].upto
        first: list[int] = []
        late: list[pa.Table] = []
        for operations in self.waiting:
            for name, (piece, signs) in operations.items():
                if oldest is not None:
                    missed = piece.ends <= oldest
                    if missed.any():
                        late.append(self._listed(name, piece.take(np.flatnonzero(missed)), signs[missed]))
                        counts.too_late += int(missed.sum())
                        counts.late_by_name[name] = counts.late_by_name.get(name, 0) + int(missed.sum())
                        piece, signs = piece.take(np.flatnonzero(~missed)), signs[~missed]
                facts[name], changed, unmatched = applied(facts.get(name), piece, signs)
                counts.unmatched += unmatched
                first += [int(changed.min())] if changed.size else []
        earliest = None if not first else min(first) if oldest is None else max(min(first), oldest)
        listed = self.reasoner.table({}) if not late else pa.concat_tables(late)
        if not late:
            listed = listed.append_column("change", pa.array([], pa.string()))
        return facts, earliest, listed, counts

    def _listed(self, name: str, piece: Piece, signs: Array) -> pa.Table:
        template = next(t for t, known in self.reasoner.model.inputs.items() if known == name)
        changes = np.where(signs > 0, "+", "-").tolist()
        return self.reasoner.table({template: piece}).append_column("change", pa.array(changes, pa.string()))

    def _stepped(self, held: Held, facts: Mapping[str, Piece], upto: int) -> Step:
        """From a state to a later cell."""
        return self.reasoner.step(held, {name: given(piece, held.upto, upto) for name, piece in facts.items()}, upto)

    def _still_needed(self, states: list[Held], facts: Mapping[str, Piece], accepted: int | None) -> list[Held]:
        """The state before which no fact is accepted any more, and some of those after it."""
        if accepted is not None:
            later = [held for held in states if held.upto is not None and held.upto >= accepted]
            oldest = states[0]
            if later[0].upto != accepted and (oldest.upto is None or oldest.upto < accepted):
                later = [self._stepped(oldest, facts, accepted).held, *later]
            states = later
        while len(states) > MOST_STATES:
            states = [states[0], *states[2:-1:2], states[-1]]
        return states

    # -- answers ------------------------------------------------------------------------------------------------------

    def _extended(self, name: str, found: Sequence[Piece], since: int | None) -> Piece:
        """What is shown of a predicate after new steps: maximal intervals, with what was known before."""
        old = self.shown.get(name)
        before = [old.until(since)] if old is not None and since is not None else []
        pieces = [piece for piece in (*before, *found) if len(piece)]
        return self.reasoner.maximal(pieces) if pieces else self.reasoner.nothing(name)

    def _difference(self, old: Mapping[str, Piece], old_upto: int | None, new: Mapping[str, Piece], upto: int,
                    since: int | None) -> Tables:
        def tables() -> tuple[pa.Table, pa.Table]:
            came: dict[str, Piece] = {}
            went: dict[str, Piece] = {}
            for name, piece in new.items():
                before = old.get(name)
                if since is not None:  # what ended before is as it was
                    piece = piece.take(np.flatnonzero(piece.ends >= since))
                    before = None if before is None else before.take(np.flatnonzero(before.ends >= since))
                known = None if before is None else opened(before, old_upto)
                came[name], went[name] = differing(known, opened(piece, upto))
            return self.reasoner.table(came), self.reasoner.table(went)

        return tables

    def answer(self) -> pa.Table:
        """The maximal intervals that are held: those that still hold or may still change."""
        return self.reasoner.table({name: opened(piece, self.upto) for name, piece in self.shown.items()})

    @property
    def size(self) -> int:
        """How many elements are held: facts that may be retracted, and the states to go back to."""
        return sum(map(len, self.facts.values())) + sum(held.size for held in self.states)

    def save(self) -> bytes:
        """The session as bytes: `program.restore` goes on from them as if nothing had been."""
        from eventide.mtl.checkpoint import to_bytes

        return to_bytes(self)
