"""Programs and results as Python users hold them: what is accepted, and what wrong arguments say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

import eventide as ev
from eventide.errors import InputError

RULES = "initiatedAt(on(X)=true, T) :- happensAt(press(X), T), kind(X, lamp).\n"
KINDS = pa.table({"thing": ["a"], "kind": ["lamp"]})


def events(time: int = 5) -> pa.Table:
    return pa.table({"time": [time], "event": ["press"], "what": ["a"]})


def test_a_mark_of_byte_order_is_no_character_of_the_rules(tmp_path: Path) -> None:
    (tmp_path / "rules.ec").write_text(RULES, encoding="utf-8-sig")
    (tmp_path / "kinds.ec").write_text("kind(a, lamp).", encoding="utf-8-sig")
    loaded = ev.load(tmp_path / "rules.ec", background=[tmp_path / "kinds.ec"])
    assert loaded.check() == []
    assert ev.parse("\ufeff" + RULES, background=[{"kind": KINDS}]).check() == []


def test_one_background_needs_no_list(tmp_path: Path) -> None:
    (tmp_path / "kind.csv").write_text("thing,kind\na,lamp\n")
    given: list[Any] = [tmp_path / "kind.csv", str(tmp_path / "kind.csv"), {"kind": KINDS}]
    for background in given:
        assert ev.parse(RULES, background=background).run(events()).timeline() == {"on(a)=true": [(6, None)]}


@pytest.mark.parametrize("options, message", [
    ({"window": "5"}, "window is '5'; expected a whole number"),
    ({"window": 5, "step": 1.5}, "step is 1.5; expected a whole number"),
    ({"fluents": "on"}, r"fluents is the text 'on'; expected a list of names, such as \['on'\]"),
])
def test_wrong_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        ev.parse(RULES, background=[{"kind": KINDS}]).run(events(), **options)


def test_two_columns_of_one_name() -> None:
    frame = pd.DataFrame([[5, "press", "a", "b"]], columns=["time", "event", "what", "what"])
    with pytest.raises(InputError, match="two columns are called 'what'"):
        ev.parse(RULES, background=[{"kind": KINDS}]).run(frame)


def test_ends_in_pandas_are_exact_beside_open_ones() -> None:
    program = ev.parse("initiatedAt(at(X)=Y, T) :- happensAt(go(X, Y), T).")
    now = 1_704_067_200_000_000_001
    found = program.run(pa.table({"time": [now, now + 2], "event": ["go", "go"], "who": ["a", "a"],
                                  "place": ["p", "q"]})).to_pandas()
    assert found["end"].tolist() == [now + 3, pd.NA]
    assert found["start"].tolist() == [now + 1, now + 3]
