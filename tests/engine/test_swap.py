"""Other rules for a running session: what is told is what the new rules say of the window and of what was kept."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn
from tests.effort import examples
from tests.engine.session_cases import SESSION_FAMILIES, SessionCase, give, session_cases
from tests.oracle.programs import Case
from tests.oracle.sessions import Operation, Row, SlowSession, rows_of, table_of, time_points

import eventide as ev
import eventide.engine.swap as swap_module
from eventide.engine.session import Session
from eventide.engine.swap import Swap
from eventide.errors import InputError

every_family = pytest.mark.parametrize("family", sorted(SESSION_FAMILIES))
THEN = "%%% then"


# -- random pairs of programs ------------------------------------------------------------------------------------------


@st.composite
def two_programs(draw: DrawFn, family: str) -> Case:
    """Two programs of a family, over the facts of both."""
    first, second = draw(SESSION_FAMILIES[family]), draw(SESSION_FAMILIES[family])
    facts = [fact for pair in zip(first.facts, second.facts, strict=False) for fact in pair]
    texts = [f"{case.text}\n{case.background}\n" for case in (first, second)]
    return first._replace(text=f"{texts[0]}{THEN}\n{texts[1]}", background="", facts=list(dict.fromkeys(facts)))


def rows_in(table: pa.Table) -> set[Row]:
    found = rows_of(table)
    assert len(set(found)) == len(found)
    return set(found)


def over(rows: Iterable[Row], floor: int | None) -> set[Row]:
    """The rows that nobody can change: they ended before the floor."""
    return {row for row in rows if floor is not None and row[4] is not None and row[4] <= floor}


class Slow(SlowSession):
    """The slow session that begins at a floor with the facts of another one; facts before it are none."""

    @staticmethod
    def at(floor: int | None, program: ev.Program, known: SlowSession) -> Slow:
        start = known.start if floor is None else floor - known.tick
        options = known.options
        if floor is not None:
            options = options | {"initially_at": max(options.get("initially_at", 0), floor)}
        slow = Slow(program, start=start, window=known.window, tick=known.tick, **options)
        slow.query, slow._floor = known.query, floor
        read = known.program.input_names.keys()  # of inputs that no rule read there are no facts
        for fact, points in known._held.items():
            if (fact[1], len(fact[2])) in read:
                slow._held[fact] = {t for t in points if floor is None or t >= floor}
        slow._waiting = [o for o in known._waiting if (o.fact[1], len(o.fact[2])) in read]
        return slow

    _floor: int | None = None

    def answer(self) -> pa.Table:
        """Without the start of what begins at the floor, which happens before it: other rules may see it."""
        rows = rows_of(super().answer())
        return table_of({row for row in rows if self._floor is None or row[4] is None or row[4] > self._floor})

    def _apply(self, operation: Operation) -> bool:
        if self._floor is not None and max(time_points(operation.fact)) < self._floor:
            return True
        return super()._apply(operation)


def crosses(known: SlowSession, floor: int | None) -> bool:
    """Whether an input fluent holds across the floor: it is known whole, and the slow session knows a part of it."""
    return floor is not None and any(
        fact[0] != "event" and points and min(points) < floor for fact, points in known._held.items())


def swapped_through(case: SessionCase, moment: int, texts: tuple[str, str],
                    swap: Callable[[Session, ev.Program], Swap],
                    expected: Callable[[Swap, SlowSession, SlowSession], tuple[set[Row], SlowSession]]) -> None:
    """Take a session through a case, with other rules after a step; then all that it says is what is expected.

    `expected` gives, at the swap, rows that stay as they are, and the slow session for all others.
    """
    old, new = map(ev.parse, texts)
    session, slow = old.session(**case.options), SlowSession(old, **case.options)
    held: set[Row] = set()
    fixed: set[Row] = set()
    for number, step in enumerate(case.steps):
        give(session, case, step.operations)
        give(slow, case, step.operations)
        changes = session.advance(to=step.query)
        slow.advance(to=step.query)
        added, removed = rows_in(changes.added), rows_in(changes.removed)
        assert removed <= held and not added & held, f"at {step.query}"
        held = held - removed | added
        assert held == fixed | rows_in(slow.answer()), f"at {step.query}"
        if number == moment:
            before = session.save()
            try:
                found = swap(session, new)
            except InputError as refusal:  # it goes on unharmed
                assert "forget" in str(refusal)
                assert session.save() == before
            else:
                floor = found.since if found.rebuilt else None
                assert not set(found.kept) & set(found.rebuilt)
                fixed, slow = expected(found, slow, Slow.at(floor, new, slow))


def parts_of(case: SessionCase) -> tuple[str, str]:
    first, second = case.text.split(THEN)
    return first, second


def meaning_something_else(self: Session, elsewhere: object = None) -> dict[str, str]:
    return {name: f"{id(self)} {name}" for name in self.plan.bodies}


@every_family
@examples(1 / 12)
@given(data=st.data())
def test_rebuilt_it_is_a_session_that_begins_at_the_floor(family: str, data: st.DataObject) -> None:
    case = data.draw(session_cases(two_programs(family)))
    moment = data.draw(st.integers(0, len(case.steps) - 1), "moment")

    def expected(found: Swap, known: SlowSession, slow: SlowSession) -> tuple[set[Row], SlowSession]:
        assume(not crosses(known, found.since))
        return over(rows_in(known.answer()), found.since), slow

    with patch.object(Session, "meanings", meaning_something_else):
        swapped_through(case, moment, parts_of(case), Session.swap, expected)  # type: ignore[arg-type]


@every_family
@examples(1 / 12)
@given(data=st.data())
def test_rules_that_are_as_before_change_nothing(family: str, data: st.DataObject) -> None:
    """Nor do the order of the rules and the names of variables, and restored from bytes it is the same."""
    case = data.draw(session_cases(family))
    moment = data.draw(st.integers(0, len(case.steps) - 1), "moment")
    lines = data.draw(st.permutations(case.text.splitlines()))
    text = case.text if data.draw(st.booleans()) else "\n".join(lines).replace("X", "Other")

    def swap(session: Session, program: ev.Program) -> Swap:
        found = session.swap(program)
        assert text != case.text or not found.rebuilt
        return found

    def expected(found: Swap, known: SlowSession, slow: SlowSession) -> tuple[set[Row], SlowSession]:
        assume(not found.rebuilt)  # where the order of rules is one of evaluation, the plan may be another one
        return set(), Slow.at(None, ev.parse(text), known)

    swapped_through(case, moment, (case.text, text), swap, expected)


def fewer_rules(draw: DrawFn, text: str) -> str:
    """A program without some of its rules; what only they read is read no longer."""
    lines = text.splitlines(keepends=True)
    heads = ("initiatedAt", "terminatedAt", "happensAt", "holdsFor")
    rules = [place for place, line in enumerate(lines) if line.startswith(heads)]
    gone = draw(st.sets(st.sampled_from(rules), min_size=1, max_size=3)) if rules else set()
    return "".join(line for place, line in enumerate(lines) if place not in gone)


@every_family
@examples(1 / 12)
@given(data=st.data())
def test_what_is_kept_goes_on_as_if_nothing_had_been(family: str, data: st.DataObject) -> None:
    """Whichever other rules come or go: its rows are those of a session whose rules have not changed."""
    case = data.draw(session_cases(family))
    moment = data.draw(st.integers(0, len(case.steps) - 1), "moment")
    old, new = ev.parse(case.text), ev.parse(fewer_rules(data.draw, case.text))
    if data.draw(st.booleans(), "added"):
        old, new = new, old
    assume(not any(problem.severity == "error" for program in (old, new) for problem in program.check()))
    session, other = (old.session(**case.options) for _ in range(2))
    known = old.input_names.keys()
    held: dict[Session, set[Row]] = {session: set(), other: set()}
    kept: set[str] | None = None
    for number, step in enumerate(case.steps):
        operations = tuple(o for o in step.operations if (o.fact[1], len(o.fact[2])) in known)
        for each in (session, other):
            give(each, case, operations)
            changes = each.advance(to=step.query)
            held[each] = held[each] - rows_in(changes.removed) | rows_in(changes.added)
        if kept is not None:
            rows = [{row for row in held[each] if row[0] in kept} for each in (session, other)]
            assert rows[0] == rows[1], f"at {step.query}"
        if number == moment:
            try:
                found = session.swap(new)
            except InputError:
                return
            rebuilt = {name.partition("(")[0] for name in (*found.rebuilt, *found.gone)}
            kept = {name.partition("(")[0] for name in found.kept} - rebuilt
            known = known & new.input_names.keys()


def other_rules(draw: DrawFn, text: str) -> str:
    """A program with one of its lines changed: another event, another number, another fluent or row of a table."""
    lines = text.splitlines(keepends=True)
    names = sorted(set(re.findall(r"\b([a-z]+[0-9])\(", text)))
    variants = []
    for place, line in enumerate(lines):
        changed = {re.sub(r"\be([12])\(", lambda found: f"e{3 - int(found[1])}(", line),
                   re.sub(r"(?<![A-Za-z_0-9])[0-9]+", lambda found: str(int(found[0]) + 2), line, count=1),
                   re.sub(r"\b[abc]\b", "c", line) if ":-" not in line else line,
                   *(re.sub(r"(?<=holdsAt\()[a-z]+[0-9](?=\()", name, line, count=1) for name in names)}
        variants += [(place, other) for other in sorted(changed - {line})]
    assume(variants)
    place, lines[place] = draw(st.sampled_from(variants))
    return "".join(lines)


@every_family
@examples(1 / 8)
@given(data=st.data())
def test_over_all_facts_it_is_a_session_of_the_new_rules(family: str, data: st.DataObject) -> None:
    """What is kept and what is rebuilt fit together: what is kept wrongly would show."""
    case = data.draw(session_cases(family))
    case = replace(case, options={**case.options, "window": None})
    moment = data.draw(st.integers(0, len(case.steps) - 1), "moment")
    change = data.draw(st.sampled_from((fewer_rules, other_rules)))
    text = change(data.draw, case.text)
    assume(not any(problem.severity == "error" for problem in ev.parse(text).check()))

    def expected(found: Swap, known: SlowSession, slow: SlowSession) -> tuple[set[Row], SlowSession]:
        assert found.since is None
        return set(), Slow.at(None, ev.parse(text), known)

    swapped_through(case, moment, (case.text, text), Session.swap, expected)  # type: ignore[arg-type]


# -- some kept, some rebuilt -------------------------------------------------------------------------------------------

LOWER = """
initiatedAt(a(X)=true, T) :- happensAt(up(X), T).
terminatedAt(a(X)=true, T) :- happensAt(down(X), T).
initiatedAt(b(X)=true, T) :- happensAt(other(X), T).
fi(b(X)=true, b(X)=false, 9).
"""
UPPER = {
    "union": "holdsFor(s(X)=true, I) :- holdsFor(a(X)=true, J), holdsFor(b(X)=true, K), union_all([J, K], I).",
    "both": "holdsFor(s(X)=true, I) :- holdsFor(a(X)=true, J), holdsFor(b(X)=true, K), intersect_all([J, K], I).",
    "without": "holdsFor(s(X)=true, I) :- holdsFor(a(X)=true, J), holdsFor(b(X)=true, K), "
               "relative_complement_all(J, [K], I).",
    "long": "holdsFor(s(X)=true, I) :- holdsFor(a(X)=true, J), intDurGreater(J, 12, I).",
    "short": "holdsFor(s(X)=true, I) :- holdsFor(b(X)=true, J), intDurLess(J, 8, I).",
    "during": "holdsFor(s(X)=true, I) :- holdsFor(a(X)=true, J), holdsFor(b(X)=true, K), "
              "allen(overlaps, J, K, intersection, I).",
    "simple": "initiatedAt(s(X)=true, T) :- happensAt(up(X), T), holdsAt(b(X)=true, T).\n"
              "terminatedAt(s(X)=true, T) :- happensAt(down(X), T), \\+ holdsAt(b(X)=false, T).",
    "event": "happensAt(s(X), T) :- happensAt(other(X), T), holdsAt(a(X)=true, T).",
}
WINDOW = 10
facts_about = st.lists(st.tuples(st.sampled_from(("up", "down", "other")), st.sampled_from("xy"), st.integers(1, 40)),
                       max_size=25, unique=True)


def events(rows: Collection[tuple[str, str, int]]) -> pa.Table:
    return pa.table({"time": pa.array([row[2] for row in rows], pa.int64()), "event": [row[0] for row in rows],
                     "who": [row[1] for row in rows]})


def from_scratch(rules: str, rows: Collection[tuple[str, str, int]], until: int) -> set[Row]:
    """The answer of a run over all facts up to a time."""
    seen = [row for row in rows if row[2] <= until]
    return rows_in(ev.parse(rules).run(events(seen), start=0, end=until).to_arrow()) if seen else set()


def cut(rows: Iterable[Row], floor: int) -> set[Row]:
    """What of the rows is after a time."""
    return {(*row[:3], max(row[3], floor), row[4]) for row in rows if row[4] is None or row[4] > floor}


QUERIES = (8, 16, 24, 32, 40)


@examples(1 / 2)
@given(facts_about, st.sampled_from(sorted(UPPER)), st.sampled_from(sorted(UPPER)), st.sampled_from(QUERIES[1:4]),
       st.booleans())
def test_what_is_rebuilt_sees_what_is_kept_since_its_true_beginning(
        rows: list[tuple[str, str, int]], first: str, second: str, at: int, restored: bool) -> None:
    """What has no inertia of its own is that of a run over all facts, cut at the floor."""
    old, new = (LOWER + UPPER[name] for name in (first, second))
    session: Any = ev.parse(old).session(window=WINDOW, start=0)
    held: set[Row] = set()
    history: set[Row] = set()
    floor = at - WINDOW + 1
    for query in QUERIES:
        session.insert(events([row for row in rows if query - 8 < row[2] <= query]))
        added, removed = told(session, query)
        assert removed <= held and not added & held
        held = held - removed | added
        exact = from_scratch(old if query <= at else new, rows, query)
        if query > at and first != second:
            upper = {row for row in exact if row[0] == "s"}
            exact = (exact - upper) | history | cut(simple(rows, floor, query) if second == "simple" else upper, floor)
        assert held == exact, f"at {query}"
        if query == at and restored:
            history = over({row for row in held if row[0] == "s"}, floor)
            session = ev.parse(new).restore(session.save(), swap=True)
        elif query == at:
            history = over({row for row in held if row[0] == "s"}, floor)
            found = session.swap(ev.parse(new))
            assert found.kept[:2] == ("a(_)", "b(_)")
            assert found.since == floor and bool(found.rebuilt) == (first != second)


def simple(rows: Collection[tuple[str, str, int]], floor: int, until: int) -> set[Row]:
    """The fluent `s` of the rules `simple`, with inertia since the floor: point by point."""
    lower = from_scratch(LOWER, rows, until)
    found: set[Row] = set()

    def held(value: str, who: str, time: int) -> bool:
        return any(r[:3] == ("b", who, value) and r[3] <= time and (r[4] is None or time < r[4]) for r in lower)

    for who in "xy":
        since: int | None = None
        for time in range(floor, until + 1):
            up, down = (name in {r[0] for r in rows if r[1:] == (who, time)} for name in ("up", "down"))
            if down and not held("false", who, time):
                found |= set() if since is None else {("s", who, "true", since, time + 1)}
                since = None
            elif up and held("true", who, time) and since is None:
                since = time + 1
        found |= set() if since is None else {("s", who, "true", since, None)}
    return found


# -- cases to read -----------------------------------------------------------------------------------------------------

RICH = """initiatedAt(rich(X)=true, T) :- happensAt(win(X), T).
terminatedAt(rich(X)=true, T) :- happensAt(lose(X), T).
"""


def told(session: Any, to: int) -> tuple[set[Row], set[Row]]:
    changes = session.advance(to=to)
    return rows_in(changes.added), rows_in(changes.removed)


def table(*rows: tuple[Any, ...]) -> pa.Table:
    """Events (name, time, arguments…)."""
    width = max(len(row) for row in rows) - 2
    return pa.table({"time": [row[1] for row in rows], "event": [row[0] for row in rows],
                     **{f"arg{i}": [row[2 + i] for row in rows] for i in range(width)}})


def test_inertia_from_before_the_window_is_kept_where_the_definition_is() -> None:
    """`rich` has held since 2; a definition that is rebuilt knows nothing of that time, but sees `rich`."""
    session = ev.parse(RICH).session(window=10, start=0)
    session.insert(table(("win", 1, "ann"), ("win", 25, "bob")))
    told(session, 10)
    told(session, 30)
    new = RICH + "initiatedAt(won(X)=true, T) :- happensAt(win(X), T).\n" \
        "holdsFor(calm(X)=true, I) :- holdsFor(rich(X)=true, J), intDurGreater(J, 12, I).\n"
    found = session.swap(ev.parse(new))
    assert (found.kept, found.rebuilt, found.since) == (("rich(_)",), ("calm(_)=true", "won(_)"), 21)
    assert told(session, 31) == ({("calm", "ann", "true", 21, None), ("won", "bob", "true", 26, None)}, set())
    session.insert(table(("lose", 32, "ann")))
    assert told(session, 33) == ({("rich", "ann", "true", 2, 33), ("calm", "ann", "true", 21, 33)},
                                 {("rich", "ann", "true", 2, None), ("calm", "ann", "true", 21, None)})


def test_initial_values_of_what_is_rebuilt_begin_at_the_floor() -> None:
    rules = RICH + "initially(rich(_)=true).\ngrounding(rich(X)=true) :- person(X).\nperson(ann).\nperson(bob).\n"
    session = ev.parse(rules).session(window=10, start=0)
    session.insert(table(("lose", 3, "ann")))
    assert told(session, 10)[0] == {("rich", "ann", "true", 0, 4), ("rich", "bob", "true", 0, None)}
    told(session, 30)
    session.swap(ev.parse(rules.replace("win(X)", "find(X)")))
    assert told(session, 31) == ({("rich", "ann", "true", 21, None), ("rich", "bob", "true", 21, None)},
                                 {("rich", "bob", "true", 0, None)})


def test_changes_are_those_of_the_rules_they_were_told_by_whenever_they_are_asked_for() -> None:
    session = ev.parse(RICH).session(window=10, start=0)
    session.insert(table(("win", 1, "ann"), ("lose", 3, "ann"), ("win", 3, "bob")))
    first = session.advance(to=5)
    session.insert(table(("win", 1, "cid"), ("lose", 8, "bob")))
    second = session.advance(to=12)
    session.swap(ev.parse("initiatedAt(poor(X, Y)=true, T) :- happensAt(spend(X, Y), T)."))
    session.advance(to=13)
    bob = ("rich", "bob", "true", 4, None)
    assert (rows_in(first.added), rows_in(first.removed)) == ({("rich", "ann", "true", 2, 4), bob}, set())
    assert (rows_in(second.added), rows_in(second.removed)) == ({("rich", "bob", "true", 4, 9)}, {bob})
    assert second.late.select(["fact", "args"]).to_pylist() == [{"fact": "win", "args": "cid"}]


def test_a_deadline_goes_on() -> None:
    rules = "initiatedAt(alarm(X)=on, T) :- happensAt(ring(X), T).\nfi(alarm(X)=on, alarm(X)=off, 20).\n"
    session = ev.parse(rules).session(window=5, start=0)
    session.insert(table(("ring", 3, "ann")))
    told(session, 5)
    told(session, 12)
    more = rules.replace("alarm", "bell") + "initiatedAt(seen(X)=true, T) :- happensAt(start(bell(X)=off), T).\n"
    assert session.swap(ev.parse(more)).kept == ("bell(_)",)
    assert told(session, 13) == ({("bell", "ann", "on", 4, None)}, {("alarm", "ann", "on", 4, None)})
    assert told(session, 30)[0] == {("bell", "ann", "on", 4, 24), ("bell", "ann", "off", 24, None),
                                    ("seen", "ann", "true", 24, None)}


def test_what_is_gone_is_withdrawn_and_what_is_over_stays() -> None:
    session = ev.parse(RICH).session(window=10, start=0)
    session.insert(table(("win", 1, "ann"), ("lose", 5, "ann"), ("win", 7, "ann")))
    told(session, 10)
    told(session, 30)
    assert session.swap(ev.parse("initiatedAt(poor(X)=true, T) :- happensAt(lose(X), T).")).gone == ("rich(_)",)
    assert told(session, 40) == (set(), {("rich", "ann", "true", 8, None)})


def test_with_all_facts_in_the_window_it_is_as_if_the_rules_had_always_been_there() -> None:
    session = ev.parse(RICH).session(start=0)
    session.insert(table(("win", 1, "ann"), ("lose", 5, "ann"), ("win", 7, "ann")))
    told(session, 30)
    assert session.swap(ev.parse("initiatedAt(poor(X)=true, T) :- happensAt(lose(X), T).")).since is None
    assert told(session, 30)[0] == {("poor", "ann", "true", 6, None)}


def test_twice_before_a_query_time_and_back_again() -> None:
    session = ev.parse(RICH).session(start=0)
    session.insert(table(("win", 1, "ann")))
    told(session, 10)
    session.swap(ev.parse(RICH.replace("lose", "spend")))
    session.swap(ev.parse(RICH.replace("rich", "wealthy")))
    session.swap(ev.parse(RICH))
    assert told(session, 11) == (set(), set())


def test_before_the_first_query_time_and_with_facts_that_wait() -> None:
    session = ev.parse(RICH).session()
    session.insert(table(("win", 1, "ann"), ("win", 20, "bob")))
    session.swap(ev.parse(RICH.replace("rich", "wealthy")))
    assert told(session, 10)[0] == {("wealthy", "ann", "true", 2, None)}
    session.swap(ev.parse(RICH))
    assert told(session, 30)[0] == {("rich", "ann", "true", 2, None), ("rich", "bob", "true", 21, None)}


@pytest.mark.parametrize("restored", [False, True])
@pytest.mark.parametrize("person", ["ann).\nperson(bob", "bob"])  # more rows, and as many
def test_background_that_has_changed_counts_as_other_rules(person: str, restored: bool) -> None:
    rules = "initiatedAt(rich(X)=true, T) :- happensAt(win(X), T), person(X).\nperson(ann).\n"
    session = ev.parse(rules).session(start=0)
    session.insert(table(("win", 1, "ann"), ("win", 1, "bob")))
    told(session, 10)
    other = ev.parse(rules.replace("person(ann", f"person({person}"))
    if restored:
        session = other.restore(session.save(), swap=True)
    found = session.swapped if restored else session.swap(other)
    assert found is not None and found.rebuilt == ("rich(_)",)
    assert told(session, 11) == ({("rich", "bob", "true", 2, None)},
                                 {("rich", "ann", "true", 2, None)} if person == "bob" else set())


def above(limit: int) -> Callable[[Any], Any]:
    return lambda speed: speed > limit


@pytest.mark.parametrize("restored", [False, True])
def test_a_function_that_holds_another_value_counts_as_other_rules(restored: bool) -> None:
    rules = "initiatedAt(fast(X)=true, T) :- happensAt(go(X, S), T), quick(S).\n"
    session = ev.parse(rules, predicates={"quick": above(5)}).session(start=0)
    session.insert(table(("go", 1, "ann", 6), ("go", 2, "bob", 9)))
    told(session, 10)
    for limit, gone in ((5, set()), (7, {("fast", "ann", "true", 2, None)})):
        program = ev.parse(rules, predicates={"quick": above(limit)})
        if restored:
            session = program.restore(session.save(), swap=True)
        else:
            assert bool(session.swap(program).rebuilt) == bool(gone)
        assert told(session, 11) == (set(), gone)


def test_retractions_find_facts_whose_arguments_are_read_no_longer() -> None:
    reading = "initiatedAt(rich(X)=true, T) :- happensAt(win(X, P, S), T), P > 2, prize(S).\nprize(car).\nprize(tea).\n"
    ignoring = "initiatedAt(rich(X)=true, T) :- happensAt(win(X, _, _), T).\n"
    session = ev.parse(reading).session(start=0)
    facts = table(("win", 1, "ann", 5, "car"), ("win", 2, "bob", 7, "tea"), ("win", 2, "bob", 8, "tea"))
    session.insert(facts)
    told(session, 10)
    session.swap(ev.parse(ignoring))
    session.retract(facts.slice(0, 2))
    assert told(session, 11) == (set(), {("rich", "ann", "true", 2, None)})
    assert session.counts.unmatched == 0


UNCHANGED = {
    "an argument is read no longer": (
        "initiatedAt(g(X)=true, T) :- happensAt(e(X,_), T).\n",
        "initiatedAt(f(X)=true, T) :- happensAt(e(X,P), T), P > 3.\n"),
    "an argument is read by words no longer": (
        "initiatedAt(g(X)=true, T) :- happensAt(e(X,_), T).\n",
        "initiatedAt(f(X)=true, T) :- happensAt(e(X,P), T), prize(P).\nprize(5).\n"),
    "a column of a table is read no longer": (
        "initiatedAt(g(X)=true, T) :- happensAt(e(X,P), T), limit(X,L,_), P > L.\nlimit(ann,3,car).\nlimit(b,3,tea).\n",
        "initiatedAt(f(X)=true, T) :- happensAt(e(X,_), T), limit(X,_,car).\n"),
    "a column of a table that a negation looks up": (
        "initiatedAt(g(X)=true, T) :- happensAt(e(X,P), T), \\+ (limit(X,L,_), P < L).\nlimit(ann,3,car).\n",
        "initiatedAt(f(X)=true, T) :- happensAt(e(X,_), T), limit(X,_,car).\n"),
}


@pytest.mark.parametrize("name", UNCHANGED)
@pytest.mark.parametrize("order", ["fewer", "more"])
def test_a_definition_is_kept_whatever_other_rules_ask_for(name: str, order: str) -> None:
    """It has held since before the window; that another rule comes or goes is nothing to it."""
    own, other = UNCHANGED[name]
    old, new = (own + other, own) if order == "fewer" else (own, own + other)
    session = ev.parse(old).session(window=10, start=0)
    session.insert(table(("e", 3, "ann", 5)))
    told(session, 5)
    told(session, 30)
    found = session.swap(ev.parse(new))
    assert found.kept == ("g(_)",)
    assert {row for changes in told(session, 31) for row in changes if row[0] == "g"} == set()


def test_only_the_rows_of_what_changes_are_compared() -> None:
    """What is told as before may be millions of rows: a swap does not look at them."""
    session = ev.parse(RICH).session(start=0)
    session.insert(table(("win", 1, "ann"), ("win", 2, "bob")))
    told(session, 10)
    with patch("eventide.engine.swap.output_table", wraps=swap_module.output_table) as listed:
        session.swap(ev.parse(RICH + "initiatedAt(won(X)=true, T) :- happensAt(win(X), T).\n"))
        assert [call.args[0].template for call in listed.call_args_list] == ["won(_)"]
        session.swap(ev.parse(RICH.replace("rich", "wealthy")))
        told_apart = {call.args[0].template for call in listed.call_args_list[1:]}
        assert told_apart == {"rich(_)", "wealthy(_)", "won(_)"}


INTERVALS_IN = "collectIntervals(near(_)=true).\n"
MEETS = "holdsFor(meets(X)=true, I) :- holdsFor(near(X)=true, I).\n"


def near(*rows: tuple[int, int, str]) -> dict[str, pa.Table]:
    return {"near": pa.table({"time": [row[0] for row in rows], "end": [row[1] for row in rows],
                              "who": [row[2] for row in rows], "value": ["true"] * len(rows)})}


def test_intervals_of_the_input_that_no_rule_reads() -> None:
    """Declared and never read, read no longer, and read again."""
    session = ev.parse(INTERVALS_IN + RICH).session(window=20, start=0)
    session.insert(near((1, 4, "ann")))
    assert told(session, 5) == (set(), set())
    session = ev.parse(INTERVALS_IN + MEETS + RICH).session(window=20, start=0)
    assert told(session, 5) == (set(), set())
    assert session.swap(ev.parse(INTERVALS_IN + RICH)).gone == ("meets(_)=true",)
    session.swap(ev.parse(INTERVALS_IN + MEETS + RICH))
    session.insert(near((6, 9, "ann")))
    assert told(session, 10) == ({("meets", "ann", "true", 6, 9)}, set())
    session.swap(ev.parse(INTERVALS_IN + RICH))
    assert told(session, 11) == (set(), {("meets", "ann", "true", 6, 9)})
    with pytest.raises(InputError, match="no rule has read it"):
        session.swap(ev.parse(INTERVALS_IN + MEETS + RICH))
    session.swap(ev.parse(INTERVALS_IN + MEETS + RICH), forget=["near"])
    session.insert(near((12, 15, "bob")))
    assert told(session, 20) == ({("meets", "bob", "true", 12, 15)}, set())


@pytest.mark.parametrize("declared", ["points(loc(_)=h).\nbuildFromPoints(loc(_)=h).", "collectIntervals(loc(_)=h)."])
def test_what_was_derived_is_no_input_by_its_name(declared: str) -> None:
    session = ev.parse("initiatedAt(loc(X)=h, T) :- happensAt(go(X), T).").session(window=10, start=0)
    session.insert(table(("go", 2, "ann")))
    told(session, 5)
    session.swap(ev.parse(f"{declared}\nholdsFor(at(X)=true, I) :- holdsFor(loc(X)=h, I)."))
    assert told(session, 6) == (set(), {("loc", "ann", "h", 3, None)})
    assert not session.answer().num_rows


@pytest.mark.parametrize("evaluation", ["auto", "full", "keys", "ranges"])
@pytest.mark.parametrize("window", [10, None])
def test_facts_that_are_given_up_count_no_longer(evaluation: Any, window: int | None) -> None:
    """What followed from them in the window goes, what was settled before it stays, however it is evaluated."""
    rules = RICH + INTERVALS_IN + MEETS + \
        "holdsFor(calm(X)=true, I) :- holdsFor(rich(X)=true, J), intDurGreater(J, 2, I).\n" \
        "happensAt(cheer(X), T) :- happensAt(win(X), T).\n"
    session = ev.parse(rules).session(window=window, start=0, evaluation=evaluation)
    session.insert(near((1, 3, "old"), (24, 26, "ann")))
    session.insert(table(("win", 1, "old"), ("win", 25, "ann"), ("win", 26, "bob"), ("lose", 28, "bob")))
    held: set[Row] = set()
    for query in (10, 20, 30):
        added, removed = told(session, query)
        held = held - removed | added
    assert len(held) == 10
    found = session.swap(ev.parse(rules), forget=["win", "near"])
    assert not found.rebuilt
    session.insert(table(("lose", 32, "bob")))
    added, removed = told(session, 33)
    assert not added
    settled = {row for row in held if row[1] == "old"} if window else set()
    assert held - removed == settled
    assert rows_in(session.answer()) <= settled


# -- refusals ----------------------------------------------------------------------------------------------------------

IGNORED = "initiatedAt(f(X)=true, T) :- happensAt(e(X, _), T)."
COMPUTED = "initiatedAt(f(X)=true, T) :- happensAt(e(X, P), T), P > 1."
JOINED = "initiatedAt(f(X)=true, T) :- happensAt(e(X, P), T), prize(P).\nprize(car).\nprize(5).\n"
INTERVALS = "collectIntervals(e(_, _)=true).\nholdsFor(f(X)=true, I) :- holdsFor(e(X, _)=true, I)."
REFUSED: dict[str, tuple[str, str, object, str]] = {
    "unread": (IGNORED, COMPUTED, 5, "read argument 2 of e.*no rule has read it"),
    "kind": (IGNORED, INTERVALS, 5, "are events, and the new rules declare intervals"),
    "word": (JOINED, COMPUTED, "car", "compute with it, and car is no number"),
    "number": (COMPUTED, JOINED, 5.0, "whole numbers and others were not kept apart"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_facts_that_lack_what_the_new_rules_read(name: str) -> None:
    old, new, value, message = REFUSED[name]
    session = ev.parse(old).session(window=20, start=0)
    session.insert(table(("e", 3, "ann", value)))
    told(session, 5)
    before = session.save()
    with pytest.raises(InputError, match=message):
        session.swap(ev.parse(new))
    assert session.save() == before
    with pytest.raises(InputError, match=message):
        ev.parse(new).restore(before, swap=True)
    session.insert(table(("e", 6, "bob", value)))
    known = {("f", "ann", "true", 4, None), ("f", "bob", "true", 7, None)}
    assert told(session, 8)[0] == known - {("f", "ann", "true", 4, None)}
    session.swap(ev.parse(new), forget=["e"])
    assert told(session, 9)[1] == known


def test_unsound_rules_and_unknown_inputs_are_refused() -> None:
    session = ev.parse(RICH).session(start=0, fluents=["rich"])
    session.insert(table(("win", 1, "ann")))
    told(session, 10)
    with pytest.raises(ev.EventideError):
        session.swap(ev.parse("initiatedAt(rich(X)=true, T) :- happensAt(win(X)."))
    for other in ("B(X) :- A(X).", "mtl"), ("b(X) :- a(X) [3].", "lars"):
        with pytest.raises(InputError, match=r"goes on with an Event Calculus program.*not with a (Mtl|Lars)Program"):
            session.swap(ev.parse(other[0], language=other[1]))
    with pytest.raises(InputError, match="derives no rich"):
        session.swap(ev.parse(RICH.replace("rich", "wealthy")))
    with pytest.raises(InputError, match="no input find to forget; the inputs are lose, win"):
        session.swap(ev.parse(RICH), forget=["find"])
    assert told(session, 11) == (set(), set())
