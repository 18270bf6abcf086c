"""How fast the kernels are on one core, against what the same machine needs to read the same bytes, or to sort once.

Not measured: several cores, cold caches, compilation. Times are CPU times of this process, the least of several runs.
Freed memory is kept, as the engine keeps it, so that a result's pages are not new each time.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from eventide import kernels as k
from eventide.engine.memory import keep_freed_memory
from eventide.kernels import Array, Intervals

SHIFT = 31
KEYS = (10_000, 100_000)


@dataclass(frozen=True)
class Case:
    """One measurement: `call` handles `elements` elements, reading `read` bytes of each."""

    name: str
    elements: int
    call: Callable[[], object]
    target: float | None
    """The most nanoseconds per element that we accept."""
    read: int = 16
    sorts: bool = False
    """Compare with one `numpy.sort` of as many points instead of with reading."""


def least_seconds(call: Callable[[], object], repetitions: int = 9) -> float:
    """The least CPU time of a call, after one that compiles and warms up."""
    call()
    times = []
    for _ in range(repetitions):
        begin = time.process_time()
        call()
        times.append(time.process_time() - begin)
    return min(times)


def activity(size: int, keys: int, generator: np.random.Generator) -> Array:
    """How many of `size` elements each key has: a few keys are busy, most are not."""
    weights = generator.lognormal(0.0, 1.0, keys)
    return generator.multinomial(size, weights / weights.sum()).astype(np.int64)


def interval_list(size: int, keys: int, seed: int) -> Intervals:
    """A list of `size` intervals over `keys` keys, lengths and gaps at random, all alike in scale."""
    generator = np.random.default_rng(seed)
    counts = activity(size, keys, generator)
    bounds = generator.integers(1, 40, 2 * size).cumsum()
    firsts = np.concatenate(([0], bounds))[2 * (counts.cumsum() - counts)]
    move = np.repeat((np.arange(keys, dtype=np.int64) << SHIFT) - firsts, counts)
    return Intervals(bounds[0::2] + move, bounds[1::2] + move)


def time_ordered_points(size: int, keys: int, seed: int) -> Array:
    """Points in order of time, the keys at random."""
    generator = np.random.default_rng(seed)
    owners = generator.permutation(np.repeat(np.arange(keys, dtype=np.int64), activity(size, keys, generator)))
    return (owners << SHIFT) + np.sort(generator.integers(0, 1 << 24, size))


def interval_cases(size: int, keys: int) -> Iterator[Case]:
    """The algebra on interval lists."""
    a, b, both = (interval_list(n, keys, seed) for n, seed in ((size // 2, 1), (size // 2, 2), (size, 3)))
    bases = np.arange(keys, dtype=np.int64) << SHIFT
    bounds = Intervals(bases, bases | k.time_mask(SHIFT))
    starts, ends = both.starts, both.ends + np.random.default_rng(4).integers(0, 40, size)
    length, middle = 20, int(np.median(both.starts & k.time_mask(SHIFT)))
    own = both.starts >> SHIFT << SHIFT
    yield Case("union", size, lambda: k.union(a, b), 6)
    yield Case("intersect", size, lambda: k.intersect(a, b), 6)
    yield Case("difference", size, lambda: k.difference(a, b), 6)
    yield Case("complement", size, lambda: k.complement(both, bounds), 6)
    yield Case("coalesce", size, lambda: k.coalesce(starts, ends), None)
    yield Case("clip", size, lambda: k.clip(both, 100, middle, SHIFT), None)
    yield Case("longer_than", size, lambda: k.longer_than(both, length, middle, SHIFT), None)
    yield Case("dilate", size, lambda: k.dilate(both, 2, 10, SHIFT), None)
    yield Case("erode", size, lambda: k.erode(both, 2, 10, SHIFT), None)
    yield Case("intersect_at", size, lambda: k.intersect_at(both, own, a, SHIFT), None, read=24)
    yield Case("difference_at", size, lambda: k.difference_at(both, own, a, SHIFT), None, read=24)
    yield Case("expand", size, lambda: k.expand(bases, bases, both, SHIFT), None)


def point_cases(size: int, keys: int) -> Iterator[Case]:
    """Sorting, packing and joining points."""
    points = time_ordered_points(size, keys, 5)
    shuffled = np.random.default_rng(6).permutation(points)
    owners, times = points >> SHIFT, points & k.time_mask(SHIFT)
    scattered = owners * 1_000_000_007
    done = k.sort_points(points)
    some = done[:: 10].copy()
    names = np.random.default_rng(7).permutation(keys) * 1_000_000_007

    def ordered() -> Array:
        return points.take(k.order(points, SHIFT, True), mode="clip")

    yield Case("order and apply, by time", size, ordered, 20, read=8, sorts=True)
    yield Case("sort_with_order, by time", size, lambda: k.sort_with_order(points, SHIFT, True), 20, 8, True)
    yield Case("sort_points, by time", size, lambda: k.sort_points(points, SHIFT, True), 20, 8, True)
    yield Case("order, unordered", size, lambda: k.order(shuffled, SHIFT), 35, 8, True)
    yield Case("sort_points, unordered", size, lambda: k.sort_points(shuffled, SHIFT), 35, 8, True)
    yield Case("sort_points, sorted", size, lambda: k.sort_points(done), None, 8)
    yield Case("unique", size, lambda: k.unique(done), None, 8)
    yield Case("pack", size, lambda: k.pack([owners], [20], times, SHIFT), None, 16)
    yield Case("field", size, lambda: k.field(points, SHIFT, 20), None, 8)
    yield Case("factorize, narrow", size, lambda: k.factorize(owners), None, 8)
    yield Case("factorize, hashed", size, lambda: k.factorize(scattered), None, 8)
    yield Case("contains, hashed", size, lambda: k.contains(scattered, names), None, 8)
    yield Case("join, hashed", size, lambda: k.join(scattered, names), None, 8)
    yield Case("join, merged", size, lambda: k.join(done, some), None, 8)
    yield Case("group_offsets", size, lambda: k.group_offsets(done), None, 8)


def cases(size: int = 10_000_000, keys: int = 10_000) -> Iterator[Case]:
    """All cases for one number of elements and of keys."""
    from _kernels_state import cases as state_cases

    yield from interval_cases(size, keys)
    yield from point_cases(size, keys)
    yield from state_cases(size, keys)


def limits(size: int) -> tuple[float, float]:
    """(seconds to read one byte, seconds for `numpy.sort` of `size` points), on this machine now."""
    numbers = np.random.default_rng(8).integers(0, 1 << 40, size)
    return least_seconds(numbers.sum) / (8 * size), least_seconds(lambda: np.sort(numbers), 2)


def measure(all_cases: Callable[[int, int], Iterator[Case]], size: int, keys: Sequence[int]) -> list[dict[str, Any]]:
    """One row per case and number of keys: what it took, what we ask for, how it compares with the machine's limit."""
    per_byte, sort_once = limits(size)
    rows = []
    for number in keys:
        for case in all_cases(size, number):
            taken = least_seconds(case.call)
            rival = sort_once * case.elements / size if case.sorts else per_byte * case.read * case.elements
            value = taken / case.elements * 1e9
            rows.append(
                {
                    "claim": f"{case.name}, {case.elements:,} elements, {number:,} keys",
                    "value": round(value, 3),
                    "unit": "ns per element",
                    "target": case.target,
                    "rival": "numpy.sort once" if case.sorts else f"reading {case.read} bytes per element once",
                    "ratio": round(taken / rival, 3),
                    "holds": None if case.target is None else value <= case.target,
                }
            )
    return rows


def first_calls() -> dict[str, Any]:
    """What the first call of every kernel costs in a fresh process that finds them all in the disk cache."""
    program = ("import time; from eventide import kernels; begin = time.process_time(); kernels.warm(); "
               "print(time.process_time() - begin)")
    times = [float(subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout)
             for _ in range(3)]
    taken = min(times)
    return {"claim": "first call of all kernels, fresh process, warm disk cache", "value": round(taken * 1e3, 1),
            "unit": "ms", "target": 500, "rival": "our limit", "ratio": round(taken / 0.5, 3), "holds": taken < 0.5}


def table(rows: list[dict[str, Any]]) -> str:
    """The rows as text."""
    width = max(len(row["claim"]) for row in rows)
    lines = [f"{'':{width}}  {'value':>7}  {'target':>6}  {'':6}  {'ratio':>6}  of"]
    for row in rows:
        target = "" if row["target"] is None else f"{row['target']:g}"
        verdict = {None: "", True: "holds", False: "FAILS"}[row["holds"]]
        numbers = f"{row['value']:7.2f}  {target:>6}  {verdict:6}  {row['ratio']:6.2f}"
        lines.append(f"{row['claim']:{width}}  {numbers}  {row['rival']}")
    return "\n".join(lines)


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--size", type=int, default=10_000_000, help="elements per case (10 million)")
    options = parser.parse_args(argv)
    # with few elements there are fewer keys, so that a key still has a history
    keys = sorted({max(1, min(number, options.size // 20)) for number in KEYS})
    keep_freed_memory()
    rows = [*measure(cases, options.size, keys), first_calls()]
    print(json.dumps(rows, indent=2) if options.json else table(rows))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
