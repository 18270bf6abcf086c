"""Whole files that appear in a directory: Spark finds and remembers them, their content is read as one piece.

Files are taken in the order of their modification times, those of one time in the order of their names. A file must
appear complete (be moved into the directory); names that begin with `.` or `_` are not looked at. Since a
file is one piece, it should have no more than some hundred megabytes.
"""

from __future__ import annotations

from typing import Any

from eventide.spark.config import FileSource
from eventide.spark.failures import ServiceError

CONTENT = "path string, modificationTime timestamp, length long, content binary"
# Spark forgets files that are this much older than the newest, and would pass over one that comes with an old date.
NEVER = "36500d"


def check_folder(source: FileSource) -> None:
    """ServiceError if there is nothing to look into."""
    if not source.path.is_dir():
        raise ServiceError(f"there is no folder {source.path} to read events from")


def file_pieces(spark: Any, source: FileSource) -> Any:
    """The streaming DataFrame of the files' contents."""
    check_folder(source)
    stream = spark.readStream.format("binaryFile").schema(CONTENT).options(
        pathGlobFilter=source.pattern, maxFileAge=NEVER)
    # Spark takes one of the two limits.
    if source.max_files is None:
        stream = stream.option("maxBytesPerTrigger", source.max_bytes)
    else:
        stream = stream.option("maxFilesPerTrigger", source.max_files)
    return stream.load(str(source.path)).selectExpr(
        "content AS data", "CAST(NULL AS string) AS form", "path AS source", "1L AS first",
        "format_string('%020d %s', unix_micros(modificationTime), path) AS rank")
