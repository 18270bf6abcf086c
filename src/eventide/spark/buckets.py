"""One stage of a stream on one bucket of entities: units of facts in, changes out. Knows no Spark.

A bucket goes through the units of a batch in their order: it takes in the facts, moves its clock, and advances through
the query times that the clock has passed.
"""

from __future__ import annotations

import pickle
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from eventide.analysis.patterns import leaf_count, name_of
from eventide.engine.exchange import News
from eventide.engine.retained import Batch
from eventide.engine.session import Changes, Session
from eventide.engine.swap import taken_over
from eventide.engine.windowed import Queue
from eventide.errors import RuleError
from eventide.formats.facts import Facts
from eventide.results import emitted, listed, with_query
from eventide.spark.partitioning import FIRED, Send
from eventide.spark.parts import buckets_of, column_at, split
from eventide.spark.tasks import Owned
from eventide.spark.units import (
    CHANGES,
    COUNTS,
    LATE,
    SWAPPED,
    Clock,
    FactsPart,
    Given,
    NewsPart,
    Row,
    Told,
    Unit,
    by_query,
    in_order,
    packed,
    unpacked,
    written,
)

if TYPE_CHECKING:
    from eventide.spark.flow import Flow

COUNTED = pa.schema([("stage", pa.int32()), ("bucket", pa.int32()), *(
    (name, pa.int64()) for name in ("events", "late", "before_start", "changes", "query_time", "clock", "state_rows"))])
_FEW = 3  # a unit over more query times than this is sorted first


@dataclass
class Out:
    """What a batch gives."""

    flow: Flow
    stage: int
    number: int
    before_start: int
    events: int = 0
    query_time: int | None = None
    changes: list[pa.Table] = field(default_factory=list)
    late: list[pa.Table] = field(default_factory=list)
    news: dict[tuple[int, int], dict[int, Told]] = field(default_factory=dict)

    def tell(self, stage: int, bucket: int, query: int, relation: str, news: News) -> None:
        """Send news on."""
        self.news.setdefault((stage, bucket), {}).setdefault(query, {}).setdefault(relation, []).append(news)

    def answer(self, query: int, late: pa.Table, rows: pa.Table | None) -> None:
        """Note what there is at a query time."""
        self.query_time = query
        if late.num_rows:
            self.late.append(listed(late, query))
        if rows is not None and rows.num_rows:
            self.changes.append(rows)

    def rows(self, bucket: Bucket) -> list[Row]:
        """The packed rows."""
        rows: list[Row] = [(*to, packed(NewsPart(self.stage, self.number, list(told.items()))))
                           for to, told in self.news.items()]
        results = self.flow.last + 1
        for kind, tables in (CHANGES, self.changes), (LATE, self.late):
            if tables:
                rows.append((results, kind, written(pa.concat_tables(tables).unify_dictionaries())))
        counts = pa.table({
            "stage": [self.stage], "bucket": [self.number], "events": [self.events],
            "late": [sum(table.num_rows for table in self.late)],
            "before_start": [bucket.session.counts.before_start - self.before_start],
            "changes": [sum(table.num_rows for table in self.changes)], "query_time": [self.query_time],
            "clock": [bucket.clock.time], "state_rows": [bucket.session.rows]}, schema=COUNTED)
        rows.append((results, COUNTS, written(counts)))
        return rows


class Bucket(ABC):
    """A stage of a flow on one bucket: a session, and how far it is."""

    session: Any

    def __init__(self, flow: Flow, stage: int, number: int, clock: Clock) -> None:
        self.flow, self.stage, self.number, self.clock = flow, stage, number, clock
        self._owned = Owned(flow.partitioning.stages[stage], frozenset((number,)), flow.buckets)

    def process(self, parts: Sequence[bytes]) -> list[Row]:
        """Go through the parts of one batch; what comes out, by stage and bucket or kind of result."""
        found = [unpacked(part) for part in sorted(parts)]
        news = by_query(part for part in found if isinstance(part, NewsPart))
        out = Out(self.flow, self.stage, self.number, self.session.counts.before_start)
        try:
            self._begin(news.pop(SWAPPED, {}), out)
            for unit, contents in in_order(part for part in found if isinstance(part, FactsPart)):
                self._go_through(unit, contents, news, out)
        except RuleError as error:
            raise self.flow.program.placed(error) from error
        return out.rows(self)

    def _begin(self, news: Told, out: Out) -> None:
        """Do what is to be done once, before the first unit: by default nothing, and nobody sends news for it."""
        assert not news

    @abstractmethod
    def _go_through(self, unit: Unit, contents: Sequence[Mapping[str, Given]], news: Mapping[int, Told],
                    out: Out) -> None:
        """Take in the facts of a unit, and answer the query times that it lets pass."""

    def _see(self, unit: Unit) -> None:
        """Move the clock; without a start of the flow, the first unit says from when on query times are counted."""
        self.clock = self.clock.after(unit, self.flow)

    def _queries(self) -> Iterator[int]:
        """The query times that the clock has passed, each behind it when the next is asked for."""
        while (query := self.clock.query(self.flow)) is not None:
            yield query
            self.clock = replace(self.clock, queries=self.clock.queries + 1)

    @abstractmethod
    def save(self) -> bytes:
        """Everything the bucket is, as bytes."""


def facts_of(content: Mapping[str, Given]) -> Facts:
    """The facts of a part, by name and number of arguments."""
    return Facts({(name_of(name), leaf_count(name)): table for name, (table, _) in content.items()})


class CertainBucket(Bucket):
    """A bucket over certain facts, and which results it has said to be final."""

    def __init__(self, flow: Flow, stage: int, number: int, session: Session, clock: Clock,
                 settled: dict[str, int]) -> None:
        super().__init__(flow, stage, number, clock)
        self.session: Session = session
        self._settled = settled
        self._sends = flow.partitioning.stages[stage].sends
        self._former: CertainBucket | None = None

    def successor(self, flow: Flow) -> CertainBucket:
        """The same bucket with other rules; it takes over when it goes through its first batch."""
        found = flow.bucket(self.stage, self.number)
        assert isinstance(found, CertainBucket)
        found._former, found.clock = self, self.clock
        return found

    def _begin(self, news: Told, out: Out) -> None:
        """Take over from the bucket with the rules before; later stages are told of results that they do not have."""
        if self._former is None:
            return
        old, session, meanings = self._former, self.session, self.flow.meanings
        arrived = session.arrived(news)
        self._owned.fill(session.store)
        before = old.flow.meanings
        found = taken_over(old.session.former(before), session, meanings=meanings, news=arrived,
                           prepare=self._owned.fill)
        self._settled = _told_before(old, session, found.since)
        out.before_start = session.counts.before_start
        self._former = None
        if session.query_time is None:
            return
        for send in self._sends:
            relation = send.relation
            own = relation.removeprefix(FIRED)
            known = send in old._sends and before.get(own) == meanings[own]
            if own in session.plan.bodies and not known:
                for bucket, told in self._told(session.everything(relation), send):
                    out.tell(send.to, bucket, SWAPPED, relation, told)

    def _go_through(self, unit: Unit, contents: Sequence[Mapping[str, Given]],
                    news: Mapping[int, Told], out: Out) -> None:
        batches = [self._coded(content, out) for content in contents if content]
        self._see(unit)
        queues = []
        for found in batches:
            if self.clock.left(self.flow) > _FEW:
                queues.append(Queue(found))
            else:
                self.session.accept(found)
        for query in self._queries():
            self._accept(queues, query)
            self._advance(query, news.get(query, {}), out)
        self._accept(queues, None)

    def _accept(self, queues: Iterable[Queue], query: int | None) -> None:
        for queue in queues:
            for batches in queue.until(query):
                self.session.accept(batches)

    def _coded(self, content: Mapping[str, Given], out: Out) -> dict[str, Batch]:
        batches = self.session.coded(facts_of(content))
        for name, (table, copies) in content.items():
            if copies is not False:
                mask = np.ones(len(table), np.bool_) if copies is True else copies
                batches[name] = replace(batches[name], copies=mask)
            out.events += batches[name].counted()
        return batches

    def _advance(self, query: int, news: Told, out: Out) -> None:
        session, flow = self.session, self.flow
        arrived = session.arrived(news)
        self._owned.fill(session.store)  # with what the news brought
        changes = session.advance(query, arrived)
        settled = session.settled(query + flow.step, _settled(news)) if flow.emit == "final" else {}
        rows = None
        if session.wanted:
            rows = self._final(query, settled) if flow.emit == "final" else emitted(session, changes, "changes")
        out.answer(query, changes.late, rows)
        self._send(query, changes, settled, out)

    def _final(self, query: int, settled: Mapping[str, int]) -> pa.Table:
        """The rows that have become final: they end before what is settled now, and did not before."""
        names = [wanted.definition for wanted in self.session.wanted]
        table = self.session.answer({name: (self._settled.get(name), settled[name]) for name in names})
        for name in names:  # with other rules it may be later that something is final
            self._settled[name] = max(settled[name], self._settled.get(name, settled[name]))
        return with_query(table, query)

    def _send(self, query: int, changes: Changes, settled: Mapping[str, int], out: Out) -> None:
        """Tell later stages what came and went."""
        known: dict[str, News] = {}
        for send in self._sends:
            relation = send.relation
            if relation.removeprefix(FIRED) not in self.session.plan.bodies:
                continue  # it runs in one bucket, another one
            if relation not in known:
                known[relation] = replace(changes.news(relation), settled=settled.get(relation))
            for bucket, news in self._told(known[relation], send):
                out.tell(send.to, bucket, query, relation, news)

    def _told(self, news: News, send: Send) -> Iterator[tuple[int, News]]:
        number = self.flow.buckets
        if send.how != "key" or number == 1:
            yield from ((bucket, news) for bucket in range(number if send.how == "all" else 1))
            return
        came, went = ({} if table is None else dict(split(table, buckets_of(column_at(table, send.column), number)))
                      for table in (news.came, news.went))
        for bucket in range(number):
            yield bucket, replace(news, came=came.get(bucket), went=went.get(bucket))

    def save(self) -> bytes:
        """Everything the bucket is, as bytes."""
        return pickle.dumps((self.clock, self._settled, self.session.save()), protocol=5)


def _told_before(old: CertainBucket, new: Session, floor: int | None) -> dict[str, int]:
    """Until when the results of new rules count as told: as far as the old ones told rows that are written alike.

    Of what has not been told, rows that were over before the floor are not told any more.
    """
    found: dict[str, int] = {}
    for wanted in new.wanted:
        alike = [old._settled[was.definition] for was in old.session.wanted
                 if was.definition in old._settled and was.template == wanted.template
                 and (None in (was.value, wanted.value) or was.value == wanted.value)]
        if not alike and floor is not None:
            alike = [floor + 1]
        if alike:
            found[wanted.definition] = max(*alike, found.get(wanted.definition, alike[0]))
    return found


def _settled(news: Told) -> dict[str, int]:
    """Before which time what earlier stages tell can never change again."""
    return {name: min(found.settled for found in told if found.settled is not None) for name, told in news.items()}
