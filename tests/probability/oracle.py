"""Slow and obvious forms of PIEC and its online kinds, on whole numbers: probabilities in units of 10^-15."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise

UNIT = 10**15
Interval = tuple[int, int]
Element = tuple[int, int, float]
"""A point, the exact sum before it, and the same sum in doubles."""
Resolve = Callable[[list[Element], int, int, float], list[Element]]


def brute_force(probs: Sequence[int], threshold: int) -> list[Interval]:
    """Definition 21 by the letter: all qualifying intervals that are inside no other."""
    n = len(probs)
    good = [(s, e) for s in range(n) for e in range(s + 1, n + 1) if sum(probs[s:e]) >= threshold * (e - s)]
    return [(s, e) for s, e in good if not any(a <= s and e <= b and (a, b) != (s, e) for a, b in good)]


def shortest_ranges(elements: list[Element], excess: int, ranges: Sequence[float]) -> list[Element]:
    """The scan of oPIEC^b: `excess` elements are held, a strictly shorter one replaces the first of the longest."""
    held = list(range(excess))
    for i in range(excess, len(elements)):
        longest = max(held, key=lambda k: ranges[k])
        if ranges[i] < ranges[longest]:
            held.remove(longest)
            held.append(i)
    return [element for i, element in enumerate(elements) if i not in held]


def exact_ranges(elements: list[Element]) -> list[float]:
    return [math.inf, *(a[1] - b[1] for a, b in pairwise(elements))]


def plain_ranges(elements: list[Element]) -> list[float]:
    return [math.inf, *(a[2] - b[2] for a, b in pairwise(elements))]


def by_range(memory: int, *, plain: bool = False) -> Resolve:
    """oPIEC^b (section 6.2.1)."""

    def resolve(elements: list[Element], excess: int, now: int, total: float) -> list[Element]:
        return shortest_ranges(elements, excess, plain_ranges(elements) if plain else exact_ranges(elements))

    return resolve


def by_duration(memory: int, mean: float, deviation: float, draw: Callable[[int, int], float]) -> Resolve:
    """oPIEC^bd (Algorithm 12); `draw(now, point)` is the random number for an element."""

    def resolve(elements: list[Element], excess: int, now: int, total: float) -> list[Element]:
        left = list(elements)
        for element in elements:
            least = now - element[0] + 1
            if len(left) > memory and least > mean:
                share = math.erf((least - mean) / (deviation * math.sqrt(2))) if deviation else 1.0
                if share > draw(now, element[0]):
                    left.remove(element)
        if len(left) > memory:
            left = shortest_ranges(left, len(left) - memory, exact_ranges(left))
        return left

    return resolve


def by_bins(bins: Sequence[Interval], threshold: float) -> Resolve:
    """oPIEC^bd as published: the oldest element against the longest bin, and so on."""

    def resolve(elements: list[Element], excess: int, now: int, total: float) -> list[Element]:
        kept: list[Element] = []
        left = list(bins)
        for i, element in enumerate(elements):
            if i - len(kept) == excess:
                return kept + elements[i:]
            if left:
                low, high = left[-1]
                remaining = (low + high - 2 * (now - element[0])) // 2 - 1
                if remaining > 0 and (element[2] - total) / remaining + threshold <= 1:
                    kept.append(element)
                    left.pop()
        return kept

    return resolve


def oldest(elements: list[Element], excess: int, now: int, total: float) -> list[Element]:
    """First in, first out."""
    return elements[excess:]


def online(
    probs: Sequence[int], threshold: int, batches: Sequence[int], memory: int | None = None,
    resolve: Resolve | None = None,
) -> tuple[list[Interval], list[int], int]:
    """Algorithms 10 and 11 on batches of these sizes: the intervals, the last support set, the size of the largest."""
    support: list[Element] = []
    least: int | None = None
    total, plain, first, largest = 0, 0.0, 0, 0
    found: list[Interval] = []
    for size in batches:
        part = probs[first : first + size]
        before, after = [], []
        for p in part:
            before.append((first + len(before), total, plain))
            total += p - threshold
            plain += p / UNIT - threshold / UNIT
            after.append(total)
        chain = support + before
        for start, end in _computed(chain, after, first):
            found = [(s, e) for s, e in found if not (start <= s and e <= end)]
            touching = [(s, e) for s, e in found if e == start]
            if touching:
                start = touching[0][0]
                found = [(s, e) for s, e in found if not (start <= s and e <= end)]
            found.append((start, end))
        for element in before:
            if least is None or element[1] < least:
                least = element[1]
                support = [*support, element]
        first += len(part)
        if memory is not None and len(support) > memory:
            support = resolve(support, len(support) - memory, first - 1, plain) if memory and resolve else []
        largest = max(largest, len(support))
    return sorted(found), [point for point, _, _ in support], largest


def _computed(chain: list[Element], after: list[int], first: int) -> list[Interval]:
    """Algorithm 11, with the support set and the batch in one list of starts."""
    best = after[:]
    for k in range(len(best) - 2, -1, -1):
        best[k] = max(best[k], best[k + 1])
    found = []
    start = end = 0
    flag = False
    while start < len(chain) and end < len(after):
        if best[end] >= chain[start][1]:
            flag = True
            end += 1
        else:
            if flag and chain[start][0] < first + end:
                found.append((chain[start][0], first + end))
            flag = False
            start += 1
    if flag:
        found.append((chain[start][0], first + end))
    return found


def credible(intervals: Sequence[Interval], probs: Sequence[int]) -> list[Interval]:
    """One interval of each chain: the largest sum of probabilities, the later of equals."""
    chains: list[list[Interval]] = []
    for s, e in sorted(intervals):
        if chains and s < chains[-1][-1][1]:
            chains[-1].append((s, e))
        else:
            chains.append([(s, e)])
    return [max(chain, key=lambda i: (sum(probs[i[0] : i[1]]), i[0])) for chain in chains]
