"""`eventide delay`: a file of events as a bad network brings them, to try how a program copes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from eventide.cli.messages import messages
from eventide.cli.run import _check_inputs_stay, check_ending, count_of


def delay(
    events: Annotated[list[str], typer.Argument(
        metavar="EVENTS…", help="Facts: `.csv`, `.jsonl` (also `.gz`), `.parquet`, `.arrow`; no program is needed.")],
    out: Annotated[Path, typer.Option(
        "--out", "-o", metavar="OUT", help="The disturbed facts, in order of arrival: `.csv`, `.parquet` or `.jsonl`; "
        "rows in RTEC's form stay in it.")],
    delayed: Annotated[float, typer.Option(
        metavar="SHARE", help="Which share of the facts arrives late.", min=0, max=1)] = 0.05,
    retracted: Annotated[float, typer.Option(
        metavar="SHARE", help="Which share is retracted later.", min=0, max=1)] = 0.0,
    revised: Annotated[float, typer.Option(
        metavar="SHARE", help="Which share is later replaced by a fact at another time.", min=0, max=1)] = 0.0,
    duplicated: Annotated[float, typer.Option(
        metavar="SHARE", help="Which share arrives once more.", min=0, max=1)] = 0.0,
    unit: Annotated[int, typer.Option(
        metavar="N", help="The unit of delays: they are Gamma(2, 2) times it, 4 units on average.", min=1)] = 1,
    shift: Annotated[int, typer.Option(
        metavar="N", help="By how many units a revision moves a fact at most.", min=1)] = 1,
    seed: Annotated[int, typer.Option(metavar="N", help="Equal seeds give equal files.", min=0)] = 1,
    time_unit: Annotated[Literal["s", "ms", "us", "ns"] | None, typer.Option(
        help="The unit of a time-point, where times are dates; they are written as numbers.")] = None,
) -> None:
    """Disturb a stream: facts arrive late, twice, are corrected or taken back.

    Example:

    ```
    printf 'time,event,who\\n1,win,ann\\n5,lose,ann\\n' > events.csv
    eventide delay events.csv --delayed 0.5 --unit 10 -o late.csv
    ```
    """
    check_ending(out)
    _check_inputs_stay(out, events)

    from eventide.signals.disturbance import Disturbance
    from eventide.signals.files import disturb_files

    disturbance = Disturbance(delayed=delayed, retracted=retracted, revised=revised, duplicated=duplicated, unit=unit,
                              seed=seed, shift=shift)
    done = disturb_files(events, out, disturbance, time_unit)
    last = "" if done.last is None else f"; the last arrives at {done.last}"
    messages.say(f"read {count_of(done.read, 'row')}, wrote {done.written} in {out}{last}",
                 read=done.read, written=done.written, last=done.last, file=str(out))
