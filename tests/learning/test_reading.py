"""Files and tables of examples, with background knowledge in two languages; and learning from them as users do."""

from __future__ import annotations

import pickle
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import eventide as ev
from eventide.errors import EventideError, InputError, ProgramError
from eventide.formats.background import Clauses
from eventide.learning.background import observations_of
from eventide.learning.examples import Examples
from eventide.learning.learned import Learned, modes_of
from eventide.learning.modes import Modes
from eventide.learning.reading import read_examples

MODES = """modeh(initiatedAt(rich(+person),+time))
modeh(terminatedAt(rich(+person),+time))
modeb(happensAt(win(+person),+time))
modeb(happensAt(lose(+person),+time))
"""
WINS = {"time": [1, 4, 9, 2], "who": ["ann", "bob", "ann", "bob"]}
LOSES = {"time": [6], "who": ["ann"]}


def modes(text: str = MODES) -> Modes:
    return modes_of(text)[0]


def shown(examples: Examples) -> list[Any]:
    """All that examples say, in words."""
    found: list[Any] = []
    for batch in examples.batches(1 << 40):
        names = [[str(examples.domains[kind][code]) for kind, code in zip(examples.types, row, strict=True)]
                 for row in batch.arguments.tolist()]
        labels = batch.labels.reshape(len(names), -1).astype(int).tolist()
        facts = sorted((each.mode.subject, *(str(column[row] if i in (each.time, each.threshold)
                                                 else examples.domains[each.mode.places[i].type][column[row]])
                                             for i, column in enumerate(each.codes)))
                       for each in batch.facts for row in range(len(each.codes[0])))
        found.append((str(batch.stream), batch.times.tolist(), names, labels, facts))
    return found


@pytest.fixture
def plain() -> list[Any]:
    labels = pa.table({"time": [2, 4, 6, 4, 6, 9], "who": ["ann"] * 3 + ["bob"] * 3})
    return shown(read_examples(modes(), {"win": pa.table(WINS), "lose": pa.table(LOSES), "rich": labels}
                               ).examples("rich"))


LABELS: dict[str, dict[str, Any]] = {
    "intervals": {"start": [2, 3], "end": [7, None], "who": ["ann", "bob"]},
    "intervals, with a value": {"time": [2, 3, 2], "end": [7, 50, 99], "value": ["true", "true", "false"],
                                "who": ["ann", "bob", "bob"]},
    "points of nothing that is observed": {"time": [2, 3, 4, 5, 6, 4, 6, 9], "who": ["ann"] * 5 + ["bob"] * 3}}


@pytest.mark.parametrize("form", LABELS)
def test_labels_as_points_and_as_intervals(form: str, plain: list[Any]) -> None:
    found = read_examples(modes(), {"win": pa.table(WINS), "lose": pa.table(LOSES), "rich": pa.table(LABELS[form])})
    assert shown(found.examples("rich")) == plain


def test_labels_as_a_run_writes_them(plain: list[Any]) -> None:
    result = pa.table({"fluent": ["rich", "rich"], "args": ["ann", "bob"], "value": ["true", "true"], "start": [2, 3],
                       "end": [7, None]})
    found = read_examples(modes(), [{"win": pa.table(WINS), "lose": pa.table(LOSES)}, result])
    assert shown(found.examples("rich")) == plain


def test_files_of_all_kinds(tmp_path: Path, plain: list[Any]) -> None:
    (tmp_path / "events").mkdir()
    pq.write_table(pa.table(WINS), tmp_path / "events" / "win.parquet")
    (tmp_path / "rest.csv").write_text("time,end,event,who\n6,,lose,ann\n2,7,rich,ann\n3,,rich,bob\n")
    found = read_examples(modes(), [str(tmp_path / "events"), str(tmp_path / "rest.csv")])
    assert shown(found.examples("rich")) == plain
    (tmp_path / "all.lp").write_text(
        "happensAt(win(ann),1). happensAt(win(bob),4). happensAt(win(ann),9). happensAt(win(bob),2).\n"
        "happensAt(lose(ann),6). other(1). holdsAt(rich(ann),2). holdsAt(rich(ann)=true,4). holdsAt(rich(ann),6).\n"
        "holdsAt(rich(bob),4). holdsAt(rich(bob),6). holdsAt(rich(bob),9).")
    ((stream, *rest),) = shown(read_examples(modes(), tmp_path / "all.lp").examples("rich"))
    assert (stream, rest) == ("all", list(plain[0][1:]))


def test_streams() -> None:
    wins = pa.table({"video": ["b", "b", "a"], "frame": [1, 5, 3], "who": ["ann", "ann", "cid"]})
    labels = pa.table({"video": ["a", "b"], "start": [1, 2], "end": [4, 9], "who": ["cid", "ann"]})
    found = read_examples(modes(), {"win": wins, "rich": labels}).examples("rich")
    assert [(stream, times, labels) for stream, times, _, labels, _ in shown(found)] == [
        ("b", [1, 5], [[0, 1]]), ("a", [3], [[1]])]


def test_constants_and_values_of_fluents() -> None:
    own = modes("modeh(initiatedAt(late(+bus)=yes,+time))\nmodeb(holdsAt(speed(+bus)=slow,+time))\n"
                "modeb(happensAt(stop(+bus,long),+time))\nexamplePattern(holdsAt(late(+bus)=yes,+time))")
    found = read_examples(own, {
        "speed": pa.table({"time": [1, 2, 3], "bus": [7, 7, 7], "value": ["slow", "fast", "slow"]}),
        "stop": pa.table({"time": [2, 5], "bus": [7, 7], "how": ["long", "short"]}),
        "late": pa.table({"time": [2, 3], "bus": [7, 7], "value": ["yes", "no"]})}).examples("late")
    ((_, times, _, labels, facts),) = shown(found)
    assert (times, labels) == ([1, 2, 3], [[0, 1, 0]])
    assert facts == [("speed", "7", "1"), ("speed", "7", "3"), ("stop", "7", "2")]


RAW = """modeh(initiatedAt(chased(+person),+time))
modeb(close(+person,-person,+time))
modeb(holdsAt(armed(+person),+time))
modeb(police(+person))
inputPredicate(at(+person,+place,+time))
inputPredicate(happensAt(draws(+person),+time))
"""
SEEN = {"at": pa.table({"time": [1, 1, 3, 3, 5], "who": ["ann", "bob", "ann", "bob", "bob"], "where": [3, 5, 3, 9, 9]}),
        "draws": pa.table({"time": [1], "who": ["bob"]}), "chased": pa.table({"time": [3], "who": ["ann"]})}
IN_EC = """happensAt(close(X, Y), T) :- happensAt(at(X, A), T), happensAt(at(Y, B), T), X \\= Y, A - B < 3, B - A < 3.
initiatedAt(armed(X)=true, T) :- happensAt(draws(X), T).
officer(bob).
police(X) :- officer(X).
"""
IN_ASP = """close(X,Y,T) :- at(X,A,T), at(Y,B,T), X != Y, A-B < 3, B-A < 3.
time(T) :- at(_,_,T).
holdsAt(armed(X),T) :- happensAt(draws(X),S), time(T), S < T.
officer(bob). police(X) :- officer(X).
"""


def test_background_in_two_languages(tmp_path: Path) -> None:
    (tmp_path / "b.lp").write_text(IN_ASP)
    by_clingo = observations_of(modes(RAW), SEEN, [str(tmp_path / "b.lp")])
    by_engine = observations_of(modes(RAW), SEEN, [Clauses("b.ec", IN_EC)])
    assert by_engine.derived == {"close", "armed"}
    wanted = shown(by_clingo.examples("chased"))
    assert shown(by_engine.examples("chased")) == wanted
    facts = wanted[0][-1]
    assert [fact for fact in facts if fact[0] in ("close", "armed", "police")] == [
        ("armed", "bob", "3"), ("armed", "bob", "5"), ("close", "ann", "bob", "1"), ("close", "bob", "ann", "1"),
        ("police", "bob")]


PROBLEMS: dict[str, tuple[dict[str, Any], str]] = {
    "an unknown name": ({"wim": pa.table(WINS)}, "did you mean 'win'"),
    "no labels": ({"win": pa.table(WINS)}, "no example is labelled with rich; give a table rich=FILE"),
    "a missing argument": ({"win": pa.table({"time": [1]})}, "win has 0 arguments here, expected 1 argument"),
    "a time that is none": ({"win": pa.table({"time": ["x"], "who": ["ann"]})}, "time is 'x'"),
    "no stream": ({"win": pa.table({"stream": ["a", None], "time": [1, 2], "who": ["ann", "bob"]})},
                  "the stream is empty"),
    "streams in some tables": ({"win": pa.table({"stream": [0, 1], "time": [1, 2], "who": ["ann", "bob"]}),
                                "lose": pa.table(LOSES), "rich": pa.table(LOSES)},
                               r"the table lose has no column stream \(or video\), but win does"),
    "a start without an end": ({"win": pa.table(WINS), "rich": pa.table({"start": [2], "who": ["ann"]})},
                               "a column start without a column end"),
    "a date": ({"win": pa.table({"time": ["2025-06-14"], "who": ["ann"]})}, "no unit of time is declared"),
    "an object": ({"win": 7}, "cannot read examples from a int")}


@pytest.mark.parametrize("case", PROBLEMS)
def test_what_is_wrong_is_told(case: str) -> None:
    sources, message = PROBLEMS[case]
    with pytest.raises(InputError, match=message):
        read_examples(modes(), sources, ["rich"])


def test_values_of_fluents_that_no_column_says() -> None:
    own = modes("modeh(initiatedAt(state(+person)=3,+time))\nmodeb(happensAt(win(+person),+time))")
    found = read_examples(own, {"win": pa.table(WINS), "state": pa.table(LOSES | {"time": [4]})}, ["state"])
    assert found.examples("state").label_points.tolist() == [2]
    for shapes in ("modeb(holdsAt(mood(+person)=#mood,+time))",
                   "modeb(holdsAt(mood(+person)=good,+time))\nmodeb(holdsAt(mood(+person)=bad,+time))"):
        with pytest.raises(InputError, match="no column value, and mood may have several"):
            read_examples(modes(MODES + shapes), {"win": pa.table(WINS), "mood": pa.table(LOSES)})


def test_a_thing_is_a_number_or_a_text_in_all_tables() -> None:
    other = pa.table({"time": [20], "who": [7]})
    with pytest.raises(EventideError, match="a number in some tables and text in others"):
        read_examples(modes(), {"win": [pa.table(WINS), other], "rich": pa.table(LOSES)}).examples("rich")


@pytest.mark.parametrize(("constant", "values", "written"), [("-5", [-5.0, 2.5], "-5.0"), ("2.0", [1, 2], "2")])
def test_constants_of_modes_are_numbers_as_the_facts_have_them(constant: str, values: list[Any], written: str) -> None:
    text, tables = MODES + "modeb(level({},+time))", {"level": pa.table({"time": [1, 2], "n": values})}
    with pytest.raises(EventideError, match=f"write {written}$"):
        read_examples(modes(text.format(constant)), tables).examples("rich")
    found = read_examples(modes(text.format(written)), tables).examples("rich").facts
    assert [len(each.codes[0]) for each in found if each.mode.subject == "level"] == [1]


def test_streams_may_be_dates() -> None:
    days = [date(2024, 1, 1), date(2024, 1, 2)]
    tables = {name: pa.table({"stream": days, "time": [1, 1], "who": ["ann", "bob"]}) for name in ("win", "rich")}
    assert read_examples(modes(), tables, ["rich"]).examples("rich").streams == ("2024-01-01", "2024-01-02")


def test_what_is_wrong_with_background_is_told(tmp_path: Path) -> None:
    own = modes("modeh(initiatedAt(f(+p),+time))\nmodeb(happensAt(e(+p),+time))\ninputPredicate(v(+p,#n,+time))")
    for text, column, message in (("{a}.", [1], "several answer sets"), (":- not b.", [1], "no answer set"),
                                  ("a :- b", [1], "clingo cannot read"), ("a.", [0.5], "whole numbers only"),
                                  ("a.", [1 << 31], "have 32 bits"), ("a.", [-(1 << 31)], "have 32 bits")):
        (tmp_path / "b.lp").write_text(text)
        with pytest.raises(EventideError, match=message):
            observations_of(own, {"v": pa.table({"time": [1], "p": ["x"], "n": column}),
                                  "f": pa.table({"time": [1], "p": ["x"]})}, [str(tmp_path / "b.lp")])
    with pytest.raises(EventideError, match="not of both"):
        observations_of(own, {}, [str(tmp_path / "b.lp"), Clauses("b.ec", "p(a).")])
    (tmp_path / "e.lp").write_text("a :- b.")
    with pytest.raises(InputError, match="a rule among the facts of examples"):
        read_examples(own, tmp_path / "e.lp")


@pytest.mark.parametrize("form", ["text", "datetimes"])
def test_times_that_are_dates(form: str, plain: list[Any]) -> None:
    def dates(seconds: list[int | None]) -> Any:
        column = pa.array(seconds, pa.timestamp("s"))
        return column if form == "datetimes" else pa.array(
            [None if each is None else f"1970-01-01 00:00:0{each}" for each in seconds])

    given = {"win": {**WINS, "time": dates(WINS["time"])}, "lose": {**LOSES, "time": dates(LOSES["time"])},
             "rich": {"start": dates([2, 3]), "end": dates([7, None]), "who": ["ann", "bob"]}}
    found = read_examples(modes(), {name: pa.table(each) for name, each in given.items()}, time_unit="s")
    assert shown(found.examples("rich")) == plain
    with pytest.raises(InputError, match="time_unit is 'h', expected 's', 'ms', 'us' or 'ns'"):
        read_examples(modes(), {}, time_unit="h")  # type: ignore[arg-type]


DAYS = MODES + "inputPredicate(happensAt(day,+time))\n"


def people(videos: int = 3) -> dict[str, pa.Table]:
    """Who wins, every fifth day, is rich until they lose."""
    rows = [(f"v{video}", who, day, (day + video) % 5)
            for video in range(videos) for who in ("ann", "bob") for day in range(40)]
    turns = {"win": (0,), "lose": (3,), "rich": (1, 2, 3)}
    found = {name: pa.table({"stream": [video for video, _, _, turn in rows if turn in own],
                             "time": [day for _, _, day, turn in rows if turn in own],
                             "who": [who for _, who, _, turn in rows if turn in own]}) for name, own in turns.items()}
    return found | {"day": pa.table({"stream": [row[0] for row in rows], "time": [row[2] for row in rows]})}


def facts_of_stream(stream: str, *names: str) -> dict[str, pa.Table]:
    return {name: people()[name].filter(pc.equal(people()[name]["stream"], stream)).drop_columns(["stream"])
            for name in names}


def rows_of(found: pa.Table, stream: str = "v0") -> list[dict[str, Any]]:
    return [{name: row[name] for name in ("fluent", "args", "value", "start", "end")} for row in found.to_pylist()
            if row["stream"] == stream]


@pytest.fixture(scope="module")
def learnt() -> Learned:
    return ev.learn(DAYS, people(), batch=10)


def test_learning_finds_the_definition(learnt: Learned) -> None:
    assert [str(rule.clause) for rule in learnt.rules] == [
        "initiatedAt(rich(X), T) :- happensAt(win(X), T).", "terminatedAt(rich(X), T) :- happensAt(lose(X), T)."]
    curve = learnt.curve.to_pylist()
    assert [row["stream"] for row in curve] == ["v0"] * 4 + ["v1"] * 4 + ["v2"] * 4
    assert curve[-1]["mistakes"] == sum(row["fp"] + row["fn"] for row in curve)
    assert curve[-1]["loss"] == curve[-1]["mistakes"] / len(curve)
    assert [step.kind for step in learnt.trace] == ["added", "added"]


def test_the_program_finds_what_is_predicted(learnt: Learned, tmp_path: Path) -> None:
    learnt.save(tmp_path / "rules.ec")
    assert (tmp_path / "rules.ec").read_text() == learnt.text
    for stream in ("v0", "v2"):
        given = facts_of_stream(stream, "win", "lose", "day")
        found = learnt.program.run(given).to_arrow().to_pylist()
        assert found == rows_of(learnt.predict(), stream) == rows_of(learnt.predict(given), "0")


def test_learning_goes_on(learnt: Learned) -> None:
    by_parts = ev.learn(DAYS, people(1), batch=10)
    assert by_parts.partial_fit(people(), batch=10) is by_parts
    assert {row["stream"] for row in by_parts.curve.to_pylist()} == {"v0", "v1", "v2"}
    assert [rule.clause for rule in by_parts.rules] == [rule.clause for rule in learnt.rules]


@pytest.mark.parametrize("method", ["woled", "paper", "oled"])
def test_streams_one_by_one_are_learnt_from_as_all_together(method: str) -> None:
    once, parts = ev.learn(DAYS, people(), batch=10, method=method), people()
    own = [{name: each.filter(pc.equal(each["stream"], stream)) for name, each in parts.items()}
           for stream in ("v0", "v1", "v2")]
    learnt = ev.learn(DAYS, own[0], batch=10, method=method)
    for each in own[1:]:
        saved = pickle.loads(pickle.dumps(learnt))
        assert saved.partial_fit(each, batch=10).text == learnt.partial_fit(each, batch=10).text
    assert learnt.text == once.text
    assert learnt.curve.drop(["pass", "seconds"]) == once.curve.drop(["pass", "seconds"])
    assert [str(step) for step in learnt.trace] == [str(step) for step in once.trace]


def test_examples_that_are_refused_change_nothing() -> None:
    learnt = ev.learn(DAYS, people(1), batch=10)
    before = learnt.text, learnt.predict(), learnt.facts("v0")
    nothing = {name: each.slice(0, 0) for name, each in people(1).items()}
    for wrong, options, message in ((nothing, {}, "there is nothing to learn rich from"),
                                    (people(2), {"batch": 2.5}, "batch is a whole number, not 2.5"),
                                    (people(2), {"passes": 0}, "gone through at least once"),
                                    (people(2), {"seed": -1}, "seed is at least 0"),
                                    ({"win": people(2)["win"]}, {}, "no example is labelled with rich")):
        with pytest.raises(EventideError, match=message):
            learnt.partial_fit(wrong, **options)  # type: ignore[arg-type]
    assert (learnt.text, learnt.predict(), learnt.facts("v0")) == before
    # Of later examples the facts are at hand too.
    learnt.partial_fit(people(), batch=10)
    wins = facts_of_stream("v2", "win")["win"]["time"].to_pylist()
    assert learnt.facts("v2")["win"]["time"].to_pylist() == sorted(wins)


def test_rules_stay_as_they_are_if_later_examples_lack_some_kinds_of_facts() -> None:
    """Constants keep their kind, intervals stay intervals."""
    text = MODES + "modeb(happensAt(dose(+person,#n),+time))\nmodeb(holdsAt(calm(+person),+time))\n"
    doses = pa.table({"time": [1, 4, 6, 9, 11, 14], "who": ["ann"] * 6, "n": [0.5, 1.5] * 3})
    rich = pa.table({"time": [6, 9, 11, 14], "who": ["ann"] * 4})
    calm = pa.table({"start": [4, 9], "end": [7, 12], "who": ["ann"] * 2})
    learnt = ev.learn(text, {"dose": doses, "rich": rich, "calm": calm}, batch=3, literal_cost=0)
    before = [str(rule.clause) for rule in learnt.rules]
    assert any("1.5" in rule for rule in before)
    learnt.partial_fit({"win": pa.table({"time": [1, 2], "who": ["ann"] * 2}), "rich": rich.slice(0, 0)}, batch=3)
    assert "1.5)" in learnt.text and "collectIntervals(calm(_)=true)." in learnt.text


def test_wrong_options_are_told() -> None:
    for options, message in (({"settings": {"memory": 3}}, "settings are a dict"), ({"target": []}, "no target"),
                             ({"batch": "50"}, "batch is a whole number"), ({"seed": True}, "seed is a whole number"),
                             ({"members": 2.5}, "members is a whole number"), ({"batch": None}, "batch is a whole"),
                             ({"seed": 0.5, "members": 2}, "seed is a whole"), ({"race": True, "seed": -1}, "least 0")):
        with pytest.raises(InputError, match=message):
            ev.learn(DAYS, people(1), **options)


def test_dates_are_learnt_from_and_found() -> None:
    def dated(given: pa.Table) -> pa.Table:
        return given.set_column(1, "time", pc.add(given["time"], 1_700_000_000).cast(pa.timestamp("s")))

    learnt = ev.learn(DAYS, people(), batch=10)
    found = ev.learn(DAYS, {name: dated(each) for name, each in people().items()}, batch=10, time_unit="s")
    assert [rule.clause for rule in found.rules] == [rule.clause for rule in learnt.rules]
    starts = found.predict({name: dated(each) for name, each in people().items()})["start"].to_pylist()
    assert starts == [start + 1_700_000_000 for start in learnt.predict()["start"].to_pylist()] != []


def test_a_stream_without_labels_is_learnt_from_too() -> None:
    """It says where rules are wrong; a table that is missing altogether is a slip."""
    learnt, later = ev.learn(DAYS, people(1), batch=10), people(1)
    rules = learnt.rules
    learnt.partial_fit({name: each if name != "rich" else each.slice(0, 0) for name, each in later.items()}, batch=10)
    assert learnt.curve["fp"].to_pylist()[-4:] != [0] * 4 and learnt.curve["fn"].to_pylist()[-4:] == [0] * 4
    assert learnt.rules != rules
    with pytest.raises(InputError, match="no example is labelled with rich"):
        learnt.partial_fit({name: each for name, each in later.items() if name != "rich"})


def test_orders_and_methods() -> None:
    orders = [ev.learn(DAYS, people(), batch=40, seed=seed).curve["stream"].to_pylist() for seed in (0, 0, 1, 2)]
    assert orders[0] == orders[1] and len({tuple(order) for order in orders}) > 1
    crisp = ev.learn(DAYS, people(), method="oled", batch=10, passes=3)
    assert "weight(1.0)::" in crisp.text
    found = crisp.program.run(facts_of_stream("v0", "win", "lose", "day"), fluents=["rich"]).to_arrow().to_pylist()
    assert found == rows_of(crisp.predict())
    several = ev.learn(DAYS, people(), members=3, batch=10)
    assert any(rule.weight < 0 and not rule.clause.body for rule in several.rules)
    found = several.program.run(facts_of_stream("v0", "win", "lose", "day"), fluents=["rich"]).to_arrow().to_pylist()
    assert found == rows_of(several.predict()) != []
    with pytest.raises(EventideError, match="did you mean 'memory'"):
        ev.learn(DAYS, people(), memry=3)


def test_several_fluents_with_background() -> None:
    both = DAYS + "modeh(initiatedAt(sad(+person),+time))\nmodeh(terminatedAt(sad(+person),+time))\n" \
                   "modeb(happensAt(broke(+person),+time))\n"
    rules = Clauses("b.ec", "happensAt(broke(X), T) :- happensAt(lose(X), T).")
    sad = {"stream": ["v0"] * 2, "start": [4, 4], "end": [None, None], "who": ["ann", "bob"]}
    given = people(1) | {"sad": pa.table(sad)}
    found = ev.learn(both, given, background=[rules], batch=10)
    assert set(found.targets) == {"rich", "sad"} and "broke(_)" not in found.text.partition("weight")[0]
    rows = found.program.run(facts_of_stream("v0", "win", "lose", "day"), fluents=["rich", "sad"])
    assert rows.to_arrow().to_pylist() == rows_of(found.predict())
    only = ev.learn(both, given, background=[rules], target="sad", batch=10)
    assert list(only.targets) == ["sad"]
    with pytest.raises(InputError, match="no modeh is about 'mad'; did you mean 'sad'"):
        ev.learn(both, given, target="mad")


def test_modes_are_refused_at_their_place(tmp_path: Path) -> None:
    (tmp_path / "m.modes").write_text("modeh(initiatedAt(rich(+person),+time))\nmodeb(happensAt(win(person,+time))\n")
    with pytest.raises(ProgramError, match=r"m\.modes:2:"):
        ev.learn(tmp_path / "m.modes", {})
