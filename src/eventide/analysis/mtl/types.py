"""Pass: classes of arguments. Arguments that share a variable somewhere hold values of one domain."""

from __future__ import annotations

from collections import Counter

from eventide.algebra.nodes import NUMBER, UNUSED
from eventide.analysis.mtl.model import MtlModel
from eventide.analysis.patterns import leaf_count
from eventide.analysis.types import Classes
from eventide.syntax.mtl_trees import Compare, Holds, Rule, formula_of, predicates_in, variables_in
from eventide.syntax.terms import Compound, Term, Variable, variables_of


def find_types(model: MtlModel) -> None:
    """Fill `types`, `variable_types`, `constants` and `open_types`."""
    classes = Classes()
    constants: list[tuple[object, Term]] = []
    titles: dict[object, Counter[str]] = {}
    for number, rule in enumerate(model.rules):
        for predicate in _predicates(rule):
            for place, argument in enumerate(predicate.arguments):
                slot = (predicate.template, place)
                if isinstance(argument, Variable):
                    classes.unite(slot, (number, argument.name))
                else:
                    constants.append((slot, argument))
        for condition in rule.body:
            # == and != compare codes, so both sides are of one domain
            if isinstance(condition, Compare) and not any(isinstance(s, Compound) for s in _sides(condition)):
                variables = [s for s in _sides(condition) if isinstance(s, Variable)]
                for other in _sides(condition) if variables and condition.operator in ("=", "!=") else ():
                    if isinstance(other, Variable):
                        classes.unite((number, variables[0].name), (number, other.name))
                    else:
                        constants.append(((number, variables[0].name), other))
    names = [(number, name) for number, rule in enumerate(model.rules) for name in _names(rule)]
    for number, name in names:
        title = name.strip("_").lower()
        if title and not title.isdigit():
            titles.setdefault(classes.find((number, name)), Counter())[title] += 1
    chosen: dict[object, str] = {}

    def type_of(item: object) -> str:
        root = classes.find(item)
        if root not in chosen:
            wanted = titles.get(root, Counter({"value": 1})).most_common(1)[0][0]
            taken = {NUMBER, UNUSED, *chosen.values()}
            chosen[root] = next(o for k in range(1, len(taken) + 2) if (o := f"{wanted}{k if k > 1 else ''}") not in
                                taken)
        return chosen[root]

    model.types = {(template, place): type_of((template, place))
                   for template in model.predicates for place in range(leaf_count(template))}
    model.variable_types = {(number, name): type_of((number, name)) for number, name in names}
    for item, constant in constants:
        model.constants.setdefault(type_of(item), []).append(constant)
    for number, rule in enumerate(model.rules):
        for condition in rule.body:
            if isinstance(condition, Compare) and condition.operator == "=":
                model.open_types.update(type_of((number, side.name)) for side in _sides(condition)
                                        if isinstance(side, Variable))


def _sides(condition: Compare) -> tuple[Term, Term]:
    return condition.left, condition.right


def _predicates(rule: Rule) -> list[Holds]:
    found = [rule.head]
    for condition in rule.body:
        formula = formula_of(condition)
        found += predicates_in(formula) if formula is not None else ()
    return found


def _names(rule: Rule) -> dict[str, None]:
    """The variables of a rule, in order."""
    found = [v.name for argument in rule.head.arguments for v in variables_of(argument)]
    return dict.fromkeys([*found, *(v.name for condition in rule.body for v in variables_in(condition))])
