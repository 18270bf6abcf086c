"""Random programs over uncertain facts, and their probabilities by enumeration of all possible worlds.

The oracle runs the crisp engine over every world at once: each fact gets the number of a world as a further argument,
which all rules pass on. In a template `{w}` is that argument, or nothing.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass

import pyarrow as pa
from hypothesis import strategies as st

import eventide as ev

TIMES, END = (1, 2, 3, 4), 6
PEOPLE = ("x", "y")
INPUTS = "collectIntervals(g({w}_)=true). points(h({w}_)=true). buildFromPoints(h({w}_)=true).\n"
PERSON = "person(x). person(y).\n"
EVENTS = [
    "happensAt(a({w}X), T)", "happensAt(b({w}X), T)", "happensAt(c({w}X, Y), T)", "happensAt(d({w}X), T)",
    "happensAt(start(h({w}X)=true), T)", "happensAt(end(g({w}X)=true), T)",
]
TESTS = [
    "\\+ happensAt(a({w}X), T)", "\\+ happensAt(b({w}X), T)", "\\+ happensAt(c({w}X, _), T)",
    "\\+ (happensAt(c({w}X, Z), T), happensAt(a({w}Z), T))", "holdsAt(g({w}X)=true, T)", "\\+ holdsAt(h({w}X)=true, T)",
    "happensAt(b({w}X), T)", "happensAt(c({w}X, Y), T)", "holdsAt(h({w}Y)=true, T)", "\\+ happensAt(d({w}X), T)",
]
DERIVED = [
    "happensAt(a({w}X), T), \\+ happensAt(b({w}X), T)", "happensAt(c({w}X, Y), T), holdsAt(g({w}Y)=true, T)",
    "happensAt(c({w}Y, X), T)",
]
BELOW = [
    "holdsAt(f({w}X)=low, T)", "\\+ holdsAt(f({w}X)=high, T)", "happensAt(start(f({w}X)=high), T)",
    "happensAt(end(f({w}X)=low), T)", "holdsAt(s({w}X)=true, T)", "happensAt(start(s({w}X)=true), T)",
    "initiatedAt(f({w}X)=low, T)",
]
STATIC = [
    "intersect_all([F, G], I)", "union_all([F, H], I)", "relative_complement_all(H, [F], I)",
    "relative_complement_all(F, [G, H], I)", "intersect_all([G, H], J), union_all([J, F], I)", "complement_all([F], I)",
]


@dataclass(frozen=True)
class Case:
    """Templates of rules, and facts: name, arguments, time, end of an interval (or 0), probability."""

    rules: tuple[str, ...]
    facts: tuple[tuple[str, tuple[str, ...], int, int, float], ...]
    chance: float | None

    def text(self, world: str) -> str:
        """The program, for one world or with `world` as first argument of everything."""
        return "\n".join(rule.replace("{w}", world) for rule in self.rules)


@st.composite
def cases(draw: st.DrawFn, certain: bool = False) -> Case:
    """A program with three levels, and at most eight uncertain facts and chances."""
    body = st.tuples(st.sampled_from(EVENTS), st.lists(st.sampled_from(TESTS), max_size=2, unique=True)).map(
        lambda parts: ", ".join([parts[0], *parts[1]]))
    rules = [INPUTS, PERSON]
    rules += [f"happensAt(d({{w}}X), T) :- {each}." for each in draw(st.lists(
        st.sampled_from(DERIVED), min_size=1, max_size=2, unique=True))]
    chance = None if certain else draw(st.none() | st.sampled_from([0.3, 0.8]))
    for kind, pair in (("initiated", "f({w}X)=low"), ("initiated", "f({w}X)=high"), ("terminated", "f({w}X)=low"),
                       ("terminated", "f({w}X)=_")):
        for each in draw(st.lists(body, min_size=pair.endswith("low"), max_size=2, unique=True)):
            rules.append(f"{kind}At({pair}, T) :- {each}.")
    operation = draw(st.sampled_from(STATIC))
    read = [f"holdsFor({pair}, {name})" for pair, name in (
        ("f({w}X)=low", "F"), ("g({w}X)=true", "G"), ("h({w}X)=true", "H")) if name in operation]
    rules.append("grounding(s({w}X)=true) :- {g}person(X).")
    rules.append(f"holdsFor(s({{w}}X)=true, I) :- {', '.join([*read, operation])}.")
    for each, test in draw(st.lists(st.tuples(body, st.sampled_from(BELOW)), min_size=1, max_size=2, unique=True)):
        rules.append(f"initiatedAt(k({{w}}X)=true, T) :- {each}, {test}.")
    rules.append(f"terminatedAt(k({{w}}X)=true, T) :- {draw(body)}.")
    person = st.sampled_from(PEOPLE)
    fact = st.one_of(
        st.tuples(st.sampled_from("ab"), st.tuples(person), st.sampled_from(TIMES), st.just(0)),
        st.tuples(st.just("c"), st.tuples(person, person), st.sampled_from(TIMES), st.just(0)),
        st.tuples(st.just("h"), st.tuples(person), st.sampled_from(TIMES), st.just(0)),
        st.tuples(st.just("g"), st.tuples(person), st.sampled_from(TIMES), st.integers(1, 3)),
    )
    chances = st.sampled_from([0.0, 1.0]) if certain else st.sampled_from([0.0, 0.2, 0.5, 0.7, 0.9, 1.0])
    facts = tuple((name, args, time, time + length if length else 0, draw(chances))
                  for name, args, time, length in draw(st.lists(fact, min_size=2, max_size=7)))
    known = "".join(rules)
    facts = tuple(fact for fact in facts if f"{fact[0]}({{w}}" in known)
    if chance is not None:
        rules.append("{coin}initiatedAt(f({w}X)=low, T) :- happensAt(a({w}X), T){toss}.")
        facts = facts[:4]
    return Case(tuple(rules), facts, chance)


def uncertain_text(case: Case) -> str:
    """The program for probabilistic recognition."""
    text = case.text("").replace("{g}", "")
    return text.replace("{coin}", f"{case.chance}::").replace("{toss}", "")


def table_of(facts: list[tuple[str, tuple[object, ...], int, int, float]], world: bool) -> dict[str, pa.Table]:
    """Facts as tables by name."""
    tables: dict[str, pa.Table] = {}
    for name in sorted({fact[0] for fact in facts}):
        mine = [fact for fact in facts if fact[0] == name]
        columns: dict[str, list[object]] = {"time": [fact[2] for fact in mine]}
        for place in range(len(mine[0][1])):
            columns[f"arg{place}"] = [fact[1][place] for fact in mine]
        if name == "g":
            columns["end"] = [fact[3] for fact in mine]
        if name in "gh":
            columns["value"] = ["true"] * len(mine)
        if not world:
            columns["probability"] = [fact[4] for fact in mine]
        tables[name] = pa.table(columns)
    return tables


def facts_of(case: Case) -> dict[str, pa.Table]:
    """The uncertain facts of a case."""
    return table_of(list(case.facts), False)


Series = dict[tuple[str, str, str], dict[int, float]]


def by_worlds(case: Case) -> Series:
    """The probability of every row at every time-point, summed over all worlds."""
    coins = [] if case.chance is None else [
        ("toss", args, time, 0, case.chance) for name, args, time, _, p in dict.fromkeys(
            (name, args, time, 0, 0.0) for name, args, time, _, _ in case.facts if name == "a")]
    facts = [*case.facts, *coins]
    weights: list[float] = []
    rows: list[tuple[str, tuple[object, ...], int, int, float]] = []
    for world in range(1 << len(facts)):
        there = [bool(world >> place & 1) for place in range(len(facts))]
        weight = math.prod(fact[4] if is_there else 1 - fact[4] for fact, is_there in zip(facts, there, strict=True))
        if weight == 0:
            continue
        rows += [(name, (len(weights), *args), time, end, 1.0)
                 for (name, args, time, end, _), is_there in zip(facts, there, strict=True) if is_there]
        weights.append(weight)
    text = case.text("W, ").replace("{g}", "world(W), ").replace("{coin}", "").replace(
        "{toss}", ", happensAt(toss(W, X), T)")
    program = ev.parse(text, background=[{"world": pa.table({"w": list(range(len(weights)))})}])
    result = program.run(table_of(rows, True), start=0, end=END, ties="initiation")
    found: Series = defaultdict(lambda: defaultdict(float))
    for row in result.to_arrow().to_pylist():
        world, _, args = row["args"].partition("|")
        for time in range(row["start"], END + 1 if row["end"] is None else min(row["end"], END + 1)):
            found[row["fluent"], args, row["value"]][time] += weights[int(world)]
    return found


def by_rows(result: ev.Result) -> Series:
    """The probability of every row at every time-point, as recognised."""
    found: Series = defaultdict(dict)
    for row in result.to_arrow().to_pylist():
        for time in range(row["start"], END + 1 if row["end"] is None else min(row["end"], END + 1)):
            times = found[row["fluent"], row["args"], row["value"]]
            assert time not in times, "stretches of one row overlap"
            times[time] = row["probability"]
    return found


def assert_same(found: Series, expected: Series, fluents: set[str] | None = None) -> None:
    """The same probabilities, within rounding."""
    for key in found.keys() | expected.keys():
        if fluents is None or key[0] in fluents:
            for time in range(1, END + 1):
                ours, theirs = (series.get(key, {}).get(time, 0.0) for series in (found, expected))
                assert abs(ours - theirs) < 1e-9, (key, time, ours, theirs)
