"""The best sequence of states of few fluents that depend on each other: a longest path over sets of fluents.

One component has k fluents and 2^k states. At a point, candidates may set or clear a fluent, each for a reward, if the
state meets the condition of the candidate. Rewards of different fluents add up, so a state has at most 2^(fluents with
candidates) successors. Points without candidates change nothing. O(points 2^k + candidates 2^k + active points 4^k).
Among equal sums the path with the fewest taken candidates is best.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from eventide.kernels.arrays import Array, Mask, jit
from eventide.kernels.votes import Floats

States = npt.NDArray[np.uint16]
CLEAR, SET = 0, 1
MOST_FLUENTS = 16  # of a component, whose states are then numbers of 16 bits


@jit
def _join(parents: Array, left: Array, right: Array) -> None:
    for e in range(left.shape[0]):
        a, b = left[e], right[e]
        while parents[a] != a:
            parents[a] = parents[parents[a]]
            a = parents[a]
        while parents[b] != b:
            parents[b] = parents[parents[b]]
            b = parents[b]
        parents[max(a, b)] = min(a, b)
    for i in range(parents.shape[0]):
        parents[i] = parents[parents[i]]  # parents have smaller numbers, so theirs are final


def connected(number: int, left: Array, right: Array) -> Array:
    """The component of each of `number` nodes, numbered 0, 1, ... in order of their first nodes; edges are pairs.

    >>> connected(4, np.array([3]), np.array([0])).tolist()
    [0, 1, 2, 0]
    """
    parents = np.arange(number)
    _join(parents, left, right)
    return np.unique(parents, return_inverse=True)[1].astype(np.int64)


class Candidates(NamedTuple):
    """What may be taken, in order of component, point, place (of the fluent in its component), kind, and rule.

    Candidates that differ in their conditions only are alternatives: together they count once. A condition is met
    where the state has exactly the bits `wanted` of the bits `asked`.
    """

    offsets: Array
    points: Array
    places: Array
    kinds: Array
    rules: Array
    weights: Floats
    asked: Array
    wanted: Array


class Bans(NamedTuple):
    """States that may not be at a point, in order of component and point: those with the bits `wanted` of `asked`."""

    offsets: Array
    points: Array
    asked: Array
    wanted: Array


@jit
def _gains(low: int, high: int, state: int, by_vote: bool, given: Candidates, gains: Floats, taken: Array) -> None:
    """For each place and kind the best reward for doing it in a state, and how many candidates that takes."""
    for p in range(gains.shape[0]):
        for kind in range(2):
            gains[p, kind] = -np.inf
            taken[p, kind] = 0
    done = np.int64(-1)
    for g in range(low, high):
        if (state & given.asked[g]) != given.wanted[g]:
            continue
        p, kind, weight = given.places[g], given.kinds[g], given.weights[g]
        if done >= 0 and given.places[done] == p and given.kinds[done] == kind and given.rules[done] == given.rules[g]:
            continue
        done = g
        first = gains[p, kind] == -np.inf
        if by_vote:
            gains[p, kind] = weight if first else gains[p, kind] + weight
            taken[p, kind] = 1
        elif weight > 0.0:
            if first or gains[p, kind] <= 0.0:
                gains[p, kind] = weight
                taken[p, kind] = 1
            else:
                gains[p, kind] += weight
                taken[p, kind] += 1
        elif first or (gains[p, kind] <= 0.0 and weight > gains[p, kind]):
            gains[p, kind] = weight
            taken[p, kind] = 1


@jit
def _better(gain: float, size: int, than: float, than_size: int) -> bool:
    return (gain > than) | ((gain == than) & (size < than_size))


@jit
def _change(place: int, holds: bool, to: bool, gains: Floats, taken: Array) -> tuple[float, int, int]:
    """The best way to get from one state of a fluent to another: reward, candidates taken, bits of the kinds done."""
    clears, sets = gains[place, CLEAR], gains[place, SET]
    if not to:
        if holds or _better(clears, taken[place, CLEAR], 0.0, 0):
            return clears, taken[place, CLEAR], 1
        return 0.0, 0, 0
    gain, size, kinds = sets, taken[place, SET], 2
    if _better(gain + clears, size + taken[place, CLEAR], gain, size):
        gain, size, kinds = gain + clears, size + taken[place, CLEAR], 3
    if holds and not _better(gain, size, 0.0, 0):
        return 0.0, 0, 0
    return gain, size, kinds


@jit
def _judge(point: int, ban: int, ban_end: int, bans: Bans, members: Array, costs: Floats,
           values: Floats) -> int:
    """Take the costs of a point from the values of all states, and drop what is banned; the first ban after it."""
    while ban < ban_end and bans.points[ban] == point:
        for state in range(values.shape[0]):
            if (state & bans.asked[ban]) == bans.wanted[ban]:
                values[state] = -np.inf
        ban += 1
    if costs.shape[0]:
        for p in range(members.shape[0]):
            for state in range(values.shape[0]):
                values[state] -= costs[(state >> p) & 1, members[p], point]
    return ban


@jit
def _step(low: int, high: int, by_vote: bool, given: Candidates, values: Floats, sizes: Array, new: Floats,
          new_sizes: Array, back: States, gains: Floats, taken: Array, reach: Array, reach_values: Floats,
          reach_sizes: Array) -> None:
    """One active point: the best value of each state that follows, and the state it comes from."""
    new[:] = -np.inf
    for state in range(values.shape[0]):
        if values[state] == -np.inf:
            continue
        _gains(low, high, state, by_vote, given, gains, taken)
        reach[0], reach_values[0], reach_sizes[0] = state, values[state], sizes[state]
        count = 1
        for p in range(gains.shape[0]):
            if gains[p, CLEAR] == -np.inf and gains[p, SET] == -np.inf:
                continue
            holds = (state >> p) & 1 == 1
            gain, size, _ = _change(p, holds, not holds, gains, taken)
            stay, stay_size, _ = _change(p, holds, holds, gains, taken)
            grown = count
            for r in range(count):
                if gain > -np.inf:
                    reach[grown] = reach[r] ^ (1 << p)
                    reach_values[grown], reach_sizes[grown] = reach_values[r] + gain, reach_sizes[r] + size
                    grown += 1
                reach_values[r] += stay
                reach_sizes[r] += stay_size
            count = grown
        for r in range(count):
            to = reach[r]
            if new[to] == -np.inf or _better(reach_values[r], reach_sizes[r], new[to], new_sizes[to]):
                new[to], new_sizes[to], back[to] = reach_values[r], reach_sizes[r], state


@jit
def _mark(low: int, high: int, state: int, to: int, by_vote: bool, given: Candidates, gains: Floats, taken: Array,
          chosen: Mask) -> None:
    """Mark the candidates of a point that the step between two states takes."""
    _gains(low, high, state, by_vote, given, gains, taken)
    only = np.int64(-1)  # where none of the rules has a positive weight, one of the best is taken
    for g in range(low, high):
        p, kind = given.places[g], given.kinds[g]
        _, _, kinds = _change(p, (state >> p) & 1 == 1, (to >> p) & 1 == 1, gains, taken)
        if (kinds >> kind) & 1 == 0 or (state & given.asked[g]) != given.wanted[g]:
            continue
        if by_vote or given.weights[g] > 0.0:
            chosen[g] = True
        elif gains[p, kind] == given.weights[g]:
            same = only >= 0 and given.places[only] == p and given.kinds[only] == kind
            if not same or given.rules[only] == given.rules[g]:
                chosen[g] = True
                only = g


@jit
def _paths(given: Candidates, bans: Bans, members: Array, firsts: Array, before: Mask, costs: Floats, by_vote: bool,
           holds: Mask, chosen: Mask) -> tuple[float, int]:
    widest = np.int64(0)
    active = np.int64(0)
    last = holds.shape[1] - 1
    for c in range(firsts.shape[0] - 1):
        widest = max(widest, firsts[c + 1] - firsts[c])
        active = max(active, given.offsets[c + 1] - given.offsets[c])
    states = 1 << widest
    back = np.empty((min(active, last), states), np.uint16)
    begins = np.empty(min(active, last) + 1, np.int64)
    floats, integers = np.empty((3, states)), np.empty((4, states), np.int64)
    all_gains, all_taken = np.empty((widest, 2)), np.empty((widest, 2), np.int64)
    total = 0.0
    for c in range(firsts.shape[0] - 1):
        own = members[firsts[c] : firsts[c + 1]]
        size = own.shape[0]
        gains, taken = all_gains[:size], all_taken[:size]
        values, new, reach_values = floats[0, : 1 << size], floats[1, : 1 << size], floats[2]
        sizes, new_sizes, reach, reach_sizes = integers[0, : 1 << size], integers[1], integers[2], integers[3]
        values[:] = -np.inf
        sizes[:] = 0
        state = 0
        for p in range(size):
            state |= np.int64(before[own[p]]) << p
        values[state] = 0.0
        steps = 0
        low, end = given.offsets[c], given.offsets[c + 1]
        ban = _judge(0, bans.offsets[c], bans.offsets[c + 1], bans, own, costs, values)
        for t in range(last):
            if low < end and given.points[low] == t:
                high = low
                while high < end and given.points[high] == t:
                    high += 1
                _step(low, high, by_vote, given, values, sizes, new, new_sizes, back[steps], gains, taken, reach,
                      reach_values, reach_sizes)
                values[:] = new
                sizes[:] = new_sizes[: 1 << size]
                begins[steps] = low
                steps += 1
                low = high
            ban = _judge(t + 1, ban, bans.offsets[c + 1], bans, own, costs, values)
        state = 0
        for s in range(1, values.shape[0]):
            if _better(values[s], sizes[s], values[state], sizes[state]):
                state = s
        if values[state] == -np.inf:
            return 0.0, c
        total += values[state]
        begins[steps] = end
        for t in range(last, -1, -1):
            for p in range(size):
                holds[own[p], t] = (state >> p) & 1 == 1
            if steps and t and given.points[begins[steps - 1]] == t - 1:
                steps -= 1
                earlier = np.int64(back[steps, state])
                _mark(begins[steps], begins[steps + 1], earlier, state, by_vote, given, gains, taken, chosen)
                state = earlier
    return total, -1


def best_paths(given: Candidates, bans: Bans, members: Array, firsts: Array, before: Mask, costs: Floats, points: int,
               by_vote: bool) -> tuple[Mask, Mask, float, int]:
    """The states of all fluents at points 0 .. `points`, the candidates taken, the sum, and a component without a path.

    Component c has the fluents `members[firsts[c] : firsts[c+1]]`; `costs[h, f, t]` is taken off where fluent f has
    state h at t (no costs: an empty array). Of the candidates that set a fluent at a point, all count if `by_vote`;
    otherwise those that pay, or one. The last result is -1 if every component has a path.

    >>> given = Candidates(*map(np.array, ([0, 2], [0, 1], [0, 0], [1, 1], [0, 1], [-2.0, 3.0], [0, 1], [0, 1])))
    >>> bans = Bans(np.zeros(2, np.int64), *[np.empty(0, np.int64)] * 3)
    >>> none, one = np.empty((0, 0, 0)), np.array([0])
    >>> holds, taken, value, _ = best_paths(given, bans, one, np.array([0, 1]), np.array([False]), none, 2, True)
    >>> holds.astype(int).tolist(), taken.tolist(), value
    ([[0, 1, 1]], [True, True], 1.0)
    """
    holds = np.zeros((before.shape[0], points + 1), np.bool_)
    chosen = np.zeros(given.points.shape[0], np.bool_)
    total, stuck = _paths(given, bans, members, firsts, before, costs, by_vote, holds, chosen)
    return holds, chosen, total, stuck
