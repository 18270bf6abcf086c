"""Boolean formulas over independent chances, many at once: built, measured, and the inertia of what they begin and end.

A *literal* is a signed node number, negative for "not". Node 1 is true, so -1 is false. Every other node is a chance
(a leaf) or the conjunction of the literals `children[first[node] .. first[node + 1]]`; "or" is "not and not". Nodes
come after their operands.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from eventide.kernels.arrays import Array, Mask, Words, check_array, check_same_length, jit

Floats = npt.NDArray[np.float64]
TRUE, FALSE = 1, -1
_SMALL = 24  # groups up to this size are searched for repetitions, larger ones sorted


class Nodes(NamedTuple):
    """Formulas as columns: where the operands of each node are, the operands, and the chance of each leaf."""

    first: Array
    children: Array
    chance: Floats


class Outlines(NamedTuple):
    """The leaves of formulas in the order they are met, `leaves[offsets[i] .. offsets[i + 1]]` of formula i, and a
    number that is equal for formulas that differ only in which leaves they have."""

    offsets: Array
    leaves: Array
    shapes: Words


@jit
def _group(literals: Array, begin: int, end: int, out: Array, used: int) -> int:
    """The distinct operands of a conjunction behind `out[used]`; how many, or -1 if it is false."""
    count = 0
    if end - begin <= _SMALL:
        for k in range(begin, end):
            literal = literals[k]
            if literal == TRUE:
                continue
            if literal == FALSE:
                return -1
            new = True
            for i in range(used, used + count):
                if out[i] == literal:
                    new = False
                    break
                if out[i] == -literal:
                    return -1
            if new:
                out[used + count] = literal
                count += 1
        return count
    size = end - begin
    by_node = np.empty(size, np.int64)
    for k in range(size):
        literal = literals[begin + k]
        by_node[k] = literal * 2 if literal > 0 else -literal * 2 + 1
    by_node.sort()
    for k in range(size):
        node, negative = by_node[k] >> 1, by_node[k] & 1
        if node == TRUE:
            if negative:
                return -1
            continue
        if k > 0 and by_node[k] == by_node[k - 1]:
            continue
        if negative and k > 0 and by_node[k] - 1 == by_node[k - 1]:
            return -1
        out[used + count] = -node if negative else node
        count += 1
    return count


@jit
def _conjunctions(
    offsets: Array, literals: Array, node: int, base: int, result: Array, first: Array, children: Array
) -> tuple[int, int]:
    used = 0
    made = 0
    for g in range(offsets.shape[0] - 1):
        count = _group(literals, offsets[g], offsets[g + 1], children, used)
        if count < 0:
            result[g] = FALSE
        elif count == 0:
            result[g] = TRUE
        elif count == 1:
            result[g] = children[used]
        else:
            result[g] = node + made
            first[made] = base + used
            made += 1
            used += count
    return made, used


def conjunctions(offsets: Array, literals: Array, node: int, base: int) -> tuple[Array, Array, Array]:
    """The conjunctions of groups of literals: their literals, and of new nodes, numbered from `node` on, where their
    operands begin (counted from `base`) and the operands.

    Nothing is made of one literal, of what is false for sure, and of repetitions. Cost: O(n), one pass.

    >>> groups, literals = np.array([0, 2, 4, 6]), np.array([2, -3, 1, 2, 3, -3])
    >>> [found.tolist() for found in conjunctions(groups, literals, 9, 0)]
    [[9, 2, -1], [0], [2, -3]]
    """
    check_array("offsets", offsets)
    check_array("literals", literals)
    groups = offsets.shape[0] - 1
    result, first = np.empty(groups, np.int64), np.empty(groups, np.int64)
    children = np.empty(literals.shape[0] + 1, np.int64)
    made, used = _conjunctions(offsets, literals, np.int64(node), np.int64(base), result, first, children)
    return result, first[:made], children[:used]


@jit
def _simple(nodes: Nodes, roots: Array, met: Array, before: int, out: Floats, plain: Mask) -> None:
    first, children, chance = nodes
    room = 64
    stack = np.empty(room, np.int64)
    place = np.empty(room, np.int64)
    product = np.empty(room, np.float64)
    for r in range(roots.shape[0]):
        root = roots[r]
        node = abs(root)
        plain[r] = True
        if first[node] == first[node + 1]:
            out[r] = chance[node] if root > 0 else 1.0 - chance[node]
            continue
        depth = 0
        stack[0] = root
        place[0] = first[node]
        product[0] = 1.0
        while True:
            node = abs(stack[depth])
            if place[depth] < first[node + 1]:
                child = children[place[depth]]
                place[depth] += 1
                below = abs(child)
                if first[below] == first[below + 1]:
                    if met[below] == before + r:
                        plain[r] = False
                        break
                    met[below] = before + r
                    product[depth] *= chance[below] if child > 0 else 1.0 - chance[below]
                    continue
                depth += 1
                if depth == room:
                    room *= 2
                    larger = np.empty(room, np.int64)
                    larger[:depth] = stack
                    stack = larger
                    larger = np.empty(room, np.int64)
                    larger[:depth] = place
                    place = larger
                    wider = np.empty(room, np.float64)
                    wider[:depth] = product
                    product = wider
                stack[depth] = child
                place[depth] = first[below]
                product[depth] = 1.0
                continue
            value = product[depth] if stack[depth] > 0 else 1.0 - product[depth]
            if depth == 0:
                out[r] = value
                break
            depth -= 1
            product[depth] *= value


def simple_probabilities(nodes: Nodes, roots: Array, met: Array, before: int) -> tuple[Floats, Mask]:
    """The probabilities of formulas in which no chance occurs twice, and which ones these are. Cost: their size.

    `met` has room for every node, and numbers below `before`: there it is noted which formula met a leaf last.

    >>> nodes = Nodes(np.array([0, 0, 0, 0, 0, 2]), np.array([2, -3]), np.array([0, 1, 0.5, 0.2, 0]))
    >>> simple_probabilities(nodes, np.array([4, -4, 2]), np.zeros(5, np.int64), 1)[0].tolist()
    [0.4, 0.6, 0.5]
    """
    check_array("roots", roots)
    check_array("met", met)
    out, plain = np.empty(roots.shape[0]), np.empty(roots.shape[0], np.bool_)
    _simple(nodes, roots, met, np.int64(before), out, plain)
    return out, plain


@jit
def _mixed(hash_: int, token: int) -> int:
    mixed = (hash_ ^ np.uint64(token)) * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= mixed >> np.uint64(29)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    return mixed ^ (mixed >> np.uint64(32))


@jit
def _outline(nodes: Nodes, roots: Array, offsets: Array, leaves: Array, shapes: Words, fill: bool) -> None:
    """Walk every formula, a node before its operands; first to count the leaves, then to list them."""
    first, children, _ = nodes
    met = np.zeros(first.shape[0], np.int64)
    rank = np.zeros(first.shape[0], np.int64)
    room = 64
    stack = np.empty(room, np.int64)
    for r in range(roots.shape[0]):
        depth = 1
        stack[0] = roots[r]
        count = 0
        hash_ = np.uint64(1)
        while depth > 0:
            depth -= 1
            literal = stack[depth]
            node = abs(literal)
            sign = 1 if literal < 0 else 0
            size = first[node + 1] - first[node]
            if size == 0:
                if met[node] != r + 1:
                    met[node] = r + 1
                    rank[node] = count
                    if fill:
                        leaves[offsets[r] + count] = node
                    count += 1
                hash_ = _mixed(hash_, (rank[node] << 2) | 2 | sign)
                continue
            hash_ = _mixed(hash_, (size << 2) | sign)
            if depth + size > room:
                while depth + size > room:
                    room *= 2
                larger = np.empty(room, np.int64)
                larger[:depth] = stack[:depth]
                stack = larger
            for k in range(size):
                stack[depth + k] = children[first[node + 1] - 1 - k]
            depth += size
        shapes[r] = hash_
        if not fill:
            offsets[r + 1] = count


def outlines(nodes: Nodes, roots: Array) -> Outlines:
    """What formulas are about, and their shapes. Cost: two walks through each formula."""
    check_array("roots", roots)
    offsets = np.zeros(roots.shape[0] + 1, np.int64)
    shapes = np.empty(roots.shape[0], np.uint64)
    with np.errstate(over="ignore"):  # shapes wrap around on purpose
        _outline(nodes, roots, offsets, np.empty(0, np.int64), shapes, False)
        np.cumsum(offsets, out=offsets)
        leaves = np.empty(int(offsets[-1]), np.int64)
        _outline(nodes, roots, offsets, leaves, shapes, True)
    return Outlines(offsets, leaves, shapes)


@jit
def _decide(variables: Array, highs: Array, lows: Array, root: int, chances: Floats, out: Floats) -> None:
    size = variables.shape[0]
    value = np.empty(size + 1)
    value[0] = 1.0
    for r in range(chances.shape[0]):
        for k in range(size):
            high = value[highs[k] >> 1]
            high = 1.0 - high if highs[k] & 1 else high
            low = value[lows[k] >> 1]
            low = 1.0 - low if lows[k] & 1 else low
            p = chances[r, variables[k]]
            value[k + 1] = p * high + (1.0 - p) * low
        found = value[root >> 1]
        out[r] = 1.0 - found if root & 1 else found


def decide(variables: Array, highs: Array, lows: Array, root: int, chances: Floats) -> Floats:
    """One arithmetic circuit over many rows of chances. Node k + 1 is worth p·high + (1 - p)·low with the chance of its
    variable; node 0 is worth 1, and an odd reference `2·node + 1` is worth 1 less the node. Cost: rows times nodes.

    >>> decide(np.array([0]), np.array([0]), np.array([1]), 2, np.array([[0.3], [0.8]])).tolist()
    [0.3, 0.8]
    """
    check_same_length("highs", highs, "variables", variables.shape[0])
    check_same_length("lows", lows, "variables", variables.shape[0])
    out = np.empty(chances.shape[0])
    _decide(variables, highs, lows, np.int64(root), chances, out)
    return out


@jit
def _persist(points: Array, shift: int, begins: Floats, stays: Floats, out: Floats) -> None:
    key = np.int64(-1)
    held = 0.0
    for k in range(points.shape[0]):
        if points[k] >> shift != key:
            key = points[k] >> shift
            held = 0.0
        held = min(1.0, begins[k] + held * stays[k])
        out[k] = held


def persist(points: Array, shift: int, begins: Floats, stays: Floats) -> Floats:
    """The probability that holds after each point of its key: h' = begins + h·stays, from 0 on.

    Points are sorted; `begins` is the probability of an initiation, `stays` that nothing begins or ends it. Cost: O(n).

    >>> persist(np.array([1, 21]), 8, np.array([0.32, 0.1]), np.array([0.68, 0.9])).round(3).tolist()
    [0.32, 0.388]
    """
    check_array("points", points)
    check_same_length("begins", begins, "points", points.shape[0])
    check_same_length("stays", stays, "points", points.shape[0])
    out = np.empty(points.shape[0])
    _persist(points, np.int64(shift), begins, stays, out)
    return out
