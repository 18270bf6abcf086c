"""What was expected against what was found, as differences that people can read. Runs nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from eventide.rule_tests.model import Expected, Mode, Subject
from eventide.rule_tests.stretches import Stretch, common, text_of, united, without
from eventide.syntax.diagnostics import Span


@dataclass(frozen=True, slots=True)
class Difference:
    """One line that is not as expected: about what, at which query time, and what is missing or too much."""

    subject: str
    query: int | Fraction | None
    message: str
    expected: str
    found: str
    missing: str = ""
    extra: str = ""
    span: Span | None = None

    def lines(self) -> Iterator[str]:
        """The difference as people read it."""
        where = f" ({self.span.source}:{self.span.line})" if self.span else ""
        yield f"{self.subject}{'' if self.query is None else f' at {self.query}'}: {self.message}{where}"
        yield f"    expected  {self.expected}"
        yield f"    found     {self.found}"
        if self.missing and self.missing != self.expected:
            yield f"  - missing   {self.missing}"
        if self.extra and self.extra != self.found:
            yield f"  + too much  {self.extra}"

    def as_dict(self) -> dict[str, object]:
        """The difference as plain data."""
        return {"subject": self.subject, "query": None if self.query is None else str(self.query),
                "message": self.message, "expected": self.expected, "found": self.found,
                "missing": self.missing or None, "extra": self.extra or None,
                "file": self.span.source if self.span else None, "line": self.span.line if self.span else None}


def differences(mode: Mode, lines: Sequence[tuple[Subject, Expected]], answer: Mapping[Subject, list[Stretch]],
                query: int | Fraction | None) -> Iterator[Difference]:
    """How an answer differs from the lines of a `then`.

    >>> line = Expected("rich(ann)=true", (((4, 0), (11, 0)),), Span("t.ectest", 9, 1, 9, 2))
    >>> rich = Subject("rich", ("ann",), "true")
    >>> [one.missing for one in differences("exactly", [(rich, line)], {rich: [((4, 0), (9, 0))]}, 20)]
    ['[9, 11)']
    """
    wanted: dict[Subject, tuple[list[Stretch], Span]] = {}
    for subject, line in lines:
        if mode in ("at least", "not"):
            yield from _asked(mode, subject, line, answer, query)
        elif subject.is_ground:  # lines about the same thing belong together
            known = wanted.get(subject, ([], line.span))
            wanted[subject] = (known[0] + list(line.when or ()), known[1])
        else:
            yield from _any(mode, subject, line, answer, query)
    for subject, (stretches, span) in wanted.items():
        expected, found = united(stretches), answer.get(subject, [])
        if expected != found:
            yield Difference(str(subject), query, _summary(expected, found), text_of(expected), text_of(found),
                             _part(expected, found), _part(found, expected), span)
    if mode == "only":
        names = {(subject.name, subject.value is None) for subject, _ in lines}
        for subject, found in sorted(answer.items(), key=lambda item: str(item[0])):
            listed = any(line.matches(subject) for line, _ in lines)
            if not listed and (subject.name, subject.value is None) in names:
                yield Difference(str(subject), query, "it is not listed, and `then only` lists all", "never",
                                 text_of(found), "", text_of(found), lines[0][1].span)


def _summary(expected: Sequence[Stretch], found: Sequence[Stretch]) -> str:
    if not found:
        return "it does not hold at all"
    if not expected:
        return "it holds, and should not"
    return "it does not hold then" if not common(expected, found) else "the intervals differ"


def _part(left: Sequence[Stretch], right: Sequence[Stretch]) -> str:
    rest = without(left, right)
    return text_of(rest) if rest else ""


def _asked(mode: Mode, subject: Subject, line: Expected, answer: Mapping[Subject, list[Stretch]],
           query: int | Fraction | None) -> Iterator[Difference]:
    """A line of `then at least` or `then not`; `_` stands for any."""
    found = {other: stretches for other, stretches in answer.items() if subject.matches(other)}
    if mode == "at least":
        held = united(stretch for stretches in found.values() for stretch in stretches)
        wanted = united(line.when or ())
        if (line.when is None and not held) or without(wanted, held):
            yield Difference(str(subject), query, "it does not hold all that time" if held and line.when else
                             "it does not hold at all", text_of(wanted) if line.when else "some time",
                             text_of(held), _part(wanted, held), "", line.span)
        return
    for other, stretches in found.items():
        wrong = stretches if line.when is None else common(stretches, line.when)
        if wrong:
            yield Difference(str(other), query, "it holds, and should not",
                             "never" if line.when is None else f"not during {text_of(united(line.when))}",
                             text_of(stretches), "", text_of(wrong), line.span)


def _any(mode: Mode, subject: Subject, line: Expected, answer: Mapping[Subject, list[Stretch]],
         query: int | Fraction | None) -> Iterator[Difference]:
    """A line of `then` or `then only` about whatever there is: each of them has these intervals."""
    expected = united(line.when or ())
    found = {other: stretches for other, stretches in answer.items() if subject.matches(other)}
    if not found and expected:
        yield Difference(str(subject), query, "nothing of the kind holds", text_of(expected), "never",
                         text_of(expected), "", line.span)
    for other, stretches in found.items():
        if stretches != expected:
            yield Difference(str(other), query, _summary(expected, stretches), text_of(expected), text_of(stretches),
                             _part(expected, stretches), _part(stretches, expected), line.span)
