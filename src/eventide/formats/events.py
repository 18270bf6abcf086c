"""The one door for facts: files of every known format, or tables in memory, to Facts. The formats live beside it."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping

from eventide.formats.expected import Arities, ColumnType, Declared, Expected, TimeUnit
from eventide.formats.facts import Facts, merged
from eventide.formats.files import read_text
from eventide.formats.problems import SHOWN, BadRows, settled
from eventide.formats.rtec_csv import read_rtec

Path = str | os.PathLike[str]


def read_events(
    paths: Path | Iterable[Path],
    declared: Declared,
    *,
    bad_rows: BadRows = "fail",
    bad_file: Path | None = None,
    arities: Arities | None = None,
    names: Collection[str] = (),
    column_types: Mapping[str, ColumnType] | None = None,
    time_unit: TimeUnit | None = None,
) -> Facts:
    """The facts of the files."""
    expected = Expected(declared, arities, names, column_types or {}, time_unit)
    listed = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    limit = SHOWN if bad_rows == "fail" else None
    return settled(merged([read_rtec(read_text(p), expected, limit) for p in listed]), bad_rows, bad_file)
