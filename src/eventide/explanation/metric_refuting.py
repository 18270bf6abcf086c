"""Why an atom of a DatalogMTL program does not hold at a time: the rules that came nearest, and what each lacked.

What failed first is told with what is there instead: the nearest stretch before and after, the gap in a stretch that
`[]-` asks for, the proof of what must not hold.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from eventide.analysis.mtl.compiler import fields_of
from eventide.analysis.patterns import name_of, substitute
from eventide.engine.domains import text_of
from eventide.explanation.metric_attempts import MetricAttempt, attempt, last_instant
from eventide.explanation.metric_cases import MetricCase
from eventide.explanation.metric_facts import Args
from eventide.explanation.metric_formulas import args_of, where
from eventide.explanation.metric_proving import MetricProver, atom_text, rule_reason
from eventide.explanation.metric_reduction import instance
from eventide.explanation.metric_time import ALL, Stretch, gaps, joined
from eventide.explanation.proof import Kind, Reason
from eventide.syntax.mtl_trees import Compare, Condition, Formula, Holds, Metric, Not, Since, variables_in

_NEAREST = 3  # so many rules are shown, and so many gaps
_DEEPEST = 4  # so many times it is asked why a condition of a rule did not hold


class MetricRefuter:
    """Tells why something does not hold in all the data of a case."""

    def __init__(self, case: MetricCase) -> None:
        self.case, self.clock, self.world = case, case.clock, case.whole
        self.prover = MetricProver(self.world)
        self._asked: set[tuple[str, Args, Stretch]] = set()

    def refuted(self, template: str, args: Args, at: Stretch, depth: int = 0) -> Reason:
        """Why an atom does not hold at a cell."""
        text = atom_text(name_of(template), args)
        reasons: list[Reason] = []
        key = (template, args, at)
        if depth <= _DEEPEST and key not in self._asked:
            self._asked.add(key)  # a cycle that never began would be gone round in vain
            reasons = list(self._unknown(template, args)) or list(self._why_not(template, args, at, depth))
        return self._failed("holds", text, at, reasons)

    def _failed(self, kind: Kind, text: str, at: Stretch, reasons: list[Reason]) -> Reason:
        return Reason(kind, f"{text} does not hold {self.clock.when(at)}", tuple(reasons), False,
                      interval=self.clock.bounds(at), sides=self.clock.sides(at))

    def _unknown(self, template: str, args: Args) -> Iterator[Reason]:
        """Constants that occur nowhere, where rules do not compute them."""
        for field, value in zip(fields_of(self.world.model, template), args, strict=True):
            domain = self.world.space.domains[field.type]
            if domain.find(value) < 0 and field.type not in self.world.model.open_types:
                close = difflib.get_close_matches(text_of(value), map(text_of, domain.values), 1)
                hint = f"; did you mean {close[0]}?" if close else ""
                yield Reason("absence", f"{text_of(value)} occurs in no fact and in no rule{hint}", holds=False)

    def _why_not(self, template: str, args: Args, at: Stretch, depth: int) -> Iterator[Reason]:
        numbers = self.world.model.defined.get(template, ())
        if not numbers:
            yield from self._no_fact(template, args, at)
            return
        if depth == 0:
            yield from self._around(joined(self.world.times(template, args).pieces), at)
        tries = [tried for number in numbers if (tried := attempt(self.world, number, args, at)) is not None]
        tries.sort(key=lambda tried: -tried.satisfied)
        for tried in tries[:_NEAREST]:
            yield self._rule(tried, depth)
        if len(tries) > _NEAREST:
            yield Reason("note", f"and {len(tries) - _NEAREST} more rules, which came less near", holds=False)
        if not tries:
            yield Reason("absence", "no rule is about these arguments", holds=False)

    def _no_fact(self, template: str, args: Args, at: Stretch) -> Iterator[Reason]:
        """The facts of an input that are nearest in time."""
        yield Reason("absence", f"no such fact {self.clock.when(at)}", holds=False)
        facts = self.world.facts_like(name_of(template), args)
        before = [id_ for span, id_ in sorted(facts, key=lambda pair: pair[0].end) if span.end <= at.start]
        after = [id_ for span, id_ in facts if span.start >= at.end]
        for ids, word in ((before[-1:], "before"), (after[:1], "after")):
            for id_ in ids:
                yield Reason("note", f"the nearest one {word}", (self.prover.fact(id_),))

    def _around(self, known: list[Stretch], at: Stretch) -> Iterator[Reason]:
        """The nearest stretches of something before and after a time."""
        before = [stretch for stretch in known if stretch.end <= at.start]
        after = [stretch for stretch in known if stretch.start >= at.end]
        for stretches, word in ((before[-1:], "before that"), (after[:1], "after that")):
            for stretch in stretches:
                yield Reason("note", f"{word} it holds {self.clock.when(stretch)}",
                             interval=self.clock.bounds(stretch), sides=self.clock.sides(stretch))

    # -- rules ------------------------------------------------------------------------------------------------------

    def _rule(self, tried: MetricAttempt, depth: int) -> Reason:
        """A rule with what became of its conditions."""
        reasons: list[Reason] = []
        failed = False
        for step, held in tried.steps:
            ground = substitute(step, tried.binding)
            if held is False and not failed:
                failed = True
                reasons.append(self._first_to_fail(tried.number, ground, tried.at, depth))
                continue
            kind: Kind = "test" if isinstance(step, Compare) else "absence" if isinstance(step, Not) else "holds"
            when = "" if isinstance(step, Compare) else self.clock.when(tried.at)
            said = f"{ground} holds {when}" if held and when else f"{ground} {when}".rstrip()
            reasons.append(Reason(kind, said, holds=held))
        return rule_reason(self.world, tried.number, reasons, tried.binding, holds=False)

    def _first_to_fail(self, number: int, ground: Condition, at: Stretch, depth: int) -> Reason:
        if isinstance(ground, Compare):
            return Reason("test", f"{ground} fails first", holds=False)
        why = self._denied(number, ground.formula, at) if isinstance(ground, Not) else \
            self._lacking(number, ground, at, depth)
        return Reason("absence" if isinstance(ground, Not) else "holds",
                      f"{ground} fails first, {self.clock.when(at)}", tuple(why), False,
                      interval=self.clock.bounds(at), sides=self.clock.sides(at))

    def _denied(self, number: int, formula: Formula, at: Stretch) -> Iterator[Reason]:
        """The proof of what must not hold."""
        found, _ = instance(self.world, number, formula, at.start)
        yield self.prover.prove_formula(number, found, at)

    def _lacking(self, number: int, formula: Formula, at: Stretch, depth: int) -> Iterator[Reason]:
        """What is there instead of what a formula asks for at a cell."""
        is_open = any(True for _ in variables_in(formula))
        if isinstance(formula, Holds) and not is_open:
            inner = self.refuted(formula.template, args_of(formula), at, depth + 1)
            yield from inner.reasons
        elif isinstance(formula, Metric) and formula.operator == "[]-":
            yield from self._gaps(number, formula, at, depth)
        elif isinstance(formula, Since):
            yield from self._no_since(number, formula, at, depth)
        else:
            inside = formula.child if isinstance(formula, Metric) else formula
            back = self.world.reach(formula.range).back_from(at) if isinstance(formula, Metric) else at
            yield from self._nowhere(number, inside, back, at, depth)

    def _nowhere(self, number: int, formula: Formula, back: Stretch, at: Stretch, depth: int) -> Iterator[Reason]:
        """Something that holds at no time of a stretch: the nearest times, or else what it lacks."""
        if back != at:
            yield self._failed("note", str(formula), back, [])
        known = where(self.world, number, formula, ALL)
        yield from self._around(known, back)
        if not known and isinstance(formula, Holds) and formula.template not in self.world.model.defined:
            yield Reason("absence", "no such fact is given at any time", holds=False)
        elif not known and isinstance(formula, Holds) and not any(True for _ in variables_in(formula)):
            yield from self.refuted(formula.template, args_of(formula), last_instant(back), depth + 1).reasons

    def _gaps(self, number: int, formula: Metric, at: Stretch, depth: int) -> Iterator[Reason]:
        """Where something does not hold that must hold all the time."""
        back = self.world.reach(formula.range).back_from(at)
        child = self._fullest(number, formula.child, back)
        free = gaps(where(self.world, number, child, back), back)
        if len(free) > _NEAREST:
            yield Reason("note", f"{len(free)} gaps, the last of which are", holds=False)
        for gap in free[-_NEAREST:-1]:
            yield self._failed("note", str(child), gap, [])
        why: list[Reason] = []
        if isinstance(child, Holds) and not any(True for _ in variables_in(child)) and \
                child.template in self.world.model.defined:
            why += self.refuted(child.template, args_of(child), last_instant(free[-1]), depth + 1).reasons
        yield self._failed("note", str(child), free[-1], why)

    def _fullest(self, number: int, formula: Formula, back: Stretch) -> Formula:
        """A formula with those values for its variables for which it holds longest in a stretch."""
        if not any(True for _ in variables_in(formula)):
            return formula
        ways = self.world.formula(number, formula)
        rows = ways.within(back).tolist()
        lengths = [(min(ways.stretch(row).end, back.end) - max(ways.stretch(row).start, back.start)) for row in rows]
        return substitute(formula, ways.binding(rows[lengths.index(max(lengths))])) if rows else formula

    def _no_since(self, number: int, formula: Since, at: Stretch, depth: int) -> Iterator[Reason]:
        """The right side of `since` holds at no time in reach, or the left side has a gap after it."""
        back = self.world.reach(formula.range).back_from(at)
        right = self._fullest(number, formula.right, back)
        seen = where(self.world, number, right, back)
        if not seen:
            yield from self._nowhere(number, right, back, at, depth)
            return
        last = seen[-1]
        yield Reason("note", f"{right} holds {self.clock.when(last)}", interval=self.clock.bounds(last),
                     sides=self.clock.sides(last))
        left = self._fullest(number, formula.left, Stretch(last.end - last.end % 2, at.end))
        after = Stretch((last.end - 1) | 1, at.end - at.end % 2)
        for gap in gaps(where(self.world, number, left, after), after)[-1:] if after.start < after.end else ():
            yield self._failed("note", str(left), gap, [])
