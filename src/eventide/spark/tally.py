"""What a run on Spark reads and leaves out, counted in its tasks and added up at the driver."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from eventide.engine.recognition import Counts, Settings
from eventide.formats.facts import Facts, FactTable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Numbers = dict[str, int]
_LATE = "late "


class Tally:
    """Numbers that tasks add to. They are complete when the result has been computed, and count twice what is
    computed twice."""

    def __init__(self, spark: SparkSession) -> None:
        self._sums: Any = spark.sparkContext.accumulator({}, _Sums())  # type: ignore[arg-type]

    def add(self, facts: Facts, settings: Settings) -> None:
        """Count the facts that a task has read."""
        numbers = {"bad": facts.bad_count}
        for table in facts:
            for name, number in left_out(table, settings).items():
                numbers[name] = numbers.get(name, 0) + number
        self._sums.add(numbers)

    @property
    def counts(self) -> Counts:
        """The counts of a run."""
        numbers: Numbers = self._sums.value
        late = {name.removeprefix(_LATE): number for name, number in numbers.items() if name.startswith(_LATE)}
        return Counts(numbers.get("facts", 0), numbers.get("before", 0), numbers.get("after", 0), sum(late.values()),
                      late)

    @property
    def bad_rows(self) -> int:
        """How many rows were no facts."""
        return int(self._sums.value.get("bad", 0))


class _Sums:
    """How numbers by name are added up."""

    def zero(self, value: Numbers) -> Numbers:
        return {}

    def addInPlace(self, sums: Numbers, numbers: Numbers) -> Numbers:
        for name, number in numbers.items():
            sums[name] = sums.get(name, 0) + number
        return sums


def left_out(table: FactTable, settings: Settings) -> Numbers:
    """How many facts there are, and how many no query time of a settled run will see, by the reason.

    >>> table = FactTable("win", "event", np.array([0, 3, 4]), arrival=np.array([0, 9, 5]))
    >>> left_out(table, Settings(window=4, step=2, start=0, end=10))
    {'facts': 3, 'before': 1, 'late win': 1}
    """
    assert settings.start is not None and settings.end is not None
    due = table.time if table.arrival is None else np.maximum(table.arrival, table.time)
    last = table.time if table.end is None else table.end - 1
    after = due > settings.end
    before = ~after & (last <= settings.start)
    found = {"facts": len(table), "before": int(before.sum()), "after": int(after.sum())}
    window = settings.window if settings.window is not None else settings.step
    if window is not None:
        step = settings.step if settings.step is not None else window
        query = settings.start + np.maximum(-((settings.start - due) // step), 1) * step
        late = ~after & ~before & (last < query - window + 1)
        found[_LATE + table.name] = int(late.sum())
    return {name: number for name, number in found.items() if number}
