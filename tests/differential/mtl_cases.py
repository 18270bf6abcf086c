"""Random DatalogMTL cases: the programs and facts of the property tests, and what becomes of the facts in a session."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from tests.oracle.mtl import Fact
from tests.oracle.mtl_programs import HORIZON, Kind, cases
from tests.oracle.sessions import Operation

from .cases import Case
from .drawing import drawn

KINDS = (Kind(), Kind(), Kind(punctual=False), Kind(endless=False), Kind(negation=False, depth=2), Kind(since=False))
STEPS = ("1/2", "1", "7/3", "5", "100")
VARIANTS = ("auto", "algorithm-1", "hash")
HISTORIES = ("+", "+", "+", "+", "++", "+-", "+-+", "-", "-+", "+--")


@dataclass(frozen=True)
class MtlOptions:
    """How a DatalogMTL program is run; times are text, as rules have them."""

    end: str
    """The horizon."""
    step: str
    variant: str
    points: bool
    """Whether a stream stops at the times of facts too."""
    at: str
    """The moments that a stream is asked about."""
    queries: tuple[str, ...]
    delay: str | None
    saves: tuple[int, ...]
    """The places of the query times before which a session is saved and restored."""
    buckets: int

    def simpler(self, operations: Sequence[Operation]) -> Iterator[MtlOptions]:
        """Plainer options; operations that came before a query time that is left out come before the next."""
        if self.saves:
            yield replace(self, saves=())
        if self.delay is not None:
            yield replace(self, delay=None)
        if self.variant != "auto":
            yield replace(self, variant="auto")
        for step in ("100", "1"):
            if self.step != step:
                yield replace(self, step=step)
        for place in range(len(self.queries)):
            if len(self.queries) > max([0, *(o.arrival for o in operations)]) + 1 > place + 1:
                yield replace(self, queries=self.queries[:place] + self.queries[place + 1:])


def mtl_case(seed: int) -> Case:
    """The random case of a number. An operation arrives before the query time of that place."""
    rng = random.Random(seed)
    found = drawn(cases(rng.choice(KINDS)), rng)
    queries, now = [], Fraction(rng.choice((-1, 0, 0, 1)))
    while now < HORIZON:
        now += Fraction(rng.choice(("0", "1/2", "1", "1", "4/3", "2", "3", "7")))
        queries.append(now)
    facts, manner = list(found.facts), rng.choice(("timely", "wild", "wild"))
    if rng.random() < 0.05:
        facts = []
    operations = [o for fact in facts for o in history(fact, queries, manner, rng)]
    rng.shuffle(operations)
    operations.sort(key=lambda o: o.arrival)
    options = MtlOptions(
        str(HORIZON), rng.choice(STEPS), rng.choice(VARIANTS), rng.random() < 0.3,
        rng.choice(("points", "every:1/2", "0,1/3,2,9")), tuple(map(str, queries)),
        rng.choice((None, None, "0", "1", "7/3", "3")), tuple(n for n in range(len(queries)) if rng.random() < 0.3),
        rng.choice((1, 2, 3)))
    return Case("mtl", seed, tuple(map(str, found.rules)), tuple(operations), options)


def history(fact: Fact, queries: Sequence[Fraction], manner: str, rng: random.Random) -> Iterator[Operation]:
    """What happens to a fact in turn; in time, it comes before the first query time at which it has begun."""
    low = Fraction(-100) if fact.span.low is None else fact.span.low
    place = next((n for n, query in enumerate(queries) if query >= low), len(queries) - 1)
    signs = "+"
    if manner == "wild":
        place += rng.choice((0, 0, 0, 1, 2, -1, -3))
        signs = rng.choice(HISTORIES)
    for sign in signs:
        place = min(max(place, 0), len(queries) - 1)
        yield Operation(str(fact), place, 1 if sign == "+" else -1)  # type: ignore[arg-type]
        place += rng.choice((0, 1, 1, 2))
