"""Answers of the columnar evaluation as sets of atoms per time-point, as the oracles have them."""

from __future__ import annotations

from collections.abc import Sequence

from eventide.engine.relation import Relation
from eventide.lars.evaluation import Answers, evaluate
from eventide.lars.streams import read
from eventide.lars.values import ground_text
from eventide.syntax.lars_trees import LarsTree
from eventide.syntax.terms import Number

Stream = Sequence[tuple[int, Sequence[str]]]
AnswerStream = frozenset[tuple[str, int]]


def answers_of(tree: LarsTree, stream: Stream, end: int) -> Answers:
    """What the columnar evaluation says of a stream up to a time-point."""
    return evaluate(tree, read([(time, facts) for time, facts in stream if time <= end]), end)


def answer_streams(answers: Answers) -> list[AnswerStream]:
    """The answer stream of every time-point: atoms of derived predicates with the time-points they are about."""
    streams: list[set[tuple[str, int]]] = [set() for _ in range(answers.end + 1)]
    for predicate in answers.compiled.derived:
        for row, t in held(answers, answers.at(predicate)):
            streams[t].add((text(predicate[0], row[:-1]), row[-1]))
    return [frozenset(found) for found in streams]


def now_atoms(answers: Answers) -> list[set[str]]:
    """The derived atoms that hold at each time-point."""
    found: list[set[str]] = [set() for _ in range(answers.end + 1)]
    for predicate in answers.compiled.derived:
        for row, t in held(answers, answers.now(predicate)):
            found[t].add(text(predicate[0], row))
    return found


def violations(answers: Answers) -> list[set[tuple[str, tuple[str, ...]]]]:
    """The contradictions of each time-point: the rule and what its variables stand for."""
    found: list[set[tuple[str, tuple[str, ...]]]] = [set() for _ in range(answers.end + 1)]
    for name, rule in answers.compiled.contradictions.items():
        for row, t in held(answers, answers.contradictions(name)):
            found[t].add((str(rule).removesuffix("."), tuple(text("v", (value,))[2:-1] for value in row)))
    return found


def held(answers: Answers, relation: Relation) -> list[tuple[tuple, int]]:
    """Rows with every time-point at which they hold."""
    return [(row, t) for row, start, end in answers.rows(relation)
            for t in range(start, answers.end + 1 if end is None else end)]


def text(name: str, row: Sequence[object]) -> str:
    return ground_text(name, tuple(Number(value) if isinstance(value, float) else value for value in row))
