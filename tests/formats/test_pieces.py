"""Texts that come piece by piece: a line means the same whatever else is in its piece."""

from __future__ import annotations

from dataclasses import replace

import pytest

from eventide.formats import Facts, column_values, facts_from
from eventide.formats.files import text_of


def read(*lines: str) -> Facts:
    """The facts of JSON lines that came together."""
    text = replace(text_of("feed", "\n".join(lines).encode()), form="json")
    return facts_from(text, lambda name: "event", bad_rows="skip", arities=lambda name: (1, 2))


ONE_WAY = '{"time": 1, "event": "meet", "ship": 7, "port": "a"}'
OTHER_WAY = '{"port": "b", "ship": 8, "event": "meet", "time": 2, "op": "-"}'


@pytest.mark.parametrize("lines", [(ONE_WAY, OTHER_WAY), (OTHER_WAY, ONE_WAY)])
def test_the_names_of_one_object_do_not_order_those_of_another(lines: tuple[str, ...]) -> None:
    together = read(*lines).tables["meet", 2]
    alone = [read(line).tables["meet", 2] for line in lines]
    for place in (0, 1):
        assert column_values(together.args[place]) == [v for t in alone for v in column_values(t.args[place])]
    assert together.rows is not None and together.rows.tolist() == [1, 2]
    assert together.op is not None and sorted(together.op.tolist()) == [-1, 1]


def test_rows_stay_in_order_whether_or_not_they_say_what_is_done_with_them() -> None:
    plain, retracted = '{"time": 1, "event": "e", "a": 1}', '{"time": 1, "event": "e", "a": 1, "op": "-"}'
    table = read(plain, retracted, plain).tables["e", 1]
    assert table.op is not None and table.op.tolist() == [1, -1, 1]


def test_numbers_of_other_objects_do_not_change_a_type() -> None:
    facts = read('{"time": 1, "event": "e", "a": 1}', '{"time": 2, "event": "e", "b": 1.5}')
    assert [repr(v) for v in column_values(facts.tables["e", 1].args[0])] == ["1", "1.5"]


def test_an_object_without_time_is_one_bad_row() -> None:
    facts = read('{"event": "e", "a": 1}', '{"time": 2, "event": "e", "a": 1}')
    assert len(facts) == 1
    assert [(row.diagnostic.message, row.text) for row in facts.bad] == [("no time", '{"event": "e", "a": 1}')]


def test_lines_are_objects_of_their_own() -> None:
    whole = '{"time": 2, "event": "e", "a": "b, {c}"}'
    facts = read('{"time": 1, "event": "e", "a": 1', '"b": 2}', whole, '{"time": 3, "event": "e", "a": 1}, {}')
    assert column_values(facts.tables["e", 1].args[0]) == ["b, {c}"]
    assert [row.diagnostic.span.line for row in facts.bad if row.diagnostic.span] == [1, 2, 4]


def test_integers_of_more_than_64_bits_and_half_characters_are_bad_rows() -> None:
    facts = read('{"time": 1, "event": "e", "a": 18446744073709551616}', '{"time": 2, "event": "e", "a": "\\ud800"}',
                 '{"time": 3, "event": "e", "a": 5}')
    assert column_values(facts.tables["e", 1].args[0]) == [5]
    assert [row.diagnostic.code for row in facts.bad] == ["value-overflow", "bad-text"]
