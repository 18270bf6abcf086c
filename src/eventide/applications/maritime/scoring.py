"""How well staged situations are recognised: recall and precision by fluent.

A staged situation is *found* if the recognised intervals of the same fluent, arguments and value cover at least nine
tenths of it, its tolerance cut off at either end. A recognised interval is *right* if at least nine tenths of it lie in
staged situations of the same fluent, arguments and value, their tolerance added at either end. Every recognised
interval of a staged fluent counts, of whatever vessel. Open ends reach until the data end. A staged situation that is
not longer than twice its tolerance may be recognised but need not be.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

import pyarrow as pa

from eventide.applications.maritime.tracks import Span, joined

SHARE = 0.9
Key = tuple[str, str, str]


@dataclass(frozen=True)
class Score:
    """What came of one fluent: how many situations were staged, and found; how many recognised, and right.

    >>> Score("gap", 4, 3, 2, 2).recall, Score("gap", 4, 3, 2, 2).precision
    (0.75, 1.0)
    """

    fluent: str
    staged: int
    found: int
    recognised: int
    right: int

    @property
    def recall(self) -> float:
        """The share of the staged situations that was found."""
        return self.found / self.staged if self.staged else 1.0

    @property
    def precision(self) -> float:
        """The share of the recognised intervals that is right."""
        return self.right / self.recognised if self.recognised else 1.0


def score(recognised: pa.Table, truth: pa.Table, until: int) -> list[Score]:
    """One score for each staged fluent. `recognised` has the columns of a result, `truth` also `tolerance`.

    >>> columns = ("fluent", "args", "value", "start", "end")
    >>> found = pa.table([["gap"], ["7"], ["true"], [12], [88]], columns)
    >>> truth = pa.table([["gap"], ["7"], ["true"], [10], [90], [5]], (*columns, "tolerance"))
    >>> score(found, truth, until=100)
    [Score(fluent='gap', staged=1, found=1, recognised=1, right=1)]
    """
    wide: dict[Key, list[Span]] = defaultdict(list)
    cores: dict[Key, list[Span]] = defaultdict(list)
    for key, start, end, tolerance in _rows(truth, until, "tolerance"):
        wide[key].append((start - tolerance, end + tolerance))
        if end - start > 2 * tolerance:
            cores[key].append((start + tolerance, end - tolerance))
    held: dict[Key, list[Span]] = defaultdict(list)
    for key, start, end, _ in _rows(recognised, until):
        held[key].append((start, end))
    fluents = sorted({fluent for fluent, _, _ in wide})
    return [Score(fluent, *_counted(fluent, cores, held), *_counted(fluent, held, wide)) for fluent in fluents]


def table(scores: Iterable[Score]) -> list[str]:
    """The scores as lines of text.

    >>> print("\\n".join(table([Score("gap", 4, 3, 2, 2)])))
    situation                staged  found  recall   recognised  right  precision
    gap                           4      3   0.750            2      2      1.000
    """
    lines = [f"{'situation':24} {'staged':>6} {'found':>6}  {'recall':>6}   {'recognised':>10} {'right':>6} "
             f"{'precision':>10}"]
    for one in scores:
        lines.append(f"{one.fluent:24} {one.staged:6} {one.found:6}  {one.recall:6.3f}   {one.recognised:10} "
                     f"{one.right:6} {one.precision:10.3f}")
    return lines


def _counted(fluent: str, these: dict[Key, list[Span]], others: dict[Key, list[Span]]) -> tuple[int, int]:
    """How many intervals of a fluent there are, and how many lie in the others as far as they must."""
    number = within = 0
    for key, spans in these.items():
        if key[0] == fluent:
            cover = joined(others.get(key, []))
            for start, end in spans:
                shared = sum(max(0, min(end, high) - max(start, low)) for low, high in cover)
                number += 1
                within += shared >= SHARE * (end - start)
    return number, within


def _rows(intervals: pa.Table, until: int, *more: str) -> Iterable[tuple[Key, int, int, int]]:
    columns = [intervals[name].to_pylist() for name in ("fluent", "args", "value", "start", "end", *more)]
    for fluent, args, value, start, end, *rest in zip(*columns, strict=True):
        yield (fluent, str(args), str(value)), start, until if end is None else min(end, until), rest[0] if rest else 0
