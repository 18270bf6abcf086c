"""A program with several answers, split in two: what has one answer, and the rules above it. Evaluates nothing.

The lower program is stratified and has, besides the program's own lower rules, a rule for every group of connected
lower conditions of an upper rule: `get(I,N,M) :- source(I,N,M), not nGet(I,N,M).` becomes a lower rule with the head
`$1(I,N,M)` and the upper rule `get(I,N,M) :- $1(I,N,M), not nGet(I,N,M).` So the joins of the upper rules are done by
whoever evaluates the lower program, for all time-points at once. (V. Lifschitz and H. Turner, "Splitting a logic
program", ICLP 1994: answers of the whole are answers of the upper part over the one of the lower part.)
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal as OneOf

from eventide.syntax.diagnostics import Span
from eventide.syntax.lars_trees import Comparison, Element, Head, LarsTree, Literal, Predicate, Rule
from eventide.syntax.terms import Atom, Compound, Variable, functor_of, variables_of

GIVEN = "given "
"""Before the name of an upper predicate: its atoms that are input or facts of the program, now."""


@dataclass(frozen=True, slots=True)
class Given:
    """What the input and the facts of the program say of an upper atom in a body, as a lower predicate.

    Its arguments are those of the atom, followed by the time if `timed`.
    """

    literal: Literal
    predicate: Predicate
    timed: bool


@dataclass(frozen=True)
class Split:
    """The two programs. Predicates of the upper rules that are lower ones begin with `$`."""

    lower: LarsTree
    upper: tuple[Rule, ...]
    given: tuple[Given, ...]
    predicates: frozenset[Predicate]
    """What the upper rules conclude."""
    origin: tuple[Rule, ...]
    """The rule that each upper rule comes from."""

    @property
    def counts_tuples(self) -> bool:
        """Whether windows over upper predicates count facts."""
        return any(literal.window is not None and literal.window.kind != "time" for rule in self.upper
                   for literal in rule.literals if literal.predicate in self.predicates)

    @cached_property
    def timeless(self) -> bool:
        """Whether the upper rules conclude and ask about now only, so that equal inputs have equal answers."""
        heads = all(rule.head is None or rule.head.time is None for rule in self.upper)
        return heads and all(_asks_now(literal) for rule in self.upper for literal in rule.literals
                             if literal.predicate in self.predicates)


def split(tree: LarsTree, upper: Collection[Predicate], present: Collection[Predicate]) -> Split:
    """The program split at the predicates `upper`, which must contain all that reads them.

    `present` are the predicates of the stream.

    >>> from eventide.syntax.lars import parse
    >>> text = "a(X) :- p(X) [2], q(X,Y), not b(X), r(Z). b(X) :- p(X), not a(X)."
    >>> parts = split(parse(text).tree, {("a", 1), ("b", 1)}, ())
    >>> print(parts.lower)
    $0(X) :- p(X) [2], q(X,Y).
    $1 :- r(Z).
    $2(X) :- p(X).
    >>> print(*parts.upper)
    a(X) :- $0(X), $1, not b(X). b(X) :- $2(X), not a(X).
    """
    known = {*present, *(functor_of(fact) for fact in tree.facts)}
    splitter = _Splitter(frozenset(upper), known)
    for rule in tree.rules:
        reads_upper = any(literal.predicate in splitter.upper for literal in rule.literals)
        if reads_upper or (rule.head is not None and rule.head.predicate in splitter.upper):
            splitter.raised(rule)
        else:
            splitter.lower.append(rule)
    for predicate in sorted(splitter.upper):
        if predicate in known:
            splitter.tell(predicate)
    return Split(LarsTree(tree.facts, tuple(splitter.lower), tree.source, tree.text), tuple(splitter.rules),
                 tuple(splitter.given), splitter.upper, tuple(splitter.origin))


def variables_in(elements: Iterable[Element]) -> list[str]:
    """The names of the variables, each once, in order."""
    return list(dict.fromkeys(v.name for element in elements for v in element.variables()))


class _Splitter:
    """Collects the rules of both programs."""

    def __init__(self, upper: frozenset[Predicate], known: Collection[Predicate]) -> None:
        self.upper, self.known = upper, known
        self.lower: list[Rule] = []
        self.rules: list[Rule] = []
        self.origin: list[Rule] = []
        self.given: list[Given] = []
        self._heads: dict[tuple[tuple[str, ...], tuple[Element, ...]], str] = {}

    def named(self, names: Sequence[str], body: tuple[Element, ...]) -> Atom | Compound:
        """The head of the lower rule with this body; equal bodies have one rule."""
        name = self._heads.get((tuple(names), body))
        if name is None:
            name = self._heads[tuple(names), body] = f"${len(self._heads)}"
            self.lower.append(Rule(Head(_atom(name, names)), body, _span(body)))
        return _atom(name, names)

    def raised(self, rule: Rule) -> None:
        """An upper rule: its lower conditions become atoms of lower predicates."""
        mine = [element for element in rule.body if isinstance(element, Literal) and element.predicate in self.upper]
        lower = [element for element in rule.body if element not in mine]
        groups, rest = _groups(lower)
        needed = {*variables_in([*mine, *rest]), *(v.name for v in (rule.head.variables() if rule.head else ()))}
        if rule.head is None:
            needed |= set(variables_in(rule.body))  # a contradiction is told with all its variables
        body: list[Element] = []
        for group in groups:
            inside = variables_in(group)
            head = self.named([name for name in inside if name in needed], tuple(group))
            body.append(Literal(head, span=_span(group)))
        body += mine
        for element in rest:
            if isinstance(element, Literal):  # its variables are bound by upper atoms: ask for the atom itself
                asked = Literal(element.atom, element.modality, element.time, element.window, False, element.span)
                head = self.named(variables_in([asked]), (asked,))
                body.append(Literal(head, negated=True, span=element.span))
            else:
                body.append(element)
        self.rules.append(Rule(rule.head, tuple(body), rule.span))
        self.origin.append(rule)
        for literal in mine:
            if literal.predicate in self.known:
                self.add_given(literal)

    def tell(self, predicate: Predicate) -> None:
        """What is given of an upper predicate belongs to its answers, under a name that no rule asks for."""
        names = [f"A{place}" for place in range(predicate[1])]
        lower = self.named(names, (Literal(_atom(predicate[0], names)),))
        rule = Rule(Head(_atom(GIVEN + predicate[0], names)), (Literal(lower),))
        self.rules.append(rule)
        self.origin.append(rule)

    def add_given(self, literal: Literal) -> None:
        """What is given of an upper atom: under `always` and `at` with its times, otherwise whether it is there."""
        kind = (literal.predicate, literal.modality, literal.window)
        if any((g.literal.predicate, g.literal.modality, g.literal.window) == kind for g in self.given):
            return
        timed = literal.modality in ("always", "at") and not _asks_now(literal)
        names = [f"A{place}" for place in range(literal.predicate[1])]
        atom = _atom(literal.predicate[0], names)
        modality: OneOf["now", "sometime", "always", "at"] = "at" if timed else literal.modality  # always [0] is now
        asked = Literal(atom, modality, Variable("T") if timed else None, literal.window)
        head = self.named([*names, "T"] if timed else names, (asked,))
        self.given.append(Given(literal, functor_of(head), timed))


def _asks_now(literal: Literal) -> bool:
    if literal.modality == "always":
        return literal.window is not None and literal.window.kind == "time" and literal.window.size == 0
    return literal.modality in ("now", "sometime")


def _atom(name: str, names: Sequence[str]) -> Atom | Compound:
    return Compound(name, tuple(map(Variable, names))) if names else Atom(name)


def _span(body: Sequence[Element]) -> Span | None:
    return body[0].span if body else None


def _groups(lower: Sequence[Element]) -> tuple[list[list[Element]], list[Element]]:
    """Lower conditions by shared variables, each group safe by itself, and those that need variables of upper atoms."""
    binding = [element for element in lower if isinstance(element, Literal) and not element.negated]
    groups: list[list[Element]] = []
    for literal in binding:
        names = {v.name for v in literal.variables()}
        touching = [group for group in groups if names & set(variables_in(group))]
        merged = [element for group in touching for element in group] + [literal]
        groups = [group for group in groups if group not in touching] + [merged]
    rest = [element for element in lower if element not in binding]
    given = set(variables_in(binding))
    changed = True
    while changed:  # an equation may bind a variable that others need
        changed = False
        for element in list(rest):
            names = {v.name for v in element.variables()}
            for group in groups:
                bound = set(variables_in(group))
                target = _target(element)
                if names <= bound or (target not in given and names - bound == {target}):
                    group.append(element)
                    rest.remove(element)
                    changed = True
                    break
            if not names and element in rest:
                groups.append([element])
                rest.remove(element)
                changed = True
    return groups, rest


def _target(element: Element) -> str | None:
    """The variable that an equation can bind."""
    if isinstance(element, Comparison) and element.operator == "=":
        for one, other in ((element.left, element.right), (element.right, element.left)):
            if isinstance(one, Variable) and one.name not in {v.name for v in variables_of(other)}:
                return one.name
    return None

