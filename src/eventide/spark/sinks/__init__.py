"""Sinks of a stream: each writes the rows of one batch, and knows what to do when a batch comes again.

Spark repeats a batch that was not finished when the stream was killed, with the same number and the same rows.

| sink | how often a row is there |
|---|---|
| Parquet, JSON lines | exactly once: a batch has its own folder, which a repeat overwrites |
| PostgreSQL | exactly once: rows and the batch's number are written in one transaction per partition |
| Kafka | at least once: stream, batch and row in the headers tell a repeat |
| MQTT | at least once: batch and row are in the message |
| console | at least once |
"""

from __future__ import annotations

from typing import Any, Protocol

from eventide.spark.config import ConsoleSink, JsonSink, KafkaSink, MqttSink, ParquetSink, PostgresSink
from eventide.spark.sinks.console import ConsoleWriter
from eventide.spark.sinks.folders import FolderWriter
from eventide.spark.sinks.kafka import KafkaWriter
from eventide.spark.sinks.mqtt import MqttWriter
from eventide.spark.sinks.postgres import PostgresWriter

AnySink = ParquetSink | JsonSink | ConsoleSink | KafkaSink | MqttSink | PostgresSink


class Sink(Protocol):
    """Where rows go."""

    def check(self) -> None:
        """ServiceError if the sink cannot be reached or belongs to another stream; for the start of a stream."""

    def write(self, frame: Any, batch: int) -> None:
        """Write the rows of a batch, for `foreachBatch`; ServiceError if that fails, and then the batch comes again."""


def open_sink(settings: AnySink, stream: str | None, name: str = "sink") -> Sink:
    """The sink of a configuration. `stream` tells streams apart (a repeat is of the same stream), `name` its sinks.

    Without a stream it can be checked only: it has not begun, and leaves no trace.
    """
    if isinstance(settings, ParquetSink):
        return FolderWriter(settings.path, "parquet", stream)
    if isinstance(settings, JsonSink):
        return FolderWriter(settings.path, "json", stream)
    if isinstance(settings, KafkaSink):
        return KafkaWriter(settings, stream or "")
    if isinstance(settings, MqttSink):
        return MqttWriter(settings)
    if isinstance(settings, PostgresSink):
        return PostgresWriter(settings, stream or "", name)
    return ConsoleWriter(settings)
