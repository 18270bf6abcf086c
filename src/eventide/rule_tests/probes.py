"""What the conditions of clauses came to in a run: each is tried where those before it were true, as the plan does.

Conditions are counted in the order in which the plan tries them, so that `false` means: everything that was tried
before was true, and this was not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from eventide.algebra import nodes as n
from eventide.analysis.bodies import BodyCompiler, Step, Tally
from eventide.analysis.compiler import Compiler
from eventide.analysis.model import Clause, Model, Rejected
from eventide.analysis.origins import clause_nodes
from eventide.analysis.patterns import variables_in
from eventide.analysis.planning import compiler_of
from eventide.analysis.statics import StaticCompiler
from eventide.engine.executor import Executor, PlanIndex
from eventide.engine.relation import Relation, Rows
from eventide.syntax.terms import Variable
from eventide.syntax.trees import Allen, Call, Condition, Function, Guard, HoldsFor, IntervalOperation, Is, Not

COVERED = ("initiated", "terminated", "event", "static", "initial", "delay")
_DROPPING = ("intersect", "relative_complement", "longer", "shorter")


@dataclass(frozen=True, slots=True)
class Trial:
    """A condition, the rows or intervals for which it is true, and those for which it is not (None: not asked)."""

    condition: Step
    true: n.Node
    false: n.Node | None = None
    column: str | None = None
    """The number of a row, if `true` has a row for each way in which a row of `false` is: these are all the rows."""


class _Recorder(BodyCompiler):
    """Compiles a body and remembers its conditions on the way."""

    def __init__(self, *arguments: object, **options: object) -> None:
        super().__init__(*arguments, **options)  # type: ignore[arg-type]
        self.trials: list[Trial] = []
        self._inside = False

    def _apply(self, condition: Step, node: n.Node, pending: Sequence[Step], wanted: set[str]) -> n.Node:
        if self._inside:  # conditions within a negation or a count are part of it
            return super()._apply(condition, node, pending, wanted)
        self._inside = True
        try:
            after = super()._apply(condition, node, pending, wanted)
            if not self._binds(condition, node):
                column = f"#{next(self.model.fresh)}"
                numbered = n.Number(node, column)
                tried = super()._apply(condition, numbered, pending, wanted)
                sure = _reads_nothing(node) or self._looks_up(condition, node)
                self.trials.append(Trial(condition, tried, None if sure else numbered, None if sure else column))
        finally:
            self._inside = False
        return after

    def _binds(self, condition: Step, node: n.Node) -> bool:
        """Whether a condition only names a value, and so is never false."""
        if isinstance(condition, Is):
            return isinstance(condition.target, Variable) and condition.target.name not in self._bound(node)
        return isinstance(condition, Function) and bool(condition.outputs)

    def _looks_up(self, condition: Step, node: n.Node) -> bool:
        """Whether a condition looks values up in the background, so that nobody expects it to be false, or counts."""
        if isinstance(condition, Tally) and isinstance(condition.amount, Variable):
            return condition.amount.name not in self._bound(node)  # there is always a number, if only 0
        return isinstance(condition, Call) and not set(variables_in(condition)) <= self._bound(node)


class _StaticRecorder(_Recorder, StaticCompiler):
    """The same for rules of intervals: an operation is true where it gives time, false where it drops some."""

    def _step(self, condition: Condition) -> None:
        super()._step(condition)
        match condition:
            case HoldsFor(_, Variable(name)):
                self.trials.append(Trial(condition, self.lists[name]))
            case IntervalOperation(operation, output=Variable(name)):
                operands = [self._list(term, condition) for term in (condition.base, *condition.inputs)
                            if term is not None]
                out = self.lists[name]
                dropped = [_dropped(node, out) for node in (operands[:1] if condition.base is not None else operands)]
                false = None if operation not in _DROPPING else _either(dropped)
                self.trials.append(Trial(condition, out, false))
            case Allen():
                pairs = self.guards[-1][0]
                assert isinstance(pairs, n.Allen)
                self.trials.append(Trial(condition, pairs, _dropped(pairs.source, pairs)))
            case Guard(interval) | Not((Guard(interval),)):
                self.trials.append(Trial(condition, self._list(interval, condition)))


def _reads_nothing(node: n.Node) -> bool:
    """Whether nothing was tried before, and at most values were computed."""
    return all(isinstance(each, n.Unit) or any(n.children_of(each)) for each in n.nodes_in(node))


def _dropped(node: n.Node, out: n.Node) -> n.Node:
    """The time of an operand that is not in the result."""
    return n.Without(node, n.Project(out, n.names(node.fields)))


def _either(nodes: Sequence[n.Node]) -> n.Node:
    """Something that has rows if any of some nodes has: their keys do not matter."""
    bare = tuple(n.Project(node, ()) for node in nodes)
    return bare[0] if len(bare) == 1 else n.Union(bare)


class Probes:
    """The trials of all clauses of a program, compiled once and counted in many runs."""

    def __init__(self, model: Model) -> None:
        self.model = replace(model, diagnostics=[])  # what cannot be compiled here was reported long ago
        self._compiler = compiler_of(self.model)[0]
        self.trials = {clause.number: self._trials(clause) for clause in model.of_kind(*COVERED)}  # type: ignore[arg-type]
        bodies = {d.name: d.body for s in model.plan.strata for d in s.definitions}
        self.bodies = bodies
        self._roots = [(clause, node) for _, clause, node in clause_nodes(model, bodies) if clause.kind in COVERED]

    def fired(self, executor: Executor) -> dict[int, int]:
        """How many rows each clause gave in a run, by its number."""
        executor.use(PlanIndex(n.Plan(())))
        found: dict[int, int] = {}
        for clause, node in self._roots:
            if clause.kind != "delay":
                rows = executor.evaluate(node)
                found[clause.number] = _size(executor.distinct_rows(rows) if isinstance(rows, Rows) else rows)
        for clause in self.model.of_kind("delay"):
            found[clause.number] = self._deadlines(executor, clause)
        return found

    def _deadlines(self, executor: Executor, clause: Clause) -> int:
        """How often a deadline of a clause was reached: its value ends when the next one is initiated."""
        name = self._compiler.whole(clause.template)
        body = self.bodies.get(name)
        if not isinstance(body, n.Inertia) or clause.target is None or name not in executor.fired:
            return 0
        value = body.fields[-1].name
        reached = n.Equal(n.Fired(name, body.fields), value, clause.target)
        ended = n.Boundaries(n.Equal(n.Fluent(name, body.fields), value, clause.value), "end")
        keys = n.names(body.fields[:-1])
        return _size(executor.evaluate(n.Join(n.Project(reached, keys), n.Project(ended, keys))))

    def outcomes(self, executor: Executor, number: int) -> Iterator[tuple[Step, int, int | None]]:
        """The conditions of a clause, and how often each was true and false (None: it cannot be false)."""
        for trial in self.trials[number]:
            true = executor.evaluate(trial.true)
            if trial.column is not None and trial.false is not None:
                assert isinstance(true, Rows)
                ways = int(np.unique(true.column(trial.column)).shape[0]) if true.length else 0
                yield trial.condition, ways, _size(executor.evaluate(trial.false)) - ways
            else:
                false = None if trial.false is None else _size(executor.evaluate(trial.false))
                yield trial.condition, _size(true), false

    def _trials(self, clause: Clause) -> list[Trial]:
        """The trials of a clause as it is written; where that cannot be compiled, with known values put in."""
        for form in (clause, self._compiler.folded(clause)):
            try:
                if form is not None:
                    return _compiled(self.model, self._compiler, form)
            except Rejected:
                continue
        return []


def _compiled(model: Model, compiler: Compiler, clause: Clause) -> list[Trial]:
    if clause.kind == "delay":
        return []
    if clause.kind == "static":
        static = _StaticRecorder(model, compiler.sources, clause, compiler.domain_for(clause, "f"))
        static.relation()
        return static.trials
    domain = compiler.domain_of_body(clause)
    recorder = _Recorder(model, compiler.sources, clause, domain)
    wanted = list(dict.fromkeys(variables_in(clause.leaves if clause.kind != "terminated" else clause.arguments)))
    recorder.rows(clause.body, domain if clause.kind == "initial" else None, wanted=wanted)
    return recorder.trials


def _size(result: Rows | Relation) -> int:
    return len(result) if isinstance(result, Relation) else result.length
