"""MeTeoR's way of writing DatalogMTL: its operators as words, one rule per line. Its reading lives in `mtl`.

`Diamondminus[1,2]P(X)` is `<>-[1,2] P(X)`, `ALWAYS[-4,0)P` is `[]-(0,4] P`: there a range is a stretch of time seen
from now, so the past is negative. MeTeoR's file reader also knows `<->`, `[-]`, `<+>` and `[+]`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from eventide.syntax.mtl_trees import Operator
from eventide.syntax.tokens import Token

OPERATORS: dict[str, Operator] = {
    "Diamondminus": "<>-", "Boxminus": "[]-", "Diamondplus": "<>+", "Boxplus": "[]+",
    "<->": "<>-", "[-]": "[]-", "<+>": "<>+", "[+]": "[]+",
}
SEEN_FROM_NOW: dict[str, Operator] = {"SOMETIME": "<>-", "ALWAYS": "[]-"}
_WORDS = frozenset((*OPERATORS, *SEEN_FROM_NOW, "Since", "Until"))
_GOES_ON = frozenset((",", ":-", "||"))


def is_meteor(tokens: Sequence[Token]) -> bool:
    """Whether a text is in MeTeoR's syntax: it has one of its operators, or no rule of it ends with a full stop."""
    return bool(tokens) and (any(is_operator(tokens, at) for at in range(len(tokens)))
                             or not any(token.kind == "end" for token in tokens))


def is_operator(tokens: Sequence[Token], at: int) -> bool:
    """Whether a token is an operator of MeTeoR: one of its words before a range (else it may name a predicate)."""
    return tokens[at].text in _WORDS and tokens[at].kind != "quoted" and starts_range(tokens, at + 1)


def starts_range(tokens: Sequence[Token], at: int) -> bool:
    """Whether a range may begin here: `[`, or `(` and a number."""
    following = [token.text for token in tokens[at:at + 2]]
    return following[:1] == ["["] or (len(following) == 2 and following[0] == "(" and (
        following[1][0].isdigit() or following[1] in ("-", "+", "inf")))


def with_line_ends(tokens: Sequence[Token], text: str) -> Iterator[Token]:
    """The tokens with a full stop at the end of each line that ends a rule."""
    for token, following in zip(tokens, [*tokens[1:], None], strict=True):
        yield token
        last = following is None or any(c in "\r\n" for c in text[token.end:following.start])
        if last and token.kind != "end" and token.text not in _GOES_ON:
            yield Token("end", ".", token.end, token.end)
