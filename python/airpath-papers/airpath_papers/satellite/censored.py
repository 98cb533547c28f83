"""Completion times, some of which are only known to exceed the run: ranks, never means.

A transfer that is not finished at the end of its run took longer than the run, by an unknown time. Its
completion time is infinite here. Medians, order statistics and comparisons of pairs need no more; a mean
would.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from airpath_papers.run_data import RunData
from airpath_papers.sample import Sample

CONFIDENCE = 0.95


def times_s(runs: Sequence[RunData]) -> tuple[float, ...]:
    """Return the duration of the single transfer of each run, by seed; infinite if it did not finish."""
    return tuple(
        float(run.completion_end_s[0] - run.completion_start_s[0]) if len(run.completion_end_s) else math.inf
        for run in runs
    )


@dataclass(frozen=True)
class Median:
    """A median and its confidence interval by order statistics; infinite beyond the ends of runs."""

    value: float
    low: float
    high: float


def median(values: Sequence[float]) -> Median:
    """Return the median of numbers, some of which may be infinite.

    The interval goes from the k-th smallest to the k-th largest number, k as large as a coverage of at least
    95 % allows (binomial, for any distribution); from the smallest to the largest if there are fewer than
    six. NaN without any.
    """
    ordered = sorted(values)
    n = len(ordered)
    if n == 0:
        return Median(math.nan, math.nan, math.nan)
    k = max(int(stats.binom.ppf((1 - CONFIDENCE) / 2, n, 0.5)), 1)
    lower, upper = ordered[(n - 1) // 2], ordered[n // 2]
    middle = upper if lower == upper else (lower + upper) / 2
    return Median(middle, ordered[k - 1], ordered[n - k])


def paired_ratios(ours: Sequence[float], theirs: Sequence[float]) -> tuple[float, ...]:
    """Return `ours` divided by `theirs`, seed by seed, without the seeds in which neither finished."""
    return tuple(
        one / other if math.isfinite(other) else 0.0
        for one, other in zip(ours, theirs, strict=True)
        if math.isfinite(one) or math.isfinite(other)
    )


def faster(ours: Sequence[float], theirs: Sequence[float]) -> Sample:
    """Return whether ours finished first, for each seed.

    1 if it did, -1 if it came later, 0 if neither finished or both at once. The p value is that of the exact
    sign test, two-sided, over the seeds that are not 0.
    """
    signs = [
        float(np.sign(other - one)) if one != other else 0.0 for one, other in zip(ours, theirs, strict=True)
    ]
    wins, losses = signs.count(1.0), signs.count(-1.0)
    p = float(stats.binomtest(wins, wins + losses).pvalue) if wins + losses else 1.0
    return Sample(tuple(signs), p, least_p=min(1.0, 2 * 0.5 ** (wins + losses)))
