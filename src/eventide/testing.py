"""Checks that every engine must pass, offered to others: give a function that runs rules, get the first difference.

An engine here is anything that evaluates the Event Calculus: this package, a cluster, another program.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

Timelines = Mapping[str, Sequence[tuple[int, int | None]]]
Run = Callable[[str, Sequence[str]], Timelines]


@dataclass(frozen=True, slots=True)
class Case:
    """Rules, facts as rows of RTEC's form (`go|5|5|ann`), and the maximal intervals by `fluent(args)=value`."""

    situation: str
    rules: str
    facts: tuple[str, ...]
    expected: dict[str, list[tuple[int, int | None]]] = field(default_factory=dict)


_ON = """
initiatedAt(on(X)=true, T) :- happensAt(go(X), T).
terminatedAt(on(X)=true, T) :- happensAt(stop(X), T).
"""
_SEAT = """
initiatedAt(seat(X)=V, T) :- happensAt(sit(X, V), T).
"""
_FAR = "\ninitiatedAt(mark(X)=true, T) :- happensAt(far(X), T).\n"

CASES = (
    Case("initiated at 5, terminated at 10", _ON, ("go|5|5|a", "stop|10|10|a"), {"on(a)=true": [(6, 11)]}),
    Case("initiated again meanwhile", _ON, ("go|5|5|a", "go|7|7|a", "stop|10|10|a"), {"on(a)=true": [(6, 11)]}),
    Case("initiated and terminated at once, did not hold", _ON, ("go|5|5|a", "stop|5|5|a")),
    Case("initiated and terminated at once, held before", _ON, ("go|2|2|a", "go|5|5|a", "stop|5|5|a"),
         {"on(a)=true": [(3, 6)]}),
    Case("still holding at the end", _ON, ("go|5|5|a", "go|6|6|b", "stop|9|9|a"),
         {"on(a)=true": [(6, 10)], "on(b)=true": [(7, None)]}),
    Case("another value ends the one that holds", _SEAT, ("sit|2|2|a|h", "sit|5|5|a|w"),
         {"seat(a)=h": [(3, 6)], "seat(a)=w": [(6, None)]}),
    Case("two values initiated together", _SEAT, ("sit|5|5|a|h", "sit|5|5|a|w")),
    Case("start and end of an interval", _ON + """
initiatedAt(begun(X)=true, T) :- happensAt(start(on(X)=true), T).
initiatedAt(over(X)=true, T) :- happensAt(end(on(X)=true), T).
""", ("go|5|5|a", "stop|10|10|a"),
         {"on(a)=true": [(6, 11)], "begun(a)=true": [(6, None)], "over(a)=true": [(11, None)]}),
    Case("a deadline that is reached, and one that is cancelled", _ON + "fi(on(X)=true, on(X)=late, 4)." + _FAR,
         ("go|5|5|a", "go|5|5|b", "stop|7|7|b", "far|20|20|z"),
         {"on(a)=true": [(6, 10)], "on(a)=late": [(10, None)], "on(b)=true": [(6, 8)], "mark(z)=true": [(21, None)]}),
    Case("a deadline that moves with each initiation", _ON + "fi(on(X)=true, on(X)=late, 4).\np(on(X)=true)." + _FAR,
         ("go|5|5|a", "go|7|7|a", "far|20|20|z"),
         {"on(a)=true": [(6, 12)], "on(a)=late": [(12, None)], "mark(z)=true": [(21, None)]}),
    Case("adjacent intervals are one", _SEAT + """
holdsFor(seated(X)=true, I) :- holdsFor(seat(X)=h, I1), holdsFor(seat(X)=w, I2), union_all([I1, I2], I).
""", ("sit|3|3|a|h", "sit|6|6|a|w", "sit|9|9|a|x"),
         {"seat(a)=h": [(4, 7)], "seat(a)=w": [(7, 10)], "seat(a)=x": [(10, None)], "seated(a)=true": [(4, 10)]}),
)


def check_engine(run: Run) -> None:
    """Raise AssertionError with the differences unless `run(rules, facts)` gives the timelines of every case.

    `facts` are rows of RTEC's CSV form, name|time|arrival|arguments; all of them are one window, which begins before
    the first and ends at the last. The answer maps `fluent(args)=value` to its maximal intervals `[start, end)` in
    order, with None for an end that is open.

    >>> check_engine(lambda rules, facts: {})
    Traceback (most recent call last):
    AssertionError: initiated at 5, terminated at 10
    - on(a)=true: [6, 11)
    ...
    """
    problems = []
    for case in CASES:
        answer = run(case.rules, case.facts)
        found = {name: [(start, end) for start, end in intervals] for name, intervals in answer.items()}
        lines = [f"{sign} {name}: {_text(side[name])}"
                 for name in sorted({*case.expected, *found}) if case.expected.get(name, []) != found.get(name, [])
                 for sign, side in (("-", case.expected), ("+", found)) if side.get(name)]
        if lines:
            problems.append("\n".join([case.situation, *lines]))
    if problems:
        raise AssertionError("\n\n".join(problems))


def _text(intervals: Sequence[tuple[int, int | None]]) -> str:
    return ", ".join(f"[{start}, {'inf' if end is None else end})" for start, end in intervals)
