"""The question why: what is asked, of which run, and the proof that answers it."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from datetime import date
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

from eventide.algebra.nodes import NUMBER, STAMP, UNUSED
from eventide.analysis.patterns import flatten, leaf_count, name_of
from eventide.engine.domains import text_of
from eventide.engine.recognition import Settings
from eventide.errors import InputError, RuleError
from eventide.explanation.proof import Proof, Reason
from eventide.explanation.proving import Leaves, event_text, pair_text, when
from eventide.explanation.reduction import Claim, Reduction, stretches_in, times_in
from eventide.explanation.refuting import Refuter
from eventide.explanation.worlds import Case, FactId, Stretch, term_of
from eventide.formats.expected import TimeUnit
from eventide.formats.facts import Facts
from eventide.formats.problems import suggestion
from eventide.formats.ticks import HINTS, NOT_WHOLE, tick_of
from eventide.program import Program
from eventide.syntax.printer import term_text
from eventide.syntax.reader import read_clauses
from eventide.syntax.terms import Atom, Compound, Number, Term, is_ground

if TYPE_CHECKING:
    from eventide.mtl.program import Horizon

_TRUE = Atom("true")
_ABOUT = ("holdsAt", "happensAt", "holdsFor", "initiatedAt", "terminatedAt", "not", "\\+")
_EDGES = ("start", "startI", "end")
Time = int | str | date
"""A time-point, or with a unit of time a date."""
_LANGUAGES: dict[str, Literal["lars", "mtl"]] = {"LarsProgram": "lars", "MtlProgram": "mtl"}
"""Of programs by the names of their classes: what is not used is not loaded."""


def explain(program: Any, events: object, fluent: str, at: Time | Fraction | float | None = None, *,
            between: tuple[Time, Time] | None = None, probabilistic: bool = False, start: int | None = None,
            end: int | None = None, tick: int = 1, initially_at: int = 0, ties: str = "termination",
            horizon: Horizon | None = None, **options: Any) -> Proof:
    """Why a fluent has a value at a time, or why not; an event may be asked for too.

    The answer is that of a run over all `events` in one window, with the same options as `Program.run`. The facts of
    the proof are a minimal set: replayed alone they give the same interval. With `between` two query times: what came
    or went meanwhile that changed it. With `probabilistic`: how probable it is, and the most probable explanation. For
    a LARS program: the smallest sets of facts from which an atom follows. With a `time_unit`, dates are times too. Of
    a DatalogMTL program times are exact (`"7/2"`), and nothing after the `horizon` is asked for.

    >>> import eventide as ev
    >>> import pyarrow as pa
    >>> program = ev.parse("initiatedAt(rich(X)=true, T) :- happensAt(win(X), T).", source="rules.ec")
    >>> events = pa.table({"time": [3, 5], "event": ["win", "win"], "who": ["ann", "bob"]})
    >>> print(ev.explain(program, events, "rich(ann)=true", at=7))
    rich(ann)=true holds at 7, from 4 on
    └─ rich(ann)=true is initiated at 3
       └─ by rule rules.ec:1 initiatedAt(rich(X)=true, T) with X=ann, T=3
          └─ win(ann) happens at 3  [<Table>, row 1]
    <BLANKLINE>
    1 fact of the input, none of which can be left out
    """
    run: dict[str, Any] = {"start": start, "tick": tick, "initially_at": initially_at}
    language = language_of(program)
    unit = options.get("time_unit")
    if any(name in options for name in ("window", "step")):
        raise InputError("a question is asked of one window over all facts: leave out window and step")
    if not isinstance(fluent, str):
        raise InputError(f"the question is {fluent!r}; expected a text such as 'rich(ann)=true'")
    if horizon is not None and language != "mtl":
        raise InputError("a horizon goes with programs of DatalogMTL")
    if between is not None:
        if at is not None or probabilistic or end is not None or language != "ec":
            raise InputError("between goes with programs of the Event Calculus, without at, end and probabilistic")
        from eventide.explanation.changes import explain_change

        if len(between) != 2:
            raise InputError(f"between is {between!r}; expected two query times")
        first, last = (time_point(time, unit) for time in between)
        return explain_change(program, events, fluent, (first, last), ties=ties, **run, **options)
    if at is None:
        raise InputError("say at which time (at), or between which query times (between)")
    if language != "ec":
        given = {"start": start is not None, "end": end is not None, "tick": tick != 1, "probabilistic": probabilistic,
                 "initially_at": initially_at != 0, "ties": ties != "termination"}
        if any(given.values()):
            raise InputError(f"explanations of {'LARS' if language == 'lars' else 'DatalogMTL'} have no option "
                             f"{next(name for name in given if given[name])}")
    if language == "mtl":
        from eventide.explanation.metric import explain_metric

        return explain_metric(program, events, fluent, at, horizon=horizon, **options)
    time = time_point(at, unit)
    if language == "lars":
        from eventide.explanation.environments import explain_environments

        return explain_environments(program, events, fluent, time, **options)
    if probabilistic:
        from eventide.explanation.probable import explain_probability

        return explain_probability(program, events, fluent, time, end=end, **run, **options)
    return Explainer(program, events, end=end, ties=ties, **run, **options).why(fluent, time)


def language_of(program: Any) -> Literal["ec", "lars", "mtl"]:
    """The language of a program; InputError for what is none."""
    if isinstance(program, Program):
        return "ec"
    known = _LANGUAGES.get(type(program).__name__)
    if known is None:
        raise InputError("explanations are for programs of the Event Calculus (.ec), of LARS (.lars) and of DatalogMTL "
                         f"(.mtl); this is a {type(program).__name__}")
    return known


def time_of_question(language: Literal["ec", "lars", "mtl"], value: Time, unit: TimeUnit | None) -> int | Fraction:
    """A time of a question to a program of a language; InputError if it is none."""
    if language != "mtl":
        return time_point(value, unit)
    from eventide.explanation.metric import moment

    return moment(value, unit)


def time_point(value: Time | Fraction | float, unit: TimeUnit | None = None) -> int:
    """A time of a question as a time-point: a number, or with a unit a date.

    >>> time_point("7"), time_point("1970-01-01T00:01", "s")
    (7, 60)
    """
    found = tick_of(value, unit)
    if not isinstance(found, int):
        problem = found or NOT_WHOLE
        raise InputError(f"the time {str(value)!r} {problem}; {HINTS[problem]}")
    return found


class Explainer:
    """Answers several questions about one run; `explain` answers one."""

    def __init__(self, program: Program, events: object, *, start: int | None = None, end: int | None = None,
                 tick: int = 1, initially_at: int = 0, ties: str = "termination", **options: Any) -> None:
        if language_of(program) != "ec":
            raise InputError("the proofs of a run are for programs of the Event Calculus (.ec)")
        program.require_certain()
        self.program = program
        self.facts = events if isinstance(events, Facts) else program.read(events, **options)
        self.settings = Settings(None, None, start, end, tick, initially_at, ties)
        self._cases: dict[frozenset[str], Case] = {}

    def why(self, question: str, at: int) -> Proof:
        """Why a fluent has a value at a time (`F(a,b)=v`), or why not; or the same of an event (`E(a)`)."""
        template, texts = self.question(question)
        try:
            return self._answer(template, texts, at)
        except RuleError as error:
            raise self.program.placed(error) from error

    def _answer(self, template: str, texts: list[str], at: int) -> Proof:
        case = self.case(template)
        is_fluent = len(texts) > leaf_count(template)
        leaves = self.leaves(case, template, texts, "f" if is_fluent else "e")
        stretch = None
        if is_fluent:
            found = stretches_in(case.whole, template, leaves)
            stretch = next((s for s in found if s.start <= at and (s.end is None or at < s.end)), None)
            holds = stretch is not None
        else:
            holds = at in times_in(case.whole, template, leaves)
        text = pair_text(template, leaves) if is_fluent else event_text(template, leaves)
        run = {"start": case.run.start, "end": case.run.end, "tick": self.settings.tick,
               "initially_at": self.settings.initially_at, "ties": self.settings.ties}
        if holds:
            reason, facts, minimal = self._why(case, Claim(template, leaves, at, stretch))
            return Proof(text, at, True, reason, tuple(map(case.fact, facts)), minimal, run)
        return Proof(text, at, False, Refuter(case).refuted(template, leaves, at, is_fluent=is_fluent), run=run)

    # -- what is asked ------------------------------------------------------------------------------------------------

    def question(self, text: str) -> tuple[str, list[str]]:
        """The template that a question is about, and its leaves as text."""
        return parsed_question(self.program, text)

    def case(self, template: str) -> Case:
        """The run that answers questions about a fluent or an event."""
        model = self.program.model
        wanted = frozenset({template, *model.parts.get(template, {})})
        if wanted not in self._cases:
            self._cases[wanted] = Case(self.program, self.facts, self.settings, sorted(wanted))
        return self._cases[wanted]

    def leaves(self, case: Case, template: str, texts: list[str], kind: str) -> Leaves:
        """The leaves as values of their domains: what is written alike is meant."""
        result: list[Term] = []
        for place, text in enumerate(texts):
            type_ = self.program.model.types.get((kind, template, place), NUMBER)
            if type_ == UNUSED:  # the run has no such column
                raise InputError(f"no rule reads argument {place + 1} of {template}, so the run knows nothing of it")
            if type_ in (NUMBER, STAMP):  # these have no domain: what occurs is in the column
                number = number_in(text, template)
                stream = case.whole.streams.get(template)
                column = None if stream is None else stream.columns.get(stream.fields[place].name)
                is_float = column is not None and column.dtype.kind == "f"
                result.append(Number(float(number)) if is_float else Number(number))
                continue
            domain = case.whole.space.domains.get(type_)  # with what rules computed
            values = [] if domain is None else domain.values
            found = next((value for value in values if text_of(value) == text), None)
            result.append(_value_of(text) if found is None else term_of(found))
        return tuple(result)

    # -- why ----------------------------------------------------------------------------------------------------------

    def _why(self, case: Case, claim: Claim) -> tuple[Reason, list[FactId], bool]:
        facts, minimal = Reduction(case, claim).minimal()
        reason, prover = claim.proof_in(case.world(facts))
        others = [fact for fact in facts if fact not in prover.used]
        reasons = (*reason.reasons, *(self._needed(case, claim, facts, fact) for fact in others))
        text = reason.claim
        if claim.stretch is not None:
            text = f"{pair_text(claim.template, claim.leaves)} holds at {claim.at}, {_extent(claim.stretch)}"
        order = sorted(facts, key=lambda fact: (case.whole.span_of(fact)[0], fact))
        if reason.kind == "fact":  # an input explains itself
            reason = Reason("holds" if claim.stretch else "happens", text, (reason,))
        whole = replace(reason, claim=text, reasons=reasons or reason.reasons, time=claim.at,
                        interval=claim.stretch and (claim.stretch.start, claim.stretch.end))
        return whole, order, minimal

    def _needed(self, case: Case, claim: Claim, facts: list[FactId], fact: FactId) -> Reason:
        """What would be so without a fact that the proof does not name."""
        others = [other for other in facts if other != fact]
        world = case.world(others)
        without = "it would not happen"
        if claim.holds_in(world):
            without = f"it would follow from what is not so: {Reduction(case, claim).untrue(others)}"
        elif claim.stretch is not None:
            found = stretches_in(world, claim.template, claim.leaves)
            near = [s for s in found if s.start <= claim.at and (s.end is None or claim.at < s.end)]
            without = f"it would hold {_extent(near[0])}" if near else f"it would not hold at {claim.at}"
        known = case.fact(fact)
        return Reason("needed", f"{known} at {known.time}: without it, {without}", fact=known, time=known.time)


def parsed_question(program: Program, text: str) -> tuple[str, list[str]]:
    """The template that a question to a program is about, and its leaves as text; the last of a fluent is its value."""
    clauses, problems = read_clauses(f"{text.rstrip().rstrip('.')} .", "question")
    term = clauses[0].head if len(clauses) == 1 and not problems and clauses[0].body is None else None
    if not isinstance(term, Atom | Compound):
        quoted = "; names with spaces or signs stand in quotes, such as owns(ann,'old car')" if "(" in text else ""
        raise InputError(f"'{text}' is no fluent with its value, such as rich(ann)=true{quoted}")
    if isinstance(term, Compound) and term.functor in ("==", ":", "is") and len(term.args) == 2:
        raise InputError(f"write {term_text(term.args[0])}={term_text(term.args[1])}: a value is given with '='")
    if isinstance(term, Compound) and (term.functor in _ABOUT or (
            term.functor in _EDGES and isinstance(term.args[0], Compound) and term.args[0].functor == "=")):
        inner = term_text(term.args[0]).replace(" = ", "=")
        raise InputError(f"ask for {inner} alone; the time is given apart (--at), and the answer says whether")
    value: Term | None = None
    if isinstance(term, Compound) and term.functor == "=" and len(term.args) == 2:
        term, value = term.args
    template, leaves = flatten(term)
    for leaf in (*leaves, *([] if value is None else [value])):
        if not is_ground(leaf):
            raise InputError(f"{leaf} in '{text}' is a variable; ask for a constant, in quotes if it is '{leaf}'")
    model = program.model
    fluents = {c.template for c in model.of_kind("initiated", "initial", "delay", "static", "runs")}
    fluents |= {name for name, kind in model.inputs.items() if kind != "event"}
    known = sorted(fluents | {c.template for c in model.of_kind("event")} | set(model.inputs))
    if template not in known:
        names = [name_of(name) for name in known]
        same = [name for name in known if name_of(name) == name_of(template)]
        hint = f"known is {same[0]}" if same else suggestion(name_of(template), names) or \
            f"known are {', '.join(known)}"
        raise InputError(f"the program knows no {template}; {hint}")
    if template in fluents:
        return template, [str(leaf) for leaf in (*leaves, value or _TRUE)]
    if value is not None:
        raise InputError(f"{template} is an event and has no value; ask for {event_text(template, leaves)}")
    return template, list(map(str, leaves))


def _value_of(text: str) -> Term:
    """What occurs nowhere: a number, or a word."""
    for read in (int, float) if text.lstrip("-")[:1].isdigit() else ():
        with suppress(ValueError):
            return Number(read(text))
    return Atom(text)


def number_in(text: str, template: str) -> int | float:
    """An argument of a question that rules compute with.

    >>> number_in("2.50", "speed(_,_)"), number_in("-3", "speed(_,_)")
    (2.5, -3)
    """
    for read in (int, float):
        with suppress(ValueError):
            return read(text)
    raise InputError(f"{text} is no number, and the rules compute with this argument of {template}")


def _extent(stretch: Stretch) -> str:
    return when(*stretch).removeprefix("holds ").replace("at ", "only at ")
