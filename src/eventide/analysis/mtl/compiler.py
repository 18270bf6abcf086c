"""A checked DatalogMTL program to a plan of the algebra, over cells of dense time (`kernels.dense`).

The facts of every predicate are intervals. `<>-` and a head's `[]+` dilate, `[]-` erodes, conjunctions intersect, `not`
takes away, several rules of a predicate are united with the facts given about it; predicates that depend on each other
are one cyclic stratum. All variables of a rule mean one thing in all of its operators: `[]-[0,4] P(X,Y)` asks for one Y
at all those times, so columns are dropped above the outermost operator only.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from eventide.algebra import nodes as n
from eventide.algebra.expressions import Apply, Column, Comparison, Constant, Expression
from eventide.algebra.sharing import Sharing
from eventide.analysis.mtl.model import MtlModel, given
from eventide.analysis.mtl.safety import bound_in, target_of
from eventide.analysis.patterns import leaf_count, substitute
from eventide.syntax.mtl_trees import Compare, Condition, Formula, Holds, Metric, Not, Range, Rule, Since, predicates_in
from eventide.syntax.terms import Compound, Term, Variable, variables_of

_OF_TERMS = {"=": "==", "!=": "\\=="}
_OF_NUMBERS = {"=": "=:=", "!=": "=\\=", "<": "<", "<=": "=<", ">": ">", ">=": ">="}


def compile_plan(model: MtlModel, denominator: int) -> n.Plan:
    """The plan of a program without errors, on the grid 1/`denominator`."""
    strata = []
    for members in model.components:
        definitions = tuple(n.Definition(template, _definition(model, template, denominator, frozenset(members)))
                            for template in members)
        cyclic = any(member in model.reads[other] for member in members for other in members)
        strata.append(n.Stratum(model.levels[members[0]], definitions, cyclic))
    return Sharing().plan(n.Plan(tuple(sorted(strata, key=lambda stratum: stratum.level))))


def _definition(model: MtlModel, template: str, denominator: int, members: frozenset[str]) -> n.Node:
    parts: list[n.Node] = [n.Fluent(given(template), fields_of(model, template), valued=False)]
    parts += [_RuleCompiler(model, number, denominator, members).rule() for number in model.defined[template]]
    return n.Union(tuple(parts))


def fields_of(model: MtlModel, template: str) -> n.Fields:
    """The columns of a predicate: `1`, `2`, …"""
    return tuple(n.Field(str(place + 1), model.types[template, place]) for place in range(leaf_count(template)))


def compile_body(model: MtlModel, number: int, denominator: int, body: Sequence[Condition],
                 bound: Mapping[str, Term]) -> n.Node:
    """Where some conditions of a rule hold together, with values for some of its variables: all others are columns."""
    positive = {name for c in body if not isinstance(c, Not | Compare) for name in bound_in(c)}
    known = {name: term for name, term in bound.items() if name in positive}
    rule = replace(model.rules[number], body=substitute(tuple(body), known))
    node = _RuleCompiler(model, number, denominator, frozenset(), rule).body()
    for name, term in bound.items():
        if name in n.names(node.fields):  # what is computed is compared when it is known, as the same term
            node = n.Equal(node, name, _bare(term))
    return node


def compile_formula(model: MtlModel, number: int, denominator: int, formula: Formula) -> n.Node:
    """Where a formula of a rule holds."""
    return _RuleCompiler(model, number, denominator, frozenset()).formula(formula)


class _RuleCompiler:
    """Compiles one rule; its variables become columns. `members` are the predicates of the head's cycle.

    Of an `other` rule in its place, which is it with values for variables, all variables are kept.
    """

    def __init__(self, model: MtlModel, number: int, denominator: int, members: frozenset[str],
                 other: Rule | None = None) -> None:
        self.model, self.number, self.members = model, number, members
        self.source: Rule = other or model.rules[number]
        self._keeps_all = other is not None
        self._cells = 2 * denominator

    def rule(self) -> n.Node:
        """The intervals of the head that the rule gives."""
        node = self._head(self.body())
        for operator in reversed(self.source.operators):
            node = self._shifted("dilate", operator.range, node)
        return node

    def _field(self, name: str) -> n.Field:
        return n.Field(name, self.model.variable_types[self.number, name])

    # -- the head ---------------------------------------------------------------------------------------------

    def _head(self, node: n.Node) -> n.Node:
        wanted = fields_of(self.model, self.source.head.template)
        columns: list[str] = []
        for field, argument in zip(wanted, self.source.head.arguments, strict=True):
            if not isinstance(argument, Variable):
                columns.append(f"${field.name}")
                node = n.Attach(node, n.Field(columns[-1], field.type), _bare(argument))
            elif argument.name in columns:
                columns.append(f"${field.name}")
                node = n.Copy(node, n.Field(columns[-1], field.type), argument.name)
            else:
                columns.append(argument.name)
        return n.Rename(_kept(node, columns), wanted)

    # -- the body ---------------------------------------------------------------------------------------------

    def body(self) -> n.Node:
        """The conditions, each as soon as its variables are known; those of the head's own cycle late."""
        rest = list(self.source.body)
        positive = [c for c in rest if not isinstance(c, Not | Compare)]
        todo: list[Condition] = [c for c in rest if isinstance(c, Not | Compare)]
        node: n.Node | None = None
        if not positive:
            node = self._tested(n.Always(n.Unit()), todo)
        while positive:
            known = set() if node is None else set(n.names(node.fields))
            following = min(positive, key=lambda c: self._rank(c, known))
            positive.remove(following)
            found = self._narrowed(self.formula(following), following)
            node = self._tested(found if node is None else n.Join(node, found), todo)
        assert node is not None and not todo, f"unsafe conditions in {self.source}"
        return node

    def _rank(self, formula: Formula, known: set[str]) -> tuple[bool, bool]:
        """What to join first: what shares a variable, of these what the cycle of the head does not change."""
        shares = any(v.name in known for p in predicates_in(formula) for a in p.arguments for v in variables_of(a))
        return bool(known) and not shares, any(p.template in self.members for p in predicates_in(formula))

    def _narrowed(self, node: n.Node, formula: Formula) -> n.Node:
        """A condition without the columns that nothing else asks for."""
        if self._keeps_all:
            return node
        others = [c for c in self.source.body if c is not formula]
        asked = {v.name for argument in self.source.head.arguments for v in variables_of(argument)}
        for other in others:
            asked.update(_names(other))
        return _kept(node, [name for name in n.names(node.fields) if name in asked])

    def _tested(self, node: n.Node, todo: list[Condition]) -> n.Node:
        """The node with every comparison and negation whose variables are known; these leave `todo`."""
        while True:
            known = set(n.names(node.fields))
            ready = next((c for c in todo if self._is_ready(c, known)), None)
            if ready is None:
                return node
            todo.remove(ready)
            node = self._test(node, ready, known)

    def _is_ready(self, condition: Condition, known: set[str]) -> bool:
        if isinstance(condition, Compare):
            return target_of(condition, known) is not None or known.issuperset(_names(condition))
        assert isinstance(condition, Not)
        anonymous = {v.name for p in predicates_in(condition.formula) for v in p.arguments
                     if isinstance(v, Variable) and v.anonymous}
        return known.issuperset(set(_names(condition)) - anonymous)

    def _test(self, node: n.Node, condition: Condition, known: set[str]) -> n.Node:
        if isinstance(condition, Not):
            return n.Without(node, self.formula(condition.formula))
        assert isinstance(condition, Compare)
        left, right = condition.left, condition.right
        target = target_of(condition, known)
        if target is not None:
            return n.Compute(node, self._field(target.name), _expression(right if left is target else left))
        if condition.operator in _OF_TERMS and not isinstance(left, Compound) and not isinstance(right, Compound):
            return n.Select(node, Comparison(_OF_TERMS[condition.operator], _side(left), _side(right)))
        return n.Select(node, Comparison(_OF_NUMBERS[condition.operator], _expression(left), _expression(right)))

    # -- formulas ---------------------------------------------------------------------------------------------

    def formula(self, formula: Formula) -> n.Node:
        """Where a formula holds: its columns are its variables."""
        match formula:
            case Holds():
                return self._predicate(formula)
            case Metric(operator, span, child):
                # exactly c ago is both sometime and always; dilation can follow changes more cheaply
                kind = "dilate" if operator == "<>-" or span.is_punctual else "erode"
                return self._shifted(kind, span, self.formula(child))
            case Since(_, span, left, right):
                a, b = self.formula(left), self.formula(right)
                if not set(n.names(a.fields)) <= set(n.names(b.fields)):
                    b = n.Join(b, n.Keys(a))
                return n.Since(a, b, self._cell(span.low), self._last(span), not span.low_closed, _open_above(span))

    def _predicate(self, atom: Holds) -> n.Node:
        types = [self.model.types[atom.template, place] for place in range(len(atom.arguments))]
        columns: list[str] = []
        for place, argument in enumerate(atom.arguments):
            fresh = isinstance(argument, Variable) and argument.name not in columns
            columns.append(argument.name if fresh else f"${place + 1}")  # type: ignore[union-attr]
        fields = tuple(n.Field(column, type_) for column, type_ in zip(columns, types, strict=True))
        node: n.Node = n.Fluent(atom.template, fields, valued=False)
        for column, argument in zip(columns, atom.arguments, strict=True):
            if not isinstance(argument, Variable):
                node = n.Equal(node, column, _bare(argument))
            elif argument.name != column:
                node = n.Same(node, argument.name, column)
        return _kept(node, [column for column in columns if not column.startswith("$")])

    def _shifted(self, kind: str, span: Range, child: n.Node) -> n.Node:
        if span.low == span.high == 0:
            return child
        return n.Shifted(child, "dilate" if kind == "dilate" else "erode", self._cell(span.low), self._last(span),
                         not span.low_closed, _open_above(span), dense=True)

    def _cell(self, bound: Fraction) -> int:
        cell = bound * self._cells
        assert cell.denominator == 1, f"{bound} is not on the grid"
        return cell.numerator

    def _last(self, span: Range) -> int | None:
        return None if span.high is None else self._cell(span.high)


def _open_above(span: Range) -> bool:
    return span.high is not None and not span.high_closed


def _names(condition: Condition) -> Iterable[str]:
    if isinstance(condition, Compare):
        return [v.name for side in (condition.left, condition.right) for v in variables_of(side)]
    formula = condition.formula if isinstance(condition, Not) else condition
    return [v.name for p in predicates_in(formula) for a in p.arguments for v in variables_of(a)]


def _kept(node: n.Node, columns: Sequence[str]) -> n.Node:
    return node if n.names(node.fields) == tuple(columns) else n.Project(node, tuple(columns))


def _bare(term: Term) -> Term:
    """A constant without its place: equal ones of different rules are then one."""
    return replace(term, span=None)


def _side(term: Term) -> Expression:
    return Column(term.name) if isinstance(term, Variable) else Constant(_bare(term))


def _expression(term: Term) -> Expression:
    if isinstance(term, Compound):
        return Apply(term.functor, tuple(map(_expression, term.args)))
    return _side(term)
