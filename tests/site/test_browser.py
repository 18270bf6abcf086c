"""The site in a real browser, opened from the disk: the search finds, the theme turns, no network is asked."""

from __future__ import annotations

from pathlib import Path

import pytest
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
        for words, first in {"debug": "How to find mistakes in rules", "kafka": "How to run a stream"}.items():
            assert page.run(f"""(() => {{
                const box = document.getElementById("search");
                box.value = {words!r};
                box.dispatchEvent(new Event("input"));
                return document.querySelector("#found a").firstChild.textContent;
            }})()""").startswith(first)
        page.run('document.getElementById("theme").click()')
        assert page.run("document.documentElement.dataset.theme") == "light"
        page.open(tmp_path / "site" / "explanation" / "learning.html")
        assert page.run("""(() => {
            const box = document.querySelector(".menu [aria-current]").getBoundingClientRect();
            return box.top > 0 && box.bottom < innerHeight;
        })()"""), "the menu is not where the page is"
        assert page.problems() == []
        assert [url for url in page.requests() if not url.startswith("file:")] == []


COPIED = {
    "```console\n$ eventide learn a.modes \\\n    -o a.ec\nread 3 facts\n...\n$ cat a.ec\nrules\n```":
        "eventide learn a.modes \\\n    -o a.ec\ncat a.ec",
    "```python\n>>> for x in 1, 2:\n...     x\n...\n1\n2\n>>> x\n2\n```": "for x in 1, 2:\n    x\n\nx",
    "```csv\na,b\n1,2\n```": "a,b\n1,2\n",
}


def test_what_is_typed_can_be_copied(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "README.md").write_text("# Start\n\n" + "\n\n".join(COPIED))
    (tmp_path / "CHANGELOG.md").write_text("# Changes\n")
    build(tmp_path, tmp_path / "site")
    with browser() as running:
        page = running.page()
        page.open(tmp_path / "site" / "index.html")
        assert page.run("""(() => {
            const copied = [];
            Object.defineProperty(navigator, "clipboard", {value: {writeText: async (text) => { copied.push(text); }}});
            document.querySelectorAll("pre button").forEach((button) => button.click());
            return copied;
        })()""") == list(COPIED.values())


@pytest.mark.parametrize("width", [390, 1440])
def test_pages_fit_the_window(tmp_path: Path, width: int) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "README.md").write_text(
        "# Start\n\n| option | meaning |\n|---|---|\n| `--a-long-option` | `one_word_" + "x" * 200 + "` |\n\n"
        f"`{'y' * 300}`\n\n```text\n{'z' * 300}\n```\n")
    (tmp_path / "CHANGELOG.md").write_text("# Changes\n")
    build(tmp_path, tmp_path / "site")
    with browser() as running:
        page = running.page()
        page.resize(width, 800)
        page.open(tmp_path / "site" / "index.html")
        assert page.run("document.documentElement.scrollWidth") == width
        assert page.run("document.querySelector('td code').getClientRects().length") == 1, "an option is broken apart"
