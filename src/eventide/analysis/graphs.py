"""Graphs of names: which depend on each other, and in what order they can be evaluated. Loads at once."""

from __future__ import annotations

from collections.abc import Collection, Mapping

Graph = Mapping[str, Collection[str]]


def components(reads: Graph) -> list[list[str]]:
    """The strongly connected components of a graph, what is read before what reads it (Tarjan's algorithm).

    `reads[a]` are the names that `a` reads; names that are no key of the graph are left out.

    >>> components({"a": ["b"], "b": ["a", "c"], "c": []})
    [['c'], ['a', 'b']]
    """
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    open_: dict[str, None] = {}
    result: list[list[str]] = []
    for root in reads:
        if root in index:
            continue
        work = [(root, iter([r for r in reads[root] if r in reads]))]
        index[root] = low[root] = len(index)
        open_[root] = None
        while work:
            name, rest = work[-1]
            following = next(rest, None)
            if following is None:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[name])
                if low[name] == index[name]:
                    members = []
                    while name in open_:
                        member, _ = open_.popitem()
                        members.append(member)
                    result.append(sorted(members, key=index.__getitem__))
            elif following not in index:
                index[following] = low[following] = len(index)
                open_[following] = None
                work.append((following, iter([r for r in reads[following] if r in reads])))
            elif following in open_:
                low[name] = min(low[name], index[following])
    return result


def way(reads: Graph, start: str, goal: str) -> list[str]:
    """The shortest way from a name to another along what they read, both included; the goal must be within reach.

    >>> way({"a": ["b", "c"], "b": ["d"], "c": ["b"], "d": []}, "a", "d")
    ['a', 'b', 'd']
    """
    before: dict[str, str | None] = {start: None}
    queue = [start]
    for name in queue:
        if name == goal:
            break
        for following in reads.get(name, ()):
            if following not in before:
                before[following] = name
                queue.append(following)
    found: list[str] = []
    at: str | None = goal
    while at is not None:
        found.append(at)
        at = before[at]
    return found[::-1]


def is_cycle(members: Collection[str], reads: Graph) -> bool:
    """Whether a component depends on itself."""
    return len(members) > 1 or any(member in reads[member] for member in members)
