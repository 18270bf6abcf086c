"""The truth maintenance network: nodes, justifications, and labels that are kept right. Knows no time and no rules.

J. de Kleer, "A general labeling algorithm for assumption-based truth maintenance" (AAAI 1988); W. Mebrek and
A. Bouzeghoub, "Multi-context incremental reasoning over data streams" (WI-IAT 2023), Algorithms 3 to 7, whose printed
form is put right here (docs/explanation/truth-maintenance.md says where). The label of a node is the family of the
smallest consistent sets of assumptions from which the node follows. It is

- sound: the node follows from each of its environments,
- complete: every consistent set from which the node follows contains one of them,
- minimal: none of them contains another,
- consistent: none contains a nogood, a set from which falsum follows.

The label does not depend on the order in which anything was added. A change costs what it reaches: only environments
that are new are woven into the consequences of a node.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Generic, TypeVar

from eventide.errors import EventideError
from eventide.maintenance.environments import Nogoods, bits_of, is_covered, minimal

Key = TypeVar("Key", bound=Hashable)
LIMIT = 20_000


class LabelError(EventideError):
    """A label has grown beyond the limit: the contexts in which a node holds are too many to be listed.

    >>> str(LabelError("p", "p(a)", 20_000)).partition(";")[0]
    'p(a): more than 20,000 smallest sets of assumptions'
    """

    def __init__(self, key: object, name: str, limit: int) -> None:
        super().__init__(f"{name}: more than {limit:,} smallest sets of assumptions; use shorter windows or fewer "
                         "facts, or run the program without truth maintenance")
        self.key, self.limit = key, limit


class Node(Generic[Key]):
    """A datum with its label. `bit` is its own assumption, 0 if it is none."""

    __slots__ = ("bit", "consequences", "key", "label", "mentions", "reasons")

    def __init__(self, key: Key | None) -> None:
        self.key = key
        self.bit = 0
        self.label: list[int] = []
        self.mentions = 0  # the assumptions under which this node is filed in the index
        self.reasons: dict[Justification[Key], None] = {}
        self.consequences: dict[Justification[Key], None] = {}

    def holds(self, environment: int) -> bool:
        """Whether the node follows from a consistent environment."""
        return is_covered(environment, self.label)


class Justification(Generic[Key]):
    """`antecedents => consequent`, a ground rule without negation."""

    __slots__ = ("antecedents", "consequent")

    def __init__(self, antecedents: tuple[Node[Key], ...], consequent: Node[Key]) -> None:
        self.antecedents = antecedents
        self.consequent = consequent


class Network(Generic[Key]):
    """Nodes by key, with their labels.

    `observer(key, holds)` is called whenever a label becomes non-empty or empty. A label of more than `limit`
    environments ends in `LabelError`.

    >>> network = Network()
    >>> for report in "ABC":
    ...     network.assume(report)
    >>> _ = network.justify(["A"], "free"), network.justify(["B", "C"], "congested")
    >>> network.label("congested") == {frozenset("BC")}
    True
    >>> _ = network.contradict(["free", "congested"])
    >>> network.nogoods() == {frozenset("ABC")}
    True
    >>> network.is_consistent("ABC"), network.holds("free", "AB"), network.holds("congested", "AB")
    (False, True, False)
    """

    def __init__(self, observer: Callable[[Key, bool], None] | None = None, limit: int = LIMIT) -> None:
        self.limit = limit
        self.believed = 0
        """All assumptions there are, as one environment."""
        self.conflicts = Nogoods()
        self._observer = observer
        self._nodes: dict[Key, Node[Key]] = {}
        self._falsum: Node[Key] = Node(None)
        self._owners: dict[int, Node[Key]] = {}  # assumption -> its node
        self._index: dict[int, set[Node[Key]]] = {}  # assumption -> the nodes whose labels may mention it
        self._free: list[int] = []  # bits of assumptions that are gone, so that environments stay short
        self._negations: dict[int, Node[Key]] = {}
        self._outs: dict[Node[Key], Node[Key]] = {}

    # What there is

    def __contains__(self, key: Key) -> bool:
        return key in self._nodes

    def __len__(self) -> int:
        return len(self._nodes)

    def node(self, key: Key) -> Node[Key]:
        """The node of a key; a new one holds nowhere."""
        found = self._nodes.get(key)
        if found is None:
            found = self._nodes[key] = Node(key)
        return found

    def environment(self, assumptions: Iterable[Key]) -> int:
        """A set of assumptions as bits; keys that are no assumptions are refused."""
        environment = 0
        for key in assumptions:
            node = self._nodes.get(key)
            if node is None or not node.bit:
                raise KeyError(f"{key!r} is no assumption")
            environment |= node.bit
        return environment

    def assumptions(self, environment: int) -> frozenset[Key]:
        """An environment as a set of keys."""
        return frozenset(self._key(bit) for bit in bits_of(environment))

    def label(self, key: Key) -> frozenset[frozenset[Key]]:
        """The smallest consistent sets of assumptions in which a node holds: none for one that holds nowhere."""
        node = self._nodes.get(key)
        return frozenset() if node is None else frozenset(map(self.assumptions, node.label))

    def environments(self, key: Key) -> tuple[int, ...]:
        """The label of a node as bits."""
        node = self._nodes.get(key)
        return () if node is None else tuple(node.label)

    def is_possible(self, key: Key) -> bool:
        """Whether a node holds in some consistent context."""
        node = self._nodes.get(key)
        return node is not None and bool(node.label)

    def leads_on(self, key: Key) -> bool:
        """Whether a node is part of a justification."""
        node = self._nodes.get(key)
        return node is not None and bool(node.consequences)

    def nogoods(self) -> frozenset[frozenset[Key]]:
        """The smallest sets of assumptions from which falsum follows."""
        return frozenset(map(self.assumptions, self.conflicts))

    def size(self) -> dict[str, int]:
        """How much is held; `bits` is how wide environments are, `longest` the number of them in the longest label.
        """
        labels = [len(node.label) for node in self._nodes.values()]
        return {"nodes": len(self._nodes), "assumptions": len(self._owners),
                "justifications": sum(len(node.reasons) for node in (*self._nodes.values(), self._falsum)),
                "environments": sum(labels), "longest": max(labels, default=0), "nogoods": len(self.conflicts),
                "bits": self.believed.bit_length()}

    # Questions about a context, answered by subset tests alone

    def holds(self, key: Key, context: Iterable[Key]) -> bool:
        """Whether a node follows from a consistent context; nothing does from an inconsistent one."""
        environment = self.environment(context)
        node = self._nodes.get(key)
        return node is not None and node.holds(environment) and not self.conflicts.forbid(environment)

    def holds_in(self, key: Key, contexts: Iterable[Iterable[Key]]) -> list[bool]:
        """Whether a node follows from each of several contexts, without committing to any.

        >>> network = Network()
        >>> for key in "ABC":
        ...     network.assume(key)
        >>> _ = network.justify("AB", "p"), network.contradict("BC")
        >>> network.holds_in("p", ["AB", "A", "ABC"])
        [True, False, False]
        """
        return [self.holds(key, context) for context in contexts]

    def is_consistent(self, context: Iterable[Key]) -> bool:
        """Whether falsum does not follow from a context."""
        return not self.conflicts.forbid(self.environment(context))

    def context(self, assumptions: Iterable[Key]) -> frozenset[Key] | None:
        """All nodes that follow from a set of assumptions; `None` if falsum does."""
        environment = self.environment(assumptions)
        if self.conflicts.forbid(environment):
            return None
        return frozenset(key for key, node in self._nodes.items() if node.holds(environment))

    # Changes

    def assume(self, key: Key) -> None:
        """Make a node an assumption; it may have justifications besides."""
        node = self.node(key)
        if node.bit:
            return
        node.bit = self._free.pop() if self._free else 1 << len(self._owners)
        self._owners[node.bit] = node
        self._index[node.bit] = set()
        self.believed |= node.bit
        self._update(node, [node.bit])

    def justify(self, antecedents: Iterable[Key], consequent: Key) -> Justification[Key]:
        """Add `antecedents => consequent`; without antecedents, the consequent holds everywhere."""
        return self._add(antecedents, self.node(consequent))

    def contradict(self, antecedents: Iterable[Key]) -> Justification[Key]:
        """Add `antecedents => falsum`: they cannot hold together."""
        return self._add(antecedents, self._falsum)

    def negate(self, assumption: Key, key: Key) -> None:
        """Let a node stand for the opposite of an assumption: it holds wherever the assumption would be inconsistent.

        >>> network = Network()
        >>> for key in "AB":
        ...     network.assume(key)
        >>> network.negate("A", "not A")
        >>> _ = network.contradict("AB")
        >>> network.label("not A") == {frozenset("B")}
        True
        """
        bit = self.environment([assumption])
        node = self._negations[bit] = self.node(key)
        self._update(node, [nogood ^ bit for nogood in self.conflicts if nogood & bit])

    def assume_out(self, key: Key, out: Key) -> None:
        """Assume that a node does *not* hold (default negation): `out` is an assumption, and contradicts the node.

        >>> network = Network()
        >>> network.assume("bird")
        >>> network.assume_out("ab", "out(ab)")
        >>> _ = network.justify(["bird", "out(ab)"], "fly")
        >>> network.label("fly") == {frozenset(["bird", "out(ab)"])}
        True
        """
        node = self.node(key)
        if node not in self._outs:
            self.assume(out)
            self._outs[node] = self.node(out)
            self.contradict([key, out])

    def outs(self) -> list[tuple[Node[Key], int]]:
        """The nodes that are assumed not to hold, each with its out-assumption, in order of their coming."""
        return [(node, out.bit) for node, out in self._outs.items()]

    def retract(self, key: Key) -> None:
        """Remove an assumption, from all labels and nogoods. Nothing is propagated: what is left is what would be built
        without it. Costs the labels that mention it."""
        node = self._nodes[key]
        bit = node.bit
        if not bit:
            raise KeyError(f"{key!r} is no assumption")
        for mentioned in self._index.pop(bit):
            mentioned.mentions &= ~bit
            self._relabel(mentioned, [known for known in mentioned.label if not known & bit])
        self.conflicts.drop(bit)
        node.bit = 0
        del self._owners[bit]
        self.believed &= ~bit
        self._free.append(bit)
        if self._negations.pop(bit, None) is not None:
            self.rebuild()  # what followed from its opposite does not mention it

    def withdraw(self, justification: Justification[Key]) -> None:
        """Drop a justification of which some antecedent holds nowhere: labels know nothing of it."""
        assert not all(antecedent.label for antecedent in justification.antecedents)
        justification.consequent.reasons.pop(justification, None)
        for antecedent in justification.antecedents:
            antecedent.consequences.pop(justification, None)

    def cut(self, key: Key) -> list[Key]:
        """Drop all justifications that a node is part of, which holds nowhere; returns what they led to."""
        node = self._nodes.get(key)
        led_to: list[Key] = []
        for justification in tuple(node.consequences) if node is not None else ():
            self.withdraw(justification)
            if justification.consequent.key is not None:
                led_to.append(justification.consequent.key)
        return led_to

    def forget(self, key: Key) -> None:
        """Drop a node that holds nowhere, with the justifications that lead to it and from it."""
        node = self._nodes.pop(key)
        assert not node.label and not node.bit
        for justification in (*node.reasons, *node.consequences):
            justification.consequent.reasons.pop(justification, None)
            for antecedent in justification.antecedents:
                antecedent.consequences.pop(justification, None)
        for bit in bits_of(node.mentions):
            self._index[bit].discard(node)
        self._outs.pop(node, None)

    def sweep(self, keys: Iterable[Key]) -> None:
        """Forget those of the nodes that hold nowhere and that nothing leads to; then those that they alone led to."""
        rest = list(keys)
        while rest:
            node = self._nodes.get(rest.pop())
            if node is not None and not (node.label or node.bit or node.reasons or node in self._outs):
                rest.extend(one.consequent.key for one in node.consequences if one.consequent.key is not None)
                self.forget(node.key)  # type: ignore[arg-type]

    def retract_out(self, key: Key) -> None:
        """Assume no longer that a node does not hold; the out-assumption is forgotten."""
        out = self._outs.pop(self._nodes[key])
        assert out.key is not None
        self.retract(out.key)
        self.forget(out.key)

    def rebuild(self) -> None:
        """Compute all labels and nogoods anew from the assumptions and justifications."""
        self.conflicts.clear()
        for node in self._nodes.values():
            self._relabel(node, [])
        for node in list(self._nodes.values()):
            if node.bit:
                self._update(node, [node.bit])
            for reason in list(node.reasons):
                self._fire(reason)
        for reason in list(self._falsum.reasons):
            self._fire(reason)

    # The labelling algorithm

    def _add(self, antecedents: Iterable[Key], consequent: Node[Key]) -> Justification[Key]:
        """ADDJUSTIFICATION (Algorithm 7), beginning with the family of the empty environment."""
        justification = Justification(tuple(dict.fromkeys(map(self.node, antecedents))), consequent)
        for antecedent in justification.antecedents:
            antecedent.consequences[justification] = None
        consequent.reasons[justification] = None
        self._fire(justification)
        return justification

    def _fire(self, justification: Justification[Key]) -> None:
        self._update(justification.consequent, self._weave(justification, None, [0]))

    def _update(self, node: Node[Key], environments: list[int]) -> None:
        """UPDATE and PROPAGATE (Algorithms 3 and 5): extend a label, and all that follows from it.

        Works off a queue where the paper recurses, so that long chains need no stack, and a node that is reached by
        several ways at once is propagated once.
        """
        queue: dict[Node[Key], list[int]] = {}
        self._enqueue(queue, node, environments)
        while queue:
            node = next(iter(queue))
            fresh = self._extend(node, queue.pop(node))
            for justification in tuple(node.consequences) if fresh else ():
                self._enqueue(queue, justification.consequent, self._weave(justification, node, fresh))
                fresh = [environment for environment in fresh if environment in node.label]
                if not fresh:
                    break

    def _enqueue(self, queue: dict[Node[Key], list[int]], node: Node[Key], environments: list[int]) -> None:
        if node is not self._falsum:
            if environments:
                queue.setdefault(node, []).extend(environments)
            return
        for nogood in environments:
            if self.conflicts.add(nogood):
                self._purge(nogood)
                for bit in bits_of(nogood):
                    if bit in self._negations:
                        queue.setdefault(self._negations[bit], []).append(nogood ^ bit)

    def _weave(self, justification: Justification[Key], cause: Node[Key] | None, environments: list[int]) -> list[int]:
        """WEAVE (Algorithm 6): the new environments of a consequent, from those of one antecedent and all labels."""
        common, several = 0, []
        for antecedent in justification.antecedents:
            if antecedent is not cause:
                if not antecedent.label:
                    return []
                if len(antecedent.label) == 1:
                    common |= antecedent.label[0]
                else:
                    several.append(antecedent.label)
        environments = self._clean({environment | common for environment in environments})
        for label in sorted(several, key=len):
            environments = self._clean({one | two for one in environments for two in label})
            if len(environments) > self.limit:
                raise self._too_long(justification.consequent)
        return environments

    def _clean(self, environments: Iterable[int]) -> list[int]:
        """Those that are consistent and contain no other."""
        consistent = [environment for environment in environments if not self.conflicts.forbid(environment)]
        return minimal(consistent) if len(consistent) > 1 else consistent

    def _extend(self, node: Node[Key], environments: list[int]) -> list[int]:
        """Put environments into a label unless it covers them, drop those that they cover; returns what is new."""
        label = node.label
        fresh = [environment for environment in self._clean(environments) if not is_covered(environment, label)]
        if not fresh:
            return fresh
        self._relabel(node, [known for known in label if not is_covered(known, fresh)] + fresh)
        if len(node.label) > self.limit:
            raise self._too_long(node)
        mentioned = 0
        for environment in fresh:
            mentioned |= environment
        for bit in bits_of(mentioned & ~node.mentions):
            self._index[bit].add(node)
        node.mentions |= mentioned
        return fresh

    def _purge(self, nogood: int) -> None:
        """NOGOOD (Algorithm 4): remove from every label what contains a nogood. Looks at labels that mention one of its
        assumptions, the one that the fewest mention."""
        files = [self._index[bit] for bit in bits_of(nogood)] or [set(self._nodes.values())]
        fewest = min(files, key=len)
        for node in list(fewest):
            kept = [known for known in node.label if known & nogood != nogood]
            if len(kept) < len(node.label):
                self._relabel(node, kept)

    def _relabel(self, node: Node[Key], label: list[int]) -> None:
        """Give a node another label, and tell whether it has begun or ceased to hold anywhere."""
        held, node.label = bool(node.label), label
        if self._observer is not None and held != bool(label) and node.key is not None:
            self._observer(node.key, not held)

    def _key(self, bit: int) -> Key:
        key = self._owners[bit].key
        assert key is not None
        return key

    def _too_long(self, node: Node[Key]) -> LabelError:
        return LabelError(node.key, "falsum" if node.key is None else str(node.key), self.limit)
