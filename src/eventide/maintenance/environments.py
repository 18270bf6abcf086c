"""Environments: sets of assumptions as bits of one integer, and families of them. Knows no nodes.

An environment is a plain `int`; bit i stands for assumption i. Python's integers were measured against packed words in
NumPy: up to some 60 environments a loop over integers is faster (0.4 against 3.3 µs for 4 of them), since a call of
NumPy costs more than the work; labels of streams are that short. At 2,000 environments of 500 bits packed words win
by a factor of two, which does not pay for two representations.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator


def bits_of(environment: int) -> Iterator[int]:
    """The assumptions of an environment, each as an integer with one bit.

    >>> list(bits_of(0b1101))
    [1, 4, 8]
    """
    while environment:
        low = environment & -environment
        yield low
        environment ^= low


def minimal(environments: Iterable[int]) -> list[int]:
    """Those that contain no other, each once, the smallest first.

    >>> minimal([0b011, 0b001, 0b110, 0b001])
    [1, 6]
    """
    kept: list[int] = []
    for environment in sorted(set(environments), key=int.bit_count):
        if not is_covered(environment, kept):
            kept.append(environment)
    return kept


def is_covered(environment: int, family: Iterable[int]) -> bool:
    """Whether some member of the family is a subset of the environment, or the environment itself.

    >>> is_covered(0b110, [0b001, 0b010]), is_covered(0b100, [0b001, 0b010]), is_covered(0b100, [0])
    (True, False, True)
    """
    return any(member & environment == member for member in family)


class Nogoods:
    """The minimal environments from which falsum follows. Each is found by its highest bit alone.

    >>> nogoods = Nogoods()
    >>> nogoods.add(0b111), nogoods.add(0b011), nogoods.add(0b1011)
    (True, True, False)
    >>> list(nogoods), nogoods.forbid(0b1011), nogoods.forbid(0b101)
    ([3], True, False)
    """

    def __init__(self) -> None:
        self._by_highest: dict[int, list[int]] = {}
        self._highest = 0  # the union of the keys: most environments have none of them
        self.falsum = False
        """Whether even the empty environment is a nogood."""

    def __iter__(self) -> Iterator[int]:
        if self.falsum:
            yield 0
        for family in self._by_highest.values():
            yield from family

    def __len__(self) -> int:
        return sum(map(len, self._by_highest.values())) + self.falsum

    def forbid(self, environment: int) -> bool:
        """Whether the environment contains a nogood."""
        if self.falsum:
            return True
        return any(is_covered(environment, self._by_highest[bit]) for bit in bits_of(environment & self._highest))

    def add(self, nogood: int) -> bool:
        """Keep a nogood and drop those that contain it; `False` if one that it contains is known."""
        if self.forbid(nogood):
            return False
        if not nogood:
            self._by_highest.clear()
            self._highest, self.falsum = 0, True
            return True
        for highest, family in list(self._by_highest.items()):
            if highest >= nogood & -nogood:
                self._keep(highest, [known for known in family if known & nogood != nogood])
        highest = 1 << (nogood.bit_length() - 1)
        self._by_highest.setdefault(highest, []).append(nogood)
        self._highest |= highest
        return True

    def drop(self, bit: int) -> None:
        """Drop the nogoods that contain an assumption."""
        for highest, family in list(self._by_highest.items()):
            if highest >= bit:
                self._keep(highest, [known for known in family if not known & bit])

    def clear(self) -> None:
        """Drop all."""
        self._by_highest.clear()
        self._highest, self.falsum = 0, False

    def _keep(self, highest: int, family: list[int]) -> None:
        if family:
            self._by_highest[highest] = family
        else:
            del self._by_highest[highest]
            self._highest &= ~highest
