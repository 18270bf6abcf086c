"""The stages of a program over a stream: what lower stages derive is sent on as it changes. Knows no data and no Spark.

The stages are those of a run over all facts, with one difference: what partners need goes to all buckets.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from eventide.algebra import nodes as n
from eventide.algebra.pieces import leaves_of
from eventide.analysis.patterns import leaf_count
from eventide.spark.copies import apart
from eventide.spark.partitioning import FIRED, READING, Partitioning, Send, Stage, least, partitioned, relation_of


def streamed(plan: n.Plan, inputs: Sequence[str], computed: frozenset[str] = frozenset()) -> Partitioning:
    """The stages of a plan over a stream; every input is sent somewhere, for facts that no rule reads are counted."""
    return _as_stream(partitioned(plan, computed), plan, inputs)


def streamed_apart(plan: n.Plan, inputs: Sequence[str], computed: frozenset[str] = frozenset()) -> Partitioning:
    """The same in one stage, for probabilities: what rows owe to facts cannot be sent on."""
    return _as_stream(apart(plan, computed, "probabilities"), plan, inputs)


def _as_stream(found: Partitioning, plan: n.Plan, inputs: Sequence[str]) -> Partitioning:
    """The stages of a run over all facts for a stream: who needs partners gets everybody."""
    if found.one_bucket:
        return replace(in_one_bucket(plan, inputs), diagnostics=found.diagnostics)
    sends = {stage.number: dict.fromkeys(stage.sends) for stage in found.stages}
    made = {name: stage.number for stage in found.stages for name in stage.owners}
    for stage in found.stages:
        for relay in stage.relays:
            at = made.get(relay.relation.removeprefix(FIRED), READING)
            sends[at][Send(relay.relation, "all", -1, relay.to)] = None
    reads = {stage.number: _reads(stage) for stage in found.stages}
    kept = [stage for stage in found.stages if stage.number == READING or stage.strata]
    if len(kept) == 1:
        kept.append(Stage(1))
    numbers = {stage.number: place for place, stage in enumerate(kept)}
    stages = []
    for stage in kept:
        needed = [replace(send, to=numbers[send.to]) for send in sends.get(stage.number, ())
                  if send.relation in reads[send.to]]
        stages.append(replace(stage, number=numbers[stage.number], sends=tuple(least(needed)), asks=(), relays=()))
    sent = {send.relation for send in stages[READING].sends}
    unread = tuple(Send(name, "key", 0, 1) if leaf_count(name) else Send(name, "one", -1, 1)
                   for name in inputs if name not in sent)
    stages[READING] = replace(stages[READING], sends=stages[READING].sends + unread)
    return Partitioning(tuple(stages), found.diagnostics)


def in_one_bucket(plan: n.Plan, inputs: Iterable[str]) -> Partitioning:
    """Everything in the first bucket, in one stage."""
    owners = {d.name: None for stratum in plan.strata for d in stratum.definitions}
    reading = Stage(READING, sends=tuple(Send(name, "one", -1, 1) for name in inputs))
    return Partitioning((reading, Stage(1, plan.strata, owners)))


def _reads(stage: Stage) -> set[str]:
    """The relations that the definitions of a stage read."""
    leaves = (leaf for stratum in stage.strata for d in stratum.definitions for leaf in leaves_of(d.body))
    return {relation_of(leaf) for leaf in leaves if isinstance(leaf, n.Events | n.Fluent | n.Fired)}
