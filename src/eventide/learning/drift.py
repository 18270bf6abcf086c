"""Whether mistakes became more frequent: a window that shrinks where its two parts differ. What to do is not said here.

Bifet and Gavaldà, "Learning from time-changing data with adaptive windowing" (SDM 2007), Theorem 1: at each cut of the
window the means of the older and the newer part are compared, with a bound that holds with probability 1 - delta.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from eventide.errors import EventideError


@dataclass(slots=True)
class Window:
    """Shares of mistakes, batch by batch, each with its weight: the rows it is a mean of.

    Cuts are between batches. What lies before a cut that shows an increase is forgotten.

    >>> window = Window(delta=0.01)
    >>> [window.add(0.0, 100) for _ in range(6)] + [window.add(0.5, 100), window.add(0.5, 100)]
    [0, 0, 0, 0, 0, 0, 6, 0]
    >>> len(window)
    2
    """

    delta: float = 0.002
    most: int = 500
    """Batches that are remembered."""
    _means: list[float] = field(default_factory=list)
    _weights: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        if not 0.0 < self.delta < 1.0:
            raise EventideError(f"the probability of a false alarm lies between 0 and 1, it is not {self.delta}")

    def __len__(self) -> int:
        return len(self._means)

    def add(self, mean: float, weight: float) -> int:
        """Add a batch; how many of the oldest were forgotten, 0 if mistakes have not become more frequent."""
        self._means.append(mean)
        self._weights.append(weight)
        if len(self._means) > self.most:
            del self._means[0], self._weights[0]
        cut = self._cut()
        del self._means[:cut], self._weights[:cut]
        return cut

    def _cut(self) -> int:
        """The batches before the cut with the largest increase beyond its bound; 0 if there is none."""
        number = len(self._means)
        weights = np.array(self._weights)
        sums, rows = np.cumsum(weights * self._means), np.cumsum(weights)
        at = np.arange(number - 1)
        old, new = rows[at], rows[-1] - rows[at]
        some = (old > 0) & (new > 0)
        at, old, new = at[some], old[some], new[some]
        increase = (sums[-1] - sums[at]) / new - sums[at] / old
        mean = sums[-1] / max(rows[-1], 1.0)
        harmonic = 1.0 / (1.0 / old + 1.0 / new)
        share = np.log(2.0 * number / self.delta)  # the chance of a false alarm is divided among the cuts
        bound = np.sqrt(2.0 / harmonic * mean * (1.0 - mean) * share) + 2.0 / (3.0 * harmonic) * share
        beyond = increase - bound
        return int(at[np.argmax(beyond)]) + 1 if beyond.size and beyond.max() > 0 else 0
