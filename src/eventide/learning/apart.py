"""Learning from each stream apart, and one theory from all: what can be done stream by stream, wherever that is.

First every stream tells its words: the constants and numbers that conditions may name. From those of all follows the
language of the rules, the same for all. Then every stream is learnt from by a learner of its own, and these are put
together in the order of their names (see `merging`). So the result depends on the streams, not on who had which.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from eventide.errors import EventideError
from eventide.formats.expected import TimeUnit
from eventide.formats.facts import FactTable
from eventide.kernels.arrays import Array
from eventide.learning.background import observations_of
from eventide.learning.examples import Column, Examples, examples_of, table
from eventide.learning.language import Language, language_of
from eventide.learning.learned import Target
from eventide.learning.learner import Learner, Report
from eventide.learning.modes import Modes
from eventide.learning.reading import Observations, Part, targets_of
from eventide.learning.settings import Settings

MOST_NUMBERS = 1_000_000
"""Numbers from which limits of comparisons are chosen; of more, every so many-th counts."""
Reports = list[tuple[int, str, Report, int]]


@dataclass(frozen=True, slots=True, eq=False)
class Words:
    """What a stream has in each place of each table: the distinct values, and how often each is there."""

    tables: Mapping[str, tuple[tuple[Column, Array], ...]]
    labels: Mapping[str, int]
    """The number of labels of each fluent."""
    points: int
    intervals: frozenset[str]
    derived: frozenset[str]


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """What is to be learnt, by whom and how; everything that goes with a stream to where it is learnt from."""

    modes: Modes
    targets: tuple[str, ...]
    settings: Settings
    batch: int = 100
    passes: int = 1
    background: tuple[object, ...] = ()
    shared: Mapping[str, object] = field(default_factory=dict)
    """Tables without time, which are true in all streams."""
    languages: Mapping[str, Language] = field(default_factory=dict)
    time_unit: TimeUnit | None = None

    def with_shared(self, shared: Mapping[str, object]) -> Task:
        """The task with tables that are true in all streams."""
        return replace(self, shared=shared)

    def observed(self, stream: object) -> Observations:
        """What the tables of a stream say."""
        return observations_of(self.modes, [stream, self.shared], self.background, wanted=self.targets, labelled=False,
                               time_unit=self.time_unit)

    def words(self, stream: object) -> Words:
        """The words of a stream, given by its tables."""
        observed = self.observed(stream)
        tables: dict[str, tuple[tuple[Column, Array], ...]] = {}
        labels, points = {}, 0
        named = {place.type for mode in self.modes.bodies for place in mode.places if place.kind == "#"}
        for target in self.targets:
            examples = observed.examples(target)
            labels[target], points = examples.label_points.shape[0] + examples.unobserved, examples.times.shape[0]
            for facts in examples.facts:
                columns = []
                for i, place in enumerate(facts.mode.places):
                    column = facts.codes[i]
                    if i not in (facts.time, facts.threshold):
                        column = examples.domains[place.type][column]
                    values, counts = np.unique(column, return_counts=True)
                    every = i == facts.threshold or place.type in named
                    columns.append((values, counts) if every else (values[:1], counts[:1]))
                tables[str(facts.mode)] = tuple(columns)
        return Words(tables, labels, points, observed.intervals, frozenset(observed.derived))

    def learnt(self, stream: object, name: str) -> dict[str, tuple[Learner, Reports]]:
        """A learner for each fluent that has seen one stream, and how its batches fared."""
        observed, found = self.observed(stream), dict[str, tuple[Learner, Reports]]()
        for target, modes in targets_of(self.modes).items():
            if target not in self.targets:
                continue
            learner = Learner(modes, settings=self.settings, language=self.languages[target])
            reports: Reports = []
            for number in range(self.passes):
                for batch in observed.examples(target).batches(self.batch):
                    report = learner.partial_fit(batch)
                    reports.append((number + 1, name, report, len(learner.rules)))
            found[target] = learner, reports
        return found

    def with_words(self, words: Sequence[Words]) -> tuple[Task, dict[str, Examples], Observations]:
        """The task with the languages that all streams allow, examples of their words, and what came how."""
        if not any(each.points for each in words):
            raise EventideError("there is nothing to learn from: no fact of the examples has a time")
        for target in self.targets:
            if not any(each.labels[target] for each in words):
                raise EventideError(f"no stream has a label of {target}")
        known, examples = targets_of(self.modes), dict[str, Examples]()
        tables = [table(shape, *_together([each.tables[shape] for each in words if shape in each.tables]))
                  for shape in dict.fromkeys(shape for each in words for shape in each.tables)]
        for target in self.targets:
            pattern = known[target].examples[0]
            examples[target] = examples_of(known[target], tables, table(str(pattern), *[[]] * len(pattern.places)))
        languages = {target: language_of(known[target], examples[target], joined=self.settings.joined,
                                         thresholds=self.settings.thresholds) for target in self.targets}
        observed = Observations(self.modes, derived=set().union(*(each.derived for each in words)))
        none = np.empty(0, np.int64)
        observed.parts += [Part(FactTable(name, "interval", none, end=none), None)
                           for name in sorted(set().union(*(each.intervals for each in words)))]
        return replace(self, languages=languages), examples, observed


def put_together(task: Task, examples: Mapping[str, Examples],
                 parts: Iterable[tuple[str, Mapping[str, tuple[Learner, Reports]]]]) -> dict[str, Target]:
    """One theory for each fluent from the learners of all streams, in the order of the streams' names."""
    ordered = [found for _, found in sorted(parts, key=lambda part: part[0])]
    targets = {}
    for name in task.targets:
        first, *others = (found[name][0] for found in ordered)
        first.merge(others)
        targets[name] = Target(name, first, examples[name], [each for found in ordered for each in found[name][1]])
    return targets


def _together(parts: Sequence[tuple[tuple[Column, Array], ...]]) -> list[Column]:
    """Columns of one length that have the values of all parts, in each column about as often as these have them."""
    found: list[Column] = []
    for column in zip(*parts, strict=True):
        full = [(values, counts) for values, counts in column if values.shape[0]]
        if not full:
            return [np.empty(0, np.int64) for _ in parts[0]]
        values, at = np.unique(np.concatenate([each for each, _ in full]), return_inverse=True)
        counts = np.bincount(at, np.concatenate([each for _, each in full])).astype(np.int64)
        found.append(np.repeat(values, np.maximum(counts // max(int(counts.sum()) // MOST_NUMBERS, 1), 1)))
    length = max(each.shape[0] for each in found)
    return [np.sort(np.resize(each, length)) for each in found]
