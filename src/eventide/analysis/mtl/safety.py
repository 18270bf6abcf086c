"""Pass: every variable gets its value from a positive condition, or is computed from such.

`F since r G` binds the variables of G; those of F alone only if 0 is not in r, since otherwise G may hold now and F is
not asked at all: then G must have them all, even if another condition binds them. A variable of a negated formula that
stands nowhere else would range over everything; `_` there means "for no value".
"""

from __future__ import annotations

from collections.abc import Iterable

from eventide.analysis.mtl.model import MtlModel
from eventide.syntax.diagnostics import Span
from eventide.syntax.mtl_trees import (
    Compare,
    Condition,
    Formula,
    Holds,
    Metric,
    Not,
    Rule,
    Since,
    formula_of,
    parts_of,
    variables_in,
)
from eventide.syntax.terms import Term, Variable, variables_of


def check_safety(model: MtlModel) -> None:
    """Report variables that nothing binds, each at the first place where it stands."""
    for rule in model.rules:
        known = bound_variables(rule)
        _unbound(model, rule, known, rule.head.arguments, rule.head.span, "the head")
        loose = [v for argument in rule.head.arguments for v in variables_of(argument) if v.name not in known]
        known |= {v.name for v in loose[:1]}  # told of the head, and not once more of a condition
        for condition in rule.body:
            if isinstance(condition, Not):
                loose = [v for v in variables_in(condition) if v.name not in known and not v.anonymous]
                _report(model, loose[:1], condition.span, f"{condition}",
                        "bind it with a positive condition, or write _ for: no value at all")
            elif isinstance(condition, Compare):
                sides = (condition.left, condition.right)
                _unbound(model, rule, known, sides, condition.span, f"{condition}")
            formula = formula_of(condition)
            loose = [v for part in parts_of(formula) for v in _left_alone(part)] if formula is not None else []
            _report(model, loose[:1], condition.span, f"{condition}", "with 0 in its range, since may hold without its "
                    "left side: give the right side the variable too, or leave out 0, as in since(0,5]")


def bound_variables(rule: Rule) -> set[str]:
    """The variables of a rule that have a value when all its positive conditions hold."""
    known = {name for condition in rule.body for name in _binds(condition)}
    todo = [c for c in rule.body if isinstance(c, Compare) and c.operator == "="]
    while True:
        ready = [c for c in todo if (target_of(c, known)) is not None]
        if not ready:
            return known
        known.update(target.name for c in ready if (target := target_of(c, known)) is not None)
        todo = [c for c in todo if c not in ready]


def target_of(comparison: Compare, known: Iterable[str]) -> Variable | None:
    """The variable that an equation gives a value: alone on its side, without one yet; the other side is known."""
    if comparison.operator == "=":
        for side, other in ((comparison.left, comparison.right), (comparison.right, comparison.left)):
            if isinstance(side, Variable) and side.name not in known and \
                    all(v.name in known for v in variables_of(other)):
                return side
    return None


def _left_alone(formula: Formula) -> list[Variable]:
    """The variables on the left of a `since` that it may hold without."""
    if not isinstance(formula, Since) or not formula.range.has_zero:
        return []
    known = bound_in(formula.right)
    return [v for v in variables_in(formula.left) if v.name not in known]


def _binds(condition: Condition) -> Iterable[str]:
    if isinstance(condition, Not | Compare):
        return ()
    return bound_in(condition)


def bound_in(formula: Formula) -> set[str]:
    """The variables that a formula binds where it holds."""
    match formula:
        case Holds(_, arguments):
            return {v.name for argument in arguments for v in variables_of(argument)}
        case Metric(_, _, child):
            return bound_in(child)
        case Since(_, span, left, right):
            return bound_in(right) | (set() if span.has_zero else bound_in(left))


def _unbound(model: MtlModel, rule: Rule, known: set[str], terms: Iterable[Term], span: Span | None,
             where: str) -> None:
    loose = [v for term in terms for v in variables_of(term) if v.name not in known]
    hint = "a variable gets its value from a condition that is not negated" if rule.body else \
        "a rule without conditions holds at all times, for constants only"
    _report(model, loose[:1], span, where, hint)


def _report(model: MtlModel, loose: list[Variable], span: Span | None, where: str, hint: str) -> None:
    for variable in loose:
        model.report("error", "unsafe-variable", f"nothing binds {variable} in {where}", variable.span or span, hint)
