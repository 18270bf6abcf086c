"""Why an atom of a DatalogMTL program holds during a stretch of time: pieces that cover it, each with a fact or a rule.

What a cycle derives has its place in the derivation; a proof looks back to earlier ones only, so it never goes round.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from eventide.analysis.patterns import substitute
from eventide.engine.domains import text_of
from eventide.explanation.metric_facts import Args, FactId
from eventide.explanation.metric_formulas import args_of, covered, where, where_all
from eventide.explanation.metric_sure import SURE, original
from eventide.explanation.metric_time import Stretch, between, since
from eventide.explanation.metric_worlds import Binding, MetricWorld
from eventide.explanation.proof import AppliedRule, Kind, Reason
from eventide.explanation.proving import Proving, carried_out
from eventide.explanation.wording import bindings_text
from eventide.syntax.mtl_trees import Compare, Condition, Formula, Holds, Metric, Not, Since
from eventide.syntax.terms import Term, Variable


@dataclass(frozen=True)
class Denial:
    """What a proof says does not hold, and when."""

    number: int
    formula: Formula
    now: Stretch


@dataclass(frozen=True)
class Application:
    """A rule with the values of its variables; its body holds during `body`, its head during `head`."""

    number: int
    binding: Binding
    body: Stretch
    head: Stretch
    rank: int | None = None


class MetricProver:
    """The proofs of one world; with `sure`, of what is derived without denying what is so in all the data."""

    def __init__(self, world: MetricWorld, *, sure: bool = False) -> None:
        self.world, self.clock = world, world.case.clock
        self.used: dict[FactId, None] = {}
        self.denials: list[Denial] = []
        self._doubtful = world.case.uncertain if sure else set()
        self._known: dict[tuple[str, Args, Stretch], Reason] = {}
        self._facts: dict[FactId, Reason] = {}
        self._ids: dict[Reason, FactId] = {}

    def prove(self, template: str, args: Args, now: Stretch) -> Reason:
        """Why an atom holds during a stretch, during all of which it holds in this world."""
        reason: Reason = carried_out(self.holding(self.named(template), args, now))
        return reason

    def prove_formula(self, number: int, formula: Formula, now: Stretch) -> Reason:
        """Why a formula without variables holds during a stretch."""
        reason: Reason = carried_out(self._formula(number, formula, formula, now, None))
        return reason

    def named(self, template: str) -> str:
        """The template under which this world knows what is asked for."""
        name, paren, rest = template.partition("(")
        return f"{name}{SURE}{paren}{rest}" if template in self._doubtful else template

    # -- atoms ------------------------------------------------------------------------------------------------------

    def holding(self, template: str, args: Args, now: Stretch) -> Proving:
        """Why an atom holds; the same proof wherever it is needed."""
        key = (template, args, now)
        if key not in self._known:
            self._known[key] = yield self._holding(template, args, now)
        return self._known[key]

    def _holding(self, template: str, args: Args, now: Stretch) -> Proving:
        name = template.partition("(")[0].removesuffix(SURE)
        text = atom_text(name, args)
        parts: list[tuple[Stretch, Reason]] = []
        for piece, found in self._pieces(template, args, now):
            if isinstance(found, Application):
                parts.append((piece, (yield self._applied(found, piece))))
            else:
                parts.append((piece, self.fact(found)))
        if len(parts) == 1 and parts[0][1].kind == "fact":
            return parts[0][1]
        reasons = [reason if reason.kind == "fact" or len(parts) == 1 else self._said("holds", text, piece, (reason,))
                   for piece, reason in parts]
        return self._said("holds", text, now, tuple(reasons), level=self.world.model.levels.get(template))

    def _said(self, kind: Kind, text: str, now: Stretch, reasons: tuple[Reason, ...] = (), *,
              level: int | None = None) -> Reason:
        return Reason(kind, f"{text} holds {self.clock.when(now)}", reasons, interval=self.clock.bounds(now),
                      sides=self.clock.sides(now), level=level)

    def fact(self, id_: FactId) -> Reason:
        """A fact of the input as a reason; it counts as used."""
        self.used[id_] = None
        known = self._facts.get(id_)
        if known is None:
            fact, span = self.world.case.rows.fact(id_), self.world.case.rows.span_of(id_)
            when = self.clock.given(span)
            known = self._facts[id_] = Reason("fact", f"{fact} is given {when}", fact=fact, time=fact.time)
            self._ids[known] = id_
        return known

    def _pieces(self, template: str, args: Args, now: Stretch) -> Iterator[tuple[Stretch, FactId | Application]]:
        """Facts and applications of rules that cover a stretch, always the one that lasts longest."""
        times, at, place = self.world.times(template, args), now.start, 0
        facts = self.world.facts_like(template.partition("(")[0], args)
        longest: tuple[Stretch, FactId] | None = None
        while at < now.end:
            while place < len(facts) and facts[place][0].start <= at:
                if longest is None or facts[place][0].end > longest[0].end:
                    longest = facts[place]
                place += 1
            best: FactId | Application | None = None
            end = at
            if longest is not None and longest[0].end > at:
                best, end = longest[1], longest[0].end
            if end < now.end:
                applied = self._longest(template, args, Stretch(at, now.end), times.rank(at))
                if applied is not None and applied.head.end > end:
                    best, end = applied, applied.head.end
            assert best is not None, f"no proof of {template}{args} at {at}"
            yield Stretch(at, min(end, now.end)), best
            at = end

    def _longest(self, template: str, args: Args, now: Stretch, rank: int | None) -> Application | None:
        """The application of a rule that gives an atom from the beginning of a stretch on, and lasts longest."""
        found: Application | None = None
        for number in self.world.model.defined.get(template, ()):
            ways = self.world.applications(number, args)
            if ways is None:
                continue
            reaches = [self.world.reach(o.range) for o in reversed(self.world.model.rules[number].operators)]
            starts, ends = ways.heads(reaches)
            rows = np.flatnonzero((starts <= now.start) & (ends > now.start))
            for row in rows[np.argsort(-np.minimum(ends[rows], now.end), kind="stable")].tolist():
                if found is not None and found.head.end >= min(int(ends[row]), now.end):
                    break
                binding, bodies = ways.binding(row), [ways.stretch(row)]
                if rank is not None:
                    bodies = self._derived_before(number, binding, bodies[0], now, rank)
                for body in bodies:
                    head = body
                    for reach in reaches:
                        head = reach.dilated(head)
                    if head.start <= now.start < head.end and (found is None or head.end > found.head.end):
                        found = Application(number, binding, body, head, rank)
        return found

    def _derived_before(self, number: int, binding: Binding, body: Stretch, now: Stretch, rank: int) -> list[Stretch]:
        """When the body of a rule holds by what was derived earlier."""
        window = now
        for operator in self.world.model.rules[number].operators:
            window = self.world.reach(operator.range).back_from(window)
        asked = window.common(body)
        conditions = substitute(self.world.model.rules[number].body, binding)
        return [] if asked is None else where_all(self.world, number, conditions, asked, rank)

    # -- rules ------------------------------------------------------------------------------------------------------

    def _applied(self, found: Application, head: Stretch) -> Proving:
        """A rule with its bindings, and why each of its conditions holds as long as the head needs it."""
        rule = self.world.model.rules[found.number]
        steps = [found.body]
        reaches = [self.world.reach(operator.range) for operator in reversed(rule.operators)]
        for reach in reaches:
            steps.append(reach.dilated(steps[-1]))
        body = head
        for reach, known in zip(reversed(reaches), reversed(steps[:-1]), strict=True):
            body = reach.witness(known, body)
        reasons: list[Reason] = []
        for shown, condition in zip(original(self.world.model, found.number), rule.body, strict=False):
            said, ground = substitute((shown, condition), found.binding)
            reasons.append((yield self._condition(found, said, ground, body)))
        return rule_reason(self.world, found.number, tuple(reasons), found.binding)

    def _condition(self, found: Application, shown: Condition, ground: Condition, now: Stretch) -> Proving:
        match shown, ground:
            case Compare(), _:
                return Reason("test", str(shown))
            case Not(), Not(formula):
                self.denials.append(Denial(found.number, formula, now))
                return self._said("absence", str(shown), now)
        assert not isinstance(shown, Not | Compare) and not isinstance(ground, Not | Compare)
        return (yield self._formula(found.number, shown, ground, now, found.rank))

    def _formula(self, number: int, shown: Formula, formula: Formula, now: Stretch, rank: int | None) -> Proving:
        """Why a formula holds; `shown` is it as its author wrote it."""
        reasons: list[Reason] = []
        match shown, formula:
            case _, Holds():
                return (yield self.holding(formula.template, args_of(formula), now))
            case Metric(_, _, inner), Metric(operator, range_, child):
                reach = self.world.reach(range_)
                back = reach.back_from(now)
                if operator == "[]-":
                    reasons.append((yield self._seen(number, inner, child, back, rank)))
                    return self._said("holds", str(shown), now, tuple(reasons))
                known = where(self.world, number, child, back, rank)
                for piece, seen in covered(now, [(reach.dilated(stretch), stretch) for stretch in known]):
                    reasons.append((yield self._seen(number, inner, child, reach.witness(seen, piece), rank)))
            case Since(_, _, left_shown, right_shown), Since(_, range_, left, right):
                reach = self.world.reach(range_)
                back = reach.back_from(now)
                first = where(self.world, number, left, Stretch(back.start, now.end), rank)
                second = where(self.world, number, right, back, rank)
                for piece, part in covered(now, since(reach, first, second)):
                    seen = piece if part is None else reach.without_now().witness(part, piece)
                    reasons.append((yield self._seen(number, right_shown, right, seen, rank)))
                    meanwhile = None if part is None else between(seen, piece)
                    if meanwhile is not None:
                        reasons.append((yield self._seen(number, left_shown, left, meanwhile, rank)))
        return self._said("holds", str(shown), now, tuple(dict.fromkeys(reasons)))

    def _seen(self, number: int, shown: Formula, formula: Formula, now: Stretch, rank: int | None) -> Proving:
        """Why what an operator asks for holds; of a fact that lasts longer, also when it is asked for."""
        reason = yield self._formula(number, shown, formula, now, rank)
        if reason.kind == "fact" and self.world.case.rows.span_of(self._ids[reason]) != now:
            return self._said("holds", str(shown), now, (reason,))
        return reason


def rule_reason(world: MetricWorld, number: int, reasons: Sequence[Reason], binding: Binding, *,
                holds: bool | None = True) -> Reason:
    """The node of a rule."""
    rule = world.model.rules[number]
    head = {a.name: binding[a.name] for a in rule.head.arguments if isinstance(a, Variable) and a.name in binding}
    known: dict[str, Term] = {**head, **binding}
    texts = world.case.texts
    span = rule.span
    text = "%" if span is None else source_text(texts.get(span.source, ""), span.line, span.column, span.end_line)
    text = str(rule).rstrip(".") if "%" in text else text  # a comment inside
    return Reason("rule", f"rule for {rule.head.name.removesuffix(SURE)}", tuple(reasons), holds,
                  rule=AppliedRule(text, span), bindings=bindings_text(known))


def source_text(text: str, line: int, column: int, end_line: int) -> str:
    """A rule as its author wrote it, on one line."""
    lines = text.splitlines()[line - 1:end_line]
    return " ".join(" ".join(lines)[column - 1:].split()).rstrip(".")


def atom_text(name: str, args: Args) -> str:
    """An atom as text."""
    return f"{name}({','.join(map(text_of, args))})" if args else name
