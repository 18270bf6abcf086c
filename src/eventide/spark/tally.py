"""What a run on Spark reads and leaves out, counted in its tasks and added up at the driver."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from eventide.engine.recognition import Counts, Settings
from eventide.formats.facts import FactTable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
Numbers = dict[str, int]
Parts = dict[tuple[int, int], Numbers]
_LATE = "late "
_runs = count()


class Tally:
    """Numbers of the tasks of a run. They are complete when the result has been computed; what is computed again,
    because a task failed or the result is used twice, counts once."""

    def __init__(self, spark: SparkSession) -> None:
        self._parts: Any = spark.sparkContext.accumulator({}, _Latest())  # type: ignore[arg-type]

    def put(self, run: int, numbers: Numbers) -> None:
        """The numbers of a task that has read its part of the input: the same part has the same numbers every time."""
        self._parts.add({(run, task_number()): numbers})

    @property
    def counts(self) -> Counts:
        """The counts of a run."""
        numbers = self._sums
        late = {name.removeprefix(_LATE): number for name, number in numbers.items() if name.startswith(_LATE)}
        return Counts(numbers["facts"], numbers["before"], numbers["after"], sum(late.values()), late)

    @property
    def bad_rows(self) -> int:
        """How many rows were no facts."""
        return self._sums["bad"]

    @property
    def _sums(self) -> Counter[str]:
        parts: Parts = self._parts.value
        return sum((Counter(numbers) for numbers in parts.values()), Counter())


def task_number() -> int:
    """Which part of the input the running task reads; the same part has the same number every time."""
    from pyspark import TaskContext

    task = TaskContext.get()
    return 0 if task is None else task.partitionId()


class _Latest:
    """How parts are put together: each is there once."""

    def zero(self, value: Parts) -> Parts:
        return {}

    def addInPlace(self, parts: Parts, more: Parts) -> Parts:
        parts.update(more)
        return parts


def new_run() -> int:
    """A number that no other run of this process has."""
    return next(_runs)


def counted(tables: Mapping[str, FactTable], bad: int, settings: Settings) -> Counter[str]:
    """How many facts there are, by template, and how many no query time of a settled run will see, by the reason.

    >>> table = FactTable("win", "event", np.array([0, 3, 4]), arrival=np.array([0, 9, 5]))
    >>> dict(counted({"win(_)": table}, 0, Settings(window=4, step=2, start=0, end=10)))
    {'facts': 3, 'before': 1, 'late win(_)': 1}
    """
    found: Counter[str] = Counter(bad=bad)
    for template, table in tables.items():
        out = LeftOut(table, settings)
        found.update({"facts": len(table), "before": int(out.before.sum()), "after": int(out.after.sum()),
                      _LATE + template: int(out.late.sum())})
    return +found


class LeftOut:
    """Which facts no query time of a settled run will see, and the first that could have: `query`."""

    def __init__(self, table: FactTable, settings: Settings) -> None:
        assert settings.start is not None and settings.end is not None
        due = table.time if table.arrival is None else np.maximum(table.arrival, table.time)
        last = table.time if table.end is None else table.end - 1
        self.after: Mask = due > settings.end
        self.before: Mask = ~self.after & (last <= settings.start)
        self.late: Mask = np.zeros(len(table), np.bool_)
        self.query: Ints = np.full(len(table), settings.end)
        window = settings.window if settings.window is not None else settings.step
        if window is not None:
            step = settings.step if settings.step is not None else window
            self.query = settings.start + np.maximum(-((settings.start - due) // step), 1) * step
            self.late = ~self.after & ~self.before & (last < self.query - window + 1)
