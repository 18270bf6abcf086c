"""`eventide run`: facts and rules to maximal intervals, with an account of everything that was left out."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from eventide.cli.account import Watch, account, conclude, tell_of_facts, tell_of_warnings, too_late
from eventide.cli.limits import limit
from eventide.cli.messages import messages
from eventide.cli.options import chosen_names, get_ready, refuse_options, time_or_length, values_of
from eventide.cli.output import write_bad, write_late, write_result
from eventide.cli.profile import Profiling, tell_of_profile
from eventide.cli.progress import progress

if TYPE_CHECKING:
    import pyarrow as pa

    from eventide.formats.facts import Facts
    from eventide.formats.results import Columns
    from eventide.probability.recognition import Uncertainty
    from eventide.program import Program
    from eventide.results import Answers

LARGEST = 2**62  # times and lengths must leave room in 64 bits


def run(
    command: typer.Context,
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
        "[default: timeline; with `--follow` changes].")] = None,
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
    reload: Annotated[bool, typer.Option(
        "--reload", help="With `--follow`: go on with other rules when the files of rules and background are changed, "
        "while it runs or before it goes on from `--state`.")] = False,
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
    max_memory: Annotated[str | None, typer.Option(
        metavar="SIZE", help="Stop before the process needs more memory, such as `4GB` [default: most of what the "
        "machine has].")] = None,
    max_rows: Annotated[int | None, typer.Option(
        metavar="N", help="Stop before a condition or a rule makes more rows [default: no limit].", min=1)] = None,
    max_seconds: Annotated[float | None, typer.Option(
        metavar="SECONDS", help="Stop when reasoning takes longer [default: no limit].", min=0.001)] = None,
    profile: Annotated[bool, typer.Option(
        "--profile", help="Tell how long each part took, and what each rule and operator cost: time, rows, memory.",
    )] = False,
    flame: Annotated[Path | None, typer.Option(
        metavar="FILE.html", help="Write what each rule and operator cost as a flame view.")] = None,
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
    limit(command, engine, max_memory, max_rows, max_seconds)
    profiling = Profiling(profile, flame)
    profiling.check(engine, follow)
    if program.endswith(".lars"):
        from eventide.cli.run_lars import LarsOptions, run_lars

        refuse_options("LARS", {
            "--window": (window, "the windows stand in the rules"),
            "--step": (step if emit != "changes" else None, "it is evaluated at every time-point; with --emit changes "
                       "it is the distance of query times"),
            "--tick": (tick if tick != 1 else None, "the first line of the rules says how long a time-point lasts"),
            "--initially-at": (initially_at or None, "nothing holds initially"),
            "--horizon": (horizon, "time begins at 0"), "--at": (at, "it is for .mtl"),
            "--ties": (ties if ties != "termination" else None, "nothing is initiated"),
            "--variant": (variant, "it is for .mtl"), "--delay": (delay, "it is for .mtl"),
            "--state": (state, "Python's sessions are saved"), "--reload": (reload or None, "nothing is followed"),
            "--follow": (follow or None, "Python's sessions follow streams"),
            "--probabilistic": (probabilistic or None, "facts are certain"),
            "--threshold": (threshold, "facts are certain"), "--history": (history, "facts are certain")})
        get_ready(out, [program, *events, *(background or ())], threads)
        run_lars(program, events, background or [], LarsOptions(
            start, end, models or "first", contradictions or "discard", earlier, maintain, emit or "timeline", engine,
            spark_master, fluents, bad_rows, time_unit, profiling, int(step or 1)), out)
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
            "--state": (state, "Python's sessions are saved"), "--reload": (reload or None, "nothing is followed"),
            "--background": (background or None, "all facts have a time, for ever as P(a)@(-inf,inf)"),
            "--ties": (ties if ties != "termination" else None, "nothing is initiated")})
        get_ready(out, [program, *events], threads)
        run_mtl(program, events, MtlOptions(step, horizon, at, variant, emit or "timeline", fluents, delay, bad_rows,
                                            late, time_unit, engine, spark_master, profiling), out)
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
                          "--reload": (reload or None, "what is uncertain cannot be taken over by other rules"),
                          "--history": (history if window is not None and history == "exact" else None,
                                        "windows forget the past; --history marginal does not need it")})
    if follow:
        _check_following(events, window, end, emit, out, state)
    elif reload:
        raise typer.BadParameter("this needs --follow", param_hint="--reload")
    elif state is not None or "-" in events:
        raise typer.BadParameter("this needs --follow", param_hint="--events" if state is None else "--state")
    get_ready(out, [program, *events, *(background or ())], threads)
    watch = Watch(profile=profiling.is_wanted)

    from eventide.engine.recognition import Settings
    from eventide.program import load

    uncertainty = _uncertainty(threshold, history or "marginal") if probabilistic else None

    with watch("rules"):
        loaded = load(program, background=background or ())
        loaded.require_sound()
        if not probabilistic:
            loaded.require_certain()
        chosen = chosen_names(loaded.fluents, fluents)
    tell_of_warnings(loaded.check())
    if window is not None and step is not None and step > window:
        messages.say(f"the step ({step}) is longer than the window ({window}): facts between two windows are too late")
    settings = Settings(window, step, start, end, tick, initially_at, ties)
    if follow:
        from eventide.cli.follow import Following, Options

        wanted: Literal["windows", "changes"] = "windows" if emit == "windows" else "changes"
        options = Options(settings, wanted, chosen, horizon, bad_rows, late, time_unit, uncertainty)
        _tell_of_probabilities(loaded, None, probabilistic, history, chosen)
        again = None
        if reload:
            from eventide.cli.reload import Reload

            again = Reload(lambda: load(program, background=background or ()), program, background or ())
        Following(loaded, options, events[0], out, state, again).run(poll)
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
    tell_of_facts(facts, watch)
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
    tell_of_profile(loaded, watch, profiling)


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
    from eventide.probability.intervals import units
    from eventide.probability.recognition import Uncertainty

    if threshold is not None:
        with values_of("--threshold"):
            units(threshold)
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
