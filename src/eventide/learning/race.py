"""Several learners on the same batches; the one whose states were best, each before its labels were used, answers.

Which costs are right for a stream, and whether few rules are better than the votes of many, is not known beforehand.
Each batch tests all learners before they learn from it, so that the stream itself tells, and no stream has to be set
aside. This is to follow the leader, the simplest way to learn from experts (Cesa-Bianchi and Lugosi, "Prediction,
learning, and games", 2006), with the F1 of all states so far in place of a loss.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace

from eventide.errors import EventideError
from eventide.kernels.arrays import Mask
from eventide.learning.committee import Committee, Votes
from eventide.learning.evaluation import Score
from eventide.learning.examples import Batch
from eventide.learning.learner import Learner, Report
from eventide.learning.modes import Modes
from eventide.learning.settings import Settings
from eventide.learning.theory import WeightedRule
from eventide.learning.trace import Step


class Race:
    """Learners by name, of which the best so far answers; `partial_fit`, `predict` and `rules` are as in `Learner`.

    >>> from eventide.learning.examples import examples_of, table
    >>> from eventide.learning.modes import read_modes
    >>> modes, _ = read_modes('''modeh(initiatedAt(rich(+person),+time))
    ... modeh(terminatedAt(rich(+person),+time))
    ... modeb(happensAt(win(+person),+time))
    ... modeb(happensAt(lose(+person),+time))''')
    >>> days = list(range(40))
    >>> tables = [table("happensAt(win(+person),+time)", ["ann"] * 8, days[::5]),
    ...           table("happensAt(lose(+person),+time)", ["ann"] * 8, days[3::5]), table("day(+time)", days)]
    >>> rich = [day for day in days if day % 5 in (1, 2, 3)]
    >>> labels = table("holdsAt(rich(+person),+time)", ["ann"] * len(rich), rich)
    >>> race = Race({"blind": Learner(modes, settings=Settings().with_(literal_cost=1000)), "plain": Learner(modes)})
    >>> for batch in examples_of(modes, tables, labels).batches(10):
    ...     report = race.partial_fit(batch)
    >>> race.leader, {name: round(score.f1, 2) for name, score in race.scores.items()}
    ('plain', {'blind': 0.0, 'plain': 0.86})
    >>> print(race.rules[0].clause)
    initiatedAt(rich(X), T) :- happensAt(win(X), T).
    """

    def __init__(self, runners: Mapping[str, Learner | Committee]) -> None:
        if not runners:
            raise EventideError("a race has at least one learner")
        self.runners = dict(runners)
        self.scores = dict.fromkeys(self.runners, Score())
        """How each learner fared so far, before labels were used."""
        self.leader = next(iter(self.runners))
        """The name of the one that answers."""
        self.batches = 0
        """How many batches were learnt from."""
        self._passed: list[Step] = []

    @property
    def ahead(self) -> Learner | Committee:
        """The learner that answers."""
        return self.runners[self.leader]

    @property
    def modes(self) -> Modes:
        """The declarations of the learner that answers."""
        return self.ahead.modes

    @property
    def settings(self) -> Settings:
        """The settings of the learner that answers."""
        return self.ahead.settings

    @property
    def rules(self) -> tuple[WeightedRule, ...]:
        """The rules of the learner that answers."""
        return self.ahead.rules

    @property
    def trace(self) -> list[Step]:
        """What the learner that answers did, and when the lead was passed on."""
        return sorted((*self.ahead.trace, *self._passed), key=lambda step: step.batch)

    def partial_fit(self, batch: Batch) -> Report:
        """Infer a batch with all learners, and let them learn from it; the report is that of the one in the lead."""
        started, before = time.perf_counter(), self.leader
        self.batches += 1
        reports = {name: runner.partial_fit(batch) for name, runner in self.runners.items()}
        for name, report in reports.items():
            self.scores[name] += Score(report.tp, report.fp, report.fn)
        self.leader = max(self.scores, key=lambda name: (self.scores[name].f1, name == before))
        steps = reports[self.leader].steps
        if self.leader != before:
            f1, other = self.scores[self.leader].f1, self.scores[before].f1
            self._passed.append(Step(
                self.batches, "lead", None, None, f"{self.leader} takes it from {before}: F1 {f1:.3f} and {other:.3f} "
                "so far, each batch tested before it was used", {"f1": f1, "f1 of the other": other}))
            steps = (*steps, self._passed[-1])
        return replace(reports[before], batch=self.batches, seconds=time.perf_counter() - started, steps=steps)

    def revise(self) -> bool:
        """Improve the theory of each learner on all that it remembers; whether one changed."""
        return any([runner.revise() for runner in self.runners.values()])

    def predict(self, batch: Batch) -> Mask:
        """The state at each row of a batch; states are carried as in `Learner.predict`, whoever comes to lead."""
        return {name: runner.predict(batch) for name, runner in self.runners.items()}[self.leader]


def race_of(modes: Modes, settings: Settings | None = None, *, members: int = 0, seed: int = 0) -> Race:
    """The learner with these settings, one with `Settings.careful`, and a committee of careful ones.

    >>> from eventide.learning.modes import read_modes
    >>> race = race_of(read_modes("modeh(initiatedAt(rich(+person),+time))")[0])
    >>> list(race.runners), race.leader
    (['as set', 'careful', 'committee'], 'as set')
    """
    given = settings or Settings()
    if given.method != "woled" or given.induction != "revise":
        raise EventideError("a race is run with the method woled: costs mean nothing to the others")
    careful = given.careful()
    votes = Votes(members=members, seed=seed) if members else Votes(seed=seed)
    return Race({"as set": Learner(modes, settings=given), "careful": Learner(modes, settings=careful),
                 "committee": Committee(modes, settings=careful, votes=votes)})
