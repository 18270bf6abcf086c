"""What RTEC's event descriptions rely on, in small examples of our own."""

from __future__ import annotations

from tests.engine.running import Timelines, facts_of, timelines
from tests.oracle.store import Fact

import eventide as ev


def answers(text: str, *facts: Fact, last: int = 20) -> Timelines:
    """The intervals of every fluent."""
    return timelines(ev.parse(text), facts_of((fact, None) for fact in facts), start=-1, end=last)[0]


def test_a_value_that_initially_names_ends_the_listed_ones() -> None:
    text = """
    initially(lamp(_)=off).
    initiatedAt(lamp(X)=V, T) :- happensAt(switch(X, V), T).
    grounding(lamp(X)=green) :- room(X).
    grounding(lamp(X)=red) :- room(X).
    room(hall).
    """
    changes = [(2, "green"), (4, "blue"), (6, "off"), (8, "red"), (10, "green")]
    facts: list[Fact] = [("event", "switch", ("hall", value), time) for time, value in changes]
    assert answers(text, *facts) == {"lamp(hall)=green": [(3, 7), (11, None)], "lamp(hall)=red": [(9, 11)]}


def test_a_fluent_that_no_grounding_lists_is_left_out_where_others_are_listed() -> None:
    text = """
    initiatedAt(open(D)=true, T) :- happensAt(opens(D), T).
    holdsFor(may(enter(_Who, D))=true, I) :- holdsFor(open(D)=true, I).
    grounding(open(D)=true) :- door(D).
    door(front).
    """
    program = ev.parse(text)
    assert [(d.severity, d.code) for d in program.check()] == [("warning", "left-out")]
    assert program.fluents == ["open"]
    assert answers(text, ("event", "opens", ("front",), 3)) == {"open(front)=true": [(4, None)]}
