"""Dictionaries of ground values: every argument that is compared or joined is a small integer code of its domain."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from eventide.errors import RuleError
from eventide.kernels.arrays import Array
from eventide.kernels.joins import factorize
from eventide.syntax.terms import Atom, Compound, Number, Term

Value = int | float | str | Compound


class GrowthError(Exception):
    """A domain outgrew the bits laid out for it; the run starts again with a wider layout."""


def more_room(spare: int, growth: GrowthError) -> int:
    """How many bits to spare for domains that grow, after one outgrew these; RuleError if there is no end to it."""
    if spare > 36:
        raise RuleError("growing-values", f"the values of {growth} grow without bound", "bound them with a condition",
                        values=str(growth)) from growth
    return spare + 4


def value_of(term: Term) -> Value:
    """A ground term as a dictionary value: numbers and atoms as Python values, compounds as they are."""
    if isinstance(term, Number):
        return term.value
    if isinstance(term, Atom):
        return term.name
    if isinstance(term, Compound):
        return term
    raise TypeError(f"not a ground value: {term}")


def text_of(value: Value) -> str:
    """A value as it is written in results."""
    return repr(value) if isinstance(value, int | float) else str(value)


def _key(value: Value) -> object:
    # 1 and 1.0 are equal in Python but different terms
    return ("float", value) if isinstance(value, float) else value


def _standard_order(value: Value) -> tuple[int, float, str]:
    # Prolog's standard order: numbers by value (a float before an equal integer), then atoms, then compounds
    if isinstance(value, float):
        return (0, value, "0")
    if isinstance(value, int):
        return (0, value, "1")
    if isinstance(value, str):
        return (1, 0.0, value)
    return (2, float(len(value.args)), f"{value.functor}\0{value}")


class Domain:
    """The values of one class of arguments, coded 0, 1, 2, … in order of appearance.

    >>> d = Domain("colour")
    >>> d.code("red"), d.code("blue"), d.code("red")
    (0, 1, 0)
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.values: list[Value] = []
        self._places: dict[object, int] = {}
        self._numbers: npt.NDArray[np.float64] | npt.NDArray[np.int64] | None = None
        self._ranks: Array | None = None
        self._whole: npt.NDArray[np.bool_] | None = None
        self._texts: list[str] | None = None
        self._column: pa.Array | None = None
        self.width: int | None = None
        self.closed = False

    def __len__(self) -> int:
        return len(self.values)

    @property
    def _index(self) -> dict[object, int]:
        """The codes by value; of values that came together it is made when it is first asked for."""
        known = len(self._places)
        if known < len(self.values):
            self._places.update(zip(map(_key, self.values[known:]), range(known, len(self.values)), strict=True))
        return self._places

    def code(self, value: Value) -> int:
        """The code of a value, which is added if it is new."""
        key, index = _key(value), self._index
        known = index.get(key)
        if known is not None:
            return known
        if self.closed and len(self.values) >= 1 << (self.width or 0):
            raise GrowthError(self.name)
        index[key] = code = len(self.values)
        self.values.append(value)
        self._numbers = self._ranks = self._texts = None
        return code

    def find(self, value: Value) -> int:
        """The code of a value, or -1."""
        return self._index.get(_key(value), -1)

    def codes(self, values: Iterable[Value], *, distinct: bool = False) -> Array:
        """The codes of many values; `distinct` says that none of them is given twice."""
        given = list(values)
        if float in set(map(type, given)):  # 1.0 would be taken for 1, and -0.0 is 0.0
            return np.fromiter((self.code(value) for value in given), np.int64, len(given))
        if distinct and not self.values and not self.closed:
            self.values = given
            self._numbers = self._ranks = self._texts = None
            return np.arange(len(given), dtype=np.int64)
        known = list(map(self._index.get, given))
        if None in known:
            known = [self.code(value) if code is None else code for value, code in zip(given, known, strict=True)]
        return np.array(known, np.int64)

    def encode_numbers(self, numbers: npt.NDArray[np.int64] | npt.NDArray[np.float64]) -> Array:
        """The codes of an array of numbers, each distinct one looked up once."""
        integral = numbers.dtype.kind == "i"
        bits = numbers if integral else np.where(numbers == 0.0, 0.0, numbers).view(np.int64)
        local, unique = factorize(np.ascontiguousarray(bits))
        values = unique.tolist() if integral else unique.view(np.float64).tolist()
        return self.codes(values, distinct=True)[local]

    def fix(self, spare: int = 0) -> None:
        """Lay out the bits of a code: enough for the values known now, `spare` more bits for values to come."""
        self.lay_out(max(len(self.values) - 1, 0).bit_length() + spare)

    def lay_out(self, width: int) -> None:
        """Give a code so many bits; more values than these hold are an error until `open` is called."""
        self.width, self.closed = width, True

    def open(self) -> None:
        """Let values come that the layout has no room for; it must be changed before codes are packed again."""
        self.closed = False

    @property
    def numbers(self) -> npt.NDArray[np.float64] | npt.NDArray[np.int64]:
        """The numeric value of every code (not-a-number for symbols)."""
        if self._numbers is None:
            if all(type(value) is int for value in self.values):
                self._numbers = np.array(self.values, np.int64)
            else:
                self._numbers = np.array(
                    [float(v) if isinstance(v, int | float) else np.nan for v in self.values], np.float64)
        return self._numbers

    def numbers_of(self, codes: Array) -> npt.NDArray[np.float64] | npt.NDArray[np.int64]:
        """The numeric values of codes: integers where all of them are, whatever else the domain holds."""
        found = self.numbers[codes]
        if found.dtype.kind == "f" and self.integral()[codes].all():
            return found.astype(np.int64)
        return found

    def integral(self) -> npt.NDArray[np.bool_]:
        """Which codes stand for integers."""
        if self._whole is None or self._whole.shape[0] != len(self.values):
            self._whole = np.array([type(value) is int for value in self.values], np.bool_)
        return self._whole

    @property
    def ranks(self) -> Array:
        """The rank of every code in the standard order of terms."""
        if self._ranks is None:
            order = sorted(range(len(self.values)), key=lambda code: _standard_order(self.values[code]))
            self._ranks = np.empty(len(order), np.int64)
            self._ranks[order] = np.arange(len(order))
        return self._ranks

    @property
    def texts(self) -> list[str]:
        """Every value as it is written in results."""
        if self._texts is None:
            self._texts = [text_of(value) for value in self.values]
        return self._texts

    @property
    def column(self) -> pa.Array:
        """The texts as an Arrow array."""
        if self._column is None or len(self._column) != len(self.values):
            self._column = pa.array(self.texts, pa.string())
        return self._column
