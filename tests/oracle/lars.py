"""LARS by its definition: every interpretation is tried, with the FLP reduct. Slow and obvious; for tiny cases.

A stream is a list of (time, facts in order of arrival), a fact being text such as `p(a,3)`. An answer stream is a set
of (atom as text, time-point): what it says of the predicates that stand in heads, input facts among them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, combinations

from eventide.syntax.lars import parse
from eventide.syntax.lars_trees import Comparison, LarsTree, Literal, Predicate, Rule, Window, atom_text
from eventide.syntax.terms import Atom, Compound, Number, Term, Variable, arguments_of, functor_of

Stream = Sequence[tuple[int, Sequence[str]]]
Binding = dict[str, Term]
Point = tuple[Predicate, tuple[Term, ...], int]
"""A ground atom at a time-point."""
AnswerStream = frozenset[tuple[str, int]]


def program(text: str) -> LarsTree:
    """The tree of a program without mistakes."""
    parsed = parse(text)
    assert not [d for d in parsed.diagnostics if d.severity == "error"], parsed.diagnostics
    return parsed.tree


@dataclass
class Data:
    """The stream up to t: input facts in order of arrival, each once per time-point, and background facts."""

    t: int
    arrived: list[Point]
    background: set[tuple[Predicate, tuple[Term, ...]]]

    @classmethod
    def upto(cls, tree: LarsTree, stream: Stream, t: int) -> Data:
        """What is known at t."""
        arrived: dict[Point, None] = {}
        for time, facts in stream:
            for text in facts if time <= t else ():
                (fact,) = program(f"{text}.").facts
                arrived[functor_of(fact), arguments_of(fact), time] = None
        return cls(t, list(arrived), {(functor_of(fact), arguments_of(fact)) for fact in tree.facts})

    def points(self) -> set[Point]:
        """All that holds before any rule is applied."""
        return set(self.arrived) | {(p, args, k) for p, args in self.background for k in range(self.t + 1)}

    def start(self, window: Window | None, point: Point) -> int:
        """The first time-point of a window, as far as an atom like this one is asked."""
        if window is None:
            return 0
        if window.kind == "time":
            return max(0, self.t - window.size)
        counted = self.counted(window, point)
        return counted[-window.size][2] if len(counted) >= window.size else 0

    def counted(self, window: Window, point: Point) -> list[Point]:
        """The facts that a window of tuples counts."""
        if window.kind == "tuple":
            return self.arrived
        predicate, args, _ = point
        return [other for other in self.arrived if other[0] == predicate
                and all(other[1][place] == args[place] for place in window.by)]

    def sees(self, window: Window | None, point: Point) -> bool:
        """Whether a window shows an atom that holds at a time-point."""
        if not self.start(window, point) <= point[2] <= self.t:
            return False
        if window is None or window.kind == "time" or point[:2] in self.background or point not in self.arrived:
            return True
        return point in self.counted(window, point)[-window.size:]


def holds(literal: Literal, args: tuple[Term, ...], time: int | None, known: set[Point], data: Data) -> bool:
    """Whether a ground literal, without its `not`, holds in an interpretation."""
    def seen(k: int) -> bool:
        point = (literal.predicate, args, k)
        return point in known and data.sees(literal.window, point)

    if literal.modality == "now":
        return (literal.predicate, args, data.t) in known
    if literal.modality == "at":
        return time is not None and seen(time)
    points = range(data.start(literal.window, (literal.predicate, args, data.t)), data.t + 1)
    return any(map(seen, points)) if literal.modality == "sometime" else all(map(seen, points))


def value_of(term: Term, binding: Binding) -> Term | None:
    """The value of an expression; None where it has none."""
    if isinstance(term, Variable):
        return binding.get(term.name)
    if not isinstance(term, Compound):
        return term
    left, right = (value_of(side, binding) for side in term.args)
    if not isinstance(left, Number) or not isinstance(right, Number):
        return None
    a, b = left.value, right.value
    if term.functor in ("/", "%"):
        if b == 0:
            return None
        if isinstance(a, int) and isinstance(b, int):
            quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
            return Number(quotient if term.functor == "/" else a - quotient * b)
        return Number(a / b) if term.functor == "/" else None
    if term.functor == "^":
        return Number(a**b) if b >= 0 else None
    return Number({"+": a + b, "-": a - b, "*": a * b}[term.functor])


def compares(operator: str, left: Term | None, right: Term | None) -> bool:
    """Whether a comparison of values holds; order is between numbers."""
    if left is None or right is None:
        return False
    if isinstance(left, Number) and isinstance(right, Number):
        a, b = left.value, right.value
        return {"=": a == b, "!=": a != b, "<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b}[operator]
    return (operator == "=" and left == right) or (operator == "!=" and left != right)


def matched(pattern: tuple[Term, ...], values: tuple[Term, ...], binding: Binding) -> Binding | None:
    """The binding that makes the pattern the values, or None."""
    found = dict(binding)
    for term, value in zip(pattern, values, strict=True):
        if isinstance(term, Variable):
            if found.setdefault(term.name, value) != value:
                return None
        elif term != value:
            return None
    return found


def bindings(rule: Rule, possible: set[Point], data: Data) -> Iterator[Binding]:
    """All ways to bind the variables of a rule by atoms that are possible at all."""
    def bind(rest: list[Literal | Comparison], binding: Binding) -> Iterator[Binding]:
        if not rest:
            yield binding
            return
        for index, element in enumerate(rest):  # comparisons as soon as they can be decided, or bind a variable
            if isinstance(element, Comparison):
                others = rest[:index] + rest[index + 1:]
                if all(v.name in binding for v in element.variables()):
                    if compares(element.operator, value_of(element.left, binding), value_of(element.right, binding)):
                        yield from bind(others, binding)
                    return
                for one, other in ((element.left, element.right), (element.right, element.left)):
                    value = value_of(other, binding)
                    if element.operator == "=" and isinstance(one, Variable) and value is not None:
                        yield from bind(others, {**binding, one.name: value})
                        return
        literal = next((e for e in rest if isinstance(e, Literal)), None)
        if literal is None:
            return  # an expression without a value
        others = [e for e in rest if e is not literal]
        candidates = {(args, k if literal.modality == "at" else 0) for p, args, k in possible
                      if p == literal.predicate and k <= data.t}
        for args, k in candidates:
            found = matched(arguments_of(literal.atom), args, binding)
            if found is not None and literal.time is not None:
                found = matched((literal.time,), (Number(k),), found)
            if found is not None:
                yield from bind(others, found)

    yield from bind([e for e in rule.body if not (isinstance(e, Literal) and e.negated)], {})


@dataclass(frozen=True)
class Instance:
    """A ground rule."""

    head: Point | None
    body: tuple[tuple[Literal, tuple[Term, ...], int | None], ...]
    rule: Rule
    binding: tuple[Term, ...]

    def fires(self, known: set[Point], data: Data) -> bool:
        """Whether the body holds in an interpretation."""
        return all(holds(literal, args, time, known, data) != literal.negated for literal, args, time in self.body)


def _whole(term: Term | None) -> int | None:
    return term.value if isinstance(term, Number) and isinstance(term.value, int) else None


def instances(tree: LarsTree, data: Data) -> list[Instance]:
    """The ground rules whose positive atoms are possible if all negation is taken as true."""
    possible = data.points()
    while True:
        found: dict[Instance, None] = {}
        for rule in tree.rules:
            names = list(dict.fromkeys(v.name for e in rule.body for v in e.variables()))
            for binding in bindings(rule, possible, data):
                def ground(atom: Atom | Compound, bound: Binding = binding) -> tuple[Term, ...]:
                    return tuple(bound.get(a.name, a) if isinstance(a, Variable) else a for a in arguments_of(atom))

                head = None
                if rule.head is not None:
                    time = data.t if rule.head.time is None else _whole(value_of(rule.head.time, binding))
                    if time is None or not 0 <= time <= data.t:
                        continue
                    head = (rule.head.predicate, ground(rule.head.atom), time)
                body = tuple((element, ground(element.atom), None if element.time is None
                              else _whole(value_of(element.time, binding))) for element in rule.literals)
                found[Instance(head, body, rule, tuple(binding[name] for name in names if name in binding))] = None
        reached = possible | {instance.head for instance in found if instance.head is not None}
        if reached == possible:
            return list(found)
        possible = reached


def answer_streams(tree: LarsTree, stream: Stream, t: int, *, constraints: bool = True) -> set[AnswerStream]:
    """All answer streams at t; with constraints, those in which a contradiction holds are left out."""
    data = Data.upto(tree, stream, t)
    ground = [i for i in instances(tree, data) if constraints or i.head is not None]
    given = data.points()
    free = sorted({i.head for i in ground if i.head is not None} - given, key=str)
    assert len(free) <= 14, f"{len(free)} atoms are too many for the definition"

    def closed(rules: list[Instance], known: set[Point]) -> bool:
        return all(i.head is not None and i.head in known for i in rules if i.fires(known, data))

    def subsets(points: Sequence[Point]) -> Iterator[set[Point]]:
        for chosen in chain.from_iterable(combinations(points, n) for n in range(len(points) + 1)):
            yield given | set(chosen)

    found = set()
    for known in subsets(free):
        reduct = [i for i in ground if i.fires(known, data)]
        smaller = [other for other in subsets(sorted(known - given, key=str)) if other != known]
        if closed(reduct, known) and not any(closed(reduct, other) for other in smaller):
            found.add(shown(tree, known))
    return found


def violations(tree: LarsTree, stream: Stream, t: int, answer: AnswerStream) -> set[tuple[str, tuple[str, ...]]]:
    """The contradictions in an answer stream that was computed without them: the rule and its binding, as text."""
    data = Data.upto(tree, stream, t)
    heads = {rule.head.predicate for rule in tree.rules if rule.head is not None}
    known = {point for point in data.points() if point[0] not in heads}
    for text, time in answer:
        (fact,) = program(f"{text}.").facts
        known.add((functor_of(fact), arguments_of(fact), time))
    only = LarsTree(tree.facts, tuple(rule for rule in tree.rules if rule.head is None))
    ground = []
    for rule in only.rules:
        ground += [i for i in _ground_constraint(rule, known, data) if i.fires(known, data)]
    return {(str(i.rule).removesuffix("."), tuple(str(Literal(Compound("v", (term,))))[2:-1] for term in i.binding))
            for i in ground}


def _ground_constraint(rule: Rule, known: set[Point], data: Data) -> list[Instance]:
    names = list(dict.fromkeys(v.name for e in rule.body for v in e.variables()))
    found = []
    for binding in bindings(rule, known, data):
        body = tuple((e, tuple(binding.get(a.name, a) if isinstance(a, Variable) else a for a in arguments_of(e.atom)),
                      None if e.time is None else _whole(value_of(e.time, binding))) for e in rule.literals)
        found.append(Instance(None, body, rule, tuple(binding[name] for name in names)))
    return found


def shown(tree: LarsTree, known: set[Point]) -> AnswerStream:
    """What an interpretation says of the predicates in heads."""
    heads = {rule.head.predicate for rule in tree.rules if rule.head is not None}
    return frozenset((atom_text(Compound(p[0], args) if args else Atom(p[0])), k) for p, args, k in known if p in heads)
