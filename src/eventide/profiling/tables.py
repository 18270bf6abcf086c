"""A profile as tables: what each rule cost, and what each operator. Shared work is told apart, and adds up."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass

from eventide.engine.profile import Profile
from eventide.profiling.owners import Owner, Owners

_UNITS = ("B", "kB", "MB", "GB")


@dataclass
class RuleCost:
    """What a rule cost: seconds of its own work, and its part of the work that it shares with others."""

    rule: str
    place: str
    own: float = 0.0
    shared: float = 0.0
    shared_with: int = 0
    """With how many other rules."""
    calls: int = 0
    rows: int = 0
    bytes: int = 0
    """Of the largest results of its operators, together."""

    @property
    def seconds(self) -> float:
        """All of it."""
        return self.own + self.shared


@dataclass
class OperatorCost:
    """What all nodes of one kind cost."""

    operator: str
    nodes: int = 0
    calls: int = 0
    seconds: float = 0.0
    rows: int = 0
    bytes: int = 0


def rule_costs(profile: Profile, owners: Owners) -> list[RuleCost]:
    """The rules, the dearest first; the time of shared nodes is divided among the rules that share them."""
    found: dict[Owner, RuleCost] = {}
    partners: dict[Owner, set[Owner]] = {}
    for frame in profile.root.walk():
        if frame.node is None:
            continue
        those = owners.of(frame.node)
        for owner in those:
            cost = found.setdefault(owner, RuleCost(owner.title, owner.place))
            if len(those) == 1:
                cost.own += frame.own / 1e9
                cost.calls += frame.calls
                cost.rows += frame.rows
                cost.bytes += frame.bytes
            else:
                cost.shared += frame.own / 1e9 / len(those)
                partners.setdefault(owner, set()).update(those)
    for owner, others in partners.items():
        found[owner].shared_with = len(others) - 1
    return sorted(found.values(), key=lambda cost: -cost.seconds)


def operator_costs(profile: Profile) -> list[OperatorCost]:
    """The kinds of operators, the dearest first."""
    found: dict[str, OperatorCost] = {}
    seen: set[int] = set()
    for frame in profile.root.walk():
        if frame.node is None:
            continue
        cost = found.setdefault(type(frame.node).__name__.lower(), OperatorCost(type(frame.node).__name__.lower()))
        cost.nodes += id(frame.node) not in seen
        seen.add(id(frame.node))
        cost.calls += frame.calls
        cost.seconds += frame.own / 1e9
        cost.rows += frame.rows
        cost.bytes += frame.bytes
    return sorted(found.values(), key=lambda cost: -cost.seconds)


def rule_lines(costs: Sequence[RuleCost], most: int = 15) -> Iterator[str]:
    """The dearest rules as a table."""
    total = sum(cost.seconds for cost in costs) or 1.0
    header = ("%", "seconds", "own", "shared", "rows", "memory", "rule")
    rows = [(f"{100 * cost.seconds / total:.1f}", f"{cost.seconds:.4f}", f"{cost.own:.4f}",
             f"{cost.shared:.4f}" if cost.shared_with else "", str(cost.rows), size_text(cost.bytes),
             f"{cost.rule}  {cost.place.rpartition('/')[2]}".rstrip()) for cost in costs[:most]]
    yield from _aligned([header, *rows])
    if len(costs) > most:
        rest = sum(cost.seconds for cost in costs[most:])
        yield f"the other {len(costs) - most} took {rest:.4f} s"


def operator_lines(costs: Sequence[OperatorCost]) -> Iterator[str]:
    """The operators as a table."""
    total = sum(cost.seconds for cost in costs) or 1.0
    rows = [(f"{100 * cost.seconds / total:.1f}", f"{cost.seconds:.4f}", str(cost.nodes), str(cost.calls),
             str(cost.rows), size_text(cost.bytes), cost.operator) for cost in costs]
    yield from _aligned([("%", "seconds", "nodes", "calls", "rows", "memory", "operator"), *rows])


def as_dicts(costs: Iterable[RuleCost] | Iterable[OperatorCost]) -> list[dict[str, object]]:
    """The same as plain data."""
    return [asdict(cost) for cost in costs]


def size_text(amount: int) -> str:
    """A number of bytes for people.

    >>> size_text(0), size_text(2_500_000)
    ('0 B', '2.5 MB')
    """
    size, unit = float(amount), 0
    while size >= 1000 and unit < len(_UNITS) - 1:
        size, unit = size / 1000, unit + 1
    return f"{size:.1f} {_UNITS[unit]}" if unit else f"{amount} B"


def _aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Rows as text; all columns but the last are numbers."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]) - 1)]
    for row in rows:
        yield "  ".join([*(cell.rjust(width) for cell, width in zip(row, widths, strict=False)), row[-1]])
