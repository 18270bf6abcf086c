"""What a user waits for: a later start, the demonstration, a report in a browser, the way from nothing to a report.

And whether what is staged in generated traffic is found: recall and precision, the worst situation of each seed. Times
are those of the clock on the wall, with whatever else the machine does. The browser is Chromium without a window; where
it cannot be had, its claims are left out. The way from nothing to a report (`--only newcomer`) is that of the scripted
test: an empty clone, an empty environment, the commands of the README and of the tutorial. It fetches all packages.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

from _claims import Claim, at_most, claim, show
from eventide.applications.maritime.pipeline import facts, program
from eventide.applications.maritime.scoring import score
from eventide.applications.maritime.staging import HORIZON
from eventide.applications.maritime.traffic import EPOCH, PER_REGION, traffic
from eventide.report import write_report
from eventide.signals.ais import read_positions
from eventide.signals.area_files import read_areas
from eventide.signals.cleaning import clean

ROOT = Path(__file__).resolve().parents[1]
FOUND = 0.95


def starting(options: argparse.Namespace) -> Iterator[Claim]:
    """What the wrapper adds to the start of the command, once the environment is there."""
    wrapped, plain = ([_seconds([*call, "--version"]) for _ in range(3)]
                      for call in ([str(ROOT / "eventide")], [sys.executable, "-m", "eventide"]))
    yield at_most("set-up of a later start", max(min(wrapped) - min(plain), 0.0), "s", 3)


def demo(options: argparse.Namespace) -> Iterator[Claim]:
    """The demonstration from end to end, in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        taken = _seconds([sys.executable, "-m", "eventide", "-q", "demo", "maritime", "--out", folder])
    yield at_most("eventide demo maritime, once everything is set up", taken, "s", 60)


def staged(options: argparse.Namespace) -> Iterator[Claim]:
    """The lowest recall and precision of any staged situation, for each seed."""
    for seed in range(options.seeds):
        script = traffic(options.vessels, seed)
        with tempfile.TemporaryDirectory() as folder:
            paths = script.write(Path(folder))
            areas = read_areas(paths["areas"])
            positions = clean(read_positions(paths["positions"], preset="ais").positions).positions
        found = program(script.vessels, areas).run(facts(positions, areas)).to_arrow()
        scores = score(found, script.truth(), EPOCH + HORIZON)
        for name in ("recall", "precision"):
            value, fluent = min((float(getattr(each, name)), each.fluent) for each in scores)
            yield claim(f"traffic of {options.vessels} vessels, seed {seed}: the lowest {name} of "
                        f"{len(scores)} situations", round(value, 3), "share", FOUND, f"of {fluent}",
                        round(value / FOUND, 2), value >= FOUND)


def report(options: argparse.Namespace) -> Iterator[Claim]:
    """A report of many intervals: written, and opened until it answers."""
    from tests.report.browser import browser, find_browser

    size = options.intervals
    starts = np.sort(np.random.default_rng(1).integers(0, 86_400, size))
    result = pa.table({"fluent": [f"situation{i % 20}" for i in range(size)],
                       "args": [f"vessel{i % 500}" for i in range(size)], "value": ["true"] * size, "start": starts,
                       "end": starts + 600})
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.html"
        begin = time.perf_counter()
        write_report(path, result)
        yield claim(f"a report of {size:,} intervals, written", round(time.perf_counter() - begin, 2), "s", None, "",
                    None, None)
        try:
            find_browser()
        except BaseException as reason:  # pytest's way to skip is no Exception
            if type(reason).__name__ != "Skipped":
                raise
            return
        with browser() as running:
            page = running.page()
            begin = time.perf_counter()
            page.open(path)
            page.wait_for("document.documentElement.dataset.ready")
            yield at_most(f"a report of {size:,} intervals, opened in Chromium", time.perf_counter() - begin, "s", 2)


def newcomer(options: argparse.Namespace) -> Iterator[Claim]:
    """From an empty clone and an empty environment to a report on tables of one's own."""
    name = "from an empty clone to a report on one's own tables, all packages fetched"
    try:
        taken = _seconds([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider",
                          "tests/docs/test_tutorial.py::test_from_an_empty_folder_to_a_report"], cwd=ROOT,
                         env={**os.environ, "EVENTIDE_PROFILE": "large"})
    except RuntimeError as error:  # no registry, perhaps: the other claims stay
        yield claim(name, 0, "minutes", 10, str(error).strip().rpartition("\n")[2], None, False)
    else:
        yield at_most(name, taken / 60, "minutes", 10)


def _seconds(command: Sequence[str], **more: object) -> float:
    begin = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=False, **more)  # type: ignore[call-overload]
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} failed:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return time.perf_counter() - begin


GROUPS = {"starting": starting, "demo": demo, "staged": staged, "report": report, "newcomer": newcomer}


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--only", choices=tuple(GROUPS), action="append", help="some of the groups")
    parser.add_argument("--seeds", type=int, default=5, help="how many seeds of traffic (5)")
    parser.add_argument("--vessels", type=int, default=PER_REGION, help=f"vessels of the traffic ({PER_REGION})")
    parser.add_argument("--intervals", type=int, default=10_000, help="intervals of the report (10,000)")
    options = parser.parse_args(argv)
    sys.path.insert(0, str(ROOT))  # the browser of the tests
    return show(([each] for name in options.only or GROUPS for each in GROUPS[name](options)), as_json=options.json)


if __name__ == "__main__":
    raise SystemExit(main())
