"""Pass: the predicates of a program, which of them rules derive, and names that look misspelt."""

from __future__ import annotations

from difflib import get_close_matches

from eventide.analysis.mtl.model import MtlModel, given
from eventide.analysis.patterns import leaf_count, name_of
from eventide.analysis.slips import small_variable, warn_of_small
from eventide.syntax.mtl_trees import formula_of, predicates_in
from eventide.syntax.terms import Term


def find_predicates(model: MtlModel) -> None:
    """Fill `predicates`, `defined`, `inputs` and `reads`."""
    names: dict[str, str] = {}
    for number, rule in enumerate(model.rules):
        model.defined.setdefault(rule.head.template, []).append(number)
        reads = model.reads.setdefault(rule.head.template, set())
        used, asked = [rule.head], list[Term]()
        for condition in rule.body:
            formula = formula_of(condition)
            found = list(predicates_in(formula)) if formula is not None else []
            used += found
            asked += [term for predicate in found for term in predicate.arguments]
            reads.update(predicate.template for predicate in found)
        small = small_variable(rule.head.arguments, asked)
        if small is not None:
            warn_of_small(model.report, small)
        for predicate in used:
            template = predicate.template
            first = names.setdefault(predicate.name, template)
            if template not in model.predicates and first != template:
                model.report("warning", "several-arities", f"{predicate.name} has {len(predicate.arguments)} "
                             f"{'argument' if len(predicate.arguments) == 1 else 'arguments'} here, elsewhere it is "
                             f"{first}", predicate.span, "these are two predicates that have nothing to do with each "
                             "other")
            model.predicates.setdefault(template, predicate.span)
    model.inputs = {template: given(template) if template in model.defined else template
                    for template in model.predicates}
    _find_misspelt(model)


def _find_misspelt(model: MtlModel) -> None:
    """Predicates that no rule derives, but whose name is nearly that of one that is derived."""
    for template, span in model.predicates.items():
        if template in model.defined:
            continue
        name, arity = name_of(template), leaf_count(template)
        known = {name_of(t) for t in model.defined if leaf_count(t) == arity}
        close = [k for k in known if k.lower() == name.lower()] or get_close_matches(name, known, 1, 0.9)
        if close and len(name) > 3:
            model.report("warning", "misspelt-predicate", f"no rule derives {name}, so it is an input", span,
                         f"did you mean '{close[0]}'?")
