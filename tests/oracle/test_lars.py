"""The two oracles of LARS agree: the definition, and clingo with the whole program."""

from __future__ import annotations

from hypothesis import assume, given
from hypothesis import strategies as st
from tests.oracle import lars, lars_clingo
from tests.oracle.lars_text import Shape, programs, streams


@given(st.one_of(programs(Shape(contradictions=True)), programs(Shape(stratified=False, contradictions=True))),
       streams(4, 2), st.integers(0, 6))
def test_definition_and_clingo(text: str, stream: list[tuple[int, list[str]]], t: int) -> None:
    tree = lars.program(text)
    data = lars.Data.upto(tree, stream, t)
    heads = {i.head for i in lars.instances(tree, data) if i.head is not None} - data.points()
    assume(len(heads) <= 8)
    found = lars.answer_streams(tree, stream, t)
    assert found == lars_clingo.answer_streams(tree, stream, t)
    if not found:  # without constraints, a stratified program has exactly one answer, with the violations in it
        for answer in lars.answer_streams(tree, stream, t, constraints=False):
            assert lars.violations(tree, stream, t, answer)
