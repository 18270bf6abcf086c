"""The meaning of an Event Calculus program, time-point by time-point: the oracle for the engine. Slow on purpose.

Semantics: the interval definitions of RTEC and the rules 3.7-3.9 (inertia) and 3.16-3.18 (delayed effects) of the
thesis on RTEC, with the conventions of the design's section "Conventions of time and intervals".

- The program is cut into strata by its dependencies. A statically determined fluent is computed from whole histories;
  simple fluents and output events that depend on each other are computed together, time-point after time-point.
- An effect at T shows from the next time-point, so `holdsAt` at T is known from the past. What happens *at* a
  time-point (derived events, `start`, `end`, initiations as conditions) may depend on other effects at the same
  time-point: all of them are computed again from the last guess until nothing changes. Where these dependencies have
  no ground cycle, as in every program with a meaning, there is exactly one such result.
- With a tick above 1 an effect at T counts at the time-point below T (all effects between two time-points tie),
  deadlines count from there, and conditions are looked at with the times as given.
- A cut in the body of a rule for a simple fluent or an event has no effect (a head either follows or it does not);
  in a `holdsFor` clause it hides the later clauses of the same fluent and value.
- `initially` and `complement_all` count from the first time-point after `start` (`initially` from `initially_at` where
  the run starts before). Facts count within `(start, until]`; what holds at the first time-point begins at `start`.
- Where a grounding lists values, these exist, and those that `fi` or the head of an initiatedAt or initially rule
  names: a named value that is not listed ends the others but holds nowhere itself (RTEC's case E08c; its descriptions
  of activities and of city transport rely on it).
  Initiating any other value has no effect.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from eventide.syntax import trees
from eventide.syntax.terms import Compound, Term, functor_of, is_ground

from .program import Program, has_cut
from .resolution import Unsafe, pair_key, pair_term
from .store import Fact, Store, Ties
from .stratum import Stratum
from .terms import Plain, intervals_of_term, plain, unify, walk
from .timeline import INF, Grid, from_points


@dataclass(frozen=True)
class Answer:
    """What a program recognises: maximal intervals per `f(a,b)=v` (end None: still open), and output events."""

    fluents: dict[str, list[tuple[int, int | None]]]
    events: list[tuple[str, tuple[Plain, ...], int]]


def evaluate(
    rules: Sequence[trees.Rule],
    facts: Iterable[Fact],
    *,
    start: int,
    until: int,
    tick: int = 1,
    initially_at: int = 0,
    ties: Ties = "termination",
) -> Answer:
    """The answer of one window `(start, until]`; an interval fact counts with its part after `start`."""
    program = Program(rules)
    store = Store(rules, start, until, Grid(tick), initially_at, ties)
    store.read(facts)
    hidden: dict[Term, None] = {}
    for nodes in program.strata():
        kind, _, index = nodes[0]
        if kind == "static":
            static_fluent(store, program.statics[index], hidden)
        elif kind == "built":
            built_fluent(store, program.built[index])
        else:
            fluents = [(name, arity) for role, name, arity in nodes if role == "simple"]
            events = [(name, arity) for role, name, arity in nodes if role == "event"]
            Stratum(store, program, fluents, events).run()
    return answer(store)


def static_fluent(store: Store, rule: trees.StaticRule, hidden: dict[Term, None]) -> None:
    """Add the periods that one `holdsFor` rule gives; a body that fails adds nothing."""
    head, members = pair_term(rule.pair), store.members.get(functor_of(rule.pair.fluent))
    before = dict(hidden)
    for pair, bindings in store.heads(head, rule.body, members, {}):
        if not is_ground(pair):
            raise Unsafe(f"variables without a value in holdsFor({pair})")
        if pair not in before:
            store.add_periods(pair, intervals_of_term(rule.interval, bindings))
            store.derived_pairs[pair] = None
    if has_cut(rule):
        cut = [isinstance(c, trees.Cut) for c in rule.body].index(True)
        hidden.update((pair, None) for pair, _ in store.heads(head, rule.body[:cut], members, {}))


def built_fluent(store: Store, declared: trees.Declaration) -> None:
    """`buildFromPoints(F=V, E)`: the points of an event become the periods of a fluent."""
    assert isinstance(declared.subject, trees.FluentValue)
    head, event = pair_term(declared.subject), declared.rest[0]
    points: dict[Term, list[int]] = defaultdict(list)
    for term, time in store.happenings(functor_of(event), None):
        matched = unify(event, term, {})
        if matched is not None:
            points[walk(head, matched)].append(time)
    for pair, times in points.items():
        store.add_periods(pair, from_points(times, store.grid, store.until))
        store.derived_pairs[pair] = None


def answer(store: Store) -> Answer:
    """What was derived, as text and plain values."""
    fluents: dict[str, list[tuple[int, int | None]]] = {}
    for pair in store.derived_pairs:
        assert isinstance(pair, Compound)
        periods = store.histories[pair_key(pair)][pair]
        if periods:
            fluents[f"{pair.args[0]}={pair.args[1]}"] = [(int(s), None if e == INF else int(e)) for s, e in periods]
    moments = [(event, time) for times in store.derived.values() for time, events in times.items() for event in events]
    events = [(functor_of(event)[0], arguments(event), time) for event, time in moments]
    return Answer(dict(sorted(fluents.items())), sorted(events, key=lambda e: (e[2], e[0], tuple(map(str, e[1])))))


def arguments(term: Term) -> tuple[Plain, ...]:
    return tuple(map(plain, term.args)) if isinstance(term, Compound) else ()
