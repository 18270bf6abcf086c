"""Random Event Calculus programs: whatever the reference of the language has, put together without regard to sense.

A rule is built from left to right: conditions that bind variables first, then conditions that may use them. Every
argument is a variable that is bound already, another one, the same one again, a constant, or `_`; so rules join
relations with themselves in every way.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

WHO, NUMBER, PLACE = "who", "number", "place"
POOLS: tuple[tuple[str | int | float, ...], ...] = (
    ("a", "b", "c"), ("a", "b", "c", "d"), ("x1", "x2", "x10"), (1, 2, 3), (0, -1, -2, 7), (0.5, -1.5, 2.0, 1e3),
    ("New York", "it's", "A", "b_c"), ("a", 1, -2, "Big one"), (9000000000000000, -9000000000000000, 0),
)
PLACES = ("h", "w", "p")
NUMBERS: tuple[tuple[int | float, ...], ...] = ((0, 1, 2, 3, 4, 5), (-3, -1, 0, 2, 5), (-1.5, 0.0, 0.5, 2.5, 4.0))
VALUES = (("true",), ("true",), ("true", "false"), ("on", "off"), ("lo", "mid", "hi"), ("1", "2"), ("-1", "0.5"),
          ("'In use'", "free"))
RELATIONS = ("before", "meets", "starts", "finishes", "during", "overlaps", "equal")
MODES = ("source", "target", "union", "intersection", "relative_complement", "relative_complement_inverse",
         "lhs", "rhs", "intersect", "complement", "complement_inv")
EVENTS = {"e1": (WHO,), "e2": (WHO,), "n": (WHO, NUMBER), "go": (WHO, PLACE), "meet": (WHO, WHO), "dial": (WHO, WHO),
          "deal": (WHO, WHO, WHO), "bell": ()}
INTERVALS = {"in1": (WHO,), "in2": (WHO,), "near": (WHO, WHO)}
POINTS = {"pt": (WHO,), "pp": (WHO,)}
STATES = ("lo", "hi")
"""The values of the input fluent `st`."""


def written(value: str | int | float) -> str:
    """A constant as rules write it."""
    if not isinstance(value, str):
        return str(value)
    plain = value.isidentifier() and value[0].islower()
    return value if plain else "'" + value.replace("'", "''") + "'"


@dataclass(frozen=True)
class Fluent:
    """A fluent that rules may use. An inner argument makes it `f(g(A), B)`."""

    name: str
    kinds: tuple[str, ...]
    values: tuple[str, ...]
    simple: bool
    nested: bool = False
    variable: str = ""
    """The kind of its values, where an event gives them."""

    def call(self, args: Sequence[str]) -> str:
        """The fluent with arguments."""
        if not args:
            return self.name
        if self.nested:
            return f"{self.name}(g({args[0]}){''.join(f', {a}' for a in args[1:])})"
        return f"{self.name}({', '.join(args)})"


SPEED = Fluent("pp", (WHO,), (), False, variable=NUMBER)
"""An input fluent that arrives at time-points, and stays so."""


@dataclass
class Scope:
    """The variables of a rule: by kind, those that are bound; and how many there are."""

    bound: dict[str, list[str]] = field(default_factory=lambda: {WHO: [], NUMBER: [], PLACE: []})
    fresh: int = 0


@dataclass
class Writer:
    """A program while it is being written."""

    rng: random.Random
    tick: int
    domain: str
    """Where entities come from: nothing (what the rules bind), `static` or `dynamic`."""
    entities: tuple[str | int | float, ...]
    numbers: tuple[int | float, ...]
    events: dict[str, tuple[str, ...]]
    """The input events: few, so that rules meet."""
    sticky: float
    """How often a condition asks for the fluent that the one before it asked for."""
    sane: bool = True
    """Whether conditions mostly join what is bound, so that rules often apply; otherwise they are wilder."""
    last: Fluent | None = None
    clauses: list[str] = field(default_factory=list)
    fluents: list[Fluent] = field(default_factory=list)
    derived: dict[str, tuple[str, ...]] = field(default_factory=dict)
    made: int = 0
    lists: int = 0

    # -- chance

    def chance(self, probability: float = 0.5) -> bool:
        return self.rng.random() < probability

    def name(self, prefix: str) -> str:
        self.made += 1
        return f"{prefix}{self.made}"

    def constant(self, kind: str) -> str:
        pool: Sequence[str | int | float] = {WHO: self.entities, NUMBER: self.numbers, PLACE: PLACES}[kind]
        return written(self.rng.choice(pool))

    def duration(self) -> str:
        return str(self.tick * self.rng.choice((1, 2, 3, 3, 4, 5, 6, 8, 12)))

    # -- arguments

    def fresh(self, scope: Scope, kind: str) -> str:
        """A variable that nothing has bound."""
        scope.fresh += 1
        return f"{'N' if kind == NUMBER else 'P' if kind == PLACE else 'X'}{scope.fresh}"

    def binding(self, scope: Scope, kinds: Sequence[str]) -> list[str]:
        """Arguments of a condition that may bind variables."""
        args, first = list[str](), not any(scope.bound.values())
        for kind in kinds:
            known = scope.bound[kind]
            turn = self.rng.random()
            if self.sane:
                turn = 0.8 * turn if known and not first else 0.5 + 0.42 * turn
            if known and turn < 0.5:
                args.append(self.rng.choice(known))
            elif turn < (0.7 if self.sane and not first else 0.82):
                variable = self.fresh(scope, kind)
                known.append(variable)
                args.append(variable)
            elif turn < 0.9:
                args.append(self.constant(kind))
            else:
                args.append("_")
        return args

    def testing(self, scope: Scope, kinds: Sequence[str]) -> list[str]:
        """Arguments of a condition that binds nothing."""
        args = []
        for kind in kinds:
            known = scope.bound[kind]
            turn = self.rng.random()
            if known and turn < (0.8 if self.sane else 0.72):
                args.append(self.rng.choice(known))
            else:
                args.append(self.constant(kind) if turn > (0.97 if self.sane else 0.9) else "_")
        return args

    def value(self, fluent: Fluent, scope: Scope | None) -> str:
        """A value of a fluent in a condition; with a scope it may be bound, or bind."""
        turn = self.rng.random()
        if fluent.variable and turn < 0.6 and scope is not None:
            known = scope.bound[fluent.variable]
            if known and self.chance():
                return self.rng.choice(known)
            variable = self.fresh(scope, fluent.variable)
            known.append(variable)
            return variable
        if turn > 0.94:
            return "_"
        return self.constant(fluent.variable) if fluent.variable else self.rng.choice(fluent.values)

    # -- conditions

    def inputs(self) -> list[Fluent]:
        """The input fluents."""
        found = [Fluent(name, kinds, ("true",), False) for name, kinds in (INTERVALS | {"pt": (WHO,)}).items()]
        return [*found, Fluent("st", (WHO,), STATES, False)]

    def fluent(self, *, inputs: float = 0.15, among: Sequence[Fluent] | None = None) -> Fluent:
        """A fluent to ask for: most often one that rules define."""
        known = self.fluents if among is None else among
        if self.last is not None and self.last in known and self.chance(self.sticky):
            return self.last
        if not known or self.chance(inputs):
            return self.rng.choice(self.inputs())
        self.last = self.rng.choice(known[-4:] if self.chance(0.7) else known)
        return self.last

    def trigger(self, scope: Scope, simple: Sequence[Fluent]) -> str:
        """A condition that says when."""
        turn = self.rng.random()
        if turn < 0.04 and self.tick == 1:  # with a longer one the interpreter sees a point until the next
            return f"holdsAt(pp({self.binding(scope, (WHO,))[0]})={self.value(SPEED, scope)}, T)"
        if turn < 0.5 or not (self.fluents or self.derived):
            events = self.events | self.derived
            name = self.rng.choice([*events, *self.derived, *self.derived])
            return f"happensAt({self.event(name, self.binding(scope, events[name]))}, T)"
        if turn < 0.82 or not simple:
            fluent = self.fluent()
            kind = self.rng.choice(("start", "start", "end", "end", "startI"))
            pair = f"{fluent.call(self.binding(scope, fluent.kinds))}={self.value(fluent, scope)}"
            return f"happensAt({kind}({pair}), T)"
        fluent = self.rng.choice(simple)
        pair = f"{fluent.call(self.binding(scope, fluent.kinds))}={self.value(fluent, scope)}"
        return f"initiatedAt({pair}, T)"

    @staticmethod
    def event(name: str, args: Sequence[str]) -> str:
        return f"{name}({', '.join(args)})" if args else name

    def condition(self, scope: Scope, asked: Sequence[Fluent]) -> str:
        """A further condition of a rule about a time-point."""
        turn = self.rng.random()
        if turn < 0.34:
            fluent = self.fluent(among=asked)
            return f"holdsAt({fluent.call(self.binding(scope, fluent.kinds))}={self.value(fluent, scope)}, T)"
        if turn < 0.52:
            fluent = self.fluent(among=asked)
            return f"\\+ holdsAt({fluent.call(self.testing(scope, fluent.kinds))}={self.value(fluent, None)}, T)"
        if turn < 0.6:
            events = self.events | self.derived
            name = self.rng.choice(list(events))
            sign = self.rng.choice(("", "\\+ "))
            args = self.testing(scope, events[name]) if sign else self.binding(scope, events[name])
            return f"{sign}happensAt({self.event(name, args)}, T)"
        if turn < 0.66 and self.fluents:
            fluent = self.fluent()
            kind = self.rng.choice(("start", "end", "startI"))
            sign = self.rng.choice(("", "\\+ ", "\\+ "))
            args = self.testing(scope, fluent.kinds) if sign else self.binding(scope, fluent.kinds)
            value = self.value(fluent, None if sign else scope)
            return f"{sign}happensAt({kind}({fluent.call(args)}={value}), T)"
        if turn < 0.74:
            return self.count(scope, asked)
        if turn < 0.82:
            return self.background(scope)
        if turn < 0.86:
            one, other = self.condition(scope_of(scope), asked), self.condition(scope_of(scope), asked)
            if self.chance(0.3):
                return f"({self.condition(scope_of(scope), asked)} -> {one} ; {other})"
            return f"({one} ; {other})"
        if turn < 0.89:
            fluent, second = self.fluent(among=asked), self.fluent(among=asked)
            inner = scope_of(scope)
            return (f"\\+ (holdsAt({fluent.call(self.binding(inner, fluent.kinds))}={self.value(fluent, None)}, T), "
                    f"holdsAt({second.call(self.testing(inner, second.kinds))}={self.value(second, None)}, T))")
        return self.comparison(scope)

    def count(self, scope: Scope, asked: Sequence[Fluent]) -> str:
        """How many there are."""
        inner = scope_of(scope)
        counted = self.fresh(inner, WHO)
        scope.fresh = inner.fresh
        fluent = self.fluent(among=[f for f in asked if f.kinds])
        if fluent.kinds and self.chance(0.7):
            args = self.testing(inner, fluent.kinds)
            args[self.rng.randrange(len(args))] = counted
            goal = f"holdsAt({fluent.call(args)}={self.value(fluent, None)}, T)"
        else:
            name = self.rng.choice([name for name, kinds in self.events.items() if WHO in kinds] or ["e1"])
            args = self.testing(inner, EVENTS[name])
            args[EVENTS[name].index(WHO)] = counted
            goal = f"happensAt({name}({', '.join(args)}), T)"
        self.lists += 1
        number, items = f"C{self.lists}", f"L{self.lists}"
        test = self.rng.choice((f"{number} > 0", f"{number} >= 2", f"{number} < 2", f"{number} =:= 1", f"{number} = 1"))
        return f"findall({counted}, {goal}, {items}), length({items}, {number}), {test}"

    def background(self, scope: Scope) -> str:
        """Something that always holds, or never."""
        turn = self.rng.random()
        if turn < 0.35:
            return f"next({', '.join(self.binding(scope, (WHO, WHO)))})"
        if turn < 0.5:
            return f"\\+ next({', '.join(self.testing(scope, (WHO, WHO)))})"
        if turn < 0.65:
            return f"kind({self.testing(scope, (WHO,))[0]}, {self.rng.choice(('small', 'large'))})"
        if turn < 0.75:
            return f"limit({', '.join(self.binding(scope, (WHO, NUMBER)))})"
        if turn < 0.85:
            return f"{self.rng.choice(('', chr(92) + '+ '))}odd({self.testing(scope, (WHO,))[0]})"
        known = scope.bound[WHO]
        listed = ", ".join(self.constant(WHO) for _ in range(2))
        return f"member({self.rng.choice(known)}, [{listed}])" if known else "true"

    def comparison(self, scope: Scope) -> str:
        who, numbers = scope.bound[WHO], scope.bound[NUMBER]
        if numbers and self.chance(0.2):
            made = self.fresh(scope, NUMBER)
            term = self.rng.choice(("{} + 1", "{} * 2 - 1", "abs({})", "-{}", "min({}, 2)", "{} / 2", "{} + T"))
            expression = term.format(self.rng.choice(numbers))
            numbers.append(made)
            return f"{made} is {expression}"
        if numbers and self.chance(0.7):
            sign = self.rng.choice(("<", "=<", ">", ">=", "=:=", "=\\="))
            one, other = self.rng.choice(numbers), self.rng.choice([*numbers, self.constant(NUMBER)])
            return f"{self.rng.choice((one, f'{one} * 2 - 1', f'abs({one})', f'{one} + 1'))} {sign} {other}"
        if len(set(who)) > 1 and self.chance(0.8):
            one, other = self.rng.sample(sorted(set(who)), 2)
            return f"{one} {self.rng.choice((chr(92) + '=', '==', chr(92) + '==', '@<', '@>='))} {other}"
        return f"T mod {2 * self.tick} =:= 0" if self.chance(0.5) else "T > 5"

    def body(self, scope: Scope, asked: Sequence[Fluent], most: int = 3, simple: Sequence[Fluent] = ()) -> list[str]:
        body = [self.trigger(scope, simple)]
        amounts = (0, 0, 1, 1, 2) if self.sane else (0, 1, 1, 2, most)
        return body + [self.condition(scope, asked) for _ in range(self.rng.choice(amounts))]

    def head(self, fluent: Fluent, scope: Scope) -> str:
        """The head's fluent: with bound variables where there are any."""
        args = list[str]()
        for kind in fluent.kinds:
            known = scope.bound[kind]
            new = [name for name in known if name not in args]
            if new and self.sane and self.chance(0.85):
                known = new
            args.append(self.rng.choice(known) if known and self.chance(0.95) else self.constant(kind))
        return fluent.call(args)

    # -- definitions

    def kinds(self) -> tuple[str, ...]:
        widest = max([kinds.count(WHO) for kinds in self.events.values()]) if self.sane else 3
        return (WHO,) * min(self.rng.choice((0, 1, 1, 1, 2, 2, 2, 2, 3)), max(widest, 1))

    def simple(self, asked: Sequence[Fluent] | None = None, fluent: Fluent | None = None) -> Fluent:
        """A simple fluent; `asked` are those that its conditions may ask for."""
        if fluent is None:
            fluent = Fluent(self.name("f"), self.kinds(), self.rng.choice(VALUES), True, self.chance(0.06))
        known = self.fluents if asked is None else asked
        simple = [f for f in self.fluents if f.simple and f is not fluent]
        for value in fluent.values:
            for kind in ("initiated", "terminated"):
                for _ in range(self.rng.choice((1, 1, 1, 2) if kind == "initiated" else (0, 1, 1))):
                    self.change(kind, fluent, value, known, simple)
        if self.chance(0.2):
            self.change("terminated", fluent, "_", known, simple)
        return self.define(fluent)

    def change(self, kind: str, fluent: Fluent, value: str, asked: Sequence[Fluent], simple: Sequence[Fluent]) -> None:
        scope = Scope()
        body = self.body(scope, asked, simple=simple)
        head = self.head(fluent, scope)
        form = f"{kind}At({head}={value}, T)"
        if body[0].startswith("happensAt(") and "start" not in body[0] and "end(" not in body[0] and self.chance(0.05):
            event = body[0].removeprefix("happensAt(").removesuffix(", T)")
            if event.partition("(")[0] in EVENTS:
                form, body = f"{kind.removesuffix('d')}s({event}, {head}={value}, T)", body[1:] or ["true"]
        elif self.chance(0.05):
            form = f"{kind}At({head}={value}, T1, T, T2)"
        self.rng.shuffle(body)
        self.clauses.append(f"{form} :- {', '.join(body)}.")

    def base(self, *among: str) -> Fluent:
        """A simple fluent that follows events without further conditions."""
        events = [name for name in among or self.events if WHO in EVENTS[name]] or ["dial"]
        name = self.rng.choice(events)
        about = tuple(kind for kind in EVENTS[name] if kind == WHO)
        alike = [other for other in self.events if other != name and EVENTS[other][:len(about)] == about]
        values = self.rng.choice(VALUES)
        fluent = Fluent(self.name("f"), about, values if len(values) <= 1 + len(alike) else values[:1], True)
        who = [f"X{place}" for place in range(len(about))]
        for value, event in zip(fluent.values, [name, *alike], strict=False):
            args = [*self.rng.sample(who, len(who)), *["_"] * (len(EVENTS[event]) - len(who))]
            self.clauses.append(f"initiatedAt({fluent.call(who)}={value}, T) :- "
                                f"happensAt({self.event(event, args)}, T).")
        if self.chance(0.7):
            others = [other for other in self.events if other != name] or ["bell"]
            ends, scope = self.rng.choice(others), Scope()
            args = self.binding(scope, EVENTS[ends])
            self.clauses.append(f"terminatedAt({self.head(fluent, scope)}={self.rng.choice((*fluent.values, '_'))}, T) "
                                f":- happensAt({self.event(ends, args)}, T).")
        return self.define(fluent)

    def joined(self) -> None:
        """A fluent about two or three entities, and others that join it with itself."""
        of = self.base(*(name for name in ("meet", "dial", "deal") if name in self.events or self.chance(0.5)))
        variables = ["X", "Y", "Z"][:max(2, len(of.kinds))]

        def args() -> list[str]:
            chosen = self.rng.sample(variables, len(of.kinds)) if self.chance(0.75) else (
                self.rng.choices([*variables, "_"], k=len(of.kinds)))
            return [self.constant(WHO) if self.chance(0.04) else arg for arg in chosen]

        def pair(*more: str) -> str:
            return f"{of.call(args())}={self.rng.choice((*of.values, *more))}"

        for _ in range(self.rng.choice((1, 1, 2))):
            if self.chance(0.4):
                lists = [f"I{number}" for number in range(self.rng.choice((2, 2, 3)))]
                body = [f"holdsFor({of.call(self.rng.sample(variables, len(of.kinds)))}="
                        f"{self.rng.choice(of.values)}, {name})" for name in lists]
                verb = self.rng.choice(("intersect_all", "union_all", "relative_complement_all", "allen", "long"))
                body.append({
                    "relative_complement_all": f"relative_complement_all(I0, [{', '.join(lists[1:])}], I)",
                    "allen": f"allen({self.rng.choice(RELATIONS)}, I0, I1, {self.rng.choice(MODES)}, I)",
                    "long": f"intersect_all([{', '.join(lists)}], J), intDurGreater(J, {self.duration()}, I)",
                }.get(verb, f"{verb}([{', '.join(lists)}], I)"))
                kept = variables[:len(of.kinds)] if len(of.kinds) > 1 else ["X"]
                fluent = Fluent(self.name("s"), (WHO,) * len(kept), ("true",), False)
                self.clauses.append(f"holdsFor({fluent.call(kept)}=true, I) :- {', '.join(body)}.")
                self.define(fluent)
                continue
            fluent = Fluent(self.name("g"), (WHO,) * self.rng.choice((1, 2)), self.rng.choice(VALUES), True)
            for value in fluent.values:
                for change in ("initiated", "terminated") if self.chance(0.7) else ("initiated",):
                    kind = self.rng.choice(("start", "end", "event", "event", "initiated"))
                    when = {"event": f"happensAt(dial({', '.join(self.rng.sample(variables, 2))}), T)",
                            "initiated": f"initiatedAt({pair()}, T)"}.get(kind, f"happensAt({kind}({pair()}), T)")
                    body = [when]
                    for _ in range(self.rng.choice((0, 1, 1, 2))):
                        sign = self.rng.choice(("", "", "\\+ "))
                        body.append(f"{sign}holdsAt({pair('_')}, T)")
                    if self.chance(0.15):
                        counted = of.call(["C", *(self.rng.choice(variables) for _ in of.kinds[1:])])
                        body.append(f"findall(C, holdsAt({counted}={self.rng.choice(of.values)}, T), L), "
                                    f"length(L, N), N >= {self.rng.choice((1, 2))}")
                    bound = [v for v in variables if any(re.search(rf"\b{v}\b", c) for c in body if c[0] != "\\")]
                    known = bound or [self.constant(WHO)]
                    chosen = [self.rng.choice(known) for _ in fluent.kinds] if len(known) < len(fluent.kinds) else (
                        self.rng.sample(known, len(fluent.kinds)))
                    self.clauses.append(f"{change}At({fluent.call(chosen)}={value}, T) :- {', '.join(body)}.")
            self.define(fluent)

    def located(self) -> Fluent:
        """A fluent whose value comes from an event."""
        kind, name = self.rng.choice(((PLACE, "go"), (NUMBER, "n")))
        fluent = Fluent(self.name("v"), (WHO,), (), True, variable=kind)
        scope = Scope()
        body = [f"happensAt({name}(X, V), T)", *([self.condition(scope_with(scope, "X"), self.fluents)]
                                                if self.chance(0.4) else [])]
        self.clauses.append(f"initiatedAt({fluent.name}(X)=V, T) :- {', '.join(body)}.")
        if self.chance():
            self.change("terminated", fluent, self.rng.choice(("_", self.constant(kind))), self.fluents, ())
        if self.chance(0.3):
            self.change("initiated", fluent, self.constant(kind), self.fluents, ())
        return self.define(fluent)

    def cycle(self) -> None:
        """Simple fluents that ask for one another, and for themselves."""
        members = [Fluent(self.name("c"), self.kinds() or (WHO,), self.rng.choice(VALUES), True)
                   for _ in range(self.rng.choice((1, 1, 2, 3)))]
        earlier = list(self.fluents)
        for member in members:
            asked = [*members, *members, *earlier]
            simple = [f for f in earlier if f.simple]
            for value in member.values:
                self.change("initiated", member, value, asked, simple)
                if self.chance(0.7):
                    self.change("terminated", member, value, asked, simple)
        for member in members:
            self.define(member)

    def delayed(self) -> Fluent:
        """A simple fluent with deadlines."""
        values = self.rng.choice([v for v in VALUES if len(v) > 1])
        fluent = Fluent(self.name("d"), self.kinds(), values, True)
        args = [f"A{place}" for place in range(len(fluent.kinds))]
        for value in values[:self.rng.choice((1, 1, 2))]:
            self.change("initiated", fluent, value, self.fluents, ())
            if self.chance(0.6):
                self.change("terminated", fluent, self.rng.choice((value, "_")), self.fluents, ())
        links = list(zip(values, [*values[1:], *([values[0]] if self.chance(0.3) else [])], strict=False))
        for source, target in links:
            delay, where = self.duration(), ""
            if args and self.chance(0.3):
                delay, where = "D", f" :- delay({args[0]}, D)"
            self.clauses.append(f"fi({fluent.call(args)}={source}, {fluent.call(args)}={target}, {delay}){where}.")
            if target != values[0] and self.chance(0.4):
                self.clauses.append(f"p({fluent.call(['_'] * len(args))}={source}).")
        return self.define(fluent)

    def output(self) -> None:
        """A derived event."""
        kinds, scope = self.kinds(), Scope()
        name = self.name("out")
        for _ in range(self.rng.choice((1, 1, 2))):
            scope = Scope()
            body = self.body(scope, self.fluents, simple=[f for f in self.fluents if f.simple])
            args = [self.rng.choice(scope.bound[kind]) if scope.bound[kind] else self.constant(kind) for kind in kinds]
            self.clauses.append(f"happensAt({self.event(name, args)}, T) :- {', '.join(body)}.")
        self.derived[name] = kinds
        if self.domain and self.chance(0.3) and kinds:
            args = [f"A{place}" for place in range(len(kinds))]
            where = ", ".join(f"dom({a})" for a in args)
            self.clauses.append(f"grounding({self.event(name, args)}) :- {where}.")
        if self.chance(0.2) and kinds:
            args = [f"A{place}" for place in range(len(kinds))]
            built = Fluent(self.name("b"), kinds, ("true",), False)
            self.clauses.append(f"buildFromPoints({built.call(args)}=true, {self.event(name, args)}).")
            self.fluents.append(built)

    def static(self, durations: float = 0.3, allens: float = 0.25) -> Fluent:
        """A statically determined fluent."""
        fluent = Fluent(self.name("s"), self.kinds(), ("true",), False, self.chance(0.05))
        source = self.rng.choice([None, *(f for f in self.fluents if f.variable or len(f.values) > 1)])
        if source is not None and source.kinds == fluent.kinds and self.chance(0.3):  # holdsFor(F=Variable)
            args = [f"A{place}" for place in range(len(fluent.kinds))]
            fluent = Fluent(fluent.name, fluent.kinds, source.values, False, variable=source.variable)
            self.clauses.append(f"holdsFor({fluent.call(args)}=V, I) :- holdsFor({source.call(args)}=V, I).")
            return self.define(fluent)
        for _ in range(self.rng.choice((1, 1, 1, 2))):
            self.clauses.append(self.static_rule(fluent, durations, allens))
        return self.define(fluent)

    def static_rule(self, fluent: Fluent, durations: float, allens: float) -> str:
        """Sources, then operations until one list is left; every list knows the variables it depends on."""
        scope, body, lists = Scope(), list[str](), dict[str, frozenset[str]]()
        for number in range(self.rng.choice((1, 2, 2, 2, 3))):
            asked = self.fluent(inputs=0.3)
            args = self.binding(scope, asked.kinds)
            value = "_" if self.chance(0.05) else (
                self.constant(asked.variable) if asked.variable else self.rng.choice(asked.values))
            body.append(f"holdsFor({asked.call(args)}={value}, I{number})")
            lists[f"I{number}"] = frozenset(arg for arg in args if arg[0] == "X")
            if self.chance(0.08):
                empty = lists[f"I{number}"] <= lists["I0"] and self.chance()
                body.append(f"I{number} = []" if empty else
                            self.rng.choice((f"\\+ I{number}=[]", f"I{number} \\= []")))
        if self.chance(0.15):
            body.append(self.static_comparison(scope))
        if self.chance(0.05):
            asked = self.fluent()
            value = self.constant(asked.variable) if asked.variable else self.rng.choice(asked.values)
            sign = self.rng.choice(("", "\\+ "))
            time = self.tick * self.rng.randrange(1, 15)
            body.append(f"{sign}holdsAt({asked.call(self.testing(scope, asked.kinds))}={value}, {time})")
        made = 0
        more = 0.15 if self.sane else 0.35
        durations = durations / 2 if self.sane else durations
        while len(lists) > 1 or made == 0 or (made < 4 and self.chance(more)):
            made += 1
            body.append(self.operation(lists, f"J{made}", durations if made < 4 or len(lists) == 1 else 0, allens))
        body.append(f"I = {next(iter(lists))}")
        return f"holdsFor({self.head(fluent, scope)}=true, I) :- {', '.join(body)}."

    def static_comparison(self, scope: Scope) -> str:
        who = sorted(set(scope.bound[WHO]))
        if not who:
            return "true"
        if len(who) > 1 and self.chance():
            return f"{who[0]} {self.rng.choice((chr(92) + '=', '@<'))} {who[1]}"
        one, other = self.rng.choice(who), self.rng.choice(who)
        kind = self.rng.choice(("small", "large"))
        return self.rng.choice((f"kind({one}, {kind})", f"next({one}, {other})", f"\\+ next({one}, {other})",
                                f"\\+ kind({one}, {kind})", f"odd({one})"))

    def operation(self, lists: dict[str, frozenset[str]], output: str, durations: float, allens: float) -> str:
        """An operation on some of the lists, which its result replaces. Where one list says less about entities than
        another, they are not united: nothing says for whom."""
        turn = self.rng.random()
        if turn < durations or (len(lists) == 1 and turn < 0.75):
            base = self.rng.choice(list(lists))
            lists[output] = lists.pop(base)
            if self.chance(0.15):
                test = self.rng.choice(("S >= {}", "E > {}", "E =< {}", "S < {}", "E \\= inf", "E - S > {}"))
                test = test.format(self.rng.randrange(3, 25))
                return f"findall((S, E), (member((S, E), {base}), {test}), {output})"
            return f"{self.rng.choice(('intDurGreater', 'intDurLess'))}({base}, {self.duration()}, {output})"
        if turn < durations + allens and len(lists) > 1:
            one, other = self.rng.sample(list(lists), 2)
            about = lists[one] | lists[other]
            del lists[other]
            if self.chance(0.7):
                del lists[one]
            lists[output] = about
            relation, mode = self.rng.choice(RELATIONS), self.rng.choice(MODES)
            call = f"allen({relation}, " if self.chance(0.7) else f"{relation}("
            return f"{call}{one}, {other}, {mode}, {output})"
        if self.domain and turn > 0.93:
            base = self.rng.choice(list(lists))
            lists[output] = lists.pop(base)
            return f"complement_all([{base}], {output})"
        taken = list(lists)
        self.rng.shuffle(taken)
        about = frozenset().union(*lists.values())
        verbs = ["intersect_all"]
        if all(lists[name] == about for name in taken):
            verbs.append("union_all")
        if lists[taken[0]] == about:
            verbs.append("relative_complement_all")
        lists.clear()
        lists[output] = about
        verb = self.rng.choice(verbs)
        if verb == "relative_complement_all":
            return f"{verb}({taken[0]}, [{', '.join(taken[1:] or taken)}], {output})"
        return f"{verb}([{', '.join(taken)}], {output})"

    # -- domains

    def define(self, fluent: Fluent) -> Fluent:
        """Make a fluent known to later rules, with groundings where there is a domain."""
        self.fluents.append(fluent)
        completed = any("complement_all" in c and c.startswith(f"holdsFor({fluent.name}") for c in self.clauses)
        if not self.domain or (self.chance(0.25) and not completed):
            return fluent
        args = [f"A{place}" for place in range(len(fluent.kinds))]
        where = "".join(f"{', ' if place else ' :- '}dom({a})" for place, a in enumerate(args))
        listed = list(fluent.values)
        if len(listed) > 1 and self.chance(0.25):
            listed.remove(self.rng.choice(listed))
        if fluent.variable == PLACE and self.chance():
            self.clauses.append(f"grounding({fluent.call(args)}=P){where}{', ' if where else ' :- '}place(P).")
        elif fluent.variable:
            constants = sorted({self.constant(fluent.variable) for _ in range(2)})
            self.clauses += [f"grounding({fluent.call(args)}={value}){where}." for value in constants]
        else:
            self.clauses += [f"grounding({fluent.call(args)}={value}){where}." for value in listed]
            if fluent.simple and self.chance(0.2):
                some = "" if not args or self.chance() else f" :- kind({args[0]}, small), dom({args[0]})"
                shown = args if some else ["_"] * len(args)
                self.clauses.append(f"initially({fluent.call(shown)}={self.rng.choice(listed)}){some}.")
        return fluent

    def finish(self) -> list[str]:
        """The clauses, with the declarations and the background that they need."""
        text = "\n".join(self.clauses)
        before = []
        for name, kinds in (INTERVALS | {"st": (WHO,)}).items():
            if f"{name}(" in text:
                value = "_" if name == "st" else "true"
                before.append(f"collectIntervals({name}({', '.join('_' * len(kinds))})={value}).")
        if "pp(" in text:
            before.append("points(pp(_)=_).")
        if "pt(" in text:
            before.append("buildFromPoints(pt(_)=true).")
        if self.domain == "dynamic":
            before.append("dynamicDomain(dom(_)).")
            used = [(n, k, "") for n, k in EVENTS.items() if f"{n}(" in text and k]
            used += [(n, k, "=true") for n, k in (INTERVALS | {"pt": (WHO,)}).items() if f"{n}(" in text]
            filling = [each for each in used if self.sane or self.chance(0.8)] or used[:1]
            for name, kinds, value in filling:
                args = [f"A{place}" if kind == WHO else "_" for place, kind in enumerate(kinds)]
                where = ", ".join(f"dom({a})" for a in args if a != "_")
                before.append(f"grounding({name}({', '.join(args)}){value}) :- {where}.")
        return [*before, *self.clauses, *self.tables(text)]

    def tables(self, text: str) -> list[str]:
        """The background that the text mentions."""
        names = [written(entity) for entity in self.entities]
        ring = zip(names, [*names[1:], names[0]], strict=True)
        known = names if self.chance(0.7) else names[:-1]
        tables = [
            *(f"dom({name})." for name in (known if self.domain == "static" else ())),
            *(f"next({one}, {other})." for one, other in ring),
            *(f"kind({name}, {'large' if place % 2 else 'small'})." for place, name in enumerate(names)),
            *(f"limit({name}, {number})." for name, number in zip(names, self.numbers, strict=False)),
            *(f"delay({name}, {self.tick * (2 + 3 * (place % 3))})." for place, name in enumerate(names)),
            *(f"place({place})." for place in PLACES),
        ]
        if "odd(" in text:
            text += "kind(next("
            tables += ["odd(X) :- kind(X, small), next(X, Y), \\+ kind(Y, small).", "odd(X) :- X == " + names[0] + "."]
        return [line for line in tables if line.startswith("odd(") or f"{line.partition('(')[0]}(" in text]


_NAMES = "e1|e2|n|go|meet|dial|deal|bell|in1|in2|near|pt|pp|st|next|kind|limit|delay|place|dom|odd|[fgvcdsb][0-9]+|" \
         "out[0-9]+"
_NAME = re.compile(rf"'(?:[^']|'')*'|(?<!\w)(?:{_NAMES})(?!\w)")


def with_names(text: str, other: Callable[[str], str]) -> str:
    """A program of these with other names of events, fluents and relations; constants never look like them."""
    return _NAME.sub(lambda found: found.group() if found.group().startswith("'") else other(found.group()), text)


def scope_of(scope: Scope) -> Scope:
    """A scope inside of another: what it binds is not seen outside."""
    return Scope({kind: list(names) for kind, names in scope.bound.items()}, scope.fresh + 10)


def scope_with(scope: Scope, *variables: str) -> Scope:
    scope.bound[WHO].extend(variables)
    return scope


def program(rng: random.Random) -> tuple[list[str], Writer]:
    """The clauses of a random program."""
    events = {name: EVENTS[name] for name in rng.sample(sorted(EVENTS), rng.choice((1, 2, 2, 3, 3, 5)))}
    writer = Writer(rng, rng.choice((1, 1, 1, 1, 5)), rng.choice(("", "", "static", "dynamic")), rng.choice(POOLS),
                    rng.choice(NUMBERS), events, rng.choice((0, 0.3, 0.7)), rng.random() < 0.75)
    profiles = {
        "plain": ["simple", "simple", "located"],
        "joins": ["joined", "joined", "static", "simple"],
        "statics": ["simple", "static", "static"],
        "durations": ["simple", "long", "long", "simple", "static"],
        "allens": ["simple", "allen", "allen", "simple"],
        "delays": ["simple", "delayed", "static", "delayed"],
        "cycles": ["simple", "cycle", "cycle", "static"],
        "outputs": ["simple", "output", "output", "simple"],
        "mixed": ["simple", "located", "static", "long", "allen", "delayed", "cycle", "output"],
    }
    parts = profiles[rng.choice((*profiles, "joins", "joins"))]
    for _ in range(rng.choice((1, 1, 2)) if writer.sane else 0):
        writer.base()
    makers: dict[str, Callable[[], object]] = {
        "joined": writer.joined, "simple": writer.simple, "located": writer.located, "static": writer.static,
        "delayed": writer.delayed, "cycle": writer.cycle, "output": writer.output,
        "long": lambda: writer.static(durations=0.8), "allen": lambda: writer.static(allens=0.8, durations=0.1)}
    if rng.random() < 0.6:  # in this order, but not always all
        chosen = [part for part in parts if rng.random() < 0.75] or parts[:1]
    else:
        chosen = [rng.choice(parts) for _ in range(rng.choice((1, 2, 2, 3)))]
    for part in chosen[:5]:
        makers[part]()
    return writer.finish(), writer
