"""Proofs as data: a claim, the rule and the bindings behind it, its reasons, down to facts with file and row.

A proof is a tree whose branches may share reasons. How it is found is no matter of this module; how it is shown
neither, apart from the order in which all views go through it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal
from zlib import crc32

from eventide.syntax.diagnostics import Span

Kind = Literal[
    "holds",  # a fluent holds (with `holds` False: it does not), at a time or during an interval
    "happens",  # an event happens at a time
    "begins",  # why an interval begins where it does
    "ends",  # why it ends
    "rule",  # a rule was applied, or is nearest to it; its reasons are its conditions
    "fact",  # a fact of the input
    "background",  # a fact or definition of the background
    "test",  # a comparison or a computation
    "absence",  # nothing of that kind is there
    "choice",  # one of several possibilities, such as the most probable one
    "needed",  # a fact without which the claim would be another one
    "note",  # a remark
]
Sides = tuple[Literal["closed", "open"], Literal["closed", "open"]]
"""Of an interval of dense time: whether it holds its ends."""
_DEEPEST = 60  # levels within one part of a view: deeper ones go on in a part of their own


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact of the input: what it says, when, and where it stands (row 0: not known)."""

    name: str
    args: tuple[Any, ...]
    value: Any = None
    time: Any = None
    end: Any = None
    source: str = ""
    row: int = 0
    probability: float | None = None
    sides: Sides | None = None

    def __str__(self) -> str:
        args = f"({','.join(map(str, self.args))})" if self.args else ""
        return f"{self.name}{args}{'' if self.value is None else f'={self.value}'}"

    @property
    def place(self) -> str:
        """File and row, as far as they are known."""
        row = f"row {self.row}" if self.row else ""
        return ", ".join(part for part in (self.source, row) if part)

    def to_dict(self) -> dict[str, Any]:
        """The fact as plain data; what is not known is left out.

        >>> Fact("win", ("ann",), time=3, source="a.csv", row=2).to_dict()
        {'name': 'win', 'args': ['ann'], 'time': 3, 'file': 'a.csv', 'row': 2}
        """
        known = {"name": self.name, "args": [_plain(arg) for arg in self.args], "value": _plain(self.value),
                 "time": _plain(self.time), "end": _plain(self.end), "file": self.source or None,
                 "row": self.row or None, "probability": self.probability, **_sides(self.sides)}
        return {key: value for key, value in known.items() if value is not None}


@dataclass(frozen=True, slots=True)
class AppliedRule:
    """A rule: its text, and where it stands."""

    text: str
    span: Span | None = None

    @property
    def place(self) -> str:
        """File and line."""
        return f"{self.span.source}:{self.span.line}" if self.span else ""


@dataclass(frozen=True, slots=True, eq=False)
class Reason:
    """One node of a proof. `holds` is False for what failed, None for what was not tried.

    Reasons are the same only if they are the same object: one that stands twice in a proof is shown once.
    """

    kind: Kind
    claim: str
    reasons: tuple[Reason, ...] = ()
    holds: bool | None = True
    time: Any = None
    interval: tuple[Any, Any] | None = None
    rule: AppliedRule | None = None
    bindings: Mapping[str, str] = field(default_factory=dict)
    fact: Fact | None = None
    level: int | None = None
    probability: float | None = None
    sides: Sides | None = None

    def to_dict(self) -> dict[str, Any]:
        """The node without its reasons, as plain data; what is not known is left out."""
        known: dict[str, Any] = {"kind": self.kind, "claim": self.claim}
        if self.holds is not True:
            known["holds"] = self.holds
        if self.interval is not None:
            known |= {"interval": [_plain(end) for end in self.interval], **_sides(self.sides)}
        if self.rule is not None:
            span = self.rule.span
            place = {"file": span.source, "line": span.line, "column": span.column} if span else {}
            known["rule"] = {"text": self.rule.text, **place}
        more = {"time": _plain(self.time), "bindings": dict(self.bindings) or None, "level": self.level,
                "probability": self.probability, "fact": self.fact.to_dict() if self.fact else None}
        return known | {key: value for key, value in more.items() if value is not None}


@dataclass(frozen=True, slots=True)
class Line:
    """A reason where it is shown: how deep, its number if it is shown again, how many facts are folded away below.

    A line with `see` only points to the line of that number.
    """

    level: int
    reason: Reason
    number: int | None = None
    folded: int | None = None
    see: int | None = None


@dataclass(frozen=True, slots=True, repr=False)
class Proof:
    """The answer to one question: whether it holds, why, and the facts that this rests on.

    `facts` are those whose replay gives the claim again; `minimal` says that none of them can be left out (None:
    not asked). `run` are the options of the run, for a replay.

    >>> import eventide as ev
    >>> program = ev.parse("initiatedAt(rich(X)=true, T) :- happensAt(win(X), T).")
    >>> import pyarrow as pa
    >>> proof = ev.explain(program, {"win": pa.table({"time": [3], "who": ["ann"]})}, "rich(ann)=true", at=7)
    >>> proof
    <Proof: rich(ann)=true holds at 7, from 4 on; 1 fact>
    >>> print(proof)
    rich(ann)=true holds at 7, from 4 on
    └─ rich(ann)=true is initiated at 3
       └─ by rule <text>:1 initiatedAt(rich(X)=true, T) with X=ann, T=3
          └─ win(ann) happens at 3  [<win>, row 1]
    <BLANKLINE>
    1 fact of the input, none of which can be left out
    >>> proof.text(depth=0).splitlines()[0]
    'rich(ann)=true holds at 7, from 4 on  … 1 fact below'
    >>> proof.html().startswith("<div class='proof'>")
    True
    """

    question: str
    at: Any
    holds: bool
    reason: Reason
    facts: tuple[Fact, ...] = ()
    minimal: bool | None = None
    run: Mapping[str, Any] = field(default_factory=dict)
    probability: float | None = None

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        """What is claimed, and on how many facts that rests; `print` shows the proof."""
        return f"<Proof: {self.reason.claim}; {len(self.facts)} fact{'' if len(self.facts) == 1 else 's'}>"

    def text(self, depth: int | None = None) -> str:
        """The proof as an indented tree; `depth` is how many rules deep it is unfolded."""
        from eventide.explanation.text import proof_text

        return proof_text(self, depth)

    def html(self, depth: int | None = None) -> str:
        """The proof as a piece of HTML whose branches open and close; those below `depth` rules are closed at first."""
        from eventide.explanation.pages import proof_html

        return proof_html(self, depth)

    def _repr_html_(self) -> str:
        from eventide.explanation.pages import proof_html

        return proof_html(self, 2, f"p{crc32(f'{self.question} at {self.at}'.encode()):x}-")  # a notebook has several

    def to_dict(self, depth: int | None = None) -> dict[str, Any]:
        """The proof as plain data.

        A reason that is used again has an `id`, and is then named by `see`. Very deep proofs go on in `more`.

        >>> Proof("rich(ann)=true", 7, False, Reason("note", "ann is unknown", holds=False)).to_dict()["reason"]
        {'kind': 'note', 'claim': 'ann is unknown', 'holds': False}
        """
        parts: list[dict[str, Any]] = []
        path: list[dict[str, Any]] = []
        for line in outline(self.reason, depth):
            shown = {"see": line.see} if line.see is not None else line.reason.to_dict()
            if line.number is not None:
                shown["id"] = line.number
            if line.folded is not None:
                shown["folded"] = line.folded
            del path[line.level:]
            if path:
                path[-1].setdefault("reasons", []).append(shown)
            else:
                parts.append(shown)
            path.append(shown)
        known = {"question": self.question, "at": _plain(self.at), "holds": self.holds, "reason": parts[0],
                 "facts": [fact.to_dict() for fact in self.facts], "minimal": self.minimal,
                 "probability": self.probability, "run": {key: _plain(value) for key, value in self.run.items()}}
        more = {"more": parts[1:]} if len(parts) > 1 else {}
        return {key: value for key, value in known.items() if value is not None} | more


def outline(root: Reason, depth: int | None = None) -> Iterator[Line]:
    """The lines of a proof from top to bottom. All views go through it in this order.

    Reasons below `depth` rules are folded: their line says how many facts they hold. A reason that was shown is not
    shown again, and a branch that is too deep goes on in a part of its own, at level 0.
    """
    numbers = _numbers(root)
    shown: set[int] = set()
    waiting = [root]
    while waiting:
        stack = [(waiting.pop(0), 0, 0)]
        while stack:
            reason, level, rules = stack.pop()
            number = numbers.get(id(reason))
            if id(reason) in shown and number is not None:
                yield Line(level, reason, see=number)
                continue
            shown.add(id(reason))
            if reason.reasons and depth is not None and rules >= depth:
                yield Line(level, reason, number, folded=len(facts_in(reason)))
                continue
            if reason.reasons and level >= _DEEPEST:
                number = numbers.setdefault(id(reason), len(numbers) + 1)
                yield Line(level, reason, see=number)
                shown.discard(id(reason))
                waiting.append(reason)
                continue
            yield Line(level, reason, number)
            below = rules + (reason.kind == "rule")
            stack += [(child, level + 1, below) for child in reversed(reason.reasons)]


def _numbers(root: Reason) -> dict[int, int]:
    """Numbers for the reasons that stand more than once, in the order of their first place."""
    order: dict[int, int] = {}
    stack = [root]
    while stack:
        reason = stack.pop()
        times = order[id(reason)] = order.get(id(reason), 0) + 1
        if times == 1:
            stack.extend(reversed(reason.reasons))
    kept = {id(reason): reason for reason in reasons_in(root)}
    repeated = [key for key, times in order.items() if times > 1 and kept[key].reasons]
    return {key: number for number, key in enumerate(repeated, 1)}


def reasons_in(root: Reason) -> Iterator[Reason]:
    """The reasons of a proof, each once, from top to bottom."""
    seen: set[int] = set()
    stack = [root]
    while stack:
        reason = stack.pop()
        if id(reason) not in seen:
            seen.add(id(reason))
            yield reason
            stack.extend(reversed(reason.reasons))


def facts_in(root: Reason) -> list[Fact]:
    """The facts at the leaves of a proof, each once.

    >>> leaf = Reason("fact", "win(ann)", fact=Fact("win", ("ann",), time=3))
    >>> len(facts_in(Reason("rule", "rich", (leaf, leaf))))
    1
    """
    return list(dict.fromkeys(reason.fact for reason in reasons_in(root) if reason.fact is not None))


def _sides(sides: Sides | None) -> dict[str, Any]:
    return {} if sides is None else {"left": sides[0], "right": sides[1]}


def _plain(value: Any) -> Any:
    """A value as JSON has it: numbers, words and lists of them as they are, terms as text."""
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value if value is None or isinstance(value, int | float | str) else str(value)
