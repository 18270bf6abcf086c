"""What the analysis of a LARS program finds: its components in order of evaluation, and every problem."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal as OneOf

from eventide.syntax.diagnostics import Diagnostic, Span
from eventide.syntax.lars_trees import LarsTree, Predicate, Rule
from eventide.syntax.terms import functor_of

Way = OneOf["columnar", "answer sets"]


@dataclass(frozen=True, slots=True)
class Component:
    """Predicates that depend on each other, and how they are evaluated.

    `columnar`     no predicate depends on its own negation, neither here nor below: the component compiles to the
                   algebra, and has one answer.
    `answer sets`  the component, or one it reads, has a loop through negation, and any number of answers.
    """

    predicates: tuple[Predicate, ...]
    way: Way
    recursive: bool = False
    loop: tuple[Predicate, ...] = ()
    """A loop through negation, where the component has one."""


@dataclass(slots=True)
class LarsModel:
    """A program with what is known of it."""

    tree: LarsTree
    diagnostics: list[Diagnostic] = field(default_factory=list)
    components: list[Component] = field(default_factory=list)

    def report(self, severity: OneOf["error", "warning", "info"], code: str, message: str, span: Span | None,
               hint: str) -> None:
        """Note a problem."""
        self.diagnostics.append(Diagnostic(severity, code, message, span, hint))

    @property
    def derived(self) -> list[Predicate]:
        """The predicates that rules conclude, in order of their first rule."""
        return list(dict.fromkeys(rule.head.predicate for rule in self.tree.rules if rule.head is not None))

    @property
    def background(self) -> list[Predicate]:
        """The predicates of background facts."""
        return list(dict.fromkeys(functor_of(fact) for fact in self.tree.facts))

    @property
    def inputs(self) -> list[Predicate]:
        """The predicates that bodies read and neither rules nor facts of the program give."""
        known = {*self.derived, *self.background}
        return [predicate for predicate in dict.fromkeys(
            literal.predicate for rule in self.tree.rules for literal in rule.literals) if predicate not in known]

    @property
    def several(self) -> frozenset[Predicate]:
        """The predicates that may have several answers."""
        return frozenset(predicate for component in self.components if component.way == "answer sets"
                         for predicate in component.predicates)

    def rules_of(self, component: Component) -> list[Rule]:
        """The rules that conclude a predicate of the component."""
        return [rule for rule in self.tree.rules if rule.head is not None
                and rule.head.predicate in component.predicates]
