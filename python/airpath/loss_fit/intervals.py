"""Estimates with confidence intervals."""

import math
from dataclasses import dataclass

from scipy import stats


@dataclass(frozen=True, slots=True)
class Estimate:
    """An estimated number.

    Attributes
    ----------
    value
        The estimate.
    low, high
        Ends of its confidence interval.
    """

    value: float
    low: float
    high: float


def proportion(count: int, trials: int, confidence: float) -> Estimate:
    """Return a probability and Wilson's score interval (1927)."""
    interval = stats.binomtest(count, trials).proportion_ci(confidence, method="wilson")
    return Estimate(count / trials, float(interval.low), float(interval.high))


def inverse(of: Estimate) -> Estimate:
    """Return the reciprocal of a number; its upper end is infinite if the number can be zero."""
    return Estimate(_over(of.value), _over(of.high), _over(of.low))


def share(leave_good: Estimate, leave_bad: Estimate) -> Estimate:
    """Return p / (p + q) of independent estimates of p and q.

    The interval is that of log p - log q, combined from the intervals of both logarithms (Zou and Donner's
    method of variance estimates recovery, 2008).
    """
    p, q = leave_good, leave_bad
    odds = math.log(p.value) - math.log(q.value)
    down = math.hypot(math.log(p.value) - _log(p.low), _log(q.high) - math.log(q.value))
    up = math.hypot(_log(p.high) - math.log(p.value), math.log(q.value) - _log(q.low))
    return Estimate(_logistic(odds), _logistic(odds - down), _logistic(odds + up))


def _over(value: float) -> float:
    return 1 / value if value > 0 else math.inf


def _log(value: float) -> float:
    return math.log(value) if value > 0 else -math.inf


def _logistic(value: float) -> float:
    return 1 / (1 + math.exp(-value)) if value > -700 else 0.0
