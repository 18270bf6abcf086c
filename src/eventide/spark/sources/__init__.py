"""Sources of a stream: each gives pieces of records (`eventide.spark.records`), and begins again where it was.

| source | how often a record is read |
|---|---|
| files | exactly once: Spark remembers the files it has read |
| Kafka | exactly once: the offsets are in the checkpoint |
| MQTT | at least once into the spool (acknowledged when it is on disk), exactly once from there |
| socket | what was received is read exactly once; what is sent while nobody listens is lost |
"""

from __future__ import annotations

from typing import Any

from eventide.spark.config import FileSource, KafkaSource, MqttSource, SocketSource
from eventide.spark.records import PIECES
from eventide.spark.sources.files import check_folder, file_pieces
from eventide.spark.sources.kafka import KafkaPieces, KafkaReader
from eventide.spark.sources.mqtt import MqttPieces, connected, leave
from eventide.spark.sources.sockets import SocketPieces, check_server

READERS = {"kafka": KafkaPieces, "mqtt": MqttPieces, "socket": SocketPieces}


def check_source(source: FileSource | KafkaSource | MqttSource | SocketSource) -> None:
    """ServiceError if the source cannot be reached; for the start of a stream."""
    if isinstance(source, FileSource):
        check_folder(source)
    elif isinstance(source, KafkaSource):
        reader = KafkaReader(source)
        try:
            reader.reportLatestOffset()
        finally:
            reader.stop()
    elif isinstance(source, MqttSource):
        leave(connected(source, ""))
    else:
        check_server(source)


def open_source(spark: Any, source: FileSource | KafkaSource | MqttSource | SocketSource) -> Any:
    """The streaming DataFrame of a source's pieces, with the columns of `PIECES`."""
    if isinstance(source, FileSource):
        return file_pieces(spark, source)
    reader = READERS[source.kind]
    spark.dataSource.register(reader)
    stream = spark.readStream.format(reader.name()).schema(PIECES)
    return stream.option("settings", source.model_dump_json()).load()
