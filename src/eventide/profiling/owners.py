"""Which rules the nodes of measured plans belong to; those of several rules are shared by them. Measures nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from eventide.algebra import nodes as n
from eventide.analysis.origins import clause_nodes
from eventide.engine.profile import Profile


@dataclass(frozen=True, slots=True)
class Owner:
    """A rule, or a definition where no single rule is meant: its words, and where it stands (`""`: nowhere)."""

    title: str
    place: str = ""

    def __str__(self) -> str:
        return f"{self.title}  ({self.place})" if self.place else self.title


class Owners:
    """The owners of every node of the plans that a profile met."""

    def __init__(self, program: Any, profile: Profile) -> None:
        self._of: dict[int, list[Owner]] = {}
        self.definitions: dict[int, str] = {}
        """The names of definitions by the node that gives them."""
        self.rules: dict[int, Owner] = {}
        """The rules by the node that gives their rows."""
        for plan in profile.plans.values():
            self._add(program, plan)

    def of(self, node: n.Node) -> tuple[Owner, ...]:
        """The owners of a node, at least one."""
        return tuple(self._of.get(id(node), ())) or (Owner("what no rule is measured for"),)

    def _add(self, program: Any, plan: n.Plan) -> None:
        bodies = {d.name: d.body for s in plan.strata for d in s.definitions}
        for name, body in bodies.items():
            if not name.startswith("#"):
                self.definitions[id(body)] = name
        claimed: set[int] = set()
        for owner, root in _rules(program, bodies):
            self.rules.setdefault(id(root), owner)
            for node in _below(root, bodies):
                claimed.add(id(node))
                self._claim(node, owner)
        for name, body in bodies.items():  # what joins the rules of a definition is the definition's
            for node in _below(body, bodies) if not name.startswith("#") else ():
                if id(node) not in claimed:
                    self._claim(node, Owner(f"{name}, all its rules together"))

    def _claim(self, node: n.Node, owner: Owner) -> None:
        known = self._of.setdefault(id(node), [])
        if owner not in known:
            known.append(owner)


def _below(root: n.Node, bodies: dict[str, n.Node]) -> Iterator[n.Node]:
    """A node and all that it is made of, also what a session keeps apart under a hidden name (`#…`)."""
    seen: set[int] = set()
    stack = [root]
    while stack:
        node = stack.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        yield node
        stack.extend(n.children_of(node))
        hidden = node.name if isinstance(node, n.Fluent | n.Table | n.Events) else ""
        if hidden.startswith("#") and hidden in bodies:
            stack.append(bodies[hidden])


def _rules(program: Any, bodies: dict[str, n.Node]) -> Iterable[tuple[Owner, n.Node]]:
    """The rules of a program, each with the node that gives its rows."""
    model = program.model
    if hasattr(model, "origins"):
        for _, clause, node in clause_nodes(model, bodies):
            yield Owner(_head(program, clause.span) or f"{clause.kind} {clause.template}", _place(clause.span)), node
    elif hasattr(model, "defined"):  # DatalogMTL: what is given, then the rules
        for template, numbers in model.defined.items():
            body = bodies.get(template)
            if isinstance(body, n.Union) and len(body.children) == 1 + len(numbers):
                for number, node in zip(numbers, body.children[1:], strict=True):
                    rule = model.rules[number]
                    yield Owner(_head(program, rule.span) or template, _place(rule.span)), node


def _place(span: Any) -> str:
    return "" if span is None else f"{span.source}:{span.line}"


def _head(program: Any, span: Any) -> str:
    """The first line of a rule, as it is written, without what its conditions begin with."""
    rows = program.texts.get(span.source, "").splitlines() if span is not None else []
    if span is None or span.line > len(rows):
        return ""
    return str(rows[span.line - 1][span.column - 1:].partition(":-")[0].strip().removesuffix("."))
