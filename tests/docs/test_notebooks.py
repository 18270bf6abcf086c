"""The notebooks of the documentation run, and show what they say they show."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.docs.notebooks import NOTEBOOKS, run


@pytest.mark.parametrize("path", NOTEBOOKS, ids=[path.name for path in NOTEBOOKS])
def test_notebook(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    notebook = json.loads(path.read_text(encoding="utf-8"))
    assert notebook["nbformat"] == 4
    recorded = [cell["outputs"] for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert [_texts(each) for each in run(notebook)] == [_texts(each) for each in recorded], \
        "write them anew: python -m tests.docs.notebooks"


def _texts(outputs: list[dict[str, Any]]) -> list[tuple[str, bool]]:
    """The text of each output, and whether it is also shown as HTML, which only has to be there."""
    return [("".join(each.get("text", each.get("data", {}).get("text/plain", []))),
             "text/html" in each.get("data", {})) for each in outputs]
