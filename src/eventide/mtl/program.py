"""DatalogMTL programs as users hold them: checked, run, read. Streams and sessions live beside it."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from eventide.algebra.text import to_text
from eventide.analysis.mtl.memory import Memory, memory_of
from eventide.analysis.mtl.model import MtlModel
from eventide.analysis.mtl.passes import analyse
from eventide.analysis.patterns import leaf_count, name_of
from eventide.engine.answers import arguments
from eventide.engine.recognition import Counts
from eventide.engine.relation import unpack
from eventide.errors import InputError, ProgramError, RuleError, refuse_errors
from eventide.formats.problems import refuse_text
from eventide.mtl.cells import DenseFacts
from eventide.mtl.facts import read_facts
from eventide.mtl.materialisation import Compiled, Materialisation
from eventide.mtl.results import MtlResult, joined_tables, predicate_table
from eventide.notebook import program_html
from eventide.syntax.diagnostics import Diagnostic, Diagnostics, errors_first
from eventide.syntax.mtl import parse as parse_rules

if TYPE_CHECKING:  # one answer over all facts needs none of them
    from eventide.mtl.reasoning import Choice
    from eventide.mtl.session import MtlSession
    from eventide.mtl.streaming import Streaming, Times

Horizon = Fraction | int | str


class MtlProgram:
    """A checked DatalogMTL program. Make one with `eventide.load("x.mtl")` or `eventide.parse(…, language="mtl")`.

    >>> import eventide as ev
    >>> program = ev.parse("Late(X) :- <>-[2,3] Sent(X).", language="mtl")
    >>> program.fluents
    ['Late']
    >>> print(program.explain_plan())
    level 1
      Late(_) :=
        union
          fluent given Late(_)(1)
          call X as 1
            dilate by [4, 6]
              fluent Sent(_)(X)
    >>> len(program.read({"Sent": pa.table({"time": ["1/3", "2"], "x": ["a", "b"]})}))
    2
    """

    def __init__(self, texts: Mapping[str, str]) -> None:
        self.texts = dict(texts)
        parsed = [parse_rules(text.removeprefix("\ufeff"), source) for source, text in texts.items()]
        self.model: MtlModel = analyse([rule for part in parsed for rule in part.rules],
                                       [problem for part in parsed for problem in part.diagnostics])

    # -- what it is -------------------------------------------------------------------------------------------------

    def check(self) -> list[Diagnostic]:
        """Every problem found, errors first; an empty list means that nothing is wrong.

        >>> import eventide as ev
        >>> [d.code for d in ev.parse("P(X) :- <>+[0,1] Q(X), not R(Y).", language="mtl").check()]
        ['looks-ahead', 'unsafe-variable']
        """
        return Diagnostics(errors_first(self.model.diagnostics), self.texts)

    def _repr_html_(self) -> str:
        model = self.model
        rows = [[model.levels.get(template, 0), template, "derived" if template in model.defined else "given"]
                for template in model.predicates]
        return program_html("DatalogMTL program", ("level", "name", "is"), sorted(rows, key=lambda row: row[0]),
                            Diagnostics(errors_first(model.diagnostics), self.texts)._repr_html_())

    def require_sound(self) -> None:
        """Raise ProgramError with every error found, if there is one."""
        refuse_errors(self.model.diagnostics, self.texts)

    def explain_plan(self) -> str:
        """The plan as an indented tree, level by level; operators count in cells, two for each step of the grid."""
        self.require_sound()
        return to_text(self.compiled.on_grid(self.compiled.denominator()).plan)

    def explain_spark(self) -> str:
        """How the program is spread over buckets of entities on Spark: what owns rows, and what is sent.

        >>> import eventide as ev
        >>> print(ev.parse("Near(X) :- <>-[0,1] Seen(X), Open.", language="mtl").explain_spark())
        reading
          send given Near(_) by argument 1 to stage 1
          send Seen(_) by argument 1 to stage 1
          send Open to all buckets to stage 1
        stage 1
          Near(_) by 1
        """
        text: str = import_module("eventide.spark.mtl").explained(self)  # by name: Spark stands above programs
        return text

    @property
    def fluents(self) -> list[str]:
        """The names of the predicates that the program derives."""
        return list(dict.fromkeys(name_of(template) for template in self.model.defined))

    @property
    def known(self) -> Collection[tuple[str, int]]:
        """Every predicate of the rules, by name and number of arguments: facts may be given of all of them."""
        return [(name_of(template), leaf_count(template)) for template in self.model.predicates]

    def reads(self, name: str) -> bool:
        """Whether facts of a predicate are read."""
        return any(name == known for known, _ in self.known)

    @cached_property
    def memory(self) -> Memory:
        """What a stream must hold of the program: window, granularity, history, the bounds of the paper."""
        return memory_of(self.model.rules)

    @cached_property
    def compiled(self) -> Compiled:
        """The program with its plans."""
        self.require_sound()
        return Compiled(self.model)

    # -- running ----------------------------------------------------------------------------------------------------

    def read(self, events: object, **options: Any) -> DenseFacts:
        """The facts of files or tables; those that no rule reads are noted."""
        return read_facts(events, known=self.known, **options)

    def materialisation(self, events: object, *, horizon: Horizon | None = None, **options: Any) -> Materialisation:
        """Facts loaded and ready to be evaluated; `run` does this and collects the answers."""
        self.require_sound()
        facts = events if isinstance(events, DenseFacts) else self.read(events, **options)
        return Materialisation(self.compiled, facts, time_of("horizon", horizon))

    def run(self, events: object, *, horizon: Horizon | None = None, fluents: Sequence[str] | None = None,
            step: Horizon | None = None, at: str | Times | None = None, variant: Choice | None = None,
            **options: Any) -> MtlResult:
        """The maximal intervals of every derived predicate over all facts.

        `events` is a path, a table, a dict of tables by predicate, or a list of these. With a `horizon` nothing later
        is asked for; without one, rules that go on for ever are followed for a while, and `result.cut` says so. With
        `step`, `at` or `variant` the facts are taken in as a stream, as `stream` says.

        >>> import eventide as ev
        >>> program = ev.parse("Steady(X) :- []-[0,4] <>-[0,2] Sig(X).", language="mtl")
        >>> program.run({"Sig": pa.table({"time": ["0", "3/2", "7/2", "5"], "x": ["a"] * 4})}).timeline()
        {'Steady(a)': ['[4,7]']}
        """
        if step is not None or at is not None or variant is not None:
            stream = self.stream(events, step=step, at=at, variant=variant or "auto", horizon=horizon, fluents=fluents,
                                 **options)
            table = stream.table()
            return MtlResult(table, Counts(facts=stream.report.facts, queries=stream.report.steps),
                             until=stream.until)
        wanted = self.wanted(fluents)
        run = self.materialisation(events, horizon=horizon, **options)
        try:
            run.run()
        except RuleError as error:
            raise self.placed(error) from error
        return result_of(run, wanted)

    def stream(self, events: object, *, step: Horizon | None = None, points: bool = False, variant: Choice = "auto",
               at: str | Times | None = None, horizon: Horizon | None = None, fluents: Sequence[str] | None = None,
               **options: Any) -> Streaming:
        """The facts taken in as a stream, `step` at a time (with `points`, stopping at each time of the facts).

        Its `table()` is the answer up to the horizon, or as long as anything changes: as intervals, or `at` some times
        only (`points`, `every:1/2`, a list). `variant` says how, with #-facts (`hash`) or by `algorithm-1`.

        >>> import eventide as ev
        >>> program = ev.parse("Steady(X) :- []-[0,4] <>-[0,2] Sig(X).", language="mtl")
        >>> table = pa.table({"time": [0, 1, 3, 5, 6], "x": ["a"] * 5})
        >>> stream = program.stream({"Sig": table}, step=2)
        >>> MtlResult(stream.table(), Counts()).timeline()
        {'Steady(a)': ['[4,8]']}
        >>> stream.report.variant
        'hash'
        """
        from eventide.mtl.streaming import Moments, Streaming

        facts = events if isinstance(events, DenseFacts) else self.read(events, **options)
        return Streaming(self.compiled, facts, self.wanted(fluents), step=time_of("step", step), points=points,
                         variant=variant, at=None if at is None else Moments.of(at), end=time_of("horizon", horizon))

    def session(self, *, delay: Horizon | None = None, variant: Choice = "auto",
                fluents: Sequence[str] | None = None) -> MtlSession:
        """A session: facts are inserted and retracted, `advance` says what changes.

        With a `delay`, facts may come so much later than they begin; what is older is settled and forgotten.

        >>> import eventide as ev
        >>> program = ev.parse("Late(X) :- <>-[2,2] Sent(X), not Arrived(X).", language="mtl")
        >>> session = program.session()
        >>> session.insert({"Sent": pa.table({"time": [3], "x": ["a"]})})
        >>> session.advance(to=10).added.select(["args", "start", "end"]).to_pylist()
        [{'args': 'a', 'start': '5', 'end': '5'}]
        """
        from eventide.mtl.session import MtlSession

        return MtlSession(self.compiled, self.wanted(fluents), self.read, delay=time_of("delay", delay),
                          variant=variant)

    def restore(self, state: bytes) -> MtlSession:
        """The session that `session.save()` gave as bytes, to go on with; the rules must be the same.

        >>> import eventide as ev
        >>> program = ev.parse("Late(X) :- <>-[2,2] Sent(X), not Arrived(X).", language="mtl")
        >>> session = program.session()
        >>> session.insert({"Sent": pa.table({"time": [3], "x": ["a"]})})
        >>> program.restore(session.save()).advance(to=10).added.select(["args", "start"]).to_pylist()
        [{'args': 'a', 'start': '5'}]
        """
        from eventide.mtl.checkpoint import from_bytes
        from eventide.mtl.session import MtlSession

        def session(wanted: Sequence[str], **options: Any) -> MtlSession:
            return MtlSession(self.compiled, wanted, self.read, **options)

        return from_bytes(state, session)

    def wanted(self, fluents: Sequence[str] | None) -> list[str]:
        """The predicates to report, as templates; InputError for names that the rules do not have."""
        refuse_text("fluents", fluents)
        if fluents is None:
            return list(self.model.defined)
        known = {name_of(template) for template in self.model.predicates}
        unknown = [name for name in fluents if name not in known]
        if unknown:
            raise InputError(f"the program has no {', '.join(unknown)}; it derives {', '.join(self.fluents)}")
        return [template for template in self.model.predicates if name_of(template) in fluents]

    def placed(self, error: RuleError) -> ProgramError:
        """An error of running rules as a diagnostic at a rule it is about."""
        rules = [rule for rule in self.model.rules if rule.head.template in error.definitions]
        problem = Diagnostic("error", error.code, error.message, rules[0].span if rules else None, error.hint)
        return ProgramError(problem.render(), [problem])


def time_of(name: str, time: Horizon | None) -> Fraction | None:
    """A time that a user gives: a whole number, a fraction, or its text.

    >>> time_of("horizon", "7/2")
    Fraction(7, 2)
    """
    if time is None:
        return None
    try:
        return Fraction(time)
    except (ValueError, TypeError, ZeroDivisionError, OverflowError):
        raise InputError(f"{name} is {time!r}; expected a number such as 12, 7/2 or 3.5") from None


def result_of(run: Materialisation, wanted: Sequence[str]) -> MtlResult:
    """The rows of some predicates."""
    tables: list[pa.Table] = []
    for template in wanted:
        relation = run.relations[template]
        if len(relation):
            columns = unpack(relation.space, relation.fields, relation.intervals.starts)
            texts = arguments(template, relation.fields, columns, relation.space, len(relation))
            tables.append(predicate_table(name_of(template), texts, *run.cells(template), run.denominator))
    return MtlResult(joined_tables(tables), Counts(facts=run.facts, queries=1), until=run.until,
                     cut=[name_of(template) for template in run.cut])


def program_of(texts: Mapping[str, str], background: Iterable[object] = ()) -> MtlProgram:
    """The program of some texts by their sources; background there is none: all that is known has its time."""
    if isinstance(background, str | os.PathLike | Mapping) or list(background):
        raise InputError("a DatalogMTL program has no background; give its facts with the events, for all times as "
                         "P(a)@(-inf,inf)")
    return MtlProgram(texts)
