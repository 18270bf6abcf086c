"""Heads of clauses: the columns of definitions, the domains and values that groundings declare. Compiles no bodies."""

from __future__ import annotations

from dataclasses import replace

from eventide.algebra import nodes as n
from eventide.analysis.bodies import BodyCompiler
from eventide.analysis.model import Clause, Model, Rejected
from eventide.analysis.patterns import fill, name_of, substitute, variables_in
from eventide.analysis.sources import Sources
from eventide.syntax.terms import Term, Variable, arguments_of, functor_of, is_ground
from eventide.syntax.trees import Call

VALUE = "value"


class Heads:
    """What the heads of clauses say: columns, domains, values; and how rows are brought into their shape."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.sources = Sources(model)
        self.fields: dict[str, n.Fields] = {}
        self._domains: dict[str, n.Node | None] = {}

    # -- names and domains ------------------------------------------------------------------------------------------

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

    def domain(self, template: str, kind: str = "f") -> n.Node | None:
        """The rows for which a fluent (or event) is declared by `grounding`; columns as in `fields`."""
        if template not in self._domains:
            options: list[n.Node] = []
            for clause in self.model.about(template, "grounding" if kind == "f" else "event_grounding"):
                arguments = clause.arguments if kind == "f" else clause.leaves
                if all(isinstance(a, Variable) and a.name.startswith("_") for a in arguments):
                    continue
                node = self._grounding(clause, arguments)
                if node is not None:
                    options.append(node)
            self._domains[template] = None if not options else options[0] if len(options) == 1 else n.Union(
                tuple(options))
        return self._domains[template]

    def _grounding(self, clause: Clause, arguments: tuple[Term, ...]) -> n.Node | None:
        names = [v for v in dict.fromkeys(variables_in(arguments))]
        try:
            node = BodyCompiler(self.model, self.sources, clause, None).rows(clause.body)
            if not set(names) <= set(n.names(node.fields)):
                return None
            return self.shaped(node, arguments, self.fields[clause.template][:len(arguments)])
        except Rejected:
            return None

    def values(self, template: str) -> tuple[tuple[Term, ...] | None, n.Node | None]:
        """The values a fluent may take, as declared: constants, and rows where a grounding binds the value."""
        constants: list[Term] = []
        rows: list[n.Node] = []
        found = False
        for clause in self.model.about(template, "grounding"):
            found = True
            if not isinstance(clause.value, Variable):
                constants.append(clause.value)
                continue
            name = clause.value.name
            if clause.value.anonymous or name not in variables_in(clause.body):
                return None, None
            body = tuple(c for c in clause.body if name in variables_in(c))
            try:
                node = BodyCompiler(self.model, self.sources, clause, None).rows(body)
            except Rejected:
                return None, None
            field = n.Field(VALUE, self.fields[template][-1].type)
            rows.append(n.Rename(n.Project(node, (name,)), (field,)))
        if not found:
            return None, None
        heads = [c.value for c in self.model.about(template, "initiated", "initial")]
        allowed = tuple(dict.fromkeys([*constants, *(h for h in heads if not isinstance(h, Variable))]))
        return allowed, None if not rows else rows[0] if len(rows) == 1 else n.Union(tuple(rows))

    def domain_for(self, clause: Clause, kind: str) -> n.Node | None:
        """The domain with its columns named after the clause's own variables, as far as they are variables."""
        domain = self.domain(clause.template, kind)
        if domain is None:
            return None
        leaves = clause.arguments if kind == "f" else clause.leaves
        return self.sources.scan(lambda fields: n.Rename(domain, typed(fields, domain.fields)), kind, clause.template,
                                 leaves)

    def shaped(self, node: n.Node, leaves: tuple[Term, ...], fields: n.Fields) -> n.Node:
        """Columns in the order of the head: constants attached, repeated variables copied, names as in `fields`."""
        names: list[str] = []
        for leaf, field in zip(leaves, fields, strict=True):
            column = f"&{field.name}"
            if isinstance(leaf, Variable) and leaf.name not in names:
                names.append(leaf.name)
                continue
            if isinstance(leaf, Variable):
                node = n.Copy(node, n.Field(column, field.type), leaf.name)
            else:
                node = n.Attach(node, n.Field(column, field.type), leaf)
            names.append(column)
        if n.names(node.fields) != tuple(names):
            node = n.Project(node, tuple(names))
        return n.Rename(node, fields) if node.fields != fields else node

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

    def listed(self, template: str) -> tuple[Term, ...] | None:
        """The values that groundings list, or None where they do not say."""
        return _grounded(self.model, template, self.values(template)[0])


def _grounded(model: Model, template: str, allowed: tuple[Term, ...] | None) -> tuple[Term, ...] | None:
    """The values of a fluent that are reported: those that `grounding` lists, or all."""
    if allowed is None:
        return None
    listed = [c.value for c in model.about(template, "grounding")]
    return None if any(isinstance(v, Variable) for v in listed) else tuple(dict.fromkeys(listed))


def written(clause: Clause) -> str:
    """The fluent of a clause as a rule would write it: its own variables, others for what is no variable."""
    names = [str(leaf) if isinstance(leaf, Variable) and not leaf.anonymous and "#" not in leaf.name else f"X{i}"
             for i, leaf in enumerate(clause.arguments, 1)]
    arguments = fill(clause.template, names)
    return f"{name_of(clause.template)}({', '.join(arguments)})" if arguments else clause.template


def typed(wanted: n.Fields, known: n.Fields) -> n.Fields:
    return tuple(n.Field(w.name, k.type) for w, k in zip(wanted, known, strict=True))
