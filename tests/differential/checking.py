"""A case through its paths: differences, refusals, and what the interpreter cannot say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from eventide.errors import EventideError

from .cases import Case
from .languages import LANGUAGES, Reference
from .paths import PATHS, Said, expected


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
    refused: int | None = None
    """The last case whose program is no program."""

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
        problems = [p.code for p in LANGUAGES[case.language].parsed(case.text).check() if p.severity == "error"]
    except EventideError as error:
        problems = [reason_of(error)]
    except Exception as error:
        differences.append(Difference("check", crash(error), f"crash {type(error).__name__}"))
        return differences
    if problems:
        found.refusals["check", ", ".join(sorted(set(problems)))] += 1
        found.refused = case.seed
        return differences
    try:
        reference = Asking(LANGUAGES[case.language].reference(case), found)
    except (ValueError, TypeError, LookupError) as error:  # a short form, which its reader does not know
        found.refusals["interpreter", type(error).__name__] += 1
        found.refused = case.seed
        return differences
    for name in names:
        run = PATHS[name].runs.get(case.language)
        if run is None:
            continue
        try:
            differences += judged(name, run(case), reference, found)
        except EventideError as error:
            found.refusals[name, reason_of(error)] += 1
        except Silent:
            found.refusals[name, "the interpreter cannot say"] += 1
        except Exception as error:
            kind = f"crash {type(error).__name__}"
            if kind not in {each.kind for each in differences}:  # one of them says it all
                differences.append(Difference(name, crash(error), kind))
    return differences


def check_together(cases: Sequence[Case], names: Collection[str], found: Findings) -> list[tuple[Case, Difference]]:
    """The differences of many cases on paths that take them together; cases that no path takes are left out."""
    differences: list[tuple[Case, Difference]] = []
    sound = []
    for case in cases:
        problems = check(case, ["one", "buckets"], found)
        if not problems and found.refused != case.seed:
            sound.append(case)
    for name in names:
        for language, together in PATHS[name].together.items():
            for case, outcome in apart(together, [case for case in sound if case.language == language]):
                if isinstance(outcome, EventideError):
                    found.refusals[name, reason_of(outcome)] += 1
                elif isinstance(outcome, Exception):
                    differences.append((case, Difference(name, crash(outcome), f"crash {type(outcome).__name__}")))
                else:
                    try:
                        differences += [(case, d) for d in judged(
                            name, outcome, Asking(LANGUAGES[language].reference(case), found), found)]
                    except Silent:
                        found.refusals[name, "the interpreter cannot say"] += 1
    return differences


def judged(name: str, outcome: Iterable[Said], reference: Asking, found: Findings) -> Iterator[Difference]:
    """The first difference in what a path says."""
    for said in outcome:
        found.answers[name] += 1
        found.rows += len(said.rows)
        difference = compared(name, said, reference)
        if difference is not None:
            yield difference
            return


def apart(together: Callable[[Sequence[Case]], list[list[Said]]], cases: Sequence[Case]
          ) -> Iterator[tuple[Case, list[Said] | Exception]]:
    """What each case says; if there is an error, halves are tried until it is known whose it is."""
    if not cases:
        return
    try:
        yield from zip(cases, together(cases), strict=True)
    except Exception as error:
        if len(cases) == 1:
            yield cases[0], error
            return
        half = len(cases) // 2
        yield from apart(together, cases[:half])
        yield from apart(together, cases[half:])


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

    def rows(self, question: Any) -> tuple[Any, ...]:
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
    if said.late is not None and said.late != (late := reference.reference.late(said.question)):
        return Difference(name, f"{at}: {said.late} facts too late instead of {late}", "late")
    return None
