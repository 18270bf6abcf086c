"""The site in a real browser, opened from the disk: the search finds, the theme turns, no network is asked."""

from __future__ import annotations

from pathlib import Path

from tests.docs.generated import ROOT
from tests.report.browser import browser

from eventide.site import build


def test_search_and_theme(tmp_path: Path) -> None:
    build(ROOT, tmp_path / "site")
    with browser() as running:
        page = running.page()
        page.open(tmp_path / "site" / "tutorial" / "first-recognition.html")
        found = page.run("""(() => {
            const box = document.getElementById("search");
            box.value = "union_all";
            box.dispatchEvent(new Event("input"));
            return [...document.querySelectorAll("#found a")].map(link => link.href);
        })()""")
        assert any("reference/language.html#" in link for link in found)
        assert page.run("""(() => {
            const box = document.getElementById("search");
            box.value = "(no such [word";
            box.dispatchEvent(new Event("input"));
            return document.getElementById("found").textContent;
        })()""") == "Nothing found."
        assert page.run("""(() => {
            const box = document.getElementById("search");
            box.value = "late data";
            box.dispatchEvent(new Event("input"));
            return document.querySelector("#found a").firstChild.textContent;
        })()""") == "How to handle late data"
        page.run('document.getElementById("theme").click()')
        assert page.run("document.documentElement.dataset.theme") == "light"
        page.open(tmp_path / "site" / "explanation" / "learning.html")
        assert page.run("""(() => {
            const box = document.querySelector(".menu [aria-current]").getBoundingClientRect();
            return box.top > 0 && box.bottom < innerHeight;
        })()"""), "the menu is not where the page is"
        assert page.problems() == []
        assert [url for url in page.requests() if not url.startswith("file:")] == []
