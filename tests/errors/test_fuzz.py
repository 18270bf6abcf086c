"""Whatever is done to rules and data, there are answers or errors of Eventide, never another exception."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import eventide as ev
from eventide.applications import APPLICATIONS

RULES = {name: application.rules.read_text(encoding="utf-8") for name, application in APPLICATIONS.items()}
PIECES = ["", ".", ",", "(", ")", "[", "]", "T", "X", "_", "=true", ":-", "\\+ ", "happensAt(", "holdsAt(", "holdsFor(",
          "0", "-1", "1.5", "10 ** 400", "99999999999999999999999", "X > ", "X is Y + 1, ", "union_all([I1], I)", "'",
          "%", "start(", "fi(", "p(", "findall(X, ", "length(L, N)", "\n", "fail", "!", ";", "->", "inf", "initially(",
          "[]"]
SETTINGS = settings(deadline=None,
                    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])


BACKGROUND = {name: {relation: pa.table(columns) for relation, columns in application.background(2).items()}
              for name, application in APPLICATIONS.items()}


@st.composite
def mutated_rules(draw: st.DrawFn, name: str) -> str:
    """Some consecutive clauses of a shipped program, with a few cuts, insertions and repetitions."""
    clauses = RULES[name].split("\n\n")
    first = draw(st.integers(0, len(clauses) - 1))
    text = "\n\n".join(clauses[first : first + draw(st.sampled_from([1, 3, 8, len(clauses)]))])
    for _ in range(draw(st.integers(0, 4))):
        at, width = draw(st.integers(0, len(text))), draw(st.integers(0, 12))
        piece = draw(st.sampled_from([*PIECES, text[at : at + width] * 2]))
        text = text[:at] + piece + text[at + width :]
    return text


def facts_for(program: ev.Program, draw: st.DrawFn, folder: Path) -> Path:
    """Rows for the inputs of a program: well-formed ones, and a few that are not."""
    lines = []
    for template, kind in program.model.inputs.items():
        name, arity = template.partition("(")[0], template.count("_") if "(" in template else 0
        for _ in range(draw(st.integers(0, 3))):
            time = draw(st.integers(0, 30))
            arguments = draw(st.lists(st.sampled_from(["a", "b", "3", "2.5", "true", "-1"]), min_size=arity,
                                      max_size=arity))
            values = {"event": [], "point": ["true"], "interval": [str(time + 4), "true"]}[kind]
            lines.append("|".join([name, str(time), str(time), *values, *arguments]))
    file = folder / "facts.csv"
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return file


@SETTINGS
@given(data=st.data())
def test_mutated_programs_are_checked_and_run(data: st.DataObject, tmp_path: Path) -> None:
    name = data.draw(st.sampled_from(sorted(RULES)))
    program = ev.parse(data.draw(mutated_rules(name)), background=[BACKGROUND[name]])
    for problem in program.check():
        assert problem.message and problem.render()
    with contextlib.suppress(ev.EventideError):
        program.run(facts_for(program, data.draw, tmp_path), window=data.draw(st.sampled_from([None, 5])),
                    emit=data.draw(st.sampled_from(["timeline", "windows", "changes"])))


TOY = ev.parse(RULES["toy"] + "initiatedAt(fast(X)=true, T) :- happensAt(speed(X, V), T), V > 5.")
FIELD = st.one_of(
    st.sampled_from(["go_to", "win_lottery", "speed", "5", "-3", "1.5", "", "x", "99999999999999999999", "nan", '"',
                     "'", "9223372036854775807", "-9223372036854775808", "1e400", "é", "2024-01-01", "f(a,b)", "[]"]),
    st.text(alphabet=st.characters(blacklist_categories=["Cs"]), max_size=4))
HEADERS = [[], ["time", "event", "person", "place"], ["time", "event"], ["event", "time", "arrival", "who", "op"],
           ["time", "event", "probability", "person"], ["time"], ["time", "time", "event"]]


@SETTINGS
@given(rows=st.lists(st.lists(FIELD, max_size=6), max_size=6), header=st.sampled_from(HEADERS),
       mark=st.sampled_from("|,"), bad=st.sampled_from(["fail", "skip"]),
       unit=st.sampled_from([None, "s"]))
def test_random_rows(rows: list[list[str]], header: list[str], mark: str, bad: str, unit: str | None,
                     tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    text = "\n".join(mark.join(row) for row in ([header] if header else []) + rows)
    file.write_text(text, encoding="utf-8")
    with contextlib.suppress(ev.EventideError):
        TOY.run(file, bad_rows=bad, time_unit=unit, window=10)


@SETTINGS
@given(content=st.binary(max_size=60), ending=st.sampled_from(
    [".csv", ".csv.gz", ".jsonl", ".jsonl.gz", ".parquet", ".arrow", ".feather"]))
def test_random_files(content: bytes, ending: str, tmp_path: Path) -> None:
    file = tmp_path / f"data{ending}"
    file.write_bytes(content)
    with contextlib.suppress(ev.EventideError):
        TOY.run(file)
    with contextlib.suppress(ev.EventideError):
        ev.parse(RULES["toy"], background=[f"place={file}"]).check()


@pytest.mark.parametrize("name", sorted(RULES))
def test_shipped_rules_have_no_problem_but_their_background(name: str) -> None:
    found = {problem.code for problem in ev.parse(RULES[name]).check() if problem.severity != "info"}
    assert found <= {"missing-background", "undeclared-input"}
