"""Rules that ask about learnt fluents, and constraints: ground programs from clauses against clingo on the text."""

from __future__ import annotations

import itertools

import clingo
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.oracle.learning import Program, optimum, text_of

from eventide.applications.activity import labelled as activity
from eventide.errors import EventideError
from eventide.learning.clauses import clause_of, read_clauses
from eventide.learning.components import best_states, components
from eventide.learning.coupled import coupling_of, read_constraints
from eventide.learning.examples import Examples, examples_of_each, table
from eventide.learning.inference import Carried, Mode
from eventide.learning.modes import read_modes

PEOPLE, TIMES, AFTER = ("p", "q"), (1, 2, 5), 99
FLUENTS = ("f(p)", "f(q)", "g")
MODES, _ = read_modes("""
modeh(initiatedAt(f(+person),+time))
modeh(initiatedAt(g,+time))
examplePattern(holdsAt(f(+person),+time))
examplePattern(holdsAt(g,+time))
""")

# Bodies by what the head binds: X, or nothing.
ABOUT_X = st.sampled_from(["happensAt(a(X),T)", "not happensAt(a(X),T)", "not happensAt(b,T)", "knows(X,Y)"])
STATE_OF_X = st.sampled_from(["holdsAt(f(X),T)", "not holdsAt(f(X),T)", "holdsAt(f(Y),T)", "holdsAt(g,T)",
                              "not holdsAt(g,T)", "holdsAt(f(p),T)", "not holdsAt(f(_),T)", "holdsAt(f(_),T)",
                              "knows(X,Y), not holdsAt(f(Y),T)", "holdsAt(f(nobody),T)", "not holdsAt(f(nobody),T)"])
PLAIN = st.sampled_from(["happensAt(b,T)", "not happensAt(b,T)", "happensAt(a(X),T)", "happensAt(a(_),T)"])
STATE = st.sampled_from(["holdsAt(g,T)", "not holdsAt(g,T)", "holdsAt(f(q),T)", "holdsAt(f(_),T)",
                         "not holdsAt(f(_),T)", "happensAt(a(Z),T), not holdsAt(f(Z),T)"])


def heads(fluents: list[str]) -> st.SearchStrategy[str]:
    return st.builds("{}({},T)".format, st.sampled_from(["initiatedAt", "terminatedAt"]), st.sampled_from(fluents))


def bodies(inputs: st.SearchStrategy[str], states: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.lists(st.one_of(inputs, states), min_size=1, max_size=3).map(", ".join)


RULES = st.lists(st.tuples(st.integers(-3, 4), st.one_of(
    st.tuples(heads(["f(X)"]), bodies(ABOUT_X, STATE_OF_X)), st.tuples(heads(["g", "f(p)"]), bodies(PLAIN, STATE)))),
    min_size=1, max_size=5)
CONSTRAINTS = st.sets(st.sampled_from([
    ":- holdsAt(f(p),T), holdsAt(f(q),T)", ":- holdsAt(g,T), not holdsAt(f(_),T)", ":- happensAt(b,T), holdsAt(g,T)",
    ":- happensAt(a(X),T), not holdsAt(f(X),T), holdsAt(g,T)", ":- knows(X,Y), holdsAt(f(X),T), holdsAt(f(Y),T)",
    ":- not happensAt(b,T), happensAt(a(X),T), holdsAt(f(X),T)"]), max_size=2).map(sorted)
FACTS = st.sets(st.one_of(st.builds("happensAt(a({}),{})".format, st.sampled_from(PEOPLE), st.sampled_from(TIMES)),
                          st.builds("happensAt(b,{})".format, st.sampled_from(TIMES)),
                          st.builds("knows({},{})".format, st.sampled_from(PEOPLE), st.sampled_from(PEOPLE))))
LABELS = st.none() | st.sets(st.builds("holdsAt({},{})".format, st.sampled_from(FLUENTS), st.sampled_from(TIMES)))


def examples_with(facts: set[str], labels: set[str]) -> tuple[Examples, ...]:
    there = list(itertools.product(PEOPLE, TIMES))
    acts = [(who, t) for who, t in there if f"happensAt(a({who}),{t})" in facts]
    known = [pair for pair in itertools.product(PEOPLE, PEOPLE) if f"knows({pair[0]},{pair[1]})" in facts]
    tables = [table("happensAt(there(+person),+time)", *zip(*there, strict=True)),
              table("happensAt(a(+person),+time)", *(zip(*acts, strict=True) if acts else [[], []])),
              table("happensAt(b,+time)", [t for t in TIMES if f"happensAt(b,{t})" in facts]),
              table("knows(+person,+person)", *(zip(*known, strict=True) if known else [[], []]))]
    held = [(who, t) for who, t in there if f"holdsAt(f({who}),{t})" in labels]
    return examples_of_each(MODES, tables, [
        table("holdsAt(f(+person),+time)", *(zip(*held, strict=True) if held else [[], []])),
        table("holdsAt(g,+time)", [t for t in TIMES if f"holdsAt(g,{t})" in labels])])


@pytest.mark.parametrize("largest", [6, 0], ids=["paths", "solver"])
@given(rules=RULES, constraints=CONSTRAINTS, facts=FACTS, labels=LABELS,
       initially=st.sets(st.sampled_from(FLUENTS), max_size=1), mode=st.sampled_from(["vote", "algorithm1"]))
def test_the_optimum_is_that_of_the_solver_on_the_text(
        largest: int, rules: list[tuple[int, tuple[str, str]]], constraints: list[str], facts: set[str],
        labels: set[str] | None, initially: set[str], mode: Mode) -> None:
    clauses = [clause_of(f"{head} :- {body}.") for _, (head, body) in rules]
    coupling = coupling_of(clauses, examples_with(facts, labels or set()),
                           [each for text in constraints for each in read_constraints(f"{text}.")])
    ((*batches,),) = coupling.batches(50)
    program = coupling.program(batches, np.array([float(weight) for weight, _ in rules]),
                               np.array([fluent in initially for fluent in FLUENTS]), 0.0 if labels is None else 1.0)
    # Conditions on the input are only for observed points, those on states for the point that follows as well.
    observed = tuple(f"{text}, time(T)" if "happensAt" in text else text for text in constraints)
    expected = optimum(Program(
        FLUENTS, TIMES, ("happensAt(none,0)", "knows(none,none)", f"next({TIMES[-1]},{AFTER})", *sorted(facts)),
        tuple((weight, head, body) for weight, (head, body) in rules), tuple(sorted(initially)), observed,
        None if labels is None else ("none", *sorted(labels))), mode)
    if expected is None:
        with pytest.raises(EventideError, match="the constraints leave no states"):
            best_states(program, mode, largest)
        return
    best = best_states(program, mode, largest)
    assert best.objective == expected.objective
    states = frozenset(f"holdsAt({fluent},{t})" for i, fluent in enumerate(FLUENTS)
                       for p, t in enumerate((*TIMES, AFTER)) if best.holds[i, p])
    assert states in [each for each, _ in expected.best]


# -- people who meet or follow each other, but not both ----------------------------------------------------------------

THEORY = """
initiatedAt(meet(X,Y),T) :- happensAt(active(X),T), close(X,Y,30,T).
initiatedAt(meet(X,Y),T) :- holdsAt(meet(Y,X),T), happensAt(inactive(X),T).
terminatedAt(meet(X,Y),T) :- happensAt(walking(X),T), not close(X,Y,40,T).
initiatedAt(follow(X,Y),T) :- happensAt(walking(X),T), close(X,Y,30,T), not holdsAt(meet(Y,X),T).
terminatedAt(follow(X,Y),T) :- happensAt(inactive(Y),T).
"""
EXCLUSIVE = ":- holdsAt(meet(X,Y),T), holdsAt(follow(X,Y),T)."
WEIGHTS = np.array([3.0, -1.0, 2.0, 2.0, 1.0])


def test_batches_of_people_are_inferred_as_by_the_solver() -> None:
    data = activity.generate(3, 60, 2, seed=4)
    modes, _ = read_modes("modeh(initiatedAt(meet(+person,+person),+time))\nirreflexive(meet)\nirreflexive(follow)\n"
                          "modeh(initiatedAt(follow(+person,+person),+time))\ncomparisonPredicate(close(+person,"
                          "+person,#dist,+time), lessThan, comparison_term_position(3))")
    labels = [table(f"holdsAt({name}(+person,+person),+time)", [], [], [], streams=[]) for name in ("meet", "follow")]
    examples = examples_of_each(modes, data.tables, labels)
    clauses = read_clauses(THEORY)[0]
    coupling = coupling_of(clauses, examples, read_constraints(EXCLUSIVE))
    states, checked, largest = [Carried(), Carried()], 0, 0
    for batches in coupling.batches(15):
        times = batches[0].times.tolist()
        people = examples[0].domains["person"][batches[0].arguments].tolist()
        fluents = [f"{name}({one},{two})" for name in ("meet", "follow") for one, two in people]
        if batches[0].begins:
            states = [Carried(), Carried()]
        before = np.concatenate([state.take(batch.instances) for batch, state in zip(batches, states, strict=True)])
        program = coupling.program(batches, WEIGHTS, before)
        largest = max(largest, int(np.bincount(components(program)).max()))
        found = coupling.infer(batches, WEIGHTS, states)
        best = best_states(program)
        assert np.array_equal(np.concatenate(found), best.holds[:, :-1].reshape(-1))
        assert best.objective == value_by_solver(data, str(batches[0].stream), times, fluents, before)
        checked += int(best.holds.sum())
    assert checked > 100
    assert largest == 4  # both orders of a pair, in both fluents


def value_by_solver(data: activity.Labelled, stream: str, times: list[int], fluents: list[str],
                    before: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> int:
    """The greatest sum of weights of a batch, from the rows of the tables."""
    facts = []
    for each in data.tables:
        if each.streams is None:
            continue
        for name, *row in zip(each.streams.tolist(), *(column.tolist() for column in each.columns), strict=True):
            if name == stream and row[-1] in times:
                limits = [limit for limit in activity.LIMITS if len(row) == 4 and row[2] <= limit]
                facts += [f"close({row[0]},{row[1]},{limit},{row[3]})" for limit in limits]
                facts += [f"happensAt({each.mode.subject}({row[0]}),{row[1]})"] if len(row) == 2 else []
    rules = tuple((int(weight), str(clause.head).replace(" ", ""), ", ".join(
        str(each).replace("\\+", "not") for each in clause.body))
        for weight, clause in zip(WEIGHTS, read_clauses(THEORY)[0], strict=True))
    program = Program(tuple(fluents), tuple(times), (*facts, f"next({times[-1]},{AFTER})"), rules,
                      tuple(fluent for fluent, holds in zip(fluents, before, strict=True) if holds),
                      (EXCLUSIVE.removesuffix("."),))
    control = clingo.Control(["--opt-strategy=usc", "--warn=none", "0"])
    control.add("base", [], text_of(program, "vote"))
    control.ground([("base", [])])
    with control.solve(yield_=True) as handle:
        costs = [dict(zip(model.priority, model.cost, strict=True)) for model in handle]
        assert handle.get().exhausted
    return -costs[-1].get(1, 0)


# -- what is refused ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("rule", "constraint", "problem"), [
    ("initiatedAt(h(X),T) :- holdsAt(g,T).", "", "the head is not a change of holdsAt.f.+person., .time., holdsAt.g"),
    ("initiatedAt(g,T) :- not holdsAt(f(X),T).", "", "X occurs in denied conditions only"),
    ("initiatedAt(g,T) :- holdsAt(g,S).", "", "is not at the time of the head"),
    ("initiatedAt(g,T) :- happensAt(c,T), holdsAt(g,T).", "", "no table has facts like happensAt.c, T."),
    ("initiatedAt(g,T).", ":- holdsAt(g,T), happensAt(c,T).", "^:- holdsAt.g, T., happensAt.c, T.\\.\n    no table"),
    ("initiatedAt(g,T).", "g :- holdsAt(g,T).", "<constraints>:1: a constraint has no head"),
])
def test_wrong_clauses_are_told(rule: str, constraint: str, problem: str) -> None:
    with pytest.raises(EventideError, match=problem):
        coupling_of([clause_of(rule)], examples_with(set(), set()), read_constraints(constraint))


def test_a_constraint_that_nothing_can_repair_is_told() -> None:
    coupling = coupling_of([], examples_with({"happensAt(b,1)"}, set()), read_constraints(":- happensAt(b,T)."))
    with pytest.raises(EventideError, match="it asks about no state that could change"):
        coupling.infer(next(coupling.batches(9)), np.empty(0), [Carried(), Carried()])


def test_examples_of_other_tables_are_refused() -> None:
    one, other = examples_with(set(), set()), examples_with(set(), set())
    with pytest.raises(EventideError, match="use examples_of_each"):
        coupling_of([], [one[0], other[1]])
