"""All pairs of groups: Tukey's honestly significant difference; Games and Howell for unequal variances."""

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations

from airpath.statistics.anova import one_way
from airpath.statistics.groups import Group, require


@dataclass(frozen=True, slots=True)
class PairComparison:
    """The comparison of two groups, adjusted for comparing all pairs of several groups.

    Attributes
    ----------
    first, second
        Names of the groups, I and J.
    difference
        Mean of the first minus mean of the second.
    standard_error
        Standard error of the difference, as SPSS prints it: that of a t test, not of the studentized range.
    q
        Studentized range statistic.
    df
        Degrees of freedom.
    p
        Probability of such a q or a larger one if all means are equal.
    low, high
        Simultaneous confidence interval of the difference, of confidence 1 - alpha.
    significant
        Whether p is below alpha.
    """

    first: str
    second: str
    difference: float
    standard_error: float
    q: float
    df: float
    p: float
    low: float
    high: float
    significant: bool


def tukey_hsd(groups: Sequence[Group], alpha: float = 0.01) -> list[PairComparison]:
    """Compare all ordered pairs by Tukey's method, or Tukey and Kramer's if groups differ in size.

    Parameters
    ----------
    groups
        The groups, of equal variance.
    alpha
        Probability of at least one false difference.

    Raises
    ------
    ValueError
        If there are fewer than two groups, or no group has two samples.
    """
    anova = one_way(groups)
    critical = _critical(alpha, len(groups), anova.df_within)
    return [
        _compare(
            first,
            second,
            math.sqrt(anova.ms_within * (1 / first.n + 1 / second.n)),
            anova.df_within,
            len(groups),
            critical,
            alpha,
        )
        for first, second in permutations(groups, 2)
    ]


def games_howell(groups: Sequence[Group], alpha: float = 0.01) -> list[PairComparison]:
    """Compare all ordered pairs by Games and Howell's method (1976), for unequal variances and sizes.

    Parameters
    ----------
    groups
        The groups.
    alpha
        Probability of at least one false difference.

    Raises
    ------
    ValueError
        If there are fewer than two groups, or a group has fewer than two samples.
    """
    require(groups, smallest=2)
    pairs = []
    for first, second in permutations(groups, 2):
        a, b = first.sd**2 / first.n, second.sd**2 / second.n
        if a + b > 0.0:
            # Welch and Satterthwaite.
            df = (a + b) ** 2 / (a**2 / (first.n - 1) + b**2 / (second.n - 1))
        else:
            df = float(first.n + second.n - 2)
        critical = _critical(alpha, len(groups), df)
        pairs.append(_compare(first, second, math.sqrt(a + b), df, len(groups), critical, alpha))
    return pairs


def _compare(
    first: Group, second: Group, error: float, df: float, k: int, critical: float, alpha: float
) -> PairComparison:
    difference = first.mean - second.mean
    q = math.sqrt(2) * abs(difference) / error if error > 0.0 else math.inf if difference else 0.0
    p = 0.0 if math.isinf(q) else _exceeded(q, k, df)
    half = critical * error / math.sqrt(2)
    return PairComparison(
        first.name,
        second.name,
        difference,
        error,
        q,
        df,
        p,
        difference - half,
        difference + half,
        p < alpha,
    )


# An integral takes up to a second, and both orders of a pair and all claims about it need the same one.
@functools.cache
def _exceeded(q: float, k: int, df: float) -> float:
    """Return the probability that a studentized range exceeds `q`."""
    from scipy import stats  # imported here because it is slow to import

    return float(stats.studentized_range.sf(q, k, df))


@functools.cache
def _critical(alpha: float, k: int, df: float) -> float:
    """Return the studentized range that is exceeded with probability `alpha`."""
    from scipy import stats  # imported here because it is slow to import

    return float(stats.studentized_range.isf(alpha, k, df))
