"""`eventide delay`: a file of events as a bad network brings them, to try how a program copes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from eventide.cli.account import count_of
from eventide.cli.messages import messages
from eventide.cli.options import check_ending, check_inputs_stay


def delay(
    events: Annotated[list[str], typer.Argument(
        metavar="EVENTS…", help="Facts: `.csv`, `.jsonl` (also `.gz`), `.parquet`, `.arrow`; no program is needed.")],
    out: Annotated[Path, typer.Option(
        "--out", "-o", metavar="OUT", help="The disturbed facts, in order of arrival: `.csv`, `.parquet` or `.jsonl`; "
        "rows in RTEC's form stay in it.")],
    delayed: Annotated[float | None, typer.Option(
        metavar="SHARE", help="Which share of the facts arrives late [default: 0.05, with `--noise` 0].", min=0, max=1)
        ] = None,
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
    noise: Annotated[Literal["smooth", "strong"] | None, typer.Option(
        help="Make activities uncertain: labels, arrivals and departures (smooth), also positions, and add labels "
        "(strong).")] = None,
    noise_mean: Annotated[float, typer.Option(
        metavar="M", help="How much noise: a probability is 1 - G/10, where G is Gamma with this mean.", min=0)] = 1.0,
    spurious: Annotated[float, typer.Option(
        metavar="SHARE", help="How many labels strong noise adds, as a share of those there are.", min=0, max=1)] = 0.1,
    seed: Annotated[int, typer.Option(metavar="N", help="Equal seeds give equal files.", min=0)] = 1,
    time_unit: Annotated[Literal["s", "ms", "us", "ns"] | None, typer.Option(
        help="The unit of a time-point, where times are dates; they are written as numbers.")] = None,
) -> None:
    """Disturb a stream: facts arrive late, twice, are corrected or taken back; activities become uncertain.

    Example:

    ```
    printf 'time,event,who\\n1,win,ann\\n5,lose,ann\\n' > events.csv
    eventide delay events.csv --delayed 0.5 --unit 10 -o late.csv
    ```
    """
    check_ending(out)
    check_inputs_stay(out, events)

    from eventide.signals.disturbance import Disturbance
    from eventide.signals.files import disturb_files
    from eventide.signals.label_noise import LabelNoise

    late = (0.05 if noise is None else 0.0) if delayed is None else delayed
    disturbance = Disturbance(delayed=late, retracted=retracted, revised=revised, duplicated=duplicated, unit=unit,
                              seed=seed, shift=shift)
    uncertain = None if noise is None else LabelNoise(kind=noise, mean=noise_mean, spurious=spurious, seed=seed)
    done = disturb_files(events, out, disturbance, time_unit, uncertain)
    last = "" if done.last is None else f"; the last arrives at {done.last}"
    messages.say(f"read {count_of(done.read, 'row')}, wrote {done.written} in {out}{last}",
                 read=done.read, written=done.written, last=done.last, file=str(out))
