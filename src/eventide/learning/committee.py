"""Several learners, each of which sees half of the streams; their rules vote. One theory in the end, as of a learner.

Labels of one stream resemble each other, so that a theory that is best on few streams is often poor on the next. Each
member of the committee learns from its own half of the streams (subagging: Bühlmann and Yu, "Analyzing bagging", 2002),
and every rule has a vote for each member that found it. A head needs more than `share` of the members. As F1 is highest
where a state is taken to hold from half the highest F1 on (Lipton, Elkan and Naryanaswamy, 2014), an initiation needs
fewer votes than half of them, and a termination more.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from eventide.errors import EventideError
from eventide.kernels.arrays import Mask
from eventide.learning.clauses import Clause
from eventide.learning.columns import Layout, layout_of
from eventide.learning.examples import Batch, Examples
from eventide.learning.inference import Carried, Theory
from eventide.learning.learner import Learner, Report
from eventide.learning.modes import Modes
from eventide.learning.settings import Settings
from eventide.learning.theory import WeightedRule
from eventide.learning.trace import Step


@dataclass(frozen=True, slots=True)
class Votes:
    """How a committee decides."""

    members: int = 12
    share: float = 0.4
    """The share of the members that an initiation needs; a termination needs the rest. Those that saw nothing yet do
    not count."""
    sees: float = 0.5
    """The share of the streams that a member learns from."""
    seed: int = 0
    """Decides which member sees which stream."""

    def __post_init__(self) -> None:
        if self.members < 1:
            raise EventideError(f"a committee has at least one member, not {self.members}")
        if not 0.0 < self.sees <= 1.0:
            raise EventideError(f"sees lies above 0 and is at most 1, it is not {self.sees}")
        if not 0.0 < self.share <= 0.5:
            raise EventideError(f"share lies above 0 and is at most 0.5, it is not {self.share}")

    def learning(self, stream: int) -> Mask:
        """Which members learn from the stream with this number."""
        found: Mask = np.random.default_rng([self.seed, stream]).random(self.members) < self.sees
        return found


class Committee:
    """A learner whose rules come from several; `partial_fit`, `predict` and `rules` are as in `Learner`.

    >>> from eventide.learning.examples import examples_of, table
    >>> from eventide.learning.modes import read_modes
    >>> modes, _ = read_modes('''modeh(initiatedAt(rich(+person),+time))
    ... modeh(terminatedAt(rich(+person),+time))
    ... modeb(happensAt(win(+person),+time))
    ... modeb(happensAt(lose(+person),+time))''')
    >>> wins, losses, years = list(range(0, 50, 5)) * 2, list(range(3, 50, 5)) * 2, [1] * 10 + [2] * 10
    >>> tables = [table("happensAt(win(+person),+time)", ["ann"] * 20, wins, streams=years),
    ...           table("happensAt(lose(+person),+time)", ["ann"] * 20, losses, streams=years)]
    >>> rich = table("holdsAt(rich(+person),+time)", ["ann"] * 20, losses, streams=years)
    >>> committee = Committee(modes, votes=Votes(members=4))
    >>> for batch in examples_of(modes, tables, rich).batches(100):
    ...     report = committee.partial_fit(batch)
    >>> for rule in committee.rules:
    ...     print(round(rule.weight, 2), rule.clause)
    3.0 initiatedAt(rich(X), T) :- happensAt(win(X), T).
    1.2 terminatedAt(rich(X), T).
    -1.2 initiatedAt(rich(X), T).
    """

    def __init__(self, modes: Modes, *, settings: Settings | None = None, votes: Votes | None = None) -> None:
        self.modes, self.votes = modes, votes or Votes()
        self.settings = settings or Settings()
        self.members = [Learner(modes, settings=self.settings) for _ in range(self.votes.members)]
        self.batches = 0
        """How many batches were learnt from."""
        self._streams = -1
        self._state, self._test_state = Carried(), Carried()
        self._rules: tuple[WeightedRule, ...] | None = ()
        self._known: tuple[Examples, list[Clause], Layout] | None = None

    @property
    def rules(self) -> tuple[WeightedRule, ...]:
        """The members' rules, with a vote for each member that has them, and what a head needs."""
        if self._rules is None:
            self._rules = self._voted()
        return self._rules

    @property
    def trace(self) -> list[Step]:
        """What the members did, in order of the batches that they learnt from."""
        return sorted((step for member in self.members for step in member.trace), key=lambda step: step.batch)

    def _voted(self) -> tuple[WeightedRule, ...]:
        found: dict[Clause, list[WeightedRule]] = {}
        voters = sum(member.batches > 0 for member in self.members)
        for member in self.members:
            for rule in member.rules:
                found.setdefault(rule.clause, []).append(rule)
        for clause, (first, *_) in tuple(found.items()):
            needed = self.votes.share if first.initiates else 1.0 - self.votes.share
            against = WeightedRule(Clause(clause.head), -needed * voters, first.initiates, 0, 0, 0)
            others = found.setdefault(against.clause, [])
            if against not in others:
                others.append(against)
        return tuple(self._together(clause, held) for clause, held in found.items())

    def _together(self, clause: Clause, held: list[WeightedRule]) -> WeightedRule:
        """A rule with a vote for each member that has it, less what its head needs if it has no conditions."""
        weight = sum(1.0 if rule.weight > 0 else rule.weight for rule in held)
        tp, fp, seen, support = (max(getattr(rule, name) for rule in held) for name in ("tp", "fp", "seen", "support"))
        return WeightedRule(clause, weight, held[0].initiates, tp, fp, seen, support)

    def partial_fit(self, batch: Batch) -> Report:
        """Infer a batch, then let the members learn from it whose stream it is."""
        started = time.perf_counter()
        self.batches += 1
        if batch.begins or self._streams < 0:
            self._streams += 1
            self._state.reset()
        holds = self._inferred(batch, self._state)
        tp = int(np.count_nonzero(holds & batch.labels))
        fp, fn = int(np.count_nonzero(holds)) - tp, int(np.count_nonzero(batch.labels)) - tp
        steps: tuple[Step, ...] = ()
        for member, learns in zip(self.members, self.votes.learning(self._streams).tolist(), strict=True):
            if learns:
                steps += member.partial_fit(batch).steps
        self._rules = None  # also without steps: counts grow, and a member that saw its first stream has a vote
        return Report(self.batches, batch.times.shape[0], tp, fp, fn + batch.outside, time.perf_counter() - started,
                      steps)

    def revise(self) -> bool:
        """Improve the theory of each member on all that it remembers; whether one changed."""
        changed = [member.revise() for member in self.members if member.batches]
        self._rules = None
        return any(changed)

    def predict(self, batch: Batch) -> Mask:
        """The state at each row of a batch; states are carried as in `Learner.predict`."""
        if not any(member.batches for member in self.members):
            raise EventideError("nothing was learnt yet: call partial_fit first")
        if batch.begins:
            self._test_state.reset()
        return self._inferred(batch, self._test_state)

    def _inferred(self, batch: Batch, state: Carried) -> Mask:
        clauses = [rule.clause for rule in self.rules]
        if self._known is None or self._known[0] is not batch.examples or self._known[1] != clauses:
            self._known = (batch.examples, clauses, layout_of(clauses, batch.examples))
        layout = self._known[2]
        weights = np.array([rule.weight for rule in self.rules], np.float64)
        theory = Theory(layout.bodies, layout.initiates, weights)
        found = theory.infer(layout.columns(batch), batch.offsets, state.take(batch.instances))
        state.put(batch.instances, found.after)
        return found.holds

