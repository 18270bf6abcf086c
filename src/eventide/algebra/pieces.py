"""A plan cut into pieces that a session can maintain: each has one kind of dependence on time.

Operators that look at whole intervals (durations, Allen relations), sets of rows that the input fills, and everything
that holds without end become pieces of their own; what is left of a definition is local in time: its content from a
time on depends on the content of its operands from that time on.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

from eventide.algebra import nodes as n

Kind = Literal["rows", "always", "local", "points", "inertia", "whole", "runs", "cycle"]
WHOLE = (n.Lasting, n.Spans, n.Allen, n.Shifted, n.Since)


@dataclass(frozen=True, slots=True)
class Piece:
    """A named result, and how it is kept up to date.

    `rows`: facts without time that the input fills. `always`: intervals without end. `local`: intervals, local in time.
    `points`: events, local in time. `inertia`: a simple fluent. `whole`: looks at whole intervals of its operands.
    `runs`: points to intervals. `cycle`: several definitions that are repeated until nothing changes.
    """

    name: str
    kind: Kind
    definitions: tuple[n.Definition, ...]

    @property
    def body(self) -> n.Node:
        """The node of a piece that is not a cycle."""
        return self.definitions[0].body

    @property
    def names(self) -> tuple[str, ...]:
        """The results that the piece defines."""
        return tuple(definition.name for definition in self.definitions)


def leaves_of(node: n.Node) -> Iterator[n.Node]:
    """The leaves of a plan that stand for other results: fluents, events, fired deadlines and tables."""
    return (found for found in n.nodes_in(node) if isinstance(found, n.Fluent | n.Events | n.Fired | n.Table))


class _Cutter:
    def __init__(self) -> None:
        self.pieces: list[Piece] = []
        self._done: dict[int, tuple[n.Node, n.Node]] = {}  # with the node itself, so that its id stays its own
        self._members: frozenset[str] = frozenset()

    def _add(self, kind: Kind, body: n.Node) -> str:
        name = f"#{len(self.pieces)} {type(body).__name__.lower()}"
        self.pieces.append(Piece(name, kind, (n.Definition(name, body),)))
        return name

    def _stored(self, node: n.Node) -> n.Node:
        """An interval node as a result of its own, so that its intervals are whole."""
        if isinstance(node, n.Fluent):
            return node
        return n.Fluent(self._add("local", node), node.fields, valued=False)

    def cut(self, node: n.Node) -> n.Node:
        """The node with its parts that are not local in time replaced by references to pieces."""
        known = self._done.get(id(node))
        if known is None:
            known = self._done[id(node)] = (node, self._cut(node))
        return known[1]

    def _cut(self, node: n.Node) -> n.Node:
        changed = self._with_children(node)
        if self._members and not self._members.isdisjoint(n.references_of(node)):
            return changed  # inside a cycle nothing can be taken out
        if isinstance(changed, n.Timeless | n.Keys | n.At):
            return n.Table(self._add("rows", changed), changed.fields)
        if isinstance(changed, n.Always):
            return n.Fluent(self._add("always", changed), changed.fields, valued=False)
        if isinstance(changed, WHOLE):
            return n.Fluent(self._add("whole", changed), changed.fields, valued=False)
        if isinstance(changed, n.Runs):
            return n.Fluent(self._add("runs", changed), changed.fields, valued=False)
        if isinstance(changed, n.Inertia):
            return n.Fluent(self._add("inertia", changed), changed.fields)
        return changed

    def _with_children(self, node: n.Node) -> n.Node:
        """The same node over cut operands; those of whole-interval operators are results."""
        match node:
            case n.Allen():
                source, target = self.cut(node.source), self.cut(node.target)
                if not self._cyclic(node):
                    source, target = self._stored(source), self._stored(target)
                return replace(node, source=source, target=target)
            case n.Since():
                left, right = self.cut(node.left), self.cut(node.right)
                if not self._cyclic(node):
                    left, right = self._stored(left), self._stored(right)
                return replace(node, left=left, right=right)
            case n.Inertia():
                return replace(
                    node,
                    reported=None if _all_reported(node) else node.reported,
                    changes=tuple(replace(c, points=self.cut(c.points)) for c in node.changes),
                    initial=tuple(self.cut(i) for i in node.initial),
                    delays=tuple(d if d.rows is None else replace(d, rows=self.cut(d.rows)) for d in node.delays),
                    domain=None if node.domain is None or not node.initial else self.cut(node.domain))
            case n.Lasting():
                child = self.cut(node.child)
                return replace(node, child=child if self._cyclic(node) else self._stored(child),
                               rows=None if node.rows is None else self.cut(node.rows))
            case n.Join(left, right) | n.Without(left, right):
                return self._same(node, left=self.cut(left), right=self.cut(right))
            case n.Union(children) | n.Vote(children):
                cut = tuple(self.cut(child) for child in children)
                return node if all(a is b for a, b in zip(cut, children, strict=True)) else replace(node, children=cut)
            case n.Count():
                return self._same(node, child=self.cut(node.child), inner=self.cut(node.inner))
            case n.Table() | n.Unit() | n.Events() | n.Fluent() | n.Fired():
                return node
            case n.Spans() | n.Shifted():
                child = self.cut(node.child)
                return replace(node, child=child if self._cyclic(node) else self._stored(child))
            case _:
                return self._same(node, child=self.cut(node.child))

    def _same(self, node: n.Node, **parts: Any) -> n.Node:
        if all(getattr(node, name) is part for name, part in parts.items()):
            return node
        changed: n.Node = replace(node, **parts)
        return changed

    def _cyclic(self, node: n.Node) -> bool:
        return bool(self._members) and not self._members.isdisjoint(n.references_of(node))

    def stratum(self, stratum: n.Stratum) -> None:
        """Add the pieces of a stratum."""
        if stratum.cyclic:
            self._members = frozenset(d.name for d in stratum.definitions)
            definitions = tuple(n.Definition(d.name, self._inside(d.body)) for d in stratum.definitions)
            self._members = frozenset()
            self.pieces.append(Piece(definitions[0].name, "cycle", definitions))
            return
        for definition in stratum.definitions:
            if isinstance(definition.body, n.Inertia):
                body: n.Node = self._with_children(definition.body)
                self.pieces.append(Piece(definition.name, "inertia", (n.Definition(definition.name, body),)))
                continue
            body = self.cut(definition.body)
            kind: Kind = "points" if body.sort == "points" else "local"
            self.pieces.append(Piece(definition.name, kind, (n.Definition(definition.name, body),)))

    def _inside(self, body: n.Node) -> n.Node:
        return self._with_children(body) if isinstance(body, n.Inertia) else self.cut(body)


def _all_reported(node: n.Inertia) -> bool:
    """Whether a simple fluent can have no value but those that are reported."""
    values = {c.value for c in node.changes if c.kind == "initiated"} | {d.target for d in node.delays}
    return node.reported is not None and not node.initial and values <= set(node.reported)


def pieces_of(plan: n.Plan) -> tuple[Piece, ...]:
    """The pieces of a plan, in the order in which they are evaluated."""
    cutter = _Cutter()
    for stratum in plan.strata:
        cutter.stratum(stratum)
    return tuple(cutter.pieces)


def nonlocal_in(body: n.Node) -> bool:
    """Whether a body still has operators that are not local in time (inside a cycle)."""
    kinds = (*WHOLE, n.Runs, n.Always, n.Timeless, n.Keys, n.At)
    return any(isinstance(node, kinds) for node in n.nodes_in(body))


def partition_of(body: n.Node, column: str) -> dict[int, int] | None:
    """How a body splits by a column: for every timed leaf (by id) the position of the column among its fields.

    None if some leaf does not have it: then the body mixes rows with different values of the column.
    """
    found: dict[int, int] = {}
    return found if _split(body, column, found) else None


def _timed(node: n.Node) -> bool:
    return any(not isinstance(leaf, n.Table) for leaf in leaves_of(node))


def _split(node: n.Node, column: str, found: dict[int, int]) -> bool:
    if not _timed(node):
        return True
    if column not in n.names(node.fields):
        return False
    match node:
        case n.Events() | n.Fluent() | n.Fired():
            position = n.names(node.fields).index(column)
            return found.setdefault(id(node), position) == position
        case n.Rename(child, fields):
            return _split(child, child.fields[n.names(fields).index(column)].name, found)
        case n.Join(left, right) | n.Without(left, right):
            return _split(left, column, found) and _split(right, column, found)
        case n.Union(children) | n.Vote(children):
            return all(_split(child, column, found) for child in children)
        case n.Count(child, inner):
            return _split(child, column, found) and _split(inner, column, found)
        case n.Compute(child, field) | n.Attach(child, field) | n.Copy(child, field):
            if field.name != column:
                return _split(child, column, found)
            return isinstance(node, n.Copy) and _split(child, node.column, found)
        case n.Function(child, outputs=outputs):
            return column not in n.names(outputs) and _split(child, column, found)
        case n.Inertia():
            parts = [*(c.points for c in node.changes), *node.initial]
            return all(_split(part, column, found) for part in parts)
        case n.Table() | n.Unit() | n.Allen() | n.Since():
            return False
        case _:
            return _split(node.child, column, found)
