"""Runs, and runs as a tree: what begins alike is stepped over once. Not for bounds: there each sequence is for itself.

Where existing rules set the state, or clear it, what came before does not matter, so that sequences are cut there. The
pieces begin with the state on or off. Pieces that begin with the same signatures have the same states as far as they
do, under all rules: they are one path of a tree, with their costs added.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from eventide.errors import ArrayError
from eventide.kernels.arrays import Array, Mask, check_array, check_same_length, jit
from eventide.kernels.votes import check_offsets

Forced = npt.NDArray[np.int8]
FREE, CLEARED, SET = 0, 1, 2
"""What existing rules do at a signature."""
OFF, ON = 0, 1
"""The slots in which the state never changes: pieces begin with one of these."""


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


class Tree(NamedTuple):
    """Steps in an order in which each follows the one before it on its path; those that cost the same either way and
    have none after them are left out.

    States are kept in slots. A step reads one and writes one; the largest branch comes last and goes on in the slot of
    its stem, so that there are about as many slots as a number of steps has bits.
    """

    signatures: Array
    on_costs: Array
    off_costs: Array
    reads: Array
    writes: Array
    slots: int
    base: int
    """What steps cost whose state is certain or does not matter."""


@jit
def tree_of(runs: Runs) -> Tree:
    """The tree of some runs. Time is steps times branches that are passed over, in the worst case."""
    most = runs.signatures.shape[0]
    tops = np.full((2, runs.forced.shape[0]), -1, np.int64)
    above, first, beside = np.empty(most, np.int64), np.full(most, -1, np.int64), np.full(most, -1, np.int64)
    signatures, on_costs, off_costs = np.empty(most, np.int64), np.zeros(most, np.int64), np.zeros(most, np.int64)
    number, base = 0, np.int64(0)
    for j in range(runs.offsets.shape[0] - 1):
        top, node = (ON if runs.before[j] else OFF), np.int64(-1)
        for k in range(runs.offsets[j], runs.offsets[j + 1]):
            s = runs.signatures[k]
            if runs.forced[s] == SET:
                base += runs.on_costs[k]
                top, node = ON, np.int64(-1)
                continue
            if runs.forced[s] == CLEARED:
                top, node = OFF, np.int64(-1)
            child = tops[top, s] if node < 0 else first[node]
            while child >= 0 and signatures[child] != s:
                child = beside[child]
            if child < 0:
                child = np.int64(number)
                number += 1
                signatures[child], above[child] = s, node
                if node < 0:
                    tops[top, s] = child
                else:
                    beside[child], first[node] = first[node], child
            on_costs[child] += runs.on_costs[k]
            off_costs[child] += runs.off_costs[k]
            node = child
    return _ordered(tops, above[:number], first, beside, signatures, on_costs, off_costs, base)


@jit
def _ordered(tops: Array, above: Array, first: Array, beside: Array, signatures: Array, on_costs: Array,
             off_costs: Array, base: int) -> Tree:
    """The steps that matter, stems before branches and the largest branch last, with their slots."""
    number = above.shape[0]
    size = np.zeros(number, np.int64)  # of what follows, itself included; 0 for what is left out
    for node in range(number - 1, -1, -1):  # branches have larger numbers than their stems
        if size[node] or on_costs[node] != off_costs[node]:
            size[node] += 1
            if above[node] >= 0:
                size[above[node]] += size[node]
        else:
            base += on_costs[node]
    kept = np.count_nonzero(size)
    order, reads, writes = np.empty(kept, np.int64), np.empty(kept, np.int64), np.empty(kept, np.int64)
    stack = np.empty(number, np.int64)
    stack_reads, stack_writes = np.empty(number, np.int64), np.empty(number, np.int64)
    at, slots = 0, ON + 1
    for top in range(2):
        for s in range(tops.shape[1]):
            if tops[top, s] < 0 or not size[tops[top, s]]:
                continue
            stack[0], stack_reads[0], stack_writes[0] = tops[top, s], top, ON + 1
            height = 1
            while height:
                height -= 1
                node, slot = stack[height], stack_writes[height]
                order[at], reads[at], writes[at] = node, stack_reads[height], slot
                at += 1
                slots = max(slots, slot + 1)
                largest, child = np.int64(-1), first[node]
                while child >= 0:
                    if size[child] and (largest < 0 or size[child] > size[largest]):
                        largest = child
                    child = beside[child]
                if largest < 0:
                    continue
                stack[height], stack_reads[height], stack_writes[height] = largest, slot, slot
                height += 1
                child = first[node]
                while child >= 0:
                    if size[child] and child != largest:
                        stack[height], stack_reads[height], stack_writes[height] = child, slot, slot + 1
                        height += 1
                    child = beside[child]
    return Tree(signatures[order], on_costs[order], off_costs[order], reads, writes, slots, base)
