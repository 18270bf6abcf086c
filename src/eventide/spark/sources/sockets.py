"""Lines from a server, such as a receiver of NMEA sentences: they go to a spool as they come."""

from __future__ import annotations

import socket
import threading
from typing import Any

from pyspark.sql.datasource import DataSource

from eventide.errors import EventideError
from eventide.spark.config import SocketSource
from eventide.spark.failures import ServiceError
from eventide.spark.records import PIECES
from eventide.spark.sources.spool import Spool, SpoolReader

_PIECE = 1 << 20
_PAUSE = 1.0
_LISTEN = 0.2


class SocketPieces(DataSource):
    """The data source; its one option is the configuration as JSON."""

    @classmethod
    def name(cls) -> str:
        """Its name for Spark."""
        return "eventide-socket"

    def schema(self) -> str:
        """The columns of pieces."""
        return PIECES

    def streamReader(self, schema: Any) -> SocketReader:
        """The reader of one stream."""
        return SocketReader(SocketSource.model_validate_json(self.options["settings"]))


class SocketReader(SpoolReader):
    """A stream of lines."""

    source: SocketSource

    def receive(self, spool: Spool) -> SocketReceiver:
        """Connect."""
        return SocketReceiver(self.source, spool)

    def origin(self) -> str:
        """The server."""
        return f"socket:{self.source.host}:{self.source.port}"


class SocketReceiver:
    """A connection that is made again when it breaks; a line that was cut off by that is left out."""

    def __init__(self, source: SocketSource, spool: Spool) -> None:
        self.problem: EventideError | None = None
        self._source, self._spool = source, spool
        self._stopped = threading.Event()
        first = _connection(source)
        self._thread = threading.Thread(target=self._run, args=(first,), daemon=True, name="eventide-socket-spool")
        self._thread.start()

    def stop(self) -> None:
        """Hang up."""
        self._stopped.set()
        self._thread.join()

    def _run(self, connection: socket.socket) -> None:
        while not self._stopped.is_set():
            with connection:
                try:
                    self._receive(connection)
                except OSError:
                    pass  # the line is dead: connect again
                except EventideError as error:
                    self.problem = error
                    return
            while not self._stopped.wait(_PAUSE):
                try:
                    connection = _connection(self._source)
                    break
                except ServiceError:
                    continue

    def _receive(self, connection: socket.socket) -> None:
        """Take lines until the other side hangs up."""
        held = b""
        while not self._stopped.is_set():
            try:
                data = connection.recv(_PIECE)
            except TimeoutError:
                continue
            if not data:
                return
            *lines, held = (held + data).split(b"\n")
            if lines:
                self._spool.append([line.rstrip(b"\r") for line in lines])


def check_server(source: SocketSource) -> None:
    """ServiceError if nobody answers."""
    _connection(source).close()


def _connection(source: SocketSource) -> socket.socket:
    try:
        found = socket.create_connection((source.host, source.port), source.timeout)
    except OSError as error:
        raise ServiceError(f"nobody answers at {source.host}:{source.port} ({error}); check host and port, and that "
                           "the server is up") from error
    found.settimeout(_LISTEN)
    return found
