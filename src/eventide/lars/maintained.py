"""LARS programs on a truth maintenance network: what follows at each time, and from which facts. Finds no contexts.

Every input fact is an assumption; background facts are premises. A part of a body, such as `p(1) [3]`, is a node, and
each fact that a window shows is a reason for it. Such a reason ends before the fact does, so it has a hidden assumption
of its own, "the window shows this", which is retracted when the window moves on; so have reasons that count for one
time-point only. Nothing is ever recomputed when something expires: environments with a retracted assumption go, the
others are right. `not p` is the assumption that p does not hold (`maintenance.defaults`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass

from eventide.errors import InputError
from eventide.lars.grounding import Atom, Element, Grounder, Instance, Pattern, Row, element_text
from eventide.lars.values import ground_atom, ground_text
from eventide.lars.visibility import Occurrence, Visibility
from eventide.maintenance.defaults import extended
from eventide.maintenance.environments import is_covered
from eventide.maintenance.network import LIMIT, Justification, LabelError, Network
from eventide.syntax.lars_trees import LarsTree, Predicate
from eventide.syntax.terms import Term

Key = Hashable
"""A node: an `Element`, or a tuple that begins with one of
fact (an input fact at a time), head (concluded at a time), here (concluded now), pin (an atom at a time, however it
got there), edge (the same at the first time-point of a tuple window), tick (now), not (an element does not hold), or
what `visibility` names its tokens."""


@dataclass(frozen=True, slots=True)
class Fact:
    """An input fact at its time.

    >>> print(Fact(9, "averageSpeed", ("StreetA", 9)))
    averageSpeed("StreetA",9)@9
    """

    time: int
    name: str
    row: Row

    def __str__(self) -> str:
        return f"{ground_text(self.name, self.row)}@{self.time}"


Answer = frozenset[tuple[str, Row, int]]
"""Atoms of the predicates that rules conclude, each with the time at which it holds."""


class MaintainedSession:
    """A program and the facts that its windows show, at one time after the other.

    >>> from eventide.syntax.lars import parse
    >>> session = MaintainedSession(parse("y :- a [1]. z :- y, not b.").tree)
    >>> session.advance(1, [("a", ())])
    >>> [sorted(answer) for answer in session.answers()]
    [[('y', (), 1), ('z', (), 1)]]
    >>> session.advance(3)
    >>> list(session.answers())
    [frozenset()]
    """

    def __init__(self, tree: LarsTree, limit: int = LIMIT) -> None:
        self.tree = tree
        self.time = -1
        self.network: Network[Key] = Network(self._hear, limit)
        self.heads = {rule.head.predicate for rule in tree.rules if rule.head is not None}
        always = {literal.predicate for rule in tree.rules for literal in rule.literals if literal.modality == "always"}
        now = [Pattern(predicate, "now", None) for predicate in sorted(self.heads | always)]
        self.grounder = Grounder(tree.rules, now)
        self._patterns: dict[Predicate, list[tuple[int, Pattern]]] = {}
        for number, pattern in enumerate(self.grounder.patterns):
            self._patterns.setdefault(pattern.predicate, []).append((number, pattern))
        self._now = {pattern.predicate: number for number, pattern in enumerate(self.grounder.patterns)
                     if pattern.modality == "now"}
        self._visible = Visibility(self.grounder.patterns)
        self._background = {ground_atom(fact) for fact in tree.facts}
        self._timed = [(number, pattern, row) for name, row in sorted(self._background, key=str)
                       for number, pattern in self._patterns.get((name, len(row)), ()) if pattern.modality == "at"]
        self._facts: dict[Key, Occurrence] = {}
        self._arrived = 0
        self._changed: dict[Key, None] = {}
        self._concluded: dict[Key, None] = {}
        self._later: dict[int, dict[Key, None]] = {}  # conclusions for times to come
        self._boxes: set[tuple[Key, frozenset[Key]]] = set()  # the reasons that count for this time only
        self._instances: dict[Instance, Justification[Key]] = {}
        self._negated: Counter[Element] = Counter()

    # What may be asked

    def answers(self, without: Iterable[Fact] = ()) -> Iterator[Answer]:
        """The answer streams now, if some of the facts are not believed: none, one, or several."""
        for environment in extended(self.network, self.environment(without)):
            yield self.answer(environment)

    def answer(self, environment: int) -> Answer:
        """What holds in an environment that is an extension, of the predicates that rules conclude."""
        found: set[tuple[str, Row, int]] = set()
        for name, arity in self.heads:
            number = self._now[name, arity]
            for row in self.grounder.rows(number):
                element = Element(number, row)
                if (name, row) in self._background or self.network.node(element).holds(environment):
                    found.add((name, row, self.time))
        for key in self._concluded:
            assert isinstance(key, tuple)
            if key[0] == "head" and key[3] <= self.time and self.network.node(key).holds(environment):
                found.add((key[1], key[2], key[3]))
        return frozenset(found)

    def facts(self) -> list[Fact]:
        """The facts that some window shows, in order of time."""
        return sorted((_fact(one) for one in self._facts.values()), key=lambda fact: (fact.time, str(fact)))

    def environment(self, without: Iterable[Fact] = ()) -> int:
        """All that is believed now but some facts, negation left open."""
        environment = self.network.believed
        for _, bit in self.network.outs():
            environment &= ~bit
        for fact in without:
            environment &= ~self.bit(fact)
        return environment

    def bit(self, fact: Fact) -> int:
        """The assumption of a fact; 0 for one that no window shows."""
        key = ("fact", fact.name, fact.row, fact.time)
        return self.network.environment([key]) if key in self._facts else 0

    def fact_of(self, bit: int) -> Fact | None:
        """The fact of an assumption; None for a hidden one."""
        (key,) = self.network.assumptions(bit)
        return _fact(self._facts[key]) if key in self._facts else None

    def out_of(self, bit: int) -> Element | None:
        """What an assumption says not to hold; None if it is none of that kind."""
        (key,) = self.network.assumptions(bit)
        return key[1] if isinstance(key, tuple) and key[0] == "not" else None

    def now(self, name: str, row: Row) -> Element | None:
        """The node of an atom now, if rules or facts may make it hold."""
        number = self._now.get((name, len(row)))
        return None if number is None else Element(number, row)

    def is_background(self, name: str, row: Row) -> bool:
        """Whether an atom holds always."""
        return (name, row) in self._background

    def follows(self, element: Element, environment: int) -> bool:
        """Whether a part of a body follows from an environment."""
        return self._is_premise(element) or is_covered(environment, self.network.environments(element))

    def constraints(self) -> Iterator[Instance]:
        """The contradictions whose positive parts are possible now."""
        return (instance for instance in self._instances if instance.head is None)

    def next_time(self) -> int | None:
        """The next time at which answers may change without a new fact; None if they will stay."""
        boxes = any(self.grounder.rows(self._now[pattern.predicate]) for number, pattern in
                    enumerate(self.grounder.patterns) if pattern.modality == "always")
        if self._timed or boxes or self.network.leads_on(("tick", self.time)):
            return self.time + 1
        times = [time for time in (self._visible.next_expiry(), min(self._later, default=None)) if time is not None]
        return min(times, default=None)

    # What happens

    def advance(self, to: int, facts: Iterable[Atom | Term] = ()) -> None:
        """Move on to a later time, at which some facts arrive, in this order."""
        if to <= self.time:
            raise InputError(f"time goes on: {to} does not come after {self.time}")
        try:
            self._advance(to, facts)
        except LabelError as error:
            raise LabelError(error.key, self._text(error.key), error.limit) from None

    def _advance(self, to: int, facts: Iterable[Atom | Term]) -> None:
        before, self.time = self.time, to
        arriving = dict.fromkeys(fact if isinstance(fact, tuple) else ground_atom(fact) for fact in facts)
        fresh = [Occurrence((name, len(row)), row, to, self._arrived + number)
                 for number, (name, row) in enumerate(arriving, 1)]
        self._arrived += len(fresh)
        self._boxes.clear()
        for tokens, occurrences in (self._visible.advance(to), self._visible.arrive(fresh)):
            self._retract(tokens)
            self._retract([_key(one) for one in occurrences])
        self._retract([("tick", before)])
        self._settle()  # nothing that has expired is used for what follows
        self.network.assume(("tick", to))
        if before < 0:
            self._begin()
        for occurrence in fresh:
            self._believe(occurrence)
        self._date_all(before)
        self._settle()

    def _begin(self) -> None:
        """Ground what needs no facts."""
        for name, row in sorted(self._background, key=str):
            for number, pattern in self._patterns.get((name, len(row)), ()):
                if pattern.modality != "at":
                    self._begin_instances(self.grounder.add(Element(number, row)))
        self._begin_instances(self.grounder.without_positive())

    def _retract(self, keys: Iterable[Key]) -> None:
        """Retract those of the assumptions that have been made."""
        for key in keys:
            if key in self.network:
                self.network.retract(key)
                self._facts.pop(key, None)
                self.network.sweep([key])

    def _believe(self, occurrence: Occurrence) -> None:
        """A fact becomes an assumption, and a reason for whatever windows show of it."""
        fact = _key(occurrence)
        name, row = occurrence.predicate[0], occurrence.row
        if (name, row) in self._background or occurrence.predicate not in self._patterns:
            return
        self._facts[fact] = occurrence
        self.network.assume(fact)
        for number, pattern in self._patterns[occurrence.predicate]:
            window = pattern.window
            if pattern.modality == "now":
                self.network.justify([fact, ("tick", self.time)], Element(number, row))
            elif pattern.modality == "always":
                self.network.justify([fact], ("pin", name, row, occurrence.time))
            elif window is None:
                self.network.justify([fact], _seen(number, pattern, row, occurrence.time))
            else:
                self._justify(fact, self._visible.fact(window, occurrence), _seen(number, pattern, row, self.time))
        self._box_all(occurrence.predicate, row)

    def _conclude(self, key: Key) -> None:
        """An atom has been concluded, now or at a time: it is a reason for whatever windows show of it."""
        assert isinstance(key, tuple)
        kind, name, row = key[:3]
        if kind == "head" and key[3] > self.time:
            self._later.setdefault(key[3], {})[key] = None
            return
        for number, pattern in self._patterns.get((name, len(row)), ()):
            if kind == "here" and pattern.modality in ("now", "sometime"):
                self.network.justify([key], Element(number, row))
            elif kind == "here" and pattern.modality == "at":
                self.network.justify([key, ("tick", self.time)], Element(number, (*row, self.time)))
            elif kind == "head" and pattern.modality == "now":
                if key[3] == self.time:
                    self.network.justify([key, ("tick", self.time)], Element(number, row))
            elif kind == "head" and pattern.modality == "always":
                self.network.justify([key], ("pin", name, row, key[3]))
            elif kind == "head":
                self._show(number, pattern, row, key[3], key)
        self._box_all((name, len(row)), row)

    def _take_back(self, key: Key) -> None:
        """An atom is no longer concluded."""
        self.network.sweep(self.network.cut(key))
        assert isinstance(key, tuple)
        waiting = self._later.get(key[3]) if key[0] == "head" else None
        if waiting is not None and key in waiting:
            del waiting[key]
            if not waiting:
                del self._later[key[3]]

    def _date_all(self, before: int) -> None:
        """What goes on holding holds at one more time, for those who ask for times."""
        for number, pattern, row in self._timed:
            first = self._visible.start(pattern.window, pattern.predicate, row)
            for time in range(max(before + 1, first), self.time + 1):
                self._show(number, pattern, row, time)
        for time in sorted(time for time in self._later if time <= self.time):
            for key in self._later.pop(time):
                self._conclude(key)
        for key in self._concluded:
            assert isinstance(key, tuple)
            for number, pattern in self._patterns.get((key[1], len(key[2])), ()) if key[0] == "here" else ():
                if pattern.modality == "at":
                    self.network.justify([key, ("tick", self.time)], Element(number, (*key[2], self.time)))
        for number, pattern in enumerate(self.grounder.patterns):
            if pattern.modality == "always":
                for row in self.grounder.rows(self._now[pattern.predicate]):
                    self._box(number, pattern, row)

    def _show(self, number: int, pattern: Pattern, row: Row, time: int, reason: Key | None = None) -> None:
        """An atom at a time is a reason for an element if the window shows that time."""
        if pattern.window is None:
            self.network.justify([] if reason is None else [reason], _seen(number, pattern, row, time))
        else:
            token = self._visible.point(pattern.window, pattern.predicate, row, time)
            self._justify(reason, token, _seen(number, pattern, row, time))

    def _justify(self, reason: Key | None, token: Key | None, element: Element) -> None:
        """A reason that counts as long as a window shows it; without a token it does not."""
        if token is not None:
            self.network.assume(token)
            self.network.justify([token] if reason is None else [reason, token], element)

    def _box_all(self, predicate: Predicate, row: Row) -> None:
        for number, pattern in self._patterns.get(predicate, ()):
            if pattern.modality == "always":
                self._box(number, pattern, row)

    def _box(self, number: int, pattern: Pattern, row: Row) -> None:
        """`always`: all time-points of the window together are a reason, for this time only."""
        name = pattern.predicate[0]
        if (name, row) in self._background:
            return
        start = self._visible.start(pattern.window, pattern.predicate, row)
        reasons: set[Key] = {("tick", self.time)}
        for time in range(self.time, start - 1, -1):
            if time == start and pattern.window is not None and pattern.window.kind != "time":
                point: Key = self._edge(number, pattern, row, time)
            elif time == self.time:
                point = Element(self._now[pattern.predicate], row)
            else:
                point = ("pin", name, row, time)
            if not self.network.is_possible(point):
                return
            reasons.add(point)
        self._once(reasons, Element(number, row))

    def _edge(self, number: int, pattern: Pattern, row: Row, time: int) -> Key:
        """The node of an atom at the first time-point of a window of tuples, which may show not all of its facts."""
        assert pattern.window is not None
        name = pattern.predicate[0]
        edge = ("edge", number, row, self.time)
        fact = self._facts.get(("fact", name, row, time))
        if fact is not None and pattern.window in fact.counted:
            self._once({_key(fact), ("tick", self.time)}, edge)
        for concluded in (("head", name, row, time), *([("here", name, row)] if time == self.time else [])):
            if concluded in self._concluded:
                self._once({concluded, ("tick", self.time)}, edge)
        return edge

    def _once(self, reasons: set[Key], key: Key) -> None:
        """Justify, unless this has been done at this time."""
        if (key, frozenset(reasons)) not in self._boxes:
            self._boxes.add((key, frozenset(reasons)))
            self.network.justify(reasons, key)

    # What comes to hold grounds rules, and what holds no more ends their instances

    def _hear(self, key: Key, holds: bool) -> None:
        if isinstance(key, Element) or (isinstance(key, tuple) and key[0] in ("head", "here")):
            self._changed[key] = None

    def _settle(self) -> None:
        while self._changed:
            key = next(iter(self._changed))
            del self._changed[key]
            possible = self.network.is_possible(key)
            if isinstance(key, Element):
                if possible and not self.grounder.holds(key):
                    self._begin_instances(self.grounder.add(key))
                elif not possible and self.grounder.holds(key):
                    self._end_instances(self.grounder.remove(key))
            elif possible and key not in self._concluded:
                self._concluded[key] = None
                self._conclude(key)
            elif not possible and key in self._concluded:
                del self._concluded[key]
                self._take_back(key)
            self.network.sweep([key])

    def _begin_instances(self, instances: Iterable[Instance]) -> None:
        for instance in instances:
            key: Key = None
            if instance.head is not None:
                name, row = instance.head
                if (name, row) in self._background:
                    continue
                if instance.time is None:
                    key = ("here", name, row)
                elif isinstance(instance.time, int) and instance.time >= 0:
                    key = ("head", name, row, instance.time)
                else:
                    continue
            if any(map(self._is_premise, instance.negative)):
                continue
            reasons: list[Key] = [element for element in instance.positive if not self._is_premise(element)]
            for element in instance.negative:
                self._negated[element] += 1
                self.network.assume_out(element, ("not", element))
                reasons.append(("not", element))
            network = self.network
            self._instances[instance] = network.contradict(reasons) if key is None else network.justify(reasons, key)

    def _end_instances(self, instances: Iterable[Instance]) -> None:
        for instance in instances:
            justification = self._instances.pop(instance, None)
            if justification is None:
                continue
            self.network.withdraw(justification)
            for element in instance.negative:
                self._negated[element] -= 1
                if not self._negated[element]:
                    del self._negated[element]
                    self.network.retract_out(element)
                    self.network.sweep([element])
            if justification.consequent.key is not None:
                self.network.sweep([justification.consequent.key])

    def _text(self, key: Key) -> str:
        """A node as people read it."""
        if isinstance(key, Element):
            return element_text(self.grounder.patterns[key.pattern], key.row)
        return ground_text(key[1], key[2]) if isinstance(key, tuple) and key[0] in ("here", "head", "pin") else str(key)

    def _is_premise(self, element: Element) -> bool:
        pattern = self.grounder.patterns[element.pattern]
        return pattern.modality != "at" and (pattern.predicate[0], element.row) in self._background


def _seen(number: int, pattern: Pattern, row: Row, time: int) -> Element:
    return Element(number, (*row, time) if pattern.modality == "at" else row)


def _key(occurrence: Occurrence) -> Key:
    return ("fact", occurrence.predicate[0], occurrence.row, occurrence.time)


def _fact(occurrence: Occurrence) -> Fact:
    return Fact(occurrence.time, occurrence.predicate[0], occurrence.row)
