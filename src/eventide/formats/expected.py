"""What a reader may expect of its rows: the program's declarations and the caller's settings. Reads nothing."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

from eventide.errors import InputError
from eventide.formats.facts import Kind
from eventide.formats.problems import suggestion

ColumnType = Literal["int", "float", "text"]
TimeUnit = Literal["s", "ms", "us", "ns"]
_TIME_UNITS = get_args(TimeUnit)
Declared = Callable[[str], Kind | None]
Arities = Callable[[str], Iterable[int] | None]
_FEW = 6  # names that fit into a hint


def check_time_unit(unit: object) -> None:
    """Raise InputError unless this is a unit of time, or None.

    >>> check_time_unit("h")
    Traceback (most recent call last):
    eventide.errors.InputError: time_unit is 'h', expected 's', 'ms', 'us' or 'ns'
    """
    if unit is not None and unit not in _TIME_UNITS:
        raise InputError(f"time_unit is {unit!r}, expected 's', 'ms', 'us' or 'ns'")


@dataclass(slots=True)
class Expected:
    """`declared` says what a name is; `arities`, where given, how many arguments it may have.

    Without `arities` a name has as many arguments as most of its rows in the first input that has it. `column_types`
    overrides the typing of columns, by column name or, in RTEC's form, by `name/position` (`velocity/2`).
    """

    declared: Declared
    arities: Arities | None = None
    names: Collection[str] = ()
    derived: Collection[str] = ()
    column_types: Mapping[str, ColumnType] = field(default_factory=dict)
    time_unit: TimeUnit | None = None
    columns: set[str] = field(default_factory=set)
    """The names of the columns that were read."""
    _settled: dict[str, int] = field(default_factory=dict)

    def accepted(self, name: str, sizes: Mapping[int, int]) -> Collection[int]:
        """The numbers of arguments that rows of a name may have, given how many rows have each number."""
        allowed = self.arities(name) if self.arities else None
        if allowed is not None:
            return tuple(allowed)
        if name not in self._settled:
            self._settled[name] = max(sizes, key=lambda n: sizes[n])  # the first of equals
        return (self._settled[name],)

    def unknown(self, name: str) -> tuple[str, str]:
        """What is wrong with a name that is no input of the program, and what to try."""
        if name in self.derived:
            return (f"the program derives {name} itself; it cannot be among the data",
                    "rename it in the data, or take its rules out of the program")
        inner = name.partition("(")[0]
        if name.endswith(")") and inner in self.names:
            return (f"the program does not know {name}",
                    f"write the name alone, {inner}, and its arguments in columns of their own")
        known = f"; it reads {', '.join(sorted(self.names))}" if 0 < len(self.names) <= _FEW else ""
        hint = suggestion(name, self.names) or f"declare the name in the program, or skip bad rows{known}"
        return f"the program does not know {name}", hint

    def check_columns(self) -> None:
        """InputError if `column_types` names a column that there is not."""
        for column in self.column_types:
            name, mark, _ = column.rpartition("/")
            if column not in self.columns and not (mark and self.declared(name) is not None):
                known = f"the columns are {', '.join(sorted(self.columns)) or 'none'}"
                hint = suggestion(column, self.columns) or known
                raise InputError(f"column_types names the column {column}, which there is not; {hint}")


def arguments(count: int) -> str:
    """`1 argument`, `2 arguments`."""
    return f"{count} argument{'' if count == 1 else 's'}"


def either(counts: Collection[int]) -> str:
    """`2 arguments`, `1 or 3 arguments`."""
    ordered = sorted(counts)
    return " or ".join([*map(str, ordered[:-1]), arguments(ordered[-1])]) if ordered else "no such name"
