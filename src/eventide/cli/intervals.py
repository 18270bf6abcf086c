"""`eventide intervals`: probabilities at time-points to the intervals during which something probably holds."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from eventide.cli.account import count_of
from eventide.cli.messages import messages
from eventide.cli.options import check_ending, check_inputs_stay, values_of
from eventide.cli.output import write_result


def intervals(
    probs: Annotated[str, typer.Argument(
        metavar="PROBS.csv", help="Columns `time` and `probability`; all others together name a stream. `.csv`, "
        "`.jsonl` (also `.gz`), `.parquet`, `.arrow`.")],
    threshold: Annotated[str, typer.Option(
        metavar="P", help="The mean probability that an interval must have, from 0 to 1.")],
    memory: Annotated[int | None, typer.Option(
        metavar="N", help="How many possible starts each stream remembers [default: all that matter].", min=0)] = None,
    durations: Annotated[str | None, typer.Option(
        metavar="MEAN,SD", help="How long intervals last, in time-points; or a file that `--learn` wrote. Decides what "
        "the memory keeps.")] = None,
    resolver: Annotated[Literal["thesis", "published", "fifo"], typer.Option(
        help="Who decides what a full memory gives up: the algorithms of the thesis, those of the published program, "
        "or the age alone.")] = "thesis",
    batch: Annotated[int, typer.Option(
        metavar="N", help="With `--memory`: how many points are taken at a time.", min=1)] = 1,
    credible: Annotated[bool, typer.Option(
        "--credible", help="Of overlapping intervals, keep the most credible one.")] = False,
    learn: Annotated[Path | None, typer.Option(
        metavar="FILE", help="Write how long the intervals lasted, for `--durations`.")] = None,
    seed: Annotated[int, typer.Option(metavar="N", help="Equal seeds forget alike.", min=0)] = 0,
    step: Annotated[int | None, typer.Option(
        metavar="N", help="Distance of neighbouring time-points [default: the smallest there is].", min=1)] = None,
    gaps: Annotated[Literal["fail", "hold", "zero", "split"], typer.Option(
        help="Missing time-points: stop, repeat the last probability, count them as 0, or begin a new stream.",
    )] = "fail",
    time_unit: Annotated[Literal["s", "ms", "us", "ns"] | None, typer.Option(
        help="The unit of a time-point, where times are dates.")] = None,
    out: Annotated[Path | None, typer.Option(
        "--out", "-o", metavar="OUT", help="The result: `.csv`, `.parquet` or `.jsonl` [default: CSV on standard "
        "output].")] = None,
) -> None:
    """Recognise intervals in noisy streams: those whose mean probability reaches a threshold, as long as they can be.

    Example:

    ```
    echo time,probability > probs.csv
    printf '1,0\\n2,0.5\\n3,0.7\\n4,0.9\\n5,0.4\\n6,0.1\\n' >> probs.csv
    eventide intervals probs.csv --threshold 0.5
    ```
    """
    check_ending(out)
    check_inputs_stay(out, [probs])

    from eventide.formats.results import sorted_columns
    from eventide.probability import Durations, Recogniser
    from eventide.probability import intervals as recognise
    from eventide.probability.intervals import units

    with values_of("--threshold"):
        units(threshold)
    known = _durations(durations)
    if isinstance(known, str):
        known = Durations.load(known)
    with values_of("--memory", "--durations", "--resolver"):
        Recogniser(threshold, memory, known, resolver=resolver)
    found = recognise(
        probs, threshold, memory, known, resolver=resolver, batch=batch, credible=credible, seed=seed,
        step=step, gaps=gaps, time_unit=time_unit)
    write_result([sorted_columns(found.to_arrow(_name(probs)))], out)
    if learn is not None:
        Durations.learn(found).save(learn)
    messages.say(f"{count_of(len(found), 'interval')} in {count_of(len(found.keys), 'stream')}",
                 intervals=len(found), streams=len(found.keys), file=None if out is None else str(out))


def _durations(text: str | None) -> object:
    """`411,22` as two numbers; anything else is the name of a file."""
    if text is None or "," not in text or Path(text).exists():
        return text
    try:
        mean, deviation = map(float, text.split(","))
    except ValueError:
        raise typer.BadParameter(f"{text!r} is no MEAN,SD such as 411,22", param_hint="--durations") from None
    return mean, deviation


def _name(path: str) -> str:
    """What the intervals of a file without names are called."""
    return Path(path).name.partition(".")[0] or "situation"
