"""Noisy streams: from probabilities at time-points to the intervals during which something probably holds."""

from eventide.probability.durations import Durations
from eventide.probability.intervals import Changes, Recogniser, intervals
from eventide.probability.results import MaximalIntervals

__all__ = ["Changes", "Durations", "MaximalIntervals", "Recogniser", "intervals"]
