"""Pass: clauses to a plan, one definition per fluent, part of a fluent, derived event and set of initiations."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from eventide.algebra import nodes as n
from eventide.algebra.expressions import Column, Comparison, Constant, Logic
from eventide.algebra.sharing import Sharing
from eventide.analysis.bodies import BodyCompiler, Rejected
from eventide.analysis.entities import references
from eventide.analysis.graphs import components, is_cycle
from eventide.analysis.model import Clause, Model, part_name
from eventide.analysis.patterns import fill, name_of, pair_leaves, substitute, variables_in
from eventide.analysis.sources import Sources, initiations_name
from eventide.analysis.statics import StaticCompiler
from eventide.syntax.terms import Number, Term, Variable, arguments_of, functor_of, is_ground
from eventide.syntax.trees import Call, Condition, Holds, Not

VALUE = "value"


class Compiler:
    """Turns the clauses of a model into definitions; `background values that are constants are put in."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.sources = Sources(model)
        self.fields: dict[str, n.Fields] = {}
        self._domains: dict[str, n.Node | None] = {}
        self._begun_rows: dict[str, n.Node | None] = {}
        self._points: dict[tuple[int, bool], tuple[n.Node, Term | None, bool] | None] = {}

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
            wanted = "grounding" if kind == "f" else "event_grounding"
            options: list[n.Node] = []
            for clause in self.model.of_kind(wanted):  # type: ignore[arg-type]
                if clause.template == template:
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
            return self._shaped(node, arguments, self.fields[clause.template][:len(arguments)])
        except Rejected:
            return None

    def _values(self, template: str) -> tuple[tuple[Term, ...] | None, n.Node | None]:
        """The values a fluent may take, as declared: constants, and rows where a grounding binds the value."""
        constants: list[Term] = []
        rows: list[n.Node] = []
        found = False
        for clause in self.model.of_kind("grounding"):
            if clause.template != template:
                continue
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
        heads = [c.value for c in self.model.of_kind("initiated", "initial") if c.template == template]
        allowed = tuple(dict.fromkeys([*constants, *(h for h in heads if not isinstance(h, Variable))]))
        return allowed, None if not rows else rows[0] if len(rows) == 1 else n.Union(tuple(rows))

    def _domain_for(self, clause: Clause, kind: str) -> n.Node | None:
        """The domain with its columns named after the clause's own variables, as far as they are variables."""
        domain = self.domain(clause.template, kind)
        if domain is None:
            return None
        leaves = clause.arguments if kind == "f" else clause.leaves
        return self.sources.scan(lambda fields: n.Rename(domain, _typed(fields, domain.fields)), kind, clause.template,
                                 leaves)

    def _shaped(self, node: n.Node, leaves: tuple[Term, ...], fields: n.Fields) -> n.Node:
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
        changed = True
        while changed:
            changed = False
            for condition in clause.body:
                if not isinstance(condition, Call):
                    continue
                arguments = arguments_of(condition.predicate)
                if not arguments or not any(is_ground(a) for a in arguments):
                    continue
                found = self._matching(functor_of(condition.predicate), arguments)
                if found is None or len(found) > 1:
                    continue
                if not found:
                    self.model.report("warning", "never-applies", f"no fact matches {condition.predicate}, "
                                      "so this rule never applies", condition.span,
                                      "check the spelling of its arguments")
                    return None
                bindings = {a.name: v for a, v in zip(arguments, found[0], strict=True) if isinstance(a, Variable)}
                body = tuple(c for c in clause.body if c is not condition)
                clause = replace(clause, body=substitute(body, bindings), leaves=substitute(clause.leaves, bindings),
                                 delay=substitute(clause.delay, bindings), target=substitute(clause.target, bindings))
                changed = True
                break
        return clause

    def _matching(self, predicate: tuple[str, int], pattern: tuple[Term, ...]) -> list[tuple[Term, ...]] | None:
        """The facts that match a pattern with constants, or None where that is not known now."""
        if predicate in self.model.dynamic or predicate in self.model.knowledge.clauses:
            return None
        facts = self.model.knowledge.facts.get(predicate)
        if facts is None:
            return self.model.lookup(predicate, pattern)
        wanted = [(i, p) for i, p in enumerate(pattern) if not isinstance(p, Variable)]
        return [fact for fact in facts if all(fact[i] == p for i, p in wanted)]

    def points(self, clause: Clause, *, states: bool = False) -> tuple[n.Node, Term | None, bool] | None:
        """The points of a change rule: plan, fixed value or None, and whether every value is meant."""
        key = (clause.number, states)
        if key not in self._points:
            self._points[key] = self._compiled(clause, states)
        return self._points[key]

    def _compiled(self, clause: Clause, states: bool) -> tuple[n.Node, Term | None, bool] | None:
        folded = self.folded(clause)
        if folded is None:
            return None
        fields = self.fields[clause.template]
        body = tuple(c for c in folded.body if not (states and self._state(folded, c)))
        value = folded.value
        # what ends nothing that began need not be listed: terminations go by the fluent's own initiations
        domain = self._domain_for(folded, "f") if clause.kind == "initiated" else self._begun(folded)
        compiler = BodyCompiler(self.model, self.sources, folded, domain)
        arguments = list(dict.fromkeys(variables_in(folded.arguments)))
        node = compiler.rows(body, wanted=arguments, restrict=clause.kind == "initiated")
        if node.sort != "points":
            raise compiler.error("unbound-time", "nothing in this rule says when it happens", clause.span,
                                 "add a happensAt condition")
        bound = set(n.names(node.fields))
        unbound = [v for v in arguments if v not in bound]
        if unbound:
            raise compiler.error(
                "unsafe-variable", f"{', '.join(unbound)} of the head is bound by no condition",
                compiler.head_place(unbound), "use it in a condition, or declare for which values it is meant: "
                f"grounding({written(clause)}=…) :- …")
        if isinstance(value, Variable) and value.name not in bound:
            if clause.kind == "terminated":
                return self._shaped(node, folded.arguments, fields[:-1]), None, True
            raise compiler.error("unsafe-variable", f"the value {value} is bound by no condition",
                                 compiler.head_place([value.name]),
                                 "use it in a condition, or write a constant")
        if isinstance(value, Variable):
            shaped = self._shaped(node, folded.leaves, fields)
            return (self._existing(shaped, folded.template) if clause.kind == "initiated" else shaped), None, False
        return self._shaped(node, folded.arguments, fields[:-1]), value, False

    def _existing(self, node: n.Node, template: str) -> n.Node:
        """The points whose value exists: where `grounding` lists values, only these do."""
        allowed, rows = self._values(template)
        if allowed is None:
            return node
        value = n.names(node.fields)[-1]
        tests = tuple(Comparison("==", Column(value), Constant(v)) for v in allowed)
        options: list[n.Node] = [n.Select(node, Logic("or", tests))] if tests else []
        if rows is not None:
            options.append(n.Join(node, rows))
        return options[0] if len(options) == 1 else n.Union(tuple(options))

    def _begun(self, clause: Clause) -> n.Node | None:
        """The rows for which a fluent is ever initiated, with its columns named by the clause's own variables."""
        template = clause.template
        if template not in self._begun_rows:
            self._begun_rows[template] = None
            fields = self.fields[template][:-1]
            options: list[n.Node] = []
            for other in self.model.of_kind("initiated"):
                found = self._found(other) if other.template == template else None
                if found is not None:
                    options.append(n.Timeless(n.Project(found[0], n.names(fields))))
            options += [n.Project(rows, n.names(fields)) for rows in self._initial(template)]
            if options:
                self._begun_rows[template] = options[0] if len(options) == 1 else n.Union(tuple(options))
        rows_ = self._begun_rows[template]
        if rows_ is None:
            return self._domain_for(clause, "f")
        return self.sources.scan(lambda f: n.Rename(rows_, _typed(f, rows_.fields)), "f", template, clause.arguments)

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
        return n.State(leaves[-1], positive)

    # -- definitions --------------------------------------------------------------------------------------------------

    def simple(self, template: str, *, states: bool = False) -> n.Node:
        """The definition of a simple fluent; with `states`, conditions on its own value become states."""
        fields = self.fields[template]
        changes: list[n.Change] = []
        for clause in self.model.of_kind("initiated", "terminated"):
            if clause.template != template:
                continue
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
        reported = self._listed(template)
        own = None if reported is None or set(reported) >= set(self._values(template)[0] or ()) else reported
        return n.Inertia(template, fields, tuple(changes), self._delays(template), self._initial(template),
                         self.domain(template), own)

    def _listed(self, template: str) -> tuple[Term, ...] | None:
        return _grounded(self.model, template, self._values(template)[0])

    def _delays(self, template: str) -> tuple[n.Delay, ...]:
        postponed = [c for c in self.model.of_kind("postponable") if c.template == template]
        result: list[n.Delay] = []
        for original in self.model.of_kind("delay"):
            if original.template != template:
                continue
            clause = self.folded(original)
            if clause is None:
                continue
            listed = self._listed(template)
            if listed is not None and clause.target not in listed:
                self.model.report("warning", "delay-to-unlisted",
                                  f"grounding does not list {template}={clause.target}, so this delay does nothing",
                                  clause.span,
                                  f"add grounding({template.replace('_', 'X')}={clause.target}) :- …")
                continue
            postponable = any(isinstance(p.value, Variable) or p.value == clause.value for p in postponed)
            compiler = BodyCompiler(self.model, self.sources, clause, self._domain_for(clause, "f"))
            try:
                result.append(self._delay(clause, compiler, postponable))
            except Rejected:
                continue
        return tuple(result)

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
        return self._shaped(node, (*leaves, Variable(extra.name)), (*fields, extra))

    def _initial(self, template: str) -> tuple[n.Node, ...]:
        result: list[n.Node] = []
        for original in self.model.of_kind("initial"):
            clause = self.folded(original) if original.template == template else None
            listed = self._listed(template)
            if clause is None or (listed is not None and not isinstance(clause.value, Variable)
                                  and clause.value not in listed):
                continue
            domain = self._domain_for(clause, "f")
            compiler = BodyCompiler(self.model, self.sources, clause, domain)
            wanted = list(dict.fromkeys(variables_in(clause.leaves)))
            try:
                node = compiler.rows(clause.body, domain, wanted=wanted)
                missing = [v for v in wanted if v not in n.names(node.fields)]
                if missing:
                    raise compiler.error(
                        "initially-without-domain", f"initially({template}) needs to know for which entities",
                        clause.span, f"add grounding({written(clause)}={clause.value}) :- …")
            except Rejected:
                continue
            result.append(self._shaped(node, clause.leaves, self.fields[template]))
        return tuple(result)

    def part(self, name: str, clauses: list[Clause]) -> n.Node | None:
        """A statically determined part of a fluent: its rules united, restricted to the declared domain."""
        options: list[n.Node] = []
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
                    self.model, self.sources, clause, self._domain_for(clause, "f"), unlisted=unlisted).relation()
                leaves = clause.arguments if fixed else clause.leaves
                options.append(self._shaped(node, leaves, fields[:-1] if fixed else fields))
            except Rejected:
                if unlisted:
                    return None
        if not options:
            return None
        node = options[0] if len(options) == 1 else n.Union(tuple(options))
        domain = self.domain(template)
        return n.Join(node, domain) if domain is not None and domain.fields else node

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
        for original in clauses:
            clause = self.folded(original)
            if clause is None:
                continue
            compiler = BodyCompiler(self.model, self.sources, clause, self._event_domain(clause))
            wanted = list(dict.fromkeys(variables_in(clause.leaves)))
            try:
                node = compiler.rows(clause.body, wanted=wanted, restrict=True)
                missing = [v for v in wanted if v not in n.names(node.fields)]
                if node.sort != "points":
                    raise compiler.error("unbound-time", "nothing in this rule says when it happens", clause.span,
                                         "add a happensAt condition")
                if missing:
                    raise compiler.error("unsafe-variable", f"{', '.join(missing)} of the head is bound by no "
                                         "condition", compiler.head_place(missing), "use it in a condition")
            except Rejected:
                continue
            options.append(self._shaped(node, clause.leaves, fields))
        if not options:
            return None
        return options[0] if len(options) == 1 else n.Union(tuple(options))

    def _event_domain(self, clause: Clause) -> n.Node | None:
        """The rows for which a derived event is declared, over the arguments that its groundings bind."""
        template = clause.template
        fields = self.fields[f"event {template}"]
        options: dict[tuple[int, ...], list[n.Node]] = {}
        for grounding in self.model.of_kind("event_grounding"):
            if grounding.template != template:
                continue
            bound = variables_in(grounding.body)
            places = tuple(i for i, leaf in enumerate(grounding.leaves)
                           if not isinstance(leaf, Variable) or leaf.name in bound)
            try:
                node = BodyCompiler(self.model, self.sources, grounding, None).rows(grounding.body)
            except Rejected:
                continue
            leaves = tuple(grounding.leaves[i] for i in places)
            options.setdefault(places, []).append(self._shaped(node, leaves, tuple(fields[i] for i in places)))
        if len(options) != 1 or not next(iter(options)):
            return None
        (places, nodes), = options.items()
        rows = nodes[0] if len(nodes) == 1 else n.Union(tuple(nodes))
        pattern = [clause.leaves[i] for i in places]
        return self.sources.scan(lambda found: n.Rename(rows, _typed(found, rows.fields)), "e", template, pattern)

    def initiations(self, kind: str, template: str) -> n.Node | None:
        """The points at which a fluent's values are initiated (deadlines included) or terminated, value last."""
        fields = self.fields[template]
        options: list[n.Node] = []
        for clause in self.model.of_kind("initiated" if kind == "initiated" else "terminated"):
            if clause.template != template:
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
        if kind == "initiated" and any(c.template == template for c in self.model.of_kind("delay")):
            options.append(n.Fired(template, fields))
        if not options:
            return None
        return options[0] if len(options) == 1 else n.Union(tuple(options))


def written(clause: Clause) -> str:
    """The fluent of a clause as a rule would write it: its own variables, others for what is no variable."""
    names = [str(leaf) if isinstance(leaf, Variable) and not leaf.anonymous and "#" not in leaf.name else f"X{i}"
             for i, leaf in enumerate(clause.arguments, 1)]
    arguments = fill(clause.template, names)
    return f"{name_of(clause.template)}({', '.join(arguments)})" if arguments else clause.template


def _typed(wanted: n.Fields, known: n.Fields) -> n.Fields:
    return tuple(n.Field(w.name, k.type) for w, k in zip(wanted, known, strict=True))


def compile_plan(model: Model) -> None:
    """Fill `plan`, `outputs`, `levels` and `cycles`."""
    compiler = Compiler(model)
    definitions: dict[str, n.Node] = {}
    fluents: dict[str, list[Clause]] = {}
    for clause in model.of_kind("initiated", "terminated", "initial", "delay", "static", "runs", "postponable",
                                "grounding"):
        fluents.setdefault(clause.template, []).append(clause)
    for template, clauses in fluents.items():
        compiler.fields_of(template, "f", clauses)
    events: dict[str, list[Clause]] = {}
    for clause in model.of_kind("event"):
        events.setdefault(clause.template, []).append(clause)
    for template, clauses in events.items():
        saved = compiler.fields.pop(template, None)
        compiler.fields[f"event {template}"] = compiler.fields_of(template, "e", clauses)
        del compiler.fields[template]
        if saved is not None:
            compiler.fields[template] = saved
    for template in fluents:
        if template in compiler.sources.simple:
            definitions[template] = compiler.simple(template)
            allowed = compiler._values(template)[0]
            model.outputs.append(n.Output(template, template, "fluent", None, _grounded(model, template, allowed)))
        for name, leaves in compiler.sources.parts.get(template, {}).items():
            rules = [c for c in model.of_kind("static", "runs")
                     if c.template == template and part_name(template, c.leaves) == name]
            node = compiler.part(name, rules)
            if node is not None:
                definitions[name] = node
                value = None if isinstance(leaves[-1], Variable) else leaves[-1]
                model.outputs.append(n.Output(name, template, "fluent", value))
    for template, clauses in events.items():
        node = compiler.event(template, clauses)
        if node is not None:
            definitions[template] = node
            model.outputs.append(n.Output(template, template, "event"))
    _add_initiations(compiler, definitions)
    if all(d.severity != "error" or d.code == "missing-background" for d in model.diagnostics):
        _stratify(model, compiler, definitions)  # without its background a program cannot run, but can be looked at


def _grounded(model: Model, template: str, allowed: tuple[Term, ...] | None) -> tuple[Term, ...] | None:
    """The values of a fluent that are reported: those that `grounding` lists, or all."""
    if allowed is None:
        return None
    listed = [c.value for c in model.of_kind("grounding") if c.template == template]
    return None if any(isinstance(v, Variable) for v in listed) else tuple(dict.fromkeys(listed))


def _add_initiations(compiler: Compiler, definitions: dict[str, n.Node]) -> None:
    done: set[tuple[str, str]] = set()
    while todo := compiler.sources.needs_points - done:
        for kind, template in sorted(todo):
            done.add((kind, template))
            if template in compiler.fields:
                node = compiler.initiations(kind, template)
                if node is not None:
                    definitions[initiations_name(template, kind)] = node


def _stratify(model: Model, compiler: Compiler, definitions: dict[str, n.Node]) -> None:
    reads = {name: set(n.references_of(node)) & definitions.keys() for name, node in definitions.items()}
    for name in [m[0] for m in components(reads) if len(m) == 1]:
        if name in reads[name] and name in compiler.sources.simple:
            automaton = compiler.simple(name, states=True)
            if name not in set(n.references_of(automaton)):
                definitions[name] = automaton
                reads[name].discard(name)
                model.cycles.append((name,))
    strata: list[n.Stratum] = []
    for members in components(reads):
        below = [model.levels[read] for member in members for read in reads[member] if read not in members]
        level = 1 + max(below, default=0)
        model.levels.update(dict.fromkeys(members, level))
        cyclic = is_cycle(members, reads)
        if cyclic:
            _check_cycle(model, compiler, set(members))
            model.cycles.append(tuple(sorted(members)))
        ordered = [name for name in definitions if name in members]
        strata.append(n.Stratum(level, tuple(n.Definition(m, definitions[m]) for m in ordered), cyclic))
    model.plan = Sharing().plan(n.Plan(tuple(sorted(strata, key=lambda s: s.level))))


def _check_cycle(model: Model, compiler: Compiler, members: set[str]) -> None:
    statics = {name for parts in compiler.sources.parts.values() for name in parts} & members
    for name in sorted(statics):
        clause = next(c for c in model.of_kind("static", "runs") if part_name(c.template, c.leaves) == name)
        model.report("error", "cycle-through-static",
                     f"{name} is statically determined and depends on itself through {', '.join(sorted(members))}",
                     clause.span, "only simple fluents (initiatedAt, terminatedAt) may be part of a cycle")
