"""Late, revised and retracted facts by the cases of the paper on RTECinc, and how results are brought up to date."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.engine.session_cases import SessionCase, Step, batch_of
from tests.engine.test_sessions import expected, follow
from tests.oracle.sessions import Operation, Row, rows_of
from tests.oracle.store import Fact

import eventide as ev
from eventide.engine.incremental import EVALUATIONS

Spans = list[tuple[int, int]]
every_evaluation = pytest.mark.parametrize("evaluation", EVALUATIONS)
INPUT, SIMPLE = "input", "simple"
every_operand = pytest.mark.parametrize("operands", [INPUT, SIMPLE])


def declared(name: str, operands: str) -> str:
    """A fluent whose intervals are input, or follow from events."""
    if operands == INPUT:
        return f"collectIntervals({name}(_)=true).\n"
    return (f"initiatedAt({name}(X)=true, T) :- happensAt({name}_on(X), T).\n"
            f"terminatedAt({name}(X)=true, T) :- happensAt({name}_off(X), T).\n")


def holds(name: str, *spans: tuple[int, int], operands: str = INPUT, entity: str = "x") -> set[Fact]:
    """The facts by which a fluent holds."""
    if operands == INPUT:
        return {("interval", name, (entity,), "true", start, end) for start, end in spans}
    return {fact for start, end in spans for fact in (happens(f"{name}_on", start - 1, entity=entity),
                                                      happens(f"{name}_off", end - 1, entity=entity))}


def happens(name: str, time: int, *, entity: str = "x") -> Fact:
    return ("event", name, (entity,), time)


def step(query: int, old: Iterable[Fact], new: Iterable[Fact]) -> Step:
    """From facts to other facts, shortly before a query time."""
    gone, come = sorted(set(old) - set(new)), sorted(set(new) - set(old))
    return Step((*(Operation(fact, query, -1) for fact in gone), *(Operation(fact, query, 1) for fact in come)), query)


def revised(rules: str, old: set[Fact], new: set[Fact], queries: tuple[int, int],
            window: int | None = None) -> tuple[set[Row], set[Row]]:
    """The answers from scratch before and after a revision, which are those of a session with every evaluation."""
    case = SessionCase(rules, {"window": window, "start": 0}, (step(queries[0], (), old), step(queries[1], old, new)))
    program = ev.parse(rules)
    wanted = expected(program, case)
    for evaluation in EVALUATIONS:
        follow(program.session(evaluation=evaluation, **case.options), case, wanted)  # type: ignore[arg-type]
    return wanted[0][0].rows, wanted[0][1].rows


# Simple fluents: section 3, rules (1), (5) and (6)

BODY = "happensAt(a(X), T), holdsAt(b(X)=true, T), \\+ happensAt(c(X), T), \\+ holdsAt(d(X)=true, T)"
RULE = f"""
happensAt(point(X), T) :- {BODY}.
initiatedAt(f(X)=true, T) :- {BODY}.
terminatedAt(f(X)=true, T) :- happensAt(z(X), T).
holdsFor(above(X)=true, I) :- holdsFor(f(X)=true, I1), holdsFor(b(X)=true, I2), relative_complement_all(I1, [I2], I).
"""
Q1, Q2, WINDOW = 60, 70, 40  # they overlap in (30, 60]


def rule_one(operands: str) -> str:
    return declared("b", operands) + declared("d", operands) + RULE


class Situation(NamedTuple):
    """Facts of rule (1), as spans or points."""

    a: tuple[int, ...] = ()
    b: tuple[tuple[int, int], ...] = ()
    c: tuple[int, ...] = ()
    d: tuple[tuple[int, int], ...] = ()

    def facts(self, operands: str) -> set[Fact]:
        """With a termination between the points, and another entity that stays as it is."""
        own = {happens(name, time) for name in "ac" for time in getattr(self, name)}
        fluents = holds("b", *self.b, operands=operands) | holds("d", *self.d, operands=operands)
        ends = {happens("z", time) for time in range(35, 60, 4)}
        other = {happens("a", time, entity="y") for time in (33, 44)} | holds("b", (32, 50), operands=operands,
                                                                            entity="y")
        return own | fluents | ends | other


class Revision(NamedTuple):
    """What is known at each of two query times, and the points of rule (1) then."""

    before: Situation
    after: Situation
    was: set[int]
    now: set[int]


LIT = ((32, 57),)
REVISIONS = {
    "5a, the event is retracted": Revision(Situation((41,), LIT), Situation((), LIT), {41}, set()),
    "5b, the positive fluent shrinks": Revision(Situation((41,), LIT), Situation((41,), ((44, 57),)), {41}, set()),
    "5b, it is gone": Revision(Situation((41,), LIT), Situation((41,)), {41}, set()),
    "5b, it has a gap": Revision(Situation((41, 45), LIT), Situation((41, 45), ((32, 40), (43, 57))), {41, 45}, {45}),
    "5c, a negative event comes late": Revision(Situation((41,), LIT), Situation((41,), LIT, (41,)), {41}, set()),
    "5d, the negative fluent has a new interval": Revision(
        Situation((41,), LIT), Situation((41,), LIT, (), ((40, 42),)), {41}, set()),
    "6a, the event comes late": Revision(Situation((), LIT), Situation((41,), LIT), set(), {41}),
    "6b, the positive fluent has a new interval": Revision(Situation((41,)), Situation((41,), LIT), set(), {41}),
    "6b, it grows": Revision(Situation((41,), ((32, 38),)), Situation((41,), LIT), set(), {41}),
    "6c, the negative event is retracted": Revision(
        Situation((41,), LIT, (41,)), Situation((41,), LIT), set(), {41}),
    "6d, the negative fluent is retracted": Revision(
        Situation((41,), LIT, (), ((40, 42),)), Situation((41,), LIT), set(), {41}),
    "6d, it shrinks": Revision(
        Situation((41,), LIT, (), ((36, 45),)), Situation((41,), LIT, (), ((36, 40),)), set(), {41}),
    "both events of 6a and 6c": Revision(Situation((), LIT, (41,)), Situation((41,), LIT), set(), {41}),
    "6a does not fire where C happens": Revision(Situation((), LIT, (41,)), Situation((41,), LIT, (41,)), set(), set()),
    "6d does not fire where C happens": Revision(
        Situation((41,), LIT, (41,), ((40, 42),)), Situation((41,), LIT, (41,)), set(), set()),
    "5c and 5d at once": Revision(
        Situation((41,), LIT), Situation((41,), LIT, (41,), ((40, 42),)), {41}, set()),
    "figure 2": Revision(
        Situation((33, 37, 41, 45, 49), LIT, (53,)),
        Situation((33, 37, 41, 45, 49, 53), ((35, 57),), (41,), ((32, 34),)),
        {33, 37, 41, 45, 49}, {37, 45, 49, 53}),
    "figure 3": Revision(
        Situation((33, 37, 41, 45, 49), LIT), Situation((37, 41, 45, 49), ((39, 57),), (41,), ((48, 51),)),
        {33, 37, 41, 45, 49}, {45}),
    "figure 4": Revision(
        Situation((37, 41, 45), ((32, 35), (39, 57)), (41,), ((44, 47),)), Situation((33, 37, 41, 45), LIT),
        set(), {33, 37, 41, 45}),
}


@every_operand
@pytest.mark.parametrize("case", REVISIONS)
def test_initiation_points_of_the_paper(case: str, operands: str) -> None:
    revision = REVISIONS[case]
    facts = [situation.facts(operands) for situation in (revision.before, revision.after)]
    answers = revised(rule_one(operands), *facts, (Q1, Q2), WINDOW)
    for rows, points in zip(answers, (revision.was, revision.now), strict=True):
        assert {start for name, args, _, start, _ in rows if (name, args) == ("point", "x")} == points
        begun = {start - 1 for name, args, _, start, _ in rows if (name, args) == ("f", "x")}
        assert begun == points, "a termination lies between any two"


# Statically determined fluents: section 4

CONSTRUCTS = {"union_all": "union_all([I1, I2], I)", "intersect_all": "intersect_all([I1, I2], I)",
              "relative_complement_all": "relative_complement_all(I1, [I2], I)"}
TABLE_2: list[tuple[str, Spans, Spans, Spans]] = [
    ("union_all", [(5, 20), (26, 30)], [(28, 35)], [(5, 20), (26, 35)]),
    ("intersect_all", [(26, 31)], [(21, 26), (30, 40)], [(30, 31)]),
    ("relative_complement_all", [(5, 20), (26, 30)], [(1, 4), (18, 22)], [(5, 18), (26, 30)]),
]
TABLE_6: dict[str, tuple[Spans, Spans, Spans]] = {  # at the query time before, retracted, inserted
    "a": ([(10, 15), (23, 30), (40, 50), (60, 70)], [(10, 12), (27, 30), (43, 47)], [(54, 58), (80, 90), (95, 100)]),
    "b": ([(17, 21), (26, 35), (43, 47), (54, 65)], [(19, 21), (43, 47), (60, 65)], [(37, 41), (82, 87), (105, 120)]),
}
TABLES_7_10_13: dict[str, tuple[Spans, Spans]] = {  # at the query time before, and after all changes
    "union_all": ([(10, 15), (17, 21), (23, 35), (40, 50), (54, 70)],
                  [(12, 15), (17, 19), (23, 35), (37, 43), (47, 50), (54, 70), (80, 90), (95, 100), (105, 120)]),
    "intersect_all": ([(26, 30), (43, 47), (60, 65)], [(26, 27), (40, 41), (54, 58), (82, 87)]),
    "relative_complement_all": (
        [(10, 15), (23, 26), (40, 43), (47, 50), (65, 70)],
        [(12, 15), (23, 26), (41, 43), (47, 50), (60, 70), (80, 82), (87, 90), (95, 100)]),
}


def construct(name: str, operands: str) -> str:
    return (declared("a", operands) + declared("b", operands) + "holdsFor(s(X)=true, I) :- holdsFor(a(X)=true, I1), "
            f"holdsFor(b(X)=true, I2), {CONSTRUCTS[name]}.\n"
            "initiatedAt(g(X)=true, T) :- happensAt(start(s(X)=true), T).\n"
            "terminatedAt(g(X)=true, T) :- happensAt(end(s(X)=true), T).\n")


def covered(spans: Iterable[tuple[int, int]]) -> set[int]:
    return {time for start, end in spans for time in range(start, end)}


def maximal(points: set[int]) -> Spans:
    starts = sorted(t for t in points if t - 1 not in points)
    return list(zip(starts, sorted(t + 1 for t in points if t + 1 not in points), strict=True))


def combined(name: str, a: set[int], b: set[int]) -> Spans:
    return maximal(a | b if name == "union_all" else a & b if name == "intersect_all" else a - b)


def spans_of(rows: set[Row], name: str, entity: str = "x") -> list[tuple[int, int | None]]:
    return sorted((row[3], row[4]) for row in rows if row[:2] == (name, entity))


def operand(name: str, spans: Spans, apart: Spans, operands: str) -> set[Fact]:
    """The facts of an operand; with input intervals those `apart` are facts of their own."""
    if operands == SIMPLE:
        return holds(name, *maximal(covered(spans)), operands=operands)
    separate = [span for span in apart if covered([span]) <= covered(spans)]
    return holds(name, *maximal(covered(spans) - covered(separate)), *separate)


@every_operand
@pytest.mark.parametrize(("name", "a", "b", "expected_spans"), TABLE_2)
def test_table_2(name: str, a: Spans, b: Spans, expected_spans: Spans, operands: str) -> None:
    """Whichever operand comes or goes last."""
    own, other = operand("a", a, [], operands), operand("b", b, [], operands)
    rules = construct(name, operands)
    for old, new in ((set(), own | other), (own, own | other), (other, own | other)):
        assert spans_of(revised(rules, old, new, (50, 55))[1], "s") == expected_spans
    for left, points in ((own, (covered(a), set())), (other, (set(), covered(b)))):
        answers = revised(rules, own | other, left, (50, 55))
        assert spans_of(answers[0], "s") == expected_spans
        # without a the rule says nothing of x
        assert spans_of(answers[1], "s") == (combined(name, *points) if name == "union_all" or left is own else [])


@every_operand
@pytest.mark.parametrize("changes", range(16))
@pytest.mark.parametrize("name", CONSTRUCTS)
def test_the_sixteen_cases_of_tables_17_to_19(name: str, changes: int, operands: str) -> None:
    """Each operand with and without retractions and insertions, from the running example of table 6."""
    old: set[Fact] = set()
    new: set[Fact] = set()
    points = {}
    for at, (operand_name, (before, retracted, inserted)) in enumerate(TABLE_6.items()):
        lost = retracted if changes >> 2 * at & 1 else []
        won = inserted if changes >> 2 * at & 2 else []
        points[operand_name] = (covered(before) - covered(lost)) | covered(won)
        old |= operand(operand_name, before, retracted, operands)
        new |= operand(operand_name, maximal(points[operand_name]), [*retracted, *inserted], operands)
    answers = revised(construct(name, operands), old, new, (130, 140))
    was, now = TABLES_7_10_13[name]
    assert spans_of(answers[0], "s") == was
    assert spans_of(answers[1], "s") == combined(name, points["a"], points["b"])
    assert changes < 15 or spans_of(answers[1], "s") == now


lists = st.lists(st.builds(lambda start, length: (start, start + length), st.integers(1, 20), st.integers(1, 6)),
                 max_size=5)


@pytest.mark.parametrize("name", CONSTRUCTS)
@given(data=st.data())
def test_any_change_of_either_operand(name: str, data: st.DataObject) -> None:
    old, new = ([data.draw(lists) for _ in "ab"] for _ in range(2))
    before, after = (holds("a", *a) | holds("b", *b) for a, b in (old, new))
    window = data.draw(st.sampled_from([None, 40]))
    answers = revised(construct(name, INPUT), before, after, (30, 33), window)
    for rows, (a, b) in zip(answers, (old, new), strict=True):
        assert spans_of(rows, "s") == combined(name, covered(a), covered(b))


# How results are brought up to date

MANY = [f"v{i}" for i in range(40)]
CHOICE = """
initiatedAt(f(X)=true, T) :- happensAt(up(X), T).
terminatedAt(f(X)=true, T) :- happensAt(down(X), T).
initiatedAt(g(X)=true, T) :- happensAt(other(X), T).
holdsFor(s(X)=true, I) :- holdsFor(f(X)=true, I1), holdsFor(g(X)=true, I2), union_all([I1, I2], I).
happensAt(seen(X), T) :- happensAt(down(X), T), holdsAt(f(X)=true, T).
"""


def insert(session: Any, facts: Iterable[Fact]) -> None:
    operations = tuple(Operation(fact, 0, 1) for fact in facts)
    session.insert(batch_of(SessionCase("", {}, (), with_arrivals=False), operations))


def started(evaluation: str = "auto", rules: str = CHOICE) -> Any:
    """A session over many entities with several facts each, at 100; everything came late enough to change."""
    session = ev.parse(rules).session(window=200, start=0, evaluation=evaluation)  # type: ignore[arg-type]
    insert(session, (happens(name, time + shift, entity=entity) for entity in MANY for time in range(10, 90, 10)
                     for shift, name in enumerate(("up", "other", "down"))))
    assert set(session.advance(to=100).evaluation.values()) == {"full"}
    return session


@every_evaluation
def test_nothing_new(evaluation: str) -> None:
    changes = started(evaluation).advance(to=110)
    assert changes.evaluation == dict.fromkeys(("f(_)", "g(_)", "s(_)=true", "seen(_)"), "reuse")
    assert changes.added.num_rows == changes.removed.num_rows == 0


def test_one_of_many_entities() -> None:
    session = started()
    insert(session, [happens("up", 15, entity="v3")])
    changes = session.advance(to=110)
    assert changes.evaluation == {"f(_)": "part", "g(_)": "reuse", "s(_)=true": "part", "seen(_)": "part"}
    assert {row[1] for row in rows_of(changes.added)} == {"v3"}


def test_most_entities() -> None:
    session = started()
    insert(session, (happens(name, 15, entity=entity) for entity in MANY for name in ("up", "other")))
    changes = session.advance(to=110)
    assert changes.evaluation == dict.fromkeys(("f(_)", "g(_)", "s(_)=true", "seen(_)"), "full")


@pytest.mark.parametrize(("evaluation", "choice"), [("full", "full"), ("keys", "part"), ("ranges", "part")])
@pytest.mark.parametrize("touched", [MANY[:1], MANY])
def test_a_choice_can_be_forced(evaluation: str, choice: str, touched: list[str]) -> None:
    session = started(evaluation)
    insert(session, (happens("up", 15, entity=entity) for entity in touched))
    found = session.advance(to=110).evaluation
    assert found == {"f(_)": choice, "g(_)": "reuse", "s(_)=true": choice, "seen(_)": choice}


@every_evaluation
def test_what_follows_from_no_change_is_reused(evaluation: str) -> None:
    """The entity is up already: f is computed, but stays as it was."""
    session = started(evaluation)
    insert(session, [happens("up", 11, entity="v3")])
    changes = session.advance(to=110)
    assert changes.evaluation["f(_)"] != "reuse" and changes.evaluation["s(_)=true"] == "reuse"
    assert changes.added.num_rows == changes.removed.num_rows == 0


def test_an_unknown_evaluation() -> None:
    with pytest.raises(ev.EventideError, match="evaluation is 'some'; known are auto, full, keys, ranges"):
        ev.parse(CHOICE).session(evaluation="some")  # type: ignore[arg-type]


@every_evaluation
def test_what_mixes_entities_is_computed_whole(evaluation: str) -> None:
    rules = "initiatedAt(f(X)=true, T) :- happensAt(up(X), T), \\+ happensAt(down(_), T).\n"
    session = started(evaluation, rules)
    insert(session, [happens("down", 20, entity="v3")])
    changes = session.advance(to=110)
    assert changes.evaluation == {"f(_)": "full"}
