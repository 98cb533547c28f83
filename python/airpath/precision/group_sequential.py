"""Looking at data several times: the level at which all intervals together keep their confidence.

Whoever computes a 95 % interval after each of several rounds, and stops when he likes what he sees, is wrong
more often than one time in twenty. Repeated confidence intervals (Jennison and Turnbull, "Interim analyses:
the repeated confidence interval approach", J. Royal Statistical Society B 51, 1989, 305-361) are wider, so
that all of them together hold the mean with 95 %: then also the last one, whatever made it the last.
"""

import math
from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from typing import Final

import numpy as np

_NODES: Final = 64
"""Points of the quadrature; constants of the literature come out in all their digits (tests)."""
_BISECTIONS: Final = 50


@cache
def nominal_level(looks: tuple[int, ...], confidence: float = 0.95) -> float:
    """Return one less the confidence of each interval, so that all hold together with `confidence`.

    It is the same at each look (Pocock, "Group sequential methods in the design and analysis of clinical
    trials", Biometrika 64, 1977, 191-199), and exact for normal values of known variance. Intervals by
    Student's t take the same level, as Pocock proposes: nearly exact, see ``docs/precision.md``.

    Parameters
    ----------
    looks
        After how many values there is a look, growing; at least one.
    confidence
        Probability that all intervals hold the mean, above 0 and below 1.

    Returns
    -------
    float
        1 - `confidence` for a single look, less for several.
    """
    if len(looks) == 1:
        return 1.0 - confidence
    # Between the constant of one look and that of as many looks that know nothing of each other (Bonferroni).
    low, high = 0.0, 40.0
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        low, high = (middle, high) if _probability_inside(middle, looks) < confidence else (low, middle)
    return math.erfc(high / math.sqrt(2.0))


def _probability_inside(bound: float, looks: Sequence[int]) -> float:
    """Return the probability that a standardised mean is within ± `bound` at every look.

    The density of the sum of those that were inside so far is carried from look to look by Gauss-Legendre
    quadrature (Armitage, McPherson and Rowe, "Repeated significance tests on accumulating data", J. Royal
    Statistical Society A 132, 1969, 235-244).
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
