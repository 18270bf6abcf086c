"""Programs whose windows need entities together: every bucket is a run of its own, over copies of the facts it needs.

Several stages would have to agree on what holds at every query time. Instead the selection by an owner is pushed down
through all definitions to the input, and facts of partners are copied to whoever needs them; only one stage evaluates,
and each bucket reports the rows that it owns. Knows no data and no Spark.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from eventide.algebra import nodes as n
from eventide.spark.partitioning import (
    FIRED,
    OWNED,
    READING,
    Ask,
    Guard,
    Need,
    Needs,
    Partitioning,
    Relay,
    Send,
    Stage,
    one_bucket,
    owner_candidates,
    partitioned,
    with_owner,
    without_idle_domains,
)
from eventide.syntax.diagnostics import Diagnostic

Facts = frozenset[Need]


def with_copies(plan: n.Plan, computed: frozenset[str], why: str = "windows") -> Partitioning:
    """The plan in one stage, after one that copies the facts of partners where there are any; `why` one is needed."""
    return _Copies(without_idle_domains(plan), computed, why).partitioning()


def apart(plan: n.Plan, computed: frozenset[str], why: str = "windows") -> Partitioning:
    """Stages of which only the last evaluates: those of the plan if they are so, else `with_copies`."""
    found = partitioned(plan, computed)
    return found if found.spread else with_copies(plan, computed, why)


class _Copies:
    def __init__(self, plan: n.Plan, computed: frozenset[str], why: str) -> None:
        self._plan, self._computed, self._why = plan, computed, why
        self._needs = Needs(plan)
        self._bodies = {d.name: d.body for s in plan.strata for d in s.definitions}

    def partitioning(self) -> Partitioning:
        owners: dict[str, int | None] = {}
        facts: set[Need] = set()
        diagnostics: list[Diagnostic] = []
        for stratum in self._plan.strata:
            for definition in stratum.definitions:
                options = {column: self._facts(definition.name, column)
                           for column in owner_candidates(definition, self._computed)}
                owner = min(options, key=lambda c: (*_cost(options[c]), len(options[c] - facts), c), default=None)
                if owner is not None and (not options[owner] or any(need.how != "all" for need in options[owner])):
                    owners[definition.name] = owner
                    facts |= options[owner]
                    continue
                owners[definition.name] = None
                facts |= {Need(need.relation, "one") for need in self._whole(definition.name)}
                whole = sorted({need.relation for need in options[owner]}) if owner is not None else []
                diagnostics.extend(one_bucket((definition,), whole))
        relations = {need.relation for need in facts}
        if relations and relations == {need.relation for need in facts if need.how == "all"}:
            owners, facts = dict.fromkeys(owners), {Need(relation, "one") for relation in relations}
            diagnostics = [Diagnostic(
                "warning", "one-bucket", f"the program runs in one bucket: with {self._why}, every bucket would need "
                f"all facts of {', '.join(sorted(relations))}", None, f"without {self._why} it may be spread")]
        return Partitioning(tuple(self._stages(owners, facts)), tuple(diagnostics))

    def _facts(self, name: str, column: int) -> Facts:
        """The facts that decide the rows of a definition with one value in a column."""
        return frozenset(self._below(Need(name, "key", column), set()))

    def _whole(self, name: str) -> Facts:
        return frozenset(self._below(Need(name, "all"), set()))

    def _below(self, need: Need, seen: set[Need]) -> Iterator[Need]:
        """What a need of a definition comes to in the input."""
        if need in seen:
            return
        seen.add(need)
        body = self._bodies.get(need.relation.removeprefix(FIRED))
        if body is None:
            yield need
            return
        key = None if need.how == "all" else body.fields[need.column].name
        for below in self._needs.of(body, key, {}):
            if below.how == "key" and need.how == "partner":
                below = replace(below, how="partner", guard=need.guard)
            elif below.how == "partner" and (need.how == "partner" or self._is_derived(below.guard)):
                below = Need(below.relation, "all")  # partners of partners, or pairs that are not in the input
            yield from self._below(below, seen)

    def _is_derived(self, guard: Guard | None) -> bool:
        return guard is not None and guard.relation in self._bodies

    def _stages(self, owners: dict[str, int | None], facts: set[Need]) -> Iterator[Stage]:
        whole = {need.relation for need in facts if need.how == "all"}
        needs = sorted((need for need in facts if need.how == "all" or need.relation not in whole), key=repr)
        partners = [need for need in needs if need.guard is not None]
        last = 2 if partners else 1
        sends = [Send(need.relation, need.how, need.column, last) for need in needs if need.guard is None]
        sends += [Send(need.relation, "key", need.column, 1) for need in partners]
        asks = tuple(dict.fromkeys(Ask(need.guard, 1) for need in partners if need.guard is not None))
        yield Stage(READING, sends=tuple(dict.fromkeys(sends)), asks=asks)
        if partners:
            yield Stage(1, relays=tuple(Relay(need.relation, need.column, need.guard, last) for need in partners
                                        if need.guard is not None))
        reported = tuple(self._reported(name, owner) for name, owner in owners.items())
        strata = (*self._plan.strata, n.Stratum(len(self._plan.strata) + 1, reported))
        yield Stage(last, strata, {OWNED + name: owner for name, owner in owners.items()})

    def _reported(self, name: str, owner: int | None) -> n.Definition:
        """The rows of a definition that a bucket reports."""
        body = self._bodies[name]
        leaf: n.Node = n.Events(name, body.fields) if body.sort == "points" else n.Fluent(
            name, body.fields, valued=isinstance(body, n.Inertia))
        return with_owner(n.Definition(OWNED + name, leaf), owner)


def _cost(facts: Facts) -> tuple[int, int]:
    return len({need.relation for need in facts if need.how == "all"}), sum(need.how == "partner" for need in facts)
