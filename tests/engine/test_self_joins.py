"""Rules that read one fluent at several places, with permuted, equal and constant arguments: windows and sessions say
what one window says."""

from __future__ import annotations

from random import Random

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import eventide as ev

PEOPLE = "person(a). person(b). person(c). person(d).\n"
CALLS = PEOPLE + """
grounding(call(P,Q)=true) :- person(P), person(Q).
initiatedAt(call(P,Q)=true, T) :- happensAt(dial(P,Q), T).
terminatedAt(call(P,Q)=true, T) :- happensAt(hang(P,Q), T).
"""
STATIC = CALLS + """
holdsFor(m(P,Q)=true, I) :- holdsFor(call(P,Q)=true,I1), holdsFor(call(Q,P)=true,I2), {}.
"""
PROGRAMS = {
    "intersection": STATIC.format("intersect_all([I1,I2],I)"),
    "union": STATIC.format("union_all([I1,I2],I)"),
    "complement": STATIC.format("relative_complement_all(I1,[I2],I)"),
    "allen": STATIC.format("allen(overlaps,I1,I2,union,I)"),
    "chain": CALLS + """
holdsFor(m(P,R)=true, I) :- holdsFor(call(P,Q)=true,I1), holdsFor(call(Q,R)=true,I2), intersect_all([I1,I2],I).""",
    "equal and constant": CALLS + """
holdsFor(m(P)=true, I) :-
    holdsFor(call(P,P)=true,I1), holdsFor(call(P,a)=true,I2), holdsFor(call(a,P)=true,I3), union_all([I1,I2,I3],I).""",
    "end with holdsAt": CALLS + """
initiatedAt(m(P)=true,T) :- happensAt(end(call(P,_)=true),T), holdsAt(call(_,P)=true,T).
terminatedAt(m(P)=true,T) :- happensAt(hang(_,P),T).""",
    "end with negation": CALLS + r"""
initiatedAt(m(P)=true,T) :- happensAt(end(call(P,_)=true),T), \+ holdsAt(call(_,P)=true,T).
terminatedAt(m(P)=true,T) :- happensAt(hang(_,P),T).""",
    "start and end": CALLS + r"""
initiatedAt(m(P,Q)=true,T) :- happensAt(start(call(P,Q)=true),T).
terminatedAt(m(P,Q)=true,T) :- happensAt(end(call(Q,P)=true),T), \+ holdsAt(call(P,Q)=true,T).""",
    "two holdsAt": CALLS + """
initiatedAt(m(P,Q)=true,T) :- happensAt(dial(P,Q),T), holdsAt(call(Q,P)=true,T), holdsAt(call(P,Q)=true,T).
terminatedAt(m(P,Q)=true,T) :- happensAt(hang(Q,P),T).""",
    "count": CALLS + """
initiatedAt(m(P)=true,T) :- happensAt(dial(P,_),T), findall(Q, holdsAt(call(Q,P)=true,T), L), length(L,N), N>1.
terminatedAt(m(P)=true,T) :- happensAt(hang(P,_),T), findall(Q, holdsAt(call(P,Q)=true,T), L), length(L,N), N>1.""",
    "several values, cyclic": PEOPLE + r"""
val(on). val(off). val(mid).
grounding(m(P,Q)=V) :- person(P), person(Q), val(V).
initiatedAt(m(P,Q)=on,T) :- happensAt(dial(P,Q),T), \+ holdsAt(m(Q,P)=on,T).
initiatedAt(m(P,Q)=off,T) :- happensAt(hang(P,Q),T), holdsAt(m(Q,P)=on,T).
initiatedAt(m(P,Q)=mid,T) :- happensAt(start(m(Q,P)=on),T), happensAt(hang(P,Q),T).""",
    "three arguments": PEOPLE + """
initiatedAt(t(P,Q,R)=true,T) :- happensAt(dial(P,Q),T), happensAt(dial(Q,R),T).
initiatedAt(t(P,Q,P)=true,T) :- happensAt(dial(P,Q),T).
terminatedAt(t(P,Q,R)=true,T) :- happensAt(hang(P,Q),T), person(R).
holdsFor(m(P,Q)=true,I) :-
    holdsFor(t(P,Q,_)=true,I1), holdsFor(t(_,P,Q)=true,I2), holdsFor(t(P,_,P)=true,I3),
    union_all([I2,I3],I4), intersect_all([I1,I4],I).""",
}
LAST = 120
CUTS = ((LAST, 1), (LAST, 5), (LAST, 10), (LAST, 30), (10, 10), (7, 3), (3, 1))
Call = tuple[int, str, str, str]


def table(calls: list[Call]) -> pa.Table:
    """Calls in order of time."""
    columns = zip(*sorted(calls), strict=True)
    return pa.table(dict(zip(("time", "event", "from", "to"), columns, strict=True)))


def rows(result: pa.Table) -> list[tuple[object, ...]]:
    """What was recognised, in order."""
    return sorted((tuple(row.values()) for row in result.to_pylist()), key=repr)


CALL = st.tuples(st.integers(1, LAST), st.sampled_from(("dial", "dial", "hang")), st.sampled_from("abcd"),
                 st.sampled_from("abcd"))


@pytest.mark.parametrize("name", PROGRAMS)
@given(calls=st.lists(CALL, min_size=3, max_size=40), cut=st.sampled_from(CUTS), seed=st.integers(0, 1000))
def test_windows_and_sessions_say_what_one_window_says(name: str, calls: list[Call], cut: tuple[int, int],
                                                       seed: int) -> None:
    program = ev.parse(PROGRAMS[name])
    facts, (window, step) = table(calls), cut
    expected = rows(program.run(facts, start=0, end=LAST).to_arrow())
    assert rows(program.run(facts, start=0, end=LAST, window=window, step=step).to_arrow()) == expected
    session, random = program.session(start=0), Random(seed)
    held: set[tuple[object, ...]] = set()
    given_so_far: list[Call] = []
    for query in (*sorted(random.sample(range(1, LAST), 5)), LAST):
        late = [call for call in calls if call not in given_so_far and call[0] <= query and random.random() < 0.7]
        given_so_far += late
        if query == LAST:
            late += [call for call in calls if call not in given_so_far]
        if late:
            session.insert(table(late))
        changes = session.advance(query)
        held = (held - set(rows(changes.removed))) | set(rows(changes.added))
    assert sorted(held, key=repr) == expected


def test_what_reads_a_fluent_twice_sees_all_of_it_twice() -> None:
    facts = table([(61, "dial", "c", "d"), (87, "dial", "d", "c"), (91, "dial", "b", "c")])
    program = ev.parse(PROGRAMS["intersection"])
    for step in (120, 10, 5):
        found = program.run(facts, start=0, end=120, window=120, step=step)["m"].timeline()
        assert found == {"m(c,d)=true": [(88, None)], "m(d,c)=true": [(88, None)]}
