"""Proofs as text, plain data and pages: folded by depth, shared parts once, however deep; the command, the report."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.engine.running import facts_of

import eventide as ev
from eventide.cli.main import main
from eventide.errors import InputError
from eventide.explanation.asking import Explainer
from eventide.explanation.pages import proof_page
from eventide.explanation.proof import AppliedRule, Fact, Proof, Reason, outline
from eventide.explanation.reduction import Claim, stretches_in
from eventide.explanation.reporting import question_of
from eventide.syntax.terms import Atom

RULES = """
initiatedAt(rich(X)=true, T) :- happensAt(win(X), T).
terminatedAt(rich(X)=true, T) :- happensAt(lose(X), T).
initiatedAt(proud(X)=true, T) :- happensAt(boast(X), T), holdsAt(rich(X)=true, T).
"""
PING_PONG = """
initiatedAt(ping=true, T) :- happensAt(tick, T), holdsAt(pong=true, T).
terminatedAt(ping=true, T) :- happensAt(tick, T), holdsAt(ping=true, T).
initiatedAt(pong=true, T) :- happensAt(tick, T), holdsAt(ping=true, T).
terminatedAt(pong=true, T) :- happensAt(tick, T), holdsAt(pong=true, T).
initiatedAt(ping=true, T) :- happensAt(serve, T).
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with rules and events."""
    monkeypatch.chdir(tmp_path)
    Path("rules.ec").write_text(RULES)
    Path("events.csv").write_text("win|3|3|ann\nlose|9|9|ann\nboast|5|5|ann\nwin|4|4|bob\n")
    return tmp_path


def chain(rules: int) -> Proof:
    """A proof of so many rules, one below the other."""
    reason = Reason("fact", "win(ann) happens at 3", fact=Fact("win", ("ann",), time=3))
    for number in range(rules):
        below = Reason("holds", f"f{number} holds", (reason,))
        reason = Reason("rule", "rule", (below,), rule=AppliedRule(f"r{number}"))
    return Proof("f", 3, True, Reason("holds", "f holds at 3", (reason,)))


def test_depth_folds_what_is_below_so_many_rules() -> None:
    assert chain(3).text(1).splitlines() == ["f holds at 3", "└─ by rule r2", "   └─ f2 holds  … 1 fact below"]
    inner = chain(3).to_dict(1)["reason"]["reasons"][0]["reasons"][0]
    assert inner == {"kind": "holds", "claim": "f2 holds", "folded": 1}
    assert chain(3).html(1).count("<details open") == 2


def test_a_reason_that_is_used_twice_is_shown_once() -> None:
    shared = Reason("holds", "g holds", (Reason("fact", "e happens", fact=Fact("e", (), time=1)),))
    proof = Proof("f", 3, True, Reason("holds", "f holds", (shared, shared)))
    assert proof.text().count("e happens") == 1 and proof.text().count("as in #1") == 1
    first, second = proof.to_dict()["reason"]["reasons"]
    assert first["id"] == 1 and second == {"see": 1}
    assert "id='p1'" in proof.html() and "href='#p1'" in proof.html()
    anchors = {re.findall(r"<details[^>]* id='(.*?)'", each._repr_html_())[0] for each in (proof, replace(proof, at=4))}
    assert len(anchors) == 2  # proofs of one notebook do not lead to one another


def test_deep_proofs_go_on_in_parts() -> None:
    proof = chain(500)
    assert max(line.level for line in outline(proof.reason)) <= 60
    assert sum(1 for line in outline(proof.reason) if line.see is None) == 1002
    assert len(json.loads(json.dumps(proof.to_dict()))["more"]) > 10
    assert proof.text().count("win(ann) happens at 3") == 1


def test_chains_longer_than_the_stack_of_calls() -> None:
    """Every state rests on the one before: the proof goes back to the beginning."""
    facts = facts_of([(("event", "serve", (), 1), None)] + [(("event", "tick", (), 3 + i), None) for i in range(30)])
    explainer = Explainer(ev.parse(PING_PONG), facts)
    case = explainer.case("ping")
    last = stretches_in(case.whole, "ping", (Atom("true"),))[-1]
    reason, prover = Claim("ping", (Atom("true"),), last.start, last).proof_in(case.whole)
    assert len(prover.used) == 31
    assert sum(line.see is None for line in outline(reason)) > 120


def test_pages_hold_no_markup_of_names() -> None:
    evil = "<script>alert(1)</script>"
    page = proof_page(Proof(evil, 3, True, Reason("fact", evil, fact=Fact(evil, (evil,), source=evil),
                                                  bindings={evil: evil}, rule=AppliedRule(evil))))
    assert "<script" not in page and page.count("&lt;script&gt;") > 3


def test_the_command(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["explain", "rules.ec", "--events", "events.csv", "--fluent", "proud(ann)=true", "--at", "8"]
    assert main([*command, "--depth", "1"]) == 0
    assert "rich(ann)=true holds at 5, since 4  … 1 fact below" in capsys.readouterr().out
    assert main([*command, "--json", "--html", "why.html", "-q"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["holds"] and found["minimal"] and found["run"]["start"] == 2
    assert [(fact["name"], fact["file"], fact["row"]) for fact in found["facts"]] == [
        ("win", "events.csv", 1), ("boast", "events.csv", 3)]
    assert "events.csv, row 3" in (folder / "why.html").read_text()


@pytest.mark.parametrize(("question", "message"), [
    ("prod(ann)=true", "did you mean proud?"),
    ("proud(ann,bob)=true", "known is proud(_)"),
    ("win(ann)=true", "win(_) is an event and has no value"),
    ("proud(ann", "is no fluent with its value"),
    ("proud(X)=true", "X in 'proud(X)=true' is a variable"),
    ("holdsAt(proud(ann)=true, 8)", "ask for proud(ann)=true alone; the time is given apart (--at)"),
    ("\\+ proud(ann)", "ask for proud(ann) alone"),
    ("proud(ann)==true", "write proud(ann)=true"),
    ("proud(ann lee)", "names with spaces or signs stand in quotes"),
])
def test_wrong_questions(folder: Path, capsys: pytest.CaptureFixture[str], question: str, message: str) -> None:
    assert main(["explain", "rules.ec", "--events", "events.csv", "--fluent", question, "--at", "8"]) == 1
    assert message in capsys.readouterr().err


def test_wrong_questions_from_python() -> None:
    program, events = ev.parse(RULES), facts_of([(("event", "win", ("ann",), 3), None)])
    wrong: dict[str, dict[str, Any]] = {
        "at which time": {}, "not a whole number": {"at": 5.5}, "one window": {"at": 5, "window": 3},
        "two query times": {"between": (1, 2, 3)}}
    for message, options in wrong.items():
        with pytest.raises(InputError, match=message):
            ev.explain(program, events, "rich(ann)", **options)
    with pytest.raises(InputError, match="no option end"):
        ev.explain(ev.parse("y :- a [4].", language="lars"), [(1, ["a"])], "y", at=2, end=3)
    with pytest.raises(InputError, match="expected a text"):
        ev.explain(program, events, 5, at=5)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="this is a str"):
        ev.explain("rules.ec", events, "rich(ann)", at=5)


def test_questions_with_numbers() -> None:
    program = ev.parse("happensAt(far(X, D), T) :- happensAt(go(X, V), T), D is V * 2, D > 3.")
    events = facts_of([(("event", "go", ("ann", 2.5), 3), None), (("event", "go", ("bob", 2), 3), None)])
    explainer = Explainer(program, events)
    assert explainer.why("go(ann,2.5)", 3).holds and explainer.why("go(ann,2.50)", 3).holds
    assert explainer.why("go(bob,2)", 3).holds and not explainer.why("go(bob,2.5)", 3).holds
    assert explainer.why("far(ann,5.0)", 3).holds and not explainer.why("far(ann,6.0)", 3).holds
    with pytest.raises(InputError, match="fast is no number"):
        explainer.why("go(ann,fast)", 3)
    program = ev.parse("initiatedAt(gone(X)=true, T) :- happensAt(go(X, _), T).")
    with pytest.raises(InputError, match="no rule reads argument 2 of go"):
        Explainer(program, events).why("go(ann,2.5)", 3)


def test_a_report_with_proofs(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "rules.ec", "--events", "events.csv", "-o", "result.csv", "-q"]) == 0
    command = ["report", "result.csv", "-o", "report.html", "--explain", "rules.ec", "--events", "events.csv"]
    assert main(command) == 0
    page = (folder / "report.html").read_text()
    assert page.count('<details id="why-') == 3 and "lose(ann) happens at 9" in page
    assert '"proofs":{"proud\\nann\\ntrue\\n2":0,' in page
    Path("other.csv").write_text("win|2|2|ann\nwin|4|4|bob\n")
    assert main([*command[:-1], "other.csv"]) == 0
    assert "2 intervals without a proof" in capsys.readouterr().err
    assert main([*command[:4], "--explain", "rules.ec"]) == 2


def test_questions_from_results() -> None:
    assert question_of("f", "", "true") == "f=true"
    assert question_of("f", "it's|Big City|ask(a,b)", "") == "f('it\\'s','Big City',ask(a,b))"
