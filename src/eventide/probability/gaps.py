"""Time-points that are missing from streams: found, filled, or taken as a new beginning. Recognises nothing."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from eventide.errors import InputError
from eventide.kernels.arrays import Array
from eventide.probability.points import Points, name_of

Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
Gaps = Literal["fail", "hold", "zero", "split"]
GAPS: tuple[str, ...] = get_args(Gaps)
LARGEST = 1 << 31  # filled streams of more points are taken for a mistake


def smallest_step(points: Points) -> int:
    """The smallest distance of two time-points of a stream; 1 if no stream has two.

    >>> from eventide.probability.points import points_of
    >>> smallest_step(points_of({"time": [680, 720, 800], "p": [0.1, 0.2, 0.1]}))
    40
    """
    if points.times is None or points.times.shape[0] < 2:
        return 1
    distances = np.diff(points.times)
    inner = points.offsets[1:-1]
    distances[inner[(inner > 0) & (inner < points.times.shape[0])] - 1] = 0
    within = distances[distances > 0]
    return int(within.min()) if within.shape[0] else 1


def steps_of(points: Points, times: Array, begin: Array, known: Mask, last: Array, step: int, gaps: Gaps) -> Array:
    """How many time-points each point is after the one before it in its stream; InputError says what cannot be.

    The streams begin at the points `begin`; those that are `known` were at `last` before.
    """
    distances = np.empty(times.shape[0], np.int64)
    distances[1:] = times[1:] - times[:-1]
    distances[begin] = np.where(known, times[begin] - last, step)
    for at in np.flatnonzero(distances <= 0)[:1].tolist():
        now = last[np.searchsorted(begin, at)]
        message = f"time-point {times[at]}{_of(points, at)} comes too late: the stream is at {now}"
        raise points.problem("late-time", at, "time", message, "the points of a stream come in order of time")
    counts, rest = np.divmod(distances, step)
    for at in np.flatnonzero(rest)[:1].tolist():
        message = (f"time-point {times[at]}{_of(points, at)} is {distances[at]} after the one before it, "
                   f"no multiple of the step {step}")
        raise points.problem("uneven-time", at, "time", message, "give another distance of time-points (--step, step=)")
    if gaps == "fail":
        for at in np.flatnonzero(counts > 1)[:1].tolist():
            missing = f"{counts[at] - 1} {'is' if counts[at] == 2 else 'are'} missing"
            message = f"before time-point {times[at]}{_of(points, at)} {missing} (the step is {step})"
            hint = ("say what gaps mean (--gaps, gaps=): hold repeats the last probability, zero counts them as 0, "
                    "split begins a new stream")
            raise points.problem("gap", at, "time", message, hint)
    total = int(counts.sum())
    if gaps in ("hold", "zero") and total > LARGEST:
        at = int(counts.argmax())
        message = f"with all gaps filled there would be {total} points; the longest gap has {counts[at] - 1}"
        raise points.problem("gap", at, "time", message, "give the distance of time-points (--step), or --gaps split")
    return counts


def filled(probs: Floats, begin: Array, counts: Array, before: Floats, gaps: Gaps) -> tuple[Array, Floats]:
    """Where streams begin, and all probabilities, with the missing points; `before` were the last of the streams."""
    if gaps == "zero":
        every = np.zeros(int(counts.sum()))
    else:
        previous = np.empty_like(probs)
        previous[1:] = probs[:-1]
        previous[begin] = before
        every = np.repeat(previous, counts)
    ends = counts.cumsum()
    every[ends - 1] = probs
    return (ends - counts)[begin], every


def check_gaps(gaps: str) -> None:
    """Raise InputError unless it is known what gaps shall mean."""
    if gaps not in GAPS:
        raise InputError(f"gaps is {gaps!r}; known are {', '.join(GAPS[:-1])} and {GAPS[-1]}")


def _of(points: Points, at: int) -> str:
    stream = int(np.searchsorted(points.offsets, at, "right")) - 1
    return f" of {name_of(points.keys[stream])}" if points.names else ""
