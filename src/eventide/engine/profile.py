"""Measures the nodes of plans while they are evaluated: time, rows and bytes, as a tree of who asked for what.

Off by default, at the price of one comparison a node. A node that several others read is computed once, and counts
where it was computed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from time import perf_counter_ns
from typing import TypeVar

from eventide.algebra.nodes import Node, Plan
from eventide.engine.relation import Relation, Rows

Found = TypeVar("Found")
_ACTIVE: ContextVar[Profile | None] = ContextVar("profile", default=None)


class Frame:
    """A node as it was evaluated for another: how often, how long with all below it, how much came out."""

    __slots__ = ("bytes", "calls", "children", "nanoseconds", "node", "rows")

    def __init__(self, node: Node | None) -> None:
        self.node = node
        self.calls = self.nanoseconds = self.rows = self.bytes = 0
        self.children: dict[int, Frame] = {}

    @property
    def own(self) -> int:
        """The nanoseconds of the node itself, without those below it."""
        return self.nanoseconds - sum(frame.nanoseconds for frame in self.children.values())

    def walk(self) -> Iterator[Frame]:
        """This frame and all below it."""
        yield self
        for frame in self.children.values():
            yield from frame.walk()


class Profile:
    """What was measured: frames below `root`, which stands for no node, and the plans they belong to."""

    def __init__(self) -> None:
        self.root = Frame(None)
        self.plans: dict[int, Plan] = {}
        self._top = self.root

    def measured(self, node: Node, function: Callable[..., Found], *arguments: object) -> Found:
        """What a function gives for a node; the time until then is the node's."""
        above = self._top
        if above.node is node:  # the same work, seen from further inside
            result = function(*arguments)
            _count(above, result)
            return result
        frame = above.children.get(id(node))  # the frame holds the node, so that its id stays its own
        if frame is None:
            frame = above.children[id(node)] = Frame(node)
        self._top = frame
        began = perf_counter_ns()
        try:
            result = function(*arguments)
        finally:
            frame.nanoseconds += perf_counter_ns() - began
            self._top = above
        frame.calls += 1
        _count(frame, result)
        return result

    def knows(self, plan: Plan) -> None:
        """Note a plan that is about to be evaluated."""
        self.plans[id(plan)] = plan


def _count(frame: Frame, result: object) -> None:
    if isinstance(result, Relation):
        frame.rows += len(result)
        frame.bytes = max(frame.bytes, result.intervals.starts.nbytes + result.intervals.ends.nbytes)
    elif isinstance(result, Rows):
        frame.rows += result.length
        frame.bytes = max(frame.bytes, result.own_bytes)


def active() -> Profile | None:
    """The profile that is being filled, if there is one."""
    return _ACTIVE.get()


@contextmanager
def profiled(profile: Profile | None = None) -> Iterator[Profile]:
    """Measure every plan that is evaluated in the block; a profile that is given is added to.

    >>> import eventide as ev, pyarrow as pa
    >>> program = ev.parse("initiatedAt(rich(X)=true, T) :- happensAt(win(X), T).")
    >>> with profiled() as profile:
    ...     _ = program.run(pa.table({"time": [3], "event": ["win"], "who": ["ann"]}))
    >>> [(type(frame.node).__name__, frame.calls, frame.rows) for frame in profile.root.walk() if frame.node]
    [('Inertia', 1, 1), ('Events', 1, 1)]
    """
    profile = profile or Profile()
    token = _ACTIVE.set(profile)
    try:
        yield profile
    finally:
        _ACTIVE.reset(token)
