"""`eventide demo`: end-to-end demonstrations on data that come with Eventide."""

from __future__ import annotations

import sys
import warnings
from importlib import import_module
from itertools import count
from pathlib import Path
from typing import Annotated, Any

import typer

from eventide.cli.messages import messages

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
    "toy": ("eventide.applications.toy.demo", "1000 people: where they are, when they are rich, when they are happy"),
}


def demo(
    name: Annotated[str, typer.Argument(help="Which demonstration; --list names them.")] = DEFAULT,
    out: Annotated[Path | None, typer.Option(help="Where its files go [default: eventide-demo/NAME].")] = None,
    list_: Annotated[bool, typer.Option("--list", help="List the demonstrations and stop.")] = False,
) -> None:
    """Show Eventide at work, step by step.

    Without a name it shows `maritime`.

    Example: `eventide demo toy --out results`
    """
    if list_:
        data = [{"name": demo_name, "shows": shows} for demo_name, (_, shows) in DEMOS.items()]
        messages.result(data, "\n".join(f"{row['name']:12} {row['shows']}" for row in data))
        return
    if name not in DEMOS:
        raise typer.BadParameter(f"no demonstration called {name!r}; there are: {', '.join(DEMOS)}", param_hint="NAME")
    run = import_module(DEMOS[name][0]).run
    folder = out or Path("eventide-demo") / name
    folder.mkdir(parents=True, exist_ok=True)
    with _Teller() as say, warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # what Spark says about versions of pandas
        run(folder, say)
    messages.say(f"everything it made is in {folder}")


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
