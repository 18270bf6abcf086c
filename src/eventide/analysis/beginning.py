"""Rules whose meaning depends on when time begins: initial values, and complements over a domain."""

from __future__ import annotations

from eventide.analysis.model import Model
from eventide.analysis.patterns import name_of
from eventide.syntax.diagnostics import Diagnostic
from eventide.syntax.trees import IntervalOperation


def asking_for_the_beginning(model: Model) -> list[Diagnostic]:
    """An error for each rule that a session or a stream cannot follow unless its start is given."""
    found: dict[object, Diagnostic] = {}
    for clause in model.clauses:
        complements = [c for c in clause.body if isinstance(c, IntervalOperation) and c.operation == "complement"]
        if clause.kind == "initial":
            found.setdefault(clause.span, Diagnostic(
                "error", "no-start", f"{name_of(clause.template)} has an initial value, and the session or stream has "
                "no start from which it could hold", clause.span, _HINT))
        for condition in complements:
            found.setdefault(condition.span, Diagnostic(
                "error", "no-start", "complement_all holds from the start on, and the session or stream has none",
                condition.span, _HINT))
    return list(found.values())


_HINT = "give the start of the time-line: start=… in Python, --start … with --follow, start = … in stream.toml"
