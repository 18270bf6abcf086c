"""Pairs of vessels whose rendez-vous are labelled by the rules of this application: not by people, nor of the world.

Each group of six vessels is a stream; every minute is a point, at which all are `sailing`. Speeds, stops and areas are
given as the rules below rendez-vous have them. The rules want four minutes together before they count any of them, and
see each moment as it is; a learner says what begins and ends at the next point, so DEFINITION comes close to the labels
but is not the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files
from itertools import product

import numpy as np

from eventide.applications import APPLICATIONS
from eventide.applications.labelled import Labelled, definition_of, fact_table, holding, points_inside, recognised
from eventide.applications.maritime.generator import FIRST, HORIZON
from eventide.learning.examples import table

MINUTE, GROUP = 60, 6
MODES = files(__package__).joinpath("rendezvous.modes").read_text(encoding="utf-8")
_SLOW = ("lowSpeed({})=true", "stopped({})=farFromPorts")
_PLACES = [f"withinArea({vessel},{kind})=true" for vessel in "VW" for kind in ("nearPorts", "nearCoast")]
_SERVICE = [f"vesselType({vessel},{kind})" for vessel in "VW" for kind in ("tug", "pilotvessel")]
_AT_SEA = ", ".join([*(f"not holdsAt({place},T)" for place in _PLACES), *(f"not {kind}" for kind in _SERVICE)])
DEFINITION = "\n".join([
    *(f"initiatedAt(rendezVous(V,W)=true,T) :- holdsAt(proximity(V,W)=true,T), holdsAt({one.format('V')},T), "
      f"holdsAt({two.format('W')},T), {_AT_SEA}." for one, two in product(_SLOW, _SLOW)),
    "terminatedAt(rendezVous(V,W)=true,T) :- not holdsAt(proximity(V,W)=true,T).",
    *("terminatedAt(rendezVous(V,W)=true,T) :- "
      f"{', '.join(f'not holdsAt({each.format(vessel)},T)' for each in _SLOW)}." for vessel in "VW"),
    *(f"terminatedAt(rendezVous(V,W)=true,T) :- holdsAt({place},T)." for place in _PLACES),
])
_FLUENTS = ("rendezVous", "lowSpeed", "stopped", "withinArea")
_Parts = Iterator[tuple[str, tuple[str, ...], np.ndarray]]


def generate(vessels: int = 60, seed: int = 0, noise: float = 0.0) -> Labelled:
    """Half a day of `vessels` vessels, a share `noise` of the labels wrong.

    >>> data = generate(vessels=6)
    >>> len(data.examples().times), len(data.labels.columns[0])
    (720, 554)
    """
    application = APPLICATIONS["maritime"]
    stream, intervals = recognised(application, vessels, seed, _FLUENTS)
    minutes = np.arange(MINUTE, HORIZON + 1, MINUTE)

    def held(fluent: str, value: str, last: int) -> _Parts:
        for arguments, periods in holding(intervals, fluent, value).items():
            yield _group(arguments[0]), arguments[:last], points_inside(minutes, periods)

    def near() -> _Parts:
        given = stream["proximity"]
        for one, two, start, end in zip(given["vessel1"], given["vessel2"], given["start"], given["end"], strict=True):
            yield _group(one), (str(one), str(two)), points_inside(minutes, np.array([[start], [end]]))

    def sailing() -> _Parts:
        for vessel in (FIRST + np.arange(vessels)).tolist():
            yield _group(vessel), (str(vessel),), minutes

    known = application.background(entities=vessels)["vessel"]
    tables = (
        fact_table("happensAt(sailing(+vessel),+time)", sailing()),
        fact_table("holdsAt(proximity(+vessel,+vessel)=true,+time)", near()),
        fact_table("holdsAt(lowSpeed(+vessel)=true,+time)", held("lowSpeed", "true", 1)),
        fact_table("holdsAt(stopped(+vessel)=farFromPorts,+time)", held("stopped", "farFromPorts", 1)),
        fact_table("holdsAt(withinArea(+vessel,#kind)=true,+time)", held("withinArea", "true", 2)),
        table("vesselType(+vessel,#type)", known["vessel"].astype(str), known["type"]))
    labels = fact_table("holdsAt(rendezVous(+vessel,+vessel)=true,+time)", held("rendezVous", "true", 2))
    data = Labelled(MODES, tables, labels, labels, definition_of(DEFINITION))
    return data.with_noise(noise, seed) if noise else data


def _group(vessel: object) -> str:
    return f"group{(int(str(vessel)) - FIRST) // GROUP}"
