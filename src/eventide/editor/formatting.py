"""Tidying a text without changing what it says: white space alone is touched, and that is checked token by token."""

from __future__ import annotations

import re

from eventide.editor.checking import Language
from eventide.syntax.lars_tokens import tokens_of as lars_tokens
from eventide.syntax.mtl_tokens import tokens_of as mtl_tokens
from eventide.syntax.tokens import Places, clause_tokens, skip_layout

_INDENT = "    "


def formatted(text: str, language: Language) -> str | None:
    """The text with its white space put in order, or None where that cannot be done safely or changes nothing.

    Conditions that begin a line get four spaces, ends of lines none, blank lines come alone, and the text ends with a
    line. Comments, quoted names and the kind of line ends stay as they are.

    >>> print(formatted("a(X) :-\\n  b(X),   \\n c(X).\\n\\n\\n\\nb(1).", "ec"), end="")
    a(X) :-
        b(X),
        c(X).
    <BLANKLINE>
    b(1).
    """
    if "\r\n" in text:
        tidy = formatted(text.replace("\r\n", "\n"), language) if text.count("\r\n") == text.count("\n") else None
        return None if tidy is None else tidy.replace("\n", "\r\n")
    if "/*" in text or len(Places(text, "").starts) > text.count("\n") + 1 or not text.strip():
        return None  # lines that end in other ways, by U+2028 or a form feed, are none for an editor
    rows = [row.rstrip(" \t") for row in text.split("\n")]
    if language == "ec":
        rows = _indented(text, rows)
    tidy = re.sub(r"\n{3,}", "\n\n", "\n".join(rows)).strip("\n") + "\n"
    return tidy if tidy != text and _said(tidy, language) == _said(text, language) else None


def _indented(text: str, rows: list[str]) -> list[str]:
    """Rows that begin with a condition of a clause, its brackets all closed, moved to four spaces."""
    places = Places(text, "")
    found = list(rows)
    position = skip_layout(text, 0)
    while position < len(text):
        tokens, position = clause_tokens(text, position, places)
        depth, implied = 0, False
        for token in tokens:
            line = places.span(token.start, token.end).line - 1
            begins = not text[places.starts[line]:token.start].strip()
            if begins and implied and depth == 0 and token.kind != "end":
                found[line] = _INDENT + rows[line].lstrip(" \t")
            depth += (token.text in ("(", "[")) - (token.text in (")", "]")) if token.kind == "mark" else 0
            implied = implied or token.text == ":-"
        position = skip_layout(text, position)
    return found


def _said(text: str, language: Language) -> list[str]:
    """What a text says: its tokens, and its comments."""
    comments = re.findall(r"%[^\n]*", re.sub(r"[ \t]+$", "", text, flags=re.MULTILINE))
    if language != "ec":
        return [token.text for token in (mtl_tokens if language == "mtl" else lars_tokens)(text)] + comments
    places = Places(text, "")
    position, said = skip_layout(text, 0), list[str]()
    while position < len(text):
        tokens, position = clause_tokens(text, position, places)
        said += [token.text for token in tokens]
        position = skip_layout(text, position)
    return said + comments
