"""Topics of an MQTT broker: messages go to a spool, and are acknowledged once they are on disk.

What is on disk but whose acknowledgement got lost comes again, marked as a repeat: it is known by its content, and left
out. Two messages of the same content are the same fact, so that nothing can be lost by this.
"""

from __future__ import annotations

import threading
from itertools import islice
from typing import Any

from paho.mqtt.client import Client, MQTTMessage
from paho.mqtt.enums import CallbackAPIVersion
from pyspark.sql.datasource import DataSource

from eventide.errors import EventideError
from eventide.spark.config import MqttSink, MqttSource
from eventide.spark.failures import ServiceError
from eventide.spark.records import PIECES, one_line
from eventide.spark.sources.spool import Spool, SpoolReader, last_lines

_REMEMBERED = 1 << 16  # no broker sends more than so many messages ahead of their acknowledgements


class MqttPieces(DataSource):
    """The data source; its one option is the configuration as JSON."""

    @classmethod
    def name(cls) -> str:
        """Its name for Spark."""
        return "eventide-mqtt"

    def schema(self) -> str:
        """The columns of pieces."""
        return PIECES

    def streamReader(self, schema: Any) -> MqttReader:
        """The reader of one stream."""
        return MqttReader(MqttSource.model_validate_json(self.options["settings"]))


class MqttReader(SpoolReader):
    """A stream of messages."""

    source: MqttSource

    def receive(self, spool: Spool) -> MqttReceiver:
        """Subscribe."""
        return MqttReceiver(self.source, spool)

    def origin(self) -> str:
        """The broker and what is subscribed to."""
        return f"mqtt:{','.join(self.source.topics)}"


class MqttReceiver:
    """A subscriber whose session the broker keeps: what comes while it is away waits there."""

    def __init__(self, source: MqttSource, spool: Spool) -> None:
        self.problem: EventideError | None = None
        self._source, self._spool = source, spool
        self._waiting: list[MQTTMessage] = []
        self._recent = dict.fromkeys(last_lines(spool.folder, _REMEMBERED))
        self._news = threading.Condition()
        self._stopped = False
        self._client = connected(source, source.client, self)
        self._writer = threading.Thread(target=self._write, daemon=True, name="eventide-mqtt-spool")
        self._writer.start()

    def stop(self) -> None:
        """Leave; the broker keeps what was not acknowledged."""
        with self._news:
            self._stopped = True
            self._news.notify()
        self._writer.join()
        leave(self._client)

    def subscribe(self, client: Client) -> None:
        """Subscribe, also after the connection was lost."""
        client.subscribe([(topic, int(self._source.qos)) for topic in self._source.topics])

    def on_message(self, message: MQTTMessage) -> None:
        """Leave it to the writer."""
        with self._news:
            self._waiting.append(message)
            self._news.notify()

    def _write(self) -> None:
        """All that waits goes to disk at once, then is acknowledged."""
        while True:
            with self._news:
                while not self._waiting and not self._stopped:
                    self._news.wait()
                messages, self._waiting = self._waiting, []
            if not messages:
                return
            fresh = []
            for message in messages:
                line = one_line(bytes(message.payload))
                if not (message.dup and line in self._recent):
                    fresh.append(line)
                self._recent[line] = None
            try:
                self._spool.append(fresh)
            except EventideError as error:
                self.problem = error
                return
            for message in messages:
                if message.qos:
                    self._client.ack(message.mid, message.qos)
            for line in list(islice(self._recent, max(0, len(self._recent) - _REMEMBERED))):
                del self._recent[line]


def connected(settings: MqttSource | MqttSink, name: str, receiver: MqttReceiver | None = None) -> Client:
    """A client with a connection that is kept up; ServiceError if the broker does not answer, or refuses.

    A receiver's is there once the broker has confirmed what it subscribes to: before that, messages pass it by.
    """
    where = f"{settings.host}:{settings.port}"
    client = Client(CallbackAPIVersion.VERSION2, client_id=name, clean_session=receiver is None,
                    manual_ack=receiver is not None)
    answered = threading.Event()
    answer: list[Any] = []

    def on_connect(client: Client, data: Any, flags: Any, reason: Any, properties: Any) -> None:
        answer.append(reason)
        if receiver is None or reason.is_failure:
            answered.set()
        else:
            receiver.subscribe(client)

    def on_subscribe(client: Client, data: Any, number: int, reasons: list[Any], properties: Any) -> None:
        answer.extend(reason for reason in reasons if reason.is_failure)
        answered.set()

    client.on_connect = on_connect
    client.on_subscribe = on_subscribe
    if receiver is not None:
        client.on_message = lambda client, data, message: receiver.on_message(message)
    if settings.user is not None:
        client.username_pw_set(settings.user, settings.password)
    if settings.tls:
        client.tls_set()
    client.connect_timeout = settings.timeout
    try:
        client.connect(settings.host, settings.port)
    except (OSError, ValueError) as error:
        raise ServiceError(f"no MQTT broker answers at {where} ({error}); check host and port, and that the broker "
                           "is up") from error
    client.loop_start()
    in_time = answered.wait(settings.timeout)
    if not in_time or answer[-1].is_failure:
        client.loop_stop()
        refused = "the subscription" if len(answer) > 1 else "the connection"
        reason = f"refuses {refused}: {answer[-1]}" if in_time else f"did not answer for {settings.timeout:g} s"
        raise ServiceError(f"the MQTT broker at {where} {reason}")
    return client


def leave(client: Client) -> None:
    """Say goodbye to the broker."""
    client.disconnect()
    client.loop_stop()
