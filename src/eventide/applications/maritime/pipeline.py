"""From reports of positions to situations at sea: cleaning, critical points, areas and proximity, recognition.

`facts` and `situations` are the way on one machine; the demonstration goes the same way on Spark.
"""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from eventide.program import Program, load
from eventide.signals.areas import Areas, area_events
from eventide.signals.critical import critical_points
from eventide.signals.proximity import proximity

HERE = Path(__file__).parent
RULES = HERE.parent / "maritime_allen" / "rules.ec"
TYPE_SPEEDS = HERE / "type_speeds.csv"
UNUSED = ("coord",)


def program(vessels: pa.Table, areas: Areas) -> Program:
    """The rules of all situations at sea, with what is known of vessels, types of vessels and areas."""
    return load(RULES, background=[background(vessels, areas)])


def background(vessels: pa.Table, areas: Areas) -> dict[str, pa.Table]:
    """The relations of the rules: `vessel`, `typeSpeed`, `areaType`. An unknown draught is 0: no rule uses it."""
    draught = vessels["draught"].cast(pa.float64())
    known = pc.if_else(pc.is_null(draught, nan_is_null=True), 0.0, draught)
    described = {"vessel": vessels["vessel"], "type": vessels["type"], "draught": known}
    return {"vessel": pa.table(described), "typeSpeed": pyarrow.csv.read_csv(TYPE_SPEEDS), "areaType": areas.table()}


def facts(positions: pa.Table, areas: Areas) -> dict[str, pa.Table]:
    """The facts of cleaned positions, by name."""
    found = {**critical_points(positions), **area_events(positions, areas), "proximity": proximity(positions)}
    return {name: table for name, table in found.items() if name not in UNUSED}
