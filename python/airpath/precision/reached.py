"""How precisely means and differences are known."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations
from typing import Final

import numpy as np
import pyarrow as pa

from airpath.metrics import mean_interval
from airpath.metrics.formulas import Numbers
from airpath.metrics.student import t_quantile
from airpath.precision.rule import CONFIDENCE, DEFAULT_METRIC, LARGEST_MOST, PrecisionRule
from airpath.statistics import PairedComparison, paired_metric

WIDE: Final = 0.05
"""Half-widths above this share of the mean are reported as wide if no precision was requested."""


@dataclass(frozen=True, slots=True)
class SchemePrecision:
    """Precision of the mean of one scheme.

    Attributes
    ----------
    scheme
        The scheme.
    n
        Number of runs with a value.
    mean
        Their mean, in the unit of the metric; NaN without any.
    half_width
        Half-width of the interval of the mean; NaN with fewer than two values.
    share
        The half-width divided by the mean's absolute value: 0 if the values do not vary, NaN if the
        half-width is NaN, infinite if the mean is zero but the values vary.
    target
        The requested share; `None` if no precision of means is requested.
    needed
        Number of repetitions needed to reach the target, estimated from the measured standard deviation.
        `None` if it is reached, or if 1 000 000 repetitions are not enough.
    """

    scheme: str
    n: int
    mean: float
    half_width: float
    share: float
    target: float | None
    needed: int | None

    @property
    def is_reached(self) -> bool:
        """Whether the target is reached; true without a target."""
        return self.target is None or self.share <= self.target


class Decision(StrEnum):
    """What the interval of a difference of two schemes shows."""

    DIFFERENT = "different"
    """The interval excludes zero."""
    ALIKE = "alike"
    """The interval lies within the share that is too small to matter."""
    OPEN = "open"
    """Neither of the two."""


@dataclass(frozen=True, slots=True)
class PairPrecision:
    """Precision of the difference of two schemes, paired by seed.

    Attributes
    ----------
    first, second
        The schemes.
    n
        Number of pairs of runs.
    difference, half_width
        Mean of the first minus the second, and the half-width of its interval. The half-width is NaN with a
        single pair; both are NaN without pairs.
    margin
        The largest difference that is too small to matter: the requested share of the mean of both schemes.
    decision
        What the interval shows.
    needed
        Number of repetitions needed to decide an open comparison, estimated as for `SchemePrecision`.
    """

    first: str
    second: str
    n: int
    difference: float
    half_width: float
    margin: float
    decision: Decision
    needed: int | None


@dataclass(frozen=True, slots=True)
class Reached:
    """Precision of all requested means and differences.

    Attributes
    ----------
    metric
        The metric.
    level
        1 - the confidence of each interval.
    rule
        The requested precision; `None` if a fixed number of repetitions was requested.
    repetitions
        Smallest number of repetitions of any scheme.
    schemes
        Schemes with at least one run that has a value, in order.
    without_value
        The other schemes, whose precision cannot be evaluated.
    pairs
        Every pair of schemes; empty if no precision of differences is requested.
    """

    metric: str
    level: float
    rule: PrecisionRule | None
    repetitions: int
    schemes: tuple[SchemePrecision, ...]
    without_value: tuple[str, ...]
    pairs: tuple[PairPrecision, ...]

    @property
    def is_enough(self) -> bool:
        """Whether all requested precision is reached."""
        return all(scheme.is_reached for scheme in self.schemes) and all(
            pair.decision is not Decision.OPEN for pair in self.pairs
        )

    @property
    def end(self) -> str:
        """Why no runs are added: ``precision``, ``limit``, ``interrupted``, or a ``fixed`` number."""
        if self.rule is None:
            return "fixed"
        if self.repetitions in self.rule.looks and self.is_enough:
            return "precision"
        return "limit" if self.repetitions >= self.rule.max_repetitions else "interrupted"


def judge(summary: pa.Table, rule: PrecisionRule | None = None) -> Reached:
    """Evaluate the precision of means and differences.

    Parameters
    ----------
    summary
        One row for each run (`airpath.results.Results.summary`).
    rule
        The requested precision. If absent, the usual 95 % intervals of the mean goodput are compared with 5 %
        of the mean.
    """
    metric = DEFAULT_METRIC if rule is None else rule.metric
    level = 1.0 - CONFIDENCE if rule is None else rule.level
    target = WIDE if rule is None else rule.precision
    schemes = summary["scheme"].to_pylist()
    counts = {scheme: schemes.count(scheme) for scheme in dict.fromkeys(schemes)}
    values = summary[metric].to_numpy()
    here = np.array(schemes, dtype=object)
    all_schemes = [_scheme(scheme, values[here == scheme], level, target) for scheme in counts]
    found = tuple(one for one in all_schemes if one.n)
    pairs: tuple[PairPrecision, ...] = ()
    if rule is not None and rule.difference is not None:
        means = {one.scheme: one.mean for one in found}
        compared = {
            (pair.first, pair.second): pair
            for pair in paired_metric(summary, metric, schemes=list(means), alpha=level)
        }
        pairs = tuple(
            _pair(names, compared.get(names), means, rule.difference, level)
            for names in combinations(means, 2)
        )
    return Reached(
        metric,
        level,
        rule,
        min(counts.values(), default=0),
        found,
        tuple(one.scheme for one in all_schemes if not one.n),
        pairs,
    )


def stops_after(summary: pa.Table, rule: PrecisionRule) -> int | None:
    """Return the number of these repetitions after which the rule would have stopped.

    Parameters
    ----------
    summary, rule
        As those of `judge`.

    Returns
    -------
    int or None
        The number of repetitions at a look; `None` if there are too few.
    """
    repetition = summary["repetition"].to_numpy()
    for look in rule.looks:
        reached = judge(summary.filter(repetition < look), rule)
        if reached.repetitions < look:
            return None
        if reached.is_enough:
            return look
    return rule.max_repetitions


def repetitions_needed(sd: float, half_width: float, level: float) -> int | None:
    """Return the smallest number of values whose interval has at most this half-width, given `sd`.

    Parameters
    ----------
    sd
        Standard deviation of single values, 0 or more.
    half_width
        Wanted half-width of the interval of the mean (Student's t), in the same unit.
    level
        1 - the confidence of the interval, above 0 and below 1.

    Returns
    -------
    int or None
        2 to 1 000 000; `None` if that is not enough, or a number is NaN.
    """

    def suffices(n: int) -> bool:
        return t_quantile(n - 1, 1.0 - level / 2) * sd / math.sqrt(n) <= half_width

    if not suffices(LARGEST_MOST):
        return None
    few, enough = 1, LARGEST_MOST
    while enough - few > 1:
        middle = (few + enough) // 2
        few, enough = (few, middle) if suffices(middle) else (middle, enough)
    return enough


def share_after(values: Numbers, level: float) -> float:
    """Return the half-width of the interval of a mean, as a share of the mean.

    Parameters
    ----------
    values
        One value for each run; NaN is ignored.
    level
        1 - the confidence of the interval, above 0 and below 1.

    Returns
    -------
    float
        As `SchemePrecision.share`.
    """
    mean, _, _, low, high = mean_interval(values, 1.0 - level)
    return _share(mean, (high - low) / 2)


def _share(mean: float, half_width: float) -> float:
    if math.isnan(half_width):
        return math.nan
    if half_width == 0.0:
        return 0.0
    return half_width / abs(mean) if mean else math.inf


def _scheme(scheme: str, values: Numbers, level: float, target: float | None) -> SchemePrecision:
    mean, sd, n, low, high = mean_interval(values, 1.0 - level)
    half = (high - low) / 2
    share = _share(mean, half)
    needed = None
    if target is not None and not share <= target:
        needed = repetitions_needed(sd, target * abs(mean), level)
    return SchemePrecision(scheme, n, mean, half, share, target, needed)


def _pair(
    names: tuple[str, str],
    pair: PairedComparison | None,
    means: Mapping[str, float],
    share: float,
    level: float,
) -> PairPrecision:
    margin = share * abs(means[names[0]] + means[names[1]]) / 2
    if pair is None:  # no seed for which both schemes have a value
        return PairPrecision(*names, 0, math.nan, math.nan, margin, Decision.OPEN, None)
    half, size = (pair.high - pair.low) / 2, abs(pair.difference)
    if pair.n > 1 and pair.sd == 0.0:
        half = 0.0
    if half < size:
        decision = Decision.DIFFERENT
    elif size + half <= margin:
        decision = Decision.ALIKE
    else:
        decision = Decision.OPEN
    needed = None
    if decision is Decision.OPEN:
        needed = repetitions_needed(pair.sd, max(size, margin - size), level)
    return PairPrecision(pair.first, pair.second, pair.n, pair.difference, half, margin, decision, needed)
