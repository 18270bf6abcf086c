"""Random LARS programs and streams as text, for property tests. Programs are safe; names say what is input.

Inputs are `p(X)`, `e(X,Y)`, `v(N)` with a number, and `s`; background facts are `g(X)`; `b(X)` is both input and
derived; derived are `d0 …`, each with one or two arguments or none. Programs that are not stratified may choose between
`c(X)` and `k(X)`.
"""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

INPUTS = {"p": 1, "e": 2, "v": 1, "s": 0}
WORDS = ("a", "b", "c")
NUMBERS = ("1", "2", "5")


@dataclass(frozen=True)
class Shape:
    """What random programs may have."""

    stratified: bool = True
    at: bool = True
    tuples: bool = True
    partitions: bool = True
    boxes: bool = True
    recursion: bool = True
    contradictions: bool = False
    arithmetic: bool = True
    windows_on_derived: bool = True
    rules: int = 5


def streams(times: int = 7, facts: int = 3) -> st.SearchStrategy[list[tuple[int, list[str]]]]:
    """Streams of distinct facts per time-point, in some order of arrival."""
    word, number = st.sampled_from(WORDS), st.sampled_from(NUMBERS)
    fact = st.one_of(word.map("p({})".format), st.tuples(word, word).map(lambda pair: f"e({pair[0]},{pair[1]})"),
                     number.map("v({})".format), st.just("s"), word.map("b({})".format))
    return st.dictionaries(st.integers(0, times), st.lists(fact, max_size=facts, unique=True)).map(
        lambda found: sorted(found.items()))


@st.composite
def programs(draw: st.DrawFn, shape: Shape = Shape()) -> str:  # noqa: B008 - a frozen value
    """The text of a program."""
    count = draw(st.integers(1, 3))
    arities = {f"d{i}": draw(st.integers(0, 2)) for i in range(count)} | {"b": 1}
    choice = [] if shape.stratified else draw(_choices(shape))
    arities |= {} if shape.stratified else {"c": 1, "k": 1}
    order = [*arities]
    lines = [f"g({word})." for word in draw(st.lists(st.sampled_from(WORDS), unique=True))]
    for _ in range(draw(st.integers(1, shape.rules))):
        lines.append(_Rule(draw, shape, arities, order, draw(st.sampled_from(order))).text())
    lines += choice
    if shape.contradictions and draw(st.booleans()):
        lines.append(_Rule(draw, shape, arities, order, None).text())
    return "\n".join(lines)


@st.composite
def _choices(draw: st.DrawFn, shape: Shape) -> list[str]:
    """Two rules by which every `p(X)` in a window is either `c` or `k`, now or at its own time."""
    if draw(st.integers(0, 3)) == 0:
        return []
    window = f"[{draw(st.integers(0, 2))}]"
    if shape.at and draw(st.booleans()):
        return [f"{one}(X) at T :- p(X) at T {window}, not {other}(X) at T {window}." for one, other in ("ck", "kc")]
    return [f"{one}(X) :- p(X) {window}, not {other}(X)." for one, other in ("ck", "kc")]


class _Rule:
    """One random rule: what its variables are bound to is known while it is made."""

    def __init__(self, draw: st.DrawFn, shape: Shape, arities: dict[str, int], order: list[str],
                 head: str | None) -> None:
        self.draw, self.shape, self.arities, self.head = draw, shape, arities, head
        level = len(order) if head is None else order.index(head)
        lower = order[:level]
        self.positive = [*INPUTS, "g", *(order[: level + 1] if shape.recursion else lower)]
        self.negative = [*INPUTS, "g", *lower]
        if not shape.stratified:
            self.positive = self.negative = [*INPUTS, "g", *order]
        self.words: list[str] = []
        self.numbers: list[str] = []
        self.times: list[str] = []

    def text(self) -> str:
        draw = self.draw
        body = [self.literal(draw(st.sampled_from(self.positive)), False) for _ in range(draw(st.integers(1, 2)))]
        if draw(st.booleans()):
            body.append("not " + self.literal(draw(st.sampled_from(self.negative)), True))
        if self.shape.arithmetic and self.numbers and draw(st.booleans()):
            body.append(f"{draw(st.sampled_from(self.numbers))} {draw(st.sampled_from(['<', '>=', '!=']))} "
                        f"{draw(st.sampled_from(NUMBERS))}")
        if len(self.words) > 1 and draw(st.booleans()):
            body.append(f"{self.words[0]} != {self.words[1]}")
        head = ""
        if self.head is not None:
            head = self.atom(self.head, True)
            if self.shape.at and self.times and draw(st.booleans()):
                offset = draw(st.sampled_from(["", "", "+1", "-1"])) if self.shape.arithmetic else ""
                head += f" at {self.times[0]}{offset}"
        return f"{head} :- {', '.join(body)}."

    def literal(self, predicate: str, bound: bool) -> str:
        draw, shape = self.draw, self.shape
        atom = self.atom(predicate, bound)
        derived = predicate in self.arities
        kinds = ["now"]
        if not derived or shape.windows_on_derived:
            kinds += ["sometime", "sometime"] + ["always"] * shape.boxes
            kinds += ["at"] * (shape.at and (not bound or bool(self.times)))
        kind = draw(st.sampled_from(kinds))
        if kind == "now":
            return atom
        window = f"[{draw(st.integers(0, 4))}]"
        if shape.tuples and draw(st.integers(0, 2)) == 0:
            names = [name for name in atom.partition("(")[2].rstrip(")").split(",") if name and name[0].isupper()]
            by = f" by {names[0]}" if names and shape.partitions and draw(st.booleans()) else ""
            window = f"[{draw(st.integers(1, 4))} #{by}]"
        if kind == "at":
            time = draw(st.sampled_from(self.times)) if bound else draw(st.sampled_from(["T", "U"]))
            self.times += [] if time in self.times else [time]
            return f"{atom} at {time} {window}"
        return f"{atom} {'always ' if kind == 'always' else ''}{window}"

    def atom(self, predicate: str, bound: bool) -> str:
        """An atom; where its variables must be bound, of those that are, or of values."""
        arity = {**INPUTS, **self.arities, "g": 1}[predicate]
        numeric = predicate == "v"
        pool, values = (self.numbers, NUMBERS) if numeric else (self.words, WORDS)
        args = []
        for _ in range(arity):
            names = pool if bound else (["N", "M"] if numeric else ["X", "Y", "Z"])
            choices = [*names, *names, *values[:1 if names else None]]
            args.append(self.draw(st.sampled_from(choices)))
            if not bound and args[-1] in names and args[-1] not in pool:
                pool.append(args[-1])
        return f"{predicate}({','.join(args)})" if args else predicate
