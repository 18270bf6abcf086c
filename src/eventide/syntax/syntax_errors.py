"""What a reader says about text it cannot read: each function looks at the tokens and returns one precise problem."""

from __future__ import annotations

import re
from difflib import get_close_matches

from eventide.syntax.diagnostics import Diagnostic, Span
from eventide.syntax.foreign import FORWARDS, at_the_place, at_the_start, ending_of, is_unit, language_of
from eventide.syntax.tokens import FOREIGN, INFIX, MAX_DIGITS, Places, Token
from eventide.syntax.vocabulary import ALLEN_RELATIONS, HEADS, TEMPORAL

_RULE = "a rule is written initiatedAt(F=V, T) :- conditions."
_ARROWS = {"=>": "the conclusion comes first", "==>": "the conclusion comes first",
           "<=": "'<=' is '=<' between numbers", ":=": "write ':-'", "::-": "write ':-'"}
_ARROW_WORDS = frozenset({"if", "when", "where", "iff"})
_WORDS = {"and": "write ','", "or": "write ';' between the alternatives, and parentheses around them",
          "then": "write ','", "where": "write ','", "with": "write ','", "having": "write ','",
          "between": "write two conditions: 1 =< X, X =< 10", "in": "write member(X, [a, b])",
          "like": "words are compared whole, with == or \\==", "unless": "write ', \\+' before the condition"}
_ORDER = ("<", "=<", ">", ">=")
_ENDS_WITH_PERCENT = re.compile(r"[ \t]*(%[ \t]*(?:\w+|\(.*\))?[ \t]*[.,])[ \t]*(?=[\r\n]|\Z)")
_LOOKALIKES = {"‘": "'", "’": "'", "“": '"', "”": '"', "„": '"', "«": '"', "»": '"', "´": "'", "–": "-", "—": "-",
               **dict.fromkeys("\u2010\u2011\u2012\u2015\ufe63\uff0d", "-"), "：": ":", "；": ";", "＝": "=",
               "−": "-", "¬": "\\+", "∧": ",", "∨": ";", "←": ":-", "⟵": ":-", "⇐": ":-",
               "≤": "=<", "≥": ">=", "≠": "\\=",
               "，": ",", "（": "(", "）": ")", "。": "."}
_OPERATIONS = {"∩": "intersect_all([I1, I2], I)", "∪": "union_all([I1, I2], I)",
               "∖": "relative_complement_all(I1, [I2], I)",
               "∈": "member(X, [a, b])", "∀": "\\+ (Condition, \\+ Other)", "∃": "the condition alone"}
_PERCENT = re.compile(r"[ \t]*%[ \t]*::")
_AGGREGATES = {"count": "count with findall(X, Goal, List), length(List, N), and compare N",
               **dict.fromkeys(("sum", "min", "max", "avg"),
                               "rules do not compute over many facts: give it as an argument of an event")}
_KINDS = frozenset({"event", "events", "fluent", "fluents", "input", "output", "entity", "type", "var", "declare"})
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


def explained(problem: SyntaxProblem, text: str, begin: int, rule: str = _RULE, ending: str = ".ec") -> SyntaxProblem:
    """The problem of a clause that begins at `begin`; a better one where the text is from somewhere else.

    `rule` says how rules are written, `ending` is that of the language's files.
    """
    if isinstance(problem.start, Span):
        return problem
    found = at_the_start(text, begin, rule) or at_the_place(text, problem.start)
    if found is not None:
        return SyntaxProblem(*found)
    other = ending_of(text, begin, max(problem.end, text.find("\n", problem.end)))
    if other is not None and other[1] != ending:
        return SyntaxProblem("other-language", f"this is a rule of {other[0]}", begin, problem.end,
                             f"such rules stand in files that end in {other[1]}")
    return problem


def open_quote(token: Token) -> SyntaxProblem:
    """A quote is not closed."""
    return _problem("open-quote", f"the quote {token.text} is not closed on its line", token,
                    f"write {token.text} at the end of the name; a quote inside it is written twice")


def clause_not_ended(tokens: list[Token], at: int, text: str) -> SyntaxProblem:
    """The text, or the next clause, begins where a full stop was expected; the place is right after the last token."""
    last = tokens[at - 1]
    percent = _ENDS_WITH_PERCENT.match(text, last.end)
    if percent is not None:
        return SyntaxProblem("percent-sign", "'%' begins a comment, so the rest of the line is not read",
                             percent.start(1), percent.end(1),
                             "write 'mod' for the remainder of a division; a number has no percent sign")
    if at == 1 and last.kind == "number":
        if _PERCENT.match(text, last.end) and last.text.isdigit() and int(last.text) <= 100:
            return _problem("bad-probability", f"'%' begins a comment: {last.text}% is no probability", last,
                            f"write {int(last.text) / 100}::, a number from 0 to 1 before the head of a rule")
        return _problem("not-a-rule", "a number alone is neither a rule nor a fact", last,
                        f"a probability stands before its rule: {last.text}::initiatedAt(F=V, T) :- conditions.")
    return SyntaxProblem("missing-end", "the clause does not end with '.'", last.end, last.end + 1,
                         f"write '.' after '{last.text}'")


def unclosed(tokens: list[Token], at: int, opening: Token, places: Places) -> SyntaxProblem:
    """A bracket is not closed where it should be."""
    token, place = tokens[at], places.span(opening.start, opening.end)
    closing = ")" if opening.text == "(" else "]"
    comma = _comma_before_condition(tokens, at, opening, places)
    if comma is not None:
        return _problem("missing-bracket", f"missing '{closing}'", comma,
                        f"write '{closing}' before this ',': '{opening.text}' at line {place.line}, column "
                        f"{place.column} is not closed")
    if token.text in (")", "]", "}") and token.kind == "mark":
        return _problem("mismatched-bracket", f"'{token.text}' does not close '{opening.text}'", token,
                        f"'{opening.text}' at line {place.line}, column {place.column} needs '{closing}'")
    if token.kind in ("end", "stop") or token.text == ":-":
        return _problem("missing-bracket", f"missing '{closing}'", token,
                        f"'{opening.text}' at line {place.line}, column {place.column} is not closed")
    return unexpected(tokens, at, closing)


def _comma_before_condition(tokens: list[Token], at: int, opening: Token, places: Places) -> Token | None:
    """The comma after which a condition begins a line, inside the arguments of a condition that was not closed."""
    begin = tokens.index(opening)
    if opening.text != "(" or begin == 0 or tokens[begin - 1].text not in TEMPORAL or \
            tokens[begin - 1].end != opening.start:
        return None
    for place in range(begin + 2, at):
        token, comma = tokens[place], tokens[place - 1]
        if token.text in TEMPORAL and comma.text == "," and \
                places.span(comma.start, comma.end).line < places.span(token.start, token.end).line:
            return comma
    return None


def unexpected(tokens: list[Token], at: int, closing: str | None) -> SyntaxProblem:
    """A complete term is followed by something that cannot follow it."""
    token, before = tokens[at], tokens[at - 1]
    shown = f"'{token.text}'"
    if token.kind in ("bad", "comment", "foreign") or token.text == "{":
        return not_a_term(tokens, at)
    colon = _colon_for_arrow(tokens[:at])
    if closing is None and colon is not None:
        return _problem("unknown-arrow", "':' is not the arrow of rules", colon,
                        "write ':-' between the head and its conditions")
    if closing is None and token.text in TEMPORAL and before.text == ")" and tokens[0].text in HEADS and all(
            each.text != ":-" for each in tokens[:at]):
        return SyntaxProblem("missing-arrow", "':-' is missing between the head and its conditions", before.end,
                             before.end + 1, f"write ':-' after '{before.text}'")
    other = _other_language(tokens, at)
    if other is not None:
        return other
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
    if token.text == "[" and before.kind == "word" and before.end == token.start:
        return _problem("unknown-bracket", f"'[' behind the name '{before.text}'", token,
                        f"arguments stand in round brackets: write {before.text}(…)")
    if token.text in INFIX and token.kind != "quoted":
        return _problem("operator-chain", f"operator {shown} cannot follow here without parentheses", token,
                        _two_comparisons(tokens, at) if token.text in _ORDER
                        else "write two conditions, or put parentheses around one side")
    if before.kind == "number" and token.text.replace("_", "").isdigit():
        return SyntaxProblem("bad-number", "a number has no '_' inside", before.start, token.end,
                             f"write {before.text}{token.text.replace('_', '')}")
    if before.kind == "number" and is_unit(token.text):
        return _problem("number-with-unit", f"'{token.text}' after a number: numbers have no units", token,
                        "write the number alone, converted to the unit of the data")
    if before.kind == "quoted" and token.start == before.end and token.kind in ("word", "variable"):
        return _problem("open-quote", f"the quote ends before '{token.text}'", token,
                        f"a quote inside a name is written twice: {before.text[:-1]}''{token.text}…'")
    if before.kind == "number" and token.start == before.end:
        return _problem("bad-name", f"a name cannot begin with a digit: '{before.text}{token.text}'", before,
                        f"quote it: '{before.text}{token.text}'")
    where = f" or '{closing}'" if closing else ", an operator or '.'"
    return _problem("missing-comma", f"missing ','{where} before {shown}", token,
                    f"write ',' between '{before.text}' and {shown}")


def _colon_for_arrow(tokens: list[Token]) -> Token | None:
    """The `:` behind the head of a rule that has no `:-`."""
    if tokens[0].text not in HEADS or any(each.text == ":-" for each in tokens):
        return None
    depth = 0
    for token in tokens:
        depth += (token.text in ("(", "[")) - (token.text in (")", "]")) if token.kind == "mark" else 0
        if depth == 0 and token.text == ":" and token.kind == "symbol":
            return token
    return None


def _two_comparisons(tokens: list[Token], at: int) -> str:
    """What `5 < S < 20` is to be, where its sides are single words or numbers."""
    first, sides = tokens[at - 2], (tokens[at - 3], tokens[at - 1], tokens[min(at + 1, len(tokens) - 1)])
    if first.text in _ORDER and all(each.kind in ("number", "variable", "word") for each in sides):
        low, middle, high = (each.text for each in sides)
        return f"write two conditions: {low} {first.text} {middle}, {middle} {tokens[at].text} {high}"
    return "write two conditions: a =< b, b < c"


def _other_language(tokens: list[Token], at: int) -> SyntaxProblem | None:
    """What is wrong where a name follows a complete term as people and other languages write it."""
    token, before, text = tokens[at], tokens[at - 1], tokens[at].text.lower()
    if token.kind not in ("word", "variable"):
        return None
    seen = {each.text for each in tokens[:at]}
    if not seen & {"(", ":-"} and before.kind in ("word", "variable"):
        first = tokens[0]
        if first.text.lower() in _ARROW_WORDS:
            return SyntaxProblem("unknown-arrow", f"'{first.text}' does not begin a rule", first.start, first.end,
                                 f"the conclusion comes first: {_RULE}")
        found = language_of(first.text)
        hint = f"this looks like {found}; {_RULE}" if found else "remove this line: events and fluents need no " \
            "declaration" if first.text.lower() in _KINDS else f"text that is no rule begins with '%'; {_RULE}"
        return SyntaxProblem("not-a-rule", "this is neither a rule nor a fact", first.start, token.end, hint)
    if before.text == "!" and before.end == token.start:
        return _problem("unknown-operator", "'!' does not negate", before, f"write '\\+ {token.text}(…)'")
    if before.kind == "variable" and before.text.lower() == "not":
        return _problem("unknown-operator", f"'{before.text}' is a variable, not a negation", before,
                        f"write '\\+ {token.text}(…)'")
    if at > 1 and tokens[at - 2].text == "//":
        return _comment(tokens[at - 2])
    if before.text.lower() in _ARROW_WORDS and ":-" in seen:
        return _problem("unknown-operator", f"'{before.text}' cannot stand here", before,
                        "write one rule for each case, or (Test -> A ; B)")
    if text in ALLEN_RELATIONS and before.kind == "variable" and tokens[at + 1].kind == "variable":
        return _problem("unknown-operator", f"'{token.text}' is not an operator", token,
                        f"write allen({text}, {before.text}, {tokens[at + 1].text}, source, I)")
    if text == "is":
        return _problem("unknown-operator", f"'{token.text}' is not an operator", token,
                        "write ==, or \\== for what is different; nothing is NULL: a fact has all its values")
    if text in _ARROW_WORDS and ":-" not in seen:
        return _problem("unknown-arrow", f"'{token.text}' is not the arrow of rules", token, f"write ':-'; {_RULE}")
    if text in _WORDS:
        return _problem("unknown-operator", f"'{token.text}' is not an operator", token, _WORDS[text])
    return None


def _comment(token: Token) -> SyntaxProblem:
    return _problem("unknown-comment", "'//' does not begin a comment", token, "a comment begins with '%'")


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
        first = tokens[0].text in HEADS or tokens[0].text in TEMPORAL
        if token.text in _ARROWS and before is not None and before.text == ")" and first and all(
                each.text != ":-" for each in tokens[:at]):
            return _problem("unknown-arrow", f"{shown} is not the arrow of rules", token,
                            f"{_ARROWS[token.text]}: {_RULE}")
        if token.text in ("&", "&&", "||") and tokens[0].text == "holdsFor" and before is not None and \
                before.kind == "variable" and all(each.text != ":-" for each in tokens[:at]):
            operation = "union_all" if token.text == "||" else "intersect_all"
            return _problem("unknown-operator", f"{shown} is not an operator", token,
                            f"write one variable, such as I, and {operation}([I1, I2], I) as the last condition")
        computes = "; to compute a number, 'is'" if token.text == ":=" else ""
        return _problem("unknown-operator", f"{shown} is not an operator", token,
                        f"write '{FOREIGN[token.text]}'{computes}")
    if token.text == "//" and token.kind == "symbol":
        return _comment(token)
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
        at_head = before is not None and before.text == ")" and all(each.text != ":-" for each in tokens[:at])
        return _problem("unknown-bracket", "'{' is not used in rules", token,
                        "write ':-' before the conditions, ',' between them and '.' at the end" if at_head else
                        "use '(' for terms and '[' for lists")
    if token.text == ":-" and before is not None and before.text == ":-":
        return _problem("missing-operand", "two ':-' in a row", token, "remove one ':-'")
    if token.text in ("*", "**") and before is None:
        return _problem("not-a-rule", "this is neither a rule nor a fact", token,
                        f"text that is no rule begins with '%'; {_RULE}")
    if token.text == ")" and before is not None and before.text == "(" and at > 1 and \
            tokens[at - 2].kind in ("word", "quoted") and tokens[at - 2].end == before.start:
        name = tokens[at - 2]
        return SyntaxProblem("missing-operand", f"'{name.text}' has brackets with nothing inside", name.start,
                             token.end, f"write {name.text} without brackets, or its arguments inside them")
    if token.text in ("[", "]", ")", "}") and token.kind == "mark":
        return _problem("missing-operand", f"a term is missing before {shown}", token,
                        f"remove the ',' before {shown}" if before and before.text == ","
                        else f"write a term {after}, or remove {shown}")
    if token.kind in ("end", "stop"):
        if before is not None and before.text == ",":
            return _problem("dangling-comma", "the clause ends after ','", before,
                            "write '.' instead of the last ',', or add the missing condition")
        if before is not None and before.text == ";":
            return _problem("semicolon-end", "the clause ends with ';'", before, "write '.' instead of ';'")
        if before is not None and before.text == ":-":
            return _problem("missing-operand", "a condition is missing after ':-'", before,
                            "write what has to be the case, such as happensAt(Event, T)")
        return _problem("missing-operand", f"a term is missing {after}", token, "complete the clause before its '.'")
    if token.text == "," and before is not None and before.text == ",":
        return _problem("missing-operand", "two commas in a row", token, "remove one ','")
    return _problem("missing-operand", f"a term is missing before {shown}", token, f"write a term {after}")


def _two_points(tokens: list[Token], at: int) -> SyntaxProblem:
    """A number such as `1.000.000`, whose points part thousands."""
    parts = [tokens[at - 1]]
    for token in tokens[at:]:
        if token.start != parts[-1].end or (token.text != "." and token.kind != "number"):
            break
        parts.append(token)
    parts = parts if parts[-1].kind == "number" else parts[:-1]
    whole = "".join(part.text for part in parts)
    digits = whole.split(".")
    hint = f"write {''.join(digits)}" if all(len(each) == 3 for each in digits[1:]) else \
        "dates and versions are words: quote it"
    return SyntaxProblem("bad-number", "a number has one '.' only", parts[0].start, parts[-1].end, hint)


def _bad_character(tokens: list[Token], at: int) -> SyntaxProblem:
    token = tokens[at]
    if token.text in "'\"":
        return open_quote(token)
    if token.text == ".":
        if at + 1 < len(tokens) and tokens[at + 1].kind == "number":
            if at and tokens[at - 1].kind == "number" and tokens[at - 1].end == token.start:
                return _two_points(tokens, at)
            return _problem("bad-number", "a number cannot begin with '.'", token, f"write 0.{tokens[at + 1].text}")
        if at + 1 < len(tokens) and tokens[at + 1].kind != "stop":
            before, behind = tokens[at - 1] if at else token, tokens[at + 1]
            if before.kind == "word" and behind.kind == "word" and before.end == token.start and \
                    behind.start == token.end:
                return SyntaxProblem("bad-name", f"'.' inside a name: '{before.text}.{behind.text}'", before.start,
                                     behind.end, f"write {before.text}_{behind.text}")
            return _problem("missing-space", "'.' inside brackets", token, "remove it, or close the brackets before it")
        return _problem("missing-space", "'.' is not followed by a space or a new line", token,
                        "write a space after the '.' that ends a clause")
    if token.text.startswith("..") and at and tokens[at - 1].text not in (",", ";", ":-", "("):
        return _problem("missing-space", "more than one '.' ends the clause", token, "write one '.'")
    if token.text.startswith(".."):
        return _problem("left-open", f"'{token.text}' stands for something that is left out", token,
                        "write the missing conditions, or end the clause with '.' instead of the ',' before it")
    if token.text in FORWARDS:
        return _problem("unknown-arrow", f"'{token.text}' is not the arrow of rules", token,
                        f"the conclusion comes first: {_RULE}")
    if token.text in _OPERATIONS:
        return _problem("unknown-character", f"'{token.text}' is not part of the language", token,
                        f"write {_OPERATIONS[token.text]}")
    if token.text == "`":
        return _problem("unknown-character", "unexpected character '`'", token, "write ' instead")
    if token.text in _LOOKALIKES:
        return _problem("unknown-character", f"'{token.text}' is not part of the language", token,
                        f"write {_LOOKALIKES[token.text]} instead")
    if token.text == "#" and at + 1 < len(tokens) and tokens[at + 1].text in _AGGREGATES:
        return SyntaxProblem("unknown-character", f"'#{tokens[at + 1].text}' is not part of the language", token.start,
                             tokens[at + 1].end, _AGGREGATES[tokens[at + 1].text])
    if token.text == "#" and (at == 0 or tokens[at - 1].end < token.start):
        return _problem("unknown-comment", "'#' does not begin a comment", token, "a comment begins with '%'")
    return _problem("unknown-character", f"unexpected character {token.text!r}", token,
                    "quote names that have other characters than letters, digits and '_'")
