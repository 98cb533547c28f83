"""The difference of two means with its interval: paired over equal seeds where there are some, else Welch."""

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
"""With so many pairs there is an interval."""


@dataclass(frozen=True, slots=True)
class MeanEstimate:
    """The mean of one sample.

    Attributes
    ----------
    mean, low, high
        Mean and its 95 % interval (Student's t); NaN without values, the interval also of a single one.
    n
        How many values there are.
    """

    mean: float
    low: float
    high: float
    n: int

    @classmethod
    def of(cls, values: Mapping[int, float]) -> "MeanEstimate":
        """Return the mean of the values of all seeds; NaN does not count."""
        mean, _, n, low, high = mean_interval(list(values.values()), CONFIDENCE)
        return cls(mean, low, high, n)


@dataclass(frozen=True, slots=True)
class MeanDifference:
    """The mean of one sample less that of another.

    Attributes
    ----------
    difference
        The difference; of pairs, over the pairs only. NaN where a sample is empty.
    low, high
        Its 95 % interval; both the difference itself where nothing varies, NaN where there is no interval,
        as of a single pair.
    pairs
        How many pairs of equal seeds it is over; 0 where the samples are not paired.
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

    With at least two seeds in common they are compared seed by seed (paired t test), and what only one has
    does not count. Without, the interval is Welch's. Where a sample is a single value there is none, but a
    seed in common is compared with itself: other draws say less.

    Parameters
    ----------
    first, second
        Value of each seed; NaN does not count.
    """
    ours = {seed: value for seed, value in first.items() if not math.isnan(value)}
    theirs = {seed: value for seed, value in second.items() if not math.isnan(value)}
    common = ours.keys() & theirs.keys()
    if len(common) >= FEWEST_PAIRS:
        # In the order of the seeds: sums of real numbers hang on their order.
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
    """Return the 95 % interval of the first mean less the second, of samples that are not paired (Welch).

    Both ends are the difference where no sample varies, NaN where one has a single value.
    """
    a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if min(a.size, b.size) < 2:
        return math.nan, math.nan
    if not (vary(a) or vary(b)):
        difference = sample_mean(a) - sample_mean(b)
        return difference, difference
    from scipy import stats  # here, because it is slow to import

    with warnings.catch_warnings():
        # That the runs hardly differ, as simulated ones often do.
        warnings.filterwarnings("ignore", "Precision loss", RuntimeWarning)
        interval = stats.ttest_ind(a, b, equal_var=False).confidence_interval(CONFIDENCE)
    return float(interval.low), float(interval.high)
