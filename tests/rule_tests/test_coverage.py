"""Rule coverage: what fired, which conditions were true and false where they were tried, and how it is shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from eventide.applications import APPLICATIONS
from eventide.rule_tests.coverage import Coverage
from eventide.rule_tests.coverage_views import listing, page, summary
from eventide.rule_tests.levels import steps, text
from eventide.rule_tests.reading import read_tests
from eventide.rule_tests.reading import tests_in as read
from eventide.rule_tests.running import Tests

RULES = """\
price(car, 5).
price(tea, 1).
dear(X) :- price(X, P), P > 3.
initiatedAt(rich(X)=true, T) :- happensAt(win(X), T).
terminatedAt(rich(X)=true, T) :- happensAt(lose(X), T).
initiatedAt(owns(X, Y)=true, T) :-
    happensAt(buy(X, Y), T),
    holdsAt(rich(X)=true, T),
    \\+ happensAt(lose(X), T),
    dear(Y).
initiatedAt(mood(X)=V, T) :- ( happensAt(win(X), T), V = good ; happensAt(lose(X), T), V = bad ).
holdsFor(proud(X)=true, I) :-
    holdsFor(rich(X)=true, Rich),
    holdsFor(owns(X, car)=true, Owns),
    intersect_all([Rich, Owns], I).
initially(awake(ann)=true).
terminatedAt(awake(X)=true, T) :- happensAt(sleep(X), T).
initiatedAt(lamp(X)=on, T) :- happensAt(switch(X), T).
fi(lamp(X)=on, lamp(X)=off, 5).
"""


def coverage(folder: Path, lines: str) -> Coverage:
    """The coverage of one test of the rules."""
    (folder / "rules.ec").write_text(RULES)
    tests = Tests(read(f"program rules.ec\ntest \"t\"\n{lines}", str(folder / "t.ectest")))
    found = Coverage(tests.program)
    for test in tests.file.tests:
        found.add(test)
    return found


def seen(found: Coverage) -> dict[int, list[str]]:
    """What is beside each line: how often its rule fired, and T and F of its conditions."""
    return {int(line.split("|")[1]): line.split("|")[0].replace("!", "").split()
            for line in listing(found) if line.count("|") >= 2 and line.split("|")[0].strip()}


BUY = "given\n 1 win(ann)\n 3 buy(ann, car)\n"


def test_nothing_given_nothing_tried(tmp_path: Path) -> None:
    found = coverage(tmp_path, "at 9\nthen\n rich(ann)=true never\n")
    assert found.totals["clauses_fired"] == 1  # the initial value
    assert seen(found)[6] == ["never"]
    assert seen(found)[7] == ["·"]
    assert seen(found)[8] == ["··"]


def test_a_condition_counts_where_those_before_it_were_true(tmp_path: Path) -> None:
    marks = seen(coverage(tmp_path, BUY + "at 9\nthen\n owns(ann, car)=true [4, inf)\n"))
    assert (marks[6], marks[7], marks[8], marks[9]) == (["1x"], ["T"], ["T·"], ["T·"])
    assert marks[3] == ["T", "T·"]  # the definition that the rule uses: a look-up, and a test
    more = seen(coverage(tmp_path, BUY + """
 4 buy(bob, car)
 5 buy(ann, tea)
 6 buy(ann, car)
 6 lose(ann)
at 9
then
 owns(ann, car)=true [4, inf)
"""))
    assert (more[6], more[8], more[9]) == (["1x"], ["TF"], ["TF"])
    assert more[3] == ["T", "TF"]


def test_a_trigger_is_not_asked_to_be_false_where_a_value_is_named_before_it(tmp_path: Path) -> None:
    (tmp_path / "rules.ec").write_text("happensAt(alarm(X, N), T) :- happensAt(win(X), T), N is 2 + 3.\n")
    tests = Tests(read('program rules.ec\ntest "t"\ngiven\n 1 win(ann)\nthen\n alarm(ann, 5) 1\n',
                       str(tmp_path / "t.ectest")))
    found = Coverage(tests.program)
    found.add(tests.file.tests[0])
    assert [(one.true, one.can_fail) for rule in found.rules.values() for one in rule.conditions.values()] == [
        (1, False)]


def test_a_count_is_asked_to_be_false_only_where_its_number_is_known(tmp_path: Path) -> None:
    (tmp_path / "rules.ec").write_text("""\
initiatedAt(many=true, T) :-
    happensAt(end, T),
    findall(X, happensAt(win(X), T), L), length(L, N),
    N > 1.
initiatedAt(two=true, T) :-
    happensAt(end, T),
    findall(X, happensAt(win(X), T), L), length(L, 2).
""")
    lines = 'program rules.ec\ntest "t"\ngiven\n 3 end\nthen\n many=true never\n'
    tests = Tests(read(lines, str(tmp_path / "t.ectest")))
    found = Coverage(tests.program)
    found.add(tests.file.tests[0])
    assert [seen(found)[line] for line in (3, 4, 7)] == [["T"], ["·F"], ["·F"]]


def test_alternatives_of_a_rule_count_by_themselves(tmp_path: Path) -> None:
    found = coverage(tmp_path, BUY + "at 9\nthen\n mood(ann)=good [2, inf)\n")
    rule = next(rule for rule in found.rules.values() if rule.span.line == 11)
    assert rule.gap == "1 of its 2 alternatives never fired"


def test_rules_about_intervals(tmp_path: Path) -> None:
    never = seen(coverage(tmp_path, "given\n 1 win(ann)\nat 9\nthen\n rich(ann)=true [2, inf)\n"))
    assert (never[12], never[13], never[14], never[15]) == (["never"], ["T"], ["·"], ["·F"])
    some = seen(coverage(tmp_path, BUY + "at 9\nthen\n proud(ann)=true [4, inf)\n"))
    assert (some[12], some[14], some[15]) == (["1x"], ["T"], ["TF"])


def test_a_deadline_fires_when_it_is_reached(tmp_path: Path) -> None:
    given = "given\n 2 switch(x)\n"
    assert seen(coverage(tmp_path, given + "at 6\nthen\n lamp(x)=on [3, inf)\n"))[19] == ["never"]
    assert seen(coverage(tmp_path, given + "at 9\nthen\n lamp(x)=on [3, 8)\n"))[19] == ["1x"]


def test_facts_that_are_too_late_try_nothing(tmp_path: Path) -> None:
    found = coverage(tmp_path, "window 5\ngiven\n 1 win(ann) arrives 20\nat 5, 10, 15, 20\nthen\n"
                               " rich(ann)=true never\n")
    assert seen(found)[4] == ["never", "·"]


def test_gaps_are_named_at_their_places(tmp_path: Path) -> None:
    found = coverage(tmp_path, BUY + "at 9\nthen\n owns(ann, car)=true [4, inf)\n")
    gaps = {(span.line, span.column): what for span, what in found.gaps()}
    assert gaps[5, 1] == "terminated rich(_) never fired"
    assert gaps[9, 5] == "\\+ happensAt(lose(X), T) was never false"
    assert gaps[3, 25] == "P > 3, used by the rule in line 6, was never false"


def test_the_page_and_the_data_say_the_same(tmp_path: Path) -> None:
    found = coverage(tmp_path, BUY + "at 9\nthen\n owns(ann, car)=true [4, inf)\n")
    html = page([found])
    assert summary(found) in html
    assert "\\+ happensAt(lose(X), T)" in html
    assert "<script" not in html and "http" not in html
    rules = found.as_dict()["rules"]
    assert isinstance(rules, list)
    assert sum(rule["clauses"] for rule in rules) == found.totals["clauses"]


@pytest.mark.parametrize(("name", "clauses", "share"), [("toy", 1.0, 1.0), ("activity", 0.7, 0.8),
                                                        ("maritime", 1.0, 0.95)])
def test_the_shipped_tests_try_most_of_the_rules(name: str, clauses: float, share: float) -> None:
    tests = Tests(read_tests(APPLICATIONS[name].rules.with_suffix(".ectest")))
    found = Coverage(tests.program)
    for test in tests.file.tests:
        found.add(test)
    totals = found.totals
    assert totals["clauses_fired"] >= clauses * totals["clauses"]
    assert totals["outcomes_seen"] >= share * totals["outcomes"]


def test_level_by_level(tmp_path: Path) -> None:
    (tmp_path / "rules.ec").write_text(RULES)
    tests = Tests(read(f"program rules.ec\ntest \"t\"\n{BUY} 5 lose(ann) arrives 8\nat 7, 9\nthen\n rich(ann)=true 3\n",
                       str(tmp_path / "t.ectest")))
    early, late = steps(tests.program, tests.file.tests[0])
    assert early["facts"] == ["1 win(ann)", "3 buy(ann, car)"]
    assert [level["level"] for level in late["levels"]] == [1, 2, 3]
    first = {one["definition"]: one for one in late["levels"][0]["definitions"]}
    assert first["rich(_)"]["intervals"] == {"rich(ann)=true": "[2, 6)"}
    assert [(rule["does"], rule["at"]) for rule in first["rich(_)"]["rules"]] == [
        ("initiates", [{"time": 1, "arguments": ["ann"]}]), ("terminates", [{"time": 5, "arguments": ["ann"]}])]
    assert late["levels"][2]["definitions"][0]["intervals"] == {"proud(ann)=true": "[4, 6)"}
    assert "    rich(_)" in list(text(late))
