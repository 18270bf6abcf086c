"""Rows to a topic of Kafka: JSON values, keys from columns, and in the headers what tells a repeat."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
from confluent_kafka import KafkaException, Producer

from eventide.spark.config import KafkaSink
from eventide.spark.failures import ServiceError
from eventide.spark.sinks.delivery import deliver, numbered


class KafkaWriter:
    """One producer per task. At least once: a consumer that wants a row once looks at the headers."""

    def __init__(self, settings: KafkaSink, stream: str) -> None:
        self._settings, self._stream = settings, stream

    def check(self) -> None:
        """ServiceError if no broker answers."""
        producer = self._producer()
        try:
            producer.list_topics(self._settings.topic, timeout=self._settings.timeout)
        except KafkaException as error:
            raise self._unreachable(error.args[0].str()) from error

    def write(self, frame: Any, batch: int) -> None:
        """Send the rows and wait until the broker has them all."""
        absent = [name for name in self._settings.key if name not in frame.columns]
        if absent:
            raise ServiceError(f"sink.key names {absent[0]}, but the columns are {', '.join(frame.columns)}")
        deliver(frame, lambda part, batches: self._send(batch, part, batches))

    def _send(self, batch: int, part: int, batches: Iterator[pa.RecordBatch]) -> None:
        producer = self._producer()
        failed: list[str] = []

        def delivered(error: Any, message: Any) -> None:
            if error is not None:
                failed.append(error.str())

        fixed = [("eventide-stream", self._stream.encode()), ("eventide-batch", str(batch).encode())]
        for number, line, row in numbered(part, batches):
            key = json.dumps([row[name] for name in self._settings.key]).encode() if self._settings.key else None
            headers = [*fixed, ("eventide-row", number.encode())]
            while True:
                try:
                    producer.produce(self._settings.topic, line, key, headers=headers, on_delivery=delivered)
                    break
                except BufferError:
                    producer.poll(0.5)
            if failed:
                break
        left = producer.flush(self._settings.timeout)
        if failed or left:
            raise self._unreachable(failed[0] if failed else f"{left} messages are not delivered")

    def _producer(self) -> Any:
        settings: dict[str, Any] = {
            "bootstrap.servers": self._settings.servers, "enable.idempotence": True, "linger.ms": 20, "log_level": 2,
            "message.timeout.ms": int(1000 * self._settings.timeout), **self._settings.options,
        }
        try:
            return Producer(settings)
        except KafkaException as error:
            raise ServiceError(f"sink.options: librdkafka says {error.args[0].str()}") from error

    def _unreachable(self, reason: str) -> ServiceError:
        return ServiceError(f"Kafka at {self._settings.servers} does not take messages for {self._settings.topic} "
                            f"({reason}); check sink.servers and that the broker is up")
