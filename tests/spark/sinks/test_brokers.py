"""Kafka, MQTT and the console as sinks: all rows arrive, with what tells a repeat; problems in clear words."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, TopicPartition
from tests.spark.servers import Kafka, free_port, mosquitto, wait_until
from tests.spark.sinks.rows import OPENED, frame

from eventide.spark.config import ConsoleSink, KafkaSink, MqttSink
from eventide.spark.failures import ServiceError
from eventide.spark.sinks import open_sink
from eventide.spark.sources.mqtt import connected

pytestmark = pytest.mark.spark


def test_kafka_gets_values_keys_and_headers(spark: Any) -> None:
    kafka = Kafka()
    kafka.make("out")
    settings = KafkaSink(kind="kafka", servers=kafka.servers, topic="out", key=["fluent", "args"], timeout=60)
    sink = open_sink(settings, "s")
    sink.check()
    sink.write(frame(spark, OPENED).coalesce(1), 4)
    consumer = Consumer({"bootstrap.servers": kafka.servers, "group.id": "g", "log_level": 2})
    consumer.assign([TopicPartition("out", number, 0) for number in range(4)])
    found: list[Any] = []
    wait_until(lambda: len(found.extend(consumer.consume(10, 0.5)) or found) >= len(OPENED), "rows are missing")
    consumer.close()
    assert {json.loads(message.value())["args"] for message in found} == {row[3] for row in OPENED}
    assert {tuple(json.loads(message.key())) for message in found} == {(row[2], row[3]) for row in OPENED}
    headers = [dict(message.headers()) for message in found]
    assert {(h["eventide-stream"], h["eventide-batch"]) for h in headers} == {(b"s", b"4")}
    assert {h["eventide-row"] for h in headers} == {b"0-0", b"0-1", b"0-2"}


def test_mqtt_gets_messages(spark: Any, tmp_path: Path) -> None:
    with mosquitto(tmp_path) as port:
        settings = MqttSink(kind="mqtt", host="127.0.0.1", port=port, topic="out", timeout=60)
        listener = connected(settings, "listener")
        found: list[dict[str, Any]] = []
        ready = threading.Event()
        listener.on_message = lambda client, data, message: found.append(json.loads(message.payload))
        listener.on_subscribe = lambda *given: ready.set()
        listener.subscribe("out", 1)
        assert ready.wait(10)
        sink = open_sink(settings, "s")
        sink.check()
        sink.write(frame(spark, OPENED).coalesce(1), 2)
        wait_until(lambda: len(found) == len(OPENED), "messages are missing")
        listener.disconnect()
        listener.loop_stop()
    assert {(row["args"], row["batch"], row["row"]) for row in found} == {
        (row[3], 2, f"0-{number}") for number, row in enumerate(OPENED)}


@pytest.mark.parametrize("settings", [
    KafkaSink(kind="kafka", servers=f"127.0.0.1:{free_port()}", topic="t", timeout=1),
    MqttSink(kind="mqtt", host="127.0.0.1", port=free_port(), topic="t", timeout=1),
], ids=["kafka", "mqtt"])
def test_nobody_answers(spark: Any, settings: KafkaSink | MqttSink) -> None:
    sink = open_sink(settings, "s")
    for attempt in (sink.check, lambda: sink.write(frame(spark, OPENED), 0)):
        with pytest.raises(ServiceError, match=r"127\.0\.0\.1") as caught:
            attempt()
        assert "\n" not in str(caught.value)


def test_the_console_shows_the_first_rows(spark: Any, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    sink = open_sink(ConsoleSink(kind="console", rows=2), "s")
    sink.check()
    sink.write(frame(spark, OPENED).coalesce(1), 0)
    shown = capfdbinary.readouterr().out.decode().splitlines()
    assert shown[:2] == ["query_time,change,fluent,args,value,start,end", "10,+,moving,a|1,true,5,"]
    assert shown[-1] == "… and 1 more in batch 0"
