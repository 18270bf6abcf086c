"""What an `.ectest` file says, with the places it says it at. Nothing is run here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

from eventide.rule_tests.stretches import Stretch
from eventide.syntax.diagnostics import Span

Mode = Literal["exactly", "only", "at least", "not"]


@dataclass(frozen=True, slots=True)
class Subject:
    """What a line is about: a fluent with a value, or an event or predicate (value None), arguments as text.

    An argument `_` stands for any.
    """

    name: str
    arguments: tuple[str, ...]
    value: str | None = None

    def __str__(self) -> str:
        value = "" if self.value is None else f"={self.value}"
        return f"{self.name}({','.join(self.arguments)}){value}" if self.arguments else f"{self.name}{value}"

    @property
    def is_ground(self) -> bool:
        """Whether it is about one thing."""
        return "_" not in self.arguments and self.value != "_"

    def matches(self, other: Subject) -> bool:
        """Whether the other is one of those that this is about."""
        mine, theirs = (*self.arguments, self.value), (*other.arguments, other.value)
        return self.name == other.name and len(mine) == len(theirs) and all(
            a in ("_", b) for a, b in zip(mine, theirs, strict=True))


@dataclass(frozen=True, slots=True)
class Given:
    """A fact: its text, when it holds, and when it arrives and is taken back where that is another time."""

    text: str
    when: Stretch
    is_point: bool
    span: Span
    arrives: int | None = None
    retracted: int | None = None


@dataclass(frozen=True, slots=True)
class Expected:
    """One line of a `then`: something, and during which time; None where the line does not say."""

    text: str
    when: tuple[Stretch, ...] | None
    span: Span


@dataclass(frozen=True, slots=True)
class Then:
    """A `then` with its lines; `at` are the query times it is about, none meaning the last."""

    mode: Mode
    at: tuple[int | Fraction, ...]
    lines: tuple[Expected, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class RuleTest:
    """One test: facts, query times, and what is to follow."""

    name: str
    span: Span
    given: tuple[Given, ...]
    at: tuple[int | Fraction, ...]
    then: tuple[Then, ...]
    settings: Mapping[str, int | str]


@dataclass(frozen=True, slots=True)
class TestFile:
    """A file of tests: the program they are about, its background, and the tests in order."""

    __test__ = False  # pytest would take it for a class of tests

    source: str
    text: str
    program: str
    background: tuple[str, ...]
    facts: str = ""
    """Background that stands in the file itself, every line at its own place."""
    tests: tuple[RuleTest, ...] = field(default=())
