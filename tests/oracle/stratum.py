"""Simple fluents and output events that depend on each other, one time-point after the other."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from eventide.syntax import trees
from eventide.syntax.terms import Compound, Number, Term, Variable, functor_of, is_ground

from .program import Program
from .resolution import Key, Unsafe, pair_key, pair_term, variables_in
from .store import Store
from .terms import Substitution, calculate, canonical, unify, walk
from .timeline import INF

ROUNDS = 100
Moments = dict[tuple[Term, int], None]


@dataclass
class Effects:
    """What happens at a time-point: initiations, terminations and derived events with their times; the state after."""

    initiated: Moments
    terminated: Moments
    events: Moments
    after: frozenset[Term]

    def same(self, other: Effects) -> bool:
        return (self.initiated.keys() == other.initiated.keys() and self.terminated.keys() == other.terminated.keys()
                and self.events.keys() == other.events.keys() and self.after == other.after)


@dataclass(frozen=True)
class Deadline:
    """A pending `fi`: `source` was initiated at time-point `armed`, `target` is initiated at `due`."""

    source: Term
    target: Term
    armed: int
    due: int


class Stratum:
    """Simple fluents and output events that depend on each other."""

    def __init__(self, store: Store, program: Program, fluents: list[Key], events: list[Key]) -> None:
        self.store, self.program, self.fluents = store, program, fluents
        self.change_rules = [rule for key in fluents for rule in program.changes[key]]
        self.event_rules = [rule for key in events for rule in program.events[key]]
        self.deadlines: list[Deadline] = []

    def run(self) -> None:
        """Compute all time-points and leave the maximal intervals in the store."""
        store, grid = self.store, self.store.grid
        initial, prior = self.initial_pairs(), int(grid.prev(store.initially_from))
        first = grid.cell(store.start)
        cell = first = min(first, prior) if initial else first
        store.running, store.states = frozenset(self.fluents), {cell: frozenset()}
        busy = self.busy()
        while cell <= store.until:
            store.now = cell
            if cell == prior or busy is None or cell in busy or self.moving(cell):
                self.follow(cell, self.settle(cell, initial if cell == prior else {}))
            else:  # nothing happens: the next state is this one
                store.states[int(grid.next(cell))] = store.states[cell]
            cell = int(grid.next(cell))
        for point in range(first, cell + 1, grid.tick):
            for pair in store.states[point]:
                store.add_periods(pair, [(point, INF if point == cell else point + grid.tick)])
                store.derived_pairs[pair] = None
        store.running, store.states = frozenset(), {}

    def busy(self) -> set[int] | None:
        """The time-points at which a fact or a result of earlier strata may make a rule apply: every rule has a
        condition that says when. None if one has not, so that all time-points must be looked at."""
        rules: list[trees.ChangeRule | trees.EventRule] = [*self.change_rules, *self.event_rules]
        if not all(says_when(rule.body, rule.time) for rule in rules):
            return None
        store, grid = self.store, self.store.grid
        times = {t for kind in (store.given, store.derived, store.initiated, store.terminated)
                 for by_time in kind.values() for t in by_time}
        ends = {t for pairs in store.histories.values() for periods in pairs.values() for period in periods
                for t in (grid.prev(period[0]), period[0], grid.prev(period[1]))}
        return {grid.cell(int(t)) for t in times | ends if t != INF}

    def moving(self, cell: int) -> bool:
        """Whether a deadline is due, or the state has just changed."""
        states, grid = self.store.states, self.store.grid
        return (any(grid.cell(d.due) == cell for d in self.deadlines)
                or states[cell] != states.get(int(grid.prev(cell)), frozenset()))

    def initial_pairs(self) -> dict[Term, None]:
        pairs: dict[Term, None] = {}
        for key in self.fluents:
            for rule in self.program.initials[key]:
                for pair, _ in self.store.heads(pair_term(rule.pair), rule.body, self.members(key), {}):
                    if not is_ground(pair):
                        raise Unsafe(f"initially({pair}) needs a grounding")
                    pairs[pair] = None
        return pairs

    def settle(self, cell: int, initial: dict[Term, None]) -> Effects:
        """Compute the effects at a time-point from a guess of them until the guess is confirmed."""
        guess = Effects({}, {}, {}, self.store.states[cell])
        self.show(cell, guess)
        for _ in range(ROUNDS):
            effects = self.effects(cell, initial, guess)
            self.hide(guess)
            self.show(cell, effects)
            if effects.same(guess):
                return effects
            guess = effects
        raise ValueError(f"the effects at {cell} contradict themselves")

    def show(self, cell: int, effects: Effects) -> None:
        """Let conditions see the effects."""
        store = self.store
        store.states[int(store.grid.next(cell))] = effects.after
        for event, time in effects.events:
            store.derived[functor_of(event)][time][event] = None
        for pair, time in effects.initiated:
            store.initiated[pair_key(pair)][time][pair] = None
        for pair, time in effects.terminated:
            store.terminated[pair_key(pair)][time][pair] = None

    def hide(self, effects: Effects) -> None:
        """Take the effects of a guess back."""
        store = self.store
        for event, time in effects.events:
            del store.derived[functor_of(event)][time][event]
        for pair, time in effects.initiated:
            del store.initiated[pair_key(pair)][time][pair]
        for pair, time in effects.terminated:
            del store.terminated[pair_key(pair)][time][pair]

    def effects(self, cell: int, initial: dict[Term, None], guess: Effects) -> Effects:
        """One round: all rules at the times of this time-point, the deadlines that are due, and the state after."""
        store = self.store
        initiated: Moments = {}
        terminated: Moments = {}
        events: Moments = {}
        for time in range(max(cell, store.start), min(int(store.grid.next(cell)), store.until + 1)):
            for rule in self.change_rules:
                members = self.members(functor_of(rule.pair.fluent))
                for pair in self.at(time, rule.time, pair_term(rule.pair), rule.body, members):
                    if rule.kind == "initiated" and not is_ground(pair):
                        raise Unsafe(f"variables without a value in initiatedAt({pair})")
                    (initiated if rule.kind == "initiated" else terminated)[pair, time] = None
            for event_rule in self.event_rules:
                listed = store.listed_events.get(functor_of(event_rule.event))
                for event in self.at(time, event_rule.time, event_rule.event, event_rule.body, listed):
                    if not is_ground(event):
                        raise Unsafe(f"variables without a value in {event}")
                    events[event, time] = None
        again = {pair for pair, _ in guess.initiated}
        for deadline in self.deadlines:
            postponed = deadline.source in again and self.moves(deadline.source)
            if store.grid.cell(deadline.due) == cell and deadline.due <= store.until and not postponed:
                initiated[deadline.target, deadline.due] = None
        begun = {pair for pair, _ in initiated} | set(initial)
        kept = {pair for pair in store.states[cell] if not broken(pair, begun, terminated)}
        if store.ties == "termination":
            begun = {pair for pair in begun if not broken(pair, begun, terminated)}
        return Effects(initiated, terminated, events, frozenset(p for p in kept | begun if self.listed(p)))

    def members(self, key: Key) -> list[Term] | None:
        """The instances that rules may change: those the grounding lists, and for its fluents every value that a head
        or `fi` names. A named value ends the others even if it is not listed; it then holds nowhere itself."""
        members = self.store.members.get(key)
        if members is None:
            return None
        begun = [r.pair.value for r in self.program.changes[key] if r.kind == "initiated"]
        begun += [r.pair.value for r in self.program.initials[key]]
        begun += [pair.value for r in self.program.delays[key] for pair in (r.source, r.target)]
        named = dict.fromkeys(v for v in begun if is_ground(v))
        fluents = dict.fromkeys(m.args[0] for m in members if isinstance(m, Compound))
        return [*members, *(Compound("=", (fluent, value)) for fluent in fluents for value in named)]

    def listed(self, pair: Term) -> bool:
        """Whether a pair may hold: its grounding lists it, or there is none."""
        members = self.store.members.get(pair_key(pair))
        return members is None or any(unify(pair, m, {}) is not None for m in members)

    def at(self, time: int, clock: Term, head: Term, body: trees.Body, members: list[Term] | None) -> list[Term]:
        """The instances of a head that follow at a time."""
        bindings: Substitution = {clock: Number(time)} if isinstance(clock, Variable) else {}
        return [canonical(instance) for instance, _ in self.store.heads(head, body, members, bindings)]

    def follow(self, cell: int, effects: Effects) -> None:
        """Cancel the deadlines that the effects break or postpone, and arm new ones (rules 3.16-3.18)."""
        begun = {pair for pair, _ in effects.initiated}
        self.deadlines = [
            d for d in self.deadlines
            if self.store.grid.cell(d.due) > cell
            and not broken(d.source, begun, effects.terminated)
            and not (d.source in begun and self.moves(d.source))
        ]
        for pair in begun:
            self.deadlines += self.arm(pair, cell)

    def arm(self, pair: Term, cell: int) -> list[Deadline]:
        """The deadlines that an initiation starts."""
        armed: list[Deadline] = []
        for rule in self.program.delays[pair_key(pair)]:
            matched = unify(pair_term(rule.source), pair, {})
            if matched is None:
                continue
            pattern = pair_term(rule.target)
            outside = variables_in(pattern) | variables_in(rule.delay)
            for bindings in self.store.solver.solve(rule.body, matched, outside):
                due = cell + int(calculate(rule.delay, bindings))
                if self.store.grid.cell(due) <= cell:
                    raise ValueError(f"the delay of {pair} is shorter than a tick")
                if self.leads_to(walk(pattern, bindings), pair):
                    armed.append(Deadline(pair, walk(pattern, bindings), cell, due))
        return armed

    def leads_to(self, target: Term, source: Term) -> bool:
        """A deadline leads to another value of the same fluent."""
        assert isinstance(target, Compound) and isinstance(source, Compound)
        return target.args[0] == source.args[0]

    def moves(self, pair: Term) -> bool:
        """Whether `p(pair)` is declared."""
        matches = [(rule, unify(pair_term(rule.pair), pair, {})) for rule in self.program.postponable]
        return any(m is not None and self.store.solver.solve(rule.body, m, frozenset()) for rule, m in matches)


def says_when(body: trees.Body, clock: Term) -> bool:
    """Whether a body can only be true when something happens at that very time."""
    return any(c.time == clock if isinstance(c, trees.Happens | trees.Boundary | trees.Changed)
               else isinstance(c, trees.Or) and all(says_when(goals, clock) for goals in c.alternatives) for c in body)


def broken(pair: Term, begun: Iterable[Term], terminated: Iterable[tuple[Term, int]]) -> bool:
    """Whether a pair is terminated, or its fluent initiated with another value (rules 3.8 and 3.9)."""
    assert isinstance(pair, Compound)
    others = any(isinstance(o, Compound) and o.args[0] == pair.args[0] and o != pair for o in begun)
    return others or any(unify(pattern, pair, {}) is not None for pattern, _ in terminated)
