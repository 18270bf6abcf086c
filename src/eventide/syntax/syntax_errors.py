"""What a reader says about text it cannot read: each function looks at the tokens and returns one precise problem."""

from __future__ import annotations

from difflib import get_close_matches

from eventide.syntax.diagnostics import Diagnostic, Span
from eventide.syntax.tokens import FOREIGN, INFIX, MAX_DIGITS, Places, Token

_NAMES = ("happensAt", "holdsAt", "holdsFor", "initiatedAt", "terminatedAt", "initially", "grounding", "findall")


class SyntaxProblem(Exception):
    """A syntax error with its place, raised inside the reader and turned into a diagnostic there."""

    def __init__(self, code: str, message: str, start: int | Span, end: int, hint: str) -> None:
        super().__init__(message)
        self.code, self.message, self.start, self.end, self.hint = code, message, start, end, hint

    def diagnostic(self, places: Places) -> Diagnostic:
        """The problem as a value."""
        span = self.start if isinstance(self.start, Span) else places.span(self.start, max(self.end, self.start + 1))
        return Diagnostic("error", self.code, self.message, span, self.hint)


def _problem(code: str, message: str, token: Token, hint: str) -> SyntaxProblem:
    return SyntaxProblem(code, message, token.start, token.end, hint)


def too_deep(place: Token | Span) -> SyntaxProblem:
    """Parentheses, arguments or operators nest beyond the limit."""
    start, end = (place, 0) if isinstance(place, Span) else (place.start, place.end)
    return SyntaxProblem("too-deep", "the term is nested too deeply", start, end,
                         "split it: give a part a name with a rule of its own")


def clause_not_ended(tokens: list[Token], at: int) -> SyntaxProblem:
    """The text, or the next clause, begins where a full stop was expected; the place is right after the last token."""
    last = tokens[at - 1]
    return SyntaxProblem("missing-end", "the clause does not end with '.'", last.end, last.end + 1,
                         f"write '.' after '{last.text}'")


def unclosed(tokens: list[Token], at: int, opening: Token, places: Places) -> SyntaxProblem:
    """A bracket is not closed where it should be."""
    token, place = tokens[at], places.span(opening.start, opening.end)
    closing = ")" if opening.text == "(" else "]"
    if token.text in (")", "]", "}") and token.kind == "mark":
        return _problem("mismatched-bracket", f"'{token.text}' does not close '{opening.text}'", token,
                        f"'{opening.text}' at line {place.line}, column {place.column} needs '{closing}'")
    if token.kind in ("end", "stop") or token.text == ":-":
        return _problem("missing-bracket", f"missing '{closing}'", token,
                        f"'{opening.text}' at line {place.line}, column {place.column} is not closed")
    return unexpected(tokens, at, closing)


def unexpected(tokens: list[Token], at: int, closing: str | None) -> SyntaxProblem:
    """A complete term is followed by something that cannot follow it."""
    token, before = tokens[at], tokens[at - 1]
    shown = f"'{token.text}'"
    if token.kind in ("bad", "comment", "foreign"):
        return not_a_term(tokens, at)
    if token.kind == "mark" and token.text in (")", "]", "}"):
        opening = {")": "(", "]": "[", "}": "{"}[token.text]
        return _problem("unmatched-bracket", f"{shown} closes nothing", token,
                        f"remove {shown}, or write the missing '{opening}' before it")
    if token.text == ":-":
        return _problem("missing-end", "a second ':-' in one clause", token,
                        "the clause before it probably does not end with '.'")
    if token.text == "(" and before.kind in ("word", "quoted"):
        return _problem("space-before-bracket", f"a space between '{before.text}' and '('", token,
                        f"write '{before.text}(' without a space")
    if token.text in INFIX and token.kind != "quoted":
        return _problem("operator-chain", f"operator {shown} cannot follow here without parentheses", token,
                        "write two conditions: a =< b, b < c" if token.text in ("<", "=<", ">", ">=")
                        else "write two conditions, or put parentheses around one side")
    if before.kind == "number" and token.start == before.end:
        return _problem("bad-name", f"a name cannot begin with a digit: '{before.text}{token.text}'", before,
                        f"quote it: '{before.text}{token.text}'")
    where = f" or '{closing}'" if closing else ", an operator or '.'"
    return _problem("missing-comma", f"missing ','{where} before {shown}", token,
                    f"write ',' between '{before.text}' and {shown}")


def not_a_term(tokens: list[Token], at: int) -> SyntaxProblem:
    """A term should begin here, and does not."""
    token, before = tokens[at], tokens[at - 1] if at else None
    shown, after = f"'{token.text}'", f"after '{before.text}'" if before else "at the start of a clause"
    if token.kind == "variable":
        low = token.text.lstrip("_")
        low = low[:1].lower() + low[1:]
        near = get_close_matches(low, _NAMES, 1, 0.8)
        return _problem("variable-as-name", f"the variable {shown} is used as a name", token,
                        f"did you mean '{near[0] if near else low or 'a name'}'? names begin with a small letter")
    if token.kind == "foreign":
        return _problem("unknown-operator", f"{shown} is not an operator", token, f"write '{FOREIGN[token.text]}'")
    if token.kind == "comment":
        return _problem("open-comment", "the comment '/*' is not closed", token, "write '*/' at its end")
    if token.kind == "quoted":
        return _problem("bad-escape", "an unknown escape in a quoted name", token, "write a backslash as '\\\\'")
    if token.kind == "number":
        return _problem("bad-number", "the number is malformed or too large", token,
                        f"integers have at most {MAX_DIGITS} digits, floats are at most 1.7e308")
    if token.kind == "bad":
        return _bad_character(tokens, at)
    if token.text == "{":
        return _problem("unknown-bracket", "'{' is not used in rules", token, "use '(' for terms and '[' for lists")
    if token.text in ("[", "]", ")", "}") and token.kind == "mark":
        return _problem("missing-operand", f"a term is missing before {shown}", token,
                        f"remove the ',' before {shown}" if before and before.text == ","
                        else f"write a term {after}, or remove {shown}")
    if token.kind in ("end", "stop"):
        if before is not None and before.text == ",":
            return _problem("dangling-comma", "the clause ends after ','", before,
                            "write '.' instead of the last ',', or add the missing condition")
        return _problem("missing-operand", f"a term is missing {after}", token, "complete the clause before its '.'")
    if token.text == "," and before is not None and before.text == ",":
        return _problem("missing-operand", "two commas in a row", token, "remove one ','")
    return _problem("missing-operand", f"a term is missing before {shown}", token, f"write a term {after}")


def _bad_character(tokens: list[Token], at: int) -> SyntaxProblem:
    token = tokens[at]
    if token.text in "'\"":
        return _problem("open-quote", f"the quote {token.text} is not closed on its line", token,
                        f"write {token.text} at the end of the name; a quote inside it is written twice")
    if token.text == ".":
        if at + 1 < len(tokens) and tokens[at + 1].kind == "number":
            return _problem("bad-number", "a number cannot begin with '.'", token, f"write 0.{tokens[at + 1].text}")
        return _problem("missing-space", "'.' is not followed by a space or a new line", token,
                        "write a space after the '.' that ends a clause")
    return _problem("unknown-character", f"unexpected character {token.text!r}", token,
                    "quote names that have other characters than letters, digits and '_'")
