"""Lines from a server: they are kept as they came, and the connection is made again when it breaks."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest
from tests.spark.feeds import read
from tests.spark.servers import free_port, wait_until

from eventide.spark.config import SocketSource
from eventide.spark.failures import ServiceError
from eventide.spark.records import Piece, piece_facts, pieces_of
from eventide.spark.sources.sockets import SocketReader

SENTENCE = b"!AIVDM,1,1,,B,177KQJ5000G?tO`K>RA1wUbN0TKH,0*5C"


def test_lines_go_through_as_they_came(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        source = SocketSource(kind="socket", host="127.0.0.1", port=server.getsockname()[1], spool=tmp_path, timeout=60)
        reader = SocketReader(source)
        start = reader.initialOffset()
        with server.accept()[0] as first:
            first.sendall(SENTENCE + b"\r\n" + SENTENCE[:10])
            wait_until(lambda: reader.reportLatestOffset()["record"] == 1, "the first line did not come")
        with server.accept()[0] as second:  # half of a line was cut off with the connection
            second.sendall(SENTENCE + b"\n")
            wait_until(lambda: reader.reportLatestOffset()["record"] == 2, "the connection was not made again")
        end = reader.latestOffset(start, reader.getDefaultReadLimit())
        pieces = [piece for part in reader.partitions(start, end) for batch in reader.read(part)
                  for piece in pieces_of(batch)]
        reader.stop()
    assert pieces == [Piece(b"\n".join([SENTENCE, SENTENCE, b""]), "lines",
                            f"socket:127.0.0.1:{source.port}", 1)]
    problem = piece_facts(pieces[0], read).bad[0].diagnostic
    assert "format" in problem.message


def test_nobody_answers(tmp_path: Path) -> None:
    port = free_port()
    source = SocketSource(kind="socket", host="127.0.0.1", port=port, spool=tmp_path)
    with pytest.raises(ServiceError, match=f"nobody answers at 127.0.0.1:{port}"):
        SocketReader(source).initialOffset()
