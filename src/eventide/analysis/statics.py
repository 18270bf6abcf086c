"""Statically determined fluents: interval expressions over relations whose columns are the rule's variables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from eventide.algebra import nodes as n
from eventide.algebra.expressions import Expression, Logic, columns_of
from eventide.analysis.bodies import BodyCompiler
from eventide.analysis.heads import written
from eventide.analysis.model import Clause, Model, Rejected
from eventide.analysis.patterns import pair_leaves, substitute, variables_in
from eventide.analysis.sources import Sources
from eventide.syntax.printer import term_text
from eventide.syntax.terms import Atom, Compound, ListTerm, Number, Term, Variable
from eventide.syntax.trees import (
    Allen,
    Call,
    Compare,
    Condition,
    FindAll,
    Function,
    Guard,
    Holds,
    HoldsFor,
    IntervalOperation,
    Is,
    Not,
)

_MEANT = {"+": "union_all([{}, {}], I)", "-": "relative_complement_all({}, [{}], I)", "*": "intersect_all([{}, {}], I)"}
"""What operators between lists of intervals are to be."""


class StaticCompiler(BodyCompiler):
    """Compiles one holdsFor rule. Interval variables stand for relations; the rest of the body restricts their rows."""

    def __init__(self, model: Model, sources: Sources, clause: Clause, domain: n.Node | None, *,
                 unlisted: bool = False) -> None:
        super().__init__(model, sources, clause, domain)
        self.unlisted = unlisted  # by the program's groundings: a head that is not bound is then left out
        self.lists: dict[str, n.Node] = {}
        self.guards: list[tuple[n.Node, bool]] = []
        self.leaves: list[n.Node] = []
        self.conditions: list[Condition] = []

    def relation(self) -> n.Node:
        """The plan of the rule: a relation with (at least) the variables of the head."""
        self.conditions = [c for c in self.clause.body if is_atemporal(c)]
        steps = [c for c in self.clause.body if not is_atemporal(c)]
        for condition in sorted(steps, key=lambda c: not isinstance(c, HoldsFor)):  # what the rule reads comes first
            self._step(condition)
        result = self._list(self.clause.interval, self.clause.body[-1] if self.clause.body else None)
        for guard, nonempty in self.guards:
            keys = n.Keys(guard)
            result = n.Join(result, keys) if nonempty else n.Without(result, keys)
        wanted = [v for v in dict.fromkeys(variables_in(self.clause.leaves))]
        if self.conditions or not set(wanted) <= set(n.names(result.fields)):
            rows = self.rows(self.conditions, n.Keys(result), wanted=wanted)
            missing = [v for v in wanted if v not in n.names(rows.fields)]
            if missing and self.unlisted:
                message = (f"{self.head_text(missing)} of the head is bound by nothing, and no grounding lists "
                           f"{self.clause.template}: it is left out")
                self.model.report("warning", "left-out", message, self.head_place(missing),
                                  "add a grounding declaration as the other fluents have, or remove the rule")
                raise Rejected
            if missing:
                raise self.error("unsafe-variable",
                                 f"{self.head_text(missing)} of the head is bound by nothing in the rule",
                                 self.head_place(missing), "use it in a condition, or add a grounding declaration")
            columns = tuple(dict.fromkeys([*n.names(result.fields), *wanted]))
            result = n.Join(result, n.Project(rows, columns))
        return result

    # -- lists --------------------------------------------------------------------------------------------------

    def _list(self, term: Term | None, condition: Condition | None) -> n.Node:
        span = condition.span if condition is not None else self.clause.span
        if isinstance(term, Variable) and term.name in self.lists:
            return self.lists[term.name]
        if isinstance(term, ListTerm) and not term.items:
            raise self.error("empty-list", "an empty list of intervals makes this rule empty", span,
                             "use an interval variable bound by holdsFor")
        if isinstance(term, Compound) and term.functor in _MEANT and len(term.args) == 2:
            raise self.error("unbound-interval", f"{term_text(term)} is no list of intervals",
                             term.span or span, f"write {_MEANT[term.functor].format(*map(term_text, term.args))}")
        name = term.name if isinstance(term, Variable) else str(term)
        raise self.error("unbound-interval", f"the interval variable {name} is bound by nothing before this point",
                         span, "bind it by holdsFor(F=V, I) or an interval operation")

    def _bind(self, output: Term, node: n.Node, condition: Condition) -> None:
        if not isinstance(output, Variable):
            raise self.error("interval-output", f"the result must be a variable, not {output}", condition.span,
                             "write a new variable as the last argument")
        if output.name in self.lists:
            raise self.error("interval-bound-twice", f"{output.name} is bound twice", condition.span,
                             "use a new variable for each result")
        self.lists[output.name] = node

    def _step(self, condition: Condition) -> None:
        match condition:
            case HoldsFor(pair, interval):
                self._bind(interval, self._fluent(pair_leaves(pair), condition), condition)
            case IntervalOperation():
                self._bind(condition.output, self._operation(condition), condition)
            case Allen():
                self._allen(condition)
            case Guard(interval, nonempty):
                self.guards.append((self._list(interval, condition), nonempty))
            case Not((Guard(interval, nonempty),)):
                self.guards.append((self._list(interval, condition), not nonempty))
            case FindAll(Compound(",", (Variable() as start, Variable() as end)), goals, output):
                self._bind(output, self._spans(start.name, end.name, goals, condition), condition)
            case Holds(pair, Number(time)):
                node = n.At(self._fluent(pair_leaves(pair)), int(time))
                self.guards.append((n.Always(node), True))
            case Not((Holds(pair, Number(time)),)):
                node = n.At(self._fluent(pair_leaves(pair)), int(time))
                self.guards.append((n.Always(node), False))
            case _:
                raise self.error("point-in-static",
                                 "this condition is about a time-point, but a holdsFor rule is about intervals",
                                 condition.span, "use holdsFor and interval operations, or an initiatedAt rule")

    def _fluent(self, pattern: tuple[str, tuple[Term, ...]], condition: Condition | None = None) -> n.Node:
        """The relation of a fluent; variables that nothing else reads are existential."""
        template, leaves = pattern
        if self.model.is_point_event(template):
            raise self.error("points-without-intervals", f"{template} comes as points, not as intervals",
                             condition.span if condition else self.clause.span,
                             f"declare buildFromPoints({template}=_)")
        node = self.sources.fluent(template, leaves)
        counts = variables_in((self.clause.leaves, self.clause.body))
        keep = tuple(c for c in n.names(node.fields) if counts.count(c) > variables_in(leaves).count(c))
        node = node if keep == n.names(node.fields) else n.Project(node, keep)
        node = self._restricted(node)
        self.leaves.append(node)
        return node

    def _restricted(self, node: n.Node) -> n.Node:
        """Tests of the rule's background conditions that a leaf can answer already."""
        names = set(n.names(node.fields))
        if len(names) < 2:  # cheap leaves are restricted at the end
            return node
        ready = [c for c in self.conditions
                 if isinstance(c, Call | Not | Compare) and set(variables_in(c)) <= names and variables_in(c)]
        if not ready:
            return node
        return n.Join(node, n.Project(self.rows(ready, n.Keys(node)), n.names(node.fields)))

    # -- operations ---------------------------------------------------------------------------------------------

    def _operation(self, condition: IntervalOperation) -> n.Node:
        inputs = [self._list(item, condition) for item in condition.inputs]
        base = self._list(condition.base, condition) if condition.base is not None else None
        match condition.operation:
            case "union":
                if not inputs:
                    raise self.error("empty-union", "union_all of no list", condition.span, "name at least one list")
                return self._union(inputs)
            case "intersect":
                if not inputs:
                    raise self.error("empty-intersection", "intersect_all of no list", condition.span,
                                     "name at least one list")
                return self._intersect(inputs)
            case "complement":
                return self._complement(inputs, condition)
            case "relative_complement":
                assert base is not None
                return self._minus(base, inputs)
            case "longer" | "shorter":
                assert base is not None and condition.amount is not None
                return self._lasting(base, condition)
            case _:
                assert base is not None
                return base

    def _intersect(self, inputs: Sequence[n.Node]) -> n.Node:
        # the widest first: the others are looked up at its rows
        ordered = sorted(inputs, key=lambda node: -len(node.fields))
        result = ordered[0]
        for item in ordered[1:]:
            columns = _columns([result, item])
            if len(columns) > max(len(result.fields), len(item.fields)):
                result = self._widened(result, columns)
            result = n.Join(result, item)
        return result

    def _union(self, inputs: Sequence[n.Node]) -> n.Node:
        columns = _columns(inputs)
        wide = [self._widened(node, columns) for node in inputs]
        return wide[0] if len(wide) == 1 else n.Union(tuple(wide))

    def _minus(self, base: n.Node, inputs: Sequence[n.Node]) -> n.Node:
        base = self._widened(base, _columns([base, *inputs]))
        for item in inputs:
            base = n.Without(base, item)
        return base

    def _widened(self, node: n.Node, columns: tuple[str, ...]) -> n.Node:
        missing = [c for c in columns if c not in n.names(node.fields)]
        if not missing:
            return node if n.names(node.fields) == columns else n.Project(node, columns)
        return n.Project(n.Join(node, self._candidates(columns)), columns)

    def _declared(self, columns: tuple[str, ...]) -> n.Node | None:
        """The rows of these columns that the fluent's domain and the rule's background conditions bind."""
        rows: n.Node | None = None
        if self.domain is not None and set(columns) & set(n.names(self.domain.fields)):
            rows = self.domain
        calls = [c for c in self.conditions if isinstance(c, Call) and variables_in(c)]
        reached = set(columns)
        chosen: list[Call] = []
        while more := [c for c in calls if c not in chosen and set(variables_in(c)) & reached]:
            chosen.extend(more)  # type: ignore[arg-type]
            reached |= {v for c in more for v in variables_in(c)}
        if chosen:
            rows = self.rows(chosen, rows)
        return rows

    def _candidates(self, columns: tuple[str, ...]) -> n.Node:
        """The rows over which operands with different variables are compared: what the fluent's domain and the rule's
        background conditions bind, and for the other columns what the rule's own relations have."""
        rows = self._declared(columns)
        missing = [c for c in columns if rows is None or c not in n.names(rows.fields)]
        while missing:
            found = [tuple(c for c in n.names(leaf.fields) if c in missing) for leaf in self.leaves]
            most = max(found, key=len)
            keys = tuple(dict.fromkeys(n.Project(n.Keys(leaf), most) for leaf in self.leaves
                                       if set(most) <= set(n.names(leaf.fields))))
            known = keys[0] if len(keys) == 1 else n.Union(keys)
            rows = known if rows is None else n.Join(rows, known)
            missing = [c for c in missing if c not in most]
        assert rows is not None
        return n.Project(rows, columns)

    def _complement(self, inputs: Sequence[n.Node], condition: IntervalOperation) -> n.Node:
        columns = _columns(inputs)
        rows = self._declared(columns) if columns else n.Unit()
        if rows is None or not set(columns) <= set(n.names(rows.fields)):
            raise self.error(
                "complement-without-domain", "complement_all needs to know for which entities", condition.span,
                f"add a declaration such as grounding({written(self.clause, value=True)}) :- …")
        result: n.Node = n.Always(rows if n.names(rows.fields) == columns else n.Project(rows, columns))
        for item in inputs:
            result = n.Without(result, item)
        return result

    def _lasting(self, base: n.Node, condition: IntervalOperation) -> n.Node:
        assert condition.amount is not None
        amount: Expression = self.expression(condition.amount, condition.span)
        kind = condition.operation
        assert kind == "longer" or kind == "shorter"
        wanted = [c for c in columns_of(amount) if c not in n.names(base.fields)]
        if not wanted:
            return n.Lasting(base, kind, amount)
        binding = [c for c in self.conditions if isinstance(c, Call | Is)]
        rows = self.rows(binding, n.Keys(base), wanted=wanted)
        return n.Lasting(base, kind, amount, n.Project(rows, (*n.names(base.fields), *wanted)))

    def _spans(self, start: str, end: str, goals: tuple[Condition, ...], condition: Condition) -> n.Node:
        """`findall((S,E), (member((S,E), I), tests…), J)`: the intervals of I whose ends pass the tests."""
        match goals:
            case (Call(Compound("member", (Compound(",", (Variable(a), Variable(b))), items))), *rest) if (
                    a, b) == (start, end):
                base = self._list(items, condition)
            case _:
                raise self.error("unknown-findall", "this findall does not go through a list of intervals",
                                 condition.span, "write findall((S,E), (member((S,E), I), …), J)")
        tests: list[Expression] = []
        values: dict[str, Term] = {}
        for goal in rest:
            goal = substitute(goal, values)
            if isinstance(goal, Is) and isinstance(goal.target, Variable):
                values[goal.target.name] = goal.expression
                continue
            found = self.test(_about_infinity(goal))
            if found is None:
                raise self.error("unknown-findall", "only comparisons of the two ends can be tested here",
                                 goal.span, "compare S and E with numbers")
            tests.append(found)
        return n.Spans(base, start, end, Logic("and", tuple(tests)))

    def _allen(self, condition: Allen) -> None:
        source, target = self._list(condition.source, condition), self._list(condition.target, condition)
        columns = tuple(dict.fromkeys((*n.names(source.fields), *n.names(target.fields))))
        source = self._aligned(source, target, columns)
        target = self._aligned(target, source, columns)
        self._bind(condition.output, n.Allen(condition.relation, condition.mode, source, target), condition)
        # where no pair is in the relation the rule gives nothing, whatever follows
        self.guards.append((n.Allen(condition.relation, "source", source, target), True))

    def _aligned(self, node: n.Node, other: n.Node, columns: tuple[str, ...]) -> n.Node:
        if set(n.names(node.fields)) == set(columns):
            return node if n.names(node.fields) == columns else n.Project(node, columns)
        return n.Project(n.Join(node, n.Keys(other)), columns)


def is_atemporal(condition: Condition) -> bool:
    """Whether a condition of a holdsFor rule is about arguments alone, not about intervals."""
    if isinstance(condition, Not):
        return all(map(is_atemporal, condition.goals))
    return isinstance(condition, Call | Compare | Is | Function)


def _about_infinity(goal: Condition) -> Condition:
    """`E \\= inf` and `E = inf` as comparisons of numbers."""
    if isinstance(goal, Compare) and goal.right == Atom("inf") and goal.operator in ("==", "\\=="):
        return replace(goal, operator="=:=" if goal.operator == "==" else "=\\=")
    return goal


def _columns(nodes: Sequence[n.Node]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for node in nodes for name in n.names(node.fields)))
