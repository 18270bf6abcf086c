"""Why a row is in a relation of background knowledge: the clause that gives it, down to facts of the background."""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, Any

import numpy as np

from eventide.analysis.bodies import Step
from eventide.analysis.model import Clause, Rejected
from eventide.analysis.patterns import substitute
from eventide.analysis.types import table_name
from eventide.engine.relation import Rows
from eventide.explanation.following import Follower, head_binding
from eventide.explanation.proof import Reason
from eventide.explanation.wording import worded
from eventide.explanation.worlds import Binding, World
from eventide.syntax.terms import Term, Variable, arguments_of, functor_of
from eventide.syntax.trees import Call, Compare, Function, Is, Not

if TYPE_CHECKING:
    from eventide.explanation.proving import Proofs


def from_background(proofs: Proofs, call: Call) -> Generator[Any, Any, Reason]:
    """A fact of the background, or the clause of a definition that derives it, with what its conditions rest on."""
    predicate, arguments = functor_of(call.predicate), arguments_of(call.predicate)
    if predicate not in proofs.model.knowledge.relations or any(isinstance(each, Variable) for each in arguments):
        return Reason("background", worded(call))
    key = "background", predicate, arguments
    found: Reason = yield proofs.once(key, _derived(proofs, call, table_name(predicate), arguments))
    return found


def _derived(proofs: Proofs, call: Call, name: str, arguments: tuple[Term, ...]) -> Generator[Any, Any, Reason]:
    world = proofs.case.whole
    for clause in proofs.model.about(name, "background"):
        applied = _application(world, clause, arguments, _round(world, name, arguments))
        if applied is None:
            continue
        binding, steps = applied
        reasons: list[Reason] = []
        for step in steps:
            ground: Any = substitute(step, binding)
            match ground:
                case Call():
                    reasons.append((yield from_background(proofs, ground)))
                case Compare() | Is() | Function():
                    reasons.append(Reason("test", worded(ground)))
                case Not():
                    reasons.append(Reason("absence", worded(ground)))
        facts = len(reasons) == 1 and reasons[0].claim == worded(call)  # one of its facts
        return Reason("background", worded(call), () if facts else tuple(reasons))
    return Reason("background", worded(call))


def _application(world: World, clause: Clause, arguments: tuple[Term, ...],
                 before: int) -> tuple[Binding, list[Step]] | None:
    """The first way in which a clause gives a row out of what was derived in earlier rounds, and its steps."""
    bound = head_binding(clause, arguments)
    if bound is None:
        return None
    follower = Follower(world.case, clause)
    seeded = world.seed(bound, follower.types(list(bound)))
    try:
        steps = [] if seeded is None else follower.steps(clause.body, seeded[0])
    except Rejected:
        return None
    if seeded is None:
        return None
    rows = world.runner(seeded[1]).evaluate(steps[-1][1] if steps else seeded[0])
    assert isinstance(rows, Rows)
    for row in range(rows.length):
        binding = {**bound, **world.binding(rows, row)}
        if all(_before(world, step, binding, before) for step, _ in steps):
            return binding, [step for step, _ in steps]
    return None


def _before(world: World, step: Step, binding: Binding, before: int) -> bool:
    """Whether what a step asks for was derived before a round, so that a proof does not lead back to itself."""
    if before < 0 or not isinstance(step, Call):
        return True
    name = table_name(functor_of(step.predicate))
    if name not in world.case.rounds:
        return True
    return _round(world, name, arguments_of(substitute(step, binding).predicate)) < before


def _round(world: World, name: str, arguments: tuple[Term, ...]) -> int:
    """In which round a row was derived; -1 where its relation is not defined through itself."""
    rounds, rows = world.case.rounds.get(name), world.executor.tables.get(name)
    if rounds is None or rows is None:
        return -1
    found = np.ones(rows.length, np.bool_)
    for field, term in zip(rows.fields, arguments, strict=True):
        code = world.code(term, field.type)
        found &= rows.column(field.name) == (-1 if code is None else code)
    return int(np.searchsorted(rounds, int(np.flatnonzero(found)[0]), side="right")) if found.any() else -1
