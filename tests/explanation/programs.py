"""Programs with what the families of random programs lack, and random facts for what they read."""

from __future__ import annotations

from hypothesis import strategies as st
from tests.oracle.programs import Case, interval_fact, mentions
from tests.oracle.store import Fact

LAST = 26
ENTITIES = st.sampled_from("xyz")

PROGRAMS = {
    "weights": """
        weight(0.6)::initiatedAt(f(X)=true, T) :- happensAt(a(X), T).
        weight(0.5)::initiatedAt(f(X)=true, T) :- happensAt(b(X), T).
        weight(-0.4)::initiatedAt(f(X)=true, T) :- happensAt(c(X), T).
        weight(-0.2)::initiatedAt(f(X)=true, T).
        weight(0.7)::terminatedAt(f(X)=true, T) :- happensAt(d(X), T).
        weight(-0.3)::terminatedAt(f(X)=true, T) :- happensAt(b(X), T).
        initiatedAt(g(X)=true, T) :- happensAt(c(X), T), holdsAt(f(X)=true, T).
        terminatedAt(g(X)=true, T) :- happensAt(d(X), T), \\+ holdsAt(f(X)=true, T).
    """,
    "counts": """
        initiatedAt(f(X)=true, T) :- happensAt(a(X), T), findall(Y, happensAt(b(Y), T), L), length(L, N), N >= 2.
        terminatedAt(f(X)=true, T) :- happensAt(c(X), T), findall(Y, holdsAt(h(Y)=true, T), L), length(L, N), N < 2.
        initiatedAt(h(X)=true, T) :- happensAt(b(X), T).
        terminatedAt(h(X)=true, T) :- happensAt(d(X), T).
        initiatedAt(many(X)=N, T) :- happensAt(c(X), T), findall(Y, holdsAt(h(Y)=true, T), L), length(L, N).
    """,
    "background": """
        pair(x, y). pair(y, z). pair(z, x). size(x, 3). size(y, 5). size(z, 8).
        big(X) :- size(X, S), S > 4.
        initially(h(X)=true) :- big(X).
        initiatedAt(f(X, Y)=true, T) :-
            happensAt(a(X), T), pair(X, Y), holdsAt(h(Y)=true, T), size(X, S), size(Y, R), S < R.
        terminatedAt(f(X, Y)=true, T) :- happensAt(b(Y), T), pair(X, Y), \\+ happensAt(c(X), T).
        terminatedAt(h(X)=true, T) :- happensAt(d(X), T).
        initiatedAt(h(X)=true, T) :- happensAt(c(X), T), \\+ big(X).
        holdsFor(s(X)=true, I) :-
            pair(X, Y), holdsFor(f(X, Y)=true, A), holdsFor(h(X)=true, B), union_all([A, B], U),
            holdsFor(h(Y)=true, C), relative_complement_all(U, [C], I).
    """,
    "initial values": """
        initially(m(X)=lo).
        grounding(m(X)=V) :- person(X), level(V).
        person(x). person(y). level(lo). level(hi).
        initiatedAt(m(X)=hi, T) :- happensAt(a(X), T).
        initiatedAt(m(X)=lo, T) :- happensAt(b(X), T), \\+ happensAt(c(X), T).
        fi(m(X)=hi, m(X)=lo, 4).
        p(m(_)=hi).
        happensAt(up(X), T) :- happensAt(start(m(X)=hi), T).
        initiatedAt(n(X)=true, T) :- happensAt(up(X), T), happensAt(d(_), T).
        terminatedAt(n(X)=true, T) :- happensAt(end(m(X)=hi), T).
        initially(k(X)=V) :- start(X, V), V > 0.
        grounding(k(X)=V) :- person(X), start(_, V).
        start(x, 0). start(x, 1). start(y, 2).
        initiatedAt(k(X)=V, T) :- happensAt(n(X, V), T).
    """,
    "delays": """
        initiatedAt(al(X)=on, T) :- happensAt(a(X), T).
        terminatedAt(al(X)=on, T) :- happensAt(b(X), T).
        fi(al(X)=on, al(X)=off, D) :- patience(X, D).
        p(al(_)=on).
        patience(x, 3). patience(y, 7).
        fi(al(X)=off, al(X)=idle, 4).
        initially(al(X)=idle).
        grounding(al(X)=V) :- patience(X, _), value(V).
        value(on). value(off). value(idle).
        initiatedAt(d(X)=busy, T) :- happensAt(start(al(X)=off), T).
        fi(d(X)=busy, d(X)=free, 3).
        fi(d(X)=free, d(X)=busy, 4).
        terminatedAt(d(X)=_, T) :- happensAt(n(X, V), T), V > 2.
        holdsFor(s(X)=true, I) :- holdsFor(al(X)=off, I1), holdsFor(d(X)=free, I2), union_all([I1, I2], I).
    """,
    "numbers": """
        initiatedAt(f(X)=true, T) :- happensAt(n(X, W), T), W > 1, findall(Y, (happensAt(m(Y, V), T), V > W), L),
            length(L, N), N >= 1.
        terminatedAt(f(X)=true, T) :- happensAt(n(X, W), T), \\+ (happensAt(m(_, V), T), V > W).
        initiatedAt(g(X)=true, T) :- happensAt(n(X, W), T), \\+ W > 3, \\+ (W > 1, W < 2), number(W).
        terminatedAt(g(X)=true, T) :- happensAt(m(X, V), T), V > 3, happensAt(n(X, W), T), \\+ W > V.
        initiatedAt(num(X)=W, T) :- happensAt(n(X, D), T), W is D * 2 + 1, W < 9.
        happensAt(jump(X, D), T) :- happensAt(n(X, D), T), holdsAt(num(X)=V, T), D > V.
    """,
    "choices": """
        initiatedAt(f(X)=true, T) :- ( happensAt(a(X), T) ; happensAt(n(X, D), T), D > 2 ).
        initiatedAt(lev(X)=L, T) :- happensAt(n(X, D), T), ( D > 3 -> L = high ; D > 1 -> L = mid ; L = low ).
        terminatedAt(lev(X)=_, T) :- happensAt(b(X), T), \\+ ( happensAt(a(Y), T), holdsAt(f(Y)=true, T) ).
        terminatedAt(f(X)=true, T) :- happensAt(b(X), T), holdsAt(lev(X)=L, T), ( L = high ; L = low ).
        holdsFor(mix(X)=alone, I) :-
            holdsFor(f(X)=true, I1), holdsFor(lev(X)=_, I2), relative_complement_all(I1, [I2], I).
        holdsFor(mix(X)=both, I) :- holdsFor(f(X)=true, I1), holdsFor(lev(X)=_, I2), intersect_all([I1, I2], I).
    """,
    "whole lists": """
        collectIntervals(v(_)=true). collectIntervals(c(_)=true).
        holdsFor(late(X)=true, I) :-
            holdsFor(v(X)=true, I1), findall((S, E), (member((S, E), I1), S >= 10), I).
        holdsFor(long(X)=true, I) :-
            holdsFor(v(X)=true, I1), findall((S, E), (member((S, E), I1), E - S > 4), I2),
            holdsFor(c(X)=true, I3), union_all([I2, I3], I).
        holdsFor(silent(X)=true, I) :- holdsFor(v(X)=true, I), holdsFor(c(X)=true, I2), I2 = [].
        holdsFor(caller(X)=true, I) :- holdsFor(v(X)=true, I), holdsFor(c(X)=true, I2), I2 \\= [].
        holdsFor(free(X)=true, I) :- holdsFor(c(X)=true, I1), complement_all([I1], I).
        grounding(free(X)=true) :- person(X).
        person(x). person(y).
        initiatedAt(g(X)=true, T) :- happensAt(start(free(X)=true), T).
        terminatedAt(g(X)=true, T) :- happensAt(a(X), T).
        holdsFor(quiet(X)=true, I) :-
            holdsFor(free(X)=true, I1), holdsFor(g(X)=true, I2), intersect_all([I1, I2], J), intDurLess(J, 9, I).
    """,
    "points": """
        points(w(_)=true). buildFromPoints(w(_)=true). points(q(_)=true).
        buildFromPoints(noisy(X)=true, n(X, _)).
        holdsFor(k(X)=true, I) :- holdsFor(w(X)=true, I1), holdsFor(noisy(X)=true, I2), union_all([I1, I2], I).
        holdsFor(l(X)=true, I) :- holdsFor(w(X)=true, I1), holdsFor(noisy(X)=true, I2), intersect_all([I1, I2], I).
        holdsFor(m(X)=true, I) :-
            holdsFor(k(X)=true, I1), holdsFor(l(X)=true, I2), relative_complement_all(I1, [I2], I).
        holdsFor(o(X)=true, I) :- holdsFor(k(X)=true, I1), intDurGreater(I1, 6, I).
        initiatedAt(r(X)=true, T) :- happensAt(end(noisy(X)=true), T).
        terminatedAt(r(X)=true, T) :- happensAt(start(w(X)=true), T).
        initiatedAt(s(X)=true, T) :- holdsAt(q(X)=true, T), \\+ holdsAt(w(X)=true, T).
    """,
    "dynamic domains": """
        dynamicDomain(who(_)).
        grounding(a(X)) :- who(X).
        grounding(n(X, _)) :- who(X).
        grounding(calm(X)=true) :- who(X).
        initially(calm(_)=true).
        terminatedAt(calm(X)=true, T) :- happensAt(b(X), T).
        initiatedAt(calm(X)=true, T) :- happensAt(a(X), T), \\+ happensAt(n(X, _), T).
        grounding(knows(X, Y)=true) :- who(X), who(Y).
        initiatedAt(knows(X, _)=true, T) :- happensAt(b(X), T).
        terminatedAt(knows(X, Y)=true, T) :- happensAt(n(Y, _), T), holdsAt(knows(X, Y)=true, T).
        grounding(upset(X)=true) :- who(X).
        holdsFor(upset(X)=true, I) :- holdsFor(calm(X)=true, I1), complement_all([I1], I).
        grounding(long(X)=true) :- who(X).
        holdsFor(long(X)=true, I) :- holdsFor(upset(X)=true, I1), intDurGreater(I1, 5, I).
        initiatedAt(after(X)=true, T) :- happensAt(end(long(X)=true), T).
    """,
}


@st.composite
def cases(draw: st.DrawFn, name: str) -> Case:
    """One of the programs over facts of what it reads, with times on and off the grid."""
    text = PROGRAMS[name]
    times, number = st.integers(1, LAST - 2), st.integers(0, 5)
    kinds: dict[str, st.SearchStrategy[Fact]] = {
        event: st.tuples(st.just("event"), st.just(event), st.tuples(ENTITIES), times) for event in "abcd"}
    for event in "nm":
        kinds[event] = st.tuples(st.just("event"), st.just(event), st.tuples(ENTITIES, number), times)
    for fluent in "vc":
        if f"collectIntervals({fluent}(" in text:
            kinds[fluent] = st.builds(interval_fact, st.just(fluent), st.tuples(ENTITIES), times, st.integers(1, 8))
    for fluent in "wq":
        kinds[fluent] = st.tuples(st.just("point"), st.just(fluent), st.tuples(ENTITIES), st.just("true"), times)
    read = [kind for kind in kinds if mentions(text, kind)]
    if "points" in text:
        read = ["w", "q", "n"]
    facts = draw(st.lists(st.one_of([kinds[kind] for kind in read]), min_size=1, max_size=16, unique=True))
    return Case(text, "", facts, draw(st.sampled_from((1, 1, 2, 5))), draw(st.sampled_from((-1, 0, 6))))
