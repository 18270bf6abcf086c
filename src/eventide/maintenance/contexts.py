"""Contexts of a network: which sets of assumptions cannot be believed together, and which are as large as can be."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence

from eventide.maintenance.environments import bits_of, is_covered, minimal
from eventide.maintenance.network import Key, Network


def conflicts(network: Network[Key], among: Iterable[Key], given: Iterable[Key] = ()) -> list[frozenset[Key]]:
    """The smallest sets `among` some assumptions that are inconsistent, where all of `given` is believed anyway.

    >>> network = Network()
    >>> for key in "ABCD":
    ...     network.assume(key)
    >>> _ = network.contradict("AB"), network.contradict("CD")
    >>> sorted(map(sorted, conflicts(network, "ABC"))), sorted(map(sorted, conflicts(network, "BCD", given="A")))
    ([['A', 'B']], [['B'], ['C', 'D']])
    """
    questioned, believed = network.environment(among), network.environment(given)
    return [network.assumptions(found) for found in _conflicts(network, questioned & ~believed, believed)]


def maximal_contexts(
        network: Network[Key], among: Iterable[Key], given: Iterable[Key] = ()) -> Iterator[frozenset[Key]]:
    """The largest consistent subsets of some assumptions, those that give up the fewest first.

    Each is what a minimal hitting set of the conflicts leaves. There may be very many: they come one by one.

    >>> network = Network()
    >>> for key in "ABCD":
    ...     network.assume(key)
    >>> _ = network.contradict("AB"), network.contradict("BC")
    >>> [sorted(context) for context in maximal_contexts(network, "ABCD")]
    [['A', 'C', 'D'], ['B', 'D']]
    """
    questioned, believed = network.environment(among), network.environment(given)
    for given_up in minimal_hitting_sets(_conflicts(network, questioned & ~believed, believed)):
        yield network.assumptions(questioned & ~given_up)


def minimal_hitting_sets(family: Sequence[int]) -> Iterator[int]:
    """The minimal environments that share a bit with each member of a family, the smallest first.

    R. Reiter's tree of hitting sets, searched by size: whatever contains one that was found is cut off.

    >>> [bin(found) for found in minimal_hitting_sets([0b0011, 0b0110])]
    ['0b10', '0b101']
    """
    heap, seen, found = [(0, 0)], {0}, list[int]()
    while heap:
        size, chosen = heapq.heappop(heap)
        if is_covered(chosen, found):
            continue
        missed = next((member for member in family if not member & chosen), None)
        if missed is None:
            found.append(chosen)
            yield chosen
            continue
        for bit in bits_of(missed):
            if chosen | bit not in seen:
                seen.add(chosen | bit)
                heapq.heappush(heap, (size + 1, chosen | bit))


def _conflicts(network: Network[Key], questioned: int, believed: int) -> list[int]:
    all_of_them = questioned | believed
    return minimal(nogood & questioned for nogood in network.conflicts if nogood & all_of_them == nogood)
