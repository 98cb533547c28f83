"""How well means and differences are known."""

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
"""Beyond this share of the mean a half-width is said to be wide, where nobody asked for a precision."""


@dataclass(frozen=True, slots=True)
class SchemePrecision:
    """How well the mean of one scheme is known.

    Attributes
    ----------
    scheme
        The scheme.
    n
        How many runs have a value.
    mean
        Their mean, in the unit of the metric; NaN without any.
    half_width
        Half-width of the interval of the mean; NaN of fewer than two values.
    share
        The half-width over the mean's absolute value, 0 where nothing varies; NaN where the half-width is,
        infinite of a mean of zero that varies.
    target
        The share that is enough; `None` where nothing is asked of means.
    needed
        How many repetitions are needed if it is not reached, estimated from the measured standard
        deviation. `None` if it is reached, or no number up to 1 000 000 does.
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
        """Whether the target is reached; without one it is."""
        return self.target is None or self.share <= self.target


class Decision(StrEnum):
    """What is known of a difference of two schemes."""

    DIFFERENT = "different"
    """Its interval excludes zero."""
    ALIKE = "alike"
    """Its interval lies within the share that is too small to matter."""
    OPEN = "open"
    """Neither."""


@dataclass(frozen=True, slots=True)
class PairPrecision:
    """How well the difference of two schemes is known, seed by seed.

    Attributes
    ----------
    first, second
        The schemes.
    n
        How many pairs of runs.
    difference, half_width
        Mean of the first less the second, and the half-width of its interval; NaN of a single pair, both
        without any.
    margin
        What is too small to matter: the share that was asked for, of the mean of both schemes.
    decision
        What is known.
    needed
        How many repetitions are needed to decide if it is open, estimated as for `SchemePrecision`.
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
    """How well everything is known that was asked for.

    Attributes
    ----------
    metric
        The metric.
    level
        One less the confidence of each interval.
    rule
        What was asked for; `None` where the number of repetitions was.
    repetitions
        How many repetitions every scheme has at least.
    schemes
        Schemes of which at least one run has a value, in order.
    without_value
        The others: nothing can be asked of them.
    pairs
        Every two of the schemes; empty where nothing is asked of differences.
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
        """Whether all that was asked for is reached."""
        return all(scheme.is_reached for scheme in self.schemes) and all(
            pair.decision is not Decision.OPEN for pair in self.pairs
        )

    @property
    def end(self) -> str:
        """Why there are no more: ``precision``, ``limit``, ``interrupted``, or a ``fixed`` number."""
        if self.rule is None:
            return "fixed"
        if self.repetitions in self.rule.looks and self.is_enough:
            return "precision"
        return "limit" if self.repetitions >= self.rule.max_repetitions else "interrupted"


def judge(summary: pa.Table, rule: PrecisionRule | None = None) -> Reached:
    """Say how well things are known.

    Parameters
    ----------
    summary
        One row for each run (`airpath.results.Results.summary`).
    rule
        What is asked for. Without, how well the mean goodput is known by the usual 95 % intervals, against
        5 % of the mean.
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
    """Return after how many of these repetitions the rule would have stopped.

    Parameters
    ----------
    summary, rule
        As those of `judge`.

    Returns
    -------
    int or None
        A look; `None` if they are too few.
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
    """Return the fewest values whose interval is at most so wide, if they have this standard deviation.

    Parameters
    ----------
    sd
        Standard deviation of single values, 0 or more.
    half_width
        Half-width of the interval of the mean (Student's t) that is wanted, in the same unit.
    level
        One less the confidence of the interval, above 0 and below 1.

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
        One for each run; NaN does not count.
    level
        One less the confidence of the interval, above 0 and below 1.

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
    if pair is None:  # no seed with a value of both
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
