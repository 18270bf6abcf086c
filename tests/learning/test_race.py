"""Races of learners: the best so far answers, and nothing is seen of what is tested."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.learning.test_reading import DAYS

from eventide.applications.activity.labelled import generate
from eventide.applications.labelled import modes_of
from eventide.cli.main import main
from eventide.errors import EventideError, InputError
from eventide.learning.committee import Committee, Votes
from eventide.learning.evaluation import Score
from eventide.learning.examples import Examples
from eventide.learning.learned import learn
from eventide.learning.learner import Learner
from eventide.learning.modes import Modes
from eventide.learning.race import Race, race_of
from eventide.learning.settings import Settings


@cache
def people(noise: float = 0.02) -> tuple[Modes, Examples]:
    data = generate(persons=3, points=60, streams=3, noise=noise)
    return modes_of(data.modes), data.examples()


def runners(modes: Modes) -> dict[str, Learner | Committee]:
    return {"dear": Learner(modes, settings=Settings().with_(literal_cost=40)), "plain": Learner(modes),
            "few": Committee(modes, votes=Votes(members=3))}


@given(size=st.sampled_from((20, 1000)), seed=st.integers(0, 3))
@settings(max_examples=4)
@pytest.mark.slow
def test_the_best_of_what_was_tested_so_far_answers(size: int, seed: int) -> None:
    modes, examples = people()
    order = [examples.streams[at] for at in np.random.default_rng(seed).permutation(len(examples.streams))]
    race, alone, totals = Race(runners(modes)), runners(modes), dict.fromkeys(runners(modes), Score())
    leader = "dear"
    for batch in examples.batches(size, order):
        report = race.partial_fit(batch)
        reports = {name: runner.partial_fit(batch) for name, runner in alone.items()}
        assert (report.tp, report.fp, report.fn) == (reports[leader].tp, reports[leader].fp, reports[leader].fn)
        totals = {name: totals[name] + Score(each.tp, each.fp, each.fn) for name, each in reports.items()}
        best = max(score.f1 for score in totals.values())
        if totals[leader].f1 < best:
            leader = next(name for name, score in totals.items() if score.f1 == best)
        assert race.leader == leader and race.scores == totals
        assert race.rules == alone[leader].rules
    for batch in examples.batches(size):
        expected = {name: runner.predict(batch) for name, runner in alone.items()}
        assert (race.predict(batch) == expected[leader]).all()
    passed = [step for step in race.trace if step.kind == "lead"]
    assert passed and passed[-1].reason.startswith(f"{leader} takes it from")
    assert [step for step in race.trace if step.kind != "lead"] == alone[leader].trace


def test_states_are_carried_whoever_comes_to_lead() -> None:
    modes, examples = people()
    race, alone = Race(runners(modes)), runners(modes)
    for batch in examples.batches(60):
        for each in (race, *alone.values()):
            each.partial_fit(batch)
    differ = False
    for number, batch in enumerate(examples.batches(20)):
        race.leader = tuple(alone)[number % 3]
        states = {name: runner.predict(batch) for name, runner in alone.items()}
        differ |= any((state != states["dear"]).any() for state in states.values())
        assert (race.predict(batch) == states[race.leader]).all()
    assert differ


def test_races_are_told_what_is_wrong() -> None:
    modes, _ = people()
    with pytest.raises(EventideError, match="at least one learner"):
        Race({})
    with pytest.raises(EventideError, match="method woled"):
        race_of(modes, Settings.oled())
    with pytest.raises(EventideError, match="nothing was learnt"):
        race_of(modes).predict(next(iter(people()[1].batches(10))))


def test_rules_of_a_race_are_those_of_the_leader() -> None:
    modes, examples = people(0.0)
    learnt = learn(modes, examples, race=True, members=3, batch=60)
    (target,) = learnt.targets.values()
    assert isinstance(target.learner, Race)
    ahead = target.learner.ahead
    assert learnt.rules == ahead.rules and learnt.text.count("weight(") >= len(ahead.rules)
    assert learnt.predict().num_rows > 0
    assert [row["batch"] for row in learnt.curve.to_pylist()] == list(range(1, target.learner.batches + 1))


def test_a_race_needs_one_machine() -> None:
    class Frame:
        def mapInArrow(self) -> None: ...

    with pytest.raises(InputError, match="no race; leave out race"):
        learn(people()[0], {"walking": Frame()}, race=True)


def test_the_command_tells_who_won(tmp_path: Path, capsys: pytest.CaptureFixture[str],
                                   monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("rich.modes").write_text(DAYS)
    for name, days in (("day", range(60)), ("win", range(0, 60, 5)), ("lose", range(3, 60, 5)),
                       ("rich", [day for day in range(60) if day % 5 in (1, 2, 3)])):
        rows = [f"{day},ann" if name != "day" else f"{day}" for day in days]
        Path(f"{name}.csv").write_text("\n".join(["time" if name == "day" else "time,who", *rows]) + "\n")
    command = ["learn", "rich.modes", "--examples", *(f"{name}={name}.csv" for name in ("day", "win", "lose", "rich")),
               "--batch", "10", "--race", "--members", "2", "-o", "rules.ec"]
    assert main(command) == 0
    assert "rich: the race is won by the learner 'as set'; F1 of all: as set 0.9" in capsys.readouterr().err
    assert main([*command, "--json"]) == 0
    race = json.loads(capsys.readouterr().out)["targets"]["rich"]["race"]
    assert race["leader"] == "as set" and list(race["f1"]) == ["as set", "careful", "committee"]
    assert main([*command, "--method", "oled"]) == 1
    assert "a race is run with the method woled" in capsys.readouterr().err
