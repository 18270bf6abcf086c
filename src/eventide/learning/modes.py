"""Mode declarations: what heads and conditions of learnt rules may look like. Text to values, with diagnostics.

One declaration a line, with or without a full stop; it may go on in indented lines after an open bracket or a comma.
`+type` is a place for something the rule already knows, `-type` for something new, `#type` for a constant.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from typing import Literal as Choice
from typing import cast

from eventide.learning.clauses import Clause, Predicate, as_clause, literal
from eventide.syntax import reader
from eventide.syntax.diagnostics import Diagnostic, Severity, Span
from eventide.syntax.printer import term_text
from eventide.syntax.terms import Atom, Compound, ListTerm, Number, Term, Variable, arguments_of, functor_of
from eventide.syntax.tokens import Places
from eventide.syntax.vocabulary import closest, did_you_mean

Kind = Choice["+", "-", "#"]
Direction = Choice["lessThan", "greaterThan"]


@dataclass(frozen=True, slots=True)
class Place:
    """A placeholder of a mode: `+person` has the kind `+` and the type `person`."""

    kind: Kind
    type: str
    path: tuple[int, ...]
    """The way to it: the argument's number in the atom, its number in that argument, …; they count from 1."""
    span: Span | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return f"{self.kind}{self.type}"


@dataclass(frozen=True, slots=True)
class Mode:
    """The shape of a literal: an atom whose places are open.

    >>> modes, _ = read_modes("modeh(initiatedAt(move(+person,+person),+time))")
    >>> [str(place) for place in modes.heads[0].places]
    ['+person', '+person', '+time']
    """

    atom: Predicate
    places: tuple[Place, ...]
    positive: bool = True
    span: Span | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        text = term_text(self.filled([Variable(str(place)) for place in self.places]))
        return text if self.positive else f"not {text}"

    @property
    def subject(self) -> str:
        """The name of what the atom is about: `move` of `holdsAt(move(+a)=true,+time)`, `close` of `close(+a,+a)`."""
        term: Term = self.atom
        if isinstance(term, Compound) and term.functor in (*_CHANGES, "holdsAt", "happensAt"):
            term = term.args[0]
        if isinstance(term, Compound) and term.functor == "=":
            term = term.args[0]
        return functor_of(term)[0]

    def constants(self, atom: Term) -> tuple[Term, ...] | None:
        """What stands in the places of an atom of this shape; None if the atom has another shape."""
        found: list[Term] = []
        return tuple(found) if _fits(self.atom, atom, found) else None

    def filled(self, values: Sequence[Term]) -> Predicate:
        """The atom with a value in each place."""
        return cast(Predicate, _filled(self.atom, iter(values)))


@dataclass(frozen=True, slots=True)
class Comparison:
    """A condition with a threshold: with `lessThan` a small threshold says more, with `greaterThan` a large one."""

    mode: Mode
    direction: Direction
    place: int
    """Which place of the mode is the threshold, counted from 0."""


@dataclass(frozen=True, slots=True)
class Modes:
    """The declarations of a file, each kind in order."""

    heads: tuple[Mode, ...] = ()
    bodies: tuple[Mode, ...] = ()
    examples: tuple[Mode, ...] = ()
    inputs: tuple[Mode, ...] = ()
    comparisons: tuple[Comparison, ...] = ()
    irreflexive: frozenset[str] = frozenset()
    """Predicates, events and fluents that never relate a thing to itself."""
    bottoms: tuple[Clause, ...] = ()
    """Bottom rules of the user; where there are some, none are built from data."""


def read_modes(text: str, source: str = "<modes>") -> tuple[Modes, list[Diagnostic]]:
    """The declarations of a text, and what is wrong with it; a declaration with an error is left out.

    >>> text = "modeh(initiatedAt(rich(+person),+time))\\nmodeb(happensAt(win(+persn),+time))"
    >>> modes, problems = read_modes(text, "rich.modes")
    >>> print(problems[0].render(text))
    rich.modes:2:21: warning: nothing gives a rule a 'persn', so this condition is never used [unreachable-type]
        modeb(happensAt(win(+persn),+time))
                            ^^^^^^
        hint: did you mean 'person'?
    """
    prepared, bottom_lines, problems = _prepared(text, source)
    clauses, unread = reader.read_clauses(prepared, source)
    lines = text.splitlines()
    problems += [_comment(problem.span) if problem.span is not None and _is_comment(lines[problem.span.line - 1]) else
                 replace(problem, message=problem.message.replace("'\\'", "'#'"),
                         hint=(problem.hint or "").replace("'\\'", "'#'")) for problem in unread]
    found = _ModeReader(problems, lines)
    for clause in clauses:
        assert clause.span is not None
        if clause.span.line in bottom_lines:
            found.bottom(clause)
        else:
            found.declaration(clause)
    modes = Modes(tuple(found.modes["modeh"]), tuple(found.modes["modeb"]), tuple(found.modes["examplePattern"]),
                  tuple(found.modes["inputPredicate"]), tuple(found.comparisons),
                  frozenset(str(name) for name in found.irreflexive), tuple(found.bottoms))
    if not any(problem.severity == "error" for problem in problems):
        found.check(modes, source)
    return modes, sorted(problems, key=lambda each: (each.span.line, each.span.column) if each.span else (0, 0))


_FORMS = {
    "modeh": "modeh(initiatedAt(moving(+person,+person),+time))",
    "modeb": "modeb(happensAt(walking(+person),+time)) or modeb(not close(+person,+person,#dist,+time))",
    "examplePattern": "examplePattern(holdsAt(moving(+person,+person),+time))",
    "inputPredicate": "inputPredicate(happensAt(walking(+person),+time))",
    "comparisonPredicate": "comparisonPredicate(close(+person,+person,#dist,+time), lessThan, "
                           "comparison_term_position(3))",
    "irreflexive": "irreflexive(close)",
}
_DIRECTIONS = ("lessThan", "greaterThan")
_CHANGES = ("initiatedAt", "terminatedAt")
_STATES = ("holdsAt", "happensAt")
_PLACEHOLDERS = ("+", "-", "#")


class _ModeReader:
    """Reads declarations one by one; problems go to `report`."""

    def __init__(self, report: list[Diagnostic], lines: list[str]) -> None:
        self.report, self.lines = report, lines
        self.modes: dict[str, list[Mode]] = {name: [] for name in _FORMS}
        self.comparisons: list[Comparison] = []
        self.irreflexive: list[Atom] = []
        self.bottoms: list[Clause] = []

    def say(self, severity: Severity, code: str, message: str, span: Span | None, hint: str) -> None:
        self.report.append(Diagnostic(severity, code, message, span, hint))

    def error(self, code: str, message: str, place: Term, hint: str) -> None:
        self.say("error", code, message, place.span, hint)

    def bottom(self, clause: reader.Clause) -> None:
        """A rule between `<bottom>` marks."""
        rule = as_clause(clause, self.report)
        if rule is not None:
            self.bottoms.append(rule)

    def declaration(self, clause: reader.Clause) -> None:
        """One declaration, added to those of its kind."""
        term = clause.head
        if term is None or clause.body is not None:
            directive = term is None and isinstance(clause.body, Compound) and clause.body.functor in _FORMS
            self.say("error", "rule-in-modes", "a rule among mode declarations", clause.span,
                     "put a bottom rule between <bottom> and <bottom>; other rules are background knowledge"
                     if not directive else "leave out ':-': declarations stand alone")
            return
        assert clause.span is not None
        if _is_comment(self.lines[clause.span.line - 1]):
            self.report.append(_comment(clause.span))
            return
        name, arity = functor_of(term)
        if name not in _FORMS:
            self.error("unknown-declaration", f"'{name}' is not a mode declaration", term,
                       did_you_mean(name, tuple(_FORMS), f"known are {', '.join(_FORMS)}"))
            return
        expected = 3 if name == "comparisonPredicate" else 1
        if not isinstance(term, Compound) or arity != expected:
            self.error("wrong-arity", f"'{name}' takes {expected} argument{'s' * (expected > 1)}, not {arity}", term,
                       f"write {_FORMS[name]}")
            return
        if name == "irreflexive":
            if isinstance(term.args[0], Atom):
                self.irreflexive.append(term.args[0])
            else:
                self.error("bad-name", f"{term_text(term.args[0])} is not a name", term.args[0],
                           f"write the predicate without arguments, as in {_FORMS[name]}")
            return
        mode = self.mode(term.args[0], name)
        if mode is None:
            return
        if name == "comparisonPredicate":
            self.comparison(mode, term.args[1], term.args[2])
        elif mode in self.modes[name]:
            self.say("warning", "repeated-mode", f"{mode} is declared twice", term.span, "remove one of them")
        else:
            self.modes[name].append(mode)

    def mode(self, term: Term, name: str) -> Mode | None:
        """The shape written in a declaration of that name."""
        problems = len(self.report)
        read = literal(term, self.report)
        if read is None:
            return None
        places: list[Place] = []
        atom = self.opened(read.atom, (), places)
        if not read.positive and name != "modeb":
            self.error("negated-mode", f"'{name}' cannot be negated", term, f"write {_FORMS[name]}")
        for place in places:
            if not read.positive and place.kind == "-":
                self.say("error", "negated-output", f"{place} in a negated condition", place.span,
                         f"what is not there gives nothing new: write +{place.type} or #{place.type}")
        if len(self.report) > problems or not self.timed(read.atom, name, places):
            return None
        return Mode(cast(Predicate, atom), tuple(places), read.positive, term.span)

    def timed(self, atom: Term, name: str, places: list[Place]) -> bool:
        """Whether what the Event Calculus has a time for has one; else it is said."""
        known, arity = functor_of(atom)
        args = arguments_of(atom)
        if known not in (*_CHANGES, *_STATES):
            return True
        if arity != 2:
            time = next((str(place) for place in reversed(places) if place.type == "time"), "+time")
            self.error("wrong-arity", f"'{known}' takes 2 arguments, not {arity}" + (
                ": the time is missing" if arity == 1 else ""), atom,
                       f"write {known}({term_text(_signed(args[0]))}, {time})" if args else f"write {_FORMS[name]}")
        elif not places or places[-1].path != (2,):
            self.error("missing-type", f"{term_text(args[1])} is no place for the time", args[1],
                       f"write {name}({known}({', '.join(term_text(_signed(arg)) for arg in args)}))"
                       if isinstance(args[1], Atom) else f"write {_FORMS[name]}")
        else:
            return True
        return False

    def opened(self, term: Term, path: tuple[int, ...], places: list[Place]) -> Term:
        """A pattern as a mode holds it; its placeholders are added to `places`."""
        if isinstance(term, Variable):
            name = term.name.lstrip("_").lower() or "type"
            self.error("variable-in-mode", f"the variable {term} in a mode", term,
                       f"write +{name} for something known, -{name} for something new, #{name} for a constant")
        elif isinstance(term, Atom) and term.name in ("+", "-", "\\"):
            self.error("missing-type", f"no type after '{self.sign(term)}'", term,
                       f"write {self.sign(term)}person, or another type")
        elif isinstance(term, Compound) and term.functor in ("+", "-", "\\") and len(term.args) == 1:
            return self.placeholder(term, path, places)
        elif isinstance(term, Compound) and path and len(term.args) == 2 and term.functor in ("+", "-", "*", "/"):
            self.error("operator-in-mode", f"'{term.functor}' between two arguments", term,
                       f"write ',' before '{term.functor}', or remove '{term.functor}'")
        elif isinstance(term, Compound):
            args = tuple(self.opened(arg, (*path, i), places) for i, arg in enumerate(term.args, 1))
            return Compound(term.functor, args, term.span)
        elif isinstance(term, ListTerm):
            return ListTerm(tuple(self.opened(item, (*path, i), places) for i, item in enumerate(term.items, 1)),
                            None if term.tail is None else self.opened(term.tail, path, places), term.span)
        return term

    def placeholder(self, term: Compound, path: tuple[int, ...], places: list[Place]) -> Term:
        kind, type_ = self.sign(term), term.args[0]
        if kind not in _PLACEHOLDERS:
            self.error("unknown-placeholder", f"'{kind}' is not a placeholder", term, "write +type, -type or #type")
        elif isinstance(type_, Variable):
            self.error("bad-type", f"the type {type_} is written as a variable", term,
                       f"types begin with a small letter: {kind}{type_.name.lstrip('_').lower() or 'person'}")
        elif not isinstance(type_, Atom):
            self.error("bad-type", f"{term_text(type_)} is not a type", term, f"write {kind} and a name: {kind}person")
        else:
            places.append(Place(cast(Kind, kind), type_.name, path, term.span))
            return Compound(kind, (Atom(type_.name),), term.span)
        return term

    def sign(self, term: Atom | Compound) -> str:
        """The sign of a placeholder as the user wrote it: the reader got `\\` for `#`."""
        assert term.span is not None
        return self.lines[term.span.line - 1][term.span.column - 1]

    def comparison(self, mode: Mode, direction: Term, position: Term) -> None:
        if not isinstance(direction, Atom) or direction.name not in _DIRECTIONS:
            self.error("unknown-direction", f"{term_text(direction)} is not a direction of comparison", direction,
                       did_you_mean(term_text(direction), _DIRECTIONS, "write lessThan or greaterThan"))
            return
        thresholds = [place for place in mode.places if place.kind == "#"]
        known = " or ".join(f"comparison_term_position({','.join(map(str, place.path))})" for place in thresholds)
        hint = f"write {known}" if known else f"write the threshold of {mode} as #type"
        if not isinstance(position, Compound) or position.functor != "comparison_term_position":
            self.error("bad-position", f"{term_text(position)} is not the position of a threshold", position, hint)
            return
        path = tuple(arg.value if isinstance(arg, Number) else None for arg in position.args)
        for i, place in enumerate(mode.places):
            if place.path == path and place.kind == "#":
                self.comparisons.append(Comparison(mode, cast(Direction, direction.name), i))
                return
        there = [str(place) for place in mode.places if place.path == path]
        self.error("bad-position", f"{there[0]} is not a threshold" if there
                   else f"{mode} has no place at {term_text(position)}", position, hint)

    def check(self, modes: Modes, source: str) -> None:
        """What is wrong with the declarations together."""
        if not modes.heads and not modes.bottoms:
            self.say("error", "missing-head", "no modeh says what the rules are to conclude",
                     Span(source, 1, 1, 1, 1), f"write {_FORMS['modeh']}")
            return
        for head in modes.heads:
            name = functor_of(head.atom)[0]
            if name not in _CHANGES and (near := closest(name, _CHANGES)) is not None:
                self.say("warning", "misspelt-head", f"'{name}' is not known of the Event Calculus", head.span,
                         f"did you mean '{near}'?")
        if not modes.bodies and not modes.bottoms:
            self.say("warning", "missing-body", "no modeb: rules can have no conditions", modes.heads[0].span,
                     f"write {_FORMS['modeb']}")
        given = dict.fromkeys(place.type for head in modes.heads for place in head.places if place.kind != "#")
        given |= dict.fromkeys(place.type for body in modes.bodies for place in body.places if place.kind == "-")
        for body in modes.bodies:
            for place in body.places:
                if modes.heads and place.kind == "+" and place.type not in given:
                    self.say("warning", "unreachable-type",
                             f"nothing gives a rule a '{place.type}', so this condition is never used", place.span,
                             did_you_mean(place.type, tuple(given), f"write -{place.type} in another modeb, or "
                                                                    f"+{place.type} in the modeh"))
        self.check_names(modes)

    def check_names(self, modes: Modes) -> None:
        """Whether declarations about conditions and fluents name some that are declared."""
        shapes = {body.atom for body in modes.bodies}
        for comparison in modes.comparisons:
            if comparison.mode.atom not in shapes:
                self.say("warning", "unused-comparison", f"no modeb is {comparison.mode}", comparison.mode.span,
                         f"write modeb({comparison.mode}), or the same places as there")
        names = tuple(dict.fromkeys(mode.subject for mode in (*modes.bodies, *modes.heads)))
        for name in self.irreflexive:
            if name.name not in names:
                self.say("warning", "unused-irreflexive", f"no modeb or modeh is about '{name}'", name.span,
                         did_you_mean(name.name, names, f"remove irreflexive({name})"))
        fluents = tuple(dict.fromkeys(head.subject for head in modes.heads))
        for example in modes.examples:
            if fluents and example.subject not in fluents:
                self.say("warning", "unlearnt-example", f"no modeh is about '{example.subject}'", example.span,
                         did_you_mean(example.subject, fluents, f"write modeh(initiatedAt({example.subject}(...)))"))


def _signed(term: Term) -> Term:
    """A pattern whose words that stand alone have become places, as in `rich(+person)` for `rich(person)`."""
    if isinstance(term, Atom):
        return Variable(f"+{term.name}")
    if isinstance(term, Compound) and term.functor in ("+", "-", "\\") and len(term.args) == 1:
        return Variable(f"{'#' if term.functor[0] > '-' else term.functor}{term_text(term.args[0])}")
    if isinstance(term, Compound) and term.functor == "=":
        return Compound("=", (_signed(term.args[0]), term.args[1]))
    return Compound(term.functor, tuple(map(_signed, term.args))) if isinstance(term, Compound) else term


def _is_comment(line: str) -> bool:
    """Whether a line is a comment of other languages."""
    return line.lstrip().startswith("#")


def _comment(span: Span) -> Diagnostic:
    return Diagnostic("error", "unknown-comment", "'#' does not begin a comment", replace(
        span, column=1, end_line=span.line, end_column=2), "a comment begins with '%'")


def is_place(term: Term) -> bool:
    return isinstance(term, Compound) and term.functor in _PLACEHOLDERS and len(term.args) == 1


def _fits(pattern: Term, term: Term, found: list[Term]) -> bool:
    """Whether a term has the shape of a pattern; what stands in its places goes to `found`."""
    if is_place(pattern):
        found.append(term)
        return True
    if isinstance(pattern, Compound):
        return (isinstance(term, Compound) and functor_of(pattern) == functor_of(term)
                and all(_fits(left, right, found) for left, right in zip(pattern.args, term.args, strict=True)))
    if isinstance(pattern, ListTerm):
        return (isinstance(term, ListTerm) and len(pattern.items) == len(term.items) and pattern.tail == term.tail
                and all(_fits(left, right, found) for left, right in zip(pattern.items, term.items, strict=True)))
    return pattern == term


def _filled(pattern: Term, values: Iterator[Term]) -> Term:
    if is_place(pattern):
        return next(values)
    if isinstance(pattern, Compound):
        return Compound(pattern.functor, tuple(_filled(arg, values) for arg in pattern.args))
    if isinstance(pattern, ListTerm):
        return ListTerm(tuple(_filled(item, values) for item in pattern.items), pattern.tail)
    return pattern


_PIECE = re.compile(r"""(?P<quoted>'(?:[^'\\\r\n]|''|\\.)*'|"(?:[^"\\\r\n]|""|\\.)*")
    |(?P<comment>%[^\r\n]*|/\*(?s:.*?)\*/)|(?P<mark><bottom>)|(?P<constant>\#)""", re.VERBOSE)
_NO_LINE_END = re.compile(r"[^\r\n\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")


def _prepared(text: str, source: str) -> tuple[str, set[int], list[Diagnostic]]:
    """The text as the reader of clauses takes it, with every place where it was; the lines where bottom rules begin.

    Comments and `<bottom>` become blanks, `#` an operator that the reader knows, and declarations end with `.`.
    """
    marks: list[int] = []

    def changed(piece: re.Match[str]) -> str:
        if piece.lastgroup == "quoted":
            return piece.group()
        if piece.lastgroup == "constant":
            return "\\"
        if piece.lastgroup == "mark":
            marks.append(piece.start())
        return _NO_LINE_END.sub(" ", piece.group())

    plain = _PIECE.sub(changed, text)
    places, bottoms, problems = Places(text, source), set[int](), list[Diagnostic]()
    spans = [places.span(mark, mark + len("<bottom>")) for mark in marks]
    for first, last in zip_longest(spans[::2], spans[1::2]):
        bottoms.update(range(first.line, (last or first).line + 1))
        if last is None:
            problems.append(Diagnostic("error", "open-bottom", "the second <bottom> is missing", first,
                                       "write <bottom> at the end of the rule too"))
    return _ended(plain, text.splitlines()), bottoms, problems


def _ended(plain: str, written: list[str]) -> str:
    """The text with a full stop behind each declaration that has none; it goes on only in lines written indented."""
    lines = plain.splitlines(keepends=True)
    full = [number for number, line in enumerate(lines) if line.strip()]
    depth = 0
    for number, follower in zip_longest(full, full[1:]):
        content = lines[number].rstrip()
        bare = _PIECE.sub("", content)
        depth += bare.count("(") - bare.count(")")
        is_open = depth > 0 or content.endswith((",", ":-"))
        if is_open and follower is not None and written[follower][:1].isspace():
            continue
        depth = 0
        if not content.endswith("."):
            lines[number] = f"{content}.{lines[number][len(content):]}"
    return "".join(lines)
