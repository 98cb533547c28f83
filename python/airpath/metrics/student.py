"""Student's t distribution, without SciPy, whose import takes longer than a run."""

import functools
import math
from statistics import NormalDist
from typing import Final

MANY: Final = 2000
"""Degrees of freedom from which the expansion about the normal distribution is exact enough."""


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


def two_sided(df: int, t: float) -> float:
    """Return the probability that Student's t is at least as far from zero as `t`.

    It is the regularised incomplete beta function of df / (df + t²), with a = df / 2 and b = 1 / 2, which is
    computed by its continued fraction (DLMF 8.17.22). The relative error is below 1e-10, also of very small
    probabilities.

    Parameters
    ----------
    df
        Degrees of freedom, at least 1.
    t
        Any number.
    """
    square = t * t
    if not square:
        return 1.0
    x = df / (df + square)
    if x == 0.0:
        return 0.0
    a, b = df / 2, 0.5
    # The fraction converges fast below this limit; above it, that of the complement does.
    if x <= (a + 1) / (a + b + 2):
        return _incomplete_beta(a, b, x, square / (df + square))
    return 1.0 - _incomplete_beta(b, a, square / (df + square), x)


def _incomplete_beta(a: float, b: float, x: float, rest: float) -> float:
    """Return the regularised incomplete beta function at `x`, where `rest` is 1 - x."""
    beta = math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)
    front = math.exp(a * math.log(x) + b * math.log(rest) - beta) / a
    # Lentz's method.
    fraction, c, d = 1.0, 1.0, 0.0
    for m in range(1000):
        if m == 0:
            coefficient = 1.0
        elif m % 2:
            k = (m - 1) // 2
            coefficient = -(a + k) * (a + b + k) * x / ((a + 2 * k) * (a + 2 * k + 1))
        else:
            k = m // 2
            coefficient = k * (b - k) * x / ((a + 2 * k - 1) * (a + 2 * k))
        d = 1.0 / (1.0 + coefficient * d)
        c = 1.0 + coefficient / c
        fraction *= c * d
        if abs(c * d - 1.0) < 1e-15:
            break
    return front * (fraction - 1.0)


def _central_probability(angle: float, df: int) -> float:
    """Return the probability that the magnitude of t is below √df tan(angle).

    Abramowitz and Stegun, Handbook of Mathematical Functions, 26.7.3 and 26.7.4.
    """
    cosine, sine = math.cos(angle), math.sin(angle)
    term, total = (cosine, 0.0) if df % 2 else (1.0, 0.0)
    for power in range(df % 2, df - 1, 2):
        total += term
        term *= cosine * cosine * (power + 1) / (power + 2)
    return 2 / math.pi * (angle + sine * total) if df % 2 else sine * total


def _expanded(x: float, df: int) -> float:
    """Return the quantile of t from that of the normal distribution (same book, 26.7.5)."""
    y = x * x
    return x * (
        1
        + (y + 1) / (4 * df)
        + ((5 * y + 16) * y + 3) / (96 * df**2)
        + (((3 * y + 19) * y + 17) * y - 15) / (384 * df**3)
        + ((((79 * y + 776) * y + 1482) * y - 1920) * y - 945) / (92160 * df**4)
    )
