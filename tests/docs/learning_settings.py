"""The table of the learner's settings in the reference, read from the source: names, defaults, what they mean."""

from __future__ import annotations

import ast
import inspect
import textwrap
from dataclasses import MISSING, Field, fields
from typing import Any

from eventide.learning.induction import Search
from eventide.learning.settings import Settings
from eventide.learning.weights import AdaGrad


def table() -> str:
    """All settings, those of the search and of AdaGrad behind the others."""
    rows = ["| setting | default | meaning |", "|---|---|---|"]
    for kind, prefix in ((Settings, ""), (Search, "search: "), (AdaGrad, "AdaGrad: ")):
        about = _attribute_docstrings(kind)
        for each in fields(kind):  # type: ignore[arg-type]
            if each.default is not MISSING or each.default_factory not in (Search, AdaGrad):
                text = f"{prefix}{about[each.name]}".replace("|", "\\|")
                rows.append(f"| `{each.name}` | `{_default(each)}` | {text} |")
    return "\n".join(rows)


def _default(each: Field[Any]) -> object:
    return each.default if each.default is not MISSING else each.default_factory()  # type: ignore[misc]


def _attribute_docstrings(kind: type) -> dict[str, str]:
    """What stands below each field of a class."""
    (tree,) = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
    assert isinstance(tree, ast.ClassDef)
    found: dict[str, str] = {}
    for field, below in zip(tree.body, tree.body[1:], strict=False):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and isinstance(below, ast.Expr) \
                and isinstance(below.value, ast.Constant) and isinstance(below.value.value, str):
            found[field.target.id] = " ".join(below.value.value.split())
    return found
