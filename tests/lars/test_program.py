"""LARS programs as users hold them: streams in, rows out, background, options, what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import eventide as ev
from eventide.errors import InputError
from eventide.lars.program import LarsProgram
from eventide.lars.streams import arrival_numbers, in_order, read

ROAD = "free(L) :- closed(L) [1]. jam(L) :- slow(L) [2]. :- free(L), jam(L). calm :- not any. any :- jam(L)."
EVENTS: Any = [(1, ["slow(a)"]), (3, ["closed(a)", "closed(b)"]), (6, ["slow(b)"])]


def parse(text: str, **options: Any) -> LarsProgram:
    program: LarsProgram = ev.parse(text, language="lars", **options)
    return program


def test_contradictions_are_discarded_or_flagged() -> None:
    discarded = parse(ROAD).run(EVENTS, end=9)
    assert discarded.timeline() == {"any": [(1, 3), (6, 9)], "calm": [(0, 1), (4, 6), (9, None)], "free(a)": [(4, 5)],
                                    "free(b)": [(4, 5)], "jam(a)": [(1, 3)], "jam(b)": [(6, 9)]}
    assert list(map(str, discarded.no_answer)) == ["no answer stream at 3: :- free(L), jam(L). with L = a"]
    flagged = parse(ROAD).run(EVENTS, end=9, contradictions="flag")
    assert flagged.timeline()["⊥(a)=:- free(L), jam(L)."] == [(3, 4)]
    assert flagged.timeline()["jam(a)"] == [(1, 4)] and not flagged.no_answer


def test_contradictions_above_answer_sets_are_flagged_per_answer() -> None:
    text = "c(X) :- p(X), not k(X). k(X) :- p(X), not c(X). :- c(X)."
    stream: Any = [(1, ["p(a)"])]
    assert parse(text).run(stream, end=1).to_arrow().to_pylist()[0]["fluent"] == "k"
    rows = parse(text).run(stream, end=1, models="all", contradictions="flag").to_arrow().to_pylist()
    assert sorted((row["fluent"], row["model"]) for row in rows) == [("c", 1), ("k", 2), ("⊥", 1)]


def test_streams_of_every_form_are_the_same(tmp_path: Path) -> None:
    lines = tmp_path / "road.jsonl"
    objects = [{"time": t, "facts": facts} for t, facts in EVENTS]
    lines.write_text("".join(f"{json.dumps(one)}\n" for one in objects))
    table = pa.table({"time": [1, 3, 3, 6], "event": ["slow", "closed", "closed", "slow"], "what": list("aabb")})
    by_name = {"slow": table.take([0, 3]).drop(["event"]), "closed": table.slice(1, 2).drop(["event"])}
    csv = tmp_path / "road.csv"
    csv.write_text("time,event,what\n1,slow,a\n3,closed,a\n3,closed,b\n6,slow,b\n")
    wanted = parse(ROAD).run(EVENTS, end=9).timeline()
    for events in (lines, [lines], str(csv), table, objects, by_name):
        assert parse(ROAD).run(events, end=9).timeline() == wanted


def test_background_comes_from_tables_and_files(tmp_path: Path) -> None:
    (tmp_path / "more.lars").write_text("area(c). far(X) :- seen(X), not area(X).")
    (tmp_path / "area.csv").write_text("name\na\nb\n")
    files = [str(tmp_path / "more.lars"), str(tmp_path / "area.csv")]
    program = parse("near(X) :- seen(X), area(X).", background=files)
    assert program.run([(0, ["seen(a)", "seen(c)", "seen(z)"])]).timeline() == {
        "near(a)": [(0, None)], "near(c)": [(0, None)], "far(z)": [(0, None)]}


def test_programs_are_loaded_by_their_ending(tmp_path: Path) -> None:
    (tmp_path / "laser.lars").write_text("h(X) :- time_win(2,0,1,diamond(p(X)))\n")
    program: Any = ev.load(tmp_path / "laser.lars")
    assert program.fluents == ["h"] and program.run([(1, ["p(a)"])], end=5).timeline() == {"h(a)": [(1, 4)]}


def test_start_and_end_cut_the_run() -> None:
    program = parse("y(X) :- a(X) [4].")
    result = program.run([(1, ["a(1)"]), (3, ["a(2)"]), (9, ["a(3)"])], start=2, end=5)
    assert result.timeline() == {"y(2)": [(3, None)]}
    assert (result.counts.facts, result.counts.before_start, result.counts.after_end) == (3, 1, 1)


def test_only_what_is_wanted() -> None:
    program = parse(ROAD)
    assert set(program.run(EVENTS, fluents=["any"]).timeline()) == {"any"}
    with pytest.raises(ev.EventideError, match="does not conclude slow; it concludes free, jam, calm, any"):
        program.run(EVENTS, fluents=["slow"])


def test_words_and_numbers_stay_what_they_are() -> None:
    program = parse('h(X,Y) :- p(X,Y). one :- p(1,Y). big(X) :- p(X,Y), X > 2.')
    rows = program.run([(0, ['p(1,"Street A")', "p(2.5,b)", "p(-7,b)"])]).timeline()
    assert set(rows) == {"h(1,Street A)", "h(2.5,b)", "h(-7,b)", "one", "big(2.5)"}


def test_facts_arrive_in_the_order_of_their_sources() -> None:
    facts = read([(2, ["p(a)", "s", "p(b)", "s"]), (1, ["q(3)"])])
    assert [(time, name, *row) for time, name, row in in_order(facts)] == [
        (1, "q", 3), (2, "p", "a"), (2, "s"), (2, "p", "b")]
    assert {key: numbers.tolist() for key, numbers in arrival_numbers(facts).items()} == {
        ("p", 1): [1, 3], ("s", 0): [2], ("q", 1): [0]}


def test_tables_may_take_facts_back_and_say_what_is_not_used() -> None:
    table = pa.table({"time": [1, 2, 1], "event": ["p", "p", "p"], "who": ["a", "b", "a"], "arrival": [1, 2, 5],
                      "probability": [0.5, 1.0, 0.5], "op": ["+", "+", "-"]})
    facts = read(table)
    assert [note.code for note in facts.notes] == ["arrival-unused", "probability-unused"]
    assert parse("h(X) :- p(X) [1].").run(facts, end=4).timeline() == {"h(b)": [(2, 4)]}


def test_one_name_may_have_several_numbers_of_arguments(tmp_path: Path) -> None:
    (tmp_path / "e.csv").write_text("p|1|1|a\np|1|1|a|b\np|2|2|a|b\n")
    assert parse("h(X) :- p(X) [1]. g(X,Y) :- p(X,Y).").run(tmp_path / "e.csv").timeline() == {
        "h(a)": [(1, None)], "g(a,b)": [(1, None)]}


@pytest.mark.parametrize(("stream", "code", "line"), [
    ('{"time": 1, "facts": ["p(X)"]}', "bad-fact", 1),
    ('{"time": 1, "facts": ["p"]}\n{"time": "x", "facts": []}', "bad-time-point", 2),
    ('{"time": 1, "facts": ["p"]}\n[1,2', "bad-time-point", 2),
    ('{"time": -1, "facts": ["p"]}', "negative-time", 1),
])
def test_wrong_streams(tmp_path: Path, stream: str, code: str, line: int) -> None:
    file = tmp_path / "s.jsonl"
    file.write_text(stream + "\n")
    with pytest.raises(ev.EventideError) as caught:
        read(str(file))
    (problem,) = caught.value.diagnostics
    assert (problem.code, problem.span and problem.span.line) == (code, line)


def test_bad_rows_can_be_skipped(tmp_path: Path) -> None:
    file = tmp_path / "s.jsonl"
    file.write_text('{"time": 1, "facts": ["p(X)", "p(a)"]}\nnonsense\n{"time": 2, "facts": ["p(b)"]}\n')
    facts = read(str(file), bad_rows="skip")
    assert (len(facts), facts.bad_count) == (2, 2)


def test_options_are_checked() -> None:
    program = parse("a :- b.")
    for options, message in (({"models": "most"}, "known are first, all"), ({"contradictions": "x"}, "discard, flag"),
                             ({"end": -3}, "begins at 0"), ({"fluents": "a"}, "expected a list")):
        with pytest.raises(ev.EventideError, match=message):
            program.run([], **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("events", [[(1, ["slow(a)"])], {"slow": pa.table({"time": [1], "what": ["a"]})}])
def test_unknown_options_are_refused(events: Any) -> None:
    program = parse(ROAD)
    with pytest.raises(InputError, match="no option wnidow"):
        program.run(events, wnidow=3)
    with pytest.raises(InputError, match="no option window: the windows stand in the rules"):
        program.run(read(events), window=3)
    with pytest.raises(InputError, match="no option until"):
        program.contexts(events, until=3)


def test_what_is_no_text_is_no_fact() -> None:
    facts = read([(1, ["slow(a)", ["slow(b)"], 3, None, {}])], bad_rows="skip")
    assert len(facts) == 1 and [row.diagnostic.code for row in facts.bad] == ["bad-fact"] * 4


def test_bad_time_points_are_told_with_their_line(tmp_path: Path) -> None:
    items: Any = [(1, ["a", "b"]), (2, ["a"]), (-2, ["a"]), (3, ["v(99999999999999999999)"])]
    path = tmp_path / "s.jsonl"
    path.write_text("".join(json.dumps({"time": time, "facts": facts}) + "\n" for time, facts in items))
    with pytest.raises(ev.EventideError) as caught:
        read(path)
    found = [(problem.code, problem.span.line) for problem in caught.value.diagnostics if problem.span is not None]
    assert found == [("negative-time", 3), ("bad-fact", 4)]
    assert len(read(path, bad_rows="skip")) == 3


@pytest.mark.parametrize("wrong", ["p(X)", 3, ["p(a)"]])
def test_a_session_takes_all_facts_of_a_batch_or_none(wrong: Any) -> None:
    session = parse("b(X) :- p(X) [3].").session()
    with pytest.raises(InputError, match="is no fact"):
        session.insert([(1, ["p(a)", wrong])])
    assert session.advance(to=2).added.num_rows == 0


def test_truth_maintenance_tells_every_contradiction_of_a_time_point() -> None:
    program = parse("free(R) :- closed(R) [3]. jam(R) :- slow(R) [9]. :- free(R), jam(R).")
    events: Any = [(1, ["closed(a)", "slow(b)"]), (3, ["slow(a)", "closed(b)"])]
    plain, maintained = (program.run(events, end=12, maintain=way) for way in (False, True))
    assert list(map(str, maintained.no_answer)) == list(map(str, plain.no_answer)) and len(plain.no_answer) == 2
    assert list(map(str, maintained.conflicts)) == ["closed(a)@1, slow(a)@3", "slow(b)@1, closed(b)@3"]
