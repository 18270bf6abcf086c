"""What is wrong with a configuration, in its own words: key, line, what was expected. Knows no key by itself."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, get_args

from pydantic import BaseModel
from pydantic_core import ErrorDetails

from eventide.formats.problems import diagnostic, suggestion
from eventide.syntax.diagnostics import Diagnostic

Place = tuple[str | int, ...]
_TABLE = re.compile(r"""\s*(\[\[?)\s*([\w."'-]+)\s*\]""")
_KEY = re.compile(r"""\s*([\w"'-]+)\s*=""")


class Places:
    """Where each table and key of a TOML text is."""

    def __init__(self, source: str, text: str) -> None:
        self.source = source
        self._found: dict[Place, tuple[int, int, int]] = {}
        table: Place = ()
        counts: dict[Place, int] = {}
        for number, line in enumerate(text.splitlines(), 1):
            if header := _TABLE.match(line):
                table = tuple(part.strip("\"'") for part in header[2].split("."))
                if header[1] == "[[":
                    counts[table] = counts.get(table, -1) + 1
                    table = (*table, counts[table])
                self._found[table] = number, header.start(2) + 1, len(header[2])
            elif key := _KEY.match(line):
                self._found[(*table, key[1].strip("\"'"))] = number, key.start(1) + 1, len(key[1])

    def problem(self, place: Place, code: str, message: str, hint: str | None) -> Diagnostic:
        """A problem at a key, or at the nearest table above it."""
        for length in range(len(place), 0, -1):
            # one table may stand where a list of tables is expected
            for known in (place[:length], tuple(key for key in place[:length] if key != 0)):
                if known in self._found:
                    return diagnostic(code, message, self.source, *self._found[known], hint=hint)
        return diagnostic(code, message, self.source, hint=hint)


def problem_of(detail: ErrorDetails, model: type[BaseModel], places: Places) -> Diagnostic:
    """A problem that Pydantic found."""
    place, models = _walk(detail["loc"], model)
    key = _dotted(place)
    kind, given, context = detail["type"], detail["input"], detail.get("ctx", {})
    if kind == "extra_forbidden":
        known = sorted({name for each in models for name in each.model_fields})
        hint = suggestion(str(place[-1]), known) or f"known here: {', '.join(known)}"
        return places.problem(place, "unknown-key", f"{key} is not known", hint)
    if kind == "missing":
        above = _dotted(place[:-1])
        return places.problem(place, "missing-key", f"{key} is missing", f"add {place[-1]} to [{above}]" if above else
                              f"add a table [{key}]")
    if kind in ("union_tag_not_found", "union_tag_invalid"):
        kinds = [name for each in models for name in get_args(each.model_fields["kind"].annotation)]
        listed = f"expected one of {', '.join(kinds)}"
        if kind == "union_tag_not_found":
            return places.problem(place, "missing-key", f"{key}.kind is missing", listed)
        tag = str(context["tag"])
        return places.problem((*place, "kind"), "unknown-kind", f"{key}.kind is {tag!r}; {listed}",
                              suggestion(tag, kinds))
    if kind == "value_error":
        return places.problem(place, "bad-value", f"{key}: {context['error']}", None)
    choices = re.findall(r"'([^']*)'", context.get("expected", "")) if kind == "literal_error" else []
    expected = detail["msg"].removeprefix("Input should be ").removeprefix("a valid ")
    return places.problem(place, "bad-value", f"{key} is {_shown(given)}; expected {expected}",
                          suggestion(str(given), choices))


def _walk(location: Place, model: type[BaseModel]) -> tuple[Place, list[type[BaseModel]]]:
    """A path of Pydantic without the kinds of sections, which are no keys, and the sections that its last key is of."""
    place: list[str | int] = []
    models = [model]
    for at, key in enumerate(location):
        of_kind = [each for each in models if len(models) > 1 and key in _kinds(each)]
        if of_kind:
            models = of_kind
            continue
        place.append(key)
        fields = [each.model_fields[key] for each in models if isinstance(key, str) and key in each.model_fields]
        inner = [section for field in fields for section in _sections(field.annotation)]
        if inner and (at < len(location) - 1 or "kind" in inner[0].model_fields):
            models = inner
    return tuple(place), models


def _kinds(section: type[BaseModel]) -> Sequence[object]:
    return get_args(section.model_fields["kind"].annotation) if "kind" in section.model_fields else ()


def _sections(annotation: Any) -> Iterator[type[BaseModel]]:
    """The sections in a type."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from _sections(part)


def _dotted(place: Place) -> str:
    """A place as people write it: `sink[2].path`."""
    text = ""
    for key in place:
        text += f"[{key + 1}]" if isinstance(key, int) else f".{key}" if text else key
    return text


def _shown(given: object) -> str:
    text = repr(given)
    return text if len(text) <= 60 else f"{text[:57]}…"
