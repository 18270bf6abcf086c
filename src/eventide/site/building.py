"""Builds the site: every page with its menu, the search, and a check that every link leads somewhere."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from html import escape
from pathlib import Path, PurePosixPath
from string import Template

from eventide.errors import EventideError, InputError
from eventide.report.page import ASSETS as REPORT_ASSETS
from eventide.site.markup import Document, Link, document, highlight_style
from eventide.site.sources import SECTIONS, Source, sources
from eventide.syntax.diagnostics import Diagnostic, Span
from eventide.syntax.vocabulary import did_you_mean

_ASSETS = Path(__file__).parent / "assets"
_MARK = ".eventide-site"


@dataclass(frozen=True, slots=True)
class Built:
    """What was built: how many pages and other files."""

    pages: int
    files: int


def build(root: Path, out: Path) -> Built:
    """Build the documentation of a checkout into a folder, which is replaced as a whole or not at all."""
    if out.exists() and not (out / _MARK).is_file() and any(out.iterdir()):
        raise EventideError(f"{out} holds something else; name a new folder, or an earlier site")
    pages = sources(root)
    documents = {page.file: document(page.file) for page in pages}
    site = _Site(root, pages, documents)
    problems = [problem for page in pages for problem in site.problems(page)]
    if problems:
        raise InputError("\n".join(problem.render() for problem in problems), problems)
    out.parent.mkdir(parents=True, exist_ok=True)
    fresh = Path(tempfile.mkdtemp(prefix=f".{out.name}-", dir=out.parent))
    try:
        files = site.write(fresh)
        if out.exists():
            shutil.rmtree(out)
        fresh.chmod(0o755)
        os.replace(fresh, out)
    except BaseException:
        shutil.rmtree(fresh, ignore_errors=True)
        raise
    return Built(len(pages), files)


class _Site:
    """The pages, and how they refer to each other."""

    def __init__(self, root: Path, pages: Sequence[Source], documents: Mapping[Path, Document]) -> None:
        self.root, self.pages, self.documents = root.resolve(), pages, documents
        self._by_file = {page.file.resolve(): page for page in pages}

    def problems(self, page: Source) -> list[Diagnostic]:
        """The links of a page that lead nowhere."""
        found = (self._problem(page, link) for link in self.documents[page.file].links)
        return [problem for problem in found if problem is not None]

    def _problem(self, page: Source, link: Link) -> Diagnostic | None:
        if _is_outside(link.target):
            return None
        name, _, anchor = link.target.partition("#")
        file = _file(page, name)
        if not file.is_file():
            beside = [other.name for other in file.parent.glob("*")] if file.parent.is_dir() else []
            message = f"the link leads to {name}, which is not there"
            hint = did_you_mean(file.name, tuple(beside), "correct it, or write that page")
        elif not file.is_relative_to(self.root):
            message, hint = f"the link leads to {name}, outside the checkout", "link to what readers have too"
        elif anchor and file in self._by_file:
            known = self.documents[self._by_file[file].file].anchors
            if anchor in known:
                return None
            message = f"{name or 'this page'} has no heading #{anchor}"
            hint = did_you_mean(anchor, tuple(sorted(known)), "its headings are on the page itself")
        else:
            return None
        where = Span(page.file.relative_to(self.root).as_posix(), link.line, 1, link.line, 2)
        return Diagnostic("error", "broken-link", message, where, hint)

    def write(self, out: Path) -> int:
        """Write everything into an empty folder; the number of files that are no pages."""
        copied: set[str] = set()
        for number, page in enumerate(self.pages):
            file = out / page.target
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(self._html(number, copied), encoding="utf-8")
        for name in copied:
            (out / self._copy(self.root / name)).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(self.root / name, out / self._copy(self.root / name))
        style = (REPORT_ASSETS / "theme.css").read_text(encoding="utf-8") + _asset("site.css") + highlight_style()
        texts = {"site.css": style, "site.js": _asset("site.js"), "words.js": self._words(), _MARK: ""}
        for name, text in texts.items():
            (out / name).write_text(text, encoding="utf-8")
        return len(copied) + len(texts)

    def _html(self, number: int, copied: set[str]) -> str:
        page = self.pages[number]
        read = self.documents[page.file]

        def resolve(target: str) -> str:
            if _is_outside(target) or target.startswith("#"):
                return target
            name, hash_, anchor = target.partition("#")
            file = _file(page, name)
            if file in self._by_file:
                return _from(page.target, self._by_file[file].target) + hash_ + anchor
            copied.add(file.relative_to(self.root).as_posix())
            return _from(page.target, self._copy(file))

        places = [f'<li class="level{heading.level}"><a href="#{heading.anchor}">{escape(heading.words)}</a></li>'
                  for heading in read.headings if heading.level in (2, 3)]
        title = read.title if page.section == "" else f"{read.title} · Eventide"
        return Template(_asset("page.html")).substitute(
            title=escape(title), base=_from(page.target, PurePosixPath(".")), menu=self._menu(page),
            section=escape(SECTIONS[page.section]), body=read.html(resolve),
            places=f"<h2>On this page</h2><ul>{''.join(places)}</ul>" if len(places) > 1 else "",
            neighbours=self._neighbours(number))

    def _menu(self, page: Source) -> str:
        parts = []
        for section, words in SECTIONS.items():
            inside = [other for other in self.pages if other.section == section]
            items = [f'<li><a href="{_from(page.target, other.target)}"{_current(other is page)}>'
                     f"{escape(_short(self.documents[other.file].title, words))}</a></li>" for other in inside]
            if items:
                parts.append(f"<h2>{words}</h2><ul>{''.join(items)}</ul>")
        return "".join(parts)

    def _neighbours(self, number: int) -> str:
        parts = []
        for place, other in (("before", number - 1), ("after", number + 1)):
            if 0 <= other < len(self.pages):
                page = self.pages[other]
                parts.append(f'<a class="{place}" href="{_from(self.pages[number].target, page.target)}">'
                             f"{escape(self.documents[page.file].title)}</a>")
        return "".join(parts)

    def _words(self) -> str:
        """What the search looks through, as a script: a page opened from a disk may load scripts, but no data."""
        entries = [{"page": self.documents[page.file].title, "heading": part.heading.words,
                    "at": f"{page.target}#{part.heading.anchor}", "words": part.words}
                   for page in self.pages for part in self.documents[page.file].parts()]
        return f"const WORDS = {json.dumps(entries, ensure_ascii=False)};\n"

    def _copy(self, file: Path) -> PurePosixPath:
        """Where a file that is no page goes: as in `docs`, others beside it."""
        name = PurePosixPath(file.relative_to(self.root).as_posix())
        return name.relative_to("docs") if name.parts[0] == "docs" else PurePosixPath("files") / name


def _file(page: Source, name: str) -> Path:
    return (page.file.parent / name).resolve() if name else page.file.resolve()


def _is_outside(target: str) -> bool:
    return target.startswith(("http://", "https://", "mailto:", "data:"))


def _from(page: PurePosixPath, target: PurePosixPath) -> str:
    """The way from one page to another.

    >>> _from(PurePosixPath("how-to/write-rules.html"), PurePosixPath("index.html"))
    '../index.html'
    """
    return os.path.relpath(target, page.parent).replace(os.sep, "/")


def _short(title: str, section: str) -> str:
    """A title below the name of its section, which it need not repeat.

    >>> _short("How to write rules", "How to")
    'Write rules'
    """
    rest = title.removeprefix(f"{section} ")
    return rest[:1].upper() + rest[1:]


def _current(yes: bool) -> str:
    return ' aria-current="page"' if yes else ""


@lru_cache
def _asset(name: str) -> str:
    return (_ASSETS / name).read_text(encoding="utf-8")
