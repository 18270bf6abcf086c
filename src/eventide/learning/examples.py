"""Labelled streams as tables, cut into mini-batches by observed time-points. Not for files, nor for what rules say.

A table has the facts of one shape, a column for each place. A point is observed if a fact of the input is there; the
next point of a stream is the next observed one, however far. Labels are closed-world: what is not labelled is false.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from eventide.errors import EventideError, refuse_errors
from eventide.kernels.arrays import Array, Mask
from eventide.learning.counts import Judgements, next_labels
from eventide.learning.modes import Direction, Mode, Modes, read_modes
from eventide.syntax.terms import Compound, Variable

Column = npt.NDArray[Any]
_KINDS = {"U": "text", "i": "whole numbers", "f": "floats"}


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Facts of one shape; `streams` names the stream of each, None if there is one stream or the facts have no time."""

    mode: Mode
    columns: tuple[Column, ...]
    streams: Column | None = None


def table(shape: str, *columns: npt.ArrayLike, streams: npt.ArrayLike | None = None) -> Table:
    """The table of a shape written as in a mode file, with a column for each of its places, in order.

    >>> table("happensAt(walks(+person),+time)", ["ann", "bob"], [1, 2]).columns[1].tolist()
    [1, 2]
    >>> table("happensAt(walks(+person),+time)", [1, 2])
    Traceback (most recent call last):
    eventide.errors.EventideError: happensAt(walks(+person), +time) has 2 places, but the table has 1 columns
    """
    text = f"modeh({shape})"
    modes, problems = read_modes(text, "<shape>")
    refuse_errors(problems, {"<shape>": text})
    (mode,) = modes.heads
    if not mode.places:
        raise EventideError(f"{mode} has no places, so a table says nothing of it; give it a time")
    if len(columns) != len(mode.places):
        raise EventideError(f"{mode} has {len(mode.places)} places, but the table has {len(columns)} columns")
    given = tuple(_column(column, f"{mode}, {place}") for column, place in zip(columns, mode.places, strict=True))
    named = None if streams is None else _column(streams, f"{mode}, streams")
    if len({len(column) for column in (*given, *([] if named is None else [named]))}) > 1:
        raise EventideError(f"the columns of {mode} differ in length")
    return Table(mode, given, named)


@dataclass(frozen=True, slots=True, eq=False)
class CodedFacts:
    """A table with numbers for its values, ordered by time."""

    mode: Mode
    codes: tuple[Column, ...]
    """For each place the values' places in their domain; thresholds are as they were given."""
    points: Array | None
    """The point of each fact; None if the facts have no time and are always true."""
    time: int | None
    threshold: int | None
    direction: Direction

    def between(self, low: int, high: int) -> CodedFacts:
        """The facts at the points low .. high-1, counted from `low`."""
        if self.points is None:
            return self
        first, last = np.searchsorted(self.points, [low, high])
        return replace(self, codes=tuple(column[first:last] for column in self.codes),
                       points=self.points[first:last] - low)


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Successive observed points of one stream. Its rows are all instances by all points, those of one side by side."""

    stream: str | int
    begins: bool
    """Whether the stream begins here: states before it are of no concern."""
    times: Array
    arguments: Array
    """The arguments of each instance, as codes: all that the batch's facts name."""
    instances: Array
    """Each instance's number, the same in all batches, ascending."""
    labels: Mask
    """A truth value for each row."""
    after: Mask | None
    """The label of each instance at the point that follows the batch; None where the stream ends."""
    opening: Array
    """The instances that are labelled at the first point, those without rows too: they judge the batch before."""
    outside: int
    """Labels at points of the batch whose instances have no rows, as the facts do not name their arguments."""
    facts: tuple[CodedFacts, ...]
    examples: Examples = field(repr=False)
    """What the batch is a part of: the numbers in its facts stand for the values there."""

    @property
    def offsets(self) -> Array:
        """Where the rows of each instance begin, and where the last end."""
        return np.arange(self.instances.shape[0] + 1, dtype=np.int64) * np.int64(self.times.shape[0])

    def following(self) -> Judgements:
        """The label that judges each row: the one at the next point, one past the batch for its last (see `counts`)."""
        return next_labels(self.labels, self.offsets, self.after)

    def following_inside(self) -> Judgements:
        """The same, but nothing for the last points: a label past the batch is tested before it is learnt from."""
        return next_labels(self.labels, self.offsets)


@dataclass(frozen=True, slots=True, eq=False)
class Examples:
    """Streams of facts with the labels of one fluent."""

    target: Mode
    domains: dict[str, Column]
    """The values of each type, ascending."""
    facts: tuple[CodedFacts, ...]
    streams: tuple[str | int, ...]
    bounds: Array
    """The points of stream s are `bounds[s] .. bounds[s+1]`."""
    times: Array
    label_points: Array
    label_instances: Array
    unobserved: int
    """Labels that count nowhere, as nothing was observed at their time."""
    irreflexive: bool

    @property
    def types(self) -> tuple[str, ...]:
        """The types of the fluent's arguments."""
        return tuple(place.type for place in self.target.places[:-1])

    @property
    def unnamed(self) -> int:
        """Labels whose instances have no rows: the facts of their stream do not name the arguments.

        >>> modes, _ = read_modes("modeh(initiatedAt(rich(+person),+time))\\nmodeb(happensAt(win(+person),+time))")
        >>> wins = table("happensAt(win(+person),+time)", ["ann", "bob"], [1, 4])
        >>> examples_of(modes, [wins], table("holdsAt(rich(+person),+time)", ["bob", "zoe"], [4, 4])).unnamed
        1
        """
        number = 0
        for low, high in zip(self.bounds[:-1].tolist(), self.bounds[1:].tolist(), strict=True):
            arguments = self._arguments(tuple(each.between(low, high) for each in self.facts))
            instances = instance_numbers(arguments, [self.domains[name].shape[0] for name in self.types])
            first, after = np.searchsorted(self.label_points, [low, high])
            named, _ = _places(instances, self.label_instances[first:after])
            number += int(np.count_nonzero(~named))
        return number

    def only(self, streams: Sequence[str | int]) -> Examples:
        """The same without the facts of other streams; numbers stand for the same values.

        >>> modes, _ = read_modes("modeh(initiatedAt(rich(+person),+time))\\nmodeb(happensAt(win(+person),+time))")
        >>> wins = table("happensAt(win(+person),+time)", ["ann", "bob"], [1, 4], streams=["a", "b"])
        >>> labels = table("holdsAt(rich(+person),+time)", ["bob"], [4], streams=["b"])
        >>> [facts.points.tolist() for facts in examples_of(modes, [wins], labels).only(["b"]).facts]
        [[1]]
        """
        inside = np.zeros(self.times.shape[0], np.bool_)
        for number in map(self.streams.index, streams):
            inside[self.bounds[number] : self.bounds[number + 1]] = True
        facts = tuple(each if each.points is None else replace(
            each, codes=tuple(column[inside[each.points]] for column in each.codes),
            points=each.points[inside[each.points]]) for each in self.facts)
        return replace(self, facts=facts)

    def batches(self, size: int, streams: Sequence[str | int] | None = None) -> Iterator[Batch]:
        """Mini-batches of `size` points, stream by stream in the order given; the last of a stream may be smaller.

        States are carried by the caller:

        >>> from eventide.learning.inference import Carried, infer
        >>> modes, _ = read_modes("modeh(initiatedAt(rich(+person),+time))\\nmodeb(happensAt(win(+person),+time))")
        >>> wins = table("happensAt(win(+person),+time)", ["ann", "bob", "ann"], [1, 4, 9])
        >>> labels = table("holdsAt(rich(+person),+time)", ["ann", "ann"], [4, 9])
        >>> state = Carried()
        >>> for batch in examples_of(modes, [wins], labels).batches(2):
        ...     if batch.begins:
        ...         state.reset()
        ...     fires = batch.labels[None]  # see `columns` for the rows where rules fire
        ...     found = infer(fires, np.array([True]), np.ones(1), batch.offsets, state.take(batch.instances))
        ...     state.put(batch.instances, found.after)
        ...     print(batch.times, batch.following(), found.holds)
        [1 4] [1 1 0 0] [False False False False]
        [9] [-1] [ True]
        """
        if size < 1:
            raise EventideError(f"a batch has at least one point, not {size}")
        chosen = self.streams if streams is None else streams
        if unknown := [name for name in chosen if name not in self.streams]:
            raise EventideError(f"there is no stream {unknown[0]!r}; known are {', '.join(map(str, self.streams))}")
        for name in chosen:
            number = self.streams.index(name)
            first, last = self.bounds[number : number + 2].tolist()
            for low in range(first, last, size):
                yield self._batch(name, low, min(low + size, last), low == first, last)

    def _batch(self, stream: str | int, low: int, high: int, begins: bool, last: int) -> Batch:
        facts = tuple(each.between(low, high) for each in self.facts)
        arguments = self._arguments(facts)
        instances = instance_numbers(arguments, [self.domains[name].shape[0] for name in self.types])
        labels = np.zeros((instances.shape[0], high - low), np.bool_)
        first, second, after, end = np.searchsorted(self.label_points, [low, low + 1, high, high + 1])
        named, places = _places(instances, self.label_instances[first:after])
        labels[places, self.label_points[first:after][named] - low] = True
        following = None
        if high < last:
            following = np.zeros(instances.shape[0], np.bool_)
            following[_places(instances, self.label_instances[after:end])[1]] = True
        return Batch(stream, begins, self.times[low:high], arguments, instances, labels.reshape(-1), following,
                     self.label_instances[first:second], int(np.count_nonzero(~named)), facts, self)

    def _arguments(self, facts: tuple[CodedFacts, ...]) -> Array:
        """All combinations of the things that facts name, ascending.

        Facts without time are true of things that are not there: they count only for types that no others have.
        """
        things: dict[str, Array] = {}
        for name in dict.fromkeys(self.types):
            found = [(each.points is None, each.codes[i]) for each in facts for i, place in enumerate(each.mode.places)
                     if place.type == name and place.kind != "#" and i != each.threshold]
            timeless = all(always for always, _ in found)
            things[name] = np.unique(np.concatenate([np.empty(0, np.int64), *(codes for always, codes in found
                                                                              if always == timeless)]))
        grids = np.meshgrid(*(things[name] for name in self.types), indexing="ij")
        arguments = np.stack([grid.reshape(-1) for grid in grids], axis=1) if grids else np.zeros((1, 0), np.int64)
        if self.irreflexive:
            same = np.zeros(arguments.shape[0], np.bool_)
            for i, one in enumerate(self.types):
                for j in range(i):
                    if self.types[j] == one:
                        same |= arguments[:, i] == arguments[:, j]
            arguments = arguments[~same]
        return np.ascontiguousarray(arguments)


def examples_of(modes: Modes, tables: Sequence[Table], labels: Table) -> Examples:
    """Tables and labels as examples. Times are those of the place that has the type of the label's last place.

    The fluent is an `examplePattern` of the modes or, without any, that of a head. If it is declared irreflexive, no
    instance has the same thing twice. Streams come in the order in which the tables name them.

    >>> modes, _ = read_modes("modeh(initiatedAt(rich(+person),+time))\\nmodeb(happensAt(win(+person),+time))")
    >>> wins = table("happensAt(win(+person),+time)", ["ann", "bob"], [3, 8])
    >>> found = examples_of(modes, [wins], table("holdsAt(rich(+person),+time)", ["ann"], [8]))
    >>> [(batch.times.tolist(), batch.labels.tolist()) for batch in found.batches(50)]
    [([3, 8], [False, True, False, False])]
    """
    return examples_of_each(modes, tables, [labels])[0]


def examples_of_each(modes: Modes, tables: Sequence[Table], labels: Sequence[Table]) -> tuple[Examples, ...]:
    """The same tables as examples of several fluents, each with labels of its own; see `examples_of`.

    Values have the same numbers in all of them, and batches of one size have the same points.

    >>> modes, _ = read_modes("modeh(initiatedAt(rich(+person),+time))\\nmodeh(initiatedAt(glad(+person),+time))")
    >>> wins = table("happensAt(win(+person),+time)", ["ann", "bob"], [3, 8])
    >>> labels = [table(f"holdsAt({name}(+person),+time)", ["bob"], [8]) for name in ("glad", "rich")]
    >>> [str(each.target) for each in examples_of_each(modes, [wins], labels)]
    ['holdsAt(glad(+person), +time)', 'holdsAt(rich(+person), +time)']
    """
    targets = [_target(modes, each.mode) for each in labels]
    if len({target.places[-1].type for target in targets}) != 1:
        raise EventideError("the fluents that are to be learnt together have times of one type")
    given = [*tables, *labels]
    times = [_time_place(each.mode, targets[0].places[-1].type) for each in given]
    thresholds = [_threshold(each.mode, modes) for each in given]
    domains, coded = _coded(given, times, [at for at, _ in thresholds])
    for each, at in zip(given, times, strict=True):
        if at is None and each.streams is not None:
            raise EventideError(f"{each.mode} has streams but no time; facts without time are true in all streams")
    timed = [i for i, at in enumerate(times) if at is not None]
    streams, owners = _stream_codes([given[i] for i in timed])

    every = [each.columns[at] for each, at in zip(given, times, strict=True) if at is not None]
    distinct = np.unique(np.concatenate(every))
    keys = [owner * distinct.shape[0] + np.searchsorted(distinct, each)
            for owner, each in zip(owners, every, strict=True)]
    observed = np.unique(np.concatenate([np.empty(0, np.int64), *keys[: -len(labels)]]))  # labels are no observations
    bounds = np.searchsorted(observed, np.arange(len(streams) + 1) * distinct.shape[0])

    facts, points = [], dict(zip(timed, keys, strict=True))
    for i, each in enumerate(tables):
        codes, ranks = coded[i], None
        if times[i] is not None:
            order = np.argsort(points[i], kind="stable")
            codes, ranks = tuple(column[order] for column in codes), np.searchsorted(observed, points[i][order])
        facts.append(CodedFacts(each.mode, codes, ranks, times[i], *thresholds[i]))

    found = []
    for i, target in enumerate(targets, len(tables)):
        sizes = [domains[place.type].shape[0] for place in target.places[:-1]]
        numbers = instance_numbers(np.stack([*coded[i][:-1], np.zeros_like(points[i])], axis=1)[:, :-1], sizes)
        seen, places = _places(observed, points[i])
        pairs = np.unique(np.stack([places, numbers[seen]]), axis=1)
        unobserved = np.unique(np.stack([points[i], numbers])[:, ~seen], axis=1).shape[1]
        found.append(Examples(target, domains, tuple(facts), streams, bounds,
                              distinct[observed % max(distinct.shape[0], 1)], pairs[0], pairs[1], int(unobserved),
                              target.subject in modes.irreflexive))
    return tuple(found)


def instance_numbers(arguments: Array, sizes: Sequence[int]) -> Array:
    """One number for each row of codes, in the same order; `sizes` are those of the domains.

    >>> instance_numbers(np.array([[0, 1], [2, 0]]), [3, 4]).tolist()
    [1, 8]
    """
    total, room = np.zeros(arguments.shape[0], np.int64), 1
    for column, size in zip(arguments.T, sizes, strict=True):
        room *= max(size, 1)
        if room >= 1 << 63:
            raise EventideError("there are more than 2^63 combinations of arguments")
        total = total * max(size, 1) + column
    return total


def _places(ascending: Array, values: Array) -> tuple[Mask, Array]:
    """Which values are among the ascending ones, and the places of those that are."""
    at = np.searchsorted(ascending, values)
    found = np.zeros(values.shape[0], np.bool_)
    inside = at < ascending.shape[0]
    found[inside] = ascending[at[inside]] == values[inside]
    return found, at[found]


def _column(values: npt.ArrayLike, where: str) -> Column:
    """Values of one kind: text, int64 or finite float64."""
    column = np.asarray(values)
    if column.ndim != 1:
        raise EventideError(f"{where}: expected one column, got {column.ndim} dimensions")
    if not column.shape[0]:
        return np.empty(0, np.int64)
    if column.dtype.kind == "O" and set(map(type, column.tolist())) == {str}:
        column = column.astype(np.str_)
    if column.dtype.kind == "i" or (column.dtype.kind == "u" and int(column.max()) < 1 << 63):
        return column.astype(np.int64)
    if column.dtype.kind == "f" and np.isfinite(column).all():
        return column.astype(np.float64)
    if column.dtype.kind == "U":
        return column
    raise EventideError(f"{where}: expected text, whole numbers or finite floats, none missing")


def _target(modes: Modes, labels: Mode) -> Mode:
    """What the labels are about; one of the declared fluents."""
    if not modes.examples and not modes.heads:
        raise EventideError("the modes name no fluent: write examplePattern(holdsAt(moving(+person,+person),+time))")
    targets = [_fluent_at(mode) for mode in modes.examples or modes.heads]
    for target in targets:
        if _shape(labels) == _shape(target):
            return target
    known = ", ".join(dict.fromkeys(map(str, targets)))
    raise EventideError(f"labels are of the shape {labels}, but what is to be learnt is {known}")


def _fluent_at(mode: Mode) -> Mode:
    if not isinstance(mode.atom, Compound) or len(mode.atom.args) != 2 or mode.places[-1:] == () \
            or mode.places[-1].path != (2,):
        raise EventideError(f"{mode} is not about a fluent at a time, such as holdsAt(moving(+person,+person),+time)")
    target = replace(mode, atom=Compound("holdsAt", mode.atom.args))
    _time_place(target, target.places[-1].type)
    return target


def _shape(mode: Mode) -> object:
    """What two modes share that differ in the kinds of their places only."""
    return mode.filled([Variable(place.type) for place in mode.places])


def _time_place(mode: Mode, time_type: str) -> int | None:
    found = [i for i, place in enumerate(mode.places) if place.type == time_type]
    if len(found) > 1:
        raise EventideError(f"{mode} has {len(found)} places of the type {time_type}; a fact has one time")
    return found[0] if found else None


def _threshold(mode: Mode, modes: Modes) -> tuple[int | None, Direction]:
    for comparison in modes.comparisons:
        if _shape(comparison.mode) == _shape(mode):
            return comparison.place, comparison.direction
    return None, "lessThan"


def _coded(tables: Sequence[Table], times: Sequence[int | None],
           thresholds: Sequence[int | None]) -> tuple[dict[str, Column], list[tuple[Column, ...]]]:
    """The values of each type, and the tables with their numbers; times and thresholds stay as they are."""
    coded = [list(each.columns) for each in tables]
    places: dict[str, list[tuple[int, int]]] = {}
    for i, (each, time, threshold) in enumerate(zip(tables, times, thresholds, strict=True)):
        for j, (place, column) in enumerate(zip(each.mode.places, each.columns, strict=True)):
            if j == time and column.shape[0] and column.dtype != np.int64:
                raise EventideError(f"{each.mode}: times are whole numbers, not {_KINDS[column.dtype.kind]}")
            if j == threshold and column.dtype.kind == "U":
                raise EventideError(f"{each.mode}: {place} is compared, so it has numbers, not text")
            if j not in (time, threshold):
                places.setdefault(place.type, []).append((i, j))
    domains = {}
    for name, where in places.items():
        columns = [coded[i][j] for i, j in where]
        kinds = sorted({column.dtype.kind for column in columns if column.shape[0]})
        if len(kinds) > 1:
            raise EventideError(f"the type {name} has {' and '.join(_KINDS[kind] for kind in kinds)}; "
                                "give all its values as one kind")
        full = [column for column in columns if column.shape[0]]
        domains[name], codes = np.unique(np.concatenate(full or columns[:1]), return_inverse=True)
        ends = np.cumsum([column.shape[0] for column in columns])[:-1]
        for (i, j), part in zip(where, np.split(codes.astype(np.int64), ends), strict=True):
            coded[i][j] = part
    return domains, [tuple(columns) for columns in coded]


def _stream_codes(tables: Sequence[Table]) -> tuple[tuple[str | int, ...], list[Array]]:
    """The names of the streams in order of appearance, and for each table the stream of each fact as a number."""
    if all(each.streams is None for each in tables):
        return (0,), [np.zeros(each.columns[0].shape[0], np.int64) for each in tables]
    for each in tables:
        if each.streams is None:
            raise EventideError(f"{each.mode} says nothing of streams, but other tables do")
    named = [each.streams for each in tables if each.streams is not None]
    full = [column for column in named if column.shape[0]]
    if len({column.dtype.kind for column in full}) > 1:
        raise EventideError("some tables name streams by text, others by numbers")
    every = np.concatenate(full or named[:1])
    names, first, codes = np.unique(every, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(order.shape[0])
    ends = np.cumsum([column.shape[0] for column in named])[:-1]
    return tuple(names[order].tolist()), [part.astype(np.int64) for part in np.split(rank[codes], ends)]
