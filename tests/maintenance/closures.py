"""The slow truth about a network: what follows from every subset of its assumptions, by closure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, combinations

Set = frozenset[str]
Rule = tuple[Sequence[str], str | None]
"""Antecedents and consequent; `None` is falsum."""


@dataclass(frozen=True)
class Closures:
    """A network as it was written down; every answer is computed from the definition."""

    assumptions: Sequence[str]
    rules: Sequence[Rule]
    negations: dict[str, str] = field(default_factory=dict)

    def follows(self, environment: Iterable[str], nogoods: Iterable[Set] = ()) -> frozenset[str | None]:
        """All that follows from a set of assumptions; the opposite of A follows where A would complete a nogood."""
        given = frozenset(environment)
        held: set[str | None] = {*given, *(
            self.negations[a] for a in self.negations if a in self.assumptions
            and any(nogood <= given | {a} for nogood in nogoods))}
        while True:
            more = {head for body, head in self.rules if head not in held and held.issuperset(body)}
            if not more:
                return frozenset(held)
            held |= more

    def nogoods(self) -> set[Set]:
        """The minimal inconsistent sets; with opposites, the least family that is closed."""
        found: set[Set] = set()
        while True:
            now = smallest(e for e in subsets(self.assumptions) if None in self.follows(e, found))
            if now == found:
                return found
            found = now

    def labels(self, nodes: Iterable[str]) -> dict[str, set[Set]]:
        """The smallest consistent sets in which each node holds."""
        nogoods = self.nogoods()
        contexts = {e: self.follows(e, nogoods) for e in subsets(self.assumptions)
                    if not any(nogood <= e for nogood in nogoods)}
        return {node: smallest(e for e, held in contexts.items() if node in held) for node in nodes}


def subsets(items: Iterable[str]) -> Iterator[Set]:
    """All subsets, the smallest first."""
    every = list(items)
    return map(frozenset, chain.from_iterable(combinations(every, size) for size in range(len(every) + 1)))


def smallest(family: Iterable[Set]) -> set[Set]:
    """Those that contain no other."""
    every = set(family)
    return {one for one in every if not any(other < one for other in every)}
