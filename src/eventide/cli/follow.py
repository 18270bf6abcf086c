"""`eventide run --follow`: the lines of a stream as they come, answers as soon as a query time has passed."""

from __future__ import annotations

import io
import json
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from time import sleep
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from eventide.cli.account import account, by_name, count_of, tell_of_warnings, too_late
from eventide.cli.messages import messages
from eventide.cli.output import bad_path, late_columns, late_path, standard_output
from eventide.engine.recognition import Settings
from eventide.engine.session import Changes, Session
from eventide.errors import EventideError, InputError, RuleError
from eventide.formats.facts import Facts, chosen
from eventide.formats.problems import SHOWN, BadRows, write_bad_rows
from eventide.formats.results import WRITERS, Columns, sorted_columns, whole_file
from eventide.formats.tail import Place, Tail
from eventide.program import Program
from eventide.results import emitted, listed, no_rows

if TYPE_CHECKING:
    from eventide.cli.reload import Reload
    from eventide.formats.expected import TimeUnit
    from eventide.probability.recognition import Uncertainty
    from eventide.probability.session import UncertainChanges, UncertainSession
    from eventide.syntax.diagnostics import Diagnostic

FIRST = -(2**63)


@dataclass(frozen=True)
class Options:
    """What a stream is followed with; a saved state belongs to the same options."""

    settings: Settings
    emit: Literal["windows", "changes"]
    fluents: Sequence[str] | None = None
    horizon: int | None = None
    bad_rows: BadRows = "fail"
    late: str = "report"
    time_unit: TimeUnit | None = None
    uncertainty: Uncertainty | None = None


@dataclass
class Position:
    """How far a stream has been followed; sizes are those of the files that have grown so far."""

    place: Place
    start: int | None
    clock: int = FIRST
    news: int = FIRST
    """The latest arrival so far, and the latest time at which something occurs or arrives."""
    bad: int = 0
    sizes: tuple[int, ...] = (0, 0, 0)


class Following:
    """One stream, followed from its beginning or from a saved state."""

    def __init__(self, program: Program, options: Options, path: str, out: Path | None, state: Path | None,
                 reload: Reload[Program] | None = None) -> None:
        self.program, self.options, self.out, self.state, self.reload = program, options, out, state, reload
        settings = options.settings
        self.step = settings.step or settings.window or 1
        self.session = _session(program, options)
        self.now = Position(Place(), settings.start)
        self._known = {"source": path, **json.loads(json.dumps(asdict(options)))}
        if state is not None and state.exists():
            self._resume(state)
        self.tail = Tail(path, self.now.place)
        self._files = [] if out is None else [out, late_path(out), bad_path(out)]
        for file, size in zip(self._files, self.now.sizes, strict=False):
            if file == out or file.exists():
                with file.open("ab") as grown:  # what was written after the state was saved comes again
                    grown.truncate(size)
        self._waiting = bytearray()

    def run(self, poll: float) -> None:
        """Follow the stream to its end: of standard input, or for ever."""
        suffix = self.out.suffix if self.out is not None else ".jsonl" if messages.json else ".csv"
        try:
            with nullcontext() if self.reload is None else self.reload.listening():
                WRITERS[suffix](self._pieces(poll), self)  # type: ignore[arg-type]
            self._commit()
        finally:
            counts = self.session.counts
            late = None if self.out is None else late_path(self.out)
            account(counts, self.now.bad, bad_path(self.out), late)
            messages.say(f"followed {count_of(counts.facts, 'fact')} through {count_of(counts.queries, 'query time')}",
                         facts=counts.facts, queries=counts.queries)

    # -- reading ------------------------------------------------------------------------------------------------------

    def _pieces(self, poll: float) -> Iterator[Columns]:
        """The rows of each query time; each time this goes on, those before have been handed to `write`."""
        yield sorted_columns(no_rows(self.options.emit, self.session.answer().schema))
        if self.session.query_time is not None:
            self._waiting.clear()  # the header is there already
        self._commit()
        if self.session.query_time is not None:  # it may have been killed between two query times that are due
            yield from self._answers(self.now.clock)
        while not self.tail.ended:
            self._reload()
            text = self.tail.read()
            if text is not None:
                facts = self.program.read(text, bad_rows="skip", time_unit=self.options.time_unit)
                problems = [row.diagnostic for row in facts.bad] if self.options.bad_rows == "fail" else []
                self._insert(_above(facts, problems) if problems else facts)
                yield from self._answers(self.now.clock)
                if problems:
                    raise InputError("\n".join(problem.render() for problem in problems[:SHOWN]), problems[:SHOWN])
            elif self.tail.idle:
                sleep(poll)
        yield from self._answers(self.now.news + self.step)  # the stream is over: what has come is covered

    def _reload(self) -> None:
        """Go on with other rules, if these have been changed."""
        program = None if self.reload is None else self.reload.loaded()
        if program is None or self.reload is None or not isinstance(self.session, Session):
            return
        try:
            found = self.session.swap(program)
        except EventideError as error:
            self.reload.refuse(error)
        else:
            self.program = program
            tell_of_warnings(program.check())
            self.reload.tell(str(found))

    def _insert(self, facts: Facts) -> None:
        self.now.place = self.tail.place
        if facts.bad:
            write_bad_rows(facts.bad, bad_path(self.out), more=self.now.bad > 0)
            self.now.bad += facts.bad_count
        if not len(facts):
            return
        tables = list(facts)
        order = np.argsort(np.concatenate([t.rows for t in tables if t.rows is not None]), kind="stable")
        times = np.concatenate([t.time for t in tables])[order]
        arrivals = np.concatenate([t.time if t.arrival is None else t.arrival for t in tables])[order]
        if self.now.start is None:
            self.now.start = int(times[0]) - self.options.settings.tick
        # lines come one after the other: none arrives before the one above it
        arrivals = np.maximum(np.maximum.accumulate(arrivals), self.now.clock)
        self.now.clock, self.now.news = int(arrivals[-1]), max(self.now.news, int(arrivals[-1]), int(times.max()))
        placed = np.empty_like(arrivals)
        placed[order] = arrivals
        parts = np.split(placed, np.cumsum([len(t) for t in tables])[:-1])
        self.session.insert(Facts({key: replace(table, arrival=part)
                                   for (key, table), part in zip(facts.tables.items(), parts, strict=True)}))

    # -- answering ----------------------------------------------------------------------------------------------------

    def _answers(self, before: int) -> Iterator[Columns]:
        """The rows at each query time before a time."""
        if self.now.start is None:
            return
        query = (self.now.start if self.session.query_time is None else self.session.query_time) + self.step
        if (before - query) // self.step > 10_000:
            messages.say(f"the time goes from {query} to {before}: {(before - query) // self.step} query times")
        while query < before:
            try:
                changes = self.session.advance(to=query)
            except RuleError as error:
                raise self.program.placed(error) from error
            self._tell_late(changes)
            yield sorted_columns(emitted(self.session, changes, self.options.emit))
            self._commit()
            self._save()
            query += self.step

    def _tell_late(self, changes: Changes | UncertainChanges) -> None:
        if not changes.late.num_rows:
            return
        if self.options.late == "fail":
            raise too_late(self.session.counts)
        names = changes.late["fact"].value_counts().to_pylist()
        found = by_name({row["values"]: row["counts"] for row in names})
        messages.say(f"at {changes.query_time}: {count_of(changes.late.num_rows, 'fact')} too late ({found})",
                     query_time=changes.query_time, too_late=changes.late.num_rows)
        if self.out is not None:
            rows = io.BytesIO()
            WRITERS[".csv"](late_columns([listed(changes.late, changes.query_time)]), rows)
            with late_path(self.out).open("ab") as file:
                file.write(rows.getvalue() if file.tell() == 0 else rows.getvalue().partition(b"\n")[2])

    # -- writing ------------------------------------------------------------------------------------------------------

    def write(self, data: Any) -> None:
        """Take rows from a writer; they wait until their query time is whole."""
        self._waiting += memoryview(data)

    def _commit(self) -> None:
        with uninterrupted():
            if self.out is None:
                target = standard_output()
                target.write(self._waiting)
                target.flush()
            else:
                with self.out.open("ab", buffering=0) as file:
                    file.write(self._waiting)
            self._waiting.clear()

    # -- state --------------------------------------------------------------------------------------------------------

    def _save(self) -> None:
        """Write where the stream stands, whole or not at all."""
        if self.state is None:
            return
        self.now.sizes = tuple(file.stat().st_size if file.exists() else 0 for file in self._files)
        head = json.dumps({"options": self._known, "position": asdict(self.now)})
        with uninterrupted(), whole_file(self.state) as file:
            file.write(f"{head}\n".encode() + self.session.save())

    def _resume(self, state: Path) -> None:
        head, _, session = state.read_bytes().partition(b"\n")
        try:
            saved = json.loads(head)
            position = saved["position"]
            place = Place(**position.pop("place"))
            self.now = Position(place, **position)
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(f"{state} is no state of a stream: {error}") from error
        known = saved["options"]
        other = sorted(name for name in {*known, *self._known} if known.get(name) != self._known.get(name))
        if other:
            raise InputError(f"{state} was saved with other options ({', '.join(other)}); remove it to start again")
        self.session = self.program.restore(session, swap=self.reload is not None)
        if self.reload is not None and isinstance(self.session, Session) and self.session.swapped is not None:
            self.reload.tell(str(self.session.swapped))


def _session(program: Program, options: Options) -> Session | UncertainSession:
    """A session that has seen nothing yet."""
    settings = options.settings
    if options.uncertainty is not None:
        return program.session(probabilistic=True, threshold=options.uncertainty.threshold, window=settings.window,
                               start=settings.start, tick=settings.tick, initially_at=settings.initially_at,
                               fluents=options.fluents)
    return program.session(window=settings.window, start=settings.start, tick=settings.tick,
                           initially_at=settings.initially_at, ties=settings.ties, horizon=options.horizon,
                           fluents=options.fluents)


def _above(facts: Facts, problems: Sequence[Diagnostic]) -> Facts:
    """The facts above the first problem: those that count wherever the stream is cut into pieces."""
    line = min(problem.span.line for problem in problems if problem.span is not None)
    tables = {key: chosen(table, table.rows < line) for key, table in facts.tables.items() if table.rows is not None}
    return Facts({key: table for key, table in tables.items() if len(table)})


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Let Ctrl-C wait until the block is done."""
    came: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: came.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if came:
        raise KeyboardInterrupt
