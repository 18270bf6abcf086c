"""Golden cases as text: `=== title`, the input, `---`, the expected lines. A case is added without writing Python."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path

from eventide.syntax.diagnostics import Diagnostic
from eventide.syntax.event_calculus import parse
from eventide.syntax.printer import term_text
from eventide.syntax.reader import read_clauses
from eventide.syntax.terms import Atom, Compound, ListTerm, Number, Variable
from eventide.syntax.trees import FluentValue

CASES = Path(__file__).parent / "cases"
SHARED = Path(__file__).resolve().parents[2].parent / "shared"


@dataclass(frozen=True)
class Case:
    """One case of a file."""

    name: str
    text: str
    expected: str


def cases(*names: str) -> list[Case]:
    """The cases of the named files."""
    found = []
    for name in names:
        for block in (CASES / f"{name}.txt").read_text(encoding="utf-8").split("=== ")[1:]:
            title, _, rest = block.partition("\n")
            text, _, expected = rest.partition("\n---\n")
            found.append(Case(f"{name}: {title.strip()}", text, expected.strip()))
    return found


def program_lines(text: str) -> str:
    """The diagnostics and the trees of a program, one a line."""
    program = parse(text, "case")
    return "\n".join([*map(diagnostic_line, program.diagnostics), *map(outline, program.rules)])


def clause_lines(text: str) -> str:
    """The diagnostics and the clauses of a text, terms in functional notation, one a line."""
    clauses, problems = read_clauses(text, "case")
    return "\n".join([*map(diagnostic_line, problems), *(f"{each.head} <- {each.body}" for each in clauses)])


def diagnostic_line(problem: Diagnostic) -> str:
    """`severity code line:column-line:column message | hint`."""
    span = problem.span
    assert span is not None, problem
    place = f"{span.line}:{span.column}-{span.end_line}:{span.end_column}"
    return f"{problem.severity} {problem.code} {place} {problem.message} | {problem.hint}"


def outline(node: object) -> str:
    """A tree as `Class(field, …)`, terms as they are written, bodies in braces."""
    if isinstance(node, Variable | Atom | Number | Compound | ListTerm | FluentValue):
        return term_text(node)
    if isinstance(node, tuple):
        return "{" + "; ".join(map(outline, node)) + "}"
    if hasattr(node, "__dataclass_fields__"):
        parts = {each.name: getattr(node, each.name) for each in fields(node) if each.name != "span"}  # type: ignore[arg-type]
        for name in ("probability", "weight"):
            if parts.get(name, 0) is None:
                del parts[name]
        if "weight" in parts:
            parts["weight"] = f"weight {parts['weight']}"
        return f"{type(node).__name__}({', '.join(map(outline, parts.values()))})"
    return str(node)
