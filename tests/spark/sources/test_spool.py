"""The spool: lines are read by offset, survive the writer, and go when they are processed."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from eventide.spark.failures import ServiceError
from eventide.spark.sources.spool import Spool, after_records, segments, spooled


def content(folder: Path, low: int, high: int) -> bytes:
    return b"".join(spooled(folder, low, high))


def test_lines_are_read_by_offset_across_segments(tmp_path: Path) -> None:
    spool = Spool(tmp_path, segment=20)
    for number in range(10):
        spool.append([b"line %d" % number, b"again %d" % number])
    assert len(segments(tmp_path)) > 3
    end = spool.end
    assert end["record"] == 20
    whole = content(tmp_path, 0, end["byte"])
    assert whole.split(b"\n")[4:6] == [b"line 2", b"again 2"]
    for records in range(21):
        cut = after_records(tmp_path, {"record": 0, "byte": 0}, end, records)
        assert cut["record"] == records
        assert content(tmp_path, 0, cut["byte"]) == b"".join(whole.splitlines(keepends=True)[:records])
    spool.close()


def test_a_new_writer_goes_on_behind_the_last_complete_line(tmp_path: Path) -> None:
    spool = Spool(tmp_path)
    spool.append([b"a", b"b"])
    end = spool.end
    spool.close()
    with segments(tmp_path)[-1][0].open("ab") as file:
        file.write(b"half a li")
    spool = Spool(tmp_path)
    assert spool.end == end
    spool.append([b"c"])
    assert content(tmp_path, 0, spool.end["byte"]) == b"a\nb\nc\n"
    spool.close()


def test_processed_segments_go_but_offsets_stay(tmp_path: Path) -> None:
    spool = Spool(tmp_path, segment=4)
    spool.append([b"one"])
    middle = spool.end
    spool.append([b"two"])
    spool.drop(middle["byte"])
    assert content(tmp_path, middle["byte"], spool.end["byte"]) == b"two\n"
    with pytest.raises(ServiceError, match="was it deleted"):
        content(tmp_path, 0, spool.end["byte"])
    spool.drop(spool.end["byte"])
    end = spool.end
    spool.close()
    again = Spool(tmp_path)
    assert again.end == end
    again.close()


def test_there_is_one_writer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eventide.spark.sources.spool._WAIT_FOR_LOCK", 0.0)
    spool = Spool(tmp_path)
    with pytest.raises(ServiceError, match="another stream"):
        Spool(tmp_path)
    spool.close()
    Spool(tmp_path).close()


def test_a_full_disk_is_said_and_leaves_no_half_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spool = Spool(tmp_path)
    spool.append([b"a"])
    whole = os.write

    def full(file: int, data: memoryview) -> int:
        if len(data) < 5:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return whole(file, data[:5])

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(ServiceError, match="No space left on device"):
        spool.append([b"much more", b"than fit"])
    monkeypatch.undo()
    spool.append([b"b"])
    assert content(tmp_path, 0, spool.end["byte"]) == b"a\nb\n"
    spool.close()
