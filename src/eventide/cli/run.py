"""`eventide run`: facts and rules to maximal intervals, with an account of everything that was left out."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO, Literal

import typer

from eventide.cli.messages import messages
from eventide.cli.progress import progress
from eventide.errors import EventideError, InputError

if TYPE_CHECKING:
    import pyarrow as pa

    from eventide.engine.recognition import Counts
    from eventide.formats.facts import BadRow, Facts
    from eventide.formats.results import Columns
    from eventide.probability.recognition import Uncertainty
    from eventide.program import Program
    from eventide.results import Answers

LARGEST = 2**62  # times and lengths must leave room in 64 bits
IN_MEMORY = 1 << 26  # what goes to standard output waits until all is known, in memory or beyond that on the disk


def time_or_length(text: str) -> int | Fraction:
    """A number of the command line: whole, or for dense time a fraction or decimal, kept exact."""
    try:
        number = Fraction(text)
    except (ValueError, ZeroDivisionError):
        raise typer.BadParameter(f"{text!r} is no number; write 12, or for DatalogMTL 7/2 or 3.5") from None
    return int(number) if number.denominator == 1 else number


def run(
    program: Annotated[str, typer.Argument(
        metavar="PROGRAM", help="The rules: `.ec`, `.prolog`, `.pl`; `.mtl` DatalogMTL; `.lars` LARS.")],
    events: Annotated[list[str], typer.Option(
        metavar="FILE…", help="Facts: `.csv`, `.jsonl` (also `.gz`), `.parquet`, `.arrow`, for DatalogMTL `.facts`; or "
        "`NAME=FILE`, the table of one event; with `--follow` also `-`, standard input.")],
    background: Annotated[list[str] | None, typer.Option(
        metavar="FILE…", help="Facts and clauses (`.ec`, `.prolog`), or `NAME=FILE.csv`, a relation.")] = None,
    window: Annotated[int | None, typer.Option(
        metavar="N", help="Length of the window; without it, one window over the whole stream.", min=1)] = None,
    step: Annotated[int | None, typer.Option(
        metavar="N", help="Distance of query times [default: the window]; with `.mtl` the facts are a stream that is "
        "taken in so far at a time.", parser=time_or_length)] = None,
    start: Annotated[int | None, typer.Option(
        metavar="T", help="Facts up to this time are outside [default: a tick before the first].")] = None,
    end: Annotated[int | None, typer.Option(
        metavar="T", help="The end of the run [default: when the last fact occurs or arrives].")] = None,
    tick: Annotated[int, typer.Option(metavar="N", help="Distance of neighbouring time-points.", min=1)] = 1,
    emit: Annotated[Literal["timeline", "windows", "changes"] | None, typer.Option(
        help="The final intervals, those of each window, or what changes from one query time to the next "
        "[default: timeline; with --follow changes].")] = None,
    engine: Annotated[Literal["local", "spark"], typer.Option(
        help="Where it runs: in this process, or on Spark.")] = "local",
    spark_master: Annotated[str | None, typer.Option(
        metavar="URL", help="With `--engine spark`: where Spark runs [default: local[*]].")] = None,
    fluents: Annotated[str | None, typer.Option(
        metavar="A,B,…", help="Keep only these fluents and events in the result.")] = None,
    initially_at: Annotated[int, typer.Option(metavar="T", help="Where the values of `initially` begin.")] = 0,
    bad_rows: Annotated[Literal["fail", "skip"], typer.Option(
        help="Stop at rows that are no facts, or count them and write them to OUT.bad.csv.")] = "fail",
    late: Annotated[Literal["report", "fail"], typer.Option(
        help="Facts older than the window when they arrive: count them and write them to OUT.late.csv, or stop.",
    )] = "report",
    horizon: Annotated[int | None, typer.Option(
        metavar="N", help="How far back `before` may look: the second period begins at most N after the first ends "
        "[default: to the start]. With `.mtl`: the time up to which is asked.", parser=time_or_length)] = None,
    at: Annotated[str | None, typer.Option(
        metavar="TIMES", help="With `.mtl`: answer at these times only, `points` (where facts begin or end), `every:N` "
        "or a list such as `1,7/2`.")] = None,
    variant: Annotated[Literal["auto", "hash", "algorithm-1"] | None, typer.Option(
        help="With `.mtl`: how a stream is taken in, with #-facts or by Algorithm 1 [default: as the rules allow].",
    )] = None,
    delay: Annotated[int | None, typer.Option(
        metavar="N", help="With `.mtl` and `--emit changes`: how much later than they begin facts may arrive "
        "[default: as late as they like].", parser=time_or_length)] = None,
    follow: Annotated[bool, typer.Option(
        "--follow", help="Read on as a file grows, or standard input, and answer each query time when it has passed.",
    )] = False,
    poll: Annotated[float, typer.Option(
        metavar="SECONDS", help="With `--follow`: how often to look whether a file has grown.", min=0.001)] = 0.5,
    state: Annotated[Path | None, typer.Option(
        metavar="FILE", help="With `--follow` and `-o`: save here after every query time, and go on from it.")] = None,
    ties: Annotated[Literal["termination", "initiation"], typer.Option(
        help="Which wins when both happen at one time-point.")] = "termination",
    probabilistic: Annotated[bool, typer.Option(
        "--probabilistic", help="Facts count with their `probability`, rules with theirs, and every row has one. Ties "
        "go to the initiation.")] = False,
    threshold: Annotated[str | None, typer.Option(
        metavar="P", help="With `--probabilistic`: the longest intervals whose mean probability is at least P "
        "[default: stretches of constant probability].")] = None,
    history: Annotated[Literal["marginal", "exact"] | None, typer.Option(
        help="With `--probabilistic`: what fluents that depend on others know of their past, its probability alone or "
        "all of it, for small cases [default: marginal].")] = None,
    models: Annotated[Literal["first", "all", "cautious", "brave"] | None, typer.Option(
        help="With `.lars`: of several answer streams the first, all, or what all or some have in common "
        "[default: first].")] = None,
    contradictions: Annotated[Literal["discard", "flag"] | None, typer.Option(
        help="With `.lars`: time-points with a contradiction have no answer, or it is reported as `⊥` [default: "
        "discard].")] = None,
    earlier: Annotated[bool, typer.Option(
        "--earlier", help="With `.lars`: tell also what is known of earlier time-points, in the column `value`.",
    )] = False,
    maintain: Annotated[bool, typer.Option(
        "--maintain", help="With `.lars`: evaluate by truth maintenance; it tells which facts contradict each other.",
    )] = False,
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
    if program.endswith(".lars"):
        from eventide.cli.run_lars import LarsOptions, run_lars

        refuse_options("LARS", {
            "--window": (window, "the windows stand in the rules"),
            "--step": (step, "it is evaluated at every time-point"),
            "--tick": (tick if tick != 1 else None, "the first line of the rules says how long a time-point lasts"),
            "--initially-at": (initially_at or None, "nothing holds initially"),
            "--horizon": (horizon, "time begins at 0"), "--at": (at, "it is for .mtl"),
            "--ties": (ties if ties != "termination" else None, "nothing is initiated"),
            "--variant": (variant, "it is for .mtl"), "--delay": (delay, "it is for .mtl"),
            "--state": (state, "Python's sessions are saved"),
            "--follow": (follow or None, "Python's sessions follow streams"),
            "--probabilistic": (probabilistic or None, "facts are certain"),
            "--threshold": (threshold, "facts are certain"), "--history": (history, "facts are certain")})
        check_ending(out)
        check_inputs_stay(out, [program, *events, *(background or ())])
        if threads is not None:
            limit_threads(threads)
        run_lars(program, events, background or [], LarsOptions(
            start, end, models or "first", contradictions or "discard", earlier, maintain, emit or "timeline", engine,
            spark_master, fluents, bad_rows, time_unit, profile), out)
        return
    refuse_options("this language", {option: (given or None, "it is for .lars") for option, given in {
        "--models": models, "--contradictions": contradictions, "--earlier": earlier, "--maintain": maintain}.items()})
    if program.endswith(".mtl"):
        from eventide.cli.run_mtl import MtlOptions, run_mtl

        certain = "facts are certain"
        refuse_options("DatalogMTL", {
            "--window": (window, "how far back is asked is told by the rules"), "--start": (start, "time has no start"),
            "--end": (end, "--horizon says up to where is asked"), "--initially-at": (initially_at or None, certain),
            "--tick": (tick if tick != 1 else None, "time is dense"), "--history": (history, certain),
            "--probabilistic": (probabilistic or None, certain), "--threshold": (threshold, certain),
            "--follow": (follow or None, "Python's sessions follow streams"),
            "--state": (state, "Python's sessions are saved"),
            "--background": (background or None, "all facts have a time, for ever as P(a)@(-inf,inf)"),
            "--ties": (ties if ties != "termination" else None, "nothing is initiated")})
        check_ending(out)
        check_inputs_stay(out, [program, *events])
        if threads is not None:
            limit_threads(threads)
        run_mtl(program, events, MtlOptions(step, horizon, at, variant, emit or "timeline", fluents, delay, bad_rows,
                                            late, time_unit, engine, spark_master, profile), out)
        return
    refuse_options("the Event Calculus", {option: (given, "it is for .mtl") for option, given in {
        "--at": at, "--variant": variant, "--delay": delay}.items()})
    for option, length in {"--step": step, "--horizon": horizon}.items():
        if isinstance(length, Fraction):
            raise typer.BadParameter(f"{length} is no whole number", param_hint=f"'{option}'")
        if length is not None and length < 1:
            raise typer.BadParameter("Input should be greater than or equal to 1", param_hint=f"'{option}'")
    for option, number in {"window": window, "step": step, "start": start, "end": end, "tick": tick,
                           "initially-at": initially_at, "horizon": horizon}.items():
        if number is not None and abs(number) > LARGEST:
            raise typer.BadParameter(f"{number} is out of range: times have less than 63 bits",
                                     param_hint=f"--{option}")
    if engine == "spark" and follow:
        raise typer.BadParameter("on Spark a stream is followed by `eventide stream`", param_hint="--follow")
    if spark_master is not None and engine != "spark":
        raise typer.BadParameter("this needs --engine spark", param_hint="--spark-master")
    if start is not None and end is not None and end < start:
        raise typer.BadParameter(f"the run would end at {end}, before it starts at {start}", param_hint="--end")
    if step is not None and window is None:
        window = step
    _check_probabilities(probabilistic, {"--threshold": threshold, "--history": history},
                         {"--horizon": (horizon, "Allen relations have no probabilities yet"),
                          "--history": (history if window is not None and history == "exact" else None,
                                        "windows forget the past; --history marginal does not need it")})
    if follow:
        _check_following(events, window, end, emit, out, state)
    elif state is not None or "-" in events:
        raise typer.BadParameter("this needs --follow", param_hint="--events" if state is None else "--state")
    check_ending(out)
    check_inputs_stay(out, [program, *events, *(background or ())])
    watch = Watch()
    if threads is not None:
        limit_threads(threads)

    from eventide.engine.recognition import Settings
    from eventide.program import load

    uncertainty = _uncertainty(threshold, history or "marginal") if probabilistic else None

    with watch("rules"):
        loaded = load(program, background=background or ())
        loaded.require_sound()
        if not probabilistic:
            loaded.require_certain()
        chosen = chosen_names(loaded.fluents, fluents)
    warnings = sum(d.severity == "warning" for d in loaded.check())
    if warnings:
        messages.say(f"{count_of(warnings, 'warning')} about the rules; `eventide check` shows them", warnings=warnings)
    if window is not None and step is not None and step > window:
        messages.say(f"the step ({step}) is longer than the window ({window}): facts between two windows are too late")
    settings = Settings(window, step, start, end, tick, initially_at, ties)
    if follow:
        from eventide.cli.follow import Following, Options

        wanted: Literal["windows", "changes"] = "windows" if emit == "windows" else "changes"
        options = Options(settings, wanted, chosen, horizon, bad_rows, late, time_unit, uncertainty)
        _tell_of_probabilities(loaded, None, probabilistic, history, chosen)
        Following(loaded, options, events[0], out, state).run(poll)
        return
    if engine == "spark":
        from eventide.cli.on_spark import run_on_spark
        from eventide.formats.problems import SHOWN
        from eventide.formats.results import sorted_columns

        _tell_of_probabilities(loaded, None, probabilistic, history, chosen)
        with watch("reasoning"):
            found = run_on_spark(loaded, events, settings, emit=emit or "timeline", fluents=chosen, horizon=horizon,
                                 master=spark_master, bad_rows=bad_rows, time_unit=time_unit,
                                 uncertainty=uncertainty)
        if late == "fail" and found.counts.too_late:
            raise too_late(found.counts)
        with watch("writing"):
            write_result([sorted_columns(found.table)], out)
            late_file = write_late([] if found.late is None else [found.late], out)
            bad_file = write_bad(found.bad, out)
        account(found.counts, found.bad_count, bad_file, late_file, first=SHOWN)
        conclude(found.counts, found.table.num_rows, out, watch, profile)
        return
    with watch("reading"):
        facts = loaded.read(events, bad_rows=bad_rows, time_unit=time_unit)
    for note in facts.notes:
        messages.note(note)
    messages.say(f"read {count_of(len(facts), 'fact')} of {count_of(len(facts.tables), 'kind')} in {watch.last:.2f} s")
    _tell_of_probabilities(loaded, facts, probabilistic, history, chosen)
    with progress("window") as advance:
        with watch("reasoning"):
            answers = loaded.answers(facts, settings, emit=emit or "timeline", fluents=chosen, horizon=horizon,
                                     progress=advance, uncertainty=uncertainty)
        written = Written(answers, watch, late)
        with watch("writing"):
            write_result(written, out)
            late_file = write_late(written.late, out)
            bad_file = write_bad(facts.bad, out)
    watch.parts["writing"] -= watch.within
    account(answers.counts, facts.bad_count, bad_file, late_file)
    conclude(answers.counts, written.rows, out, watch, profile)


def refuse_options(language: str, given: dict[str, tuple[object, str]]) -> None:
    """Refuse options that have no meaning in a language, with the reason."""
    for option, (value, why) in given.items():
        if value is not None:
            raise typer.BadParameter(f"it does not go with {language}: {why}", param_hint=option)


def _check_following(events: list[str], window: int | None, end: int | None, emit: str | None, out: Path | None,
                     state: Path | None) -> None:
    """Refuse what has no meaning with `--follow`."""
    refused = {
        "--events": (len(events) > 1 and "one file or - can be followed, not several")
        or (not events[0].endswith((".csv", ".jsonl", "-")) and "a .csv, a .jsonl or - can be followed"),
        "--window": window is None and "a stream has no end: give the length of the window, or --step",
        "--end": end is not None and "a stream that is followed has no end",
        "--emit": emit == "timeline" and "a stream has no final intervals; choose windows or changes",
        "-o": out is not None and out.suffix == ".parquet" and "Parquet cannot grow; choose .csv or .jsonl",
        "--state": state is not None and (out is None or events[0] == "-") and "it needs -o and a file to follow",
    }
    for option, problem in refused.items():
        if problem:
            raise typer.BadParameter(problem, param_hint=option)


def _check_probabilities(probabilistic: bool, need: dict[str, object],
                         refuse: dict[str, tuple[object, str]]) -> None:
    """Refuse options that need `--probabilistic`, and those that do not go with it."""
    for option, given in need.items() if not probabilistic else ():
        if given is not None:
            raise typer.BadParameter("this needs --probabilistic", param_hint=option)
    for option, (given, why) in refuse.items() if probabilistic else ():
        if given is not None:
            raise typer.BadParameter(f"it does not go with --probabilistic: {why}", param_hint=option)


def _uncertainty(threshold: str | None, history: Literal["marginal", "exact"]) -> Uncertainty:
    from eventide.probability.recognition import Uncertainty

    return Uncertainty(history, threshold)


def _tell_of_probabilities(program: Program, facts: Facts | None, probabilistic: bool, history: str | None,
                           fluents: list[str] | None) -> None:
    """Warn where the choice of the history decides something, and of probabilities that nothing reads."""
    if not probabilistic:
        if facts is not None and any(table.probability is not None for table in facts):
            messages.say("the probabilities of facts are not used; --probabilistic does")
    elif history is None and (named := program.history_matters(facts, fluents)):
        messages.say(f"what {', '.join(named)} read may owe its past to the same facts: --history marginal takes it as "
                     "independent, --history exact keeps it together (small cases)", history=named)


class Written:
    """The rows of a run on their way to a file, sorted; what is counted or kept of them."""

    def __init__(self, answers: Answers, watch: Watch, late: str) -> None:
        self._answers, self._watch, self._fail = answers, watch, late == "fail"
        self.rows = 0
        self.late: list[pa.Table] = []

    def __iter__(self) -> Iterator[Columns]:
        from eventide.formats.results import sorted_columns

        rest = iter(self._answers)
        while True:
            with self._watch("reasoning", inside=True):
                answer = next(rest, None)
            if answer is None:
                break
            self.rows += answer.table.num_rows
            self.late.append(answer.late)
            yield sorted_columns(answer.table)
        if self._fail and self._answers.counts.too_late:
            raise too_late(self._answers.counts)


class Watch:
    """The time that each part of the work took."""

    def __init__(self) -> None:
        self.parts: dict[str, float] = {}
        self.last = 0.0
        self.within = 0.0

    @contextmanager
    def __call__(self, part: str, inside: bool = False) -> Iterator[None]:
        """Measure what is done in the block; `within` adds up those that are inside another block."""
        began = time.perf_counter()
        yield
        self.last = time.perf_counter() - began
        self.parts[part] = self.parts.get(part, 0.0) + self.last
        self.within += self.last if inside else 0.0

    @property
    def total(self) -> float:
        """All parts together."""
        return sum(self.parts.values())


def limit_threads(number: int) -> None:
    """Let the libraries below use at most so many threads."""
    import pyarrow as pa

    pa.set_cpu_count(number)
    pa.set_io_thread_count(max(1, number))


def too_late(counts: Counts, bound: str = "window", does: str = "reaches back") -> EventideError:
    """The error for facts that are older than a window or delay allows, one problem per name."""
    from eventide.syntax.diagnostics import Diagnostic

    hint = f"use a longer --{bound}, or --late report to go on without them"
    problems = [Diagnostic("error", "too-late", f"{count_of(number, 'fact')} of {name} arrived later than the {bound} "
                           f"{does}", None, hint) for name, number in sorted(counts.late_by_name.items())]
    return InputError("\n".join(p.render() for p in problems), problems)


def chosen_names(known: list[str], fluents: str | None) -> list[str] | None:
    """The names of `--fluents`, if the program derives them all."""
    if fluents is None:
        return None
    from eventide.formats.problems import suggestion

    names = [name.strip() for name in fluents.split(",") if name.strip()]
    unknown = [name for name in names if name not in known]
    if unknown or not names:
        wrong = unknown[0] if unknown else fluents
        hint = suggestion(wrong, known) or f"it derives {', '.join(known) or 'nothing'}"
        raise typer.BadParameter(f"the program derives no {wrong!r}; {hint}", param_hint="--fluents")
    return names


def check_ending(out: Path | None) -> None:
    """Refuse a result that cannot be written before any work is done."""
    if out is None:
        return
    from eventide.formats.results import WRITERS, writer_for

    if out.suffix not in WRITERS:
        known = ", ".join(WRITERS)
        raise typer.BadParameter(f"{out}: the ending does not say how to write the result; known are {known}",
                                 param_hint="-o")
    writer_for(out)


def check_inputs_stay(out: Path | None, inputs: list[str]) -> None:
    """Refuse a result that would replace what it is made from."""
    if out is None or not out.exists():
        return
    from eventide.formats.events import split_name

    for path in (Path(split_name(name)[1]) for name in inputs):
        if path.exists() and path.samefile(out):
            raise typer.BadParameter(f"{out} is an input of this run; the result would replace it", param_hint="-o")


def standard_output() -> BinaryIO:
    """Where results go without `-o`."""
    if sys.stdout is None:
        raise InputError("standard output is closed; name a file with -o")
    sys.stdout.flush()
    return sys.stdout.buffer


def write_result(pieces: Iterable[Columns], out: Path | None) -> None:
    """The result, whole or not at all."""
    from eventide.formats.results import WRITERS, whole_file, writer_for

    if out is not None:
        with whole_file(out) as file:
            writer_for(out)(pieces, file)
        return
    target = standard_output()
    with tempfile.SpooledTemporaryFile(IN_MEMORY) as waiting:
        WRITERS[".jsonl" if messages.json else ".csv"](pieces, waiting)  # type: ignore[arg-type]
        waiting.seek(0)
        shutil.copyfileobj(waiting, target)
    target.flush()


def write_late(late: list[pa.Table], out: Path | None) -> Path | None:
    """The facts that came too late, in a file beside the result."""
    if out is None or not any(table.num_rows for table in late):
        return None
    from eventide.formats.results import WRITERS, whole_file

    path = late_path(out)
    with whole_file(path) as file:
        WRITERS[".csv"](late_columns(late), file)
    return path


def late_path(out: Path) -> Path:
    """Where facts that came too late are listed."""
    return out.with_name(f"{out.name}.late.csv")


def late_columns(late: list[pa.Table]) -> Iterator[Columns]:
    """Tables of facts that came too late, for a writer."""
    from eventide.formats.results import text_columns

    return (text_columns(table) for table in late)


def write_bad(rows: tuple[BadRow, ...], out: Path | None) -> Path | None:
    """The rows left out go to a file beside the result, whole or not at all."""
    if not rows:
        return None
    from eventide.formats.problems import write_bad_rows

    path = bad_path(out)
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        write_bad_rows(rows, part)
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)
    return path


def bad_path(out: Path | None) -> Path:
    """Where bad rows go."""
    return Path("eventide.bad.csv") if out is None else out.with_name(f"{out.name}.bad.csv")


def account(counts: Counts, bad_count: int, bad_file: Path | None, late_file: Path | None, *,
            first: int | None = None) -> None:
    """Say what was left out and why; the files list all of it, or the `first` of each."""
    def listed(number: int) -> str:
        return "they are" if first is None or number <= first else f"the first {first} are"

    if bad_count:
        messages.say(f"left out {count_of(bad_count, 'bad row')}; {listed(bad_count)} in {bad_file}",
                     bad_rows=bad_count, file=str(bad_file))
    if counts.before_start:
        messages.say(f"left out {count_of(counts.before_start, 'fact')} up to the start of the run",
                     before_start=counts.before_start)
    if counts.after_end:
        messages.say(f"left out {count_of(counts.after_end, 'fact')} after the end of the run",
                     after_end=counts.after_end)
    if counts.unmatched:
        messages.say(f"{count_of(counts.unmatched, 'retraction')} of facts that were not there",
                     unmatched=counts.unmatched)
    if counts.beyond_horizon:
        messages.say(f"{count_of(counts.beyond_horizon, 'interval')} had a partner for `before` beyond the horizon "
                     "only; a longer --horizon sees more", beyond_horizon=counts.beyond_horizon)
    if counts.too_late:
        where = "-o lists them" if late_file is None else f"{listed(counts.too_late)} in {late_file}"
        messages.say(f"left out {count_of(counts.too_late, 'fact')} that arrived too late for the window "
                     f"({by_name(counts.late_by_name)}); {where}", too_late=counts.too_late,
                     by_name=dict(counts.late_by_name), file=None if late_file is None else str(late_file))


def by_name(numbers: dict[str, int]) -> str:
    """Numbers of facts by their names."""
    return ", ".join(f"{name}: {number}" for name, number in sorted(numbers.items()))


def conclude(counts: Counts, rows: int, out: Path | None, watch: Watch, profile: bool) -> None:
    """Say what came of it, and how long it took."""
    where = "" if out is None else f" in {out}"
    messages.say(f"recognised {count_of(rows, 'row')}{where} from {count_of(counts.facts, 'fact')} "
                 f"at {count_of(counts.queries, 'query time')} in {watch.total:.2f} s",
                 rows=rows, facts=counts.facts, queries=counts.queries, seconds=round(watch.total, 6))
    if profile:
        for part, seconds in watch.parts.items():
            messages.say(f"{part:10} {seconds:10.3f} s", part=part, seconds=round(seconds, 6))
        rate = counts.facts / max(watch.parts["reasoning"], 1e-9)
        messages.say(f"{'speed':10} {rate:10.0f} facts a second of reasoning", facts_per_second=round(rate))


def count_of(number: int, what: str) -> str:
    """`1 fact`, `2 facts`."""
    return f"{number} {what}{'' if number == 1 else 's'}"
