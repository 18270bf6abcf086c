"""The tokens of DatalogMTL text, and a reader that walks over them and says where something is wrong. No grammar."""

from __future__ import annotations

import re
from fractions import Fraction

from eventide.syntax.diagnostics import Span
from eventide.syntax.syntax_errors import SyntaxProblem
from eventide.syntax.tokens import MAX_DIGITS, Places, Token

_TOKEN = re.compile(
    r"""(?P<layout>(?:\s++|%[^\r\n]*+)+)
      | (?P<operator><>[-+]|\[\][-+]|<[-+]>|\[[-+]\])
      | (?P<number>[0-9]++(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?)
      | (?P<word>[^\W\d]\w*+)
      | (?P<quoted>'(?:[^'\\\r\n]++|''|\\(?s:.))*+'|"(?:[^"\\\r\n]++|""|\\(?s:.))*+")
      | (?P<end>\.(?=[\s%]|\Z))
      | (?P<implies>:-|<-)
      | (?P<foreign>==>|=>|->|[→⇒⟶⟹←⟵⇐])
      | (?P<compare><=|=<|>=|=:=|=\\=|\\=|!=|==|<>|=|<|>)
      | (?P<mark>\|\||//|\*\*|\\\+|[()\[\],@/*+|;&-])
      | (?P<bad>(?s:.))""", re.VERBOSE)
STOP = Token("stop", "", 0, 0)
"""What follows the last token."""


def tokens_of(text: str) -> list[Token]:
    """The tokens of a text, without layout and comments."""
    tokens: list[Token] = []
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup
        assert kind is not None  # the last alternative takes any character
        if kind != "layout":
            tokens.append(Token(kind, match.group(), match.start(), match.end()))
    return tokens


class TokenReader:
    """Walks over tokens; `at` is the place among them."""

    def __init__(self, tokens: list[Token], places: Places) -> None:
        self.tokens, self.places, self.at = tokens, places, 0

    def peek(self, ahead: int = 0) -> Token:
        at = self.at + ahead
        return self.tokens[at] if at < len(self.tokens) else STOP

    def _next(self) -> Token:
        token = self.peek()
        self.at += 1
        return token

    def _take(self, text: str) -> bool:
        found = self.peek().text == text and self.peek().kind != "quoted"
        self.at += found
        return found

    def _span(self, begin: int) -> Span:
        """The place from the token at `begin` to the last one read."""
        last = self.tokens[min(max(self.at - 1, begin), len(self.tokens) - 1)]
        return self.places.span(self.tokens[begin].start, last.end)

    def problem(self, code: str, message: str, hint: str, token: Token | None = None) -> SyntaxProblem:
        token = token or self.peek()
        if token is STOP:
            last = self.tokens[-1]
            return SyntaxProblem(code, message, last.end, last.end + 1, hint)
        return SyntaxProblem(code, message, token.start, token.end, hint)

    def shown(self) -> str:
        token = self.peek()
        return "the end of the text" if token is STOP else "the end of the rule" if token.kind == "end" else \
            f"'{token.text}'"

    def compares(self) -> bool:
        """Whether a comparison stands before the next comma or the end of the rule."""
        depth, at = 0, self.at
        while at < len(self.tokens):
            token = self.tokens[at]
            if token.text in ("(", "["):
                depth += 1
            elif token.text in (")", "]"):
                depth -= 1
            elif depth == 0 and (token.kind == "compare" or token.text == "=>" or (
                    token.kind == "word" and token.text == "is")):
                return True
            elif token.kind in ("end", "implies") or (depth == 0 and token.text == ","):
                return False
            at += 1
        return False

    def skip(self, begin: int) -> None:
        """Go to the next rule after an error: behind the next full stop, or to a head that begins a line."""
        while self.at < len(self.tokens):
            token = self.tokens[self.at]
            if self.at > begin and token.kind in ("word", "operator") and self.places.begins_line(token.start):
                return
            self.at += 1
            if token.kind == "end":
                return


def exact(token: Token) -> Fraction | None:
    """A number without rounding; None if it is too long to be meant."""
    mantissa, _, exponent = token.text.lower().partition("e")
    if len(mantissa) > MAX_DIGITS or len(exponent) > 4 or abs(int(exponent or 0)) > MAX_DIGITS:
        return None
    return Fraction(token.text)
