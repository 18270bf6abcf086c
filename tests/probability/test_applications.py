"""The applications over certain facts: probabilistic recognition is crisp recognition, or refuses at a rule."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa
import pytest

import eventide as ev
from eventide.applications import APPLICATIONS, Application
from eventide.applications.streams import Columns
from eventide.errors import ProgramError


def tables(columns: Mapping[str, Columns]) -> dict[str, pa.Table]:
    """Columns by name as tables; an interval is at the time of its start."""
    return {name: pa.table({"time" if key == "start" else key: values for key, values in each.items()})
            for name, each in columns.items()}


@pytest.mark.parametrize("application", APPLICATIONS.values(), ids=lambda each: each.name)
def test_certain_facts(application: Application) -> None:
    entities = application.entities_for(1000)
    program = ev.load(application.rules, background=[tables(application.background(entities))])
    facts = program.read(tables(application.generate(entities)))
    try:
        found = program.run(facts, start=application.start, tick=application.tick, probabilistic=True).to_arrow()
    except ProgramError as error:
        assert {problem.code for problem in error.diagnostics} <= {"not-probabilistic", "uncertain-cycle"}
        assert all(problem.span is not None for problem in error.diagnostics)
        assert application.name not in ("toy", "activity")
        return
    crisp = program.run(facts, start=application.start, tick=application.tick, ties="initiation").to_arrow()
    assert found.drop(["probability"]).equals(crisp)
    assert set(found["probability"].to_pylist()) == {1.0}
