"""Labelled data with a known definition, to learn from: what all of its generators share. Not for data of the world.

The labels are what rules say of generated facts: a definition, or the rules of an application. They are consistent
before noise is added. A learner that is good here has found the rules again; it need not be good where people label.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from eventide.applications import Application
from eventide.applications.streams import Stream, write_background, write_csv
from eventide.errors import EventideError, refuse_errors
from eventide.learning.clauses import Clause, read_clauses
from eventide.learning.columns import layout_of
from eventide.learning.examples import Batch, Examples, Table, examples_of, table
from eventide.learning.inference import Carried, firing, infer
from eventide.learning.modes import Modes, read_modes
from eventide.program import load

FOREVER = np.iinfo(np.int64).max
_POINTS = 200  # of a batch, so that the columns of a hundred persons fit into memory


@dataclass(frozen=True, slots=True, eq=False)
class Labelled:
    """Facts, labels, and what is behind the labels."""

    modes: str
    """The text of the mode file."""
    tables: tuple[Table, ...]
    labels: Table
    """What a learner is given: with noise, if there is any."""
    clean: Table
    """The labels before noise."""
    definition: tuple[Clause, ...]
    """What is behind the labels, as a learner could say it."""
    later: tuple[Clause, ...] = ()
    """The definition in the second half of the points; empty if it is the same."""

    def examples(self, clean: bool = False) -> Examples:
        """The data as examples, with the labels given or with those before noise."""
        return examples_of(modes_of(self.modes), self.tables, self.clean if clean else self.labels)

    def with_noise(self, share: float, seed: int = 0) -> Labelled:
        """The same data with a share of the labels wrong; see `noisy`."""
        return replace(self, labels=noisy(self.examples(clean=True), self.clean, share, seed))


def modes_of(text: str) -> Modes:
    """The modes of a text without errors."""
    modes, problems = read_modes(text)
    refuse_errors(problems, {"<modes>": text})
    return modes


def definition_of(text: str) -> tuple[Clause, ...]:
    """The clauses of a text without errors.

    >>> [str(clause) for clause in definition_of("initiatedAt(rich(X),T) :- happensAt(win(X),T).")]
    ['initiatedAt(rich(X), T) :- happensAt(win(X), T).']
    """
    clauses, problems = read_clauses(text, "<definition>")
    refuse_errors(problems, {"<definition>": text})
    return tuple(clauses)


def labelled_by(definition: str, modes: str, tables: tuple[Table, ...], empty: Table, later: str = "") -> Labelled:
    """The labels that a definition gives: where the fluent holds if each rule counts as true, nothing before a stream.

    `empty` is a table of labels without rows. With `later`, this definition is the one from half of the points on, in
    the order of the streams; what holds then stays until it is terminated.

    >>> from eventide.learning.examples import table
    >>> modes = "modeh(initiatedAt(rich(+person),+time))\\nmodeb(happensAt(win(+person),+time))"
    >>> wins = table("happensAt(win(+person),+time)", ["ann", "bob", "ann"], [1, 4, 9])
    >>> data = labelled_by("initiatedAt(rich(X),T) :- happensAt(win(X),T).", modes, (wins,),
    ...                    table("holdsAt(rich(+person),+time)", [], []))
    >>> [column.tolist() for column in data.labels.columns]
    [['ann', 'ann', 'bob'], [4, 9, 9]]
    """
    first, second = definition_of(definition), definition_of(later)
    examples = examples_of(modes_of(modes), tables, empty)
    layout = layout_of((*first, *second), examples)
    change = examples.times.shape[0] // 2 if later else examples.times.shape[0]
    state, done, ones = Carried(), 0, np.ones(len(first) + len(second))
    parts = list[tuple[np.ndarray, np.ndarray, np.ndarray]]()
    for batch in examples.batches(_POINTS):
        if batch.begins:
            state.reset()
        fires = firing(layout.columns(batch), layout.bodies)
        by_point = fires.reshape(ones.shape[0], batch.instances.shape[0], batch.times.shape[0])
        is_later = np.arange(done, done + batch.times.shape[0]) >= change
        by_point[: len(first), :, is_later] = False
        by_point[len(first) :, :, ~is_later] = False
        found = infer(fires, layout.initiates, ones, batch.offsets, state.take(batch.instances), "crisp")
        state.put(batch.instances, found.after)
        parts.append(_label_columns(batch, found.holds))
        done += batch.times.shape[0]
    labels = _label_table(examples, empty, parts)
    return Labelled(modes, tables, labels, labels, first, second)


def recognised(application: Application, entities: int, seed: int, fluents: Sequence[str]) -> tuple[Stream, pa.Table]:
    """What an application generates, and the intervals of some fluents that its rules recognise in it.

    Where a fluent is initiated and terminated at once it holds, as learning has it.
    """
    stream = application.generate(entities=entities, seed=seed)
    with TemporaryDirectory() as folder:
        background = write_background(application.background(entities=entities), folder)
        write_csv(stream, Path(folder) / "stream.csv")
        program = load(application.rules, background=list(background.values()))
        result = program.run(Path(folder) / "stream.csv", fluents=fluents, start=application.start,
                             tick=application.tick, ties="initiation")
        return stream, result.to_arrow()


def holding(intervals: pa.Table, fluent: str, value: str) -> dict[tuple[str, ...], np.ndarray]:
    """The periods of a fluent by its arguments: starts and ends in two rows, in order; what goes on has no end."""
    chosen = intervals.filter((pc.field("fluent") == fluent) & (pc.field("value") == value)).sort_by("start")
    found: dict[tuple[str, ...], list[tuple[int, int]]] = {}
    for arguments, start, end in zip(*(chosen[name].to_pylist() for name in ("args", "start", "end")), strict=True):
        found.setdefault(tuple(arguments.split("|")), []).append((start, FOREVER if end is None else end))
    return {arguments: np.array(periods, np.int64).T for arguments, periods in found.items()}


def points_inside(points: np.ndarray, periods: np.ndarray | None) -> np.ndarray:
    """The points at which one of the periods, in order and apart from each other, holds.

    >>> points_inside(np.array([1, 4, 9]), np.array([[2, 8], [5, 9]])).tolist()
    [4]
    """
    if periods is None:
        return points[:0]
    starts, ends = periods
    at = np.searchsorted(starts, points, side="right") - 1
    inside: np.ndarray = points[(at >= 0) & (points < ends[at])]
    return inside


def fact_table(shape: str, parts: Iterable[tuple[str, tuple[str, ...], np.ndarray]]) -> Table:
    """The table of a shape from parts: the name of a stream, arguments, and the points at which they are true."""
    given = [each for each in parts if each[2].shape[0]]
    if not given:
        return table(shape, *[[]] * (shape.count("+") + shape.count("#")), streams=[])
    lengths = [points.shape[0] for *_, points in given]
    names = np.repeat([name for name, *_ in given], lengths)
    arguments = [np.repeat(column, lengths) for column in zip(*(each for _, each, _ in given), strict=True)]
    return table(shape, *arguments, np.concatenate([points for *_, points in given]), streams=names)


def noisy(examples: Examples, labels: Table, share: float, seed: int = 0) -> Table:
    """Labels of which a share is wrong: so many are missing, and as many are at rows where the fluent does not hold.

    Rows are the pairs of an instance and a point of its stream; both are drawn stream by stream. The F1 of these labels
    against the clean ones is 1 - share, whatever part of the rows is positive. What is wrong at a small share is wrong
    at a larger one too.
    """
    if not 0.0 <= share <= 1.0:
        raise EventideError(f"a share of wrong labels is at least 0 and at most 1, not {share}")
    rng = np.random.default_rng([seed, 1])
    parts = list[tuple[np.ndarray, np.ndarray, np.ndarray]]()
    for batch in examples.batches(max(examples.times.shape[0], 1)):
        rows = batch.labels.copy()
        true, false = np.flatnonzero(rows), np.flatnonzero(~rows)
        number = round(share * true.shape[0])
        rows[rng.permutation(true)[:number]] = False
        rows[rng.choice(false, min(true.shape[0], false.shape[0]), replace=False)[:number]] = True
        parts.append(_label_columns(batch, rows))
    return _label_table(examples, labels, parts)


def _label_columns(batch: Batch, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Arguments, times and streams of the rows that are true."""
    which, at = np.divmod(np.flatnonzero(rows), max(batch.times.shape[0], 1))
    return batch.arguments[which], batch.times[at], np.full(at.shape[0], batch.stream)


def _label_table(examples: Examples, empty: Table, parts: list[tuple[np.ndarray, np.ndarray, np.ndarray]]) -> Table:
    arguments, times, streams = (np.concatenate(column) for column in zip(*parts, strict=True))
    columns = (examples.domains[name][codes] for name, codes in zip(examples.types, arguments.T, strict=True))
    return replace(empty, columns=(*columns, times), streams=None if empty.streams is None else streams)
