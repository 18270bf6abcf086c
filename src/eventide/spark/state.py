"""Buckets of a stream between batches: what the state store holds of them, and where they are in memory meanwhile.

A bucket is in the state store as a sequence of entries: a snapshot, then what came in each batch since. An entry is cut
into slices of moderate size. When the batches outgrow the snapshot a new one replaces both, so that in the long run no
more than twice the input is written. The worker that has processed a bucket keeps it; a random mark in the store tells
whether what a worker has is what the store has. Workers change places between batches: the one that gets a bucket asks
the one that has it, and only if that one is gone the bucket is built again from the store.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import struct
import sys
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from multiprocessing.connection import Client, Connection, Listener
from typing import Protocol

import pyarrow as pa

from eventide.spark.buckets import Bucket, CertainBucket
from eventide.spark.failures import ServiceError
from eventide.spark.flow import Flow
from eventide.spark.units import Row

SLICE = 4 << 20
LEAST = 1 << 20
"""No new snapshot before the batches have so many bytes."""
_FORMAT = 2
_HEAD = struct.Struct("<B4q16s16sq")
_SIZE = struct.Struct("<?q")
_CODEC = "lz4"
_PATIENCE = 60.0
Key = tuple[str, int, int]
"""Stream, stage and number of a bucket."""


class Slices(Protocol):
    """Numbered binary values of one bucket, and one that stands before them."""

    def head(self) -> bytes | None:
        """The value before the slices; None for a bucket that has nothing yet."""

    def set_head(self, data: bytes) -> None:
        """Replace it."""

    def get(self, number: int) -> bytes | None:
        """A slice."""

    def put(self, number: int, data: bytes) -> None:
        """Add a slice."""

    def drop(self, number: int) -> None:
        """Forget a slice."""


@dataclass(frozen=True)
class Head:
    """Where the entries of a bucket are, how large they are, which state that is, who has it in memory, and how often
    the rules had been changed by then."""

    low: int = 0
    high: int = 0
    snapshot: int = 0
    journal: int = 0
    mark: bytes = b""
    holder: bytes = b""
    epoch: int = 0

    def packed(self) -> bytes:
        """The head as bytes."""
        return _HEAD.pack(_FORMAT, self.low, self.high, self.snapshot, self.journal, self.mark, self.holder, self.epoch)

    @classmethod
    def of(cls, data: bytes | None) -> Head:
        """The head that was packed."""
        if data is None:
            return cls()
        if len(data) != _HEAD.size or data[0] != _FORMAT:
            raise ServiceError("the checkpoint is of another version of Eventide; begin with a new one")
        return cls(*_HEAD.unpack(data)[1:])


def processed(flow: Flow, key: Key, parts: Sequence[bytes], slices: Slices, held: Held) -> tuple[list[Row], Head]:
    """A bucket through one batch: what comes out, and what the store now has of the bucket."""
    _, stage, number = key
    head = Head.of(slices.head())
    before = flow.at(head.epoch) if head.mark else flow
    bucket = held.take(before, key, head) if head.mark else None
    if bucket is None:
        bucket = _rebuilt(before, stage, number, slices, head)
    if before is not flow:
        assert isinstance(bucket, CertainBucket)
        bucket = bucket.successor(flow)
    rows = bucket.process(parts)
    head = _added(slices, head, _packed_entry(pickle.dumps(list(parts), protocol=5)))
    if before is not flow or head.journal > max(head.snapshot, LEAST):
        head = _renewed(slices, head, bucket.save())
    head = replace(head, mark=os.urandom(16), holder=held.name, epoch=flow.epoch)
    slices.set_head(head.packed())
    held.keep(key, head.mark, bucket)
    return rows, head


def _rebuilt(flow: Flow, stage: int, number: int, slices: Slices, head: Head) -> Bucket:
    """The bucket as the store has it: the snapshot, and the batches since once more."""
    entries = _entries(slices, head)
    bucket = flow.bucket(stage, number)
    if head.snapshot:
        bucket = flow.restored(stage, number, next(entries))
    for entry in entries:
        bucket.process(pickle.loads(entry))
    return bucket


def _added(slices: Slices, head: Head, entry: bytes) -> Head:
    """The store with one more batch."""
    high = _put(slices, head.high, entry)
    return replace(head, high=high, journal=head.journal + len(entry))


def _renewed(slices: Slices, head: Head, saved: bytes) -> Head:
    """The store with a snapshot in the place of everything else."""
    for number in range(head.low, head.high):
        slices.drop(number)
    entry = _packed_entry(saved)
    return replace(head, low=head.high, high=_put(slices, head.high, entry), snapshot=len(entry), journal=0)


def _put(slices: Slices, number: int, entry: bytes) -> int:
    """Write an entry; the number after its last slice."""
    for low in range(0, len(entry), SLICE):
        is_last = low + SLICE >= len(entry)
        slices.put(number, _SIZE.pack(is_last, len(entry)) + entry[low:low + SLICE])
        number += 1
    return number


def _entries(slices: Slices, head: Head) -> Iterator[bytes]:
    """The entries, as they were before they were packed."""
    found: list[bytes] = []
    for number in range(head.low, head.high):
        data = slices.get(number)
        if data is None:
            raise ServiceError(f"the checkpoint lacks slice {number} of a bucket; it is broken")
        is_last, size = _SIZE.unpack_from(data)
        found.append(data[_SIZE.size:])
        if is_last:
            entry = b"".join(found)
            if len(entry) != size:
                raise ServiceError("the checkpoint holds a part of an entry only; it is broken")
            yield _unpacked_entry(entry)
            found = []


def _packed_entry(data: bytes) -> bytes:
    compressed: bytes = pa.compress(data, _CODEC, asbytes=True)
    return len(data).to_bytes(8, "little") + compressed


def _unpacked_entry(entry: bytes) -> bytes:
    data: bytes = pa.decompress(entry[8:], int.from_bytes(entry[:8], "little"), _CODEC, asbytes=True)
    return data


class Held:
    """The buckets that this process has in memory, for itself and for the other workers on this machine."""

    def __init__(self) -> None:
        self._buckets: dict[Key, tuple[bytes, Bucket]] = {}
        self._lock = threading.Lock()
        self._name = b""

    @property
    def name(self) -> bytes:
        """The secret by which other workers find this one."""
        if not self._name:
            self._name = os.urandom(16)
            if sys.platform == "linux":  # elsewhere sockets need files: buckets are built from the store there
                listener = Listener(_address(self._name), authkey=self._name)
                threading.Thread(target=self._serve, args=(listener,), daemon=True, name="eventide-buckets").start()
        return self._name

    def keep(self, key: Key, mark: bytes, bucket: Bucket) -> None:
        """Have a bucket from now on."""
        with self._lock:
            self._buckets[key] = mark, bucket

    def take(self, flow: Flow, key: Key, head: Head) -> Bucket | None:
        """The bucket that a head is about, if it is here or with another worker; nobody has it afterwards."""
        known = self._pop(key, head.mark)
        if known is not None or head.holder == self._name:
            return known
        with contextlib.suppress(OSError, EOFError), Client(_address(head.holder), authkey=head.holder) as line:
            line.send((key, head.mark))
            if line.poll(_PATIENCE) and (saved := line.recv_bytes()):
                return flow.restored(key[1], key[2], saved)
        return None

    def _pop(self, key: Key, mark: bytes) -> Bucket | None:
        with self._lock:
            known = self._buckets.pop(key, None)
        return known[1] if known is not None and known[0] == mark else None

    def _serve(self, listener: Listener) -> None:
        while True:
            with contextlib.suppress(Exception), listener.accept() as line:  # whoever asks can do without an answer
                self._answer(line)

    def _answer(self, line: Connection) -> None:
        key, mark = line.recv()
        bucket = self._pop(key, mark)
        line.send_bytes(bucket.save() if bucket is not None else b"")


def _address(name: bytes) -> str:
    """A name outside of the file system."""
    return f"\0eventide-{blake2b(name, digest_size=16).hexdigest()}"
