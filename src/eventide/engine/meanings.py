"""What the pieces of a plan mean, as short texts: equal for equal definitions, whatever these and their columns are
called. Two pieces that mean the same over the same facts have the same content; nothing is evaluated here.

Of an input or a table only the columns count that a piece asks for: whether other rules read the others, and how, is
nothing to it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from eventide.algebra import nodes as n
from eventide.algebra.expressions import Column, Comparison, Constant
from eventide.algebra.pieces import Piece
from eventide.engine.function_meanings import digest
from eventide.engine.loading import Store
from eventide.engine.relation import Rows
from eventide.engine.retained import Retained
from eventide.engine.upkeep import Maintained
from eventide.syntax.terms import Atom, Compound, Number

_SAME = (n.NUMBER, n.UNUSED, n.STAMP)
"""Types that are no domains; the names of domains mean nothing."""
_WORDS = ("relation", "mode", "kind", "comparison", "operator", "sort")
"""Texts in nodes that are not names of columns."""


def meanings_of(plan: Maintained, store: Store, inputs: Mapping[str, Retained],
                functions: Mapping[str, str], elsewhere: Mapping[str, str] | None = None) -> dict[str, str]:
    """What every piece means, by its name; what an input, a background table or a function is goes into it.

    `functions` says what Python functions do (`engine.function_meanings`).
    `elsewhere` says what results mean that other sessions keep up to date and this one imports.
    """
    known = {name: _input_meaning(kept) for name, kept in inputs.items()}
    known |= {name: (elsewhere or {}).get(name.removeprefix("fired "), name) for name in plan.imports}
    tables = _Tables(store)
    found: dict[str, str] = {}
    for piece in plan.pieces:
        meaning = _Reader(piece, known, tables, functions).meaning()
        known |= dict.fromkeys(piece.names, meaning)
        if piece.kind == "cycle":
            known |= {name: digest(meaning, place) for place, name in enumerate(piece.names)}
        found |= {name: known[name] for name in piece.names}
    return found | {name: known[name] for name in plan.imports}


def _input_meaning(kept: Retained) -> str:
    return digest("input", kept.name, kept.kind, len(kept.fields))


def _type(name: str) -> str:
    return name if name in _SAME else "coded"


class _Tables:
    """The content of background tables, each column read once."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._columns: dict[tuple[str, int], np.ndarray[Any, np.dtype[np.uint64]]] = {}
        self._known: dict[tuple[str, tuple[bool, ...]], str] = {}

    def content(self, name: str, asked: tuple[bool, ...]) -> str:
        """What the columns that are asked for say."""
        if (name, asked) not in self._known:
            rows = self._store.tables.get(name)
            # whoever runs the program fills a table that is not there, and does so for the new rules too
            self._known[name, asked] = digest("given") if rows is None else self._content(name, rows, asked)
        return self._known[name, asked]

    def _content(self, name: str, rows: Rows, asked: tuple[bool, ...]) -> str:
        """The rows whatever their order, by the values that their codes stand for."""
        total = np.zeros(rows.length, np.uint64)
        places = [place for place, is_asked in enumerate(asked) if is_asked and rows.fields[place].type != n.UNUSED]
        for place in places:
            total *= np.uint64(0x9E3779B97F4A7C15)
            total += self._column(name, rows, place)
        types = [(place, _type(rows.fields[place].type)) for place in places]
        return digest("table", len(asked), types, np.unique(total).tobytes().hex())

    def _column(self, name: str, rows: Rows, place: int) -> np.ndarray[Any, np.dtype[np.uint64]]:
        if (name, place) not in self._columns:
            f = rows.fields[place]
            used, codes = np.unique(rows.column(f.name), return_inverse=True)
            domain = self._store.domains.get(f.type)
            values = used.tolist() if domain is None else [domain.values[code] for code in used.tolist()]
            words = [int(digest(type(value).__name__, value)[:16], 16) for value in values]
            self._columns[name, place] = np.array(words, np.uint64)[codes]
        return self._columns[name, place]


class _Reader:
    """Writes a piece down, columns by the order in which they appear."""

    def __init__(self, piece: Piece, known: Mapping[str, str], tables: _Tables,
                 functions: Mapping[str, str]) -> None:
        self.piece, self.known, self.tables, self.functions = piece, known, tables, functions
        self.members = {name: f"member {place}" for place, name in enumerate(piece.names)}
        self.columns: dict[str, int] = {}
        self.counts_rows = _count_rows(list(n.nodes_in(*(d.body for d in piece.definitions))))
        self.uses: Counter[str] | None = None
        """How often each column is named in what is being written; None while that is counted."""

    def meaning(self) -> str:
        """The digest of all definitions of the piece."""
        return digest(self.piece.kind, *(self._definition(d.body) for d in self.piece.definitions))

    def _definition(self, body: n.Node) -> str:
        self.columns = {}
        self.uses = self._counted(body)
        return digest(self._written(list(body.fields)), self._written(body))

    def _counted(self, found: Any) -> Counter[str]:
        """How often each column is named: one that is named once is asked for by nothing."""
        known, self.columns = self.columns, {}
        uses, self.uses = self.uses, None
        self.counts: Counter[str] = Counter()
        self.seen: dict[int, n.Node] = {}
        self._written(list(found.fields) if hasattr(found, "fields") else [])
        self._written(found)
        self.columns, self.uses = known, uses
        return self.counts

    def _written(self, found: Any) -> str:
        if self.uses is None and isinstance(found, n.Node):  # a node that several read asks once
            if id(found) in self.seen:
                return ""
            self.seen[id(found)] = found
        if isinstance(found, n.Inertia):
            return self._inertia(found)
        if isinstance(found, n.Events | n.Fluent | n.Fired | n.Table):
            asked = tuple(self._is_asked(f) for f in found.fields)
            columns = [self._written(f) if is_asked else f"{self._column(f.name)}:_"
                       for f, is_asked in zip(found.fields, asked, strict=True)]
            return f"{type(found).__name__}({self._reference(found, asked)}, {columns})"
        if isinstance(found, n.Union):
            return f"Union({sorted(self._apart(child) for child in found.children)})"
        if isinstance(found, n.Function):
            return (f"Function({found.name}, {self.functions.get(found.name)}, {self._written(found.child)}, "
                    f"{self._written(found.inputs)}, {self._written(found.outputs)})")
        if isinstance(found, n.Field):
            return f"{self._column(found.name)}:{_type(found.type)}"
        if isinstance(found, Column):
            return str(self._column(found.name))
        if isinstance(found, Atom | Number | Compound):
            return repr(found)
        if isinstance(found, list | tuple):
            return f"[{', '.join(map(self._written, found))}]"
        if is_dataclass(found):
            parts = (self._part(f.name, getattr(found, f.name)) for f in fields(found))
            return f"{type(found).__name__}({', '.join(parts)})"
        return repr(found)

    def _part(self, name: str, value: Any) -> str:
        """An attribute of a node; a text is the name of a column, or one of several."""
        if name in _WORDS or not isinstance(value, str | tuple):
            return self._written(value)
        if isinstance(value, str):
            return str(self._column(value))
        return str([self._column(v) if isinstance(v, str) else self._written(v) for v in value])

    def _column(self, name: str) -> str:
        if self.uses is None:
            self.counts[name] += 1
        return f"c{self.columns.setdefault(name, len(self.columns))}"

    def _is_asked(self, f: n.Field) -> bool:
        return self.uses is None or self.counts_rows or self.uses[f.name] > 1

    def _apart(self, found: Any) -> str:
        """Something whose place among others means nothing: the columns in it do not count for those."""
        known, uses = dict(self.columns), self.uses
        if uses is not None:
            self.uses = self._counted(found)
        text = self._written(found)
        self.columns, self.uses = known, uses
        return text

    def _reference(self, leaf: n.Events | n.Fluent | n.Fired | n.Table, asked: tuple[bool, ...]) -> str:
        fired = f"fired {leaf.name}"
        if leaf.name in self.members:
            return self.members[leaf.name]
        if isinstance(leaf, n.Fired) and fired in self.known:
            return self.known[fired]
        if leaf.name in self.known:
            return self.known[leaf.name]
        return "" if self.uses is None else self.tables.content(leaf.name, asked)

    def _inertia(self, node: n.Inertia) -> str:
        self._written(list(node.fields))
        reported = None if node.reported is None else sorted(map(repr, node.reported))
        changes = sorted(self._apart(change) for change in node.changes)
        initial = sorted(self._apart(rows) for rows in node.initial)
        delays = [self._apart(delay) for delay in node.delays]  # deadlines that run are known by the number of theirs
        return f"Inertia({changes}, {delays}, {initial}, {self._apart(node.domain)}, {reported})"


def _count_rows(nodes: Sequence[n.Node]) -> bool:
    """Whether it matters how many rows there are, and not only which: more than whether there are none."""
    none = {id(node.child) for node in nodes if isinstance(node, n.Select) and isinstance(node.child, n.Count)
            and node.test == Comparison("=:=", Column(node.child.field.name), Constant(Number(0)))}
    return any(isinstance(node, n.Vote) or (isinstance(node, n.Count) and id(node) not in none) for node in nodes)
