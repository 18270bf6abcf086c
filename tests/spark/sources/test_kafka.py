"""Kafka as a source: every offset once, in batches of a limited size, through restarts; problems in clear words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.spark.feeds import Feed
from tests.spark.servers import Kafka, free_port

from eventide.spark.config import KafkaSource
from eventide.spark.failures import ServiceError, clear_error
from eventide.spark.sources.kafka import KafkaReader

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def kafka() -> Kafka:
    """The cluster."""
    return Kafka()


def settings(kafka: Kafka, topic: str, **more: Any) -> KafkaSource:
    """A source of lines in RTEC's form."""
    return KafkaSource(kind="kafka", servers=kafka.servers, topics=[topic], **{"format": "rtec", **more})


def lines(low: int, high: int) -> list[bytes]:
    return [b"go|%d|%d|ship%d|7.0" % (time, time, time % 3) for time in range(low, high)]


def test_every_message_is_read_once_through_restarts(spark: Any, kafka: Kafka, tmp_path: Path) -> None:
    kafka.send("once", lines(0, 100), 0)
    kafka.send("once", lines(100, 150), 2)
    feed = Feed(spark, settings(kafka, "once"), tmp_path / "state")
    rows = feed.run()
    assert [row.time for row in rows] == list(range(150))
    assert (rows[3].name, rows[3].args, rows[3].source, rows[3].line) == ("go", ["ship0", "7.0"], "kafka:once/0", 3)
    assert feed.run() == []
    kafka.send("once", lines(150, 170), 1)
    assert [row.time for row in feed.run()] == list(range(150, 170))


@pytest.mark.slow
def test_a_batch_has_at_most_the_records_that_are_allowed(spark: Any, kafka: Kafka, tmp_path: Path) -> None:
    for partition in range(4):
        kafka.send("limited", lines(partition * 50, partition * 50 + 50), partition)
    feed = Feed(spark, settings(kafka, "limited", max_records=60), tmp_path / "state")
    assert [row.time for row in feed.run()] == list(range(200))
    assert max(map(len, feed.batches)) <= 60


def test_json_keeps_types_and_bad_messages_have_a_problem(spark: Any, kafka: Kafka, tmp_path: Path) -> None:
    kafka.send("json", [
        b'{"time": 1, "event": "go",\n "ship": 7, "speed": 7.0}', b"no json",
        b'{"time": 2, "event": "gone", "ship": 1}', b"\xff\xfe",
        b'{"speed": 1.5, "event": "go", "ship": "7", "time": 3}', b"",
    ])
    rows = Feed(spark, settings(kafka, "json", format="json"), tmp_path / "state").run()
    assert [(row.line, row.args, row.problem is None) for row in rows] == [
        (0, ["7", "7.0"], True), (1, None, False), (2, None, False), (3, None, False), (4, ["1.5", "'7'"], True)]
    assert rows[2].problem == "the program does not know gone [unknown-name]"
    assert rows[2].text == '{"time": 2, "event": "gone", "ship": 1}'


def test_a_csv_has_its_header_in_the_configuration(spark: Any, kafka: Kafka, tmp_path: Path) -> None:
    kafka.send("headed", [b"5,go,a,1", b"x,go,a,1", b"6,stop,b,1.5"])
    rows = Feed(spark, settings(kafka, "headed", format="csv", header="time,event,ship,speed"), tmp_path / "s").run()
    assert [(row.line, row.time, row.name, row.args) for row in rows] == [
        (0, 5, "go", ["a", "1"]), (1, None, None, None), (2, 6, "stop", ["b", "1.5"])]
    assert rows[1].problem.startswith("time is 'x'")


def test_a_stream_can_begin_at_the_end(kafka: Kafka) -> None:
    kafka.send("late", lines(0, 10))
    reader = KafkaReader(settings(kafka, "late", start="latest"))
    assert reader.initialOffset()["late"]["0"] == 10
    reader.stop()


def test_a_topic_that_was_made_anew_is_noticed(kafka: Kafka) -> None:
    kafka.send("anew", lines(0, 10))
    reader = KafkaReader(settings(kafka, "anew"))
    with pytest.raises(ServiceError, match="ends at offset 10, but the stream has read up to 99"):
        reader.latestOffset({"anew": {"0": 99}}, reader.getDefaultReadLimit())
    reader.stop()


@pytest.mark.slow
def test_a_broker_that_does_not_answer_gives_one_clear_message(spark: Any, tmp_path: Path) -> None:
    port = free_port()
    source = KafkaSource(kind="kafka", servers=f"127.0.0.1:{port}", topics=["t"], timeout=1)
    with pytest.raises(Exception) as caught:
        Feed(spark, source, tmp_path / "state").run()
    error = clear_error(caught.value)
    assert isinstance(error, ServiceError)
    assert str(error).startswith(f"no Kafka broker answers at 127.0.0.1:{port}")
    assert "\n" not in str(error)
