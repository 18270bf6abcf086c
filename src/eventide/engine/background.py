"""Background relations: their clauses are joins over tables, evaluated once, before any fact is looked at.

Relations that are defined through themselves are evaluated semi-naively (Bancilhon and Ramakrishnan, SIGMOD 1986): a
round joins what the round before derived anew with all that is known, until nothing new comes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from eventide.algebra import nodes as n
from eventide.engine.budget import OverBudget, allow
from eventide.engine.domains import GrowthError, more_room
from eventide.engine.executor import Executor
from eventide.engine.loading import Store
from eventide.engine.relation import Rows, Space, Timeline, distinct, pack_rows, unpack
from eventide.errors import RuleError
from eventide.kernels.arrays import Array
from eventide.kernels.joins import contains
from eventide.kernels.sorting import sort_points

MOST_ROUNDS = 10_000
MOST_ROWS = 20_000_000
"""Beyond these a recursion that computes values is taken for one without end; others end by themselves."""
_NEW = "new in "


def add_background(store: Store, plan: n.Plan) -> None:
    """Evaluate the relations of a plan over the tables of a store, where they become tables too."""
    if not plan.strata:
        return
    spare, growing = 1, set[str]()
    while True:
        for name, domain in store.domains.items():
            domain.fix(spare if name in growing else 0)
        run = _Background(store)
        try:
            run.run_all(plan)
            break
        except GrowthError as growth:
            spare = more_room(spare, growth)
            growing.add(str(growth))
        finally:
            for domain in store.domains.values():
                domain.open()
    for stratum in plan.strata:
        for definition in stratum.definitions:
            store.tables[definition.name] = run.known[definition.name]
    store.rounds |= run.rounds


class _Known:
    """The rows of a relation as sorted lists, each more than twice as long as the next, so that adding costs little."""

    def __init__(self) -> None:
        self._runs: list[Array] = []
        self.parts: list[Array] = []
        """What each round has added."""
        self.length = 0

    def add(self, points: Array) -> Array:
        """Add points; what of them is new, ascending."""
        new = distinct(points)
        for run in self._runs:
            new = new[~contains(new, run)]
        self.parts.append(new)
        self.length += new.shape[0]
        if new.shape[0]:
            self._runs.append(new)
        while len(self._runs) > 1 and self._runs[-2].shape[0] < 2 * self._runs[-1].shape[0]:
            last = self._runs.pop()
            self._runs[-1] = sort_points(np.concatenate((self._runs[-1], last)))
        return new


@dataclass(frozen=True)
class _Step:
    """What a clause derives from the new rows of one relation that it reads."""

    name: str
    read: str
    body: n.Node
    changing: tuple[int, ...]
    """The nodes, by their ids, that give something else in every round."""


class _Background(Executor):
    """Evaluates relations, each over those before it."""

    def __init__(self, store: Store) -> None:
        self.known: dict[str, Rows] = dict(store.tables)
        self.rounds: dict[str, Array] = {}
        super().__init__(Space(store.domains, Timeline(0, 1, 1, 0, 0)), {}, self.known, functions=store.functions)

    def run_all(self, plan: n.Plan) -> None:
        """Evaluate every relation."""
        for stratum in plan.strata:
            try:
                if stratum.cyclic:
                    self._recur(stratum.definitions)
                else:
                    for definition in stratum.definitions:
                        rows = self.distinct_rows(self.rows_of(definition.body))
                        self.known[definition.name] = rows.rename(definition.body.fields)
            except OverBudget as problem:
                raise problem.of([definition.name for definition in stratum.definitions]) from None
            self._memo.clear()

    def _recur(self, definitions: Sequence[n.Definition]) -> None:
        fields = {definition.name: definition.body.fields for definition in definitions}
        found = {name: _Known() for name in fields}
        steps = [step for definition in definitions for step in _steps(definition, fields.keys())]
        others = {each.name for step in steps for each in n.nodes_in(step.body) if isinstance(each, n.Table)}
        computes = any(isinstance(each, n.Compute | n.Count | n.Function)
                       for step in steps for each in n.nodes_in(step.body) if id(each) in step.changing)
        new = {definition.name: found[definition.name].add(self._seed(definition, fields.keys()))
               for definition in definitions}
        while any(points.shape[0] for points in new.values()):
            for name, points in new.items():
                self.known[_NEW + name] = self._rows(fields[name], points)
                if name in others:
                    self.known[name] = self._rows(fields[name], np.concatenate(found[name].parts))
            derived: dict[str, list[Array]] = {name: [] for name in fields}
            for step in steps:
                if new[step.read].shape[0]:
                    derived[step.name].append(self._packed(step.body, fields[step.name]))
                    for node in step.changing:
                        self._memo.pop(node, None)
            new = {name: found[name].add(np.concatenate([*points, np.empty(0, np.int64)]))
                   for name, points in derived.items()}
            rows = sum(known.length for known in found.values())
            allow(rows)
            if computes:
                self._check_end(fields, len(next(iter(found.values())).parts), rows)
        for name, known in found.items():
            self.known.pop(_NEW + name, None)
            self.known[name] = self._rows(fields[name], np.concatenate(known.parts))
            self.rounds[name] = np.cumsum([part.shape[0] for part in known.parts])

    def _seed(self, definition: n.Definition, names: Any) -> Array:
        """What the clauses give that read none of the relations."""
        found = [self._packed(clause, definition.body.fields) for clause in _clauses(definition.body)
                 if not any(_reads(node, names) for node in n.nodes_in(clause))]
        return np.concatenate([*found, np.empty(0, np.int64)])

    def _packed(self, node: n.Node, fields: n.Fields) -> Array:
        rows = self.rows_of(node)
        return pack_rows(self.space, rows.rename(fields), fields)

    def _rows(self, fields: n.Fields, points: Array) -> Rows:
        return Rows(fields, unpack(self.space, fields, points), int(points.shape[0]), timed=False)

    def _check_end(self, fields: dict[str, n.Fields], rounds: int, rows: int) -> None:
        if rounds > MOST_ROUNDS or rows > MOST_ROWS:
            raise RuleError("endless-recursion", f"{', '.join(sorted(fields))} computes new values of its own values, "
                            f"and found no end after {rounds} rounds", "bound the values with a condition",
                            sorted(fields))


def _reads(node: n.Node, names: Any) -> bool:
    return isinstance(node, n.Table) and node.name in names


def _clauses(body: n.Node) -> tuple[n.Node, ...]:
    return body.children if isinstance(body, n.Union) else (body,)


def _steps(definition: n.Definition, names: Any) -> Iterator[_Step]:
    """For every place where a clause reads one of the relations, the clause with its new rows in that place."""
    for clause in _clauses(definition.body):
        for leaf in [node for node in n.nodes_in(clause) if _reads(node, names)]:
            assert isinstance(leaf, n.Table)
            body = _exchanged(clause, {id(leaf): replace(leaf, name=_NEW + leaf.name)})
            changing = _above(body, {*names, _NEW + leaf.name}, {})
            yield _Step(definition.name, leaf.name, body, tuple(changing))


def _exchanged(node: n.Node, known: dict[int, n.Node]) -> n.Node:
    """A node with others, by their ids, in the place of some; what is shared stays shared."""
    found = known.get(id(node))
    if found is not None:
        return found
    match node:
        case n.Table() | n.Unit():
            result: n.Node = node
        case n.Join(left, right) | n.Without(left, right):
            result = replace(node, left=_exchanged(left, known), right=_exchanged(right, known))
        case n.Count(child, inner):
            result = replace(node, child=_exchanged(child, known), inner=_exchanged(inner, known))
        case n.Union(children):
            result = replace(node, children=tuple(_exchanged(child, known) for child in children))
        case _:
            (child,) = n.children_of(node)
            unary: Any = node
            result = replace(unary, child=_exchanged(child, known))
    known[id(node)] = result
    return result


def _above(node: n.Node, names: set[str], known: dict[int, bool]) -> list[int]:
    """The nodes, by their ids, that read some tables."""
    def reads(each: n.Node) -> bool:
        if id(each) not in known:
            known[id(each)] = _reads(each, names) | any([reads(child) for child in n.children_of(each)])
        return known[id(each)]

    reads(node)
    return [each for each, found in known.items() if found]
