"""Makes a picture of a report as a browser shows it: `python -m tests.report.screenshot report.html report.png`.

Where Debian's packages can be reached it uses the font Inter, so that the picture is the same everywhere.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tests.report.browser import FETCHED, Page, browser, unpack

FONTS = FETCHED.with_name("fonts")


def fonts() -> Path | None:
    """The folder with fonts, fetched if need be; None where it cannot be had."""
    if not FONTS.is_dir() and unpack(["fonts-inter"], FONTS):
        return None
    return FONTS / "usr" / "share"


def shoot(page: Page, report: Path, picture: Path, time: float, script: str = "") -> None:
    """Open a report, move the cursor to a share of its period, and write what is seen."""
    page.open(report)
    page.wait_for("document.documentElement.dataset.ready")
    page.run(f"""(() => {{ const e = document.getElementById("cursor"); e.value = {time * 1000};
        e.dispatchEvent(new Event("input", {{bubbles: true}})); {script} }})()""")
    page.run("new Promise(done => setTimeout(done, 300))")
    page.screenshot(picture)


def main(arguments: list[str] | None = None) -> int:
    """Write the picture."""
    parser = argparse.ArgumentParser(prog="python -m tests.report.screenshot", description=__doc__)
    parser.add_argument("report", type=Path)
    parser.add_argument("picture", type=Path)
    parser.add_argument("--width", type=int, default=1440)
    parser.add_argument("--height", type=int, default=900)
    parser.add_argument("--scale", type=float, default=1.5, help="pixels of the picture per pixel of the page")
    parser.add_argument("--time", type=float, default=0.5, help="where in its period the cursor is, from 0 to 1")
    parser.add_argument("--dark", action="store_true")
    parser.add_argument("--script", default="", help="JavaScript to run before, such as a click")
    options = parser.parse_args(arguments)
    with browser(fonts()) as running:
        page = running.page()
        page.resize(options.width, options.height, options.scale)
        page.prefer("dark" if options.dark else "light")
        shoot(page, options.report, options.picture, options.time, options.script)
    print(f"{options.picture}: {options.picture.stat().st_size} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
