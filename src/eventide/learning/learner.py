"""Learning rules from labelled mini-batches, one after the other: OLED and WOLED. Not for files, nor for evaluation.

Katzouris, Artikis and Paliouras, "Online learning of event definitions" (2016); Katzouris and Artikis, WOLED (KR 2020),
Algorithm 3. Each batch is first inferred with the rules as they are, which is the test; only then its labels are used:
counts and weights of the rules are updated, rules are specialised, and mistakes lead to new rules.

By default the learner goes beyond the paper in one point. As the search for rules is quick on compressed data, it
remembers past batches as runs, and improves its theory as a whole on them (`Settings.induction`). The paper's way, in
which rules are only added for the mistakes of one batch, is `Settings.paper()`.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from eventide.errors import EventideError
from eventide.kernels.arrays import Array, Mask
from eventide.kernels.votes import Floats, hold, vote
from eventide.learning.columns import Layout
from eventide.learning.counts import Counts, Judgements, refinement_counts, rule_counts
from eventide.learning.drift import Window
from eventide.learning.examples import Batch, Examples
from eventide.learning.induction import (
    Induced,
    Rule,
    Search,
    Task,
    f1_of,
    fires_at,
    induce,
    mistakes_of,
    search_for_f1,
    size_of,
)
from eventide.learning.inference import Carried, Inferred, firing, infer
from eventide.learning.language import Language, columns_of, language_of
from eventide.learning.merging import merge
from eventide.learning.modes import Modes
from eventide.learning.settings import Settings
from eventide.learning.signatures import Chunk, Memory, Signatures, chunk_of, forced_by, truths_of
from eventide.learning.specialisation import best_refinement, hoeffding
from eventide.learning.theory import HeldRule, WeightedRule
from eventide.learning.trace import Kind, Step
from eventide.learning.weights import Weights


@dataclass(frozen=True, slots=True)
class Report:
    """What a batch brought: how its inference fared before its labels were used, and how long all took."""

    batch: int
    points: int
    tp: int
    fp: int
    fn: int
    seconds: float
    steps: tuple[Step, ...] = ()

    @property
    def mistakes(self) -> int:
        """Wrong states."""
        return self.fp + self.fn


class Learner:
    """Rules for the changes of one fluent, learnt batch by batch. The same batches, in order, give the same rules.

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
    >>> learner = Learner(modes)
    >>> for batch in examples_of(modes, tables, labels).batches(10):
    ...     report = learner.partial_fit(batch)
    ...     print(report.tp, report.fp, report.fn)
    0 0 6
    6 0 0
    6 0 0
    6 0 0
    >>> for rule in learner.rules:
    ...     print(rule.clause)
    initiatedAt(rich(X), T) :- happensAt(win(X), T).
    terminatedAt(rich(X), T) :- happensAt(lose(X), T).
    """

    def __init__(self, modes: Modes, *, settings: Settings | None = None, language: Language | None = None) -> None:
        self.modes = modes
        self.settings = settings or Settings()
        self.trace: list[Step] = []
        self.language = language
        """The conditions that rules may have; if not given, those of the first examples seen."""
        self.batches = 0
        """How many batches were learnt from."""
        self._rules: list[HeldRule] = []
        self._memory = Memory()
        self._streams = 0
        self._state, self._test_state = Carried(), Carried()
        self._drift = Window(self.settings.drift_delta) if self.settings.drift else None
        self._debt = 0
        self._cost = 0
        self._anew_from = 0
        self._patience = self.settings.patience
        self._known: tuple[Examples, Layout] | None = None

    @property
    def rules(self) -> tuple[WeightedRule, ...]:
        """The rules as they are now."""
        if self.language is None:
            return ()
        return tuple(WeightedRule(self.language.clause(rule.initiates, rule.body), rule.weight, rule.initiates, rule.tp,
                                  rule.fp, rule.seen, rule.support.shape[0]) for rule in self._rules)

    @property
    def taking_part(self) -> tuple[WeightedRule, ...]:
        """The rules that inference counts: with `oled` those that have conditions and are precise enough."""
        if self.settings.method != "oled":
            return self.rules
        return tuple(rule for rule, held in zip(self.rules, self._rules, strict=True) if self._takes_part(held))

    def predict(self, batch: Batch) -> Mask:
        """The state at each row of a batch; states are carried from batch to batch of a stream, apart from learning's.

        Raises EventideError if nothing was learnt yet.
        """
        if self.language is None:
            raise EventideError("nothing was learnt yet: call partial_fit first")
        if batch.begins:
            self._test_state.reset()
        found = self._infer(self._columns(batch), batch, self._test_state.take(batch.instances))
        self._test_state.put(batch.instances, found.after)
        return found.holds

    def partial_fit(self, batch: Batch) -> Report:
        """Infer a batch, then learn from it."""
        started, steps = time.perf_counter(), len(self.trace)
        self.batches += 1
        columns = self._columns(batch)
        if batch.begins:
            self._streams += 1
            self._state.reset()
        before = self._state.take(batch.instances)
        found = self._infer(columns, batch, before)
        tp = int(np.count_nonzero(found.holds & batch.labels))
        fp = int(np.count_nonzero(found.holds)) - tp
        fn = int(np.count_nonzero(batch.labels)) - tp
        following = batch.following_inside()
        chunk = chunk_of(columns, batch.labels, following, batch.instances, batch.times.shape[0])
        late = self._memory.add(chunk, self._streams, batch.begins, batch.opening, self.settings.memory)
        if late is not None and self.settings.method == "woled" and self.settings.weighting == "counts":
            self._count_late(late)
        self._count(found, following, columns, batch.times.shape[0])
        changed = self._specialise() if self.settings.specialises else False
        self._debt += fp + fn
        if self.settings.method == "oled":
            changed = self._begin_rules(fp + fn) or changed
        elif self.settings.induction == "revise":
            due = self._debt > max(self.settings.mistakes_allowed, self._patience * self._cost)
            anew = self.batches >= self._anew_from
            changed = (due and self.revise(anew=anew)) or changed
            if due and anew:
                self._anew_from = self.batches + (self.batches + 1) // 2
        elif fp + fn > self.settings.mistakes_allowed:
            changed = self._extend(columns, batch, before, following) or changed
        changed = self._prune() or changed
        if self._drift is not None:
            changed = self._notice_drift(batch, found) or changed
        if changed:
            found = self._infer(columns, batch, before)
        self._carry(batch, found)
        return Report(self.batches, batch.times.shape[0], tp, fp, fn + batch.outside, time.perf_counter() - started,
                      tuple(self.trace[steps:]))

    def revise(self, *, anew: bool = True) -> bool:
        """Improve the theory as a whole on what is remembered; whether it changed. `oled` does no such thing.

        With `anew` long rules are looked for from nothing too, not only from the rules that there are.
        """
        if self.settings.method == "oled" or not self._memory.chunks:
            return False
        signatures = self._memory.signatures()
        task = self._task(signatures, None)
        now = [rule.rule for rule in self._rules]
        found = induce(task, self._search(task, now), now, anew)
        if not found.rules and self.settings.objective == "f1":  # no rule makes fewer mistakes than none, but F1 is 0
            found = induce(task, search_for_f1(self.settings.search, 0.5), anew=anew)
        self._debt, self._cost = 0, mistakes_of(task, found.rules)
        self._patience = 2 * self._patience if found.spent else self.settings.patience
        new = [rule for rule in found.rules if rule not in now]
        gone = [rule for rule in self._rules if rule.rule not in found.rules]
        if not new and not gone:
            return False
        points = sum(int(chunk.ups.sum() + chunk.downs.sum()) for chunk in self._memory.chunks)
        numbers = {"cost": found.cost, "mistakes": self._cost, "rows": points}
        for rule in gone:
            without = [each for each in found.rules if each != rule.rule]
            kept = mistakes_of(task, [*without, rule.rule])
            reason = (f"the theory was revised: {self._cost} mistakes without it on what is remembered, {kept} if it "
                      "were kept besides the others")
            self._say("dropped", rule.rule, None, reason, {**numbers, "mistakes with it": kept})
        self._rules = [rule for rule in self._rules if rule.rule in found.rules]
        self._add(new, found, task, "the theory was revised")
        self._rules.sort(key=lambda rule: found.rules.index(rule.rule))
        return True

    def _search(self, task: Task, rules: Sequence[Rule]) -> Search:
        """What a revision looks for, given the theory so far."""
        if self.settings.objective == "mistakes":
            return self.settings.search
        return search_for_f1(self.settings.search, f1_of(task, rules) or 1.0)

    def merge(self, others: Sequence[Learner]) -> None:
        """Take over what others have learnt from other streams; `merging` says what that means."""
        merge(self, others)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_known": None}  # examples are not part of what was learnt

    # -- inference -----------------------------------------------------------------------------------------------------

    def _columns(self, batch: Batch) -> Mask:
        """The truth of the language's columns in a batch."""
        if self._known is None or self._known[0] is not batch.examples:
            if self.language is None:
                self.language = language_of(self.modes, batch.examples, joined=self.settings.joined,
                                            thresholds=self.settings.thresholds)
            self._known = batch.examples, columns_of(self.language, batch.examples)
        return self._known[1].columns(batch)

    @property
    def _conditions(self) -> list[int]:
        assert self.language is not None
        return self.language.columns

    def _votes(self) -> Floats:
        """The weight with which each rule takes part."""
        if self.settings.method == "oled":
            return np.array([float(self._takes_part(rule)) for rule in self._rules])
        if self.settings.inference == "crisp":
            return np.ones(len(self._rules))
        return np.array([rule.weight for rule in self._rules], np.float64)

    def _takes_part(self, rule: HeldRule) -> bool:
        """Rules of OLED without conditions are there to be specialised, and infer nothing."""
        known = rule.tp + rule.fp
        return bool(rule.body) and (known == 0 or rule.tp >= self.settings.prune_precision * known)

    def _kinds(self) -> Mask:
        return np.array([rule.initiates for rule in self._rules], np.bool_)

    def _infer(self, columns: Mask, batch: Batch, before: Mask) -> Inferred:
        fires = firing(columns, [[self._conditions[number] for number in rule.body] for rule in self._rules])
        mode = "vote" if self.settings.method == "oled" else self.settings.inference
        return infer(fires, self._kinds(), self._votes(), batch.offsets, before, mode)

    def _carry(self, batch: Batch, found: Inferred) -> None:
        after = found.after
        if self.settings.carry == "nothing":
            after = np.zeros_like(after)
        elif self.settings.carry == "labels" and after.shape[0]:
            last = batch.offsets[1:] - 1
            after = found.on[1, last] | (batch.labels[last] & ~found.on[0, last])
        self._state.put(batch.instances, after)

    # -- counts, weights, specialisation -------------------------------------------------------------------------------

    def _count(self, found: Inferred, following: Judgements, columns: Mask, points: int) -> None:
        """Add what rules did in a batch to their counts, and update their weights."""
        if not self._rules:
            return
        satisfied = found.satisfied()
        counts = rule_counts(found.fires, satisfied, found.initiates, following)
        by_inference = self.settings.method == "woled" and self.settings.weighting == "adagrad"
        numbers = np.array(self._conditions, np.int64)
        denied, at = numbers < 0, np.where(numbers < 0, ~numbers, numbers)
        for i, rule in enumerate(self._rules):
            tp = int((counts.satisfied_true if by_inference else counts.true)[i])
            fp = int((counts.satisfied_false if by_inference else counts.false)[i])
            rule.tp, rule.fp, rule.seen = rule.tp + tp, rule.fp + fp, rule.seen + points
            if not self.settings.specialises:
                continue
            rule.parent_tp, rule.parent_fp = rule.parent_tp + tp, rule.parent_fp + fp
            refined = refinement_counts(found.fires[i], satisfied[i], rule.initiates, following, columns)
            for name, kind in (("refined_tp", "satisfied_true" if by_inference else "true"),
                               ("refined_fp", "satisfied_false" if by_inference else "false")):
                yes, no = (getattr(each, kind) for each in refined)
                setattr(rule, name, getattr(rule, name) + np.where(denied, no[at], yes[at]))
        self._weigh(counts, None)

    def _count_late(self, late: Chunk) -> None:
        """Add what rules did at the last points of the batch before, whose labels came with this one."""
        truths = truths_of(late.words, self._conditions)
        for rule in self._rules:
            fires = fires_at(truths, rule.body)
            ups, downs = int(late.ups[fires].sum()), int(late.downs[fires].sum())
            rule.tp, rule.fp = (rule.tp + ups, rule.fp + downs) if rule.initiates else (rule.tp + downs, rule.fp + ups)

    def _weigh(self, counts: Counts, fresh: Mask | None) -> None:
        if self.settings.method == "oled":
            return
        if self.settings.weighting == "counts":
            for rule in self._rules:
                rule.weight = self._odds(rule.tp, rule.fp)
            return
        given = Weights(np.array([rule.weight for rule in self._rules]),
                        np.array([rule.squares for rule in self._rules]))
        new = self.settings.adagrad.step(given, counts.gradients, fresh)
        for i, rule in enumerate(self._rules):
            if fresh is None or fresh[i]:
                rule.weight, rule.squares = float(new.values[i]), float(new.squares[i])

    def _odds(self, tp: int, fp: int) -> float:
        """The logarithm of right over wrong. A rule that pays may be wrong more often: it keeps a small weight."""
        return max(float(np.log((tp + 1) / (fp + 1))), self.settings.initial_weight)

    def _specialise(self) -> bool:
        """Replace rules by their best refinements where that is certain enough; whether one was."""
        changed = False
        for rule in self._rules:
            best = best_refinement(rule.refined_tp, rule.refined_fp, rule.open_conditions(), rule.parent_tp,
                                   rule.parent_fp, self.settings.score)
            if best is None:
                continue
            rule.leads.append(best.best - best.second)
            lead = float(np.mean(rule.leads)) if self.settings.mean_of_batches else rule.leads[-1]
            number = rule.parent_tp + rule.parent_fp
            verdict = hoeffding(lead, number, self.settings.hoeffding_delta, self.settings.ties, number,
                                self.settings.least_seen)
            tp, fp = int(rule.refined_tp[best.condition]), int(rule.refined_fp[best.condition])
            if (not verdict.specialise or (self.settings.score == "gain" and best.best <= self.settings.least_gain)
                    or tp < self.settings.least_covered * rule.parent_tp):
                continue
            parent = rule.rule
            rule.body = tuple(sorted((*rule.body, best.condition)))
            reason = (f"with the new condition {tp} of {tp + fp} groundings are right, without it {rule.parent_tp} of "
                      f"{number}; it leads the next best by {lead:.3f}, " + (
                          f"more than the {verdict.epsilon:.3f} that chance allows" if verdict.passes
                          else f"which does not matter any more: chance allows {verdict.epsilon:.3f}"))
            self._say("specialised", rule.rule, parent, reason, {
                "tp": tp, "fp": fp, "parent tp": rule.parent_tp, "parent fp": rule.parent_fp, "lead": lead,
                "epsilon": verdict.epsilon})
            rule.tp, rule.fp = tp, fp
            rule.support = rule.support[rule.support[:, best.condition]]
            rule.forget_refinements()
            changed = True
        return self._drop_equal() or changed

    def _drop_equal(self) -> bool:
        """Drop rules that have become the same as an earlier one."""
        kept: dict[Rule, HeldRule] = {}
        for rule in self._rules:
            if kept.setdefault(rule.rule, rule) is not rule:
                self._say("dropped", rule.rule, None, "another rule is the same", {})
        found = len(kept) < len(self._rules)
        self._rules = list(kept.values())
        return found

    def _prune(self) -> bool:
        """Drop rules that are wrong too often."""
        least = self.settings.prune_precision
        poor = [rule for rule in self._rules if rule.body and rule.tp + rule.fp >= self.settings.prune_after
                and rule.tp < least * (rule.tp + rule.fp)]
        for rule in poor:
            self._say("dropped", rule.rule, None,
                      f"{rule.tp} of {rule.tp + rule.fp} groundings are right, which is less than {least:.0%}",
                      {"tp": rule.tp, "fp": rule.fp})
        self._rules = [rule for rule in self._rules if rule not in poor]
        return bool(poor)

    # -- new rules -----------------------------------------------------------------------------------------------------

    def _task(self, signatures: Signatures, rules: Sequence[HeldRule] | None) -> Task:
        """What is remembered as a task of `induction`; `rules` are kept, None if the theory may change as a whole."""
        assert self.language is not None
        truths = signatures.truths(self._conditions)
        fires = np.array([fires_at(truths, rule.body) for rule in self._rules], np.bool_).reshape(-1, truths.shape[1])
        on = vote(fires, self._kinds(), (self._votes() > 0).astype(float)
                  if self.settings.inference == "algorithm1" else self._votes())
        initiating, terminating = signatures.ups > 0, signatures.downs > 0
        if self.settings.seeds == "mistakes":
            states, _ = hold(np.ascontiguousarray(on[:, signatures.steps]), signatures.offsets, signatures.before)
            after = on[1, signatures.steps] | (states & ~on[0, signatures.steps])
            initiating, terminating = initiating & ~after, terminating & after
        bottoms = [self._bottoms(bool(kind), truths, signatures.steps[seeds])
                   for kind, seeds in enumerate((terminating, initiating))]
        return Task(signatures, truths, self.language.sizes, (bottoms[0], bottoms[1]),
                    None if rules is None else forced_by(on))

    def _bottoms(self, initiates: bool, truths: Mask, seeds: Array) -> Mask:
        """The bottom rules of one kind: what is true at the seeds, or the user's, if there are seeds at all."""
        assert self.language is not None
        if self.language.heads[initiates] is None or not seeds.shape[0]:
            return np.zeros((0, truths.shape[0]), np.bool_)
        if self.language.bottoms:
            return self.language.bottoms_of(initiates)
        return np.ascontiguousarray(truths[:, np.unique(seeds)].T)

    def _extend(self, columns: Mask, batch: Batch, before: Mask, following: Judgements) -> bool:
        """Algorithm 2: add rules for the mistakes on what is remembered, then update their weights on the batch."""
        task = self._task(self._memory.signatures(), self._rules)
        found = induce(task, self.settings.search)
        known = {rule.rule for rule in self._rules}
        new = [rule for rule in found.rules if rule not in known]
        if not new:
            return False
        old = len(self._rules)
        self._add(new, found, task, "added for mistakes")
        if self.settings.weighting == "adagrad":
            result = self._infer(columns, batch, before)
            counts = rule_counts(result.fires, result.satisfied(), result.initiates, following)
            self._weigh(counts, np.arange(len(self._rules)) >= old)
        return True

    def _add(self, new: Sequence[Rule], found: Induced, task: Task, how: str) -> None:
        """Hold new rules, with their counts on what is remembered."""
        signatures = task.signatures
        ups, downs = (np.bincount(signatures.steps, labels, task.truths.shape[1]).astype(np.int64)
                      for labels in (signatures.ups, signatures.downs))
        for rule in new:
            fires = fires_at(task.truths, rule.body)
            right, wrong = int(ups[fires].sum()), int(downs[fires].sum())
            tp, fp = (right, wrong) if rule.initiates else (wrong, right)
            held = HeldRule(rule.initiates, rule.body, self.settings.initial_weight, task.truths.shape[0], tp=tp, fp=fp)
            held.add_support(task.bottoms[rule.initiates])
            if self.settings.weighting == "counts":
                held.weight = self._odds(tp, fp)
            others = [each for each in found.rules if each != rule]
            mistakes, without = mistakes_of(task, found.rules), mistakes_of(task, others)
            reason = (f"{how}: {mistakes} mistakes with it and {without} without it on what is remembered, for "
                      f"{size_of(rule, task.sizes)} literals")
            self._say("added", rule, None, reason, {
                "mistakes": mistakes, "mistakes without it": without, "tp": tp, "fp": fp, "cost": found.cost})
            self._rules.append(held)

    def _begin_rules(self, mistakes: int) -> bool:
        """OLED: a rule without conditions for examples that were missed and that no rule subsumes."""
        if not mistakes:
            return False
        task, changed = self._task(self._memory.signatures(), self._rules), False
        for initiates in (True, False):
            bottoms = task.bottoms[initiates]
            for rule in self._rules:
                if rule.initiates == initiates and bottoms.shape[0]:
                    covered = bottoms[:, list(rule.body)].all(axis=1)
                    rule.add_support(bottoms[covered])
                    bottoms = bottoms[~covered]
            if bottoms.shape[0]:
                held = HeldRule(initiates, (), 1.0, task.truths.shape[0])
                held.add_support(bottoms)
                self._say("added", held.rule, None, f"{bottoms.shape[0]} kinds of missed examples fit no rule; "
                          "conditions follow once it is certain which", {"examples": bottoms.shape[0]})
                self._rules.append(held)
                changed = True
        return changed

    # -- drift, trace --------------------------------------------------------------------------------------------------

    def _notice_drift(self, batch: Batch, found: Inferred) -> bool:
        """Forget what is older than an increase of mistakes, and begin anew with the rest."""
        assert self._drift is not None
        wrong = (found.holds != batch.labels).reshape(-1, batch.times.shape[0])
        share = float(np.mean(wrong.any(axis=0))) if wrong.size else 0.0
        if not self._drift.add(share, batch.times.shape[0]):
            return False
        left = len(self._drift)
        self._say("drift", None, None, f"mistakes have become more frequent; only the last {left} batches count from "
                                       "now on", {"batches": left})
        self._memory.keep(left)
        self._anew_from, self._patience = 0, self.settings.patience
        signatures = self._memory.signatures()
        task = self._task(signatures, None)
        for rule in self._rules:
            right, wrong_number = self._counted(rule.rule, task)
            rule.tp, rule.fp = right, wrong_number
            rule.forget_refinements()
        if self.settings.method == "woled":
            self.revise()
        return True

    def _counted(self, rule: Rule, task: Task) -> tuple[int, int]:
        """The right and wrong groundings of a rule on what is remembered."""
        at = fires_at(task.truths, rule.body)[task.signatures.steps]
        ups, downs = int(task.signatures.ups[at].sum()), int(task.signatures.downs[at].sum())
        return (ups, downs) if rule.initiates else (downs, ups)

    def _say(self, kind: Kind, rule: Rule | None, parent: Rule | None, reason: str, numbers: dict[str, float]) -> None:
        assert self.language is not None
        clauses = [None if each is None else self.language.clause(each.initiates, each.body) for each in (rule, parent)]
        self.trace.append(Step(self.batches, kind, clauses[0], clauses[1], reason, numbers))
