"""The difference of two means with its interval: paired over equal seeds if there are some, else Welch's."""

import math
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from airpath.metrics.formulas import Numbers, mean_interval, sample_mean, vary
from airpath.statistics.paired import paired

CONFIDENCE: Final = 0.95
"""Confidence of the intervals."""
FEWEST_PAIRS: Final = 2
"""Smallest number of pairs that gives an interval."""


@dataclass(frozen=True, slots=True)
class MeanEstimate:
    """The mean of one sample.

    Attributes
    ----------
    mean, low, high
        Mean and its 95 % interval (Student's t). All are NaN without values; the interval is NaN with one.
    n
        Number of values.
    """

    mean: float
    low: float
    high: float
    n: int

    @classmethod
    def of(cls, values: Mapping[int, float]) -> "MeanEstimate":
        """Return the mean of the values of all seeds; NaN is ignored."""
        mean, _, n, low, high = mean_interval(list(values.values()), CONFIDENCE)
        return cls(mean, low, high, n)


@dataclass(frozen=True, slots=True)
class MeanDifference:
    """The mean of one sample minus that of another.

    Attributes
    ----------
    difference
        The difference; if paired, over the pairs only. NaN if a sample is empty.
    low, high
        Its 95 % interval. Both are the difference itself if nothing varies, and NaN if there is no interval,
        as with a single pair.
    pairs
        Number of pairs of equal seeds; 0 if the samples are not paired.
    """

    difference: float
    low: float
    high: float
    pairs: int

    @property
    def is_sure(self) -> bool:
        """Whether the interval excludes zero."""
        return self.low > 0.0 or self.high < 0.0


def mean_difference(first: Mapping[int, float], second: Mapping[int, float]) -> MeanDifference:
    """Compare two samples of one quantity.

    Samples with at least two common seeds are compared seed by seed (paired t test); seeds of only one sample
    are ignored. Otherwise the interval is Welch's. There is no interval if a sample has a single value, but a
    single common seed is still compared with itself, because other random samples are less informative.

    Parameters
    ----------
    first, second
        Value of each seed; NaN is ignored.
    """
    ours = {seed: value for seed, value in first.items() if not math.isnan(value)}
    theirs = {seed: value for seed, value in second.items() if not math.isnan(value)}
    common = ours.keys() & theirs.keys()
    if len(common) >= FEWEST_PAIRS:
        # In the order of the seeds, because floating-point sums depend on their order.
        samples = tuple({seed: sample[seed] for seed in sorted(common)} for sample in (ours, theirs))
        pairs = paired("first", "second", (samples[0], samples[1]), 1 - CONFIDENCE)
        mean = pairs.difference
        low, high = (mean, mean) if math.isnan(pairs.low) else (pairs.low, pairs.high)
        return MeanDifference(mean, low, high, pairs.n)
    if not ours or not theirs:
        return MeanDifference(math.nan, math.nan, math.nan, 0)
    if common and min(len(ours), len(theirs)) < FEWEST_PAIRS:
        (seed,) = common
        return MeanDifference(ours[seed] - theirs[seed], math.nan, math.nan, 1)
    a, b = (np.array(list(sample.values()), dtype=np.float64) for sample in (ours, theirs))
    low, high = welch_interval(a, b)
    return MeanDifference(sample_mean(a) - sample_mean(b), low, high, 0)


def welch_interval(first: Numbers, second: Numbers) -> tuple[float, float]:
    """Return the 95 % interval of the first mean minus the second, of samples that are not paired (Welch).

    Both ends are the difference if no sample varies, and NaN if a sample has a single value.
    """
    a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if min(a.size, b.size) < 2:
        return math.nan, math.nan
    if not (vary(a) or vary(b)):
        difference = sample_mean(a) - sample_mean(b)
        return difference, difference
    from scipy import stats  # imported here because it is slow to import

    with warnings.catch_warnings():
        # SciPy warns if runs hardly differ, as is common in simulations.
        warnings.filterwarnings("ignore", "Precision loss", RuntimeWarning)
        interval = stats.ttest_ind(a, b, equal_var=False).confidence_interval(CONFIDENCE)
    return float(interval.low), float(interval.high)
