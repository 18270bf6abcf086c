"""Rows to a table of PostgreSQL, each exactly once: rows and the batch's number go in one transaction per partition.

A batch that comes again finds its number and changes nothing. For that its rows must fall into the same partitions as
before: they are distributed by key, in as many partitions as the first attempt had.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pyarrow as pa
import pyarrow.csv as pacsv
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict

from eventide.spark.config import PostgresSink
from eventide.spark.failures import ServiceError
from eventide.spark.sinks.delivery import deliver

LEDGER = sql.Identifier("eventide_batches")
CHANGE, QUERY_TIME = "change", "query_time"
TYPES = {"bigint": "bigint", "int": "integer", "smallint": "smallint", "tinyint": "smallint", "float": "real",
         "double": "double precision", "boolean": "boolean"}


class PostgresWriter:
    """A table that holds all rows, or with a key the present state."""

    def __init__(self, settings: PostgresSink, stream: str, name: str) -> None:
        self._settings, self._stream, self._name = settings, stream, f"{name} {settings.table}"
        self._table = sql.Identifier(*settings.table.split("."))

    def check(self) -> None:
        """ServiceError if the database does not answer; makes the table of batches."""
        with self._connected() as database:
            database.execute(sql.SQL(
                "CREATE TABLE IF NOT EXISTS {} (stream text, sink text, part integer, parts integer NOT NULL, "
                "batch bigint NOT NULL, PRIMARY KEY (stream, sink, part))").format(LEDGER))

    def write(self, frame: Any, batch: int) -> None:
        """Write a batch, or what is missing of it."""
        absent = [name for name in self._settings.key if name not in frame.columns]
        if absent:
            raise ServiceError(f"sink.key names {absent[0]}, but the columns are {', '.join(frame.columns)}")
        parts = self._prepare(frame, batch)
        keys = self._settings.key or frame.columns
        deliver(frame.repartition(parts, *keys), lambda part, batches: self._send(batch, part, parts, batches))

    def _prepare(self, frame: Any, batch: int) -> int:
        """Make the tables; the number of partitions that this batch has."""
        self.check()
        columns = [sql.SQL("{} {}").format(sql.Identifier(name), sql.SQL(TYPES.get(kind, "text")))
                   for name, kind in frame.dtypes if not (self._settings.key and name == CHANGE)]
        if self._settings.key:
            columns.append(sql.SQL("PRIMARY KEY ({})").format(_names(self._settings.key)))
        with self._connected() as database:
            database.execute(sql.SQL("CREATE TABLE IF NOT EXISTS {} ({})").format(
                self._table, sql.SQL(", ").join(columns)))
            begun = database.execute(sql.SQL(
                "SELECT parts FROM {} WHERE stream = %s AND sink = %s AND batch = %s LIMIT 1").format(LEDGER),
                (self._stream, self._name, batch)).fetchone()
        return int(begun[0]) if begun else self._settings.partitions

    def _send(self, batch: int, part: int, parts: int, batches: Iterator[pa.RecordBatch]) -> None:
        with self._connected() as database:
            known = database.execute(sql.SQL(
                "SELECT batch FROM {} WHERE stream = %s AND sink = %s AND part = %s").format(LEDGER),
                (self._stream, self._name, part)).fetchone()
            if known and known[0] >= batch:
                return
            self._apply(database, batches)
            database.execute(sql.SQL(
                "INSERT INTO {} VALUES (%s, %s, %s, %s, %s) ON CONFLICT (stream, sink, part) "
                "DO UPDATE SET batch = excluded.batch, parts = excluded.parts").format(LEDGER),
                (self._stream, self._name, part, parts, batch))

    def _apply(self, database: psycopg.Connection[Any], batches: Iterator[pa.RecordBatch]) -> None:
        """Copy the rows to a table of this transaction, then all at once to where they belong."""
        staged = sql.Identifier("eventide_staged")
        names: list[str] = []
        for batch in batches:
            if not names:
                names = batch.schema.names
                columns = [sql.SQL("{} {}").format(sql.Identifier(f.name), sql.SQL(_type_of(f.type)))
                           for f in batch.schema]
                database.execute(sql.SQL(
                    "CREATE TEMP TABLE {} ({}, eventide_order bigint GENERATED ALWAYS AS IDENTITY) ON COMMIT DROP"
                ).format(staged, sql.SQL(", ").join(columns)))
            out = io.BytesIO()
            pacsv.write_csv(batch, out, pacsv.WriteOptions(include_header=False))
            statement = sql.SQL("COPY {} ({}) FROM STDIN (FORMAT csv)").format(staged, _names(names))
            with database.cursor().copy(statement) as copy:
                copy.write(out.getvalue())
        if not names:
            return
        for statement in self._statements(staged, names):
            database.execute(statement)

    def _statements(self, staged: sql.Identifier, names: list[str]) -> Iterator[sql.Composed]:
        key = self._settings.key
        if not key:
            yield sql.SQL("INSERT INTO {} ({}) SELECT {} FROM {} ORDER BY eventide_order").format(
                self._table, _names(names), _names(names), staged)
            return
        # Of one key the last change counts; an interval that was extended is taken away and put back at one query time.
        order: list[sql.Composable] = []
        order += [sql.SQL("{} DESC").format(sql.Identifier(QUERY_TIME))] if QUERY_TIME in names else []
        order += [sql.SQL("({} = '+') DESC").format(sql.Identifier(CHANGE))] if CHANGE in names else []
        order.append(sql.SQL("eventide_order DESC"))
        latest = sql.SQL("(SELECT DISTINCT ON ({}) * FROM {} ORDER BY {}, {})").format(
            _names(key), staged, _names(key), sql.SQL(", ").join(order))
        if CHANGE in names:
            same = sql.SQL(" AND ").join(
                sql.SQL("{}.{} = gone.{}").format(self._table, sql.Identifier(name), sql.Identifier(name))
                for name in key)
            yield sql.SQL("DELETE FROM {} USING {} gone WHERE gone.{} = '-' AND {}").format(
                self._table, latest, sql.Identifier(CHANGE), same)
        kept = [name for name in names if name != CHANGE]
        others = [name for name in kept if name not in key]
        action = sql.SQL("DO UPDATE SET {}").format(sql.SQL(", ").join(
            sql.SQL("{} = excluded.{}").format(sql.Identifier(n), sql.Identifier(n)) for n in others)
        ) if others else sql.SQL("DO NOTHING")
        here = sql.SQL("WHERE {} <> '-'").format(sql.Identifier(CHANGE)) if CHANGE in names else sql.SQL("")
        yield sql.SQL("INSERT INTO {} ({}) SELECT {} FROM {} there {} ON CONFLICT ({}) {}").format(
            self._table, _names(kept), _names(kept), latest, here, _names(key), action)

    @contextmanager
    def _connected(self) -> Iterator[psycopg.Connection[Any]]:
        """A connection with one transaction, which is undone if anything goes wrong."""
        timeout = max(2, int(self._settings.timeout))
        try:
            with psycopg.connect(self._settings.dsn, connect_timeout=timeout) as database:
                yield database
        except psycopg.OperationalError as error:
            raise ServiceError(f"PostgreSQL at {self._place()} does not answer ({_first_line(error)}); check sink.dsn "
                               "and that the server is up") from error
        except psycopg.Error as error:
            raise ServiceError(f"PostgreSQL at {self._place()} refuses to write {self._settings.table}: "
                               f"{_first_line(error)}") from error

    def _place(self) -> str:
        """Where the database is, without passwords."""
        try:
            known = conninfo_to_dict(self._settings.dsn)
        except psycopg.Error:
            return "an address that cannot be read"
        return f"{known.get('host', 'localhost')}:{known.get('port', 5432)}/{known.get('dbname', '')}"


def _names(names: list[str]) -> sql.Composed:
    return sql.SQL(", ").join(map(sql.Identifier, names))


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def _type_of(kind: pa.DataType) -> str:
    if pa.types.is_boolean(kind):
        return "boolean"
    if pa.types.is_integer(kind):
        return "bigint"
    return "double precision" if pa.types.is_floating(kind) else "text"
