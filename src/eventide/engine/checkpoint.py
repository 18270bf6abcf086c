"""Sessions as bytes and back: one line that says what follows, then arrays in Arrow's form with a header in JSON.

The line is `eventide session VERSION DIGEST`. Nothing of the bytes is ever executed, and nothing of them is read before
their digest is right.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, field, fields
from hashlib import blake2b
from importlib.metadata import version
from typing import Any

import numpy as np
import pyarrow as pa

from eventide.algebra import nodes as n
from eventide.algebra.text import to_text
from eventide.engine.answers import Row
from eventide.engine.changes import Carry, Letter, Marks
from eventide.engine.domains import Value
from eventide.engine.incremental import Evaluation, Saved, State
from eventide.engine.loading import Store
from eventide.engine.recognition import Counts, Settings
from eventide.engine.relation import WORD, Relation, Rows, Space, Timeline, Values
from eventide.engine.retained import Batch, Retained
from eventide.engine.tuples import Tuples
from eventide.engine.upkeep import Maintained
from eventide.errors import ArrayError, InputError
from eventide.kernels.arrays import Intervals, check_intervals, check_points, check_same_length
from eventide.kernels.numbering import Pairs
from eventide.syntax.terms import Atom, Compound, Number, Term

MAGIC = b"eventide session"
VERSION = 2
_DIGEST = 32
_RESULTS = ("relations", "points", "fired", "tables", "settled", "saved")
_BATCH = tuple(f.name for f in fields(Batch) if f.name not in ("columns", "ordered"))


@dataclass(frozen=True)
class Snapshot:
    """What a session was made with, and all that it has become since."""

    settings: Settings
    horizon: int | None
    evaluation: Evaluation
    wanted: tuple[str, ...]
    """The templates of the results to report."""
    start: int | None
    query_time: int | None
    counts: Counts
    open_types: frozenset[str]
    spare: int
    timeline: Timeline | None
    state: State
    fluents: tuple[str, ...] | None = None
    pending: tuple[Collection[Row], Collection[Row]] = ((), ())
    """What came and went because the rules were changed, and is not told yet."""
    described: Mapping[str, Any] = field(default_factory=dict)
    """What the rules are, as far as other rules may want to know (`engine.formerly`)."""


def fingerprint(plan: Maintained, store: Store, inputs: Mapping[str, Retained]) -> str:
    """What makes two programs the same for a saved session, as a short text.

    It covers the pieces of the plan with their names, the inputs with the types of their columns, the background tables
    that rules read, and the names of Python predicates; not what these functions do. The values that the codes in
    tables stand for are compared when a session is restored.
    """
    digest = blake2b(digest_size=16)

    def add(*parts: object) -> None:
        digest.update(json.dumps([str(part) for part in parts]).encode())

    for piece in plan.pieces:
        add(piece.name, piece.kind)
        for definition in piece.definitions:
            body = definition.body
            add(definition.name, to_text(body), [(f.name, f.type) for f in body.fields])
            if isinstance(body, n.Inertia) and body.reported is not None:
                add([(type(value).__name__, str(value)) for value in body.reported])
    for name, kept in inputs.items():
        add(name, kept.kind, kept.counted, name in plan.built, [(f.name, f.type) for f in kept.fields])
    for name, rows in sorted(store.tables.items()):
        add(name, rows.length, [(f.name, f.type) for f in rows.fields])
        for f in rows.fields:
            if f.type != n.UNUSED:
                column = np.ascontiguousarray(rows.column(f.name))
                add(column.dtype)
                digest.update(column.data)
    add(*sorted(store.functions))
    return digest.hexdigest()


# -- writing ----------------------------------------------------------------------------------------------------------


class _Writer:
    """Puts arrays aside; what it returns is JSON that names them by number."""

    def __init__(self) -> None:
        self.arrays: list[pa.Array] = []

    def array(self, values: Values | None) -> int | None:
        if values is None:
            return None
        self.arrays.append(pa.array(np.ascontiguousarray(values)))
        return len(self.arrays) - 1

    def rows(self, rows: Rows) -> dict[str, Any]:
        columns = {f.name: self.array(rows.column(f.name)) for f in rows.fields if f.type != n.UNUSED}
        return {"fields": _listed(rows.fields), "length": rows.length, "columns": columns,
                "time": self.array(rows.time) if rows.timed else None}

    def batch(self, batch: Batch) -> dict[str, Any]:
        columns = {name: self.array(values) for name, values in batch.columns.items()}
        arrays = {name: self.array(getattr(batch, name)) for name in _BATCH}
        return {"columns": columns, "ordered": batch.ordered, **arrays}

    def relation(self, relation: Relation) -> dict[str, Any]:
        intervals = relation.intervals
        return {"fields": _listed(relation.fields), "starts": self.array(intervals.starts),
                "ends": self.array(intervals.ends)}

    def saved(self, saved: Saved) -> dict[str, Any]:
        carry, marks = saved.carry, saved.marks
        return {"carry": {f.name: self.array(getattr(carry, f.name)) for f in fields(Carry)},
                "points": self.array(marks.points), "codes": self.array(marks.codes),
                "letters": marks.letters, "values": marks.values, "due": saved.due}

    def state(self, state: State) -> dict[str, Any]:
        inputs = {name: {"facts": self.batch(kept.facts), "waiting": [self.batch(batch) for batch in kept.waiting],
                         "size": kept.size} for name, kept in state.inputs.items()}
        found: dict[str, Any] = {"inputs": inputs, "edges": state.edges, "query": state.query,
                                 "sizes": state.sizes, "floors": state.floors}
        for part, write in zip(_RESULTS, (self.relation, *(self.rows,) * 4, self.saved), strict=True):
            found[part] = {name: write(result) for name, result in getattr(state, part).items()}  # type: ignore[operator]
        return found


def _listed(given: n.Fields) -> list[tuple[str, str]]:
    return [(f.name, f.type) for f in given]


def plain_term(term: object) -> Any:
    """A term as JSON: compounds are lists that begin with the functor."""
    if isinstance(term, Compound):
        return [term.functor, *term.args]
    if isinstance(term, Atom):
        return term.name
    if isinstance(term, Number):
        return term.value
    raise TypeError(f"not a ground value: {term}")


def write(program: str, store: Store, snapshot: Snapshot) -> bytes:
    """A session as bytes; equal sessions give equal bytes. `program` is the fingerprint."""
    out = _Writer()
    simple = {f.name: getattr(snapshot, f.name) for f in fields(Snapshot)}
    header = simple | {
        "package": version("eventide"), "program": program, "settings": asdict(snapshot.settings),
        "counts": asdict(snapshot.counts), "open_types": sorted(snapshot.open_types),
        "pending": [sorted(rows, key=str) for rows in snapshot.pending],
        "timeline": None if snapshot.timeline is None else asdict(snapshot.timeline),
        "domains": {name: {"values": domain.values, "width": domain.width}
                    for name, domain in sorted(store.domains.items())},
        "tuples": [(types, out.array(pairs.left), out.array(pairs.right))
                   for types, pairs in sorted(store.domains.tuples.pairs.items())],
        "state": out.state(snapshot.state)}
    columns = [pa.LargeListArray.from_arrays(pa.array([0, len(values)], pa.int64()), values) for values in out.arrays]
    batch = pa.record_batch(columns, names=[str(number) for number in range(len(columns))])
    batch = batch.replace_schema_metadata({"session": json.dumps(header, default=plain_term)})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as stream:
        stream.write_batch(batch)
    body = sink.getvalue()
    whole: bytes = b"%s %d %s\n" % (MAGIC, VERSION, _digest(body)) + body.to_pybytes()
    return whole


def _digest(body: Any) -> bytes:
    return blake2b(body, digest_size=_DIGEST).hexdigest().encode()


# -- reading ----------------------------------------------------------------------------------------------------------


def _unreadable(problem: str) -> InputError:
    return InputError(f"this is no saved session that can be restored: {problem}")


class Reader:
    """A saved session, whole and of a known version, before it is known to fit a program."""

    def __init__(self, state: bytes) -> None:
        if not isinstance(state, bytes | bytearray | memoryview):
            raise InputError(f"a saved session is bytes, as session.save() gives them, not a {type(state).__name__}")
        view = memoryview(state).cast("B")
        line, end, _ = bytes(view[:len(MAGIC) + 20 + 2 * _DIGEST]).partition(b"\n")
        words = line.removeprefix(MAGIC).split()
        if not line.startswith(MAGIC + b" ") or len(words) != 2 or not words[0].isdigit() or not end:
            raise _unreadable("it does not begin as one")
        if int(words[0]) != VERSION:
            raise _unreadable(f"it has version {int(words[0])} of the format, and this version of Eventide reads "
                              f"version {VERSION}; restore it with the version that saved it")
        body = view[len(line) + 1:]
        if _digest(body) != words[1]:
            raise _unreadable("it is damaged or incomplete; save it again, or restore an older one")
        try:
            with pa.ipc.open_stream(pa.py_buffer(body)) as stream:
                batch = stream.read_next_batch()
            batch.validate(full=True)
            self._header = json.loads(batch.schema.metadata[b"session"])
            self._arrays = [column.values for column in batch.columns]
            settings = Settings(**self._header["settings"])
            self.options: dict[str, Any] = {
                name: getattr(settings, name) for name in ("window", "start", "tick", "initially_at", "ties")}
            self.options |= {name: self._header[name] for name in ("horizon", "evaluation")}
            self.options["fluents"] = self._header.get("fluents")
            self.program = str(self._header["program"])
            """What a session is made with, as `Program.session` takes it."""
        except (pa.ArrowException, AttributeError, KeyError, TypeError, ValueError) as error:
            raise _unreadable(f"its content is not as it should be ({type(error).__name__})") from None
        numbers = [self.options[name] for name in ("window", "start", "horizon") if self.options[name] is not None]
        if not all(type(number) is int for number in (*numbers, settings.tick, settings.initially_at)):
            raise _unreadable("its settings are not numbers")

    @property
    def meanings(self) -> Mapping[str, str] | None:
        """What the results mean that were saved (`engine.meanings`); None if an older version saved them."""
        found: Mapping[str, str] | None = self._header.get("described", {}).get("meanings")
        return found

    def is_of(self, program: str, store: Store) -> bool:
        """Whether it was saved with the program that has this fingerprint, and the same background."""
        try:
            values = {name: found["values"] for name, found in self._header["domains"].items()}
            return self.program == program and _begins_with(values, store)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise _unreadable(f"its content is not as it should be ({type(error).__name__}: {error})") from None

    def snapshot(self, program: str, store: Store, inputs: Mapping[str, Retained]) -> Snapshot:
        """What was saved, for a program with this fingerprint; its values are put into the domains of the store."""
        try:
            if not self.is_of(program, store):
                raise InputError(
                    "the session was saved with other rules or other background than this program's, or with a version "
                    f"of Eventide that plans them otherwise (it was {self._header['package']}); restore it with the "
                    "program that saved it, begin a new session, or go on with the new rules: "
                    "program.restore(state, swap=True), or --reload on the command line")
            return self._snapshot(store, inputs)
        except (ArrayError, AttributeError, IndexError, KeyError, OverflowError, TypeError, ValueError) as error:
            raise _unreadable(f"its content is not as it should be ({type(error).__name__}: {error})") from None

    def foreign(self, store: Store) -> Snapshot:
        """What was saved, by whatever program; the store gets its domains."""
        try:
            for name in self._header["domains"]:
                store.domain(name)
            inputs = {name: Retained.nothing(name, kind, [type_ for _, type_ in listed], counted=counted)
                      for name, (kind, counted, listed) in self._header["described"]["inputs"].items()}
            return self._snapshot(store, inputs)
        except (ArrayError, AttributeError, IndexError, KeyError, OverflowError, TypeError, ValueError) as error:
            raise _unreadable(f"its content is not as it should be, or was saved by an older version of Eventide "
                              f"({type(error).__name__}: {error})") from None

    def _snapshot(self, store: Store, inputs: Mapping[str, Retained]) -> Snapshot:
        header = self._header
        self._fill(store)
        line = header["timeline"]
        space = None if line is None else Space(store.domains, Timeline(**line))
        return Snapshot(
            Settings(**header["settings"]), header["horizon"], header["evaluation"], tuple(header["wanted"]),
            header["start"], header["query_time"], Counts(**header["counts"]), frozenset(header["open_types"]),
            header["spare"], None if space is None else space.timeline, self._state(store, space, inputs),
            header.get("fluents"), _pending(header),
            header.get("described", {}))

    def _fill(self, store: Store) -> None:
        """Bring the domains to where they were."""
        saved = self._header["domains"]
        refill(store, {name: found["values"] for name, found in saved.items()})
        for name, domain in store.domains.items():
            if saved[name]["width"] is not None:
                domain.lay_out(saved[name]["width"])
        store.domains.tuples = Tuples()
        known = store.domains.tuples.pairs
        for types, left, right in self._header["tuples"]:  # a shorter one comes before those that begin with it
            pairs = Pairs(self._array(left), self._array(right, length=len(self._array(left))))
            before = tuple(types[:-1])
            sizes = len(known[before]) if before in known else self._size(store, types[0]), self._size(store, types[-1])
            for column, size in zip((pairs.left, pairs.right), sizes, strict=True):
                if len(pairs) and not 0 <= column.min() <= column.max() < size:
                    raise ValueError(f"unknown values in tuples of {', '.join(types)}")
            known[tuple(types)] = pairs

    @staticmethod
    def _size(store: Store, type_: str) -> int:
        return 1 << WORD if type_ == n.STAMP else len(store.domains[type_])

    # The parts, each checked so far that no kernel can be led astray.

    def _array(self, number: int | None, kinds: str = "i", length: int | None = None) -> Any:
        if number is None:
            return None
        values = np.array(self._arrays[number].to_numpy(zero_copy_only=False))  # a copy: kernels want writable arrays
        if values.dtype.kind not in kinds or (length is not None and values.shape[0] != length):
            raise ValueError(f"array {number} is of another kind or length")
        return values

    def _columns(self, given: Mapping[str, int], known: n.Fields, store: Store, length: int) -> dict[str, Values]:
        types = {f.name: f.type for f in known}
        columns: dict[str, Values] = {}
        for name, number in given.items():
            plain = types[name] == n.NUMBER
            columns[name] = values = self._array(number, "if" if plain else "i", length)
            if not plain and length and not 0 <= values.min() <= values.max() < len(store.domains[types[name]]):
                raise ValueError(f"unknown values in {name}")
        return columns

    def _batch(self, given: Mapping[str, Any], known: n.Fields, store: Store) -> Batch:
        length = len(self._array(given["time"]))
        arrays = {name: self._array(given.get(name), "b" if name in ("retracts", "copies") else "i", length)
                  for name in _BATCH}
        return Batch(self._columns(given["columns"], known, store, length), **arrays, ordered=bool(given["ordered"]))

    def _rows(self, given: Mapping[str, Any], store: Store) -> Rows:
        known, length = _fields(given["fields"]), given["length"]
        columns = self._columns(given["columns"], known, store, length)
        time = self._array(given["time"], length=length)
        return Rows(known, columns if time is None else columns | {n.TIME: time}, length, timed=time is not None)

    def _relation(self, given: Mapping[str, Any], space: Space) -> Relation:
        relation = Relation(space, _fields(given["fields"]),
                            Intervals(self._array(given["starts"]), self._array(given["ends"])))
        check_intervals("intervals", relation.intervals)
        space.unpack(relation.fields, relation.intervals.starts)  # raises if it has tuples without a number
        return relation

    def _saved(self, given: Mapping[str, Any]) -> Saved:
        carry = Carry(**{name: self._array(number, "b" if name == "quiet" else "i")
                         for name, number in given["carry"].items()})
        letters: tuple[Letter, ...] = tuple(
            (kind, value, tuple((code, positive) for code, positive in states))
            for kind, value, states in given["letters"])
        marks = Marks(self._array(given["points"]), self._array(given["codes"], "u"), letters, tuple(given["values"]))
        for points, *others in ((carry.points, carry.codes, carry.quiet), (carry.waiting, carry.rules),
                                (marks.points, marks.codes)):
            check_points("points", points)
            for other in others:
                check_same_length("codes", other, "points", points.shape[0])
        return Saved(carry, marks, int(given["due"]))

    def _state(self, store: Store, space: Space | None, inputs: Mapping[str, Retained]) -> State:
        given = self._header["state"]
        held: dict[str, Retained] = {}
        for name, kept in inputs.items():
            found = given["inputs"][name]
            held[name] = Retained(name, kept.kind, kept.fields, self._batch(found["facts"], kept.fields, store),
                                  kept.counted, [self._batch(b, kept.fields, store) for b in found["waiting"]],
                                  size=int(found["size"]))
        if space is None:
            return State(held)
        rows = {part: {name: self._rows(found, store) for name, found in given[part].items()} for part in _RESULTS[1:5]}
        relations = {name: self._relation(found, space) for name, found in given["relations"].items()}
        saved = {name: self._saved(found) for name, found in given["saved"].items()}
        return State(held, relations, rows["points"], rows["fired"], rows["tables"], rows["settled"], saved,
                     given["edges"], given["query"], given["sizes"], given.get("floors", {}))


def _pending(header: Mapping[str, Any]) -> tuple[frozenset[Row], frozenset[Row]]:
    came, went = (frozenset((str(f), str(a), str(v), int(s), None if e is None else int(e)) for f, a, v, s, e in rows)
                  for rows in header.get("pending", ((), ())))
    return came, went


def refill(store: Store, saved: Mapping[str, list[Any]]) -> None:
    """Give domains the values that were saved; InputError if those of the rules and the background are others."""
    if saved.keys() != store.domains.keys():
        raise InputError("the session was saved with other kinds of values than this program's")
    if not _begins_with(saved, store):
        raise InputError("the session was saved with other values in the rules or the background; restore it "
                         "with the program that saved it, or begin a new session")
    for name, domain in store.domains.items():
        values = [value_from(value) for value in saved[name]]
        domain.codes(values[len(domain):])
        if len(domain) != len(values):
            raise ValueError("repeated values")


def _begins_with(saved: Mapping[str, list[Any]], store: Store) -> bool:
    """Whether the values that were saved begin with those of the rules and the background."""
    return saved.keys() == store.domains.keys() and all(
        json.dumps([value_from(value) for value in saved[name][:len(domain)]], default=plain_term)
        == json.dumps(domain.values, default=plain_term) for name, domain in store.domains.items())


def _fields(given: list[list[str]]) -> n.Fields:
    return tuple(n.Field(name, type_) for name, type_ in given)


def value_from(found: Any) -> Value:
    if isinstance(found, list):
        term = term_from(found)
        assert isinstance(term, Compound)
        return term
    if type(found) not in (int, float, str):
        raise TypeError(f"{found!r} is no value")
    value: Value = found
    return value


def term_from(found: Any) -> Term:
    """The term that `plain_term` made JSON of."""
    if isinstance(found, list):
        functor, *args = found
        return Compound(functor, tuple(map(term_from, args)))
    return Atom(found) if isinstance(found, str) else Number(found)
