"""Small programs that read each other in unusual ways, over few facts or none, on Spark as on one machine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.engine import test_computed_arguments, test_groundings, test_self_reference
from tests.executors import OnSpark, Run

import eventide as ev

pytestmark = pytest.mark.spark

PAIRS = "initiatedAt(f(Z)=P, T) :- happensAt(e0(X, Z), T), holdsAt(f(X)=P, T).\n"
"""A cycle through pairs: without a first value nothing is ever initiated, and nobody asks for anything."""
ASKING = {
    "initiations that there are none of": PAIRS + "initiatedAt(g(X)=true, T) :- initiatedAt(f(X)=P, T), "
    "happensAt(e3(P), T).",
    "terminations that there are none of": PAIRS + "terminatedAt(f(X)=P, T) :- happensAt(e0(X, P), T). "
    "initiatedAt(g(X)=true, T) :- terminatedAt(f(X)=P, T), happensAt(e3(P), T).",
    "starts that there are none of": PAIRS + "initiatedAt(g(X)=true, T) :- happensAt(start(f(X)=P), T), "
    "happensAt(e3(P), T).",
    "events that there are none of": "happensAt(d(X, Y), T) :- happensAt(e0(X, Y), T), happensAt(e3(X), T). "
    "initiatedAt(g(X)=true, T) :- happensAt(d(X, Y), T), happensAt(e3(Y), T).",
    "a deadline that there is none of": "fi(f(X, Y)=a, f(X, Y)=b, 2). initiatedAt(f(X, Y)=a, T) :- "
    "happensAt(e0(X, Y), T), happensAt(e3(X), T). initiatedAt(g(X)=true, T) :- initiatedAt(f(X, Y)=b, T), "
    "happensAt(e3(Y), T).",
}


def runs(folder: Path, rules: dict[str, str], events: tuple[tuple[str | int, ...], ...]) -> dict[str, Run]:
    return {title: _run(ev.parse(text), folder / f"{len(list(folder.iterdir()))}.csv", events)
            for title, text in rules.items()}


def _run(program: ev.Program, file: Path, events: tuple[tuple[str | int, ...], ...]) -> Run:
    read = [event for event in events if program.reads(str(event[0]))]
    file.write_text("".join(f"{name}|{time}|{time}|{'|'.join(map(str, args))}\n" for name, *args, time in read))
    return Run(program, [file], {"start": 0, "end": 25})


@pytest.mark.slow
def test_programs(spark: Any, tmp_path: Path) -> None:
    few = (("e0", 1, 2, 4), ("e0", 2, 1, 6), ("e3", "b", 3))
    listed = {name: test_groundings.FACTS + rules for name, rules in test_groundings.CASES.items()}
    found = {
        **runs(tmp_path, ASKING, few),
        **runs(tmp_path, listed, test_groundings.EVENTS),
        **runs(tmp_path, test_computed_arguments.CASES, test_computed_arguments.EVENTS),
        **{f"{name}, no facts": run for name, run in
           runs(tmp_path, test_computed_arguments.CASES, test_computed_arguments.EVENTS[3:4]).items()},
        **runs(tmp_path, test_self_reference.CASES, test_self_reference.EVENTS),
    }
    answers = OnSpark(spark).answers(found)
    for name, run in found.items():
        local = run.program.run(run.events, **run.options).to_arrow().to_pylist()
        assert sorted(map(repr, answers[name])) == sorted(map(repr, local)), name
