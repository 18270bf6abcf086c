"""Values computed of trees, kept as long as the same trees come again: an editor checks a text letter by letter.

Trees never change, so a tree is known by its identity; equal trees elsewhere in the text have places of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

Tree = TypeVar("Tree")
Value = TypeVar("Value")
MOST = 4_000
"""After so many new values, those that were not asked for since the last time are forgotten."""


class Remembered(Generic[Tree, Value]):
    """A function of a tree that is computed once for each.

    >>> from eventide.syntax.terms import Atom
    >>> seen = []
    >>> name = Remembered(lambda atom: seen.append(atom.name) or atom.name)
    >>> atom = Atom("a")
    >>> name(atom), name(atom), name(Atom("a")), seen
    ('a', 'a', 'a', ['a', 'a'])
    """

    __slots__ = ("_before", "_compute", "_known")

    def __init__(self, compute: Callable[[Tree], Value]) -> None:
        self._compute = compute
        # A tree is kept with its value: so no other tree can get its identity.
        self._known: dict[int, tuple[Tree, Value]] = {}
        self._before: dict[int, tuple[Tree, Value]] = {}

    def __call__(self, tree: Tree) -> Value:
        """The value of a tree."""
        found = self._known.get(id(tree))
        if found is None:
            found = self._before.get(id(tree)) or (tree, self._compute(tree))
            if len(self._known) >= MOST:
                self._before, self._known = self._known, {}
            self._known[id(tree)] = found
        return found[1]
