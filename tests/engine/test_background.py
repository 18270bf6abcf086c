"""Background definitions as relations: what they derive, wherever rules ask for it, and however large they are."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import product

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.effort import examples

import eventide as ev
from eventide.analysis import relations
from eventide.engine.budget import budget
from eventide.errors import ProgramError

VALUES = [f"c{i}" for i in range(4)]
Row = tuple[str | int, ...]
Database = dict[str, set[Row]]
Binding = dict[str, str | int]


@dataclass(frozen=True)
class Goal:
    """A condition of a definition: an atom, its absence, or a comparison or a computation in Python and as text."""

    text: str
    name: str = ""
    terms: tuple[str, ...] = ()
    absent: bool = False
    test: Callable[[Binding], bool] | None = None
    computed: tuple[str, Callable[[Binding], int]] | None = None


@dataclass(frozen=True)
class Definition:
    """A clause of a definition: its name, the terms of its head, its goals."""

    name: str
    head: tuple[str, ...]
    goals: tuple[Goal, ...]

    def __str__(self) -> str:
        return f"{self.name}({', '.join(self.head)}) :- {', '.join(goal.text for goal in self.goals)}."


def matching(terms: tuple[str, ...], row: Row, binding: Binding) -> Binding | None:
    """The binding that makes an atom a row; None if there is none."""
    found = dict(binding)
    for term, value in zip(terms, row, strict=True):
        if not term[0].isupper():
            if term != str(value):
                return None
        elif found.setdefault(term, value) != value:
            return None
    return found


def answers(goals: tuple[Goal, ...], known: Database, binding: Binding) -> Iterable[Binding]:
    """All ways in which goals hold, from left to right."""
    if not goals:
        yield binding
        return
    goal, rest = goals[0], goals[1:]
    if goal.test is not None:
        if goal.test(binding):
            yield from answers(rest, known, binding)
    elif goal.computed is not None:
        name, function = goal.computed
        yield from answers(rest, known, {**binding, name: function(binding)})
    elif goal.absent:
        if all(matching(goal.terms, row, binding) is None for row in known[goal.name]):
            yield from answers(rest, known, binding)
    else:
        for row in known[goal.name]:
            found = matching(goal.terms, row, binding)
            if found is not None:
                yield from answers(rest, known, found)


def derived(strata: list[list[Definition]], known: Database) -> Database:
    """What definitions derive, stratum by stratum, each repeated until nothing new comes."""
    for stratum in strata:
        while True:
            new = {(each.name, tuple(found.get(term, term) for term in each.head))
                   for each in stratum for found in answers(each.goals, known, {})}
            if all(row in known[name] for name, row in new):
                break
            for name, row in new:
                known[name].add(row)
    return known


def atom(name: str, *terms: str) -> Goal:
    return Goal(f"{name}({', '.join(terms)})", name, terms)


def absence(name: str, *terms: str) -> Goal:
    return Goal(f"\\+ {name}({', '.join(terms)})", name, terms, absent=True)


PLUS = Goal("N is M + 1", computed=("N", lambda known: int(known["M"]) + 1))
SMALL = Goal("M < 3", test=lambda known: int(known["M"]) < 3)
APART = Goal("X \\== Y", test=lambda known: known["X"] != known["Y"])


@st.composite
def strata_of(draw: st.DrawFn) -> list[list[Definition]]:
    """Definitions d0/2, d1/2 and d2/2 over edge/2, each over those before it, perhaps over itself; steps/2 counts."""
    found: list[list[Definition]] = []
    for level in range(3):
        name, below = f"d{level}", ["edge", *(f"d{i}" for i in range(level))]
        one = st.sampled_from(below)
        shapes = [
            lambda draw, one=one: (("X", "Y"), (atom(draw(one), "X", "Y"),)),
            lambda draw, one=one: (("X", "Y"), (atom(draw(one), "Y", "X"), APART)),
            lambda draw, one=one: (("X", "Y"), (atom(draw(one), "X", "Z"), atom(draw(one), "Z", "Y"))),
            lambda draw, one=one: (("X", "Y"), (atom(draw(one), "X", "Y"), absence(draw(one), "Y", "X"))),
            lambda draw, one=one: (("X", "c1"), (atom(draw(one), "X", "c2"),)),
            lambda draw, one=one: (("X", "X"), (atom("node", "X"), absence(draw(one), "X", "c0"))),
            lambda draw, one=one, name=name: (("X", "Y"), (atom(draw(one), "X", "Z"), atom(name, "Z", "Y"))),
            lambda draw, name=name: (("X", "Y"), (atom(name, "X", "Z"), atom(name, "Z", "Y"))),
            lambda draw, one=one, name=name: (("X", "Y"), (atom(name, "Y", "X"), absence(draw(one), "X", "X"))),
        ]
        chosen = draw(st.lists(st.sampled_from(shapes), min_size=2, max_size=4))
        found.append([Definition(name, *shape(draw)) for shape in chosen])
    found.append([Definition("steps", ("X", "1"), (atom(draw(st.sampled_from(["edge", "d0"])), "X", "Y"),)),
                  Definition("steps", ("X", "N"), (atom("d1", "X", "Y"), atom("steps", "Y", "M"), SMALL, PLUS))])
    return found


RULES = """
initiatedAt(on(X, Y)=true, T) :- happensAt(e(X, Y), T), d0(X, Y).
terminatedAt(on(X, Y)=true, T) :- happensAt(e(Y, X), T), \\+ d1(X, Y).
initiatedAt(level(X)=N, T) :- happensAt(e(X, _), T), steps(X, N).
initiatedAt(many(X)=N, T) :- happensAt(e(X, _), T), findall(Y, d2(X, Y), L), length(L, N).
initiatedAt(alone(X)=true, T) :- happensAt(e(X, Y), T), \\+ (d2(X, Z), d0(Z, Y)).
grounding(first(X)=true) :- d1(X, _).
initially(first(X)=true).
terminatedAt(first(X)=true, T) :- happensAt(e(X, Y), T), (d2(Y, X) ; d1(X, X)).
holdsFor(both(X)=true, I) :-
    holdsFor(on(X, Y)=true, I1), holdsFor(alone(Y)=true, I2), intersect_all([I1, I2], I), d2(X, Y).
happensAt(seen(X, N), T) :- happensAt(e(X, _), T), steps(X, M), N is M * 2.
"""


def program_texts(strata: list[list[Definition]], edges: set[Row]) -> tuple[str, str]:
    """The rules with definitions, and with what these derive as facts; a row of each is a fact in both."""
    known: Database = {"edge": set(edges) | {("zz", "zz")}, "node": {(value,) for value in VALUES},
                       "steps": {("zz", 0)}, **{f"d{i}": {("zz", "zz")} for i in range(3)}}
    given_ = [f"{name}({', '.join(map(str, row))})." for name, rows in known.items() for row in sorted(rows)]
    clauses = [str(each) for stratum in strata for each in stratum]
    facts = [f"{name}({', '.join(map(str, row))})." for name, rows in derived(strata, known).items()
             for row in sorted(rows, key=str)]
    return "\n".join([*given_, *clauses, RULES]), "\n".join([*facts, RULES])


def rows_of(table: pa.Table) -> list[tuple[object, ...]]:
    return sorted((tuple(row.values()) for row in table.to_pylist()), key=str)


PAIRS = st.tuples(st.sampled_from(VALUES), st.sampled_from(VALUES))


@examples(1)
@given(strata=strata_of(), edges=st.sets(PAIRS, max_size=7), calls=st.lists(PAIRS, min_size=1, max_size=8),
       most=st.sampled_from([0, 1, 16]))
def test_rules_over_definitions_are_rules_over_what_they_derive(
        strata: list[list[Definition]], edges: set[Row], calls: list[tuple[str, str]], most: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(relations, "MOST_WRITTEN_OUT", most)  # so that small definitions become relations too
        texts = program_texts(strata, edges)
        with_definitions, with_facts = map(ev.parse, texts)
        assert [problem.message for problem in with_definitions.check() if problem.severity == "error"] == [], texts[0]
    events = pa.table({"time": [3 * i + 1 for i in range(len(calls))], "event": ["e"] * len(calls),
                       "a": [a for a, _ in calls], "b": [b for _, b in calls]})
    assert rows_of(with_definitions.run(events, start=0).to_arrow()) == \
        rows_of(with_facts.run(events, start=0).to_arrow()), texts[0]
    options = {"start": 0, "window": 6, "step": 3}
    assert rows_of(with_definitions.run(events, emit="changes", **options).to_arrow()) == \
        rows_of(with_facts.run(events, emit="changes", **options).to_arrow()), texts[0]


def timelines(text: str, *pairs: Row) -> dict[str, object]:
    """The results of rules over events e(X, Y) at 1, 2, …"""
    table = pa.table({"time": list(range(1, len(pairs) + 1)), "event": ["e"] * len(pairs), "a": [a for a, _ in pairs],
                      "b": [b for _, b in pairs]})
    return dict(ev.parse(text).run(table).timeline())


def cpu(function: Callable[[], object], times: int = 3) -> float:
    """The least CPU time of some calls, in seconds."""
    found = []
    for _ in range(times):
        begin = time.process_time()
        function()
        found.append(time.process_time() - begin)
    return min(found)


ASKED = "initiatedAt(f(X, Y)=true, T) :- happensAt(e(X, Y), T), {}.\n"


def test_every_pair_of_a_ring_of_a_thousand_streets() -> None:
    ring = "".join(f"street(n{i}, n{(i + 1) % 1000}).\n" for i in range(1000))
    text = ASKED.format("way(X, Y)") + ring + "way(X, Y) :- street(X, Y).\nway(X, Z) :- street(X, Y), way(Y, Z).\n"
    program = ev.parse(text)
    assert program.background_store().tables["way/2"].length == 1_000_000
    assert timelines(text, ("n5", "n4"), ("n5", "elsewhere")) == {"f(n5,n4)=true": [(2, None)]}
    assert cpu(program.background_store) < 2


def test_definitions_over_definitions_double_nothing() -> None:
    levels = "".join(f"p{i}(X, Y) :- p{i + 1}(X, Y).\np{i}(X, Y) :- p{i + 1}(Y, X).\n" for i in range(18))
    text = ASKED.format("p0(X, Y)") + levels + "p18(a, b).\n"
    assert timelines(text, ("b", "a"), ("a", "a")) == {"f(b,a)=true": [(2, None)]}
    assert cpu(lambda: ev.parse(text).check()) < 0.5


def test_definitions_may_be_deep() -> None:
    levels = "".join(f"p{i}(X, Y) :- p{i + 1}(X, Y).\n" for i in range(500))
    assert timelines(ASKED.format("p0(X, Y)") + levels + "p500(a, b).\n", ("a", "b"), ("b", "a")) == {
        "f(a,b)=true": [(2, None)]}


@pytest.mark.parametrize("condition", ["member(Y, [{}])", "\\+ (X = b, \\+ member(Y, [{}]))", "near(Y)"])
def test_long_lists(condition: str) -> None:
    numbers = ", ".join(map(str, range(2000)))
    text = ASKED.format(condition.format(numbers)) + f"near(Y) :- member(Z, [{numbers}]), Y =:= Z + 0.\n"
    assert timelines(text, ("b", 1999), ("b", 2000)) == {"f(b,1999)=true": [(2, None)]}


def test_a_findall_counts_what_several_clauses_derive_once_and_the_items_of_a_list_each() -> None:
    text = "p(X) :- a(X).\np(X) :- b(X).\na(x). b(x). b(y).\n" \
        "initiatedAt(n(X)=N, T) :- happensAt(e(X, _), T), findall(Y, p(Y), L), length(L, N).\n" \
        "initiatedAt(m(X)=N, T) :- happensAt(e(X, _), T), findall(Y, member(Y, [a, a, b]), L), length(L, N).\n"
    assert timelines(text, ("k", "k")) == {"n(k)=2": [(2, None)], "m(k)=3": [(2, None)]}


def test_many_tests_are_one_test() -> None:
    many = "".join(f"odd(X) :- X == k{i}.\n" for i in range(2000))
    assert timelines(ASKED.format("odd(X)") + many, ("k1999", "a"), ("l", "a")) == {"f(k1999,a)=true": [(2, None)]}


def test_a_cut_commits_in_a_recursive_definition_too() -> None:
    text = ASKED.format("last(X, Y)") + "next(a, b). next(b, c). end(c).\n" \
        "last(X, X) :- end(X), !.\nlast(X, Z) :- next(X, Y), last(Y, Z).\n"
    assert timelines(text, ("a", "c"), ("c", "c"), ("a", "b")) == {
        "f(a,c)=true": [(2, None)], "f(c,c)=true": [(3, None)]}


def test_definitions_that_call_each_other() -> None:
    steps = "".join(f"next(n{i}, n{i + 1}).\n" for i in range(9))
    text = ASKED.format("even(X), odd(Y)") + steps + \
        "even(n0).\neven(X) :- next(Y, X), odd(Y).\nodd(X) :- next(Y, X), even(Y).\n"
    found = timelines(text, *product(["n3", "n8"], ["n3", "n8"]))
    assert found == {"f(n8,n3)=true": [(4, None)]}


def test_a_session_is_restored_with_relations() -> None:
    text = ASKED.format("d(X, Y)") + "d(X, Y) :- n(X, Y).\nd(X, Z) :- n(X, Y), d(Y, Z).\nn(a, b). n(b, c).\n"
    program = ev.parse(text)
    session = program.session(window=100)
    session.insert(pa.table({"time": [3], "event": ["e"], "a": ["a"], "b": ["c"]}))
    assert session.advance(to=5).added.num_rows == 1
    again = program.restore(session.save())
    again.insert(pa.table({"time": [7, 7], "event": ["e", "e"], "a": ["a", "c"], "b": ["b", "a"]}))
    assert again.advance(to=9).added.select(["args"]).to_pylist() == [{"args": "a|b"}]


def test_a_definition_that_pairs_each_with_each_is_written_out_where_it_can_be() -> None:
    names = "".join(f"n(k{i}).\n" for i in range(20_000))
    pairs = "".join(f"pair(X, Y) :- n(X), n(Y), X \\== k{i}.\n" for i in range(20))
    assert timelines(ASKED.format("pair(X, Y)") + names + pairs, ("k5", "k7"), ("k5", "l")) == {
        "f(k5,k7)=true": [(2, None)]}


def test_negations_have_variables_of_their_own() -> None:
    text = ASKED.format("\\+ (n(X, Z), d(Z, Y))") + "d(p, q).\nd(X, Y) :- n(X, Y).\nn(a, b). n(b, c). n(a, p).\n"
    assert timelines(text, ("a", "c"), ("a", "q"), ("a", "b")) == {"f(a,b)=true": [(4, None)]}


def test_a_relation_over_its_budget_is_refused() -> None:
    ring = "".join(f"street(n{i}, n{(i + 1) % 300}).\n" for i in range(300))
    text = ASKED.format("way(X, Y)") + ring + "way(X, Y) :- street(X, Y).\nway(X, Z) :- street(X, Y), way(Y, Z).\n"
    with budget(rows=10_000), pytest.raises(ProgramError, match=r"way/2.* would need .*10,000 rows"):
        timelines(text, ("n5", "n4"))
    with budget(rows=100_000):
        assert timelines(text, ("n5", "n4")) == {"f(n5,n4)=true": [(2, None)]}
