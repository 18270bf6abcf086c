"""Budgets: how many rows, how much memory and how much time an evaluation may take, and who asked for more.

An operator that multiplies rows says how many it is about to make; beyond the budget it is stopped before it makes
them. Without a budget there is one for memory, from what the machine has.
"""

from __future__ import annotations

import resource
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from time import monotonic

from eventide.algebra.nodes import Node
from eventide.algebra.text import label
from eventide.errors import InputError, RuleError

_MANY = 1 << 20  # operators that make fewer rows need not ask
_WORDS = 4  # of eight bytes, that a new row takes at the least: two places, a column, a copy of it
_PART = 0.9
_UNITS = {"": 1, "kb": 1 << 10, "mb": 1 << 20, "gb": 1 << 30, "tb": 1 << 40}


@dataclass(frozen=True)
class Budget:
    """The most that may be used; None is no limit. Memory is that of the whole process, in bytes."""

    memory: int | None = None
    rows: int | None = None
    seconds: float | None = None


class OverBudget(Exception):
    """An operator asked for more than there is; `node` is the first that did."""

    def __init__(self, needed: str, limit: str, option: str) -> None:
        super().__init__(f"{needed}; the limit is {limit}")
        self.needed, self.limit, self.option = needed, limit, option
        self.node: Node | None = None

    def of(self, definitions: Sequence[str]) -> RuleError:
        """The same as an error of the rules that define these results."""
        operator = "" if self.node is None else f" at '{label(self.node)}'"
        named = ", ".join(name for name in definitions if not name.startswith("#")) or "the rules"
        advice = "take fewer facts at a time" if self.option == "seconds" else "let the conditions share more variables"
        return RuleError("over-budget", f"{named}{operator} would need {self.needed}; the limit is {self.limit}",
                         f"{advice}, or raise the limit: --max-{self.option}, or {self.option} in [limits] of a stream",
                         definitions)


class Meter:
    """A budget in use, from now on."""

    def __init__(self, budget: Budget) -> None:
        self.budget, self._began = budget, monotonic()

    def allow(self, rows: int) -> None:
        """Raise OverBudget unless an operator may make so many rows."""
        if self.budget.rows is not None and rows > self.budget.rows:
            raise OverBudget(f"{rows:,} rows", f"{self.budget.rows:,} rows", "rows")
        if rows >= _MANY and self.budget.memory is not None:
            more = 8 * _WORDS * rows
            if resident() + more > self.budget.memory:
                raise OverBudget(f"{rows:,} rows, about {size_of(more)}", f"{size_of(self.budget.memory)} in all",
                                 "memory")

    def take(self, rows: int) -> None:
        """Raise OverBudget if so many rows are too many, or the time is over."""
        self.allow(rows)
        seconds = self.budget.seconds
        if seconds is not None and monotonic() - self._began > seconds:
            raise OverBudget("more time", f"{seconds:g} seconds", "seconds")


_ACTIVE: ContextVar[Meter | None] = ContextVar("budget", default=None)


def allow(rows: int) -> None:
    """Raise OverBudget unless an operator may make so many rows, under the budget in use or that of the machine."""
    meter = _ACTIVE.get()
    if meter is not None:
        meter.allow(rows)
    elif rows >= _MANY:
        Meter(_of_machine()).allow(rows)


def in_use() -> Meter | None:
    """The budget in use, if one was given."""
    return _ACTIVE.get()


@contextmanager
def budget(memory: int | str | None = None, rows: int | None = None, seconds: float | None = None) -> Iterator[None]:
    """Let nothing in the block use more than so much memory (bytes, or a text such as `"4 GB"`), rows or seconds.

    >>> with budget(memory="4 GB", seconds=60):
    ...     allow(1000)
    """
    given = Budget(None if memory is None else bytes_of(memory), rows, seconds)
    for name, number in (("memory", given.memory), ("rows", rows), ("seconds", seconds)):
        if number is not None and number <= 0:
            raise InputError(f"{name} is {number}; it must be more than 0")
    if given.memory is None:
        given = Budget(_of_machine().memory, rows, seconds)
    token = _ACTIVE.set(Meter(given))
    try:
        yield
    finally:
        _ACTIVE.reset(token)


def bytes_of(memory: int | str) -> int:
    """An amount of memory in bytes.

    >>> bytes_of("1.5 GB"), bytes_of("200mb"), bytes_of(64)
    (1610612736, 209715200, 64)
    """
    if isinstance(memory, int):
        return memory
    text = memory.strip().lower()
    unit = next((unit for unit in ("kb", "mb", "gb", "tb") if text.endswith(unit)), "")
    try:
        return int(float(text.removesuffix(unit)) * _UNITS[unit])
    except (ValueError, OverflowError):
        raise InputError(f"an amount of memory is {memory!r}; expected a number of bytes, or one such as 4GB") from None


def size_of(amount: int) -> str:
    """Bytes as people say them.

    >>> size_of(37 << 30), size_of(3 << 20)
    ('37 GB', '3 MB')
    """
    unit = next(unit for unit in ("tb", "gb", "mb", "kb", "") if amount >= _UNITS[unit] or not unit)
    number = amount / _UNITS[unit]
    return f"{number:.0f} {unit.upper() or 'bytes'}" if number >= 10 or number == int(number) else \
        f"{number:.1f} {unit.upper()}"


def resident() -> int:
    """The bytes of memory that the process has now."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * resource.getpagesize()
    except (OSError, ValueError, IndexError):
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return most if sys.platform == "darwin" else most << 10


@cache
def _of_machine() -> Budget:
    """Most of the memory that the machine, or the container, has for this process."""
    found = [int(text) for path in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
             if (text := _text(path).strip()).isdigit()]
    for line in _text("/proc/meminfo").splitlines():
        if line.startswith("MemAvailable:"):
            found.append(int(line.split()[1]) * 1024 + resident())
    return Budget(int(_PART * min(found)) if found else None)


def _text(path: str) -> str:
    try:
        return Path(path).read_text(encoding="ascii")
    except OSError:
        return ""
