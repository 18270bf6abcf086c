"""Clauses condition by condition: a head is bound first, then each condition adds its part, in the order of the text.

The plan of a program puts conditions in the order that is cheapest, and forgets variables that nothing reads any more.
Proofs need all variables, and the condition that fails first as its author counts.
"""

from __future__ import annotations

from collections.abc import Sequence

from eventide.algebra import nodes as n
from eventide.analysis.bodies import BodyCompiler, Step, Tally
from eventide.analysis.model import Clause, Rejected
from eventide.analysis.patterns import unify, variables_in
from eventide.analysis.statics import StaticCompiler
from eventide.explanation.worlds import Binding, Case
from eventide.syntax.terms import Term, Variable
from eventide.syntax.trees import Condition, Not


def head_binding(clause: Clause, leaves: Sequence[Term]) -> dict[str, Term] | None:
    """The variables of a head for which it reads as these leaves (variables among them are left open); None if never.

    >>> from eventide.syntax.terms import Atom
    >>> clause = Clause(0, "initiated", "f(_)", (Variable("X"), Atom("true")), ())
    >>> head_binding(clause, (Atom("a"), Atom("true")))
    {'X': Atom(name='a')}
    """
    found: dict[str, Term] = {}
    for own, leaf in zip(clause.leaves, leaves, strict=True):
        if not isinstance(leaf, Variable) and not unify(own, leaf, found):
            return None
    return {name: term for name, term in found.items() if not isinstance(term, Variable)}


class Follower(BodyCompiler):
    """The steps of one clause's body, each with the plan of all conditions up to it."""

    def __init__(self, case: Case, clause: Clause) -> None:
        super().__init__(case.model, case.compiler.sources, clause, None)

    def types(self, names: Sequence[str]) -> dict[str, str]:
        """The types of variables."""
        return {name: self.type(name) for name in names}

    def steps(self, body: Sequence[Condition], start: n.Node) -> list[tuple[Step, n.Node]]:
        """The conditions in the order of the text, as far as their variables allow it; Rejected if they never do."""
        node, pending = start, self._counted(body)
        wanted = set(variables_in((self.clause.leaves, tuple(body))))
        found: list[tuple[Step, n.Node]] = []
        while pending:
            chosen = next((step for step in pending if self._can_be_taken(step, pending, node)), None)
            if chosen is None:
                raise Rejected
            pending.remove(chosen)
            node = self._apply(chosen, node, pending, wanted)
            found.append((chosen, node))
        return found

    def _can_be_taken(self, step: Step, pending: Sequence[Step], node: n.Node) -> bool:
        if isinstance(step, Not) or not isinstance(step, Condition):  # a negation or a count
            return self._ready(step, pending, self._bound(node), node.sort == "points")
        return self._next([step], node) is not None

    def is_test(self, step: Step) -> bool:
        """Whether a condition asks for the kind of a value: `number(X)`."""
        return self._is_test(step)

    def may_be_tried(self, step: Not | Tally, known: Binding, time: int | None) -> bool:
        """Whether all is known that a negation or a count shares with the rest of its clause."""
        timed = time is not None
        bound = set(known) | ({self.time} if timed and self.time is not None else set())
        return self._ready(step, self._counted(self.clause.body), bound, timed)


class StaticFollower(StaticCompiler):
    """A holdsFor rule with its head bound: the relation of every interval variable, and the condition that binds it."""

    def __init__(self, case: Case, clause: Clause, bound: Binding) -> None:
        super().__init__(case.model, case.compiler.sources, clause, case.compiler.domain_for(clause, "f"))
        self.bound = bound
        self.origins: dict[str, Condition] = {}

    def _fluent(self, pattern: tuple[str, tuple[Term, ...]], condition: Condition | None = None) -> n.Node:
        node = super()._fluent(pattern, condition)
        for column in n.names(node.fields):
            if column in self.bound:
                node = n.Equal(node, column, self.bound[column])
        self.leaves[-1] = node
        return node

    def _bind(self, output: Term, node: n.Node, condition: Condition) -> None:
        super()._bind(output, node, condition)
        assert isinstance(output, Variable)
        self.origins[output.name] = condition
