"""Learners of different streams become one: the same whatever their order, with the counts of one that saw all."""

from __future__ import annotations

import itertools
import pickle
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from eventide.applications.activity import labelled as activity
from eventide.applications.labelled import Labelled, modes_of
from eventide.applications.maritime import labelled as maritime
from eventide.errors import EventideError, InputError
from eventide.learning.apart import Task, put_together
from eventide.learning.clauses import Clause
from eventide.learning.examples import Examples, examples_of, table
from eventide.learning.language import language_of
from eventide.learning.learned import Learned, learn
from eventide.learning.learner import Learner
from eventide.learning.modes import read_modes
from eventide.learning.reading import read_examples, targets_of
from eventide.learning.settings import Settings
from eventide.learning.subsumption import are_equivalent

MODES = modes_of(activity.MODES)
Rules = list[tuple[str, float, int, int, int]]


def trained(examples: Examples, settings: Settings, streams: Sequence[str | int]) -> Learner:
    """A learner of some streams, with the conditions that all allow."""
    learner = Learner(MODES, settings=settings, language=language_of(MODES, examples))
    for batch in examples.batches(50, streams):
        learner.partial_fit(batch)
    return learner


def merged(parts: Sequence[Learner]) -> Learner:
    first, *others = (pickle.loads(pickle.dumps(part)) for part in parts)
    first.merge(others)
    assert isinstance(first, Learner)
    return first


def rules_of(learner: Learner) -> Rules:
    return [(str(rule.clause), rule.weight, rule.tp, rule.fp, rule.support) for rule in learner.rules]


def test_four_scenes_apart_give_the_definition() -> None:
    data = activity.generate(4, 250, 4, seed=1)
    examples = data.examples()
    parts = [trained(examples, Settings(), [stream]) for stream in examples.streams]
    whole = trained(examples, Settings(), examples.streams)
    found = merged(parts)
    assert are_same([rule.clause for rule in found.rules], data.definition)
    # Counts and weights are those of a learner that saw all streams.
    whole.revise()
    assert [(str(rule.clause), rule.tp, rule.fp, rule.weight) for rule in found.rules] \
        == [(str(rule.clause), rule.tp, rule.fp, rule.weight) for rule in whole.rules]
    assert (found.batches, len(found.trace) >= sum(len(part.trace) for part in parts)) == (whole.batches, True)


def are_same(found: Sequence[Clause], wanted: Sequence[Clause]) -> bool:
    return len(found) == len(wanted) and all(any(are_equivalent(a, b) for b in wanted) for a in found)


@pytest.mark.parametrize("settings", [Settings(), Settings.paper(), Settings.oled()], ids=["revise", "extend", "oled"])
def test_the_order_of_the_learners_does_not_matter(settings: Settings) -> None:
    examples = activity.generate(3, 120, 3, seed=2, noise=0.05).examples()
    parts = [trained(examples, settings, [stream]) for stream in examples.streams]
    expected = rules_of(merged(parts))
    assert expected
    for order in itertools.permutations(parts):
        assert rules_of(merged(order)) == expected
    # Nor do the groups in which they become one, as long as counts only add up.
    if settings.induction == "extend":
        pairs = merged([parts[2], merged(parts[:2])])
        for one, other in zip(rules_of(pairs), expected, strict=True):
            assert one[2:4] == other[2:4] and one[1] == pytest.approx(other[1])


def test_counts_add_and_weights_are_means_by_groundings() -> None:
    examples = activity.generate(3, 150, 4, seed=5).examples()
    settings = Settings.paper(specialise=False)
    parts = [trained(examples, settings, [stream]) for stream in examples.streams]
    by_text = [{str(rule.clause): rule for rule in part.rules} for part in parts]
    found = merged(parts).rules
    assert {str(rule.clause) for rule in found} == set().union(*by_text)
    shared = 0
    for rule in found:
        same = [part[str(rule.clause)] for part in by_text if str(rule.clause) in part]
        assert (rule.tp, rule.fp, rule.seen) == tuple(sum(getattr(each, name) for each in same)
                                                      for name in ("tp", "fp", "seen"))
        behind = [each.tp + each.fp for each in same]
        mean = np.average([each.weight for each in same], weights=behind if any(behind) else None)
        assert rule.weight == pytest.approx(mean)
        shared += len(same) > 1
    assert shared


def test_a_merged_learner_goes_on() -> None:
    data = activity.generate(4, 200, 3, seed=3)
    examples = data.examples()
    parts = [trained(examples, Settings(), [stream]) for stream in examples.streams[:2]]
    learner = merged(parts)
    reports = [learner.partial_fit(batch) for batch in examples.batches(50, examples.streams[2:])]
    assert reports[0].batch == sum(part.batches for part in parts) + 1
    assert are_same([rule.clause for rule in learner.rules], data.definition)


def test_learners_that_saw_nothing_change_nothing() -> None:
    examples = activity.generate(3, 120, 1, seed=2).examples()
    learner, empty = trained(examples, Settings(), examples.streams), Learner(MODES)
    expected = rules_of(learner)
    assert rules_of(merged([learner, empty])) == expected
    assert rules_of(merged([empty, learner])) == expected
    assert merged([empty, empty]).rules == ()


def test_learners_that_differ_are_refused() -> None:
    examples = activity.generate(3, 60, 1).examples()
    learner = trained(examples, Settings(), examples.streams)
    with pytest.raises(EventideError, match="different settings"):
        merged([learner, trained(examples, Settings(memory=3), examples.streams)])
    short = Learner(modes_of(activity.MODES.replace("modeb(happensAt(abrupt(+person),+time))\n", "")))
    for batch in examples.batches(50):
        short.partial_fit(batch)
    with pytest.raises(EventideError, match=r"different conditions cannot be merged; give all .* language="):
        merged([learner, short])


def test_what_is_remembered_keeps_its_meaning_where_constants_are_missing() -> None:
    modes = modes_of("""modeh(initiatedAt(rich(+person),+time))
        modeh(terminatedAt(rich(+person),+time))
        modeb(happensAt(gets(+person,#thing),+time))""".replace("        ", ""))

    def examples(things: list[str], rich: list[int]) -> Examples:
        days = list(range(len(things)))
        named = [(day, thing) for day, thing in zip(days, things, strict=True) if thing]
        return examples_of(modes, [
            table("happensAt(gets(+person,#thing),+time)", ["ann"] * len(named), [thing for _, thing in named],
                  [day for day, _ in named]),
            table("day(+person,+time)", ["ann"] * len(days), days)],
            table("holdsAt(rich(+person),+time)", ["ann"] * len(rich), rich))

    first = examples(["prize", "", "", "bill", "", "toy"] * 4, [day for day in range(24) if day % 6 in (1, 2, 3)])
    second = examples(["toy", "", "toy", "", "", "toy"] * 4, [])  # neither prize nor bill
    learner = Learner(modes)
    for batch in (*first.batches(6), *second.batches(6)):
        learner.partial_fit(batch)
    learner.revise()
    assert [str(rule.clause) for rule in learner.rules] == [
        "initiatedAt(rich(X), T) :- happensAt(gets(X, prize), T).",
        "terminatedAt(rich(X), T) :- happensAt(gets(X, bill), T)."]
    assert [(rule.tp, rule.fp) for rule in learner.rules] == [(4, 0), (4, 0)]


# -- streams apart, from their tables ----------------------------------------------------------------------------------


def tables_of(data: Labelled) -> dict[str, pa.Table]:
    """The facts and the labels as users have them."""
    found = {}
    for each in (*data.tables, data.labels):
        *arguments, time = each.columns if each.streams is not None else (*each.columns, None)
        columns = {} if time is None else {"time": time, "stream": each.streams}
        found[each.mode.subject] = pa.table(columns | {f"arg{i}": column for i, column in enumerate(arguments)})
    return found


Streams = dict[str, dict[str, pa.Table]]


def streams_of(modes: str, tables: dict[str, pa.Table]) -> tuple[Task, Streams]:
    """What is to be learnt, and the tables of each stream, the last stream first."""
    declared, _ = read_modes(modes)
    timed = {name: table for name, table in tables.items() if "time" in table.column_names}
    shared = {name: table for name, table in tables.items() if name not in timed}
    names = sorted({name for table in timed.values() for name in table["stream"].to_pylist()}, reverse=True)
    parts = {stream: {name: table.filter(pc.field("stream") == stream) for name, table in timed.items()}
             for stream in names}
    return Task(declared, tuple(targets_of(declared)), Settings(), 50, 1, (), shared), parts


def sent(value: Any) -> Any:
    """A value as it arrives elsewhere."""
    return pickle.loads(pickle.dumps(value))


@pytest.mark.parametrize(("modes", "data"), [
    (activity.MODES, activity.generate(3, 100, 3)),
    # Limits are quantiles of all distances, wherever these are.
    (activity.MODES.replace("inputPredicate(dist(#dist))\n", ""), activity.generate(3, 100, 3)),
    # Kinds of areas that only some groups see are among the conditions of all.
    (maritime.MODES, maritime.generate(12, seed=3)),
], ids=["people", "quantiles", "vessels"])
def test_streams_apart_allow_the_conditions_of_all(modes: str, data: Labelled) -> None:
    tables = {name: table for name, table in tables_of(data).items() if name != "dist" or "dist(#dist)" in modes}
    task, streams = streams_of(modes, tables)
    task, examples, _ = task.with_words([sent(task.words(part)) for part in streams.values()])
    (name,), declared = task.targets, read_modes(modes)[0]
    assert task.languages[name].conditions == language_of(
        declared, read_examples(declared, tables).examples(name)).conditions
    assert len(task.languages[name].conditions) > 20 and set(examples) == {name}


def test_streams_apart_give_the_rules_of_all() -> None:
    tables = tables_of(activity.generate(4, 200, 3, seed=1))
    task, streams = streams_of(activity.MODES, tables)
    task, examples, observed = task.with_words([task.words(part) for part in streams.values()])
    task = sent(task)
    targets = put_together(task, examples, [(name, sent(task.learnt(part, name))) for name, part in streams.items()])
    whole, found = learn(activity.MODES, tables, batch=50), Learned(task.modes, targets, observed, ())
    assert found.text == whole.text
    assert found.curve.num_rows == whole.curve.num_rows


def test_times_of_streams_apart_may_be_dates() -> None:
    tables = tables_of(activity.generate(3, 60, 1))
    task, streams = streams_of(activity.MODES, tables)
    dated = {name: table.set_column(0, "time", table["time"].cast(pa.timestamp("s"))) if "time" in table.column_names
             else table for name, table in tables.items()}
    (part,), (expected,) = streams_of(activity.MODES, dated)[1].values(), streams.values()
    with pytest.raises(InputError, match="no unit of time is declared"):
        task.words(part)
    found = replace(task, time_unit="s").observed(part).examples("meet")
    assert found.times.tolist() == task.observed(expected).examples("meet").times.tolist()


def test_streams_without_labels_or_points_are_told() -> None:
    tables = tables_of(activity.generate(4, 100, 1))
    task, streams = streams_of(activity.MODES, tables | {"meet": tables["meet"].slice(0, 0)})
    with pytest.raises(EventideError, match="no stream has a label of meet"):
        task.with_words([task.words(part) for part in streams.values()])
    with pytest.raises(EventideError, match="no fact of the examples has a time"):
        task.with_words([])
