"""Why something holds or happens: rules with bindings, condition by condition, down to facts. Events, simple fluents.

A proof is built in one world (see `worlds`). It notes the facts it rests on, and what it says of rules and intervals,
so that another world can be asked whether that is so there too.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from eventide.algebra import nodes as n
from eventide.analysis.bodies import Step, Tally
from eventide.analysis.model import Clause, Rejected
from eventide.analysis.patterns import fill, flatten, name_of, pair_leaves, substitute, variables_in
from eventide.engine.relation import Rows
from eventide.explanation.derived import from_background
from eventide.explanation.following import Follower, head_binding
from eventide.explanation.proof import AppliedRule, Kind, Reason
from eventide.explanation.witnesses import witness
from eventide.explanation.wording import bindings_text, worded
from eventide.explanation.worlds import Binding, Case, FactId, World
from eventide.syntax.diagnostics import Span
from eventide.syntax.printer import term_text
from eventide.syntax.terms import Number, Term, Variable, functor_of
from eventide.syntax.trees import (
    Boundary,
    Call,
    Changed,
    Compare,
    Condition,
    Function,
    Happens,
    Holds,
    Is,
    Not,
)

MOST_ANSWERS = 64
Leaves = tuple[Term, ...]
Proving = Generator[Any, Any, Any]
"""A proof under way: it gives the proofs that it needs first, is sent their reasons, and returns its own (or None).

Chains of rules may be longer than the stack of calls, so proofs do not call each other.
"""


def carried_out(goal: Proving) -> Any:
    """What a proof returns, with all proofs that it needs."""
    stack, answer = [goal], None
    while stack:
        try:
            stack.append(stack[-1].send(answer))
            answer = None
        except StopIteration as done:
            stack.pop()
            answer = done.value
    return answer


class Check(Protocol):
    """Something that a proof says; another world can be asked whether it is so."""

    def holds_in(self, world: World) -> bool:
        """Whether it is so in a world."""
        ...


class Unsound(Exception):
    """A proof would say what is not so in all the data."""

    def __init__(self, check: Check) -> None:
        super().__init__(check)
        self.check = check


def is_so(case: Case, check: Check) -> bool:
    """Whether something holds in all the data of a case; it is asked for once."""
    if check not in case.checked:
        case.checked[check] = check.holds_in(case.whole)
    return case.checked[check]


@dataclass(frozen=True)
class Applies:
    """A rule applies with these values of its variables at this time."""

    clause: Clause
    binding: tuple[tuple[str, Term], ...]
    time: int

    def __str__(self) -> str:
        return f"a rule for {self.clause.template} applies at {self.time}"

    def holds_in(self, world: World) -> bool:
        """Whether its conditions hold there."""
        return application(world, self.clause, dict(self.binding), self.time) is not None


@dataclass(frozen=True)
class Unproved:
    """A claim without a proof."""

    claim: str

    def __str__(self) -> str:
        return self.claim

    def holds_in(self, world: World) -> bool:
        """It holds nowhere."""
        return False


@dataclass(frozen=True)
class Covers:
    """A fluent holds during `[low, high)`."""

    template: str
    leaves: Leaves
    low: int
    high: int | None

    def __str__(self) -> str:
        return f"{pair_text(self.template, self.leaves)} {when(self.low, self.high)}"

    def holds_in(self, world: World) -> bool:
        """Whether it does so there."""
        node = world.case.compiler.sources.fluent(self.template, self.leaves)
        return any(interval.stretch.covers(self.low, self.high) for interval in world.intervals(node))


def application(world: World, clause: Clause, binding: Binding, time: int, *,
                numbers: bool = False) -> tuple[Rows, list[Step]] | None:
    """The ways in which a clause applies at a time with some variables bound, and its steps; None if it does not.
    Numbers among them are found again, unless `numbers` is set: what is counted or negated may compute with them."""
    follower = Follower(world.case, clause)
    seeded = world.seed(binding, follower.types(list(binding)), time, numbers=numbers)
    if seeded is None:
        return None
    node, seed = seeded
    try:
        steps = follower.steps(clause.body, node)
    except Rejected:
        return None
    rows = world.runner(seed).evaluate(steps[-1][1] if steps else node)
    assert isinstance(rows, Rows)
    return (rows, [step for step, _ in steps]) if rows.length else None


def pair_text(template: str, leaves: Sequence[Term]) -> str:
    """A fluent and its value as text."""
    return f"{event_text(template, leaves[:-1])}={term_text(leaves[-1], 699)}"


def event_text(template: str, leaves: Sequence[Term]) -> str:
    """An event or a fluent without its value as text."""
    arguments = fill(template, [term_text(leaf) for leaf in leaves])
    return f"{name_of(template)}({','.join(arguments)})" if arguments else template


def when(low: int, high: int | None) -> str:
    """A time-point or an interval, as it is said of a fluent."""
    if high == low + 1:
        return f"holds at {low}"
    return f"holds from {low} on" if high is None else f"holds during [{low}, {high})"


class Proofs(ABC):
    """The proofs of one world: its facts, events and rules; with `strict`, `Unsound` for what is not so in all data,
    with `few`, of thousands of answers that are counted the first."""

    def __init__(self, case: Case, world: World, *, strict: bool = False, few: bool = False) -> None:
        self.case, self.world, self.model = case, world, case.model
        self.tick = world.timeline.tick
        self.used: dict[FactId, None] = {}
        self.counted: dict[FactId, None] = {}
        """Those of the facts used that were met first as answers of a count."""
        self.strict, self.few = strict, few
        self.left_out = False
        """Whether answers of a count were left out, because few are wanted."""
        self._known: dict[tuple[Any, ...], Reason] = {}
        self._open: set[tuple[Any, ...]] = set()
        self._points: dict[tuple[int, Leaves], Rows | None] = {}
        self._facts: dict[FactId, Reason] = {}

    def prove(self, goal: Proving) -> Any:
        """Carry out a proof and all that it needs."""
        return carried_out(goal)

    def say(self, check: Check) -> None:
        """Note what a proof says, so that it is known to be so in all the data."""
        if self.strict and not is_so(self.case, check):
            raise Unsound(check)

    def once(self, key: tuple[Any, ...], goal: Proving) -> Proving:
        """The proof of a claim, the same one wherever it is needed."""
        if key in self._open:
            return Reason("note", "as shown above")
        if key not in self._known:
            self._open.add(key)
            self._known[key] = yield goal
            self._open.discard(key)
        return self._known[key]

    # -- facts --------------------------------------------------------------------------------------------------------

    def fact(self, id_: FactId) -> Reason:
        """A fact of the input as a reason; it counts as used."""
        self.used[id_] = None
        known = self._facts.get(id_)
        if known is None:
            fact = self.case.fact(id_)
            said = f"happens at {fact.time}" if fact.value is None else f"is given at {fact.time}" \
                if fact.end is None else f"is given for [{fact.time}, {fact.end})"
            known = self._facts[id_] = Reason("fact", f"{fact} {said}", fact=fact, time=fact.time)
        return known

    # -- events -------------------------------------------------------------------------------------------------------

    def happening(self, template: str, leaves: Leaves, time: int) -> Proving:
        """Why an event happens (an input, or by a rule)."""
        if template in self.world.streams:
            found = self.world.facts_like(template, leaves, time, time + 1)
            return self.fact(found[0]) if found else self.unknown(event_text(template, leaves))
        return (yield self.once(("event", template, leaves, time), self._derived(template, leaves, time)))

    def _derived(self, template: str, leaves: Leaves, time: int) -> Proving:
        for clause in self.model.of_kind("event"):
            if clause.template == template:
                applied = yield self.applied(clause, leaves, time, time + 1)
                if applied is not None:
                    text = f"{event_text(template, leaves)} happens at {time}"
                    return Reason("happens", text, (applied,), time=time, level=self.model.levels.get(template))
        return self.unknown(event_text(template, leaves))

    def unknown(self, claim: str) -> Reason:
        """A claim that is so, but of which no rule was found that is so in all the data."""
        self.say(Unproved(claim))
        return Reason("note", f"{claim}: no rule was found", holds=None)

    # -- rules --------------------------------------------------------------------------------------------------------

    def points(self, clause: Clause, leaves: Leaves) -> Rows | None:
        """All ways in which a clause applies to a head, at any time."""
        key = (clause.number, leaves)
        if key not in self._points:
            self._points[key] = self._found_points(clause, leaves)
        return self._points[key]

    def _found_points(self, clause: Clause, leaves: Leaves) -> Rows | None:
        folded = self.case.compiler.folded(clause)
        bound = None if folded is None else head_binding(folded, leaves)
        if folded is None or bound is None:
            return None
        follower = Follower(self.case, folded)
        seeded = self.world.seed(bound, follower.types(list(bound)))
        if seeded is None:
            return None
        try:
            steps = follower.steps(folded.body, seeded[0])
        except Rejected:
            return None
        rows = self.world.runner(seeded[1]).evaluate(steps[-1][1] if steps else seeded[0])
        return rows if isinstance(rows, Rows) and rows.timed and rows.length else None

    def applied(self, clause: Clause, leaves: Leaves, low: int, high: int) -> Proving:
        """The first application of a clause to a head in `[low, high)` that is one in all the data; None without."""
        rows = self.points(clause, leaves)
        if rows is None:
            return None
        inside = self.world.timeline.inside
        mask = (rows.time >= inside(low)) & (rows.time < inside(high))
        places = sorted(mask.nonzero()[0].tolist(), key=lambda place: int(rows.time[place]))
        place = next((place for place in places if self.is_so(self._applies(clause, rows, place))), None)
        return None if place is None else (yield self.application(clause, rows, place))

    def is_so(self, check: Check) -> bool:
        """Whether something holds in all the data too: proofs say nothing else."""
        return self.world is self.case.whole or is_so(self.case, check)

    def _applies(self, clause: Clause, rows: Rows, place: int) -> Applies:
        """What an application says; counts may differ, as long as they lead to the same."""
        folded = self.case.compiler.folded(clause)
        assert folded is not None
        steps = Follower(self.case, folded)._counted(folded.body)
        counts = {name for step in steps if isinstance(step, Tally) for name in variables_in(step.amount)}
        free = _computed_from(counts, steps)
        binding = self.world.binding(rows, place)
        return Applies(folded, tuple((name, term) for name, term in binding.items() if name not in free),
                       self.world.time(rows.time[place]))

    def application(self, clause: Clause, rows: Rows, place: int) -> Proving:
        """A rule with its bindings, and why each of its conditions holds."""
        folded = self.case.compiler.folded(clause)
        assert folded is not None
        binding = self.world.binding(rows, place)
        time = self.world.time(rows.time[place])
        self.say(self._applies(clause, rows, place))
        reasons: list[Reason] = []
        for step in Follower(self.case, folded)._counted(folded.body):
            reasons.append((yield self.condition(step, folded, binding, time)))
        declared = yield self.declared(folded, binding)
        if declared is not None and not any(declared.reasons == (reason,) for reason in reasons):
            reasons.append(declared)  # what a condition has named already need not be said again
        return self.rule(clause, tuple(reasons), {**binding, **time_binding(folded, time)}, time)

    def rule(self, clause: Clause, reasons: tuple[Reason, ...], binding: Binding, time: int | None = None, *,
             holds: bool | None = True) -> Reason:
        """The node of a rule; arguments of its head that background knowledge fixes are bound too."""
        folded = self.case.compiler.folded(clause)
        fixed = None if folded is None else head_binding(clause, folded.leaves)
        known = {**(fixed or {}), **binding}
        head = {name: known[name] for name in variables_in(clause.leaves) if name in known}
        return Reason("rule", f"rule for {clause.template}", reasons, holds, time,
                      rule=AppliedRule(head_text(self.case.program.texts, clause.span), clause.span),
                      bindings=bindings_text({**head, **known}))

    def declared(self, clause: Clause, binding: Binding) -> Proving:
        """Which fact brings an entity into the domain that the input fills; None if there is nothing to say."""
        domain = None if clause.kind == "terminated" else self.case.compiler.domain_of_body(clause)
        if domain is None or not any(True for _ in n.references_of(domain)):
            return None
        row = {name: binding[name] for name in n.names(domain.fields) if name in binding}
        return (yield self.once(("declared", clause.number, *row.items()), self._declared(domain, row)))

    def _declared(self, domain: n.Node, row: Binding) -> Proving:
        found = yield witness(self, domain, row)
        if found is None or found.kind == "background":
            return found
        return Reason("background", "declared by its grounding", (found,))  # a fact about others may be the one

    # -- conditions ----------------------------------------------------------------------------------------------------

    def condition(self, step: Step, clause: Clause, binding: Binding, time: int) -> Proving:
        """Why a condition of a rule holds."""
        if isinstance(step, Tally):
            return (yield self._counted(step, clause, binding, time))
        ground = substitute(step, {**binding, **time_binding(clause, time)})
        match ground:
            case Happens(event):
                return (yield self.happening(*flatten(event), time))
            case Holds(pair):
                template, leaves = pair_leaves(pair)
                if self.model.is_point_event(template):
                    return (yield self.happening(template, leaves, time))
                return (yield self.holding(template, leaves, time, time + 1))
            case Boundary(kind, pair):
                return (yield self._boundary(kind, *pair_leaves(pair), time))
            case Changed(kind, pair):
                template, leaves = pair_leaves(pair)
                found = yield self.change(kind, template, leaves, time, time + 1)
                return found or self.unknown(worded(ground))
            case Not():
                return (yield self.absent(ground, clause, binding, time))
            case Call(predicate) if functor_of(predicate) in self.model.dynamic:
                node = self.case.compiler.sources.table(step)  # type: ignore[arg-type]
                row = {name: binding[name] for name in n.names(node.fields) if name in binding}
                found = yield witness(self, node, row)
                return found or Reason("background", worded(ground))
            case Call():
                return (yield from_background(self, ground))
            case Compare() | Is() | Function():
                return Reason("test", worded(ground))
        return self.unknown(worded(ground))

    def absent(self, negated: Not, clause: Clause, binding: Binding, time: int) -> Proving:
        """A condition that must not hold, and what keeps it from holding, if anything did."""
        if len(negated.goals) == 1 and isinstance(negated.goals[0], Holds):
            template, leaves = pair_leaves(negated.goals[0].pair)
            if not self.model.is_point_event(template):
                return (yield self.not_holding(template, leaves, time))
        tests = all(isinstance(goal, Compare | Is | Function) for goal in negated.goals)
        kind: Kind = "test" if tests else "absence"
        return Reason(kind, worded(negated), time=None if tests else time)

    def _counted(self, tally: Tally, clause: Clause, binding: Binding, time: int) -> Proving:
        """A count: each answer that was counted."""
        known = len(self.used)
        inner = Clause(clause.number, clause.kind, clause.template, clause.leaves, tally.goals, clause.time)
        outer = {name: term for name, term in binding.items() if name in variables_in(tally.goals)}
        found = application(self.world, inner, outer, time, numbers=True)
        reasons: list[Reason] = []
        alike: Counter[tuple[str, Leaves]] = Counter()
        amount = found[0].length if found else 0
        proved = min(amount, MOST_ANSWERS) if self.few else amount
        self.left_out |= proved < amount
        for row in range(proved):
            assert found is not None
            answer = dict(binding) | self.world.binding(found[0], row)
            for step in found[1]:
                ground = substitute(step, answer) if isinstance(step, Happens) else None
                template, leaves = ("", ()) if ground is None else flatten(ground.event)
                if template in self.world.streams:  # facts that the engine does not tell apart are counted one by one
                    places = self.world.facts_like(template, leaves, time, time + 1)
                    reasons.append(self.fact(places[alike[template, leaves] % len(places)]))
                    alike[template, leaves] += 1
                else:
                    reasons.append((yield self.condition(step, clause, answer, time)))
        self.counted |= dict.fromkeys(list(self.used)[known:])
        if proved < amount:
            reasons.append(Reason("note", f"and {amount - proved} more"))
        there = found if self.world is self.case.whole else \
            application(self.case.whole, inner, outer, time, numbers=True)
        total = there[0].length if there else 0
        of_all = "" if total == amount else f" of {total}"
        goals = ", ".join(map(worded, substitute(tally.goals, {**outer, **time_binding(clause, time)})))
        return Reason("test", f"{amount}{of_all} answer{'' if max(amount, total) == 1 else 's'} to {goals}",
                      tuple(reasons), time=time)

    def together(self, goals: tuple[Condition, ...], clause: Clause, binding: Binding, time: int) -> list[Reason]:
        """One way in which conditions of a clause hold together; nothing if there is none."""
        outer = {name: term for name, term in binding.items() if name in variables_in(goals)}
        found = application(self.world, replace(clause, body=goals), outer, time, numbers=True)
        if found is None:
            return []
        answer = dict(binding) | self.world.binding(found[0], 0)
        return [self.prove(self.condition(step, clause, answer, time)) for step in found[1]]

    def _boundary(self, kind: str, template: str, leaves: Leaves, time: int) -> Proving:
        """The start or end of an interval as an event."""
        node = self.case.compiler.sources.fluent(template, leaves)
        for interval in self.world.intervals(node):
            start, end = interval.stretch
            if kind == "end" and end is not None and end - self.tick == time:
                inner = yield self.holding(template, leaves, end - 1, end, ends=True)
            elif kind != "end" and (start if kind == "startI" else start - self.tick) == time:
                inner = yield self.holding(template, leaves, start, start + 1, begins=True)
            else:
                continue
            return Reason("happens", f"{kind}({pair_text(template, leaves)}) happens at {time}", (inner,), time=time)
        return self.unknown(f"{kind}({pair_text(template, leaves)})")

    def before(self, time: int) -> int:
        """The time-point of the grid before a time."""
        offset = time - self.world.timeline.origin
        return self.world.time((offset - 1) // self.tick * self.tick)

    # -- fluents, in other modules ------------------------------------------------------------------------------------

    @abstractmethod
    def holding(self, template: str, leaves: Leaves, low: int, high: int | None, *, begins: bool = False,
                ends: bool = False) -> Proving:
        """Why a fluent holds during `[low, high)`; with `begins`, why not before, with `ends`, why not after."""

    @abstractmethod
    def not_holding(self, template: str, leaves: Leaves, time: int) -> Proving:
        """A fluent does not hold at a time: when and by what it was ended, if it held before."""

    @abstractmethod
    def change(self, kind: str, template: str, leaves: Leaves, low: int, high: int) -> Proving:
        """The first initiation (or termination) of a value in `[low, high)`; None if there is none."""


def time_binding(clause: Clause, time: int) -> dict[str, Term]:
    """The value of a clause's time variable."""
    return {clause.time.name: Number(time)} if isinstance(clause.time, Variable) else {}


def _computed_from(names: set[str], steps: Sequence[Step]) -> set[str]:
    """Variables whose values follow from some others by computation."""
    found = set(names)
    for _ in steps:
        for step in steps:
            if isinstance(step, Is) and set(variables_in(step.expression)) & found:
                found |= set(variables_in(step.target))
            elif isinstance(step, Function) and set(variables_in(step.inputs)) & found:
                found |= set(variables_in(step.outputs))
    return found


def head_text(texts: Mapping[str, str], span: Span | None) -> str:
    """The head of a rule as its author wrote it."""
    rows = texts.get(span.source, "").splitlines() if span else []
    if span is None or span.line > len(rows):
        return ""
    lines = rows[span.line - 1:span.end_line]
    text = " ".join(" ".join(lines)[span.column - 1:].split())
    return text.partition(" :-")[0].partition(":-")[0].rstrip(".")
