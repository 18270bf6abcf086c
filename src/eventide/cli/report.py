"""`eventide report`: results as a page to look at, as a picture for a paper, or as text for the terminal."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from eventide.cli.account import count_of
from eventide.cli.messages import messages

if TYPE_CHECKING:
    import pyarrow as pa

    from eventide.report.situations import Situations

ENDINGS = (".html", ".svg", ".png", ".txt")


def report(
    results: Annotated[list[str], typer.Argument(
        metavar="RESULT…", help="What `eventide run` wrote: `.csv`, `.jsonl` (also `.gz`), `.parquet` or `.arrow`.")],
    out: Annotated[Path, typer.Option(
        "--out", "-o", metavar="OUT", help="The report: `.html`, a page with timeline, map and tables; `.svg`, `.png`, "
        "`.txt`, the timeline; `-`, the timeline as text on standard output.")],
    positions: Annotated[str | None, typer.Option(
        metavar="FILE", help="Where entities were, for the map: columns `vessel`, `time`, `lon`, `lat`; or AIS reports "
        "of a known layout.")] = None,
    vessels: Annotated[str | None, typer.Option(
        metavar="FILE", help="What they are called: columns `vessel`, `name`, `type`.")] = None,
    areas: Annotated[str | None, typer.Option(metavar="FILE", help="Areas on the map, as GeoJSON.")] = None,
    coast: Annotated[bool, typer.Option("--coast/--no-coast", help="Draw land on the map.")] = True,
    title: Annotated[str | None, typer.Option(
        metavar="TEXT", help="The title [default: the names of the results].")] = None,
    fluents: Annotated[str | None, typer.Option(metavar="A,B,…", help="Show only these fluents and events.")] = None,
    times: Annotated[Literal["auto", "number", "s", "ms", "us", "ns"], typer.Option(
        help="How times are shown: as numbers, or as dates that count these units since 1970; `auto` takes dates where "
        "they lie between 1980 and 2100.")] = "auto",
    rows: Annotated[int, typer.Option(
        metavar="N", help="How many rows a picture or a text has at most.", min=1)] = 60,
    width: Annotated[int | None, typer.Option(
        metavar="N", help="How wide a picture (960) or a text (the terminal) is.", min=40, max=4000)] = None,
) -> None:
    """Show results: one HTML file that needs nothing else, a picture, or text.

    Example:

    ```
    printf 'fluent,args,value,start,end\\nrich,ann,true,6,13\\nrich,bob,true,9,\\n' > result.csv
    eventide report result.csv -o report.html
    eventide report result.csv -o -
    ```
    """
    if out.suffix not in ENDINGS and str(out) != "-":
        raise typer.BadParameter(f"{out}: the ending does not say how to write the report; known are "
                                 f"{', '.join(ENDINGS)}, and - for the terminal", param_hint="-o")
    if out.suffix != ".html" and (positions or vessels or areas):
        raise typer.BadParameter("only an HTML report has a map; name one that ends with .html", param_hint="-o")
    _check_paths(out, [*results, *(name for name in (positions, vessels, areas) if name)])
    wanted = [name.strip() for name in (fluents or "").split(",") if name.strip()]
    named = title if title is not None else ", ".join(Path(name).name for name in results)
    if out.suffix == ".html":
        from eventide.report import write_report

        where, who = _placed(positions) if positions else (None, None)
        count = write_report(out, results, positions=where, vessels=vessels or who, areas=areas, title=named,
                             times=times, coast=coast, fluents=wanted)
        messages.say(f"wrote {count_of(count, 'interval')} to {out}; open it in a browser",
                     intervals=count, file=str(out))
        return
    from eventide.report.situations import read_situations
    from eventide.report.times import unit_of

    found = read_situations(results, wanted)
    first, last = found.known()
    unit = unit_of(first + found.origin, last + found.origin, times)
    if str(out) == "-":
        from eventide.report.text import timeline_text

        text = timeline_text(found, unit, width or shutil.get_terminal_size((100, 24)).columns, rows)
        sys.stdout.write(text)
        return
    _write(out, found, unit, named if title is not None else "", rows, width)
    messages.say(f"drew {count_of(len(found), 'interval')} in {out}", intervals=len(found), file=str(out))


def _placed(path: str) -> tuple[str | pa.Table, pa.Table | None]:
    """Positions as they are, if the file has a column `vessel`; otherwise AIS reports, and what they say of vessels."""
    from eventide.formats.files import read_text
    from eventide.formats.table_files import file_table
    from eventide.signals.ais import read_positions

    plain = path.removesuffix(".gz")
    if plain.endswith(".csv"):
        names = [name.strip(' "') for name in read_text(path).first_line().split(",")]
    elif plain.endswith((".jsonl", ".parquet", ".arrow")):
        names = list(file_table(path, {}).columns)
    else:
        names = []
    if "vessel" in names:
        return path, None
    found = read_positions(path, bad_rows="skip")
    if found.bad:
        messages.say(f"left out {count_of(found.bad, 'row')} of {path} that cannot be read", left_out=found.bad)
    return found.positions, found.vessels


def _check_paths(out: Path, inputs: list[str]) -> None:
    """Refuse what cannot be written, and what would replace an input, before any work is done."""
    from eventide.formats.problems import input_error

    if str(out) == "-":
        return
    if not out.parent.is_dir():
        raise input_error("missing-folder", f"the folder {out.parent} does not exist", str(out),
                          hint=f"create it: mkdir -p {out.parent}")
    if out.exists() and any(Path(name).exists() and Path(name).samefile(out) for name in inputs):
        raise typer.BadParameter(f"{out} is an input of the report; it would be replaced", param_hint="-o")


def _write(out: Path, found: Situations, unit: Literal["number", "s", "ms", "us", "ns"], title: str, rows: int,
           width: int | None) -> None:
    from eventide.formats.results import whole_file
    from eventide.report.picture import timeline_picture
    from eventide.report.png import to_png
    from eventide.report.svg import to_svg
    from eventide.report.text import timeline_text

    if out.suffix == ".txt":
        data = timeline_text(found, unit, width or 100, rows).encode()
    else:
        picture = timeline_picture(found, unit, title, width or 960, rows)
        data = to_png(picture) if out.suffix == ".png" else to_svg(picture).encode()
    with whole_file(out) as file:
        file.write(data)
