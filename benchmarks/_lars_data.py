"""Streams for the LARS benchmark: like those of Laser's evaluation, and traffic readings, real or generated."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pyarrow.parquet

from eventide.applications.demonstration import shared_data
from eventide.formats.facts import Coded, FactTable, Ints
from eventide.syntax.lars_trees import Predicate

TRAFFIC = "data/citybench/traffic.parquet"
MINUTE = 60
Tables = dict[Predicate, FactTable]

_COOLING = """
steam(V) at T :- temp(V) at T [{n}], V >= 100.
liquid(V) at T :- temp(V) at T [{n}], V < 100, V >= 1.
isSteam at T :- steam(V) at T [{n}].
isLiquid at T :- liquid(V) at T [{n}].
alarm :- isSteam always [{n}].
normal :- isLiquid always [{n}].
veryHot(T) :- steam(V) at T [{n}], V >= 150.
veryCold(T) :- liquid(V) at T [{n}], V = 1.
freeze :- not alarm, not normal.
"""


@dataclass(frozen=True)
class Experiment:
    """A program of Laser's evaluation, with the window `n` to be filled in, and a stream like its own.

    `certain` says that the number of conclusions does not depend on chance.
    """

    title: str
    rules: str
    stream: Callable[[int, int], Tables]
    certain: bool


def _words(prefix: str, numbers: Ints) -> Coded:
    distinct, codes = np.unique(numbers, return_inverse=True)
    return Coded(codes.astype(np.int32), tuple(f"{prefix}{number}" for number in distinct.tolist()))


def _pairs(triples: int, points: int) -> Tables:
    """Pairs that never come again."""
    number = np.arange(triples * points)
    return {("p", 2): FactTable("p", "event", number // triples, (
        _words("http://example.org/stream/subject#s", number), _words("http://example.org/stream/object#o", number)))}


def _chain(triples: int, points: int) -> Tables:
    """Pairs that make one long chain; every second one is told twice."""
    number = np.arange(triples * points)
    first = np.stack([number, number + 1], axis=1).ravel()
    return {("p", 2): FactTable("p", "event", np.repeat(number // triples, 2), tuple(
        _words("http://example.org/stream/class#c", of) for of in (first, first + 1)))}


def _drawn(name: str, triples: int, points: int, most: int) -> Tables:
    values = np.random.default_rng(triples + points).integers(0, most + 1, triples * points)
    return {(name, 1): FactTable(name, "event", np.repeat(np.arange(points), triples), (values,))}


LASER = {
    "evalDiamond": Experiment("diamond", "q(X,Y) :- p(X,Y) [{n}].", _pairs, True),
    "evalBox1": Experiment("box", "z(X) :- p(X) always [{n}].",
                           lambda triples, points: _drawn("p", triples, points, triples // 3 + 1), False),
    "evalSingleJoin": Experiment("join", "q(X,Z) :- p(X,Y) [{n}], p(Y,Z) [{n}].", _chain, True),
    "evalCoolingSystem": Experiment("cooling", _COOLING,
                                    lambda triples, points: _drawn("temp", triples, points, 200), False),
    # the rules of this one are not recorded; its conclusions are as many as those of the join, of one of the rules
    "evalMultipleRules": Experiment("ten joins", "\n".join(f"q{i}(X,Z) :- p(X,Y) [{{n}}], p(Y,Z) [{{n}}]."
                                                           for i in range(10)), _chain, False),
}

# experiment, window, triples per time-point, time-points, CPU seconds without making the stream, conclusions: recorded,
# and used where the file is not at hand
LASER_RECORDED = [
    ("evalDiamond", 1, 200, 200, 0.183, 79800), ("evalBox1", 1, 200, 200, 0.109, 12229),
    ("evalSingleJoin", 1, 200, 100, 0.798, 39800), ("evalCoolingSystem", 1, 200, 100, 0.275, 26137),
    ("evalDiamond", 20, 200, 200, 1.039, 798000), ("evalBox1", 20, 200, 200, 0.337, 4864),
]
# Ticker's instance, window, time-points, milliseconds per time-point
TICKER_RECORDED = [
    ("cachingTime", 20, 1000, 3.366), ("cachingTuple", 20, 1000, 3.055), ("cachingTime", 60, 1000, 2.384),
    ("cachingTuple", 60, 1000, 2.956), ("cachingTime", 200, 1000, 3.293), ("cachingTuple", 200, 1000, 4.233),
    ("content1", 20, 300, 20.468), ("content2", 20, 300, 32.332), ("content1", 60, 1000, 24.456),
    ("content2", 60, 1000, 36.301),
]


@dataclass(frozen=True)
class Readings:
    """Speeds of roads, in minutes since the first."""

    told: str
    time: Ints
    road: Ints
    speed: Ints


def readings(count: int) -> Readings:
    """Readings of Aarhus in their order, where they are at hand and enough; otherwise generated ones like them."""
    path = shared_data(TRAFFIC)
    if path is not None and pyarrow.parquet.ParquetFile(path).metadata.num_rows >= count:
        table = pyarrow.parquet.read_table(path, columns=["time", "sensor", "speed"]).slice(0, count)
        time, road, speed = (table[name].to_numpy().astype(np.int64) for name in ("time", "sensor", "speed"))
        return Readings("readings of Aarhus", (time - time.min()) // MINUTE, road, speed)
    rng = np.random.default_rng(7)
    roads = 449
    number = np.arange(count)
    usual = rng.uniform(25, 90, roads)[number % roads]
    speed = np.rint(usual * (1 - 0.6 * np.exp(-(((number // roads % 288 - 100) / 12.0) ** 2))))
    return Readings("generated readings", number // roads * 5, 158_000 + number % roads, speed.astype(np.int64))
