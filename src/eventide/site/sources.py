"""Which pages the documentation has, where they go in the site, and in which order. Not for what is in them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from eventide.errors import EventideError

SECTIONS = {"": "Start", "tutorial": "Tutorial", "how-to": "How to", "reference": "Reference",
            "explanation": "Explanation", "applications": "Applications", "project": "Project"}
_SINGLE = {"README.md": ("", "index.html"), "CHANGELOG.md": ("project", "changelog.html"),
           "docs/architecture.md": ("explanation", "architecture.html"),
           "docs/benchmarks.md": ("project", "benchmarks.html")}
_LINK = re.compile(r"\]\(([^)\s#]+)")


@dataclass(frozen=True, slots=True)
class Source:
    """A page: its file, its place in the site, and the section that lists it."""

    file: Path
    target: PurePosixPath
    section: str


def sources(root: Path) -> list[Source]:
    """The pages of a checkout: section by section, those that the README names first, in its order.

    >>> sources(Path("nowhere"))
    Traceback (most recent call last):
    eventide.errors.EventideError: no documentation in nowhere: it comes with a checkout of Eventide, ...
    """
    readme, docs = root / "README.md", root / "docs"
    if not readme.is_file() or not docs.is_dir():
        raise EventideError(f"no documentation in {root}: it comes with a checkout of Eventide, not with the "
                            "installed package")
    named = [link.removeprefix("./") for link in _LINK.findall(readme.read_text(encoding="utf-8"))]
    rank = {name: number for number, name in enumerate(named)}  # its table of pages comes last
    found = [_source(file, root) for file in (readme, root / "CHANGELOG.md", *sorted(docs.rglob("*")))
             if file.suffix in (".md", ".ipynb") and file.is_file()]
    order = list(SECTIONS)
    return sorted(found, key=lambda page: (
        order.index(page.section), rank.get(page.file.relative_to(root).as_posix(), len(named)), page.target))


def _source(file: Path, root: Path) -> Source:
    name = file.relative_to(root).as_posix()
    if name in _SINGLE:
        section, target = _SINGLE[name]
        return Source(file, PurePosixPath(target), section)
    inside = PurePosixPath(name).relative_to("docs")
    if len(inside.parts) < 2 or inside.parts[0] not in SECTIONS:
        known = ", ".join(section for section in SECTIONS if section)
        raise EventideError(f"{name} is in no section of the documentation; they are {known}")
    notebook = "-notebook" if file.suffix == ".ipynb" else ""
    return Source(file, inside.with_name(f"{inside.stem}{notebook}.html"), inside.parts[0])
