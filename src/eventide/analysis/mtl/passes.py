"""The passes over a DatalogMTL program, in order. To add one, write a function of a model and put it in the tuple."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from eventide.analysis.mtl.arithmetic import check_arithmetic
from eventide.analysis.mtl.equalities import solve_equalities
from eventide.analysis.mtl.forward import check_forward
from eventide.analysis.mtl.model import MtlModel
from eventide.analysis.mtl.predicates import find_predicates
from eventide.analysis.mtl.ranges import check_ranges
from eventide.analysis.mtl.safety import check_safety
from eventide.analysis.mtl.sizes import check_sizes
from eventide.analysis.mtl.stratification import stratify
from eventide.analysis.mtl.types import find_types
from eventide.syntax.diagnostics import Diagnostic
from eventide.syntax.mtl_trees import Rule

Pass = Callable[[MtlModel], None]

PASSES: tuple[Pass, ...] = (
    check_ranges,  # ranges of operators that no time lies in
    check_forward,  # operators that look ahead, heads that reach back
    find_predicates,  # what is derived and what is given; names that look misspelt
    check_arithmetic,  # words and unknown functions where numbers are needed
    check_safety,  # variables that nothing binds
    solve_equalities,  # `X = a` and `X = Y` are put in wherever X stands
    stratify,  # which predicates depend on each other, and through negation
    find_types,  # which arguments hold values of one domain
    check_sizes,  # rules that are too long for one plan
)


def analyse(rules: Sequence[Rule], diagnostics: Sequence[Diagnostic] = ()) -> MtlModel:
    """Run all passes; the model carries what they found, and every problem."""
    model = MtlModel(tuple(rules), list(diagnostics))
    for run in PASSES:
        run(model)
    return model
