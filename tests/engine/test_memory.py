"""Freed memory is kept where the C library allows it; elsewhere nothing happens."""

from __future__ import annotations

import ctypes
import sys

import pytest

from eventide.engine.memory import keep_freed_memory


@pytest.fixture(autouse=True)
def ask_anew() -> None:
    keep_freed_memory.cache_clear()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="a setting of the C library of Linux")
def test_it_says_whether_memory_is_kept() -> None:
    assert keep_freed_memory() in (True, False)


def test_other_systems_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    assert keep_freed_memory() is False


def test_a_c_library_without_the_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(ctypes, "CDLL", lambda name: object())
    assert keep_freed_memory() is False
