"""Runs the tests of a file: their facts go in, the answers at their query times come out, and are compared."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, Protocol, TypeVar

import pyarrow as pa

from eventide.analysis.patterns import leaf_count, name_of
from eventide.errors import EventideError, InputError, ProgramError
from eventide.formats.background import Clauses
from eventide.formats.problems import suggestion
from eventide.program import load
from eventide.rule_tests.model import Expected, Given, RuleTest, Subject, TestFile
from eventide.rule_tests.reading import settings_of
from eventide.rule_tests.stretches import FOREVER, Cut, Stretch, Time, common, text_of, united, without
from eventide.rule_tests.subjects import EventCalculusLines, Fact, arrival, refusal
from eventide.rule_tests.verdicts import Difference, differences
from eventide.syntax.diagnostics import Diagnostic, Span
from eventide.syntax.terms import template_of

Found = TypeVar("Found")
Answer = dict[Subject, list[Stretch]]
_ANY = re.compile(r"(?<=[(,])\s*_\s*(?=[,)])")


@dataclass
class Outcome:
    """What came of one test: how it differs from what was expected, and what was left out on the way."""

    test: RuleTest
    differences: list[Difference] = field(default_factory=list)
    late: dict[str, int] = field(default_factory=dict)

    @property
    def passed(self) -> bool:
        """Whether everything was as expected."""
        return not self.differences


class Language(Protocol):
    """What tests need of a language."""

    def given(self, line: Given) -> None:
        """InputError for a fact that the program does not know."""

    def expected(self, line: Expected) -> Subject:
        """What a line of `then` is about; InputError if the program does not derive it."""

    def answers(self, test: RuleTest, late: dict[str, int]) -> Mapping[int | Fraction | None, Answer]:
        """The answers by query time; None is the last one where the test names none."""


class Tests:
    """The tests of a file with the program they are about, loaded once."""

    __test__ = False

    def __init__(self, file: TestFile) -> None:
        self.file = file
        folder = Path(file.source).parent
        path = folder / file.program
        if not path.exists():
            raise refusal("no-such-program", f"there is no {path}", _place(file, f"program {file.program}"),
                          "paths are relative to the file of tests")
        more = [Clauses(file.source, file.facts)] if file.facts else []
        self.program: Any = load(path, background=[*(_beside(folder, name) for name in file.background), *more])
        self.program.require_sound()
        if path.suffix not in _LANGUAGES:
            try:
                self.program.require_certain()
            except ProgramError as error:
                raise refusal("uncertain-rules", f"{path} has rules with probabilities, and tests are of certain rules",
                              _place(file, f"program {file.program}"),
                              f"take the probabilities away; {error.diagnostics[0].span} has one") from error
        self.language: Language = _LANGUAGES.get(path.suffix, _EventCalculus)(self.program)
        self._check()

    def _check(self) -> None:
        """InputError with every line that does not fit the program."""
        problems: list[Diagnostic] = []
        for fact in dict.fromkeys(fact for test in self.file.tests for fact in test.given):
            _tried(problems, self.language.given, fact)
        for then in (then for test in self.file.tests for then in test.then):
            known: dict[Subject, Expected] = {}
            for line in then.lines:
                subject = _tried(problems, self.language.expected, line)
                if subject is not None and then.mode in ("exactly", "only") and subject.is_ground:
                    _tried(problems, _refuse_contradiction, line, subject, known)
        if problems:
            problems.sort(key=lambda problem: problem.span.line if problem.span else 0)
            raise InputError("\n".join(problem.render(self.file.text) for problem in problems), problems)

    def run(self, wanted: Callable[[str], bool] = lambda name: True) -> list[Outcome]:
        """Run the tests whose names are wanted."""
        return [self.outcome(test) for test in self.file.tests if wanted(test.name)]

    def outcome(self, test: RuleTest) -> Outcome:
        """Run one test."""
        outcome = Outcome(test)
        lines = [(then, [(self.language.expected(line), line) for line in then.lines]) for then in test.then]
        try:
            answers = self.language.answers(test, outcome.late)
        except EventideError as error:
            error.add_note(f"in the test \"{test.name}\" ({test.span})")
            raise
        for then, expected in lines:
            for query in then.at or (None,):
                outcome.differences += differences(then.mode, expected, answers[query], query)
        return outcome


def _tried(problems: list[Diagnostic], look: Callable[..., Found], *arguments: object) -> Found | None:
    """What a function gives, or None if it refuses its arguments; why is added to the problems."""
    try:
        return look(*arguments)
    except InputError as error:
        problems += error.diagnostics
        return None


def _refuse_contradiction(line: Expected, subject: Subject, known: dict[Subject, Expected]) -> None:
    """Refuse a line about something that another one says already, if both cannot be."""
    other = known.setdefault(subject, line)
    mine, theirs = line.when or (), other.when or ()
    if other is not line and (not mine or not theirs or common(mine, theirs)):
        raise refusal("contradiction", f"this line says {text_of(mine)} of {subject}, and what is above it "
                      f"{text_of(theirs)}", line.span, "lines about the same add up; write each interval once")
    known[subject] = replace(other, when=(*theirs, *mine)) if other is not line else line


def _beside(folder: Path, name: str) -> str:
    """A background file as `load` takes it, found beside the tests."""
    title, mark, path = name.partition("=")
    return f"{title}={folder / path}" if mark else str(folder / name)


def _place(file: TestFile, line: str) -> Span:
    number = next((i for i, row in enumerate(file.text.splitlines(), 1) if line in row), 1)
    return Span(file.source, number, 1, number, len(line) + 1)


def query_times(test: RuleTest) -> tuple[int, ...]:
    """The times at which a test's session answers: those that are named, and the last one if something needs it."""
    named = tuple(int(time) for time in test.at)
    times = [int(time) for fact in test.given for time in (fact.when[0][0], fact.arrives, fact.retracted)
             if time is not None]
    start = test.settings.get("start")
    last = max([*times, *([] if start is None else [int(start)])], default=0)
    if named and start is not None and named[0] < int(start):
        raise refusal("before-start", f"the query time {named[0]} is before the start, which is {start}", test.span,
                      "let `start` be earlier, or ask later")
    needed = not named or (any(not then.at for then in test.then) and last > named[-1])
    return (*named, last) if needed else named


class _EventCalculus(EventCalculusLines):
    """Tests of an Event Calculus program run in a session, as a stream does."""

    def answers(self, test: RuleTest, late: dict[str, int]) -> Mapping[int | Fraction | None, Answer]:
        """What has been reported up to each query time."""
        settings: dict[str, Any] = dict(settings_of(test))
        session = self.program.session(**settings)
        session.insert(self.facts(self.known(test.given)))
        held: dict[tuple[Subject, int], Stretch] = {}
        found: dict[int | Fraction | None, Answer] = {}
        for query in query_times(test):
            changes = session.advance(to=query)
            for subject, stretch in _rows(changes.removed):
                held.pop((subject, stretch[0][0]), None)  # type: ignore[arg-type]
            for subject, stretch in _rows(changes.added):
                held[subject, stretch[0][0]] = stretch  # type: ignore[index]
            found[query] = found[None] = _grouped((subject, stretch) for (subject, _), stretch in held.items())
        late.update(session.counts.late_by_name)
        return found


class _Lars:
    """Tests of a LARS program: its answer up to each query time."""

    def __init__(self, program: Any) -> None:
        self.program = program
        self._known = {*program.model.inputs, *program.model.background, *program.model.derived}

    def given(self, line: Given) -> None:
        """A fact of a time-point."""
        from eventide.lars.streams import fact_of

        found = fact_of(line.text)
        if found is None or not line.is_point:
            raise refusal("not-a-fact", f"`{line.text}` is no fact of a LARS stream", line.span,
                          "write facts such as `3 p(a)`, one a line")
        _refuse_unread((found[0], len(found[1])), self._known, line)
        _refuse_arrivals(line)

    def expected(self, line: Expected) -> Subject:
        """An atom of the program's conclusions."""
        from eventide.lars.streams import fact_of

        name, mark, rest = line.text.partition("(")
        found = fact_of(_ANY.sub("any", line.text))
        derived = self.program.model.derived
        if found is None or (found[0], len(found[1])) not in derived:
            raise refusal("not-derived", f"the program does not conclude {line.text}", line.span,
                          f"it concludes {_templates(derived) or 'nothing'}")
        return Subject(name.strip(), tuple(part.strip() for part in rest.rstrip(") ").split(",")) if mark else ())

    def answers(self, test: RuleTest, late: dict[str, int]) -> Mapping[int | Fraction | None, Answer]:
        """The answer streams up to each query time."""
        _refuse_settings(test, ("start",), "the windows stand in the rules")
        stream = [(int(fact.when[0][0]), [fact.text]) for fact in sorted(test.given, key=lambda fact: fact.when[0])]
        return {query: answer_of(self.program.run(stream, end=None if query is None else int(query),
                                                  **settings_of(test)).to_arrow())
                for query in _asked(test)}


class _Mtl:
    """Tests of a DatalogMTL program: what follows, asked for up to each query time."""

    def __init__(self, program: Any) -> None:
        self.program = program

    def given(self, line: Given) -> None:
        """A fact with the time during which it holds."""
        from eventide.mtl.fact_lines import FactProblem, fact_in

        try:
            found = fact_in(f"{line.text}@{_interval(line.when)}")
        except FactProblem as problem:
            raise refusal(problem.code, str(problem), line.span, problem.hint) from problem
        if found is not None:
            _refuse_unread((found.name, len(found.args)), self.program.known, line)
        _refuse_arrivals(line)

    def expected(self, line: Expected) -> Subject:
        """An atom of a predicate that the program derives."""
        from eventide.mtl.fact_lines import FactProblem, fact_in

        try:
            found = fact_in(f"{line.text}@0")
        except FactProblem:
            found = None
        derived = [(name_of(template), leaf_count(template)) for template in self.program.model.defined]
        if found is None or (found.name, len(found.args)) not in derived:
            raise refusal("not-derived", f"the program does not derive {line.text}", line.span,
                          f"it derives {_templates(derived) or 'nothing'}")
        return Subject(found.name, tuple(map(str, found.args)))

    def answers(self, test: RuleTest, late: dict[str, int]) -> Mapping[int | Fraction | None, Answer]:
        """The maximal intervals up to each query time."""
        from eventide.mtl.facts import facts_in

        _refuse_settings(test, (), "time is dense and has no windows")
        rows = [""] * max((fact.span.line for fact in test.given), default=0)  # problems are told by their lines
        for fact in test.given:
            rows[fact.span.line - 1] = f"{fact.text}@{_interval(fact.when)}"
        facts = facts_in("\n".join(rows), test.span.source)
        found: dict[int | Fraction | None, Answer] = {}
        for query in _asked(test):
            result = self.program.run(facts, horizon=query)
            if result.cut and query is None:
                raise refusal("no-time", f"the recursion through {', '.join(result.cut)} goes on and on, and the test "
                              "does not say up to when", test.span, "write `at 10` before its `then`")
            found[query] = answer_of(result.to_arrow())
        return found


_LANGUAGES: Mapping[str, Callable[[Any], Language]] = {".lars": _Lars, ".mtl": _Mtl}


def _asked(test: RuleTest) -> Iterator[int | Fraction | None]:
    """The query times of a test, and None if some of it is about all that follows."""
    yield from test.at
    if any(not then.at for then in test.then):
        yield None


def _refuse_settings(test: RuleTest, known: tuple[str, ...], why: str) -> None:
    for name in test.settings:
        if name not in known:
            raise refusal("no-such-setting", f"`{name}` has no meaning in this language", test.span, why)


def _refuse_arrivals(line: Given) -> None:
    if line.arrives is not None or line.retracted is not None:
        raise refusal("no-arrival", "facts arrive when they happen in tests of this language", line.span,
                      "leave out `arrives` and `retracted`")


def _refuse_unread(named: tuple[str, int], known: Collection[tuple[str, int]], line: Given) -> None:
    if named not in known:
        same = [predicate for predicate in known if predicate[0] == named[0]]
        hint = f"the program has {_templates(same)}" if same else \
            suggestion(named[0], [name for name, _ in known]) or f"it has {_templates(known) or 'nothing'}"
        raise refusal("unknown-fact", f"the program does not know {template_of(*named)}", line.span, hint)


def _templates(predicates: Iterable[tuple[str, int]]) -> str:
    return ", ".join(template_of(*predicate) for predicate in predicates)


def _interval(when: Stretch) -> str:
    (start, low), (end, high) = when
    return f"{'(' if low or start == -FOREVER else '['}{start},{end}{']' if high else ')'}"


def _rows(table: pa.Table) -> Iterable[tuple[Subject, Stretch]]:
    """The rows of a result, each with what it is about."""
    dense = "left" in table.column_names
    for row in table.to_pylist():
        arguments = tuple(row["args"].split("|")) if row["args"] else ()
        subject = Subject(row["fluent"], arguments, row.get("value") or None)
        if dense:
            start: Cut = (_exact(row["start"], -FOREVER), int(row["left"] == "open"))
            end: Cut = (_exact(row["end"], FOREVER), int(row["right"] == "closed"))
        else:
            start, end = (row["start"], 0), (FOREVER if row["end"] is None else row["end"], 0)
        yield subject, (start, end)


def _exact(text: str | None, missing: float) -> Time:
    if text in (None, "", "inf", "-inf"):
        return missing
    number = Fraction(text)  # type: ignore[arg-type]
    return int(number) if number.denominator == 1 else number


def answer_of(table: pa.Table) -> Answer:
    """The rows of a result, as what is to be compared."""
    return _grouped(_rows(table))


def _grouped(rows: Iterable[tuple[Subject, Stretch]]) -> Answer:
    found: dict[Subject, list[Stretch]] = {}
    for subject, stretch in rows:
        found.setdefault(subject, []).append(stretch)
    return {subject: united(stretches) for subject, stretches in found.items()}


@dataclass(frozen=True)
class Counted:
    """The facts that count at a query time of a test: without those that have not arrived, were too late or retracted.

    Of an interval that came late, or was retracted late, the part inside the window came or went.
    """

    query: int
    facts: list[Fact]
    start: int


def counted_facts(lines: EventCalculusLines, test: RuleTest) -> Iterator[Counted]:
    """What counts at each query time of a test, by the definition of a session."""
    known, queries = lines.known(test.given), query_times(test)
    tick, window, start = (test.settings.get(name) for name in ("tick", "window", "start"))
    first = min([int(fact.given.when[0][0]) for fact in known] + [queries[0]])
    begin = first - int(tick or 1) if start is None else int(start)
    rows = [(arrival(fact.given), 1, fact) for fact in known]
    rows += [(fact.given.retracted, -1, fact) for fact in known if fact.given.retracted is not None]
    waiting = sorted(rows, key=lambda row: row[0])
    held: dict[object, tuple[Fact, list[Stretch]]] = {}
    for query in queries:
        low = begin + 1 if window is None else max(query - int(window), begin) + 1
        due = [row for row in waiting if max(row[0], row[2].given.when[0][0]) <= query]
        waiting = [row for row in waiting if max(row[0], row[2].given.when[0][0]) > query]
        for _, sign, fact in due:
            key = (fact.template, fact.leaves, fact.value, fact.given.when)
            inside = common([fact.given.when], [((low, 0), (FOREVER, 0))])
            before = held[key][1] if key in held else []
            held[key] = fact, united([*before, *inside]) if sign > 0 else without(before, inside)
        yield Counted(query, [replace(fact, given=replace(fact.given, when=piece, arrives=None, retracted=None))
                              for fact, pieces in held.values() for piece in pieces], begin)
