"""Contexts of a LARS stream: which facts contradict each other, what can be believed together, and what holds then.

A context is a set of the facts that windows show now. It is consistent if the program has an answer for it. Without
negation, conflicts and contexts are read off the nogoods (`maintenance.contexts`). With negation a set of facts may be
inconsistent though a larger one is not; here a conflict is a set of facts without an answer that has one as soon as any
single fact is given up, and contexts are what is left when one fact of each conflict is given up.
"""

from __future__ import annotations

import heapq
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice

from eventide.errors import InputError
from eventide.lars.arguments import reported_variables
from eventide.lars.grounding import Instance, Row, element_text
from eventide.lars.maintained import Answer, Fact, MaintainedSession
from eventide.lars.streams import fact_of
from eventide.lars.values import Value, ground_text, python_value, term_of
from eventide.maintenance.defaults import extended
from eventide.maintenance.environments import bits_of, is_covered, minimal
from eventide.syntax.lars_trees import argument_text

LIMIT = 20
"""How many contexts are looked for."""


@dataclass(frozen=True, slots=True)
class Violation:
    """A rule `:- body.` that applies, and the values of its variables."""

    rule: str
    values: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        told = ", ".join(f"{name} = {value}" for name, value in self.values)
        return f"{self.rule} with {told}" if told else self.rule


@dataclass(frozen=True, slots=True)
class Conflict:
    """Facts that cannot be believed together, and the contradictions that follow from them.

    No contradiction is named where the facts leave a negation undecided: `a :- s, not a.`
    """

    facts: tuple[Fact, ...]
    violations: tuple[Violation, ...]

    def __str__(self) -> str:
        return ", ".join(map(str, self.facts)) or "the rules by themselves, without any fact"


@dataclass(frozen=True, slots=True)
class Context:
    """Facts that can be believed together: all that are shown but those `without`; and what holds then.

    There may be several answers; each belongs to an environment of the network.
    """

    facts: tuple[Fact, ...]
    without: tuple[Fact, ...]
    answers: tuple[Answer, ...]
    environments: tuple[int, ...] = field(repr=False)

    @property
    def certain(self) -> Answer:
        """What holds in all answers."""
        return frozenset.intersection(*self.answers)

    def texts(self, now: int) -> list[str]:
        """What holds in all answers, as text: first what holds now."""
        return answer_texts(self.certain, now)


@dataclass(frozen=True, slots=True)
class Reason:
    """A smallest set of facts from which an atom follows, as long as nothing of `absent` holds."""

    facts: tuple[Fact, ...]
    absent: tuple[str, ...]

    def __str__(self) -> str:
        parts = [*map(str, self.facts), *(f"not {text}" for text in self.absent)]
        return ", ".join(parts) or "always"


class Contexts:
    """What the facts of a session say, together and apart.

    >>> from eventide.syntax.lars import parse
    >>> session = MaintainedSession(parse("free :- closed [9]. jam :- slow [9]. :- free, jam.").tree)
    >>> session.advance(1, [("closed", ())]); session.advance(2, [("slow", ())])
    >>> contexts = Contexts(session)
    >>> contexts.is_consistent()
    False
    >>> [[str(fact) for fact in conflict.facts] for conflict in contexts.conflicts()]
    [['closed@1', 'slow@2']]
    >>> for context in contexts.maximal():
    ...     print([str(fact) for fact in context.without], sorted(context.certain))
    ['closed@1'] [('jam', (), 2)]
    ['slow@2'] [('free', (), 2)]
    >>> contexts.context(without=contexts.facts_like("slow")).texts(2)
    ['free']
    >>> [str(reason) for reason in contexts.why("jam", ())]
    ['slow@2']
    """

    def __init__(self, session: MaintainedSession, limit: int = LIMIT) -> None:
        self.session = session
        self.limit = limit
        self._facts = 0
        for fact in session.facts():
            self._facts |= session.bit(fact)
        self._hidden = session.environment() & ~self._facts
        self._found: tuple[list[int], list[int]] | None = None

    def is_consistent(self, without: Iterable[Fact] = ()) -> bool:
        """Whether there is an answer if some of the facts are not believed."""
        return self._has_answer(self._kept(without))

    def context(self, without: Iterable[Fact] = ()) -> Context | None:
        """What holds if some of the facts are not believed; None if that is inconsistent."""
        found = self._context(self._kept(without))
        return found if found.answers else None

    def maximal(self) -> list[Context]:
        """The largest consistent contexts, those that give up the fewest facts first; at most `limit`."""
        return [self._context(self._facts & ~given_up) for given_up in self._search()[0]]

    def certain(self) -> Answer:
        """What holds whichever facts are given up: in all answers of all the largest contexts."""
        found = [context.certain for context in self.maximal()]
        return frozenset.intersection(*found) if found else frozenset()

    def conflicts(self) -> list[Conflict]:
        """The smallest sets of facts that contradict each other, as far as they were met on the way to contexts."""
        if not any(self._outs_of(nogood) for nogood in self.session.network.conflicts):
            found = minimal(nogood & self._facts for nogood in self.session.network.conflicts)
        else:
            found = minimal(self._search()[1])
        return sorted(map(self._conflict, found), key=lambda conflict: (len(conflict.facts), str(conflict)))

    def first_conflicts(self) -> list[Conflict]:
        """The conflicts of facts that have no answer together which take no search for contexts: all of them, or one
        where they depend on what does not hold."""
        searched = any(self._outs_of(nogood) for nogood in self.session.network.conflicts)
        return ([] if searched else self.conflicts()) or [self._conflict(self._smallest(self._facts))]

    def why(self, name: str, row: Row, time: int | None = None, environment: int | None = None) -> list[Reason]:
        """The smallest reasons for an atom, now or at an earlier time, the shortest first; none if it cannot hold.

        With the environment of an answer, those that count there.
        """
        session = self.session
        if session.is_background(name, row):
            return [Reason((), ())]
        when = session.time if time is None else time
        keys: list[Hashable] = [("head", name, row, when), ("fact", name, row, when)]
        if when == session.time:
            keys.append(session.now(name, row))
        within = session.network.believed if environment is None else environment
        label = [found & ~self._hidden for key in keys for found in session.network.environments(key)
                 if found & within == found]
        return sorted(map(self._reason, minimal(label)),
                      key=lambda reason: (len(reason.facts) + len(reason.absent), str(reason)))

    def facts_like(self, text: str) -> list[Fact]:
        """The facts shown that a text means: `p(a)@3` is one, `p(a)` all of them; an error if there is none.

        >>> from eventide.syntax.lars import parse
        >>> session = MaintainedSession(parse("y(X) :- p(X) [9].").tree)
        >>> session.advance(1, [("p", ("a",))]); session.advance(3, [("p", ("a",))])
        >>> Contexts(session).facts_like("p(a)"), [str(fact) for fact in Contexts(session).facts_like("p(a)@3")]
        ([Fact(time=1, name='p', row=('a',)), Fact(time=3, name='p', row=('a',))], ['p(a)@3'])
        """
        atom, mark, time = text.rpartition("@")
        if not (mark and time.strip().isdecimal()):
            atom, mark = text, ""
        known = fact_of(atom)
        if known is None:
            raise InputError(f"{text!r} is no fact; write p(a)@3 for one, or p(a) for it at any time")
        name, row = known[0], tuple(map(python_value, known[1]))
        found = [fact for fact in self.session.facts() if (fact.name, fact.row) == (name, row)
                 and (not mark or fact.time == int(time))]
        if not found:
            raise InputError(f"no window shows {text} at {self.session.time}")
        return found

    # The search

    def _search(self) -> tuple[list[int], list[int]]:
        """What is given up in each context, and the conflicts that were met.

        R. Reiter's tree of hitting sets: a context that is inconsistent is left by giving up one fact of a conflict.
        """
        if self._found is not None:
            return self._found
        heap, seen, found, met = [(0, 0)], {0}, list[int](), list[int]()
        while heap and len(found) < self.limit:
            size, given_up = heapq.heappop(heap)
            if is_covered(given_up, found):
                continue
            kept = self._facts & ~given_up
            conflict = next((known for known in met if not known & given_up and not self._negates), None)
            if conflict is None:
                if self._has_answer(kept):
                    found.append(given_up)
                    continue
                conflict = self._smallest(kept)
                met.append(conflict)
            for bit in bits_of(conflict):
                if given_up | bit not in seen:
                    seen.add(given_up | bit)
                    heapq.heappush(heap, (size + 1, given_up | bit))
        self._found = found, met
        return self._found

    @property
    def _negates(self) -> bool:
        return bool(self.session.network.outs())

    def _smallest(self, facts: int) -> int:
        """A conflict among facts that have no answer: every fact that is not needed for that is left out."""
        network = self.session.network
        plain = minimal(nogood & self._facts for nogood in network.conflicts
                        if nogood & (facts | self._hidden) == nogood)
        if plain:
            return plain[0]
        involved = 0
        for nogood in network.conflicts:
            involved |= nogood
        if not self._has_answer(facts & involved):
            facts &= involved
        for bit in list(bits_of(facts)):
            if not self._has_answer(facts & ~bit):
                facts &= ~bit
        return facts

    def _has_answer(self, facts: int) -> bool:
        return next(extended(self.session.network, facts | self._hidden), None) is not None

    def _kept(self, without: Iterable[Fact]) -> int:
        kept = self._facts
        for fact in without:
            kept &= ~self.session.bit(fact)
        return kept

    def _outs_of(self, environment: int) -> int:
        return environment & ~self._facts & ~self._hidden

    # From bits to what users read

    def _context(self, kept: int) -> Context:
        found = tuple(islice(extended(self.session.network, kept | self._hidden), self.limit))
        answers = tuple(self.session.answer(environment) for environment in found)
        return Context(self._facts_of(kept), self._facts_of(self._facts & ~kept), answers, found)

    def _facts_of(self, environment: int) -> tuple[Fact, ...]:
        facts = map(self.session.fact_of, bits_of(environment & self._facts))
        return tuple(sorted((fact for fact in facts if fact is not None), key=lambda fact: (fact.time, str(fact))))

    def _conflict(self, facts: int) -> Conflict:
        applies = [self._violation(one) for one in self.session.constraints() if self._applies(one, facts)]
        return Conflict(self._facts_of(facts), tuple(sorted(applies, key=str)))

    def _applies(self, instance: Instance, facts: int) -> bool:
        """Whether the parts of a contradiction follow from a conflict, each by itself."""
        network = self.session.network
        sure, possible = facts | self._hidden, network.believed & ~self._facts | facts
        return (all(self.session.follows(element, possible) for element in instance.positive)
                and not any(self.session.follows(element, sure) for element in instance.negative))

    def _violation(self, instance: Instance) -> Violation:
        rule, values = self.session.tree.rules[instance.rule], dict(instance.binding)
        return Violation(str(rule), tuple((variable.name, _text(values[variable.name]))
                                          for variable in reported_variables(rule)))

    def _reason(self, environment: int) -> Reason:
        outs = (self.session.out_of(bit) for bit in bits_of(self._outs_of(environment)))
        patterns = self.session.grounder.patterns
        absent = sorted(element_text(patterns[out.pattern], out.row) for out in outs if out is not None)
        return Reason(self._facts_of(environment), tuple(absent))


def answer_texts(answer: Answer, now: int) -> list[str]:
    """An answer as text, sorted: what holds now, then what holds at earlier times.

    >>> answer_texts(frozenset([("p", ("a",), 3), ("q", (), 1)]), 3)
    ['p(a)', 'q@1']
    """
    current = sorted(ground_text(name, row) for name, row, time in answer if time == now)
    return current + [f"{text}@{time}" for time, text in sorted(
        (time, ground_text(name, row)) for name, row, time in answer if time != now)]


def at_time(session: MaintainedSession, facts: Iterable[tuple[int, str, Sequence[object]]], time: int) -> None:
    """Bring a session to a time through the facts up to then, which come in order of arrival."""
    waiting: list[tuple[str, Row]] = []
    now: int | None = None
    for moment, name, row in facts:
        if moment > time:
            break
        if now is not None and moment != now:
            session.advance(now, waiting)
            waiting = []
        now = moment
        waiting.append((name, tuple(map(python_value, row))))
    if now is not None:
        session.advance(now, waiting)
    if session.time != time:
        session.advance(time)


def _text(value: Value) -> str:
    return argument_text(term_of(value))
