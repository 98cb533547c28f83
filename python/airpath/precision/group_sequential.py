"""Repeated looks at accumulating data: the level at which all intervals together keep their confidence.

Computing a 95 % interval after each of several rounds, and stopping at a welcome one, is wrong more often
than one time in twenty. Repeated confidence intervals (Jennison and Turnbull, "Interim analyses: the repeated
confidence interval approach", J. Royal Statistical Society B 51, 1989, 305-361) are wider, so that all of
them together contain the mean with 95 %. The last interval then also contains it, whatever the reason for
stopping.
"""

import math
from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from typing import Final

import numpy as np

_NODES: Final = 64
"""Points of the quadrature; enough to reproduce all digits of the constants in the literature (tests)."""
_BISECTIONS: Final = 50


@cache
def nominal_level(looks: tuple[int, ...], confidence: float = 0.95) -> float:
    """Return 1 - the confidence of each interval, such that all intervals together have `confidence`.

    The level is the same at each look (Pocock, "Group sequential methods in the design and analysis of
    clinical trials", Biometrika 64, 1977, 191-199), and exact for normal values of known variance. Intervals
    by Student's t use the same level, as Pocock proposes; this is nearly exact, see
    ``docs/explanation/statistics.md``.

    Parameters
    ----------
    looks
        Number of values at each look, in ascending order; at least one look.
    confidence
        Probability that all intervals contain the mean, above 0 and below 1.

    Returns
    -------
    float
        1 - `confidence` for a single look, less for several.
    """
    if len(looks) == 1:
        return 1.0 - confidence
    # The constant lies between that of one look and that of as many independent looks (Bonferroni).
    low, high = 0.0, 40.0
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        low, high = (middle, high) if _probability_inside(middle, looks) < confidence else (low, middle)
    return math.erfc(high / math.sqrt(2.0))


def _probability_inside(bound: float, looks: Sequence[int]) -> float:
    """Return the probability that a standardised mean is within ± `bound` at every look.

    The density of the sum, given that it was inside at all earlier looks, is carried from look to look by
    Gauss-Legendre quadrature (Armitage, McPherson and Rowe, "Repeated significance tests on accumulating
    data", J. Royal Statistical Society A 132, 1969, 235-244).
    """
    nodes, weights = _quadrature()
    at = bound * math.sqrt(looks[0]) * nodes
    mass = _normal_density(at, looks[0]) * weights * bound * math.sqrt(looks[0])
    for before, now in pairwise(looks):
        edge = bound * math.sqrt(now)
        mass = _normal_density(edge * nodes[:, None] - at[None, :], now - before) @ mass * weights * edge
        at = edge * nodes
    return float(mass.sum())


@cache
def _quadrature() -> tuple[np.ndarray, np.ndarray]:
    return np.polynomial.legendre.leggauss(_NODES)


def _normal_density(x: np.ndarray, variance: float) -> np.ndarray:
    density: np.ndarray = np.exp(-np.square(x) / (2 * variance)) / math.sqrt(2 * math.pi * variance)
    return density
