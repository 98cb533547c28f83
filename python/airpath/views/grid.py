"""Intervals of time that all panels of a view share."""

import math
from collections.abc import Sequence
from typing import Any, Final, Self

import numpy as np
import numpy.typing as npt

from airpath.results import RunResult
from airpath.views.model import Values

MOST_NUMBERS: Final = 240_000
"""Approximate limit of the numbers of all lines of a view: 400 lines of 600 intervals, 0.5 MB in a page."""
FEWEST_INTERVALS: Final = 200
"""The minimum number of intervals of a line."""
LINES_OF_A_RUN: Final = 4
"""The minimum number of lines of a run: rate, queue, delay, window."""

_ROUNDING = 1e-6
"""Rounding error of times, as a fraction of an interval: they are sums of nanoseconds, in seconds."""


class Grid:
    """Equal intervals from zero to the end of the view.

    Parameters
    ----------
    step_s
        Length of the intervals, in seconds; the last one may be shorter.
    duration_s
        End of the last one.
    """

    def __init__(self, step_s: float, duration_s: float) -> None:
        self.step_s, self.duration_s = step_s, duration_s
        self.count = math.ceil(duration_s / step_s - _ROUNDING)

    @classmethod
    def of(cls, recorded_s: float, duration_s: float, lines: int) -> Self:
        """Return a grid whose intervals are a whole multiple of the recorded ones.

        The multiple is large enough to bound memory, however many intervals were recorded.
        """
        recorded = math.ceil(duration_s / recorded_s - _ROUNDING)
        most = max(FEWEST_INTERVALS, MOST_NUMBERS // max(1, lines))
        return cls(recorded_s * max(1, math.ceil(recorded / most)), duration_s)

    @classmethod
    def of_runs(cls, runs: Sequence[RunResult]) -> Self:
        """Return the grid of runs, to the end of the longest one."""
        plans = [run.record.plan for run in runs]
        recorded_s = min((plan["record"]["interval_ns"] / 1e9 for plan in plans), default=1.0)
        duration_s = max((plan["duration_ns"] / 1e9 for plan in plans), default=0.0)
        return cls.of(recorded_s, duration_s, LINES_OF_A_RUN * len(runs))

    @property
    def end_s(self) -> Values:
        """End of each interval."""
        ends: Values = np.minimum(np.arange(1, self.count + 1) * self.step_s, self.duration_s)
        return ends

    @property
    def length_s(self) -> Values:
        """Length of each interval: the last one may be shorter."""
        length: Values = np.diff(self.end_s, prepend=0.0)
        return length

    def index(self, time_s: Values) -> npt.NDArray[np.int64]:
        """Return the interval of each value that was recorded over an interval that ends at `time_s`."""
        index = np.ceil(time_s / self.step_s - _ROUNDING).astype(np.int64) - 1
        return np.clip(index, 0, max(0, self.count - 1))

    def rate_mbps(self, time_s: Values, sizes: npt.NDArray[Any]) -> Values:
        """Return the mean rate in each interval in Mbit/s, from bytes."""
        total = np.bincount(self.index(time_s), np.nan_to_num(sizes), minlength=self.count)
        return np.asarray(total * 8e-6 / self.length_s, dtype=np.float64)

    def mean(
        self, time_s: Values, values: npt.NDArray[Any], weights: npt.NDArray[Any] | None = None
    ) -> Values:
        """Return the mean in each interval over the known values; NaN without any."""
        known = np.isfinite(values)
        index, chosen = self.index(time_s[known]), values[known].astype(np.float64)
        weight = np.ones(len(chosen)) if weights is None else weights[known].astype(np.float64)
        total = np.bincount(index, chosen * weight, minlength=self.count)
        count = np.bincount(index, weight, minlength=self.count)
        mean: Values = np.divide(total, count, out=np.full(self.count, math.nan), where=count > 0)
        return mean


def joined(values: Values, factor: int) -> Values:
    """Return the means of groups of `factor` adjacent values, over the known ones.

    The last group may be smaller.
    """
    if factor == 1:
        return values
    padded = np.full(math.ceil(len(values) / factor) * factor, math.nan)
    padded[: len(values)] = values
    return mean_over(padded.reshape(-1, factor).T)


def mean_over(rows: npt.NDArray[np.float64]) -> Values:
    """Return the mean of each column over its known values; NaN without any."""
    known = np.isfinite(rows)
    count = known.sum(axis=0)
    total = np.where(known, rows, 0.0).sum(axis=0)
    mean: Values = np.divide(total, count, out=np.full(rows.shape[1], math.nan), where=count > 0)
    return mean


def same(arrays: Sequence[Values]) -> bool:
    """Return whether all arrays are equal."""
    return all(np.array_equal(arrays[0], one, equal_nan=True) for one in arrays[1:])
