"""Event Calculus programs: text to classified rules. Existing RTEC descriptions are read unchanged.

The reader gives clauses; a clause's head says what it is. Rules with an error are left out of the program, and the
diagnostics say why. A rule file is data: directives are never carried out and no file is opened.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from eventide.syntax.diagnostics import Diagnostic
from eventide.syntax.heads import HeadReader
from eventide.syntax.printer import term_text
from eventide.syntax.reader import Clause, read_clauses
from eventide.syntax.terms import Atom, Compound, ListTerm, Number, Term, functor_of
from eventide.syntax.tokens import DECLARATORS
from eventide.syntax.trees import BackgroundClause, ChangeRule, EventRule, InitialRule, Rule
from eventide.syntax.vocabulary import CONDITIONS, HEADS

_OPERATORS = frozenset({",", ";", "->", "*->", "-->", "=", "\\=", "==", "\\==", "is", "=:=", "=\\=", "<", "=<", ">",
                        ">=", "\\+", "not", "=..", "!", "::"})
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


def parse(text: str, source: str = "<text>") -> ParsedProgram:
    """The program written in `text`; `source` names it in diagnostics.

    >>> program = parse("initiatedAt(rich(X)=true, T) :- happenAt(win(X), T).", "toy.ec")
    >>> print(program.diagnostics[0].render(program.text))
    toy.ec:1:33: error: unknown condition 'happenAt' [misspelt-condition]
        initiatedAt(rich(X)=true, T) :- happenAt(win(X), T).
                                        ^^^^^^^^^^^^^^^^^^^
        hint: did you mean 'happensAt'?
    """
    clauses, problems = read_clauses(text, source)
    defined = frozenset(functor_of(clause.head) for clause in clauses if isinstance(clause.head, Atom | Compound))
    heads = HeadReader(problems, defined)
    rules: list[Rule] = []
    for clause in clauses:
        head = clause.head
        if isinstance(head, Compound) and head.functor == "::" and len(head.args) == 2:
            rules.extend(_uncertain(clause, head, heads))
        elif clause.body is None and isinstance(head, Compound) and _is_plain(head):
            rules.append(BackgroundClause(head, (), clause.span))
        elif head is None:
            _directive(clause.body, heads)
        elif isinstance(head, Atom | Compound) and _is_head(head, heads):
            rules.extend(_rules(clause, head, heads))
        elif not isinstance(head, Atom | Compound):
            heads.error("bad-head", "this cannot be the head of a clause", head, _HEAD_HINT)
    problems.sort(key=lambda problem: (problem.span.line, problem.span.column) if problem.span else (0, 0))
    return ParsedProgram(tuple(rules), tuple(problems), text, source)


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


def _uncertain(clause: Clause, head: Compound, heads: HeadReader) -> list[Rule]:
    """`P::head :- body`: the rules of the clause, each with its probability."""
    probability, rest = head.args
    if not isinstance(probability, Number) or not 0 <= probability.value <= 1:
        heads.error("bad-probability", f"{term_text(probability)} is not a probability", probability,
                    "write a number from 0 to 1 before '::', such as 0.8::initiatedAt(F=V, T) :- …")
        return []
    if not isinstance(rest, Atom | Compound) or not _is_head(rest, heads):
        if not isinstance(rest, Atom | Compound):
            heads.error("bad-head", "this cannot be the head of a clause", rest, _HEAD_HINT)
        return []
    certain: list[Rule] = []
    for rule in _rules(clause, rest, heads):
        if not isinstance(rule, ChangeRule | EventRule | InitialRule):
            heads.error("probability-here", f"'{functor_of(rest)[0]}' cannot have a probability", head,
                        "initiatedAt, terminatedAt, happensAt and initially can; facts of the input have a column "
                        "'probability'")
            return []
        certain.append(replace(rule, probability=float(probability.value)))
    return certain


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
    hint = {
        ",": "one head for each clause: write ':-' before its conditions, or '.' after a fact",
        "-->": "grammar rules are not part of the language",
        "\\+": "a head cannot be negated: use terminatedAt, or another value of the fluent",
        "not": "a head cannot be negated: use terminatedAt, or another value of the fluent",
    }.get(functor, _HEAD_HINT)
    heads.error("bad-head", "this cannot be the head of a clause", head, hint)
    return False
