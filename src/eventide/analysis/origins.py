"""Which nodes of a plan belong to which clause, for those who ask what a rule did or cost. Changes no plan."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from eventide.algebra import nodes as n
from eventide.analysis.model import Clause, Model


def clause_nodes(model: Model, bodies: Mapping[str, n.Node]) -> Iterator[tuple[str, Clause, n.Node]]:
    """The definitions with the clauses they are made of, each with the node that gives its rows.

    `bodies` are the definitions of the model's plan, also after they have been rewritten or cut into pieces: what a
    definition is a choice of stays in its order.
    """
    for name, numbers in model.origins.items():
        body = bodies.get(name)
        if body is not None:
            for number, node in zip(numbers, _alternatives(body, len(numbers)), strict=False):
                if node is not None:
                    yield name, model.clauses[number], node


def _alternatives(body: n.Node, number: int) -> list[n.Node | None]:
    """The nodes that a definition of so many clauses is a choice of; of a delay that is a constant there is none."""
    if isinstance(body, n.Inertia):
        return [*(change.points for change in body.changes), *body.initial, *(delay.rows for delay in body.delays)]
    if number == 1:
        return [body]
    found: n.Node | None = body
    while found is not None and not (isinstance(found, n.Union) and len(found.children) == number):
        found = next(n.children_of(found), None)  # around the choice there are only joins with the domain
    return list(found.children) if isinstance(found, n.Union) else []
