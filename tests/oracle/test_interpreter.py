"""The oracle on programs small enough to check by hand, one idea each."""

from __future__ import annotations

import pytest

from .interpreter import Answer, evaluate
from .resolution import Unsafe
from .rows import rules_of
from .store import Fact, Ties
from .windows import evaluate_windows


def run(text: str, *facts: Fact, until: int = 30, start: int = 0, tick: int = 1, ties: Ties = "termination") -> Answer:
    return evaluate(rules_of(text), facts, start=start, until=until, tick=tick, ties=ties)


def event(text: str) -> Fact:
    """`name args… @time`, e.g. `up a @5`."""
    words, _, time = text.partition("@")
    name, *args = words.split()
    return ("event", name, tuple(int(a) if a.isdigit() else a for a in args), int(time))


def interval(name: str, entity: str, start: int, end: int | None) -> Fact:
    return ("interval", name, (entity,), "true", start, end)


SWITCH = """
initiatedAt(f(X)=true,T) :- happensAt(up(X),T).
terminatedAt(f(X)=true,T) :- happensAt(down(X),T).
"""

VALUES = "initiatedAt(loc(X)=V,T) :- happensAt(go(X,V),T)."


def test_ties_of_initiation_and_termination() -> None:
    facts = [event("up a @2"), event("up a @5"), event("down a @5")]
    assert run(SWITCH, *facts).fluents == {"f(a)=true": [(3, 6)]}
    assert run(SWITCH, *facts, ties="initiation").fluents == {"f(a)=true": [(3, None)]}


def test_ties_of_two_values() -> None:
    facts = [event("go a h @2"), event("go a h @5"), event("go a w @5")]
    assert run(VALUES, *facts).fluents == {"loc(a)=h": [(3, 6)]}
    assert run(VALUES, *facts, ties="initiation").fluents == {"loc(a)=h": [(3, None)], "loc(a)=w": [(6, None)]}


def test_effects_between_two_time_points_tie() -> None:
    assert run(SWITCH, event("up a @11"), event("down a @23"), tick=5).fluents == {"f(a)=true": [(15, 25)]}
    assert run(SWITCH, event("down a @11"), event("up a @13"), tick=5).fluents == {}
    assert run(SWITCH, event("up a @11"), event("down a @13"), tick=5).fluents == {}


def test_start_is_at_the_time_point_below() -> None:
    text = SWITCH + "happensAt(s(X),T) :- happensAt(start(f(X)=true),T)."
    assert run(text, event("up a @13"), tick=5).events == [("s", ("a",), 10)]


def test_nothing_happens_outside_the_window() -> None:
    text = "happensAt(e(X),T) :- happensAt(end(i(X)=true),T)."
    assert run(text, interval("i", "a", 3, 40), until=30).events == []
    assert run(text, interval("i", "a", 3, 31), until=30).events == [("e", ("a",), 30)]


def test_an_interval_counts_from_the_start_of_the_run() -> None:
    text = "holdsFor(k(X)=true,I) :- holdsFor(i(X)=true,I)."
    assert run(text, interval("i", "a", -5, 4)).fluents == {"k(a)=true": [(1, 4)]}


def test_a_shared_variable_joins_and_one_of_its_own_is_a_union() -> None:
    text = """
    holdsFor(both(X)=true,I) :- holdsFor(p(X,Y)=true,I1), holdsFor(q(Y)=true,I2), intersect_all([I1,I2],I).
    holdsFor(free(X)=true,I) :- holdsFor(q(X)=true,I1), holdsFor(p(X,_)=true,I2), relative_complement_all(I1,[I2],I).
    """
    near: list[Fact] = [("interval", "p", ("a", "b"), "true", 2, 6), ("interval", "p", ("a", "c"), "true", 5, 9)]
    answer = run(text, *near, interval("q", "b", 1, 4), interval("q", "c", 7, 20), interval("q", "a", 1, 20))
    assert answer.fluents == {
        "both(a)=true": [(2, 4), (7, 9)],
        "free(a)=true": [(1, 2), (9, 20)],
        "free(b)=true": [(1, 4)],
        "free(c)=true": [(7, 20)],
    }


def test_points_of_an_output_event_become_intervals() -> None:
    text = """
    buildFromPoints(near(X)=true, close(X)).
    happensAt(close(X),T) :- happensAt(pos(X,D),T), D < 5.
    holdsFor(k(X)=true,I) :- holdsFor(near(X)=true,I).
    """
    facts = [event(f"pos a {d} @{t}") for t, d in [(3, 1), (4, 2), (5, 9), (8, 4)]]
    assert run(text, *facts).fluents["k(a)=true"] == [(3, 5), (8, 9)]
    assert run(text, *facts, until=8).fluents["k(a)=true"] == [(3, 5), (8, None)]


def test_a_cut_hides_the_later_clauses_of_the_same_fluent() -> None:
    text = """
    holdsFor(h(X)=true,I) :- holdsFor(i(X)=true,I), I \\= [], !.
    holdsFor(h(X)=true,I) :- holdsFor(j(X)=true,I).
    """
    facts = [interval("i", "a", 2, 4), interval("j", "a", 6, 8), interval("j", "b", 6, 8)]
    assert run(text, *facts).fluents == {"h(a)=true": [(2, 4)], "h(b)=true": [(6, 8)]}


def test_a_cut_in_the_background_selects_the_first_clause() -> None:
    text = """
    initiatedAt(size(X)=S,T) :- happensAt(pos(X,D),T), class(D,S).
    class(D,small) :- D < 5, !.
    class(_,large).
    """
    assert run(text, event("pos a 3 @4"), event("pos b 7 @4")).fluents == {
        "size(a)=small": [(5, None)],
        "size(b)=large": [(5, None)],
    }


def test_start_of_a_fluent_inside_its_cycle() -> None:
    text = """
    initiatedAt(on(X)=true,T) :- happensAt(go(X),T), \\+ holdsAt(tired(X)=true,T).
    terminatedAt(on(X)=true,T) :- happensAt(start(tired(X)=true),T).
    initiatedAt(tired(X)=true,T) :- happensAt(tick(X),T), holdsAt(on(X)=true,T).
    terminatedAt(tired(X)=true,T) :- happensAt(end(on(X)=true),T), happensAt(rest(X),T).
    terminatedAt(tired(X)=true,T) :- happensAt(rest(X),T), \\+ holdsAt(on(X)=true,T).
    """
    facts = [event("go a @2"), event("tick a @5"), event("go a @7"), event("rest a @9"), event("go a @11")]
    assert run(text, *facts).fluents == {"on(a)=true": [(3, 6), (12, None)], "tired(a)=true": [(6, 10)]}


def test_a_contradiction_at_one_time_point_is_reported() -> None:
    text = """
    initiatedAt(f(X)=true,T) :- happensAt(go(X),T), \\+ happensAt(start(g(X)=true),T).
    initiatedAt(g(X)=true,T) :- happensAt(start(f(X)=true),T).
    """
    with pytest.raises(ValueError, match="contradict"):
        run(text, event("go a @2"))


def test_a_head_variable_without_a_value_is_reported() -> None:
    with pytest.raises(Unsafe):
        run("initiatedAt(f(X,Y)=true,T) :- happensAt(up(X),T).", event("up a @2"))


def test_a_negation_about_every_entity_of_the_domain() -> None:
    text = """
    initiatedAt(idle(X)=true,T) :- happensAt(check,T), \\+ holdsAt(f(X)=true,T).
    grounding(idle(X)=true) :- who(X).
    who(a). who(b).
    """ + SWITCH
    assert run(text, event("up a @2"), event("check @4")).fluents == {
        "f(a)=true": [(3, None)],
        "idle(b)=true": [(5, None)],
    }


def test_a_late_fact_is_dropped_and_a_late_interval_keeps_its_part_inside() -> None:
    rules = rules_of(SWITCH, "holdsFor(k(X)=true,I) :- holdsFor(i(X)=true,I).")
    facts = [(event("up a @3"), 12), (event("up b @13"), 18), (interval("i", "a", 7, 14), 13)]
    answers = evaluate_windows(rules, facts, 10, 10, 0, 20)
    assert answers[20].whole.fluents == {"f(b)=true": [(14, None)], "k(a)=true": [(11, 14)]}
    assert answers[20].clipped.fluents == {"f(b)=true": [(14, 21)], "k(a)=true": [(11, 14)]}


NETBILL = """
initiatedAt(quote(M,C,G)=true,T) :- happensAt(present_quote(M,C,G,_),T).
terminatedAt(quote(M,C,G)=true,T) :- happensAt(accept_quote(C,M,G),T).
fi(quote(M,C,G)=true, quote(M,C,G)=false, 5).
p(quote(_,_,_)=true).
initiatedAt(per(present_quote(M,C))=false,T) :- happensAt(present_quote(M,C,_,_),T).
initiatedAt(per(present_quote(M,C))=true,T) :- happensAt(request_quote(C,M,_),T).
fi(per(present_quote(M,C))=false, per(present_quote(M,C))=true, 10).
p(per(_)=false).
initiatedAt(contract(M,C,G)=true,T) :- happensAt(accept_quote(C,M,G),T), holdsAt(quote(M,C,G)=true,T),
    \\+ holdsAt(suspended(M,merchant)=true,T), \\+ holdsAt(suspended(C,consumer)=true,T).
fi(contract(M,C,G)=true, contract(M,C,G)=false, 5).
initiatedAt(obl(send_EPO(C,iServer,G))=true,T1,T,T2) :- initiatedAt(contract(_,C,G)=true,T1,T,T2).
initiatedAt(obl(send_EPO(C,iServer,G))=false,T) :- happensAt(send_EPO(C,iServer,G,Price),T), price(G,Price).
initiatedAt(obl(send_EPO(C,iServer,G))=false,T) :- initiatedAt(contract(_,C,G)=false,T).
initiatedAt(obl(send_goods(M,iServer,G))=true,T) :- initiatedAt(contract(M,_,G)=true,T).
initiatedAt(obl(send_goods(M,iServer,G))=false,T) :- happensAt(send_goods(M,iServer,G,_,_),T).
initiatedAt(obl(send_goods(M,iServer,G))=false,T) :- initiatedAt(contract(M,_,G)=false,T).
initiatedAt(suspended(M,merchant)=true,T) :- happensAt(present_quote(M,C,_,_),T),
    holdsAt(per(present_quote(M,C))=false,T).
initiatedAt(suspended(M,merchant)=true,T) :- initiatedAt(contract(M,_,G)=false,T),
    holdsAt(obl(send_goods(M,iServer,G))=true,T).
initiatedAt(suspended(C,consumer)=true,T) :- initiatedAt(contract(_,C,G)=false,T),
    holdsAt(obl(send_EPO(C,iServer,G))=true,T).
fi(suspended(A,R)=true, suspended(A,R)=false, 3).
p(suspended(_,_)=true).
holdsFor(pow(accept_quote(C,M,G))=true,I) :- holdsFor(quote(M,C,G)=true,I1),
    holdsFor(suspended(C,consumer)=true,I2), holdsFor(suspended(M,merchant)=true,I3),
    relative_complement_all(I1,[I2,I3],I).
price(_,10).
"""


def test_the_worked_example_of_netbill() -> None:
    facts = [event("request_quote 5 4 book @1"), event("present_quote 4 5 book 10 @2"),
             event("accept_quote 5 4 book @4"), event("send_EPO 5 iServer book 10 @6"),
             event("present_quote 4 5 music 10 @11"), event("send_goods 4 iServer book key dec @20")]
    assert run(NETBILL, *facts).fluents == {
        "quote(4,5,book)=true": [(3, 5)],
        "quote(4,5,music)=true": [(12, 17)],
        "quote(4,5,music)=false": [(17, None)],
        "per(present_quote(4,5))=true": [(2, 3), (22, None)],
        "per(present_quote(4,5))=false": [(3, 22)],
        "contract(4,5,book)=true": [(5, 10)],
        "contract(4,5,book)=false": [(10, None)],
        "obl(send_EPO(5,iServer,book))=true": [(5, 7)],
        "obl(send_EPO(5,iServer,book))=false": [(7, None)],
        "obl(send_goods(4,iServer,book))=true": [(5, 10)],
        "obl(send_goods(4,iServer,book))=false": [(10, None)],
        "suspended(4,merchant)=true": [(10, 15)],
        "suspended(4,merchant)=false": [(15, None)],
        "pow(accept_quote(5,4,book))=true": [(3, 5)],
        "pow(accept_quote(5,4,music))=true": [(15, 17)],
    }
