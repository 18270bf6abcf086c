"""How far in time the results of a plan can reach, told before it runs: the room that cells need, and whether a cycle
may go on for ever. Computes with whole cells; knows no rules.

A relation is described by two numbers: up to where it may hold (`reach`), and how far its finite ends go (`last`); both
may be infinite. `<>-[0,inf) P` reaches for ever, but has no end after P's last. In a cycle the numbers are raised until
they stay, or taken for infinite where they do not; a condition that ends takes them back again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from eventide.algebra import nodes as n

FOREVER = float("inf")
Time = float | int


class Extent(NamedTuple):
    """Up to which cell something may hold, and the last finite cell at which it may begin or end."""

    reach: Time
    last: Time


NOTHING = Extent(-FOREVER, -FOREVER)
_OF_CHILD = (n.Equal, n.Same, n.Select, n.Compute, n.Attach, n.Copy, n.Rename, n.Project)


def extents(plan: n.Plan, inputs: Mapping[str, Extent], limit: int | None) -> tuple[dict[str, Extent], list[str]]:
    """The extent of every result, and the definitions of cycles that may go on for ever: these are cut at the limit."""
    known = dict(inputs)
    endless: list[str] = []
    for stratum in plan.strata:
        names = [definition.name for definition in stratum.definitions]
        if not stratum.cyclic:
            for definition in stratum.definitions:
                known[definition.name] = _extent(definition.body, known)
            continue
        _settle(stratum, known)
        if any(known[name].last == FOREVER for name in names):
            endless += names
            if limit is not None:
                known.update({name: Extent(known[name].reach, limit) for name in names})
    return known, endless


def _settle(stratum: n.Stratum, known: dict[str, Extent]) -> None:
    """Raise the extents of a cycle until they stay; what still rises after a round for each may rise for ever."""
    members = stratum.definitions
    known.update(dict.fromkeys((member.name for member in members), NOTHING))
    for number in range(3 * len(members) + 3):
        before = {member.name: known[member.name] for member in members}
        for member in members:
            old, new = known[member.name], _extent(member.body, known)
            if number > len(members):
                new = Extent(FOREVER if new.reach > old.reach else new.reach,
                             FOREVER if new.last > old.last else new.last)
            known[member.name] = Extent(max(old.reach, new.reach), max(old.last, new.last))
        if before == {member.name: known[member.name] for member in members}:
            break
    for _ in range(len(members) + 1):
        for member in members:
            known[member.name] = _extent(member.body, known)


def _extent(node: n.Node, known: Mapping[str, Extent]) -> Extent:
    match node:
        case n.Fluent(name):
            return known.get(name, NOTHING)
        case n.Join(left, right):
            if right.sort == "rows":
                return _extent(left, known)
            a, b = _extent(left, known), _extent(right, known)
            reach = min(a.reach, b.reach)
            return Extent(reach, min(max(a.last, b.last), reach))
        case n.Without(left, right):
            a, b = _extent(left, known), _extent(right, known)
            return Extent(a.reach, min(max(a.last, b.last), a.reach))
        case n.Union(children):
            parts = [_extent(child, known) for child in children]
            return Extent(max(part.reach for part in parts), max(part.last for part in parts))
        case n.Shifted(child, kind, low, high):
            a = _extent(child, known)
            if a == NOTHING:
                return a
            far: Time = FOREVER if high is None else high
            return Extent(a.reach + (far if kind == "dilate" else low), a.last + (low if high is None else high) + 1)
        case n.Since(left, right, low, high):
            a, b = _extent(left, known), _extent(right, known)
            if b == NOTHING:
                return b
            far = FOREVER if high is None else high
            moved = b.last + (low if high is None else high)
            return Extent(min(b.reach + far, max(a.reach, b.reach)) + 1, max(a.last, b.last, moved) + 1)
        case n.Always():
            return Extent(FOREVER, -FOREVER)
        case _:
            assert isinstance(node, _OF_CHILD), f"no extent of {type(node).__name__}"
            return _extent(node.child, known)
