"""`eventide check`: every problem of a program at its place, what it is made of, what a session must hold of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from eventide.cli.messages import messages

if TYPE_CHECKING:
    from eventide.program import Program
    from eventide.syntax.diagnostics import Diagnostic

SUMMARIES = {".mtl": "eventide.cli.check_mtl", ".lars": "eventide.cli.check_lars"}
"""Modules with a `summary` of a program of another language, and its `lines`, by ending."""
SHAPES = {"event": "event", "interval": "fluent, as intervals", "point": "fluent, as points"}


def check(
    program: Annotated[str, typer.Argument(
        metavar="PROGRAM", help="The rules: `.ec`, `.prolog`, `.pl`; `.mtl` DatalogMTL; `.lars` LARS. Also `.ectest`, "
        "tests of rules, and `.modes`, what is to be learnt.")],
    background: Annotated[list[str] | None, typer.Option(
        metavar="FILE…", help="Facts and clauses (`.ec`, `.prolog`), or `NAME=FILE.csv`, a relation.")] = None,
    plan: Annotated[bool, typer.Option("--plan", help="Print the plan, level by level.")] = False,
) -> None:
    """Parse and analyse a program: its problems, what it reads and derives, and what a session must hold of it.

    Example:

    ```
    echo "initiatedAt(rich(X)=true, T) :- happensAt(win(X), T)." > rules.ec
    eventide check rules.ec
    ```
    """
    if Path(program).suffix in OTHERS:
        if background or plan:
            raise typer.BadParameter(f"a {Path(program).suffix} file has none",
                                     param_hint="--background" if background else "--plan")
        _check_other(Path(program))
        return
    from eventide.program import load

    loaded = load(program, background=background or ())
    problems = loaded.check()
    failed = any(problem.severity == "error" for problem in problems)
    described = SUMMARIES.get(Path(program).suffix)
    if described is not None:
        module = import_module(described)
        found, lines = ({} if failed else module.summary(loaded)), module.lines
    else:
        found, lines = (summary(loaded) if loaded.model.plan.strata or not failed else {}), _lines
        if not failed:
            found["bounds"] = _bounds(loaded)
    tree = loaded.explain_plan() if plan and not failed else None
    if messages.json:
        data = {"diagnostics": [problem.as_dict() for problem in problems], **found}
        messages.result(data | ({"plan": tree} if tree is not None else {}), "")
    else:
        _tell(problems, loaded.texts)
        if not messages.quiet:
            for line in lines(found):
                print(line)
        if tree is not None:
            print(tree)
    if failed:
        raise typer.Exit(1)


def _tell(problems: Sequence[Diagnostic], texts: Mapping[str, str]) -> None:
    """Print problems with their lines, and how many there are."""
    for problem in problems:
        print(problem.render(texts.get(problem.span.source) if problem.span else None))
    if not messages.quiet:
        counts = {severity: sum(p.severity == severity for p in problems) for severity in ("error", "warning")}
        print(", ".join(f"{number} {name}{'' if number == 1 else 's'}" for name, number in counts.items()))


def _check_other(path: Path) -> None:
    """Check a file that holds no rules: nothing is run, nothing is learnt."""
    from eventide.formats.files import rule_text

    text = rule_text(path)
    problems = OTHERS[path.suffix](path, text)
    if messages.json:
        messages.result({"diagnostics": [problem.as_dict() for problem in problems]}, "")
    else:
        texts = {str(path): text}
        for source in {problem.span.source for problem in problems if problem.span} - {str(path)}:
            texts[source] = rule_text(Path(source))  # the rules that are tested
        _tell(problems, texts)
    if any(problem.severity == "error" for problem in problems):
        raise typer.Exit(1)


def _problems_of_tests(path: Path, text: str) -> list[Diagnostic]:
    from eventide.errors import EventideError
    from eventide.rule_tests.reading import tests_in
    from eventide.rule_tests.running import Tests

    try:
        Tests(tests_in(text, str(path)))
    except EventideError as error:
        if not error.diagnostics:
            raise
        return list(error.diagnostics)
    return []


def _problems_of_modes(path: Path, text: str) -> list[Diagnostic]:
    from eventide.learning.modes import read_modes

    return read_modes(text, str(path))[1]


OTHERS: dict[str, Callable[[Path, str], list[Diagnostic]]] = {".ectest": _problems_of_tests,
                                                              ".modes": _problems_of_modes}
"""Files that hold no rules, and what finds their problems, by ending."""


def summary(program: Program) -> dict[str, Any]:
    """What a program reads and derives: inputs, results by level with their keys, cycles."""
    from eventide.report.graph import domains, signature, weights_of

    model = program.model
    results = []
    for output in model.outputs:
        values = [str(v) for v in output.values] if output.values is not None else \
            [] if output.value is None else [str(output.value)]
        kind = "event" if output.kind == "event" else "simple" if model.simple(output.template) and \
            output.definition == output.template else "statically determined"
        keys = domains(model, "e" if output.kind == "event" else "f", output.template)
        weights = weights_of(model, output.template) if kind == "simple" else {}
        results.append({"name": signature(output.template, keys), "kind": kind, "values": values, "keys": keys,
                        "level": model.levels.get(output.definition, 1)} | ({"weights": weights} if weights else {}))
    known = {output.definition: output.template for output in model.outputs}
    cycles = [list(dict.fromkeys(known[name] for name in cycle if name in known)) for cycle in model.cycles]
    inputs = []
    for template, kind in sorted(model.inputs.items()):
        keys = domains(model, "e" if kind == "event" else "f", template)
        inputs.append({"name": signature(template, keys), "kind": kind, "arity": len(keys), "arguments": keys})
    return {"inputs": inputs, "results": sorted(results, key=lambda r: (r["level"], r["name"])),
            "cycles": [cycle for cycle in cycles if cycle]}


def _bounds(program: Program) -> list[dict[str, Any]]:
    """What a session must hold of every input and result."""
    from eventide.report.graph import domains, signature

    model = program.model
    names = {template: signature(template, domains(model, "e" if kind == "event" else "f", template))
             for template, kind in model.inputs.items()}
    for output in model.outputs:
        keys = domains(model, "e" if output.kind == "event" else "f", output.template)
        value = "" if output.value is None else f"={output.value}"
        names[output.definition] = signature(output.template, keys) + value
    return [{"name": names[name], "holds": bound.text, "limit": bound.limit, "why": bound.why}
            for name, bound in program.bounds().items() if name in names]


def _lines(found: dict[str, Any]) -> Iterator[str]:
    """The summary as people read it."""
    if not found:
        return
    yield "inputs"
    for row in found["inputs"]:
        yield f"  {SHAPES[row['kind']]:21} {row['name']}"
    yield from levels_and_cycles(found, _result)
    if found.get("bounds"):
        yield "a session holds"
        width = max(len(row["name"]) for row in found["bounds"])
        for row in found["bounds"]:
            yield f"  {row['name']:{width}} {row['holds']}"


def _result(row: Mapping[str, Any]) -> str:
    values = f"={'|'.join(row['values'])}" if row["values"] else ""
    votes = "".join(f", {change} by vote of {', '.join('∞' if w is None else f'{w:g}' for w in weights)}"
                    for change, weights in row.get("weights", {}).items())
    return f"{row['kind']:21} {row['name']}{values}{votes}"


def levels_and_cycles(found: Mapping[str, Any], line: Callable[[Mapping[str, Any]], str]) -> Iterator[str]:
    """The results of a summary level by level, each as `line` says it, then what depends on itself."""
    level = 0
    for row in found["results"]:
        if row["level"] != level:
            level = row["level"]
            yield f"level {level}"
        yield f"  {line(row)}"
    for cycle in found["cycles"]:
        yield f"cycle through {', '.join(cycle)}"
