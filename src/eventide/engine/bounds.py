"""How far back a session must hold facts and results, told from the plan before anything runs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntEnum

from eventide.algebra import nodes as n
from eventide.engine.executor import Executor
from eventide.engine.held import owners
from eventide.engine.loading import Store
from eventide.engine.relation import Space, Timeline
from eventide.engine.upkeep import Maintained, Upkeep, longest_asked


class Reach(IntEnum):
    """How far back: a fixed time before the window, as far as intervals that are open reach, or to the start."""

    WINDOW = 0
    OPEN = 1
    START = 2


@dataclass(frozen=True)
class Bound:
    """What a session must hold of an input or a result.

    `limit` is how long before the window; None if no number can be told. `why` is empty for the window alone.
    """

    text: str
    limit: int | None
    why: str


@dataclass(frozen=True)
class _Past:
    """How far back, and for what reason in which result."""

    reach: Reach = Reach.WINDOW
    limit: int = 0
    why: str = ""
    place: str = ""

    def bound(self, name: str) -> Bound:
        """In words, for a result of this name."""
        why = self.why if self.place in ("", name) else f"for {self.place}: {self.why}"
        if self.reach == Reach.WINDOW:
            text = f"the window and the last {self.limit} before it ({why})" if self.limit else "the window"
            return Bound(text, self.limit, why)
        if self.reach == Reach.OPEN:
            before = f", and {self.limit} before that" if self.limit else ""
            return Bound(f"the window, and all since the start of the longest interval still open{before} ({why})",
                         None, why)
        return Bound(f"everything ({why})", None, why)


def _furthest(first: _Past, *others: _Past) -> _Past:
    """The one that reaches back furthest, the first of equal ones."""
    return max((first, *others), key=lambda past: (past.reach, past.limit))


def bounds_of(plan: Maintained, store: Store, horizon: int | None) -> dict[str, Bound]:
    """What a session must hold, by input and result. What a rule needs besides is counted with its result."""
    owned = owners(plan)
    run = _static_run(store)
    settled: dict[str, _Past] = dict.fromkeys(plan.inputs, _Past())  # from when on each may still change
    needed = dict(settled)
    for upkeep in plan.upkeep:
        piece = upkeep.piece
        names = [name.removeprefix("fired ") for name in upkeep.reads]
        past = _furthest(_Past(), *(settled[name] for name in names))
        place = ", ".join(owned.get(piece.name, (piece.name,)))
        past = _own(upkeep, past, place, run, horizon)
        for name in piece.names:
            settled[name] = needed[name] = past
        for name in names:
            needed[name] = _furthest(needed[name], past)
    for name, given in owned.items():
        for owner in given:
            needed[owner] = _furthest(needed[owner], needed[name])
    return {name: past.bound(name) for name, past in needed.items() if not name.startswith("#")}


def _static_run(store: Store) -> Executor:
    """Evaluates what depends on background alone."""
    for domain in store.domains.values():
        domain.fix()
    return Executor(Space(store.domains, Timeline(0, 1, 1, 0, 0)), {}, store.tables, functions=store.functions)


def _own(upkeep: Upkeep, past: _Past, place: str, run: Executor, horizon: int | None) -> _Past:
    """From when on a piece may still change, given the same of what it reads (see `Update._edges`)."""
    body = upkeep.piece.body
    if upkeep.reason is not None:
        return _Past(Reach.START, why=upkeep.reason, place=place)
    if upkeep.piece.kind == "always":
        return _Past(Reach.START, why="a complement holds since the start, for every entity", place=place)
    if upkeep.piece.kind != "whole" or past.reach == Reach.START:
        return past
    if isinstance(body, n.Allen):
        if body.relation == "before" and horizon is None:
            return _Past(Reach.START, why="`before` has no horizon; give one", place=place)
        more = horizon if body.relation == "before" and horizon is not None else 0
        return _Past(Reach.OPEN, past.limit + more, "Allen relations compare whole intervals", place)
    if isinstance(body, n.Lasting):
        limit = longest_asked(body, run)
        if limit is None:
            return replace(past, reach=Reach.OPEN, why="how long it must last depends on the input", place=place)
        if past.reach == Reach.WINDOW:
            return _Past(Reach.WINDOW, past.limit + int(limit), "a duration is asked for", place)
        return past
    return replace(past, reach=Reach.OPEN, why="the ends of whole intervals are compared", place=place)
