"""Heads of clauses: the columns of definitions, and what is known of clauses before their bodies are compiled."""

from __future__ import annotations

from dataclasses import replace

from eventide.algebra import nodes as n
from eventide.analysis.groundings import VALUE, Groundings
from eventide.analysis.model import Clause
from eventide.analysis.patterns import fill, name_of, substitute
from eventide.syntax.printer import term_text
from eventide.syntax.terms import Atom, Term, Variable, arguments_of, functor_of, is_ground
from eventide.syntax.trees import Call


class Heads(Groundings):
    """What the heads of clauses say."""

    def fields_of(self, template: str, kind: str, clauses: list[Clause]) -> n.Fields:
        """The columns of a definition, named after the variables of its rules where these are good names."""
        if template not in self.fields:
            width = len(clauses[0].leaves)
            names: list[str] = []
            for i in range(width):
                value = kind == "f" and i == width - 1
                options = [] if value else [c.leaves[i].name for c in clauses  # type: ignore[union-attr]
                                            if i < len(c.leaves) and isinstance(c.leaves[i], Variable)]
                good = [o for o in options if o not in names and "#" not in o and not o.startswith("_")]
                names.append(VALUE if value else good[0] if good else f"Arg{i + 1}")
            types = [self.model.types[(kind, template, i)] for i in range(width)]
            self.fields[template] = tuple(n.Field(a, b) for a, b in zip(names, types, strict=True))
        return self.fields[template]

    # -- clauses ------------------------------------------------------------------------------------------------------

    def folded(self, clause: Clause) -> Clause | None:
        """The clause with background values that are known constants put in; None if it can never apply."""
        bindings: dict[str, Term] = {}
        rest = list(clause.body)
        at = 0
        while at < len(rest):
            condition = rest[at]
            at += 1
            if not isinstance(condition, Call):
                continue
            predicate = substitute(condition.predicate, bindings)
            arguments = arguments_of(predicate)
            if not arguments or not any(is_ground(a) for a in arguments):
                continue
            found = self._matching(functor_of(predicate), arguments)
            if found is None or len(found) > 1:
                continue
            if not found:
                self.model.report("warning", "never-applies", f"no fact matches {predicate}, so this rule never "
                                  "applies", condition.span, "check the spelling of its arguments")
                return None
            bindings |= {a.name: v for a, v in zip(arguments, found[0], strict=True) if isinstance(a, Variable)}
            del rest[at - 1]
            at = 0  # what is known now may tell more of the conditions before it
        if len(rest) == len(clause.body):
            return clause
        return replace(clause, body=substitute(tuple(rest), bindings), leaves=substitute(clause.leaves, bindings),
                       delay=substitute(clause.delay, bindings), target=substitute(clause.target, bindings))

    def _matching(self, predicate: tuple[str, int], pattern: tuple[Term, ...]) -> list[tuple[Term, ...]] | None:
        """The facts that match a pattern with constants, or None where that is not known now."""
        if predicate in self.model.dynamic or predicate in self.model.knowledge.clauses:
            return None
        facts = self.model.knowledge.facts.get(predicate)
        if facts is None:
            return self.model.lookup(predicate, pattern)
        wanted = [(i, p) for i, p in enumerate(pattern) if not isinstance(p, Variable)]
        return [fact for fact in facts if all(fact[i] == p for i, p in wanted)]


def written(clause: Clause, *, value: bool = False) -> str:
    """The fluent of a clause as a rule would write it: its own variables, others for what is no variable.

    With `value`, the fluent has its value.
    """
    names = [str(leaf) if isinstance(leaf, Variable) and not leaf.anonymous and "#" not in leaf.name else f"X{i}"
             for i, leaf in enumerate(clause.arguments, 1)]
    arguments = fill(clause.template, names)
    name = term_text(Atom(name_of(clause.template)))
    fluent = f"{name}({', '.join(arguments)})" if arguments else name
    return f"{fluent}={term_text(clause.value, 699)}" if value else fluent
