"""Learnt rules as a rule file that `eventide run` accepts, and back. What the rules mean is the engine's business.

The learner asks at each observed point, for each instance whose arguments facts name; a rule file asks where conditions
are true. So that both say the same, a rule without a condition that says when gets `happensAt(observed, T)`, one that
initiates gets the known things of a type where no condition binds its arguments, and what is irreflexive says so.
A condition with time that is no event, such as `close(X, Y, 24, T)`, is written as an event of that name; a threshold
becomes a comparison.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, count
from typing import NamedTuple, Protocol

import numpy as np

from eventide.errors import EventideError, refuse_errors
from eventide.learning.clauses import NEGATIONS, Clause, Literal, Predicate
from eventide.learning.examples import CodedFacts, Examples
from eventide.learning.inference import Mode as Inference
from eventide.learning.modes import Mode
from eventide.syntax import reader
from eventide.syntax.conditions import conjuncts
from eventide.syntax.diagnostics import Diagnostic
from eventide.syntax.printer import term_text
from eventide.syntax.terms import Atom, Compound, Number, Term, Variable, functor_of, variables_of
from eventide.syntax.trees import FluentValue

TRUE = Atom("true")
_TESTS = {"lessThan": "=<", "greaterThan": ">="}


class Weighted(Protocol):
    """A clause and its weight."""

    @property
    def clause(self) -> Clause:
        """The rule."""

    @property
    def weight(self) -> float:
        """How much its vote counts."""


class WeightedClause(NamedTuple):
    """A rule as it was read."""

    clause: Clause
    weight: float


@dataclass(frozen=True, slots=True)
class Theory:
    """Rules about one fluent, with the examples they were learnt from, and a line about each rule, if any."""

    rules: Sequence[Weighted]
    examples: Examples
    inference: Inference = "vote"
    remarks: Sequence[str] = ()
    intervals: frozenset[str] = frozenset()
    """The input fluents that arrive as intervals."""
    derived: frozenset[str] = frozenset()
    """What background knowledge defines, so that it is not among the events."""

    @property
    def effective(self) -> list[tuple[Clause, float, str]]:
        """The rules that count, with the weights by which a vote gives what the theory's own inference gives."""
        remarks = self.remarks or [""] * len(self.rules)
        found = [(rule.clause, float(rule.weight), remark) for rule, remark in zip(self.rules, remarks, strict=True)]
        if self.inference == "crisp":
            return [(clause, 1.0, remark) for clause, _, remark in found]
        return [each for each in found if each[1] > 0] if self.inference == "algorithm1" else found


def rules_text(theories: Sequence[Theory], heading: str = "") -> str:
    """The rule file of theories about different fluents; `heading` becomes comments.

    >>> from eventide.learning.clauses import clause_of
    >>> from eventide.learning.examples import examples_of, table
    >>> from eventide.learning.modes import read_modes
    >>> modes, _ = read_modes("modeh(initiatedAt(rich(+person),+time))\\nmodeb(happensAt(win(+person),+time))")
    >>> wins = table("happensAt(win(+person),+time)", ["ann", "bob"], [3, 8])
    >>> examples = examples_of(modes, [wins], table("holdsAt(rich(+person),+time)", ["ann"], [8]))
    >>> rules = [WeightedClause(clause_of("initiatedAt(rich(X),T) :- happensAt(win(X),T)."), 2.0),
    ...          WeightedClause(clause_of("terminatedAt(rich(X),T) :- not happensAt(win(X),T)."), 0.5)]
    >>> print(rules_text([Theory(rules, examples)]))
    grounding(win(_)).
    happensAt(observed, T) :- happensAt(win(_), T).
    <BLANKLINE>
    weight(2.0)::initiatedAt(rich(X)=true, T) :-
        happensAt(win(X), T).
    <BLANKLINE>
    weight(0.5)::terminatedAt(rich(X)=true, T) :-
        happensAt(observed, T),
        \\+ happensAt(win(X), T).
    <BLANKLINE>
    """
    file = _File(theories)
    rules = [text for theory in theories for text in file.rules(theory)]
    comments = "\n".join(f"% {line}".rstrip() for line in heading.splitlines())
    return "\n\n".join([*([comments] if comments else []), "\n".join(file.declarations()), *rules]) + "\n"


def read_rules(text: str, examples: Examples, source: str = "<rules>") -> list[WeightedClause]:
    """The rules about the fluent of some examples in a rule file; those about other fluents are left out.

    A rule without a weight has the weight 1. What `rules_text` adds for `eventide run` is taken away again.

    >>> from eventide.learning.examples import examples_of, table
    >>> from eventide.learning.modes import read_modes
    >>> modes, _ = read_modes("modeh(initiatedAt(fast(+car),+time))\\nmodeb(speed(+car,#kmh,+time))\\n"
    ...     "comparisonPredicate(speed(+car,#kmh,+time), greaterThan, comparison_term_position(2))")
    >>> speeds = table("speed(+car,#kmh,+time)", ["a"], [90.0], [3])
    >>> examples = examples_of(modes, [speeds], table("holdsAt(fast(+car),+time)", ["a"], [8]))
    >>> text = "weight(2)::initiatedAt(fast(X)=true, T) :- happensAt(speed(X, V), T), V >= 80."
    >>> print(*read_rules(text, examples)[0])
    initiatedAt(fast(X), T) :- speed(X, 80, T). 2.0
    """
    clauses, problems = reader.read_clauses(text, source)
    found = _Reader(examples, problems)
    rules = [rule for clause in clauses if (rule := found.rule(clause)) is not None]
    refuse_errors(problems, {source: text})
    return rules


# -- writing -----------------------------------------------------------------------------------------------------------


class _File:
    """The names that a file needs besides its rules: `observed`, and the known things of each type."""

    def __init__(self, theories: Sequence[Theory]) -> None:
        self.derived = {theory.examples.target.subject for theory in theories}
        self.given = self.derived.union(*(theory.derived for theory in theories))
        self.intervals = frozenset[str]().union(*(theory.intervals for theory in theories))
        self.inputs: dict[str, CodedFacts] = {}
        for theory in theories:
            for facts in theory.examples.facts:
                self.inputs.setdefault(_text(event_of(facts.mode, facts.time, _open(facts.mode))), facts)
        taken = {facts.mode.subject for facts in self.inputs.values()} | self.derived
        self.observed = _free("observed", taken)
        types = dict.fromkeys(name for theory in theories for name in theory.examples.types)
        self.known = {name: _free(name, taken) for name in types}
        self.asked: set[str] = set()
        """The types whose known things rules ask about."""
        self.asks_when = False

    def rules(self, theory: Theory) -> Iterator[str]:
        """The rules of one theory."""
        effective = theory.effective
        if not any(functor_of(clause.head)[0] == "initiatedAt" for clause, _, _ in effective):
            effective = []  # what nothing initiates never holds
        for clause, weight, remark in effective:
            head, *goals = _Writer(clause, theory.examples, self).goals(weight)
            comment = f"% {remark}\n" if remark else ""
            body = " :-\n    " + ",\n    ".join(goals) if goals else ""
            yield f"{comment}weight({weight!r})::{head}{body}."

    def declarations(self) -> Iterator[str]:
        """What the rules need: the inputs by name, and what is made of them."""
        for name in sorted(self.asked):
            if any(self._of_type(facts, name) for facts in self._timed()):
                yield f"dynamicDomain({self.known[name]}(_))."
        for facts in self._timed():
            if facts.mode.subject not in self.given or any(self._of_type(facts, name) for name in self.asked):
                yield from self._declared(facts)
        for name in sorted(self.asked):
            if not any(self._of_type(facts, name) for facts in self._timed()):
                yield from self._timeless(name)
        if self.asks_when:
            for facts in filter(self.says_when, self._timed()):
                yield f"happensAt({self.observed}, T) :- {_condition(facts, _open(facts.mode), Variable('T'))}."

    def _timed(self) -> list[CodedFacts]:
        return [facts for facts in self.inputs.values()
                if facts.time is not None and facts.mode.subject not in self.derived]

    def says_when(self, facts: CodedFacts) -> bool:
        """Whether a condition about facts binds the time."""
        if facts.time is None or facts.mode.subject in self.derived:
            return False
        return not is_fluent(facts.mode) or facts.mode.subject not in self.intervals | self.given

    def _of_type(self, facts: CodedFacts, name: str) -> list[int]:
        """The places of facts that name things of a type."""
        return [i for i in _things(facts) if facts.mode.places[i].type == name]

    def _declared(self, facts: CodedFacts) -> Iterator[str]:
        values = _open(facts.mode)
        wanted = [i for name in sorted(self.asked) for i in self._of_type(facts, name)]
        for number, i in enumerate(wanted):
            values[i] = Variable(f"X{number}")
        event = _text(event_of(facts.mode, facts.time, values))
        if is_fluent(facts.mode) and facts.mode.subject not in self.given:
            how = "collectIntervals" if facts.mode.subject in self.intervals else "points"
            yield f"{how}({_text(event_of(facts.mode, facts.time, _open(facts.mode)))})."
            if not wanted:
                return
        domains = ", ".join(f"{self.known[facts.mode.places[i].type]}({values[i]})" for i in wanted)
        yield f"grounding({event}) :- {domains}." if wanted else f"grounding({event})."

    def _timeless(self, name: str) -> Iterator[str]:
        """The things of a type that only facts without time name."""
        for facts in self.inputs.values():
            for i in self._of_type(facts, name):
                values = _open(facts.mode)
                values[i] = Variable("X")
                yield f"{self.known[name]}(X) :- {term_text(facts.mode.filled(values))}."


class _Writer:
    """One clause as the head and the conditions of a rule."""

    def __init__(self, clause: Clause, examples: Examples, file: _File) -> None:
        self.clause, self.examples, self.file = clause, examples, file
        name, target = functor_of(clause.head)[0], examples.target
        assert isinstance(target.atom, Compound)
        found = Mode(Compound(name, target.atom.args), target.places).constants(clause.head)
        if found is None:
            raise EventideError(f"{clause}\n    the head is not a change of {target}")
        *self.arguments, self.time = found
        used = {str(variable) for atom in (clause.head, *(each.atom for each in clause.body))
                for variable in variables_of(atom)}
        self.fresh = (Variable(name) for number in count() if (name := f"D{number or ''}") not in used)

    def goals(self, weight: float) -> Iterator[str]:
        """The head, then its conditions; none for a rule that says what the others need."""
        initiates = functor_of(self.clause.head)[0] == "initiatedAt"
        assert isinstance(self.clause.head, Compound)
        fluent = _valued(self.clause.head.args[0])
        yield f"{self.clause.head.functor}({_text(fluent)}, {term_text(self.time)})"
        if weight <= 0 and not self.clause.body and len({a for a in self.arguments if isinstance(a, Variable)}) == len(
                self.arguments):
            return
        conditions, bound, timed = [], set[Term](), False
        for literal in self.clause.body:
            facts, values = self.table(literal)
            conditions.append(self.condition(literal, facts, values))
            if literal.positive and facts.time is not None:
                timed |= self.file.says_when(facts)
                bound |= {values[i] for i in _things(facts)}
        if not timed:
            self.file.asks_when = True
            yield f"happensAt({self.file.observed}, {self.time})"
        if initiates:  # what ends need not be looked for: it has begun
            for argument, type_ in zip(self.arguments, self.examples.types, strict=True):
                if argument not in bound:
                    bound.add(argument)
                    self.file.asked.add(type_)
                    yield f"{self.file.known[type_]}({term_text(self.constant(argument, type_))})"
        yield from conditions
        if initiates and self.examples.irreflexive:
            pairs = combinations(zip(self.arguments, self.examples.types, strict=True), 2)
            yield from dict.fromkeys(f"{term_text(one)} \\== {term_text(other)}"
                                     for (one, type_), (other, same) in pairs if type_ == same)

    def table(self, literal: Literal) -> tuple[CodedFacts, list[Term]]:
        """The facts that a literal is about, and what stands in their places."""
        for facts in self.examples.facts:
            found = facts.mode.constants(literal.atom)
            if found is not None:
                return facts, list(found)
        raise EventideError(f"{self.clause}\n    no table has facts like {literal}")

    def condition(self, literal: Literal, facts: CodedFacts, values: list[Term]) -> str:
        """A literal as a condition of a rule."""
        test = ""
        for i, place in enumerate(facts.mode.places):
            if i == facts.threshold and isinstance(values[i], Number):
                limit, values[i] = values[i], next(self.fresh)
                test = f", {values[i]} {_TESTS[facts.direction]} {term_text(limit)}"
            elif i not in (facts.threshold, facts.time):
                values[i] = self.constant(values[i], place.type)
        text = _condition(facts, values, self.time) + test
        return text if literal.positive else f"\\+ ({text})" if test else f"\\+ {text}"

    def constant(self, term: Term, type_: str) -> Term:
        """A number as the facts have it: 1 and 1.0 are different values of an argument."""
        if isinstance(term, Number):
            known = self.examples.domains.get(type_, np.empty(0))
            kind = known.dtype.kind if known.shape[0] else ""  # what has no values has no kind
            return Number(float(term.value)) if kind == "f" else Number(int(term.value)) if kind == "i" else term
        return term


def _things(facts: CodedFacts) -> list[int]:
    """The places of facts that name things: neither constants nor thresholds nor times."""
    return [i for i, place in enumerate(facts.mode.places)
            if place.kind != "#" and i not in (facts.time, facts.threshold)]


def _free(name: str, taken: set[str]) -> str:
    while name in taken:
        name = f"known_{name}"
    return name


def _open(mode: Mode) -> list[Term]:
    return [Variable("_")] * len(mode.places)


def is_fluent(mode: Mode) -> bool:
    return functor_of(mode.atom) == ("holdsAt", 2)


def _valued(fluent: Term) -> Term:
    return fluent if functor_of(fluent) == ("=", 2) else Compound("=", (fluent, TRUE))


def event_of(mode: Mode, time: int | None, values: Sequence[Term]) -> Term:
    """A fact with values in its places as an event, a fluent with its value, or, if it has no time, as it is.

    `time` is the place of the time.
    """
    atom = mode.filled(values)
    if time is None:
        return atom
    assert isinstance(atom, Compound)
    if is_fluent(mode):
        return _valued(atom.args[0])
    if functor_of(mode.atom) == ("happensAt", 2):
        return atom.args[0]
    path = mode.places[time].path
    if len(path) > 1:
        raise EventideError(f"{mode}: the time stands inside an argument, so that rules cannot ask about it")
    rest = tuple(arg for i, arg in enumerate(atom.args, 1) if i != path[0])
    return Compound(atom.functor, rest) if rest else Atom(atom.functor)


def _condition(facts: CodedFacts, values: Sequence[Term], time: Term) -> str:
    event = event_of(facts.mode, facts.time, values)
    if facts.time is None:
        return term_text(event)
    return f"{'holdsAt' if is_fluent(facts.mode) else 'happensAt'}({_text(event)}, {term_text(time)})"


def _text(term: Term) -> str:
    """A term, of a fluent with its value as rules write it."""
    if isinstance(term, Compound) and functor_of(term) == ("=", 2):
        return term_text(FluentValue(term.args[0], term.args[1]))
    return term_text(term)


# -- reading -----------------------------------------------------------------------------------------------------------


class _Reader:
    """Rules of a file as clauses over the shapes of examples."""

    def __init__(self, examples: Examples, report: list[Diagnostic]) -> None:
        self.examples, self.report = examples, report

    def rule(self, clause: reader.Clause) -> WeightedClause | None:
        """A rule about the fluent; None for everything else."""
        head, weight = clause.head, 1.0
        if isinstance(head, Compound) and functor_of(head) == ("::", 2):
            mark, head = head.args
            number = mark.args[0] if isinstance(mark, Compound) and functor_of(mark) == ("weight", 1) else None
            if not isinstance(number, Number) or not np.isfinite(number.value):
                self.error("bad-weight", f"{term_text(mark)} is not a weight", mark, "write weight(0.75)::")
                return None
            weight = float(number.value)
        if head is None or functor_of(head) not in (("initiatedAt", 2), ("terminatedAt", 2)):
            return None
        assert isinstance(head, Compound)
        target = self.examples.target
        assert isinstance(target.atom, Compound)
        shape = Mode(Compound(head.functor, target.atom.args), target.places)
        same = [Compound(head.functor, (fluent, head.args[1])) for fluent in _plain(head.args[0])]
        own = next((each for each in same if shape.constants(each) is not None), None)
        if own is None:
            return None
        arguments = shape.constants(own) or ()
        goals = list(conjuncts(clause.body)) if clause.body is not None else []
        tests = {goal.args[0]: goal for goal in goals if _is_test(goal) and isinstance(goal, Compound)}
        body = [literal for goal in goals
                if not _is_test(goal) and (literal := self.literal(goal, tests, head.args[1], arguments)) is not None]
        return WeightedClause(Clause(own, tuple(body)), weight)

    def error(self, code: str, message: str, place: Term, hint: str) -> None:
        self.report.append(Diagnostic("error", code, message, place.span, hint))

    def literal(self, goal: Term, tests: Mapping[Term, Compound], time: Term, head: Sequence[Term]) -> Literal | None:
        """A condition as a literal; None for what was added so that the rule runs by itself."""
        positive = True
        if isinstance(goal, Compound) and goal.functor in NEGATIONS and len(goal.args) == 1:
            positive, inner = False, list(conjuncts(goal.args[0]))
            own = [each for each in inner if not _is_test(each)]
            if len(own) == 1:
                goal = own[0]
                tests = {each.args[0]: each for each in inner if _is_test(each) and isinstance(each, Compound)}
        for facts in self.examples.facts:
            atom = self.atom(facts, goal, tests, time)
            if atom is not None:
                return Literal(atom, positive)
        added = isinstance(goal, Compound) and (
            goal.functor == "\\==" or (goal.functor == "happensAt" and isinstance(goal.args[0], Atom))
            or (len(goal.args) == 1 and goal.args[0] in head))
        if not (added and positive):
            self.error("unknown-condition", f"the examples have no facts like {term_text(goal)}", goal,
                       "known are " + ", ".join(str(facts.mode) for facts in self.examples.facts))
        return None

    def atom(self, facts: CodedFacts, goal: Term, tests: Mapping[Term, Compound], time: Term) -> Predicate | None:
        """A condition as an atom of the shape of some facts, its threshold put in."""
        holes = [Variable(f"_{i}") for i in range(len(facts.mode.places))]
        shown: Term = event_of(facts.mode, facts.time, holes)
        if facts.time is not None:
            shown = Compound("holdsAt" if is_fluent(facts.mode) else "happensAt", (shown, holes[facts.time]))
        found: dict[Term, Term] = {}
        if not _matches(shown, goal, found, set(holes)):
            return None
        values = [found[hole] for hole in holes]
        if facts.time is not None and values[facts.time] != time:
            return None
        if facts.threshold is not None:
            test = tests.get(values[facts.threshold])
            if test is not None and test.functor == _TESTS[facts.direction]:
                values[facts.threshold] = test.args[1]
        return facts.mode.filled(values)


def _is_test(goal: Term) -> bool:
    return isinstance(goal, Compound) and goal.functor in _TESTS.values() and isinstance(goal.args[1], Number)


def _plain(fluent: Term) -> list[Term]:
    """A fluent with its value, and, if this is `true`, without."""
    if isinstance(fluent, Compound) and functor_of(fluent) == ("=", 2) and fluent.args[1] == TRUE:
        return [fluent, fluent.args[0]]
    return [fluent]


def _matches(pattern: Term, term: Term, found: dict[Term, Term], holes: set[Variable]) -> bool:
    if isinstance(pattern, Variable) and pattern in holes:
        found[pattern] = term
        return True
    if isinstance(pattern, Compound):
        return (isinstance(term, Compound) and functor_of(pattern) == functor_of(term)
                and all(_matches(one, other, found, holes) for one, other in zip(pattern.args, term.args, strict=True)))
    return pattern == term
