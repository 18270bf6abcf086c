"""Streams in buckets give what one session gives: random programs, random units, batches and restarts; applications."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numba
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.engine.session_cases import SESSION_FAMILIES, SessionCase, batch_of, session_cases
from tests.engine.test_golden import GOLDEN
from tests.spark.flows import Given, Local, cut, span, streamed, units_of

import eventide as ev
from eventide.analysis.patterns import name_of
from eventide.applications import APPLICATIONS
from eventide.spark.flow import flow_of

Locate = Callable[[str], Path]
FEWER = settings(max_examples=max(settings().max_examples // 4, 8))


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
    if draw(st.booleans()):
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
@FEWER
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
@pytest.mark.parametrize(("name", "window", "step"), [(name, *sizes) for name in WINDOWS for sizes in WINDOWS[name]])
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
