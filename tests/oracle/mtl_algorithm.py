"""Algorithm 1 of the paper on stream reasoning in DatalogMTL, line by line, and its variant with #-facts. For tests.

Rules have no since, no negation and no comparisons. Corrections: `[]-` closes the ends that an open range leaves
closed, and a hole exactly as long as the shortest range is not bridged; facts may be intervals, whose ends are time
points too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction

from tests.oracle.mtl import (
    Atom,
    Binding,
    Box,
    Diamond,
    Fact,
    Ground,
    Literal,
    Rule,
    Span,
    Term,
    Variable,
    granularity,
    literals_in,
    matched,
    window,
)


@dataclass(frozen=True)
class Normal:
    """`head <- <>-span body`, `head <- []-span body`, or `head <- body1, …, bodyn`."""

    kind: str
    head: Atom
    body: tuple[Atom, ...]
    span: Span | None = None


def normal_form(rules: Iterable[Rule]) -> list[Normal]:
    """Proposition 6: one operator per rule; every operator of a nested literal gets a predicate of its own."""
    found: list[Normal] = []

    def fresh(variables: Iterable[Term]) -> Atom:
        return Atom(f"N{len(found)}", tuple(sorted(set(variables), key=str)))

    def named(literal: Literal, head: Atom | None = None) -> Atom:
        if isinstance(literal, Atom):
            return literal
        assert isinstance(literal, Diamond | Box)
        child = named(literal.child)
        atoms = [part for part in literals_in(literal) if isinstance(part, Atom)]
        head = head or fresh(term for atom in atoms for term in atom.args if isinstance(term, Variable))
        found.append(Normal("diamond" if isinstance(literal, Diamond) else "box", head, (child,), literal.span))
        return head

    for rule in rules:
        if len(rule.body) == 1 and not rule.spans and not isinstance(rule.body[0], Atom):
            named(rule.body[0], rule.head)
            continue
        body = tuple(named(literal) for literal in rule.body)
        heads = [rule.head, *(Atom(f"H{len(found)}_{n}", rule.head.args) for n in range(len(rule.spans)))]
        found.append(Normal("horn", heads[-1], body))
        found += [Normal("diamond", above, (below,), span)
                  for above, below, span in zip(heads, heads[1:], rule.spans, strict=False)]
    return found


def plus(x: Span, r: Span) -> Span:
    """x + r: where `<>-r` holds."""
    assert x.low is not None and r.low is not None
    high = None if x.high is None or r.high is None else x.high + r.high
    return Span(x.low + r.low, x.low_closed and r.low_closed, high,
                high is not None and x.high_closed and r.high_closed)


def circled(x: Span, r: Span) -> Span | None:
    """x ⊕ r: where `[]-r` holds."""
    if r.high is None:
        return None
    assert x.low is not None and x.high is not None and r.low is not None
    return checked(Span(x.low + r.high, x.low_closed or not r.high_closed, x.high + r.low,
                        x.high_closed or not r.low_closed))


def checked(x: Span) -> Span | None:
    """The interval, unless it is empty."""
    if x.low is not None and x.high is not None and (x.low > x.high or (
            x.low == x.high and not (x.low_closed and x.high_closed))):
        return None
    return x


def common(x: Span, y: Span) -> Span | None:
    """The intersection of two intervals."""
    low = max((s.low, not s.low_closed) for s in (x, y))  # type: ignore[type-var]
    highs = [(s.high, s.high_closed) for s in (x, y) if s.high is not None]
    high, closed = min(highs) if highs else (None, False)
    return checked(Span(low[0], not low[1], high, closed))


def joined(spans: Iterable[Span], gap: Fraction | None = Fraction(0)) -> list[Span]:
    """Overlapping and touching intervals as one, and those with a hole shorter than `gap` (None: any) between them."""
    result: list[Span] = []
    for span in sorted(spans, key=lambda s: (s.low, not s.low_closed)):  # type: ignore[return-value]
        last = result[-1] if result else None
        if last is not None and last.high is not None and span.low is not None:
            touch = span.low < last.high or (span.low == last.high and (span.low_closed or last.high_closed))
            if not touch and gap is not None and not span.low - last.high < gap:
                last = None
        if last is None:
            result.append(span)
        else:
            high = None if last.high is None or span.high is None else max(last.high, span.high)
            closed = any(s.high == high and s.high_closed for s in (last, span)) and high is not None
            result[-1] = Span(last.low, last.low_closed, high, closed)
    return result


@dataclass
class Algorithm1:
    """The stream algorithm; `answers` are the intervals of every atom of the program, `peak` is the most of |W ∪ H|."""

    rules: list[Rule]
    step: Fraction
    hashed: bool = False
    window: dict[Ground, list[Span]] = field(default_factory=dict)
    hashes: dict[Ground, list[Span]] = field(default_factory=dict)
    history: set[Ground] = field(default_factory=set)
    answers: dict[Ground, list[Span]] = field(default_factory=dict)
    peak: int = 0

    def run(self, facts: list[Fact], horizon: Fraction) -> dict[str, list[str]]:
        """Lines 1–14, up to a horizon; the maximal intervals of everything that the rules name."""
        self.normal, self.w, self.gran = normal_form(self.rules), window(self.rules), granularity(self.rules)
        events = sorted({end for fact in facts for end in (fact.span.low, fact.span.high) if end is not None})
        now = events[0] - self.step
        while now < horizon:
            following = min([now + self.step, *(event for event in events if event > now)])
            here = Span(now, False, min(following, horizon), True)
            for fact in facts:
                part = common(fact.span, here)
                if part is not None:
                    self._add(fact.atom, part)
            self._derive(here)
            for atom, spans in self.window.items():
                found = [part for span in spans if (part := common(span, here)) is not None]
                self.answers[atom] = joined([*self.answers.get(atom, []), *found])
            self.peak = max(self.peak, self.size)
            self._compact(here)
            now = following
        known = {part.name for rule in self.rules for literal in (rule.head, *rule.body)
                 for part in literals_in(literal) if isinstance(part, Atom)}
        return {str(Atom(*atom)): [str(span) for span in spans] for atom, spans in sorted(
            self.answers.items(), key=lambda pair: str(Atom(*pair[0]))) if spans and atom[0] in known}

    @property
    def size(self) -> int:
        """|W ∪ H|."""
        return sum(map(len, self.window.values())) + sum(map(len, self.hashes.values())) + len(self.history)

    def _add(self, atom: Ground, span: Span) -> bool:
        old = self.window.get(atom, [])
        self.window[atom] = new = joined([*old, span])
        return new != old

    def _derive(self, here: Span) -> None:
        """Tables 2 and 4, until nothing is new."""
        assert here.low is not None
        while True:
            if self.hashed:  # (@ → #) and (#∪)
                for atom, spans in self.window.items():
                    self.hashes[atom] = joined([*self.hashes.get(atom, []), *spans], self.gran)
            for atoms in (self.window, self.hashes):  # (H) and (#H)
                self.history |= {atom for atom, spans in atoms.items()
                                 if any(s.low is not None and s.low < here.low - self.w for s in spans)}
            new = [self._add(atom, span) for rule in self.normal for atom, span in list(self._derived(rule, here))]
            if not any(new):
                return

    def _derived(self, rule: Normal, here: Span) -> Iterator[tuple[Ground, Span]]:
        if rule.kind == "horn":
            yield from self._joined(rule, 0, {}, None)
            return
        assert rule.span is not None
        diamond = rule.kind == "diamond"
        for atom, spans in (self.hashes if diamond and self.hashed else self.window).items():
            binding = matched(rule.body[0], atom, {})
            if binding is not None:
                for x in spans:
                    moved = plus(x, rule.span) if diamond else circled(x, rule.span)
                    part = None if moved is None else common(moved, here)
                    if part is not None:
                        yield ground(rule.head, binding), part
        if diamond and rule.span.high is None:
            for atom in self.history:
                binding = matched(rule.body[0], atom, {})
                if binding is not None:
                    yield ground(rule.head, binding), here

    def _joined(self, rule: Normal, at: int, binding: Binding, span: Span | None) -> Iterator[tuple[Ground, Span]]:
        if at == len(rule.body):
            assert span is not None
            yield ground(rule.head, binding), span
            return
        for atom, spans in self.window.items():
            found = matched(rule.body[at], atom, binding)
            for x in spans if found is not None else ():
                both = x if span is None else common(x, span)
                if both is not None and found is not None:
                    yield from self._joined(rule, at + 1, found, both)

    def _compact(self, here: Span) -> None:
        """Tables 3 and 5."""
        assert here.low is not None
        kept = Span(here.low - self.w, True, here.high, True)
        for atoms in (self.window, self.hashes):
            for atom, spans in list(atoms.items()):
                atoms[atom] = [part for span in spans if (part := common(span, kept)) is not None]
        if self.hashed:  # (c5)
            for atom, spans in self.window.items():
                self.window[atom] = [s for s in spans if s.high == here.high or (
                    self.gran is not None and s.length is not None and s.length >= self.gran)]


def ground(atom: Atom, binding: Binding) -> Ground:
    """An atom whose variables all have a value."""
    return atom.name, tuple(binding[t.name] if isinstance(t, Variable) else t for t in atom.args)
