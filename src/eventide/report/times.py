"""Times as people read them: numbers or dates, durations, and the marks of an axis."""

from __future__ import annotations

from datetime import UTC, datetime
from math import ceil, floor, isfinite, log10
from typing import Literal, get_args

Unit = Literal["number", "s", "ms", "us", "ns"]
Shown = Literal["auto", "number", "s", "ms", "us", "ns"]
SHOWN: tuple[str, ...] = get_args(Shown)
PER_SECOND = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}
_EARLIEST, _LATEST = 315_532_800, 4_102_444_800  # 1980 and 2100
_STEPS = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 604800)


def unit_of(first: float, last: float, shown: Shown = "auto") -> Unit:
    """What the times of a result count: seconds since 1970 (or parts of them) where they look like it, else numbers.

    >>> unit_of(1_641_168_000, 1_641_254_399), unit_of(0, 90_000)
    ('s', 'number')
    """
    if shown != "auto":
        return shown
    for unit, parts in PER_SECOND.items():
        if _EARLIEST * parts <= first and last <= _LATEST * parts:
            return unit  # type: ignore[return-value]
    return "number"


def number_text(value: float, origin: int = 0) -> str:
    """A number without needless digits.

    >>> number_text(2.0), number_text(1 / 3), number_text(5, 10)
    ('2', '0.333333', '15')
    """
    if float(value).is_integer():
        return str(int(value) + origin)
    return f"{value + origin:.6f}".rstrip("0").rstrip(".")


def time_text(value: float, origin: int, unit: Unit) -> str:
    """A time counted from an origin.

    >>> time_text(61, 1_641_168_000, "s")
    '2022-01-03 00:01:01'
    """
    if not isfinite(value):
        return "open" if value > 0 else "always"
    if unit == "number":
        return number_text(value, origin)
    parts = PER_SECOND[unit]
    moment = (origin + value) / parts
    try:
        return datetime.fromtimestamp(floor(moment), UTC).strftime("%Y-%m-%d %H:%M:%S")
    except (OverflowError, ValueError, OSError):  # a year that the calendar does not know
        return number_text(value, origin)


def duration_text(value: float, unit: Unit) -> str:
    """A length of time: at most two units.

    >>> duration_text(3725, "s"), duration_text(45, "s"), duration_text(12, "number")
    ('1 h 2 min', '45 s', '12')
    """
    if not isfinite(value):
        return "endless"
    if unit == "number":
        return number_text(value)
    seconds = value / PER_SECOND[unit]
    if seconds < 60:
        return f"{number_text(round(seconds, 3))} s"
    whole = round(seconds)
    for name, size, below, small in (("d", 86400, "h", 3600), ("h", 3600, "min", 60), ("min", 60, "s", 1)):
        if whole >= size:
            rest = whole % size // small
            return f"{whole // size} {name}" + (f" {rest} {below}" if rest else "")
    return f"{whole} s"


def marks(first: float, last: float, origin: int, unit: Unit, about: int = 6) -> list[tuple[float, str]]:
    """Where an axis has marks, and what stands there: a date where a day begins.

    >>> marks(0, 100, 0, "number", 5)
    [(0.0, '0'), (20.0, '20'), (40.0, '40'), (60.0, '60'), (80.0, '80'), (100.0, '100')]
    """
    step = _step(max(last - first, 1e-9) / max(about, 1), unit)
    at = ceil((first + origin) / step) * step - origin
    found: list[tuple[float, str]] = []
    while at <= last + step * 1e-9 and len(found) < 200:
        found.append((float(at), _mark(at, step, origin, unit)))
        at += step
    return found


def _step(rough: float, unit: Unit) -> float:
    if unit == "number":
        power = 10.0 ** floor(log10(rough))
        return max(1, next(m * power for m in (1, 2, 5, 10) if m * power >= rough * 0.999))
    parts = PER_SECOND[unit]
    seconds = rough / parts
    return parts * next((step for step in _STEPS if step >= seconds), ceil(seconds / 604800) * 604800)


def _mark(at: float, step: float, origin: int, unit: Unit) -> str:
    text = time_text(at, origin, unit)
    if unit == "number" or " " not in text:
        return text
    day, clock = text.split(" ")
    if clock == "00:00:00":
        return day
    return clock if step < 60 * PER_SECOND[unit] else clock[:5]
