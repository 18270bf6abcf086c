"""The languages that have random cases, as entries of one table; their paths are entries of `paths.PATHS`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from . import cases, lars_paths, mtl_paths, paths, reference
from .cases import Case, Options
from .lars_cases import LarsOptions, lars_case
from .lars_reference import LarsReference
from .mtl_cases import MtlOptions, mtl_case
from .mtl_reference import MtlReference
from .operations import event_calculus


class Reference(Protocol):
    """What should be said of a case."""

    def rows(self, question: Any) -> tuple[Any, ...]:
        """The answer to a question."""

    def late(self, question: Any) -> int:
        """How many facts are too late to count."""


@dataclass(frozen=True)
class Language:
    """What the tester must know of a language."""

    ending: str
    case: Callable[[int], Case]
    """The random case of a number."""
    options: Callable[..., Any]
    parsed: Callable[[str], Any]
    reference: Callable[[Case], Reference]


LANGUAGES = {
    "ec": Language(".ec", event_calculus, Options, paths.parsed, reference.Reference),
    "mtl": Language(".mtl", mtl_case, MtlOptions, mtl_paths.parsed, MtlReference),
    "lars": Language(".lars", lars_case, LarsOptions, lars_paths.parsed, LarsReference),
}


def read_case(folder: Path) -> Case:
    """The case that was written to a folder."""
    return cases.read_case(folder, {name: language.options for name, language in LANGUAGES.items()})
