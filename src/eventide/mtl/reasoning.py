"""A DatalogMTL program over a stream whose times may turn out finer: it keeps the plan on the grid that is needed.

Both ways of running over streams stand on it: `streaming` (all facts are there, in order) and `session` (they come and
go).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Literal

import numpy as np
import pyarrow as pa

from eventide.algebra.nodes import Fields, Plan
from eventide.analysis.mtl.compiler import fields_of
from eventide.analysis.mtl.memory import Variant, memory_of
from eventide.engine.answers import arguments
from eventide.engine.loading import columns_of, encode_all
from eventide.engine.relation import Relation, Space, Timeline
from eventide.errors import EventideError, RangeError
from eventide.kernels.arrays import Array
from eventide.mtl.cells import EVER, MOST, NEVER, DenseFacts
from eventide.mtl.materialisation import Compiled
from eventide.mtl.results import joined_tables, predicate_table
from eventide.mtl.stepping import Held, Piece, Step, Stepper, joined, laid, piece_of
from eventide.mtl.stream_plan import stream_plan
from eventide.syntax.terms import template_of

Choice = Literal["auto", "hash", "algorithm-1"]
CHOICES = ("auto", "hash", "algorithm-1")


class Reasoner:
    """The plan of a program on a grid, the domains of its facts, and how to go on from what is held."""

    def __init__(self, compiled: Compiled, wanted: Sequence[str], variant: Choice = "auto",
                 denominator: int = 1, *, carry: bool = True) -> None:
        if variant not in CHOICES:
            raise EventideError(f"the variant is {variant!r}; known are {', '.join(CHOICES)}")
        self.compiled, self.model, self.wanted = compiled, compiled.model, tuple(wanted)
        self.memory = memory_of(self.model.rules)
        self.variant: Variant = self.memory.variant if variant == "auto" else variant
        self.forced, self._carry = variant != "auto", carry
        self.store = compiled.store(DenseFacts())
        self.fields: dict[str, Fields] = {
            name: fields_of(self.model, template) for template, name in self.model.inputs.items()}
        self.denominator = compiled.denominator(denominator)
        self._stepper = self._compiled()

    def _compiled(self) -> Stepper:
        if self.denominator >= MOST:
            raise RangeError("the fractions of the times have no common denominator below 2**60")
        plan = stream_plan(self.plan, hashed=self.variant == "hash")
        return Stepper(plan, self.store, self.fields, self.wanted, self.model.open_types, carry=self._carry)

    @property
    def plan(self) -> Plan:
        """The plan of the program on the grid, as it is without streams."""
        return self.compiled.on_grid(self.denominator).plan

    def refine(self, denominator: int) -> int:
        """Go over to a grid that has the given denominator too; says how many times finer it is."""
        factor = math.lcm(self.denominator, denominator) // self.denominator
        if factor > 1:
            self.denominator *= factor
            self._stepper = self._compiled()
        return factor

    def cell(self, time: Fraction) -> int:
        """The cell of an instant on the grid."""
        steps = time * self.denominator
        assert steps.denominator == 1, f"{time} is not on the grid 1/{self.denominator}"
        if abs(steps.numerator) >= MOST:
            raise RangeError(f"the time {time} does not fit 60 bits on the grid 1/{self.denominator}")
        return 2 * steps.numerator

    def time(self, cell: int) -> Fraction:
        """The instant of a cell, or the one before a gap."""
        return Fraction(cell >> 1, self.denominator)

    def coded(self, facts: DenseFacts) -> dict[str, tuple[Piece, Array]]:
        """Facts by input, on a grid that has their times (`refine` before): rows, and -1 for those taken back."""
        for domain in self.store.domains.values():
            domain.open()
        result: dict[str, tuple[Piece, Array]] = {}
        for (name, arity), table in facts.on_grid(self.denominator).facts.tables.items():
            known = self.model.inputs.get(template_of(name, arity))
            if known is None or not len(table):
                continue
            assert table.end is not None
            fields = self.fields[known]
            columns = encode_all(self.store, fields, columns_of(table))
            signs = np.ones(len(table), np.int64) if table.op is None else table.op.astype(np.int64)
            result[known] = Piece(fields, tuple(columns[f.name] for f in fields), table.time, table.end), signs
        return result

    def nothing(self, template: str) -> Piece:
        """No rows of a predicate."""
        fields, none = fields_of(self.model, template), np.empty(0, np.int64)
        return Piece(fields, (none,) * len(fields), none, none)

    def step(self, held: Held, given: Mapping[str, Piece], upto: int) -> Step:
        """Go on to the cell before `upto` with the facts that begin until then."""
        return self._stepper.step(held, given, upto)

    def maximal(self, pieces: Sequence[Piece]) -> Piece:
        """Intervals of several steps as maximal ones."""
        whole = joined(pieces)
        finite = [cells[(cells != EVER) & (cells != NEVER)] for cells in (whole.starts, whole.ends)]
        bounds = [int(bound) for cells in finite if cells.size for bound in (cells.min(), cells.max())] or [0]
        origin = min(bounds) // 2 * 2 - 2
        shift = (max(bounds) - origin + 2).bit_length()
        for domain in self.store.domains.values():
            domain.lay_out(max(domain.width or 0, max(len(domain) - 1, 0).bit_length()))
        space = Space(self.store.domains, Timeline(origin, shift, 1, origin - 1, origin))
        return piece_of(laid(space, whole))

    def table(self, found: Mapping[str, Piece]) -> pa.Table:
        """Intervals by predicate, as the rows of a result."""
        tables = []
        for template, piece in found.items():
            if len(piece):
                columns = {f.name: c for f, c in zip(piece.fields, piece.columns, strict=True)}
                space = Space(self.store.domains, Timeline(0, 1, 1, 0, 0))
                args = arguments(template, piece.fields, columns, space, len(piece))
                tables.append(predicate_table(template.partition("(")[0], args, piece.starts, piece.ends,
                                              self.denominator))
        return joined_tables(tables)


def at_times(relation: Relation, cells: Array) -> Piece:
    """The points of a relation at the given cells, which are sorted: the answer relative to a discrete set."""
    piece = piece_of(relation)
    first, last = np.searchsorted(cells, piece.starts), np.searchsorted(cells, piece.ends)
    number = last - first
    rows = np.repeat(np.arange(len(piece)), number)
    offsets = np.arange(rows.shape[0]) - np.repeat(np.cumsum(number) - number, number)
    found = cells[first[rows] + offsets]
    return Piece(piece.fields, tuple(c[rows] for c in piece.columns), found, found + 1)
