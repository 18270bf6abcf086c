"""MQTT as a source, with a real broker: nothing that was published is missing, whoever was away in between."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.spark.feeds import Feed
from tests.spark.servers import PATIENCE, free_port, mosquitto, wait_until

from eventide.spark.config import MqttSink, MqttSource
from eventide.spark.failures import ServiceError, clear_error
from eventide.spark.sources.mqtt import MqttReader, connected
from eventide.spark.sources.spool import segments, spooled


def settings(port: int, folder: Path, **more: Any) -> MqttSource:
    return MqttSource(kind="mqtt", host="127.0.0.1", port=port, topics=["ships/+"], format="rtec",
                      spool=folder / "spool", timeout=60, **more)


def publish(port: int, messages: Sequence[bytes]) -> None:
    """Publish messages and wait until the broker has them."""
    client = connected(MqttSink(kind="mqtt", host="127.0.0.1", port=port, topic="x"), "publisher")
    for sent in [client.publish(f"ships/{at % 3}", message, 1) for at, message in enumerate(messages)]:
        sent.wait_for_publish(PATIENCE)
        assert sent.is_published()
    client.disconnect()
    client.loop_stop()


def wait_for(folder: Path, messages: Sequence[bytes]) -> None:
    """Wait until messages are in the spool: once, or more often where a broker sends one again as if it were new."""
    wait_until(lambda: set(spool_lines(folder)) == set(messages), "the spool does not hold the messages",
               lambda: sorted(spool_lines(folder)))


def spool_lines(folder: Path) -> list[bytes]:
    found = segments(folder / "spool")
    return b"".join(spooled(folder / "spool", found[0][1], 1 << 60)).splitlines() if found else []


def events(low: int, high: int) -> list[bytes]:
    return [b"go|%d|%d|ship" % (time, time) for time in range(low, high)]


def test_messages_wait_in_the_broker_and_in_the_spool(tmp_path: Path) -> None:
    with mosquitto(tmp_path) as port:
        source = settings(port, tmp_path)
        reader = MqttReader(source)
        assert reader.initialOffset() == {"record": 0, "byte": 0}
        publish(port, events(0, 50))
        wait_for(tmp_path, events(0, 50))
        reader.stop()
        publish(port, events(50, 80))
        again = MqttReader(source)
        start = again.initialOffset()
        wait_for(tmp_path, events(0, 80))
        end = again.latestOffset(start, again.getDefaultReadLimit())
        assert end["record"] == len(spool_lines(tmp_path))
        again.stop()


def test_a_broker_that_goes_and_comes_back(tmp_path: Path) -> None:
    port = free_port()
    with mosquitto(tmp_path, port):
        reader = MqttReader(settings(port, tmp_path))
        reader.initialOffset()
        publish(port, events(0, 5))
        wait_for(tmp_path, events(0, 5))
    with mosquitto(tmp_path, port):
        publish(port, events(5, 10))
        wait_for(tmp_path, events(0, 10))
        reader.stop()


def test_nobody_answers(tmp_path: Path) -> None:
    port = free_port()
    with pytest.raises(ServiceError, match=f"no MQTT broker answers at 127.0.0.1:{port}"):
        MqttReader(settings(port, tmp_path)).initialOffset()


@pytest.mark.spark
@pytest.mark.slow
def test_a_stream_of_messages_is_read_once_through_restarts(spark: Any, tmp_path: Path) -> None:
    with mosquitto(tmp_path) as port:
        feed = Feed(spark, settings(port, tmp_path, max_records=20), tmp_path / "state")
        assert feed.run() == []
        publish(port, [*events(0, 50), b"what is this?"])
        rows = []
        wait_until(lambda: len(rows.extend(feed.run()) or rows) >= 51, "not all messages came")
        assert sorted(row.time for row in rows if row.problem is None) == list(range(50))
        assert [row.text for row in rows if row.problem] == ["what is this?"]
        assert sorted(row.line for row in rows) == list(range(1, 52))
        assert max(map(len, feed.batches)) <= 20


@pytest.mark.spark
def test_a_stream_says_clearly_that_nobody_answers(spark: Any, tmp_path: Path) -> None:
    with pytest.raises(Exception) as caught:
        Feed(spark, settings(free_port(), tmp_path), tmp_path / "state").run()
    assert str(clear_error(caught.value)).startswith("no MQTT broker answers at")
