"""A case through its paths: differences, refusals, and what the interpreter cannot say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass, field

from eventide.errors import EventideError

from .cases import Case
from .operations import event_calculus
from .paths import PATHS, Said, expected, parsed
from .reference import Question, Reference, Rows

LANGUAGES: dict[str, tuple[str, Callable[[int], Case]]] = {"ec": (".ec", event_calculus)}
"""The languages: the ending of a program, and the random case of a number."""


@dataclass(frozen=True)
class Difference:
    """Where a path says something else than it should."""

    path: str
    message: str
    kind: str = "answer"

    @property
    def sort(self) -> tuple[str, str]:
        """What stays the same while a case shrinks."""
        return self.path, self.kind


@dataclass
class Findings:
    """What came of some cases."""

    cases: int = 0
    answers: Counter[str] = field(default_factory=Counter)
    refusals: Counter[tuple[str, str]] = field(default_factory=Counter)
    differences: list[tuple[Case, Difference]] = field(default_factory=list)
    rows: int = 0

    def add(self, other: Findings) -> None:
        """Take in the findings of others."""
        self.cases += other.cases
        self.rows += other.rows
        self.answers.update(other.answers)
        self.refusals.update(other.refusals)
        self.differences += other.differences


def reason_of(error: BaseException) -> str:
    """The code of a refusal, or the kind of an error."""
    problems = getattr(error, "diagnostics", None) or ()
    codes = sorted({problem.code for problem in problems if problem.severity == "error"})
    return ", ".join(codes) or f"{type(error).__name__}: {str(error).splitlines()[0][:80] if str(error) else ''}"


def check(case: Case, names: Collection[str], found: Findings) -> list[Difference]:
    """The differences of a case on these paths."""
    found.cases += 1
    differences: list[Difference] = []
    try:
        problems = [p.code for p in parsed(case.text).check() if p.severity == "error"]
    except EventideError as error:
        problems = [reason_of(error)]
    except Exception as error:
        differences.append(Difference("check", crash(error), f"crash {type(error).__name__}"))
        return differences
    if problems:
        found.refusals["check", ", ".join(sorted(set(problems)))] += 1
        return differences
    reference = Asking(Reference(case), found)
    for name in names:
        if case.language not in PATHS[name].languages:
            continue
        try:
            for said in PATHS[name].run(case):
                difference = compared(name, said, reference)
                found.answers[name] += 1
                found.rows += len(said.rows)
                if difference is not None:
                    differences.append(difference)
                    break
        except EventideError as error:
            found.refusals[name, reason_of(error)] += 1
        except Silent:
            found.refusals[name, "the interpreter cannot say"] += 1
        except Exception as error:
            kind = f"crash {type(error).__name__}"
            if kind not in {each.kind for each in differences}:  # one of them says it all
                differences.append(Difference(name, crash(error), kind))
    return differences


def crash(error: BaseException) -> str:
    trace, place = error.__traceback__, ""
    while trace is not None:
        place = f"{trace.tb_frame.f_code.co_filename.rpartition('/')[2]}:{trace.tb_lineno}"
        trace = trace.tb_next
    return f"{type(error).__name__}: {error} ({place})"


class Silent(Exception):
    """The interpreter has no answer."""


@dataclass
class Asking:
    """The interpreter, which may not know a construct."""

    reference: Reference
    found: Findings

    def rows(self, question: Question) -> Rows:
        try:
            return self.reference.rows(question)
        except (ValueError, TypeError, ArithmeticError, RecursionError) as error:
            self.found.refusals["interpreter", f"{type(error).__name__}: {str(error)[:60]}"] += 1
            raise Silent from error


def compared(name: str, said: Said, reference: Asking) -> Difference | None:
    """What a path says against what it should say."""
    wanted = expected(said, reference.rows(said.question))
    at = f"at {said.question.at}"
    if said.rows != wanted:
        more = [row for row in said.rows if row not in wanted]
        less = [row for row in wanted if row not in said.rows]
        return Difference(name, f"{at}: expected {less}, got {more}" if more or less else f"{at}: rows twice")
    late = reference.reference.counted(said.question).late
    if said.late is not None and said.late != late:
        return Difference(name, f"{at}: {said.late} facts too late instead of {late}", "late")
    return None
