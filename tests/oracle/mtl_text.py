"""DatalogMTL rules and facts from text, for the oracle; no checks: the text is known to be right."""

from __future__ import annotations

import re
from fractions import Fraction

from tests.oracle.mtl import Atom, Box, Compare, Diamond, Fact, Literal, Not, Rule, Since, Span, Term, Variable

_TOKEN = re.compile(r"\s*(<>-|\[\]-|\[\]\+|:-|<=|>=|!=|\d+(?:\.\d+|/\d+)?|\w+|[-\[\]()<>,=+@.])")


class _Text:
    def __init__(self, text: str) -> None:
        self.tokens = _TOKEN.findall(text)
        self.at = 0

    def peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def next(self) -> str:
        self.at += 1
        return self.tokens[self.at - 1]

    def accept(self, token: str) -> bool:
        found = self.peek() == token
        self.at += found
        return found

    def bound(self) -> Fraction | None:
        sign = -1 if self.accept("-") else 1
        token = self.next()
        return None if token == "inf" else sign * Fraction(token)

    def span(self) -> Span:
        left = self.next()
        low = self.bound()
        self.next()
        high = self.bound()
        return Span(low, left == "[", high, self.next() == "]")

    def term(self) -> Term:
        sign = "-" if self.accept("-") else ""
        token = self.next()
        if token[0].isdigit():
            return Fraction(sign + token)
        return Variable(token) if token[0].isupper() or token[0] == "_" else token

    def atom(self) -> Atom:
        name, args = self.next(), []
        if self.accept("("):
            args.append(self.term())
            while self.accept(","):
                args.append(self.term())
            self.next()
        return Atom(name, tuple(args))

    def simple(self) -> Literal:
        if self.accept("<>-"):
            return Diamond(self.span(), self.simple())
        if self.accept("[]-"):
            return Box(self.span(), self.simple())
        if self.accept("not"):
            return Not(self.simple())
        if self.accept("("):
            inside = self.literal()
            self.next()
            return inside
        if self.tokens[self.at + 1:self.at + 2] and self.tokens[self.at + 1] in ("<", "<=", ">", ">=", "=", "!="):
            left, symbol, right = self.term(), self.next(), self.term()
            return Compare(symbol, left, right, self.term() if self.accept("+") else None)
        return self.atom()

    def literal(self) -> Literal:
        left = self.simple()
        while self.accept("since"):
            left = Since(self.span(), left, self.simple())
        return left

    def rule(self) -> Rule:
        spans = []
        while self.accept("[]+"):
            spans.append(self.span())
        head, body = self.atom(), []
        if self.accept(":-"):
            body.append(self.literal())
            while self.accept(","):
                body.append(self.literal())
        self.accept(".")
        return Rule(head, tuple(body), tuple(spans))


def rules_of(lines: str) -> list[Rule]:
    """The rules of a text, one per line."""
    return [_Text(line).rule() for line in lines.splitlines() if line.strip()]


def fact_of(line: str) -> Fact:
    """A fact: `P(a)@[0,1/3)`, `P@3`."""
    text = _Text(line)
    atom = text.atom()
    text.next()
    args = tuple(term.name if isinstance(term, Variable) else term for term in atom.args)
    if text.peek() in ("[", "("):
        return Fact((atom.name, args), text.span())
    time = text.bound()
    return Fact((atom.name, args), Span(time, True, time, True))


def literal_of(text: str) -> Literal:
    """A formula, or one that is denied."""
    return _Text(text).literal()
