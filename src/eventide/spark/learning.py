"""Learning on Spark: each stream is learnt from in a task, the driver makes one theory of all; see `learning.apart`.

Rows are brought together by their stream, so a stream must fit into the memory of a task. The order of rows and the
number of partitions change nothing in the result. `eventide.learn` comes here if it is given DataFrames.
"""

from __future__ import annotations

import pickle
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from eventide.errors import InputError
from eventide.formats.expected import TimeUnit
from eventide.learning.apart import Task, put_together
from eventide.learning.learned import Learned, Progress, Target, has_frames
from eventide.learning.learner import Learner
from eventide.learning.modes import Modes
from eventide.learning.prediction import predicted
from eventide.learning.reading import STREAMS, TIMES, no_stream
from eventide.learning.settings import Settings
from eventide.spark.failures import carrying, clear_failures

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_PACKED = "stream string, name string, rows binary"
_FOUND = "stream string, found binary"


def learn(modes: Modes, examples: object, targets: Sequence[str], *, background: Iterable[object] = (),
          settings: Settings | None = None, batch: int = 100, passes: int = 1,
          time_unit: TimeUnit | None = None) -> Learned:
    """Rules for some fluents from Spark DataFrames.

    `examples` is a DataFrame whose column `event` names what each row is about, a dict of DataFrames by these names, or
    a list of both. Streams are told apart by the column `stream` or `video`; without one, all is one stream. Tables
    without `time` or `start` are true in all streams, and go to every task.
    """
    task = Task(modes, tuple(targets), settings or Settings(), batch, passes, tuple(background), time_unit=time_unit)
    with _Streams(task, examples) as given:
        task, known, observed = given.task.with_words([found for _, found in given.each(_Words(given.task))])
        learnt = put_together(task, known, given.each(_Learning(task)))
        return LearnedOnSpark(task, learnt, observed)


class LearnedOnSpark(Learned):
    """What was learnt from DataFrames. `predict` and `partial_fit` take DataFrames, and whatever `Learned` takes."""

    def __init__(self, task: Task, targets: dict[str, Target], observed: Any) -> None:
        super().__init__(task.modes, targets, observed, task.background, task.time_unit)
        self._task, self._words = task, [target.examples for target in targets.values()]

    def predict(self, examples: object = None, *, target: str | None = None) -> pa.Table:
        """The intervals that the rules find in DataFrames or tables, which need no labels."""
        if examples is None:
            raise InputError("the examples are on Spark, and are not kept; give the DataFrames to predict")
        if not has_frames(examples):
            return super().predict(examples, target=target)
        names = list(self.targets) if target is None else [self._known(target)]
        theories = {name: self.targets[name].theory for name in names}
        with _Streams(self._task, examples) as given:
            tables = sorted(given.each(_Predicting(given.task, theories)), key=lambda row: row[0])
        return pa.concat_tables([table.filter(pc.field("fluent") == name) for name in names for _, table in tables])

    def facts(self, stream: str | int) -> dict[str, pa.Table]:
        """Facts of DataFrames are not kept: refused."""
        raise InputError("the examples are on Spark, and are not kept; give the DataFrames to eventide.spark.run")

    def fit(self, *, batch: int = 100, passes: int = 1, seed: int | None = None,
            progress: Progress | None = None) -> Learned:
        """Learn from the examples that were given to `partial_fit` last."""
        if any(target.examples is words for target, words in zip(self.targets.values(), self._words, strict=True)):
            raise InputError("the examples are on Spark, and are not kept; give the DataFrames to partial_fit")
        return super().fit(batch=batch, passes=passes, seed=seed, progress=progress)

    def partial_fit(self, examples: object, *, batch: int = 100, passes: int = 1, seed: int | None = None,
                    progress: Progress | None = None) -> Learned:
        """Learn from more examples. With DataFrames, new learners see their streams, and are merged with what is."""
        if not has_frames(examples):
            return super().partial_fit(examples, batch=batch, passes=passes, seed=seed, progress=progress)
        task = replace(self._task, batch=batch, passes=passes, shared={})
        known = {name: target.examples for name, target in self.targets.items()}
        with _Streams(task, examples) as given:
            more = put_together(given.task, known, given.each(_Learning(given.task)))
        for name, target in self.targets.items():
            learner, new = target.learner, more[name].learner
            assert isinstance(learner, Learner) and isinstance(new, Learner)  # there are no committees here
            learner.merge([new])
            target.reports += more[name].reports
        return self


# -- rows by streams ---------------------------------------------------------------------------------------------------


class _Given(NamedTuple):
    """A DataFrame, and the name of what it is about; without one its column `event` says that."""

    name: str | None
    frame: DataFrame

    @property
    def about(self) -> str:
        return "of events" if self.name is None else self.name

    @property
    def has_streams(self) -> bool:
        return any(name in self.frame.columns for name in STREAMS)

    @property
    def timed(self) -> bool:
        return any(name in self.frame.columns for name in ("time", *TIMES))


def _given(examples: object, name: str | None = None) -> Iterator[_Given]:
    if isinstance(examples, Mapping):
        for key, each in examples.items():
            yield from _given(each, str(key))
    elif isinstance(examples, list | tuple):
        for each in examples:
            yield from _given(each, name)
    elif hasattr(examples, "mapInArrow"):
        yield _Given(name, examples)  # type: ignore[arg-type]
    else:
        raise InputError(f"a {type(examples).__name__} among DataFrames; to learn on Spark, give DataFrames only")


class _Streams:
    """The rows of DataFrames by their streams, as long as it is open."""

    def __init__(self, task: Task, examples: object) -> None:
        self._task, self._tables = task, list(_given(examples))

    def __enter__(self) -> _Streams:
        timed = [each for each in self._tables if each.timed]
        if not timed:
            raise InputError("none of the DataFrames has a column time, start or frame, so there is nothing to learn "
                             "from")
        named = [each.about for each in timed if each.has_streams]
        for each in timed if named else ():
            if not each.has_streams:
                raise no_stream(each.about, f"{named[0]} does")
        with clear_failures():
            shared = {}
            for each in self._tables:
                if not each.timed and each.name is None:
                    raise InputError("a DataFrame without times needs a name: {NAME: DataFrame}")
                if not each.timed:
                    shared[str(each.name)] = each.frame.toArrow()
            self.task = self._task.with_shared(shared)
            empty = [{each.name: each.frame.limit(0).toArrow()} for each in timed if each.name is not None]
            self.task.observed(empty)  # names and columns that are wrong are told before anything runs
            packed = [each.frame.mapInArrow(_Packing(each.name), _PACKED) for each in timed]
            self._packed = reduce(lambda a, b: a.unionByName(b), packed).persist()  # gone through twice
        return self

    def __exit__(self, *_: object) -> None:
        self._packed.unpersist()

    def each(self, work: _Work) -> list[tuple[str, Any]]:
        """What the work finds in each stream."""
        with clear_failures():
            done = lambda key, table: work(key, table)  # noqa: E731  # Spark wants a function
            rows = self._packed.groupBy("stream").applyInArrow(done, _FOUND).toArrow().to_pylist()
        return [(row["stream"], pickle.loads(row["found"])) for row in rows]


class _Packing:
    """In a task: the rows of each stream of a batch as one value."""

    def __init__(self, name: str | None) -> None:
        self._name = name

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            if not batch.num_rows:
                continue
            column = next((name for name in STREAMS if name in batch.schema.names), None)
            streams = pa.repeat("0", batch.num_rows) if column is None else batch.column(column).cast(pa.string())
            table = pa.Table.from_batches([batch])
            for stream in pc.unique(streams):
                rows = table.filter(pc.is_null(streams) if not stream.is_valid else pc.equal(streams, stream))
                yield pa.record_batch({"stream": pa.array([stream.as_py()], pa.string()),
                                       "name": pa.array([self._name], pa.string()),
                                       "rows": pa.array([_bytes(rows)], pa.binary())})


def _bytes(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()  # type: ignore[no-any-return]


# -- work in a task ----------------------------------------------------------------------------------------------------


class _Work(ABC):
    """What is done with the tables of a stream."""

    def __init__(self, task: Task) -> None:
        self.task = task

    def __call__(self, key: tuple[pa.Scalar, ...], table: pa.Table) -> pa.Table:
        return next(carrying(self._found(key[0].as_py(), table)))

    def _found(self, stream: str, packed: pa.Table) -> Iterator[pa.Table]:
        tables: list[object] = []
        for name, rows in zip(packed["name"].to_pylist(), packed["rows"].to_pylist(), strict=True):
            with pa.ipc.open_stream(rows) as reader:
                table = reader.read_all()
            tables.append(table if name is None else {name: table})
        found = pickle.dumps(self.done(stream, tables))
        yield pa.table({"stream": pa.array([stream], pa.string()), "found": pa.array([found], pa.binary())})

    @abstractmethod
    def done(self, stream: str, tables: Sequence[object]) -> object:
        """The result for one stream."""


class _Words(_Work):
    def done(self, stream: str, tables: Sequence[object]) -> object:
        return self.task.words(tables)


class _Learning(_Work):
    def done(self, stream: str, tables: Sequence[object]) -> object:
        return self.task.learnt(tables, stream)


class _Predicting(_Work):
    def __init__(self, task: Task, theories: Mapping[str, tuple[Any, Any]]) -> None:
        super().__init__(task)
        self._theories = theories

    def done(self, stream: str, tables: Sequence[object]) -> object:
        observed = self.task.observed(tables)
        return pa.concat_tables([predicted(rules, observed.examples(name), inference=inference)
                                 for name, (rules, inference) in self._theories.items()])
