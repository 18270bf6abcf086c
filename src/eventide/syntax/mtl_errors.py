"""What the reader of DatalogMTL says about text that it cannot read; it looks at the tokens around the place."""

from __future__ import annotations

from itertools import islice, takewhile

from eventide.syntax.mtl_tokens import STOP, TokenReader
from eventide.syntax.syntax_errors import SyntaxProblem
from eventide.syntax.tokens import Token, is_variable
from eventide.syntax.vocabulary import closest

RULE = "a rule is written Alarm(X) :- []-[0,5] Hot(X)."
_MEANT = {**dict.fromkeys(("always", "historically", "globally", "box", "boxminus", "g", "h"), "[]-"),
          **dict.fromkeys(("once", "sometime", "sometimes", "eventually", "finally", "previously", "diamond", "past",
                           "diamondminus", "within", "in", "f", "o", "p"), "<>-"),
          "boxplus": "[]+", "diamondplus": "<>+"}
"""Names of the operators elsewhere, and how they are written here."""
_NOT = "negation is written `not P(X)`, after a comma like any condition"
_EACH = "write one rule for each alternative"
_ARROW = f"write ':-': {RULE}"
_BETWEEN = {"||": _NOT, "|": _NOT, ";": _EACH, "∨": _EACH, "or": _EACH, "&": "conditions are separated by ','",
            "and": "write ','", "∧": "write ','", "where": "write ','", "when": _ARROW, "if": _ARROW}
"""What people write between conditions, and what is written here."""
_BEFORE = {**dict.fromkeys("!~¬", "negation is written 'not'"), "◇": "write <>-[0,5] P(X)",
           **dict.fromkeys("□⊟⊞", "write []-[0,5] P(X)"), "<>": "write <>- for the past, as in <>-[0,5] P(X)",
           "[": "write []- for the past, as in []-[0,5] P(X)"}
"""What people write before a predicate, and what is written here."""
_INFINITE = ("infinity", "infinite", "oo", "∞")
_COUNTS = ("count", "sum", "min", "max", "avg")


def after_rule(reader: TokenReader, begin: int) -> SyntaxProblem:
    """A rule that began at the token `begin` is complete, and something follows that is not its full stop."""
    token, word = reader.peek(), reader.tokens[reader.at - 1]
    if token is STOP or (reader.at > begin and reader.places.begins_line(token.start)):
        return SyntaxProblem("missing-end", "the rule does not end with '.'", word.end, word.end + 1,
                             f"write '.' after '{word.text}'")
    if token.text == "@":
        return reader.problem("fact-in-rules", "facts with a time do not belong in a program",
                              "write them in a file that ends in .facts, one per line, and give it as --events")
    if token.text in ("[", "(") and word.kind == "word":
        meant = _MEANT.get(word.text.lower()) or _MEANT.get(closest(word.text, tuple(_MEANT)) or "")
        return reader.problem("unknown-operator", f"'{word.text}' is not an operator", f"write {meant}[0,5] P(X)"
                              if meant else "the operators are <>- (at some time), []- (all the time) and since", word)
    has_body = any(each.kind == "implies" for each in reader.tokens[begin:reader.at])
    if token.kind == "foreign" and not has_body:
        return reader.problem("unknown-arrow", f"'{token.text}' is not the arrow of rules",
                              "write ':-'" if token.text in "←⟵⇐" else f"the conclusion comes first: {RULE}")
    if token.text == "=" and not has_body and any(each.kind == "implies" for each in islice(
            takewhile(lambda each: each.kind != "end", reader.tokens[reader.at:]), 100)):
        return reader.problem("unexpected", "an atom has no value", "make it an argument: P(X,3)")
    if token.text in (":", "=") and not has_body:
        return reader.problem("unknown-arrow", f"'{token.text}' is not the arrow of rules", "write ':-'")
    if token.text.lower() in ("s", "since") and following_range(reader):
        return reader.problem("unexpected", f"'{token.text}' is not an operator", "write since, as in "
                              "P(X) since[0,5] Q(X)")
    if word.kind == "number" and token.kind == "bad":
        return reader.problem("unexpected", f"'{token.text}' after a number: numbers have no units",
                              "write the number alone, in the unit of the facts")
    if token.kind == "operator":
        return reader.problem("operator-after", f"'{token.text}' stands after its predicate",
                              f"an operator comes first: {token.text}[0,5] P(X)")
    if token.text == "," and not has_body:
        return reader.problem("two-heads", "a rule has one head", "write a rule for each, with the same conditions")
    following = reader.peek(1)
    if token.text == ";" and (following.kind in ("stop", "end") or reader.places.begins_line(following.start)):
        return reader.problem("semicolon-end", "the rule ends with ';'", "write '.' instead of ';'")
    return reader.problem("unexpected", f"{reader.shown()} cannot stand here", _BETWEEN.get(
        token.text.lower(), "conditions are separated by ',', and a rule ends with '.'"))


def following_range(reader: TokenReader) -> bool:
    """Whether a range begins behind the next token."""
    return reader.peek(1).text in ("[", "(")


def before_condition(reader: TokenReader) -> SyntaxProblem | None:
    """What is wrong with the token where a condition should begin, if it shows it."""
    token, before = reader.peek(), reader.tokens[reader.at - 1]
    if token.kind == "end":
        code, message = ("dangling-comma", "the rule ends after ','") if before.text == "," else \
            ("empty-body", "nothing follows ':-'")
        return reader.problem(code, message, "write '.' instead of it, or add the missing condition", before)
    if token.text in _BEFORE and token.kind != "quoted" and (
            token.text not in ("<>", "[") or reader.peek(1).text in ("[", "(", "]")):
        shown = "[]" if token.text == "[" else token.text
        return reader.problem("unknown-operator", f"'{shown}' is not an operator", _BEFORE[token.text])
    if token.kind == "word" and token.text.lower() in _COUNTS and reader.peek(1).text == "(" and reader.compares():
        return reader.problem("unknown-operator", f"'{token.text}' is not part of the language",
                              "rules do not count: []- says how long, <>- says within which time")
    return None


def instead_of_range(token: Token) -> str | None:
    """What to write where a token stands in place of a range, if the token tells."""
    if token.kind == "number":
        return f"write [0,{token.text}]: from now back to a distance of {token.text}"
    return "a range has square brackets: write [0,5]" if token.text == "{" else None


def instead_of_comma(token: Token) -> str | None:
    """What to write where a token stands between the bounds of a range, if the token tells."""
    return "write ',' between the two bounds" if token.text in (".", ":", ";", "-") else None


def instead_of_bound(token: Token) -> str | None:
    """What to write where a token stands in place of a bound, if the token tells."""
    if token.text.lower() in _INFINITE:
        return "write inf"
    is_name = token.kind == "word" and is_variable(token.text)
    return "bounds are numbers: they do not depend on variables" if is_name else None
