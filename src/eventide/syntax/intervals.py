"""Conditions on lists of intervals: holdsFor, the interval operations, Allen relations and guards."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Literal

from eventide.syntax.diagnostics import Diagnostic
from eventide.syntax.printer import term_text
from eventide.syntax.shapes import Shapes
from eventide.syntax.terms import Atom, Compound, ListTerm, Number, Term, Variable, variables_of
from eventide.syntax.trees import Allen, Compare, Condition, Guard, HoldsFor, IntervalOperation
from eventide.syntax.vocabulary import ALLEN_MODES, ALLEN_RELATIONS, did_you_mean

_MANY: dict[str, Literal["union", "intersect", "complement", "relative_complement"]] = {
    "union_all": "union", "intersect_all": "intersect", "complement_all": "complement",
    "relative_complement_all": "relative_complement",
}
_INVERSE = {name: f"write {other}, with the two lists swapped (and source for target)" for name, other in (
    ("after", "before"), ("met_by", "meets"), ("started_by", "starts"), ("finished_by", "finishes"),
    ("contains", "during"), ("includes", "during"), ("overlapped_by", "overlaps"))}


class IntervalReader(Shapes):
    """Reads conditions on intervals and keeps track of the interval variables that have a value so far."""

    def __init__(self, report: list[Diagnostic], result: str | None) -> None:
        super().__init__(report)
        self.result = result
        self.bound: set[str] = set()
        self.mentioned: set[str] = set()  # variables of background goals, which may bind anything

    def holds_for(self, term: Compound) -> HoldsFor | None:
        """`holdsFor(F=V, I)` as a condition."""
        pair = self.pair(term.args[0])
        output = self.output(term.args[1])
        return HoldsFor(pair, output, term.span) if pair is not None and output is not None else None

    def operation(self, term: Compound) -> Condition | None:
        """An interval operation or an Allen relation, the number of arguments being right."""
        name, args = term.functor, term.args
        if name == "allen":
            return self.allen(term, args[0], args[1:])
        if name in ("intDurGreater", "intDurLess"):
            if isinstance(args[0], Number) and isinstance(args[1], Variable):
                self.error("bad-interval", "the intervals come first, then the duration", term,
                           f"write {name}({args[1]}, {term_text(args[0])}, {term_text(args[2])})")
                self.bound.update(variable.name for variable in variables_of(args[2]))  # one problem, not two
                return None
            base, amount = self.input(args[0]), args[1]
            if isinstance(amount, Atom | ListTerm):
                self.error("bad-duration", f"{term_text(amount)} is not a duration", amount,
                           "write a number or a variable that a condition before it binds")
                return None
            output = self.output(args[2])
            kind: Literal["longer", "shorter"] = "longer" if name == "intDurGreater" else "shorter"
            return None if base is None or output is None else IntervalOperation(
                kind, base, (), amount, output, term.span)
        if isinstance(args[-1], ListTerm) and isinstance(args[-2], Variable):
            self.error("not-a-list", "the result stands before the list", term, f"write {name}("
                       f"{', '.join(map(term_text, (*args[:-2], args[-1], args[-2])))})")
            self.bound.update(variable.name for variable in variables_of(args[-2]))  # one problem, not two
            return None
        base = self.input(args[0]) if len(args) == 3 else None
        inputs = self.inputs(name, args[-2])
        output = self.output(args[-1])
        if inputs is None or output is None or (len(args) == 3 and base is None):
            return None
        return IntervalOperation(_MANY[name], base, inputs, None, output, term.span)

    def allen(self, term: Compound, relation: Term, rest: tuple[Term, ...]) -> Allen | None:
        """An Allen relation between two lists, in the long or the short form."""
        source, target, mode, result = rest
        known = isinstance(relation, Atom) and relation.name in ALLEN_RELATIONS
        if not known:
            self.error("unknown-relation", f"{term_text(relation)} is not an Allen relation", relation,
                       _INVERSE[str(relation)] if str(relation) in _INVERSE else
                       did_you_mean(str(relation), ALLEN_RELATIONS, f"one of {', '.join(ALLEN_RELATIONS)}; "
                                    "for an inverse relation swap the two lists"))
        if not isinstance(mode, Atom) or mode.name not in ALLEN_MODES:
            self.error("unknown-mode", f"{term_text(mode)} is not a mode of an Allen relation", mode,
                       did_you_mean(str(mode), tuple(ALLEN_MODES), f"one of {', '.join(ALLEN_MODES)}"))
            known = False
        left, right, output = self.input(source), self.input(target), self.output(result)
        if not known or left is None or right is None or output is None:
            return None
        return Allen(relation.name, left, right, ALLEN_MODES[mode.name], output, term.span)  # type: ignore

    def inputs(self, name: str, term: Term) -> tuple[Term, ...] | None:
        """A list of interval variables."""
        if not isinstance(term, ListTerm) or term.tail is not None:
            self.error("not-a-list", f"'{name}' takes a list of interval lists, not {term_text(term)}", term,
                       f"write [{term_text(term)}]" if isinstance(term, Variable) else
                       f"write [{', '.join(map(term_text, _conjuncts(term)))}]" if isinstance(term, Compound)
                       and term.functor == "," else "write [I1, I2, …]")
            return None
        inputs = [self.input(item) for item in term.items]
        return None if None in inputs else tuple(item for item in inputs if item is not None)

    def input(self, term: Term) -> Term | None:
        """An interval variable that a condition before has given a value."""
        if not isinstance(term, Variable):
            self.error("bad-interval", f"{term_text(term)} is not an interval variable", term,
                       "write the variable that holdsFor or an interval operation binds")
        elif term.name in self.bound or term.name in self.mentioned:
            return term
        else:
            near = get_close_matches(term.name, sorted(self.bound), 1, 0.5)
            self.error("unbound-interval", f"no condition before gives {term} its intervals", term,
                       f"did you mean {near[0]}?" if near else "bind it with holdsFor(F=V, I) or an interval operation")
        return None

    def output(self, term: Term) -> Term | None:
        """A variable that gets its intervals here."""
        if not isinstance(term, Variable):
            self.error("bad-interval", f"{term_text(term)} is not an interval variable", term,
                       "write a variable, and compare it in a condition of its own: I = []"
                       if isinstance(term, ListTerm) else "write a variable: it begins with a capital letter")
            return None
        if term.name in self.bound:
            self.error("rebound-interval", f"{term} has its intervals already", term,
                       "use a new variable; for the common intervals of two lists use intersect_all")
            return None
        self.bound.add(term.name)
        return term

    def comparison(self, term: Compound, may_bind: bool) -> Condition | None:
        """`= \\= == \\==` and the arithmetic comparisons; with interval variables a guard or the same intervals."""
        operator, (left, right) = term.functor, term.args
        plain = Compare(operator, left, right, term.span)
        if operator not in ("=", "==", "\\=", "\\=="):
            return plain
        if isinstance(left, ListTerm) and not isinstance(right, ListTerm):
            left, right = right, left
        if not isinstance(left, Variable) or left.anonymous:
            return plain
        if isinstance(right, ListTerm) and not right.items and right.tail is None:
            if left.name in self.bound:
                return Guard(left, operator[0] == "\\", term.span)
            if operator == "=" and left.name == self.result and may_bind:
                self.bound.add(left.name)
                return IntervalOperation("union", None, (), None, left, term.span)
        if not isinstance(right, Variable) or right.anonymous or not {left.name, right.name} & self.bound:
            return plain
        if {left.name, right.name} <= self.bound:
            self.error("interval-comparison", f"{left} and {right} are interval lists: they cannot be compared", term,
                       "use allen(equal, …), intersect_all or relative_complement_all and a guard such as I \\= []")
            return None
        if operator != "=" or not may_bind:
            return plain
        base, output = (left, right) if left.name in self.bound else (right, left)
        self.bound.add(output.name)
        return IntervalOperation("same", base, (), None, output, term.span)


def _conjuncts(term: Term) -> list[Term]:
    found = []
    while isinstance(term, Compound) and term.functor == ",":
        found.append(term.args[0])
        term = term.args[1]
    return [*found, term]
