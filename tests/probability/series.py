"""Probabilities of results at time-points, read from their rows."""

from __future__ import annotations

from eventide.results import Result


def probability_at(result: Result, fluent: str, value: str, time: int, args: str = "") -> float:
    """The probability of a row of `fluent(args)=value` at a time-point; 0 where there is none."""
    found = [row["probability"] for row in result.to_arrow().to_pylist()
             if (row["fluent"], row["value"], row["args"]) == (fluent, value, args) and row["start"] <= time
             and (row["end"] is None or time < row["end"])]
    assert len(found) < 2, "stretches of one row overlap"
    return found[0] if found else 0.0
