"""Sessions of DatalogMTL: whatever comes, goes or is late, the changes add up to what a run from scratch gives."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn
from tests.effort import examples
from tests.mtl.running import by_atom, compiled
from tests.oracle.mtl import Fact, Model
from tests.oracle.mtl_programs import Case, Kind, cases

from eventide.errors import EventideError, InputError
from eventide.mtl.checkpoint import MAGIC, from_bytes
from eventide.mtl.facts import facts_in
from eventide.mtl.session import MtlChanges, MtlSession

Row = tuple[Any, ...]


def session(rules: str, **options: Any) -> MtlSession:
    program = compiled(rules)
    delay = options.pop("delay", None)
    return MtlSession(program, list(program.model.predicates), lambda batch: facts_in(str(batch)),
                      delay=None if delay is None else Fraction(delay), **options)


def restored(s: MtlSession, rules: str) -> MtlSession:
    """The session that goes on from what was saved, as another process would."""

    def new(wanted: list[str], **options: Any) -> MtlSession:
        return MtlSession(compiled(rules), wanted, lambda batch: facts_in(str(batch)), **options)

    return from_bytes(s.save(), new)


def rows(table: Any) -> list[Row]:
    return [tuple(row.values()) for row in table.to_pylist()]


class Following:
    """Applies the changes of a session, and compares them with the least model of the facts that count."""

    def __init__(self, case: Case, delay: Fraction | None) -> None:
        self.case, self.session = case, session(case.text, delay=delay)
        self.facts: list[Fact] = []
        self.known: set[Row] = set()

    def insert(self, *facts: Fact) -> None:
        self.session.insert("\n".join(map(str, facts)))
        self.facts += [fact for fact in facts if fact not in self.facts]

    def retract(self, *facts: Fact) -> None:
        self.session.retract("\n".join(map(str, facts)))
        self.facts = [fact for fact in self.facts if fact not in facts]

    def advance(self, to: Fraction) -> MtlChanges:
        changes = self.session.advance(to)
        removed, added = rows(changes.removed), rows(changes.added)
        assert self.known.issuperset(removed) and not self.known.intersection(added)
        assert len(set(added)) == len(added)
        self.known = self.known.difference(removed).union(added)
        assert self.known == self.expected(to)
        return changes

    def expected(self, to: Fraction) -> set[Row]:
        model = Model(self.case.rules, self.facts, to)
        result = set()
        for (name, args), truth in model.truth.items():
            for span in model.regions.joined(truth):
                still = span.high == to and span.high_closed
                result.add((name, "|".join(map(str, args)), "", "-inf" if span.low is None else str(span.low),
                            None if still else str(span.high), "closed" if span.low_closed else "open",
                            "closed" if span.high_closed and not still else "open"))
        return result


def first_time(fact: Fact) -> Fraction:
    return Fraction(-100) if fact.span.low is None else fact.span.low


# -- laws -------------------------------------------------------------------------------------------------------------


@st.composite
def scripts(draw: DrawFn) -> list[tuple[str, int]]:
    """What happens: facts by number come and go, time goes on, the session is saved and restored."""
    action = st.tuples(st.sampled_from(["insert", "insert", "retract", "advance", "restart"]), st.integers(0, 6))
    return draw(st.lists(action, min_size=4, max_size=12))


@given(cases(), scripts())
def test_changes_add_up_to_the_model_from_scratch(case: Case, script: list[tuple[str, int]]) -> None:
    following, now = Following(case, None), Fraction(0)
    for action, number in script:
        fact = case.facts[number % len(case.facts)]
        if action == "advance":
            now += Fraction(number, 2)
            following.advance(now)
        elif action == "insert":
            following.insert(fact)
        elif action == "restart":
            following.session = restored(following.session, case.text)
        else:
            following.retract(fact)
    following.advance(now + 1)


@examples(1 / 2)
@given(cases(Kind(endless=False)), st.data())
def test_facts_within_the_delay_come_as_if_in_time(case: Case, data: st.DataObject) -> None:
    delay = data.draw(st.sampled_from([Fraction(1), Fraction(7, 3), Fraction(3)]))
    following = Following(case, delay)
    todo = sorted(case.facts, key=first_time)
    now = Fraction(0)
    while todo:
        now += data.draw(st.sampled_from([Fraction(1, 2), Fraction(1), Fraction(3)]))
        due = [fact for fact in todo if first_time(fact) <= now - delay / 2]
        late = [fact for fact in todo if fact not in due and first_time(fact) <= now and data.draw(st.booleans())]
        following.insert(*due, *late)
        todo = [fact for fact in todo if fact not in due and fact not in late]
        if following.facts and data.draw(st.booleans()):
            recent = [fact for fact in following.facts if first_time(fact) > now - delay / 2]
            following.retract(*recent[:1])
        assert following.session.counts.too_late == 0
        following.advance(now)
    assert not following.session.counts.too_late
    oldest = following.session.states[0].upto
    assert oldest is not None and following.session.reasoner.time(oldest) == now - delay


# -- cases ------------------------------------------------------------------------------------------------------------

RULES = "Steady(X) :- []-[0,4] <>-[0,2] Sig(X)."


def test_a_signal_that_goes_on_and_then_ends() -> None:
    s = session(RULES)
    s.insert("Sig(a)@0\nSig(a)@3/2\nSig(a)@7/2")
    changes = s.advance(5)
    assert by_atom(changes.added)["Steady(a)"] == ["[4,inf)"] and not changes.removed.num_rows
    changes = s.advance("11/2")
    assert not changes.added.num_rows and not changes.removed.num_rows, "it still holds: nothing to say"
    changes = s.advance(9)
    assert by_atom(changes.removed)["Steady(a)"] == ["[4,inf)"]
    assert by_atom(changes.added) == {"Steady(a)": ["[4,11/2]"]}
    assert by_atom(s.answer())["Steady(a)"] == ["[4,11/2]"]


def test_a_late_fact_joins_two_intervals() -> None:
    s = session("R(X) :- <>-[0,1] Sig(X).", delay=5)
    s.insert("Sig(a)@0\nSig(a)@2")
    assert by_atom(s.advance(4).added)["R(a)"] == ["[0,1]", "[2,3]"]
    s.insert("Sig(a)@1")
    changes = s.advance(5)
    assert by_atom(changes.removed)["R(a)"] == ["[0,1]", "[2,3]"]
    assert by_atom(changes.added)["R(a)"] == ["[0,3]"]
    s.retract("Sig(a)@1")
    assert by_atom(s.advance(5).added)["R(a)"] == ["[0,1]", "[2,3]"]


def test_facts_older_than_the_delay_are_told_and_do_not_count() -> None:
    s = session("R(X) :- <>-[0,1] Sig(X).", delay=2)
    s.insert("Sig(a)@0")
    s.advance(10)
    s.insert("Sig(a)@8\nSig(b)@9")
    s.retract("Sig(a)@0")
    changes = s.advance(11)
    assert by_atom(changes.added) == {"R(b)": ["[9,10]"], "Sig(b)": ["[9,9]"]}
    assert by_atom(changes.late) == {"Sig(a)": ["[8,8]", "[0,0]"]}
    assert changes.late["change"].to_pylist() == ["+", "-"]
    assert s.counts.too_late == 2 and s.counts.late_by_name == {"Sig(_)": 2}


def test_of_a_late_interval_the_part_that_is_not_too_late_counts() -> None:
    s = session("R :- A.", delay=2)
    s.advance(10)
    s.insert("A@[5,9]")
    assert by_atom(s.advance(10).added)["R"] == ["(8,9]"]


def test_only_what_comes_after_a_change_is_computed_anew() -> None:
    s = session("R(X) :- <>-[0,1] Sig(X).")
    for time in range(5):
        s.insert(f"Sig(a)@{2 * time}")
        s.advance(2 * time)
    s.insert("Sig(b)@7")
    changes = s.advance(9)
    assert changes.since == 6
    s.retract("Sig(b)@7\nSig(c)@7")
    assert s.advance(9).since == 6 and s.counts.unmatched == 1


def test_finer_times_come_later() -> None:
    s = session("R(X) :- <>-(0,1) Sig(X), not Off(X).", delay=10)
    s.insert("Sig(a)@1")
    assert by_atom(s.advance("3/2").added)["R(a)"] == ["(1,inf)"]
    s.insert("Off(a)@4/3\nSig(a)@1.75")
    changes = s.advance("9/4")
    assert by_atom(changes.removed)["R(a)"] == ["(1,inf)"]
    assert by_atom(changes.added)["R(a)"] == ["(1,4/3)", "(4/3,inf)"]


@pytest.mark.parametrize("rules", ["R :- <>-[100,inf) Q.", "R :- <>-(100,inf) Q."])
def test_what_ever_held_did_so_before_the_bound_too(rules: str) -> None:
    """On a finer grid times are laid out again; what first held before they begin is longer ago than the bound."""
    s = session(rules)
    s.insert("Q@0")
    first = by_atom(s.advance(150).added)["R"]
    s.insert("Q@1054/7")
    assert by_atom(s.advance(151).added) == {"Q": ["[1054/7,1054/7]"]}
    assert by_atom(s.answer())["R"] == first == [f"{rules[8]}100,inf)"]


def test_memory_does_not_grow_with_the_stream() -> None:
    s = session("R(X) :- <>-[0,2] Sig(X).\nB(X) :- []-[0,3] R(X).\nE(X) :- <>-[5,inf) Sig(X).", delay=3)
    sizes = []
    for time in range(60):
        s.insert(f"Sig(a)@{time}\nSig(b)@{2 * time + 1}/2")
        s.advance(time)
        sizes.append(s.size)
    assert max(sizes[30:]) == max(sizes[10:30])


def test_a_saved_session_that_does_not_fit_is_refused() -> None:
    s = session("R(X) :- <>-[0,1] Sig(X), X != b.")
    s.insert("Sig(a)@0")
    s.advance(1)
    saved = s.save()
    assert saved == s.save() and saved.startswith(MAGIC)
    assert saved == restored(s, "R(X) :- <>-[0,1] Sig(X), X != b.").save()
    with pytest.raises(InputError, match="other rules"):
        restored(s, "R(X) :- <>-[0,2] Sig(X), X != b.")
    with pytest.raises(InputError, match="damaged"):
        from_bytes(saved[:-1], lambda **_: s)
    with pytest.raises(InputError, match="no saved session"):
        from_bytes(b"something else", lambda **_: s)


def test_mistakes() -> None:
    s = session(RULES)
    s.advance(5)
    with pytest.raises(EventideError, match="the session is at 5 already"):
        s.advance(4)
    with pytest.raises(EventideError, match="must not be negative"):
        session(RULES, delay=-1)
