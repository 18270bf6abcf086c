"""Saved state: what is sealed comes back as it was, and what was touched or is something else is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eventide.engine.sealing import Aside, packed, sealed, unpacked, unsealed
from eventide.errors import InputError

DIARY = b"eventide diary 1 "


@given(st.binary(max_size=40), st.data())
def test_a_changed_byte_is_seen(content: bytes, data: st.DataObject) -> None:
    state = sealed(DIARY, content)
    assert unsealed(state, DIARY, "this is no diary", "diary") == content
    place = data.draw(st.integers(0, len(state) - 1))
    changed = bytearray(state)
    changed[place] ^= data.draw(st.integers(1, 255))
    with pytest.raises(InputError, match="this is no diary" if place < len(DIARY) else "the saved diary is damaged"):
        unsealed(bytes(changed), DIARY, "this is no diary", "diary")


@pytest.mark.parametrize("state", [None, "eventide diary 1 ", 3])
def test_what_is_no_bytes(state: Any) -> None:
    with pytest.raises(InputError, match=rf"as diary.save\(\) gives them, not a {type(state).__name__}"):
        unsealed(state, DIARY, "this is no diary", "diary")


def test_arrays_come_back_by_their_numbers() -> None:
    aside = Aside()
    numbers = [aside.array(values) for values in (np.arange(6)[::2], None, np.array([True, False]))]
    assert numbers == [0, None, 1]
    with unpacked(packed({"numbers": numbers}, aside.arrays)) as (header, arrays):
        assert header == {"numbers": [0, None, 1]}
        assert arrays["0"].tolist() == [0, 2, 4] and arrays["1"].tolist() == [True, False]
