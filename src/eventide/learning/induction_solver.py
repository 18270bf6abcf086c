"""New rules of any length by clingo, for what `induction` does not enumerate. The same task, through the backend API.

The use/try program of Algorithm 2 of Katzouris and Artikis (KR 2020), over signatures and runs instead of time-points:
one atom for each rule and signature, one for each step of a run. Each bottom rule gives one rule at most. The solver
may be stopped by a number of conflicts, so that the same task has the same answer however fast the machine is.
"""

from __future__ import annotations

from typing import NamedTuple

import clingo
import numpy as np

from eventide.errors import EventideError
from eventide.learning.induction import Rule, Search, Task

MOST = 1 << 30
"""What all costs may add up to: the solver counts in 32 bits."""


class Solved(NamedTuple):
    """The best rules that were found, None if there are none below the bound, and whether there are no better ones."""

    rules: tuple[Rule, ...] | None
    cost: int
    proven: bool


def solve(task: Task, search: Search, bound: int | None = None, conflicts: int = 0) -> Solved:
    """The rules of the least cost, if it is below `bound`; after `conflicts` (0: no end) the best that was found.

    Literals, heads and wrong states count as in `induction.induce`; lengths and numbers of rules have no limit.

    >>> from eventide.learning.signatures import chunk_of, signatures_of
    >>> columns = np.array([[1, 0, 0, 0, 0, 0], [0, 0, 0, 1, 0, 0]], bool)
    >>> after = np.array([1, 1, 1, 0, 0, 0], np.int8)
    >>> found = signatures_of([chunk_of(columns, np.zeros(6, bool), after, np.array([0]), 6)], [0], [True])
    >>> truths, both = found.truths([0, 1]), np.eye(2, dtype=bool)
    >>> solve(Task(found, truths, np.ones(2, np.int64), (both, both)), Search()).cost
    3
    """
    runs = task.runs(search)
    total = int(runs.on_costs.sum() + runs.off_costs.sum())
    if total >= MOST:
        raise EventideError(f"{total} mistakes are more than the solver can count; remember fewer batches")
    options = ["--models=0", "--warn=none", "--opt-strategy=usc,k,0,5", "--opt-usc-shrink=min",
               "--opt-mode=opt" + (f",{bound - 1}" if bound is not None else "")]
    if conflicts:
        options.append(f"--solve-limit={conflicts}")
    control = clingo.Control(options)
    uses: list[tuple[bool, int, list[tuple[int, int]]]] = []
    with control.backend() as backend:
        costs: list[tuple[int, int]] = []
        fires: list[dict[int, list[list[int]]]] = [{}, {}]
        signatures = np.unique(runs.signatures).tolist()
        for kind in (0, 1):
            for bottom in task.bottoms[kind]:
                head = backend.add_atom()
                backend.add_rule([head], choice=True)
                costs.append((head, search.literal_cost))
                literals = [(int(number), backend.add_atom()) for number in np.flatnonzero(bottom)]
                for number, atom in literals:
                    backend.add_rule([atom], [head], choice=True)
                    costs.append((atom, int(task.sizes[number]) * search.literal_cost))
                uses.append((bool(kind), head, literals))
                for s in signatures:
                    body = [head, *(-atom for number, atom in literals if not task.truths[number, s])]
                    fires[kind].setdefault(s, []).append(body)
        on = [{s: _some(backend, bodies) for s, bodies in fires[kind].items()} for kind in (0, 1)]
        true = backend.add_atom()
        backend.add_rule([true])
        for j, holds in enumerate(runs.before.tolist()):
            state = true if holds else -true
            for k in range(int(runs.offsets[j]), int(runs.offsets[j + 1])):
                s = int(runs.signatures[k])
                forced = int(runs.forced[s])
                stays = [] if forced == 1 else [[state, *([-on[0][s]] if s in on[0] else [])]]
                sets = [[on[1][s]]] if s in on[1] else []
                state = true if forced == 2 else _some(backend, [*sets, *stays])
                costs += [(state, int(runs.on_costs[k])), (-state, int(runs.off_costs[k]))]
        backend.add_minimize(0, [(literal, cost) for literal, cost in costs if cost])
    best: list[Solved] = []

    def better(model: clingo.Model) -> None:
        rules = [Rule(kind, tuple(number for number, atom in literals if model.is_true(atom)))
                 for kind, head, literals in uses if model.is_true(head)]
        best.append(Solved(tuple(rules), model.cost[0] if model.cost else 0, False))

    result = control.solve(on_model=better)
    proven = bool(result.exhausted)
    return best[-1]._replace(proven=proven) if best else Solved(None, 0 if bound is None else bound, proven)


def _some(backend: clingo.Backend, bodies: list[list[int]]) -> int:
    """An atom that is true if one of the bodies is."""
    atom = int(backend.add_atom())
    for body in bodies:
        backend.add_rule([atom], body)
    return atom
