"""`eventide learn`: weighted rules from labelled streams, as a rule file."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from eventide.cli.account import count_of
from eventide.cli.messages import messages
from eventide.cli.options import check_inputs_stay
from eventide.cli.output import standard_output
from eventide.cli.progress import progress

if TYPE_CHECKING:
    from eventide.learning.learned import Learned

CURVES = (".csv", ".parquet", ".jsonl", ".svg", ".html")
RULES = (".ec", ".prolog", ".pl")
SHOWN = 10


def learn(
    modes: Annotated[str, typer.Argument(
        metavar="MODES", help="What rules may look like: `modeh`, `modeb`, `examplePattern`, …")],
    examples: Annotated[list[str], typer.Option(
        metavar="FILE…", help="Labelled streams: tables by name, `NAME=FILE` (`.csv`, `.parquet`, `.jsonl`, `.arrow`), "
        "a folder of them, tables with a column `event` or `fluent`, or facts (`.lp`).")],
    background: Annotated[list[str] | None, typer.Option(
        metavar="FILE…", help="Rules that derive what the modes name: `.ec`, `.prolog`, `.pl`, or `.lp` for clingo; "
        "`NAME=FILE` is a relation.")] = None,
    target: Annotated[list[str] | None, typer.Option(
        metavar="NAME…", help="The fluents to learn [default: all that the modes name].")] = None,
    method: Annotated[Literal["woled", "paper", "oled"], typer.Option(
        help="What we recommend, WOLED as published, or OLED (rules without weights).")] = "woled",
    option: Annotated[list[str] | None, typer.Option(
        "--set", metavar="NAME=VALUE…", help="Further settings of the learner, such as `memory=50`.")] = None,
    members: Annotated[int, typer.Option(
        metavar="N", help="Learners that see different streams, whose rules vote [default: one learner].", min=0)] = 0,
    race: Annotated[bool, typer.Option(
        "--race", help="Let this learner, a careful one and a committee learn side by side; the rules are those of the "
        "one that was best so far.")] = False,
    batch: Annotated[int, typer.Option(metavar="N", help="Time-points of a mini-batch.", min=1)] = 100,
    passes: Annotated[int, typer.Option(metavar="N", help="How often all streams are gone through.", min=1)] = 1,
    seed: Annotated[int | None, typer.Option(
        metavar="N", help="Shuffle the streams; equal seeds shuffle alike [default: as given].", min=0)] = None,
    evaluate: Annotated[Literal["prequential", "kfold"], typer.Option(
        help="How well it learns: each batch tested before it is used, or streams tested by rules from the others.",
    )] = "prequential",
    folds: Annotated[int, typer.Option(metavar="N", help="With `--evaluate kfold`.", min=2)] = 10,
    trace: Annotated[bool, typer.Option(
        "--trace", help="Tell why rules were added, specialised or dropped.")] = False,
    curve: Annotated[Path | None, typer.Option(
        metavar="FILE", help="Write the learning curve: `.csv`, `.parquet`, `.jsonl`, `.svg` or `.html`.")] = None,
    facts: Annotated[Path | None, typer.Option(
        metavar="DIR", help="Write the facts of each stream as `eventide run --events` reads them.")] = None,
    time_unit: Annotated[Literal["s", "ms", "us", "ns"] | None, typer.Option(
        help="The unit of a time-point, where times are dates.")] = None,
    keep: Annotated[bool, typer.Option(
        "--keep", help="If it is interrupted, write the rules found so far.")] = False,
    out: Annotated[Path | None, typer.Option(
        "--out", "-o", metavar="RULES.ec", help="The rules [default: on standard output].")] = None,
) -> None:
    """Learn rules with weights, batch by batch, from streams in which situations are labelled.

    Example:

    ```
    echo 'modeh(initiatedAt(rich(+who),+time))' > rich.modes
    echo 'modeh(terminatedAt(rich(+who),+time))' >> rich.modes
    echo 'modeb(happensAt(win(+who),+time))' >> rich.modes
    echo 'modeb(happensAt(lose(+who),+time))' >> rich.modes
    mkdir -p in
    (echo time,who; seq -f %g,ann 1 5 99) > in/win.csv
    (echo time,who; seq -f %g,ann 3 5 99; seq -f %g,ann 4 5 99) > in/lose.csv
    (echo time,who; seq -f %g,ann 3 5 99) > in/rich.csv
    eventide learn rich.modes --examples in -o rules.ec
    ```
    """
    _check(curve, out, facts, [modes, *examples, *(background or [])])
    from eventide.learning.learned import METHODS, learner_of, modes_of, prepared

    settings = METHODS[method](**_settings(option or []))
    declared, problems = modes_of(modes)
    for problem in problems:
        messages.note(problem)
    learnt = prepared(declared, examples, target=target or None, background=background or [], settings=settings,
                      members=members, race=race, seed=seed, time_unit=time_unit)
    for problem in learnt.warnings:
        messages.note(problem)
    if evaluate == "kfold":
        _check_folds(learnt)
    interrupted = False
    try:
        with progress("batch") as step:
            learnt.fit(batch=batch, passes=passes, seed=seed, progress=step)
    except KeyboardInterrupt:
        if not keep:
            raise
        interrupted = True
    found = _summary(learnt)
    if evaluate == "kfold" and not interrupted:
        make = partial(learner_of, settings=settings, members=members, seed=seed, race=race)
        for name, scores in _folded(learnt, make, folds, batch, passes, seed).items():
            found[name]["kfold"] = scores
    _write(learnt, out, curve, facts)
    _say(learnt, found, trace, out)
    if interrupted:
        messages.problem("interrupted", f"the rules found so far are in {out}" if out else None)
        raise typer.Exit(130)


def _check(curve: Path | None, out: Path | None, facts: Path | None, inputs: list[str]) -> None:
    """Refuse what cannot be written before any work is done."""
    for path, known, hint in ((curve, CURVES, "--curve"), (out, RULES, "-o")):
        if path is None:
            continue
        if path.suffix not in known:
            raise typer.BadParameter(f"{path}: the ending does not say what to write; known are {', '.join(known)}",
                                     param_hint=hint)
        if not path.parent.is_dir():
            raise typer.BadParameter(f"{path}: there is no folder {path.parent}", param_hint=hint)
        check_inputs_stay(path, inputs, hint)
    there = [each for each in (facts, *facts.parents) if each.exists()] if facts is not None else []
    if there and not there[0].is_dir():
        raise typer.BadParameter(f"{there[0]} is a file; facts are written to a folder", param_hint="--facts")


def _check_folds(learnt: Learned) -> None:
    """Refuse folds of a single stream before anything is learnt."""
    from eventide.errors import InputError

    if any(len(target.examples.streams) < 2 for target in learnt.targets.values()):
        raise InputError("folds are made of whole streams, and there is only one; give tables a column 'stream'")


def _settings(given: list[str]) -> dict[str, object]:
    """`NAME=VALUE` as settings: numbers, pairs such as `2,3`, true and false, or words."""
    found: dict[str, object] = {}
    for text in given:
        name, mark, value = text.partition("=")
        if not mark:
            raise typer.BadParameter(f"{text!r} is no NAME=VALUE such as memory=50", param_hint="--set")
        found[name.strip().replace("-", "_")] = _value(value.strip())
    return found


def _value(text: str) -> object:
    if "," in text:
        return tuple(_value(each.strip()) for each in text.split(","))
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return {"true": True, "false": False}.get(text, text)


def _summary(learnt: Learned) -> dict[str, dict[str, Any]]:
    """How each fluent was learnt: rules, and the score before labels were used."""
    from eventide.learning.evaluation import Score, size_of
    from eventide.learning.race import Race

    found: dict[str, dict[str, Any]] = {}
    for name, target in learnt.targets.items():
        reports = [report for _, _, report, _ in target.reports]
        score = sum((Score(report.tp, report.fp, report.fn) for report in reports), Score())
        points = sum(report.points for report in reports)
        found[name] = {
            "rules": len(target.learner.rules), "literals": size_of(target.learner.rules), "batches": len(reports),
            "points": points, "prequential": {
                **_scores(score), "loss": sum(r.mistakes for r in reports) / max(len(reports), 1),
                "mistakes_per_point": sum(r.mistakes for r in reports) / max(points, 1)},
            "seconds": sum(report.seconds for report in reports), "unobserved_labels": target.examples.unobserved,
            "unnamed_labels": target.examples.unnamed}
        if isinstance(target.learner, Race):
            found[name]["race"] = {"leader": target.learner.leader,
                                   "f1": {runner: each.f1 for runner, each in target.learner.scores.items()}}
    return found


def _scores(score: Any) -> dict[str, Any]:
    return {"tp": score.tp, "fp": score.fp, "fn": score.fn, "precision": score.precision, "recall": score.recall,
            "f1": score.f1}


def _folded(learnt: Learned, make: Callable[..., Any], folds: int, batch: int, passes: int,
            seed: int | None) -> dict[str, dict[str, Any]]:
    from eventide.learning.evaluation import cross_validated, dealt

    found: dict[str, dict[str, Any]] = {}
    for name, target in learnt.targets.items():
        streams = target.examples.streams
        dealt_out = dealt(streams, min(folds, len(streams)), seed or 0)
        result = cross_validated(partial(make, target.learner.modes), target.examples, dealt_out, size=batch,
                                 passes=passes, seed=seed)
        found[name] = {**_scores(result.total), "macro_f1": result.macro, "literals": result.size,
                       "folds": [list(map(str, fold)) for fold in dealt_out], "seconds": result.seconds}
    return found


def _write(learnt: Learned, out: Path | None, curve: Path | None, facts: Path | None) -> None:
    from eventide.formats.results import WRITERS, text_columns, whole_file

    if out is not None:
        learnt.save(out)
    elif not messages.json:
        standard_output().write(learnt.text.encode())
    if curve is not None and curve.suffix in WRITERS:
        with whole_file(curve) as file:
            WRITERS[curve.suffix]([text_columns(learnt.curve)], file)
    elif curve is not None:
        with whole_file(curve) as file:
            file.write(_page(learnt, curve.suffix).encode())
    if facts is not None:
        _write_facts(learnt, facts)


def _page(learnt: Learned, ending: str) -> str:
    """The learning curve as a picture, or as a page with the rules and the trace below it."""
    from eventide.report.curve import curve_picture
    from eventide.report.svg import to_svg

    losses: dict[str, list[float]] = {name: [] for name in learnt.targets}
    for row in learnt.curve.select(["target", "loss"]).to_pylist():
        losses[row["target"]].append(row["loss"])
    picture = to_svg(curve_picture(losses))
    if ending == ".svg":
        return picture
    steps = "\n".join(f"<li>{escape(str(step))}</li>" for step in learnt.trace)
    return (f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>What was learnt</title></head>\n'
            f'<body style="font-family:sans-serif;max-width:60em;margin:2em auto">\n<h1>What was learnt</h1>\n'
            f"{picture}\n"
            f"<h2>Rules</h2>\n<pre>{escape(learnt.text)}</pre>\n<h2>How they came about</h2>\n<ol>\n{steps}\n</ol>\n"
            "</body></html>\n")


def _write_facts(learnt: Learned, folder: Path) -> None:
    """A folder for each stream with a table for each event; for a single stream the tables themselves."""
    from eventide.formats.results import WRITERS, text_columns, whole_file

    streams = list(dict.fromkeys(stream for target in learnt.targets.values() for stream in target.examples.streams))
    names = _folders(streams)
    for stream in streams:
        inner = folder if len(streams) == 1 else folder / names[stream]
        inner.mkdir(parents=True, exist_ok=True)
        for name, table in learnt.facts(stream).items():
            with whole_file(inner / f"{name}.csv") as file:
                WRITERS[".csv"]([text_columns(table)], file)


def _folders(streams: Sequence[str | int]) -> dict[str | int, str]:
    """A folder's name for each stream, no two the same and none that leads elsewhere."""
    found: dict[str | int, str] = {}
    for stream in streams:
        plain = re.sub(r"[/\\\x00]", "_", str(stream))
        plain = plain if plain.strip(".") else f"_{plain}"
        while plain in found.values():
            plain += "_"
        found[stream] = plain
    return found


def _say(learnt: Learned, found: dict[str, dict[str, Any]], trace: bool, out: Path | None) -> None:
    rows = learnt.curve.to_pylist()
    if messages.json:
        rules = [{"weight": rule.weight, "rule": str(rule.clause), "tp": rule.tp, "fp": rule.fp}
                 for rule in learnt.rules]
        data: dict[str, Any] = {"targets": found, "rules": rules, "curve": rows}
        if out is None:
            data["text"] = learnt.text
        if trace:
            data["trace"] = [{"batch": step.batch, "kind": step.kind, "rule": None if step.rule is None else
                              str(step.rule), "parent": None if step.parent is None else str(step.parent),
                              "reason": step.reason, "numbers": dict(step.numbers)} for step in learnt.trace]
        messages.result(data, "")
        return
    for name, target in found.items():
        own = [row for row in rows if row["target"] == name]
        messages.say(_table(own))
        score = target["prequential"]
        messages.say(f"{name}: {count_of(target['rules'], 'rule')} with {count_of(target['literals'], 'literal')} from "
                     f"{target['batches']} batch{'es' * (target['batches'] != 1)}; tested before use: F1 "
                     f"{score['f1']:.3f}, {score['loss']:.2f} mistakes by batch")
        if "race" in target:
            race = target["race"]
            messages.say(f"{name}: the race is won by the learner {race['leader']!r}; F1 of all: "
                         + ", ".join(f"{runner} {f1:.3f}" for runner, f1 in race["f1"].items()))
        if target["unobserved_labels"]:
            messages.say(f"{name}: {count_of(target['unobserved_labels'], 'label')} at time-points without any fact "
                         "count nowhere")
        if target["unnamed_labels"]:
            messages.say(f"{name}: {count_of(target['unnamed_labels'], 'label')} about things that no fact of the "
                         "stream names count as missed")
        if "kfold" in target:
            fold = target["kfold"]
            messages.say(f"{name}: {len(fold['folds'])} folds of streams: F1 {fold['f1']:.3f} (all states together), "
                         f"{fold['macro_f1']:.3f} (mean of streams), {fold['literals']:.1f} literals")
    for step in learnt.trace if trace else ():
        messages.say(str(step))
    if out is not None:
        # Rules that do not count, such as those of OLED without conditions, are not written.
        messages.say(f"wrote {count_of(learnt.text.count(f'{chr(10)}weight('), 'rule')} to {out}")


def _table(rows: list[dict[str, Any]]) -> str:
    """Some lines of the learning curve, the first and the last among them."""
    places = sorted({round(i * (len(rows) - 1) / (SHOWN - 1)) for i in range(SHOWN)}) if rows else []
    lines = [f"{'batch':>7} {'stream':>12} {'points':>7} {'mistakes':>9} {'loss':>8} {'rules':>6}"]
    for row in (rows[place] for place in places):
        lines.append(f"{row['batch']:>7} {row['stream'][:12]:>12} {row['points']:>7} {row['fp'] + row['fn']:>9} "
                     f"{row['loss']:>8.2f} {row['rules']:>6}")
    return "\n".join(lines)
