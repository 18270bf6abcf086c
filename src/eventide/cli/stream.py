"""`eventide stream`: a stream that runs by its configuration, on Spark, until it is stopped."""

from __future__ import annotations

import os
import signal
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from eventide.cli.messages import messages

if TYPE_CHECKING:
    from eventide.cli.reload import Reload
    from eventide.spark.config import StreamConfig
    from eventide.spark.running import Prepared

SPARK_LOG = "spark.log"


def stream(
    config: Annotated[Path, typer.Argument(metavar="CONFIG.toml", help="Source, rules, window, sinks, checkpoint.")],
    check: Annotated[bool, typer.Option(
        "--check", help="Read everything, try whether source and sinks answer, print the plan, and stop.")] = False,
    once: Annotated[bool, typer.Option(
        "--once", help="Process what is there now, and stop; the next start goes on from there.")] = False,
    reload: Annotated[bool, typer.Option(
        "--reload", help="Go on with other rules when the files of rules and background are changed: while the stream "
        "runs, after the batch at hand, or before it is started again.")] = False,
) -> None:
    """Run a stream: read events as they come, write what is recognised.

    The stream can be stopped at any time (Ctrl-C, SIGTERM) and killed: started again it goes on where it was, and the
    rows are those of a run without a stop. Spark's own messages are in `spark.log` in the checkpoint.

    Example:

    ```
    mkdir -p events
    printf 'time,event,who\\n3,call,ann\\n9,quit,ann\\n' > events/1.csv
    echo '30,call,bob' >> events/1.csv
    echo "initiatedAt(busy(X)=true, T) :- happensAt(call(X), T)." > rules.ec
    echo "terminatedAt(busy(X)=true, T) :- happensAt(quit(X), T)." >> rules.ec
    printf '[source]\\nkind = "files"\\npath = "events"\\n' > stream.toml
    printf '[rules]\\nprogram = "rules.ec"\\n' >> stream.toml
    printf '[window]\\nwindow = 20\\nstep = 10\\n' >> stream.toml
    printf '[checkpoint]\\npath = "state"\\n' >> stream.toml
    printf '[[sink]]\\nkind = "console"\\n' >> stream.toml
    printf '[spark]\\nmaster = "local[1]"\\n' >> stream.toml
    eventide stream stream.toml --once
    ```
    """
    from eventide.spark.config import load_config
    from eventide.spark.running import check as check_stream
    from eventide.spark.running import prepare

    warnings.filterwarnings("ignore", category=FutureWarning, module="pyspark")  # about pandas, which is not used
    settings = load_config(config)
    prepared = prepare(settings)
    for problem in prepared.flow.diagnostics:
        messages.note(problem)
    if check:
        check_stream(prepared)
        plan = prepared.plan()
        messages.result({"plan": plan.splitlines()}, plan)
    else:
        _run(settings, prepared, once, _reload(config, settings) if reload else None)


def _reload(path: Path, config: StreamConfig) -> Reload[Prepared]:
    from eventide.cli.reload import Reload
    from eventide.spark.config import load_config
    from eventide.spark.running import prepare

    def loaded() -> Prepared:
        prepared = prepare(load_config(path))
        for problem in prepared.flow.diagnostics:
            messages.note(problem)
        return prepared

    return Reload(loaded, str(config.rules.program), list(map(str, config.rules.background)))


def _run(config: StreamConfig, prepared: Prepared, once: bool, reload: Reload[Prepared] | None) -> None:
    from eventide.spark.operations import Figures, MetricsServer, Reporter, count_of
    from eventide.spark.running import Stream
    from eventide.spark.start import is_running

    figures = Figures()
    reporter = Reporter(config.log, quiet=messages.quiet, as_json=messages.json)
    server = None if config.metrics is None else MetricsServer(config.metrics, figures)
    found_running = is_running()
    try:
        with _spark_speaks_to(config.checkpoint.path / SPARK_LOG):
            stream = Stream(prepared, reporter, figures, reload=reload is not None)
        reporter.say(f"the stream runs: {config.source.kind} to {', '.join(sink.kind for sink in config.sink)}",
                     checkpoint=str(config.checkpoint.path))
        with _stopped_by_signals(stream, reporter):
            if reload is None:
                stream.run(once=once)
            else:
                with reload.listening():
                    stream.run(once=once, changed=reload.loaded)
        reporter.say(f"stopped after {count_of(figures.batches_total, 'batch')}: "
                     f"{count_of(figures.events_total, 'event')}, {count_of(figures.changes_total, 'row')} out",
                     events=figures.events_total, rows=figures.changes_total)
    finally:
        reporter.close()
        if server is not None:
            server.close()
        if not found_running:
            _end_spark()


def _end_spark() -> None:
    from pyspark.sql import SparkSession

    session = SparkSession.getActiveSession()
    if session is not None:
        session.stop()


@contextmanager
def _stopped_by_signals(stream: Any, reporter: Any) -> Iterator[None]:
    """The first SIGTERM or Ctrl-C ends the stream after the batch at hand, the second at once."""
    def handle(number: int, frame: Any) -> None:
        stream.stop()
        signal.signal(number, signal.default_int_handler)
        reporter.say("stopping after the batch at hand; again to stop at once")

    known = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in known.items():
            signal.signal(number, handler)


@contextmanager
def _spark_speaks_to(path: Path) -> Iterator[None]:
    """Java, if it is started meanwhile, writes its messages to a file: they are about Spark, not about the stream."""
    sys.stderr.flush()
    path.parent.mkdir(parents=True, exist_ok=True)
    kept, log = os.dup(2), os.open(path, os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o644)
    os.dup2(log, 2)
    os.close(log)
    try:
        yield
    finally:
        sys.stderr.flush()
        os.dup2(kept, 2)
        os.close(kept)
