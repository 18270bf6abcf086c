"""Event Calculus programs: text to classified rules. Existing RTEC descriptions are read unchanged.

The reader gives clauses; a clause's head says what it is. Rules with an error are left out of the program, and the
diagnostics say why. A rule file is data: directives are never carried out and no file is opened.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import isfinite

from eventide.syntax.collecting import without_pauses
from eventide.syntax.diagnostics import Diagnostic, Span
from eventide.syntax.heads import HeadReader
from eventide.syntax.printer import term_text
from eventide.syntax.reader import Clause, Reading, read_clauses
from eventide.syntax.terms import Atom, Compound, ListTerm, Number, Term, functor_of
from eventide.syntax.tokens import DECLARATORS, INFIX
from eventide.syntax.trees import BackgroundClause, ChangeRule, EventRule, InitialRule, Rule
from eventide.syntax.vocabulary import CONDITIONS, HEADS, TEMPORAL

_OPERATORS = frozenset({name for name in INFIX if not name.isalpha()} | {"is", "\\+", "not", "!"})
_HEAD_HINT = "a clause begins with a name, such as initiatedAt(F=V, T)"


@dataclass(frozen=True, slots=True)
class ParsedProgram:
    """The rules of a text in order, and what is wrong with it."""

    rules: tuple[Rule, ...]
    diagnostics: tuple[Diagnostic, ...]
    text: str
    source: str

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        """The diagnostics that make the program unusable."""
        return tuple(problem for problem in self.diagnostics if problem.severity == "error")


@dataclass(frozen=True, slots=True)
class _Made:
    """What a clause stands for, and the problems it has."""

    clause: Clause
    before: Span | None
    rules: list[Rule]
    problems: list[Diagnostic]


@dataclass(slots=True)
class Recent:
    """What a text was read as: the rules of clauses that are still there are the same objects."""

    reading: Reading = field(default_factory=Reading)
    defined: frozenset[tuple[str, int]] = frozenset()
    made: dict[int, _Made] = field(default_factory=dict)


def parse(text: str, source: str = "<text>", recent: Recent | None = None) -> ParsedProgram:
    """The program written in `text`; `source` names it in diagnostics. `recent` is what was read of a text before.

    >>> program = parse("initiatedAt(rich(X)=true, T) :- happenAt(win(X), T).", "toy.ec")
    >>> print(program.diagnostics[0].render(program.text))
    toy.ec:1:33: error: unknown condition 'happenAt' [misspelt-condition]
        initiatedAt(rich(X)=true, T) :- happenAt(win(X), T).
                                        ^^^^^^^^^^^^^^^^^^^
        hint: did you mean 'happensAt'?
    """
    with without_pauses():
        return _parsed(text, source, recent)


def _parsed(text: str, source: str, recent: Recent | None) -> ParsedProgram:
    clauses, problems = read_clauses(text, source, recent.reading if recent is not None else None)
    defined = frozenset(functor_of(clause.head) for clause in clauses if isinstance(clause.head, Atom | Compound))
    heads = HeadReader(problems, defined)
    known = recent.made if recent is not None and recent.defined == defined else {}
    made: dict[int, _Made] = {}
    rules: list[Rule] = []
    for clause in clauses:
        if recent is None:
            rules += _read(clause, heads)
        else:
            found = known.get(id(clause))
            if found is None or found.before != heads.before:
                first = len(problems)
                found = _Made(clause, heads.before, _read(clause, heads), problems[first:])
            else:
                problems += found.problems
            made[id(clause)] = found
            rules += found.rules
        heads.before = clause.span if clause.head is not None and clause.body is not None else None
    if recent is not None:
        recent.defined, recent.made = defined, made
    problems.sort(key=lambda problem: (problem.span.line, problem.span.column) if problem.span else (0, 0))
    return ParsedProgram(tuple(rules), tuple(problems), text, source)


def _read(clause: Clause, heads: HeadReader) -> list[Rule]:
    """The rules that a clause stands for."""
    head = clause.head
    if isinstance(head, Compound) and head.functor == "::" and len(head.args) == 2:
        return _annotated(clause, head, heads)
    if clause.body is None and isinstance(head, Compound) and _is_plain(head):
        return [BackgroundClause(head, (), clause.span)]
    if head is None:
        _directive(clause.body, heads)
    elif isinstance(head, Atom | Compound) and _is_head(head, heads):
        return _rules(clause, head, heads)
    elif not isinstance(head, Atom | Compound):
        hint = f"remove '{term_text(head)}.': rules have no numbers" if isinstance(head, Number) else _HEAD_HINT
        heads.error("bad-head", "this cannot be the head of a clause", head, hint)
    return []


def _is_plain(head: Compound) -> bool:
    """Whether a fact is certainly background knowledge: an unknown name and constant arguments."""
    name = head.functor
    if name in HEADS or name in CONDITIONS or name in _OPERATORS or name in DECLARATORS:
        return False
    return not any(isinstance(arg, Compound) for arg in head.args)


def _rules(clause: Clause, head: Atom | Compound, heads: HeadReader) -> list[Rule]:
    before = len(heads.report)
    rules = heads.rules(head, clause.body, clause.span)
    failed = any(problem.severity == "error" for problem in heads.report[before:])
    return [] if failed else rules


def _annotated(clause: Clause, head: Compound, heads: HeadReader) -> list[Rule]:
    """`P::head :- body` or `weight(W)::head :- body`: the rules of the clause, each with its probability or weight."""
    mark, rest = head.args
    weighted = isinstance(mark, Compound) and functor_of(mark) == ("weight", 1)
    number = mark.args[0] if weighted and isinstance(mark, Compound) else mark
    if weighted and not (isinstance(number, Number) and isfinite(number.value)):
        heads.error("bad-weight", f"{term_text(number)} is not a weight", number,
                    "write a number, such as weight(0.75)::initiatedAt(F=V, T) :- …")
        return []
    if not weighted and not (isinstance(number, Number) and 0 <= number.value <= 1):
        instead = f", or weight({term_text(number)}) if it is a weight" if isinstance(number, Number) else ""
        heads.error("bad-probability", f"{term_text(number)} is not a probability", number,
                    f"write a number from 0 to 1 before '::', such as 0.8::initiatedAt(F=V, T) :- …{instead}")
        return []
    assert isinstance(number, Number)
    if not isinstance(rest, Atom | Compound) or not _is_head(rest, heads):
        if not isinstance(rest, Atom | Compound):
            heads.error("bad-head", "this cannot be the head of a clause", rest, _HEAD_HINT)
        return []
    name, value, found = functor_of(rest)[0], float(number.value), list[Rule]()
    for rule in _rules(clause, rest, heads):
        if weighted and isinstance(rule, ChangeRule):
            found.append(replace(rule, weight=value))
        elif weighted:
            heads.error("weight-here", f"'{name}' cannot have a weight", head, "initiatedAt and terminatedAt can")
            return []
        elif isinstance(rule, ChangeRule | EventRule | InitialRule):
            found.append(replace(rule, probability=value))
        else:
            heads.error("probability-here", f"'{name}' cannot have a probability", head,
                        "initiatedAt, terminatedAt, happensAt and initially can; facts of the input have a column "
                        "'probability'")
            return []
    return found


def _directive(body: Term | None, heads: HeadReader) -> None:
    """Directives are not carried out; those that would load something are worth a word."""
    if isinstance(body, ListTerm) or (body is not None and functor_of(body)[0] not in DECLARATORS):
        heads.say("info", "directive-ignored", "the directive is not carried out", body,
                  "give background files on the command line or to load()")


def _is_head(head: Atom | Compound, heads: HeadReader) -> bool:
    """Whether a term can be the head of a clause; `dynamic x/1.` without its `:-` is taken for a directive."""
    functor = functor_of(head)[0]
    if functor not in _OPERATORS:
        return functor not in DECLARATORS
    if isinstance(head, Compound):
        wrong = _wrong_arrow(head)
        if wrong is not None:
            heads.report.append(wrong)
            return False
    if functor == "," and isinstance(head, Compound) and _lacks_arrow(head):
        left = head.args[0].span
        assert left is not None
        place = Span(left.source, left.end_line, left.end_column, left.end_line, left.end_column + 1)
        heads.report.append(Diagnostic("error", "missing-arrow", "':-' is missing between the head and its conditions",
                                       place, "write ':-' instead of ','"))
        return False
    first = functor_of(head)[0] if isinstance(head, Atom) else head.args[0]
    if functor == ":" and isinstance(first, Number) and 0 <= first.value <= 1:
        heads.error("bad-probability", "':' does not give a rule its probability", head.args[0],  # type: ignore[union-attr]
                    f"write {term_text(first)}::, with two colons")
        return False
    hint = {
        "-": "remove '-': rules are not items of a list" if functor_of(head)[1] == 1 else "write ':-' instead of '-'",
        ",": "a clause has one head: write a rule for each, with the same conditions" if isinstance(head, Compound)
             and all(functor_of(each)[0] in HEADS for each in head.args) else
             "one head for each clause: write ':-' before its conditions, or '.' after a fact",
        "-->": "grammar rules are not part of the language",
        "\\+": "a head cannot be negated: use terminatedAt, or another value of the fluent",
        "not": "a head cannot be negated: use terminatedAt, or another value of the fluent",
    }.get(functor, _HEAD_HINT)
    heads.error("bad-head", "this cannot be the head of a clause", head, hint)
    return False


def _lacks_arrow(head: Compound) -> bool:
    """Whether a head and its conditions are joined by `,`."""
    first, rest = head.args
    second = rest.args[0] if isinstance(rest, Compound) and rest.functor == "," else rest
    return first.span is not None and functor_of(first)[0] in HEADS and functor_of(second)[0] in TEMPORAL and \
        functor_of(second)[0] not in ("initiatedAt", "terminatedAt", functor_of(first)[0])


def _wrong_arrow(head: Compound) -> Diagnostic | None:
    """What to say of a clause with `:`, `->` or `<-` where `:-` belongs, behind the head of a rule."""
    while head.functor == "," and isinstance(head.args[0], Compound):
        head = head.args[0]
    left, right = head.args[0], head.args[-1]
    arrow = {":": ":", "->": "->", "<": "<-"}.get(head.functor)
    if arrow is None or functor_of(left)[0] not in HEADS or left.span is None or right.span is None:
        return None
    if arrow == "<-" and not (isinstance(right, Compound) and right.functor == "-" and len(right.args) == 1):
        return None
    place = Span(left.span.source, left.span.end_line, left.span.end_column, right.span.line,
                 right.span.column + (arrow == "<-"))
    return Diagnostic("error", "unknown-arrow", f"'{arrow}' is not the arrow of rules", place,
                      "write ':-' between the head and its conditions")
