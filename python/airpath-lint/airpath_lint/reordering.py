"""The fraction of packets that netem reorders if it samples the delay of each independently.

A packet is reordered if a packet that was sent later has arrived before it (RFC 4737). Packets leave s apart
with delays D + X. With F the distribution of X, the packet with X = x is in order if for every k the k-th
packet after it has a delay above x - k s:

    reordered = 1 - E[product over k >= 1 of (1 - F(X - k s))]
"""

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Final

_STEPS: Final = 2000
_LEAST_SPACING: Final = 1e-3
"""The smallest spacing used, as a fraction of the jitter; it reorders over 97 % of packets already."""


@lru_cache(maxsize=256)
def reordered_share(spacing_ns: float, jitter_ns: float, distribution: str = "") -> float | None:
    """Return the fraction of packets that are reordered.

    Parameters
    ----------
    spacing_ns
        Time between packets, more than zero.
    jitter_ns
        The configured jitter of netem: half the width of the uniform distribution, the standard deviation of
        the normal one.
    distribution
        Empty (uniform) or `normal`.

    Returns
    -------
    float or None
        From 0 to 1; `None` for other distributions, whose tables are not included.
    """
    if jitter_ns <= 0:
        return 0.0
    s = max(spacing_ns / jitter_ns, _LEAST_SPACING)
    if distribution == "":
        return (
            1 - sum(_in_order(-1 + 2 * (k + 0.5) / _STEPS, s, _uniform, -1.0) for k in range(_STEPS)) / _STEPS
        )
    if distribution == "normal":
        # netem's table ends at four standard deviations.
        points = [-4 + 8 * (k + 0.5) / _STEPS for k in range(_STEPS)]
        weights = [math.exp(-x * x / 2) for x in points]
        kept = sum(w * _in_order(x, s, _normal, -4.0) for x, w in zip(points, weights, strict=True))
        return 1 - kept / sum(weights)
    return None


def _in_order(x: float, s: float, below: Callable[[float], float], least: float) -> float:
    """Return the probability that no later packet overtakes one with the delay x."""
    kept = 1.0
    at = x - s
    while at > least and kept > 1e-9:
        kept *= 1 - below(at)
        at -= s
    return kept


def _uniform(x: float) -> float:
    return min(max((x + 1) / 2, 0.0), 1.0)


def _normal(x: float) -> float:
    return 0.5 * math.erfc(-x / math.sqrt(2))
