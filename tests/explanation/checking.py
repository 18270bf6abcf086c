"""What must be so of every explanation, whatever the program: proofs are enough, true and minimal; refusals have a
reason."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tests.engine.running import facts_of
from tests.oracle.store import Fact

import eventide as ev
from eventide.errors import InputError
from eventide.explanation import proof as proofs
from eventide.explanation.asking import Explainer
from eventide.explanation.reduction import Claim, Reduction
from eventide.explanation.reporting import question_of
from eventide.explanation.worlds import Stretch
from eventide.formats.facts import Facts

Row = dict[str, Any]


class Run:
    """A program over some facts, and questions about what follows."""

    def __init__(self, program: ev.Program, facts: Facts, **options: Any) -> None:
        self.program = program
        self.explainer = Explainer(program, facts, **options)
        self.rows: list[Row] = program.run(facts, **options).to_arrow().to_pylist()

    def holds(self, row: Row, at: int) -> bool:
        """Whether the value of a row holds, or its event happens, at a time."""
        return any(_same(row, other) and other["start"] <= at and (other["end"] is None or at < other["end"])
                   for other in self.rows)


def plain(fact: proofs.Fact) -> Fact:
    """A fact of a proof as the generator has it."""
    if fact.value is None:
        return ("event", fact.name, fact.args, fact.time)
    if fact.end is None:
        return ("point", fact.name, fact.args, fact.value, fact.time)
    return ("interval", fact.name, fact.args, fact.value, fact.time, fact.end)


def check_proof(run: Run, row: Row, at: int) -> None:
    """The facts of a proof of a row of the result give it again, and fewer of them only with what is not so."""
    question = question_of(row["fluent"], row["args"], row["value"])
    proof = run.explainer.why(question, at)
    assert proof.holds and proof.minimal, proof.text()
    interval = (row["start"], row["end"]) if row["value"] else None
    assert interval is None or tuple(proof.reason.interval or ()) == interval
    facts = [plain(fact) for fact in proof.facts]
    assert not facts or gives(run, proof, facts, row)
    for number in range(len(facts)):
        fewer = facts[:number] + facts[number + 1:]
        if fewer and gives(run, proof, fewer, row):
            assert not is_sound(run, question, at, interval, fewer), f"{facts[number]} is idle"
    unknown = [reason.claim for reason in proofs.reasons_in(proof.reason) if reason.holds is not True]
    assert not unknown, proof.text()
    assert {str(fact) for fact in proofs.facts_in(proof.reason)} == {str(fact) for fact in proof.facts}


def gives(run: Run, proof: proofs.Proof, facts: Sequence[Fact], row: Row) -> bool:
    """Whether a run over some facts alone, with the options that a proof names, has the row."""
    try:
        found = run.program.run(facts_of((fact, None) for fact in facts), **proof.run).to_arrow().to_pylist()
    except InputError:
        return False
    return row in found


def is_sound(run: Run, question: str, at: int, interval: tuple[int, int | None] | None, facts: list[Fact]) -> bool:
    """Whether fewer facts have a proof of the same that is true in all the data: then one was idle."""
    template, texts = run.explainer.question(question)
    case = run.explainer.case(template)
    leaves = run.explainer.leaves(case, template, texts, "e" if interval is None else "f")
    known = {id_: plain(case.fact(id_)) for id_ in case.all_facts}
    chosen = [next(id_ for id_, fact in known.items() if fact == wanted) for wanted in facts]
    claim = Claim(template, leaves, at, None if interval is None else Stretch(*interval))
    return Reduction(case, claim).is_sound(chosen)


def check_refusal(run: Run, question: str, at: int) -> None:
    """Of what does not hold it is said so, with a reason; every rule that is named has a condition that fails."""
    proof = run.explainer.why(question, at)
    assert not proof.holds
    assert proof.reason.reasons
    assert str(proof) and proof.html() and proof.to_dict(1)
    for reason in proofs.reasons_in(proof.reason):
        assert "no rule was found" not in reason.claim, proof.text()
        if reason.kind == "rule" and reason.holds is False:
            assert any(inner.holds is not True for inner in reason.reasons), proof.text()


def edges(run: Run, row: Row) -> list[int]:
    """Times around the interval of a row at which its value does not hold."""
    near = {row["start"] - 1, row["start"] - 2, *([] if row["end"] is None else [row["end"], row["end"] + 1])}
    return sorted(time for time in near if not run.holds(row, time))


def _same(row: Row, other: Row) -> bool:
    return all(row[name] == other[name] for name in ("fluent", "args", "value"))
