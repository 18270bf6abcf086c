"""Smaller cases with the same difference: without rules, conditions, operations, and with simpler options."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from time import monotonic

from .cases import Case

MOST_SECONDS = 40.0
Fails = Callable[[Case], bool]


def shrunk(case: Case, fails: Fails, seconds: float = MOST_SECONDS) -> Case:
    """A case of which nothing can be left out without losing the difference, or the best within the time."""
    until = monotonic() + seconds
    while monotonic() < until:
        smaller = next((each for each in smaller_cases(case) if monotonic() < until and fails(each)), None)
        if smaller is None:
            return case
        case = smaller
    return case


def smaller_cases(case: Case) -> Iterator[Case]:
    """Cases that are a little smaller; large steps first."""
    for parts in pieces(len(case.operations)):
        kept = tuple(o for place, o in enumerate(case.operations) if place not in parts)
        yield replace(case, operations=kept)
    for parts in pieces(len(case.clauses)):
        yield replace(case, clauses=tuple(c for place, c in enumerate(case.clauses) if place not in parts))
    for place, clause in enumerate(case.clauses):
        for shorter in shorter_clauses(clause):
            yield replace(case, clauses=(*case.clauses[:place], shorter, *case.clauses[place + 1:]))
    for options in case.options.simpler(case.operations):
        yield replace(case, options=options)


def pieces(length: int) -> Iterator[range]:
    """Stretches to leave out: halves, quarters, …, single ones."""
    size = length
    while size:
        for first in range(0, length, size):
            yield range(first, min(first + size, length))
        size //= 2


def shorter_clauses(clause: str) -> Iterator[str]:
    """A clause without one of its conditions, or with a shorter list."""
    head, separator, body = clause.removesuffix(".").partition(" :- ")
    conditions = split(body)
    if separator:
        for place in range(len(conditions)):
            kept = conditions[:place] + conditions[place + 1:]
            yield f"{head} :- {', '.join(kept)}." if kept else f"{head}."
        for place, condition in enumerate(conditions):
            for simpler in simpler_conditions(condition):
                yield f"{head} :- {', '.join([*conditions[:place], simpler, *conditions[place + 1:]])}."


def simpler_conditions(condition: str) -> Iterator[str]:
    """One side of an alternative, and shorter lists of lists."""
    if condition.startswith("(") and " ; " in condition:
        yield from condition[1:-1].split(" ; ", 1)
    listed = re.search(r"\[([^\[\]]*)\]", condition)
    if listed is not None and "," in listed.group(1):
        items = split(listed.group(1))
        for place in range(len(items)):
            kept = ", ".join(items[:place] + items[place + 1:])
            yield condition[:listed.start()] + f"[{kept}]" + condition[listed.end():]


def split(body: str) -> list[str]:
    """The parts of a text between the commas that stand in no brackets and in no quotes."""
    parts, depth, quoted, start = [], 0, False, 0
    for place, sign in enumerate(body):
        quoted ^= sign == "'"
        if not quoted:
            depth += (sign in "([") - (sign in ")]")
            if sign == "," and depth == 0:
                parts.append(body[start:place].strip())
                start = place + 1
    last = body[start:].strip()
    return [*parts, last] if last else parts
