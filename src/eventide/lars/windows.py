"""Atoms of a body as plans: what an atom under a window and a modality means, for every way its predicate is known.

A predicate is known in parts (`Part`), each with its own idea of time:

rows      background facts: they hold at every time-point.
points    an atom at k that is known at k … k+life: input facts (for ever), what is concluded from one time-point.
now       an atom that is concluded at t for t: intervals of evaluation times.
stamped   an atom at T that is known during intervals of evaluation times: any other conclusion at T.

An atom under a window is the union over the parts, except under `always`, where all of them count together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal as OneOf

from eventide.algebra import nodes as n
from eventide.algebra.expressions import Column, Comparison, Constant
from eventide.lars.arguments import Types
from eventide.syntax.lars_trees import Literal, Predicate, Window
from eventide.syntax.terms import Number, Term, Variable, arguments_of

ARRIVALS = "#arrivals"
"""The input that has a point for every fact, of whatever predicate, in order of arrival."""
RANK, LEAVING = "#", "#leaving"
AT = "@at"
"""The time-point of a conclusion that the head names."""

Step = Callable[..., n.Node]
"""Tests what an atom alone can judge and drops what nobody else reads; `keep` names columns to be kept for now."""


@dataclass(frozen=True)
class Part:
    """One way in which a predicate is known; `life` is how long points are (None: for ever)."""

    kind: OneOf["rows", "points", "now", "stamped"]
    name: str
    life: int | None = None
    ranked: bool = False
    """Whether the points have their rank among all facts as a last column."""


def stamp_of(literal: Literal) -> str:
    """The column of an atom's time."""
    return f"@{literal.time.name}" if isinstance(literal.time, Variable) else AT


def shorter(one: int | None, other: int | None) -> int | None:
    """The smaller of two spans, None being for ever."""
    return other if one is None else one if other is None else min(one, other)


class Atoms:
    """Makes the plans of the atoms of one program."""

    def __init__(self, types: Types, parts: Mapping[Predicate, Sequence[Part]]) -> None:
        self.types, self.parts = types, parts

    def parts_of(self, literal: Literal) -> Sequence[Part]:
        """The parts of the atom's predicate."""
        return self.parts.get(literal.predicate, ())

    # -- leaves -------------------------------------------------------------------------------------------------------

    def leaf(self, literal: Literal, part: Part, stamp: str | None) -> n.Node:
        """The rows of a part that match the atom, its variables as columns; nothing is dropped yet."""
        fields: list[n.Field] = []
        tests: list[tuple[str, Term | str]] = []
        seen: set[str] = set()
        for i, (term, type_) in enumerate(
                zip(arguments_of(literal.atom), self.types.of(literal.predicate), strict=True)):
            if isinstance(term, Variable) and term.name not in seen:
                seen.add(term.name)
                fields.append(n.Field(term.name, type_))
            else:
                fields.append(n.Field(f"${i}", type_))
                tests.append((f"${i}", term.name if isinstance(term, Variable) else term))
        node: n.Node
        if part.kind == "rows":
            node = n.Table(part.name, tuple(fields))
        elif part.kind == "points":
            node = n.Events(part.name, (*fields, n.Field(RANK, n.NUMBER)) if part.ranked else tuple(fields))
        elif part.kind == "now":
            node = n.Fluent(part.name, tuple(fields), valued=False)
        else:
            assert stamp is not None
            node = n.Fluent(part.name, (*fields, n.Field(stamp, n.STAMP)), valued=False)
        window = literal.window
        if part.ranked and window is not None and window.kind != "time":
            node = self._departures(node, literal, window)
        for column, wanted in tests:
            node = n.Same(node, column, wanted) if isinstance(wanted, str) else n.Equal(node, column, wanted)
        return node

    def _departures(self, facts: n.Node, literal: Literal, window: Window) -> n.Node:
        """Facts with the time at which they leave a window of tuples; counted before any of them is left out."""
        by = None if window.kind == "tuple" else tuple(facts.fields[place].name for place in window.by)
        return n.Departures(facts, n.Events(ARRIVALS, ()), RANK, by, window.size, n.Field(LEAVING, n.NUMBER))

    # -- points -------------------------------------------------------------------------------------------------------

    def points(self, literal: Literal, narrow: Step) -> tuple[n.Node, int | None] | None:
        """The atom as points and how long they count; None where it is no such thing. `narrow` tests and projects."""
        window = literal.window
        if literal.modality not in ("now", "at") or isinstance(literal.time, Number):
            return None
        if window is not None and window.kind != "time":
            return None
        parts = self.parts_of(literal)
        if not parts or any(part.kind != "points" for part in parts):
            return None
        size = 0 if literal.modality == "now" else window.size if window is not None else None
        lives = {shorter(part.life, size) for part in parts}
        if len(lives) > 1:
            return None
        found = [narrow(self.leaf(literal, part, None)) for part in parts]
        return found[0] if len(found) == 1 else n.Union(tuple(found)), lives.pop()

    def rows(self, literal: Literal, narrow: Step) -> n.Node | None:
        """The atom as rows that always hold; None where it is no such thing."""
        parts = self.parts_of(literal)
        if len(parts) != 1 or parts[0].kind != "rows":
            return None
        return narrow(self.leaf(literal, parts[0], None))

    # -- intervals ----------------------------------------------------------------------------------------------------

    def intervals(self, literal: Literal, narrow: Step) -> n.Node | None:
        """The atom as intervals of evaluation times, with its time as a column where it has one; None for nothing."""
        if literal.modality == "always":
            return self._always(literal, narrow)
        found = [self._part(literal, part, narrow) for part in self.parts_of(literal)]
        if not found:
            return None
        return found[0] if len(found) == 1 else n.Union(tuple(found))

    def _part(self, literal: Literal, part: Part, narrow: Step) -> n.Node:
        stamp = stamp_of(literal)
        if literal.modality != "at":
            if part.kind == "rows":
                return n.Always(narrow(self.leaf(literal, part, None)))
            if part.kind == "now":
                return narrow(self.leaf(literal, part, None))
            plain = literal.window is None or literal.window.kind == "time"
            if part.kind == "points" and plain:
                size = 0 if literal.modality == "now" else literal.window.size if literal.window is not None else None
                return n.Spread(narrow(self.leaf(literal, part, None)), shorter(part.life, size))
        stamped = self._seen(literal, part, narrow)
        if literal.modality == "at":
            if isinstance(literal.time, Number):
                chosen = n.Select(stamped, Comparison("=:=", Column(stamp), Constant(literal.time)))
                return without(chosen, stamp)
            return stamped
        return without(stamped, stamp)

    def _seen(self, literal: Literal, part: Part, narrow: Step) -> n.Node:
        """What of a part is in the window: rows stamped with their time."""
        stamp, window = stamp_of(literal), literal.window
        size = 0 if literal.modality == "now" else window.size if window is not None and window.kind == "time" else None
        if part.kind == "now":  # at t it is known of t alone, which is in every window
            return n.Spread(n.Instants(narrow(self.leaf(literal, part, None))), 0, stamp)
        if part.ranked and window is not None and window.kind != "time":
            return n.Spread(narrow(self.leaf(literal, part, None)), None, stamp, LEAVING)
        counted = self._arrivals(literal, window) if window is not None and window.kind != "time" else None
        leaf = narrow(self.leaf(literal, part, stamp), keep=() if counted is None else n.names(counted.fields))
        if part.kind == "rows":
            leaf = n.Spread(n.Instants(n.Always(leaf)), size, stamp)
        elif part.kind == "points":
            leaf = n.Spread(leaf, shorter(part.life, size), stamp)
        elif size is not None:
            leaf = n.Aged(leaf, stamp, size)
        if window is None or counted is None:
            return leaf
        return narrow(n.Recent(leaf, counted, stamp, window.size))

    def _arrivals(self, literal: Literal, window: Window) -> n.Node | None:
        """The facts that a window of tuples counts, with the columns that tell groups apart; None without facts."""
        if window.kind == "tuple":
            return n.Events(ARRIVALS, ())
        facts = next((part for part in self.parts_of(literal) if part.ranked), None)
        if facts is None:
            return None
        # counted before any fact is left out; a variable that stands twice may be told by its second place
        types = self.types.of(literal.predicate)
        fields = (*(n.Field(f"${i}", type_) for i, type_ in enumerate(types)), n.Field(RANK, n.NUMBER))
        arguments = arguments_of(literal.atom)
        by: dict[str, int] = {}
        counted: n.Node = n.Events(facts.name, fields)
        for place in window.by:
            name = str(arguments[place])
            if name in by:
                counted = n.Same(counted, f"${by[name]}", f"${place}")
            by.setdefault(name, place)
        kept = n.Project(counted, tuple(f"${place}" for place in by.values()))
        return n.Rename(kept, tuple(n.Field(name, types[place]) for name, place in by.items()))

    def _always(self, literal: Literal, narrow: Step) -> n.Node | None:
        parts, window, stamp = self.parts_of(literal), literal.window, stamp_of(literal)
        plain = window is None or window.kind == "time"
        size = None if window is None else window.size
        constant = [n.Always(narrow(self.leaf(literal, part, None))) for part in parts if part.kind == "rows"]
        others = [part for part in parts if part.kind != "rows"]
        if not others:
            return constant[0] if constant else None
        found: n.Node
        if plain and all(part.kind == "points" and shorter(part.life, size) == size for part in others):
            points = tuple(narrow(self.leaf(literal, part, None)) for part in others)
            found = n.Steady(points[0] if len(points) == 1 else n.Union(points), size)
        elif plain and len(others) == 1 and others[0].kind == "now" and size == 0:
            found = narrow(self.leaf(literal, others[0], None))
        else:
            marks = tuple(self._seen(literal, part, narrow) for part in others)
            united = marks[0] if len(marks) == 1 else n.Union(marks)
            arrivals = None if plain or window is None else self._arrivals(literal, window)
            found = n.Covered(united, stamp, size if plain or arrivals is not None else None, arrivals)
        return n.Union((found, *constant)) if constant else found


def without(node: n.Node, column: str) -> n.Node:
    """The node without a column."""
    return n.Project(node, tuple(name for name in n.names(node.fields) if name != column))
