"""Modes that are written well and that nothing can be learnt with: what is said, where, and what to try."""

from __future__ import annotations

import pyarrow as pa
import pytest

import eventide as ev
from eventide.errors import ProgramError
from eventide.learning.learnable import unlearnable
from eventide.learning.learned import modes_of
from eventide.learning.modes import read_modes

RICH = "modeh(initiatedAt(rich(+p),+time))\nmodeh(terminatedAt(rich(+p),+time))\nmodeb(happensAt(win(+p),+time))\n"
DAYS = list(range(0, 40, 5))
EXAMPLES = {"win": pa.table({"time": DAYS, "who": ["ann"] * 8}),
            "lose": pa.table({"time": [day + 3 for day in DAYS], "who": ["ann"] * 8}),
            "rich": pa.table({"start": [day + 1 for day in DAYS], "end": [day + 4 for day in DAYS],
                              "who": ["ann"] * 8})}


@pytest.mark.parametrize(("text", "severity", "code", "place", "message", "hint"), [
    ("modeh(holds(rich(+p),+time))", "error", "bad-head", (1, 7), "not initiatedAt or terminatedAt", "initiatedAt(mov"),
    ("modeh(rich(+p))", "error", "bad-head", (1, 7), "rich(+p) is not", "initiatedAt(moving"),
    ("modeh(initatedAt(rich(+p),+time))", "error", "bad-head", (1, 7), "is not", "did you mean 'initiatedAt'?"),
    ("modeh(initiatedAt(rich(#p),+time))", "error", "bad-head-place", (1, 24), "#p", "+p, or the constant itself"),
    ("modeh(initiatedAt(rich(-p),+time))", "error", "bad-head-place", (1, 24), "-p", "write +p"),
    ("modeh(initiatedAt(rich(+p),#time))", "error", "bad-head-place", (1, 28), "#time", "write +time"),
    ("modeh(initiatedAt(rich(+p),+p))", "error", "bad-time", (1, 24), "type of the time", "a type of its own"),
    (RICH + "modeh(initiatedAt(rich(+q),+time))", "error", "different-fluents", (4, 7), "another fluent", "the same"),
    (RICH + "modeh(initiatedAt(rich(+p)=very,+time))", "error", "different-fluents", (4, 7), "another fl", "value"),
    (RICH + "modeh(initiatedAt(glad(+p),+day))", "error", "bad-time", (4, 28), "a 'day' here", "write +time"),
    (RICH + "examplePattern(holdsAt(rich(+p,+p),+time))", "error", "different-fluents", (4, 16), "another fl", "same"),
    (RICH + "examplePattern(happensAt(rich(+p),+time))", "error", "bad-head", (4, 16), "not holdsAt", "write holdsAt("),
    (RICH + "modeb(happensAt(lose(+p),-time))", "error", "bad-time", (4, 26), "-time in a condition", "write +time"),
    (RICH + "modeb(happensAt(lose(+p),#time))", "error", "bad-time", (4, 26), "#time in a condition", "write +time"),
    (RICH + "modeb(near(+p,+time,+time))", "error", "bad-time", (4, 21), "a second time", "type of its own"),
    (RICH + "modeb(happensAt(lose(+p),+p))", "error", "missing-time", (4, 7), "has no time", "+time as the second"),
    (RICH + "inputPredicate(happensAt(day(+time),+p))", "error", "missing-time", (4, 16), "has no time", "+time"),
    (RICH + "modeb(temp(+p,hot,+time))\nmodeb(temp(+p,#n,+time))\n"
     "comparisonPredicate(temp(+p,#n,+time), lessThan, comparison_term_position(2))", "error", "overlapping-modes",
     (4, 7), "whose numbers are compared", "under another name"),
    (RICH + "modeb(temp(+p,#n,+time))\n" + "".join(
        f"comparisonPredicate(temp(+p,#n,+time), {each}, comparison_term_position(2))\n"
        for each in ("lessThan", "greaterThan")), "error", "compared-twice", (6, 21), "in two ways", "another name"),
    ("modeh(terminatedAt(rich(+p),+time))", "warning", "never-initiated", (1, 7), "no modeh initiates rich",
     "modeh(initiatedAt(rich(+p), +time))"),
    (RICH + "modeh(initiatedAt(glad(+p),+time))\nexamplePattern(holdsAt(rich(+p),+time))", "warning",
     "unlabelled-head", (4, 7), "no examplePattern is about glad", "or none at all"),
    (RICH + "modeb(holdsAt(rich(+p)=true,+time))", "warning", "own-state", (4, 7), "is left out", "remove the modeb"),
])
def test_what_cannot_be_learnt_is_said(text: str, severity: str, code: str, place: tuple[int, int], message: str,
                                       hint: str) -> None:
    [problem] = unlearnable(read_modes(text)[0])
    assert problem.span is not None and problem.hint is not None
    assert (problem.severity, problem.code, (problem.span.line, problem.span.column)) == (severity, code, place)
    assert message in problem.message and hint in problem.hint
    if severity == "error":
        with pytest.raises(ProgramError, match=code):
            modes_of(f"{text}\n")


def test_values_and_literal_constants_in_heads_are_learnt() -> None:
    assert unlearnable(read_modes(RICH.replace("rich(+p)", "rich(+p)=true"))[0]) == []
    assert unlearnable(read_modes(RICH.replace("rich(+p),", "rich(+p)=true,", 1))[0]) == []
    assert unlearnable(read_modes(RICH.replace("rich(+p)", "rich(ann)=very"))[0]) == []
    assert unlearnable(read_modes(RICH + "inputPredicate(degrees(#degrees))\nmodeb(temp(+p,#degrees,+time))")[0]) == []


@pytest.mark.parametrize("state", ["rich(+p)", "rich(+p)=true"])
def test_no_rule_sees_the_labels_that_it_is_to_find(state: str) -> None:
    plain = RICH + "modeb(happensAt(lose(+p),+time))\n"
    expected = ev.learn(plain, EXAMPLES, batch=8)
    learnt = ev.learn(f"{plain}modeb(holdsAt({state},+time))\nmodeb(not holdsAt({state},+time))\n", EXAMPLES, batch=8)
    assert learnt.text == expected.text
    # Another fluent may ask about it; then its labels are what is seen of it.
    glad = plain.replace("rich", "glad") + RICH + f"modeb(holdsAt({state},+time))\n"
    both = ev.learn(glad, {**EXAMPLES, "glad": EXAMPLES["rich"]}, batch=8)
    assert [str(mode) for mode in both.targets["rich"].learner.modes.bodies] == [
        "happensAt(win(+p), +time)", "happensAt(lose(+p), +time)"]
    assert len(both.targets["glad"].learner.modes.bodies) == 3
