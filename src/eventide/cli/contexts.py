"""`eventide contexts`: which facts of a LARS stream contradict each other, and what holds without some of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from eventide.cli.account import count_of
from eventide.cli.messages import messages

if TYPE_CHECKING:
    from eventide.lars.contexts import Context, Contexts
    from eventide.lars.maintained import Fact


def contexts(
    program: Annotated[str, typer.Argument(metavar="PROGRAM.lars", help="The rules.")],
    events: Annotated[list[str], typer.Option(
        metavar="FILE…", help="The stream: `.jsonl` with a time and its facts per line, or tables of events.")],
    background: Annotated[list[str] | None, typer.Option(
        metavar="FILE…", help="Facts that hold always: `.lars`, or `NAME=FILE.csv`.")] = None,
    at: Annotated[int | None, typer.Option(
        "--at", metavar="T", help="The time at which to look [default: that of the last fact].", min=0)] = None,
    without: Annotated[list[str] | None, typer.Option(
        metavar="FACT", help="A fact that is not to be believed: `p(a)@3`, or `p(a)` at whatever time. May be "
        "repeated. Shows that one context.")] = None,
    limit: Annotated[int, typer.Option(
        metavar="N", help="How many contexts, and how many answers in each, are looked for.", min=1)] = 20,
) -> None:
    """Find the conflicts in a stream and the largest contexts without any; tell what holds in each, and why.

    A context is a set of the facts that windows show. All of them are kept at once by truth maintenance.

    Example:

    ```
    echo 'free :- closed [9]. jam :- slow [9]. :- free, jam.' > road.lars
    echo '{"time": 1, "facts": ["closed"]}' > road.jsonl
    echo '{"time": 2, "facts": ["slow"]}' >> road.jsonl
    eventide contexts road.lars --events road.jsonl
    eventide contexts road.lars --events road.jsonl --without closed
    ```
    """
    from eventide.program import load

    loaded = load(program, background=background or ())
    if not hasattr(loaded, "contexts"):
        raise typer.BadParameter(f"{program}: only LARS programs (.lars) have contexts", param_hint="PROGRAM.lars")
    found = loaded.contexts(events, at=at, limit=limit)
    if without:
        doubted = [fact for text in without for fact in found.facts_like(text)]
        chosen = found.context(doubted)
        shown = [] if chosen is None else [chosen]
    else:
        shown = found.maximal()
    messages.result(_data(found, shown), "\n".join(_lines(found, shown)))
    if without and not shown:
        messages.say("without these facts there is still no answer")


def _lines(found: Contexts, shown: Sequence[Context]) -> Iterator[str]:
    from eventide.lars.contexts import answer_texts

    time, conflicts = found.session.time, found.conflicts()
    state = "consistent" if found.is_consistent() else "inconsistent"
    yield f"at {time}: {count_of(len(found.session.facts()), 'fact')}, together {state}"
    for number, conflict in enumerate(conflicts, 1):
        yield f"conflict {number}: {conflict}"
        for violation in conflict.violations:
            yield f"  {violation}"
        if not conflict.violations:
            yield "  a negation cannot be decided: the rules conclude what they ask not to hold"
    for number, context in enumerate(shown, 1):
        yield f"context {number}: {f'without {_list(context.without)}' if context.without else 'all facts'}"
        for place, (answer, environment) in enumerate(zip(context.answers, context.environments, strict=True), 1):
            if len(context.answers) > 1:
                yield f"  answer {place} of {len(context.answers)}"
            told = _held(found, answer, environment)
            width = max((len(atom) for atom, _ in told), default=0)
            for atom, reasons in told:
                yield f"    {atom:{width}}  because {reasons[0]}"
            if not told:
                yield "    nothing"
    if not shown and not found.maximal():
        yield "no context is without a conflict"
    if len(shown) > 1:
        yield f"in every context: {', '.join(answer_texts(found.certain(), time)) or 'nothing'}"


def _held(found: Contexts, answer: Any, environment: int) -> list[tuple[str, list[Any]]]:
    """What an answer says, as text, each with its reasons there."""
    from eventide.lars.values import ground_text

    now = found.session.time
    order = sorted(answer, key=lambda atom: (atom[2] != now, atom[2], ground_text(*atom[:2])))
    return [(ground_text(name, row) + ("" if time == now else f"@{time}"), found.why(name, row, time, environment))
            for name, row, time in order]


def _data(found: Contexts, shown: Sequence[Context]) -> dict[str, Any]:
    from eventide.lars.contexts import answer_texts

    return {
        "time": found.session.time,
        "facts": list(map(str, found.session.facts())),
        "consistent": found.is_consistent(),
        "conflicts": [{
            "facts": list(map(str, conflict.facts)),
            "violations": [{"rule": one.rule, "values": dict(one.values)} for one in conflict.violations],
        } for conflict in found.conflicts()],
        "contexts": [{
            "without": list(map(str, context.without)),
            "answers": [[{
                "atom": atom,
                "why": [{"facts": list(map(str, reason.facts)), "not": list(reason.absent)} for reason in reasons],
            } for atom, reasons in _held(found, answer, environment)]
                for answer, environment in zip(context.answers, context.environments, strict=True)],
        } for context in shown],
        "certain": answer_texts(found.certain(), found.session.time),
    }


def _list(facts: Sequence[Fact]) -> str:
    return ", ".join(map(str, facts))
