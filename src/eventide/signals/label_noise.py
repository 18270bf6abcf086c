"""Smooth and strong noise in labelled activities, as in Mantenoglou's thesis (§7.1). Knows no rules.

Smooth: each simple event (a label of what somebody does, an arrival, a departure) is believed with a probability that
follows from a draw of a Gamma distribution. Strong: so are positions and orientations, and there are labels that nobody
gave. The thesis names the distributions alone. Ours: G has the mean that is asked for and the scale 1, a fact has the
probability 1 - G / 10, not below 0, and spurious labels are as probable as true ones. Equal seeds give equal answers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Literal, get_args

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from eventide.errors import InputError
from eventide.signals.disturbance import LARGEST, drawn
from eventide.signals.positions import Floats, Ints

LABELS = ("walking", "running", "active", "inactive", "abrupt")
TRACKING = ("appear", "disappear")
CONTEXT = ("coord", "orientation")
RANGE = 10.0  # a Gamma draw of this size or more leaves nothing of a fact
DIGITS = 6
Kind = Literal["smooth", "strong"]
# What is drawn for one name does not depend on which other names there are.
_NAMES = (*LABELS, *TRACKING, *CONTEXT)
_SPURIOUS, _ROW = len(_NAMES), "row of the input"


@dataclass(frozen=True, kw_only=True)
class LabelNoise:
    """Which noise, the mean of its Gamma distribution, and with strong noise the share of labels that are added.

    >>> LabelNoise(mean=2.0, seed=3).probabilities("walking", 3)
    array([0.406618, 0.77332 , 0.885206])
    """

    kind: Kind = "smooth"
    mean: float = 1.0
    spurious: float = 0.1
    seed: int = 1

    def __post_init__(self) -> None:
        if self.kind not in get_args(Kind):
            raise InputError(f"noise is {self.kind!r}; known are smooth and strong")
        if not isinstance(self.mean, Real) or not 0 <= self.mean < np.inf:
            raise InputError(f"mean is {self.mean!r}; expected a number from 0 on, such as 0.5 (little) to 8 (much)")
        if not isinstance(self.spurious, Real) or not 0 <= self.spurious <= 1:
            raise InputError(f"spurious is {self.spurious!r}; expected a share from 0 to 1")
        if not hasattr(self.seed, "__index__") or not 0 <= self.seed <= LARGEST:
            raise InputError(f"seed is {self.seed!r}; expected a whole number from 0 on")

    @property
    def uncertain(self) -> tuple[str, ...]:
        """The names of the facts that get probabilities."""
        return _NAMES if self.kind == "strong" else (*LABELS, *TRACKING)

    def probabilities(self, name: str, count: int) -> Floats:
        """The probabilities of so many facts of a name."""
        return self._believed(np.random.default_rng([int(self.seed), _NAMES.index(name)]), count)

    def added(self, labels: Sequence[str], counts: Sequence[int]) -> tuple[Ints, Ints, Floats]:
        """Spurious labels: which rows of all labels, one kind behind the other, get which other label, how probable."""
        rng = np.random.default_rng([int(self.seed), _SPURIOUS])
        rows = drawn(np.arange(sum(counts)), self.spurious if len(labels) > 1 else 0.0, rng)
        own = np.repeat(np.arange(len(labels)), counts)[rows]
        other = (own + rng.integers(1, max(2, len(labels)), rows.shape[0])) % max(1, len(labels))
        return rows, other, self._believed(rng, rows.shape[0])

    def _believed(self, rng: np.random.Generator, count: int) -> Floats:
        return np.maximum(1 - rng.gamma(float(self.mean), 1.0, count) / RANGE, 0.0).round(DIGITS)


def noisy(facts: Mapping[str, pa.Table], noise: LabelNoise) -> dict[str, pa.Table]:
    """The facts, a table by name, with a column `probability` where noise makes them uncertain; others as they are.

    Strong noise adds so many labels, of the number there is: somebody who has a label at some time, chosen uniformly,
    gets another one too, chosen uniformly among the labels that occur.

    >>> facts = {"walking": pa.table({"time": [1, 2], "id": ["a", "a"]}), "coord": pa.table({"time": [1], "id": ["a"]})}
    >>> found = noisy(facts, LabelNoise(mean=2.0, seed=3))
    >>> found["walking"].to_pylist()[0], found["coord"].column_names
    ({'time': 1, 'id': 'a', 'probability': 0.406618}, ['time', 'id'])
    """
    found = dict(facts)
    for name in noise.uncertain:
        if name in found:
            found[name] = _believed(name, found[name], noise.probabilities(name, found[name].num_rows))
    if noise.kind == "strong":
        _add_spurious(found, facts, noise)
    return found


def noisy_table(table: pa.Table, noise: LabelNoise) -> pa.Table:
    """The same for one table of facts with a column `event`; a spurious label stands beside its origin."""
    if "event" not in table.column_names:
        raise InputError("there is no column event, which says what is a label and what is a position")
    if _believable(table, noise) == 0:
        raise InputError(f"there is no event that gets noise; those are {', '.join(noise.uncertain)}")
    table = table.append_column(_ROW, pa.array(np.arange(table.num_rows)))
    events = pc.cast(table["event"], pa.string())
    parts = noisy({name: table.filter(pc.equal(events, name)) for name in events.unique().to_pylist()}, noise)
    whole = pa.concat_tables(parts.values(), promote_options="default")
    rows = whole[_ROW].to_numpy()
    return whole.take(pa.array(np.argsort(rows, kind="stable"))).drop_columns([_ROW])


def _believable(table: pa.Table, noise: LabelNoise) -> int:
    known = pa.array(noise.uncertain)
    return int(pc.sum(pc.is_in(pc.cast(table["event"], pa.string()), known)).as_py() or 0)


def _believed(name: str, table: pa.Table, probability: Floats) -> pa.Table:
    if "probability" in table.column_names:
        raise InputError(f"the facts of {name} have probabilities already")
    return table.append_column("probability", pa.array(probability))


def _add_spurious(found: dict[str, pa.Table], facts: Mapping[str, pa.Table], noise: LabelNoise) -> None:
    labels = [name for name in LABELS if name in facts]
    if not labels:
        return
    for name in labels:
        if facts[name].column_names != facts[labels[0]].column_names:
            raise InputError(f"the facts of {name} and {labels[0]} have different columns")
    rows, other, probability = noise.added(labels, [facts[name].num_rows for name in labels])
    every = pa.concat_tables([facts[name] for name in labels], promote_options="permissive")
    for number, name in enumerate(labels):
        mine = other == number
        extra = every.take(pa.array(rows[mine]))
        if "event" in extra.column_names:
            at = extra.column_names.index("event")
            extra = extra.set_column(at, "event", pa.repeat(name, extra.num_rows))
        extra = extra.append_column("probability", pa.array(probability[mine]))
        found[name] = pa.concat_tables([found[name], extra], promote_options="permissive")
