"""Background knowledge sees all facts with the values that they have, and what it derives keeps them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import eventide as ev
from eventide.errors import EventideError, InputError
from eventide.formats.background import Clauses
from eventide.learning.background import observations_of
from eventide.learning.learned import modes_of

HEAD = "modeh(initiatedAt(hot(+m),+time))\ninputPredicate(temp(+m,#n,+time))\n"
RUSH = Clauses("rush.ec", "happensAt(rush(M), T) :- happensAt(temp(M, D), T), D > 80.")
NAMES: dict[str, list[Any]] = {
    "digits in text": ["01", "2"], "digits and _": ["1_0", "2_0"], "a bar": ["a|b", "c"],
    "words for floats": ["nan", "inf"], "whole numbers": [1, 2], "floats": [1.0, 2.5],
    "an end of a line": ["a\nb", "ü \\ \" '"], "a keyword": ["not", "b"], "nothing": ["", "b"]}


def temperatures(names: list[Any], first: int = 1, streams: list[str] | None = None) -> pa.Table:
    """Each name is hot at the first time-point, and cold at the next."""
    found = {"time": [first, first + 1] * len(names), "m": [name for name in names for _ in "12"],
             "n": [90, 70] * len(names)}
    return pa.table(found if streams is None else {"stream": streams * len(names) * 2, **found})


def derived(condition: str, background: object, first: int = 1, names: list[Any] | None = None) -> list[Any]:
    """The things and the times for which a condition about a derived fact is true."""
    own = modes_of(f"{HEAD}modeb({condition})")[0]
    labels = pa.table({"time": [first + 1], "m": (names or ["a"])[:1]})
    found = observations_of(own, {"temp": temperatures(names or ["a", "b"], first), "hot": labels}, [background])
    examples = found.examples("hot")
    facts = next(each for each in examples.facts if each.mode.subject not in ("temp", "hot"))
    assert facts.points is not None
    things, times = examples.domains["m"][facts.codes[0]], examples.times[facts.points]
    return sorted(zip(things.tolist(), times.tolist(), strict=True))


@pytest.mark.parametrize("case", NAMES)
def test_derived_things_are_those_of_the_facts(case: str, tmp_path: Path) -> None:
    names = NAMES[case]
    wanted = sorted((name, 1) for name in names)
    assert derived("happensAt(rush(+m),+time)", RUSH, names=names) == wanted
    if not any(isinstance(name, float) for name in names):
        (tmp_path / "rush.lp").write_text("happensAt(rush(M),T) :- temp(M,D,T), D > 80.")
        assert derived("happensAt(rush(+m),+time)", tmp_path / "rush.lp", names=names) == wanted


def test_a_derived_fluent_may_end_at_0() -> None:
    warm = Clauses("warm.ec", "initiatedAt(warm(M)=true, T) :- happensAt(temp(M, D), T), D > 80.\n"
                              "terminatedAt(warm(M)=true, T) :- happensAt(temp(M, D), T), D < 80.")
    for first in (-4, -3, -2, -1, 0, 1):
        assert derived("holdsAt(warm(+m),+time)", warm, first) == [("a", first + 1), ("b", first + 1)]
    levels = Clauses("level.ec", "initiatedAt(level(M)=N, T) :- happensAt(temp(M, N), T).")
    assert derived("holdsAt(level(+m)=90,+time)", levels) == [("a", 2), ("b", 2)]


def test_derived_arguments_may_be_compound() -> None:
    lifts = Clauses("lift.ec", "happensAt(rush(lift(M)), T) :- happensAt(temp(M, D), T), D > 80.")
    assert derived("happensAt(rush(lift(+m)),+time)", lifts) == [("a", 1), ("b", 1)]


def test_background_reads_all_tables_and_atoms_of_a_name(tmp_path: Path) -> None:
    own = modes_of(f"{HEAD}modeb(happensAt(rush(+m),+time))")[0]
    monday, tuesday = temperatures(["a"], 1, ["monday"]), temperatures(["b"], 5, ["tuesday"])
    for day, name, time in (("monday", "a", 1), ("tuesday", "b", 5)):
        (tmp_path / f"{day}.lp").write_text(f"temp({name},90,{time}).\ntemp({name},70,{time + 1}).\n")
    for given in ({"temp": pa.concat_tables([monday, tuesday])}, {"temp": [monday, tuesday]},
                  [str(tmp_path / "monday.lp"), str(tmp_path / "tuesday.lp")]):
        (facts,) = (each for each in observations_of(own, given, [RUSH], labelled=False).examples("hot").facts
                    if each.mode.subject == "rush")
        assert facts.points is not None
        assert facts.points.tolist() == [0, 2]


def test_background_may_be_tables_by_name() -> None:
    tables = {"temp": temperatures(["a", "b"]), "hot": pa.table({"time": [2], "m": ["a"]})}
    role = pa.table({"m": ["a", "b"], "role": ["x", "y"]})
    for given in ({"role": role}, [{"role": role}]):
        learnt = ev.learn(f"{HEAD}modeb(role(+m,#role))", tables, background=given, mistakes_allowed=0, literal_cost=0)
        assert "role(X, x)" in learnt.text
        assert learnt.program.run(learnt.facts(0)).timeline()["hot(a)=true"] == [(2, None)]


def test_letters_that_clingo_does_not_know_are_told(tmp_path: Path) -> None:
    path = tmp_path / "rush.lp"
    path.write_text('% ü\n%* ö *%\nhappensAt(rush(M),T) :- temp(M,D,T), D > 80, D != "ä".\n')
    assert derived("happensAt(rush(+m),+time)", path) == [("a", 1), ("b", 1)]
    for text in ("a.\nü.", 'a.\n b("ü).'):
        path.write_text(text)
        with pytest.raises(InputError, match=r":2:1: error: the letter 'ü' outside of a text"):
            derived("happensAt(rush(+m),+time)", path)
    path.write_text("a.")
    with pytest.raises(EventideError, match="has no name größe"):
        observations_of(modes_of("modeh(initiatedAt(hot(+m),+time))\nmodeb(größe(+m,+time))")[0],
                        {"größe": pa.table({"time": [1], "m": ["a"]})}, [path], labelled=False)


def test_the_program_of_what_was_learnt_with_clingo_runs(tmp_path: Path) -> None:
    (tmp_path / "rush.lp").write_text("happensAt(rush(M),T) :- temp(M,D,T), D > 80.")
    tables = {"temp": temperatures(["a"] * 4), "hot": pa.table({"time": [2], "m": ["a"]})}
    learnt = ev.learn(f"{HEAD}modeb(happensAt(rush(+m),+time))", tables, background=[str(tmp_path / "rush.lp")],
                      mistakes_allowed=0, literal_cost=0)
    assert learnt.program.run(learnt.facts(0)).timeline()["hot(a)=true"] == [(2, None)]
