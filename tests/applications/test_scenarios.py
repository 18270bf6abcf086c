"""Ticker's two scenarios as applications: the recorded answers, the generators, the demonstrations."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

import eventide as ev
from eventide.applications import caching, content
from eventide.applications.caching import demo as caching_demo
from eventide.applications.caching.generator import generate
from eventide.applications.content import demo as content_demo
from eventide.applications.content.generator import dense, sparse
from eventide.applications.time_points import with_window, write_time_points


class Told:
    """Keeps what is told."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def __call__(self, text: str) -> None:
        self.texts.append(text)

    def begin(self, title: str) -> None:
        assert title


def atoms_at(result: ev.Result, time: int, names: set[str]) -> set[str]:
    """What holds at a time, as text."""
    return {atom for atom, periods in result.timeline().items() if atom.partition("(")[0] in names
            and any(start <= time and (end is None or time < end) for start, end in periods)}


def test_the_recorded_answers(shared_data: Callable[[str], Path]) -> None:
    """The rules without Ticker's guards give what those with guards give."""
    for case in json.loads(shared_data("golden/lars/scenarios.json").read_text()):
        window = int(case["id"].partition("_w")[2].partition("_")[0])
        is_content = case["id"].startswith("content")
        if not is_content and "tuple" in case["id"]:
            continue  # Ticker's own version has one tuple too few
        rules = with_window(content.RULES if is_content else caching.RULES, window)
        background = ["item(1).", content.NETWORK.read_text()] if is_content else []
        program = ev.parse("\n".join([rules, *background]), language="lars")
        some = {models: program.run(case["stream"], models=models) for models in ("cautious", "brave")}
        for time, query in case["queries"].items():
            names = set(case["observed_predicates"])
            for models, result in some.items():
                assert atoms_at(result, int(time), names) == set(query.get("model", query.get(models))), case["id"]


def test_tuples_pick_the_strategies_of_time() -> None:
    """One reading at each time-point: 21 readings are those of 21 time-points."""
    stream = generate(300)
    by_time, by_tuples = (ev.load(rules).run(stream).to_arrow() for rules in (caching.RULES, caching.TUPLES))
    assert by_time.equals(by_tuples)


def test_the_generators(tmp_path: Path) -> None:
    assert generate(50, seed=2) == generate(50, seed=2) != generate(50, seed=3)
    values = [int(facts[0][6:-1]) for _, facts in generate(4000)]
    assert min(values) >= 0 and max(values) <= 30 and {value // 6 for value in values} == {0, 1, 2, 3, 4, 5}
    few = Counter(fact.partition("(")[0] for _, facts in sparse(1000, window=60) for fact in facts)
    assert 1000 < sum(few.values()) < 1500  # Ticker's stream of this size has 1243
    many = Counter(fact.partition("(")[0] for _, facts in dense(1000, window=60) for fact in facts)
    assert 9000 < sum(many.values()) < 14_000  # and 11578
    assert write_time_points([(0, ["a"]), (1, []), (2, ["b", "c"])], tmp_path / "s.jsonl") == 3
    assert len((tmp_path / "s.jsonl").read_text().splitlines()) == 2


def test_demonstrations(tmp_path: Path) -> None:
    told = Told()
    caching_demo.run(tmp_path, told, points=300)
    assert told.texts[-2].splitlines()[:2] == [
        "at 194, 21 readings and a report contradict each other", "   :- lfu, favouritesChanged [5]."]
    assert [line.rpartition(": ")[2] for line in told.texts[-2].splitlines()[2:]] == ["done, high, lfu", "high, random"]
    content_demo.run(tmp_path, told, points=100)
    assert {path.name for path in tmp_path.iterdir()} == {
        "stream.jsonl", "caching.lars", "conflict.lars", "content.lars", "network.lars", "intervals.csv",
        "intervals.parquet", "report.html"}
    by_hand = ev.load(tmp_path / "content.lars", background=[tmp_path / "network.lars"]).run(
        tmp_path / "stream.jsonl", models="all")
    by_hand.write(tmp_path / "again.csv")
    assert (tmp_path / "again.csv").read_text() == (tmp_path / "intervals.csv").read_text()


@pytest.mark.parametrize("rules", [caching.RULES, caching.TUPLES, content.RULES])
def test_the_rules_have_no_problem(rules: Path) -> None:
    background = [content.NETWORK] if rules is content.RULES else []
    assert [d for d in ev.load(rules, background=background).check() if d.severity != "info"] == []
