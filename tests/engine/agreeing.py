"""One program over a few events, as the engine and as the slow interpreter see it: in one window, and in short ones."""

from __future__ import annotations

from tests.engine.running import Timelines, facts_of, shown
from tests.engine.test_against_oracle import expected
from tests.oracle.interpreter import evaluate
from tests.oracle.store import Fact
from tests.oracle.windows import evaluate_windows

import eventide as ev
from eventide.syntax.event_calculus import parse

WINDOWS = ((40, 40), (40, 5), (7, 3))


def agreed(text: str, events: tuple[tuple[str | int, ...], ...], until: int = 40) -> Timelines:
    """The timelines that both give; events are (name, arguments…, time)."""
    facts: list[Fact] = [("event", str(event[0]), tuple(event[1:-1]), int(event[-1])) for event in events]
    rules, program = parse(text).rules, ev.parse(text)
    assert not [problem.render(text) for problem in program.check() if problem.severity == "error"]
    given = facts_of((fact, None) for fact in facts)
    fluents, happened = shown(program.run(given, start=0, end=until).to_arrow().to_pylist())
    assert (fluents, sorted(set(happened))) == expected(evaluate(rules, facts, start=0, until=until))
    for window, step in WINDOWS:
        rows = program.run(given, window=window, step=step, start=0, end=until, emit="windows").to_arrow().to_pylist()
        timed = [(fact, fact[3]) for fact in facts]
        for query, wanted in evaluate_windows(rules, timed, window, step, 0, until).items():
            found, moments = shown([row for row in rows if row["query_time"] == query])
            assert (found, sorted(set(moments))) == expected(wanted.clipped), f"{window}, {step}, at {query}"
    return fluents
