"""Which argument of each predicate keeps a LARS program together: entities that never meet can be evaluated apart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from eventide.syntax.lars_trees import LarsTree, Predicate, Rule
from eventide.syntax.terms import Atom, Compound, Variable, arguments_of, functor_of, template_of

Places = dict[Predicate, int]


def key_places(tree: LarsTree) -> Places | str:
    """The place of the key in every predicate that rules read or conclude, or why there is none.

    All atoms of a rule, but those of background facts, have one variable at the places of their keys. Background facts
    are known everywhere.

    >>> from eventide.syntax.lars import parse
    >>> key_places(parse("jam(L) :- slow(L,V) [5], V < 9, road(L). road(a).").tree)
    {('jam', 1): 0, ('slow', 2): 0}
    >>> key_places(parse("near(X,Y) :- at(X,P), at(Y,P).").tree)
    'near(_,_) brings entities together: near(X,Y) :- at(X,P), at(Y,P).'
    """
    derived = {rule.head.predicate for rule in tree.rules if rule.head is not None}
    everywhere = {functor_of(fact) for fact in tree.facts} - derived
    for rule in tree.rules:
        for literal in rule.literals:
            if literal.window is not None and literal.window.kind == "tuple":
                return f"a window counts the facts of all entities: {rule}"
        if rule.head is None:
            return f"a contradiction leaves no answer for any entity: {rule}"
    found = _assigned(tree.rules, everywhere, {})
    if found is not None:
        return found
    for rule in tree.rules:  # the first rule that cannot go with those before it
        before = tree.rules[:tree.rules.index(rule) + 1]
        if _assigned(before, everywhere, {}) is None:
            name = template_of(*rule.head.predicate) if rule.head is not None else "a contradiction"
            return f"{name} brings entities together: {rule}"
    return "the rules bring entities together"


def _assigned(rules: Sequence[Rule], everywhere: set[Predicate], places: Places) -> Places | None:
    """Places for all predicates of some rules that agree with those given, or None."""
    if not rules:
        return places
    for extended in _extended(rules[0], everywhere, places):
        found = _assigned(rules[1:], everywhere, extended)
        if found is not None:
            return found
    return None


def _extended(rule: Rule, everywhere: set[Predicate], places: Places) -> Iterator[Places]:
    """The ways to give the atoms of a rule places with one variable."""
    assert rule.head is not None
    atoms: list[Atom | Compound] = [rule.head.atom]
    windows: list[tuple[int, ...] | None] = [None]
    for literal in rule.literals:
        if literal.predicate not in everywhere:
            atoms.append(literal.atom)
            by = literal.window is not None and literal.window.kind == "partition"
            windows.append(literal.window.by if by and literal.window is not None else None)
    names = dict.fromkeys(argument.name for argument in arguments_of(rule.head.atom) if isinstance(argument, Variable))
    for name in names:
        yield from _placed(list(zip(atoms, windows, strict=True)), name, places)


def _placed(atoms: Sequence[tuple[Atom | Compound, tuple[int, ...] | None]], name: str,
            places: Places) -> Iterator[Places]:
    if not atoms:
        yield places
        return
    (atom, by), rest = atoms[0], atoms[1:]
    predicate = functor_of(atom)
    for place, argument in enumerate(arguments_of(atom)):
        known = places.get(predicate, place)
        if known == place and isinstance(argument, Variable) and argument.name == name and (by is None or place in by):
            yield from _placed(rest, name, {**places, predicate: place})
