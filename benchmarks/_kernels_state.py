"""How fast the kernels of state are on one core: inertia, deadlines, stabbing, Allen relations; against reading once.

Not measured: several cores, cold caches, compilation, checks of the order of arguments (the arrays are trusted, as the
engine trusts its own). Keys have unequal numbers of rows, codes are random, so that branches cannot be predicted.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from eventide import kernels as k
from eventide.kernels import Array
from kernels import SHIFT, Case, activity, interval_list

STEP = 20  # mean distance of two points of a key


def sorted_points(size: int, keys: int, seed: int) -> Array:
    """Distinct points, sorted by key and time."""
    generator = np.random.default_rng(seed)
    counts = activity(size, keys, generator)
    times = generator.integers(1, 2 * STEP, size).cumsum()
    firsts = np.concatenate(([0], times))[counts.cumsum() - counts]
    return times + np.repeat((np.arange(keys, dtype=np.int64) << SHIFT) - firsts, counts)


def inertia_cases(size: int, keys: int) -> Iterator[Case]:
    """Initiations and breaks to intervals."""
    generator = np.random.default_rng(11)
    points = sorted_points(size, keys, 12)
    codes = generator.choice(np.array([1, 2, 3], np.uint32), size, p=[0.48, 0.48, 0.04])
    yield Case("inertia", size, lambda: k.inertia(points, codes, SHIFT, trusted=True), 2.5, read=12)
    rows = generator.integers(0, 6, size)
    yield Case("inertia_values, 3 values", size, lambda: k.inertia_values(points, rows, SHIFT, trusted=True), 5)
    shared = np.sort(np.concatenate((points[::2], generator.choice(points, size - points[::2].shape[0]))))
    yield Case("inertia_values, points shared", size, lambda: k.inertia_values(shared, rows, SHIFT, trusted=True), 5)
    halves = [sorted_points(size // 2, keys, seed) for seed in (13, 14)]
    yield Case("tag, 2 lists", 2 * (size // 2), lambda: k.tag(halves, [1, 2], trusted=True), None, read=8)


def deadline_cases(size: int, keys: int) -> Iterator[Case]:
    """One fluent of two values as a timed automaton: up, down, up again; then false after a while."""
    points = sorted_points(size, keys, 15)
    codes = np.random.default_rng(16).integers(0, 3, size)
    initiates, terminates = np.array([[1, 0, 2]] * 3), np.array([[0, 1, 0]] * 3)
    until = k.time_mask(SHIFT) - 2
    kinds: dict[str, tuple[list[int], list[int], list[int], list[bool]]] = {
        "automaton, no deadline": ([], [], [], []),
        "automaton, deadline": ([0], [1], [STEP], [False]),
        "automaton, postponable deadline": ([0], [1], [STEP], [True]),
    }
    for name, (sources, targets, delays, postponable) in kinds.items():

        def call(
            sources: list[int] = sources,
            targets: list[int] = targets,
            delays: Array = np.array(delays, np.int64).reshape(-1, 1),  # noqa: B008
            postponable: list[bool] = postponable,
        ) -> object:
            tables = (initiates, terminates)
            rules = (sources, targets, delays, postponable)
            return k.automaton(points, codes, *tables, SHIFT, 1, until, *rules, trusted=True)

        yield Case(name, size, call, 8)


def stab_cases(size: int, keys: int) -> Iterator[Case]:
    """Points against intervals."""
    generator = np.random.default_rng(17)
    counts = {"half as many": size // 2, "a tenth as many": size // 10, "a hundredth as many": size // 100}
    for name, count in counts.items():
        a = interval_list(count, keys, 18)
        span = np.maximum(np.append(a.starts[1:], a.ends[-1] + 20) - a.starts, 1)
        near = np.sort(generator.integers(0, count, size))
        points = np.sort(a.starts[near] + generator.integers(0, 40, size) % np.minimum(span[near], 40))
        target = 3 if count == size // 10 else None
        yield Case(f"stab, {name} intervals", size, lambda a=a, p=points: k.stab(p, a, trusted=True), target, read=8)
        if count == size // 10:
            yield Case("locate", size, lambda a=a, p=points: k.locate(p, a, trusted=True), None, read=8)
    points = sorted_points(size, keys, 19)
    yield Case("from_points", size, lambda: k.from_points(points, STEP, 1, SHIFT, trusted=True), None, read=8)


def allen_cases(size: int, keys: int) -> Iterator[Case]:
    """Relations between two lists of half the size each."""
    a, b = interval_list(size // 2, keys, 20), interval_list(size // 2, keys, 21)
    yield Case("allen_sweep, all seven", 2 * (size // 2), lambda: k.allen_sweep(a, b, SHIFT, trusted=True), 9)
    for name in ("before", "during"):
        yield Case(
            f"allen_pairs, {name}", 2 * (size // 2), lambda n=name: k.allen_pairs(n, a, b, SHIFT, trusted=True), None
        )
    yield Case(
        "allen, overlaps, union", 2 * (size // 2), lambda: k.allen("overlaps", "union", a, b, SHIFT, trusted=True), None
    )


def cases(size: int = 10_000_000, keys: int = 10_000) -> Iterator[Case]:
    """All cases of this file for one number of elements and of keys."""
    yield from inertia_cases(size, keys)
    yield from deadline_cases(size, keys)
    yield from stab_cases(size, keys)
    yield from allen_cases(size, keys)
