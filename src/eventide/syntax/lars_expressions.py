"""Atoms, arguments and expressions of LARS, from tokens: what the readers of all its dialects share."""

from __future__ import annotations

from eventide.syntax.diagnostics import Span
from eventide.syntax.lars_tokens import bad_token
from eventide.syntax.lars_trees import RESERVED, Comparison, expression_text
from eventide.syntax.syntax_errors import SyntaxProblem, too_deep
from eventide.syntax.terms import Atom, Compound, Number, Term, Variable
from eventide.syntax.tokens import Places, Token, number, unquote

MAX_DEPTH = 50
LARGEST = 2**63 - 1
"""The largest whole number: what a column holds."""
_LEVELS = (("+", "-"), ("*", "/", "%", "mod"), ("^",))


class Expressions:
    """Reads the tokens of one clause from left to right; `named` are the comparisons that name expressions in atoms."""

    def __init__(self, tokens: list[Token], places: Places) -> None:
        last = tokens[-1]
        self.tokens = [*tokens, *[Token("stop", "", last.end, last.end)] * 2]
        self.places = places
        self.at = 0
        self.anonymous = 0
        self.words = {token.text for token in tokens if token.kind == "variable"}
        self.named: list[Comparison] = []
        self.ranges: list[Token] = []  # only facts may have them

    @property
    def next(self) -> Token:
        """The token that is read next."""
        return self.tokens[self.at]

    def following(self, distance: int) -> Token:
        """A token further on."""
        return self.tokens[min(self.at + distance, len(self.tokens) - 1)]

    def taken(self, text: str) -> bool:
        """Whether the next token is this one, which is then behind us."""
        if self.next.text == text and self.next.kind != "quoted":
            self.at += 1
            return True
        return False

    def span_from(self, first: Token) -> Span:
        """From a token to the last one read."""
        return self.places.span(first.start, self.tokens[max(self.at - 1, 0)].end)

    def problem(self, code: str, message: str, token: Token, hint: str) -> SyntaxProblem:
        """A problem at a token."""
        return SyntaxProblem(code, message, token.start, token.end, hint)

    def unexpected(self, hint: str) -> SyntaxProblem:
        """The next token cannot stand here."""
        token = self.next
        if token.kind == "bad":
            return bad_token(token)
        shown = f"'{token.text}' cannot stand here" if token.kind not in ("stop", "end") else "the rule ends too early"
        return self.problem("unexpected", shown, token, hint)

    def atom(self) -> Atom | Compound:
        """A predicate with its arguments; expressions among them get a name."""
        first = self.next
        if first.kind == "variable":
            low = first.text.lower() if first.text.isupper() else f"{first.text[:1].lower()}{first.text[1:]}"
            raise self.problem("variable-as-predicate", f"'{first.text}' is a variable, not a predicate", first,
                               f"predicates begin with a small letter: '{low}'")
        if first.text == "[":
            raise self.problem("window-first", "the window stands before its atom", first, "write 'a [5]', not '[5] a'")
        if first.kind != "word":
            raise self.unexpected("an atom such as 'a' or 'a(X)' is expected here")
        called = self.following(1).text == "(" and self.following(1).start == first.end
        if first.text in RESERVED and not called:
            following = self.following(1)
            raise self.problem("reserved-word", f"'{first.text}' is a word of the language", first,
                               f"it stands after the atom: write '{following.text}(…) {first.text} [5]'"
                               if following.kind == "word" and first.text in ("always", "sometime") else
                               "give the predicate another name")
        self.at += 1
        if not called:
            return Atom(first.text, self.span_from(first))
        opening = self.next
        self.at += 1
        args = [self.argument()]
        while self.taken(","):
            args.append(self.argument())
        if not self.taken(")"):
            if self.next.kind == "bad":
                raise bad_token(self.next)
            raise self.problem("missing-bracket", "missing ')'", self.next, "'(' at column "
                               f"{self.places.span(opening.start, opening.end).column} is not closed")
        return Compound(first.text, tuple(args), self.span_from(first))

    def argument(self) -> Term:
        """An argument: a variable, word, string or number; `1..9` in facts; an expression gets a name."""
        if self.next.text == ")":
            raise self.problem("no-arguments", "empty brackets", self.next, "leave them out: 'a' instead of 'a()'")
        first = self.next
        term = self.expression()
        if self.taken(".."):
            high = self.expression()
            for side in (term, high):
                if not isinstance(side, Number) or not isinstance(side.value, int):
                    raise self.problem("bad-range", "a range goes from one whole number to another", first,
                                       "write 'value(0..30).'")
            self.ranges.append(first)
            return Compound("..", (term, high), self.span_from(first))
        if self.next.text == "(":
            raise self.problem("nested-term", "arguments have no arguments of their own", first,
                               "give the parts as arguments of the atom: 'at(X,Y)' instead of 'at(pos(X,Y))'")
        return self.name_for(term)

    def name_for(self, term: Term) -> Term:
        """The term, or the variable that stands for an expression."""
        if not isinstance(term, Compound):
            return term
        variable = Variable(expression_text(term).replace(" ", ""), False, term.span)
        naming = Comparison("=", variable, term, term.span)
        if naming not in self.named:
            self.named.append(naming)
        return variable

    def time(self) -> Variable | Number:
        """The time after `at` or `@`: a variable, a whole number, or a sum of them."""
        first = self.next
        if first.kind == "word" or first.text == "[":
            raise self.problem("bad-time", f"'{first.text}' is no time", first,
                               "a time is a variable, a whole number, or a sum such as T+1")
        term = self.name_for(self.expression())
        if isinstance(term, Variable) or (isinstance(term, Number) and isinstance(term.value, int)):
            return term
        raise self.problem("bad-time", f"'{term}' is no time", first,
                           "a time is a variable, a whole number, or a sum such as T+1")

    def expression(self, level: int = 0, depth: int = 0) -> Term:
        """An expression of `+ - * / % ^`, or a single value."""
        if depth > MAX_DEPTH:
            raise too_deep(self.next)
        if level == len(_LEVELS):
            return self.operand(depth)
        first = self.next
        left = self.expression(level + 1, depth)
        while self.next.text in _LEVELS[level] and self.next.kind in ("symbol", "word"):
            operator = "%" if self.next.text == "mod" else self.next.text
            self.at += 1
            right = self.expression(level if operator == "^" else level + 1, depth + 1)
            for side in (left, right):
                if isinstance(side, Atom):
                    raise self.problem("word-in-expression", f"'{side}' is a word; expressions are of numbers", first,
                                       "a word that begins with a small letter is no variable")
            left = Compound(operator, (left, right), self.span_from(first))
        return left

    def operand(self, depth: int) -> Term:
        """A variable, a value, a negative number, or an expression in parentheses."""
        token = self.next
        self.at += 1
        if token.kind == "variable":
            return self.variable(token)
        if token.kind == "number":
            return self.number(token, token, 1)
        if token.kind == "word" and token.text not in RESERVED:
            return Atom(token.text, self.span_from(token))
        if token.kind == "quoted":
            name = unquote(token.text)
            if name is None:
                raise self.problem("bad-escape", "the text has an unknown escape", token, "a backslash is '\\\\'")
            return Atom(name, self.span_from(token))
        if token.text == "-":
            if self.next.kind == "number":
                self.at += 1
                return self.number(token, self.tokens[self.at - 1], -1)
            inner = self.expression(len(_LEVELS), depth + 1)
            return Compound("-", (Number(0), inner), self.span_from(token))
        if token.text == "(":
            inner = self.expression(0, depth + 1)
            if not self.taken(")"):
                raise self.problem("missing-bracket", "missing ')'", self.next, "'(' is not closed")
            return inner
        self.at -= 1
        raise self.unexpected("a variable, a word, a number or a text in double quotes is expected here")

    def number(self, first: Token, token: Token, sign: int) -> Number:
        """The number of a token."""
        value = number(token.text)
        if value is None or (isinstance(value, int) and value > LARGEST):
            raise self.problem("bad-number", "the number is too large", token,
                               "use at most 18 digits, or write it as text in double quotes")
        return Number(sign * value, self.span_from(first))

    def variable(self, token: Token) -> Variable:
        """The variable of a token; every `_` is one of its own."""
        span = self.span_from(token)
        if token.text != "_":
            return Variable(token.text, False, span)
        self.anonymous += 1
        while f"_{self.anonymous}" in self.words:
            self.anonymous += 1
        return Variable(f"_{self.anonymous}", True, span)
