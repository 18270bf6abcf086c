"""What an editor tells of the name under the cursor: its definition, its level, what it depends on, where it stands."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from eventide.editor.checking import Checked
from eventide.editor.keywords import keyword
from eventide.editor.names import Names, Occurrence, word_of
from eventide.editor.places import Lines

_MOST_LINES = 40
_WORD = re.compile(r"'(?:[^'\\\n]|\\.|'')*'|\w+|<>[-+]|\[\][-+]|\\\+")
_COMMENTS = re.compile(r"(?:^[ \t]*%[^\n]*\n)+\Z", re.MULTILINE)


def word_at(text: str, offset: int) -> tuple[int, str] | None:
    """The word at or right before an offset, and where it begins.

    >>> word_at("happensAt(go(X), T)", 11), word_at("a :- b.", 2)
    ((10, 'go'), None)
    """
    begin = text.rfind("\n", 0, offset) + 1
    end = text.find("\n", offset)
    for match in _WORD.finditer(text, begin, len(text) if end < 0 else end):
        if match.start() <= offset <= match.end():
            return match.start(), match.group()
    return None


def meant_at(checked: Checked, lines: Lines, offset: int) -> tuple[str, int, int] | None:
    """The template of the name at an offset, and where the word begins and ends; in a broken clause, by its word."""
    found = word_at(checked.text, offset)
    if found is None:
        return None
    begin, word = found
    span = lines.spans.span(begin, begin + len(word))
    occurrence = checked.names.at(checked.source, span.line, span.column)
    if occurrence is not None:
        return occurrence.template, begin, begin + len(word)
    if keyword(checked.language, word) is not None:
        return None
    templates = checked.names.called(word.strip("'"))
    return (templates[0], begin, begin + len(word)) if templates else None


def hover(checked: Checked, lines: Lines, offset: int) -> tuple[str, int, int] | None:
    """What is told of the word at an offset, as Markdown, and where the word begins and ends."""
    meant = meant_at(checked, lines, offset)
    if meant is not None:
        return description(checked, meant[0]), meant[1], meant[2]
    found = word_at(checked.text, offset)
    known = keyword(checked.language, found[1]) if found is not None else None
    if found is None or known is None:
        return None
    return f"`{known.form}`\n\n{known.says}", found[0], found[0] + len(found[1])


def description(checked: Checked, template: str) -> str:
    """A name: what it is, on which level, its definition, what it depends on, what depends on it."""
    names = checked.names
    defined = [each for each in names.of(template) if each.role == "definition"]
    parts = [f"**{kind_of(names, template)}** `{template}`{_values(names, template)}{_level(names, template)}"]
    if defined:
        parts.append(_definition(checked, defined))
    reads = [each for each in names.reads.get(template, ()) if each != template]
    if reads:
        parts.append(f"depends on {_listed(names, reads)}")
    readers = [each for each in names.readers(template) if each != template]
    if readers:
        parts.append(f"used by {_listed(names, readers)}")
    return "\n\n".join(parts)


def kind_of(names: Names, template: str) -> str:
    """What a name is of, in words."""
    kind, defined = names.kinds[template], any(each.role == "definition" for each in names.of(template))
    if kind == "predicate":
        return "background predicate" if "/" in template else "predicate" if template in names.levels else \
            "fact" if defined else "input predicate"
    return kind if defined else f"input {kind}"


def _level(names: Names, template: str) -> str:
    if template not in names.levels:
        return ""
    cyclic = ", in a cycle" if template in _reached(names, template) else ""
    return f", level {names.levels[template]}{cyclic}"


def _reached(names: Names, template: str) -> set[str]:
    """Everything that a name depends on."""
    found: set[str] = set()
    todo = list(names.reads.get(template, ()))
    while todo:
        name = todo.pop()
        if name not in found:
            found.add(name)
            todo += names.reads.get(name, ())
    return found


def _values(names: Names, template: str) -> str:
    values = [value for value in names.values.get(template, ()) if value != "true"]
    return f", values {', '.join(f'`{value}`' for value in names.values[template])}" if values else ""


def _listed(names: Names, templates: Iterable[str]) -> str:
    return ", ".join(f"`{each}` ({_short(names, each)})" for each in templates)


def _short(names: Names, template: str) -> str:
    level = names.levels.get(template)
    return kind_of(names, template) if level is None else f"level {level}"


def _definition(checked: Checked, defined: list[Occurrence]) -> str:
    """The clauses of a name as they are written, with the comment above the first."""
    shown: list[str] = []
    count = 0
    clauses = list(dict.fromkeys(each.clause for each in defined))
    for number, clause in enumerate(clauses):
        text = checked.texts.get(clause.source, "")
        begin, end = Lines(text).offsets(clause)
        comment = _COMMENTS.search(text, 0, begin) if number == 0 else None
        piece = (comment.group() if comment else "") + text[begin:end].rstrip()
        piece += "" if piece.endswith(".") else "."
        count += piece.count("\n") + 1
        if shown and count > _MOST_LINES:
            shown.append(f"% … and {len(clauses) - number} more")
            break
        shown.append(piece)
    sources = {Path(each.clause.source).name for each in defined if each.clause.source != checked.source}
    where = f"\n\nin {', '.join(sorted(sources))}" if sources else ""
    body = "\n".join(shown)
    return f"```prolog\n{body}\n```{where}"


def places_of(checked: Checked, template: str, *, definitions: bool) -> list[Occurrence]:
    """Where a name is defined, or all places where it stands."""
    return checked.names.definitions(template) if definitions else checked.names.of(template)


def name_length(occurrence: Occurrence, text: str, begin: int) -> int:
    """How long the name of an occurrence is as written: quotes belong to it."""
    match = _WORD.match(text, begin)
    return match.end() - begin if match is not None else len(word_of(occurrence.template))
