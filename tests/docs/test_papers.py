"""The page on papers is true: each row names files that name the paper's authors, and its algorithms, in docstrings."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from tests.docs.generated import ROOT

SOURCE = ROOT / "src" / "eventide"
PAGE = ROOT / "docs" / "explanation" / "papers.md"
ROWS = [tuple(cell.strip() for cell in line.strip("|").split(" | "))
        for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| ") and "`" in line]
ALGORITHMS = re.compile(r"Algorithms?\s+(\d+(?:(?:\s*,\s*|\s+and\s+|\s+to\s+|–)\d+)*)")


def docstrings(path: Path) -> str:
    """All docstrings of a file, or of all files of a folder."""
    files = sorted(path.rglob("*.py")) if path.is_dir() else [path]
    nodes = (node for file in files for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))))
    return "\n".join(ast.get_docstring(node) or "" for node in nodes
                     if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef))


def numbers(text: str) -> set[int]:
    """The numbers of algorithms that a text names."""
    found: set[int] = set()
    for names in ALGORITHMS.findall(text):
        for first, last in re.findall(r"(\d+)(?:(?:\s+to\s+|–)(\d+))?", names):
            found.update(range(int(first), int(last or first) + 1))
    return found


@pytest.mark.parametrize("row", ROWS, ids=[row[0].partition(":")[0] for row in ROWS])
def test_row(row: tuple[str, ...]) -> None:
    what, paper, place = row
    paths = [SOURCE / name for name in re.findall(r"`([\w/]+(?:\.py|/))`", place)]
    assert paths
    assert [path for path in paths if not path.exists()] == []
    said = "\n".join(map(docstrings, paths))
    author = paper.partition(",")[0].removeprefix("de ")
    assert author in said, f"no docstring there names {author}"
    assert numbers(what) <= numbers(said), f"told there are only {sorted(numbers(said))}"


def test_every_numbered_algorithm_is_listed() -> None:
    known = {author: set[int]() for author in ("Tsilionis", "Wałęga", "Mebrek", "Katzouris", "Mantenoglou")}
    for what, paper, _ in ROWS:
        author = paper.partition(",")[0]
        if author in known:
            known[author] |= numbers(what)
    last = {author: max(of) for author, of in known.items()}
    assert last == {"Tsilionis": 1, "Wałęga": 1, "Mebrek": 7, "Katzouris": 3, "Mantenoglou": 13}
    assert all(of == set(range(1, last[author] + 1)) for author, of in known.items()), known
