"""The passes from trees to a plan, in order. Each is one function of one file; errors stop the later ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from eventide.analysis.clashes import find_clashes
from eventide.analysis.entities import find_components, find_entities
from eventide.analysis.inline import Inlined
from eventide.analysis.model import Lookup, Model
from eventide.analysis.normalise import normalise
from eventide.analysis.planning import compile_plan, simplify_plan
from eventide.analysis.slips import find_slips
from eventide.analysis.types import infer_types
from eventide.analysis.unused import find_unused
from eventide.syntax.collecting import without_pauses
from eventide.syntax.diagnostics import Diagnostic
from eventide.syntax.trees import Rule

Pass = Callable[[Model], None]

PASSES: tuple[Pass, ...] = (
    normalise,  # every rule becomes clauses without disjunctions, equalities and user definitions
    find_entities,  # names and arities: what is input, what is derived, what is misspelt
    find_components,  # which fluents and events depend on each other
    infer_types,  # which arguments hold values of one domain, and which are plain numbers
    find_clashes,  # which arguments the rules compute with, and words given to them
    compile_plan,  # plans, dependencies, levels, cycles; safety of variables is found on the way
    find_unused,  # rules that can never apply, and results that nothing can produce
    find_slips,  # variables that look like others, or like values
    simplify_plan,  # equal parts once, needless joins left out; finds no problems
)
CHECKS = tuple(each for each in PASSES if each is not simplify_plan)
"""The passes that find problems: for an editor, which runs nothing and must answer while somebody types."""


def analyse(rules: Sequence[Rule], *, tables: Mapping[str, int] | None = None, lookup: Lookup | None = None,
            functions: Mapping[str, int] | None = None,
            diagnostics: Sequence[Diagnostic] = (), passes: Sequence[Pass] = PASSES,
            inlined: Inlined | None = None) -> Model:
    """Run all passes, or some; the model carries the plan and every problem found.

    `tables` gives the arity of background relations that are not facts in the rules, `lookup` their small patterns,
    `functions` how many inputs each registered function has, `inlined` what is known of the rules from before.
    """
    model = Model(tuple(rules), tables or {}, functions or {}, list(diagnostics))
    if lookup is not None:
        model.lookup = lookup
    if inlined is not None:
        model.inlined = inlined
    with without_pauses():
        for run in passes:
            run(model)
            if model.failed:
                break
    return model
