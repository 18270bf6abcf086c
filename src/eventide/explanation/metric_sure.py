"""Rules twice: as they are, and so that nothing is denied that is so in all the data. Runs nothing.

From some of the facts alone, `not F` may be met only because the facts that contradict it are left out. The second copy
of each rule asks for more: `F` must not follow from these facts, and not from all facts either. What it derives is
derived by proofs that are true in both.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from eventide.analysis.mtl.model import MtlModel
from eventide.syntax.mtl_trees import (
    Compare,
    Condition,
    Formula,
    Holds,
    Metric,
    Not,
    Rule,
    predicates_in,
    variables_in,
)
from eventide.syntax.terms import Variable

SURE = "′"
"""What the names of the second copies end in; no predicate of a program may."""
DENIED = "′"
"""What the names of facts begin with that say where a denied formula holds in all the data."""


def uncertain(model: MtlModel) -> set[str]:
    """The predicates that depend on a negation, directly or not."""
    found = {rule.head.template for rule in model.rules if any(isinstance(c, Not) for c in rule.body)}
    while True:
        more = {name for name, reads in model.reads.items() if reads & found} - found
        if not more:
            return found
        found |= more


def denied_in(model: MtlModel) -> Iterator[tuple[int, int, Formula, list[str]]]:
    """What rules deny: the rule, the place among its conditions, the formula, its variables."""
    for number, rule in enumerate(model.rules):
        for place, condition in enumerate(rule.body):
            if isinstance(condition, Not):
                names = dict.fromkeys(v.name for v in variables_in(condition) if not v.anonymous)
                yield number, place, condition.formula, list(names)


def with_sure(model: MtlModel) -> list[Rule]:
    """The rules, and behind them the copies for predicates that depend on negation; more conditions stand last."""
    doubtful = uncertain(model)
    more: dict[int, list[Condition]] = {}
    for number, place, _, names in denied_in(model):
        more.setdefault(number, []).append(Not(Holds(f"{DENIED}{number}.{place}", tuple(map(Variable, names)))))
    copies = [replace(rule, head=_sure(rule.head), body=(
        *(condition if isinstance(condition, Not | Compare) else _renamed(condition, doubtful)
          for condition in rule.body), *more.get(number, ())))
        for number, rule in enumerate(model.rules) if rule.head.template in doubtful]
    return [*model.rules, *copies]


def original(model: MtlModel, number: int) -> tuple[Condition, ...]:
    """The conditions of a rule as its author wrote them, in the order of those of its copy."""
    body = [c for c in model.rules[number].body if not (isinstance(c, Not) and _is_added(c))]
    return tuple(c if isinstance(c, Not | Compare) else _plain(c) for c in body)


def _is_added(condition: Not) -> bool:
    return any(predicate.name.startswith(DENIED) for predicate in predicates_in(condition.formula))


def _sure(atom: Holds) -> Holds:
    return replace(atom, name=f"{atom.name}{SURE}")


def _renamed(formula: Formula, doubtful: set[str]) -> Formula:
    match formula:
        case Holds():
            return _sure(formula) if formula.template in doubtful else formula
        case Metric():
            return replace(formula, child=_renamed(formula.child, doubtful))
        case _:
            return replace(formula, left=_renamed(formula.left, doubtful), right=_renamed(formula.right, doubtful))


def _plain(formula: Formula) -> Formula:
    match formula:
        case Holds(name):
            return replace(formula, name=name.removesuffix(SURE))
        case Metric():
            return replace(formula, child=_plain(formula.child))
        case _:
            return replace(formula, left=_plain(formula.left), right=_plain(formula.right))

