"""Domains that the input fills: which joins with them can drop nothing, and which still make the past depend on them.

The rows of such a domain come from facts of the input. A row of a plan is often *evidence* of the same fact: a vehicle
that is too fast has moved, so it is among the vehicles that events about movement list. A semi-join with that domain
then keeps every row, whatever the input is, and is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from eventide.algebra import nodes as n
from eventide.algebra.expressions import Apply, Column, Comparison, Constant, Expression, Kind, Logic, columns_of
from eventide.syntax.terms import Term

Columns = tuple[str, ...]
Filter = n.Equal | n.Select | n.Without
_UNJOINED = (n.NUMBER, n.UNUSED)
_DOMAIN = re.compile(r"(.+/\d+)\.\d+")


class Value(str):
    """A fixed value that stands in the place of a column."""

    __slots__ = ()

    @classmethod
    def of(cls, term: Term) -> Value:
        """The value of a ground term."""
        return cls(f"{type(term).__name__} {term}")


@dataclass(frozen=True, slots=True)
class Fact:
    """Where rows come from: a fluent's or event's sort and name with positions of its arguments, some of which have
    fixed values; a pair of an Allen relation; or any other node, by its id, with some of its columns."""

    origin: tuple[str, str] | tuple[str, int, int] | int
    columns: tuple[int | str, ...]
    values: frozenset[tuple[int, Value]] = frozenset()

    def implies(self, other: Fact) -> bool:
        """Whether all that this says of the fact's values is enough for the other."""
        return self.origin == other.origin and self.values >= other.values and all(
            own == column or (column, own) in self.values
            for own, column in zip(self.columns, other.columns, strict=True))


@dataclass(frozen=True, slots=True)
class Needed:
    """What is left of a semi-join: with some rows (None: with none), and filters of what is joined with them."""

    rows: n.Node | None
    tests: tuple[Filter, ...] = ()


def without_needless_domains(plan: n.Plan) -> n.Plan:
    """The plan without semi-joins that can drop nothing; equal sub-plans should be one object."""
    evidence = Evidence(plan)
    strata: list[n.Stratum] = []
    for stratum in plan.strata:
        definitions = [n.Definition(d.name, evidence.without_needless(d.body)) for d in stratum.definitions]
        strata.append(replace(stratum, definitions=tuple(definitions)))
    return n.Plan(tuple(strata))


def retroactive(plan: n.Plan) -> dict[str, str]:
    """The definitions whose past may change when an entity joins a domain late, each with the reason.

    Only what a definition itself reads counts, not what it reads of others. The plan must be without needless domains.
    """
    evidence = Evidence(plan)
    reasons = ((d.name, next(evidence.reasons(d.body), None)) for s in plan.strata for d in s.definitions)
    return {name: reason for name, reason in reasons if reason is not None}


def _dynamic(rows: n.Node | None) -> bool:
    """Whether the input decides what these rows are."""
    return rows is not None and next(n.references_of(rows), None) is not None


def _domains_in(rows: n.Node) -> str:
    """The names of the domains among some rows, or else of the facts they are made of."""
    found: set[str] = set()
    for node in n.nodes_in(rows):
        found |= {match[1] for name in n.names(node.fields) if (match := _DOMAIN.fullmatch(name))}
    return " and ".join(sorted(found or set(n.references_of(rows))))


_OF_EVERY_PAIR = ("source", "target", "union")  # a pair has something in these modes of Allen relations


class Evidence:
    """What the rows of a plan's nodes come from. Definitions of a cycle count as coming from nothing."""

    def __init__(self, plan: n.Plan) -> None:
        self._cyclic = {d.name for s in plan.strata if s.cyclic for d in s.definitions}
        self._bodies = {d.name: d.body for s in plan.strata if not s.cyclic for d in s.definitions}
        # with each node itself, so that its id stays its own
        self._answers: dict[tuple[int, Columns, frozenset[Fact]], tuple[bool, n.Node]] = {}
        self._rewritten: dict[int, tuple[n.Node, n.Node]] = {}

    # -- where rows come from -----------------------------------------------------------------------------------------

    def covers(self, node: n.Node, columns: Columns, facts: frozenset[Fact]) -> bool:
        """Whether for every row of the node, one of the facts has the same values as the row in these columns."""
        if not {column for column in columns if not isinstance(column, Value)} <= set(n.names(node.fields)):
            return False
        goal = (id(node), columns, facts)
        if goal not in self._answers:
            own = self._fact(node, columns)
            found = any(own.implies(fact) for fact in facts) or self._comes_from(node, columns, facts)
            self._answers[goal] = (found, node)
        return self._answers[goal][0]

    def _fact(self, node: n.Node, columns: Columns) -> Fact:
        if isinstance(node, n.Allen):  # whatever it gives, there is a pair
            return Fact((node.relation, id(node.source), id(node.target)), columns)
        leaf: n.Node = node
        values: list[tuple[str, Value]] = []
        while isinstance(leaf, n.Equal):
            values.append((leaf.column, Value.of(leaf.value)))
            leaf = leaf.child
        if not isinstance(leaf, n.Events | n.Fluent) or leaf.name in self._cyclic:
            return Fact(id(node), columns)
        place = n.names(leaf.fields).index
        places = tuple(column if isinstance(column, Value) else place(column) for column in columns)
        return Fact((leaf.sort, leaf.name), places, frozenset((place(column), value) for column, value in values))

    def _comes_from(self, node: n.Node, columns: Columns, facts: frozenset[Fact]) -> bool:
        match node:
            case n.Table() | n.Unit():
                return False
            case n.Events(name, fields) | n.Fluent(name, fields) | n.Fired(name, fields):
                body = self._bodies.get(name)
                if body is None or (isinstance(node, n.Fired) and fields[-1].name in columns):
                    return False
                return self.covers(body, _renamed(columns, fields, body.fields), facts)
            case n.Rename(child, fields):
                return self.covers(child, _renamed(columns, fields, child.fields), facts)
            case n.Copy(child, field, column):
                return self.covers(child, _replaced(columns, field.name, column), facts)
            case n.Attach(child, field, value):
                return self.covers(child, _replaced(columns, field.name, Value.of(value)), facts)
            case n.Same(child, left, right):
                options = {columns, _replaced(columns, left, right), _replaced(columns, right, left)}
                return any(self.covers(child, option, facts) for option in options)
            case n.Join(left, right):
                return self.covers(left, columns, facts) or self.covers(right, columns, facts)
            case n.Without(left):
                return self.covers(left, columns, facts)
            case n.Since(_, right):
                return self.covers(right, columns, facts)
            case n.Union(children) | n.Vote(children):
                return all(self.covers(child, columns, facts) for child in children)
            case n.Allen(_, _, source, target):
                return self.covers(source, columns, facts) and self.covers(target, columns, facts)
            case n.Inertia():
                begun = [change.points for change in node.changes if change.kind == "initiated"]
                if node.delays and node.fields[-1].name in columns:
                    return False  # a deadline gives a value that no rule has initiated
                return all(self.covers(origin, columns, facts) for origin in (*begun, *node.initial))
            case _:
                return self.covers(node.child, columns, facts)

    def _sources(self, rows: n.Node, columns: Columns) -> Iterator[Fact]:
        """Facts that are enough for a row: each of them has a row with its values in these columns."""
        if not isinstance(rows, n.Allen) or rows.mode in _OF_EVERY_PAIR:
            yield self._fact(rows, columns)
        match rows:
            case n.Rename(child, fields):
                yield from self._sources(child, _renamed(columns, fields, child.fields))
            case n.Project(child) | n.Timeless(child) | n.Keys(child):
                yield from self._sources(child, columns)
            case n.Union(children):
                for child in children:
                    yield from self._sources(child, columns)

    # -- semi-joins ---------------------------------------------------------------------------------------------------

    def _needed(self, rows: n.Node, left: n.Node, given: Mapping[str, str]) -> Needed:
        """What a semi-join of the left with the rows has to look at.

        `given` are the columns of the rows that the left has, with their names there.
        """
        columns = n.names(rows.fields)
        if columns and given.keys() >= set(columns):
            sources = frozenset(self._sources(rows, columns))
            if self.covers(left, tuple(given[column] for column in columns), sources):
                return Needed(None)
        match rows:
            case n.Join(first, second):
                one, other = self._needed(first, left, given), self._needed(second, left, given)
                if one.rows is first and other.rows is second:
                    return Needed(rows)
                kept = [part.rows for part in (one, other) if part.rows is not None]
                return Needed(n.Join(*kept) if len(kept) == 2 else kept[0] if kept else None, one.tests + other.tests)
            case n.Rename(child, fields):
                pairs = {old.name: new for old, new in zip(child.fields, fields, strict=True)}
                inner = self._needed(child, left, {o: given[f.name] for o, f in pairs.items() if f.name in given})
                if inner.rows is None or inner.rows is child:
                    return Needed(None if inner.rows is None else rows, inner.tests)
                return Needed(n.Rename(inner.rows, tuple(pairs[name] for name in n.names(inner.rows.fields))),
                              inner.tests)
            case n.Project(child):
                inner = self._needed(child, left, {c: given[c] for c in columns if c in given})
                if inner.rows is None or inner.rows is child:
                    return Needed(None if inner.rows is None else rows, inner.tests)
                known = set(n.names(inner.rows.fields))
                return Needed(n.Project(inner.rows, tuple(c for c in columns if c in known)), inner.tests)
            case n.Equal(child) | n.Select(child) | n.Without(child):
                return self._filtered(rows, child, left, given)
            case n.Union(children) if len({id(child) for child in children}) == 1:
                return self._needed(children[0], left, given)
            case n.Union(children):
                options = [self._needed(child, left, given) for child in children]
                if Needed(None) in options:
                    return Needed(None)
                same = [o.rows if o.rows is not None and not o.tests and o.rows.fields == child.fields else child
                        for o, child in zip(options, children, strict=True)]
                return Needed(rows if all(map(_is, same, children)) else n.Union(tuple(same)))
        return Needed(rows)

    def _filtered(self, rows: Filter, child: n.Node, left: n.Node, given: Mapping[str, str]) -> Needed:
        """What is needed of filtered rows: the filter stays with the rows, or else becomes one of the left."""
        inner = self._needed(child, left, given)
        if inner.rows is child:
            return Needed(rows)
        read = _read_by(rows)
        if inner.rows is not None and set(read) <= set(n.names(inner.rows.fields)):
            return Needed(_filtering(rows, inner.rows), inner.tests)
        if not given.keys() >= set(read) or (isinstance(rows, n.Without) and rows.right.sort != "rows"):
            return Needed(rows)  # for the left, a comparison with points or intervals would be one in time
        match rows:
            case n.Equal(_, column):
                rows = replace(rows, column=given[column])
            case n.Select(_, test):
                rows = replace(rows, test=_renamed_test(test, given))
            case n.Without(_, right):
                kept = n.Project(right, read)
                rows = replace(rows, right=n.Rename(kept, tuple(n.Field(given[f.name], f.type) for f in kept.fields)))
        return Needed(inner.rows, (*inner.tests, rows))

    def without_needless(self, node: n.Node) -> n.Node:
        """The node without semi-joins that drop nothing, here and in its operands."""
        known = self._rewritten.get(id(node))
        if known is None:
            new = self._with_operands(node)
            if isinstance(new, n.Join):
                new = self._joined(new)
            known = self._rewritten[id(node)] = (node, new)
        return known[1]

    def _joined(self, node: n.Join) -> n.Node:
        left, right = node.left, node.right
        rows, timed = (right, left) if right.sort == "rows" else (left, right)
        if rows.sort != "rows" or timed.sort == "rows":
            return node
        types = {field.name: field.type for field in timed.fields}
        if not all(types.get(f.name) == f.type and f.type not in _UNJOINED for f in rows.fields):
            return node
        needed = self._needed(rows, timed, {name: name for name in n.names(rows.fields)})
        if needed.rows is rows or (needed.tests and _dynamic(needed.rows)):
            return node  # tests of few rows cost less than those of many points
        result = timed if needed.rows is None else n.Join(timed, needed.rows)
        for test in needed.tests:
            result = _filtering(test, result)
        columns = n.names(node.fields)
        return result if n.names(result.fields) == columns else n.Project(result, columns)

    def _with_operands(self, node: n.Node) -> n.Node:
        """The node with its operands rewritten; the initial values of simple fluents stay as they are."""
        new = self.without_needless
        match node:
            case n.Table() | n.Unit() | n.Events() | n.Fluent() | n.Fired():
                return node
            case n.Join(left, right) | n.Without(left, right) | n.Since(left, right):
                return _changed(node, left=new(left), right=new(right))
            case n.Allen(_, _, source, target):
                return _changed(node, source=new(source), target=new(target))
            case n.Union(children) | n.Vote(children):
                found = tuple(map(new, children))
                return node if all(map(_is, found, children)) else replace(node, children=found)
            case n.Count(child, inner):
                return _changed(node, child=new(child), inner=new(inner))
            case n.Lasting(child, rows=rows):
                return _changed(node, child=new(child), rows=None if rows is None else new(rows))
            case n.Inertia():
                changes = tuple(replace(change, points=new(change.points)) for change in node.changes)
                delays = tuple(delay if delay.rows is None else replace(delay, rows=new(delay.rows))
                               for delay in node.delays)
                return replace(node, changes=changes, delays=delays)
            case _:
                return _changed(node, child=new(node.child))

    # -- the past -----------------------------------------------------------------------------------------------------

    def reasons(self, node: n.Node, held: n.Inertia | None = None, given: Mapping[str, str] | None = None
                ) -> Iterator[str]:
        """Why what the node gives for the past may change when an entity joins a domain late.

        For points that end the fluent `held`, `given` says which columns are arguments of it: a join of those with
        what every entity that ever began is in changes nothing.
        """
        given = given or {}
        match node:
            case n.Inertia():
                yield from self._reasons_of_fluent(node)
            case n.Join(left, right) | n.Without(left, right):
                for rows in (left, right):
                    if rows.sort == "rows" and node.sort != "rows" and self._decides(rows, held, given):
                        rule = "ends only for" if held is not None else "is only for"
                        rule = "leaves out" if isinstance(node, n.Without) else rule
                        yield f"it {rule} entities of {_domains_in(rows)}, filled by other facts than those it is about"
                yield from self.reasons(left, held, given)
                yield from self.reasons(right, *((held, given) if isinstance(node, n.Join) else ()))
            case n.Always(child) if _dynamic(child):
                yield f"it holds from the start for {_domains_in(child)}, which the input fills"
            case n.At(child, time) if _dynamic(child):
                yield f"it depends on what holds at the time-point {time}"
            case n.Timeless() | n.Keys():
                return  # what is joined with these rows has been told
            case n.Lasting(child, rows=rows) if rows is not None and _dynamic(rows):
                yield f"how long it must last goes by {_domains_in(rows)}, which the input fills"
            case n.Rename(child, fields):
                pairs = zip(child.fields, fields, strict=True)
                yield from self.reasons(child, held, {o.name: given[f.name] for o, f in pairs if f.name in given})
            case n.Project(child, columns):
                yield from self.reasons(child, held, {c: given[c] for c in columns if c in given})
            case n.Equal(child) | n.Select(child) | n.Compute(child) | n.Function(child) | n.Attach(child):
                yield from self.reasons(child, held, given)
            case n.Union(children) | n.Vote(children):
                for child in children:
                    yield from self.reasons(child, held, given)
            case _:
                for child in n.children_of(node):
                    yield from self.reasons(child)

    def _decides(self, rows: n.Node, held: n.Inertia | None, given: Mapping[str, str]) -> bool:
        """Whether the input decides what a semi-join with the rows drops."""
        needed = Needed(rows) if held is None else self._needed(rows, held, given)
        rest = [test.right for test in needed.tests if isinstance(test, n.Without)]
        return any(map(_dynamic, (needed.rows, *rest)))

    def _reasons_of_fluent(self, node: n.Inertia) -> Iterator[str]:
        for rows in node.initial:
            if _dynamic(rows) or _dynamic(node.domain):
                filled = rows if node.domain is None or _dynamic(rows) else node.domain
                yield f"its initial values are those of {_domains_in(filled)}, which the input fills"
        for change in node.changes:
            if change.kind == "initiated":
                yield from self.reasons(change.points)
            else:
                yield from self.reasons(change.points, node, {name: name for name in n.names(change.points.fields)})
        for delay in node.delays:
            if delay.rows is not None and _dynamic(delay.rows):
                yield f"its delays go by {_domains_in(delay.rows)}, which the input fills"


def _is(left: object, right: object) -> bool:
    return left is right


def _changed(node: n.Node, **operands: n.Node | None) -> n.Node:
    """The node with other operands, itself if they are the same."""
    same = all(getattr(node, name) is operand for name, operand in operands.items())
    return node if same else replace(node, **operands)  # type: ignore[arg-type]


def _read_by(rows: Filter) -> Columns:
    """The columns a filter looks at."""
    match rows:
        case n.Equal(_, column):
            return (column,)
        case n.Select(_, test):
            return tuple(columns_of(test))
        case n.Without(left, right):
            return tuple(column for column in n.names(right.fields) if column in n.names(left.fields))


def _filtering(test: Filter, operand: n.Node) -> n.Node:
    """The same filter of something else."""
    return replace(test, left=operand) if isinstance(test, n.Without) else replace(test, child=operand)


def _renamed(columns: Columns, fields: n.Fields, others: n.Fields) -> Columns:
    """The names that columns of `fields` have in `others`, position by position."""
    names = n.names(fields)
    return tuple(column if isinstance(column, Value) else others[names.index(column)].name for column in columns)


def _replaced(columns: Columns, old: str, new: str) -> Columns:
    return tuple(new if column == old else column for column in columns)


def _renamed_test(test: Expression, names: Mapping[str, str]) -> Expression:
    match test:
        case Column(name):
            return Column(names[name])
        case Apply(_, arguments) | Logic(_, arguments):
            return replace(test, arguments=tuple(_renamed_test(argument, names) for argument in arguments))
        case Comparison(operator, left, right):
            return Comparison(operator, _renamed_test(left, names), _renamed_test(right, names))
        case Kind(kind, argument):
            return Kind(kind, _renamed_test(argument, names))
        case Constant():
            return test
