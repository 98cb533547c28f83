"""The recorded intervals of a time series, and wider bins over them."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

Plan = Mapping[str, Any]

RATE_BIN_S = 0.5
"""Default width of a bin over which throughput is averaged, in seconds (as Pantheon and Mahimahi do)."""

FAIRNESS_BIN_S = 1.0
"""Default width of a bin for the windowed Jain index, in seconds."""


class TimeBins:
    """Bins of a whole number of recorded intervals.

    Parameters
    ----------
    plan
        The plan of the run, which contains the recorded interval and the end.
    width_s
        Wanted width in seconds; rounded to a whole number of intervals, at least one.
    from_s
        The first bin starts with the first interval that does not begin earlier, in seconds.

    Attributes
    ----------
    width_s
        Actual width in seconds.
    start_s, end_s
        Start and end of each bin; the last one ends with the run and may be narrower.
    intervals
        Number of recorded intervals in each bin.
    rounding_s
        Largest distance between two equal times, in seconds: a tiny part of an interval.
    """

    def __init__(self, plan: Plan, width_s: float, from_s: float = 0.0) -> None:
        self._interval_s = _interval_s(plan)
        duration_s = plan["duration_ns"] / 1e9
        self._per_bin = max(1, round(width_s / self._interval_s))
        self._first = _whole_up(from_s / self._interval_s)
        count = max(0, _whole_up(duration_s / self._interval_s) - self._first)
        first_of_bin = np.arange(0, count, self._per_bin)
        self.width_s = self._per_bin * self._interval_s
        self.rounding_s = rounding_s(plan)
        self.start_s = (self._first + first_of_bin) * self._interval_s
        self.end_s = np.minimum(self.start_s + self.width_s, duration_s)
        self.intervals = np.minimum(first_of_bin + self._per_bin, count) - first_of_bin

    def __len__(self) -> int:
        """Return the number of bins."""
        return len(self.start_s)

    @property
    def middle_s(self) -> npt.NDArray[np.float64]:
        """Middle of each bin, where a mean over the bin is plotted."""
        middle: npt.NDArray[np.float64] = (self.start_s + self.end_s) / 2
        return middle

    def index(self, time_s: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
        """Return the bin of each interval that ends at `time_s`; -1 outside of all bins."""
        interval = np.ceil(time_s / self._interval_s - _ROUNDING).astype(np.int64) - 1 - self._first
        index = np.floor_divide(interval, self._per_bin)
        return np.where((interval >= 0) & (index < len(self)), index, -1)

    def sum(self, time_s: npt.NDArray[np.float64], values: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        """Return the sum of `values` over each bin; `time_s` is the end of each value's interval."""
        index = self.index(time_s)
        inside = index >= 0
        sums = np.bincount(index[inside], weights=values[inside].astype(np.float64), minlength=len(self))
        return sums.astype(np.float64)

    def rate_mbps(self, time_s: npt.NDArray[np.float64], sizes: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        """Return the mean rate over each bin in Mbit/s, from the bytes in each interval."""
        rate: npt.NDArray[np.float64] = self.sum(time_s, sizes) * 8e-6 / (self.end_s - self.start_s)
        return rate


def has_no_interval(plan: Plan, start_s: float, end_s: float) -> bool:
    """Return whether the time between two instants is too short to contain an interval."""
    return end_s - start_s < 0.5 * _interval_s(plan)


def intervals_inside(plan: Plan, time_s: npt.NDArray[np.float64], start_s: float, end_s: float) -> slice:
    """Return the intervals, given by their rising ends, that lie entirely between two instants."""
    slack = rounding_s(plan)
    first = np.searchsorted(time_s, start_s - slack + _interval_s(plan), side="right")
    return slice(int(first), int(np.searchsorted(time_s, end_s + slack, side="left")))


def rounding_s(plan: Plan) -> float:
    """Return the largest distance between two equal times, in seconds: a tiny part of an interval."""
    return _interval_s(plan) * _ROUNDING


def _interval_s(plan: Plan) -> float:
    return float(plan["record"]["interval_ns"]) / 1e9


# Interval ends are sums of nanoseconds converted to seconds: their error is far below this part of an
# interval.
_ROUNDING = 1e-6


def _whole_up(number: float) -> int:
    return int(np.ceil(number - _ROUNDING))
