"""What a program is checked with: the background files beside it, found by a rule that people can keep in mind.

- A comment line `% background: ports.ec, vessel=vessels.csv` names them, relative to the program's folder.
- Without one, they are the other rule files of the folder that define facts and background predicates only, and the
  tables named after a predicate that the rules ask for: `vessel.csv` for `vessel(V, Type)`.

Files are read again when they change on disk; a file that is open in the editor counts as it is there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from os.path import normpath
from pathlib import Path
from typing import Generic, TypeVar

from eventide.errors import EventideError
from eventide.formats.background import ENDINGS, Relation, read_background
from eventide.formats.files import rule_text
from eventide.syntax.diagnostics import Diagnostic, Span

Parsed = TypeVar("Parsed")
MOST_FILES = 50
LARGEST_FILE = 4_000_000
_NAMED = re.compile(r"^[ \t]*%+[ \t]*background[ \t]*:[ \t]*(.*?)[ \t]*$", re.MULTILINE)


@dataclass(frozen=True)
class Named:
    """A file that a comment names: its name, and the place of the comment."""

    name: str
    span: Span


@dataclass
class Found(Generic[Parsed]):
    """The background of a program: texts as they were parsed by path, tables, and what could not be read."""

    parsed: dict[str, Parsed] = field(default_factory=dict)
    tables: list[Relation] = field(default_factory=list)
    problems: list[Diagnostic] = field(default_factory=list)


def named_in(text: str, source: str) -> list[Named] | None:
    """The files that the comments of a program name; None if it has no such comment.

    >>> [each.name for each in named_in("% background: ports.ec, vessel=v.csv\\n", "rules.ec")]
    ['ports.ec', 'vessel=v.csv']
    """
    found = list(_NAMED.finditer(text))
    if not found:
        return None
    named = []
    for match in found:
        line = text.count("\n", 0, match.start()) + 1
        span = Span(source, line, match.start(1) - match.start() + 1, line, match.end() - match.start() + 1)
        named += [Named(name.strip(), span) for name in match[1].split(",") if name.strip()]
    return named


class Library(Generic[Parsed]):
    """Reads the rule files and tables of one language, and remembers them until they change."""

    def __init__(self, endings: tuple[str, ...], parse: Callable[[str, str], Parsed],
                 is_background: Callable[[Parsed], bool], open_texts: Callable[[str], str | None]) -> None:
        self._endings, self._parse, self._is_background, self._open = endings, parse, is_background, open_texts
        self._files: dict[str, tuple[object, Parsed]] = {}
        self._tables: dict[str, tuple[object, list[Relation]]] = {}

    def named(self, folder: Path, names: Iterable[Named]) -> Found[Parsed]:
        """The files that a comment names."""
        found: Found[Parsed] = Found()
        for each in names:
            name, _, file = each.name.rpartition("=")
            path = Path(normpath(folder / file.strip()))  # as an editor writes it
            try:
                if path.name.endswith(self._endings) and not name:
                    found.parsed[str(path)] = self.file(path)
                else:
                    found.tables += self.table(path, name.strip() or path.name.split(".")[0])
            except (EventideError, OSError, ValueError) as error:
                told = error.diagnostics if isinstance(error, EventideError) else ()
                reason = error.strerror if isinstance(error, OSError) and error.strerror else \
                    told[0].message if told else str(error).split("\n")[0]
                found.problems.append(Diagnostic("error", "unreadable-background", f"{each.name}: {reason}", each.span,
                                                 "name files relative to the folder of this program"))
        return found

    def beside(self, program: Path) -> Found[Parsed]:
        """The files of the program's folder that hold background only."""
        found: Found[Parsed] = Found()
        try:
            paths = sorted(path for path in program.parent.iterdir() if path.suffix in self._endings)
        except OSError:
            return found
        for path in [path for path in paths if path.name != program.name][:MOST_FILES]:
            try:
                if path.stat().st_size > LARGEST_FILE:
                    continue
                parsed = self.file(path)
            except (EventideError, OSError, ValueError):
                continue  # a file that nobody named need not be readable
            if self._is_background(parsed):
                found.parsed[str(path)] = parsed
        return found

    def tables_of(self, folder: Path, predicates: Iterable[str]) -> list[Relation]:
        """The tables of a folder that are named after some predicates."""
        found = []
        for name in predicates:
            for ending in ENDINGS:
                path = folder / f"{name}{ending}"
                try:
                    if path.is_file() and path.stat().st_size <= LARGEST_FILE:
                        found += self.table(path, name)
                        break
                except (EventideError, OSError, ValueError):
                    continue
        return found

    def file(self, path: Path) -> Parsed:
        """A rule file as it was parsed, from the editor or from disk."""
        text = self._open(str(path))
        state: object = text
        if text is None:
            stat = path.stat()
            state = (stat.st_mtime_ns, stat.st_size)
        known = self._files.get(str(path))
        if known is not None and known[0] == state:
            return known[1]
        parsed = self._parse(rule_text(path) if text is None else text, str(path))
        self._files[str(path)] = (state, parsed)
        return parsed

    def table(self, path: Path, name: str) -> list[Relation]:
        """The relation of a table file."""
        stat = path.stat()
        state = (stat.st_mtime_ns, stat.st_size, name)
        known = self._tables.get(str(path))
        if known is not None and known[0] == state:
            return known[1]
        relations = read_background(f"{name}={path}")
        self._tables[str(path)] = (state, relations)
        return relations
