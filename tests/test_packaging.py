"""The lock file, the project file and the environment agree."""

from __future__ import annotations

import re
import tomllib
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]
LOCK = (ROOT / "requirements.lock").read_text(encoding="utf-8").splitlines()
LOCKED = {canonicalize_name(name): version for name, _, version in (line.partition("==") for line in LOCK)}
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def requirements() -> list[Requirement]:
    """All direct requirements: to run, to test and to build."""
    project = PROJECT["project"]
    texts = project["dependencies"] + project["optional-dependencies"]["test"] + PROJECT["build-system"]["requires"]
    return [Requirement(text) for text in texts]


def test_the_lock_has_plain_lines_only() -> None:
    assert [line for line in LOCK if not re.fullmatch(r"[A-Za-z0-9._-]+==[A-Za-z0-9.+!]+", line)] == []


def test_the_lock_satisfies_every_requirement() -> None:
    unsatisfied = [
        str(needed)
        for needed in requirements()
        if not needed.specifier.contains(LOCKED.get(canonicalize_name(needed.name), "0"))
    ]
    assert unsatisfied == []


def test_the_lock_holds_all_requirements_of_its_packages() -> None:
    missing = []
    for name in LOCKED:
        for text in metadata.requires(name) or ():
            needed = Requirement(text)
            if (needed.marker is None or needed.marker.evaluate({"extra": ""})) and (
                canonicalize_name(needed.name) not in LOCKED
            ):
                missing.append(f"{name} needs {needed}")
    assert missing == []


def test_the_version_is_the_one_of_the_project_file() -> None:
    assert metadata.version("eventide") == PROJECT["project"]["version"]
