"""The codes of diagnostics with what they say and advise, read from the source: wherever a code is given to a call."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2] / "src" / "eventide"
CODE = re.compile(r"[a-z][A-Za-z]*(?:-[a-z]+)+")
# Where a part of the source speaks from, in the order of the page.
AREAS = {
    "Rules of the Event Calculus": ("syntax", "analysis", "program", "engine", "explanation"),
    "DatalogMTL": ("syntax.mtl", "syntax.meteor", "analysis.mtl", "mtl"),
    "LARS": ("syntax.lars", "syntax.ticker", "syntax.laser", "analysis.lars", "lars"),
    "Data files, positions and results": ("formats", "signals", "report"),
    "Probabilities": ("probability",),
    "Learning": ("learning",),
    "Tests of rules": ("rule_tests",),
    "Streams on Spark": ("spark",),
    "Commands and pages": ("cli", "site", "editor"),
}


@dataclass(frozen=True, order=True)
class Told:
    """What is said under a code in one place of the source; `…` stands for what depends on the mistake."""

    code: str
    message: str
    hint: str


def told() -> dict[str, list[Told]]:
    """For each area what it says, by code."""
    found: dict[str, set[Told]] = {area: set() for area in AREAS}
    for path in sorted(SOURCE.rglob("*.py")):
        name = ".".join(path.relative_to(SOURCE).with_suffix("").parts)
        for each in _in_module(ast.parse(path.read_text(encoding="utf-8"))):
            found[_area(name)].add(each)
    return {area: sorted(said) for area, said in found.items()}


def table() -> str:
    """The page's tables."""
    parts = []
    for area, said in told().items():
        if said:
            rows = ["| code | says | advises |", "|---|---|---|"]
            rows += [f"| `{each.code}` | {_cell(each.message)} | {_cell(each.hint)} |" for each in said]
            parts.append(f"## {area}\n\n" + "\n".join(rows))
    return "\n\n".join(parts)


def _area(module: str) -> str:
    """The area with the longest name that the module's begins with."""
    fitting = [(len(start), area) for area, starts in AREAS.items() for start in starts
               if module == start or module.startswith((f"{start}.", f"{start}_"))]
    return max(fitting)[1]


def _in_module(tree: ast.Module) -> Iterator[Told]:
    """What is told in a module. A text kept in a variable is looked for in the function around."""
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    around = {id(node): function for function in functions for node in ast.walk(function)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            values = [*node.args, *(keyword.value for keyword in node.keywords)]
        elif isinstance(node, ast.Tuple):
            values = node.elts
        else:
            continue
        variables = _variables(around[id(node)]) if id(node) in around else {}
        for place, value in enumerate(values):
            words = [text for each in values[place + 1:] if " " in (text := _words(each, variables))]
            for code in _codes(value) if words else ():
                yield Told(code, words[0], words[1] if len(words) > 1 else "")


def _codes(node: ast.expr) -> list[str]:
    if isinstance(node, ast.IfExp):
        return [*_codes(node.body), *_codes(node.orelse)]
    return [node.value] if isinstance(node, ast.Constant) and isinstance(node.value, str) and CODE.fullmatch(
        node.value) else []


def _variables(function: ast.FunctionDef) -> dict[str, str]:
    """The texts that are given to variables in a function; the first of each."""
    found: dict[str, str] = {}
    for node in ast.walk(function):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                pairs = zip(target.elts, node.value.elts, strict=False) if isinstance(target, ast.Tuple) and isinstance(
                    node.value, ast.Tuple) else [(target, node.value)]
                for name, value in pairs:
                    if isinstance(name, ast.Name) and " " in (text := _words(value, {})):
                        found.setdefault(name.id, text)
    return found


def _words(node: ast.expr, variables: Mapping[str, str]) -> str:
    """A text of the source with a mark for what is filled in; nothing where it is no text."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    if isinstance(node, ast.Name):
        return variables.get(node.id, "")
    if isinstance(node, ast.JoinedStr):
        parts = (str(part.value) if isinstance(part, ast.Constant) else "…" for part in node.values)
        return "".join(parts)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = _words(node.left, variables), _words(node.right, variables)
        return (left or "…") + (right or "…") if left or right else ""
    if isinstance(node, ast.IfExp):
        return _words(node.body, variables) or _words(node.orelse, variables)
    if isinstance(node, ast.Call) and node.args and getattr(node.func, "id", "") == "did_you_mean":
        otherwise = _words(node.args[-1], variables)
        return f"did you mean '…'? or: {otherwise}" if otherwise else "did you mean '…'?"
    return ""


def _cell(text: str) -> str:
    shown = re.sub(r"([|<>*_\\\[\]`])", r"\\\1", text)
    return " ".join(shown.split())
