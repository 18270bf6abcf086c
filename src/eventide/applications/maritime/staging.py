"""What a script promises: the vessels of a region, their tracks, and the situations that are staged with them.

A situation is told by the scene that stages it. What follows from a vessel's own script alone (silent, at rest, under
way, moored) is told here, for all vessels alike. Nothing of it looks at rules or at reported positions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from eventide.applications.maritime.region import Region
from eventide.applications.maritime.tracks import Place, Span, Track, joined, without

HORIZON = 6 * 3600
TOLERANCE, AT_REST = 200, 300
"""How late an end may show, in seconds: at rest, reports are three minutes apart and may be lost."""
MOORED = 1800
SHORT = 200
COUNTRIES = (219, 211, 244, 257, 265, 235, 230, 276)
NAMES = np.array(["ALMA", "BORA", "CLARA", "DORIS", "ELLA", "FREJA", "GERDA", "HELGA", "INGA", "JUNO", "KAREN", "LUNA",
                  "MARIE", "NORA", "OLGA", "PETRA", "RAN", "SIGNE", "TOVE", "URD", "VEGA", "WILMA", "YRSA", "ZETA"])


@dataclass(frozen=True)
class Staged:
    """A staged situation: true for the vessels from `start` until before `end` (None: until the data end), give or
    take `tolerance` seconds at either end."""

    fluent: str
    args: tuple[int | str, ...]
    value: str
    start: int
    end: int | None
    tolerance: int = TOLERANCE


@dataclass(frozen=True)
class Vessel:
    """One vessel: who it is and where it goes. `reporting` is its class of AIS, A or B."""

    mmsi: int
    kind: str
    name: str
    reporting: str
    draught: float
    track: Track
    spoofed: bool = False


@dataclass
class Stage:
    """The vessels and situations of one region, as the scenes add them."""

    region: Region
    rng: np.random.Generator
    numbers: Sequence[int]
    vessels: list[Vessel] = field(default_factory=list)
    situations: list[Staged] = field(default_factory=list)
    berths: Counter[int] = field(default_factory=Counter)

    def between(self, low: float, high: float) -> float:
        """A number between the two."""
        return float(self.rng.uniform(low, high))

    def moment(self, low: float, high: float) -> int:
        """A whole number between the two."""
        return int(self.rng.integers(int(low), int(high) + 1))

    def pick(self, *words: str) -> str:
        """One of the words."""
        return words[int(self.rng.integers(len(words)))]

    def berth(self, port: int) -> Place:
        """A free place at the quay of a port."""
        number = self.berths[port]
        self.berths[port] += 1
        x, y = self.region.port(port)
        return x - 0.15 - 0.2 * (number // 25), y - 1.5 + 0.12 * (number % 25)

    def vessel(self, kind: str, track: Track, reporting: str = "A", *, spoofed: bool = False) -> int:
        """Add a vessel and tell what its script says; its number."""
        serial = self.numbers[len(self.vessels)]
        mmsi = COUNTRIES[serial % len(COUNTRIES)] * 1_000_000 + 100_000 + serial
        name = f"{NAMES[int(self.rng.integers(NAMES.size))]} {serial % 1000}"
        draught = round(self.between(*((1.0, 4.0) if reporting == "B" else (3.5, 12.0))), 1)
        if track.now < HORIZON:
            raise AssertionError(f"the script of a {kind} ends at {track.now}")
        self.vessels.append(Vessel(mmsi, kind, name, reporting, draught, track, spoofed))
        self._tell_own(mmsi, track)
        return mmsi

    def tell(self, fluent: str, vessels: int | tuple[int, int], span: Span, value: str = "true", *,
             also: str | None = None, tolerance: int = TOLERANCE) -> None:
        """Add a situation of one vessel or of a pair (in order of their numbers); `also` is a further argument."""
        args: tuple[int | str, ...] = tuple(sorted(vessels)) if isinstance(vessels, tuple) else (vessels,)
        start, end = max(span[0], 0), span[1] if span[1] < HORIZON else None
        if start < HORIZON:
            self.situations.append(Staged(fluent, args + ((also,) if also else ()), value, start, end, tolerance))

    def inside(self, track: Track, kind: str) -> list[Span]:
        """When the scripted way leads through areas of a kind, to the second."""
        import shapely

        time = np.arange(min(track.now, HORIZON) + 1)
        places = track.at(time.astype(float))
        held = np.zeros(time.size, bool)
        for other, corners in self.region.areas.values():
            if other == kind:
                held |= shapely.contains_xy(shapely.Polygon(corners), places[:, 0], places[:, 1])
        return _runs(held)

    def _tell_own(self, mmsi: int, track: Track) -> None:
        for span in track.silences:
            self.tell("gap", mmsi, span, self._where(track, span))
        for span in track.moving():
            if span[1] - span[0] > SHORT:
                self.tell("underWay", mmsi, span)
        for whole in rests(track):
            for span in without([whole], track.silences):
                where = self._where(track, span)
                self.tell("stopped", mmsi, span, where, tolerance=AT_REST)
                if where == "nearPorts" and min(span[1], HORIZON) - span[0] > MOORED:
                    self.tell("anchoredOrMoored", mmsi, span, tolerance=AT_REST)
                    self.tell("anchoredNearPorts", mmsi, span, tolerance=AT_REST)

    def _where(self, track: Track, span: Span) -> str:
        return "farFromPorts" if self.region.port_of(track.where(span[0])) is None else "nearPorts"


def rests(track: Track) -> list[Span]:
    """When the vessel stands still."""
    legs = zip(track.times[:-1], track.times[1:], track.places[:-1], track.places[1:], strict=True)
    return joined([(start, end) for start, end, here, there in legs if here == there])


def _runs(held: npt.NDArray[np.bool_]) -> list[Span]:
    edges = np.flatnonzero(np.diff(np.concatenate([[0], held.astype(np.int8), [0]])))
    return [(int(start), int(end)) for start, end in zip(edges[::2], edges[1::2], strict=True)]
