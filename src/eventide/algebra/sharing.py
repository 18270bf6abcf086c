"""Equal sub-plans become one node, so that each is computed once. A rewrite of plans; it changes no meaning."""

from __future__ import annotations

import functools
from dataclasses import fields, is_dataclass, replace
from typing import Any

from eventide.algebra.expressions import Expression, Logic
from eventide.algebra.nodes import Definition, Node, Plan, Select, Stratum


def both(first: Expression, second: Expression) -> Expression:
    """Two tests as one."""
    left = first.arguments if isinstance(first, Logic) and first.operator == "and" else (first,)
    right = second.arguments if isinstance(second, Logic) and second.operator == "and" else (second,)
    return Logic("and", left + right)


@functools.cache
def _names(kind: Any) -> tuple[str, ...] | None:
    """The fields of a node, without its place in a text; None for plain values."""
    if not is_dataclass(kind) or not hasattr(kind, "__slots__"):
        return None
    return tuple(f.name for f in fields(kind) if f.name != "span" and f.init)


class Sharing:
    """Remembers the nodes it has seen; equal ones are answered with the first."""

    def __init__(self) -> None:
        self._nodes: dict[tuple[Any, ...], Any] = {}
        self._seen: dict[int, tuple[Any, Any, Any]] = {}

    def plan(self, plan: Plan) -> Plan:
        """The plan with equal sub-plans shared."""
        return Plan(tuple(
            Stratum(s.level, tuple(Definition(d.name, self.node(d.body)) for d in s.definitions), s.cyclic)
            for s in plan.strata))

    def node(self, node: Node) -> Node:
        """The node with its sub-plans shared, the same object for equal nodes."""
        shared: Node = self._shared(node)[0]
        return shared

    def _shared(self, value: Any) -> tuple[Any, Any]:
        """The shared value, and a key that is equal for equal values."""
        if isinstance(value, tuple):
            parts = [self._shared(item) for item in value]
            return tuple(part for part, _ in parts), tuple(key for _, key in parts)
        kind: Any = type(value)
        names = _names(kind)
        if names is None:
            return value, (type(value), value)
        seen = self._seen.get(id(value))
        if seen is None:
            # the value itself is kept, so that its id stays its own
            seen = self._seen[id(value)] = (*self._first(value, names), value)
        return seen[0], seen[1]

    def _first(self, value: Any, names: tuple[str, ...]) -> tuple[Any, Any]:
        pairs = {name: self._shared(getattr(value, name)) for name in names}
        key = (type(value), *(k for _, k in pairs.values()))
        found = self._nodes.get(key)
        if found is None and isinstance(value, Select) and isinstance(pairs["child"][0], Select):
            below: Select = pairs["child"][0]  # two tests in a row are one: rows are gathered once
            found = self._nodes[key] = self._shared(Select(below.child, both(below.test, value.test)))[0]
        if found is None:
            same = all(part is getattr(value, name) for name, (part, _) in pairs.items())
            found = self._nodes[key] = value if same else replace(value, **{n: p for n, (p, _) in pairs.items()})
        return found, ("node", id(found))
