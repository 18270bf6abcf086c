"""DatalogMTL programs with more facts than the random ones have, and what those lack: long chains of derivation,
negation below negation, values that are computed, facts of derived predicates."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import strategies as st
from tests.oracle.mtl import Constant, Fact, Span
from tests.oracle.mtl_programs import Case
from tests.oracle.mtl_text import rules_of

HORIZON = Fraction(12)
_STARTS = [Fraction(n) for n in ("0", "1/2", "1", "2", "5/2", "3", "4", "5", "6", "7", "17/2", "9")]
_LENGTHS = [Fraction(n) for n in ("0", "0", "1/2", "1", "2", "4")]
# For each program what its facts are about: the name, and for each argument the values.
AB, NUMBERS = ("a", "b"), (Fraction(1), Fraction(2), Fraction(3))
PROGRAMS: dict[str, tuple[str, dict[str, tuple[tuple[Constant, ...], ...]]]] = {
    "links": ("""
        R(X,Y) :- L(X,Y)
        R(X,Z) :- R(X,Y), <>-[0,1] R(Y,Z)
        Safe(X) :- []-[0,1] R(X,X), not Bad(X)
        Bad(X) :- L(X,Y), <>-[0,2] Down(Y)
     """, {"L": (("a", "b", "c"), ("a", "b", "c")), "Down": (AB,)}),
    "monitor": ("""
        Recent(Z) :- <>-[0,2] Sig(Z)
        Steady(Z) :- []-[0,3] Recent(Z)
        Flag(X,Z) :- Mon(X,Z), Steady(Z)
        Req(X,Z) :- Conn(X,Y), Flag(Y,Z)
        []+[0,3] Mon(X,Z) :- Req(X,Z), Scope
     """, {"Sig": (("s",),), "Conn": (AB, AB), "Mon": (AB, ("s",)), "Scope": ()}),
    "negation": ("""
        Test(X) :- Drill(X), not Real(X)
        Alarm(X) :- Smoke(X), not <>-[0,1] Test(X)
        Calm(X) :- Room(X), not (Alarm(X) since[0,2] Smoke(X)), not []-[0,2] Room(X)
        Alarm(X) :- []-[0,1] Calm(X), not Drill(X)
     """.replace("Alarm(X) :- []-[0,1] Calm", "Late(X) :- []-[0,1] Calm"),
                 {"Drill": (AB,), "Real": (AB,), "Smoke": (AB,), "Room": (AB,)}),
    "values": ("""
        Rise(X,D) :- V(X,N), <>-(0,1] V(X,M), M < N, D = N + M
        High(X) :- Rise(X,D), D > 3
        Count(Y) :- <>-[1,1] Count(X), Y = X + 1, Y <= 4
        Both(X) :- High(X) since(0,3] Count(2), not V(X,1)
     """, {"V": (AB, NUMBERS), "Count": ((Fraction(1), Fraction(2)),)}),
    "growth": ("""
        P(X) :- A(X) since[0,1] P(X), not B(X)
        P(X) :- <>-[1,1] P(X), E
        []+(0,1] Q(X) :- P(X)
        Q(X) :- []-(0,1) Q(X)
        []+[0,1] []+[1,1] S(X) :- Q(X), not P(X)
     """, {"A": (AB,), "P": (AB,), "B": (AB,), "E": (), "Q": (AB,)}),
}


@st.composite
def cases(draw: st.DrawFn, name: str) -> Case:
    """One of the programs with random facts."""
    text, inputs = PROGRAMS[name]
    facts = []
    for number in range(draw(st.integers(4, 16))):
        kind = sorted(inputs)[number % len(inputs)]
        args = tuple(draw(st.sampled_from(values)) for values in inputs[kind])
        start, length = draw(st.sampled_from(_STARTS)), draw(st.sampled_from(_LENGTHS))
        left, right = (True, True) if not length else (draw(st.booleans()), draw(st.booleans()))
        facts.append(Fact((kind, args), Span(start, left, start + length, right)))
    return Case(tuple(rules_of(text)), tuple(dict.fromkeys(facts)), HORIZON)
