"""Formulas to probabilities: ordered decision diagrams, read as arithmetic circuits.

Formulas of one shape differ only in their chances. The shape is compiled once; its circuit has a column of chances for
each leaf, and one evaluation serves all formulas of the shape. A formula in which no chance occurs twice is a circuit
as it stands.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from eventide.errors import RuleError
from eventide.kernels.arrays import Array
from eventide.kernels.formulas import TRUE, Nodes, decide, outlines, simple_probabilities
from eventide.probability.formulas import Formulas

Floats = npt.NDArray[np.float64]
YES, NO = 0, 1
MOST = 1_000_000  # nodes of a diagram


class Diagram:
    """A reduced ordered decision diagram. A reference is `2·node`, or `2·node + 1` for its negation; node 0 is true.

    >>> diagram = Diagram()
    >>> a, b = diagram.variable(0), diagram.variable(1)
    >>> diagram.both(a, b ^ 1) == diagram.both(b, a ^ 1) ^ 1
    False
    >>> diagram.both(a, a ^ 1) == NO
    True
    """

    def __init__(self, chances: Sequence[float] | None = None) -> None:
        self.variables, self.highs, self.lows = [1 << 62], [YES], [YES]
        self.values = [1.0]
        self._chances = chances
        self._known: dict[tuple[int, int, int], int] = {}
        self._both: dict[tuple[int, int], int] = {}

    def variable(self, number: int) -> int:
        """The function that is one variable; smaller numbers are decided first."""
        return self._node(number, YES, NO)

    def value(self, reference: int) -> float:
        """The probability of a function, given the `chances` of the variables."""
        value = self.values[reference >> 1]
        return 1.0 - value if reference & 1 else value

    def _node(self, variable: int, high: int, low: int) -> int:
        if high == low:
            return high
        negated = high & 1  # the edge to `high` is never negated, so that equal functions are equal references
        key = (variable, high ^ negated, low ^ negated)
        node = self._known.get(key)
        if node is None:
            node = self._known[key] = len(self.variables)
            if node > MOST:
                raise OverflowError
            self.variables.append(variable)
            self.highs.append(key[1])
            self.lows.append(key[2])
            if self._chances is not None:
                p = self._chances[variable]
                self.values.append(p * self.value(key[1]) + (1.0 - p) * self.value(key[2]))
        return 2 * node + negated

    def _settled(self, left: int, right: int) -> int | None:
        if left > right:
            left, right = right, left
        if left in (YES, right):
            return right
        if left == NO or left ^ right == 1:
            return NO
        return self._both.get((left, right))

    def _sides(self, reference: int, variable: int) -> tuple[int, int]:
        node, negated = reference >> 1, reference & 1
        if self.variables[node] != variable:
            return reference, reference
        return self.highs[node] ^ negated, self.lows[node] ^ negated

    def both(self, left: int, right: int) -> int:
        """The conjunction; without recursion, since histories are long."""
        todo = [(left, right)]
        while todo:
            a, b = todo[-1]
            if self._settled(a, b) is not None:
                todo.pop()
                continue
            variable = min(self.variables[a >> 1], self.variables[b >> 1])
            (a1, a0), (b1, b0) = self._sides(a, variable), self._sides(b, variable)
            high, low = self._settled(a1, b1), self._settled(a0, b0)
            if high is None:
                todo.append((a1, b1))
            if low is None:
                todo.append((a0, b0))
            if high is not None and low is not None:
                self._both[min(a, b), max(a, b)] = self._node(variable, high, low)
                todo.pop()
        found = self._settled(left, right)
        assert found is not None
        return found

    def add(self, nodes: Nodes, node: int, known: dict[int, int]) -> None:
        """Compile the conjunction `node`, whose operands are `known`."""
        result = YES
        for child in nodes.children[nodes.first[node] : nodes.first[node + 1]].tolist():
            below = known[abs(child)]
            result = self.both(result, below if child > 0 else below ^ 1)
        known[node] = result


@dataclass(frozen=True)
class Circuit:
    """A compiled shape: the arguments of `kernels.formulas.decide`, without the chances."""

    variables: Array
    highs: Array
    lows: Array
    root: int

    def evaluate(self, chances: Floats) -> Floats:
        """The probability for every row of chances."""
        return decide(self.variables, self.highs, self.lows, self.root, chances)


def reachable(nodes: Nodes, roots: Sequence[int]) -> list[int]:
    """The conjunctions below some literals, operands before what reads them."""
    first, children = nodes.first, nodes.children
    todo = [abs(root) for root in roots]
    seen: set[int] = set()
    while todo:
        node = todo.pop()
        if node not in seen and first[node] < first[node + 1]:
            seen.add(node)
            todo.extend(np.abs(children[first[node] : first[node + 1]]).tolist())
    return sorted(seen)


def circuit_of(nodes: Nodes, root: int, leaves: Sequence[int]) -> Circuit:
    """The circuit of a formula; variable k is the chance of leaf k."""
    diagram = Diagram()
    known = {leaf: diagram.variable(rank) for rank, leaf in enumerate(leaves)}
    for node in reachable(nodes, [root]):
        diagram.add(nodes, node, known)
    reference = known[abs(root)] ^ (root < 0)
    needed = {0}
    todo = [reference >> 1]
    while todo:
        node = todo.pop()
        if node not in needed:
            needed.add(node)
            todo.extend((diagram.highs[node] >> 1, diagram.lows[node] >> 1))
    order = sorted(needed)
    place = {node: number for number, node in enumerate(order)}

    def column(references: list[int]) -> Array:
        return np.array([2 * place[references[node] >> 1] | references[node] & 1 for node in order[1:]], np.int64)

    return Circuit(np.array([diagram.variables[node] for node in order[1:]], np.int64), column(diagram.highs),
                   column(diagram.lows), 2 * place[reference >> 1] | reference & 1)


class Circuits:
    """The probabilities of formulas; every shape is compiled once in the life of this object."""

    def __init__(self, formulas: Formulas) -> None:
        self.formulas = formulas
        self.compiled: dict[tuple[int, int], Circuit] = {}
        self._met, self._before = np.zeros(0, np.int64), 1

    def probabilities(self, literals: Array, what: str) -> Floats:
        """The probability of each literal; `what` they are about is named where they are too large."""
        nodes = self.formulas.nodes()
        if self._met.shape[0] < self.formulas.size:
            self._met, self._before = np.zeros(2 * self.formulas.size, np.int64), 1
        result, simple = simple_probabilities(nodes, literals, self._met, self._before)
        self._before += literals.shape[0]
        rest = np.flatnonzero(~simple)
        if rest.shape[0]:
            roots, inverse = np.unique(literals[rest], return_inverse=True)
            try:
                result[rest] = self._by_shape(nodes, roots)[inverse]
            except OverflowError:
                raise too_large(what, "within one time-point",
                                "split the rule, or use fewer uncertain facts at a time") from None
        return result

    def _by_shape(self, nodes: Nodes, roots: Array) -> Floats:
        found = outlines(nodes, roots)
        result = np.empty(roots.shape[0])
        shapes, first, group = np.unique(found.shapes, return_index=True, return_inverse=True)
        members = np.split(np.argsort(group, kind="stable"), np.bincount(group).cumsum()[:-1])
        for shape, representative, rows in zip(shapes.tolist(), first.tolist(), members, strict=True):
            begin, end = found.offsets[representative], found.offsets[representative + 1]
            key = (shape, int(end - begin))
            if key not in self.compiled:
                self.compiled[key] = circuit_of(nodes, int(roots[representative]), found.leaves[begin:end].tolist())
            leaves = found.leaves[found.offsets[rows][:, None] + np.arange(end - begin)]
            result[rows] = self.compiled[key].evaluate(nodes.chance[leaves])
        return result


class Histories:
    """The probabilities of formulas that reach back in time: one diagram for all, its variables in order of time."""

    def __init__(self, formulas: Formulas) -> None:
        self.formulas = formulas

    def probabilities(self, literals: Array, what: str) -> Floats:
        """The probability of each literal; RuleError if the diagram grows too large."""
        nodes = self.formulas.nodes()
        order = np.lexsort((np.arange(self.formulas.size), self.formulas.when))
        rank = np.empty_like(order)
        rank[order] = np.arange(order.shape[0])
        diagram = Diagram(nodes.chance[order].tolist())
        known: dict[int, int] = {TRUE: YES}
        needed = reachable(nodes, literals.tolist())
        leaves = {abs(child) for node in needed
                  for child in nodes.children[nodes.first[node] : nodes.first[node + 1]].tolist()}
        try:
            for leaf in (leaves | set(np.abs(literals).tolist())) - set(needed) - {TRUE}:
                known[leaf] = diagram.variable(int(rank[leaf]))
            for node in needed:
                diagram.add(nodes, node, known)
        except OverflowError:
            raise too_large(what, "over time", "use --history marginal, or a shorter stretch of the stream") from None
        return np.array([diagram.value(known[abs(root)] ^ (root < 0)) for root in literals.tolist()])


def too_large(what: str, where: str, hint: str) -> RuleError:
    """The error for a formula whose diagram has too many nodes."""
    return RuleError("too-large", f"{what} depends on too many uncertain facts {where}: its decision diagram has more "
                     f"than {MOST} nodes", hint, [what])
