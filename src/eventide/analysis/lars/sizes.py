"""Pass: rules that are too long for one plan. Rules for answer sets have no plan, and may be of any length."""

from __future__ import annotations

from eventide.analysis.lars.model import LarsModel
from eventide.syntax.sizes import too_long


def check_sizes(model: LarsModel) -> None:
    """Report every rule of a columnar component that has too many conditions."""
    columnar = {predicate for each in model.components if each.way == "columnar" for predicate in each.predicates}
    for rule in model.tree.rules:
        if rule.head is not None and rule.head.predicate in columnar:
            problem = too_long(((1, element.span) for element in rule.body), rule.span)
            if problem is not None:
                model.diagnostics.append(problem)
