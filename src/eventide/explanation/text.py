"""Proofs for terminals: an indented tree, one claim a line, with the rule, the bindings and the place of a fact."""

from __future__ import annotations

from eventide.explanation.proof import Line, Proof, Reason, outline


def proof_text(proof: Proof, depth: int | None = None) -> str:
    """The proof as lines of text; `depth` is how many rules deep it is unfolded.

    >>> from eventide.explanation.proof import AppliedRule, Fact
    >>> fact = Reason("fact", "win(ann) happens at 3", fact=Fact("win", ("ann",), time=3, source="a.csv", row=2))
    >>> rule = Reason("rule", "initiatedAt", (fact,), rule=AppliedRule("initiatedAt(rich(X)=true, T)"),
    ...               bindings={"X": "ann"})
    >>> print(proof_text(Proof("rich(ann)=true", 7, True, Reason("holds", "rich(ann)=true holds at 7", (rule,)))))
    rich(ann)=true holds at 7
    └─ by rule initiatedAt(rich(X)=true, T) with X=ann
       └─ win(ann) happens at 3  [a.csv, row 2]
    """
    lines: list[str] = []
    shown = list(outline(proof.reason, depth))
    last = _last_of_their_level(shown)
    bars: list[bool] = []
    for line, is_last in zip(shown, last, strict=True):
        del bars[max(line.level - 1, 0):]
        lead = "".join("   " if done else "│  " for done in bars) + ("└─ " if is_last else "├─ ") if line.level else ""
        if line.level:
            bars.append(is_last)
        elif lines:
            lines.append("")
        lines.append((lead + _label(line)).rstrip())
    lines += _footer(proof)
    return "\n".join(_printable(line) for line in lines)


def _last_of_their_level(lines: list[Line]) -> list[bool]:
    """For every line, whether no later line of the same branch stands at its level."""
    result = [True] * len(lines)
    open_: set[int] = set()
    for place in range(len(lines) - 1, -1, -1):
        level = lines[place].level
        result[place] = level not in open_
        open_ = {other for other in open_ if other < level} | {level}
        if level == 0:
            open_ = set()
    return result


def _label(line: Line) -> str:
    if line.see is not None:
        return f"{line.reason.claim}  (as in #{line.see})"
    number = f"#{line.number} " if line.number is not None else ""
    folded = f"  … {_count(line.folded)}" if line.folded is not None else ""
    return f"{number}{_mark(line.reason)}{claim_text(line.reason)}{folded}"


def claim_text(reason: Reason) -> str:
    """What a reason says, with its rule and bindings or the place of its fact, in one line."""
    text = reason.claim
    if reason.rule is not None:
        bindings = ", ".join(f"{name}={value}" for name, value in reason.bindings.items())
        place = f"{reason.rule.place} " if reason.rule.place else ""
        text = f"by rule {place}{reason.rule.text}{f' with {bindings}' if bindings else ''}"
    elif reason.fact is not None and reason.fact.place:
        text = f"{text}  [{reason.fact.place}]"
    return text if reason.probability is None else f"{text}  (probability {reason.probability:.6g})"


def _mark(reason: Reason) -> str:
    """What failed is marked, and what was not tried."""
    return {True: "", False: "✗ ", None: "? "}[reason.holds]


def _count(number: int) -> str:
    return f"{number} fact{'' if number == 1 else 's'} below"


def _footer(proof: Proof) -> list[str]:
    lines = []
    if proof.probability is not None:
        lines.append(f"probability {proof.probability:.6g}")
    if proof.facts:
        kept = {True: ", none of which can be left out", False: "", None: ""}[proof.minimal]
        lines.append(f"{len(proof.facts)} fact{'' if len(proof.facts) == 1 else 's'} of the input{kept}")
    return ["", *lines] if lines else []


def _printable(text: str) -> str:
    """What a terminal would obey is shown instead."""
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in text)
