"""What must be so of every explanation of a DatalogMTL program: proofs are enough, true and minimal; refusals are
true and have a reason."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from tests.oracle.mtl import Atom, Model, Span, Variable, literals_in
from tests.oracle.mtl_text import literal_of

import eventide as ev
from eventide.explanation.metric import parsed_atom
from eventide.explanation.metric_cases import MetricCase
from eventide.explanation.metric_reduction import MetricClaim, MetricReduction
from eventide.explanation.proof import Fact, Proof, reasons_in
from eventide.mtl.cells import DenseFacts
from eventide.mtl.facts import facts_in
from eventide.mtl.program import MtlProgram

_SAID = re.compile(r"(.+?) (does not hold|holds|is given) (at all times|(?:at|during|for) (\S+))")


def span_of(text: str) -> Span:
    """An interval or an instant as the oracle has it."""
    if text == "at all times":
        return Span(None, False, None, False)
    if text[0] not in "[(":
        return Span(Fraction(text), True, Fraction(text), True)
    low, high = text[1:-1].split(",")
    return Span(None if low == "-inf" else Fraction(low), text[0] == "[", None if high == "inf" else Fraction(high),
                text[-1] == "]")


def time_in(span: Span) -> Fraction:
    """Some time of an interval."""
    low, high = span.low, span.high
    if low is None or high is None:
        return low + 7 if low is not None else high - 7 if high is not None else Fraction(7)
    return low if span.low_closed else high if span.high_closed else (low + high) / 2


def line_of(fact: Fact) -> str:
    """A fact of a proof as a line of a file."""
    if fact.sides is None:
        return f"{fact}@{fact.time}"
    left, right = fact.sides
    return (f"{fact}@{'[' if left == 'closed' else '('}{fact.time},{'inf' if fact.end is None else fact.end}"
            f"{']' if right == 'closed' else ')'}")


def interval_from(program: MtlProgram, lines: Sequence[str], proof: Proof) -> str | None:
    """The maximal interval that a question is about, by a run over some facts alone."""
    run: dict[str, Any] = dict(proof.run)
    name = proof.question.partition("(")[0]
    timeline = program.run(facts_in("\n".join(lines)), fluents=[name], **run).timeline()
    return next((text for text in timeline.get(proof.question, ()) if proof.at in span_of(text)), None)


def check_proof(program: MtlProgram, facts: DenseFacts, atom: str, interval: str, **options: Any) -> Proof:
    """The facts of a proof give the interval again, and fewer of them only by denying what is so in all the data."""
    at = time_in(span_of(interval))
    proof = ev.explain(program, facts, atom, at, **options)
    assert proof.holds and proof.minimal, str(proof)
    lines = [line_of(fact) for fact in proof.facts]
    assert interval_from(program, lines, proof) == interval, str(proof)
    for number in range(len(lines)):
        fewer = lines[:number] + lines[number + 1:]
        if interval_from(program, fewer, proof) == interval:
            assert not _is_sound(program, facts, proof, fewer), f"{lines[number]} is idle in {proof}"
    reasons = list(reasons_in(proof.reason))
    assert all(reason.holds for reason in reasons), str(proof)
    assert {line_of(reason.fact) for reason in reasons if reason.fact is not None} == set(lines), str(proof)
    assert proof.html() and proof.to_dict(1)
    return proof


def _is_sound(program: MtlProgram, facts: DenseFacts, proof: Proof, lines: Sequence[str]) -> bool:
    """Whether fewer facts have a proof of the same that is true in all the data: then one was idle."""
    template, args = parsed_atom(program, proof.question)
    case = MetricCase(program, facts, template, proof.at, proof.run.get("horizon"))
    chosen = [next(id_ for id_ in case.rows.ids if line_of(case.rows.fact(id_)) == line) for line in lines]
    stretch = case.whole.times(template, args).around(case.clock.cell(proof.at))
    assert stretch is not None
    return MetricReduction(case, MetricClaim(template, args, stretch)).explains(chosen)


def check_claims(proof: Proof, model: Model) -> None:
    """What a proof says of atoms and formulas is so in all the data, by definition."""
    for reason in reasons_in(proof.reason):
        said = _SAID.fullmatch(reason.claim)
        literal = None if said is None or said[1].endswith(" it") else literal_of(said[1])
        if said is None or literal is None or any(isinstance(term, Variable) for part in literals_in(literal)
                                                  if isinstance(part, Atom) for term in part.args):
            continue
        truth = model._evaluated(literal, {})
        there = [truth[region] for region in model.regions.meeting(span_of(said[4] or said[3]))]
        assert not any(there) if said[2] == "does not hold" else all(there), f"{reason.claim} in {proof}"


def check_refusal(proof: Proof) -> None:
    """Of what does not hold it is said so, with a reason; every rule that is named has a condition that fails."""
    assert not proof.holds and proof.reason.reasons, str(proof)
    assert str(proof) and proof.html() and proof.to_dict(1)
    for reason in reasons_in(proof.reason):
        if reason.kind == "rule" and reason.holds is False:
            assert sum(inner.claim.split(", ")[0].endswith("fails first") or " fails first, " in inner.claim
                       for inner in reason.reasons) == 1, str(proof)
