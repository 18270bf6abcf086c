"""`eventide run --engine spark`: the same run, spread over Spark's workers."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from eventide.cli.messages import messages

if TYPE_CHECKING:
    import pyarrow as pa

    from eventide.engine.recognition import Counts, Settings
    from eventide.program import Emit, Program


def rows_on_spark(program: Program, events: Sequence[str], settings: Settings, *, emit: Emit,
                  fluents: Sequence[str] | None, horizon: int | None, master: str | None, bad_rows: str,
                  time_unit: str | None) -> tuple[pa.Table, Counts, int]:
    """The rows of a run on Spark, what it left out, and how many rows were no facts."""
    from eventide.engine.recognition import Extent
    from eventide.spark.batch import run, settled
    from eventide.spark.start import is_running, start
    from eventide.spark.tally import Tally

    found_running = is_running()
    spark = start(master)
    try:
        with _clear_messages():
            tally = Tally(spark)
            options: dict[str, Any] = {"bad_rows": bad_rows, "time_unit": time_unit}
            known = settled(program, events, settings, spark=spark, **options)
            frame = run(program, events, window=known.window, step=known.step, start=known.start, end=known.end,
                        tick=known.tick, emit=emit, fluents=fluents, initially_at=known.initially_at, ties=known.ties,
                        horizon=horizon, spark=spark, tally=tally, **options)
            table = frame.toArrow()
        queries = 1 if known.window is None and known.step is None else Extent.of(known, None, None).queries
        return table, replace(tally.counts, queries=queries), tally.bad_rows
    finally:
        if not found_running:
            spark.stop()


@contextmanager
def _clear_messages() -> Iterator[None]:
    """Warnings as messages; an error inside a task as the error it was."""
    from eventide.spark.failures import clear_error

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        warnings.filterwarnings("always", category=UserWarning, message=".* runs in one bucket")
        try:
            yield
        except Exception as error:
            clear = clear_error(error)
            if clear is None or clear is error:
                raise
            raise clear from None
        finally:
            for warning in caught:
                messages.say(str(warning.message))
