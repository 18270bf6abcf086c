"""Default negation: which out-assumptions go with a set of facts. Knows a network, not the rules behind it.

`not p` is the assumption out(p), which contradicts p. An *extension* of a set of facts adds out-assumptions so that it
is consistent and every such p is decided: out(p) is assumed, or p holds. Extensions are the answer sets of the rules.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from eventide.maintenance.network import Key, Network, Node

Outs = list[tuple[Node[Key], int]]


def extensions(network: Network[Key], facts: Iterable[Key]) -> Iterator[frozenset[Key]]:
    """The extensions of a set of assumptions, each with its out-assumptions.

    >>> network = Network()
    >>> for p, q in ("ab", "ba"):
    ...     network.assume_out(q, f"out({q})")
    ...     _ = network.justify([f"out({q})"], p)
    >>> sorted(map(sorted, extensions(network, [])))
    [['out(a)'], ['out(b)']]
    """
    for environment in extended(network, network.environment(facts)):
        yield network.assumptions(environment)


def extended(network: Network[Key], facts: int) -> Iterator[int]:
    """The extensions of an environment.

    Labels and nogoods leave little to search: a node that cannot follow from what is left must be out, one whose out is
    inconsistent must hold. Only where neither is the case both are tried. In stratified programs that never happens.
    """
    waiting: list[tuple[int, Outs[Key], list[Node[Key]]]] = [(facts, network.outs(), [])]
    while waiting:
        settled = _settle(network, *waiting.pop())
        if settled is None:
            continue
        environment, open_, required = settled
        if not open_:
            yield environment
            continue
        (node, bit), *rest = open_
        waiting.append((environment, rest, [*required, node]))
        waiting.append((environment | bit, rest, required))  # tried first


def _settle(network: Network[Key], environment: int, open_: Outs[Key],
            required: list[Node[Key]]) -> tuple[int, Outs[Key], list[Node[Key]]] | None:
    """Decide what can be decided without a choice, such that what is required holds; `None` if that is impossible."""
    if network.conflicts.forbid(environment):
        return None
    possible = environment
    for _, bit in open_:
        possible |= bit
    before = -1
    while before != len(open_):
        before = len(open_)
        undecided: Outs[Key] = []
        for node, bit in open_:
            if node.holds(environment):
                possible &= ~bit
            elif not node.holds(possible & ~bit):
                environment |= bit
                if network.conflicts.forbid(environment):
                    return None
            elif network.conflicts.forbid(environment | bit):
                possible &= ~bit
                required = [*required, node]
            else:
                undecided.append((node, bit))
        open_ = undecided
    if not all(node.holds(possible) for node in required):
        return None
    return environment, open_, required
