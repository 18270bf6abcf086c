"""`eventide explain`: why a fluent has a value or an atom holds at a time, or why not, down to rows of the input."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from eventide.cli.account import count_of
from eventide.cli.messages import messages
from eventide.cli.options import refuse_options, time_or_length
from eventide.errors import InputError

if TYPE_CHECKING:
    from eventide.formats.facts import Facts


def explain(
    program: Annotated[str, typer.Argument(metavar="PROGRAM", help="The rules: `.ec`, `.prolog`, `.pl`; `.lars`; "
                                           "or `.mtl`.")],
    events: Annotated[list[str], typer.Option(
        metavar="FILE…", help="Facts: `.csv`, `.jsonl`, with `.mtl` also `.facts` (all also `.gz`), `.parquet`, "
        "`.arrow`; or `NAME=FILE`.")],
    fluent: Annotated[str, typer.Option(
        metavar="'F(a,b)=v'", help="A fluent with its value (`=true` may be left out), or an event; with `.lars` and "
        "`.mtl` an atom.")],
    at: Annotated[str | None, typer.Option(
        "--at", metavar="T", help="The time-point that is asked for, with `.mtl` a time such as `7/2` or `3.5`; with "
        "`--time-unit` also as a date.")] = None,
    between: Annotated[tuple[str, str] | None, typer.Option(
        metavar="Q1 Q2", help="Two query times: what came or was taken back between them that changed it.")] = None,
    probabilistic: Annotated[bool, typer.Option(
        "--probabilistic", help="Facts count with their probabilities: tell the most probable explanation.")] = False,
    background: Annotated[list[str] | None, typer.Option(
        metavar="FILE…", help="Facts and clauses (`.ec`, `.prolog`), or `NAME=FILE.csv`, a relation.")] = None,
    start: Annotated[int | None, typer.Option(
        metavar="T", help="Facts up to this time are outside [default: a tick before the first].")] = None,
    end: Annotated[int | None, typer.Option(
        metavar="T", help="The end of the run [default: when the last fact occurs or arrives].")] = None,
    tick: Annotated[int, typer.Option(metavar="N", help="Distance of neighbouring time-points.", min=1)] = 1,
    initially_at: Annotated[int, typer.Option(metavar="T", help="Where the values of `initially` begin.")] = 0,
    ties: Annotated[Literal["termination", "initiation"], typer.Option(
        help="Which wins when both happen at one time-point.")] = "termination",
    horizon: Annotated[Fraction | None, typer.Option(
        metavar="T", help="With `.mtl`: the time up to which is asked [default: as far as needed].",
        parser=time_or_length)] = None,
    depth: Annotated[int | None, typer.Option(
        metavar="N", help="Unfold the proof so many rules deep [default: to the facts].", min=1)] = None,
    html: Annotated[Path | None, typer.Option(
        metavar="FILE.html", help="Write the proof as a page whose branches open and close.")] = None,
    bad_rows: Annotated[Literal["fail", "skip"], typer.Option(
        help="Stop at rows that are no facts, or leave them out.")] = "fail",
    time_unit: Annotated[Literal["s", "ms", "us", "ns"] | None, typer.Option(
        help="The unit of a time-point, where times are dates.")] = None,
) -> None:
    """Tell why a fluent holds at a time, or why not.

    If it holds: the rules that were applied, with the values of their variables, down to the facts. These are a
    minimal set: a run over them alone gives the same interval, and over fewer of them it does not. If it does not
    hold: what ended it, and the rules that came nearest, with the condition that failed first. An atom of a
    DatalogMTL program is explained in the same way; of one of a LARS program, the smallest sets of facts from which it
    follows are told.

    Example:

    ```
    echo "initiatedAt(rich(X)=true, T) :- happensAt(win(X), T)." > rules.ec
    echo "win|3|3|ann" > e.csv
    eventide explain rules.ec --events e.csv --fluent 'rich(ann)=true' --at 7
    eventide explain rules.ec --events e.csv --fluent 'rich(ann)=true' --at 2
    eventide explain rules.ec --events e.csv --fluent 'rich(ann)' --between 2 7
    ```
    """
    from eventide.explanation.asking import explain as explained
    from eventide.explanation.asking import language_of, time_of_question
    from eventide.formats.results import whole_file
    from eventide.program import load

    if (at is None) == (between is None):
        raise typer.BadParameter("give one of both, a time or two query times", param_hint="'--at' / '--between'")
    for option, given in {"--probabilistic": probabilistic, "--end": end is not None}.items():
        if given and between is not None:
            raise typer.BadParameter("it does not go with --between", param_hint=option)
    if program.endswith(".lars"):
        refuse_options("LARS", {
            "--between": (between, "--at asks for one time"), "--start": (start, "time begins at 0"),
            "--probabilistic": (probabilistic or None, "facts are certain"),
            "--end": (end, "facts count up to the time that is asked for"),
            "--tick": (tick if tick != 1 else None, "the first line of the rules says how long a time-point lasts"),
            "--initially-at": (initially_at or None, "nothing holds initially"),
            "--ties": (ties if ties != "termination" else None, "nothing is initiated")})
    if program.endswith(".mtl"):
        certain = "facts are certain"
        refuse_options("DatalogMTL", {
            "--between": (between, "--at asks for one time"), "--start": (start, "time has no start"),
            "--end": (end, "--horizon says up to where is asked"), "--tick": (tick if tick != 1 else None,
                                                                             "time is dense"),
            "--probabilistic": (probabilistic or None, certain), "--initially-at": (initially_at or None, certain),
            "--background": (background or None, "all facts have a time, for ever as P(a)@(-inf,inf)"),
            "--ties": (ties if ties != "termination" else None, "nothing is initiated")})
    elif horizon is not None:
        raise typer.BadParameter("it is for .mtl", param_hint="--horizon")
    loaded = load(program, background=background or ())
    for option, times in {"--at": (at,), "--between": between or ()}.items():
        try:
            for time in times:
                time_of_question(language_of(loaded), time or 0, time_unit)
        except InputError as error:
            raise typer.BadParameter(str(error), param_hint=f"'{option}'") from None
    facts = explicable(loaded, events, bad_rows, time_unit)
    is_sure = probabilistic or program.endswith((".lars", ".mtl"))
    if not is_sure and any(table.probability is not None for table in facts):
        messages.say("the probabilities of facts are not used; --probabilistic does")
    proof = explained(loaded, facts, fluent, at, between=between, probabilistic=probabilistic, start=start, end=end,
                      tick=tick, initially_at=initially_at, ties=ties, horizon=horizon, time_unit=time_unit)
    if html is not None:
        from eventide.explanation.pages import proof_page

        with whole_file(html) as file:
            file.write(proof_page(proof, depth).encode())
        messages.say(f"the proof is in {html}")
    messages.result(proof.to_dict(depth), proof.text(depth))


def explicable(program: Any, events: list[str], bad_rows: Literal["fail", "skip"],
               time_unit: Literal["s", "ms", "us", "ns"] | None) -> Facts:
    """The facts of a question to a program that can be explained; what is left out of them is told."""
    facts: Facts = program.read(events, bad_rows=bad_rows, time_unit=time_unit)
    if facts.bad_count:
        messages.say(f"left out {count_of(facts.bad_count, 'bad row')}", bad_rows=facts.bad_count)
    return facts
