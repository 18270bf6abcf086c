"""Why simple fluents hold: what initiated them, what ended them or kept them out, deadlines, initial values."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from math import inf
from typing import Literal

from eventide.algebra import nodes as n
from eventide.analysis.model import Clause
from eventide.analysis.votes import is_objection, is_weighted
from eventide.engine.relation import Rows
from eventide.explanation.following import Follower, head_binding
from eventide.explanation.proof import Kind, Reason
from eventide.explanation.proving import Covers, Leaves, Proofs, Proving, pair_text, when
from eventide.explanation.worlds import Binding, Stretch
from eventide.syntax.terms import Term, Variable, is_ground


class SimpleProofs(Proofs):
    """Proofs about simple fluents."""

    def holding(self, template: str, leaves: Leaves, low: int, high: int | None, *, begins: bool = False,
                ends: bool = False) -> Proving:
        """Why a fluent holds during `[low, high)`; with `begins`, why not before, with `ends`, why not after."""
        key = ("holds", template, leaves, low, high, begins, ends)
        return (yield self.once(key, self._holding(template, leaves, low, high, begins, ends)))

    def _holding(self, template: str, leaves: Leaves, low: int, high: int | None, begins: bool, ends: bool) -> Proving:
        sources = self.case.compiler.sources
        if self.model.is_point_event(template):
            return (yield self.happening(template, leaves, low))
        if sources.is_input(template):
            return (yield self.given(template, leaves, low, high, begins, ends))
        text, level = pair_text(template, leaves), self.model.levels.get(template)
        if template in sources.simple:
            for start, end in self.stretches(template, leaves):
                if Stretch(start, end).covers(low, high):
                    self.say(Covers(template, leaves, start, high))
                    reasons = [(yield self.beginning(template, leaves, start))]
                    if ends and end is not None:
                        reasons.append((yield self.ending(template, leaves, end)))
                    since = f", since {start}" if start < low else ""
                    return Reason("holds", f"{text} {when(low, high)}{since}", tuple(reasons), interval=(start, end),
                                  time=low if high == low + 1 else None, level=level)
        return (yield self.static(template, leaves, low, high, begins, ends))

    def stretches(self, template: str, leaves: Leaves) -> list[Stretch]:
        """The intervals of a value that changes give."""
        node = self.case.compiler.sources.scan(lambda fields: n.Fluent(template, fields), "f", template, leaves)
        return [interval.stretch for interval in self.world.intervals(node)]

    @abstractmethod
    def given(self, template: str, leaves: Leaves, low: int, high: int | None, begins: bool, ends: bool) -> Proving:
        """An input fluent: the facts that cover a stretch."""

    @abstractmethod
    def static(self, template: str, leaves: Leaves, low: int, high: int | None, begins: bool, ends: bool) -> Proving:
        """A statically determined fluent: rules whose intervals cover a stretch."""

    def not_holding(self, template: str, leaves: Leaves, time: int) -> Proving:
        """A fluent does not hold at a time: when and by what it was ended, if it held before."""
        text = f"{pair_text(template, leaves)} does not hold at {time}"
        if all(map(is_ground, leaves)) and template in self.case.compiler.sources.simple:
            broken = yield self.once(("broken", template, leaves, time), self._broken(template, leaves, time))
            if broken is not None:
                return Reason("holds", text, (broken,), time=time, level=self.model.levels.get(template))
        return Reason("absence", text, time=time)

    def _broken(self, template: str, leaves: Leaves, time: int) -> Proving:
        """What ended a fluent last before a time, or kept an initiation from having an effect."""
        latest = max((p for p in self.breaks(template, leaves) if p + self.tick <= time), default=None)
        begun = max((p for p in self.initiations(template, leaves) if p + self.tick <= time), default=None)
        if latest is None or begun is None or latest < begun:
            return None
        return (yield self.ending(template, leaves, latest + self.tick))

    # -- changes -------------------------------------------------------------------------------------------------------

    def initiations(self, template: str, leaves: Leaves, *, initial: bool = True) -> Iterator[int]:
        """The time-points at which a value is initiated (by rules, deadlines and, if `initial`, as an initial one)."""
        yield from (time for time, total in self.votes("initiated", template, leaves).items() if total > 0)
        yield from (self.world.time(t) for t, value in self.fired(template, leaves) if value == leaves[-1])
        if initial and self.is_initial(template, leaves):
            yield self._before_all()

    def breaks(self, template: str, leaves: Leaves) -> Iterator[int]:
        """The time-points at which a value is ended: by a termination, or by another value."""
        begun = self.votes("initiated", template, leaves) if is_weighted(self.model, template) else {}
        for time, total in self.votes("terminated", template, leaves).items():
            if total > 0 and begun.get(time, 0) <= 0:  # where rules have weights, an initiation is stronger
                yield time
        for clause, other in self.others(template, leaves):
            rows = self.points(clause, other)
            for time, value in self.values_of(clause, rows) if rows is not None else ():
                if value != leaves[-1]:
                    yield self.on_grid(self.world.timeline.inside(time))
        yield from (self.world.time(t) for t, value in self.fired(template, leaves) if value != leaves[-1])
        if any(True for _ in self._other_initial(template, leaves)):
            yield self._before_all()

    def votes(self, kind: Literal["initiated", "terminated"], template: str, leaves: Leaves) -> dict[int, float]:
        """The grid points at which rules apply, and the sum of their weights; infinite where one has no weight."""
        rules: dict[int, dict[int, float]] = {}
        clauses = [clause for clause in self.model.of_kind(kind) if clause.template == template]
        for clause in clauses:
            rows = None if is_objection(clause) else self.points(clause, leaves)
            for offset in rows.time.tolist() if rows is not None else ():
                weight = inf if clause.weight is None else clause.weight
                rules.setdefault(self.on_grid(offset), {})[clause.rule] = weight
        against = sum(clause.weight or 0.0 for clause in clauses if is_objection(clause) and clause.value == leaves[-1])
        return {time: sum(weights.values()) + against for time, weights in rules.items()}

    def on_grid(self, offset: int) -> int:
        """The time-point of the grid at which the effect of a rule counts; deadlines fire when they are due."""
        return self.world.time(offset // self.tick * self.tick)

    def is_on_grid(self, time: int) -> bool:
        """Whether effects of rules count at a time."""
        return self.on_grid(self.world.timeline.inside(time)) == time

    def others(self, template: str, leaves: Leaves) -> Iterator[tuple[Clause, Leaves]]:
        """Rules that initiate other values of a fluent, with the heads to ask for."""
        for clause in self.model.of_kind("initiated"):
            if clause.template == template and clause.value != leaves[-1]:
                value = Variable("_") if isinstance(clause.value, Variable) else clause.value
                yield clause, (*leaves[:-1], value)

    def values_of(self, clause: Clause, rows: Rows) -> Iterator[tuple[int, Term]]:
        """The times of a clause's applications, and the value that each initiates."""
        folded = self.case.compiler.folded(clause)
        assert folded is not None
        for place, offset in enumerate(rows.time.tolist()):
            value = folded.value
            yield self.world.time(offset), self.world.binding(rows, place)[value.name] \
                if isinstance(value, Variable) else value

    def fired(self, template: str, leaves: Leaves) -> list[tuple[int, Term]]:
        """The offsets at which deadlines of a fluent fired for these arguments, and the values that they initiated."""
        rows = self.world.executor.fired.get(self.case.compiler.whole(template))
        if rows is None or not rows.length:
            return []
        mask = rows.time >= 0
        for field, leaf in zip(rows.fields[:-1], leaves[:-1], strict=True):
            code = self.world.code(leaf, field.type)
            mask &= rows.column(field.name) == (-1 if code is None else code)
        value = rows.fields[-1]
        return [(int(rows.time[i]), self.world.term(rows.column(value.name)[i].item(), value.type))
                for i in mask.nonzero()[0].tolist()]

    def is_initial(self, template: str, leaves: Leaves) -> bool:
        """Whether a value is given by `initially`."""
        return any(True for _ in self._initial(template, leaves))

    def _initial(self, template: str, leaves: Leaves) -> Iterator[tuple[Clause, Binding]]:
        compiler = self.case.compiler
        for original in self.model.of_kind("initial"):
            clause = compiler.folded(original) if original.template == template else None
            bound = None if clause is None else head_binding(clause, leaves)
            if clause is None or bound is None:
                continue
            follower = Follower(self.case, clause)
            seeded = self.world.seed(bound, follower.types(list(bound)))
            domain = compiler.domain_for(clause, "f")
            if seeded is None:
                continue
            node: n.Node = seeded[0] if domain is None or not domain.fields else n.Join(seeded[0], domain)
            steps = follower.steps(clause.body, node)
            rows = self.world.runner(seeded[1]).evaluate(steps[-1][1] if steps else node)
            assert isinstance(rows, Rows)
            for place in range(rows.length):
                yield original, self.world.binding(rows, place)

    def _other_initial(self, template: str, leaves: Leaves) -> Iterator[tuple[Term, Clause, Binding]]:
        """Other values of a fluent that are given by `initially`."""
        for clause, binding in self._initial(template, (*leaves[:-1], Variable("_"))):
            folded = self.case.compiler.folded(clause)
            assert folded is not None
            value = binding[folded.value.name] if isinstance(folded.value, Variable) else folded.value
            if value != leaves[-1]:
                yield value, clause, binding

    def _before_all(self) -> int:
        """The time-point at which initial values count as initiated."""
        return self.world.time(self.world.timeline.begin) - self.tick

    def beginning(self, template: str, leaves: Leaves, start: int) -> Proving:
        """Why an interval of a simple fluent begins."""
        found = yield self.change("initiated", template, leaves, start - self.tick, start)
        if found is None and self._before_all() == start - self.tick:
            for clause, binding in self._initial(template, leaves):
                return (yield self._initially(clause, binding, template, leaves))
        return found or self.unknown(f"the beginning of {pair_text(template, leaves)} at {start}")

    def _initially(self, clause: Clause, binding: Binding, template: str, leaves: Leaves) -> Proving:
        """An initial value."""
        start = self._before_all() + self.tick
        reasons = [r for r in [(yield self.declared(clause, binding))] if r is not None]
        rule = self.rule(clause, tuple(reasons), binding)
        return Reason("begins", f"{pair_text(template, leaves)} initially, from {start} on", (rule,), time=start)

    def change(self, kind: str, template: str, leaves: Leaves, low: int, high: int) -> Proving:
        """The first initiation (or termination) of a value in `[low, high)`; None if there is none."""
        return (yield self.once((kind, template, leaves, low, high),
                                self._change(kind, template, leaves, low, high)))

    def _change(self, kind: str, template: str, leaves: Leaves, low: int, high: int) -> Proving:
        text, weighted = pair_text(template, leaves), is_weighted(self.model, template)
        found: list[Reason] = []
        by_rules = self.is_on_grid(low) or high == low + 1
        for clause in self.model.of_kind("initiated" if kind == "initiated" else "terminated") if by_rules else ():
            if clause.template == template and (clause.weight is None or clause.weight > 0):
                applied = yield self.applied(clause, leaves, low, high)
                found += [] if applied is None else [applied]
                if found and not weighted:
                    break
        if found:
            said: Kind = "begins" if kind == "initiated" else "ends"
            return Reason(said, f"{text} is {kind} at {found[0].time}", tuple(found), time=found[0].time)
        if kind == "initiated":
            for offset, value in self.fired(template, leaves):
                if value == leaves[-1] and self.world.time(offset) == low:
                    return (yield self.deadline(template, leaves, self.world.time(offset)))
        return None

    def deadline(self, template: str, leaves: Leaves, time: int) -> Proving:
        """Why a delayed effect came: its source was initiated so long before, and not ended since."""
        for original in self.model.of_kind("delay"):
            clause = self.case.compiler.folded(original) if original.template == template else None
            if clause is None or clause.target != leaves[-1]:
                continue
            for amount in self.amounts(clause, leaves):
                source = (*leaves[:-1], clause.value)
                begun = time - amount
                initiated = yield self.change("initiated", template, source, begun, begun + self.tick)
                if initiated is None:
                    continue
                unbroken = Reason("absence", f"nothing ends it before {time}")
                bound = head_binding(clause, source) or {}
                rule = self.rule(original, (initiated, unbroken), bound, time)
                return Reason("begins", f"{pair_text(template, leaves)} is initiated at {time}, "
                              f"{amount} after {pair_text(template, source)}", (rule,), time=time)
        return self.unknown(f"the delayed effect {pair_text(template, leaves)} at {time}")

    def amounts(self, clause: Clause, leaves: Leaves) -> Iterator[int]:
        """How long a delay takes for these arguments."""
        bound = head_binding(clause, (*leaves[:-1], clause.value))
        if bound is None or clause.delay is None:
            return
        follower = Follower(self.case, clause)
        seeded = self.world.seed(bound, follower.types(list(bound)))
        if seeded is None:
            return
        steps = follower.steps(clause.body, seeded[0])
        node = n.Compute(steps[-1][1] if steps else seeded[0], n.Field("$delay", n.NUMBER),
                         follower.expression(clause.delay, clause.span))
        rows = self.world.runner(seeded[1]).evaluate(node)
        assert isinstance(rows, Rows)
        yield from map(int, rows.column("$delay").tolist())

    def ending(self, template: str, leaves: Leaves, end: int) -> Proving:
        """Why an interval of a simple fluent ends: a termination, or another value."""
        low = end - self.tick
        found = yield self.change("terminated", template, leaves, low, end)
        if found is not None:
            return found
        for clause, other in self.others(template, leaves):
            rows = self.points(clause, other) if self.is_on_grid(low) else None
            for time, value in self.values_of(clause, rows) if rows is not None else ():
                if low <= time < end and value != leaves[-1]:
                    replaced = (*leaves[:-1], value)
                    inner = yield self.change("initiated", template, replaced, low, end)
                    return self._replaced(template, leaves, replaced, time, inner)
        for offset, value in self.fired(template, leaves):
            time = self.world.time(offset)
            if value != leaves[-1] and time == low:
                replaced = (*leaves[:-1], value)
                inner = yield self.deadline(template, replaced, time)
                return self._replaced(template, leaves, replaced, time, inner)
        for value, clause, binding in self._other_initial(template, leaves) if low == self._before_all() else ():
            replaced = (*leaves[:-1], value)
            inner = yield self._initially(clause, binding, template, replaced)
            return self._replaced(template, leaves, replaced, low, inner)
        return self.unknown(f"the end of {pair_text(template, leaves)} at {end}")

    def _replaced(self, template: str, leaves: Leaves, other: Leaves, time: int, inner: Reason | None) -> Reason:
        text = f"{pair_text(template, leaves)} gives way to {pair_text(template, other)} at {time}"
        return Reason("ends", text, () if inner is None else (inner,), time=time)
