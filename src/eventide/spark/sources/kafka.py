"""Topics of Kafka as pieces: one task per partition of a topic, offsets in Spark's checkpoint, no jar."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadLimit, ReadMaxRows, SupportsTriggerAvailableNow

from eventide.spark.config import KafkaSource
from eventide.spark.failures import ServiceError
from eventide.spark.records import LINES, PIECES, line_pieces, one_line, piece_batch

FORMS = {"rtec": "rtec", "csv": "headed", "json": "json", "nmea": LINES}
_AT_ONCE = 10_000
Offsets = dict[str, dict[str, int]]
"""The next offset to read, by topic and number of the partition."""


class KafkaPieces(DataSource):
    """The data source; its one option is the configuration as JSON."""

    @classmethod
    def name(cls) -> str:
        """Its name for Spark."""
        return "eventide-kafka"

    def schema(self) -> str:
        """The columns of pieces."""
        return PIECES

    def streamReader(self, schema: Any) -> KafkaReader:
        """The reader of one stream."""
        return KafkaReader(KafkaSource.model_validate_json(self.options["settings"]))


@dataclass
class KafkaRange(InputPartition):
    """What one task reads: the offsets from `low` up to but not `high`."""

    topic: str
    number: int
    low: int
    high: int


class KafkaReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Plans batches by offsets; reading a range again gives the same records."""

    def __init__(self, source: KafkaSource) -> None:
        self.source = source
        self._consumer: Any = None
        self._last: Offsets | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_consumer": None}  # tasks make their own

    def initialOffset(self) -> Offsets:
        """Where a new stream begins."""
        side = 0 if self.source.start == "earliest" else 1
        return {topic: {number: ends[side] for number, ends in parts.items()} for topic, parts in self._ends().items()}

    def getDefaultReadLimit(self) -> ReadLimit:
        """As many records as the configuration allows."""
        return ReadMaxRows(self.source.max_records)

    def prepareForTriggerAvailableNow(self) -> None:
        """From now on nothing that comes later is read."""
        self._last = self._heads()

    def reportLatestOffset(self) -> Offsets:
        """What there is to read."""
        return self._heads()

    def latestOffset(self, start: Offsets, limit: ReadLimit) -> Offsets:
        """How far the next batch goes: to the end, or a fair share of each partition."""
        ends = self._ends()
        heads = self._last or {t: {n: high for n, (_, high) in parts.items()} for t, parts in ends.items()}
        waiting: dict[tuple[str, str], tuple[int, int]] = {}
        for topic, parts in heads.items():
            for number, high in parts.items():
                low = start.get(topic, {}).get(number, 0)
                self._check(topic, number, low, ends[topic].get(number, (0, 0)))
                waiting[topic, number] = (low, max(low, high))
        rows = limit.max_rows if isinstance(limit, ReadMaxRows) else None
        found: Offsets = {topic: {} for topic in heads}
        for (topic, number), high in _shares(waiting, rows).items():
            found[topic][number] = high
        return found

    def partitions(self, start: Offsets, end: Offsets) -> list[KafkaRange]:
        """One range per partition that has something new."""
        return [KafkaRange(topic, int(number), low, high) for topic, parts in end.items()
                for number, high in parts.items() if (low := start.get(topic, {}).get(number, 0)) < high]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The records of a range."""
        assert isinstance(partition, KafkaRange)
        consumer = self._connect()
        source = f"kafka:{partition.topic}/{partition.number}"
        try:
            with self._clearly():
                consumer.assign([TopicPartition(partition.topic, partition.number, partition.low)])
            for first, lines in self._blocks(consumer, partition):
                yield piece_batch(line_pieces(lines, FORMS[self.source.format], source, first, self.source.header))
        finally:
            consumer.close()

    def stop(self) -> None:
        """Let go of the connection."""
        if self._consumer is not None:
            self._consumer.close()

    def _blocks(self, consumer: Any, wanted: KafkaRange) -> Iterator[tuple[int, bytes]]:
        """Messages without a gap between them, as lines, with the offset of the first."""
        first = following = wanted.low
        lines: list[bytes] = []
        heard = time.monotonic()
        done = False
        while not done:
            with self._clearly():
                messages = consumer.consume(min(_AT_ONCE, max(1, wanted.high - following)), 0.5)
            for message in messages:
                heard = time.monotonic()
                error, offset = message.error(), message.offset()
                if error is not None and error.code() != KafkaError._PARTITION_EOF:
                    raise self._refused(error)
                if error is not None or offset >= wanted.high:
                    done = done or offset >= wanted.high
                    continue
                if offset != following or len(lines) >= _AT_ONCE:
                    if lines:
                        yield first, b"\n".join((*lines, b""))
                    first, lines = offset, []
                lines.append(one_line(message.value() or b""))
                following = offset + 1
            done = done or following >= wanted.high
            if not done and time.monotonic() - heard > self.source.timeout:
                raise ServiceError(f"Kafka at {self.source.servers} gave nothing of {wanted.topic}/{wanted.number} "
                                   f"from offset {following} for {self.source.timeout:g} s; is the broker up?")
        if lines:
            yield first, b"\n".join((*lines, b""))

    def _connect(self) -> Any:
        settings: dict[str, Any] = {
            "bootstrap.servers": self.source.servers, "group.id": "eventide", "enable.auto.commit": False,
            "enable.partition.eof": True, "log_level": 2,
            "auto.offset.reset": "error" if self.source.missing == "fail" else "earliest", **self.source.options,
        }
        try:
            return Consumer(settings)
        except KafkaException as error:
            raise ServiceError(f"source.options: librdkafka says {error.args[0].str()}") from error

    def _ends(self) -> dict[str, dict[str, tuple[int, int]]]:
        """The first offset and the one after the last, of every partition."""
        if self._consumer is None:
            self._consumer = self._connect()
        found: dict[str, dict[str, tuple[int, int]]] = {}
        for topic in self.source.topics:
            with self._clearly():
                about = self._consumer.list_topics(topic, timeout=self.source.timeout).topics[topic]
            if about.error is not None:
                raise self._refused(about.error)
            with self._clearly():
                found[topic] = {str(number): self._consumer.get_watermark_offsets(
                    TopicPartition(topic, number), timeout=self.source.timeout) for number in sorted(about.partitions)}
        return found

    def _heads(self) -> Offsets:
        return {topic: {number: high for number, (_, high) in parts.items()} for topic, parts in self._ends().items()}

    def _check(self, topic: str, number: str, low: int, ends: tuple[int, int]) -> None:
        """ServiceError if the topic no longer has what the checkpoint says comes next."""
        if low > ends[1]:
            raise ServiceError(f"{topic}/{number} ends at offset {ends[1]}, but the stream has read up to {low}: the "
                               "topic was made anew; start with a new checkpoint")
        if low < ends[0] and self.source.missing == "fail":
            raise ServiceError(f"{topic}/{number} begins at offset {ends[0]}, but the stream has read up to {low}: "
                               "Kafka has deleted the rest; set source.missing to \"skip\" to go on without it")

    @contextmanager
    def _clearly(self) -> Iterator[None]:
        try:
            yield
        except KafkaException as error:
            raise self._refused(error.args[0]) from error

    def _refused(self, error: Any) -> ServiceError:
        if error.code() in (KafkaError._TRANSPORT, KafkaError._TIMED_OUT, KafkaError._ALL_BROKERS_DOWN,
                            KafkaError._RESOLVE):
            return ServiceError(f"no Kafka broker answers at {self.source.servers} ({error.str()}); "
                                "check source.servers and that the broker is up")
        if error.code() in (KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError._UNKNOWN_TOPIC):
            return ServiceError(f"Kafka at {self.source.servers} does not have all of the topics "
                                f"{', '.join(self.source.topics)}; make them first, or check source.topics")
        return ServiceError(f"Kafka at {self.source.servers} refuses: {error.str()}")


def _shares(waiting: Mapping[tuple[str, str], tuple[int, int]], rows: int | None) -> dict[tuple[str, str], int]:
    """Where each partition stops: at its end, or in proportion to what waits there.

    >>> _shares({("t", "0"): (0, 90), ("t", "1"): (5, 15)}, 10)
    {('t', '0'): 9, ('t', '1'): 6}
    """
    total = sum(high - low for low, high in waiting.values())
    if rows is None or total <= rows:
        return {key: high for key, (_, high) in waiting.items()}
    return {key: min(high, low + max(1, (high - low) * rows // total)) for key, (low, high) in waiting.items()}
