"""`eventide run`: facts and rules to maximal intervals, with an account of everything that was left out."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from eventide.cli.messages import messages
from eventide.cli.progress import progress
from eventide.errors import EventideError, InputError

if TYPE_CHECKING:
    from eventide.engine.recognition import Counts
    from eventide.formats.facts import Facts
    from eventide.program import Program
    from eventide.results import Result

LARGEST = 2**62  # times and lengths must leave room in 64 bits


def run(
    program: Annotated[str, typer.Argument(metavar="PROGRAM", help="The rules: `.ec`, `.prolog` or `.pl`.")],
    events: Annotated[list[str], typer.Option(
        metavar="FILE…", help="Facts: `.csv`, `.jsonl` (also `.gz`), `.parquet`, `.arrow`; or `NAME=FILE`, the table "
        "of one event.")],
    background: Annotated[list[str] | None, typer.Option(
        metavar="FILE…", help="Facts and clauses (`.ec`, `.prolog`), or `NAME=FILE.csv`, a relation.")] = None,
    window: Annotated[int | None, typer.Option(
        metavar="N", help="Length of the window; without it, one window over the whole stream.", min=1)] = None,
    step: Annotated[int | None, typer.Option(
        metavar="N", help="Distance of query times [default: the window].", min=1)] = None,
    start: Annotated[int | None, typer.Option(
        metavar="T", help="Facts up to this time are outside [default: a tick before the first].")] = None,
    end: Annotated[int | None, typer.Option(
        metavar="T", help="The end of the run [default: when the last fact occurs or arrives].")] = None,
    tick: Annotated[int, typer.Option(metavar="N", help="Distance of neighbouring time-points.", min=1)] = 1,
    emit: Annotated[Literal["timeline", "windows", "changes"], typer.Option(
        help="The final intervals, those of each window, or what changes from one query time to the next.",
    )] = "timeline",
    engine: Annotated[Literal["local", "spark"], typer.Option(help="Where it runs.")] = "local",
    fluents: Annotated[str | None, typer.Option(
        metavar="A,B,…", help="Keep only these fluents and events in the result.")] = None,
    initially_at: Annotated[int, typer.Option(metavar="T", help="Where the values of `initially` begin.")] = 0,
    bad_rows: Annotated[Literal["fail", "skip"], typer.Option(
        help="Stop at rows that are no facts, or count them and write them to OUT.bad.csv.")] = "fail",
    late: Annotated[Literal["report", "fail"], typer.Option(
        help="What to do with facts older than the window when they arrive.")] = "report",
    ties: Annotated[Literal["termination", "initiation"], typer.Option(
        help="Which wins when both happen at one time-point.")] = "termination",
    threads: Annotated[int | None, typer.Option(
        metavar="N", help="How many threads may be used [default: all].", min=1)] = None,
    time_unit: Annotated[Literal["s", "ms", "us", "ns"] | None, typer.Option(
        help="The unit of a time-point, where times are dates.")] = None,
    profile: Annotated[bool, typer.Option("--profile", help="Tell how long each part took.")] = False,
    out: Annotated[Path | None, typer.Option(
        "--out", "-o", metavar="OUT", help="The result: `.csv`, `.parquet` or `.jsonl` [default: CSV on standard "
        "output].")] = None,
) -> None:
    """Recognise: the maximal intervals of every fluent over a stream of facts.

    Example:

    ```
    echo "initiatedAt(rich(X)=true, T) :- happensAt(win(X), T)." > rules.ec
    echo "win|3|3|ann" > events.csv
    eventide run rules.ec --events events.csv
    ```
    """
    for option, number in {"window": window, "step": step, "start": start, "end": end, "tick": tick,
                           "initially-at": initially_at}.items():
        if number is not None and abs(number) > LARGEST:
            raise typer.BadParameter(f"{number} is out of range: times have less than 63 bits",
                                     param_hint=f"--{option}")
    if engine == "spark":
        raise typer.BadParameter("the Spark engine is not part of this version; use --engine local",
                                 param_hint="--engine")
    if start is not None and end is not None and end < start:
        raise typer.BadParameter(f"the run would end at {end}, before it starts at {start}", param_hint="--end")
    if step is not None and window is None:
        window = step
    _check_ending(out)
    _check_inputs_stay(out, [program, *events, *(background or ())])
    watch = Watch()
    if threads is not None:
        limit_threads(threads)

    from eventide.program import load

    with watch("rules"):
        loaded = load(program, background=background or ())
        loaded.require_sound()
        chosen = _chosen(loaded, fluents)
    warnings = sum(d.severity == "warning" for d in loaded.check())
    if warnings:
        messages.say(f"{_count(warnings, 'warning')} about the rules; `eventide check` shows them", warnings=warnings)
    with watch("reading"):
        facts = loaded.read(events, bad_rows=bad_rows, time_unit=time_unit)
    for note in facts.notes:
        messages.note(note)
    messages.say(f"read {_count(len(facts), 'fact')} of {_count(len(facts.tables), 'kind')} in {watch.last:.2f} s")
    if window is not None and step is not None and step > window:
        messages.say(f"the step ({step}) is longer than the window ({window}): facts between two windows are too late")
    with watch("reasoning"), progress("window") as advance:
        result = loaded.run(facts, window=window, step=step, start=start, end=end, tick=tick, emit=emit,
                            fluents=chosen, initially_at=initially_at, ties=ties, progress=advance)
    if late == "fail" and result.counts.too_late:
        raise too_late(result.counts)
    with watch("writing"):
        left_out = _write_bad(facts, out)
        _write(result, out)
    _account(facts, result, left_out, out, watch, profile)


class Watch:
    """The time that each part of the work took."""

    def __init__(self) -> None:
        self.parts: dict[str, float] = {}
        self.last = 0.0

    @contextmanager
    def __call__(self, part: str) -> Iterator[None]:
        """Measure what is done inside."""
        began = time.perf_counter()
        yield
        self.last = self.parts[part] = time.perf_counter() - began

    @property
    def total(self) -> float:
        """All parts together."""
        return sum(self.parts.values())


def limit_threads(number: int) -> None:
    """Let the libraries below use at most so many threads."""
    import pyarrow as pa

    pa.set_cpu_count(number)
    pa.set_io_thread_count(max(1, number))


def too_late(counts: Counts) -> EventideError:
    """The error for facts that no window sees, one problem per name."""
    from eventide.syntax.diagnostics import Diagnostic

    hint = "use a longer --window, or --late report to go on without them"
    problems = [Diagnostic("error", "too-late", f"{_count(number, 'fact')} of {name} arrived later than the window "
                           "reaches back", None, hint) for name, number in sorted(counts.late_by_name.items())]
    return InputError("\n".join(p.render() for p in problems), problems)


def _chosen(program: Program, fluents: str | None) -> list[str] | None:
    """The names of `--fluents`, if the program derives them all."""
    if fluents is None:
        return None
    from eventide.formats.problems import suggestion

    names = [name.strip() for name in fluents.split(",") if name.strip()]
    unknown = [name for name in names if name not in program.fluents]
    if unknown or not names:
        wrong = unknown[0] if unknown else fluents
        hint = suggestion(wrong, program.fluents) or f"it derives {', '.join(program.fluents) or 'nothing'}"
        raise typer.BadParameter(f"the program derives no {wrong!r}; {hint}", param_hint="--fluents")
    return names


def _check_ending(out: Path | None) -> None:
    """Refuse a result that cannot be written before any work is done."""
    if out is None:
        return
    from eventide.formats.results import WRITERS, writer_for

    if out.suffix not in WRITERS:
        known = ", ".join(WRITERS)
        raise typer.BadParameter(f"{out}: the ending does not say how to write the result; known are {known}",
                                 param_hint="-o")
    writer_for(out)


def _check_inputs_stay(out: Path | None, inputs: list[str]) -> None:
    """Refuse a result that would replace what it is made from."""
    if out is None or not out.exists():
        return
    from eventide.formats.events import split_name

    for path in (Path(split_name(name)[1]) for name in inputs):
        if path.exists() and path.samefile(out):
            raise typer.BadParameter(f"{out} is an input of this run; the result would replace it", param_hint="-o")


def _write(result: Result, out: Path | None) -> None:
    if out is not None:
        result.write(out)
        return
    from eventide.formats.results import WRITERS, sorted_columns

    if sys.stdout is None:
        raise InputError("standard output is closed; name a file with -o")
    sys.stdout.flush()
    WRITERS[".jsonl" if messages.json else ".csv"](sorted_columns(result.to_arrow()), sys.stdout.buffer)
    sys.stdout.buffer.flush()


def _write_bad(facts: Facts, out: Path | None) -> Path | None:
    """The rows left out go to a file beside the result, whole or not at all."""
    if not facts.bad_count:
        return None
    from eventide.formats.problems import write_bad_rows

    path = Path("eventide.bad.csv") if out is None else out.with_name(f"{out.name}.bad.csv")
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        write_bad_rows(facts.bad, part)
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)
    return path


def _account(facts: Facts, result: Result, left_out: Path | None, out: Path | None, watch: Watch,
             profile: bool) -> None:
    """Say what was seen, what was left out and why, and what came of it."""
    counts = result.counts
    if left_out is not None:
        messages.say(f"left out {_count(facts.bad_count, 'bad row')}; they are in {left_out}",
                     bad_rows=facts.bad_count, file=str(left_out))
    if counts.before_start:
        messages.say(f"left out {_count(counts.before_start, 'fact')} up to the start of the run",
                     before_start=counts.before_start)
    if counts.after_end:
        messages.say(f"left out {_count(counts.after_end, 'fact')} after the end of the run",
                     after_end=counts.after_end)
    if counts.unmatched:
        messages.say(f"{_count(counts.unmatched, 'retraction')} of facts that were not there",
                     unmatched=counts.unmatched)
    if counts.too_late:
        names = ", ".join(f"{name}: {number}" for name, number in sorted(counts.late_by_name.items()))
        messages.say(f"left out {_count(counts.too_late, 'fact')} that arrived too late for the window ({names})",
                     too_late=counts.too_late, by_name=dict(counts.late_by_name))
    where = "" if out is None else f" in {out}"
    messages.say(f"recognised {_count(len(result), 'row')}{where} from {_count(counts.facts, 'fact')} "
                 f"at {_count(counts.queries, 'query time')} in {watch.total:.2f} s",
                 rows=len(result), facts=counts.facts, queries=counts.queries, seconds=round(watch.total, 6))
    if profile:
        for part, seconds in watch.parts.items():
            messages.say(f"{part:10} {seconds:10.3f} s", part=part, seconds=round(seconds, 6))
        rate = counts.facts / max(watch.parts["reasoning"], 1e-9)
        messages.say(f"{'speed':10} {rate:10.0f} facts a second of reasoning", facts_per_second=round(rate))


def _count(number: int, what: str) -> str:
    """`1 fact`, `2 facts`."""
    return f"{number} {what}{'' if number == 1 else 's'}"
