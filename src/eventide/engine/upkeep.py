"""What is known of the pieces of a plan before anything runs: what each reads, and what splits it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property

import numpy as np

from eventide.algebra import nodes as n
from eventide.algebra.evidence import retroactive
from eventide.algebra.pieces import Piece, leaves_of, nonlocal_in, partition_of, pieces_of
from eventide.engine.executor import Executor, PlanIndex
from eventide.engine.expressions import numbers
from eventide.engine.relation import Rows
from eventide.errors import EventideError

PLAIN = (n.NUMBER, n.UNUSED)


class Upkeep:
    """What is known of a piece before anything runs."""

    def __init__(self, piece: Piece, filled: frozenset[str], late: Mapping[str, str]) -> None:
        self.piece = piece
        self.leaves = [leaf for d in piece.definitions for leaf in leaves_of(d.body)]
        own = set(piece.names)
        self.reads = {leaf_name(leaf) for leaf in self.leaves if not isinstance(leaf, n.Table)} - own
        self.reads -= {f"fired {name}" for name in own}
        self.tables = {leaf.name for leaf in self.leaves if isinstance(leaf, n.Table)} & filled
        self.bounds = {leaf.name for d in piece.definitions for leaf in _bounded(d.body)}
        self.reason = self._reason(filled, late)
        self.column: n.Field | None = None
        self.positions: dict[int, int] = {}
        if piece.kind in ("local", "points", "inertia"):
            candidates = piece.body.fields[:-1] if isinstance(piece.body, n.Inertia) else piece.body.fields
            for candidate in candidates:
                found = partition_of(piece.body, candidate.name) if candidate.type not in PLAIN else None
                if found:
                    self.column, self.positions = candidate, found
                    break

    @property
    def initial(self) -> bool:
        """Whether it has initial values."""
        return any(isinstance(d.body, n.Inertia) and d.body.initial for d in self.piece.definitions)

    def _reason(self, filled: frozenset[str], late: Mapping[str, str]) -> str | None:
        """Why its past may change long after; None if it cannot."""
        reason = next((late[name] for name in self.piece.names if name in late), None)
        if reason is not None:
            return reason
        if self.piece.kind not in ("rows", "inertia", "cycle") and not self.tables.isdisjoint(filled):
            return "an entity that appears later may change it"
        if self.piece.kind == "cycle" and any(nonlocal_in(d.body) for d in self.piece.definitions):
            return "it looks at whole intervals inside a cycle"
        if isinstance(self.piece.body, n.Shifted | n.Since):
            return "it looks back in time"
        return None


def leaf_name(leaf: n.Node) -> str:
    """The name under which what a leaf reads is known."""
    assert isinstance(leaf, n.Fluent | n.Events | n.Fired)
    return f"fired {leaf.name}" if isinstance(leaf, n.Fired) else leaf.name


def _bounded(node: n.Node) -> Iterable[n.Fluent]:
    """The fluents whose starts and ends a body reads as events."""
    for found in n.nodes_in(node):
        if isinstance(found, n.Boundaries):
            yield from (leaf for leaf in leaves_of(found) if isinstance(leaf, n.Fluent))


class Maintained:
    """The pieces of a plan with what is known of them, in order of evaluation."""

    def __init__(self, plan: n.Plan, inputs: Iterable[str], built: frozenset[str]) -> None:
        self.pieces = pieces_of(plan)
        late = retroactive(plan)
        filled = frozenset(piece.name for piece in self.pieces if piece.kind == "rows")
        self.upkeep = [Upkeep(piece, filled, late) for piece in self.pieces]
        self.inputs = tuple(inputs)
        self.built = built
        self.bodies: dict[str, n.Node] = {d.name: d.body for p in self.pieces for d in p.definitions}
        self.bounds = {name for upkeep in self.upkeep for name in upkeep.bounds}
        known = {*self.inputs, *self.bodies, *(f"fired {name}" for name in self.bodies)}
        self.imports: dict[str, n.Node] = {}
        """What is read but neither an input nor defined: other sessions keep it up to date."""
        for upkeep in self.upkeep:
            for leaf in upkeep.leaves:
                if not isinstance(leaf, n.Table) and leaf_name(leaf) not in known:
                    self.imports.setdefault(leaf_name(leaf), leaf)
        # the positions of every result's columns that split a piece, by type
        self.splits: dict[str, set[tuple[str, int]]] = {}
        for upkeep in self.upkeep:
            if upkeep.column is not None:
                for leaf in upkeep.leaves:
                    if id(leaf) in upkeep.positions:
                        self.splits.setdefault(leaf_name(leaf), set()).add(
                            (upkeep.column.type, upkeep.positions[id(leaf)]))

    @cached_property
    def index(self) -> PlanIndex:
        """The shape of the whole plan."""
        return PlanIndex(n.Plan(tuple(n.Stratum(0, p.definitions, p.kind == "cycle") for p in self.pieces)))


def longest_asked(body: n.Lasting, run: Executor) -> float | None:
    """The longest duration that is asked for, if it does not depend on the interval."""
    if body.rows is not None and any(
            isinstance(leaf, n.Table) and leaf.name.startswith("#") for leaf in leaves_of(body.rows)):
        return None
    try:
        rows = run.rows_of(body.rows) if body.rows is not None else Rows((), {}, 1, timed=False)
        amounts = np.atleast_1d(np.asarray(numbers(body.amount, rows, run.space), np.float64))
    except (AssertionError, EventideError):
        return None
    return float(amounts.max(initial=0.0))
