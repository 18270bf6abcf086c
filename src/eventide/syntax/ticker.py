"""What is Ticker's own in its programs: comparisons and arithmetic written as atoms, `leq(X,Y)` and `plus(X,Y,Z)`."""

from __future__ import annotations

from collections.abc import Sequence

from eventide.syntax.diagnostics import Diagnostic
from eventide.syntax.lars_trees import Comparison, Element, Literal, Rule
from eventide.syntax.terms import Atom, Compound, functor_of

COMPARING = {"eq": "=", "neq": "!=", "lt": "<", "leq": "<=", "gt": ">", "geq": ">="}
COMPUTING = {"plus": "+", "sum": "+", "minus": "-", "times": "*", "product": "*", "divide": "/", "modulo": "%",
             "power": "^"}


def relations_used(rules: Sequence[Rule], facts: Sequence[Atom | Compound]) -> list[Literal]:
    """The atoms that are comparisons in Ticker, if the program defines no predicate of their name.

    A program without a line that names its language is taken as Ticker's if it has one of them.
    """
    defined = {functor_of(fact) for fact in facts} | {rule.head.predicate for rule in rules if rule.head is not None}
    return [literal for rule in rules for literal in rule.literals
            if literal.modality == "now" and not literal.negated and literal.predicate not in defined
            and literal.predicate in {(name, 2) for name in COMPARING}]


def told(used: Sequence[Literal]) -> Diagnostic:
    """That a program is read as Ticker's, and why."""
    return Diagnostic("info", "read-as-ticker", f"read as a program of Ticker: {used[0]} is a comparison", used[0].span,
                      "begin the file with '% language: ticker', or with '% language: lars' if it is a predicate")


def with_comparisons(rule: Rule, problems: list[Diagnostic]) -> Rule:
    """The rule with comparisons and arithmetic in place of Ticker's atoms for them.

    >>> from eventide.syntax.lars import parse
    >>> print(parse("% language: ticker\\nh(Z) :- a(X) [5], leq(18,X), plus(X,1,Z).").tree)
    h(Z) :- a(X) [5], 18 <= X, X + 1 = Z.
    """
    body: list[Element] = []
    for element in rule.body:
        found = _comparison(element) if isinstance(element, Literal) else None
        if isinstance(element, Literal) and found is not None and (element.negated or element.modality != "now"):
            problems.append(Diagnostic("error", "relation-with-window", f"'{element}' is a comparison, which has no "
                                       "window and no 'not'", element.span, f"write {found}"))
        body.append(element if found is None else found)
    return Rule(rule.head, tuple(body), rule.span)


def _comparison(literal: Literal) -> Comparison | None:
    name, arity = literal.predicate
    if not isinstance(literal.atom, Compound):
        return None
    args = literal.atom.args
    if arity == 2 and name in COMPARING:
        return Comparison(COMPARING[name], args[0], args[1], literal.span)  # type: ignore[arg-type]
    if arity == 3 and name in COMPUTING:
        return Comparison("=", Compound(COMPUTING[name], args[:2], literal.span), args[2], literal.span)
    return None
