"""PostgreSQL as a sink, with a real server: whatever is repeated, the table is what the changes say, exactly once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from tests.spark.servers import free_port, postgres
from tests.spark.sinks.rows import CLOSED, OPENED, frame

from eventide.spark.config import PostgresSink
from eventide.spark.failures import ServiceError
from eventide.spark.sinks import open_sink

pytestmark = pytest.mark.spark
KEY = ["fluent", "args", "value", "start"]


@pytest.fixture(scope="module")
def database() -> Iterator[str]:
    with postgres() as dsn:
        yield dsn


def rows_of(dsn: str, table: str, columns: str = "fluent, args, value, start, \"end\"") -> list[Any]:
    with psycopg.connect(dsn) as connection:
        return connection.execute(f"SELECT {columns} FROM {table} ORDER BY 1, 2, 3, 4").fetchall()  # type: ignore[arg-type]


def sink(dsn: str, table: str, **more: Any) -> Any:
    settings = PostgresSink(kind="postgres", dsn=dsn, table=table, timeout=60, **more)
    return open_sink(settings, "stream-1")


def test_with_a_key_the_table_is_the_present_state(spark: Any, database: str) -> None:
    state = sink(database, "state", key=KEY, partitions=3)
    state.check()
    state.write(frame(spark, OPENED), 0)
    assert rows_of(database, "state") == [
        ("moving", "a|1", "true", 5, None), ("moving", "b", "true", 7, 9), ("said", 'it\'s "so", \\ ü', "", 8, 9)]
    state.write(frame(spark, CLOSED), 1)
    closed = [("moving", "a|1", "true", 5, 15), ("moving", "c", "2.0", 25, None),
              ("said", 'it\'s "so", \\ ü', "", 8, 9)]
    assert rows_of(database, "state") == closed
    state.write(frame(spark, CLOSED), 1)
    state.write(frame(spark, OPENED), 0)
    assert rows_of(database, "state") == closed


def test_without_a_key_every_row_is_added_once(spark: Any, database: str) -> None:
    log = sink(database, "log", partitions=2)
    log.write(frame(spark, OPENED), 0)
    log.write(frame(spark, OPENED), 0)
    assert len(rows_of(database, "log")) == len(OPENED)
    log.write(frame(spark, OPENED), 1)
    assert len(rows_of(database, "log")) == 2 * len(OPENED)


def test_a_batch_of_which_only_a_part_was_written_is_completed(spark: Any, database: str) -> None:
    partly = sink(database, "partly", partitions=2)
    rows = [(10, "+", "moving", f"v{number}", "true", number, None) for number in range(40)]
    partly.write(frame(spark, rows), 0)
    with psycopg.connect(database) as connection:  # as if the second partition had been killed
        before = connection.execute("SELECT count(*) FROM partly").fetchone()
        connection.execute("UPDATE eventide_batches SET batch = -1 WHERE part = 1 AND sink = 'sink partly'")
        connection.execute("CREATE TABLE kept AS SELECT * FROM partly")
        connection.execute("TRUNCATE partly")
    sink(database, "partly", partitions=5).write(frame(spark, rows), 0)
    with psycopg.connect(database) as connection:
        again = connection.execute("SELECT count(*) FROM partly").fetchone()
        lost = connection.execute("SELECT count(*) FROM (SELECT * FROM partly EXCEPT SELECT * FROM kept) x").fetchone()
        parts = connection.execute("SELECT parts, batch FROM eventide_batches WHERE sink = 'sink partly'").fetchall()
    assert before == (40,) and lost == (0,)
    assert again is not None and 0 < again[0] < 40
    assert parts == [(2, 0), (2, 0)]


def test_a_failure_leaves_nothing_of_its_partition(spark: Any, database: str) -> None:
    strict = sink(database, "strict", key=KEY)
    strict.write(frame(spark, OPENED), 0)
    with psycopg.connect(database) as connection:
        connection.execute("ALTER TABLE strict ADD CHECK (start <> 25)")
    with pytest.raises(ServiceError, match="refuses to write strict"):
        strict.write(frame(spark, CLOSED), 1)
    assert len(rows_of(database, "strict")) == len(OPENED)
    with psycopg.connect(database) as connection:
        connection.execute("ALTER TABLE strict DROP CONSTRAINT strict_start_check")
    strict.write(frame(spark, CLOSED), 1)
    assert ("moving", "c", "2.0", 25, None) in rows_of(database, "strict")


def test_a_database_that_does_not_answer(spark: Any) -> None:
    port = free_port()
    absent = sink(f"host=127.0.0.1 port={port} user=u password=secret dbname=d", "t")
    for attempt in (absent.check, lambda: absent.write(frame(spark, OPENED), 0)):
        with pytest.raises(ServiceError) as caught:
            attempt()
        assert str(caught.value).startswith(f"PostgreSQL at 127.0.0.1:{port}/d does not answer")
        assert "secret" not in str(caught.value) and "\n" not in str(caught.value)


def test_a_key_that_is_no_column(spark: Any, database: str) -> None:
    with pytest.raises(ServiceError, match=r"sink\.key names fluents"):
        sink(database, "t", key=["fluents"]).write(frame(spark, OPENED), 0)
