"""How well uncertain situations at sea are recognised: generated traffic whose reports are believed by distance."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

import eventide as ev
from _evaluation import LATEST, Ints, Marks, Scenes, Trial, dealt_out
from eventide.applications.maritime import pipeline, region
from eventide.applications.maritime.staging import HORIZON
from eventide.applications.maritime.traffic import EPOCH, PER_REGION, traffic
from eventide.probability.ragged import spans
from eventide.signals.area_files import read_areas
from eventide.signals.cleaning import clean
from eventide.signals.noise import Stations, with_confidence

Stretch = tuple[str, int, int]
FLUENTS = ("rendezVous", "tugging")
WEST, EAST, SOUTH, NORTH = -165.0, 5.0, -145.0, 150.0  # the sea of a region, in kilometres
NAMES = {"vessel": "mmsi", "time": "time", "lon": "lon", "lat": "lat", "speed": "sog", "course": "cog",
         "heading": "heading"}
LEAST = re.compile(r"(\w+)\((.*), (\w+)\),\n\s+threshold\(\w+, Time\),\n\s+intDurGreater\(\3, Time, I\)\.")


@dataclass(frozen=True)
class Confidence:
    """How far reports are believed: `c` in metres (§7.1 of the thesis), and stations at random places of the sea, one
    for so many square kilometres."""

    c: float
    per: float
    seed: int

    def stations(self, regions: int) -> Stations:
        """The stations of so many regions."""
        random = np.random.default_rng(self.seed)
        lon, lat = [], []
        for number in range(regions):
            count = round((EAST - WEST) * (NORTH - SOUTH) / self.per)
            places = np.column_stack([random.uniform(WEST, EAST, count), random.uniform(SOUTH, NORTH, count)])
            x, y = region.Region(number).degrees(places)
            lon.append(x)
            lat.append(y)
        return Stations(np.concatenate(lon), np.concatenate(lat))


@dataclass(frozen=True)
class Sea(Scenes):
    """Pairs of vessels that may meet or be in tow, second by second, and the situations that were staged."""

    positions: pa.Table
    program: ev.Program
    regions: int

    def rows(self, noise: Confidence | None) -> pa.Table:
        """The probabilities by the rules of the application, without their least durations."""
        facts: dict[str, Any] = self.facts
        if noise is not None:
            facts = with_confidence(facts, self.positions, noise.stations(self.regions), noise.c)
        return self.program.run(facts, probabilistic=True, history="marginal", fluents=list(FLUENTS)).to_arrow()


def sea(vessels: int, seed: int = 1) -> Sea:
    """Six hours of generated traffic."""
    staged = traffic(vessels, seed)
    positions = clean(pa.table({name: staged.positions[column] for name, column in NAMES.items()})).positions
    with tempfile.TemporaryDirectory() as folder:
        areas = read_areas(staged.write(folder)["areas"])
    facts = pipeline.facts(positions, areas)
    facts["proximity"] = by_report(facts["proximity"], positions)
    text, changed = LEAST.subn(r"\1(\2, I).", (pipeline.HERE / "rules.ec").read_text(encoding="utf-8"))
    assert changed >= len(FLUENTS), "the rules have other conditions on durations"
    program = ev.parse(text, background=[pipeline.background(staged.vessels, areas)])
    told = {fluent: [("|".join(map(str, each.args)), each.start, EPOCH + HORIZON if each.end is None else each.end)
                     for each in staged.situations if each.fluent == fluent] for fluent in FLUENTS}
    pairs, low, high = _extents([*_possible(program, facts), *told["rendezVous"], *told["tugging"]])
    offsets = np.concatenate((np.zeros(1, np.int64), (high - low).cumsum()))
    places = spans(np.arange(len(pairs)) * LATEST + low, high - low)
    truth = {fluent: _marked(told[fluent], pairs, places) for fluent in FLUENTS}
    group = _connected(pairs)
    folds = {fluent: dealt_out(truth[fluent], places, group) for fluent in FLUENTS}
    return Sea(facts, pairs, offsets, places, truth, dict.fromkeys(FLUENTS, 0), folds, positions, program,
               -(-vessels // PER_REGION))


def by_report(proximity: pa.Table, positions: pa.Table) -> pa.Table:
    """Periods of proximity in pieces, from each report of either vessel to the next: each rests on that report."""
    vessel, time = positions["vessel"].to_numpy(), positions["time"].to_numpy()
    reports = np.sort(vessel * LATEST + time)
    begin, end = proximity["time"].to_numpy(), proximity["end"].to_numpy()
    row = [np.arange(len(begin))]
    cut = [begin]
    for name in ("vessel1", "vessel2"):
        base = proximity[name].to_numpy() * LATEST
        low = np.searchsorted(reports, base + begin, "right")
        count = np.searchsorted(reports, base + end, "left") - low
        row.append(np.repeat(row[0], count))
        cut.append(reports[spans(low, count)] % LATEST)
    key = np.unique(np.concatenate(row) * LATEST + np.concatenate(cut))
    row_, start = key // LATEST, key % LATEST
    last = np.append(np.diff(row_) != 0, True)
    until = np.where(last, end[row_], np.append(start[1:], 0))
    pieces = proximity.take(pa.array(row_))
    return pieces.set_column(pieces.column_names.index("time"), "time", pa.array(start)).set_column(
        pieces.column_names.index("end"), "end", pa.array(until))


def _possible(program: ev.Program, facts: dict[str, pa.Table]) -> Iterator[Stretch]:
    """When which pairs may be in a situation."""
    sure = {name: table.append_column("probability", pa.array(np.full(len(table), 0.5)))
            for name, table in facts.items()}
    rows = program.run(sure, probabilistic=True, history="marginal", fluents=list(FLUENTS)).to_arrow()
    for row in rows.to_pylist():
        yield row["args"], row["start"], EPOCH + HORIZON if row["end"] is None else row["end"]


def _extents(stretches: list[Stretch]) -> tuple[list[str], Ints, Ints]:
    """Pairs, and from when to when their stretches are."""
    low: dict[str, int] = {}
    high: dict[str, int] = {}
    for pair, start, end in stretches:
        low[pair] = min(start, low.get(pair, start))
        high[pair] = max(end, high.get(pair, end))
    pairs = sorted(low)
    return pairs, np.array([low[pair] for pair in pairs]), np.array([high[pair] for pair in pairs])


def _marked(stretches: list[Stretch], pairs: list[str], places: Ints) -> Marks:
    marks = np.zeros(places.shape[0], np.bool_)
    for pair, start, end in stretches:
        low, high = np.searchsorted(places, pairs.index(pair) * LATEST + np.array([start, end]))
        marks[low:high] = True
    return marks


def _connected(pairs: list[str]) -> Ints:
    """A number for each pair that pairs share if they share vessels, directly or through others."""
    leader: dict[str, str] = {}

    def lead(vessel: str) -> str:
        while leader.setdefault(vessel, vessel) != vessel:
            vessel = leader[vessel]
        return vessel

    for pair in pairs:
        one, other = pair.split("|")
        leader[lead(one)] = lead(other)
    _, group = np.unique([lead(pair.partition("|")[0]) for pair in pairs], return_inverse=True)
    return group.astype(np.int64)


def trials(scenes: Sea, c: float, per: float, seeds: int) -> Iterator[Trial]:
    """One trial for each seed, which decides where the stations are."""
    for seed in range(1, seeds + 1):
        yield Trial(scenes, Confidence(c, per, seed), trimmed=True)
