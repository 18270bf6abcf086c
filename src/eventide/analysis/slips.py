"""Pass: variables that look like slips of the hand. They are warned of; what they mean is not changed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Literal

from eventide.analysis.model import Model
from eventide.analysis.patterns import pair_leaves
from eventide.syntax.diagnostics import Span
from eventide.syntax.remembering import Remembered
from eventide.syntax.rewriting import parts_in
from eventide.syntax.terms import Atom, Compound, Variable
from eventide.syntax.trees import (
    BackgroundClause,
    ChangeRule,
    Declaration,
    EventRule,
    FluentValue,
    InitialRule,
    Rule,
    StaticRule,
)

_SMALL = re.compile(r"[xyz][0-9]?")
_SHORTEST = 4  # letters of a name that may be misspelt; X1 and X2 are no slips


def find_slips(model: Model) -> None:
    """Warn of a variable that is written once and nearly as another one, and of `True` where a fluent has `true`."""
    values: dict[str, set[str]] = {}
    for clause in model.of_kind("initiated", "initial", "static", "delay"):
        values.setdefault(clause.template, {"true", "false"}).add(str(clause.value))
    written = [small for rule in model.rules if isinstance(rule, ChangeRule | EventRule | StaticRule)
               and (small := _small(rule)) is not None]
    facts = [rule for rule in model.rules if isinstance(rule, BackgroundClause | InitialRule)] if written else []
    constants = {part for rule in facts for part in parts_in(rule) if isinstance(part, Atom)}
    for small in written:
        if small not in constants:
            warn_of_small(model.report, small)
    for rule in model.rules:
        if isinstance(rule, Declaration) or (isinstance(rule, BackgroundClause) and not rule.body):
            continue
        once, pairs = _single(rule)
        if once:
            _similar(model, list(once.values()))
            _values(model, pairs, once, values)


@Remembered
def _small(rule: ChangeRule | EventRule | StaticRule) -> Atom | None:
    """What is likely a variable that was written small."""
    head = rule.event if isinstance(rule, EventRule) else rule.pair.fluent
    return small_variable(parts_in(head), parts_in(rule.body)) if isinstance(head, Compound) else None


def small_variable(head: Iterable[object], body: Iterable[object]) -> Atom | None:
    """A word such as `x` that is among the terms of a head and of its conditions.

    >>> small_variable([Atom("x"), Atom("tug")], [Atom("tug"), Atom("x")])
    Atom(name='x')
    """
    found = [part for part in head if isinstance(part, Atom) and _SMALL.fullmatch(part.name)]
    asked = {part.name for part in body if isinstance(part, Atom)} if found else set()
    return next((part for part in found if part.name in asked), None)


def warn_of_small(report: Callable[[Literal["warning"], str, str, Span | None, str], None], word: Atom) -> None:
    """Say that such a word is no variable."""
    report("warning", "variable-as-value", f"'{word.name}' is a constant: the rule is about it alone", word.span,
           f"a variable begins with a capital letter: {word.name.upper()}")


@Remembered
def _single(rule: Rule) -> tuple[dict[str, Variable], list[FluentValue]]:
    """The variables that a rule has once, by name, and its fluents with their values."""
    parts = list(parts_in(rule))
    variables = [part for part in parts if isinstance(part, Variable) and part.name[0] != "_"]
    counts = Counter([variable.name for variable in variables])
    once = {variable.name: variable for variable in variables if counts[variable.name] == 1}
    return once, [part for part in parts if isinstance(part, FluentValue)] if once else []


def _similar(model: Model, once: list[Variable]) -> None:
    for at, variable in enumerate(once):
        meant = next((other.name for other in once[:at] if is_slip(variable.name, other.name)), None)
        if meant is not None:
            model.report("warning", "similar-variables", f"{variable} stands only here, and {meant} only once before",
                         variable.span, f"did you mean {meant}? write _ for what does not matter")


def is_slip(name: str, other: str) -> bool:
    """Whether two names differ in capitals, by two letters that changed places, or by a letter inside that is missing.

    >>> is_slip("Aera", "Area"), is_slip("Vesel", "Vessel"), is_slip("Area1", "Area2"), is_slip("Lat", "Lon")
    (True, True, False, False)
    """
    if min(len(name), len(other)) < _SHORTEST:
        return False
    if name.lower() == other.lower():
        return True
    if len(name) == len(other):
        wrong = [at for at, pair in enumerate(zip(name, other, strict=True)) if pair[0] != pair[1]]
        return len(wrong) == 2 and wrong[1] == wrong[0] + 1 and name[wrong[0]] == other[wrong[1]] \
            and name[wrong[1]] == other[wrong[0]]
    short, long = sorted((name, other), key=len)
    return any(long[:at] + long[at + 1:] == short for at in range(1, len(long) - 1) if long[at].isalpha()) and \
        len(long) == len(short) + 1


def _values(model: Model, pairs: list[FluentValue], once: dict[str, Variable], values: dict[str, set[str]]) -> None:
    for pair in pairs:
        value = pair.value
        if not isinstance(value, Variable) or value.name not in once:
            continue
        template = pair_leaves(pair)[0]
        meant = next((known for known in sorted(values.get(template, {"true", "false"}))
                      if known.lower() == value.name.lower()), None)
        if meant is not None:
            model.report("warning", "value-as-variable", f"the variable {value} stands for any value of {template}",
                         value.span, f"did you mean {meant if meant != value.name else repr(meant)}? a name with a "
                         "capital letter is a variable")

