"""Groups of independent samples, and the descriptive statistics of each."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from airpath.metrics.student import t_quantile


@dataclass(frozen=True, slots=True)
class Group:
    """The statistics of one group of independent samples that an analysis of variance needs.

    Attributes
    ----------
    name
        Its name in tables: the scheme.
    n
        Number of samples, at least one.
    mean
        Their mean.
    sd
        Their standard deviation (n - 1); NaN for a single sample.
    minimum, maximum
        The smallest and the largest sample; NaN if only the moments are known.
    """

    name: str
    n: int
    mean: float
    sd: float
    minimum: float = math.nan
    maximum: float = math.nan

    @classmethod
    def of(cls, name: str, samples: Iterable[float]) -> "Group":
        """Describe samples; NaN means no value and is ignored.

        Raises
        ------
        ValueError
            If no sample is left.
        """
        x = np.asarray(list(samples), dtype=np.float64)
        x = x[~np.isnan(x)]
        if x.size == 0:
            raise ValueError(f"the group {name} has no samples")
        if bool((x == x[0]).all()):
            # The mean of equal samples is their value, and their spread zero; rounding in a sum must not
            # change either.
            mean, sd = float(x[0]), math.nan if x.size == 1 else 0.0
        else:
            mean, sd = float(x.mean()), float(x.std(ddof=1))
        return cls(name, int(x.size), mean, sd, float(x.min()), float(x.max()))

    @property
    def standard_error(self) -> float:
        """Standard error of the mean."""
        return self.sd / math.sqrt(self.n)

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Return the confidence interval of the mean (Student's t)."""
        if self.n < 2:
            return math.nan, math.nan
        half = t_quantile(self.n - 1, 0.5 + confidence / 2) * self.standard_error
        return self.mean - half, self.mean + half


def total(groups: Sequence[Group]) -> Group:
    """Return all samples of all groups as one group, named Total."""
    n = sum(group.n for group in groups)
    mean = grand_mean(groups)
    squares = sum((group.n - 1) * group.sd**2 if group.n > 1 else 0.0 for group in groups) + sum(
        group.n * (group.mean - mean) ** 2 for group in groups
    )
    return Group(
        "Total",
        n,
        mean,
        math.sqrt(squares / (n - 1)) if n > 1 else math.nan,
        min(group.minimum for group in groups),
        max(group.maximum for group in groups),
    )


def grand_mean(groups: Sequence[Group]) -> float:
    """Return the mean of all samples of all groups; if these are equal, exactly their value."""
    return weighted_mean(groups, [group.n for group in groups])


def weighted_mean(groups: Sequence[Group], weights: Sequence[float]) -> float:
    """Return the weighted mean of the groups' means; if these are equal, exactly their value.

    The common part is left out of the sums, which would round it.
    """
    common = groups[0].mean
    rest = sum(weight * (group.mean - common) for weight, group in zip(weights, groups, strict=True))
    return common + rest / sum(weights)


def require(groups: Sequence[Group], smallest: int = 1) -> None:
    """Refuse groups that cannot be analysed.

    Raises
    ------
    ValueError
        If there are fewer than two groups, a group has fewer than `smallest` samples, or no group has two.
    """
    if len(groups) < 2:
        raise ValueError(f"an analysis of variance needs two groups or more, not {len(groups)}")
    if few := [group.name for group in groups if group.n < smallest]:
        raise ValueError(f"too few samples in {', '.join(few)}: at least {smallest} are needed")
    if all(group.n < 2 for group in groups):
        raise ValueError("no group has two samples, so there is no variance to compare with")
