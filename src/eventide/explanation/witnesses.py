"""Which facts put a row into a domain that the input fills: a walk down the plan of rows without time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from eventide.algebra import nodes as n
from eventide.engine.relation import Relation, Rows
from eventide.explanation.proof import Reason
from eventide.syntax.printer import term_text
from eventide.syntax.terms import Term, Variable

if TYPE_CHECKING:
    from eventide.explanation.proving import Proofs, Proving

Row = Mapping[str, Term]


def witness(proofs: Proofs, node: n.Node, row: Row, time: int | None = None) -> Proving:
    """A reason for a row of a plan: facts and background that give it; None where it needs none, or there is none."""
    reasons: list[Reason] = []
    match node:
        case n.Table(name, fields):
            values = [term_text(row[field.name]) if field.name in row else "_" for field in fields]
            return Reason("background", f"{name.rpartition('/')[0]}({', '.join(values)})")
        case n.Events(name, fields):
            leaves = tuple(row.get(field.name, Variable("_")) for field in fields)
            assert time is not None
            return (yield proofs.happening(name, leaves, time))
        case n.Fluent(name, fields):
            leaves = tuple(row.get(field.name, Variable("_")) for field in fields)
            found = proofs.world.intervals(node, row)
            start = found[0].stretch.start
            return (yield proofs.holding(name, leaves, start, start + 1))
        case n.Rename(child, fields):
            names = {new.name: old.name for new, old in zip(fields, child.fields, strict=True)}
            return (yield witness(proofs, child, {names[name]: term for name, term in row.items()}, time))
        case n.Union(children):
            for child in children:
                if first_row(proofs, child, row, time) is not None:
                    return (yield witness(proofs, child, row, time))
            return None
        case n.Join(left, right):
            for side in (left, right):
                wide = first_row(proofs, node, row, time)
                if wide is None:
                    return None
                below = {name: term for name, term in wide[0].items() if name in n.names(side.fields)}
                found_reason = yield witness(proofs, side, below, wide[1])
                reasons += [found_reason] if found_reason is not None else []
            return _together(reasons)
        case n.Without(child) | n.Equal(child) | n.Same(child) | n.Select(child) | n.Project(child) | n.Attach(child) \
                | n.Copy(child) | n.Compute(child) | n.Timeless(child) | n.Keys(child):
            names_ = n.names(child.fields)
            wide = first_row(proofs, child, {name: term for name, term in row.items() if name in names_}, time)
            return None if wide is None else (yield witness(proofs, child, *wide))
    return None


def _together(reasons: list[Reason]) -> Reason | None:
    if len(reasons) < 2:
        return reasons[0] if reasons else None
    return Reason("background", "declared by its grounding", tuple(reasons))


def first_row(proofs: Proofs, node: n.Node, row: Row, time: int | None) -> tuple[dict[str, Term], int | None] | None:
    """The first row of a node that agrees with what is known of it, with all its columns, and its time."""
    world = proofs.world
    result = world.evaluate(node)
    if isinstance(result, Relation):
        found = world.intervals(node, row)
        return (dict(found[0].binding), None) if found else None
    assert isinstance(result, Rows)
    mask = np.ones(result.length, np.bool_)
    for field in result.fields:
        if field.name in row:
            code = world.code(row[field.name], field.type)
            mask &= result.column(field.name) == (-1 if code is None else code)
    if time is not None and result.timed:
        mask &= result.time == world.timeline.inside(time)
    places = np.flatnonzero(mask)
    if not places.shape[0]:
        return None
    place = int(places[0])
    values = {field.name: world.term(result.column(field.name)[place].item(), field.type)
              for field in result.fields if field.type != n.UNUSED}
    return values, world.time(result.time[place]) if result.timed else None
