"""Every event description parses, defines what its application promises, and the copies among them agree."""

from __future__ import annotations

import pytest

from eventide.applications import APPLICATIONS
from eventide.syntax.event_calculus import parse
from eventide.syntax.terms import functor_of
from eventide.syntax.trees import ChangeRule, Declaration, EventRule, FluentValue, StaticRule

FLUENTS = {
    "toy": "location rich happy",
    "maritime": "withinArea gap stopped lowSpeed changingSpeed highSpeedNearCoast movingSpeed underWay drifting "
    "anchoredOrMoored tuggingSpeed tugging rendezVous trawlSpeed trawlingMovement trawling sarSpeed sarMovement inSAR "
    "loitering pilotOps",
    "transport": "punctuality driving_style driving_quality passenger_density noise_level internal_temperature "
    "passenger_comfort driver_comfort passenger_satisfaction",
    "voting": "status voted outcome auxPerCloseBallot per obl sanctioned",
    "netbill": "quote per contract obl suspended pow",
    "activity": "close_24 close_25 close_30 close_34 closeSymmetric_30 person leaving_object activeOrInactivePerson "
    "greeting1 greeting2 meeting moving fighting",
    "fleet": "overSpeeding dangerousDriving notEconomicDriving reFuel",
    "city": "limitedParking congestedRoad congestedRoadActivity freeRoadActivity contradiction highEmissionZone "
    "poorAirQuality limitedAccessArea increaseSecurity",
    "immune": "val f order",
    "phage": "val f order",
}
EVENTS = {
    "transport": {"punctuality_change"},
    "voting": {"auxMotionOutcomeEvent"},
    "activity": {"near"},
    "city": {f"{name}Now" for name in (
        "limitedParking", "congestedRoad", "congestedRoadActivity", "freeRoadActivity", "contradiction",
        "highEmissionZone", "poorAirQuality", "limitedAccessArea", "increaseSecurity")},
    "immune": {"becomes"},
    "phage": {"becomes"},
}


def defined_fluents(name: str) -> set[str]:
    """The names of the fluents that the rules of an application define."""
    rules = parse(APPLICATIONS[name].rules.read_text(), name).rules
    names = {functor_of(rule.pair.fluent)[0] for rule in rules if isinstance(rule, ChangeRule | StaticRule)}
    for rule in rules:
        if isinstance(rule, Declaration) and rule.name == "buildFromPoints" and rule.rest:
            assert isinstance(rule.subject, FluentValue)
            names.add(functor_of(rule.subject.fluent)[0])
    return names


@pytest.mark.parametrize("name", APPLICATIONS)
def test_the_rules_parse_without_a_complaint(name: str) -> None:
    text = APPLICATIONS[name].rules.read_text()
    program = parse(text, f"{name}.ec")
    assert not program.diagnostics, "\n".join(problem.render(text) for problem in program.diagnostics)


@pytest.mark.parametrize("name", FLUENTS)
def test_the_rules_define_the_fluents_of_the_application(name: str) -> None:
    assert defined_fluents(name) == set(FLUENTS[name].split())


@pytest.mark.parametrize("name", FLUENTS)
def test_the_rules_define_the_output_events_of_the_application(name: str) -> None:
    rules = parse(APPLICATIONS[name].rules.read_text(), name).rules
    assert {functor_of(rule.event)[0] for rule in rules if isinstance(rule, EventRule)} == EVENTS.get(name, set())


def test_the_allen_patterns_stand_on_the_unchanged_maritime_rules() -> None:
    lower = APPLICATIONS["maritime"].rules.read_text()
    assert APPLICATIONS["maritime_allen"].rules.read_text().startswith(lower)
    assert len(defined_fluents("maritime_allen") - defined_fluents("maritime")) == 26


def test_both_loops_share_the_rules_of_levels_and_orders() -> None:
    mark = "% ---- Level: begins as given"
    immune, phage = (APPLICATIONS[name].rules.read_text().partition(mark)[2] for name in ("immune", "phage"))
    assert immune
    assert immune == phage
