"""Random LARS cases: the programs of the property tests, and facts that come in time, early, late or twice."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from tests.oracle.lars_text import NUMBERS, WORDS, Shape, programs
from tests.oracle.sessions import Operation

from .cases import Case, shorter
from .drawing import drawn

SHAPES = (Shape(), Shape(contradictions=True), Shape(tuples=False), Shape(tuples=False, boxes=False, arithmetic=False),
          Shape(stratified=False, contradictions=True), Shape(windows_on_derived=False, at=False))
END = 9


@dataclass(frozen=True)
class LarsOptions:
    """How a LARS program is run. `queries` are those of a session, `start` that of a run that begins later."""

    end: int
    start: int
    step: int
    queries: tuple[int, ...]
    saves: tuple[int, ...]
    """The query times before which a session is saved and restored."""
    models: str
    """Which of several answers are asked for; where there may be several, not the first."""
    contradictions: str
    buckets: int

    def simpler(self, operations: Sequence[Operation]) -> Iterator[LarsOptions]:
        """Plainer options."""
        for name, plain in {"saves": (), "models": "brave", "contradictions": "discard", "start": -1, "step": 1,
                            "buckets": 1}.items():
            if getattr(self, name) != plain:
                yield replace(self, **{name: plain})  # type: ignore[arg-type]
        for queries in shorter(self.queries):
            yield replace(self, queries=queries)
        latest = max([0, *(operation.arrival for operation in operations)])
        for end in {latest, self.end - 1}:
            if latest <= end < self.end:
                yield replace(self, end=end, queries=(*(q for q in self.queries if q < end), end))


def lars_case(seed: int) -> Case:
    """The random case of a number."""
    rng = random.Random(seed)
    text = drawn(programs(rng.choice(SHAPES)), rng)
    manner, operations = rng.choice(("timely", "wild", "wild")), list[Operation]()
    for time in range(END - 1):
        for fact in {random_fact(rng): None for _ in range(rng.choice((0, 0, 1, 1, 2, 3)))}:
            for _ in range(1 if manner == "timely" else rng.choice((1, 1, 1, 2))):
                late = 0 if manner == "timely" else rng.choice((0, 0, 0, 0, -2, -9, 1, 3))
                operations.append(Operation(f"{fact}@{time}", min(max(time + late, 0), END), 1))  # type: ignore[arg-type]
    operations.sort(key=lambda o: o.arrival)
    queries = [0] if rng.random() < 0.5 else []
    while not queries or queries[-1] < END:
        queries.append(min((queries or [-1])[-1] + rng.choice((1, 1, 1, 0, 2, 3, 6)), END))
    queries = [query for query in queries if query >= 0] or [END]
    options = LarsOptions(END, rng.choice((-1, 0, 2, 4)), rng.choice((1, 2, 3, 10)), tuple(queries),
                          tuple(query for query in queries if rng.random() < 0.3),
                          rng.choice(("first", "first", "brave", "cautious")),
                          rng.choice(("discard", "discard", "flag")), rng.choice((1, 2, 3)))
    return Case("lars", seed, tuple(text.splitlines()), tuple(operations), options)


def random_fact(rng: random.Random) -> str:
    """A fact of one of the inputs, or of `b`, which rules may conclude too."""
    return rng.choice((f"p({rng.choice(WORDS)})", f"e({rng.choice(WORDS)},{rng.choice(WORDS)})",
                       f"v({rng.choice(NUMBERS)})", "s", f"b({rng.choice(WORDS)})"))
