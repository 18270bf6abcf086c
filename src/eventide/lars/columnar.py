"""Stratified LARS programs to plans of the temporal algebra. Everything is evaluated for all time-points at once.

The semantics is that of Beck, Dao-Tran and Eiter, "LARS: a logic-based framework for analytic reasoning over streams"
(AIJ 2018).

Atoms derived at t belong to the evaluation at t alone: a relation is over evaluation times, and an atom of another
time-point carries that as a stamp (see `windows`). Recursion at one t is a cycle of rules that only adds; it is
repeated until nothing comes. Programs in which a predicate depends on its own absence are not compiled here.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal as OneOf

from eventide.algebra import nodes as n
from eventide.algebra.sharing import Sharing
from eventide.analysis.graphs import components, is_cycle
from eventide.lars.arguments import Types, find_types, reported_variables
from eventide.lars.bodies import Body, Conclusion
from eventide.lars.windows import AT, Atoms, Part
from eventide.syntax.lars_trees import LarsTree, Literal, Predicate, Rule, Window
from eventide.syntax.terms import Atom, Compound, Term, Variable, functor_of


def name_of(predicate: Predicate) -> str:
    """The name under which facts of a predicate are known."""
    return f"{predicate[0]}/{predicate[1]}"


@dataclass(frozen=True)
class Compiled:
    """A plan, and what is needed to run it and to read its answers."""

    plan: n.Plan
    types: Types
    parts: dict[Predicate, list[Part]]
    derived: tuple[Predicate, ...]
    ranked: frozenset[Predicate]
    """The inputs whose facts are counted by windows of tuples."""
    background: dict[Predicate, list[Term]]
    contradictions: dict[str, Rule] = field(default_factory=dict)
    """The definitions of contradictions, by name."""
    tuple_windows: tuple[tuple[Predicate, Window], ...] = ()
    """The windows that count tuples, so that the order of arrival matters, with the predicates they are of."""
    lookback: int | None = 0
    """For how many time-points a fact can matter to windows of time; None: for ever."""
    _plans: dict[tuple[Predicate, str], n.Node | None] = field(default_factory=dict)

    @property
    def counts_tuples(self) -> bool:
        """Whether the order of arrival matters."""
        return bool(self.tuple_windows)

    def now(self, predicate: Predicate) -> n.Node | None:
        """Where atoms of a predicate hold, each at its own time-point."""
        return self._shown(predicate, "now")

    def at(self, predicate: Predicate) -> n.Node | None:
        """The same for all time-points up to the one of evaluation, which is a last column."""
        return self._shown(predicate, "at")

    def _shown(self, predicate: Predicate, modality: OneOf["now", "at"]) -> n.Node | None:
        if (predicate, modality) not in self._plans:  # kept: an executor knows what it has computed by its node
            self._plans[predicate, modality] = self._plan_of(predicate, modality)
        return self._plans[predicate, modality]

    def _plan_of(self, predicate: Predicate, modality: OneOf["now", "at"]) -> n.Node | None:
        columns = tuple(Variable(f"{predicate[0]}.{i}") for i in range(predicate[1]))
        atom = Compound(predicate[0], columns) if columns else Atom(predicate[0])
        literal = Literal(atom, modality, Variable(AT[1:]) if modality == "at" else None)
        return Atoms(self.types, self.parts).intervals(literal, lambda node, keep=(): _visible(node))


def _visible(node: n.Node) -> n.Node:
    """Without the ranks of facts."""
    kept = tuple(name for name in n.names(node.fields) if not name.startswith("#"))
    return node if kept == n.names(node.fields) else n.Project(node, kept)


def compile_rules(rules: Sequence[Rule], facts: Iterable[Term], inputs: Collection[Predicate]) -> Compiled:
    """The plan of stratified rules over background facts and inputs, whose predicates are given."""
    background: dict[Predicate, list[Term]] = {}
    for fact in facts:
        background.setdefault(functor_of(fact), []).append(fact)
    ranked = frozenset(_ranked(rules, inputs))
    types = find_types(rules, [fact for found in background.values() for fact in found], dict.fromkeys(inputs))
    for predicate in _heads(rules):  # what is concluded is told with all its arguments
        assert all(types.slots[predicate, i] not in (n.NUMBER, n.UNUSED) for i in range(predicate[1]))
    parts: dict[Predicate, list[Part]] = {}
    for predicate in background:
        parts.setdefault(predicate, []).append(Part("rows", name_of(predicate)))
    for predicate in inputs:
        parts.setdefault(predicate, []).append(Part("points", name_of(predicate), None, predicate in ranked))
    return _Strata(rules, types, parts).compiled(background, ranked)


def compile_tree(tree: LarsTree, inputs: Collection[Predicate]) -> Compiled:
    """The plan of a whole program.

    >>> from eventide.algebra.text import to_text
    >>> from eventide.syntax.lars import parse
    >>> tree = parse("high at T :- alpha(V) at T [2], V >= 18. lfu :- high always [2].").tree
    >>> print(to_text(compile_tree(tree, [("alpha", 1)]).plan))
    level 1
      high/0 for 2 :=
        keep no column
          where V >= 18
            event alpha/1(V)
    level 2
      lfu/0 now :=
        at all time-points of the last 2
          event high/0 for 2()
    """
    return compile_rules(tree.rules, tree.facts, inputs)


def _heads(rules: Sequence[Rule]) -> tuple[Predicate, ...]:
    return tuple(dict.fromkeys(rule.head.predicate for rule in rules if rule.head is not None))


def _ranked(rules: Sequence[Rule], inputs: Collection[Predicate]) -> Iterable[Predicate]:
    for rule in rules:
        for literal in rule.literals:
            if literal.window is not None and literal.window.kind != "time" and literal.predicate in inputs:
                yield literal.predicate


class _Strata:
    """Compiles component after component."""

    def __init__(self, rules: Sequence[Rule], types: Types, parts: dict[Predicate, list[Part]]) -> None:
        self.rules, self.types, self.parts = rules, types, parts
        self.atoms = Atoms(types, parts)
        self.by_head: dict[Predicate, list[int]] = {}
        self.constraints: list[int] = []
        for number, rule in enumerate(rules):
            if rule.head is None:
                self.constraints.append(number)
            else:
                self.by_head.setdefault(rule.head.predicate, []).append(number)

    def compiled(self, background: dict[Predicate, list[Term]], ranked: frozenset[Predicate]) -> Compiled:
        reads = {name_of(head): sorted({name_of(lit.predicate) for number in numbers
                                        for lit in self.rules[number].literals})
                 for head, numbers in self.by_head.items()}
        predicates = {name_of(head): head for head in self.by_head}
        strata: list[n.Stratum] = []
        for members in components(reads):
            cyclic = is_cycle(members, reads)
            heads = [predicates[name] for name in members]
            found = self._cycle(heads) if cyclic else self._parts(heads[0], self._conclusions(heads[0]))
            if found:
                strata.append(n.Stratum(len(strata) + 1, tuple(found), cyclic))
        contradictions: dict[str, Rule] = {}
        for number in self.constraints:
            definition = self._contradiction(number)
            contradictions[f"contradiction {number}"] = self.rules[number]
            if definition is not None:
                strata.append(n.Stratum(len(strata) + 1, (definition,)))
        return Compiled(Sharing().plan(n.Plan(tuple(strata))), self.types, self.parts, tuple(self.by_head), ranked,
                        background, contradictions, _tuple_windows(self.rules), lookback_of(self.rules))

    def _fields(self, predicate: Predicate) -> n.Fields:
        return tuple(n.Field(f"{name_of(predicate)}.{i}", type_) for i, type_ in enumerate(self.types.of(predicate)))

    def _conclusions(self, predicate: Predicate, *, growing: bool = False) -> list[Conclusion]:
        fields = self._fields(predicate)
        found = [Body(self.atoms, self.rules[number], number, growing=growing).conclusion(fields)
                 for number in self.by_head[predicate]]
        return [conclusion for conclusion in found if conclusion is not None]

    def _parts(self, predicate: Predicate, conclusions: Sequence[Conclusion], *,
               growing: bool = False) -> list[n.Definition]:
        bodies: dict[Part, list[n.Node]] = {}
        for conclusion in conclusions:
            bodies.setdefault(_named(predicate, conclusion.part), []).append(conclusion.node)
        known = self.parts.setdefault(predicate, [])
        known.extend(part for part in bodies if part not in known)
        return [n.Definition(part.name, n.Union(tuple(nodes)) if growing or len(nodes) > 1 else nodes[0])
                for part, nodes in bodies.items()]

    def _cycle(self, heads: Sequence[Predicate]) -> list[n.Definition]:
        """The parts of predicates that depend on each other: intervals, which grow from round to round."""
        for head in heads:
            timed = {self.rules[number].head.time is not None for number in self.by_head[head]}  # type: ignore[union-attr]
            self.parts.setdefault(head, []).extend(
                _named(head, Part("stamped" if at else "now", "")) for at in sorted(timed))
        definitions: list[n.Definition] = []
        for head in heads:
            conclusions = [_as_intervals(found) for found in self._conclusions(head, growing=True)]
            definitions += self._parts(head, conclusions, growing=True)
        return definitions

    def _contradiction(self, number: int) -> n.Definition | None:
        rule = self.rules[number]
        fields = tuple(n.Field(v.name, self.types.variables[number, v.name]) for v in reported_variables(rule))
        found = Body(self.atoms, rule, number).conclusion(fields)
        return None if found is None else n.Definition(f"contradiction {number}", _as_intervals(found).node)


def _named(predicate: Predicate, part: Part) -> Part:
    kind = {"now": "now", "stamped": "at"}.get(part.kind) or ("ever" if part.life is None else f"for {part.life}")
    return Part(part.kind, f"{name_of(predicate)} {kind}", part.life)


def _as_intervals(conclusion: Conclusion) -> Conclusion:
    """A conclusion as intervals; points that are concluded for a time-point of their own get a stamp."""
    part, node = conclusion.part, conclusion.node
    if part.kind != "points":
        return conclusion
    if conclusion.timed:
        return Conclusion(Part("stamped", ""), n.Spread(node, part.life, AT))
    return Conclusion(Part("now", ""), n.Spread(node, 0))


def _tuple_windows(rules: Sequence[Rule]) -> tuple[tuple[Predicate, Window], ...]:
    return tuple((literal.predicate, literal.window) for rule in rules for literal in rule.literals
                 if literal.window is not None and literal.window.kind != "time")


def lookback_of(rules: Sequence[Rule]) -> int | None:
    """For how many time-points a fact can matter to windows of time; None if for ever."""
    longest = 0
    for rule in rules:
        for literal in rule.literals:
            if literal.modality == "now":
                continue
            if literal.window is None:
                return None
            if literal.window.kind == "time":
                longest = max(longest, literal.window.size)
    return longest
