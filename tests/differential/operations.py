"""Random facts for the inputs of a program, and what becomes of them: in time, late, doubled, taken back, revised."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

from tests.oracle.sessions import Operation
from tests.oracle.store import Fact

from .cases import Case, Options
from .programs import EVENTS, INTERVALS, NUMBER, PLACES, POINTS, STATES, WHO, Writer, program

HISTORIES = ("+", "+", "+", "++", "+-", "+r", "+-+", "-", "-+", "+--")


def event_calculus(seed: int) -> Case:
    """The random case of a number."""
    rng = random.Random(seed)
    clauses, writer = program(rng)
    tick, text = writer.tick, "\n".join(clauses)
    end = tick * rng.choice((12, 20, 30))
    facts = facts_for(text, writer, rng, end)
    window = tick * rng.choice((1, 2, 5, 8, 10, 20, 40, 40, 60, rng.randrange(1, 30)))
    step = min(window, tick * rng.choice((window // tick, 10, 5, 5, 3, 1, rng.randrange(1, 12))))
    needs_start = "initially(" in text or "complement_all(" in text
    start = rng.choice((-tick, -tick, -tick, 0, 3 * tick, -2 * tick)) if needs_start or rng.random() < 0.8 else None
    manner = rng.choice(("timely", "timely", "late", "wild"))
    first = -tick if start is None else start
    queries = tuple(q for q in query_times(rng, first, end, tick) if "initially(" not in text or q > max(first, 0))
    operations: list[Operation] = []
    for fact in facts:
        operations += history(fact, rng, manner, window, writer)
    if rng.random() < 0.5:
        operations.sort(key=lambda o: o.arrival)
    end = max([end, *queries])
    operations = [o for o in operations if o.arrival <= end]
    options = Options(start, end, window, step, queries, tick, rng.choice(("termination", "termination", "initiation")),
                      min(rng.choice((0, 0, 0, 2 * tick)), max(queries[0], 0)) if needs_start else 0,
                      tuple(q for q in queries if rng.random() < 0.2), rng.choice((1 << 20, 1 << 20, 200, 64)),
                      rng.choice((1, 2, 3)), rng.choice(("auto", "auto", "keys", "ranges", "full")))
    return Case("ec", seed, tuple(clauses), tuple(operations), options)


def query_times(rng: random.Random, first: int, end: int, tick: int) -> tuple[int, ...]:
    """The query times of a session: with a step, or irregular, also the same time twice."""
    if rng.random() < 0.5:
        step = tick * rng.choice((1, 2, 3, 5, 10))
        found = list(range(first + step, end + step, step))
    else:
        found, now = [], first
        while now < end:
            now += tick * rng.choice((0, 1, 1, 3, 5, 8, 15))
            found.append(now)
    return tuple(found)


def facts_for(text: str, writer: Writer, rng: random.Random, end: int) -> list[Fact]:
    """Facts of some of the inputs that a program mentions, at most 24; of others none."""
    tick, makers = writer.tick, []
    aligned = rng.random() < 0.9
    used = [name for name in (*EVENTS, *INTERVALS, *POINTS, "st") if re.search(rf"\b{name}\b", text)]
    used += [name for name in used if name in writer.events and rng.random() < 0.5]  # some come more often
    silent = {name for name in used if rng.random() < 0.12}
    makers = [name for name in used if name not in silent]
    amount = rng.choice((0, 3, 8, 14, 24, 32)) if makers else 0
    facts: list[Fact] = []
    for _ in range(amount):
        name = rng.choice(makers)
        time = rng.randrange(end // tick + 1) * tick + (0 if aligned else rng.randrange(tick))
        if name in EVENTS:
            facts.append(("event", name, values(EVENTS[name], writer, rng), time))
        elif name in POINTS:
            value = rng.choice(writer.numbers) if name == "pp" else "true"
            facts.append(("point", name, values(POINTS[name], writer, rng), value, time - time % tick))
        else:
            value = rng.choice(STATES) if name == "st" else "true"
            first = time - time % tick
            last = first + tick * rng.choice((1, 2, 3, 4, 6, 12))
            facts.append(("interval", name, values(INTERVALS.get(name, (WHO,)), writer, rng), value, first, last))
    return facts


def values(kinds: Sequence[str], writer: Writer, rng: random.Random) -> tuple[str | int | float, ...]:
    """Arguments of a fact."""
    pools = {WHO: writer.entities, NUMBER: writer.numbers}
    return tuple(rng.choice(pools.get(kind, PLACES)) for kind in kinds)


def history(fact: Fact, rng: random.Random, manner: str, window: int, writer: Writer) -> list[Operation]:
    """What happens to a fact in turn; `r` takes it back and inserts another one."""
    time = fact[3] if fact[0] == "event" else fact[4]
    assert isinstance(time, int)
    if manner == "timely" or (fact[0] == "interval" and writer.tick > 1):  # a late one is cut, off the grid
        return [Operation(fact, time, 1)]
    if manner == "late":
        return [Operation(fact, time + rng.choice((0, 0, 1, window // 2, window - 1)), 1)]
    found = []
    arrival = time + rng.choice((0, 0, 0, 1, -3, 2, window // 2, window - 1, window, window + 3))
    for sign in rng.choice(HISTORIES):
        if sign == "r":
            found += [Operation(fact, arrival, -1), Operation(changed(fact, rng, writer), arrival, 1)]
        else:
            found.append(Operation(fact, arrival, 1 if sign == "+" else -1))
        arrival += rng.choice((0, 1, 3, window // 2))
    return found


def changed(fact: Fact, rng: random.Random, writer: Writer) -> Fact:
    """A revision of a fact: another entity, or another time."""
    kind, name, args, *rest = fact
    if args and rng.random() < 0.5:
        return (kind, name, (rng.choice(writer.entities), *args[1:]), *rest)  # type: ignore[return-value]
    return (*fact[:-1], fact[-1] + writer.tick)  # type: ignore[return-value,operator]
