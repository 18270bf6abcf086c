"""Best states where rules or constraints ask about the states themselves, or labels pull at them.

Fluent instances that occur together in a body or a constraint form a component. A small one is a longest path over its
2^k states (`kernels.best_paths`), a large one is left to clingo (`solver`). Both are exact. Where nothing is coupled,
`inference` gives the same without a search.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from eventide.errors import ArrayError, EventideError
from eventide.kernels.arrays import Array, Mask, check_array, check_same_length
from eventide.kernels.best_paths import MOST_FLUENTS, SET, Bans, Candidates, best_paths, connected
from eventide.kernels.votes import Floats, check_offsets
from eventide.learning import solver
from eventide.learning.inference import Mode, check_mode

LARGEST = 10
"""Fluent instances of a component that still go by dynamic programming: it was faster on random programs."""


class Conditions(NamedTuple):
    """What bodies ask of the states: number i asks for `literals[offsets[i] : offsets[i+1]]`.

    A literal is an instance that must hold, or `~instance` for one that must not.
    """

    offsets: Array
    literals: Array

    @classmethod
    def of(cls, bodies: list[list[int]]) -> Conditions:
        """Conditions from lists.

        >>> Conditions.of([[0, ~1], []]).offsets.tolist()
        [0, 2, 2]
        """
        offsets = np.cumsum([0, *map(len, bodies)], dtype=np.int64)
        return cls(offsets, np.array([literal for body in bodies for literal in body], np.int64))

    def owners(self) -> Array:
        """For each literal, whose it is."""
        return np.repeat(np.arange(self.offsets.shape[0] - 1), np.diff(self.offsets))


NOTHING = Conditions(np.zeros(1, np.int64), np.empty(0, np.int64))


class Groundings(NamedTuple):
    """Bodies that are true as far as the input goes, each with its point, instance, kind, rule, and what it asks.

    Several bodies of one rule for the same head and point are alternatives: the rule counts once.
    """

    points: Array
    instances: Array
    initiates: Mask
    rules: Array
    conditions: Conditions


@dataclass(frozen=True, slots=True, eq=False)
class GroundProgram:
    """Rules and constraints without variables, over points 0 .. `points`, the last being the one after all bodies."""

    points: int
    before: Mask
    """The state of each instance at point 0."""
    weights: Floats
    """A weight for each rule."""
    groundings: Groundings
    banned_points: Array = field(default_factory=lambda: np.empty(0, np.int64))
    banned: Conditions = NOTHING
    """States that may not be: conditions that are never met together at their point."""
    costs: Floats = field(default_factory=lambda: np.empty((0, 0, 0)))
    """`costs[h, i, t]` is lost if instance i has state h at t; none if empty. See `label_costs`."""

    def __post_init__(self) -> None:
        given = self.groundings
        number, instances = given.points.shape[0], self.before.shape[0]
        check_array("before", self.before, np.bool_)
        check_array("weights", self.weights, np.float64)
        if not np.isfinite(self.weights).all():
            raise ArrayError("weights", "not a finite number", int(np.flatnonzero(~np.isfinite(self.weights))[0]))
        check_array("initiates", given.initiates, np.bool_)
        check_same_length("initiates", given.initiates, "points", number)
        for name, array, length, most in (
                ("points", given.points, number, self.points), ("instances", given.instances, number, instances),
                ("rules", given.rules, number, self.weights.shape[0]),
                ("banned_points", self.banned_points, self.banned_points.shape[0], self.points + 1)):
            check_array(name, array)
            check_same_length(name, array, "points", length)
            _check_range(name, array, 0, most)
        for conditions, bodies in ((given.conditions, number), (self.banned, self.banned_points.shape[0])):
            check_offsets(conditions.offsets, conditions.literals.shape[0])
            check_same_length("conditions", conditions.offsets[1:], "points", bodies)
            _check_range("conditions", conditions.literals, -instances, instances)
        check_array("costs", self.costs[:0].reshape(-1), np.float64)
        if self.costs.size and self.costs.shape != (2, instances, self.points + 1):
            raise ArrayError("costs", f"expected the shape {(2, instances, self.points + 1)}, got {self.costs.shape}")


class Best(NamedTuple):
    """An optimum: the states of instances by points, the satisfied groundings, the sum of weights less the costs."""

    holds: Mask
    satisfied: Mask
    objective: float


def _check_range(name: str, array: Array, least: int, most: int) -> None:
    wrong = np.flatnonzero((array < least) | (array >= most))
    if wrong.size:
        raise ArrayError(name, f"{array[wrong[0]]} is not within {least} .. {most - 1}", int(wrong[0]))


def label_costs(labels: Mask, cost: float = 1.0) -> Floats:
    """What wrong states cost: `cost` each. With a negative one wrong states are favoured, as for a margin.

    >>> label_costs(np.array([[True, False]])).tolist()
    [[[1.0, 0.0]], [[0.0, 1.0]]]
    """
    return np.stack([labels, ~labels]) * cost


def components(program: GroundProgram) -> Array:
    """The component of each instance, numbered 0, 1, ...: who stands with whom in a body or a constraint.

    >>> given = Groundings(*[np.array([0])] * 2, np.array([True]), np.array([0]), Conditions.of([[~2]]))
    >>> components(GroundProgram(1, np.zeros(3, bool), np.ones(1), given)).tolist()
    [0, 1, 0]
    """
    asks, bans = program.groundings.conditions, program.banned
    asked, banned = _instances(asks.literals), _instances(bans.literals)
    left = program.groundings.instances[asks.owners()], banned[bans.offsets[:-1][bans.owners()]]
    return connected(program.before.shape[0], np.concatenate(left), np.concatenate([asked, banned]))


def _instances(literals: Array) -> Array:
    return np.where(literals < 0, ~literals, literals)


def best_states(program: GroundProgram, mode: Mode = "vote", largest: int = LARGEST) -> Best:
    """The states with the greatest sum of weights of satisfied groundings less costs; ties go to the fewest satisfied.

    Components of up to `largest` instances go by dynamic programming, the others by clingo. Raises EventideError if
    the constraints leave no states. A rule that is worth 3 as long as f holds makes initiating f worth its -2:

    >>> given = Groundings(np.array([0, 1]), np.array([0, 1]), np.array([True, True]), np.array([0, 1]),
    ...                    Conditions.of([[], [0]]))
    >>> best = best_states(GroundProgram(2, np.zeros(2, bool), np.array([-2.0, 3.0]), given))
    >>> best.holds.astype(int).tolist(), best.objective
    ([[0, 1, 1], [0, 0, 1]], 1.0)
    """
    check_mode(mode)
    if mode == "crisp":
        raise ArrayError("mode", "crisp inference has no optimum to look for; expected vote or algorithm1")
    if not 0 <= largest <= MOST_FLUENTS:
        raise ArrayError("largest", f"expected a number within 0 .. {MOST_FLUENTS}, got {largest}")
    component = components(program)
    sizes = np.bincount(component)
    best = _by_paths(program, component, sizes <= largest, mode)
    for c in np.flatnonzero(sizes > largest):
        inside = component == c
        part = solver.best_part(program, inside, mode == "vote")
        if part is None:
            raise _stuck(inside)
        best.holds[inside] = part.holds
        best.satisfied[part.satisfied] = True
        best = best._replace(objective=best.objective + part.objective)
    return best


def _stuck(inside: Mask) -> EventideError:
    numbers = ", ".join(map(str, np.flatnonzero(inside)[:5]))
    return EventideError(f"the constraints leave no states for the instances {numbers}"
                         f"{', ...' if np.count_nonzero(inside) > 5 else ''}; "
                         "a constraint is broken whatever rules are satisfied, or by the states carried over")


def _by_paths(program: GroundProgram, component: Array, small: Mask, mode: Mode) -> Best:
    """The optimum of the small components; nothing holds in the others."""
    number = np.cumsum(small) - 1
    members = np.flatnonzero(small[component])
    members = members[np.argsort(component[members], kind="stable")]
    total = int(np.count_nonzero(small))
    firsts = np.searchsorted(number[component[members]], np.arange(total + 1))
    place = np.zeros(component.shape[0], np.int64)
    place[members] = np.arange(members.shape[0]) - firsts[number[component[members]]]

    given = program.groundings
    asked, wanted, possible = _masks(given.conditions, place)
    use = np.flatnonzero(possible & small[component[given.instances]])
    own = number[component[given.instances[use]]]
    order = np.lexsort((given.rules[use], given.initiates[use], place[given.instances[use]], given.points[use], own))
    use, own = use[order], own[order]
    kinds = np.where(given.initiates[use], SET, 1 - SET)
    candidates = Candidates(np.searchsorted(own, np.arange(total + 1)), given.points[use],
                            place[given.instances[use]], kinds, given.rules[use], program.weights[given.rules[use]],
                            asked[use], wanted[use])

    bans = program.banned
    asked, wanted, possible = _masks(bans, place)
    lengths = np.diff(bans.offsets)
    if (lengths == 0).any():
        raise ArrayError("banned", "a constraint without conditions bans every state", int(np.argmin(lengths)))
    whose = component[_instances(bans.literals[bans.offsets[:-1]])]
    ban = np.flatnonzero(possible & small[whose])
    own = number[whose[ban]]
    order = np.lexsort((program.banned_points[ban], own))
    ban, own = ban[order], own[order]
    banned = Bans(np.searchsorted(own, np.arange(total + 1)), program.banned_points[ban], asked[ban], wanted[ban])

    holds, taken, objective, stuck = best_paths(candidates, banned, members, firsts, program.before,
                                                np.ascontiguousarray(program.costs), program.points, mode == "vote")
    if stuck >= 0:
        raise _stuck(number[component] == stuck)
    satisfied = np.zeros(given.points.shape[0], np.bool_)
    satisfied[use[taken]] = True
    return Best(holds, satisfied, objective)


def _masks(conditions: Conditions, place: Array) -> tuple[Array, Array, Mask]:
    """Conditions as bits of a component: those asked for, those that must be 1, and whether they can be met at all."""
    owners, bits = conditions.owners(), np.int64(1) << np.minimum(place[_instances(conditions.literals)], 62)
    wanted, denied = np.zeros((2, conditions.offsets.shape[0] - 1), np.int64)
    positive = conditions.literals >= 0
    np.bitwise_or.at(wanted, owners[positive], bits[positive])
    np.bitwise_or.at(denied, owners[~positive], bits[~positive])
    return wanted | denied, wanted, (wanted & denied) == 0
