"""Rows to a topic of an MQTT broker: JSON messages with the number of the batch and of the row in it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
from paho.mqtt.client import Client, MQTTMessageInfo

from eventide.spark.config import MqttSink
from eventide.spark.failures import ServiceError
from eventide.spark.sinks.delivery import deliver, numbered
from eventide.spark.sources.mqtt import connected, leave

_AHEAD = 1000


class MqttWriter:
    """One client per task. At least once."""

    def __init__(self, settings: MqttSink) -> None:
        self._settings = settings

    def check(self) -> None:
        """ServiceError if no broker answers."""
        leave(connected(self._settings, ""))

    def write(self, frame: Any, batch: int) -> None:
        """Publish the rows and wait until the broker has them all."""
        deliver(frame, lambda part, batches: self._send(batch, part, batches))

    def _send(self, batch: int, part: int, batches: Iterator[pa.RecordBatch]) -> None:
        client: Client | None = None
        sent: list[MQTTMessageInfo] = []
        for number, line, _ in numbered(part, batches):
            client = client or connected(self._settings, "")
            message = line[:-1] + f', "batch": {batch}, "row": "{number}"}}'.encode()
            sent.append(client.publish(self._settings.topic, message, self._settings.qos))
            if len(sent) >= _AHEAD:
                self._wait(sent)
                sent = []
        if client is not None:
            self._wait(sent)
            leave(client)

    def _wait(self, sent: list[MQTTMessageInfo]) -> None:
        for message in sent:
            try:
                message.wait_for_publish(self._settings.timeout)
                done = message.is_published()
            except (RuntimeError, ValueError):
                done = False
            if not done:
                raise ServiceError(f"the MQTT broker at {self._settings.host}:{self._settings.port} does not take "
                                   f"messages for {self._settings.topic}; is it up, and may we publish there?")
