"""Rules that ask about learnt fluents, and constraints over them, as ground programs for `components`.

Bodies may have conditions such as `holdsAt(rich(X),T)` about any fluent that is learnt, the rule's own included, and
constraints (`:- holdsAt(moving(X,Y),T), holdsAt(meeting(X,Y),T).`) say which states never are. Everything else in a
body is input, and is evaluated here. Rules without such conditions are inferred faster by `inference`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count

import numpy as np

from eventide.errors import EventideError, refuse_errors
from eventide.kernels.arrays import Array, Mask
from eventide.kernels.joins import join
from eventide.kernels.votes import Floats
from eventide.learning.clauses import Clause, Literal, literal
from eventide.learning.columns import TIME, Bindings, ClauseReader, Condition, Constant, row_keys, solutions_of
from eventide.learning.components import Best, Conditions, Groundings, GroundProgram, best_states, label_costs
from eventide.learning.examples import Batch, CodedFacts, Examples
from eventide.learning.inference import Carried, Mode
from eventide.learning.modes import Mode as Shape
from eventide.learning.modes import Place
from eventide.syntax import reader
from eventide.syntax.conditions import conjuncts
from eventide.syntax.terms import Atom, Compound, Term, Variable, functor_of, variables_of

Constraint = tuple[Literal, ...]
_NOTHING = Atom("nothing")
_HEAD = -2  # stands for the head's instance among the variables, as TIME does for the time; lower ones for others
_NONE = np.empty(0, np.int64)


def read_constraints(text: str, source: str = "<constraints>") -> list[Constraint]:
    """The constraints of a text: clauses without a head.

    >>> [list(map(str, each)) for each in read_constraints(":- holdsAt(rich(X),T), not happensAt(seen(X),T).")]
    [['holdsAt(rich(X), T)', '\\\\+ happensAt(seen(X), T)']]
    """
    found, problems = reader.read_clauses(text, source)
    constraints = []
    for each in found:
        if each.head is not None or each.body is None:
            raise EventideError(f"{source}:{each.span.line if each.span else 1}: a constraint has no head; "
                                "write :- and what must not be true together")
        body = [literal(goal, problems) for goal in conjuncts(each.body)]
        constraints.append(tuple(goal for goal in body if goal is not None))
    refuse_errors(problems, {source: text})
    return constraints


@dataclass(frozen=True, slots=True)
class _Body:
    """A body: conditions on the input, on grids of all states (with a variable for the instance), on states denied."""

    inputs: tuple[Condition, ...]
    grids: tuple[Condition, ...]
    denied: tuple[Condition, ...]
    initiates: bool = False
    """What the rule concludes; of no concern for a constraint."""


@dataclass(frozen=True, slots=True, eq=False)
class Coupling:
    """Rules and constraints about several fluents, ready to be grounded in batches; see `coupling_of`."""

    examples: tuple[Examples, ...]
    rules: tuple[_Body, ...]
    constraints: tuple[_Body, ...]

    def batches(self, size: int, streams: Sequence[str | int] | None = None) -> Iterator[tuple[Batch, ...]]:
        """Mini-batches of `size` points, each once for each fluent."""
        return zip(*(each.batches(size, streams) for each in self.examples), strict=True)

    def program(self, batches: Sequence[Batch], weights: Floats, before: Mask, cost: float = 0.0) -> GroundProgram:
        """The ground program of a batch; `before` has the states of all instances at its first point.

        Instances are those of the first fluent, then those of the second, and so on. States that differ from the labels
        cost `cost`. A constraint that asks for nothing at its time but states holds for the point that follows the
        batch too, so that no states are carried over that the next batch must refuse.
        """
        if weights.shape[0] != len(self.rules):
            raise EventideError(f"there are {len(self.rules)} rules, but {weights.shape[0]} weights")
        points = batches[0].times.shape[0]
        here = replace(batches[0], facts=(*batches[0].facts, *_grids(batches, points)))
        longer = replace(batches[0], facts=(*batches[0].facts, *_grids(batches, points + 1)))
        ground = [_ground(rule, here) for rule in self.rules]
        banned = [_ground(body, longer if all(here.facts[each.table].time is None for each in body.inputs) else here)
                  for body in self.constraints]
        if any((np.diff(each.conditions.offsets) == 0).any() for each in banned):
            raise EventideError("the conditions of a constraint are true, and it asks about no state that could change")
        sizes = [each.points.shape[0] for each in ground]
        groundings = Groundings(
            np.concatenate([_NONE, *(each.points for each in ground)]),
            np.concatenate([_NONE, *(each.heads for each in ground)]),
            np.repeat(np.array([rule.initiates for rule in self.rules], np.bool_), sizes),
            np.repeat(np.arange(len(self.rules)), sizes), _together([each.conditions for each in ground]))
        return GroundProgram(points, before, weights, groundings,
                             np.concatenate([_NONE, *(each.points for each in banned)]),
                             _together([each.conditions for each in banned]),
                             _costs(batches, cost) if cost else np.empty((0, 0, 0)))

    def infer(self, batches: Sequence[Batch], weights: Floats, states: Sequence[Carried],
              mode: Mode = "vote") -> tuple[Mask, ...]:
        """The best states in a batch, as rows for each fluent; `states`, one for each, are carried on."""
        for batch, state in zip(batches, states, strict=True):
            if batch.begins:
                state.reset()
        before = np.concatenate([state.take(batch.instances) for batch, state in zip(batches, states, strict=True)])
        parts = self.split(batches, best_states(self.program(batches, weights, before), mode))
        for batch, state, holds in zip(batches, states, parts, strict=True):
            state.put(batch.instances, np.ascontiguousarray(holds[:, -1]))
        return tuple(holds[:, :-1].reshape(-1) for holds in parts)

    def split(self, batches: Sequence[Batch], best: Best) -> list[Mask]:
        """The states of each fluent, instances by points; the last point is the one that follows the batch."""
        return np.split(best.holds, np.cumsum([batch.instances.shape[0] for batch in batches])[:-1])


def coupling_of(clauses: Sequence[Clause], examples: Sequence[Examples],
                constraints: Sequence[Constraint] = ()) -> Coupling:
    """Rules about the fluents of `examples` (see `examples_of_each`), which may ask about each other's states.

    A rule that is worth 3 while ann is rich makes becoming rich worth its -2:

    >>> from eventide.learning.clauses import read_clauses
    >>> from eventide.learning.examples import examples_of_each, table
    >>> from eventide.learning.modes import read_modes
    >>> modes, _ = read_modes("modeh(initiatedAt(rich(+person),+time))\\nmodeh(initiatedAt(glad(+person),+time))")
    >>> tables = [table("happensAt(win(+person),+time)", ["ann"], [1]), table("happensAt(meet(+person),+time)",
    ...                                                                      ["ann", "ann"], [2, 3])]
    >>> labels = [table(f"holdsAt({name}(+person),+time)", [], []) for name in ("rich", "glad")]
    >>> clauses, _ = read_clauses("initiatedAt(rich(X),T) :- happensAt(win(X),T). "
    ...                           "initiatedAt(glad(X),T) :- happensAt(meet(X),T), holdsAt(rich(X),T).")
    >>> coupling = coupling_of(clauses, examples_of_each(modes, tables, labels))
    >>> for batches in coupling.batches(50):
    ...     rich, glad = coupling.infer(batches, np.array([-2.0, 3.0]), [Carried(), Carried()])
    >>> rich.tolist(), glad.tolist()
    ([False, True, True], [False, False, True])
    """
    given = tuple(examples)
    if not given or any(each.domains is not given[0].domains for each in given):
        raise EventideError("fluents are inferred together on examples of the same tables: use examples_of_each")
    rules = [_rule(clause, given) for clause in clauses]
    return Coupling(given, tuple(rules), tuple(_constraint(body, given) for body in constraints))


# -- reading -----------------------------------------------------------------------------------------------------------


def _rule(clause: Clause, examples: tuple[Examples, ...]) -> _Body:
    name = functor_of(clause.head)[0]
    for number, each in enumerate(examples):
        assert isinstance(each.target.atom, Compound)
        terms = replace(each.target, atom=Compound(name, each.target.atom.args)).constants(clause.head)
        if name in ("initiatedAt", "terminatedAt") and terms is not None:
            known = _StateReader(clause, each, examples)
            head = known.grid(number, [known.numbers[term] if isinstance(term, Variable)
                                       else known.constant(term, place.type)
                                       for term, place in zip(terms, each.target.places, strict=True)], _HEAD)
            body = known.conditions()
            return replace(body, grids=(head, *body.grids), initiates=name == "initiatedAt")
    raise EventideError(f"{clause}\n    the head is not a change of "
                        f"{', '.join(str(each.target) for each in examples)}")


def _constraint(body: Constraint, examples: tuple[Examples, ...]) -> _Body:
    """A constraint is read as a rule about something that has no arguments, at the time of its conditions."""
    type_ = examples[0].target.places[-1].type
    target = Shape(Compound("holdsAt", (_NOTHING, examples[0].target.atom.args[1])),  # type: ignore[union-attr]
                   (Place("+", type_, (2,)),))
    times = [term for each in body for facts in _with_fluents(examples[0], examples).facts if facts.time is not None
             and (terms := facts.mode.constants(each.atom)) is not None for term in [terms[facts.time]]]
    time = next((term for term in times if isinstance(term, Variable)), Variable("T"))
    known = _StateReader(Clause(Compound("initiatedAt", (_NOTHING, time)), body), replace(examples[0], target=target),
                         examples)
    found = known.conditions()
    # All conditions may be denied: the points themselves are the last grid.
    return replace(found, grids=(*found.grids, Condition(known.number + len(examples), (TIME,))))


def _with_fluents(own: Examples, examples: tuple[Examples, ...]) -> Examples:
    """The examples with a table for the states of each fluent, behind the others; what is in it differs by batch."""
    states = [CodedFacts(each.target, (), _NONE, len(each.types), None, "lessThan") for each in examples]
    return replace(own, facts=(*own.facts, *states))


class _StateReader(ClauseReader):
    """A clause whose conditions may be about the states of fluents."""

    def __init__(self, clause: Clause, own: Examples, examples: tuple[Examples, ...]) -> None:
        self.number = len(own.facts)
        fresh = (Variable(f"_State{i}") for i in count())
        self.states = tuple(any(each.target.constants(goal.atom) is not None for each in examples)
                            for goal in clause.body)
        # `_` in a condition on states stands for some state: which one, is to be known.
        body = tuple(Literal(_named(goal.atom, fresh), True) if state and goal.positive else goal
                     for goal, state in zip(clause.body, self.states, strict=True))
        super().__init__(Clause(clause.head, body), _with_fluents(own, examples))
        self.uses += Counter(variable for goal, state in zip(body, self.states, strict=True) if state
                             for variable in variables_of(goal.atom))

    def error(self, problem: str) -> EventideError:
        text = str(self.clause)
        return EventideError(f"{text[text.index(' :- ') + 1:] if str(_NOTHING) in text else text}\n    {problem}")

    def table(self, literal: Literal) -> tuple[int, CodedFacts, tuple[Term, ...]]:
        found = super().table(literal)
        states = self.examples.facts[self.number:]
        if found[0] < self.number and any(each.mode.constants(literal.atom) is not None for each in states):
            raise self.error(f"{literal} is both what is learnt and a table of the input")
        return found

    def grid(self, fluent: int, places: Sequence[int | Constant | None], variable: int) -> Condition:
        """All states of a fluent, with a variable for the instance."""
        return Condition(self.number + fluent, (*places, variable))

    def conditions(self) -> _Body:
        read = [self.condition(goal) for goal in self.clause.body]
        grids = [self.grid(each.table - self.number, each.places, _HEAD - 1 - i)
                 for i, (each, state) in enumerate(zip(read, self.states, strict=True)) if state]
        signs = [goal.positive for goal, state in zip(self.clause.body, self.states, strict=True) if state]
        return _Body(tuple(each for each, state in zip(read, self.states, strict=True) if not state),
                     tuple(each for each, positive in zip(grids, signs, strict=True) if positive),
                     tuple(each for each, positive in zip(grids, signs, strict=True) if not positive))


def _named(term: Term, fresh: Iterator[Variable]) -> Compound:
    """The term with a name for each `_`."""
    assert isinstance(term, Compound)
    args = [_named(arg, fresh) if isinstance(arg, Compound) else next(fresh)
            if isinstance(arg, Variable) and arg.anonymous else arg for arg in term.args]
    return Compound(term.functor, tuple(args))


# -- grounding ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class _Ground:
    points: Array
    heads: Array
    conditions: Conditions


def _grids(batches: Sequence[Batch], points: int) -> list[CodedFacts]:
    """All states of each fluent as facts, with the instance's number behind the time; then the points themselves."""
    found, first = [], 0
    for batch in batches:
        instances = batch.instances.shape[0]
        at = np.repeat(np.arange(points), instances)  # facts are ordered by time
        numbers = np.tile(np.arange(first, first + instances), points)
        codes = [np.tile(column, points) for column in batch.arguments.T]
        found.append(CodedFacts(batch.examples.target, (*codes, at, numbers), at, len(codes), None, "lessThan"))
        first += instances
    every = np.arange(points)
    return [*found, CodedFacts(batches[0].examples.target, (every,), every, 0, None, "lessThan")]


def _ground(body: _Body, batch: Batch) -> _Ground:
    """A body in all ways that make its conditions on the input true."""
    inputs = sorted(body.inputs, key=lambda each: not each.positive)
    found = solutions_of((*(each for each in inputs if each.positive), *body.grids,
                          *(each for each in inputs if not each.positive)), batch)
    asked = sorted((name for name in found.values if name < _HEAD), reverse=True)
    needed = {TIME, _HEAD, *asked, *(name for each in body.denied for name in each.variables())}
    found = _distinct(found, sorted(needed & found.values.keys()))
    owners = [np.arange(found.rows)] * len(asked)
    literals = [found.values[variable] for variable in asked]
    for each in body.denied:
        states = Bindings.of(batch.facts[each.table], each)
        left, right = join(*row_keys(found, states))
        variable = each.places[-1]
        assert isinstance(variable, int)
        owners.append(left)
        literals.append(~states.values[variable][right])
    owner = np.concatenate([_NONE, *owners])
    order = np.argsort(owner, kind="stable")
    offsets = np.searchsorted(owner[order], np.arange(found.rows + 1))
    conditions = Conditions(offsets, np.concatenate([_NONE, *literals])[order])
    return _Ground(found.values[TIME], found.values.get(_HEAD, _NONE), conditions)


def _distinct(found: Bindings, names: Sequence[int]) -> Bindings:
    """The rows in some of their variables, each once."""
    rows = np.unique(np.stack([found.values[name] for name in names]), axis=1)
    return Bindings(dict(zip(names, np.ascontiguousarray(rows), strict=True)), rows.shape[1])


def _together(parts: Sequence[Conditions]) -> Conditions:
    firsts = np.cumsum([0, *(part.literals.shape[0] for part in parts)])
    offsets = [np.zeros(1, np.int64), *(part.offsets[1:] + first for part, first in zip(parts, firsts, strict=False))]
    return Conditions(np.concatenate(offsets), np.concatenate([_NONE, *(part.literals for part in parts)]))


def _costs(batches: Sequence[Batch], cost: float) -> Floats:
    """What states cost that differ from the labels; nothing after the batch where the stream ends."""
    parts = []
    for batch in batches:
        after = np.zeros(batch.instances.shape[0], np.bool_) if batch.after is None else batch.after
        labels = batch.labels.reshape(batch.instances.shape[0], batch.times.shape[0])
        costs = label_costs(np.concatenate([labels, after[:, None]], axis=1), cost)
        if batch.after is None:
            costs[:, :, -1] = 0.0
        parts.append(costs)
    return np.concatenate(parts, axis=1)
