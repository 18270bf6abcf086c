"""Runs the cells of a notebook as a notebook would, without one: what is printed, and what the last line shows.

`python -m tests.docs.notebooks` runs those of the documentation and writes what they show into them.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import sys
import tempfile
from typing import Any

from tests.docs.generated import ROOT

NOTEBOOKS = sorted((ROOT / "docs").rglob("*.ipynb"))


def run(notebook: dict[str, Any]) -> list[list[dict[str, Any]]]:
    """What each code cell shows, in order."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    return [_run("".join(cell["source"]), namespace, number) for number, cell in enumerate(cells, 1)]


def _run(source: str, namespace: dict[str, Any], number: int) -> list[dict[str, Any]]:
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed = io.StringIO()
    shown: object = None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, f"<cell {number}>", "exec"), namespace)
        if isinstance(last, ast.Expr):
            shown = eval(compile(ast.Expression(last.value), f"<cell {number}>", "eval"), namespace)
    outputs: list[dict[str, Any]] = []
    if printed.getvalue():
        outputs.append({"output_type": "stream", "name": "stdout", "text": _lines(printed.getvalue())})
    if shown is not None:
        data = {"text/plain": _lines(repr(shown))}
        if hasattr(shown, "_repr_html_"):
            data["text/html"] = _lines(shown._repr_html_())
        outputs.append({"output_type": "execute_result", "execution_count": number, "metadata": {}, "data": data})
    return outputs


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def main() -> int:
    """Write what the notebooks of the documentation show."""
    for path in NOTEBOOKS:
        notebook = json.loads(path.read_text(encoding="utf-8"))
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            outputs = iter(run(notebook))
        for number, cell in enumerate((c for c in notebook["cells"] if c["cell_type"] == "code"), 1):
            cell.update(execution_count=number, metadata={}, outputs=next(outputs))
        path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        print(path.relative_to(ROOT))
    return 0


if __name__ == "__main__":
    sys.exit(main())
