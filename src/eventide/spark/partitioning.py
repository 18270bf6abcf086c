"""How a plan is spread over buckets of entities, stage by stage. Knows no data and no Spark.

Every definition is owned by one of its columns: the bucket of a row is the hash of its value there, and only that
bucket computes it. What the rows of one owner need follows from pushing the selection `owner = value` down to the
leaves of the definition's body:

- a leaf that has the column needs the rows of the same value: they are sent *by key*;
- a leaf that is joined with a pair of entities, one of them the owner, needs the rows of the *partners* in these pairs:
  they are sent from where they live, to the buckets that ask for them;
- any other leaf is needed whole: it is sent *to all* buckets.

A bucket may hold more rows of a leaf than it needs, never fewer, so what it owns is what one machine would compute.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Literal

from eventide.algebra import nodes as n
from eventide.algebra.evidence import Evidence, Fact
from eventide.algebra.pieces import leaves_of
from eventide.syntax.diagnostics import Diagnostic

FIRED = "fired "
OWNED = "owned "
READING = 0
How = Literal["key", "partner", "all", "one"]


@dataclass(frozen=True, slots=True)
class Guard:
    """A relation of pairs: whoever owns the entity at `key` needs what belongs to the one at `partner`."""

    relation: str
    key: int
    partner: int


@dataclass(frozen=True, slots=True)
class Need:
    """What the owner of a definition's rows needs of a relation: rows by a column, of partners, or all of them."""

    relation: str
    how: How
    column: int = -1
    guard: Guard | None = None


@dataclass(frozen=True, slots=True)
class Send:
    """Rows of a relation go to the buckets of a later stage: by the value of a column, to all, or to the first."""

    relation: str
    how: How
    column: int
    to: int


@dataclass(frozen=True, slots=True)
class Ask:
    """The pairs of a guard tell the homes of the partners, at a stage, which buckets need them."""

    guard: Guard
    at: int


@dataclass(frozen=True, slots=True)
class Relay:
    """At a stage, rows of a relation that live there by a column go on to the buckets that asked for them."""

    relation: str
    column: int
    guard: Guard
    to: int


@dataclass(frozen=True)
class Stage:
    """What is evaluated together in every bucket, and what is sent on afterwards. `owners` are columns by definition,
    None for what only the first bucket evaluates."""

    number: int
    strata: tuple[n.Stratum, ...] = ()
    owners: Mapping[str, int | None] = field(default_factory=dict)
    sends: tuple[Send, ...] = ()
    asks: tuple[Ask, ...] = ()
    relays: tuple[Relay, ...] = ()


@dataclass(frozen=True)
class Partitioning:
    """The stages of a program, the first of which only reads; and what could not be spread, with the reasons."""

    stages: tuple[Stage, ...]
    diagnostics: tuple[Diagnostic, ...] = ()

    @property
    def spread(self) -> bool:
        """Whether only the last stage evaluates, so that every bucket is a run of its own."""
        return not any(stage.strata for stage in self.stages[:-1])

    @property
    def one_bucket(self) -> bool:
        """Whether nothing is spread."""
        return all(owner is None for stage in self.stages for owner in stage.owners.values())


@dataclass(frozen=True, slots=True)
class _Placed:
    stage: int
    owners: Mapping[str, int | None]
    needs: tuple[Need, ...]


def relation_of(leaf: n.Events | n.Fluent | n.Fired) -> str:
    """The name under which the rows of a leaf are sent."""
    return FIRED + leaf.name if isinstance(leaf, n.Fired) else leaf.name


def partitioned(plan: n.Plan, computed: Iterable[str] = ()) -> Partitioning:
    """The stages of a plan; `computed` are the domains whose values rules compute, so that they own nothing."""
    return _Planner(plan, frozenset(computed)).partitioning()


# -- what a definition needs -------------------------------------------------------------------------------------------


def _columns(node: n.Node) -> frozenset[str]:
    return frozenset(n.names(node.fields))


def without_idle_domains(plan: n.Plan) -> n.Plan:
    """The plan without the domains of simple fluents that have no initial values: nothing reads those."""
    def kept(definition: n.Definition) -> n.Definition:
        body = definition.body
        if isinstance(body, n.Inertia) and not body.initial and body.domain is not None:
            return n.Definition(definition.name, replace(body, domain=None))
        return definition

    return n.Plan(tuple(replace(s, definitions=tuple(map(kept, s.definitions))) for s in plan.strata))


class Needs:
    """Pushes the selection by an owner's column down to the leaves of bodies."""

    def __init__(self, plan: n.Plan) -> None:
        self._evidence = Evidence(plan)
        self._relations: dict[str, n.Events | n.Fluent] = {}
        for stratum in plan.strata:
            for definition in stratum.definitions:
                for leaf in leaves_of(definition.body):
                    if isinstance(leaf, n.Events | n.Fluent):
                        self._relations.setdefault(leaf.name, leaf)
        defined = {d.name for s in plan.strata for d in s.definitions}
        self._guards = sorted(self._relations.values(), key=lambda leaf: (leaf.name in defined, leaf.name))

    def of(self, node: n.Node, key: str | None, partners: Mapping[str, Guard]) -> Iterator[Need]:
        """What of its leaves decides the rows of a node with one value of the key and with partners in some columns."""
        columns = _columns(node)
        key = key if key in columns else None
        partners = {name: guard for name, guard in partners.items() if name in columns}
        match node:
            case n.Table() | n.Unit():
                return
            case n.Events() | n.Fluent() | n.Fired():
                yield self._of_leaf(node, key, partners)
            case n.Rename(child, fields):
                old = {new.name: before.name for before, new in zip(child.fields, fields, strict=True)}
                yield from self.of(child, None if key is None else old[key],
                                   {old[name]: guard for name, guard in partners.items()})
            case n.Copy(child, field_, column):
                partners = {column if name == field_.name else name: guard for name, guard in partners.items()}
                yield from self.of(child, column if key == field_.name else key, partners)
            case n.Join(left, right) | n.Without(left, right):
                yield from self.of(left, key, partners if isinstance(node, n.Without)
                                   else {**self._met(right, left, key), **partners})
                yield from self.of(right, key, {**self._met(left, right, key), **partners})
            case n.Inertia():
                value = node.fields[-1].name
                partners = {name: guard for name, guard in partners.items() if name != value}
                for part in n.children_of(node):
                    yield from self.of(part, None if key == value else key, partners)
            case _:
                for part in n.children_of(node):
                    yield from self.of(part, key, partners)

    def _of_leaf(self, leaf: n.Events | n.Fluent | n.Fired, key: str | None, partners: Mapping[str, Guard]) -> Need:
        place = n.names(leaf.fields).index
        relation = relation_of(leaf)
        if key is not None:
            return Need(relation, "key", place(key))
        if partners:
            column = min(partners, key=place)
            return Need(relation, "partner", place(column), partners[column])
        return Need(relation, "all")

    def _met(self, pairs: n.Node, other: n.Node, key: str | None) -> dict[str, Guard]:
        """The columns of a joined node without the key whose values the other side pairs with the key."""
        if key is None or key not in _columns(pairs) or key in _columns(other):
            return {}
        types = {f.name: f.type for f in pairs.fields}
        found: dict[str, Guard] = {}
        for name in n.names(other.fields):
            if name in types and types[name] not in (n.NUMBER, n.UNUSED):
                guard = self._guard(pairs, (key, name), (types[key], types[name]))
                if guard is not None:
                    found[name] = guard
        return found

    def _guard(self, pairs: n.Node, columns: tuple[str, str], types: tuple[str, str]) -> Guard | None:
        """A relation that has every pair of values that a node has in two columns."""
        for leaf in self._guards:
            kinds = [f.type for f in leaf.fields]
            for key, partner in product(range(len(kinds)), repeat=2):
                fact = Fact((leaf.sort, leaf.name), (key, partner))
                if key != partner and (kinds[key], kinds[partner]) == types \
                        and self._evidence.covers(pairs, columns, frozenset((fact,))):
                    return Guard(leaf.name, key, partner)
        return None


# -- where definitions are evaluated -----------------------------------------------------------------------------------


def owner_candidates(definition: n.Definition, computed: frozenset[str]) -> Iterator[int]:
    """The columns that may own the rows of a definition: those of entities, not the value of a simple fluent."""
    fields = definition.body.fields
    for column, found in enumerate(fields[:-1] if isinstance(definition.body, n.Inertia) else fields):
        if found.type not in (n.NUMBER, n.UNUSED) and found.type not in computed:
            yield column


def one_bucket(group: tuple[n.Definition, ...], whole: Sequence[str]) -> Iterator[Diagnostic]:
    """The warning that definitions run in one bucket, if they read anything; `whole` is what they need all of."""
    reads = {name for d in group for name in n.references_of(d.body)}
    if not reads:
        return
    if whole:
        reason = f"every row of it depends on {', '.join(whole)} of all entities"
    elif not reads.isdisjoint(d.name for d in group):
        reason = "no choice of one argument each keeps the cycle within one entity"
    else:
        reason = "no argument of it names an entity"
    names = ", ".join(d.name for d in group)
    yield Diagnostic("warning", "one-bucket", f"{names} runs in one bucket: {reason}", None,
                     "it is right, but no faster with more machines")


class _Planner:
    def __init__(self, plan: n.Plan, computed: frozenset[str]) -> None:
        self._plan = without_idle_domains(plan)
        self._computed = computed
        self._needs = Needs(self._plan)
        self._stages: dict[str, int] = {}
        self._owners: dict[str, int | None] = {}
        self._needed: dict[str, tuple[Need, ...]] = {}
        self._diagnostics: list[Diagnostic] = []

    def partitioning(self) -> Partitioning:
        for stratum in self._plan.strata:
            for group in [stratum.definitions] if stratum.cyclic else [(d,) for d in stratum.definitions]:
                self._place(group)
        return Partitioning(tuple(self._stages_with_sends()), tuple(self._diagnostics))

    def _place(self, group: tuple[n.Definition, ...]) -> None:
        options = list(self._options(group))
        best = min(options, key=_cost, default=None)
        if best is None or self._is_needed_whole(group, best):
            whole = sorted({need.relation for need in best.needs if need.how == "all"}) if best is not None else []
            self._diagnostics.extend(one_bucket(group, whole))
            best = self._in_one_bucket(group)
        for definition in group:
            self._stages[definition.name] = best.stage
            self._owners[definition.name] = best.owners[definition.name]
        self._needed[group[0].name] = best.needs

    def _is_needed_whole(self, group: tuple[n.Definition, ...], option: _Placed) -> bool:
        """Whether spreading a group would send everything it reads to every bucket."""
        whole = {need.relation for need in option.needs if need.how == "all"}
        parts = {need.relation for need in option.needs} - whole
        return bool(whole) and not parts and not any(need.relation in {d.name for d in group} for need in option.needs)

    # -- options ------------------------------------------------------------------------------------------------------

    def _options(self, group: tuple[n.Definition, ...]) -> Iterator[_Placed]:
        """The ways in which a group can be spread: one owner column for each of its definitions."""
        if len(group) == 1:
            for column in self._candidates(group[0]):
                yield from self._option(group, {group[0].name: column})
            return
        seen: set[tuple[tuple[str, int], ...]] = set()
        for column in self._candidates(group[0]):
            owners = self._propagated(group, {group[0].name: column})
            if owners is not None and (known := tuple(sorted(owners.items()))) not in seen:
                seen.add(known)
                yield from self._option(group, owners)

    def _candidates(self, definition: n.Definition) -> Iterator[int]:
        return owner_candidates(definition, self._computed)

    def _propagated(self, group: tuple[n.Definition, ...], owners: dict[str, int]) -> dict[str, int] | None:
        """The owners of all definitions of a cycle that follow from the first's; None if they contradict."""
        bodies = {d.name: d for d in group}
        todo = list(owners)
        while todo:
            definition = bodies[todo.pop()]
            for need in self._of_definition(definition, owners[definition.name]):
                name = need.relation.removeprefix(FIRED)
                if name not in bodies:
                    continue
                if need.how != "key" or need.column not in self._candidates(bodies[name]):
                    return None
                if name not in owners:
                    owners[name] = need.column
                    todo.append(name)
                elif owners[name] != need.column:
                    return None
        return owners if len(owners) == len(group) else None

    def _option(self, group: tuple[n.Definition, ...], owners: Mapping[str, int]) -> Iterator[_Placed]:
        inside = {d.name for d in group}
        needs: list[Need] = []
        for definition in group:
            for need in self._of_definition(definition, owners[definition.name]):
                name = need.relation.removeprefix(FIRED)
                if name not in inside:
                    needs.append(need)
                elif need.how != "key" or need.column != owners[name]:
                    return
        guards = {need.guard.relation for need in needs if need.guard is not None}
        if guards & inside:
            return
        yield _Placed(max(map(self._earliest, needs), default=1), owners, tuple(dict.fromkeys(needs)))

    def _of_definition(self, definition: n.Definition, owner: int) -> Iterator[Need]:
        return self._needs.of(definition.body, definition.body.fields[owner].name, {})

    def _in_one_bucket(self, group: tuple[n.Definition, ...]) -> _Placed:
        inside = {d.name for d in group}
        leaves = [leaf for d in group for leaf in leaves_of(d.body)]
        names = dict.fromkeys(relation_of(leaf) for leaf in leaves
                              if not isinstance(leaf, n.Table) and isinstance(leaf, n.Events | n.Fluent | n.Fired))
        needs = tuple(Need(name, "one") for name in names if name.removeprefix(FIRED) not in inside)
        return _Placed(max(map(self._earliest, needs), default=1), dict.fromkeys(inside), needs)

    # -- stages -------------------------------------------------------------------------------------------------------

    def _at(self, relation: str) -> int:
        """The stage after which a relation is there."""
        return self._stages.get(relation.removeprefix(FIRED), READING)

    def _lives(self, relation: str, need: Need) -> bool:
        """Whether the rows of a relation already are where a need by a column has them."""
        name = relation.removeprefix(FIRED)
        if name not in self._owners:
            return False
        return self._owners[name] is None if need.how == "one" else self._owners[name] == need.column

    def _home(self, need: Need) -> int:
        """The stage at which rows that partners ask for and the questions meet."""
        assert need.guard is not None
        there = self._at(need.relation) + (not self._lives(need.relation, need))
        return max(there, self._at(need.guard.relation) + 1)

    def _earliest(self, need: Need) -> int:
        if need.how == "partner":
            return self._home(need) + 1
        here = need.how != "all" and self._lives(need.relation, need)
        return max(self._at(need.relation) + (not here), 1)

    def _stages_with_sends(self) -> Iterator[Stage]:
        sends: dict[int, dict[Send, None]] = {}
        asks: dict[int, dict[Ask, None]] = {}
        relays: dict[int, dict[Relay, None]] = {}

        def send(need: Need, how: How, to: int) -> None:
            here = how != "all" and self._lives(need.relation, need) and self._at(need.relation) == to
            if not here:
                column = need.column if how == "key" else -1
                sends.setdefault(self._at(need.relation), {})[Send(need.relation, how, column, to)] = None

        for name, needs in self._needed.items():
            stage = self._stages[name]
            for need in needs:
                if need.guard is None:
                    send(need, need.how, stage)
                    continue
                home = self._home(need)
                send(need, "key", home)
                asks.setdefault(self._at(need.guard.relation), {})[Ask(need.guard, home)] = None
                relays.setdefault(home, {})[Relay(need.relation, need.column, need.guard, stage)] = None
        last = max([1, *self._stages.values(), *relays])
        for number in range(last + 1):
            owners = {name: self._owners[name] for name, stage in self._stages.items() if stage == number}
            yield Stage(number, tuple(self._strata(owners)), owners, tuple(least(sends.get(number, {}))),
                        tuple(asks.get(number, {})), tuple(relays.get(number, {})))

    def _strata(self, owners: Mapping[str, int | None]) -> Iterator[n.Stratum]:
        for stratum in self._plan.strata:
            kept = tuple(with_owner(d, owners[d.name]) for d in stratum.definitions if d.name in owners)
            if kept:
                yield replace(stratum, definitions=kept)


def _cost(option: _Placed) -> tuple[int, int, int, tuple[int | None, ...]]:
    whole = len({need.relation for need in option.needs if need.how == "all"})
    asked = sum(need.how == "partner" for need in option.needs)
    return whole, option.stage, asked, tuple(option.owners.values())


def least(sends: Iterable[Send]) -> Iterator[Send]:
    """What must be sent: whatever goes to all buckets need not go by key as well."""
    whole = {(send.relation, send.to) for send in sends if send.how == "all"}
    return (send for send in sends if send.how == "all" or (send.relation, send.to) not in whole)


def with_owner(definition: n.Definition, owner: int | None) -> n.Definition:
    """The definition, of only those rows that the bucket owns: their entities are in a table that the task fills."""
    if owner is None:
        return definition
    body = definition.body
    column = body.fields[owner]
    table = n.Table(OWNED + column.type, (column,))
    if not isinstance(body, n.Inertia):
        return n.Definition(definition.name, n.Join(body, table))
    changes = tuple(replace(change, points=n.Join(change.points, table)) for change in body.changes)
    return n.Definition(definition.name, replace(
        body, changes=changes, initial=tuple(n.Join(rows, table) for rows in body.initial)))


# -- as text -----------------------------------------------------------------------------------------------------------


def places(partitioning: Partitioning) -> dict[str, str]:
    """Where each definition is evaluated: its stage, and the column that owns its rows."""
    found: dict[str, str] = {}
    for stage in partitioning.stages:
        bodies = {d.name: d.body for stratum in stage.strata for d in stratum.definitions}
        for name, owner in stage.owners.items():
            where = "in one bucket" if owner is None else f"by {bodies[name].fields[owner].name}"
            found[name.removeprefix(OWNED)] = f"stage {stage.number}, {where}"
    return found


def to_text(partitioning: Partitioning) -> str:
    """The stages for people: what is evaluated where, and what is sent on."""
    lines: list[str] = []
    where = places(partitioning)
    for stage in partitioning.stages:
        lines.append("reading" if stage.number == READING else f"stage {stage.number}")
        names = (name.removeprefix(OWNED) for name in stage.owners)
        lines.extend(f"  {name} {where[name].partition(', ')[2]}" for name in names)
        for send in stage.sends:
            how = {"key": f"by argument {send.column + 1}", "all": "to all buckets", "one": "to one bucket"}[send.how]
            lines.append(f"  send {send.relation} {how} to stage {send.to}")
        for ask in stage.asks:
            guard = ask.guard
            lines.append(f"  ask by {guard.relation}, argument {guard.partner + 1} for the bucket of argument "
                         f"{guard.key + 1}, at stage {ask.at}")
        for relay in stage.relays:
            lines.append(f"  send {relay.relation} by argument {relay.column + 1} to those that asked by "
                         f"{relay.guard.relation}, to stage {relay.to}")
    lines.extend(problem.render() for problem in partitioning.diagnostics)
    return "\n".join(lines)
