"""Best states of one large component by clingo, through its backend: no text, atoms only where something can change.

At a point with candidates each head has a choice; without any the states stay as they are, so that constraints and
costs of many points fall on the same atoms. The solver counts in whole numbers of 32 bits: other weights are scaled by
a power of two, and refused where that would make different ones equal.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

import clingo
import numpy as np

from eventide.errors import ArrayError
from eventide.kernels.arrays import Array, Mask
from eventide.kernels.votes import Floats

if TYPE_CHECKING:
    from eventide.learning.components import Conditions, GroundProgram

MOST = 1 << 30
"""What all whole weights of a component may add up to."""


class Part(NamedTuple):
    """The optimum of a component: the states of its instances, the numbers of satisfied groundings, its value."""

    holds: Mask
    satisfied: Array
    objective: float


def whole_weights(weights: Floats) -> tuple[Array, float]:
    """Weights as whole numbers with a sum that the solver can hold, and what they were multiplied with.

    Raises ArrayError where two weights, or a weight and 0, would become the same number.

    >>> whole, factor = whole_weights(np.array([0.5, -0.25, 2.0]))
    >>> (whole / factor).tolist()
    [0.5, -0.25, 2.0]
    >>> whole_weights(np.array([1e-12, 1.0]))
    Traceback (most recent call last):
    eventide.errors.ArrayError: weights: 1e-12 and 0.0 are too close for the solver, which counts in 32 bits
    """
    total = float(np.abs(weights).sum())
    if total == 0.0:
        return np.zeros(weights.shape[0], np.int64), 1.0
    if total < MOST and (weights == np.rint(weights)).all():
        return weights.astype(np.int64), 1.0
    factor = 2.0 ** np.floor(np.log2((MOST - weights.shape[0]) / total))
    distinct = np.unique(np.append(weights, 0.0))
    same = np.flatnonzero(np.diff(np.rint(distinct * factor)) == 0)
    if same.size:
        low, high = sorted(distinct[same[0] : same[0] + 2].tolist(), key=abs, reverse=True)
        raise ArrayError("weights", f"{low} and {high} are too close for the solver, which counts in 32 bits")
    return np.rint(weights * factor).astype(np.int64), float(factor)


class _Encoding:
    """The program of one component as it is written: literals are numbers of the solver, negative if denied."""

    def __init__(self, backend: clingo.Backend) -> None:
        self.backend = backend
        self.true = backend.add_atom()
        backend.add_rule([self.true])
        self.losses: dict[int, float] = defaultdict(float)
        """What each literal costs if it is true."""
        self.fewest: list[int] = []

    def both(self, literals: Iterable[int]) -> int:
        """A literal for the conjunction."""
        body = [literal for literal in dict.fromkeys(literals) if literal != self.true]
        if len(body) == 1:
            return body[0]
        return self.some([body]) if body else self.true

    def some(self, bodies: Iterable[Iterable[int]]) -> int:
        """An atom that is true if one of the bodies is."""
        atom = self.backend.add_atom()
        for body in bodies:
            self.backend.add_rule([atom], list(body))
        return atom

    def chosen(self, bodies: Iterable[int]) -> int:
        """An atom that may be chosen where one of the literals is true."""
        atom = self.backend.add_atom()
        for body in bodies:
            self.backend.add_rule([atom], [body], choice=True)
        self.fewest.append(atom)
        return atom


def best_part(program: GroundProgram, inside: Mask, by_vote: bool) -> Part | None:
    """The optimum of the component of the instances `inside`; None if its constraints leave no states."""
    # All models that improve on the one before: the first is not always the best.
    control = clingo.Control(["--models=0", "--opt-mode=opt", "--opt-strategy=usc", "--warn=none"])
    given = program.groundings
    use = np.flatnonzero(inside[given.instances])
    use = use[np.lexsort((given.rules[use], given.initiates[use], given.instances[use], given.points[use]))].tolist()
    bans = np.flatnonzero(inside[_first(program.banned)])
    banned_at: dict[int, list[int]] = defaultdict(list)
    for ban, point in zip(bans.tolist(), program.banned_points[bans].tolist(), strict=True):
        banned_at[point].append(ban)
    heads_at: dict[int, dict[tuple[int, bool], dict[int, list[int]]]] = defaultdict(dict)
    for g in use:
        head = int(given.instances[g]), bool(given.initiates[g])
        heads_at[int(given.points[g])].setdefault(head, {}).setdefault(int(given.rules[g]), []).append(g)

    members = np.flatnonzero(inside).tolist()
    history: list[list[int]] = []
    marks: list[tuple[int, list[int]]] = []  # a literal, and the groundings that are satisfied if it is true
    with control.backend() as backend:
        encoding = _Encoding(backend)
        state = {i: encoding.true if program.before[i] else -encoding.true for i in members}
        for point in range(program.points + 1):
            for ban in banned_at.get(point, ()):
                backend.add_rule([], [state[i] if i >= 0 else -state[~i] for i in _asked(program.banned, ban)])
            if program.costs.size:
                for i in members:
                    off, on = program.costs[:, i, point].tolist()
                    encoding.losses[state[i]] += on
                    encoding.losses[-state[i]] += off
            history.append([state[i] for i in members])
            if point in heads_at:
                state = _step(encoding, program, heads_at[point], state, by_vote, marks)
        _minimise(encoding)
    found: Part | None = None
    with control.solve(yield_=True) as handle:
        for model in handle:  # each improves on the one before
            def is_true(literal: int, model: clingo.Model = model) -> bool:
                return model.is_true(literal) if literal > 0 else not model.is_true(-literal)

            holds = np.array([[is_true(literal) for literal in row] for row in history], np.bool_).T
            satisfied = [g for literal, bodies in marks if is_true(literal) for g in bodies]
            lost = sum(cost for literal, cost in encoding.losses.items() if is_true(literal))
            found = Part(holds, np.array(satisfied, np.int64), -lost)
    return found


def _first(conditions: Conditions) -> Array:
    """The first instance that each condition asks about."""
    literals = conditions.literals[conditions.offsets[:-1]]
    return np.where(literals < 0, ~literals, literals)


def _asked(conditions: Conditions, number: int) -> list[int]:
    return [int(i) for i in conditions.literals[conditions.offsets[number] : conditions.offsets[number + 1]]]


def _step(encoding: _Encoding, program: GroundProgram, heads: dict[tuple[int, bool], dict[int, list[int]]],
          state: dict[int, int], by_vote: bool, marks: list[tuple[int, list[int]]]) -> dict[int, int]:
    """One point with candidates: its choices with their weights, and the states that follow."""
    on: dict[tuple[int, bool], int] = {}
    for head, rules in heads.items():
        bodies = {g: encoding.both(state[i] if i >= 0 else -state[~i]
                                   for i in _asked(program.groundings.conditions, g))
                  for groundings in rules.values() for g in groundings}
        fires = {rule: bodies[groundings[0]] if len(groundings) == 1 else
                 encoding.some([[bodies[g]] for g in groundings]) for rule, groundings in rules.items()}
        if by_vote:
            on[head] = encoding.chosen(fires.values())
            satisfied = {rule: encoding.both([on[head], body]) for rule, body in fires.items()}
        else:
            satisfied = {rule: encoding.chosen([body]) for rule, body in fires.items()}
            on[head] = encoding.some([[atom] for atom in satisfied.values()])
        for rule, literal in satisfied.items():
            encoding.losses[literal] -= float(program.weights[rule])
            groundings = rules[rule]
            marks.extend((encoding.both([literal, bodies[g]]) if len(groundings) > 1 else literal, [g])
                         for g in groundings)
    following = dict(state)
    for i in {instance for instance, _ in heads}:
        stays = [state[i], *([-on[i, False]] if (i, False) in on else [])]
        following[i] = encoding.some([*([[on[i, True]]] if (i, True) in on else []), stays])
    return following


def _minimise(encoding: _Encoding) -> None:
    """What is lost comes first, then the number of choices taken."""
    literals = list(encoding.losses)
    whole, _ = whole_weights(np.array([encoding.losses[literal] for literal in literals]))
    encoding.backend.add_minimize(1, [(literal, int(weight)) for literal, weight in
                                      zip(literals, whole.tolist(), strict=True) if weight])
    encoding.backend.add_minimize(0, [(atom, 1) for atom in encoding.fewest])
