"""What may be written next at a place: keywords with snippets, fluents, events, background, variables of the clause.

Only the text before the cursor decides, so half-typed clauses are no hindrance.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from eventide.editor.checking import Checked, Language
from eventide.editor.describing import kind_of
from eventide.editor.keywords import KEYWORDS, Where
from eventide.editor.names import Names, word_of
from eventide.syntax.lars_tokens import tokens_of as lars_tokens
from eventide.syntax.mtl_tokens import tokens_of as mtl_tokens
from eventide.syntax.tokens import Places, Token, clause_tokens, is_variable, skip_layout

SuggestionKind = Literal["keyword", "fluent", "event", "predicate", "variable", "value"]
_OF_FLUENTS = frozenset({"holdsAt", "holdsFor", "initiatedAt", "terminatedAt", "initially", "grounding", "fi", "p",
                         "start", "startI", "end", "collectIntervals", "buildFromPoints", "points"})
_WORD = re.compile(r"\w*\Z")
_QUOTED = r"""'(?:[^'\\\r\n]|\\.|'')*'|"(?:[^"\\\r\n]|\\.)*\""""
_BLOCK = r"/\*(?s:.*?)(?:(?P<closed>\*/)|\Z)"
_COMMENTS = {language: re.compile(f"{_QUOTED}|(?P<comment>{comment})") for language, comment in (
    ("ec", rf"%[^\r\n]*|{_BLOCK}"), ("mtl", r"%[^\r\n]*"), ("lars", rf"(?:%|//)[^\r\n]*|{_BLOCK}"))}
"""By language, what is quoted, and comments."""
_LEAF = re.compile(r"(?<=[(,])_(?=[),])")


@dataclass(frozen=True, slots=True)
class Suggestion:
    """Something to insert: its label, what it is, a snippet, and a line about it."""

    label: str
    kind: SuggestionKind
    snippet: str
    detail: str
    says: str = ""


@dataclass(frozen=True, slots=True)
class _Place:
    """Where the cursor is: in a head, among conditions, or in an argument of some name."""

    where: Literal["head", "condition", "argument"]
    name: str = ""
    argument: int = 0
    value_of: str = ""
    variables: tuple[str, ...] = ()


def suggestions(checked: Checked, offset: int) -> tuple[int, list[Suggestion]]:
    """What may stand at an offset, and where the word that it replaces begins; nothing inside a comment."""
    text = checked.text[:offset]
    word = _WORD.search(text)
    assert word is not None
    begin = word.start()
    if _in_comment(text, checked.language):
        return begin, []
    place = _place(checked.language, text[:begin])
    found = {each.label: each for each in reversed(list(_possible(checked, place)))}
    return begin, list(reversed(found.values()))


def _in_comment(text: str, language: Language) -> bool:
    """Whether a text ends in a comment.

    >>> [_in_comment(text, "ec") for text in ("a. % b", "a('%').", "/* b\\n c", "/* b */ ", "% it's /* b\\na")]
    [True, False, True, False, False]
    """
    matches = list(_COMMENTS[language].finditer(text))
    found = matches[-1].groupdict() if matches and matches[-1].end() == len(text) else {}
    return found.get("comment") is not None and found.get("closed") is None


def _possible(checked: Checked, place: _Place) -> Iterator[Suggestion]:
    names, language = checked.names, checked.language
    if language != "ec":
        if place.where == "argument":
            yield from _variables(place)
            return
        yield from _keywords(language, "head" if place.where == "head" else "condition", "anywhere")
        yield from _named(names, names.templates("predicate"))
        return
    if place.value_of:
        for template in names.called(place.value_of):
            yield from (Suggestion(value, "value", value, f"a value of {template}") for value in
                        names.values.get(template, ()))
        yield from _variables(place)
    elif place.where == "argument" and place.argument == 0 and place.name == "happensAt":
        yield from _named(names, names.templates("event"))
        yield from _keywords(language, "boundary")
    elif place.where == "argument" and place.argument == 0 and place.name in _OF_FLUENTS:
        for template in names.templates("fluent"):
            for value in names.values.get(template) or ("true",):
                yield Suggestion(f"{template}={value}", "fluent", f"{_snippet(template)}={value}",
                                 kind_of(names, template))
    elif place.where == "argument" and place.name not in ("findall", "\\+"):
        yield from _variables(place)
    elif place.where == "head":
        yield from _keywords(language, "head")
    else:
        yield from _keywords(language, "condition")
        yield from _named(names, names.templates("predicate"))
        yield from _variables(place)


def _keywords(language: Language, *where: Where) -> Iterator[Suggestion]:
    for each in KEYWORDS[language]:
        if each.where in where:
            yield Suggestion(each.word, "keyword", each.snippet, each.form, each.says)


def _named(names: Names, templates: list[str]) -> Iterator[Suggestion]:
    for template in templates:
        kind = names.kinds[template]
        yield Suggestion(template, kind, _snippet(template), kind_of(names, template))


def _variables(place: _Place) -> Iterator[Suggestion]:
    return (Suggestion(name, "variable", name, "a variable of this clause") for name in place.variables)


def _snippet(template: str) -> str:
    """A name with a place to fill in for each argument.

    >>> _snippet("near(_,_)"), _snippet("port/1"), _snippet("rain")
    ('near(${1:X1}, ${2:X2})', 'port(${1:X1})', 'rain')
    """
    word, _, arity = template.rpartition("/")
    if word:
        template = f"{word}({','.join('_' * int(arity))})" if int(arity) else word
    numbers = iter(range(1, 100))

    def filled(_: re.Match[str]) -> str:
        number = next(numbers)
        return f"${{{number}:X{number}}}"

    return _LEAF.sub(filled, template).replace("},$", "}, $") if template != word_of(template) else template


# -- where the cursor is ----------------------------------------------------------------------------------------------


def _place(language: Language, text: str) -> _Place:
    tokens = _last_clause(language, text)
    variables = tuple(dict.fromkeys(token.text for token in tokens if token.text != "_" and (
        token.kind == "variable" or (language == "mtl" and token.kind == "word" and is_variable(token.text)
                                     and _follows(tokens, token)))))
    stack: list[tuple[str, int]] = []
    for at, token in enumerate(tokens):
        if token.kind == "quoted":
            continue
        if token.text in ("(", "["):
            before = tokens[at - 1] if at else None
            called = token.text == "(" and before is not None and before.kind in ("word", "quoted", "symbol") \
                and before.end == token.start
            stack.append((before.text.strip("'") if called and before is not None else "", 0))
        elif token.text in (")", "]"):
            if stack:
                stack.pop()
        elif token.text == "," and stack:
            stack[-1] = (stack[-1][0], stack[-1][1] + 1)
    named = [entry for entry in stack if entry[0]]
    if named:
        name, argument = named[-1]
        return _Place("argument", name, argument, _valued(tokens), variables)
    implied = any(token.text in (":-", "<-") for token in tokens)
    return _Place("condition" if implied else "head", variables=variables)


def _follows(tokens: list[Token], token: Token) -> bool:
    """Whether a capitalised word of DatalogMTL is an argument: it follows a bracket or comma and calls nothing."""
    at = tokens.index(token)
    opens = any(each.text == "(" for each in tokens[:at])
    return at > 0 and tokens[at - 1].text in ("(", ",") and opens and (
        at + 1 == len(tokens) or tokens[at + 1].text != "(")


def _valued(tokens: list[Token]) -> str:
    """The name of the fluent whose value comes next, as after `light(X)=`."""
    if len(tokens) < 2 or tokens[-1].text != "=":
        return ""
    depth = 0
    for at in range(len(tokens) - 2, -1, -1):
        depth += (tokens[at].text == ")") - (tokens[at].text == "(")
        if depth == 0:
            name = tokens[at - 1] if tokens[at].text == "(" and at else tokens[at]
            return name.text.strip("'") if name.kind in ("word", "quoted") else ""
    return ""


def _last_clause(language: Language, text: str) -> list[Token]:
    """The tokens of the clause that is being written at the end of a text."""
    if language != "ec":
        tokens = (mtl_tokens if language == "mtl" else lars_tokens)(text)
        ends = [at for at, token in enumerate(tokens) if token.kind == "end"]
        return tokens[ends[-1] + 1:] if ends else tokens
    places = Places(text, "")
    position, last = skip_layout(text, 0), list[Token]()
    while position < len(text):
        last, position = clause_tokens(text, position, places)
        position = skip_layout(text, position)
    return [] if last and last[-1].kind == "end" else last
