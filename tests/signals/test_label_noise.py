"""Smooth and strong noise in labelled activities."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from eventide.errors import InputError
from eventide.signals.label_noise import CONTEXT, LABELS, TRACKING, LabelNoise, noisy, noisy_table

COUNT = 4000


def scene() -> dict[str, pa.Table]:
    """A label for each of some people at each of some times, and where they are."""
    rng = np.random.default_rng(5)
    time, who = np.arange(COUNT) // 8, np.char.add("id", (np.arange(COUNT) % 8).astype(str))
    label = rng.integers(0, len(LABELS), COUNT)
    facts = {name: pa.table({"time": time[label == at], "id": who[label == at]}) for at, name in enumerate(LABELS)}
    facts["coord"] = pa.table({"time": time, "id": who, "x": rng.integers(0, 99, COUNT), "y": time})
    facts["orientation"] = pa.table({"time": time, "value": time % 360, "id": who})
    facts["appear"] = pa.table({"time": time[:8], "id": who[:8]})
    return facts | {"appearance": pa.table({"time": time, "value": time * 0, "id": who})}


def as_one(facts: dict[str, pa.Table]) -> pa.Table:
    tables = [table.append_column("event", pa.repeat(name, len(table))) for name, table in facts.items()]
    return pa.concat_tables(tables, promote_options="default")


def test_smooth_noise_is_about_events_alone() -> None:
    facts = scene()
    found = noisy(facts, LabelNoise())
    assert list(found) == list(facts)
    for name, table in found.items():
        expected = [*facts[name].column_names, *(["probability"] if name in LABELS + TRACKING else [])]
        assert table.column_names == expected
        assert table.select(facts[name].column_names).equals(facts[name])


def test_strong_noise_is_about_positions_too() -> None:
    found = noisy(scene(), LabelNoise(kind="strong", spurious=0))
    assert {name for name, table in found.items() if "probability" in table.column_names} == {
        *LABELS, "appear", *CONTEXT}


@pytest.mark.parametrize("mean", [0.5, 2.0, 4.0])
def test_probabilities_follow_the_gamma_distribution(mean: float) -> None:
    probability = LabelNoise(mean=mean).probabilities("walking", 200_000)
    assert probability.min() >= 0 and probability.max() <= 1
    lost = 10 * (1 - probability)  # the draw, but for those beyond 10
    draws = np.minimum(np.random.default_rng(9).gamma(mean, 1.0, 200_000), 10)
    assert abs(lost.mean() - draws.mean()) < 0.03
    assert abs(lost.std() - draws.std()) < 0.03
    shares = np.linspace(0.1, 0.9, 9)
    assert np.allclose(np.quantile(lost, shares), np.quantile(draws, shares), atol=0.06)


def test_without_a_mean_all_is_certain() -> None:
    assert (LabelNoise(mean=0).probabilities("walking", 100) == 1).all()


def test_spurious_labels_are_a_uniform_choice() -> None:
    facts = scene()
    found = noisy(facts, LabelNoise(kind="strong", spurious=0.25))
    true = {(name, *row) for name in LABELS for row in zip(*facts[name].to_pydict().values(), strict=True)}
    added = []
    for name in LABELS:
        assert found[name].slice(0, len(facts[name])).drop_columns("probability").equals(facts[name])
        rows = found[name].slice(len(facts[name])).drop_columns("probability").to_pydict()
        added += [(name, *row) for row in zip(*rows.values(), strict=True)]
    assert len(added) == COUNT // 4
    assert not true & set(added)
    seen = {row[1:] for row in true}
    assert all(row[1:] in seen for row in added)
    counts = np.array([sum(row[0] == name for row in added) for name in LABELS])
    assert np.abs(counts - COUNT / 20).max() < 5 * np.sqrt(COUNT / 20)
    people = np.array([sum(row[2] == f"id{number}" for row in added) for number in range(8)])
    assert np.abs(people - COUNT / 32).max() < 5 * np.sqrt(COUNT / 32)


def test_spurious_labels_are_as_probable_as_others() -> None:
    facts = scene()
    found = noisy(facts, LabelNoise(kind="strong", mean=3, spurious=1))
    given, added = (np.concatenate([found[name]["probability"].to_numpy()[part] for name in LABELS
                                    for part in [slice(len(facts[name])) if own else slice(len(facts[name]), None)]])
                    for own in (True, False))
    assert len(given) == len(added) == COUNT
    assert abs(given.mean() - added.mean()) < 0.02


def test_equal_seeds_give_equal_noise() -> None:
    noise = LabelNoise(kind="strong", seed=7)
    first, again, other = noisy(scene(), noise), noisy(scene(), noise), noisy(scene(), LabelNoise(kind="strong"))
    assert all(first[name].equals(again[name]) for name in first)
    assert not first["walking"].equals(other["walking"])


def test_names_are_drawn_for_independently() -> None:
    facts, smooth = scene(), LabelNoise()
    alone = noisy({"active": facts["active"]}, smooth)
    assert alone["active"].equals(noisy(facts, smooth)["active"])
    strong = noisy(facts, LabelNoise(kind="strong"))["active"].slice(0, len(facts["active"]))
    assert strong.equals(alone["active"])
    assert not np.array_equal(smooth.probabilities("walking", 50), smooth.probabilities("running", 50))


@pytest.mark.parametrize("kind", ["smooth", "strong"])
def test_one_table_is_as_many(kind: Any) -> None:
    noise = LabelNoise(kind=kind, mean=2)
    table = as_one(scene())
    found = noisy_table(table, noise)
    apart = noisy(scene(), noise)
    for name, expected in apart.items():
        rows = found.filter(pa.compute.equal(found["event"], name))
        columns = expected.column_names
        key = [(column, "ascending") for column in columns]
        assert rows.select(columns).sort_by(key).to_pydict() == expected.sort_by(key).to_pydict()
    order = found.filter(pa.compute.equal(found["event"], "coord")).drop_columns("probability")
    assert order.equals(table.filter(pa.compute.equal(table["event"], "coord")).select(order.column_names))


def test_one_label_has_no_other() -> None:
    facts = {"walking": scene()["walking"]}
    assert len(noisy(facts, LabelNoise(kind="strong", spurious=1))["walking"]) == len(facts["walking"])


@pytest.mark.parametrize("wrong", [
    {"kind": "loud"}, {"mean": -1}, {"mean": float("nan")}, {"mean": float("inf")}, {"mean": "2"}, {"spurious": 1.5},
    {"spurious": -0.1}, {"spurious": None}, {"seed": -1}, {"seed": 1.5},
])
def test_wrong_parameters(wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="noise" if "kind" in wrong else next(iter(wrong))):
        LabelNoise(**wrong)


def test_wrong_facts() -> None:
    noise = LabelNoise(kind="strong")
    with pytest.raises(InputError, match="already"):
        noisy(noisy(scene(), noise), noise)
    with pytest.raises(InputError, match="different columns"):
        noisy(scene() | {"running": pa.table({"time": [1], "who": ["id0"]})}, noise)
    with pytest.raises(InputError, match="no column event"):
        noisy_table(pa.table({"time": [1]}), noise)
    with pytest.raises(InputError, match="no event that gets noise"):
        noisy_table(pa.table({"time": [1], "event": ["win"]}), noise)
