"""The demonstration `activity`: the CAVIAR videos of a public space where they are at hand, else generated scenes."""

from __future__ import annotations

from pathlib import Path

from eventide.applications import APPLICATIONS
from eventide.applications.demonstration import Say, Show, Source, demonstrate, generated, shared_data

SHOWN = ("meeting", "moving", "fighting", "leaving_object", "greeting1", "greeting2")
VIDEOS = ("data/rtec/caviar/appearance.csv.gz", "data/rtec/caviar/movementB.csv.gz")


def run(out: Path, say: Say) -> None:
    """Leave the rules, the recognised intervals and a report in `out`; `say` tells each step."""
    activity = APPLICATIONS["activity"]
    source = _videos if all(map(shared_data, VIDEOS)) else generated(activity, 20, "scenes")
    demonstrate(Show(activity, source, "People in a public space", out, "person", SHOWN), say)


def _videos(out: Path) -> Source:
    files = [path for path in map(shared_data, VIDEOS) if path is not None]
    return Source(files, {}, "the CAVIAR videos: " + " and ".join(map(str, files)))
