"""Bottom rules: the most special rule that the modes allow for one example. Which examples, is decided elsewhere.

Katzouris and Artikis, WOLED (KR 2020), section 4.4 and Algorithm 2, line 4; the idea is that of Muggleton, "Inverse
Entailment and Progol" (1995). Every rule worth learning from an example subsumes its bottom rule, so the search for
rules is a search among the literals of bottom rules.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product

from eventide.errors import EventideError
from eventide.learning.clauses import Clause, Literal, Predicate
from eventide.learning.modes import Mode, Modes
from eventide.syntax.printer import term_text
from eventide.syntax.terms import Atom, Compound, Number, Term, Variable, functor_of, is_ground

Domains = Mapping[str, Sequence[Term]]
_Found = dict[tuple[Mode, tuple[Term, ...]], None]  # the body so far: a mode and what stands in its places, in order
_Known = dict[str, dict[Term, None]]


class Facts:
    """Ground atoms that are true, those of background knowledge included; everything else is false.

    >>> from eventide.learning.clauses import read_clauses
    >>> facts = Facts(clause.head for clause in read_clauses("walks(ann, 3). walks(bob, 4).")[0])
    >>> len(facts)
    2
    """

    def __init__(self, atoms: Iterable[Term]) -> None:
        self._atoms: dict[tuple[str, int], dict[Term, None]] = {}
        self._by_mode: dict[Mode, dict[tuple[Term, ...], list[tuple[Term, ...]]]] = {}
        for atom in atoms:
            if not isinstance(atom, Atom | Compound) or not is_ground(atom):
                raise EventideError(f"{term_text(atom)} is not a fact: a name with arguments, none a variable")
            self._atoms.setdefault(functor_of(atom), {})[atom] = None

    def __len__(self) -> int:
        return sum(map(len, self._atoms.values()))

    def __contains__(self, atom: Term) -> bool:
        return atom in self._atoms.get(functor_of(atom), ())

    def named(self, name: str, arity: int) -> Iterable[Term]:
        """The facts of a predicate."""
        return self._atoms.get((name, arity), {}).keys()

    def instances(self, mode: Mode) -> Iterator[tuple[Term, ...]]:
        """What stands in the places of each fact that has the shape of a mode."""
        for atom in self.named(*functor_of(mode.atom)):
            found = mode.constants(atom)
            if found is not None:
                yield found

    def given(self, mode: Mode, inputs: tuple[Term, ...]) -> list[tuple[Term, ...]]:
        """The instances that have these terms in their `+` places, in the order of the rest."""
        index = self._by_mode.get(mode)
        if index is None:
            index = self._by_mode[mode] = {}
            for found in self.instances(mode):
                key = tuple(term for place, term in zip(mode.places, found, strict=True) if place.kind == "+")
                index.setdefault(key, []).append(found)
            for several in index.values():
                several.sort(key=lambda found: tuple(map(_order, found)))
        return index.get(inputs, [])


def domains_of(modes: Modes, facts: Facts) -> dict[str, list[Term]]:
    """The terms of each type: `t(c)` says that c is a `t`, and so does a `+t` or `-t` of an `inputPredicate`.

    >>> from eventide.learning.clauses import read_clauses
    >>> from eventide.learning.modes import read_modes
    >>> modes, _ = read_modes("modeh(far(+person))\\nmodeb(not near(+person,#dist))\\ninputPredicate(walks(+person))")
    >>> facts = Facts(clause.head for clause in read_clauses("dist(30). dist(9). walks(ann).")[0])
    >>> {name: [str(term) for term in terms] for name, terms in domains_of(modes, facts).items()}
    {'person': ['ann'], 'dist': ['9', '30']}
    """
    found: dict[str, set[Term]] = {}
    for mode in (*modes.heads, *modes.bodies, *modes.inputs):
        for place in mode.places:
            if place.type not in found:
                found[place.type] = {atom.args[0] for atom in facts.named(place.type, 1) if isinstance(atom, Compound)}
    for mode in modes.inputs:
        for terms in facts.instances(mode):
            for place, term in zip(mode.places, terms, strict=True):
                if place.kind != "#":
                    found[place.type].add(term)
    return {name: sorted(terms, key=_order) for name, terms in found.items()}


def bottom_rule(seed: Term, modes: Modes, facts: Facts, *, depth: int = 1, simplify: bool = False,
                domains: Domains | None = None) -> Clause:
    """The rule with all conditions that the modes allow and that are true of `seed`, a head without variables.

    Conditions are about the terms of the head, and in `depth` more rounds about what `-` places brought in the round
    before. Negated ones take their constants from `domains` (default: `domains_of`). Of conditions with thresholds all
    that are true are kept; with `simplify` only the tightest. The rule then means the same, but fewer rules subsume it.

    >>> from eventide.learning.clauses import read_clauses
    >>> from eventide.learning.modes import read_modes
    >>> modes, _ = read_modes("modeh(meet(+person,+person,+time))\\nmodeb(near(+person,+person,#dist,+time))")
    >>> seed, *atoms = [each.head for each in read_clauses("meet(a,b,3). near(a,b,9,3). near(a,b,10,3).")[0]]
    >>> print(bottom_rule(seed, modes, Facts(atoms)))
    meet(X0, X1, X2) :- near(X0, X1, 9, X2), near(X0, X1, 10, X2).
    """
    if depth < 0:
        raise EventideError(f"the depth of a bottom rule is at least 0, not {depth}")
    head, constants = _matching_head(seed, modes)
    domains = domains_of(modes, facts) if domains is None else domains
    known: _Known = {}
    _make_known(head, constants, known)
    body: _Found = {}
    for _ in range(depth + 1):
        size = len(body)
        body |= dict.fromkeys((mode, found) for mode in modes.bodies for found in _true(mode, known, facts, domains)
                              if mode.subject not in modes.irreflexive or not _is_reflexive(mode, found))
        if len(body) == size:
            break
        for mode, found in body:
            _make_known(mode, found, known)
    return _with_variables(head, constants, _tightest(body, modes) if simplify else body)


def _matching_head(seed: Term, modes: Modes) -> tuple[Mode, tuple[Term, ...]]:
    if not is_ground(seed):
        raise EventideError(f"{term_text(seed)} has a variable: a bottom rule begins with one example")
    for head in modes.heads:
        found = head.constants(seed)
        if found is not None:
            return head, found
    declared = ", ".join(map(str, modes.heads)) or "no modeh"
    raise EventideError(f"{term_text(seed)} has the shape of no head: declared are {declared}")


def _make_known(mode: Mode, found: tuple[Term, ...], known: _Known) -> None:
    for place, term in zip(mode.places, found, strict=True):
        if place.kind != "#":
            known.setdefault(place.type, {})[term] = None


def _true(mode: Mode, known: _Known, facts: Facts, domains: Domains) -> Iterator[tuple[Term, ...]]:
    """The true instances of a mode whose `+` places hold known terms."""
    for inputs in product(*(known.get(place.type, ()) for place in mode.places if place.kind == "+")):
        if mode.positive:
            yield from facts.given(mode, inputs)
            continue
        for others in product(*(domains.get(place.type, ()) for place in mode.places if place.kind != "+")):
            supply, rest = iter(inputs), iter(others)
            found = tuple(next(supply if place.kind == "+" else rest) for place in mode.places)
            if mode.filled(found) not in facts:
                yield found


def _is_reflexive(mode: Mode, found: tuple[Term, ...]) -> bool:
    """Whether the same thing stands in two places."""
    things = [(place.type, term) for place, term in zip(mode.places, found, strict=True) if place.kind != "#"]
    return len(set(things)) < len(things)


def _tightest(body: _Found, modes: Modes) -> _Found:
    """The body with one threshold where the same things are compared: the least, for `greaterThan` the largest."""
    for comparison in modes.comparisons:
        at, sign = comparison.place, 1 if comparison.direction == "lessThan" else -1
        best: dict[object, float] = {}
        kept: dict[tuple[Mode, tuple[Term, ...]], tuple[object, float]] = {}
        for mode, found in body:
            if mode.positive and mode.atom == comparison.mode.atom and isinstance(limit := found[at], Number):
                group, value = (mode, found[:at], found[at + 1:]), sign * limit.value
                best[group] = min(value, best.get(group, value))
                kept[mode, found] = group, value
        body = {each: None for each in body if each not in kept or best[kept[each][0]] == kept[each][1]}
    return body


def _with_variables(head: Mode, constants: tuple[Term, ...], body: _Found) -> Clause:
    """The clause with a variable for each term of each type, in the order they are met; terms of `#` places stay."""
    names: dict[tuple[str, Term], Variable] = {}

    def atom(mode: Mode, found: tuple[Term, ...]) -> Predicate:
        return mode.filled([term if place.kind == "#" else
                            names.setdefault((place.type, term), Variable(f"X{len(names)}"))
                            for place, term in zip(mode.places, found, strict=True)])

    first = atom(head, constants)
    # Two modes may allow the same literal.
    return Clause(first, tuple(dict.fromkeys(Literal(atom(mode, found), mode.positive) for mode, found in body)))


def _order(term: Term) -> tuple[int, float, str]:
    """Numbers by size, then everything else by its text."""
    return (0, term.value, str(term)) if isinstance(term, Number) else (1, 0, term_text(term))
