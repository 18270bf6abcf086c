"""Ground rules to their answer sets, by clingo. Knows numbers of atoms, not what they mean.

What simple reasoning decides is decided first. The rest falls into parts that share no atom; each is solved by itself,
so k independent choices cost k small problems and not 2^k answers. Parts of equal shape are solved once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import clingo

Models = Literal["first", "all", "cautious", "brave"]
Rule = tuple[int | None, tuple[int, ...], tuple[int, ...]]
"""Head (None: a contradiction), atoms that must hold, atoms that must not."""
MOST_MODELS = 100_000
_MOST_SHAPES = 20_000
_ENUMERATION = {"first": "1", "all": str(MOST_MODELS + 1), "cautious": "0", "brave": "0"}
_Shape = tuple[int, tuple[tuple[int, tuple[int, ...], tuple[int, ...]], ...]]


class TooManyModels(Exception):
    """There are more answer sets than can be listed."""


class Part(NamedTuple):
    """Atoms that depend on each other, and their answer sets: all of them, or what was asked for in one set."""

    models: tuple[frozenset[int], ...]
    rules: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """The answer sets of a program: what holds in each of them, and the parts that are free to differ.

    `conflict` are the rules of the first part that has no answer set; then there is none at all.
    """

    certain: frozenset[int]
    parts: tuple[Part, ...] = ()
    conflict: tuple[int, ...] | None = None


class Solver:
    """Answer sets of ground programs; what was solved once is remembered.

    >>> solver = Solver("all")
    >>> a, b, c, d = range(4)
    >>> choice = [(a, (), (b,)), (b, (), (a,)), (c, (), (d,)), (d, (), (c,))]
    >>> [len(part.models) for part in solver.solve(choice, str).parts], solver.solved
    ([2, 2], 1)
    """

    def __init__(self, models: Models) -> None:
        self.models = models
        self.solved = 0
        """How often clingo was asked."""
        self._known: dict[_Shape, tuple[tuple[int, ...], ...]] = {}

    def solve(self, rules: Sequence[Rule], name: Callable[[int], str]) -> Outcome:
        """The answer sets of the rules; atoms go in order of their names, so that equal programs get equal ones."""
        decided = _Decided(rules)
        if decided.conflict is not None:
            return Outcome(frozenset(), (), (decided.conflict,))
        parts: list[Part] = []
        for numbers in decided.parts():
            part = [decided.reduced(number) for number in numbers]
            atoms = sorted({atom for head, positive, negative in part
                            for atom in (*(() if head is None else (head,)), *positive, *negative)}, key=name)
            place = {atom: i for i, atom in enumerate(atoms, 1)}
            shape = len(atoms), tuple(sorted(
                (0 if head is None else place[head], tuple(sorted(place[a] for a in positive)),
                 tuple(sorted(place[a] for a in negative))) for head, positive, negative in part))
            found = self._known.get(shape)
            if found is None:
                if len(self._known) >= _MOST_SHAPES:
                    self._known.clear()
                found = self._known[shape] = self._solved(shape)
            models = tuple(frozenset([atoms[local - 1] for local in model]) for model in found)
            if not models:
                return Outcome(frozenset(), (), tuple(numbers))
            parts.append(Part(models, tuple(numbers)))
        return Outcome(frozenset(decided.true), tuple(parts))

    def _solved(self, shape: _Shape) -> tuple[tuple[int, ...], ...]:
        """The answer sets of a part by clingo, in order; for `cautious` and `brave` one set, or none."""
        self.solved += 1
        mode = f"--enum-mode={self.models if self.models in ('cautious', 'brave') else 'auto'}"
        control = clingo.Control([_ENUMERATION[self.models], mode, "--warn=none"])
        size, rules = shape
        with control.backend() as backend:
            ids = [0, *(backend.add_atom(clingo.Function("a", [clingo.Number(local)])) for local in range(1, size + 1))]
            for head, positive, negative in rules:
                backend.add_rule([ids[head]] if head else [],
                                 [*(ids[a] for a in positive), *(-ids[a] for a in negative)])
        found: list[tuple[int, ...]] = []
        with control.solve(yield_=True) as handle:
            for model in handle:
                found.append(tuple(sorted(symbol.arguments[0].number for symbol in model.symbols(atoms=True))))
        if len(found) > MOST_MODELS:
            raise TooManyModels
        if self.models in ("cautious", "brave"):  # each model improves on the one before
            return tuple(found[-1:])
        return tuple(sorted(found))


class _Decided:
    """Rules with what follows at once: facts, what no rule concludes, and what follows from these. (Fitting's operator,
    to its least fixpoint; every answer set agrees with it.)"""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self.rules = rules
        self.true: set[int] = set()
        self.false: set[int] = set()
        self.conflict: int | None = None
        self._alive = [True] * len(rules)
        self._open = [len(positive) + len(negative) for _, positive, negative in rules]
        self._heads: dict[int, int] = {}
        self._positive: dict[int, list[int]] = {}
        self._negative: dict[int, list[int]] = {}
        for number, (head, positive, negative) in enumerate(rules):
            if head is not None:
                self._heads[head] = self._heads.get(head, 0) + 1
            for atom in positive:
                self._positive.setdefault(atom, []).append(number)
            for atom in negative:
                self._negative.setdefault(atom, []).append(number)
        self._queue = [(atom, False) for atom in {*self._positive, *self._negative} if atom not in self._heads]
        self.false.update(atom for atom, _ in self._queue)
        for number, open_ in enumerate(self._open):
            if not open_:
                self._fire(number)
        self._spread()

    def _spread(self) -> None:
        while self._queue and self.conflict is None:
            atom, holds = self._queue.pop()
            for number in self._positive.get(atom, ()):
                self._meet(number, holds)
            for number in self._negative.get(atom, ()):
                self._meet(number, not holds)

    def _meet(self, number: int, met: bool) -> None:
        """A literal of a rule is decided."""
        if not self._alive[number]:
            return
        self._open[number] -= 1
        if not met:
            self._alive[number] = False
            head = self.rules[number][0]
            if head is not None:
                self._heads[head] -= 1
                if not self._heads[head] and head not in self.true:
                    self.false.add(head)
                    self._queue.append((head, False))
        elif not self._open[number]:
            self._fire(number)

    def _fire(self, number: int) -> None:
        head = self.rules[number][0]
        if head is None:
            self.conflict = number
        elif head not in self.true:
            self.true.add(head)
            self._queue.append((head, True))

    def parts(self) -> list[list[int]]:
        """The rules that are still open, those that share an undecided atom together."""
        parent: dict[int, int] = {}

        def root(atom: int) -> int:
            while (above := parent.setdefault(atom, atom)) != atom:
                parent[atom] = atom = parent[above]
            return atom

        open_: list[tuple[int, int]] = []
        for number, (head, positive, negative) in enumerate(self.rules):
            if self._alive[number] and self._open[number] and head not in self.true:
                atoms = [atom for atom in (*positive, *negative) if atom not in self.true and atom not in self.false]
                first = root(atoms[0])
                for atom in atoms[1:] if head is None else [*atoms[1:], head]:
                    parent[root(atom)] = first
                open_.append((number, atoms[0]))
        found: dict[int, list[int]] = {}
        for number, atom in open_:
            found.setdefault(root(atom), []).append(number)
        return list(found.values())

    def reduced(self, number: int) -> Rule:
        """An open rule without what is decided."""
        head, positive, negative = self.rules[number]
        needed = tuple(atom for atom in positive if atom not in self.true)
        return head, needed, tuple(atom for atom in negative if atom not in self.false)
