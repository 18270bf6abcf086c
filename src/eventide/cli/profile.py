"""What `--profile` and `--flame` tell of a run: what each rule and operator cost, as tables and as a page."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from eventide.cli.messages import messages

if TYPE_CHECKING:
    from eventide.cli.account import Watch

_MOST = 15


@dataclass(frozen=True)
class Profiling:
    """What is wanted: tables, and a page."""

    tables: bool = False
    flame: Path | None = None

    @property
    def is_wanted(self) -> bool:
        """Whether anything is to be measured."""
        return self.tables or self.flame is not None

    def check(self, engine: str, follow: bool) -> None:
        """Refuse what cannot be measured, and a page that cannot be made, before any work is done."""
        if follow and self.is_wanted:
            raise typer.BadParameter("it measures a run that ends, without --follow",
                                     param_hint="--profile" if self.tables else "--flame")
        if self.flame is None:
            return
        if self.flame.suffix not in (".html", ".htm"):
            raise typer.BadParameter(f"{self.flame}: the page is an .html file", param_hint="--flame")
        if engine == "spark":
            raise typer.BadParameter("it measures one run in this process, without Spark", param_hint="--flame")


def tell_of_profile(program: Any, watch: Watch, wanted: Profiling) -> None:
    """Print the tables of what was measured, and write the page."""
    if watch.profile is None or not watch.profile.plans:
        if wanted.is_wanted:
            messages.say("no rules were measured: they were not evaluated by plans")
        return
    from eventide.formats.results import whole_file
    from eventide.profiling.flame import page
    from eventide.profiling.owners import Owners
    from eventide.profiling.tables import as_dicts, operator_costs, operator_lines, rule_costs, rule_lines

    owners = Owners(program, watch.profile)
    if wanted.tables:
        rules, operators = rule_costs(watch.profile, owners), operator_costs(watch.profile)
        told = "\n".join(["", *rule_lines(rules, _MOST), "", *operator_lines(operators)])
        seconds = sum(rule.seconds for rule in rules)
        peak = _peak()
        messages.say("what rules and operators cost" if messages.json else told, rules=as_dicts(rules),
                     operators=as_dicts(operators))
        sets = "answer sets, " if getattr(program.model, "several", None) else ""
        messages.say(f"{'rules':10} {seconds:10.3f} s of the reasoning; the rest is {sets}facts that come in and "
                     "results that go out", rules_seconds=round(seconds, 6))
        if peak is not None:
            messages.say(f"{'memory':10} {peak / 1e6:10.0f} MB at most, of the whole process", peak_bytes=peak)
    if wanted.flame is not None:
        with whole_file(wanted.flame) as out:
            out.write(page(watch.profile, owners, "What rules cost").encode())
        messages.say(f"wrote {wanted.flame}", file=str(wanted.flame))


def _peak() -> int | None:
    """The most memory that the process has had, in bytes, where the system tells."""
    try:
        import resource
    except ImportError:
        return None
    import sys

    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(most if sys.platform == "darwin" else most * 1024)
