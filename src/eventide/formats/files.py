"""Files to bytes: plain or gzip, checked to be UTF-8, in one padded buffer. Knows nothing of rows and fields."""

from __future__ import annotations

import codecs
import os
import stat
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from eventide.errors import InputError
from eventide.formats.facts import BadRow
from eventide.formats.problems import input_error
from eventide.formats.rtec_scan import PADDING, Bytes
from eventide.formats.unreadable import without_broken_lines

_PIECE = 1 << 20
Form = Literal["rtec", "headed", "json"]


@dataclass(frozen=True, slots=True)
class Text:
    """The bytes of a text file: `data[start:stop]` ends with a line end, and padding follows it.

    Of a file that grows, it is a piece with the lines `above` it, in a form that is known. Lines that are no text are
    empty here, and `broken`.
    """

    source: str
    data: Bytes
    start: int
    stop: int
    form: Form | None = None
    above: int = 0
    broken: tuple[BadRow, ...] = ()

    def line_at(self, offset: int) -> str:
        """The line that begins at an offset, without its end."""
        return self.piece(offset, self._line_end(offset)).removesuffix("\r")

    def _line_end(self, offset: int) -> int:
        width = 256
        while not (ends := np.flatnonzero(self.data[offset : min(offset + width, self.stop)] == 10)).shape[0]:
            width *= 4
        return offset + int(ends[0])

    def piece(self, start: int, stop: int) -> str:
        """A part of the text."""
        return self.data[start:stop].tobytes().decode("utf-8", "replace")

    def count(self, byte: bytes) -> int:
        """How often a byte occurs."""
        return int(np.count_nonzero(self.data[self.start : self.stop] == byte[0]))

    def first_line(self) -> str:
        """The first line that is not blank; empty if there is none."""
        low = self.start
        while low < self.stop:
            line = self.line_at(low)
            if line.strip():
                return line
            low = self._line_end(low) + 1
        return ""


def read_text(path: str | os.PathLike[str], *, any_bytes: bool = False, by_line: bool = False) -> Text:
    """The text of a file; `.gz` is unpacked, a byte order mark is skipped; with `any_bytes` it need not be UTF-8.

    What is no text is an error, or one of its line alone `by_line`.
    """
    source = os.fspath(path)
    try:
        data, size = _unpacked(source) if source.endswith(".gz") else _plain(source)
    except OSError as error:
        raise missing(source, error) from error
    return checked_text(source, data, size, any_bytes=any_bytes, by_line=by_line)


def rule_text(path: str | os.PathLike[str]) -> str:
    """The text of a file with rules."""
    source = os.fspath(path)
    try:
        return Path(source).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise missing(source, error) from error
    except UnicodeDecodeError as error:
        raise input_error("not-utf-8", f"the file is not UTF-8: {error}", source, hint="save the file as UTF-8"
                          ) from error


def text_of(source: str, content: bytes, *, any_bytes: bool = False, by_line: bool = False) -> Text:
    """The text of bytes that are in memory already."""
    data = np.zeros(len(content) + PADDING + 1, np.uint8)
    data[:len(content)] = np.frombuffer(content, np.uint8)
    return checked_text(source, data, len(content), any_bytes=any_bytes, by_line=by_line)


def missing(source: str, error: OSError) -> InputError:
    """The error for a file that cannot be opened or read."""
    hint = None
    if isinstance(error, FileNotFoundError):
        folder = Path(source).parent
        hint = "check the spelling of the name" if folder.is_dir() else f"the folder {folder} does not exist"
    return input_error("cannot-read", f"cannot read the file: {error.strerror or error}", source, hint=hint)


def checked_text(source: str, data: Bytes, size: int, *, any_bytes: bool = False, by_line: bool = False) -> Text:
    """The first `size` bytes as text, if they are UTF-8 (or `any_bytes`); `data` has room for the padding."""
    broken: tuple[BadRow, ...] = ()
    head = data[: min(3, size)].tobytes()
    if head[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        raise input_error("not-utf-8", "the file is UTF-16, expected UTF-8", source, hint="save the file as UTF-8")
    start = 3 if head == codecs.BOM_UTF8 else 0
    if size and not any_bytes and (int(data[:size].max()) >= 128 or (by_line and not data[:size].all())):
        try:
            _check_utf8(source, data, size)
            sound = not by_line or bool(data[:size].all())
        except InputError:
            if not by_line:
                raise
            sound = False
        if not sound:
            content, broken = without_broken_lines(source, data[:size].tobytes())
            size = len(content)
            data[:size] = np.frombuffer(content, np.uint8)
    if size > start and data[size - 1] != 10:
        data[size] = 10
        size += 1
    data[size:] = 0
    return Text(source, data, start, size, broken=broken)


def _plain(source: str) -> tuple[Bytes, int]:
    with open(source, "rb", buffering=0) as file:
        status = os.fstat(file.fileno())
        if stat.S_ISCHR(status.st_mode) or stat.S_ISBLK(status.st_mode):
            raise input_error("not-a-file", "this is a device, which has no end", source, hint="name a file or a pipe")
        data = np.empty(status.st_size + PADDING + 1, np.uint8)
        size = 0
        while got := file.readinto(data[size:].data):
            size += got
            if size > data.shape[0] - PADDING - 1:
                data = _with_room(data, size, _PIECE)
    return data, size


def _unpacked(source: str) -> tuple[Bytes, int]:
    """All members of a gzip file, one after the other."""
    packed_size = os.path.getsize(source)
    data = np.empty(8 * packed_size + _PIECE, np.uint8)
    size = 0
    with open(source, "rb") as file:
        member = zlib.decompressobj(wbits=31)
        began = False
        while packed := file.read(_PIECE):
            while packed:
                if member.eof:
                    packed = packed.lstrip(b"\0")
                    if not packed:
                        break
                    member, began = zlib.decompressobj(wbits=31), False
                began = True
                try:
                    plain = member.decompress(packed)
                except zlib.error as error:
                    raise _broken_gzip(source, data, size, f"the gzip data is damaged ({error})") from error
                data = _with_room(data, size, len(plain))
                data[size : size + len(plain)] = np.frombuffer(plain, np.uint8)
                size += len(plain)
                packed = member.unused_data
        if began and not member.eof:
            raise _broken_gzip(source, data, size, "the gzip file is cut off")
    return data, size


def _broken_gzip(source: str, data: Bytes, size: int, problem: str) -> InputError:
    line = int(np.count_nonzero(data[:size] == 10)) + 1
    hint = "copy or download the file again; `gzip -t FILE` checks it"
    return input_error("broken-gzip", f"{problem} after {size} bytes of text, in line {line}", source, line, hint=hint)


def _with_room(data: Bytes, size: int, more: int) -> Bytes:
    if size + more + PADDING + 1 <= data.shape[0]:
        return data
    larger = np.empty(2 * (size + more) + PADDING + 1, np.uint8)
    larger[:size] = data[:size]
    return larger


def _check_utf8(source: str, data: Bytes, size: int) -> None:
    decoder = codecs.getincrementaldecoder("utf-8")()
    for low in range(0, size, _PIECE):
        pending = len(decoder.getstate()[0])
        try:
            decoder.decode(data[low : min(low + _PIECE, size)].tobytes(), final=low + _PIECE >= size)
        except UnicodeDecodeError as error:
            at = low - pending + error.start
            before = data[:at]
            line = int(np.count_nonzero(before == 10)) + 1
            breaks = np.flatnonzero(before[max(0, at - (1 << 16)) :] == 10)
            begin = max(0, at - (1 << 16)) + int(breaks[-1]) + 1 if breaks.size else max(0, at - (1 << 16))
            column = len(data[begin:at].tobytes().decode("utf-8", "replace")) + 1
            message = f"byte 0x{int(data[at]):02x} is not UTF-8"
            hint = "save the file as UTF-8, for example with `iconv -f latin1 -t utf-8 FILE`"
            raise input_error("not-utf-8", message, source, line, column, hint) from error
