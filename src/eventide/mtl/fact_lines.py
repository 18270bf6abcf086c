"""Texts of facts, `P(a,b)@[0,1/3)` one per line, to columns. Plain lines are read by `fact_scan`, all others here.

MeTeoR's facts are read too: `P@3` and `P@[3]` are the same. `%` begins a comment; a full stop may end a line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from eventide.formats.facts import BadRow, Column, FactTable, Ints, Value, column_of
from eventide.formats.files import Text
from eventide.formats.problems import diagnostic
from eventide.formats.rtec_cells import Cells, cell_column, group_rows
from eventide.formats.rtec_scan import LONG_INT, POWERS, TEXT, Bytes, gather
from eventide.formats.unreadable import problem_of
from eventide.mtl.cells import COARSER, MOST, DenseFacts, Ends, dense_facts
from eventide.mtl.fact_scan import LEFT_OPEN, NO_LEFT, NO_RIGHT, PLAIN, RIGHT_OPEN, scan
from eventide.syntax.tokens import unquote

_NAME = re.compile(r"[^\W\d]\w*")
_WORD = re.compile(r"[^\s,()@\[\]'\"%](?:[^,()@\[\]'\"%\n]*[^\s,()@\[\]'\"%])?")
_QUOTED = re.compile(r"""'(?:[^'\\]|''|\\.)*'|"(?:[^"\\]|""|\\.)*\"""")
_INTEGER, _DECIMAL = re.compile(r"-?\d+", re.ASCII), re.compile(r"-?\d+\.\d+", re.ASCII)
_BOUND = re.compile(r"[+-]?(?:inf|\d+(?:\.\d+|/\d+)?)", re.ASCII)
_UNREAD = re.compile(r"[^\s,\[\]()]*")
TIMES = "a time is a whole number, a decimal such as 0.5, a fraction such as 1/3, or inf"
SHORT = 1 << 15
EXAMPLE = "a fact is written P(a,b)@[0,1/3) or P(a)@3"


class FactProblem(Exception):
    """A line that is no fact: code, message, column from 1, width, and what to try."""

    def __init__(self, code: str, message: str, column: int, width: int = 1, hint: str = EXAMPLE) -> None:
        super().__init__(message)
        self.code, self.message, self.column, self.width, self.hint = code, message, column, width, hint


@dataclass(frozen=True, slots=True)
class Fact:
    """One fact as it is written; None is infinity on its side."""

    name: str
    args: tuple[Value, ...]
    left: Fraction | None
    left_closed: bool
    right: Fraction | None
    right_closed: bool


def fact_in(line: str) -> Fact | None:
    """The fact of a line, None if there is only a comment; `FactProblem` says what is wrong and where.

    >>> fact_in("Temp(s1, -2.5)@(0,1/3].")  # doctest: +NORMALIZE_WHITESPACE
    Fact(name='Temp', args=('s1', -2.5), left=Fraction(0, 1), left_closed=False,
         right=Fraction(1, 3), right_closed=True)
    """
    return _Line(line).fact()


def bound_in(word: str, *, low: bool, column: int = 1) -> Fraction | None:
    """The time that a word says, None for infinity on the side where it stands; `FactProblem` if it is none.

    >>> bound_in("0.50", low=True), bound_in("inf", low=False)
    (Fraction(1, 2), None)
    """
    if _BOUND.fullmatch(word) is None:
        raise FactProblem("bad-time", f"{word or 'nothing'} is no time", column, len(word), TIMES)
    if word.endswith("inf"):
        if (word == "-inf") != low:
            raise FactProblem("bad-time", f"{word} stands on the wrong side", column, len(word),
                              "-inf stands on the left, inf on the right")
        return None
    time = Fraction(MOST)
    if len(word) < 4000:  # int() reads no more than 4300 digits
        top, _, bottom = word.partition("/")
        if bottom and not int(bottom):
            raise FactProblem("bad-time", f"{word} has the denominator 0", column, len(word), TIMES)
        time = Fraction(top) / int(bottom or 1)
    if max(abs(time.numerator), time.denominator) >= MOST:
        raise FactProblem("time-overflow", f"{word} does not fit 60 bits", column, len(word), COARSER)
    return time


def read_lines(text: Text, bad_limit: int | None = None, *, compiled: bool | None = None) -> DenseFacts:
    """The facts of a text. At most `bad_limit` bad lines are kept, all are counted. O(bytes) where lines are plain.

    Short texts are read line by line, as loading the compiled loop takes longer; `compiled` decides otherwise.
    """
    if compiled is None:
        compiled = text.stop - text.start > SHORT
    if not compiled:
        lines = [(number, line.removesuffix("\r")) for number, line in enumerate(
            text.piece(text.start, text.stop).split("\n")[:-1], text.above + 1) if _is_row(line)]
        facts, bad = _slowly(text.source, lines)
        bad = sorted((*text.broken, *bad), key=lambda row: row.diagnostic.span.line if row.diagnostic.span else 0)
        return dense_facts(_of_few(text.source, facts), bad, bad_limit, len(lines) + len(text.broken))
    rows = _scanned(text).with_long_numbers_apart()
    plain, others = np.flatnonzero(rows.flags & PLAIN), np.flatnonzero(~rows.flags & PLAIN)
    parts = rows.columns(plain) if plain.shape[0] else []
    facts, bad = _slowly(text.source, ((int(rows.line[row]), text.line_at(int(rows.start[row])))
                                       for row in others.tolist()))
    bad = sorted((*text.broken, *bad), key=lambda row: row.diagnostic.span.line if row.diagnostic.span else 0)
    return dense_facts([*parts, *_of_few(text.source, facts)], bad, bad_limit, rows.line.shape[0] + len(text.broken))


def _is_row(line: str) -> bool:
    first = line.lstrip(" \t\r")[:1]
    return first not in ("", "%")


def _scanned(text: Text) -> _Rows:
    size, room = text.count(b"\n"), text.count(b",") + text.count(b"(")
    kinds, values = np.empty(room, np.uint8), np.empty(room, np.int64)
    line, start, name, cell = (np.empty(size + 1, np.int64) for _ in range(4))
    bounds, flags = np.ones((4, size), np.int64), np.empty(size, np.uint8)
    found = scan(text.data, text.start, text.stop, POWERS, kinds, values, values.view(np.float64), line, start, name,
                 cell, bounds, flags)
    return _Rows(text, kinds, values, line[:found] + text.above, start[:found], name[:found], cell[: found + 1],
                 bounds, flags[:found])


@dataclass(frozen=True, slots=True)
class _Rows:
    """What the scan found: for each row its line, where it starts, and if it is plain name, cells, bounds and flags."""

    text: Text
    kinds: Bytes
    values: Ints
    line: Ints
    start: Ints
    name: Ints
    cell: Ints
    bounds: Ints
    flags: Bytes

    def with_long_numbers_apart(self) -> _Rows:
        """The rows, of which none with an integer of many digits is plain: it may not fit."""
        count = int(self.cell[self.line.shape[0]])
        long = np.flatnonzero(self.kinds[:count] == LONG_INT)
        self.flags[np.searchsorted(self.cell[:self.line.shape[0] + 1], long, "right") - 1] &= ~np.uint8(PLAIN)
        return self

    def columns(self, rows: Ints) -> list[tuple[FactTable, Ends]]:
        """Plain rows as tables without times, with their ends beside them."""
        data, sizes = self.text.data, np.diff(self.cell)[rows]
        kinds = np.full(rows.shape[0], TEXT, np.uint8)
        order, offsets, names, widths = group_rows(data, self.name[rows], kinds, sizes)
        tables = []
        for g, (name, width) in enumerate(zip(names, widths, strict=True)):
            of_group = rows[order[offsets[g] : offsets[g + 1]]]
            columns = tuple(self._column(self.cell[of_group], j) for j in range(width))
            tables.append((_timeless(name, columns, self.line[of_group], self.text.source), self._ends(of_group)))
        return tables

    def _column(self, first: Ints, at: int) -> Column:
        cells = Cells(np.empty(first.shape[0], np.uint8), np.empty(first.shape[0], np.int64), 0)
        cells.seen = gather(first, at, self.kinds, self.values, cells.kinds, cells.values)
        return cell_column(self.text.data, cells)

    def _ends(self, rows: Ints) -> Ends:
        left, left_under, right, right_under = (column[rows] for column in self.bounds)
        flags = self.flags[rows]
        return Ends(left, left_under, flags & LEFT_OPEN != 0, flags & NO_LEFT != 0,
                    right, right_under, flags & RIGHT_OPEN != 0, flags & NO_RIGHT != 0)


def _slowly(source: str, lines: Iterable[tuple[int, str]]) -> tuple[list[tuple[int, Fact]], list[BadRow]]:
    """The facts of numbered lines, with their numbers, and the lines that are none."""
    found, bad = [], []
    for number, line in lines:
        try:
            fact = fact_in(line)
        except FactProblem as problem:
            bad.append(BadRow(diagnostic(problem.code, problem.message, source, number, problem.column, problem.width,
                                         problem.hint), line))
            continue
        if fact is not None:
            found.append((number, fact))
    return found, bad


def _of_few(source: str, facts: list[tuple[int, Fact]]) -> list[tuple[FactTable, Ends]]:
    groups: dict[tuple[str, int], list[tuple[int, Fact]]] = {}
    for line, fact in facts:
        groups.setdefault((fact.name, len(fact.args)), []).append((line, fact))
    tables = []
    for (name, width), rows in groups.items():
        columns = tuple(column_of(fact.args[j] for _, fact in rows) for j in range(width))
        table = _timeless(name, columns, np.array([line for line, _ in rows], np.int64), source)
        tables.append((table, Ends.of([(f.left, f.left_closed, f.right, f.right_closed) for _, f in rows])))
    return tables


def _timeless(name: str, columns: tuple[Column, ...], lines: Ints, source: str) -> FactTable:
    nothing = np.zeros(lines.shape[0], np.int64)
    return FactTable(name, "interval", nothing, columns, nothing, rows=lines, origins=((source, 0),))


class _Line:
    """A line, read from left to right."""

    def __init__(self, text: str) -> None:
        self._text, self._at = text, 0

    def fact(self) -> Fact | None:
        self._blanks()
        if self._next() in ("", "%"):
            return None
        found = _NAME.match(self._text, self._at)
        if found is None:
            raise self._problem("expected the name of a predicate")
        self._at = found.end()
        args = tuple(self._arguments()) if self._skip("(") else ()
        if not self._skip("@"):
            raise self._problem("expected @ and a time behind the atom" if args or self._next() != ")"
                                else "expected ( before )")
        bounds = self._time()
        self._skip(".")
        self._blanks()
        if self._next() not in ("", "%"):
            raise self._problem("expected the end of the line behind the time", hint="write one fact per line")
        return Fact(found[0], args, *bounds)

    def _arguments(self) -> Iterator[Value]:
        while True:
            self._blanks()
            quoted = _QUOTED.match(self._text, self._at)
            found = quoted or _WORD.match(self._text, self._at)
            value = None if found is None else value_in(found[0]) if quoted is None else unquote(found[0])
            if found is None or value is None:
                raise self._problem("expected an argument: a word, a number, or a text in quotes")
            problem = problem_of(value)
            if problem is not None:
                raise FactProblem(problem.code, f"the argument is {problem.message}", self._at + 1,
                                  found.end() - self._at, problem.hint)
            self._at = found.end()
            yield value
            if self._skip(")"):
                return
            if not self._skip(","):
                raise self._problem("expected , or ) behind the argument")

    def _time(self) -> tuple[Fraction | None, bool, Fraction | None, bool]:
        self._blanks()
        begin = self._at
        closed = self._skip("[")
        if not closed and not self._skip("("):
            time = self._bound(low=False)
            if time is None:
                raise FactProblem("bad-time", "a point in time is finite", begin + 1, 3, TIMES)
            return time, True, time, True
        left = self._bound(low=True)
        right = self._bound(low=False) if self._skip(",") else left
        right_closed = self._skip("]")
        if not right_closed and not self._skip(")"):
            raise self._problem("expected ] or ) behind the interval")
        closed, right_closed = closed and left is not None, right_closed and right is not None
        if left is not None and right is not None and (left > right or (left == right and not closed & right_closed)):
            shown = self._text[begin : self._at].strip()
            hint = "the first bound must not be later; a point is [t,t] or t"
            raise FactProblem("empty-interval", f"no time lies in {shown}", begin + 1, len(shown), hint)
        return left, closed, right, right_closed

    def _bound(self, *, low: bool) -> Fraction | None:
        self._blanks()
        unread = _UNREAD.match(self._text, self._at)
        begin, word = self._at, unread[0] if unread else ""
        if word.endswith(".") and not self._text[begin + len(word) :].strip():
            word = word[:-1]  # the full stop of the line
        self._at += len(word)
        return bound_in(word, low=low, column=begin + 1)

    def _next(self) -> str:
        return self._text[self._at : self._at + 1]

    def _blanks(self) -> None:
        while self._next().isspace():
            self._at += 1

    def _skip(self, mark: str) -> bool:
        self._blanks()
        if self._next() != mark:
            return False
        self._at += 1
        return True

    def _problem(self, message: str, at: int | None = None, hint: str = EXAMPLE) -> FactProblem:
        return FactProblem("bad-fact", message, (self._at if at is None else at) + 1, hint=hint)


def value_in(word: str) -> Value:
    """A word as an argument: digits are an integer, with a point between them a float, everything else a constant.

    >>> value_in("7"), value_in("-2.50"), value_in("1e5")
    (7, -2.5, '1e5')
    """
    if _INTEGER.fullmatch(word):
        return int(word) if len(word) < 4000 else word
    return float(word) if _DECIMAL.fullmatch(word) else word
