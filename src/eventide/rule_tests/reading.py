"""The text of an `.ectest` file to tests, with a problem at its place for every line that cannot be read.

    program rules.ec
    background type=types.csv
    background
        price(tea, 1).

    test "rich until the wallet is lost"
      given
        3        win_lottery(ann)
        10       lose_wallet(ann)   arrives 25
      at 20
      then
        rich(ann)=true   [4, inf)
      at 30
      then only
        rich(ann)=true   [4, 11)

A line is a keyword with its words, or a line of the block before it. Indentation and empty lines mean nothing; `%` or
`#` at the beginning of a line, or after a space, begins a comment. A keyword that is spelt wrong is told, and taken for
what it is near to, so that what follows it is not told as well.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from difflib import get_close_matches
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import get_args

from eventide.errors import InputError
from eventide.formats.files import rule_text
from eventide.formats.problems import suggestion
from eventide.rule_tests.model import Expected, Given, Mode, RuleTest, TestFile, Then
from eventide.rule_tests.stretches import FOREVER, Cut, Stretch, Time, text_of, united
from eventide.syntax.diagnostics import Diagnostic, Span

_NUMBER = r"[-+]?[0-9]+(?:/[0-9]+|\.[0-9]+)?"
_END = rf"(?:{_NUMBER}|[-+]?inf)"
_WHEN = rf"(?:[\[(]\s*{_END}\s*,\s*{_END}\s*[\])]|{_NUMBER})"
_GIVEN = re.compile(rf"({_WHEN})\s+(.*)")
_LATER = re.compile(rf"(.*\S)\s+(arrives|retracted)\s+({_NUMBER})\Z")
_EXPECTED = re.compile(rf"(.*?\S)\s+(never|{_WHEN}(?:\s*,\s*{_WHEN})*)\Z")
_EACH = re.compile(_WHEN)
_INTERVAL = re.compile(rf"([\[(])\s*({_END})\s*,\s*({_END})\s*([\])])")
_COMMENT = re.compile(r"(?:\A|\s)[%#].*|('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")")
SETTINGS = ("window", "start", "tick", "initially-at", "ties")
KEYWORDS = ("program", "background", "test", "given", "at", "then", *SETTINGS)
DENSE = ".mtl"
_MOST = 1 << 62
"""Time-points, where they are whole numbers, are nearer to 0 than this."""
_MEANT = {**dict.fromkeys(("expect", "expects", "expected", "should", "assert", "result", "results"), "then"),
          **dict.fromkeys(("when", "events", "event", "facts", "input", "inputs", "stream"), "given"),
          **dict.fromkeys(("query", "queries"), "at"), **dict.fromkeys(("case", "scenario", "name"), "test"),
          "rules": "program"}
"""Keywords elsewhere, and what they are called here."""
_ASKED = re.compile(rf"happensAt\((.+),\s*({_NUMBER})\)|(.*?\S)\s*(?:@|\bat\b)\s*({_NUMBER})|(.*\))\s+({_NUMBER})")
_FROM = re.compile(rf"\sfrom\s+{_NUMBER}\s+(?:to|until)\s")
_APART = re.compile(rf"({_NUMBER})\s*[:;,]\s*(.*\D.*)")
_HELD = re.compile(rf"(?:holdsFor\()?(.*?\S),?\s*(?:from\s+({_NUMBER})\s+(?:to|until)\s+({_END})|"
                   rf"\[?\s*[\[(]\s*({_NUMBER})\s*,\s*({_END})\s*[\])]\s*\]?)\)?")
_DAYS = "facts are lines such as `3 win(ann)` or `[3, 9) near(a,b)=true`"


class _Problem(Exception):
    """A line that cannot be read: code, message, the wrong part of it, and what to try."""

    def __init__(self, code: str, message: str, part: str | None = None, hint: str | None = None) -> None:
        super().__init__(message)
        self.code, self.part, self.hint = code, part, hint


@dataclass
class _Block:
    """A test that is being read; the first is what stands before all tests."""

    name: str | None
    span: Span
    given: list[Given] = field(default_factory=list)
    at: list[int | Fraction] = field(default_factory=list)
    then: list[Then] = field(default_factory=list)
    settings: dict[str, int | str] = field(default_factory=dict)


def read_tests(path: str | Path) -> TestFile:
    """The tests of a file; InputError with every problem found.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "toy.ectest"
    ...     _ = file.write_text('program toy.ec\\ntest "t"\\ngiven\\n 3 win(ann)\\nthen\\n rich(ann)=true [4, inf)\\n')
    ...     [test.name for test in read_tests(file).tests]
    ['t']
    """
    return tests_in(rule_text(Path(path)), str(path))


def tests_in(text: str, source: str) -> TestFile:
    """The tests of a text; InputError with every problem found."""
    reader = _Reader(text, source)
    for number, line in enumerate(text.splitlines(), 1):
        bare = _COMMENT.sub(lambda match: match.group(1) or "", line).rstrip()
        if bare.strip():
            reader.take(number, bare)
    found = reader.finished()
    if reader.problems:
        raise InputError("\n".join(problem.render(text) for problem in reader.problems), reader.problems)
    return found


class _Reader:
    """Takes the lines of a file one by one."""

    def __init__(self, text: str, source: str) -> None:
        self.text, self.source = text, source
        self.problems: list[Diagnostic] = []
        self.program: str | None = None
        self.background: list[str] = []
        self.facts: list[str] = []
        self.blocks = [_Block(None, Span(source, 1, 1, 1, 2))]
        self._line: Callable[[str, Span], None] | None = None
        self._waiting: list[int | Fraction] = []

    @property
    def dense(self) -> bool:
        """Whether time-points lie close to one another."""
        return self.program is not None and self.program.endswith(DENSE)

    def take(self, number: int, line: str) -> None:
        """Read one line."""
        begin = len(line) - len(line.lstrip())
        span = Span(self.source, number, begin + 1, number, len(line) + 1)
        words = line.strip()
        keyword, *more = words.split(maxsplit=1)
        rest = more[0] if more else ""
        try:
            if keyword in KEYWORDS:
                self._block(keyword, rest, span)
            elif self._line is not None:
                self._line(words, span)
            else:
                raise _unknown(keyword)
        except _Problem as problem:
            part = problem.part or words
            column = max(line.rfind(part) if problem.code == "full-stop" else line.find(part), begin) + 1
            place = Span(self.source, number, column, number, column + max(len(part), 1))
            self.problems.append(Diagnostic("error", problem.code, str(problem), place, problem.hint))
            if problem.code == "unknown-line":
                self._go_on(_near(keyword), rest, span)

    def _block(self, keyword: str, rest: str, span: Span) -> None:
        getattr(self, f"_{keyword}" if keyword not in SETTINGS else "_setting")(keyword, rest, span)

    def _go_on(self, keyword: str | None, rest: str, span: Span) -> None:
        """After a line that means nothing: take it for the keyword that was meant, or pass over what belongs to it."""
        self._line = self._passed_over
        if keyword is not None:
            with suppress(_Problem):
                self._block(keyword, rest.strip(": "), span)

    def finished(self) -> TestFile:
        """The file, when all lines have been taken."""
        if self.program is None and not self.problems:
            self._report("no-program", "the file does not name the program that it tests", self.blocks[0].span,
                         "begin with a line such as `program rules.ec`")
        common, *tests = self.blocks
        for test in tests:
            if not any(then.lines for then in test.then) and not self.problems:
                self._report("nothing-expected", f"the test \"{test.name}\" expects nothing", test.span,
                             "add `then` and lines such as `rich(ann)=true [4, 11)`")
            if test.at and not any(test.at[-1] in then.at for then in test.then) and not self.problems:
                self._report("nothing-expected", f"the test \"{test.name}\" expects nothing at {test.at[-1]}",
                             test.span, "`at` stands before the `then` that it is for")
        if not tests and not self.problems:
            self._report("no-tests", "the file has no test", common.span, "add `test \"what is to follow\"`")
        found = [RuleTest(test.name or "", test.span, (*common.given, *test.given), tuple(test.at), tuple(test.then),
                          {**common.settings, **test.settings}) for test in tests]
        return TestFile(self.source, self.text, self.program or "", tuple(self.background), "\n".join(self.facts),
                        tuple(found))

    def _report(self, code: str, message: str, span: Span, hint: str) -> None:
        self.problems.append(Diagnostic("error", code, message, span, hint))

    # -- keywords -----------------------------------------------------------------------------------------------------

    def _program(self, keyword: str, rest: str, span: Span) -> None:
        if self.program is not None:
            raise _Problem("two-programs", "a file of tests is about one program", None,
                           "make a file of its own for the other program")
        if not rest:
            raise _Problem("no-program", "this line names no program", None, "write `program rules.ec`")
        self.program = rest.strip("\"'")

    def _background(self, keyword: str, rest: str, span: Span) -> None:
        if len(self.blocks) > 1:
            self._line = self._passed_over
            raise _Problem("late-background", "background belongs to all tests", keyword, "put it before the first")
        if rest:
            self.background.append(rest)
            self._line = None
        else:  # the clauses follow
            self._line = self._clauses

    def _clauses(self, words: str, span: Span) -> None:
        self.facts += [""] * (span.line - len(self.facts) - 1) + [" " * (span.column - 1) + words]

    def _test(self, keyword: str, rest: str, span: Span) -> None:
        name = rest.strip("\"'").strip()
        is_known = any(block.name == name for block in self.blocks)
        self.blocks.append(_Block(name, span))
        self._line, self._waiting = None, []
        if not name:
            raise _Problem("test-without-name", "this test has no name", None, "write `test \"what is to follow\"`")
        if is_known:
            raise _Problem("test-named-twice", f"there is a test \"{name}\" already", rest, "give each its own name")

    def _setting(self, keyword: str, rest: str, span: Span) -> None:
        self._line = None
        self.blocks[-1].settings[keyword] = self._value(keyword, rest)

    def _value(self, keyword: str, rest: str) -> int | str:
        if keyword == "ties":
            if rest not in ("termination", "initiation"):
                raise _Problem("bad-setting", f"`{rest}` does not say which wins", rest,
                               "write `ties termination` or `ties initiation`")
            return rest
        if not re.fullmatch(r"-?[0-9]+", rest) or (keyword in ("window", "tick") and int(rest) < 1):
            raise _Problem("bad-setting", f"`{rest}` is no {'length' if keyword in ('window', 'tick') else 'time'}",
                           rest, f"write `{keyword} 10`")
        return int(self._time(rest))

    def _given(self, keyword: str, rest: str, span: Span) -> None:
        self._line = self._fact
        if rest:
            raise _Problem("words-too-many", f"`given` stands alone on its line, not with `{rest}`", rest, _DAYS)

    def _at(self, keyword: str, rest: str, span: Span) -> None:
        times = [self._time(word.strip()) for word in rest.split(",")] if rest else []
        block = self._own_test("at")
        if not times:
            raise _Problem("no-time", "`at` names no query time", None, "write `at 20` or `at 10, 20, 30`")
        for time in times:
            if block.at and time <= block.at[-1]:
                raise _Problem("times-not-ascending", f"the query time {time} does not come after {block.at[-1]}",
                               str(time), "query times go on; put what happens earlier first")
            block.at.append(time)
        self._waiting, self._line = times, None

    def _then(self, keyword: str, rest: str, span: Span) -> None:
        mode = rest or "exactly"
        self._line = self._passed_over
        if mode not in get_args(Mode):
            raise _Problem("unknown-then", f"`then {rest}` is not known", rest, suggestion(rest, get_args(Mode))
                           or "write `then`, `then only`, `then at least` or `then not`")
        block = self._own_test("then")
        block.then.append(Then(mode, tuple(self._waiting), (), span))  # type: ignore[arg-type]
        self._line = self._expected

    def _own_test(self, keyword: str) -> _Block:
        if len(self.blocks) == 1:
            raise _Problem("outside-a-test", f"`{keyword}` belongs to a test", keyword, "begin one with `test \"…\"`")
        return self.blocks[-1]

    # -- lines of blocks ----------------------------------------------------------------------------------------------

    def _passed_over(self, words: str, span: Span) -> None:
        problem = _misspelt(words)
        if problem is not None:
            raise problem

    def _fact(self, words: str, span: Span) -> None:
        _refuse_stop(words)
        later: dict[str, int] = {}
        rest = words
        while match := _LATER.fullmatch(rest):
            rest, what, time = match.groups()
            later[what] = int(self._time(time))
        found = _GIVEN.fullmatch(rest)
        if found is None:
            raise _misspelt(words) or _Problem("not-a-fact", "this is no fact with its time", None, _as_fact(rest))
        when = self._stretch(found.group(1))
        if later.get("arrives", when[0][0]) < when[0][0]:
            raise _Problem("arrives-too-early", "a fact cannot arrive before it happens", f"arrives {later['arrives']}",
                           "its own time comes first on the line")
        if later.get("retracted", FOREVER) < later.get("arrives", when[0][0]):
            raise _Problem("retracted-too-early", "a fact cannot be taken back before it arrives",
                           f"retracted {later['retracted']}", "let it be retracted later")
        column = span.column + found.start(2)
        place = Span(span.source, span.line, column, span.line, column + len(found.group(2)))
        self.blocks[-1].given.append(Given(found.group(2), when, not _INTERVAL.fullmatch(found.group(1)), place,
                                           later.get("arrives"), later.get("retracted")))

    def _expected(self, words: str, span: Span) -> None:
        _refuse_stop(words)
        block = self.blocks[-1]
        then = block.then[-1]
        found = None if _FROM.search(words) else _EXPECTED.fullmatch(words)
        if found is None and then.mode in ("exactly", "only"):
            meant = _as_expected(words)
            raise _misspelt(words) or _Problem("no-interval", "this line does not say when", None,
                                               "add the intervals, such as `[4, 11), [20, inf)`, or `never`"
                                               if meant is None else meant)
        when: tuple[Stretch, ...] | None = None
        if found is not None and (found.group(2) != "never" or then.mode in ("exactly", "only")):
            when = tuple(self._stretch(each) for each in _EACH.findall(found.group(2)))
        if found is not None and found.group(2) == "never" and then.mode == "at least":
            raise _Problem("never-at-least", "`never` says nothing in `then at least`", "never",
                           "write it under `then` or `then not`")
        if then.mode in ("exactly", "only"):
            _refuse_overlaps(when or ())
        line = Expected(words if found is None else found.group(1), when, span)
        block.then[-1] = Then(then.mode, then.at, (*then.lines, line), then.span)

    def _stretch(self, text: str) -> Stretch:
        """`[3, 9)`, `(1/2, inf)`, or a time-point."""
        found = _INTERVAL.fullmatch(text)
        if found is None:
            time = self._time(text)
            return ((time, 0), (time, 1) if self.dense else (time + 1, 0))
        left, low, high, right = found.groups()
        start: Cut = (self._end(low), int(left == "("))
        end: Cut = (self._end(high), int(right == "]"))
        if not self.dense:  # neighbouring time-points: what is after one is before the next
            start, end = _discrete(start), _discrete(end)
        if start >= end:
            raise _Problem("empty-interval", f"the interval {text} has no time-point", text,
                           "it begins with its first time-point and ends before its end")
        return start, end

    def _end(self, text: str) -> Time:
        return float(text) if text.endswith("inf") else self._time(text)

    def _time(self, text: str) -> int | Fraction:
        try:
            time = Fraction(text)
        except (ValueError, ZeroDivisionError):
            raise _Problem("not-a-time", f"`{text}` is no time", text, "write a number") from None
        if not self.dense and abs(time) >= _MOST:
            raise _Problem("out-of-range", f"{text} is out of range: times have less than 63 bits", text,
                           "take a coarser unit of time")
        if time.denominator == 1:
            return int(time)
        if not self.dense:
            raise _Problem("not-a-time", f"`{text}` is no whole number", text, "time-points are whole numbers here")
        return time


def _as_fact(words: str) -> str:
    """How a line that is no fact is to be written, where it can be guessed.

    >>> _as_fact("happensAt(win(ann), 3)"), _as_fact("win(ann)@3"), _as_fact("3: win(ann)")
    ('write `3 win(ann)`', 'write `3 win(ann)`', 'write `3 win(ann)`')
    """
    if re.match(r"[0-9]+:[0-9][0-9]\b", words):
        return "times are whole numbers, not times of day: `3 win(ann)`"
    found = _ASKED.fullmatch(words)
    if found is not None:
        fact, time = [each for each in found.groups() if each is not None]
        return f"write `{time} {fact.strip()}`"
    found = _APART.fullmatch(words)
    return _DAYS if found is None else f"write `{found.group(1)} {found.group(2)}`"


def _as_expected(words: str) -> str | None:
    """How a line that does not say when is to be written, if it can be guessed.

    >>> _as_expected("rich(ann)=true [4, ∞)"), _as_expected("holdsFor(rich(ann)=true, [(4, 6)])")
    ('write `rich(ann)=true [4, inf)`', 'write `rich(ann)=true [4, 6)`')
    """
    if words.startswith(("not ", "\\+ ")):
        return "what is not to hold stands under `then not`, a block of its own"
    found = _HELD.fullmatch(words.replace("∞", "inf").replace("infinity", "inf"))
    if found is None:
        return None
    subject, low, high = [each for each in found.groups() if each is not None]
    return f"write `{subject} [{low}, {high})`"


def _near(word: str) -> str | None:
    """The keyword that a word is near to, or means elsewhere."""
    if word.strip(":").lower() in _MEANT:
        return _MEANT[word.strip(":").lower()]
    close = get_close_matches(word.strip(":").lower(), KEYWORDS, 1)
    return close[0] if close else None


def _unknown(word: str) -> _Problem:
    near = _near(word)
    return _Problem("unknown-line", f"`{word}` is no keyword of a file of tests", word,
                    f"the keywords are {', '.join(KEYWORDS)}" if near is None else f"did you mean {near}?")


def _misspelt(words: str) -> _Problem | None:
    """What is to be said of a line of a block that may be a keyword which is spelt wrong."""
    word = words.split(maxsplit=1)[0]
    return _unknown(word) if re.fullmatch(r"[A-Za-z-]+:?", word) and _near(word) else None


def _refuse_stop(words: str) -> None:
    if words.endswith((".", ",", ";")):
        raise _Problem("full-stop", f"a line of a test does not end with '{words[-1]}'", words[-1], "leave it out")


def _refuse_overlaps(when: Sequence[Stretch]) -> None:
    ordered = sorted(when)
    for one, other in pairwise(ordered):
        if other[0] < one[1]:
            both = text_of([one]), text_of([other])
            raise _Problem("overlapping", f"the intervals {both[0]} and {both[1]} overlap", None,
                           f"what is found are maximal intervals; write {text_of(united(when))}")


def _discrete(cut: Cut) -> Cut:
    return (cut[0] + 1, 0) if cut[1] and abs(cut[0]) != FOREVER else (cut[0], 0)


def settings_of(test: RuleTest) -> Mapping[str, int | str]:
    """The settings of a test, as Python calls them."""
    return {name.replace("-", "_"): value for name, value in test.settings.items()}
