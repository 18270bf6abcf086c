"""What notebooks show: whole, small, self-contained pieces of HTML with everything escaped."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any

import pyarrow as pa
import pytest

import eventide as ev
from eventide.notebook import MOST_BARS, MOST_DRAWN, MOST_ROWS, table_html, timeline_html

RULES = "initiatedAt(rich(X)=true, T) :- happensAt(win(X), T). terminatedAt(rich(X)=true, T) :- happensAt(lose(X), T)."
NASTY = "<script>alert('&')</script>"
EVENTS = pa.table({"time": [3, 8, 9], "event": ["win", "lose", "win"], "who": ["ann", "ann", NASTY]})


class Pieces(HTMLParser):
    """The tags and the text of a piece; refuses tags that are left open, scripts, and anything from elsewhere."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text = ""
        self._open: list[str] = []
        self.feed(html)
        self.close()
        assert not self._open, self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag not in ("script", "link", "img", "iframe", "style")
        assert not any(name.startswith("on") or name in ("src", "href") for name, _ in attrs)
        self.tags.append(tag)
        self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def shown(value: Any) -> Pieces:
    html = value._repr_html_()
    assert NASTY not in html
    return Pieces(html)


def test_a_result_is_a_timeline_and_a_table() -> None:
    found = shown(ev.parse(RULES).run(EVENTS))
    assert found.tags.count("rect") == 2
    assert {"svg", "details", "table"} <= set(found.tags)
    assert "rich(ann) from 4 to 9" in found.text and NASTY in found.text
    assert "2 rows" in found.text


def test_windows_are_a_table_alone() -> None:
    found = shown(ev.parse(RULES).run(EVENTS, window=5, step=5, emit="windows"))
    assert "svg" not in found.tags and "query_time" in found.text


def test_a_timeline_is_a_dictionary_that_is_drawn() -> None:
    timeline = ev.parse(RULES).run(EVENTS).timeline()
    assert timeline["rich(ann)=true"] == [(4, 9)] and repr(timeline) == repr(dict(timeline))
    assert shown(timeline).tags.count("rect") == 2


def test_changes_show_what_came_and_went() -> None:
    session = ev.parse(RULES).session(window=100)
    session.insert(EVENTS)
    assert "2 came, 0 went" in shown(session.advance(to=11)).text
    session.insert(pa.table({"time": [12], "event": ["lose"], "who": [NASTY]}))
    found = shown(session.advance(to=20))
    assert "changes at 20" in found.text and "-" in found.text and "+" in found.text


@pytest.mark.parametrize(("rules", "language", "said"), [
    (RULES, "ec", ["Event Calculus program", "rich(_)", "input event", "no problems"]),
    ("Late(X) :- <>-[0,5] Sent(X), not Arrived(X).", "mtl", ["DatalogMTL program", "Late(_)", "given"]),
    ("busy(X) :- p(X) [3].", "lars", ["LARS program", "busy(_)", "input"]),
    ("initiatedAt(f(X)=true, T) :- happensAt('<b>'(X), t).", "ec", ["bad-time", "'<b>'(X)"]),
])
def test_programs_show_what_they_are_and_what_is_wrong(rules: str, language: str, said: list[str]) -> None:
    found = shown(ev.parse(rules, language=language))
    assert all(text in found.text for text in said), found.text
    assert found.tags.count("b") == 1  # the title


@pytest.mark.parametrize("language", ["mtl", "lars"])
def test_results_and_changes_of_the_other_languages(language: str) -> None:
    if language == "mtl":
        program = ev.parse("Late(X) :- <>-[1/2,2] Sent(X).", language="mtl")
        batch: Any = {"Sent": pa.table({"time": ["1/3", "7"], "x": ["a", NASTY]})}
    else:
        program = ev.parse("busy(X) :- p(X) [3].", language="lars")
        batch = [(1, ["p(a)"]), (9, ['p("<b>")'])]
    assert shown(program.run(batch)).tags.count("rect") == 2
    session = program.session()
    session.insert(batch)
    assert "came" in shown(session.advance(to=20)).text


def test_uncertain_changes_are_shown() -> None:
    session = ev.parse(RULES).session(probabilistic=True, window=100)
    session.insert(EVENTS.append_column("probability", pa.array([0.5, 0.9, 0.2])))
    assert "probability" in shown(session.advance(to=9)).text


def test_problems_and_errors_show_their_lines() -> None:
    program = ev.parse("initiatedAt(f(X)=true, T) :- happensAt('<b>'(X), t).")
    problems = program.check()
    assert isinstance(problems, list) and [each.code for each in problems] == ["bad-time"]
    found = shown(problems)
    assert "happensAt('<b>'(X), t)." in found.text and "^" in found.text
    assert "error" in shown(problems[0]).text
    with pytest.raises(ev.EventideError) as caught:
        program.run(EVENTS)
    assert "is not a time-point" in shown(caught.value).text


def test_many_intervals_of_one_fluent_are_cut_and_counted() -> None:
    found = Pieces(timeline_html(("f(a)", 2 * number, 2 * number + 1) for number in range(MOST_DRAWN + 20)))
    assert found.tags.count("rect") == MOST_DRAWN
    assert f"drawn from the first {MOST_DRAWN:,} of {MOST_DRAWN + 20:,} intervals" in found.text
    times = list(range(4 * MOST_DRAWN))
    events = pa.table({"time": times, "event": ["win", "lose"] * (2 * MOST_DRAWN), "who": ["ann"] * len(times)})
    found = shown(ev.parse(RULES).run(events))
    assert f"drawn from the first {MOST_DRAWN:,} of {2 * MOST_DRAWN:,} intervals" in found.text


def test_long_cells_and_long_lists_are_cut() -> None:
    assert "… (9,000 characters)" in Pieces(table_html(["a"], [["x" * 9000]])).text
    rules = "\n".join(f"initiatedAt(f{number}(X)=true, t) :- happensAt(e(X), T)." for number in range(150))
    problems = ev.parse(rules).check()
    assert len(problems) == 150 and "and 50 more" in shown(problems).text
    many = "\n".join(f"initiatedAt(f{number}(X)=true, T) :- happensAt(e(X), T)." for number in range(MOST_ROWS + 9))
    assert f"{MOST_ROWS + 10} names, the first {MOST_ROWS} shown" in shown(ev.parse(many)).text


@pytest.mark.parametrize("bar", [(float("nan"), 3), (float("-inf"), float("inf")), (10**30, 10**30 + 5), (5, 3),
                                 ("1/3", "inf")])
def test_times_of_every_kind_are_drawn(bar: tuple[Any, Any]) -> None:
    html = timeline_html([("f", *bar)])
    Pieces(html)
    assert "nan" not in html and "inf" not in html


def test_the_axis_names_times_that_are_there() -> None:
    axis = Pieces(timeline_html([("f", 3, 9), ("g", 10, None)])).text.rpartition("…")[2]
    assert axis == "310"
    assert Pieces(timeline_html([("f", 5, None)])).text.endswith("from 5 to …5")


def test_long_timelines_are_cut_and_empty_ones_say_so() -> None:
    found = Pieces(timeline_html((f"f({number})", 0, 5) for number in range(MOST_BARS + 7)))
    assert found.tags.count("rect") == MOST_BARS and "and 7 more lines" in found.text
    assert "nothing was recognised" in Pieces(timeline_html([])).text
    assert Pieces(timeline_html([("f", None, None), ("g", 3, 3)])).tags.count("rect") == 2
