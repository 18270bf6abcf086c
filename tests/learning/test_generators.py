"""Labelled data: decided by the seed, labelled as a slow reading of the definition says, as wrong as was asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from eventide.applications.activity import labelled as activity
from eventide.applications.fleet import labelled as fleet
from eventide.applications.labelled import Labelled, labelled_by
from eventide.applications.maritime import labelled as maritime
from eventide.errors import EventideError
from eventide.learning.examples import Table

Row = tuple[Any, ...]


def rows(table: Table) -> set[Row]:
    """The rows of a table, with their streams."""
    assert table.streams is not None
    return set(zip(table.streams.tolist(), *(column.tolist() for column in table.columns), strict=True))


def same(one: Table, other: Table) -> bool:
    return all(np.array_equal(a, b) for a, b in zip(one.columns, other.columns, strict=True))


# -- people ------------------------------------------------------------------------------------------------------------


def meetings(data: Labelled, change: int, length: int) -> set[Row]:
    """Who meets, by the definitions MEETING and then CHANGED, read aloud."""
    done, near = {}, {}
    for label, table in zip(activity.LABELS, data.tables, strict=False):
        done.update({(scene, who, at): label for scene, who, at in rows(table)})
    for scene, one, two, apart, at in rows(data.tables[-1]):
        near[scene, one, two, at] = apart
    found = set()
    for number, scene in enumerate(sorted({scene for scene, *_ in done})):
        people = sorted({who for place, who, _ in done if place == scene})
        for one in people:
            for two in people:
                holds = False
                for at in range(length if one != two else 0):
                    if holds:
                        found.add((scene, one, two, at))
                    mine, theirs = done[scene, one, at], done[scene, two, at]
                    apart = near.get((scene, one, two, at), 1000)
                    if number * length + at < change:
                        begins = mine == "active" and theirs == "inactive" and apart <= 30
                        ends = mine == "walking" and apart > 40
                    else:
                        begins, ends = mine == "abrupt" and apart <= 20, theirs == "running"
                    holds = begins or (holds and not ends)
    return found


@pytest.mark.parametrize(("persons", "points", "scenes"), [(2, 150, 3), (5, 250, 1)])
def test_meetings_are_labelled_as_the_definition_says(persons: int, points: int, scenes: int) -> None:
    data = activity.generate(persons, points, scenes, seed=3)
    found = rows(data.labels)
    assert found == meetings(data, points * scenes, points) and len(found) > 50
    drifting = activity.generate(persons, points, scenes, seed=3, later=activity.CHANGED)
    changed = rows(drifting.labels)
    assert changed == meetings(data, points * scenes // 2, points)
    assert changed != found
    assert [len(drifting.definition), len(drifting.later)] == [2, 2]


def test_facts_depend_on_the_seed_alone() -> None:
    one = activity.generate(3, 100, 2, seed=1)
    for other in (activity.generate(3, 100, 2, seed=1), activity.generate(3, 100, 2, seed=1, noise=0.1),
                  activity.generate(3, 100, 2, seed=1, definition=activity.SEVERAL, later=activity.CHANGED)):
        assert all(same(a, b) for a, b in zip(one.tables, other.tables, strict=True))
    assert not same(one.tables[0], activity.generate(3, 100, 2, seed=2).tables[0])


@pytest.mark.parametrize("persons", [1, 0])
def test_a_meeting_needs_two(persons: int) -> None:
    with pytest.raises(EventideError, match="a meeting needs two persons"):
        activity.generate(persons)


def test_a_hundred_people_are_labelled() -> None:
    data = activity.generate(100, 30, 1)
    (batch,) = data.examples().batches(30)
    assert batch.instances.shape[0] == 9900
    assert batch.labels.sum() == len(data.labels.columns[0]) > 50


# -- vehicles and vessels ----------------------------------------------------------------------------------------------


def f1_of_the_definition(data: Labelled) -> float:
    """How well the definition, as learning reads it, gives the labels that the rules of the application gave."""
    labels = data.labels
    assert labels.streams is not None
    empty = replace(labels, columns=tuple(column[:0] for column in labels.columns), streams=labels.streams[:0])
    again = labelled_by("\n".join(map(str, data.definition)), data.modes, data.tables, empty)
    true, found = rows(labels), rows(again.labels)
    assert len(true) > 100
    return 2 * len(true & found) / (len(true) + len(found))


def test_dangerous_driving_is_labelled_as_its_definition_says() -> None:
    assert f1_of_the_definition(fleet.generate(12, seed=2)) == 1.0


def test_rendezvous_are_labelled_nearly_as_their_definition_says() -> None:
    assert 0.93 < f1_of_the_definition(maritime.generate(24, seed=2)) < 1.0


@pytest.mark.parametrize("generate", [fleet.generate, maritime.generate])
def test_the_seed_decides_vehicles_and_vessels(generate: Callable[..., Labelled]) -> None:
    one, again, other = generate(6, seed=1), generate(6, seed=1), generate(6, seed=2)
    assert all(same(a, b) for a, b in zip(one.tables, again.tables, strict=True)) and same(one.labels, again.labels)
    assert not same(one.labels, other.labels)
    assert one.examples().unobserved == 0


# -- noise -------------------------------------------------------------------------------------------------------------

GENERATORS: dict[str, Callable[[], Labelled]] = {
    "people": lambda: activity.generate(3, 200, 3), "vehicles": lambda: fleet.generate(5),
    "vessels": lambda: maritime.generate(6),
}


@pytest.mark.parametrize("name", GENERATORS)
def test_the_share_of_wrong_labels_is_as_asked_for(name: str) -> None:
    clean = GENERATORS[name]()
    true, wrong = rows(clean.labels), set[Row]()
    for share in (0.01, 0.05, 0.1):
        data = clean.with_noise(share)
        found = rows(data.labels)
        assert same(data.clean, clean.labels)
        assert len(found) == len(true)
        assert len(found - true) == pytest.approx(share * len(true), abs=len(clean.examples().streams) / 2)
        assert wrong <= found ^ true
        wrong = found ^ true
        assert data.examples().unobserved == 0 and sum(each.outside for each in data.examples().batches(50)) == 0


def test_noise_is_an_argument_of_the_generators() -> None:
    for noisy, clean in ((activity.generate(2, 100, 1, noise=0.1), activity.generate(2, 100, 1)),
                         (fleet.generate(2, noise=0.1), fleet.generate(2))):
        assert same(noisy.labels, clean.with_noise(0.1).labels) and same(noisy.clean, clean.labels)


def test_a_share_beyond_all_labels_is_refused() -> None:
    with pytest.raises(EventideError, match=r"at least 0 and at most 1, not -0\.1"):
        activity.generate(2, 10, 1, noise=-0.1)
