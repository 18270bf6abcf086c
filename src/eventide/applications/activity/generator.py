"""Ten tracked ids on random walks, scene after scene, with a label and a position per frame."""

from __future__ import annotations

import numpy as np

from eventide.applications.streams import Columns, Stream, event, points

TICK, PEOPLE, FRAMES, PAUSE = 40, 10, 250, 10
LABELS = ("walking", "running", "active", "inactive", "abrupt")
# Pixels per frame of each label.
STEPS = np.array([2.0, 6.0, 0.3, 0.0, 3.0])
MOODS = 10


def generate(entities: int = 10, seed: int = 0) -> Stream:
    """About 5,500 rows for each of `entities` scenes of 250 frames; the ids are the same in all scenes.

    The scenes follow each other in time: within a scene everyone may meet everyone, across scenes nobody can.
    """
    rng = np.random.default_rng(seed)
    shape = (entities, PEOPLE, FRAMES)
    mood = np.repeat(rng.choice(5, (entities, PEOPLE, MOODS), p=[0.45, 0.1, 0.2, 0.2, 0.05]), FRAMES // MOODS, axis=2)
    angle = rng.uniform(0, 2 * np.pi, (entities, PEOPLE, 1)) + np.cumsum(rng.normal(0, 0.15, shape), axis=2)
    place = rng.uniform(110, 190, (2, entities, PEOPLE, 1))
    x = np.rint(place[0] + np.cumsum(STEPS[mood] * np.cos(angle), axis=2)).astype(np.int64)
    y = np.rint(place[1] + np.cumsum(STEPS[mood] * np.sin(angle), axis=2)).astype(np.int64)
    enter = rng.integers(0, FRAMES // 2, (entities, PEOPLE, 1))
    leave = enter + rng.integers(FRAMES // 4, FRAMES // 2, (entities, PEOPLE, 1))
    frame = np.arange(FRAMES)
    seen = (frame >= enter) & (frame <= leave)
    first = np.arange(entities)[:, None, None] * (FRAMES + PAUSE) + 1
    time = np.broadcast_to((first + frame) * TICK, shape)
    names = np.char.add("id", np.arange(PEOPLE).astype(str))
    who = np.broadcast_to(names[None, :, None], shape)
    everyone = np.broadcast_to(names, (entities, PEOPLE)).ravel()
    order = np.argsort(time[seen], kind="stable")
    at, person = time[seen][order], who[seen][order]
    stream: Stream = {
        "appear": event(((first + enter) * TICK).ravel(), id=everyone),
        "disappear": event(((first + leave + 1) * TICK).ravel(), id=everyone),
    }
    for number, label in enumerate(LABELS):
        mine = mood[seen][order] == number
        stream[label] = points(at[mine], "true", id=person[mine])
    degrees = np.rint(np.degrees(angle[seen][order])).astype(np.int64) % 360
    stream["coord"] = points(at, "true", id=person, x=x[seen][order], y=y[seen][order])
    stream["orientation"] = points(at, degrees, id=person)
    stream["appearance"] = points(at, "visible", id=person)
    return stream


def background(entities: int = 10) -> dict[str, Columns]:
    """No relations: the limits of distance are part of the rules."""
    return {}
