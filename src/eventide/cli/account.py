"""What is said about a run, in every language: what was read and left out, what came of it, how long it took."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from eventide.cli.messages import messages
from eventide.errors import EventideError, InputError

if TYPE_CHECKING:
    from eventide.engine.profile import Profile
    from eventide.engine.recognition import Counts
    from eventide.formats.facts import Facts
    from eventide.syntax.diagnostics import Diagnostic


class Watch:
    """The time that each part of the work took; with a profile, what the rules cost in the part `reasoning`."""

    def __init__(self, *, profile: bool = False) -> None:
        self.profile: Profile | None = None
        if profile:
            from eventide.engine.profile import Profile

            self.profile = Profile()
        self.parts: dict[str, float] = {}
        self.last = 0.0
        self.within = 0.0

    @contextmanager
    def __call__(self, part: str, inside: bool = False) -> Iterator[None]:
        """Measure what is done in the block; `within` adds up those that are inside another block."""
        began = time.perf_counter()
        if self.profile is not None and part == "reasoning":
            from eventide.engine.profile import profiled

            with profiled(self.profile):
                yield
        else:
            yield
        self.last = time.perf_counter() - began
        self.parts[part] = self.parts.get(part, 0.0) + self.last
        self.within += self.last if inside else 0.0

    @property
    def total(self) -> float:
        """All parts together."""
        return sum(self.parts.values())


def tell_of_warnings(problems: Sequence[Diagnostic]) -> None:
    """Say how many warnings there are about the rules."""
    warnings = sum(problem.severity == "warning" for problem in problems)
    if warnings:
        messages.say(f"{count_of(warnings, 'warning')} about the rules; `eventide check` shows them", warnings=warnings)


def tell_of_facts(facts: Facts, watch: Watch) -> None:
    """Say what was read, and what is to note about it."""
    for note in facts.notes:
        messages.note(note)
    messages.say(f"read {count_of(len(facts), 'fact')} of {count_of(len(facts.tables), 'kind')} in {watch.last:.2f} s")


def too_late(counts: Counts, bound: str = "window", does: str = "reaches back") -> EventideError:
    """The error for facts that are older than a window or delay allows, one problem per name."""
    from eventide.syntax.diagnostics import Diagnostic

    hint = f"use a longer --{bound}, or --late report to go on without them"
    problems = [Diagnostic("error", "too-late", f"{count_of(number, 'fact')} of {name} arrived later than the {bound} "
                           f"{does}", None, hint) for name, number in sorted(counts.late_by_name.items())]
    return InputError("\n".join(p.render() for p in problems), problems)


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
