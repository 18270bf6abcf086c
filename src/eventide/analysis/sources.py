"""Where conditions get their rows from: events, fluents and their parts, background tables, domains of the input."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence

from eventide.algebra import nodes as n
from eventide.analysis.knowledge import Predicate
from eventide.analysis.model import Clause, Model, Rejected, are_plain, may_match, part_name
from eventide.analysis.patterns import flatten, leaf_count, name_of, variables_in
from eventide.analysis.types import table_name
from eventide.syntax.diagnostics import Span
from eventide.syntax.printer import term_text
from eventide.syntax.terms import Compound, ListTerm, Term, Variable, arguments_of, functor_of
from eventide.syntax.trees import Call

_OF_PROLOG = {
    "between": "write Low =< X, X =< High", "forall": "write \\+ (a, \\+ b)", "findnsols": "use findall and length",
    "aggregate_all": "use findall and length", "bagof": "use findall and length", "setof": "use findall and length",
    "sumlist": "give the sum as an input", "sum_list": "give the sum as an input",
    "succ": "write N is M + 1", "plus": "write N is L + M", "assert": "what changes is a fluent: write initiatedAt",
    "assertz": "what changes is a fluent: write initiatedAt", "asserta": "what changes is a fluent: write initiatedAt",
    "retract": "what changes is a fluent: write terminatedAt", "write": "rules print nothing; remove it",
    "format": "rules print nothing; remove it", "print": "rules print nothing; remove it",
    "writeln": "rules print nothing; remove it", "nb_setval": "what changes is a fluent: write initiatedAt",
    "nb_getval": "what changes is a fluent: write holdsAt", "nth0": "give each element an argument of its own",
    "nth1": "give each element an argument of its own", "append": "lists are not computed; use findall and length",
    "retractall": "what changes is a fluent: write terminatedAt", "once": "write the goal alone",
    "nl": "rules print nothing; remove it", "consult": "give the file with --background",
}

_COUNTED, _GIVEN = "count with findall(X, Goal, List), length(List, N)", "give it as an argument of an event"
_AGGREGATES = {**dict.fromkeys(("count", "number_of", "aggregate_count"), _COUNTED),
               **dict.fromkeys(("sum", "total", "avg", "average", "mean", "median", "stddev"), _GIVEN)}


def initiations_name(template: str, kind: str) -> str:
    """The name of the derived event that holds the initiation (or termination) points of a fluent."""
    return f"{kind} {template}"


class Sources:
    """Leaf plans of one program, with the columns named after a clause's variables."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.simple = {c.template for c in model.of_kind("initiated", "terminated", "initial", "delay")}
        self.parts = model.parts
        for clause in model.of_kind("static", "runs"):
            name = part_name(clause.template, clause.leaves)
            self.parts.setdefault(clause.template, {}).setdefault(name, clause.leaves)
        self.derived = {c.template for c in model.of_kind("event")}
        self.needs_points: set[tuple[str, str]] = set()
        self._domains: dict[Predicate, n.Node | None] = {}
        self._reported: set[Predicate] = set()

    # -- scanning: constants and repeated variables in a pattern ----------------------------------------------

    def scan(self, make: Callable[[n.Fields], n.Node], kind: str, name: str, leaves: Sequence[Term]) -> n.Node:
        """A leaf node whose columns are named by the pattern's variables; constants and repetitions are tested."""
        fields: list[n.Field] = []
        tests: list[tuple[str, Term | str]] = []
        seen: set[str] = set()
        if not are_plain(self.model, leaves, None):
            raise Rejected
        for i, leaf in enumerate(leaves):
            type_ = self.model.types.get((kind, name, i), n.NUMBER)
            if isinstance(leaf, Variable) and leaf.name not in seen:
                seen.add(leaf.name)
                fields.append(n.Field(leaf.name, type_))
                continue
            column = f"${i}"
            fields.append(n.Field(column, type_))
            tests.append((column, leaf.name if isinstance(leaf, Variable) else leaf))
        node = make(tuple(fields))
        for column, wanted in tests:
            node = n.Same(node, column, wanted) if isinstance(wanted, str) else n.Equal(node, column, wanted)
        if tests:
            node = n.Project(node, tuple(f.name for f in fields if f.name in seen))
        return node

    # -- events and fluents -----------------------------------------------------------------------------------

    def event(self, event: Term) -> n.Node:
        """The points of an event."""
        template, leaves = flatten(event)
        return self.scan(lambda fields: n.Events(template, fields), "e", template, leaves)

    def point_fluent(self, template: str, leaves: Sequence[Term]) -> n.Node:
        """The points of an input fluent that comes as points; its value is the last column."""
        return self.scan(lambda fields: n.Events(template, fields), "f", template, leaves)

    def changed(self, kind: str, template: str, leaves: Sequence[Term]) -> n.Node:
        """The initiation or termination points of a simple fluent."""
        self.needs_points.add((kind, template))
        name = initiations_name(template, kind)
        return self.scan(lambda fields: n.Events(name, fields), "f", template, leaves)

    def fluent(self, template: str, leaves: Sequence[Term]) -> n.Node:
        """The intervals of a fluent, all parts that may have the value united."""
        value = leaves[-1]
        options: list[n.Node] = []
        own = template in self.simple or template not in self.parts
        if own and (isinstance(value, Variable) or self._may_have(template, value)):
            options.append(self.scan(lambda fields: n.Fluent(template, fields), "f", template, leaves))
        options += [self.part(template, part, leaves) for part, heads in self.parts.get(template, {}).items()
                    if may_match(heads, leaves)]
        if not options:
            options.append(self.scan(lambda fields: n.Fluent(template, fields), "f", template, leaves))
        return options[0] if len(options) == 1 else n.Union(tuple(options))

    def part(self, template: str, part: str, leaves: Sequence[Term]) -> n.Node:
        """The intervals of one statically determined part of a fluent."""
        fixed, value, arguments = self.parts[template][part][-1], leaves[-1], tuple(leaves[:-1])
        if isinstance(fixed, Variable):
            return self.scan(lambda fields: n.Fluent(part, fields), "f", template, leaves)
        node = self.scan(lambda fields: n.Fluent(part, fields, valued=False), "f", template, arguments)
        if not isinstance(value, Variable):
            return node
        type_ = self.model.types[("f", template, len(leaves) - 1)]
        if value.name not in variables_in(arguments):
            return n.Attach(node, n.Field(value.name, type_), fixed)
        column = "$value"
        node = n.Same(n.Attach(node, n.Field(column, type_), fixed), column, value.name)
        return n.Project(node, tuple(f.name for f in node.fields if f.name != column))

    def _may_have(self, template: str, value: Term) -> bool:
        if template not in self.simple:
            return True
        for clause in self.model.about(template, "initiated", "initial", "delay"):
            heads = [clause.value] + ([clause.target] if clause.target is not None else [])
            if any(isinstance(h, Variable) or h == value for h in heads):
                return True
        return False

    # -- background -------------------------------------------------------------------------------------------

    def table(self, call: Call) -> n.Node:
        """The rows of a background predicate or of a domain filled by the input."""
        predicate = functor_of(call.predicate)
        arguments = arguments_of(call.predicate)
        name = table_name(predicate)
        for argument in arguments:
            if isinstance(argument, Compound | ListTerm):
                if (predicate[0] in _OF_PROLOG or predicate[0].lower() in _AGGREGATES) and \
                        predicate[0] not in self._arities():
                    self._missing(predicate, call.span)
                else:
                    self.model.report("error", "compound-argument",
                                      f"{predicate[0]}/{predicate[1]} is used with the compound argument "
                                      f"{term_text(argument)}", call.span, "background tables hold plain values")
                return n.Unit()
        options: list[n.Node] = []
        knowledge = self.model.knowledge
        if predicate in knowledge.relations or predicate in knowledge.facts or \
                self.model.tables.get(predicate[0]) == predicate[1]:
            options.append(self.scan(lambda fields: n.Table(name, fields), "t", name, arguments))
        if predicate in self.model.dynamic:
            domain = self.dynamic_domain(predicate)
            if domain is not None:
                options.append(self.scan(lambda fields: n.Rename(domain, fields), "t", name, arguments))
        if options:
            return options[0] if len(options) == 1 else n.Union(tuple(options))
        if predicate not in self.model.dynamic:
            self._missing(predicate, call.span)
        return self.scan(lambda fields: n.Table(name, fields), "t", name, arguments)

    def _arities(self) -> dict[str, int]:
        """The names of background predicates with the number of their arguments."""
        return {p[0]: p[1] for p in (*self.model.knowledge.facts, *self.model.knowledge.clauses,
                                     *self.model.dynamic)} | dict(self.model.tables)

    def defines(self, predicate: Predicate) -> bool:
        """Whether anything gives a background predicate its rows."""
        return self._arities().get(predicate[0]) == predicate[1]

    def _missing(self, predicate: Predicate, span: Span | None) -> None:
        known = self._arities()
        name, arity = predicate
        if predicate in self._reported:  # once, where it is first used
            return
        self._reported.add(predicate)
        if name not in known and name.lower() in _AGGREGATES:
            hint = f"rules do not compute {name} over many facts: {_AGGREGATES[name.lower()]}"
        elif name not in known and name in _OF_PROLOG:
            hint = f"Prolog's {name} is not part of the language: {_OF_PROLOG[name]}"
        elif name in known:
            hint = f"{name} is known with {known[name]} arguments, here it has {arity}"
        elif (meant := self._temporal(predicate)) is not None:
            hint = meant
        else:
            close = difflib.get_close_matches(name, known, 1)
            hint = (f"did you mean {close[0]}/{known[close[0]]}?" if close else
                    f"give it as facts in a background file, or as a table with --background {name}=FILE.csv")
        self.model.report("error", "missing-background", f"nothing defines the predicate {name}/{arity}", span, hint)

    def _temporal(self, predicate: Predicate) -> str | None:
        """How a fluent or an event that stands as a condition of its own, `rich(X)` or `rich(X, T)`, is asked for."""
        name, arity = predicate
        fluents = {*self.simple, *self.parts, *(each for each, kind in self.model.inputs.items() if kind != "event")}
        for count in (arity, arity - 1):
            for template in sorted({*fluents, *self.derived, *self.model.inputs}):
                if name_of(template) == name and leaf_count(template) == count:
                    what, asked = ("a fluent", f"holdsAt({template}=…, T)") if template in fluents else \
                        ("an event", f"happensAt({template}, T)")
                    return f"{template} is {what}: it is asked for with {asked}"
        return None

    def dynamic_domain(self, predicate: Predicate) -> n.Node | None:
        """The rows of a domain that the input fills: arguments of input facts whose `grounding` mentions it."""
        if predicate in self._domains:
            return self._domains[predicate]
        options: list[n.Node] = []
        for clause in self.model.of_kind("grounding", "event_grounding"):
            if clause.kind == "event_grounding" and clause.template in self.derived:
                continue
            if clause.kind == "grounding" and not self.is_input(clause.template):
                continue
            for condition in clause.body:
                if isinstance(condition, Call) and functor_of(condition.predicate) == predicate:
                    node = self._filled_by(clause, arguments_of(condition.predicate), table_name(predicate))
                    if node is not None:
                        options.append(node)
        result = None if not options else options[0] if len(options) == 1 else n.Union(tuple(options))
        self._domains[predicate] = result
        return result

    def is_input(self, template: str) -> bool:
        """Whether a fluent has no rule of its own."""
        return template not in self.simple and template not in self.parts

    def _filled_by(self, clause: Clause, arguments: Sequence[Term], name: str) -> n.Node | None:
        wanted = [a.name for a in arguments if isinstance(a, Variable)]
        if len(wanted) != len(arguments) or not set(wanted) <= set(variables_in(clause.leaves)):
            return None
        if clause.kind == "event_grounding":
            events = self.scan(lambda fields: n.Events(clause.template, fields), "e", clause.template, clause.leaves)
            node: n.Node = n.Timeless(n.Project(events, tuple(wanted)))
        elif self.model.is_point_event(clause.template):
            points = self.point_fluent(clause.template, clause.leaves)
            node = n.Timeless(n.Project(points, tuple(wanted)))
        else:
            node = n.Keys(n.Project(self.fluent(clause.template, clause.leaves), tuple(wanted)))
        fields = tuple(n.Field(f"{name}.{i}", self.model.types[("t", name, i)]) for i in range(len(wanted)))
        return n.Rename(node, fields)


