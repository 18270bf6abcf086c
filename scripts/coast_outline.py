"""Makes the coast outline that ships with Eventide from Natural Earth's land polygons, given as TopoJSON.

`python scripts/coast_outline.py land-10m.json`: the polygons are simplified, small islands left out, and what remains
is quantised. How the file is laid out is said in `eventide.signals.coast`, which reads it.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import shapely

from eventide.signals.coast import FILE, packed_rings

TOLERANCE = 0.01
"""How far a simplified line may be from the original, in degrees."""
SMALLEST = 3e-4
"""The area of the smallest island that is kept, in square degrees."""


def polygons(topology: dict[str, Any]) -> list[shapely.Polygon]:
    """The land polygons of a topology; its arcs are deltas of whole numbers."""
    scale, origin = (np.array(topology["transform"][name]) for name in ("scale", "translate"))
    arcs = [np.cumsum(np.array(arc), axis=0) * scale + origin for arc in topology["arcs"]]

    def ring(numbers: list[int]) -> Any:
        lines = [arcs[number] if number >= 0 else arcs[~number][::-1] for number in numbers]
        return np.concatenate([lines[0], *(line[1:] for line in lines[1:])])

    found = []
    for geometry in topology["objects"]["land"]["geometries"]:
        for rings in geometry["arcs"] if geometry["type"] == "MultiPolygon" else [geometry["arcs"]]:
            found.append(shapely.Polygon(ring(rings[0]), [ring(numbers) for numbers in rings[1:]]))
    return found


def main(path: str) -> int:
    """Write the outline."""
    land = np.array(polygons(json.loads(Path(path).read_text(encoding="utf-8"))), object)
    simple = shapely.simplify(land, TOLERANCE)
    rings = shapely.get_rings(simple[shapely.area(simple) >= SMALLEST])
    FILE.write_bytes(packed_rings([shapely.get_coordinates(ring) for ring in rings]))
    print(f"{FILE.name}: {FILE.stat().st_size:,} bytes")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1]))
