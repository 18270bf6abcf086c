"""From files of positions to a folder of facts: read, cleaned, reduced to events, written. The steps live beside it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from eventide.formats.problems import BadRows, input_error
from eventide.formats.results import whole_file
from eventide.signals.ais import joined, read_positions
from eventide.signals.area_files import read_areas
from eventide.signals.areas import Areas, area_events
from eventide.signals.cleaning import Cleaned, Cleaning, clean
from eventide.signals.critical import Thresholds, critical_points
from eventide.signals.proximity import Nearness, proximity
from eventide.syntax.diagnostics import Diagnostic

FACTS = "facts"


@dataclass(frozen=True, slots=True)
class Made:
    """What came of files of positions: numbers by table, rejected reports by reason, and what was wrong with rows."""

    read: int
    vessels: int
    facts: dict[str, int]
    rejected: dict[str, int]
    unknown: dict[str, int]
    layouts: dict[str, str]
    problems: tuple[Diagnostic, ...]


def make_facts(
    paths: Sequence[str], folder: Path, *, preset: str | None = None, mapping: str | os.PathLike[str] | None = None,
    cleaning: Cleaning | None = None, thresholds: Thresholds | None = None, areas: Sequence[str] = (),
    nearness: Nearness | None = None, bad_rows: BadRows = "fail", step: Callable[[int, int], None] = lambda d, n: None,
) -> Made:
    """Write the facts of positions to `folder/facts`, one table per event, by time.

    Beside it are `positions.parquet`, `rejected.parquet`, `vessels.parquet`, and `areas.parquet` where areas are given.
    `step` is told how many of how many parts of the work are done.
    """
    settings = thresholds or Thresholds()
    total = len(paths) + 4
    known = sum((read_areas(path) for path in areas), Areas.of([]))
    parts = []
    for number, path in enumerate(paths, 1):
        parts.append(read_positions(path, preset=preset, mapping=mapping, bad_rows=bad_rows))
        step(number, total)
    reports = parts[0] if len(parts) == 1 else joined(parts)
    cleaned = clean(reports.positions, cleaning)
    step(len(paths) + 1, total)
    facts = critical_points(cleaned.positions, settings)
    step(len(paths) + 2, total)
    if len(known):
        facts |= area_events(cleaned.positions, known, gap=settings.gap)
    facts["proximity"] = proximity(cleaned.positions, nearness or Nearness(gap=settings.gap))
    step(len(paths) + 3, total)
    tables = {"positions": cleaned.positions, "rejected": cleaned.rejected, "vessels": reports.vessels}
    if len(known):
        tables["areas"] = known.table()
    _write(folder, tables)
    _write(folder / FACTS, {name: table.take(pc.sort_indices(table["time"])) for name, table in facts.items()})
    step(total, total)
    return Made(cleaned.read, pc.count_distinct(cleaned.positions["vessel"]).as_py(),
                {name: table.num_rows for name, table in facts.items()}, _rejected(cleaned, reports.bad),
                cleaned.unknown, reports.layouts, reports.problems)


def _rejected(cleaned: Cleaned, bad: int) -> dict[str, int]:
    return ({"unreadable": bad} if bad else {}) | cleaned.counts


def _write(folder: Path, tables: Mapping[str, pa.Table]) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise input_error("cannot-write", f"cannot make the folder: {error.strerror or error}", str(folder)) from error
    for name, table in tables.items():
        with whole_file(folder / f"{name}.parquet") as file:
            pq.write_table(table, file)
