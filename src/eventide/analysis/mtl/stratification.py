"""Pass: which predicates depend on each other. Recursion is fine, through time and through data, but not through `not`.

Negation is stratified: a predicate that is negated is complete before it is asked for. `not F` then holds at exactly
those rational times at which F does not.
"""

from __future__ import annotations

from eventide.analysis.graphs import components, is_cycle, way
from eventide.analysis.mtl.model import MtlModel
from eventide.analysis.patterns import name_of
from eventide.syntax.mtl_trees import Compare, Holds, Not, Rule, predicates_in, variables_in
from eventide.syntax.terms import Compound, Variable


def stratify(model: MtlModel) -> None:
    """Fill `components`, `levels` and `cycles`; report negation inside a cycle, with the way back."""
    model.components = components(model.reads)
    home = {name: number for number, members in enumerate(model.components) for name in members}
    for members in model.components:
        below = [model.levels[read] for member in members for read in model.reads[member]
                 if read in model.levels and read not in members]
        model.levels.update(dict.fromkeys(members, 1 + max(below, default=0)))
        if is_cycle(members, model.reads):
            model.cycles.append(tuple(sorted(members)))
    ordered = {name: sorted(reads) for name, reads in model.reads.items()}  # so that the same way is told each time
    told: set[int] = set()  # a cycle is one problem, whatever is negated in it
    for rule in model.rules:
        head = rule.head.template
        for condition in rule.body:
            for predicate in predicates_in(condition.formula) if isinstance(condition, Not) else ():
                if home.get(predicate.template) == home[head] and home[head] not in told:
                    told.add(home[head])
                    back = reversed(way(ordered, predicate.template, head))
                    shown = " → ".join(map(name_of, back))
                    model.report("error", "negation-cycle", f"{rule.head.name} depends on its own negation: {shown}, "
                                 f"and not {predicate}", condition.span,
                                 "negated predicates must not depend on the head of the rule")
    for cycle in model.cycles:
        _check_values(model, [rule for rule in model.rules if rule.head.template in cycle], cycle)


def _check_values(model: MtlModel, rules: list[Rule], members: tuple[str, ...]) -> None:
    """Warn of values that a cycle computes at one and the same time without a bound: there may be no end of them."""
    inside = [condition for rule in rules for condition in rule.body
              if not isinstance(condition, Compare | Not)
              and any(predicate.template in members for predicate in predicates_in(condition))]
    if any(rule.operators for rule in rules) or not all(isinstance(condition, Holds) for condition in inside):
        return  # time goes on, and a horizon ends it
    for rule in rules:
        compared = [condition for condition in rule.body if isinstance(condition, Compare)]
        bounded = {v.name for c in compared if c.operator not in ("=", "!=") for v in variables_in(c)}
        for condition in compared:
            for side, other in ((condition.left, condition.right), (condition.right, condition.left)):
                if condition.operator == "=" and isinstance(side, Variable) and isinstance(other, Compound) and \
                        bounded.isdisjoint(v.name for v in variables_in(condition)):
                    model.report("warning", "values-without-bound", f"{condition} is computed in a cycle through "
                                 f"{', '.join(map(name_of, members))}: there may be no end of its values",
                                 condition.span, f"bound it, such as {side} < 1000")
