"""On-the-fly grounding: rules are instantiated by what comes to hold, and instances end with it. Computes no answers.

W. Mebrek and A. Bouzeghoub, "Multi-context incremental reasoning over data streams" (WI-IAT 2023), Algorithms 1 and 2.
There a signal grounds the rules that mention it; here whatever comes to hold does: a fact that is seen in a window, or
an atom that was concluded. Nothing is declared beforehand. An *element* is a ground part of a body, such as `p(1) [3]`.
`add` an element, and all instances that it completes come out; `remove` it, and all that need it come out. Each
instance is found once: by the last of its elements that came.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from eventide.analysis.patterns import substitute
from eventide.lars.values import Value, compare, evaluate, ground_text, term_of, value_of
from eventide.syntax.lars_trees import Comparison, Literal, Predicate, Rule, Window, argument_text
from eventide.syntax.lars_trees import Element as Part
from eventide.syntax.terms import Term, Variable, arguments_of

Row = tuple[Value, ...]
"""The arguments of an atom; with the modality `at` also its time, as the last."""
Atom = tuple[str, Row]
Binding = dict[str, Value]


@dataclass(frozen=True, slots=True)
class Pattern:
    """What is asked of a predicate: now, sometime, always or at a time, within which window."""

    predicate: Predicate
    modality: str
    window: Window | None


class Element(NamedTuple):
    """A ground part of a body; `pattern` is the number of its pattern."""

    pattern: int
    row: Row


@dataclass(frozen=True, slots=True, eq=False)
class Instance:
    """A ground rule: what must hold, what must not, and what is concluded (nothing: a contradiction).

    `time` is the time at which the head is concluded, `None` for now. `binding` are the values of the variables of the
    rule in order of their names.
    """

    rule: int
    positive: tuple[Element, ...]
    negative: tuple[Element, ...]
    head: Atom | None
    time: Value | None
    binding: tuple[tuple[str, Value], ...]


@dataclass(frozen=True, slots=True)
class _Join:
    """Look up rows of a pattern by the places that are bound; `earlier`: not the very element that began the join."""

    literal: int
    pattern: int
    bound: tuple[int, ...]
    earlier: bool


_Step = _Join | Comparison
_TRIED = 1000  # so many ways to go on are looked at


class _Rows:
    """The rows of a pattern that hold, and indexes on those places by which joins look them up."""

    def __init__(self) -> None:
        self.rows: dict[Row, None] = {}
        self.indexes: dict[tuple[int, ...], dict[Row, dict[Row, None]]] = {}

    def add(self, row: Row) -> None:
        self.rows[row] = None
        for places, index in self.indexes.items():
            index.setdefault(tuple([row[place] for place in places]), {})[row] = None

    def remove(self, row: Row) -> None:
        del self.rows[row]
        for places, index in self.indexes.items():
            key = tuple([row[place] for place in places])
            del index[key][row]
            if not index[key]:
                del index[key]

    def matching(self, places: tuple[int, ...], key: Row) -> Iterable[Row]:
        return tuple(self.indexes[places].get(key, ())) if places else tuple(self.rows)


class Grounder:
    """The instances of rules for the elements that hold; `besides` are patterns that no rule reads.

    >>> from eventide.syntax.lars import parse
    >>> grounder = Grounder(parse("h(X) :- p(X) [2], s(X,Y), Y > 1.").tree.rules)
    >>> some, now = range(2)
    >>> list(grounder.add(Element(some, ("a",)))), list(grounder.add(Element(now, ("a", 1))))
    ([], [])
    >>> [instance] = grounder.add(Element(now, ("a", 2)))
    >>> instance.head, len(instance.positive)
    (('h', ('a',)), 2)
    >>> list(grounder.remove(Element(some, ("a",)))) == [instance]
    True
    """

    def __init__(self, rules: Sequence[Rule], besides: Iterable[Pattern] = ()) -> None:
        self.rules = tuple(rules)
        self.patterns: list[Pattern] = []
        self.grounded = 0
        """How many instances have been made so far."""
        self._numbers: dict[Pattern, int] = {}
        self._positive = [[literal for literal in rule.literals if not literal.negated] for rule in self.rules]
        self._negative = [[literal for literal in rule.literals if literal.negated] for rule in self.rules]
        for rule in self.rules:
            for literal in rule.literals:
                self._number(_pattern_of(literal))
        for pattern in besides:
            self._number(pattern)
        self._rows = [_Rows() for _ in self.patterns]
        self._plans: list[list[tuple[int, int, tuple[_Step, ...]]]] = [[] for _ in self.patterns]
        self._start_plans: list[tuple[int, tuple[_Step, ...]]] = []
        for number in range(len(self.rules)):
            self._plan(number)
        self._needing: dict[Element, dict[Instance, None]] = {}

    def __len__(self) -> int:
        """How many elements hold."""
        return sum(len(rows.rows) for rows in self._rows)

    def pattern(self, literal: Literal) -> int:
        """The number of a literal's pattern."""
        return self._numbers[_pattern_of(literal)]

    def without_positive(self) -> Iterator[Instance]:
        """The instances of rules whose bodies have no atom but negated ones."""
        for number, plan in self._start_plans:
            yield from self._instances(number, plan, {}, (), None)

    def add(self, element: Element) -> list[Instance]:
        """An element has come to hold: the instances that it completes."""
        self._rows[element.pattern].add(element.row)
        found: list[Instance] = []
        for number, place, plan in self._plans[element.pattern]:
            literal = self._positive[number][place]
            binding = _match(_terms(literal), element.row, {})
            if binding is not None:
                found += self._instances(number, plan, binding, ((place, element),), element)
        for instance in found:
            for needed in set(instance.positive):
                self._needing.setdefault(needed, {})[instance] = None
        return found

    def remove(self, element: Element) -> list[Instance]:
        """An element holds no more: the instances that end with it."""
        self._rows[element.pattern].remove(element.row)
        ended = list(self._needing.pop(element, ()))
        for instance in ended:
            for needed in set(instance.positive):
                others = self._needing.get(needed)
                if others is not None:
                    del others[instance]
                    if not others:
                        del self._needing[needed]
        return ended

    def holds(self, element: Element) -> bool:
        """Whether an element has been added and not removed."""
        return element.row in self._rows[element.pattern].rows

    def rows(self, pattern: int) -> tuple[Row, ...]:
        """The rows of a pattern that hold."""
        return tuple(self._rows[pattern].rows)

    def nearest(self, number: int, binding: Binding) -> tuple[Binding, tuple[tuple[Part, bool | None], ...]]:
        """How far a rule comes with some variables bound: the values with which most parts of its body hold, and all
        parts in the order in which they were tried: those that hold, the one that fails first, those left untried.

        Parts are tried in the order of the text, as far as their variables allow it. What may hold counts as holding.

        >>> from eventide.syntax.lars import parse
        >>> grounder = Grounder(parse("h(X) :- p(X), q(X,Y), Y > 1, not r(X).").tree.rules)
        >>> added = [grounder.add(Element(place, row)) for place, row in enumerate([("a",), ("a", 1)])]
        >>> binding, parts = grounder.nearest(0, {"X": "a"})
        >>> binding["Y"], [(str(part), held) for part, held in parts]
        (1, [('p(a)', True), ('q(a,1)', True), ('1 > 1', False), ('not r(a)', None)])
        """
        body = self.rules[number].body
        best: tuple[Binding, tuple[int, ...]] = (binding, ())
        waiting, tried = [best], 0
        while waiting and tried < _TRIED:
            known, held = waiting.pop()
            tried += 1
            if len(held) > len(best[1]):
                best = known, held
            place = self._next_part(body, held, known)
            if place is None:
                break
            waiting += [(more, (*held, place)) for more in reversed(list(self._ways(body[place], known)))]
        known, held = best
        failed = self._next_part(body, held, known)
        order = [*held, *([] if failed is None else [failed])]
        rest = [place for place in range(len(body)) if place not in order]
        terms = {name: term_of(value) for name, value in known.items()}
        parts = [substitute(body[place], terms) for place in (*order, *rest)]
        return known, tuple((part, True if at < len(held) else False if at == len(held) else None)
                            for at, part in enumerate(parts))

    def _next_part(self, body: Sequence[Part], held: Sequence[int], known: Binding) -> int | None:
        """The first part of a body that is left and can be decided."""
        bound = set(known)
        return next((place for place, part in enumerate(body) if place not in held and (
            _is_ready(part, bound) if isinstance(part, Comparison) else
            not part.negated or {variable.name for variable in part.variables()} <= bound)), None)

    def _ways(self, part: Part, known: Binding) -> Iterator[Binding]:
        """The bindings under which a part of a body holds."""
        if isinstance(part, Comparison):
            extended = _decide(part, known)
            if extended is not None:
                yield extended
        elif part.negated:
            if not self.holds(Element(self.pattern(part), _row(_terms(part), known))):
                yield known
        else:
            terms = _terms(part)
            yield from filter(None, (_match(terms, row, known) for row in self.rows(self.pattern(part))))

    # Before the first fact: in which order the parts of a body are looked up

    def _number(self, pattern: Pattern) -> int:
        if pattern not in self._numbers:
            self._numbers[pattern] = len(self.patterns)
            self.patterns.append(pattern)
        return self._numbers[pattern]

    def _plan(self, number: int) -> None:
        positive = self._positive[number]
        for place, literal in enumerate(positive):
            self._plans[self.pattern(literal)].append((number, place, self._steps(number, place)))
        if not positive:
            self._start_plans.append((number, self._steps(number, None)))

    def _steps(self, number: int, first: int | None) -> tuple[_Step, ...]:
        """The rest of a body from one atom on: comparisons as soon as they can be decided, then what is bound most."""
        literals = self._positive[number]
        rest = [place for place in range(len(literals)) if place != first]
        comparisons = list(self.rules[number].comparisons)
        bound = set() if first is None else {variable.name for variable in literals[first].variables()}
        steps: list[_Step] = []
        while rest or comparisons:
            ready = next((one for one in comparisons if _is_ready(one, bound)), None)
            if ready is not None:
                comparisons.remove(ready)
                steps.append(ready)
                bound.update(variable.name for variable in ready.variables())
                continue
            assert rest, "unsafe rules are refused before"
            place = max(rest, key=lambda one: (len(_bound_places(literals[one], bound)), -one))
            rest.remove(place)
            literal = literals[place]
            earlier = first is not None and place < first
            join = _Join(place, self.pattern(literal), _bound_places(literal, bound), earlier)
            if join.bound:
                self._rows[join.pattern].indexes.setdefault(join.bound, {})
            steps.append(join)
            bound.update(variable.name for variable in literal.variables())
        return tuple(steps)

    # While facts come

    def _instances(self, number: int, steps: Sequence[_Step], binding: Binding,
                   chosen: tuple[tuple[int, Element], ...], first: Element | None) -> Iterator[Instance]:
        for position, step in enumerate(steps):
            if isinstance(step, Comparison):
                extended = _decide(step, binding)
                if extended is None:
                    return
                binding = extended
                continue
            terms = _terms(self._positive[number][step.literal])
            key = tuple([_ground(terms[place], binding) for place in step.bound])
            for row in self._rows[step.pattern].matching(step.bound, key):
                element = Element(step.pattern, row)
                matched = None if step.earlier and element == first else _match(terms, row, binding)
                if matched is not None:
                    yield from self._instances(number, steps[position + 1:], matched,
                                               (*chosen, (step.literal, element)), first)
            return
        yield self._instance(number, binding, chosen)

    def _instance(self, number: int, binding: Binding, chosen: tuple[tuple[int, Element], ...]) -> Instance:
        self.grounded += 1
        head = self.rules[number].head
        return Instance(
            number,
            tuple(element for _, element in sorted(chosen, key=lambda one: one[0])),
            tuple(Element(self.pattern(literal), _row(_terms(literal), binding)) for literal in self._negative[number]),
            None if head is None else (head.predicate[0], _row(arguments_of(head.atom), binding)),
            None if head is None or head.time is None else _ground(head.time, binding),
            tuple(sorted(binding.items())))


def element_text(pattern: Pattern, row: Row) -> str:
    """A ground part of a body as programs write it.

    >>> element_text(Pattern(("p", 1), "at", Window("tuple", 2)), ("a", 3))
    'p(a) at 3 [2 #]'
    """
    name, arity = pattern.predicate
    parts = [ground_text(name, row[:arity])]
    if pattern.modality == "always" or (pattern.modality == "sometime" and pattern.window is None):
        parts.append(pattern.modality)
    if pattern.modality == "at":
        parts.append(f"at {row[arity]}")
    if pattern.window is not None:
        by = ", ".join(argument_text(term_of(row[place])) for place in pattern.window.by)
        count = "" if pattern.window.kind == "time" else " #"
        parts.append(f"[{pattern.window.size}{count}{f' by {by}' if by else ''}]")
    return " ".join(parts)


def _pattern_of(literal: Literal) -> Pattern:
    return Pattern(literal.predicate, literal.modality, literal.window)


def _terms(literal: Literal) -> tuple[Term, ...]:
    """The arguments of an atom, and its time as the last."""
    arguments = arguments_of(literal.atom)
    return arguments if literal.time is None else (*arguments, literal.time)


def _bound_places(literal: Literal, bound: set[str]) -> tuple[int, ...]:
    return tuple(place for place, term in enumerate(_terms(literal))
                 if not isinstance(term, Variable) or term.name in bound)


def _is_ready(comparison: Comparison, bound: set[str]) -> bool:
    """Whether a comparison can be decided, or binds the one variable that is left."""
    unknown = [side for side in (comparison.left, comparison.right)
               if not {variable.name for variable in _variables(side)} <= bound]
    return not unknown or (comparison.operator == "=" and len(unknown) == 1 and isinstance(unknown[0], Variable))


def _variables(term: Term) -> Iterator[Variable]:
    if isinstance(term, Variable):
        yield term
    for argument in arguments_of(term):
        yield from _variables(argument)


def _match(terms: tuple[Term, ...], row: Row, binding: Binding) -> Binding | None:
    """The binding under which terms are a row, or None."""
    extended = dict(binding)
    for term, value in zip(terms, row, strict=True):
        if not isinstance(term, Variable):
            if value_of(term) != value:
                return None
        elif extended.setdefault(term.name, value) != value:
            return None
    return extended


def _decide(comparison: Comparison, binding: Binding) -> Binding | None:
    """The binding if a comparison holds, with the variable that it binds; None if it does not hold."""
    for variable, other in ((comparison.left, comparison.right), (comparison.right, comparison.left)):
        if isinstance(variable, Variable) and variable.name not in binding:
            value = evaluate(other, binding)
            return None if value is None else {**binding, variable.name: value}
    left, right = evaluate(comparison.left, binding), evaluate(comparison.right, binding)
    holds = left is not None and right is not None and compare(comparison.operator, left, right)
    return binding if holds else None


def _ground(term: Term, binding: Binding) -> Value:
    return binding[term.name] if isinstance(term, Variable) else value_of(term)


def _row(terms: Iterable[Term], binding: Binding) -> Row:
    return tuple([_ground(term, binding) for term in terms])
