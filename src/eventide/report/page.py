"""One self-contained page of results: timeline, map, tables, run statistics, warnings. It opens offline, anywhere."""

from __future__ import annotations

import base64
import hashlib
import os
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from html import escape
from pathlib import Path

import numpy as np

from eventide.formats.results import whole_file
from eventide.report.land import box_around, land_shapes
from eventide.report.payload import Columns, add_lines, add_situations, add_tracks, areas_json, safe_json
from eventide.report.places import Area, Tracks, read_areas, read_tracks, read_vessels
from eventide.report.sections import (
    Shown,
    entity_table,
    facts_of_run,
    fluent_table,
    lead,
    number,
    proof_list,
    warning_list,
)
from eventide.report.situations import Situations, read_situations
from eventide.report.times import Shown as ShownTimes
from eventide.report.times import unit_of

ASSETS = Path(__file__).parent / "assets"
SCRIPTS = ("data.js", "times.js", "view.js", "proofs.js", "timeline.js", "map.js", "tables.js", "main.js")
Proofs = Mapping[tuple[str, str, str, int], str]
"""Why intervals hold, as HTML, by fluent, arguments, value and start."""
_SLOT = re.compile(r"\{\{(\w+)\}\}")


def write_report(
    path: str | os.PathLike[str],
    results: object,
    *,
    positions: object | None = None,
    vessels: object | None = None,
    areas: object | None = None,
    statistics: Mapping[str, object] | None = None,
    warnings: Sequence[object] = (),
    title: str = "Recognised situations",
    times: ShownTimes = "auto",
    coast: bool = True,
    fluents: Sequence[str] = (),
    proofs: Proofs | None = None,
) -> int:
    """Write one HTML file about results, and return how many intervals it shows.

    `results` are paths, tables or what a run gave back; one, or several in a list. `positions` is a table or file with
    vessel, time, lon, lat, and makes the map; `vessels` gives names and types, by mapping, table or file; `areas` is
    GeoJSON, or pairs of names and geometries. `statistics` are named figures of the run, a table where a figure is a
    list of mappings; `warnings` are texts or diagnostics about the data. `proofs` are opened by a click on an interval.

    >>> import tempfile, pyarrow as pa
    >>> table = pa.table({"fluent": ["f"], "args": ["a"], "value": ["true"], "start": [6], "end": [9]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_report(Path(folder) / "report.html", table, title="One interval")
    1
    """
    found = read_situations(results, fluents)
    tracks = None if positions is None else read_tracks(positions, found.origin)
    shapes = [] if areas is None else read_areas(areas)
    names = {} if vessels is None else read_vessels(vessels)
    if tracks is not None:
        warnings = [*warnings, *(f"{number(count)} position{'' if count == 1 else 's'} not on the map: {reason}"
                                 for reason, count in tracks.left_out.items())]
    text = page(found, tracks if tracks is not None and len(tracks) else None, names, shapes, statistics or {},
                warnings, title, times, coast, proofs or {})
    with whole_file(Path(path)) as out:
        out.write(text.encode())
    return len(found)


def page(found: Situations, tracks: Tracks | None, names: Mapping[str, tuple[str, str]], areas: list[Area],
         statistics: Mapping[str, object], warnings: Sequence[object], title: str, times: ShownTimes,
         coast: bool, proofs: Proofs) -> str:
    """The text of the page."""
    first, last = found.known()
    if tracks is not None:
        first, last = min(first, float(tracks.time.min())), max(last, float(tracks.time.max()))
    unit = unit_of(first + found.origin, last + found.origin, times)
    shown = Shown(found, first, last, unit, names, tracks.vessels if tracks else ())
    columns = Columns()
    add_situations(columns, found)
    if tracks is not None:
        _add_map(columns, tracks, areas, coast)
    used = {part for args in found.args.names for part in args.split("|")} | set(tracks.vessels if tracks else ())
    facts = {
        "unit": unit, "origin": str(found.origin), "first": first, "last": last, "columns": columns.places,
        "fluents": found.fluent.names, "args": found.args.names, "values": found.value.names,
        "vessels": tracks.vessels if tracks else [], "trackOrigin": min(0.0, first) if tracks else 0,
        "areas": areas_json(areas) if tracks else [],
        "names": {vessel: pair for vessel, pair in names.items() if vessel in used and any(pair)},
        "proofs": {"\n".join((*key[:3], str(key[3] - found.origin))): place for place, key in enumerate(proofs)},
    }
    style = _asset("theme.css") + _asset("report.css") + (_asset("proof.css") if proofs else "")
    script = "(() => {\n'use strict';\n" + "\n".join(_asset(name) for name in SCRIPTS) + "})();"
    policy = f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; base-uri 'none'; " \
        "form-action 'none'"
    return _filled(_asset("page.html"), {
        "policy": policy, "title": escape(title), "style": style, "script": script,
        "lead": lead(shown, len(tracks) if tracks else 0), "alert": _alert(warnings),
        "panels": "panels" if tracks is not None else "panels alone",
        "map": _asset("map.html") if tracks is not None else "",
        "proofs": proof_list(proofs), "fluents": fluent_table(shown), "entities": entity_table(shown),
        "statistics": facts_of_run(statistics), "warnings": warning_list(warnings), "facts": safe_json(facts),
        "columns": columns.text(),
    })


def _add_map(columns: Columns, tracks: Tracks, areas: list[Area], coast: bool) -> None:
    add_tracks(columns, tracks)
    box = box_around(tracks.lon, tracks.lat)
    add_lines(columns, "land", land_shapes(box) if coast else [])
    columns.add("box", np.array(box))


def _alert(warnings: Sequence[object]) -> str:
    if not warnings:
        return ""
    many = f"{number(len(warnings))} warning{'' if len(warnings) == 1 else 's'} about the data"
    return f' · <a class="alert" href="#quality">{many}</a>'


@lru_cache
def _asset(name: str) -> str:
    return (ASSETS / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _filled(template: str, slots: Mapping[str, str]) -> str:
    """The template with its slots filled, once: what a slot holds is not looked at again."""
    return _SLOT.sub(lambda found: slots[found[1]], template)
