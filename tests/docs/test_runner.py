"""The runner of snippets finds what is wrong: a page with one mistake in each kind of block."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.docs.snippets import run_page

RULES = "```prolog rules.ec\ninitiatedAt(f(X)=true, T) :- happensAt(e(X), T).\n```\n"
EVENTS = "```csv events.csv\ntime,event,who\n5,e,ann\n```\n"
SETUP = RULES + EVENTS


RUN = "```console\n$ eventide -q run rules.ec --events events.csv\n"
TABLE = "fluent,args,value,start,end\nf,ann,true,6,\n"
CONTINUED = ("```console\n$ eventide run rules.ec \\\n"
             "    --events events.csv -o out.csv\nread 1 fact of 1 kind in 9.99 s\n...\n")

PAGES = {
    "intervals": (SETUP + "```text\nf(ann)=true [6, inf)\n```", None),
    "other intervals": (SETUP + "```text\nf(ann)=true [5, inf)\n```", "[6, inf)"),
    "options of a run": (SETUP + "```text start=5\n```", None),
    "console": (f"{SETUP}{RUN}{TABLE}```", None),
    "console, other output": (f"{SETUP}{RUN}fluent\n```", "f,ann,true,6,"),
    "console, two lines, times and dots": (f"{SETUP}{CONTINUED}$ cat out.csv\n{TABLE}```", None),
    "console, unknown command": ("```console\n$ rm -r .\n```", "unknown command rm"),
    "python": ("```python\nprint(1)\n```\n\n```text\n1\n```", None),
    "python, other output": ("```python\nprint(1)\n```\n\n```text\n2\n```", "Got"),
    "python, output not shown": ("```python\nprint(1)\n```", "Got"),
    "doctest": ("```python\n>>> x = 1\n```\n```python\n>>> x\n1\n```", None),
    "doctest, other output": ("```python\n>>> 1 + 1\n3\n```", "Expected"),
    "rules": ("```prolog\ninitiatedAt(f(X)=true, T) :- happenAt(e(X), T).\n```", "did you mean 'happensAt'?"),
}


@pytest.mark.parametrize("name", PAGES)
def test_pages(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page, problem = PAGES[name]
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "page.md"
    file.write_text(page, encoding="utf-8")
    found = list(run_page(file, tmp_path))
    if problem is None:
        assert not found
    else:
        assert len(found) == 1
        assert problem in found[0]
