"""The question why to a DatalogMTL program: what is asked, of which run, and the proof that answers it."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from fractions import Fraction
from typing import Any

from eventide.analysis.mtl.compiler import fields_of
from eventide.analysis.patterns import name_of
from eventide.engine.domains import Value, text_of
from eventide.errors import InputError, RuleError
from eventide.explanation.metric_cases import MetricCase
from eventide.explanation.metric_facts import Args, FactId
from eventide.explanation.metric_proving import MetricProver, atom_text
from eventide.explanation.metric_reduction import MetricClaim, MetricReduction
from eventide.explanation.metric_refuting import MetricRefuter
from eventide.explanation.metric_time import Stretch
from eventide.explanation.metric_worlds import MetricWorld
from eventide.explanation.proof import Proof, Reason
from eventide.formats.expected import TimeUnit
from eventide.formats.problems import suggestion
from eventide.formats.ticks import tick_of
from eventide.mtl.cells import COARSER, MOST, NEVER, DenseFacts
from eventide.mtl.fact_lines import FactProblem, fact_in
from eventide.mtl.program import Horizon, MtlProgram, time_of
from eventide.syntax.terms import template_of

Moment = Fraction | int | float | str | date
"""A time of a question: exact, or with a unit of time a date."""


def explain_metric(program: MtlProgram, events: object, atom: str, at: Moment, *, horizon: Horizon | None = None,
                   **options: Any) -> Proof:
    """Why an atom of a DatalogMTL program holds at a time, or why not.

    The facts of the proof are a minimal set: a run over them alone, with the options `proof.run`, gives the same
    maximal interval with the same ends.

    >>> import eventide as ev
    >>> program = ev.parse("Steady(X) :- []-[0,4] <>-[0,2] Seen(X).", source="steady.mtl", language="mtl")
    >>> facts = ev.mtl.facts_in("Seen(a)@0\\nSeen(a)@1\\nSeen(a)@2\\nSeen(a)@4", "seen.facts")
    >>> print(explain_metric(program, facts, "Steady(a)", at="9/2"))
    Steady(a) holds at 9/2, during [4,6]
    └─ by rule steady.mtl:1 Steady(X) :- []-[0,4] <>-[0,2] Seen(X) with X=a
       └─ []-[0,4] <>-[0,2] Seen(a) holds during [4,6]
          └─ <>-[0,2] Seen(a) holds during [0,6]
             ├─ Seen(a) is given at 0  [seen.facts, row 1]
             ├─ Seen(a) is given at 2  [seen.facts, row 3]
             └─ Seen(a) is given at 4  [seen.facts, row 4]
    <BLANKLINE>
    3 facts of the input, none of which can be left out
    """
    program.require_sound()
    time = moment(at, options.get("time_unit"))
    last = time_of("horizon", horizon)
    if last is not None and time > last:
        raise InputError(f"the time {time} is after the horizon {last}: nothing later is told")
    template, args = parsed_atom(program, atom)
    facts = events if isinstance(events, DenseFacts) else program.read(events, **options)
    try:
        return _Answer(program, facts, template, args, time, last).proof()
    except RuleError as error:
        raise program.placed(error) from error


def moment(value: Moment, unit: TimeUnit | None = None) -> Fraction:
    """A time of a question: a whole number, a fraction, a decimal, or with a unit a date.

    >>> moment("7/2"), moment("3.5"), moment("1970-01-01T00:01", "s")
    (Fraction(7, 2), Fraction(7, 2), Fraction(60, 1))
    """
    tick = None if unit is None or isinstance(value, Fraction) else tick_of(value, unit)
    if isinstance(tick, int):
        return Fraction(tick)
    found = None if isinstance(value, date) else time_of("at", value)  # type: ignore[arg-type]  # a float is exact
    if found is None:
        raise InputError(f"at is {str(value)!r}; expected a number such as 12, 7/2 or 3.5")
    if max(abs(found.numerator), found.denominator) >= MOST:
        raise InputError(f"the time {str(value)!r} does not fit 60 bits; {COARSER}")
    return found


def parsed_atom(program: MtlProgram, text: str) -> tuple[str, Args]:
    """The predicate and the constants that a question is about."""
    if "@" in text:
        raise InputError(f"ask for the atom alone, without @ in '{text}'; the time is given apart (--at)")
    try:
        fact = fact_in(f"{text.rstrip().rstrip('.')}@0")
    except FactProblem:
        fact = None
    if fact is None:
        raise InputError(f"'{text}' is no atom, such as P(a,3)")
    template = template_of(fact.name, len(fact.args))
    known = sorted(program.model.predicates)
    if template not in known:
        same = [other for other in known if name_of(other) == fact.name]
        hint = f"known is {' and '.join(same)}" if same else suggestion(fact.name, map(name_of, known)) or \
            f"known are {', '.join(known)}"
        raise InputError(f"the program knows no {template}; {hint}")
    return template, fact.args


class _Answer:
    """One question about one run."""

    def __init__(self, program: MtlProgram, facts: DenseFacts, template: str, args: Args, at: Fraction,
                 horizon: Fraction | None) -> None:
        self.case = MetricCase(program, facts, template, at, horizon)
        if self.case.whole.run.cut:  # recursion without end is followed as a run does, as far beyond the time asked for
            horizon = max(program.materialisation(facts).last_asked, at + (program.compiled.furthest or 1))
            self.case = MetricCase(program, facts, template, at, horizon)
        self.template, self.at = template, at
        self.cell = self.case.clock.cell(at)
        self.args = tuple(map(self._value, fields_of(self.case.model, template), args))
        self.text = atom_text(name_of(template), self.args)
        self.run = {} if horizon is None else {"horizon": horizon}

    def _value(self, field: Any, value: Value) -> Value:
        """A constant as the run has it: what is written alike is meant."""
        domain = self.case.whole.space.domains[field.type]
        if domain.find(value) >= 0:
            return value
        return next((known for known in domain.values if text_of(known) == text_of(value)), value)

    def proof(self) -> Proof:
        """The answer."""
        stretch = self.case.whole.times(self.template, self.args).around(self.cell)
        if stretch is None:
            reason = MetricRefuter(self.case).refuted(self.template, self.args, Stretch(self.cell, self.cell + 1))
            return Proof(self.text, self.at, False, replace(reason, time=self.at), run=self.run)
        facts, minimal = MetricReduction(self.case, MetricClaim(self.template, self.args, stretch)).minimal()
        world = self.case.world(facts)
        prover = MetricProver(world, sure=True)
        reason = prover.prove(self.template, self.args, stretch)
        needed = [self._needed(facts, fact) for fact in facts if fact not in prover.used]
        if reason.kind == "fact":  # an input explains itself
            reason = Reason("holds", self.text, (reason,))
        clock = self.case.clock
        whole = replace(reason, claim=f"{self.text} holds at {self.at}, {self._extent(self.case.whole, stretch)}",
                        reasons=(*reason.reasons, *needed), time=self.at, interval=clock.bounds(stretch),
                        sides=clock.sides(stretch))
        order = sorted(facts, key=lambda fact: (self.case.rows.span_of(fact), fact))
        return Proof(self.text, self.at, True, whole, tuple(map(self.case.rows.fact, order)), minimal, self.run)

    def _extent(self, world: MetricWorld, stretch: Stretch) -> str:
        when = self.case.clock.when(stretch)
        is_instant = stretch.end - stretch.start == 1
        if stretch.end == world.last != NEVER:
            return f"{'then' if is_instant else when} at least: the horizon is {world.run.until}"
        return "only then" if is_instant else when

    def _needed(self, facts: list[FactId], fact: FactId) -> Reason:
        """What would be so without a fact that the proof does not name."""
        world = self.case.world(other for other in facts if other != fact)
        found = world.times(self.template, self.args).around(self.cell)
        without = f"it would not hold at {self.at}" if found is None else f"it would hold {self.case.clock.when(found)}"
        whole = self.case.whole.times(self.template, self.args).around(self.cell)
        if found == whole:
            without = "it would follow from what is not so"
        known = self.case.rows.fact(fact)
        said = self.case.clock.given(self.case.rows.span_of(fact))
        return Reason("needed", f"{known} {said}: without it, {without}", fact=known, time=known.time)

