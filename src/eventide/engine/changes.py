"""Simple fluents: the points of their rules, tagged and run through inertia or the timed automaton."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from eventide.algebra.nodes import TIME, Change, Delay, Field, Fields, Inertia, Node, names
from eventide.engine.domains import Domain, value_of
from eventide.engine.joins import rows_with_match
from eventide.engine.relation import (
    Relation,
    Rows,
    Space,
    TimelineGrowth,
    append_field,
    distinct,
    from_unsorted,
    pack_rows,
    pack_with,
    unpack,
)
from eventide.errors import RuleError
from eventide.kernels.arrays import Array, Mask
from eventide.kernels.deadlines import AutomatonResult, automaton
from eventide.kernels.inertia import Codes, inertia, inertia_values, merge_tagged, tag, tag_rows
from eventide.kernels.joins import contains
from eventide.kernels.sorting import is_sorted, order, sort_points, unique

_TABLE_BITS = 12
_MOST_TAGS = 30
_MOST_VALUES = 62
_MOST_TOGETHER = 8  # values that may hold together are told apart by their sets

Evaluate = Callable[[Node], Rows]
Since = Callable[[Rows], Mask]
Table = npt.NDArray[np.int64]
Letter = tuple[str, int, tuple[tuple[int, bool], ...]]  # kind, local value, and (value, whether it must hold)


@dataclass(frozen=True, slots=True)
class Carry:
    """What holds where the evaluation of a simple fluent begins: `key|start` with the code of the value, sorted.

    `quiet` marks initial values, which started no deadline. `waiting` are the points `key|time` at which deadlines
    will fire, with the numbers of their rules.
    """

    points: Array
    codes: Array
    quiet: Mask
    waiting: Array
    rules: Array

    @staticmethod
    def of(points: Array, codes: Array) -> Carry:
        """Values that hold, without deadlines."""
        return Carry(points, codes, np.zeros(points.shape[0], np.bool_), np.empty(0, np.int64), np.empty(0, np.int64))


@dataclass(frozen=True, slots=True)
class Marks:
    """The tagged points of a fluent with deadlines, kept from one evaluation to the next: bit i of a code is letter i.

    `values` are the codes of the values in the order of their local numbers.
    """

    points: Array
    codes: Codes
    letters: tuple[Letter, ...]
    values: tuple[int, ...]

    def where(self, chosen: Mask) -> Marks:
        """Some of the points."""
        return replace(self, points=self.points[chosen], codes=self.codes[chosen])


@dataclass(frozen=True, slots=True)
class Kept:
    """Where an evaluation goes on: points for which `since` is set count, `carry` holds before them.

    `marks` are the points found before, without those that `since` finds anew. `begin`: where initial values begin, if
    nothing is known of the fluent before.
    """

    since: Since
    carry: Carry
    marks: Marks | None = None
    begin: int | None = None


@dataclass(frozen=True, slots=True)
class SimpleFluent:
    """The answer for a simple fluent: its intervals (of all values), and the points at which its deadlines fired.

    `marks` are its tagged points and `left` what is carried on after the last time-point, where it has deadlines.
    """

    relation: Relation
    fired: Rows
    marks: Marks | None = None
    left: Carry | None = None


@dataclass(frozen=True, slots=True)
class _Marked:
    """The rows of one rule: what they do to which local value (-1: every value)."""

    change: Change
    rows: Rows
    value: int


class _Builder:
    def __init__(self, node: Inertia, space: Space, evaluate: Evaluate, ties: str, kept: Kept | None = None) -> None:
        self.node, self.space, self.evaluate, self.ties, self.kept = node, space, evaluate, ties, kept
        self.arguments: Fields = node.fields[:-1]
        self.value_field: Field = node.fields[-1]
        self.domain: Domain = space.domains[self.value_field.type]
        self.timeline = space.timeline
        self.local: dict[int, int] = {}
        if kept is not None:
            held = np.flatnonzero(np.bincount(kept.carry.codes)).tolist()
            for code in (*(kept.marks.values if kept.marks else ()), *held):
                self._value(code)
        self.quiet: dict[int, int] = {}  # the places of initial values that start no deadline, by those of the values

    def _value(self, code: int) -> int:
        return self.local.setdefault(code, len(self.local))

    def _points(self, rows: Rows) -> Array:
        tick = self.timeline.tick
        if tick == 1:
            return pack_rows(self.space, rows, self.arguments, timed=True)
        # effects of points between two of the grid count at the one below
        return pack_with(self.space, rows, self.arguments, rows.time // tick * tick)

    def _tagged(self, marks: Sequence[tuple[Rows | Array, int]]) -> tuple[Array, Codes]:
        """The distinct points of all rules, each with the tags of the rules it comes from.

        Rules about the same event are rows of one table that is sorted already: they are marked there, not merged.
        """
        tables: dict[int, tuple[Array, list[Array | None], list[int]]] = {}
        lists: list[Array] = []
        tags: list[int] = []
        for rows, code in marks:
            table = self._table_of(rows) if isinstance(rows, Rows) else None
            if table is None:
                points = self._points(rows) if isinstance(rows, Rows) else rows
                lists.append(points if is_sorted(points) else sort_points(points))
                tags.append(code)
            else:
                points, index = table
                known = tables.setdefault(id(points), (points, [], []))
                known[1].append(index)
                known[2].append(code)
        pieces = [tag_rows(*table, trusted=True) for table in tables.values()]
        if lists:
            pieces.append(tag(lists, tags, trusted=True))
        return merge_tagged(pieces, trusted=True)

    def _table_of(self, rows: Rows) -> tuple[Array, Array | None] | None:
        """The sorted, distinct points that these rows are a good part of, and which ones."""
        root, index, there = rows.root((*names(self.arguments), TIME))
        if self.timeline.tick != 1 or 8 * rows.length < root.length:
            return None
        fields = tuple(Field(name, f.type) for name, f in zip(there, self.arguments, strict=False))
        points = pack_rows(self.space, root, fields, timed=True)
        return (points, index) if root.is_distinct(points) else None

    def initial(self) -> tuple[Array, Array]:
        """Keys with the offset where their initial values begin, sorted, and the local values (several for a key
        exclude each other)."""
        points: list[Array] = []
        values: list[Array] = []
        begin = self.timeline.begin if self.kept is None or self.kept.begin is None else self.kept.begin
        for node in self.node.initial if begin <= self.timeline.inside(self.timeline.until) else ():
            rows = self.evaluate(node)
            if self.node.domain is not None:
                rows = rows.where(rows_with_match(self.space, rows, self.evaluate(self.node.domain)))
            if self.kept is not None:
                before = np.broadcast_to(np.int64(begin - self.timeline.tick), (rows.length,))
                rows = rows.where(self.kept.since(rows.extend([(Field(TIME, TIME), before)])))
            codes = rows.column(self.value_field.name)
            keys = pack_rows(self.space, rows, self.arguments) | np.int64(begin)
            points.append(keys)
            known = np.unique(codes)
            values.append(np.array([self._value(int(c)) for c in known], np.int64)[np.searchsorted(known, codes)])
        if not points:
            return np.empty(0, np.int64), np.empty(0, np.int64)
        keys, local = np.concatenate(points), np.concatenate(values)
        if (local[1:] == local[:-1]).all():
            keys = distinct(keys)
            return keys, local[:keys.shape[0]]
        sorting = np.lexsort((local, keys))
        keys, local = keys[sorting], local[sorting]
        new = np.concatenate(([True], (keys[1:] != keys[:-1]) | (local[1:] != local[:-1])))
        return keys[new], local[new]

    def _changing(self, change: Change) -> Rows:
        """The points of a rule that count."""
        rows = self.evaluate(change.points)
        return rows if self.kept is None else rows.where(self.kept.since(rows))

    def marked(self) -> list[_Marked] | None:
        """The points of every rule by local value; None if the values are too many for tags."""
        result: list[_Marked] = []
        for change in self.node.changes:
            rows = self._changing(change)
            if rows.length == 0:
                continue
            if change.every:
                result.append(_Marked(change, rows, -1))
                continue
            if change.value is not None:
                code = self.domain.code(value_of(change.value))
                result.append(_Marked(change, rows, self._value(code)))
                continue
            codes = rows.column(self.value_field.name)
            for code in np.unique(codes).tolist():
                if code not in self.local and len(self.local) >= _MOST_TAGS // 2:
                    return None
                result.append(_Marked(change, rows.where(codes == code), self._value(code)))
        return result

    def build(self) -> SimpleFluent:
        keys, initial = self.initial()
        marked = self.marked()
        plain = not self.node.delays and not any(c.states for c in self.node.changes)
        if marked is None or (self.ties == "initiation" and plain and len(self.local) > 1):
            if not plain:
                raise RuleError(
                    "too-many-values", f"{self.node.name} has delays or depends on its own value, and more than "
                    f"{_MOST_TAGS // 2} values", "list its values with grounding", [self.node.name])
            return self._many_values(keys, initial)
        for delay in self.node.delays:
            self._value(self.domain.code(value_of(delay.source)))
            self._value(self.domain.code(value_of(delay.target)))
        if not self.local:
            return SimpleFluent(Relation.nothing(self.space, self.node.fields), self._nothing_fired())
        if plain and len(self.local) <= 1:
            return self._one_value(marked, keys)
        return self._table(marked, keys, initial)

    def _one_value(self, marked: Sequence[_Marked], initial: Array) -> SimpleFluent:
        # an initial value is initiated one tick before it begins
        marks: list[tuple[Rows | Array, int]] = [
            (m.rows, 1 if m.change.kind == "initiated" else 2) for m in marked]
        points, codes = self._tagged([*marks, (initial - self.timeline.tick, 1)])
        found = inertia(points, codes, self.timeline.shift, tick=self.timeline.tick, ties=self.ties,
                        carried=None if self.kept is None else self.kept.carry.points, trusted=True)
        return self._result(found.starts, found.ends, np.zeros(len(found), np.int64), sole=True)

    def _table(self, marked: Sequence[_Marked], keys: Array, initial: Array) -> SimpleFluent:
        """Tags per (rule or value) become the letters of the automaton's tables."""
        known = None if self.kept is None else self.kept.marks
        letters: list[Letter] = [] if known is None else list(known.letters)
        marks: list[tuple[Rows | Array, int]] = []
        for mark in marked:
            states = tuple((self._value(self.domain.code(value_of(s.value))), s.positive) for s in mark.change.states)
            letter: Letter = (mark.change.kind, mark.value, states)
            if letter not in letters:
                letters.append(letter)
            marks.append((mark.rows, 1 << letters.index(letter)))
        # initial values start no deadline: where there is one to start, they get a place of their own
        waiting = {self._value(self.domain.code(value_of(d.source))) for d in self.node.delays}
        quiet = {value for kind, value, _ in letters if kind == "initially"}
        if self.kept is not None:
            quiet.update(self.local[code] for code in self.kept.carry.codes[self.kept.carry.quiet].tolist())
        for value in sorted(quiet.union(np.unique(initial).tolist())):
            if value in waiting:
                self.quiet[value] = len(self.local) + len(self.quiet)
        for value in np.unique(initial).tolist():
            letter = ("initially" if value in waiting else "initiated", value, ())
            if letter not in letters:
                letters.append(letter)
            marks.append((keys[initial == value] - self.timeline.tick, 1 << letters.index(letter)))
        if len(letters) > _MOST_TAGS or len(self.local) + len(self.quiet) > _MOST_VALUES:
            raise RuleError("too-many-values", f"{self.node.name} has too many rules and values to combine "
                            f"({len(letters)} of at most {_MOST_TAGS})", "split it into several fluents",
                            [self.node.name])
        points, codes = self._tagged(marks)
        if known is not None:
            points, codes = merge_tagged([(known.points, known.codes), (points, codes)], trusted=True)
        kept_marks = Marks(points, codes, tuple(letters), tuple(self.local)) if self.node.delays else None
        patterns: Array
        if len(letters) <= _TABLE_BITS:
            patterns, columns = np.arange(1 << len(letters)), codes.astype(np.int64)
        else:
            patterns, columns = np.unique(codes.astype(np.int64), return_inverse=True)
        initiates, terminates = _tables(letters, patterns, len(self.local), self.quiet, self._by_set(letters))
        sources, targets, delays, postponable = self._delays(points)
        ahead = int(delays.max(initial=0)) + 2 * self.timeline.tick
        if self.kept is not None and self.timeline.inside(self.timeline.until) + ahead >= self.timeline.mask:
            raise TimelineGrowth(ahead)  # a deadline that runs on must be told from one that never comes
        answer = automaton(
            points, np.ascontiguousarray(columns), initiates, terminates, self.timeline.shift, self.timeline.tick,
            self.timeline.inside(self.timeline.until), sources, targets, delays, postponable,
            *self._carried(), ties=self.ties, values=len(self.local) + len(self.quiet), trusted=True)
        fired = unpack(self.space, self.arguments, answer.fired_points)
        fired[TIME] = answer.fired_points & self.timeline.mask
        fired[self.value_field.name] = self._codes()[answer.fired_values]
        rows = Rows(self.node.fields, fired, int(answer.fired_points.shape[0]), timed=True)
        relation = self._result(answer.starts, answer.ends, answer.values).relation
        left = self._left(answer, relation) if self.node.delays else None
        return SimpleFluent(relation, rows, kept_marks, left)

    def _by_set(self, letters: Sequence[Letter]) -> bool:
        """Whether a fluent may have several values at once, and rules ask what does not hold or for two of them."""
        places = len(self.local) + len(self.quiet)
        found = self.ties == "initiation" and places > 1 and any(
            len(states) > 1 or not positive for _, _, states in letters for _, positive in states)
        if found and places > _MOST_TOGETHER:
            raise RuleError("too-many-values", f"{self.node.name} may have {places} values at once (at most "
                            f"{_MOST_TOGETHER} where its rules ask which do not hold)",
                            "split it into several fluents", [self.node.name])
        return found

    def _left(self, answer: AutomatonResult, relation: Relation) -> Carry:
        """What holds after the last time-point, since when, and the deadlines that run on."""
        mask = np.int64(self.timeline.mask)
        open_ = answer.ends & mask == mask
        values = answer.values[open_]
        codes = self._codes()[values]
        # an initial value that was initiated again is two intervals here, but one in the relation
        whole = relation.intervals.starts[relation.intervals.ends & mask == mask]
        rows = append_field(self.space, self.node.fields, answer.starts[open_], codes)
        since = whole[np.searchsorted(whole | mask, rows | mask)] & mask
        points = (answer.starts[open_] & ~mask) | since
        sorting = np.argsort(points, kind="stable")
        return Carry(points[sorting], codes[sorting], (values >= len(self.local))[sorting],
                     answer.pending_points, answer.pending_rules)

    def _carried(self) -> tuple[tuple[Array, Array] | None, tuple[Array, Array] | None]:
        """What is carried in, as the automaton wants it."""
        if self.kept is None:
            return None, None
        carry = self.kept.carry
        numbers = np.zeros(max(self.local, default=0) + 1, np.int64)
        numbers[list(self.local)] = list(self.local.values())
        places = numbers[carry.codes]
        if carry.quiet.any():
            moved = np.array([self.quiet.get(value, value) for value in range(len(self.local))], np.int64)
            places = np.where(carry.quiet, moved[places], places)
        return (carry.points, places), (carry.waiting, carry.rules)

    def _delays(self, points: Array) -> tuple[Array, Array, Table, Mask]:
        rules: list[Delay] = list(self.node.delays)
        sources = np.array([self.local[self.domain.code(value_of(d.source))] for d in rules], np.int64)
        targets = np.array([self.local[self.domain.code(value_of(d.target))] for d in rules], np.int64)
        postponable = np.array([d.postponable for d in rules], np.bool_)
        if all(d.amount is not None for d in rules):
            amounts = np.array([[d.amount] for d in rules], np.int64).reshape(len(rules), 1)
            return sources, targets, amounts, postponable
        shift = self.timeline.shift
        if self.kept is not None and self.kept.carry.waiting.shape[0]:
            points = np.sort(np.concatenate((points, self.kept.carry.waiting)))
        keys = unique(points >> shift << shift, trusted=True)
        if keys.shape[0] == 0:
            return sources, targets, np.full((len(rules), 1), -1, np.int64), postponable
        amounts = np.full((len(rules), keys.shape[0]), -1, np.int64)
        for k, delay in enumerate(rules):
            if delay.rows is None:
                assert delay.amount is not None
                amounts[k] = delay.amount
                continue
            rows = self.evaluate(delay.rows)
            packed = pack_rows(self.space, rows, self.arguments)
            at = np.searchsorted(keys, packed)
            known = contains(packed, keys)
            amounts[k, at[known]] = rows.column(rows.fields[-1].name)[known].astype(np.int64)
        return sources, targets, amounts, postponable

    def _many_values(self, keys: Array, initial: Array) -> SimpleFluent:
        points: list[Array] = []
        codes: list[Array] = []
        for change in self.node.changes:
            rows = self._changing(change)
            if rows.length == 0:
                continue
            kind = 0 if change.kind == "initiated" else 1
            packed = self._points(rows)
            if change.every:
                letters = np.full(rows.length, -1, np.int64)
            elif change.value is not None:
                letters = np.full(rows.length, 2 * self.domain.code(value_of(change.value)) + kind, np.int64)
            else:
                letters = 2 * rows.column(self.value_field.name).astype(np.int64) + kind
            points.append(packed)
            codes.append(letters)
        points.append(keys - self.timeline.tick)
        codes.append(2 * self._codes()[initial] if keys.shape[0] else keys)
        packed, letters = np.concatenate(points), np.concatenate(codes)
        if not is_sorted(packed):
            permutation = order(packed)
            packed, letters = packed[permutation], letters[permutation]
        held = () if self.kept is None else (self.kept.carry.points, self.kept.carry.codes)
        starts, ends, values = inertia_values(
            packed, letters, self.timeline.shift, self.timeline.tick, self.ties, *held, trusted=True)
        return self._pack(starts, ends, values)

    def _codes(self) -> Array:
        codes = list(self.local)
        return np.array([*codes, *(codes[value] for value in self.quiet)], np.int64)

    def _nothing_fired(self) -> Rows:
        columns = {f.name: np.empty(0, np.int64) for f in self.node.fields} | {TIME: np.empty(0, np.int64)}
        return Rows(self.node.fields, columns, 0, timed=True)

    def _result(self, starts: Array, ends: Array, values: Array, *, sole: bool = False) -> SimpleFluent:
        if sole:
            return self._pack(starts, ends, int(self._codes()[0]))
        return self._pack(starts, ends, self._codes()[values])

    def _pack(self, starts: Array, ends: Array, codes: Array | int) -> SimpleFluent:
        """Insert the value's field between the arguments and the time."""
        starts, ends = (append_field(self.space, self.node.fields, g, codes) for g in (starts, ends))
        relation = from_unsorted(self.space, self.node.fields, starts, ends, injective=not self.quiet)
        return SimpleFluent(relation, self._nothing_fired())


def _tables(letters: Sequence[Letter], patterns: Array, values: int, quiet: dict[int, int], by_set: bool,
            ) -> tuple[Table, Table]:
    """What every combination of letters initiates and terminates, for each state: no value holds, or one of them does;
    or for each set of values that may hold together, by its bits."""
    places = values + len(quiet)
    states_of = [frozenset(v for v in range(places) if (bits >> v) & 1) for bits in range(1 << places)] if by_set else \
        [frozenset[int](), *(frozenset((v,)) for v in range(places))]
    initiates = np.zeros((len(states_of), patterns.shape[0]), np.int64)
    terminates = np.zeros((len(states_of), patterns.shape[0]), np.int64)
    # initial values come last: they look at what else is initiated
    for bit, (kind, value, states) in sorted(enumerate(letters), key=lambda item: item[1][0] == "initially"):
        present = (patterns >> bit) & 1 == 1
        ended = (1 << places) - 1 if value < 0 else 1 << value | 1 << quiet.get(value, value)
        for state, held in enumerate(states_of):
            if kind == "initially":  # an initiation of the value itself counts; while it holds, there is nothing to do
                own = (initiates[state] >> value) & 1 == 1
                alone = initiates[state] == 0
                initiates[state, present & ~own & ~(alone & (value in held))] |= 1 << quiet[value]
            elif all(held.isdisjoint((wanted, quiet.get(wanted, wanted))) != positive for wanted, positive in states):
                if kind == "initiated":
                    initiates[state, present] |= 1 << value
                else:
                    terminates[state, present] |= ended
    return initiates, terminates


def simple_fluent(node: Inertia, space: Space, evaluate: Evaluate, ties: str,
                  kept: Kept | None = None) -> SimpleFluent:
    """The maximal intervals of a simple fluent, with those of values that are not reported.

    Cost: one merge of the rules' points and one pass over them (thesis, chapter 2: maximal intervals by inertia;
    chapter 4: delayed effects).
    """
    return _Builder(node, space, evaluate, ties, kept).build()


def reported(node: Inertia, relation: Relation) -> Relation:
    """The intervals of declared values: another value may end one of them, but holds nowhere itself."""
    if node.reported is None or not len(relation):
        return relation
    value = node.fields[-1]
    domain = relation.space.domains[value.type]
    codes = np.array([domain.find(value_of(v)) for v in node.reported], np.int64)
    return relation.where(np.isin(relation.codes(value.name), codes))
