"""Clauses to definitions: simple fluents, statically determined parts, derived events, sets of initiations."""

from __future__ import annotations

from typing import Literal

from eventide.algebra import nodes as n
from eventide.analysis.bodies import BodyCompiler
from eventide.analysis.entities import references
from eventide.analysis.groundings import typed, united
from eventide.analysis.heads import Heads, written
from eventide.analysis.model import Clause, Model, Rejected
from eventide.analysis.patterns import pair_leaves, variables_in
from eventide.analysis.statics import StaticCompiler
from eventide.analysis.votes import is_objection, is_weighted, voted, with_value
from eventide.syntax.terms import Number, Term, Variable, is_ground
from eventide.syntax.trees import Condition, Holds, Not

EVERY = "every "
"""Before the name of a simple fluent: the definition with all its values, where not all are shown."""


class Compiler(Heads):
    """Turns the clauses of a model into the plans of its definitions."""

    def __init__(self, model: Model) -> None:
        super().__init__(model)
        self._begun_rows: dict[str, n.Node | None] = {}
        self._points: dict[tuple[int, bool], tuple[n.Node, Term | None, bool] | None] = {}

    def points(self, clause: Clause, *, states: bool = False) -> tuple[n.Node, Term | None, bool] | None:
        """The points of a change rule: plan, fixed value or None, and whether every value is meant."""
        key = (clause.number, states)
        if key not in self._points:
            self._points[key] = self._compiled(clause, states)
        return self._points[key]

    def _compiled(self, clause: Clause, states: bool) -> tuple[n.Node, Term | None, bool] | None:
        folded = None if is_objection(clause) else self.folded(clause)
        if folded is None or (clause.kind == "terminated" and self._never_begins(clause.template)):
            return None
        fields = self.fields[clause.template]
        body = tuple(c for c in folded.body if not (states and self._state(folded, c)))
        value = folded.value
        compiler = BodyCompiler(self.model, self.sources, folded, self.domain_of_body(folded))
        arguments = list(dict.fromkeys(variables_in(folded.arguments)))
        node = self._chance(clause, compiler.rows(body, wanted=arguments, restrict=clause.kind == "initiated"))
        if node.sort != "points":
            raise compiler.unbound_time()
        bound = set(n.names(node.fields))
        unbound = [v for v in arguments if v not in bound]
        if unbound:
            once = compiler.near(unbound)
            raise compiler.error(
                "unsafe-variable", f"{compiler.head_text(unbound)} of the head is bound by no condition",
                compiler.head_place(unbound), "use it in a condition, or declare for which values it is meant: "
                f"grounding({written(clause)}=…) :- …" if once is None else
                f"did you mean {once}, as in the conditions?")
        if isinstance(value, Variable) and value.name not in bound:
            if clause.kind == "terminated":
                return self.shaped(node, folded.arguments, fields[:-1]), None, True
            raise compiler.error("unsafe-variable", f"the value {value} is bound by no condition",
                                 compiler.head_place([value.name]),
                                 f"did you mean {value.name.lower()}? constants begin with a small letter"
                                 if value.name.lower() in ("true", "false") else
                                 "use it in a condition, or write a constant")
        fixed = None if isinstance(value, Variable) else value
        if fixed is None:
            shaped = self.shaped(node, folded.leaves, fields)
        else:
            shaped = self.shaped(node, folded.arguments, fields[:-1])
        if clause.kind == "initiated":
            shaped = self.declared(self.existing(shaped, clause.template) if fixed is None else shaped, clause.template)
        return shaped, fixed, False

    def domain_of_body(self, clause: Clause) -> n.Node | None:
        """The rows that may bind what the conditions of a clause leave open."""
        if clause.kind == "event":
            return self.domain_for(clause, "e")
        # what ends nothing that began need not be listed: terminations go by the fluent's own initiations
        return self._begun(clause) if clause.kind == "terminated" else self.domain_for(clause, "f")

    def _never_begins(self, template: str) -> bool:
        """Whether the fluent has initiations, none of which can ever apply: then there is nothing to end."""
        rules = self.model.about(template, "initiated", "initial", "delay")
        return bool(rules) and all(c.kind == "initiated" and (is_objection(c) or self.folded(c) is None) for c in rules)

    def _chance(self, clause: Clause, node: n.Node) -> n.Node:
        """The rows of a rule; where the rule has a probability, each is a chance of its own."""
        return node if clause.probability is None else n.Uncertain(node, clause.probability, clause.number)

    def _begun(self, clause: Clause) -> n.Node | None:
        """The rows for which a fluent is ever initiated, with its columns named by the clause's own variables."""
        template = clause.template
        if template not in self._begun_rows:
            self._begun_rows[template] = None
            fields = self.fields[template][:-1]
            options: list[n.Node] = []
            for other in self.model.about(template, "initiated"):
                found = self._found(other)
                if found is not None:
                    options.append(n.Timeless(n.Project(found[0], n.names(fields))))
            options += [n.Project(rows, n.names(fields)) for rows in self._initial(template)[0]]
            if options:
                self._begun_rows[template] = united(options)
        rows_ = self._begun_rows[template]
        if rows_ is None:
            return self.domain_for(clause, "f")
        return self.sources.scan(lambda f: n.Rename(rows_, typed(f, rows_.fields)), "f", template, clause.arguments)

    def _found(self, clause: Clause) -> tuple[n.Node, Term | None, bool] | None:
        try:
            return self.points(clause)
        except Rejected:
            return None

    def _state(self, clause: Clause, condition: Condition) -> n.State | None:
        """The condition as a test of the fluent's own value for the same arguments, if it is one."""
        match condition:
            case Holds(pair, time) if time == clause.time:
                positive = True
            case Not((Holds(pair, time),)) if time == clause.time:
                positive = False
            case _:
                return None
        template, leaves = pair_leaves(pair)
        if template != clause.template or leaves[:-1] != clause.arguments or not is_ground(leaves[-1]):
            return None
        listed = self.listed(template)
        if listed is not None and leaves[-1] not in listed:
            return None  # it holds nowhere, whatever the state of the scan is
        return n.State(leaves[-1], positive)

    # -- definitions --------------------------------------------------------------------------------------------------

    def simple(self, template: str, *, states: bool = False) -> n.Node:
        """The definition of a simple fluent; with `states`, conditions on its own value become states."""
        fields = self.fields[template]
        weighted = is_weighted(self.model, template)
        states = states and not weighted  # votes are counted whatever the state
        changes: list[n.Change] = []
        numbers: list[int] = []
        for clause in self.model.about(template, "initiated", "terminated"):
            try:
                found = self.points(clause, states=states)
            except Rejected:
                continue
            if found is None:
                continue
            folded = self.folded(clause)
            assert folded is not None
            tests = tuple(s for c in folded.body if states and (s := self._state(folded, c)) is not None)
            kind: Literal["initiated", "terminated"] = "initiated" if clause.kind == "initiated" else "terminated"
            changes.append(n.Change(kind, *found, tests))
            numbers.append(clause.number)
        if weighted:
            changes, numbers = voted(self.model, fields[-1], changes, numbers)
        delays, delaying = self._delays(template)
        initial, beginning = self._initial(template)
        name = self.whole(template)
        self.model.origins[name] = (*numbers, *beginning, *delaying)
        listed = self.listed(template)
        reported = None if listed is None or set(listed) >= set(self.named(template)) else listed
        return n.Inertia(name, fields, tuple(changes), delays, initial, self.domain(template), reported)

    def whole(self, template: str) -> str:
        """The name of the definition that has all values of a simple fluent, also those that are not shown."""
        return EVERY + template if self.is_apart(template) else template

    def shown_of(self, template: str) -> n.Node:
        """A simple fluent whose definition has more than groundings list."""
        return self.shown(n.Fluent(self.whole(template), self.fields[template]), template)

    def _delays(self, template: str) -> tuple[tuple[n.Delay, ...], tuple[int, ...]]:
        """The delays of a fluent, and the numbers of their clauses."""
        postponed = self.model.about(template, "postponable")
        result: list[n.Delay] = []
        numbers: list[int] = []
        for original in self.model.about(template, "delay"):
            clause = self.folded(original)
            if clause is None:
                continue
            postponable = any(isinstance(p.value, Variable) or p.value == clause.value for p in postponed)
            compiler = BodyCompiler(self.model, self.sources, clause, self.domain_for(clause, "f"))
            try:
                result.append(self._delay(clause, compiler, postponable))
                numbers.append(clause.number)
            except Rejected:
                continue
        return tuple(result), tuple(numbers)

    def _delay(self, clause: Clause, compiler: BodyCompiler, postponable: bool) -> n.Delay:
        assert clause.target is not None and clause.delay is not None
        if isinstance(clause.value, Variable) or isinstance(clause.target, Variable):
            raise compiler.error("delay-without-value", "the values of fi/3 must be constants", clause.span,
                                 "write one fi fact per value")
        constant = isinstance(clause.delay, Number) and all(isinstance(a, Variable) for a in clause.arguments)
        if constant and not clause.body and len(set(clause.arguments)) == len(clause.arguments):
            assert isinstance(clause.delay, Number)
            amount = int(clause.delay.value)
            if amount <= 0 or amount != clause.delay.value:
                raise compiler.error("bad-delay", f"the delay {clause.delay} is not a positive whole number",
                                     clause.delay.span or clause.span, "delays count time units")
            return n.Delay(clause.value, clause.target, None, amount, postponable)
        fields = self.fields[clause.template][:-1]
        wanted = [*dict.fromkeys(variables_in(clause.arguments)), *variables_in(clause.delay)]
        node = compiler.rows(clause.body, wanted=wanted)
        missing = [v for v in wanted if v not in n.names(node.fields)]
        if missing:
            open_ = [v for v in missing if v in variables_in(clause.delay)]
            place = clause.delay.span if open_ else compiler.head_place(missing)
            raise compiler.error("unsafe-variable", f"{', '.join(open_ or missing)} of this delay is bound by no "
                                 "condition", place or clause.span,
                                 "bind it by a background predicate, or add a grounding declaration")
        amount_field = n.Field("$delay", n.NUMBER)
        computed = n.Compute(node, amount_field, compiler.expression(clause.delay, clause.span))
        shaped = self._shaped_with(computed, clause.arguments, fields, amount_field)
        return n.Delay(clause.value, clause.target, shaped, None, postponable)

    def _shaped_with(self, node: n.Node, leaves: tuple[Term, ...], fields: n.Fields, extra: n.Field) -> n.Node:
        return self.shaped(node, (*leaves, Variable(extra.name)), (*fields, extra))

    def _initial(self, template: str) -> tuple[tuple[n.Node, ...], tuple[int, ...]]:
        """The rows of initial values, and the numbers of their clauses."""
        result: list[n.Node] = []
        numbers: list[int] = []
        for original in self.model.about(template, "initial"):
            clause = self.folded(original)
            if clause is None:
                continue
            domain = self.domain_for(clause, "f")
            compiler = BodyCompiler(self.model, self.sources, clause, domain)
            wanted = list(dict.fromkeys(variables_in(clause.leaves)))
            try:
                node = self._chance(clause, compiler.rows(clause.body, domain, wanted=wanted))
                missing = [v for v in wanted if v not in n.names(node.fields)]
                if missing:
                    raise compiler.error(
                        "initially-without-domain", f"initially({template}) needs to know for which entities",
                        clause.span, f"add grounding({written(clause, value=True)}) :- …")
            except Rejected:
                continue
            rows = self.shaped(node, clause.leaves, self.fields[template])
            if isinstance(clause.value, Variable):
                rows = self.existing(rows, template)
            result.append(self.declared(rows, template))
            numbers.append(clause.number)
        return tuple(result), tuple(numbers)

    def part(self, name: str, clauses: list[Clause]) -> n.Node | None:
        """A statically determined part of a fluent: its rules united, restricted to what is declared."""
        options: list[n.Node] = []
        numbers: list[int] = []
        template = clauses[0].template
        fields = self.fields[template]
        fixed = not isinstance(clauses[0].value, Variable)
        unlisted = self._unlisted(template)
        for original in clauses:
            clause = self.folded(original)
            if clause is None:
                continue
            try:
                node = self._runs(clause) if clause.kind == "runs" else StaticCompiler(
                    self.model, self.sources, clause, self.domain_for(clause, "f"), unlisted=unlisted).relation()
                leaves = clause.arguments if fixed else clause.leaves
                options.append(self.shaped(node, leaves, fields[:-1] if fixed else fields))
                numbers.append(clause.number)
            except Rejected:
                if unlisted:
                    return None
        if not options:
            return None
        self.model.origins[name] = tuple(numbers)
        value = clauses[0].value
        return self.shown(united(options), template) if isinstance(value, Variable) else \
            self.shown_with(united(options), template, value)

    def _unlisted(self, template: str) -> bool:
        """Whether groundings list other derived fluents but not this one, which nothing reads: RTEC leaves it out."""
        listed = {clause.template for clause in self.model.of_kind("grounding")}
        derived = {clause.template for clause in self.model.of_kind("initiated", "static")}
        return template not in listed and not listed.isdisjoint(derived) and all(
            read != template for clause in self.model.clauses for _, read, _ in references(clause.body))

    def _runs(self, clause: Clause) -> n.Node:
        node = BodyCompiler(self.model, self.sources, clause, None).rows(clause.body)
        columns = tuple(dict.fromkeys(variables_in(clause.leaves)))
        if not set(columns) <= set(n.names(node.fields)):
            raise BodyCompiler(self.model, self.sources, clause, None).error(
                "unsafe-variable", "the event of buildFromPoints does not bind all arguments of the fluent",
                clause.span, "use the same variables on both sides")
        return n.Runs(n.Project(node, columns))

    def event(self, template: str, clauses: list[Clause]) -> n.Node | None:
        """A derived event: the points of its rules."""
        fields = self.fields[f"event {template}"]
        options: list[n.Node] = []
        numbers: list[int] = []
        for original in clauses:
            clause = self.folded(original)
            if clause is None:
                continue
            compiler = BodyCompiler(self.model, self.sources, clause, self.domain_of_body(clause))
            wanted = list(dict.fromkeys(variables_in(clause.leaves)))
            try:
                node = self._chance(clause, compiler.rows(clause.body, wanted=wanted, restrict=True))
                missing = [v for v in wanted if v not in n.names(node.fields)]
                if node.sort != "points":
                    raise compiler.unbound_time()
                if missing:
                    raise compiler.error("unsafe-variable", f"{compiler.head_text(missing)} of the head is bound by no "
                                         "condition", compiler.head_place(missing), "use it in a condition")
            except Rejected:
                continue
            options.append(self.declared(self.shaped(node, clause.leaves, fields), template, "e"))
            numbers.append(clause.number)
        if not options:
            return None
        self.model.origins[template] = tuple(numbers)
        return united(options)

    def relation(self, template: str, clauses: list[Clause]) -> n.Node | None:
        """A relation of background knowledge: the rows of its clauses."""
        options: list[n.Node] = []
        for clause in clauses:
            compiler = BodyCompiler(self.model, self.sources, clause, None)
            wanted = list(dict.fromkeys(variables_in(clause.leaves)))
            try:
                node = compiler.rows(clause.body, wanted=wanted)
                if missing := [v for v in wanted if v not in n.names(node.fields)]:
                    raise compiler.error("unsafe-variable", f"{compiler.head_text(missing)} of the head is bound by no "
                                         "condition", compiler.head_place(missing), "use it in a condition")
            except Rejected:
                continue
            options.append(self.shaped(node, clause.leaves, self.fields[template]))
        return united(options) if options else None

    def initiations(self, kind: str, template: str) -> n.Node | None:
        """The points at which a fluent's values are initiated (deadlines included) or terminated, value last."""
        fields = self.fields[template]
        options: list[n.Node] = []
        weighted = is_weighted(self.model, template)
        if weighted:
            fluent = self.simple(template)
            assert isinstance(fluent, n.Inertia)
            options += [with_value(change, fields[-1]).points for change in fluent.changes if change.kind == kind]
        for clause in self.model.about(template, "initiated" if kind == "initiated" else "terminated"):
            if weighted:
                continue
            try:
                found = self.points(clause)
            except Rejected:
                continue
            if found is None:
                continue
            node, value, every = found
            if value is not None:
                node = n.Attach(node, fields[-1], value)
            if not every:
                options.append(node)
        if kind == "initiated" and self.model.about(template, "delay"):
            options.append(n.Fired(self.whole(template), fields))
        return united(options) if options else None
