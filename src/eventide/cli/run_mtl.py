"""`eventide run x.mtl`: DatalogMTL over all facts at once, or as a stream in steps; what was left out is told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import typer

from eventide.cli.account import Watch, account, conclude, count_of, tell_of_facts, tell_of_warnings, too_late
from eventide.cli.messages import messages
from eventide.cli.options import chosen_names, values_of
from eventide.cli.output import write_bad, write_late, write_result
from eventide.cli.profile import Profiling, tell_of_profile

if TYPE_CHECKING:
    import pyarrow as pa

    from eventide.mtl.cells import DenseFacts
    from eventide.mtl.program import MtlProgram


@dataclass(frozen=True)
class MtlOptions:
    """What the command line says of a run."""

    step: int | Fraction | None
    horizon: int | Fraction | None
    at: str | None
    variant: Literal["auto", "hash", "algorithm-1"] | None
    emit: str
    fluents: str | None
    delay: int | Fraction | None
    bad_rows: Literal["fail", "skip"]
    late: str
    time_unit: Literal["s", "ms", "us", "ns"] | None
    engine: str
    spark_master: str | None
    profile: Profiling

    @property
    def is_stream(self) -> bool:
        """Whether the facts are taken in step by step."""
        return self.step is not None or self.at is not None or self.variant is not None


def run_mtl(path: str, events: list[str], options: MtlOptions, out: Path | None) -> None:
    """Materialise a program over its facts, or run it over them as a stream, and write the intervals."""
    from eventide.engine.recognition import Counts
    from eventide.formats.results import sorted_columns
    from eventide.mtl.streaming import Moments
    from eventide.program import load

    if options.emit == "windows":
        raise typer.BadParameter("the rules have no window; choose timeline or changes", param_hint="--emit")
    if options.emit == "changes" and (options.step is None or options.at is not None or options.engine == "spark"):
        raise typer.BadParameter("changes are told --step by step, as intervals and in this process",
                                 param_hint="--emit")
    if options.step is not None and options.step <= 0:
        raise typer.BadParameter(f"the step is {options.step}; it must be more than 0", param_hint="--step")
    if options.at is not None:
        with values_of("--at"):
            Moments.of(options.at)
    if options.delay is not None and options.emit != "changes":
        raise typer.BadParameter("this needs --emit changes", param_hint="--delay")
    watch = Watch(profile=options.profile.is_wanted)
    with watch("rules"):
        program: Any = load(path)
        program.require_sound()
        known = list(dict.fromkeys(name for name, _ in program.known))
        chosen = chosen_names(known, options.fluents)
    tell_of_warnings(program.check())
    if options.engine == "spark":
        _on_spark(program, events, options, chosen, out, watch)
        return
    with watch("reading"):
        facts = program.read(events, bad_rows=options.bad_rows, time_unit=options.time_unit)
    tell_of_facts(facts.facts, watch)
    if options.emit == "changes":
        _tell_changes(program, facts, options, chosen, out, watch)
        return
    with watch("reasoning"):
        table = _streamed(program, facts, options, chosen) if options.is_stream else \
            _materialised(program, facts, options, chosen)
    with watch("writing"):
        write_result([sorted_columns(table)], out)
        bad_file = write_bad(facts.facts.bad, out)
    counts = Counts(facts=len(facts), queries=1)
    account(counts, facts.facts.bad_count, bad_file, None)
    conclude(counts, table.num_rows, out, watch, options.profile.tables)
    tell_of_profile(program, watch, options.profile)


def _tell_changes(program: MtlProgram, facts: DenseFacts, options: MtlOptions, chosen: list[str] | None,
                  out: Path | None, watch: Watch) -> None:
    """What comes and goes from one query time to the next, facts in order of arrival."""
    from eventide.formats.results import sorted_columns
    from eventide.mtl.replay import at_query, replayed, signed

    session = program.session(delay=options.delay, variant=options.variant or "auto", fluents=chosen)
    assert options.step is not None
    until = None if options.horizon is None else Fraction(options.horizon)
    with watch("reasoning"):
        told = list(replayed(session, facts, Fraction(options.step), until))
        tables = [signed(changes) for changes in told]
    counts = session.counts
    if options.late == "fail" and counts.too_late:
        raise too_late(counts, "delay", "allows")
    with watch("writing"):
        write_result([sorted_columns(table) for table in tables], out)
        late_file = write_late([at_query(c.late, c.query_time, c.late.num_columns) for c in told], out)
        bad_file = write_bad(facts.facts.bad, out)
    account(counts, facts.facts.bad_count, bad_file, late_file)
    conclude(counts, sum(table.num_rows for table in tables), out, watch, options.profile.tables)
    tell_of_profile(program, watch, options.profile)


def _materialised(program: MtlProgram, facts: DenseFacts, options: MtlOptions, chosen: list[str] | None) -> pa.Table:
    result = program.run(facts, horizon=options.horizon, fluents=chosen)
    if result.cut:
        _tell_end(result.cut, "goes on and on", result.until)
    return result.to_arrow()


def _tell_end(names: Sequence[str], how: str, until: Fraction | None) -> None:
    messages.say(f"the recursion through {', '.join(names)} {how}: all is told up to {until}; "
                 "--horizon says up to where", cut=list(names), until=str(until))


def _streamed(program: MtlProgram, facts: DenseFacts, options: MtlOptions, chosen: list[str] | None) -> pa.Table:
    stream = program.stream(facts, step=options.step, at=options.at, variant=options.variant or "auto",
                            horizon=options.horizon, fluents=chosen)
    table = stream.table()
    if stream.endless:
        _tell_end(stream.endless, "may go on and on", stream.until)
    report = stream.report
    messages.say(str(report), variant=report.variant, steps=report.steps, peak=report.peak, held=report.held)
    return table


def _on_spark(program: MtlProgram, events: list[str], options: MtlOptions, chosen: list[str] | None, out: Path | None,
              watch: Watch) -> None:
    from eventide.cli.on_spark import mtl_on_spark
    from eventide.formats.results import sorted_columns

    if options.is_stream:
        raise typer.BadParameter("on Spark a program is materialised; leave out --step, --at and --variant",
                                 param_hint="--engine")
    with watch("reasoning"):
        found = mtl_on_spark(program, events, horizon=options.horizon, fluents=chosen, master=options.spark_master,
                             bad_rows=options.bad_rows, time_unit=options.time_unit)
    with watch("writing"):
        write_result([sorted_columns(found.table)], out)
        bad_file = write_bad(found.bad, out)
    if found.bad_count:
        messages.say(f"left out {count_of(found.bad_count, 'bad row')}; the first are in {bad_file}",
                     bad_rows=found.bad_count, file=str(bad_file))
    conclude(found.counts, found.table.num_rows, out, watch, options.profile.tables)
