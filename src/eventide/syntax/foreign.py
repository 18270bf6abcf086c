"""What people bring from other languages: their words, signs and comments, and what is written here instead.

The readers of all three languages ask this module about text that they cannot read. It knows no grammar.
"""

from __future__ import annotations

import re
from typing import NamedTuple

FORWARDS = frozenset(("→", "⇒", "⟶", "⟹", "->", "=>", "==>"))
"""Arrows from the conditions to the conclusion."""
_INVISIBLE = {"\u200b": "zero-width space", "\u200c": "zero-width non-joiner", "\u200d": "zero-width joiner",
              "\u2060": "word joiner", "\ufeff": "byte-order mark", "\u00ad": "soft hyphen"}
_LANGUAGES = {  # by words that begin a line there and hardly a sentence
    "Python": frozenset({"def", "elif", "import", "lambda", "return", "class"}),
    "SQL": frozenset({"select", "insert", "update", "delete", "create"}),
}
_UNITS = frozenset(("ms", "msec", "s", "sec", "second", "m", "min", "minute", "h", "hr", "hour", "d", "day", "week",
                    "kn", "knot", "kmh", "km", "mile", "meter", "metre", "deg", "degree", "percent", "millisecond"))
_COMMENT = re.compile(r"<!--|//|--|#|\"\"\"|'''|;")
_BULLET = re.compile(r"(?:[-*•+]|[0-9]+\))[ \t]+(?=\w+\()")
_WORDS = re.compile(r"(\w+)[ \t]+[\w*(]")
_TAG = re.compile(r"</?[A-Za-z][^<>\r\n]*>")
_TABLE = re.compile(r"[A-Za-z_]\w*(?:[ \t]*[,;\t][ \t]*[A-Za-z_]\w*)+[ \t]*(?:\r?\n|\Z)")
_JSON = re.compile(r"\{\s*\"|\[\s*\{")
_SIGIL = re.compile(r"[?$@]\{?([A-Za-z_]\w*)\}?")
_METRIC = re.compile(r"(?:<>|\[\])[-+][\[(]|\b(?:Diamond|Box)(?:minus|plus)\s*[\[(]")
_WINDOW = re.compile(r"\)\s*(?:always|sometime|at\s+\w+)?\s*(?:in\s*)?\[\s*[0-9]+\s*[a-z#]*\s*\]")
_ASKED = re.compile(r"(?:happensAt|holdsAt|holdsFor)\(\s*(?:\w+\(|\w+\s*=)")
_EVENTS = re.compile(r"(?:initiatedAt|terminatedAt|holdsFor|happensAt|initially)\(")


class Found(NamedTuple):
    """What was found: the code, the message and the hint of a problem, and its place."""

    code: str
    message: str
    start: int
    end: int
    hint: str


def language_of(first: str) -> str | None:
    """The language that a line with this first word is in, if it is one of another kind.

    >>> language_of("SELECT"), language_of("here")
    ('SQL', None)
    """
    return next((name for name, words in _LANGUAGES.items() if first.lower() in words), None)


def is_unit(word: str) -> bool:
    """Whether a word behind a number is a unit."""
    return word.lower() in _UNITS or word.lower().removesuffix("s") in _UNITS


def at_the_start(text: str, begin: int, rule: str) -> Found | None:
    """What is wrong with a clause that cannot be read, if its first line shows it; `rule` says how rules are written.

    >>> at_the_start("# what is hot", 0, "").message
    "'#' does not begin a comment"
    >>> at_the_start("time,event\\n3,win", 0, "").message
    'this is a table, not a rule'
    """
    line = text.rfind("\n", 0, begin) + 1
    if text[line:begin].strip():
        return None
    comment = _COMMENT.match(text, begin)
    if comment is not None:
        return Found("unknown-comment", f"'{comment.group()}' does not begin a comment", begin, comment.end(),
                     "a comment begins with '%'")
    if text.startswith("```", begin):
        return Found("markdown", "'```' is not part of the rules", begin, begin + 3,
                     "remove this line: the file holds the rules alone")
    bullet = _BULLET.match(text, begin)
    if bullet is not None:
        mark = bullet.group().strip()
        return Found("markdown", f"'{mark}' before a rule", begin, begin + len(mark),
                     "remove it: rules are not items of a list")
    tag = _TAG.match(text, begin)
    if tag is not None:
        return Found("markdown", f"'{tag.group()}' is not part of the rules", begin, tag.end(),
                     "remove it: the file holds the rules alone")
    words = _WORDS.match(text, begin)
    language = language_of(words.group(1)) if words is not None else None
    if words is not None and language is not None:
        return Found("not-a-rule", "this is neither a rule nor a fact", begin, words.end(1),
                     f"this looks like {language}; {rule}")
    if _JSON.match(text, begin):
        return Found("not-a-rule", "this is neither a rule nor a fact", begin, begin + 1,
                     f"this looks like JSON; {rule}")
    table = _TABLE.match(text, begin)
    if table is not None:
        return Found("not-a-rule", "this is a table, not a rule", begin, begin + len(table.group().rstrip()),
                     "data stand in files of their own: give them with --events, or --background NAME=FILE.csv")
    return None


def at_the_place(text: str, at: int) -> Found | None:
    """What stands where a text cannot be read on: a place-holder, a variable of another language, something invisible.

    >>> at_the_place("p(?who)", 2).hint
    'a variable begins with a capital letter: Who'
    """
    if text[at:at + 1] in _INVISIBLE:
        return Found("unknown-character", f"an invisible character: {_INVISIBLE[text[at]]}, U+{ord(text[at]):04X}",
                     at, at + 1, "remove it: delete what stands around it and write it again")
    tag = _TAG.match(text, at)
    if tag is not None:
        if tag.group().startswith("</"):
            return Found("markdown", f"'{tag.group()}' is not part of the rules", at, tag.end(),
                         "remove it: the file holds the rules alone")
        return Found("left-open", f"'{tag.group()}' stands for something that is yet to be written", at, tag.end(),
                     "write it out, or remove it")
    name = _SIGIL.match(text, at)
    if name is not None and not text[at - 1:at].isalnum() and not text[:at].endswith((")", "]")):
        return Found("unknown-character", f"'{name.group()}' is no variable", at, name.end(),
                     f"a variable begins with a capital letter: {name.group(1)[0].upper()}{name.group(1)[1:]}")
    return None


def ending_of(text: str, begin: int, end: int) -> tuple[str, str] | None:
    """The language of Eventide that a clause is in, and the ending of its files.

    >>> ending_of("jam(X) :- slow(X) always [10].", 0, 30)
    ('LARS', '.lars')
    """
    if _EVENTS.match(text, begin) or _ASKED.search(text, begin, end):
        return "the Event Calculus", ".ec"
    if _METRIC.search(text, begin, end):
        return "DatalogMTL", ".mtl"
    if _WINDOW.search(text, begin, end):
        return "LARS", ".lars"
    return None
