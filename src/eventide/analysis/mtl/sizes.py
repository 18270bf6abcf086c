"""Pass: rules that are too long for one plan."""

from __future__ import annotations

from eventide.analysis.mtl.model import MtlModel
from eventide.syntax.sizes import too_long


def check_sizes(model: MtlModel) -> None:
    """Report every rule that has too many conditions."""
    for rule in model.rules:
        problem = too_long(((1, getattr(condition, "span", None)) for condition in rule.body), rule.span)
        if problem is not None:
            model.diagnostics.append(problem)
