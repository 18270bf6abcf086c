"""Results on dense time: cells to the columns of a result, and what a run gives back. Files are written by `formats`.

Columns `fluent, args, value, start, end, left, right`: the predicate, its arguments joined by `|`, no value, the bounds
as exact rationals (`7/3`), and whether the interval holds them (`closed`) or not (`open`). A start at minus infinity is
`-inf`, no end is infinity.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from eventide.engine.recognition import Counts
from eventide.formats.facts import Ints
from eventide.mtl.cells import EVER, NEVER, Mask
from eventide.results import Result

SCHEMA = pa.schema([("fluent", pa.dictionary(pa.int32(), pa.string())), ("args", pa.string()), ("value", pa.string()),
                    ("start", pa.string()), ("end", pa.string()), ("left", pa.dictionary(pa.int32(), pa.string())),
                    ("right", pa.dictionary(pa.int32(), pa.string()))])
_SIDES = pa.array(["closed", "open"])


def rationals(cells: Ints, denominator: int) -> pa.Array:
    """The times of cells as texts: instants themselves, gaps as the instant before them. O(n).

    >>> rationals(np.array([0, 4, 7]), 3).to_pylist()
    ['0', '2/3', '1']
    """
    steps = cells >> 1
    shared = np.gcd(steps, denominator)
    tops = pa.array(steps // shared).cast(pa.string())
    unders = denominator // shared
    if (unders == 1).all():
        return tops
    fractions = pc.binary_join_element_wise(tops, pa.array(unders).cast(pa.string()), "/")
    return pc.if_else(pa.array(unders == 1), tops, fractions)


def interval_columns(starts: Ints, ends: Ints, denominator: int) -> list[pa.Array]:
    """The columns `start, end, left, right` of intervals in cells of the grid 1/`denominator`.

    >>> [column.to_pylist() for column in interval_columns(np.array([0, EVER]), np.array([5, NEVER]), 3)]
    [['0', '-inf'], ['2/3', None], ['closed', 'open'], ['closed', 'open']]
    """
    ever, never = starts == EVER, ends == NEVER
    start = pc.if_else(pa.array(ever), "-inf", rationals(np.where(ever, 0, starts), denominator))
    end = pc.if_else(pa.array(never), pa.scalar(None, pa.string()), rationals(np.where(never, 0, ends), denominator))
    return [start, end, _sides(ever | (starts & 1 == 1)), _sides(never | (ends & 1 == 0))]


def _sides(open_: Mask) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(open_.astype(np.int32), _SIDES)


def predicate_table(name: str, args: pa.Array, starts: Ints, ends: Ints, denominator: int) -> pa.Table:
    """The rows of one predicate."""
    fluent = pa.DictionaryArray.from_arrays(np.zeros(len(args), np.int32), pa.array([name]))
    none = pa.DictionaryArray.from_arrays(np.zeros(len(args), np.int32), pa.array([""])).cast(pa.string())
    return pa.table([fluent, args, none, *interval_columns(starts, ends, denominator)], schema=SCHEMA)


def joined_tables(tables: Sequence[pa.Table]) -> pa.Table:
    """The rows of several predicates as one table."""
    return pa.concat_tables([SCHEMA.empty_table(), *tables]).unify_dictionaries()


def interval_text(start: str, end: str | None, left: str, right: str) -> str:
    """An interval as people write it.

    >>> interval_text("7/3", None, "open", "open"), interval_text("4", "7", "closed", "closed")
    ('(7/3,inf)', '[4,7]')
    """
    opening, closing = "[" if left == "closed" else "(", "]" if right == "closed" else ")"
    return f"{opening}{start},{'inf' if end is None else end}{closing}"


class MtlResult(Result):
    """The maximal intervals of the derived predicates.

    Up to `until` they are right and complete (None: everywhere); `cut` are the predicates that go on beyond it.

    >>> import eventide as ev
    >>> result = ev.parse("Late(X) :- <>-[2,3] Sent(X).", language="mtl").run(ev.mtl.facts_in("Sent(a)@1"))
    >>> result.timeline(), result.holds("Late(a)", "7/2"), result.until
    ({'Late(a)': ['[3,4]']}, True, None)
    """

    def __init__(self, table: pa.Table, counts: Counts, *, until: Fraction | None = None,
                 cut: Sequence[str] = ()) -> None:
        super().__init__(table, counts)
        self.until, self.cut = until, tuple(cut)

    def __getitem__(self, fluent: str) -> MtlResult:
        """The rows of one predicate."""
        return MtlResult(super().__getitem__(fluent)._table, self.counts, until=self.until, cut=self.cut)

    def timeline(self) -> dict[str, list[str]]:  # type: ignore[override]  # intervals of dense time are texts
        """The intervals by atom, as texts: `{"Mon(n1,s)": ["[0,7]", "[10,14]"]}`."""
        found: dict[str, list[str]] = {}
        for row in self.to_arrow().to_pylist():
            atom = f"{row['fluent']}({row['args'].replace('|', ',')})" if row["args"] else row["fluent"]
            found.setdefault(atom, []).append(interval_text(row["start"], row["end"], row["left"], row["right"]))
        return found

    def holds(self, atom: str, time: Fraction | int | str) -> bool:
        """Whether an atom such as `Mon(n1,s)` is true at a time."""
        name, _, rest = atom.replace(" ", "").partition("(")
        args = rest.removesuffix(")").replace(",", "|")
        at = Fraction(time)
        return any(row["args"] == args and _covers(row, at) for row in self[name].to_arrow().to_pylist())


def _covers(row: dict[str, str | None], at: Fraction) -> bool:
    start = None if row["start"] in (None, "-inf") else Fraction(row["start"] or 0)
    end = None if row["end"] is None else Fraction(row["end"])
    after = start is None or at > start or (at == start and row["left"] == "closed")
    return after and (end is None or at < end or (at == end and row["right"] == "closed"))
