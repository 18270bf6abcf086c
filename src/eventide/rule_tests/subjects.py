"""The facts and expectations of a test in the language of its program: what a line names, checked against the rules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from eventide.analysis.patterns import flatten, leaf_count, name_of
from eventide.analysis.unused import values_of
from eventide.errors import InputError
from eventide.formats.facts import Facts, FactTable, Value, column_of
from eventide.formats.problems import suggestion
from eventide.rule_tests.model import Expected, Given, Subject
from eventide.rule_tests.stretches import FOREVER, text_of
from eventide.syntax.diagnostics import Diagnostic, Span
from eventide.syntax.reader import read_clauses
from eventide.syntax.terms import Atom, Compound, ListTerm, Number, Term, Variable, is_ground

if TYPE_CHECKING:
    from eventide.program import Program


def refusal(code: str, message: str, span: Span, hint: str | None = None) -> InputError:
    """The error for a line that does not fit the program."""
    problem = Diagnostic("error", code, message, span, hint)
    return InputError(problem.render(), [problem])


def terms_in(text: str, span: Span) -> list[Term]:
    """The terms of a line, separated by commas; `span` begins with the text."""
    clauses, problems = read_clauses(f"{text} .", span.source)
    if problems:  # read again where it stands, so that all places in what is told are those of the file
        before = "\n" * (span.line - 1) + " " * (span.column - 1)
        told = read_clauses(f"{before}{text} .", span.source)[1][0]
        inside = told.span is not None and told.span.line == span.line
        raise refusal(told.code, told.message, told.span if inside and told.span is not None else span, told.hint)
    if len(clauses) != 1 or clauses[0].head is None or clauses[0].body is not None:
        raise refusal("not-a-fact", "this is no fact of the Event Calculus", span, "write win(ann), or rich(ann)=true")
    found: list[Term] = []
    rest: Term = clauses[0].head
    while isinstance(rest, Compound) and rest.functor == ",":
        found.append(rest.args[0])
        rest = rest.args[1]
    return [*found, rest]


def subject_of(term: Term, span: Span) -> tuple[Term, Subject]:
    """The term without its value, and what it names; `_` and variables stand for any."""
    value: str | None = None
    match term:
        case Compound("=", (fluent, held)):
            term, value = fluent, _text(held)
    if isinstance(term, Variable | Number | ListTerm):
        raise refusal("not-a-fact", f"`{term}` is no fluent and no event", span, "write win(ann), or rich(ann)=true")
    arguments = tuple("|".join(map(_text, term.args)).split("|")) if isinstance(term, Compound) else ()  # as in results
    return term, Subject(term.functor if isinstance(term, Compound) else term.name, arguments, value)


def _text(term: Term) -> str:
    return "_" if isinstance(term, Variable) else str(term)


@dataclass(frozen=True)
class Fact:
    """A ground fact of the input, and the line that gives it."""

    template: str
    leaves: tuple[Value, ...]
    value: Value | None
    given: Given
    text: str


class EventCalculusLines:
    """The lines of tests about an Event Calculus program."""

    def __init__(self, program: Program) -> None:
        self.program = program
        outputs = program.model.outputs
        self._events = {output.template for output in outputs if output.kind == "event"}
        self._fluents = {output.template for output in outputs if output.kind == "fluent"}
        self._values = values_of(program.model)

    def expected(self, line: Expected) -> Subject:
        """What a line of `then` is about; InputError if the program does not derive it."""
        found = terms_in(line.text, line.span)
        if len(found) != 1:
            raise refusal("two-on-a-line", "each line of `then` is about one fluent or event", line.span,
                          "put the others on lines of their own")
        term, subject = subject_of(found[0], line.span)
        template = flatten(term)[0]
        shapes = [t for t in (*self._fluents, *self._events) if _fits(t, term)]
        if not shapes:
            same = sorted(t for t in (*self._fluents, *self._events) if name_of(t) == subject.name)
            hint = f"it derives {' and '.join(same)}" if same else suggestion(subject.name, self.program.fluents) \
                or f"it derives {', '.join(self.program.fluents) or 'nothing'}"
            raise refusal("not-derived", f"the program does not derive {template}", line.span, hint)
        if subject.value is None and not any(t in self._events for t in shapes):
            raise refusal("no-value", f"{subject} is a fluent, and this line does not say which value", line.span,
                          f"write {subject}=true, or whatever value it is to have")
        if subject.value is not None and not any(t in self._fluents for t in shapes):
            raise refusal("value-of-event", f"{subject.name} is an event, which has no value", line.span,
                          "leave out the value")
        if subject.value not in (None, "_"):
            known = [self._values.get(shape) for shape in shapes]
            if all(values is not None and subject.value not in values for values in known):
                names = sorted({value for values in known for value in values or ()})
                raise refusal("unknown-value", f"no rule gives {template} the value {subject.value}", line.span,
                              suggestion(str(subject.value), names) or f"its values are {', '.join(names)}")
        return subject

    def given(self, line: Given) -> None:
        """InputError for a fact that the program does not know."""
        for _ in self._facts(line):
            pass

    def known(self, given: Iterable[Given]) -> list[Fact]:
        """The facts that lines name; InputError for those that the program does not know."""
        return [fact for line in given for fact in self._facts(line)]

    def _facts(self, line: Given) -> Iterator[Fact]:
        terms = terms_in(line.text, line.span)
        for term in terms:
            yield self._fact(term, line, line.text if len(terms) == 1 else str(term))

    def facts(self, known: Iterable[Fact]) -> Facts:
        """Facts as the program reads them."""
        groups: dict[tuple[str, int], list[Fact]] = {}
        for fact in known:
            groups.setdefault((name_of(fact.template), leaf_count(fact.template)), []).append(fact)
        facts: Facts = self.program.read(Facts({key: self._table(key[0], rows) for key, rows in groups.items()}))
        return facts

    def _fact(self, term: Term, line: Given, text: str) -> Fact:
        if isinstance(term, Compound) and term.functor == "::":
            raise refusal("uncertain-fact", "facts of tests are certain", line.span, "leave out the probability")
        inner, subject = subject_of(term, line.span)
        template, leaves = flatten(inner)
        inputs = self.program.model.inputs
        shape = next((t for t in inputs if _fits(t, inner)), None)
        if shape is None:
            same = sorted(t for t in inputs if name_of(t) == subject.name)
            derived = subject.name in self.program.fluents and not same
            hint = f"the program reads {' and '.join(same)}" if same else suggestion(
                subject.name, [name_of(t) for t in inputs]) or f"it reads {', '.join(inputs) or 'nothing'}"
            raise refusal("unknown-fact", f"the program derives {subject.name} itself" if derived else
                          f"the program does not read {template}", line.span, hint)
        kind = inputs[shape]
        if not is_ground(term):
            raise refusal("fact-with-variable", f"the fact {subject} has a variable", line.span,
                          "facts have values for all arguments; words begin with a small letter or are in quotes")
        if (kind == "event") != (subject.value is None):
            raise refusal("no-value" if kind != "event" else "value-of-event",
                          f"{subject.name} is {'an event' if kind == 'event' else 'a fluent of the input'}", line.span,
                          "leave out the value" if kind == "event" else f"write {subject}=true, or another value")
        if (kind == "interval") == line.is_point:
            raise refusal("wrong-time", f"{subject.name} comes as {'intervals' if kind == 'interval' else 'points'}",
                          line.span, "write `[3, 9)` before it" if kind == "interval" else "write one time before it")
        if kind == "interval" and (line.when[0][0] == -FOREVER or line.when[1][0] == FOREVER):
            raise refusal("no-end", f"the interval {text_of([line.when])} is not finite", line.span,
                          "intervals of the input have a beginning and an end")
        if shape != template:  # an argument of the template stands for a whole compound
            leaves = _leaves_like(shape, inner)
        value = None
        if isinstance(term, Compound) and subject.value is not None:
            value = _value(term.args[1])
        return Fact(shape, tuple(map(_value, leaves)), value, line, text)

    def _table(self, name: str, rows: Sequence[Fact]) -> FactTable:
        kind = self.program.model.inputs[rows[0].template]
        back = [row for row in rows if row.given.retracted is not None]
        every = [*rows, *back]
        times = [row.given.when[0][0] for row in every]
        arrivals = [arrival(row.given) for row in rows] + [int(row.given.retracted or 0) for row in back]
        late = any(a != t for a, t in zip(arrivals, times, strict=True))
        return FactTable(
            name, kind, np.array(times, np.int64),
            tuple(column_of([row.leaves[i] for row in every]) for i in range(len(rows[0].leaves))),
            np.array([row.given.when[1][0] for row in every], np.int64) if kind == "interval" else None,
            None if kind == "event" else column_of([row.value for row in every]),  # type: ignore[misc]
            np.array(arrivals, np.int64) if late else None, None,
            np.array([1] * len(rows) + [-1] * len(back), np.int8) if back else None,
            np.array([row.given.span.line for row in every], np.int64), ((rows[0].given.span.source, 0),))


def arrival(given: Given) -> int:
    """When a fact arrives: when it happens, if its line does not say."""
    return int(given.when[0][0]) if given.arrives is None else given.arrives


@cache
def _shape(template: str) -> Term | None:
    clauses, _ = read_clauses(f"{template} .", "")
    return clauses[0].head if clauses else None


def _fits(template: str, term: Term) -> bool:
    """Whether a term has the shape of a template; a leaf stands for anything."""
    shape = _shape(template)
    return shape is not None and _alike(shape, term)


def _alike(shape: Term, term: Term) -> bool:
    if isinstance(shape, Variable):
        return True
    if isinstance(shape, Compound):
        return isinstance(term, Compound) and shape.functor == term.functor and len(shape.args) == len(term.args) \
            and all(map(_alike, shape.args, term.args))
    return isinstance(term, Variable) or shape == term


def _leaves_like(template: str, term: Term) -> tuple[Term, ...]:
    shape = _shape(template)
    assert shape is not None
    return tuple(_leaves(shape, term))


def _leaves(shape: Term, term: Term) -> Iterable[Term]:
    if isinstance(shape, Variable):
        yield term
    elif isinstance(shape, Compound) and isinstance(term, Compound):
        for one, other in zip(shape.args, term.args, strict=True):
            yield from _leaves(one, other)


def _value(term: Term) -> Any:
    """A term as a value of a table: words and compounds as text."""
    if isinstance(term, Number):
        return term.value
    return term.name if isinstance(term, Atom) else str(term)
