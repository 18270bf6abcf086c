"""`eventide report`: results as a page to look at, as a picture for a paper, or as text for the terminal."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from eventide.cli.account import count_of
from eventide.cli.explain import explicable
from eventide.cli.messages import messages
from eventide.cli.progress import progress

if TYPE_CHECKING:
    import pyarrow as pa

    from eventide.formats.facts import Facts
    from eventide.program import Program
    from eventide.report.page import Proofs
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
    explain: Annotated[str | None, typer.Option(
        metavar="PROGRAM", help="The rules of the results, with `--events`: a click on an interval of the page shows "
        "why it holds.")] = None,
    events: Annotated[list[str] | None, typer.Option(
        metavar="FILE…", help="With `--explain`: the facts of the results, as for `run`.")] = None,
    background: Annotated[list[str] | None, typer.Option(
        metavar="FILE…", help="With `--explain`: the background of the rules, as for `run`.")] = None,
    proofs: Annotated[int, typer.Option(
        metavar="N", help="With `--explain`: how many intervals are explained, the rarest situations first.",
        min=1)] = 100,
    start: Annotated[int | None, typer.Option(
        metavar="T", help="With `--explain`: the start of the run, as it was given to `run`.")] = None,
    end: Annotated[int | None, typer.Option(metavar="T", help="With `--explain`: the end of the run.")] = None,
    tick: Annotated[int, typer.Option(
        metavar="N", help="With `--explain`: the distance of neighbouring time-points.", min=1)] = 1,
    initially_at: Annotated[int, typer.Option(
        metavar="T", help="With `--explain`: where the values of `initially` begin.")] = 0,
    ties: Annotated[Literal["termination", "initiation"], typer.Option(
        help="With `--explain`: which wins when both happen at one time-point.")] = "termination",
    bad_rows: Annotated[Literal["fail", "skip"], typer.Option(
        help="With `--explain`: stop at rows that are no facts, or leave them out.")] = "fail",
    time_unit: Annotated[Literal["s", "ms", "us", "ns"] | None, typer.Option(
        help="With `--explain`: the unit of a time-point, where times are dates.")] = None,
    rows: Annotated[int, typer.Option(
        metavar="N", help="How many rows a picture or a text has at most.", min=1)] = 60,
    width: Annotated[int | None, typer.Option(
        metavar="N", help="How wide a picture (960) or a text (the terminal) is.", min=40, max=4000)] = None,
) -> None:
    """Show results: one HTML file that needs nothing else, a picture, or text.

    Example:

    ```
    printf 'fluent,args,value,start,end\\nrich,ann,true,6,13\\n' > result.csv
    echo 'rich,bob,true,9,' >> result.csv
    eventide report result.csv -o report.html
    eventide report result.csv -o -
    ```
    """
    if (explain is None) != (not events) or (background and not explain):
        raise typer.BadParameter("rules and facts explain results together: give both",
                                 param_hint="--explain, --events")
    run: dict[str, Any] = {"start": start, "end": end, "tick": tick, "initially_at": initially_at, "ties": ties}
    given = {"--start": start is not None, "--end": end is not None, "--tick": tick != 1,
             "--initially-at": initially_at != 0, "--ties": ties != "termination", "--bad-rows": bad_rows != "fail",
             "--time-unit": time_unit is not None}
    if explain is None and any(given.values()):
        raise typer.BadParameter("this needs --explain", param_hint=next(name for name in given if given[name]))
    if out.suffix not in ENDINGS and str(out) != "-":
        raise typer.BadParameter(f"{out}: the ending does not say how to write the report; known are "
                                 f"{', '.join(ENDINGS)}, and - for the terminal", param_hint="-o")
    if out.suffix != ".html" and (positions or vessels or areas or explain):
        raise typer.BadParameter("only an HTML report has a map and proofs; name one that ends with .html",
                                 param_hint="-o")
    _check_paths(out, [*results, *(name for name in (positions, vessels, areas, explain) if name)])
    wanted = [name.strip() for name in (fluents or "").split(",") if name.strip()]
    named = title if title is not None else ", ".join(Path(name).name for name in results)
    if out.suffix == ".html":
        from eventide.report import write_report
        from eventide.report.situations import read_situations

        where, who = _placed(positions) if positions else (None, None)
        why = None
        if explain is not None:
            from eventide.program import load

            rules = load(explain, background=background or ())
            facts = explicable(rules, events or [], bad_rows, time_unit)
            why = _proofs(read_situations(results, wanted), rules, facts, proofs, run)
        count = write_report(out, results, positions=where, vessels=vessels or who, areas=areas, title=named,
                             times=times, coast=coast, fluents=wanted, proofs=why)
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


def _proofs(results: Situations, rules: Program, facts: Facts, most: int, run: dict[str, Any]) -> Proofs:
    """Why intervals of the results hold; those of another run are counted and told."""
    from eventide.explanation.asking import Explainer
    from eventide.explanation.reporting import proofs_for

    with progress("proof") as advance:
        found, others = proofs_for(Explainer(rules, facts, **run), results, most, advance)
    if others:
        messages.say(f"{count_of(others, 'interval')} without a proof: these rules, facts and options do not give them",
                     without_proof=others)
    return found


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
