"""Files and tables of labelled streams as the tables of `examples`: which columns mean what. Learns nothing.

A table is given by the name of what it is about, or names it in its column `event` (or `fluent`). Its columns are
`time` (or `frame`), the arguments in order, and `stream` or `video` if there are several; a fluent may have a `value`,
and comes as points or, with `start` and `end`, as intervals `[start, end)`. Facts of Answer Set Programming (`.lp`) are
one stream for each file.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from eventide.errors import EventideError, InputError, refuse_errors
from eventide.formats.background import read_background
from eventide.formats.events import split_name, tables_in
from eventide.formats.expected import Expected, TimeUnit, check_time_unit
from eventide.formats.facts import Coded, FactTable, Kind, chosen, column_values
from eventide.formats.facts import Column as Cells
from eventide.formats.files import rule_text
from eventide.formats.problems import SHOWN, input_error
from eventide.formats.sparse import Raw
from eventide.formats.table_files import file_table, memory_table
from eventide.formats.tables import Table as NamedColumns
from eventide.formats.tables import table_facts
from eventide.kernels.arrays import Array
from eventide.learning.examples import Column, Examples, Table, examples_of, table
from eventide.learning.learnable import asks_about
from eventide.learning.modes import Mode, Modes
from eventide.learning.prediction import leaves_of
from eventide.learning.results import event_of, is_fluent
from eventide.syntax.diagnostics import Diagnostic
from eventide.syntax.reader import read_clauses
from eventide.syntax.terms import Atom, Compound, Number, Term, Variable, arguments_of, functor_of
from eventide.syntax.vocabulary import did_you_mean

FOREVER = 1 << 61
STREAMS = ("stream", "video")
TIMES = ("start", "frame")
"""Other names of the column `time`."""
ASP = (".lp", ".asp")
_COMPOUND = re.compile(r"[a-z]\w*\((.*)\)")
Names = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Shape:
    """A mode as facts have it: its name, and what stands in each argument: a place (a variable) or a constant."""

    mode: Mode
    time: int | None

    @property
    def parts(self) -> tuple[tuple[Term, ...], Term | None]:
        """The arguments, and the value if it is a fluent; places are variables named by their numbers."""
        holes = [Variable(str(i)) for i in range(len(self.mode.places))]
        event, value = event_of(self.mode, self.time, holes), None
        if self.time is not None and is_fluent(self.mode) and isinstance(event, Compound):
            event, value = event.args
        return tuple(leaves_of(event)), value

    @property
    def is_nested(self) -> bool:
        """Whether an argument is a compound one."""
        event = event_of(self.mode, self.time, [Variable("_")] * len(self.mode.places))
        fluent = event.args[0] if isinstance(event, Compound) and functor_of(event) == ("=", 2) else event
        return any(isinstance(arg, Compound) for arg in arguments_of(fluent))

    @property
    def text(self) -> str:
        """What makes two shapes the same: all but the kinds of the places."""
        return str(self.mode.filled([Variable(place.type) for place in self.mode.places]))


def targets_of(modes: Modes) -> dict[str, Modes]:
    """The fluents to be learnt by name, each with the modes that are about it; none ask about its own state.

    >>> from eventide.learning.modes import read_modes
    >>> modes, _ = read_modes("modeh(initiatedAt(rich(+person),+time))\\nmodeh(initiatedAt(glad(+person),+time))\\n"
    ...                       "modeb(happensAt(win(+person),+time))")
    >>> {name: len(own.heads) for name, own in targets_of(modes).items()}
    {'rich': 1, 'glad': 1}
    """
    found: dict[str, Modes] = {}
    for mode in modes.examples or modes.heads:
        heads = tuple(head for head in modes.heads if head.subject == mode.subject)
        assert isinstance(mode.atom, Compound)
        pattern = replace(mode, atom=Compound("holdsAt", mode.atom.args))
        bodies = tuple(body for body in modes.bodies if not asks_about(body, pattern))
        found.setdefault(mode.subject, replace(modes, heads=heads, bodies=bodies, examples=(pattern,)))
    return found


def shapes_of(modes: Modes) -> tuple[dict[str, Shape], dict[str, Shape]]:
    """The shapes of input facts and of labels; the labels by the name of the fluent, the inputs by their text."""
    labels = {name: own.examples[0] for name, own in targets_of(modes).items()}
    if not labels:
        raise EventideError("the modes name no fluent: write examplePattern(holdsAt(moving(+person,+person),+time))")
    time_type = next(iter(labels.values())).places[-1].type
    inputs: dict[str, Shape] = {}
    for mode in (*modes.inputs, *modes.bodies, *(each.mode for each in modes.comparisons)):
        shape = _shape(replace(mode, positive=True), time_type)
        inputs.setdefault(shape.text, shape)
    return inputs, {name: _shape(mode, time_type) for name, mode in labels.items()}


def _shape(mode: Mode, time_type: str) -> Shape:
    found = [i for i, place in enumerate(mode.places) if place.type == time_type]
    return Shape(mode, found[0] if found else None)


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """Facts of one name, with the stream of each."""

    facts: FactTable
    streams: Column | None


@dataclass(slots=True, eq=False)
class Observations:
    """All that files and tables say, in the shapes that modes have."""

    modes: Modes
    parts: list[Part] = field(default_factory=list)
    timeless: dict[tuple[str, int], tuple[Column, ...]] = field(default_factory=dict)
    rows: dict[str, list[tuple[tuple[Term, ...], str | int | None]]] = field(default_factory=dict)
    """Facts that came as atoms, by the text of their shape: what stands in the places, and the stream."""
    derived: set[str] = field(default_factory=set)
    """What background knowledge defines."""
    given: set[str] = field(default_factory=set)
    """The names of tables, those without rows included."""

    @property
    def intervals(self) -> frozenset[str]:
        """The input fluents that came as intervals."""
        inputs = {shape.mode.subject for shape in shapes_of(self.modes)[0].values()}
        return frozenset(part.facts.name for part in self.parts if part.facts.kind == "interval") & inputs

    def unseen(self) -> list[Diagnostic]:
        """Warnings about conditions of which there is no fact, so that they are never true."""
        known = {part.facts.name for part in self.parts} | {name for name, _ in self.timeless} | self.derived
        found: dict[str, Diagnostic] = {}
        for mode in self.modes.bodies:
            name = mode.subject
            if name not in known and Shape(mode, None).text not in self.rows:
                hint = did_you_mean(name, tuple(sorted(known)), f"give a table {name}=FILE, or remove the modeb")
                message = f"no example has facts of {name}, so a condition about it says nothing"
                found.setdefault(name, Diagnostic("warning", "unseen-condition", message, mode.span, hint))
        return list(found.values())

    def tables_of(self, stream: str | int) -> dict[str, list[pa.Table]]:
        """What came as tables with times, in one stream, by name: `time`, `end` for intervals, arguments, `value`."""
        found: dict[str, list[pa.Table]] = {}
        for part in self.parts:
            rows = np.arange(len(part.facts)) if part.streams is None else np.flatnonzero(part.streams == stream)
            facts, columns = chosen(part.facts, rows), dict[str, object]()
            columns["time"] = facts.time
            if facts.end is not None:
                columns["end"] = np.where(facts.end >= FOREVER, self.ending(stream), facts.end)
            columns |= {f"arg{number}": _arrow(column) for number, column in enumerate(facts.args, 1)}
            if facts.value is not None:
                columns["value"] = _arrow(facts.value)
            found.setdefault(facts.name, []).append(pa.table(columns))
        return found

    def ending(self, stream: str | int) -> int:
        """A time-point behind all that is said of a stream: where what has an open end ends for those that need one."""
        times = [np.zeros(0, np.int64)]
        for part in self.parts:
            own = slice(None) if part.streams is None else part.streams == stream
            times += [part.facts.time[own], *([] if part.facts.end is None else [part.facts.end[own]])]
        for shape in shapes_of(self.modes)[0].values():
            times += [np.array([plain_value(values[shape.time]) for values, owner in self.rows.get(shape.text, ())
                                if owner in (None, stream)], np.int64)] if shape.time is not None else []
        known = np.concatenate(times)
        return int(known[known < FOREVER].max(initial=np.iinfo(np.int64).min + 1)) + 1

    def streams(self) -> Names:
        """The names of the streams, in order of appearance; one stream has the name 0."""
        named = chain.from_iterable(() if part.streams is None else part.streams.tolist() for part in self.parts)
        atoms = (stream for rows in self.rows.values() for _, stream in rows if stream is not None)
        return tuple(dict.fromkeys(chain(named, atoms))) or (0,)

    def examples(self, target: str) -> Examples:
        """The examples for one fluent."""
        inputs, labels = shapes_of(self.modes)
        own = labels.pop(target)
        shapes = {**inputs, **{shape.text: shape for shape in labels.values() if shape.text in inputs}}
        shapes = {text: shape for text, shape in shapes.items() if not asks_about(shape.mode, own.mode)}
        learnt = {shape.text for shape in labels.values()}
        points = self.observed([shape for text, shape in shapes.items() if text not in learnt])
        tables = [_at_observed(self.table(shape, points), shape, points) if text in learnt else
                  self.table(shape, points) for text, shape in shapes.items()]
        return examples_of(targets_of(self.modes)[target], tables, self.table(own, points))

    def observed(self, shapes: Sequence[Shape]) -> dict[str | int, Array]:
        """The points of each stream at which a fact of these shapes is, those of intervals aside."""
        found: dict[str | int, list[Array]] = {}
        for part in self.parts:
            kept = np.zeros(len(part.facts), np.bool_)
            for shape in shapes if part.facts.kind != "interval" else ():
                kept |= _has_shape(part.facts, shape)
            for stream, rows in _by_stream(part):
                found.setdefault(stream, []).append(part.facts.time[rows[kept[rows]]])
        for shape in shapes:
            for values, owner in self.rows.get(shape.text, ()):
                if shape.time is not None:
                    time = np.array([plain_value(values[shape.time])])
                    found.setdefault(0 if owner is None else owner, []).append(time)
        return {stream: np.unique(np.concatenate(times)) for stream, times in found.items()}

    def table(self, shape: Shape, points: Mapping[str | int, Array]) -> Table:
        """The facts of a shape in one table."""
        arguments, value = shape.parts
        columns: list[list[Column]] = [[] for _ in shape.mode.places]
        streams: list[Column] = []
        if shape.time is None:
            given = self.timeless.get((shape.mode.subject, len(arguments)))
            if given is not None:
                _place(shape.mode, arguments, given, columns)
        for part in self.parts:
            about = part.facts.name, len(part.facts.args)
            if shape.time is not None and about == (shape.mode.subject, len(arguments)):
                facts, stream = _at_points(part, points)
                leaves, cells = [*arguments], [*map(as_array, facts.args)]
                if facts.value is not None and value is not None:
                    leaves, cells = [*leaves, value], [*cells, as_array(facts.value)]
                rows = _place(shape.mode, leaves, cells, columns)
                columns[shape.time].append(facts.time[rows])
                streams.append(stream[rows])
        atoms = self.rows.get(shape.text, ())
        for place, column in enumerate(columns if atoms else ()):
            column.append(np.array([plain_value(values[place]) for values, _ in atoms]))
        if atoms:
            streams.append(np.array([0 if stream is None else stream for _, stream in atoms]))
        full = [[each for each in column if each.shape[0]] for column in columns]
        for where, parts in zip(shape.mode.places, full, strict=True):
            if len({each.dtype.kind in "if" for each in parts}) > 1:
                raise EventideError(f"{shape.mode}, {where} is a number in some tables and text in others; give all "
                                    "its values as one kind")
        several = self.streams() != (0,) and shape.time is not None
        named = np.concatenate([each for each in streams if each.shape[0]] or [np.empty(0, np.int64)])
        return table(str(shape.mode), *(np.concatenate(each) if each else [] for each in full),
                     streams=named if several else None)


def read_examples(modes: Modes, sources: object, labelled: Sequence[str] = (),
                  reads: Mapping[str, tuple[Kind, Sequence[int]]] | None = None,
                  time_unit: TimeUnit | None = None) -> Observations:
    """What files and tables say: a path, `NAME=FILE`, a table in memory, a dict of these by name, or a list of all.

    The fluents that are `labelled` must have labels. `reads` are further names, those of background knowledge: how each
    comes, and its numbers of arguments. Times that are dates need a `time_unit`.

    >>> import pyarrow as pa
    >>> from eventide.learning.modes import read_modes
    >>> modes, _ = read_modes("modeh(initiatedAt(rich(+person),+time))\\nmodeb(happensAt(win(+person),+time))")
    >>> found = read_examples(modes, {"win": pa.table({"time": [1, 4, 9], "who": ["ann", "bob", "ann"]}),
    ...                               "rich": pa.table({"start": [2], "end": [9], "who": ["ann"]})})
    >>> [batch.labels.tolist() for batch in found.examples("rich").batches(50)]
    [[False, True, False, False, False, False]]
    """
    check_time_unit(time_unit)
    inputs, labels = shapes_of(modes)
    observations = Observations(modes)
    reader = _Reader(observations, [*inputs.values(), *labels.values()], reads or {}, time_unit)
    for name, source in _named(sources, reader.known):
        reader.read(name, source)
    for name in labelled:
        if not any(part.facts.name == name for part in observations.parts) and not observations.rows.get(
                labels[name].text) and name not in observations.given:
            reader.no_labels(name)
    reader.check_streams()
    return observations


def _named(source: object, known: Mapping[str, object], name: str | None = None) -> Iterator[tuple[str | None, object]]:
    if isinstance(source, Mapping):
        for key, each in source.items():
            yield from _named(each, known, str(key))
    elif isinstance(source, list | tuple):
        for each in source:
            yield from _named(each, known, name)
    elif isinstance(source, str | os.PathLike):
        own, path = split_name(os.fspath(source)) if name is None else (name, os.fspath(source))
        if own is None and os.path.isdir(path):
            yield from tables_in(path, lambda each: each in known).items()
        else:
            yield own, path
    else:
        yield name, source


class _Expected(Expected):
    """What a table of examples may be about."""

    def unknown(self, name: str) -> tuple[str, str]:
        """What is wrong with a name that no mode and no background knowledge reads, and what to try."""
        known = f"known are {', '.join(self.names)}; write an inputPredicate for it"
        return f"no mode names {name}", did_you_mean(name, tuple(self.names), known)


class _Reader:
    """Reads one source after the other into observations."""

    def __init__(self, found: Observations, shapes: Sequence[Shape],
                 reads: Mapping[str, tuple[Kind, Sequence[int]]], time_unit: TimeUnit | None) -> None:
        self.found, self.shapes, self.reads, self.time_unit = found, shapes, reads, time_unit
        self.known: dict[str, set[int]] = {name: set(arities) for name, (_, arities) in reads.items()}
        for shape in shapes:
            self.known.setdefault(shape.mode.subject, set()).add(len(shape.parts[0]))
        self.seen: list[str] = []

    def read(self, name: str | None, source: object) -> None:
        """The facts of a source."""
        path = source if isinstance(source, str) else None
        if name is not None and name not in self.known:
            message, hint = _Expected(lambda _: None, names=sorted(self.known)).unknown(name)
            raise InputError(f"{message}; {hint}")
        if name is not None:
            self.found.given.add(name)
        if path is not None and path.endswith(ASP):
            self.atoms(path)
        elif name is not None and any(shape.time is None and shape.mode.subject == name for shape in self.shapes):
            (relation,) = read_background({name: source} if path is None else f"{name}={path}",
                                          time_unit=self.time_unit)
            self.found.timeless[name, len(relation.columns)] = tuple(map(as_array, relation.columns))
        else:
            named = file_table(path, {}) if path is not None else memory_table(source, f"<{name or 'examples'}>")
            if named is None:
                raise InputError(f"cannot read examples from a {type(source).__name__}; expected a path, a pyarrow, "
                                 "pandas or polars table, or a dict of tables by name")
            self.table(name, named)

    def table(self, name: str | None, given: NamedColumns) -> None:
        """The facts of a table with named columns."""
        columns = dict(given.columns)
        streams = next((columns.pop(each) for each in STREAMS if each in columns), None)
        other = next((each for each in TIMES if each in columns), None)
        if other == "start" and "time" not in columns and "end" not in columns:
            raise input_error("missing-column", "a column start without a column end", given.source, 1,
                              hint="add a column end, or call it time where facts are at single time-points")
        if "time" not in columns and other is not None:
            columns = {"time" if key == other else key: column for key, column in columns.items()}
        if "event" not in columns and "fluent" in columns:
            columns = {"event" if key == "fluent" else key: column for key, column in columns.items()}
        if name is None and "args" in columns:
            names = _cells(columns["event"]) if "event" in columns else [None] * given.length
            nested = {shape.mode.subject for shape in self.shapes if shape.is_nested}
            columns = _split_arguments(columns, [each in nested for each in names])
        owners = _cells(columns["event"]) if name is None and "event" in columns else [name] * given.length
        fluents = {shape.mode.subject: shape for shape in self.shapes
                   if shape.time is not None and is_fluent(shape.mode)}
        if "end" in columns:
            ends = _cells(columns["end"])
            columns["end"] = [FOREVER if end is None and owner in fluents else end
                              for end, owner in zip(ends, owners, strict=True)]
        if "value" not in columns and not fluents.keys().isdisjoint(owners):
            only = {each: self.only_value(each, given) for each in fluents.keys() & set(owners)}
            columns["value"] = [None if owner is None else only.get(owner) for owner in owners]
        kinds: dict[str, Kind] = {each: kind for each, (kind, _) in self.reads.items()}
        kinds |= {each: "event" for each in self.known if each not in self.reads}
        kinds |= dict.fromkeys(fluents, "interval" if "end" in columns else "point")
        expected = _Expected(kinds.get, lambda each: sorted(self.known.get(each, ())), sorted(self.known),
                             time_unit=self.time_unit)
        facts = table_facts(replace(given, columns=columns), expected, name, SHOWN)
        if facts.bad_count:
            problems = [row.diagnostic for row in facts.bad[:SHOWN]]
            rest = [f"and {facts.bad_count - len(problems)} more"] if facts.bad_count > len(problems) else []
            raise InputError("\n".join([*(problem.render() for problem in problems), *rest]), problems)
        self.seen += [each for each, _ in facts.tables]
        cells = None if streams is None else _streams(streams, given)
        for part in facts.tables.values():
            assert part.rows is not None
            at = np.searchsorted(given.lines, part.rows)
            self.found.parts.append(Part(part, None if cells is None else cells[at]))

    def only_value(self, fluent: str, given: NamedColumns) -> str | int | float:
        """The value that the modes give a fluent, for a table without a column that says it."""
        values = {value for shape in self.shapes if shape.mode.subject == fluent
                  and (value := shape.parts[1]) is not None}
        if len(values) > 1 or any(isinstance(value, Variable) for value in values):
            raise input_error("missing-column", f"no column value, and {fluent} may have several", given.source, 1,
                              hint="add a column value")
        return plain_value(values.pop())

    def atoms(self, path: str) -> None:
        """The facts of a file of Answer Set Programming: a stream of its own."""
        text = rule_text(path)
        clauses, problems = read_clauses(text, path)
        refuse_errors(problems, {path: text})
        for clause in clauses:
            if clause.head is None or clause.body is not None:
                raise input_error("rule-in-examples", "a rule among the facts of examples", path,
                                  clause.span.line if clause.span else 1, hint="give rules as background knowledge")
            self.found_atom(clause.head, Path(path).stem)

    def found_atom(self, atom: Term, stream: str | None) -> None:
        """One fact; those of other shapes are left out."""
        add_atom(self.found, self.shapes, atom, stream)
        self.seen.append(Mode(atom, ()).subject if isinstance(atom, Atom | Compound) else "")

    def check_streams(self) -> None:
        """Refuse tables of which some have streams and others have none."""
        named = [part.facts.name for part in self.found.parts if part.streams is not None]
        unnamed = [part.facts.name for part in self.found.parts if part.streams is None]
        atoms = [stream for rows in self.found.rows.values() for _, stream in rows if stream is not None]
        if unnamed and (named or atoms):
            others = f"{named[0]} does" if named else f"{atoms[0]}{ASP[0]} is a stream of its own"
            raise no_stream(unnamed[0], others)

    def no_labels(self, name: str) -> None:
        """Say that nothing labels a fluent."""
        near = did_you_mean(name, tuple(dict.fromkeys(self.seen)), "")
        raise InputError(f"no example is labelled with {name}; give a table {name}=FILE with the columns time and its "
                         f"arguments, or start, end and its arguments{f'; {near}' if near else ''}")


def no_stream(table: str, others: str) -> InputError:
    """What is said of a table whose facts are in no stream, while those of `others` are."""
    return InputError(f"the table {table} has no column stream (or video), but {others}; "
                      "all facts with a time have a stream, or none")


def add_atom(found: Observations, shapes: Sequence[Shape], atom: Term, stream: str | int | None) -> None:
    """Add a fact that is an atom to all shapes that it has."""
    plain = _without_true(atom)
    for shape in shapes:
        values = shape.mode.constants(atom) or shape.mode.constants(plain)
        if values is not None:
            found.rows.setdefault(shape.text, []).append((values, None if shape.time is None else stream))


def _without_true(atom: Term) -> Term:
    if isinstance(atom, Compound) and functor_of(atom) == ("holdsAt", 2):
        fluent = atom.args[0]
        if isinstance(fluent, Compound) and functor_of(fluent) == ("=", 2) and fluent.args[1] == Atom("true"):
            return Compound("holdsAt", (fluent.args[0], atom.args[1]))
    return atom


def _cells(raw: Raw) -> list[Any]:
    return raw if isinstance(raw, list) else raw.to_pylist()


def _split_arguments(columns: dict[str, Raw], nested: Sequence[bool]) -> dict[str, Raw]:
    """Columns with the arguments of `args`, as results have them, apart; of `nested` ones what stands inside them."""
    rows = [str(cell).split("|") if cell not in (None, "") else [] for cell in _cells(columns["args"])]
    rows = [[leaf for text in row for leaf in _leaves(text)] if inner else row
            for row, inner in zip(rows, nested, strict=True)]
    width = max(map(len, rows), default=0)
    found: dict[str, Raw] = {}
    for place in range(width):
        texts = [row[place] if place < len(row) else None for row in rows]
        found[f"arg{place + 1}"] = _numbers(texts)
    return {key: column for key, column in columns.items() if key != "args"} | found


def _leaves(text: str) -> list[str]:
    """What stands inside a compound argument, as results write it.

    >>> _leaves("at(lift(Ann Lee),3)"), _leaves("ann")
    (['Ann Lee', '3'], ['ann'])
    """
    found = _COMPOUND.fullmatch(text)
    if found is None:
        return [text]
    parts, depth = [""], 0
    for sign in found[1]:
        depth += (sign == "(") - (sign == ")")
        if sign == "," and not depth:
            parts.append("")
        else:
            parts[-1] += sign
    return [leaf for part in parts for leaf in _leaves(part)]


def _numbers(texts: list[str | None]) -> list[object]:
    """Whole numbers or floats, if all are, else the texts."""
    for kind in (int, float):
        try:
            return [None if text is None else kind(text) for text in texts]
        except ValueError:
            continue
    return list(texts)


def _streams(raw: Raw, given: NamedColumns) -> Column:
    cells = _cells(raw)
    for row, cell in enumerate(cells):
        if cell is None:
            raise input_error("empty-field", "the stream is empty", given.source, int(given.lines[row]),
                              hint="every row of a table with streams names its own")
    return np.array([cell if isinstance(cell, str | int | float) and not isinstance(cell, bool) else str(cell)
                     for cell in cells])


def as_array(column: Cells) -> Column:
    """A column as an array; one with values of several kinds has objects."""
    if isinstance(column, Coded):
        values = np.array(column.values, None if len({type(value) for value in column.values}) == 1 else object)
        found: Column = values[column.codes] if values.shape[0] else np.empty(0, np.int64)
        return found
    return column


def _arrow(column: Cells) -> object:
    """A column for a table; values of several kinds as their texts."""
    if not isinstance(column, Coded):
        return column
    several = len({type(value) for value in column.values}) > 1
    return pa.array([str(value) if several else value for value in column_values(column)])


def plain_value(term: Term) -> str | int | float:
    """A term as a cell of a table."""
    return term.value if isinstance(term, Number) else term.name if isinstance(term, Atom) else str(term)


def _place(mode: Mode, leaves: Sequence[Term], cells: Sequence[Column], columns: list[list[Column]]) -> Any:
    """Add cells to the columns of their places; the rows of those that have the constants of the shape."""
    kept: Any = np.ones(cells[0].shape[0], np.bool_) if cells else slice(None)
    for leaf, each in zip(leaves, cells, strict=True):
        if not isinstance(leaf, Variable):
            kept &= _equal(each, leaf, mode)
    for leaf, each in zip(leaves, cells, strict=True):
        if isinstance(leaf, Variable):
            columns[int(leaf.name)].append(each[kept])
    return kept


def _has_shape(facts: FactTable, shape: Shape) -> Any:
    """Which facts have a shape: its name, its number of arguments, and the constants where it has some."""
    arguments, value = shape.parts
    if shape.time is None or (facts.name, len(facts.args)) != (shape.mode.subject, len(arguments)):
        return False
    kept: Any = np.ones(len(facts), np.bool_)
    for leaf, column in zip([*arguments, value], [*facts.args, facts.value], strict=True):
        if leaf is not None and column is not None and not isinstance(leaf, Variable):
            kept &= _equal(as_array(column), leaf, shape.mode)
    return kept


def _at_observed(given: Table, shape: Shape, points: Mapping[str | int, Array]) -> Table:
    """The labels of another fluent where something is observed: they are no observations themselves."""
    assert shape.time is not None
    times = given.columns[shape.time]
    kept = np.zeros(times.shape[0], np.bool_)
    for stream, there in points.items():
        kept |= np.isin(times, there) & (True if given.streams is None else given.streams == stream)
    return replace(given, columns=tuple(column[kept] for column in given.columns),
                   streams=None if given.streams is None else given.streams[kept])


def _equal(column: Column, constant: Term, mode: Mode) -> Any:
    """Where a constant of a mode stands; 1 and 1.0 are different values, as in a run, which is told."""
    value = plain_value(constant)
    if column.dtype.kind == "O":
        return np.array([type(each) is type(value) and each == value for each in column], np.bool_)
    found = column == value
    kind = "if".find(column.dtype.kind)
    if kind >= 0 and not isinstance(value, str) and type(value) is not (int, float)[kind] and found.any():
        raise EventideError(f"{mode} has {value}, but the examples have {'floats' if kind else 'whole numbers'} there; "
                            f"write {column[found][0].item()}")
    return found


def _by_stream(part: Part) -> Iterator[tuple[str | int, Array]]:
    if part.streams is None:
        yield 0, np.arange(len(part.facts))
        return
    for stream in dict.fromkeys(part.streams.tolist()):
        yield stream, np.flatnonzero(part.streams == stream)


def _at_points(part: Part, points: Mapping[str | int, Array]) -> tuple[FactTable, Column]:
    """Facts at points; those with intervals at each observed point in them."""
    streams = np.zeros(len(part.facts), np.int64) if part.streams is None else part.streams
    if part.facts.kind != "interval":
        return part.facts, streams
    assert part.facts.end is not None
    rows, times = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for stream, own in _by_stream(part):
        there = points.get(stream, np.empty(0, np.int64))
        low, high = np.searchsorted(there, part.facts.time[own]), np.searchsorted(there, part.facts.end[own])
        number = np.maximum(high - low, 0)
        rows.append(np.repeat(own, number))
        firsts = np.repeat(low - (np.cumsum(number) - number), number)
        times.append(there[firsts + np.arange(int(number.sum()))])
    at = np.concatenate(rows)
    return replace(chosen(part.facts, at), time=np.concatenate(times), end=None), streams[at]
