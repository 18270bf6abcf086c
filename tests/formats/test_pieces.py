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


def test_numbers_of_other_objects_do_not_change_a_type() -> None:
    facts = read('{"time": 1, "event": "e", "a": 1}', '{"time": 2, "event": "e", "b": 1.5}')
    assert [repr(v) for v in column_values(facts.tables["e", 1].args[0])] == ["1", "1.5"]


def test_an_object_without_time_is_one_bad_row() -> None:
    facts = read('{"event": "e", "a": 1}', '{"time": 2, "event": "e", "a": 1}')
    assert len(facts) == 1
    assert [(row.diagnostic.message, row.text) for row in facts.bad] == [("no time", '{"event": "e", "a": 1}')]
