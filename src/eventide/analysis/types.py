"""Pass: classes of arguments. Arguments that share a variable somewhere hold values of one domain.

A class that is only computed with (a speed in comparisons, say) stays plain numbers; every other class becomes a
domain whose values are coded.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from eventide.algebra.nodes import NUMBER, UNUSED
from eventide.analysis.model import BUILT_IN_TESTS, Clause, Model
from eventide.analysis.patterns import flatten, pair_leaves
from eventide.syntax.remembering import Remembered
from eventide.syntax.terms import Compound, Term, Variable, arguments_of, functor_of
from eventide.syntax.trees import (
    Boundary,
    Call,
    Changed,
    Compare,
    Condition,
    FindAll,
    Function,
    Happens,
    Holds,
    HoldsFor,
    Is,
    Length,
    Not,
)

Slot = tuple[str, str, int]
_TERM_COMPARISONS = ("==", "\\==", "@<", "@=<", "@>", "@>=")


class Classes:
    """Union-find: which arguments and variables hold values of one domain."""

    def __init__(self) -> None:
        self.parent: dict[object, object] = {}

    def find(self, item: object) -> object:
        root = item
        while self.parent.setdefault(root, root) != root:
            root = self.parent[root]
        while self.parent[item] != root:
            self.parent[item], item = root, self.parent[item]
        return root

    def unite(self, a: object, b: object) -> None:
        self.parent[self.find(a)] = self.find(b)


def table_name(predicate: tuple[str, int]) -> str:
    """The name of a background table: predicates of different arity are different tables."""
    return f"{predicate[0]}/{predicate[1]}"


@Remembered
def slots_of(condition: Condition) -> list[tuple[Slot, Term]]:
    """The argument positions of a condition and the terms in them (nested conditions included)."""
    match condition:
        case Happens(event):
            template, leaves = flatten(event)
            return [(("e", template, i), leaf) for i, leaf in enumerate(leaves)]
        case Holds(pair) | Boundary(_, pair) | Changed(_, pair) | HoldsFor(pair):
            template, leaves = pair_leaves(pair)
            return [(("f", template, i), leaf) for i, leaf in enumerate(leaves)]
        case Call(predicate) if functor_of(predicate) not in BUILT_IN_TESTS:
            name = table_name(functor_of(predicate))
            return [(("t", name, i), leaf) for i, leaf in enumerate(arguments_of(predicate))]
        case Not(goals) | FindAll(_, goals):
            return [pair for goal in goals for pair in slots_of(goal)]
    return []


def head_slots(clause: Clause) -> Iterator[tuple[Slot, Term]]:
    """The argument positions of a clause's head."""
    kind = "t" if clause.kind == "background" else "e" if clause.kind in ("event", "event_grounding") else "f"
    yield from (((kind, clause.template, i), leaf) for i, leaf in enumerate(clause.leaves))
    if clause.target is not None:
        yield ("f", clause.template, len(clause.leaves) - 1), clause.target


def _comparisons(body: tuple[Condition, ...]) -> Iterator[Compare]:
    for condition in body:
        if isinstance(condition, Compare) and condition.operator in _TERM_COMPARISONS:
            yield condition
        elif isinstance(condition, Not | FindAll):
            yield from _comparisons(condition.goals)


def _computed(body: tuple[Condition, ...]) -> Iterator[Term]:
    for condition in body:
        if isinstance(condition, Is):
            yield condition.target
        elif isinstance(condition, Length):
            yield condition.amount
        elif isinstance(condition, Function):
            yield from condition.outputs
        elif isinstance(condition, Not | FindAll):
            yield from _computed(condition.goals)


def infer_types(model: Model) -> None:
    """Fill `types` (by slot), `variable_types` (by clause and variable), `constants` and `open_types` (by type)."""
    classes = Classes()
    keyed: set[object] = set()
    constants: list[tuple[Slot, Term]] = []
    slots: dict[Slot, None] = {}
    used: set[object] = set()
    for clause in model.clauses:
        relational: Counter[str] = Counter()
        head = list(head_slots(clause))
        inner = [pair for condition in clause.body for pair in slots_of(condition)]
        everywhere = Counter(clause.variables)
        for slot, leaf in head + inner:
            slots[slot] = None
            if isinstance(leaf, Variable):
                classes.unite(slot, (clause.number, leaf.name))
                relational[leaf.name] += 1
                if everywhere[leaf.name] > 1:
                    used.add((clause.number, leaf.name))
            elif not isinstance(leaf, Compound):
                constants.append((slot, leaf))
                used.add(slot)
                keyed.add(slot)  # 1 and 1.0 are different terms, and a column of numbers has one kind of them
            if slot[0] == "f" and not model.is_point_event(slot[1]):
                keyed.add(slot)
        if clause.kind in ("event", "background"):
            keyed.update(slot for slot, _ in head)
        computed = {target.name for target in _computed(clause.body) if isinstance(target, Variable)}
        keyed.update((clause.number, name) for name, count in relational.items()
                     if count > 1 or name in computed)  # what is computed and looked up is joined
        for comparison in _comparisons(clause.body):
            sides = [s for s in (comparison.left, comparison.right) if isinstance(s, Variable)]
            for side in sides:
                classes.unite((clause.number, side.name), (clause.number, sides[0].name))
                keyed.add((clause.number, side.name))
                used.add((clause.number, side.name))
            for other in (comparison.left, comparison.right):
                if sides and not isinstance(other, Variable | Compound):
                    constants.append((("c", str(clause.number), hash(other)), other))
                    classes.unite(("c", str(clause.number), hash(other)), (clause.number, sides[0].name))
    _name_types(model, classes, keyed, used, list(slots), constants)


def _name_types(model: Model, classes: Classes, keyed: set[object], used: set[object], slots: list[Slot],
                constants: list[tuple[Slot, Term]]) -> None:
    keyed_roots = {classes.find(item) for item in keyed}
    used_roots = {classes.find(item) for item in used}
    titles: dict[object, Counter[str]] = {}
    for clause in model.clauses:
        for name in dict.fromkeys(clause.variables):
            title = name.partition("#")[0].strip("_").lower()
            if not title or title.isdigit():  # an anonymous variable says nothing about its domain
                continue
            titles.setdefault(classes.find((clause.number, name)), Counter())[title] += 1
    chosen: dict[object, str] = {}
    taken = {NUMBER, UNUSED}
    numbers: Counter[str] = Counter()  # for each title, the last number that was given to it

    def type_of(item: object) -> str:
        root = classes.find(item)
        if root not in keyed_roots:
            return NUMBER if root in used_roots else UNUSED
        if root not in chosen:
            wanted = titles.get(root, Counter({"value": 1})).most_common(1)[0][0]
            name = NUMBER
            while name in taken:
                numbers[wanted] += 1
                name = f"{wanted}{numbers[wanted]}" if numbers[wanted] > 1 else wanted
            taken.add(name)
            chosen[root] = name
        return chosen[root]

    for slot in slots:
        model.types[slot] = type_of(slot)
    for clause in model.clauses:
        for name in dict.fromkeys(clause.variables):
            type_ = type_of((clause.number, name))
            model.variable_types[(clause.number, name)] = NUMBER if type_ == UNUSED else type_
        for target in _computed(clause.body):
            if isinstance(target, Variable):
                model.open_types.add(type_of((clause.number, target.name)))
    for item, constant in constants:
        type_ = type_of(item)
        if type_ not in (NUMBER, UNUSED):
            model.constants.setdefault(type_, []).append(constant)
