"""The head of a clause says what the clause is: one method for each kind of rule and declaration."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Literal

from eventide.syntax.conditions import BodyReader, Role
from eventide.syntax.diagnostics import Diagnostic, Span
from eventide.syntax.printer import term_text
from eventide.syntax.rewriting import renumbered, variables_in
from eventide.syntax.shapes import Shapes, tight_text
from eventide.syntax.terms import Atom, Compound, ListTerm, Number, Term, Variable, arguments_of, functor_of, is_ground
from eventide.syntax.trees import (
    Allen,
    BackgroundClause,
    Body,
    ChangeRule,
    Declaration,
    DelayRule,
    EventRule,
    FluentValue,
    Grounding,
    Happens,
    InitialRule,
    IntervalOperation,
    Postponable,
    Rule,
    StaticRule,
)
from eventide.syntax.vocabulary import CONDITIONS, DECLARATIONS, HEADS, ORDINARY, TEMPORAL, arities, closest, has_pair

_OF_FLUENTS = frozenset({"collectIntervals", "buildFromPoints", "points", "simpleFluent", "sDFluent", "cyclic"})


class HeadReader(Shapes):
    """Reads clauses one by one; `defined` holds name and arity of every head of the program."""

    def __init__(self, report: list[Diagnostic], defined: frozenset[tuple[str, int]]) -> None:
        super().__init__(report)
        self.defined = defined
        self.before: Span | None = None  # the rule with conditions that stands right before the clause

    def rules(self, head: Atom | Compound, body: Term | None, span: Span | None) -> list[Rule]:
        """The rules that a clause stands for: mostly one, none if it is set aside, two for a legacy form."""
        name, args = functor_of(head)[0], arguments_of(head)
        if name in CONDITIONS and name not in HEADS and len(args) in arities(CONDITIONS[name]):
            self.say("info", "built-in", f"'{name}' is built in: this definition is set aside", head,
                     "remove the definition, or give it another name")
            return []
        if name not in HEADS or self.is_ordinary(name, args):
            return self.background(head, body, span)
        if name == "holdsFor" and len(args) == 3 and has_pair(head):
            self.say("warning", "three-arguments", "'holdsFor' with three arguments defines no fluent", head,
                     "write holdsFor(F=V, I); the rule is set aside until then")
            return []
        if name != "preProcessing" and not self.fits(head, name, args, HEADS[name]):
            return []
        return _KINDS[name](self, head if isinstance(head, Compound) else Compound(name, (), head.span), body, span)

    def is_ordinary(self, name: str, args: tuple[Term, ...]) -> bool:
        """Whether a clause with a common name such as `p` or `points` is the user's own predicate."""
        if name not in ORDINARY:
            return False
        plain = name in ("p", "points") and not any(isinstance(arg, Compound) for arg in args)
        return plain or len(args) not in arities(HEADS[name])

    def reader(self, role: Role, time: Term | None = None, result: Term | None = None) -> BodyReader:
        names = (term.name if isinstance(term, Variable) else None for term in (time, result))
        return BodyReader(self.report, role, self.defined, *names)

    def finished(self, rule: Rule, reader: BodyReader) -> list[Rule]:
        if reader.set_aside:
            return []
        return [renumbered(rule) if reader.rewritten else rule]

    def change(self, head: Compound, body: Term | None, span: Span | None) -> list[Rule]:
        """`initiatedAt` and `terminatedAt`, with or without a search range."""
        if self.swapped(head, head.functor):
            return []
        if body is None and len(head.args) == 2 and _is_later(head.args[1]) and has_pair(head):
            self.error("fact-in-rules", "a fact with its time does not belong in the rules", head,
                       f"write initially({tight_text(head.args[0])}) for what holds from the start; what happens later "
                       "stands in the data")
            return []
        pair, time = self.pair(head.args[0]), self.time(head.args[1 if len(head.args) == 2 else 2])
        reader = self.reader("point", time)
        if len(head.args) == 4:
            reader.search_range(head.args[1], head.args[3], head.args[2])
        conditions = reader.body(body)
        for variable in variables_in((pair, conditions)):
            if variable.name in reader.range:
                self.error("range-variable", f"{variable} bounds the search range and has no other use", variable,
                           "use another variable")
                break
        if pair is None or time is None:
            return []
        return self.finished(ChangeRule(_kind(head.functor), pair, time, conditions, span), reader)

    def legacy_change(self, head: Compound, body: Term | None, span: Span | None) -> list[Rule]:
        """`initiates(E, F=V, T)` is `initiatedAt(F=V, T)` with `happensAt(E, T)` as its first condition."""
        if has_pair(Compound("", head.args[:1])) and not has_pair(Compound("", head.args[1:2])):
            self.error("event-with-value", "the event comes first, then the fluent with its value", head,
                       f"write {head.functor}({term_text(head.args[1])}, {tight_text(head.args[0])}, "
                       f"{term_text(head.args[2])})")
            return []
        event, pair = self.happening(head.args[0], head.args[2], head), self.pair(head.args[1])
        reader = self.reader("point", head.args[2])
        reader.rewritten = True
        conditions = reader.body(body)
        if event is None or pair is None:
            return []
        return self.finished(ChangeRule(_kind(head.functor), pair, event.time, (event, *conditions), span), reader)

    def initial(self, head: Compound, body: Term | None, span: Span | None) -> list[Rule]:
        """`initially(F=V)`."""
        pair, (reader, conditions) = self.pair(head.args[0]), self.static_body(body)
        return [] if pair is None else self.finished(InitialRule(pair, conditions, span), reader)

    def static(self, head: Compound, body: Term | None, span: Span | None) -> list[Rule]:
        """`holdsFor(F=V, I)`."""
        pair, interval = self.pair(head.args[0]), head.args[1]
        if isinstance(interval, ListTerm) and not interval.items:
            self.say("info", "empty-definition", "the rule gives its fluent no interval", head,
                     "a fluent has no intervals where no other rule gives it some; the rule can be removed")
            return []
        reader, before = self.reader("interval", result=interval), len(self.report)
        conditions = reader.body(body)
        if not isinstance(interval, Variable):
            del self.report[before:]  # what the conditions say of intervals depends on it
            self.error("bad-interval", f"{term_text(interval)} is not an interval variable", interval,
                       "write initiatedAt for its start and terminatedAt for its end" if isinstance(interval, ListTerm)
                       and any(isinstance(item, Variable) for item in interval.items) else
                       "write a variable that the conditions bind; known intervals are input, not rules")
            return []
        is_bound = any(variable.name == interval.name for variable in variables_in(conditions))
        if not is_bound and len(self.report) == before:
            last = next((each.output for each in conditions[-1:] if isinstance(each, IntervalOperation | Allen)), None)
            used = Counter(variable.name for variable in variables_in(conditions))
            other = last if isinstance(last, Variable) and used[last.name] == 1 else None
            self.error("unbound-interval", f"no condition gives {interval} its intervals", other or interval,
                       f"end the rule with an operation such as union_all([I1, I2], {interval}), or holdsFor(F=V, "
                       f"{interval})" if other is None else f"write {interval} instead of {other}")
        return [] if pair is None else self.finished(StaticRule(pair, interval, conditions, span), reader)

    def holds_at(self, head: Compound, body: Term | None, span: Span | None) -> list[Rule]:
        """`holdsAt` heads define nothing."""
        if body is None and span is not None and span.column > 1 and self.cut_off(head):
            return []
        self.error("holdsAt-head", "'holdsAt' cannot be defined", head,
                   "define the fluent with initiatedAt and terminatedAt, or with holdsFor")
        return []

    def event(self, head: Compound, body: Term | None, span: Span | None) -> list[Rule]:
        """`happensAt(E, T)`."""
        if body is None and _is_later(head.args[1]):
            self.error("fact-in-rules", "a fact with its time does not belong in the rules", head,
                       "events stand in the data: give a table of them with --events")
            return []
        if body is None and span is not None and span.column > 1 and isinstance(head.args[1], Variable) \
                and self.cut_off(head):
            return []
        event, reader = self.happening(head.args[0], head.args[1], head), self.reader("point", head.args[1])
        conditions = reader.body(body)
        if isinstance(event, Happens):
            return self.finished(EventRule(event.event, event.time, conditions, span), reader)
        if event is not None:
            self.error("boundary-head", f"'{event.kind}' of a fluent cannot be defined", head.args[0],
                       "it follows from the fluent's own rules; give the event a name of its own")
        return []

    def cut_off(self, head: Compound) -> bool:
        """Whether a condition stands alone behind a rule, cut off by a full stop, which is then said."""
        if self.before is None:
            return False
        stop = Span(self.before.source, self.before.end_line, self.before.end_column - 1, self.before.end_line,
                    self.before.end_column)
        self.report.append(Diagnostic("error", "early-end", f"'{head.functor}' follows, which is a condition of a rule",
                                      stop, "write ',' instead of this '.'"))
        return True

    def delay(self, head: Compound, body: Term | None, span: Span | None) -> list[Rule]:
        """`fi(F=V, F=W, D)`; `maxDuration` is the same, and `maxDurationUE` also makes the delay postponable."""
        if isinstance(head.args[0], Number) and has_pair(Compound("", head.args[1:2])):
            self.error("bad-delay", "the delay comes last", head, f"write {head.functor}({tight_text(head.args[1])}, "
                       f"{tight_text(head.args[2])}, {term_text(head.args[0])})")
            return []
        source, target, delay = self.pair(head.args[0]), self.pair(head.args[1]), head.args[2]
        reader, conditions = self.static_body(body)
        if isinstance(delay, Atom | ListTerm) or (isinstance(delay, Number) and delay.value <= 0):
            self.error("bad-delay", f"{term_text(delay)} is not a delay", delay,
                       "write a positive number, or a variable that the conditions bind")
        if source is None or target is None:
            return []
        rules: list[Rule] = self.finished(DelayRule(source, target, delay, conditions, span), reader)
        if head.functor != "fi":
            self.say("info", "legacy-form", f"'{head.functor}' is read as fi/3"
                     + (" with p/1" if head.functor == "maxDurationUE" else ""), head, "write fi(F=V, F=W, Delay)")
        if head.functor == "maxDurationUE":
            rules.append(renumbered(Postponable(source, (), span)))
        return rules

    def postponable(self, head: Compound, body: Term | None, span: Span | None) -> list[Rule]:
        """`p(F=V)`."""
        pair, (reader, conditions) = self.pair(head.args[0]), self.static_body(body)
        return [] if pair is None else self.finished(Postponable(pair, conditions, span), reader)

    def grounding(self, head: Compound, body: Term | None, span: Span | None) -> list[Rule]:
        """`grounding(E)` or `grounding(F=V)`."""
        subject, (reader, conditions) = self.subject(head.args[0]), self.static_body(body)
        if subject is None or isinstance(subject, Variable | Number | ListTerm):
            if subject is not None:
                self.error("bad-subject", f"{term_text(subject)} is not an event or a fluent with a value",
                           head.args[0], "write grounding(event(X)) or grounding(fluent(X)=value)")
            return []
        return self.finished(Grounding(subject, conditions, span), reader)

    def declaration(self, head: Compound, body: Term | None, span: Span | None) -> list[Rule]:
        """Declarations; one that always fails declares nothing."""
        name, subject, rest = head.functor, head.args[0], head.args[1:]
        if isinstance(body, Atom) and body.name in ("fail", "false"):
            return []
        if body is not None and body != Atom("true") and not name.startswith("cachingOrder"):
            self.say("warning", "declaration-body", f"the conditions of '{name}' are not used", head,
                     f"write the declaration as a fact: {term_text(head)}.")
        if name in _OF_FLUENTS:
            pair = self.pair(subject)
            return [] if pair is None else [Declaration(name, pair, rest, span)]
        known = self.subject(subject)
        return [] if known is None else [Declaration(name, known, rest, span)]

    def pre_processing(self, head: Compound, body: Term | None, span: Span | None) -> list[Rule]:
        """`preProcessing` would run code in each window."""
        self.error("pre-processing", "'preProcessing' is not carried out: a rule file runs no code", head,
                   "give what it computes as an input fluent instead, and declare it with collectIntervals(F=V)")
        return []

    def background(self, head: Atom | Compound, body: Term | None, span: Span | None) -> list[Rule]:
        """Any other clause, unless its name is a misspelt one."""
        name = functor_of(head)[0]
        if isinstance(head, Compound) and self.looks_temporal(head, body):
            near = closest(name, tuple(HEADS))
            if near == name:  # so common a name that it may be a predicate, but this is about a fluent
                self.fits(head, name, head.args, HEADS[name])
                return []
            if near is not None:
                self.error("misspelt-head", f"unknown kind of rule '{name}'", head, f"did you mean '{near}'?")
                return []
        reader, conditions = self.static_body(body)
        return self.finished(BackgroundClause(head, conditions, span), reader)

    def looks_temporal(self, head: Compound, body: Term | None) -> bool:
        """Whether a clause looks like a rule or declaration of the language rather than background knowledge."""
        if has_pair(head):
            return True
        if body is None:
            return not is_ground(head) and closest(head.functor, tuple(DECLARATIONS), 0.85) is not None
        while isinstance(body, Compound) and body.functor == ",":
            if functor_of(body.args[0])[0] in TEMPORAL:
                return True
            body = body.args[1]
        return functor_of(body)[0] in TEMPORAL

    def static_body(self, body: Term | None) -> tuple[BodyReader, Body]:
        """The conditions of a clause that has no time."""
        reader = self.reader("static")
        return reader, reader.body(body)

    def subject(self, term: Term) -> Term | FluentValue | None:
        """An event term or `F=V`."""
        is_pair = isinstance(term, Compound) and term.functor in ("=", "==") and len(term.args) == 2
        return self.pair(term) if is_pair else term


_KINDS: dict[str, Callable[[HeadReader, Compound, Term | None, Span | None], list[Rule]]] = {
    "initiatedAt": HeadReader.change, "terminatedAt": HeadReader.change, "initiates": HeadReader.legacy_change,
    "terminates": HeadReader.legacy_change, "initially": HeadReader.initial, "holdsFor": HeadReader.static,
    "holdsAt": HeadReader.holds_at, "happensAt": HeadReader.event, "fi": HeadReader.delay,
    "maxDuration": HeadReader.delay, "maxDurationUE": HeadReader.delay, "p": HeadReader.postponable,
    "grounding": HeadReader.grounding, "preProcessing": HeadReader.pre_processing,
    **dict.fromkeys(DECLARATIONS, HeadReader.declaration),
}
"""By the name of a head, what reads it."""


def _is_later(time: Term) -> bool:
    """Whether a time is that of an event; with -1, the time before all others, RTEC writes what holds initially."""
    return isinstance(time, Number) and time.value >= 0


def _kind(functor: str) -> Literal["initiated", "terminated"]:
    return "initiated" if functor.startswith("init") else "terminated"
