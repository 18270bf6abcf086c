"""The documentation is true: every snippet runs, every page is found, generated tables are up to date."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.docs.generated import ROOT, filled, pages
from tests.docs.snippets import run_page
from tests.errors.catalogue import cases

PAGES = pages()
NAMES = [str(page.relative_to(ROOT)) for page in PAGES]
LONG = {"docs/how-to/run-a-stream.md"}  # starts several streams; run-on-spark.md starts none
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


@pytest.mark.parametrize("page", [pytest.param(page, id=name, marks=pytest.mark.slow if name in LONG else ())
                                  for page, name in zip(PAGES, NAMES, strict=True)])
def test_snippets(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    problems = list(run_page(page, tmp_path))
    assert not problems, "\n\n".join(problems)


# the page of errors runs every case of the catalogue once more
@pytest.mark.parametrize("page", [pytest.param(page, marks=pytest.mark.slow if page.name == "errors.md" else ())
                                  for page in PAGES], ids=NAMES)
def test_generated_parts(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert filled(text) == text, "write them anew: python -m tests.docs.generated"


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_pages_name_no_machine_and_promise_nothing(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert not re.search(r"/work/|/home/|/Users/|\bTODO\b|\bTBD\b|\bFIXME\b|coming soon", text)


def test_every_page_is_reachable_from_the_readme() -> None:
    seen, todo = set(), [ROOT / "README.md"]
    while todo:
        page = todo.pop().resolve()
        if page in seen or page.suffix != ".md":
            continue
        seen.add(page)
        targets = (target.partition("#")[0] for target in LINK.findall(page.read_text(encoding="utf-8")))
        todo += [page.parent / target for target in targets if target and "://" not in target]
    assert not {page.resolve() for page in PAGES} - seen


def test_every_code_that_the_catalogue_expects_is_explained() -> None:
    page = (ROOT / "docs" / "reference" / "errors.md").read_text(encoding="utf-8")
    expected = {problem.code for case in cases() for problem in case.expected} - {"-"}
    assert {code for code in expected if f"`{code}`" not in page} == set()
