"""Prolog text to clauses: an operator-precedence reader that never stops at an error.

A wrong clause yields one diagnostic; reading goes on with the next clause. Time is linear in the text, and nesting
is bounded, so no text can exhaust the stack.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from eventide.syntax.diagnostics import Diagnostic, Span
from eventide.syntax.syntax_errors import (
    SyntaxProblem,
    clause_not_ended,
    explained,
    not_a_term,
    too_deep,
    unclosed,
    unexpected,
)
from eventide.syntax.terms import Atom, Compound, ListTerm, Number, Term, Variable
from eventide.syntax.tokens import (
    IN_64_BITS,
    INFIX,
    NOT_64_BITS,
    PREFIX,
    RIGHT,
    Places,
    Token,
    clause_tokens,
    fits,
    number,
    skip_layout,
    unquote,
)

MAX_DEPTH = 100
"""How deep terms and parentheses may nest. Conjunctions and disjunctions of goals may be longer."""


@dataclass(frozen=True, slots=True)
class Clause:
    """`head :- body.`; a fact has no body, a directive `:- body.` has no head."""

    head: Term | None
    body: Term | None
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(slots=True)
class Reading:
    """What was read of a text: clauses that another text has at the same places need not be read again."""

    source: str = ""
    text: str = ""
    clauses: dict[int, tuple[Clause, int]] = field(default_factory=dict)
    """By where it begins, every clause without a problem, and where it ends."""


class _Again:
    """Clauses of a text that are known from another text with the same beginning and the same end."""

    def __init__(self, known: Reading | None, text: str, places: Places) -> None:
        same = known is not None and known.source == places.source
        self.places = places
        self.clauses = known.clauses if known is not None and same else {}
        before = known.text if known is not None and same else ""
        self.head = _alike(len(before), len(text), lambda size: before[:size] == text[:size])
        most = min(len(before), len(text)) - self.head
        tail = _alike(most, most, lambda size: size == 0 or before[-size:] == text[-size:])
        self.begin, self.shift = len(text) - tail, len(text) - len(before)

    def at(self, position: int) -> tuple[Clause, int] | None:
        """The clause that begins at a position, and where it ends."""
        if position < self.head:
            found = self.clauses.get(position)
            return found if found is not None and found[1] < self.head else None  # what follows belongs to it
        found = self.clauses.get(position - self.shift) if position >= self.begin else None
        if found is None or found[0].span is None:
            return None
        clause, end = found
        here, span = self.places.span(position, position), found[0].span
        return (clause, end + self.shift) if (here.line, here.column) == (span.line, span.column) else None


def _alike(one: int, other: int, same: Callable[[int], bool]) -> int:
    """The greatest number up to both for which something is the same, if it is so for all below."""
    low, high = 0, min(one, other)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if same(middle) else (low, middle - 1)
    return low


def read_clauses(text: str, source: str, known: Reading | None = None) -> tuple[list[Clause], list[Diagnostic]]:
    """The clauses of a text in order, and one diagnostic for each clause that cannot be read.

    `known` is what was read of a text before: clauses that are still there, on the same lines, are not read again.

    >>> clauses, problems = read_clauses("port(brest). wet(X) :- rain(X)", "weather")
    >>> str(clauses[0].head), problems[0].message
    ('port(brest)', "the clause does not end with '.'")
    """
    places = Places(text, source)
    again = _Again(known, text, places)
    found: dict[int, tuple[Clause, int]] = {}
    position, size = skip_layout(text, 0), len(text)
    clauses: list[Clause] = []
    problems: list[Diagnostic] = []
    while position < size:
        begin, before = position, again.at(position)
        if before is not None:
            clause, position = before
        elif (fact := _FACT.match(text, position)) is not None:
            clause, position = _plain_fact(fact, places), fact.end()
        else:
            tokens, position = clause_tokens(text, position, places)
            try:
                clause = _ClauseReader(tokens, places).clause(text)
            except SyntaxProblem as problem:
                problems.append(explained(problem, text, tokens[0].start).diagnostic(places))
                position = skip_layout(text, position)
                continue
        clauses.append(clause)
        if known is not None:
            found[begin] = clause, position
        position = skip_layout(text, position)
    if known is not None:
        known.source, known.text, known.clauses = source, text, found
    return clauses, problems


# Most of a background file is facts with plain arguments; one match reads such a fact.
_ARGUMENT = r"(?>'[^'\\\r\n]*+'(?!')|-?[0-9]{1,18}+(?:\.[0-9]{1,18}+)?(?![\w.'])|[a-z][A-Za-z0-9_]*+)"
_FACT = re.compile(rf"([a-z][A-Za-z0-9_]*+)\(\s*+({_ARGUMENT}(?:\s*+,\s*+{_ARGUMENT})*)\s*+(\))\s*+\.(?=[\s%]|\Z)")
_ARGUMENTS = re.compile(_ARGUMENT)


def _plain_fact(fact: re.Match[str], places: Places) -> Clause:
    start = fact.start()
    whole = places.span(start, fact.end(3))  # of the head and, close enough, of the clause
    source, line, shift = whole.source, whole.line, whole.column - start
    args: list[Term] = []
    for argument in _ARGUMENTS.finditer(fact.string, fact.start(2), fact.end(2)):
        word, (begin, stop) = argument.group(), argument.span()
        if whole.end_line == line:
            span = Span(source, line, begin + shift, line, stop + shift)
        else:
            span = places.span(begin, stop)
        if word[0] == "'":
            args.append(Atom(word[1:-1], span))
        elif word[0].isalpha():
            args.append(Atom(word, span))
        else:
            args.append(Number(float(word) if "." in word else int(word), span))
    return Clause(Compound(fact.group(1), tuple(args), whole), None, whole)


class _ClauseReader:
    """Reads the tokens of one clause."""

    def __init__(self, tokens: list[Token], places: Places) -> None:
        last = tokens[-1]
        self.tokens = tokens
        # Two sentinels stand for the end of a clause that has none, and for what follows its end.
        self.tokens += [Token("stop", "", last.end, last.end)] * 2
        self.places = places
        self.at = 0
        self.open: list[Token] = []
        self.anonymous = 0
        self.named = {token.text for token in tokens if token.kind == "variable"}

    def clause(self, text: str) -> Clause:
        """The whole clause of the text, up to its full stop."""
        start = self.tokens[0].start
        term = self.term(1200, 0)
        token = self.tokens[self.at]
        if token.kind == "stop":
            raise clause_not_ended(self.tokens, self.at, text)
        if token.kind != "end":
            raise unexpected(self.tokens, self.at, None)
        span = self.places.span(start, token.end)
        clause = Clause(term, None, span)
        if isinstance(term, Compound) and term.functor in (":-", "?-"):
            clause = Clause(None if len(term.args) == 1 else term.args[0], term.args[-1], span)
        for part, is_goal in ((clause.head, False), (clause.body, True)):
            if part is not None:
                self.check_depth(part, is_goal)
        return clause

    def term(self, limit: int, depth: int) -> Term:
        """A term whose operators have at most the priority `limit`."""
        if depth > MAX_DEPTH:
            raise too_deep(self.tokens[self.at])
        start = self.tokens[self.at].start
        term, priority = self.operand(limit, depth)
        return self.continued(term, priority, start, limit, depth)

    def continued(self, term: Term, priority: int, start: int, limit: int, depth: int) -> Term:
        """The term that begins with `term`, of the given priority, and goes on with infix operators."""
        while True:
            token = self.tokens[self.at]
            operator = INFIX.get(token.text) if token.kind in ("symbol", "word", "mark") else None
            if operator is None or operator[0] > limit or priority > operator[1]:
                return term
            name = token.text
            priority, left, right = operator
            self.at += 1
            if name in RIGHT:  # a chain such as a, b, c is read in a loop and folded from the right
                terms, starts = [term], [start]
                while True:
                    starts.append(self.tokens[self.at].start)
                    terms.append(self.term(left, depth + 1))
                    if self.tokens[self.at].text != name or self.tokens[self.at].kind == "quoted":
                        break
                    self.at += 1
                # The last one may have another operator of the same priority, as in 2 ^ 3 ** 4.
                terms[-1] = self.continued(terms[-1], left, starts[-1], right, depth + 1)
                end = self.tokens[self.at - 1].end
                term = terms.pop()
                for begin in reversed(starts[:-1]):
                    term = Compound(name, (terms.pop(), term), self.places.span(begin, end))
            else:
                term = Compound(name, (term, self.term(right, depth + 1)),
                                self.places.span(start, self.tokens[self.at - 1].end))

    def operand(self, limit: int, depth: int) -> tuple[Term, int]:
        """A term without infix operators, and its priority."""
        token = self.tokens[self.at]
        follower = self.tokens[min(self.at + 1, len(self.tokens) - 1)]
        kind, text = token.kind, token.text
        called = follower.text == "(" and follower.kind == "mark" and follower.start == token.end
        if kind == "number":
            self.at += 1
            return self.number(token, token, 1), 0
        if kind == "variable":
            if called:
                raise not_a_term(self.tokens, self.at)
            self.at += 1
            return self.variable(token), 0
        if kind in ("word", "quoted", "symbol"):
            name = unquote(text) if kind == "quoted" else text
            if name is None:
                raise not_a_term(self.tokens, self.at)
            if called:
                self.at += 1
                args = self.items(")", depth)
                return Compound(name, tuple(args), self.places.span(token.start, self.tokens[self.at - 1].end)), 0
            if kind != "quoted" and text in PREFIX and self.starts_term(self.at + 1):
                return self.prefixed(token, limit, depth)
            if kind != "symbol" or self.stands_alone():
                self.at += 1
                return Atom(name, self.places.span(token.start, token.end)), 0
        elif text == "(":
            self.at += 1
            self.open.append(token)
            term = self.term(1200, depth + 1)
            self.close(")")
            return term, 0
        elif text == "[":
            return self.bracketed(depth), 0
        elif text == "!" and kind == "mark":
            self.at += 1
            return Atom("!", self.places.span(token.start, token.end)), 0
        raise not_a_term(self.tokens, self.at)

    def prefixed(self, token: Token, limit: int, depth: int) -> tuple[Term, int]:
        """A prefix operator with its operand; a minus right before a number makes it negative."""
        follower = self.tokens[self.at + 1]
        if token.text == "-" and follower.kind == "number" and follower.start == token.end:
            self.at += 2
            return self.number(token, follower, -1), 0
        priority, inner = PREFIX[token.text]
        if priority > limit:
            priority, inner = 999, 999
        self.at += 1
        argument = self.term(inner, depth + 1)
        return Compound(token.text, (argument,), self.places.span(token.start, self.tokens[self.at - 1].end)), priority

    def number(self, first: Token, token: Token, sign: int) -> Number:
        value = number(token.text)
        if value is None:
            raise not_a_term(self.tokens, self.at - 1)
        if not fits(sign * value):
            raise SyntaxProblem("bad-number", NOT_64_BITS, token.start, token.end, IN_64_BITS)
        return Number(sign * value, self.places.span(first.start, token.end))

    def variable(self, token: Token) -> Variable:
        span = self.places.span(token.start, token.end)
        if token.text != "_":
            return Variable(token.text, False, span)
        self.anonymous += 1
        while f"_{self.anonymous}" in self.named:
            self.anonymous += 1
        return Variable(f"_{self.anonymous}", True, span)

    def bracketed(self, depth: int) -> ListTerm:
        """A list, its opening bracket being the current token."""
        start = self.tokens[self.at].start
        if self.tokens[self.at + 1].text == "]":
            self.at += 2
            return ListTerm((), None, self.places.span(start, self.tokens[self.at - 1].end))
        items = self.items("]", depth)
        tail = None
        if self.tokens[self.at - 1].text == "|":
            tail = self.term(999, depth + 1)
            self.close("]")
            if isinstance(tail, ListTerm):
                items, tail = [*items, *tail.items], tail.tail
        return ListTerm(tuple(items), tail, self.places.span(start, self.tokens[self.at - 1].end))

    def items(self, closing: str, depth: int) -> list[Term]:
        """Terms separated by commas up to the closing bracket (or a `|` in a list), which is consumed."""
        self.open.append(self.tokens[self.at])
        items: list[Term] = []
        while True:
            self.at += 1
            items.append(self.term(999, depth + 1))
            token = self.tokens[self.at]
            if token.kind != "mark" or token.text != ",":
                break
        if closing == "]" and token.kind == "mark" and token.text == "|":
            self.at += 1
        else:
            self.close(closing)
        return items

    def close(self, closing: str) -> None:
        token = self.tokens[self.at]
        if token.kind != "mark" or token.text != closing:
            raise unclosed(self.tokens, self.at, self.open[-1], self.places)
        self.open.pop()
        self.at += 1

    def starts_term(self, at: int) -> bool:
        """Whether a term can begin with the token at `at`."""
        token = self.tokens[at]
        if token.kind in ("number", "variable", "quoted"):
            return True
        follower = self.tokens[min(at + 1, len(self.tokens) - 1)]
        if token.kind in ("word", "symbol"):
            called = follower.text == "(" and follower.start == token.end
            return called or (token.kind == "word" and token.text not in INFIX) or token.text in PREFIX
        return token.kind == "mark" and token.text in ("(", "[", "!")

    def stands_alone(self) -> bool:
        """Whether the current symbol is an atom by itself, as in `f(-, a)`."""
        before = self.tokens[self.at - 1].text if self.at else ""
        after = self.tokens[self.at + 1]
        return after.kind == "mark" and after.text in (",", ")", "]", "|") and before in ("(", "[", ",", "|")

    def check_depth(self, term: Term, is_goal: bool) -> None:
        """Refuses terms nested too deeply; the right spine of `,` and `;` between goals does not count."""
        stack: list[tuple[Term, int, bool]] = [(term, 0, is_goal)]
        while stack:
            node, depth, goal = stack.pop()
            if depth > MAX_DEPTH:
                span = node.span
                assert span is not None
                raise too_deep(span)
            if isinstance(node, Compound):
                control = goal and len(node.args) == 2 and node.functor in (",", ";")
                last = node.args[-1]
                stack.append((last, depth if control else depth + 1, control))
                stack.extend((arg, depth + 1, control) for arg in node.args[:-1])
            elif isinstance(node, ListTerm):
                stack.extend((arg, depth + 1, False) for arg in node.items)
                if node.tail is not None:
                    stack.append((node.tail, depth + 1, False))
