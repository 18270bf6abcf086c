"""`eventide signals`: from positions of vessels to the facts that rules read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from eventide.cli.account import count_of
from eventide.cli.messages import messages
from eventide.cli.options import values_of
from eventide.cli.progress import progress

if TYPE_CHECKING:
    from eventide.signals.fact_files import Made


def signals(
    positions: Annotated[list[str], typer.Argument(
        metavar="POSITIONS…", help="Reports of positions: `.csv` of any provider (also `.gz`, `.zip`), `.parquet`, "
        "`.arrow`, `.jsonl`, or NMEA lines with times.")],
    out: Annotated[Path, typer.Option(
        "--out", "-o", metavar="DIR", help="The folder: `facts` in it is for `eventide run --events`.")],
    preset: Annotated[str | None, typer.Option(
        metavar="NAME", help="How the provider writes: `marinecadastre`, `dma`, `ais`, `eventide` [default: by the "
        "names of the columns].")] = None,
    mapping: Annotated[Path | None, typer.Option(
        metavar="FILE", help="The provider's names and units, as TOML: `vessel = \"Ship\"`, `speed_unit = \"tenths\"` "
        "…")] = None,
    areas: Annotated[list[str] | None, typer.Option(
        metavar="FILE…", help="Areas, for `entersArea` and `leavesArea`: `.geojson`, `.shp`, or `.csv` with WKT.")
        ] = None,
    near: Annotated[float, typer.Option(
        metavar="METRES", help="Up to which distance two vessels are in `proximity`.")] = 500.0,
    gap: Annotated[int, typer.Option(metavar="SECONDS", help="Longer silence is a gap.", min=1)] = 600,
    stop_speed: Annotated[float, typer.Option(metavar="KNOTS", help="Up to here a vessel stops.")] = 0.5,
    slow_speed: Annotated[float, typer.Option(metavar="KNOTS", help="Up to here it moves slowly.")] = 5.0,
    turn: Annotated[float, typer.Option(metavar="DEGREES", help="More is a change in heading.")] = 15.0,
    speed_ratio: Annotated[float, typer.Option(
        metavar="SHARE", help="More, of the recent mean speed, is a change in speed.")] = 0.25,
    max_speed: Annotated[float, typer.Option(
        metavar="KNOTS", help="Reports that say or need more are rejected.")] = 80.0,
    any_vessel: Annotated[bool, typer.Option(
        "--any-vessel", help="Accept every positive number as a vessel, not only those of ships.")] = False,
    bad_rows: Annotated[Literal["fail", "skip"], typer.Option(
        help="Stop at rows that cannot be read, or count them.")] = "fail",
) -> None:
    """Clean positions, and find where vessels stop, turn, fall silent, meet and cross borders.

    DIR gets the tables `positions`, `rejected` (each report with its reason) and `vessels`, and `facts` with one table
    per event.

    Example:

    ```
    echo mmsi,time,lon,lat,sog,cog > feed.csv
    echo 219014000,0,10.0,55.0,9.1,80 >> feed.csv
    echo 219014000,60,10.004,55.0,0.1,80 >> feed.csv
    eventide signals feed.csv -o sea
    ```
    """
    from eventide.signals.cleaning import Cleaning
    from eventide.signals.critical import Thresholds
    from eventide.signals.fact_files import make_facts
    from eventide.signals.layouts import layout_of
    from eventide.signals.proximity import Nearness

    thresholds = Thresholds(gap=gap, stop_speed=stop_speed, stop_leave=max(1.0, 2 * stop_speed), slow_speed=slow_speed,
                            slow_leave=1.1 * slow_speed, speed_ratio=speed_ratio, turn=turn)
    if preset is not None:
        with values_of("--preset"):
            layout_of(preset, None)
    with progress("step") as step:
        made = make_facts(positions, out, preset=preset, mapping=mapping,
                          cleaning=Cleaning(max_speed=max_speed, any_vessel=any_vessel), thresholds=thresholds,
                          areas=areas or (), nearness=Nearness(metres=near, gap=gap, bridge=max(7200, gap)),
                          bad_rows=bad_rows, step=step)
    for problem in made.problems:
        messages.note(problem)
    _summary(made, out)


def _summary(made: Made, out: Path) -> None:
    for file, layout in made.layouts.items():
        messages.say(f"read {file} (layout: {layout})", file=file, layout=layout)
    kept = made.read - sum(number for reason, number in made.rejected.items() if reason != "unreadable")
    messages.say(f"kept {kept} of {count_of(made.read, 'report')}, of {count_of(made.vessels, 'vessel')}",
                 read=made.read, kept=kept, vessels=made.vessels)
    for reason, number in made.rejected.items():
        messages.say(f"    rejected {number}: {reason}", rejected=number, reason=reason)
    for value, number in made.unknown.items():
        messages.say(f"    made unknown {number}: impossible {value}", unknown=number, value=value)
    number = sum(made.facts.values())
    messages.say(f"wrote {count_of(number, 'fact')} to {out / 'facts'}", facts=made.facts, folder=str(out))
    for name, count in made.facts.items():
        if count and not messages.json:
            messages.say(f"    {name} {count}")
