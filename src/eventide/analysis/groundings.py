"""What groundings declare: for which arguments a fluent or an event exists, and which values of a fluent are shown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from eventide.algebra import nodes as n
from eventide.algebra.expressions import Column, Comparison, Constant, Logic
from eventide.analysis.bodies import BodyCompiler
from eventide.analysis.model import Clause, Model, Rejected, may_match
from eventide.analysis.patterns import Substitution, rename, substitute, unify, variables_in
from eventide.analysis.sources import Sources
from eventide.syntax.terms import Term, Variable, arguments_of, functor_of, is_ground
from eventide.syntax.trees import Call, Condition

VALUE = "value"
MOST_LISTED = 64
"""How many values of facts are written out as if each had a grounding."""


@dataclass(frozen=True)
class Listed:
    """What one grounding lists: rows of the arguments that it binds (the others are free), and of which value.

    `value` is a constant, or None: then the last column of the rows is the value if the grounding binds it, and every
    value is meant if not. Groundings that list the same arguments have the same `key`.
    """

    key: object
    places: tuple[int, ...]
    rows: n.Node
    value: Term | None = None
    bound: bool = False


class Groundings:
    """The groundings of a program, as rows over the columns of definitions."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.sources = Sources(model)
        self.fields: dict[str, n.Fields] = {}
        self._listings: dict[tuple[str, str], tuple[Listed, ...]] = {}
        self._apart: dict[str, bool] = {}

    def shaped(self, node: n.Node, leaves: Sequence[Term], fields: n.Fields) -> n.Node:
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

    def columns(self, template: str, kind: str = "f") -> n.Fields:
        """The columns of a fluent's arguments, or of an event."""
        return self.fields[template][:-1] if kind == "f" else self.fields[f"event {template}"]

    # -- listings -----------------------------------------------------------------------------------------------------

    def listings(self, template: str, kind: str = "f") -> tuple[Listed, ...]:
        """What the groundings of a fluent (or an event) list."""
        if (kind, template) not in self._listings:
            found = [listed for clause in self.model.about(template, "grounding" if kind == "f" else "event_grounding")
                     for each in self._written_out(clause) if (listed := self._listed(each)) is not None]
            self._listings[kind, template] = tuple(dict.fromkeys(found))
        return self._listings[kind, template]

    def _written_out(self, clause: Clause) -> Iterator[Clause]:
        """The grounding, or one for each value if facts of the rules say which these are."""
        value = clause.value if clause.kind == "grounding" else None
        about = [c for c in clause.body if isinstance(value, Variable) and value.name in variables_in(c)]
        answers = self._answers(about[0]) if len(about) == 1 and len(set(variables_in(about))) == 1 else None
        if answers is None or len(answers) > MOST_LISTED:
            yield clause
            return
        body = tuple(c for c in clause.body if c not in about)
        values = dict.fromkeys(value for each in answers for value in each.values())
        yield from (replace(clause, leaves=(*clause.arguments, each), body=body) for each in values)

    def _answers(self, condition: Condition) -> list[Substitution] | None:
        """What facts of the rules give the variables of a condition; None where more than facts may define it."""
        knowledge = self.model.knowledge
        functor = functor_of(condition.predicate) if isinstance(condition, Call) else ("", 0)
        if not isinstance(condition, Call) or functor not in knowledge.facts or functor in knowledge.clauses or \
                functor in self.model.dynamic or self.model.tables.get(functor[0]) == functor[1]:
            return None
        pattern, found = arguments_of(condition.predicate), list[Substitution]()
        for row in knowledge.facts[functor]:
            bindings: dict[str, Term] = {}
            if all(unify(each, value, bindings) for each, value in zip(pattern, row, strict=True)):
                found.append(bindings)
        return found

    def _listed(self, clause: Clause) -> Listed | None:
        """What a grounding lists; None if its conditions were refused."""
        is_fluent = clause.kind == "grounding"
        arguments = clause.arguments if is_fluent else clause.leaves
        fields = self.columns(clause.template, "f" if is_fluent else "e")
        try:
            node = BodyCompiler(self.model, self.sources, clause, None).rows(clause.body)
            names = set(n.names(node.fields))
            places = tuple(i for i, leaf in enumerate(arguments)
                           if not isinstance(leaf, Variable) or leaf.name in names)
            value = clause.value if is_fluent else None
            bound = isinstance(value, Variable) and value.name in names
            leaves = (*(arguments[i] for i in places), *((value,) if bound and value is not None else ()))
            columns = (*(fields[i] for i in places), *(self.fields[clause.template][-1:] if bound else ()))
            rows = self.shaped(node, leaves, columns)
        except Rejected:
            return None
        said = arguments, clause.body
        numbers = {name: Variable(f"V{i}") for i, name in enumerate(dict.fromkeys(variables_in(said)))}
        return Listed(rename(said, numbers), places, rows, None if isinstance(value, Variable) else value, bound)

    # -- arguments ----------------------------------------------------------------------------------------------------

    def _arguments(self, template: str, kind: str, value: Term | None = None) -> dict[tuple[int, ...], n.Node] | None:
        """The rows for which a fluent (with a value, if one is given) or an event exists, by the places that they
        bind; None where groundings leave that open."""
        fields, found = self.columns(template, kind), dict[tuple[int, ...], dict[n.Node, None]]()
        for listed in self.listings(template, kind):
            rows = listed.rows
            if value is not None and listed.value not in (None, value):
                continue
            if not listed.places:
                return None
            if listed.bound:
                rows = rows if value is None else n.Equal(rows, VALUE, value)
                rows = n.Project(rows, tuple(fields[i].name for i in listed.places))
            found.setdefault(listed.places, {})[rows] = None
        return {places: united(list(rows)) for places, rows in found.items()}

    def _domain(self, template: str, kind: str) -> tuple[tuple[int, ...], n.Node] | None:
        """The rows for which a fluent or an event is declared, over the places that all its groundings bind."""
        found = self._arguments(template, kind)
        common = tuple(i for i in next(iter(found)) if all(i in places for places in found)) if found else ()
        if not found or not common:
            return None
        names = tuple(self.columns(template, kind)[i].name for i in common)
        return common, united([rows if n.names(rows.fields) == names else n.Project(rows, names)
                               for rows in found.values()])

    def domain(self, template: str) -> n.Node | None:
        """The rows for which a fluent is declared by `grounding`, over the arguments that all groundings bind."""
        found = self._domain(template, "f")
        return None if found is None else found[1]

    def domain_for(self, clause: Clause, kind: str) -> n.Node | None:
        """The domain with its columns named after the clause's own variables, as far as they are variables."""
        found = self._domain(clause.template, kind)
        if found is None:
            return None
        places, rows = found
        leaves = clause.arguments if kind == "f" else clause.leaves
        return self.sources.scan(lambda fields: n.Rename(rows, typed(fields, rows.fields)), kind, clause.template,
                                 [leaves[i] for i in places])

    def declared(self, node: n.Node, template: str, kind: str = "f") -> n.Node:
        """Of the rows of a fluent or an event within its domain those that are declared, where groundings bind
        different arguments: the domain has those only that all bind."""
        found = self._arguments(template, kind)
        return node if not found or len(found) == 1 else within(node, list(found.values()))

    # -- values -------------------------------------------------------------------------------------------------------

    def named(self, template: str) -> tuple[Term, ...]:
        """The values that heads, `initially` and `fi` name: they exist, and end the others, whatever is listed."""
        clauses = self.model.about(template, "initiated", "initial", "delay")
        values = [value for clause in clauses for value in (clause.value, clause.target) if value is not None]
        return tuple(dict.fromkeys(value for value in values if not isinstance(value, Variable)))

    def listed(self, template: str) -> tuple[Term, ...] | None:
        """The values that groundings list for all arguments alike; None where they leave that open, or tell no
        values, or not for all arguments alike (`is_apart`)."""
        found = self.listings(template)
        if not found or self._differ(template):
            return None
        if {each.key for each in found if each.value is None} == {each.key for each in found}:
            return None
        return tuple(dict.fromkeys(each.value for each in found if each.value is not None))

    def _differ(self, template: str) -> bool:
        """Whether groundings list other values for some arguments than for others."""
        found = self.listings(template)
        free = {each.key for each in found if each.value is None}
        keys: dict[Term, set[object]] = {}
        for each in found:
            if each.value is not None:
                keys.setdefault(each.value, set(free)).add(each.key)
        return any(each.bound for each in found) or any(known != {each.key for each in found}
                                                        for known in keys.values())

    def is_apart(self, template: str) -> bool:
        """Whether values may hold that are not shown, and which these are depends on the arguments."""
        if template not in self._apart:
            self._apart[template] = bool(self.named(template)) and self._differ(template) and \
                not self._all_listed(template)
        return self._apart[template]

    def _all_listed(self, template: str) -> bool:
        """Whether facts of the rules list every value that a rule names, for all arguments for which it does."""
        listed: set[tuple[Term, ...]] = set()
        for clause in self.model.about(template, "grounding"):
            answers = self._answers(clause.body[0]) if len(clause.body) == 1 else None
            if answers is None:
                return False
            listed.update(substitute(clause.leaves, each) for each in answers)
        if not all(map(is_ground, chain.from_iterable(listed))):
            return False
        arguments = {leaves[:-1] for leaves in listed}
        for clause in self.model.about(template, "initiated", "initial", "delay"):
            for value in (clause.value, clause.target):
                if value is not None and not isinstance(value, Variable) and not all(
                        (*each, value) in listed for each in arguments if may_match(clause.arguments, each)):
                    return False
        return True

    def pairs(self, template: str) -> list[n.Node]:
        """The arguments and values that are listed, as rows over some columns of a fluent; none: they all are."""
        value = self.fields[template][-1]
        found: dict[n.Fields, dict[n.Node, None]] = {}
        for listed in self.listings(template):
            rows = listed.rows if listed.value is None else n.Attach(listed.rows, value, listed.value)
            if not rows.fields:
                return []
            found.setdefault(rows.fields, {})[rows] = None
        return [united(list(rows)) for rows in found.values()]

    def existing(self, node: n.Node, template: str) -> n.Node:
        """Of the points or rows of a rule whose value is a variable those with a value that exists."""
        pairs, listed = self.pairs(template), self.listed(template)
        if not pairs or (listed is None and not self._differ(template)):
            return node
        values = dict.fromkeys((*self.named(template), *(listed or ())))
        tests = tuple(Comparison("==", Column(n.names(node.fields)[-1]), Constant(each)) for each in values)
        options: list[n.Node] = [n.Select(node, Logic("or", tests))] if tests else []
        if listed is None:
            options.append(within(node, pairs))
        return united(options)

    def shown(self, node: n.Node, template: str) -> n.Node:
        """Of a fluent's rows, with their values, those that groundings list."""
        pairs = self.pairs(template)
        return within(node, pairs) if pairs else node

    def shown_with(self, node: n.Node, template: str, value: Term) -> n.Node | None:
        """Of the rows that have a value those that groundings list with it; None if they list none."""
        if not self.listings(template):
            return node
        found = self._arguments(template, "f", value)
        return node if found is None else within(node, list(found.values())) if found else None


def united(nodes: Sequence[n.Node]) -> n.Node:
    """The rows of one or several nodes."""
    return nodes[0] if len(nodes) == 1 else n.Union(tuple(nodes))


def within(node: n.Node, options: Sequence[n.Node]) -> n.Node:
    """The rows that agree with those of any of the options."""
    return united([n.Join(node, rows) for rows in options])


def typed(wanted: n.Fields, known: n.Fields) -> n.Fields:
    """Fields with their own names and the types of others."""
    return tuple(n.Field(w.name, k.type) for w, k in zip(wanted, known, strict=True))
