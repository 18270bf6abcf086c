"""LARS text to tokens, of our own, Ticker's and Laser's files alike. No grammar here.

`%` begins a comment, except where an operation can stand: after an operand of a comparison and before another operand.
"""

from __future__ import annotations

import re

from eventide.syntax.syntax_errors import SyntaxProblem
from eventide.syntax.tokens import Token, is_variable

COMPARISONS = ("<=", ">=", "!=", "==", "<>", "=<", "<", ">", "=")
_TOKEN = re.compile(
    r"""(?P<layout>(?:\s++|//[^\r\n]*+|/\*(?s:.*?)\*/|%\*(?s:.*?)\*%)+)
      | (?P<number>[0-9]++(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?(?!\w))
      | (?P<word>[^\W\d]\w*+)
      | (?P<quoted>'(?:[^'\\\r\n]++|''|\\(?s:.))*+'|"(?:[^"\\\r\n]++|""|\\(?s:.))*+")
      | (?P<symbol>:-|\.\.|<=|>=|!=|==|<>|=<|<-|[<>=+\-*/^\#@⊥])
      | (?P<percent>%)
      | (?P<end>\.)
      | (?P<mark>[()\[\],])
      | (?P<bad>(?s:.))""", re.VERBOSE)
_REST_OF_LINE = re.compile(r"[^\r\n]*")
_OPERAND = re.compile(r"[ \t]*(?:[0-9(]|[A-Z_])")
_COMPARED = re.compile(r"[ \t]*(?:[0-9]+|[A-Z_]\w*)[ \t]*(?:[-+*/^][ \t]*\w+[ \t]*)*(?:[<>=]|!=)")


def tokens_of(text: str) -> list[Token]:
    """All tokens of a text; `kind` is number, word, variable, quoted, symbol, mark, end or bad.

    >>> [token.text for token in tokens_of("h at T+1 :- a(X) [3 #], Y = X % 2. % a comment")]
    ['h', 'at', 'T', '+', '1', ':-', 'a', '(', 'X', ')', '[', '3', '#', ']', ',', 'Y', '=', 'X', '%', '2', '.']
    """
    tokens: list[Token] = []
    position, size, comparing = 0, len(text), False
    while position < size:
        match = _TOKEN.match(text, position)
        assert match is not None and match.lastgroup is not None  # the last alternative takes any character
        kind, word, begin, position = match.lastgroup, match.group(), position, match.end()
        if kind == "layout":
            continue
        if kind == "percent":
            if not _is_operator(text, position, tokens, comparing):
                rest = _REST_OF_LINE.match(text, begin)
                assert rest is not None
                position = rest.end()
                continue
            kind = "symbol"
        elif kind == "word" and is_variable(word):
            kind = "variable"
        elif kind == "symbol" and word in COMPARISONS:
            comparing = True
        elif word == "," or kind == "end":
            comparing = False
        tokens.append(Token(kind, word, begin, position))
    return tokens


def _is_operator(text: str, after: int, tokens: list[Token], comparing: bool) -> bool:
    """Whether a `%` is an operator: between operands, in a comparison that has begun or that follows on its line."""
    if len(tokens) < 2:
        return False
    before, last = tokens[-2:]
    if comparing:
        return (last.kind in ("variable", "number") or last.text == ")") and _OPERAND.match(text, after) is not None
    begins = before.text in (",", ":-", "+", "-", "*", "/", "^")
    return begins and last.kind in ("variable", "number") and _COMPARED.match(text, after) is not None

_ONE_EACH = "write one rule for each alternative"
_FORWARDS = "the conclusion comes first: 'h(X) :- a(X) [5].'"
_QUOTE = "close the quote on the same line"
_CURLY = 'write " instead'
_COMMA = "write ',' between the parts of a body"
_INSTEAD = {
    "'": _QUOTE, '"': _QUOTE, "“": _CURLY, "”": _CURLY, "‘": _CURLY, "’": _CURLY,
    ";": f"{_ONE_EACH}; a rule ends with '.'", "|": _ONE_EACH, "∨": _ONE_EACH, "&": _COMMA, "∧": _COMMA,
    "\\": "negation is written 'not', 'is not equal' '!='", "~": "write 'not'", "¬": "write 'not'",
    "!": "write 'not' before an atom, '!=' between two values",
    "{": "choices are no part of the language: write one rule for each case",
    "→": _FORWARDS, "⇒": _FORWARDS, "←": "write ':-'", "?": "a variable begins with a capital letter",
    "□": "write 'a always [5]'", "◇": "write 'a [5]'", "⊞": "a window stands behind its atom: 'a [5]'",
    "`": "remove it: the file holds rules alone", "≤": "write '<='", "≥": "write '>='", "≠": "write '!='",
}
"""Characters that begin no token, and what to write."""


def bad_token(token: Token) -> SyntaxProblem:
    """What is wrong with a character that begins no token."""
    return SyntaxProblem("bad-character", f"'{token.text}' has no meaning here", token.start, token.end,
                         _INSTEAD.get(token.text, "names are letters, digits and '_'; put other text in double quotes"))
