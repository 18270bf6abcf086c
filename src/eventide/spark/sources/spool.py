"""A spool: received lines in files, on disk before they count as received, and read by offset as often as needed.

For sources that cannot be asked twice. A segment is named after the byte and the record with which it begins; once all
of it has been processed it is deleted.
"""

from __future__ import annotations

import fcntl
import os
import time
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa
from pyspark.sql.datasource import DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadLimit, ReadMaxRows, SupportsTriggerAvailableNow

from eventide.errors import EventideError
from eventide.spark.config import Received
from eventide.spark.failures import ServiceError
from eventide.spark.records import line_pieces, piece_batch
from eventide.spark.sources.kafka import FORMS

SEGMENT = 64 << 20
_PIECE = 1 << 20
_WAIT_FOR_LOCK = 20.0
Offset = dict[str, int]
"""`record` and `byte`: how many of each come before."""


class Spool:
    """The one writer of a spool."""

    def __init__(self, folder: Path, segment: int = SEGMENT) -> None:
        self.folder, self._limit = folder, segment
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._lock = os.open(folder / "lock", os.O_CREAT | os.O_RDWR)
            self._take_lock()
            self._recover()
        except OSError as error:
            raise self._broken(error) from error

    @property
    def end(self) -> Offset:
        """Behind the last record."""
        return {"record": self._record, "byte": self._base + self._size}

    def append(self, lines: Sequence[bytes]) -> None:
        """Add lines, which have no line ends in them; when this returns they are on disk."""
        data = b"\n".join((*lines, b""))
        try:
            rest = memoryview(data)
            while rest:
                rest = rest[os.write(self._file, rest):]
            os.fsync(self._file)
        except OSError as error:
            os.ftruncate(self._file, self._size)  # no half of a line stays
            raise self._broken(error) from error
        self._size += len(data)
        self._record += len(lines)
        if self._size >= self._limit:
            os.close(self._file)
            self._open(self._base + self._size)

    def drop(self, before: int) -> None:
        """Delete the segments that end at a byte or before it; the last one stays."""
        found = segments(self.folder)
        for (path, _, _), (_, following, _) in pairwise(found):
            if following <= before:
                path.unlink(missing_ok=True)

    def close(self) -> None:
        """Let another writer have it."""
        os.close(self._file)
        os.close(self._lock)

    def _take_lock(self) -> None:
        until = time.monotonic() + _WAIT_FOR_LOCK
        while True:
            try:
                return fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() > until:
                    raise ServiceError(f"another stream writes to the spool {self.folder}; stop it, or give each "
                                       "stream a spool of its own") from None
                time.sleep(0.1)

    def _recover(self) -> None:
        """Go on behind the last complete line: what follows it was never acknowledged."""
        found = segments(self.folder)
        if not found:
            self._record = 0
            self._open(0)
            return
        path, self._base, self._record = found[-1]
        data = path.read_bytes()
        self._size = data.rfind(b"\n") + 1
        self._record += data.count(b"\n")
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND)
        os.ftruncate(self._file, self._size)

    def _open(self, base: int) -> None:
        self._base, self._size = base, 0
        path = self.folder / f"{base:020d}-{self._record:020d}.lines"
        self._file = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o644)
        folder = os.open(self.folder, os.O_RDONLY)
        os.fsync(folder)
        os.close(folder)

    def _broken(self, error: OSError) -> ServiceError:
        return ServiceError(f"cannot write to the spool {self.folder}: {error.strerror or error}; nothing was "
                            "acknowledged, the stream goes on where it was once there is room")


def segments(folder: Path) -> list[tuple[Path, int, int]]:
    """The files of a spool in order, each with the byte and the record with which it begins."""
    return [(path, int(path.stem[:20]), int(path.stem[21:])) for path in sorted(folder.glob("*.lines"))]


def spooled(folder: Path, low: int, high: int) -> Iterator[bytes]:
    """The bytes of a spool in a range, in pieces."""
    found = segments(folder)
    if low < high and (not found or found[0][1] > low):
        raise ServiceError(f"the spool {folder} lacks what the stream reads next (from byte {low}): was it deleted? "
                           "Start with a new checkpoint")
    for at, (path, base, _) in enumerate(found):
        following = found[at + 1][1] if at + 1 < len(found) else high
        if following <= low or base >= high:
            continue
        with path.open("rb") as file:
            file.seek(max(low, base) - base)
            left = min(high, following) - max(low, base)
            while left and (data := file.read(min(left, _PIECE))):
                left -= len(data)
                yield data


def last_lines(folder: Path, count: int) -> list[bytes]:
    """The last lines of a spool, at most so many, as far as they have not been deleted."""
    lines: list[bytes] = []
    for path, _, _ in reversed(segments(folder)):
        lines = path.read_bytes().split(b"\n")[:-1][-count:] + lines
        if len(lines) >= count:
            break
    return lines[-count:]


def after_records(folder: Path, start: Offset, end: Offset, records: int) -> Offset:
    """The offset so many records behind the start, but not behind the end."""
    if end["record"] - start["record"] <= records:
        return end
    byte, left = start["byte"], records
    for data in spooled(folder, start["byte"], end["byte"]):
        count = data.count(b"\n")
        if count >= left:
            at = -1
            for _ in range(left):
                at = data.index(b"\n", at + 1)
            return {"record": start["record"] + records, "byte": byte + at + 1}
        byte, left = byte + len(data), left - count
    return end


class Receiver(Protocol):
    """Something that fills a spool from its own threads."""

    problem: EventideError | None
    """Why it cannot go on."""

    def stop(self) -> None:
        """End it; what was acknowledged is in the spool."""


@dataclass
class SpoolRange(InputPartition):
    """What one task reads."""

    low: int
    high: int
    record: int


class SpoolReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """A stream from a spool, with the receiver that fills it. One task reads a batch, so that its order stays."""

    def __init__(self, source: Received) -> None:
        self.source = source
        self._spool: Spool | None = None
        self._receiver: Receiver | None = None
        self._last: Offset | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_spool": None, "_receiver": None}  # tasks only read

    @abstractmethod
    def receive(self, spool: Spool) -> Receiver:
        """Begin to receive; ServiceError if nobody answers."""

    @abstractmethod
    def origin(self) -> str:
        """What the records' source is called."""

    def initialOffset(self) -> Offset:
        """A new stream begins with the first record of the spool."""
        self._end()
        found = segments(self.source.folder)
        return {"record": found[0][2], "byte": found[0][1]} if found else {"record": 0, "byte": 0}

    def getDefaultReadLimit(self) -> ReadLimit:
        """As many records as the configuration allows."""
        return ReadMaxRows(self.source.max_records)

    def prepareForTriggerAvailableNow(self) -> None:
        """From now on nothing that comes later is read."""
        self._last = self._end()

    def reportLatestOffset(self) -> Offset:
        """What there is to read."""
        return self._end()

    def latestOffset(self, start: Offset, limit: ReadLimit) -> Offset:
        """How far the next batch goes."""
        end = self._last or self._end()
        if end["byte"] < start["byte"]:
            if self._last is not None:
                return start
            raise ServiceError(f"the spool {self.source.folder} holds less than the stream has read: was it deleted? "
                               "Start with a new checkpoint")
        if isinstance(limit, ReadMaxRows):
            return after_records(self.source.folder, start, end, limit.max_rows)
        return end

    def partitions(self, start: Offset, end: Offset) -> list[SpoolRange]:
        """One range, or none."""
        return [SpoolRange(start["byte"], end["byte"], start["record"])] if start["byte"] < end["byte"] else []

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The records of a range."""
        assert isinstance(partition, SpoolRange)
        lines = b"".join(spooled(self.source.folder, partition.low, partition.high))
        for piece in line_pieces(lines, FORMS[self.source.format], self.origin(), partition.record + 1,
                                 self.source.header):
            yield piece_batch([piece])

    def commit(self, end: Offset) -> None:
        """What was processed need not be kept."""
        if self._spool is not None:
            self._spool.drop(end["byte"])

    def stop(self) -> None:
        """Stop to receive."""
        if self._receiver is not None:
            self._receiver.stop()
        if self._spool is not None:
            self._spool.close()

    def _end(self) -> Offset:
        if self._spool is None:
            self._spool = Spool(self.source.folder)
        if self._receiver is None:
            self._receiver = self.receive(self._spool)
        if self._receiver.problem is not None:
            raise self._receiver.problem
        return self._spool.end
