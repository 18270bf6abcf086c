"""Learning as users call it: modes and examples in, rules, their file, the learning curve and the trace out."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from eventide.errors import EventideError, InputError, refuse_errors
from eventide.formats.expected import TimeUnit
from eventide.formats.files import rule_text
from eventide.formats.results import whole_file
from eventide.learning.background import is_asp, observations_of
from eventide.learning.committee import Committee, Votes
from eventide.learning.examples import Examples
from eventide.learning.learnable import unlearnable
from eventide.learning.learner import Learner, Report
from eventide.learning.modes import Modes, read_modes
from eventide.learning.prediction import facts_of, predicted
from eventide.learning.race import Race, race_of
from eventide.learning.reading import Observations, targets_of
from eventide.learning.results import Theory, rules_text
from eventide.learning.settings import Settings
from eventide.learning.theory import WeightedRule
from eventide.learning.trace import Step
from eventide.program import Program, parse
from eventide.syntax.diagnostics import Diagnostic
from eventide.syntax.vocabulary import did_you_mean

Progress = Callable[[int, int], None]
METHODS: dict[str, Callable[..., Settings]] = {
    "woled": lambda **changes: Settings().with_(**changes), "paper": Settings.paper, "oled": Settings.oled}
CURVE = pa.schema([("target", pa.string()), ("pass", pa.int64()), ("batch", pa.int64()), ("stream", pa.string()),
                   ("points", pa.int64()), ("tp", pa.int64()), ("fp", pa.int64()), ("fn", pa.int64()),
                   ("mistakes", pa.int64()), ("loss", pa.float64()), ("rules", pa.int64()), ("seconds", pa.float64())])


@dataclass(slots=True, eq=False)
class Target:
    """One fluent: its learner, what it was given last, and how each batch fared."""

    name: str
    learner: Learner | Committee | Race
    examples: Examples
    reports: list[tuple[int, str, Report, int]] = field(default_factory=list)
    """The pass, the stream, the report and the number of rules after each batch."""

    @property
    def theory(self) -> tuple[tuple[WeightedRule, ...], Any]:
        """The rules that count, and how they infer."""
        learner = self.learner.ahead if isinstance(self.learner, Race) else self.learner
        if isinstance(learner, Committee):
            return learner.rules, "vote"
        crisp = learner.settings.method == "oled"
        return learner.taking_part, "crisp" if crisp else learner.settings.inference


class Learned:
    """What was learnt. Learning can go on with `partial_fit`.

    >>> import pyarrow as pa
    >>> learnt = learn(MODES_OF_THE_RICH, {
    ...     "win": pa.table({"time": range(0, 40, 5), "who": ["ann"] * 8}),
    ...     "lose": pa.table({"time": range(3, 40, 5), "who": ["ann"] * 8}),
    ...     "rich": pa.table({"start": range(1, 40, 5), "end": range(4, 43, 5), "who": ["ann"] * 8})}, batch=4)
    >>> print(learnt.rules[0].clause)
    initiatedAt(rich(X), T) :- happensAt(win(X), T).
    >>> learnt.predict().slice(0, 1).select(["args", "start", "end"]).to_pylist()
    [{'args': 'ann', 'start': 1, 'end': 4}]
    """

    def __init__(self, modes: Modes, targets: dict[str, Target], observations: Observations | None,
                 background: Sequence[object], time_unit: TimeUnit | None = None) -> None:
        self.modes, self.targets = modes, targets
        self._background, self._time_unit = background, time_unit
        self._intervals = frozenset[str]()
        """The input fluents that came as intervals, in whatever examples."""
        self._observe(observations)

    @property
    def rules(self) -> tuple[WeightedRule, ...]:
        """The rules of all fluents."""
        return tuple(rule for target in self.targets.values() for rule in target.learner.rules)

    @property
    def trace(self) -> list[Step]:
        """Why rules were added, specialised or dropped, fluent by fluent."""
        return [step for target in self.targets.values() for step in target.learner.trace]

    @property
    def curve(self) -> pa.Table:
        """How each batch fared before its labels were used; `loss` is mistakes so far by batches so far."""
        rows = list(_curve(self.targets.values()))
        return pa.table({name: pa.array([row[i] for row in rows], CURVE.field(name).type)
                         for i, name in enumerate(CURVE.names)})

    @property
    def text(self) -> str:
        """The rules as a file for `eventide run`."""
        theories = []
        for target in self.targets.values():
            rules, inference = target.theory
            remarks = [f"{rule.tp} right, {rule.fp} wrong" if rule.tp + rule.fp else "" for rule in rules]
            theories.append(Theory(rules, target.examples, inference, remarks, self._intervals, self._derived))
        names = ", ".join(self.targets)
        return rules_text(theories, f"Rules for {names}, learnt from examples. Where the weights of the rules that "
                                    "apply have a\npositive sum, the fluent changes. Before each stands how often it "
                                    "was right and wrong.")

    @property
    def warnings(self) -> list[Diagnostic]:
        """What the modes ask for and the examples lack."""
        return [] if self._observations is None else self._observations.unseen()

    @property
    def _derived(self) -> frozenset[str]:
        return frozenset() if self._observations is None else frozenset(self._observations.derived)

    def _observe(self, observations: Observations | None) -> None:
        """Take over what examples say, beside those that are there."""
        self._observations = observations
        if observations is not None:
            self._intervals |= observations.intervals - self._derived

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the rules to a file, whole or not at all."""
        with whole_file(Path(path)) as file:
            file.write(self.text.encode())

    @property
    def program(self) -> Program:
        """The rules as a program, with the background knowledge they were learnt with.

        What clingo derived is among the `facts` instead.
        """
        given = [each for each in self._background if not is_asp(each)]
        return parse(self.text, background=given, source="<learnt rules>")

    def predict(self, examples: object = None, *, target: str | None = None) -> pa.Table:
        """The intervals that the rules find in examples (None: those they were learnt from), which need no labels.

        One row for each interval: `stream`, `fluent`, `args`, `value`, `start`, `end` (null where it is open).
        """
        given = None if examples is None else self._read(examples, labelled=False)[1]
        tables = []
        for name in self.targets if target is None else [self._known(target)]:
            rules, inference = self.targets[name].theory
            found = self.targets[name].examples if given is None else given(name)
            tables.append(predicted(rules, found, inference=inference))
        return pa.concat_tables(tables)

    def facts(self, stream: str | int) -> dict[str, pa.Table]:
        """The facts of a stream by name, as `Program.run` takes them with the rules and their background knowledge."""
        found: dict[str, list[pa.Table]] = {}
        for target in self.targets.values():
            timed, timeless = facts_of(target.examples, stream)
            found |= timed | timeless
        others = {*self.targets, *self._derived}
        if self._observations is not None:
            found |= self._observations.tables_of(stream)
            others |= {name for name, _ in self._observations.timeless if name not in self._observations.given}
        whole = {name: pa.concat_tables(tables, promote_options="permissive") for name, tables in found.items()
                 if name not in others}
        return {name: each.take(np.argsort(each["time"].to_numpy(), kind="stable")) if "time" in each.column_names
                else each for name, each in whole.items()}

    def fit(self, *, batch: int = 100, passes: int = 1, seed: int | None = None,
            progress: Progress | None = None) -> Learned:
        """Learn from the examples that are there."""
        _fit(list(self.targets.values()), batch, passes, seed, progress)
        return self

    def partial_fit(self, examples: object, *, batch: int = 100, passes: int = 1, seed: int | None = None,
                    progress: Progress | None = None) -> Learned:
        """Learn from more examples; the learner itself, so that calls can follow one another."""
        _check_numbers(batch, passes, seed)
        observations, reads = self._read(examples)
        given = {name: reads(name) for name in self.targets}
        for name, each in given.items():
            _check_points(name, each)
        self._observe(observations)
        for name, target in self.targets.items():
            target.examples = given[name]
        return self.fit(batch=batch, passes=passes, seed=seed, progress=progress)

    def _read(self, examples: object, labelled: bool = True) -> tuple[Observations | None, Callable[[str], Examples]]:
        if isinstance(examples, Examples):
            return None, lambda _: examples
        found = observations_of(self.modes, examples, self._background, wanted=list(self.targets), labelled=labelled,
                                time_unit=self._time_unit)
        return found, found.examples

    def _known(self, target: str) -> str:
        return _chosen(target, list(self.targets))[0]


def learn(modes: object, examples: object, *, target: str | Sequence[str] | None = None,
          background: Iterable[object] = (), method: str = "woled", settings: Settings | None = None, members: int = 0,
          race: bool = False, batch: int = 100, passes: int = 1, seed: int | None = None,
          time_unit: TimeUnit | None = None, progress: Progress | None = None, **options: Any) -> Learned:
    """Learn weighted rules from labelled streams.

    `modes` is a mode file or its text, `examples` are files and tables as `reading.read_examples` takes them, or
    `Examples`. Each fluent that the modes name is learnt, one after the other, or those of `target`. Streams come in
    the order of the examples, or shuffled by a `seed`; `passes` is how often all are gone through, `batch` how many
    time-points are learnt from at a time. With `members` that many learners see different streams, and their rules
    vote (see `committee`). With a `race` a learner with these settings, one with dear literals and a committee learn
    side by side, and the one that was best so far counts (see `race`). `options` are those of `Settings`, changed from
    what the `method` has. Times that are dates need a `time_unit`, as in `Program.run`.

    With Spark DataFrames as examples every stream is learnt from apart, in no order, and the learners are merged
    (`merging` says how).

    >>> learn(MODES_OF_THE_RICH, {}, method="wolf")
    Traceback (most recent call last):
    eventide.errors.InputError: there is no method 'wolf'; did you mean 'woled'?
    """
    if method not in METHODS:
        known = f"known are {', '.join(METHODS)}"
        raise InputError(f"there is no method {method!r}; {did_you_mean(method, tuple(METHODS), known)}")
    if not isinstance(settings, Settings | None):
        raise InputError(f"settings are a {type(settings).__name__}; expected Settings, or settings by name: memory=50")
    chosen = settings.with_(**options) if settings is not None else METHODS[method](**options)
    _check_numbers(batch, passes, seed)
    if has_frames(examples):
        if members or race:
            raise InputError("on Spark there is one learner for each stream, no committee and no race; leave out "
                             + ("members" if members else "race"))
        declared, _ = modes_of(modes)
        names = list(targets_of(declared)) if target is None else _chosen(target, list(targets_of(declared)))
        on_spark = import_module("eventide.spark.learning")  # by name: Spark stands above learning
        learnt: Learned = on_spark.learn(declared, examples, names, background=_listed(background), settings=chosen,
                                         batch=batch, passes=passes, time_unit=time_unit)
        return learnt
    learners = prepared(modes, examples, target=target, background=background, settings=chosen, members=members,
                        race=race, seed=seed, time_unit=time_unit)
    return learners.fit(batch=batch, passes=passes, seed=seed, progress=progress)


def prepared(modes: object, examples: object, *, target: str | Sequence[str] | None = None,
             background: Iterable[object] = (), settings: Settings | None = None, members: int = 0,
             race: bool = False, seed: int | None = None, time_unit: TimeUnit | None = None) -> Learned:
    """Learners with their examples, before anything is learnt: `fit` does that."""
    _check_whole(members=members, seed=seed)
    declared, _ = modes_of(modes)
    given = _listed(background)
    known = targets_of(declared)
    names = list(known) if target is None else _chosen(target, list(known))
    observations: Observations | None = None
    reads: Callable[[str], Examples]
    if isinstance(examples, Examples):
        only = examples
        reads = lambda _: only  # noqa: E731
    else:
        observations = observations_of(declared, examples, given, wanted=names, time_unit=time_unit)
        reads = observations.examples
    targets = {name: Target(name, learner_of(known[name], settings, members, seed, race), reads(name))
               for name in names}
    for name in names if observations is not None else ():
        own = targets[name].examples
        if not own.label_points.shape[0]:
            assert observations is not None
            if own.unobserved or any(part.facts.name == name and len(part.facts) for part in observations.parts):
                raise InputError(f"{name} holds at no observed time-point: no other fact of the modes is at a time at "
                                 "which it holds; add an inputPredicate whose facts are")
            raise InputError(f"the labels of {name} have no rows: as long as it never holds there is nothing to learn")
    return Learned(declared, targets, observations, given, time_unit)


def _listed(background: Iterable[object]) -> list[object]:
    return [background] if isinstance(background, str | os.PathLike | Mapping) else list(background)


def has_frames(examples: object) -> bool:
    """Whether there is a Spark DataFrame among examples.

    >>> has_frames({"win": pa.table({"time": [1]})})
    False
    """
    if isinstance(examples, Mapping | list | tuple):
        return any(has_frames(each) for each in (examples.values() if isinstance(examples, Mapping) else examples))
    return hasattr(examples, "mapInArrow")


def learner_of(modes: Modes, settings: Settings | None, members: int, seed: int | None,
               race: bool = False) -> Learner | Committee | Race:
    """A learner, a committee if there are members, or a race of both."""
    if race:
        return race_of(modes, settings, members=members, seed=seed or 0)
    if members:
        return Committee(modes, settings=settings, votes=Votes(members=members, seed=seed or 0))
    return Learner(modes, settings=settings)


def modes_of(modes: object) -> tuple[Modes, list[Diagnostic]]:
    """The declarations of a mode file or its text, and warnings about them; ProgramError if there are errors."""
    if isinstance(modes, Modes):
        refuse_errors(unlearnable(modes), {})
        return modes, []
    if isinstance(modes, str) and ("\n" in modes or "modeh(" in modes):
        text, source = modes, "<modes>"
    elif isinstance(modes, str | os.PathLike):
        text, source = rule_text(modes), os.fspath(modes)
    else:
        raise InputError(f"modes are a {type(modes).__name__}; expected a mode file, its text, or Modes")
    found, problems = read_modes(text, source)
    if not any(problem.severity == "error" for problem in problems):
        problems = [*problems, *unlearnable(found)]
    refuse_errors(problems, {source: text})
    return found, problems


def order_of(streams: Sequence[str | int], seed: int | None) -> list[str | int]:
    """The streams in their order, or shuffled by a seed.

    >>> order_of(["a", "b", "c"], None)
    ['a', 'b', 'c']
    """
    if seed is None:
        return list(streams)
    return [streams[i] for i in np.random.default_rng(seed).permutation(len(streams))]


def _chosen(target: str | Sequence[str], known: list[str]) -> list[str]:
    names = [target] if isinstance(target, str) else list(target)
    if not names:
        raise InputError(f"there is no target to learn; known are {', '.join(known)}")
    for name in names:
        if name not in known:
            raise InputError(f"no modeh is about {name!r}; "
                             + did_you_mean(name, tuple(known), f"known are {', '.join(known)}"))
    return names


def _fit(targets: Sequence[Target], batch: int, passes: int, seed: int | None, progress: Progress | None) -> None:
    _check_numbers(batch, passes, seed)
    sizes = [int(np.ceil(np.diff(target.examples.bounds) / batch).sum()) * passes for target in targets]
    done, total = 0, sum(sizes)
    for target in targets:
        _check_points(target.name, target.examples)
        before = max((number for number, *_ in target.reports), default=0)
        for number in range(passes):
            order = order_of(target.examples.streams, None if seed is None else seed + number)
            for each in target.examples.batches(batch, order):
                report = target.learner.partial_fit(each)
                target.reports.append((before + number + 1, str(each.stream), report, len(target.learner.rules)))
                done += 1
                if progress is not None:
                    progress(done, total)


def _check_numbers(batch: int, passes: int, seed: int | None) -> None:
    _check_whole(batch=batch, passes=passes, seed=seed)
    if passes < 1:
        raise InputError(f"examples are gone through at least once, not {passes} times")
    if batch < 1:
        raise InputError(f"a batch has at least one point, not {batch}")


def _check_whole(**numbers: object) -> None:
    for name, value in numbers.items():
        if value is None and name == "seed":
            continue
        if not isinstance(value, int | np.integer) or isinstance(value, bool):
            raise InputError(f"{name} is a whole number, not {value!r}")
        if name == "seed" and value < 0:
            raise InputError(f"seed is at least 0, not {value}")


def _check_points(name: str, examples: Examples) -> None:
    if not examples.times.shape[0]:
        raise EventideError(f"there is nothing to learn {name} from: no fact of the examples has a time")


def _curve(targets: Iterable[Target]) -> Iterator[tuple[object, ...]]:
    for target in targets:
        mistakes = 0
        for number, (turn, stream, report, rules) in enumerate(target.reports, 1):
            mistakes += report.mistakes
            yield (target.name, turn, report.batch, stream, report.points, report.tp, report.fp, report.fn, mistakes,
                   mistakes / number, rules, report.seconds)


MODES_OF_THE_RICH = """modeh(initiatedAt(rich(+person),+time))
modeh(terminatedAt(rich(+person),+time))
modeb(happensAt(win(+person),+time))
modeb(happensAt(lose(+person),+time))
"""
"""A small mode file, for examples."""
