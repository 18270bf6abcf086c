"""Point probabilities against the reference answers: the whole program in ProbLog, and the published scheme."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from tests.conftest import shared_folder
from tests.probability.series import probability_at

import eventide as ev

PATH = "golden/probability/point_cases.json"
FILE = (shared_folder() or Path()) / PATH
NAMES = [case["name"] for case in json.loads(FILE.read_text())["cases"]] if FILE.exists() else []


def literal(text: str) -> str:
    negated = text.startswith("not ")
    kind, _, rest = text.removeprefix("not ").partition(":")
    goal = f"happensAt({rest}, T)" if kind == "happ" else f"holdsAt({lowered(rest)}, T)"
    return f"\\+ {goal}" if negated else goal


def lowered(pair: str) -> str:
    """Fluents are called A, B, C in one case; here names begin with a small letter."""
    return pair[0].lower() + pair[1:]


def program_text(case: dict[str, Any]) -> str:
    """The case as rules. Of exclusive events the later ones happen if the earlier ones do not."""
    lines = []
    for rule in case["rules"]:
        chance = "" if rule["p"] == "1" else f"{rule['p']}::"
        head = lowered(rule["head"].removeprefix("init "))
        lines.append(f"{chance}initiatedAt({head}, T) :- {', '.join(map(literal, rule['body']))}.")
    for number, rule in enumerate(case["sd_rules"]):
        lines.append(static_rule(number, rule))
    for first in case["initially"]:
        lines.append(f"{first['p']}::initially({lowered(first['fluent'])}).")
    for event in sorted({outcome["event"] for group in case["ads"] for outcome in group[1:]}):
        orders = [[outcome["event"] for outcome in group] for group in case["ads"]]
        before = sorted({other for order in orders for other in order[: order.index(event)]})
        nots = "".join(f", \\+ happensAt({other}, T)" for other in before)
        lines.append(f"happensAt({event}, T) :- happensAt(otherwise_{event}, T){nots}.")
    return "\n".join(lines)


def static_rule(number: int, rule: dict[str, Any]) -> str:
    body, positive, negative = [], [], []
    for place, text in enumerate(rule["body"]):
        name = f"I{place}"
        (negative if text.startswith("not ") else positive).append(name)
        body.append(f"holdsFor({lowered(text.removeprefix('not ').removeprefix('holds:'))}, {name})")
    body.append(f"intersect_all([{', '.join(positive)}], J)")
    body.append(f"relative_complement_all(J, [{', '.join(negative)}], I)")
    return f"holdsFor({lowered(rule['head'])}, I) :- {', '.join(body)}."


def facts(case: dict[str, Any]) -> pa.Table:
    rows = [(fact["t"], fact["event"], float(fact["p"])) for fact in case["facts"]]
    for group in case["ads"]:
        left = 1.0
        for place, outcome in enumerate(group):
            name = outcome["event"] if place == 0 else f"otherwise_{outcome['event']}"
            rows.append((outcome["t"], name, float(outcome["p"]) / left))
            left -= float(outcome["p"])
    names, arguments = zip(*(event.rstrip(")").partition("(")[::2] for _, event, _ in rows), strict=True)
    return pa.table({"time": [time for time, _, _ in rows], "event": names, "x": [each or None for each in arguments],
                     "probability": [p for _, _, p in rows]})


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("history", "answer"), [("exact", "p_problog"), ("marginal", "p_cached")])
def test_case(name: str, history: Any, answer: str, shared_data: Callable[[str], Path]) -> None:
    case = next(case for case in json.loads(shared_data(PATH).read_text())["cases"] if case["name"] == name)
    last = max(query["t"] for query in case["queries"])
    result = ev.parse(program_text(case)).run(facts(case), probabilistic=True, history=history, start=-1, end=last)
    for query in case["queries"]:
        found = probability_at(result, *lowered(query["fluent"]).split("="), time=query["t"])
        assert found == pytest.approx(query[answer], abs=1e-9), query
