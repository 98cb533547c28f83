"""One-way analysis of variance: the classical one, and Welch's for unequal variances."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from airpath.statistics.groups import Group, grand_mean, require, weighted_mean


@dataclass(frozen=True, slots=True)
class Anova:
    """A one-way analysis of variance (Fisher), in the terms of its usual table.

    Attributes
    ----------
    ss_between, ss_within
        Sums of squares, in the squared unit of the samples.
    df_between, df_within
        Degrees of freedom.
    f
        Mean square between divided by mean square within; infinite if groups differ without variation within
        them, NaN without any variation.
    p
        Probability of such an F or a larger one if all means are equal.
    """

    ss_between: float
    ss_within: float
    df_between: int
    df_within: int
    f: float
    p: float

    @property
    def ss_total(self) -> float:
        """Total sum of squares."""
        return self.ss_between + self.ss_within

    @property
    def df_total(self) -> int:
        """Total degrees of freedom."""
        return self.df_between + self.df_within

    @property
    def ms_between(self) -> float:
        """Mean square between groups."""
        return self.ss_between / self.df_between

    @property
    def ms_within(self) -> float:
        """Mean square within groups."""
        return self.ss_within / self.df_within


@dataclass(frozen=True, slots=True)
class WelchAnova:
    """Welch's analysis of variance (Biometrika 38, 1951), for groups of unequal variances.

    Attributes
    ----------
    f
        Welch's statistic; NaN if a group does not vary.
    df_between, df_within
        Degrees of freedom; the second is not an integer.
    p
        Probability of such a statistic or a larger one if all means are equal.
    """

    f: float
    df_between: int
    df_within: float
    p: float


def one_way(groups: Sequence[Group]) -> Anova:
    """Analyse the variance of groups that are assumed to have equal variances.

    Raises
    ------
    ValueError
        If there are fewer than two groups, or no group has two samples.
    """
    require(groups)
    mean = grand_mean(groups)
    between = sum(group.n * (group.mean - mean) ** 2 for group in groups)
    within = sum((group.n - 1) * group.sd**2 for group in groups if group.n > 1)
    df_between, df_within = len(groups) - 1, sum(group.n for group in groups) - len(groups)
    f = _ratio(between / df_between, within / df_within)
    return Anova(between, within, df_between, df_within, f, _exceeded(f, df_between, df_within))


def welch(groups: Sequence[Group]) -> WelchAnova:
    """Analyse the variance of groups whose variances may differ.

    Raises
    ------
    ValueError
        If there are fewer than two groups, or a group has fewer than two samples.
    """
    require(groups, smallest=2)
    k = len(groups)
    if any(group.sd == 0.0 for group in groups):
        return WelchAnova(math.nan, k - 1, math.nan, math.nan)
    weights = [group.n / group.sd**2 for group in groups]
    mean = weighted_mean(groups, weights)
    spread = sum(
        (1 - w / sum(weights)) ** 2 / (group.n - 1) for w, group in zip(weights, groups, strict=True)
    )
    between = sum(w * (group.mean - mean) ** 2 for w, group in zip(weights, groups, strict=True)) / (k - 1)
    f = between / (1 + 2 * (k - 2) / (k**2 - 1) * spread)
    df_within = (k**2 - 1) / (3 * spread)
    return WelchAnova(f, k - 1, df_within, _exceeded(f, k - 1, df_within))


def _exceeded(f: float, df_between: int, df_within: float) -> float:
    """Return the probability that a statistic of the F distribution exceeds `f`."""
    from scipy import stats  # imported here because it is slow to import

    return float(stats.f.sf(f, df_between, df_within))


def _ratio(between: float, within: float) -> float:
    if within > 0.0:
        return between / within
    return math.inf if between > 0.0 else math.nan
