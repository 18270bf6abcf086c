"""`eventide graph`: the dependency graph of a program, as a picture, a page, DOT or JSON."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, cast

import typer

from eventide.cli.messages import messages

ENDINGS = (".svg", ".png", ".html", ".dot", ".json")


def graph(
    program: Annotated[str, typer.Argument(
        metavar="PROGRAM", help="The rules: `.ec`, `.prolog` or `.pl`; `.mtl` DatalogMTL; `.lars` LARS.")],
    out: Annotated[Path, typer.Option(
        "--out", "-o", metavar="FILE", help="The picture: `.svg`, `.png`, `.html`, `.dot` or `.json`.")],
    background: Annotated[list[str] | None, typer.Option(
        metavar="FILE…", help="Facts and clauses, or relations; a picture can be made without them.")] = None,
    spark: Annotated[bool, typer.Option(
        "--spark", help="Tell at which stage of a run on Spark each result is computed, and what is sent.")] = False,
) -> None:
    """Draw what is computed from what, level by level, inputs at the bottom, cycles marked.

    Example:

    ```
    echo "initiatedAt(rich(X)=true, T) :- happensAt(win(X), T)." > rules.ec
    eventide graph rules.ec -o graph.svg
    ```
    """
    if out.suffix not in ENDINGS:
        raise typer.BadParameter(f"{out}: the ending does not say how to draw; known are {', '.join(ENDINGS)}",
                                 param_hint="-o")
    from eventide.errors import ProgramError
    from eventide.formats.results import whole_file
    from eventide.program import load
    from eventide.report.graph import dependency_graph, to_dot, to_json
    from eventide.report.graph_picture import graph_picture
    from eventide.report.graph_svg import to_html, to_svg
    from eventide.report.png import to_png

    loaded = load(program, background=background or ())
    errors = [p for p in loaded.check() if p.severity == "error" and p.code != "missing-background"]
    if errors:
        raise ProgramError("\n".join(p.render() for p in errors), errors)
    if program.endswith(".lars"):
        from eventide.report.lars_graph import lars_graph

        if spark:
            raise typer.BadParameter("LARS programs run in one process", param_hint="--spark")
        found = lars_graph(cast(Any, loaded.model))
    elif program.endswith(".mtl"):
        from eventide.report.mtl_graph import mtl_graph

        if spark:
            raise typer.BadParameter("a DatalogMTL program has one stage on Spark", param_hint="--spark")
        found = mtl_graph(cast(Any, loaded.model))
    else:
        found = dependency_graph(loaded.model)
    if spark:
        from eventide.spark.partitioning import partitioned, places, to_text

        spread = partitioned(loaded.model.plan, loaded.model.open_types)
        where = places(spread)
        boxes = [replace(b, label=f"{b.label} · {where[b.name]}") if b.name in where else b for b in found.boxes]
        found = replace(found, boxes=tuple(boxes))
        messages.say(to_text(spread))
    data = {
        ".svg": lambda: to_svg(found).encode(),
        ".png": lambda: to_png(graph_picture(found)),
        ".html": lambda: to_html(found, f"What {Path(program).name} is made of").encode(),
        ".dot": lambda: to_dot(found).encode(),
        ".json": lambda: to_json(found).encode(),
    }[out.suffix]()
    with whole_file(out) as file:
        file.write(data)
    messages.say(f"drew {len(found.boxes)} boxes and {len(found.arrows)} arrows in {out}",
                 boxes=len(found.boxes), arrows=len(found.arrows), file=str(out))
