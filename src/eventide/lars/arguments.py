"""Which arguments of a LARS program hold values of one domain, and which are only computed with. Knows no windows.

Arguments that share a variable, or are compared as they are, belong together. A variable that one atom of a body alone
can judge (a speed that is compared with a limit) stays a plain number; one that nobody reads is not even loaded.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from eventide.algebra.nodes import NUMBER, UNUSED
from eventide.analysis.types import Classes
from eventide.syntax.lars_trees import Comparison, Literal, Predicate, Rule
from eventide.syntax.terms import Atom, Compound, Number, Term, Variable, arguments_of, functor_of, variables_of

Slot = tuple[Predicate, int]
PLAIN = (NUMBER, UNUSED)


@dataclass
class Types:
    """The types of argument places and of the variables of each rule (by its number)."""

    slots: dict[Slot, str] = field(default_factory=dict)
    variables: dict[tuple[int, str], str] = field(default_factory=dict)
    constants: dict[str, list[Term]] = field(default_factory=dict)
    open: set[str] = field(default_factory=set)
    """The types that hold computed values, so that they grow while the program runs."""
    timed: set[str] = field(default_factory=set)
    """The types that hold time-points."""

    def of(self, predicate: Predicate) -> tuple[str, ...]:
        """The types of all arguments of a predicate."""
        return tuple(self.slots.get((predicate, place), UNUSED) for place in range(predicate[1]))


def time_variables(rule: Rule) -> set[str]:
    """The variables that stand for the time of an atom in the body."""
    return {lit.time.name for lit in rule.literals if isinstance(lit.time, Variable)}


def reported_variables(rule: Rule) -> tuple[Variable, ...]:
    """The variables of a contradiction that tell its instances apart: those with a name, in order."""
    found = [v for lit in rule.literals if not lit.negated for v in lit.variables() if not v.anonymous]
    return tuple({variable.name: variable for variable in found}.values())


def ordinary_variables(rule: Rule) -> set[str]:
    """The variables that stand in arguments, are told to be the same as another one or a constant, or are computed
    times of negated atoms."""
    found = {v.name for lit in rule.literals for v in variables_of(lit.atom)}
    found |= {v.name for v in (reported_variables(rule) if rule.head is None else variables_of(rule.head.atom))}
    for comparison in rule.comparisons:
        target, value = bound_by(comparison, found | time_variables(rule))
        if target is not None and not isinstance(value, Compound):
            found.add(target)
    return found | (time_variables(rule) - {str(lit.time) for lit in rule.literals if not lit.negated})


def bound_by(comparison: Comparison, known: set[str]) -> tuple[str | None, Term]:
    """The variable that an equation binds where the others are known, and its value; None if it only tests."""
    if comparison.operator == "=":
        for side, other in ((comparison.left, comparison.right), (comparison.right, comparison.left)):
            if isinstance(side, Variable) and side.name not in known and {v.name for v in variables_of(other)} <= known:
                return side.name, other
    return None, comparison.left


def local_variables(rule: Rule, literal: Literal) -> set[str]:
    """The variables that this atom alone has and can judge: nothing else in the rule reads them."""
    own = {v.name for v in variables_of(literal.atom)}
    if literal.modality == "always":  # all time-points have the same value of a variable
        return set()
    elsewhere = {v.name for lit in rule.literals if lit is not literal for v in lit.variables()}
    if rule.head is not None:
        elsewhere |= {v.name for v in rule.head.variables()}
    else:
        elsewhere |= {v.name for v in reported_variables(rule)}
    for comparison in rule.comparisons:
        inside = {v.name for v in comparison.variables()}
        if not inside <= own:
            elsewhere |= inside
    if isinstance(literal.time, Variable):
        elsewhere.add(literal.time.name)
    return own - elsewhere


def find_types(rules: Sequence[Rule], facts: Iterable[Term], inputs: Mapping[Predicate, object]) -> Types:
    """The types of everything that the rules, the background facts and the inputs have as arguments."""
    classes = Classes()
    keyed: set[object] = set()
    used: set[object] = set()
    constants: list[tuple[object, Term]] = []
    slots: dict[Slot, None] = {(predicate, i): None for predicate in inputs for i in range(predicate[1])}
    for number, rule in enumerate(rules):
        relational: Counter[str] = Counter()
        for literal in rule.literals:
            local = local_variables(rule, literal)
            inner = Counter(v.name for v in variables_of(literal.atom))
            by = literal.window.by if literal.window is not None else ()
            for i, term in enumerate(arguments_of(literal.atom)):
                slot = (literal.predicate, i)
                slots[slot] = None
                if i in by:
                    keyed.add(slot)
                if isinstance(term, Variable):
                    classes.unite(slot, (number, term.name))
                    relational[term.name] += 1
                    if term.name not in local or inner[term.name] > 1:
                        keyed.add((number, term.name))
                    if term.name in {v.name for c in rule.comparisons for v in c.variables()}:
                        used.add((number, term.name))
                else:
                    constants.append((slot, term))
                    keyed.add(slot)
        if rule.head is not None:
            for i, term in enumerate(arguments_of(rule.head.atom)):
                slot = (rule.head.predicate, i)
                slots[slot] = None
                keyed.add(slot)
                if isinstance(term, Variable):
                    classes.unite(slot, (number, term.name))
                else:
                    constants.append((slot, term))
        keyed.update((number, name) for name in ordinary_variables(rule) & time_variables(rule))
        bound = {v.name for lit in rule.literals if not lit.negated for v in lit.variables()}
        keyed.update((number, v.name) for c in rule.comparisons for v in c.variables() if v.name not in bound)
        for side, other in _compared(rule):
            classes.unite((number, side), (number, other) if isinstance(other, str) else ("c", number, other))
            keyed.add((number, side))
            if not isinstance(other, str):
                constants.append((("c", number, other), other))
    for fact in facts:
        for i in range(len(arguments_of(fact))):
            slots[(functor_of(fact), i)] = None
    return _named(rules, classes, keyed, used, slots, constants)


def _compared(rule: Rule) -> Iterator[tuple[str, str | Term]]:
    """Variables that are compared as they are, with another variable or with a word; or bound to a constant."""
    ordinary = ordinary_variables(rule)
    times = time_variables(rule)
    bound = {v.name for lit in rule.literals if not lit.negated for v in lit.variables()}
    for comparison in rule.comparisons:
        if comparison.operator not in ("=", "!="):  # order is between numbers
            continue
        for side, other in ((comparison.left, comparison.right), (comparison.right, comparison.left)):
            if not isinstance(side, Variable) or side.name not in ordinary:
                continue
            if isinstance(other, Variable) and (other.name in ordinary or other.name not in times):
                yield side.name, other.name
            elif isinstance(other, Atom) or (isinstance(other, Number) and side.name not in bound):
                yield side.name, other


def _named(rules: Sequence[Rule], classes: Classes, keyed: set[object], used: set[object], slots: Iterable[Slot],
           constants: Sequence[tuple[object, Term]]) -> Types:
    keyed_roots = {classes.find(item) for item in keyed}
    used_roots = {classes.find(item) for item in used}
    chosen: dict[object, str] = {}
    types = Types()

    def type_of(item: object, wanted: str) -> str:
        root = classes.find(item)
        if root not in keyed_roots:
            return NUMBER if root in used_roots else UNUSED
        if root not in chosen:
            taken = set(chosen.values())
            options = (wanted if k == 1 else f"{wanted}{k}" for k in range(1, len(taken) + 2))
            chosen[root] = next(o for o in options if o not in taken and o not in PLAIN)
        return chosen[root]

    for number, rule in enumerate(rules):
        named = [v.name for lit in rule.literals for v in lit.variables()] + [
            v.name for c in rule.comparisons for v in c.variables()]
        bound = {v.name for lit in rule.literals if not lit.negated for v in variables_of(lit.atom)}
        for name in dict.fromkeys(named):
            if (number, name) in classes.parent or (number, name) in keyed:
                types.variables[number, name] = found = type_of((number, name), name.strip("_").lower() or "value")
            else:  # it is only computed, or only a time
                continue
            if found not in PLAIN and name in time_variables(rule):
                types.timed.add(found)
            elif found not in PLAIN and name not in bound:
                types.open.add(found)
    for slot in slots:
        types.slots[slot] = type_of(slot, slot[0][0].lower())
    for item, constant in constants:
        found = type_of(item, "value")
        if found not in PLAIN:
            types.constants.setdefault(found, []).append(constant)
    return types
