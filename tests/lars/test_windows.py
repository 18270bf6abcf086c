"""What random programs have seldom: times as numbers, computed values, windows without end, conclusions at odd times.

Rules are drawn from a list, so that they meet each other; clingo with the whole program says what is right.
"""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.lars.columns import answer_streams, answers_of, now_atoms
from tests.lars.test_session import WAYS, told
from tests.oracle import lars, lars_clingo

from eventide.lars.columnar import compile_tree
from eventide.lars.evaluation import Evaluation, prepared
from eventide.lars.session import LarsSession
from eventide.lars.streams import read

Stream = list[tuple[int, list[str]]]
END = 6
RULES = [
    "k(X,T) :- p(X) at T [3].",
    "k(X,T) :- p(X) at T [2 #], v(T).",
    "late(X) :- p(X) at T [4], v(N), T < N.",
    "same :- v(T) at T [3].",
    "both(X) :- p(X) at T [3], q(X) at U [3], T < U.",
    "next(M) :- v(N) [1], M = N + 1.",
    "half(M) :- v(N), M = N / 2, M != 1.",
    "sum(M) :- v(N) [2], v(K), M = N * K - 1, M < 9.",
    "gone(X) :- p(X) at T, not q(X) at T.",
    "ever(X) :- p(X) always.",
    "once(X) :- p(X) at T, T >= 2.",
    "h(X) at 3 :- p(X) [2].",
    "h(X) at N :- p(X), v(N).",
    "h(X) at M :- p(X) at T [3], M = T + 2.",
    "h(X) at T :- g(X) at T [1], q(X) [2].",
    "c(X) :- h(X) [2].",
    "c(X) :- h(X) always [1].",
    "c(X) :- h(X) at 3 [4].",
    "c(X) :- h(X) [2 #].",
    "c(X) :- h(X) always [2 # by X].",
    "d(X,Y) :- c(X), c(Y), X != Y.",
    "d(X,a) :- h(X), not c(X) always [2].",
    "r(X,Z) :- k(X,T), k(Z,T), not same.",
    "w(X) :- q(X) [1 # by X], X != 2, not p(X) [1].",
    "w(X) :- g(X), not h(X) at 2.",
    "w(X) :- v(X), X = 2.",
    "w(Y) :- q(X), Y = X.",
    "z at T+1 :- z at T [2], p(X) at T [3].",
    "z at T :- v(N) at T [2], N > 1.",
    "z :- p(X) [1], v(N) [2], N >= 2, not z2.",
    "z2 :- z at T [3], q(X) at T [3].",
    "p(X) at T :- q(X) at T [1].",
    "q(X) :- v(X) [1].",
]
# rules that would make a predicate depend on its own absence are not drawn together
CLASHES = [("z :- p(X) [1], v(N) [2], N >= 2, not z2.", "z2 :- z at T [3], q(X) at T [3].")]
facts = st.one_of(st.sampled_from(["a", "b", "2"]).map("p({})".format), st.sampled_from(["a", "2"]).map("q({})".format),
                  st.sampled_from([0, 1, 2, 3, 4]).map("v({})".format), st.just("h(a)"))
streams = st.dictionaries(st.integers(0, END), st.lists(facts, max_size=3, unique=True)).map(
    lambda found: sorted(found.items()))


def is_sound(rules: list[str]) -> bool:
    return not any(set(pair) <= set(rules) for pair in CLASHES)


programs = st.lists(st.sampled_from(RULES), min_size=1, max_size=5, unique=True).filter(is_sound).map(
    lambda rules: "\n".join(["g(a).", "g(2).", *rules]))


@settings(max_examples=60)
@given(programs, streams)
def test_columns_are_the_answer_stream(text: str, stream: Stream) -> None:
    tree = lars.program(text)
    found = answer_streams(answers_of(tree, stream, END))
    for t in range(END + 1):
        assert {found[t]} == lars_clingo.answer_streams(tree, stream, t), t


@settings(max_examples=60)
@given(programs, streams, st.sampled_from(sorted(WAYS)))
def test_sessions_add_up_to_a_run(text: str, stream: Stream, way: str) -> None:
    tree = lars.program(text)
    answers = answers_of(tree, stream, END)
    rows = {(predicate[0], "|".join(map(str, row)), start, end) for predicate in answers.compiled.derived
            for row, start, end in answers.rows(answers.now(predicate))}
    session = LarsSession(tree, contradictions="flag", most_by_ticks=WAYS[way])
    assert told(session, stream, list(range(END + 1))) == rows


@pytest.mark.parametrize(("text", "stream", "atom", "times"), [
    ("x :- p always [10 #].", [(t, ["p"]) for t in range(6)], "x", [0, 1, 2, 3, 4, 5]),
    ("x :- p always [3 #].", [(2, ["p"]), (3, ["p"])], "x", []),  # with fewer facts the window begins at 0
    ("a :- d [2 #].", [(1, ["d"]), (3, ["f"]), (4, ["e"]), (6, ["d"])], "a", [1, 2, 3, 6]),
    ("k(X) :- p(X) [1 # by X]. a :- k(1), not q [1 #].", [(0, ["p(1)"]), (1, ["p(2)"]), (3, ["q"])], "a",
     [0, 1, 2]),
    ("a :- p(X,Y) always [2 # by X].", [(1, ["p(1,1)"]), (2, ["p(1,1)"]), (4, ["p(1,2)"])], "a", [2]),
])
def test_windows_by_rank(text: str, stream: Stream, atom: str, times: list[int]) -> None:
    now = now_atoms(answers_of(lars.program(text), stream, END))
    assert [t for t in range(END + 1) if atom in now[t]] == times


@settings(max_examples=40)
@given(programs, streams)
def test_a_long_time_before_the_first_fact_changes_nothing(text: str, stream: Stream) -> None:
    tree = lars.program(text)
    moved = [(time + 40, facts) for time, facts in stream]
    compiled = compile_tree(tree, list(read(moved).tables))
    tables, arrivals = prepared(compiled, read(moved), 0, 40 + END)
    short, whole = (Evaluation(compiled).run(tables, 40 + END, 0, arrivals, whole=whole) for whole in (False, True))
    for predicate in compiled.derived:
        assert list(short.rows(short.now(predicate))) == list(whole.rows(whole.now(predicate)))
        assert list(short.rows(short.at(predicate))) == list(whole.rows(whole.at(predicate)))


def test_times_since_1970_leave_room_for_stamps() -> None:
    start = 1_700_000_000
    stream = [(start + t, [f"p({t % 50})", f"q({t % 7},{t})"]) for t in range(60)]
    program = "h(X) at T :- p(X) at T [9 #], q(Y,Z) at U [5], X < Z. c(X) :- h(X) [3]. n :- not c(3)."
    answers = answers_of(lars.program(program), stream, start + 59)
    held = [(begin, end) for row, begin, end in answers.rows(answers.now(("c", 1))) if row == (3,)]
    assert held[0][0] == start + 4
    assert next(answers.rows(answers.now(("n", 0)))) == ((), 0, start + 4)
