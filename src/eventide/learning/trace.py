"""Why the rules are as they are: what a learner did, step by step, in words and numbers. Decides nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from eventide.learning.clauses import Clause

Kind = Literal["added", "specialised", "dropped", "drift", "lead"]


@dataclass(frozen=True, slots=True)
class Step:
    """A rule that was added, specialised or dropped, a drift that was noticed, or a lead that was passed on.

    >>> from eventide.learning.clauses import clause_of
    >>> print(Step(7, "dropped", clause_of("rich(X) :- wins(X)."), None, "it fired wrongly 9 times in 10", {"fp": 9}))
    batch 7: dropped rich(X) :- wins(X). It fired wrongly 9 times in 10.
    """

    batch: int
    """The number of the batch, from 1."""
    kind: Kind
    rule: Clause | None
    parent: Clause | None
    reason: str
    numbers: Mapping[str, float] = field(default_factory=dict)

    def __str__(self) -> str:
        what = f" {self.rule}" if self.rule is not None else ":"
        origin = f" It was {self.parent}" if self.parent is not None else ""
        return f"batch {self.batch}: {self.kind}{what} {self.reason[:1].upper()}{self.reason[1:]}.{origin}"
