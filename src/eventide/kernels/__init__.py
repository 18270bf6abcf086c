"""Kernels: pure functions on arrays of points and intervals. Nothing here knows rules, streams or tables."""

from eventide.kernels.arrays import EMPTY, Intervals, check_intervals, check_points, empty, time_mask
from eventide.kernels.dense import common_grid, dilate_cells, erode_cells, from_cells, operator_cells, to_cells
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
from eventide.kernels.metric import dilate, erode, shift_by
from eventide.kernels.packing import field, pack, repack
from eventide.kernels.sorting import is_sorted, order, sort_points, sort_with_order, unique
