"""Columns of clauses: a slow evaluation over ground atoms, clingo on mini-batches of CAVIAR, wrong clauses told."""

from __future__ import annotations

import csv
import gzip
import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import clingo
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.effort import profile
from tests.oracle.learning import AXIOMS, Program, text_of

from eventide.errors import EventideError
from eventide.kernels.joins import join
from eventide.learning.clauses import Clause, clause_of, read_clauses
from eventide.learning.columns import layout_of
from eventide.learning.counts import rule_counts
from eventide.learning.examples import Batch, Examples, examples_of, table
from eventide.learning.inference import Carried, firing, infer
from eventide.learning.modes import read_modes
from eventide.syntax.printer import term_text
from eventide.syntax.terms import Atom, Compound, Number, Term, Variable, variables_of

Shared = Callable[[str], Path]

MODES, PROBLEMS = read_modes("""
modeh(initiatedAt(meet(+person,+person),+time))
modeh(terminatedAt(meet(+person,+person),+time))
modeb(happensAt(walk(+person),+time))
modeb(happensAt(greet(+person,-person),+time))
modeb(near(+person,+person,#dist,+time))
modeb(far(+person,+person,#dist,+time))
modeb(role(+person,#role))
examplePattern(holdsAt(meet(+person,+person),+time))
comparisonPredicate(near(+person,+person,#dist,+time), lessThan, comparison_term_position(3))
comparisonPredicate(far(+person,+person,#dist,+time), greaterThan, comparison_term_position(3))
""")
PEOPLE, TIMES, DISTANCES = ["ann", "bob", "cy"], [1, 2, 5], [1, 2, 3]
PERSON, TIME, DISTANCE = st.sampled_from(PEOPLE), st.sampled_from(TIMES), st.sampled_from(DISTANCES)
SHAPES: dict[str, st.SearchStrategy[tuple[Any, ...]]] = {
    "happensAt(walk(+person),+time)": st.tuples(PERSON, TIME),
    "happensAt(greet(+person,-person),+time)": st.tuples(PERSON, PERSON, TIME),
    "near(+person,+person,#dist,+time)": st.tuples(PERSON, PERSON, DISTANCE, TIME),
    "far(+person,+person,#dist,+time)": st.tuples(PERSON, PERSON, DISTANCE, TIME),
    "role(+person,#role)": st.tuples(PERSON, st.sampled_from(["host", "guest"])),
}
FACTS = st.fixed_dictionaries({shape: st.lists(rows, max_size=7) for shape, rows in SHAPES.items()})

ARGUMENT = st.sampled_from(["X", "Y", "Z", "W", "ann", "_"])
ATOMS = st.one_of(
    st.builds("happensAt(walk({}),T)".format, ARGUMENT),
    st.builds("happensAt(greet({},{}),T)".format, ARGUMENT, ARGUMENT),
    st.builds("near({},{},{},T)".format, ARGUMENT, ARGUMENT, st.sampled_from(["1", "2", "3", "_"])),
    st.builds("far({},{},{},T)".format, ARGUMENT, ARGUMENT, st.sampled_from(["1", "2", "3"])),
    st.builds("role({},{})".format, ARGUMENT, st.sampled_from(["host", "guest", "king"])))
HEADS = st.sampled_from(["initiatedAt(meet(X,Y),T)", "terminatedAt(meet(X,Y),T)", "initiatedAt(meet(X,X),T)",
                         "initiatedAt(meet(X,bob),T)"])


@st.composite
def clauses(draw: st.DrawFn) -> Clause:
    """A clause in which each variable of a denied literal is in the head or in another literal."""
    head = draw(HEADS)
    body = draw(st.lists(st.tuples(st.booleans(), ATOMS), max_size=4))
    found = clause_of(f"{head} :- {', '.join(atom if yes else f'not {atom}' for yes, atom in body)}." if body
                      else f"{head}.")
    bound = {v for each in found.body if each.positive for v in variables_of(each.atom)} | set(variables_of(found.head))
    return Clause(found.head, tuple(each for each in found.body if each.positive or all(
        v in bound or v.anonymous for v in variables_of(each.atom))))


def examples_with(facts: dict[str, list[tuple[Any, ...]]]) -> Examples:
    tables = [table(shape, *(zip(*rows, strict=True) if rows else [[]] * (shape.count("+") + shape.count("-")
                                                                       + shape.count("#"))))
              for shape, rows in facts.items()]
    labels = table("holdsAt(meet(+person,+person),+time)", ["ann"], ["bob"], [1])
    return examples_of(MODES, [*tables, table("time(+time)", TIMES)], labels)


def is_true(atom: Term, facts: dict[str, list[tuple[Any, ...]]]) -> bool:
    """Whether an atom, whose only variables are anonymous, is true."""
    assert isinstance(atom, Compound)
    inner = atom.args[0] if atom.functor == "happensAt" else atom
    assert isinstance(inner, Compound)
    terms = [*inner.args, atom.args[1]] if atom.functor == "happensAt" else list(inner.args)
    (rows,) = (rows for shape, rows in facts.items() if f"{inner.functor}(" in shape)
    for row in rows:
        for place, (value, term) in enumerate(zip(row, terms, strict=True)):
            if isinstance(term, Variable):
                continue
            wanted = term.name if isinstance(term, Atom) else term.value if isinstance(term, Number) else None
            if inner.functor == "near" and place == 2:
                if not value <= wanted:  # type: ignore[operator]
                    break
            elif inner.functor == "far" and place == 2:
                if not value >= wanted:  # type: ignore[operator]
                    break
            elif value != wanted:
                break
        else:
            return True
    return False


def put(term: Term, values: dict[Variable, Term]) -> Term:
    if isinstance(term, Variable):
        return values.get(term, term)
    return Compound(term.functor, tuple(put(arg, values) for arg in term.args)) if isinstance(term, Compound) else term


def fires_slowly(clause: Clause, args: list[str], time: int, facts: dict[str, list[tuple[Any, ...]]]) -> bool:
    """Try every value of every variable."""
    assert isinstance(clause.head, Compound) and isinstance(clause.head.args[0], Compound)
    values: dict[Variable, Term] = {Variable("T"): Number(time)}
    for term, name in zip(clause.head.args[0].args, args, strict=True):
        if isinstance(term, Variable):
            if values.setdefault(term, Atom(name)) != Atom(name):
                return False
        elif term != Atom(name):
            return False
    free = sorted({v for each in clause.body for v in variables_of(each.atom) if v not in values and not v.anonymous},
                  key=str)
    for choice in itertools.product(PEOPLE, repeat=len(free)):
        all_values = values | dict(zip(free, map(Atom, choice), strict=True))
        if all(is_true(put(each.atom, all_values), facts) == each.positive for each in clause.body):
            return True
    return False


@given(FACTS, st.lists(clauses(), min_size=1, max_size=4), st.integers(1, 3))
def test_columns_are_what_ground_atoms_say(facts: dict[str, list[tuple[Any, ...]]], rules: list[Clause],
                                           size: int) -> None:
    examples = examples_with(facts)
    layout = layout_of(rules, examples)
    for batch in examples.batches(size):
        here = {shape: [row for row in rows if "time" not in shape or row[-1] in batch.times.tolist()]
                for shape, rows in facts.items()}
        people = {name for shape, rows in here.items() if "time" in shape
                  for row in rows for name in row if name in PEOPLE}
        names = examples.domains["person"][batch.arguments].tolist()
        assert names == [[a, b] for a in sorted(people) for b in sorted(people)]
        expected = [[fires_slowly(rule, args, time, here) for args in names for time in batch.times.tolist()]
                    for rule in rules]
        assert firing(layout.columns(batch), layout.bodies).tolist() == expected
    assert layout.initiates.tolist() == [str(rule).startswith("init") for rule in rules]


def test_a_condition_of_several_clauses_is_one_column() -> None:
    rules, _ = read_clauses("""initiatedAt(meet(A,B),S) :- near(A,B,2,S), happensAt(greet(A,C),S), role(C,host).
                               terminatedAt(meet(X,Y),T) :- not near(X,Y,2,T).
                               terminatedAt(meet(X,Y),T) :- near(Y,X,2,T).
                               initiatedAt(meet(X,Y),T) :- happensAt(greet(X,D),T), role(D,host).""")
    layout = layout_of(rules, examples_with({shape: [] for shape in SHAPES}))
    assert layout.bodies == ((0, 1), (~0,), (2,), (1,))


@pytest.mark.parametrize(("text", "problem"), [
    ("initiatedAt(meet(X,Y),T) :- happensAt(wolk(X),T).", "no table has facts like happensAt.wolk.X., T.; did you mean"
                                                          " 'walk'"),
    ("initiatedAt(meets(X,Y),T).", "the head is not a change of meet"),
    ("holdsAt(meet(X,Y),T).", "the head is not a change of meet"),
    ("initiatedAt(meet(X,Y),3).", "the time of the head is not a variable"),
    ("initiatedAt(meet(X,Y),T) :- happensAt(walk(X),S).", "is not at the time of the head"),
    ("initiatedAt(meet(X,Y),T) :- happensAt(walk(T),T).", "T is a time, but happensAt"),
    ("initiatedAt(meet(X,Y),T) :- role(X,Y).", "Y is a person, but role.X, Y. needs a role"),
    ("initiatedAt(meet(X,Y),T) :- not happensAt(walk(Z),T).", "Z occurs in denied conditions only; write _"),
    ("initiatedAt(meet(X,Y),T) :- near(X,Y,D,T), far(X,Y,D,T).", "the threshold in near.X, Y, D, T. is a variable"),
    ("initiatedAt(meet(X,Y),T) :- near(X,Y,low,T).", "low is compared with numbers"),
    ("initiatedAt(meet(X,Y),T) :- holdsAt(meet(Y,X),T).", "asks about what is learnt; only `components`"),
    ("initiatedAt(meet(X,Y),T) :- role(f(X),host).", "f.X. is neither a variable nor a name nor a number"),
])
def test_wrong_clauses_are_told(text: str, problem: str) -> None:
    with pytest.raises(EventideError, match=problem) as raised:
        layout_of([clause_of(text)], examples_with({shape: [] for shape in SHAPES}))
    assert str(raised.value).startswith(str(clause_of(text)))


def test_a_shape_that_two_tables_have_is_refused() -> None:
    walk = table("happensAt(walk(+person),+time)", ["ann"], [1])
    examples = examples_of(MODES, [walk, walk], table("holdsAt(meet(+person,+person),+time)", [], [], []))
    with pytest.raises(EventideError, match="several tables have facts like"):
        layout_of([clause_of("initiatedAt(meet(X,Y),T) :- happensAt(walk(X),T).")], examples)


# -- CAVIAR against the solver -----------------------------------------------------------------------------------------

CAVIAR_MODES = """
modeh(initiatedAt({fluent}(+person,+person),+time))
modeh(terminatedAt({fluent}(+person,+person),+time))
modeb(close(+person,+person,#dist,+time))
comparisonPredicate(close(+person,+person,#dist,+time), lessThan, comparison_term_position(3))
irreflexive({fluent})
"""
EVENTS = ("walking", "active", "inactive", "running", "abrupt")
LIMITS = (24, 25, 30, 34, 40)
# Weights are such that two rules for a head can outvote a third; the fourth asks about a further person.
RULES = """
initiatedAt({fluent}(X,Y),T) :- happensAt(walking(X),T), happensAt(walking(Y),T), close(X,Y,34,T).
initiatedAt({fluent}(X,Y),T) :- happensAt(active(X),T), close(X,Y,25,T), not happensAt(running(Y),T).
initiatedAt({fluent}(X,Y),T) :- happensAt(inactive(X),T), not happensAt(appear(X),T), close(X,Y,40,T).
initiatedAt({fluent}(X,Y),T) :- close(X,Z,24,T), happensAt(active(Z),T), not close(Z,Y,30,T).
terminatedAt({fluent}(X,Y),T) :- happensAt(walking(X),T), not close(X,Y,34,T).
terminatedAt({fluent}(X,Y),T) :- happensAt(disappear(X),T).
terminatedAt({fluent}(X,Y),T) :- happensAt(active(X),T), happensAt(active(Y),T).
"""
WEIGHTS = np.array([3.0, 2.0, 1.0, -2.0, 4.0, 5.0, -3.0])


def rows_of(path: Path) -> dict[str, np.ndarray[Any, Any]]:
    with gzip.open(path, "rt") as file:
        header, *rows = csv.reader(file)
    return dict(zip(header, map(np.array, zip(*rows, strict=True)), strict=True))


@pytest.fixture(scope="module")
def seen(shared_data: Shared) -> dict[str, np.ndarray[Any, Any]]:
    return rows_of(shared_data("data/caviar/sde_objframes.csv.gz"))


@pytest.fixture(scope="module")
def labelled(shared_data: Shared) -> dict[str, np.ndarray[Any, Any]]:
    return rows_of(shared_data("data/caviar/labels_pairframes.csv.gz"))


def caviar(seen: dict[str, np.ndarray[Any, Any]], labelled: dict[str, np.ndarray[Any, Any]], fluent: str) -> Examples:
    """What was seen, by video and frame, with the labels of `situation` for both orders of a pair."""
    modes, _ = read_modes(CAVIAR_MODES.format(fluent=fluent))
    frames, videos, people = seen["frame"].astype(np.int64), seen["video"], seen["id"]
    tables = []
    for column, names in (("sde_rtec", EVENTS), ("appearance", ("appear", "disappear", "visible"))):
        for name in names:
            at = seen[column] == name
            tables.append(table(f"happensAt({name}(+person),+time)", people[at], frames[at], streams=videos[at]))
    keys = np.unique(videos, return_inverse=True)[1] * 10_000 + frames
    left, right = join(keys, keys)
    left, right = left[left != right], right[left != right]
    apart = np.hypot(*(seen[axis].astype(float)[left] - seen[axis].astype(float)[right] for axis in "xy"))
    tables.append(table("close(+person,+person,#dist,+time)", people[left], people[right], apart, frames[left],
                        streams=videos[left]))
    at = labelled["label_situation"] == fluent
    one, two, frame, video = (labelled[name][at] for name in ("id1", "id2", "frame", "video"))
    labels = table(f"holdsAt({fluent}(+person,+person),+time)", np.append(one, two), np.append(two, one),
                   np.append(frame, frame).astype(np.int64), streams=np.append(video, video))
    return examples_of(modes, tables, labels)


def states_by_solver(batch: Batch, before: np.ndarray[Any, Any], names: list[list[str]], fluent: str,
                     seen: dict[str, np.ndarray[Any, Any]]) -> set[str]:
    """The most probable states of a batch as atoms, from the raw rows."""
    times = batch.times.tolist()
    facts, places = [], dict[int, list[tuple[str, int, int]]]()
    rows = np.flatnonzero((seen["video"] == batch.stream)
                          & np.isin(seen["frame"].astype(np.int64), batch.times)).tolist()
    for row in rows:
        who, frame = str(seen["id"][row]), int(seen["frame"][row])
        facts += [f"happensAt({seen[column][row]}({who}),{frame})" for column in ("sde_rtec", "appearance")]
        places.setdefault(frame, []).append((who, int(seen["x"][row]), int(seen["y"][row])))
    facts += [f"close({a},{b},{limit},{frame})" for frame, there in places.items() for a, ax, ay in there
              for b, bx, by in there if a != b for limit in LIMITS if (ax - bx) ** 2 + (ay - by) ** 2 <= limit**2]
    fluents = [f"{fluent}({a},{b})" for a, b in names]
    rules = [(int(weight), term_text(rule.head).replace(" ", ""),
              ", ".join(str(each).replace("\\+", "not") for each in rule.body))
             for weight, rule in zip(WEIGHTS, read_clauses(RULES.format(fluent=fluent))[0], strict=True)]
    program = Program(tuple(fluents), tuple(times), tuple(facts), tuple(rules),
                      tuple(name for name, holds in zip(fluents, before, strict=True) if holds))
    # The axioms of the oracle look for the next point among all triples of points; here it is listed.
    axioms = "".join(f"next({s},{e})." for s, e in itertools.pairwise(times)) + "".join(
        line for line in AXIOMS.splitlines() if ":- initiatedAt" in line or ":- holdsAt" in line)
    axioms += f"holdsAt(F,{times[0]}) :- initially(F). #defined happensAt/2. #defined close/4. #defined initially/1."
    control = clingo.Control(["--opt-strategy=usc", "--warn=none", "0"])
    control.add("base", [], text_of(program, "vote").replace(AXIOMS, axioms))
    control.ground([("base", [])])
    best: set[str] = set()
    with control.solve(yield_=True) as handle:
        for model in handle:
            best = {str(atom) for atom in model.symbols(atoms=True) if atom.name == "holdsAt"}
        assert handle.get().exhausted
    return best


def inferred(examples: Examples, fluent: str, size: int) -> Iterator[tuple[Batch, Any, Any]]:
    """All batches with the states before them and what was inferred."""
    rules = read_clauses(RULES.format(fluent=fluent))[0]
    layout, state = layout_of(rules, examples), Carried()
    for batch in examples.batches(size):
        if batch.begins:
            state.reset()
        before = state.take(batch.instances)
        found = infer(firing(layout.columns(batch), layout.bodies), layout.initiates, WEIGHTS, batch.offsets, before)
        state.put(batch.instances, found.after)
        yield batch, before, found


@pytest.mark.parametrize("fluent", ["moving", "meeting"])
@pytest.mark.parametrize(("size", "each"), [(50, 41), (100, 23), (500, 7), (1000, 5)])
def test_columns_give_the_states_of_the_solver_on_caviar(
        seen: dict[str, np.ndarray[Any, Any]], labelled: dict[str, np.ndarray[Any, Any]], fluent: str, size: int,
        each: int) -> None:
    examples = caviar(seen, labelled, fluent)
    checked = holding = 0
    for number, (batch, before, found) in enumerate(inferred(examples, fluent, size)):
        if number % (1 if profile() == "large" else each) == each // 2 * (profile() != "large"):
            names = examples.domains["person"][batch.arguments].tolist()
            holds = found.holds.reshape(len(names), len(batch.times))
            states = {f"holdsAt({fluent}({a},{b}),{batch.times[t]})" for i, (a, b) in enumerate(names)
                      for t in np.flatnonzero(holds[i])}
            assert states == states_by_solver(batch, before, names, fluent, seen), (batch.stream, batch.times[0])
            checked, holding = checked + 1, holding + len(states)
    assert checked > 5
    assert holding > 100


def test_counts_of_batches_add_up_to_those_of_whole_streams(
        seen: dict[str, np.ndarray[Any, Any]], labelled: dict[str, np.ndarray[Any, Any]]) -> None:
    examples = caviar(seen, labelled, "moving")
    rules = read_clauses(RULES.format(fluent="moving"))[0][:1]  # no denial: fires only for those who are seen
    layout, totals = layout_of(rules, examples), []
    for size in (100, 10_000):
        parts = []
        for batch in examples.batches(size):
            fires = firing(layout.columns(batch), layout.bodies)
            parts.append(rule_counts(fires, fires, layout.initiates, batch.following()))
        totals.append([sum(int(count[i][0]) for count in parts) for i in range(4)])
    assert totals[0] == totals[1]
    assert totals[0][0] > 1000
