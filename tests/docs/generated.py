"""The parts of the documentation that follow from the source: tables between marks, written by this module.

`python -m tests.docs.generated` writes them anew; the tests check that they are as they would be written.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

import typer
from tests.docs import error_codes, learning_settings
from tests.engine.windowed_golden import as_table
from tests.oracle.known_differences import MARKED, WITHOUT_MARK

from eventide.algebra import nodes
from eventide.cli.main import COMMANDS, build_app

ROOT = Path(__file__).resolve().parents[2]
MARK = re.compile(r"<!-- generated: ([\w-]+) -->\n(.*?)<!-- end -->", re.DOTALL)


@dataclass(frozen=True)
class Layer:
    """A folder (or top module) of the source: what it knows, what it must not know, what it may import."""

    knows: str
    ignores: str
    imports: tuple[str, ...] = ()


# From the bottom to the top: a layer imports only what stands above it in this table.
LAYERS = {
    "syntax": Layer("text, terms, trees with places, diagnostics", "what a program computes"),
    "errors": Layer("the kinds of errors", "where they come from", ("syntax.diagnostics",)),
    "notebook": Layer("tables and timelines as small pieces of HTML", "what they are about"),
    "java": Layer("where a Java runtime is", "everything else", ("errors",)),
    "testing": Layer("the conventions of time and ties, as cases for any engine", "how an engine works"),
    "kernels": Layer("sorted arrays of integers", "tables, columns, rules, files", ("errors",)),
    "algebra": Layer("operators, their columns and types, plans as text", "how a plan is run, the languages",
                     ("syntax.terms",)),
    "formats": Layer("files and tables in memory, as typed columns; results as files", "rules, plans",
                     ("errors", "kernels.arrays", "syntax.diagnostics")),
    "signals": Layer("positions, and the events in them; facts that come late, twice, or are corrected", "rules, plans",
                     ("errors", "kernels", "formats", "syntax.diagnostics")),
    "analysis": Layer("rules, and the plan they mean", "data, files, arrays", ("syntax", "algebra")),
    "engine": Layer("relations, plans, query times", "rules, languages, files",
                    ("errors", "kernels", "algebra", "formats.facts", "notebook", "syntax.terms")),
    "probability": Layer("plans over uncertain facts, probabilities at time-points, and the intervals in them",
                         "rules, languages", ("algebra", "engine", "errors", "formats", "kernels", "notebook",
                                              "syntax.terms")),
    "results": Layer("the answers of a run, as they come or as a table", "rules",
                     ("engine", "errors", "formats.results", "notebook", "probability.session")),
    "maintenance": Layer("assumptions, justifications, labels: what follows from which assumptions",
                         "time, rules, languages", ("errors",)),
    "lars": Layer("LARS programs, their streams, answers and contexts", "commands, pictures",
                  ("algebra", "analysis", "engine", "errors", "formats", "kernels", "maintenance", "notebook",
                   "results", "syntax")),
    "mtl": Layer("programs, facts and results on dense time", "commands, pictures",
                 ("algebra", "analysis", "engine", "errors", "formats", "kernels", "notebook", "results", "syntax")),
    "program": Layer("all of the above: a program is loaded, checked and run here", "commands, pictures",
                     ("algebra", "analysis", "engine", "errors", "formats", "notebook", "probability", "results",
                      "syntax")),
    "learning": Layer("rules as clauses, what they may look like, what examples say about them; files of examples",
                      "plans, commands", ("errors", "formats", "kernels", "program", "syntax")),
    "spark": Layer("programs, buckets of entities, what is sent between them", "how a bucket is evaluated",
                   ("algebra", "analysis.lars", "analysis.patterns", "engine", "errors", "formats", "java", "kernels",
                    "lars", "learning", "mtl", "probability", "program", "results", "signals", "syntax.diagnostics",
                    "syntax.lars_trees")),
    "report": Layer("analysed programs and results, as pictures and pages", "how they were computed",
                    ("analysis", "errors", "formats", "signals.coast", "syntax")),
    "site": Layer("the documentation: its pages, its menu, where links lead", "programs, results",
                  ("errors", "report.page", "syntax.diagnostics", "syntax.vocabulary")),
    "explanation": Layer("why a result holds or not, as proofs down to facts", "commands, options",
                         ("algebra.nodes", "analysis", "engine", "errors", "formats", "kernels", "lars", "mtl",
                          "probability", "program", "report.page", "report.situations", "results", "syntax")),
    "profiling": Layer("measured plans, and the rules their nodes belong to", "how a plan is run, commands",
                       ("algebra", "analysis.origins", "engine.profile", "report.page")),
    "rule_tests": Layer("files of tests of rules, what they expect, what of the rules they try", "commands, options",
                        ("algebra.nodes", "analysis", "engine", "errors", "formats", "lars.streams", "mtl", "program",
                         "report.page", "syntax")),
    "applications": Layer("rules and generators of data, and programs to demonstrate them", "the inside of programs",
                          ("errors", "formats.results", "learning", "program", "report", "results", "signals",
                           "spark")),
    "editor": Layer("texts while they are written: problems, names and their places, what may come next",
                    "how anything is run", ("analysis", "errors", "formats", "lars.program", "lars.values",
                                            "mtl.program", "program", "syntax")),
    "cli": Layer("options, messages, exit codes", "how anything is computed",
                 ("editor", "engine.budget", "engine.profile", "engine.recognition", "engine.session", "errors",
                  "explanation", "formats", "lars", "learning", "mtl", "probability", "profiling", "program", "report",
                  "results", "rule_tests", "signals", "site", "spark", "syntax.diagnostics", "syntax.terms")),
    "__main__": Layer("that the command line exists", "everything else", ("cli.main",)),
}


def layers() -> str:
    """The table of layers, from the top to the bottom."""
    rows = ["| part | knows | does not know | imports |", "|---|---|---|---|"]
    for name, layer in reversed(LAYERS.items()):
        names = ", ".join(f"`{module}`" for module in layer.imports) or "nothing"
        rows.append(f"| `{name}` | {layer.knows} | {layer.ignores} | {names} |")
    return "\n".join(rows)


def differences() -> str:
    """The micro cases whose answer is not RTEC's."""
    rows = ["| case | what Eventide answers, and why |", "|---|---|"]
    for cases in (WITHOUT_MARK, MARKED):
        rows += [f"| `{name}` | {_cell(case.reason)} |" for name, case in sorted(cases.items())]
    return "\n".join(rows)


def command_line() -> str:
    """Every command with its arguments and options."""
    group: Any = typer.main.get_command(build_app())
    parts = [_options("eventide", group)]
    for name in COMMANDS:
        parts.append(_options(f"eventide {name.replace('_', '-')}", group.commands[name.replace("_", "-")]))
    return "\n\n".join(parts)


def _options(title: str, command: Any) -> str:
    text = re.sub(r"\n *(?=\n)", "\n", command.help.strip())
    lines = [f"### `{title}`", "", _with_example(text)]
    params = [param for param in command.params
              if title == "eventide" or param.name not in ("help", "quiet", "json")]
    if params:
        lines += ["", "| option | value | meaning |", "|---|---|---|"]
    for param in params:
        names = ", ".join(f"`{name}`" for name in (*param.opts, *param.secondary_opts))
        is_argument = param.param_type_name == "argument"
        if is_argument:
            names = f"`{(param.metavar or param.name).upper()}`"
        value = "" if is_argument or getattr(param, "is_flag", False) else _cell(_value(param))
        default, help_ = getattr(param, "default", None), param.help or ""
        told = default is None or default is False or "[default" in help_
        shown = "" if told else f" [default: {default}]"
        needed = " (required)" if param.required else ""
        lines.append(f"| {names} | {value} | {_cell(help_)}{shown}{needed} |")
    return "\n".join(lines)


def _with_example(text: str) -> str:
    about, _, example = text.partition("Example:")
    code = "\n".join(line.strip() for line in example.strip(" \n`").splitlines())
    return about.strip() + (f"\n\n```sh\n{code}\n```" if code else "")


def _value(param: Any) -> str:
    choices = [each for each in get_args(param.type_descriptor.annotation) if isinstance(each, str)]
    if choices:
        return ", ".join(f"`{choice}`" for choice in choices)
    return f"`{param.metavar}`" if param.metavar else f"`{param.name.upper()}`"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def operators() -> str:
    """The nodes of the algebra with what they are, in the order of the source."""
    rows = ["| operator | what it gives |", "|---|---|"]
    for node in get_args(nodes.Node):
        about = " ".join((node.__doc__ or "").partition("\n\n")[0].split())
        rows.append(f"| `{node.__name__}` | {_cell(about)} |")
    return "\n".join(rows)


PARTS: dict[str, Callable[[], str]] = {
    "layers": layers, "differences": differences, "windows": as_table, "command-line": command_line,
    "errors": error_codes.table, "operators": operators, "learning-settings": learning_settings.table,
}


def pages() -> list[Path]:
    """Every page of the documentation."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def filled(text: str) -> str:
    """A page with its generated parts as they are now."""
    return MARK.sub(lambda found: f"<!-- generated: {found[1]} -->\n{PARTS[found[1]]()}\n<!-- end -->", text)


def main() -> int:
    """Write all generated parts."""
    for page in pages():
        text = page.read_text(encoding="utf-8")
        if filled(text) != text:
            page.write_text(filled(text), encoding="utf-8")
            print(page.relative_to(ROOT))
    return 0


if __name__ == "__main__":
    sys.exit(main())
