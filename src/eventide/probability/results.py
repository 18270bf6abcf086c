"""Recognised intervals with their probabilities, as columns, as a table, as a file. Recognises nothing."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from eventide.formats.results import write_intervals
from eventide.kernels.arrays import Array

if TYPE_CHECKING:
    import pandas

Key = tuple[Any, ...]
DEFAULT_FLUENT = "situation"


@dataclass(frozen=True, eq=False)
class MaximalIntervals:
    """Intervals [start, end) in the time of the input, by stream and start, each with its mean probability.

    `stream` says to which of `keys` an interval belongs; `names` are the columns of a key. `points` has start and end
    counted in time-points of the stream.

    >>> import eventide as ev
    >>> found = ev.probability.intervals({"ann": [0.2, 0.9, 0.8], "bob": [0.1]}, threshold=0.6)
    >>> list(found)
    [('ann', 0, 3, 0.6333333333333333)]
    >>> found.pairs(), found.to_arrow()["args"].to_pylist()
    ([(0, 3)], ['ann'])
    """

    names: tuple[str, ...]
    keys: Sequence[Key]
    stream: Array
    start: Array
    end: Array
    probability: npt.NDArray[np.float64]
    points: Array

    def __len__(self) -> int:
        return int(self.start.shape[0])

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        """The values of the key, start, end, probability."""
        for stream, start, end, probability in zip(self.stream.tolist(), self.start.tolist(), self.end.tolist(),
                                                   self.probability.tolist(), strict=True):
            yield (*self.keys[stream], start, end, probability)

    def pairs(self) -> list[tuple[int, int]]:
        """Start and end of every interval."""
        return list(zip(self.start.tolist(), self.end.tolist(), strict=True))

    def to_arrow(self, fluent: str = DEFAULT_FLUENT) -> pa.Table:
        """The columns of recognised intervals: fluent, args, value, start, end, and probability.

        Key columns of these names are what they say; all others are arguments. `fluent` is for where none is given.
        """
        places = {name: at for at, name in enumerate(self.names)}
        rest = [at for name, at in places.items() if name not in ("fluent", "args", "value")]

        def text(key: Key, name: str, otherwise: str) -> str:
            return _text(key[places[name]]) if name in places else otherwise

        fluents = [text(key, "fluent", fluent) for key in self.keys]
        values = [text(key, "value", "true") for key in self.keys]
        args = ["|".join(_text(key[at]) for at in ([places["args"]] if "args" in places else []) + rest)
                for key in self.keys]
        columns = {name: pa.DictionaryArray.from_arrays(pa.array(self.stream), pa.array(each, pa.string())).cast(
            pa.string()) for name, each in (("fluent", fluents), ("args", args), ("value", values))}
        return pa.table(columns | {"start": pa.array(self.start), "end": pa.array(self.end),
                                   "probability": pa.array(self.probability)})

    def to_pandas(self) -> pandas.DataFrame:
        """The same as a pandas table."""
        return self.to_arrow().to_pandas()

    def write(self, path: str | os.PathLike[str], fluent: str = DEFAULT_FLUENT) -> None:
        """Write `.csv`, `.parquet` or `.jsonl`, by the ending."""
        write_intervals(self.to_arrow(fluent), path)


def _text(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value is None else str(value)
