"""Bodies to plans: conditions are taken when their variables are bound, filters first, joins along shared variables."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass, replace

from eventide.algebra import nodes as n
from eventide.algebra.expressions import (
    ARITHMETIC,
    CONSTANTS,
    FUNCTIONS,
    Apply,
    Column,
    Comparison,
    Constant,
    Expression,
    Kind,
    Logic,
)
from eventide.analysis.clashes import is_number
from eventide.analysis.entities import references
from eventide.analysis.model import BUILT_IN_TESTS, Clause, Model, Rejected, time_number, unused
from eventide.analysis.patterns import pair_leaves, variables_in
from eventide.analysis.slips import is_slip
from eventide.analysis.sources import Sources
from eventide.syntax.diagnostics import Span
from eventide.syntax.printer import term_text
from eventide.syntax.rewriting import variables_in as written_variables
from eventide.syntax.terms import Atom, Compound, ListTerm, Number, Term, Variable, arguments_of, functor_of
from eventide.syntax.trees import (
    Body,
    Boundary,
    Call,
    Changed,
    Compare,
    Condition,
    FindAll,
    Function,
    Happens,
    Holds,
    HoldsFor,
    Is,
    Length,
    Not,
)


@dataclass(frozen=True, slots=True)
class Tally:
    """findall and length together: how many answers the goals have."""

    goals: Body
    amount: Term
    span: Span | None = None


Step = Condition | Tally


class BodyCompiler:
    """Compiles the body of one clause. `time` is the name of its time variable, if it has one."""

    def __init__(self, model: Model, sources: Sources, clause: Clause, domain: n.Node | None) -> None:
        self.model, self.sources, self.clause = model, sources, clause
        self.time = clause.time.name if isinstance(clause.time, Variable) else None
        self.domain = domain

    def error(self, code: str, message: str, span: Span | None, hint: str | None = None) -> Rejected:
        """Report an error at a place (of the clause, if the condition has none)."""
        self.model.report("error", code, message, span or self.clause.span, hint)
        return Rejected()

    def head_place(self, names: Sequence[str]) -> Span | None:
        """Where the first of some variables stands in the head."""
        places = (leaf.span for leaf in self.clause.leaves if isinstance(leaf, Variable) and leaf.name in names)
        return next((place for place in places if place is not None), self.clause.span)

    def head_text(self, names: Sequence[str]) -> str:
        """Some variables of the head as they are written there."""
        nameless = {leaf.name for leaf in self.clause.leaves if isinstance(leaf, Variable) and leaf.anonymous}
        return ", ".join(dict.fromkeys("_" if name in nameless else name for name in names))

    def near(self, names: Sequence[str]) -> str | None:
        """A variable of the conditions, not of the head, that is nearly one of some names."""
        heads = {leaf.name for leaf in self.clause.leaves if isinstance(leaf, Variable)}
        others = [v for v in dict.fromkeys(variables_in(self.clause.body)) if v.isidentifier() and v not in heads]
        return next((other for name in names for other in others if is_slip(other, name)), None)

    def type(self, variable: str) -> str:
        """The type of a variable's column."""
        return self.model.variable_types.get((self.clause.number, variable), n.NUMBER)

    # -- expressions ------------------------------------------------------------------------------------------

    def expression(self, term: Term, span: Span | None) -> Expression:
        """Arithmetic over columns."""
        match term:
            case Variable(name):
                return Column(n.TIME if name == self.time else name)
            case Number():
                return Constant(replace(term, span=None))
            case Atom(name) if name in CONSTANTS:
                return Constant(Number(CONSTANTS[name]))
            case Compound(functor, args) if (functor in ARITHMETIC and len(args) == 2) or (
                    functor in FUNCTIONS and len(args) == 1):
                return Apply(functor, tuple(self.expression(a, span) for a in args))
        place = getattr(term, "span", None) or span
        if isinstance(term, Atom):
            if is_number(term.name):
                raise self.error("not-a-number", f"'{term}' in quotes is a word, where a number is needed", place,
                                 f"write {term.name} without quotes")
            raise self.error("not-a-number", f"'{term}' is a word, where a number is needed", place,
                             "words are compared with ==, \\== or @<; variables begin with a capital letter: "
                             f"{term.name[:1].upper()}{term.name[1:]}")
        raise self.error("not-arithmetic", f"'{term_text(term)}' is not an arithmetic expression", place,
                         self._instead_of(term))

    def _instead_of(self, term: Term) -> str:
        """What may have been meant by something that cannot be computed."""
        name, known = functor_of(term)[0], (*ARITHMETIC, *FUNCTIONS)
        if name in ("length", "count", "len", "size"):
            return "count with findall(X, Goal, List), length(List, N), and compare N"
        if isinstance(term, Compound) and self.sources.defines((name, len(term.args) + 1)):
            arguments = ", ".join(map(term_text, term.args))
            return f"look it up in a condition of its own: {name}({arguments}, {unused(term)}), and write " \
                   f"{unused(term)} here"
        if name == ":":
            return "times are whole numbers of time-points; a rule knows no times of day"
        near = [each for each in known if len(each) > 2 and name.lower().startswith(each)] or \
            difflib.get_close_matches(name, known, 1)
        return f"did you mean {near[0]}?" if near else \
            f"known are {', '.join(ARITHMETIC)} and {', '.join(FUNCTIONS[2:])}"

    def side(self, term: Term) -> Expression:
        """One side of a comparison of terms."""
        if isinstance(term, Variable):
            return Column(n.TIME if term.name == self.time else term.name)
        if isinstance(term, ListTerm):
            raise self.error("list-in-comparison", f"lists such as {term} cannot be compared", term.span,
                             "compare plain values, or guard an interval variable with I \\= []")
        return Constant(term)

    def test(self, condition: Condition) -> Expression | None:
        """The condition as a test of one row, if it is one."""
        match condition:
            case Compare(operator, left, right) if operator in ("==", "\\==", "@<", "@=<", "@>", "@>="):
                return Comparison(operator, self.side(left), self.side(right))
            case Compare(operator, left, right, span):
                return Comparison(operator, self.expression(left, span), self.expression(right, span))
            case Call(predicate) if functor_of(predicate) in BUILT_IN_TESTS:
                name = functor_of(predicate)[0]
                if name in ("true", "nonvar", "ground"):
                    return Logic("and", ())
                if name in ("fail", "false"):
                    return Logic("or", ())
                assert isinstance(predicate, Compound)
                return Kind(name, self.side(predicate.args[0]))  # type: ignore[arg-type]
            case Not(goals):
                tests = [self.test(goal) for goal in goals]
                if all(t is not None for t in tests):
                    return Logic("not", (Logic("and", tuple(t for t in tests if t is not None)),))
        return None

    # -- the order of conditions ------------------------------------------------------------------------------

    def rows(self, body: Sequence[Condition], start: n.Node | None = None, *, wanted: Sequence[str] = (),
             enclosing: frozenset[str] = frozenset(), restrict: bool = False) -> n.Node:
        """The plan of a conjunction. `wanted` variables must be bound at the end; `enclosing` ones belong to the
        clause around a negation or a findall and may be tested but not bound by it alone. With `restrict`, only rows
        of the domain are kept."""
        node: n.Node = start if start is not None else n.Unit()
        pending = self._counted(body)
        used_domain = self.domain is None
        while pending:
            chosen = self._next(pending, node)
            if chosen is None:
                missing = [v for v in dict.fromkeys(variables_in(tuple(pending))) if v not in self._bound(node)]
                if not used_domain:
                    used_domain = True
                    assert self.domain is not None
                    if set(missing) & set(n.names(self.domain.fields)):
                        node = n.Join(node, self._needed_domain(node, set(missing) | set(wanted)))
                        continue
                raise self._stuck(pending, node)
            if restrict and self._in_cycle(chosen) and self._covers(node):
                restrict = False  # before what a cycle changes, so that it is computed once
                node = n.Join(node, self.domain)  # type: ignore[arg-type]
            pending.remove(chosen)
            node = self._apply(chosen, node, pending, set(wanted) | enclosing)
        unbound = [v for v in wanted if v not in self._bound(node)]
        if unbound and not used_domain and self.domain is not None and set(unbound) <= set(n.names(self.domain.fields)):
            node = n.Join(node, self._needed_domain(node, set(unbound)))
        if restrict and self._covers(node):
            node = n.Join(node, self.domain)  # type: ignore[arg-type]
        return node

    def _covers(self, node: n.Node) -> bool:
        """Whether all columns of the domain are bound."""
        return self.domain is not None and set(n.names(self.domain.fields)) <= self._bound(node)

    def _needed_domain(self, node: n.Node, missing: set[str]) -> n.Node:
        assert self.domain is not None
        bound = self._bound(node)
        columns = tuple(c for c in n.names(self.domain.fields) if c in missing or c in bound)
        return self.domain if columns == n.names(self.domain.fields) else n.Project(self.domain, columns)

    def _bound(self, node: n.Node) -> set[str]:
        names = set(n.names(node.fields))
        if node.sort == "points" and self.time is not None:
            names.add(self.time)
        return names

    def _stuck(self, pending: Sequence[Step], node: n.Node) -> Rejected:
        bound = self._bound(node)
        for each in pending:
            self._check_arithmetic(each)
        condition = pending[0]
        free = [v for v in dict.fromkeys(variables_in(condition)) if v not in bound]
        if isinstance(condition, Is) and set(variables_in(condition.expression)) - bound:
            free = [v for v in free if v in variables_in(condition.expression)]  # the other side is what it binds
        if self._refused(free):
            return Rejected()
        nameless = {v.name for v in written_variables(condition) if v.anonymous}
        names = ", ".join("_" if v in nameless else v.partition("#")[0] for v in free) or "its time"
        if node.sort != "points" and self.time is not None and self.time in free:
            return self._without_happens_at() or self.error(
                "unbound-time", f"nothing in this rule says when: the time {self.time} is not bound", condition.span,
                "add a happensAt condition; holdsAt and negations only test a time-point")
        places = [v.span for v in written_variables(condition) if v.name in free and v.span is not None]
        others = sorted(v for v in {*bound, *variables_in(self.clause.body)} - set(free) if v.isidentifier())
        near = [close for v in free for close in difflib.get_close_matches(v, others, 1, 0.75)]
        counted = [c for c in self.clause.body if isinstance(c, FindAll) and c.output.name in free]
        return self.error("unsafe-variable", f"{names} is not bound when this condition is tried",
                          places[0] if places else condition.span,
                          f"{counted[0].output} is a list: count it with length({counted[0].output}, N)" if counted else
                          f"did you mean {near[0]}?" if near else
                          "bind it by an event, a fluent or a background predicate, or add a grounding declaration")

    def _refused(self, free: Sequence[str]) -> bool:
        """Whether what should bind the variables was refused already: then they are no problem of their own."""
        wrong = {each.span for each in self.model.diagnostics if each.severity == "error"}
        return any(isinstance(each, Call) and each.span in wrong and set(free) & set(variables_in(each))
                   for each in self.clause.body)

    def _check_arithmetic(self, condition: Step) -> None:
        """Refuse what cannot be computed whatever its variables are."""
        match condition:
            case Is(target, expression, span):
                if isinstance(target, Compound) and isinstance(expression, Variable):
                    raise self.error("unsafe-variable", f"'is' computes its right side: {expression} has no value yet",
                                     span, f"write {expression} is {term_text(target)}")
                self.expression(expression, span)
            case Compare(_, left, right, span) if condition.arithmetic:
                self.expression(left, span)
                self.expression(right, span)

    def unbound_time(self) -> Rejected:
        """Nothing in the clause says when."""
        if isinstance(self.clause.time, Number):
            return self.error("unbound-time", f"rules are about every time-point, not about {self.clause.time} alone",
                              self.clause.span, "write initially(F=V) for what holds from the start")
        return self._without_happens_at() or self.error(
            "unbound-time", "nothing in this rule says when it happens", self.clause.span, "add a happensAt condition")

    def _without_happens_at(self) -> Rejected | None:
        """A goal that nothing defines and that has the time of the rule, `win(X, T)`, was meant as an event."""
        times = () if self.time is None else (Variable(self.time), Variable(time_number(self.time)))
        for condition in self.clause.body:
            arguments = arguments_of(condition.predicate) if isinstance(condition, Call) else ()
            if not isinstance(condition, Call) or not arguments or arguments[-1] not in times or \
                    self.sources.defines(functor_of(condition.predicate)):
                continue
            name, rest = functor_of(condition.predicate)[0], arguments[:-1]
            inside = rest[0] if len(rest) == 1 and isinstance(rest[0], Compound) else None  # occurs(win(X), T)
            event = inside or (Compound(name, rest) if rest else Atom(name))
            self.model.diagnostics[:] = [each for each in self.model.diagnostics if each.span != condition.span
                                         or each.code not in ("missing-background", "compound-argument")]
            return self.error("unbound-time", f"nothing in this rule says when it happens: {name} is no event here",
                              condition.span, f"write happensAt({term_text(event)}, {self.time})")
        return None

    def _next(self, pending: Sequence[Step], node: n.Node) -> Step | None:
        bound = self._bound(node)
        timed = node.sort == "points"
        for condition in pending:  # tests and computations first: they cost little and cut much
            if isinstance(condition, Function) and set(variables_in(condition.inputs)) <= bound:
                return condition
            if isinstance(condition, Compare | Is) or self._is_test(condition):
                free = [v for v in variables_in(condition) if v not in bound]
                if not free or (isinstance(condition, Is) and isinstance(condition.target, Variable)
                                and set(variables_in(condition.expression)) <= bound):
                    return condition
        for condition in pending:
            ready = isinstance(condition, Not) and self._ready(condition, pending, bound, timed)
            if ready and not self._in_cycle(condition):
                return condition
        best: tuple[int, int, int] | None = None
        found: Step | None = None
        for position, condition in enumerate(pending):
            rank = self._rank(condition, bound, timed)
            if rank is not None and timed and self._in_cycle(condition):
                rank = (rank[0] + 10, rank[1])  # what a cycle changes comes last: the rest is computed once
            if rank is not None and (best is None or (*rank, position) < best):
                best, found = (*rank, position), condition
        if found is not None:
            return found
        for condition in pending:
            if isinstance(condition, Not) and self._ready(condition, pending, bound, timed):
                return condition
        for condition in pending:
            if isinstance(condition, Tally) and self._ready(condition, pending, bound, timed):
                return condition
        return None

    def _in_cycle(self, condition: Step) -> bool:
        """Whether the condition reads something that depends on this clause's own head."""
        own = self.model.component.get(self.clause.template, 0)
        body = condition.goals if isinstance(condition, Not | Tally) else (condition,)
        return own > 0 and any(self.model.component.get(template) == own for _, template, _ in references(body))

    def _is_test(self, condition: Step) -> bool:
        return isinstance(condition, Call) and functor_of(condition.predicate) in BUILT_IN_TESTS

    def _ready(self, condition: Not | Tally, pending: Sequence[Step], bound: set[str], timed: bool) -> bool:
        """Whether all variables the condition shares with the rest of the clause are bound."""
        if self.time is not None and not timed and self.time in variables_in(condition.goals):
            return False
        others: set[str] = set()
        for other in pending:  # what a negation or a count binds inside is its own
            if other is not condition and not isinstance(other, Not):
                others |= set(variables_in(other.amount if isinstance(other, Tally) else other))
        shared = set(variables_in(condition.goals)) & (others | set(variables_in(self.clause.leaves)))
        return shared <= bound

    def _rank(self, condition: Step, bound: set[str], timed: bool) -> tuple[int, int] | None:
        """How cheap a positive condition is now: (class, unbound variables); None if it cannot be taken yet."""
        if isinstance(condition, Compare | Is | Function | Not | Tally) or self._is_test(condition):
            return None
        names = set(variables_in(condition)) - {self.time}
        free = len(names - bound)
        shares = bool(names & bound) or not names
        if isinstance(condition, Call):
            return (1 if free == 0 else 2 if shares and timed else 6, free)
        if isinstance(condition, Holds) and not self._is_point(condition):
            if not timed:
                return None
            return (2 if free == 0 else 3 if shares else 5, free)
        if isinstance(condition, HoldsFor):
            raise self.error("holdsfor-in-rule", "holdsFor cannot be a condition of this rule", condition.span,
                             "use holdsAt(F=V, T) to ask at the time-point of the rule: "
                             f"holdsAt({term_text(condition.pair)}, {self.clause.time or 'T'})")
        if not isinstance(condition, Happens | Boundary | Changed | Holds):
            raise self.error("interval-in-rule", "interval operations belong into holdsFor rules", condition.span,
                             "use holdsAt, start and end here, or write a holdsFor rule")
        return (0, 0) if not timed else (3 if free == 0 else 4, free)

    def _is_point(self, condition: Holds) -> bool:
        return self.model.is_point_event(pair_leaves(condition.pair)[0])

    # -- conditions ---------------------------------------------------------------------------------------------

    def _apply(self, condition: Step, node: n.Node, pending: Sequence[Step], wanted: set[str]) -> n.Node:
        match condition:
            case Is(target, expression, span):
                return self._compute(node, target, self.expression(expression, span))
            case Function():
                return self._function(condition, node)
            case Not():
                return self._negated(condition, node)
            case Holds(pair) if not self._is_point(condition):
                self._check_time(condition)
                relation = self.sources.fluent(*pair_leaves(pair))
                keep = self._needed(relation, node, pending, wanted)
                return n.Join(node, relation if keep == n.names(relation.fields) else n.Project(relation, keep))
            case Tally():
                return self._tally(condition, node)
            case Compare() | Call() if self.test(condition) is not None and (
                    isinstance(condition, Compare) or self._is_test(condition)):
                test = self.test(condition)
                assert test is not None
                return n.Select(node, test)
            case _:
                return self._join(node, self.positive(condition))

    def _join(self, node: n.Node, other: n.Node) -> n.Node:
        return other if isinstance(node, n.Unit) else n.Join(node, other)

    def _needed(self, relation: n.Node, node: n.Node, pending: Sequence[Step], wanted: set[str]) -> tuple[str, ...]:
        """The columns of a fluent that anything else reads; the others are existential."""
        names = set(variables_in(tuple(pending))) | self._bound(node) | wanted | set(variables_in(self.clause.leaves))
        return tuple(c for c in n.names(relation.fields) if c in names)

    def _check_time(self, condition: Happens | Boundary | Changed | Holds) -> None:
        time = condition.time
        if isinstance(time, Number) and time == self.clause.time:
            raise self.error("unbound-time", f"rules are about every time-point, not about {time} alone",
                             time.span or condition.span,
                             f"write a variable for the time, and T =:= {time} as a condition")
        if not isinstance(time, Variable) or time.name != self.time:
            about_it = any(getattr(each, "time", None) == self.clause.time for each in self.clause.body)
            raise self.error(
                "other-time", f"this condition is about the time {time}, the rule about {self.clause.time}",
                condition.span, "all conditions of a rule are about one time-point: let a fluent remember what was "
                "before; fi/3 delays effects" if about_it or _computes(self.clause.body, self.time) else
                f"write {self.clause.time} here, or {time} in the head: a rule is about one time-point")

    def positive(self, condition: Condition) -> n.Node:
        """The points or rows of a positive condition alone."""
        match condition:
            case Happens(event):
                self._check_time(condition)
                return self.sources.event(event)
            case Boundary(kind, pair):
                self._check_time(condition)
                template, leaves = pair_leaves(pair)
                if self.model.is_point_event(template):
                    raise self.error("points-without-intervals", f"{template} comes as points, not as intervals",
                                     condition.span, f"declare buildFromPoints({template}=_)")
                return n.Boundaries(self.sources.fluent(template, leaves), kind)
            case Changed(kind, pair):
                self._check_time(condition)
                return self.sources.changed(kind, *pair_leaves(pair))
            case Holds(pair):
                self._check_time(condition)
                template, leaves = pair_leaves(pair)
                if self.model.is_point_event(template):
                    return self.sources.point_fluent(template, leaves)
                return self.sources.fluent(template, leaves)
            case Call():
                return self.sources.table(condition)
        raise self.error("unexpected-condition", f"{type(condition).__name__} cannot stand here", condition.span)

    def _compute(self, node: n.Node, target: Term, expression: Expression) -> n.Node:
        if isinstance(target, Variable) and target.name == self.time:
            raise self.error("time-arithmetic", "the time of an effect cannot be computed", self.clause.span,
                             "use fi(F=V, F=W, Delay) for effects that come later")
        if isinstance(target, Variable) and target.name not in self._bound(node):
            return n.Compute(node, n.Field(target.name, self.type(target.name)), expression)
        return n.Select(node, Comparison("=:=", self.expression(target, None), expression))

    def _function(self, condition: Function, node: n.Node) -> n.Node:
        inputs = tuple(self.side(term) for term in condition.inputs)
        fields: list[n.Field] = []
        tests: list[Expression] = []
        for i, output in enumerate(condition.outputs):
            if isinstance(output, Variable) and output.name not in self._bound(node) | {f.name for f in fields}:
                fields.append(n.Field(output.name, self.type(output.name)))
                continue
            fields.append(n.Field(f"#{next(self.model.fresh)}.{i}", n.NUMBER))
            tests.append(Comparison("=:=", Column(fields[-1].name), self.expression(output, condition.span)))
        result: n.Node = n.Function(node, condition.name, inputs, tuple(fields))
        return n.Select(result, Logic("and", tuple(tests))) if tests else result

    def _negated(self, condition: Not, node: n.Node) -> n.Node:
        bound = self._bound(node)
        test = self.test(condition)
        if test is not None:
            if free := [goal for goal in condition.goals if not set(variables_in(goal)) <= bound]:
                raise self._stuck(free, node)
            return n.Select(node, test)
        if len(condition.goals) == 1 and isinstance(condition.goals[0], Happens | Boundary | Changed | Holds | Call):
            return n.Without(node, self.positive(condition.goals[0]))
        column = f"#{next(self.model.fresh)}"
        numbered = n.Number(node, column)
        inner = self.rows(condition.goals, numbered, enclosing=frozenset(bound))
        kept = n.Count(numbered, inner, column, n.Field(f"{column}n", n.NUMBER))
        few = n.Select(kept, Comparison("=:=", Column(f"{column}n"), Constant(Number(0))))
        return n.Project(few, n.names(node.fields))

    def _tally(self, tally: Tally, node: n.Node) -> n.Node:
        column = f"#{next(self.model.fresh)}"
        numbered = n.Number(node, column)
        inner = self.rows(tally.goals, numbered, enclosing=frozenset(variables_in(tally.goals)))
        amount = tally.amount
        if isinstance(amount, Variable) and amount.name not in self._bound(node):
            return n.Count(numbered, inner, column, n.Field(amount.name, self.type(amount.name)))
        counted = n.Count(numbered, inner, column, n.Field(f"{column}n", n.NUMBER))
        return n.Select(counted, Comparison("=:=", Column(f"{column}n"), self.expression(amount, tally.span)))

    def _counted(self, body: Sequence[Condition]) -> list[Step]:
        """Pairs of findall and length become counts."""
        result: list[Step] = []
        lists: set[str] = set()
        for condition in body:
            if isinstance(condition, FindAll):
                if condition.output.name in lists:
                    raise self.error("list-bound-twice", f"{condition.output} is bound by two findalls",
                                     condition.output.span or condition.span, "use another variable for each list")
                lists.add(condition.output.name)
            elif isinstance(condition, Length):
                if isinstance(condition.items, ListTerm):
                    length = Number(len(condition.items.items))
                    result.append(Is(condition.amount, length, condition.span))
                    continue
                found = next((f for f in body if isinstance(f, FindAll) and f.output == condition.items), None)
                if found is None:
                    raise self.error("length-of-what", f"nothing binds the list {condition.items}", condition.span,
                                     "put findall(X, Goal, List) before length(List, N)")
                result.append(Tally(found.goals, condition.amount, condition.span))
            else:
                result.append(condition)
        return result


def _computes(body: Body, time: str | None) -> bool:
    """Whether arithmetic of a body has the time of the clause."""
    return any(isinstance(each, Compare | Is) and time in variables_in(each) for each in body)
