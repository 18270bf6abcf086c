"""The generators: seeded, of the promised size, and made of the events that the rules know."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from eventide.applications import APPLICATIONS, Application
from eventide.applications.streams import event, row_count, write_background, write_csv
from eventide.syntax.event_calculus import parse
from eventide.syntax.terms import functor_of
from eventide.syntax.trees import Declaration, FluentValue, Grounding

# Some entities of each application: enough to see all events, few enough to be fast.
SOME = {"toy": 5, "maritime": 12, "maritime_allen": 12, "transport": 5, "voting": 2, "netbill": 2, "activity": 3,
        "fleet": 9, "city": 20, "immune": 1, "phage": 1}  # fmt: skip


@pytest.fixture(params=APPLICATIONS)
def application(request: pytest.FixtureRequest) -> Application:
    """Each application in turn."""
    return APPLICATIONS[request.param]


def test_the_seed_decides_the_stream(application: Application) -> None:
    some = SOME[application.name]
    one, same = application.generate(entities=some, seed=3), application.generate(entities=some, seed=3)
    assert list(one) == list(same)
    for name, columns in one.items():
        assert all(np.array_equal(column, same[name][key]) for key, column in columns.items())
    others = [application.generate(entities=some, seed=seed) for seed in (4, 5, 6)]
    assert any(
        not np.array_equal(column, other[name][key])
        for other in others
        for name, columns in one.items()
        for key, column in columns.items()
        if len(column) == len(other[name][key])
    )


def test_the_size_follows_the_number_of_entities(application: Application) -> None:
    some = SOME[application.name]
    rows = row_count(application.generate(entities=some))
    assert rows == pytest.approx(some * application.rows_per_entity, rel=0.1)


def test_all_columns_of_a_table_have_one_length_and_nothing_arrives_before_it_happens(application: Application) -> None:
    for columns in application.generate(entities=SOME[application.name]).values():
        assert len({len(column) for column in columns.values()}) == 1
        assert (columns["arrival"] >= columns.get("time", columns.get("end"))).all()
        assert columns["arrival"].min() > application.start
        if "start" in columns:
            assert (columns["start"] < columns["end"]).all()
        if application.tick > 1:
            assert (columns["time"] % application.tick == 0).all()


def test_the_rules_know_the_names_and_argument_counts_of_the_stream(application: Application) -> None:
    known = {"acceleration": 1, "braking": 1, "cornering": 1, "ice": 1, "closeToGas": 1, "fuelLevel": 2, "init": 2}
    for rule in parse(application.rules.read_text()).rules:
        if isinstance(rule, Grounding | Declaration):
            subject = rule.subject.fluent if isinstance(rule.subject, FluentValue) else rule.subject
            known.setdefault(*functor_of(subject))
    for name, columns in application.generate(entities=SOME[application.name]).items():
        assert known[name] == len(set(columns) - {"arrival", "time", "start", "end", "value"})


def test_the_block_generators_give_the_documented_number_of_rows() -> None:
    assert row_count(APPLICATIONS["voting"].generate(entities=1)) == 100_640
    assert row_count(APPLICATIONS["netbill"].generate(entities=1)) == 9_030


def test_vehicles_of_the_fleet_can_report_late() -> None:
    moving = APPLICATIONS["fleet"].generate(entities=50, late=0.4)["moving"]
    delay = moving["arrival"] - moving["time"]
    assert 0.3 < (delay > 0).mean() < 0.5
    assert (np.diff(moving["arrival"]) >= 0).all()


def test_the_file_is_sorted_by_arrival_and_floats_keep_their_point(tmp_path: Path) -> None:
    stream = {
        "velocity": event(np.array([1, 5]), vessel=np.array([7, 8]), heading=np.array([511.0, 12.5])),
        "gap_start": event(np.array([3]), vessel=np.array([7])),
        "never": event(np.array([], np.int64)),
    }
    assert write_csv(stream, tmp_path / "events.csv") == 3
    assert (tmp_path / "events.csv").read_text() == "velocity|1|1|7|511.0\ngap_start|3|3|7\nvelocity|5|5|8|12.5\n"


def test_an_empty_stream_is_an_empty_file(tmp_path: Path) -> None:
    assert write_csv({}, tmp_path / "events.csv") == 0
    assert (tmp_path / "events.csv").read_text() == ""


def test_relations_are_written_one_per_file(application: Application, tmp_path: Path) -> None:
    tables = application.background(entities=3)
    paths = write_background(tables, tmp_path)
    assert set(paths) == set(tables)
    for name, path in paths.items():
        assert len(path.read_text().splitlines()) == 1 + len(next(iter(tables[name].values())))
