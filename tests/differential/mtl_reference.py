"""What should be said of a DatalogMTL case: the least model, by definition, of the facts that count."""

from __future__ import annotations

import re
from collections.abc import Iterable
from fractions import Fraction
from itertools import groupby
from typing import Literal, NamedTuple

from tests.oracle.mtl import Fact, Model, Span
from tests.oracle.mtl_text import fact_of, rules_of
from tests.oracle.sessions import Operation

from .cases import Case

MtlRow = tuple[str, str, str | None, str, str]
"""An atom, the bounds of an interval, and whether they belong to it."""


class MtlQuestion(NamedTuple):
    """Which answer is asked for."""

    at: str
    """Up to where."""
    place: int | None = None
    """The place of the query time of a session; without one, all operations count."""
    shown: Literal["intervals", "open", "moments"] = "intervals"
    """Whether what holds at the end is open there, or only some times are asked about."""


class MtlReference:
    """The answers of the oracle; each least model is computed once."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.rules = rules_of(case.text)
        self._models: dict[object, Model] = {}
        self._counted: dict[int, tuple[tuple[Fact, ...], int]] = {}

    def rows(self, question: MtlQuestion) -> tuple[MtlRow, ...]:
        """The answer to a question."""
        model = self.model(question)
        heads = {rule.head.name for rule in self.rules}
        rows: list[MtlRow] = []
        for (name, args), truth in model.truth.items():
            atom = f"{name}({','.join(map(str, args))})" if args else name
            if name not in heads:
                continue
            if question.shown == "moments":
                rows += [(atom, str(time), str(time), "closed", "closed") for time in self.moments()
                         if time <= model.horizon and model.holds(name, args, time)]
                continue
            for span in model.regions.joined(truth):
                still = question.shown == "open" and span.high == model.horizon and span.high_closed
                rows.append((atom, "-inf" if span.low is None else str(span.low), None if still else str(span.high),
                             "closed" if span.low_closed else "open",
                             "closed" if span.high_closed and not still else "open"))
        return ordered(rows)

    def model(self, question: MtlQuestion) -> Model:
        """The least model of the facts that count."""
        facts = net_facts(self.case) if question.place is None else self.counted(question.place)[0]
        key = frozenset(facts), question.at
        if key not in self._models:
            self._models[key] = Model(self.rules, facts, Fraction(question.at))
        return self._models[key]

    def moments(self) -> set[Fraction]:
        """The times that `at` of the options means."""
        ends = {bound for fact in net_facts(self.case) for bound in (fact.span.low, fact.span.high)
                if bound is not None}
        halves = {Fraction(n, 2) for n in range(-40, 2 * int(Fraction(self.case.options.end)) + 1)}
        listed = {Fraction(time) for time in ("0", "1/3", "2", "9")}
        return {"points": ends, "every:1/2": {half for half in halves if ends and half >= min(ends)},
                "0,1/3,2,9": listed}[self.case.options.at]

    def late(self, question: MtlQuestion) -> int:
        """How many facts were too late."""
        return 0 if question.place is None else self.counted(question.place)[1]

    def counted(self, place: int) -> tuple[tuple[Fact, ...], int]:
        """The facts that count at the query time of a place, and how many did not. Where a delay has settled the past,
        what comes and goes later is without effect on it."""
        if place not in self._counted:
            options, late = self.case.options, 0
            edge: Fraction | None = None
            settled: dict[Fact, None] = {}
            live: dict[Fact, None] = {}
            names = set(re.findall(r"\w+", self.case.text))
            for number in range(place + 1):
                for sign, batch in batches(self.case, number):
                    for fact in batch:
                        if fact.atom[0] not in names:
                            continue
                        if edge is not None and part(fact, edge, None) is None:
                            late += 1
                        elif sign > 0:
                            live[fact] = None
                        else:
                            live.pop(fact, None)
                if options.delay is not None:
                    newer = Fraction(options.queries[number]) - Fraction(options.delay)
                    settled.update((f, None) for fact in live if (f := part(fact, edge, newer)) is not None)
                    edge = newer
            rest = [f for fact in live if (f := part(fact, edge, None)) is not None]
            self._counted[place] = (*settled, *rest), late
        return self._counted[place]


def part(fact: Fact, low: Fraction | None, high: Fraction | None) -> Fact | None:
    """What of a fact is after a time and up to another; None if nothing is."""
    span = fact.span
    if low is not None and (span.low is None or span.low <= low):
        span = Span(low, False, span.high, span.high_closed)
    if high is not None and (span.high is None or span.high > high):
        span = Span(span.low, span.low_closed, high, True)
    empty = span.low is not None and span.high is not None and (
        span.low > span.high or (span.low == span.high and not (span.low_closed and span.high_closed)))
    return None if empty else Fact(fact.atom, span)


def batches(case: Case, number: int) -> Iterable[tuple[int, list[Fact]]]:
    """What is inserted or retracted before the query time of a place, in order; what would come later comes before the
    last."""
    last = len(case.options.queries) - 1
    here = [o for o in case.operations if min(o.arrival, last) == number]
    for sign, together in groupby(here, lambda o: o.sign):
        yield sign, [fact_of(str(o.fact)) for o in together]


def net_facts(case: Case) -> list[Fact]:
    """What is left of the facts in the end."""
    return [fact_of(str(o.fact)) for o in net(case)]


def net(case: Case) -> list[Operation]:
    """The same as operations: the first insertion of each."""
    left: dict[object, Operation] = {}
    for operation in sorted(case.operations, key=lambda o: o.arrival):
        if operation.sign > 0:
            left.setdefault(operation.fact, operation)
        else:
            left.pop(operation.fact, None)
    return list(left.values())


def ordered(rows: Iterable[MtlRow]) -> tuple[MtlRow, ...]:
    """Rows in one order."""
    return tuple(sorted(rows, key=repr))
