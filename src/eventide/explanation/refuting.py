"""Why something does not hold: what ended it or kept it out, and the rules that came nearest to beginning it."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from eventide.algebra import nodes as n
from eventide.analysis.bodies import Step, Tally
from eventide.analysis.model import Clause, Rejected
from eventide.analysis.patterns import flatten, pair_leaves, substitute, variables_in
from eventide.analysis.statics import is_atemporal
from eventide.engine.domains import text_of
from eventide.engine.relation import Rows
from eventide.explanation.attempts import Attempt, attempt
from eventide.explanation.following import StaticFollower, head_binding
from eventide.explanation.proof import Kind, Reason
from eventide.explanation.proving import Leaves, event_text, pair_text, time_binding
from eventide.explanation.statics import Prover
from eventide.explanation.witnesses import first_row
from eventide.explanation.wording import worded
from eventide.explanation.worlds import Binding, Case, Interval, Stretch
from eventide.syntax.terms import Term, Variable, is_ground
from eventide.syntax.trees import (
    Allen,
    Boundary,
    Call,
    Changed,
    Compare,
    Condition,
    FindAll,
    Function,
    Guard,
    Happens,
    Holds,
    HoldsFor,
    IntervalOperation,
    Is,
    Not,
)

_NEAREST = 3  # so many rules are shown
_DEEPEST = 4  # so many times it is asked why a condition of a rule did not hold


class Refuter:
    """Tells why something does not hold in all the data of a case."""

    def __init__(self, case: Case) -> None:
        self.case, self.model = case, case.model
        self.world = case.whole
        self.prover = Prover(case, self.world, few=True)
        self._asked: set[tuple[str, Leaves, int]] = set()

    def refuted(self, template: str, leaves: Leaves, at: int, *, is_fluent: bool, depth: int = 0) -> Reason:
        """Why a fluent does not hold, or an event does not happen, at a time."""
        said = pair_text(template, leaves) if is_fluent else event_text(template, leaves)
        claim = f"{said} does not {'hold' if is_fluent else 'happen'} at {at}"
        key = (template, leaves, at)
        if depth > _DEEPEST or key in self._asked:
            return Reason("holds" if is_fluent else "happens", claim, holds=False, time=at)
        self._asked.add(key)
        reasons = list(self._outside(template, leaves, at, is_fluent))
        if not reasons:
            find = self._why_no_fluent if is_fluent else self._why_no_event
            reasons = list(find(template, leaves, at, depth))
            end = self.case.run.settings.end
            if not reasons:
                reasons.append(Reason("absence", "no rule is about these arguments", holds=False))
            if depth == 0 and end is not None and end < at:
                reasons.append(Reason("note", f"the run ends at {end}: later facts do not count", time=end))
            begin = self.case.run.start
            if depth == 0 and any(((table.time if table.end is None else table.end - 1) <= begin).any()
                                  for table in self.case.facts):
                reasons.append(Reason("note", f"the run begins after {begin}: earlier facts do not count", time=begin))
        return Reason("holds" if is_fluent else "happens", claim, tuple(reasons), False, at,
                      level=self.model.levels.get(template))

    # -- what no rule can change --------------------------------------------------------------------------------------

    def _outside(self, template: str, leaves: Leaves, at: int, is_fluent: bool) -> Iterator[Reason]:
        """Values that occur nowhere, and times that the run does not cover."""
        kind = "f" if is_fluent else "e"
        for place, leaf in enumerate(leaves):
            type_ = self.model.types.get((kind, template, place), n.NUMBER)
            domain = self.world.space.domains.get(type_)
            if domain is None or not is_ground(leaf) or self.world.code(leaf, type_) is not None:
                continue
            close = difflib.get_close_matches(str(leaf), [text_of(value) for value in domain.values], 1)
            hint = f"; did you mean {close[0]}?" if close else ""
            yield Reason("absence", f"{leaf} occurs in no fact and in no rule{hint}", holds=False)
            if is_fluent and place == len(leaves) - 1:
                yield from self._other_values(template, leaves, at)
        if at <= self.world.timeline.start:
            yield Reason("note", f"the run begins after {self.world.timeline.start}", holds=False)

    def _undeclared(self, template: str, leaves: Leaves) -> Iterator[Reason]:
        """An entity that groundings leave out, or a value that they do not list."""
        compiler = self.case.compiler
        listed = compiler.listed(template)
        if listed is not None and leaves[-1] not in listed:
            values = ", ".join(map(str, listed))
            yield Reason("absence", f"grounding lists no value {leaves[-1]} of {template}, only {values}", holds=False)
        row = {field.name: leaf for field, leaf in zip(compiler.fields[template], leaves, strict=True)}
        domain = compiler.domain(template)
        if domain is not None and self._has_none([domain], row):
            yield Reason("absence", f"no grounding declares {event_text(template, leaves[:-1])}", holds=False)
        elif listed is None and self._has_none(compiler.pairs(template), row):
            yield Reason("absence", f"no grounding lists {pair_text(template, leaves)}", holds=False)

    def _has_none(self, rows: Sequence[n.Node], leaves: Mapping[str, Term]) -> bool:
        """Whether groundings have no row with these arguments (and this value)."""
        return bool(rows) and all(first_row(self.prover, each, leaves, None) is None for each in rows)

    def _is_undeclared(self, template: str, leaves: Leaves) -> bool:
        """Whether groundings leave an event out, for all rules that could give it."""
        heads = [(clause, head_binding(clause, leaves)) for clause in self.model.about(template, "event")]
        domains = [(self.case.compiler.domain_of_body(clause), bound) for clause, bound in heads if bound is not None]
        return bool(domains) and all(
            domain is not None and first_row(self.prover, domain, bound, None) is None for domain, bound in domains)

    def _no_fact(self, template: str, leaves: Leaves, at: int) -> Iterator[Reason]:
        """The facts of an input that are nearest in time."""
        yield Reason("absence", f"no such fact at {at}", holds=False)
        earlier = self.world.facts_like(template, leaves, self.world.timeline.start, at)[-1:]
        later = self.world.facts_like(template, leaves, at + 1, None)[:1]
        for id_, word in [*((id_, "before") for id_ in earlier), *((id_, "after") for id_ in later)]:
            fact = self.prover.fact(id_)
            yield Reason("note", f"the nearest one {word}", (fact,))

    # -- events -------------------------------------------------------------------------------------------------------

    def _why_no_event(self, template: str, leaves: Leaves, at: int, depth: int) -> Iterator[Reason]:
        if template in self.world.streams:
            yield from self._no_fact(template, leaves, at)
            return
        if self._is_undeclared(template, leaves):
            yield Reason("absence", f"no grounding declares {event_text(template, leaves)}", holds=False)
            return
        yield from self._nearest(self.model.of_kind("event"), template, leaves, at, at + 1, depth)

    # -- fluents ------------------------------------------------------------------------------------------------------

    def _why_no_fluent(self, template: str, leaves: Leaves, at: int, depth: int) -> Iterator[Reason]:
        sources = self.case.compiler.sources
        if sources.is_input(template):
            yield from self._no_fact(template, leaves, at)
            return
        undeclared = list(self._undeclared(template, leaves))
        yield from undeclared
        if undeclared:
            return
        yield from self._other_values(template, leaves, at)
        if template in sources.simple:
            yield from self._why_no_change(template, leaves, at, depth)
        impossible: list[Reason] = []
        for original in self.model.of_kind("static", "runs"):
            clause = self.case.compiler.folded(original) if original.template == template else None
            bound = None if clause is None else head_binding(clause, leaves)
            if clause is None or bound is None:
                continue
            tried = self._tests(clause, bound)
            if any(held is False for _, held in tried.steps):
                impossible.append(self.prover.rule(original, tuple(self._tested(tried)), tried.binding, holds=False))
            else:
                yield from self._static(original, clause, bound, tried, at, depth)
        yield from impossible  # whatever the time: these are further from it
        yield from self._later(template, leaves, at)

    def _other_values(self, template: str, leaves: Leaves, at: int) -> Iterator[Reason]:
        """Which other value the fluent has instead."""
        if template not in self.case.compiler.sources.simple:
            return
        node = self.case.compiler.sources.fluent(template, (*leaves[:-1], Variable("Value")))
        for interval in self.world.intervals(node):
            if interval.stretch.covers(at, at + 1):
                value = interval.binding["Value"]
                yield Reason("note", f"{pair_text(template, (*leaves[:-1], value))} holds instead, "
                             f"since {interval.stretch.start}", interval=interval.stretch)

    def _later(self, template: str, leaves: Leaves, at: int) -> Iterator[Reason]:
        node = self.case.compiler.sources.fluent(template, leaves)
        start = next((i.stretch.start for i in self.world.intervals(node) if i.stretch.start > at), None)
        if start is not None:
            yield Reason("note", f"it holds from {start} on", time=start)

    def _why_no_change(self, template: str, leaves: Leaves, at: int, depth: int) -> Iterator[Reason]:
        """A simple fluent: what ended it, what kept an initiation from having an effect, or why there was none."""
        prover = self.prover
        before = [s for s in prover.stretches(template, leaves) if s.end is not None and s.end <= at]
        begun = max((p for p in prover.initiations(template, leaves) if p + prover.tick <= at), default=None)
        if before:
            start, end = before[-1]
            assert end is not None
            ended = prover.prove(prover.ending(template, leaves, end))
            yield Reason("ends", f"it held during [{start}, {end})", (ended,), interval=(start, end))
        if begun is not None and (not before or begun + prover.tick > (before[-1].end or 0)):
            first = prover.prove(prover.change("initiated", template, leaves, begun, begun + prover.tick))
            ended = prover.prove(prover.ending(template, leaves, begun + prover.tick))
            both = tuple(reason for reason in (first, ended) if reason is not None)
            yield Reason("ends", f"it is initiated at {begun}, and broken at the same time-point, which is stronger",
                         both, time=begun)
        yield from self._outvoted(template, leaves, at)
        since = before[-1].end if before else None
        high = prover.before(at + 1)  # what is initiated then, or later, shows after the time that was asked for
        if since is None or since < high:
            begins = [c for c in self.model.of_kind("initiated") if c.weight is None or c.weight > 0]
            yield from self._nearest(begins, template, leaves, since, high, depth)
        yield from self._no_deadline(template, leaves, at, depth)

    def _outvoted(self, template: str, leaves: Leaves, at: int) -> Iterator[Reason]:
        """The last time at which rules for the value applied, but others had more weight."""
        prover = self.prover
        lost = {time: total for time, total in prover.votes("initiated", template, leaves).items()
                if total <= 0 and time + prover.tick <= at}
        if lost:
            time = max(lost)
            clauses = [c for c in self.model.of_kind("initiated") if c.template == template and c.weight is not None]
            applied = [prover.prove(prover.applied(c, leaves, time, time + prover.tick)) for c in clauses]
            yield Reason("note", f"it is not initiated at {time}: the weights of its rules have the sum {lost[time]:g}",
                         tuple(reason for reason in applied if reason is not None), holds=False, time=time)

    def _no_deadline(self, template: str, leaves: Leaves, at: int, depth: int) -> Iterator[Reason]:
        """Delayed effects that would begin the value: their source does not hold, or not long enough yet."""
        for original in self.model.of_kind("delay"):
            clause = self.case.compiler.folded(original) if original.template == template else None
            if clause is None or clause.target != leaves[-1]:
                continue
            source = (*leaves[:-1], clause.value)
            amounts = list(self.prover.amounts(clause, leaves))
            lasting = [stretch for stretch in self.prover.stretches(template, source) if stretch.covers(at, at + 1)]
            if not amounts:
                inner = Reason("absence", "it has no length for these arguments", holds=False)
            elif lasting:
                inner = self._not_due(template, source, lasting[0], amounts[0], at)
            else:
                inner = self.refuted(template, source, at, is_fluent=True, depth=depth + 1)
            yield self.prover.rule(original, (inner,), head_binding(clause, source) or {}, holds=False)

    def _not_due(self, template: str, source: Leaves, stretch: Stretch, amount: int, at: int) -> Reason:
        """The source of a delayed effect holds: when its deadline is due, if it has one."""
        text = f"{pair_text(template, source)} holds since {stretch.start}"
        begun = [time for time in self.prover.initiations(template, source, initial=False)
                 if stretch.start - self.prover.tick <= time < at]
        if not begun:
            text += ": an initial value starts no deadline"
        else:
            postponable = any(isinstance(clause.value, Variable) or clause.value == source[-1]
                              for clause in self.model.about(template, "postponable"))
            last = max(begun) if postponable else min(begun)
            again = f", is initiated again at {last}" if last >= stretch.start else ""
            text += f"{again}, and the delay of {amount} is over at {last + amount}"
            until = self.world.timeline.until
            text += f", after the end of the run at {until}" if last + amount > until else ""
        return Reason("holds", text, holds=False, time=at, interval=stretch)

    def _nearest(self, clauses: Sequence[Clause], template: str, leaves: Leaves, low: int | None, high: int,
                 depth: int) -> Iterator[Reason]:
        """The rules that came nearest, with what became of their conditions."""
        found: list[tuple[Clause, Attempt]] = []
        for original in clauses:
            clause = self.case.compiler.folded(original) if original.template == template else None
            tried = None if clause is None else attempt(self.world, clause, leaves, low, high)
            if tried is not None and not tried.applies:
                found.append((original, tried))
        found.sort(key=lambda item: (item[1].satisfied - len(item[1].steps), -item[1].satisfied), reverse=True)
        for original, tried in found[:_NEAREST]:
            yield self._rule(original, tried, low, high, depth)
        if len(found) > _NEAREST:
            yield Reason("note", f"{len(found) - _NEAREST} more rules were further from it")

    def _rule(self, original: Clause, tried: Attempt, low: int | None, high: int, depth: int) -> Reason:
        reasons: list[Reason] = []
        failed = False
        for step, held in tried.steps:
            if held is False and not failed:
                failed = True
                reasons.append(self._failed(step, tried, low, high, depth))
            else:
                reasons.append(Reason(_kind(step), _step_text(step, tried), holds=held, time=tried.time))
        binding = {**tried.binding, **(time_binding(tried.clause, tried.time) if tried.time is not None else {})}
        return self.prover.rule(original, tuple(reasons), binding, tried.time, holds=False)

    def _failed(self, step: Step, tried: Attempt, low: int | None, high: int, depth: int) -> Reason:
        """The condition that failed first, and why."""
        text = f"{_step_text(step, tried)} fails first"
        time = tried.time
        ground = None if isinstance(step, Tally) else substitute(step, self._all(tried))
        inner: list[Reason] = []
        match ground:
            case Happens() | Holds() if isinstance(ground, Happens) or self._is_point(ground):
                template, leaves = flatten(ground.event) if isinstance(ground, Happens) else pair_leaves(ground.pair)
                if time is None and template in self.world.streams:
                    inner = list(self._no_fact(template, leaves, high - 1))[1:]
                    text += f": no such {'event' if isinstance(ground, Happens) else 'fact'} {_between(low, high)}"
                elif time is not None and template in self.world.streams and not all(map(is_ground, leaves)):
                    inner = list(self._no_fact(template, leaves, time))[1:]
                elif time is None and depth < _DEEPEST:
                    inner = list(self._nearest(self.model.of_kind("event"), template, leaves, low, high, depth + 1))
                elif time is not None and all(map(is_ground, leaves)):
                    is_fluent = isinstance(ground, Holds)
                    inner = [self.refuted(template, leaves, time, is_fluent=is_fluent, depth=depth + 1)]
            case Holds(pair) if time is not None:
                template, leaves = pair_leaves(pair)
                if all(map(is_ground, leaves)):
                    inner = [self.refuted(template, leaves, time, is_fluent=True, depth=depth + 1)]
            case Boundary(_, pair):
                template, leaves = pair_leaves(pair)
                inner = [self._stretches(template, leaves)]
            case Changed(kind, pair):
                template, leaves = pair_leaves(pair)
                inner = [self._changes(kind, template, leaves)]
            case Not((Holds(pair),)) if time is not None:
                inner = list(self._against(*pair_leaves(pair), time))
            case Not((Happens(event),)) if time is not None:
                template, leaves = flatten(event)
                inner = [self.prover.prove(self.prover.happening(template, leaves, time))]
            case Not() if time is not None and not self._computes(ground):
                assert isinstance(step, Not)
                inner = self.prover.together(step.goals, tried.clause, tried.binding, time)
        return Reason(_kind(step), text, tuple(inner), False, time)

    @staticmethod
    def _computes(negated: Not) -> bool:
        """Whether a negation is about values alone, and says all itself."""
        return all(isinstance(goal, Compare | Is | Function | Call) for goal in negated.goals)

    def _is_point(self, condition: Holds) -> bool:
        return self.model.is_point_event(pair_leaves(condition.pair)[0])

    def _all(self, tried: Attempt) -> dict[str, Term]:
        return {**tried.binding, **(time_binding(tried.clause, tried.time) if tried.time is not None else {})}

    def _against(self, template: str, leaves: Leaves, time: int) -> Iterator[Reason]:
        """Why something holds that must not."""
        if self.model.is_point_event(template):
            yield self.prover.prove(self.prover.happening(template, leaves, time))
            return
        for interval in self.world.intervals(self.case.compiler.sources.fluent(template, leaves)):
            if interval.stretch.covers(time, time + 1):
                ground = substitute(leaves, dict(interval.binding))
                yield self.prover.prove(self.prover.holding(template, ground, time, time + 1))
                return

    def _stretches(self, template: str, leaves: Leaves) -> Reason:
        found = self.world.intervals(self.case.compiler.sources.fluent(template, leaves))
        if not found:
            return Reason("absence", f"{pair_text(template, leaves)} never holds", holds=False)
        shown = ", ".join(_text(interval.stretch) for interval in found[:5])
        more = f" and {len(found) - 5} more" if len(found) > 5 else ""
        return Reason("note", f"{pair_text(template, leaves)} holds during {shown}{more}")

    def _changes(self, kind: str, template: str, leaves: Leaves) -> Reason:
        """When rules initiate or terminate a value; its intervals need not be part of the run."""
        rows = self.world.evaluate(self.case.compiler.sources.changed(kind, template, leaves))
        assert isinstance(rows, Rows)
        times = [self.world.time(time) for time in np.unique(rows.time).tolist()]
        said = f"{pair_text(template, leaves)} is {'' if times else 'never '}{kind}"
        if not times:
            return Reason("absence", said, holds=False)
        more = f" and {len(times) - 5} more" if len(times) > 5 else ""
        return Reason("note", f"{said} at {', '.join(map(str, times[:5]))}{more}")

    # -- statically determined fluents --------------------------------------------------------------------------------

    def _static(self, original: Clause, clause: Clause, bound: Binding, tried: Attempt, at: int,
                depth: int) -> Iterator[Reason]:
        if clause.kind == "runs":
            event = substitute(clause.body[0].event, dict(bound))  # type: ignore[union-attr]
            inner = self.refuted(*flatten(event), at, is_fluent=False, depth=depth + 1)
            yield self.prover.rule(original, (inner,), bound, holds=False)
            return
        follower = StaticFollower(self.case, clause, bound)
        try:
            follower.relation()
        except Rejected:
            return
        assert isinstance(clause.interval, Variable)
        reasons = [*self._emptied(follower, clause, bound),
                   self._list(follower, clause.interval.name, bound, at, depth)]
        reasons += self._tested(tried)
        yield self.prover.rule(original, tuple(reasons), tried.binding, holds=False)

    def _tests(self, clause: Clause, bound: Binding) -> Attempt:
        """What became of the conditions without time; those about variables that only lists bind cannot be tried."""
        tests = [condition for condition in clause.body if is_atemporal(condition)]
        of_lists = {name for condition in clause.body if not isinstance(condition, IntervalOperation)
                    and condition not in tests for name in variables_in(condition)}.difference(bound)
        alone = [condition for condition in tests if of_lists.isdisjoint(variables_in(condition))]
        tried = attempt(self.world, replace(clause, body=tuple(alone)), substitute(clause.leaves, dict(bound)), None, 0)
        held = {} if tried is None else dict(tried.steps)
        return Attempt(clause, bound if tried is None else tried.binding, None,
                       tuple((condition, held.get(condition)) for condition in tests))

    def _tested(self, tried: Attempt) -> Iterator[Reason]:
        failed = False
        for step, held in tried.steps:
            first = held is False and not failed
            failed = failed or first
            yield Reason(_kind(step), _step_text(step, tried) + (" fails first" if first else ""), holds=held)

    def _emptied(self, follower: StaticFollower, clause: Clause, bound: Binding) -> Iterator[Reason]:
        """The conditions on whole lists that take everything from a rule, whatever its other lists hold."""
        failed = False
        for condition in clause.body:
            match condition:
                case Allen(relation, Variable(source), Variable(target)):
                    lists = [[found.stretch for found in self.world.intervals(follower.lists[name], bound)]
                             for name in (source, target)]
                    if any(self.prover.related(relation, first, second) for first in lists[0] for second in lists[1]):
                        continue
                    why, names = "no pair of intervals is in the relation", [source, target]
                case (Guard(Variable(name), nonempty) | Not((Guard(Variable(name), nonempty),))):
                    wanted = nonempty == isinstance(condition, Guard)
                    if bool(self.world.intervals(follower.lists[name], bound)) == wanted:
                        continue
                    why, names = "it is empty" if wanted else "it is not empty", [name]
                case _:
                    continue
            said = worded(substitute(condition, dict(bound)))
            inner = tuple(self._all_of(follower, name, bound) for name in names)
            yield Reason("test", f"{said} fails{'' if failed else ' first'}: {why}", inner, False)
            failed = True

    def _list(self, follower: StaticFollower, name: str, binding: Binding, at: int, depth: int, *,
              wanted: bool = False) -> Reason:
        """Why an interval variable has no interval at a time, or if `wanted` why it has; if it is not so, only that."""
        holds = bool(self._at(follower, name, binding, at))
        condition = follower.origins[name]
        text = f"{worded(substitute(condition, dict(binding)))}: {name} {'holds' if holds else 'does not hold'} at {at}"
        if holds != wanted:
            return Reason("test", text, (), holds, at)
        inner: list[Reason] = []
        match condition:
            case HoldsFor(pair):
                template, leaves = pair_leaves(substitute(pair, dict(binding)))
                if not holds and all(map(is_ground, leaves)):
                    return self.refuted(template, leaves, at, is_fluent=True, depth=depth + 1)
                inner = [] if not holds else list(self._against(template, leaves, at))
            case IntervalOperation():
                inner = list(self._operands(follower, condition, binding, at, depth, wanted))
                inner += self._lengths(follower, condition, binding, at)
            case Allen(_, source, target):
                inner = [self._all_of(follower, term.name, binding) for term in (source, target)
                         if isinstance(term, Variable)]
            case FindAll(goals=(Call(predicate), *_)):
                inner = [self._all_of(follower, str(predicate.args[1]), binding)]  # type: ignore[union-attr]
        return Reason("test", text, tuple(inner), holds, at)

    def _operands(self, follower: StaticFollower, condition: IntervalOperation, binding: Binding, at: int, depth: int,
                  wanted: bool) -> Iterator[Reason]:
        """The operands that decide whether an operation holds; of others that must hold, only that they do."""
        operation, base = condition.operation, condition.base
        taken = condition.inputs if operation in ("complement", "relative_complement") else ()
        first = (base,) if base is not None else () if taken else condition.inputs
        for term in first:
            if isinstance(term, Variable):
                holds = bool(self._at(follower, term.name, binding, at))
                if operation in ("longer", "shorter"):  # what is too short, or too long, decides by its ends
                    yield self._list(follower, term.name, binding, at, depth, wanted=holds)
                elif holds == wanted or operation != "union":
                    yield self._list(follower, term.name, binding, at, depth, wanted=wanted)
        for term in taken:
            if isinstance(term, Variable) and bool(self._at(follower, term.name, binding, at)) != wanted:
                yield self._list(follower, term.name, binding, at, depth, wanted=not wanted)

    def _lengths(self, follower: StaticFollower, condition: IntervalOperation, binding: Binding,
                 at: int) -> Iterator[Reason]:
        if condition.operation in ("longer", "shorter") and isinstance(condition.base, Variable):
            for interval in self._at(follower, condition.base.name, binding, at):
                start, end = interval.stretch
                lasting = (self.world.timeline.until if end is None else end) - start
                amount = substitute(condition.amount, dict(binding))
                word = "longer" if condition.operation == "longer" else "shorter"
                yield Reason("test", f"{_text(interval.stretch)} lasts {lasting}; it must be {word} than {amount}",
                             holds=False, interval=interval.stretch)

    def _at(self, follower: StaticFollower, name: str, binding: Binding, at: int) -> list[Interval]:
        return [interval for interval in self.world.intervals(follower.lists[name], binding)
                if interval.stretch.covers(at, at + 1)]

    def _all_of(self, follower: StaticFollower, name: str, binding: Binding) -> Reason:
        found = self.world.intervals(follower.lists[name], binding)
        shown = ", ".join(_text(interval.stretch) for interval in found[:8]) or "nothing"
        return Reason("note", f"{name} is {shown}{' …' if len(found) > 8 else ''}")


def _step_text(step: Step, tried: Attempt) -> str:
    binding = {**tried.binding, **(time_binding(tried.clause, tried.time) if tried.time is not None else {})}
    if isinstance(step, Tally):
        goals = ", ".join(map(worded, substitute(step.goals, binding)))
        return f"the number of answers to {goals} is {substitute(step.amount, binding)}"
    return worded(substitute(step, binding))


def _between(low: int | None, high: int) -> str:
    """A stretch of time as it is said of events."""
    return f"before {high}" if low is None else f"at {low}" if high == low + 1 else f"from {low} on, before {high}"


def _kind(step: Step) -> Kind:
    if isinstance(step, Tally) or not isinstance(step, Condition):
        return "test"
    return "holds" if isinstance(step, Holds) else "happens" if isinstance(step, Happens) else "background" \
        if isinstance(step, Call) else "absence" if isinstance(step, Not) else "test"


def _text(stretch: Stretch) -> str:
    return f"[{stretch.start}, {'inf' if stretch.end is None else stretch.end})"
