"""Pass: equations of a variable with a constant or another variable vanish; what they say is put in everywhere."""

from __future__ import annotations

from dataclasses import replace

from eventide.analysis.mtl.model import MtlModel
from eventide.analysis.mtl.safety import bound_variables
from eventide.analysis.patterns import substitute
from eventide.syntax.mtl_trees import Compare, Rule
from eventide.syntax.terms import Compound, Term, Variable


def solve_equalities(model: MtlModel) -> None:
    """Rewrite the rules; an equation of two different constants leaves its rule without effect, with a warning."""
    model.rules = tuple(_solved(model, rule) for rule in model.rules)


def _solved(model: MtlModel, rule: Rule) -> Rule:
    while True:
        found = next((c for c in rule.body if isinstance(c, Compare) and _binding(c) is not None), None)
        if found is None:
            break
        binding = _binding(found)
        assert binding is not None
        if binding[0] not in bound_variables(rule):
            break  # reported as unsafe
        body = tuple(c for c in rule.body if c is not found)
        head, body = substitute((rule.head, body), {binding[0]: binding[1]})
        rule = replace(rule, head=head, body=body)
    for condition in rule.body:
        if isinstance(condition, Compare) and condition.operator == "=" and _is_plain(condition.left) and \
                _is_plain(condition.right) and condition.left != condition.right:
            model.report("warning", "never-true", f"{condition} is never true, so the rule has no effect",
                         condition.span)
    return replace(rule, body=tuple(c for c in rule.body if not _is_trivial(c)))


def _binding(comparison: Compare) -> tuple[str, Term] | None:
    if comparison.operator == "=":
        for side, other in ((comparison.left, comparison.right), (comparison.right, comparison.left)):
            if isinstance(side, Variable) and not isinstance(other, Compound) and side != other:
                return side.name, other
    return None


def _is_plain(term: Term) -> bool:
    return not isinstance(term, Compound | Variable)


def _is_trivial(condition: object) -> bool:
    return isinstance(condition, Compare) and condition.operator == "=" and condition.left == condition.right
