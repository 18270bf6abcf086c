"""Rules as learning sees them: a head and a list of literals. What the conditions mean is the engine's business."""

from __future__ import annotations

from dataclasses import dataclass

from eventide.errors import ProgramError
from eventide.syntax import reader
from eventide.syntax.conditions import conjuncts
from eventide.syntax.diagnostics import Diagnostic
from eventide.syntax.printer import term_text
from eventide.syntax.terms import Atom, Compound, Term

NEGATIONS = ("\\+", "not")
_CONTROL = {";": "write one rule for each alternative", "->": "write one rule for each case",
            "*->": "write one rule for each case", ",": "write one negated literal for each of them",
            "::": "weights and probabilities are not part of a clause"}
_HINT = "a literal is a name with arguments, such as happensAt(walking(X), T)"

Predicate = Atom | Compound


@dataclass(frozen=True, slots=True)
class Literal:
    """An atom that must be true or, if not `positive`, false."""

    atom: Predicate
    positive: bool = True

    def __str__(self) -> str:
        return term_text(self.atom) if self.positive else f"\\+ {term_text(self.atom, 900)}"


@dataclass(frozen=True, slots=True)
class Clause:
    """`head :- body`; the order of the literals has no meaning, but is kept.

    >>> rule = clause_of("initiatedAt(move(X,Y)=true, T) :- happensAt(walk(X), T), not close(X, Y, T).")
    >>> print(rule)
    initiatedAt(move(X, Y) = true, T) :- happensAt(walk(X), T), \\+ close(X, Y, T).
    """

    head: Predicate
    body: tuple[Literal, ...] = ()

    def __str__(self) -> str:
        body = f" :- {', '.join(map(str, self.body))}" if self.body else ""
        return f"{term_text(self.head)}{body}."

    def text(self) -> str:
        """The clause as it stands in a rule file, one condition a line.

        >>> print(clause_of("rich(X) :- wins(X), not spends(X).").text())
        rich(X) :-
            wins(X),
            \\+ spends(X).
        """
        body = " :-\n    " + ",\n    ".join(map(str, self.body)) if self.body else ""
        return f"{term_text(self.head)}{body}."


def read_clauses(text: str, source: str = "<text>") -> tuple[list[Clause], list[Diagnostic]]:
    """The clauses of a text in order, and what is wrong with those that are left out.

    >>> clauses, problems = read_clauses("p(X) :- q(X). p(X) :- q(X) ; r(X).")
    >>> print(*clauses)
    p(X) :- q(X).
    >>> print(problems[0].message, "|", problems[0].hint)
    ';' where a literal is expected | write one rule for each alternative
    """
    found, problems = reader.read_clauses(text, source)
    clauses = [clause for each in found if (clause := as_clause(each, problems)) is not None]
    return clauses, problems


def clause_of(text: str) -> Clause:
    """The one clause that a text is.

    >>> clause_of("p(X) :- 3.")
    Traceback (most recent call last):
    eventide.errors.ProgramError: <text>:1:9: error: 3 is not a literal [bad-literal]
        p(X) :- 3.
                ^
        hint: a literal is a name with arguments, such as happensAt(walking(X), T)
    """
    clauses, problems = read_clauses(text)
    if problems:
        raise ProgramError("\n".join(problem.render(text) for problem in problems), problems)
    if len(clauses) != 1:
        raise ProgramError(f"one clause is expected, not {len(clauses)}")
    return clauses[0]


def as_clause(clause: reader.Clause, report: list[Diagnostic]) -> Clause | None:
    """A clause that was read, as a head with literals; None with a diagnostic in `report` if it is something else."""
    if clause.head is None:
        report.append(Diagnostic("error", "missing-head", "the clause has no head", clause.span,
                                 "write what the rule concludes before ':-'"))
        return None
    head = literal(clause.head, report)
    body = [literal(goal, report) for goal in conjuncts(clause.body)] if clause.body is not None else []
    if head is None or not all(body):
        return None
    if not head.positive:
        report.append(Diagnostic("error", "negated-head", "the head of a clause is negated", clause.head.span,
                                 "conclude the atom itself, or use terminatedAt"))
        return None
    return Clause(head.atom, tuple(each for each in body if each is not None))


def literal(term: Term, report: list[Diagnostic]) -> Literal | None:
    """A term as a literal; `\\+` and `not` deny it. None with a diagnostic in `report` if it is no literal."""
    positive, atom = True, term
    if isinstance(term, Compound) and term.functor in NEGATIONS and len(term.args) == 1:
        positive, atom = False, term.args[0]
    if isinstance(atom, Compound) and atom.functor in NEGATIONS and len(atom.args) == 1:
        problem = "double-negation", "a literal is negated twice", "write the atom without negation"
    elif isinstance(atom, Compound) and atom.functor in _CONTROL:
        problem = "bad-literal", f"'{atom.functor}' where a literal is expected", _CONTROL[atom.functor]
    elif isinstance(atom, Atom | Compound) and atom != Atom("!"):
        return Literal(atom, positive)
    else:
        problem = "bad-literal", f"{term_text(atom)} is not a literal", _HINT
    report.append(Diagnostic("error", problem[0], problem[1], atom.span, problem[2]))
    return None
