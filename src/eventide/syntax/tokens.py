"""Prolog text to the tokens of one clause at a time; a place in the text to a Span. No grammar here.

Runs of symbol characters are split at the longest known operator, so `X=-1` and `:-\\+a` read as people mean them.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import NamedTuple

from eventide.syntax.diagnostics import Span

INFIX: dict[str, tuple[int, int, int]] = {}  # name -> priority, greatest priority of the left and of the right side
for _priority, _kind, _names in (
    (1200, "xfx", ":- -->"), (1150, "xfx", "::"), (1100, "xfy", ";"), (1050, "xfy", "-> *->"), (1000, "xfy", ","),
    (700, "xfx", "= \\= == \\== is =:= =\\= < =< > >= =.. @< @=< @> @>="), (600, "xfy", ":"),
    (500, "yfx", "+ - /\\ \\/ xor"), (400, "yfx", "* / // mod rem div << >>"), (200, "xfx", "**"), (200, "xfy", "^"),
):
    for _name in _names.split():
        INFIX[_name] = (_priority, _priority - (_kind[0] == "x"), _priority - (_kind[2] == "x"))
RIGHT = frozenset(name for name, (priority, left, right) in INFIX.items() if left < priority == right)
DECLARATORS = ("dynamic", "discontiguous", "multifile", "table", "initialization")
PREFIX: dict[str, tuple[int, int]] = {":-": (1200, 1199), "?-": (1200, 1199), "\\+": (900, 900), "not": (900, 900),
                                      "-": (200, 200), "+": (200, 200), "\\": (200, 200),
                                      **{name: (1150, 1149) for name in DECLARATORS}}
MAX_DIGITS = 1000  # Python itself refuses to print integers far beyond this
FOREIGN = {"<=": "=<", "=>": ">=", "!=": "\\=", "&&": ",", "||": ";", "&": ",", ":=": "=", "===": "==", "!==": "\\==",
           "==>": ":-", "<>": "\\=", "/=": "\\=", "~=": "\\=", "::-": ":-"}  # other languages' operators

_SYMBOLS = sorted((n for n in {*INFIX, *PREFIX} if not n[0].isalpha() and n not in ",;"), key=len, reverse=True)
_TOKEN = re.compile(
    r"""(?P<layout>(?:\s++|%[^\r\n]*+|/\*(?s:.*?)\*/)+)
      | (?P<number>0'(?:\\x[0-9a-fA-F]+\\?|\\[^\r\n]|''|[^\\'\r\n])|0[xX][0-9a-fA-F]+|0o[0-7]+|0b[01]+
            |[0-9]{1,2}'[0-9a-zA-Z]+|[0-9]++(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?)
      | (?P<word>[^\W\d]\w*+)
      | (?P<quoted>'(?:[^'\\\r\n]++|''|\\x[0-9a-fA-F]++\\?|\\[0-7]++\\?|\\(?s:.))*+'
            |"(?:[^"\\\r\n]++|""|\\x[0-9a-fA-F]++\\?|\\[0-7]++\\?|\\(?s:.))*+")
      | (?P<end>\.(?=[\s%]|\Z))
      | (?P<comment>/\*)
      | (?P<foreign>==>|===|!==|::-|<=|=>|!=|&&|\|\||&|:=|<>|/=|~=)
      | (?P<symbol>""" + "|".join(map(re.escape, _SYMBOLS)) + r""")
      | (?P<mark>[()\[\]{}|,;!])
      | (?P<bad>(?s:.))""", re.VERBOSE)
_LINE_END = re.compile("\r\n|[\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029]")
_REST_OF_LINE = re.compile(r"[^\r\n]*")
_DOTS = re.compile(r"\.\.+")


class Token(NamedTuple):
    """A token: `kind` is number, word, variable, quoted, symbol, mark, end, foreign, comment or bad."""

    kind: str
    text: str
    start: int
    end: int


class Places:
    """Turns offsets of a text into spans; lines are those of `str.splitlines`."""

    def __init__(self, text: str, source: str) -> None:
        self.source = source
        self.starts = [0, *(match.end() for match in _LINE_END.finditer(text))]

    def span(self, start: int, end: int) -> Span:
        """The span of `text[start:end]`."""
        starts = self.starts
        line = bisect_right(starts, start)
        last = line if line == len(starts) or end <= starts[line] else bisect_right(starts, end)
        return Span(self.source, line, start - starts[line - 1] + 1, last, end - starts[last - 1] + 1)

    def begins_line(self, offset: int) -> bool:
        """Whether the offset is the first column of its line."""
        return self.starts[bisect_right(self.starts, offset) - 1] == offset


def is_variable(word: str) -> bool:
    """Whether a word is a variable: it begins with `_` or an upper-case letter."""
    return word[0] == "_" or word[0].isupper() or word[0].istitle()


def skip_layout(text: str, start: int) -> int:
    """The first offset from `start` on that is neither white space nor a comment."""
    match = _TOKEN.match(text, start)
    return match.end() if match is not None and match.lastgroup == "layout" else start


def clause_tokens(text: str, start: int, places: Places) -> tuple[list[Token], int]:
    """The tokens of the clause at `start`, the final `.` included, and the offset where the next clause begins.

    Where a `.` is missing, the clause is cut before the next one: before a name in the first column that follows a
    complete term, and before a head in the first column whose `:-` comes too late. Each token is read at most twice.
    """
    tokens: list[Token] = []
    line_head = -1  # index of the last token that began a line in its first column, other than the clause's first
    depth = 0
    position, size = start, len(text)
    while position < size:
        match = _TOKEN.match(text, position)
        assert match is not None and match.lastgroup is not None  # the last alternative takes any character
        kind, begin, position = match.lastgroup, position, match.end()
        if kind == "layout":
            continue
        word = match.group()
        if kind == "word" and is_variable(word):
            kind = "variable"
        elif kind == "end":
            tokens.append(Token(kind, word, begin, position))
            return tokens, position
        elif kind == "comment":
            tokens.append(Token(kind, word, begin, position))
            return tokens, size
        elif kind == "bad" and word in "'\"":
            # An open quote takes the rest of its line; a full stop there still ends the clause.
            rest = _REST_OF_LINE.match(text, begin)
            assert rest is not None
            position = rest.end()
            tokens.append(Token("bad", word, begin, begin + 1))
            if rest.group().rstrip().endswith("."):
                return tokens, position
            continue
        elif kind == "bad" and word == "." and not text[position : position + 1].isdigit():
            dots = _DOTS.match(text, begin)
            if dots is not None:  # an ellipsis, or a full stop too many: the clause ends behind them
                tokens.append(Token(kind, dots.group(), begin, dots.end()))
                return tokens, dots.end()
            tokens.append(Token(kind, word, begin, position))
            if depth <= 0:
                return tokens, position
            continue
        elif kind == "mark":
            depth += (word in "([{") - (word in ")]}")
        if tokens and kind == "word" and places.begins_line(begin):
            if _completes(tokens[-1]) and word not in INFIX:
                return tokens, begin
            line_head = len(tokens)
        elif word == ":-" and line_head > 0:
            return tokens[:line_head], tokens[line_head].start
        tokens.append(Token(kind, word, begin, position))
    return tokens, size


def _completes(token: Token) -> bool:
    """Whether a term can end with this token."""
    if token.kind == "word":
        return token.text not in INFIX and token.text not in PREFIX
    return token.kind in ("variable", "number", "quoted") or token.text in (")", "]", "}", "!")


_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v", "e": "\x1b",
            "s": " ", "\\": "\\", "'": "'", '"': '"', "`": "`"}
_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]+)\\?|([0-7]+)\\?|u([0-9a-fA-F]{4})|(\r\n|(?s:.)))|''|\"\"")


def unquote(token: str) -> str | None:
    """The name a quoted token stands for, or None if it has an unknown escape."""
    quote, inner = token[0], token[1:-1]
    if "\\" not in inner and quote not in inner:
        return inner
    known = True

    def replace(match: re.Match[str]) -> str:
        nonlocal known
        hexadecimal, octal, unicode, simple = match.groups()
        digits = hexadecimal or unicode or octal
        if digits:
            code = int(digits, 8 if octal else 16)
            if 0 < code < 0x110000 and not 0xD800 <= code < 0xE000:
                return chr(code)
        elif simple is None:
            return quote if match.group()[0] == quote else match.group()
        elif simple in ("\n", "\r", "\r\n"):
            return ""
        elif simple in _ESCAPES:
            return _ESCAPES[simple]
        known = False
        return ""

    name = _ESCAPE.sub(replace, inner)
    return name if known else None


NOT_64_BITS = "the integer does not fit 64 bits"
IN_64_BITS = "write it with a point, as in 1.0e20, or in quotes if it is a name"


def fits(value: int | float) -> bool:
    """Whether a number has a place in a column of integers or of floats.

    >>> fits(2**63 - 1), fits(2**63), fits(1e20)
    (True, False, True)
    """
    return isinstance(value, float) or -(2**63) <= value < 2**63


def number(text: str) -> int | float | None:
    """The value of a number token, or None if it is too large or malformed."""
    if len(text) > MAX_DIGITS:
        return None
    try:
        if text.startswith("0'"):
            character = "'" if text == "0'''" else unquote(f"'{text[2:]}'")
            return ord(character) if character is not None and len(character) == 1 else None
        if "'" in text:
            radix, _, digits = text.partition("'")
            return int(digits, int(radix)) if 2 <= int(radix) <= 36 else None
        if text[:2].lower() in ("0x", "0o", "0b"):
            return int(text, 0)
        if text.isdigit():
            return int(text)
        value = float(text)
        return value if value not in (float("inf"), float("-inf")) else None
    except ValueError:
        return None
