"""Rows of LARS results as atoms at a time-point, as the golden files write them."""

from __future__ import annotations

from typing import Any

from eventide.lars.results import LarsResult
from eventide.syntax.lars_trees import atom_text
from eventide.syntax.terms import Atom, Compound, Number, Term

Row = dict[str, Any]


def rows_of(result: LarsResult) -> list[Row]:
    """The rows of a result, each with its atom as text."""
    rows: list[Row] = result.to_arrow().to_pylist()
    for row in rows:
        args = tuple(map(_term, row["args"].split("|"))) if row["args"] else ()
        row["atom"] = atom_text(Compound(row["fluent"], args) if args else Atom(row["fluent"]))
    return rows


def _term(text: str) -> Term:
    try:
        return Number(int(text))
    except ValueError:
        return Atom(text)


def at(rows: list[Row], t: int) -> list[Row]:
    """The rows that hold at a time-point."""
    return [row for row in rows if row["start"] <= t and (row["end"] is None or t < row["end"])]


def now(rows: list[Row], t: int, model: int | None = None) -> list[str]:
    """The atoms of a time-point, of one answer stream or those of all."""
    return sorted({row["atom"] for row in at(rows, t) if row["value"] == "" and row.get("model") in (None, model)})


def known_before(rows: list[Row], t: int, model: int | None = None) -> list[str]:
    """What is known at t of earlier time-points: `atom@time`."""
    return sorted(f"{row['atom']}@{row['value']}" for row in at(rows, t)
                  if row["value"].isdigit() and row.get("model") in (None, model))


def count_at(result: LarsResult, t: int) -> int:
    """How many answer streams there are."""
    if any(gap.start <= t < gap.end for gap in result.no_answer):
        return 0
    return next((count for start, end, count in result.several if start <= t < end), 1)
