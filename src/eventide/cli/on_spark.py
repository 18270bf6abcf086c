"""`eventide run --engine spark`: the same run, spread over Spark's workers."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from eventide.cli.messages import messages
from eventide.errors import EventideError, InputError

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

    from eventide.engine.recognition import Counts, Settings
    from eventide.formats.facts import BadRow
    from eventide.lars.program import LarsProgram
    from eventide.mtl.program import MtlProgram
    from eventide.probability.recognition import Uncertainty
    from eventide.program import Emit, Program


@dataclass(frozen=True)
class OnSpark:
    """What came of a run on Spark: the rows, what it left out, and the first of that."""

    table: pa.Table
    counts: Counts
    bad_count: int
    bad: tuple[BadRow, ...]
    late: pa.Table | None


def run_on_spark(program: Program, events: Sequence[str], settings: Settings, *, emit: Emit,
                 fluents: Sequence[str] | None, horizon: int | None, master: str | None, bad_rows: str,
                 time_unit: str | None, uncertainty: Uncertainty | None = None) -> OnSpark:
    """The rows of a run on Spark, and an account of what it left out."""
    from eventide.engine.recognition import Extent
    from eventide.spark.batch import run, settled
    from eventide.spark.failures import clear_failures
    from eventide.spark.listing import first_bad_rows, first_late_facts
    from eventide.spark.tally import Tally

    options: dict[str, Any] = {"bad_rows": bad_rows, "time_unit": time_unit}
    chances: dict[str, Any] = {} if uncertainty is None else {
        "probabilistic": True, "threshold": uncertainty.threshold, "history": uncertainty.history}
    with _running(events, master) as spark:
        tally = Tally(spark)
        try:
            known = settled(program, events, settings, spark=spark, **options)
            frame = run(program, events, window=known.window, step=known.step, start=known.start, end=known.end,
                        tick=known.tick, emit=emit, fluents=fluents, initially_at=known.initially_at, ties=known.ties,
                        horizon=horizon, spark=spark, tally=tally, **chances, **options)
            with clear_failures():
                table = frame.toArrow()
        except InputError as error:
            raise _of_all_inputs(error, program, events, spark, options) from None
        bad: list[BadRow] = []
        if tally.bad_rows:
            bad, _ = first_bad_rows(program, events, spark=spark, **options)
        counts, late = tally.counts, None
        if counts.too_late:
            late = first_late_facts(program, events, known, spark=spark, **options)
    queries = 1 if known.window is None and known.step is None else Extent.of(known, None, None).queries
    return OnSpark(table, replace(counts, queries=queries), tally.bad_rows, _as_given(bad, events), late)


def mtl_on_spark(program: MtlProgram, events: Sequence[str], *, horizon: int | Fraction | None,
                 fluents: Sequence[str] | None, master: str | None, bad_rows: str, time_unit: str | None) -> OnSpark:
    """The rows of a DatalogMTL program on Spark, and an account of what it left out."""
    from eventide.spark.failures import clear_failures
    from eventide.spark.listing import first_bad_rows
    from eventide.spark.mtl import run
    from eventide.spark.tally import Tally

    options: dict[str, Any] = {"bad_rows": bad_rows, "time_unit": time_unit}
    with _running(events, master) as spark:
        tally = Tally(spark)
        try:
            frame = run(program, events, horizon=horizon, fluents=fluents, spark=spark, tally=tally, **options)
            with clear_failures():
                table = frame.toArrow()
        except InputError as error:
            raise _of_all_inputs(error, program, events, spark, options) from None
        bad, _ = first_bad_rows(program, events, spark=spark, **options) if tally.bad_rows else ([], 0)
    return OnSpark(table, replace(tally.counts, queries=1), tally.bad_rows, _as_given(bad, events), None)


def lars_on_spark(program: LarsProgram, events: Sequence[str], *, master: str | None, options: dict[str, Any],
                  **how: Any) -> pa.Table:
    """The rows of a LARS program on Spark."""
    from eventide.spark.lars import run

    with _running(events, master) as spark:
        return run(program, list(events), spark=spark, options=options, **how).toArrow()


def _given_names(events: Sequence[str]) -> dict[str, str]:
    """The paths of inputs as they were given, by those that Spark knows."""
    from eventide.formats.events import split_name

    return {os.path.abspath(path): path for path in (split_name(name)[1] for name in events)}


def _as_given(bad: Sequence[BadRow], events: Sequence[str]) -> tuple[BadRow, ...]:
    """Bad rows at the paths that were given."""
    from eventide.spark.failures import renamed

    names = _given_names(events)
    return tuple(replace(row, diagnostic=renamed(row.diagnostic, names)) for row in bad)


@contextmanager
def _running(events: Sequence[str], master: str | None) -> Iterator[SparkSession]:
    """Spark for a run over some inputs; what goes wrong in a task is told as it would be here."""
    from eventide.spark.failures import clear_failures

    with _session(master) as spark, _warnings_as_messages(), clear_failures(_given_names(events)):
        yield spark


def _of_all_inputs(error: InputError, program: Program | MtlProgram, events: Sequence[str], spark: SparkSession,
                   options: dict[str, Any]) -> EventideError:
    """A task knows the bad rows of its batch only: the error about those of all inputs, if it is about bad rows."""
    from eventide.formats.facts import Facts
    from eventide.formats.problems import settled
    from eventide.spark.listing import first_bad_rows

    try:
        rows, total = first_bad_rows(program, events, spark=spark, **options)
        settled(Facts(bad=tuple(rows), bad_count=total), "fail", None)
    except EventideError as found:
        return found
    return error


@contextmanager
def _session(master: str | None) -> Iterator[SparkSession]:
    """Spark, started and ended if it does not run already."""
    from eventide.spark.start import is_running, start_quietly

    found_running = is_running()
    spark = start_quietly(master)
    try:
        yield spark
    finally:
        if not found_running:
            spark.stop()


@contextmanager
def _warnings_as_messages() -> Iterator[None]:
    """What runs in one bucket is told; what Spark's libraries warn each other of is not."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        warnings.filterwarnings("always", category=UserWarning, message=".* runs in one bucket")
        try:
            yield
        finally:
            for warning in caught:
                messages.say(str(warning.message))
