"""The golden cases of LARS, exactly: programs, numbers of answers, contradictions in both readings, scenarios."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import shared_folder
from tests.lars.golden_rows import at, count_at, known_before, now, rows_of

from eventide.lars.program import LarsProgram, program_of


def parse(text: str) -> LarsProgram:
    return program_of({"golden": text})


def cases(name: str) -> list[Any]:
    folder = shared_folder()
    path = folder / "golden/lars" / name if folder is not None else Path()
    found = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else []
    return [pytest.param(case, id=case["id"]) for case in found] or [
        pytest.param(None, marks=pytest.mark.skip(reason=f"the shared data hold no golden/lars/{name}"))]


@pytest.mark.parametrize("case", cases("programs.json"))
def test_programs(case: dict[str, Any]) -> None:
    program = parse(case["program"])
    assert not [problem for problem in program.check() if problem.severity != "info"]
    everything = program.run(case["stream"], end=case["horizon"], models="all", earlier=True)
    rows = rows_of(everything)
    common = rows_of(program.run(case["stream"], end=case["horizon"], models="cautious"))
    for text, wanted in case["queries"].items():
        t = int(text)
        count = case["n_models"].get(text, 1)
        assert count_at(everything, t) == count
        assert now(common, t) == sorted(wanted or [])
        if count == 1:
            assert known_before(rows, t) == sorted(case["at_atoms"].get(text, []))
        if text in case["models"]:
            found = sorted((now(rows, t, number), known_before(rows, t, number)) for number in range(1, count + 1))
            assert found == sorted((sorted(model["now"]), sorted(model["at"])) for model in case["models"][text])


@pytest.mark.parametrize("case", [case for case in cases("programs.json")
                                  if case.values[0] is None or case.values[0]["contradictions"]])
def test_contradictions_flagged(case: dict[str, Any]) -> None:
    rows = rows_of(parse(case["program"]).run(case["stream"], end=case["horizon"], contradictions="flag", earlier=True))
    atoms = [row for row in rows if row["fluent"] != "⊥"]
    for t in range(case["horizon"] + 1):
        flags = sorted((row["value"], row["args"]) for row in at(rows, t) if row["fluent"] == "⊥")
        wanted = case["contradictions"].get(str(t))
        if wanted is not None:
            assert flags == sorted((f"{found['rule']}.", "|".join(text.strip('"') for text in found["binding"]))
                                   for found in wanted["violations"])
            assert (now(atoms, t), known_before(atoms, t)) == (sorted(wanted["now"]), sorted(wanted["at"]))
        elif str(t) in case["queries"]:
            assert flags == []


@pytest.mark.parametrize("case", cases("scenarios.json"))
def test_scenarios(case: dict[str, Any]) -> None:
    program = parse(case["program"])
    end = max(map(int, case["queries"]))
    options: dict[str, Any] = {"end": end, "fluents": case["observed_predicates"]}
    everything = program.run(case["stream"], models="all", **options)
    all_rows = rows_of(everything)
    rows = {models: rows_of(program.run(case["stream"], models=models, **options))
            for models in ("first", "cautious", "brave")}
    for text, wanted in case["queries"].items():
        t = int(text)
        assert count_at(everything, t) == wanted["n_models"]
        assert now(rows["cautious"], t) == sorted(wanted.get("cautious", wanted.get("model")))
        assert now(rows["brave"], t) == sorted(wanted.get("brave", wanted.get("model")))
        assert now(rows["first"], t, 1) in [now(all_rows, t, number) for number in range(1, wanted["n_models"] + 1)]
