"""Six hours of traffic in a sea, scripted scene by scene: reports as receivers hear them, and what is true of them.

    >>> found = traffic(40, seed=1)
    >>> found.vessels.num_rows, sorted({staged.fluent for staged in found.situations})[:3]
    (40, ['anchoredFarFromPorts', 'anchoredNearPorts', 'anchoredOrMoored'])
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv

from eventide.applications.maritime import scenes_coast as coast
from eventide.applications.maritime import scenes_port as port
from eventide.applications.maritime import scenes_sea as sea
from eventide.applications.maritime.region import Region
from eventide.applications.maritime.reporting import COLUMNS, faulty, reports
from eventide.applications.maritime.staging import HORIZON, Stage, Staged

EPOCH = 1_749_880_800
"""Saturday, 14 June 2025, 6:00 UTC: when the traffic begins."""
PER_REGION = 300
FILES = {"positions": "positions.csv", "vessels": "vessels.csv", "areas": "areas.geojson", "truth": "truth.csv"}


@dataclass(frozen=True)
class Scene:
    """A scene, how many vessels it has, and how often it is staged in a full region."""

    play: Callable[[Stage, int], None]
    vessels: int
    times: int


SCENES = (
    Scene(sea.lane, 1, 47), Scene(sea.dark, 1, 10), Scene(port.moored, 1, 30), Scene(port.silent_berth, 1, 4),
    Scene(port.anchored, 1, 20), Scene(port.ferry, 1, 10), Scene(sea.trawler, 1, 34), Scene(port.trip, 1, 12),
    Scene(sea.tow, 2, 8), Scene(port.pilot, 3, 5), Scene(port.rescue, 1, 6), Scene(sea.drifter, 1, 6),
    Scene(sea.loiterer, 1, 8), Scene(sea.transfer, 2, 7), Scene(sea.dark_transfer, 2, 5), Scene(coast.speeder, 1, 10),
    Scene(coast.reckless, 1, 4), Scene(sea.emergency, 2, 4), Scene(port.reserve, 1, 6), Scene(coast.cruiser, 1, 22),
    Scene(sea.overtaking, 2, 4),
)
STRIPS = (sea.tow, sea.drifter, sea.loiterer, sea.transfer, sea.dark_transfer, sea.emergency, sea.overtaking)
SHORES = (coast.speeder, coast.reckless)


@dataclass(frozen=True)
class Traffic:
    """Generated traffic: `positions` in the layout of AIS files, `vessels`, areas as GeoJSON, staged situations.

    Times of reports and situations are seconds since 1970.
    """

    positions: pa.Table
    vessels: pa.Table
    areas: dict[str, Any]
    situations: list[Staged]

    def truth(self) -> pa.Table:
        """The staged situations in the columns of a result, with their tolerance."""
        rows = sorted(self.situations, key=lambda staged: (staged.fluent, staged.args, staged.start))
        return pa.table({
            "fluent": [staged.fluent for staged in rows],
            "args": ["|".join(map(str, staged.args)) for staged in rows],
            "value": [staged.value for staged in rows],
            "start": pa.array([staged.start for staged in rows], pa.int64()),
            "end": pa.array([staged.end for staged in rows], pa.int64()),
            "tolerance": pa.array([staged.tolerance for staged in rows], pa.int64()),
        })

    def write(self, folder: str | Path) -> dict[str, Path]:
        """Write everything to a folder; the paths by name."""
        paths = {name: Path(folder) / file for name, file in FILES.items()}
        for name, table in (("positions", self.positions), ("vessels", self.vessels), ("truth", self.truth())):
            pyarrow.csv.write_csv(table, paths[name], pyarrow.csv.WriteOptions(quoting_style="needed"))
        paths["areas"].write_text(json.dumps(self.areas), encoding="utf-8")
        return paths


def traffic(vessels: int = PER_REGION, seed: int = 0) -> Traffic:
    """Traffic of so many vessels; each 300 have a sea of their own. The seed decides everything."""
    rng = np.random.default_rng(seed)
    serials = rng.permutation(100_000)[:vessels] if vessels <= 100_000 else rng.permutation(vessels)
    stages = []
    for first in range(0, vessels, PER_REGION):
        numbers = serials[first : first + PER_REGION].tolist()
        stage = Stage(Region(first // PER_REGION), rng, numbers)
        for scene, slot in programme(len(numbers)):
            scene.play(stage, slot)
        stages.append(stage)
    parts = [reports(vessel, stage.region, EPOCH, rng) for stage in stages for vessel in stage.vessels]
    rows = {name: np.concatenate([part[name] for part in parts]) for name in COLUMNS}
    wrong, heard = faulty(rows, rng)
    order = np.argsort(np.concatenate([rows["time"], heard]), kind="stable")
    rows = {name: np.concatenate([rows[name], wrong[name]]) for name in COLUMNS}
    cast = [vessel for stage in stages for vessel in stage.vessels]
    return Traffic(
        pa.table({name: rows[name][order] for name in COLUMNS}),
        pa.table({"vessel": [vessel.mmsi for vessel in cast], "type": [vessel.kind for vessel in cast],
                  "draught": [vessel.draught for vessel in cast], "name": [vessel.name for vessel in cast]}),
        {"type": "FeatureCollection", "features": [one for stage in stages for one in stage.region.features()]},
        [_dated(staged) for stage in stages for staged in stage.situations],
    )


def programme(vessels: int) -> Iterator[tuple[Scene, int]]:
    """The scenes for so many vessels with their slots, each as often as its share, mixed; at the end of small
    programmes, where no other scene fits, vessels on lanes."""
    turns = sorted((((number + 0.5) / scene.times, index) for index, scene in enumerate(SCENES)
                    for number in range(scene.times)))
    slots: Counter[str] = Counter()
    left = vessels
    for _, index in turns:
        scene = SCENES[index]
        if scene.vessels <= left:
            left -= scene.vessels
            yield scene, _slot(scene, slots)
    while left:
        left -= 1
        yield SCENES[0], _slot(SCENES[0], slots)


def _slot(scene: Scene, slots: Counter[str]) -> int:
    place = "strip" if scene.play in STRIPS else "shore" if scene.play in SHORES else scene.play.__name__
    slots[place] += 1
    return slots[place] - 1


def _dated(staged: Staged) -> Staged:
    end = None if staged.end is None or staged.end >= HORIZON else staged.end + EPOCH
    return Staged(staged.fluent, staged.args, staged.value, staged.start + EPOCH, end, staged.tolerance)
