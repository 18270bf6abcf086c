"""The source is clean for ruff and mypy."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def run(*command: str) -> None:
    """Run a checker on the checkout and show what it says when it complains."""
    done = subprocess.run([sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{done.stdout}{done.stderr}"


def test_ruff() -> None:
    run("ruff", "check", ".")


@pytest.mark.slow
def test_mypy() -> None:
    run("mypy")
