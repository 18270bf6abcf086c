"""Rules are grounded by what comes to hold: every instance once, and no longer than all its parts hold."""

from __future__ import annotations

from itertools import product

from hypothesis import given
from hypothesis import strategies as st
from tests.lars.sessions import atoms
from tests.oracle import lars
from tests.oracle.lars_text import Shape, programs, streams

from eventide.lars.grounding import Element, Grounder, Instance
from eventide.lars.maintained import MaintainedSession
from eventide.lars.values import ground_text

RULES = """
h(X,Z) :- p(X,Y) [3], p(Y,Z) [3], q(Z), X != Z.
h(X,X) :- p(X,X) [3], q(a), not q(X).
n(M) :- p(X,Y) [3], r(X) at T [2], M = T * 2 + 1, M > 2.
d at M :- r(a) at T [2], M = T - 1.
:- p(X,Y) [3], p(Y,X) [3].
"""
# The numbers of the patterns, in the order in which the rules have them.
P, Q, R = 0, 1, 2
values = st.sampled_from(["a", "b", "c"])
elements = st.one_of(st.tuples(values, values).map(lambda row: Element(P, row)),
                     values.map(lambda value: Element(Q, (value,))),
                     st.tuples(values, st.integers(0, 3)).map(lambda row: Element(R, row)))


def by_definition(held: set[Element]) -> set[tuple[int, tuple[Element, ...], str]]:
    """All instances of `RULES` over what holds, by trying all combinations."""
    found = set()
    ps, qs, rs = ([e for e in held if e.pattern == number] for number in (P, Q, R))
    for one, two, q in product(ps, ps, qs):
        if one.row[1] == two.row[0] and two.row[1] == q.row[0] and one.row[0] != two.row[1]:
            found.add((0, (one, two, q), ground_text("h", (one.row[0], two.row[1]))))
    for one, q in product(ps, qs):
        if one.row[0] == one.row[1] and q.row == ("a",):
            found.add((1, (one, q), ground_text("h", one.row)))
    for one, r in product(ps, rs):
        number = r.row[1] * 2 + 1
        if one.row[0] == r.row[0] and number > 2:
            found.add((2, (one, r), ground_text("n", (number,))))
    for r in rs:
        if r.row[0] == "a":
            found.add((3, (r,), f"d@{r.row[1] - 1}"))
    for one, two in product(ps, ps):
        if one.row == two.row[::-1]:
            found.add((4, (one, two), ""))
    return found


def shown(instance: Instance) -> tuple[int, tuple[Element, ...], str]:
    head = "" if instance.head is None else ground_text(*instance.head)
    return instance.rule, instance.positive, head + ("" if instance.time is None else f"@{instance.time}")


@given(st.lists(elements, max_size=25))
def test_instances_are_those_of_the_definition(changes: list[Element]) -> None:
    """An element that comes again leaves. What is alive is what the definition gives, and nothing is made twice."""
    grounder = Grounder(lars.program(RULES).rules)
    held: set[Element] = set()
    alive: dict[Instance, tuple[int, tuple[Element, ...], str]] = {}
    made = 0
    for element in changes:
        if element in held:
            for instance in grounder.remove(element):
                del alive[instance]
        else:
            for instance in grounder.add(element):
                made += 1
                alive[instance] = shown(instance)
        held ^= {element}
        assert len(set(alive.values())) == len(alive)
        assert set(alive.values()) == by_definition(held)
        assert all(grounder.holds(one) for one in held) and len(grounder) == len(held)
    assert grounder.grounded == made


def test_what_is_negated_is_ground_too() -> None:
    grounder = Grounder(lars.program(RULES).rules)
    grounder.add(Element(Q, ("a",)))
    (instance,) = (one for one in grounder.add(Element(P, ("b", "b"))) if one.rule == 1)
    assert instance.negative == (Element(Q, ("b",)),)
    assert dict(instance.binding) == {"X": "b"}


@given(programs(Shape(contradictions=True)), streams(8, 3))
def test_no_instance_lives_twice_in_a_session(text: str, stream: list[tuple[int, list[str]]]) -> None:
    """Over a whole stream: an instance is made again only after a part of it had ceased to hold."""
    session = MaintainedSession(lars.program(text))
    alive: dict[Instance, tuple[object, ...]] = {}
    grounder = session.grounder
    add, remove = grounder.add, grounder.remove

    def added(element: Element) -> list[Instance]:
        instances = add(element)
        for instance in instances:
            signature = (instance.rule, instance.positive, instance.binding)
            assert signature not in alive.values()
            assert element in instance.positive
            alive[instance] = signature
        return instances

    def removed(element: Element) -> list[Instance]:
        instances = remove(element)
        for instance in instances:
            del alive[instance]
        return instances

    grounder.add, grounder.remove = added, removed  # type: ignore[method-assign]
    facts = dict(stream)
    for t in range(max(facts, default=0) + 2):
        session.advance(t, atoms(facts.get(t, [])))
        assert all(grounder.holds(element) for instance in alive for element in instance.positive)


def test_nothing_is_declared_beforehand() -> None:
    """LEA, Example 2: a street that nobody has heard of, and its speed, ground the rule when they come."""
    session = MaintainedSession(lars.program(
        'congestionRoad(L) at T :- averageSpeed(L,V) at T [30], V <= 20, area(L). area("StreetA").'))
    session.advance(0)
    assert session.grounder.grounded == 0
    speeds = [("StreetA", 18), ("StreetB", 18), ("StreetA", 30)]
    session.advance(4, [("averageSpeed", speed) for speed in speeds])
    assert session.grounder.grounded == 1
    (answer,) = session.answers()
    assert answer == {("congestionRoad", ("StreetA",), 4)}
    session.advance(34)
    assert [len(answer) for answer in session.answers()] == [1]
    session.advance(35)
    assert session.grounder.grounded == 1 and len(session.grounder) == 1  # area("StreetA")
    assert [len(answer) for answer in session.answers()] == [0]
