"""Pass: ranges of operators that are empty, reversed or negative. Each is an error at its place."""

from __future__ import annotations

from fractions import Fraction

from eventide.analysis.mtl.model import MtlModel
from eventide.syntax.mtl_trees import Range, ranges_in


def check_ranges(model: MtlModel) -> None:
    """Report every range that no distance lies in, and those that begin below 0."""
    for rule in model.rules:
        for operator, span in ranges_in(rule):
            _check(model, operator, span)


def _check(model: MtlModel, operator: str, span: Range) -> None:
    if span.high is not None and span.low > span.high:
        turned = Range(span.high, span.high_closed, span.low, span.low_closed)
        model.report("error", "reversed-range", f"the range {span} ends before it begins", span.span,
                     f"write {turned}: the smaller distance comes first")
    elif span.is_empty:
        model.report("error", "empty-range", f"no distance lies in the range {span}", span.span,
                     f"write [{span.low},{span.low}] for exactly {span.low}")
    elif span.low < 0:
        model.report("error", "negative-range", f"the range {span} is negative: {operator} would look the other way",
                     span.span, f"write {_turned(span)}: distances are counted backwards from now")


def _turned(span: Range) -> Range:
    """The stretch of time with its distances counted backwards."""
    low, high = (Fraction(0), True) if span.high is None or span.high > 0 else (-span.high, span.high_closed), \
        (-span.low, span.low_closed)
    return Range(low[0], low[1], high[0], high[1])
