"""Relations to Arrow columns: the text of arguments and values, intervals in the time of the input."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from eventide.algebra.nodes import Field, Fields, Output
from eventide.engine.domains import Domain, Value, value_of
from eventide.engine.relation import Relation, Rows, Space, unpack
from eventide.formats.facts import Coded, Column, FactTable, column_of
from eventide.kernels.arrays import Array, Intervals
from eventide.notebook import changes_html
from eventide.syntax.terms import Compound

_LEAF = re.compile(r"(?<![^(,])_(?![^),])")
SCHEMA = pa.schema([("fluent", pa.dictionary(pa.int32(), pa.string())), ("args", pa.string()), ("value", pa.string()),
                    ("start", pa.int64()), ("end", pa.int64())])

Row = tuple[str, str, str, int, int | None]
"""A row of an answer: fluent, arguments, value, start, end."""
Tables = Callable[[], tuple[pa.Table, pa.Table]]


class CameAndWent:
    """Rows that came and rows that went, in the columns of results; tables are made when they are first asked for."""

    def __init__(self, find: Tables) -> None:
        self._find = find

    @cached_property
    def _tables(self) -> tuple[pa.Table, pa.Table]:
        return self._find()

    @property
    def added(self) -> pa.Table:
        """The rows that came; what still holds has no end."""
        return self._tables[0]

    @property
    def removed(self) -> pa.Table:
        """The rows that went."""
        return self._tables[1]

    def __repr__(self) -> str:
        """How many rows came and went."""
        came, went = (f"{table.num_rows} row{'' if table.num_rows == 1 else 's'}" for table in self._tables)
        return f"<{type(self).__name__}: {came} added, {went} removed>"

    def _repr_html_(self) -> str:
        return changes_html(self)


def _texts(domain: Domain, codes: Array) -> pa.Array:
    return domain.column.take(pa.array(codes))


def arguments(template: str, fields: Fields, columns: dict[str, np.ndarray], space: Space, length: int) -> pa.Array:
    """The arguments as text, joined by `|`; nested ones are written out as the template has them."""
    _, _, inner = template.partition("(")
    if not inner:
        return _constant("", length)
    pieces: list[pa.Array | str] = []
    texts = iter([_texts(space.domains[field.type], columns[field.name]) for field in fields])
    at, depth, body = 0, 0, inner[:-1]
    separated = list(body)
    for i, c in enumerate(body):
        depth += (c == "(") - (c == ")")
        if c == "," and depth == 0:
            separated[i] = "|"
    shown = "".join(separated)
    for match in _LEAF.finditer(body):
        if match.start() > at:
            pieces.append(shown[at:match.start()])
        pieces.append(next(texts))
        at = match.end()
    if at < len(shown):
        pieces.append(shown[at:])
    if len(pieces) == 1 and isinstance(pieces[0], pa.Array):
        return pieces[0]
    joined = [p if isinstance(p, pa.Array) else pa.scalar(p, pa.string()) for p in pieces]
    return pc.binary_join_element_wise(*joined, pa.scalar("", pa.string()))


def _constant(text: str, length: int) -> pa.Array:
    return pa.DictionaryArray.from_arrays(np.zeros(length, np.int32), pa.array([text])).cast(pa.string())


def _table(fluent: str, args: pa.Array, value: pa.Array, starts: Array, ends: Array, open_: np.ndarray) -> pa.Table:
    length = len(args)
    name = pa.DictionaryArray.from_arrays(np.zeros(length, np.int32), pa.array([fluent]))
    return pa.table([name, args, value, pa.array(starts), pa.array(ends, mask=open_)], schema=SCHEMA)


def intervals_table(relation: Relation, template: str, fields: Fields, fixed: str | None,
                    values: Sequence[int] | None) -> pa.Table:
    """The rows of a fluent: `fixed` is its value if the relation has no value column; `values` are the codes kept."""
    space = relation.space
    if fixed is None and values is not None:
        relation = relation.where(np.isin(relation.codes(fields[-1].name), np.array(values, np.int64)))
    intervals: Intervals = relation.intervals
    columns = unpack(space, fields, intervals.starts)
    timeline = space.timeline
    ends = intervals.ends & timeline.mask
    open_ = ends == timeline.mask
    keys = fields if fixed is not None else fields[:-1]
    value = _constant(fixed, len(relation)) if fixed is not None else _texts(
        space.domains[fields[-1].type], columns[fields[-1].name])
    return _table(template.partition("(")[0], arguments(template, keys, columns, space, len(relation)), value,
                  (intervals.starts & timeline.mask) + timeline.origin, ends + timeline.origin, open_)


def output_table(wanted: Output, result: Relation | Rows, space: Space) -> pa.Table:
    """The rows of a result as it is to be reported: of a multi-valued fluent only the values that are listed."""
    if isinstance(result, Rows):
        return events_table(result, wanted.template, space)
    fixed = None if wanted.value is None else str(wanted.value)
    return intervals_table(result, wanted.template, result.fields, fixed, _listed(wanted, result.fields, space))


def _listed(wanted: Output, fields: Fields, space: Space) -> list[int] | None:
    """The codes of the values that are listed; None if all count."""
    if wanted.values is None or not fields:
        return None
    domain = space.domains[fields[-1].type]
    return [domain.find(value_of(value)) for value in wanted.values]


def facts_of(wanted: Output, result: Relation | Rows, space: Space, forever: int) -> FactTable:
    """A result as facts, whose values are what they are, not their text; an interval without an end has `forever`.

    Nested arguments are plain columns.
    """
    name, origin = wanted.template.partition("(")[0], space.timeline.origin
    if isinstance(result, Rows):
        cells = [_values(space, field, result.column(field.name)) for field in result.fields]
        return FactTable(name, "event", result.time + origin, tuple(cells))
    codes = _listed(wanted, result.fields, space) if wanted.value is None else None
    if codes is not None:
        result = result.where(np.isin(result.codes(result.fields[-1].name), codes))
    columns, mask = unpack(space, result.fields, result.intervals.starts), space.timeline.mask
    cells = [_values(space, field, columns[field.name]) for field in result.fields]
    starts, ends = result.intervals.starts & mask, result.intervals.ends & mask
    value = cells.pop() if wanted.value is None else column_of([_plain(value_of(wanted.value))] * starts.shape[0])
    return FactTable(name, "interval", starts + origin, tuple(cells), np.where(ends == mask, forever, ends + origin),
                     value)


def _values(space: Space, field: Field, codes: Array) -> Column:
    values = space.domains[field.type].values
    used, rows = np.unique(codes, return_inverse=True)
    found = column_of([_plain(values[code]) for code in used.tolist()])
    return Coded(found.codes[rows], found.values) if isinstance(found, Coded) else found[rows]


def _plain(value: Value) -> int | float | str:
    return str(value) if isinstance(value, Compound) else value


def events_table(rows: Rows, template: str, space: Space) -> pa.Table:
    """The rows of a derived event: `[time, time+1)` with an empty value."""
    columns = {field.name: rows.column(field.name) for field in rows.fields}
    times = rows.time + space.timeline.origin
    return _table(template.partition("(")[0], arguments(template, rows.fields, columns, space, rows.length),
                  _constant("", rows.length), times, times + 1, np.zeros(rows.length, np.bool_))
