"""Closed-form formulas: functions of numbers, without tables."""

import math
from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from airpath.metrics.student import t_quantile

Numbers = Sequence[float] | npt.NDArray[np.float64] | npt.NDArray[np.int64]


def jain_index(shares: Numbers) -> float:
    """Return the fairness index of Jain, Chiu and Hawe (DEC-TR-301, 1984): (Σx)² / (n Σx²).

    Parameters
    ----------
    shares
        Allocation of each flow, not negative, in any unit.

    Returns
    -------
    float
        From 1/n (one flow has everything) to 1 (all have the same, even if it is zero); NaN without flows.
    """
    x = np.asarray(shares, dtype=np.float64)
    if x.size == 0:
        return math.nan
    largest = x.max()
    if largest == 0.0:
        return 1.0
    x = x / largest  # scale-free index; squares of tiny or huge shares lose it
    return float(x.sum() ** 2 / (x.size * np.square(x).sum()))


def nearest_rank(values: Numbers, percentile: float, counts: Numbers | None = None) -> float:
    """Return the smallest value that at least `percentile` % of the items do not exceed (nearest rank).

    Parameters
    ----------
    values
        The items, in any order.
    percentile
        Above 0, at most 100.
    counts
        Number of items with each value; one each if absent.

    Returns
    -------
    float
        One of `values`; NaN if there are no items.
    """
    if not 0.0 < percentile <= 100.0:
        raise ValueError(f"a percentile is above 0 and at most 100, not {percentile}")
    data = np.asarray(values, dtype=np.float64)
    weights = np.ones(data.size, dtype=np.int64) if counts is None else np.asarray(counts, dtype=np.int64)
    order = np.argsort(data)  # an unstable sort is enough, because only a value is returned
    cumulative = np.cumsum(weights[order])
    if cumulative.size == 0 or cumulative[-1] == 0:
        return math.nan
    # Multiply before dividing: 0.95 · 100 items must be exactly 95.
    rank = math.ceil(percentile * int(cumulative[-1]) / 100.0)
    return float(data[order][np.searchsorted(cumulative, rank)])


def power(throughput: float, delay: float) -> float:
    """Return throughput divided by delay (Kleinrock 1979); NaN if there is no delay to divide by."""
    return throughput / delay if delay > 0.0 else math.nan


def log_power(throughput: float, delay: float, delta: float = 1.0) -> float:
    """Return the natural logarithm of throughput minus `delta` times that of delay (Remy's objective, 2013).

    NaN unless both are greater than zero.
    """
    return math.log(throughput) - delta * math.log(delay) if throughput > 0.0 and delay > 0.0 else math.nan


def convergence_time(
    time_s: Numbers,
    throughput: Numbers,
    fair_share: float,
    *,
    event_s: float,
    tolerance: float = 0.1,
    hold_s: float = 1.0,
) -> float:
    """Return the time from an event until throughput stays near its fair share.

    Parameters
    ----------
    time_s
        End of each interval, rising, in seconds; the first interval is as long as the second.
    throughput
        Mean throughput in each interval.
    fair_share
        The fair throughput, in the same unit.
    event_s
        When the flow joined or the capacity stepped, in seconds.
    tolerance
        Largest deviation from the fair share, as a fraction of it. State it with the result.
    hold_s
        Time for which throughput must stay within the tolerance, in seconds. State it with the result.

    Returns
    -------
    float
        Seconds from the event to the start of the first stretch of at least `hold_s` within the tolerance;
        NaN if there is none.
    """
    ends = np.asarray(time_s, dtype=np.float64)
    if ends.size < 2:
        return math.nan
    starts = np.concatenate(([2 * ends[0] - ends[1]], ends[:-1]))
    near = np.abs(np.asarray(throughput, dtype=np.float64) - fair_share) <= tolerance * fair_share
    rounding = 1e-9 * max(1.0, float(ends[-1]))
    near &= starts >= event_s - rounding
    since = _lasting_since(starts, ends, near, hold_s - rounding)
    return math.nan if since is None else max(0.0, since - event_s)


def settling_time(
    time_s: Numbers,
    values: Numbers,
    level: float,
    *,
    event_s: float,
    tolerance: float = 0.1,
    hold_s: float = 1.0,
) -> float:
    """Return the time from an event to the first sample from which all samples stay near a level.

    Unlike in `convergence_time`, a sample is a value at one instant, not a mean over the preceding interval.

    Parameters
    ----------
    time_s
        When each sample was taken, rising, in seconds.
    values
        The value of each sample.
    level
        The expected value, in the same unit.
    event_s
        When the level stepped, in seconds; earlier samples do not count.
    tolerance
        Largest deviation from the level, as a fraction of it. State it with the result.
    hold_s
        Time for which all samples must be near the level, in seconds: from the first such sample to one at
        least this much later. State it with the result.

    Returns
    -------
    float
        Seconds from the event to the sample, in whole nanoseconds; NaN if there is none.
    """
    times = np.asarray(time_s, dtype=np.float64)
    near = np.abs(np.asarray(values, dtype=np.float64) - level) <= tolerance * level
    rounding = 1e-9 * max(1.0, float(times[-1])) if times.size else 0.0
    since = _lasting_since(times, times, near & (times >= event_s - rounding), hold_s - rounding)
    # The engine's times are whole nanoseconds; smaller digits come from rounding of seconds.
    return math.nan if since is None else max(0.0, round(since - event_s, 9))


def _lasting_since(
    starts: npt.NDArray[np.float64],
    ends: npt.NDArray[np.float64],
    inside: npt.NDArray[np.bool_],
    hold_s: float,
) -> float | None:
    """Return the start of the first unbroken stretch of at least `hold_s`; `None` if there is none."""
    since: float | None = None
    for start, end, is_inside in zip(starts, ends, inside, strict=True):
        if not is_inside:
            since = None
            continue
        since = float(start) if since is None else since
        if end - since >= hold_s:
            return since
    return None


def vary(x: npt.NDArray[np.float64], scale: float = 0.0) -> bool:
    """Return whether numbers differ by more than rounding errors.

    Parameters
    ----------
    x
        The numbers.
    scale
        The largest of the numbers that they were computed from, if that is larger than they are.
    """
    if bool((x == x[0]).all()):
        return False
    # Infinite values differ from all others.
    return not np.isfinite(x).all() or float(np.ptp(x)) > ROUNDING * max(scale, float(np.abs(x).max()))


ROUNDING: Final = 1e-12
"""Differences up to this share of the numbers are rounding errors."""


def sample_mean(x: npt.NDArray[np.float64]) -> float:
    """Return the mean of one or more numbers; if all are equal, exactly their value (a sum would round)."""
    return float(x[0]) if bool((x == x[0]).all()) else float(x.mean())


def mean_interval(samples: Numbers, confidence: float = 0.95) -> tuple[float, float, int, float, float]:
    """Return the mean of independent samples and its confidence interval by Student's t distribution.

    Parameters
    ----------
    samples
        One number for each repetition; NaN means no value and is ignored.
    confidence
        Probability that the interval covers the true mean, for normal samples.

    Returns
    -------
    mean, sd, n, low, high
        Mean; sample standard deviation (n - 1); number of samples that count; ends of the interval. Values
        that need more samples are NaN.
    """
    x = np.asarray(samples, dtype=np.float64)
    x = x[~np.isnan(x)]
    n = int(x.size)
    if n == 0:
        return math.nan, math.nan, 0, math.nan, math.nan
    mean = sample_mean(x)
    if n == 1:
        return mean, math.nan, 1, math.nan, math.nan
    sd = float(x.std(ddof=1)) if vary(x) else 0.0
    half = t_quantile(n - 1, 0.5 + confidence / 2) * sd / math.sqrt(n)
    return mean, sd, n, mean - half, mean + half
