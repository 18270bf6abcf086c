"""Results and positions for the tests of reports: vessels that wander, with situations at random times."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

MIDNIGHT = 1_641_168_000  # 2022-01-03
HOURS = 6 * 3600
ONE = ("anchored", "drifting", "lowSpeed", "stopped", "trawling", "underWay")
TWO = ("rendezVous", "tugging")
Row = tuple[str, str, str, int, int | None]


@dataclass(frozen=True)
class Sample:
    """Rows of a result, and the positions and names that go with them."""

    rows: list[Row]
    positions: pa.Table
    names: dict[int, dict[str, str]] = field(default_factory=dict)

    @property
    def table(self) -> pa.Table:
        """The rows as a result."""
        return table_of(self.rows)


def table_of(rows: list[Row]) -> pa.Table:
    """Rows as a result."""
    columns = [list(column) for column in zip(*rows, strict=True)] if rows else [[]] * 5
    types = [pa.string(), pa.string(), pa.string(), pa.int64(), pa.int64()]
    return pa.table({name: pa.array(column, kind) for name, column, kind in
                     zip(("fluent", "args", "value", "start", "end"), columns, types, strict=True)})


def sample(vessels: int = 40, situations: int = 400, reports: int = 60, seed: int = 1) -> Sample:
    """Vessels off Brittany during six hours; no two intervals of the same situation touch."""
    random = np.random.default_rng(seed)
    ids = 227_000_000 + 137 * np.arange(vessels)
    rows: list[Row] = []
    free: dict[tuple[str, str], int] = {}
    for _ in range(situations):
        fluent = str(random.choice(ONE + TWO))
        who = random.choice(ids, 2 if fluent in TWO else 1, replace=False)
        args = "|".join(str(each) for each in who)
        start = max(MIDNIGHT + int(random.integers(0, HOURS // 2)), free.get((fluent, args), 0))
        end = start + 60 + int(random.gamma(2, 700))
        value = str(random.choice(["nearPort", "farFromPorts"])) if fluent == "stopped" else "true"
        if start < MIDNIGHT + HOURS:
            rows.append((fluent, args, value, start, None if end > MIDNIGHT + HOURS else end))
            free[fluent, args] = end + 30 if end <= MIDNIGHT + HOURS else 2**40
    return Sample(rows, _positions(random, ids, reports),
                  {int(each): {"name": f"Vessel {at}", "type": "tug"} for at, each in enumerate(ids)})


def _positions(random: np.random.Generator, ids: np.ndarray, reports: int) -> pa.Table:
    shape = (len(ids), reports)
    course = random.uniform(0, 2 * np.pi, (len(ids), 1)) + np.cumsum(random.normal(0, 0.1, shape), axis=1)
    step = random.uniform(0, 0.3 / reports, (len(ids), 1))
    lon = -5.3 + random.normal(0, 0.25, (len(ids), 1)) + np.cumsum(1.4 * step * np.cos(course), axis=1)
    lat = 48.2 + random.normal(0, 0.2, (len(ids), 1)) + np.cumsum(step * np.sin(course), axis=1)
    times = np.tile(MIDNIGHT + np.linspace(0, HOURS, reports).astype(np.int64), (len(ids), 1))
    return pa.table({"vessel": np.repeat(ids, reports), "time": times.ravel(), "lon": lon.ravel(), "lat": lat.ravel()})
