"""Where results go: whole files or standard output, and beside them what was left out. Says nothing itself."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from eventide.cli.messages import messages
from eventide.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa

    from eventide.formats.facts import BadRow
    from eventide.formats.results import Columns

IN_MEMORY = 1 << 26  # what goes to standard output waits until all is known, in memory or beyond that on the disk


def standard_output() -> BinaryIO:
    """Where results go without `-o`."""
    if sys.stdout is None:
        raise InputError("standard output is closed; name a file with -o")
    sys.stdout.flush()
    return sys.stdout.buffer


def write_result(pieces: Iterable[Columns], out: Path | None) -> None:
    """The result, whole or not at all."""
    from eventide.formats.results import WRITERS, whole_file, writer_for

    if out is not None:
        with whole_file(out) as file:
            writer_for(out)(pieces, file)
        return
    target = standard_output()
    with tempfile.SpooledTemporaryFile(IN_MEMORY) as waiting:
        WRITERS[".jsonl" if messages.json else ".csv"](pieces, waiting)  # type: ignore[arg-type]
        waiting.seek(0)
        shutil.copyfileobj(waiting, target)
    target.flush()


def write_late(late: list[pa.Table], out: Path | None) -> Path | None:
    """The facts that came too late, in a file beside the result."""
    if out is None or not any(table.num_rows for table in late):
        return None
    from eventide.formats.results import WRITERS, whole_file

    path = late_path(out)
    with whole_file(path) as file:
        WRITERS[".csv"](late_columns(late), file)
    return path


def late_path(out: Path) -> Path:
    """Where facts that came too late are listed."""
    return out.with_name(f"{out.name}.late.csv")


def late_columns(late: list[pa.Table]) -> Iterator[Columns]:
    """Tables of facts that came too late, for a writer."""
    from eventide.formats.results import text_columns

    return (text_columns(table) for table in late)


def write_bad(rows: tuple[BadRow, ...], out: Path | None) -> Path | None:
    """The rows left out go to a file beside the result, whole or not at all."""
    if not rows:
        return None
    from eventide.formats.problems import write_bad_rows

    path = bad_path(out)
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        write_bad_rows(rows, part)
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)
    return path


def bad_path(out: Path | None) -> Path:
    """Where bad rows go."""
    return Path("eventide.bad.csv") if out is None else out.with_name(f"{out.name}.bad.csv")
