"""Contexts of a stream: conflicts and largest consistent sets of facts as trying all sets of facts gives them."""

from __future__ import annotations

from itertools import chain, combinations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.lars.sessions import fact, session_at
from tests.oracle import lars, lars_clingo
from tests.oracle.lars_text import Shape, programs, streams

import eventide as ev
from eventide.errors import InputError
from eventide.lars.contexts import Contexts, answer_texts, at_time
from eventide.lars.maintained import MaintainedSession
from eventide.lars.values import ground_text

Stream = list[tuple[int, list[str]]]


def subsets(items: list[tuple[int, str]]) -> list[frozenset[tuple[int, str]]]:
    return list(map(frozenset, chain.from_iterable(combinations(items, n) for n in range(len(items) + 1))))


def stream_of(facts: frozenset[tuple[int, str]]) -> Stream:
    return [(time, sorted(text for moment, text in facts if moment == time)) for time in sorted({t for t, _ in facts})]


@st.composite
def quarrels(draw: st.DrawFn) -> str:
    """Programs in which facts often contradict each other: few atoms, and many contradictions between them."""
    inputs, derived = ["p(X)", "b(X)", "s"], ["d0(X)", "d1(X)", "d2"]
    literal = st.tuples(st.sampled_from(["p(X)", "p(X)", "b(X)", "s", "d0(X)", "d1(X)"]),
                        st.sampled_from(["", " [1]", " [3]", " [3]", " always [1]"])).map("".join)
    maybe = st.one_of(st.just(""), st.just(""), literal.map(", {}".format), literal.map(", not {}".format))
    lines = [f"{head} :- p(X) [{draw(st.integers(0, 3))}]{draw(maybe)}." for head in draw(
        st.lists(st.sampled_from(derived), min_size=2, max_size=5))]
    for _ in range(draw(st.integers(1, 3))):
        one, two = (draw(st.sampled_from([*derived, *inputs])) for _ in range(2))
        lines.append(f":- {one}, {two} [{draw(st.integers(0, 3))}]{draw(maybe)}, p(X) [3].")
    return "\n".join(lines)


few = st.lists(st.tuples(st.integers(0, 3), st.sampled_from(["p(a)", "p(a)", "p(b)", "b(a)", "s"])), min_size=1,
               max_size=6, unique=True).map(lambda facts: stream_of(frozenset(facts)))


# Windows of tuples count facts that are not believed, too: what has arrived has arrived.
SHAPE = Shape(contradictions=True, tuples=False, partitions=False)

TABLE = """
limitedParking(L) at T :- culturalEvent(L) at T [60], parkingCapacity(L,C) at T [60], C <= 20, area(L).
congestedRoad(L) at T :- averageSpeed(L,V) at T [60], V <= 20, area(L).
congestedRoadActivity(L) at T :- limitedParking(L) at T [60], congestedRoad(L) at T [60].
freeRoadActivity(L) at T :- closedRoad(L) at T [60], area(L).
:- freeRoadActivity(L) at T, congestedRoadActivity(L) at T.
poorAirQuality(L) at T :- congestedRoadActivity(L) at T [60], pollution(P) at T [60], P >= 50.
limitedAccessArea(L) at T :- congestedRoadActivity(L) at T [60].
area("StreetA"). area("StreetB").
"""
EVENING: Stream = [
    (9, ['culturalEvent("StreetA")', 'parkingCapacity("StreetA",3)', 'averageSpeed("StreetA",9)',
         'closedRoad("StreetA")', "pollution(62)"])]


@given(st.one_of(st.tuples(quarrels(), few), st.tuples(quarrels(), few), st.tuples(programs(SHAPE), streams(3, 2))),
       st.integers(0, 1))
def test_contexts_are_what_trying_all_gives(case: tuple[str, Stream], more: int) -> None:
    """Every context has the answers of the stream without what it gives up; conflicts have none, but for any fact."""
    text, stream = case
    tree, last = lars.program(text), max((time for time, _ in stream), default=0) + more
    session = session_at(tree, stream, sorted({*dict(stream), last}))
    shown = session.facts()
    assume(len(shown) <= 5)
    hidden = {(time, text) for time, facts in stream for text in facts} - {
        (f.time, ground_text(f.name, f.row)) for f in shown}

    def has_answer(facts: frozenset[tuple[int, str]]) -> bool:
        return bool(lars_clingo.answer_streams(tree, stream_of(facts | hidden), last))

    every = frozenset((f.time, ground_text(f.name, f.row)) for f in shown)
    contexts = Contexts(session)
    assert contexts.is_consistent() == has_answer(every)
    offered = [frozenset((f.time, ground_text(f.name, f.row)) for f in context.facts) for context in contexts.maximal()]
    consistent = [kept for kept in subsets(sorted(every)) if has_answer(kept)]
    assert all(kept in consistent for kept in offered)
    assert not any(one < other for one in offered for other in offered)
    conflicts = [frozenset((f.time, ground_text(f.name, f.row)) for f in c.facts) for c in contexts.conflicts()]
    for conflict in conflicts:
        assert not has_answer(conflict)
        assert all(has_answer(conflict - {one}) for one in conflict)
    if "not " not in text:  # then every part of a consistent set is consistent, and nothing is missed
        assert set(offered) == {one for one in consistent if not any(one < other for other in consistent)}
        wrong = [kept for kept in subsets(sorted(every)) if not has_answer(kept)]
        assert set(conflicts) == {one for one in wrong if not any(other < one for other in wrong)}
    for context in contexts.maximal():
        kept = frozenset((f.time, ground_text(f.name, f.row)) for f in context.facts)
        expected = lars_clingo.answer_streams(tree, stream_of(kept | hidden), last)
        heads = {name for name, _ in session.heads}
        now = {frozenset(atom for atom, time in answer if time == last) for answer in expected}
        assert {frozenset(ground_text(name, row) for name, row, time in answer if time == last)
                for answer in context.answers} == now
        assert all(name in heads for answer in context.answers for name, _, _ in answer)


@given(programs(Shape(contradictions=False, tuples=False)), streams(4, 2))
def test_reasons_are_enough_and_needed(text: str, stream: Stream) -> None:
    """Positive programs: an atom holds in a context exactly if the context has one of its reasons."""
    assume("not " not in text)
    last = max((time for time, _ in stream), default=0)
    session = session_at(lars.program(text), stream, sorted({*dict(stream), last}))
    contexts = Contexts(session)
    shown = session.facts()
    assume(len(shown) <= 5)
    (whole,) = session.answers()
    for name, row, time in whole:
        reasons = contexts.why(name, row, time)
        for size in range(len(shown) + 1):
            for without in combinations(shown, size):
                (answer,) = session.answers(without)
                kept = set(shown) - set(without)
                assert ((name, row, time) in answer) == any(kept.issuperset(reason.facts) for reason in reasons)


def test_table_one_with_a_contradiction() -> None:
    """LEA, Table I: the conflict is told, every way out is offered, and all of them can be asked without computing."""
    contexts = Contexts(session_at(lars.program(TABLE), EVENING, [9]))
    assert not contexts.is_consistent()
    (conflict,) = contexts.conflicts()
    assert {one.name for one in conflict.facts} == {"culturalEvent", "parkingCapacity", "averageSpeed", "closedRoad"}
    (violation,) = conflict.violations
    assert str(violation) == (":- freeRoadActivity(L) at T, congestedRoadActivity(L) at T. with "
                              'L = "StreetA", T = 9')
    offered = {one.name: context for context in contexts.maximal() for one in context.without}
    assert set(offered) == {one.name for one in conflict.facts}
    jam = {text.partition("(")[0] for text in answer_texts(offered["closedRoad"].certain, 9)}
    assert jam == {"limitedParking", "congestedRoad", "congestedRoadActivity", "poorAirQuality", "limitedAccessArea"}
    free = {text.partition("(")[0] for text in answer_texts(offered["averageSpeed"].certain, 9)}
    assert free == {"limitedParking", "freeRoadActivity"}
    assert not contexts.certain()
    (reason,) = contexts.why("poorAirQuality", ("StreetA",))
    assert str(reason) == ('averageSpeed("StreetA",9)@9, culturalEvent("StreetA")@9, '
                           'parkingCapacity("StreetA",3)@9, pollution(62)@9')


def test_a_contradiction_ends_with_its_facts() -> None:
    session = session_at(lars.program(TABLE), EVENING, [9, 69])
    assert not Contexts(session).is_consistent()
    session.advance(70)
    assert Contexts(session).is_consistent() and not Contexts(session).conflicts()


def test_several_contexts_at_once_share_one_network() -> None:
    session = session_at(lars.program(TABLE), EVENING, [9])
    grounded, size = session.grounder.grounded, session.network.size()
    contexts = Contexts(session)
    for text in EVENING[0][1]:
        contexts.context([fact(f"{text}@9")])
    assert (session.grounder.grounded, session.network.size()) == (grounded, size)


def test_negation_in_reasons_and_conflicts() -> None:
    session = session_at(lars.program("fly(X) :- bird(X) [5], not ab(X). ab(X) :- penguin(X) [5]. :- fly(X), cage(X)."),
                         [(1, ["bird(tim)", "cage(tim)"])], [1])
    contexts = Contexts(session)
    assert [str(reason) for reason in contexts.why("fly", ("tim",))] == ["bird(tim)@1, not ab(tim)"]
    (conflict,) = contexts.conflicts()
    assert [str(one) for one in conflict.facts] == ["bird(tim)@1", "cage(tim)@1"]
    assert [str(one) for one in conflict.violations] == [":- fly(X), cage(X). with X = tim"]


def test_what_holds_whichever_fact_is_wrong() -> None:
    """Both ways out of the conflict lead to a patrol; the rain has nothing to do with it."""
    text = "free :- closed [5]. jam :- slow [5]. :- free, jam. patrol :- free. patrol :- jam. wet :- rain [5]."
    contexts = Contexts(session_at(lars.program(text), [(1, ["closed", "slow", "rain"])], [1]))
    assert answer_texts(contexts.certain(), 1) == ["patrol", "wet"]
    assert sorted(str(reason) for reason in contexts.why("patrol", ())) == ["closed@1", "slow@1"]


def test_an_odd_loop_is_told() -> None:
    contexts = Contexts(session_at(lars.program("a :- s [3], not a. b :- r [3]."), [(1, ["s", "r"])], [1]))
    (conflict,) = contexts.conflicts()
    assert ([str(one) for one in conflict.facts], conflict.violations) == (["s@1"], ())
    (context,) = contexts.maximal()
    assert answer_texts(context.certain, 1) == ["b"]


def test_facts_that_nobody_sees_are_refused() -> None:
    contexts = Contexts(session_at(lars.program("y :- a [1]. z :- mail(X) [1]."), [(1, ["a", 'mail("x@1")'])], [1]))
    assert contexts.facts_like("a") == contexts.facts_like("a@1") == [fact("a@1")]
    assert [str(one) for one in contexts.facts_like('mail("x@1")')] == ['mail("x@1")@1']
    with pytest.raises(InputError, match="no window shows a@4 at 1"):
        contexts.facts_like("a@4")
    with pytest.raises(InputError, match=r"'a\(X\)' is no fact; write p"):
        contexts.facts_like("a(X)")


def test_a_session_goes_on_and_takes_no_late_facts() -> None:
    session = ev.parse(TABLE, language="lars").context_session(limit=2)
    session.insert(EVENING)
    first = session.advance()
    assert first.session.time == 9 and len(first.maximal()) == 2  # there are four; two were asked for
    session.insert([(12, ['closedRoad("StreetB")'])])
    with pytest.raises(InputError, match="closedRoad at 9 comes too late: the session is at 9"):
        session.insert([(9, ['closedRoad("StreetB")'])])
    assert session.advance(70).is_consistent()
    assert [str(one) for one in session.advance(71).session.facts()] == ['closedRoad("StreetB")@12']
    with pytest.raises(InputError, match="time goes on: 3 does not come after 71"):
        session.advance(3)


def test_a_stream_is_brought_to_a_time() -> None:
    session = MaintainedSession(lars.program("y(X) :- a(X) [9]."))
    at_time(session, [(1, "a", [2.5]), (1, "a", ["b"]), (4, "a", [3])], 3)
    assert session.time == 3 and [str(one) for one in session.facts()] == ["a(2.5)@1", "a(b)@1"]
