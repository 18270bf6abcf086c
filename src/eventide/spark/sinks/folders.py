"""Rows as Parquet or JSON lines: one folder per batch, `batch=N`, so that a repeated batch replaces what it left."""

from __future__ import annotations

import os
import re
from errno import EACCES, ENOTDIR
from pathlib import Path
from typing import Any, Literal

from eventide.spark.failures import ServiceError

MARK = "_stream"
_REASON = re.compile(r"No space left on device|Permission denied|Read-only file system|Mkdirs failed[^\n]*")


class FolderWriter:
    """A directory that belongs to one stream. Read it with Spark, pyarrow or polars as a directory of partitions."""

    def __init__(self, path: Path, form: Literal["parquet", "json"], stream: str | None) -> None:
        self._path, self._form, self._stream = path, form, stream

    def check(self) -> None:
        """ServiceError if the directory cannot be written, or has the answers of another stream."""
        mark = self._path / MARK
        try:
            known = mark.read_text(encoding="utf-8") if mark.exists() else None
            if known is None and any(self._path.glob("batch=*")):
                raise ServiceError(f"{self._path} has batches of an unknown stream; choose another folder")
            if self._stream is None:
                self._check_writable()
            elif known is None:
                self._path.mkdir(parents=True, exist_ok=True)
                mark.write_text(self._stream, encoding="utf-8")
                known = self._stream
        except OSError as error:
            raise ServiceError(f"cannot write to {self._path}: {error.strerror or error}") from error
        if known != self._stream:
            raise ServiceError(f"{self._path} has the answers of another stream, or of this one with another "
                               "checkpoint: its batches have the same numbers; choose another folder")

    def _check_writable(self) -> None:
        """OSError if the directory could not be made, or written to."""
        nearest = next(folder for folder in (self._path, *self._path.parents) if folder.exists())
        if not nearest.is_dir():
            raise NotADirectoryError(ENOTDIR, os.strerror(ENOTDIR))
        if not os.access(nearest, os.W_OK | os.X_OK):
            raise PermissionError(EACCES, os.strerror(EACCES))

    def write(self, frame: Any, batch: int) -> None:
        """Write a batch, or write it again."""
        writer = frame.write.mode("overwrite").format(self._form).option("ignoreNullFields", "false")
        try:
            writer.save(str(self._path / f"batch={batch}"))
        except Exception as error:
            reason = _REASON.search(str(error))
            if reason is None:
                raise
            raise ServiceError(f"cannot write to {self._path}: {reason[0]}") from error
