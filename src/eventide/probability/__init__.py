"""Noisy streams: from probabilities at time-points to the intervals during which something probably holds.

>>> import eventide as ev
>>> ev.probability.intervals([0, 0.5, 0.7, 0.9, 0.4, 0.1], threshold=0.5).pairs()
[(0, 5), (1, 6)]
"""

from eventide.probability.durations import Durations
from eventide.probability.intervals import Changes, Recogniser, intervals
from eventide.probability.results import MaximalIntervals

__all__ = ["Changes", "Durations", "MaximalIntervals", "Recogniser", "intervals"]
