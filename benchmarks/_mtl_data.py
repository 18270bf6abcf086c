"""The workloads of the DatalogMTL benchmark: the recorded ones where they are at hand, else generated ones like it."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import eventide as ev
from eventide.applications.demonstration import shared_data
from eventide.applications.network import RULES
from eventide.applications.network import generator as network
from eventide.mtl.cells import DenseFacts
from eventide.mtl.facts import facts_in, read_facts

WEATHER = """
Heat(X) :- <>-[0,1] Above30(X), []-[0,1] Above24(X).
Windy(X) :- []-[0,1] Wind(X).
Dry(X) :- []-[0,7] NoRain(X).
Risk(X) :- Dry(X), <>-[0,3] Heat(X), <>-[0,1] Windy(X).
[]+[0,14] Warning(X) :- Risk(X).
HotState(S) :- Heat(X), In(X,S).
Burnt(S) :- <>-[0,inf) Risk(X), In(X,S).
"""
STOPS = """
Gone(V) :- OffMap(V).
Stop(V) :- Gone(V), []-[1,1] Here(V), []-[2,2] Gone(V).
Stop(V) :- Gone(V), []-[1,1] Here(V), []-[2,2] Here(V), []-[3,3] Gone(V).
Stop(V) :- Gone(V), []-[1,1] Here(V), []-[2,2] Here(V), []-[3,3] Here(V), []-[4,4] Gone(V).
"""
# Facts per CPU second of MeTeoR's semi-naive materialisation (and of its streaming script), and the facts it was given.
RIVALS = {"weather_fp": (39_406, 12_413), "monitor": (11_536, 13_347), "shortstop": (3_310, 24_000)}
STREAMING = 245


@dataclass(frozen=True)
class Workload:
    """Rules, and facts in memory; `recorded` if they are those that the rival's figure is about."""

    name: str
    program: ev.Program
    facts: DenseFacts
    recorded: bool


def workloads(scale: float) -> Iterator[Workload]:
    """The recorded workloads, if they are at hand and scale is 1, else generated ones of about their size."""
    for name, make in GENERATORS.items():
        rules, facts = shared_data(f"data/mtl/{name}.mtl"), shared_data(f"data/mtl/{name}.facts.gz")
        if scale == 1 and rules is not None and facts is not None:
            yield Workload(name, ev.load(rules), read_facts(facts), True)
        else:
            text, found = make(max(100, round(RIVALS[name][1] * scale)))
            yield Workload(name, ev.parse(text, language="mtl"), found, False)


def weather(size: int) -> tuple[str, DenseFacts]:
    """Days of a station, each kind of weather as spells that do not touch; about `size` spells."""
    rng = np.random.default_rng(1)
    lines = ["In(st,ohio)@[0,1000000]"]
    for name, lasts, pauses in (("NoRain", 6, 3), ("Above24", 5, 12), ("Above30", 2, 15), ("Wind", 3, 4)):
        spells = rng.geometric(1 / lasts, size // 4).cumsum() + (1 + rng.geometric(1 / pauses, size // 4)).cumsum()
        lengths = np.minimum(rng.geometric(1 / lasts, size // 4), np.diff(spells, append=spells[-1] + lasts + 1) - 1)
        lines += [f"{name}(st)@({start},{start + max(length, 1)}]"
                  for start, length in zip(spells.tolist(), lengths.tolist(), strict=True)]
    return WEATHER, facts_in("\n".join(lines))


def monitor(size: int) -> tuple[str, DenseFacts]:
    """The network of monitors with about `size` readings."""
    units = max(20, round(size / (network_rate() * 20)))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "network.facts"
        network.write_facts(network.generate(units=units, seed=1), path)
        return RULES.read_text(encoding="utf-8"), read_facts(path)


def network_rate() -> float:
    """Readings of a signal in a time unit."""
    return len(network.generate(signals=1, units=1000)["signal"]["start"]) / 1000


def stops(size: int) -> tuple[str, DenseFacts]:
    """Vehicles that report every second: here, gone, or off the map."""
    rng = np.random.default_rng(1)
    seconds = 240
    vehicles = max(1, size // seconds)
    names = np.array(["Here", "Gone", "OffMap"])[rng.choice(3, (seconds, vehicles), p=[0.5, 0.45, 0.05])]
    return STOPS, facts_in("\n".join(f"{name}(v{vehicle})@{second}" for second, row in enumerate(names.tolist())
                                     for vehicle, name in enumerate(row)))


GENERATORS: dict[str, Callable[[int], tuple[str, DenseFacts]]] = {
    "weather_fp": weather, "monitor": monitor, "shortstop": stops}
