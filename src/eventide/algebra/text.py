"""Plans as text: a tree a person can read. Not parsed back."""

from __future__ import annotations

from collections.abc import Iterator

from eventide.algebra.nodes import (
    Aged,
    Allen,
    At,
    Attach,
    Boundaries,
    Change,
    Compute,
    Copy,
    Count,
    Covered,
    Delay,
    Departures,
    Equal,
    Events,
    Fields,
    Fired,
    Fluent,
    Function,
    Inertia,
    Join,
    Lasting,
    Node,
    Number,
    Plan,
    Project,
    Recent,
    Rename,
    Same,
    Select,
    Shifted,
    Since,
    Slice,
    Spans,
    Spread,
    Stamped,
    Steady,
    Table,
    Uncertain,
    Union,
    Unit,
    Vote,
    Without,
    children_of,
    names,
)

_JOINS = {
    ("points", "points"): "at the same time", ("points", "intervals"): "during", ("intervals", "points"): "during",
    ("intervals", "intervals"): "intersect",
}


def _list(fields: Fields) -> str:
    return ", ".join(names(fields))


def _pair(fields: Fields) -> str:
    arguments, value = names(fields[:-1]), fields[-1].name
    return f"({', '.join(arguments)})={value}" if arguments else f"={value}"


def _bounds(node: Shifted | Since) -> str:
    left, right = "(" if node.low_open else "[", ")" if node.high_open or node.high is None else "]"
    return f"{left}{node.low}, {'inf' if node.high is None else node.high}{right}"


def _by(columns: tuple[str, ...]) -> str:
    return f" by {', '.join(columns)}" if columns else ""


def _leaves(size: int, by: tuple[str, ...] | None) -> str:
    return f"when {size} later facts have come{_by(by or ())}"


def label(node: Node) -> str:
    """One line that says what a node does, without its operands."""
    match node:
        case Table(name, fields):
            return f"table {name}({_list(fields)})"
        case Unit():
            return "one empty row"
        case Events(name, fields):
            return f"event {name}({_list(fields)})"
        case Fluent(name, fields, valued):
            return f"fluent {name}{_pair(fields)}" if valued else f"fluent {name}({_list(fields)})"
        case At(_, time):
            return f"holding at {time}"
        case Function(_, name, inputs, outputs):
            call = f"{name}({', '.join(map(str, inputs))})"
            return f"let {_list(outputs)} = {call}" if outputs else f"where {call}"
        case Attach(_, field, value):
            return f"let {field.name} = {value}"
        case Copy(_, field, column):
            return f"let {field.name} = {column}"
        case Rename(child, fields):
            pairs = [f"{old.name} as {new.name}" for old, new in zip(child.fields, fields, strict=True) if old != new]
            return f"call {', '.join(pairs)}" if pairs else "the same"
        case Fired(name, fields):
            return f"deadlines of {name}{_pair(fields)}"
        case Equal(_, column, value):
            return f"where {column} = {value}"
        case Same(_, left, right):
            return f"where {left} = {right}"
        case Select(_, test):
            return f"where {test}"
        case Uncertain(_, probability):
            return f"each with probability {probability}"
        case Compute(_, field, expression):
            return f"let {field.name} = {expression}"
        case Project(_, columns):
            return f"keep {', '.join(columns) or 'no column'}"
        case Join(left, right):
            how = _JOINS.get((left.sort, right.sort), "join")
            common = [n for n in names(left.fields) if n in names(right.fields)]
            return f"{how}{' on ' + ', '.join(common) if common else ''}"
        case Without(left, right):
            common = [n for n in names(left.fields) if n in names(right.fields)]
            return f"without{' on ' + ', '.join(common) if common else ''}"
        case Union():
            return "union"
        case Vote():
            return "where the weights have a positive sum"
        case Number(_, column):
            return f"number the rows as {column}"
        case Count(_, _, number, field):
            return f"let {field.name} = how many per {number}"
        case Boundaries(_, kind):
            return f"{kind} of each interval"
        case Lasting(_, comparison, amount):
            return f"{comparison} than {amount}"
        case Spans(_, start, end, test):
            return f"intervals [{start}, {end}) where {test}"
        case Allen(relation, mode):
            return f"{relation}, giving {mode.replace('_', ' ')}"
        case Shifted(_, kind, low, high):
            return f"{kind} by {low}" if kind == "shift" else f"{kind} by {_bounds(node)}"
        case Since(left, right):
            common = [n for n in names(left.fields) if n in names(right.fields)]
            return f"since {_bounds(node)}{' on ' + ', '.join(common) if common else ''}"
        case Slice(_, low, high):
            return f"cut to [{low}, {high})"
        case Spread(_, size, stamp, until):
            span = f"until {until}" if until is not None else "from then on" if size is None else f"for [0, {size}]"
            return span if stamp is None else f"{span}, as {stamp}"
        case Steady(_, size):
            return "at all time-points" if size is None else f"at all time-points of the last {size}"
        case Aged(_, stamp, size):
            return f"while {stamp} is in the last {size}"
        case Stamped(_, stamp, expression):
            return f"let {stamp} = {expression}, from then on"
        case Departures(_, _, _, by, size, field):
            return f"let {field.name} = {_leaves(size, by)}"
        case Recent(_, arrivals, stamp, size):
            return f"while {stamp} is in the last {size} facts{_by(names(arrivals.fields))}"
        case Covered(_, stamp, size, arrivals):
            last = "" if size is None else f" of the last {size}"
            counted = "" if arrivals is None else f" facts{_by(names(arrivals.fields))}"
            return f"{stamp} takes all time-points{last}{counted}"
        case Inertia(name, fields):
            return f"inertia {name}{_pair(fields)}"
        case _:
            return type(node).__name__.lower()


def _change(change: Change) -> str:
    value = "every value" if change.every else "its value" if change.value is None else str(change.value)
    state = "".join(f" if {s}" for s in change.states)
    return f"{change.kind} {value}{state}:"


def _delay(delay: Delay) -> str:
    amount = delay.amount if delay.amount is not None else "a delay per row"
    return f"{delay.source} becomes {delay.target} after {amount}{', postponable' if delay.postponable else ''}"


def _lines(node: Node, depth: int) -> Iterator[str]:
    pad = "  " * depth
    yield pad + label(node)
    if isinstance(node, Inertia):
        for change in node.changes:
            yield f"{pad}  {_change(change)}"
            yield from _lines(change.points, depth + 2)
        for delay in node.delays:
            yield f"{pad}  {_delay(delay)}"
            if delay.rows is not None:
                yield from _lines(delay.rows, depth + 2)
        for rows in node.initial:
            yield f"{pad}  initially:"
            yield from _lines(rows, depth + 2)
        if node.domain is not None:
            yield f"{pad}  for:"
            yield from _lines(node.domain, depth + 2)
        return
    if isinstance(node, Vote):
        for child, weight in zip(node.children, node.weights, strict=True):
            yield f"{pad}  {'in any case' if weight is None else f'weight {weight!r}'}:"
            yield from _lines(child, depth + 2)
        yield from (f"{pad}  weight {weight!r} wherever one of them applies" for _, weight in node.everywhere)
        return
    for child in children_of(node):
        yield from _lines(child, depth + 1)


def to_text(plan: Plan | Node) -> str:
    """The plan as an indented tree."""
    if not isinstance(plan, Plan):
        return "\n".join(_lines(plan, 0))
    parts: list[str] = []
    for stratum in plan.strata:
        parts.append(f"level {stratum.level}{' (cycle: repeated until nothing changes)' if stratum.cyclic else ''}")
        for definition in stratum.definitions:
            parts.append(f"  {definition.name} :=")
            parts.extend(_lines(definition.body, 2))
    return "\n".join(parts)
