"""NMEA lines with AIS messages (`!AIVDM,…`) to position reports, decoded by pyais. Lines must carry times.

A time is that of the TAG block before the sentence (`\\c:1641168000*…\\!AIVDM…`), a number or ISO time at the beginning
of the line, or a number behind the sentence. A line without one has the time of the line before it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa

from eventide.formats.files import Text
from eventide.formats.problems import SHOWN, diagnostic, input_error
from eventide.signals.positions import NO_HEADING, POSITIONS, VESSELS
from eventide.syntax.diagnostics import Diagnostic

_SENTENCE = re.compile(r"![A-Z]{2}VD[MO],(\d),(\d),(\d*),(\w?),[^,*]*,\d\*[0-9A-Fa-f]{2}")
_TAG = re.compile(r"[\\,]c:(\d{9,16})")
_LEADING = re.compile(r"\s*(\d{9,16}(?:\.\d+)?|\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)?)\b")
_TRAILING = re.compile(r",(\d{9,16})\s*$")
_MOVING = frozenset({1, 2, 3, 9, 18, 19, 27})
_STATIC = frozenset({5, 19, 24})
_PENDING = 4096  # so many messages may wait for their other parts


def is_nmea(line: str) -> bool:
    """Whether a line has an AIS sentence.

    >>> is_nmea("1641168000 !AIVDM,1,1,,B,15MgK45P3@G?fl0E`JbR0OwT0@MS,0*4D")
    True
    """
    return re.search(r"![A-Z]{2}VD[MO],", line) is not None


@dataclass(slots=True)
class Sentences:
    """What the AIS sentences of a text say: reports by column, descriptions of vessels, what is wrong with lines."""

    source: str
    rows: dict[str, list[Any]] = field(default_factory=lambda: {name: [] for name in POSITIONS.names})
    static: dict[str, list[Any]] = field(default_factory=lambda: {name: [] for name in VESSELS.names})
    problems: list[Diagnostic] = field(default_factory=list)
    bad: int = 0
    _time: int | None = None
    _waiting: dict[tuple[str, ...], dict[int, str]] = field(default_factory=dict)

    def positions(self) -> pa.Table:
        """The reports as a table."""
        columns = [pa.array(self.rows[name], kind) for name, kind in zip(POSITIONS.names, POSITIONS.types, strict=True)]
        return pa.table(columns, schema=POSITIONS)

    def add(self, number: int, line: str) -> None:
        """Take in a line."""
        found = _SENTENCE.search(line)
        if found is not None:
            time = _time(line, found.start(), found.end())
            self._time = self._time if time is None else time
            parts = self._parts(found)
            if parts:
                self._decode(number, parts)
        elif is_nmea(line):
            self._wrong(number, "the sentence is damaged or cut off")

    def _parts(self, found: re.Match[str]) -> list[str]:
        """The sentences of a message that is complete; nothing while some of it is to come."""
        total, part = int(found[1]), int(found[2])
        if total == 1:
            return [found[0]]
        key = (found[1], found[3], found[4])
        if part == 1:
            self._waiting.pop(key, None)
            if len(self._waiting) >= _PENDING:
                del self._waiting[next(iter(self._waiting))]
        held = self._waiting.setdefault(key, {})
        held[part] = found[0]
        if len(held) < total:
            return []
        del self._waiting[key]
        return [held[each] for each in sorted(held)]

    def _decode(self, number: int, parts: list[str]) -> None:
        from pyais import decode
        from pyais.exceptions import AISBaseException, InvalidNMEAChecksum

        try:
            message = decode(*parts, error_if_checksum_invalid=True)
        except InvalidNMEAChecksum:
            self._wrong(number, "the checksum of the sentence is wrong")
            return
        except (AISBaseException, ValueError, IndexError, KeyError) as error:
            self._wrong(number, f"no AIS message: {error}")
            return
        if message.msg_type in _STATIC:
            _describe(message, self.static)
        if message.msg_type in _MOVING:
            if self._time is None:
                self._wrong(number, "nothing says when the message was received", "no-time")
                return
            for name, value in zip(POSITIONS.names, _report(message, self._time), strict=True):
                self.rows[name].append(value)

    def _wrong(self, number: int, message: str, code: str = "bad-sentence") -> None:
        self.bad += 1
        if len(self.problems) < SHOWN:
            self.problems.append(diagnostic(code, message, self.source, number))


def read_nmea(text: Text) -> Sentences:
    """The AIS sentences of a text; InputError if none of the reports has a time."""
    found = Sentences(text.source)
    for number, line in enumerate(text.piece(text.start, text.stop).split("\n")[:-1], 1):
        found.add(number, line)
    if not found.rows["time"] and any(problem.code == "no-time" for problem in found.problems):
        hint = "record with times: a TAG block (\\c:SECONDS*hh\\!AIVDM…), or seconds since 1970 before each sentence"
        raise input_error("no-times", "no line says when it was received", text.source, hint=hint)
    return found


def _time(line: str, start: int, stop: int) -> int | None:
    before = line[:start]
    for pattern, part in ((_TAG, before), (_LEADING, before), (_TRAILING, line[stop:])):
        found = pattern.search(part) if pattern is not _LEADING else pattern.match(part)
        if found is not None:
            return _seconds(found[1])
    return None


def _seconds(written: str) -> int | None:
    if "-" in written:
        try:
            moment = datetime.fromisoformat(written)
        except ValueError:
            return None
        return int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() // 1)
    number = float(written)
    return int(number // (1 if number < 1e11 else 1000 if number < 1e14 else 1_000_000))


def _report(message: Any, time: int) -> tuple[int, int, float, float, float, float, float]:
    heading = getattr(message, "heading", None)
    return (int(message.mmsi), time, float(message.lon), float(message.lat), float(message.speed),
            float(message.course), NO_HEADING if heading is None else float(heading))


def _describe(message: Any, static: dict[str, list[Any]]) -> None:
    kind, draught = getattr(message, "ship_type", None), getattr(message, "draught", None)
    name = getattr(message, "shipname", None)
    static["vessel"].append(int(message.mmsi))
    static["type"].append(None if kind is None else str(int(kind)))
    static["draught"].append(None if draught is None else float(draught))
    static["name"].append(None if name is None else str(name))
