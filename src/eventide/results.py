"""What a run gives back: its answers as they come, or all together: by fluent, as a timeline, as pandas or Arrow."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from eventide.engine.answers import SCHEMA
from eventide.engine.recognition import Counts, Recognition, clipped
from eventide.engine.session import LATE, Changes, Session
from eventide.engine.windowed import WindowedRun
from eventide.errors import EventideError, InputError, RuleError
from eventide.formats.results import sorted_columns, write_intervals
from eventide.notebook import MOST_DRAWN, bars_of, folded_html, rows_html, timeline_html

if TYPE_CHECKING:
    import pandas

    from eventide.probability.session import UncertainChanges, UncertainSession, UncertainWindows

EMITS = ("timeline", "windows", "changes")
Progress = Callable[[int, int], None]
_SHOWN = 5


class Answer(NamedTuple):
    """The rows of a query time, unsorted, and the facts that came too late for it."""

    query_time: int
    table: pa.Table
    late: pa.Table


class Answers:
    """A run as it goes: iterating gives the rows of one query time after the other, of a `timeline` with the last."""

    def __init__(self, run: Recognition | WindowedRun | UncertainWindows, emit: str,
                 placed: Callable[[RuleError], EventideError], progress: Progress | None = None) -> None:
        if emit not in EMITS:
            raise InputError(f"emit is {emit!r}; known are {', '.join(EMITS[:-1])} and {EMITS[-1]}")
        self._run, self._emit, self._placed, self._progress = run, emit, placed, progress

    @property
    def counts(self) -> Counts:
        """What was seen and left out so far."""
        return self._run.counts

    def __iter__(self) -> Iterator[Answer]:
        run = self._run
        total = 1 if isinstance(run, Recognition) else run.extent.queries
        try:
            for number, answer in enumerate(self._answers(run), 1):
                yield answer
                if self._progress is not None:
                    self._progress(number, total)
        except RuleError as error:
            raise self._placed(error) from error

    def _answers(self, run: Recognition | WindowedRun | UncertainWindows) -> Iterator[Answer]:
        if isinstance(run, Recognition):
            yield Answer(run.query, _of_one_window(run, self._emit), listed(LATE.empty_table(), run.query))
            return
        held = _Held(run.session.answer().schema)
        for changes in run:
            if self._emit == "timeline":
                held.apply(changes)
                is_last = changes.query_time >= run.extent.end
                table = held.rows() if is_last else held.schema.empty_table()
            else:
                table = emitted(run.session, changes, self._emit)
            yield Answer(changes.query_time, table, listed(changes.late, changes.query_time))


def emitted(session: Session | UncertainSession, changes: Changes | UncertainChanges, emit: str) -> pa.Table:
    """What a session says at its query time, as `windows` or as `changes`."""
    if emit == "windows":
        return with_query(session.window_answer(), changes.query_time)
    return signed(changes.removed, changes.added, changes.query_time)


def no_rows(emit: str, schema: pa.Schema = SCHEMA) -> pa.Table:
    """The columns of `windows` or `changes` of rows with these columns, without rows."""
    nothing = schema.empty_table()
    return with_query(nothing, 0) if emit == "windows" else signed(nothing, nothing, 0)


def signed(removed: pa.Table, added: pa.Table, query: int) -> pa.Table:
    """What went and what came by a query time, in one table."""
    return with_query(with_signs(removed, added), query)


def with_signs(removed: pa.Table, added: pa.Table) -> pa.Table:
    """Rows that went (`-`) and came (`+`) in one table, the sign before each.

    >>> with_signs(pa.table({"fluent": ["rich"]}), pa.table({"fluent": ["poor"]})).to_pylist()
    [{'change': '-', 'fluent': 'rich'}, {'change': '+', 'fluent': 'poor'}]
    """
    both = [table.add_column(0, "change", pa.repeat(sign, table.num_rows))
            for table, sign in ((removed, "-"), (added, "+"))]
    return pa.concat_tables(both).unify_dictionaries()


def listed(late: pa.Table, query: int) -> pa.Table:
    """Facts that came too late, with the query time that would have been the first to see them."""
    return late.append_column("query_time", pa.repeat(pa.scalar(query, pa.int64()), late.num_rows))


def _of_one_window(run: Recognition, emit: str) -> pa.Table:
    answer = run.answer(run.run())
    if emit == "windows":
        return with_query(clipped(answer, run.start + 1, run.query + 1), run.query)
    return answer if emit == "timeline" else signed(answer.slice(0, 0), answer, run.query)


class _Held:
    """What changes add up to. Rows that came and went are taken out whenever the changes outnumber the rows."""

    def __init__(self, schema: pa.Schema = SCHEMA) -> None:
        self.schema = schema
        self._tables: list[pa.Table] = []
        self._changes = self._settled = 0
        self._limit = 100_000

    def apply(self, changes: Changes | UncertainChanges) -> None:
        """Take note of what came and what went."""
        for table, side in ((changes.added, 1), (changes.removed, -1)):
            if table.num_rows:
                plain = table.set_column(0, "fluent", table["fluent"].cast(pa.string()))  # groups compare values
                self._tables.append(plain.append_column("side", pa.repeat(pa.scalar(side, pa.int64()), len(table))))
                self._changes += table.num_rows
        if self._changes > 2 * self._settled + self._limit:
            self._settle()

    def _settle(self) -> None:
        names = self.schema.names
        both = pa.concat_tables(self._tables, promote_options="default").unify_dictionaries()
        found = both.group_by(names).aggregate([("side", "sum")]).rename_columns([*names, "side"])
        self._tables = [found.filter(pc.greater(found["side"], 0))]
        self._changes = self._settled = self._tables[0].num_rows

    def rows(self) -> pa.Table:
        """The rows that are there now."""
        if not self._tables:
            return self.schema.empty_table()
        self._settle()
        table = self._tables[0].select(self.schema.names)
        return table.cast(self.schema)


class Timeline(dict[str, list[tuple[int, int | None]]]):
    """Intervals by `fluent(args)=value`, which a notebook draws as bars.

    >>> Timeline({"rich(ann)=true": [(4, None)]})
    {'rich(ann)=true': [(4, None)]}
    """

    def _repr_html_(self) -> str:
        return timeline_html((label, start, end) for label, spans in self.items() for start, end in spans)


class Result:
    """The rows `fluent, args, value, start, end`, before them `query_time` and `change` as emitted.

    >>> import eventide as ev
    >>> program = ev.parse("initiatedAt(rich(X)=true, T) :- happensAt(win(X), T).")
    >>> result = program.run({"win": pa.table({"time": [3, 5], "who": ["ann", "bob"]})})
    >>> result["rich"].timeline()
    {'rich(ann)=true': [(4, None)], 'rich(bob)=true': [(6, None)]}
    >>> result.to_arrow()["start"].to_pylist(), result.to_pandas()["args"].tolist()
    ([4, 6], ['ann', 'bob'])
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     result.write(f"{folder}/rich.csv")
    ...     print(open(f"{folder}/rich.csv").readline(), end="")
    fluent,args,value,start,end
    """

    def __init__(self, table: pa.Table, counts: Counts) -> None:
        self._table = table
        self.counts = counts

    def to_arrow(self) -> pa.Table:
        """The rows, sorted as they are written to files."""
        return pa.table(sorted_columns(self._table))

    def to_pandas(self) -> pandas.DataFrame:
        """The rows as a pandas DataFrame (an open end is missing)."""
        import pandas

        table = self.to_arrow()
        frame = table.to_pandas()
        # With open ends pandas would make floats of them, which are not exact from 2**53 on: nanoseconds since 1970.
        frame["end"] = table["end"].to_pandas(types_mapper={pa.int64(): pandas.Int64Dtype()}.get)
        return frame

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write `.csv`, `.parquet` or `.jsonl`, whole or not at all."""
        write_intervals(self._table, path)

    def __len__(self) -> int:
        return int(self._table.num_rows)

    def __getitem__(self, fluent: str) -> Result:
        """The rows of one fluent."""
        return Result(self._table.filter(pc.equal(self._table["fluent"].cast(pa.string()), fluent)), self.counts)

    def timeline(self) -> dict[str, list[tuple[int, int | None]]]:
        """The intervals by `fluent(args)=value`; a notebook draws them."""
        result: Timeline = Timeline()
        for row in self.to_arrow().to_pylist():
            args = f"({row['args'].replace('|', ',')})" if row["args"] else ""
            value = f"={row['value']}" if row["value"] else ""
            result.setdefault(f"{row['fluent']}{args}{value}", []).append((row["start"], row["end"]))
        return result

    def __repr__(self) -> str:
        """How many rows there are, and the first of them as they are written to a CSV."""
        table = self.to_arrow()
        first = table.slice(0, _SHOWN).to_pylist()
        rows = [",".join("" if v is None else str(v) for v in row.values()) for row in first]
        more = ["…"] if len(self) > _SHOWN else []
        count = f"{len(self)} row{'' if len(self) == 1 else 's'}"
        return "\n".join([f"<Result: {count}>", ",".join(table.column_names), *rows, *more])

    def _repr_html_(self) -> str:
        table = self.to_arrow()
        count = f"{len(self):,} row{'' if len(self) == 1 else 's'}"
        if "query_time" in table.column_names:
            return f"<p><b>{count}</b></p>{rows_html(table)}"
        picture = timeline_html(bars_of(table.slice(0, MOST_DRAWN).to_pylist()), len(self))
        return f"<p><b>{count}</b></p>{picture}{folded_html('as a table', rows_html(table))}"


def with_query(table: pa.Table, query: int) -> pa.Table:
    """Rows with the query time before them."""
    return table.add_column(0, "query_time", pa.repeat(pa.scalar(query, pa.int64()), table.num_rows))
