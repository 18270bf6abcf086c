"""Programs as users hold them: loaded, checked, run. The languages, the engine and the formats meet here."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

import pyarrow as pa

from eventide.algebra.nodes import Output, Plan, needed_for
from eventide.algebra.text import to_text
from eventide.analysis.beginning import asking_for_the_beginning
from eventide.analysis.clashes import numbers_among_words
from eventide.analysis.entities import references
from eventide.analysis.inline import Inlined
from eventide.analysis.model import Model
from eventide.analysis.passes import PASSES, Pass, analyse
from eventide.analysis.patterns import leaf_count, name_of
from eventide.analysis.uncertainty import uncertain_rules, without_probabilities
from eventide.engine.answers import facts_of
from eventide.engine.background import add_background
from eventide.engine.bounds import Bound, bounds_of
from eventide.engine.checkpoint import Reader
from eventide.engine.formerly import former_of
from eventide.engine.incremental import Evaluation
from eventide.engine.loading import Store, distinct_facts, load_stream, load_table
from eventide.engine.recognition import Recognition, Settings
from eventide.engine.retained import Batch, Retained, batch_of
from eventide.engine.session import Session, whole_number
from eventide.engine.swap import taken_over
from eventide.engine.windowed import WindowedRun
from eventide.errors import InputError, ProgramError, RuleError, refuse_errors
from eventide.formats import Coded, column_of, facts_from
from eventide.formats.background import Relation as BackgroundTable
from eventide.formats.background import rules_and_tables
from eventide.formats.facts import Facts, FactTable
from eventide.formats.files import rule_text
from eventide.formats.numbers import with_numbers, without_words, word_in
from eventide.formats.problems import input_error, refuse_text, settled
from eventide.notebook import program_html
from eventide.results import Answers, Progress, Result
from eventide.syntax.diagnostics import Diagnostic, Diagnostics, Span, errors_first
from eventide.syntax.event_calculus import parse as parse_rules
from eventide.syntax.terms import Atom, Compound, Number, Term, Variable
from eventide.syntax.trees import ChangeRule, Compare, Condition, EventRule, FindAll, InitialRule, Is, Not, Rule

if TYPE_CHECKING:  # crisp recognition starts without them
    from eventide.probability.events import History
    from eventide.probability.intervals import Threshold
    from eventide.probability.recognition import UncertainRecognition, Uncertainty
    from eventide.probability.session import UncertainSession, UncertainWindows

RULE_ENDINGS = (".ec", ".prolog", ".pl")
OTHER_LANGUAGES = {".mtl": "mtl", ".lars": "lars"}
"""Languages with programs of their own, by ending: `eventide.<language>.program` is loaded when one is asked for."""
Emit = Literal["timeline", "windows", "changes"]
_SMALL_TABLE = 20_000


class Program:
    """A checked program. Make one with `eventide.load` or `eventide.parse`.

    >>> import eventide as ev
    >>> program = ev.parse("initiatedAt(rich(X)=true, T) :- happensAt(win(X), T).")
    >>> program.fluents
    ['rich']
    >>> print(program.explain_plan())
    level 1
      rich(_) :=
        inertia rich(_)(X)=value
          initiated true:
            event win(_)(X)
    >>> facts = program.read({"win": pa.table({"time": [3], "who": ["ann"]})})  # checked once, for several runs
    >>> program.run(facts).timeline()
    {'rich(ann)=true': [(4, None)]}
    """

    def __init__(self, rules: Sequence[Rule], diagnostics: Sequence[Diagnostic], texts: Mapping[str, str],
                 tables: Sequence[BackgroundTable], predicates: Mapping[str, Callable[..., Any]] | None = None,
                 passes: Sequence[Pass] = PASSES, inlined: Inlined | None = None) -> None:
        self.texts = dict(texts)
        self._tables = {table.name: table for table in tables}
        self._predicates = dict(predicates or {})
        arities = {table.name: len(table.columns) for table in tables}
        inputs = {name: _inputs_of(name, function) for name, function in self._predicates.items()}
        self.model: Model = analyse(rules, tables=arities, lookup=partial(_lookup, self._tables), functions=inputs,
                                    diagnostics=diagnostics, passes=passes, inlined=inlined)
        self._check_tables()

    # -- what it is -------------------------------------------------------------------------------------------------

    def check(self) -> list[Diagnostic]:
        """Every problem found, errors first; an empty list means that nothing is wrong.

        >>> import eventide as ev
        >>> [d.code for d in ev.parse("initiatedAt(f(X)=true, T) :- holdsAt(g(X)=true, T).").check()]
        ['unbound-time', 'undeclared-input']
        """
        return Diagnostics(errors_first(self.model.diagnostics), self.texts)

    def _repr_html_(self) -> str:
        model = self.model
        rows = [[0, template, "input event" if kind == "event" else "input fluent"]
                for template, kind in model.inputs.items()]
        rows += [[model.levels.get(output.definition, 1), output.template if output.value is None else
                  f"{output.template}={output.value}", output.kind] for output in model.outputs]
        return program_html("Event Calculus program", ("level", "name", "is"), sorted(rows, key=lambda row: row[0]),
                            Diagnostics(errors_first(model.diagnostics), self.texts)._repr_html_())

    def explain_plan(self) -> str:
        """The plan as an indented tree, level by level."""
        self.require_sound()
        model = self.model
        background = f"background\n{to_text(model.background)}\n" if model.background.strata else ""
        return f"{background}{to_text(model.plan)}"

    def explain_spark(self) -> str:
        """How the program is spread over buckets of entities on Spark: stages, what owns rows, what is sent.

        >>> import eventide as ev
        >>> print(ev.parse("initiatedAt(rich(X)=true, T) :- happensAt(win(X), T).").explain_spark())
        reading
          send win(_) by argument 1 to stage 1
        stage 1
          rich(_) by X
        """
        self.require_sound()
        planner = import_module("eventide.spark.partitioning")  # by name: Spark stands above programs
        text: str = planner.to_text(planner.partitioned(self.model.plan, self.model.open_types))
        return text

    def bounds(self, horizon: int | None = None) -> dict[str, Bound]:
        """What a session must hold of each input and result, told before anything runs.

        >>> import eventide as ev
        >>> program = ev.parse("initiatedAt(rich(X)=true, T) :- happensAt(win(X), T).")
        >>> program.bounds()["rich(_)"].text
        'the window'
        """
        session = self._session()
        return bounds_of(session.plan, session.store, horizon)

    @property
    def fluents(self) -> list[str]:
        """The names of the fluents and events the program derives."""
        return list(dict.fromkeys(name_of(output.template) for output in self.model.outputs))

    def require_sound(self) -> None:
        """Raise ProgramError with every error found, if there is one."""
        refuse_errors(self.model.diagnostics, self.texts)

    def _check_tables(self) -> None:
        """Words in columns of background tables that the rules compute with."""
        for (kind, name, place) in self.model.numeric:
            table = self._tables.get(name.rpartition("/")[0]) if kind == "t" else None
            if table is not None and place < len(table.columns):
                problem = word_in(table.columns[place], table.source, place, table.name)
                if problem is not None:
                    self.model.diagnostics.append(problem)

    # -- inputs -----------------------------------------------------------------------------------------------------

    @cached_property
    def _inputs(self) -> dict[str, list[str]]:
        """The templates of the inputs by name."""
        result: dict[str, list[str]] = {}
        for template in self.model.inputs:
            result.setdefault(name_of(template), []).append(template)
        return result

    @property
    def input_names(self) -> Mapping[tuple[str, int], str]:
        """The templates of the inputs by name and number of arguments."""
        return {(name_of(template), leaf_count(template)): template for template in self.model.inputs}

    def reads(self, name: str) -> bool:
        """Whether an event or fluent is an input of the program."""
        return name in self._inputs

    def read(self, events: object, **options: Any) -> Facts:
        """The facts of files or tables, checked against what the program knows."""
        inputs = self.model.inputs

        def declared(name: str) -> Any:
            templates = self._inputs.get(name)
            return inputs[templates[0]] if templates else None

        def arities(name: str) -> Iterable[int]:
            return sorted({leaf_count(template) for template in self._inputs.get(name, ())})

        def places(slots: Iterable[tuple[str, str, int]]) -> dict[tuple[str, int], list[int]]:
            found: dict[tuple[str, int], list[int]] = {}
            for (kind, template, place) in slots:
                if template in inputs and (kind == "e") == (inputs[template] == "event"):
                    found.setdefault((name_of(template), leaf_count(template)), []).append(place)
            return found

        facts = facts_from(events, declared, arities=arities, names=sorted(self._inputs),
                           derived=[name for name in self.fluents if name not in self._inputs], **options)
        typed = with_numbers(facts, places(numbers_among_words(self.model)))
        checked = without_words(typed, places(self.model.numeric))
        if checked.bad_count == facts.bad_count:
            return checked
        return settled(checked, options.get("bad_rows", "fail"), options.get("bad_file"))

    def counts(self, template: str) -> bool:
        """Whether rules count the facts of an input: then equal ones are one."""
        return template in self.model.counted

    def background_store(self) -> Store:
        """The values of rules and background, coded; facts are still to come."""
        return self._store(Facts())

    def _store(self, facts: Facts) -> Store:
        store = Store(functions=self._predicates)
        counted = self.model.counted
        types = {*self.model.types.values(), *self.model.variable_types.values()}
        for type_, constants in self.model.constants.items():
            for constant in constants:
                store.domain(type_).code(_value(constant))
        for type_ in types - {"number", "unused", "declared"}:
            store.domain(type_)
        for template, kind in self.model.inputs.items():
            table = _facts_about(template, facts)
            if table is not None and template in counted:
                table = distinct_facts(table)
            load_stream(store, template, kind, self._column_types(template), table)
        for (name, arity), rows in self.model.knowledge.facts.items():
            columns = [column_of([_value(row[i]) for row in rows]) for i in range(arity)]  # type: ignore[misc]
            self._load_table(store, f"{name}/{arity}", columns, len(rows))
        for name, relation in self._tables.items():
            self._load_table(store, f"{name}/{len(relation.columns)}", list(relation.columns), len(relation))
        try:
            add_background(store, self.model.background)
        except RuleError as error:
            raise self.placed(error) from error
        return store

    def _column_types(self, template: str) -> list[str]:
        """The types of an input's arguments, for fluents followed by that of the value."""
        slot, value = ("e", 0) if self.model.inputs[template] == "event" else ("f", 1)
        return [self.model.types.get((slot, template, i), "unused") for i in range(leaf_count(template) + value)]

    def _load_table(self, store: Store, name: str, columns: list[Any], length: int) -> None:
        types = [self.model.types.get(("t", name, i), "unused") for i in range(len(columns))]
        load_table(store, name, types, columns, length)

    # -- running ----------------------------------------------------------------------------------------------------

    def recognition(self, events: object, settings: Settings, *, fluents: Sequence[str] | None = None,
                    **options: Any) -> Recognition:
        """Facts loaded and ready to be evaluated; `run` does this and collects the answers."""
        self.require_certain()
        facts = events if isinstance(events, Facts) else self.read(events, **options)
        return Recognition(self.model.plan, self.wanted(fluents), self._store(facts), self._built,
                           frozenset(self.model.open_types), settings)

    def derived(self, facts: Facts, fluents: Sequence[str], forever: int) -> list[FactTable]:
        """What is recognised of these fluents and events, as facts with their values; open ends are `forever`."""
        run = self.recognition(facts, Settings(), fluents=fluents)
        try:
            executor = run.run()
        except RuleError as error:
            raise self.placed(error) from error
        found = [facts_of(wanted, result, executor.space, forever) for wanted in run.wanted
                 if (result := executor.results.get(wanted.definition)) is not None]
        return [each for each in found if len(each)]

    def uncertain_recognition(self, events: object, settings: Settings, uncertainty: Uncertainty, *,
                              fluents: Sequence[str] | None = None, **options: Any) -> UncertainRecognition:
        """The same over facts with probabilities; ProgramError for rules that have none yet, if they are needed."""
        from eventide.probability.recognition import UncertainRecognition

        wanted = self.wanted(fluents)
        plan = self.uncertain_plan(fluents)
        facts = events if isinstance(events, Facts) else self.read(events, **options)
        run = UncertainRecognition(plan, wanted, self._store(facts), self._built, frozenset(self.model.open_types),
                                   settings)
        run.uncertainty = uncertainty
        return run

    def uncertain_plan(self, fluents: Sequence[str] | None = None) -> Plan:
        """What of the plan these results need; ProgramError if a rule of it has no probabilities yet."""
        self.require_sound()
        plan = self._needed(self.wanted(fluents))
        needed = {definition.name for stratum in plan.strata for definition in stratum.definitions}
        refuse_errors(without_probabilities(self.model, needed), self.texts)
        return plan

    def _needed(self, wanted: Sequence[Output]) -> Plan:
        return needed_for(self.model.plan, [output.definition for output in wanted])

    def require_beginning(self, start: int | None) -> None:
        """Raise ProgramError if rules ask for the beginning of time, and a session or a stream is not given it."""
        refuse_errors([] if start is not None else asking_for_the_beginning(self.model), self.texts)

    def require_certain(self) -> None:
        """Raise ProgramError if the program is wrong, or has rules with a probability."""
        self.require_sound()
        refuse_errors(uncertain_rules(self.model), self.texts)

    def with_certain_rules(self) -> Program:
        """The program as if its rules with a probability always applied."""
        if not uncertain_rules(self.model):
            return self
        rules = [replace(rule, probability=None) if isinstance(rule, ChangeRule | EventRule | InitialRule) else rule
                 for source, text in self.texts.items() for rule in parse_rules(text, source).rules]
        return Program(rules, [], self.texts, list(self._tables.values()), self._predicates)

    def history_matters(self, facts: Facts | None = None, fluents: Sequence[str] | None = None) -> list[str]:
        """What of these results, and of those below them, the histories `marginal` and `exact` can differ in.

        With facts, those that have a probability count.

        >>> import eventide as ev
        >>> rules = "initiatedAt({0}(X)=true, T) :- happensAt({1}(X), T){2}."
        >>> two = [rules.format("rich", "win", ""), rules.format("glad", "meet", ", holdsAt(rich(X)=true, T)")]
        >>> ev.parse(" ".join(two)).history_matters()
        ['glad(_)']
        """
        from eventide.probability.events import differing

        def uncertain(template: str) -> bool:
            table = None if facts is None else _facts_about(template, facts)
            return facts is None or (table is not None and table.probability is not None)

        chances = any(clause.probability is not None for clause in self.model.clauses)
        if not chances and not any(uncertain(template) for template in self.model.inputs):
            return []
        return differing(self._needed(self.wanted(fluents)), self.model.inputs, uncertain)

    @property
    def _built(self) -> frozenset[str]:
        return frozenset(template for kind, template, _ in self.model.types if kind == "build")

    def wanted(self, fluents: Sequence[str] | None) -> list[Output]:
        """The results to report; InputError for names that the program does not derive."""
        refuse_text("fluents", fluents)
        if fluents is not None:
            unknown = [f for f in fluents if f not in self.fluents]
            if unknown:
                raise InputError(f"the program derives no {', '.join(unknown)}; it derives {', '.join(self.fluents)}")
        return [output for output in self.model.outputs if fluents is None or name_of(output.template) in fluents]

    def run(self, events: object, *, window: int | None = None, step: int | None = None, start: int | None = None,
            end: int | None = None, tick: int = 1, emit: Emit = "timeline", fluents: Sequence[str] | None = None,
            initially_at: int = 0, ties: str = "termination", horizon: int | None = None,
            progress: Progress | None = None, probabilistic: bool = False, threshold: Threshold | None = None,
            history: History | None = None, **options: Any) -> Result:
        """Recognise: the maximal intervals of every fluent over the events.

        `events` is a path, a pandas, polars, Arrow or Spark table, a dict of tables by event name, or a list of them.
        A Spark DataFrame is fetched; `ev.spark.run` leaves the facts where they are.

        With `probabilistic`, facts count with their probabilities and every row has one: stretches of constant
        probability, or with a `threshold` the probabilistic maximal intervals. `history` says what of the past counts
        for fluents that depend on others: `marginal` (default) or `exact`.

        >>> import eventide as ev
        >>> program = ev.parse("initiatedAt(rich(X)=true, T) :- happensAt(win(X), T).")
        >>> import pyarrow as pa
        >>> result = program.run(pa.table({"time": [3], "event": ["win"], "who": ["ann"]}))
        >>> result.to_arrow().select(["args", "start", "end"]).to_pylist()
        [{'args': 'ann', 'start': 4, 'end': None}]
        """
        _check_numbers(window=window, step=step, start=start, end=end, tick=tick, initially_at=initially_at,
                       horizon=horizon)
        settings = Settings(window, step, start, end, tick, initially_at, ties)
        uncertainty = uncertainty_of(probabilistic, threshold, history)
        answers = self.answers(events, settings, emit=emit, fluents=fluents, horizon=horizon, progress=progress,
                               uncertainty=uncertainty, **options)
        table = pa.concat_tables([answer.table for answer in answers]).unify_dictionaries()
        return Result(table, answers.counts)

    def answers(self, events: object, settings: Settings, *, emit: Emit = "timeline",
                fluents: Sequence[str] | None = None, horizon: int | None = None, progress: Progress | None = None,
                uncertainty: Uncertainty | None = None, **options: Any) -> Answers:
        """A run whose rows come one query time after the other; `run` collects them."""
        run: Recognition | WindowedRun | UncertainWindows
        whole = settings.window is None and settings.step is None
        if uncertainty is not None:
            if horizon is not None:
                raise InputError("Allen relations have no probabilities yet; leave out the horizon")
            if whole:
                run = self.uncertain_recognition(events, settings, uncertainty, fluents=fluents, **options)
            else:
                run = self.uncertain_windows(events, settings, uncertainty, fluents, **options)
        elif whole and horizon is None:
            run = self.recognition(events, settings, fluents=fluents, **options)
        else:
            self.require_certain()
            session = self._session(window=settings.window, start=settings.start, tick=settings.tick,
                                    initially_at=settings.initially_at, ties=settings.ties, horizon=horizon,
                                    fluents=fluents)
            run = WindowedRun(session, events if isinstance(events, Facts) else self.read(events, **options), settings)
        return Answers(run, emit, self.placed, progress)

    def uncertain_windows(self, events: object, settings: Settings, uncertainty: Uncertainty,
                          fluents: Sequence[str] | None, **options: Any) -> UncertainWindows:
        """A run over windows of uncertain facts."""
        from eventide.probability.session import UncertainWindows

        session = self._uncertain_session(settings, uncertainty, fluents)
        return UncertainWindows(session, events if isinstance(events, Facts) else self.read(events, **options),
                                settings)

    def _uncertain_session(self, settings: Settings, uncertainty: Uncertainty, fluents: Sequence[str] | None,
                           memory: int | None = None, durations: object = None) -> UncertainSession:
        from eventide.probability.session import UncertainSession

        try:
            return UncertainSession(self, settings, uncertainty, fluents, memory, durations)
        except RuleError as error:
            raise self.placed(error) from error

    @overload
    def session(self, *, window: int | None = None, start: int | None = None, tick: int = 1, initially_at: int = 0,
                ties: str = "termination", horizon: int | None = None, fluents: Sequence[str] | None = None,
                evaluation: Evaluation = "auto") -> Session: ...

    @overload
    def session(self, *, probabilistic: Literal[True], window: int | None = None, start: int | None = None,
                tick: int = 1, initially_at: int = 0, fluents: Sequence[str] | None = None,
                threshold: Threshold | None = None, memory: int | None = None, durations: object = None,
                ) -> UncertainSession: ...

    def session(self, *, window: int | None = None, start: int | None = None, tick: int = 1, initially_at: int = 0,
                ties: str = "termination", horizon: int | None = None, fluents: Sequence[str] | None = None,
                evaluation: Evaluation = "auto", probabilistic: bool = False, threshold: Threshold | None = None,
                memory: int | None = None, durations: object = None) -> Session | UncertainSession:
        """A session: facts are inserted and retracted, `advance` says what changes.

        With `probabilistic`, rows have probabilities; with a `threshold` they are maximal intervals, and `memory` and
        `durations` say what is remembered for them, as in `eventide.probability.Recogniser`.

        >>> import eventide as ev
        >>> import pyarrow as pa
        >>> program = ev.parse("initiatedAt(rich(X)=true, T) :- happensAt(win(X), T).")
        >>> session = program.session(window=100)
        >>> session.insert(pa.table({"time": [3], "event": ["win"], "who": ["ann"]}))
        >>> session.advance(to=10).added.select(["args", "start", "end"]).to_pylist()
        [{'args': 'ann', 'start': 4, 'end': None}]
        """
        _check_numbers(window=window, start=start, tick=tick, initially_at=initially_at, horizon=horizon)
        self.require_sound()
        self.require_beginning(start)
        if probabilistic:
            if horizon is not None or evaluation != "auto":
                raise InputError("horizon and evaluation do not go with probabilistic=True")
            uncertainty = uncertainty_of(True, threshold, None)
            assert uncertainty is not None
            return self._uncertain_session(Settings(window, None, start, None, tick, initially_at, ties), uncertainty,
                                           fluents, memory, durations)
        if threshold is not None or memory is not None or durations is not None:
            raise InputError("threshold, memory and durations need probabilistic=True")
        self.require_certain()
        return self._session(window=window, start=start, tick=tick, initially_at=initially_at, ties=ties,
                             horizon=horizon, fluents=fluents, evaluation=evaluation)

    def _session(self, *, window: int | None = None, start: int | None = None, tick: int = 1, initially_at: int = 0,
                 ties: str = "termination", horizon: int | None = None, fluents: Sequence[str] | None = None,
                 evaluation: Evaluation = "auto") -> Session:
        self.require_sound()
        settings = Settings(window, None, start, None, tick, initially_at, ties)
        store = self.background_store()
        inputs: dict[str, Retained] = {}
        for template, kind in self.model.inputs.items():
            inputs[template] = Retained.nothing(template, kind, self._column_types(template),
                                                counted=template in self.model.counted)

        def batches(batch: object, retract: bool) -> dict[str, Batch]:
            facts = batch if isinstance(batch, Facts) else self.read(batch)
            found: dict[str, Batch] = {}
            for template, kept in inputs.items():
                table = _facts_about(template, facts)
                if table is not None:
                    found[template] = batch_of(store, kept.fields, kept.kind, table, retract=retract)
            return found

        session = Session(self.model.plan, self.wanted(fluents), store, inputs, self._built,
                          frozenset(self.model.open_types), settings, batches, horizon, evaluation)
        session.fluents = None if fluents is None else tuple(fluents)
        session.again = partial(self._session, window=window, start=start, tick=tick, initially_at=initially_at,
                                ties=ties, horizon=horizon, fluents=fluents, evaluation=evaluation)
        return session

    @property
    def fingerprint(self) -> str:
        """What makes two programs the same for a saved session."""
        return self._session().fingerprint

    def restore(self, state: bytes, *, swap: bool = False) -> Any:
        """The session that `session.save()` gave as bytes, to go on with; the program must be the same.

        With `swap` the program may be another one: the session goes on with its rules, as after `session.swap`.

        >>> import eventide as ev
        >>> import pyarrow as pa
        >>> program = ev.parse("initiatedAt(rich(X)=true, T) :- happensAt(win(X), T).")
        >>> session = program.session(window=100)
        >>> session.insert(pa.table({"time": [3], "event": ["win"], "who": ["ann"]}))
        >>> session = program.restore(session.save())
        >>> session.advance(to=10).added.select(["args", "start", "end"]).to_pylist()
        [{'args': 'ann', 'start': 4, 'end': None}]
        """
        if isinstance(state, bytes) and state.startswith(b"eventide uncertain session "):
            if swap:
                raise InputError("a session over uncertain facts cannot go on with other rules; begin a new one")
            from eventide.probability.checkpoint import from_bytes

            return from_bytes(self, state)
        saved = Reader(state)
        session = self.session(**saved.options)
        if not swap or (saved.is_of(session.fingerprint, session.store) and (
                not self._predicates or saved.meanings in (None, session.meanings()))):  # functions may do other things
            session.resume(saved)
        else:
            session.swapped = taken_over(former_of(saved), session)
        return session

    def placed(self, error: RuleError) -> ProgramError:
        """An error of running rules as a diagnostic at the rule it is about."""
        model = self.model
        spans = _uses(error.operator, [c for clause in model.clauses for c in clause.body]) if error.operator else []
        named = {c.template for c in model.clauses for name in error.definitions
                 if name == c.template or name.startswith(f"{c.template}=")}
        for clause in model.clauses:
            for condition in clause.body:
                if error.values and isinstance(condition, Is) and isinstance(condition.target, Variable) and \
                        model.variable_types.get((clause.number, condition.target.name)) == error.values:
                    spans.append(condition.span)
            if clause.template in named:  # rules that read what the error is about come first
                first = any(template in named for _, template, _ in references(clause.body))
                spans.insert(0 if first else len(spans), clause.span)
        only = spans[0] if spans and (error.operator is None or len(set(spans)) == 1) else None
        problem = Diagnostic("error", error.code, error.message, only, error.hint)
        return ProgramError(problem.render(), [problem])


def _check_numbers(**given: int | None) -> None:
    """Raise InputError for times and lengths that are no whole numbers, and for a horizon that looks ahead."""
    for name, number in given.items():
        if number is not None:
            whole_number(name, number)
    horizon = given.get("horizon")
    if horizon is not None and horizon < 0:
        raise InputError(f"horizon is {horizon}; it must not be negative")


def uncertainty_of(probabilistic: bool, threshold: Threshold | None, history: History | None) -> Uncertainty | None:
    """How uncertain facts are treated, or None where all count as certain; InputError for options without meaning."""
    if probabilistic:
        from eventide.probability.recognition import Uncertainty

        return Uncertainty(history or "marginal", threshold)
    if threshold is not None or history is not None:
        raise InputError("threshold and history need probabilistic=True")
    return None


def _facts_about(template: str, facts: Facts) -> FactTable | None:
    """The facts of one input."""
    return facts.tables.get((name_of(template), leaf_count(template)))


def _uses(operator: str, conditions: Iterable[Condition]) -> list[Span | None]:
    """Where an arithmetic operator is used."""
    found: list[Span | None] = []
    for condition in conditions:
        sides: tuple[Term, ...] = ()
        if isinstance(condition, Not | FindAll):
            found.extend(_uses(operator, condition.goals))
        elif isinstance(condition, Is):
            sides = (condition.expression,)
        elif isinstance(condition, Compare):
            sides = (condition.left, condition.right)
        while sides:
            inner = [side for side in sides if isinstance(side, Compound)]
            found.extend(condition.span for side in inner if side.functor == operator)
            sides = tuple(argument for side in inner for argument in side.args)
    return found


def _lookup(tables: Mapping[str, BackgroundTable], predicate: tuple[str, int],
            pattern: tuple[Term, ...]) -> list[tuple[Term, ...]] | None:
    """The first rows of a small table that fit a pattern; no method, so that a program is freed with its last use."""
    table = tables.get(predicate[0])
    if table is None or len(table.columns) != predicate[1] or len(table) > _SMALL_TABLE:
        return None
    wanted = [(i, _value(p)) for i, p in enumerate(pattern) if not isinstance(p, Variable)]
    found: list[tuple[Term, ...]] = []
    for row in range(len(table)):
        values = [c[row] if isinstance(c, Coded) else c[row].item() for c in table.columns]
        if all(values[i] == p and type(values[i]) is type(p) for i, p in wanted):
            found.append(tuple(_term(v) for v in values))
            if len(found) > 1:
                break
    return found


def _value(term: Term) -> Any:
    if isinstance(term, Number):
        return term.value
    if isinstance(term, Atom):
        return term.name
    return term


def _term(value: Any) -> Term:
    if isinstance(value, str):
        return Atom(value)
    if isinstance(value, Compound):
        return value
    return Number(value)


def _inputs_of(name: str, function: Callable[..., Any]) -> int:
    """How many columns a registered function takes: its positional parameters."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        raise ProgramError(f"the predicate {name} must be a Python function with named parameters") from None
    if any(p.kind not in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in parameters):
        raise ProgramError(f"the predicate {name} must take a fixed number of columns, one parameter each")
    return len(parameters)


@overload
def parse(text: str, *, background: Iterable[object] = (), source: str = "<text>",
          predicates: Mapping[str, Callable[..., Any]] | None = None, language: Literal["ec"] = "ec") -> Program: ...


@overload
def parse(text: str, *, background: Iterable[object] = (), source: str = "<text>",
          predicates: Mapping[str, Callable[..., Any]] | None = None, language: str) -> Any: ...


def parse(text: str, *, background: Iterable[object] = (), source: str = "<text>",
          predicates: Mapping[str, Callable[..., Any]] | None = None, language: str = "ec") -> Any:
    """A program from text, in the language `ec`, `mtl` or `lars`; `background` and `predicates` as in `load`.

    >>> import eventide as ev
    >>> ev.parse("Late(X) :- <>-[0,5] Sent(X), not Arrived(X).", language="mtl").fluents
    ['Late']
    """
    if language != "ec":
        return _in_language(language, text.removeprefix("\ufeff"), source, background, predicates)
    return _program(source, text.removeprefix("\ufeff"), background, predicates)


def load(path: str | os.PathLike[str], *, background: Iterable[object] = (),
         predicates: Mapping[str, Callable[..., Any]] | None = None) -> Program:
    """A program from a file; its ending says in which language.

    `background` lists `.ec`/`.prolog` files, tables as `NAME=FILE.csv|parquet`, and dicts of tables by name.
    `predicates` are Python functions of whole NumPy columns that the rules may call by name: the first arguments of
    the predicate are the function's parameters; it returns an array of truth values, or one array for each argument
    that follows. A `.mtl` file gives an `MtlProgram`, a `.lars` file a `LarsProgram`; all others a `Program`.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     rules = Path(folder, "rules.ec")
    ...     _ = rules.write_text("initiatedAt(tuna(V)=true, T) :- happensAt(fish(V), T), kind(V, seiner).")
    ...     program = load(rules, background=[{"kind": pa.table({"vessel": ["v1"], "kind": ["seiner"]})}])
    >>> program.fluents, program.check()
    (['tuna'], [])
    """
    file = Path(path)
    if file.suffix in OTHER_LANGUAGES:
        found: Program = _in_language(OTHER_LANGUAGES[file.suffix], rule_text(file), str(path), background, predicates)
        return found
    if file.suffix not in RULE_ENDINGS:
        raise input_error("unknown-ending", "the ending does not say in which language the rules are", os.fspath(path),
                          hint=f"known endings: {', '.join((*RULE_ENDINGS, *OTHER_LANGUAGES))}")
    return _program(str(path), rule_text(file), background, predicates)


def _in_language(language: str, text: str, source: str, background: Iterable[object],
                 predicates: Mapping[str, Callable[..., Any]] | None) -> Any:
    """A program in another language; its module is loaded now, so that those who do not use it need not wait."""
    if language not in OTHER_LANGUAGES.values():
        raise InputError(f"language is {language!r}; known are ec, {', '.join(OTHER_LANGUAGES.values())}")
    if predicates:
        raise InputError("predicates are for Event Calculus programs")
    module = import_module(f"eventide.{language}.program")
    return module.program_of({source: text}, background)


def _program(source: str, text: str, background: Iterable[object],
             predicates: Mapping[str, Callable[..., Any]] | None) -> Program:
    more, tables = rules_and_tables(background, RULE_ENDINGS)
    texts = [(source, text), *more]
    parsed = [parse_rules(content, name) for name, content in texts]
    return Program([rule for one in parsed for rule in one.rules], [d for one in parsed for d in one.diagnostics],
                   dict(texts), tables, predicates)

