"""Random but valid Event Calculus programs and streams, small enough to read when a test fails.

One strategy per family of constructs and one that mixes them. Each yields a `Case`: rules, background, facts, and the
tick and start to run it with. Everything but `unaligned` keeps its times on the grid of the tick.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import NamedTuple

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from .store import Fact

ENTITIES = ("a", "b", "c")
PLACES = ("h", "w", "p")
LAST = 40
RELATIONS = ("before", "meets", "starts", "finishes", "during", "overlaps", "equal")
MODES = ("source", "target", "union", "intersection", "relative_complement", "relative_complement_inverse",
         "lhs", "rhs", "intersect", "complement", "complement_inv")
VALUES = (("true",), ("on", "off"), ("lo", "mid", "hi"))


def mentions(text: str, name: str) -> bool:
    return re.search(rf"\b{name}\(", text) is not None


class Case(NamedTuple):
    """A program with its input. Run it from `start` (exclusive) with `tick`; the last fact is at or before 40."""

    text: str
    background: str
    facts: list[Fact]
    tick: int = 1
    start: int = -1


@dataclass(frozen=True)
class Fluent:
    """A fluent that rules may use: its name, how many entities it is about, its values, and if it is simple."""

    name: str
    arity: int
    values: tuple[str, ...]
    simple: bool

    def pairs(self, args: str) -> list[str]:
        return [f"{self.name}({args})={value}" for value in self.values]


@dataclass
class Sketch:
    """A program while it is being written. Rules of a new entity use the entities before it, so nothing is cyclic
    unless a family makes it so."""

    draw: DrawFn
    tick: int
    domain: str
    fluents: list[Fluent] = field(default_factory=list)
    events: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    fresh: int = 0

    def pick(self, *options: str) -> str:
        """One of the options; `{i}` becomes a number of its own, `{k}` a small amount, `{d}` a duration."""
        option = self.draw(st.sampled_from(options))
        self.fresh += 1
        option = option.replace("{i}", str(self.fresh))
        if "{k}" in option:
            option = option.replace("{k}", str(self.draw(st.integers(0, 5))))
        if "{d}" in option:
            option = option.replace("{d}", str(self.tick * self.draw(st.integers(1, 8))))
        return option

    def some(self, options: list[str], most: int) -> list[str]:
        """Up to `most` of the options."""
        amount = self.draw(st.integers(0, most)) if options else 0
        return [self.pick(*options) for _ in range(amount)]

    def chance(self) -> bool:
        return self.draw(st.booleans())

    def name(self, prefix: str) -> str:
        return f"{prefix}{len(self.fluents) + len(self.events)}"

    def unary(self, *, simple: bool | None = None) -> list[str]:
        """The pairs about X that are defined so far."""
        return [p for f in self.fluents if f.arity == 1 and simple in (None, f.simple) for p in f.pairs("X")]

    # What a rule about X may say

    def triggers(self) -> list[str]:
        """Conditions that bind X at T."""
        options = [
            "happensAt(e1(X),T)",
            "happensAt(e2(X),T)",
            "happensAt(n(X,V{i}),T), V{i} >= {k}",
            "happensAt(n(X,V{i}),T), limit(X,L{i}), V{i} =< L{i}",
            "happensAt(n(X,V{i}),T), W{i} is V{i}*2-1, W{i} > {k}",
            "happensAt(go(X,P{i}),T), favourite(X,P{i})",
        ]
        for pair in self.unary():
            options += [f"happensAt({kind}({pair}),T)" for kind in ("start", "end", "startI")]
        for pair in self.unary(simple=True):
            options += [f"initiatedAt({pair},T)"]
        return options + [f"happensAt({event}(X),T)" for event in self.events]

    def conditions(self, pairs: list[str] | None = None) -> list[str]:
        """Further conditions about X at T; `pairs` are those `holdsAt` may ask for."""
        options = [
            "\\+ happensAt(e2(X),T)",
            "\\+ happensAt(n(X,_),T)",
            "kind(X,small)",
            "\\+ kind(X,small)",
            "\\+ happensAt(e1(_),T)",
        ]
        for pair in self.unary() if pairs is None else pairs:
            anyone, other = pair.replace("X", "_"), pair.replace("X", "Y{i}")
            options += [
                f"holdsAt({pair},T)",
                f"\\+ holdsAt({pair},T)",
                f"holdsAt({anyone},T)",
                f"\\+ holdsAt({anyone},T)",
                f"next(X,Y{{i}}), holdsAt({other},T)",
                f"next(X,Y{{i}}), \\+ holdsAt({other},T)",
                f"(holdsAt({pair},T) ; happensAt(n(X,_),T))",
            ]
        for pair in self.unary():
            options += [f"\\+ happensAt(start({pair}),T)", f"\\+ happensAt(end({pair}),T)"]
        return options

    def rule(self, head: str, pairs: list[str] | None = None) -> None:
        body = [self.pick(*self.triggers()), *self.some(self.conditions(pairs), 2)]
        self.lines.append(f"{head} :- {', '.join(body)}.")

    # Entities

    def simple(self) -> Fluent:
        """A simple fluent about one entity."""
        fluent = Fluent(self.name("f"), 1, self.draw(st.sampled_from(VALUES)), True)
        self.effects(fluent)
        return self.define(fluent)

    def effects(self, fluent: Fluent, pairs: list[str] | None = None) -> None:
        for pair in fluent.pairs("X"):
            self.rule(f"initiatedAt({pair},T)", pairs)
            if self.chance():
                self.rule(f"terminatedAt({pair},T)", pairs)
        if self.chance():
            self.rule(f"initiatedAt({fluent.pairs('X')[0]},T)", pairs)
        if self.chance():
            self.rule(f"terminatedAt({fluent.name}(X)=_,T)", pairs)
        if self.draw(st.integers(0, 3)) == 3:
            head = self.pick(*fluent.pairs("X"))
            lower = self.unary(simple=True)
            chained = [f"initiatedAt({head},T1,T,T2) :- initiatedAt({pair},T1,T,T2)." for pair in lower]
            self.lines.append(self.pick(f"initiates(e2(X),{head},T) :- \\+ happensAt(e1(X),T).",
                                        f"terminates(n(X,V),{head},T) :- V < {{k}}.", *chained))

    def located(self) -> Fluent:
        """A fluent whose value comes from an event."""
        fluent = Fluent(self.name("loc"), 1, PLACES, True)
        self.lines.append(f"initiatedAt({fluent.name}(X)=P,T) :- happensAt(go(X,P),T).")
        if self.chance():
            self.rule(f"terminatedAt({fluent.name}(X)={self.pick('_', *PLACES)},T)")
        return self.define(fluent)

    def pair(self) -> Fluent:
        """A simple fluent about two entities."""
        fluent = Fluent(self.name("p"), 2, ("true",), True)
        owned = [p for pair in self.unary() for p in (pair, pair.replace("X", "Y"))]
        conditions = ["X \\= Y", "kind(X,K{i}), kind(Y,K{i})", "\\+ happensAt(meet(Y,X),T)", "\\+ happensAt(e1(Y),T)",
                      *(f"holdsAt({p},T)" for p in owned), *(f"\\+ holdsAt({p},T)" for p in owned)]
        begin = ["happensAt(meet(X,Y),T)", "happensAt(start(near(X,Y)=true),T)", "happensAt(meet(Y,X),T)"]
        finish = ["happensAt(meet(X,Y),T)", "happensAt(end(near(X,Y)=true),T)", "happensAt(e1(X),T)",
                  "happensAt(e2(Y),T)", *(f"happensAt(end({p}),T)" for p in owned)]
        body = [self.pick(*begin), *self.some(conditions, 2)]
        self.lines.append(f"initiatedAt({fluent.name}(X,Y)=true,T) :- {', '.join(body)}.")
        body = [self.pick(*finish)]
        self.lines.append(f"terminatedAt({fluent.name}(X,Y)=true,T) :- {', '.join(body)}.")
        return self.define(fluent)

    def follower(self) -> Fluent:
        """A fluent about one entity that follows what it has to do with others."""
        fluent = Fluent(self.name("g"), 1, ("true",), True)
        about = ["near(X,_)=true", *(f"{f.name}(X,_)={v}" for f in self.fluents if f.arity == 2 for v in f.values)]
        begin = [f"happensAt(start({pair}),T)" for pair in about] + ["happensAt(meet(X,_),T)", "happensAt(meet(_,X),T)"]
        asked = [f"holdsAt({pair},T)" for pair in about] + [f"\\+ holdsAt({pair},T)" for pair in about]
        for kind, options in (("initiated", begin), ("terminated", [*begin, "happensAt(e1(X),T)"])):
            body = [self.pick(*options), *self.some(asked, 1)]
            self.lines.append(f"{kind}At({fluent.name}(X)=true,T) :- {', '.join(body)}.")
        return self.define(fluent)

    def delayed(self, *, cyclic: bool = False) -> Fluent:
        """A simple fluent with delayed effects: postponable or not, in a chain or a loop, per entity or not; a cyclic
        one may ask for itself."""
        fluent = Fluent(self.name("d"), 1, self.draw(st.sampled_from(VALUES[1:])), True)
        pairs = [*fluent.pairs("X"), *self.unary()] if cyclic else None
        first, *later = fluent.pairs("X")
        self.rule(f"initiatedAt({first},T)", pairs)
        if self.chance():
            self.rule(f"initiatedAt({first},T)", pairs)
        if self.chance():
            self.rule(f"terminatedAt({self.pick(*fluent.pairs('X'))},T)", pairs)
        if self.chance():
            self.rule(f"initiatedAt({self.pick(*later)},T)", pairs)
        links = list(zip([first, *later], later, strict=False))
        if self.chance():
            links.append((later[-1], first))
        for source, target in links:
            self.lines.append(self.pick(f"fi({source}, {target}, {{d}}).", f"fi({source}, {target}, D) :- delay(X,D)."))
            # Two deadlines of a loop, due together, could postpone each other: the one that closes it never waits.
            if target != first and self.chance():
                self.lines.append(f"p({source.replace('X', '_')}).")
        return self.define(fluent)

    def cycle(self) -> None:
        """Simple fluents that ask for each other, and for themselves, at the same entity or the next one. `start` and
        `end` are only those of earlier fluents, so no effect depends on itself at one time-point."""
        kinds = self.draw(st.lists(st.sampled_from(VALUES), min_size=1, max_size=3))
        base = len(self.fluents) + len(self.events)
        members = [Fluent(f"c{base + i}", 1, values, True) for i, values in enumerate(kinds)]
        pairs = [p for member in members for p in member.pairs("X")]
        for member in members:
            turn = self.pick(*pairs)
            if self.chance():
                turn = turn.replace("X", "Y")
            sign = self.pick("", "\\+ ")
            link = "next(X,Y), " if "Y" in turn else ""
            head = member.pairs("X")[-1]
            self.lines.append(f"initiatedAt({head},T) :- happensAt(e1(X),T), {link}{sign}holdsAt({turn},T).")
            self.effects(member, [*pairs, *self.unary()])
            self.define(member)

    def output(self) -> None:
        """An output event."""
        event = self.name("out")
        self.rule(f"happensAt({event}(X),T)")
        self.events.append(event)
        if self.domain:
            self.lines.append(f"grounding({event}(X)) :- dom(X).")

    def built(self) -> Fluent:
        """A fluent built from the points of an output event."""
        fluent = Fluent(self.name("b"), 1, ("true",), False)
        self.lines.append(f"buildFromPoints({fluent.pairs('X')[0]}, {self.pick(*self.events)}(X)).")
        self.fluents.append(fluent)
        return fluent

    def counter(self) -> Fluent:
        """A fluent that counts the entities for which something holds or happens."""
        fluent = Fluent(self.name("n"), 1, ("few", "many"), True)
        counted = [f"holdsAt({p.replace('X', 'Z')},T)" for p in self.unary()]
        goal = self.pick("happensAt(e2(Z),T)", "happensAt(meet(Z,_),T)", *counted)
        count = f"findall(Z,{goal},L), length(L,N)"
        amount = self.draw(st.integers(1, 2))
        trigger = self.pick("happensAt(e1(X),T)", "happensAt(go(X,_),T)")
        for value, sign in zip(fluent.values, ("<", ">="), strict=True):
            self.lines.append(f"initiatedAt({fluent.name}(X)={value},T) :- {trigger}, {count}, N {sign} {amount}.")
        return self.define(fluent)

    def define(self, fluent: Fluent) -> Fluent:
        """Make a fluent known to later rules, with its grounding where there is a domain."""
        self.fluents.append(fluent)
        if not self.domain:
            return fluent
        listed = fluent.values
        if len(listed) > 1 and self.draw(st.integers(0, 5)) == 5:
            listed = listed[:-1]
        args, where = ("X", "dom(X)") if fluent.arity == 1 else ("X,Y", "dom(X), dom(Y)")
        if listed == PLACES and self.chance():
            self.lines.append(f"grounding({fluent.name}({args})=P) :- {where}, place(P).")
        else:
            self.lines += [f"grounding({fluent.name}({args})={value}) :- {where}." for value in listed]
        if fluent.simple and fluent.arity == 1 and self.chance():
            value = self.pick(*listed)
            self.lines.append(self.pick(f"initially({fluent.name}(_)={value}).",
                                        f"initially({fluent.name}(X)={value}) :- kind(X,small)."))
        return fluent

    # Statically determined fluents

    def source(self, index: int, first: bool) -> str:
        """A condition that binds the list `I<index>`."""
        own = ["in1(X)=true", "in2(X)=true", "pt(X)=true", *self.unary()]
        pair = self.pick(*own)
        plain = f"holdsFor({pair},I{index})"
        if first:
            return plain
        return self.pick(plain, plain, f"holdsFor({pair.replace('X', '_')},I{index})",
                         f"next(X,Y{{i}}), holdsFor({pair.replace('X', 'Y{i}')},I{index})",
                         f"holdsFor(near(X,_)=true,I{index})")

    def static(self, operations: list[str]) -> Fluent:
        """A statically determined fluent with one or two rules, each ending with one of the operations."""
        fluent = Fluent(self.name("s"), 1, ("true",), False)
        for _ in range(self.draw(st.integers(1, 2))):
            last = self.pick(*operations)
            needed = max(i for i in (1, 2, 3) if i == 1 or f"I{i}" in last)
            body = [self.source(i, i == 1) for i in range(1, needed + 1)]
            if self.draw(st.integers(0, 3)) == 3:
                body.append(self.pick("\\+ I1=[]", "I1 \\= []", *(["I2 = []"] if needed > 1 else [])))
            self.lines.append(f"holdsFor({fluent.name}(X)=true,I) :- {', '.join([*body, last])}.")
        return self.define(fluent)

    def static_pair(self) -> Fluent:
        """Two entities brought together by an input fluent, as in a rendezvous."""
        fluent = Fluent(self.name("m"), 2, ("true",), False)
        first = self.pick("in1(X)=true", *self.unary())
        second = self.pick("in1(Y)=true", "in2(Y)=true", *(p.replace("X", "Y") for p in self.unary()))
        guard = ["\\+ I0=[]"] if self.chance() else []
        last = self.pick("intersect_all([I0,I1,I2],I)", "union_all([I1,I2],J), relative_complement_all(I0,[J],I)",
                         "intersect_all([I1,I2],J), relative_complement_all(I0,[J],I)",
                         "intersect_all([I0,I1],J), intDurGreater(J,{d},I)")
        body = ["holdsFor(near(X,Y)=true,I0)", *guard, f"holdsFor({first},I1)", f"holdsFor({second},I2)", last]
        self.lines.append(f"holdsFor({fluent.name}(X,Y)=true,I) :- {', '.join(body)}.")
        return self.define(fluent)

    # The finished case

    def finish(self, *, aligned: bool = True) -> Case:
        """Declarations, background and a stream for what has been written."""
        text = "\n".join(self.lines) + "\n"
        text = self.declarations(text) + text
        background = "".join(line for line in self.background() if mentions(text, line.split("(")[0]))
        start = self.draw(st.sampled_from((-self.tick, -self.tick, 10)))
        return Case(text, background, self.draw(streams(text, self.tick, aligned)), self.tick, start)

    def declarations(self, text: str) -> str:
        inputs = {"in1": "in1(X)=true", "in2": "in2(X)=true", "near": "near(X,Y)=true", "pt": "pt(X)=true"}
        used = {name: pair for name, pair in inputs.items() if mentions(text, name)}
        lines = [f"collectIntervals({pair.replace('X', '_').replace('Y', '_')})." for name, pair in used.items()
                 if name != "pt"]
        if "pt" in used:
            lines += ["points(pt(_)=true).", "buildFromPoints(pt(_)=true)."]
        if self.domain == "dynamic":
            lines.append("dynamicDomain(dom(_)).")
            events = {"e1": "e1(X)", "e2": "e2(X)", "n": "n(X,_)", "go": "go(X,_)", "meet": "meet(X,Y)"}
            used |= {name: event for name, event in events.items() if mentions(text, name)}
            for subject in used.values():
                where = "dom(X), dom(Y)" if "Y" in subject else "dom(X)"
                lines.append(f"grounding({subject}) :- {where}.")
        return "".join(f"{line}\n" for line in lines)

    def background(self) -> list[str]:
        known = self.draw(st.sampled_from((ENTITIES, ENTITIES[:2]))) if self.domain == "static" else ()
        return [
            *(f"dom({e}).\n" for e in known),
            "kind(a,small).\n", "kind(b,large).\n", "kind(c,small).\n",
            "limit(a,2).\n", "limit(b,4).\n", "limit(c,3).\n",
            "next(a,b).\n", "next(b,c).\n", "next(c,a).\n",
            "favourite(a,h).\n", "favourite(b,w).\n",
            *(f"place({place}).\n" for place in PLACES),
            *(f"delay({e},{self.tick * k}).\n" for e, k in zip(ENTITIES, (2, 5, 3), strict=True)),
        ]


@st.composite
def streams(draw: DrawFn, text: str, tick: int, aligned: bool) -> list[Fact]:
    """Facts for the input names of a program, at most 60."""
    horizon = draw(st.sampled_from((12 if tick == 1 else LAST, LAST)))
    step = tick if aligned else 1
    times = st.integers(0, horizon // step).map(lambda k: k * step)
    entity = st.sampled_from(ENTITIES)
    lengths = st.sampled_from((1, 2, 3, 4, 6, 12)).map(lambda k: k * tick)
    starts = st.integers(0, horizon // tick).map(lambda k: k * tick)
    kinds: dict[str, SearchStrategy[Fact]] = {}
    for name in ("e1", "e2"):
        kinds[name] = st.tuples(st.just("event"), st.just(name), st.tuples(entity), times)
    kinds["n"] = st.tuples(st.just("event"), st.just("n"), st.tuples(entity, st.integers(0, 5)), times)
    kinds["go"] = st.tuples(st.just("event"), st.just("go"), st.tuples(entity, st.sampled_from(PLACES)), times)
    kinds["meet"] = st.tuples(st.just("event"), st.just("meet"), st.tuples(entity, entity), times)
    for name, who in (("in1", st.tuples(entity)), ("in2", st.tuples(entity)), ("near", st.tuples(entity, entity))):
        kinds[name] = st.builds(interval_fact, st.just(name), who, starts, lengths)
    kinds["pt"] = st.tuples(st.just("point"), st.just("pt"), st.tuples(entity), st.just("true"), starts)
    used = [facts for name, facts in kinds.items() if mentions(text, name)]
    if not used:
        return []
    least = draw(st.sampled_from((0, 12, 30)))
    return draw(st.lists(st.one_of(used), min_size=least, max_size=60))


def interval_fact(name: str, args: tuple[str, ...], start: int, length: int) -> Fact:
    return ("interval", name, args, "true", start, start + length)


def sketch(draw: DrawFn, *domains: str) -> Sketch:
    """An empty program with a tick and a kind of domain: none (what the rules bind), static or dynamic."""
    tick = draw(st.sampled_from((1, 1, 1, 5)))
    return Sketch(draw, tick, draw(st.sampled_from(domains or ("", "static", "dynamic"))))


UNION = ["union_all([I1,I2],I)", "intersect_all([I1,I2],I)", "relative_complement_all(I1,[I2],I)",
         "union_all([I1,I2],J), relative_complement_all(J,[I3],I)", "intersect_all([I1,I2],J), union_all([J,I3],I)",
         "relative_complement_all(I1,[I2,I3],I)", "union_all([I1,I2,I3],I)", "I = I1"]
COMPLEMENT = ["complement_all([I1],I)", "complement_all([I1,I2],I)", "complement_all([I1],J), intersect_all([J,I2],I)"]
DURATION = ["intDurGreater(I1,{d},I)", "intDurLess(I1,{d},I)", "union_all([I1,I2],J), intDurGreater(J,{d},I)",
            "intersect_all([I1,I2],J), intDurLess(J,{d},I)", "limit(X,D), intDurGreater(I1,D,I)"]
ALLEN = [f"allen({relation},I1,I2,{mode},I)" for relation in RELATIONS for mode in MODES]
ALLEN += [f"{relation}(I1,I2,{mode},I)" for relation in RELATIONS for mode in MODES[:3]]
ALLEN += [f"allen({relation},I1,I2,{mode},J), union_all([I1,J],I)" for relation in RELATIONS for mode in MODES[1:4]]
ALLEN += [f"allen(before,I1,I2,union,J), allen({relation},J,I3,union,I)" for relation in RELATIONS]


@st.composite
def hierarchies(draw: DrawFn) -> Case:
    """Acyclic simple fluents: start and end, holdsAt, negation, comparisons, background."""
    program = sketch(draw)
    for _ in range(draw(st.integers(1, 3))):
        program.simple()
    return program.finish()


@st.composite
def unaligned(draw: DrawFn) -> Case:
    """A tick of 5 and events between the time-points; conditions on fluents only, not on their starts and ends."""
    program = Sketch(draw, 5, draw(st.sampled_from(("", "static"))))
    first = Fluent("f0", 1, draw(st.sampled_from(VALUES)), True)
    for pair in first.pairs("X"):
        program.lines.append(f"initiatedAt({pair},T) :- {program.pick('happensAt(e1(X),T)', 'happensAt(e2(X),T)')}.")
        program.lines.append(f"terminatedAt({pair},T) :- happensAt(n(X,V),T), V > {draw(st.integers(0, 5))}.")
    program.define(first)
    asked = program.pick(*first.pairs("X"))
    sign = program.pick("", "\\+ ")
    program.lines.append(f"initiatedAt(f1(X)=true,T) :- happensAt(e2(X),T), {sign}holdsAt({asked},T).")
    program.lines.append("terminatedAt(f1(X)=true,T) :- happensAt(n(X,_),T).")
    program.define(Fluent("f1", 1, ("true",), True))
    program.static(UNION[:3])
    return program.finish(aligned=False)


@st.composite
def values(draw: DrawFn) -> Case:
    """Multi-valued fluents with initial values, listed values, and values from events."""
    program = sketch(draw, "static", "dynamic", "")
    program.located()
    for _ in range(draw(st.integers(0, 2))):
        program.simple()
    return program.finish()


@st.composite
def statics(draw: DrawFn) -> Case:
    """Interval operations and guards over input fluents and simple fluents."""
    program = sketch(draw)
    for _ in range(draw(st.integers(0, 2))):
        program.simple()
    for _ in range(draw(st.integers(1, 3))):
        program.static(UNION + (COMPLEMENT if program.domain else []))
    return program.finish()


@st.composite
def durations(draw: DrawFn) -> Case:
    """Duration filters, and what is built on them."""
    program = sketch(draw)
    for _ in range(draw(st.integers(0, 1))):
        program.simple()
    program.static(DURATION)
    program.static(UNION + DURATION)
    if program.chance():
        program.simple()
    return program.finish()


@st.composite
def allens(draw: DrawFn) -> Case:
    """Allen relations in all modes, and what is built on them."""
    program = sketch(draw)
    for _ in range(draw(st.integers(0, 1))):
        program.simple()
    for _ in range(draw(st.integers(1, 2))):
        program.static(ALLEN)
    if program.chance():
        program.simple()
    return program.finish()


@st.composite
def pairs(draw: DrawFn) -> Case:
    """Fluents about two entities, simple and statically determined, and fluents that follow them."""
    program = sketch(draw)
    for _ in range(draw(st.integers(0, 1))):
        program.simple()
    for _ in range(draw(st.integers(1, 2))):
        if program.chance():
            program.pair()
        else:
            program.static_pair()
    if program.chance():
        program.follower()
    return program.finish()


@st.composite
def delays(draw: DrawFn) -> Case:
    """Delayed effects, with what triggers them and what follows them."""
    program = sketch(draw)
    for _ in range(draw(st.integers(0, 1))):
        program.simple()
    for _ in range(draw(st.integers(1, 2))):
        program.delayed()
    if program.chance():
        program.simple()
    return program.finish()


@st.composite
def cycles(draw: DrawFn) -> Case:
    """Cyclic simple fluents, also through other entities, with negation, `start`/`end` inside, and delayed effects."""
    program = sketch(draw)
    if program.chance():
        program.simple()
    program.cycle()
    if program.chance():
        program.delayed(cyclic=True)
    if program.chance():
        program.simple()
    return program.finish()


@st.composite
def outputs(draw: DrawFn) -> Case:
    """Output events, from events alone or not, and fluents on top of them; counts with findall."""
    program = sketch(draw)
    for _ in range(draw(st.integers(0, 1))):
        program.simple()
    for _ in range(draw(st.integers(1, 2))):
        program.output()
    if program.chance():
        program.counter()
    if program.chance():
        program.built()
    if program.chance():
        program.simple()
    return program.finish()


@st.composite
def mixed(draw: DrawFn) -> Case:
    """Everything together."""
    program = sketch(draw)
    operations = UNION + DURATION + ALLEN[:20] + (COMPLEMENT if program.domain else [])
    parts = {
        "simple": program.simple,
        "static": lambda: program.static(operations),
        "delayed": program.delayed,
        "located": program.located,
        "pair": program.pair,
        "static_pair": program.static_pair,
        "follower": program.follower,
        "cycle": program.cycle,
        "output": program.output,
        "counter": program.counter,
    }
    for part in draw(st.lists(st.sampled_from(sorted(parts)), min_size=2, max_size=5)):
        parts[part]()
    return program.finish()


FAMILIES: dict[str, SearchStrategy[Case]] = {
    "hierarchies": hierarchies(),
    "unaligned": unaligned(),
    "values": values(),
    "statics": statics(),
    "durations": durations(),
    "allens": allens(),
    "pairs": pairs(),
    "delays": delays(),
    "cycles": cycles(),
    "outputs": outputs(),
    "mixed": mixed(),
}


@st.composite
def arrivals(draw: DrawFn, facts: list[Fact], window: int, step: int, start: int) -> list[tuple[Fact, int]]:
    """The facts with arrivals that find their time inside the window: late, but not too late."""
    timed = []
    for fact in facts:
        time = fact[4] if fact[0] != "event" else fact[3]
        queries = range(start + step, time + window, step)
        last = max((q for q in queries if q >= time), default=time)
        timed.append((fact, draw(st.sampled_from((time, time, max(time, last))))))
    return timed
