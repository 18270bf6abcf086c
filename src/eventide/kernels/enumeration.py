"""What many theories cost at once: one rule that sets a state and one that clears it, a bit for each pair of them.

Rows are compressed to runs (see `learning.signatures`): successive points at which every rule does the same. For one
setting rule the states under all clearing rules are the bits of a few words, stepped together over the tree of the runs
(see `runs`); costs are counted in bit planes, so that adding one number to 64 counters takes a handful of word
operations. Time is steps of the tree x setting rules x clearing rules / 64, and has no worse case. Not for rules that
ask about the state.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from eventide.errors import ArrayError
from eventide.kernels.arrays import Array, Mask, Words, check_array, check_same_length, jit
from eventide.kernels.runs import CLEARED, OFF, ON, SET, Runs, Tree, check_runs, tree_of
from eventide.kernels.votes import Floats, check_matrix

Slots = tuple[Words, Mask, Mask]
_NONE, _ALL = np.uint64(0), np.uint64(0xFFFF_FFFF_FFFF_FFFF)
_ONE = np.uint64(1)
_BLOCK = 512  # rules whose numbers stay in the fastest cache


class Pair(NamedTuple):
    """The best setting rule and clearing rule, what they cost in all, and how many setting rules were looked at."""

    sets: int
    clears: int
    cost: int
    tried: int
    exact: bool
    """Whether no pair costs less."""


class Counters(NamedTuple):
    """A number for each of many bits. A row of plane b counts 2^b for each of its bits that is set."""

    rows: Words
    """For each plane two rows."""
    number: Array
    """How many of the rows count, by plane."""
    carry: Words
    """A row for what is under way."""


@jit
def _add(counters: Counters, states: Words, slot: int, flip: np.uint64, amount: int) -> None:
    """Add `amount` to the counters of all bits that are set, or with `flip` of those that are not.

    Three rows of a plane become one, and one of the next plane (a carry-save adder): a row of bits costs one such step,
    however high the counters are.
    """
    rows, number, carry = counters
    words, plane = carry.shape[0], 0
    while amount:
        if amount & 1:
            free = number[plane]
            if free < 2:
                for w in range(words):
                    rows[plane, free, w] = states[slot, w] ^ flip
            else:
                for w in range(words):
                    a, b, c = rows[plane, 0, w], rows[plane, 1, w], states[slot, w] ^ flip
                    rows[plane, 0, w], carry[w] = a ^ b ^ c, (a & b) | (c & (a ^ b))
                number[plane] = 0
                _carry(counters, plane + 1)
            number[plane] += 1
        amount >>= 1
        plane += 1


@jit
def _carry(counters: Counters, plane: int) -> None:
    """Add the row of carries to a plane, and its own carries to the next."""
    rows, number, carry = counters
    words = carry.shape[0]
    while number[plane] == 2:
        for w in range(words):
            a, b, c = rows[plane, 0, w], rows[plane, 1, w], carry[w]
            rows[plane, 0, w], carry[w] = a ^ b ^ c, (a & b) | (c & (a ^ b))
        number[plane] = 1
        plane += 1
    free = number[plane]
    for w in range(words):
        rows[plane, free, w] = carry[w]
    number[plane] += 1


@jit
def _settle(counters: Counters) -> None:
    """Bring every plane to one row, so that a counter's bits are those of its planes."""
    rows, number, carry = counters
    words = carry.shape[0]
    carry[:] = _NONE
    for plane in range(rows.shape[0]):
        one, two = rows[plane]
        if number[plane] == 0:
            one[:] = _NONE
        if number[plane] < 2:
            two[:] = _NONE
        for w in range(words):
            a, b, c = one[w], two[w], carry[w]
            one[w], carry[w] = a ^ b ^ c, (a & b) | (c & (a ^ b))
        number[plane] = 1


@jit
def _value(counters: Counters, at: int) -> int:
    """A counter's number, once planes are settled."""
    total, word, bit = np.int64(0), at >> 6, np.uint64(at & 63)
    for plane in range(counters.rows.shape[0]):
        total += np.int64((counters.rows[plane, 0, word] >> bit) & _ONE) << plane
    return total


@jit
def _below(counters: Counters, limit: int, below: Words) -> bool:
    """The settled counters that are below a limit, and whether there is one."""
    rows, _, equal = counters
    planes, words = rows.shape[0], equal.shape[0]
    if limit <= 0:
        return False
    below[:] = _ALL
    if limit >> planes:
        return True
    below[:], equal[:] = _NONE, _ALL
    for plane in range(planes - 1, -1, -1):
        row = rows[plane, 0]
        if (limit >> plane) & 1:
            for w in range(words):
                below[w] |= equal[w] & ~row[w]
                equal[w] &= row[w]
        else:
            for w in range(words):
                equal[w] &= ~row[w]
    some = _NONE
    for w in range(words):
        some |= below[w]
    return bool(some != _NONE)


@jit
def _count(tree: Tree, sets: Mask, keeps: Words, slots: Slots, counters: Counters) -> int:
    """Add what one setting rule costs with each clearing rule to the counters; what all of them cost is returned.

    `keeps[s]` has the bits of those not firing at s.
    """
    signatures, on_costs, off_costs, reads, writes, _, base = tree
    states, some, full = slots
    words = keeps.shape[1]
    some[OFF], full[OFF] = False, False
    some[ON], full[ON] = True, True
    for k in range(signatures.shape[0]):
        s, read, write, on, off = signatures[k], reads[k], writes[k], on_costs[k], off_costs[k]
        if sets[s]:
            some[write], full[write] = True, True
            base += on
            continue
        if not some[read]:
            some[write], full[write] = False, False
            base += off
            continue
        left, every = _NONE, _ALL
        if full[read]:
            for w in range(words):
                new = keeps[s, w]
                states[write, w] = new
                left |= new
                every &= new
        else:
            for w in range(words):
                new = states[read, w] & keeps[s, w]
                states[write, w] = new
                left |= new
                every &= new
        some[write], full[write] = left != _NONE, every == _ALL
        if every == _ALL:
            base += on
        elif left == _NONE:
            base += off
        elif on > off:
            base += off
            _add(counters, states, write, _NONE, on - off)
        else:
            base += on
            _add(counters, states, write, _ALL, off - on)
    _settle(counters)
    return base


@jit
def _slots(tree: Tree, words: int) -> Slots:
    return np.empty((tree.slots, words), np.uint64), np.empty(tree.slots, np.bool_), np.empty(tree.slots, np.bool_)


@jit
def _each(runs: Runs, sets: Words, keeps: Words, counters: Counters, costs: Array) -> None:
    """The cost of each setting rule with the clearing rule of the same number; both have their bits by signature."""
    words = sets.shape[1]
    state = np.empty((1, words), np.uint64)
    base = np.int64(0)
    for j in range(runs.offsets.shape[0] - 1):
        some = runs.before[j]
        state[:] = _ALL if some else _NONE
        for k in range(runs.offsets[j], runs.offsets[j + 1]):
            s = runs.signatures[k]
            on, off, forced = runs.on_costs[k], runs.off_costs[k], runs.forced[s]
            left = _NONE
            if forced == SET:
                state[:] = _ALL
                some = True
                base += on
                continue
            stays = some and forced != CLEARED
            for w in range(words):
                new = sets[s, w] | (state[0, w] & keeps[s, w]) if stays else sets[s, w]
                state[0, w] = new
                left |= new
            some = left != _NONE
            if not some:
                base += off
            elif on > off:
                base += off
                _add(counters, state, 0, _NONE, on - off)
            else:
                base += on
                _add(counters, state, 0, _ALL, off - on)
    _settle(counters)
    for t in range(costs.shape[0]):
        costs[t] = base + _value(counters, t)


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
def _best(tree: Tree, sets: Mask, order: Array, bounds: Floats, keeps: Words, counters: Counters, sizes: Words,
          set_sizes: Array, clears: int, least: int, most: int) -> tuple[int, int, int, int]:
    """`sizes` are those of clearing rules in planes: counters begin with them."""
    slots, below = _slots(tree, keeps.shape[1]), np.empty(keeps.shape[1], np.uint64)
    best, best_set, best_clear, tried = np.int64(least), np.int64(-1), np.int64(-1), 0
    for n in range(order.shape[0]):
        i = order[n]
        if bounds[i] >= best or tried >= most:
            break
        counters.number[:] = 0
        counters.number[: sizes.shape[0]] = 1
        counters.rows[: sizes.shape[0], 0] = sizes
        base = _count(tree, sets[i], keeps, slots, counters) + set_sizes[i]
        tried += 1
        if not _below(counters, best - base, below):
            continue
        for t in range(clears):
            if (below[t >> 6] >> np.uint64(t & 63)) & _ONE:
                cost = base + _value(counters, t)
                if cost < best:
                    best, best_set, best_clear = cost, i, np.int64(t)
    return best_set, best_clear, best, tried


@jit
def _all(tree: Tree, sets: Mask, keeps: Words, counters: Counters, costs: Array) -> None:
    slots = _slots(tree, keeps.shape[1])
    for i in range(sets.shape[0]):
        counters.number[:] = 0
        base = _count(tree, sets[i], keeps, slots, counters)
        for t in range(costs.shape[1]):
            costs[i, t] = base + _value(counters, t)


def _prepared(runs: Runs, sets: Mask, clears: Mask) -> Words:
    """Where clearing rules leave the state alone, by signature in words; bits of no rule are set too."""
    check_runs(runs)
    for name, fires in (("sets", sets), ("clears", clears)):
        check_matrix(name, fires)
        check_same_length(name, fires[0] if fires.shape[0] else runs.forced, "forced", runs.forced.shape[0])
    return ~_by_signature(clears)


def _counters(runs: Runs, words: int, sizes: int = 0) -> Counters:
    """Counters for all costs, and `sizes` besides: rows add up to what would be counted if all bits were set."""
    planes = (int(np.abs(runs.on_costs - runs.off_costs).sum()) + sizes).bit_length()
    return Counters(np.empty((planes, 2, words), np.uint64), np.zeros(planes, np.int64), np.empty(words, np.uint64))


def _by_signature(fires: Mask) -> Words:
    """For each signature the rules that fire there, a bit for each."""
    words = np.zeros((fires.shape[1], (fires.shape[0] + 63) // 64 * 8), np.uint8)
    packed = np.packbits(np.ascontiguousarray(fires.T), axis=1, bitorder="little")
    words[:, : packed.shape[1]] = packed
    return words.view(np.uint64)


def _planes(numbers: Array, words: int) -> Words:
    """Numbers as rows of bits, the lowest first."""
    bits = numbers[:, None] >> np.arange(int(numbers.max(initial=0)).bit_length()) & 1
    return np.ascontiguousarray(_by_signature(bits.astype(np.bool_)).reshape(-1, words))


def theory_costs(runs: Runs, sets: Mask, clears: Mask) -> Array:
    """What each setting rule costs with each clearing rule; `sets` and `clears` have a row for each, by signatures.

    >>> runs = Runs(np.array([0, 3]), np.array([False]), np.array([0, 1, 2]), np.array([0, 0, 5]), np.array([2, 3, 0]),
    ...             np.zeros(3, np.int8))
    >>> sets, clears = np.array([[1, 0, 0], [0, 0, 0]], bool), np.array([[0, 0, 1], [0, 0, 0]], bool)
    >>> theory_costs(runs, sets, clears).tolist()
    [[0, 5], [5, 5]]
    """
    keeps = _prepared(runs, sets, clears)
    costs = np.empty((sets.shape[0], clears.shape[0]), np.int64)
    _all(tree_of(runs), sets, keeps, _counters(runs, keeps.shape[1]), costs)
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
    keeps = _prepared(runs, sets, clears)
    fires, words = _by_signature(sets), (number + 63) // 64
    if sets.shape[0] < number:
        fires = np.repeat(np.where(fires & _ONE, _ALL, _NONE), words, axis=1)
    if clears.shape[0] < number:
        keeps = np.repeat(np.where(keeps & _ONE, _ALL, _NONE), words, axis=1)
    costs = np.empty(number, np.int64)
    _each(runs, fires, keeps, _counters(runs, words), costs)
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
    keeps = _prepared(runs, sets, clears)
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
    planes = _planes(clear_sizes, keeps.shape[1])
    order = np.argsort(bounds, kind="stable")
    best_set, best_clear, cost, tried = map(int, _best(
        tree_of(runs), sets, order, bounds, keeps, _counters(runs, keeps.shape[1], (1 << planes.shape[0]) - 1), planes,
        set_sizes, clears.shape[0], least, most))
    left = tried < order.shape[0] and bounds[order[tried]] < cost
    return Pair(best_set, best_clear, cost, tried, not left)
