"""Rules to plans: the body of a rule is joined where its atoms live, at time-points or over evaluation times.

Atoms of one time-point (`now`, or `at T` for the same T) are joined as points, which is a join by equality. They become
intervals of evaluation times only where other atoms ask for them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from eventide.algebra import nodes as n
from eventide.algebra.expressions import Apply, Column, Constant, Expression, Logic
from eventide.algebra.expressions import Comparison as Test
from eventide.lars.arguments import bound_by, local_variables, ordinary_variables, reported_variables, time_variables
from eventide.lars.windows import AT, LEAVING, Atoms, Part, shorter, without
from eventide.syntax.lars_trees import Comparison, Literal, Rule
from eventide.syntax.terms import Atom, Compound, Number, Term, Variable, arguments_of, variables_of

_OPERATORS = {"+": "+", "-": "-", "*": "*", "/": "quotient", "%": "rem", "^": "^"}
_NUMERIC = {"<": "<", "<=": "=<", ">": ">", ">=": ">="}


@dataclass(frozen=True)
class Conclusion:
    """What a rule gives its head: a part of the predicate (without a name yet) and the plan of it."""

    part: Part
    node: n.Node
    timed: bool = False
    """Whether it is concluded for a time-point that the head names."""


@dataclass(frozen=True)
class _Group:
    """Atoms of one time-point, joined: the variable of the time (None: now), points, how long they count."""

    time: str | None
    node: n.Node
    life: int | None


class Body:
    """Compiles one rule."""

    def __init__(self, atoms: Atoms, rule: Rule, number: int, *, growing: bool = False) -> None:
        self.atoms, self.rule, self.number = atoms, rule, number
        self.growing = growing
        """Whether the rule is part of a cycle: there, everything is intervals, which grow."""
        self.times, self.ordinary = time_variables(rule), ordinary_variables(rule)
        self.joined_times = {str(literal.time) for literal in rule.literals if not literal.negated} - self.ordinary
        self.tests: list[Comparison] = list(rule.comparisons)
        self.absent: list[Literal] = [literal for literal in rule.literals if literal.negated]
        self.statics: list[n.Node] = []
        self.head_time: Expression | None = None
        self._take_head_time()

    # -- what the rule concludes --------------------------------------------------------------------------------------

    def conclusion(self, fields: n.Fields) -> Conclusion | None:
        """The part of the head's predicate that the rule gives, in columns with these names; None if it never fires."""
        node, time, life = self._joined()
        if node is None:
            return None
        head = self.rule.head
        wanted = None if head is None else head.time
        arguments = self._head_arguments()
        if wanted is None:
            if time is not None:  # points of the past that count for a while
                return self._now(n.Spread(self._shaped(node, arguments, fields), life))
            return self._now(self._shaped(node, arguments, fields))
        if isinstance(wanted, Variable) and wanted.name == time:
            return Conclusion(Part("points", "", life), self._shaped(node, arguments, fields), timed=True)
        if node.sort == "points":
            node = n.Spread(node, 0 if time is None else life, None if time is None else f"@{time}")
        stamp = n.Field(AT, n.STAMP)
        if isinstance(wanted, Variable) and f"@{wanted.name}" in n.names(node.fields):
            shaped = self._shaped(node, arguments, fields, f"@{wanted.name}")
            return Conclusion(Part("stamped", ""), n.Rename(shaped, (*fields, stamp)))
        node = n.Stamped(node, AT, self.head_time or self._expression(wanted, {}))
        return Conclusion(Part("stamped", ""), n.Rename(self._shaped(node, arguments, fields, AT), (*fields, stamp)))

    @staticmethod
    def _now(node: n.Node) -> Conclusion:
        return Conclusion(Part("points", "", 0) if node.sort == "points" else Part("now", ""), node)

    def _take_head_time(self) -> None:
        """The head's time where an equation computes it and nothing else asks for it: it need not become a column."""
        head = self.rule.head
        if head is None or not isinstance(head.time, Variable):
            return
        name = head.time.name
        asked = [v.name for lit in self.rule.literals for v in lit.variables()] + [
            v.name for v in variables_of(head.atom)]
        mentions = [c for c in self.tests if name in {v.name for v in c.variables()}]
        if name in asked or len(mentions) != 1:
            return
        known = {v.name for lit in self.rule.literals if not lit.negated for v in lit.variables()}
        target, value = bound_by(mentions[0], known)
        if target == name:
            self.tests.remove(mentions[0])
            self.head_time = self._expression(value, {name: f"@{name}" for name in self.times})

    def _head_arguments(self) -> Sequence[Term]:
        """The arguments of the head; of a contradiction, all variables that have a name."""
        if self.rule.head is not None:
            return arguments_of(self.rule.head.atom)
        return reported_variables(self.rule)

    def _shaped(self, node: n.Node, arguments: Sequence[Term], fields: n.Fields, stamp: str | None = None) -> n.Node:
        """The head's arguments as columns."""
        columns: list[str] = []
        for i, term in enumerate(arguments):
            column = f"${i}"
            if not isinstance(term, Variable):
                node = n.Attach(node, n.Field(column, fields[i].type), term)
            elif term.name in columns:
                node = n.Copy(node, n.Field(column, fields[i].type), term.name)
            else:
                column = term.name
            columns.append(column)
        kept = (*columns, *([stamp] if stamp is not None else []))
        node = node if n.names(node.fields) == kept else n.Project(node, kept)
        return node if stamp is not None or node.fields == fields else n.Rename(node, fields)

    # -- joining ------------------------------------------------------------------------------------------------------

    def _joined(self) -> tuple[n.Node | None, str | None, int | None]:
        """The whole body: its plan, and for points of a time variable that variable and how long they count."""
        groups: dict[str | None, _Group] = {}
        others: list[n.Node] = []
        waiting: list[Literal] = []
        for literal in self.rule.literals:
            if literal.negated:
                continue
            narrow = self._narrowing(literal)
            rows = None if literal.modality == "at" else self.atoms.rows(literal, narrow)
            points = self.atoms.points(literal, narrow)
            if rows is not None:
                self.statics.append(rows)
            elif points is not None:
                self._add_to(groups, None if literal.time is None else str(literal.time), *points)
            else:
                waiting.append(literal)
        for literal in waiting:
            narrow = self._narrowing(literal)
            rows = self.atoms.rows(literal, narrow)
            time = literal.time.name if isinstance(literal.time, Variable) else None
            if rows is not None and time is not None and time in groups:
                window = literal.window  # background facts at the time of other atoms: only the window counts
                if window is None or window.kind == "time":
                    life = shorter(groups[time].life, None if window is None else window.size)
                    groups[time] = replace(groups[time], node=n.Join(groups[time].node, rows), life=life)
                    continue
            node = self.atoms.intervals(literal, narrow)
            if node is None:
                return None, None, None
            others.append(self._timed(node, time))
        groups = {time: self._settled(group) for time, group in groups.items()}
        if len(groups) == 1 and not others:
            (group,) = groups.values()
            if group.time is None:
                return self._finished(group.node, None), None, None
            if not self.absent and self.head_time is None:
                return self._finished(group.node, group.time), group.time, group.life
        stamped: list[n.Node] = [n.Spread(g.node, g.life, f"@{g.time}") for g in groups.values() if g.time is not None]
        if self.growing and None in groups:
            stamped.append(n.Spread(groups.pop(None).node, 0))
        node = self._all(others + stamped)
        if None in groups:
            node = groups[None].node if node is None else n.Join(groups[None].node, node)
        return self._finished(node, None), None, None

    def _add_to(self, groups: dict[str | None, _Group], time: str | None, node: n.Node, life: int | None) -> None:
        node = self._timed(node, time)
        if time in groups:
            groups[time] = _Group(time, n.Join(groups[time].node, node), shorter(groups[time].life, life))
        else:
            groups[time] = _Group(time, node, life)

    def _settled(self, group: _Group) -> _Group:
        """The group with what can be decided at its time-point: tests, background facts, atoms that are absent."""
        node = self._extended(group.node, group.time)
        known = set(n.names(node.fields))
        for literal in list(self.absent):
            own = {v.name for v in variables_of(literal.atom)}
            if (literal.time is None) != (group.time is None) or not own <= known:
                continue
            found = self.atoms.points(literal, self._narrowing(literal))
            if found is None or (literal.time is not None and str(literal.time) != group.time):
                continue
            points, life = found
            if group.time is None or shorter(life, group.life) == group.life:  # it is seen at least as long
                node = n.Without(node, points)
                self.absent.remove(literal)
        return replace(group, node=node)

    def _extended(self, node: n.Node, time: str | None) -> n.Node:
        """Joined with the background facts that share a variable; tests as early as they can be made."""
        while True:
            node = self._tested(node, time)
            known = set(n.names(node.fields))
            near = next((rows for rows in self.statics if known & set(n.names(rows.fields))), None)
            if near is None:
                return node
            self.statics.remove(near)
            node = n.Join(node, near)

    def _all(self, nodes: list[n.Node]) -> n.Node | None:
        """The join of intervals, neighbours first."""
        if not nodes:
            return None
        rest = list(nodes)
        node = self._extended(rest.pop(0), None)
        while rest:
            known = set(n.names(node.fields))
            following = next((r for r in rest if known & set(n.names(r.fields))), rest[0])
            rest.remove(following)
            node = self._extended(n.Join(node, following), None)
        return node

    def _finished(self, node: n.Node | None, time: str | None) -> n.Node:
        """With everything that is left: background facts, tests, absent atoms."""
        rows: n.Node | None = None
        if node is None:
            while self.statics:
                rows = self.statics.pop(0) if rows is None else n.Join(rows, self.statics.pop(0))
                rows = self._tested(rows, None)
            node = n.Always(n.Unit() if rows is None else rows)
        node = self._extended(node, time)
        while self.statics:
            node = self._extended(n.Join(node, self.statics.pop(0)), time)
        assert not self.tests, "an unsafe rule"
        for literal in self.absent:
            found = self._absent(literal, node)
            if found is not None:
                node = n.Without(node, found)
        return node

    def _absent(self, literal: Literal, node: n.Node) -> n.Node | None:
        """What an absent atom takes away from the rows of a node; None for nothing."""
        narrow = self._narrowing(literal)
        if literal.modality != "at" and (rows := self.atoms.rows(literal, narrow)) is not None:
            return rows
        if literal.modality == "now" and node.sort == "points":
            points = self.atoms.points(literal, narrow)
            if points is not None:
                return points[0]
        found = self.atoms.intervals(literal, narrow)
        if found is None or not isinstance(literal.time, Variable) or f"@{literal.time.name}" in n.names(node.fields):
            return found
        return without(self._timed(found, literal.time.name), f"@{literal.time.name}")

    # -- one atom, one test -------------------------------------------------------------------------------------------

    def _narrowing(self, literal: Literal) -> Callable[..., n.Node]:
        """Tests that the atom alone can make, then the columns that others read."""
        local = local_variables(self.rule, literal)
        own = {v.name for v in variables_of(literal.atom)}
        tests = [c for c in self.rule.comparisons
                 if not literal.negated and own >= {v.name for v in c.variables()} > set()]

        def narrow(node: n.Node, keep: tuple[str, ...] = ()) -> n.Node:
            if {v.name for test in tests for v in test.variables()} <= set(n.names(node.fields)):
                for test in tests:
                    node = n.Select(node, self._test(test, {}))
                self.tests = [test for test in self.tests if test not in tests]
            kept = tuple(name for name in n.names(node.fields) if name in keep or name == LEAVING or name[0] == "@"
                         or (name in own and name not in local))
            return node if kept == n.names(node.fields) else n.Project(node, kept)

        return narrow

    def _timed(self, node: n.Node, time: str | None) -> n.Node:
        """The node with its time as an ordinary value, where it is read as one."""
        if time is None or time not in self.ordinary:
            return node
        column = Column(n.TIME if node.sort == "points" else f"@{time}")
        if time in n.names(node.fields):
            return n.Select(node, Test("=:=", Column(time), column))
        return n.Compute(node, n.Field(time, self.atoms.types.variables[self.number, time]), column)

    def _tested(self, node: n.Node, time: str | None) -> n.Node:
        """With the tests that can be made, and the variables that equations bind."""
        while True:
            known = self._known(node, time)
            for comparison in self.tests:
                target, value = bound_by(comparison, known)
                if target in self.joined_times:
                    continue  # it tests the times of two atoms, once they are joined
                if target is not None:
                    node = self._bound(node, target, value, self._places(node, time))
                elif {v.name for v in comparison.variables()} <= known:
                    node = n.Select(node, self._test(comparison, self._places(node, time)))
                else:
                    continue
                self.tests.remove(comparison)
                break
            else:
                return node

    def _known(self, node: n.Node, time: str | None) -> set[str]:
        names = set(n.names(node.fields))
        return names | {name[1:] for name in names if name[0] == "@"} | ({time} if time is not None else set())

    def _places(self, node: n.Node, time: str | None) -> dict[str, str]:
        """The columns of time variables."""
        names = n.names(node.fields)
        found = {name[1:]: name for name in names if name[0] == "@"}
        return found | ({time: n.TIME} if time is not None else {})

    def _bound(self, node: n.Node, target: str, value: Term, places: dict[str, str]) -> n.Node:
        field = n.Field(target, self.atoms.types.variables[self.number, target])
        if isinstance(value, Variable) and value.name in n.names(node.fields):
            return n.Copy(node, field, value.name)
        if isinstance(value, Atom | Number):
            return n.Attach(node, field, value)
        return n.Compute(node, field, self._expression(value, places))

    def _expression(self, term: Term, places: dict[str, str]) -> Expression:
        """An expression over columns; `places` are those of time variables."""
        if isinstance(term, Variable):
            return Column(places.get(term.name, term.name))
        if isinstance(term, Compound):
            sides = tuple(self._expression(side, places) for side in term.args)
            return Apply(_OPERATORS[term.functor], sides)
        return Constant(term)

    def _test(self, comparison: Comparison, places: dict[str, str]) -> Expression:
        left, right = (self._expression(side, places) for side in (comparison.left, comparison.right))
        if comparison.operator not in ("=", "!="):
            if any(isinstance(side, Atom) for side in (comparison.left, comparison.right)):
                return Logic("or", ())  # order is between numbers
            return Test(_NUMERIC[comparison.operator], left, right)
        plain = not any(isinstance(side, Compound | Number) or (isinstance(side, Variable) and side.name in places)
                        for side in (comparison.left, comparison.right))
        if plain:
            same = _same(left, right)
            return same if comparison.operator == "=" else Logic("not", (same,))
        if any(isinstance(side, Compound) for side in (comparison.left, comparison.right)):  # it may have no value
            return Test("=:=" if comparison.operator == "=" else "=\\=", left, right)
        same = Test("=:=", left, right)
        return same if comparison.operator == "=" else Logic("not", (same,))


def _same(left: Expression, right: Expression) -> Expression:
    """The same word, or equal numbers."""
    if any(isinstance(side, Constant) and isinstance(side.value, Atom) for side in (left, right)):
        return Test("==", left, right)
    return Logic("or", (Test("==", left, right), Test("=:=", left, right)))
