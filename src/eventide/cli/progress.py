"""How long work shows that it moves: a bar on a terminal, now and then a plain line otherwise, nothing with `-q`."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from eventide.cli.messages import messages

Step = Callable[[int, int], None]
SECONDS_BETWEEN_LINES = 5.0


@contextmanager
def progress(unit: str) -> Iterator[Step]:
    """A function to call with how many units are done and how many there are.

    >>> with progress("window") as step:
    ...     step(1, 2)
    """
    if not messages.quiet and not messages.json and sys.stderr.isatty():
        with _bar(unit) as step:
            yield step
    else:
        yield _lines(unit)


def _lines(unit: str) -> Step:
    last = time.monotonic()

    def step(done: int, total: int) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= SECONDS_BETWEEN_LINES and done < total:
            last = now
            messages.say(f"{unit} {done} of {total}")

    return step


@contextmanager
def _bar(unit: str) -> Iterator[Step]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(f"{unit}s", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
