"""Kernels: pure functions on arrays of points and intervals. Nothing here knows rules, streams or tables."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from eventide.kernels.allen import MODES, RELATIONS, allen, allen_pairs, allen_sweep
from eventide.kernels.arrays import EMPTY, Array, Intervals, check_intervals, check_points, empty, time_mask
from eventide.kernels.coverage import covered, covered_from, seen_at
from eventide.kernels.deadlines import AutomatonResult, automaton
from eventide.kernels.dense import (
    OperatorCells,
    common_grid,
    dilate_cells,
    erode_cells,
    from_cells,
    operator_cells,
    to_cells,
)
from eventide.kernels.dense_since import since_cells
from eventide.kernels.inertia import BROKEN, INITIATED, TIES, inertia, inertia_values, merge_tagged, tag, tag_rows
from eventide.kernels.intervals import (
    clip,
    coalesce,
    complement,
    difference,
    difference_at,
    expand,
    intersect,
    intersect_all,
    intersect_at,
    longer_than,
    shorter_than,
    union,
    union_all,
)
from eventide.kernels.joins import contains, factorize, group_offsets, join
from eventide.kernels.merging import cut_at, differing, insert_at, lower, positions_in, since
from eventide.kernels.metric import dilate, erode, shift_by
from eventide.kernels.packing import field, pack, repack
from eventide.kernels.ranks import closed_at, left_at, opened_at
from eventide.kernels.sorting import is_sorted, order, sort_points, sort_with_order, unique
from eventide.kernels.stab import ends_of, from_points, locate, stab, stab_any, starts_of

__all__ = [
    "BROKEN",
    "EMPTY",
    "INITIATED",
    "MODES",
    "RELATIONS",
    "TIES",
    "Array",
    "AutomatonResult",
    "Intervals",
    "OperatorCells",
    "allen",
    "allen_pairs",
    "allen_sweep",
    "automaton",
    "check_intervals",
    "check_points",
    "clip",
    "closed_at",
    "coalesce",
    "common_grid",
    "complement",
    "contains",
    "covered",
    "covered_from",
    "cut_at",
    "difference",
    "difference_at",
    "differing",
    "dilate",
    "dilate_cells",
    "empty",
    "ends_of",
    "erode",
    "erode_cells",
    "expand",
    "factorize",
    "field",
    "from_cells",
    "from_points",
    "group_offsets",
    "inertia",
    "inertia_values",
    "insert_at",
    "intersect",
    "intersect_all",
    "intersect_at",
    "is_sorted",
    "join",
    "left_at",
    "locate",
    "longer_than",
    "lower",
    "merge_tagged",
    "opened_at",
    "operator_cells",
    "order",
    "pack",
    "positions_in",
    "repack",
    "seen_at",
    "shift_by",
    "shorter_than",
    "since",
    "since_cells",
    "sort_points",
    "sort_with_order",
    "stab",
    "stab_any",
    "starts_of",
    "tag",
    "tag_rows",
    "time_mask",
    "to_cells",
    "union",
    "union_all",
    "unique",
    "warm",
]


def warm() -> None:
    """Call every kernel once on tiny arrays, so that all are compiled, or loaded from the disk cache.

    >>> warm()
    """
    points, mixed = np.array([3, 5, 9, 20]), np.array([20, 3, 1 << 40, 5])
    a = Intervals(np.array([2, 18]), np.array([6, 25]))
    b = Intervals(np.array([4]), np.array([8]))
    bases = np.zeros(2, np.int64)
    # intervals and metric
    coalesce(a.starts, a.ends)
    for verb in (union, intersect, difference):
        verb(a, b)
    difference(b, Intervals(np.arange(0, 90, 10), np.arange(5, 95, 10)))
    clip(a, 1, 9, 4)
    longer_than(a, 1, 9, 4)
    intersect_at(a, bases, b, 4)
    difference_at(a, bases, b, 4)
    covered(a.starts, a.ends, 1, 4)
    dilate_cells(a, operator_cells(0, True, 1, True, Fraction(1)), 4)
    since_cells(a, b, operator_cells(0, True, 1, True, Fraction(1)), 4)
    # packing, sorting, joins
    field(pack([points], [8], points, 8), 0, 4)
    order(mixed)
    unique(points)
    for values in (mixed, mixed[:2]):
        join(mixed, values)
    join(points, points)
    # inertia and deadlines
    for lists in ([points, points], [points, points, points]):
        tagged, codes = tag(lists, [INITIATED, BROKEN, BROKEN][: len(lists)])
    inertia(tagged, codes, 8)
    many = tag_rows(np.arange(16), [bases[:1], None], [INITIATED, BROKEN])
    merge_tagged([many, (points[:1], codes[:1])])  # 8 times shorter: inserted
    for ties in TIES:
        inertia_values(points, points & 1, 8, 1, ties)
    table = np.array([[1], [1], [1]])
    automaton(points, points & 0, table, table & 0, 8, 1, 30, [0], [1], np.array([[4]]), [False])
    # lists that change
    insert_at(points, points, points & 0)
    differing(a, b)
    cut_at(a, 4, 4, 1, bases, before=True)
    lower(bases.copy(), bases, bases)
    since(points, points & 0, bases)
    positions_in(points, points, points, points)
    # points and intervals
    stab(points, a)
    stab(np.arange(1024), b)
    locate(points, a)
    locate(mixed, a)
    from_points(points, 1, 1, 8)
    allen_sweep(a, b, 8)
    for relation in RELATIONS[:2]:
        allen_pairs(relation, a, b, 8)
    _warm_probabilities()
    _warm_learning()


def _warm_probabilities() -> None:
    """The same for probabilities, which crisp recognition does not import."""
    from eventide.kernels.formulas import Nodes, conjunctions, decide, outlines, persist, simple_probabilities
    from eventide.kernels.maximal_probability import (
        SCALE,
        Found,
        Supports,
        advance,
        first_improper,
        fresh_streams,
        most_credible,
    )
    from eventide.kernels.probability_runs import maximal_runs
    from eventide.kernels.support_sets import RANGES, Bound

    probs, offsets, none = np.array([0.5, 0.0, 1.0]), np.array([0, 3]), np.zeros(1, np.int64)
    first_improper(probs)
    bound = Bound(1, RANGES, False, 0.0, 0.0, np.uint64(0), none[:0])
    for batch, bounded in ((1, None), (1, bound), (2, bound)):
        at, high, low = (np.empty(3, np.int64) for _ in range(3))
        supports = Supports(none, none.copy(), at, high, low, np.empty(3))
        found = Found(none, none.copy(), np.empty((0, 4), np.int64))
        rows = advance(probs, offsets, none, SCALE // 2, fresh_streams(1), supports, found, batch=batch,
                       bound=bounded).rows
    most_credible(np.array([0, 1]), rows[:1], SCALE // 2)
    maximal_runs(offsets, np.array([2, 3, 1]), probs, SCALE // 2)
    literals, first, children = conjunctions(np.array([0, 2]), np.array([2, -3]), 4, 0)
    nodes = Nodes(np.append(np.zeros(4, np.int64), [*first, children.shape[0]]), children, np.full(5, 0.5))
    simple_probabilities(nodes, literals, np.zeros(5, np.int64), 1)
    outlines(nodes, literals)
    decide(none, none, none + 1, 2, np.array([[0.5]]))
    persist(np.array([1, 2]), 8, probs[:2], probs[:2])


def _warm_learning() -> None:
    """The same for learning."""
    from eventide.kernels.best_paths import Bans, Candidates, best_paths, connected
    from eventide.kernels.enumeration import best_pair, each_cost, theory_costs
    from eventide.kernels.runs import Runs
    from eventide.kernels.votes import Bodies, class_sums, decide, hold, vote

    none, yes = np.zeros(1, np.int64), np.ones(1, np.bool_)
    hold(vote(yes[:, None], yes, np.ones(1)), np.array([0, 1]), yes)
    decide(yes[:, None], Bodies.of([(0,)]), yes, np.ones(1), np.array([0, 1]), yes)
    class_sums(yes[:, None], np.zeros(1, np.int8), 1)
    connected(1, none, none)
    given = Candidates(np.array([0, 1]), none, none, none, none, np.ones(1), none, none)
    best_paths(given, Bans(np.zeros(2, np.int64), none[:0], none[:0], none[:0]), none, np.array([0, 1]), yes,
               np.empty((0, 0, 0)), 1, True)
    runs = Runs(np.array([0, 1]), yes, none, none, none, np.zeros(1, np.int8))
    theory_costs(runs, yes[:, None], yes[:, None])
    best_pair(runs, yes[:, None], yes[:, None], none, none)
    each_cost(runs, yes[:, None], yes[:, None])
