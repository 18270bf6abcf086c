"""Tracked people whose meetings are labelled by a known definition: synthetic, to see whether a learner finds it again.

Two to a hundred people do one thing at a time and walk about. `close` has the distance from the first to the second as
the first estimates it, so that both orders differ: rounded up to one of LIMITS, which `dist` lists, and left out beyond
the last. Labels are what a definition says (see `applications.labelled`), not what people say.
"""

from __future__ import annotations

from importlib.resources import files

import numpy as np

from eventide.applications.activity.generator import LABELS, STEPS
from eventide.applications.labelled import Labelled, labelled_by
from eventide.errors import EventideError
from eventide.learning.examples import Table, table

LIMITS = np.array([10, 20, 30, 40, 50])
MODES = files(__package__).joinpath("meeting.modes").read_text(encoding="utf-8")

MEETING = """
initiatedAt(meet(X,Y),T) :- happensAt(active(X),T), happensAt(inactive(Y),T), close(X,Y,30,T).
terminatedAt(meet(X,Y),T) :- happensAt(walking(X),T), not close(X,Y,40,T).
"""
CHANGED = """
initiatedAt(meet(X,Y),T) :- happensAt(abrupt(X),T), close(X,Y,20,T).
terminatedAt(meet(X,Y),T) :- happensAt(running(Y),T).
"""
SEVERAL = """
initiatedAt(meet(X,Y),T) :- happensAt(active(X),T), happensAt(inactive(Y),T), close(X,Y,30,T).
initiatedAt(meet(X,Y),T) :- happensAt(abrupt(Y),T), close(X,Y,10,T).
terminatedAt(meet(X,Y),T) :- happensAt(walking(X),T), not close(X,Y,40,T).
terminatedAt(meet(X,Y),T) :- happensAt(running(X),T).
"""
_SIDE, _MOOD, _PROBABLE = 45.0, 0.12, (0.35, 0.1, 0.25, 0.2, 0.1)  # pixels for one person; changes of mood; of LABELS


def generate(persons: int = 4, points: int = 500, streams: int = 4, seed: int = 0, noise: float = 0.0,
             definition: str = MEETING, later: str = "") -> Labelled:
    """People in `streams` scenes of `points` frames, with the labels of `definition`, a share `noise` of them wrong.

    With `later` this is the definition from half of the frames on: a drift. The facts depend on neither noise nor
    definition.

    >>> data = generate(persons=3, points=100, streams=2)
    >>> [len(each.columns[0]) for each in data.tables], len(data.labels.columns[0])
    ([144, 59, 113, 199, 85, 5, 787], 71)
    """
    if persons < 2 or points < 1 or streams < 1:
        raise EventideError("a meeting needs two persons, a frame and a scene: persons >= 2, points and streams >= 1")
    tables = _facts(persons, points, streams, seed)
    no_labels = table("holdsAt(meet(+person,+person),+time)", [], [], [], streams=[])
    data = labelled_by(definition, MODES, tables, no_labels, later)
    return data.with_noise(noise, seed) if noise else data


def _facts(persons: int, points: int, streams: int, seed: int) -> tuple[Table, ...]:
    rng = np.random.default_rng([seed, 0])
    shape = (streams, persons, points)
    drawn = rng.choice(len(LABELS), shape, p=_PROBABLE)
    changes = rng.random(shape) < _MOOD
    changes[:, :, 0] = True
    last = np.maximum.accumulate(np.where(changes, np.arange(points), 0), axis=2)
    mood = np.take_along_axis(drawn, last, axis=2)
    angle = rng.uniform(0, 2 * np.pi, (streams, persons, 1)) + np.cumsum(rng.normal(0, 0.2, shape), axis=2)
    side = _SIDE * np.sqrt(persons)
    begin = rng.uniform(0, side, (2, streams, persons, 1))
    x, y = (_reflected(begin[axis] + np.cumsum(STEPS[mood] * turn(angle), axis=2), side)
            for axis, turn in enumerate((np.cos, np.sin)))
    names = np.char.add("p", np.arange(persons).astype(str))
    scenes = np.char.add("scene", np.arange(streams).astype(str))
    tables = []
    for number, label in enumerate(LABELS):
        scene, who, at = np.nonzero(mood == number)
        tables.append(table(f"happensAt({label}(+person),+time)", names[who], at, streams=scenes[scene]))
    tables.append(table("dist(#dist)", LIMITS))
    parts = []
    for number in range(streams):  # one scene after the other: pairs take much room
        apart = np.hypot(x[number, :, None] - x[number], y[number, :, None] - y[number])
        apart *= rng.uniform(0.8, 1.25, apart.shape)
        apart[np.arange(persons), np.arange(persons)] = np.inf
        one, two, at = np.nonzero(apart <= LIMITS[-1])
        parts.append((np.full(at.shape[0], number), one, two, LIMITS[np.searchsorted(LIMITS, apart[one, two, at])], at))
    scene, one, two, limit, at = (np.concatenate(column) for column in zip(*parts, strict=True))
    tables.append(table("close(+person,+person,#dist,+time)", names[one], names[two], limit, at, streams=scenes[scene]))
    return tuple(tables)


def _reflected(place: np.ndarray, side: float) -> np.ndarray:
    """A walk that turns round at 0 and at `side`."""
    folded: np.ndarray = side - np.abs(place % (2 * side) - side)
    return folded
