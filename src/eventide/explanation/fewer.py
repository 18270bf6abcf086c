"""Leaving out facts as long as the rest is enough, within a bound of runs. Knows no language.

The scheme is that of delta debugging (Zeller and Hildebrandt, "Simplifying and isolating failure-inducing input",
2002), with the tests of complements alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

MOST_REPLAYS = 600  # so many runs at most: a larger set is not known to be minimal
MANY = 64
FactId = TypeVar("FactId")


class Fewer:
    """Counts the runs over some facts, `replays`, and stops where they are too many."""

    def __init__(self) -> None:
        self.replays = 0

    @property
    def may_go_on(self) -> bool:
        """Whether there were fewer runs than may be."""
        return self.replays < MOST_REPLAYS

    def without_idle(self, facts: list[FactId], is_enough: Callable[[list[FactId]], bool]) -> list[FactId]:
        """Leave out facts as long as the rest is enough: of many first large pieces, then one by one."""
        kept, failures, at = facts if len(facts) <= MANY else self.in_pieces(facts, is_enough), 0, 0
        while failures < len(kept) and self.may_go_on:
            at %= len(kept)
            fewer = kept[:at] + kept[at + 1:]
            if is_enough(fewer):
                kept, failures = fewer, 0
            else:
                at, failures = at + 1, failures + 1
        return kept

    def in_pieces(self, facts: list[FactId], is_enough: Callable[[list[FactId]], bool]) -> list[FactId]:
        """Leave out halves, quarters and so on down to single facts, each where the rest is enough."""
        size = len(facts)
        while size > 1 and facts:
            size = max(size // 2, 1)
            at = 0
            while at < len(facts) and self.may_go_on:
                fewer = facts[:at] + facts[at + size:]
                if is_enough(fewer):
                    facts = fewer
                else:
                    at += size
        return facts
