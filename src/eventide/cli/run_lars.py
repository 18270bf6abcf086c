"""`eventide run x.lars`: a LARS program over a stream; what was left out, and where answers are missing, is told."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import typer

from eventide.cli.account import Watch, account, conclude, tell_of_facts, tell_of_warnings
from eventide.cli.messages import messages
from eventide.cli.options import chosen_names
from eventide.cli.output import write_bad, write_result
from eventide.cli.profile import Profiling, tell_of_profile

if TYPE_CHECKING:
    from eventide.formats.facts import Facts
    from eventide.lars.program import LarsProgram
    from eventide.lars.results import LarsResult

_SHOWN = 10


@dataclass(frozen=True)
class LarsOptions:
    """What the command line says of a run."""

    start: int | None
    end: int | None
    models: Literal["first", "all", "cautious", "brave"]
    contradictions: Literal["discard", "flag"]
    earlier: bool
    maintain: bool
    emit: str
    engine: str
    spark_master: str | None
    fluents: str | None
    bad_rows: Literal["fail", "skip"]
    time_unit: Literal["s", "ms", "us", "ns"] | None
    profile: Profiling
    step: int = 1


def run_lars(path: str, events: list[str], background: list[str], options: LarsOptions, out: Path | None) -> None:
    """Evaluate a program at every time-point and write the intervals."""
    from eventide.formats.results import sorted_columns
    from eventide.program import load

    if options.emit == "windows":
        raise typer.BadParameter("the windows stand in the rules; choose timeline or changes", param_hint="--emit")
    if options.emit == "changes" and (
            options.earlier or options.maintain or options.start is not None or options.engine != "local"):
        raise typer.BadParameter("changes go without --earlier, --maintain, --start and Spark", param_hint="--emit")
    if options.start is not None and options.end is not None and options.end < options.start:
        raise typer.BadParameter(f"the run would end at {options.end}, before it starts at {options.start}",
                                 param_hint="--end")
    watch = Watch(profile=options.profile.is_wanted)
    with watch("rules"):
        program: Any = load(path, background=background)
        program.require_sound()
        fluents = chosen_names(program.fluents, options.fluents)
    tell_of_warnings(program.check())
    if options.engine == "spark":
        _on_spark(program, events, options, fluents, out, watch)
        return
    with watch("reading"):
        facts = program.read(events, bad_rows=options.bad_rows, time_unit=options.time_unit)
    tell_of_facts(facts, watch)
    _tell_of_unread(program, facts.tables)
    if options.emit == "changes":
        _changes(program, facts, options, fluents, out, watch)
        return
    with watch("reasoning"):
        result: LarsResult = program.run(
            facts, start=options.start, end=options.end, models=options.models, contradictions=options.contradictions,
            earlier=options.earlier, maintain=options.maintain, fluents=fluents)
    with watch("writing"):
        write_result([sorted_columns(result.to_arrow())], out)
        bad_file = write_bad(facts.bad, out)
    _tell_of_answers(result)
    account(result.counts, facts.bad_count, bad_file, None)
    conclude(result.counts, len(result), out, watch, options.profile.tables)
    tell_of_profile(program, watch, options.profile)


def _changes(program: LarsProgram, facts: Facts, options: LarsOptions, fluents: list[str] | None, out: Path | None,
             watch: Watch) -> None:
    """What changes from one query time to the next, the first being a step after the time before the first fact."""
    from eventide.engine.recognition import Counts
    from eventide.formats.results import sorted_columns
    from eventide.results import signed

    times = [(int(table.time.min()), int(table.time.max())) for table in facts if len(table)]
    start = min((low for low, _ in times), default=0) - 1
    end = max((high for _, high in times), default=0) if options.end is None else options.end
    session = program.session(models=options.models, contradictions=options.contradictions, fluents=fluents)
    session.insert(facts)
    counts, told = Counts(facts=len(facts)), [0]

    def pieces() -> Iterator[Any]:
        query = start
        while query < end:
            query += options.step
            with watch("reasoning", inside=True):
                changes = session.advance(query)
            counts.queries += 1
            rows = signed(changes.removed, changes.added, query)
            told[0] += rows.num_rows
            yield sorted_columns(rows)

    with watch("writing"):
        write_result(pieces(), out)
        bad_file = write_bad(facts.bad, out)
    watch.parts["writing"] -= watch.within
    account(counts, facts.bad_count, bad_file, None)
    conclude(counts, told[0], out, watch, options.profile.tables)
    tell_of_profile(program, watch, options.profile)


def _on_spark(program: LarsProgram, events: list[str], options: LarsOptions, fluents: list[str] | None,
              out: Path | None, watch: Watch) -> None:
    from eventide.cli.on_spark import lars_on_spark
    from eventide.engine.recognition import Counts
    from eventide.formats.results import sorted_columns

    if options.maintain or options.start is not None:
        raise typer.BadParameter("on Spark there is no --maintain and no --start", param_hint="--engine")
    with watch("reasoning"):
        table = lars_on_spark(program, events, master=options.spark_master,
                              options={"bad_rows": options.bad_rows, "time_unit": options.time_unit}, end=options.end,
                              models=options.models, contradictions=options.contradictions, earlier=options.earlier,
                              fluents=fluents)
    with watch("writing"):
        write_result([sorted_columns(table)], out)
    conclude(Counts(queries=1), table.num_rows, out, watch, options.profile.tables)


def _tell_of_unread(program: LarsProgram, found: Mapping[tuple[str, int], object]) -> None:
    """Facts of predicates that no rule reads are counted by windows of tuples, and otherwise for nothing."""
    from eventide.syntax.terms import template_of

    read = {literal.predicate for rule in program.tree.rules for literal in rule.literals} | set(program.model.derived)
    unread = sorted(predicate for predicate in found if predicate not in read)
    if unread:
        shown = ", ".join(template_of(*predicate) for predicate in unread[:_SHOWN])
        messages.say(f"no rule reads {shown}{', …' if len(unread) > _SHOWN else ''}",
                     unread=[template_of(*predicate) for predicate in unread])


def _tell_of_answers(result: LarsResult) -> None:
    """Where there is no answer stream and why, and where there are several."""
    for gap in result.no_answer[:_SHOWN]:
        messages.say(str(gap), start=gap.start, end=gap.end, reasons=list(gap.reasons))
    if len(result.no_answer) > _SHOWN:
        messages.say(f"and {len(result.no_answer) - _SHOWN} more stretches without an answer stream")
    for conflict in result.conflicts[:_SHOWN]:
        messages.say(f"in conflict: {conflict}", conflict=list(map(str, conflict.facts)))
    several = [stretch for stretch in result.several if stretch[2] > 1]
    if several:
        most = max(several, key=lambda stretch: stretch[2])
        messages.say(f"several answer streams at {sum(end - start for start, end, _ in several)} time-points, up to "
                     f"{most[2]} at {most[0]}",
                     several=[{"start": start, "end": end, "count": count} for start, end, count in several])
