"""Pass: forward propagation. What holds at a time may depend on that time and earlier ones only.

In this fragment (DatalogMTL with forward propagation) a stream can be answered as it comes: nothing that arrives later
changes what was derived. Operators that look ahead are read, and refused here with the reason.
"""

from __future__ import annotations

from eventide.analysis.mtl.model import MtlModel
from eventide.syntax.mtl_trees import HeadOperator, Metric, Since, formula_of, parts_of


def check_forward(model: MtlModel) -> None:
    """Report operators that look ahead in bodies, and heads that would derive into the past, or not for certain."""
    for rule in model.rules:
        for operator in rule.operators:
            _check_head(model, operator)
        for condition in rule.body:
            formula = formula_of(condition)
            for part in parts_of(formula) if formula is not None else ():
                if isinstance(part, Metric) and part.operator in ("<>+", "[]+"):
                    back = part.operator.replace("+", "-")
                    model.report("error", "looks-ahead", f"{part.operator}{part.range} looks ahead: what holds now "
                                 "would depend on what comes later", part.span,
                                 f"conditions look back, with {back}; a head with []+ reaches forward")
                elif isinstance(part, Since) and part.operator == "until":
                    model.report("error", "looks-ahead", f"until{part.range} looks ahead: what holds now would depend "
                                 "on what comes later", part.span, "its mirror image, since, looks back")


def _check_head(model: MtlModel, operator: HeadOperator) -> None:
    if operator.operator == "[]-":
        model.report("error", "derives-past", f"a head with {operator} derives into the past: answers that were given "
                     "would change", operator.span, "a head may reach forward with []+; conditions look back with <>-")
    elif operator.operator != "[]+":
        model.report("error", "uncertain-head", f"a head with {operator} says that something holds at some time, but "
                     "not when", operator.span, "a head may say that something always holds, with []+")
