"""Pass: comparisons and computations are made of numbers, variables and known operators.

`=` and `!=` between plain terms compare values of any kind; all others compare numbers, and are false for words.
"""

from __future__ import annotations

from eventide.algebra.expressions import ARITHMETIC, FUNCTIONS
from eventide.analysis.mtl.model import MtlModel
from eventide.syntax.mtl_trees import Compare
from eventide.syntax.terms import Compound, Number, Term, Variable


def check_arithmetic(model: MtlModel) -> None:
    """Report words and unknown functions where a number is needed."""
    for rule in model.rules:
        for condition in rule.body:
            if isinstance(condition, Compare):
                sides = (condition.left, condition.right)
                plain = not any(isinstance(side, Compound) for side in sides)
                if not (plain and condition.operator in ("=", "!=")):
                    for side in sides:
                        _check(model, side, condition)


def _check(model: MtlModel, term: Term, condition: Compare) -> None:
    if isinstance(term, Compound):
        known = ARITHMETIC if len(term.args) == 2 else FUNCTIONS if len(term.args) == 1 else ()
        if term.functor not in known:
            model.report("error", "not-arithmetic", f"'{term}' is not an arithmetic expression",
                         term.span or condition.span, f"known are {', '.join((*ARITHMETIC, *FUNCTIONS[2:]))}")
            return
        for argument in term.args:
            _check(model, argument, condition)
    elif not isinstance(term, Number | Variable):
        model.report("error", "not-a-number", f"'{term}' is a word, where a number is needed",
                     getattr(term, "span", None) or condition.span,
                     "words are compared with = and !=; variables begin with a capital letter")
