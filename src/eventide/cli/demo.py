"""`eventide demo`: end-to-end demonstrations on data that come with Eventide, or on positions of ships."""

from __future__ import annotations

import contextlib
import sys
import warnings
from collections.abc import Callable
from importlib import import_module
from itertools import count
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from eventide.cli.messages import messages
from eventide.cli.options import values_of
from eventide.errors import EventideError

DEFAULT = "maritime"
# Name, module with `run(out: Path, say: Say) -> object` (Say of `applications.demonstration`), and what it shows.
DEMOS = {
    "maritime": ("eventide.applications.maritime.demo", "300 vessels, 6 hours: 47 situations at sea, scored"),
    "transport": ("eventide.applications.transport.demo", "200 buses: punctuality, driving, comfort of passengers"),
    "activity": ("eventide.applications.activity.demo", "people in a public space: meeting, moving together, fighting"),
    "fleet": ("eventide.applications.fleet.demo", "500 commercial vehicles: speeding, dangerous driving, refuelling"),
    "voting": ("eventide.applications.voting.demo", "a committee of 1000: motions, votes, obligations, sanctions"),
    "netbill": ("eventide.applications.netbill.demo", "two markets: quotes, contracts, obligations, suspensions"),
    "city": ("eventide.applications.city.demo", "a day in a city: congestion, air, parking, when to add security"),
    "network": ("eventide.applications.network.demo", "40 nodes: who monitors which signal, in DatalogMTL"),
    "caching": ("eventide.applications.caching.demo", "a cache picks its strategy, reports contradict it; in LARS"),
    "content": ("eventide.applications.content.demo", "who fetches what from where, with all answers; in LARS"),
    "toy": ("eventide.applications.toy.demo", "1000 people: where they are, when they are rich, when they are happy"),
}
OBSERVED = "eventide.applications.maritime.observed"


def demo(
    name: Annotated[str, typer.Argument(help="Which demonstration; --list names them.")] = DEFAULT,
    out: Annotated[Path | None, typer.Option(help="Where its files go [default: eventide-demo/NAME].")] = None,
    list_: Annotated[bool, typer.Option("--list", help="List the demonstrations and stop.")] = False,
    positions: Annotated[list[str] | None, typer.Option(
        metavar="FILE…", help="`maritime` on real positions, as `eventide signals` reads them.")] = None,
    preset: Annotated[str | None, typer.Option(
        metavar="NAME", help="How their provider writes [default: by the names of the columns].")] = None,
    mapping: Annotated[Path | None, typer.Option(
        metavar="FILE", help="The provider's names and units, as TOML.")] = None,
    areas: Annotated[list[str] | None, typer.Option(
        metavar="FILE…", help="Areas with their kinds: `.geojson`, `.shp`, or `.csv` with WKT [default: near the "
        "coast, after an outline].")] = None,
    gap: Annotated[int | None, typer.Option(
        metavar="SECONDS", help="Longer silence is a gap [default: three times the interval that nine in ten reports "
        "keep, 600 at the least].", min=1)] = None,
    bad_rows: Annotated[Literal["fail", "skip"], typer.Option(
        help="Stop at rows of the positions that cannot be read, or count them.")] = "fail",
) -> None:
    """Show Eventide at work, step by step.

    Without a name it shows `maritime`: on generated traffic, scored, or with `--positions` on yours.

    Example: `eventide demo toy --out results`
    """
    if list_:
        data = [{"name": demo_name, "shows": shows} for demo_name, (_, shows) in DEMOS.items()]
        messages.result(data, "\n".join(f"{row['name']:12} {row['shows']}" for row in data))
        return
    if name not in DEMOS:
        raise typer.BadParameter(f"no demonstration called {name!r}; there are: {', '.join(DEMOS)}", param_hint="NAME")
    if positions and name != DEFAULT:
        raise typer.BadParameter(f"only {DEFAULT} works on positions of ships", param_hint="--positions")
    given = {"--preset": preset, "--mapping": mapping, "--areas": areas, "--gap": gap}
    if not positions and any(given.values()):
        option = next(each for each, value in given.items() if value)
        raise typer.BadParameter("is about real positions; name them with --positions", param_hint=option)
    if positions:
        _check_files([*positions, *(areas or ())], preset, mapping)
    run = _observed(positions, preset=preset, mapping=mapping, areas=areas or (), gap=gap, bad_rows=bad_rows) \
        if positions else import_module(DEMOS[name][0]).run
    folder = out or Path("eventide-demo") / name
    made = [each for each in (folder, *folder.parents) if not each.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with _Teller() as say, warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # what Spark says about versions of pandas
            run(folder, say)
    except EventideError:
        with contextlib.suppress(OSError):  # a folder that has something in it stays
            for each in made:
                each.rmdir()
        raise
    messages.say(f"everything it made is in {folder}")


def _check_files(paths: list[str], preset: str | None, mapping: Path | None) -> None:
    """Refuse what is not there before Spark is started and a folder made."""
    from eventide.formats.files import missing
    from eventide.signals.layouts import layout_of

    with values_of("--preset"):
        layout_of(preset, mapping)
    for path in paths:
        try:
            with open(path, "rb"):
                pass
        except OSError as error:
            raise missing(path, error) from error


def _observed(positions: list[str], **options: Any) -> Callable[[Path, Any], object]:
    run = import_module(OBSERVED).run
    return lambda folder, say: run(folder, say, positions, **options)


class _Teller:
    """Tells finished steps with their numbers; on a terminal it shows what is going on until the next is told."""

    def __init__(self) -> None:
        self._numbers = count(1)
        self._status: Any = None

    def __call__(self, text: str) -> None:
        self._end()
        messages.say(text if messages.json else f"{next(self._numbers)}. {text}", sys.stdout)

    def begin(self, title: str) -> None:
        """Show a step that may take a while."""
        self._end()
        if not messages.quiet and not messages.json and sys.stderr.isatty():
            from rich.console import Console

            self._status = Console(stderr=True).status(f"{title} …")
            self._status.start()

    def _end(self) -> None:
        if self._status is not None:
            self._status.stop()
            self._status = None

    def __enter__(self) -> _Teller:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()
