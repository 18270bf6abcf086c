"""Where names stand and on which level they are, against the analysis; what is formatted says the same as before."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import eventide
from eventide.analysis.patterns import name_of
from eventide.editor.checking import LANGUAGES, Checker
from eventide.editor.formatting import formatted
from eventide.editor.places import Lines
from eventide.program import Program, load
from eventide.syntax.event_calculus import parse

APPLICATIONS = Path(eventide.__file__).parent / "applications"
FILES = sorted(path for path in APPLICATIONS.rglob("*") if path.suffix in LANGUAGES)
IDS = [f"{path.parent.name}/{path.name}" for path in FILES]


@pytest.mark.parametrize("path", FILES, ids=IDS)
def test_every_name_begins_where_its_place_says(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    checked = Checker().check(str(path), text, LANGUAGES[path.suffix])
    lines = Lines(text)
    own = [each for each in checked.names.occurrences if each.span.source == str(path)]
    assert own
    for each in own:
        begin, end = lines.offsets(each.span)
        assert text[begin:end].lstrip("'").startswith(each.word)


@pytest.mark.parametrize("name", ["toy", "activity", "netbill", "maritime"])
def test_names_are_those_of_the_analysis(name: str) -> None:
    path = APPLICATIONS / name / "rules.ec"
    text = path.read_text(encoding="utf-8")
    names = Checker().check(str(path), text, "ec").names
    model = load(path).model
    derived = {output.template for output in model.outputs}
    assert {template for template in names.levels if names.kinds[template] != "predicate"} >= derived
    inputs = {template for template in names.templates("event", "fluent") if template not in names.levels}
    assert set(model.inputs) - derived <= inputs | set(names.levels)
    if not model.failed:
        # what reads comes above what it reads, as in the plan (which may have steps between the two)
        levels = {name: level for name, level in model.levels.items() if name in names.levels}
        order = [(a, b) for a in levels for b in levels if names.levels[a] < names.levels[b] and b in names.reads
                 and a in names.reads[b]]
        assert all(levels[a] < levels[b] for a, b in order)


def test_levels_of_a_small_hierarchy_are_the_plan_s() -> None:
    text = """
    initiatedAt(a(X)=true, T) :- happensAt(e(X), T).
    initiatedAt(b(X)=true, T) :- happensAt(e(X), T), holdsAt(a(X)=true, T).
    holdsFor(c(X)=true, I) :- holdsFor(a(X)=true, I1), holdsFor(b(X)=true, I2), union_all([I1, I2], I).
    happensAt(d(X), T) :- happensAt(start(c(X)=true), T).
    """
    names = Checker().check("<text>", text, "ec").names
    model = Program(parse(text).rules, (), {}, ()).model
    assert names.levels == {"a(_)": 1, "b(_)": 2, "c(_)": 3, "d(_)": 4}
    assert {name_of(name.partition("=")[0]): level for name, level in model.levels.items()} == {
        "a": 1, "b": 2, "c": 3, "d": 4}


def test_a_broken_clause_leaves_the_others_known() -> None:
    text = "initiatedAt(a(X)=true, T) :- happensAt(e(X), T).\ninitiatedAt(b(X)=true, T) :- holdsAt(a(\n"
    checked = Checker().check("<text>", text, "ec")
    assert checked.names.levels == {"a(_)": 1} and checked.problems


@pytest.mark.parametrize("path", FILES, ids=IDS)
def test_formatting_keeps_what_is_said(path: Path) -> None:
    language, text = LANGUAGES[path.suffix], path.read_text(encoding="utf-8")
    once = formatted(text, language)
    if once is None:
        return
    assert formatted(once, language) is None
    assert "".join(once.split()) == "".join(text.split())
    if language == "ec":
        assert parse(once).rules == parse(text).rules


PIECES = ("initiatedAt(f(X)=true, T)", " :-", "\n", "   ", "\t", "happensAt(e(X), T)", ",", ".", " % why  ", "'a  b'",
          "\n\n\n", "(", ")", "a", "%", "/*", "*/", "'", "\r\n")


@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join), st.sampled_from(["ec", "mtl", "lars"]))
def test_formatting_keeps_what_any_text_says(text: str, language: str) -> None:
    tidy = formatted(text, language)  # type: ignore[arg-type]
    if tidy is not None and language == "ec":
        assert parse(tidy).rules == parse(text).rules
        assert [d.code for d in parse(tidy).diagnostics] == [d.code for d in parse(text).diagnostics]


@given(st.text(st.sampled_from("aä𝛼\n\r\x0c\u2028 "), max_size=20), st.sampled_from(["utf-8", "utf-16", "utf-32"]))
def test_positions_lead_back_to_their_offsets(text: str, encoding: str) -> None:
    lines = Lines(text, encoding)  # type: ignore[arg-type]
    for offset in range(len(text) + 1):
        if text[offset - 1:offset + 1] == "\r\n":  # no editor stops between the two
            continue
        assert lines.offset(lines.position(offset)) == offset
    for line, row in enumerate(text.replace("\r\n", "\n").replace("\r", "\n").split("\n")):
        assert lines.offset((line, 10_000)) - lines.offset((line, 0)) == len(row)
