"""Programs with several answers: those of clingo over the whole program at every time-point; nothing solved twice."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.effort import examples
from tests.lars.golden_rows import count_at, known_before, now, rows_of
from tests.oracle import lars, lars_clingo
from tests.oracle.lars_text import Shape, programs, streams

import eventide as ev
from eventide.analysis.lars import analyse
from eventide.lars.answer_sets import answers
from eventide.lars.program import LarsProgram
from eventide.lars.running import Run
from eventide.lars.splitting import split
from eventide.lars.stable_models import Solver
from eventide.lars.streams import read
from eventide.lars.values import ground_text

Stream = list[tuple[int, list[str]]]
END = 6
few = examples(1 / 2)


def parse(text: str) -> LarsProgram:
    program: LarsProgram = ev.parse(text, language="lars")
    return program


@given(programs(Shape(stratified=False, contradictions=True)), streams(5, 3))
def test_all_answer_streams_are_those_of_clingo(text: str, stream: Stream) -> None:
    tree = lars.program(text)
    result = parse(text).run(stream, end=END, models="all", earlier=True)
    rows = rows_of(result)
    background = {lars.atom_text(fact) for fact in tree.facts}
    for t in range(END + 1):
        wanted = lars_clingo.answer_streams(tree, stream, t)
        count = count_at(result, t)
        assert count == len(wanted)
        found = {(*now(rows, t, model), *known_before(rows, t, model)) for model in range(1, count + 1)}
        assert found == {(*sorted(atom for atom, k in answer if k == t),
                          *sorted(f"{atom}@{k}" for atom, k in answer if k < t and atom not in background))
                         for answer in wanted}


@few
@given(programs(Shape(stratified=False, contradictions=True)), streams(5, 3))
def test_first_cautious_brave(text: str, stream: Stream) -> None:
    tree, program = lars.program(text), parse(text)
    rows = {models: rows_of(program.run(stream, end=END, models=models)) for models in ("first", "cautious", "brave")}
    for t in range(END + 1):
        found = lars_clingo.answer_streams(tree, stream, t)
        wanted = [sorted(atom for atom, k in answer if k == t) for answer in found]
        if wanted:
            assert now(rows["first"], t, 1) in wanted
        assert now(rows["cautious"], t) == sorted(set.intersection(*map(set, wanted)) if wanted else ())
        assert now(rows["brave"], t) == sorted(set().union(*wanted))


@few
@given(programs(Shape(rules=4)), streams(5, 3))
def test_stratified_programs_have_the_same_answer_by_answer_sets(text: str, stream: Stream) -> None:
    """Any set of predicates may be left to answer sets, if it contains all that reads them."""
    tree = lars.program(text)
    facts = read(stream)
    upper = analyse(tree).derived
    run = Run(tree, [*facts.tables, *analyse(tree).inputs], facts, END)
    run.parts = split(tree, upper, list(facts.tables))
    given_ = {(atom, time) for time, atoms in stream for atom in atoms} | {
        (lars.atom_text(fact), t) for fact in tree.facts for t in range(END + 1)}
    for answer in run.above():
        for t in range(answer.start, answer.end):
            (wanted,) = lars_clingo.answer_streams(tree, stream, t)
            found = {(ground_text(point.name, point.row), t if point.time is None else point.time)
                     for point in answer.certain.union(*answer.models) if not point.name.startswith("given ")}
            assert found | given_ >= wanted >= found


@pytest.mark.parametrize(("text", "stream", "reasons"), [
    ("a :- s [2], not a.", [(2, ["s"])], [(2, 5, ("a :- s [2], not a.",))]),
    ("a :- s [3], not a. a :- r [1].", [(2, ["s"]), (3, ["r"])],
     [(2, 3, ("a :- s [3], not a.",)), (5, 6, ("a :- s [3], not a.",))]),
    ("in(X) :- p(X), not out(X). out(X) :- p(X), not in(X). :- p(X), in(X). :- p(X), out(X).", [(1, ["p(a)", "p(b)"])],
     [(1, 2, (":- p(X), in(X).", ":- p(X), out(X).", "in(X) :- p(X), not out(X).", "out(X) :- p(X), not in(X)."))]),
])
def test_no_answer_stream_has_a_reason(text: str, stream: Stream, reasons: list[Any]) -> None:
    result = parse(text).run(stream, end=END)
    assert [(gap.start, gap.end, gap.reasons) for gap in result.no_answer] == reasons


def test_independent_choices_are_solved_apart_and_once() -> None:
    text = "c(X) :- p(X) [9], not k(X). k(X) :- p(X) [9], not c(X)."
    tree = lars.program(text)
    facts = read([(0, [f"p(x{i})" for i in range(200)])])
    run = Run(tree, list(facts.tables), facts, 5, "cautious")
    assert [(answer.start, answer.end, answer.certain) for answer in run.above()] == [(0, 6, frozenset())]
    solver = Solver("all")
    rules = [rule for i in range(0, 400, 2) for rule in ((i, (), (i + 1,)), (i + 1, (), (i,)))]
    assert len(solver.solve(rules, "{:04}".format).parts) == 200
    assert solver.solved == 1


def test_too_many_answer_streams_are_not_listed() -> None:
    program = parse("c(X) :- p(X) [9], not k(X). k(X) :- p(X) [9], not c(X).")
    with pytest.raises(ev.EventideError, match=r"more than 100000 answer streams.*cautious"):
        program.run([(0, [f"p(x{i})" for i in range(20)])], models="all")
    assert len(program.run([(0, [f"p(x{i})" for i in range(20)])], models="brave")) == 40


def test_the_first_answer_does_not_depend_on_what_came_before() -> None:
    program = parse("c(X) :- p(X) [3], not k(X). k(X) :- p(X) [3], not c(X). :- c(X), c(Y), X != Y.")
    alone = program.run([(10, ["p(a)", "p(b)", "p(c)"])], end=12)
    after = program.run([(4, ["p(c)", "p(d)"]), (10, ["p(c)", "p(b)", "p(a)"])], end=12)
    assert [now(rows_of(result), 12, 1) for result in (alone, after)] == [now(rows_of(alone), 11, 1)] * 2


def test_nothing_is_computed_where_nothing_can_change() -> None:
    """Seconds since 1970 and windows of a day: there are too many time-points to look at each."""
    day, first = 86_400, 1_700_000_000
    choice = "{0}(X) at T :- p(X) at T [24 h], not {1}(X) at T [24 h]. "
    text = choice.format("on", "off") + choice.format("off", "on")
    text += "any(X) :- on(X) [1 h]. a :- not b [3]. b :- not a [3]."
    found = parse(text).run([(first, ["p(u)"])], end=first + 5 * day, models="brave", earlier=True).timeline()
    assert found == {
        "a": [(0, None)], "b": [(0, None)], "any(u)": [(first, first + 3601)], "on(u)": [(first, first + 1)],
        "off(u)": [(first, first + 1)], f"on(u)={first}": [(first + 1, first + day + 1)],
        f"off(u)={first}": [(first + 1, first + day + 1)]}


def test_what_has_gone_is_forgotten() -> None:
    """Rows that come and go leave no atoms behind, beyond a fixed number."""
    text = "c(X) :- p(X), not k(X). k(X) :- p(X), not c(X)."
    parts = split(lars.program(text), {("c", 1), ("k", 1)}, ())
    rows = {("$0", 1): [((f"x{t}",), t, t + 1) for t in range(3000)]}
    import eventide.lars.answer_sets as module
    sizes: list[int] = []
    kept = module._Ground.outcome

    def watched(self: Any, solver: Solver) -> Any:
        sizes.append(len(self._names))
        return kept(self, solver)

    module._Ground.outcome = watched  # type: ignore[method-assign]
    try:
        assert sum(1 for _ in answers(parts, rows, 2999, "first")) == 3000
    finally:
        module._Ground.outcome = kept  # type: ignore[method-assign]
    assert max(sizes) < 1100


@given(st.lists(st.tuples(st.one_of(st.none(), st.integers(0, 5)), st.lists(st.integers(0, 5), max_size=2),
                          st.lists(st.integers(0, 5), max_size=2)), max_size=9))
def test_ground_programs_as_clingo_solves_them_whole(rules: list[tuple[int | None, list[int], list[int]]]) -> None:
    import clingo

    control = clingo.Control(["0", "--warn=none"])
    text = [f"{'' if head is None else f'a({head})'} :- "
            f"{', '.join([*(f'a({b})' for b in positive), *(f'not a({b})' for b in negative)]) or '#true'}."
            for head, positive, negative in rules]
    control.add("base", [], "\n".join(text))
    control.ground([("base", [])])
    wanted: set[frozenset[int]] = set()
    control.solve(on_model=lambda model: wanted.add(frozenset(
        symbol.arguments[0].number for symbol in model.symbols(atoms=True))) and None)
    outcome = Solver("all").solve([(head, tuple(p), tuple(q)) for head, p, q in rules], str)
    found = {outcome.certain} if outcome.conflict is None else set()
    for part in outcome.parts:
        found = {one | model for one in found for model in part.models}
    assert found == wanted
