"""The rules of a program by what they define, and who depends on whom."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

import networkx as nx

from eventide.syntax import trees
from eventide.syntax.terms import functor_of, variables_of

from .resolution import Key, pair_term
from .terms import rename, unify, walk

Node = tuple[str, str, int]
"""`("simple", name, arity)`, `("event", name, arity)`, `("static", "", index)` or `("built", "", index)`."""


class Program:
    """Rules by role."""

    def __init__(self, rules: Sequence[trees.Rule]) -> None:
        self.changes: dict[Key, list[trees.ChangeRule]] = defaultdict(list)
        self.initials: dict[Key, list[trees.InitialRule]] = defaultdict(list)
        self.delays: dict[Key, list[trees.DelayRule]] = defaultdict(list)
        self.events: dict[Key, list[trees.EventRule]] = defaultdict(list)
        self.statics: list[trees.StaticRule] = []
        self.built: list[trees.Declaration] = []
        self.postponable: list[trees.Postponable] = []
        for rule in rules:
            match rule:
                case trees.ChangeRule():
                    self.changes[functor_of(rule.pair.fluent)].append(rule)
                case trees.InitialRule():
                    self.initials[functor_of(rule.pair.fluent)].append(rule)
                case trees.DelayRule():
                    self.delays[functor_of(rule.source.fluent)].append(rule)
                case trees.EventRule():
                    self.events[functor_of(rule.event)].append(rule)
                case trees.StaticRule():
                    self.statics.append(rule)
                case trees.Postponable():
                    self.postponable.append(rule)
                case trees.Declaration(name="buildFromPoints") if rule.rest:
                    self.built.append(rule)

    def strata(self) -> list[list[Node]]:
        """Nodes that depend on each other, together; what is used before what uses it."""
        graph = self.dependencies()
        condensed = nx.condensation(graph)
        strata = []
        for component in nx.lexicographical_topological_sort(condensed):
            nodes = sorted(condensed.nodes[component]["members"])
            whole = [n for n in nodes if n[0] in ("static", "built")]
            if whole and (len(nodes) > 1 or graph.has_edge(whole[0], whole[0])):
                raise ValueError("a cycle through a statically determined fluent")
            strata.append(nodes)
        return strata

    def dependencies(self) -> nx.DiGraph:
        """A node per simple fluent, output event, and `holdsFor` rule; an edge from what is used to its user."""
        graph = nx.DiGraph()

        def add(node: Node, bodies: Iterable[trees.Body]) -> None:
            graph.add_node(node)
            graph.add_edges_from((used, node) for body in bodies for used in self.used(body))

        for key in dict.fromkeys([*self.changes, *self.initials]):
            bodies = [rule.body for rule in self.changes[key]] + [rule.body for rule in self.initials[key]]
            add(("simple", *key), bodies + [rule.body for rule in self.delays[key]])
        for key, rules in self.events.items():
            add(("event", *key), [rule.body for rule in rules])
        for index, static in enumerate(self.statics):
            add(("static", "", index), [static.body])
            for other, earlier in enumerate(self.statics[:index]):
                if has_cut(earlier) and same_head(earlier.pair, static.pair):
                    graph.add_edge(("static", "", other), ("static", "", index))
        for index, declared in enumerate(self.built):
            add(("built", "", index), [(trees.Happens(declared.rest[0], declared.rest[0]),)])
        return graph

    def used(self, body: trees.Body) -> Iterable[Node]:
        """The nodes that a body asks for."""
        for condition in body:
            match condition:
                case trees.Happens(event) if functor_of(event) in self.events:
                    yield ("event", *functor_of(event))
                case trees.Boundary() | trees.Holds() | trees.Changed() | trees.HoldsFor():
                    yield from self.defining(condition.pair)
                case trees.FindAll(_, goals) | trees.Not(goals):
                    yield from self.used(goals)
                case trees.Or(alternatives):
                    for goals in alternatives:
                        yield from self.used(goals)

    def defining(self, pair: trees.FluentValue) -> Iterable[Node]:
        """The nodes that may give a pair periods."""
        key = functor_of(pair.fluent)
        heads = [r.pair for r in self.changes.get(key, [])] + [r.pair for r in self.initials.get(key, [])]
        heads += [r.target for r in self.delays.get(key, [])]
        if any(same_head(pair, head) for head in heads):
            yield ("simple", *key)
        for index, rule in enumerate(self.statics):
            if same_head(pair, rule.pair):
                yield ("static", "", index)
        for index, declared in enumerate(self.built):
            if isinstance(declared.subject, trees.FluentValue) and same_head(pair, declared.subject):
                yield ("built", "", index)


def has_cut(rule: trees.StaticRule) -> bool:
    return any(isinstance(c, trees.Cut) for c in rule.body)


def same_head(left: trees.FluentValue, right: trees.FluentValue) -> bool:
    """Whether two pairs have a common instance."""
    other = pair_term(right)
    return unify(pair_term(left), walk(other, rename(variables_of(other))), {}) is not None
