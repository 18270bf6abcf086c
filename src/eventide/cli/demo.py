"""`eventide demo`: end-to-end demonstrations on data that come with Eventide."""

from __future__ import annotations

import sys
from importlib import import_module
from itertools import count
from pathlib import Path
from typing import Annotated

import typer

from eventide.cli.messages import messages

DEFAULT = "maritime"
# Name, module with `run(out: Path, say: Callable[[str], None]) -> None`, and what it shows.
DEMOS = {
    "maritime": ("eventide.applications.maritime.demo", "400 vessels, 100,000 events: 21 situations at sea"),
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
    numbers = count(1)

    def say(text: str) -> None:
        messages.say(text if messages.json else f"{next(numbers)}. {text}", sys.stdout)

    run(folder, say)
    messages.say(f"everything it made is in {folder}")
