"""Other rules for a running session: what they leave unchanged is kept, the rest is rebuilt from the window.

A piece of the new plan that means what a piece of the old one means (`engine.meanings`) goes on with its content, known
since before the window. Every other piece is *rebuilt*: it knows nothing of the time before its *floor*, the beginning
of the window at the last query time. From there on it is evaluated over the facts of the window and the kept results,
as in a session that starts there: initial values begin at the floor, nothing else holds. Where the window still reaches
back to the start of the session there is no floor, and the rebuilt pieces are those of a session with the new rules.
What only selects rows of a kept result is known since that is.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from eventide.algebra import nodes as n
from eventide.engine.answers import SCHEMA, Row, output_table
from eventide.engine.changes import Carry, Marks, reported
from eventide.engine.exchange import Arrived
from eventide.engine.fronts import NEVER
from eventide.engine.incremental import Saved, State
from eventide.engine.loading import Store
from eventide.engine.recoding import Codes, moved_input
from eventide.engine.recognition import Counts, Settings
from eventide.engine.relation import Relation, Rows, Space, Timeline, pack_with, unpack
from eventide.engine.retained import Retained
from eventide.engine.tuples import Domains
from eventide.errors import InputError
from eventide.kernels.arrays import Array, Intervals
from eventide.syntax.terms import Term

if TYPE_CHECKING:
    from eventide.engine.session import Session


@dataclass(frozen=True)
class Swap:
    """What became of the rules: the definitions that were kept, rebuilt, and are gone.

    `since` is the floor of those that were rebuilt; None: they are known since the start of the session.
    """

    kept: tuple[str, ...]
    rebuilt: tuple[str, ...]
    gone: tuple[str, ...]
    since: int | None

    def __str__(self) -> str:
        parts = [f"{verb}: {', '.join(names)}" for verb, names in
                 (("kept", self.kept), ("rebuilt", self.rebuilt), ("gone", self.gone)) if names]
        since = [] if self.since is None or not self.rebuilt else [f"rebuilt from {self.since} on"]
        return "; ".join([*parts, *since]) or "nothing has changed"


@dataclass(frozen=True)
class Former:
    """A session before its rules are changed, as far as this is about what it holds."""

    domains: Domains
    timeline: Timeline | None
    state: State
    meanings: Mapping[str, str]
    """What its pieces and imports mean."""
    outputs: tuple[n.Output, ...]
    listed: Mapping[str, tuple[Term, ...]]
    """The values that simple fluents may have, where not all that are held count."""
    pending: tuple[Collection[Row], Collection[Row]]
    start: int | None
    query_time: int | None
    counts: Counts
    spare: int

    @property
    def space(self) -> Space:
        """How its results are packed."""
        assert self.timeline is not None
        return Space(self.domains, self.timeline)


def listed_in(bodies: Mapping[str, n.Node]) -> dict[str, tuple[Term, ...]]:
    """The values that simple fluents may have, where not all that are held count."""
    return {name: body.reported for name, body in bodies.items()
            if isinstance(body, n.Inertia) and body.reported is not None}


def answer_of(outputs: Collection[n.Output], listed: Mapping[str, tuple[Term, ...]], state: State,
              space: Space) -> pa.Table:
    """The rows of a state that are to be reported."""
    tables = [SCHEMA.empty_table()]
    for output in outputs:
        held = state.relations.get(output.definition, state.points.get(output.definition))  # type: ignore[arg-type]
        if isinstance(held, Relation) and output.definition in listed:
            held = reported(n.Inertia("", held.fields, (), reported=listed[output.definition]), held)
        if held is not None:
            tables.append(output_table(output, held, space))
    return pa.concat_tables(tables)


def rows_of(table: pa.Table, floor: int | None = None) -> frozenset[Row]:
    """The rows of an answer that reach beyond a time."""
    columns = (table[name].to_pylist() for name in SCHEMA.names)
    return frozenset(row for row in zip(*columns, strict=True) if floor is None or row[4] is None or row[4] > floor)


def one_after_other(first: tuple[Collection[Row], Collection[Row]],
                    second: tuple[Collection[Row], Collection[Row]]) -> tuple[frozenset[Row], frozenset[Row]]:
    """What came and what went in two steps, as one.

    >>> a, b = ("f", "x", "true", 1, None), ("f", "x", "true", 1, 5)
    >>> one_after_other(([a], []), ([b], [a])) == ({b}, set())
    True
    """
    (came, went), (more, fewer) = (tuple(map(frozenset, step)) for step in (first, second))
    return (came - fewer) | (more - went), (went - more) | (fewer - came)


def with_pending(pending: tuple[Collection[Row], Collection[Row]],
                 tables: tuple[pa.Table, pa.Table]) -> tuple[pa.Table, pa.Table]:
    """What came and went at a query time, and because of other rules before it."""
    if not any(pending):
        return tables
    found = one_after_other(pending, (rows_of(tables[0]), rows_of(tables[1])))
    came, went = (pa.Table.from_pylist([dict(zip(SCHEMA.names, row, strict=True)) for row in sorted(
        rows, key=lambda row: (row[:4], row[4] is None, row[4] or 0))], SCHEMA) for rows in found)
    return came, went


def floor_of(former: Former, settings: Settings) -> int | None:
    """The first time-point that the window at the last query time has whole; None if that is the start."""
    query, window, tick = former.query_time, settings.window, settings.tick
    assert query is not None and former.start is not None
    if window is None or query - window <= former.start:
        return None
    return -((window - query - 1) // tick) * tick


def taken_over(former: Former, new: Session, *, forget: Collection[str] = (),
               meanings: Mapping[str, str] | None = None, news: Mapping[str, Arrived] | None = None,
               prepare: Callable[[Store], None] = lambda store: None) -> Swap:
    """Let a new session go on where another one is. InputError if it cannot, and the new one is of no use then.

    `meanings`: what results mean that the new session imports; `news` are those of them that it does not find in the
    old one. Inputs among `forget` begin without facts. `prepare` is called when all values are known.
    """
    forgotten = frozenset(name for name in new._state.inputs if {name, name.partition("(")[0]} & set(forget))
    inputs = {name: kept if name in forgotten else _input(former, new.store, kept)
              for name, kept in new._state.inputs.items()}
    new.start, new.query_time = former.start, former.query_time
    new.counts = replace(former.counts, late_by_name=dict(former.counts.late_by_name))
    new._spare = former.spare
    now = new.meanings(meanings)
    names = {d.name for piece in new.plan.pieces for d in piece.definitions if not d.name.startswith("#")}
    before = {name for name in former.meanings if not name.startswith(("#", "fired "))} - set(former.state.inputs)
    if former.timeline is None or former.query_time is None:
        new._state = State(inputs)
        return Swap((), tuple(sorted(names)), tuple(sorted(before - names)), None)
    floor = floor_of(former, new.settings)
    moving = _Moving(former, new, now)
    prepare(new.store)
    state, fresh = moving.state(inputs, None if floor is None else former.timeline.inside(floor))
    new._state, new._space = state, moving.space
    new.refresh(fresh, news or {}, forgotten)
    same = {} if forgotten else moving.told_alike()
    assert new._space is not None
    was = rows_of(answer_of([each for each in former.outputs if each not in same.values()], former.listed, former.state,
                            former.space), floor)
    rows = rows_of(answer_of([each for each in new.wanted if each not in same], listed_in(new.plan.bodies), new._state,
                             new._space), floor)
    new.pending = one_after_other(former.pending, (rows - was, was - rows))
    rebuilt = fresh - moving.views
    return Swap(tuple(sorted(names - rebuilt)), tuple(sorted(names & rebuilt)),
                tuple(sorted(before - names)), floor)


def renewed(former: Former, new: Session) -> tuple[State, Space]:
    """What a session holds in the codes of another one of the same program, which knows none but those of its rules."""
    assert former.timeline is not None
    old = former.state
    inputs = {name: _input(former, new.store, kept) for name, kept in new._state.inputs.items()}
    names = {name for part in (old.relations, old.points, old.fired, old.tables, old.settled) for name in part}
    moving = _Moving(former, new, {}, {name: name for name in names if name not in inputs or _is_read(old, name)})
    state, _ = moving.state(inputs, None)
    return replace(state, edges=old.edges, sizes=old.sizes, floors=old.floors), moving.space


def _is_read(state: State, name: str) -> bool:
    """Whether the intervals of an input have all columns: otherwise they are made of its facts."""
    return n.UNUSED not in {field.type for field in state.relations[name].fields}


def _input(former: Former, store: Store, kept: Retained) -> Retained:
    """An input with the facts that are known of it, in the codes of the new rules."""
    known = former.state.inputs.get(kept.name)
    return kept if known is None else moved_input(known, former.domains, kept, store)


class _Moving:
    """Results on their way to a session with other rules: their values get other codes there."""

    def __init__(self, former: Former, new: Session, meanings: Mapping[str, str],
                 places: Mapping[str, str] | None = None) -> None:
        self.former, self.new, self.meanings = former, new, meanings
        self.places = self._places() if places is None else places
        self.views = self._views()
        """Pieces that are a part of a kept result: they are known since it is."""
        assert former.timeline is not None
        self.codes = Codes(former.domains, new.store)
        self._columns = self._unpacked()
        for name, domain in new.store.domains.items():
            spare = new._spare if name in new.open_types else 0
            domain.lay_out(max(len(domain) - 1, 0).bit_length() + spare)
        self.space = Space(new.store.domains, former.timeline)

    def _places(self) -> dict[str, str]:
        """Where the content of each kept result comes from; of several that mean the same, from its own name."""
        by_meaning: dict[str, list[str]] = {}
        for name, meaning in self.former.meanings.items():
            by_meaning.setdefault(meaning, []).append(name)
        found: dict[str, str] = {}
        for piece in self.new.plan.pieces:
            sources = [by_meaning.get(self.meanings[name]) for name in piece.names]
            if all(sources):
                found |= {name: name if name in known else known[0]
                          for name, known in zip(piece.names, sources, strict=True) if known}
        for name in self.new.plan.imports:
            if name in by_meaning.get(self.meanings[name], ()):
                found[name] = name
        old = self.former.state  # an input of intervals that was not read, or no longer is, is made of its facts
        return found | {name: name for name, kept in self.new._state.inputs.items()
                        if name in old.inputs and name in old.relations and kept.kind == old.inputs[name].kind
                        and n.UNUSED not in {f.type for f in (*kept.fields, *old.relations[name].fields)}}

    def told_alike(self) -> dict[n.Output, n.Output]:
        """The results that are told as before, each with what it was: nothing of their rows comes or goes."""
        before = {(each.definition, each.template, each.kind, each.value, each.values): each
                  for each in self.former.outputs}
        listed = listed_in(self.new.plan.bodies)
        found: dict[n.Output, n.Output] = {}
        for now in self.new.wanted:
            source = self.places.get(now.definition, "")
            was = before.get((source, now.template, now.kind, now.value, now.values))
            if was is not None and self.former.listed.get(source) == listed.get(now.definition):
                found[now] = was
        return found

    def _views(self) -> set[str]:
        found: set[str] = set()
        for piece in self.new.plan.pieces:
            leaf = _viewed(piece.body) if piece.kind == "local" and piece.name not in self.places else None
            if leaf in self.places or leaf in found:
                found.add(piece.name)
        return found

    def _fields(self, name: str) -> n.Fields:
        plan, inputs = self.new.plan, self.new._state.inputs
        if name in inputs:
            return inputs[name].fields
        return plan.imports[name].fields if name in plan.imports else plan.bodies[name].fields

    # Everything is taken apart before the domains are laid out: codes are given on the way.

    def _unpacked(self) -> dict[tuple[str, str], tuple[dict[str, Array], Array, Array]]:
        """The columns, starts and ends of the relations to keep, and those of what deadlines go on from."""
        state, space, found = self.former.state, self.former.space, {}
        for name, source in self.places.items():
            relation, saved = state.relations.get(source), state.saved.get(source)
            if relation is not None:
                starts, ends = relation.intervals.starts, relation.intervals.ends
                found[name, "relation"] = self._apart(space, relation.fields, self._fields(name), starts, ends)
            self._rows_coded(name, source)
            if saved is not None and relation is not None:
                old, new = relation.fields, self._fields(name)
                for part, points in (("carry", saved.carry.points), ("waiting", saved.carry.waiting),
                                     ("marks", saved.marks.points)):
                    found[name, part] = self._apart(space, old[:-1], new[:-1], points, points)
                self.codes.all_of(old[-1].type, new[-1].type, [*saved.carry.codes.tolist(), *saved.marks.values])
        return found

    def _apart(self, space: Space, old: n.Fields, new: n.Fields, starts: Array,
               ends: Array) -> tuple[dict[str, Array], Array, Array]:
        columns = unpack(space, old, starts)
        moved = {f.name: self.codes.moved(columns[was.name], was.type, f.type)
                 for was, f in zip(old, new, strict=True)}
        mask = space.timeline.mask
        return moved, starts & mask, ends & mask

    def _rows_coded(self, name: str, source: str) -> None:
        state = self.former.state
        for rows in (state.points.get(source), state.fired.get(source), state.tables.get(source),
                     state.settled.get(source)):
            if rows is not None:
                self._rows(rows, self._fields(name))

    def _rows(self, rows: Rows, fields: n.Fields) -> Rows:
        columns = {f.name: self.codes.moved(rows.column(was.name), was.type, f.type)
                   for was, f in zip(rows.fields, fields, strict=True) if f.type != n.UNUSED}
        return Rows(fields, columns | ({n.TIME: rows.time} if rows.timed else {}), rows.length, timed=rows.timed)

    def _packed(self, fields: n.Fields, columns: dict[str, Array], time: Array) -> Array:
        return pack_with(self.space, Rows(fields, columns, len(time), timed=False), fields, time)

    def _relation(self, name: str) -> Relation:
        """A relation in the new layout, in the order of its codes there."""
        fields = self._fields(name)
        columns, starts, ends = self._columns[name, "relation"]
        first, last = (self._packed(fields, columns, time) for time in (starts, ends))
        order = np.argsort(first, kind="stable")
        return Relation(self.space, fields, Intervals(first[order], last[order]))

    def _saved(self, name: str, source: str) -> Saved:
        saved, fields = self.former.state.saved[source], self._fields(name)
        was = self.former.state.relations[source].fields[-1].type
        points, sorting = {}, {}
        for part in ("carry", "waiting", "marks"):
            columns, time, _ = self._columns[name, part]
            packed = self._packed(fields[:-1], columns, time)
            sorting[part] = order = np.argsort(packed, kind="stable")
            points[part] = packed[order]
        carry, marks = saved.carry, saved.marks
        codes = self.codes.moved(carry.codes, was, fields[-1].type)[sorting["carry"]]
        values = self.codes.moved(np.array(marks.values, np.int64), was, fields[-1].type)
        return Saved(Carry(points["carry"], codes, carry.quiet[sorting["carry"]], points["waiting"],
                           carry.rules[sorting["waiting"]]),
                     replace(marks, points=points["marks"], codes=marks.codes[sorting["marks"]],
                             values=tuple(values.tolist())), saved.due)

    # -- the state to go on from --------------------------------------------------------------------------------------

    def state(self, inputs: dict[str, Retained], floor: int | None) -> tuple[State, frozenset[str]]:
        """What is kept, and which pieces are to be evaluated; with a floor these begin there, with nothing."""
        old = self.former.state
        found = State(inputs, query=old.query)
        for name, source in self.places.items():
            if source in old.relations:
                found.relations[name] = self._relation(name)
            for part in ("points", "fired", "tables", "settled"):
                if source in getattr(old, part):
                    getattr(found, part)[name] = self._rows(getattr(old, part)[source], self._fields(name))
            if source in old.saved:
                found.saved[name] = self._saved(name, source)
            for numbers in ("edges", "sizes", "floors"):
                if source in getattr(old, numbers):
                    getattr(found, numbers)[name] = getattr(old, numbers)[source]
        fresh = [piece for piece in self.new.plan.pieces if piece.names[0] not in self.places]
        for piece in fresh if floor is not None else ():
            assert floor is not None
            if piece.name in self.views:
                continue
            # the start of what begins at the floor happens a tick before it, as that of what begins with a session
            seen = self.space.timeline.tick if piece.kind in ("inertia", "points", "cycle") else 0
            found.edges[piece.name] = floor - seen
            for definition in piece.definitions:
                self._begin(found, definition, floor)
            if piece.kind == "rows":
                body = piece.body
                none = {f.name: np.empty(0, np.int64) for f in body.fields if f.type != n.UNUSED}
                found.settled[piece.name] = Rows(body.fields, none, 0, timed=False)
        return found, frozenset(name for piece in fresh for name in piece.names)

    def _begin(self, state: State, definition: n.Definition, floor: int) -> None:
        name, body = definition.name, definition.body
        state.floors[name] = floor
        if body.sort == "intervals":
            state.relations[name] = Relation.nothing(self.space, body.fields)
        if isinstance(body, n.Inertia) and body.delays:
            none = np.empty(0, np.int64)
            state.saved[name] = Saved(Carry.of(none, none), Marks(none, np.empty(0, np.uint32), (), ()), int(NEVER))


def _viewed(body: n.Node) -> str | None:
    """The fluent of which a body selects rows, each for itself; None if it does more."""
    fixed: set[str] = set()
    dropped: set[str] = set()
    while not isinstance(body, n.Fluent):
        if isinstance(body, n.Project):
            dropped |= {f.name for f in body.child.fields} - set(body.columns)
        elif isinstance(body, n.Equal):
            fixed.add(body.column)
        elif not isinstance(body, n.Same | n.Select):
            return None
        body = body.child
    return body.name if dropped <= fixed else None


def refuse_unknown(forget: Collection[str], session: Session) -> None:
    """InputError for inputs to forget that the session does not have."""
    known = {name.partition("(")[0] for name in session._state.inputs}
    for name in forget:
        if name not in known | session._state.inputs.keys():
            raise InputError(f"there is no input {name} to forget; the inputs are {', '.join(sorted(known))}")
