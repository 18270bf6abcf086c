"""Programs with several answers: the rules above a split, evaluated over what the lower program says, as time passes.

Rows of lower predicates come and go; rules are grounded by them (`grounding`), and instances stay as long as their
rows do. The ground program of a time-point is solved by clingo (`stable_models`), part by part. Where the upper rules
ask about now only, nothing happens between two changes, so each answer is for a stretch of time-points. Ticker
(Beck, Eiter and Folie, TPLP 2017) asks clingo at every time-point, or mends one answer.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, product
from math import prod
from operator import itemgetter
from typing import NamedTuple

from eventide.lars.grounding import Element, Grounder, Instance, Row
from eventide.lars.splitting import Given, Split
from eventide.lars.stable_models import MOST_MODELS, Models, Outcome, Rule, Solver, TooManyModels
from eventide.lars.values import ground_text
from eventide.syntax.lars_trees import Predicate, Window

Interval = tuple[Row, int, int | None]
"""A row of a lower predicate, and when it holds: from, up to (None: to the end)."""
Change = tuple[bool, Predicate, Row]
"""A row of a lower predicate comes (True) or goes."""


class Point(NamedTuple):
    """A derived atom: predicate, arguments, and the time-point it is about (None: now)."""

    name: str
    row: Row
    time: int | None


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer streams of the time-points `start` … `end` - 1, as far as the upper rules conclude them.

    `certain` is in each of them, or all that was asked for with `cautious` and `brave`; `models` are the further atoms
    of the first one, or of each. Where there is no answer stream, `reasons` are the upper rules at odds.
    """

    start: int
    end: int
    certain: frozenset[Point] = frozenset()
    models: tuple[frozenset[Point], ...] = ()
    count: int | None = None
    """How many answer streams there are: 0, or as many as all of them if all were asked for."""
    reasons: tuple[int, ...] = ()


class Arrivals:
    """When facts arrived, for windows that count them: the first time-point of each window."""

    def __init__(self, windows: Iterable[tuple[Predicate, Window]]) -> None:
        counting = [(predicate, window) for predicate, window in windows if window.kind != "time"]
        self._sizes: dict[tuple[Predicate | None, tuple[int, ...]], int] = {}
        for predicate, window in counting:
            part = (None, ()) if window.kind == "tuple" else (predicate, window.by)
            self._sizes[part] = max(window.size, self._sizes.get(part, 0))
        self._times: dict[tuple[Predicate | None, tuple[int, ...], Row], list[int]] = {}

    def add(self, facts: Iterable[tuple[int, str, Row]]) -> None:
        """Further facts, in order of arrival; only the last ones are kept of those before."""
        for part, times in self._times.items():
            del times[:-self._sizes[part[:2]]]
        for time, name, row in facts if self._sizes else ():
            for predicate, places in self._sizes:
                if predicate is None or predicate == (name, len(row)):
                    key = predicate, places, tuple(row[place] for place in places)
                    self._times.setdefault(key, []).append(time)

    def start(self, window: Window, predicate: Predicate, row: Row, t: int) -> int:
        """The first time-point that a window shows of an atom at t."""
        if window.kind == "time":
            return max(0, t - window.size)
        key = (None, (), ()) if window.kind == "tuple" else \
            (predicate, window.by, tuple(row[place] for place in window.by))
        times = self._times.get(key, [])
        seen = bisect_right(times, t)
        return times[seen - window.size] if seen >= window.size else 0


def answers(split: Split, lower: Mapping[Predicate, Sequence[Interval]], end: int, models: Models,
            arrived: Iterable[tuple[int, str, Row]] = ()) -> Iterator[Answer]:
    """The answers at 0 … end, one after the other.

    `lower` are the rows of the lower predicates that begin with `$`; `arrived` are all facts in order of arrival, which
    are needed if `split.counts_tuples`.
    """
    changes: dict[int, list[Change]] = {0: []}
    for predicate, rows in lower.items():
        for row, start, stop in rows:
            if start <= end:
                changes.setdefault(start, []).append((True, predicate, row))
            if stop is not None and stop <= end:
                changes.setdefault(stop, []).append((False, predicate, row))
    above = Above(split, models)
    above.arrivals.add(arrived)
    for start, stop in pairwise([*sorted(changes), end + 1]):
        yield from above.answers(start, stop, changes[start])


class Above:
    """The rules above a split, at a time-point: takes what comes and goes below, and answers."""

    def __init__(self, split: Split, models: Models) -> None:
        self.split = split
        self.solver = Solver(models)
        asked = [literal for rule in split.upper for literal in rule.literals if literal.predicate in split.predicates]
        self.arrivals = Arrivals([(one.predicate, one.window) for one in asked if one.window is not None])
        self._held: dict[tuple[Predicate, Row], None] = {}
        self._ground = _Ground(split, 0, self.arrivals)
        self._idle = self._ground.is_idle
        self._last: Answer | None = None

    def answers(self, start: int, stop: int, changes: Iterable[Change]) -> Iterator[Answer]:
        """The answers at `start` … `stop` - 1, if at `start` these rows come and go below, and then none."""
        ordered = sorted(changes, key=itemgetter(0))  # what goes, first
        for comes, predicate, row in ordered:
            if comes:
                self._held[predicate, row] = None
            else:
                del self._held[predicate, row]
        if self.split.timeless:
            if ordered or self._last is None:
                self._ground.change(ordered)
                if self._ground.is_crowded:  # by atoms that no row mentions any more
                    self._ground = self._anew(0)
                self._last = _answer(start, stop, self._ground, self.solver)
            else:
                self._last = replace(self._last, start=start, end=stop)
            yield self._last
        elif self._idle and not self._held:
            yield Answer(start, stop, count=1 if self.solver.models == "all" else None)
        else:
            while start < stop:
                ground = self._anew(start)
                later = ground.next_change()
                end = stop if later is None else min(stop, later)
                yield _answer(start, end, ground, self.solver)
                start = end

    def _anew(self, t: int) -> _Ground:
        ground = _Ground(self.split, t, self.arrivals)
        ground.change([(True, predicate, row) for predicate, row in self._held])
        return ground


def _answer(start: int, stop: int, ground: _Ground, solver: Solver) -> Answer:
    outcome = ground.outcome(solver)
    if outcome.conflict is not None:
        return Answer(start, stop, count=0, reasons=tuple(sorted({ground.numbers[i] for i in outcome.conflict} - {-1})))
    certain = set(outcome.certain)
    free = []
    for part in outcome.parts:
        common = part.models[0].intersection(*part.models[1:]) if solver.models != "first" else frozenset()
        certain |= common
        if len(part.models) > 1 or solver.models == "first":
            free.append([model - common for model in part.models])
    count = prod(map(len, free)) if solver.models == "all" else None
    if count is not None and count > MOST_MODELS:
        raise TooManyModels
    models = tuple(ground.shown(set().union(*chosen)) for chosen in product(*free)) if free else ()
    if len(models) > 1:  # numbered in an order that does not depend on how they were found
        models = tuple(sorted(models, key=lambda model: sorted(map(str, model))))
    return Answer(start, stop, ground.shown(certain), models, count)


class _Ground:
    """The ground program of a time-point, kept up to date with the rows of lower predicates.

    An atom of the ground program is a number: a point (`points`), or an element of a body that several points, or the
    input, can make true.
    """

    def __init__(self, split: Split, t: int, arrivals: Arrivals) -> None:
        self.split, self.t, self.arrivals = split, t, arrivals
        self.timeless = split.timeless
        self.grounder = Grounder(split.upper)
        self.points: dict[int, Point] = {}
        self.numbers: list[int] = []
        """The upper rule of each ground rule, -1 for those that are no rule of the program."""
        self._atoms: dict[tuple[object, ...], int] = {}
        self._names: list[str] = []
        self._rules: dict[Instance, tuple[Rule, tuple[Element, ...]]] = {}
        self._support: dict[int, int] = {}
        self._given: dict[Element, None] = {}
        self._given_points: dict[tuple[int, Row], set[int]] = {}
        self._dated_now = False
        self._dated_later: int | None = None
        self._now: set[int] = set()
        self._lower = {pattern.predicate: number for number, pattern in enumerate(self.grounder.patterns)
                       if pattern.predicate[0].startswith("$")}
        self._patterns: dict[Predicate, list[int]] = {}
        for number, pattern in enumerate(self.grounder.patterns):
            if pattern.predicate not in self._lower:
                self._patterns.setdefault(pattern.predicate, []).append(number)
        self._givens: dict[Predicate, list[tuple[Given, int]]] = {}
        for given in split.given:
            self._givens.setdefault(given.predicate, []).append((given, self.grounder.pattern(given.literal)))
        self.is_idle = not any(True for _ in self.grounder.without_positive())
        for instance in self.grounder.without_positive():
            self._take([instance])

    @property
    def is_crowded(self) -> bool:
        """Whether most of the atoms are of the past."""
        return len(self._names) > 1000 and len(self._names) > 8 * len(self._rules)

    # -- what comes and goes ------------------------------------------------------------------------------------------

    def change(self, changes: Iterable[Change]) -> None:
        """Rows of lower predicates come (True) or go."""
        for comes, predicate, row in changes:
            for given, pattern in self._givens.get(predicate, ()):
                self._give(comes, given, pattern, row)
            number = self._lower.get(predicate)
            if number is None:
                continue
            element = Element(number, row)
            if comes:
                self._take(self.grounder.add(element))
            else:
                self._drop(self.grounder.remove(element))

    def _take(self, instances: list[Instance]) -> None:
        """New instances: their heads are possible, which may complete further instances."""
        waiting = list(instances)
        while waiting:
            instance = waiting.pop()
            head = self._head(instance)
            if head is None and instance.head is not None:
                continue  # concluded for a time that is not on the timeline
            lower = self._lower.values()
            positive = tuple(self._element(e) for e in instance.positive if e.pattern not in lower)
            absent = tuple(e for e in instance.negative if e.pattern in lower)
            negative = tuple(self._element(e) for e in instance.negative if e.pattern not in lower)
            self._rules[instance] = ((head, positive, negative), absent)
            if head is not None:
                self._support[head] = self._support.get(head, 0) + 1
                if self._support[head] == 1:
                    for element in self._elements_with(self.points[head]):
                        if not self.grounder.holds(element):
                            waiting.extend(self.grounder.add(element))

    def _drop(self, instances: list[Instance]) -> None:
        """Instances end; heads without support are no longer possible, and so are instances that need them.

        Atoms that only support each other may stay possible. That costs time, not answers.
        """
        waiting = list(instances)
        while waiting:
            instance = waiting.pop()
            known = self._rules.pop(instance, None)
            head = None if known is None else known[0][0]
            if head is not None:
                self._support[head] -= 1
                if not self._support[head]:
                    del self._support[head]
                    for element in self._elements_with(self.points[head]):
                        if self.grounder.holds(element) and element not in self._given:
                            waiting.extend(self.grounder.remove(element))

    def _give(self, comes: bool, given: Given, pattern: int, row: Row) -> None:
        """The input says, or says no more, that an upper atom holds."""
        if given.timed and given.literal.modality == "always":
            *args, time = row
            assert isinstance(time, int)
            self._given_points.setdefault((pattern, tuple(args)), set()).add(time)
            element = Element(pattern, tuple(args))
            if self._all_possible(element) and not self.grounder.holds(element):
                self._take(self.grounder.add(element))
            return
        element = Element(pattern, row)
        if comes:
            self._given[element] = None
            if not self.grounder.holds(element):
                self._take(self.grounder.add(element))
        else:
            del self._given[element]
            if not any(self._support.get(atom) for atom in self._made_by(element)):
                self._drop(self.grounder.remove(element))

    def next_change(self) -> int | None:
        """The next time-point at which the answer may be another though no row comes or goes; None if there is none.

        What is concluded of now moves with the time. What is concluded of a time-point leaves a window at a time that
        is known. Under `always`, and where the time of what is concluded of now is asked for, every time-point counts.
        """
        if self.split.counts_tuples or self._dated_now:
            return self.t + 1
        times = [] if self._dated_later is None else [self._dated_later]
        for atom in self._support:
            point = self.points[atom]
            for number in self._patterns.get((point.name, len(point.row)), ()):
                pattern = self.grounder.patterns[number]
                if pattern.modality == "always" or (pattern.modality == "at" and atom in self._now):
                    return self.t + 1
                if pattern.window is not None and point.time is not None and atom not in self._now:
                    times.append(point.time + pattern.window.size + 1)
        if self._given_points:
            return self.t + 1
        return min((time for time in times if time > self.t), default=None)

    # -- atoms --------------------------------------------------------------------------------------------------------

    def _atom(self, key: tuple[object, ...], name: str) -> int:
        number = self._atoms.get(key)
        if number is None:
            number = self._atoms[key] = len(self._names)
            self._names.append(name)
        return number

    def _point(self, name: str, row: Row, time: int | None) -> int:
        point = Point(name, row, time)
        number = self._atoms.get(point)
        if number is None:
            number = self._atom(point, ground_text(name, row) + ("" if time is None else f" @{time:020}"))
            self.points[number] = point
        return number

    def _head(self, instance: Instance) -> int | None:
        if instance.head is None:
            return None
        if instance.time is None:
            point = self._point(*instance.head, None if self.timeless else self.t)
            self._now.add(point)
            return point
        if not isinstance(instance.time, int) or not 0 <= instance.time <= self.t:
            if isinstance(instance.time, int) and instance.time > self.t:
                self._dated_later = min(instance.time, self._dated_later or instance.time)
            return None
        self._dated_now |= instance.time == self.t
        return self._point(*instance.head, instance.time)

    def _start(self, element: Element, row: Row) -> int:
        pattern = self.grounder.patterns[element.pattern]
        if pattern.window is None:
            return 0
        return self.arrivals.start(pattern.window, pattern.predicate, row, self.t)

    def _elements_with(self, point: Point) -> Iterator[Element]:
        """The elements of bodies that a point may make true."""
        for number in self._patterns.get((point.name, len(point.row)), ()):
            pattern = self.grounder.patterns[number]
            element = Element(number, (*point.row, point.time) if pattern.modality == "at" else point.row)  # type: ignore[arg-type]
            if self.timeless or (pattern.modality == "now" and point.time == self.t):
                yield element
            elif pattern.modality in ("sometime", "at"):
                if point.time is not None and point.time >= self._start(element, point.row):
                    yield element
            elif pattern.modality == "always" and self._all_possible(element):
                yield element

    def _all_possible(self, element: Element) -> bool:
        """Whether an atom is possible, or given, at all time-points of its window."""
        given = self._given_points.get((element.pattern, element.row), set())
        name = self.grounder.patterns[element.pattern].predicate[0]
        return all(time in given or self._support.get(self._atoms.get(Point(name, element.row, time), -1))
                   for time in range(self._start(element, element.row), self.t + 1))

    def _made_by(self, element: Element) -> list[int]:
        """The points that make an element true: one of them, and for `always` all together."""
        pattern = self.grounder.patterns[element.pattern]
        name = pattern.predicate[0]
        if self.timeless:
            return [self._point(name, element.row, None)]
        if pattern.modality == "now":
            return [self._point(name, element.row, self.t)]
        if pattern.modality == "at":
            *args, time = element.row
            shown = isinstance(time, int) and self._start(element, tuple(args)) <= time <= self.t
            return [self._point(name, tuple(args), time)] if shown and isinstance(time, int) else []
        times = range(self._start(element, element.row), self.t + 1)
        if pattern.modality == "always":
            given = self._given_points.get((element.pattern, element.row), set())
            return [self._point(name, element.row, time) for time in times if time not in given]
        known = [self._atoms.get(Point(name, element.row, time)) for time in times]
        return [atom for atom in known if atom is not None]

    def _element(self, element: Element) -> int:
        """The atom of an element: the point itself if nothing else makes it true."""
        if self.timeless and not self._givens:
            return self._point(self.grounder.patterns[element.pattern].predicate[0], element.row, None)
        return self._atom(("element", element), f"element {element.pattern} {element.row}")

    def shown(self, atoms: Iterable[int]) -> frozenset[Point]:
        """The points among some atoms; those of now without their time."""
        points, t = self.points, self.t
        found = [points[atom] for atom in atoms if atom in points]
        if not self.timeless:
            found = [Point(point.name, point.row, None) if point.time == t else point for point in found]
        return frozenset(found)

    # -- the answer ---------------------------------------------------------------------------------------------------

    def outcome(self, solver: Solver) -> Outcome:
        """The answer sets of the ground program as it is."""
        rules: list[Rule] = []
        self.numbers = []
        holds = self.grounder.holds
        for instance, (rule, absent) in self._rules.items():
            if not (absent and any(map(holds, absent))):
                rules.append(rule)
                self.numbers.append(instance.rule)
        if not self.timeless or self._givens:
            elements = [key[1] for key in list(self._atoms) if key[0] == "element"]
            for element in elements:
                assert isinstance(element, Element)
                rules += self._definition(element)
        self.numbers += [-1] * (len(rules) - len(self.numbers))
        return solver.solve(rules, self._names.__getitem__)

    def _definition(self, element: Element) -> list[Rule]:
        atom = self._element(element)
        if element in self._given:
            return [(atom, (), ())]
        points = self._made_by(element)
        if self.grounder.patterns[element.pattern].modality == "always" and not self.timeless:
            return [(atom, tuple(points), ())]
        return [(atom, (point,), ()) for point in points]
