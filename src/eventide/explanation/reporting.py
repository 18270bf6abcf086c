"""Proofs for a report: why the intervals of a result hold, as pieces of HTML. Asks one question after the other."""

from __future__ import annotations

import re

import numpy as np

from eventide.errors import InputError
from eventide.explanation.asking import Explainer
from eventide.explanation.pages import proof_tree
from eventide.report.situations import Situations
from eventide.results import Progress

_PLAIN = re.compile(r"[a-z]\w*(\(.*\))?|-?\d+(\.\d+)?")
_DEPTH = 2


def proofs_for(explainer: Explainer, found: Situations, most: int,
               progress: Progress | None = None) -> tuple[dict[tuple[str, str, str, int], str], int]:
    """Why intervals hold, by fluent, arguments, value and start, and how many of those asked for have no proof.

    Intervals of the rarest fluents come first, `most` of all. One that the run does not give has no proof: the result
    was made with other facts, rules or options.
    """
    counts = np.bincount(found.fluent.codes, minlength=len(found.fluent.names))
    order = np.lexsort((found.start, found.args.codes, found.fluent.codes, counts[found.fluent.codes]))[:most]
    proofs: dict[tuple[str, str, str, int], str] = {}
    for done, place in enumerate(order.tolist()):
        if progress is not None:
            progress(done, len(order))
        fluent, args, value = (texts.names[texts.codes[place]] for texts in (found.fluent, found.args, found.value))
        start = found.origin + int(found.start[place])
        end = None if np.isinf(found.end[place]) else found.origin + int(found.end[place])
        try:
            proof = explainer.why(question_of(fluent, args, value), start)
        except InputError:
            continue
        is_event = proof.holds and value == ""
        if is_event or (proof.holds and tuple(proof.reason.interval or ()) == (start, end)):
            proofs[fluent, args, value, start] = proof_tree(proof, _DEPTH, f"proof-{len(proofs)}-")
    return proofs, len(order) - len(proofs)


def question_of(fluent: str, args: str, value: str) -> str:
    """A row of a result as a question.

    >>> question_of("at", "Ann|3", "home")
    "at('Ann',3)=home"
    """
    head = f"{fluent}({','.join(map(_quoted, args.split('|')))})" if args else fluent
    return f"{head}={_quoted(value)}" if value else head


def _quoted(text: str) -> str:
    return text if _PLAIN.fullmatch(text) else "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
