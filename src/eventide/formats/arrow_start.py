"""Starts pyarrow without pandas, which it would import only to see whether it is there; costs more than most runs."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from types import ModuleType


class _NotNow:
    """Says that pandas is not there."""

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> None:
        """Refuse pandas, leave all else to the finders after this one."""
        if name == "pandas":
            raise ImportError("pandas is not needed yet")


def start_arrow() -> None:
    """Let pyarrow make its first array while pandas cannot be found. It looks again once pandas is really used."""
    if "pandas" in sys.modules or "pyarrow" in sys.modules:
        return
    finder = _NotNow()
    sys.meta_path.insert(0, finder)  # type: ignore[arg-type]
    try:
        import pyarrow

        pyarrow.array([0])
    finally:
        sys.meta_path.remove(finder)  # type: ignore[arg-type]


start_arrow()
