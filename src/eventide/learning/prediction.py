"""What weighted rules say of examples, as maximal intervals: the same that `eventide run` finds with the rule file.

A state changes after the point at which a rule fires, so an interval begins one tick after an observed point and ends
one tick after another. A stream is one batch: its instances are all whose arguments its facts name.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from eventide.kernels.arrays import Array, Mask
from eventide.learning.columns import layout_of
from eventide.learning.examples import Batch, CodedFacts, Column, Examples
from eventide.learning.inference import Mode, firing, infer
from eventide.learning.modes import is_place
from eventide.learning.results import Weighted, event_of
from eventide.syntax.printer import term_text
from eventide.syntax.terms import Atom, Compound, Number, Term, Variable, arguments_of, functor_of


def predicted(rules: Sequence[Weighted], examples: Examples, *, inference: Mode = "vote",
              streams: Sequence[str | int] | None = None, tick: int = 1) -> pa.Table:
    """The intervals of the fluent in each stream: `stream`, `fluent`, `args`, `value`, `start`, `end` (null: open).

    >>> from eventide.learning.clauses import clause_of
    >>> from eventide.learning.examples import examples_of, table
    >>> from eventide.learning.modes import read_modes
    >>> from eventide.learning.results import WeightedClause
    >>> modes, _ = read_modes("modeh(initiatedAt(rich(+person),+time))\\nmodeb(happensAt(win(+person),+time))")
    >>> wins = table("happensAt(win(+person),+time)", ["ann", "bob"], [3, 8])
    >>> examples = examples_of(modes, [wins], table("holdsAt(rich(+person),+time)", ["ann"], [8]))
    >>> rules = [WeightedClause(clause_of("initiatedAt(rich(X),T) :- happensAt(win(X),T)."), 2.0),
    ...          WeightedClause(clause_of("terminatedAt(rich(X),T) :- not happensAt(win(X),T)."), 0.5)]
    >>> predicted(rules, examples).select(["args", "start", "end"]).to_pylist()
    [{'args': 'ann', 'start': 4, 'end': 9}, {'args': 'bob', 'start': 9, 'end': None}]
    """
    layout = layout_of([rule.clause for rule in rules], examples)
    weights = np.array([rule.weight for rule in rules], np.float64)
    rows: list[tuple[str, str, int, int | None]] = []
    for batch in examples.batches(longest(examples), streams):
        found = infer(firing(layout.columns(batch), layout.bodies), layout.initiates, weights, batch.offsets,
                      np.zeros(batch.instances.shape[0], np.bool_), inference)
        names = instance_names(examples, batch)
        for instance, start, end in intervals(found.holds, found.after, batch.times, tick):
            rows.append((str(batch.stream), names[instance], start, end))
    fluent, value = _fluent(examples)
    name = functor_of(fluent)[0]
    rows.sort(key=lambda row: (row[0], row[1], row[2]))
    stream, args, starts, ends = ([row[i] for row in rows] for i in range(4))
    return pa.table({"stream": pa.array(stream, pa.string()), "fluent": pa.array([name] * len(rows), pa.string()),
                     "args": pa.array(args, pa.string()), "value": pa.array([value] * len(rows), pa.string()),
                     "start": pa.array(starts, pa.int64()), "end": pa.array(ends, pa.int64())})


def intervals(holds: Mask, after: Mask, times: Array, tick: int = 1) -> list[tuple[int, int, int | None]]:
    """Instance, start and end (None: open) of each maximal interval; `holds` has an instance's points side by side.

    >>> intervals(np.array([0, 1, 1, 0], bool), np.array([True]), np.array([2, 4, 6, 8]))
    [(0, 3, 7), (0, 9, None)]
    """
    points = times.shape[0]
    states = np.concatenate([holds.reshape(after.shape[0], points), after[:, None]], axis=1).astype(np.int8)
    changes = np.diff(states, axis=1, prepend=np.int8(0), append=np.int8(0))  # what is open ends behind the last
    moments = [int(times[0]) if points else 0, *(times + tick).tolist()]
    owners, starts = np.nonzero(changes == 1)
    return [(owner, moments[start], moments[end] if end <= points else None)
            for owner, start, end in zip(owners.tolist(), starts.tolist(), np.nonzero(changes == -1)[1].tolist(),
                                         strict=True)]


Tables = dict[str, list[pa.Table]]


def facts_of(examples: Examples, stream: str | int | None = None) -> tuple[Tables, Tables]:
    """The facts of a stream (None: the first) as `Program.run` takes events, and those without time, both by name.

    >>> from eventide.learning.examples import examples_of, table
    >>> from eventide.learning.modes import read_modes
    >>> modes, _ = read_modes("modeh(initiatedAt(rich(+person),+time))\\nmodeb(happensAt(win(+person),+time))")
    >>> wins = table("happensAt(win(+person),+time)", ["ann", "bob"], [3, 8])
    >>> examples = examples_of(modes, [wins], table("holdsAt(rich(+person),+time)", ["ann"], [8]))
    >>> facts_of(examples)[0]["win"][0].to_pylist()
    [{'time': 3, 'arg1': 'ann'}, {'time': 8, 'arg1': 'bob'}]
    """
    timed: Tables = {}
    timeless: Tables = {}
    for batch in examples.batches(longest(examples), [examples.streams[0] if stream is None else stream]):
        for facts in batch.facts:
            holes = [Variable(str(i)) for i in range(len(facts.mode.places))]
            event, columns = event_of(facts.mode, facts.time, holes), dict[str, Column]()
            value: Term | None = None
            if facts.points is not None:
                columns["time"] = batch.times[facts.points]
            if functor_of(facts.mode.atom) == ("holdsAt", 2) and isinstance(event, Compound):
                event, value = event.args
            for number, leaf in enumerate(leaves_of(event), 1):
                columns[f"arg{number}"] = _values(leaf, facts, examples)
            if value is not None:
                columns["value"] = _values(value, facts, examples)
            (timeless if facts.points is None else timed).setdefault(facts.mode.subject, []).append(pa.table(columns))
    return timed, timeless


def longest(examples: Examples) -> int:
    """The number of points of the longest stream, at least 1: with batches of this size, each stream is one."""
    return max(int(np.diff(examples.bounds).max(initial=1)), 1)


def leaves_of(term: Term) -> Iterator[Term]:
    """The arguments of an event, nested ones included, in the order in which events have them."""
    for arg in term.args if isinstance(term, Compound) else ():
        yield from leaves_of(arg) if isinstance(arg, Compound) else (arg,)


def _values(leaf: Term, facts: CodedFacts, examples: Examples) -> Column:
    """What stands in a leaf: a column of the facts, or a constant of their shape."""
    if isinstance(leaf, Variable):
        place = int(leaf.name)
        codes = facts.codes[place]
        return codes if place == facts.threshold else examples.domains[facts.mode.places[place].type][codes]
    return np.full(facts.codes[0].shape[0], leaf.value if isinstance(leaf, Number) else term_text(leaf))


def instance_names(examples: Examples, batch: Batch) -> list[str]:
    """The arguments of each instance of a batch, as results write them: compound ones as their text without spaces."""
    columns = [examples.domains[name][codes].tolist()
               for name, codes in zip(examples.types, batch.arguments.T, strict=True)]
    pattern = "|".join(map(_pattern, arguments_of(_fluent(examples)[0])))
    rows = zip(*columns, strict=True) if columns else [()] * batch.instances.shape[0]
    return [pattern % tuple(map(str, values)) for values in rows]


def _pattern(term: Term) -> str:
    """A term as its text, with `%s` for each place."""
    if is_place(term):
        return "%s"
    if isinstance(term, Compound):
        return f"{term.functor}({','.join(map(_pattern, term.args))})"
    return (term.name if isinstance(term, Atom) else term_text(term)).replace("%", "%%")


def _fluent(examples: Examples) -> tuple[Term, str]:
    """The fluent with its places, and its value."""
    assert isinstance(examples.target.atom, Compound)
    fluent = examples.target.atom.args[0]
    if isinstance(fluent, Compound) and functor_of(fluent) == ("=", 2):
        return fluent.args[0], term_text(fluent.args[1])
    return fluent, "true"
