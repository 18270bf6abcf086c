"""What a run gives back: a table of maximal intervals, by fluent, as a timeline, as pandas or Arrow."""

from __future__ import annotations

import html
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from eventide.engine.recognition import Counts, Recognition, clipped
from eventide.errors import InputError
from eventide.formats.results import sorted_columns, write_intervals

if TYPE_CHECKING:
    import pandas


class Result:
    """The rows of INTERFACES: `fluent, args, value, start, end`, before them `query_time` and `change` as emitted."""

    def __init__(self, table: pa.Table, counts: Counts) -> None:
        self._table = table
        self.counts = counts

    @staticmethod
    def collect(recognition: Recognition, emit: str, progress: Callable[[int, int], None] | None = None) -> Result:
        """Run and gather the answers as `timeline`, `windows` or `changes`."""
        parts: list[pa.Table] = []
        last: list[pa.Table] = []
        def each(query: int, executor: Any) -> None:
            if emit == "timeline" and query < recognition.end:
                return
            answer = recognition.answer(executor)
            if emit == "timeline":
                parts.append(answer)
            elif emit == "windows":
                low = query - recognition.window + 1
                parts.append(_with_query(clipped(answer, low, query + 1), query))
            else:
                parts.extend(_with_query(t, query) for t in _changes(last[0] if last else None, answer))
                last[:] = [answer]

        if emit not in ("timeline", "windows", "changes"):
            raise InputError(f"emit is {emit!r}; known are timeline, windows and changes")
        recognition.run(each, progress)
        table = pa.concat_tables(parts).unify_dictionaries()
        return Result(table, recognition.counts)

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
        """The intervals by `fluent(args)=value`."""
        result: dict[str, list[tuple[int, int | None]]] = {}
        for row in self.to_arrow().to_pylist():
            args = f"({row['args'].replace('|', ',')})" if row["args"] else ""
            value = f"={row['value']}" if row["value"] else ""
            result.setdefault(f"{row['fluent']}{args}{value}", []).append((row["start"], row["end"]))
        return result

    def _repr_html_(self) -> str:
        table = self.to_arrow().slice(0, 200)
        head = "".join(f"<th>{html.escape(name)}</th>" for name in table.column_names)
        rows = "".join(
            "<tr>" + "".join(f"<td>{html.escape('' if v is None else str(v))}</td>" for v in row.values()) + "</tr>"
            for row in table.to_pylist())
        more = f"<caption>{len(self)} rows, the first 200 shown</caption>" if len(self) > 200 else ""
        return f"<table>{more}<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _with_query(table: pa.Table, query: int) -> pa.Table:
    return table.add_column(0, "query_time", pa.repeat(pa.scalar(query, pa.int64()), table.num_rows))


def _changes(old: pa.Table | None, new: pa.Table) -> list[pa.Table]:
    """What must be taken away from the old answer and added to get the new one. Rows within an answer are distinct."""
    old = new.slice(0, 0) if old is None else old
    both = pa.concat_tables([_sided(old, 1), _sided(new, 2)]).unify_dictionaries()
    names = new.column_names
    found = both.group_by(names).aggregate([("side", "sum")])  # 1: only before, 2: only now, 3: both

    def chosen(side: int, sign: str) -> pa.Table:
        rows = found.filter(pc.equal(found["side_sum"], side)).select(names)
        return rows.add_column(0, "change", pa.repeat(sign, rows.num_rows))

    return [chosen(1, "-"), chosen(2, "+")]


def _sided(table: pa.Table, side: int) -> pa.Table:
    plain = table.set_column(0, "fluent", table["fluent"].cast(pa.string()))  # groups compare values, not codes
    return plain.append_column("side", pa.repeat(pa.scalar(side, pa.int64()), table.num_rows))
