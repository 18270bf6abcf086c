"""The passes over a LARS program, in order; each notes what it finds in the model."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from eventide.analysis.lars.dialects import tell_of_dialect
from eventide.analysis.lars.model import LarsModel
from eventide.analysis.lars.names import check_names
from eventide.analysis.lars.safety import check_safety
from eventide.analysis.lars.sizes import check_sizes
from eventide.analysis.lars.strata import find_components
from eventide.syntax.diagnostics import Diagnostic
from eventide.syntax.lars_trees import LarsTree

PASSES: tuple[Callable[[LarsModel], None], ...] = (check_safety, check_names, find_components, check_sizes)


def analyse(tree: LarsTree, diagnostics: Iterable[Diagnostic] = (), dialect: str = "lars") -> LarsModel:
    """The model of a program; `diagnostics` are those of its reader.

    >>> from eventide.syntax.lars import parse
    >>> model = analyse(parse("a :- s [2], not b. b :- s [2], not a. c :- s.").tree)
    >>> [(component.predicates, component.way) for component in model.components]
    [((('a', 0), ('b', 0)), 'answer sets'), ((('c', 0),), 'columnar')]
    """
    model = LarsModel(tree, list(diagnostics))
    for analysis_pass in PASSES:
        analysis_pass(model)
    tell_of_dialect(model, dialect)
    return model
