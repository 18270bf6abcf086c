"""What a result adds up to: by fluent, by entity, and how much of it is open."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from eventide.report.situations import Codes, Situations, Times


@dataclass(frozen=True)
class Total:
    """The intervals of a fluent or of an entity; open ones last until the end of the period that is shown."""

    name: str
    intervals: int
    others: int
    """Of a fluent, how many different arguments; of an entity, how many different fluents."""
    duration: float
    longest: float
    still_open: int


def lengths(found: Situations, first: float, last: float) -> Times:
    """How long each interval lasts within the period that is shown."""
    inside: Times = np.minimum(found.end, last) - np.maximum(found.start, first)
    return np.maximum(inside, 0.0)


def by_fluent(found: Situations, first: float, last: float) -> list[Total]:
    """One total per fluent, in the order of their names."""
    return _totals(found.fluent.names, found.fluent.codes, found.args.codes, found, lengths(found, first, last))


def entities(found: Situations, known: Collection[str] = ()) -> tuple[tuple[str, ...], list[list[int]]]:
    """Who the situations are about, and for each list of arguments which of them it names.

    Whatever is a first argument somewhere, or known otherwise, is an entity wherever it stands.
    """
    parts = [names.split("|") if names else [] for names in found.args.names]
    known = set(known)
    found_names = {each[0] for each in parts if each} | {name for each in parts for name in each if name in known}
    place = {name: number for number, name in enumerate(sorted(found_names))}
    return tuple(place), [sorted({place[name] for name in each if name in place}) for each in parts]


def by_entity(found: Situations, first: float, last: float, known: Collection[str] = ()) -> list[Total]:
    """One total per entity, the busiest first."""
    names, named = entities(found, known)
    sizes = np.array([len(each) for each in named], np.int64)
    if not sizes.sum():
        return []
    rows = np.repeat(np.arange(len(found)), sizes[found.args.codes])
    who = np.concatenate([np.array(named[code], np.int64) for code in found.args.codes])
    repeated = found.chosen(rows)
    totals = _totals(names, who, repeated.fluent.codes, repeated, lengths(repeated, first, last))
    return sorted(totals, key=lambda total: (-total.duration, -total.intervals, total.name))


def _totals(names: tuple[str, ...], codes: Codes, others: Codes, found: Situations, length: Times) -> list[Total]:
    count = len(names)
    intervals = np.bincount(codes, minlength=count)
    duration = np.bincount(codes, length, count)
    still_open = np.bincount(codes, np.isinf(found.end), count)
    longest = np.zeros(count)
    np.maximum.at(longest, codes, length)
    pairs = np.unique(codes * (int(others.max(initial=0)) + 1) + others)
    different = np.bincount(pairs // (int(others.max(initial=0)) + 1), minlength=count)
    return [Total(name, int(intervals[i]), int(different[i]), float(duration[i]), float(longest[i]),
                  int(still_open[i])) for i, name in enumerate(names) if intervals[i]]
