"""Random DatalogMTL programs and facts, as text and as trees of the oracle; small enough to read when a test fails.

Inputs are A, B (one argument), C (two), E (none) and V (an entity and a number). P, Q and R are derived and may depend
on themselves and on each other; S and T are derived from them and may deny them. Facts are given for
what the rules read, Q excepted (unless nothing else is read).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn
from tests.oracle.mtl import (
    Atom,
    Box,
    Compare,
    Constant,
    Diamond,
    Fact,
    Literal,
    Model,
    Not,
    Rule,
    Since,
    Span,
    Term,
    Variable,
    literals_in,
)

INPUTS = {"A": 1, "B": 1, "C": 2, "E": 0}
LOWER = {"P": 1, "Q": 1, "R": 2}
UPPER = {"S": 1, "T": 0}
ENTITIES = ("a", "b")
X, Y, N = Variable("X"), Variable("Y"), Variable("N")
HORIZON = Fraction(9)
_BOUNDS = [Fraction(n) for n in ("0", "1", "2", "1/2", "4/3", "3")]
_STARTS = [Fraction(n) for n in ("0", "1", "2", "3", "4", "5", "1/2", "7/2", "1/3", "8/3")]
_LENGTHS = [Fraction(n) for n in ("0", "2", "5", "1/2", "4/3", "4")]


@dataclass(frozen=True)
class Kind:
    """Which constructs a random program may have."""

    punctual: bool = True
    since: bool = True
    negation: bool = True
    numbers: bool = True
    endless: bool = True
    """Facts that hold from ever on, or for ever, and rules without a body."""
    depth: int = 3


@dataclass(frozen=True)
class Case:
    """A program with its facts; what holds after the horizon is not asked for."""

    rules: tuple[Rule, ...]
    facts: tuple[Fact, ...]
    horizon: Fraction = HORIZON

    @property
    def text(self) -> str:
        """The program in the syntax of `.mtl` files."""
        return "".join(f"{rule}\n" for rule in self.rules)

    @property
    def fact_text(self) -> str:
        """The facts in the syntax of `.facts` files."""
        return "".join(f"{fact}\n" for fact in self.facts)

    def answer(self) -> dict[str, list[str]]:
        """The maximal intervals of everything that holds, by definition."""
        return self.model().intervals()

    def model(self) -> Model:
        """The least model."""
        return Model(self.rules, self.facts, self.horizon)

    def without(self, facts: list[Fact]) -> Case:
        """The same program over fewer facts."""
        return replace(self, facts=tuple(fact for fact in self.facts if fact not in facts))


def _spans(kind: Kind) -> list[Span]:
    found = [Span(Fraction(0), True, Fraction(1), True)]
    for low in _BOUNDS:
        for high in [bound for bound in _BOUNDS if bound > low]:
            found += [Span(low, left, high, right) for left in (True, False) for right in (True, False)]
        found += [Span(low, left, None, False) for left in (True, False)]
        if kind.punctual:
            found.append(Span(low, True, low, True))
    return found


@st.composite
def _atoms(draw: DrawFn, names: dict[str, int], variables: tuple[Variable, ...]) -> Atom:
    name = draw(st.sampled_from(sorted(names)))
    terms: list[Term] = [*variables[:1] * 3, *variables, *ENTITIES]  # mostly the same variable, so that bodies hold
    return Atom(name, tuple(draw(st.sampled_from(terms)) for _ in range(names[name])))


@st.composite
def _literals(draw: DrawFn, kind: Kind, names: dict[str, int], variables: tuple[Variable, ...], depth: int) -> Literal:
    shape = draw(st.sampled_from(["atom", "diamond", "box"] + (["since"] if kind.since else []))) if depth else "atom"
    if shape == "atom":
        return draw(_atoms(names, variables))
    span = draw(st.sampled_from(_spans(kind)))
    child = draw(_literals(kind, names, variables, depth - 1))
    if shape == "since":
        # with the present in its range, a since may hold without its left side, which then binds nothing
        bound = tuple(sorted(_variables(child), key=str)) if Fraction(0) in span else variables
        return Since(span, draw(_literals(kind, names, bound, draw(st.sampled_from([0, depth - 1])))), child)
    return (Diamond if shape == "diamond" else Box)(span, child)


def _variables(literal: Literal) -> set[Variable]:
    return {term for part in literals_in(literal) if isinstance(part, Atom)
            for term in part.args if isinstance(term, Variable)}


@st.composite
def _rules(draw: DrawFn, kind: Kind, heads: dict[str, int], known: dict[str, int], denied: dict[str, int]) -> Rule:
    body = [draw(_literals(kind, known, (X, Y), draw(st.sampled_from(range(kind.depth + 1)))))
            for _ in range(draw(st.sampled_from([1, 1, 1, 2, 3])))]
    if kind.numbers and draw(st.sampled_from([False, False, True])):
        body.append(Atom("V", (X, N)))
        body.append(Compare(draw(st.sampled_from(["<", "<=", ">", ">=", "!=", "="])), N, Fraction(2)))
    bound = tuple(sorted(set().union(*(_variables(literal) for literal in body)) - {N}, key=str))
    if kind.negation and draw(st.sampled_from([False, False, True])):
        body.append(Not(draw(_literals(kind, denied, bound, draw(st.sampled_from([0, 0, 1, 2]))))))
    name = draw(st.sampled_from(sorted(heads)))
    terms: list[Term] = [*bound] or ["a"]
    head = Atom(name, tuple(draw(st.sampled_from(terms)) for _ in range(heads[name])))
    spans = [draw(st.sampled_from(_spans(kind))) for _ in range(draw(st.sampled_from([0, 0, 0, 1, 2])))]
    return Rule(head, tuple(body), tuple(spans))


@st.composite
def _facts(draw: DrawFn, kind: Kind, name: str) -> Fact:
    arity = {**INPUTS, **LOWER, "V": 1}[name]
    args: tuple[Constant, ...] = tuple(draw(st.sampled_from(("a", *ENTITIES))) for _ in range(arity))
    if name == "V":
        args += (Fraction(draw(st.sampled_from([1, 2, 3]))),)
    start, length = draw(st.sampled_from(_STARTS)), draw(st.sampled_from(_LENGTHS))
    closed = [True, True] if length == 0 else [draw(st.booleans()), draw(st.booleans())]
    low: Fraction | None = start
    high: Fraction | None = start + length
    if kind.endless and length == _LENGTHS[-1]:
        ends = draw(st.sampled_from(["", "low", "high"]))
        if ends == "low":
            low, high = None, start  # it may end before anything else begins
        elif ends == "high":
            high = None
        closed = [closed[0] and low is not None, closed[1] and high is not None]
    return Fact((name, args), Span(low, closed[0], high, closed[1]))


@st.composite
def cases(draw: DrawFn, kind: Kind = Kind()) -> Case:  # noqa: B008 (frozen)
    """A random program with random facts."""
    rules = [draw(_rules(kind, LOWER, {**INPUTS, **LOWER}, INPUTS)) for _ in range(draw(st.integers(1, 3)))]
    derived = {rule.head.name: LOWER[rule.head.name] for rule in rules}
    rules += [draw(_rules(kind, UPPER, {**INPUTS, **LOWER}, {**INPUTS, **derived}))
              for _ in range(draw(st.integers(0, 2)))]
    read = {part.name for rule in rules for literal in rule.body for part in literals_in(literal)
            if isinstance(part, Atom) and not isinstance(literal, Not)}
    facts = [draw(_facts(kind, name)) for name in sorted(read - {"Q"}) or sorted(read)
             for _ in range(draw(st.sampled_from([2, 1, 3])))]
    return Case(tuple(rules), tuple(dict.fromkeys(facts)))
