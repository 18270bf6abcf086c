"""The operators of the temporal algebra, as immutable nodes. Three sorts of result:

- *rows*: facts without time (background knowledge, domains),
- *points*: rows with a time-point (events); several rows may be equal,
- *intervals*: the temporal relation: rows with maximal intervals `[start, end)`.

Joins are natural: columns of the same name must agree. A column has a type: the name of the domain its values are
coded in, `NUMBER` for plain numbers that are only computed with, or `STAMP` for time-points: a row that is stamped
with T tells something of T, during an interval of times at which it is known.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from eventide.algebra.expressions import Expression
from eventide.syntax.terms import Term

NUMBER = "number"
UNUSED = "unused"
STAMP = "time-point"
TIME = "@"
Sort = Literal["rows", "points", "intervals"]


@dataclass(frozen=True, slots=True)
class Field:
    """A column: its name and the domain of its values."""

    name: str
    type: str

    def __str__(self) -> str:
        return self.name


Fields = tuple[Field, ...]


def names(fields: Fields) -> tuple[str, ...]:
    """The names of the fields, in order."""
    return tuple([field.name for field in fields])


def joined(left: Fields, right: Fields) -> Fields:
    """The fields of a natural join: those of the left, then the new ones of the right."""
    known = set(names(left))
    return left + tuple(field for field in right if field.name not in known)


class _SortOfChild:
    """A node whose result is of the same sort as its operand's."""

    __slots__ = ()
    child: Node

    @property
    def sort(self) -> Sort:
        """The sort of the operand."""
        return self.child.sort


class _FieldsOfChild:
    """A node that keeps the columns of its operand."""

    __slots__ = ()
    child: Node

    @property
    def fields(self) -> Fields:
        """The columns of the operand."""
        return self.child.fields


@dataclass(frozen=True, slots=True)
class Table:
    """A background relation; the n-th field names its n-th column."""

    name: str
    fields: Fields
    sort: Sort = "rows"


@dataclass(frozen=True, slots=True)
class Unit:
    """One row without columns: where a body without a positive condition starts."""

    fields: Fields = ()
    sort: Sort = "rows"


@dataclass(frozen=True, slots=True)
class Events:
    """An input or derived event; the n-th field names its n-th argument."""

    name: str
    fields: Fields
    sort: Sort = "points"


@dataclass(frozen=True, slots=True)
class Fluent:
    """A fluent: its arguments, then its value as the last field (unless it is the part with one fixed value)."""

    name: str
    fields: Fields
    valued: bool = True
    sort: Sort = "intervals"


@dataclass(frozen=True, slots=True)
class Equal(_SortOfChild, _FieldsOfChild):
    """Keep the rows in which a column has a ground value (rows, points or intervals)."""

    child: Node
    column: str
    value: Term


@dataclass(frozen=True, slots=True)
class Same(_SortOfChild, _FieldsOfChild):
    """Keep the rows in which two columns have the same value."""

    child: Node
    left: str
    right: str


@dataclass(frozen=True, slots=True)
class Select(_SortOfChild, _FieldsOfChild):
    """Keep the rows that pass a test."""

    child: Node
    test: Expression


@dataclass(frozen=True, slots=True)
class Compute(_SortOfChild):
    """Add a column, computed from the others."""

    child: Node
    field: Field
    expression: Expression

    @property
    def fields(self) -> Fields:
        return (*self.child.fields, self.field)


@dataclass(frozen=True, slots=True)
class Function(_SortOfChild):
    """Call a registered function on whole columns: without outputs it selects rows, otherwise it adds columns."""

    child: Node
    name: str
    inputs: tuple[Expression, ...]
    outputs: Fields

    @property
    def fields(self) -> Fields:
        return (*self.child.fields, *self.outputs)


@dataclass(frozen=True, slots=True)
class Attach(_SortOfChild):
    """Add a column that has the same ground value in every row."""

    child: Node
    field: Field
    value: Term

    @property
    def fields(self) -> Fields:
        return (*self.child.fields, self.field)


@dataclass(frozen=True, slots=True)
class Copy(_SortOfChild):
    """Add a column that repeats another one."""

    child: Node
    field: Field
    column: str

    @property
    def fields(self) -> Fields:
        return (*self.child.fields, self.field)


@dataclass(frozen=True, slots=True)
class Rename(_SortOfChild):
    """The same columns under other names, position by position."""

    child: Node
    fields: Fields


@dataclass(frozen=True, slots=True)
class Uncertain(_SortOfChild, _FieldsOfChild):
    """The rows of a rule with a probability: each of them counts with that probability, by itself.

    `rule` tells the rules apart: equal bodies of different rules are different chances.
    """

    child: Node
    probability: float
    rule: int


@dataclass(frozen=True, slots=True)
class Project(_SortOfChild):
    """Keep some columns; duplicates vanish, intervals of rows that become equal are united."""

    child: Node
    columns: tuple[str, ...]

    @property
    def fields(self) -> Fields:
        known = {field.name: field for field in self.child.fields}
        return tuple(known[column] for column in self.columns)


@dataclass(frozen=True, slots=True)
class Join:
    """Natural join. Rows with rows; points with rows; points with points of the same time; points during intervals
    (stab); intervals with rows; intervals with intervals, where they intersect."""

    left: Node
    right: Node

    @property
    def sort(self) -> Sort:
        sorts = {self.left.sort, self.right.sort}
        return "points" if "points" in sorts else "intervals" if "intervals" in sorts else "rows"

    @property
    def fields(self) -> Fields:
        return joined(self.left.fields, self.right.fields)


@dataclass(frozen=True, slots=True)
class Without:
    """Anti-join: what of the left has no match on the right (same sorts as `Join`). For two interval relations it is
    the difference in time; for points and intervals, the points outside of the intervals."""

    left: Node
    right: Node

    @property
    def sort(self) -> Sort:
        return self.left.sort

    @property
    def fields(self) -> Fields:
        return self.left.fields


@dataclass(frozen=True, slots=True)
class Union:
    """All rows of the children, which have the same columns; intervals are united into maximal ones."""

    children: tuple[Node, ...]

    @property
    def sort(self) -> Sort:
        return self.children[0].sort

    @property
    def fields(self) -> Fields:
        return self.children[0].fields


@dataclass(frozen=True, slots=True)
class Vote:
    """The points for which the rules that have them vote: those where the sum of their weights is positive.

    The children are the points of the rules, over the same columns; equal points of one rule count once. A rule whose
    weight is None decides alone: its points are always among the result. `everywhere` are weights that count at all
    points, each with the number of children before it: sums are made in this order.
    """

    children: tuple[Node, ...]
    weights: tuple[float | None, ...]
    everywhere: tuple[tuple[int, float], ...] = ()
    sort: Sort = "points"

    @property
    def fields(self) -> Fields:
        return self.children[0].fields


@dataclass(frozen=True, slots=True)
class Number(_SortOfChild):
    """Number the rows in a new column, so that a sub-plan's answers can be counted per row."""

    child: Node
    column: str

    @property
    def fields(self) -> Fields:
        return (*self.child.fields, Field(self.column, NUMBER))


@dataclass(frozen=True, slots=True)
class Count(_SortOfChild):
    """Add a column: how many rows of `inner` carry the number of each row of `child` (see `Number`)."""

    child: Node
    inner: Node
    number: str
    field: Field

    @property
    def fields(self) -> Fields:
        return (*self.child.fields, self.field)


@dataclass(frozen=True, slots=True)
class Boundaries(_FieldsOfChild):
    """The events at the ends of intervals: `start` one tick before, `startI` at the start, `end` at the last point."""

    child: Node
    kind: Literal["start", "startI", "end"]
    sort: Sort = "points"


@dataclass(frozen=True, slots=True)
class Runs(_FieldsOfChild):
    """Points to intervals: points at most one tick apart are one interval, which ends a tick after the last."""

    child: Node
    sort: Sort = "intervals"


@dataclass(frozen=True, slots=True)
class Keys(_FieldsOfChild):
    """The rows of an interval relation, without time."""

    child: Node
    sort: Sort = "rows"


@dataclass(frozen=True, slots=True)
class At(_FieldsOfChild):
    """The rows of an interval relation that hold at a given time-point, without time."""

    child: Node
    time: int
    sort: Sort = "rows"


@dataclass(frozen=True, slots=True)
class Timeless(_FieldsOfChild):
    """The rows of an event, without time (for domains that the input fills)."""

    child: Node
    sort: Sort = "rows"


@dataclass(frozen=True, slots=True)
class Always(_FieldsOfChild):
    """For every row, the interval from the first time-point of the run, without end."""

    child: Node
    sort: Sort = "intervals"


@dataclass(frozen=True, slots=True)
class Lasting(_FieldsOfChild):
    """Keep the intervals longer (or shorter) than an amount, which may come from matching `rows`."""

    child: Node
    comparison: Literal["longer", "shorter"]
    amount: Expression
    rows: Node | None = None
    sort: Sort = "intervals"


@dataclass(frozen=True, slots=True)
class Spans(_FieldsOfChild):
    """Keep the intervals whose ends pass a test; they are read as the columns `start` and `end` (infinite if open)."""

    child: Node
    start: str
    end: str
    test: Expression
    sort: Sort = "intervals"


@dataclass(frozen=True, slots=True)
class Allen:
    """An Allen relation between two interval relations over the same columns, in an output mode."""

    relation: str
    mode: str
    source: Node
    target: Node
    sort: Sort = "intervals"

    @property
    def fields(self) -> Fields:
        return self.source.fields


@dataclass(frozen=True, slots=True)
class Shifted(_FieldsOfChild):
    """The metric operators on time: `shift` by low, `dilate` ("sometime low to high ago"), `erode` ("always").

    `high` None is infinity. With `dense`, times are cells of dense time (`kernels.dense`), and a bound can be excluded.
    """

    child: Node
    kind: Literal["shift", "dilate", "erode"]
    low: int
    high: int | None
    low_open: bool = False
    high_open: bool = False
    dense: bool = False
    sort: Sort = "intervals"


@dataclass(frozen=True, slots=True)
class Since:
    """On cells of dense time: where `right` held low to high ago, and `left` at all times between then and now.

    The columns of the left are among those of the right.
    """

    left: Node
    right: Node
    low: int
    high: int | None
    low_open: bool = False
    high_open: bool = False
    sort: Sort = "intervals"

    @property
    def fields(self) -> Fields:
        return self.right.fields


@dataclass(frozen=True, slots=True)
class Spread:
    """Points to intervals: a point at k counts at k … k+size (None: from k on); a `stamp` is a new column that holds k.

    `until` names a column of times at which the points count no longer, instead of the size; it is dropped.
    """

    child: Node
    size: int | None
    stamp: str | None = None
    until: str | None = None
    sort: Sort = "intervals"

    @property
    def fields(self) -> Fields:
        kept = tuple(field for field in self.child.fields if field.name != self.until)
        return kept if self.stamp is None else (*kept, Field(self.stamp, STAMP))


@dataclass(frozen=True, slots=True)
class Steady(_FieldsOfChild):
    """Where there are points at each of the last size+1 time-points, or at all since the run's first (None: these)."""

    child: Node
    size: int | None
    sort: Sort = "intervals"


@dataclass(frozen=True, slots=True)
class Instants(_FieldsOfChild):
    """Intervals to points: one for every time-point in them, up to the end of the run."""

    child: Node
    sort: Sort = "points"


@dataclass(frozen=True, slots=True)
class Aged(_FieldsOfChild):
    """Cut the intervals of stamped rows where the stamp is more than `size` time-points ago."""

    child: Node
    stamp: str
    size: int
    sort: Sort = "intervals"


@dataclass(frozen=True, slots=True)
class Stamped:
    """Intervals with one more column, a computed stamp; they begin at the stamp at the earliest."""

    child: Node
    stamp: str
    expression: Expression
    sort: Sort = "intervals"

    @property
    def fields(self) -> Fields:
        return (*self.child.fields, Field(self.stamp, STAMP))


@dataclass(frozen=True, slots=True)
class Departures:
    """Facts with one more column: the time at which each is no longer among the last `size` of its group.

    `rank` is a column of the facts: their places in the order of arrival. A group are the facts that agree in the
    columns `by`; without these, all points of `arrivals`, whose places the ranks are.
    """

    child: Node
    arrivals: Node
    rank: str
    by: tuple[str, ...] | None
    size: int
    field: Field

    @property
    def sort(self) -> Sort:
        return self.child.sort

    @property
    def fields(self) -> Fields:
        return (*self.child.fields, self.field)


@dataclass(frozen=True, slots=True)
class Recent(_FieldsOfChild):
    """Cut the intervals of stamped rows where the stamp is before the last `size` of the `arrivals`.

    These are counted by the columns that they have: the rows have them too.
    """

    child: Node
    arrivals: Node
    stamp: str
    size: int
    sort: Sort = "intervals"


@dataclass(frozen=True, slots=True)
class Covered:
    """Where rows are stamped with every time-point of a window; the stamp is dropped.

    The window has the last size+1 time-points, fewer at the beginning of the run (None: all since then). With
    `arrivals` it begins at the oldest of the last `size` of them, as for `Recent`.
    """

    child: Node
    stamp: str
    size: int | None
    arrivals: Node | None = None
    sort: Sort = "intervals"

    @property
    def fields(self) -> Fields:
        return tuple(field for field in self.child.fields if field.name != self.stamp)


@dataclass(frozen=True, slots=True)
class Slice(_FieldsOfChild):
    """Cut intervals to the time-points low … high-1."""

    child: Node
    low: int
    high: int
    sort: Sort = "intervals"


@dataclass(frozen=True, slots=True)
class State:
    """A condition on the fluent's own value at the point where a rule is tried."""

    value: Term
    positive: bool

    def __str__(self) -> str:
        return f"{'' if self.positive else 'not '}={self.value}"


@dataclass(frozen=True, slots=True)
class Change:
    """One rule of a simple fluent: at these points the value begins or ends.

    The points have the fluent's arguments as fields, and the value as a last field where `value` is None and
    `every` is not set (`every`: a termination of whatever value there is).
    """

    kind: Literal["initiated", "terminated"]
    points: Node
    value: Term | None
    every: bool = False
    states: tuple[State, ...] = ()


@dataclass(frozen=True, slots=True)
class Delay:
    """After `amount` time units, `source` gives way to `target`; rows have the arguments, then the amount."""

    source: Term
    target: Term
    rows: Node | None
    amount: int | None
    postponable: bool


@dataclass(frozen=True, slots=True)
class Inertia:
    """A simple fluent: its value persists from an initiation until it is broken. Fields: arguments, then value.

    `domain` restricts the initial values; `reported` are the values that may hold (None: all): others only end them.
    """

    name: str
    fields: Fields
    changes: tuple[Change, ...]
    delays: tuple[Delay, ...] = ()
    initial: tuple[Node, ...] = ()
    domain: Node | None = None
    reported: tuple[Term, ...] | None = None
    sort: Sort = "intervals"


@dataclass(frozen=True, slots=True)
class Fired:
    """The points at which deadlines of a simple fluent fired: its arguments, then the value they initiated."""

    name: str
    fields: Fields
    sort: Sort = "points"


@dataclass(frozen=True, slots=True)
class Definition:
    """A named result: a fluent (intervals) or a derived event (points)."""

    name: str
    body: Node


@dataclass(frozen=True, slots=True)
class Stratum:
    """Definitions that are evaluated together; a `cyclic` one is repeated until nothing changes."""

    level: int
    definitions: tuple[Definition, ...]
    cyclic: bool = False


@dataclass(frozen=True, slots=True)
class Plan:
    """A whole program: strata in order of evaluation."""

    strata: tuple[Stratum, ...]


@dataclass(frozen=True, slots=True)
class Output:
    """A result to report: a fluent's part (with a fixed value, or the value as last column) or an event.

    `template` says how the arguments are written; `values` are the values to report (None: all).
    """

    definition: str
    template: str
    kind: Literal["fluent", "event"]
    value: Term | None = None
    values: tuple[Term, ...] | None = None


Node = (
    Table | Unit | Events | Fluent | Equal | Same | Select | Compute | Function | Attach | Copy
    | Rename | Uncertain | Project | Join | Without | Union | Vote | Number | Count
    | Boundaries | Runs | Keys | At | Timeless | Always | Lasting | Spans | Allen | Shifted | Since
    | Slice | Inertia | Fired | Spread | Steady | Instants | Aged | Stamped | Departures | Recent | Covered
)


_UNARY = (Project, Rename, Select, Attach, Copy, Compute, Timeless, Uncertain, Equal, Same)


def children_of(node: Node) -> Iterator[Node]:
    """The operands of a node, in order."""
    if isinstance(node, _UNARY):  # most are
        yield node.child
        return
    match node:
        case Join(left, right) | Without(left, right) | Since(left, right):
            yield left
            yield right
        case Allen(_, _, source, target):
            yield source
            yield target
        case Union(children) | Vote(children):
            yield from children
        case Count(child, inner):
            yield child
            yield inner
        case Departures(child, arrivals) | Recent(child, arrivals) | Covered(child, arrivals=arrivals):
            yield child
            if arrivals is not None:
                yield arrivals
        case Lasting(child, rows=rows):
            yield child
            if rows is not None:
                yield rows
        case Inertia():
            for change in node.changes:
                yield change.points
            yield from node.initial
            for delay in node.delays:
                if delay.rows is not None:
                    yield delay.rows
            if node.domain is not None:
                yield node.domain
        case Table() | Unit() | Events() | Fluent() | Fired():
            return
        case _:
            yield node.child


def nodes_in(*roots: Node) -> Iterator[Node]:
    """The nodes of plans, operands after what reads them; a node that is shared comes once."""
    seen: set[int] = set()
    stack = list(roots)
    while stack:
        node = stack.pop()
        if id(node) not in seen:
            seen.add(id(node))
            yield node
            stack.extend(children_of(node))


def needed_for(plan: Plan, wanted: Iterable[str]) -> Plan:
    """The part of a plan that some definitions depend on, themselves included."""
    bodies = {definition.name: definition.body for stratum in plan.strata for definition in stratum.definitions}
    found: set[str] = set()
    todo = [name for name in wanted if name in bodies]
    while todo:
        name = todo.pop()
        if name not in found:
            found.add(name)
            todo.extend(set(references_of(bodies[name])) & bodies.keys())
    strata = [Stratum(s.level, tuple(d for d in s.definitions if d.name in found), s.cyclic) for s in plan.strata]
    return Plan(tuple(stratum for stratum in strata if stratum.definitions))


def references_of(node: Node) -> Iterator[str]:
    """The names of the fluents and events a plan reads, from left to right; what is shared is told once."""
    seen: set[int] = set()
    stack = [node]
    while stack:
        node = stack.pop()
        if id(node) not in seen:
            seen.add(id(node))
            if isinstance(node, Fluent | Events | Fired):
                yield node.name
            else:
                stack.extend(reversed([*children_of(node)]))
