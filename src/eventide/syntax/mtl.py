"""DatalogMTL programs: text to rules, in Eventide's own syntax or MeTeoR's. What a rule means is not decided here.

A wrong rule yields one diagnostic, and reading goes on with the next rule. The grammar:

    rule       head.    head :- condition, …, condition.
    head       ([]+ range)* predicate
    condition  formula    expression (= | != | < | <= | > | >=) expression
    formula    unary    unary since range unary    not formula
    unary      (<>- | []-) range unary    (formula)    predicate    not unary (after an operator)
    range      [a,b]  (a,b)  [a,b)  (a,b]  [a,inf)  (a,inf)

Numbers of ranges are integers, decimals or fractions `n/d`. `not` applies to the whole formula that follows it; below
an operator it comes out with the operator turned into its dual, since `[]-r not F` says `not <>-r F`.
Variables begin with a capital letter or `_`; predicates may begin with any letter.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Literal

from eventide.syntax import meteor
from eventide.syntax.diagnostics import Diagnostic
from eventide.syntax.mtl_errors import (
    RULE,
    after_rule,
    before_condition,
    instead_of_bound,
    instead_of_comma,
    instead_of_range,
)
from eventide.syntax.mtl_tokens import STOP, TokenReader, exact, tokens_of
from eventide.syntax.mtl_trees import (
    Compare,
    Condition,
    Formula,
    HeadOperator,
    Holds,
    Metric,
    Not,
    Operator,
    ParsedRules,
    Range,
    Rule,
    Since,
)
from eventide.syntax.syntax_errors import SyntaxProblem, explained, open_quote
from eventide.syntax.terms import Atom, Compound, Number, Term, Variable
from eventide.syntax.tokens import IN_64_BITS, NOT_64_BITS, Places, Token, fits, is_variable, number, unquote

MAX_DEPTH = 100
_COMPARISONS: dict[str, Literal["=", "!=", "<", "<=", ">", ">="]] = {
    "=": "=", "==": "=", "=:=": "=", "is": "=", "!=": "!=", "\\=": "!=", "=\\=": "!=", "<>": "!=", "<": "<",
    "<=": "<=", "=<": "<=", ">": ">", ">=": ">=",
}
_OPERATORS: dict[str, Operator] = {"<>-": "<>-", "[]-": "[]-", "<>+": "<>+", "[]+": "[]+"}
_DUAL: dict[Operator, Operator] = {"<>-": "[]-", "[]-": "<>-", "<>+": "[]+", "[]+": "<>+"}
_LEVELS = (("+", "-"), ("*", "/", "//", "mod"), ("**",))


def parse(text: str, source: str = "<text>") -> ParsedRules:
    """The rules of a text; `source` names it in diagnostics.

    >>> parse("[]+[0,3] Mon(X) :- Req(X), not <>-(0,1/2] Down(X).").rules[0].body[1].formula.range.high
    Fraction(1, 2)
    >>> print(parse("P(X) :- Diamondminus[1,2]Q(X), ALWAYS[-4,0)R").rules[0])
    P(X) :- <>-[1,2] Q(X), []-(0,4] R.
    >>> print(parse("P :- <>-[3 Q.", "toy.mtl").diagnostics[0].render())
    toy.mtl:1:12: error: 'Q' where ',' and the second bound of the range belong [bad-range]
        hint: write ranges as [1,2], (0,1/2] or [3,inf)
    """
    places = Places(text, source)
    tokens = tokens_of(text)
    if meteor.is_meteor(tokens):
        tokens = list(meteor.with_line_ends(tokens, text))
    reader = _Reader(tokens, places)
    rules: list[Rule] = []
    problems: list[Diagnostic] = []
    while reader.at < len(tokens):
        begin = reader.at
        try:
            rules.append(reader.rule())
        except SyntaxProblem as problem:
            problems.append(explained(problem, text, tokens[begin].start, RULE, ".mtl").diagnostic(places))
            reader.skip(begin)
    return ParsedRules(tuple(rules), tuple(problems), text, source)


class _Reader(TokenReader):
    """Reads one rule after the other; `at` is the place among the tokens."""

    def __init__(self, tokens: list[Token], places: Places) -> None:
        super().__init__(tokens, places)
        self._anonymous = 0
        self._depth = 0

    # -- rules ------------------------------------------------------------------------------------------------

    def rule(self) -> Rule:
        """The rule that begins here, its full stop included."""
        begin = self.at
        self._anonymous = self._depth = 0
        operators: list[HeadOperator] = []
        while (operator := self._operator()) is not None:
            first = self.at
            self.at += 1
            operators.append(HeadOperator(*self._ranged(*operator), self._span(first)))
        head = self._predicate()
        body: list[Condition] = []
        if self.peek().kind == "implies":
            self.at += 1
            body.append(self._condition())
            while self._take(","):
                body.append(self._condition())
        span = self._span(begin)
        if self.peek().kind != "end":
            raise after_rule(self, begin)
        self.at += 1
        return Rule(tuple(operators), head, tuple(body), span)

    def _condition(self) -> Condition:
        begin = self.at
        wrong = before_condition(self)
        if wrong is not None:
            raise wrong
        if not self._denies() and self.compares():
            return self._comparison()
        found = self._formula()
        return Not(found.formula, self._span(begin)) if isinstance(found, Not) else found

    def _denies(self) -> bool:
        return self.peek().text in ("not", "\\+") and self.peek().kind != "quoted"

    # -- formulas ---------------------------------------------------------------------------------------------

    def _formula(self) -> Formula | Not:
        begin = self.at
        if self._denies():
            self._deeper()
            self.at += 1
            return _denied(self._formula())
        left = self._unary()
        word = self._since()
        if word is None:
            return left
        self.at += 1
        span = self._range()
        right = self._unary()
        if isinstance(left, Not) or isinstance(right, Not):
            raise SyntaxProblem("nested-negation", f"a side of '{word}' is negated", self._span(begin), 0,
                                "give the negation a name, with a rule that says for which values and when it is asked")
        if self._since() is not None:
            raise self.problem("ambiguous", f"'{self.peek().text}' follows another one",
                                "parentheses say which comes first: (A since[0,1] B) since[0,2] C")
        return Since(word, span, left, right, self._span(begin))

    def _since(self) -> Literal["since", "until"] | None:
        token = self.peek()
        if token.kind != "word" or not (token.text in ("since", "until") or (
                token.text in ("Since", "Until") and meteor.starts_range(self.tokens, self.at + 1))):
            return None
        return "since" if token.text in ("since", "Since") else "until"

    def _deeper(self) -> None:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise self.problem("too-deep", "the formula is nested too deeply",
                                "split it: give a part a name with a rule of its own")

    def _unary(self) -> Formula | Not:
        begin = self.at
        self._deeper()
        operator = self._operator()
        found: Formula | Not
        if operator is not None:
            self.at += 1
            word, span = self._ranged(*operator)
            if self._denies():
                self.at += 1
                child = _denied(self._unary())
            else:
                child = self._unary()
            found = Not(Metric(_DUAL[word], span, child.formula, self._span(begin))) if isinstance(child, Not) else \
                Metric(word, span, child, self._span(begin))
        elif self._take("("):
            found = self._formula()
            self._close()
        else:
            found = self._predicate()
        self._depth -= 1
        return found

    def _close(self) -> None:
        if not self._take(")"):
            raise self.problem("missing-bracket", f"{self.shown()} where ')' belongs", "close the parenthesis"
                                if self.peek().text != "," else "parentheses hold one formula: give the conditions a "
                                "name with a rule of its own, Both(X) :- P(X), Q(X).")

    def _operator(self) -> tuple[Operator, bool] | None:
        """The operator that stands here, and whether its range is seen from now."""
        text = self.peek().text
        if text in _OPERATORS:
            return _OPERATORS[text], False
        if self.peek() is STOP or not meteor.is_operator(self.tokens, self.at):
            return None
        if text in meteor.SEEN_FROM_NOW:
            return meteor.SEEN_FROM_NOW[text], True
        return (meteor.OPERATORS[text], False) if text in meteor.OPERATORS else None

    def _ranged(self, operator: Operator, seen_from_now: bool) -> tuple[Operator, Range]:
        """An operator with its range; one that is seen from now turns round unless it lies ahead."""
        span = self._range(seen_from_now)
        if not seen_from_now or span.high is None or span.high > 0 or span.low >= 0:
            return operator, span
        ahead: Operator = "<>+" if operator == "<>-" else "[]+"
        return ahead, Range(-span.high, span.high_closed, -span.low, span.low_closed, span.span)

    def _range(self, seen_from_now: bool = False) -> Range:
        hint = "write ranges as [1,2], (0,1/2] or [3,inf)"
        begin = self.at
        opening = self.peek().text
        if opening not in ("[", "("):
            raise self.problem("missing-range", f"{self.shown()} where the range of the operator belongs",
                                instead_of_range(self.peek()) or f"{hint}; [0,inf) is all of the past")
        self.at += 1
        low = high = self._bound(hint)
        if self._take(","):
            high = self._bound(hint)
        elif self.peek().text != "]" or opening == "(":
            raise self.problem("bad-range", f"{self.shown()} where ',' and the second bound of the range belong",
                               instead_of_comma(self.peek()) or hint)
        closing = self.peek().text
        if self.peek().kind == "word" and self.peek().start == self.tokens[self.at - 1].end:
            raise self.problem("bad-range", f"'{closing}' after a number: ranges have no units",
                                "write the number alone, in the unit of the facts")
        if closing not in ("]", ")"):
            raise self.problem("bad-range", f"{self.shown()} where the range should end",
                                f"write ']' after '{self.tokens[self.at - 1].text}'" if closing != "," else
                                "a range has two bounds; fractions are written 2.5 or 5/2")
        self.at += 1
        low_closed, high_closed = opening == "[", closing == "]"
        if seen_from_now:
            low, high = _minus(high), _minus(low)
            low_closed, high_closed = high_closed, low_closed
        if low in ("inf", "-inf") or high == "-inf":
            raise SyntaxProblem("bad-range", "a range begins at a number", self._span(begin), 0, hint)
        bound = high if isinstance(high, Fraction) else None
        assert isinstance(low, Fraction)
        return Range(low, low_closed, bound, high_closed and bound is not None, self._span(begin))

    def _bound(self, hint: str) -> Fraction | str:
        sign = -1 if self._take("-") else 1
        self._take("+")
        token = self._next()
        if token.kind == "word" and token.text == "inf":
            return "inf" if sign > 0 else "-inf"
        if token.kind != "number":
            self.at -= 1
            raise self.problem("bad-range", f"{self.shown()} where a number belongs",
                                instead_of_bound(token) or hint)
        value = exact(token)
        if value is None:
            raise self.problem("bad-number", "the number is too long", "write it shorter", token)
        if self.peek().text == "/" and self.peek(1).kind == "number":
            self.at += 1
            divisor = exact(self._next())
            if not divisor:
                raise self.problem("bad-number", "a fraction needs a divisor other than 0", hint,
                                    self.tokens[self.at - 1])
            value /= divisor
        return sign * value

    def _predicate(self) -> Holds:
        begin = self.at
        token = self._next()
        if token.kind == "word" and token.text == "not":
            raise self.problem("nested-negation", "'not' cannot stand here",
                                "negate a condition, or what stands below an operator", token)
        if token.text in ("'", '"'):
            raise open_quote(token)
        if token.kind not in ("word", "quoted") or (token.kind == "word" and token.text in ("since", "until")):
            self.at -= 1
            raise self.problem("expected-predicate", f"{self.shown()} where a predicate belongs",
                                "a predicate is a name with its arguments, such as Mon(X,Z)")
        name = token.text if token.kind == "word" else self._unquoted(token)
        arguments: list[Term] = []
        if self._take("("):
            arguments.append(self._argument())
            while self._take(","):
                arguments.append(self._argument())
            if not self._take(")"):
                raise self.problem("missing-bracket", f"{self.shown()} where ')' belongs",
                                    f"arguments of {name} are separated by ',' and end with ')'")
        return Holds(name, tuple(arguments), self._span(begin))

    def _argument(self) -> Term:
        token = self.peek()
        sign = -1 if self._take("-") else 1
        found = self._simple()
        if isinstance(found, Number):
            return Number(sign * found.value, self.places.span(token.start, self.tokens[self.at - 1].end))
        if self.peek().text in ("'", '"') and self.peek().kind == "bad":
            raise open_quote(self.peek())
        if found is None or sign < 0:
            raise self.problem("bad-argument", f"{self.shown()} where an argument belongs",
                                "arguments are constants, numbers or variables")
        if self.peek().text == "(" and isinstance(found, Atom):
            raise self.problem("bad-argument", f"'{found}(…)' cannot be an argument",
                                "arguments are constants, numbers or variables", token)
        return found

    def _simple(self) -> Term | None:
        """The constant, number or variable that stands here, if one does."""
        token = self.peek()
        span = self.places.span(token.start, token.end) if token is not STOP else None
        self.at += 1
        if token.kind == "number":
            value = number(token.text)
            if value is None:
                raise self.problem("bad-number", "the number is too large", "write it shorter", token)
            if not fits(value):
                raise self.problem("bad-number", NOT_64_BITS, IN_64_BITS, token)
            return Number(value, span)
        if token.kind == "quoted":
            return Atom(self._unquoted(token), span)
        if token.kind == "word":
            if token.text == "_":
                self._anonymous += 1
                return Variable(f"_{self._anonymous}", True, span)
            return Variable(token.text, False, span) if is_variable(token.text) else Atom(token.text, span)
        self.at -= 1
        return None

    def _unquoted(self, token: Token) -> str:
        name = unquote(token.text)
        if name is None:
            raise self.problem("bad-quote", "an unknown escape in a quoted name", "write a backslash twice", token)
        return name

    # -- comparisons ------------------------------------------------------------------------------------------

    def _comparison(self) -> Compare:
        begin = self.at
        left = self._expression()
        token = self._next()
        if token.text == "=>":
            raise self.problem("unknown-operator", "'=>' is not an operator", "write '>='", token)
        if token.text not in _COMPARISONS:
            self.at -= 1
            raise self.problem("unexpected", f"{self.shown()} where a comparison belongs",
                                f"comparisons are {', '.join(dict.fromkeys(_COMPARISONS.values()))}")
        right = self._expression()
        return Compare(_COMPARISONS[token.text], left, right, self._span(begin))

    def _expression(self, level: int = 0) -> Term:
        if level == len(_LEVELS):
            return self._factor()
        begin = self.at
        found = self._expression(level + 1)
        while self.peek().text in _LEVELS[level] and self.peek().kind != "quoted":
            operator = self._next().text
            found = Compound(operator, (found, self._expression(level + 1)), None)
            found = Compound(found.functor, found.args, self._span(begin))
        return found

    def _factor(self) -> Term:
        begin = self.at
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise self.problem("too-deep", "the expression is nested too deeply", "compute a part of it first")
        found: Any
        if self._take("-"):
            inner = self._factor()
            found = Number(-inner.value, self._span(begin)) if isinstance(inner, Number) else \
                Compound("-", (inner,), self._span(begin))
        elif self._take("("):
            found = self._expression()
            self._close()
        else:
            found = self._simple()
            if found is None:
                raise self.problem("bad-argument", f"{self.shown()} where a value belongs",
                                    "expressions are made of numbers, variables and + - * / // mod **")
            if isinstance(found, Atom) and self._take("("):
                arguments = [self._expression()]
                while self._take(","):
                    arguments.append(self._expression())
                self._close()
                found = Compound(found.name, tuple(arguments), self._span(begin))
        self._depth -= 1
        return found  # type: ignore[no-any-return]


def _denied(formula: Formula | Not) -> Formula | Not:
    return formula.formula if isinstance(formula, Not) else Not(formula)


def _minus(bound: Fraction | str) -> Fraction | str:
    if isinstance(bound, Fraction):
        return -bound
    return "inf" if bound == "-inf" else "-inf"
