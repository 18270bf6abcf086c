"""What Ticker or Laser themselves would answer differently, told for programs in their language with its place."""

from __future__ import annotations

from eventide.analysis.lars.model import LarsModel
from eventide.syntax.lars_trees import Literal, Rule
from eventide.syntax.terms import Number, Variable, arguments_of

_HINT = {"ticker": "Eventide follows the definition; see the reference of LARS, 'Ticker'",
         "laser": "Eventide follows the definition; see the reference of LARS, 'Laser'"}


def tell_of_dialect(model: LarsModel, dialect: str) -> None:
    """Note where the program's own system departs from the definition."""
    for rule in model.tree.rules if dialect in _HINT else ():
        for literal in rule.literals:
            for message in _ticker(literal, rule, model) if dialect == "ticker" else _laser(literal, rule, model):
                model.report("info", f"{dialect}-differs", message, literal.span, _HINT[dialect])


def _ticker(literal: Literal, rule: Rule, model: LarsModel) -> list[str]:
    found = []
    args = arguments_of(literal.atom)
    times = {other.time.name for other in rule.literals if isinstance(other.time, Variable)}
    if isinstance(literal.time, Number):
        found.append(f"Ticker reads 'at {literal.time}' as a variable, not as the time {literal.time}")
    if any(isinstance(arg, Number) and isinstance(arg.value, float) for arg in args):
        found.append("Ticker makes a whole number of a decimal one, by its hash")
    if literal.modality == "at" and literal.window is None:
        found.append("Ticker has no evaluation of 'at' without a window")
    if literal.modality == "at" and len(times) > 1:
        found.append("Ticker does not join two different times in one body correctly")
    if literal.window is not None and literal.predicate in model.background:
        found.append("Ticker's windows do not see the facts of the program")
    if any(isinstance(arg, Variable) and arg.name in times for arg in args):
        found.append("Ticker gives the number of tuples where a time is used as an argument")
    return found


def _laser(literal: Literal, rule: Rule, model: LarsModel) -> list[str]:
    found = []
    args = arguments_of(literal.atom)
    names = [arg.name for arg in args if isinstance(arg, Variable)]
    if len(names) < len(args) or len(set(names)) < len(names):
        found.append("Laser does not filter by constants and repeated variables in a body")
    if literal.negated and names:
        found.append(f"Laser takes 'not {literal.predicate[0]}' as false as soon as any such atom holds")
    if literal.window is not None and literal.window.kind == "tuple":
        found.append("Laser counts whole time-points in windows of tuples")
    if literal.window is not None and literal.predicate in model.derived:
        found.append("Laser keeps a conclusion under a window by its first derivation")
    if rule.head is not None and literal.predicate == rule.head.predicate:
        found.append("Laser does not end on recursion")
    return found
