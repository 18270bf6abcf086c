"""What people and machines see of a running stream: figures for Prometheus, log lines, a status line."""

from __future__ import annotations

import json
import logging
import sys
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal, TextIO

from eventide.spark.config import Log, Metrics
from eventide.spark.failures import ServiceError

CLEAR_LINE = "\r\x1b[K"


def _counter(help: str) -> Any:
    return field(default=0, metadata={"kind": "counter", "help": help})


def _gauge(help: str) -> Any:
    return field(default=0, metadata={"kind": "gauge", "help": help})


@dataclass
class Figures:
    """The figures of a stream since it was started."""

    events_total: int = _counter("facts that were read")
    late_total: int = _counter("facts that came too late for the window")
    bad_total: int = _counter("records that could not be read")
    before_start_total: int = _counter("facts from before the start")
    changes_total: int = _counter("rows that were put out")
    batches_total: int = _counter("batches that were finished")
    batch_seconds_total: float = _counter("seconds spent in batches")
    batch_seconds: float = _gauge("seconds that the last batch took")
    last_batch_time_seconds: float = _gauge("when the last batch was finished, in seconds since 1970")
    query_time: int | None = _gauge("the last query time that was answered")
    clock: int | None = _gauge("the latest time of the stream")
    lag: int | None = _gauge("how far the answers are behind the stream: clock minus query time")
    state_rows: int = _gauge("facts and intervals that are held")
    state_bytes: int = _gauge("bytes in the state store")

    def text(self) -> str:
        """The figures in the format of Prometheus.

        >>> print(Figures(events_total=3).text().splitlines()[2])
        eventide_events_total 3
        """
        lines = []
        for each in fields(self):
            value = getattr(self, each.name)
            if value is not None:
                name = f"eventide_{each.name}"
                lines += [f"# HELP {name} {each.metadata['help']}", f"# TYPE {name} {each.metadata['kind']}",
                          f"{name} {value}"]
        return "\n".join([*lines, ""])


@dataclass(frozen=True)
class Batch:
    """What one batch was."""

    number: int
    events: int = 0
    late: int = 0
    bad: int = 0
    before_start: int = 0
    changes: int = 0
    query_time: int | None = None
    clock: int | None = None
    state_rows: int = 0
    state_bytes: int = 0
    seconds: float = 0.0

    def added_to(self, figures: Figures) -> None:
        """Count it."""
        for name in ("events", "late", "bad", "before_start", "changes"):
            setattr(figures, f"{name}_total", getattr(figures, f"{name}_total") + getattr(self, name))
        figures.batches_total += 1
        figures.batch_seconds_total += self.seconds
        figures.batch_seconds, figures.last_batch_time_seconds = self.seconds, time.time()
        figures.state_rows, figures.state_bytes = self.state_rows, self.state_bytes
        figures.clock = self.clock if self.clock is not None else figures.clock
        figures.query_time = self.query_time if self.query_time is not None else figures.query_time
        if figures.clock is not None and figures.query_time is not None:
            figures.lag = figures.clock - figures.query_time

    def data(self) -> dict[str, object]:
        """The fields of a log line."""
        found = {each.name: getattr(self, each.name) for each in fields(self)}
        return {"batch": found.pop("number"), **found, "seconds": round(self.seconds, 3)}

    def text(self) -> str:
        """One line for people.

        >>> Batch(3, events=1200, late=2, changes=40, query_time=7200, seconds=0.5).text()
        'batch 3: 1,200 events, 40 rows out, 2 late, query time 7200, 0.5 s'
        """
        parts = [count_of(self.events, "event"), f"{count_of(self.changes, 'row')} out"]
        parts += [f"{number:,} {name}" for number, name in (
            (self.late, "late"), (self.bad, "bad"), (self.before_start, "before the start")) if number]
        parts += [f"query time {self.query_time}"] if self.query_time is not None else []
        return f"batch {self.number}: {', '.join(parts)}, {self.seconds:.1f} s"


# -- metrics -----------------------------------------------------------------------------------------------------------


class MetricsServer:
    """Serves figures on `http://host:port/metrics` until it is closed."""

    def __init__(self, settings: Metrics, figures: Figures) -> None:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                known = self.path.split("?")[0] in ("/metrics", "/")
                data = figures.text().encode() if known else b"the figures are at /metrics\n"
                self.send_response(200 if known else 404)
                self.send_header("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, format: str, *args: Any) -> None:
                pass

        try:
            self._server = ThreadingHTTPServer((settings.host, settings.port), Handler)
        except OSError as error:
            raise ServiceError(f"cannot serve metrics at {settings.host}:{settings.port}: {error.strerror or error}; "
                               "choose another metrics.port") from error
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True, name="eventide-metrics")
        self._thread.start()

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self._server.server_address[1])

    def close(self) -> None:
        """Stop."""
        self._server.shutdown()
        self._server.server_close()


# -- logs and the status line ------------------------------------------------------------------------------------------


class Reporter:
    """Tells how a stream goes: log lines by the configuration, and on a terminal one line that is kept up to date."""

    def __init__(self, settings: Log, *, quiet: bool = False, as_json: bool = False, out: TextIO | None = None) -> None:
        self._out = out or sys.stderr
        self._status = self._out.isatty() and not quiet and not as_json
        self._in_file = settings.file is not None
        self._logger = logging.Logger("eventide.stream", logging.getLevelName(settings.level.upper()))
        self._handler = self._made(settings, "json" if as_json else settings.format)
        if quiet and not self._in_file:
            self._handler.setLevel(logging.WARNING)
        self._logger.addHandler(self._handler)
        self._begun = time.monotonic()

    def _made(self, settings: Log, form: Literal["text", "json"]) -> logging.Handler:
        try:
            handler = _Lines(self._out, self._status) if settings.file is None else logging.FileHandler(
                settings.file, encoding="utf-8")
        except OSError as error:
            raise ServiceError(f"cannot write the log {settings.file}: {error.strerror or error}") from error
        handler.setFormatter(_Formatter(form))
        return handler

    def say(self, message: str, level: int = logging.INFO, **data: object) -> None:
        """A log line; `data` are its further fields."""
        self._logger.log(level, message, extra={"data": data})

    def warn(self, message: str, **data: object) -> None:
        """A log line about something to look at."""
        self.say(message, logging.WARNING, **data)

    def batch(self, batch: Batch, figures: Figures) -> None:
        """Tell of a finished batch."""
        self.say(batch.text(), logging.DEBUG if self._status and not self._in_file else logging.INFO, **batch.data())
        if self._status:
            self._out.write(CLEAR_LINE + status_line(batch, figures, time.monotonic() - self._begun))
            self._out.flush()

    def close(self) -> None:
        """End the status line and the log."""
        if self._status:
            self._out.write("\n")
        self._logger.removeHandler(self._handler)
        self._handler.close()


def count_of(number: int, name: str) -> str:
    """A number with what is counted.

    >>> count_of(1, "row"), count_of(1200, "batch")
    ('1 row', '1,200 batches')
    """
    return f"{number:,} {name}{'' if number == 1 else 'es' if name.endswith('ch') else 's'}"


def status_line(batch: Batch, figures: Figures, seconds: float) -> str:
    """The stream in one line.

    >>> figures = Figures(events_total=5000, changes_total=70, batch_seconds_total=2.0, query_time=60, lag=5)
    >>> status_line(Batch(4), figures, 3700.0)
    'batch 4 · 5,000 events (2,500/s) · 70 rows out · query time 60, 5 behind · running 1:01:40'
    """
    rate = figures.events_total / figures.batch_seconds_total if figures.batch_seconds_total else 0.0
    parts = [f"batch {batch.number}", f"{count_of(figures.events_total, 'event')} ({rate:,.0f}/s)",
             f"{count_of(figures.changes_total, 'row')} out"]
    parts += [f"{number:,} {name}" for number, name in ((figures.late_total, "late"), (figures.bad_total, "bad"))
              if number]
    parts += [f"query time {figures.query_time}, {figures.lag} behind"] if figures.query_time is not None else []
    minutes, rest = divmod(int(seconds), 60)
    parts.append(f"running {minutes // 60}:{minutes % 60:02d}:{rest:02d}")
    return " · ".join(parts)


class _Lines(logging.StreamHandler[TextIO]):
    """Lines that do not run into the status line."""

    def __init__(self, out: TextIO, status: bool) -> None:
        super().__init__(out)
        self._before = CLEAR_LINE if status else ""

    def format(self, record: logging.LogRecord) -> str:
        return self._before + super().format(record)


class _Formatter(logging.Formatter):
    """Time, level, message and fields, as text or as JSON."""

    def __init__(self, form: Literal["text", "json"]) -> None:
        super().__init__()
        self._form = form

    def format(self, record: logging.LogRecord) -> str:
        at = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created)) + f".{int(record.msecs):03d}Z"
        data: Mapping[str, object] = getattr(record, "data", {})
        level, message = record.levelname.lower(), record.getMessage()
        if self._form == "json":
            return json.dumps({"time": at, "level": level, "message": message, **data})
        return f"{at} {level} {message}"
