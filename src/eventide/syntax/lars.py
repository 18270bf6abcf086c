"""LARS text to trees: rules with windows, diagnostics with places. Ticker's and Laser's files are read here too.

A wrong rule yields one diagnostic, and reading goes on with the next one. The first line may say in which dialect the
file is and how long a time-point lasts: `% language: ticker, clock: 100 msec`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import takewhile
from math import gcd
from typing import Literal as OneOf

from eventide.syntax import ticker
from eventide.syntax.diagnostics import Diagnostic
from eventide.syntax.lars_expressions import Expressions
from eventide.syntax.lars_tokens import COMPARISONS, tokens_of
from eventide.syntax.lars_trees import Comparison, Element, Head, LarsTree, Literal, Rule, Window
from eventide.syntax.syntax_errors import SyntaxProblem, explained
from eventide.syntax.terms import Atom, Compound, Number, Term, Variable, arguments_of, functor_of, is_ground
from eventide.syntax.tokens import Places, Token
from eventide.syntax.vocabulary import did_you_mean

Dialect = OneOf["lars", "ticker", "laser"]
UNITS = {"msec": 1, "ms": 1, "sec": 1000, "s": 1000, "min": 60_000, "m": 60_000, "h": 3_600_000}
"""The length of the units of windows, in milliseconds."""
_RULE = "a rule is written 'h(X) :- a(X) [5].'"
_ASP = {"#show": "everything that is concluded is shown", "#const": "write the number itself",
        "#count": "facts are counted by windows of tuples only", "#sum": "there are no sums",
        "#include": "give the file with --background", ":~": "answers have no costs: write a rule, or ':- body.'"}
_ELSEWHERE = {"or": "write one rule for each alternative", "since": "metric operators stand in .mtl files",
              "until": "metric operators stand in .mtl files",
              "@": "write 'a at T [5]'",
              **dict.fromkeys(("eventually", "once"), "write 'a [5]': at some time of the window"),
              **dict.fromkeys(("within", "over", "during", "last", "for"), "windows stand in brackets: write 'a [5]'")}
_SQL_WINDOWS = {"range": "[{}]", "rows": "[{} #]", "last": "[{}]", "size": "[{}]"}
LARGEST_WINDOW = 2**40
LARGEST_RANGE = 100_000
_PRAGMA = re.compile(r"\s*(?:%|//)\s*(?:language\s*:\s*(\w+))?\s*,?\s*(?:clock\s*:\s*(\d+)\s*(\w+))?\s*\Z")
_LASER = re.compile(r"\b(?:time_win|tuple_win|diamond|box|COMP|MATH)\s*\(|@\s*\(")


@dataclass(frozen=True, slots=True)
class Parsed:
    """What reading gives: the tree of all that could be read, and what could not."""

    tree: LarsTree
    diagnostics: tuple[Diagnostic, ...] = ()
    dialect: Dialect = "lars"


@dataclass(slots=True)
class Setting:
    """How a file is to be read: its dialect, whether the file names it, and the milliseconds of a time-point."""

    dialect: Dialect
    clock: int = 1000
    named: bool = False
    problems: list[Diagnostic] = field(default_factory=list)


def parse(text: str, source: str = "<text>") -> Parsed:
    """The tree of a program, with every problem found.

    >>> parsed = parse("high at T :- alpha(V) at T [300 sec], V >= 18. lfu :- high always [300].")
    >>> print(parsed.tree)
    high at T :- alpha(V) at T [300], V >= 18.
    lfu :- high always [300].
    >>> print(parse("y :- a [#3].").diagnostics[0].message)
    a window of tuples is written with the number first
    """
    setting = setting_of(text, source)
    if setting.dialect == "laser":
        from eventide.syntax.laser import read_rules

        facts: list[Atom | Compound] = []
        rules, problems = read_rules(text, source)
    else:
        facts, rules, problems = _read(text, source, setting)
        used = [] if setting.dialect == "ticker" or setting.named else ticker.relations_used(rules, facts)
        if used:
            setting.dialect = "ticker"
            problems.append(ticker.told(used))
        if setting.dialect == "ticker":
            rules = [ticker.with_comparisons(rule, problems) for rule in rules]
    tree = LarsTree(tuple(facts), tuple(rules), source, text)
    return Parsed(tree, tuple(setting.problems + problems), setting.dialect)


def setting_of(text: str, source: str) -> Setting:
    """What the first line says of the dialect and the clock; without it, Laser's files are known by their operators."""
    setting = Setting("laser" if _LASER.search(_code_of(text)) else "lars")
    first = text.lstrip("\ufeff").split("\n", 1)[0].rstrip()
    match = _PRAGMA.match(first)
    if match is None:
        return setting
    language, amount, unit = match.groups()
    span = Places(text, source).span(0, len(first))
    known: dict[str, Dialect] = {"lars": "lars", "ticker": "ticker", "laser": "laser"}
    if language in known:
        setting.dialect, setting.named = known[language], True
    elif language is not None:
        setting.problems.append(Diagnostic("error", "unknown-language", f"there is no language {language}", span,
                                           "known are lars, ticker and laser"))
    if unit is not None:
        if unit in UNITS and int(amount) > 0:
            setting.clock = int(amount) * UNITS[unit]
        else:
            setting.problems.append(Diagnostic("error", "bad-clock", f"a time-point cannot last {amount} {unit}", span,
                                               did_you_mean(unit, tuple(UNITS) if int(amount) > 0 else (),
                                                            f"a whole number of {', '.join(UNITS)}")))
    return setting


def _code_of(text: str) -> str:
    """The text without whole-line comments and without quoted words; a rule in quotes is none."""
    return re.sub(r"(?m)^\s*(?:%|//|#).*$|\"[^\"\n:]*\"|'[^'\n:]*'", "", text)


def _read(text: str, source: str, setting: Setting) -> tuple[list[Atom | Compound], list[Rule], list[Diagnostic]]:
    places = Places(text, source)
    facts: list[Atom | Compound] = []
    rules: list[Rule] = []
    problems: list[Diagnostic] = []
    clause: list[Token] = []
    stop = Token("stop", "", len(text), len(text))
    for token in [*tokens_of(text), stop]:
        missing_end = bool(clause) and (token.kind == "stop" or _begins_clause(token, clause, places))
        if token.kind != "stop" and not missing_end:
            clause.append(token)
        if clause and (token.kind == "end" or missing_end):
            reader = _ClauseReader(clause, places, setting)
            try:
                found_facts, rule = reader.clause()
                facts.extend(found_facts)
                rules.extend([rule] if rule is not None else [])
            except SyntaxProblem as problem:
                if not (clause[0].text == "[" and problems and not places.begins_line(clause[0].start)):
                    better = _of_asp(problem, text) or explained(problem, text, clause[0].start, _RULE, ".lars")
                    problems.append(better.diagnostic(places))  # what follows a wrong rule on its line is no other one
            clause = [token] if missing_end and token.kind != "stop" else []
    return facts, rules, problems


def _of_asp(problem: SyntaxProblem, text: str) -> SyntaxProblem | None:
    """What is wrong where answer-set programs have a directive, an aggregate or a weak constraint."""
    found = re.compile(r"#[a-z]+|:~").match(text, problem.start) if isinstance(problem.start, int) else None
    if found is None:
        return None
    return SyntaxProblem("answer-sets", f"'{found.group()}' is not part of the language", found.start(), found.end(),
                         _ASP.get(found.group(), "remove it"))


def _begins_clause(token: Token, clause: list[Token], places: Places) -> bool:
    """Whether the full stop before this token is missing: a name in the first column after something complete."""
    complete = clause[-1].kind in ("word", "number", "quoted", "variable") or clause[-1].text in (")", "]")
    return complete and token.kind == "word" and places.begins_line(token.start) and clause[-1].text not in (
        "not", "at", "in", "by", "mod")


class _ClauseReader(Expressions):
    """Reads the tokens of one clause."""

    def __init__(self, tokens: list[Token], places: Places, setting: Setting) -> None:
        super().__init__(tokens, places)
        self.clock = setting.clock
        self.bare = "sec" if setting.dialect == "ticker" else None  # what a number without a unit means

    def clause(self) -> tuple[list[Atom | Compound], Rule | None]:
        """The facts or the rule of the clause."""
        head = None
        if self.next.text != ":-":
            head = self.head()
        body: list[Element] = []
        if self.taken(":-"):
            if self.next.kind == "end":
                raise self.problem("empty-body", "nothing follows ':-'", self.next,
                                   "a fact ends right after its atom: 'car(1).'")
            body.append(self.element())
            while self.taken(","):
                body.append(self.element())
        elif head is None:
            raise self.problem("empty-body", "a contradiction needs a body", self.next, "write ':- a, b.'")
        if self.next.kind != "end":
            self.wrong_end()
        span = self.span_from(self.tokens[0])
        if not body and head is not None and head.time is None:
            return self.facts(head.atom), None
        if self.ranges:
            raise self.problem("range-in-rule", "a range stands in facts only", self.ranges[0],
                               "write two comparisons: '1 <= X, X <= 9'")
        return [], Rule(head, (*body, *self.named), span)

    def wrong_end(self) -> None:
        """Raise what is wrong where a clause should go on with ',' or end."""
        token, before = self.next, self.tokens[self.at - 1]
        if token.kind == "stop":
            raise SyntaxProblem("missing-end", "the rule does not end with '.'", before.end, before.end + 1,
                                f"write '.' after '{before.text}'")
        if token.text in ("not", "in") and self.following(1).text in ("in", "["):
            raise self.problem("not-in-window", "'not' stands after its atom", token,
                               "write 'not a [5]'; Ticker reads 'a not in [5]' without the 'not'")
        if token.text in ("always", "at") and before.text == "]":
            raise self.problem("window-first", f"'{token.text}' comes before the window", token,
                               "write 'a always [5]' and 'a at T [5]'")
        if token.text == "and":
            raise self.problem("laser-and", "'and' is Laser's; here a comma separates the parts of a body", token,
                               "write ','; or begin the file with '% language: laser'")
        if token.text == ":-":
            raise self.problem("missing-end", "a second ':-' in one rule", token,
                               "the rule before it probably does not end with '.'")
        if token.text == "(":
            raise self.problem("space-before-bracket", f"a space between '{before.text}' and '('", token,
                               f"write '{before.text}(' without a space")
        if token.text == "[" and before.text == "]":
            raise self.problem("nested-window", "a window after a window", token, "windows inside windows are not "
                               "supported: give the inner one a rule of its own")
        if token.text == "," and all(each.text != ":-" for each in self.tokens[:self.at]):
            raise self.problem("two-heads", "a rule has one head", token, "write a rule for each, with the same body")
        if token.text == "-" and self.following(1).text == ">":
            raise self.problem("unknown-arrow", "'->' is not the arrow of rules", token,
                               f"the conclusion comes first: {_RULE}")
        if token.text in _ELSEWHERE:
            raise self.problem("unexpected", f"'{token.text}' cannot stand here", token, _ELSEWHERE[token.text])
        hint = "write ',' between the parts of a body, '.' at its end"
        raise self.unexpected(did_you_mean(token.text, ("always", "at", "in", "sometime"), hint)
                              if token.kind == "word" else hint)

    def head(self) -> Head | None:
        """The head, or None for the head `⊥` or `false` of a contradiction."""
        first = self.next
        if first.text in ("⊥", "false") and self.following(1).text in (":-", "<-"):
            self.at += 1
            return None
        if first.text == "not":
            raise self.problem("negated-head", "a head cannot be negated", first, "negate the head by ':- body.'")
        time = self.prefix_time()
        atom = self.atom()
        arrow = next((at for at, each in enumerate(self.tokens[:-1])
                      if each.text == "-" and self.tokens[at + 1].text == ">"), None)
        if self.next.text in ("[", "always", "in") and arrow is not None:
            token = self.tokens[arrow]
            raise SyntaxProblem("unknown-arrow", "'->' is not the arrow of rules", token.start, token.end + 1,
                                f"the conclusion comes first: {_RULE}")
        if self.next.text in ("[", "always", "in"):
            raise self.problem("window-in-head", "a head has no window", self.next,
                               "conclude at a time with 'h at T :- …'; windows belong to the body")
        if time is None and self.taken("at"):
            time = self.time()
        if self.next.text == "=" and any(each.text == ":-" for each in self.tokens[self.at:]):
            raise self.problem("unexpected", "an atom has no value", self.next, "make it an argument: h(X,3)")
        if self.next.text in ("<-", "=", "if", "when", ":") and self.next.kind != "quoted":
            raise self.problem("unknown-arrow", f"'{self.next.text}' is not the arrow of rules", self.next,
                               "write ':-'")
        return Head(atom, time, self.span_from(first))

    def facts(self, atom: Atom | Compound) -> list[Atom | Compound]:
        """The atom, or the atoms that its ranges stand for; refuses variables."""
        found: list[tuple[Term, ...]] = [()]
        for argument in arguments_of(atom):
            values: list[Term] = [argument]
            if isinstance(argument, Compound):
                low, high = (side.value for side in argument.args if isinstance(side, Number))
                values = [Number(value, argument.span) for value in range(int(low), int(high) + 1)]
            found = [(*row, value) for row in found for value in values]
            if len(found) > LARGEST_RANGE:
                raise self.problem("large-range", f"the ranges stand for more than {LARGEST_RANGE} facts",
                                   self.tokens[0], "put them in a file and give it with --background")
        if self.named:
            raise self.problem("variable-in-fact", f"the fact {atom} has an expression", self.tokens[0],
                               "write its value, or a rule with a body")
        if not is_ground(atom):
            raise self.problem("variable-in-fact", f"the fact {atom} has a variable", self.tokens[0],
                               "a word that begins with a capital letter is a variable: write it in double quotes")
        name = functor_of(atom)[0]
        return [Compound(name, row, atom.span) if row else Atom(name, atom.span) for row in found]

    def element(self) -> Element:
        """A comparison, or an atom with what it is asked of."""
        first = self.next
        if first.kind == "word" and first.text == "not":
            self.at += 1
            if self.next.text == "(":
                raise self.problem("negation-brackets", "'not' has no brackets", first, "write 'not a', not 'not(a)'")
            if self.next.text == "not":
                raise self.problem("double-not", "'not not' has no meaning here", first, "write the atom itself")
            if self.has_comparison():
                raise self.problem("negated-comparison", "a comparison cannot be negated", first,
                                   "turn it around: 'not X < Y' is 'X >= Y'")
            return self.literal(first, True)
        if first.kind in ("variable", "number", "quoted") or first.text in ("(", "-") or self.compares():
            return self.comparison()
        return self.literal(first, False)

    def compares(self) -> bool:
        """Whether the word here is one side of a comparison, as in `b != X`."""
        return self.next.kind == "word" and self.following(1).text in ("<", "<=", ">", ">=", "=", "!=", "==", "=<")

    def has_comparison(self) -> bool:
        """Whether a comparison stands between here and the next condition."""
        depth = 0
        for token in self.tokens[self.at:]:
            depth += (token.text == "(") - (token.text == ")") if token.kind != "quoted" else 0
            if token.kind == "stop" or (token.text == "," and depth == 0):
                return False
            if token.text in COMPARISONS and token.kind != "quoted" and depth == 0:
                return True
        return False

    def literal(self, first: Token, negated: bool) -> Literal:
        """An atom with its modality and window."""
        time = self.prefix_time()
        atom = self.atom()
        modality: OneOf["now", "sometime", "always", "at"] = "now"
        if time is not None:
            modality = "at"
        elif self.taken("always"):
            modality = "always"
        elif self.taken("sometime"):
            modality = "sometime"
        elif self.taken("at"):
            modality, time = "at", self.time()
        window = None
        if self.next.text == "in" and self.following(1).text != "[":
            raise self.problem("missing-window", "'in' without a window", self.next, "write 'a in [5]' or 'a [5]'")
        if self.taken("in") or self.next.text == "[":
            window = self.window(atom)
            modality = "sometime" if modality == "now" else modality
        return Literal(atom, modality, time, window, negated, self.span_from(first))

    def prefix_time(self) -> Variable | Number | None:
        """The time of `@T a`, the other way to write `a at T`."""
        return self.time() if self.taken("@") else None

    def window(self, atom: Atom | Compound) -> Window:
        """A window, its opening bracket being the next token."""
        first = self.next
        self.at += 1
        if self.next.text == "#":
            raise self.problem("tuple-window", "a window of tuples is written with the number first", self.next,
                               "write '[3 #]'")
        if self.next.text == "t" and self.following(1).kind == "number":  # Ticker's older files
            self.at += 1
        if self.next.text == "-":
            raise self.problem("window-size", "a window cannot be negative", self.next, "windows look back: '[5]'")
        token = self.next
        form = _SQL_WINDOWS.get(token.text.lower())
        if form is not None and self.following(1).kind == "number":
            raise self.problem("window-size", f"'{token.text}' in a window", token,
                               f"write '{form.format(self.following(1).text)}'")
        inside = takewhile(lambda each: each.text != "]", self.tokens[self.at:self.at + 20])
        glued = re.fullmatch(r"([0-9]+)([A-Za-z]+)", "".join(each.text for each in inside))
        if token.kind != "number" and glued is not None and glued[2] in UNITS:
            raise self.problem("window-size", f"no space between {glued[1]} and its unit '{glued[2]}'", token,
                               f"write '[{glued[1]} {glued[2]}]'")
        if token.kind != "number" or not token.text.isdigit():
            raise self.problem("window-size", "a window needs a whole number", token, "write '[5]', '[5 sec]' or "
                               "'[5 #]'")
        size = int(token.text)
        kind: OneOf["time", "tuple", "partition"] = "time"
        by: tuple[int, ...] = ()
        self.at += 1
        if self.taken("#"):
            kind = "tuple"
            if self.taken("by"):
                kind, by = "partition", self.by(atom)
            elif self.next.kind == "variable":
                raise self.problem("partition-by", f"'{self.next.text}' behind '#'", self.next,
                                   f"write '[{size} # by {self.next.text}]'")
            if size == 0:
                raise self.problem("window-size", "a window of 0 tuples sees nothing", token, "write at least '[1 #]'")
        elif self.next.kind == "word":
            unit = self.next
            self.at += 1
            size = self.points(size, unit.text, unit, token)
        elif self.bare is not None:
            size = self.points(size, self.bare, token, token)
        if size > LARGEST_WINDOW:
            raise self.problem("window-size", "the window is too long", token, f"at most {LARGEST_WINDOW}")
        if self.next.text != "]":
            several = self.next.text in (",", "..", "-")
            raise self.unexpected("a window has one length: it goes from there to now" if several else
                                  "write ']' after the window")
        self.at += 1
        return Window(kind, size, by, self.span_from(first))

    def points(self, size: int, unit: str, place: Token, token: Token) -> int:
        """The time-points of a window with a unit."""
        if unit not in UNITS:
            hint = f"write '[{size} #]'" if unit in ("tuple", "tuples", "rows", "events", "facts") else \
                did_you_mean(unit, tuple(UNITS), f"known are {', '.join(UNITS)}, and # for tuples")
            raise self.problem("unknown-unit", f"there is no unit '{unit}'", place, hint)
        points, rest = divmod(size * UNITS[unit], self.clock)
        if rest:
            fine = gcd(size * UNITS[unit], self.clock)
            raise self.problem("unit-and-clock", f"{size} {unit} is no whole number of time-points of "
                               f"{self.clock} msec", token, "say how long a time-point lasts in the first line: "
                               f"'% clock: {fine} msec'")
        return points

    def by(self, atom: Atom | Compound) -> tuple[int, ...]:
        """The places of the arguments that a window is partitioned by."""
        args = arguments_of(atom)
        found: list[int] = []
        while True:
            token = self.next
            places = [i for i, arg in enumerate(args) if isinstance(arg, Variable) and arg.name == token.text]
            if token.kind != "variable" or not places:
                known = ", ".join(str(arg) for arg in args if isinstance(arg, Variable) and not arg.anonymous)
                raise self.problem("partition-by", f"'{token.text}' is no argument of the atom before the window",
                                   token, f"partition by {known}" if known else "give the atom a variable to "
                                   "partition by")
            found.extend(places)
            self.at += 1
            if not self.taken(","):
                return tuple(sorted(set(found)))

    def comparison(self) -> Comparison:
        """`left operator right`."""
        first = self.next
        left = self.expression()
        token = self.next
        same = {"==": "=", "=<": "<=", "<>": "!="}
        operator = same.get(token.text, token.text)
        if operator not in ("=", "!=", "<", "<=", ">", ">="):
            if token.text in ("is", "\\", "="):
                raise self.problem("unknown-operator", f"'{token.text}' is not an operator", token,
                                   "write '=': both sides are computed" if token.text == "is" else "write '!='")
            raise self.problem("not-an-element", f"'{first.text}' is neither an atom nor a comparison", first,
                               "atoms begin with a small letter; comparisons have one of = != < <= > >=")
        self.at += 1
        right = self.expression()
        if self.next.text in ("<", "<=", ">", ">=", "=", "!="):
            raise self.problem("comparison-chain", "comparisons cannot be chained", self.next,
                               "write two: 'X < Y, Y < Z'")
        return Comparison(operator, left, right, self.span_from(first))  # type: ignore[arg-type]
