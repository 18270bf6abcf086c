"""What many theories cost at once: one rule that sets a state and one that clears it, a bit for each pair of them.

Rows are compressed to runs (see `learning.signatures`): successive points at which every rule does the same. For one
setting rule the states under all clearing rules are the bits of a few words, stepped over the runs together; costs are
counted in bit planes, so that adding one number to 64 counters takes a handful of word operations. Time is runs x
setting rules x clearing rules / 64, and has no worse case. Not for rules that ask about the state.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from eventide.errors import ArrayError
from eventide.kernels.arrays import Array, Mask, Words, check_array, check_same_length, jit
from eventide.kernels.votes import Floats, check_matrix, check_offsets

Forced = npt.NDArray[np.int8]
FREE, CLEARED, SET = 0, 1, 2
_NONE, _ALL = np.uint64(0), np.uint64(0xFFFF_FFFF_FFFF_FFFF)
_ONE = np.uint64(1)
_BLOCK = 512  # rules whose numbers stay in the fastest cache


class Runs(NamedTuple):
    """Sequences of steps. Sequence j has the steps `offsets[j] .. offsets[j+1]`; each has the number of a signature.

    The state after a step is on if something sets it, else off if something clears it, else as before.
    """

    offsets: Array
    before: Mask
    """The state before each sequence."""
    signatures: Array
    """The signature of each step; rules fire by signature."""
    on_costs: Array
    """What it costs if the state after the step is on; whole numbers, 0 or more."""
    off_costs: Array
    forced: Forced
    """For each signature what existing rules do there: FREE, CLEARED or SET."""


class Pair(NamedTuple):
    """The best setting rule and clearing rule, what they cost in all, and how many setting rules were looked at."""

    sets: int
    clears: int
    cost: int
    tried: int
    exact: bool
    """Whether no pair costs less."""


@jit
def _add(planes: Words, state: Words, carry: Words, amount: int) -> None:
    """Add `amount` to the counters of all bits that are set; counter bits are spread over the planes."""
    words = state.shape[0]
    for w in range(words):
        carry[w] = _NONE
    plane = 0
    carried = _NONE
    while amount != 0 or carried != _NONE:
        row = planes[plane]
        carried = _NONE
        if amount & 1:
            for w in range(words):
                old, add, c = row[w], state[w], carry[w]
                row[w] = old ^ add ^ c
                c = (old & add) | (c & (old ^ add))
                carry[w] = c
                carried |= c
        else:
            for w in range(words):
                old, c = row[w], carry[w]
                row[w] = old ^ c
                c = old & c
                carry[w] = c
                carried |= c
        amount >>= 1
        plane += 1


@jit
def _costs(runs: Runs, sets: Mask, keeps: Words, planes: Words, state: Words, carry: Words, costs: Array) -> None:
    """The cost of one setting rule with each clearing rule; `keeps[s]` has the bits of those not firing at s."""
    words = state.shape[0]
    planes[:] = _NONE
    base = np.int64(0)
    for j in range(runs.offsets.shape[0] - 1):
        some, full = runs.before[j], runs.before[j]
        if full:
            state[:] = _ALL
        for k in range(runs.offsets[j], runs.offsets[j + 1]):
            s = runs.signatures[k]
            on, off = runs.on_costs[k], runs.off_costs[k]
            if sets[s] or runs.forced[s] == SET:
                if not full:
                    state[:] = _ALL
                    some, full = True, True
                base += on
                continue
            base += off
            if not some:
                continue
            if runs.forced[s] == CLEARED:
                some, full = False, False
                continue
            left, every = _NONE, _ALL
            keep = keeps[s]
            for w in range(words):
                new = state[w] & keep[w]
                state[w] = new
                left |= new
                every &= new
            some, full = left != _NONE, every == _ALL
            if full:
                base += on - off
            elif some and on > off:
                _add(planes[0], state, carry, on - off)
            elif some and on < off:
                _add(planes[1], state, carry, off - on)
    _read(planes, base, costs)


@jit
def _each(runs: Runs, sets: Words, keeps: Words, planes: Words, costs: Array) -> None:
    """The cost of each setting rule with the clearing rule of the same number; both have their bits by signature."""
    words = sets.shape[1]
    state, carry = np.empty(words, np.uint64), np.empty(words, np.uint64)
    planes[:] = _NONE
    base = np.int64(0)
    for j in range(runs.offsets.shape[0] - 1):
        some = runs.before[j]
        state[:] = _ALL if some else _NONE
        for k in range(runs.offsets[j], runs.offsets[j + 1]):
            s = runs.signatures[k]
            on, off, forced = runs.on_costs[k], runs.off_costs[k], runs.forced[s]
            base += off
            left = _NONE
            if forced == SET:
                state[:] = _ALL
                left = _ALL
            else:
                fires, keep = sets[s], keeps[s]
                stays = some and forced != CLEARED
                for w in range(words):
                    new = fires[w] | (state[w] & keep[w]) if stays else fires[w]
                    state[w] = new
                    left |= new
            some = left != _NONE
            if some and on > off:
                _add(planes[0], state, carry, on - off)
            elif some and on < off:
                _add(planes[1], state, carry, off - on)
    _read(planes, base, costs)


@jit
def _read(planes: Words, base: int, costs: Array) -> None:
    """The counters of all bits as numbers, those of the second planes taken from the first, and `base` added."""
    for t in range(costs.shape[0]):
        word, bit = t >> 6, np.uint64(t & 63)
        total = base
        for b in range(planes.shape[1]):
            total += np.int64((planes[0, b, word] >> bit) & _ONE) << b
            total -= np.int64((planes[1, b, word] >> bit) & _ONE) << b
        costs[t] = total


@jit
def _bounds(runs: Runs, fires: Mask, limits: Floats, bounds: Floats) -> None:
    """The least cost of each setting rule if the state could be cleared at will; where it is not below its limit, less.

    `fires` has a row for each signature. Rules go side by side, which the compiler turns into vector code.
    """
    ons, offs, totals = np.empty(_BLOCK), np.empty(_BLOCK), np.empty(_BLOCK)
    for low in range(0, fires.shape[1], _BLOCK):
        size = min(_BLOCK, fires.shape[1] - low)
        totals[:] = 0.0
        for j in range(runs.offsets.shape[0] - 1):
            for i in range(size):
                ons[i], offs[i] = (0.0, np.inf) if runs.before[j] else (np.inf, 0.0)
            for k in range(runs.offsets[j], runs.offsets[j + 1]):
                s = runs.signatures[k]
                on, off, forced = np.float64(runs.on_costs[k]), np.float64(runs.off_costs[k]), runs.forced[s]
                if forced == SET:
                    for i in range(size):
                        ons[i], offs[i] = min(ons[i], offs[i]) + on, np.inf
                    continue
                stay = np.inf if forced == CLEARED else on
                row = fires[s, low : low + size]
                for i in range(size):
                    least = min(ons[i], offs[i])
                    ons[i] = least + on if row[i] else ons[i] + stay
                    offs[i] = np.inf if row[i] else least + off
            open_ = False
            for i in range(size):
                totals[i] += min(ons[i], offs[i])
                open_ |= totals[i] < limits[low + i]
            if not open_:
                break
        bounds[low : low + size] = totals[:size]


@jit
def _best(runs: Runs, sets: Mask, order: Array, bounds: Floats, keeps: Words, planes: Words, sizes: Array,
          costs: Array, least: int, most: int) -> tuple[int, int, int, int]:
    state, carry = np.empty(keeps.shape[1], np.uint64), np.empty(keeps.shape[1], np.uint64)
    best, best_set, best_clear, tried = np.int64(least), np.int64(-1), np.int64(-1), 0
    for n in range(order.shape[0]):
        i = order[n]
        if bounds[i] >= best or tried >= most:
            break
        _costs(runs, sets[i], keeps, planes, state, carry, costs)
        tried += 1
        for t in range(costs.shape[0]):
            if costs[t] + sizes[0, i] + sizes[1, t] < best:
                best, best_set, best_clear = costs[t] + sizes[0, i] + sizes[1, t], i, t
    return best_set, best_clear, best, tried


@jit
def _all(runs: Runs, sets: Mask, keeps: Words, planes: Words, costs: Array) -> None:
    state, carry = np.empty(keeps.shape[1], np.uint64), np.empty(keeps.shape[1], np.uint64)
    for i in range(sets.shape[0]):
        _costs(runs, sets[i], keeps, planes, state, carry, costs[i])


def check_runs(runs: Runs) -> None:
    """Raise ArrayError unless the runs fit together.

    >>> none = np.empty(0, np.int64)
    >>> check_runs(Runs(np.array([0, 1]), np.array([False]), np.array([0]), none, none, np.zeros(1, np.int8)))
    Traceback (most recent call last):
    eventide.errors.ArrayError: on_costs: has 0 elements, signatures has 1 at index 0
    """
    check_array("signatures", runs.signatures)
    check_offsets(runs.offsets, runs.signatures.shape[0])
    check_array("before", runs.before, np.bool_)
    check_same_length("before", runs.before, "offsets without its last", runs.offsets.shape[0] - 1)
    check_array("forced", runs.forced, np.int8)
    for name, costs in (("on_costs", runs.on_costs), ("off_costs", runs.off_costs)):
        check_array(name, costs)
        check_same_length(name, costs, "signatures", runs.signatures.shape[0])
        if costs.size and (costs.min() < 0 or costs.sum(dtype=np.float64) >= 1 << 50):
            raise ArrayError(name, "expected numbers that are 0 or more, and less than 2^50 together")
    wrong = np.flatnonzero((runs.signatures < 0) | (runs.signatures >= runs.forced.shape[0]))
    if wrong.size:
        raise ArrayError("signatures", f"expected numbers below {runs.forced.shape[0]}", int(wrong[0]))


def _prepared(runs: Runs, sets: Mask, clears: Mask) -> tuple[Words, Words]:
    """Where clearing rules leave the state alone, by signature in words; and empty counters for every cost there is."""
    check_runs(runs)
    for name, fires in (("sets", sets), ("clears", clears)):
        check_matrix(name, fires)
        check_same_length(name, fires[0] if fires.shape[0] else runs.forced, "forced", runs.forced.shape[0])
    keeps = _by_signature(~clears)
    more = runs.on_costs - runs.off_costs
    most = max(int(more.clip(0).sum()), int((-more).clip(0).sum()))
    return keeps, np.empty((2, most.bit_length() + 1, keeps.shape[1]), np.uint64)


def _by_signature(fires: Mask) -> Words:
    """For each signature the rules that fire there, a bit for each."""
    words = np.zeros((fires.shape[1], (fires.shape[0] + 63) // 64 * 8), np.uint8)
    packed = np.packbits(np.ascontiguousarray(fires.T), axis=1, bitorder="little")
    words[:, : packed.shape[1]] = packed
    return words.view(np.uint64)


def theory_costs(runs: Runs, sets: Mask, clears: Mask) -> Array:
    """What each setting rule costs with each clearing rule; `sets` and `clears` have a row for each, by signatures.

    >>> runs = Runs(np.array([0, 3]), np.array([False]), np.array([0, 1, 2]), np.array([0, 0, 5]), np.array([2, 3, 0]),
    ...             np.zeros(3, np.int8))
    >>> sets, clears = np.array([[1, 0, 0], [0, 0, 0]], bool), np.array([[0, 0, 1], [0, 0, 0]], bool)
    >>> theory_costs(runs, sets, clears).tolist()
    [[0, 5], [5, 5]]
    """
    keeps, planes = _prepared(runs, sets, clears)
    costs = np.empty((sets.shape[0], clears.shape[0]), np.int64)
    _all(runs, sets, keeps, planes, costs)
    return costs


def each_cost(runs: Runs, sets: Mask, clears: Mask) -> Array:
    """What each setting rule costs with the clearing rule of the same number: 64 theories for the time of a few.

    A single rule of one kind goes with all of the other.

    >>> runs = Runs(np.array([0, 3]), np.array([False]), np.array([0, 1, 2]), np.array([0, 0, 5]), np.array([2, 3, 0]),
    ...             np.zeros(3, np.int8))
    >>> sets, clears = np.array([[1, 0, 0], [1, 0, 0]], bool), np.array([[0, 0, 1], [0, 0, 0]], bool)
    >>> each_cost(runs, sets, clears).tolist()
    [0, 5]
    """
    number = max(sets.shape[0], clears.shape[0]) if min(sets.shape[0], clears.shape[0]) else 0
    for name, rules in (("sets", sets), ("clears", clears)):
        if rules.shape[0] not in (1, number):
            raise ArrayError(name, f"expected 1 or {number} rules, got {rules.shape[0]}")
    keeps, planes = _prepared(runs, sets, clears)
    fires, words = _by_signature(sets), (number + 63) // 64
    if sets.shape[0] < number:
        fires = np.repeat(np.where(fires & _ONE, _ALL, _NONE), words, axis=1)
    if clears.shape[0] < number:
        keeps = np.repeat(np.where(keeps & _ONE, _ALL, _NONE), words, axis=1)
    costs = np.empty(number, np.int64)
    _each(runs, fires, keeps, np.empty((*planes.shape[:2], words), np.uint64), costs)
    return costs


def best_pair(runs: Runs, sets: Mask, clears: Mask, set_sizes: Array, clear_sizes: Array, least: int = 1 << 60,
              most: int = 1 << 60, turned: Mask | None = None) -> Pair:
    """The setting rule and the clearing rule that cost least, their sizes added; -1 for both if none is below `least`.

    A setting rule whose cost would be too high even if the state were cleared at will is not looked at. Of equal costs
    the first wins, by bound and then by number. Exact unless `most` setting rules, the most promising first, are all
    that may be tried. `turned` is `sets` by signatures, if it is at hand.

    >>> runs = Runs(np.array([0, 3]), np.array([False]), np.array([0, 1, 2]), np.array([0, 0, 5]), np.array([2, 3, 0]),
    ...             np.zeros(3, np.int8))
    >>> sets, clears = np.array([[0, 0, 0], [1, 0, 0]], bool), np.array([[0, 0, 0], [0, 0, 1]], bool)
    >>> best_pair(runs, sets, clears, np.array([0, 1]), np.array([0, 2]))
    Pair(sets=1, clears=1, cost=3, tried=1, exact=True)
    """
    keeps, planes = _prepared(runs, sets, clears)
    for name, sizes, rules in (("set_sizes", set_sizes, sets), ("clear_sizes", clear_sizes, clears)):
        check_array(name, sizes)
        check_same_length(name, sizes, "rules", rules.shape[0])
    rest = (set_sizes + (int(clear_sizes.min()) if clear_sizes.size else 0)).astype(np.float64)
    bounds = np.empty(sets.shape[0])
    if turned is None:
        turned = np.ascontiguousarray(sets.T)
    check_matrix("turned", turned)
    if turned.shape != sets.shape[::-1]:
        raise ArrayError("turned", f"expected the shape {sets.shape[::-1]}, got {turned.shape}")
    _bounds(runs, turned, least - rest, bounds)
    bounds += rest
    sizes = np.zeros((2, max(sets.shape[0], clears.shape[0])), np.int64)
    sizes[0, : sets.shape[0]], sizes[1, : clears.shape[0]] = set_sizes, clear_sizes
    order = np.argsort(bounds, kind="stable")
    best_set, best_clear, cost, tried = map(int, _best(
        runs, sets, order, bounds, keeps, planes, sizes, np.empty(clears.shape[0], np.int64), least, most))
    left = tried < order.shape[0] and bounds[order[tried]] < cost
    return Pair(best_set, best_clear, cost, tried, not left)
