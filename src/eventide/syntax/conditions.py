"""The body of a clause to a tuple of conditions; each goal without a meaning is reported."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from datetime import date
from typing import Literal

from eventide.syntax.diagnostics import Diagnostic
from eventide.syntax.intervals import IntervalReader
from eventide.syntax.printer import term_text
from eventide.syntax.rewriting import variables_in, with_fresh_anonymous
from eventide.syntax.shapes import tight_text
from eventide.syntax.terms import Atom, Compound, Number, Term, Variable, variables_of
from eventide.syntax.trees import (
    Body,
    Call,
    Changed,
    Condition,
    Cut,
    FindAll,
    Guard,
    Holds,
    HoldsFor,
    Is,
    Length,
    Not,
    Or,
)
from eventide.syntax.vocabulary import (
    ALLEN_MODES,
    ALLEN_RELATIONS,
    CONDITIONS,
    OPERATIONS,
    TEMPORAL,
    closest,
    has_pair,
    names_any,
)

Role = Literal["point", "interval", "static"]
COMPARISONS = frozenset({"=", "\\=", "==", "\\==", "=:=", "=\\=", "<", "=<", ">", ">=", "@<", "@=<", "@>", "@>="})
_COMPUTED = "a condition compares: write X is A + B, or A + B > C"
_NO_GOALS = {":-": "remove ':-': the head and the conditions have one between them",
             "\\": "remove it: a clause goes on until its '.'; negation is written \\+",
             **dict.fromkeys(("+", "-", "*", "/", "//", "**", "^"), _COMPUTED)}
"""Operators that make no condition, and what to write."""
_CONSTANTS = frozenset(("pi", "e", "inf", "infinite", "nan", "epsilon"))
_DURATIONS = frozenset(("duration", "dur", "intdur", "intduration", "lasts", "length"))
_MAX_BRANCHES, _MAX_NESTED_TESTS = 40, 3


class BodyReader(IntervalReader):
    """Reads the body of one clause.

    `role` says what the clause's conditions are about: a time-point, intervals, or nothing temporal. `time` and
    `result` name the variables of its head, `defined` the predicates that the program defines.
    """

    def __init__(self, report: list[Diagnostic], role: Role, defined: frozenset[tuple[str, int]],
                 time: str | None = None, result: str | None = None) -> None:
        super().__init__(report, result)
        self.role = role
        self.defined = defined
        self.head_variables = {name for name in (time, result) if name is not None}
        self.range: set[str] = set()
        self.rewritten = False
        self.set_aside = False
        self.negations = 0
        self.tests = 0

    def body(self, term: Term | None) -> Body:
        """All conditions of a body or of a goal in parentheses."""
        if term is None:
            return ()
        found: list[Condition] = []
        goals, before = list(conjuncts(term)), None
        for goal in goals:
            if isinstance(goal, Number) and before is not None and _ends_with_number(before):
                if not isinstance(before, Number):  # 1,000,000 is one mistake
                    self.error("bad-number", "a number has no ',' inside", goal,
                               "write '.' before the fraction, as in 2.5, and the digits of a large number together")
            else:
                found += self.goal(goal)
            before = goal
        return tuple(found)

    def goal(self, term: Term) -> Body:
        """The conditions of one goal: none if it is dropped, or several for `(a -> b)`."""
        if not isinstance(term, Atom | Compound):
            is_variable = isinstance(term, Variable)
            self.error("variable-goal" if is_variable else "bad-goal", f"{term_text(term)} is not a condition", term,
                       "write a condition such as happensAt(Event, T)" if is_variable
                       else "a condition is a name with arguments or a comparison")
            return ()
        if isinstance(term, Atom):
            if term.name == "true":
                return ()
            return (Cut(term.span),) if term.name == "!" else (Call(term, term.span),)
        name, arity = term.functor, len(term.args)
        if name in ("\\+", "not"):
            return self.negation(term)
        if arity == 2:
            if name == ";":
                return self.disjunction(term)
            if name in ("->", "*->"):
                self.rewritten = True
                return (*self.body(term.args[0]), *self.body(term.args[1]))
            if name in COMPARISONS:
                return self.compare(term)
            if name == "is":
                return (Is(term.args[0], term.args[1], term.span),)
        if name in _NO_GOALS:
            self.error("bad-goal", f"{term_text(term)} is not a condition" if arity > 1 else
                       f"'{name}' cannot begin a condition", term, _NO_GOALS[name])
            return ()
        if name == "::":
            self.error("probability-here", "a condition cannot have a probability", term,
                       "write the probability before the head of a rule, or in the column 'probability' of the facts")
            return ()
        if name in CONDITIONS and not (name == "length" and arity != 2):
            condition = self.known(term)
        elif name in ALLEN_RELATIONS and arity == 4 and self.role == "interval" and (name, 4) not in self.defined:
            condition = self.allen(term, Atom(name, term.span), term.args)
        elif name in ALLEN_RELATIONS and arity == 3 and self.role == "interval" and (name, 3) not in self.defined:
            source, target, output = map(term_text, term.args)
            self.error("wrong-arity", f"'{name}' takes 4 arguments, not 3: the mode is missing", term,
                       f"write {name}({source}, {target}, source, {output}), or another mode: "
                       f"{', '.join(dict.fromkeys(ALLEN_MODES.values()))}")
            self.bound.update(variable.name for variable in variables_of(term.args[-1]))  # one problem, not two
            return ()
        else:
            condition = self.call(term)
        return () if condition is None else (condition,)

    def known(self, term: Compound) -> Condition | None:
        """A condition with a known name."""
        name, args = term.functor, term.args
        if name == "holdsFor" and len(args) == 3 and has_pair(term):
            if not self.set_aside:
                self.say("warning", "three-arguments", "'holdsFor' with three arguments never has an answer", term,
                         "write holdsFor(F=V, I); the rule is set aside until then")
            self.set_aside = True
            self.bound.update(variable.name for variable in variables_of(args[2]))
            return None
        if not self.fits(term, name, args, CONDITIONS[name]) or not self.allowed(term):
            return None
        if name == "findall":
            return self.find_all(term)
        if name == "length":
            return Length(args[0], args[1], term.span)
        if name == "holdsFor":
            return self.holds_for(term)
        if name in OPERATIONS:
            return self.operation(term)
        if name == "happensAt":
            return self.happening(args[0], args[1], term)
        pair, time = self.pair(args[0]), self.time(args[-1] if len(args) == 2 else args[2])
        if len(args) == 4:
            self.search_range(args[1], args[3], args[2])
        if pair is None or time is None:
            return None
        if name == "holdsAt":
            return Holds(pair, time, term.span)
        return Changed("initiated" if name == "initiatedAt" else "terminated", pair, time, term.span)

    def allowed(self, term: Compound) -> bool:
        """Whether a temporal condition may appear in this kind of clause."""
        name = term.functor
        if name not in TEMPORAL and name not in OPERATIONS:
            return True
        if self.role == "static":
            self.error("temporal-condition", f"'{name}' in a clause that has no time", term,
                       "what depends on time is a fluent: write it with initiatedAt or holdsFor")
        elif self.role == "interval" and name in TEMPORAL and name != "holdsFor" and not isinstance(
                term.args[-1], Number):  # at a fixed time-point it is a yes-or-no question
            meant = f"holdsFor({', '.join(map(tight_text, term.args))})" if name == "holdsAt" else "holdsFor(F=V, I)"
            self.error("time-point-condition", f"'{name}' cannot be used in a holdsFor rule", term,
                       f"use {meant} and interval operations, or write the rule with initiatedAt")
            self.bound.update(variable.name for variable in variables_of(term.args[-1]))  # one problem, not two
        elif self.role == "point" and name in OPERATIONS:
            self.error("interval-operation-outside", f"'{name}' can be used in a holdsFor rule only", term,
                       "define a fluent with holdsFor(F=V, I) :- …, and ask for it with holdsAt")
        else:
            return True
        return False

    def search_range(self, low: Term, high: Term, time: Term) -> None:
        """The range arguments of `initiatedAt(F=V, T1, T, T2)`: variables that say nothing here."""
        self.rewritten = True
        for term in (low, high):
            if not isinstance(term, Variable):
                self.error("bad-range", f"{term_text(term)} is not a variable of the search range", term,
                           "write initiatedAt(F=V, T1, T, T2) with variables, or initiatedAt(F=V, T)")
            elif term != time:
                self.range.add(term.name)

    def compare(self, term: Compound) -> Body:
        """A comparison; those with the search range say nothing and are dropped."""
        if self.range and any(variable.name in self.range for variable in variables_of(term)):
            return ()
        left, right = term.args
        for side in term.args:
            day = _date_in(side)
            if day is not None:
                self.say("warning", "date-in-rule", f"{term_text(side)} is a subtraction, not a date", side,
                         f"times are whole numbers: with --time-unit s, the beginning of {day} is "
                         f"{(day - date(1970, 1, 1)).days * 86_400}")
        if term.functor in ("=", "==") and isinstance(left, Compound) and isinstance(right, Atom) and \
                left.functor.isidentifier() and right.name not in _CONSTANTS:
            asked = {"point": "holdsAt({}, T)", "interval": "holdsFor({}, I)", "static": "holdsAt({}, T) in a rule"}
            meant = f"{term_text(left, 699)}={term_text(right)}"
            self.error("fluent-as-condition", f"{meant} compares two terms that always differ", term,
                       f"a fluent is asked for with {asked[self.role].format(meant)}")
            return ()
        condition = self.comparison(term, may_bind=self.role == "interval" and self.negations == 0)
        return () if condition is None else (condition,)

    def call(self, term: Compound) -> Condition | None:
        """A background predicate, unless it is a misspelt condition."""
        name = term.functor
        near = closest(name, tuple(CONDITIONS))
        if (name, len(term.args)) not in self.defined and self._is_boundary(term):
            return None
        if self.role == "interval" and name.lower() in _DURATIONS and (name, len(term.args)) not in self.defined and \
                isinstance(term.args[0], Variable) and term.args[0].name in self.bound:
            self.error("misspelt-condition", f"unknown condition '{name}'", term,
                       f"the intervals that last longer than N are intDurGreater({term.args[0]}, N, I)")
            self.bound.update(variable.name for variable in variables_of(term))  # one problem, not two
            return None
        if near is not None and (name, len(term.args)) not in self.defined and \
                (has_pair(term) or names_any(term, self.bound | self.head_variables)):
            self.error("misspelt-condition", f"unknown condition '{name}'", term, f"did you mean '{near}'?")
            return None
        self.mentioned.update(variable.name for variable in variables_of(term))
        return Call(term, term.span)

    def _is_boundary(self, term: Compound) -> bool:
        """Whether a goal is `start(F=V, T)` or `start(F=V)`, which is then said."""
        if term.functor not in ("start", "startI", "end") or self.role == "static" or \
                not has_pair(Compound("", term.args[:1])) or len(term.args) > 2:
            return False
        time = term_text(term.args[1]) if len(term.args) == 2 else "T"
        self.error("misspelt-condition", f"'{term.functor}' is an event, not a condition", term,
                   f"write happensAt({term.functor}({tight_text(term.args[0])}), {time})")
        return True

    def find_all(self, term: Compound) -> Condition | None:
        """`findall(template, goals, list)`."""
        template, goals, output = term.args
        inner = self.scoped(goals)
        if not isinstance(output, Variable):
            self.error("bad-list", f"findall cannot give its answers to {term_text(output)}", output,
                       "write a variable as the third argument")
            return None
        self.bound.update({output.name} if self.role == "interval" else ())
        return FindAll(template, inner, output, term.span)

    def negation(self, term: Compound) -> Body:
        """`\\+ goal`; the negation of a guard is the opposite guard."""
        if len(term.args) != 1:
            self.error("wrong-arity", f"'{term.functor}' takes 1 argument, not {len(term.args)}", term,
                       f"write {term.functor} (a, b) with a space to negate several conditions together")
            return ()
        if self.role == "interval" and isinstance(term.args[0], Variable):
            self.error("variable-goal", f"{term_text(term.args[0])} is not a condition", term.args[0],
                       f"the time outside of intervals is complement_all([{term.args[0]}], I)")
            self.bound.add(term.args[0].name)  # one problem, not two
            return ()
        goals = self.scoped(term.args[0])
        if self.role == "interval" and len(goals) == 1 and isinstance(goals[0], HoldsFor):
            interval = goals[0].interval
            others = sorted(self.bound - {str(interval)}) or ["I0"]
            self.error("point-in-static", "a negation gives no intervals", term,
                       f"write holdsFor({tight_text(goals[0].pair)}, {interval}) without '{term.functor}', and take "
                       f"{interval} away: "
                       f"relative_complement_all({others[-1]}, [{interval}], I)")
            self.bound.add(str(interval))  # one problem, not two
            return ()
        match goals:
            case (Guard(interval, nonempty),):
                return (Guard(interval, not nonempty, term.span),)
        return (Not(goals, term.span),)

    def scoped(self, term: Term) -> Body:
        """A body whose interval variables keep no value outside it."""
        before = set(self.bound)
        self.negations += 1
        goals = self.body(term)
        self.negations -= 1
        self.bound = before
        return goals

    def disjunction(self, term: Compound) -> Body:
        """`(a ; b ; …)`, also with `->`, which is read as the docstring of Or says; so is `(a, !, b ; c)`."""
        branches = list(_branches(term))
        tests = [isinstance(branch, Compound) and branch.functor in ("->", "*->") for branch in branches]
        if (any(tests) and len(branches) > _MAX_BRANCHES) or self.tests > _MAX_NESTED_TESTS:
            return self._too_deep(term)
        before, after = set(self.bound), set(self.bound)
        read: list[tuple[Body | None, Body]] = []
        for branch, has_test in zip(branches, tests, strict=True):
            test = None
            if has_test:
                assert isinstance(branch, Compound)
                self.tests += 1
                test, branch = self.body(branch.args[0]), branch.args[1]
                self.tests -= 1
            body = self.body(branch)
            cut = next((place for place, goal in enumerate(body) if isinstance(goal, Cut)), None)
            if test is None and cut is not None and len(read) + 1 < len(branches):
                test, body = body[:cut], body[cut + 1:]
            read.append((test, body))
            after |= self.bound
            self.bound = set(before)
        self.bound = after
        if not any(tests) and len(branches) > _MAX_BRANCHES and any(test is not None for test, _ in read):
            return self._too_deep(term)
        self.rewritten = self.rewritten or any(test is not None for test, _ in read)
        alternatives: list[Body] = []
        for test, body in reversed(read):
            if test is None:
                alternatives[:0] = _spread(body)
                continue
            otherwise: Body = (Not(_denied(test), term.span),)
            if alternatives:
                rest: Body = (Or(tuple(alternatives), term.span),) if len(alternatives) > 1 else alternatives[0]
                alternatives = [(*test, *body), (*otherwise, *rest)]
            else:
                alternatives = [(*test, *body)]
        return (Or(tuple(alternatives), term.span),) if len(alternatives) > 1 else alternatives[0]

    def _too_deep(self, term: Compound) -> Body:
        self.error("too-deep", "conditional goals are nested too deeply", term,
                   "define a helper predicate, or write one rule for each case")
        return ()


def _ends_with_number(goal: Term) -> bool:
    return isinstance(goal, Number) or (isinstance(goal, Compound) and isinstance(goal.args[-1], Number)
                                        and goal.functor in (*COMPARISONS, "is"))


def _denied(test: Body) -> Body:
    has_anonymous = any(variable.anonymous for variable in variables_in(test))
    return with_fresh_anonymous(test) if has_anonymous else test


def _spread(body: Body) -> list[Body]:
    """An alternative that is itself a disjunction is spread over several."""
    match body:
        case (Or(alternatives),):
            return list(alternatives)
    return [body]


def conjuncts(term: Term) -> Iterator[Term]:
    """The goals of a conjunction, without recursion."""
    stack = [term]
    while stack:
        node = stack.pop()
        if isinstance(node, Compound) and node.functor == "," and len(node.args) == 2:
            stack += reversed(node.args)
        else:
            yield node


def _branches(term: Term) -> Iterator[Term]:
    """The alternatives along the right spine of a disjunction; one in parentheses on the left stays whole."""
    while isinstance(term, Compound) and term.functor == ";" and len(term.args) == 2:
        yield term.args[0]
        term = term.args[1]
    yield term


def _date_in(term: Term) -> date | None:
    """The day that `2020-01-31` means elsewhere.

    >>> _date_in(Number(2020)) is None
    True
    """
    match term:
        case Compound("-", (Compound("-", (Number(int(year)), Number(int(month)))), Number(int(day)))) if year >= 1900:
            with suppress(ValueError):
                return date(year, month, day)
    return None
