"""Paired comparisons: two schemes over the same random samples.

Repetition k of every scheme has the same seed, and every component has its own random stream. Both schemes
therefore meet the same links and start times, and their common effects cancel in the difference. If a scheme
changes the random samples (transfers that begin when earlier ones end), the runs of a pair start alike but
diverge later: the interval is then wider, not wrong.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from airpath.metrics.formulas import ROUNDING, vary
from airpath.metrics.student import t_quantile, two_sided
from airpath.statistics.effects import small_sample_correction


@dataclass(frozen=True, slots=True)
class PairedComparison:
    """Two schemes, compared seed by seed (paired t test).

    Attributes
    ----------
    first, second
        Names of the schemes.
    n
        Number of pairs.
    difference
        Mean of the first minus the second.
    sd
        Standard deviation of the differences; NaN for a single pair.
    t
        Student's t; NaN if the differences do not vary.
    df
        Degrees of freedom.
    p
        Probability of such a t or a larger one, in either direction, if the mean difference is zero.
        Differences that do not vary have no t: the p value is then that of the sign test, 2 / 2^n (1 if they
        are zero), which is not small for two differences that are equal by chance.
    low, high
        Confidence interval of the mean difference, of confidence 1 - alpha; NaN if the differences do not
        vary.
    g
        Mean difference in standard deviations of the differences, with Hedges' correction; NaN if they do not
        vary, or for fewer than three pairs.
    """

    first: str
    second: str
    n: int
    difference: float
    sd: float
    t: float
    df: int
    p: float
    low: float
    high: float
    g: float


def sign_test(n: int) -> float:
    """Return the two-sided probability that n differences have one sign by chance."""
    return min(1.0, 2.0 ** (1 - n))


def paired(
    first: str,
    second: str,
    samples: tuple[Mapping[int, float], Mapping[int, float]],
    alpha: float = 0.01,
) -> PairedComparison:
    """Compare two schemes over the seeds for which both have a value.

    Parameters
    ----------
    first, second
        Names of the schemes.
    samples
        Value of each seed, for the first and the second scheme; NaN is ignored.
    alpha
        1 - the confidence of the interval.

    Raises
    ------
    ValueError
        If there is no common seed.
    """
    ours, theirs = samples
    seeds = [seed for seed in ours if seed in theirs and not math.isnan(ours[seed] - theirs[seed])]
    if not seeds:
        raise ValueError(f"{first} and {second} have no seed in common")
    x = np.array([ours[seed] - theirs[seed] for seed in seeds], dtype=np.float64)
    n, mean = len(seeds), float(x.mean())
    if n == 1:
        nan = math.nan
        return PairedComparison(first, second, 1, mean, nan, nan, 0, nan, nan, nan, nan)
    scale = max(max(abs(ours[seed]), abs(theirs[seed])) for seed in seeds)
    # The squares of tiny differences underflow to zero.
    if not vary(x, scale) or (sd := float(x.std(ddof=1))) == 0.0:
        mean = mean if abs(mean) > ROUNDING * scale else 0.0
        p, nan = sign_test(n) if mean else 1.0, math.nan
        return PairedComparison(first, second, n, mean, 0.0, nan, n - 1, p, nan, nan, nan)
    t = mean / (sd / math.sqrt(n))
    half = t_quantile(n - 1, 1 - alpha / 2) * sd / math.sqrt(n)
    g = small_sample_correction(n - 1) * mean / sd if n > 2 else math.nan
    p = two_sided(n - 1, t)
    return PairedComparison(first, second, n, mean, sd, t, n - 1, p, mean - half, mean + half, g)
