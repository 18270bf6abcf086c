"""Learning's inference by clingo on the whole program, as text: the slow and obvious way. And that text as arrays.

A program is written as in the reference answers: facts, weighted rules with variables, fluents, time-points. The solver
gets the axioms of the Event Calculus, one choice for each grounding (or head), and all optimal models are listed.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import clingo
import numpy as np

from eventide.learning.components import Conditions, Groundings, GroundProgram, label_costs

AXIOMS = """
next(S,E) :- time(S), time(E), S < E, not between(S,E).
between(S,E) :- time(S), time(M), time(E), S < M, M < E.
holdsAt(F,E) :- initiatedAt(F,S), fluent(F), next(S,E).
holdsAt(F,E) :- holdsAt(F,S), not terminatedAt(F,S), fluent(F), next(S,E).
holdsAt(F,T) :- initially(F), time(T), not time(S) : time(S), S < T.
"""
# One choice for each grounding (Algorithm 1), or for each head, which then satisfies all its rules (equations 1-3).
ENCODINGS = {
    "algorithm1": """{satisfied(H,R)} :- fires(H,R).   on(H) :- satisfied(H,R).
                     :~ satisfied(H,R), weight(R,W). [-W@1,H,R]   :~ satisfied(H,R). [1@0,H,R]""",
    "vote": """{on(H)} :- fires(H,_).   satisfied(H,R) :- on(H), fires(H,R).
               :~ on(H), fires(H,R), weight(R,W). [-W@1,H,R]   :~ on(H). [1@0,H]""",
    "crisp": "on(H) :- fires(H,_).   satisfied(H,R) :- fires(H,R).",
}
VARIABLE = re.compile(r"\b[A-Z]\w*\b")


@dataclass(frozen=True)
class Program:
    """A weighted program without structure to learn. Rules are (weight, head, body)."""

    fluents: tuple[str, ...]
    times: tuple[int, ...]
    facts: tuple[str, ...]
    rules: tuple[tuple[int, str, str], ...]
    initially: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()
    labels: tuple[str, ...] | None = None

    @classmethod
    def of_case(cls, case: dict[str, Any]) -> Program:
        """A case of the reference answers."""
        labels = case.get("labels")
        return cls(tuple(case["fluents"]), tuple(case["times"]), tuple(case["facts"]),
                   tuple((rule["weight_int"], rule["head"], rule["body"]) for rule in case["rules"]),
                   tuple(case.get("initially", ())), tuple(case.get("constraints", ())),
                   None if labels is None else tuple(labels))


class Optimum(NamedTuple):
    """The best value, how many models have it, and for the fewest choices: states and satisfied groundings of each."""

    objective: int
    models: int
    best: list[tuple[frozenset[str], frozenset[tuple[str, int]]]]


def text_of(program: Program, mode: str) -> str:
    """The whole program for clingo."""
    lines = [AXIOMS, ENCODINGS[mode], "initiatedAt(F,T) :- on(initiatedAt(F,T)).",
             "terminatedAt(F,T) :- on(terminatedAt(F,T))."]
    lines += [f"fluent({fluent})." for fluent in program.fluents] + [f"time({t})." for t in program.times]
    lines += [f"{fact}." for fact in program.facts] + [f"initially({fluent})." for fluent in program.initially]
    for number, (weight, head, body) in enumerate(program.rules, 1):
        fluent = head.partition("(")[2].rpartition(",")[0]
        lines.append(f"weight({number},{weight}). fires({head},{number}) :- {body}, time(T), fluent({fluent}).")
    lines += [f"{constraint}." for constraint in program.constraints]
    if program.labels is not None:
        lines += [f"label({atom})." for atom in program.labels]
        lines.append(":~ holdsAt(F,T), fluent(F), time(T), not label(holdsAt(F,T)). [1@1,F,T,wrong]")
        lines.append(":~ label(holdsAt(F,T)), not holdsAt(F,T). [1@1,F,T,wrong]")
    return "\n".join(lines)


def optimum(program: Program, mode: str) -> Optimum | None:
    """All optimal models by clingo; None if there is no model."""
    text = text_of(program, mode)
    fewest = _models(text)
    if not fewest:
        return None
    every = _models(text.replace("[1@0,H,R]", "[0@0,H,R]").replace("[1@0,H]", "[0@0,H]"))
    best = [(frozenset(str(s) for s in symbols if s.name == "holdsAt"),
             frozenset((str(s.arguments[0]), s.arguments[1].number) for s in symbols if s.name == "satisfied"))
            for _, symbols in fewest]
    return Optimum(-fewest[0][0].get(1, 0), len(every), best)


def _models(text: str) -> list[tuple[dict[int, int], list[clingo.Symbol]]]:
    """The optimal models with their costs by priority; all models where nothing is to be minimised."""
    control = clingo.Control(["--opt-mode=optN", "0", "--warn=none"])
    control.add("base", [], text)
    control.ground([("base", [])])
    with control.solve(yield_=True) as handle:
        models = [(dict(zip(m.priority, m.cost, strict=True)), list(m.symbols(atoms=True)), m.optimality_proven)
                  for m in handle]
    proven = [(cost, symbols) for cost, symbols, sure in models if sure]
    return proven or [(cost, symbols) for cost, symbols, _ in models if not cost]


# -- the same program as arrays ----------------------------------------------------------------------------------------


class Body(NamedTuple):
    """A rule without variables whose conditions on the input are true."""

    rule: int
    point: int
    instance: int
    initiates: bool
    asks: list[int]


def _split(text: str) -> list[str]:
    """The goals between the commas outside of brackets."""
    goals, depth, last = [], 0, 0
    for at, sign in enumerate(text):
        depth += (sign == "(") - (sign == ")")
        if sign == "," and not depth:
            goals.append(text[last:at])
            last = at + 1
    return [goal.strip() for goal in [*goals, text[last:]]]


def _ground(text: str, program: Program) -> Iterator[tuple[str, int]]:
    """The text for all values of its variables, with the point that T is."""
    constants = sorted({name for fluent in program.fluents for name in re.findall(r"\w+", fluent)}
                       | {name for fact in program.facts for name in re.findall(r"\b[a-z]\w*", fact)})
    names = sorted(set(VARIABLE.findall(text)) - {"T"})
    for point, time in enumerate(program.times):
        for values in itertools.product(constants, repeat=len(names)):
            known = {"T": str(time), **dict(zip(names, values, strict=True))}
            yield VARIABLE.sub(lambda m, known=known: known[m[0]], text), point  # type: ignore[misc]


def _asked(goals: list[str], program: Program) -> list[int] | None:
    """What goals ask of the states; None if they are false whatever the states."""
    asks = []
    for goal in goals:
        atom = goal.removeprefix("not ").strip()
        positive = atom == goal
        if "!=" in atom:
            left, _, right = atom.partition("!=")
            true = left.strip() != right.strip()
        elif atom.startswith("holdsAt("):
            fluent = atom[len("holdsAt("):].rpartition(",")[0]
            if fluent in program.fluents:
                asks.append(program.fluents.index(fluent) if positive else ~program.fluents.index(fluent))
                continue
            true = False
        else:
            true = atom in program.facts
        if true != positive:
            return None
    return asks


def bodies(program: Program) -> list[Body]:
    """All rules without variables whose conditions on the input are true."""
    found = []
    for number, (_, head, body) in enumerate(program.rules):
        for text, point in _ground(f"{head}, {body}", program):
            first, *goals = _split(text)
            kind, _, rest = first.partition("(")
            fluent = rest.rpartition(",")[0]
            if fluent in program.fluents and (asks := _asked(goals, program)) is not None:
                found.append(Body(number, point, program.fluents.index(fluent), kind == "initiatedAt", asks))
    return found


def as_arrays(program: Program) -> GroundProgram:
    """The program for `best_states`."""
    given = bodies(program)
    columns = [np.array([body[i] for body in given], np.int64) for i in range(3)]
    groundings = Groundings(columns[1], columns[2], np.array([body.initiates for body in given], np.bool_),
                            columns[0], Conditions.of([body.asks for body in given]))
    banned = [(asks, point) for constraint in program.constraints
              for text, point in _ground(constraint.removeprefix(":-"), program)
              if (asks := _asked(_split(text), program)) is not None]
    costs = np.empty((0, 0, 0))
    if program.labels is not None:
        labels = np.array([[f"holdsAt({fluent},{t})" in program.labels for t in (*program.times, "after")]
                           for fluent in program.fluents])
        costs = label_costs(labels)
        costs[:, :, -1] = 0.0
    return GroundProgram(len(program.times), np.array([f in program.initially for f in program.fluents], np.bool_),
                         np.array([float(weight) for weight, _, _ in program.rules]), groundings,
                         np.array([point for _, point in banned], np.int64),
                         Conditions.of([asks for asks, _ in banned]), costs)


def as_rows(program: Program) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Where each rule fires, for programs that ask nothing of the states: rows are instances by points."""
    fires = np.zeros((len(program.rules), len(program.fluents) * len(program.times)), np.bool_)
    for body in bodies(program):
        assert not body.asks
        fires[body.rule, body.instance * len(program.times) + body.point] = True
    return fires


def states_as_text(program: Program, holds: Any) -> frozenset[str]:
    """States by instance and point, as atoms."""
    return frozenset(f"holdsAt({fluent},{t})" for i, fluent in enumerate(program.fluents)
                     for p, t in enumerate(program.times) if holds[i][p])


# -- the search of rules, as the paper writes it -----------------------------------------------------------------------

USE_TRY = """
{use(I,0)} :- bottom(I,_). {use(I,J)} :- literal(I,J,_,_). :- use(I,J), J != 0, not use(I,0).
try(I,J,F,T) :- use(I,J), literal(I,J,C,1), true(C,F,T).
try(I,J,F,T) :- use(I,J), literal(I,J,C,0), row(F,T), not true(C,F,T).
try(I,J,F,T) :- not use(I,J), literal(I,J,_,_), row(F,T).
head(K,F,T) :- use(I,0), bottom(I,K), row(F,T), try(I,J,F,T) : literal(I,J,_,_).
holds(F,T+1) :- head(1,F,T). holds(F,T+1) :- holds(F,T), row(F,T), not head(0,F,T).
holds(F,0) :- initially(F).
:~ use(I,J), size(I,J,S). [S@1,I,J,size]
:~ holds(F,T), label(F,T,0). [1@1,F,T,wrong] :~ not holds(F,T), label(F,T,1). [1@1,F,T,wrong]
{satisfied(R,F,T)} :- fires(R,F,T). head(K,F,T) :- satisfied(R,F,T), rule(R,K,_).
:~ satisfied(R,F,T), rule(R,_,W). [-W@2,R,F,T]
#defined fires/3. #defined rule/3. #defined initially/1. #defined label/3. #defined true/3. #defined literal/4.
#defined size/3. #defined bottom/2. #defined row/2.
"""
"""Algorithm 2 (KR 2020) with the corrections that it needs: terms in the weak constraints, both kinds of mistakes, rows
for safety. The weights of existing rules have a higher priority, so that no rescaling of them changes the rest."""


def least_cost(facts: list[str], limits: tuple[int, int, int] | None = None) -> int:
    """The least cost of new rules by clingo; `limits` are the most literals of terminations, of initiations, and the
    most rules of a kind."""
    text = USE_TRY + "".join(f"{fact}." for fact in facts)
    if limits is not None:
        text += f"most(0,{limits[0]}). most(1,{limits[1]})."
        text += ":- bottom(I,K), most(K,M), #sum {S,J : use(I,J), size(I,J,S), J != 0} > M."
        text += f":- K = 0..1, #count {{I : use(I,0), bottom(I,K)}} > {limits[2]}."
    control = clingo.Control(["--models=0", "--opt-strategy=usc", "--warn=none"])
    control.add("base", [], text)
    control.ground([("base", [])])
    best: dict[int, int] = {}
    with control.solve(yield_=True) as handle:
        for model in handle:
            best = dict(zip(model.priority, model.cost, strict=True))
        assert handle.get().exhausted
    return best.get(1, 0)
