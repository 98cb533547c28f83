"""Quantiles of Student's t distribution, without SciPy, which takes longer to import than a run."""

import functools
import math
from statistics import NormalDist
from typing import Final

MANY: Final = 2000
"""From so many degrees of freedom on the expansion about the normal distribution is exact enough."""


@functools.cache
def t_quantile(df: int, probability: float) -> float:
    """Return the value that Student's t does not exceed with this probability.

    Parameters
    ----------
    df
        Degrees of freedom, at least 1.
    probability
        Above 0 and below 1. The relative error is below 1e-10 from 1e-6 to 1 - 1e-6.
    """
    if probability < 0.5:
        return -t_quantile(df, 1.0 - probability)
    central = 2.0 * probability - 1.0
    if df == 1:
        return math.tan(math.pi * central / 2)
    if df == 2:
        return central * math.sqrt(2.0 / (1.0 - central * central))
    x = NormalDist().inv_cdf(probability)
    if df >= MANY:
        return _expanded(x, df)
    # Newton's method on the angle whose tangent is t / √df: the probability of the middle grows with it by
    # the density, which is a power of its cosine.
    angle = math.atan(_expanded(x, df) / math.sqrt(df))
    density = 2 * math.exp(math.lgamma((df + 1) / 2) - math.lgamma(df / 2)) / math.sqrt(math.pi)
    for _ in range(50):
        step = (_central_probability(angle, df) - central) / (density * math.cos(angle) ** (df - 1))
        angle -= step
        if abs(step) <= 1e-12 * angle:
            break
    return math.sqrt(df) * math.tan(angle)


def _central_probability(angle: float, df: int) -> float:
    """Return how probable a t is whose magnitude is below √df tan(angle).

    Abramowitz and Stegun, Handbook of Mathematical Functions, 26.7.3 and 26.7.4.
    """
    cosine, sine = math.cos(angle), math.sin(angle)
    term, total = (cosine, 0.0) if df % 2 else (1.0, 0.0)
    for power in range(df % 2, df - 1, 2):
        total += term
        term *= cosine * cosine * (power + 1) / (power + 2)
    return 2 / math.pi * (angle + sine * total) if df % 2 else sine * total


def _expanded(x: float, df: int) -> float:
    """Return the quantile of t from that of the normal distribution (the same, 26.7.5)."""
    y = x * x
    return x * (
        1
        + (y + 1) / (4 * df)
        + ((5 * y + 16) * y + 3) / (96 * df**2)
        + (((3 * y + 19) * y + 17) * y - 15) / (384 * df**3)
        + ((((79 * y + 776) * y + 1482) * y - 1920) * y - 945) / (92160 * df**4)
    )
