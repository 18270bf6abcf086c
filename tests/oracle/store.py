"""What is known during a run of the oracle: facts, domains, and what has been derived so far. It derives nothing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Literal

from eventide.syntax import trees
from eventide.syntax.terms import Compound, Term, functor_of, is_ground, variables_of

from .resolution import Domain, Key, Solver, Unsafe, pair_key, pair_term, variables_in
from .terms import NotReady, Plain, Substitution, rename, term_of, term_of_call, unify, walk
from .timeline import INF, Grid, Intervals, covers, from_points, merge

Event = tuple[Literal["event"], str, tuple[Plain, ...], int]
IntervalFact = tuple[Literal["interval"], str, tuple[Plain, ...], Plain, int, int | None]
PointFact = tuple[Literal["point"], str, tuple[Plain, ...], Plain, int]
Fact = Event | IntervalFact | PointFact
Ties = Literal["termination", "initiation"]
Happenings = dict[Key, dict[int, dict[Term, None]]]


class Store:
    """The facts of one window `(start, until]` and what has been derived from them (`resolution.Knowledge`)."""

    def __init__(self, rules: Sequence[trees.Rule], start: int, until: int, grid: Grid, initially_at: int,
                 ties: Ties) -> None:
        self.rules, self.start, self.until, self.grid, self.ties = rules, start, until, grid, ties
        self.begin = grid.next(start)
        self.initially_from = initially_at if start <= initially_at else int(self.begin)
        self.solver = Solver(self)
        self.given: Happenings = defaultdict(lambda: defaultdict(dict))
        self.derived: Happenings = defaultdict(lambda: defaultdict(dict))
        self.initiated: Happenings = defaultdict(lambda: defaultdict(dict))
        self.terminated: Happenings = defaultdict(lambda: defaultdict(dict))
        self.histories: dict[Key, dict[Term, Intervals]] = defaultdict(dict)
        self.derived_pairs: dict[Term, None] = {}
        self.running: frozenset[Key] = frozenset()
        self.states: dict[int, frozenset[Term]] = {}
        self.now = start
        self.background: dict[Key, list[trees.BackgroundClause]] = defaultdict(list)
        self.members: dict[Key, list[Term]] = {}
        self.listed_events: dict[Key, list[Term]] = {}
        for rule in rules:
            if isinstance(rule, trees.BackgroundClause):
                self.background[functor_of(rule.head)].append(rule)

    # Input

    def read(self, facts: Iterable[Fact]) -> None:
        """Take in the facts of the window, then fill the domains."""
        points: dict[Term, list[int]] = defaultdict(list)
        seen: list[Term] = []
        for fact in facts:
            name, args = fact[1], tuple(map(term_of, fact[2]))
            term = term_of_call(name, args)
            if fact[0] == "event":
                if not self.start < fact[3] <= self.until:
                    continue
                self.given[functor_of(term)][fact[3]][term] = None
            elif fact[0] == "point":
                if not self.start < fact[4] <= self.until:
                    continue
                term = Compound("=", (term, term_of(fact[3])))
                points[term].append(fact[4])
            else:
                end = INF if fact[5] is None else fact[5]
                first = max(fact[4], self.begin)
                if first >= end or fact[4] > self.until:
                    continue
                term = Compound("=", (term, term_of(fact[3])))
                self.add_periods(term, [(first, end)])
            seen.append(term)
        for term, times in points.items():
            self.add_periods(term, from_points(times, self.grid, self.until))
        self._fill_domains(seen)

    def add_periods(self, pair: Term, periods: Intervals) -> None:
        known = self.histories[pair_key(pair)]
        known[pair] = merge([*known.get(pair, []), *periods])

    def _fill_domains(self, seen: list[Term]) -> None:
        groundings = [r for r in self.rules if isinstance(r, trees.Grounding)]
        dynamic = {functor_of(r.subject) for r in self.rules
                   if isinstance(r, trees.Declaration) and r.name == "dynamicDomain"
                   and not isinstance(r.subject, trees.FluentValue)}
        for rule in groundings:
            calls = [c.predicate for c in rule.body if isinstance(c, trees.Call)]
            subject = subject_term(rule)
            for goal in [c for c in calls if functor_of(c) in dynamic]:
                for term in dict.fromkeys(seen):
                    matched = unify(subject, term, {})
                    if matched is not None and is_ground(walk(goal, matched)):
                        clause = trees.BackgroundClause(walk(goal, matched), ())
                        if clause not in self.background[functor_of(goal)]:
                            self.background[functor_of(goal)].append(clause)
        for rule in groundings:
            subject = subject_term(rule)
            if isinstance(rule.subject, trees.FluentValue):
                members = self.members.setdefault(functor_of(rule.subject.fluent), [])
            else:
                members = self.listed_events.setdefault(functor_of(rule.subject), [])
            for bindings in self.solver.solve(rule.body, {}, variables_in(subject)):
                member = walk(subject, bindings)
                members.append(walk(member, rename(variables_of(member))))

    # What bodies may ask (resolution.Knowledge)

    def visible(self, time: float) -> bool:
        """Whether a boundary is seen: what holds at the first time-point begins at the run's own start."""
        return self.start <= time <= self.until

    def happenings(self, key: Key, time: int | None) -> Iterable[tuple[Term, int]]:
        return dict.fromkeys([*at_times(self.given, key, time), *at_times(self.derived, key, time)])

    def changes(self, kind: str, key: Key, time: int | None) -> Iterable[tuple[Term, int]]:
        points = at_times(self.initiated if kind == "initiated" else self.terminated, key, time)
        return [(walk(pair, rename(variables_of(pair))), t) for pair, t in points]

    def held(self, key: Key, time: int) -> Iterable[Term]:
        found = [pair for pair, periods in self.histories.get(key, {}).items() if covers(periods, time)]
        if key in self.running:
            if time >= self.grid.next(self.now):
                raise ValueError(f"holdsAt at {time} looks ahead of {self.now} within a cycle")
            state = self.states.get(self.grid.cell(time), frozenset())
            found += [pair for pair in state if pair_key(pair) == key]
        return found

    def boundaries(self, kind: str, key: Key, time: int | None) -> Iterable[tuple[Term, int]]:
        found = []
        for pair, periods in self.histories.get(key, {}).items():
            for first, end in periods:
                moment = {"start": self.grid.prev(first), "startI": first, "end": self.grid.prev(end)}[kind]
                found.append((pair, moment))
        if key in self.running:
            found += [(pair, t) for pair, t in self._running_boundaries(kind, time) if pair_key(pair) == key]
        return [(pair, int(t)) for pair, t in found if self.visible(t) and (time is None or t == time)]

    def _running_boundaries(self, kind: str, time: int | None) -> list[tuple[Term, float]]:
        found: list[tuple[Term, float]] = []
        if time is not None and self.grid.cell(time) != time:
            return []  # states change at time-points of the grid only
        for cell, state in self.states.items() if time is None else [(time, self.states.get(time, frozenset()))]:
            after = self.states.get(int(self.grid.next(cell)))
            before = self.states.get(int(self.grid.prev(cell)), frozenset())
            if kind == "startI":
                found += [(pair, cell) for pair in state - before]
            elif after is not None:
                found += [(pair, cell) for pair in (after - state if kind == "start" else state - after)]
        return found

    def periods(self, key: Key) -> dict[Term, Intervals]:
        return self.histories.get(key, {})

    def clauses(self, key: Key) -> Iterable[trees.BackgroundClause]:
        return self.background.get(key, [])

    # Heads

    def heads(self, head: Term, body: trees.Body, members: list[Term] | None, bindings: Substitution
              ) -> list[tuple[Term, Substitution]]:
        """The instances of a head that follow from a body, within the domain where there is one."""
        domain = Domain(head, None if members is None else tuple(members))
        try:
            solutions = self.solver.solve(body, bindings, variables_in(head), domain)
        except NotReady:
            raise Unsafe(f"variables without a value in a rule for {head}") from None
        result = []
        for solution in solutions:
            chosen = domain.extensions(solution)
            for extended in [solution] if chosen is None else chosen:
                instance = walk(head, extended)
                if members is None or any(unify(instance, m, {}) is not None for m in members):
                    result.append((instance, extended))
        return result


def at_times(happenings: Happenings, key: Key, time: int | None) -> list[tuple[Term, int]]:
    by_time = happenings.get(key, {})
    times = list(by_time) if time is None else [time] if time in by_time else []
    return [(term, t) for t in times for term in by_time[t]]


def subject_term(rule: trees.Grounding) -> Term:
    return pair_term(rule.subject) if isinstance(rule.subject, trees.FluentValue) else rule.subject
