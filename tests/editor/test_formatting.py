"""Formatting: the meaning and the comments stay, what is tidy stays as it is, line ends are kept."""

from __future__ import annotations

from pathlib import Path

import pytest

import eventide
from eventide.editor.checking import LANGUAGES, Language
from eventide.editor.formatting import formatted
from eventide.syntax.event_calculus import parse
from eventide.syntax.lars import parse as parse_lars
from eventide.syntax.mtl import parse as parse_mtl

FOLDERS = (Path(eventide.__file__).parent / "applications", Path(__file__).parents[1] / "errors")
FILES = sorted(path for folder in FOLDERS for path in folder.rglob("*.*") if path.suffix in (".ec", ".mtl", ".lars"))


def meaning(text: str, language: Language) -> object:
    """The rules of a text, without their places."""
    if language == "ec":
        return parse(text).rules
    return [str(rule) for rule in (parse_mtl(text).rules if language == "mtl" else parse_lars(text).tree.rules)]


def comments(text: str) -> list[str]:
    return [line.partition("%")[2].rstrip() for line in text.splitlines() if "%" in line]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_meaning_and_comments_stay(end: str) -> None:
    touched = 0
    for path in FILES:
        language = LANGUAGES[path.suffix]
        text = path.read_text(encoding="utf-8").replace(".\n", ".  \n").replace("\n    ", "\n\t").replace("\n", end)
        tidy = formatted(text, language)
        if tidy is None:
            continue
        touched += 1
        assert meaning(tidy, language) == meaning(text, language), path
        assert comments(tidy) == comments(text), path
        assert tidy.count("\r\n") == (tidy.count("\n") if end == "\r\n" else 0), path
        assert formatted(tidy, language) is None, path
    assert touched > 50


@pytest.mark.parametrize("text", ["", "\n", "a(b).\n", "a :- b.\rc :- d.  ", "a.\r\nb.  \n", "a :-  /* x\n y */ b.  ",
                                  "a :-\u2028b.  ", "a :- c,\u2028 b.  \n", "a :-\x0cb.  "])
def test_what_is_tidy_or_unclear_is_left_alone(text: str) -> None:
    assert formatted(text, "ec") is None
