"""DatalogMTL by definition: the least model, region by region. Slow and obvious; for tests only.

All times of the facts and all numbers of the program are multiples of some g. Truth then never changes inside a
region: a point kg, or a gap (kg, (k+1)g) between two of them. There is one more region for everything before the first
time, where nothing ever changes. Each operator is read as it is defined, at one time of each region; what it reaches is
found by intersecting with whole regions, since samples of regions would miss some of them.

Rules are trees of this module (`mtl_text` reads them, `str` writes them); nothing of Eventide is used.
"""

from __future__ import annotations

import itertools
import operator
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import gcd, lcm

Constant = str | Fraction
Ground = tuple[str, tuple[Constant, ...]]


def _number(value: Fraction | None) -> str:
    return "inf" if value is None else str(value)


@dataclass(frozen=True)
class Span:
    """An interval of rationals; None is infinity on its side."""

    low: Fraction | None
    low_closed: bool
    high: Fraction | None
    high_closed: bool

    def __str__(self) -> str:
        low = "-inf" if self.low is None else str(self.low)
        return f"{'(['[self.low_closed]}{low},{_number(self.high)}{')]'[self.high_closed]}"

    @property
    def length(self) -> Fraction | None:
        return None if self.low is None or self.high is None else self.high - self.low

    def back_from(self, time: Fraction) -> Span:
        """The times s with time - s in this interval."""
        assert self.low is not None
        return Span(None if self.high is None else time - self.high, self.high_closed, time - self.low, self.low_closed)

    def __contains__(self, time: Fraction) -> bool:
        point = Span(time, True, time, True)
        return not _before(self, point) and not _before(point, self)


def _before(one: Span, other: Span) -> bool:
    """Whether all times of an interval are before all times of another."""
    if one.high is None or other.low is None:
        return False
    return one.high < other.low or (one.high == other.low and not (one.high_closed and other.low_closed))


# -- programs ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Variable:
    name: str

    def __str__(self) -> str:
        return self.name


Term = Variable | str | Fraction


@dataclass(frozen=True)
class Atom:
    name: str
    args: tuple[Term, ...] = ()

    def __str__(self) -> str:
        return f"{self.name}({','.join(map(str, self.args))})" if self.args else self.name


@dataclass(frozen=True)
class Diamond:
    """`<>-[a,b] A`: A held at some time, a to b ago."""

    span: Span
    child: Literal

    def __str__(self) -> str:
        return f"<>-{self.span} {_bracketed(self.child)}"


@dataclass(frozen=True)
class Box:
    """`[]-[a,b] A`: A held at all times, a to b ago."""

    span: Span
    child: Literal

    def __str__(self) -> str:
        return f"[]-{self.span} {_bracketed(self.child)}"


@dataclass(frozen=True)
class Since:
    """`A since[a,b] B`: B held at some time s, a to b ago, and A at all times after s and before now."""

    span: Span
    left: Literal
    right: Literal

    def __str__(self) -> str:
        return f"{_bracketed(self.left)} since{self.span} {_bracketed(self.right)}"


@dataclass(frozen=True)
class Not:
    child: Literal

    def __str__(self) -> str:
        return f"not {_bracketed(self.child)}"


@dataclass(frozen=True)
class Compare:
    """`X < Y`, or `Z = X + 1`, which gives Z its value."""

    symbol: str
    left: Term
    right: Term
    plus: Term | None = None

    def __str__(self) -> str:
        return f"{self.left} {self.symbol} {self.right}" + ("" if self.plus is None else f" + {self.plus}")


Literal = Atom | Diamond | Box | Since | Not | Compare


def _bracketed(literal: Literal) -> str:
    """A since inside of something else stands in brackets."""
    return f"({literal})" if isinstance(literal, Since) else str(literal)


@dataclass(frozen=True)
class Rule:
    """`[]+[a,b] … H :- body`."""

    head: Atom
    body: tuple[Literal, ...]
    spans: tuple[Span, ...] = ()

    def __str__(self) -> str:
        head = " ".join([*(f"[]+{span}" for span in self.spans), str(self.head)])
        return f"{head} :- {', '.join(map(str, self.body))}."


@dataclass(frozen=True)
class Fact:
    atom: Ground
    span: Span

    def __str__(self) -> str:
        name, args = self.atom
        return f"{Atom(name, args)}@{self.span}"


def literals_in(literal: Literal) -> Iterator[Literal]:
    """The literal and everything inside it."""
    yield literal
    if isinstance(literal, Diamond | Box | Not):
        yield from literals_in(literal.child)
    elif isinstance(literal, Since):
        yield from literals_in(literal.left)
        yield from literals_in(literal.right)


def spans_of(rules: Iterable[Rule]) -> list[Span]:
    """The intervals of all operators, those of heads too."""
    found: list[Span] = []
    for rule in rules:
        found += rule.spans
        found += [part.span for literal in rule.body for part in literals_in(literal)
                  if isinstance(part, Diamond | Box | Since)]
    return found


def granularity(rules: Iterable[Rule]) -> Fraction | None:
    """The smallest length of an operator's interval; None where none is finite."""
    return min((span.length for span in spans_of(rules) if span.length is not None), default=None)


def window(rules: Iterable[Rule]) -> Fraction:
    """The largest number in an operator."""
    return max((n for span in spans_of(rules) for n in (span.low, span.high) if n is not None), default=Fraction(0))


# -- regions ----------------------------------------------------------------------------------------------------------


class Regions:
    """The regions up to a horizon: 0 is before everything, then points and gaps in turn, the last is the horizon."""

    def __init__(self, first: Fraction, last: Fraction, grid: Fraction) -> None:
        points = int((last - first) / grid) + 1
        self.spans = [Span(None, False, first, False)]
        for number in range(points):
            time = first + number * grid
            self.spans.append(Span(time, True, time, True))
            self.spans.append(Span(time, False, time + grid, False))
        del self.spans[-1]
        self.times = [first - grid, *(first + half * grid / 2 for half in range(2 * points - 1))]
        self._reached: dict[tuple[Span, int], range] = {}

    def __len__(self) -> int:
        return len(self.spans)

    def meeting(self, span: Span) -> range:
        """The regions that an interval has a time in common with."""
        first = bisect_left(self.spans, True, key=lambda region: not _before(region, span))
        last = bisect_left(self.spans, True, key=lambda region: _before(span, region))
        return range(first, max(first, last))

    def reached(self, span: Span, region: int) -> range:
        """The regions that an operator with this interval reaches back to."""
        known = self._reached.get((span, region))
        if known is None:
            known = self._reached[span, region] = self.meeting(span.back_from(self.times[region]))
        return known

    def joined(self, truth: list[bool]) -> list[Span]:
        """The maximal intervals of the regions where something is true."""
        result: list[Span] = []
        for _, group in itertools.groupby(enumerate(truth), lambda pair: pair[1]):
            members = [number for number, holds in group if holds]
            if members:
                first, last = self.spans[members[0]], self.spans[members[-1]]
                result.append(Span(first.low, first.low_closed, last.high, last.high_closed))
        return result


def common_grid(numbers: Iterable[Fraction]) -> Fraction:
    """The largest number of which all are multiples."""
    top, bottom = 0, 1
    for number in numbers:
        shared = lcm(bottom, number.denominator)
        top = gcd(top * (shared // bottom), number.numerator * (shared // number.denominator))
        bottom = shared
    return Fraction(top, bottom) if top else Fraction(1)


# -- the least model --------------------------------------------------------------------------------------------------

_COMPARE: dict[str, Callable[[object, object], bool]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "=": operator.eq, "!=": operator.ne}
Binding = Mapping[str, Constant]


def _value(term: Term, binding: Binding) -> Constant:
    return binding[term.name] if isinstance(term, Variable) else term


def matched(atom: Atom, fact: Ground, binding: Binding) -> Binding | None:
    """The binding that makes an atom equal to a ground one, or None."""
    name, args = fact
    if name != atom.name or len(args) != len(atom.args):
        return None
    found = dict(binding)
    for term, constant in zip(atom.args, args, strict=True):
        if isinstance(term, Variable):
            if found.setdefault(term.name, constant) != constant:
                return None
        elif term != constant:
            return None
    return found


def _binding_atoms(literal: Literal) -> Iterator[Atom]:
    """The atoms that must hold somewhere if the literal does."""
    if isinstance(literal, Atom):
        yield literal
    elif isinstance(literal, Diamond | Box):
        yield from _binding_atoms(literal.child)
    elif isinstance(literal, Since):
        yield from _binding_atoms(literal.right)
        if Fraction(0) not in literal.span:  # otherwise the right side may hold now, and the left is not asked
            yield from _binding_atoms(literal.left)


class Model:
    """The least model of rules and facts, up to a horizon (in the fragment, what comes later changes nothing)."""

    def __init__(self, rules: Iterable[Rule], facts: Iterable[Fact], horizon: Fraction | int) -> None:
        self.rules, self.horizon = list(rules), Fraction(horizon)
        facts = [fact for fact in facts if fact.span.low is None or fact.span.low <= self.horizon]
        ends = [end for fact in facts for end in (fact.span.low, fact.span.high) if end is not None]
        numbers = [n for span in spans_of(self.rules) for n in (span.low, span.high) if n is not None]
        grid = common_grid([*ends, *numbers, self.horizon])
        self.regions = Regions(min([*ends, self.horizon]), self.horizon, grid)
        self.truth: dict[Ground, list[bool]] = {}
        for fact in facts:
            truth = self._of(fact.atom)
            for region in self.regions.meeting(fact.span):
                truth[region] = True
        for stratum in self._strata():
            while any([self._apply(rule) for rule in stratum]):
                pass

    def _of(self, atom: Ground) -> list[bool]:
        return self.truth.setdefault(atom, [False] * len(self.regions))

    def _strata(self) -> list[list[Rule]]:
        """The rules in an order in which everything is known before it is denied."""
        level = dict.fromkeys((rule.head.name for rule in self.rules), 0)
        for _ in range(len(level) ** 2 + 1):
            for rule in self.rules:
                for literal in rule.body:
                    for part in literals_in(literal):
                        if isinstance(part, Atom) and part.name in level:
                            denied = any(isinstance(p, Not) and part in literals_in(p) for p in literals_in(literal))
                            level[rule.head.name] = max(level[rule.head.name], level[part.name] + denied)
        if max(level.values(), default=0) > len(level):
            raise ValueError("not stratified")
        return [[rule for rule in self.rules if level[rule.head.name] == n] for n in sorted(set(level.values()))]

    def _apply(self, rule: Rule) -> bool:
        """Derive everything that a rule gives now; says whether anything was new."""
        new = False
        for binding in list(self._bindings(rule)):
            holds = [True] * len(self.regions)
            for literal in rule.body:
                if not isinstance(literal, Compare):
                    holds = [a and b for a, b in zip(holds, self._evaluated(literal, binding), strict=True)]
            for span in rule.spans:  # []+ in a head makes true what <>- in a body would see
                holds = self._sometime(span, holds)
            if any(holds):
                truth = self._of((rule.head.name, tuple(_value(term, binding) for term in rule.head.args)))
                for region, here in enumerate(holds):
                    if here and not truth[region]:
                        truth[region] = new = True
        return new

    def _bindings(self, rule: Rule) -> Iterator[Binding]:
        atoms = [atom for literal in rule.body for atom in _binding_atoms(literal)]
        bindings: list[Binding] = [{}]
        for atom in atoms:
            bindings = [found for binding in bindings for fact in self.truth
                        if (found := matched(atom, fact, binding)) is not None]
        for binding in bindings:
            known: dict[str, Constant] | None = dict(binding)
            for literal in rule.body:
                if isinstance(literal, Compare) and known is not None:
                    known = _compared(literal, known)
            if known is not None:
                yield known

    def _sometime(self, span: Span, truth: list[bool]) -> list[bool]:
        return [any(truth[s] for s in self.regions.reached(span, t)) for t in range(len(self.regions))]

    def _always(self, span: Span, truth: list[bool]) -> list[bool]:
        return [all(truth[s] for s in self.regions.reached(span, t)) for t in range(len(self.regions))]

    def _since(self, span: Span, left: list[bool], right: list[bool]) -> list[bool]:
        result = []
        for region, time in enumerate(self.regions.times):
            back = span.back_from(time)
            found = False
            for s in self.regions.reached(span, region):
                if not right[s] or found:
                    continue
                if s == region and time in back:  # now: nothing lies in between
                    found = True
                elif s == region:  # earlier in the same region, which is a gap
                    found = left[s]
                else:
                    first = s if self.regions.spans[s].length != 0 else s + 1  # of a gap some part lies in between
                    last = region if self.regions.spans[region].length != 0 else region - 1
                    found = all(left[first:last + 1])
            result.append(found)
        return result

    def _evaluated(self, literal: Literal, binding: Binding) -> list[bool]:
        match literal:
            case Atom(name, args):
                known = self.truth.get((name, tuple(_value(term, binding) for term in args)))
                return [False] * len(self.regions) if known is None else known
            case Diamond(span, child):
                return self._sometime(span, self._evaluated(child, binding))
            case Box(span, child):
                return self._always(span, self._evaluated(child, binding))
            case Since(span, left, right):
                return self._since(span, self._evaluated(left, binding), self._evaluated(right, binding))
            case Not(child):
                return [not holds for holds in self._evaluated(child, binding)]
        raise TypeError(literal)

    def intervals(self) -> dict[str, list[str]]:
        """The maximal intervals of every atom that ever holds, as text, cut at the horizon."""
        found = {str(Atom(*atom)): [str(span) for span in self.regions.joined(truth)]
                 for atom, truth in self.truth.items()}
        return {atom: spans for atom, spans in sorted(found.items()) if spans}

    def holds(self, name: str, args: tuple[Constant, ...], time: Fraction) -> bool:
        """Whether an atom holds at a time up to the horizon."""
        known = self.truth.get((name, args))
        return known is not None and any(known[r] for r in self.regions.meeting(Span(time, True, time, True)))


def _compared(literal: Compare, binding: dict[str, Constant]) -> dict[str, Constant] | None:
    """The binding with what the comparison adds, or None where it is false."""
    value = _value(literal.right, binding)
    if literal.plus is not None:
        extra = _value(literal.plus, binding)
        if not (isinstance(value, Fraction) and isinstance(extra, Fraction)):
            return None
        value = value + extra
    if literal.symbol == "=" and isinstance(literal.left, Variable) and literal.left.name not in binding:
        return {**binding, literal.left.name: value}
    left = _value(literal.left, binding)
    if literal.symbol not in ("=", "!=") and not (isinstance(left, Fraction) and isinstance(value, Fraction)):
        return None
    return binding if _COMPARE[literal.symbol](left, value) else None
