"""RTEC's input rows as facts with their arrivals, decoded with the declarations of a program."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from eventide.syntax import trees
from eventide.syntax.event_calculus import parse
from eventide.syntax.terms import functor_of

from .resolution import Key
from .store import Fact
from .terms import Plain


def shared_folder() -> Path:
    """The folder of reference data: `$EVENTIDE_SHARED`, or `shared` beside the repository."""
    given = os.environ.get("EVENTIDE_SHARED")
    return Path(given) if given else Path(__file__).resolve().parents[3] / "shared"


def rules_of(*texts: str) -> list[trees.Rule]:
    """The rules of several texts; a text with an error is a mistake of the test."""
    rules: list[trees.Rule] = []
    for text in texts:
        parsed = parse(text, "program.ec")
        assert not parsed.errors, [problem.render(text) for problem in parsed.errors]
        rules += parsed.rules
    return rules


def facts_of_rows(rows: Iterable[str], rules: Sequence[trees.Rule]) -> list[tuple[Fact, int]]:
    """The facts that the rows of RTEC's form state; rows of unknown names or with other columns are skipped."""
    fluents, points, events = input_names(rules)
    facts: list[tuple[Fact, int]] = []
    for row in rows:
        name, arrival, *fields = row.split("|")
        if "" in fields[:-1]:
            continue
        values = [typed(field) for field in (fields[:-1] if fields[-1:] == [""] else fields)]
        if (name, len(values) - 2) in points:
            time, value, *args = values
            facts.append((("point", name, tuple(args), value, int(time)), int(arrival)))
        elif (name, len(values) - 3) in fluents:
            first, end, value, *args = values
            facts.append((("interval", name, tuple(args), value, int(first), int(end)), int(arrival)))
        elif (name, len(values) - 1) in events:
            time, *args = values
            facts.append((("event", name, tuple(args), int(time)), int(arrival)))
    return facts


def typed(field: str) -> Plain:
    """A field as RTEC reads it: digits, `-` and `.` that form a number are one, anything else is a symbol."""
    if re.fullmatch(r"-?\d+", field):
        return int(field)
    return float(field) if re.fullmatch(r"-?\d+\.\d+", field) else field


def input_names(rules: Sequence[trees.Rule]) -> tuple[set[Key], set[Key], set[Key]]:
    """The input fluents over intervals, those at points, and the input events of a program."""
    fluents, events, points, defined = set[Key](), set[Key](), set[Key](), set[Key]()
    for rule in rules:
        if isinstance(rule, trees.Declaration):
            if isinstance(rule.subject, trees.FluentValue):
                declared = points if rule.name in ("points", "buildFromPoints") and not rule.rest else fluents
                declared.add(functor_of(rule.subject.fluent))
        elif isinstance(rule, trees.ChangeRule | trees.StaticRule | trees.InitialRule):
            defined.add(functor_of(rule.pair.fluent))
        elif isinstance(rule, trees.EventRule):
            defined.add(functor_of(rule.event))
        elif isinstance(rule, trees.Grounding):
            subject: Any = rule.subject
            if isinstance(subject, trees.FluentValue):
                fluents.add(functor_of(subject.fluent))
            else:
                events.add(functor_of(subject))
        for condition in conditions_of(getattr(rule, "body", ())):
            match condition:
                case trees.Happens(event):
                    events.add(functor_of(event))
                case trees.Boundary() | trees.Holds() | trees.HoldsFor():
                    fluents.add(functor_of(condition.pair.fluent))
    return fluents - defined - points, points, events - defined



def conditions_of(body: trees.Body) -> Iterable[trees.Condition]:
    """The conditions of a body and those inside them."""
    for condition in body:
        yield condition
        match condition:
            case trees.Not(goals) | trees.FindAll(_, goals):
                yield from conditions_of(goals)
            case trees.Or(alternatives):
                for goals in alternatives:
                    yield from conditions_of(goals)
