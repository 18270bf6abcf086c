"""Tests as they run and as they are shown level by level: the same facts count, the same intervals follow.

Programs and facts are random, written as a file of tests; facts come late, are taken back, or are too late for the
window.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn
from tests.effort import examples
from tests.engine.session_cases import SESSION_FAMILIES
from tests.oracle.programs import LAST
from tests.oracle.store import Fact

import eventide as ev
from eventide.rule_tests.levels import steps
from eventide.rule_tests.reading import read_tests
from eventide.rule_tests.reading import tests_in as read
from eventide.rule_tests.running import Tests
from eventide.rule_tests.stretches import text_of

few = examples(1 / 2)


def term(fact: Fact) -> str:
    """A fact as it stands in a test, without its time."""
    arguments = f"({', '.join(map(str, fact[2]))})" if fact[2] else ""
    return f"{fact[1]}{arguments}" if fact[0] == "event" else f"{fact[1]}{arguments}={fact[3]}"


@st.composite
def lines(draw: DrawFn, facts: list[Fact]) -> str:
    """Facts as lines of a test: some arrive late, some are taken back, some come twice."""
    found = []
    for fact in facts:
        time = fact[3] if fact[0] == "event" else fact[4]
        line = f"[{time}, {fact[5]}) {term(fact)}" if fact[0] == "interval" else f"{time} {term(fact)}"
        arrives = time + draw(st.sampled_from((0, 0, 0, 3, 11, 30)))
        if arrives > time:
            line += f" arrives {arrives}"
        if draw(st.integers(0, 4)) == 0:
            line += f" retracted {arrives + draw(st.sampled_from((0, 4, 17)))}"
        found += [line] * draw(st.sampled_from((1, 1, 1, 2)))
    return "\n".join(found)


@few
@given(data=st.data())
def test_levels_show_what_is_compared(data: st.DataObject) -> None:
    case = data.draw(st.sampled_from(sorted(SESSION_FAMILIES)).flatmap(SESSION_FAMILIES.__getitem__))
    window = data.draw(st.sampled_from(("", "window 8", "window 20", f"window {LAST}")))
    queries = {case.start // case.tick * case.tick + case.tick * number
               for number in data.draw(st.sets(st.integers(1, (LAST + 20) // case.tick), min_size=1, max_size=4))}
    with TemporaryDirectory() as folder:
        (Path(folder) / "rules.ec").write_text(f"{case.text}\n{case.background}\n")
        file = Path(folder) / "t.ectest"
        file.write_text(f"program rules.ec\ntick {case.tick}\nstart {case.start}\n{window}\ntest \"t\"\ngiven\n"
                        f"{data.draw(lines(case.facts))}\nat {', '.join(map(str, sorted(queries)))}\n"
                        f"then not\n{derived(folder)}\n")
        tests = Tests(read_tests(file))
    test, = tests.file.tests
    answers = tests.language.answers(test, {})
    for step in steps(tests.program, test):
        shown = {subject: when for level in step["levels"] for one in level["definitions"]
                 for subject, when in one["intervals"].items()}
        assert shown == {str(subject): text_of(when) for subject, when in answers[step["query"]].items()}


def derived(folder: str) -> str:
    """Something that the program derives, as a line of a `then` names it."""
    output = ev.load(Path(folder) / "rules.ec").model.outputs[0]
    return output.template if output.kind == "event" else f"{output.template}=_"


def test_facts_that_do_not_count_are_not_shown(tmp_path: Path) -> None:
    """Too late when it arrives, too late when it is taken back, before the start."""
    (tmp_path / "rules.ec").write_text("""
initiatedAt(rich(X)=true, T) :- happensAt(win(X), T).
terminatedAt(rich(X)=true, T) :- happensAt(lose(X), T).
""")
    tests = Tests(read("""program rules.ec
test "t"
  window 10
  start 0
  given
    -3  win(bob)
    3   win(ann), win(cid)   retracted 25
    10  lose(ann)            arrives 25
    12  lose(cid)            retracted 19
  at 10, 20, 30
  then only
    rich(ann)=true  [4, inf)
    rich(cid)=true  [4, inf)
""", str(tmp_path / "t.ectest")))
    assert tests.run()[0].passed
    facts = [step["facts"] for step in steps(tests.program, tests.file.tests[0])]
    assert facts == [["3 win(ann)", "3 win(cid)"]] * 3
