"""Streams in buckets give what one session gives: random programs, random units, batches and restarts; applications."""

from __future__ import annotations

import json
import pickle
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numba
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.effort import examples
from tests.engine.session_cases import SESSION_FAMILIES, SessionCase, batch_of, session_cases
from tests.engine.test_golden import GOLDEN
from tests.spark.flows import Given, Local, cut, span, streamed, units_of

import eventide as ev
from eventide.analysis.patterns import name_of
from eventide.applications import APPLICATIONS
from eventide.applications.maritime import generator as maritime
from eventide.formats.facts import merged
from eventide.spark.flow import flow_of
from eventide.spark.units import Unit

Locate = Callable[[str], Path]
FEWER = examples(1 / 4)


@st.composite
def streams(draw: st.DrawFn, family: str) -> tuple[SessionCase, list[list[Given]], dict[str, Any]]:
    """A program, units of facts in batches, and the options of the stream."""
    case = replace(draw(session_cases(family)), signed=True)
    operations = [operation for step in case.steps for operation in step.operations]
    edges = sorted(draw(st.lists(st.integers(0, len(operations)), max_size=8)))
    parts = [batch_of(case, tuple(operations[low:high]))
             for low, high in zip([0, *edges], [*edges, len(operations)], strict=True)]
    units = units_of(parts)
    ends = sorted(draw(st.sets(st.integers(1, max(len(units) - 1, 1)), max_size=4)))
    batches = [units[low:high] for low, high in zip([0, *ends], [*ends, len(units)], strict=True)]
    tick = case.options["tick"]
    window = case.options["window"] or 25
    options = {**case.options, "window": window,
               "step": draw(st.sampled_from((4 * tick, 5, 8, 12, window, window + 4))),
               "delay": draw(st.sampled_from((0, 0, 0, 3, 10)))}
    if draw(st.booleans()) and "initially" not in case.text and "complement_all" not in case.text:
        options["start"] = None
    if family == "allen" or draw(st.booleans()):
        options["horizon"] = draw(st.sampled_from((None, 6, 20)))
    return case, batches, options


@pytest.mark.parametrize("family", sorted(SESSION_FAMILIES))
@FEWER
@given(data=st.data())
def test_changes(family: str, data: st.DataObject) -> None:
    case, batches, options = data.draw(streams(family))
    program = ev.parse(case.text)
    flow = flow_of(program, buckets=data.draw(st.integers(1, 5), "buckets"), **options)
    chance = data.draw(st.randoms(use_true_random=False))
    found = streamed(flow, batches, lambda: chance.random() < 0.3, random.Random(chance.random()))
    wanted = Local(program, **options).changes(unit for batch in batches for unit in batch)
    assert found.rows == wanted.rows
    assert found.late == wanted.late
    assert found.counts == wanted.counts


@pytest.mark.parametrize("family", sorted(SESSION_FAMILIES))
@examples(1 / 6)
@given(data=st.data())
def test_final(family: str, data: st.DataObject) -> None:
    """A final row is there from then on, and comes once; whatever one session knows to be settled is among them."""
    case, batches, options = data.draw(streams(family))
    program = ev.parse(case.text)
    flow = flow_of(program, buckets=data.draw(st.integers(1, 5), "buckets"), emit="final", **options)
    chance = data.draw(st.randoms(use_true_random=False))
    found = streamed(flow, batches, lambda: chance.random() < 0.3, random.Random(chance.random()))
    local = Local(program, **options)
    timelines = dict(local.timelines(unit for batch in batches for unit in batch))
    rows = [row for _, *row in found.rows]
    assert len(rows) == len(set(map(tuple, rows)))
    for query, *row in found.rows:
        assert all(tuple(row) in rows for later, rows in timelines.items() if later >= query)
    if timelines:
        last = max(timelines)
        settled = local.session.settled(last + options["step"])
        edges = [(name_of(output.template), settled[output.definition]) for output in local.session.wanted]
        assert not {row for row in timelines[last] - set(map(tuple, rows)) if row[-1] is not None
                    and row[-1] < min(edge for name, edge in edges if name == row[0])}


# -- applications ------------------------------------------------------------------------------------------------------

WINDOWS = {"maritime": [(3600, 3600), (7200, 1800)], "netbill": [(10, 10), (40, 10)], "voting": [(10, 10), (40, 10)],
           "caviar": [(100_000, 25_000)], "ctm": [(4000, 1000)]}


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="too much data for loops that are not compiled")
@pytest.mark.parametrize(("name", "window", "step"), [
    pytest.param(name, *sizes, marks=pytest.mark.slow if name in ("caviar", "ctm") or sizes != WINDOWS[name][0] else ())
    for name in WINDOWS for sizes in WINDOWS[name]])
def test_applications(name: str, window: int, step: int, shared_data: Locate) -> None:
    golden = GOLDEN[name]
    background = [f"{relation}={shared_data(f'data/applications/{file}')}" for relation, file in golden.background]
    program = ev.load(APPLICATIONS[golden.application].rules, background=background)
    facts = program.read([shared_data(f"data/rtec/{file}") for file in golden.events])
    params = json.loads(shared_data(f"golden/rtec/{name}/{golden.setting}/params.json").read_text())
    first, last = span(facts)
    units = units_of(cut(facts, [first + (last - first) * place // 10 for place in range(1, 10)]))
    options = {"window": window, "step": step, "start": params["start"], "tick": params["clock_tick"]}
    wanted = Local(program, **options).changes(units)
    assert len(wanted.rows) > 1000
    found = streamed(flow_of(program, buckets=3, **options), [units[:4], units[4:5], units[5:]], lambda: True)
    assert found.rows == wanted.rows
    assert found.counts == wanted.counts


TIMES = ("arrival", "time", "start", "end")


@pytest.mark.slow
def test_state_does_not_grow() -> None:
    """A long stream of vessels that meet: what the buckets of both stages hold stays within a bound."""
    application, vessels, horizon = APPLICATIONS["maritime"], 30, maritime.HORIZON
    tables = {name: pa.table(dict(columns)) for name, columns in application.background(vessels).items()}
    program = ev.load(application.rules, background=[tables])
    parts = []
    for turn in range(3):
        stream = application.generate(vessels, seed=turn)
        facts = program.read({event: pa.table({
            "time" if name == "start" else name: values + turn * horizon if name in TIMES else values
            for name, values in columns.items()}) for event, columns in stream.items()})
        parts += cut(facts, [turn * horizon + horizon * place // 8 for place in range(1, 8)])
    units = units_of(parts)
    held: list[dict[int, int]] = []
    flow = flow_of(program, buckets=2, window=7200, step=1800, start=0)
    streamed(flow, [[unit] for unit in units], after=lambda outcome: held.append(
        {stage: sum(rows for place, rows in outcome.state.items() if place[0] == stage) for stage in (1, 2)}))
    for stage in (1, 2):
        sizes = [found[stage] for found in held]
        assert max(sizes[8:16]) > 100
        assert max(sizes[16:]) <= 1.3 * max(sizes[8:16])


# -- one flow ----------------------------------------------------------------------------------------------------------

MEET = """
initiatedAt(tired(X)=true, T) :- happensAt(works(X), T).
terminatedAt(tired(X)=true, T) :- happensAt(sleeps(X), T).
initiatedAt(talking(X, Y)=true, T) :- happensAt(meets(X, Y), T), holdsAt(tired(X)=true, T), holdsAt(tired(Y)=true, T).
terminatedAt(talking(X, Y)=true, T) :- happensAt(end(tired(Y)=true), T).
"""


def events(*rows: tuple[Any, ...]) -> pa.Table:
    """Rows of time, event and up to two names."""
    return pa.table({name: [row[i] if i < len(row) else None for row in rows]
                     for i, name in enumerate(("time", "event", "one", "other"))})


def test_people_who_come_one_after_the_other() -> None:
    """Whoever a stage only hears of from others is known in time, also in the batch in which everything is new."""
    program = ev.parse(MEET)
    rng = random.Random(3)
    rows: list[tuple[Any, ...]] = []
    for time in range(1, 400):
        known = [f"p{number}" for number in range(time // 8, time // 8 + 12)]
        rows.append((time, rng.choice(("works", "works", "sleeps")), rng.choice(known)))
        rows.append((time, "meets", rng.choice(known), rng.choice(known)))
    units = units_of([program.read(events(*rows[at:at + 40])) for at in range(0, len(rows), 40)])
    wanted = Local(program, window=40, step=20, start=0).changes(units)
    assert len(wanted.rows) > 300
    for buckets in (2, 5):
        flow = flow_of(program, buckets=buckets, window=40, step=20, start=0)
        assert flow.last > 1 and flow.buckets == buckets
        assert streamed(flow, [[unit] for unit in units], lambda: rng.random() < 0.2).rows == wanted.rows


@pytest.mark.parametrize("rules", [
    "initiatedAt(busy=true, T) :- happensAt(works(_), T).\nterminatedAt(busy=true, T) :- happensAt(sleeps(_), T).",
    "initiatedAt(met(Y)=true, T) :- happensAt(meets(_, Y), T).\ninitiatedAt(meeting(X)=true, T) :- "
    "happensAt(meets(X, _), T).",
    "initiatedAt(idle=true, T) :- happensAt(end(tired(_)=true), T).\nterminatedAt(idle=true, T) :- "
    "happensAt(start(tired(_)=true), T)."])
def test_one_input_for_several_owners(rules: str) -> None:
    """Facts that a bucket needs for two reasons are there once, and are counted and listed once."""
    program = ev.parse(MEET + rules)
    rng = random.Random(5)
    rows: list[tuple[Any, ...]] = [
        (max(1, time - rng.choice((0, 0, 0, 30))), rng.choice(("works", "sleeps", "meets")), *rng.sample("abcdefgh", 2))
        for time in range(1, 200)]
    rows = [row if row[1] == "meets" else row[:3] for row in rows]
    units = units_of([program.read(events(*rows[at:at + 20])) for at in range(0, len(rows), 20)])
    wanted = Local(program, window=20, step=10, start=5).changes(units)
    assert wanted.late and wanted.counts["before_start"]
    flow = flow_of(program, buckets=3, window=20, step=10, start=5)
    found = streamed(flow, [units[:4], units[4:]], lambda: True)
    assert (found.rows, found.late, found.counts) == (wanted.rows, wanted.late, wanted.counts)


def test_a_unit_in_several_parts() -> None:
    """Parts with one key are one unit, whatever their order: the clock moves when all of them are there."""
    program = ev.parse(MEET)
    flow = flow_of(program, buckets=2, window=10, step=5, start=0)
    facts = [program.read(events(*rows)) for rows in (
        [(30, "works", "a"), (31, "meets", "b", "a")], [(2, "works", "b"), (29, "sleeps", "b")])]
    (late, one), (early, other) = units_of(facts)
    same = [(late, one), (early._replace(key=late.key), other)]
    found = streamed(flow, [same])
    assert found.rows == streamed(flow, [same[::-1]]).rows
    whole = [(Unit(late.key, 2, 31), merged(facts))]
    assert found.rows == streamed(flow, [whole]).rows == Local(program, window=10, step=5, start=0).changes(whole).rows


def test_flows_travel_and_say_what_is_not_spread() -> None:
    program = ev.parse("initiatedAt(open=true, T) :- happensAt(works(_), T).")
    flow = flow_of(program, buckets=4, window=10, start=0)
    assert [problem.code for problem in flow.diagnostics] == ["one-bucket"]
    assert (flow.buckets, flow.last, flow.step) == (1, 1, 10)
    units = units_of([program.read(events((3, "works", "a"), (22, "works", "b")))])
    flow.bucket(1, 0)
    assert streamed(pickle.loads(pickle.dumps(flow)), [units]).rows == [(10, "+", "open", "", "true", 4, None)]


def test_final_rows_come_once_they_are_settled() -> None:
    program = ev.parse(MEET)
    flow = flow_of(program, buckets=3, window=10, step=5, start=0, emit="final")
    units = units_of([program.read(events(
        (1, "works", "a"), (3, "sleeps", "a"), (7, "works", "b"), (9, "sleeps", "b"), (12, "works", "c"),
        (31, "works", "d")))])
    assert streamed(flow, [units]).rows == [(10, "tired", "a", "true", 2, 4), (15, "tired", "b", "true", 8, 10)]


@pytest.mark.parametrize(("options", "message"), [
    ({"buckets": 0}, "buckets is 0; it must be at least 1"), ({"step": 0}, "step is 0"), ({"delay": -1}, "delay is -1"),
    ({"emit": "all"}, "emit is 'all'"), ({"fluents": ["sad"]}, "derives no sad")])
def test_what_is_wrong_is_said(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ev.EventideError, match=message):
        flow_of(ev.parse(MEET), **{"buckets": 2, "window": 10, **options})
