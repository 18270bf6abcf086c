"""Laser's programs to trees: one rule per line, `time_win(n,0,1,diamond(a))`, `and`, no full stop."""

from __future__ import annotations

import re

from eventide.syntax.diagnostics import Diagnostic
from eventide.syntax.lars_expressions import Expressions
from eventide.syntax.lars_tokens import tokens_of
from eventide.syntax.lars_trees import Comparison, Element, Head, Literal, Rule, Window
from eventide.syntax.syntax_errors import SyntaxProblem
from eventide.syntax.terms import Compound, Number
from eventide.syntax.tokens import Places, Token

_LINE = re.compile(r"""[ \t]*["']?(?P<rule>[^"'\r\n#%]*?)["']?[ \t]*,?[ \t]*(?:[#%].*)?$""", re.MULTILINE)


def read_rules(text: str, source: str) -> tuple[list[Rule], list[Diagnostic]]:
    """The rules of a text, and one diagnostic for each line that is none. Quotes around a line are left out.

    >>> rules, _ = read_rules('"h(Y) :- time_win(2,0,1,diamond(p(Y))) and COMP(<=,Y,3)",', "rules")
    >>> print(rules[0])
    h(Y) :- p(Y) [2], Y <= 3.
    """
    places = Places(text, source)
    rules: list[Rule] = []
    problems: list[Diagnostic] = []
    for line in _LINE.finditer(text):
        if not line["rule"].strip():
            continue
        start = line.start("rule")
        tokens = [Token(t.kind, t.text, t.start + start, t.end + start) for t in tokens_of(line["rule"])]
        reader = _LineReader(tokens, places)
        try:
            rules.append(reader.rule())
        except SyntaxProblem as problem:
            problems.append(problem.diagnostic(places))
        problems.extend(reader.notes)
    return rules, problems


class _LineReader(Expressions):
    """Reads the tokens of one line."""

    def __init__(self, tokens: list[Token], places: Places) -> None:
        super().__init__(tokens, places)
        self.notes: list[Diagnostic] = []

    def rule(self) -> Rule:
        """The rule of the line."""
        first = self.next
        if self.taken("@"):
            self.expect("(")
            time = self.time()
            self.expect(",")
            head = Head(self.atom(), time)
            self.expect(")")
        else:
            head = Head(self.atom())
        head = Head(head.atom, head.time, self.span_from(first))
        self.expect(":-")
        body = [self.element()]
        while self.taken("and"):
            body.append(self.element())
        if self.next.text == "or":
            raise self.problem("laser-or", "'or' has no meaning in Laser either", self.next,
                               "write one rule for each alternative")
        self.taken(".")
        if self.next.kind != "stop":
            raise self.unexpected("in Laser's rules 'and' stands between the parts of a body")
        return Rule(head, (*body, *self.named), self.span_from(first))

    def expect(self, text: str) -> None:
        """Take a token that must come."""
        if not self.taken(text):
            raise self.unexpected(f"'{text}' is expected here")

    def element(self) -> Element:
        """A part of a body."""
        first = self.next
        if first.text in ("COMP", "MATH"):
            self.at += 1
            return self.operation(first)
        if first.text == "predicate_win":
            raise self.problem("predicate-window", "Laser itself has no evaluation of predicate_win", first,
                               "use a window by time or by tuples")
        return self.formula(first, None, False, within=False)

    def operation(self, first: Token) -> Comparison:
        """`COMP(op, X, Y)` or `MATH(op, Z, X, Y)`."""
        self.expect("(")
        operator = self.next.text
        known = ("<", "<=", ">", ">=", "=", "!=") if first.text == "COMP" else ("+", "-", "*", "/")
        operator = {"==": "="}.get(operator, operator)
        if operator not in known:
            raise self.problem("unknown-operator", f"{first.text} knows no '{operator}'", self.next,
                               f"known are {' '.join(known)}")
        self.at += 1
        terms = []
        for _ in range(2 if first.text == "COMP" else 3):
            self.expect(",")
            terms.append(self.expression())
        self.expect(")")
        span = self.span_from(first)
        if first.text == "COMP":
            return Comparison(operator, terms[0], terms[1], span)  # type: ignore[arg-type]
        return Comparison("=", terms[0], Compound(operator, (terms[1], terms[2]), span), span)

    def formula(self, first: Token, window: Window | None, negated: bool, within: bool) -> Literal:
        """An atom with what stands around it; `within` a window or a negation only some may follow."""
        word = self.next.text
        called = self.following(1).text == "("
        if word == "not" and called:
            if negated:
                raise self.problem("double-not", "'not' twice", self.next, "write the atom itself")
            self.at += 2
            literal = self.formula(first, window, True, within)
            self.expect(")")
            return self.spanned(literal, first)
        if word in ("time_win", "tuple_win") and called:
            if within:
                raise self.problem("nested-window", "windows inside windows are not supported", self.next,
                                   "give the inner one a rule of its own, with its conclusion at a time: @(T,h)")
            self.at += 2
            found = self.window(word, first)
            self.expect(",")
            literal = self.formula(first, found, negated, True)
            self.expect(")")
            return self.spanned(literal, first)
        if word in ("box", "diamond") and called:
            return self.spanned(self.modal(word, first, window, negated), first)
        if word == "@":
            self.at += 1
            self.expect("(")
            time = self.time()
            self.expect(",")
            atom = self.atom()
            self.expect(")")
            return Literal(atom, "at", time, window, negated, self.span_from(first))
        atom = self.atom()
        if window is not None and window.kind != "time":
            raise self.problem("now-in-tuples", "a plain atom under tuple_win asks for now among the last tuples",
                               first, "write diamond(…), box(…) or @(T,…) around it")
        return Literal(atom, "now", None, None, negated, self.span_from(first))

    def spanned(self, literal: Literal, first: Token) -> Literal:
        """The literal with the place of all that was written."""
        return Literal(literal.atom, literal.modality, literal.time, literal.window, literal.negated,
                       self.span_from(first))

    def modal(self, word: str, first: Token, window: Window | None, negated: bool) -> Literal:
        """`box(a)` or `diamond(a)`; `diamond(not(a))` is how Laser writes and evaluates a nowhere in the window."""
        self.at += 2
        if self.next.text == "not" and self.following(1).text == "(":
            inner = self.next
            if word == "box" or negated:
                raise self.problem("not-in-box", f"'not' inside {word} is not supported", inner,
                                   "write not(box(a)) or not(diamond(a))")
            self.at += 2
            atom = self.atom()
            self.expect(")")
            self.notes.append(Diagnostic("warning", "not-in-diamond", "diamond(not(a)) is read as Laser evaluates it: "
                                         "a nowhere in the window", self.span_from(inner), "write not(…) outside"))
            negated = True
        else:
            atom = self.atom()
        self.expect(")")
        return Literal(atom, "always" if word == "box" else "sometime", None, window, negated, self.span_from(first))

    def window(self, word: str, first: Token) -> Window:
        """The sizes of a window; its formula follows."""
        sizes = [self.size()]
        if word == "tuple_win":
            if sizes[0] == 0:
                raise self.problem("window-size", "a window of 0 tuples sees nothing", first, "at least 1")
            return Window("tuple", sizes[0], (), self.span_from(first))
        for _ in range(2):
            self.expect(",")
            sizes.append(self.size())
        if sizes[1]:
            raise self.problem("future-window", "a window cannot look ahead: at t nothing later is known", first,
                               "write 0 as the second number, and conclude later")
        return Window("time", sizes[0] * sizes[2], (), self.span_from(first))

    def size(self) -> int:
        """A whole number."""
        token = self.next
        term = self.expression()
        if isinstance(term, Number) and isinstance(term.value, int) and term.value >= 0:
            return term.value
        raise self.problem("window-size", "a window needs a whole number", token, "time_win(5,0,1,diamond(a))")
